/* Binary heap of messages that wait: of the oldest pool first, then by priority, then first
 * come. */
#include "remote.h"

static int before(const dagi_waiting *a, const dagi_waiting *b)
{
    if (a->pool_id != b->pool_id)
        return a->pool_id < b->pool_id;
    return a->priority != b->priority ? a->priority > b->priority : a->serial < b->serial;
}

void dagi_heap_push(dagi_heap *h, const dagi_waiting *entry)
{
    if (h->count == h->capacity) {
        h->capacity = h->capacity ? 2 * h->capacity : 16;
        h->entry = dagi_comm_realloc(h->entry, h->capacity * sizeof *h->entry);
    }
    size_t at = h->count++;
    while (at > 0 && before(entry, &h->entry[(at - 1) / 2])) {
        h->entry[at] = h->entry[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    h->entry[at] = *entry;
}

void dagi_heap_pop(dagi_heap *h)
{
    dagi_waiting last = h->entry[--h->count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= h->count)
            break;
        if (child + 1 < h->count && before(&h->entry[child + 1], &h->entry[child]))
            child++;
        if (!before(&h->entry[child], &last))
            break;
        h->entry[at] = h->entry[child];
        at = child;
    }
    h->entry[at] = last;
}

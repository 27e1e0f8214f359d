/* Heaps: the item with the smallest key first, of equal keys the one with the smallest tie. */
#ifndef LA_HEAP_H
#define LA_HEAP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct dagi_heap_item {
    double key;
    int64_t tie;
    int what;
} dagi_heap_item;

typedef struct dagi_heap {
    dagi_heap_item *items; /* the caller's; room for as many as there are at once */
    int count;
} dagi_heap;

static inline bool dagi_heap_before(const dagi_heap_item *a, const dagi_heap_item *b)
{
    return a->key < b->key || (a->key <= b->key && a->tie < b->tie);
}

static inline void dagi_heap_push(dagi_heap *h, dagi_heap_item item)
{
    int at = h->count++;
    for (; at > 0 && dagi_heap_before(&item, &h->items[(at - 1) / 2]); at = (at - 1) / 2)
        h->items[at] = h->items[(at - 1) / 2];
    h->items[at] = item;
}

static inline dagi_heap_item dagi_heap_pop(dagi_heap *h)
{
    dagi_heap_item top = h->items[0], last = h->items[--h->count];
    int at = 0;
    for (int child; (child = 2 * at + 1) < h->count; at = child) {
        child += child + 1 < h->count && dagi_heap_before(&h->items[child + 1], &h->items[child]);
        if (!dagi_heap_before(&h->items[child], &last))
            break;
        h->items[at] = h->items[child];
    }
    h->items[at] = last;
    return top;
}

#endif

/*
 * Heaps. Included once for each kind, with three macros that it takes back:
 *   HEAP               its name: the struct, and the functions HEAP_push() and so on
 *   HEAP_ENTRY         the type of its entries; they have all that the order needs
 *   HEAP_BEFORE(h, a, b)  *a comes before *b; of two entries one always does
 *
 * Each entry has four children, which lie side by side, entries of 24 bytes in two lines of the cache:
 * half the levels of a binary heap, and a line or two for each.
 *
 * Invariant (HEAP_check): entry[i] is not before entry[(i - 1) / 4].
 *
 * Not synchronised: who owns it guards it.
 */
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define HEAP_CAT_(a, b) a##_##b
#define HEAP_CAT(a, b) HEAP_CAT_(a, b)
#define HEAP_(name) HEAP_CAT(HEAP, name)

typedef struct HEAP {
    HEAP_ENTRY *entry; /* entry[1] begins a line */
    size_t count, capacity;
    void *memory; /* where entry lies */
} HEAP;

static inline void HEAP_(fini)(HEAP *h)
{
    free(h->memory);
    *h = (HEAP){0};
}

/* Nonzero = out of memory. */
static __attribute__((noinline, unused)) int HEAP_(grow)(HEAP *h)
{
    enum { START = 16, LINE = 64 };
    _Static_assert(sizeof(HEAP_ENTRY) <= LINE, "the first entry lies before the first line");
    size_t capacity = h->capacity ? 2 * h->capacity : START; /* in whole lines */
    char *memory = aligned_alloc(LINE, LINE + capacity * sizeof *h->entry);
    if (!memory)
        return 1;
    HEAP_ENTRY *entry = (HEAP_ENTRY *)(void *)(memory + LINE - sizeof(HEAP_ENTRY));
    if (h->count > 0)
        memcpy(entry, h->entry, h->count * sizeof *entry);
    free(h->memory);
    h->memory = memory;
    h->entry = entry;
    h->capacity = capacity;
    return 0;
}

/* Nonzero = out of memory. */
static inline int HEAP_(push)(HEAP *h, HEAP_ENTRY e)
{
    if (h->count == h->capacity && HEAP_(grow)(h) != 0)
        return 1;
    size_t i = h->count++;
    while (i > 0 && HEAP_BEFORE(h, &e, &h->entry[(i - 1) / 4])) {
        h->entry[i] = h->entry[(i - 1) / 4];
        i = (i - 1) / 4;
    }
    h->entry[i] = e;
    return 0;
}

/* Take the first; count > 0. */
static inline HEAP_ENTRY HEAP_(pop)(HEAP *h)
{
    assert(h->count > 0);
    HEAP_ENTRY *entry = h->entry, best = entry[0], last = entry[--h->count];
    size_t i = 0, child, count = h->count;
    while ((child = 4 * i + 1) < count) {
        size_t end = child + 4 < count ? child + 4 : count, first = child;
        for (size_t k = child + 1; k < end; k++)
            first = HEAP_BEFORE(h, &entry[k], &entry[first]) ? k : first;
        if (!HEAP_BEFORE(h, &entry[first], &last))
            break;
        entry[i] = entry[first];
        i = first;
    }
    entry[i] = last;
    return best;
}

static inline __attribute__((unused)) bool HEAP_(check)(const HEAP *h)
{
    for (size_t i = 1; i < h->count; i++) {
        if (HEAP_BEFORE(h, &h->entry[i], &h->entry[(i - 1) / 4]))
            return false;
    }
    return true;
}

#undef HEAP
#undef HEAP_ENTRY
#undef HEAP_BEFORE
#undef HEAP_CAT_
#undef HEAP_CAT
#undef HEAP_

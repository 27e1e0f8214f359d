/*
 * A heap of what is ready, for queues by priority: schedulers' and devices'.
 *
 * Entries have their keys beside the pointer, so nothing is looked into to compare two. Each has
 * four children, which lie side by side in two lines of the cache: half the levels of a binary
 * heap, and a line or two for each.
 *
 * Invariant (dagi_ready_heap_check): entry[i] is not before entry[(i - 1) / 4].
 *
 * Not synchronised: who owns it guards it.
 */
#ifndef DAGI_READY_HEAP_H
#define DAGI_READY_HEAP_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* First those of high priority, among them those of low rank. No two have both in common. */
typedef struct dagi_ready_entry {
    int64_t priority;
    uint64_t rank;
    void *what;
} dagi_ready_entry;

typedef struct dagi_ready_heap {
    dagi_ready_entry *entry; /* entry[1] begins a line */
    size_t count, capacity;
    void *memory; /* where entry lies */
} dagi_ready_heap;

static inline bool dagi_ready_before(const dagi_ready_entry *a, const dagi_ready_entry *b)
{
    return a->priority != b->priority ? a->priority > b->priority : a->rank < b->rank;
}

static inline void dagi_ready_heap_fini(dagi_ready_heap *h)
{
    free(h->memory);
    *h = (dagi_ready_heap){0};
}

/* Nonzero = out of memory. */
static __attribute__((noinline, unused)) int dagi_ready_heap_grow(dagi_ready_heap *h)
{
    enum { START = 64, LINE = 64 };
    size_t capacity = h->capacity ? 2 * h->capacity : START; /* in whole lines */
    char *memory = aligned_alloc(LINE, LINE + capacity * sizeof *h->entry);
    if (!memory)
        return 1;
    dagi_ready_entry *entry =
        (dagi_ready_entry *)(void *)(memory + LINE - sizeof(dagi_ready_entry));
    if (h->count > 0)
        memcpy(entry, h->entry, h->count * sizeof *entry);
    free(h->memory);
    h->memory = memory;
    h->entry = entry;
    h->capacity = capacity;
    return 0;
}

/* Nonzero = out of memory. */
static inline int dagi_ready_heap_push(dagi_ready_heap *h, dagi_ready_entry e)
{
    if (h->count == h->capacity && dagi_ready_heap_grow(h) != 0)
        return 1;
    size_t i = h->count++;
    while (i > 0 && dagi_ready_before(&e, &h->entry[(i - 1) / 4])) {
        h->entry[i] = h->entry[(i - 1) / 4];
        i = (i - 1) / 4;
    }
    h->entry[i] = e;
    return 0;
}

/* Take the first; count > 0. */
static inline dagi_ready_entry dagi_ready_heap_pop(dagi_ready_heap *h)
{
    assert(h->count > 0);
    dagi_ready_entry *entry = h->entry, best = entry[0], last = entry[--h->count];
    size_t i = 0, child, count = h->count;
    while ((child = 4 * i + 1) < count) {
        size_t end = child + 4 < count ? child + 4 : count, first = child;
        for (size_t k = child + 1; k < end; k++)
            first = dagi_ready_before(&entry[k], &entry[first]) ? k : first;
        if (!dagi_ready_before(&entry[first], &last))
            break;
        entry[i] = entry[first];
        i = first;
    }
    entry[i] = last;
    return best;
}

static inline bool dagi_ready_heap_check(const dagi_ready_heap *h)
{
    for (size_t i = 1; i < h->count; i++) {
        if (dagi_ready_before(&h->entry[i], &h->entry[(i - 1) / 4]))
            return false;
    }
    return true;
}

#endif

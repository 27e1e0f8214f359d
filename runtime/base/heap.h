/*
 * The heap of what is ready, for queues by priority: schedulers' and devices'. Entries have their keys
 * beside the pointer, so nothing is looked into to compare two.
 */
#ifndef DAGI_READY_HEAP_H
#define DAGI_READY_HEAP_H

#include <stdbool.h>
#include <stdint.h>

/* First those of high priority, among them those of low rank. No two have both in common. */
typedef struct dagi_ready_entry {
    int64_t priority;
    uint64_t rank;
    void *what;
} dagi_ready_entry;

static inline bool dagi_ready_before(const dagi_ready_entry *a, const dagi_ready_entry *b)
{
    return a->priority != b->priority ? a->priority > b->priority : a->rank < b->rank;
}

#define HEAP dagi_ready_heap
#define HEAP_ENTRY dagi_ready_entry
#define HEAP_BEFORE(h, a, b) dagi_ready_before(a, b)
#include "heap_of.h"

#endif

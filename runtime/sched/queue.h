/*
 * A queue of ready tasks in order of priority that costs next to nothing while priorities are
 * equal. It has two parts:
 *   ring  tasks of one priority, `level`: the owner works at the young end (last in, first out: its
 *         data are warm), thieves take from the old end
 *   heap  tasks of any priority, by (priority, younger first)
 * The next task is the heap's first when it is above `level`, else the youngest of the ring.
 *
 * Invariants, under `lock`: every task in the ring has priority == level; those of the heap;
 * count == tasks in ring and heap; top == priority of the next task, INT64_MIN when empty.
 *
 * Synchronisation: all fields are guarded by `lock`, which the functions below do not take (a
 * context with one worker has no need of it; who is its owner, if anybody, is the scheduler's matter).
 * count and top are written under the lock and may be read without it: a hint.
 */
#ifndef DAGI_QUEUE_H
#define DAGI_QUEUE_H

#include "../base/heap.h"
#include "../base/owned_lock.h"

#include <dag/jdf.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct dagi_queue {
    _Alignas(128) dagi_owned_lock lock;
    _Atomic int64_t count;
    _Atomic int64_t top;
    int64_t level;
    uint32_t old, young; /* tasks are ring[old & mask] ... ring[(young - 1) & mask] */
    uint32_t mask;       /* capacity of the ring - 1 */
    struct dag_task **ring;
    dagi_ready_heap heap;
    uint64_t rank; /* of the next to enter the heap; falls, so the younger are before the older */
    int64_t last_priority; /* of the last push */
} dagi_queue;

int dagi_queue_init(dagi_queue *q); /* nonzero = out of memory */
void dagi_queue_fini(dagi_queue *q);
int dagi_queue_push(dagi_queue *q, struct dag_task *task); /* nonzero = out of memory */
struct dag_task *dagi_queue_pop(dagi_queue *q);
/* What that would take; NULL = nothing. */
struct dag_task *dagi_queue_first(const dagi_queue *q);
/* Takes for a thief: the first of the heap when that is next, else the oldest of the ring. */
struct dag_task *dagi_queue_take(dagi_queue *q);
/* Verify the invariants; the text of the first violation, or NULL. */
const char *dagi_queue_check(const dagi_queue *q);

#endif

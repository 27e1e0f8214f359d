#include "queue.h"

#include "../base/base.h"

#include <stdlib.h>

enum { RING_START = 256 };

int dagi_queue_init(dagi_queue *q)
{
    *q = (dagi_queue){.mask = RING_START - 1, .top = INT64_MIN, .rank = UINT64_MAX};
    q->ring = malloc(RING_START * sizeof *q->ring);
    return q->ring == NULL;
}

void dagi_queue_fini(dagi_queue *q)
{
    free(q->ring);
    dagi_ready_heap_fini(&q->heap);
    q->ring = NULL;
}

/* The way of equal priorities has no registers to save for the heap. */
#define APART static __attribute__((noinline))

APART int heap_push(dagi_queue *q, struct dag_task *task)
{
    return dagi_ready_heap_push(&q->heap, (dagi_ready_entry){task->priority, q->rank--, task});
}

APART struct dag_task *heap_pop(dagi_queue *q)
{
    return dagi_ready_heap_pop(&q->heap).what;
}

static int ring_push(dagi_queue *q, struct dag_task *task)
{
    if (q->young - q->old > q->mask) {
        uint64_t capacity = 2 * ((uint64_t)q->mask + 1);
        struct dag_task **ring = capacity <= UINT32_C(1) << 31 ? malloc(capacity * sizeof *ring)
                                                               : NULL;
        if (!ring)
            return 1;
        for (uint32_t i = q->old; i != q->young; i++)
            ring[i & (capacity - 1)] = q->ring[i & q->mask];
        free(q->ring);
        q->ring = ring;
        q->mask = (uint32_t)(capacity - 1);
    }
    q->ring[q->young++ & q->mask] = task;
    return 0;
}

/* The ring changes its level when the tasks that come now have another priority and only a few of
 * the old one are left; those move to the heap. */
static bool change_level(dagi_queue *q, int64_t priority, int64_t last)
{
    enum { FEW = 4 };
    if (q->young - q->old > FEW || priority != last)
        return false;
    while (q->old != q->young) {
        if (heap_push(q, q->ring[q->old & q->mask]) != 0)
            return false;
        q->old++;
    }
    q->level = priority;
    return true;
}

/* What others may read. */
static inline void say(dagi_queue *q, int64_t top, int64_t count)
{
    atomic_store_explicit(&q->top, top, memory_order_relaxed);
    atomic_store_explicit(&q->count, count, memory_order_relaxed);
}

static void update(dagi_queue *q)
{
    int64_t top = q->old != q->young ? q->level : INT64_MIN;
    if (q->heap.count > 0 && q->heap.entry[0].priority > top)
        top = q->heap.entry[0].priority;
    say(q, top, (int64_t)(q->young - q->old) + (int64_t)q->heap.count);
}

APART int push_apart(dagi_queue *q, struct dag_task *task, int64_t last)
{
    int64_t priority = task->priority;
    int failed = priority == q->level || change_level(q, priority, last) ? ring_push(q, task)
                                                                         : heap_push(q, task);
    update(q);
    return failed;
}

int dagi_queue_push(dagi_queue *q, struct dag_task *task)
{
    int64_t priority = task->priority, last = q->last_priority;
    if (q->old == q->young)
        q->level = priority;
    q->last_priority = priority;
    if (DAGI_LIKELY(priority == q->level && q->young - q->old <= q->mask && q->heap.count == 0)) {
        q->ring[q->young++ & q->mask] = task;
        say(q, priority, q->young - q->old);
        return 0;
    }
    return push_apart(q, task, last);
}

static bool heap_is_next(const dagi_queue *q)
{
    return q->heap.count > 0 && (q->old == q->young || q->heap.entry[0].priority > q->level);
}

struct dag_task *dagi_queue_pop(dagi_queue *q)
{
    struct dag_task *task = NULL;
    if (DAGI_LIKELY(q->heap.count == 0 && q->old != q->young)) {
        task = q->ring[--q->young & q->mask];
        say(q, q->old != q->young ? q->level : INT64_MIN, q->young - q->old);
        return task;
    }
    if (heap_is_next(q))
        task = heap_pop(q);
    else if (q->old != q->young)
        task = q->ring[--q->young & q->mask];
    update(q);
    return task;
}

struct dag_task *dagi_queue_first(const dagi_queue *q)
{
    if (heap_is_next(q))
        return q->heap.entry[0].what;
    return q->old != q->young ? q->ring[(q->young - 1) & q->mask] : NULL;
}

struct dag_task *dagi_queue_take(dagi_queue *q)
{
    struct dag_task *task = NULL;
    if (heap_is_next(q))
        task = heap_pop(q);
    else if (q->old != q->young)
        task = q->ring[q->old++ & q->mask];
    update(q);
    return task;
}

const char *dagi_queue_check(const dagi_queue *q)
{
    int64_t top = INT64_MIN;
    for (uint32_t i = q->old; i != q->young; i++) {
        if (q->ring[i & q->mask]->priority != q->level)
            return "a task of the ring has another priority than its level";
        top = q->level;
    }
    if (!dagi_ready_heap_check(&q->heap))
        return "the heap is out of order";
    if (q->heap.count > 0 && q->heap.entry[0].priority > top)
        top = q->heap.entry[0].priority;
    if (top != atomic_load(&q->top))
        return "top is not the priority of the next task";
    if (atomic_load(&q->count) != (int64_t)(q->young - q->old) + (int64_t)q->heap.count)
        return "count is not the number of tasks";
    return NULL;
}

/*
 * One queue for all workers: the strictest order of priority, at the price of one lock that all
 * share. For graphs of few, long tasks on a critical path, and as a measure for the others.
 */
#include "../task/task.h"
#include "../base/lock.h"
#include "queue.h"
#include "sched.h"

#include <stdlib.h>

static void global_fini(dag_context *ctx)
{
    dagi_queue *q = dagi_runner(dagi_tasks(ctx)->workers[0])->queue;
    if (q)
        dagi_queue_fini(q);
    free(q);
    for (int i = 0; i < dagi_tasks(ctx)->nworkers; i++)
        dagi_runner(dagi_tasks(ctx)->workers[i])->queue = NULL;
}

static dag_status global_init(dag_context *ctx)
{
    dagi_queue *q = aligned_alloc(DAGI_LINE, sizeof *q);
    if (!q || dagi_queue_init(q) != 0) {
        free(q);
        return DAG_ERR_NOMEM;
    }
    for (int i = 0; i < dagi_tasks(ctx)->nworkers; i++)
        dagi_runner(dagi_tasks(ctx)->workers[i])->queue = q;
    return DAG_SUCCESS;
}

static int global_push(struct dagi_worker *w, struct dag_task **list)
{
    dagi_queue *q = dagi_runner(w)->queue;
    int failed = 0;
    dagi_lock(&q->lock.word);
    while (*list && !failed) {
        struct dag_task *rest = (*list)->next;
        failed = dagi_queue_push(q, *list);
        if (!failed)
            *list = rest;
    }
    dagi_unlock(&q->lock.word);
    return failed;
}

static struct dag_task *global_pop(struct dagi_worker *w)
{
    dagi_queue *q = dagi_runner(w)->queue;
    if (atomic_load_explicit(&q->count, memory_order_relaxed) == 0)
        return NULL;
    dagi_lock(&q->lock.word);
    struct dag_task *task = dagi_chaos(w, 2) ? dagi_queue_take(q) : dagi_queue_pop(q);
    dagi_unlock(&q->lock.word);
    return task;
}

static struct dag_task *global_steal(struct dagi_worker *w, int *away)
{
    (void)w, (void)away; /* pop() has seen all there is */
    return NULL;
}

static int global_above(struct dagi_worker *w, int64_t priority)
{
    const dagi_queue *q = dagi_runner(w)->queue;
    return atomic_load_explicit(&q->top, memory_order_relaxed) > priority;
}

static int global_some(struct dagi_worker *w)
{
    const dagi_queue *q = dagi_runner(w)->queue;
    return atomic_load_explicit(&q->count, memory_order_relaxed) > 0;
}

static int64_t global_ready(const dag_context *ctx)
{
    const dagi_queue *q = dagi_runner(dagi_tasks(ctx)->workers[0])->queue;
    return atomic_load_explicit(&q->count, memory_order_relaxed);
}

static int64_t global_own(const struct dagi_worker *w)
{
    return global_ready(w->ctx);
}

const dagi_sched_ops dagi_sched_global = {
    .name = "global",
    .init = global_init,
    .fini = global_fini,
    .push = global_push,
    .pop = global_pop,
    .steal = global_steal,
    .above = global_above,
    .some = global_some,
    .ready = global_ready,
    .own = global_own,
};

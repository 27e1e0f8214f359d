/*
 * The default scheduler: one queue per worker, in order of priority. A worker without tasks steals
 * from the others, near ones first (they share a cache, so the data move least): the best task when
 * priorities tell one, else up to half of the oldest tasks, so that a thief does not come back for
 * every single one.
 */
#include "../core/core.h"
#include "../core/lock.h"
#include "../core/topology.h"
#include "queue.h"
#include "sched.h"
#include "thief.h"

#include <stdlib.h>

enum { MOST_STOLEN = 16 };

struct local {
    dagi_queue queue; /* first; shared */
    _Alignas(DAGI_LINE) const struct dagi_worker *owner; /* fixed */
    int nvictims;     /* fixed */
    dagi_thief thief; /* the owner's */
    struct local *victims[];
};

static void lock(const dag_context *ctx, dagi_queue *q)
{
    if (!ctx->single)
        dagi_lock(&q->lock);
}

static void unlock(const dag_context *ctx, dagi_queue *q)
{
    if (!ctx->single)
        dagi_unlock(&q->lock);
}

static void local_fini(dag_context *ctx)
{
    for (int i = 0; i < ctx->nworkers; i++) {
        struct local *mine = ctx->workers[i]->queue;
        if (mine)
            dagi_queue_fini(&mine->queue);
        free(mine);
        ctx->workers[i]->queue = NULL;
    }
}

static dag_status local_init(dag_context *ctx)
{
    int n = ctx->nworkers;
    for (int i = 0; i < n; i++) {
        size_t bytes = sizeof(struct local) + (size_t)n * sizeof(struct local *);
        bytes = (bytes + DAGI_LINE - 1) & ~(size_t)(DAGI_LINE - 1);
        struct local *mine = aligned_alloc(DAGI_LINE, bytes);
        if (!mine || dagi_queue_init(&mine->queue) != 0) {
            free(mine);
            local_fini(ctx);
            return DAG_ERR_NOMEM;
        }
        mine->owner = ctx->workers[i];
        mine->nvictims = 0;
        mine->thief = (dagi_thief){0};
        ctx->workers[i]->queue = mine;
    }
    int order[DAGI_MAX_WORKERS];
    for (int i = 0; i < n; i++) {
        struct local *mine = ctx->workers[i]->queue;
        dagi_topology_neighbours(ctx->topology, i, n, order);
        for (int k = 0; k < n - 1; k++)
            mine->victims[mine->nvictims++] = ctx->workers[order[k]]->queue;
    }
    return DAG_SUCCESS;
}

static int local_push(struct dagi_worker *w, struct dag_task **list)
{
    struct local *mine = w->queue;
    int failed = 0;
    lock(w->ctx, &mine->queue);
    while (*list && !failed) {
        struct dag_task *rest = (*list)->next;
        failed = dagi_queue_push(&mine->queue, *list);
        if (!failed)
            *list = rest;
    }
    unlock(w->ctx, &mine->queue);
    return failed;
}

static struct dag_task *local_pop(struct dagi_worker *w)
{
    struct local *mine = w->queue;
    if (atomic_load_explicit(&mine->queue.count, memory_order_relaxed) == 0)
        return NULL; /* only w itself adds to its queue */
    lock(w->ctx, &mine->queue);
    struct dag_task *task = dagi_chaos(w, 2) ? dagi_queue_take(&mine->queue)
                                             : dagi_queue_pop(&mine->queue);
    unlock(w->ctx, &mine->queue);
    return task;
}

/* Half of the tasks of `q`, within bounds: the first is returned, the others are on *more. */
static struct dag_task *take_some(dagi_queue *q, struct dag_task **more)
{
    int64_t count = atomic_load_explicit(&q->count, memory_order_relaxed);
    int64_t wanted = (count + 1) / 2;
    if (wanted > MOST_STOLEN)
        wanted = MOST_STOLEN;
    struct dag_task *task = dagi_queue_take(q), **end = more;
    /* Further tasks are worth taking along where they are equals of the first. */
    for (int64_t k = 1; k < wanted && task; k++) {
        if (atomic_load_explicit(&q->top, memory_order_relaxed) != task->priority)
            break;
        struct dag_task *next = dagi_queue_take(q);
        *end = next;
        end = &next->next;
    }
    *end = NULL;
    return task;
}

/* Nonzero when w may take tasks of that worker, if there are any. Whether it should is measured
 * (thief.h); where there are more workers than cores a measurement means nothing. */
static bool may_steal(struct dagi_worker *w, int victim, uint64_t now)
{
    struct local *mine = w->queue, *its = mine->victims[victim];
    if (now && dagi_thief_looks(&mine->thief, victim) &&
        !dagi_thief_steals(&mine->thief, victim, now, w->completed, &its->owner->completed)) {
        w->away = 1;
        return false;
    }
    if (atomic_load_explicit(&its->queue.count, memory_order_relaxed) == 0)
        return false;
    if ((now && !dagi_thief_steals(&mine->thief, victim, now, w->completed,
                                   &its->owner->completed)) ||
        dagi_chaos(w, 4)) {
        w->away = 1;
        return false;
    }
    return true;
}

static struct dag_task *local_steal(struct dagi_worker *w)
{
    struct local *mine = w->queue;
    int n = mine->nvictims;
    int first = n > 0 && w->ctx->settings.chaos ? (int)(dagi_random(w) % (uint64_t)n) : 0;
    uint64_t now = w->ctx->oversubscribed || w->ctx->settings.chaos ? 0 : dagi_now();
    w->away = now && dagi_thief_waits(&mine->thief, now);
    if (w->away)
        return NULL;
    for (int k = 0; k < n; k++) {
        int victim = (first + k) % n;
        dagi_queue *q = &mine->victims[victim]->queue;
        if (!may_steal(w, victim, now) || !dagi_try_lock(&q->lock))
            continue;
        struct dag_task *more = NULL;
        struct dag_task *task = take_some(q, &more);
        dagi_unlock(&q->lock);
        if (more && local_push(w, &more) != 0) {
            /* No room: keep them where a worker looks before its queue. */
            while (more) {
                struct dag_task *next = more->next;
                more->next = w->overflow;
                w->overflow = more;
                more = next;
            }
        }
        if (task)
            return task;
    }
    return NULL;
}

static int local_above(struct dagi_worker *w, int64_t priority)
{
    const struct local *mine = w->queue;
    return atomic_load_explicit(&mine->queue.top, memory_order_relaxed) > priority;
}

static int local_some(struct dagi_worker *w)
{
    const struct local *mine = w->queue;
    if (atomic_load_explicit(&mine->queue.count, memory_order_relaxed) > 0)
        return 1;
    for (int k = 0; k < mine->nvictims; k++) {
        if (atomic_load_explicit(&mine->victims[k]->queue.count, memory_order_relaxed) > 0)
            return 1;
    }
    return 0;
}

static int64_t local_ready(const dag_context *ctx)
{
    int64_t count = 0;
    for (int i = 0; i < ctx->nworkers; i++) {
        const struct local *l = ctx->workers[i]->queue;
        count += atomic_load_explicit(&l->queue.count, memory_order_relaxed);
    }
    return count;
}

const dagi_sched_ops dagi_sched_local = {
    .name = "local",
    .init = local_init,
    .fini = local_fini,
    .push = local_push,
    .pop = local_pop,
    .steal = local_steal,
    .above = local_above,
    .some = local_some,
    .ready = local_ready,
};

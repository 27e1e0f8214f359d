/*
 * The default scheduler: one queue per worker, in order of priority. A worker without tasks steals
 * from the others, near ones first (they share a cache, so the data move least): the best task when
 * priorities tell one, else up to half of the oldest tasks, so that a thief does not come back for
 * every single one.
 */
#include "../task/task.h"
#include "../base/lock.h"
#include "../base/topology.h"
#include "queue.h"
#include "sched.h"
#include "thief.h"

#include <stdlib.h>

enum { MOST_STOLEN = 16 };
/* Nanoseconds a turn of short tasks takes at most. Only these are ever left to others. */
enum { SHORT_TURN = 1000 * DAGI_SCHED_TURN };
/* Turns without a thief after which an owner is alone with its queue (base/owned_lock.h). A thief that comes then
 * loses as much time as 2000 tasks gain, so whoever was alone for a moment only waits twice as long. */
enum { FIRST_QUIET = 256, MOST_QUIET = 4096, LONG_ALONE = 4096 };

/* When the owner of a queue is alone with it; the owner's. */
struct solitude {
    int64_t visits;  /* of thieves, at the last turn */
    uint32_t quiet;  /* turns since the last of them, while others may come */
    uint32_t wanted; /* after so many of them it is alone */
    uint32_t least, most; /* of that */
    uint32_t alone;  /* turns that it has been so; 0 behind the next visit */
};

struct local {
    dagi_queue queue; /* first; shared. The owner takes its lock as such */
    _Atomic int64_t visits; /* of thieves; written with that lock */
    /* -- what thieves read again and again lies apart from what the owner writes every turn */
    _Alignas(DAGI_LINE) const struct dagi_worker *owner; /* fixed */
    int nvictims;     /* fixed */
    int older;        /* fixed: the nearest victim that was created before; -1: none */
    _Atomic int brief; /* 1: its tasks are too short for others; the owner's */
    _Atomic int left; /* whom the owner leaves its tasks to: 1 + worker, or 0; the owner's */
    /* -- owner */
    _Alignas(DAGI_LINE) uint64_t turn; /* when it last asked whether to */
    struct solitude solitude;
    dagi_thief thief;
    struct local *victims[]; /* fixed */
};

static void lock(const dag_context *ctx, dagi_queue *q)
{
    if (!dagi_tasks(ctx)->single)
        dagi_owned_lock_own(&q->lock);
}

static void unlock(const dag_context *ctx, dagi_queue *q)
{
    if (!dagi_tasks(ctx)->single)
        dagi_owned_unlock_own(&q->lock);
}

static void local_fini(dag_context *ctx)
{
    for (int i = 0; i < dagi_tasks(ctx)->nworkers; i++) {
        struct local *mine = dagi_runner(dagi_tasks(ctx)->workers[i])->queue;
        if (mine)
            dagi_queue_fini(&mine->queue);
        free(mine);
        dagi_runner(dagi_tasks(ctx)->workers[i])->queue = NULL;
    }
}

static dag_status local_init(dag_context *ctx)
{
    int n = dagi_tasks(ctx)->nworkers;
    if (n > 1)
        dagi_owned_prepare(ctx->size > 1 || ctx->settings.chaos);
    for (int i = 0; i < n; i++) {
        size_t bytes = sizeof(struct local) + (size_t)n * sizeof(struct local *);
        bytes = (bytes + DAGI_LINE - 1) & ~(size_t)(DAGI_LINE - 1);
        struct local *mine = aligned_alloc(DAGI_LINE, bytes);
        if (!mine || dagi_queue_init(&mine->queue) != 0) {
            free(mine);
            local_fini(ctx);
            return DAG_ERR_NOMEM;
        }
        mine->owner = dagi_tasks(ctx)->workers[i];
        mine->nvictims = 0;
        mine->older = -1;
        atomic_store_explicit(&mine->left, 0, memory_order_relaxed);
        atomic_store_explicit(&mine->brief, 0, memory_order_relaxed);
        mine->turn = 0;
        atomic_store_explicit(&mine->visits, 0, memory_order_relaxed);
        mine->solitude = (struct solitude){.wanted = FIRST_QUIET, .least = FIRST_QUIET, .most = MOST_QUIET};
        if (ctx->settings.chaos) /* as often as can be */
            mine->solitude = (struct solitude){.wanted = 1, .least = 1, .most = 1};
        mine->thief = (dagi_thief){0};
        dagi_runner(dagi_tasks(ctx)->workers[i])->queue = mine;
    }
    int order[DAGI_MAX_WORKERS];
    for (int i = 0; i < n; i++) {
        struct local *mine = dagi_runner(dagi_tasks(ctx)->workers[i])->queue;
        dagi_topology_neighbours(ctx->topology, i, n, order);
        for (int k = 0; k < n - 1; k++) {
            if (mine->older < 0 && order[k] < i)
                mine->older = mine->nvictims;
            mine->victims[mine->nvictims++] =
                dagi_runner(dagi_tasks(ctx)->workers[order[k]])->queue;
        }
    }
    return DAG_SUCCESS;
}

static int local_push(struct dagi_worker *w, struct dag_task **list)
{
    struct local *mine = dagi_runner(w)->queue;
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
    struct local *mine = dagi_runner(w)->queue;
    if (atomic_load_explicit(&mine->queue.count, memory_order_relaxed) == 0)
        return NULL; /* only w itself adds to its queue */
    lock(w->ctx, &mine->queue);
    struct dag_task *task = dagi_chaos(w, 2) ? dagi_queue_take(&mine->queue)
                                             : dagi_queue_pop(&mine->queue);
    unlock(w->ctx, &mine->queue);
    return task;
}

/* A task in the queue has all its inputs, and only who takes it out changes it. */
static void local_peek(struct dagi_worker *w, dagi_sched_look *look, void *arg)
{
    struct local *mine = dagi_runner(w)->queue;
    if (atomic_load_explicit(&mine->queue.count, memory_order_relaxed) == 0)
        return;
    lock(w->ctx, &mine->queue);
    const struct dag_task *task = dagi_queue_first(&mine->queue);
    if (task)
        look(task, arg);
    unlock(w->ctx, &mine->queue);
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

/* Whom its owner has left its tasks to: 1 + worker; 0: nobody. */
static int left_to(const struct local *its)
{
    return atomic_load_explicit(&its->left, memory_order_relaxed);
}

static void heed_brief(struct local *mine, int victim, uint64_t now)
{
    const struct local *its = mine->victims[victim];
    if (atomic_load_explicit(&its->brief, memory_order_relaxed))
        dagi_thief_leave(&mine->thief, victim, now, &dagi_runner(its->owner)->done);
}

/* Nonzero when w may take tasks of that worker, if there are any. Whether it should is measured
 * (thief.h); where there are more workers than cores a measurement means nothing. */
static bool may_steal(struct dagi_worker *w, int victim, uint64_t now, int *away)
{
    struct local *mine = dagi_runner(w)->queue, *its = mine->victims[victim];
    if (now && left_to(its) == w->index + 1)
        now = 0; /* nothing to measure */
    else if (now)
        heed_brief(mine, victim, now);
    if (now && dagi_thief_looks(&mine->thief, victim) &&
        !dagi_thief_steals(&mine->thief, victim, now, &dagi_runner(w)->done,
                           &dagi_runner(its->owner)->done)) {
        *away = 1;
        return false;
    }
    if (atomic_load_explicit(&its->queue.count, memory_order_relaxed) == 0)
        return false;
    if ((now && !dagi_thief_steals(&mine->thief, victim, now, &dagi_runner(w)->done,
                                   &dagi_runner(its->owner)->done)) ||
        dagi_chaos(w, 4)) {
        *away = 1;
        return false;
    }
    return true;
}

/* Tasks of that worker, if its queue is free. */
static struct dag_task *rob(struct local *its, struct dag_task **more)
{
    dagi_queue *q = &its->queue;
    if (!dagi_owned_try_lock(&q->lock))
        return NULL;
    int64_t visits = atomic_load_explicit(&its->visits, memory_order_relaxed);
    atomic_store_explicit(&its->visits, visits + 1, memory_order_relaxed);
    struct dag_task *task = take_some(q, more);
    dagi_unlock(&q->lock.word);
    return task;
}

static struct dag_task *local_steal(struct dagi_worker *w, int *away)
{
    struct local *mine = dagi_runner(w)->queue;
    int n = mine->nvictims;
    int first = n > 0 && w->ctx->settings.chaos ? (int)(dagi_random(w) % (uint64_t)n) : 0;
    uint64_t now = dagi_tasks(w->ctx)->oversubscribed || w->ctx->settings.chaos ? 0 : dagi_now();
    *away = now && dagi_thief_waits(&mine->thief, now) &&
              left_to(mine->victims[mine->thief.victim]) != w->index + 1;
    if (*away)
        return NULL;
    for (int k = 0; k < n; k++) {
        int victim = (first + k) % n;
        if (!may_steal(w, victim, now, away))
            continue;
        struct dag_task *more = NULL;
        struct dag_task *task = rob(mine->victims[victim], &more);
        if (more && local_push(w, &more) != 0) {
            /* No room: keep them where a worker looks before its queue. */
            dagi_overflow(w, more);
        }
        if (task)
            return task;
    }
    return NULL;
}

static int local_above(struct dagi_worker *w, int64_t priority)
{
    const struct local *mine = dagi_runner(w)->queue;
    return atomic_load_explicit(&mine->queue.top, memory_order_relaxed) > priority;
}

/* At the end of a turn: is it time to be alone? */
static void seek_solitude(struct local *mine)
{
    struct solitude *s = &mine->solitude;
    if (dagi_owned_is_alone(&mine->queue.lock)) {
        s->alone++;
        return;
    }
    int64_t visits = atomic_load_explicit(&mine->visits, memory_order_relaxed);
    if (visits != s->visits) {
        if (s->alone >= LONG_ALONE)
            s->wanted = s->least;
        else if (s->alone > 0 && s->wanted < s->most)
            s->wanted *= 2;
        s->visits = visits;
        s->quiet = s->alone = 0;
        return;
    }
    if (++s->quiet < s->wanted)
        return;
    s->quiet = 0;
    s->alone = 1;
    dagi_owned_begin(&mine->queue.lock, 1);
}

/* A thief that goes on along a path of the graph is not back to steal for long, so it is also asked
 * here, where it has tasks. Of two workers only the younger one begins a trial here, lest both look
 * at one another. What has a priority is not left: whoever takes it comes to its own tasks first. */
static int local_leaves(struct dagi_worker *w, const struct dag_task *next)
{
    struct local *mine = dagi_runner(w)->queue;
    dagi_thief *t = &mine->thief;
    seek_solitude(mine);
    if (dagi_tasks(w->ctx)->oversubscribed || w->ctx->settings.chaos)
        return 0;
    int left = left_to(mine), to = 0;
    if (mine->older < 0 && !left && t->phase == DAGI_THIEF_FREE)
        return 0; /* nobody to leave them to */
    uint64_t now = dagi_now();
    bool short_turn = now - mine->turn < SHORT_TURN;
    mine->turn = now;
    if (mine->older >= 0)
        heed_brief(mine, mine->older, now);
    if (left && dagi_thief_waits(t, now))
        return 1;
    if (!left && dagi_thief_free(t, now))
        return 0;
    int victim = t->phase == DAGI_THIEF_FREE ? mine->older : t->victim;
    bool plain = !local_above(w, 0) && !(next && next->priority > 0);
    if ((left || short_turn) && victim >= 0 && plain) {
        struct local *its = mine->victims[victim];
        if (!left_to(its) && (dagi_thief_waits(t, now) ||
                              !dagi_thief_steals(t, victim, now, &dagi_runner(w)->done,
                                                 &dagi_runner(its->owner)->done)))
            to = its->owner->index + 1;
    }
    if (to != left)
        atomic_store_explicit(&mine->left, to, memory_order_relaxed);
    return to != 0;
}

static int local_some(struct dagi_worker *w)
{
    const struct local *mine = dagi_runner(w)->queue;
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
    for (int i = 0; i < dagi_tasks(ctx)->nworkers; i++) {
        const struct local *l = dagi_runner(dagi_tasks(ctx)->workers[i])->queue;
        count += atomic_load_explicit(&l->queue.count, memory_order_relaxed);
    }
    return count;
}

static void local_brief(struct dagi_worker *w, int brief)
{
    struct local *mine = dagi_runner(w)->queue;
    if (atomic_load_explicit(&mine->brief, memory_order_relaxed) != brief)
        atomic_store_explicit(&mine->brief, brief, memory_order_relaxed);
}

static int64_t local_own(const struct dagi_worker *w)
{
    const struct local *mine = dagi_runner(w)->queue;
    int64_t count = atomic_load_explicit(&mine->queue.count, memory_order_relaxed);
    for (int k = 0; k < mine->nvictims; k++) {
        if (left_to(mine->victims[k]) == w->index + 1)
            count += atomic_load_explicit(&mine->victims[k]->queue.count, memory_order_relaxed);
    }
    return count;
}

const dagi_sched_ops dagi_sched_local = {
    .name = "local",
    .init = local_init,
    .fini = local_fini,
    .push = local_push,
    .pop = local_pop,
    .peek = local_peek,
    .steal = local_steal,
    .leaves = local_leaves,
    .above = local_above,
    .some = local_some,
    .ready = local_ready,
    .own = local_own,
    .brief = local_brief,
};

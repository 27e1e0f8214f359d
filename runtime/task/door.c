/* Pools that stay open: tasks are given to them. door.h says what that means. */
#include "door.h"

#include "completion.h"

#include <stdlib.h>

dag_status dagi_door_new(dag_taskpool *pool, int64_t window)
{
    struct dagi_door *door = calloc(1, sizeof *door);
    assert(atomic_load(&dagi_pool(pool)->state) == DAGI_POOL_NEW && !dagi_pool(pool)->door);
    if (!door)
        return DAG_ERR_NOMEM;
    door->window = door->room = window;
    door->unlocked = dagi_unlocked(pool->ctx);
    atomic_store(&door->state, DAGI_DOOR_OPEN);
    dagi_pool(pool)->door = door;
    return DAG_SUCCESS;
}

void dagi_door_free(dag_taskpool *pool)
{
    struct dagi_door *door = dagi_pool(pool)->door;
    if (door && door->client.free)
        door->client.free(door->client.own);
    free(door);
    dagi_pool(pool)->door = NULL;
}

/* ---- give ---------------------------------------------------------------------------------- */

/* One arrival that the giver brings: a value, or the control that stands for itself. */
static struct dag_task *bring(struct dagi_worker *w, dag_taskpool *pool, const dag_class *cls,
                              const int32_t *params, int flow, dag_value *value)
{
    const dag_edge edge = {.target = cls, .source_flow = (uint8_t)flow,
                           .target_flow = (uint8_t)flow, .region = DAG_REGION_FULL,
                           .line = cls->line};
    const dagi_source source = {cls, params};
    return dagi_deps_arrive(w, pool, &edge, params, value, &source);
}

/* One more has been given. */
static inline void count_given(struct dagi_worker *w, struct dagi_pool *p)
{
    enum { AHEAD = 64 };
    p->door->given++;
    p->door->room--;
    dagi_count_one(&dagi_runner(w)->done.given);
    if (p->door->paid-- == 0) {
        atomic_fetch_add_explicit(&p->open, AHEAD, memory_order_relaxed); /* the door's share keeps it */
        p->door->paid += AHEAD;
    }
    if (DAGI_UNLIKELY(DAGI_TRACK(w)))
        dagi_trace_startup(DAGI_TRACK(w));
}

struct dag_task *dagi_door_give(struct dagi_worker *w, dag_taskpool *pool, const dag_class *cls,
                                const int32_t *params, dag_value *const *values, uint32_t mask)
{
    struct dagi_pool *p = dagi_pool(pool);
    assert(cls->nflows > cls->ndata && mask >> cls->ndata == 0);
    if (p->door->abandoned) {
        for (; mask; mask &= mask - 1)
            dagi_value_release(w, values[__builtin_ctz(mask)]);
        return NULL;
    }
    count_given(w, p);
    for (; mask; mask &= mask - 1)
        bring(w, pool, cls, params, __builtin_ctz(mask), values[__builtin_ctz(mask)]);
    struct dag_task *t = bring(w, pool, cls, params, cls->nflows - 1, NULL);
    dagi_deps_let_go(w);
    return t ? dagi_door_put(w, t) : NULL;
}

struct dag_task *dagi_door_put(struct dagi_worker *w, struct dag_task *t)
{
    if (DAGI_UNLIKELY(atomic_load(&dagi_pool(t->pool)->state) == DAGI_POOL_QUEUED) &&
        dagi_pool_keep_early(t->pool, t))
        return NULL;
    return dagi_ready_here(w, t);
}

struct dag_task *dagi_door_make(struct dagi_worker *w, dag_taskpool *pool, const dag_class *cls,
                                const int32_t *params)
{
    struct dagi_pool *p = dagi_pool(pool);
    assert((cls->ctl_blind & DAGI_GIVEN) && cls->nlocals == DAGI_GIVEN_PARAMS);
    if (p->door->abandoned)
        return NULL;
    struct dag_task *t = dagi_task_make(w, pool, &p->classes[cls->id], params, DAGI_GIVEN_PARAMS);
    if (t)
        count_given(w, p);
    return t;
}

int dagi_door_each(dag_taskpool *pool, int (*fn)(struct dag_task *t, void *arg), void *arg)
{
    struct dagi_door *door = dagi_pool(pool)->door;
    int stop = 0;
    if (!door)
        return 0;
    dagi_lock(&door->lock);
    for (struct dag_task *t = door->waiting, *next; t && !stop; t = next) {
        next = t->next;
        stop = fn(t, arg);
    }
    dagi_unlock(&door->lock);
    return stop;
}

int64_t dagi_door_count(const dag_taskpool *pool)
{
    struct dagi_door *door = dagi_pool(pool)->door;
    if (!door)
        return 0;
    dagi_lock(&door->lock);
    int64_t count = door->nwaiting;
    dagi_unlock(&door->lock);
    return count;
}

void dagi_door_clear(struct dagi_worker *w, dag_taskpool *pool)
{
    struct dagi_door *door = dagi_pool(pool)->door;
    if (!door)
        return;
    dagi_lock(&door->lock);
    struct dag_task *list = door->waiting;
    door->waiting = NULL;
    door->nwaiting = 0;
    dagi_unlock(&door->lock);
    for (struct dag_task *next; list; list = next) {
        next = list->next;
        dagi_task_drop(w, list);
    }
}

void dagi_door_edge(dag_visit *v, const dag_edge *edge, const int32_t *params, int64_t reader)
{
    if (v->mode == DAG_VISIT_RANKS) {
        dagi_completion *c = (dagi_completion *)(void *)v;
        dagi_tasks(c->pool->ctx)->remote->reader(c->fanout, reader);
    }
    dag_visit_edge(v, edge, params);
}

/* ---- full, and what the giver waits for ------------------------------------------------------ */

int dagi_door_room(const dag_taskpool *pool)
{
    const struct dagi_door *door = dagi_pool(pool)->door;
    const dagi_remote_port *remote = dagi_tasks(pool->ctx)->remote;
    if (atomic_load(&door->condemned))
        return 1;
    return door->given - atomic_load(&dagi_pool(pool)->stats.tasks) < door->window &&
           !(remote && remote->pressed(pool->ctx));
}

void dagi_door_wait(dag_taskpool *pool, const char *what, int (*until)(void *arg), void *arg)
{
    struct dagi_door *door = dagi_pool(pool)->door;
    pthread_mutex_lock(&dagi_pool(pool)->lock);
    assert(atomic_load(&door->state) == (until ? DAGI_DOOR_OPEN : DAGI_DOOR_WAITS));
    door->what = what;
    door->until = until;
    door->arg = arg;
    atomic_store(&door->state, until ? DAGI_DOOR_WAITS : DAGI_DOOR_OPEN);
    pthread_mutex_unlock(&dagi_pool(pool)->lock);
}

const char *dagi_door_what(const dag_taskpool *pool)
{
    const struct dagi_door *door = dagi_pool(pool)->door;
    if (!door)
        return NULL;
    pthread_mutex_lock(&dagi_pool(pool)->lock);
    const char *what = atomic_load(&door->state) == DAGI_DOOR_WAITS ? door->what : NULL;
    pthread_mutex_unlock(&dagi_pool(pool)->lock);
    return what;
}

int dagi_door_expects(const dag_taskpool *pool)
{
    const struct dagi_door *door = dagi_pool(pool)->door;
    if (!door || atomic_load(&door->state) == DAGI_DOOR_SHUT)
        return 0;
    pthread_mutex_lock(&dagi_pool(pool)->lock);
    int waits = atomic_load(&door->state) == DAGI_DOOR_WAITS && !atomic_load(&door->condemned) &&
                !door->until(door->arg);
    pthread_mutex_unlock(&dagi_pool(pool)->lock);
    return !waits;
}

/* ---- the end ------------------------------------------------------------------------------- */

void dagi_door_shut(struct dagi_worker *w, dag_taskpool *pool, uint64_t hash)
{
    struct dagi_door *door = dagi_pool(pool)->door;
    atomic_store(&door->hash, hash);
    pthread_mutex_lock(&dagi_pool(pool)->lock);
    assert(atomic_load(&door->state) == DAGI_DOOR_OPEN);
    atomic_store(&door->state, DAGI_DOOR_SHUT);
    pthread_mutex_unlock(&dagi_pool(pool)->lock);
    atomic_store(&door->position, INT64_MAX); /* after the state: see comm/ahead.c */
    dagi_pool_count(w, pool, 1 + door->paid, 0);
}

void dagi_door_condemn(dag_taskpool *pool)
{
    atomic_store(&dagi_pool(pool)->door->condemned, 1);
    dagi_tasks(pool->ctx)->crew->news(pool->ctx);
}

/* All was at rest when it was condemned, nothing was given since, and messages are forgotten: so no
 * worker is at a task of it, and all completed ones are counted. */
void dagi_door_abandon(struct dagi_worker *w, dag_taskpool *pool)
{
    struct dagi_pool *p = dagi_pool(pool);
    if (p->door->abandoned)
        return;
    p->door->abandoned = 1;
    dagi_deps_clear(w, pool);
    int64_t left = p->door->given - atomic_load(&p->stats.tasks);
    assert(left >= 0 && atomic_load(&p->open) > left); /* one is the door's */
    if (left > 0)
        dagi_pool_count(w, pool, left, 0);
}

/* ---- beside other pools ---------------------------------------------------------------------- */

bool dagi_door_names(dag_context *ctx, const dag_collection *c)
{
    pthread_mutex_lock(&dagi_tasks(ctx)->pools_lock);
    const dag_taskpool *open = dagi_tasks(ctx)->pools;
    while (open && !(dagi_pool_is_open(open) && dagi_pool_names(open, c)))
        open = dagi_pool(open)->next;
    pthread_mutex_unlock(&dagi_tasks(ctx)->pools_lock);
    return open != NULL;
}

const dag_taskpool *dagi_door_beside(dag_context *ctx, const dag_taskpool *pool)
{
    pthread_mutex_lock(&dagi_tasks(ctx)->pools_lock);
    const dag_taskpool *open = dagi_tasks(ctx)->pools;
    while (open && (!dagi_pool_is_open(open) || (pool && !dagi_pool_shares(pool, open))))
        open = dagi_pool(open)->next;
    pthread_mutex_unlock(&dagi_tasks(ctx)->pools_lock);
    return open;
}

/*
 * The life of a taskpool on this rank: added, queued behind pools that name the same collections,
 * run, over here, ended everywhere. The states are in task.h.
 *
 * Who may still touch a pool: `open` keeps it alive. It counts tasks that are not completed, holds
 * of comm, one for start-up, one for the door; whoever takes it to zero runs local_over(), and after ENDED is
 * visible the application may free the pool at any time. So nobody touches a pool after giving up
 * his share of `open`, and the store of ENDED is the last access of the runtime.
 */
#include "../base/room.h"
#include "completion.h"
#include "door.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- counting down ---------------------------------------------------------------------- */

static void local_over(struct dagi_worker *w, dag_taskpool *pool);

void dagi_pool_count(struct dagi_worker *w, dag_taskpool *pool, int64_t count, int64_t tasks)
{
    if (tasks) { /* in one order with the look of a giver that has begun to wait */
        atomic_fetch_add(&dagi_pool(pool)->stats.tasks, tasks);
        if (DAGI_UNLIKELY(dagi_door_state(pool) == DAGI_DOOR_WAITS))
            dagi_tasks(pool->ctx)->crew->news(pool->ctx);
    }
    int64_t before = atomic_fetch_sub_explicit(&dagi_pool(pool)->open, count, memory_order_acq_rel);
    if (DAGI_UNLIKELY(before <= count && before > 0))
        local_over(w, pool);
}

void dagi_flush(struct dagi_worker *w)
{
    struct dagi_runner *r = dagi_runner(w);
    int64_t completed = atomic_load_explicit(&r->done.completed, memory_order_relaxed);
    int64_t count = completed - r->counted;
    dag_taskpool *pool = r->count_pool;
    r->counted = completed;
    r->count_pool = NULL;
    if (r->renames > 0) { /* of tasks in count, which keep the pool */
        atomic_fetch_add_explicit(&dagi_pool(pool)->stats.renames, r->renames,
                                  memory_order_relaxed);
        r->renames = 0;
    }
    if (count > 0)
        dagi_pool_count(w, pool, count, count);
}

void dagi_count_for(struct dagi_worker *w, dag_taskpool *pool)
{
    if (pool == dagi_runner(w)->count_pool)
        return;
    dagi_flush(w);
    dagi_runner(w)->count_pool = pool;
}

int dagi_pool_hold(dag_taskpool *pool)
{
    int64_t open = atomic_load_explicit(&dagi_pool(pool)->open, memory_order_relaxed);
    while (open > 0)
        if (atomic_compare_exchange_weak_explicit(&dagi_pool(pool)->open, &open, open + 1,
                                                  memory_order_relaxed, memory_order_relaxed))
            return 1;
    return 0;
}

void dagi_pool_drop(struct dagi_worker *w, dag_taskpool *pool)
{
    dagi_pool_count(w, pool, 1, 0);
}

void dagi_pool_sent(dag_taskpool *pool, int64_t messages, int64_t bytes)
{
    atomic_fetch_add_explicit(&dagi_pool(pool)->stats.messages, messages, memory_order_relaxed);
    atomic_fetch_add_explicit(&dagi_pool(pool)->stats.bytes_sent, bytes, memory_order_relaxed);
}

/* ---- the end ---------------------------------------------------------------------------- */

static int keep_first(struct dag_task *t, void *arg)
{
    *(struct dag_task **)arg = t;
    return 1;
}

/* A task that is left over has been sent more than it declares, after it ran. 1: there was one; what
 * it held may have transfers under way, and whoever lets go of the pool last ends it. */
static int check_left_over(struct dagi_worker *w, dag_taskpool *pool)
{
    struct dag_task *left = NULL;
    dagi_deps_each(pool, keep_first, &left);
    if (!left)
        return 0;
    char name[256];
    dagi_describe(name, sizeof name, left->cls, dagi_task_locals(left));
    if (!dagi_pool_is_poisoned(pool))
        dagi_pool_fail(pool, DAG_ERR_GRAPH, "%s:%d: %s was sent more inputs than it declares",
                       pool->program->file, left->cls->line, name);
    atomic_store(&dagi_pool(pool)->open, 1);
    dagi_deps_clear(w, pool);
    dagi_pool_drop(w, pool);
    return 1;
}

static void start(struct dagi_worker *w, dag_taskpool *pool);

void dagi_pool_unname(dag_taskpool *pool)
{
    for (int s = 0; s < pool->program->nslots; s++) {
        dag_collection *c = dag_collection_whole(dagi_pool(pool)->collections[s]);
        if (c->last_pool == pool)
            c->last_pool = NULL;
    }
}

/* Nobody need wait for this pool any more: later ones with a common collection may run. */
static void release_followers(struct dagi_worker *w, dag_taskpool *pool)
{
    dag_context *ctx = pool->ctx;
    pthread_mutex_lock(&dagi_tasks(ctx)->pools_lock);
    dagi_pool_unname(pool);
    pthread_mutex_unlock(&dagi_tasks(ctx)->pools_lock);
    atomic_fetch_sub(&dagi_tasks(ctx)->open.pools, 1);
    if (!dagi_pool(pool)->countable)
        atomic_fetch_sub(&dagi_tasks(ctx)->open.uncounted, 1);
    pthread_mutex_lock(&dagi_pool(pool)->lock);
    atomic_store(&dagi_pool(pool)->state, DAGI_POOL_LOCAL);
    struct dagi_pool_order *order = &dagi_pool(pool)->order;
    dag_taskpool **followers = order->followers;
    int n = order->nfollowers;
    order->followers = NULL;
    order->nfollowers = order->followers_capacity = 0;
    pthread_mutex_unlock(&dagi_pool(pool)->lock);
    for (int i = 0; i < n; i++) {
        dag_taskpool *f = followers[i];
        pthread_mutex_lock(&dagi_pool(f)->lock);
        int waits = --dagi_pool(f)->order.waits;
        pthread_mutex_unlock(&dagi_pool(f)->lock);
        assert(waits >= 0);
        if (waits == 0)
            start(w, f);
    }
    free(followers);
}

/* This rank's part is over. */
static void local_over(struct dagi_worker *w, dag_taskpool *pool)
{
    dag_context *ctx = pool->ctx;
    assert(atomic_load(&dagi_pool(pool)->state) < DAGI_POOL_LOCAL); /* a part ends once */
    if (atomic_load(&dagi_pool(pool)->open) < 0)
        dagi_pool_fail(pool, DAG_ERR_GRAPH, "%s: more tasks ran than its classes have: an instance "
                       "with one input was sent two", pool->program->file);
    if (dagi_data_keeps(pool)) {
        /* They go before the pool does. Their transfers that have not passed hold it until then, and
         * whoever lets go of it last comes here again. */
        atomic_store(&dagi_pool(pool)->open, 1);
        dagi_data_let_go(w, pool);
        dagi_pool_drop(w, pool);
        return;
    }
    if (check_left_over(w, pool))
        return;
    if (!dagi_apply_deferred(w, pool))
        return;
    DAGI_INSIST(dagi_pool_check(pool));
    release_followers(w, pool);
    /* The pool's verdict; nobody changes it in state LOCAL. */
    pthread_mutex_lock(&dagi_pool(pool)->lock);
    dag_status status = dagi_pool(pool)->status;
    int64_t info = dagi_pool(pool)->info;
    char *message = dagi_pool(pool)->message;
    dagi_pool(pool)->message = NULL;
    pthread_mutex_unlock(&dagi_pool(pool)->lock);
    const dagi_remote_port *remote = dagi_tasks(ctx)->remote;
    if (remote)
        remote->pool_over(w, pool, status, info, message ? message : "");
    else
        dagi_pool_end(pool, status, info, message ? message : "");
    free(message);
}

void dagi_pool_end(dag_taskpool *pool, dag_status status, int64_t info, const char *message)
{
    dag_context *ctx = pool->ctx;
    assert(atomic_load(&dagi_pool(pool)->state) == DAGI_POOL_LOCAL);
    const dagi_observer_port *observer = dagi_tasks(ctx)->observer;
    if (observer)
        observer->pool_ended(pool);
    pthread_mutex_lock(&dagi_tasks(ctx)->pools_lock);
    dag_taskpool **link = &dagi_tasks(ctx)->pools;
    while (*link && *link != pool)
        link = &dagi_pool(*link)->next;
    if (*link) {
        *link = dagi_pool(pool)->next;
        if (!*link)
            dagi_tasks(ctx)->pools_end = link;
    }
    bool none = dagi_tasks(ctx)->pools == NULL;
    pthread_mutex_unlock(&dagi_tasks(ctx)->pools_lock);
    pthread_mutex_lock(&dagi_pool(pool)->lock);
    dagi_pool(pool)->status = status;
    dagi_pool(pool)->info = info;
    free(dagi_pool(pool)->message);
    dagi_pool(pool)->message = status != DAG_SUCCESS && message ? strdup(message) : NULL;
    pthread_mutex_unlock(&dagi_pool(pool)->lock);
    if (DAGI_TRACE(ctx)) {
        dag_pool_stats stats = dagi_pool_stats(pool);
        if (none && DAGI_TRACE(ctx)->progress)
            dagi_progress_idle(DAGI_TRACE(ctx), status != DAG_SUCCESS);
        dagi_trace_pool_end(DAGI_TRACE(ctx), pool, &stats);
    }
    atomic_store(&dagi_pool(pool)->state, DAGI_POOL_ENDED); /* last access */
    dagi_tasks(ctx)->crew->news(ctx);
}

void dagi_pool_force(struct dagi_worker *w, dag_taskpool *pool)
{
    dagi_deps_clear(w, pool);
    atomic_store(&dagi_pool(pool)->open, 0);
    local_over(w, pool);
}

/* ---- the start -------------------------------------------------------------------------- */

int dagi_pool_keep_early(dag_taskpool *pool, struct dag_task *t)
{
    pthread_mutex_lock(&dagi_pool(pool)->lock);
    int queued = atomic_load(&dagi_pool(pool)->state) == DAGI_POOL_QUEUED;
    if (queued) {
        t->next = dagi_pool(pool)->early;
        dagi_pool(pool)->early = t;
    }
    pthread_mutex_unlock(&dagi_pool(pool)->lock);
    return queued;
}

/* Let a queued pool run: its turn has come. From the store of RUNNING on others may work on it, but
 * for what is in `early` it may even end. */
static void start(struct dagi_worker *w, dag_taskpool *pool)
{
    dag_context *ctx = pool->ctx;
    const dagi_crew_port *crew = dagi_tasks(ctx)->crew;
    crew->active(w);
    atomic_fetch_add(&dagi_tasks(ctx)->starting, 1);
    pthread_mutex_lock(&dagi_pool(pool)->lock);
    assert(atomic_load(&dagi_pool(pool)->state) == DAGI_POOL_QUEUED);
    struct dag_task *early = dagi_pool(pool)->early;
    dagi_pool(pool)->early = NULL;
    atomic_store(&dagi_pool(pool)->state, DAGI_POOL_RUNNING);
    pthread_mutex_unlock(&dagi_pool(pool)->lock);
    crew->started(w, dagi_ready_here(w, early));
}

int64_t dagi_pool_open(dag_taskpool *pool)
{
    int64_t total = 0;
    dagi_pool(pool)->countable = !pool->program->dynamic;
    for (int c = 0; c < pool->program->nclasses; c++) {
        int64_t count = pool->program->classes[c]->count(pool->globals);
        if (count < 0)
            dagi_pool(pool)->countable = 0;
        else if (total > INT64_MAX / 4 - count)
            dagi_pool_fail(pool, DAG_ERR_ARG, "%s: class %s has too many instances to count",
                           pool->program->file, pool->program->classes[c]->name);
        else
            total += count;
    }
    /* One for start-up; a pool that cannot be counted keeps it until the waves find the end. */
    atomic_store(&dagi_pool(pool)->open, (dagi_pool(pool)->countable ? total : 0) + 1 +
                                             dagi_pool_is_open(pool));
    return dagi_pool(pool)->countable && !dagi_pool_is_open(pool) ? total : -1;
}

/* A pool that has not ended; pools_lock is held. What a copy of a collection's struct names may be gone,
 * so it is not looked into. One that lies at its address now is earlier than who asks, too. */
static int is_listed(const dag_context *ctx, const dag_taskpool *pool)
{
    if (dagi_tasks(ctx)->pools_end == &dagi_pool(pool)->next)
        return 1;
    const dag_taskpool *p = dagi_tasks(ctx)->pools;
    while (p && p != pool)
        p = dagi_pool(p)->next;
    return p != NULL;
}

/* Wait for the last pool that named collection `c`, unless it is over here; pools_lock is held. */
static dag_status follow(dag_taskpool *pool, dag_collection *c)
{
    dag_taskpool *last = c->last_pool;
    dag_status status = DAG_SUCCESS;
    c->last_pool = pool;
    if (!last || last == pool || !is_listed(pool->ctx, last))
        return status;
    struct dagi_pool_order *order = &dagi_pool(last)->order;
    pthread_mutex_lock(&dagi_pool(last)->lock);
    bool known = atomic_load(&dagi_pool(last)->state) >= DAGI_POOL_LOCAL;
    for (int i = 0; i < order->nfollowers && !known; i++)
        known = order->followers[i] == pool;
    if (!known && !DAGI_ROOM(order->followers, order->nfollowers, order->followers_capacity, 4)) {
        status = DAG_ERR_NOMEM;
    } else if (!known) {
        order->followers[order->nfollowers++] = pool;
        pthread_mutex_lock(&dagi_pool(pool)->lock); /* others that it follows may end meanwhile */
        dagi_pool(pool)
            ->order.waits++; /* last itself cannot have come to us yet: its lock is held */
        pthread_mutex_unlock(&dagi_pool(pool)->lock);
    }
    pthread_mutex_unlock(&dagi_pool(last)->lock);
    return status;
}

void dagi_pool_enlist(dag_taskpool *pool)
{
    dag_context *ctx = pool->ctx;
    dag_status status = DAG_SUCCESS;
    assert(atomic_load(&dagi_pool(pool)->state) == DAGI_POOL_NEW);
    pthread_mutex_lock(&dagi_tasks(ctx)->pools_lock);
    pool->id = ++dagi_tasks(ctx)->pools_added;
    dagi_pool(pool)->order.waits = 1; /* dag_add() itself */
    atomic_fetch_add(&dagi_tasks(ctx)->open.pools, 1);
    if (!dagi_pool(pool)->countable)
        atomic_fetch_add(&dagi_tasks(ctx)->open.uncounted, 1);
    atomic_store(&dagi_pool(pool)->state, DAGI_POOL_QUEUED);
    for (int s = 0; s < pool->program->nslots && status == DAG_SUCCESS; s++)
        status = follow(pool, dag_collection_whole(dagi_pool(pool)->collections[s]));
    dagi_pool(pool)->next = NULL;
    *dagi_tasks(ctx)->pools_end = pool;
    dagi_tasks(ctx)->pools_end = &dagi_pool(pool)->next;
    pthread_mutex_unlock(&dagi_tasks(ctx)->pools_lock);
    if (status != DAG_SUCCESS)
        dagi_pool_fail(pool, DAG_ERR_NOMEM, "no memory to queue a pool of %s", pool->program->name);
}

void dagi_pool_may_start(struct dagi_worker *w, dag_taskpool *pool)
{
    pthread_mutex_lock(&dagi_pool(pool)->lock);
    int waits = --dagi_pool(pool)->order.waits;
    pthread_mutex_unlock(&dagi_pool(pool)->lock);
    if (waits == 0)
        start(w, pool);
}

dag_taskpool *dagi_pool_find(dag_context *ctx, uint32_t id)
{
    pthread_mutex_lock(&dagi_tasks(ctx)->pools_lock);
    dag_taskpool *pool = dagi_tasks(ctx)->pools;
    while (pool && pool->id != id)
        pool = dagi_pool(pool)->next;
    pthread_mutex_unlock(&dagi_tasks(ctx)->pools_lock);
    return pool;
}

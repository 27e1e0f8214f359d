/*
 * The life of a taskpool on this rank: added, queued behind pools that name the same collections,
 * run, over here, ended everywhere. The states are in core.h.
 *
 * Who may still touch a pool: `open` keeps it alive. It counts tasks that are not completed, holds
 * of comm, and one for start-up; whoever takes it to zero runs local_over(), and after ENDED is
 * visible the application may free the pool at any time. So nobody touches a pool after giving up
 * his share of `open`, and the store of ENDED is the last access of the runtime.
 */
#include "../device/resident.h"
#include "../watch/race.h"
#include "core_impl.h"

#include <stdlib.h>
#include <string.h>

/* ---- counting down ---------------------------------------------------------------------- */

static void local_over(struct dagi_worker *w, dag_taskpool *pool);

void dagi_pool_count(struct dagi_worker *w, dag_taskpool *pool, int64_t count, int64_t tasks)
{
    if (tasks)
        atomic_fetch_add_explicit(&pool->tasks, tasks, memory_order_relaxed);
    int64_t before = atomic_fetch_sub_explicit(&pool->open, count, memory_order_acq_rel);
    if (DAGI_UNLIKELY(before <= count && before > 0))
        local_over(w, pool);
}

int dagi_pool_hold(dag_taskpool *pool)
{
    int64_t open = atomic_load_explicit(&pool->open, memory_order_relaxed);
    while (open > 0)
        if (atomic_compare_exchange_weak_explicit(&pool->open, &open, open + 1,
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
    atomic_fetch_add_explicit(&pool->messages, messages, memory_order_relaxed);
    atomic_fetch_add_explicit(&pool->bytes_sent, bytes, memory_order_relaxed);
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
    atomic_store(&pool->open, 1);
    dagi_deps_clear(w, pool);
    dagi_pool_drop(w, pool);
    return 1;
}

static void start(struct dagi_worker *w, dag_taskpool *pool);

/* Nobody need wait for this pool any more: later ones with a common collection may run. */
static void release_followers(struct dagi_worker *w, dag_taskpool *pool)
{
    dag_context *ctx = pool->ctx;
    pthread_mutex_lock(&ctx->pools_lock);
    for (int s = 0; s < pool->program->nslots; s++) {
        if (pool->collections[s]->last_pool == pool)
            pool->collections[s]->last_pool = NULL;
    }
    pthread_mutex_unlock(&ctx->pools_lock);
    atomic_fetch_sub(&ctx->open_pools, 1);
    if (!pool->countable)
        atomic_fetch_sub(&ctx->uncounted, 1);
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->state, DAGI_POOL_LOCAL);
    dag_taskpool **followers = pool->followers;
    int n = pool->nfollowers;
    pool->followers = NULL;
    pool->nfollowers = pool->followers_capacity = 0;
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < n; i++) {
        dag_taskpool *f = followers[i];
        pthread_mutex_lock(&f->lock);
        int waits = --f->waits;
        pthread_mutex_unlock(&f->lock);
        if (waits == 0)
            start(w, f);
    }
    free(followers);
}

/* This rank's part is over. */
static void local_over(struct dagi_worker *w, dag_taskpool *pool)
{
    dag_context *ctx = pool->ctx;
    if (atomic_load(&pool->open) < 0)
        dagi_pool_fail(pool, DAG_ERR_GRAPH, "%s: more tasks ran than its classes have: an instance "
                       "with one input was sent two", pool->program->file);
    if (dagi_data_keeps(pool)) {
        /* They go before the pool does. Their transfers that have not passed hold it until then, and
         * whoever lets go of it last comes here again. */
        atomic_store(&pool->open, 1);
        dagi_data_let_go(w, pool);
        dagi_pool_drop(w, pool);
        return;
    }
    if (check_left_over(w, pool))
        return;
    if (!dagi_apply_deferred(w, pool))
        return;
    release_followers(w, pool);
    /* The pool's verdict; nobody changes it in state LOCAL. */
    pthread_mutex_lock(&pool->lock);
    dag_status status = pool->status;
    int64_t info = pool->info;
    char *message = pool->message;
    pool->message = NULL;
    pthread_mutex_unlock(&pool->lock);
    if (ctx->size > 1)
        dagi_comm_pool_local_end(w, pool, status, info, message ? message : "");
    else
        dagi_pool_end(pool, status, info, message ? message : "");
    free(message);
}

void dagi_pool_end(dag_taskpool *pool, dag_status status, int64_t info, const char *message)
{
    dag_context *ctx = pool->ctx;
    if (ctx->race)
        dagi_race_pool_ended(pool);
    pthread_mutex_lock(&ctx->pools_lock);
    dag_taskpool **link = &ctx->pools;
    while (*link && *link != pool)
        link = &(*link)->next;
    if (*link) {
        *link = pool->next;
        if (!*link)
            ctx->pools_end = link;
    }
    pthread_mutex_unlock(&ctx->pools_lock);
    pthread_mutex_lock(&pool->lock);
    pool->status = status;
    pool->info = info;
    free(pool->message);
    pool->message = status != DAG_SUCCESS && message ? strdup(message) : NULL;
    pthread_mutex_unlock(&pool->lock);
    if (DAGI_TRACE(ctx))
        dagi_trace_pool_end(DAGI_TRACE(ctx), pool);
    atomic_store(&pool->state, DAGI_POOL_ENDED); /* last access */
    dagi_wake_application(ctx);
}

void dagi_pool_force(struct dagi_worker *w, dag_taskpool *pool)
{
    dagi_activate(w);
    dagi_deps_clear(w, pool);
    atomic_store(&pool->open, 0);
    local_over(w, pool);
}

/* ---- the start -------------------------------------------------------------------------- */

int dagi_pool_keep_early(dag_taskpool *pool, struct dag_task *t)
{
    pthread_mutex_lock(&pool->lock);
    int queued = atomic_load(&pool->state) == DAGI_POOL_QUEUED;
    if (queued) {
        t->next = pool->early;
        pool->early = t;
    }
    pthread_mutex_unlock(&pool->lock);
    return queued;
}

/* Let a queued pool run: its turn has come. From the store of RUNNING on others may work on it, but
 * for what is in `early` it may even end. */
static void start(struct dagi_worker *w, dag_taskpool *pool)
{
    dag_context *ctx = pool->ctx;
    dagi_activate(w);
    atomic_fetch_add(&ctx->starting, 1);
    pthread_mutex_lock(&pool->lock);
    struct dag_task *early = pool->early;
    pool->early = NULL;
    atomic_store(&pool->state, DAGI_POOL_RUNNING);
    pthread_mutex_unlock(&pool->lock);
    if (ctx->devices)
        early = dagi_device_filter(w, early);
    if (early)
        dagi_ready(w, early);
    dagi_wake_one(ctx);
}

/* Tasks of this rank; sets countable. */
static int64_t count_tasks(dag_taskpool *pool)
{
    int64_t total = 0;
    pool->countable = !pool->program->dynamic;
    for (int c = 0; c < pool->program->nclasses; c++) {
        int64_t count = pool->program->classes[c]->count(pool->globals);
        if (count < 0)
            pool->countable = 0;
        else if (total > INT64_MAX / 4 - count)
            dagi_pool_fail(pool, DAG_ERR_ARG, "%s: class %s has too many instances to count",
                           pool->program->file, pool->program->classes[c]->name);
        else
            total += count;
    }
    return pool->countable ? total : 0;
}

/* A pool that has not ended; pools_lock is held. What a copy of a collection's struct names may be gone,
 * so it is not looked into. One that lies at its address now is earlier than who asks, too. */
static int is_listed(const dag_context *ctx, const dag_taskpool *pool)
{
    if (ctx->pools_end == &pool->next)
        return 1;
    const dag_taskpool *p = ctx->pools;
    while (p && p != pool)
        p = p->next;
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
    pthread_mutex_lock(&last->lock);
    bool known = atomic_load(&last->state) >= DAGI_POOL_LOCAL;
    for (int i = 0; i < last->nfollowers && !known; i++)
        known = last->followers[i] == pool;
    if (!known && last->nfollowers == last->followers_capacity) {
        int capacity = last->followers_capacity ? 2 * last->followers_capacity : 4;
        dag_taskpool **f = realloc(last->followers, (size_t)capacity * sizeof *f);
        if (f) {
            last->followers = f;
            last->followers_capacity = capacity;
        } else {
            status = DAG_ERR_NOMEM;
            known = true;
        }
    }
    if (!known) {
        last->followers[last->nfollowers++] = pool;
        pthread_mutex_lock(&pool->lock); /* others that it follows may end meanwhile */
        pool->waits++; /* last itself cannot have come to us yet: its lock is held */
        pthread_mutex_unlock(&pool->lock);
    }
    pthread_mutex_unlock(&last->lock);
    return status;
}

/* Enter the pool in the context's list and behind those it has to wait for. */
static dag_status enlist(dag_taskpool *pool)
{
    dag_context *ctx = pool->ctx;
    dag_status status = DAG_SUCCESS;
    pthread_mutex_lock(&ctx->pools_lock);
    pool->id = ++ctx->pools_added;
    pool->waits = 1; /* dag_add() itself */
    atomic_fetch_add(&ctx->open_pools, 1);
    if (!pool->countable)
        atomic_fetch_add(&ctx->uncounted, 1);
    atomic_store(&pool->state, DAGI_POOL_QUEUED);
    for (int s = 0; s < pool->program->nslots && status == DAG_SUCCESS; s++)
        status = follow(pool, pool->collections[s]);
    pool->next = NULL;
    *ctx->pools_end = pool;
    ctx->pools_end = &pool->next;
    pthread_mutex_unlock(&ctx->pools_lock);
    return status;
}

/* Tell the tasks which collections are resident. Memory whose present content may be on a device, as
 * that of another matrix, is refused: not all ranks need see it, so it is an error of the run, not of
 * the call. */
static void find_residences(dag_taskpool *pool)
{
    for (int s = 0; s < pool->program->nslots; s++) {
        dagi_data_name_residence(pool->data, s, dagi_residence_in(pool->ctx, pool->collections[s]));
        const dag_matrix *matrix = dagi_data_matrix(pool->data, s);
        const char *name = matrix ? dagi_resident_conflict(pool, matrix) : NULL;
        if (name)
            dagi_pool_fail(pool, DAG_ERR_STATE, "%s: the memory of matrix %s is that of \"%s\", whose "
                           "elements are resident on devices: call dag_resident_drop() for that "
                           "first", pool->program->name, pool->program->slots[s].name, name);
    }
}

static dag_status out_of_order(dag_context *ctx, const char *what)
{
    dagi_set_message(ctx, "%s", what);
    return DAG_ERR_STATE;
}

dag_status dag_add(dag_context *context, dag_taskpool *pool)
{
    if (!context || !pool)
        return DAG_ERR_ARG;
    if (pool->ctx != context) {
        dagi_set_message(context, "dag_add: the pool was made for another context");
        return DAG_ERR_ARG;
    }
    if (dagi_worker_self(context))
        return out_of_order(context, "dag_add: called from a body");
    if (atomic_load(&pool->state) != DAGI_POOL_NEW)
        return out_of_order(context, "dag_add: the pool was added before");
    struct dagi_worker *w = context->workers[0];
    /* One for start-up; a pool that cannot be counted keeps it until the waves find the end. */
    atomic_store(&pool->open, count_tasks(pool) + 1);
    int64_t tasks = pool->countable ? atomic_load(&pool->open) - 1 : -1;
    if (context->settings.serial && context->size > 1 && !pool->countable)
        dagi_pool_fail(pool, DAG_ERR_UNSUPPORTED, "%s: a serial run on several ranks needs a graph "
                       "without [dynamic] guards: use one rank", pool->program->file);
    if (context->devices)
        find_residences(pool);
    if (enlist(pool) != DAG_SUCCESS)
        dagi_pool_fail(pool, DAG_ERR_NOMEM, "no memory to queue a pool of %s", pool->program->name);
    if (DAGI_TRACE(context))
        dagi_trace_pool(DAGI_TRACE(context), pool, tasks);
    if (context->race)
        dagi_race_pool_added(pool);
    if (context->size > 1)
        dagi_comm_pool_added(w, pool);
    pthread_mutex_lock(&pool->lock);
    int waits = --pool->waits;
    pthread_mutex_unlock(&pool->lock);
    if (waits == 0)
        start(w, pool);
    dagi_leave(w);
    return DAG_SUCCESS;
}

/* ---- waiting ---------------------------------------------------------------------------- */

static int has_ended(void *arg)
{
    const dag_taskpool *pool = arg;
    return atomic_load_explicit(&pool->state, memory_order_acquire) == DAGI_POOL_ENDED;
}

static dag_status verdict(dag_taskpool *pool)
{
    if (pool->status != DAG_SUCCESS)
        dagi_set_message(pool->ctx, "%s", pool->message && *pool->message
                                              ? pool->message
                                              : dag_strerror(pool->status));
    return pool->status;
}

static dag_status may_wait(dag_taskpool *pool, const char *caller)
{
    const char *what = NULL;
    if (atomic_load(&pool->state) == DAGI_POOL_NEW)
        what = "the pool was not added";
    else if (dagi_worker_self(pool->ctx))
        what = "called from a body";
    if (!what)
        return DAG_SUCCESS;
    dagi_set_message(pool->ctx, "%s: %s", caller, what);
    return DAG_ERR_STATE;
}

dag_status dag_wait(dag_taskpool *pool)
{
    if (!pool)
        return DAG_ERR_ARG;
    dag_status status = may_wait(pool, "dag_wait");
    if (status != DAG_SUCCESS)
        return status;
    dagi_run_until(pool->ctx->workers[0], has_ended, pool);
    return verdict(pool);
}

dag_status dag_test(dag_taskpool *pool, int *done)
{
    enum { NANOSECONDS = 50000 };
    if (!pool || !done)
        return DAG_ERR_ARG;
    *done = 0;
    dag_status status = may_wait(pool, "dag_test");
    if (status != DAG_SUCCESS)
        return status;
    dagi_run_for(pool->ctx->workers[0], NANOSECONDS, has_ended, pool);
    *done = has_ended(pool);
    return *done ? verdict(pool) : DAG_SUCCESS;
}

dag_taskpool *dagi_pool_find(dag_context *ctx, uint32_t id)
{
    pthread_mutex_lock(&ctx->pools_lock);
    dag_taskpool *pool = ctx->pools;
    while (pool && pool->id != id)
        pool = pool->next;
    pthread_mutex_unlock(&ctx->pools_lock);
    return pool;
}

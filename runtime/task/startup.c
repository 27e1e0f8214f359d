/*
 * Start-up: the instances that wait for nothing are made lazily, a chunk at a time, by workers that
 * have run out of other tasks. So a pool of any size holds few tasks at once, and what is under way
 * is finished before more is begun.
 */
#include "completion.h"
#include "../base/lock.h"

enum { CHUNK = 128 };

/* What dag_start_task() fills. */
struct batch {
    struct dagi_worker *w;
    struct dag_task *list; /* youngest first */
    int count, limit;
};

int dag_start_task(dag_cursor *cursor, const int32_t *locals)
{
    struct batch *b = cursor->batch;
    dag_taskpool *pool = cursor->pool;
    struct dag_task *t =
        dagi_task_new(b->w, pool, &dagi_pool(pool)->classes[cursor->cls->id], locals);
    if (!t)
        return 1; /* the pool has failed */
    t->next = b->list;
    b->list = t;
    return ++b->count >= b->limit;
}

/* A pool with something left to start, locked for it; NULL = none, and *busy tells whether another
 * worker is at one. */
static dag_taskpool *claim(dag_context *ctx, int *busy)
{
    *busy = 0;
    pthread_mutex_lock(&dagi_tasks(ctx)->pools_lock);
    dag_taskpool *pool = dagi_tasks(ctx)->pools;
    for (; pool; pool = dagi_pool(pool)->next) {
        struct dagi_pool_start *start = &dagi_pool(pool)->start;
        if (atomic_load(&dagi_pool(pool)->state) != DAGI_POOL_RUNNING || atomic_load(&start->done))
            continue;
        if (!dagi_try_lock(&start->lock)) {
            *busy = 1;
            continue;
        }
        if (!atomic_load(&start->done))
            break;
        dagi_unlock(&start->lock);
    }
    pthread_mutex_unlock(&dagi_tasks(ctx)->pools_lock);
    return pool;
}

/* Like claim(). A worker that finds another one making a chunk waits a moment for its own: to make
 * tasks is cheaper than to steal those whose memory another core has just written. On an
 * oversubscribed machine the other one may not be running, so nobody waits. */
static dag_taskpool *claim_or_wait(dag_context *ctx)
{
    enum { TRIES = 6, PAUSES = 16 };
    int busy;
    dag_taskpool *pool = claim(ctx, &busy);
    for (int k = 0; !pool && busy && !dagi_tasks(ctx)->oversubscribed && k < TRIES; k++) {
        for (int p = 0; p < PAUSES; p++)
            dagi_pause();
        pool = claim(ctx, &busy);
    }
    return pool;
}

/* One chunk of the pool, of one class after the other, from where the cursor is in class *at on; a cursor of another
 * class, or zeroed, is at the beginning. */
static void fill(dag_taskpool *pool, int *at, dag_cursor *cursor, struct batch *b)
{
    while (*at < pool->program->nclasses && b->count < b->limit) {
        const dag_class *cls = pool->program->classes[*at];
        if (cursor->cls != cls)
            *cursor = (dag_cursor){.pool = pool, .cls = cls};
        cursor->batch = b;
        if (!cls->start || !cls->start(cursor, pool->globals))
            ++*at;
        else if (b->count < b->limit)
            break; /* stopped early: no memory, the pool has failed */
    }
}

struct dag_task *dagi_start_chunk(struct dagi_worker *w, dag_taskpool *pool, int *at,
                                  dag_cursor *cursor)
{
    struct batch b = {.w = w, .limit = CHUNK};
    fill(pool, at, cursor, &b);
    return b.list;
}

int dagi_startup(struct dagi_worker *w, dagi_started *started)
{
    struct dagi_tasks *tasks = dagi_tasks(w->ctx);
    if (atomic_load(&tasks->starting) == 0 || (tasks->device && tasks->device->full(w->ctx)))
        return 0;
    dag_taskpool *pool = claim_or_wait(w->ctx);
    if (!pool)
        return 0;
    struct dagi_pool *p = dagi_pool(pool);
    struct batch b = {.w = w, .limit = CHUNK};
    if (dagi_chaos(w, 2))
        b.limit = 1 + (int)(dagi_random(w) % CHUNK);
    if (DAGI_TRACK(w))
        dagi_trace_startup(DAGI_TRACK(w));
    fill(pool, &p->start.class, &p->start.cursor, &b);
    if (!p->countable && b.count > 0)
        atomic_fetch_add_explicit(&p->open, b.count, memory_order_relaxed);
    int done = p->start.class == pool->program->nclasses;
    if (done) {
        atomic_store(&p->start.done, 1);
        atomic_fetch_sub(&tasks->starting, 1);
    }
    int countable = p->countable; /* with all its tasks taken a pool that is not may end */
    dagi_unlock(&p->start.lock);
    /* Until here the pool could not end. The tasks, or the share of open that stands for start-up,
     * keep it until they are given away. */
    started->list = dagi_ready_here(w, b.list);
    started->over = done && countable ? pool : NULL;
    return 1;
}

/*
 * Rounds: a pool whose graph runs as a whole, again and again, until no task of a round asks for
 * another one or the bound is reached (%option rounds).
 *
 * A round is a pool from dag_add() to its agreed end, with a number of its own, so that messages of
 * two rounds are told apart; stores of one are in memory before the next one begins. Whether a task
 * has asked comes with the agreed end: all ranks decide alike. The struct is the same in all
 * rounds, for the application, who has it, and for dag_cancel(), which any thread may call at any
 * time.
 *
 * Between rounds the pool is on no list but `rounds` of its context, and nothing refers to it: it
 * is NEW again. Rounds begin inside calls that wait for it, so all ranks number them alike among
 * other pools.
 */
#include "door.h"

#include <stdlib.h>

void dag_pool_rounds(dag_taskpool *pool, int64_t bound)
{
    if (bound < 1)
        dagi_pool_fail(pool, DAG_ERR_ARG, "%s: %%option rounds is %lld, and has to be 1 or more",
                       pool->program->file, (long long)bound);
    dagi_pool(pool)->rounds.bound = bound;
    dag_pool_scalar(pool, bound);
}

/* ---- what tasks and the application ask -------------------------------------------------- */

void dag_task_again(struct dag_task *task)
{
    struct dagi_pool *p = dagi_pool(task->pool);
    if (p->rounds.bound == 0) {
        dag_task_fail(task, "dag_task_again: the graph has no %%option rounds");
        return;
    }
    if (!atomic_load_explicit(&p->rounds.again, memory_order_relaxed))
        atomic_store_explicit(&p->rounds.again, 1, memory_order_relaxed);
}

int64_t dag_task_round(const struct dag_task *task)
{
    return dagi_pool(task->pool)->rounds.done;
}

int64_t dag_taskpool_rounds(const dag_taskpool *pool, int *again)
{
    if (again)
        *again = 0;
    if (!pool || atomic_load(&dagi_pool(pool)->state) != DAGI_POOL_ENDED ||
        dagi_rounds_go_on(pool))
        return 0;
    const struct dagi_pool_rounds *r = &dagi_pool(pool)->rounds;
    if (again)
        *again = atomic_load(&r->again);
    return r->bound ? r->done : 1;
}

/* ---- from round to round ----------------------------------------------------------------- */

void dagi_rounds_added(dag_taskpool *pool)
{
    struct dagi_pool_rounds *r = &dagi_pool(pool)->rounds;
    if (r->bound == 0)
        return;
    if (!atomic_load(&r->goes_on)) {
        r->next = dagi_tasks(pool->ctx)->rounds;
        dagi_tasks(pool->ctx)->rounds = pool;
        atomic_store(&r->goes_on, 1);
    }
    /* dag_cancel() sets `stop` and then looks at the state: one of the two sees the other. */
    if (atomic_load(&r->stop))
        dagi_pool_fail(pool, DAG_ERR_CANCELLED, "pool of %s: cancelled", pool->program->name);
}

static void leave_list(dag_taskpool *pool)
{
    dag_taskpool **link = &dagi_tasks(pool->ctx)->rounds;
    while (*link != pool)
        link = &dagi_pool(*link)->rounds.next;
    *link = dagi_pool(pool)->rounds.next;
    atomic_store(&dagi_pool(pool)->rounds.goes_on, 0);
}

dag_pool_stats dagi_rounds_stats(const dag_taskpool *pool)
{
    const dag_pool_stats *a = &dagi_pool(pool)->rounds.before, b = dagi_pool_stats(pool);
    return (dag_pool_stats){.tasks = a->tasks + b.tasks,
                            .renames = a->renames + b.renames,
                            .messages = a->messages + b.messages,
                            .bytes_sent = a->bytes_sent + b.bytes_sent,
                            .deferred_stores = a->deferred_stores + b.deferred_stores};
}

/* From ENDED to NEW. What a pool keeps is empty at the end of one that went well, and stays allocated. */
static void renew(dag_taskpool *pool)
{
    struct dagi_pool *p = dagi_pool(pool);
    assert(p->status == DAG_SUCCESS && p->info == 0 && !dagi_pool_is_poisoned(pool));
    assert(!p->early && !p->comm && !p->order.followers && !dagi_data_keeps(pool));
    DAGI_INSIST(dagi_data_check(pool, 1));
    p->rounds.before = dagi_rounds_stats(pool);
    p->stats = (struct dagi_pool_stats){0};
    p->start.class = 0;
    p->start.cursor = (dag_cursor){0};
    atomic_store(&p->start.done, 0);
    atomic_store(&p->rounds.again, 0);
    pthread_mutex_lock(&p->lock);
    atomic_store(&p->state, DAGI_POOL_NEW);
    pthread_mutex_unlock(&p->lock);
}

bool dagi_rounds_next(dag_taskpool *pool)
{
    struct dagi_pool *p = dagi_pool(pool);
    if (!atomic_load(&p->rounds.goes_on))
        return false;
    assert(atomic_load(&p->state) == DAGI_POOL_ENDED);
    p->rounds.done++;
    if (pool->ctx->modelled) /* elements have no content to decide by */
        atomic_store(&p->rounds.again, 1);
    if (p->status != DAG_SUCCESS || p->info != 0 || !atomic_load(&p->rounds.again) ||
        p->rounds.done >= p->rounds.bound) {
        leave_list(pool);
        return false;
    }
    renew(pool);
    return true;
}

const dag_taskpool *dagi_rounds_beside(dag_context *ctx, const dag_taskpool *pool)
{
    const dag_taskpool *other = dagi_tasks(ctx)->rounds;
    while (other && !dagi_pool_shares(pool, other))
        other = dagi_pool(other)->rounds.next;
    return other;
}

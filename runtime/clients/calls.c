/* Calls of the application thread that put pools to work and wait. */
#include "../comm/comm.h"
#include "../device/resident.h"
#include "open.h"
#include "../sim/sim.h"

static dag_status out_of_order(dag_context *ctx, const char *what)
{
    dagi_set_message(ctx, "%s", what);
    return DAG_ERR_STATE;
}

/* A pool, or the next round of one, begins. */
static void enter(dag_context *context, dag_taskpool *pool)
{
    if (context->simulated) {
        dagi_sim_add(pool);
        dagi_rounds_added(pool);
        return;
    }
    struct dagi_worker *w = dagi_tasks(context)->workers[0];
    int64_t tasks = dagi_pool_open(pool);
    if (context->settings.serial && context->size > 1 && !dagi_pool(pool)->countable)
        dagi_pool_fail(pool, DAG_ERR_UNSUPPORTED, "%s: a serial run on several ranks needs a graph "
                       "without [dynamic] guards: use one rank", pool->program->file);
    if (dagi_tasks(context)->devices)
        dagi_residences_name(pool);
    dagi_pool_enlist(pool);
    dagi_rounds_added(pool);
    if (DAGI_TRACE(context))
        dagi_trace_pool(DAGI_TRACE(context), pool, tasks);
    if (dagi_tasks(context)->observer)
        dagi_tasks(context)->observer->pool_added(pool);
    if (context->size > 1)
        dagi_comm_pool_added(w, pool);
    dagi_pool_may_start(w, pool);
    dagi_leave(w);
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
    if (atomic_load(&dagi_pool(pool)->state) != DAGI_POOL_NEW)
        return out_of_order(context, "dag_add: the pool was added before");
    const dag_taskpool *rounds = dagi_rounds_beside(context, pool);
    if (rounds) {
        dagi_set_message(context, "dag_add: pool %u of %s may run another round and names a collection "
                         "of this one, of %s: wait for it first", rounds->id, rounds->program->name,
                         pool->program->name);
        return DAG_ERR_STATE;
    }
    const dag_taskpool *open = dagi_door_beside(context, pool);
    if (open) {
        dagi_set_message(context, "dag_add: pool %u of %s is open and names a collection of this one, "
                         "of %s: shut it first", open->id, open->program->name, pool->program->name);
        return DAG_ERR_STATE;
    }
    enter(context, pool);
    return DAG_SUCCESS;
}

/* ---- waiting ---------------------------------------------------------------------------- */

static int has_ended(void *arg)
{
    const dag_taskpool *pool = arg;
    return atomic_load_explicit(&dagi_pool(pool)->state, memory_order_acquire) == DAGI_POOL_ENDED;
}

static dag_status verdict(dag_taskpool *pool)
{
    if (dagi_pool(pool)->status != DAG_SUCCESS)
        dagi_set_message(pool->ctx, "%s", dagi_pool(pool)->message && *dagi_pool(pool)->message
                                              ? dagi_pool(pool)->message
                                              : dag_strerror(dagi_pool(pool)->status));
    return dagi_pool(pool)->status;
}

static dag_status may_wait(dag_taskpool *pool, const char *caller)
{
    const char *what = NULL;
    if (atomic_load(&dagi_pool(pool)->state) == DAGI_POOL_NEW)
        what = "the pool was not added";
    else if (dagi_worker_self(pool->ctx))
        what = "called from a body";
    else if (dagi_pool_is_open(pool))
        what = "the pool is open: it does not end before it is shut";
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
    for (;;) {
        if (pool->ctx->simulated)
            dagi_sim_wait(pool);
        else
            dagi_run_until(dagi_tasks(pool->ctx)->workers[0], has_ended, pool);
        if (!dagi_rounds_next(pool))
            return verdict(pool);
        enter(pool->ctx, pool);
    }
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
    if (dagi_rounds_go_on(pool)) { /* ranks see the end of a round at different calls */
        dagi_set_message(pool->ctx, "dag_test: %s runs in rounds (%%option rounds), which go on in "
                         "dag_wait() alone", pool->program->name);
        return DAG_ERR_UNSUPPORTED;
    }
    if (pool->ctx->simulated)
        dagi_sim_wait(pool); /* who asks again and again comes to the same end */
    else
        dagi_run_for(dagi_tasks(pool->ctx)->workers[0], NANOSECONDS, has_ended, pool);
    *done = has_ended(pool);
    return *done ? verdict(pool) : DAG_SUCCESS;
}

void dag_taskpool_free(dag_taskpool *pool)
{
    if (!pool)
        return;
    int state = atomic_load(&dagi_pool(pool)->state);
    if ((state != DAGI_POOL_NEW && state != DAGI_POOL_ENDED) || dagi_rounds_go_on(pool)) {
        dagi_warn(pool->ctx, "dag_taskpool_free: a pool of %s still runs; waiting for it",
                  pool->program->name);
        if (dagi_pool_is_open(pool))
            dagi_open_end(pool);
        dag_wait(pool);
    }
    dagi_pool_destroy(pool);
}

static dag_status gather_least(dag_context *ctx, enum dagi_barrier which, double *values, int count)
{
    if (ctx->simulated) {
        dagi_sim_barrier(ctx);
        return DAG_SUCCESS;
    }
    return ctx->size > 1 ? dagi_comm_barrier(dagi_tasks(ctx)->workers[0], which, values, count)
                         : DAG_SUCCESS;
}

dag_status dag_barrier(dag_context *context)
{
    if (!context)
        return DAG_ERR_ARG;
    if (dagi_worker_self(context))
        return out_of_order(context, "dag_barrier: called from a body");
    return gather_least(context, DAGI_BARRIER, NULL, 0);
}

dag_status dag_least(dag_context *context, double *values, int count)
{
    if (!context || !values || count < 0 || count > DAG_LEAST_MOST)
        return DAG_ERR_ARG;
    if (dagi_worker_self(context))
        return out_of_order(context, "dag_least: called from a body");
    return gather_least(context, DAGI_BARRIER_LEAST, values, count);
}

/*
 * A context with its workers, put together by hand out of the floors up to that of tasks; ports are
 * empty but for what a test fills in. hand_crew.h adds the floor of workers.
 */
#ifndef FLOORS_HAND_H
#define FLOORS_HAND_H

#include "../../../runtime/base/settings.h"
#include "../../../runtime/base/topology.h"
#include "../../../runtime/task/task.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Zeroed, on a line of its own. */
static inline void *hand_alloc(size_t bytes)
{
    bytes = (bytes + DAGI_LINE - 1) & ~(size_t)(DAGI_LINE - 1);
    void *at = aligned_alloc(DAGI_LINE, bytes);
    ck_assert_ptr_nonnull(at);
    memset(at, 0, bytes);
    return at;
}

/* `context_bytes`, `worker_bytes`: of the outermost structs that the test knows. */
static inline dag_context *hand_new(size_t context_bytes, size_t worker_bytes, int workers)
{
    char why[256] = "";
    struct dagi_tasks *tasks = hand_alloc(context_bytes);
    dag_context *ctx = &tasks->context;
    ctx->size = ctx->sharing = 1;
    ck_assert_msg(dagi_settings_resolve(NULL, &ctx->config, &ctx->settings, why, sizeof why) ==
                      DAG_SUCCESS,
                  "%s", why);
    ck_assert_msg(dagi_topology_new(&ctx->topology, why, sizeof why) == DAG_SUCCESS, "%s", why);
    pthread_mutex_init(&ctx->message_lock, NULL);
    pthread_mutex_init(&tasks->pools_lock, NULL);
    tasks->pools_end = &tasks->pools;
    tasks->nworkers = workers;
    tasks->single = workers == 1;
    tasks->oversubscribed = 1; /* beside other tests */
    tasks->task_store = dagi_task_store_new();
    ctx->values = dagi_value_depot_new();
    tasks->workers = hand_alloc((size_t)workers * sizeof *tasks->workers);
    for (int i = 0; i < workers; i++) {
        struct dagi_worker *w = tasks->workers[i] = hand_alloc(worker_bytes);
        w->ctx = ctx;
        w->index = i;
        dagi_runner(w)->unlocked = dagi_unlocked(ctx);
        w->values = dagi_value_cache_new(ctx->values);
        ck_assert_ptr_nonnull(w->values);
    }
    return ctx;
}

/* Nothing of the pools that it ran is left. */
static inline void hand_free(dag_context *ctx)
{
    struct dagi_tasks *tasks = dagi_tasks(ctx);
    size_t allocated, idle;
    ck_assert_ptr_null(tasks->pools);
    ck_assert_int_eq(atomic_load(&tasks->open.pools), 0);
    ck_assert_int_eq(atomic_load(&tasks->starting), 0);
    for (int i = 0; i < tasks->nworkers; i++) {
        dagi_value_cache_free(tasks->workers[i]->values);
        free(dagi_runner(tasks->workers[i])->edges);
        free(dagi_runner(tasks->workers[i])->workspace);
        free(tasks->workers[i]);
    }
    free(tasks->workers);
    dagi_value_depot_bytes(ctx->values, &allocated, &idle);
    ck_assert_uint_eq(allocated, idle);
    dagi_value_depot_free(ctx->values);
    dagi_task_store_free(tasks->task_store);
    dagi_topology_free(ctx->topology);
    dag_config_free(ctx->config);
    pthread_mutex_destroy(&tasks->pools_lock);
    pthread_mutex_destroy(&ctx->message_lock);
    free(tasks);
}

/* What dag_add() does of a pool without the floors above. */
static inline void hand_add(dag_context *ctx, dag_taskpool *pool)
{
    struct dagi_worker *w = dagi_tasks(ctx)->workers[0];
    ck_assert_ptr_nonnull(pool);
    dagi_pool_open(pool);
    dagi_pool_enlist(pool);
    dagi_pool_may_start(w, pool);
}

static inline int hand_ended(void *pool)
{
    return atomic_load(&dagi_pool(pool)->state) == DAGI_POOL_ENDED;
}

#endif

/* A context with workers that run, put together by hand out of the floors up to that of workers. */
#ifndef FLOORS_HAND_CREW_H
#define FLOORS_HAND_CREW_H

#include "../../../runtime/worker/worker.h"
#include "hand.h"

static inline dag_context *crew_new(int workers)
{
    dag_context *ctx = hand_new(sizeof(struct dagi_crew), sizeof(struct dagi_thread), workers);
    struct dagi_crew *crew = dagi_crew(ctx);
    pthread_mutex_init(&crew->park_lock, NULL);
    crew->tasks.crew = &dagi_crew_tasks;
    crew->sched = &dagi_sched_local;
    for (int i = 0; i < workers; i++) {
        dagi_thread(crew->tasks.workers[i])->cpu = -1;
        dagi_thread_init(dagi_thread(crew->tasks.workers[i]));
    }
    ck_assert_int_eq(crew->sched->init(ctx), DAG_SUCCESS);
    return ctx;
}

static inline void crew_free(dag_context *ctx)
{
    struct dagi_crew *crew = dagi_crew(ctx);
    dagi_workers_stop(ctx);
    const char *wrong = dagi_crew_check(ctx);
    ck_assert_msg(!wrong, "%s", wrong);
    crew->sched->fini(ctx);
    for (int i = 0; i < crew->tasks.nworkers; i++)
        dagi_thread_fini(dagi_thread(crew->tasks.workers[i]));
    pthread_mutex_destroy(&crew->park_lock);
    hand_free(ctx);
}

/* Run a pool to its end; its status. */
static inline dag_status crew_run(dag_context *ctx, dag_taskpool *pool)
{
    hand_add(ctx, pool);
    dagi_leave(dagi_tasks(ctx)->workers[0]);
    dagi_run_until(dagi_tasks(ctx)->workers[0], hand_ended, pool);
    return dagi_pool(pool)->status;
}

#endif

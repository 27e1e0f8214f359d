/* What this floor fills in of the ports of the floors below. */
#include "cause.h"
#include "race.h"
#include "waiting.h"
#include "watch.h"

#include "../worker/worker.h"

#include <assert.h>

static void begin(struct dagi_worker *w, struct dag_task *t)
{
    /* Reports and checks want each arrival: who is observed holds nothing back. */
    assert(!(dagi_runner(w)->joins & ~DAGI_GIVEN) && dagi_runner(w)->held_back == 0);
    if (dagi_runner(w)->watched)
        dagi_watch_begin(dagi_runner(w)->watched, t);
    if (dagi_tasks(w->ctx)->race)
        dagi_race_begin(w, t);
}

static void end(struct dagi_worker *w, struct dag_task *t)
{
    if (dagi_tasks(w->ctx)->race)
        dagi_race_end(w, t);
    if (dagi_runner(w)->watched)
        dagi_watch_end(dagi_runner(w)->watched);
}

static void store(struct dag_task *t, int flow, const dag_collection *collection,
                  const dag_element *e, int region)
{
    if (dagi_tasks(t->pool->ctx)->race)
        dagi_race_store(t, flow, collection, e, region);
}

static void pool_added(dag_taskpool *pool)
{
    if (dagi_tasks(pool->ctx)->race)
        dagi_race_pool_added(pool);
}

static void pool_ended(const dag_taskpool *pool)
{
    if (dagi_tasks(pool->ctx)->race)
        dagi_race_pool_ended(pool);
}

static const dagi_observer_port task_port = {
    .begin = begin,
    .end = end,
    .store = store,
    .pool_added = pool_added,
    .pool_ended = pool_ended,
};

static void causes(dag_taskpool *pool, int64_t waiting, FILE *out)
{
    dagi_cause_write(pool, out);
    dagi_waiting_write(pool, waiting, out);
}

dag_status dagi_observe(dag_context *ctx, char *why, size_t why_size)
{
    struct dagi_tasks *tasks = dagi_tasks(ctx);
    dagi_crew(ctx)->causes = causes;
    if (ctx->settings.check && !(tasks->race = dagi_race_new(ctx)))
        return DAG_ERR_NOMEM;
    dag_status status = dagi_watch_start(ctx, why, why_size);
    if (tasks->race || tasks->watcher)
        tasks->observer = &task_port;
    return status;
}

void dagi_observe_end(dag_context *ctx)
{
    dagi_watch_stop(ctx);
    dagi_race_free(dagi_tasks(ctx)->race);
    dagi_tasks(ctx)->race = NULL;
    dagi_tasks(ctx)->observer = NULL;
}

/*
 * Tasks that wait in vain. A stall is not a matter of time: it is a proof that nothing can happen
 * any more. Within one rank: all workers idle, no task ready, nothing left to start (see `activity` of
 * struct dagi_crew). Between ranks two counting waves show the same (comm/comm.h). Pools that cannot
 * be counted end in the same way, if nothing waits.
 */
#include "worker.h"
#include "../task/door.h"

#include <stdio.h>
#include <stdlib.h>

enum { WAVE_PAUSE_UNCOUNTED = 200000, SHORTEST_PAUSE = 1000000 }; /* nanoseconds */

/* ---- the report ------------------------------------------------------------------------- */

static void write_report(dag_taskpool *pool, int64_t waiting, FILE *out)
{
    const dag_context *ctx = pool->ctx;
    long long open = atomic_load(&dagi_pool(pool)->open);
    fprintf(out, "%s: ", pool->program->file);
    if (ctx->size > 1 || atomic_load(&dagi_context_count) > 1)
        fprintf(out, "%s: ", dagi_who(ctx).text);
    if (waiting || !dagi_pool_is_open(pool))
        fprintf(out, "%lld tasks wait for inputs that nobody will send", (long long)waiting);
    const char *what = dagi_door_what(pool);
    if (what)
        fprintf(out, "%sthe pool is open, and whoever gives it tasks waits for %s", waiting ? "; " : "",
                what);
    else if (dagi_pool(pool)->countable && !dagi_pool(pool)->door && open > waiting)
        fprintf(out, "%s%lld more have not got any input", waiting ? ", " : "; ",
                open - (long long)waiting);
    if (dagi_crew(ctx)->causes)
        dagi_crew(ctx)->causes(pool, waiting, out);
}

static void report(dag_taskpool *pool, int64_t waiting)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out) {
        write_report(pool, waiting, out);
        if (fclose(out) != 0) {
            free(text);
            text = NULL;
        }
    }
    const char *what = text ? text : "tasks wait for inputs that nobody will send";
    if (pool->ctx->size > 1)
        dagi_warn(pool->ctx, "%s", what);
    dagi_pool_fail(pool, DAG_ERR_STALL, "%s", what);
    free(text);
}

/* Nothing can happen in this pool any more: it ends here, one way or the other; if it is open, once it
 * is shut. */
static void conclude(struct dagi_worker *w, dag_taskpool *pool)
{
    DAGI_INSIST(dagi_pool_check(pool));
    int64_t waiting = dagi_deps_count(pool);
    bool open = dagi_pool_is_open(pool);
    /* After an error some tasks may lack inputs; the error is what matters then. */
    if (!dagi_pool_is_poisoned(pool) &&
        (waiting > 0 || (open ? dagi_door_what(pool) != NULL : dagi_pool(pool)->countable)))
        report(pool, waiting);
    if (open)
        dagi_door_condemn(pool);
    else
        dagi_pool_force(w, pool);
}

/* ---- one rank --------------------------------------------------------------------------- */

/* First pool whose part here is not over, but for those that may yet be given tasks; pools_lock is
 * held. */
static dag_taskpool *first_left(dag_context *ctx)
{
    dag_taskpool *pool = dagi_tasks(ctx)->pools;
    while (pool && (atomic_load(&dagi_pool(pool)->state) >= DAGI_POOL_LOCAL ||
                    DAGI_UNLIKELY(dagi_door_expects(pool))))
        pool = dagi_pool(pool)->next;
    return pool;
}

/* May a pool be given tasks before anything else happens? pools_lock is held. */
static bool giver_goes_on(dag_context *ctx, bool blocked)
{
    for (dag_taskpool *pool = dagi_tasks(ctx)->pools; pool; pool = dagi_pool(pool)->next) {
        int state = dagi_door_state(pool);
        if ((state == DAGI_DOOR_OPEN && !blocked) ||
            (state == DAGI_DOOR_WAITS && dagi_door_expects(pool)))
            return true;
    }
    return false;
}

static bool at_rest(struct dagi_worker *w, uint64_t activity)
{
    const struct dagi_crew *crew = dagi_crew(w->ctx);
    return (activity & DAGI_ACTIVE_MASK) == 0 && atomic_load(&crew->tasks.starting) == 0 &&
           !crew->sched->some(w) && !(crew->manager && crew->manager->busy(w->ctx));
}

int dagi_stall_check(struct dagi_worker *w)
{
    dag_context *ctx = w->ctx;
    dag_taskpool *pool = NULL;
    pthread_mutex_lock(&dagi_tasks(ctx)->pools_lock);
    uint64_t activity = atomic_load(&dagi_crew(ctx)->activity);
    if (at_rest(w, activity))
        pool = first_left(ctx);
    if (pool && atomic_load(&dagi_pool(pool)->state) != DAGI_POOL_RUNNING)
        pool = NULL; /* being added */
    pthread_mutex_unlock(&dagi_tasks(ctx)->pools_lock);
    /* If nobody has become active since, we do, alone: the proof holds. */
    if (!pool || !dagi_activate_alone(w, activity))
        return 0;
    conclude(w, pool);
    return 1;
}

/* ---- several ranks ---------------------------------------------------------------------- */

void dagi_stall_wave(struct dagi_worker *w)
{
    dag_context *ctx = w->ctx;
    if (ctx->rank != 0)
        return;
    uint64_t pause = (uint64_t)(ctx->settings.stall_time * 1e9);
    if (pause < SHORTEST_PAUSE)
        pause = SHORTEST_PAUSE;
    if (atomic_load(&dagi_tasks(ctx)->open.uncounted) > 0)
        pause = WAVE_PAUSE_UNCOUNTED;
    uint64_t now = dagi_now();
    if (now - dagi_thread(w)->last_wave <
        pause) /* not of the time idle: who polls is idle for moments only */
        return;
    dagi_thread(w)->last_wave = now;
    pthread_mutex_lock(&dagi_tasks(ctx)->pools_lock);
    bool pools = dagi_tasks(ctx)->pools != NULL; /* over here or not: others may wait in vain */
    pthread_mutex_unlock(&dagi_tasks(ctx)->pools_lock);
    if (!pools && !(atomic_load(&dagi_crew(ctx)->blocked) & 1))
        return;
    dagi_crew(ctx)->messages->wave(w);
}

dagi_look dagi_wave_look(dag_context *ctx)
{
    struct dagi_crew *crew = dagi_crew(ctx);
    struct dagi_tasks *tasks = &crew->tasks;
    pthread_mutex_lock(&tasks->pools_lock);
    uint64_t activity = atomic_load(&crew->activity), blocked = atomic_load(&crew->blocked);
    const dag_taskpool *pool = first_left(ctx);
    bool waits = (blocked & 1) && !atomic_load(&crew->news);
    dagi_look look = {
        /* A first open pool that does not run yet is being added: its start-up is to come. */
        .idle = at_rest(tasks->workers[0], activity) && !giver_goes_on(ctx, waits) &&
                (!pool || atomic_load(&dagi_pool(pool)->state) == DAGI_POOL_RUNNING),
        .first_open = pool ? pool->id : UINT32_MAX,
        .added = tasks->pools_added,
        .blocked = waits,
        .activity = (activity >> 16) + (blocked >> 1),
    };
    pthread_mutex_unlock(&tasks->pools_lock);
    return look;
}

void dagi_wave_quiet(struct dagi_worker *w, uint32_t id)
{
    dag_taskpool *pool = dagi_pool_find(w->ctx, id);
    if (!pool || atomic_load(&dagi_pool(pool)->state) != DAGI_POOL_RUNNING)
        return;
    dagi_activate(w);
    conclude(w, pool);
}

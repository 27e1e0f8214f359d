/*
 * Tasks that wait in vain. A stall is not a matter of time: it is a proof that nothing can happen
 * any more. Within one rank: all workers idle, no task ready, nothing left to start (see
 * dag_context.activity). Between ranks two counting waves show the same (comm.h). Pools that cannot
 * be counted end in the same way, if nothing waits.
 */
#include "../watch/cause.h"
#include "../watch/waiting.h"
#include "core_impl.h"

#include <stdio.h>
#include <stdlib.h>

enum { WAVE_PAUSE_UNCOUNTED = 200000, SHORTEST_PAUSE = 1000000 }; /* nanoseconds */

/* ---- the report ------------------------------------------------------------------------- */

static void write_report(dag_taskpool *pool, int64_t waiting, FILE *out)
{
    const dag_context *ctx = pool->ctx;
    long long open = atomic_load(&pool->open);
    fprintf(out, "%s: ", pool->program->file);
    if (ctx->size > 1)
        fprintf(out, "rank %d: ", ctx->rank);
    fprintf(out, "%lld tasks wait for inputs that nobody will send", (long long)waiting);
    if (pool->countable && open > waiting)
        fprintf(out, "%s%lld more have not got any input", waiting ? ", " : "; ",
                open - (long long)waiting);
    dagi_cause_write(pool, out);
    dagi_waiting_write(pool, waiting, out);
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

/* Nothing can happen in this pool any more: it ends here, one way or the other. */
static void conclude(struct dagi_worker *w, dag_taskpool *pool)
{
    int64_t waiting = dagi_deps_count(pool);
    /* After an error some tasks may lack inputs; the error is what matters then. */
    if (!dagi_pool_is_poisoned(pool) && (waiting > 0 || pool->countable))
        report(pool, waiting);
    dagi_pool_force(w, pool);
}

/* ---- one rank --------------------------------------------------------------------------- */

/* First pool whose part here is not over; pools_lock is held. */
static dag_taskpool *first_open(dag_context *ctx)
{
    dag_taskpool *pool = ctx->pools;
    while (pool && atomic_load(&pool->state) >= DAGI_POOL_LOCAL)
        pool = pool->next;
    return pool;
}

static bool at_rest(struct dagi_worker *w, uint64_t activity)
{
    return (activity & DAGI_ACTIVE_MASK) == 0 && atomic_load(&w->ctx->starting) == 0 &&
           !w->ctx->sched->some(w) && !dagi_devices_busy(w->ctx);
}

int dagi_stall_check(struct dagi_worker *w)
{
    dag_context *ctx = w->ctx;
    dag_taskpool *pool = NULL;
    pthread_mutex_lock(&ctx->pools_lock);
    uint64_t activity = atomic_load(&ctx->activity);
    if (at_rest(w, activity))
        pool = first_open(ctx);
    if (pool && atomic_load(&pool->state) != DAGI_POOL_RUNNING)
        pool = NULL; /* being added */
    pthread_mutex_unlock(&ctx->pools_lock);
    /* If nobody has become active since, we do, alone: the proof holds. */
    if (!pool || !atomic_compare_exchange_strong(&ctx->activity, &activity,
                                                 activity + DAGI_ACTIVE_ONE))
        return 0;
    w->active = 1;
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
    if (atomic_load(&ctx->uncounted) > 0)
        pause = WAVE_PAUSE_UNCOUNTED;
    uint64_t now = dagi_now();
    if (now - w->last_wave < pause) /* not of the time idle: who polls is idle for moments only */
        return;
    w->last_wave = now;
    pthread_mutex_lock(&ctx->pools_lock);
    bool pools = ctx->pools != NULL; /* over here or not: others may wait in vain */
    pthread_mutex_unlock(&ctx->pools_lock);
    if (!pools && !(atomic_load(&ctx->blocked) & 1))
        return;
    dagi_comm_wave(w);
}

void dagi_wave_look(dag_context *ctx, dagi_wave *mine)
{
    pthread_mutex_lock(&ctx->pools_lock);
    uint64_t activity = atomic_load(&ctx->activity), blocked = atomic_load(&ctx->blocked);
    const dag_taskpool *pool = first_open(ctx);
    /* A first open pool that does not run yet is being added: its start-up is to come. */
    mine->idle = at_rest(ctx->workers[0], activity) &&
                 (!pool || atomic_load(&pool->state) == DAGI_POOL_RUNNING);
    mine->first_open = pool ? pool->id : UINT32_MAX;
    mine->added_min = mine->added_max = ctx->pools_added;
    mine->blocked = (blocked & 1) && !atomic_load(&ctx->news);
    mine->activity = (activity >> 16) + (blocked >> 1);
    pthread_mutex_unlock(&ctx->pools_lock);
}

void dagi_wave_quiet(struct dagi_worker *w, uint32_t id)
{
    dag_taskpool *pool = dagi_pool_find(w->ctx, id);
    if (!pool || atomic_load(&pool->state) != DAGI_POOL_RUNNING)
        return;
    dagi_activate(w);
    conclude(w, pool);
}

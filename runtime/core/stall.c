/*
 * Tasks that wait in vain. A stall is not a matter of time: it is a proof that nothing can happen
 * any more. Within one rank: all workers idle, no task ready, nothing left to start (see
 * dag_context.activity). Between ranks two counting waves show the same (comm.h). Pools that cannot
 * be counted end in the same way, if nothing waits.
 */
#include "core_impl.h"

#include <stdlib.h>
#include <string.h>

enum { WAVE_PAUSE_UNCOUNTED = 200000, SHORTEST_PAUSE = 1000000 }; /* nanoseconds */
enum { LISTED = 10 }; /* instances in a report */

/* ---- the report ------------------------------------------------------------------------- */

/* The first LISTED tasks in the order of class and parameters. */
struct listing {
    struct dag_task *task[LISTED + 1];
    int count;
};

static int before(struct dag_task *a, struct dag_task *b)
{
    if (a->cls != b->cls)
        return a->cls->id < b->cls->id;
    const int32_t *x = dagi_task_locals(a), *y = dagi_task_locals(b);
    for (int i = 0; i < a->cls->nparams; i++) {
        if (x[i] != y[i])
            return x[i] < y[i];
    }
    return 0;
}

static int list_task(struct dag_task *t, void *arg)
{
    struct listing *l = arg;
    int at = l->count;
    for (; at > 0 && before(t, l->task[at - 1]); at--)
        l->task[at] = l->task[at - 1];
    l->task[at] = t;
    if (l->count < LISTED)
        l->count++;
    return 0;
}

static void append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

/* "Gemm(3, 2, 1) misses 1 of: A (line 40), C (line 42)". Which of the flows without a value come
 * from memory is not known here, so all are named. */
static void describe_waiting(char *text, size_t size, struct dag_task *t)
{
    const dag_class *cls = t->cls;
    char name[256];
    dagi_describe(name, sizeof name, cls, dagi_task_locals(t));
    append(text, size, "\n  %s (line %d) misses %lld of:", name, cls->line, (long long)t->pending);
    const char *comma = "";
    for (int f = 0; f < cls->nflows; f++) {
        if (f < cls->ndata && (t->arrived >> f & 1))
            continue;
        append(text, size, "%s %s%s (line %d)", comma, f < cls->ndata ? "" : "CTL ",
               cls->flows[f].name, cls->flows[f].line);
        comma = ",";
    }
}

static void report(dag_taskpool *pool, int64_t waiting)
{
    char text[3500] = "";
    struct listing list = {.count = 0};
    long long open = atomic_load(&pool->open);
    dagi_deps_each(pool, list_task, &list);
    append(text, sizeof text, "%s: %lld tasks wait for inputs that nobody will send",
           pool->program->file, (long long)waiting);
    if (pool->countable && open > waiting)
        append(text, sizeof text, "%s%lld more have not got any input", waiting ? ", " : "; ",
               open - (long long)waiting);
    for (int i = 0; i < list.count; i++)
        describe_waiting(text, sizeof text, list.task[i]);
    if (waiting > list.count)
        append(text, sizeof text, "\n  ... and %lld more", (long long)waiting - list.count);
    if (pool->ctx->size > 1)
        dagi_warn(pool->ctx, "%s", text);
    dagi_pool_fail(pool, DAG_ERR_STALL, "%s", text);
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
           !w->ctx->sched->some(w);
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

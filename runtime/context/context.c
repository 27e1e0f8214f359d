/*
 * Contexts: start and end of the runtime on this rank. Every build keeps the types that this file
 * sees, for debuggers: tools/gdb/dag.py.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_setattr_default_np() */
#endif
#include "../base/settings.h"
#include "../base/topology.h"
#include "../comm/comm.h"
#include "../data/copies.h"
#include "../device/resident.h"
#include "../sim/sim.h"
#include "../task/door.h"
#include "../task/shard.h"
#include "../watch/watch.h"
#include "trace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "init.h"

static const dagi_sched_ops *const schedulers[] = {&dagi_sched_local, &dagi_sched_global};

/* ---- workers ---------------------------------------------------------------------------- */

static void free_worker(struct dagi_worker *w)
{
    if (!w)
        return;
    dagi_value_cache_free(w->values);
    dagi_fanout_free(dagi_runner(w)->fanout);
    free(dagi_runner(w)->edges);
    free(dagi_runner(w)->workspace);
    dagi_thread_fini(dagi_thread(w));
    free(w);
}

static struct dagi_worker *new_worker(dag_context *ctx, int index, bool bind)
{
    size_t bytes = (sizeof(struct dagi_thread) + DAGI_LINE - 1) & ~(size_t)(DAGI_LINE - 1);
    struct dagi_worker *w = aligned_alloc(DAGI_LINE, bytes);
    if (!w)
        return NULL;
    memset((void *)w, 0, bytes);
    w->ctx = ctx;
    w->index = index;
    dagi_runner(w)->unlocked = dagi_unlocked(ctx);
    /* The application's thread is its own: it is never bound. */
    dagi_thread(w)->cpu = bind && index > 0 ? index : -1;
    w->random = (ctx->settings.chaos * UINT64_C(0x2545f4914f6cdd1d)) ^
                ((uint64_t)ctx->rank << 32) ^ (uint64_t)index;
    dagi_thread_init(dagi_thread(w));
    w->values = dagi_value_cache_new(ctx->values);
    if (ctx->size > 1)
        dagi_runner(w)->fanout = dagi_fanout_new(ctx);
    if (!w->values || (ctx->size > 1 && !dagi_runner(w)->fanout)) {
        free_worker(w);
        return NULL;
    }
    return w;
}

static dag_status make_workers(dag_context *ctx, bool bind)
{
    dagi_tasks(ctx)->task_store = dagi_task_store_new();
    ctx->values = dagi_value_depot_new();
    dagi_tasks(ctx)->workers =
        calloc((size_t)dagi_tasks(ctx)->nworkers, sizeof(struct dagi_worker *));
    if (!dagi_tasks(ctx)->task_store || !ctx->values || !dagi_tasks(ctx)->workers)
        return DAG_ERR_NOMEM;
    for (int i = 0; i < dagi_tasks(ctx)->nworkers; i++) {
        dagi_tasks(ctx)->workers[i] = new_worker(ctx, i, bind);
        if (!dagi_tasks(ctx)->workers[i])
            return DAG_ERR_NOMEM;
    }
    for (size_t i = 0; i < sizeof schedulers / sizeof schedulers[0]; i++) {
        if (strcmp(schedulers[i]->name, ctx->settings.sched) == 0)
            dagi_crew(ctx)->sched = schedulers[i];
    }
    if (ctx->settings.serial)
        dagi_crew(ctx)->sched = &dagi_sched_serial;
    if (!dagi_crew(ctx)->sched)
        return DAG_ERR_INTERNAL;
    dagi_ahead_open();
    dag_status status = dagi_crew(ctx)->sched->init(ctx);
    if (status != DAG_SUCCESS)
        dagi_crew(ctx)->sched = NULL;
    return status;
}

/* ---- where the workers run -------------------------------------------------------------- */

static void warn_about_cpuset(const dag_context *ctx)
{
    int cores = dagi_topology_cores(ctx->topology);
    int machine = dagi_topology_machine_cores(ctx->topology);
    if (dagi_tasks(ctx)->nworkers <= cores || machine <= cores)
        return;
    char set[128];
    dagi_topology_describe(ctx->topology, set, sizeof set);
    dagi_warn(ctx,
              "%d workers will share %d core%s (processors %s), though this machine has %d: "
              "whatever started this process has bound it to them. Under mpirun use "
              "--map-by slot:PE=%d --bind-to core, or --bind-to none",
              dagi_tasks(ctx)->nworkers, cores, cores > 1 ? "s" : "", set, machine,
              dagi_tasks(ctx)->nworkers);
}

/* Settle the number of workers; true when background workers are to be bound. */
static bool place_workers(dag_context *ctx)
{
    int cores = dagi_topology_cores(ctx->topology);
    int found = dagi_seats_share(ctx), sharing = ctx->sharing > found ? ctx->sharing : found;
    int share = dagi_topology_share_cores(ctx->topology);
    struct dagi_tasks *tasks = dagi_tasks(ctx);
    if (tasks->nworkers == 0)
        tasks->nworkers = share < DAGI_MAX_WORKERS ? share : DAGI_MAX_WORKERS;
    if (tasks->nworkers > 1 && dagi_comm_one_thread(ctx)) {
        if (ctx->rank == 0)
            dagi_warn(ctx, "one worker instead of %d, for MPI was initialised with "
                      "MPI_THREAD_SINGLE, as MPI_Init() does, and a first context "
                      "of one worker. At a higher level, below MPI_THREAD_MULTIPLE, there are several, and messages move only while the "
                      "program is in a function of this library", tasks->nworkers);
        tasks->nworkers = 1;
    }
    tasks->single = tasks->nworkers == 1;
    /* A context of fewer ranks that came first may have taken more than its share. */
    tasks->oversubscribed = tasks->nworkers > share || sharing > cores ||
                            (sharing > found && tasks->nworkers > cores / sharing);
    bool bind = ctx->settings.bind && !tasks->oversubscribed && !tasks->single;
    const char *silent = dagi_comm_no_bells(ctx);
    char set[128];
    dagi_topology_describe(ctx->topology, set, sizeof set);
    snprintf(ctx->summary, sizeof ctx->summary,
             "%s of %d: %d worker%s on processors %s%s%s, scheduler %s%s%s",
             dagi_who(ctx).text, ctx->size, dagi_tasks(ctx)->nworkers, dagi_tasks(ctx)->single ? "" : "s", set,
             bind ? " (bound)" : "", dagi_tasks(ctx)->oversubscribed ? " (shared with others)" : "",
             ctx->settings.sched, silent[0] ? ", ranks of this node do not wake each other: " : "",
             silent);
    warn_about_cpuset(ctx);
    return bind;
}

/* ---- memory that others want ------------------------------------------------------------- */

/* Programs without kernels lack it. */
extern bool dag_kernels_reserve(int threads, char *why, size_t size) __attribute__((weak));

extern void dag_kernels_warm(void) __attribute__((weak));

/* Less than this and libraries below us, or their threads, end without a word. The limit of a thread's
 * stack holds whenever it grows; those of new threads are as large as it was when the process began. */
static dag_status prepare_stack(char *why, size_t size)
{
    const rlim_t least = (rlim_t)512 << 10, wanted = (rlim_t)8 << 20;
    struct rlimit limit;
    pthread_attr_t attributes;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= least)
        return DAG_SUCCESS; /* RLIM_INFINITY is the largest */
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    if (limit.rlim_cur < least || setrlimit(RLIMIT_STACK, &limit) != 0) {
        snprintf(why, size, "the limit of the stack is %llu KiB, and at least %llu are needed: raise it "
                 "(ulimit -s)", (unsigned long long)before >> 10, (unsigned long long)least >> 10);
        return DAG_ERR_NOMEM;
    }
    if (pthread_getattr_default_np(&attributes) == 0) {
        if (pthread_attr_setstacksize(&attributes, (size_t)limit.rlim_cur) == 0)
            pthread_setattr_default_np(&attributes);
        pthread_attr_destroy(&attributes);
    }
    return DAG_SUCCESS;
}

static dag_status reserve_for_kernels(const dag_context *ctx, char *why, size_t size)
{
    return !dag_kernels_reserve || dag_kernels_reserve(dagi_tasks(ctx)->nworkers, why, size) ? DAG_SUCCESS
                                                                                 : DAG_ERR_NOMEM;
}

/* ---- start and end ---------------------------------------------------------------------- */

static void destroy(dag_context *ctx)
{
    if (dagi_tasks(ctx)->workers)
        dagi_workers_stop(ctx);
    dagi_context_leave(ctx);
    dagi_observe_end(ctx);
    if (dagi_tasks(ctx)->sim)
        dagi_sim_fini(ctx);
    dagi_crew(ctx)->computing = NULL;
    if (dagi_tasks(ctx)->comm)
        dagi_comm_fini(ctx);
    if (dagi_crew(ctx)->sched)
        dagi_crew(ctx)->sched->fini(ctx);
    if (ctx->trace)
        dagi_gather_free(ctx->trace->gather);
    dagi_trace_free(ctx);
    dagi_devices_unused(ctx);
    dagi_devices_fini(ctx);
    for (int i = 0; dagi_tasks(ctx)->workers && i < dagi_tasks(ctx)->nworkers; i++)
        free_worker(dagi_tasks(ctx)->workers[i]);
    free(dagi_tasks(ctx)->workers);
    if (ctx->values)
        dagi_value_depot_free(ctx->values);
    dagi_task_store_free(dagi_tasks(ctx)->task_store);
    dagi_topology_free(ctx->topology);
    dag_config_free(ctx->config);
    pthread_mutex_destroy(&dagi_tasks(ctx)->pools_lock);
    pthread_mutex_destroy(&dagi_crew(ctx)->park_lock);
    pthread_mutex_destroy(&ctx->message_lock);
    free(ctx);
}

/* The ranks fill the processors by themselves. Worker 0 must hear of messages while it sleeps. */
static bool has_helpers(const dag_context *ctx)
{
    return dagi_tasks(ctx)->workers && dagi_tasks(ctx)->workers[0] && !dagi_tasks(ctx)->single &&
           ctx->size > 1 && !dagi_tasks(ctx)->devices &&
           ctx->sharing >= dagi_topology_cores(ctx->topology) &&
           dagi_comm_can_sleep(dagi_tasks(ctx)->workers[0]);
}

/* What the workers look at besides tasks, and when. */
static void settle_workers(dag_context *ctx)
{
    struct dagi_tasks *tasks = dagi_tasks(ctx);
    atomic_store(&dagi_crew(ctx)->attend, (ctx->size > 1 ? DAGI_ATTEND_MESSAGES : 0) |
                                              (tasks->device ? DAGI_ATTEND_DEVICES : 0));
    dagi_crew(ctx)->helpers = has_helpers(ctx);
    if (ctx->size > 1 && tasks->oversubscribed)
        dagi_crew(ctx)->computing = dagi_comm_computing(ctx);
    bool plain = !tasks->device && !tasks->watcher && !DAGI_TRACE(ctx) && ctx->size == 1;
    tasks->alone.possible = plain && !tasks->single && !ctx->settings.serial;
    for (int i = 0; tasks->workers && i < tasks->nworkers; i++) {
        struct dagi_runner *r = dagi_runner(tasks->workers[i]);
        if (!r)
            continue;
        r->worker.sole = tasks->single && !tasks->device;
        r->direct = plain && tasks->single ? DAGI_DIRECT : DAGI_DIRECT_NEVER;
        r->special = DAGI_TRACK(&r->worker) || tasks->device;
        /* traces, reports and checks want each arrival */
        r->joins = r->special || tasks->observer || ctx->settings.serial ? DAGI_GIVEN : UINT32_MAX;
    }
}

/* What rank 0 tells the others: whether there is a recording, and its settings. */
typedef struct told {
    int recorded;
    char settings[DAGI_SETTINGS_TOLD];
} told;

static void heard(dag_context *ctx, const void *data)
{
    const told *t = data;
    ctx->recorded = t->recorded;
    if (ctx->config) /* rank 0 tells what is no default there */
        dagi_settings_hear(ctx->config, &ctx->settings, t->settings);
}

static dag_status join(dag_context *ctx, void *mpi_comm, char *why, size_t size)
{
    told t = {.recorded = ctx->recorded};
    if (ctx->config)
        dagi_settings_tell(ctx->config, t.settings);
    return dagi_comm_init(ctx, mpi_comm, &(dagi_comm_told){&t, sizeof t, heard}, why, size);
}

/* This rank cannot start. Where others may be on their way, it tells them. */
static dag_status give_up(dag_context *ctx, void *mpi_comm, dag_status status)
{
    char ignored[1];
    dagi_tasks(ctx)->nworkers = 1;
    if (dagi_engine_is_up() &&
        join(ctx, mpi_comm, ignored, sizeof ignored) == DAG_SUCCESS)
        dagi_comm_open(ctx, status, ignored, sizeof ignored);
    return status;
}

static dag_status start_recording(dag_context *ctx, char *why, size_t size)
{
    struct dagi_tasks *tasks = dagi_tasks(ctx);
    dag_status status =
        dagi_trace_new(ctx, ctx->recorded, tasks->workers, tasks->nworkers, why, size);
    if (status == DAG_SUCCESS && !dagi_gather_new(ctx->trace))
        status = DAG_ERR_NOMEM;
    if (status == DAG_SUCCESS && ctx->size > 1)
        dagi_comm_observe(ctx, &dagi_trace_observer, ctx->trace);
    return status;
}

/* All ranks in this process: one worker, no engine, no devices, nothing that looks on. */
static dag_status build_simulated(dag_context *ctx, char *why, size_t size)
{
    const dagi_settings *settings = &ctx->settings;
    const char *lacks = settings->trace[0] ? "traces" : settings->serial ? "serial runs"
                        : settings->chaos ? "chaos" : settings->check ? "the check for races" : NULL;
    if (lacks) {
        snprintf(why, size, "a simulated run has no %s: leave the setting out", lacks);
        return DAG_ERR_UNSUPPORTED;
    }
    struct dagi_tasks *tasks = dagi_tasks(ctx);
    tasks->nworkers = tasks->single = 1;
    dag_status status = dagi_sim_init(ctx, why, size);
    if (status == DAG_SUCCESS)
        status = make_workers(ctx, false);
    if (status == DAG_ERR_NOMEM && !why[0])
        snprintf(why, size, "no memory to simulate %d ranks", ctx->size);
    if (status != DAG_SUCCESS)
        return status;
    dagi_sim_open(ctx);
    dag_simulation s;
    dagi_sim_tell(ctx, &s);
    snprintf(ctx->summary, sizeof ctx->summary, "simulated: %d ranks with %d workers on machine '%s'",
             ctx->size, s.workers, s.machine);
    return DAG_SUCCESS;
}

/* Kernels take the time that a description of the machine says where `stretch` wants it, and under SimGrid's
 * MPI, whose ranks have one thread. Without a description they compute there. */
static dag_status model_kernels(dag_context *ctx, char *why, size_t size)
{
    dagi_crew(ctx)->blocks = dagi_comm_blocks(ctx);
    if (!dagi_crew(ctx)->blocks)
        return ctx->settings.stretch > 0 ? dagi_sim_time_kernels(ctx, why, size) : DAG_SUCCESS;
    if (!dagi_tasks(ctx)->single) {
        snprintf(why, size, "under SimGrid a rank has one worker: set threads = 1");
        return DAG_ERR_UNSUPPORTED;
    }
    if (!ctx->settings.machine[0])
        return DAG_SUCCESS;
    ctx->nowhere.at = dagi_comm_nowhere(ctx, &ctx->nowhere.bytes);
    return dagi_sim_time_kernels(ctx, why, size);
}

/* 0 = a worker per core of its share. */
static int wanted_workers(const dag_context *ctx)
{
    return ctx->settings.serial ? 1 : (int)ctx->settings.threads;
}

static dag_status build(dag_context *ctx, const dag_config *config, void *mpi_comm, char *why,
                        size_t size)
{
    dag_status status = prepare_stack(why, size);
    if (status == DAG_SUCCESS)
        status = dagi_settings_resolve(config, &ctx->config, &ctx->settings, why, size);
    if (status == DAG_SUCCESS)
        status = dagi_topology_new(&ctx->topology, why, size);
    if (status != DAG_SUCCESS)
        return give_up(ctx, mpi_comm, status);
    if (ctx->settings.simulate > 0)
        return build_simulated(ctx, why, size);
    dagi_tasks(ctx)->nworkers = wanted_workers(ctx);
    ctx->recorded = dagi_trace_wanted(&ctx->settings);
    status = join(ctx, mpi_comm, why, size);
    if (status != DAG_SUCCESS)
        return status;
    dagi_tasks(ctx)->nworkers = wanted_workers(ctx); /* rank 0 may have said */
    status = make_workers(ctx, place_workers(ctx));
    if (status == DAG_SUCCESS && ctx->recorded)
        status = start_recording(ctx, why, size);
    if (status == DAG_SUCCESS)
        status = reserve_for_kernels(ctx, why, size);
    if (status == DAG_SUCCESS)
        status = dagi_devices_init(ctx, why, size);
    if (status == DAG_SUCCESS)
        status = dagi_observe(ctx, why, size);
    settle_workers(ctx);
    if (status == DAG_SUCCESS)
        status = model_kernels(ctx, why, size);
    if (status == DAG_SUCCESS && dag_kernels_warm)
        dag_kernels_warm();
    if (status == DAG_SUCCESS)
        status = dagi_workers_start(ctx);
    if (status == DAG_ERR_NOMEM && !why[0])
        snprintf(why, size, "cannot set up %d workers: out of memory or of threads",
                 dagi_tasks(ctx)->nworkers);
    status = dagi_comm_open(ctx, status, why, size);
    dagi_devices_started(ctx);
    if (status == DAG_SUCCESS && ctx->trace)
        dagi_trace_start(ctx);
    return status;
}

dag_status dagi_init(dag_context **context, const dag_config *config, void *mpi_comm, char *why,
                     size_t why_size)
{
    char scratch[1];
    if (!why || why_size == 0) {
        why = scratch;
        why_size = sizeof scratch;
    }
    why[0] = '\0';
    if (!context) {
        snprintf(why, why_size, "dag_init: context is NULL");
        return DAG_ERR_ARG;
    }
    size_t bytes = (sizeof(struct dagi_crew) + DAGI_LINE - 1) & ~(size_t)(DAGI_LINE - 1);
    dag_context *ctx = aligned_alloc(DAGI_LINE, bytes);
    if (!ctx) {
        snprintf(why, why_size, "dag_init: out of memory");
        return DAG_ERR_NOMEM;
    }
    memset((void *)ctx, 0, bytes);
    ctx->size = ctx->sharing = ctx->device_sharing = 1;
    dagi_tasks(ctx)->crew = &dagi_crew_tasks;
    dagi_tasks(ctx)->pools_end = &dagi_tasks(ctx)->pools;
    pthread_mutex_init(&dagi_tasks(ctx)->pools_lock, NULL);
    pthread_mutex_init(&dagi_crew(ctx)->park_lock, NULL);
    pthread_mutex_init(&ctx->message_lock, NULL);
    dagi_context_enter(ctx);
    dag_status status = build(ctx, config, mpi_comm, why, why_size);
    if (status != DAG_SUCCESS) {
        destroy(ctx);
        return status;
    }
    if (ctx->settings.summary)
        fprintf(stderr, "dag: %s\n", ctx->summary);
    *context = ctx;
    return DAG_SUCCESS;
}

dag_status dag_init(dag_context **context, const dag_config *config, char *why, size_t why_size)
{
    return dagi_init(context, config, NULL, why, why_size);
}

static int no_pools(void *arg)
{
    dag_context *ctx = arg;
    pthread_mutex_lock(&dagi_tasks(ctx)->pools_lock);
    int none = dagi_tasks(ctx)->pools == NULL;
    pthread_mutex_unlock(&dagi_tasks(ctx)->pools_lock);
    return none;
}

dag_status dag_fini(dag_context *context)
{
    if (!context)
        return DAG_ERR_ARG;
    if (dagi_worker_self(context)) {
        dagi_set_message(context, "dag_fini: called from a body");
        return DAG_ERR_STATE;
    }
    const dag_taskpool *open = dagi_door_beside(context, NULL);
    if (open) {
        dagi_set_message(context, "dag_fini: pool %u of %s is still open", open->id,
                         open->program->name);
        return DAG_ERR_STATE;
    }
    while (dagi_tasks(context)->rounds)
        dag_wait(dagi_tasks(context)->rounds);
    if (context->simulated) {
        if (context->settings.report)
            dagi_sim_report(context);
        destroy(context);
        return DAG_SUCCESS;
    }
    dagi_run_until(dagi_tasks(context)->workers[0], no_pools, context);
    dagi_residences_close(context);
    dag_status status = DAG_SUCCESS;
    /* Here a rank that never comes is still noticed. */
    while (context->size > 1 &&
           dagi_comm_barrier(dagi_tasks(context)->workers[0], DAGI_BARRIER_FINI, NULL, 0) != DAG_SUCCESS) {
        status = DAG_ERR_MISMATCH;
        dagi_warn(context, "dag_fini: %s", dag_message(context));
    }
    if (context->trace) {
        dagi_workers_stop(context);
        dag_status traced = dagi_trace_finish(context);
        status = status == DAG_SUCCESS ? traced : status;
    }
    if (DAGI_CHECKED) {
        dagi_workers_stop(context);
        DAGI_INSIST(dagi_crew_check(context));
    }
    destroy(context);
    return status;
}

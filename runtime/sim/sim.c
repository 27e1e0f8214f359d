/* The clock, its events, and what the application asks for. */
#include "../base/clock.h"
#include "../base/settings.h"
#include "../base/slack.h"
#include "../layout/grid.h"
#include "sim_impl.h"

#include <stdlib.h>
#include <sys/mman.h>

/* Programs without kernels lack it. */
extern void dag_kernels_model(dag_kernel_model *model, void *arg) __attribute__((weak));

/* ---- events --------------------------------------------------------------------------------- */

void dagi_sim_short(struct dagi_sim *s)
{
    if (!s->failed)
        dagi_set_message(s->ctx, "no memory to simulate %d ranks further", s->nranks);
    s->failed = 1;
}

void dagi_sim_post(struct dagi_sim *s, dagi_sim_time at, enum dagi_sim_kind kind, int rank, void *what,
                   uint32_t extra)
{
    dagi_sim_event e = {.at = at, .what = what, .extra = extra,
                        .rank = (uint32_t)rank & 0x3ffffff, .kind = (uint8_t)kind & 0x3f};
    if (dagi_sim_events_push(&s->events, e) != 0)
        dagi_sim_short(s);
}

static inline void fetch_lines(const void *at, size_t bytes)
{
    for (size_t k = 0; k < bytes; k += 64)
        __builtin_prefetch((const char *)at + k, 1);
}

/* Memory is far away where there are many ranks. What an event looks at begins to come some events
 * before, */
static inline void fetch_first(const struct dagi_sim *s, const dagi_sim_event *e)
{
    fetch_lines(&s->rank[e->rank], sizeof *s->rank);
    dagi_sim_wires_fetch(&s->wires, e->rank);
    if (e->kind == DAGI_SIM_CREDIT)
        fetch_lines(&s->pairs.table[(uintptr_t)e->what >> 32], 1);
    else
        fetch_lines(e->what, 128);
}

/* then what that points to. */
static inline void fetch_then(const struct dagi_sim *s, const dagi_sim_event *e)
{
    fetch_lines(s->rank[e->rank].ready.entry, 1);
    if (e->kind == DAGI_SIM_MESSAGE) {
        const dagi_sim_message *m = e->what;
        fetch_lines(m->cast, 192);
        fetch_lines(&s->pairs.table[m->pair], 1);
    } else if (e->kind == DAGI_SIM_PIECE) {
        fetch_lines(((const dagi_sim_arrival *)e->what)->cast, 192);
    } else if (e->kind == DAGI_SIM_OVER) {
        struct dag_task *t = e->what;
        fetch_lines(&dagi_sim_pool_of((struct dagi_sim *)(uintptr_t)s, t->pool)->part[e->rank], 1);
        for (int f = 0; f < t->cls->ndata; f++)
            fetch_lines(dag_task_flows(t)[f], sizeof(dagi_value));
    }
}

static void fetch(const struct dagi_sim *s)
{
    enum { FAR = 14, NEAR = 6 };
    const dagi_sim_event *e;
    for (int k = s->events.first == 1 ? 0 : FAR; k <= FAR; k++)
        if ((e = dagi_sim_events_ahead(&s->events, k)) != NULL)
            fetch_first(s, e);
    for (int k = s->events.first == 1 ? 0 : NEAR; k <= NEAR; k++)
        if ((e = dagi_sim_events_ahead(&s->events, k)) != NULL)
            fetch_then(s, e);
}

void dagi_sim_next(struct dagi_sim *s)
{
    dagi_sim_event next;
    const dagi_sim_event *e = &next;
    if (dagi_sim_events_pop(&s->events, &next) != 0) {
        dagi_sim_short(s);
        return;
    }
    fetch(s);
    int rank = (int)e->rank;
    s->now = e->at;
    switch ((enum dagi_sim_kind)e->kind) {
    case DAGI_SIM_BEGIN: dagi_sim_part_begins(s, rank, e->what); break;
    case DAGI_SIM_OVER: dagi_sim_task_over(s, rank, e->what); break;
    case DAGI_SIM_FREE:
        s->rank[rank].idle++;
        dagi_sim_go(s, rank);
        break;
    case DAGI_SIM_MESSAGE:
        dagi_sim_inbox(s, rank, e->what, NULL, 0);
        dagi_sim_go(s, rank);
        break;
    case DAGI_SIM_PIECE:
        dagi_sim_inbox(s, rank, NULL, e->what, (int32_t)e->extra);
        dagi_sim_go(s, rank);
        break;
    case DAGI_SIM_SET_OUT: dagi_sim_set_out(s, e->what, (int)e->extra); break;
    case DAGI_SIM_QUEUE:
        dagi_sim_queue_over(s, e->what);
        dagi_sim_go(s, rank);
        break;
    case DAGI_SIM_FLOW: dagi_sim_flow_event(s, e->what, e->extra); break;
    case DAGI_SIM_SHARE: dagi_sim_share_out(s); break;
    case DAGI_SIM_CREDIT: dagi_sim_credit(s, rank, (uintptr_t)e->what, (int32_t)e->extra); break;
    }
}

/* ---- ranks ---------------------------------------------------------------------------------- */

void dagi_sim_become(struct dagi_sim *s, int rank, const dag_taskpool *pool)
{
    if (s->at != rank) {
        s->at = s->ctx->rank = rank;
        if (dagi_runner(dagi_sim_worker(s))->fanout)
            dagi_fanout_move(dagi_runner(dagi_sim_worker(s))->fanout, rank);
    }
    for (int i = 0; pool && i < pool->program->nslots; i++) {
        dag_collection *c = dagi_pool(pool)->collections[i];
        if (c->rank != rank)
            dagi_grid_become(c, rank);
    }
}

dagi_sim_pool *dagi_sim_pool_of(struct dagi_sim *s, const dag_taskpool *pool)
{
    (void)s;
    return dagi_pool(pool)->comm;
}

/* ---- start and end -------------------------------------------------------------------------- */

static void on_kernel(void *arg, const dag_kernel_call *call)
{
    struct dagi_sim *s = arg;
    s->charge += dagi_sim_kernel_time(&s->machine, call);
    if (s->devices.crew) {
        dagi_sim_time alone, filled;
        s->devices.unable |= dagi_sim_device_time(&s->machine, call, &alone, &filled);
        s->devices.alone += alone;
        s->devices.filled += filled;
    }
}

static dag_status make(struct dagi_sim *s, char *why, size_t size)
{
    const dagi_settings *settings = &s->ctx->settings;
    dag_status status = dagi_sim_machine_read(&s->machine, settings->machine, why, size);
    if (status == DAG_SUCCESS)
        status = dagi_sim_machine_fits(&s->machine, settings->simulate, why, size);
    if (status == DAG_SUCCESS && settings->stretch > 0)
        status = dagi_refuse(why, size, "stretch is for runs with real workers on machine '%s': unset it, or "
                             "simulate", s->machine.name);
    if (status != DAG_SUCCESS)
        return status;
    s->nranks = (int)settings->simulate;
    s->workers = settings->threads > 0 ? (int)settings->threads : (int)s->machine.workers;
    s->most.window = (int32_t)(settings->credit_bytes < INT32_MAX / 2 ? settings->credit_bytes
                                                                 : INT32_MAX / 2);
    s->most.inline_max = dagi_wire_inline_max(settings->credit_bytes, settings->eager_bytes);
    s->trees.nodes = (dagi_nodes){NULL, s->machine.ranks};
    s->trees.link.latency = dagi_sim_message_seconds(s->ctx);
    status = dagi_comm_know_link(settings, &s->trees.link, why, size);
    if (status != DAG_SUCCESS)
        return status;
    s->pools_end = &s->pools;
    s->rank = aligned_alloc(_Alignof(dagi_sim_rank), (size_t)s->nranks * sizeof *s->rank);
    for (int r = 0; s->rank && r < s->nranks; r++) {
        s->rank[r] = (dagi_sim_rank){.idle = s->workers};
        s->rank[r].inbox_end = &s->rank[r].inbox;
    }
    if (!s->rank || dagi_sim_wires_init(&s->wires, &s->machine, s->nranks) != 0 ||
        dagi_sim_shares_init(s) != 0) {
        snprintf(why, size, "no memory to simulate %d ranks, or more wires than can be simulated",
                 s->nranks);
        return DAG_ERR_NOMEM;
    }
    /* Bodies that look at what a kernel has not written look here; what nobody touches takes nothing. */
    s->scratch.bytes = (size_t)64 << 30;
    void *at = MAP_FAILED;
    for (; at == MAP_FAILED && s->scratch.bytes >= (size_t)16 << 20; s->scratch.bytes /= 2)
        at = mmap(NULL, s->scratch.bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    s->scratch.bytes *= 2;
    if (at == MAP_FAILED) {
        snprintf(why, size, "no address space for a simulation: raise its limit (ulimit -v)");
        return DAG_ERR_NOMEM;
    }
    s->scratch.begin = at;
    return dagi_sim_devices_init(s, why, size);
}

static struct dagi_sim *new_sim(dag_context *ctx, char *why, size_t size)
{
    struct dagi_sim *s = calloc(1, sizeof *s);
    if (!s) {
        snprintf(why, size, "no memory to simulate");
        return NULL;
    }
    s->ctx = ctx;
    dagi_tasks(ctx)->sim = s;
    return s;
}

dag_status dagi_sim_init(dag_context *ctx, char *why, size_t size)
{
    struct dagi_sim *s = new_sim(ctx, why, size);
    if (!s)
        return DAG_ERR_NOMEM;
    dag_status status = make(s, why, size);
    ctx->simulated = ctx->modelled = 1;
    ctx->size = status == DAG_SUCCESS ? s->nranks : 1;
    return status;
}

static void pass_kernel(void *arg, const dag_kernel_call *call)
{
    struct dagi_sim *s = arg;
    dagi_clock_pass((uint64_t)(dagi_sim_kernel_time(&s->machine, call) + 500) / 1000);
}

/* Sleeps end late: by what the last one of this thread did, the next is shorter. */
static void sleep_kernel(void *arg, const dag_kernel_call *call)
{
    static _Thread_local int64_t late;
    struct dagi_sim *s = arg;
    dagi_sim_time time = dagi_sim_kernel_time(&s->machine, call);
    atomic_fetch_add_explicit(&s->sums.passed, time, memory_order_relaxed);
    int64_t wanted = (time + 500) / 1000 * s->ctx->settings.stretch - late;
    late = wanted < 0 ? -wanted : 0;
    if (wanted <= 0)
        return;
    int slack = dagi_slack_off();
    int64_t before = (int64_t)dagi_now();
    dagi_clock_pass((uint64_t)wanted);
    late = (int64_t)dagi_now() - before - wanted;
    dagi_slack_restore(slack);
}

double dagi_sim_modelled_seconds(const dag_context *ctx)
{
    struct dagi_sim *s = dagi_sim_of(ctx);
    return !s ? 0 : (double)atomic_load_explicit(&s->sums.passed, memory_order_relaxed) / (double)DAGI_SIM_SECOND;
}

dag_status dagi_sim_time_kernels(dag_context *ctx, char *why, size_t size)
{
    struct dagi_sim *s = new_sim(ctx, why, size);
    if (!s)
        return DAG_ERR_NOMEM;
    ctx->modelled = 1;
    if (dag_kernels_model)
        dag_kernels_model(ctx->settings.stretch > 0 ? sleep_kernel : pass_kernel, s);
    return dagi_sim_machine_read(&s->machine, ctx->settings.machine, why, size);
}

void dagi_sim_open(dag_context *ctx)
{
    struct dagi_sim *s = dagi_sim_of(ctx);
    dagi_tasks(ctx)->remote = &dagi_sim_remote;
    dagi_tasks(ctx)->device = &dagi_sim_memory;
    ctx->keeper = &dagi_sim_keeper;
    dagi_value_depot_bare(ctx->values);
    if (dag_kernels_model)
        dag_kernels_model(on_kernel, s);
}

void dagi_sim_fini(dag_context *ctx)
{
    struct dagi_sim *s = dagi_sim_of(ctx);
    if (dag_kernels_model)
        dag_kernels_model(NULL, NULL);
    dagi_sim_overlap_tell(s);
    dagi_sim_overlap_free(s);
    for (int r = 0; s->rank && r < s->nranks; r++)
        dagi_ready_heap_fini(&s->rank[r].ready);
    free(s->rank);
    dagi_sim_devices_fini(s);
    dagi_sim_events_fini(&s->events);
    free(s->pairs.table);
    for (dagi_sim_item *i = s->items, *next; i; i = next) {
        next = i->next;
        free(i);
    }
    for (dagi_sim_message *m = s->messages, *next; m; m = next) {
        next = m->next;
        free(m);
    }
    for (int lines = 0; lines < DAGI_SIM_KEPT_LINES; lines++)
        for (dagi_sim_arrival *a = s->arrivals[lines], *next; a; a = next) {
            next = a->next;
            free(a);
        }
    if (ctx->simulated) {
        dagi_tasks(ctx)->remote = NULL;
        dagi_tasks(ctx)->device = NULL;
    }
    if (s->scratch.begin)
        munmap(s->scratch.begin, s->scratch.bytes);
    dagi_sim_shares_fini(s);
    dagi_sim_wires_fini(&s->wires);
    dagi_sim_machine_fini(&s->machine);
    free(s);
    dagi_tasks(ctx)->sim = NULL;
}

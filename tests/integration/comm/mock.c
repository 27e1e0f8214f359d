#define _GNU_SOURCE
#include "mock.h"

#include <malloc.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct mock mock;

static const dag_class *const classes[] = {&mock_class};
const dag_class mock_class = {
    .name = "Task",
    .nparams = MOCK_PARAMS,
    .nlocals = MOCK_PARAMS,
    .ndata = MOCK_DATA,
    .nflows = MOCK_FLOWS,
};
const dag_program mock_program = {.name = "mock", .file = "mock.jdf", .nclasses = 1,
                                  .classes = classes};

_Noreturn void mock_abort(void)
{
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double mock_now(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

double mock_spent(void)
{
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

long mock_rss(void)
{
    long pages = 0, ignored;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &ignored, &pages) != 2)
        mock_abort();
    fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* ---- values ------------------------------------------------------------------------------- */

dag_value *dagi_value_new(struct dagi_worker *w, dag_taskpool *pool, const dag_shape *shape)
{
    (void)w;
    if (mock.fail_values)
        return NULL;
    dagi_value *v = calloc(1, sizeof *v);
    size_t bytes = (size_t)shape->m * (size_t)shape->n * shape->elem;
    v->v = (dag_value){malloc(bytes ? bytes : 1), shape->m ? shape->m : 1, shape->m, shape->n,
                       shape->elem};
    if (!mock.raw_values)
        memset(v->v.ptr, 0xa5, bytes);
    v->capacity = bytes;
    v->pool = pool;
    atomic_store(&v->refs, 1);
    mock.values++;
    mock.value_bytes += (int64_t)bytes;
    return &v->v;
}

void dagi_copy_region(dag_value *dst, const dag_value *src, dag_region region)
{
    if (region != DAG_REGION_FULL)
        mock_abort();
    for (int64_t j = 0; j < src->n; j++)
        memcpy((char *)dst->ptr + (size_t)(j * dst->ld) * dst->elem,
               (const char *)src->ptr + (size_t)(j * src->ld) * src->elem, (size_t)src->m * src->elem);
}

void dagi_value_retain(dag_value *value, int count)
{
    atomic_fetch_add(&((dagi_value *)value)->refs, count);
}

void dagi_value_release(struct dagi_worker *w, dag_value *value)
{
    dagi_value *v = (dagi_value *)value;
    (void)w;
    if (!v)
        return;
    int before = atomic_fetch_sub(&v->refs, 1);
    CHECK(before > 0, "%d references before release", before);
    if (before > 1)
        return;
    mock.values--;
    mock.value_bytes -= (int64_t)v->capacity;
    free(v->v.ptr);
    free(v);
}

/* ---- pools -------------------------------------------------------------------------------- */

static mock_pool *of(const dag_taskpool *pool)
{
    return (mock_pool *)(uintptr_t)pool;
}

uint32_t dagi_pool_id(const dag_taskpool *pool)
{
    return pool->id;
}

uint64_t dagi_pool_hash(const dag_taskpool *pool)
{
    return pool->hash;
}

const dag_program *dagi_pool_program(const dag_taskpool *pool)
{
    return pool->program;
}

int dagi_pool_poisoned(const dag_taskpool *pool)
{
    return atomic_load(&pool->poisoned);
}

int dagi_pool_hold(dag_taskpool *pool)
{
    if (of(pool)->reported)
        return 0;
    of(pool)->holds++;
    return 1;
}

void dagi_deliver_late(const dag_taskpool *pool, const dag_class *cls, const int32_t *params)
{
    (void)cls;
    CHECK(0, "(%d, %d) for pool %u, which is over", params[0], params[1], pool->id);
    abort();
}

void dagi_pool_drop(struct dagi_worker *w, dag_taskpool *pool)
{
    (void)w;
    CHECK(of(pool)->holds > 0, "pool %u dropped too often", pool->id);
    of(pool)->holds--;
    mock_pool_check(of(pool));
}

void dagi_pool_sent(dag_taskpool *pool, int64_t messages, int64_t bytes)
{
    (void)pool, (void)bytes;
    mock.messages += messages;
}

void dagi_pool_fail(dag_taskpool *pool, dag_status status, const char *format, ...)
{
    mock_pool *p = of(pool);
    atomic_store(&pool->poisoned, 1);
    if (p->failed)
        return;
    p->failed = status;
    va_list args;
    va_start(args, format);
    vsnprintf(p->message, sizeof p->message, format, args);
    va_end(args);
}

void dagi_pool_end(dag_taskpool *pool, dag_status status, int64_t info, const char *message)
{
    mock_pool *p = of(pool);
    CHECK(!p->ended, "pool %u ends twice", pool->id);
    p->ended = 1;
    p->status = status;
    p->agreed_info = info;
    snprintf(p->message, sizeof p->message, "%s", message);
}

struct dag_task *dagi_deliver(struct dagi_worker *w, dag_taskpool *pool, const dagi_delivery *d)
{
    mock_pool *p = of(pool);
    CHECK(w == &mock.worker && d->cls == &mock_class, "wrong worker or class");
    CHECK(p->expected > 0, "delivery of (%d, %d) not expected", d->params[0], d->params[1]);
    p->expected--;
    if (d->poison)
        atomic_store(&pool->poisoned, 1);
    mock.activity++;
    mock.deliver(p, d->params, d->mask, d->dynamic, d->poison, d->values);
    mock_pool_check(p);
    return NULL;
}

/* ---- workers --------------------------------------------------------------------- */

int dagi_ready_many(const dag_context *ctx)
{
    (void)ctx;
    return mock.ready_many;
}

void dagi_run_until(struct dagi_worker *w, int (*done)(void *arg), void *arg)
{
    while (!done(arg))
        if (dagi_comm_progress(w) == 0)
            sched_yield();
}

void dagi_activate(struct dagi_worker *w)
{
    (void)w;
}

void dagi_ready(struct dagi_worker *w, struct dag_task *list)
{
    (void)w, (void)list;
    CHECK(0, "a task is ready, and deliveries have none");
}

void dagi_wake_application(dag_context *ctx)
{
    (void)ctx;
}

void dagi_set_message(dag_context *ctx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(ctx->message, sizeof ctx->message, format, args);
    va_end(args);
}

const char *dag_strerror(dag_status status)
{
    return status ? "error" : "success";
}

dagi_look dagi_wave_look(dag_context *ctx)
{
    (void)ctx;
    mock.activity += (uint64_t)mock.restless;
    dagi_look look = {.idle = mock.idle,
                      .blocked = mock.blocked,
                      .first_open = UINT32_MAX,
                      .added = (uint32_t)mock.npools,
                      .activity = mock.activity};
    for (int i = mock.npools - 1; i >= 0; i--)
        if (mock.pools[i] && !mock.pools[i]->reported)
            look.first_open = mock.pools[i]->pool.id;
    return look;
}

void dagi_wave_quiet(struct dagi_worker *w, uint32_t first_open)
{
    (void)w, (void)first_open;
    mock.quiet++;
}

/* ---- no devices --------------------------------------------------------------------------- */

void dagi_warn(const dag_context *ctx, const char *format, ...)
{
    va_list args;
    (void)ctx;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
}

int dag_devices(const dag_context *ctx)
{
    (void)ctx;
    return 0;
}

int dagi_devices_handles(const dag_context *ctx)
{
    (void)ctx;
    return 0;
}

size_t dagi_devices_room(const dag_context *ctx)
{
    (void)ctx;
    return 0;
}

void *dagi_devices_put(void *ctx, int device, const void *pattern, size_t bytes)
{
    (void)ctx, (void)device, (void)pattern, (void)bytes;
    return NULL;
}

void dagi_devices_send_directly(dag_context *ctx, size_t inline_max)
{
    (void)ctx, (void)inline_max;
    CHECK(0, "messages are to be sent from devices, and there is none");
}

void dagi_device_choose(struct dagi_worker *w)
{
    (void)w;
}

dagi_departure *dagi_departure_of(const struct dagi_job *job, int flow, uint8_t *staged)
{
    (void)job, (void)flow, (void)staged;
    return NULL;
}

void *dagi_departure_at(const dagi_departure *departure)
{
    (void)departure;
    return NULL;
}

int dagi_departure_lost(const dagi_departure *departure)
{
    (void)departure;
    return 0;
}

void dagi_departure_fail(const dagi_departure *departure, dag_taskpool *pool)
{
    (void)departure, (void)pool;
}

void dagi_departure_drop(dagi_departure *departure)
{
    (void)departure;
}

/* ---- for tests ---------------------------------------------------------------------------- */

void mock_start(int64_t eager, int64_t credit, uint64_t chaos, int bcast)
{
    char why[256];
    mallopt(M_MMAP_THRESHOLD, 32 << 20); /* buffers are reused, as the real ones are */
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    memset(&mock, 0, sizeof mock);
    mock.crew.tasks.nworkers = 1;
    mock.crew.tasks.single = 1;
    mock.ctx.settings.eager_bytes = eager;
    mock.ctx.settings.credit_bytes = credit;
    mock.ctx.settings.chaos = chaos;
    mock.ctx.settings.bcast = (dag_bcast_tree){(uint32_t)bcast, {2, DAG_BCAST_NODE, 1}};
    mock.workers[0] = &mock.worker;
    mock.crew.tasks.workers = mock.workers;
    mock.worker.ctx = &mock.ctx;
    dag_status status = dagi_comm_init(&mock.ctx, NULL, NULL, why, sizeof why);
    if (status == DAG_SUCCESS)
        status = dagi_comm_open(&mock.ctx, DAG_SUCCESS, why, sizeof why);
    CHECK(status == DAG_SUCCESS, "%s", why);
    mock.thread.runner.fanout = dagi_fanout_new(&mock.ctx);
}

void mock_barrier(void)
{
    double least[DAG_LEAST_MOST] = {0, -mock.ctx.rank};
    dag_status status = dagi_comm_barrier(&mock.worker, DAGI_BARRIER, least, DAG_LEAST_MOST);
    CHECK(status == DAG_SUCCESS, "no barrier");
    CHECK(least[0] == 0 && least[1] == 1 - mock.ctx.size, "the least values are %g and %g", least[0],
          least[1]);
}

void mock_stop(void)
{
    mock_barrier();
    CHECK(mock.values == 0, "%lld values are left", (long long)mock.values);
    dagi_fanout_free(mock.thread.runner.fanout);
    dagi_comm_fini(&mock.ctx);
}

mock_pool *mock_pool_new(uint64_t hash, int expected)
{
    mock_pool *p = aligned_alloc(DAGI_LINE, (sizeof *p + DAGI_LINE - 1) / DAGI_LINE * DAGI_LINE);
    memset(p, 0, sizeof *p);
    p->pool.ctx = &mock.ctx;
    p->pool.program = &mock_program;
    p->pool.hash = hash;
    p->expected = expected;
    p->holds = 1; /* until the test has completed its own tasks */
    return p;
}

void mock_pool_add(mock_pool *p)
{
    mock.pools[mock.npools++] = p;
    p->pool.id = (uint32_t)mock.npools;
    dagi_comm_pool_added(&mock.worker, &p->pool);
}

void mock_pool_check(mock_pool *p)
{
    if (p->reported || (!p->forced && (p->holds || p->expected)))
        return;
    p->reported = 1;
    mock.activity++;
    dagi_comm_pool_local_end(&mock.worker, &p->pool, p->failed, p->info, p->message);
}

int mock_pool_wait(mock_pool *p, double seconds)
{
    double end = mock_spent() + seconds;
    while (!p->ended) {
        if (dagi_comm_progress(&mock.worker) == 0)
            sched_yield();
        if (mock_spent() > end)
            return 0;
    }
    return 1;
}

void mock_pool_free(mock_pool *p)
{
    mock.pools[p->pool.id - 1] = NULL;
    CHECK(p->holds == 0 && p->expected == 0, "%d holds, %d expected", p->holds, p->expected);
    free(p);
}

void mock_complete(mock_pool *p, int32_t a, int32_t b, int64_t priority, dag_value **values,
                   const mock_dest *dest, int ndest, int bcast, int group, uint64_t dynamic)
{
    struct {
        struct dag_task task;
        dag_value *flow[MOCK_DATA];
        int32_t local[MOCK_PARAMS];
    } t = {.task = {.cls = &mock_class, .pool = &p->pool, .priority = priority}, .local = {a, b}};
    dagi_fanout *f = mock.thread.runner.fanout;
    const int32_t groups[] = {group, 1 + group / 2, 2};
    for (int i = 0; i < MOCK_DATA; i++)
        t.flow[i] = values[i];
    for (int i = 0; i < ndest; i++) {
        for (uint8_t flow = 0; flow < MOCK_FLOWS; flow++) {
            dag_edge edge = {.target = &mock_class, .source_flow = flow, .target_flow = flow, .region = dest[i].region,
                             .bcast = (uint16_t)bcast};
            if (dest[i].mask >> flow & 1)
                dagi_fanout_add(f, dest[i].rank, &edge, groups);
        }
    }
    for (int i = 0; i < MOCK_DATA; i++) {
        if (values[i] && dagi_fanout_refs(f, i))
            dagi_value_retain(values[i], dagi_fanout_refs(f, i));
        dagi_value_release(&mock.worker, values[i]);
    }
    if (!dagi_fanout_empty(f))
        dagi_comm_activate(&mock.worker, &t.task, f, dynamic, NULL);
}

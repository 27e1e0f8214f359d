/*
 * Devices with the floors below, on a back end without a device (../device/loop_backend.h): tasks with a
 * body for devices go there and come back with their results. test_loop, test_resident and test_parts
 * have the rest.
 */
#include "../../../runtime/device/device.h"
#include "../../../runtime/layout/layout.h"
#include "../../common/run_suite.h"
#include "../device/loop_backend.h"
#include "hand_crew.h"

#include <dag/device.h>

#include <sched.h>

/* T(c, i): chains, each task adds 1 to a number. c even: a device runs all but every third; odd: cores. */
typedef struct globals {
    int64_t n, m;
    int64_t *out;
    _Atomic int64_t *on_device, *on_core;
} globals;
typedef struct link {
    struct dag_task task;
    dag_value *flow[1];
    int32_t local[2];
} link_task;
static const char *const names[] = {"c", "i"};
static const dag_flow flows[] = {{"X", DAG_RW, 1}};
static const dag_class cls;
static const dag_edge edge = {&cls, 0, 0, DAG_REGION_FULL, 0, 0, 2};
static const dag_shape one_number = {1, 1, sizeof(int64_t)};

static int in_space(const void *g, int32_t *l)
{
    const globals *own = g;
    return l[0] >= 0 && l[0] < own->n && l[1] >= 0 && l[1] < own->m;
}

static int rank_of(const void *g, const int32_t *l)
{
    return g && l ? 0 : -1;
}

static int64_t inputs(const void *g, const int32_t *l)
{
    return g && l[1] > 0;
}

static void bind(struct dag_task *t, const void *g)
{
    if (g && ((link_task *)t)->local[1] == 0)
        dag_bind_new(t, 0, &one_number);
}

static void successors(dag_visit *v, const void *g, const int32_t *l)
{
    const int32_t next[] = {l[0], l[1] + 1};
    if (l[1] + 1 < ((const globals *)g)->m && (v->mask & 1))
        dag_visit_edge(v, &edge, next);
}

static int64_t count(const void *g)
{
    return ((const globals *)g)->n * ((const globals *)g)->m;
}

static int start(dag_cursor *c, const void *g)
{
    for (int64_t i = c->resume ? c->at[0] + 1 : 0; i < ((const globals *)g)->n; i++) {
        const int32_t locals[] = {(int32_t)i, 0};
        if (dag_start_task(c, locals)) {
            c->at[0] = i;
            c->resume = 1;
            return 1;
        }
    }
    return 0;
}

typedef struct addition {
    int64_t *x;
    int first;
} addition;

static void add(void *p)
{
    const addition *a = p;
    *a->x = (a->first ? 0 : *a->x) + 1;
}

static int on_device(struct dag_task *t, const void *g)
{
    addition a = {dag_device_views(t)[0].ptr, ((link_task *)t)->local[1] == 0};
    loop_launch(dag_device_queue_of(t), add, &a, sizeof a);
    atomic_fetch_add(((const globals *)g)->on_device, 1);
    return DAG_BODY_DONE;
}

static int on_core(struct dag_task *t, const void *g)
{
    const link_task *me = (link_task *)t;
    const globals *own = g;
    addition a = {me->flow[0]->ptr, me->local[1] == 0};
    add(&a);
    if (me->local[1] + 1 == own->m)
        own->out[me->local[0]] = *a.x;
    atomic_fetch_add(own->on_core, 1);
    return DAG_BODY_DONE;
}

static int device_may(const void *g, const int32_t *l)
{
    return l[0] % 2 == 0 && l[1] % 3 != 0 && l[1] + 1 < ((const globals *)g)->m;
}

static int core_may(const void *g, const int32_t *l)
{
    return !device_may(g, l);
}

static const dag_body bodies[] = {
    {.fn = {on_device}, .evaluate = device_may, .device = DAG_DEVICE_CUDA},
    {.fn = {on_core}, .evaluate = core_may}};
static const dag_class cls = {.name = "T",
                              .nparams = 2,
                              .nlocals = 2,
                              .ndata = 1,
                              .nflows = 1,
                              .nbodies = 2,
                              .task_bytes = sizeof(link_task),
                              .local_names = names,
                              .flows = flows,
                              .bodies = bodies,
                              .locals = in_space,
                              .rank = rank_of,
                              .inputs = inputs,
                              .bind = bind,
                              .successors = successors,
                              .count = count,
                              .start = start};
static const dag_class *const classes[] = {&cls};
static const dag_program program = {.abi = DAG_JDF_ABI,
                                    .name = "links",
                                    .file = "links.jdf",
                                    .globals_bytes = sizeof(globals),
                                    .nclasses = 1,
                                    .classes = classes};

/* ---- with devices -------------------------------------------------------------------------- */

static dag_context *context_with(const loop_options *loop, int workers)
{
    char why[256] = "";
    dag_context *ctx = crew_new(workers);
    ctx->settings.gpus = loop->devices;
    ctx->settings.warnings = 0;
    dagi_devices_use(loop_backend(loop));
    ck_assert_msg(dagi_devices_init(ctx, why, sizeof why) == DAG_SUCCESS, "%s", why);
    for (int i = 0; i < workers; i++)
        dagi_runner(dagi_tasks(ctx)->workers[i])->special = 1;
    atomic_store(&dagi_crew(ctx)->attend, DAGI_ATTEND_DEVICES);
    ck_assert_int_eq(dagi_workers_start(ctx), DAG_SUCCESS);
    return ctx;
}

static void end(dag_context *ctx)
{
    dagi_workers_stop(ctx);
    dagi_devices_fini(ctx);
    ck_assert_ptr_null(dagi_tasks(ctx)->device);
    ck_assert_ptr_null(dagi_crew(ctx)->manager);
    crew_free(ctx);
}

enum { N = 6, M = 31 };

/* Run the chains, `again` bodies of which are called once more; how many bodies a device has run. */
static int64_t run_chains(dag_context *ctx, dag_status expected, int again)
{
    int64_t out[N] = {0};
    _Atomic int64_t device = 0, core = 0;
    dag_taskpool *pool = dag_pool_new(ctx, &program, DAG_S);
    ck_assert_ptr_nonnull(pool);
    *(globals *)dag_pool_globals(pool) = (globals){N, M, out, &device, &core};
    ck_assert_int_eq(crew_run(ctx, dag_pool_ready(pool)), expected);
    for (int i = 0; i < N && expected == DAG_SUCCESS; i++)
        ck_assert_int_eq(out[i], M);
    ck_assert_int_eq(atomic_load(&dagi_pool(pool)->stats.tasks), N * M);
    if (expected == DAG_SUCCESS)
        ck_assert_int_eq(device + core, N * M + again);
    dagi_pool_destroy(pool);
    return device;
}

START_TEST(ports_are_filled_where_there_are_devices)
{
    const loop_options loop = {.devices = 2, .memory = (size_t)1 << 20};
    dag_context *ctx = context_with(&loop, 1);
    ck_assert_ptr_nonnull(dagi_tasks(ctx)->device);
    ck_assert_ptr_nonnull(dagi_crew(ctx)->manager);
    ck_assert_ptr_nonnull(ctx->keeper);
    ck_assert_ptr_nonnull(atomic_load(&dagi_layout_port_used));
    ck_assert_ptr_nonnull(dagi_runner(dagi_tasks(ctx)->workers[0])->driver);
    ck_assert_int_eq(dagi_devices_busy(ctx), 0);
    end(ctx);
    char why[256] = "";
    ctx = crew_new(1);
    ctx->settings.gpus = 0;
    ck_assert_int_eq(dagi_devices_init(ctx, why, sizeof why), DAG_SUCCESS);
    ck_assert_ptr_null(dagi_tasks(ctx)->device);
    ck_assert_ptr_null(dagi_crew(ctx)->manager);
    ck_assert_ptr_nonnull(strstr(dagi_tasks(ctx)->no_devices.why, "gpus is 0"));
    ck_assert_int_eq(run_chains(ctx, DAG_ERR_GRAPH, 0), 0); /* no body may run some of them */
    crew_free(ctx);
}
END_TEST

/* By one and two workers, on one and three devices, as late as events allow. */
START_TEST(tasks_go_to_devices_and_back)
{
    const loop_options loop = {
        .devices = _i % 2 ? 3 : 1, .memory = (size_t)1 << 20, .seed = (uint64_t)_i};
    dag_context *ctx = context_with(&loop, 1 + _i / 2 % 2);
    for (int round = 0; round < 3; round++)
        ck_assert_int_eq(run_chains(ctx, DAG_SUCCESS, 0), N / 2 * 20);
    while (dagi_devices_busy(ctx)) /* the pool is over before its last job is counted off */
        sched_yield();
    end(ctx);
}
END_TEST

/* What a device refuses is tried again. */
START_TEST(a_refusal_changes_nothing)
{
    const loop_options loop = {.devices = 1,
                               .memory = (size_t)1 << 20,
                               .seed = 5,
                               .call = _i ? LOOP_COPY_IN : LOOP_LAUNCH,
                               .fail_at = 7,
                               .times = 2,
                               .result = DAGI_REFUSED};
    dag_context *ctx = context_with(&loop, 1);
    int again = _i ? 0 : loop.times; /* a copy is refused before the body is called */
    ck_assert_int_eq(run_chains(ctx, DAG_SUCCESS, again), N / 2 * 20 + again);
    end(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("device");
    TCase *tcase = tcase_create("device");
    tcase_add_test(tcase, ports_are_filled_where_there_are_devices);
    tcase_add_loop_test(tcase, tasks_go_to_devices_and_back, 0, 8);
    tcase_add_loop_test(tcase, a_refusal_changes_nothing, 0, 2);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}

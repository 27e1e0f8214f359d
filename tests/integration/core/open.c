/*
 * Pools that stay open and are given tasks: random programs of a small client (open.h) against their
 * serial values, over windows, with a rank that lags, with messages that come before their reader is
 * known. What is wrong gives a status and a message, and nothing hangs. Exit status 1 when a check
 * fails.
 */
#include "open.h"

#include "../../../runtime/comm/remote.h"
#include "../../unit/device/loop_backend.h"
#include "../../unit/graphs.h"

#include <dag/config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static dag_context *ctx;
static int failures, rank, size, slow_tasks;

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: rank %d: %s fails: ", __FILE__, __LINE__, rank, #condition);   \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fprintf(stderr, "\n");                                                                 \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

static void doze(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}

static void check_ran(const program *p)
{
    CHECK(p->wrong == 0, "%lld tasks have seen wrong values", (long long)p->wrong);
    CHECK(p->most <= p->window, "%lld tasks were unfinished, the window is %lld",
          (long long)p->most, (long long)p->window);
    for (int t = 0; t < p->tasks; t++) {
        int ran = atomic_load(&p->records[t].ran), due = p->records[t].rank == rank;
        CHECK(ran == due, "task %d ran %d times", t, ran);
    }
}

/* ---- programs --------------------------------------------------------------------------------- */

/* Rank `late` is late with a few tasks, more so with one in the midst. */
static void run(int tasks, int64_t items, int64_t window, uint64_t seed, int late, double rest)
{
    program p;
    program_make(&p, ctx, tasks, items, seed);
    p.window = window;
    p.slow = slow_tasks;
    CHECK(program_open(&p, NULL) == DAG_SUCCESS, "%s", dag_message(ctx));
    for (int t = 0; t < tasks; t++) {
        if (rank == late && (t == tasks / 2 || t % 64 == 1))
            doze(t == tasks / 2 ? rest : 1e-4);
        program_insert(&p, t);
    }
    CHECK(program_shut(&p, 17) == DAG_SUCCESS, "%s", dag_message(ctx));
    dag_status status = dag_wait(p.pool);
    CHECK(status == DAG_SUCCESS, "%s: %s", dag_strerror(status), dag_message(ctx));
    check_ran(&p);
    program_free(&p);
}

static void programs(void)
{
    static const int64_t windows[] = {1, 2, 7, 64};
    for (int w = 0; w < 4; w++) {
        run(0, 1, windows[w], 1, -1, 0);
        run(1, 1, windows[w], 2, -1, 0);
        for (int late = -1; late < size; late++)
            run(300, 1 + 3000 * (late & 1), windows[w], (uint64_t)(100 * w + late + 1), late, 5e-3);
    }
    run(5000, 1, 4096, 7, -1, 0);
    slow_tasks = 1;
    run(160, 1, 4, PROGRAM_STREAMS, -1, 0);
    slow_tasks = 0;
}

/* Until nothing more comes for a while. */
static void sleep_through(const dagi_comm *c)
{
    int64_t before = -1;
    for (int64_t now = 0; now != before || now < DAGI_EARLY_BYTES; now = atomic_load(&c->ahead.kept)) {
        before = now;
        doze(0.15);
    }
}

/* Rank 0 makes 128 MiB for ranks of which one sleeps, where another thread looks after messages. That
 * one keeps 32 MiB and what was under way; rank 0 holds back as much, and gives no more, unless the machine
 * is so busy that the other wakes before. It sleeps from its first task on: were some delivered before,
 * rank 0 might have been told already to send no more than that. */
static void flood(void)
{
    enum { TASKS = 1024, ITEMS = 1 << 15, MIB = 1 << 20 };
    const dagi_comm *c = dagi_comm_of(ctx);
    int64_t kept = 0, held = 0;
    program p;
    program_make(&p, ctx, TASKS, ITEMS, PROGRAM_STREAMS);
    CHECK(program_open(&p, NULL) == DAG_SUCCESS, "%s", dag_message(ctx));
    for (int t = 0; t < TASKS; t++) {
        if (t == 0 && rank == 1)
            sleep_through(c);
        int64_t k = atomic_load(&c->ahead.kept);
        program_insert(&p, t);
        int64_t h = atomic_load(&c->ahead.held);
        kept = k > kept ? k : kept;
        held = h > held ? h : held;
    }
    CHECK(program_shut(&p, 0) == DAG_SUCCESS, "%s", dag_message(ctx));
    CHECK(dag_wait(p.pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    check_ran(&p);
    program_free(&p);
    CHECK(kept <= 64 * MIB && (rank != 1 || kept > 32 * MIB), "%lld bytes were kept",
          (long long)kept);
    CHECK(held <= 64 * MIB, "%lld bytes were held back", (long long)held);
    CHECK(atomic_load(&c->ahead.kept) == 0 && atomic_load(&c->ahead.held) == 0, "some are left");
}

/* ---- several pools ---------------------------------------------------------------------------- */

/* Two open pools, given in turns, between closed ones. */
static void beside(void)
{
    program p[2];
    graph g[3];
    for (int i = 0; i < 3; i++)
        g[i] = graph_new(ctx, GRAPH_STENCIL, 20, 20);
    dag_add(ctx, g[0].pool);
    for (int i = 0; i < 2; i++) {
        program_make(&p[i], ctx, 400, 1, 9 + (uint64_t)i);
        p[i].window = 5;
        CHECK(program_open(&p[i], NULL) == DAG_SUCCESS, "%s", dag_message(ctx));
    }
    for (int t = 0; t < 400; t++) {
        if (t == 100) {
            dag_add(ctx, g[1].pool);
            doze(rank == 1 ? 0.08 : 0); /* long enough to look like a stall */
        }
        if (t == 200 + 50 * (rank % 2)) /* ranks wait for others at different positions */
            CHECK(dag_wait(g[1].pool) == DAG_SUCCESS, "%s", dag_message(ctx));
        program_insert(&p[0], t);
        program_insert(&p[1], t);
    }
    dag_add(ctx, g[2].pool);
    for (int i = 1; i >= 0; i--)
        CHECK(program_shut(&p[i], 0) == DAG_SUCCESS, "%s", dag_message(ctx));
    for (int i = 0; i < 2; i++) {
        CHECK(dag_wait(p[i].pool) == DAG_SUCCESS, "%s", dag_message(ctx));
        check_ran(&p[i]);
        program_free(&p[i]);
    }
    for (int i = 0; i < 3; i++) {
        CHECK(dag_wait(g[i].pool) == DAG_SUCCESS, "%s", dag_message(ctx));
        dag_taskpool_free(g[i].pool);
    }
}

/* ---- calls out of order ----------------------------------------------------------------------- */

static void refused(dag_status status, const char *what)
{
    CHECK(status == DAG_ERR_STATE && strstr(dag_message(ctx), what), "%s, \"%s\", expected \"%s\"",
          dag_strerror(status), dag_message(ctx), what);
}

struct from_body {
    program *p;
    dag_status shut;
};
static struct from_body from_body;

static int shutting_body(struct dag_task *task, const void *globals)
{
    (void)task, (void)globals;
    from_body.shut = dagi_open_shut(from_body.p->pool, 0);
    return DAG_BODY_DONE;
}

static int one_local(const void *globals, int32_t *locals)
{
    (void)globals;
    return locals[0] == 0;
}

static int on_this_rank(const void *globals, const int32_t *locals)
{
    (void)globals, (void)locals;
    return rank;
}

static int64_t one_task(const void *globals)
{
    (void)globals;
    return 1;
}

static int start_one(dag_cursor *cursor, const void *globals)
{
    (void)globals;
    dag_start_task(cursor, (const int32_t[1]){0});
    return 0;
}

/* A closed pool of one task per rank, which tries to shut an open one. */
static void shut_from_body(program *p)
{
    static const dag_body bodies[] = {{.fn = {shutting_body}}};
    static const char *const names[] = {"i"};
    static const dag_class cls = {
        .name = "Shut", .line = 1, .nparams = 1, .nlocals = 1, .nbodies = 1,
        .task_bytes = sizeof(struct dag_task) + sizeof(int64_t), .local_names = names,
        .bodies = bodies, .locals = one_local, .rank = on_this_rank, .count = one_task,
        .start = start_one};
    static const dag_class *const classes[] = {&cls};
    static const dag_program shut = {
        .abi = DAG_JDF_ABI, .name = "shut", .file = __FILE__, .globals_bytes = 8, .nclasses = 1,
        .classes = classes};
    from_body = (struct from_body){.p = p, .shut = DAG_SUCCESS};
    dag_taskpool *pool = dag_pool_ready(dag_pool_new(ctx, &shut, DAG_S));
    CHECK(dag_add(ctx, pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    CHECK(dag_wait(pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    refused(from_body.shut, "body");
    dag_taskpool_free(pool);
}

static void wrong_calls(void)
{
    program p;
    int done;
    double element[4] = {0};
    dag_matrix *a = NULL, *b = NULL;
    const dag_matrix_desc desc = {.prec = DAG_D, .m = 2, .n = 2, .mb = 2, .nb = 2};
    CHECK(dag_matrix_new(ctx, &desc, &a) == DAG_SUCCESS, "%s", dag_message(ctx));
    CHECK(dag_matrix_new(ctx, &desc, &b) == DAG_SUCCESS, "%s", dag_message(ctx));
    program_make(&p, ctx, 50, 1, 3);
    CHECK(program_open(&p, &a->super) == DAG_SUCCESS, "%s", dag_message(ctx));
    for (int t = 0; t < 50; t++) {
        program_insert(&p, t);
        if (t != 25)
            continue;
        refused(dag_wait(p.pool), "open");
        refused(dag_test(p.pool, &done), "open");
        refused(dag_fini(ctx), "open");
        refused(dag_add(ctx, p.pool), "added before");
        refused(dagi_open_add(ctx, p.pool, 1), "added before");
        refused(dag_matrix_gather(a, element, 2), "names a collection");
        refused(dag_resident_home(ctx, &a->super), "an open taskpool names");
        CHECK(dag_matrix_gather(b, element, 2) == DAG_SUCCESS, "%s", dag_message(ctx));
        CHECK(size == 1 || dag_barrier(ctx) == DAG_SUCCESS, "%s", dag_message(ctx));
        shut_from_body(&p);
    }
    CHECK(program_shut(&p, 0) == DAG_SUCCESS, "%s", dag_message(ctx));
    refused(dagi_open_shut(p.pool, 0), "is not open");
    refused(dagi_open_reach(p.pool, 60), "is not open");
    CHECK(dag_matrix_gather(a, element, 2) == DAG_SUCCESS, "%s", dag_message(ctx));
    CHECK(dag_wait(p.pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    check_ran(&p);
    program_free(&p);
    program_make(&p, ctx, 5, 1, 3); /* freed while it is open */
    CHECK(program_open(&p, NULL) == DAG_SUCCESS, "%s", dag_message(ctx));
    program_insert(&p, 0);
    program_free(&p);
    dag_matrix_free(a);
    dag_matrix_free(b);
}

/* ---- pools that fail ----------------------------------------------------------------------------- */

/* All ranks get the same status, wherever it happens and however far they are. */
static void fails(int64_t window, int late)
{
    program p;
    program_make(&p, ctx, 200, 1, 5);
    p.fails_at = 70;
    p.window = window;
    program_open(&p, NULL);
    for (int t = 0; t < p.tasks; t++) {
        if (t == 60 && rank == late)
            doze(5e-3);
        program_insert(&p, t);
    }
    program_shut(&p, 0);
    dag_status status = dag_wait(p.pool);
    CHECK(status == DAG_ERR_TASK && strstr(dag_message(ctx), "number 70 was told to"), "%s: %s",
          dag_strerror(status), dag_message(ctx));
    program_free(&p);
}

/* A task that nobody gives: what reads it waits. The giver waits for room, or all is given. */
static void stalls(int64_t window)
{
    program p;
    program_make(&p, ctx, 300, 1, 5);
    p.skips = 20;
    p.window = window;
    program_open(&p, NULL);
    for (int t = 0; t < p.tasks; t++)
        program_insert(&p, t);
    program_shut(&p, 0);
    dag_status status = dag_wait(p.pool);
    CHECK(status == DAG_ERR_STALL && strstr(dag_message(ctx), "nobody will send"), "%s: %s",
          dag_strerror(status), dag_message(ctx));
    if (window < 64)
        CHECK(strstr(dag_message(ctx), "is open, and whoever gives it tasks waits for room"), "%s",
              dag_message(ctx));
    program_free(&p);
}

static int never(void *arg)
{
    (void)arg;
    return 0;
}

/* The giver waits for something that does not come; tasks before it run, those behind it are forgotten.
 * A closed pool that stalls meanwhile is none of its business. */
static void waits(void)
{
    program p;
    graph g = graph_new(ctx, GRAPH_STALL, 3, 1);
    program_make(&p, ctx, 100, 1, 5);
    program_open(&p, NULL);
    for (int t = 0; t < 50; t++)
        program_insert(&p, t);
    dag_add(ctx, g.pool);
    CHECK(dag_wait(g.pool) == DAG_ERR_STALL, "%s", dag_message(ctx));
    dag_taskpool_free(g.pool);
    for (int t = 50; t < 60; t++)
        program_insert(&p, t);
    CHECK(dagi_open_await(p.pool, "a sign", never, NULL) == DAG_SUCCESS, "%s", dag_message(ctx));
    for (int t = 60; t < p.tasks; t++)
        program_insert(&p, t);
    program_shut(&p, 0);
    dag_status status = dag_wait(p.pool);
    CHECK(status == DAG_ERR_STALL && strstr(dag_message(ctx), "waits for a sign"), "%s: %s",
          dag_strerror(status), dag_message(ctx));
    for (int t = 0; t < p.tasks; t++) {
        int ran = atomic_load(&p.records[t].ran), due = t < 60 && p.records[t].rank == rank;
        CHECK(ran == due, "task %d ran %d times", t, ran);
    }
    program_free(&p);
}

/* Programs that differ. */
static void differs(void)
{
    program p;
    program_make(&p, ctx, 20, 1, 5);
    program_open(&p, NULL);
    for (int t = 0; t < p.tasks; t++)
        program_insert(&p, t);
    program_shut(&p, (uint64_t)(1 + rank));
    dag_status status = dag_wait(p.pool);
    CHECK(status == (size > 1 ? DAG_ERR_MISMATCH : DAG_SUCCESS), "%s: %s", dag_strerror(status),
          dag_message(ctx));
    program_free(&p);
}

static void pools_that_fail(void)
{
    static const int64_t windows[] = {1, 2, 7, 64, 1000};
    for (int w = 0; w < 5; w++) {
        fails(windows[w], w % 3 - 1);
        stalls(windows[w]);
    }
    waits();
    differs();
}

/* Rank 1 never opens the pool, and waits for something else. */
static void missing(void)
{
    program p;
    program_make(&p, ctx, 100, 1, 5);
    p.window = 2;
    if (rank != 1) {
        program_open(&p, NULL);
        for (int t = 0; t < p.tasks; t++)
            program_insert(&p, t);
        program_shut(&p, 0);
        dag_status status = dag_wait(p.pool);
        CHECK(status == DAG_ERR_MISMATCH && strstr(dag_message(ctx), "has not added"), "%s: %s",
              dag_strerror(status), dag_message(ctx));
    }
    CHECK(dag_barrier(ctx) == DAG_SUCCESS, "%s", dag_message(ctx));
    program_free(&p);
}

/* Devices that are none (loop_backend.h), with room for some values: tasks that were given go there. */
static void devices(void)
{
    dag_device_stats s;
    int64_t tasks = 0;
    programs();
    for (int i = 0; dag_device_stats_get(ctx, i, &s); i++)
        tasks += s.tasks;
    CHECK(tasks > 1000 / size, "%lld tasks ran on devices", (long long)tasks);
}

static dag_status start(const char *mode, char *why, size_t size_of_why)
{
    dag_config *config = dag_config_new();
    if (strcmp(mode, "devices") == 0) {
        static const loop_options loop = {.devices = 2, .memory = 1 << 20, .seed = 3};
        dagi_devices_use(loop_backend(&loop));
        dag_config_set(config, "gpus", "2", NULL, 0);
        dag_config_set(config, "device_always", "on", NULL, 0);
    }
    dag_status status = dag_init(&ctx, config, why, size_of_why);
    dag_config_free(config);
    return status;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "all";
    int all = strcmp(mode, "all") == 0;
    char why[256] = "";
    if (start(mode, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "dag_init: %s\n", why);
        return 1;
    }
    rank = dag_rank(ctx);
    size = dag_size(ctx);
    if (all || strcmp(mode, "programs") == 0)
        programs();
    if (all || strcmp(mode, "beside") == 0)
        beside();
    if (all || strcmp(mode, "calls") == 0)
        wrong_calls();
    if (all || strcmp(mode, "fail") == 0)
        pools_that_fail();
    if (strcmp(mode, "flood") == 0)
        flood();
    if (strcmp(mode, "devices") == 0)
        devices();
    if (strcmp(mode, "missing") == 0)
        missing();
    CHECK(dag_fini(ctx) == DAG_SUCCESS, "dag_fini");
    return failures > 0;
}

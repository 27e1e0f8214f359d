/* Task graphs through the whole runtime on one rank: every instance once, right values, whatever the
 * schedule. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* CPU_SET */
#endif
#include "../common/run_suite.h"
#include "graphs.h"

#include <check.h>
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* threads, scheduler, chaos seed */
static const struct how {
    const char *threads, *sched, *chaos;
} hows[] = {
    {"1", "local", "0"},  {"1", "global", "0"}, {"1", "local", "7"},   {"2", "local", "0"},
    {"2", "global", "0"}, {"4", "local", "0"},  {"4", "local", "11"},  {"4", "global", "12"},
    {"3", "local", "13"}, {"8", "local", "14"}, {"2", "local", "15"},
};
enum { HOWS = sizeof hows / sizeof hows[0] };

static dag_context *start(const struct how *how)
{
    dag_context *ctx = NULL;
    char why[256] = "";
    dag_config *config = dag_config_new();
    dag_config_set(config, "threads", how->threads, NULL, 0);
    dag_config_set(config, "sched", how->sched, NULL, 0);
    dag_config_set(config, "chaos", how->chaos, NULL, 0);
    ck_assert_msg(dag_init(&ctx, config, why, sizeof why) == DAG_SUCCESS, "%s", why);
    dag_config_free(config);
    return ctx;
}

/* ---- each graph in each way ------------------------------------------------------------- */

static const struct size {
    int64_t n, m;
} sizes[] = {{1, 1}, {0, 0}, {1, 300}, {300, 1}, {40, 40}, {7, 113}, {1000, 3}};

static void check_results(enum graph_kind kind, int64_t n, int64_t m, const int64_t *out)
{
    if (kind == GRAPH_DATA_CHAINS) {
        for (int64_t c = 0; c < n; c++)
            ck_assert_int_eq(out[c], m);
    } else if (kind == GRAPH_WAVEFRONT && n == 2 && m > 1) {
        ck_assert_int_eq(out[0], m);
    } else if (kind == GRAPH_DIAMOND) {
        for (int64_t i = 0; i < n; i++)
            ck_assert_int_eq(out[i], 1000 + i);
    } else if (kind == GRAPH_STENCIL && n > 0) {
        uint64_t *now = calloc((size_t)m + 2, sizeof *now);
        uint64_t *old = calloc((size_t)m + 2, sizeof *old);
        for (int64_t t = 0; t < n; t++) {
            for (int64_t x = 1; x <= m; x++)
                now[x] = (uint64_t)x + old[x - 1] + old[x] + old[x + 1];
            memcpy(old, now, ((size_t)m + 1) * sizeof *old);
            old[0] = 0;
        }
        for (int64_t x = 0; x < m; x++)
            ck_assert_int_eq(out[x], (int64_t)old[x + 1]);
        free(now);
        free(old);
    }
}

static void run_graph(dag_context *ctx, enum graph_kind kind, int64_t n, int64_t m)
{
    int64_t tasks = graph_tasks(kind, n, m);
    size_t places = (size_t)(tasks + n + m + 2);
    _Atomic int *hits = calloc(places, sizeof *hits);
    int64_t *out = calloc(places, sizeof *out);
    graph g = graph_new(ctx, kind, n, m);
    ck_assert_msg(g.pool != NULL, "%s", dag_message(ctx));
    g.globals->hits = hits;
    g.globals->out = out;
    ck_assert_int_eq(dag_add(ctx, g.pool), DAG_SUCCESS);
    dag_status status = dag_wait(g.pool);
    ck_assert_msg(status == DAG_SUCCESS, "%s", dag_message(ctx));
    ck_assert_int_eq(dag_taskpool_info(g.pool), 0);
    for (int64_t i = 0; i < tasks; i++)
        ck_assert_msg(atomic_load(&hits[i]) == 1, "kind %d: task %lld ran %d times", (int)kind,
                      (long long)i, atomic_load(&hits[i]));
    dag_pool_stats stats;
    dag_taskpool_stats(g.pool, &stats);
    ck_assert_int_eq(stats.tasks, tasks + (kind == GRAPH_PRIORITY));
    if (kind == GRAPH_DATA_CHAINS || kind == GRAPH_DYNAMIC)
        ck_assert_int_eq(stats.renames, 0);
    check_results(kind, n, m, out);
    dag_taskpool_free(g.pool);
    free(hits);
    free(out);
}

START_TEST(graphs)
{
    static const enum graph_kind kinds[] = {GRAPH_INDEPENDENT, GRAPH_CTL_CHAINS, GRAPH_DATA_CHAINS,
                                            GRAPH_WAVEFRONT, GRAPH_STENCIL, GRAPH_PHASES,
                                            GRAPH_DIAMOND, GRAPH_DYNAMIC};
    dag_context *ctx = start(&hows[_i]);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            int64_t n = sizes[s].n, m = sizes[s].m;
            /* Root, Join and the first of a dynamic chain always exist. */
            if (n == 0 && (kinds[k] == GRAPH_DIAMOND || kinds[k] == GRAPH_DYNAMIC))
                continue;
            run_graph(ctx, kinds[k], n, m);
        }
    }
    run_graph(ctx, GRAPH_WAVEFRONT, 2, 60);
    ck_assert_int_eq(dag_fini(ctx), DAG_SUCCESS);
}
END_TEST

/* One worker runs what is ready strictly by priority. */
START_TEST(priority_order)
{
    enum { N = 500 };
    dag_context *ctx = start(&hows[_i]); /* the two undisturbed single workers */
    _Atomic int hits[N + 1] = {0};
    int64_t out[N];
    graph g = graph_new(ctx, GRAPH_PRIORITY, N, 1);
    g.globals->hits = hits;
    g.globals->out = out;
    ck_assert_int_eq(dag_add(ctx, g.pool), DAG_SUCCESS);
    ck_assert_int_eq(dag_wait(g.pool), DAG_SUCCESS);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(out[i], N - 1 - i);
    dag_taskpool_free(g.pool);
    dag_fini(ctx);
}
END_TEST

/* ---- several pools ---------------------------------------------------------------------- */

/* All added first, waited for in another order, some by dag_test(), some left to dag_fini(). */
START_TEST(many_pools)
{
    enum { POOLS = 40 };
    dag_context *ctx = start(&hows[_i]);
    graph g[POOLS];
    _Atomic int64_t sum = 0;
    for (int p = 0; p < POOLS; p++) {
        g[p] = graph_new(ctx, (enum graph_kind)(p % 6), 10 + p, 9);
        g[p].globals->sum = &sum;
        ck_assert_int_eq(dag_add(ctx, g[p].pool), DAG_SUCCESS);
    }
    for (int p = POOLS - 1; p >= 10; p--) {
        int done = 0;
        if (p % 2) {
            ck_assert_int_eq(dag_wait(g[p].pool), DAG_SUCCESS);
            ck_assert_int_eq(dag_wait(g[p].pool), DAG_SUCCESS);
        } else {
            while (!done)
                ck_assert_int_eq(dag_test(g[p].pool, &done), DAG_SUCCESS);
        }
        dag_taskpool_free(g[p].pool);
    }
    int64_t expected = 0;
    for (int p = 0; p < POOLS; p++) {
        int64_t tasks = graph_tasks((enum graph_kind)(p % 6), 10 + p, 9);
        expected += tasks * (tasks - 1) / 2;
    }
    dag_wait(g[0].pool);
    for (int p = 0; p < 10; p++)
        ck_assert_int_eq(dag_wait(g[p].pool), DAG_SUCCESS);
    ck_assert_int_eq(atomic_load(&sum), expected);
    for (int p = 0; p < 10; p++)
        dag_taskpool_free(g[p].pool);
    dag_fini(ctx);
}
END_TEST

/* dag_test() comes back while another worker is in a long body. */
START_TEST(test_does_not_wait)
{
    dag_context *ctx = start(&hows[3]);
    graph g = graph_new(ctx, GRAPH_CTL_CHAINS, 1, 2);
    _Atomic int inside = 0, leave = 0;
    int done = 0;
    g.globals->inside = &inside;
    g.globals->leave = &leave;
    ck_assert_int_eq(dag_add(ctx, g.pool), DAG_SUCCESS);
    while (!atomic_load(&inside)) /* the other worker comes by itself, and stays in the body */
        nanosleep(&(struct timespec){0, 100000}, NULL);
    for (int calls = 0; calls < 100; calls++) {
        ck_assert_int_eq(dag_test(g.pool, &done), DAG_SUCCESS);
        ck_assert(!done);
    }
    ck_assert_int_eq(atomic_load(&inside), 1); /* nor has it run the successor */
    atomic_store(&leave, 1);
    while (!done)
        ck_assert_int_eq(dag_test(g.pool, &done), DAG_SUCCESS);
    ck_assert_int_eq(atomic_load(&inside), 2);
    dag_taskpool_free(g.pool);
    dag_fini(ctx);
}
END_TEST

START_TEST(fini_waits)
{
    dag_context *ctx = start(&hows[_i]);
    _Atomic int64_t sum = 0;
    graph g = graph_new(ctx, GRAPH_STENCIL, 50, 50);
    g.globals->sum = &sum;
    ck_assert_int_eq(dag_add(ctx, g.pool), DAG_SUCCESS);
    ck_assert_int_eq(dag_fini(ctx), DAG_SUCCESS);
    ck_assert_int_eq(atomic_load(&sum), 2500 * 2499 / 2);
    dag_taskpool_free(g.pool);
}
END_TEST

START_TEST(init_twice)
{
    for (int i = 0; i < 4; i++) {
        dag_context *ctx = start(&hows[_i]);
        run_graph(ctx, GRAPH_WAVEFRONT, 12, 12);
        ck_assert_int_eq(dag_fini(ctx), DAG_SUCCESS);
    }
}
END_TEST

/* ---- resources -------------------------------------------------------------------------- */

static int threads_of_process(void)
{
    DIR *d = opendir("/proc/self/task");
    int count = 0;
    while (d && readdir(d))
        count++;
    if (d)
        closedir(d);
    return count - 2; /* . and .. */
}

static void *nothing(void *arg)
{
    return arg;
}

START_TEST(one_worker_means_no_thread)
{
    pthread_t first;
    ck_assert_int_eq(pthread_create(&first, NULL, nothing, NULL), 0);
    pthread_join(first, NULL);
    int mine = threads_of_process(); /* 1, but a sanitizer has had its cue to add its own */
    dag_context *ctx = start(&hows[0]);
    ck_assert_int_eq(threads_of_process(), mine);
    run_graph(ctx, GRAPH_STENCIL, 20, 20);
    ck_assert_int_eq(threads_of_process(), mine);
    dag_fini(ctx);
    ctx = start(&(struct how){"3", "local", "0"});
    ck_assert_int_eq(dag_workers(ctx), 3);
    ck_assert_int_eq(threads_of_process(), mine + 2);
    dag_fini(ctx);
    ck_assert_int_eq(threads_of_process(), mine);
}
END_TEST

/* Threads but this one that are bound to this processor alone. */
static int bound_to(int pu)
{
    int count = 0;
    char path[300], line[256], alone[64];
    DIR *tasks = opendir("/proc/self/task");
    ck_assert_ptr_nonnull(tasks);
    snprintf(alone, sizeof alone, "Cpus_allowed_list:\t%d\n", pu);
    for (const struct dirent *e; (e = readdir(tasks)) != NULL;) {
        int id = atoi(e->d_name); /* 0: "." and ".." */
        snprintf(path, sizeof path, "/proc/self/task/%d/status", id);
        FILE *f = id > 0 && id != (int)getpid() ? fopen(path, "r") : NULL;
        while (f && fgets(line, sizeof line, f))
            count += strcmp(line, alone) == 0;
        if (f)
            fclose(f);
    }
    closedir(tasks);
    return count;
}

/* Wherever the system has put the application's thread, no other one shares its processor. */
START_TEST(threads_make_way)
{
    cpu_set_t all, one;
    ck_assert_int_eq(sched_getaffinity(0, sizeof all, &all), 0);
    dag_context *ctx = start(&(struct how){"2", "local", "0"});
    for (int pu = 0; pu < CPU_SETSIZE && CPU_COUNT(&all) > 1; pu++) {
        if (!CPU_ISSET(pu, &all))
            continue;
        CPU_ZERO(&one);
        CPU_SET(pu, &one);
        ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
        run_graph(ctx, GRAPH_STENCIL, 20, 20);
        ck_assert_int_eq(bound_to(pu), 0);
        run_graph(ctx, GRAPH_STENCIL, 20, 20);
        ck_assert_int_eq(bound_to(pu), 0);
    }
    dag_fini(ctx);
    ck_assert_int_eq(sched_setaffinity(0, sizeof all, &all), 0);
}
END_TEST

static double cpu_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* Workers without work do not compute: a second of waiting costs the process little time. */
START_TEST(idle_workers_sleep)
{
    dag_context *ctx = start(&(struct how){"8", "local", "0"});
    run_graph(ctx, GRAPH_STENCIL, 20, 20);
    double before = cpu_seconds();
    struct timespec second = {0, 700000000};
    nanosleep(&second, NULL);
    ck_assert(cpu_seconds() - before < 0.1);
    dag_fini(ctx);
}
END_TEST

static long resident_kib(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long size = 0, resident = 0;
    if (f && fscanf(f, "%ld %ld", &size, &resident) != 2)
        resident = 0;
    if (f)
        fclose(f);
    return resident * 4;
}

/* Half a million independent tasks are never all there, nor do the tasks of a chain pile up. */
START_TEST(memory_follows_live_tasks)
{
    dag_context *ctx = start(&hows[_i]);
    run_graph(ctx, GRAPH_INDEPENDENT, 1000, 1);
    long before = resident_kib();
    graph g = graph_new(ctx, GRAPH_INDEPENDENT, 500000, 1);
    dag_add(ctx, g.pool);
    ck_assert_int_eq(dag_wait(g.pool), DAG_SUCCESS);
    dag_taskpool_free(g.pool);
    g = graph_new(ctx, GRAPH_DATA_CHAINS, 1000, 200);
    dag_add(ctx, g.pool);
    ck_assert_int_eq(dag_wait(g.pool), DAG_SUCCESS);
    dag_taskpool_free(g.pool);
#ifdef __SANITIZE_THREAD__
    (void)before; /* what the sanitizer remembers of each access would count, too */
#else
    ck_assert_int_lt(resident_kib() - before, 8192);
#endif
    dag_fini(ctx);
}
END_TEST

/* ---- inside bodies ---------------------------------------------------------------------- */

struct probe_globals {
    dag_taskpool *other;
    dag_context *ctx;
    _Atomic int wrong;
};

static int probe_body(struct dag_task *t, const void *globals)
{
    struct probe_globals *p = dag_pool_globals(dag_globals_pool(globals));
    int done;
    int wrong = dag_task_context(t) != p->ctx;
    int worker = dag_task_worker(t);
    wrong += worker < 0 || worker >= dag_workers(p->ctx);
    wrong += dag_wait(p->other) != DAG_ERR_STATE || dag_test(p->other, &done) != DAG_ERR_STATE;
    wrong += dag_add(p->ctx, p->other) != DAG_ERR_STATE || dag_barrier(p->ctx) != DAG_ERR_STATE;
    wrong += dag_fini(p->ctx) != DAG_ERR_STATE;
    char *a = dag_task_workspace(t, 100);
    wrong += !a || (uintptr_t)a % 64 != 0;
    char *b = dag_task_workspace(t, 1 << 20);
    wrong += !b || (uintptr_t)b % 64 != 0;
    if (b)
        memset(b, 1, 1 << 20);
    wrong += dag_task_workspace(t, 5000) != b;
    wrong += dag_task_workspace(t, SIZE_MAX) != NULL;
    atomic_fetch_add(&p->wrong, wrong);
    return DAG_BODY_DONE;
}

struct probe_task {
    struct dag_task task;
    int32_t local[1];
};

static int64_t probe_count(const void *globals)
{
    (void)globals;
    return 50;
}
static int probe_start(dag_cursor *c, const void *globals)
{
    (void)globals;
    for (int64_t i = c->resume ? c->at[0] + 1 : 0; i < 50; i++) {
        int32_t local = (int32_t)i;
        if (dag_start_task(c, &local)) {
            c->at[0] = i;
            c->resume = 1;
            return 1;
        }
    }
    return 0;
}
static int probe_space(const void *globals, int32_t *locals)
{
    (void)globals;
    return locals[0] >= 0 && locals[0] < 50;
}

START_TEST(what_bodies_may_ask)
{
    static const dag_body bodies[] = {{.fn = {probe_body}}};
    static const char *const names[] = {"i"};
    static const dag_class cls = {
        .name = "Probe", .line = 1, .nparams = 1, .nlocals = 1, .nbodies = 1,
        .task_bytes = sizeof(struct probe_task), .local_names = names, .bodies = bodies,
        .locals = probe_space, .count = probe_count, .start = probe_start};
    static const dag_class *const classes[] = {&cls};
    static const dag_program program = {
        .abi = DAG_JDF_ABI, .name = "probe", .file = "probe.jdf",
        .globals_bytes = sizeof(struct probe_globals), .nclasses = 1, .classes = classes};
    dag_context *ctx = start(&hows[_i]);
    graph other = graph_new(ctx, GRAPH_INDEPENDENT, 10, 1);
    dag_taskpool *pool = dag_pool_ready(dag_pool_new(ctx, &program, DAG_S));
    struct probe_globals *p = dag_pool_globals(pool);
    p->ctx = ctx;
    p->other = other.pool;
    ck_assert_int_eq(dag_add(ctx, pool), DAG_SUCCESS);
    ck_assert_int_eq(dag_wait(pool), DAG_SUCCESS);
    ck_assert_int_eq(atomic_load(&p->wrong), 0);
    dag_taskpool_free(pool);
    dag_taskpool_free(other.pool);
    dag_fini(ctx);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("core");
    tcase_add_loop_test(t, graphs, 0, HOWS);
    tcase_add_loop_test(t, priority_order, 0, 2);
    tcase_add_loop_test(t, many_pools, 0, HOWS);
    tcase_add_test(t, test_does_not_wait);
    tcase_add_loop_test(t, fini_waits, 0, HOWS);
    tcase_add_loop_test(t, init_twice, 0, HOWS);
    tcase_add_test(t, one_worker_means_no_thread);
    tcase_add_test(t, threads_make_way);
    tcase_add_test(t, idle_workers_sleep);
    tcase_add_loop_test(t, memory_follows_live_tasks, 3, 6);
    tcase_add_loop_test(t, what_bodies_may_ask, 0, HOWS);
    Suite *s = suite_create("core");
    suite_add_tcase(s, t);
    return run_suite(s);
}

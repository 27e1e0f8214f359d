/* What goes wrong ends, and says why: failing bodies, contradictory graphs, stalls, misuse. */
#include "../common/run_suite.h"
#include "../../runtime/worker/worker.h"
#include "graphs.h"

#include <dag/view.h>

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const struct how {
    const char *threads, *chaos;
} hows[] = {{"1", "0"}, {"2", "0"}, {"4", "0"}, {"1", "3"}, {"4", "4"}, {"4", "5"}};
enum { HOWS = sizeof hows / sizeof hows[0] };

static dag_context *start(int how)
{
    dag_context *ctx = NULL;
    char why[256] = "";
    dag_config *config = dag_config_new();
    dag_config_set(config, "threads", hows[how].threads, NULL, 0);
    dag_config_set(config, "chaos", hows[how].chaos, NULL, 0);
    ck_assert_msg(dag_init(&ctx, config, why, sizeof why) == DAG_SUCCESS, "%s", why);
    dag_config_free(config);
    return ctx;
}

/* Run a graph to its end; the status. */
static dag_status run(dag_context *ctx, graph g)
{
    ck_assert_msg(g.pool != NULL, "%s", dag_message(ctx));
    ck_assert_int_eq(dag_add(ctx, g.pool), DAG_SUCCESS);
    dag_status status = dag_wait(g.pool);
    ck_assert_int_eq(dag_wait(g.pool), status);
    return status;
}

static void says(dag_context *ctx, const char *what)
{
    ck_assert_msg(strstr(dag_message(ctx), what) != NULL, "'%s' is not in: %s", what,
                  dag_message(ctx));
}

/* The context is as good as new after a pool has failed. */
static void still_works(dag_context *ctx)
{
    graph g = graph_new(ctx, GRAPH_STENCIL, 10, 10);
    ck_assert_int_eq(run(ctx, g), DAG_SUCCESS);
    dag_taskpool_free(g.pool);
}

START_TEST(failing_body)
{
    dag_context *ctx = start(_i);
    for (int kind = GRAPH_INDEPENDENT; kind <= GRAPH_PHASES; kind++) {
        graph g = graph_new(ctx, (enum graph_kind)kind, 30, 20);
        _Atomic int hits[600] = {0};
        g.globals->hits = hits;
        g.globals->fail_at = 5;
        ck_assert_int_eq(run(ctx, g), DAG_ERR_TASK);
        says(ctx, "number 5 was told to");
        says(ctx, ".jdf: task ");
        dag_pool_stats stats;
        dag_taskpool_stats(g.pool, &stats);
        ck_assert_int_eq(stats.tasks, graph_tasks((enum graph_kind)kind, 30, 20));
        /* All that depends on it was skipped. */
        if (kind == GRAPH_WAVEFRONT)
            ck_assert_int_eq(atomic_load(&hits[599]), 0);
        dag_taskpool_free(g.pool);
    }
    still_works(ctx);
    dag_fini(ctx);
}
END_TEST

START_TEST(reported_info)
{
    dag_context *ctx = start(_i);
    graph g = graph_new(ctx, GRAPH_CTL_CHAINS, 1, 100);
    _Atomic int hits[100] = {0};
    g.globals->hits = hits;
    g.globals->info_at = 41;
    ck_assert_int_eq(run(ctx, g), DAG_SUCCESS);
    ck_assert_int_eq(dag_taskpool_info(g.pool), 42);
    ck_assert_int_eq(atomic_load(&hits[41]), 1);
    ck_assert_int_eq(atomic_load(&hits[42]), 0);
    dag_taskpool_free(g.pool);
    still_works(ctx);
    dag_fini(ctx);
}
END_TEST

START_TEST(cancelled)
{
    dag_context *ctx = start(_i);
    graph g = graph_new(ctx, GRAPH_DATA_CHAINS, 100, 300);
    ck_assert_int_eq(dag_cancel(g.pool), DAG_ERR_STATE);
    g.globals->cancel_at = 400;
    ck_assert_int_eq(run(ctx, g), DAG_ERR_CANCELLED);
    says(ctx, "cancelled");
    ck_assert_int_eq(dag_cancel(g.pool), DAG_SUCCESS); /* too late, no harm */
    dag_taskpool_free(g.pool);
    still_works(ctx);
    dag_fini(ctx);
}
END_TEST

START_TEST(stall)
{
    dag_context *ctx = start(_i);
    graph g = graph_new(ctx, GRAPH_STALL, 5, 1);
    ck_assert_int_eq(run(ctx, g), DAG_ERR_STALL);
    says(ctx, "stall.jdf: 0 tasks wait");
    says(ctx, "5 more have not got any input");
    dag_taskpool_free(g.pool);
    g = graph_new(ctx, GRAPH_HALF_STALL, 5, 1);
    ck_assert_int_eq(run(ctx, g), DAG_ERR_STALL);
    says(ctx, "1 tasks wait");
    says(ctx, "B(0) (line 95) misses 1 of: Q (line 92), CTL C (line 93)");
    dag_taskpool_free(g.pool);
    still_works(ctx);
    dag_fini(ctx);
}
END_TEST

/* A stalled pool is found while others run, and does not keep them. */
START_TEST(stall_among_others)
{
    dag_context *ctx = start(_i);
    graph bad = graph_new(ctx, GRAPH_HALF_STALL, 5, 1);
    graph good = graph_new(ctx, GRAPH_STENCIL, 60, 60);
    graph worse = graph_new(ctx, GRAPH_STALL, 5, 1);
    ck_assert_int_eq(dag_add(ctx, bad.pool), DAG_SUCCESS);
    ck_assert_int_eq(dag_add(ctx, good.pool), DAG_SUCCESS);
    ck_assert_int_eq(dag_add(ctx, worse.pool), DAG_SUCCESS);
    ck_assert_int_eq(dag_wait(worse.pool), DAG_ERR_STALL);
    ck_assert_int_eq(dag_wait(good.pool), DAG_SUCCESS);
    ck_assert_int_eq(dag_wait(bad.pool), DAG_ERR_STALL);
    dag_taskpool_free(bad.pool);
    dag_taskpool_free(good.pool);
    dag_taskpool_free(worse.pool);
    dag_fini(ctx);
}
END_TEST

/* dag_fini() with a pool that nobody waited for and that cannot end by itself. */
START_TEST(fini_after_stall)
{
    dag_context *ctx = start(_i);
    graph g = graph_new(ctx, GRAPH_STALL, 5, 1);
    ck_assert_int_eq(dag_add(ctx, g.pool), DAG_SUCCESS);
    ck_assert_int_eq(dag_fini(ctx), DAG_SUCCESS);
    dag_taskpool_free(g.pool);
}
END_TEST

START_TEST(test_sees_stall)
{
    dag_context *ctx = start(_i);
    graph g = graph_new(ctx, GRAPH_STALL, 5, 1);
    int done = 0;
    dag_status status = DAG_SUCCESS;
    ck_assert_int_eq(dag_add(ctx, g.pool), DAG_SUCCESS);
    while (!done)
        status = dag_test(g.pool, &done);
    ck_assert_int_eq(status, DAG_ERR_STALL);
    dag_taskpool_free(g.pool);
    dag_fini(ctx);
}
END_TEST

START_TEST(same_flow_twice)
{
    dag_context *ctx = start(_i);
    graph g = graph_new(ctx, GRAPH_OVERRUN, 1, 1);
    ck_assert_int_eq(run(ctx, g), DAG_ERR_GRAPH);
    says(ctx, "overrun.jdf:97: A(0) sends flow X to flow P of B(0), which has got that flow");
    dag_taskpool_free(g.pool);
    still_works(ctx);
    dag_fini(ctx);
}
END_TEST

/* One worker tells the control of all of them at once, to a task that has got none yet, or one. */
START_TEST(more_control_than_awaited)
{
    dag_context *ctx = start(0);
    graph g = graph_new(ctx, GRAPH_CROWD, 5, 1 + _i);
    ck_assert_int_eq(run(ctx, g), DAG_ERR_GRAPH);
    says(ctx, "crowd.jdf:105: A(");
    says(ctx, "sends flow C to flow C of B(0), which waits for fewer");
    dag_taskpool_free(g.pool);
    still_works(ctx);
    dag_fini(ctx);
}
END_TEST

START_TEST(outside_of_the_space)
{
    dag_context *ctx = start(_i);
    graph g = graph_new(ctx, GRAPH_OUTSIDE, 1, 1);
    ck_assert_int_eq(run(ctx, g), DAG_ERR_GRAPH);
    says(ctx, "outside.jdf:101: A(0) sends flow X to flow P of B(7), which does not exist");
    dag_taskpool_free(g.pool);
    still_works(ctx);
    dag_fini(ctx);
}
END_TEST

START_TEST(misuse)
{
    dag_context *ctx = start(0), *other = start(1);
    int done;
    ck_assert_int_eq(dag_add(ctx, NULL), DAG_ERR_ARG);
    ck_assert_int_eq(dag_add(NULL, NULL), DAG_ERR_ARG);
    ck_assert_int_eq(dag_wait(NULL), DAG_ERR_ARG);
    ck_assert_int_eq(dag_test(NULL, &done), DAG_ERR_ARG);
    ck_assert_int_eq(dag_cancel(NULL), DAG_ERR_ARG);
    ck_assert_int_eq(dag_taskpool_info(NULL), 0);
    dag_pool_stats stats;
    dag_taskpool_stats(NULL, &stats);
    ck_assert_int_eq(stats.tasks, 0);
    ck_assert_int_eq(dag_fini(NULL), DAG_ERR_ARG);
    ck_assert_int_eq(dag_barrier(NULL), DAG_ERR_ARG);
    ck_assert_int_eq(dag_init(NULL, NULL, NULL, 0), DAG_ERR_ARG);
    ck_assert_str_eq(dag_message(NULL), "");
    graph g = graph_new(ctx, GRAPH_STENCIL, 4, 4);
    ck_assert_int_eq(dag_wait(g.pool), DAG_ERR_STATE);
    says(ctx, "was not added");
    ck_assert_int_eq(dag_test(g.pool, &done), DAG_ERR_STATE);
    ck_assert_int_eq(dag_add(other, g.pool), DAG_ERR_ARG);
    ck_assert_int_eq(dag_add(ctx, g.pool), DAG_SUCCESS);
    ck_assert_int_eq(dag_add(ctx, g.pool), DAG_ERR_STATE);
    ck_assert_int_eq(dag_wait(g.pool), DAG_SUCCESS);
    ck_assert_int_eq(dag_add(ctx, g.pool), DAG_ERR_STATE);
    dag_taskpool_free(g.pool);
    dag_taskpool_free(NULL);
    dag_taskpool_free(graph_new(ctx, GRAPH_STENCIL, 4, 4).pool); /* never added */
    ck_assert_int_eq(dag_barrier(ctx), DAG_SUCCESS);
    dag_fini(other);
    dag_fini(ctx);
}
END_TEST

START_TEST(failed_init)
{
    char why[256] = "";
    dag_context *ctx = NULL;
    setenv("DAG_THREDS", "2", 1);
    ck_assert_int_eq(dag_init(&ctx, NULL, why, sizeof why), DAG_ERR_SETTING);
    ck_assert_ptr_null(ctx);
    ck_assert_msg(strstr(why, "DAG_THREADS") != NULL, "%s", why);
    ck_assert_int_eq(dag_init(&ctx, NULL, NULL, 0), DAG_ERR_SETTING);
    unsetenv("DAG_THREDS");
    ck_assert_int_eq(dag_init(&ctx, NULL, why, sizeof why), DAG_SUCCESS);
    ck_assert_msg(strstr(dag_summary(ctx), "rank 0 of 1") != NULL, "%s", dag_summary(ctx));
    dag_fini(ctx);
}
END_TEST

static const dag_slot slots[] = {{"A", DAG_MEM_READ}};

START_TEST(constructors)
{
    static const dag_program old = {.abi = DAG_JDF_ABI + 1, .name = "old", .file = "old.jdf"};
    static const dag_program one = {
        .abi = DAG_JDF_ABI, .name = "one", .file = "one.jdf", .nslots = 1, .slots = slots};
    dag_context *ctx = start(0);
    ck_assert_ptr_null(dag_pool_new(ctx, &old, DAG_S));
    says(ctx, "compile it again");
    dag_taskpool *pool = dag_pool_new(ctx, &one, DAG_S);
    dag_pool_collection(pool, 0, NULL);
    ck_assert_ptr_null(dag_pool_ready(pool));
    says(ctx, "collection A is NULL");
    ck_assert_ptr_null(dag_pool_ready(dag_pool_new(ctx, &one, DAG_S)));
    says(ctx, "collection A is not bound");
    pool = dag_pool_new(ctx, &one, DAG_S);
    dag_pool_require(pool, 1, "1 > 0");
    dag_pool_require(pool, 0, "N >= 1 does not hold");
    dag_pool_require(pool, 0, "M >= 1 does not hold");
    ck_assert_ptr_null(dag_pool_ready(pool));
    says(ctx, "one: N >= 1 does not hold");
    ck_assert_ptr_null(dag_pool_ready(NULL));
    dag_fini(ctx);
}
END_TEST

/* A pool of program {A is read, B is written} over these two. */
static dag_taskpool *of_two(dag_context *ctx, dag_collection *a, dag_collection *b, dag_memory_mode mode)
{
    const dag_slot both[] = {{"A", DAG_MEM_READ}, {"B", mode}};
    const dag_program two = {.abi = DAG_JDF_ABI, .name = "two", .file = "two.jdf", .nslots = 2, .slots = both};
    dag_taskpool *pool = dag_pool_new(ctx, &two, DAG_D);
    dag_pool_collection(pool, 0, a);
    dag_pool_collection(pool, 1, b);
    bool good = dag_pool_ready(pool) != NULL;
    if (good)
        dag_taskpool_free(pool);
    return good ? pool : NULL;
}

START_TEST(two_views_of_one_matrix)
{
    dag_context *ctx = start(0);
    const dag_matrix_desc desc = {.prec = DAG_D, .m = 12, .n = 12, .mb = 4, .nb = 4, .name = "M"};
    dag_matrix *m, *other, top, left;
    ck_assert_int_eq(dag_matrix_new(ctx, &desc, &m), DAG_SUCCESS);
    ck_assert_int_eq(dag_matrix_new(ctx, &desc, &other), DAG_SUCCESS);
    dag_view_top(m, 4, 12, &top);
    dag_view_top(&top, 4, 8, &left);
    static const dag_memory_mode written[] = {DAG_MEM_DEFERRED, DAG_MEM_WRITE, DAG_MEM_INPLACE};
    for (int i = 0; i < 3; i++) {
        dag_collection *both[][2] = {{&m->super, &top.super}, {&top.super, &m->super}, {&left.super, &top.super}};
        for (int j = 0; j < 3; j++) {
            ck_assert_ptr_null(of_two(ctx, both[j][0], both[j][1], written[i]));
            says(ctx, "two: A and B show the memory of one collection (\"M\") in two ways, and B is written");
        }
        ck_assert_ptr_nonnull(of_two(ctx, &m->super, &m->super, written[i]));
        ck_assert_ptr_nonnull(of_two(ctx, &top.super, &other->super, written[i]));
    }
    ck_assert_ptr_nonnull(of_two(ctx, &m->super, &top.super, DAG_MEM_READ));
    dag_matrix_free(m);
    dag_matrix_free(other);
    dag_fini(ctx);
}
END_TEST

START_TEST(every_status_has_a_meaning)
{
    static const dag_status all[] = {
        DAG_SUCCESS, DAG_ERR_ARG, DAG_ERR_STATE, DAG_ERR_SETTING, DAG_ERR_UNSUPPORTED, DAG_ERR_TASK,
        DAG_ERR_GRAPH, DAG_ERR_MISMATCH, DAG_ERR_STALL, DAG_ERR_CANCELLED, DAG_ERR_NOMEM,
        DAG_ERR_IO, DAG_ERR_COMM, DAG_ERR_INTERNAL};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(dag_strerror(all[i]), dag_strerror(all[j]));
        ck_assert_str_ne(dag_strerror(all[i]), "unknown status");
    }
    ck_assert_str_eq(dag_strerror((dag_status)9999), "unknown status");
    ck_assert_int_gt((int)strlen(dag_version()), 0);
}
END_TEST

/* A message from another rank for a part that is over: of no matter in a pool that has failed, the
 * end of the job in any other. */
static void deliver_late(enum graph_kind kind, dag_status expected)
{
    dag_context *ctx = start(0);
    dag_value *values[DAG_MAX_FLOWS] = {NULL};
    const int32_t params[DAG_MAX_LOCALS] = {0};
    graph g = graph_new(ctx, kind, 5, 5);
    ck_assert_int_eq(run(ctx, g), expected);
    const dagi_delivery late = {.cls = dagi_pool_program(g.pool)->classes[0], .params = params,
                                .values = values};
    dagi_deliver(dagi_tasks(ctx)->workers[0], g.pool, &late);
    dag_taskpool_free(g.pool);
    dag_fini(ctx);
}

START_TEST(late_message_of_a_failed_pool)
{
    deliver_late(GRAPH_STALL, DAG_ERR_STALL);
}
END_TEST

START_TEST(late_message)
{
    deliver_late(GRAPH_CTL_CHAINS, DAG_SUCCESS);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("errors");
    tcase_add_loop_test(t, failing_body, 0, HOWS);
    tcase_add_loop_test(t, reported_info, 0, HOWS);
    tcase_add_loop_test(t, cancelled, 0, HOWS);
    tcase_add_loop_test(t, stall, 0, HOWS);
    tcase_add_loop_test(t, stall_among_others, 0, HOWS);
    tcase_add_loop_test(t, fini_after_stall, 0, HOWS);
    tcase_add_loop_test(t, test_sees_stall, 0, HOWS);
    tcase_add_loop_test(t, same_flow_twice, 0, HOWS);
    tcase_add_loop_test(t, more_control_than_awaited, 0, 2);
    tcase_add_loop_test(t, outside_of_the_space, 0, HOWS);
    tcase_add_test(t, misuse);
    tcase_add_test(t, failed_init);
    tcase_add_test(t, constructors);
    tcase_add_test(t, two_views_of_one_matrix);
    tcase_add_test(t, every_status_has_a_meaning);
    tcase_add_test(t, late_message_of_a_failed_pool);
    tcase_add_test_raise_signal(t, late_message, SIGABRT);
    Suite *s = suite_create("errors");
    suite_add_tcase(s, t);
    return run_suite(s);
}

/* All floors: a context begins, is what its settings say, and ends with nothing left. test_core and
 * test_errors have the rest. */
#include "../../../runtime/worker/worker.h"
#include "../../common/run_suite.h"
#include "../graphs.h"

#include <dag/dag.h>

#include <check.h>
#include <string.h>

static dag_context *start(const char *const *pairs, dag_status expected, char *why, size_t size)
{
    dag_context *ctx = NULL;
    dag_config *config = dag_config_new();
    for (; *pairs; pairs += 2)
        ck_assert_int_eq(dag_config_set(config, pairs[0], pairs[1], NULL, 0), DAG_SUCCESS);
    ck_assert_msg(dag_init(&ctx, config, why, size) == expected, "%s", why);
    dag_config_free(config);
    return ctx;
}

/* Ports that nobody needs stay empty; the crew's is always there. */
START_TEST(ports_are_filled_by_need)
{
    static const char *const plain[] = {"threads", "2", "gpus", "0", NULL};
    static const char *const checked[] = {"threads", "2", "gpus", "0", "check", "race", NULL};
    for (int i = 0; i < 2; i++) {
        char why[256] = "";
        dag_context *ctx = start(i ? checked : plain, DAG_SUCCESS, why, sizeof why);
        const struct dagi_tasks *tasks = dagi_tasks(ctx);
        ck_assert_ptr_eq(tasks->crew, &dagi_crew_tasks);
        ck_assert_ptr_null(tasks->remote);
        ck_assert_ptr_null(tasks->device);
        ck_assert_int_eq(tasks->observer != NULL, i);
        ck_assert_ptr_null(dagi_crew(ctx)->messages);
        ck_assert_ptr_null(dagi_crew(ctx)->manager);
        ck_assert(dagi_crew(ctx)->causes != NULL);
        ck_assert_int_eq(atomic_load(&dagi_crew(ctx)->attend), 0);
        ck_assert_uint_eq(dagi_runner(tasks->workers[0])->joins, i ? DAGI_GIVEN : UINT32_MAX);
        ck_assert_int_eq(dag_fini(ctx), DAG_SUCCESS);
    }
}
END_TEST

START_TEST(contexts_come_one_after_another_and_side_by_side)
{
    static const char *const sched[] = {"local", "global"};
    dag_context *ctx[2];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 2; i++) {
            const char *const pairs[] = {"threads", i ? "3" : "1", "sched", sched[i],
                                         "gpus",    "0",           NULL};
            char why[256] = "";
            ctx[i] = start(pairs, DAG_SUCCESS, why, sizeof why);
            ck_assert_int_eq(dag_rank(ctx[i]), 0);
            ck_assert_int_eq(dag_size(ctx[i]), 1);
            ck_assert_int_eq(dag_workers(ctx[i]), i ? 3 : 1);
            ck_assert_ptr_nonnull(strstr(dag_summary(ctx[i]), sched[i]));
        }
        for (int i = 0; i < 2; i++) {
            graph g = graph_new(ctx[i], GRAPH_STENCIL, 20, 20);
            _Atomic int64_t sum = 0;
            g.globals->sum = &sum;
            ck_assert_int_eq(dag_run(ctx[i], g.pool), DAG_SUCCESS);
            ck_assert_int_eq(sum, 400 * 399 / 2);
        }
        ck_assert_int_eq(dag_fini(ctx[0]), DAG_SUCCESS);
        ck_assert_int_eq(dag_fini(ctx[1]), DAG_SUCCESS);
    }
}
END_TEST

/* dag_fini() waits for pools that nobody has waited for. */
START_TEST(the_end_waits_for_pools)
{
    static const char *const pairs[] = {"threads", "1", "gpus", "0", NULL};
    char why[256] = "";
    _Atomic int64_t sum = 0;
    dag_context *ctx = start(pairs, DAG_SUCCESS, why, sizeof why);
    graph g = graph_new(ctx, GRAPH_INDEPENDENT, 1000, 1);
    g.globals->sum = &sum;
    ck_assert_int_eq(dag_add(ctx, g.pool), DAG_SUCCESS);
    ck_assert_int_eq(dag_fini(ctx), DAG_SUCCESS);
    ck_assert_int_eq(sum, 1000 * 999 / 2);
    dag_taskpool_free(g.pool);
}
END_TEST

START_TEST(a_start_that_fails_leaves_nothing)
{
    static const char *const gpus[] = {"threads",     "3",           "gpus", "1",
                                       "device_plugin", "cuda=/nowhere.so", NULL};
    static const char *const trace[] = {"threads",         "3", "gpus", "0", "trace",
                                        "/nowhere/at/all", NULL};
    char why[512] = "";
    ck_assert_ptr_null(start(gpus, DAG_ERR_DEVICE, why, sizeof why));
    ck_assert_ptr_nonnull(strstr(why, "gpus = 1"));
    ck_assert_ptr_null(start(trace, DAG_ERR_IO, why, sizeof why));
    ck_assert_ptr_nonnull(strstr(why, "/nowhere/at/all"));
    ck_assert_int_eq(dag_init(NULL, NULL, why, sizeof why), DAG_ERR_ARG);
    ck_assert_int_eq(dag_fini(NULL), DAG_ERR_ARG);
}
END_TEST

START_TEST(settings_tell_their_origin)
{
    static const char *const pairs[] = {"threads", "2", "gpus", "0", NULL};
    char why[256] = "";
    int found = 0;
    dag_setting s;
    dag_context *ctx = start(pairs, DAG_SUCCESS, why, sizeof why);
    for (int i = 0; dag_setting_get(ctx, i, &s); i++) {
        if (strcmp(s.name, "threads") != 0)
            continue;
        ck_assert_str_eq(s.value, "2");
        found++;
    }
    ck_assert_int_eq(found, 1);
    ck_assert_int_eq(dag_fini(ctx), DAG_SUCCESS);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("context");
    TCase *tcase = tcase_create("context");
    tcase_add_test(tcase, ports_are_filled_by_need);
    tcase_add_test(tcase, contexts_come_one_after_another_and_side_by_side);
    tcase_add_test(tcase, the_end_waits_for_pools);
    tcase_add_test(tcase, a_start_that_fails_leaves_nothing);
    tcase_add_test(tcase, settings_tell_their_origin);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}

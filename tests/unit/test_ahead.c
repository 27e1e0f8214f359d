/* What a worker tells the kernels of its tasks: what the first task of its queue reads. */
#include "../common/run_suite.h"
#include "test_ahead.h"

#include "ahead_pairs.h"
#include <dag/kernels.h>
#include <dag/vector.h>

#include <check.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { TASKS = 500, BYTES = 1000 };

static dag_ahead_ask *ask;
static const void *tile[TASKS], *expected[TASKS]; /* of a task; and what it was told comes next */
static int order[TASKS];
static _Atomic int tasks, again, wrong;

/* Instead of the kernel library's. */
void dag_kernels_ahead(dag_ahead_ask *asks)
{
    ask = asks;
}

void ahead_body(int i, const void *at)
{
    dag_ahead_block block[DAG_AHEAD_BLOCKS];
    int count = ask(block);
    order[atomic_fetch_add(&tasks, 1)] = i;
    tile[i] = at;
    expected[i] = count > 0 ? block[0].at : NULL;
    if (count < 0 || count > 1 || (count == 1 && block[0].bytes != BYTES))
        atomic_fetch_add(&wrong, 1);
    if (ask(block) != -1) /* the same task still runs */
        atomic_fetch_add(&again, 1);
}

static void run(const char *threads, const char *chaos)
{
    dag_context *ctx;
    dag_vector *vector;
    dag_shape shape = {.m = BYTES, .n = 1, .elem = 1};
    char why[256] = "";
    dag_config *config = dag_config_new();
    dag_config_set(config, "threads", threads, NULL, 0);
    dag_config_set(config, "chaos", chaos, NULL, 0);
    dag_config_set(config, "warnings", "off", NULL, 0);
    ck_assert_msg(dag_init(&ctx, config, why, sizeof why) == DAG_SUCCESS, "%s", why);
    dag_config_free(config);
    ck_assert_int_eq(dag_vector_new(ctx, TASKS, 0, &vector), DAG_SUCCESS);
    dag_taskpool *pool = ahead_pairs_new(ctx, vector, &shape, TASKS);
    ck_assert_ptr_nonnull(pool);
    tasks = again = wrong = 0;
    ck_assert_int_eq(dag_add(ctx, pool), DAG_SUCCESS);
    ck_assert_int_eq(dag_wait(pool), DAG_SUCCESS);
    ck_assert_int_eq(tasks, TASKS);
    ck_assert_int_eq(again, 0);
    ck_assert_int_eq(wrong, 0);
    dag_taskpool_free(pool);
    dag_vector_free(vector);
    dag_fini(ctx);
}

START_TEST(the_next_task_of_one_worker)
{
    run("1", "0");
    for (int k = 0; k < TASKS; k++)
        ck_assert_ptr_eq(expected[order[k]], k + 1 < TASKS ? tile[order[k + 1]] : NULL);
}
END_TEST

/* Others may take it first: it is some task's. */
START_TEST(tasks_of_several_workers)
{
    run("4", _i == 0 ? "0" : "7");
    int named = 0;
    for (int i = 0; i < TASKS; i++) {
        bool found = expected[i] == NULL;
        named += !found;
        for (int k = 0; k < TASKS && !found; k++)
            found = tile[k] == expected[i];
        ck_assert(found);
    }
    ck_assert_int_gt(named, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ahead");
    TCase *c = tcase_create("ahead");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, the_next_task_of_one_worker);
    tcase_add_loop_test(c, tasks_of_several_workers, 0, 2);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}

/* Users of pools with the floors below: what the application calls, on a context put together by hand. */
#include "../../common/run_suite.h"
#include "../graphs.h"
#include "hand_crew.h"

#include <dag/matrix.h>

static dag_context *start(int workers)
{
    dag_context *ctx = crew_new(workers);
    ctx->settings.warnings = 0;
    ck_assert_int_eq(dagi_workers_start(ctx), DAG_SUCCESS);
    return ctx;
}

START_TEST(a_pool_is_added_and_waited_for)
{
    dag_context *ctx = start(1 + _i);
    _Atomic int64_t sum = 0;
    int done = -1;
    dag_pool_stats stats;
    graph a = graph_new(ctx, GRAPH_WAVEFRONT, 20, 20),
          b = graph_new(ctx, GRAPH_INDEPENDENT, 100, 1);
    a.globals->sum = b.globals->sum = &sum;
    ck_assert_int_eq(dag_add(ctx, a.pool), DAG_SUCCESS);
    ck_assert_int_eq(dag_add(ctx, b.pool), DAG_SUCCESS);
    ck_assert_int_eq(dag_wait(b.pool), DAG_SUCCESS);
    while (!done || done < 0)
        ck_assert_int_eq(dag_test(a.pool, &done), DAG_SUCCESS);
    ck_assert_int_eq(sum, 400 * 399 / 2 + 100 * 99 / 2);
    dag_taskpool_stats(a.pool, &stats);
    ck_assert_int_eq(stats.tasks, 400);
    ck_assert_int_eq(dag_barrier(ctx), DAG_SUCCESS);
    ck_assert_int_eq(dag_wait(a.pool), DAG_SUCCESS); /* it has ended */
    dag_taskpool_free(a.pool);
    dag_taskpool_free(b.pool);
    crew_free(ctx);
}
END_TEST

START_TEST(calls_out_of_order_are_refused)
{
    dag_context *ctx = start(1), *other = start(1);
    int done;
    graph g = graph_new(ctx, GRAPH_INDEPENDENT, 10, 1);
    ck_assert_int_eq(dag_add(NULL, g.pool), DAG_ERR_ARG);
    ck_assert_int_eq(dag_add(ctx, NULL), DAG_ERR_ARG);
    ck_assert_int_eq(dag_add(other, g.pool), DAG_ERR_ARG);
    ck_assert_int_eq(dag_wait(g.pool), DAG_ERR_STATE);
    ck_assert_ptr_nonnull(strstr(dag_message(ctx), "was not added"));
    ck_assert_int_eq(dag_test(g.pool, &done), DAG_ERR_STATE);
    ck_assert_int_eq(dag_add(ctx, g.pool), DAG_SUCCESS);
    ck_assert_int_eq(dag_add(ctx, g.pool), DAG_ERR_STATE);
    dagi_worker_enter(dagi_tasks(ctx)->workers[0]); /* as in a body */
    ck_assert_int_eq(dag_wait(g.pool), DAG_ERR_STATE);
    ck_assert_int_eq(dag_barrier(ctx), DAG_ERR_STATE);
    dagi_worker_enter(NULL);
    dag_taskpool_free(g.pool); /* waits */
    ck_assert_int_eq(atomic_load(&dagi_runner(dagi_tasks(ctx)->workers[0])->done.completed), 10);
    crew_free(ctx);
    crew_free(other);
}
END_TEST

START_TEST(what_went_wrong_is_told)
{
    dag_context *ctx = start(2);
    graph g = graph_new(ctx, GRAPH_CTL_CHAINS, 4, 5);
    g.globals->fail_at = 7;
    ck_assert_int_eq(dag_add(ctx, g.pool), DAG_SUCCESS);
    ck_assert_int_eq(dag_wait(g.pool), DAG_ERR_TASK);
    ck_assert_ptr_nonnull(strstr(dag_message(ctx), "number 7 was told to"));
    dag_taskpool_free(g.pool);
    g = graph_new(ctx, GRAPH_STALL, 4, 1);
    ck_assert_int_eq(dag_run(ctx, g.pool), DAG_ERR_STALL);
    crew_free(ctx);
}
END_TEST

/* There and back: every element, whatever the tiles. */
START_TEST(a_matrix_is_scattered_and_gathered)
{
    enum { ROWS = 17, COLS = 13, LD = 20 };
    const dag_matrix_desc desc = {.prec = DAG_D,
                                  .m = ROWS,
                                  .n = COLS,
                                  .mb = 4,
                                  .nb = 5,
                                  .layout = _i ? DAG_LAYOUT_SLAB : DAG_LAYOUT_TILE};
    dag_context *ctx = start(2);
    dag_matrix *a = NULL;
    double in[LD * COLS], out[LD * COLS];
    for (int i = 0; i < LD * COLS; i++) {
        in[i] = i;
        out[i] = -1;
    }
    ck_assert_int_eq(dag_matrix_new(ctx, &desc, &a), DAG_SUCCESS);
    ck_assert_int_eq(dag_matrix_scatter(a, in, LD), DAG_SUCCESS);
    ck_assert_int_eq(dag_matrix_gather(a, out, LD), DAG_SUCCESS);
    for (int i = 0; i < LD * COLS; i++)
        ck_assert_double_eq(out[i], i % LD < ROWS ? i : -1);
    ck_assert_int_eq(dag_matrix_gather(a, out, ROWS - 1), DAG_ERR_ARG);
    dag_matrix_free(a);
    crew_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("clients");
    TCase *tcase = tcase_create("clients");
    tcase_add_loop_test(tcase, a_pool_is_added_and_waited_for, 0, 3);
    tcase_add_test(tcase, calls_out_of_order_are_refused);
    tcase_add_test(tcase, what_went_wrong_is_told);
    tcase_add_loop_test(tcase, a_matrix_is_scattered_and_gathered, 0, 2);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}

/* Communication with the floors below, on one rank: ports stay empty and nothing is sent. Several ranks,
 * without the rest of the runtime, are tests/integration/comm. */
#include "../../../runtime/comm/comm.h"
#include "../../../runtime/net/shapes.h"
#include "../../common/run_suite.h"
#include "../graphs.h"
#include "hand_crew.h"

static dag_context *context_with(int workers)
{
    char why[256] = "";
    dag_context *ctx = crew_new(workers);
    ctx->recorded = 7;
    ck_assert_msg(dagi_comm_init(ctx, NULL, NULL, why, sizeof why) == DAG_SUCCESS, "%s", why);
    return ctx;
}

START_TEST(one_rank_needs_no_ports)
{
    char why[256] = "";
    int64_t sent = -1, received = -1;
    dag_context *ctx = context_with(1);
    ck_assert_int_eq(ctx->rank, 0);
    ck_assert_int_eq(ctx->size, 1);
    ck_assert_int_eq(ctx->sharing, 1);
    ck_assert_int_eq(ctx->recorded, 7);
    ck_assert_ptr_nonnull(dagi_tasks(ctx)->comm);
    ck_assert_ptr_null(dagi_tasks(ctx)->remote);
    ck_assert_ptr_null(dagi_crew(ctx)->messages);
    ck_assert_int_eq(dagi_comm_open(ctx, DAG_SUCCESS, why, sizeof why), DAG_SUCCESS);
    dagi_comm_counts(ctx, &sent, &received);
    ck_assert_int_eq(sent, 0);
    ck_assert_int_eq(received, 0);
    ck_assert_int_eq(dagi_comm_congested(ctx), 0);
    ck_assert_int_eq(dagi_comm_outlook(ctx), 0);
    ck_assert_int_eq(dagi_comm_progress(dagi_tasks(ctx)->workers[0]), 0);
    ck_assert_str_eq(dagi_comm_no_bells(ctx), "");
    dagi_comm_fini(ctx);
    ck_assert_ptr_null(dagi_tasks(ctx)->comm);
    crew_free(ctx);
}
END_TEST

START_TEST(a_start_that_fails_says_so)
{
    char why[256] = "";
    dag_context *ctx = context_with(1);
    ck_assert_int_eq(dagi_comm_open(ctx, DAG_ERR_NOMEM, why, sizeof why), DAG_ERR_NOMEM);
    dagi_comm_fini(ctx);
    crew_free(ctx);
}
END_TEST

/* Who gets what of a task, as rank 1 of 4 sees it: each rank once for each flow, itself left out. */
START_TEST(a_fanout_counts_sends_of_a_flow)
{
    static const dag_flow flows[] = {{"A", DAG_RW, 1}, {"B", DAG_RW, 2}, {"C", DAG_CTL, 3}};
    static const dag_class cls = {.name = "T", .ndata = 2, .nflows = 3, .flows = flows};
    static const dag_edge a = {&cls, 0, 0, DAG_REGION_FULL, DAG_BCAST_AUTO, 0, 1};
    static const dag_edge b = {&cls, 1, 1, DAG_REGION_FULL, DAG_BCAST_AUTO, 0, 2};
    static const dag_edge c = {&cls, 2, 2, 0, DAG_BCAST_AUTO, 0, 3};
    static const int32_t none[DAG_BCAST_LEVELS - 1];
    dag_context *ctx = context_with(1);
    ctx->rank = 1;
    ctx->size = 4;
    dagi_fanout *f = dagi_fanout_new(ctx);
    ck_assert_int_eq(dagi_fanout_empty(f), 1);
    dagi_fanout_add(f, 1, &a, none); /* itself */
    dagi_fanout_add(f, 4, &a, none); /* the caller reports it */
    dagi_fanout_add(f, -1, &a, none);
    ck_assert_int_eq(dagi_fanout_empty(f), 1);
    dagi_fanout_add(f, 0, &a, none);
    dagi_fanout_add(f, 0, &a, none);
    dagi_fanout_add(f, 2, &a, none);
    dagi_fanout_add(f, 3, &b, none);
    dagi_fanout_add(f, 3, &c, none);
    ck_assert_int_eq(dagi_fanout_empty(f), 0);
    ck_assert_int_eq(dagi_fanout_refs(f, 0), 1); /* {0, 2} need the same: one send */
    ck_assert_int_eq(dagi_fanout_refs(f, 1), 1);
    dagi_fanout_add(f, 2, &b, none); /* now three groups */
    ck_assert_int_eq(dagi_fanout_refs(f, 0), 2);
    ck_assert_int_eq(dagi_fanout_refs(f, 1), 2);
    dagi_fanout_clear(f);
    ck_assert_int_eq(dagi_fanout_empty(f), 1);
    ck_assert_int_eq(dagi_fanout_refs(f, 0), 0);
    dagi_fanout_free(f);
    ctx->rank = 0;
    ctx->size = 1;
    dagi_comm_fini(ctx);
    crew_free(ctx);
}
END_TEST

/* Who asks for different trees, or for groups of different sizes, is not served together; who asks for none
 * goes with none. */
START_TEST(a_fanout_keeps_what_is_asked_for)
{
    static const dag_class cls = {.name = "T", .ndata = 1, .nflows = 1};
    const uint16_t hier = DAG_BCAST_CHAIN | DAG_BCAST_WITHIN(1, DAG_BCAST_FLAT);
    const dag_edge grouped = {&cls, 0, 0, DAG_REGION_FULL, hier, 0, 1};
    const dag_edge flat = {&cls, 0, 0, DAG_REGION_FULL, DAG_BCAST_FLAT, 0, 1};
    static const int32_t three[] = {3, 77, 77}, node[] = {DAG_BCAST_NODE, 1, 1}, less[] = {-5, 1, 1};
    dag_context *ctx = context_with(1);
    ctx->size = 8;
    dagi_fanout *f = dagi_fanout_new(ctx);
    int32_t ranks[8];
    dagi_fanout_add(f, 1, &grouped, three);
    dagi_fanout_add(f, 2, &grouped, three);
    dagi_fanout_add(f, 3, &grouped, node);
    dagi_fanout_add(f, 4, &flat, three);
    dagi_fanout_add(f, 5, &grouped, less);
    ck_assert_int_eq(dagi_fanout_parts(f), 4);
    dagi_fanout_part part = dagi_fanout_part_at(f, 0, ranks);
    ck_assert(part.count == 2 && part.tree.shapes == hier);
    ck_assert(part.tree.group[0] == 3 && part.tree.group[1] == 0 && part.tree.group[2] == 0);
    ck_assert_int_eq(dagi_fanout_part_at(f, 1, ranks).tree.group[0], DAG_BCAST_NODE);
    ck_assert_int_eq(dagi_fanout_part_at(f, 2, ranks).tree.shapes, DAG_BCAST_FLAT);
    ck_assert_int_eq(dagi_fanout_part_at(f, 3, ranks).tree.group[0], 1);
    dagi_fanout_free(f);
    ctx->size = 1;
    dagi_comm_fini(ctx);
    crew_free(ctx);
}
END_TEST

/* A pool runs and ends without a message. */
START_TEST(a_pool_of_one_rank_sends_nothing)
{
    char why[256] = "";
    int64_t sent, received;
    dag_context *ctx = context_with(2);
    ck_assert_int_eq(dagi_comm_open(ctx, DAG_SUCCESS, why, sizeof why), DAG_SUCCESS);
    ck_assert_int_eq(dagi_workers_start(ctx), DAG_SUCCESS);
    graph g = graph_new(ctx, GRAPH_STENCIL, 10, 20);
    ck_assert_int_eq(crew_run(ctx, g.pool), DAG_SUCCESS);
    ck_assert_int_eq(atomic_load(&dagi_pool(g.pool)->stats.messages), 0);
    ck_assert_int_eq(atomic_load(&dagi_pool(g.pool)->stats.tasks), 200);
    dagi_comm_counts(ctx, &sent, &received);
    ck_assert_int_eq(sent + received, 0);
    dagi_pool_destroy(g.pool);
    dagi_workers_stop(ctx);
    dagi_comm_fini(ctx);
    crew_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("comm");
    TCase *tcase = tcase_create("comm");
    tcase_add_test(tcase, one_rank_needs_no_ports);
    tcase_add_test(tcase, a_start_that_fails_says_so);
    tcase_add_test(tcase, a_fanout_counts_sends_of_a_flow);
    tcase_add_test(tcase, a_fanout_keeps_what_is_asked_for);
    tcase_add_test(tcase, a_pool_of_one_rank_sends_nothing);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}

/* The net with the ground floor alone: the table of engines, and the engine of one process. Views, shapes
 * and bells have tests of their own (test_view, test_tree, test_bell). */
#include "../../../runtime/net/engine.h"
#include "../../common/run_suite.h"

#include <check.h>
#include <string.h>

START_TEST(one_process_needs_no_network)
{
    const dagi_engine_options options = {
        .workers = 2, .am_max = 4096, .credit_bytes = 65536};
    char why[128] = "";
    dagi_engine *e = NULL;
    int origin = -1;
    int64_t sent = -1, received = -1;
    ck_assert_msg(dagi_engine_new(&options, &e, why, sizeof why) == DAG_SUCCESS, "%s", why);
    ck_assert_str_eq(e->ops->name, "self");
    ck_assert_int_eq(dagi_engine_is_up(), 0);
    ck_assert_int_eq(e->rank, 0);
    ck_assert_int_eq(e->size, 1);
    ck_assert_int_eq(e->sharing, 1);
    ck_assert_ptr_null(e->bells);
    ck_assert_ptr_null(e->ops->direct); /* there are no other ranks */
    ck_assert_int_eq(e->ops->agree(e, DAG_ERR_NOMEM, &origin), DAG_ERR_NOMEM);
    ck_assert_int_eq(origin, 0);
    ck_assert_int_eq(e->ops->progress(e), 0);
    ck_assert_int_eq(e->ops->under_way(e), 0);
    e->ops->am_counts(e, &sent, &received);
    ck_assert_int_eq(sent, 0);
    ck_assert_int_eq(received, 0);
    e->ops->call(e);
    e->ops->fini(e);
}
END_TEST

START_TEST(nobody_can_be_sent_to)
{
    const dagi_engine_options options = {.workers = 1};
    char why[128] = "";
    dagi_engine *e = NULL;
    ck_assert_int_eq(dagi_engine_new(&options, &e, why, sizeof why), DAG_SUCCESS);
    e->ops->am_begin(e, 0, 1, 8, 0); /* ends the process */
}
END_TEST

START_TEST(an_engine_is_asked_for_by_name)
{
    dagi_engine_options options = {.engine = "self", .workers = 1};
    char why[200] = "";
    dagi_engine *e = NULL;
    ck_assert_int_eq(dagi_engine_new(&options, &e, why, sizeof why), DAG_SUCCESS);
    ck_assert_str_eq(e->ops->name, "self");
    e->ops->fini(e);
    options.comm = &options; /* no engine of one process has communicators */
    ck_assert_int_eq(dagi_engine_new(&options, &e, why, sizeof why), DAG_ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(why, "'self'"));
    options.engine = "carrier-pigeons";
    ck_assert_int_eq(dagi_engine_new(&options, &e, why, sizeof why), DAG_ERR_SETTING);
    ck_assert_ptr_nonnull(strstr(why, "engine = carrier-pigeons: must be auto, or one of"));
    ck_assert_ptr_nonnull(strstr(why, "self"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("net");
    TCase *tcase = tcase_create("net");
    tcase_add_test(tcase, one_process_needs_no_network);
    tcase_add_test(tcase, an_engine_is_asked_for_by_name);
    tcase_add_test_raise_signal(tcase, nobody_can_be_sent_to, 6);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}

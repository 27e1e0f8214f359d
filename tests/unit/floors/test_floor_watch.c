/* Those who watch, with the floors below: what stands around bodies, and why tasks wait in vain. */
#include "../../../runtime/watch/race.h"
#include "../../../runtime/watch/watch.h"
#include "../../common/run_suite.h"
#include "../graphs.h"
#include "hand_crew.h"

#include <signal.h>

static dag_context *context_with(int check, double timeout)
{
    char why[256] = "";
    dag_context *ctx = crew_new(1);
    ctx->settings.check = check;
    ctx->settings.task_timeout = timeout;
    ck_assert_msg(dagi_observe(ctx, why, sizeof why) == DAG_SUCCESS, "%s", why);
    return ctx;
}

static void end(dag_context *ctx)
{
    dagi_observe_end(ctx);
    ck_assert_ptr_null(dagi_tasks(ctx)->observer);
    crew_free(ctx);
}

START_TEST(bodies_pay_where_a_setting_asks_for_it)
{
    dag_context *ctx = context_with(0, 0);
    ck_assert_ptr_null(dagi_tasks(ctx)->observer);
    ck_assert_ptr_null(dagi_tasks(ctx)->watcher);
    ck_assert_int_eq(dagi_unlocked(ctx), 1);
    ck_assert_ptr_nonnull(dagi_crew(ctx)->causes); /* costs nothing before a stall */
    end(ctx);
    ctx = context_with(1, 0);
    ck_assert_ptr_nonnull(dagi_tasks(ctx)->observer);
    ck_assert_ptr_nonnull(dagi_tasks(ctx)->race);
    ck_assert_ptr_null(dagi_runner(dagi_tasks(ctx)->workers[0])->watched);
    end(ctx);
    ctx = context_with(0, 1000);
    ck_assert_ptr_nonnull(dagi_tasks(ctx)->observer);
    ck_assert_ptr_nonnull(dagi_runner(dagi_tasks(ctx)->workers[0])->watched);
    ck_assert_int_eq(dagi_unlocked(ctx), 0); /* its thread reads the tables */
    end(ctx);
}
END_TEST

START_TEST(the_cause_of_a_stall_is_named)
{
    static const struct {
        enum graph_kind kind;
        const char *text;
    } cases[] = {{GRAPH_STALL, "wait for inputs that nobody will send"},
                 {GRAPH_HALF_STALL, "B(0)"}};
    dag_context *ctx = context_with(0, 0);
    graph g = graph_new(ctx, cases[_i].kind, 4, 1);
    ck_assert_int_eq(crew_run(ctx, g.pool), DAG_ERR_STALL);
    ck_assert_msg(strstr(dagi_pool(g.pool)->message, cases[_i].text) != NULL, "%s",
                  dagi_pool(g.pool)->message);
    dagi_pool_destroy(g.pool);
    end(ctx);
}
END_TEST

/* The thread sees what a worker is at from the begin of a body to its end. */
START_TEST(a_body_is_watched)
{
    dag_context *ctx = context_with(0, 1000);
    struct dagi_worker *w = dagi_tasks(ctx)->workers[0];
    const dagi_watched *slot = dagi_runner(w)->watched;
    const dag_program program = {.name = "t", .file = "t.jdf"};
    const dag_class cls = {.name = "T", .nparams = 1, .nlocals = 1};
    dag_taskpool pool = {.ctx = ctx, .program = &program};
    struct {
        struct dag_task task;
        int32_t local[2];
    } t = {{.cls = &cls, .pool = &pool}, {5, 0}};
    uint64_t number = slot->number;
    dagi_tasks(ctx)->observer->begin(w, &t.task);
    ck_assert_ptr_eq(slot->cls, &cls);
    ck_assert_int_eq(slot->local[0], 5);
    ck_assert_uint_eq(slot->number, number + 1);
    dagi_tasks(ctx)->observer->end(w, &t.task);
    ck_assert_ptr_null(slot->cls);
    end(ctx);
}
END_TEST

static void application(int number)
{
    (void)number;
}

/* The signal is taken while a context lives, one for all contexts, and given back behind the last. */
START_TEST(the_signal_is_given_back)
{
    char why[256] = "";
    struct sigaction before = {.sa_handler = application}, now;
    sigemptyset(&before.sa_mask);
    sigaction(SIGUSR2, &before, NULL);
    dag_context *ctx = crew_new(1), *other = crew_new(1);
    ctx->settings.report_signal = other->settings.report_signal = SIGUSR2;
    ck_assert_int_eq(dagi_observe(ctx, why, sizeof why), DAG_SUCCESS);
    sigaction(SIGUSR2, NULL, &now);
    ck_assert(now.sa_handler != application);
    other->settings.report_signal = SIGUSR1;
    ck_assert_int_eq(dagi_observe(other, why, sizeof why), DAG_ERR_STATE);
    ck_assert_ptr_nonnull(strstr(why, "another context"));
    dagi_observe_end(other);
    other->settings.report_signal = SIGUSR2;
    ck_assert_int_eq(dagi_observe(other, why, sizeof why), DAG_SUCCESS);
    dagi_observe_end(ctx);
    sigaction(SIGUSR2, NULL, &now);
    ck_assert(now.sa_handler != application);
    dagi_observe_end(other);
    sigaction(SIGUSR2, NULL, &now);
    ck_assert(now.sa_handler == application);
    crew_free(ctx);
    crew_free(other);
}
END_TEST

/* Graphs without a race run under the check as without it. */
START_TEST(a_right_graph_has_no_races)
{
    static const enum graph_kind kinds[] = {GRAPH_DATA_CHAINS, GRAPH_WAVEFRONT, GRAPH_DIAMOND};
    dag_context *ctx = context_with(1, 0);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        graph g = graph_new(ctx, kinds[i], 5, 6);
        dagi_pool_open(g.pool);
        dagi_pool_enlist(g.pool);
        dagi_tasks(ctx)->observer->pool_added(g.pool);
        dagi_pool_may_start(dagi_tasks(ctx)->workers[0], g.pool);
        dagi_run_until(dagi_tasks(ctx)->workers[0], hand_ended, g.pool);
        ck_assert_int_eq(dagi_pool(g.pool)->status, DAG_SUCCESS);
        dagi_pool_destroy(g.pool);
    }
    end(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("watch");
    TCase *tcase = tcase_create("watch");
    tcase_add_test(tcase, bodies_pay_where_a_setting_asks_for_it);
    tcase_add_loop_test(tcase, the_cause_of_a_stall_is_named, 0, 2);
    tcase_add_test(tcase, a_body_is_watched);
    tcase_add_test(tcase, the_signal_is_given_back);
    tcase_add_test(tcase, a_right_graph_has_no_races);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}

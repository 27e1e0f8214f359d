/* Workers of ranks that share processors: who of them computes, and for how long the others are in the way. */
#include "../../common/run_suite.h"
#include "hand_crew.h"

/* Two ranks count themselves in the same place, each once while any of its workers is active. */
START_TEST(ranks_that_compute_are_counted)
{
    _Atomic int32_t computing = 0;
    dag_context *ctx[2] = {crew_new(2), crew_new(1)};
    for (int r = 0; r < 2; r++)
        dagi_crew(ctx[r])->computing = &computing;
    struct dagi_worker *first = dagi_tasks(ctx[0])->workers[0], *second = dagi_tasks(ctx[0])->workers[1];
    struct dagi_worker *other = dagi_tasks(ctx[1])->workers[0];
    dagi_activate(first);
    ck_assert_int_eq(computing, 1);
    dagi_activate(second);
    ck_assert_int_eq(computing, 1);
    dagi_deactivate(first);
    ck_assert_int_eq(computing, 1);
    ck_assert(dagi_activate_alone(other, atomic_load(&dagi_crew(ctx[1])->activity)));
    ck_assert_int_eq(computing, 2);
    dagi_deactivate(second);
    ck_assert_int_eq(computing, 1);
    dagi_deactivate(other);
    ck_assert_int_eq(computing, 0);
    for (int r = 0; r < 2; r++)
        crew_free(ctx[r]);
}
END_TEST

/* Times in us. While nobody computes who waits is not in the way, but for ever it does not look. */
START_TEST(who_waits_is_in_the_way_of_those_that_compute)
{
    static const struct {
        int32_t computing;
        uint64_t now, time;
    } looks[] = {{0, 100, 0}, {0, 500, 0}, {1, 510, 10}, {2, 530, 30}, {0, 540, 0}, {1, 600, 60}, {0, 1000, 1000},
                 {0, 1001, 1001}};
    const uint64_t us = 1000, start = 1000000000;
    _Atomic int32_t computing;
    dag_context *ctx = crew_new(1);
    struct dagi_worker *w = dagi_tasks(ctx)->workers[0];
    dagi_crew(ctx)->computing = &computing;
    dagi_thread(w)->idle_since = start;
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        computing = looks[i].computing;
        ck_assert_uint_eq(dagi_in_the_way(w, start + looks[i].now * us), looks[i].time * us);
    }
    computing = 1; /* an event has come, so all that was before is forgotten */
    dagi_thread(w)->idle_since = start + 1100 * us;
    ck_assert_uint_eq(dagi_in_the_way(w, start + 1120 * us), 20 * us);
    crew_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("crowd");
    TCase *tcase = tcase_create("crowd");
    tcase_add_test(tcase, ranks_that_compute_are_counted);
    tcase_add_test(tcase, who_waits_is_in_the_way_of_those_that_compute);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}

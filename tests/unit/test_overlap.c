/* dagi_overlap_tell(): which transfers and messages belong to which phase, and which of them were hidden. */
#include "../common/run_suite.h"
#include "trace/file/model.h"
#include "trace/trace.h"

#include <check.h>
#include <stdlib.h>

static dagt_program programs[] = {{.name = (char[]){"fill"}}, {.name = (char[]){"factor"}}};
static dagt_pool pools[] = {{.program = 0, .begin = 0, .end = 100},
                            {.program = 1, .begin = 110, .end = 1000},
                            {.program = -1, .begin = 1000, .end = 2000}};

/* Ranks 0 and 1 of the first phase, 2 of the second. */
static int phase_of(void *arg, const char *program, int rank, int peer)
{
    ++*(int *)arg;
    ck_assert_int_ne(rank, peer);
    return program[0] != 'f' || program[1] != 'a' ? -1 : peer < 2 ? 0 : 1;
}

static dagt_flight flight(int64_t begin, int64_t end, uint32_t peer)
{
    return (dagt_flight){.begin = begin, .end = end, .peer = peer};
}

START_TEST(phases_are_told_apart)
{
    dagt_task body = {.begin = 250, .end = 400};
    dagt_flight flights[] = {flight(50, 90, 1),     /* of the pool before */
                             flight(105, 120, 1),   /* sent by who was there already */
                             flight(200, 300, 1), flight(260, 360, 2), flight(500, 600, 2),
                             flight(550, 700, 1), flight(1500, 1600, 1)};
    dagt_track tracks[] = {{.kind = DAGT_TRACK_WORKER, .tasks = &body, .ntasks = 1},
                           {.kind = DAGT_TRACK_LINKS, .flights = flights,
                            .nflights = sizeof flights / sizeof flights[0]}};
    dagt_rank rank = {.nprograms = 2, .programs = programs, .npools = 3, .pools = pools, .ntracks = 2,
                      .tracks = tracks};
    dagt_trace trace = {.nranks = 1, .ranks = &rank};
    dag_overlap sums[3];
    int asked = 0;
    const dagi_overlap_wish wish = {2, phase_of, &asked, sums};
    ck_assert_int_eq(dagi_overlap_tell(&wish, &trace), 0);
    const double expected[3][2] = {{15 + 100 + 150, 15 + 50 + 150}, {100 + 100, 100},
                                   {15 + 160 + 200, 15 + 50 + 200}};
    for (int i = 0; i < 3; i++) {
        ck_assert_double_eq_tol(sums[i].all, 1e-9 * expected[i][0], 1e-15);
        ck_assert_double_eq_tol(sums[i].exposed, 1e-9 * expected[i][1], 1e-15);
    }
    ck_assert_int_eq(asked, 3 * 6); /* what ran at the last one is not in the trace */
}
END_TEST

START_TEST(ranks_are_summed_up)
{
    dagt_flight flights[2] = {flight(200, 300, 1), flight(210, 310, 0)};
    dagt_track tracks[2] = {{.kind = DAGT_TRACK_LINKS, .flights = &flights[0], .nflights = 1},
                            {.kind = DAGT_TRACK_LINKS, .flights = &flights[1], .nflights = 1}};
    dagt_rank ranks[2];
    for (int r = 0; r < 2; r++)
        ranks[r] = (dagt_rank){.head = {.rank = (uint64_t)r}, .nprograms = 2, .programs = programs,
                               .npools = 3, .pools = pools, .ntracks = 1, .tracks = &tracks[r]};
    dagt_trace trace = {.nranks = 2, .ranks = ranks};
    dag_overlap sums[2];
    int asked = 0;
    const dagi_overlap_wish wish = {1, phase_of, &asked, sums}, none = {0};
    ck_assert_int_eq(dagi_overlap_tell(&wish, &trace), 0);
    ck_assert_double_eq_tol(sums[0].all, 200e-9, 1e-15);
    ck_assert_double_eq_tol(sums[1].exposed, 200e-9, 1e-15);
    ck_assert_int_eq(dagi_overlap_tell(&none, &trace), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("overlap");
    TCase *tests = tcase_create("sums");
    tcase_add_test(tests, phases_are_told_apart);
    tcase_add_test(tests, ranks_are_summed_up);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}

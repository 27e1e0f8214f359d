/* What kernels and transfers take, the choice between cores and devices, and the file of times. */
#include "../common/run_suite.h"
#include "../../runtime/device/choice.h"

#include <check.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CORES, FIRST, SECOND, PLACES, MEGA = 1 << 20 };

static const dagi_choice_place places[PLACES] = {{"cpu"}, {"gpu"}, {"gpu"}};

static dagi_choice_class *gemm(dagi_choice *c)
{
    return dagi_choice_class_of(c, "potrf", DAG_D, "GEMM");
}

static void learn(dagi_choice *c, int place, uint64_t size, double seconds, int times)
{
    while (times-- > 0)
        dagi_choice_learn(c, gemm(c), place, size, seconds);
}

static int about(double a, double b)
{
    return fabs(a - b) < 0.02 * b;
}

START_TEST(median_of_the_last)
{
    dagi_choice *c = dagi_choice_new(places, PLACES);
    ck_assert(dagi_choice_kernel(c, gemm(c), FIRST, MEGA) == DAGI_CHOICE_UNKNOWN);
    ck_assert(dagi_choice_expect(c, gemm(c), FIRST, MEGA) > 0);
    learn(c, FIRST, MEGA, 5, 1); /* loads its code */
    learn(c, FIRST, MEGA, 1e-3, 1);
    ck_assert(dagi_choice_kernel(c, gemm(c), FIRST, MEGA) == 1e-3);
    learn(c, FIRST, MEGA, 2e-3, 10);
    learn(c, FIRST, MEGA, 1, 4);
    ck_assert(dagi_choice_kernel(c, gemm(c), FIRST, MEGA) == 2e-3);
    learn(c, FIRST, MEGA, 3e-3, 8); /* more than half of what counts */
    ck_assert(dagi_choice_kernel(c, gemm(c), FIRST, MEGA) == 3e-3);
    /* Devices of one model know the same, other places and classes nothing. */
    ck_assert(dagi_choice_kernel(c, gemm(c), SECOND, MEGA) == 3e-3);
    ck_assert(dagi_choice_kernel(c, gemm(c), CORES, MEGA) == DAGI_CHOICE_UNKNOWN);
    dagi_choice_class *other[] = {dagi_choice_class_of(c, "potrf", DAG_S, "GEMM"),
                                  dagi_choice_class_of(c, "potrf", DAG_D, "TRSM"),
                                  dagi_choice_class_of(c, "getrf", DAG_D, "GEMM"), NULL};
    for (int i = 0; i < 4; i++)
        ck_assert(dagi_choice_kernel(c, other[i], FIRST, MEGA) == DAGI_CHOICE_UNKNOWN);
    ck_assert_ptr_eq(gemm(c), gemm(c));
    dagi_choice_learn(c, gemm(c), CORES, MEGA, NAN);
    dagi_choice_learn(c, gemm(c), CORES, MEGA, INFINITY);
    dagi_choice_learn(c, NULL, CORES, MEGA, 1);
    ck_assert(dagi_choice_kernel(c, gemm(c), CORES, MEGA) == DAGI_CHOICE_UNKNOWN);
    dagi_choice_learn(c, gemm(c), CORES, 0, 0);
    ck_assert(dagi_choice_kernel(c, gemm(c), CORES, 0) > 0);
    dagi_choice_free(c);
}
END_TEST

START_TEST(sizes_between)
{
    dagi_choice *c = dagi_choice_new(places, PLACES);
    learn(c, FIRST, 1 << 20, 1, 3);
    learn(c, FIRST, 1 << 22, 16, 3);
    ck_assert(about(dagi_choice_kernel(c, gemm(c), FIRST, 1 << 21), 4));
    ck_assert_int_eq(dagi_choice_known(c, gemm(c), FIRST, 1 << 20), 3);
    ck_assert_int_eq(dagi_choice_known(c, gemm(c), FIRST, 1 << 21), 0); /* its neighbours tell */
    ck_assert_int_eq(dagi_choice_known(c, gemm(c), CORES, 1 << 20), 0);
    ck_assert_int_eq(dagi_choice_known(c, NULL, FIRST, 1 << 20), 0);
    ck_assert(about(dagi_choice_kernel(c, gemm(c), FIRST, 1 << 19), 0.5));
    ck_assert(about(dagi_choice_kernel(c, gemm(c), FIRST, 1 << 23), 32));
    ck_assert(dagi_choice_kernel(c, gemm(c), FIRST, 1 << 25) == DAGI_CHOICE_UNKNOWN);
    ck_assert(dagi_choice_kernel(c, gemm(c), FIRST, UINT64_MAX) == DAGI_CHOICE_UNKNOWN);
    dagi_choice_free(c);
}
END_TEST

/* Where nothing is known the guess of a kind is corrected by what other classes took there. */
START_TEST(guesses_learn)
{
    dagi_choice *c = dagi_choice_new(places, PLACES);
    double before = dagi_choice_expect(c, NULL, CORES, MEGA);
    for (int i = 0; i < 5; i++) {
        char name[8];
        snprintf(name, sizeof(name), "T%d", i);
        dagi_choice_class *cls = dagi_choice_class_of(c, "p", DAG_D, name);
        dagi_choice_learn(c, cls, CORES, MEGA, i == 0 ? 100 : 3 * before);
    }
    ck_assert(about(dagi_choice_expect(c, NULL, CORES, MEGA), 3 * before));
    ck_assert(dagi_choice_expect(c, NULL, FIRST, MEGA) < before);
    dagi_choice_free(c);
}
END_TEST

START_TEST(links)
{
    dagi_choice *c = dagi_choice_new(places, PLACES);
    ck_assert(dagi_choice_move(c, 0, 0, MEGA) == 0 && dagi_choice_move(c, 0, 1, 0) == 0);
    ck_assert(dagi_choice_move(c, 0, 1, MEGA) > 0);
    for (int i = 0; i < 9; i++) {
        dagi_choice_learn_move(c, 0, 1, 4096, i == 3 ? 1 : 5e-6);
        dagi_choice_learn_move(c, 0, 1, 50 * MEGA, i == 3 ? 10 : 5e-6 + 50e-6 * MEGA / 1e6);
    }
    ck_assert(about(dagi_choice_move(c, 0, 1, 8), 5e-6));
    ck_assert(about(dagi_choice_move(c, 0, 1, 1000000000), 1e-3));
    ck_assert(about(dagi_choice_move(c, 0, 2, 1000000000), 1e-3)); /* same model */
    ck_assert(dagi_choice_move(c, 1, 0, 1000000000) > 2e-3);
    dagi_choice_learn_move(c, 1, 0, 0, 5);
    dagi_choice_learn_move(c, 1, 0, MEGA, NAN);
    ck_assert(dagi_choice_move(c, 1, 0, 1000000000) < 1);
    dagi_choice_free(c);
}
END_TEST

START_TEST(least_completion_wins)
{
    dagi_choice *c = dagi_choice_new(places, PLACES);
    learn(c, CORES, MEGA, 10e-3, 3);
    learn(c, FIRST, MEGA, 1e-3, 3);
    dagi_candidate all[] = {{CORES, 0, 0, 0}, {FIRST, 0, 2e-3, 0}, {SECOND, 0, 0, 0}};
    ck_assert_int_eq(dagi_choice_best(c, gemm(c), MEGA, all, 3), 2);
    ck_assert(all[0].kernel == 10e-3 && all[1].kernel == 1e-3);
    all[2].backlog = 3e-3;
    ck_assert_int_eq(dagi_choice_best(c, gemm(c), MEGA, all, 3), 1);
    all[1].backlog = all[2].backlog = 12e-3;
    ck_assert_int_eq(dagi_choice_best(c, gemm(c), MEGA, all, 3), 0);
    all[0].move = 4e-3; /* its inputs are on a device */
    ck_assert_int_eq(dagi_choice_best(c, gemm(c), MEGA, all, 3), 2);
    all[2].backlog = 14e-3; /* and still the cores win */
    all[1].backlog = 14e-3;
    ck_assert_int_eq(dagi_choice_best(c, gemm(c), MEGA, all, 3), 0);
    ck_assert_int_eq(dagi_choice_trials(c), 0);
    ck_assert_int_eq(dagi_choice_best(c, NULL, MEGA, all, 1), 0);
    dagi_choice_free(c);
}
END_TEST

static const dagi_policy *policy(const char *name)
{
    char names[64];
    const dagi_policy *found = dagi_policy_named(name, names, sizeof names);
    ck_assert_ptr_nonnull(found);
    return found;
}

START_TEST(policies_are_named)
{
    char names[64] = "", few[6];
    ck_assert_ptr_eq(policy("time")->place, dagi_choice_best);
    ck_assert_ptr_null(dagi_policy_named("luck", names, sizeof names));
    ck_assert_str_eq(names, "time, near, turn");
    ck_assert_ptr_null(dagi_policy_named("luck", few, sizeof few)); /* cut off */
    ck_assert_str_eq(few, "time,");
}
END_TEST

START_TEST(near_goes_where_the_inputs_are)
{
    const dagi_policy *near = policy("near");
    dagi_choice *c = dagi_choice_new(places, PLACES);
    near->learn(c, gemm(c), FIRST, MEGA, 7e-3); /* learned by both: they are one model */
    near->learn(c, gemm(c), FIRST, MEGA, 7e-3);
    near->learn(c, gemm(c), FIRST, MEGA, 7e-3);
    dagi_candidate all[] = {{FIRST, 0, 2e-3, 0}, {SECOND, 9, 1e-3, 0}, {CORES, 0, 0, 0}};
    ck_assert_int_eq(near->place(c, gemm(c), MEGA, all, 3), 1); /* however much it has to do */
    ck_assert(about(all[1].kernel, 7e-3));
    all[1].move = 2e-3; /* as near: the one with less to do */
    ck_assert_int_eq(near->place(c, gemm(c), MEGA, all, 3), 0);
    all[0].backlog = 9;
    ck_assert_int_eq(near->place(c, gemm(c), MEGA, all, 3), 0); /* the first of equals */
    ck_assert_int_eq(near->place(c, gemm(c), MEGA, all + 2, 1), 0); /* a core alone */
    dagi_choice_free(c);
}
END_TEST

START_TEST(turn_takes_each_device)
{
    const dagi_policy *turn = policy("turn");
    dagi_choice *c = dagi_choice_new(places, PLACES);
    dagi_candidate all[] = {{FIRST, 9, 9, 0}, {SECOND, 0, 0, 0}, {CORES, 0, 0, 0}};
    for (int i = 0; i < 7; i++) {
        ck_assert_int_eq(turn->place(c, gemm(c), MEGA, all, 3), i % 2);
        ck_assert(all[i % 2].kernel > 0);
        turn->learn(c, gemm(c), FIRST, MEGA, 1);
    }
    ck_assert(dagi_choice_kernel(c, gemm(c), FIRST, MEGA) < 0); /* nothing was learned */
    ck_assert_int_eq(turn->place(c, gemm(c), MEGA, all + 2, 1), 0);
    dagi_choice_free(c);
}
END_TEST

/* A place that was never tried is, a few times, and then taken for what it is. */
START_TEST(trials_end)
{
    dagi_choice *c = dagi_choice_new(places, PLACES);
    learn(c, CORES, MEGA, 1e-3, 3);
    int given = 0;
    for (int i = 0; i < 100; i++) {
        dagi_candidate two[] = {{CORES, 0, 0, 0}, {FIRST, 0.3e-3, 0, 0}};
        if (dagi_choice_best(c, gemm(c), MEGA, two, 2) == 1) {
            given++;
            dagi_choice_learn(c, gemm(c), FIRST, MEGA, given == 1 ? 1 : 5e-3);
        }
    }
    ck_assert_int_eq(given, DAGI_CHOICE_TRIES);
    ck_assert_int_gt(dagi_choice_trials(c), 0);
    /* Also where nothing is ever heard of them. */
    dagi_choice_class *silent = dagi_choice_class_of(c, "p", DAG_D, "SILENT");
    for (int i = given = 0; i < 3; i++)
        dagi_choice_learn(c, silent, CORES, MEGA, 1e-9);
    for (int i = 0; i < 100; i++) {
        dagi_candidate two[] = {{CORES, 1e-3, 0, 0}, {FIRST, 0, 0, 0}};
        two[1].backlog = 1e-3 - 0.3 * dagi_choice_expect(c, silent, FIRST, MEGA);
        given += dagi_choice_best(c, silent, MEGA, two, 2) == 1;
    }
    ck_assert_int_eq(given, DAGI_CHOICE_TRIES);
    dagi_choice_free(c);
}
END_TEST

/* A large task is not tried on a core where even a quarter of the guess would be far too long. */
START_TEST(trials_do_not_ruin_the_run)
{
    dagi_choice *c = dagi_choice_new(places, PLACES);
    uint64_t size = (uint64_t)400 * MEGA; /* three tiles of 4096 x 4096 */
    learn(c, FIRST, size, 5e-3, 3);
    for (int i = 0; i < 100; i++) {
        dagi_candidate two[] = {{CORES, 0, 0, 0}, {FIRST, 0.1, 0, 0}};
        ck_assert_int_eq(dagi_choice_best(c, gemm(c), size, two, 2), 1);
    }
    /* A core that was tried once is known well enough. */
    learn(c, CORES, size, 0.2, 1);
    dagi_candidate two[] = {{CORES, 0, 0, 0}, {FIRST, 0.1, 0, 0}};
    ck_assert_int_eq(dagi_choice_best(c, gemm(c), size, two, 2), 1);
    two[1].backlog = 1;
    ck_assert_int_eq(dagi_choice_best(c, gemm(c), size, two, 2), 0);
    dagi_choice_free(c);
}
END_TEST

/* What cores take for a size that none has run follows from another one and from what devices took for both, and is no
 * reason for a trial. */
START_TEST(cores_take_longer_as_devices_do)
{
    dagi_choice *c = dagi_choice_new(places, PLACES);
    uint64_t narrow = 16 * MEGA, wide = 40 * MEGA, wider = 24 * MEGA;
    learn(c, CORES, narrow, 30e-3, 1);
    learn(c, FIRST, narrow, 1e-3, 3);
    ck_assert(dagi_choice_kernel(c, gemm(c), CORES, wide) == DAGI_CHOICE_UNKNOWN);
    ck_assert(about(dagi_choice_kernel(c, gemm(c), CORES, wider), 30e-3 * exp2(2.0 / 4))); /* by its size */
    learn(c, FIRST, wide, 90e-3, 1);
    /* A device's first time tells little. */
    ck_assert(dagi_choice_kernel(c, gemm(c), CORES, wide) == DAGI_CHOICE_UNKNOWN);
    learn(c, FIRST, wide, 10e-3, 1);
    learn(c, FIRST, wider, 7e-3, 3);
    ck_assert(about(dagi_choice_kernel(c, gemm(c), CORES, wide), 300e-3));
    ck_assert(about(dagi_choice_kernel(c, gemm(c), CORES, wider), 210e-3));
    dagi_candidate two[] = {{FIRST, 200e-3, 0, 0}, {CORES, 0, 0, 0}};
    ck_assert_int_eq(dagi_choice_best(c, gemm(c), wide, two, 2), 0);
    ck_assert_int_eq(dagi_choice_trials(c), 0);
    two[0].backlog = 400e-3;
    ck_assert_int_eq(dagi_choice_best(c, gemm(c), wide, two, 2), 1);
    /* Devices are faster the larger it is: what cores took does not tell. */
    learn(c, CORES, 160 * MEGA, 3, 3);
    ck_assert(dagi_choice_kernel(c, gemm(c), FIRST, 160 * MEGA) == DAGI_CHOICE_UNKNOWN);
    dagi_choice_free(c);
}
END_TEST

/* Kernels of a device that ran beside each other seem short, whatever their size: a core takes longer for a larger task
 * all the same, and less for a smaller one. */
START_TEST(cores_take_longer_for_more)
{
    dagi_choice *c = dagi_choice_new(places, PLACES);
    uint64_t small = 4 * MEGA, large = 20 * MEGA; /* nine steps apart */
    learn(c, CORES, small, 3e-3, 1);
    learn(c, FIRST, small, 4e-3, 2);
    learn(c, FIRST, large, 1e-3, 2);
    double least = 3e-3 * exp2(9.0 / 4);
    ck_assert(about(dagi_choice_kernel(c, gemm(c), CORES, large), least));
    dagi_candidate two[] = {{FIRST, 0.9 * least, 0, 0}, {CORES, 0, 0, 0}};
    ck_assert_int_eq(dagi_choice_best(c, gemm(c), large, two, 2), 0);
    dagi_choice_class *down = dagi_choice_class_of(c, "potrf", DAG_D, "DOWN");
    dagi_choice_learn(c, down, CORES, large, 16e-3);
    for (int i = 0; i < 2; i++) {
        dagi_choice_learn(c, down, FIRST, large, 1e-3);
        dagi_choice_learn(c, down, FIRST, small, 4e-3);
    }
    ck_assert(about(dagi_choice_kernel(c, down, CORES, small), 16e-3 * exp2(-9.0 / 4)));
    dagi_choice_free(c);
}
END_TEST

/* Of a size that no core has run, and of which devices tell nothing, smaller ones tell what a trial takes at least. */
START_TEST(trials_count_what_smaller_ones_took)
{
    dagi_choice *c = dagi_choice_new(places, PLACES);
    uint64_t small = 16 * MEGA, large = 40 * MEGA; /* five steps apart: not near */
    learn(c, CORES, small, 30e-3, 1);
    learn(c, FIRST, large, 1e-3, 3);
    double least = 30e-3 * exp2(5.0 / 4);
    ck_assert(dagi_choice_kernel(c, gemm(c), CORES, large) == DAGI_CHOICE_UNKNOWN);
    dagi_candidate two[] = {{FIRST, 0.7 * least, 0, 0}, {CORES, 0, 0, 0}};
    ck_assert(dagi_choice_expect(c, gemm(c), CORES, large) / 4 < two[0].backlog); /* hope alone would try it */
    ck_assert_int_eq(dagi_choice_best(c, gemm(c), large, two, 2), 0);
    ck_assert_int_eq(dagi_choice_trials(c), 0);
    two[0].backlog = 1.1 * least; /* and where it would win with that it is tried */
    ck_assert_int_eq(dagi_choice_best(c, gemm(c), large, two, 2), 1);
    /* Much smaller ones make a guess larger that is too small. */
    dagi_choice_class *slow = dagi_choice_class_of(c, "potrf", DAG_D, "SLOW");
    dagi_choice_learn(c, slow, CORES, small, 10);
    ck_assert(dagi_choice_expect(c, slow, CORES, large) >= 10 * exp2(5.0 / 4) * 0.99);
    dagi_choice_free(c);
}
END_TEST

/* Guesses run on the clock by which times are told. */
START_TEST(guesses_on_a_slower_clock)
{
    dagi_choice *c = dagi_choice_new(places, PLACES), *slow = dagi_choice_new(places, PLACES);
    dagi_choice_slower(slow, 200);
    for (int place = CORES; place <= FIRST; place++)
        ck_assert(about(dagi_choice_expect(slow, NULL, place, MEGA), 200 * dagi_choice_expect(c, NULL, place, MEGA)));
    ck_assert(about(dagi_choice_move(slow, CORES, FIRST, MEGA), 200 * dagi_choice_move(c, CORES, FIRST, MEGA)));
    double guess = dagi_choice_expect(slow, NULL, CORES, MEGA);
    dagi_choice_learn(slow, gemm(slow), CORES, MEGA, 3 * guess); /* what is measured is as it is */
    ck_assert(about(dagi_choice_kernel(slow, gemm(slow), CORES, MEGA), 3 * guess));
    ck_assert(about(dagi_choice_expect(slow, NULL, CORES, MEGA), 3 * guess));
    /* 30 us of it are a start, and tell cores nothing of their times; 40 us of the node's do. */
    dagi_choice_class *of[] = {dagi_choice_class_of(slow, "p", DAG_D, "A"), dagi_choice_class_of(slow, "p", DAG_D, "B")};
    const double took[] = {30e-6, 50e-6};
    for (int i = 0; i < 2; i++) {
        dagi_choice_learn(slow, of[i], CORES, MEGA, 1);
        for (int k = 0; k < 2; k++) {
            dagi_choice_learn(slow, of[i], FIRST, MEGA, 200 * took[i]);
            dagi_choice_learn(slow, of[i], FIRST, 2 * MEGA, 200 * 4 * took[i]);
        }
    }
    ck_assert(about(dagi_choice_kernel(slow, of[0], CORES, 2 * MEGA), 2)); /* by its size */
    ck_assert(about(dagi_choice_kernel(slow, of[1], CORES, 2 * MEGA), 4));
    dagi_choice_free(c);
    dagi_choice_free(slow);
}
END_TEST

/* One slow first run on a device, which loads its code, does not rule it out. */
START_TEST(first_run_on_a_device)
{
    dagi_choice *c = dagi_choice_new(places, PLACES);
    learn(c, CORES, MEGA, 1e-3, 3);
    learn(c, FIRST, MEGA, 0.2, 1);
    int given = 0;
    for (int i = 0; i < 10; i++) {
        dagi_candidate two[] = {{CORES, 0, 0, 0}, {FIRST, 0, 0, 0}};
        if (dagi_choice_best(c, gemm(c), MEGA, two, 2) == 1) {
            learn(c, FIRST, MEGA, 1e-4, 1);
            given++;
        }
    }
    ck_assert_int_eq(given, 10);
    dagi_choice_free(c);
}
END_TEST

/* ---- threads -------------------------------------------------------------------------------- */

static void *learn_and_choose(void *arg)
{
    dagi_choice *c = arg;
    for (int i = 0; i < 3000; i++) {
        char name[8];
        snprintf(name, sizeof(name), "C%d", i % 37);
        dagi_choice_class *cls = dagi_choice_class_of(c, "threads", DAG_D, name);
        dagi_candidate all[] = {{CORES, 0, 0, 0}, {FIRST, 0, 0, 0}};
        uint64_t size = (uint64_t)1 << (10 + i % 5);
        int place = all[dagi_choice_best(c, cls, size, all, 2)].place;
        dagi_choice_learn(c, cls, place, size, 1e-3 * (1 + place));
        dagi_choice_learn_move(c, CORES, FIRST, size * 64, 1e-3);
    }
    return NULL;
}

START_TEST(many_threads)
{
    enum { THREADS = 3 };
    dagi_choice *c = dagi_choice_new(places, PLACES);
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, learn_and_choose, c), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    dagi_choice_class *cls = dagi_choice_class_of(c, "threads", DAG_D, "C5");
    ck_assert(dagi_choice_kernel(c, cls, CORES, 1 << 10) == 1e-3);
    dagi_choice_free(c);
}
END_TEST

/* ---- the file ------------------------------------------------------------------------------- */

static char directory[] = "/tmp/test_choice.XXXXXX", path[64], why[512];

static void setup(void)
{
    strcpy(directory + strlen(directory) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/times", directory);
    why[0] = '\0';
}

static void teardown(void)
{
    unlink(path);
    ck_assert_int_eq(rmdir(directory), 0); /* nothing was left behind */
}

static void write_file(const char *text)
{
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static char *read_file(void)
{
    static char text[4096];
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    fclose(f);
    return text;
}

START_TEST(comes_back)
{
    dagi_choice *c = dagi_choice_new(places, PLACES), *d = dagi_choice_new(places, PLACES);
    ck_assert_int_eq(dagi_choice_load(c, path, why, sizeof(why)), 0); /* none yet */
    learn(c, FIRST, MEGA, 1.5e-3, 5);
    learn(c, CORES, 3 * MEGA, 0.25, 1);
    for (int i = 0; i < 3; i++) {
        dagi_choice_learn_move(c, CORES, FIRST, 1024, 7e-6);
        dagi_choice_learn_move(c, CORES, FIRST, 100 * MEGA, 5e-3);
    }
    ck_assert_int_eq(dagi_choice_save(c, path, why, sizeof(why)), 0);
    ck_assert_int_eq(dagi_choice_load(d, path, why, sizeof(why)), 0);
    ck_assert(about(dagi_choice_kernel(d, gemm(d), SECOND, MEGA), 1.5e-3));
    ck_assert(about(dagi_choice_kernel(d, gemm(d), CORES, 3 * MEGA), 0.25));
    ck_assert(about(dagi_choice_move(d, CORES, FIRST, 100 * MEGA),
                    dagi_choice_move(c, CORES, FIRST, 100 * MEGA)));
    dagi_candidate two[] = {{CORES, 0, 0, 0}, {FIRST, 0.1, 0, 0}};
    dagi_choice_best(d, gemm(d), MEGA, two, 2);
    ck_assert(about(two[1].kernel, 1.5e-3));
    learn(d, FIRST, MEGA, 4e-3, 8); /* new times soon outweigh old ones */
    ck_assert(about(dagi_choice_kernel(d, gemm(d), FIRST, MEGA), 4e-3));
    dagi_choice_free(c);
    dagi_choice_free(d);
}
END_TEST

/* What other programs and machines have left there stays. */
START_TEST(keeps_what_others_know)
{
    static const dagi_choice_place elsewhere[] = {{"another cpu"}};
    dagi_choice *c = dagi_choice_new(places, PLACES), *d = dagi_choice_new(elsewhere, 1);
    learn(c, FIRST, MEGA, 1e-3, 3);
    ck_assert_int_eq(dagi_choice_save(c, path, why, sizeof(why)), 0);
    learn(d, CORES, MEGA, 9e-3, 3);
    ck_assert_int_eq(dagi_choice_save(d, path, why, sizeof(why)), 0);
    ck_assert_int_eq(dagi_choice_save(d, path, why, sizeof(why)), 0); /* and nothing twice */
    ck_assert_str_eq(read_file(), "dag kernel times 1\n"
                                  "time\tpotrf\t1\tGEMM\tgpu\t80\t3\t1000000\n"
                                  "time\tpotrf\t1\tGEMM\tanother cpu\t80\t3\t9000000\n"
                                  "end\t2\n");
    dagi_choice_free(c);
    dagi_choice_free(d);
}
END_TEST

static const char *const damaged[] = {
    "dag kernel times 1\n",
    "dag kernel times 1\nend\t1\n",
    "dag kernel times 1\nend\t0\nmore\n",
    "dag kernel times 1\ntime\tpotrf\t1\tGEMM\tgpu\t80\t3\t1000000\nend\t2\n",
    "dag kernel times 1\ntime\tpotrf\t1\tGEMM\tgpu\t80\t3\t1000000\nend\t1",
    "dag kernel times 1\ntime\tpotrf\t4\tGEMM\tgpu\t80\t3\t1000000\nend\t1\n",
    "dag kernel times 1\ntime\tpotrf\t1\tGEMM\tgpu\t99999\t3\t1000000\nend\t1\n",
    "dag kernel times 1\ntime\tpotrf\t1\tGEMM\tgpu\t80\t0\t1000000\nend\t1\n",
    "dag kernel times 1\ntime\tpotrf\t1\tGEMM\tgpu\t80\t3\t-1\nend\t1\n",
    "dag kernel times 1\ntime\tpotrf\t1\tGEMM\tgpu\t80\t3\t99999999999999999999\nend\t1\n",
    "dag kernel times 1\ntime\tpotrf\t1\tGEMM\tgpu\t80\t3\t1e6\nend\t1\n",
    "dag kernel times 1\ntime\tpotrf\t1\tGEMM\tgpu\t80\t3\t1\t1\t1\nend\t1\n",
    "dag kernel times 1\nlink\tcpu\tgpu\t0\t5\nend\t1\n",
    "dag kernel times 1\nnonsense\nend\t1\n",
};
enum { DAMAGED = sizeof damaged / sizeof damaged[0] };

START_TEST(damaged_is_ignored)
{
    dagi_choice *c = dagi_choice_new(places, PLACES);
    write_file(damaged[_i]);
    ck_assert_int_eq(dagi_choice_load(c, path, why, sizeof(why)), 1);
    ck_assert_ptr_nonnull(strstr(why, path));
    ck_assert(dagi_choice_kernel(c, gemm(c), FIRST, MEGA) == DAGI_CHOICE_UNKNOWN);
    ck_assert_int_eq(dagi_choice_save(c, path, why, sizeof(why)), 0);
    ck_assert_str_eq(read_file(), "dag kernel times 1\nend\t0\n");
    dagi_choice_free(c);
}
END_TEST

static const char *const foreign[] = {"int main(void)\n", "dag kernel times 2\nend\t0\n", "x"};
enum { FOREIGN = sizeof foreign / sizeof foreign[0] };

START_TEST(foreign_is_left_alone)
{
    dagi_choice *c = dagi_choice_new(places, PLACES);
    write_file(foreign[_i]);
    learn(c, FIRST, MEGA, 1, 1);
    ck_assert_int_eq(dagi_choice_load(c, path, why, sizeof(why)), 1);
    ck_assert_int_eq(dagi_choice_save(c, path, why, sizeof(why)), 1);
    ck_assert_ptr_nonnull(strstr(why, path));
    ck_assert_str_eq(read_file(), foreign[_i]);
    ck_assert_int_eq(dagi_choice_load(c, directory, why, sizeof(why)), 1);
    ck_assert_int_eq(dagi_choice_save(c, directory, why, sizeof(why)), 1);
    ck_assert_int_eq(dagi_choice_save(c, "/dev/null", why, sizeof(why)), 1);
    ck_assert_int_eq(dagi_choice_save(c, "/no/such/place", why, sizeof(why)), 1);
    ck_assert_ptr_nonnull(strstr(why, "No such file"));
    dagi_choice_free(c);
}
END_TEST

START_TEST(links_stay_links)
{
    char real[80];
    struct stat st;
    dagi_choice *c = dagi_choice_new(places, PLACES);
    snprintf(real, sizeof(real), "%s/real", directory);
    learn(c, FIRST, MEGA, 1, 1);
    ck_assert_int_eq(dagi_choice_save(c, real, why, sizeof(why)), 0);
    ck_assert_int_eq(symlink(real, path), 0);
    ck_assert_int_eq(dagi_choice_save(c, path, why, sizeof(why)), 0);
    ck_assert_int_eq(lstat(path, &st), 0);
    ck_assert(S_ISLNK(st.st_mode));
    unlink(real);
    dagi_choice_free(c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("choice");
    TCase *c = tcase_create("choice"), *f = tcase_create("file");
    tcase_add_test(c, median_of_the_last);
    tcase_add_test(c, sizes_between);
    tcase_add_test(c, guesses_learn);
    tcase_add_test(c, links);
    tcase_add_test(c, least_completion_wins);
    tcase_add_test(c, policies_are_named);
    tcase_add_test(c, near_goes_where_the_inputs_are);
    tcase_add_test(c, turn_takes_each_device);
    tcase_add_test(c, trials_end);
    tcase_add_test(c, trials_do_not_ruin_the_run);
    tcase_add_test(c, cores_take_longer_as_devices_do);
    tcase_add_test(c, cores_take_longer_for_more);
    tcase_add_test(c, trials_count_what_smaller_ones_took);
    tcase_add_test(c, guesses_on_a_slower_clock);
    tcase_add_test(c, first_run_on_a_device);
    tcase_add_test(c, many_threads);
    suite_add_tcase(suite, c);
    tcase_add_checked_fixture(f, setup, teardown);
    tcase_add_test(f, comes_back);
    tcase_add_test(f, keeps_what_others_know);
    tcase_add_loop_test(f, damaged_is_ignored, 0, DAMAGED);
    tcase_add_loop_test(f, foreign_is_left_alone, 0, FOREIGN);
    tcase_add_test(f, links_stay_links);
    suite_add_tcase(suite, f);
    return run_suite(suite);
}

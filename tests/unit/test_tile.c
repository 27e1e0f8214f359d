/* The choice of a tile size: the model with given times, the file that keeps times. */
#include "../common/run_suite.h"
#include "../../dsl-examples/la/tile.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the model ------------------------------------------------------------------------------ */

static const int orders[] = {200, 500, 1000, 2000, 4000, 10000};
enum { ORDERS = sizeof(orders) / sizeof(orders[0]) };

static dagi_tile_workers workers(int p, int q, int each)
{
    return (dagi_tile_workers){.p = p, .q = q, .each = each, .sharing = 1, .element = 8};
}

static int64_t best(const dagi_tile_times *times, dagi_tile_workers w, int64_t n)
{
    double seconds;
    int64_t nb = dagi_tile_best(times, &w, n, &seconds);
    ck_assert(n < 1 || seconds > 0);
    ck_assert(n < 1 || seconds == dagi_tile_seconds(times, &w, n, nb));
    ck_assert(nb >= 1 && nb <= (n > 1 ? n : 1));
    return nb;
}

/* Kernels of one speed whatever the size, and nothing faster for being larger. */
static dagi_tile_times flat(double ns_per_multiplication)
{
    static const double volume[] = {1, 0.5, 0.5, 1.0 / 6};
    dagi_tile_times t;
    for (int k = 0; k < DAGI_TILE_KERNELS; k++)
        for (int i = 0; i < DAGI_TILE_SIZES; i++)
            t.ns[k][i] = volume[k] * pow(dagi_tile_sizes[i], 3) * ns_per_multiplication;
    return t;
}

START_TEST(work_is_that_of_the_factorisation)
{
    const dagi_tile_times t = flat(0.1);
    const int64_t n = 3000, tiles[] = {100, 120, 250, 270};
    dagi_tile_workers one = workers(1, 1, 1);
    for (int i = 0; i < 4; i++) {
        double nt = ceil((double)n / (double)tiles[i]);
        double tasks = nt * (nt + 1) * (nt + 2) / 6;
        double expected = 1e-9 * (0.1 * pow((double)n, 3) / 6 + 400 * tasks);
        double seconds = dagi_tile_seconds(&t, &one, n, tiles[i]);
        /* what is below half of a tile is small, but counted as herk and trsm count it */
        ck_assert_msg(fabs(seconds - expected) < 0.01 * expected, "%g instead of %g", seconds,
                      expected);
    }
}
END_TEST

START_TEST(schedule_of_two_tiles)
{
    const dagi_tile_times t = flat(1);
    dagi_tile_workers two = workers(1, 1, 2);
    /* potrf, trsm, herk, potrf: one after the other, however many workers there are */
    double path = 1e-9 * pow(96, 3) * (1.0 / 6 + 0.5 + 0.5 + 1.0 / 6);
    double seconds = dagi_tile_seconds(&t, &two, 192, 96);
    ck_assert_msg(seconds > path && seconds < 1.02 * path, "%g instead of %g", seconds, path);
    for (int p = 1; p <= 2; p++) {
        two = workers(p, 3 - p, 1);
        ck_assert(dagi_tile_seconds(&t, &two, 192, 96) > path + 6e-5); /* a message */
    }
    two = workers(1, 3, 1); /* each column of tiles on a rank of its own */
    path += 1e-9 * pow(96, 3) * (0.5 + 0.5 + 1.0 / 6);
    ck_assert(dagi_tile_seconds(&t, &two, 288, 96) > path + 12e-5); /* two messages */
}
END_TEST

START_TEST(small_ones_are_one_tile)
{
    const dagi_tile_times *t = &dagi_tile_builtin[DAG_D];
    for (int64_t n = 1; n <= 96; n++)
        ck_assert_int_eq(best(t, workers(1, 1, 2), n), n);
    for (int64_t n = 1; n <= 300; n += 13)
        ck_assert_int_eq(best(t, workers(1, 1, 1), n), n);
    ck_assert_int_eq(best(t, workers(2, 3, 4), 64), 64);
    ck_assert_int_eq(best(t, workers(1, 1, 2), 0), 1);
    ck_assert_int_eq(best(t, workers(1, 1, 2), -5), 1);
    ck_assert_int_lt(best(t, workers(1, 1, 2), 500), 250);
}
END_TEST

START_TEST(more_workers_want_no_larger_tiles)
{
    static const int counts[] = {1, 2, 8, 32, 128};
    for (int prec = DAG_S; prec <= DAG_Z; prec++)
        /* The first may be one tile. Of the last all have tiles enough; there it counts that more
         * data come from other cores, which large tiles are good for. */
        for (int i = 1; i < ORDERS - 1; i++)
            for (int w = 1; w < 5; w++) {
                const dagi_tile_times *t = &dagi_tile_builtin[prec];
                int64_t few = best(t, workers(1, 1, counts[w - 1]), orders[i]);
                int64_t many = best(t, workers(1, 1, counts[w]), orders[i]);
                ck_assert_msg(many <= few, "%d workers: %d, %d: %d (n = %d)", counts[w - 1],
                              (int)few, counts[w], (int)many, orders[i]);
            }
}
END_TEST

START_TEST(a_slow_panel_wants_no_larger_tiles)
{
    int smaller = 0;
    for (int i = 0; i < ORDERS; i++) {
        dagi_tile_times slow = dagi_tile_builtin[DAG_D];
        for (int k = 0; k < DAGI_TILE_SIZES; k++)
            slow.ns[DAGI_TILE_POTRF][k] *= 2;
        for (int each = 2; each <= 8; each *= 2) {
            int64_t before = best(&dagi_tile_builtin[DAG_D], workers(1, 1, each), orders[i]);
            int64_t after = best(&slow, workers(1, 1, each), orders[i]);
            ck_assert_msg(after <= before, "%d, and with a slow panel %d (n = %d, %d workers)",
                          (int)before, (int)after, orders[i], each);
            smaller += after < before;
        }
    }
    ck_assert_int_gt(smaller, 0);
}
END_TEST

START_TEST(slow_large_tiles_are_left_alone)
{
    dagi_tile_times t = dagi_tile_builtin[DAG_D];
    for (int k = 0; k < DAGI_TILE_KERNELS; k++)
        for (int i = 3; i < DAGI_TILE_SIZES; i++) /* from 144 on */
            t.ns[k][i] *= 3;
    for (int i = 1; i < ORDERS; i++) {
        ck_assert_int_le(best(&t, workers(1, 1, 1), orders[i]), 120);
        ck_assert_int_le(best(&t, workers(1, 1, 2), orders[i]), 120);
    }
}
END_TEST

/* On ranks that hold whole block columns none has far more of them than others. */
START_TEST(parts_are_even)
{
    const dagi_tile_times t = flat(0.1);
    for (int q = 2; q <= 6; q += 2)
        for (int64_t n = 1000 * q; n <= 2400 * q; n += 100) {
            int64_t nb = best(&t, workers(1, q, 1), n), columns[6] = {0}, most = 0;
            for (int64_t j = 0; j < n; j += nb) {
                int64_t *mine = &columns[j / nb % q];
                *mine += n - j < nb ? n - j : nb;
                most = *mine > most ? *mine : most;
            }
            ck_assert_msg((double)(most * q) <= 1.06 * (double)n, "n = %d on %d ranks in tiles of %d: %d columns on one",
                          (int)n, q, (int)nb, (int)most);
        }
}
END_TEST

START_TEST(huge_ones)
{
    const dagi_tile_times *t = &dagi_tile_builtin[DAG_D];
    double seconds;
    dagi_tile_workers w = workers(64, 64, 48), two = workers(1, 1, 2);
    int64_t nb = dagi_tile_best(t, &two, INT64_C(2000000000), &seconds);
    ck_assert(nb >= 192 && nb <= 312);
    ck_assert(isfinite(seconds) && seconds > 1e15); /* n^3 / 3 at 10^11 per second is 2.7e16 */
    nb = dagi_tile_best(t, &w, INT64_C(1000000), &seconds);
    ck_assert(nb >= 48 && nb <= 312 && isfinite(seconds));
}
END_TEST

START_TEST(times_are_measured)
{
    for (int prec = DAG_S; prec <= DAG_Z; prec++) {
        dagi_tile_times t;
        dagi_tile_measure((dag_precision)prec, &t);
        for (int k = 0; k < DAGI_TILE_KERNELS; k++)
            for (int i = 0; i < DAGI_TILE_SIZES; i++)
                ck_assert(t.ns[k][i] > 0 && isfinite(t.ns[k][i]));
    }
}
END_TEST

/* ---- the file ------------------------------------------------------------------------------- */

static char directory[] = "/tmp/test_tile.XXXXXX", path[64], why[512];
static dagi_tile_times found;

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

static int load(dag_precision prec, const char *machine)
{
    return dagi_tile_load(path, prec, machine, &found, why, sizeof(why));
}

static int save(dag_precision prec, const char *machine, int of)
{
    return dagi_tile_save(path, prec, machine, &dagi_tile_builtin[of], why, sizeof(why));
}

static void read_is(int of)
{
    for (int k = 0; k < DAGI_TILE_KERNELS; k++)
        for (int i = 0; i < DAGI_TILE_SIZES; i++)
            ck_assert(found.ns[k][i] == dagi_tile_builtin[of].ns[k][i]);
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
    static char text[8192];
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    fclose(f);
    return text;
}

START_TEST(comes_back)
{
    ck_assert_int_eq(load(DAG_D, "here"), DAGI_TILE_ABSENT); /* no file yet */
    write_file("");
    ck_assert_int_eq(load(DAG_D, "here"), DAGI_TILE_ABSENT);
    ck_assert_int_eq(save(DAG_D, "here", DAG_D), 0);
    ck_assert_int_eq(load(DAG_D, "here"), DAGI_TILE_FOUND);
    read_is(DAG_D);
    ck_assert_int_eq(chmod(path, 0644), 0);
    ck_assert_int_eq(save(DAG_D, "here", DAG_S), 0); /* later ones replace it */
    struct stat st;
    ck_assert(stat(path, &st) == 0 && (st.st_mode & 0777) == 0644);
    ck_assert_int_eq(load(DAG_D, "here"), DAGI_TILE_FOUND);
    read_is(DAG_S);
    ck_assert_ptr_nonnull(strstr(read_file(), "\nend\t1\n"));
    ck_assert_str_eq(why, "");
}
END_TEST

START_TEST(keys_are_told_apart)
{
    ck_assert_int_eq(save(DAG_D, "here", DAG_D), 0);
    ck_assert_int_eq(load(DAG_Z, "here"), DAGI_TILE_ABSENT);
    ck_assert_int_eq(load(DAG_D, "her"), DAGI_TILE_ABSENT);
    ck_assert_int_eq(load(DAG_D, "here and now"), DAGI_TILE_ABSENT);
    ck_assert_int_eq(save(DAG_D, "there", DAG_C), 0);
    ck_assert_int_eq(save(DAG_Z, "here", DAG_Z), 0);
    ck_assert_int_eq(load(DAG_D, "here"), DAGI_TILE_FOUND);
    read_is(DAG_D);
    ck_assert_int_eq(load(DAG_D, "there"), DAGI_TILE_FOUND);
    read_is(DAG_C);
    ck_assert_int_eq(load(DAG_Z, "here"), DAGI_TILE_FOUND);
    read_is(DAG_Z);
    ck_assert_ptr_nonnull(strstr(read_file(), "\nend\t3\n"));
    ck_assert_str_eq(why, "");
}
END_TEST

#define SIX "\t1\t2\t3\t4\t5\t6"
#define ALL SIX SIX SIX SIX SIX SIX
static const char *const damaged[] = {
    "dag tile times 1\n",
    "dag tile times 1\nend\t1\n",
    "dag tile times 1\nend\t0\nmore\n",
    "dag tile times 1\nend\t0",
    "dag tile times 1\nd\there" ALL "\n",
    "dag tile times 1\nd\there" ALL "\nend\t2\n",
    "dag tile times 1\nd\there" ALL "\nend\tone\n",
    "dag tile times 1\nd\there" ALL "\t7\nend\t1\n",
    "dag tile times 1\nd\there" SIX "\nend\t1\n",
    "dag tile times 1\nd\there\nend\t1\n",
    "dag tile times 1\nd\nend\t1\n",
    "dag tile times 1\n\nend\t1\n",
    "dag tile times 1\nq\there" ALL "\nend\t1\n",
    "dag tile times 1\nd\there\t0\t2\t3\t4\t5\t6" SIX SIX SIX SIX SIX "\nend\t1\n",
    "dag tile times 1\nd\there\t-1\t2\t3\t4\t5\t6" SIX SIX SIX SIX SIX "\nend\t1\n",
    "dag tile times 1\nd\there\t1.5\t2\t3\t4\t5\t6" SIX SIX SIX SIX SIX "\nend\t1\n",
    "dag tile times 1\nd\there\t99999999999999999999\t2\t3\t4\t5\t6" SIX SIX SIX SIX SIX
    "\nend\t1\n",
};

START_TEST(damaged_ones_are_replaced)
{
    write_file(damaged[_i]);
    ck_assert_int_eq(load(DAG_D, "here"), DAGI_TILE_DAMAGED);
    ck_assert_ptr_nonnull(strstr(why, path));
    ck_assert_ptr_nonnull(strstr(why, "damaged; tile kernels are measured anew"));
    ck_assert_int_eq(save(DAG_D, "here", DAG_D), 0);
    ck_assert_int_eq(load(DAG_D, "here"), DAGI_TILE_FOUND);
    read_is(DAG_D);
    ck_assert_ptr_nonnull(strstr(read_file(), "\nend\t1\n"));
}
END_TEST

static const char *const foreign[] = {"dag tile times 2\nend\t0\n", "a letter to a friend\n"};

START_TEST(foreign_ones_are_left_alone)
{
    write_file(foreign[_i]);
    ck_assert_int_eq(load(DAG_D, "here"), DAGI_TILE_FOREIGN);
    ck_assert_ptr_nonnull(strstr(why, "not a file of tile times of this version"));
    ck_assert_int_eq(save(DAG_D, "here", DAG_D), 1);
    ck_assert_ptr_nonnull(strstr(why, path));
    ck_assert_str_eq(read_file(), foreign[_i]);
}
END_TEST

START_TEST(places_that_do_not_work)
{
    const char *const nowhere = "/no/such/directory/times", *const under = "/dev/null/times";
    ck_assert_int_eq(dagi_tile_load(nowhere, DAG_D, "here", &found, why, sizeof(why)),
                     DAGI_TILE_ABSENT);
    ck_assert_int_eq(dagi_tile_save(nowhere, DAG_D, "here", &dagi_tile_builtin[1], why,
                                    sizeof(why)), 1);
    ck_assert_ptr_nonnull(strstr(why, "/no/such/directory/times: times of tile kernels could not "
                                      "be written: No such file or directory"));
    ck_assert_int_eq(dagi_tile_load(under, DAG_D, "here", &found, why, sizeof(why)),
                     DAGI_TILE_FOREIGN);
    ck_assert_int_eq(dagi_tile_load("/dev/zero", DAG_D, "here", &found, why, sizeof(why)),
                     DAGI_TILE_FOREIGN);
    ck_assert_ptr_nonnull(strstr(why, "/dev/zero: not a file of tile times"));
    ck_assert_int_eq(dagi_tile_load(directory, DAG_D, "here", &found, why, sizeof(why)),
                     DAGI_TILE_FOREIGN);
}
END_TEST

/* While two processes save, a third one always finds a whole file. */
START_TEST(two_processes_at_once)
{
    pid_t child[2];
    int running = 2;
    for (int c = 0; c < 2; c++) {
        if ((child[c] = fork()) == 0) {
            for (int i = 0; i < 100; i++)
                if (save(DAG_D, c == 0 ? "first" : "second", c) != 0)
                    _exit(1);
            _exit(0);
        }
        ck_assert_int_gt(child[c], 0);
    }
    while (running > 0) {
        int status, how = load(DAG_D, "first");
        ck_assert_msg(how == DAGI_TILE_FOUND || how == DAGI_TILE_ABSENT, "%d: %s", how, why);
        if (how == DAGI_TILE_FOUND)
            read_is(0);
        if (waitpid(-1, &status, WNOHANG) > 0) {
            ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
            running--;
        }
    }
    ck_assert_int_eq(load(DAG_D, "first") == DAGI_TILE_FOUND ||
                     load(DAG_D, "second") == DAGI_TILE_FOUND, 1);
}
END_TEST

START_TEST(the_users_directory)
{
    char expected[128];
    setenv("XDG_CACHE_HOME", directory, 1);
    setenv("HOME", "/nowhere", 1);
    char *name = dagi_kept_path("tile-times");
    snprintf(expected, sizeof(expected), "%s/dagcc/tile-times", directory);
    ck_assert_str_eq(name, expected);
    free(name);
    *strrchr(expected, '/') = '\0';
    ck_assert_int_eq(rmdir(expected), 0); /* it was made */

    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", directory, 1);
    name = dagi_kept_path("tile-times");
    snprintf(expected, sizeof(expected), "%s/.cache/dagcc/tile-times", directory);
    ck_assert_str_eq(name, expected);
    free(name);
    for (int i = 0; i < 2; i++) {
        *strrchr(expected, '/') = '\0';
        ck_assert_int_eq(rmdir(expected), 0);
    }
    setenv("HOME", "/dev/null", 1);
    ck_assert_ptr_null(dagi_kept_path("tile-times"));
    unsetenv("HOME");
    unsetenv("XDG_CACHE_HOME");
    ck_assert_ptr_null(dagi_kept_path("tile-times"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tile");
    TCase *model = tcase_create("model"), *file = tcase_create("file");
    tcase_add_test(model, work_is_that_of_the_factorisation);
    tcase_add_test(model, schedule_of_two_tiles);
    tcase_add_test(model, small_ones_are_one_tile);
    tcase_add_test(model, more_workers_want_no_larger_tiles);
    tcase_add_test(model, a_slow_panel_wants_no_larger_tiles);
    tcase_add_test(model, slow_large_tiles_are_left_alone);
    tcase_add_test(model, parts_are_even);
    tcase_add_test(model, huge_ones);
    tcase_add_test(model, times_are_measured);
    tcase_add_checked_fixture(file, setup, teardown);
    tcase_add_test(file, comes_back);
    tcase_add_test(file, keys_are_told_apart);
    tcase_add_loop_test(file, damaged_ones_are_replaced, 0, sizeof(damaged) / sizeof(damaged[0]));
    tcase_add_loop_test(file, foreign_ones_are_left_alone, 0, sizeof(foreign) / sizeof(foreign[0]));
    tcase_add_test(file, places_that_do_not_work);
    tcase_add_test(file, two_processes_at_once);
    tcase_add_test(file, the_users_directory);
    suite_add_tcase(suite, model);
    suite_add_tcase(suite, file);
    return run_suite(suite);
}

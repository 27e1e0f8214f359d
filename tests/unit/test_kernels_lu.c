/*
 * The kernels of tournament pivoting, in four precisions: the rows that are chosen, in their order,
 * have an LU factorisation from which the other rows follow, also where the rank is not full.
 *
 * LU with row exchanges, with the instances of each instruction set.
 */
#include "../common/run_suite.h"
#include "instances.h"
#include "precisions.h"

#include <dag/kernels.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NSIZES = 8 };
static const int sizes[NSIZES][2] = {{4, 0}, {1, 1},  {2, 1},   {5, 5},
                                     {6, 3}, {13, 4}, {40, 17}, {96, 32}};

#define DAG_TEMPLATE "test_kernels_lu.inc.c"
#include <dag/each_precision.h>

START_TEST(test_choose)
{
    static void (*const run[4])(int, int, int) = {choose_s, choose_d, choose_c, choose_z};
    for (int i = 0; i < NSIZES; i++)
        for (int columns = 0; columns < 3; columns++)
            run[_i](sizes[i][0], sizes[i][1], columns);
}
END_TEST

START_TEST(test_below)
{
    static void (*const run[4])(void) = {below_s, below_d, below_c, below_z};
    run[_i]();
}
END_TEST

/* What leaves take at once, in one and in several halves, and more than that. */
static const int orders[][2] = {{1, 1},   {2, 3},   {3, 2},   {4, 4},    {7, 5},    {8, 8},   {9, 9},    {5, 40},
                                {20, 20}, {23, 31}, {32, 32}, {33, 33},  {50, 50},  {64, 32}, {70, 24},  {100, 100},
                                {200, 9}, {150, 8}, {40, 90}, {129, 77}, {200, 200}, {530, 16}};
enum { NORDERS = sizeof orders / sizeof orders[0] };

START_TEST(test_getrf)
{
    static void (*const run[4])(int, int, int, double) = {getrf_s, getrf_d, getrf_c, getrf_z};
    for (int i = 0; i < NORDERS; i++)
        run[_i](orders[i][0], orders[i][1], i % 3 * 2, i % 4 == 1 ? (_i % 2 == 0 ? FLT_MIN : DBL_MIN) * 64 : 1);
}
END_TEST

START_TEST(test_getrf_special)
{
    static void (*const singular[4])(void) = {getrf_singular_s, getrf_singular_d, getrf_singular_c, getrf_singular_z};
    static void (*const nan[4])(void) = {getrf_nan_s, getrf_nan_d, getrf_nan_c, getrf_nan_z};
    singular[_i]();
    nan[_i]();
}
END_TEST

int main(void)
{
    (void)dag_kernels_init(NULL);
    Suite *suite = suite_create("kernels_lu");
    TCase *tc = tcase_create("tournament");
    tcase_add_loop_test(tc, test_choose, 0, 4);
    tcase_add_loop_test(tc, test_below, 0, 4);
    suite_add_tcase(suite, tc);
    static const struct {
        const char *name;
        SFun set_up;
    } instances[] = {{"all", with_all}, {"avx2", with_avx2}, {"library", with_library}};
    for (int i = 0; i < 3; i++) {
        tc = tcase_create(instances[i].name);
        tcase_add_checked_fixture(tc, instances[i].set_up, with_all);
        tcase_add_loop_test(tc, test_getrf, 0, 4);
        tcase_add_loop_test(tc, test_getrf_special, 0, 4);
        suite_add_tcase(suite, tc);
    }
    return run_suite(suite);
}

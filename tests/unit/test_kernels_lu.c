/*
 * The kernels of tournament pivoting, in four precisions: the rows that are chosen, in their order,
 * have an LU factorisation from which the other rows follow, also where the rank is not full.
 */
#include "../common/run_suite.h"
#include "precisions.h"

#include <dag/kernels.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>

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

int main(void)
{
    (void)dag_kernels_init(NULL);
    Suite *suite = suite_create("kernels_lu");
    TCase *tc = tcase_create("tournament");
    tcase_add_loop_test(tc, test_choose, 0, 4);
    tcase_add_loop_test(tc, test_below, 0, 4);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}

/*
 * The QR kernels, in four precisions: Q of a tile and of a triangle on top of another is unitary,
 * and Q^H A is R. Triangles that must not be read hold NaN.
 */
#include "../common/run_suite.h"
#include "instances.h"

#include <dag/kernels.h>

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NSIZES = 11 };
static const int sizes[NSIZES][2] = {{1, 1},   {5, 3},   {3, 5},    {8, 8},   {9, 9},  {20, 20},
                                     {50, 17}, {17, 50}, {200, 64}, {0, 4}, {130, 100}};

static int rows_of_T(int m, int block)
{
    int blocks = (m + block - 1) / block;
    return (blocks > 0 ? blocks : 1) * DAG_QR_INNER;
}

#define NAME(x) DAG_PRECISION_CAT(x##_, DAG_PRECISION)

#define DAG_TEMPLATE "test_kernels_qr.inc.c"
#include <dag/each_precision.h>

START_TEST(test_geqrt)
{
    static void (*const run[4])(int, int, int, double) = {geqrt_s, geqrt_d, geqrt_c, geqrt_z};
    for (int i = 0; i < NSIZES; i++)
        run[_i](sizes[i][0], sizes[i][1], 0, 1);
    for (int n = 7; n <= 9; n++) {
        run[_i](20, n, 0, 1e-30); /* squares underflow in s and c */
        run[_i](20, n, 0, 1e+25); /* and overflow */
    }
}
END_TEST

/* Of one block and of several; whole and broken panels and leaves; a last block of a few rows. */
START_TEST(test_stack)
{
    static void (*const run[4])(int, int, int, double) = {geqrt_s, geqrt_d, geqrt_c, geqrt_z};
    for (int i = 0; i < NSIZES; i++) {
        run[_i](sizes[i][0], sizes[i][1], sizes[i][0] + sizes[i][1] + 1, 1);
        run[_i](3 * sizes[i][1] + 2, sizes[i][1], sizes[i][1], 1);
        run[_i](sizes[i][0] + 99, sizes[i][1], sizes[i][1] + 16, 1);
    }
    run[_i](512, 40, 70, 1); /* columns so far apart that blocks are copied */
    for (int n = 7; n <= 9; n++) {
        run[_i](50, n, 20, 1e-30);
        run[_i](50, n, 20, 1e+25);
    }
}
END_TEST

/* Products of two columns that overflow, or underflow, where those of each with itself do not. */
START_TEST(test_columns)
{
    static void (*const run[4])(int, int, double, double) = {columns_s, columns_d, columns_c,
                                                             columns_z};
    int wide = _i % 2; /* double precision */
    for (int n = 7; n <= 9; n++)
        for (int block = 0; block <= 20; block += 20) {
            run[_i](n, block, wide ? 1e+140 : 1e+16, wide ? 1e+180 : 1e+24);
            run[_i](n, block, wide ? 1e-110 : 1e-12, wide ? 1e-230 : 1e-32);
        }
}
END_TEST

START_TEST(test_tpqrt)
{
    static void (*const run[4])(int, int) = {tpqrt_s, tpqrt_d, tpqrt_c, tpqrt_z};
    for (int i = 0; i < NSIZES; i++) {
        run[_i](sizes[i][1], sizes[i][1]);
        run[_i](sizes[i][1] + i, sizes[i][1]);
    }
}
END_TEST

static void add(Suite *suite, const char *name, SFun set_up)
{
    TCase *tc = tcase_create(name);
    tcase_add_checked_fixture(tc, set_up, with_all);
    tcase_add_loop_test(tc, test_geqrt, 0, 4);
    tcase_add_loop_test(tc, test_stack, 0, 4);
    tcase_add_loop_test(tc, test_columns, 0, 4);
    tcase_add_loop_test(tc, test_tpqrt, 0, 4);
    tcase_set_timeout(tc, 60);
    suite_add_tcase(suite, tc);
}

int main(void)
{
    (void)dag_kernels_init(NULL);
    Suite *suite = suite_create("kernels_qr");
    add(suite, "kernels_qr", with_all);
    add(suite, "with AVX2", with_avx2);
    add(suite, "with the library", with_library);
    return run_suite(suite);
}

/* Random test matrices: every element depends on (seed, i, j) only, whoever makes which tile. */
#include "../common/run_suite.h"
#include "precisions.h"

#include <dag/kernels.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAG_TEMPLATE "test_gen.inc.c"
#include <dag/each_precision.h>

FOUR_TESTS(any_tiling)
FOUR_TESTS(padding_untouched)
FOUR_TESTS(symmetry)
FOUR_TESTS(positive_definite)
FOUR_TESTS(bump_on_global_diagonal)
FOUR_TESTS(distribution)
FOUR_TESTS(seeds_differ)
FOUR_TESTS(huge_indices)

/* The real parts are the same numbers in every precision, up to what the type can hold. */
START_TEST(test_precisions_agree)
{
    enum { M = 9, N = 8 };
    float s[M * N];
    double d[M * N];
    dag_scomplex c[M * N];
    dag_dcomplex z[M * N];
    dag_tile_splrnt(0, M, N, s, M, 100, 40, 50, 7);
    dag_tile_dplrnt(0, M, N, d, M, 100, 40, 50, 7);
    dag_tile_cplrnt(0, M, N, c, M, 100, 40, 50, 7);
    dag_tile_zplrnt(0, M, N, z, M, 100, 40, 50, 7);
    for (int k = 0; k < M * N; k++) {
        ck_assert_double_eq_tol(s[k], d[k], 6e-8);
        ck_assert(__builtin_crealf(c[k]) == s[k]);
        ck_assert(__builtin_creal(z[k]) == d[k]);
        ck_assert_double_eq_tol(__builtin_cimagf(c[k]), __builtin_cimag(z[k]), 6e-8);
    }
}
END_TEST

/*
 * Fixed values, computed by an independent implementation of the definition in kernels/gen/gen.h:
 * a seed must mean the same matrix in every version and on every machine.
 */
START_TEST(test_fixed_values)
{
    static const struct {
        int64_t rows, i, j;
        uint64_t seed;
        double re, im;
    } want[] = {
        {INT64_C(1), INT64_C(0), INT64_C(0), UINT64_C(0),
         0x1.8882a0e5ec772p-2, -0x1.18761955e46a0p-4},
        {INT64_C(10), INT64_C(3), INT64_C(4), UINT64_C(42),
         -0x1.cd206180f5f60p-3, -0x1.d4178b28d0a4cp-3},
        {INT64_C(10), INT64_C(9), INT64_C(9), UINT64_C(42),
         0x1.d05f2feb74254p-2, -0x1.ba40aa1e2337cp-2},
        {INT64_C(192), INT64_C(100), INT64_C(7), UINT64_C(1),
         -0x1.15e56511d5c84p-3, 0x1.35b5ff3800740p-7},
        {INT64_C(1000000), INT64_C(999999), INT64_C(999999), UINT64_C(18446744073709551615),
         -0x1.6a88ff6d56a5cp-2, -0x1.0f542bfe1c30ap-2},
        {INT64_C(3000000000), INT64_C(2999999999), INT64_C(2999999998), UINT64_C(5),
         0x1.831e7ecb20fc4p-3, 0x1.d4d42e87e5db4p-3},
    };
    for (size_t k = 0; k < sizeof want / sizeof want[0]; k++) {
        dag_dcomplex z;
        double d;
        dag_tile_zplrnt(0, 1, 1, &z, 1, want[k].rows, want[k].i, want[k].j, want[k].seed);
        dag_tile_dplrnt(0, 1, 1, &d, 1, want[k].rows, want[k].i, want[k].j, want[k].seed);
        ck_assert(__builtin_creal(z) == want[k].re);
        ck_assert(__builtin_cimag(z) == want[k].im);
        ck_assert(d == want[k].re);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gen");
    TCase *tc = tcase_create("gen");
    tcase_add_loop_test(tc, test_any_tiling, 0, 4);
    tcase_add_loop_test(tc, test_padding_untouched, 0, 4);
    tcase_add_loop_test(tc, test_symmetry, 0, 4);
    tcase_add_loop_test(tc, test_positive_definite, 0, 4);
    tcase_add_loop_test(tc, test_bump_on_global_diagonal, 0, 4);
    tcase_add_loop_test(tc, test_distribution, 0, 4);
    tcase_add_loop_test(tc, test_seeds_differ, 0, 4);
    tcase_add_loop_test(tc, test_huge_indices, 0, 4);
    tcase_add_test(tc, test_precisions_agree);
    tcase_add_test(tc, test_fixed_values);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}

/*
 * Tests of what is a template over the precisions. The template, included by dag/each_precision.h,
 * gives its names by LOCAL(): LOCAL(gemm) is gemm_s, gemm_d, gemm_c and gemm_z. FOUR_TESTS(gemm) makes
 * one test of these, to be run in a loop over four numbers.
 */
#ifndef TEST_PRECISIONS_H
#define TEST_PRECISIONS_H

#include <check.h>

#define LOCAL(name) DAG_PRECISION_CAT(name##_, DAG_PRECISION)

#define FOUR_TESTS(name)                                                                           \
    START_TEST(test_##name)                                                                        \
    {                                                                                              \
        static void (*const test[])(void) = {name##_s, name##_d, name##_c, name##_z};              \
        test[_i]();                                                                                \
    }                                                                                              \
    END_TEST

#endif

/* Fixtures of tests: the kernels of each instruction set, the library alone, and all again. */
#ifndef TESTS_UNIT_INSTANCES_H
#define TESTS_UNIT_INSTANCES_H

#include "cpu/micro.h"

#include <dag/kernels.h>

#include <check.h>

/* What processors without AVX-512, and without AVX2, use. */
static void with_avx2(void)
{
    (void)dag_kernels_init(NULL);
    (void)dagi_micro_limit(1);
}

static void with_library(void)
{
    (void)dag_kernels_init(NULL);
    ck_assert_int_eq(dagi_micro_limit(0), 0);
}

static void with_all(void)
{
    (void)dagi_micro_limit(2);
}

#endif

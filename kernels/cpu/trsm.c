#include "cpu/cpu.h"

/* Order up to which a vector is solved for in registers. */
#define TRSV_MAX MICRO_MAX

/* The same of complex ones: beyond, the library reads the triangle as fast. */
#define PAIRS_MAX 64

/* Order of a triangle that is left to the BLAS library. */
#ifndef TRSM_LEAF
#define TRSM_LEAF 16
#endif

#define DAG_TEMPLATE "cpu/trsm.inc.c"
#include <dag/each_precision.h>

#include "cpu/cpu.h"

/* Order up to which a vector is solved for by our kernels. */
#define TRSV_MAX MICRO_MAX

/* Order of a complex triangle that is not halved for that. */
#define PAIRS_MAX 64

/* Order of a triangle that is left to the BLAS library. */
#ifndef TRSM_LEAF
#define TRSM_LEAF 16
#endif

/* The same of a complex one with the library's kernels for AVX2, whose solve is nearly as fast as its product. */
enum { TRSM_WHOLE = 24 };

#define DAG_TEMPLATE "cpu/trsm.inc.c"
#include <dag/each_precision.h>

#include "cpu/cpu.h"

/* Order of a triangle that is left to the BLAS library. */
#ifndef TRSM_LEAF
#define TRSM_LEAF 16
#endif

#define DAG_TEMPLATE "cpu/trsm.inc.c"
#include "each_precision.h"

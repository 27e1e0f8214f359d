#include "cpu/cpu.h"

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#define LAPACK(op) DAG_PRECISION_CAT(DAG_PRECISION_CAT(LAPACKE_, DAG_PRECISION), op)

/* Columns of a panel that are factored one by one. */
enum { LU_LEAF = MICRO_LEAF };
/* Columns up to which z has leaves of its own with AVX2. */
enum { LU_PAIRS_NARROW = 50 };

#define DAG_TEMPLATE "cpu/lu.inc.c"
#include <dag/each_precision.h>

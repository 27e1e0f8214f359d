#include "cpu/cpu.h"

#include <lapacke.h>

#define LAPACK(op) DAG_PRECISION_CAT(DAG_PRECISION_CAT(LAPACKE_, DAG_PRECISION), op)

enum { INVERSE_UNIT = 8 }; /* triangles are halved at a multiple of it */

#define DAG_TEMPLATE "cpu/inverse.inc.c"
#include <dag/each_precision.h>

#include "cpu/cpu.h"

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#define LAPACK(op) DAG_PRECISION_CAT(DAG_PRECISION_CAT(LAPACKE_, DAG_PRECISION), op)

#define DAG_TEMPLATE "cpu/lu.inc.c"
#include "each_precision.h"

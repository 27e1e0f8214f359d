#include "cpu/cpu.h"

#define DAG_TEMPLATE "cpu/blas3.inc.c"
#include "each_precision.h"

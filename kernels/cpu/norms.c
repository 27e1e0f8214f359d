#include "cpu/cpu.h"

#define DAG_TEMPLATE "cpu/norms.inc.c"
#include "each_precision.h"

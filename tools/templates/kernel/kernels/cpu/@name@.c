#include "cpu/cpu.h"

#define DAG_TEMPLATE "cpu/@name@.inc.c"
#include "each_precision.h"

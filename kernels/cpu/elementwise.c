#include "cpu/cpu.h"

#include <string.h>

#define DAG_TEMPLATE "cpu/elementwise.inc.c"
#include "each_precision.h"

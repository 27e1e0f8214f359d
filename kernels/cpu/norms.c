#include "cpu/cpu.h"

#define DAG_TEMPLATE "cpu/norms.inc.c"
#include <dag/each_precision.h>

#include "cpu/cpu.h"

#include <string.h>

#define DAG_TEMPLATE "cpu/elementwise.inc.c"
#include <dag/each_precision.h>

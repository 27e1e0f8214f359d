#include "cpu/cpu.h"

#define DAG_TEMPLATE "cpu/@name@.inc.c"
#include <dag/each_precision.h>

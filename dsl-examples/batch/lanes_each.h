/* lanes.inc.c for the four element types and one instruction set, whose macros it takes back. No include
 * guard: one use per instance. */
#define DAG_PRECISION s
#include <dag/precision.h>
#include "batch/lanes.inc.c"
#include <dag/precision_undef.h>
#define DAG_PRECISION d
#include <dag/precision.h>
#include "batch/lanes.inc.c"
#include <dag/precision_undef.h>
#define DAG_PRECISION c
#include <dag/precision.h>
#include "batch/lanes.inc.c"
#include <dag/precision_undef.h>
#define DAG_PRECISION z
#include <dag/precision.h>
#include "batch/lanes.inc.c"
#include <dag/precision_undef.h>
#undef LANES
#undef LANES_TARGET
#undef LANES_BYTES

/* lanes.inc.c for the four element types and one instruction set, whose macros it takes back. No include
 * guard: one use per instance. */
#define DAG_TEMPLATE "batch/lanes.inc.c"
#include <dag/each_precision.h>
#undef LANES
#undef LANES_TARGET
#undef LANES_BYTES
#undef LANES_SIDE
#undef LANES_SOLVES
#undef LANES_PRODUCTS

#include "cpu/cpu.h"

/* Columns that complex products take one by one, and elements of A up to which they do. */
enum { FEW_COLUMNS = 4, FEW_ELEMENTS = MICRO_MAX * MICRO_MAX };
/* Dimensions of a product from which on packing pays. */
enum { LARGE = 448 };

#define DAG_TEMPLATE "cpu/blas3.inc.c"
#include "each_precision.h"

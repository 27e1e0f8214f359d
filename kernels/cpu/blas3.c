#include "cpu/cpu.h"

/* Columns that complex products take one by one, and elements of A up to which they do. */
enum { FEW_COLUMNS = 4, FEW_ELEMENTS = MICRO_MAX * MICRO_MAX };
/* Dimensions of a product from which on packing may pay. */
enum { LARGE = 448 };

/* Measured: in the BLAS library, 500 rows, on Intel's processors 75 GFlop/s instead of 70, on AMD's 112
 * instead of 128. And the library must use the vectors that the processor has. */
static bool packing_pays(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    return __builtin_cpu_is("intel") && !dagi_blas_is_narrow();
#else
    return true;
#endif
}

#define DAG_TEMPLATE "cpu/blas3.inc.c"
#include "each_precision.h"

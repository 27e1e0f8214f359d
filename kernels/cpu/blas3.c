#include "ahead.h"
#include "cpu/cpu.h"

/* Columns that complex products take one by one, and elements of A up to which they do. */
enum { FEW_COLUMNS = 4, FEW_ELEMENTS = MICRO_MAX * MICRO_MAX };
/* Dimensions of a product from which on packing may pay, columns, and rows from which on that is looked at. */
enum { LARGE = 448, WIDE = 200, TALL = 256 };
/* Columns and inner indices from which on it pays for tall A and C that a large second-level cache does not hold. */
enum { BROAD = 64 };

#if defined(__x86_64__) && defined(__GNUC__)
/* A and C of so many bytes come from beyond a second-level cache of 2 MiB or more. Read there as they lie, panel by
 * panel, that is three lines of each column at a time: on Emerald Rapids 3000 rows with 264 columns and inner indices make
 * 64 GFlop/s, packed 77, 3700 rows 53 and 78, with 64 of them 47 and 58; 1024 rows with 128, which the cache holds, 74 and
 * 70. Where that cache is smaller (Cascade Lake) panels as they lie are faster. */
static bool flows_past(size_t bytes)
{
    enum { LEAST = 2 << 20 };
    size_t holds = dagi_second_cache();
    return holds >= LEAST && bytes > holds / 4 * 5;
}
#endif

/* Measured, 500 rows with AVX-512: in the BLAS library on Intel's processors 75 GFlop/s instead of 70, and 126 instead of
 * 121 for 250 columns on each of two cores; on AMD's 112 instead of 128. With AVX2 both operands are copied, and nothing is
 * left to the library (Zen 3: tiles of 320 from memory 46.4 GFlop/s, the library's 44.7; 2000 rows, 192 columns 47.5 and
 * 45.3). And the library must use the vectors that the processor has. */
static bool packing_pays(bool trans, int m, int n, int k, size_t elem)
{
#if defined(__x86_64__) && defined(__GNUC__)
    if (m <= TALL || dagi_micro_level() < 2) /* asking for the processor takes longer than so small a product */
        return false;
    bool pays = __builtin_cpu_is("intel") &&
                ((m > LARGE && n > WIDE && k > LARGE) ||
                 (!trans && n >= BROAD && k >= BROAD && flows_past((size_t)m * (size_t)(n + k) * elem)));
    return pays && !dagi_blas_is_narrow();
#else
    return m > LARGE && n > LARGE && k > LARGE;
#endif
}

#define DAG_TEMPLATE "cpu/blas3.inc.c"
#include <dag/each_precision.h>

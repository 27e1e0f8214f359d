#include "ahead.h"
#include "cpu/cpu.h"

/* Columns that complex products take one by one, and elements of A up to which they do. */
enum { FEW_COLUMNS = 4, FEW_ELEMENTS = MICRO_MAX * MICRO_MAX };
/* Dimensions of a product from which on packing may pay, and columns; rows, and the others, from which on it does with
 * AVX2. */
enum { LARGE = 448, WIDE = 200, TALL = 256, NOT_SLIM = 16 };
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

/* Measured: in the BLAS library, 500 rows with AVX-512, on Intel's processors 75 GFlop/s instead of 70, and 126 instead of
 * 121 for 250 columns on each of two cores; on AMD's 112 instead of 128. With AVX2 (Zen 3) 45 instead of 42 for 320 rows,
 * columns and inner indices, 43 instead of 40 for 3872 by 128 by 128, and in Linpack of order 4000 on two processes .75 s
 * instead of .86. And the library must use the vectors that the processor has. */
static bool packing_pays(bool trans, int m, int n, int k, size_t elem)
{
#if defined(__x86_64__) && defined(__GNUC__)
    if (m <= TALL) /* asking for the processor takes longer than so small a product */
        return false;
    bool pays = dagi_micro_level() < 2
                    ? n >= NOT_SLIM && k >= NOT_SLIM
                    : __builtin_cpu_is("intel") &&
                          ((m > LARGE && n > WIDE && k > LARGE) ||
                           (!trans && n >= BROAD && k >= BROAD && flows_past((size_t)m * (size_t)(n + k) * elem)));
    return pays && !dagi_blas_is_narrow();
#else
    return m > LARGE && n > LARGE && k > LARGE;
#endif
}

#define DAG_TEMPLATE "cpu/blas3.inc.c"
#include <dag/each_precision.h>

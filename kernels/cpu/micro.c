/* Instances of micro.inc.c, and the choice among them. */
#include "cpu/micro.h"

#include "ahead.h"
#include "cpu/cpu.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define MICRO_SQRT_s __builtin_sqrtf
#define MICRO_SQRT_d __builtin_sqrt
#define MICRO_SQRT DAG_PRECISION_CAT(MICRO_SQRT_, DAG_PRECISION)
#define MICRO_TYPE DAG_PRECISION_CAT(DAG_PRECISION_CAT(dagi_micro_, DAG_PRECISION), _table)
#define MICRO_PRODUCT DAG_PRECISION_CAT(dagi_pairs_, DAG_PRECISION)

/* Two vectors exchange the lanes that have bit `s` of their number set in the first and clear in the
 * second: what the first becomes, and the second. Indices of the second follow the first's. */
#define KEEP_LOW(lanes, i, s) (((i) & (s)) == 0 ? (i) : (lanes) + ((i) ^ (s)))
#define KEEP_HIGH(lanes, i, s) (((i) & (s)) == 0 ? ((i) ^ (s)) : (lanes) + (i))
/* The parts of complex elements exchanged. */
#define OTHER_PART(lanes, i, s) ((i) ^ (s))
#define LANES_4(keep, n, i, s) \
    keep(n, i, s), keep(n, i + 1, s), keep(n, i + 2, s), keep(n, i + 3, s)
#define LANES_8(keep, n, i, s) LANES_4(keep, n, i, s), LANES_4(keep, n, i + 4, s)
#define LANES_16(keep, n, i, s) LANES_8(keep, n, i, s), LANES_8(keep, n, i + 8, s)
#define MICRO_INT_s int32_t
#define MICRO_INT_d int64_t
#define MICRO_LANES DAG_PRECISION_CAT(MICRO_LANES_, DAG_PRECISION)
#define MICRO_MASK DAG_PRECISION_CAT(MICRO_MASK_, DAG_PRECISION)
#define MICRO_FIRST DAG_PRECISION_CAT(MICRO_FIRST_, DAG_PRECISION)
#define MICRO_LOAD DAG_PRECISION_CAT(MICRO_LOAD_, DAG_PRECISION)
#define MICRO_STORE DAG_PRECISION_CAT(MICRO_STORE_, DAG_PRECISION)

/* AVX-512 */
#define MICRO_LANES_s(keep, s) LANES_16(keep, 16, 0, s)
#define MICRO_LANES_d(keep, s) LANES_8(keep, 8, 0, s)
#define MICRO_MASK_s __mmask16
#define MICRO_MASK_d __mmask8
#define MICRO_FIRST_s(n) ((__mmask16)((1U << (n)) - 1))
#define MICRO_FIRST_d(n) ((__mmask8)((1U << (n)) - 1))
/* GCC takes the mask of its own function from a general register, at each load of a loop, which costs a processor of
 * Intel one of the two ports that multiply. */
#define MICRO_MASKED(mask, at, op, type)                                                           \
    ({                                                                                             \
        type masked_;                                                                              \
        __asm__(op " %1, %0%{%2%}%{z%}" : "=v"(masked_) : "m"(*(const type##_u *)(at)), "Yk"(mask)); \
        masked_;                                                                                   \
    })
#define MICRO_LOAD_s(mask, at) MICRO_MASKED(mask, at, "vmovups", __m512)
#define MICRO_LOAD_d(mask, at) MICRO_MASKED(mask, at, "vmovupd", __m512d)
#define MICRO_STORE_s(at, mask, v) _mm512_mask_storeu_ps(at, mask, (__m512)(v))
#define MICRO_STORE_d(at, mask, v) _mm512_mask_storeu_pd(at, mask, (__m512d)(v))
#define MICRO_TARGET __attribute__((target("avx512f,avx512dq,avx512vl,fma")))
#define MICRO_BYTES 64
#define MICRO_COLS 8
#define MICRO(name) DAG_PRECISION_CAT(name##_avx512_, DAG_PRECISION)
#define DAG_PRECISION s
#include <dag/precision.h>
#include "cpu/micro.inc.c"
#include <dag/precision_undef.h>
#define DAG_PRECISION d
#include <dag/precision.h>
#include "cpu/micro.inc.c"
#include <dag/precision_undef.h>
#undef MICRO
#undef MICRO_COLS
#undef MICRO_BYTES
#undef MICRO_TARGET
#undef MICRO_LANES_s
#undef MICRO_LANES_d
#undef MICRO_MASK_s
#undef MICRO_MASK_d
#undef MICRO_FIRST_s
#undef MICRO_FIRST_d
#undef MICRO_LOAD_s
#undef MICRO_LOAD_d
#undef MICRO_STORE_s
#undef MICRO_STORE_d

/* AVX2: a mask is a vector, read from where these begin to be zero. */
static const int32_t lanes_s[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
static const int64_t lanes_d[8] = {-1, -1, -1, -1};
#define MICRO_LANES_s(keep, s) LANES_8(keep, 8, 0, s)
#define MICRO_LANES_d(keep, s) LANES_4(keep, 4, 0, s)
#define MICRO_MASK_s __m256i
#define MICRO_MASK_d __m256i
#define MICRO_FIRST_s(n) _mm256_loadu_si256((const __m256i *)(lanes_s + 8 - (n)))
#define MICRO_FIRST_d(n) _mm256_loadu_si256((const __m256i *)(lanes_d + 4 - (n)))
#define MICRO_LOAD_s(mask, at) _mm256_maskload_ps(at, mask)
#define MICRO_LOAD_d(mask, at) _mm256_maskload_pd(at, mask)
#define MICRO_STORE_s(at, mask, v) _mm256_maskstore_ps(at, mask, (__m256)(v))
#define MICRO_STORE_d(at, mask, v) _mm256_maskstore_pd(at, mask, (__m256d)(v))
#define MICRO_TARGET __attribute__((target("avx2,fma")))
#define MICRO_BYTES 32
#define MICRO_COLS 4
#define MICRO(name) DAG_PRECISION_CAT(name##_avx2_, DAG_PRECISION)
#define DAG_PRECISION s
#include <dag/precision.h>
#include "cpu/micro.inc.c"
#include <dag/precision_undef.h>
#define DAG_PRECISION d
#include <dag/precision.h>
#include "cpu/micro.inc.c"
#include <dag/precision_undef.h>

static int limit = 2;

int dagi_micro_level(void)
{
    if (limit >= 2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return 2;
    return limit >= 1 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

int dagi_micro_limit(int wanted)
{
    limit = wanted;
    return dagi_micro_level();
}

const dagi_micro_s_table *dagi_micro_s(void)
{
    static const dagi_micro_s_table *const tables[] = {NULL, &table_avx2_s, &table_avx512_s};
    return tables[dagi_micro_level()];
}

const dagi_micro_d_table *dagi_micro_d(void)
{
    static const dagi_micro_d_table *const tables[] = {NULL, &table_avx2_d, &table_avx512_d};
    return tables[dagi_micro_level()];
}

#else

int dagi_micro_level(void)
{
    return 0;
}

int dagi_micro_limit(int wanted)
{
    (void)wanted;
    return 0;
}

const dagi_micro_s_table *dagi_micro_s(void)
{
    return NULL;
}

const dagi_micro_d_table *dagi_micro_d(void)
{
    return NULL;
}

#endif

/* Instances of lanes.inc.c for element types and instruction sets, and the choice among them. */
#include "batch/lanes.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define LANES_LEAST (sizeof(real_t) == sizeof(float) ? (real_t)FLT_MIN : (real_t)DBL_MIN)
/* Sums of squares between these have lost nothing to underflow or overflow. */
#define LANES_SMALL (sizeof(real_t) == sizeof(float) ? (real_t)1e-25 : (real_t)1e-200)
#define LANES_LARGE (sizeof(real_t) == sizeof(float) ? (real_t)1e+30 : (real_t)1e+250)

/* Whole numbers of the size of real parts. */
#define LANES_INT_s int32_t
#define LANES_INT_d int64_t
#define LANES_INT_c int32_t
#define LANES_INT_z int64_t

#define LANES_BYTES 16
#define LANES_SIDE LANES_ALONE
#define LANES_SOLVES {1, 0}
#define LANES_PRODUCTS 0
#define LANES_TARGET
#define LANES(name) DAG_PRECISION_CAT(name##_plain_, DAG_PRECISION)
#include "batch/lanes_each.h"

#if defined(__x86_64__) && defined(__GNUC__)
/* Solves in real types are as fast alone there or faster: on Zen 3 with 12, 16, 20 and 24 columns 1.5, 1.25, 1.2 and 1.15 times
 * in d, with matrices from memory. With 28 and 32 they are from a cache only, and .95 and .85 from memory. */
#define LANES_BYTES 32
#define LANES_SIDE LANES_ORDER
#define LANES_SOLVES {DAG_COMPLEX ? 1 : 9, DAG_COMPLEX ? 0 : 24}
#define LANES_PRODUCTS 6
#define LANES_TARGET __attribute__((target("avx2,fma")))
#define LANES(name) DAG_PRECISION_CAT(name##_avx2_, DAG_PRECISION)
#include "batch/lanes_each.h"

#define LANES_BYTES 64
#define LANES_SIDE LANES_ORDER
#define LANES_SOLVES {1, 0}
#define LANES_PRODUCTS 16
#define LANES_TARGET __attribute__((target("avx512f,avx512dq,avx512vl,fma")))
#define LANES(name) DAG_PRECISION_CAT(name##_avx512_, DAG_PRECISION)
#include "batch/lanes_each.h"

static int level(void)
{
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return 2;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 1 : 0;
}

static const lanes_table *const tables[3][4] = {
    {&table_plain_s, &table_plain_d, &table_plain_c, &table_plain_z},
    {&table_avx2_s, &table_avx2_d, &table_avx2_c, &table_avx2_z},
    {&table_avx512_s, &table_avx512_d, &table_avx512_c, &table_avx512_z},
};
#else
static int level(void)
{
    return 0;
}

static const lanes_table *const tables[1][4] = {
    {&table_plain_s, &table_plain_d, &table_plain_c, &table_plain_z},
};
#endif

static int limit = 2;

int dagi_lanes_limit(int wanted)
{
    limit = wanted;
    return level() < limit ? level() : limit;
}

const lanes_table *dagi_lanes(dag_precision prec)
{
    int most = level();
    return tables[most < limit ? most : limit][prec];
}

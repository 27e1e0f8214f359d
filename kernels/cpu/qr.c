#include "cpu/cpu.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

#define LAPACK(op) DAG_PRECISION_CAT(DAG_PRECISION_CAT(LAPACKE_, DAG_PRECISION), op)

/* A := A + a x y^H, and the sum of squares of n elements, as CBLAS names them. */
#define GER_s cblas_sger
#define GER_d cblas_dger
#define GER_c cblas_cgerc
#define GER_z cblas_zgerc
#define GER DAG_PRECISION_CAT(GER_, DAG_PRECISION)
#define SQUARES_s(n, x) ((float)cblas_sdot(n, x, 1, x, 1))
#define SQUARES_d(n, x) cblas_ddot(n, x, 1, x, 1)
#define SQUARES_c(n, x) ((float)cblas_sdot(2 * (n), (const float *)(x), 1, (const float *)(x), 1))
#define SQUARES_z(n, x) cblas_ddot(2 * (n), (const double *)(x), 1, (const double *)(x), 1)
#define SQUARES DAG_PRECISION_CAT(SQUARES_, DAG_PRECISION)

/* Squares between these bounds have lost nothing to underflow or overflow. The lower one leaves room
 * for products with columns that are far smaller, of which the square does not tell. */
#define SQUARES_MIN (DAG_PREC == DAG_S || DAG_PREC == DAG_C ? 1e-14 : 1e-200)
#define SQUARES_MAX (DAG_PREC == DAG_S || DAG_PREC == DAG_C ? 1e+36 : 1e+300)

/* Columns that are reduced one by one, and the order of triangles that are filled up with zeros to
 * be multiplied as squares. */
enum { QR_LEAF = MICRO_LEAF, QR_SQUARE = 48, QR_ROWS = 128, QR_FEW = 32 };

/* Columns a multiple of so many bytes apart fall on each other in a cache: they are copied. */
enum { QR_STRIDE = 2048 };

/* Leading dimension of a copy of `rows` rows: an odd number of cache lines, so that neighbouring
 * columns do not fall on each other in a cache. */
static int spread(int rows, size_t item)
{
    int lane = 64 / (int)item;
    return ((rows + lane - 1) / lane | 1) * lane;
}

/* Blocks of a stack of m rows; the last one may be lower. No sum of m and block, which may not fit. */
static int blocks_of(int m, int block)
{
    return m / block + (m % block > 0);
}

#define DAG_TEMPLATE "cpu/qr.inc.c"
#include <dag/each_precision.h>

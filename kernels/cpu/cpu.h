/*
 * What the CPU kernel templates share. Macros here expand where they are used, so they see the
 * precision that is active there.
 */
#ifndef DAG_KERNELS_CPU_H
#define DAG_KERNELS_CPU_H

#include "cpu/micro.h"
#include "model.h"

#include <dag/kernels.h>

#include <assert.h>
#include <cblas.h>

/* Does the BLAS library run kernels without vectors that the processor has? (threads.c) */
bool dagi_blas_is_narrow(void);

/* Name of a helper private to this translation unit: LOCAL(leaf) is leaf_z. */
#define LOCAL(name) DAG_PRECISION_CAT(name##_, DAG_PRECISION)

/* CBLAS routine of this precision: CBLAS(gemm) is cblas_zgemm. */
#define CBLAS(op) DAG_PRECISION_CAT(DAG_PRECISION_CAT(cblas_, DAG_PRECISION), op)

/* CBLAS takes real scalars by value and complex ones by address. */
#define SCALAR_0(a) (a)
#define SCALAR_1(a) (&(a))
#define SCALAR(a) DAG_PRECISION_CAT(SCALAR_, DAG_COMPLEX)(a)

/* The enumerations have the values of CBLAS, so that translating them is a cast. */
static_assert((int)DAG_UPPER == (int)CblasUpper && (int)DAG_LOWER == (int)CblasLower, "uplo");
static_assert((int)DAG_NO_TRANS == (int)CblasNoTrans && (int)DAG_TRANS == (int)CblasTrans &&
              (int)DAG_CONJ_TRANS == (int)CblasConjTrans, "trans");
static_assert((int)DAG_LEFT == (int)CblasLeft && (int)DAG_RIGHT == (int)CblasRight, "side");
static_assert((int)DAG_UNIT == (int)CblasUnit && (int)DAG_NON_UNIT == (int)CblasNonUnit, "diag");

/* The kernels of micro.h for the element type, if this processor has any, and for what shapes. */
#define MICRO_NOW DAG_PRECISION_CAT(dagi_micro_, DAG_PRECISION)()
#define MICRO_FITS(m, n, k) \
    ((m) <= MICRO_MAX && (n) <= MICRO_MAX && (k) <= MICRO_MAX && MICRO_NOW != NULL)

/* Those for pairs of elements, of which a complex one is one. */
#define PAIRS_NOW_c dagi_micro_s()
#define PAIRS_NOW_z dagi_micro_d()
#define PAIRS_NOW DAG_PRECISION_CAT(PAIRS_NOW_, DAG_PRECISION)
#define PAIRS_PRODUCT_c dagi_pairs_s
#define PAIRS_PRODUCT_z dagi_pairs_d
#define PAIRS_PRODUCT DAG_PRECISION_CAT(PAIRS_PRODUCT_, DAG_PRECISION)

/* Maps the pages of this library's code, and some of the stack. */
void dagi_map_pages(void);

/* Offset of element (i, j): in size_t, because a tile may have more than 2^31 elements. */
#define AT(i, j, ld) ((size_t)(i) + (size_t)(j) * (size_t)(ld))

/* A tile of `rows` by `cols` may have leading dimension `ld`. */
#define ASSERT_TILE(rows, cols, ld) \
    assert((rows) >= 0 && (cols) >= 0 && (ld) >= 1 && (ld) >= (rows))

/* The same for a square tile. */
#define ASSERT_ORDER(order, ld) assert((order) >= 0 && (ld) >= 1 && (ld) >= (order))

/*
 * Product of two elements by the formula. C's own complex product repairs infinities by a call
 * per element, which BLAS does not do either.
 */
#define MUL_0(a, b) ((a) * (b))
#define MUL_1(a, b) \
    DAG_ELEM(DAG_REAL(a) * DAG_REAL(b) - DAG_IMAG(a) * DAG_IMAG(b), \
             DAG_REAL(a) * DAG_IMAG(b) + DAG_IMAG(a) * DAG_REAL(b))
#define MUL(a, b) DAG_PRECISION_CAT(MUL_, DAG_COMPLEX)(a, b)

/* Where to cut `n` > leaf in two: near the middle, at a multiple of the leaf. */
static inline int split(int n, int leaf)
{
    return (n / leaf + 1) / 2 * leaf;
}

/* Rows [first, end) of a region in one column of a tile. */
typedef struct row_range {
    int first;
    int end;
} row_range;

/*
 * Every dag_region is contiguous in each column: the pieces below, on and above the diagonal are
 * adjacent, and no region leaves out the diagonal only.
 */
static inline row_range region_rows(dag_region region, int m, int j)
{
    row_range r;
    bool diagonal = (region & DAG_REGION_DIAGONAL) != 0;
    r.first = region & DAG_REGION_UPPER_STRICT ? 0 : diagonal ? j : j + 1;
    r.end = region & DAG_REGION_LOWER_STRICT ? m : diagonal ? j + 1 : j;
    if (r.end > m)
        r.end = m;
    if (r.first > r.end)
        r.first = r.end;
    return r;
}

#endif

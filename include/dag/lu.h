/**
 * @file lu.h
 * LU factorisation of general matrices and what is solved with it. Included by la.h, whose
 * conventions hold: every function is collective, and exists for the four element types and once
 * without a letter.
 *
 * Pivots are LAPACK's: ipiv[i] = k says that row i+1 was exchanged with row k (counted from 1).
 * Every rank passes an array of min(m, n) items and gets all of them.
 *
 * Tiles are square. A matrix in slab layout (ScaLAPACK's local array) is factored where it lies; one
 * in tile layout is copied to slabs and back, which takes its memory once more.
 *
 * A U(k,k) that is exactly zero is no error: the factorisation is completed, *info = k (from 1, the
 * first one) on all ranks, and nothing can be solved with it. NaN and infinity go through to the
 * result.
 */
#ifndef DAG_LU_H
#define DAG_LU_H

#include <dag/matrix.h>

DAG_C_BEGIN

/**
 * LU factorisation with partial pivoting, P A = L U, in place; L has a unit diagonal. Pivots are
 * those of LAPACK's getrf where no two candidates are equal up to rounding, on every grid.
 * @param A     m x n in square tiles, DAG_GENERAL.
 * @param ipiv  min(m, n) items on every rank.
 * @param[out] info  see above; may be NULL.
 */
dag_status dag_getrf(dag_context *ctx, dag_matrix *A, int64_t *ipiv, int64_t *info);

/** Where dag_getrf_with() takes its pivots from. */
typedef enum dag_pivoting {
    DAG_PIVOT_PARTIAL, /**< the largest element of each column, as LAPACK */
    /**
     * A tournament (CALU: L. Grigori, J. Demmel and H. Xiang, "CALU: a communication optimal LU
     * factorization algorithm", SIAM J. Matrix Anal. Appl. 32, 2011): stacks of rows name the nb
     * pivots that partial pivoting would choose in each alone, and a tree chooses nb among these. A
     * panel takes messages once, not once per column, and costs twice the arithmetic. Elements of L
     * may be larger than 1; as a rule by little, and elements grow as they do with partial pivoting.
     * With one stack in all the pivots are LAPACK's.
     */
    DAG_PIVOT_TOURNAMENT
} dag_pivoting;

/** How dag_getrf_with() goes about it; 0 leaves the choice to it. */
typedef struct dag_lu_options {
    dag_pivoting pivoting;
    int64_t stack; /**< tiles of a stack at most, in a tournament; without a choice one stack per
                        process row, several in tall matrices of few block columns */
    int lookahead; /**< panels that may be factored ahead of the oldest update that is not done,
                        plus 1: 1 goes panel by panel. Without a choice there is no limit where all
                        panels do not travel (one process column), else 3 panels, because each that is
                        ahead takes memory on all ranks. */
    int unexchanged; /**< 1: rows that a panel exchanges stay as they are in block columns left of it, as in
                        High Performance Linpack, which saves half of the exchanges: those of row r are
                        with row ipiv[r], in block columns from r's own on. On and above the diagonal is
                        the same U; below it are the multipliers, which neither dag_getrs() nor a
                        permutation that comes first can work with. So factor A and B side by side, as
                        [A B] with one more block column or more: what has been B is then L^-1 P B, and
                        dag_trsm() with U solves. dag_gesv_with() refuses it. */
    int exchanges; /**< block columns of a rank whose rows one panel may be exchanging at a time, with partial
                        pivoting on several process rows; without a choice 2 for each worker and 2; where there
                        are devices 8 for each, or all of them on one process column. More keep the network busy
                        for longer, fewer let messages that agree on pivots through. */
    int pieces; /**< tasks, of some of the rows each, that an update is cut into, there as well; without a choice one
                     for each 480 rows of a rank, 8 at most; 1 where there are devices */
} dag_lu_options;

/** dag_getrf() with options, the same on all ranks; NULL = all 0. */
dag_status dag_getrf_with(dag_context *ctx, dag_matrix *A, int64_t *ipiv,
                          const dag_lu_options *options, int64_t *info);

/**
 * Solve op(A) X = B with the factors of dag_getrf(), op(A) being A, A^T or A^H.
 * @param A     n x n, as dag_getrf() left it. Not modified.
 * @param ipiv  its pivots, n items on every rank; NULL after dag_getrf_nopiv().
 * @param B     n x nrhs, DAG_GENERAL, of the same element type and with the same tile rows
 *              (B->mb == A->mb); any number and width of block columns. Overwritten with X. In tile
 *              layout it is copied, as A is by dag_getrf().
 */
dag_status dag_getrs(dag_context *ctx, dag_trans trans, dag_matrix *A, const int64_t *ipiv,
                     dag_matrix *B);

/**
 * Solve A X = B: dag_getrf() and then dag_getrs(). When *info > 0, B is as it was. `info` must not
 * be NULL.
 */
dag_status dag_gesv(dag_context *ctx, dag_matrix *A, int64_t *ipiv, dag_matrix *B, int64_t *info);

/** dag_gesv() with the options of dag_getrf_with(). */
dag_status dag_gesv_with(dag_context *ctx, dag_matrix *A, int64_t *ipiv, dag_matrix *B,
                         const dag_lu_options *options, int64_t *info);

/**
 * LU factorisation without pivoting, A = L U, in place, for matrices that are known not to need it:
 * diagonally dominant or positive definite ones. On others the result may be worthless without
 * *info telling.
 * @param A  m x n in square tiles of any layout, DAG_GENERAL.
 * @param[out] info  when U(k,k) = 0 the factorisation ends there, *info = k; may be NULL.
 */
dag_status dag_getrf_nopiv(dag_context *ctx, dag_matrix *A, int64_t *info);

/**
 * Exchange rows of A as dag_getrf() did: row i with row ipiv[i], i = 1, ..., k; backward undoes it.
 * @param A  m x n in slab or tile layout, DAG_GENERAL; mb rows of a tile as in the factorisation or not.
 */
dag_status dag_laswp(dag_context *ctx, dag_matrix *A, int64_t k, const int64_t *ipiv,
                     int backward);

#define DAG_LU_DECLARE(p, ...)                                                                     \
    dag_status dag_##p##getrf(dag_context *ctx, dag_matrix *A, int64_t *ipiv, int64_t *info);      \
    dag_status dag_##p##getrf_nopiv(dag_context *ctx, dag_matrix *A, int64_t *info);               \
    dag_status dag_##p##getrs(dag_context *ctx, dag_trans trans, dag_matrix *A,                    \
                              const int64_t *ipiv, dag_matrix *B);                                 \
    dag_status dag_##p##gesv(dag_context *ctx, dag_matrix *A, int64_t *ipiv, dag_matrix *B,        \
                             int64_t *info);
DAG_EACH_PRECISION(DAG_LU_DECLARE)
#undef DAG_LU_DECLARE

DAG_C_END
#endif

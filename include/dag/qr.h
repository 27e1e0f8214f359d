/**
 * @file qr.h
 * QR factorisation and what is solved with it: least squares and minimum norm. Included by la.h,
 * whose conventions hold: every function is collective.
 *
 * Tiles are square. A matrix in slab layout (ScaLAPACK's local array) is factored where it lies; one
 * in tile layout is copied to slabs and back, which takes its memory once more.
 *
 * The tiles of a block column that lie on one process row are cut into one or several *stacks*. Each
 * panel factors its stacks on their own and then the triangles that are left in a binary tree
 * (Demmel, Grigori, Hoemmen and Langou, 2012), first within a process row, then across them. With
 * one process row and one stack, this is LAPACK's blocked algorithm, and R and V are LAPACK's up to
 * rounding.
 */
#ifndef DAG_QR_H
#define DAG_QR_H

#include <dag/matrix.h>

DAG_C_BEGIN

/**
 * The part of Q that dag_geqrf() does not leave in A. Q is the product over the panels k of
 * Q(0,k) Q(1,k) ... C(k), where
 * - Q(d,k) = I - V T V^H acts on the rows of stack d from tile row k on; V is unit lower
 *   trapezoidal and lies in A below the diagonal of the first tile of the stack that takes part;
 * - C(k) is the tree: it acts on the first nb rows of all of them.
 * T of the stacks (one nb x nb tile per stack and panel: the inner block is as wide as a tile), and
 * V and T of the tree (a pair of nb x nb triangles per stack but one, and panel) are kept here, each
 * on the rank that holds the stack, in about (m / height of a stack) n nb elements.
 *
 * A matrix of few tiles on one rank is one block. The stacks of a tall one with one or two block columns
 * are cut into blocks of rows that fit a cache: Q(d,k) is a product over the blocks, from the first to the last, and within each over
 * panels of DAG_QR_INNER columns, whose T are DAG_QR_INNER by DAG_QR_INNER: DAG_QR_INNER rows of T per
 * block instead of nb per stack. A block but the first has a V without triangle, which lies where its
 * rows were, and acts on the first rows of the stack besides its own.
 */
typedef struct dag_qr dag_qr;

/**
 * QR factorisation A = Q R, in place: R on and above the diagonal.
 * @param A   m x n in square tiles, DAG_GENERAL; any m and n.
 * @param[out] qr  the rest of Q, owned by the caller: dag_qr_free(). Set on success only.
 */
dag_status dag_geqrf(dag_context *ctx, dag_matrix *A, dag_qr **qr);

/** How dag_geqrf_with() goes about it; 0 leaves the choice to it. */
typedef struct dag_qr_options {
    int64_t stack; /**< tiles of a stack at most; all the tiles of a process row that hold parts of
                        R, and one more, are always in one stack */
    int64_t block; /**< rows of the blocks that stacks are cut into, at least nb. Without options it
                        is chosen for up to two block columns, and others are not cut, nor any
                        where there are devices: products with Q of a stack that is cut stay on
                        cores */
    int lookahead; /**< panels that may be factored ahead of the oldest update that is not done,
                        plus 1: 1 goes panel by panel */
} dag_qr_options;

/** dag_geqrf() with options, the same on all ranks; NULL = all 0. */
dag_status dag_geqrf_with(dag_context *ctx, dag_matrix *A, const dag_qr_options *options,
                          dag_qr **qr);

/** Free what dag_geqrf() made; NULL is allowed. */
void dag_qr_free(dag_qr *qr);

/**
 * B := op(Q) B (DAG_LEFT) or B := B op(Q) (DAG_RIGHT), dag_unmqr() and dag_ormqr(): op(Q) is Q or
 * Q^H by trans, DAG_NO_TRANS or DAG_CONJ_TRANS; in s and d also DAG_TRANS.
 * @param A   as dag_geqrf() left it, with qr. Not modified.
 * @param B   DAG_GENERAL, of the same element type. From the left m x nrhs, with as many process
 *            rows as A and B->mb == A->mb; any number and width of block columns. From the right
 *            nrhs x m with B->nb == A->nb, otherwise cut and dealt out in any way; takes the memory of
 *            B once more, because B^H is multiplied.
 */
dag_status dag_unmqr(dag_context *ctx, dag_side side, dag_trans trans, dag_matrix *A,
                     const dag_qr *qr, dag_matrix *B);

/**
 * The first columns of Q.
 * @param A   as dag_geqrf() left it, with qr. Not modified.
 * @param Q   m x l with min(m, n) <= l <= m, in tiles, process rows and element type as A.
 *            Overwritten.
 */
dag_status dag_ungqr(dag_context *ctx, dag_matrix *A, const dag_qr *qr, dag_matrix *Q);

/** The part of Q that dag_gelqf() does not leave in A: that of the QR factorisation of A^H. */
typedef struct dag_lq dag_lq;

/**
 * LQ factorisation A = L Q, in place: L on and below the diagonal. It is the QR factorisation of A^H,
 * which takes the memory of A once more.
 * @param A   m x n in square tiles, DAG_GENERAL; any m and n.
 * @param[out] lq  the rest of Q, owned by the caller: dag_lq_free(). Set on success only.
 */
dag_status dag_gelqf(dag_context *ctx, dag_matrix *A, dag_lq **lq);

/** Free what dag_gelqf() made; NULL is allowed. */
void dag_lq_free(dag_lq *lq);

/**
 * B := op(Q) B or B := B op(Q), as dag_unmqr(), with Q of dag_gelqf(), n x n: what is said there of
 * m holds for n. Takes the memory of A once more.
 */
dag_status dag_unmlq(dag_context *ctx, dag_side side, dag_trans trans, dag_matrix *A,
                     const dag_lq *lq, dag_matrix *B);

/**
 * The first rows of Q.
 * @param A   as dag_gelqf() left it, with lq. Not modified.
 * @param Q   l x n with min(m, n) <= l <= n, in tiles and element type as A. Overwritten.
 */
dag_status dag_unglq(dag_context *ctx, dag_matrix *A, const dag_lq *lq, dag_matrix *Q);

/**
 * Solves over- and underdetermined systems with a matrix of full rank, as LAPACK's gels. For op(A)
 * with at least as many rows as columns X minimises ||B - op(A) X||, else X is the solution of
 * op(A) X = B of least norm. A matrix with m < n is not factored as L Q: A^H = Q R is the same
 * factorisation, and A is turned into it.
 * @param trans  DAG_NO_TRANS or DAG_CONJ_TRANS (in s and d also DAG_TRANS).
 * @param A      m x n in square tiles, DAG_GENERAL. For m >= n overwritten with its factorisation.
 * @param B      max(m, n) x nrhs with B->mb == A->mb, as many process rows as A, and the same element
 *               type. The first rows of op(A) hold the right-hand sides; the first columns of op(A)
 *               rows get X. When X minimises, the squares of what is below it add up to those of the
 *               residual, column by column.
 * @param[out] info  0, or k if R(k,k) is exactly zero: then A has no full rank and there is no
 *               solution, but for a matrix of zeros, for which X is 0 and *info too, as in LAPACK. The
 *               same on all ranks; must not be NULL.
 */
dag_status dag_gels(dag_context *ctx, dag_trans trans, dag_matrix *A, dag_matrix *B, int64_t *info);

/**
 * dag_gels(), and what its solution is worth: a matrix that has full rank only by rounding is solved
 * without a complaint, as in LAPACK.
 * @param[out] rcond    reciprocal of the condition number of R in the one-norm, as LAPACK's trcon; by
 *                      an estimate as that of dag_gecon(). Below eps the rank is not full to working
 *                      precision. 0 when *info > 0, and for a matrix of zeros; 1 for one without
 *                      elements, NaN without right-hand sides or when an element is not a number.
 * @param[out] seconds  how long the estimate took; may be NULL.
 */
dag_status dag_gels_rcond(dag_context *ctx, dag_trans trans, dag_matrix *A, dag_matrix *B,
                          double *rcond, double *seconds, int64_t *info);

/**
 * dag_gels_rcond(), and bounds of the errors of X, which cost two passes over B.
 * @param[out] ferr  nrhs items: bounds of ||x - true x|| / ||x|| in two-norms of each column, by the
 *                   formulas of the LAPACK Users' Guide (3rd ed., 4.5.1) where X minimises, of Demmel
 *                   and Higham (SIAM J. Matrix Anal. Appl. 14, 1993) where it has least norm. The factor
 *                   that both leave open is 2 sqrt(max(m, n)). From 1 on a bound says nothing; infinity
 *                   when *info > 0 or R is singular. May be NULL.
 */
dag_status dag_gels_bounds(dag_context *ctx, dag_trans trans, dag_matrix *A, dag_matrix *B,
                           double *ferr, double *rcond, double *seconds, int64_t *info);

/**
 * Measure a factorisation as LAPACK's tests do: ||A - Q R|| / (||A|| max(m, n) eps) and
 * ||I - Q^H Q|| / (m eps) in the one-norm. Good ones have a few tenths; `--check` refuses what
 * exceeds DAG_QR_BOUND. Costs more than the factorisation, and memory for Q.
 * @param F   as dag_geqrf() left it, with qr.
 * @param A   the matrix that was factored, same size and tiles; overwritten with the difference.
 */
dag_status dag_geqrf_residual(dag_context *ctx, dag_matrix *F, const dag_qr *qr, dag_matrix *A,
                              double *residual, double *orthogonality);
#define DAG_QR_BOUND 30.0

/** The same for one element type; a matrix of another one is DAG_ERR_ARG. */
#define DAG_QR_DECLARE(p, unm, ung)                                                                \
    dag_status dag_##p##geqrf(dag_context *ctx, dag_matrix *A, dag_qr **qr);                       \
    dag_status dag_##p##unm##qr(dag_context *ctx, dag_side side, dag_trans trans, dag_matrix *A,   \
                                const dag_qr *qr, dag_matrix *B);                                  \
    dag_status dag_##p##ung##qr(dag_context *ctx, dag_matrix *A, const dag_qr *qr, dag_matrix *Q); \
    dag_status dag_##p##gelqf(dag_context *ctx, dag_matrix *A, dag_lq **lq);                       \
    dag_status dag_##p##unm##lq(dag_context *ctx, dag_side side, dag_trans trans, dag_matrix *A,   \
                                const dag_lq *lq, dag_matrix *B);                                  \
    dag_status dag_##p##ung##lq(dag_context *ctx, dag_matrix *A, const dag_lq *lq, dag_matrix *Q); \
    dag_status dag_##p##gels(dag_context *ctx, dag_trans trans, dag_matrix *A, dag_matrix *B,      \
                             int64_t *info);                                                       \
    dag_status dag_##p##gels_rcond(dag_context *ctx, dag_trans trans, dag_matrix *A,               \
                                   dag_matrix *B, double *rcond, double *seconds, int64_t *info);  \
    dag_status dag_##p##gels_bounds(dag_context *ctx, dag_trans trans, dag_matrix *A,              \
                                    dag_matrix *B, double *ferr, double *rcond, double *seconds,   \
                                    int64_t *info);
DAG_QR_DECLARE(s, orm, org)
DAG_QR_DECLARE(d, orm, org)
DAG_QR_DECLARE(c, unm, ung)
DAG_QR_DECLARE(z, unm, ung)
#undef DAG_QR_DECLARE

DAG_C_END
#endif

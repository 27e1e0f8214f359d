/**
 * @file refine.h
 * Solution of linear systems with iterative refinement: in mixed precision, and in working
 * precision with componentwise backward errors. Part of dag/la.h, whose rules hold here.
 */
#ifndef DAG_REFINE_H
#define DAG_REFINE_H

#include <dag/matrix.h>

DAG_C_BEGIN

/** Why a mixed-precision solver went back to double precision, or how often it refined: see
 *  dag_dsgesv(). */
enum {
    DAG_MIXED_OVERFLOW = -2,  /**< a number does not fit single precision */
    DAG_MIXED_FACTOR = -3,    /**< the factorisation in single precision ended early */
    DAG_MIXED_DIVERGED = -31  /**< no convergence in 30 steps, or a solution that is not finite */
};

/**
 * Solve A X = B, A general in double precision (d, and zcgesv: z), by an LU factorisation in
 * single precision and refinement of the solution in double precision, as LAPACK's dsgesv: it
 * ends when
 *
 *     max |r| <= max |x| ||A||_inf eps sqrt(n)      (eps = 2^-53)
 *
 * for each right-hand side, r = b - A x, after at most 30 steps. Where that cannot be had the
 * system is solved in double precision, with the result of dag_gesv(). Half the time of
 * dag_gesv() at best; the same error. Takes memory for A in single precision and twice that of B.
 * @param A     n x n in square tiles, DAG_GENERAL. As it was when *iter >= 0, else its factors.
 * @param ipiv  n items on every rank: the pivots of whichever factorisation was used.
 * @param B     n x nrhs, of the same type and tile rows, DAG_GENERAL; not modified.
 * @param X     like B: same size, type and tiles; any grid and storage. Receives the solution.
 * @param[out] iter  steps of refinement, >= 0, or one of DAG_MIXED_*. May be NULL.
 * @param[out] info  that of dag_getrf() in double precision: when > 0, X is undefined.
 */
dag_status dag_dsgesv(dag_context *ctx, dag_matrix *A, int64_t *ipiv, dag_matrix *B, dag_matrix *X,
                      int *iter, int64_t *info);
dag_status dag_zcgesv(dag_context *ctx, dag_matrix *A, int64_t *ipiv, dag_matrix *B, dag_matrix *X,
                      int *iter, int64_t *info);
/** dag_dsgesv() or dag_zcgesv(), whatever A holds; a matrix in single precision is DAG_ERR_ARG. */
dag_status dag_gesv_mixed(dag_context *ctx, dag_matrix *A, int64_t *ipiv, dag_matrix *B,
                          dag_matrix *X, int *iter, int64_t *info);

/**
 * The same for a positive definite A of which the triangle `uplo` is given, by Cholesky
 * factorisation, as LAPACK's dsposv and zcposv. A may have that uplo or be DAG_GENERAL; the other
 * triangle is neither read nor written.
 * @param[out] info  that of dag_potrf() in double precision.
 */
dag_status dag_dsposv(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *B, dag_matrix *X,
                      int *iter, int64_t *info);
dag_status dag_zcposv(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *B, dag_matrix *X,
                      int *iter, int64_t *info);
dag_status dag_posv_mixed(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *B,
                          dag_matrix *X, int *iter, int64_t *info);

/**
 * Improve a solution of op(A) X = B by iterative refinement, as LAPACK's gerfs: a column is
 * refined while its componentwise backward error
 *
 *     max over i of |b - op(A) x|_i / (|op(A)| |x| + |b|)_i
 *
 * is above eps and at least halved by a step, 5 steps at most. Everything is in the precision of
 * A.
 * @param A     n x n in square tiles, DAG_GENERAL, as it was before dag_getrf().
 * @param F     what dag_getrf() made of it: same type, size and tiles.
 * @param ipiv  its pivots.
 * @param B     n x nrhs with the tile rows of A, DAG_GENERAL.
 * @param X     like B: same size, type and tiles; any grid and storage. The solution of
 *              dag_getrs(), improved.
 * @param[out] ferr  nrhs items on every rank, or NULL on all: bounds for the errors of what is in X
 *              now, max |x - true x| / max |x| of each column. They rest on an estimate of a norm,
 *              which may be too small by a factor of 3, and hardly ever is; up to 11 more solutions
 *              with the factors.
 * @param[out] berr  nrhs items on every rank: the backward errors of what is in X now.
 */
dag_status dag_gerfs(dag_context *ctx, dag_trans trans, dag_matrix *A, dag_matrix *F,
                     const int64_t *ipiv, dag_matrix *B, dag_matrix *X, double *ferr, double *berr);

/** The same for a positive definite A of which the triangle `uplo` is given, and what dag_potrf()
 *  made of it; as LAPACK's porfs. */
dag_status dag_porfs(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *F, dag_matrix *B,
                     dag_matrix *X, double *ferr, double *berr);

/** The errors alone, of a solution that stays as it is, wherever it came from: dag_gerfs() and
 *  dag_porfs() without a step. */
dag_status dag_gerfs_bounds(dag_context *ctx, dag_trans trans, dag_matrix *A, dag_matrix *F,
                            const int64_t *ipiv, dag_matrix *B, dag_matrix *X, double *ferr,
                            double *berr);
dag_status dag_porfs_bounds(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *F,
                            dag_matrix *B, dag_matrix *X, double *ferr, double *berr);

/**
 * Reciprocal of the condition number ||A|| ||A^-1|| from the factors of A, as LAPACK's gecon; by an
 * estimate of the norm of the inverse, which may be too small by a factor of 5 and hardly ever is.
 * Two solutions with the factors as a rule, 11 at most.
 * @param norm   DAG_NORM_ONE or DAG_NORM_INF.
 * @param F      what dag_getrf() made of A.
 * @param ipiv   its pivots.
 * @param anorm  that norm of A, of dag_lange().
 * @param[out] rcond  0 for a singular matrix, 1 for one without elements; the same on all ranks.
 */
dag_status dag_gecon(dag_context *ctx, dag_norm norm, dag_matrix *F, const int64_t *ipiv,
                     double anorm, double *rcond);

/** The same for a positive definite A and what dag_potrf() made of it, as LAPACK's pocon; anorm is
 *  the one-norm, of dag_lanhe(). */
dag_status dag_pocon(dag_context *ctx, dag_uplo uplo, dag_matrix *F, double anorm, double *rcond);

#define DAG_REFINE_DECLARE(p, ...)                                                                 \
    dag_status dag_##p##gerfs(dag_context *ctx, dag_trans trans, dag_matrix *A, dag_matrix *F,     \
                              const int64_t *ipiv, dag_matrix *B, dag_matrix *X, double *ferr,     \
                              double *berr);                                                       \
    dag_status dag_##p##porfs(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *F,       \
                              dag_matrix *B, dag_matrix *X, double *ferr, double *berr);           \
    dag_status dag_##p##gerfs_bounds(dag_context *ctx, dag_trans trans, dag_matrix *A,             \
                                     dag_matrix *F, const int64_t *ipiv, dag_matrix *B,            \
                                     dag_matrix *X, double *ferr, double *berr);                   \
    dag_status dag_##p##porfs_bounds(dag_context *ctx, dag_uplo uplo, dag_matrix *A,               \
                                     dag_matrix *F, dag_matrix *B, dag_matrix *X, double *ferr,    \
                                     double *berr);                                                \
    dag_status dag_##p##gecon(dag_context *ctx, dag_norm norm, dag_matrix *F, const int64_t *ipiv, \
                              double anorm, double *rcond);                                        \
    dag_status dag_##p##pocon(dag_context *ctx, dag_uplo uplo, dag_matrix *F, double anorm,        \
                              double *rcond);
DAG_EACH_PRECISION(DAG_REFINE_DECLARE)
#undef DAG_REFINE_DECLARE

DAG_C_END
#endif

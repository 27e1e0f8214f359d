/**
 * @file inverse.h
 * Inverses of matrices, after LAPACK's routines. Part of dag/la.h, whose rules hold here: every
 * function is collective, and exists for the four element types and once without a letter. To
 * solve a system, the functions that solve are faster and better: an inverse is for who needs its
 * elements.
 *
 * A zero on the diagonal of a triangular matrix is no error: nothing is changed, *info is its
 * number, counted from 1 (the first one), on all ranks. NaN and infinity go through to the result.
 */
#ifndef DAG_INVERSE_H
#define DAG_INVERSE_H

#include <dag/matrix.h>

DAG_C_BEGIN

/**
 * Inverse of a triangular matrix, in place. The other triangle is neither read nor written.
 * @param uplo  the triangle.
 * @param diag  DAG_UNIT: the diagonal is 1 and not touched.
 * @param A     n x n in square tiles; its own uplo must be the same or DAG_GENERAL.
 * @param[out] info  see above; may be NULL.
 */
dag_status dag_trtri(dag_context *ctx, dag_uplo uplo, dag_diag diag, dag_matrix *A, int64_t *info);

/** L^H L (DAG_LOWER) or U U^H (DAG_UPPER) of a triangular matrix as above, in place: the same
 *  triangle of the Hermitian product. */
dag_status dag_lauum(dag_context *ctx, dag_uplo uplo, dag_matrix *A);

/**
 * Inverse of a positive definite matrix from its factor.
 * @param A  the factor, as dag_potrf() left it with the same uplo; receives that triangle of the
 *           inverse.
 */
dag_status dag_potri(dag_context *ctx, dag_uplo uplo, dag_matrix *A, int64_t *info);

/**
 * Inverse of a general matrix from its factors, by U^-1 and a solution with L, as LAPACK does.
 * Takes the memory of A once more.
 * @param A     n x n in square tiles, DAG_GENERAL, as dag_getrf() left it; receives the inverse.
 * @param ipiv  its pivots, n items on every rank.
 */
dag_status dag_getri(dag_context *ctx, dag_matrix *A, const int64_t *ipiv, int64_t *info);

/**
 * Bound of the error of an inverse, wherever it comes from: ||X - A^-1|| / ||A^-1|| in the one-norm is at
 * most ||1 - A X||, which is estimated as the norm in dag_gecon() and may be too small by a factor of 3,
 * and what may have been lost by rounding is added, 2 (n + 1) eps ||A|| ||X||. From 1 on it says nothing.
 * Costs at most 22 products of a matrix and a vector.
 * @param A  n x n in square tiles, DAG_GENERAL, as it was before it was inverted.
 * @param X  what is to be its inverse: same type, size and tiles.
 * @param[out] error  the bound; the same on all ranks.
 */
dag_status dag_getri_bounds(dag_context *ctx, dag_matrix *A, dag_matrix *X, double *error);

/** The same for a positive definite A and its inverse, of which the triangle `uplo` is given. */
dag_status dag_potri_bounds(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *X,
                            double *error);

#define DAG_INVERSE_DECLARE(p, ...)                                                                \
    dag_status dag_##p##trtri(dag_context *ctx, dag_uplo uplo, dag_diag diag, dag_matrix *A,       \
                              int64_t *info);                                                      \
    dag_status dag_##p##lauum(dag_context *ctx, dag_uplo uplo, dag_matrix *A);                     \
    dag_status dag_##p##potri(dag_context *ctx, dag_uplo uplo, dag_matrix *A, int64_t *info);      \
    dag_status dag_##p##getri(dag_context *ctx, dag_matrix *A, const int64_t *ipiv,                \
                              int64_t *info);                                                      \
    dag_status dag_##p##getri_bounds(dag_context *ctx, dag_matrix *A, dag_matrix *X,               \
                                     double *error);                                               \
    dag_status dag_##p##potri_bounds(dag_context *ctx, dag_uplo uplo, dag_matrix *A,               \
                                     dag_matrix *X, double *error);
DAG_EACH_PRECISION(DAG_INVERSE_DECLARE)
#undef DAG_INVERSE_DECLARE

DAG_C_END
#endif

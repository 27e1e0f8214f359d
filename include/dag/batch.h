/**
 * @file batch.h
 * Many small matrices at once: factorisations, solutions and products of each. Part of dag/la.h.
 *
 * A batch is an array of matrices in memory of this rank, in LAPACK's storage, of one size or of any
 * sizes. All of its matrices are worked on by the workers of the rank, in one taskpool whose tasks take
 * several matrices each; on one rank with one worker, or with little work, on the calling thread. Small
 * matrices of equal sizes share the lanes of vectors: up to order 16, and with AVX-512 up to 32 where there are as
 * many as lanes, but for products, which do so up to order 16 if they are complex. Batches stay on cores, and are
 * refused in simulated runs.
 *
 * Every function is collective: all ranks make the same call, each with a batch of its own, which may be
 * empty. What one rank refuses is refused on all. Each exists for the four element types, dag_spotrf_batch
 * to dag_zpotrf_batch, and without a letter for whatever the batch holds.
 *
 * `info` has an item for each matrix of this rank, LAPACK's info; what happens to one matrix has no
 * effect on others. NULL is allowed where no matrix is there.
 *
 * Matrices of a batch must not overlap, nor may the result overlap another argument; that is not checked.
 */
#ifndef DAG_BATCH_H
#define DAG_BATCH_H

#include <dag/types.h>

#include <dag/dag.h>

DAG_C_BEGIN

/** The size of a matrix. */
typedef struct dag_batch_shape {
    int64_t m, n;
    int64_t ld; /**< leading dimension; 0 = max(m, 1) */
} dag_batch_shape;

/** An array of matrices; zero the fields that do not matter. The memory is the caller's. */
typedef struct dag_batch {
    dag_precision prec;
    int64_t count;                 /**< of matrices, >= 0 */
    dag_batch_shape all;           /**< of every matrix, where `each` is NULL */
    const dag_batch_shape *each;   /**< `count` sizes, one for each matrix, or NULL */
    void *const *at;               /**< `count` addresses, or NULL: the matrices lie one behind another */
    void *first;                   /**< without `at`: where the first one lies, */
    int64_t stride;                /**< and elements from one to the next; 0 = ld n, only without `each` */
} dag_batch;

/** Cholesky factors as dag_potrf() makes them. A: square matrices. */
dag_status dag_potrf_batch(dag_context *ctx, dag_uplo uplo, const dag_batch *A, int64_t *info);

/**
 * LU factors with partial pivoting as dag_getrf() makes them.
 * @param ipiv    the pivots of matrix i begin at ipiv[i * stride].
 * @param stride  at least min(m, n) of every matrix.
 */
dag_status dag_getrf_batch(dag_context *ctx, const dag_batch *A, int64_t *ipiv, int64_t stride,
                           int64_t *info);

/**
 * QR factors as LAPACK's geqrf: R on and above the diagonal, below it the vectors of reflections.
 * @param tau     their factors, elements of the type of A; those of matrix i begin at element i * stride.
 * @param stride  at least min(m, n) of every matrix.
 */
dag_status dag_geqrf_batch(dag_context *ctx, const dag_batch *A, void *tau, int64_t stride);

/** C := alpha op(A) op(B) + beta C for each triple of matrices. As in BLAS, alpha = 0 does not read A and
 *  B, beta = 0 does not read C. */
dag_status dag_gemm_batch(dag_context *ctx, dag_trans transa, dag_trans transb, dag_dcomplex alpha,
                          const dag_batch *A, const dag_batch *B, dag_dcomplex beta,
                          const dag_batch *C);

/** Solves op(A) X = alpha B (DAG_LEFT) or X op(A) = alpha B (DAG_RIGHT) for each pair, with triangular A; X
 *  overwrites B. No test for singularity. */
dag_status dag_trsm_batch(dag_context *ctx, dag_side side, dag_uplo uplo, dag_trans trans, dag_diag diag,
                          dag_dcomplex alpha, const dag_batch *A, const dag_batch *B);

/** Solves A X = B for each pair: dag_getrf_batch(), and X overwrites B where info is 0; elsewhere B is as it
 *  was. */
dag_status dag_gesv_batch(dag_context *ctx, const dag_batch *A, int64_t *ipiv, int64_t stride,
                          const dag_batch *B, int64_t *info);

/** Solves A X = B for each pair with positive definite A, likewise. */
dag_status dag_posv_batch(dag_context *ctx, dag_uplo uplo, const dag_batch *A, const dag_batch *B,
                          int64_t *info);

/** The same for one element type; a batch of another one is DAG_ERR_ARG. */
#define DAG_BATCH_DECLARE(p, elem, ...)                                                            \
    dag_status dag_##p##potrf_batch(dag_context *ctx, dag_uplo uplo, const dag_batch *A,           \
                                    int64_t *info);                                                \
    dag_status dag_##p##getrf_batch(dag_context *ctx, const dag_batch *A, int64_t *ipiv,           \
                                    int64_t stride, int64_t *info);                                \
    dag_status dag_##p##geqrf_batch(dag_context *ctx, const dag_batch *A, void *tau,               \
                                    int64_t stride);                                               \
    dag_status dag_##p##gemm_batch(dag_context *ctx, dag_trans transa, dag_trans transb,           \
                                   elem alpha, const dag_batch *A, const dag_batch *B, elem beta,  \
                                   const dag_batch *C);                                            \
    dag_status dag_##p##trsm_batch(dag_context *ctx, dag_side side, dag_uplo uplo,                 \
                                   dag_trans trans, dag_diag diag, elem alpha, const dag_batch *A, \
                                   const dag_batch *B);                                            \
    dag_status dag_##p##gesv_batch(dag_context *ctx, const dag_batch *A, int64_t *ipiv,            \
                                   int64_t stride, const dag_batch *B, int64_t *info);             \
    dag_status dag_##p##posv_batch(dag_context *ctx, dag_uplo uplo, const dag_batch *A,            \
                                   const dag_batch *B, int64_t *info);
DAG_EACH_PRECISION(DAG_BATCH_DECLARE)
#undef DAG_BATCH_DECLARE

DAG_C_END
#endif

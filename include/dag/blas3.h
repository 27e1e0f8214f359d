/**
 * @file blas3.h
 * Products and triangular solves of distributed matrices: the level 3 of BLAS. Part of dag/la.h,
 * whose rules hold here.
 *
 * op(X) is X, X^T or X^H by a dag_trans argument; in s and d, DAG_CONJ_TRANS means DAG_TRANS.
 * alpha and beta of the functions without a letter are dag_dcomplex, whose imaginary parts must be
 * 0 where the matrices are real. As in BLAS, alpha = 0 does not read A and B, beta = 0 does not
 * read C (so that NaN in it is overwritten), and any dimension may be 0.
 *
 * Matrices may have different grids and storages. Where rows or columns of two matrices correspond,
 * they must be cut into tiles alike: for C := A B, A->mb == C->mb, B->nb == C->nb, A->nb == B->mb.
 * Triangular, symmetric and Hermitian matrices have square tiles, and of the triangle that is not
 * named nothing is read or written; they may have been made with that uplo or with DAG_GENERAL. The
 * result may not be one of the other arguments.
 *
 * The tiles of the result stay on the ranks where they are; the others are sent along their rows
 * and columns, at most 8 block rows and columns of them ahead of what is done. Graphs:
 * dsl-examples/blas3. The scheme is SUMMA (van de Geijn and Watts, 1997).
 */
#ifndef DAG_BLAS3_H
#define DAG_BLAS3_H

#include <dag/matrix.h>

DAG_C_BEGIN

/**
 * C := alpha op(A) op(B) + beta C, where op(A) is m x k, op(B) is k x n and C is m x n.
 *
 * Where A is sent less by leaving it in place (C has few columns next to the rows and columns of
 * A), or where C has too few tiles for the workers, tiles of B and partial sums of C travel
 * instead. On several ranks, where that halves what they receive, the product is made on a grid of its
 * own: dag_gemm_with().
 */
dag_status dag_gemm(dag_context *ctx, dag_trans transa, dag_trans transb, dag_dcomplex alpha,
                    dag_matrix *A, dag_matrix *B, dag_dcomplex beta, dag_matrix *C);

/** What stays and what travels in a product. */
typedef enum dag_gemm_method {
    DAG_GEMM_AUTO,         /**< the choice is left to the library */
    DAG_GEMM_STATIONARY_C, /**< tiles of A and B travel, those of C are worked on in place */
    DAG_GEMM_STATIONARY_A, /**< tiles of B and partial sums of C travel */
    /** The product is made on a grid of its own, p x q x layers ranks, whatever the distributions of
     *  A, B and C. Each layer makes a part of the sum; with one layer this is SUMMA, with more the
     *  2.5D algorithm. Tiles of A and B travel, and partial sums of C. */
    DAG_GEMM_SUMMA,
    /** SUMMA on a grid p x q of its own that is cut into groups: a tile goes to one rank of each group
     *  first, and from there within the group, in pieces (Quintin, Hasanov and Lastovetsky, 2013). */
    DAG_GEMM_HSUMMA
} dag_gemm_method;

/** "auto", "stationary-c", "stationary-a", "summa", "hsumma"; NULL for another value. */
const char *dag_gemm_method_name(dag_gemm_method method);

/** How dag_gemm_with() goes about it; 0 leaves the choice to it, and what is given binds. */
typedef struct dag_gemm_options {
    dag_gemm_method method;
    int p, q, layers; /**< grid of DAG_GEMM_SUMMA and, with one layer, of DAG_GEMM_HSUMMA; all three or
                           none; at most as many as there are ranks */
    int64_t steps;    /**< of the sum, of which a rank of that grid may have tiles: 1 = none sets out before
                           the step before it is done. At most 2 with DAG_GEMM_HSUMMA */
    int groups_p, groups_q; /**< of DAG_GEMM_HSUMMA: groups_p x groups_q groups, divisors of p and q; both or
                                 none */
    int64_t inner;    /**< of DAG_GEMM_HSUMMA: columns of op(A), rows of op(B) that go through a group at a
                           time, a divisor of the width of a tile; 0 = all, as
                           with groups of one rank, within which nothing travels */
    int64_t memory;   /**< bytes of others' tiles and of partial sums on a rank at most, where a grid
                           can be found that keeps to it; 0 = no limit */
    double latency, rate; /**< of the network for the choice, in s and bytes/s; without them what
                               dag_network_get() knows, or 3 us and 1e9 */
    double flops;     /**< of a worker in a second, for the choice; without it 1e10 (s and c: 2e10) */
    int tune;         /**< nonzero: the plan of dag_gemm_tune() */
} dag_gemm_options;

/** A way to make a product, and what it is predicted to take: docs/design/products.md. */
typedef struct dag_gemm_plan {
    dag_gemm_method method;
    int p, q, layers;
    int64_t steps;
    int groups_p, groups_q;  /**< DAG_GEMM_HSUMMA; else 0 */
    int64_t inner;
    int64_t sums;            /**< DAG_GEMM_STATIONARY_A: partial sums of each tile of C; else 0 */
    double compute, exposed; /**< seconds: of kernels, and of communication that they do not hide */
    double received, memory; /**< bytes of the busiest rank: in all, and held at a time */
    double total;            /**< bytes that all ranks receive; of more than 8, as a few of them do */
} dag_gemm_plan;

/** dag_gemm() with options, the same on all ranks; NULL = all 0. The plan is rank 0's, and kept for later calls
 *  of the same shape; with the setting `reproducible` it depends on shapes, ranks and grids alone. Where the setting `split` cuts tiles C stays, and
 *  another method or a grid is refused. */
dag_status dag_gemm_with(dag_context *ctx, dag_trans transa, dag_trans transb, dag_dcomplex alpha,
                         dag_matrix *A, dag_matrix *B, dag_dcomplex beta, dag_matrix *C,
                         const dag_gemm_options *options);

/**
 * The ways that dag_gemm_with() has, the one it would take first, the others as their time is
 * predicted. Not collective; nothing is computed.
 * @param[out] plans  room for at least one.
 * @return their number, at most `room`; -1 with dag_message() when an argument is wrong.
 */
int dag_gemm_plans(dag_context *ctx, dag_trans transa, dag_trans transb, dag_matrix *A,
                   dag_matrix *B, dag_matrix *C, const dag_gemm_options *options,
                   dag_gemm_plan *plans, int room);

/**
 * Try the best few plans of a product on the machine, each twice, and keep the fastest, for this process and in
 * the user's directory for caches for later ones; dag_gemm_with() with the option `tune` goes by it, and calls
 * this where it does not know it. What is given in the options binds. Collective; A and B are not
 * modified, C is not read or written, but memory for another one is needed.
 * @param[out] plan  the fastest; may be NULL.
 * @return DAG_ERR_ARG with the setting `reproducible`, since times decide.
 */
dag_status dag_gemm_tune(dag_context *ctx, dag_trans transa, dag_trans transb, dag_matrix *A,
                         dag_matrix *B, dag_matrix *C, const dag_gemm_options *options,
                         dag_gemm_plan *plan);

/** C := alpha A B + beta C (DAG_LEFT) or alpha B A + beta C (DAG_RIGHT) with a symmetric A, of
 *  which the triangle uplo is read; B and C are m x n. */
dag_status dag_symm(dag_context *ctx, dag_side side, dag_uplo uplo, dag_dcomplex alpha,
                    dag_matrix *A, dag_matrix *B, dag_dcomplex beta, dag_matrix *C);

/** dag_symm() with a Hermitian A; the imaginary parts of its diagonal are taken as 0. */
dag_status dag_hemm(dag_context *ctx, dag_side side, dag_uplo uplo, dag_dcomplex alpha,
                    dag_matrix *A, dag_matrix *B, dag_dcomplex beta, dag_matrix *C);

/**
 * Triangle uplo of C := alpha A A^T + beta C (DAG_NO_TRANS; A is n x k) or alpha A^T A + beta C
 * (DAG_TRANS; A is k x n; DAG_CONJ_TRANS in s and d only). C is n x n.
 */
dag_status dag_syrk(dag_context *ctx, dag_uplo uplo, dag_trans trans, dag_dcomplex alpha,
                    dag_matrix *A, dag_dcomplex beta, dag_matrix *C);

/** The same with ^H in place of ^T (DAG_CONJ_TRANS; DAG_TRANS in s and d only); alpha and beta are
 *  real, and the diagonal of C becomes so. */
dag_status dag_herk(dag_context *ctx, dag_uplo uplo, dag_trans trans, double alpha, dag_matrix *A,
                    double beta, dag_matrix *C);

/** Triangle uplo of C := alpha A B^T + alpha B A^T + beta C, or with A^T B and B^T A; as
 *  dag_syrk(). */
dag_status dag_syr2k(dag_context *ctx, dag_uplo uplo, dag_trans trans, dag_dcomplex alpha,
                     dag_matrix *A, dag_matrix *B, dag_dcomplex beta, dag_matrix *C);

/** Triangle uplo of C := alpha A B^H + conj(alpha) B A^H + beta C, or with A^H B and B^H A; as
 *  dag_herk(). */
dag_status dag_her2k(dag_context *ctx, dag_uplo uplo, dag_trans trans, dag_dcomplex alpha,
                     dag_matrix *A, dag_matrix *B, double beta, dag_matrix *C);

/** B := alpha op(A) B (DAG_LEFT) or alpha B op(A) (DAG_RIGHT) with a triangular A, in place. With
 *  DAG_UNIT the diagonal of A is 1 and not read. */
dag_status dag_trmm(dag_context *ctx, dag_side side, dag_uplo uplo, dag_trans trans, dag_diag diag,
                    dag_dcomplex alpha, dag_matrix *A, dag_matrix *B);

/** Solve op(A) X = alpha B (DAG_LEFT) or X op(A) = alpha B (DAG_RIGHT) with a triangular A; X
 *  overwrites B. There is no test for singularity: a zero on the diagonal gives infinities. On several
 *  ranks, a B on the left of at most half a tile's columns travels to the tiles of A. */
dag_status dag_trsm(dag_context *ctx, dag_side side, dag_uplo uplo, dag_trans trans, dag_diag diag,
                    dag_dcomplex alpha, dag_matrix *A, dag_matrix *B);

/**
 * Solve op(A) X = B with a triangular A after a look at its diagonal, as LAPACK does: a zero there is
 * no error, but then nothing is solved and B is as it was.
 * @param uplo  the triangle; the other one is not read.
 * @param diag  DAG_UNIT: the diagonal is 1 and not read, nor looked at.
 * @param A     n x n in square tiles; its own uplo must be the same or DAG_GENERAL. Not modified.
 * @param B     n x nrhs, B->mb == A->mb; overwritten with X.
 * @param[out] info  0, or the number of the first zero on the diagonal, counted from 1; the same on
 *              all ranks. Must not be NULL.
 */
dag_status dag_trtrs(dag_context *ctx, dag_uplo uplo, dag_trans trans, dag_diag diag, dag_matrix *A,
                     dag_matrix *B, int64_t *info);

/**
 * The routines of BLAS as taskpools, for dag_add() and dag_wait(). The matrices have to live until the pool has
 * ended. NULL with dag_message() when the arguments disagree.
 */
dag_taskpool *dag_gemm_new(dag_context *ctx, dag_trans transa, dag_trans transb, dag_dcomplex alpha,
                           dag_matrix *A, dag_matrix *B, dag_dcomplex beta, dag_matrix *C);
dag_taskpool *dag_symm_new(dag_context *ctx, dag_side side, dag_uplo uplo, dag_dcomplex alpha,
                           dag_matrix *A, dag_matrix *B, dag_dcomplex beta, dag_matrix *C);
dag_taskpool *dag_hemm_new(dag_context *ctx, dag_side side, dag_uplo uplo, dag_dcomplex alpha,
                           dag_matrix *A, dag_matrix *B, dag_dcomplex beta, dag_matrix *C);
dag_taskpool *dag_syrk_new(dag_context *ctx, dag_uplo uplo, dag_trans trans, dag_dcomplex alpha,
                           dag_matrix *A, dag_dcomplex beta, dag_matrix *C);
dag_taskpool *dag_herk_new(dag_context *ctx, dag_uplo uplo, dag_trans trans, double alpha,
                           dag_matrix *A, double beta, dag_matrix *C);
dag_taskpool *dag_syr2k_new(dag_context *ctx, dag_uplo uplo, dag_trans trans, dag_dcomplex alpha,
                            dag_matrix *A, dag_matrix *B, dag_dcomplex beta, dag_matrix *C);
dag_taskpool *dag_her2k_new(dag_context *ctx, dag_uplo uplo, dag_trans trans, dag_dcomplex alpha,
                            dag_matrix *A, dag_matrix *B, double beta, dag_matrix *C);
dag_taskpool *dag_trmm_new(dag_context *ctx, dag_side side, dag_uplo uplo, dag_trans trans,
                           dag_diag diag, dag_dcomplex alpha, dag_matrix *A, dag_matrix *B);
dag_taskpool *dag_trsm_new(dag_context *ctx, dag_side side, dag_uplo uplo, dag_trans trans,
                           dag_diag diag, dag_dcomplex alpha, dag_matrix *A, dag_matrix *B);

/** The same for one element type, with alpha and beta of that type; matrices of another one are
 *  DAG_ERR_ARG. */
#define DAG_BLAS3_DECLARE(p, elem, real)                                                           \
    dag_status dag_##p##gemm(dag_context *ctx, dag_trans transa, dag_trans transb, elem alpha,     \
                             dag_matrix *A, dag_matrix *B, elem beta, dag_matrix *C);              \
    dag_status dag_##p##symm(dag_context *ctx, dag_side side, dag_uplo uplo, elem alpha,           \
                             dag_matrix *A, dag_matrix *B, elem beta, dag_matrix *C);              \
    dag_status dag_##p##syrk(dag_context *ctx, dag_uplo uplo, dag_trans trans, elem alpha,         \
                             dag_matrix *A, elem beta, dag_matrix *C);                             \
    dag_status dag_##p##syr2k(dag_context *ctx, dag_uplo uplo, dag_trans trans, elem alpha,        \
                              dag_matrix *A, dag_matrix *B, elem beta, dag_matrix *C);             \
    dag_status dag_##p##trmm(dag_context *ctx, dag_side side, dag_uplo uplo, dag_trans trans,      \
                             dag_diag diag, elem alpha, dag_matrix *A, dag_matrix *B);             \
    dag_status dag_##p##trsm(dag_context *ctx, dag_side side, dag_uplo uplo, dag_trans trans,      \
                             dag_diag diag, elem alpha, dag_matrix *A, dag_matrix *B);             \
    dag_status dag_##p##trtrs(dag_context *ctx, dag_uplo uplo, dag_trans trans, dag_diag diag,     \
                              dag_matrix *A, dag_matrix *B, int64_t *info);
#define DAG_BLAS3_DECLARE_HERMITIAN(p, elem, real)                                                 \
    dag_status dag_##p##hemm(dag_context *ctx, dag_side side, dag_uplo uplo, elem alpha,           \
                             dag_matrix *A, dag_matrix *B, elem beta, dag_matrix *C);              \
    dag_status dag_##p##herk(dag_context *ctx, dag_uplo uplo, dag_trans trans, real alpha,         \
                             dag_matrix *A, real beta, dag_matrix *C);                             \
    dag_status dag_##p##her2k(dag_context *ctx, dag_uplo uplo, dag_trans trans, elem alpha,        \
                              dag_matrix *A, dag_matrix *B, real beta, dag_matrix *C);
DAG_EACH_PRECISION(DAG_BLAS3_DECLARE)
DAG_BLAS3_DECLARE_HERMITIAN(c, dag_scomplex, float)
DAG_BLAS3_DECLARE_HERMITIAN(z, dag_dcomplex, double)
#undef DAG_BLAS3_DECLARE
#undef DAG_BLAS3_DECLARE_HERMITIAN

DAG_C_END
#endif

/* A tile library of another house: matrices are handed over by value, tiles have addresses, kernels
 * are declared here and take leading dimensions, and calls end in a handle. Beside the nests of the
 * graph they stand for this is the dag_matrix of doubles. */
#ifndef TILES_H
#define TILES_H

#include <dag/kernels.h>
#include <dag/matrix.h>

typedef dag_matrix tl_desc;
typedef struct tl_handle tl_handle;
enum { TlLower = DAG_LOWER, TlRight = DAG_RIGHT, TlNoTrans = DAG_NO_TRANS, TlTrans = DAG_TRANS };

static inline void *tl_addr(tl_desc A, int64_t m, int64_t n)
{
    int64_t ld;
    return dag_matrix_at(&A, m, n, &ld);
}

static inline int tl_ld(tl_desc A, int64_t m)
{
    int64_t ld = 0;
    dag_matrix_at(&A, m, 0, &ld);
    return (int)ld;
}

static inline void tl_potrf(int uplo, int n, double *A, int lda, int first, tl_handle *h)
{
    (void)h, (void)first;
    dag_tile_dpotrf((dag_uplo)uplo, n, A, lda);
}

static inline void tl_trsm(int side, int uplo, int trans, int m, int n, double alpha,
                           const double *A, int lda, double *B, int ldb, tl_handle *h)
{
    (void)h;
    dag_tile_dtrsm((dag_side)side, (dag_uplo)uplo, (dag_trans)trans, DAG_NON_UNIT, m, n, alpha, A,
                   lda, B, ldb);
}

static inline void tl_syrk(int uplo, int trans, int n, int k, double alpha, const double *A,
                           int lda, double beta, double *C, int ldc, tl_handle *h)
{
    (void)h;
    dag_tile_dsyrk((dag_uplo)uplo, (dag_trans)trans, n, k, alpha, A, lda, beta, C, ldc);
}

static inline void tl_gemm(int transa, int transb, int m, int n, int k, double alpha,
                           const double *A, int lda, const double *B, int ldb, double beta,
                           double *C, int ldc, tl_handle *h)
{
    (void)h;
    dag_tile_dgemm((dag_trans)transa, (dag_trans)transb, m, n, k, alpha, A, lda, B, ldb, beta, C,
                   ldc);
}

static inline void tl_progress(int step)
{
    (void)step;
}

#endif

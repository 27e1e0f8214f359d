/* Each kernel of kernels_cuda_decl.h: a call of what the table has. */

void FN(cuda_potrf)(dag_device_queue *queue, dag_uplo uplo, int n, elem_t *A, int lda, void *work,
                    int *info)
{
    COUNT((n + 1.0) * (n + 2.0) * n / 6, (n - 1.0) * (n + 1.0) * n / 6);
    KERNEL(DAG_OP_POTRF, cuda_potrf)(queue, uplo, n, A, lda, work, info);
}

size_t FN(cuda_potrf_workspace)(dag_uplo uplo, int n)
{
    return KERNEL(DAG_OP_POTRF_WORKSPACE, cuda_potrf_workspace)(uplo, n);
}

void FN(cuda_trsm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, dag_trans trans,
                   dag_diag diag, int m, int n, elem_t alpha, const elem_t *A, int lda, elem_t *B,
                   int ldb)
{
    COUNT(order_of(side, m, n) * (order_of(side, m, n) + 1) / 2 * others_of(side, m, n),
          order_of(side, m, n) * (order_of(side, m, n) - 1) / 2 * others_of(side, m, n));
    KERNEL(DAG_OP_TRSM, cuda_trsm)(queue, side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb);
}

void FN(cuda_trmm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, dag_trans trans,
                   dag_diag diag, int m, int n, elem_t alpha, const elem_t *A, int lda, elem_t *B,
                   int ldb)
{
    COUNT(order_of(side, m, n) * (order_of(side, m, n) + 1) / 2 * others_of(side, m, n),
          order_of(side, m, n) * (order_of(side, m, n) - 1) / 2 * others_of(side, m, n));
    KERNEL(DAG_OP_TRMM, cuda_trmm)(queue, side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb);
}

void FN(cuda_herk)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k,
                   real_t alpha, const elem_t *A, int lda, real_t beta, elem_t *C, int ldc)
{
    COUNT((double)k * n * (n + 1) / 2, (double)k * n * (n + 1) / 2);
    KERNEL(DAG_OP_HERK, cuda_herk)(queue, uplo, trans, n, k, alpha, A, lda, beta, C, ldc);
}

void FN(cuda_syrk)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k,
                   elem_t alpha, const elem_t *A, int lda, elem_t beta, elem_t *C, int ldc)
{
    COUNT((double)k * n * (n + 1) / 2, (double)k * n * (n + 1) / 2);
    KERNEL(DAG_OP_SYRK, cuda_syrk)(queue, uplo, trans, n, k, alpha, A, lda, beta, C, ldc);
}

void FN(cuda_gemm)(dag_device_queue *queue, dag_trans transa, dag_trans transb, int m, int n, int k,
                   elem_t alpha, const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta,
                   elem_t *C, int ldc)
{
    COUNT((double)m * n * k, (double)m * n * k);
    KERNEL(DAG_OP_GEMM, cuda_gemm)(queue, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C,
                                   ldc);
}

void FN(cuda_hemm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, int m, int n,
                   elem_t alpha, const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta,
                   elem_t *C, int ldc)
{
    COUNT((double)m * n * order_of(side, m, n), (double)m * n * order_of(side, m, n));
    KERNEL(DAG_OP_HEMM, cuda_hemm)(queue, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc);
}

void FN(cuda_symm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, int m, int n,
                   elem_t alpha, const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta,
                   elem_t *C, int ldc)
{
    COUNT((double)m * n * order_of(side, m, n), (double)m * n * order_of(side, m, n));
    KERNEL(DAG_OP_SYMM, cuda_symm)(queue, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc);
}

void FN(cuda_syr2k)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k,
                    elem_t alpha, const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta,
                    elem_t *C, int ldc)
{
    COUNT((double)k * n * n, (double)k * n * n);
    KERNEL(DAG_OP_SYR2K, cuda_syr2k)(queue, uplo, trans, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

void FN(cuda_her2k)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k,
                    elem_t alpha, const elem_t *A, int lda, const elem_t *B, int ldb, real_t beta,
                    elem_t *C, int ldc)
{
    COUNT((double)k * n * n, (double)k * n * n);
    KERNEL(DAG_OP_HER2K, cuda_her2k)(queue, uplo, trans, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

void FN(cuda_geadd)(dag_device_queue *queue, dag_trans trans, int m, int n, elem_t alpha,
                    const elem_t *A, int lda, elem_t beta, elem_t *B, int ldb)
{
    COUNT(2.0 * m * n, (double)m * n);
    KERNEL(DAG_OP_GEADD, cuda_geadd)(queue, trans, m, n, alpha, A, lda, beta, B, ldb);
}

void FN(cuda_gemqrt)(dag_device_queue *queue, dag_trans trans, int m, int n, int k, const elem_t *V,
                     int ldv, const elem_t *T, int ldt, elem_t *C, int ldc, elem_t *W, int ldw)
{
    COUNT((double)k * n * (2.0 * m - k), (double)k * n * (2.0 * m - k));
    KERNEL(DAG_OP_GEMQRT, cuda_gemqrt)(queue, trans, m, n, k, V, ldv, T, ldt, C, ldc, W, ldw);
}

void FN(cuda_tpmqrt)(dag_device_queue *queue, dag_trans trans, int m, int n, int k, const elem_t *V,
                     int ldv, const elem_t *T, int ldt, elem_t *A, int lda, elem_t *B, int ldb,
                     elem_t *W, int ldw)
{
    COUNT((double)k * n * (2.0 * m + k), (double)k * n * (2.0 * m + k));
    KERNEL(DAG_OP_TPMQRT, cuda_tpmqrt)(queue, trans, m, n, k, V, ldv, T, ldt, A, lda, B, ldb, W,
                                       ldw);
}

void FN(cuda_laswp)(dag_device_queue *queue, const dag_cuda_exchanges *e, int m, int n, elem_t *A,
                    int lda, void *work)
{
    KERNEL(DAG_OP_LASWP, cuda_laswp)(queue, e, m, n, A, lda, work);
}

void FN(cuda_pick_rows)(dag_device_queue *queue, const dag_cuda_exchanges *e, int m, int n,
                        const elem_t *C, int ldc, elem_t *W, void *work)
{
    KERNEL(DAG_OP_PICK_ROWS, cuda_pick_rows)(queue, e, m, n, C, ldc, W, work);
}

void FN(cuda_put_rows)(dag_device_queue *queue, const dag_cuda_exchanges *e, int m, int n,
                       const elem_t *W, elem_t *C, int ldc, void *work)
{
    KERNEL(DAG_OP_PUT_ROWS, cuda_put_rows)(queue, e, m, n, W, C, ldc, work);
}

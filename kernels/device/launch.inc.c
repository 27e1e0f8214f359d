/* Each kernel of kernels_device_decl.h: a call of what the table has. */

void FN(dev_potrf)(dag_device_queue *queue, dag_uplo uplo, int n, elem_t *A, int lda, void *work,
                    int *info)
{
    COUNT((n + 1.0) * (n + 2.0) * n / 6, (n - 1.0) * (n + 1.0) * n / 6);
    KERNEL(DAG_OP_POTRF, dev_potrf, queue)(queue, uplo, n, A, lda, work, info);
}

size_t FN(dev_potrf_workspace)(dag_uplo uplo, int n)
{
    size_t most = 0;
    for (int kind = 0; kind < DAG_DEVICE_KIND_COUNT; kind++) {
        if (!loaded(kind, DAG_PREC))
            continue;
        dag_kernel_fn ask = kernel_there(DAG_OP_POTRF_WORKSPACE, DAG_PREC, kind);
        size_t bytes = ((__typeof__(&FN(dev_potrf_workspace)))ask)(uplo, n);
        most = bytes > most ? bytes : most;
    }
    return most;
}

void FN(dev_trsm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, dag_trans trans,
                   dag_diag diag, int m, int n, elem_t alpha, const elem_t *A, int lda, elem_t *B,
                   int ldb)
{
    COUNT(order_of(side, m, n) * (order_of(side, m, n) + 1) / 2 * others_of(side, m, n),
          order_of(side, m, n) * (order_of(side, m, n) - 1) / 2 * others_of(side, m, n));
    if (keeps(queue, m, n)) {
        dagi_gathered g = {.form = {DAG_OP_TRSM, DAG_PREC, 0, {side, uplo, trans, diag}, m, n, 0, lda, 0, ldb, {0}, {0}},
                           .A = A, .C = B};
        memcpy(g.form.alpha, &alpha, sizeof alpha);
        dagi_gather(&g);
        return;
    }
    KERNEL(DAG_OP_TRSM, dev_trsm, queue)(queue, side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb);
}

void FN(dev_trtri)(dag_device_queue *queue, dag_side side, dag_uplo uplo, dag_diag diag, int n,
                    const elem_t *A, int lda, elem_t *B, int ldb)
{
    COUNT(n * (n + 1.0) * (n + 2.0) / 6, n * (n - 1.0) * (n - 2.0) / 6);
    KERNEL(DAG_OP_TRTRI, dev_trtri, queue)(queue, side, uplo, diag, n, A, lda, B, ldb);
}

void FN(dev_trmm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, dag_trans trans,
                   dag_diag diag, int m, int n, elem_t alpha, const elem_t *A, int lda, elem_t *B,
                   int ldb)
{
    COUNT(order_of(side, m, n) * (order_of(side, m, n) + 1) / 2 * others_of(side, m, n),
          order_of(side, m, n) * (order_of(side, m, n) - 1) / 2 * others_of(side, m, n));
    KERNEL(DAG_OP_TRMM, dev_trmm, queue)(queue, side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb);
}

void FN(dev_herk)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k,
                   real_t alpha, const elem_t *A, int lda, real_t beta, elem_t *C, int ldc)
{
    COUNT((double)k * n * (n + 1) / 2, (double)k * n * (n + 1) / 2);
    KERNEL(DAG_OP_HERK, dev_herk, queue)(queue, uplo, trans, n, k, alpha, A, lda, beta, C, ldc);
}

void FN(dev_syrk)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k,
                   elem_t alpha, const elem_t *A, int lda, elem_t beta, elem_t *C, int ldc)
{
    COUNT((double)k * n * (n + 1) / 2, (double)k * n * (n + 1) / 2);
    KERNEL(DAG_OP_SYRK, dev_syrk, queue)(queue, uplo, trans, n, k, alpha, A, lda, beta, C, ldc);
}

void FN(dev_gemm)(dag_device_queue *queue, dag_trans transa, dag_trans transb, int m, int n, int k,
                   elem_t alpha, const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta,
                   elem_t *C, int ldc)
{
    COUNT((double)m * n * k, (double)m * n * k);
    if (keeps(queue, m, n)) {
        dagi_gathered g = {.form = {DAG_OP_GEMM, DAG_PREC, 0, {transa, transb}, m, n, k, lda, ldb, ldc, {0}, {0}},
                           .A = A, .B = B, .C = C};
        memcpy(g.form.alpha, &alpha, sizeof alpha);
        memcpy(g.form.beta, &beta, sizeof beta);
        dagi_gather(&g);
        return;
    }
    KERNEL(DAG_OP_GEMM, dev_gemm, queue)(queue, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C,
                                   ldc);
}

void FN(dev_gemm_batch)(dag_device_queue *queue, dag_trans transa, dag_trans transb, int m, int n, int k,
                         elem_t alpha, const elem_t *const *A, int lda, const elem_t *const *B, int ldb,
                         elem_t beta, elem_t *const *C, int ldc, int count)
{
    if (count > 1 && has_batches(queue, DAG_OP_GEMM_BATCH, DAG_PREC)) {
        COUNT((double)m * n * k * count, (double)m * n * k * count);
        KERNEL(DAG_OP_GEMM_BATCH, dev_gemm_batch, queue)(queue, transa, transb, m, n, k, alpha, A, lda, B, ldb,
                                                   beta, C, ldc, count);
        return;
    }
    for (int i = 0; i < count; i++)
        FN(dev_gemm)(queue, transa, transb, m, n, k, alpha, A[i], lda, B[i], ldb, beta, C[i], ldc);
}

void FN(dev_trsm_batch)(dag_device_queue *queue, dag_side side, dag_uplo uplo, dag_trans trans,
                         dag_diag diag, int m, int n, elem_t alpha, const elem_t *const *A, int lda,
                         elem_t *const *B, int ldb, int count)
{
    double order = order_of(side, m, n), others = others_of(side, m, n);
    if (count > 1 && has_batches(queue, DAG_OP_TRSM_BATCH, DAG_PREC)) {
        COUNT(order * (order + 1) / 2 * others * count, order * (order - 1) / 2 * others * count);
        KERNEL(DAG_OP_TRSM_BATCH, dev_trsm_batch, queue)(queue, side, uplo, trans, diag, m, n, alpha, A, lda, B,
                                                   ldb, count);
        return;
    }
    for (int i = 0; i < count; i++)
        FN(dev_trsm)(queue, side, uplo, trans, diag, m, n, alpha, A[i], lda, B[i], ldb);
}

void FN(dev_hemm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, int m, int n,
                   elem_t alpha, const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta,
                   elem_t *C, int ldc)
{
    COUNT((double)m * n * order_of(side, m, n), (double)m * n * order_of(side, m, n));
    KERNEL(DAG_OP_HEMM, dev_hemm, queue)(queue, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc);
}

void FN(dev_symm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, int m, int n,
                   elem_t alpha, const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta,
                   elem_t *C, int ldc)
{
    COUNT((double)m * n * order_of(side, m, n), (double)m * n * order_of(side, m, n));
    KERNEL(DAG_OP_SYMM, dev_symm, queue)(queue, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc);
}

void FN(dev_syr2k)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k,
                    elem_t alpha, const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta,
                    elem_t *C, int ldc)
{
    COUNT((double)k * n * n, (double)k * n * n);
    KERNEL(DAG_OP_SYR2K, dev_syr2k, queue)(queue, uplo, trans, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

void FN(dev_her2k)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k,
                    elem_t alpha, const elem_t *A, int lda, const elem_t *B, int ldb, real_t beta,
                    elem_t *C, int ldc)
{
    COUNT((double)k * n * n, (double)k * n * n);
    KERNEL(DAG_OP_HER2K, dev_her2k, queue)(queue, uplo, trans, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

void FN(dev_geadd)(dag_device_queue *queue, dag_trans trans, int m, int n, elem_t alpha,
                    const elem_t *A, int lda, elem_t beta, elem_t *B, int ldb)
{
    COUNT(2.0 * m * n, (double)m * n);
    KERNEL(DAG_OP_GEADD, dev_geadd, queue)(queue, trans, m, n, alpha, A, lda, beta, B, ldb);
}

void FN(dev_gemqrt)(dag_device_queue *queue, dag_trans trans, int m, int n, int k, const elem_t *V,
                     int ldv, const elem_t *T, int ldt, elem_t *C, int ldc, elem_t *W, int ldw)
{
    COUNT((double)k * n * (2.0 * m - k), (double)k * n * (2.0 * m - k));
    KERNEL(DAG_OP_GEMQRT, dev_gemqrt, queue)(queue, trans, m, n, k, V, ldv, T, ldt, C, ldc, W, ldw);
}

void FN(dev_tpmqrt)(dag_device_queue *queue, dag_trans trans, int m, int n, int k, const elem_t *V,
                     int ldv, const elem_t *T, int ldt, elem_t *A, int lda, elem_t *B, int ldb,
                     elem_t *W, int ldw)
{
    COUNT((double)k * n * (2.0 * m + k), (double)k * n * (2.0 * m + k));
    KERNEL(DAG_OP_TPMQRT, dev_tpmqrt, queue)(queue, trans, m, n, k, V, ldv, T, ldt, A, lda, B, ldb, W,
                                       ldw);
}

void FN(dev_laswp)(dag_device_queue *queue, const dag_device_exchanges *e, int m, int n, elem_t *A,
                    int lda, void *work)
{
    KERNEL(DAG_OP_LASWP, dev_laswp, queue)(queue, e, m, n, A, lda, work);
}

void FN(dev_pick_rows)(dag_device_queue *queue, const dag_device_exchanges *e, int m, int n,
                        const elem_t *C, int ldc, elem_t *W, void *work)
{
    KERNEL(DAG_OP_PICK_ROWS, dev_pick_rows, queue)(queue, e, m, n, C, ldc, W, work);
}

void FN(dev_put_rows)(dag_device_queue *queue, const dag_device_exchanges *e, int m, int n,
                       const elem_t *W, elem_t *C, int ldc, void *work)
{
    KERNEL(DAG_OP_PUT_ROWS, dev_put_rows, queue)(queue, e, m, n, W, C, ldc, work);
}

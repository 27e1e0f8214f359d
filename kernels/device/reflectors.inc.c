/*
 * Products with Q of QR, of products that a back end has: its kernels of one precision, and FN(trmm_to), a
 * product with a triangle whose result goes elsewhere. Back ends include it.
 */
void FN(dev_gemqrt)(dag_device_queue *queue, dag_trans trans, int m, int n, int k, const elem_t *V,
                     int ldv, const elem_t *T, int ldt, elem_t *C, int ldc, elem_t *W, int ldw)
{
    const elem_t *below = V + k; /* the triangle's rows are the first k */
    FN(trmm_to)(queue, DAG_LEFT, DAG_LOWER, DAG_CONJ_TRANS, DAG_UNIT, k, n, 1, V, ldv, C, ldc, W,
                ldw);
    if (m > k && k > 0)
        FN(dev_gemm)(queue, DAG_CONJ_TRANS, DAG_NO_TRANS, k, n, m - k, 1, below, ldv, C + k, ldc, 1,
                      W, ldw);
    FN(dev_trmm)(queue, DAG_LEFT, DAG_UPPER, trans, DAG_NON_UNIT, k, n, 1, T, ldt, W, ldw);
    if (m > k && k > 0)
        FN(dev_gemm)(queue, DAG_NO_TRANS, DAG_NO_TRANS, m - k, n, k, -1, below, ldv, W, ldw, 1,
                      C + k, ldc);
    FN(dev_trmm)(queue, DAG_LEFT, DAG_LOWER, DAG_NO_TRANS, DAG_UNIT, k, n, 1, V, ldv, W, ldw);
    FN(dev_geadd)(queue, DAG_NO_TRANS, k, n, -1, W, ldw, 1, C, ldc);
}

void FN(dev_tpmqrt)(dag_device_queue *queue, dag_trans trans, int m, int n, int k, const elem_t *V,
                     int ldv, const elem_t *T, int ldt, elem_t *A, int lda, elem_t *B, int ldb,
                     elem_t *W, int ldw)
{
    int full = m - k; /* rows of V above the triangle */
    const elem_t *triangle = V + full;
    FN(trmm_to)(queue, DAG_LEFT, DAG_UPPER, DAG_CONJ_TRANS, DAG_NON_UNIT, k, n, 1, triangle, ldv,
                B + full, ldb, W, ldw);
    if (full > 0 && k > 0)
        FN(dev_gemm)(queue, DAG_CONJ_TRANS, DAG_NO_TRANS, k, n, full, 1, V, ldv, B, ldb, 1, W, ldw);
    FN(dev_geadd)(queue, DAG_NO_TRANS, k, n, 1, A, lda, 1, W, ldw);
    FN(dev_trmm)(queue, DAG_LEFT, DAG_UPPER, trans, DAG_NON_UNIT, k, n, 1, T, ldt, W, ldw);
    FN(dev_geadd)(queue, DAG_NO_TRANS, k, n, -1, W, ldw, 1, A, lda);
    if (full > 0 && k > 0)
        FN(dev_gemm)(queue, DAG_NO_TRANS, DAG_NO_TRANS, full, n, k, -1, V, ldv, W, ldw, 1, B, ldb);
    FN(dev_trmm)(queue, DAG_LEFT, DAG_UPPER, DAG_NO_TRANS, DAG_NON_UNIT, k, n, 1, triangle, ldv, W,
                  ldw);
    FN(dev_geadd)(queue, DAG_NO_TRANS, k, n, -1, W, ldw, 1, B + full, ldb);
}

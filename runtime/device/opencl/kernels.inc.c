/* The kernels of one precision. */

void FN(dev_potrf)(dag_device_queue *queue, dag_uplo uplo, int n, elem_t *A, int lda, void *work,
                   int *info)
{
    (void)work;
    dagi_opencl_factor(queue, DAG_PREC, uplo == DAG_UPPER, n, A, lda, info, 0);
}

/* Operands are packed into memory of the queue. */
size_t FN(dev_potrf_workspace)(dag_uplo uplo, int n)
{
    (void)uplo, (void)n;
    return 0;
}

void FN(dev_trsm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, dag_trans trans, dag_diag diag,
                  int m, int n, elem_t alpha, const elem_t *A, int lda, elem_t *B, int ldb)
{
    const dagi_opencl_triangle a = {A, lda, uplo == DAG_UPPER, trans != DAG_NO_TRANS,
                                    trans == DAG_CONJ_TRANS, diag == DAG_UNIT};
    if (alpha != 1)
        dagi_opencl_add(queue, DAG_PREC, DAG_NO_TRANS, m, n, 0, B, ldb, alpha, B, ldb);
    if (alpha != 0)
        dagi_opencl_solve(queue, DAG_PREC, side, a, m, n, B, ldb);
}

/* C := alpha op(A) B or alpha B op(A). Operands are packed before C is written, which may be B. */
static void FN(trmm_to)(dag_device_queue *queue, dag_side side, dag_uplo uplo, dag_trans trans,
                        dag_diag diag, int m, int n, elem_t alpha, const elem_t *A, int lda,
                        const elem_t *B, int ldb, elem_t *C, int ldc)
{
    int left = side == DAG_LEFT, lower = (uplo == DAG_LOWER) == (trans == DAG_NO_TRANS);
    dagi_opencl_product p = {.m = m, .n = n, .k = left ? m : n, .alpha = alpha, .c = C, .ldc = ldc};
    dagi_opencl_operand a = left ? rows_of(A, lda, trans) : columns_of(A, lda, trans);
    a = triangle_of(a, OPENCL_TRIANGLE, uplo, diag);
    a.zeros = left == lower ? OPENCL_BELOW : OPENCL_ABOVE;
    p.x = left ? a : rows_of(B, ldb, DAG_NO_TRANS);
    p.y = left ? columns_of(B, ldb, DAG_NO_TRANS) : a;
    dagi_opencl_multiply(queue, DAG_PREC, &p);
}

void FN(dev_trmm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, dag_trans trans, dag_diag diag,
                  int m, int n, elem_t alpha, const elem_t *A, int lda, elem_t *B, int ldb)
{
    FN(trmm_to)(queue, side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb, B, ldb);
}

void FN(dev_gemm)(dag_device_queue *queue, dag_trans transa, dag_trans transb, int m, int n, int k,
                  elem_t alpha, const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta, elem_t *C,
                  int ldc)
{
    const dagi_opencl_product p = {.m = m, .n = n, .k = k, .x = rows_of(A, lda, transa),
                                   .y = columns_of(B, ldb, transb), .alpha = alpha, .beta = beta, .c = C,
                                   .ldc = ldc};
    dagi_opencl_multiply(queue, DAG_PREC, &p);
}

void FN(dev_syrk)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k, elem_t alpha,
                  const elem_t *A, int lda, elem_t beta, elem_t *C, int ldc)
{
    dag_trans plain = trans == DAG_NO_TRANS ? DAG_NO_TRANS : DAG_TRANS;
    dagi_opencl_operand a = rows_of(A, lda, plain);
    const dagi_opencl_product p = {.m = n, .n = n, .k = k, .x = a, .y = a, .alpha = alpha, .beta = beta,
                                   .c = C, .ldc = ldc, .region = region_of(uplo)};
    dagi_opencl_multiply(queue, DAG_PREC, &p);
}

void FN(dev_herk)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k, real_t alpha,
                  const elem_t *A, int lda, real_t beta, elem_t *C, int ldc)
{
    dagi_opencl_operand a = rows_of(A, lda, trans);
    const dagi_opencl_product p = {.m = n, .n = n, .k = k, .x = a, .y = conjugated(a), .alpha = alpha,
                                   .beta = beta, .c = C, .ldc = ldc,
                                   .region = region_of(uplo) | OPENCL_REAL_DIAGONAL};
    dagi_opencl_multiply(queue, DAG_PREC, &p);
}

/* C := alpha S B + beta C or alpha B S + beta C, of S one triangle is there. */
static void FN(mirrored)(dag_device_queue *queue, int form, dag_side side, dag_uplo uplo, int m, int n,
                         elem_t alpha, const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta,
                         elem_t *C, int ldc)
{
    int left = side == DAG_LEFT;
    dagi_opencl_operand a = left ? rows_of(A, lda, DAG_NO_TRANS) : columns_of(A, lda, DAG_NO_TRANS);
    a = triangle_of(a, form, uplo, DAG_NON_UNIT);
    const dagi_opencl_product p = {.m = m, .n = n, .k = left ? m : n,
                                   .x = left ? a : rows_of(B, ldb, DAG_NO_TRANS),
                                   .y = left ? columns_of(B, ldb, DAG_NO_TRANS) : a, .alpha = alpha,
                                   .beta = beta, .c = C, .ldc = ldc};
    dagi_opencl_multiply(queue, DAG_PREC, &p);
}

void FN(dev_symm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, int m, int n, elem_t alpha,
                  const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta, elem_t *C, int ldc)
{
    FN(mirrored)(queue, OPENCL_SYMMETRIC, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc);
}

void FN(dev_hemm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, int m, int n, elem_t alpha,
                  const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta, elem_t *C, int ldc)
{
    FN(mirrored)(queue, OPENCL_HERMITIAN, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc);
}

/* Two products; `conj`: the second factor of each is conjugated, and the second alpha. */
static void FN(both)(dag_device_queue *queue, int conj, dag_uplo uplo, dag_trans trans, int n, int k,
                     elem_t alpha, const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta,
                     elem_t *C, int ldc)
{
    dagi_opencl_operand a = rows_of(A, lda, trans), b = rows_of(B, ldb, trans);
    dagi_opencl_product p = {.m = n, .n = n, .k = k, .x = a, .y = conj ? conjugated(b) : b, .alpha = alpha,
                             .beta = beta, .c = C, .ldc = ldc,
                             .region = region_of(uplo) | (conj ? OPENCL_REAL_DIAGONAL : 0)};
    dagi_opencl_multiply(queue, DAG_PREC, &p);
    p.x = b;
    p.y = conj ? conjugated(a) : a;
    p.alpha = conj ? conjugate(alpha) : (dag_dcomplex)alpha;
    p.beta = 1;
    dagi_opencl_multiply(queue, DAG_PREC, &p);
}

void FN(dev_syr2k)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k, elem_t alpha,
                   const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta, elem_t *C, int ldc)
{
    FN(both)(queue, 0, uplo, trans == DAG_NO_TRANS ? trans : DAG_TRANS, n, k, alpha, A, lda, B, ldb, beta,
             C, ldc);
}

void FN(dev_her2k)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k, elem_t alpha,
                   const elem_t *A, int lda, const elem_t *B, int ldb, real_t beta, elem_t *C, int ldc)
{
    FN(both)(queue, 1, uplo, trans, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

void FN(dev_geadd)(dag_device_queue *queue, dag_trans trans, int m, int n, elem_t alpha, const elem_t *A,
                   int lda, elem_t beta, elem_t *B, int ldb)
{
    dagi_opencl_add(queue, DAG_PREC, trans, m, n, alpha, A, lda, beta, B, ldb);
}

void FN(dev_laswp)(dag_device_queue *queue, const dag_device_exchanges *e, int m, int n, elem_t *A,
                   int lda, void *work)
{
    if (e->count > 0 && m > 0 && n > 0)
        dagi_opencl_swap(queue, DAG_PREC, e, n, A, lda, work);
}

void FN(dev_pick_rows)(dag_device_queue *queue, const dag_device_exchanges *e, int m, int n,
                       const elem_t *C, int ldc, elem_t *W, void *work)
{
    if (e->count > 0 && m > 0 && n > 0)
        dagi_opencl_pick(queue, DAG_PREC, e, n, C, ldc, W, work);
}

void FN(dev_put_rows)(dag_device_queue *queue, const dag_device_exchanges *e, int m, int n,
                      const elem_t *W, elem_t *C, int ldc, void *work)
{
    if (e->count > 0 && m > 0 && n > 0)
        dagi_opencl_put(queue, DAG_PREC, e, n, W, C, ldc, work);
}

static void FN(identity)(dag_device_queue *queue, int n, elem_t *B, int ldb)
{
    dagi_opencl_identity(queue, DAG_PREC, n, B, ldb);
}

#include "device/inverse.inc.c"
#include "device/reflectors.inc.c"

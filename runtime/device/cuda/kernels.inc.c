/* The kernels of one precision. They have the names of the calls in kernels/cuda/, which reach them
 * through the registry; the plug-in keeps them to itself. */
#if DAG_PRECISION_NUMBER == 1
#define CUBLAS(routine) cublasS##routine
#define CUBLAS_TEXT(routine) "cublasS" #routine
#define CUSOLVER(routine) cusolverDnS##routine
#define cu_elem float
#elif DAG_PRECISION_NUMBER == 2
#define CUBLAS(routine) cublasD##routine
#define CUBLAS_TEXT(routine) "cublasD" #routine
#define CUSOLVER(routine) cusolverDnD##routine
#define cu_elem double
#elif DAG_PRECISION_NUMBER == 3
#define CUBLAS(routine) cublasC##routine
#define CUBLAS_TEXT(routine) "cublasC" #routine
#define CUSOLVER(routine) cusolverDnC##routine
#define cu_elem cuComplex
#else
#define CUBLAS(routine) cublasZ##routine
#define CUBLAS_TEXT(routine) "cublasZ" #routine
#define CUSOLVER(routine) cusolverDnZ##routine
#define cu_elem cuDoubleComplex
#endif
#define IN(x) ((const cu_elem *)(x))
#define OUT(x) ((cu_elem *)(x))

static cusolverStatus_t FN(query_potrf)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                        int *items)
{
    return CUSOLVER(potrf_bufferSize)(handle, uplo, n, NULL, n, items);
}

size_t FN(cuda_potrf_workspace)(dag_uplo uplo, int n)
{
    int items = n > 0 ? most_items(DAG_PREC, uplo, n, FN(query_potrf)) : 0;
    return items < 0 ? SIZE_MAX : (size_t)items * sizeof(elem_t);
}

void FN(cuda_potrf)(dag_device_queue *queue, dag_uplo uplo, int n, elem_t *A, int lda, void *work,
                    int *info)
{
    if (n <= 0 || !ready(queue))
        return;
    int items = workspace_items(queue->device->index, DAG_PREC, uplo, n, FN(query_potrf));
    if (items < 0) {
        dagi_cuda_note(queue, DAGI_REFUSED);
        return;
    }
    cusolverStatus_t status = CUSOLVER(potrf)(queue->solver, fill_of(uplo), n, OUT(A), lda, work,
                                              items, info);
    dagi_cuda_note_call(queue, dagi_cuda_solver_result(status, "cusolverDnXpotrf"));
    dagi_cuda_positive(queue, n, A, lda, sizeof(elem_t), sizeof(real_t), info);
}

void FN(cuda_trsm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, dag_trans trans,
                   dag_diag diag, int m, int n, elem_t alpha, const elem_t *A, int lda, elem_t *B,
                   int ldb)
{
    if (m > 0 && n > 0 && ready(queue))
        BLAS(queue, trsm, side_of(side), fill_of(uplo), op_of(trans), diag_of(diag), m, n,
             IN(&alpha), IN(A), lda, OUT(B), ldb);
}

/* C := alpha op(A) B or alpha B op(A): cuBLAS's product has a place of its own for the result. */
static void FN(trmm_to)(dag_device_queue *queue, dag_side side, dag_uplo uplo, dag_trans trans,
                        dag_diag diag, int m, int n, elem_t alpha, const elem_t *A, int lda,
                        const elem_t *B, int ldb, elem_t *C, int ldc)
{
    if (m > 0 && n > 0 && ready(queue))
        BLAS(queue, trmm, side_of(side), fill_of(uplo), op_of(trans), diag_of(diag), m, n,
             IN(&alpha), IN(A), lda, IN(B), ldb, OUT(C), ldc);
}

void FN(cuda_trmm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, dag_trans trans,
                   dag_diag diag, int m, int n, elem_t alpha, const elem_t *A, int lda, elem_t *B,
                   int ldb)
{
    FN(trmm_to)(queue, side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb, B, ldb);
}

void FN(cuda_syrk)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k,
                   elem_t alpha, const elem_t *A, int lda, elem_t beta, elem_t *C, int ldc)
{
    if (n > 0 && ready(queue))
        BLAS(queue, syrk, fill_of(uplo), plain_op_of(trans), n, k, IN(&alpha), IN(A), lda,
             IN(&beta), OUT(C), ldc);
}

void FN(cuda_herk)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k,
                   real_t alpha, const elem_t *A, int lda, real_t beta, elem_t *C, int ldc)
{
#if DAG_COMPLEX
    if (n > 0 && ready(queue))
        BLAS(queue, herk, fill_of(uplo), op_of(trans), n, k, &alpha, IN(A), lda, &beta, OUT(C),
             ldc);
#else
    FN(cuda_syrk)(queue, uplo, trans, n, k, alpha, A, lda, beta, C, ldc);
#endif
}

void FN(cuda_gemm)(dag_device_queue *queue, dag_trans transa, dag_trans transb, int m, int n, int k,
                   elem_t alpha, const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta,
                   elem_t *C, int ldc)
{
    if (m > 0 && n > 0 && ready(queue))
        BLAS(queue, gemm, op_of(transa), op_of(transb), m, n, k, IN(&alpha), IN(A), lda, IN(B), ldb,
             IN(&beta), OUT(C), ldc);
}

void FN(cuda_symm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, int m, int n, elem_t alpha,
                   const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta, elem_t *C,
                   int ldc)
{
    if (m > 0 && n > 0 && ready(queue))
        BLAS(queue, symm, side_of(side), fill_of(uplo), m, n, IN(&alpha), IN(A), lda, IN(B), ldb,
             IN(&beta), OUT(C), ldc);
}

void FN(cuda_hemm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, int m, int n, elem_t alpha,
                   const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta, elem_t *C,
                   int ldc)
{
#if DAG_COMPLEX
    if (m > 0 && n > 0 && ready(queue))
        BLAS(queue, hemm, side_of(side), fill_of(uplo), m, n, IN(&alpha), IN(A), lda, IN(B), ldb,
             IN(&beta), OUT(C), ldc);
#else
    FN(cuda_symm)(queue, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc);
#endif
}

void FN(cuda_syr2k)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k,
                    elem_t alpha, const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta,
                    elem_t *C, int ldc)
{
    if (n > 0 && ready(queue))
        BLAS(queue, syr2k, fill_of(uplo), plain_op_of(trans), n, k, IN(&alpha), IN(A), lda, IN(B),
             ldb, IN(&beta), OUT(C), ldc);
}

void FN(cuda_her2k)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k,
                    elem_t alpha, const elem_t *A, int lda, const elem_t *B, int ldb, real_t beta,
                    elem_t *C, int ldc)
{
#if DAG_COMPLEX
    if (n > 0 && ready(queue))
        BLAS(queue, her2k, fill_of(uplo), op_of(trans), n, k, IN(&alpha), IN(A), lda, IN(B), ldb,
             &beta, OUT(C), ldc);
#else
    FN(cuda_syr2k)(queue, uplo, trans, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
#endif
}

/* cuBLAS takes a matrix with the factor 0 for absent: what lies there is not read. */
void FN(cuda_geadd)(dag_device_queue *queue, dag_trans trans, int m, int n, elem_t alpha,
                    const elem_t *A, int lda, elem_t beta, elem_t *B, int ldb)
{
    if (m > 0 && n > 0 && ready(queue))
        BLAS(queue, geam, op_of(trans), CUBLAS_OP_N, m, n, IN(&alpha), IN(A), lda, IN(&beta), IN(B),
             ldb, OUT(B), ldb);
}

/* ---- products with Q --------------------------------------------------------------------- */

void FN(cuda_gemqrt)(dag_device_queue *queue, dag_trans trans, int m, int n, int k, const elem_t *V,
                     int ldv, const elem_t *T, int ldt, elem_t *C, int ldc, elem_t *W, int ldw)
{
    const elem_t *below = V + k; /* the triangle's rows are the first k */
    FN(trmm_to)(queue, DAG_LEFT, DAG_LOWER, DAG_CONJ_TRANS, DAG_UNIT, k, n, 1, V, ldv, C, ldc, W,
                ldw);
    if (m > k && k > 0)
        FN(cuda_gemm)(queue, DAG_CONJ_TRANS, DAG_NO_TRANS, k, n, m - k, 1, below, ldv, C + k, ldc, 1,
                      W, ldw);
    FN(cuda_trmm)(queue, DAG_LEFT, DAG_UPPER, trans, DAG_NON_UNIT, k, n, 1, T, ldt, W, ldw);
    if (m > k && k > 0)
        FN(cuda_gemm)(queue, DAG_NO_TRANS, DAG_NO_TRANS, m - k, n, k, -1, below, ldv, W, ldw, 1,
                      C + k, ldc);
    FN(cuda_trmm)(queue, DAG_LEFT, DAG_LOWER, DAG_NO_TRANS, DAG_UNIT, k, n, 1, V, ldv, W, ldw);
    FN(cuda_geadd)(queue, DAG_NO_TRANS, k, n, -1, W, ldw, 1, C, ldc);
}

void FN(cuda_tpmqrt)(dag_device_queue *queue, dag_trans trans, int m, int n, int k, const elem_t *V,
                     int ldv, const elem_t *T, int ldt, elem_t *A, int lda, elem_t *B, int ldb,
                     elem_t *W, int ldw)
{
    int full = m - k; /* rows of V above the triangle */
    const elem_t *triangle = V + full;
    FN(trmm_to)(queue, DAG_LEFT, DAG_UPPER, DAG_CONJ_TRANS, DAG_NON_UNIT, k, n, 1, triangle, ldv,
                B + full, ldb, W, ldw);
    if (full > 0 && k > 0)
        FN(cuda_gemm)(queue, DAG_CONJ_TRANS, DAG_NO_TRANS, k, n, full, 1, V, ldv, B, ldb, 1, W, ldw);
    FN(cuda_geadd)(queue, DAG_NO_TRANS, k, n, 1, A, lda, 1, W, ldw);
    FN(cuda_trmm)(queue, DAG_LEFT, DAG_UPPER, trans, DAG_NON_UNIT, k, n, 1, T, ldt, W, ldw);
    FN(cuda_geadd)(queue, DAG_NO_TRANS, k, n, -1, W, ldw, 1, A, lda);
    if (full > 0 && k > 0)
        FN(cuda_gemm)(queue, DAG_NO_TRANS, DAG_NO_TRANS, full, n, k, -1, V, ldv, W, ldw, 1, B, ldb);
    FN(cuda_trmm)(queue, DAG_LEFT, DAG_UPPER, DAG_NO_TRANS, DAG_NON_UNIT, k, n, 1, triangle, ldv, W,
                  ldw);
    FN(cuda_geadd)(queue, DAG_NO_TRANS, k, n, -1, W, ldw, 1, B + full, ldb);
}

#undef CUBLAS
#undef CUBLAS_TEXT
#undef CUSOLVER
#undef cu_elem
#undef IN
#undef OUT

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

size_t FN(dev_potrf_workspace)(dag_uplo uplo, int n)
{
    int items = n > 0 ? most_items(DAG_PREC, uplo, n, FN(query_potrf)) : 0;
    return items < 0 ? SIZE_MAX : (size_t)items * sizeof(elem_t);
}

void FN(dev_potrf)(dag_device_queue *queue, dag_uplo uplo, int n, elem_t *A, int lda, void *work,
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

void FN(dev_trsm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, dag_trans trans,
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

void FN(dev_trmm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, dag_trans trans,
                   dag_diag diag, int m, int n, elem_t alpha, const elem_t *A, int lda, elem_t *B,
                   int ldb)
{
    FN(trmm_to)(queue, side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb, B, ldb);
}

void FN(dev_syrk)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k,
                   elem_t alpha, const elem_t *A, int lda, elem_t beta, elem_t *C, int ldc)
{
    if (n > 0 && ready(queue))
        BLAS(queue, syrk, fill_of(uplo), plain_op_of(trans), n, k, IN(&alpha), IN(A), lda,
             IN(&beta), OUT(C), ldc);
}

void FN(dev_herk)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k,
                   real_t alpha, const elem_t *A, int lda, real_t beta, elem_t *C, int ldc)
{
#if DAG_COMPLEX
    if (n > 0 && ready(queue))
        BLAS(queue, herk, fill_of(uplo), op_of(trans), n, k, &alpha, IN(A), lda, &beta, OUT(C),
             ldc);
#else
    FN(dev_syrk)(queue, uplo, trans, n, k, alpha, A, lda, beta, C, ldc);
#endif
}

void FN(dev_gemm)(dag_device_queue *queue, dag_trans transa, dag_trans transb, int m, int n, int k,
                   elem_t alpha, const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta,
                   elem_t *C, int ldc)
{
    if (m > 0 && n > 0 && ready(queue))
        BLAS(queue, gemm, op_of(transa), op_of(transb), m, n, k, IN(&alpha), IN(A), lda, IN(B), ldb,
             IN(&beta), OUT(C), ldc);
}

void FN(dev_gemm_batch)(dag_device_queue *queue, dag_trans transa, dag_trans transb, int m, int n, int k,
                         elem_t alpha, const elem_t *const *A, int lda, const elem_t *const *B, int ldb,
                         elem_t beta, elem_t *const *C, int ldc, int count)
{
    for (int done = 0; done < count && m > 0 && n > 0 && ready(queue); done += BATCH) {
        int64_t list[3 * BATCH];
        int size = count - done < BATCH ? count - done : BATCH;
        for (int i = 0; i < size; i++) {
            list[i] = (intptr_t)A[done + i];
            list[size + i] = (intptr_t)B[done + i];
            list[2 * size + i] = (intptr_t)C[done + i];
        }
        void **at = addresses(queue, list, 3, size);
        if (at)
            BLAS(queue, gemmBatched, op_of(transa), op_of(transb), m, n, k, IN(&alpha),
                 (const cu_elem *const *)at, lda, (const cu_elem *const *)(at + size), ldb, IN(&beta),
                 (cu_elem *const *)(at + 2 * size), ldc, size);
    }
}

void FN(dev_trsm_batch)(dag_device_queue *queue, dag_side side, dag_uplo uplo, dag_trans trans,
                         dag_diag diag, int m, int n, elem_t alpha, const elem_t *const *A, int lda,
                         elem_t *const *B, int ldb, int count)
{
    for (int done = 0; done < count && m > 0 && n > 0 && ready(queue); done += BATCH) {
        int64_t list[2 * BATCH];
        int size = count - done < BATCH ? count - done : BATCH;
        for (int i = 0; i < size; i++) {
            list[i] = (intptr_t)A[done + i];
            list[size + i] = (intptr_t)B[done + i];
        }
        void **at = addresses(queue, list, 2, size);
        if (at)
            BLAS(queue, trsmBatched, side_of(side), fill_of(uplo), op_of(trans), diag_of(diag), m, n,
                 IN(&alpha), (const cu_elem *const *)at, lda, (cu_elem *const *)(at + size), ldb, size);
    }
}

void FN(dev_symm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, int m, int n, elem_t alpha,
                   const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta, elem_t *C,
                   int ldc)
{
    if (m > 0 && n > 0 && ready(queue))
        BLAS(queue, symm, side_of(side), fill_of(uplo), m, n, IN(&alpha), IN(A), lda, IN(B), ldb,
             IN(&beta), OUT(C), ldc);
}

void FN(dev_hemm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, int m, int n, elem_t alpha,
                   const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta, elem_t *C,
                   int ldc)
{
#if DAG_COMPLEX
    if (m > 0 && n > 0 && ready(queue))
        BLAS(queue, hemm, side_of(side), fill_of(uplo), m, n, IN(&alpha), IN(A), lda, IN(B), ldb,
             IN(&beta), OUT(C), ldc);
#else
    FN(dev_symm)(queue, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc);
#endif
}

void FN(dev_syr2k)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k,
                    elem_t alpha, const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta,
                    elem_t *C, int ldc)
{
    if (n > 0 && ready(queue))
        BLAS(queue, syr2k, fill_of(uplo), plain_op_of(trans), n, k, IN(&alpha), IN(A), lda, IN(B),
             ldb, IN(&beta), OUT(C), ldc);
}

void FN(dev_her2k)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k,
                    elem_t alpha, const elem_t *A, int lda, const elem_t *B, int ldb, real_t beta,
                    elem_t *C, int ldc)
{
#if DAG_COMPLEX
    if (n > 0 && ready(queue))
        BLAS(queue, her2k, fill_of(uplo), op_of(trans), n, k, IN(&alpha), IN(A), lda, IN(B), ldb,
             &beta, OUT(C), ldc);
#else
    FN(dev_syr2k)(queue, uplo, trans, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
#endif
}

/* cuBLAS takes a matrix with the factor 0 for absent: what lies there is not read. */
void FN(dev_geadd)(dag_device_queue *queue, dag_trans trans, int m, int n, elem_t alpha,
                    const elem_t *A, int lda, elem_t beta, elem_t *B, int ldb)
{
    if (m > 0 && n > 0 && ready(queue))
        BLAS(queue, geam, op_of(trans), CUBLAS_OP_N, m, n, IN(&alpha), IN(A), lda, IN(&beta), IN(B),
             ldb, OUT(B), ldb);
}

/* Ones from the queue's workspace, as a row whose columns are apart by one more than B's. */
static void FN(identity)(dag_device_queue *queue, int n, elem_t *B, int ldb)
{
    FN(dev_geadd)(queue, DAG_NO_TRANS, n, n, 0, B, ldb, 0, B, ldb);
    for (int i = 0; i < n && ready_with_ones(queue); i += ONES)
        FN(dev_geadd)(queue, DAG_NO_TRANS, 1, n - i < ONES ? n - i : ONES, 1, ones_of(queue, DAG_PREC), 1, 0,
                       B + i + (size_t)i * (size_t)ldb, ldb + 1);
}

#include "device/inverse.inc.c"
#include "device/reflectors.inc.c"

#undef CUBLAS
#undef CUBLAS_TEXT
#undef CUSOLVER
#undef cu_elem
#undef IN
#undef OUT

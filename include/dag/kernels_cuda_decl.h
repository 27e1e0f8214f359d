/**
 * @file kernels_cuda_decl.h
 * Declarations of the kernels on CUDA devices for one precision. Included by kernels_cuda.h only.
 */

/**
 * Cholesky factor.
 * @param work  on the device, as many bytes as cuda_potrf_workspace() says.
 * @param info  an int on the device, from dag_device_info(), that LAPACK's info is written to.
 */
void FN(cuda_potrf)(dag_device_queue *queue, dag_uplo uplo, int n, elem_t *A, int lda, void *work,
                    int *info);

/** Bytes of workspace that cuda_potrf needs for a tile of order n; any thread. The same for the same
 *  arguments as long as the program runs, SIZE_MAX where the library has no answer. */
size_t FN(cuda_potrf_workspace)(dag_uplo uplo, int n);

void FN(cuda_trsm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, dag_trans trans,
                   dag_diag diag, int m, int n, elem_t alpha, const elem_t *A, int lda, elem_t *B,
                   int ldb);
void FN(cuda_trmm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, dag_trans trans,
                   dag_diag diag, int m, int n, elem_t alpha, const elem_t *A, int lda, elem_t *B,
                   int ldb);
void FN(cuda_herk)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k,
                   real_t alpha, const elem_t *A, int lda, real_t beta, elem_t *C, int ldc);
void FN(cuda_syrk)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k,
                   elem_t alpha, const elem_t *A, int lda, elem_t beta, elem_t *C, int ldc);
void FN(cuda_gemm)(dag_device_queue *queue, dag_trans transa, dag_trans transb, int m, int n, int k,
                   elem_t alpha, const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta,
                   elem_t *C, int ldc);
void FN(cuda_hemm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, int m, int n, elem_t alpha,
                   const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta, elem_t *C,
                   int ldc);
void FN(cuda_symm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, int m, int n, elem_t alpha,
                   const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta, elem_t *C,
                   int ldc);
void FN(cuda_syr2k)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k,
                    elem_t alpha, const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta,
                    elem_t *C, int ldc);
void FN(cuda_her2k)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k,
                    elem_t alpha, const elem_t *A, int lda, const elem_t *B, int ldb, real_t beta,
                    elem_t *C, int ldc);

/** All of B, m by n: there is no region. Factors (1, 0) copy, (0, 0) set to zero. A may be B if it is
 *  not transposed, and apart from that must not overlap it. */
void FN(cuda_geadd)(dag_device_queue *queue, dag_trans trans, int m, int n, elem_t alpha,
                    const elem_t *A, int lda, elem_t beta, elem_t *B, int ldb);

void FN(cuda_gemqrt)(dag_device_queue *queue, dag_trans trans, int m, int n, int k, const elem_t *V,
                     int ldv, const elem_t *T, int ldt, elem_t *C, int ldc, elem_t *W, int ldw);
void FN(cuda_tpmqrt)(dag_device_queue *queue, dag_trans trans, int m, int n, int k, const elem_t *V,
                     int ldv, const elem_t *T, int ldt, elem_t *A, int lda, elem_t *B, int ldb,
                     elem_t *W, int ldw);

/**
 * Exchanges rows of A, m rows and n columns; there is one stack.
 * @param work  on the device, dag_cuda_laswp_bytes(e->count) bytes.
 */
void FN(cuda_laswp)(dag_device_queue *queue, const dag_cuda_exchanges *e, int m, int n, elem_t *A,
                    int lda, void *work);

/**
 * The first half of exchanges between stacks: from C, m rows and n columns of this stack, row i of W
 * gets what row e->first + i is to become, where that comes from this stack; and row e->nb + i of W what
 * that row is now, where it lies in this stack. The other rows of W, which has 2 e->nb of them, are left
 * alone.
 */
void FN(cuda_pick_rows)(dag_device_queue *queue, const dag_cuda_exchanges *e, int m, int n,
                        const elem_t *C, int ldc, elem_t *W, void *work);

/** The second half: what belongs into this stack is put down there, from W of all stacks. */
void FN(cuda_put_rows)(dag_device_queue *queue, const dag_cuda_exchanges *e, int m, int n,
                       const elem_t *W, elem_t *C, int ldc, void *work);

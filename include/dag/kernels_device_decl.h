/**
 * @file kernels_device_decl.h
 * Declarations of the kernels on devices for one precision. Included by kernels_device.h only.
 */

/**
 * Cholesky factor.
 * @param work  on the device, as many bytes as dev_potrf_workspace() says.
 * @param info  an int on the device, from dag_device_info(), that LAPACK's info is written to.
 */
void FN(dev_potrf)(dag_device_queue *queue, dag_uplo uplo, int n, elem_t *A, int lda, void *work,
                    int *info);

/** Bytes of workspace that dev_potrf needs for a tile of order n on whichever of the loaded kinds wants
 *  most; any thread. The same for the same arguments as long as no further kind is loaded, SIZE_MAX where
 *  a kind's library has no answer. */
size_t FN(dev_potrf_workspace)(dag_uplo uplo, int n);

void FN(dev_trsm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, dag_trans trans,
                   dag_diag diag, int m, int n, elem_t alpha, const elem_t *A, int lda, elem_t *B,
                   int ldb);

/**
 * B := the inverse of a triangle of A; the rest of B, n by n, becomes zero. A and B must not overlap.
 * @param side  which of the two residuals is small, element by element: DAG_LEFT, for solutions B x, has
 *              |A B - I| <= c n u |A| |B|; DAG_RIGHT, for x B, has it of B A. A zero on the diagonal makes
 *              infinities and NaN.
 */
void FN(dev_trtri)(dag_device_queue *queue, dag_side side, dag_uplo uplo, dag_diag diag, int n,
                    const elem_t *A, int lda, elem_t *B, int ldb);
void FN(dev_trmm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, dag_trans trans,
                   dag_diag diag, int m, int n, elem_t alpha, const elem_t *A, int lda, elem_t *B,
                   int ldb);
void FN(dev_herk)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k,
                   real_t alpha, const elem_t *A, int lda, real_t beta, elem_t *C, int ldc);
void FN(dev_syrk)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k,
                   elem_t alpha, const elem_t *A, int lda, elem_t beta, elem_t *C, int ldc);
void FN(dev_gemm)(dag_device_queue *queue, dag_trans transa, dag_trans transb, int m, int n, int k,
                   elem_t alpha, const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta,
                   elem_t *C, int ldc);

/**
 * Products, or solves, of one shape, with operands of their own: dev_gemm and dev_trsm of A[i], B[i], C[i] for
 * i < count, in one launch where the kind of devices can. The arrays are on the host and read by the call. No
 * result may overlap another one, nor an operand of another one.
 */
void FN(dev_gemm_batch)(dag_device_queue *queue, dag_trans transa, dag_trans transb, int m, int n, int k,
                         elem_t alpha, const elem_t *const *A, int lda, const elem_t *const *B, int ldb,
                         elem_t beta, elem_t *const *C, int ldc, int count);
void FN(dev_trsm_batch)(dag_device_queue *queue, dag_side side, dag_uplo uplo, dag_trans trans,
                         dag_diag diag, int m, int n, elem_t alpha, const elem_t *const *A, int lda,
                         elem_t *const *B, int ldb, int count);

void FN(dev_hemm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, int m, int n, elem_t alpha,
                   const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta, elem_t *C,
                   int ldc);
void FN(dev_symm)(dag_device_queue *queue, dag_side side, dag_uplo uplo, int m, int n, elem_t alpha,
                   const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta, elem_t *C,
                   int ldc);
void FN(dev_syr2k)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k,
                    elem_t alpha, const elem_t *A, int lda, const elem_t *B, int ldb, elem_t beta,
                    elem_t *C, int ldc);
void FN(dev_her2k)(dag_device_queue *queue, dag_uplo uplo, dag_trans trans, int n, int k,
                    elem_t alpha, const elem_t *A, int lda, const elem_t *B, int ldb, real_t beta,
                    elem_t *C, int ldc);

/** All of B, m by n: there is no region. Factors (1, 0) copy, (0, 0) set to zero. A may be B if it is
 *  not transposed, and apart from that must not overlap it. */
void FN(dev_geadd)(dag_device_queue *queue, dag_trans trans, int m, int n, elem_t alpha,
                    const elem_t *A, int lda, elem_t beta, elem_t *B, int ldb);

void FN(dev_gemqrt)(dag_device_queue *queue, dag_trans trans, int m, int n, int k, const elem_t *V,
                     int ldv, const elem_t *T, int ldt, elem_t *C, int ldc, elem_t *W, int ldw);
void FN(dev_tpmqrt)(dag_device_queue *queue, dag_trans trans, int m, int n, int k, const elem_t *V,
                     int ldv, const elem_t *T, int ldt, elem_t *A, int lda, elem_t *B, int ldb,
                     elem_t *W, int ldw);

/**
 * Exchanges rows of A, m rows and n columns; there is one stack.
 * @param work  on the device, dag_device_laswp_bytes(e->count) bytes.
 */
void FN(dev_laswp)(dag_device_queue *queue, const dag_device_exchanges *e, int m, int n, elem_t *A,
                    int lda, void *work);

/**
 * The first half of exchanges between stacks: from C, m rows and n columns of this stack, row i of W
 * gets what row e->first + i is to become, where that comes from this stack; and row e->nb + i of W what
 * that row is now, where it lies in this stack. The other rows of W, which has 2 e->nb of them, are left
 * alone.
 */
void FN(dev_pick_rows)(dag_device_queue *queue, const dag_device_exchanges *e, int m, int n,
                        const elem_t *C, int ldc, elem_t *W, void *work);

/** The second half: what belongs into this stack is put down there, from W of all stacks. */
void FN(dev_put_rows)(dag_device_queue *queue, const dag_device_exchanges *e, int m, int n,
                       const elem_t *W, elem_t *C, int ldc, void *work);

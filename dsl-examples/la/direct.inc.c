/* Routines on the calling thread for one element type: the tile kernels on whole matrices, and LAPACK for
 * what is no tile kernel. */

#define LOCAL(name) DAG_PRECISION_CAT(name##_, DAG_PRECISION)
#define LAPACK(op) DAG_PRECISION_CAT(DAG_PRECISION_CAT(LAPACKE_, DAG_PRECISION), op)

static int LOCAL(potrf)(dag_uplo uplo, const dagi_array *A)
{
    return FN(potrf)(uplo, A->n, A->at, A->ld);
}

#if DAG_COMPLEX
/* OpenBLAS's (0.3.21) for complex upper triangles reads the element behind the last one of a row, which may be behind
 * the array: there A is copied. Negative: no memory for that, and nothing has happened. */
static int LOCAL(potri)(dag_uplo uplo, const dagi_array *A)
{
    size_t n = (size_t)A->n;
    if (uplo == DAG_LOWER)
        return LAPACK(potri_work)(LAPACK_COL_MAJOR, 'L', A->n, A->at, A->ld);
    elem_t *copy = calloc((n + 1) * n, sizeof *copy);
    if (copy == NULL)
        return -1;
    FN(lacpy)(DAG_REGION_UPPER, A->n, A->n, A->at, A->ld, copy, A->n);
    int info = LAPACK(potri_work)(LAPACK_COL_MAJOR, 'U', A->n, copy, A->n);
    FN(lacpy)(DAG_REGION_UPPER, A->n, A->n, copy, A->n, A->at, A->ld);
    free(copy);
    return info;
}

#else
/* As the graph has it: the inverse of the triangle, then its product with itself. */
static int LOCAL(potri)(dag_uplo uplo, const dagi_array *A)
{
    const elem_t *a = A->at;
    for (int i = 0; i < A->n; i++)
        if (a[(size_t)i * ((size_t)A->ld + 1)] == 0)
            return i + 1;
    elem_t *W = malloc((size_t)A->n * (size_t)A->n * sizeof *W);
    if (W == NULL)
        return -1;
    FN(laset)(DAG_REGION_FULL, A->n, A->n, 0, 1, W, A->n);
    FN(trsm)(DAG_LEFT, uplo, DAG_NO_TRANS, DAG_NON_UNIT, A->n, A->n, 1, A->at, A->ld, W, A->n);
    FN(laset)(uplo == DAG_LOWER ? DAG_REGION_UPPER_STRICT : DAG_REGION_LOWER_STRICT, A->n, A->n, 0, 0, W, A->n);
    FN(herk)(uplo, uplo == DAG_LOWER ? DAG_CONJ_TRANS : DAG_NO_TRANS, A->n, A->n, 1, W, A->n, 0, A->at, A->ld);
    free(W);
    return 0;
}
#endif

static int LOCAL(getrf)(const dagi_array *A, int64_t *ipiv)
{
    return FN(getrf)(A->m, A->n, A->at, A->ld, 1, ipiv);
}

static void LOCAL(laswp)(const dagi_array *A, int64_t k, const int64_t *ipiv, bool backward)
{
    for (int j = 0; j < A->n; j++) {
        elem_t *a = (elem_t *)A->at + (size_t)j * (size_t)A->ld;
        for (int64_t i = 0; i < k; i++) {
            int64_t row = backward ? k - 1 - i : i;
            elem_t t = a[row];
            a[row] = a[ipiv[row] - 1];
            a[ipiv[row] - 1] = t;
        }
    }
}

static void LOCAL(gemm)(dag_trans transa, dag_trans transb, dag_dcomplex alpha, const dagi_array *A,
                        const dagi_array *B, dag_dcomplex beta, const dagi_array *C)
{
    FN(gemm)(transa, transb, C->m, C->n, transa == DAG_NO_TRANS ? A->n : A->m, DAG_SCALAR(alpha), A->at,
             A->ld, B->at, B->ld, DAG_SCALAR(beta), C->at, C->ld);
}

static void LOCAL(trsm)(dag_side side, dag_uplo uplo, dag_trans trans, dag_diag diag,
                        dag_dcomplex alpha, const dagi_array *A, const dagi_array *B)
{
    FN(trsm)(side, uplo, trans, diag, B->m, B->n, DAG_SCALAR(alpha), A->at, A->ld, B->at, B->ld);
}

static void LOCAL(geqrf)(const dagi_array *A, int panel, int block, void *T, int ldt, void *work)
{
    elem_t *right = (elem_t *)A->at + (size_t)panel * (size_t)A->ld;
    int rank = A->m < panel ? A->m : panel;
    FN(geqrt_stack)(A->m, panel, block, A->at, A->ld, T, ldt, work);
    if (A->n > panel)
        FN(gemqrt_stack)(DAG_CONJ_TRANS, A->m, A->n - panel, rank, block, A->at, A->ld, T, ldt, right,
                         A->ld, work);
}

static void LOCAL(unmqr)(dag_trans trans, const dagi_array *V, int block, const void *T, int ldt,
                         const dagi_array *C, void *work)
{
    int rank = V->m < V->n ? V->m : V->n;
    FN(gemqrt_stack)(trans, C->m, C->n, rank, block, V->at, V->ld, T, ldt, C->at, C->ld, work);
}
#undef LAPACK
#undef LOCAL

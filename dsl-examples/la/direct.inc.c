/* Routines on the calling thread for one element type: the tile kernels on whole matrices. */

#define LOCAL(name) DAG_PRECISION_CAT(name##_, DAG_PRECISION)

static int LOCAL(potrf)(dag_uplo uplo, const dagi_array *A)
{
    return FN(potrf)(uplo, A->n, A->at, A->ld);
}

static int LOCAL(potri)(dag_uplo uplo, const dagi_array *A)
{
    const elem_t *a = A->at;
    for (int i = 0; i < A->n; i++)
        if (a[(size_t)i * ((size_t)A->ld + 1)] == 0)
            return i + 1;
    FN(trtri)(uplo, DAG_NON_UNIT, A->n, A->at, A->ld);
    FN(lauum)(uplo, A->n, A->at, A->ld);
    return 0;
}

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
#undef LOCAL

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
/* Columns of a triangle that is filled up to a square to be inverted or multiplied. */
enum { LOCAL(TRIANGLE) = 24 };

/* Where the square of a triangle that is halved lies. */
static elem_t *LOCAL(square_of)(dag_uplo uplo, int half, elem_t *A, int ld)
{
    return uplo == DAG_LOWER ? A + half : A + (size_t)half * (size_t)ld;
}

/* The inverse of a triangle without zeros on its diagonal, in place, by halves. */
static void LOCAL(invert)(dag_uplo uplo, int n, elem_t *A, int ld)
{
    elem_t W[LOCAL(TRIANGLE) * LOCAL(TRIANGLE)];
    if (n <= LOCAL(TRIANGLE)) {
        FN(laset)(DAG_REGION_FULL, n, n, 0, 1, W, n);
        FN(trsm)(DAG_LEFT, uplo, DAG_NO_TRANS, DAG_NON_UNIT, n, n, 1, A, ld, W, n);
        FN(lacpy)(uplo == DAG_LOWER ? DAG_REGION_LOWER : DAG_REGION_UPPER, n, n, W, n, A, ld);
        return;
    }
    int l = n / 2, r = n - l, m = uplo == DAG_LOWER ? r : l, columns = n - m;
    elem_t *second = A + (size_t)l * ((size_t)ld + 1), *square = LOCAL(square_of)(uplo, l, A, ld);
    bool lower = uplo == DAG_LOWER;
    FN(trsm)(DAG_LEFT, uplo, DAG_NO_TRANS, DAG_NON_UNIT, m, columns, -1, lower ? second : A, ld, square, ld);
    FN(trsm)(DAG_RIGHT, uplo, DAG_NO_TRANS, DAG_NON_UNIT, m, columns, 1, lower ? A : second, ld, square, ld);
    LOCAL(invert)(uplo, l, A, ld);
    LOCAL(invert)(uplo, r, second, ld);
}

/* A triangle becomes that of L^T L, or of U U^T, in place, by halves. */
static void LOCAL(multiply)(dag_uplo uplo, int n, elem_t *A, int ld)
{
    bool lower = uplo == DAG_LOWER;
    dag_trans first = lower ? DAG_TRANS : DAG_NO_TRANS;
    elem_t W[LOCAL(TRIANGLE) * LOCAL(TRIANGLE)];
    if (n <= LOCAL(TRIANGLE)) {
        FN(laset)(DAG_REGION_FULL, n, n, 0, 0, W, n);
        FN(lacpy)(lower ? DAG_REGION_LOWER : DAG_REGION_UPPER, n, n, A, ld, W, n);
        FN(herk)(uplo, first, n, n, 1, W, n, 0, A, ld);
        return;
    }
    int l = n / 2, r = n - l;
    elem_t *second = A + (size_t)l * ((size_t)ld + 1), *square = LOCAL(square_of)(uplo, l, A, ld);
    LOCAL(multiply)(uplo, l, A, ld);
    FN(herk)(uplo, first, l, r, 1, square, ld, 1, A, ld);
    FN(trmm)(lower ? DAG_LEFT : DAG_RIGHT, uplo, DAG_TRANS, DAG_NON_UNIT, lower ? r : l, lower ? l : r, 1, second, ld,
             square, ld);
    LOCAL(multiply)(uplo, r, second, ld);
}

/* The inverse of the triangle, then its product with itself, both in place: a third of the arithmetic that the graph's kernels
 * do with a tile, and no memory that a first call would meet. */
static int LOCAL(potri)(dag_uplo uplo, const dagi_array *A)
{
    const elem_t *a = A->at;
    for (int i = 0; i < A->n; i++)
        if (a[(size_t)i * ((size_t)A->ld + 1)] == 0)
            return i + 1;
    LOCAL(invert)(uplo, A->n, A->at, A->ld);
    LOCAL(multiply)(uplo, A->n, A->at, A->ld);
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

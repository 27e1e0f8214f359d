/*
 * Inverse of a triangle, and its product with itself, in place. Template over the element type.
 *
 * Both halve the triangle down to few columns, so that nearly all of the work is solves and products of squares, which other
 * kernels do.
 */

/* Where the square of a triangle that is halved lies. */
static elem_t *LOCAL(square_of)(dag_uplo uplo, int half, elem_t *A, int lda)
{
    return uplo == DAG_LOWER ? A + half : A + AT(0, half, lda);
}

/* Columns of a triangle that are not halved. */
enum { LOCAL(LEAF) = DAG_COMPLEX ? 24 : 32 };

#if DAG_COMPLEX
/* B := A^H on a region of B, of order n. */
static void LOCAL(turn)(dag_region region, int n, const elem_t *A, int lda, elem_t *B, int ldb)
{
    for (int j = 0; j < n; j++) {
        row_range r = region_rows(region, n, j);
        for (int i = r.first; i < r.end; i++)
            B[AT(i, j, ldb)] = CONJ(A[AT(j, i, lda)]);
    }
}

/* A leaf is LAPACK's. OpenBLAS's (0.3.21) for complex upper triangles reads the element behind the last one of a row, which
 * may be behind the array, so those are turned. A unit diagonal is neither read nor written. */
static void LOCAL(trtri_leaf)(dag_uplo uplo, dag_diag diag, int n, elem_t *A, int lda)
{
    elem_t W[LOCAL(LEAF) * LOCAL(LEAF)];
    const bool unit = diag == DAG_UNIT;
    const char d = unit ? 'U' : 'N';
    if (uplo == DAG_LOWER) {
        (void)LAPACK(trtri_work)(LAPACK_COL_MAJOR, 'L', d, n, A, lda);
        return;
    }
    LOCAL(turn)(unit ? DAG_REGION_LOWER_STRICT : DAG_REGION_LOWER, n, A, lda, W, n);
    (void)LAPACK(trtri_work)(LAPACK_COL_MAJOR, 'L', d, n, W, n);
    LOCAL(turn)(unit ? DAG_REGION_UPPER_STRICT : DAG_REGION_UPPER, n, W, n, A, lda);
}
#else
/* A leaf is filled up to a square: beside LAPACK's that is more arithmetic in less time. */
static void LOCAL(trtri_leaf)(dag_uplo uplo, dag_diag diag, int n, elem_t *A, int lda)
{
    elem_t W[LOCAL(LEAF) * LOCAL(LEAF)];
    bool lower = uplo == DAG_LOWER, unit = diag == DAG_UNIT;
    FN(laset)(DAG_REGION_FULL, n, n, 0, 1, W, n);
    FN(trsm)(DAG_LEFT, uplo, DAG_NO_TRANS, diag, n, n, 1, A, lda, W, n);
    FN(lacpy)(lower ? unit ? DAG_REGION_LOWER_STRICT : DAG_REGION_LOWER
                    : unit ? DAG_REGION_UPPER_STRICT : DAG_REGION_UPPER, n, n, W, n, A, lda);
}
#endif

static void LOCAL(trtri_halves)(dag_uplo uplo, dag_diag diag, int n, elem_t *A, int lda)
{
    const bool lower = uplo == DAG_LOWER;
    if (n <= LOCAL(LEAF)) {
        LOCAL(trtri_leaf)(uplo, diag, n, A, lda);
        return;
    }
    int l = split(n, INVERSE_UNIT), r = n - l, rows = lower ? r : l;
    elem_t *second = A + AT(l, l, lda), *square = LOCAL(square_of)(uplo, l, A, lda);
    FN(trsm)(DAG_LEFT, uplo, DAG_NO_TRANS, diag, rows, n - rows, -1, lower ? second : A, lda, square, lda);
    FN(trsm)(DAG_RIGHT, uplo, DAG_NO_TRANS, diag, rows, n - rows, 1, lower ? A : second, lda, square, lda);
    LOCAL(trtri_halves)(uplo, diag, l, A, lda);
    LOCAL(trtri_halves)(uplo, diag, r, second, lda);
}

void FN(trtri)(dag_uplo uplo, dag_diag diag, int n, elem_t *A, int lda)
{
    if (MODELLED(TRTRI, n, n, n))
        return;
    ASSERT_ORDER(n, lda);
    if (n > 0)
        LOCAL(trtri_halves)(uplo, diag, n, A, lda);
}

/* Filled up to a square. LAPACK's takes the diagonal for real. */
static void LOCAL(lauum_leaf)(dag_uplo uplo, int n, elem_t *A, int lda)
{
    elem_t W[LOCAL(LEAF) * LOCAL(LEAF)];
    bool lower = uplo == DAG_LOWER;
    FN(laset)(DAG_REGION_FULL, n, n, 0, 0, W, n);
    FN(lacpy)(lower ? DAG_REGION_LOWER : DAG_REGION_UPPER, n, n, A, lda, W, n);
    FN(herk)(uplo, lower ? DAG_CONJ_TRANS : DAG_NO_TRANS, n, n, 1, W, n, 0, A, lda);
}

static void LOCAL(lauum_halves)(dag_uplo uplo, int n, elem_t *A, int lda)
{
    const bool lower = uplo == DAG_LOWER;
    const dag_trans first = lower ? DAG_CONJ_TRANS : DAG_NO_TRANS;
    if (n <= LOCAL(LEAF)) {
        LOCAL(lauum_leaf)(uplo, n, A, lda);
        return;
    }
    int l = split(n, INVERSE_UNIT), r = n - l;
    elem_t *second = A + AT(l, l, lda), *square = LOCAL(square_of)(uplo, l, A, lda);
    LOCAL(lauum_halves)(uplo, l, A, lda);
    FN(herk)(uplo, first, l, r, 1, square, lda, 1, A, lda);
    FN(trmm)(lower ? DAG_LEFT : DAG_RIGHT, uplo, DAG_CONJ_TRANS, DAG_NON_UNIT, lower ? r : l, lower ? l : r, 1, second, lda,
             square, lda);
    LOCAL(lauum_halves)(uplo, r, second, lda);
}

void FN(lauum)(dag_uplo uplo, int n, elem_t *A, int lda)
{
    if (MODELLED(LAUUM, n, n, n))
        return;
    ASSERT_ORDER(n, lda);
    if (n > 0)
        LOCAL(lauum_halves)(uplo, n, A, lda);
}

/*
 * QR factorisation of tiles and of pairs of triangles. Template over the element type.
 *
 * Columns are halved down to QR_LEAF of them (Elmroth and Gustavson, 2000), so that nearly all of
 * the work is products. T of a block reflector is as large as the block has columns: more arithmetic
 * than with narrower inner blocks, in larger products. Which is faster has not been compared.
 */

/*
 * H^H (alpha; x) = (beta; 0) for H = I - tau (1; x') (1; x')^H with real beta: x becomes x', alpha
 * beta. As LAPACK's larfg, with one pass over x where its squares are in range.
 */
static elem_t LOCAL(reflector)(int n, elem_t *alpha, elem_t *x)
{
    elem_t tau = 0;
    real_t squares = n > 0 ? SQUARES(n, x) : 0;
    real_t re = DAG_REAL(*alpha), im = DAG_IMAG(*alpha);
    real_t all = squares + re * re + im * im;
    if (!(squares > (real_t)SQUARES_MIN && all < (real_t)SQUARES_MAX)) {
        LAPACK(larfg_work)(n + 1, alpha, x, 1, &tau);
        return tau;
    }
    real_t beta = re < 0 ? (real_t)sqrt((double)all) : -(real_t)sqrt((double)all);
    elem_t scale = 1 / (*alpha - beta);
    tau = DAG_ELEM((beta - re) / beta, -im / beta);
    CBLAS(scal)(n, SCALAR(scale), x, 1);
    *alpha = DAG_ELEM(beta, 0);
    return tau;
}

/* Column j of T from tau and from z = V^H v of the columns before it. */
static void LOCAL(column_of_T)(int j, elem_t tau, const elem_t *z, elem_t *T, int ldt)
{
    elem_t *t = T + AT(0, j, ldt);
    for (int i = 0; i < j; i++) {
        elem_t sum = 0;
        for (int l = i; l < j; l++)
            sum += MUL(T[AT(i, l, ldt)], z[l]);
        t[i] = -MUL(tau, sum);
    }
    t[j] = tau;
}

/* m >= n, n <= QR_LEAF */
static void LOCAL(geqrt_leaf)(int m, int n, elem_t *A, int lda, elem_t *T, int ldt)
{
    const elem_t one = 1, zero = 0;
    for (int j = 0; j < n; j++) {
        elem_t *v = A + AT(j, j, lda), z[QR_LEAF];
        elem_t tau = LOCAL(reflector)(m - j - 1, v, v + 1), diagonal = *v;
        elem_t minus = -CONJ(tau);
        *v = 1;
        CBLAS(gemv)(CblasColMajor, CblasConjTrans, m - j, n, SCALAR(one), A + j, lda, v, 1,
                    SCALAR(zero), z, 1);
        if (j + 1 < n) /* A := A - conj(tau) v (A^H v)^H */
            GER(CblasColMajor, m - j, n - j - 1, SCALAR(minus), v, 1, z + j + 1, 1,
                A + AT(j, j + 1, lda), lda);
        *v = diagonal;
        LOCAL(column_of_T)(j, tau, z, T, ldt);
    }
}

/* C := C + alpha op(A) B for a triangle A of order k; B and C are k by n. Squares on the diagonal are
 * filled up: a product of small squares costs less than a library's triangular one. */
static void LOCAL(triangle)(dag_uplo uplo, dag_trans trans, dag_diag diag, int k, int n,
                            elem_t alpha, const elem_t *A, int lda, const elem_t *B, int ldb,
                            elem_t *C, int ldc)
{
    bool lower = uplo == DAG_LOWER, plain = trans == DAG_NO_TRANS;
    elem_t square[QR_SQUARE * QR_SQUARE];
    for (int r = 0; r < k; r += QR_SQUARE) {
        int b = k - r < QR_SQUARE ? k - r : QR_SQUARE;
        const elem_t *beside = lower ? A + r : A + AT(0, r, lda);
        FN(lacpy)(lower ? DAG_REGION_LOWER : DAG_REGION_UPPER, b, b, A + AT(r, r, lda), lda, square,
                  QR_SQUARE);
        FN(laset)(lower ? DAG_REGION_UPPER_STRICT : DAG_REGION_LOWER_STRICT, b, b, 0, 0, square,
                  QR_SQUARE);
        if (diag == DAG_UNIT)
            FN(laset)(DAG_REGION_DIAGONAL, b, b, 0, 1, square, QR_SQUARE);
        FN(gemm)(trans, DAG_NO_TRANS, b, n, b, alpha, square, QR_SQUARE, B + r, ldb, 1, C + r, ldc);
        if (r > 0 && lower == plain)
            FN(gemm)(trans, DAG_NO_TRANS, b, n, r, alpha, beside, lda, B, ldb, 1, C + r, ldc);
        else if (r > 0)
            FN(gemm)(trans, DAG_NO_TRANS, r, n, b, alpha, beside, lda, B + r, ldb, 1, C, ldc);
    }
}

/* W := op(T) (V^H C); C := C - V W. V is unit lower trapezoidal, m by k. */
void FN(gemqrt)(dag_trans trans, int m, int n, int k, const elem_t *V, int ldv, const elem_t *T,
                int ldt, elem_t *C, int ldc, elem_t *W, int ldw)
{
    ASSERT_TILE(m, n, ldc);
    assert(k <= m);
    if (k == 0 || n == 0)
        return;
    FN(gemm)(DAG_CONJ_TRANS, DAG_NO_TRANS, k, n, m - k, 1, V + k, ldv, C + k, ldc, 0, W, ldw);
    LOCAL(triangle)(DAG_LOWER, DAG_CONJ_TRANS, DAG_UNIT, k, n, 1, V, ldv, C, ldc, W, ldw);
    FN(trmm)(DAG_LEFT, DAG_UPPER, trans, DAG_NON_UNIT, k, n, 1, T, ldt, W, ldw);
    LOCAL(triangle)(DAG_LOWER, DAG_NO_TRANS, DAG_UNIT, k, n, -1, V, ldv, W, ldw, C, ldc);
    FN(gemm)(DAG_NO_TRANS, DAG_NO_TRANS, m - k, n, k, -1, V + k, ldv, W, ldw, 1, C + k, ldc);
}

/* m >= n. The block of T right of the diagonal serves as workspace before it gets its value. */
static void LOCAL(geqrt_halves)(int m, int n, elem_t *A, int lda, elem_t *T, int ldt)
{
    if (n <= QR_LEAF) {
        LOCAL(geqrt_leaf)(m, n, A, lda, T, ldt);
        return;
    }
    int l = split(n, QR_LEAF), r = n - l;
    elem_t *right = A + AT(0, l, lda), *below = A + AT(l, l, lda);
    elem_t *corner = T + AT(0, l, ldt), *second = T + AT(l, l, ldt);
    LOCAL(geqrt_halves)(m, l, A, lda, T, ldt);
    FN(gemqrt)(DAG_CONJ_TRANS, m, r, l, A, lda, T, ldt, right, lda, corner, ldt);
    LOCAL(geqrt_halves)(m - l, r, below, lda, second, ldt);
    /* T12 = -T11 (V1^H V2) T22 */
    FN(geadd)(DAG_REGION_FULL, DAG_CONJ_TRANS, l, r, 1, A + l, lda, 0, corner, ldt);
    FN(trmm)(DAG_RIGHT, DAG_LOWER, DAG_NO_TRANS, DAG_UNIT, l, r, 1, below, lda, corner, ldt);
    FN(gemm)(DAG_CONJ_TRANS, DAG_NO_TRANS, l, r, m - n, 1, A + n, lda, below + r, lda, 1, corner,
             ldt);
    FN(trmm)(DAG_LEFT, DAG_UPPER, DAG_NO_TRANS, DAG_NON_UNIT, l, r, -1, T, ldt, corner, ldt);
    FN(trmm)(DAG_RIGHT, DAG_UPPER, DAG_NO_TRANS, DAG_NON_UNIT, l, r, 1, second, ldt, corner, ldt);
}

void FN(geqrt)(int m, int n, elem_t *A, int lda, elem_t *T, int ldt)
{
    ASSERT_TILE(m, n, lda);
    int k = m < n ? m : n;
    if (k > 0)
        LOCAL(geqrt_halves)(m, k, A, lda, T, ldt);
    if (k > 0 && k < n)
        FN(gemqrt)(DAG_CONJ_TRANS, m, n - k, k, A, lda, T, ldt, A + AT(0, k, lda), lda,
                   T + AT(0, k, ldt), ldt);
    for (int j = 0; j < n; j++) /* no product with T may meet what lay there */
        FN(laset)(DAG_REGION_FULL, j < k ? k - j - 1 : k, 1, 0, 0,
                  T + AT(j < k ? j + 1 : 0, j, ldt), ldt);
}

/*
 * W := op(T) (A + V^H B); A := A - W; B := B - V W. V is m by k, upper
 * triangular in its last k rows.
 */
void FN(tpmqrt)(dag_trans trans, int m, int n, int k, const elem_t *V, int ldv, const elem_t *T,
                int ldt, elem_t *A, int lda, elem_t *B, int ldb, elem_t *W, int ldw)
{
    assert(m >= k);
    if (k == 0 || n == 0)
        return;
    int full = m - k;
    FN(lacpy)(DAG_REGION_FULL, k, n, A, lda, W, ldw);
    LOCAL(triangle)(DAG_UPPER, DAG_CONJ_TRANS, DAG_NON_UNIT, k, n, 1, V + full, ldv, B + full, ldb,
                    W, ldw);
    FN(gemm)(DAG_CONJ_TRANS, DAG_NO_TRANS, k, n, full, 1, V, ldv, B, ldb, 1, W, ldw);
    FN(trmm)(DAG_LEFT, DAG_UPPER, trans, DAG_NON_UNIT, k, n, 1, T, ldt, W, ldw);
    FN(geadd)(DAG_REGION_FULL, DAG_NO_TRANS, k, n, -1, W, ldw, 1, A, lda);
    FN(gemm)(DAG_NO_TRANS, DAG_NO_TRANS, full, n, k, -1, V, ldv, W, ldw, 1, B, ldb);
    LOCAL(triangle)(DAG_UPPER, DAG_NO_TRANS, DAG_NON_UNIT, k, n, -1, V + full, ldv, W, ldw,
                    B + full, ldb);
}

static void LOCAL(tpqrt_leaf)(int m, int n, elem_t *A, int lda, elem_t *B, int ldb, elem_t *T,
                              int ldt)
{
    const elem_t one = 1;
    for (int j = 0; j < n; j++) {
        int rows = m - n + j + 1;
        elem_t *x = B + AT(0, j, ldb), z[QR_LEAF];
        elem_t tau = LOCAL(reflector)(rows, A + AT(j, j, lda), x);
        elem_t minus = -CONJ(tau);
        for (int c = 0; c < n; c++) {
            z[c] = c > j ? CONJ(A[AT(j, c, lda)]) : 0;
            if (c != j)
                CBLAS(gemv)(CblasColMajor, CblasConjTrans, c < j ? m - n + c + 1 : rows, 1,
                            SCALAR(one), B + AT(0, c, ldb), ldb, x, 1, SCALAR(one), z + c, 1);
            if (c > j)
                A[AT(j, c, lda)] += MUL(minus, CONJ(z[c]));
        }
        if (j + 1 < n)
            GER(CblasColMajor, rows, n - j - 1, SCALAR(minus), x, 1, z + j + 1, 1,
                B + AT(0, j + 1, ldb), ldb);
        LOCAL(column_of_T)(j, tau, z, T, ldt);
    }
}

static void LOCAL(tpqrt_halves)(int m, int n, elem_t *A, int lda, elem_t *B, int ldb, elem_t *T,
                                int ldt)
{
    if (n <= QR_LEAF) {
        LOCAL(tpqrt_leaf)(m, n, A, lda, B, ldb, T, ldt);
        return;
    }
    int l = split(n, QR_LEAF), r = n - l, full = m - n;
    elem_t *right = B + AT(0, l, ldb), *corner = T + AT(0, l, ldt), *second = T + AT(l, l, ldt);
    LOCAL(tpqrt_halves)(full + l, l, A, lda, B, ldb, T, ldt);
    FN(tpmqrt)(DAG_CONJ_TRANS, full + l, r, l, B, ldb, T, ldt, A + AT(0, l, lda), lda, right, ldb,
               corner, ldt);
    LOCAL(tpqrt_halves)(m, r, A + AT(l, l, lda), lda, right, ldb, second, ldt);
    /* T12 = -T11 (V1^H V2) T22; the unit parts of V1 and V2 are in different rows */
    FN(lacpy)(DAG_REGION_FULL, l, r, right + full, ldb, corner, ldt);
    FN(trmm)(DAG_LEFT, DAG_UPPER, DAG_CONJ_TRANS, DAG_NON_UNIT, l, r, 1, B + full, ldb, corner,
             ldt);
    FN(gemm)(DAG_CONJ_TRANS, DAG_NO_TRANS, l, r, full, 1, B, ldb, right, ldb, 1, corner, ldt);
    FN(trmm)(DAG_LEFT, DAG_UPPER, DAG_NO_TRANS, DAG_NON_UNIT, l, r, -1, T, ldt, corner, ldt);
    FN(trmm)(DAG_RIGHT, DAG_UPPER, DAG_NO_TRANS, DAG_NON_UNIT, l, r, 1, second, ldt, corner, ldt);
}

void FN(tpqrt)(int m, int n, elem_t *A, int lda, elem_t *B, int ldb, elem_t *T, int ldt)
{
    assert(m >= n);
    if (n == 0)
        return;
    LOCAL(tpqrt_halves)(m, n, A, lda, B, ldb, T, ldt);
    FN(laset)(DAG_REGION_LOWER_STRICT, n, n, 0, 0, T, ldt);
}

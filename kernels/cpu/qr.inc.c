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
#if DAG_COMPLEX /* C's quotient looks at what cannot be here, and is a call */
    real_t square = (re - beta) * (re - beta) + im * im;
    elem_t scale = DAG_ELEM((re - beta) / square, -im / square);
#else
    elem_t scale = 1 / (*alpha - beta);
#endif
    tau = DAG_ELEM((beta - re) / beta, -im / beta);
    CBLAS(scal)(n, SCALAR(scale), x, 1);
    *alpha = DAG_ELEM(beta, 0);
    return tau;
}

/* Column j of T from tau and from z = V^H v of the columns before it: T z by rows for the few columns of a leaf in real
 * types, by columns where there are more. */
static void LOCAL(column_of_T)(int j, elem_t tau, const elem_t *z, elem_t *T, int ldt)
{
    elem_t *t = T + AT(0, j, ldt);
#if DAG_COMPLEX
    for (int i = 0; i < j; i++)
        t[i] = 0;
    for (int l = 0; l < j; l++) {
        const elem_t *column = T + AT(0, l, ldt);
        for (int i = 0; i <= l; i++)
            t[i] += MUL(column[i], z[l]);
    }
    for (int i = 0; i < j; i++)
        t[i] = -MUL(tau, t[i]);
#else
    for (int i = 0; i < j; i++) {
        elem_t sum = 0;
        for (int l = i; l < j; l++)
            sum += MUL(T[AT(i, l, ldt)], z[l]);
        t[i] = -MUL(tau, sum);
    }
#endif
    t[j] = tau;
}

#if !DAG_COMPLEX
/* Nothing but zeros, of which a sum of squares that is 0 does not tell. */
static bool LOCAL(vanishes)(int n, const elem_t *x)
{
    int i = 0;
    while (i < n && x[i] == 0)
        i++;
    return i == n;
}

/*
 * The first n of QR_LEAF columns by passes that reflect one column and multiply the next one with all
 * of them. They are A, of order QR_LEAF, on top of X, which is m by QR_LEAF: R in the triangle of A
 * and V in X; with `trapezoid` X follows A in memory, and V lies below the diagonal of A too, else A
 * is a triangle. From column n on all are zero.
 */
static void LOCAL(leaf)(bool trapezoid, int m, int n, elem_t *A, int lda, elem_t *X, int ldx,
                        elem_t *T, int ldt)
{
    elem_t dots[QR_LEAF], z[QR_LEAF], w[QR_LEAF] = {0};
    MICRO_NOW->reflect(m, -1, 1, w, X, ldx, dots);
    for (int j = 0; j < n; j++) {
        int high = trapezoid ? QR_LEAF : j + 1; /* end of the rows of v in A */
        elem_t *a = A + AT(0, j, lda), *x = X + AT(0, j, ldx), tau, scale;
        elem_t squares = dots[j];
        for (int i = j + 1; i < high; i++)
            squares += a[i] * a[i];
        elem_t all = squares + a[j] * a[j];
        bool in_range = squares > (elem_t)SQUARES_MIN && all < (elem_t)SQUARES_MAX;
        for (int c = 0; c < QR_LEAF; c++) /* column c may be far larger than column j */
            in_range = in_range && dots[c] < (elem_t)SQUARES_MAX && -dots[c] < (elem_t)SQUARES_MAX;
        if (in_range) {
            elem_t beta = a[j] < 0 ? (elem_t)sqrt((double)all) : -(elem_t)sqrt((double)all);
            scale = 1 / (a[j] - beta);
            tau = (beta - a[j]) / beta;
            a[j] = beta;
        } else if (squares == 0 && all < (elem_t)SQUARES_MAX && LOCAL(vanishes)(high - j - 1, a + j + 1) &&
                   LOCAL(vanishes)(m, x)) { /* as in the last column of a square; nothing is reflected */
            tau = 0;
            scale = 1;
            memset(dots, 0, sizeof dots);
        } else {
            LAPACK(larfg_work)(m + high - j, a + j, trapezoid ? a + j + 1 : x, 1, &tau);
            scale = 1;
            CBLAS(gemv)(CblasColMajor, CblasTrans, m, QR_LEAF, 1, X, ldx, x, 1, 0, dots, 1);
        }
        for (int i = j + 1; i < high; i++)
            a[i] *= scale;
        for (int c = 0; c < QR_LEAF; c++) {
            elem_t *other = A + AT(0, c, lda);
            z[c] = scale * dots[c] + (c > j || trapezoid ? other[j] : 0);
            for (int i = j + 1; i < high; i++)
                z[c] += a[i] * other[i];
            w[c] = tau * z[c];
            for (int i = j; c > j && i < high; i++)
                other[i] -= i == j ? w[c] : w[c] * a[i];
        }
        MICRO_NOW->reflect(m, j, scale, w, X, ldx, dots);
        LOCAL(column_of_T)(j, tau, z, T, ldt);
    }
}

/* Fewer columns, on QR_ROWS rows at most, with zeros beside and below them. */
static void LOCAL(padded_leaf)(int m, int n, elem_t *A, int lda, elem_t *T, int ldt)
{
    elem_t X[QR_ROWS * QR_LEAF];
    const int high = m < QR_LEAF ? QR_LEAF : m;
    memset(X, 0, (size_t)high * QR_LEAF * sizeof(elem_t));
    for (int j = 0; j < n; j++)
        memcpy(X + AT(0, j, high), A + AT(0, j, lda), (size_t)m * sizeof(elem_t));
    LOCAL(leaf)(true, high - QR_LEAF, n, X, high, X + QR_LEAF, high, T, ldt);
    for (int j = 0; j < n; j++)
        memcpy(A + AT(0, j, lda), X + AT(0, j, high), (size_t)m * sizeof(elem_t));
}
#endif

/* m >= n, and LOCAL(is_leaf) */
static void LOCAL(geqrt_leaf)(int m, int n, elem_t *A, int lda, elem_t *T, int ldt)
{
    const elem_t one = 1, zero = 0;
#if !DAG_COMPLEX
    if (n == QR_LEAF && MICRO_NOW != NULL) {
        LOCAL(leaf)(true, m - n, n, A, lda, A + n, lda, T, ldt);
        return;
    }
    if (m <= QR_ROWS && MICRO_NOW != NULL) {
        LOCAL(padded_leaf)(m, n, A, lda, T, ldt);
        return;
    }
#else
    if (PAIRS_NOW != NULL && PAIRS_NOW->geqrt_pairs(m, n, (real_t *)A, lda, (real_t *)T, ldt, (real_t)SQUARES_MIN,
                                                    (real_t)SQUARES_MAX))
        return;
#endif
    for (int j = 0; j < n; j++) {
        elem_t *v = A + AT(j, j, lda), z[QR_FEW];
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
    if (MODELLED(GEMQRT, m, n, k))
        return;
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

#if !DAG_COMPLEX
/* QR_FEW columns at most on QR_ROWS rows at most, from left to right: V is also kept with its ones and
 * zeros, so that all but the leaves are products of a few hundred numbers, which cost less than a
 * library's calls for triangles. */
static void LOCAL(geqrt_few)(int m, int n, elem_t *A, int lda, elem_t *T, int ldt)
{
    elem_t V[QR_ROWS * QR_FEW], W[QR_LEAF * QR_FEW], W2[QR_LEAF * QR_FEW];
    FN(laset)(DAG_REGION_FULL, n, n, 0, 0, T, ldt);
    for (int j = 0; j < n; j += QR_LEAF) {
        int b = n - j < QR_LEAF ? n - j : QR_LEAF, right = n - j - b, rows = m - j;
        elem_t *a = A + AT(j, j, lda), *next = a + AT(0, b, lda), *v = V + AT(j, j, m);
        elem_t *t = T + AT(j, j, ldt), *corner = T + AT(0, j, ldt);
        LOCAL(geqrt_leaf)(rows, b, a, lda, t, ldt);
        for (int i = 0; i < b; i++) {
            memset(v + AT(0, i, m), 0, (size_t)i * sizeof(elem_t));
            v[AT(i, i, m)] = 1;
            memcpy(v + AT(i + 1, i, m), a + AT(i + 1, i, lda), (size_t)(rows - i - 1) * sizeof(elem_t));
        }
        FN(gemm)(DAG_TRANS, DAG_NO_TRANS, b, right, rows, 1, v, m, next, lda, 0, W, b);
        FN(gemm)(DAG_TRANS, DAG_NO_TRANS, b, right, b, 1, t, ldt, W, b, 0, W2, b);
        FN(gemm)(DAG_NO_TRANS, DAG_NO_TRANS, rows, right, b, -1, v, m, W2, b, 1, next, lda);
        if (j == 0)
            continue;
        /* T12 = -T11 (V1^H V2) T22; V1 from the rows on where V2 begins */
        FN(gemm)(DAG_TRANS, DAG_NO_TRANS, j, b, rows, 1, V + j, m, v, m, 0, W, j);
        FN(gemm)(DAG_NO_TRANS, DAG_NO_TRANS, j, b, b, 1, W, j, t, ldt, 0, W2, j);
        FN(gemm)(DAG_NO_TRANS, DAG_NO_TRANS, j, b, j, -1, T, ldt, W2, j, 0, corner, ldt);
    }
}
#endif

/* Columns that are not halved: those of complex types that one kernel takes. */
static bool LOCAL(is_leaf)(int m, int n)
{
    return n <= QR_LEAF || (DAG_COMPLEX && n <= MICRO_QR_COLS && m <= MICRO_QR_ROOM / MICRO_QR_COLS);
}

/* m >= n. The block of T right of the diagonal serves as workspace before it gets its value. */
static void LOCAL(geqrt_halves)(int m, int n, elem_t *A, int lda, elem_t *T, int ldt)
{
    if (LOCAL(is_leaf)(m, n)) {
        LOCAL(geqrt_leaf)(m, n, A, lda, T, ldt);
        return;
    }
#if !DAG_COMPLEX
    if (n <= QR_FEW && m <= QR_ROWS && MICRO_NOW != NULL) {
        LOCAL(geqrt_few)(m, n, A, lda, T, ldt);
        return;
    }
#endif
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
    if (MODELLED(GEQRT, m, n, 0))
        return;
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
    if (MODELLED(TPMQRT, m, n, k))
        return;
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

/* B has `full` rows and, if `triangle`, below them the upper triangle of order n. */
static void LOCAL(tpqrt_leaf)(int full, bool triangle, int n, elem_t *A, int lda, elem_t *B, int ldb,
                              elem_t *T, int ldt)
{
    const elem_t one = 1;
#if !DAG_COMPLEX
    if (n == QR_LEAF && !triangle && MICRO_NOW != NULL) {
        LOCAL(leaf)(false, full, n, A, lda, B, ldb, T, ldt);
        return;
    }
#endif
    for (int j = 0; j < n; j++) {
        int rows = triangle ? full + j + 1 : full;
        elem_t *x = B + AT(0, j, ldb), z[QR_LEAF];
        elem_t tau = LOCAL(reflector)(rows, A + AT(j, j, lda), x);
        elem_t minus = -CONJ(tau);
        for (int c = 0; c < n; c++) {
            z[c] = c > j ? CONJ(A[AT(j, c, lda)]) : 0;
            if (c != j)
                CBLAS(gemv)(CblasColMajor, CblasConjTrans, triangle && c < j ? full + c + 1 : rows,
                            1, SCALAR(one), B + AT(0, c, ldb), ldb, x, 1, SCALAR(one), z + c, 1);
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
        LOCAL(tpqrt_leaf)(m - n, true, n, A, lda, B, ldb, T, ldt);
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
    if (MODELLED(TPQRT, m, n, 0))
        return;
    assert(m >= n);
    if (n == 0)
        return;
    LOCAL(tpqrt_halves)(m, n, A, lda, B, ldb, T, ldt);
    FN(laset)(DAG_REGION_LOWER_STRICT, n, n, 0, 0, T, ldt);
}

/* ---- stacks cut into blocks of rows ------------------------------------------------------- */

/* As tpmqrt for V without a triangle, m by k, and T with zeros below the diagonal. W: 2 k by n. */
static void LOCAL(tsmqrt)(dag_trans trans, int m, int n, int k, const elem_t *V, int ldv,
                          const elem_t *T, int ldt, elem_t *A, int lda, elem_t *B, int ldb,
                          elem_t *W)
{
    elem_t *second = W + AT(0, n, k);
    if (n == 0)
        return;
    FN(lacpy)(DAG_REGION_FULL, k, n, A, lda, W, k);
    FN(gemm)(DAG_CONJ_TRANS, DAG_NO_TRANS, k, n, m, 1, V, ldv, B, ldb, 1, W, k);
    FN(gemm)(trans, DAG_NO_TRANS, k, n, k, 1, T, ldt, W, k, 0, second, k);
    FN(geadd)(DAG_REGION_FULL, DAG_NO_TRANS, k, n, -1, second, k, 1, A, lda);
    FN(gemm)(DAG_NO_TRANS, DAG_NO_TRANS, m, n, k, -1, V, ldv, second, k, 1, B, ldb);
}

/* QR factorisation of a triangle A on top of B, n columns and m rows; T gets zeros below the
 * diagonal. From left to right: halves would give products of twice the depth, and more of the
 * small ones with T. W: 2 n by n. */
static void LOCAL(tsqrt)(int m, int n, elem_t *A, int lda, elem_t *B, int ldb, elem_t *T, int ldt,
                         elem_t *W)
{
    FN(laset)(DAG_REGION_FULL, n, n, 0, 0, T, ldt);
    for (int j = 0; j < n; j += QR_LEAF) {
        int b = n - j < QR_LEAF ? n - j : QR_LEAF, right = n - j - b;
        elem_t *a = A + AT(j, j, lda), *v = B + AT(0, j, ldb), *t = T + AT(j, j, ldt);
        elem_t *gram = W, *product = W + AT(0, b, n);
        LOCAL(tpqrt_leaf)(m, false, b, a, lda, v, ldb, t, ldt);
        LOCAL(tsmqrt)(DAG_CONJ_TRANS, m, right, b, v, ldb, t, ldt, a + AT(0, b, lda), lda,
                      v + AT(0, b, ldb), ldb, W);
        if (j == 0)
            continue;
        /* T12 = -T11 (V1^H V2) T22 */
        FN(gemm)(DAG_CONJ_TRANS, DAG_NO_TRANS, j, b, m, 1, B, ldb, v, ldb, 0, gram, j);
        FN(gemm)(DAG_NO_TRANS, DAG_NO_TRANS, j, b, b, 1, gram, j, t, ldt, 0, product, j);
        FN(gemm)(DAG_NO_TRANS, DAG_NO_TRANS, j, b, j, -1, T, ldt, product, j, 0, T + AT(0, j, ldt),
                 ldt);
    }
}

/* The first block of a stack, as LAPACK's geqrt. */
static void LOCAL(first_block)(int m, int n, elem_t *A, int lda, elem_t *T, int ldt, elem_t *W)
{
    int k = m < n ? m : n;
    for (int j = 0; j < k; j += DAG_QR_INNER) {
        int b = k - j < DAG_QR_INNER ? k - j : DAG_QR_INNER;
        elem_t *a = A + AT(j, j, lda), *t = T + AT(0, j, ldt);
        FN(geqrt)(m - j, b, a, lda, t, ldt);
        FN(gemqrt)(DAG_CONJ_TRANS, m - j, n - j - b, b, a, lda, t, ldt, a + AT(0, b, lda), lda, W,
                   b);
    }
}

void FN(geqrt_stack)(int m, int n, int block, elem_t *A, int lda, elem_t *T, int ldt, elem_t *W)
{
    if (MODELLED(GEQRT_STACK, m, n, 0))
        return;
    ASSERT_TILE(m, n, lda);
    if (block == 0) {
        FN(geqrt)(m, n, A, lda, T, ldt);
        return;
    }
    assert(block >= n);
    bool copied = (size_t)lda * sizeof(elem_t) % QR_STRIDE == 0;
    int ldr = spread(n, sizeof(elem_t)), ldx = copied ? spread(block, sizeof(elem_t)) : lda;
    elem_t *R = W, *work = R + AT(0, n, ldr), *copy = work + AT(0, n, 2 * DAG_QR_INNER);
    for (int i = 0; i < blocks_of(m, block); i++, T += DAG_QR_INNER) {
        int row = i * block, rows = m - row < block ? m - row : block;
        elem_t *X = copied ? copy : A + row;
        if (copied)
            FN(lacpy)(DAG_REGION_FULL, rows, n, A + row, lda, X, ldx);
        if (row == 0)
            LOCAL(first_block)(rows, n, X, ldx, T, ldt, work);
        for (int j = 0; row > 0 && j < n; j += DAG_QR_INNER) {
            int b = n - j < DAG_QR_INNER ? n - j : DAG_QR_INNER, right = n - j - b;
            elem_t *r = R + AT(j, j, ldr), *x = X + AT(0, j, ldx), *t = T + AT(0, j, ldt);
            LOCAL(tsqrt)(rows, b, r, ldr, x, ldx, t, ldt, work);
            LOCAL(tsmqrt)(DAG_CONJ_TRANS, rows, right, b, x, ldx, t, ldt, r + AT(0, b, ldr), ldr,
                          x + AT(0, b, ldx), ldx, work);
        }
        if (row == 0 && m > block)
            FN(lacpy)(DAG_REGION_UPPER, n, n, X, ldx, R, ldr);
        if (copied)
            FN(lacpy)(DAG_REGION_FULL, rows, n, X, ldx, A + row, lda);
    }
    if (m > block)
        FN(lacpy)(DAG_REGION_UPPER, n, n, R, ldr, A, lda);
}

void FN(gemqrt_stack)(dag_trans trans, int m, int n, int k, int block, const elem_t *V, int ldv,
                      const elem_t *T, int ldt, elem_t *C, int ldc, elem_t *W)
{
    if (MODELLED(GEMQRT_STACK, m, n, k))
        return;
    ASSERT_TILE(m, n, ldc);
    if (block == 0) {
        FN(gemqrt)(trans, m, n, k, V, ldv, T, ldt, C, ldc, W, k > 0 ? k : 1);
        return;
    }
    int blocks = blocks_of(m, block), panels = (k + DAG_QR_INNER - 1) / DAG_QR_INNER;
    for (int s = 0; s < blocks * panels; s++) { /* Q^H goes from the first to the last */
        int at = trans == DAG_NO_TRANS ? blocks * panels - 1 - s : s;
        int i = at / panels, row = i * block, j = at % panels * DAG_QR_INNER;
        int rows = m - row < block ? m - row : block;
        int b = k - j < DAG_QR_INNER ? k - j : DAG_QR_INNER;
        const elem_t *t = T + AT((size_t)i * DAG_QR_INNER, j, ldt), *v = V + AT(row, j, ldv);
        if (i == 0)
            FN(gemqrt)(trans, rows - j, n, b, v + j, ldv, t, ldt, C + j, ldc, W, b);
        else
            LOCAL(tsmqrt)(trans, rows, n, b, v, ldv, t, ldt, C + j, ldc, C + row, ldc, W);
    }
}

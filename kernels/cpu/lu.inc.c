/* LU factorisation of a panel, and exchanges of rows. Template over the element type. */

static const real_t LOCAL(least) = sizeof(real_t) == sizeof(float) ? (real_t)FLT_MIN : (real_t)DBL_MIN;

/* The library's pivots, 32 bits each, are put where the result goes and widened from the end, so
 * that no memory is needed. They count from 1. */
static int LOCAL(getrf_library)(int m, int n, elem_t *A, int lda, int64_t *pivot)
{
    char *narrow = (char *)pivot;
    int info = LAPACK(getrf_work)(LAPACK_COL_MAJOR, m, n, A, lda, (lapack_int *)(void *)narrow);
    for (int i = m < n ? m : n; i-- > 0;) {
        lapack_int row;
        memcpy(&row, narrow + (size_t)i * sizeof(row), sizeof(row));
        pivot[i] = row - 1;
    }
    return info;
}

#if DAG_COMPLEX
/* The library knows what to do where a column has no pivot. */
static int LOCAL(getrf_leaf)(int m, int n, elem_t *A, int lda, int64_t *pivot)
{
    bool done = PAIRS_NOW->getrf_pairs(m, n, (real_t *)A, lda, LOCAL(least), pivot);
    return done ? 0 : LOCAL(getrf_library)(m, n, A, lda, pivot);
}
#else
/* n <= LU_LEAF */
static int LOCAL(getrf_leaf)(int m, int n, elem_t *A, int lda, int64_t *pivot)
{
    return MICRO_NOW->getrf(m, n, A, lda, LOCAL(least), pivot);
}
#endif

/* Recursion on the columns leaves nearly all of the work to products. n <= m; pivots count from the
 * first row of A. */
static int LOCAL(getrf_halves)(int m, int n, elem_t *A, int lda, int64_t *pivot)
{
    if (n <= LU_LEAF || (DAG_COMPLEX && n <= MICRO_LU_COLS && (m + LU_LEAF) * (n + LU_LEAF) <= MICRO_LU_ROOM))
        return LOCAL(getrf_leaf)(m, n, A, lda, pivot);
    int l = split(n, LU_LEAF), r = n - l;
    elem_t *right = A + AT(0, l, lda);
    int info = LOCAL(getrf_halves)(m, l, A, lda, pivot);
    FN(laswp)(r, right, lda, 0, l, pivot, false);
    FN(trsm)(DAG_LEFT, DAG_LOWER, DAG_NO_TRANS, DAG_UNIT, l, r, 1, A, lda, right, lda);
    FN(gemm)(DAG_NO_TRANS, DAG_NO_TRANS, m - l, r, l, -1, A + l, lda, right, lda, 1, right + l,
             lda);
    int second = LOCAL(getrf_halves)(m - l, r, right + l, lda, pivot + l);
    for (int i = l; i < n; i++)
        pivot[i] += l;
    FN(laswp)(l, A, lda, l, n, pivot, false);
    return info > 0 ? info : second > 0 ? l + second : 0;
}

/* With the products of micro.h our own recursion is faster than the library's. In c and z it has the library's products,
 * and leaves of micro.h; on an Emerald Rapids that makes, at orders 20, 50, 100, 200 and 500, 1.60, 1.31, 1.21, 1.21 and
 * 1.12 of OpenBLAS's rate in c, and 1.53, 1.13, 1.07, 1.07 and 1.04 in z; with AVX2 (Zen 3) 2.09, 1.28, 1.08, 1.00 in c,
 * and in z at 20 and 50 1.42 and .98, at 100 and 200 .90, which is left to the library. Higher panels have no such leaves. */
int FN(getrf)(int m, int n, elem_t *A, int lda, int64_t first, int64_t *pivot)
{
    if (MODELLED(GETRF, m, n, 0)) {
        for (int i = 0; i < m && i < n; i++)
            pivot[i] = first + dag_kernels_pivot(i, m);
        return 0;
    }
    ASSERT_TILE(m, n, lda);
    int rank = m < n ? m : n, info;
    if (rank == 0)
        return 0;
#if DAG_COMPLEX
    bool ours = m <= MICRO_MAX && n <= MICRO_MAX && PAIRS_NOW != NULL &&
                (DAG_PREC == DAG_C || n <= LU_PAIRS_NARROW || dagi_micro_level() > 1);
#else
    bool ours = n <= MICRO_MAX && MICRO_NOW != NULL;
#endif
    if (ours) {
        elem_t *rest = A + AT(0, rank, lda);
        info = LOCAL(getrf_halves)(m, rank, A, lda, pivot);
        if (n > rank) {
            FN(laswp)(n - rank, rest, lda, 0, rank, pivot, false);
            FN(trsm)(DAG_LEFT, DAG_LOWER, DAG_NO_TRANS, DAG_UNIT, rank, n - rank, 1, A, lda, rest,
                     lda);
        }
    } else {
        info = LOCAL(getrf_library)(m, n, A, lda, pivot);
    }
    for (int i = 0; i < rank; i++)
        pivot[i] += first;
    return info;
}

/* One column at a time: a column of a panel fits the nearest cache, its rows do not. What the next
 * column needs from afar is fetched meanwhile. */
void FN(laswp)(int n, elem_t *A, int lda, int64_t first, int64_t last, const int64_t *pivot,
               bool backward)
{
    if (MODELLED(LASWP, 2 * (last - first), n, 0))
        return;
    for (int j = 0; j < n; j++) {
        elem_t *a = A + AT(0, j, lda);
        for (int64_t i = first; i < last; i++) {
            int64_t r = backward ? first + last - 1 - i : i;
            elem_t t = a[r];
            __builtin_prefetch(a + pivot[r] + lda, 1);
            a[r] = a[pivot[r]];
            a[pivot[r]] = t;
        }
    }
}

/* Columns whose elimination is delayed until the next block of this many pivots is known. */
enum { LOCAL(INNER) = 32 };

void FN(getrf_column)(int m, int n, int j, int pivots, elem_t *T, int ldt, elem_t *A, int lda)
{
    int begin = j / LOCAL(INNER) * LOCAL(INNER);
    int end = begin + LOCAL(INNER) < pivots ? begin + LOCAL(INNER) : pivots;
    int left = j + 1 < end ? 0 : n - end; /* columns that wait for the block, which is over */
    if (MODELLED(GETRF_COLUMN, m, end - j, 0)) {
        (void)(left > 0 && MODELLED(GEMM, m, left, end - begin));
        return;
    }
    elem_t pivot = T[AT(j, j, ldt)];
    elem_t *a = A + AT(0, j, lda);
    if (DAG_REAL(pivot) != 0 || DAG_IMAG(pivot) != 0) {
        /* dividing is slower than LAPACK's reciprocal, and never overflows where that would */
        for (int i = 0; i < m; i++)
            a[i] /= pivot;
    }
    for (int c = j + 1; c < end && m > 0; c++) {
        elem_t minus = -T[AT(j, c, ldt)];
        CBLAS(axpy)(m, SCALAR(minus), a, 1, A + AT(0, c, lda), 1);
    }
    if (left <= 0)
        return;
    int k = end - begin;
    FN(trsm)(DAG_LEFT, DAG_LOWER, DAG_NO_TRANS, DAG_UNIT, k, n - end, 1, T + AT(begin, begin, ldt),
             ldt, T + AT(begin, end, ldt), ldt);
    FN(gemm)(DAG_NO_TRANS, DAG_NO_TRANS, m, n - end, k, -1, A + AT(0, begin, lda), lda,
             T + AT(begin, end, ldt), ldt, 1, A + AT(0, end, lda), lda);
}

int FN(getrf_search)(int m, const elem_t *x, double *size)
{
    if (MODELLED(GETRF_SEARCH, m, 1, 0)) {
        *size = m > 0 ? 1 : -1;
        return m > 0 ? (int)dag_kernels_pivot(0, m) : -1;
    }
    int found = -1;
    *size = -1;
    for (int i = 0; i < m; i++) {
        double s = fabs((double)DAG_REAL(x[i])) + fabs((double)DAG_IMAG(x[i]));
        if (s != s)
            s = HUGE_VAL; /* a NaN must not hide behind smaller elements */
        if (s > *size) {
            *size = s;
            found = i;
        }
    }
    return found;
}

/* Brings A to echelon form by exchanges of rows, which `order` follows. columns[i] becomes the column
 * of pivot i, in which no row below has anything left. Returns their number. */
static int LOCAL(echelon)(int m, int n, elem_t *A, int64_t *order, int64_t *columns)
{
    int rank = 0;
    for (int j = 0; j < n && rank < m; j++) {
        double size;
        int found = rank + FN(getrf_search)(m - rank, A + AT(rank, j, m), &size);
        if (size == 0)
            continue;
        int64_t row = order[rank];
        order[rank] = order[found];
        order[found] = row;
        CBLAS(swap)(n, A + rank, m, A + found, m);
        elem_t *a = A + AT(0, j, m), pivot = a[rank];
        for (int i = rank + 1; i < m; i++)
            a[i] /= pivot;
        for (int c = j + 1; c < n; c++) {
            elem_t u = A[AT(rank, c, m)];
            for (int i = rank + 1; i < m; i++)
                A[AT(i, c, m)] -= MUL(a[i], u);
        }
        columns[rank++] = j;
    }
    return rank;
}

int FN(getrf_choose)(int m, int n, const elem_t *A, int lda, elem_t *work, int64_t *order)
{
    if (MODELLED(GETRF_CHOOSE, m, n, 0)) {
        for (int i = 0; i < m; i++)
            order[i] = i;
        return 0;
    }
    ASSERT_TILE(m, n, lda);
    assert(m >= n);
    int64_t *extra = order + m;
    for (int i = 0; i < m; i++)
        order[i] = i;
    if (n == 0)
        return 0;
    FN(lacpy)(DAG_REGION_FULL, m, n, A, lda, work, m);
    int info = FN(getrf)(m, n, work, m, 0, extra);
    if (info == 0) {
        for (int i = 0; i < n; i++) {
            int64_t row = order[i];
            order[i] = order[extra[i]];
            order[extra[i]] = row;
        }
        return 0;
    }
    /* LAPACK spends a row on each column without pivot; here it must be one that nobody needs. */
    FN(lacpy)(DAG_REGION_FULL, m, n, A, lda, work, m);
    int rank = LOCAL(echelon)(m, n, work, order, extra), used = 0, spare = 0;
    for (int j = 0; j < n; j++) {
        if (used < rank && extra[used] == j) {
            used++;
        } else { /* behind the pivots that are left lie the rows that are none */
            int64_t row = order[rank + spare];
            memmove(order + j + 1, order + j, (size_t)(rank + spare - j) * sizeof(*order));
            order[j] = row;
            spare++;
        }
    }
    return info;
}

void FN(getrf_below)(int m, int n, const elem_t *U, int ldu, elem_t *A, int lda)
{
    if (MODELLED(GETRF_BELOW, m, n, 0))
        return;
    ASSERT_TILE(m, n, lda);
    const real_t least = LOCAL(least);
    bool regular = true; /* no pivot is zero or so small that its reciprocal overflows */
    for (int j = 0; j < n; j++)
        regular = regular && DAG_ABS(U[AT(j, j, ldu)]) >= least;
    if (regular) {
        FN(trsm)(DAG_RIGHT, DAG_UPPER, DAG_NO_TRANS, DAG_NON_UNIT, m, n, 1, U, ldu, A, lda);
        return;
    }
    for (int j = 0; j < n; j++) {
        elem_t pivot = U[AT(j, j, ldu)], *a = A + AT(0, j, lda);
        if (DAG_REAL(pivot) != 0 || DAG_IMAG(pivot) != 0)
            for (int i = 0; i < m; i++)
                a[i] /= pivot;
        for (int c = j + 1; c < n; c++) {
            elem_t minus = -U[AT(j, c, ldu)];
            CBLAS(axpy)(m, SCALAR(minus), a, 1, A + AT(0, c, lda), 1);
        }
    }
}

/* Recursion on the columns leaves nearly all of the work to the matrix product. */
int FN(getrf_nopiv)(int m, int n, elem_t *A, int lda)
{
    if (MODELLED(GETRF_NOPIV, m, n, 0))
        return 0;
    enum { LEAF = 16 };
    ASSERT_TILE(m, n, lda);
    int info = 0;
    int rank = m < n ? m : n;
    if (rank > LEAF) {
        int left = split(rank, LEAF);
        elem_t *right = A + AT(0, left, lda), *below = A + left;
        elem_t *rest = A + AT(left, left, lda);
        info = FN(getrf_nopiv)(m, left, A, lda);
        FN(trsm)(DAG_LEFT, DAG_LOWER, DAG_NO_TRANS, DAG_UNIT, left, n - left, 1, A, lda, right,
                 lda);
        FN(gemm)(DAG_NO_TRANS, DAG_NO_TRANS, m - left, n - left, left, -1, below, lda, right, lda,
                 1, rest, lda);
        int second = FN(getrf_nopiv)(m - left, n - left, rest, lda);
        return info > 0 ? info : second > 0 ? left + second : 0;
    }
    for (int k = 0; k < rank; k++) {
        elem_t pivot = A[AT(k, k, lda)];
        if (DAG_REAL(pivot) == 0 && DAG_IMAG(pivot) == 0) {
            if (info == 0)
                info = k + 1;
            continue;
        }
        for (int i = k + 1; i < m; i++)
            A[AT(i, k, lda)] /= pivot;
        for (int j = k + 1; j < n; j++) {
            elem_t u = A[AT(k, j, lda)];
            for (int i = k + 1; i < m; i++)
                A[AT(i, j, lda)] -= MUL(A[AT(i, k, lda)], u);
        }
    }
    return info;
}

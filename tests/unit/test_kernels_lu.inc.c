/* Template over the element type. */

/* Random; `columns` of every three are zero. */
static void LOCAL(fill)(int m, int n, int columns, elem_t *A)
{
    FN(plrnt)(0, m, n, A, m, m, 0, 0, 5);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m && j % 3 < columns; i++)
            A[i + j * m] = 0;
}

/* The chosen rows are factored without exchanges, the others follow from them: A = L U. */
static void LOCAL(choose)(int m, int n, int columns)
{
    size_t size = (size_t)m * (size_t)n + 1;
    elem_t *A = calloc(size, sizeof(*A)), *F = calloc(size, sizeof(*A));
    elem_t *work = calloc(size, sizeof(*A));
    int64_t *order = calloc((size_t)(m + n + 1), sizeof(*order));
    char *seen = calloc((size_t)m + 1, 1);
    LOCAL(fill)(m, n, columns, A);
    int info = FN(getrf_choose)(m, n, A, m, work, order);
    ck_assert_int_eq(info, columns > 0 && n > 0 ? 1 : 0);
    for (int i = 0; i < m; i++) {
        ck_assert(order[i] >= 0 && order[i] < m && !seen[order[i]]);
        seen[order[i]] = 1;
        for (int j = 0; j < n; j++)
            F[i + j * m] = A[order[i] + j * m];
    }
    ck_assert_int_eq(FN(getrf_nopiv)(n, n, F, m), info);
    FN(getrf_below)(m - n, n, F, m, F + n, m);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            elem_t sum = A[order[i] + j * m];
            if (i > j)
                ck_assert_msg(DAG_ABS(F[i + j * m]) < 1.5, "%d x %d: |L| > 1", m, n);
            for (int k = 0; k <= i && k <= j; k++)
                sum -= (k == i ? DAG_ELEM((real_t)1, (real_t)0) : F[i + k * m]) * F[k + j * m];
            ck_assert_msg(DAG_ABS(sum) <= 100 * n * DAG_EPS, "%d x %d: element (%d, %d) of A - L U",
                          m, n, i, j);
        }
    free(A);
    free(F);
    free(work);
    free(order);
    free(seen);
}

/* Pivots that are zero, or whose reciprocal overflows. */
static void LOCAL(below)(void)
{
    real_t tiny = (sizeof(real_t) == sizeof(float) ? (real_t)FLT_MIN : (real_t)DBL_MIN) / 16;
    elem_t U[4] = {tiny, NAN, tiny, 0}, A[2] = {tiny / 2, 3};
    FN(getrf_below)(1, 2, U, 2, A, 1);
    ck_assert(A[0] == (real_t)0.5);
    ck_assert(A[1] == 3 - tiny / 2);
}

/* Row exchanges as LAPACK has them are made on A, which is then L U as F has it. */
static void LOCAL(check_factors)(int m, int n, int ld, const int64_t *pivot, elem_t *A, const elem_t *F, real_t size)
{
    int rank = m < n ? m : n;
    for (int i = 0; i < rank; i++) {
        ck_assert_msg(pivot[i] > i && pivot[i] <= m, "%d x %d: pivot %d is %d", m, n, i + 1, (int)pivot[i]);
        for (int j = 0; j < n; j++) {
            elem_t a = A[i + j * ld];
            A[i + j * ld] = A[pivot[i] - 1 + j * ld];
            A[pivot[i] - 1 + j * ld] = a;
        }
    }
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            elem_t sum = A[i + j * ld];
            if (i > j)
                ck_assert_msg(DAG_ABS(F[i + j * ld]) < 1.5, "%d x %d: |L| > sqrt(2)", m, n);
            for (int k = 0; k <= i && k <= j; k++)
                sum -= (k == i ? DAG_ELEM((real_t)1, (real_t)0) : F[i + k * ld]) * F[k + j * ld];
            ck_assert_msg(DAG_ABS(sum) <= 20 * (rank + 4) * DAG_EPS * size, "%d x %d: element (%d, %d) of A - L U", m,
                          n, i, j);
        }
}

/* A random matrix times `size`, whose columns are `more` elements apart; nothing is written between them. */
static void LOCAL(getrf)(int m, int n, int more, double by)
{
    int ld = m + more;
    real_t size = (real_t)by;
    size_t count = (size_t)ld * (size_t)n;
    elem_t *A = calloc(count + 1, sizeof *A), *F = calloc(count + 1, sizeof *A);
    int64_t *pivot = calloc((size_t)(m + n), sizeof *pivot);
    FN(plrnt)(0, ld, n, A, ld, ld, 0, 0, 7);
    for (size_t i = 0; i < count; i++)
        F[i] = A[i] *= size;
    ck_assert_int_eq(FN(getrf)(m, n, F, ld, 1, pivot), 0);
    for (int j = 0; j < n; j++)
        ck_assert(memcmp(F + m + j * ld, A + m + j * ld, (size_t)more * sizeof *A) == 0);
    double largest = -1;
    int first = FN(getrf_search)(m, A, &largest);
    ck_assert_int_eq(pivot[0], first + 1);
    LOCAL(check_factors)(m, n, ld, pivot, A, F, size);
    free(A);
    free(F);
    free(pivot);
}

/* Columns without a pivot, of which the first is what info says; of equal elements the first is the pivot. */
static void LOCAL(getrf_singular)(void)
{
    enum { N = 20, ZERO = 11 };
    elem_t A[N * N], F[N * N];
    int64_t pivot[N];
    FN(plrnt)(0, N, N, A, N, N, 0, 0, 7);
    for (int i = 0; i < N; i++)
        A[i + ZERO * N] = A[i + (ZERO + 2) * N] = 0;
    memcpy(F, A, sizeof A);
    ck_assert_int_eq(FN(getrf)(N, N, F, N, 1, pivot), ZERO + 1);
    LOCAL(check_factors)(N, N, N, pivot, A, F, 1);
    for (int i = 0; i < N * N; i++)
        F[i] = 1;
    ck_assert_int_eq(FN(getrf)(N, N, F, N, 1, pivot), 2);
    ck_assert_int_eq(pivot[0], 1);
    ck_assert(F[1] == 1 && F[N] == 1 && F[N + 1] == 0);
}

/* What is no number does not vanish. */
static void LOCAL(getrf_nan)(void)
{
    enum { N = 24 };
    for (int at = 0; at < N * N; at += 37) {
        elem_t F[N * N];
        int64_t pivot[N];
        bool seen = false;
        FN(plrnt)(0, N, N, F, N, N, 0, 0, 7);
        F[at] = NAN;
        (void)FN(getrf)(N, N, F, N, 1, pivot);
        for (int i = 0; i < N * N; i++)
            seen = seen || F[i] != F[i];
        ck_assert_msg(seen, "element %d", at);
        for (int i = 0; i < N; i++)
            ck_assert(pivot[i] > i && pivot[i] <= N);
    }
}

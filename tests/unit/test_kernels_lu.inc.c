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

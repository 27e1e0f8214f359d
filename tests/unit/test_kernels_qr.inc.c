/* Part of test_kernels_qr.c: the tests of one precision. */

static elem_t *NAME(new)(int m, int n)
{
    elem_t *a = calloc((size_t)m * (size_t)n + 1, sizeof(*a));
    ck_assert_ptr_nonnull(a);
    return a;
}

static elem_t *NAME(copy)(int m, int n, const elem_t *a)
{
    return memcpy(NAME(new)(m, n), a, (size_t)m * (size_t)n * sizeof(*a));
}

/* Largest element of a - b, which are m by n. */
static double NAME(far)(int m, int n, const elem_t *a, elem_t *b)
{
    int ld = m > 0 ? m : 1;
    FN(geadd)(DAG_REGION_FULL, DAG_NO_TRANS, m, n, -1, a, ld, 1, b, ld);
    return (double)FN(lange_max)(DAG_REGION_FULL, m, n, b, ld);
}

/* Column j of R is as large as column j of A, however large the others are. */
static void NAME(columns)(int n, int block, double first, double second)
{
    enum { M = 60 };
    int ldt = block > 0 ? rows_of_T(M, block) : n;
    elem_t *A = NAME(new)(M, n), *T = NAME(new)(ldt, n);
    elem_t *W = NAME(new)((int)dag_qr_stack_work(n, block), 1);
    FN(plrnt)(0, M, n, A, M, M, 0, 0, 5);
    elem_t *S = NAME(copy)(M, n, A);
    for (int i = 0; i < M; i++) {
        S[i] *= (real_t)first;
        S[i + M] *= (real_t)second;
    }
    FN(geqrt_stack)(M, n, block, A, M, T, ldt, W);
    FN(geqrt_stack)(M, n, block, S, M, T, ldt, W);
    S[0] /= (real_t)first;
    S[M] /= (real_t)second;
    S[M + 1] /= (real_t)second;
    for (int j = 0; j < n; j++)
        for (int i = 0; i <= j; i++) {
            elem_t left = S[i + j * M] - A[i + j * M];
            ck_assert_double_le(fabs((double)DAG_REAL(left)), 100 * (double)DAG_EPS);
            ck_assert_double_le(fabs((double)DAG_IMAG(left)), 100 * (double)DAG_EPS);
        }
    elem_t *all[] = {A, T, W, S};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

/* A stack, in blocks of rows or, if `block` is 0, as a whole. */
static void NAME(geqrt)(int m, int n, int block, double scale)
{
    int k = m < n ? m : n, ld = m > 0 ? m : 1, ldt = block > 0 ? rows_of_T(m, block) : n;
    size_t work = dag_qr_stack_work(n, block), deep = block > 0 ? 2 * DAG_QR_INNER : (size_t)k;
    elem_t *A = NAME(new)(m, n), *T = NAME(new)(ldt, n), *W = NAME(new)((int)work, 1);
    elem_t *V = NAME(new)((int)deep, m + n);
    FN(plrnt)(0, m, n, A, ld, ld, 0, 0, 5);
    for (int i = 0; i < m * n; i++)
        A[i] *= (real_t)scale;
    elem_t *product = NAME(copy)(m, n, A), *original = NAME(copy)(m, n, A);
    elem_t *Q = NAME(new)(m, m), *unit = NAME(new)(m, m);
    memset(T, 0xff, (size_t)ldt * (size_t)n * sizeof(*T)); /* NaN: must not be read */
    memset(W, 0xff, work * sizeof(*W));
    FN(geqrt_stack)(m, n, block, A, ld, T, ldt, W);
    elem_t *R = NAME(new)(m, n);
    FN(lacpy)(DAG_REGION_UPPER, m, n, A, ld, R, ld);
    /* Q^H A = R */
    FN(gemqrt_stack)(DAG_CONJ_TRANS, m, n, k, block, A, ld, T, ldt, product, ld, V);
    ck_assert_double_le(NAME(far)(m, n, R, product), 8 * (m + n) * (double)DAG_EPS * scale);
    elem_t *back = NAME(copy)(m, n, R); /* Q R = A */
    FN(gemqrt_stack)(DAG_NO_TRANS, m, n, k, block, A, ld, T, ldt, back, ld, V);
    ck_assert_double_le(NAME(far)(m, n, original, back), 8 * (m + n) * (double)DAG_EPS * scale);
    FN(laset)(DAG_REGION_FULL, m, m, 0, 1, unit, ld);
    memcpy(Q, unit, (size_t)m * (size_t)m * sizeof(*Q));
    FN(gemqrt_stack)(DAG_NO_TRANS, m, m, k, block, A, ld, T, ldt, Q, ld, V);
    elem_t *gram = NAME(new)(m, m);
    FN(gemm)(DAG_CONJ_TRANS, DAG_NO_TRANS, m, m, m, 1, Q, ld, Q, ld, 0, gram, ld);
    ck_assert_double_le(NAME(far)(m, m, unit, gram), 8 * (m + n) * (double)DAG_EPS);
    elem_t *all[] = {A, T, W, V, product, original, Q, unit, R, back, gram};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

/* A is n by n; B is m by n and upper triangular in its last n rows. */
static void NAME(tpqrt)(int m, int n)
{
    elem_t *A = NAME(new)(n, n), *B = NAME(new)(m, n), *T = NAME(new)(n, n), *W = NAME(new)(n, n);
    FN(plrnt)(0, n, n, A, n, n, 0, 0, 5);
    FN(plrnt)(0, m, n, B, m, m, 0, 0, 6);
    FN(laset)(DAG_REGION_LOWER_STRICT, n, n, 0, 0, A, n);
    FN(laset)(DAG_REGION_LOWER_STRICT, n, n, 0, 0, B + m - n, m);
    elem_t *R = NAME(copy)(n, n, A), *V = NAME(copy)(m, n, B);
    elem_t *a = NAME(copy)(n, n, A), *b = NAME(copy)(m, n, B), *zero = NAME(new)(m, n);
    FN(laset)(DAG_REGION_LOWER_STRICT, n, n, DAG_ELEM(NAN, NAN), 0, R, n);
    FN(laset)(DAG_REGION_LOWER_STRICT, n, n, DAG_ELEM(NAN, NAN), 0, V + m - n, m);
    memset(T, 0xff, (size_t)n * (size_t)n * sizeof(*T));
    FN(tpqrt)(m, n, R, n, V, m, T, n);
    FN(tpmqrt)(DAG_CONJ_TRANS, m, n, n, V, m, T, n, a, n, b, m, W, n);
    elem_t *left = NAME(copy)(m, n, b); /* Q^H (A; B) = (R; 0) */
    ck_assert_double_le(NAME(far)(m, n, zero, left), 8 * (m + n) * (double)DAG_EPS);
    FN(laset)(DAG_REGION_LOWER_STRICT, n, n, 0, 0, R, n);
    elem_t *top = NAME(copy)(n, n, a);
    ck_assert_double_le(NAME(far)(n, n, R, top), 8 * (m + n) * (double)DAG_EPS);
    FN(tpmqrt)(DAG_NO_TRANS, m, n, n, V, m, T, n, a, n, b, m, W, n); /* and back */
    ck_assert_double_le(NAME(far)(n, n, A, a), 8 * (m + n) * (double)DAG_EPS);
    ck_assert_double_le(NAME(far)(m, n, B, b), 8 * (m + n) * (double)DAG_EPS);
    elem_t *all[] = {A, B, T, W, R, V, a, b, zero, left, top};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

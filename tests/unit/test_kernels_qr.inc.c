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

static void NAME(geqrt)(int m, int n, double scale)
{
    int k = m < n ? m : n, ld = m > 0 ? m : 1, ldw = k > 0 ? k : 1;
    elem_t *A = NAME(new)(m, n), *T = NAME(new)(n, n), *W = NAME(new)(k, m + n);
    FN(plrnt)(0, m, n, A, ld, ld, 0, 0, 5);
    for (int i = 0; i < m * n; i++)
        A[i] *= (real_t)scale;
    elem_t *product = NAME(copy)(m, n, A), *Q = NAME(new)(m, m), *unit = NAME(new)(m, m);
    memset(T, 0xff, (size_t)n * (size_t)n * sizeof(*T)); /* NaN: must not be read */
    FN(geqrt)(m, n, A, ld, T, n);
    elem_t *R = NAME(new)(m, n);
    FN(lacpy)(DAG_REGION_UPPER, m, n, A, ld, R, ld);
    FN(gemqrt)(DAG_CONJ_TRANS, m, n, k, A, ld, T, n, product, ld, W, ldw); /* Q^H A = R */
    ck_assert_double_le(NAME(far)(m, n, R, product), 8 * (m + n) * (double)DAG_EPS * scale);
    FN(laset)(DAG_REGION_FULL, m, m, 0, 1, unit, ld);
    memcpy(Q, unit, (size_t)m * (size_t)m * sizeof(*Q));
    FN(gemqrt)(DAG_NO_TRANS, m, m, k, A, ld, T, n, Q, ld, W, ldw);
    elem_t *gram = NAME(new)(m, m);
    FN(gemm)(DAG_CONJ_TRANS, DAG_NO_TRANS, m, m, m, 1, Q, ld, Q, ld, 0, gram, ld);
    ck_assert_double_le(NAME(far)(m, m, unit, gram), 8 * (m + n) * (double)DAG_EPS);
    elem_t *all[] = {A, T, W, product, Q, unit, R, gram};
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

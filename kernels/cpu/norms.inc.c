/* Contributions of a tile to norms and error bounds. Template over the element type. */

real_t FN(lange_max)(dag_region region, int m, int n, const elem_t *A, int lda)
{
    if (MODELLED(LANGE_MAX, m, n, 0))
        return 1;
    ASSERT_TILE(m, n, lda);
    real_t max = 0;
    for (int j = 0; j < n; j++) {
        row_range r = region_rows(region, m, j);
        for (int i = r.first; i < r.end; i++) {
            real_t a = DAG_ABS(A[AT(i, j, lda)]);
            if (a != a)
                return a;
            if (a > max)
                max = a;
        }
    }
    return max;
}

/* The sum over a column: an addition need not wait for the last one, and compilers make vectors of lanes. */
static real_t LOCAL(column_sum)(const elem_t *a, int m)
{
    enum { LANES = 16 };
    real_t lane[LANES] = {0}, sum = 0;
    int i = 0;
    for (; i + LANES <= m; i += LANES) {
        for (int l = 0; l < LANES; l++)
            lane[l] += DAG_ABS(a[i + l]);
    }
    for (; i < m; i++)
        sum += DAG_ABS(a[i]);
    for (int l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

void FN(lange_one)(dag_region region, int m, int n, const elem_t *A, int lda, real_t *sums)
{
    if (MODELLED(LANGE_ONE, m, n, 0))
        return;
    ASSERT_TILE(m, n, lda);
    for (int j = 0; j < n; j++) {
        row_range r = region_rows(region, m, j);
        sums[j] += LOCAL(column_sum)(&A[AT(r.first, j, lda)], r.end - r.first);
    }
}

void FN(lange_inf)(dag_region region, int m, int n, const elem_t *A, int lda, real_t *sums)
{
    if (MODELLED(LANGE_INF, m, n, 0))
        return;
    ASSERT_TILE(m, n, lda);
    for (int j = 0; j < n; j++) {
        row_range r = region_rows(region, m, j);
        for (int i = r.first; i < r.end; i++)
            sums[i] += DAG_ABS(A[AT(i, j, lda)]);
    }
}

/* scale^2 sumsq := scale^2 sumsq + x^2 */
static inline void LOCAL(add_square)(real_t x, real_t *scale, real_t *sumsq)
{
    real_t a = x < 0 ? -x : x;
    if (a == 0)
        return;
    if (*scale < a) {
        real_t q = *scale / a;
        *sumsq = 1 + *sumsq * (q * q);
        *scale = a;
    } else {
        real_t q = a / *scale;
        *sumsq += q * q;
    }
}

void FN(lange_fro)(dag_region region, int m, int n, const elem_t *A, int lda, real_t *scale,
                   real_t *sumsq)
{
    if (MODELLED(LANGE_FRO, m, n, 0)) {
        *scale = *sumsq = 1;
        return;
    }
    ASSERT_TILE(m, n, lda);
    for (int j = 0; j < n; j++) {
        row_range r = region_rows(region, m, j);
        for (int i = r.first; i < r.end; i++) {
            elem_t a = A[AT(i, j, lda)];
            LOCAL(add_square)(DAG_REAL(a), scale, sumsq);
            LOCAL(add_square)(DAG_IMAG(a), scale, sumsq);
        }
    }
}

void FN(absgemm)(dag_region region, dag_trans trans, int m, int n, int k, const elem_t *A,
                 int lda, const elem_t *B, int ldb, real_t *R, int ldr)
{
    if (MODELLED(ABSGEMM, m, n, k))
        return;
    bool turned = trans != DAG_NO_TRANS;
    int rows = turned ? k : m, cols = turned ? m : k;
    ASSERT_TILE(rows, cols, lda);
    ASSERT_TILE(k, n, ldb);
    ASSERT_TILE(m, n, ldr);
    for (int c = 0; c < cols; c++) {
        row_range r = region_rows(region, rows, c);
        const elem_t *a = &A[AT(0, c, lda)];
        for (int j = 0; j < n; j++) {
            const elem_t *b = &B[AT(0, j, ldb)];
            real_t *out = &R[AT(0, j, ldr)];
            if (turned) {
                for (int i = r.first; i < r.end; i++)
                    out[c] += DAG_ABS(a[i]) * DAG_ABS(b[i]);
            } else {
                real_t factor = DAG_ABS(b[c]);
                for (int i = r.first; i < r.end; i++)
                    out[i] += DAG_ABS(a[i]) * factor;
            }
        }
    }
}

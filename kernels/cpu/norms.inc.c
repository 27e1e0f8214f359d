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

void FN(lange_one)(dag_region region, int m, int n, const elem_t *A, int lda, real_t *sums)
{
    if (MODELLED(LANGE_ONE, m, n, 0))
        return;
    ASSERT_TILE(m, n, lda);
    int done = 0;
    if (region == DAG_REGION_FULL) /* columns side by side: an addition need not wait for the last */
        for (; done + 4 <= n; done += 4) {
            const elem_t *a = &A[AT(0, done, lda)], *b = a + lda, *c = b + lda, *d = c + lda;
            real_t s[4] = {sums[done], sums[done + 1], sums[done + 2], sums[done + 3]};
            for (int i = 0; i < m; i++) {
                s[0] += DAG_ABS(a[i]);
                s[1] += DAG_ABS(b[i]);
                s[2] += DAG_ABS(c[i]);
                s[3] += DAG_ABS(d[i]);
            }
            for (int j = 0; j < 4; j++)
                sums[done + j] = s[j];
        }
    for (int j = done; j < n; j++) {
        row_range r = region_rows(region, m, j);
        real_t sum = sums[j];
        for (int i = r.first; i < r.end; i++)
            sum += DAG_ABS(A[AT(i, j, lda)]);
        sums[j] = sum;
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

/* Copies, fills and sums, element by element over a region. Template over the element type. */

void FN(lacpy)(dag_region region, int m, int n, const elem_t *A, int lda, elem_t *B, int ldb)
{
    if (MODELLED(LACPY, m, n, 0))
        return;
    ASSERT_TILE(m, n, lda);
    ASSERT_TILE(m, n, ldb);
    for (int j = 0; j < n; j++) {
        row_range r = region_rows(region, m, j);
        if (r.first < r.end)
            memcpy(&B[AT(r.first, j, ldb)], &A[AT(r.first, j, lda)],
                   (size_t)(r.end - r.first) * sizeof(elem_t));
    }
}

void FN(laset)(dag_region region, int m, int n, elem_t off, elem_t diag, elem_t *A, int lda)
{
    if (MODELLED(LASET, m, n, 0))
        return;
    ASSERT_TILE(m, n, lda);
    for (int j = 0; j < n; j++) {
        row_range r = region_rows(region, m, j);
        elem_t *a = &A[AT(0, j, lda)];
        for (int i = r.first; i < r.end; i++)
            a[i] = off;
        if (r.first <= j && j < r.end)
            a[j] = diag;
    }
}

/* b := alpha a + beta b for one column piece of B; `step` is the distance of elements of a. */
static void LOCAL(add_column)(int count, elem_t alpha, const elem_t *a, size_t step, bool conj,
                              elem_t beta, elem_t *b)
{
    for (int i = 0; i < count; i++) {
        elem_t sum = 0;
        if (alpha != 0) {
            elem_t x = a[(size_t)i * step];
            sum = MUL(alpha, conj ? CONJ(x) : x);
        }
        b[i] = beta == 0 ? sum : sum + MUL(beta, b[i]);
    }
}

void FN(geadd)(dag_region region, dag_trans trans, int m, int n, elem_t alpha, const elem_t *A,
               int lda, elem_t beta, elem_t *B, int ldb)
{
    if (MODELLED(GEADD, m, n, 0))
        return;
    bool turned = trans != DAG_NO_TRANS;
    ASSERT_TILE(turned ? n : m, turned ? m : n, lda);
    ASSERT_TILE(m, n, ldb);
    for (int j = 0; j < n; j++) {
        row_range r = region_rows(region, m, j);
        if (r.first == r.end)
            continue;
        const elem_t *a = turned ? &A[AT(j, r.first, lda)] : &A[AT(r.first, j, lda)];
        LOCAL(add_column)(r.end - r.first, alpha, a, turned ? (size_t)lda : 1,
                          trans == DAG_CONJ_TRANS, beta, &B[AT(r.first, j, ldb)]);
    }
}

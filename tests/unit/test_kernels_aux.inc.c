/* Part of test_kernels.inc.c: copies, settings, sums and norms of tiles. */

static void LOCAL(lacpy)(void)
{
    for (int im = 0; im < SIZE_COUNT; im++)
        for (int in = 0; in < SIZE_COUNT; in++)
            for (int r = 0; r < REGION_COUNT; r++) {
                LOCAL(tile) a = LOCAL(random_tile)(sizes[im], sizes[in], 1);
                LOCAL(tile) b = LOCAL(random_tile)(sizes[im], sizes[in], 2);
                FN(lacpy)(regions[r], a.m, a.n, a.a, a.ld, b.a, b.ld);
                LOCAL(check)(&b, regions[r], LOCAL(to_ref)(&a), ref_new(a.m, a.n), 0, "lacpy");
                LOCAL(check_untouched)(&a, DAG_REGION_NONE, "lacpy");
                ref_free_all();
            }
}

static void LOCAL(laset)(void)
{
    elem_t off = LOCAL(scalar)(3), diag = LOCAL(scalar)(4);
    for (int im = 0; im < SIZE_COUNT; im++)
        for (int in = 0; in < SIZE_COUNT; in++)
            for (int r = 0; r < REGION_COUNT; r++) {
                LOCAL(tile) a = LOCAL(random_tile)(sizes[im], sizes[in], 1);
                ref_matrix want = ref_new(a.m, a.n);
                for (int j = 0; j < a.n; j++)
                    for (int i = 0; i < a.m; i++)
                        *ref_at(want, i, j) = i == j ? diag : off;
                FN(laset)(regions[r], a.m, a.n, off, diag, a.a, a.ld);
                LOCAL(check)(&a, regions[r], want, ref_new(a.m, a.n), 0, "laset");
                ref_free_all();
            }
}

static void LOCAL(geadd)(void)
{
    int turn = 0;
    for (int im = 0; im < SIZE_COUNT; im++)
        for (int in = 0; in < SIZE_COUNT; in += 2)
            for (int r = 0; r < REGION_COUNT; r++)
                for (int t = 0; t < 3; t++, turn++) {
                    int m = sizes[im], n = sizes[in];
                    bool turned = transes[t] != DAG_NO_TRANS;
                    LOCAL(tile) a = LOCAL(random_tile)(turned ? n : m, turned ? m : n, 1);
                    LOCAL(tile) b = LOCAL(random_tile)(m, n, 2);
                    elem_t alpha = LOCAL(scalar)(turn), beta = LOCAL(scalar)(turn / 3 + im);
                    ref_matrix op_a = ref_op(LOCAL(to_ref)(&a), transes[t]);
                    ref_matrix b0 = LOCAL(to_ref)(&b);
                    ref_matrix want = ref_add(ref_add(ref_new(m, n), alpha, op_a), beta, b0);
                    ref_matrix bound = ref_add(ref_add(ref_new(m, n), DAG_ABS(alpha),
                                                       ref_abs(op_a)),
                                               DAG_ABS(beta), ref_abs(b0));
                    if (alpha == 0)
                        LOCAL(hide)(&a, DAG_REGION_NONE);
                    if (beta == 0)
                        LOCAL(hide)(&b, DAG_REGION_NONE);
                    FN(geadd)(regions[r], transes[t], m, n, alpha, a.a, a.ld, beta, b.a, b.ld);
                    LOCAL(check)(&b, regions[r], want, bound, 1, "geadd");
                    ref_free_all();
                }
}

/* The other triangle from the stored one, in the same tile. */
static void LOCAL(geadd_in_place)(void)
{
    for (int in = 0; in < SIZE_COUNT; in++)
        for (int u = 0; u < 2; u++) {
            int n = sizes[in];
            LOCAL(tile) a = LOCAL(random_tile)(n, n, 1);
            ref_matrix want = ref_hermitian(LOCAL(to_ref)(&a), uplos[u]);
            dag_region other = uplos[u] == DAG_LOWER ? DAG_REGION_UPPER_STRICT
                                                     : DAG_REGION_LOWER_STRICT;
            FN(geadd)(other, DAG_CONJ_TRANS, n, n, 1, a.a, a.ld, 0, a.a, a.ld);
            LOCAL(check)(&a, other, want, ref_new(n, n), 0, "geadd in place");
            ref_free_all();
        }
}

/* Contributions are added to what is there: the arrays start at 1. */
static void LOCAL(lange)(void)
{
    for (int im = 0; im < SIZE_COUNT; im++)
        for (int in = 0; in < SIZE_COUNT; in++)
            for (int r = 0; r < REGION_COUNT; r++) {
                int m = sizes[im], n = sizes[in];
                LOCAL(tile) a = LOCAL(random_tile)(m, n, 1);
                LOCAL(hide)(&a, regions[r]);
                real_t *columns = ref_alloc(sizeof(real_t) * (size_t)(n + 1));
                real_t *rows = ref_alloc(sizeof(real_t) * (size_t)(m + 1));
                double *want_columns = ref_alloc(sizeof(double) * (size_t)(n + 1));
                double *want_rows = ref_alloc(sizeof(double) * (size_t)(m + 1));
                double max = 0, squares = 4;
                for (int j = 0; j <= n; j++)
                    want_columns[j] = columns[j] = 1;
                for (int i = 0; i <= m; i++)
                    want_rows[i] = rows[i] = 1;
                for (int j = 0; j < n; j++)
                    for (int i = 0; i < m; i++)
                        if (ref_in_region(regions[r], i, j)) {
                            double x = DAG_ABS(a.a[i + j * a.ld]);
                            max = x > max ? x : max;
                            squares += x * x;
                            want_columns[j] += x;
                            want_rows[i] += x;
                        }
                ck_assert(FN(lange_max)(regions[r], m, n, a.a, a.ld) == (real_t)max);
                FN(lange_one)(regions[r], m, n, a.a, a.ld, columns);
                FN(lange_inf)(regions[r], m, n, a.a, a.ld, rows);
                real_t scale = 2, sumsq = 1;
                FN(lange_fro)(regions[r], m, n, a.a, a.ld, &scale, &sumsq);
                double eps = DAG_EPS;
                for (int j = 0; j <= n; j++)
                    if (!(fabs(columns[j] - want_columns[j]) <= m * eps * want_columns[j]))
                        ck_abort_msg("lange_one: %d by %d: sum of column %d is %g instead of %g",
                                     m, n, j, (double)columns[j], want_columns[j]);
                for (int i = 0; i <= m; i++)
                    if (!(fabs(rows[i] - want_rows[i]) <= n * eps * want_rows[i]))
                        ck_abort_msg("lange_inf: %d by %d: sum of row %d is %g instead of %g", m,
                                     n, i, (double)rows[i], want_rows[i]);
                double got = (double)scale * (double)scale * (double)sumsq;
                ck_assert(fabs(got - squares) <= (m + 4.0) * (n + 4.0) * eps * squares);
                ref_free_all();
            }
}

/* NaN is never lost, and squares neither overflow nor underflow. */
static void LOCAL(lange_special)(void)
{
    elem_t a[6] = {1, 2, 3, 4, 5, 6};
    ck_assert(FN(lange_max)(DAG_REGION_FULL, 2, 3, a, 2) == 6);
    for (int k = 0; k < 6; k++) {
        elem_t b[6];
        memcpy(b, a, sizeof a);
        b[k] = DAG_ELEM(NAN, 0);
        ck_assert(isnan(FN(lange_max)(DAG_REGION_FULL, 2, 3, b, 2)));
        real_t scale = 0, sumsq = 1;
        FN(lange_fro)(DAG_REGION_FULL, 2, 3, b, 2, &scale, &sumsq);
        ck_assert(isnan(scale * scale * sumsq));
        b[k] = DAG_ELEM(-INFINITY, 0);
        ck_assert(FN(lange_max)(DAG_REGION_FULL, 2, 3, b, 2) == INFINITY);
    }
    const real_t extremes[] = {(real_t)(1 / (DAG_EPS * DAG_EPS * DAG_EPS * DAG_EPS)),
                               (real_t)(DAG_EPS * DAG_EPS * DAG_EPS * DAG_EPS)};
    for (int k = 0; k < 2; k++) {
        real_t x = extremes[k];
        elem_t b[4] = {x, -x, x, x};
        real_t scale = 0, sumsq = 0;
        FN(lange_fro)(DAG_REGION_FULL, 4, 1, b, 4, &scale, &sumsq);
        ck_assert(scale * (real_t)sqrt(sumsq) == 2 * x);
    }
    real_t scale = 0, sumsq = 1;
    FN(lange_fro)(DAG_REGION_FULL, 0, 3, a, 1, &scale, &sumsq);
    ck_assert(scale * scale * sumsq == 0);
}

static void LOCAL(absgemm)(void)
{
    for (int s = 0; s < SHAPE_COUNT - 1; s++)
        for (int r = 0; r < REGION_COUNT; r++)
            for (int t = 0; t < 3; t++) {
                shape d = shape_number(s);
                bool turned = transes[t] != DAG_NO_TRANS;
                LOCAL(tile) a = LOCAL(random_tile)(turned ? d.k : d.m, turned ? d.m : d.k, 1);
                LOCAL(tile) b = LOCAL(random_tile)(d.k, d.n, 2);
                ref_matrix ra = LOCAL(to_ref)(&a);
                for (int j = 0; j < a.n; j++)
                    for (int i = 0; i < a.m; i++)
                        if (!ref_in_region(regions[r], i, j))
                            *ref_at(ra, i, j) = 0;
                LOCAL(hide)(&a, regions[r]);
                ref_matrix want = ref_mul(1, ref_abs(ref_op(ra, transes[t])),
                                          ref_abs(LOCAL(to_ref)(&b)));
                int ldr = leading_dimension(d.m);
                size_t count = (size_t)ldr * (size_t)(d.n + 1);
                real_t *out = ref_alloc(sizeof(real_t) * count);
                for (size_t k = 0; k < count; k++)
                    out[k] = 3;
                FN(absgemm)(regions[r], transes[t], d.m, d.n, d.k, a.a, a.ld, b.a, b.ld, out,
                            ldr);
                for (int j = 0; j <= d.n; j++)
                    for (int i = 0; i < ldr; i++) {
                        bool inside = i < d.m && j < d.n;
                        double w = inside ? 3 + __builtin_creal(*ref_at(want, i, j)) : 3;
                        double limit = inside ? (2 * d.k + 8) * (double)DAG_EPS * w : 0;
                        if (!(fabs(out[i + j * ldr] - w) <= limit))
                            ck_abort_msg("absgemm: %d by %d by %d: element (%d, %d) is %g "
                                         "instead of %g", d.m, d.n, d.k, i, j,
                                         (double)out[i + j * ldr], w);
                    }
                ref_free_all();
            }
}

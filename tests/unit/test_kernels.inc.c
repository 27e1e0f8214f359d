/* Part of test_kernels.c: the tests of one precision. */

/* A tile with padding below every column and one more column behind the last. */
typedef struct LOCAL(tile) {
    int m, n, ld;
    elem_t *a;
    elem_t *before; /* what it was when made: to see what changed */
} LOCAL(tile);

static size_t LOCAL(tile_bytes)(const LOCAL(tile) *t)
{
    return sizeof(elem_t) * (size_t)t->ld * (size_t)(t->n + 1);
}

/* Remembers the present content as what must not change outside a region. */
static void LOCAL(remember)(LOCAL(tile) *t)
{
    memcpy(t->before, t->a, LOCAL(tile_bytes)(t));
}

static LOCAL(tile) LOCAL(random_tile)(int m, int n, uint64_t seed)
{
    LOCAL(tile) t = {.m = m, .n = n, .ld = leading_dimension(m)};
    t.a = ref_alloc(LOCAL(tile_bytes)(&t));
    t.before = ref_alloc(LOCAL(tile_bytes)(&t));
    FN(plrnt)(0, t.ld, n + 1, t.a, t.ld, t.ld, 0, 0, seed);
    LOCAL(remember)(&t);
    return t;
}

/* Overwrites the elements outside a region with NaN: whoever reads them shows it. */
static void LOCAL(hide)(LOCAL(tile) *t, dag_region region)
{
    for (int j = 0; j < t->n; j++)
        for (int i = 0; i < t->m; i++)
            if (!ref_in_region(region, i, j))
                t->a[i + j * t->ld] = DAG_ELEM(NAN, NAN);
    LOCAL(remember)(t);
}

static ref_matrix LOCAL(to_ref)(const LOCAL(tile) *t)
{
    ref_matrix r = ref_new(t->m, t->n);
    for (int j = 0; j < t->n; j++)
        for (int i = 0; i < t->m; i++)
            *ref_at(r, i, j) = t->a[i + j * t->ld];
    return r;
}

static elem_t LOCAL(scalar)(int turn)
{
    return DAG_ELEM(scalars[turn % SCALAR_COUNT][0], scalars[turn % SCALAR_COUNT][1]);
}

/* Fails if anything outside the region changed, padding included. */
static void LOCAL(check_untouched)(const LOCAL(tile) *t, dag_region region, const char *what)
{
    for (int j = 0; j <= t->n; j++)
        for (int i = 0; i < t->ld; i++) {
            if (i < t->m && j < t->n && ref_in_region(region, i, j))
                continue;
            if (memcmp(&t->a[i + j * t->ld], &t->before[i + j * t->ld], sizeof(elem_t)) != 0)
                ck_abort_msg("%s: %d by %d, ld %d: element (%d, %d) changed", what, t->m, t->n,
                             t->ld, i, j);
        }
}

/*
 * Fails unless |got - want| <= terms * DAG_EPS * bound in the region, element by element, where
 * bound holds the absolute values that were summed, and unless the rest is untouched.
 */
static void LOCAL(check)(const LOCAL(tile) *t, dag_region region, ref_matrix want,
                         ref_matrix bound, int terms, const char *what)
{
    for (int j = 0; j < t->n; j++)
        for (int i = 0; i < t->m; i++) {
            if (!ref_in_region(region, i, j))
                continue;
            dag_dcomplex got = t->a[i + j * t->ld], w = *ref_at(want, i, j);
            double error = __builtin_cabs(got - w);
            double limit = (4 * terms + 16) * (double)DAG_EPS *
                           __builtin_creal(*ref_at(bound, i, j));
            if (!(error <= limit))
                ck_abort_msg("%s: %d by %d, ld %d: element (%d, %d) is %g%+gi instead of "
                             "%g%+gi, error %g above %g", what, t->m, t->n, t->ld, i, j,
                             __builtin_creal(got), __builtin_cimag(got), __builtin_creal(w),
                             __builtin_cimag(w), error, limit);
        }
    LOCAL(check_untouched)(t, region, what);
}

/* Checks C := alpha A B + beta C0 in a region, for matrices already in the form of the product. */
static void LOCAL(check_product)(const LOCAL(tile) *c, dag_region region, elem_t alpha,
                                 ref_matrix a, ref_matrix b, elem_t beta, ref_matrix c0,
                                 const char *what)
{
    ref_matrix want = ref_add(ref_mul(alpha, a, b), beta, c0);
    ref_matrix bound = ref_add(ref_mul(DAG_ABS(alpha), ref_abs(a), ref_abs(b)),
                               DAG_ABS(beta), ref_abs(c0));
    LOCAL(check)(c, region, want, bound, a.n, what);
}

static void LOCAL(gemm)(void)
{
    int turn = 0;
    for (int s = 0; s < SHAPE_COUNT; s++)
        for (int ta = 0; ta < 3; ta++)
            for (int tb = 0; tb < 3; tb++, turn++) {
                shape d = shape_number(s);
                bool na = transes[ta] == DAG_NO_TRANS, nb = transes[tb] == DAG_NO_TRANS;
                LOCAL(tile) a = LOCAL(random_tile)(na ? d.m : d.k, na ? d.k : d.m, 1);
                LOCAL(tile) b = LOCAL(random_tile)(nb ? d.k : d.n, nb ? d.n : d.k, 2);
                LOCAL(tile) c = LOCAL(random_tile)(d.m, d.n, 3);
                elem_t alpha = LOCAL(scalar)(turn), beta = LOCAL(scalar)(turn / 3 + s);
                if (beta == 0)
                    LOCAL(hide)(&c, DAG_REGION_NONE);
                ref_matrix c0 = LOCAL(to_ref)(&c);
                if (beta == 0)
                    c0 = ref_new(d.m, d.n);
                FN(gemm)(transes[ta], transes[tb], d.m, d.n, d.k, alpha, a.a, a.ld, b.a, b.ld,
                         beta, c.a, c.ld);
                LOCAL(check_product)(&c, DAG_REGION_FULL, alpha,
                                     ref_op(LOCAL(to_ref)(&a), transes[ta]),
                                     ref_op(LOCAL(to_ref)(&b), transes[tb]), beta, c0, "gemm");
                ref_free_all();
            }
}

/* hemm and symm: they differ in what the triangle stands for. */
static void LOCAL(mirrored)(bool hermitian)
{
    int turn = 0;
    for (int s = 0; s < SHAPE_COUNT; s++)
        for (int side = 0; side < 2; side++)
            for (int u = 0; u < 2; u++, turn++) {
                shape d = shape_number(s);
                bool left = sides[side] == DAG_LEFT;
                int order = left ? d.m : d.n;
                LOCAL(tile) a = LOCAL(random_tile)(order, order, 1);
                LOCAL(tile) b = LOCAL(random_tile)(d.m, d.n, 2);
                LOCAL(tile) c = LOCAL(random_tile)(d.m, d.n, 3);
                LOCAL(hide)(&a, dag_uplo_region(uplos[u]));
                elem_t alpha = LOCAL(scalar)(turn), beta = LOCAL(scalar)(turn / 3 + s);
                ref_matrix h = hermitian ? ref_hermitian(LOCAL(to_ref)(&a), uplos[u])
                                         : ref_symmetric(LOCAL(to_ref)(&a), uplos[u]);
                ref_matrix rb = LOCAL(to_ref)(&b), c0 = LOCAL(to_ref)(&c);
                (hermitian ? FN(hemm) : FN(symm))(sides[side], uplos[u], d.m, d.n, alpha, a.a,
                                                  a.ld, b.a, b.ld, beta, c.a, c.ld);
                LOCAL(check_product)(&c, DAG_REGION_FULL, alpha, left ? h : rb, left ? rb : h,
                                     beta, c0, hermitian ? "hemm" : "symm");
                ref_free_all();
            }
}

static void LOCAL(hemm)(void)
{
    LOCAL(mirrored)(true);
}

static void LOCAL(symm)(void)
{
    LOCAL(mirrored)(false);
}

/* herk and syrk for one shape: they differ in the operation that makes the second factor. */
static void LOCAL(rank_k)(bool hermitian, int n, int k, dag_uplo uplo, bool transposed, int turn)
{
    dag_trans turned = hermitian && DAG_COMPLEX ? DAG_CONJ_TRANS : DAG_TRANS;
    dag_trans trans = transposed ? turned : DAG_NO_TRANS;
    dag_region region = dag_uplo_region(uplo);
    LOCAL(tile) a = LOCAL(random_tile)(transposed ? k : n, transposed ? n : k, 1);
    LOCAL(tile) c = LOCAL(random_tile)(n, n, 2);
    for (int i = 0; hermitian && i < n; i++)
        c.a[i + i * c.ld] = DAG_REAL(c.a[i + i * c.ld]);
    LOCAL(hide)(&c, region);
    elem_t alpha = LOCAL(scalar)(turn), beta = LOCAL(scalar)(turn / 3 + n);
    if (hermitian) {
        alpha = DAG_REAL(alpha);
        beta = DAG_REAL(beta);
    }
    ref_matrix ra = LOCAL(to_ref)(&a), c0 = LOCAL(to_ref)(&c);
    if (hermitian)
        FN(herk)(uplo, trans, n, k, DAG_REAL(alpha), a.a, a.ld, DAG_REAL(beta), c.a, c.ld);
    else
        FN(syrk)(uplo, trans, n, k, alpha, a.a, a.ld, beta, c.a, c.ld);
    ref_matrix flipped = ref_op(ra, turned);
    LOCAL(check_product)(&c, region, alpha, transposed ? flipped : ra,
                         transposed ? ra : flipped, beta, c0, hermitian ? "herk" : "syrk");
    for (int i = 0; hermitian && i < n; i++)
        if (DAG_IMAG(c.a[i + i * c.ld]) != 0)
            ck_abort_msg("herk: element (%d, %d) is not real", i, i);
    ref_free_all();
}

static void LOCAL(all_rank_k)(bool hermitian)
{
    int turn = 0;
    for (int in = 0; in < SIZE_COUNT; in++)
        for (int ik = 0; ik < SIZE_COUNT; ik++)
            for (int u = 0; u < 2 && (in < SMALL_COUNT || ik < SMALL_COUNT || in == ik); u++)
                for (int transposed = 0; transposed < 2; transposed++, turn++)
                    LOCAL(rank_k)(hermitian, sizes[in], sizes[ik], uplos[u], transposed, turn);
    for (int i = 0; i < SCALAR_COUNT; i++) /* deeper than a kernel may want to go at once */
        LOCAL(rank_k)(hermitian, 65, 290 + i, DAG_LOWER, false, 3 * i);
}

static void LOCAL(herk)(void)
{
    LOCAL(all_rank_k)(true);
}

static void LOCAL(syrk)(void)
{
    LOCAL(all_rank_k)(false);
}

/* her2k and syr2k for one shape. */
static void LOCAL(rank_2k)(bool hermitian, int n, int k, dag_uplo uplo, bool transposed, int turn)
{
    dag_trans turned = hermitian && DAG_COMPLEX ? DAG_CONJ_TRANS : DAG_TRANS;
    dag_trans trans = transposed ? turned : DAG_NO_TRANS;
    dag_region region = dag_uplo_region(uplo);
    LOCAL(tile) a = LOCAL(random_tile)(transposed ? k : n, transposed ? n : k, 1);
    LOCAL(tile) b = LOCAL(random_tile)(transposed ? k : n, transposed ? n : k, 2);
    LOCAL(tile) c = LOCAL(random_tile)(n, n, 3);
    for (int i = 0; hermitian && i < n; i++)
        c.a[i + i * c.ld] = DAG_REAL(c.a[i + i * c.ld]);
    LOCAL(hide)(&c, region);
    elem_t alpha = LOCAL(scalar)(turn), beta = LOCAL(scalar)(turn / 3 + n);
    if (hermitian)
        beta = DAG_REAL(beta);
    ref_matrix ra = LOCAL(to_ref)(&a), rb = LOCAL(to_ref)(&b), c0 = LOCAL(to_ref)(&c);
    if (hermitian)
        FN(her2k)(uplo, trans, n, k, alpha, a.a, a.ld, b.a, b.ld, DAG_REAL(beta), c.a, c.ld);
    else
        FN(syr2k)(uplo, trans, n, k, alpha, a.a, a.ld, b.a, b.ld, beta, c.a, c.ld);
    ref_matrix left[2] = {ra, rb}, right[2] = {ref_op(rb, turned), ref_op(ra, turned)};
    if (transposed) {
        left[0] = ref_op(ra, turned), left[1] = ref_op(rb, turned);
        right[0] = rb, right[1] = ra;
    }
    ref_matrix part = ref_add(ref_mul(hermitian ? CONJ(alpha) : alpha, left[1], right[1]), beta, c0);
    ref_matrix want = ref_add(ref_mul(alpha, left[0], right[0]), 1, part);
    ref_matrix bound = ref_add(ref_mul(DAG_ABS(alpha), ref_abs(left[0]), ref_abs(right[0])), 1,
                               ref_add(ref_mul(DAG_ABS(alpha), ref_abs(left[1]),
                                               ref_abs(right[1])), DAG_ABS(beta), ref_abs(c0)));
    LOCAL(check)(&c, region, want, bound, 2 * k, hermitian ? "her2k" : "syr2k");
    for (int i = 0; hermitian && i < n; i++)
        if (DAG_IMAG(c.a[i + i * c.ld]) != 0)
            ck_abort_msg("her2k: element (%d, %d) is not real", i, i);
    ref_free_all();
}

static void LOCAL(all_rank_2k)(bool hermitian)
{
    int turn = 0;
    for (int in = 0; in < SIZE_COUNT; in++)
        for (int ik = 0; ik < SIZE_COUNT; ik++)
            for (int u = 0; u < 2 && (in < SMALL_COUNT || ik < SMALL_COUNT); u++)
                for (int transposed = 0; transposed < 2; transposed++, turn++)
                    LOCAL(rank_2k)(hermitian, sizes[in], sizes[ik], uplos[u], transposed, turn);
}

static void LOCAL(her2k)(void)
{
    LOCAL(all_rank_2k)(true);
}

static void LOCAL(syr2k)(void)
{
    LOCAL(all_rank_2k)(false);
}

/*
 * One case of trmm or trsm. The triangle is made well conditioned by small elements off the
 * diagonal; what the operation must not read is NaN.
 */
typedef struct LOCAL(triangular) {
    dag_side side;
    dag_uplo uplo;
    dag_trans trans;
    dag_diag diag;
    elem_t alpha;
    LOCAL(tile) a, b;
    ref_matrix op_a; /* op(A), with its zeros */
} LOCAL(triangular);

static LOCAL(triangular) LOCAL(triangular_case)(int m, int n, int which, int turn)
{
    LOCAL(triangular) t = {
        .side = sides[which & 1], .uplo = uplos[which >> 1 & 1], .diag = diags[which >> 2 & 1],
        .trans = transes[which >> 3], .alpha = LOCAL(scalar)(turn),
    };
    int order = t.side == DAG_LEFT ? m : n;
    t.a = LOCAL(random_tile)(order, order, 1);
    for (int j = 0; j < order; j++)
        for (int i = 0; i < order; i++) {
            elem_t *x = &t.a.a[i + j * t.a.ld];
            *x = i == j ? *x + 2 : *x / order;
        }
    LOCAL(hide)(&t.a, t.diag == DAG_NON_UNIT ? dag_uplo_region(t.uplo)
                      : t.uplo == DAG_LOWER ? DAG_REGION_LOWER_STRICT : DAG_REGION_UPPER_STRICT);
    t.op_a = ref_op(ref_triangle(LOCAL(to_ref)(&t.a), t.uplo, t.diag), t.trans);
    t.b = LOCAL(random_tile)(m, n, 2);
    return t;
}

enum { LOCAL(TRIANGULAR_CASES) = 2 * 2 * 2 * 3 };

static void LOCAL(trmm)(void)
{
    int turn = 0;
    for (int im = 0; im < SIZE_COUNT; im++)
        for (int which = 0; which < LOCAL(TRIANGULAR_CASES); which++, turn++) {
            int m = sizes[im], n = sizes[(im * 7 + which) % SIZE_COUNT];
            LOCAL(triangular) t = LOCAL(triangular_case)(m, n, which, turn);
            ref_matrix b0 = LOCAL(to_ref)(&t.b);
            FN(trmm)(t.side, t.uplo, t.trans, t.diag, m, n, t.alpha, t.a.a, t.a.ld, t.b.a,
                     t.b.ld);
            bool left = t.side == DAG_LEFT;
            LOCAL(check_product)(&t.b, DAG_REGION_FULL, t.alpha, left ? t.op_a : b0,
                                 left ? b0 : t.op_a, 0, b0, "trmm");
            ref_free_all();
        }
}

/* Pre-condition: op(A) has small elements off the diagonal. Then op(A) X is near alpha B. */
static void LOCAL(trsm)(void)
{
    int turn = 0;
    for (int im = 0; im < SIZE_COUNT; im++)
        for (int which = 0; which < LOCAL(TRIANGULAR_CASES); which++, turn++) {
            int m = sizes[im], n = sizes[(im * 7 + which) % SIZE_COUNT];
            LOCAL(triangular) t = LOCAL(triangular_case)(m, n, which, turn);
            bool left = t.side == DAG_LEFT;
            ref_matrix b0 = LOCAL(to_ref)(&t.b), alpha_b = ref_add(ref_new(m, n), t.alpha, b0);
            FN(trsm)(t.side, t.uplo, t.trans, t.diag, m, n, t.alpha, t.a.a, t.a.ld, t.b.a,
                     t.b.ld);
            LOCAL(check_untouched)(&t.b, DAG_REGION_FULL, "trsm");
            ref_matrix x = LOCAL(to_ref)(&t.b), abs_x = ref_abs(x), abs_a = ref_abs(t.op_a);
            ref_matrix ax = ref_mul(1, left ? t.op_a : x, left ? x : t.op_a);
            ref_matrix bound = ref_add(ref_mul(1, left ? abs_a : abs_x, left ? abs_x : abs_a), 1,
                                       ref_abs(alpha_b));
            for (size_t k = 0; k < (size_t)m * (size_t)n; k++) {
                double error = __builtin_cabs(ax.v[k] - alpha_b.v[k]);
                if (!(error <= (4 * (left ? m : n) + 16) * (double)DAG_EPS *
                               __builtin_creal(bound.v[k])))
                    ck_abort_msg("trsm %d: %d by %d: element %zu misses by %g", which, m, n, k,
                                 error);
            }
            ref_free_all();
        }
}

/* alpha = 0 sets B to zero and reads neither matrix. */
static void LOCAL(trsm_zero)(void)
{
    for (int im = 0; im < SIZE_COUNT; im++)
        for (int side = 0; side < 2; side++) {
            int m = sizes[im], n = sizes[SIZE_COUNT - 1 - im];
            LOCAL(tile) a = LOCAL(random_tile)(side ? n : m, side ? n : m, 1);
            LOCAL(tile) b = LOCAL(random_tile)(m, n, 2);
            LOCAL(hide)(&a, DAG_REGION_NONE);
            LOCAL(hide)(&b, DAG_REGION_NONE);
            FN(trsm)(sides[side], DAG_LOWER, DAG_NO_TRANS, DAG_NON_UNIT, m, n, 0, a.a, a.ld, b.a,
                     b.ld);
            LOCAL(check)(&b, DAG_REGION_FULL, ref_new(m, n), ref_new(m, n), 0, "trsm by zero");
            ref_free_all();
        }
}

/* The product of the factors is near A, element by element of the triangle. */
static void LOCAL(potrf)(void)
{
    for (int in = 0; in < SIZE_COUNT; in++)
        for (int u = 0; u < 2; u++)
            for (int padding = 0; padding < 3; padding++) {
                int n = sizes[in];
                dag_region region = dag_uplo_region(uplos[u]);
                LOCAL(tile) a = LOCAL(random_tile)(n, n, 1);
                FN(plghe)((real_t)n, n, n, a.a, a.ld, n, 0, 0, 5);
                for (int i = 0; i < n; i++) /* must not matter */
                    a.a[i + i * a.ld] += DAG_ELEM(0, 0.25);
                LOCAL(hide)(&a, region);
                ref_matrix a0 = ref_hermitian(LOCAL(to_ref)(&a), uplos[u]);
                ck_assert_int_eq(FN(potrf)(uplos[u], n, a.a, a.ld), 0);
                LOCAL(check_untouched)(&a, region, "potrf");
                ref_matrix f = ref_triangle(LOCAL(to_ref)(&a), uplos[u], DAG_NON_UNIT);
                ref_matrix g = ref_op(f, DAG_CONJ_TRANS);
                bool lower = uplos[u] == DAG_LOWER;
                ref_matrix product = ref_mul(1, lower ? f : g, lower ? g : f);
                ref_matrix bound = ref_mul(1, ref_abs(lower ? f : g), ref_abs(lower ? g : f));
                for (size_t k = 0; k < (size_t)n * (size_t)n; k++) {
                    double error = __builtin_cabs(product.v[k] - a0.v[k]);
                    if (!(error <= (4 * n + 16) * (double)DAG_EPS *
                                   __builtin_creal(bound.v[k])))
                        ck_abort_msg("potrf: order %d: element %zu misses by %g", n, k, error);
                }
                ref_free_all();
            }
}

/* One element of the diagonal is spoilt: info says which, whatever the value. */
static void LOCAL(potrf_info)(void)
{
    static const double spoilt[] = {0, -1, NAN, -INFINITY};
    for (int in = 1; in < SIZE_COUNT; in++)
        for (int u = 0; u < 2; u++)
            for (int s = 0; s < 4; s++) {
                int n = sizes[in], step = n > 7 ? 31 : 1;
                for (int bad = 0; bad < n; bad = bad < n - 1 && bad + step >= n ? n - 1
                                                                               : bad + step) {
                    LOCAL(tile) a = LOCAL(random_tile)(n, n, 1);
                    FN(plghe)((real_t)n, n, n, a.a, a.ld, n, 0, 0, 6);
                    a.a[bad + bad * a.ld] = DAG_ELEM(spoilt[s], 0);
                    LOCAL(hide)(&a, dag_uplo_region(uplos[u]));
                    ck_assert_int_eq(FN(potrf)(uplos[u], n, a.a, a.ld), bad + 1);
                    LOCAL(check_untouched)(&a, dag_uplo_region(uplos[u]), "potrf");
                    ref_free_all();
                }
            }
}

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

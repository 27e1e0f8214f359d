/* Part of test_kernels.c: the tests of one precision, products, solves and factors here. */

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

static void LOCAL(small_product)(int m, int n, int turn, dag_trans ta, dag_trans tb)
{
    int k = 1 + turn % 7;
    bool na = ta == DAG_NO_TRANS, nb = tb == DAG_NO_TRANS;
    LOCAL(tile) a = LOCAL(random_tile)(na ? m : k, na ? k : m, 1);
    LOCAL(tile) b = LOCAL(random_tile)(nb ? k : n, nb ? n : k, 2), c = LOCAL(random_tile)(m, n, 3);
    elem_t alpha = LOCAL(scalar)(turn / 2), beta = turn / 3 % 2;
    if (beta == 0)
        LOCAL(hide)(&c, DAG_REGION_NONE);
    ref_matrix c0 = beta == 0 ? ref_new(m, n) : LOCAL(to_ref)(&c);
    FN(gemm)(ta, tb, m, n, k, alpha, a.a, a.ld, b.a, b.ld, beta, c.a, c.ld);
    LOCAL(check_product)(&c, DAG_REGION_FULL, alpha, ref_op(LOCAL(to_ref)(&a), ta), ref_op(LOCAL(to_ref)(&b), tb), beta, c0,
                         "small gemm");
    ref_free_all();
}

/* Each shape of a register block that small products are cut into, eight vectors of rows, of 64 bytes at most, and three
 * blocks of columns: as they lie, and with operands turned. */
static void LOCAL(gemm_small)(void)
{
    enum { ROWS = 8 * 64 / (int)sizeof(elem_t) + 2 };
    int turn = 0;
    for (int m = 1; m <= ROWS; m++)
        for (int n = 1; n <= 26; n++, turn++) {
            LOCAL(small_product)(m, n, turn, DAG_NO_TRANS, DAG_NO_TRANS);
            LOCAL(small_product)(m, n, turn, transes[turn % 3], transes[turn / 5 % 3]);
        }
}

/* Products with one vector or two, which read columns in groups and by whole vectors, and what is left of both. */
static void LOCAL(gemm_vector)(void)
{
    int turn = 0;
    for (int m = 1; m <= 70; m += m < 36 ? 1 : 11)
        for (int k = 1; k <= 70; k += k < 20 ? 1 : 13, turn++) {
            dag_trans op = transes[turn % 3];
            int n = 1 + turn / 3 % 5 / 4;
            LOCAL(tile) a = LOCAL(random_tile)(op == DAG_NO_TRANS ? m : k, op == DAG_NO_TRANS ? k : m, 1);
            LOCAL(tile) b = LOCAL(random_tile)(k, n, 2), c = LOCAL(random_tile)(m, n, 3);
            elem_t alpha = LOCAL(scalar)(turn / 2), beta = LOCAL(scalar)(turn / 7);
            if (beta == 0)
                LOCAL(hide)(&c, DAG_REGION_NONE);
            ref_matrix c0 = beta == 0 ? ref_new(m, n) : LOCAL(to_ref)(&c);
            FN(gemm)(op, DAG_NO_TRANS, m, n, k, alpha, a.a, a.ld, b.a, b.ld, beta, c.a, c.ld);
            LOCAL(check_product)(&c, DAG_REGION_FULL, alpha, ref_op(LOCAL(to_ref)(&a), op), LOCAL(to_ref)(&b), beta, c0,
                                 "gemm with a vector");
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
static void LOCAL(trsm_case)(int m, int n, int which, int turn)
{
    LOCAL(triangular) t = LOCAL(triangular_case)(m, n, which, turn);
    bool left = t.side == DAG_LEFT;
    ref_matrix b0 = LOCAL(to_ref)(&t.b), alpha_b = ref_add(ref_new(m, n), t.alpha, b0);
    FN(trsm)(t.side, t.uplo, t.trans, t.diag, m, n, t.alpha, t.a.a, t.a.ld, t.b.a, t.b.ld);
    LOCAL(check_untouched)(&t.b, DAG_REGION_FULL, "trsm");
    ref_matrix x = LOCAL(to_ref)(&t.b), abs_x = ref_abs(x), abs_a = ref_abs(t.op_a);
    ref_matrix ax = ref_mul(1, left ? t.op_a : x, left ? x : t.op_a);
    ref_matrix bound = ref_add(ref_mul(1, left ? abs_a : abs_x, left ? abs_x : abs_a), 1,
                               ref_abs(alpha_b));
    for (size_t k = 0; k < (size_t)m * (size_t)n; k++) {
        double error = __builtin_cabs(ax.v[k] - alpha_b.v[k]);
        if (!(error <= (4 * (left ? m : n) + 16) * (double)DAG_EPS * __builtin_creal(bound.v[k])))
            ck_abort_msg("trsm %d: %d by %d: element %zu misses by %g", which, m, n, k, error);
    }
    ref_free_all();
}

static void LOCAL(trsm)(void)
{
    int turn = 0;
    for (int im = 0; im < SIZE_COUNT; im++)
        for (int which = 0; which < LOCAL(TRIANGULAR_CASES); which++, turn++) {
            LOCAL(trsm_case)(sizes[im], sizes[(im * 7 + which) % SIZE_COUNT], which, turn);
            LOCAL(trsm_case)(sizes[im], 1 + turn % 2, which, turn + which / 2); /* few columns go another way */
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

/* A row's elements divided by its diagonal one overflow, its solution does not; and an infinity stays one. */
static void LOCAL(trsm_extreme)(void)
{
    enum { N = 5, LAST = N - 2 };
    double huge = sizeof(real_t) == sizeof(float) ? 1e20 : 1e170, little = sizeof(real_t) == sizeof(float) ? 1e-30 : 1e-180;
    elem_t L[N * N] = {0}, x[N] = {(real_t)little};
    for (int i = 0; i < N; i++)
        L[i + i * N] = 1;
    L[LAST] = (real_t)huge;
    L[LAST + LAST * N] = (real_t)(1e-5 / huge);
    x[LAST] = (real_t)(2 * little * huge);
    FN(trsm)(DAG_LEFT, DAG_LOWER, DAG_NO_TRANS, DAG_NON_UNIT, N, 1, 1, L, N, x, N);
    double want = little * huge / (1e-5 / huge), error = fabs((double)DAG_REAL(x[LAST]) / want - 1);
    ck_assert_msg(error < 100 * DAG_EPS, "%g, not %g", (double)DAG_REAL(x[LAST]), want);
    elem_t y[N] = {(real_t)INFINITY};
    FN(trsm)(DAG_LEFT, DAG_LOWER, DAG_NO_TRANS, DAG_UNIT, N, 1, 1, L, N, y, N);
    ck_assert(isinf(DAG_REAL(y[0])));
}

/* Fails unless |product - want| <= terms * DAG_EPS * bound in all elements of order n. */
static void LOCAL(check_near)(int n, ref_matrix product, ref_matrix want, ref_matrix bound, const char *what)
{
    for (size_t k = 0; k < (size_t)n * (size_t)n; k++) {
        double error = __builtin_cabs(product.v[k] - want.v[k]);
        if (!(error <= (4 * n + 16) * (double)DAG_EPS * __builtin_creal(bound.v[k])))
            ck_abort_msg("%s: order %d: element %zu misses by %g", what, n, k, error);
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
                LOCAL(check_near)(n, product, a0, bound, "potrf");
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

#include "test_kernels_inverse.inc.c"
#include "test_kernels_aux.inc.c"

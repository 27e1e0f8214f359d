/* Part of test_device_kernels.c: one precision. A pair holds the same matrix on the host, for the
 * kernel for cores, and on the device. */
typedef struct LOCAL(pair) {
    int m, n, ld;
    elem_t *host, *back;
    void *at;
} LOCAL(pair);

static size_t LOCAL(bytes)(const LOCAL(pair) *p)
{
    return sizeof(elem_t) * (size_t)p->ld * (size_t)(p->n > 0 ? p->n : 1);
}

/* Copies all, padding included. */
static dagi_copy_job LOCAL(job)(const LOCAL(pair) *p, void *to, const void *from)
{
    return (dagi_copy_job){.to = to, .from = from, .to_ld = p->ld, .from_ld = p->ld, .m = p->ld,
                           .n = p->n > 0 ? p->n : 1, .elem = sizeof(elem_t)};
}

static void LOCAL(send)(LOCAL(pair) *p)
{
    dagi_copy_job job = LOCAL(job)(p, p->at, p->host);
    ck_assert_int_eq(backend->copy_in(queue, &job), DAGI_OK);
    finish("copy in"); /* the host's copy changes next */
}

static LOCAL(pair) LOCAL(pair_new)(int m, int n, uint64_t seed)
{
    LOCAL(pair) p = {.m = m, .n = n, .ld = m + (int)(seed % 3) + 1};
    p.host = malloc(LOCAL(bytes)(&p));
    p.back = malloc(LOCAL(bytes)(&p));
    FN(plrnt)(m == n ? 4 : 0, p.ld, n > 0 ? n : 1, p.host, p.ld, p.ld, 0, 0, seed);
    ck_assert_int_eq(backend->alloc(device, LOCAL(bytes)(&p), &p.at), DAGI_OK);
    LOCAL(send)(&p);
    return p;
}

static void LOCAL(pair_free)(LOCAL(pair) *p)
{
    backend->free(device, p->at);
    free(p->host);
    free(p->back);
}

/* The device's result is that of the host, and what lies around it is untouched, since the host's
 * kernels leave it alone. */
static void LOCAL(compare)(LOCAL(pair) *p, double terms, const char *what)
{
    dagi_copy_job job = LOCAL(job)(p, p->back, p->at);
    ck_assert_int_eq(backend->copy_out(queue, &job), DAGI_OK);
    finish(what);
    for (int j = 0; j < p->n; j++)
        for (int i = 0; i < p->ld; i++) {
            elem_t got = p->back[i + j * p->ld], want = p->host[i + j * p->ld];
            if (!(DAG_ABS(got - want) <= 20 * DAG_EPS * (terms + 1) * (1 + DAG_ABS(want))))
                ck_abort_msg("%s: %d by %d: element (%d, %d) is %g + %g i on the device, %g + %g i "
                             "on the host", what, p->m, p->n, i, j, (double)DAG_REAL(got),
                             (double)DAG_IMAG(got), (double)DAG_REAL(want), (double)DAG_IMAG(want));
        }
}

/* Used in turn. */
static const elem_t *LOCAL(scalars)(void)
{
    static elem_t values[4];
    values[0] = 1;
    values[1] = 0;
    values[2] = DAG_ELEM(0.75, -0.5);
    values[3] = -1;
    return values;
}

/* Trans arguments that a kernel takes: without `conj` and with it, both where numbers are real. */
static int LOCAL(takes)(dag_trans trans, int conj)
{
    return !DAG_COMPLEX || trans == DAG_NO_TRANS || (trans == DAG_CONJ_TRANS) == conj;
}

static void LOCAL(gemm)(void)
{
    for (int s = 0; s < COUNT(shapes); s++)
        for (int c = 0; c < 9; c++) {
            int m = shapes[s][0], n = shapes[s][1], k = shapes[s][2];
            dag_trans ta = transes[c % 3], tb = transes[c / 3];
            elem_t alpha = LOCAL(scalars)()[c % 4], beta = LOCAL(scalars)()[(c / 2 + s) % 4];
            int plain_a = ta == DAG_NO_TRANS, plain_b = tb == DAG_NO_TRANS;
            LOCAL(pair) A = LOCAL(pair_new)(plain_a ? m : k, plain_a ? k : m, 1);
            LOCAL(pair) B = LOCAL(pair_new)(plain_b ? k : n, plain_b ? n : k, 3);
            LOCAL(pair) C = LOCAL(pair_new)(m, n, 5);
            FN(gemm)(ta, tb, m, n, k, alpha, A.host, A.ld, B.host, B.ld, beta, C.host, C.ld);
            FN(dev_gemm)(queue, ta, tb, m, n, k, alpha, A.at, A.ld, B.at, B.ld, beta, C.at, C.ld);
            LOCAL(compare)(&C, k, "gemm");
            LOCAL(pair_free)(&A);
            LOCAL(pair_free)(&B);
            LOCAL(pair_free)(&C);
        }
}

/* More than a back end takes at a time, with one left operand for all. */
static void LOCAL(batches)(void)
{
    enum { CALLS = 67, M = 5, N = 3 };
    const elem_t alpha = DAG_ELEM(1.5, -.5), beta = DAG_ELEM(-.5, .25);
    LOCAL(pair) A = LOCAL(pair_new)(M, M, 1), B[CALLS], C[CALLS];
    const elem_t *as[CALLS], *bs[CALLS];
    elem_t *cs[CALLS];
    for (int i = 0; i < CALLS; i++) {
        B[i] = LOCAL(pair_new)(N, M, (uint64_t)(3 + 3 * i)); /* of one leading dimension */
        C[i] = LOCAL(pair_new)(M, N, (uint64_t)(4 + 3 * i));
        as[i] = A.at;
        bs[i] = B[i].at;
        cs[i] = C[i].at;
    }
    for (int i = 0; i < CALLS; i++) {
        FN(gemm)(DAG_CONJ_TRANS, DAG_TRANS, M, N, M, alpha, A.host, A.ld, B[i].host, B[i].ld, beta, C[i].host,
                 C[i].ld);
        FN(trsm)(DAG_LEFT, DAG_UPPER, DAG_CONJ_TRANS, DAG_NON_UNIT, M, N, alpha, A.host, A.ld, C[i].host,
                 C[i].ld);
    }
    FN(dev_gemm_batch)(queue, DAG_CONJ_TRANS, DAG_TRANS, M, N, M, alpha, as, A.ld, bs, B[0].ld, beta, cs, C[0].ld,
                        CALLS);
    FN(dev_trsm_batch)(queue, DAG_LEFT, DAG_UPPER, DAG_CONJ_TRANS, DAG_NON_UNIT, M, N, alpha, as, A.ld, cs,
                        C[0].ld, CALLS);
    FN(dev_gemm_batch)(queue, DAG_NO_TRANS, DAG_NO_TRANS, M, N, M, alpha, as, A.ld, bs, B[0].ld, beta, cs, C[0].ld, 0);
    for (int i = 0; i < CALLS; i++) {
        LOCAL(compare)(&C[i], 2 * M, "a batch");
        LOCAL(pair_free)(&B[i]);
        LOCAL(pair_free)(&C[i]);
    }
    LOCAL(pair_free)(&A);
}

/* The stored triangle of C, which has to have a real diagonal for the Hermitian kernels. */
static LOCAL(pair) LOCAL(hermitian_new)(int n, uint64_t seed)
{
    LOCAL(pair) C = LOCAL(pair_new)(n, n, seed);
    for (int i = 0; i < n; i++)
        C.host[i + i * C.ld] = DAG_REAL(C.host[i + i * C.ld]);
    LOCAL(send)(&C);
    return C;
}

static void LOCAL(rank_k)(void)
{
    for (int s = 0; s < COUNT(shapes); s++)
        for (int c = 0; c < 12; c++) {
            int n = shapes[s][0], k = shapes[s][2], conj = c / 6;
            dag_uplo uplo = uplos[c % 2];
            dag_trans trans = transes[c / 2 % 3];
            elem_t alpha = LOCAL(scalars)()[c % 4], beta = LOCAL(scalars)()[(c / 2 + s) % 4];
            if (!LOCAL(takes)(trans, conj))
                continue;
            int plain = trans == DAG_NO_TRANS;
            LOCAL(pair) A = plain ? LOCAL(pair_new)(n, k, 6) : LOCAL(pair_new)(k, n, 7);
            LOCAL(pair) C = LOCAL(hermitian_new)(n, 8);
            if (conj) {
                FN(herk)(uplo, trans, n, k, DAG_REAL(alpha), A.host, A.ld, DAG_REAL(beta), C.host,
                         C.ld);
                FN(dev_herk)(queue, uplo, trans, n, k, DAG_REAL(alpha), A.at, A.ld, DAG_REAL(beta),
                              C.at, C.ld);
            } else {
                FN(syrk)(uplo, trans, n, k, alpha, A.host, A.ld, beta, C.host, C.ld);
                FN(dev_syrk)(queue, uplo, trans, n, k, alpha, A.at, A.ld, beta, C.at, C.ld);
            }
            LOCAL(compare)(&C, k, conj ? "herk" : "syrk");
            LOCAL(pair_free)(&A);
            LOCAL(pair_free)(&C);
        }
}

static void LOCAL(rank_2k)(void)
{
    for (int s = 0; s < COUNT(shapes); s++)
        for (int c = 0; c < 12; c++) {
            int n = shapes[s][0], k = shapes[s][2], conj = c / 6;
            dag_uplo uplo = uplos[c % 2];
            dag_trans trans = transes[c / 2 % 3];
            elem_t alpha = LOCAL(scalars)()[c % 4], beta = LOCAL(scalars)()[(c / 2 + s) % 4];
            if (!LOCAL(takes)(trans, conj))
                continue;
            int plain = trans == DAG_NO_TRANS;
            LOCAL(pair) A = plain ? LOCAL(pair_new)(n, k, 9) : LOCAL(pair_new)(k, n, 10);
            LOCAL(pair) B = plain ? LOCAL(pair_new)(n, k, 11) : LOCAL(pair_new)(k, n, 12);
            LOCAL(pair) C = LOCAL(hermitian_new)(n, 13);
            if (conj) {
                FN(her2k)(uplo, trans, n, k, alpha, A.host, A.ld, B.host, B.ld, DAG_REAL(beta),
                          C.host, C.ld);
                FN(dev_her2k)(queue, uplo, trans, n, k, alpha, A.at, A.ld, B.at, B.ld,
                               DAG_REAL(beta), C.at, C.ld);
            } else {
                FN(syr2k)(uplo, trans, n, k, alpha, A.host, A.ld, B.host, B.ld, beta, C.host, C.ld);
                FN(dev_syr2k)(queue, uplo, trans, n, k, alpha, A.at, A.ld, B.at, B.ld, beta, C.at,
                               C.ld);
            }
            LOCAL(compare)(&C, 2 * k, conj ? "her2k" : "syr2k");
            LOCAL(pair_free)(&A);
            LOCAL(pair_free)(&B);
            LOCAL(pair_free)(&C);
        }
}

static void LOCAL(symmetric)(void)
{
    for (int s = 0; s < COUNT(shapes); s++)
        for (int c = 0; c < 8; c++) {
            int m = shapes[s][0], n = shapes[s][1], conj = c / 4;
            dag_uplo uplo = uplos[c % 2];
            dag_side side = sides[c / 2 % 2];
            elem_t alpha = LOCAL(scalars)()[(c + 2) % 4], beta = LOCAL(scalars)()[(c + s) % 4];
            LOCAL(pair) A = LOCAL(hermitian_new)(side == DAG_LEFT ? m : n, 14);
            LOCAL(pair) B = LOCAL(pair_new)(m, n, 15), C = LOCAL(pair_new)(m, n, 16);
            if (conj) {
                FN(hemm)(side, uplo, m, n, alpha, A.host, A.ld, B.host, B.ld, beta, C.host, C.ld);
                FN(dev_hemm)(queue, side, uplo, m, n, alpha, A.at, A.ld, B.at, B.ld, beta, C.at,
                              C.ld);
            } else {
                FN(symm)(side, uplo, m, n, alpha, A.host, A.ld, B.host, B.ld, beta, C.host, C.ld);
                FN(dev_symm)(queue, side, uplo, m, n, alpha, A.at, A.ld, B.at, B.ld, beta, C.at,
                              C.ld);
            }
            LOCAL(compare)(&C, m + n, conj ? "hemm" : "symm");
            LOCAL(pair_free)(&A);
            LOCAL(pair_free)(&B);
            LOCAL(pair_free)(&C);
        }
}

static void LOCAL(triangular)(void)
{
    for (int s = 0; s < COUNT(shapes); s++)
        for (int c = 0; c < 48; c++) {
            int m = shapes[s][0], n = shapes[s][1], solve = c % 2;
            dag_uplo uplo = uplos[c / 2 % 2];
            dag_side side = sides[c / 4 % 2];
            dag_diag diag = diags[c / 8 % 2];
            dag_trans trans = transes[c / 16];
            elem_t alpha = LOCAL(scalars)()[(c / 2 + s) % 4];
            LOCAL(pair) A = LOCAL(pair_new)(side == DAG_LEFT ? m : n, side == DAG_LEFT ? m : n, 17);
            LOCAL(pair) B = LOCAL(pair_new)(m, n, 18);
            for (int i = 0; i < A.ld * A.n; i++) /* unit triangles must be well conditioned, too */
                A.host[i] = i % (A.ld + 1) ? A.host[i] / (m + n) : A.host[i];
            LOCAL(send)(&A);
            if (solve) {
                FN(trsm)(side, uplo, trans, diag, m, n, alpha, A.host, A.ld, B.host, B.ld);
                FN(dev_trsm)(queue, side, uplo, trans, diag, m, n, alpha, A.at, A.ld, B.at, B.ld);
            } else {
                FN(trmm)(side, uplo, trans, diag, m, n, alpha, A.host, A.ld, B.host, B.ld);
                FN(dev_trmm)(queue, side, uplo, trans, diag, m, n, alpha, A.at, A.ld, B.at, B.ld);
            }
            LOCAL(compare)(&B, m + n, solve ? "trsm" : "trmm");
            LOCAL(pair_free)(&A);
            LOCAL(pair_free)(&B);
        }
}

/* Item (i, j) of A, of which one triangle is there. */
static elem_t LOCAL(of_triangle)(const LOCAL(pair) *A, dag_uplo uplo, dag_diag diag, int i, int j)
{
    if (i == j && diag == DAG_UNIT)
        return 1;
    return i == j || (i > j) == (uplo == DAG_LOWER) ? A->host[i + j * A->ld] : 0;
}

/* A B - I or B A - I, element by element; no more than the inverse is there. */
static void LOCAL(judge_inverse)(const LOCAL(pair) *A, const LOCAL(pair) *B, dag_side side, dag_uplo uplo,
                                 dag_diag diag)
{
    const int n = A->n;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            elem_t rest = i == j ? -1 : 0;
            real_t size = i == j;
            for (int k = 0; k < n; k++) {
                elem_t a = side == DAG_LEFT ? LOCAL(of_triangle)(A, uplo, diag, i, k)
                                            : LOCAL(of_triangle)(A, uplo, diag, k, j);
                elem_t b = side == DAG_LEFT ? B->back[k + j * B->ld] : B->back[i + k * B->ld];
                rest += a * b;
                size += DAG_ABS(a) * DAG_ABS(b);
            }
            if (!(DAG_ABS(rest) <= 4 * DAG_EPS * (real_t)(n + 8) * size) ||
                (i != j && (i > j) != (uplo == DAG_LOWER) && B->back[i + j * B->ld] != 0))
                ck_abort_msg("trtri: side %d, uplo %d, diag %d, order %d: (%d, %d) is wrong by %g of %g", (int)side,
                             (int)uplo, (int)diag, n, i, j, (double)DAG_ABS(rest), (double)size);
        }
}

/* Of badly conditioned triangles, too; what is not to be read is NaN. */
static void LOCAL(inverse)(void)
{
    static const int orders[] = {0, 1, 5, 64, 65, 130};
    for (int c = 0; c < 8 * COUNT(orders); c++) {
        int n = orders[c / 8];
        dag_uplo uplo = uplos[c % 2];
        dag_side side = sides[c / 2 % 2];
        dag_diag diag = diags[c / 4 % 2];
        LOCAL(pair) A = LOCAL(pair_new)(n, n, 17), B = LOCAL(pair_new)(n, n, 18);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) {
                elem_t *a = &A.host[i + j * A.ld];
                if (i == j ? diag == DAG_UNIT : (i > j) != (uplo == DAG_LOWER))
                    *a = NAN;
                else
                    *a = i == j ? 1 + *a / 8 : *a / 4;
            }
        LOCAL(send)(&A);
        FN(dev_trtri)(queue, side, uplo, diag, n, A.at, A.ld, B.at, B.ld);
        dagi_copy_job job = LOCAL(job)(&B, B.back, B.at);
        ck_assert_int_eq(backend->copy_out(queue, &job), DAGI_OK);
        finish("trtri");
        LOCAL(judge_inverse)(&A, &B, side, uplo, diag);
        for (int i = n * B.ld - 1; i >= 0; i -= B.ld) /* around it */
            ck_assert(B.back[i] == B.host[i]);
        LOCAL(pair_free)(&A);
        LOCAL(pair_free)(&B);
    }
}

static void LOCAL(potrf)(void)
{
    static const int orders[] = {0, 1, 2, 5, 33, 65};
    static const real_t pivots[] = {1, -1, NAN};
    for (int c = 0; c < 6 * COUNT(orders); c++) {
        int n = orders[c / 6], bad = c / 2 % 3 && n > 0;
        dag_uplo uplo = uplos[c % 2];
        LOCAL(pair) A = LOCAL(pair_new)(n, n, 19), info = LOCAL(pair_new)(1, 1, 20);
        FN(plghe)(n + 1, n, n, A.host, A.ld, n, 0, 0, 21);
        if (bad)
            A.host[n / 2 + n / 2 * A.ld] = pivots[c / 2 % 3];
        LOCAL(send)(&A);
        memset(info.host, 0, sizeof(elem_t));
        LOCAL(send)(&info);
        size_t bytes = FN(dev_potrf_workspace)(uplo, n);
        void *work = NULL;
        ck_assert(bytes != SIZE_MAX && bytes == FN(dev_potrf_workspace)(uplo, n));
        ck_assert_int_eq(backend->alloc(device, bytes + 256, &work), DAGI_OK);
        int want = FN(potrf)(uplo, n, A.host, A.ld), got = -1;
        FN(dev_potrf)(queue, uplo, n, A.at, A.ld, work, info.at);
        dagi_copy_job job = {.to = &got, .from = info.at, .to_ld = 1, .from_ld = 1, .m = 1, .n = 1,
                             .elem = sizeof got};
        ck_assert_int_eq(backend->copy_out(queue, &job), DAGI_OK);
        finish("potrf");
        ck_assert_int_eq(got, want);
        ck_assert_int_eq(got, bad ? n / 2 + 1 : 0);
        if (!bad) /* what is left behind a failure is nobody's business */
            LOCAL(compare)(&A, n, "potrf");
        backend->free(device, work);
        LOCAL(pair_free)(&A);
        LOCAL(pair_free)(&info);
    }
}

/* A matrix that is not read is full of NaN. */
static void LOCAL(geadd)(void)
{
    for (int s = 0; s < COUNT(shapes); s++)
        for (int c = 0; c < 48; c++) {
            dag_trans trans = transes[c / 16];
            int m = shapes[s][0], n = shapes[s][1], plain = trans == DAG_NO_TRANS;
            elem_t alpha = LOCAL(scalars)()[c % 4], beta = LOCAL(scalars)()[c / 4 % 4];
            LOCAL(pair) A = LOCAL(pair_new)(plain ? m : n, plain ? n : m, 28);
            LOCAL(pair) B = LOCAL(pair_new)(m, n, 29);
            if (alpha == 0)
                FN(laset)(DAG_REGION_FULL, A.m, A.n, NAN, NAN, A.host, A.ld);
            if (beta == 0)
                FN(laset)(DAG_REGION_FULL, m, n, NAN, NAN, B.host, B.ld);
            LOCAL(send)(&A);
            LOCAL(send)(&B);
            FN(geadd)(DAG_REGION_FULL, trans, m, n, alpha, A.host, A.ld, beta, B.host, B.ld);
            FN(dev_geadd)(queue, trans, m, n, alpha, A.at, A.ld, beta, B.at, B.ld);
            LOCAL(compare)(&B, 1, "geadd");
            FN(geadd)(DAG_REGION_FULL, DAG_NO_TRANS, m, n, alpha, B.host, B.ld, beta, B.host,
                      B.ld);
            FN(dev_geadd)(queue, DAG_NO_TRANS, m, n, alpha, B.at, B.ld, beta, B.at, B.ld);
            LOCAL(compare)(&B, 1, "geadd of a matrix and itself");
            LOCAL(pair_free)(&A);
            LOCAL(pair_free)(&B);
        }
}

/* op(Q) of what geqrt and tpqrt make. What belongs to R or to nobody is NaN on the device. */
static void LOCAL(qr_case)(dag_trans trans, int m, int n, int k)
{
    LOCAL(pair) V = LOCAL(pair_new)(m, k, 22), R = LOCAL(pair_new)(k, k, 23);
    LOCAL(pair) T = LOCAL(pair_new)(k, k, 24), W = LOCAL(pair_new)(k, n, 25);
    LOCAL(pair) A = LOCAL(pair_new)(k, n, 26), B = LOCAL(pair_new)(m, n, 27);
    FN(geqrt)(m, k, V.host, V.ld, T.host, T.ld);
    FN(gemqrt)(trans, m, n, k, V.host, V.ld, T.host, T.ld, B.host, B.ld, W.host, W.ld);
    FN(laset)(DAG_REGION_UPPER, m, k, NAN, NAN, V.host, V.ld);
    FN(laset)(DAG_REGION_LOWER_STRICT, k, k, NAN, NAN, T.host, T.ld);
    FN(laset)(DAG_REGION_FULL, k, n, NAN, NAN, W.host, W.ld);
    LOCAL(send)(&V);
    LOCAL(send)(&T);
    LOCAL(send)(&W);
    FN(dev_gemqrt)(queue, trans, m, n, k, V.at, V.ld, T.at, T.ld, B.at, B.ld, W.at, W.ld);
    LOCAL(compare)(&B, m, "gemqrt");
    FN(plrnt)(0, m, k, V.host, V.ld, m, 0, 0, 30);
    FN(laset)(DAG_REGION_LOWER_STRICT, k, k, 0, 0, V.host + m - k, V.ld);
    FN(tpqrt)(m, k, R.host, R.ld, V.host, V.ld, T.host, T.ld);
    FN(tpmqrt)(trans, m, n, k, V.host, V.ld, T.host, T.ld, A.host, A.ld, B.host, B.ld, W.host,
               W.ld);
    FN(laset)(DAG_REGION_LOWER_STRICT, k, k, NAN, NAN, V.host + m - k, V.ld);
    FN(laset)(DAG_REGION_LOWER_STRICT, k, k, NAN, NAN, T.host, T.ld);
    FN(laset)(DAG_REGION_FULL, k, n, NAN, NAN, W.host, W.ld);
    LOCAL(send)(&V);
    LOCAL(send)(&T);
    LOCAL(send)(&W);
    FN(dev_tpmqrt)(queue, trans, m, n, k, V.at, V.ld, T.at, T.ld, A.at, A.ld, B.at, B.ld, W.at,
                    W.ld);
    LOCAL(compare)(&A, m, "tpmqrt, top");
    LOCAL(compare)(&B, m, "tpmqrt, below");
    LOCAL(pair) *all[] = {&V, &R, &T, &W, &A, &B};
    for (int i = 0; i < COUNT(all); i++)
        LOCAL(pair_free)(all[i]);
}

static void LOCAL(qr)(void)
{
    static const int cases[][3] = {{4, 3, 4}, {7, 5, 3},  {20, 9, 11}, {33, 1, 33},
                                   {6, 0, 2}, {5, 4, 0}, {90, 70, 64}, {1, 1, 1}}; /* m, n, k */
    for (int c = 0; c < 2 * COUNT(cases); c++)
        LOCAL(qr_case)(c % 2 ? DAG_CONJ_TRANS : DAG_NO_TRANS, cases[c / 2][0], cases[c / 2][1],
                       cases[c / 2][2]);
}

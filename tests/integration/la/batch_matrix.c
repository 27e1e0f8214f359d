/*
 * Batches: every routine, in four precisions, one size and mixed, matrices one behind another and at
 * addresses of their own, against LAPACK's definition by backward errors; members that are singular or hard,
 * empty batches and matrices, arguments that are refused. What must not be written is compared.
 *
 *     batch_matrix [level] [few]     instruction sets up to a level only, see batch/lanes.h; fewer cases
 */
#include "matrices.h"

#include "batch/lanes.h"

#include <float.h>
#include <stdarg.h>
#include <string.h>

enum { MOST = 40, PAD = 3 };

static int failures, few;
static dag_context *ctx;
static uint64_t state = 1;

static double noise(void)
{
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (double)(state >> 11) / 9007199254740992.0 - 0.5;
}

static void expect(int good, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void expect(int good, const char *format, ...)
{
    va_list args;
    if (good || ++failures > 20)
        return;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
}

static dag_dcomplex random_of(dag_precision prec)
{
    double re = noise(), im = dag_precision_is_complex(prec) ? noise() : 0;
    return __builtin_complex(re, im);
}

/* ---- batches ------------------------------------------------------------------------------ */

/* A batch, and what it held before. */
typedef struct many {
    dag_batch b;
    dag_batch_shape shape[MOST];
    void *at[MOST];
    char *now, *before;
    size_t bytes;
} many;

static int64_t size_of(const dag_batch_shape *s)
{
    return s->ld * s->n;
}

/* `mixed`: each has its own size, and address. */
static void make(many *x, dag_precision prec, int64_t count, int mixed, const dag_batch_shape *shape)
{
    int64_t items = 0;
    *x = (many){.b = {.prec = prec, .count = count}};
    for (int64_t i = 0; i < count; i++) {
        x->shape[i] = mixed ? shape[i] : shape[0];
        x->shape[i].ld = x->shape[i].m + PAD;
        items += size_of(&x->shape[i]);
    }
    x->bytes = (size_t)items * dag_precision_size(prec);
    x->now = allocate(x->bytes);
    x->before = allocate(x->bytes);
    for (int64_t i = 0; i < items; i++)
        put(prec, x->now, (size_t)i, random_of(prec));
    items = 0;
    for (int64_t i = 0; i < count; i++) {
        x->at[i] = x->now + (size_t)items * dag_precision_size(prec);
        items += size_of(&x->shape[i]);
    }
    if (mixed) {
        x->b.each = x->shape;
        x->b.at = x->at;
    } else {
        x->b.all = shape[0];
        x->b.all.ld = shape[0].m + PAD;
        x->b.first = x->now;
    }
}

static void keep(many *x)
{
    memcpy(x->before, x->now, x->bytes);
}

static void drop(many *x)
{
    free(x->now);
    free(x->before);
}

static dag_dcomplex element(const many *x, int before, int64_t which, int64_t i, int64_t j)
{
    const char *at = (const char *)x->at[which];
    at = before ? x->before + (at - x->now) : at;
    return get(x->b.prec, at, (size_t)(i + j * x->shape[which].ld));
}

static void set(many *x, int64_t which, int64_t i, int64_t j, dag_dcomplex value)
{
    put(x->b.prec, x->at[which], (size_t)(i + j * x->shape[which].ld), value);
}

/* Everything outside of the matrices is as it was, and so is matrix `entire` (-1: none). */
static int untouched(const many *x, int64_t entire)
{
    for (int64_t w = 0; w < x->b.count; w++)
        for (int64_t j = 0; j < x->shape[w].n; j++)
            for (int64_t i = w == entire ? 0 : x->shape[w].m; i < x->shape[w].ld; i++)
                if (element(x, 0, w, i, j) != element(x, 1, w, i, j))
                    return 0;
    return 1;
}

static double eps_of(dag_precision prec)
{
    return prec == DAG_S || prec == DAG_C ? FLT_EPSILON : DBL_EPSILON;
}

/* ---- a matrix in double precision --------------------------------------------------------- */

typedef struct plain {
    int64_t m, n;
    dag_dcomplex *a;
} plain;

static plain plain_new(int64_t m, int64_t n)
{
    return (plain){m, n, allocate((size_t)(m * n) * sizeof(dag_dcomplex))};
}

static dag_dcomplex *spot(plain p, int64_t i, int64_t j)
{
    return &p.a[i + j * p.m];
}

static dag_dcomplex times(dag_dcomplex a, dag_dcomplex b)
{
    double x = __builtin_creal(a), y = __builtin_cimag(a), u = __builtin_creal(b), v = __builtin_cimag(b);
    return __builtin_complex(x * u - y * v, x * v + y * u);
}

static plain take(const many *x, int before, int64_t which, dag_trans trans)
{
    int64_t m = x->shape[which].m, n = x->shape[which].n;
    plain p = trans == DAG_NO_TRANS ? plain_new(m, n) : plain_new(n, m);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            dag_dcomplex e = element(x, before, which, i, j);
            *(trans == DAG_NO_TRANS ? spot(p, i, j) : spot(p, j, i)) =
                trans == DAG_CONJ_TRANS ? __builtin_conj(e) : e;
        }
    return p;
}

/* Of a square one that is symmetric or Hermitian, or triangular with this diagonal: from one triangle. */
enum kind { SYMMETRIC, TRIANGLE, UNIT_TRIANGLE };

static void complete(plain p, dag_uplo uplo, enum kind kind)
{
    for (int64_t j = 0; j < p.n; j++)
        for (int64_t i = 0; i < p.m; i++) {
            int stored = uplo == DAG_LOWER ? i >= j : i <= j;
            if (i == j && kind == SYMMETRIC)
                *spot(p, i, j) = __builtin_creal(*spot(p, i, j));
            else if (i == j && kind == UNIT_TRIANGLE)
                *spot(p, i, j) = 1;
            else if (!stored)
                *spot(p, i, j) = kind == SYMMETRIC ? __builtin_conj(*spot(p, j, i)) : 0;
        }
}

/* a b, with the first `k` columns of a */
static plain product(plain a, plain b, int64_t k)
{
    plain c = plain_new(a.m, b.n);
    for (int64_t j = 0; j < b.n; j++)
        for (int64_t p = 0; p < k; p++)
            for (int64_t i = 0; i < a.m; i++)
                *spot(c, i, j) += times(*spot(a, i, p), *spot(b, p, j));
    return c;
}

static double norm(plain p)
{
    double sum = 0;
    for (int64_t i = 0; i < p.m * p.n; i++)
        sum += __builtin_cabs(p.a[i]) * __builtin_cabs(p.a[i]);
    return sqrt(sum);
}

/* a := a - b */
static void subtract(plain a, plain b)
{
    for (int64_t i = 0; i < a.m * a.n; i++)
        a.a[i] -= b.a[i];
}

/* ||a - b|| is at most so many eps of `scale`; frees both. */
static void close_to(plain a, plain b, double scale, dag_precision prec, const char *what, int64_t which)
{
    double order = (double)(a.m > a.n ? a.m : a.n) + 4;
    subtract(a, b);
    double error = norm(a), bound = 10 * order * eps_of(prec) * scale;
    expect(error <= bound, "%s, matrix %d: error %g, bound %g", what, (int)which, error, bound);
    free(a.a);
    free(b.a);
}

static void add_to_diagonal(many *x, double bump)
{
    for (int64_t w = 0; w < x->b.count; w++)
        for (int64_t i = 0; i < x->shape[w].n && i < x->shape[w].m; i++)
            set(x, w, i, i, __builtin_creal(element(x, 0, w, i, i)) + bump);
}

static void spoil(many *x, dag_uplo other)
{
    for (int64_t w = 0; w < x->b.count; w++)
        for (int64_t j = 0; j < x->shape[w].n; j++)
            for (int64_t i = 0; i < x->shape[w].n; i++)
                if (other == DAG_LOWER ? i > j : i < j)
                    set(x, w, i, j, 7777 + (double)(i + j)); /* is it read, errors are large */
}

/* ---- Cholesky ----------------------------------------------------------------------------- */

static void check_factor(const many *A, dag_uplo uplo, int64_t w)
{
    plain a = take(A, 1, w, DAG_NO_TRANS), f = take(A, 0, w, DAG_NO_TRANS);
    complete(a, uplo, SYMMETRIC);
    complete(f, uplo, TRIANGLE);
    plain h = take(A, 0, w, DAG_CONJ_TRANS);
    complete(h, uplo == DAG_LOWER ? DAG_UPPER : DAG_LOWER, TRIANGLE);
    plain p = uplo == DAG_LOWER ? product(f, h, f.n) : product(h, f, f.n);
    double scale = norm(a);
    for (int64_t j = 0; j < f.n; j++)
        for (int64_t i = 0; i < f.n; i++)
            if (uplo == DAG_LOWER ? i < j : i > j)
                expect(element(A, 0, w, i, j) == element(A, 1, w, i, j), "potrf wrote the other triangle");
    close_to(a, p, scale, A->b.prec, "potrf", w);
    free(f.a);
    free(h.a);
}

static void test_cholesky(dag_precision prec, int64_t count, int mixed, const dag_batch_shape *shape)
{
    for (int upper = 0; upper < 2; upper++) {
        dag_uplo uplo = upper ? DAG_UPPER : DAG_LOWER;
        dag_batch_shape right[MOST];
        int64_t info[MOST], bad = count > 4 && shape[mixed ? 3 : 0].n > 2 ? 3 : -1;
        many A, B;
        for (int64_t i = 0; i < count; i++)
            right[i] = (dag_batch_shape){shape[mixed ? i : 0].n, 3, 0};
        make(&A, prec, count, mixed, shape);
        make(&B, prec, count, mixed, right);
        add_to_diagonal(&A, 40);
        spoil(&A, upper ? DAG_LOWER : DAG_UPPER);
        if (bad >= 0)
            set(&A, bad, 1, 1, -1);
        keep(&A);
        keep(&B);
        memset(info, -1, sizeof(info));
        expect(dag_potrf_batch(ctx, uplo, &A.b, info) == DAG_SUCCESS, "%s", dag_message(ctx));
        for (int64_t w = 0; w < count; w++) {
            expect(info[w] == (w == bad ? 2 : 0), "potrf: info %d of matrix %d", (int)info[w], (int)w);
            if (w != bad)
                check_factor(&A, uplo, w);
        }
        expect(untouched(&A, -1), "potrf wrote beside the matrices");
        memcpy(A.now, A.before, A.bytes);
        expect(dag_posv_batch(ctx, uplo, &A.b, &B.b, info) == DAG_SUCCESS, "%s", dag_message(ctx));
        for (int64_t w = 0; w < count; w++) {
            expect(info[w] == (w == bad ? 2 : 0), "posv: info %d of matrix %d", (int)info[w], (int)w);
            plain a = take(&A, 1, w, DAG_NO_TRANS), x = take(&B, 0, w, DAG_NO_TRANS);
            complete(a, uplo, SYMMETRIC);
            if (w != bad)
                close_to(product(a, x, a.n), take(&B, 1, w, DAG_NO_TRANS), norm(a) * norm(x), prec, "posv", w);
            free(a.a);
            free(x.a);
        }
        expect(untouched(&B, bad), "posv wrote what it should not");
        drop(&A);
        drop(&B);
    }
}

/* ---- LU ----------------------------------------------------------------------------------- */

/* P^T L U of matrix w, from its factors and pivots. */
static plain lu_product(const many *A, int64_t w, const int64_t *ipiv)
{
    plain l = take(A, 0, w, DAG_NO_TRANS), u = take(A, 0, w, DAG_NO_TRANS);
    int64_t rank = l.m < l.n ? l.m : l.n;
    complete(l, DAG_LOWER, UNIT_TRIANGLE);
    complete(u, DAG_UPPER, TRIANGLE);
    plain p = product(l, u, rank);
    for (int64_t i = rank; i-- > 0;)
        for (int64_t j = 0; j < p.n; j++) {
            dag_dcomplex t = *spot(p, i, j);
            *spot(p, i, j) = *spot(p, ipiv[i] - 1, j);
            *spot(p, ipiv[i] - 1, j) = t;
        }
    for (int64_t j = 0; j < rank; j++)
        for (int64_t i = j + 1; i < l.m; i++)
            expect(__builtin_cabs(*spot(l, i, j)) <= 1.5, "getrf: an element of L is too large");
    free(l.a);
    free(u.a);
    return p;
}

static void test_getrf(dag_precision prec, int64_t count, int mixed, const dag_batch_shape *shape)
{
    enum { STRIDE = 80 };
    static int64_t ipiv[MOST * STRIDE];
    int64_t info[MOST], bad = count > 4 && shape[mixed ? 2 : 0].n > 2 && shape[mixed ? 2 : 0].m > 2 ? 2 : -1;
    many A;
    make(&A, prec, count, mixed, shape);
    for (int64_t i = 0; bad >= 0 && i < A.shape[bad].m; i++)
        set(&A, bad, i, 1, 0); /* a column of zeros */
    /* a pivot that no reciprocal is for; OpenBLAS 0.3.21 has no care for complex ones */
    if (!dag_precision_is_complex(prec) && count > 1 && A.shape[0].m > 0 && A.shape[0].n > 0)
        for (int64_t i = 0; i < A.shape[0].m; i++)
            set(&A, 0, i, 0, (i % 2 ? -1 : 1) * (prec == DAG_S ? 1e-39 : 1e-309));
    keep(&A);
    expect(dag_getrf_batch(ctx, &A.b, ipiv, STRIDE, info) == DAG_SUCCESS, "%s", dag_message(ctx));
    for (int64_t w = 0; w < count; w++) {
        plain a = take(&A, 1, w, DAG_NO_TRANS);
        double scale = norm(a);
        expect(info[w] == (w == bad ? 2 : 0), "getrf: info %d of matrix %d", (int)info[w], (int)w);
        close_to(a, lu_product(&A, w, ipiv + w * STRIDE), scale, prec, "getrf", w);
    }
    expect(untouched(&A, -1), "getrf wrote beside the matrices");
    drop(&A);
}

static void test_gesv(dag_precision prec, int64_t count, int mixed, const dag_batch_shape *shape)
{
    enum { STRIDE = 80 };
    static int64_t ipiv[MOST * STRIDE];
    dag_batch_shape right[MOST];
    int64_t info[MOST], bad = count > 4 && shape[mixed ? 1 : 0].n > 2 ? 1 : -1;
    many A, B;
    for (int64_t i = 0; i < count; i++)
        right[i] = (dag_batch_shape){shape[mixed ? i : 0].n, 1 + i % 2 * mixed, 0};
    make(&A, prec, count, mixed, shape);
    make(&B, prec, count, mixed, right);
    add_to_diagonal(&A, 2);
    for (int64_t i = 0; bad >= 0 && i < A.shape[bad].m; i++)
        set(&A, bad, i, 0, 0);
    keep(&A);
    keep(&B);
    expect(dag_gesv_batch(ctx, &A.b, ipiv, STRIDE, &B.b, info) == DAG_SUCCESS, "%s", dag_message(ctx));
    for (int64_t w = 0; w < count; w++) {
        plain a = take(&A, 1, w, DAG_NO_TRANS), x = take(&B, 0, w, DAG_NO_TRANS);
        expect(info[w] == (w == bad), "gesv: info %d of matrix %d", (int)info[w], (int)w);
        if (w != bad)
            close_to(product(a, x, a.n), take(&B, 1, w, DAG_NO_TRANS), 40 * norm(a) * norm(x), prec, "gesv",
                     w);
        free(a.a);
        free(x.a);
    }
    expect(untouched(&B, bad), "gesv wrote what it should not");
    drop(&A);
    drop(&B);
}

/* ---- QR ----------------------------------------------------------------------------------- */

/* p := Q p for Q of matrix w, the reflections from the last to the first. */
static void apply_q(const many *A, int64_t w, const void *tau, plain p)
{
    for (int64_t k = p.m < p.n ? p.m : p.n; k-- > 0;)
        for (int64_t j = 0; j < p.n; j++) {
            dag_dcomplex sum = *spot(p, k, j), t = get(A->b.prec, tau, (size_t)k);
            for (int64_t i = k + 1; i < p.m; i++)
                sum += times(__builtin_conj(element(A, 0, w, i, k)), *spot(p, i, j));
            sum = times(t, sum);
            *spot(p, k, j) -= sum;
            for (int64_t i = k + 1; i < p.m; i++)
                *spot(p, i, j) -= times(element(A, 0, w, i, k), sum);
        }
}

static void test_geqrf(dag_precision prec, int64_t count, int mixed, const dag_batch_shape *shape)
{
    enum { STRIDE = 80 };
    static dag_dcomplex tau[MOST * STRIDE];
    size_t step = STRIDE * dag_precision_size(prec);
    many A;
    make(&A, prec, count, mixed, shape);
    for (int64_t i = 1; count > 1 && i < A.shape[1].m && A.shape[1].n > 0; i++)
        set(&A, 1, i, 0, 0); /* nothing to reflect */
    for (int64_t j = 0; count > 2 && j < A.shape[2].n; j++) /* squares vanish */
        for (int64_t i = 0; i < A.shape[2].m; i++)
            set(&A, 2, i, j, element(&A, 0, 2, i, j) * (prec == DAG_S || prec == DAG_C ? 1e-25 : 1e-200));
    keep(&A);
    expect(dag_geqrf_batch(ctx, &A.b, tau, STRIDE) == DAG_SUCCESS, "%s", dag_message(ctx));
    for (int64_t w = 0; w < count; w++) {
        plain a = take(&A, 1, w, DAG_NO_TRANS), q = take(&A, 0, w, DAG_NO_TRANS);
        double scale = norm(a);
        for (int64_t j = 0; j < q.n; j++)
            for (int64_t i = j + 1; i < q.m; i++)
                *spot(q, i, j) = 0;
        apply_q(&A, w, (char *)tau + (size_t)w * step, q);
        for (int64_t i = 0; w == 2 && i < a.m * a.n; i++) { /* as squares of the errors vanish as well */
            a.a[i] *= prec == DAG_S || prec == DAG_C ? 1e25 : 1e200;
            q.a[i] *= prec == DAG_S || prec == DAG_C ? 1e25 : 1e200;
        }
        close_to(a, q, w == 2 ? norm(a) : scale, prec, "geqrf", w);
    }
    expect(untouched(&A, -1), "geqrf wrote beside the matrices");
    drop(&A);
}

/* ---- products and solves ------------------------------------------------------------------ */

static const dag_trans all_trans[] = {DAG_NO_TRANS, DAG_TRANS, DAG_CONJ_TRANS};

static void turned(dag_batch_shape *s, int64_t m, int64_t n, dag_trans trans)
{
    *s = trans == DAG_NO_TRANS ? (dag_batch_shape){m, n, 0} : (dag_batch_shape){n, m, 0};
}

static void test_gemm(dag_precision prec, int64_t count, int mixed, const dag_batch_shape *shape)
{
    for (int t = 0; t < 9; t += 1 + 3 * few) {
        dag_trans ta = all_trans[t % 3], tb = all_trans[t / 3];
        dag_dcomplex alpha = t == 4 ? 0 : random_of(prec), beta = t % 2 ? 0 : random_of(prec);
        dag_batch_shape sa[MOST], sb[MOST];
        many A, B, C;
        for (int64_t i = 0; i < count; i++) {
            int64_t inner = shape[mixed ? i : 0].m / 2 + 1;
            turned(&sa[i], shape[mixed ? i : 0].m, inner, ta);
            turned(&sb[i], inner, shape[mixed ? i : 0].n, tb);
        }
        make(&A, prec, count, mixed, sa);
        make(&B, prec, count, mixed, sb);
        make(&C, prec, count, mixed, shape);
        keep(&C);
        for (int64_t w = 0; w < count && beta == 0; w++)
            for (int64_t i = 0; i < C.shape[w].m; i++)
                for (int64_t j = 0; j < C.shape[w].n; j++)
                    set(&C, w, i, j, NAN);
        expect(dag_gemm_batch(ctx, ta, tb, alpha, &A.b, &B.b, beta, &C.b) == DAG_SUCCESS, "%s",
               dag_message(ctx));
        for (int64_t w = 0; w < count; w++) {
            plain a = take(&A, 0, w, ta), b = take(&B, 0, w, tb), c = take(&C, 1, w, DAG_NO_TRANS);
            plain p = product(a, b, a.n);
            for (int64_t i = 0; i < p.m * p.n; i++)
                p.a[i] = times(alpha, p.a[i]) + times(beta, c.a[i]);
            close_to(take(&C, 0, w, DAG_NO_TRANS), p, norm(a) * norm(b) + norm(c), prec, "gemm", w);
            free(a.a);
            free(b.a);
            free(c.a);
        }
        expect(untouched(&C, -1), "gemm wrote beside the matrices");
        drop(&A);
        drop(&B);
        drop(&C);
    }
}

static void solve_once(dag_precision prec, int64_t count, int mixed, const dag_batch_shape *shape, int how)
{
    dag_side side = how % 2 ? DAG_RIGHT : DAG_LEFT;
    dag_uplo uplo = how / 2 % 2 ? DAG_UPPER : DAG_LOWER;
    dag_diag diag = how / 4 % 2 ? DAG_UNIT : DAG_NON_UNIT;
    dag_trans trans = all_trans[how / 8];
    dag_dcomplex alpha = random_of(prec);
    dag_batch_shape right[MOST];
    many A, B;
    for (int64_t i = 0; i < count; i++)
        turned(&right[i], shape[mixed ? i : 0].n, 5, side == DAG_LEFT ? DAG_NO_TRANS : DAG_TRANS);
    make(&A, prec, count, mixed, shape);
    make(&B, prec, count, mixed, right);
    add_to_diagonal(&A, 3);
    for (int64_t w = 0; w < count; w++) /* else those with a diagonal of 1 are badly conditioned */
        for (int64_t j = 0; j < A.shape[w].n; j++)
            for (int64_t i = 0; i < A.shape[w].n; i++)
                if (i != j)
                    set(&A, w, i, j, element(&A, 0, w, i, j) / (double)A.shape[w].n);
    spoil(&A, uplo == DAG_LOWER ? DAG_UPPER : DAG_LOWER);
    keep(&B);
    expect(dag_trsm_batch(ctx, side, uplo, trans, diag, alpha, &A.b, &B.b) == DAG_SUCCESS, "%s",
           dag_message(ctx));
    for (int64_t w = 0; w < count; w++) {
        plain a = take(&A, 0, w, trans), x = take(&B, 0, w, DAG_NO_TRANS), b = take(&B, 1, w, DAG_NO_TRANS);
        complete(a, (uplo == DAG_LOWER) == (trans == DAG_NO_TRANS) ? DAG_LOWER : DAG_UPPER,
                 diag == DAG_UNIT ? UNIT_TRIANGLE : TRIANGLE);
        for (int64_t i = 0; i < b.m * b.n; i++)
            b.a[i] = times(alpha, b.a[i]);
        plain p = side == DAG_LEFT ? product(a, x, a.n) : product(x, a, a.n);
        close_to(p, b, norm(a) * norm(x) + norm(b), prec, "trsm", w);
        free(a.a);
        free(x.a);
    }
    expect(untouched(&B, -1), "trsm wrote beside the matrices");
    drop(&A);
    drop(&B);
}

/* ---- arguments ---------------------------------------------------------------------------- */

static void refuse(dag_status status, const char *part)
{
    expect(status == DAG_ERR_ARG, "not refused: %s", part);
    expect(strstr(dag_message(ctx), part) != NULL, "\"%s\" says nothing of \"%s\"", dag_message(ctx), part);
}

static void test_arguments(void)
{
    double a[32] = {0}, tau[8];
    int64_t info[2], ipiv[8];
    dag_batch A = {.prec = DAG_D, .count = 2, .all = {4, 4, 0}, .first = a}, B = A, wrong;
    A.all.ld = 3;
    refuse(dag_potrf_batch(ctx, DAG_LOWER, &A, info), "has 4 rows, but leading dimension 3");
    A.all.ld = 0;
    refuse(dag_spotrf_batch(ctx, DAG_LOWER, &A, info), "dag_spotrf_batch: A holds 'd' elements, not 's'");
    refuse(dag_potrf_batch(ctx, DAG_GENERAL, &A, info), "uplo is");
    refuse(dag_potrf_batch(ctx, DAG_LOWER, NULL, info), "A is NULL");
    refuse(dag_potrf_batch(ctx, DAG_LOWER, &A, NULL), "info is NULL");
    refuse(dag_getrf_batch(ctx, &A, ipiv, 3, info), "stride is 3; matrix 0 needs 4");
    refuse(dag_getrf_batch(ctx, &A, NULL, 4, info), "ipiv is NULL");
    refuse(dag_geqrf_batch(ctx, &A, NULL, 4), "tau is NULL");
    refuse(dag_geqrf_batch(ctx, &A, tau, 2), "stride is 2; matrix 0 needs 4");
    wrong = A;
    wrong.all.n = 3;
    refuse(dag_potrf_batch(ctx, DAG_LOWER, &wrong, info), "the rows of A are 4, its columns 3");
    refuse(dag_posv_batch(ctx, DAG_LOWER, &wrong, &B, info), "the rows of A are 4, its columns 3");
    wrong = A;
    wrong.count = -1;
    refuse(dag_potrf_batch(ctx, DAG_LOWER, &wrong, info), "has -1 matrices");
    wrong.count = 1;
    refuse(dag_gesv_batch(ctx, &A, ipiv, 4, &wrong, info), "A has 2 matrices and B 1");
    wrong = A;
    wrong.first = NULL;
    refuse(dag_potrf_batch(ctx, DAG_LOWER, &wrong, info), "matrix 0 of A is NULL");
    wrong = A;
    wrong.stride = 15;
    refuse(dag_potrf_batch(ctx, DAG_LOWER, &wrong, info), "its matrices take 16");
    wrong = A;
    wrong.all.m = -1;
    refuse(dag_potrf_batch(ctx, DAG_LOWER, &wrong, info), "matrix 0 of A is -1 x 4");
    wrong = A;
    wrong.each = &A.all;
    refuse(dag_potrf_batch(ctx, DAG_LOWER, &wrong, info), "`at` is NULL");
    wrong = A;
    wrong.prec = DAG_S;
    refuse(dag_gemm_batch(ctx, DAG_NO_TRANS, DAG_NO_TRANS, 1, &A, &wrong, 0, &B), "A holds 'd' elements");
    refuse(dag_gemm_batch(ctx, DAG_NO_TRANS, DAG_NO_TRANS, __builtin_complex(0.0, 1.0), &A, &B, 0, &A),
           "alpha has an imaginary part");
    wrong = A;
    wrong.all.m = 3;
    refuse(dag_gemm_batch(ctx, DAG_NO_TRANS, DAG_NO_TRANS, 1, &A, &A, 0, &wrong), "the rows of op(A) are 4");
    refuse(dag_trsm_batch(ctx, DAG_LEFT, DAG_LOWER, DAG_NO_TRANS, DAG_UNIT, 1, &A, &wrong),
           "the rows of B are 3");
    refuse(dag_trsm_batch(ctx, (dag_side)0, DAG_LOWER, DAG_NO_TRANS, DAG_UNIT, 1, &A, &B), "side is 0");
}

static void test_empty(void)
{
    dag_batch none = {.prec = DAG_Z}, flat = {.prec = DAG_D, .count = 3};
    int64_t info[3] = {9, 9, 9};
    expect(dag_potrf_batch(ctx, DAG_LOWER, &none, NULL) == DAG_SUCCESS, "%s", dag_message(ctx));
    expect(dag_zgesv_batch(ctx, &none, NULL, 0, &none, NULL) == DAG_SUCCESS, "%s", dag_message(ctx));
    expect(dag_geqrf_batch(ctx, &none, NULL, 0) == DAG_SUCCESS, "%s", dag_message(ctx));
    expect(dag_potrf_batch(ctx, DAG_UPPER, &flat, info) == DAG_SUCCESS, "%s", dag_message(ctx));
    expect(info[0] == 0 && info[1] == 0 && info[2] == 0, "info of matrices without elements");
}

/* The bits of a factor depend neither on the place of its matrix nor on what stands beside it. */
static void test_places(dag_precision prec, int64_t order)
{
    enum { COUNT = 19 };
    static int64_t ipiv[COUNT * LANES_ORDER], info[COUNT];
    dag_batch_shape shape = {order, order, 0};
    many A, B;
    make(&A, prec, COUNT, 0, &shape);
    make(&B, prec, COUNT, 0, &shape);
    for (int64_t w = 0; w < COUNT; w++)
        for (int64_t j = 0; j < order; j++)
            for (int64_t i = 0; i < order; i++)
                set(&B, COUNT - 1 - w, i, j, element(&A, 0, w, i, j));
    expect(dag_getrf_batch(ctx, &A.b, ipiv, order, info) == DAG_SUCCESS, "%s", dag_message(ctx));
    expect(dag_getrf_batch(ctx, &B.b, ipiv, order, info) == DAG_SUCCESS, "%s", dag_message(ctx));
    for (int64_t w = 0; w < COUNT; w++)
        for (int64_t j = 0; j < order; j++)
            for (int64_t i = 0; i < order; i++)
                expect(element(&A, 0, w, i, j) == element(&B, 0, COUNT - 1 - w, i, j),
                       "getrf: element (%d, %d) of matrix %d depends on its place", (int)i, (int)j, (int)w);
    drop(&A);
    drop(&B);
}

static void test_mixed(dag_precision prec, const dag_batch_shape *square, const dag_batch_shape *any)
{
    test_getrf(prec, MOST, 1, any);
    test_geqrf(prec, MOST, 1, any);
    test_gemm(prec, MOST, 1, any);
    test_cholesky(prec, MOST, 1, square);
    test_gesv(prec, MOST, 1, square);
    for (int how = few; how < 24; how += few ? 7 : 1)
        solve_once(prec, MOST, 1, square, how);
}

static void test_sizes(dag_precision prec)
{
    static const int64_t orders[] = {1, 2, 5, 8, 16, 17, 32, 40, 70};
    dag_batch_shape square[MOST], any[MOST];
    for (int k = few ? 4 : 0; k < (few ? 7 : 9); k++) {
        int64_t count = orders[k] > LANES_ORDER ? 5 : 19;
        square[0] = (dag_batch_shape){orders[k], orders[k], 0};
        any[0] = (dag_batch_shape){orders[k], orders[k] / 2 + 1, 0};
        for (int wide = 0; wide < 2; wide++) {
            test_getrf(prec, count, 0, any);
            test_geqrf(prec, count, 0, any);
            test_gemm(prec, count, 0, any);
            any[0] = (dag_batch_shape){orders[k] / 2 + 1, orders[k], 0};
        }
        test_cholesky(prec, count, 0, square);
        test_gesv(prec, count, 0, square);
        for (int how = few; how < 24; how += few ? 7 : 1)
            solve_once(prec, count, 0, square, how);
    }
    for (int i = 0; i < MOST; i++) {
        int64_t n = i % 3 == 0 ? 6 : i % 7 == 0 ? 30 : i % 11 == 0 ? 0 : 1 + i % 17;
        square[i] = (dag_batch_shape){n, n, 0};
        any[i] = (dag_batch_shape){n, i % 5 == 0 ? 7 : n, 0};
    }
    test_mixed(prec, square, any);
    test_places(prec, LANES_ALONE);
    test_places(prec, LANES_ORDER - 5);
    for (int i = 0; i < MOST; i += 2) { /* enough of one size to fill lanes, if they are found among the others */
        square[i] = (dag_batch_shape){27, 27, 0};
        any[i] = (dag_batch_shape){27, 22, 0};
    }
    test_mixed(prec, square, any);
    any[3] = square[0] = (dag_batch_shape){90, 90, 0}; /* so large that the next product is fetched */
    test_gemm(prec, 5, 0, square);
    test_gemm(prec, MOST, 1, any);
}

int main(int argc, char **argv)
{
    char why[512];
    few = argc > 2 && strcmp(argv[2], "few") == 0;
    int level = dagi_lanes_limit(argc > 1 ? atoi(argv[1]) : 2);
    if (dag_init(&ctx, NULL, why, sizeof(why)) != DAG_SUCCESS) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    for (int prec = few; prec < 4; prec += 1 + few) { /* few: d and z */
        const lanes_table *lanes = dagi_lanes((dag_precision)prec);
        static const int complex_products[] = {0, 6, 16};
        int products = dag_precision_is_complex((dag_precision)prec) ? complex_products[level] : 0;
        expect(lanes->order == (level > 0 ? LANES_ORDER : LANES_ALONE) && lanes->products == products,
               "lanes take orders up to %d, products up to %d", lanes->order, lanes->products);
        test_sizes((dag_precision)prec);
    }
    test_empty();
    test_arguments();
    if (dag_rank(ctx) == 0)
        printf("batches with vectors of level %d: %d failures\n", level, failures);
    dag_fini(ctx);
    return failures > 0;
}

/*
 * Bounds of the errors of least squares, of solutions of least norm and of inverses: none is below the
 * error, which is known from the same problem in extended precision. Of the gallery, and of matrices made
 * singular here.
 *
 *     forward_bounds          a few kinds
 *     forward_bounds full     all of them, more orders and types
 */
#include "gallery.h"

#include <float.h>
#include <inttypes.h>
#include <string.h>

enum { NRHS = 2 };
static int failures, bounds, telling; /* telling: below 1/100 */

/* ---- extended precision -------------------------------------------------------------------- */

typedef _Complex long double number;

static long double size_of(number x)
{
    return hypotl(__builtin_creall(x), __builtin_cimagl(x));
}

static number *widened(whole w)
{
    number *a = allocate((size_t)(w.m * w.n) * sizeof(*a));
    for (int64_t j = 0; j < w.n; j++)
        for (int64_t i = 0; i < w.m; i++)
            a[i + j * w.m] = whole_get(w, i, j);
    return a;
}

static number dot(int64_t m, const number *x, const number *y)
{
    number sum = 0;
    for (int64_t i = 0; i < m; i++)
        sum += __builtin_conjl(x[i]) * y[i];
    return sum;
}

static void subtract(int64_t m, number factor, const number *x, number *y)
{
    for (int64_t i = 0; i < m; i++)
        y[i] -= factor * x[i];
}

/* A = Q R by modified Gram and Schmidt; Q overwrites A. */
static void orthogonalise(int64_t m, int64_t n, number *a, number *r)
{
    for (int64_t k = 0; k < n; k++) {
        number *q = a + k * m;
        long double length = sqrtl(__builtin_creall(dot(m, q, q)));
        r[k + k * n] = length;
        for (int64_t i = 0; i < m; i++)
            q[i] /= length;
        for (int64_t j = k + 1; j < n; j++) {
            r[k + j * n] = dot(m, q, a + j * m);
            subtract(m, r[k + j * n], q, a + j * m);
        }
    }
}

/* x minimises ||b - A x||; b is overwritten. A. Bjorck, BIT 7 (1967). */
static void least_squares(int64_t m, int64_t n, const number *q, const number *r, number *b,
                          number *x)
{
    for (int64_t k = 0; k < n; k++) {
        x[k] = dot(m, q + k * m, b);
        subtract(m, x[k], q + k * m, b);
    }
    for (int64_t k = n - 1; k >= 0; k--) {
        x[k] /= r[k + k * n];
        subtract(k, x[k], r + k * n, x);
    }
}

/* x is the shortest solution of A^H x = b. A. Bjorck and C. C. Paige, SIAM J. Matrix Anal. Appl. 13 (1992). */
static void least_norm(int64_t m, int64_t n, const number *q, const number *r, const number *b,
                       number *x)
{
    number *z = allocate((size_t)n * sizeof(*z));
    for (int64_t k = 0; k < n; k++)
        z[k] = (b[k] - dot(k, r + k * n, z)) / __builtin_conjl(r[k + k * n]);
    memset(x, 0, (size_t)m * sizeof(*x));
    for (int64_t k = n - 1; k >= 0; k--)
        subtract(m, dot(m, q + k * m, x) - z[k], q + k * m, x);
    free(z);
}

/* Row i of a and of x, from column k on where a is not yet done. */
static void eliminate(int64_t n, number factor, int64_t i, int64_t k, number *a, number *x)
{
    for (int64_t j = 0; j < n; j++) {
        x[i + j * n] -= factor * x[k + j * n];
        if (j >= k)
            a[i + j * n] -= factor * a[k + j * n];
    }
}

static void exchange(int64_t n, number *a, int64_t i, int64_t k)
{
    for (int64_t j = 0; j < n; j++) {
        number x = a[i + j * n];
        a[i + j * n] = a[k + j * n];
        a[k + j * n] = x;
    }
}

/* By Gauss and Jordan with pivots; a is overwritten. */
static number *inverse_of(int64_t n, number *a)
{
    number *x = allocate((size_t)(n * n) * sizeof(*x));
    for (int64_t k = 0; k < n; k++)
        x[k + k * n] = 1;
    for (int64_t k = 0; k < n; k++) {
        int64_t pivot = k;
        for (int64_t i = k + 1; i < n; i++)
            if (size_of(a[i + k * n]) > size_of(a[pivot + k * n]))
                pivot = i;
        exchange(n, a, pivot, k);
        exchange(n, x, pivot, k);
        for (int64_t i = 0; i < n; i++)
            if (i != k)
                eliminate(n, a[i + k * n] / a[k + k * n], i, k, a, x);
    }
    for (int64_t k = 0; k < n; k++)
        for (int64_t j = 0; j < n; j++)
            x[k + j * n] /= a[k + k * n];
    return x;
}

/* ---- comparison ---------------------------------------------------------------------------- */

static void compare(const char *name, whole w, const char *of, long double error, double bound)
{
    bounds++;
    telling += bound < 0.01;
    if (getenv("BOUNDS_PRINT") != NULL)
        printf("%-12s %c %3" PRId64 " x %3" PRId64 " %-8s error %9.2Lg, bound %9.2g\n", name,
               dag_precision_letter(w.prec), w.m, w.n, of, error, bound);
    if (error <= bound || bound >= 1) /* from 1 on it says nothing */
        return;
    failures++;
    fprintf(stderr, "%s, %c, %" PRId64 " x %" PRId64 ", %s: the error is %Lg, its bound %g\n", name,
            dag_precision_letter(w.prec), w.m, w.n, of, error, bound);
}

/* ||x - y|| / ||y|| of columns, in two-norms. */
static long double distance(whole x, int64_t j, const number *y, int64_t length)
{
    long double off = 0, all = 0;
    for (int64_t i = 0; i < length; i++) {
        off = hypotl(off, size_of(whole_get(x, i, j) - y[i]));
        all = hypotl(all, size_of(y[i]));
    }
    return off / all;
}

static whole adjoint_of(whole w)
{
    whole t = whole_new(w.prec, w.n, w.m);
    for (int64_t j = 0; j < w.n; j++)
        for (int64_t i = 0; i < w.m; i++)
            whole_put(t, j, i, __builtin_conj(whole_get(w, i, j)));
    return t;
}

/* The first column of B is the sum of the columns of A, nearly; the others are random. */
static whole right_hand_sides(dag_context *ctx, whole a, int64_t rows)
{
    whole b = whole_new(a.prec, rows, NRHS), r = of_kind(ctx, a.prec, "random", rows, NRHS, 0);
    for (int64_t i = 0; i < a.m; i++) {
        dag_dcomplex sum = 0;
        for (int64_t k = 0; k < a.n; k++)
            sum += whole_get(a, i, k);
        whole_put(b, i, 0, sum + 1e-6 * whole_get(r, i, 0));
        for (int64_t j = 1; j < NRHS; j++)
            whole_put(b, i, j, whole_get(r, i, j));
    }
    free(r.a);
    return b;
}

/* With w, or with its adjoint. */
static void solve(dag_context *ctx, const char *name, whole w, int p, int q, int turned)
{
    whole a = turned ? adjoint_of(w) : w, b = right_hand_sides(ctx, a, w.m);
    whole x = whole_new(w.prec, w.m, NRHS);
    double ferr[NRHS] = {-1, -1}, rcond;
    int64_t info;
    dag_matrix *A = distribute(ctx, a, p, q), *B = distribute(ctx, b, p, q);
    must(ctx, dag_gels_bounds(ctx, DAG_NO_TRANS, A, B, ferr, &rcond, NULL, &info));
    must(ctx, dag_matrix_gather(B, x.a, w.m));
    if (info == 0 && dag_rank(ctx) == 0) {
        number *wide = widened(w), *r = allocate((size_t)(w.n * w.n) * sizeof(*r)), *c = widened(b);
        number *exact = allocate((size_t)w.m * sizeof(*exact));
        orthogonalise(w.m, w.n, wide, r);
        for (int64_t j = 0; j < NRHS; j++) {
            if (turned)
                least_norm(w.m, w.n, wide, r, c + j * w.m, exact);
            else
                least_squares(w.m, w.n, wide, r, c + j * w.m, exact);
            compare(name, w, turned ? "shortest" : "squares",
                    distance(x, j, exact, turned ? w.m : w.n), ferr[j]);
        }
        free(wide);
        free(r);
        free(c);
        free(exact);
    }
    dag_matrix_free(A);
    dag_matrix_free(B);
    if (turned)
        free(a.a);
    free(b.a);
    free(x.a);
}

/* ||X - Y|| / ||Y|| in the one-norm. */
static long double distance_of_inverse(whole x, const number *y)
{
    long double off = 0, all = 0;
    for (int64_t j = 0; j < x.n; j++) {
        long double off_j = 0, all_j = 0;
        for (int64_t i = 0; i < x.m; i++) {
            off_j += size_of(whole_get(x, i, j) - y[i + j * x.m]);
            all_j += size_of(y[i + j * x.m]);
        }
        off = fmaxl(off, off_j);
        all = fmaxl(all, all_j);
    }
    return off / all;
}

static void invert(dag_context *ctx, const char *name, whole w, int p, int q, int positive)
{
    dag_matrix *A = distribute(ctx, w, p, q), *X = distribute(ctx, w, p, q);
    whole x = whole_new(w.prec, w.n, w.n);
    int64_t *ipiv = allocate((size_t)w.n * sizeof(*ipiv)), info;
    double error = -1;
    must(ctx, positive ? dag_potrf(ctx, DAG_LOWER, X, &info) : dag_getrf(ctx, X, ipiv, &info));
    if (info == 0) {
        must(ctx, positive ? dag_potri(ctx, DAG_LOWER, X, &info) : dag_getri(ctx, X, ipiv, &info));
        must(ctx, positive ? dag_potri_bounds(ctx, DAG_LOWER, A, X, &error)
                           : dag_getri_bounds(ctx, A, X, &error));
        must(ctx, dag_matrix_gather(X, x.a, w.n));
    }
    if (info == 0 && dag_rank(ctx) == 0) {
        number *wide = widened(w), *exact = inverse_of(w.n, wide);
        for (int64_t j = 0; positive && j < w.n; j++)
            for (int64_t i = 0; i < j; i++)
                whole_put(x, i, j, __builtin_conj(whole_get(x, j, i)));
        compare(name, w, positive ? "potri" : "getri", distance_of_inverse(x, exact), error);
        free(wide);
        free(exact);
    }
    dag_matrix_free(A);
    dag_matrix_free(X);
    free(ipiv);
    free(x.a);
}

/* Takes w. */
static void check(dag_context *ctx, const char *name, int positive, whole w)
{
    static const int grids[][2] = {{1, 1}, {1, 2}, {2, 2}, {2, 3}};
    for (size_t g = 0; g < sizeof(grids) / sizeof(grids[0]); g++) {
        int p = grids[g][0], q = grids[g][1];
        if (p * q != dag_size(ctx))
            continue;
        solve(ctx, name, w, p, q, 0);
        solve(ctx, name, w, p, q, 1);
        if (w.m == w.n)
            invert(ctx, name, w, p, q, 0);
        if (positive)
            invert(ctx, name, w, p, q, 1);
    }
    free(w.a);
}

/* ---- matrices ------------------------------------------------------------------------------ */

static void run(dag_context *ctx, dag_precision prec, int64_t n, int full)
{
    static const struct {
        const char *name;
        int positive, always;
    } kinds[] = {
        {"random", 0, 0},  {"spd", 1, 1},       {"hilbert", 0, 1},    {"lotkin", 0, 0},
        {"cauchy", 0, 0},  {"parter", 0, 0},    {"ris", 0, 0},        {"lehmer", 1, 1},
        {"minij", 1, 0},   {"moler", 0, 1},     {"kms", 1, 0},        {"prolate", 0, 0},
        {"fiedler", 0, 0}, {"frank", 0, 0},     {"invhess", 0, 0},    {"kahan", 0, 1},
        {"triw", 0, 1},    {"house", 0, 0},     {"orthogonal", 0, 0}, {"demmel", 0, 1},
        {"langou", 0, 0},  {"wilkinson", 0, 0}, {"gfpp", 0, 0},       {"foster", 0, 1},
        {"wright", 0, 0},  {"circulant", 0, 0},
    };
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
        if (full || kinds[k].always)
            check(ctx, kinds[k].name, kinds[k].positive,
                  of_kind(ctx, prec, kinds[k].name, n, n, 0));
    for (double cond = 1e3; cond < 1e14; cond *= full ? 1e2 : 1e4) {
        check(ctx, "svd", 0, of_kind(ctx, prec, "svd", n, n, cond));
        check(ctx, "svd", 0, of_kind(ctx, prec, "svd", n + 13, n, cond));
        check(ctx, "svd", 0, of_kind(ctx, prec, "svd", 3 * n, n, cond));
        check(ctx, "spd", 1, of_kind(ctx, prec, "spd", n, n, cond));
    }
    check(ctx, "equal rows", 0, of_equal(ctx, prec, n, 1));
    check(ctx, "equal columns", 0, of_equal(ctx, prec, n, 0));
    check(ctx, "low rank", 0, of_rank(ctx, prec, n + 24, n, 3 * n / 4));
    check(ctx, "zeros", 0, whole_new(prec, n + 5, n));
}

int main(int argc, char **argv)
{
    int full = argc > 1 && strcmp(argv[1], "full") == 0;
    dag_context *ctx;
    if (dag_init(&ctx, NULL, NULL, 0) != DAG_SUCCESS)
        return 1;
    run(ctx, DAG_D, 41, full);
    run(ctx, DAG_Z, 27, full);
    if (full) {
        run(ctx, DAG_S, 60, full);
        run(ctx, DAG_C, 33, full);
        run(ctx, DAG_D, 100, full);
    }
    if (dag_rank(ctx) == 0 && 3 * telling < bounds) {
        fprintf(stderr, "only %d of %d bounds say anything\n", telling, bounds);
        failures++;
    }
    if (dag_rank(ctx) == 0)
        printf("%d bounds, %d of them below 1/100, %d failures\n", bounds, telling, failures);
    dag_fini(ctx);
    return failures != 0;
}

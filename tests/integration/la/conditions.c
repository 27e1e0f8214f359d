/*
 * Reciprocal condition numbers of matrices that are ill-conditioned or singular, beside LAPACK's: of
 * the gallery, and some made singular here. Those of LU, Cholesky, QR and of inverses. Where LAPACK's
 * is above eps ours is within a factor of 10; where it is below, what is left is rounding and
 * differs with the order of the sums, and ours has to be below as well: the verdict is the same.
 *
 *     conditions          a few kinds
 *     conditions full     all of them, more orders and types
 */
#include "gallery.h"

#include <float.h>
#include <inttypes.h>
#include <lapacke.h>
#include <string.h>

static int failures, matrices, singular;

typedef struct conditions {
    double lu, inverse, qr, cholesky; /* < 0: there is none */
} conditions;

/* ---- LAPACK's ------------------------------------------------------------------------------ */

static double lapack_lu(whole w)
{
    int n = (int)w.n;
    double rcond = 0, *f = w.a;
    lapack_complex_double *z = w.a;
    lapack_int *ipiv = allocate((size_t)n * sizeof(*ipiv)), info;
    if (w.prec == DAG_D) {
        double norm = LAPACKE_dlange(LAPACK_COL_MAJOR, '1', n, n, f, n);
        info = LAPACKE_dgetrf(LAPACK_COL_MAJOR, n, n, f, n, ipiv);
        if (info == 0)
            LAPACKE_dgecon(LAPACK_COL_MAJOR, '1', n, f, n, norm, &rcond);
    } else {
        double norm = LAPACKE_zlange(LAPACK_COL_MAJOR, '1', n, n, z, n);
        info = LAPACKE_zgetrf(LAPACK_COL_MAJOR, n, n, z, n, ipiv);
        if (info == 0)
            LAPACKE_zgecon(LAPACK_COL_MAJOR, '1', n, z, n, norm, &rcond);
    }
    free(ipiv);
    return rcond;
}

/* Of the inverse that LAPACK finds, no estimate: factors that have grown say something else. */
static double lapack_inverse(whole w)
{
    int n = (int)w.n;
    double norm, of_inverse = INFINITY;
    lapack_int *ipiv = allocate((size_t)n * sizeof(*ipiv));
    if (w.prec == DAG_D) {
        norm = LAPACKE_dlange(LAPACK_COL_MAJOR, '1', n, n, w.a, n);
        if (LAPACKE_dgetrf(LAPACK_COL_MAJOR, n, n, w.a, n, ipiv) == 0 &&
            LAPACKE_dgetri(LAPACK_COL_MAJOR, n, w.a, n, ipiv) == 0)
            of_inverse = LAPACKE_dlange(LAPACK_COL_MAJOR, '1', n, n, w.a, n);
    } else {
        norm = LAPACKE_zlange(LAPACK_COL_MAJOR, '1', n, n, w.a, n);
        if (LAPACKE_zgetrf(LAPACK_COL_MAJOR, n, n, w.a, n, ipiv) == 0 &&
            LAPACKE_zgetri(LAPACK_COL_MAJOR, n, w.a, n, ipiv) == 0)
            of_inverse = LAPACKE_zlange(LAPACK_COL_MAJOR, '1', n, n, w.a, n);
    }
    free(ipiv);
    return isfinite(of_inverse) ? 1 / of_inverse / norm : 0;
}

static double lapack_qr(whole w)
{
    int m = (int)w.m, n = (int)w.n;
    double rcond = 0;
    void *tau = allocate((size_t)n * 16);
    if (w.prec == DAG_D) {
        LAPACKE_dgeqrf(LAPACK_COL_MAJOR, m, n, w.a, m, tau);
        LAPACKE_dtrcon(LAPACK_COL_MAJOR, '1', 'U', 'N', n, w.a, m, &rcond);
    } else {
        LAPACKE_zgeqrf(LAPACK_COL_MAJOR, m, n, w.a, m, tau);
        LAPACKE_ztrcon(LAPACK_COL_MAJOR, '1', 'U', 'N', n, w.a, m, &rcond);
    }
    free(tau);
    return rcond;
}

static double lapack_cholesky(whole w)
{
    int n = (int)w.n;
    double rcond = 0, norm;
    if (w.prec == DAG_D) {
        norm = LAPACKE_dlansy(LAPACK_COL_MAJOR, '1', 'L', n, w.a, n);
        if (LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', n, w.a, n) != 0)
            return -1;
        LAPACKE_dpocon(LAPACK_COL_MAJOR, 'L', n, w.a, n, norm, &rcond);
    } else {
        norm = LAPACKE_zlanhe(LAPACK_COL_MAJOR, '1', 'L', n, w.a, n);
        if (LAPACKE_zpotrf(LAPACK_COL_MAJOR, 'L', n, w.a, n) != 0)
            return -1;
        LAPACKE_zpocon(LAPACK_COL_MAJOR, 'L', n, w.a, n, norm, &rcond);
    }
    return rcond;
}

static double of_copy(whole w, double (*rcond)(whole))
{
    whole copy = whole_new(w.prec, w.m, w.n);
    memcpy(copy.a, w.a, (size_t)(w.m * w.n) * dag_precision_size(w.prec));
    double value = rcond(copy);
    free(copy.a);
    return value;
}

static conditions by_lapack(whole w, int positive)
{
    conditions c = {-1, -1, of_copy(w, lapack_qr), -1};
    if (w.m == w.n) {
        c.lu = of_copy(w, lapack_lu);
        c.inverse = of_copy(w, lapack_inverse);
    }
    if (positive)
        c.cholesky = of_copy(w, lapack_cholesky);
    return c;
}

/* ---- here ---------------------------------------------------------------------------------- */

/* From the factors, and from the inverse as the drivers do. */
static void by_lu(dag_context *ctx, whole w, int p, int q, conditions *c)
{
    double norm, of_inverse;
    int64_t info, *ipiv = allocate((size_t)w.n * sizeof(*ipiv));
    dag_matrix *A = distribute(ctx, w, p, q);
    must(ctx, dag_lange(ctx, DAG_NORM_ONE, A, &norm));
    must(ctx, dag_getrf(ctx, A, ipiv, &info));
    c->lu = c->inverse = 0;
    if (info == 0) {
        must(ctx, dag_gecon(ctx, DAG_NORM_ONE, A, ipiv, norm, &c->lu));
        must(ctx, dag_getri(ctx, A, ipiv, &info));
        must(ctx, dag_lange(ctx, DAG_NORM_ONE, A, &of_inverse));
        c->inverse = isfinite(of_inverse) ? 1 / of_inverse / norm : 0;
    }
    dag_matrix_free(A);
    free(ipiv);
}

static void by_cholesky(dag_context *ctx, whole w, int p, int q, conditions *c)
{
    double norm;
    int64_t info;
    dag_matrix *A = distribute(ctx, w, p, q);
    must(ctx, dag_lanhe(ctx, DAG_NORM_ONE, DAG_LOWER, A, &norm));
    must(ctx, dag_potrf(ctx, DAG_LOWER, A, &info));
    c->cholesky = -1;
    if (info == 0)
        must(ctx, dag_pocon(ctx, DAG_LOWER, A, norm, &c->cholesky));
    dag_matrix_free(A);
}

/* `turned`: of the adjoint, whose R is the same. */
static void by_qr(dag_context *ctx, whole w, int p, int q, int turned, conditions *c)
{
    double seconds = -1;
    int64_t info;
    whole t = whole_new(w.prec, turned ? w.n : w.m, turned ? w.m : w.n);
    for (int64_t j = 0; j < w.n; j++)
        for (int64_t i = 0; i < w.m; i++)
            whole_put(t, turned ? j : i, turned ? i : j,
                      turned ? __builtin_conj(whole_get(w, i, j)) : whole_get(w, i, j));
    dag_matrix *A = distribute(ctx, t, p, q);
    dag_matrix *B = matrix_of(ctx, (dag_matrix_desc){.prec = w.prec, .m = w.m, .n = 1, .mb = NB,
                                                     .nb = NB, .p = p, .q = q});
    must(ctx, dag_plrnt(ctx, B, 1));
    must(ctx, dag_gels_rcond(ctx, DAG_NO_TRANS, A, B, &c->qr, &seconds, &info));
    if (seconds < 0 || (info != 0 && c->qr != 0)) {
        failures++;
        fprintf(stderr, "gels_rcond: info %" PRId64 ", rcond %g, %g s\n", info, c->qr, seconds);
    }
    dag_matrix_free(A);
    dag_matrix_free(B);
    free(t.a);
}

/* ---- comparison ---------------------------------------------------------------------------- */

static void compare(const char *name, whole w, const char *of, double ours, double theirs)
{
    double eps = DBL_EPSILON / 2;
    if (ours < 0 && theirs < 0)
        return;
    if (getenv("CONDITIONS_PRINT") != NULL)
        printf("%-12s %c %3" PRId64 " x %3" PRId64 " %-8s rcond %9.3g, LAPACK's %9.3g\n", name,
               dag_precision_letter(w.prec), w.m, w.n, of, ours, theirs);
    int alike = theirs < eps || ours < eps ? (theirs < eps) == (ours < eps)
                                           : ours <= 10 * theirs && theirs <= 10 * ours;
    if (alike)
        return;
    failures++;
    fprintf(stderr, "%s, %c, %" PRId64 " x %" PRId64 ", %s: rcond is %g, LAPACK's %g\n", name,
            dag_precision_letter(w.prec), w.m, w.n, of, ours, theirs);
}

/* What the factors of a matrix are good for; where LU grows they are rounding. */
enum kind { PLAIN, POSITIVE, GROWS };

/* Takes w. */
static void check(dag_context *ctx, const char *name, enum kind kind, whole w)
{
    int positive = kind == POSITIVE;
    static const int grids[][2] = {{1, 1}, {1, 2}, {2, 2}, {2, 3}};
    for (size_t g = 0; g < sizeof(grids) / sizeof(grids[0]); g++) {
        int p = grids[g][0], q = grids[g][1];
        conditions d = {-1, -1, -1, -1};
        if (p * q != dag_size(ctx))
            continue;
        matrices++;
        if (w.m == w.n)
            by_lu(ctx, w, p, q, &d);
        if (positive)
            by_cholesky(ctx, w, p, q, &d);
        by_qr(ctx, w, p, q, matrices % 2, &d);
        if (dag_rank(ctx) != 0)
            continue;
        conditions l = by_lapack(w, positive);
        singular += l.qr < DBL_EPSILON / 2;
        if (kind != GROWS) {
            compare(name, w, "LU", d.lu, l.lu);
            compare(name, w, "inverse", d.inverse, l.inverse);
        }
        compare(name, w, "QR", d.qr, l.qr);
        compare(name, w, "Cholesky", d.cholesky, l.cholesky);
    }
    free(w.a);
}

/* ---- matrices ------------------------------------------------------------------------------ */

static void run(dag_context *ctx, dag_precision prec, int64_t n, int full)
{
    static const struct { const char *name; enum kind kind; int always; } kinds[] = {
        {"random", PLAIN, 0}, {"svd", PLAIN, 1}, {"spd", POSITIVE, 1}, {"hilbert", PLAIN, 1},
        {"lotkin", PLAIN, 0}, {"cauchy", PLAIN, 0}, {"parter", PLAIN, 0}, {"ris", PLAIN, 0},
        {"lehmer", POSITIVE, 1}, {"minij", POSITIVE, 0}, {"moler", PLAIN, 1}, {"kms", POSITIVE, 0},
        {"prolate", PLAIN, 1}, {"fiedler", PLAIN, 0}, {"frank", PLAIN, 0}, {"invhess", PLAIN, 0},
        {"kahan", PLAIN, 1}, {"triw", PLAIN, 1}, {"hadamard", PLAIN, 0}, {"house", PLAIN, 0},
        {"orthogonal", PLAIN, 0}, {"demmel", PLAIN, 1}, {"langou", PLAIN, 0},
        {"wilkinson", GROWS, 0}, {"gfpp", GROWS, 0}, {"foster", GROWS, 1}, {"wright", GROWS, 0},
        {"circulant", PLAIN, 0},
    };
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
        if (full || kinds[k].always)
            check(ctx, kinds[k].name, kinds[k].kind, of_kind(ctx, prec, kinds[k].name, n, n, 0));
    for (double cond = 1e3; cond < 1e14; cond *= full ? 1e3 : 1e9) {
        check(ctx, "svd", PLAIN, of_kind(ctx, prec, "svd", n, n, cond));
        check(ctx, "svd", PLAIN, of_kind(ctx, prec, "svd", n + 13, n, cond));
        check(ctx, "spd", POSITIVE, of_kind(ctx, prec, "spd", n, n, cond));
    }
    check(ctx, "equal rows", PLAIN, of_equal(ctx, prec, n, 1));
    check(ctx, "equal columns", PLAIN, of_equal(ctx, prec, n, 0));
    check(ctx, "low rank", PLAIN, of_rank(ctx, prec, n, n, n - 2));
    check(ctx, "low rank", PLAIN, of_rank(ctx, prec, n + 24, n, 3 * n / 4));
    check(ctx, "zeros", PLAIN, whole_new(prec, n, n));
    check(ctx, "zeros", PLAIN, whole_new(prec, n + 5, n));
}

int main(int argc, char **argv)
{
    int full = argc > 1 && strcmp(argv[1], "full") == 0;
    dag_context *ctx;
    if (dag_init(&ctx, NULL, NULL, 0) != DAG_SUCCESS)
        return 1;
    run(ctx, DAG_D, 57, full);
    run(ctx, DAG_Z, 33, full);
    if (full) {
        run(ctx, DAG_Z, 75, full);
        check(ctx, "low rank", PLAIN, of_rank(ctx, DAG_D, 200, 176, 128));
    }
    if (matrices == 0) {
        fprintf(stderr, "no grid has %d places\n", dag_size(ctx));
        failures++;
    }
    if (dag_rank(ctx) == 0)
        printf("%d matrices, %d of them singular to LAPACK, %d failures\n", matrices, singular,
               failures);
    dag_fini(ctx);
    return failures != 0;
}

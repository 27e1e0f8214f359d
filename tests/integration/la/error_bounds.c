/*
 * Error bounds and condition numbers: those of dag_gerfs(), dag_porfs(), dag_gecon() and
 * dag_pocon() beside what LAPACK's expert drivers (gesvx, posvx) say of the same system.
 *
 *     error_bounds              random and ill-conditioned matrices
 *     error_bounds FILE.mtx...  matrices from files; 77 when one is missing
 *
 * Solutions have to agree within both bounds, and with the true one where it is known. In single
 * precision only that is looked at.
 */
#include "matrices.h"

#include <dag/mtx.h>

#include <float.h>
#include <inttypes.h>
#include <lapacke.h>
#include <string.h>
#include <unistd.h>

enum { NRHS = 3 };
static int failures, cases;

typedef struct linear_system {
    dag_precision prec;
    int positive;       /* 1: Cholesky, of the lower triangle */
    whole a, b, exact;  /* exact.a == NULL: not known */
    const char *name;
} linear_system;

typedef struct answer {
    whole x;
    double ferr[NRHS], berr[NRHS], rcond;
    int64_t info;
} answer;

static void fail(const linear_system *s, dag_context *ctx, const char *what, double x)
{
    failures++;
    fprintf(stderr, "rank %d of %d: %s, n %" PRId64 ", %c, %s: %s (%g)\n", dag_rank(ctx),
            dag_size(ctx), s->name, s->a.n, dag_precision_letter(s->prec),
            s->positive ? "Cholesky" : "LU", what, x);
}

/* ---- LAPACK ------------------------------------------------------------------------------ */

static answer by_lapack(const linear_system *s)
{
    int n = (int)s->a.n;
    size_t item = dag_precision_size(s->prec), square = (size_t)n * (size_t)n * item;
    answer r = {.x = whole_new(s->prec, n, NRHS)};
    double *scale = allocate(2 * (size_t)n * sizeof(*scale)), growth;
    void *a = allocate(square), *f = allocate(square), *b = allocate((size_t)n * NRHS * item);
    lapack_int *pivot = allocate((size_t)n * sizeof(*pivot));
    char equed = 'N';
    memcpy(a, s->a.a, square);
    memcpy(b, s->b.a, (size_t)n * NRHS * item);
    if (s->positive && s->prec == DAG_D)
        r.info = LAPACKE_dposvx(LAPACK_COL_MAJOR, 'N', 'L', n, NRHS, a, n, f, n, &equed, scale, b, n,
                                r.x.a, n, &r.rcond, r.ferr, r.berr);
    else if (s->positive)
        r.info = LAPACKE_zposvx(LAPACK_COL_MAJOR, 'N', 'L', n, NRHS, a, n, f, n, &equed, scale, b, n,
                                r.x.a, n, &r.rcond, r.ferr, r.berr);
    else if (s->prec == DAG_D)
        r.info = LAPACKE_dgesvx(LAPACK_COL_MAJOR, 'N', 'N', n, NRHS, a, n, f, n, pivot, &equed, scale,
                                scale + n, b, n, r.x.a, n, &r.rcond, r.ferr, r.berr, &growth);
    else
        r.info = LAPACKE_zgesvx(LAPACK_COL_MAJOR, 'N', 'N', n, NRHS, a, n, f, n, pivot, &equed, scale,
                                scale + n, b, n, r.x.a, n, &r.rcond, r.ferr, r.berr, &growth);
    free(scale);
    free(a);
    free(f);
    free(b);
    free(pivot);
    return r;
}

/* ---- here -------------------------------------------------------------------------------- */

static dag_status positive(dag_context *ctx, dag_matrix *A, dag_matrix *F, dag_matrix *B,
                           dag_matrix *X, answer *r)
{
    double norm;
    dag_status status = dag_lanhe(ctx, DAG_NORM_ONE, DAG_LOWER, A, &norm);
    if (status == DAG_SUCCESS)
        status = dag_posv(ctx, DAG_LOWER, F, X, &r->info);
    if (status == DAG_SUCCESS && r->info == 0)
        status = dag_porfs(ctx, DAG_LOWER, A, F, B, X, r->ferr, r->berr);
    if (status == DAG_SUCCESS && r->info == 0)
        status = dag_pocon(ctx, DAG_LOWER, F, norm, &r->rcond);
    return status;
}

static dag_status general(dag_context *ctx, dag_matrix *A, dag_matrix *F, int64_t *ipiv,
                          dag_matrix *B, dag_matrix *X, answer *r)
{
    double norm;
    dag_status status = dag_lange(ctx, DAG_NORM_ONE, A, &norm);
    if (status == DAG_SUCCESS)
        status = dag_gesv(ctx, F, ipiv, X, &r->info);
    if (status == DAG_SUCCESS && r->info == 0)
        status = dag_gerfs(ctx, DAG_NO_TRANS, A, F, ipiv, B, X, r->ferr, r->berr);
    if (status == DAG_SUCCESS && r->info == 0)
        status = dag_gecon(ctx, DAG_NORM_ONE, F, ipiv, norm, &r->rcond);
    return status;
}

static answer by_dag(dag_context *ctx, const linear_system *s, int64_t nb, int p, int q)
{
    answer r = {.x = whole_new(s->prec, s->a.n, NRHS), .info = -1};
    dag_matrix_desc d = {.prec = s->prec, .m = s->a.n, .n = s->a.n, .mb = nb, .nb = nb, .p = p,
                         .q = q, .uplo = s->positive ? DAG_LOWER : DAG_GENERAL};
    dag_matrix *A = matrix_of(ctx, d), *F = matrix_of(ctx, d);
    d.n = NRHS;
    d.nb = 2;
    d.uplo = DAG_GENERAL;
    dag_matrix *B = matrix_of(ctx, d), *X = matrix_of(ctx, d);
    int64_t *ipiv = allocate((size_t)s->a.n * sizeof(*ipiv));
    fill_from(A, s->a);
    fill_from(F, s->a);
    fill_from(B, s->b);
    fill_from(X, s->b);
    dag_status status = s->positive ? positive(ctx, A, F, B, X, &r)
                                    : general(ctx, A, F, ipiv, B, X, &r);
    if (status == DAG_SUCCESS)
        status = dag_matrix_gather(X, r.x.a, s->a.n);
    if (status != DAG_SUCCESS) {
        fail(s, ctx, "no solution", status);
        fprintf(stderr, "    %s\n", dag_message(ctx));
    }
    dag_matrix_free(A);
    dag_matrix_free(F);
    dag_matrix_free(B);
    dag_matrix_free(X);
    free(ipiv);
    return r;
}

/* ---- comparison -------------------------------------------------------------------------- */

/* max |x - y| / max |x| in column j */
static double distance(whole x, whole y, int64_t j)
{
    double most = 0, off = 0;
    for (int64_t i = 0; i < x.m; i++) {
        most = fmax(most, __builtin_cabs(whole_get(x, i, j)));
        off = fmax(off, __builtin_cabs(whole_get(x, i, j) - whole_get(y, i, j)));
    }
    return off / most;
}

static int alike(double a, double b, double factor)
{
    return a <= factor * b && b <= factor * a;
}

static void compare(dag_context *ctx, const linear_system *s, int64_t nb, int p, int q)
{
    cases++;
    answer d = by_dag(ctx, s, nb, p, q);
    if (d.info != 0)
        fail(s, ctx, "info", (double)d.info);
    double eps = dag_precision_real(s->prec) == DAG_S ? FLT_EPSILON : DBL_EPSILON;
    for (int j = 0; j < NRHS && dag_rank(ctx) == 0; j++) { /* others have no solution */
        if (!(d.berr[j] <= 4 * eps))
            fail(s, ctx, "berr", d.berr[j]);
        if (s->exact.a != NULL && !(distance(d.x, s->exact, j) <= d.ferr[j]))
            fail(s, ctx, "ferr is below the error", d.ferr[j]);
        if (s->exact.a != NULL && !(d.ferr[j] < 0.1))
            fail(s, ctx, "ferr says nothing", d.ferr[j]);
    }
    if (dag_rank(ctx) == 0 && dag_precision_real(s->prec) == DAG_D) {
        answer l = by_lapack(s);
        if (l.info != 0 && l.info != s->a.n + 1) /* singular to working precision: as it is */
            fail(s, ctx, "LAPACK's info", (double)l.info);
        if (!alike(d.rcond, l.rcond, 3))
            fail(s, ctx, "rcond by LAPACK's", d.rcond / l.rcond);
        for (int j = 0; j < NRHS; j++) {
            double off = distance(l.x, d.x, j);
            if (!(off <= l.ferr[j] + d.ferr[j]))
                fail(s, ctx, "solutions differ by more than their bounds", off);
            if (!alike(d.ferr[j], l.ferr[j], 4))
                fail(s, ctx, "ferr by LAPACK's", d.ferr[j] / l.ferr[j]);
        }
        if (getenv("ERROR_BOUNDS_PRINT") != NULL)
            printf("%-10s n %5" PRId64 " %c rcond %8.2g (%8.2g) ferr %8.2g (%8.2g) differ %8.2g\n",
                   s->name, s->a.n, dag_precision_letter(s->prec), d.rcond, l.rcond, d.ferr[0],
                   l.ferr[0], distance(l.x, d.x, 0));
        free(l.x.a);
    }
    free(d.x.a);
}

/* ---- systems ----------------------------------------------------------------------------- */

static int64_t number(uint64_t *state, int64_t most)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)(*state >> 33) % (2 * most + 1) - most;
}

/* Small integers, so that b = A x holds without rounding. */
static linear_system of_integers(dag_precision prec, int triangle, int64_t n)
{
    linear_system s = {.prec = prec, .positive = triangle, .name = "integers",
                 .a = whole_new(prec, n, n), .b = whole_new(prec, n, NRHS),
                 .exact = whole_new(prec, n, NRHS)};
    uint64_t state = 7;
    int two = dag_precision_is_complex(prec);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = triangle ? j : 0; i < n; i++) {
            double re = (double)number(&state, 9), im = two ? (double)number(&state, 9) : 0;
            dag_dcomplex x = __builtin_complex(re, im);
            if (triangle && i == j)
                x = 14 * (double)n;
            whole_put(s.a, i, j, x);
            if (triangle && i != j)
                whole_put(s.a, j, i, __builtin_conj(x));
        }
    for (int64_t j = 0; j < NRHS; j++)
        for (int64_t i = 0; i < n; i++)
            whole_put(s.exact, i, j, (double)number(&state, 100));
    for (int64_t j = 0; j < NRHS; j++)
        for (int64_t i = 0; i < n; i++) {
            dag_dcomplex sum = 0;
            for (int64_t k = 0; k < n; k++)
                sum += whole_get(s.a, i, k) * whole_get(s.exact, k, j);
            whole_put(s.b, i, j, sum);
        }
    return s;
}

/* b: the row sums, and random numbers. */
static void make_b(linear_system *s)
{
    uint64_t state = 3;
    s->b = whole_new(s->prec, s->a.n, NRHS);
    for (int64_t i = 0; i < s->a.n; i++) {
        dag_dcomplex sum = 0;
        for (int64_t k = 0; k < s->a.n; k++)
            sum += whole_get(s->a, i, k);
        whole_put(s->b, i, 0, sum);
        for (int64_t j = 1; j < NRHS; j++)
            whole_put(s->b, i, j, (double)number(&state, 1000));
    }
}

static linear_system ill_conditioned(dag_context *ctx, dag_precision prec, int triangle, int64_t n)
{
    linear_system s = {.prec = prec, .positive = triangle, .name = triangle ? "spd" : "svd",
                 .a = whole_new(prec, n, n)};
    dag_maker *maker = NULL;
    const dag_maker_desc desc = {.kind = s.name, .m = n, .n = n, .cond = 1e9, .seed = 5,
                                 .is_complex = dag_precision_is_complex(prec)};
    if (dag_maker_new(ctx, &desc, &maker) != DAG_SUCCESS)
        abort();
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) {
            double x[2];
            dag_maker_element(maker, i, j, x);
            whole_put(s.a, i, j, __builtin_complex(x[0], x[1]));
        }
    dag_maker_free(maker);
    make_b(&s);
    return s;
}

static bool take(void *user, int64_t i, int64_t j, double re, double im)
{
    linear_system *s = user;
    whole_put(s->a, i, j, __builtin_complex(re, im));
    if (s->positive)
        whole_put(s->a, j, i, __builtin_complex(re, -im));
    return true;
}

/* false: the file is not there. Symmetric ones of the collection are positive definite. */
static int from_file(const char *path, linear_system *s)
{
    char error[DAG_MTX_ERRLEN];
    dag_mtx *file = NULL;
    const char *slash = strrchr(path, '/');
    if (access(path, R_OK) != 0)
        return 0;
    if (dag_mtx_open(path, &file, error) != DAG_MTX_OK) {
        fprintf(stderr, "%s\n", error);
        abort();
    }
    const dag_mtx_info *info = dag_mtx_get_info(file);
    *s = (linear_system){.prec = info->field == DAG_MTX_COMPLEX ? DAG_Z : DAG_D,
                   .positive = info->symmetry != DAG_MTX_GENERAL,
                   .name = slash != NULL ? slash + 1 : path};
    s->a = whole_new(s->prec, info->rows, info->cols);
    if (dag_mtx_each(file, take, s, error) != DAG_MTX_OK) {
        fprintf(stderr, "%s\n", error);
        abort();
    }
    dag_mtx_close(file);
    make_b(s);
    return 1;
}

static void run(dag_context *ctx, linear_system s, int64_t nb)
{
    static const int grids[][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {2, 3}, {3, 2}};
    for (size_t g = 0; g < sizeof(grids) / sizeof(grids[0]); g++)
        if (grids[g][0] * grids[g][1] == dag_size(ctx))
            compare(ctx, &s, nb, grids[g][0], grids[g][1]);
    free(s.a.a);
    free(s.b.a);
    free(s.exact.a);
}

static void refusals(dag_context *ctx)
{
    linear_system s = of_integers(DAG_D, 0, 3);
    dag_matrix *F = matrix_of(ctx, (dag_matrix_desc){.prec = DAG_D, .m = 3, .n = 3, .mb = 2, .nb = 2});
    int64_t ipiv[3] = {1, 2, 3};
    double rcond = -1;
    cases++;
    (void)dag_laset(ctx, DAG_GENERAL, 0, 0, F);
    if (dag_gecon(ctx, DAG_NORM_ONE, F, ipiv, 1, &rcond) != DAG_SUCCESS || rcond != 0)
        fail(&s, ctx, "rcond of zeros", rcond);
    if (dag_gecon(ctx, DAG_NORM_FRO, F, ipiv, 1, &rcond) != DAG_ERR_ARG ||
        dag_gecon(ctx, DAG_NORM_ONE, F, ipiv, -1, &rcond) != DAG_ERR_ARG ||
        dag_sgecon(ctx, DAG_NORM_ONE, F, ipiv, 1, &rcond) != DAG_ERR_ARG ||
        dag_pocon(ctx, DAG_GENERAL, F, 1, &rcond) != DAG_ERR_ARG)
        fail(&s, ctx, "arguments that mean nothing were taken", 0);
    dag_matrix_free(F);
    free(s.a.a);
    free(s.b.a);
    free(s.exact.a);
}

int main(int argc, char **argv)
{
    dag_context *ctx;
    int missing = 0;
    if (dag_init(&ctx, NULL, NULL, 0) != DAG_SUCCESS)
        return 1;
    for (int i = 1; i < argc; i++) {
        linear_system s;
        if (!from_file(argv[i], &s)) {
            missing++;
            continue;
        }
        int twice = s.positive;
        run(ctx, s, 64);
        if (twice && from_file(argv[i], &s)) {
            s.positive = 0;
            run(ctx, s, 64);
        }
    }
    for (int v = 0; v < 8 && argc == 1; v++) {
        dag_precision prec = (dag_precision)(v % 4);
        run(ctx, of_integers(prec, v / 4, 1), 16);
        run(ctx, of_integers(prec, v / 4, 77), 16);
        if (dag_precision_real(prec) == DAG_D)
            run(ctx, ill_conditioned(ctx, prec, v / 4, 60), 25);
    }
    if (argc == 1)
        refusals(ctx);
    if (cases == 0 && missing == 0) {
        fprintf(stderr, "no grid has %d places\n", dag_size(ctx));
        failures++;
    }
    if (dag_rank(ctx) == 0)
        printf("%d cases, %d failures, %d files missing\n", cases, failures, missing);
    dag_fini(ctx);
    return failures != 0 ? 1 : missing > 0 ? 77 : 0;
}

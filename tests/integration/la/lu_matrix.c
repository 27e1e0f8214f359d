/*
 * LU factorisation over shapes, tile sizes, grids, element types and storages.
 *
 *     lu_matrix [few|full]     few: tiles of one element only where the matrix is tiny
 *
 * One launch on R ranks runs every case whose grid has R places. Factors are gathered, multiplied
 * out in the plain way and compared with the rows of the original in the order of the pivots; these
 * are compared with LAPACK's, but those of a tournament only where it has one stack. Exchanges of
 * rows are made and undone, and made in factors that were left unexchanged. Matrices that are singular or hold a NaN end as in LAPACK, on all ranks
 * alike.
 */
#include <dag/kernels.h>
#include <dag/la.h>
#include <dag/lu.h>

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NSHAPES = 11, NTILES = 5, NGRIDS = 8, SEED = 17 };
static const int64_t shapes[NSHAPES][2] = {{0, 0},   {0, 5},    {5, 0},    {1, 1},     {7, 7},   {100, 100},
                                           {193, 193}, {300, 120}, {120, 300}, {257, 64}, {5, 400}};
static const int64_t tiles[NTILES] = {1, 16, 33, 64, 500};
static const int grids[NGRIDS][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {1, 4}, {2, 3}, {3, 2}, {6, 1}};

static int failures, cases;

typedef struct test_case {
    int64_t m, n, nb;
    int p, q;
    dag_precision prec;
    dag_layout layout;
    dag_lu_options options;
} test_case;

static void fail(dag_context *ctx, const test_case *c, const char *what, double x)
{
    failures++;
    fprintf(stderr, "rank %d: %" PRId64 " x %" PRId64 ", nb %" PRId64
            ", grid %dx%d, %c, %s, %s pivoting, stacks of %" PRId64 ": %s (%g)\n", dag_rank(ctx),
            c->m, c->n, c->nb, c->p, c->q, dag_precision_letter(c->prec),
            c->layout == DAG_LAYOUT_SLAB ? "slab" : "tile",
            c->options.pivoting == DAG_PIVOT_TOURNAMENT ? "tournament" : "partial",
            c->options.stack, what, x);
}

static int check(dag_context *ctx, const test_case *c, const char *what, dag_status status)
{
    if (status == DAG_SUCCESS)
        return 1;
    fail(ctx, c, what, status);
    fprintf(stderr, "    %s\n", dag_message(ctx));
    return 0;
}

static void get(dag_precision prec, const void *a, size_t at, double x[2])
{
    const float *f = a;
    const double *d = a;
    x[0] = dag_precision_real(prec) == DAG_S ? (prec == DAG_C ? f[2 * at] : f[at])
                                             : (prec == DAG_Z ? d[2 * at] : d[at]);
    x[1] = prec == DAG_C ? f[2 * at + 1] : prec == DAG_Z ? d[2 * at + 1] : 0;
}

static void original(const test_case *c, double bump, void *a)
{
    int m = (int)c->m, n = (int)c->n, ld = m > 0 ? m : 1;
    if (m == 0 || n == 0)
        return;
    switch (c->prec) {
    case DAG_S: dag_tile_splrnt((float)bump, m, n, a, ld, m, 0, 0, SEED); break;
    case DAG_D: dag_tile_dplrnt(bump, m, n, a, ld, m, 0, 0, SEED); break;
    case DAG_C: dag_tile_cplrnt((float)bump, m, n, a, ld, m, 0, 0, SEED); break;
    case DAG_Z: dag_tile_zplrnt(bump, m, n, a, ld, m, 0, 0, SEED); break;
    }
}

static int lapack(const test_case *c, void *a, int64_t *pivot)
{
    int m = (int)c->m, n = (int)c->n, ld = m > 0 ? m : 1;
    switch (c->prec) {
    case DAG_S: return dag_tile_sgetrf(m, n, a, ld, 1, pivot);
    case DAG_D: return dag_tile_dgetrf(m, n, a, ld, 1, pivot);
    case DAG_C: return dag_tile_cgetrf(m, n, a, ld, 1, pivot);
    case DAG_Z: return dag_tile_zgetrf(m, n, a, ld, 1, pivot);
    }
    return -1;
}

/* max |P A - L U| / (max |A| min(m, n) eps); rows of A are exchanged. */
static double plain_error(const test_case *c, const void *f, char *a, const int64_t *ipiv)
{
    size_t item = dag_precision_size(c->prec);
    int64_t rank = c->m < c->n ? c->m : c->n;
    double eps = dag_precision_real(c->prec) == DAG_S ? FLT_EPSILON : DBL_EPSILON;
    double worst = 0, largest = 0;
    for (int64_t i = 0; ipiv != NULL && i < rank; i++)
        for (int64_t j = 0; j < c->n && ipiv[i] != i + 1; j++) {
            char t[16], *x = a + (size_t)(i + j * c->m) * item;
            char *y = a + (size_t)(ipiv[i] - 1 + j * c->m) * item;
            memcpy(t, x, item);
            memcpy(x, y, item);
            memcpy(y, t, item);
        }
    for (int64_t j = 0; j < c->n; j++)
        for (int64_t i = 0; i < c->m; i++) {
            double sum[2], l[2], u[2];
            int64_t last = i < j ? i : j; /* L(i,k) U(k,j) for k = 0..last */
            get(c->prec, a, (size_t)(i + j * c->m), sum);
            largest = fmax(largest, hypot(sum[0], sum[1]));
            for (int64_t k = 0; k <= last && k < rank; k++) {
                get(c->prec, f, (size_t)(i + k * c->m), l);
                get(c->prec, f, (size_t)(k + j * c->m), u);
                if (k == i) {
                    l[0] = 1;
                    l[1] = 0;
                }
                sum[0] -= l[0] * u[0] - l[1] * u[1];
                sum[1] -= l[0] * u[1] + l[1] * u[0];
            }
            worst = fmax(worst, hypot(sum[0], sum[1]));
        }
    return rank == 0 ? 0 : worst / (largest * (double)rank * eps);
}

static dag_status make(dag_context *ctx, const test_case *c, double bump, dag_matrix **A)
{
    const dag_matrix_desc desc = {.prec = c->prec, .m = c->m, .n = c->n, .mb = c->nb, .nb = c->nb,
                                  .p = c->p, .q = c->q, .layout = c->layout, .name = "A"};
    dag_status status = dag_matrix_new(ctx, &desc, A);
    void *a = malloc((size_t)(c->m * c->n + 1) * 16);
    if (status == DAG_SUCCESS && a == NULL)
        status = DAG_ERR_NOMEM;
    if (status == DAG_SUCCESS) {
        original(c, bump, a);
        status = dag_matrix_scatter(*A, a, c->m > 0 ? c->m : 1);
    }
    free(a);
    return status;
}

static void judge(dag_context *ctx, const test_case *c, dag_matrix *A, double bump,
                  const int64_t *ipiv)
{
    char *f = malloc((size_t)(c->m * c->n + 1) * 16), *a = malloc((size_t)(c->m * c->n + 1) * 16);
    int64_t *expected = malloc((size_t)(c->m + 1) * sizeof(*expected));
    if (check(ctx, c, "gather", dag_matrix_gather(A, f, c->m > 0 ? c->m : 1)) &&
        dag_rank(ctx) == 0) {
        original(c, bump, a);
        double error = plain_error(c, f, a, ipiv);
        if (!(error < 30))
            fail(ctx, c, ipiv != NULL ? "getrf: error" : "getrf_nopiv: error", error);
        original(c, bump, a);
        int as_lapack = c->options.pivoting == DAG_PIVOT_PARTIAL ||
                        ((c->p == 1 || c->m <= c->nb) && c->options.stack == 0);
        if (ipiv != NULL && as_lapack && c->m > 0 && c->n > 0 && lapack(c, a, expected) == 0)
            for (int64_t i = 0; i < c->m && i < c->n; i++)
                if (ipiv[i] != expected[i]) {
                    fail(ctx, c, "another pivot than LAPACK's in row", (double)i);
                    break;
                }
    }
    free(f);
    free(a);
    free(expected);
}

/* Rows exchanged and back again: the matrix is what it was. */
static void exchange(dag_context *ctx, const test_case *c, const int64_t *ipiv)
{
    dag_matrix *A = NULL;
    int64_t k = c->m < c->n ? c->m : c->n;
    char *a = calloc((size_t)(c->m * c->n + 1), 16), *b = calloc((size_t)(c->m * c->n + 1), 16);
    int64_t ld = c->m > 0 ? c->m : 1;
    if (check(ctx, c, "make", make(ctx, c, 0, &A)) &&
        check(ctx, c, "laswp", dag_laswp(ctx, A, k, ipiv, 0)) &&
        check(ctx, c, "gather", dag_matrix_gather(A, a, ld)) &&
        check(ctx, c, "laswp backward", dag_laswp(ctx, A, k, ipiv, 1)) &&
        check(ctx, c, "gather", dag_matrix_gather(A, b, ld)) && dag_rank(ctx) == 0) {
        size_t item = dag_precision_size(c->prec);
        char *o = calloc((size_t)(c->m * c->n + 1), 16);
        original(c, 0, o);
        if (memcmp(b, o, (size_t)(c->m * c->n) * item) != 0)
            fail(ctx, c, "laswp and back changed the matrix", 0);
        for (int64_t i = 0; i < k; i++)
            for (int64_t j = 0; j < c->n; j++) {
                char t[16], *x = o + (size_t)(i + j * c->m) * item;
                char *y = o + (size_t)(ipiv[i] - 1 + j * c->m) * item;
                memcpy(t, x, item);
                memmove(x, y, item);
                memcpy(y, t, item);
            }
        if (memcmp(a, o, (size_t)(c->m * c->n) * item) != 0)
            fail(ctx, c, "laswp is not what the pivots say", 0);
        free(o);
    }
    dag_matrix_free(A);
    free(a);
    free(b);
}

/* With new factors. */
static int factor_and_solve(dag_context *ctx, const test_case *c, dag_matrix *B)
{
    dag_matrix *A = NULL;
    int64_t *ipiv = calloc((size_t)(c->m + 1), sizeof(*ipiv)), info = -1;
    int good = check(ctx, c, "make", make(ctx, c, 0, &A)) &&
               check(ctx, c, "gesv", dag_gesv_with(ctx, A, ipiv, B, &c->options, &info));
    if (good && info != 0)
        fail(ctx, c, "info of gesv", (double)info);
    dag_matrix_free(A);
    free(ipiv);
    return good;
}

/* op(A) X = B for the factors of A, or for A itself where F is NULL, judged by |B - op(A) X| against
 * |A| |X| max(n, 1) eps. */
static void solve(dag_context *ctx, const test_case *c, dag_matrix *F, const int64_t *ipiv,
                  dag_trans trans)
{
    bool many = c->nb % 2 != 0; /* block columns: two and more for each of six process columns, so that B stays */
    int n = (int)c->m, nrhs = many ? 13 : 3;
    dag_matrix *B = NULL;
    size_t item = dag_precision_size(c->prec);
    double eps = dag_precision_real(c->prec) == DAG_S ? FLT_EPSILON : DBL_EPSILON;
    const dag_matrix_desc desc = {.prec = c->prec, .m = n, .n = nrhs, .mb = c->nb,
                                  .nb = many ? 1 : nrhs, /* one block column: by groups */
                                  .p = c->p, .q = c->q, .layout = c->layout, .name = "B"};
    char *a = calloc((size_t)n * (size_t)n + 1, 16), *x = calloc((size_t)n * (size_t)nrhs + 1, item);
    if (check(ctx, c, "make", dag_matrix_new(ctx, &desc, &B)) &&
        check(ctx, c, "plrnt", dag_plrnt(ctx, B, 5))) {
        char *b = calloc((size_t)n * (size_t)nrhs + 1, item);
        if (check(ctx, c, "gather", dag_matrix_gather(B, b, n > 0 ? n : 1)) &&
            (F ? check(ctx, c, "getrs", dag_getrs(ctx, trans, F, ipiv, B)) : factor_and_solve(ctx, c, B)) &&
            check(ctx, c, "gather", dag_matrix_gather(B, x, n > 0 ? n : 1)) &&
            dag_rank(ctx) == 0) {
            double worst = 0, size = 0;
            original(c, 0, a);
            for (int j = 0; j < nrhs; j++)
                for (int i = 0; i < n; i++) {
                    double sum[2], e[2], y[2], scale = 0;
                    get(c->prec, b, (size_t)(i + j * n), sum);
                    for (int k = 0; k < n; k++) {
                        get(c->prec, a, (size_t)(trans == DAG_NO_TRANS ? i + k * n : k + i * n), e);
                        get(c->prec, x, (size_t)(k + j * n), y);
                        if (trans == DAG_CONJ_TRANS)
                            e[1] = -e[1];
                        sum[0] -= e[0] * y[0] - e[1] * y[1];
                        sum[1] -= e[0] * y[1] + e[1] * y[0];
                        scale += hypot(e[0], e[1]) * hypot(y[0], y[1]);
                    }
                    worst = fmax(worst, hypot(sum[0], sum[1]));
                    size = fmax(size, scale);
                }
            if (n > 0 && !(worst / (size * (double)n * eps) < 30))
                fail(ctx, c, F ? "getrs: error" : "gesv: error", worst / (size * (double)n * eps));
        }
        free(b);
    }
    dag_matrix_free(B);
    free(a);
    free(x);
}

/* Factors whose earlier block columns are not exchanged are F, once they are. */
static void leave(dag_context *ctx, test_case c, dag_matrix *F, const int64_t *ipiv)
{
    dag_matrix *A = NULL;
    size_t item = dag_precision_size(c.prec), bytes = (size_t)(c.m * c.n) * item;
    int64_t k = c.m < c.n ? c.m : c.n, ld = c.m > 0 ? c.m : 1, info = -1;
    int64_t *own = calloc((size_t)(k + 1), sizeof(*own));
    char *a = calloc(bytes + 1, 1), *f = calloc(bytes + 1, 1);
    c.options.unexchanged = 1;
    if (check(ctx, &c, "make", make(ctx, &c, 0, &A)) &&
        check(ctx, &c, "getrf, unexchanged", dag_getrf_with(ctx, A, own, &c.options, &info)) &&
        check(ctx, &c, "gather", dag_matrix_gather(A, a, ld)) &&
        check(ctx, &c, "gather", dag_matrix_gather(F, f, ld)) && dag_rank(ctx) == 0) {
        for (int64_t j = 0; j < c.n; j++)
            for (int64_t r = (j / c.nb + 1) * c.nb; r < k; r++) {
                char t[16], *x = a + (size_t)(r + j * c.m) * item;
                char *y = a + (size_t)(ipiv[r] - 1 + j * c.m) * item;
                memcpy(t, x, item);
                memmove(x, y, item);
                memcpy(y, t, item);
            }
        if (info != 0 || memcmp(own, ipiv, (size_t)k * sizeof(*own)) != 0)
            fail(ctx, &c, "other pivots where nothing is exchanged", (double)info);
        if (memcmp(a, f, bytes) != 0)
            fail(ctx, &c, "other factors where nothing is exchanged", 0);
    }
    dag_matrix_free(A);
    free(own);
    free(a);
    free(f);
}

static void run_case(dag_context *ctx, const test_case *c)
{
    dag_matrix *A = NULL;
    int64_t *ipiv = calloc((size_t)(c->m + 1), sizeof(*ipiv)), info = -1;
    cases++;
    if (check(ctx, c, "make", make(ctx, c, 0, &A)) &&
        check(ctx, c, "getrf", dag_getrf_with(ctx, A, ipiv, &c->options, &info))) {
        if (info != 0)
            fail(ctx, c, "info", (double)info);
        judge(ctx, c, A, 0, ipiv);
        exchange(ctx, c, ipiv);
        leave(ctx, *c, A, ipiv);
        if (c->m == c->n) {
            solve(ctx, c, A, ipiv, DAG_NO_TRANS);
            solve(ctx, c, A, ipiv, cases % 2 ? DAG_TRANS : DAG_CONJ_TRANS);
            solve(ctx, c, NULL, NULL, DAG_NO_TRANS);
        }
    }
    dag_matrix_free(A);
    free(ipiv);
}

static void run_nopiv(dag_context *ctx, const test_case *c)
{
    dag_matrix *A = NULL;
    int64_t info = -1;
    double bump = (double)(c->m + c->n);
    cases++;
    if (check(ctx, c, "make", make(ctx, c, bump, &A)) &&
        check(ctx, c, "getrf_nopiv", dag_getrf_nopiv(ctx, A, &info))) {
        if (info != 0)
            fail(ctx, c, "info without pivoting", (double)info);
        judge(ctx, c, A, bump, NULL);
    }
    dag_matrix_free(A);
}

/* Column `zero` is zero, or the element below its diagonal a NaN. */
static void run_odd(dag_context *ctx, const test_case *c, int64_t zero, int nan)
{
    dag_matrix *A = NULL;
    int64_t *ipiv = calloc((size_t)(c->m + 1), sizeof(*ipiv)), info = -1;
    double *a = calloc((size_t)(c->m * c->n + 1), sizeof(*a));
    cases++;
    if (!check(ctx, c, "make", make(ctx, c, 0, &A)))
        return;
    original(c, 0, a);
    if (nan)
        a[zero + 1 + zero * c->m] = NAN;
    else
        memset(a + zero * c->m, 0, (size_t)c->m * sizeof(*a));
    if (check(ctx, c, "scatter", dag_matrix_scatter(A, a, c->m)) &&
        check(ctx, c, "getrf", dag_getrf_with(ctx, A, ipiv, &c->options, &info))) {
        if (!nan && info != zero + 1)
            fail(ctx, c, "info of a singular matrix", (double)info);
        if (check(ctx, c, "gather", dag_matrix_gather(A, a, c->m)) && nan && dag_rank(ctx) == 0 &&
            !isnan(a[c->m * c->n - 1]))
            fail(ctx, c, "a NaN got lost", a[c->m * c->n - 1]);
    }
    dag_matrix_free(A);
    free(ipiv);
    free(a);
}

/* Few different rows, many columns that are zero or depend on others; all pivots are 1. */
static void low_rank(const test_case *c, double *a)
{
    for (int64_t j = 0; j < c->n; j++)
        for (int64_t i = 0; i < c->m; i++)
            a[i + j * c->m] = j % 3 == 1 && j / 3 % 11 >= i * i % 11;
}

/* One panel of four columns, the third one zero. The first stack throws a row away because of
 * row 1; then row 4 or 8, which another stack has, makes row 2 the second pivot, and row 1 must not
 * be wasted on the zero column. */
static void needed_row(const test_case *c, double *a)
{
    const double rows[5][4] = {{4, 0, 0, 0}, {0, 1, 0, 1}, {3, .75, 0, 0}, {0, 1, 0, 1},
                               {16, -4, 0, 0}};
    const int64_t place[5] = {0, 1, 2, c->p > 1 ? 4 * c->p : 4, c->p > 1 ? 4 : 8};
    for (int r = 0; r < 5; r++)
        for (int j = 0; j < 4; j++)
            a[place[r] + j * c->m] = rows[r][j];
}

/* Matrices of low rank, where it matters which rows a tournament throws away: P A = L U holds. */
static void run_deficient(dag_context *ctx, test_case c, void (*fill)(const test_case *, double *))
{
    dag_matrix *A = NULL;
    int64_t *ipiv = calloc((size_t)(c.m + 1), sizeof(*ipiv)), info = -1;
    int64_t *expected = calloc((size_t)(c.m + 1), sizeof(*expected));
    size_t size = (size_t)(c.m * c.n + 1);
    double *a = calloc(size, sizeof(*a)), *f = calloc(size, sizeof(*f));
    fill(&c, a);
    memcpy(f, a, size * sizeof(*a));
    int first = lapack(&c, f, expected);
    cases++;
    if (check(ctx, &c, "make", make(ctx, &c, 0, &A)) &&
        check(ctx, &c, "scatter", dag_matrix_scatter(A, a, c.m)) &&
        check(ctx, &c, "getrf", dag_getrf_with(ctx, A, ipiv, &c.options, &info)) &&
        check(ctx, &c, "gather", dag_matrix_gather(A, f, c.m))) {
        if (info != first)
            fail(ctx, &c, "info of a matrix of low rank", (double)info);
        double error = dag_rank(ctx) == 0 ? plain_error(&c, f, (char *)a, ipiv) : 0;
        if (!(error < 30))
            fail(ctx, &c, "error of a matrix of low rank", error);
    }
    dag_matrix_free(A);
    free(ipiv);
    free(expected);
    free(a);
    free(f);
}

static void refusals(dag_context *ctx)
{
    test_case c = {.m = 4, .n = 4, .nb = 2, .p = 1, .q = 1, .prec = DAG_D};
    dag_matrix *A = NULL;
    int64_t ipiv[4] = {1, 2, 3, 9}, info;
    cases++;
    if (!check(ctx, &c, "make", make(ctx, &c, 0, &A)))
        return;
    if (dag_sgetrf(ctx, A, ipiv, &info) != DAG_ERR_ARG)
        fail(ctx, &c, "a matrix of another element type was taken", 0);
    if (dag_getrf(ctx, A, dag_rank(ctx) == dag_size(ctx) - 1 ? NULL : ipiv, &info) != DAG_ERR_ARG)
        fail(ctx, &c, "no place for the pivots on one rank was taken", 0);
    if (dag_getrf_with(ctx, A, ipiv, &(dag_lu_options){.pivoting = (dag_pivoting)2}, &info) !=
            DAG_ERR_ARG ||
        dag_getrf_with(ctx, A, ipiv, &(dag_lu_options){.stack = -1}, &info) != DAG_ERR_ARG ||
        dag_getrf_with(ctx, A, ipiv, &(dag_lu_options){.exchanges = -1}, &info) != DAG_ERR_ARG ||
        dag_getrf_with(ctx, A, ipiv, &(dag_lu_options){.pieces = -1}, &info) != DAG_ERR_ARG ||
        dag_getrf_with(ctx, A, ipiv, &(dag_lu_options){.unexchanged = 2}, &info) != DAG_ERR_ARG ||
        dag_gesv_with(ctx, A, ipiv, A, &(dag_lu_options){.unexchanged = 1}, &info) != DAG_ERR_ARG)
        fail(ctx, &c, "options that mean nothing were taken", 0);
    ipiv[3] = 9;
    if (dag_laswp(ctx, A, 4, ipiv, 0) != DAG_ERR_ARG)
        fail(ctx, &c, "a pivot outside the matrix was taken", 0);
    dag_matrix_free(A);
}

int main(int argc, char **argv)
{
    int full = argc > 1 && strcmp(argv[1], "full") == 0, at = 0;
    int most = argc > 1 && strcmp(argv[1], "few") == 0 ? 100 : 10000; /* elements in tiles of one */
    dag_context *ctx;
    if (dag_init(&ctx, NULL, NULL, 0) != DAG_SUCCESS)
        return 1;
    for (int g = 0; g < NGRIDS; g++) {
        if (grids[g][0] * grids[g][1] != dag_size(ctx))
            continue;
        test_case c = {.p = grids[g][0], .q = grids[g][1]};
        for (int s = 0; s < NSHAPES; s++)
            for (int t = 0; t < NTILES; t++)
                for (int v = 0; v < 8; v++) {
                    c.m = shapes[s][0];
                    c.n = shapes[s][1];
                    c.nb = tiles[t];
                    c.prec = (dag_precision)(v % 4);
                    c.layout = v / 4 ? DAG_LAYOUT_SLAB : DAG_LAYOUT_TILE;
                    /* all pairs of (shape, tile), of (type, storage) and of each with each */
                    if ((c.nb == 1 && c.m * c.n > most) || (!full && (at++ + s + 3 * t) % 8 != 0))
                        continue;
                    c.options = (dag_lu_options){.lookahead = v % 3, .exchanges = (s + v) % 3, .pieces = (t + v) % 4};
                    run_case(ctx, &c);
                    run_nopiv(ctx, &c);
                    c.options.pivoting = DAG_PIVOT_TOURNAMENT;
                    c.options.stack = (s + t + v) % 3;
                    if (full || (s + v) % 2 == 0)
                        run_case(ctx, &c);
                }
        c = (test_case){.m = 130, .n = 130, .nb = 32, .p = c.p, .q = c.q, .prec = DAG_D,
                        .layout = DAG_LAYOUT_SLAB};
        for (int v = 0; v < 4; v++) { /* partial, and tournaments of few and of many stacks */
            c.options = (dag_lu_options){
                .pivoting = v > 0 ? DAG_PIVOT_TOURNAMENT : DAG_PIVOT_PARTIAL,
                .stack = v > 0 ? v - 1 : 0};
            for (int64_t zero = 0; zero < 129; zero += 43) {
                run_odd(ctx, &c, zero, 0);
                run_odd(ctx, &c, zero, 1);
            }
            run_deficient(ctx, c, low_rank);
        }
        c.m = 32;
        c.n = c.nb = 4;
        c.options = (dag_lu_options){.pivoting = DAG_PIVOT_TOURNAMENT, .stack = c.p > 1 ? 0 : 2};
        run_deficient(ctx, c, needed_row);
    }
    if (cases == 0) {
        fprintf(stderr, "no grid has %d places\n", dag_size(ctx));
        failures++;
    }
    refusals(ctx);
    if (dag_rank(ctx) == 0)
        printf("%d cases, %d failures\n", cases, failures);
    dag_fini(ctx);
    return failures != 0;
}

/*
 * Inverses over orders, tile sizes, grids, element types, triangles and storages.
 *
 *     inverse_matrix [few|full]     few: tiles of one element only where the matrix is tiny
 *
 * One launch on R ranks runs every case whose grid has R places. Results are gathered and
 * multiplied with the original in the plain way, on rank 0.
 */
#include "matrices.h"

#include <float.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NORDERS = 6, NTILES = 5, NGRIDS = 7 };
static const int64_t orders[NORDERS] = {0, 1, 7, 64, 100, 130};
static const int64_t tiles[NTILES] = {1, 9, 16, 33, 500};
static const int grids[NGRIDS][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {2, 3}, {3, 2}, {6, 1}};

static int failures, cases;

typedef struct test_case {
    int64_t n, nb;
    int p, q;
    dag_precision prec;
    dag_layout layout;
    dag_uplo uplo; /* DAG_GENERAL: getri */
} test_case;

static void fail(dag_context *ctx, const test_case *c, const char *what, double x)
{
    failures++;
    fprintf(stderr, "rank %d: n %" PRId64 ", nb %" PRId64 ", grid %dx%d, %c, %s, %s: %s (%g)\n",
            dag_rank(ctx), c->n, c->nb, c->p, c->q, dag_precision_letter(c->prec),
            c->layout == DAG_LAYOUT_SLAB ? "slab" : "tile",
            c->uplo == DAG_GENERAL ? "getri" : c->uplo == DAG_LOWER ? "lower" : "upper", what, x);
}

static int good(dag_context *ctx, const test_case *c, const char *what, dag_status status)
{
    if (status == DAG_SUCCESS)
        return 1;
    fail(ctx, c, what, status);
    fprintf(stderr, "    %s\n", dag_message(ctx));
    return 0;
}

static double random_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53 - 0.5;
}

/* Random; Hermitian and positive definite if a triangle is wanted. */
static whole original(const test_case *c)
{
    whole w = whole_new(c->prec, c->n, c->n);
    uint64_t state = 7;
    for (int64_t j = 0; j < c->n; j++)
        for (int64_t i = 0; i < c->n; i++) {
            double re = random_number(&state), im = random_number(&state);
            dag_dcomplex x = dag_precision_is_complex(c->prec) ? __builtin_complex(re, im) : re;
            if (c->uplo != DAG_GENERAL && i < j)
                continue;
            if (i == j)
                x = c->uplo == DAG_GENERAL ? x + 1 : (double)c->n;
            whole_put(w, i, j, x);
            if (c->uplo != DAG_GENERAL && i != j)
                whole_put(w, j, i, __builtin_conj(whole_get(w, i, j)));
        }
    return w;
}

/* Element (i, j) of a triangle as a whole matrix: Hermitian, or triangular. */
enum shape { WHOLE, HERMITIAN, TRIANGLE, UNIT_TRIANGLE };
static dag_dcomplex shaped(const test_case *c, whole w, enum shape s, int64_t i, int64_t j)
{
    int stored = s == WHOLE || i == j || (i > j) == (c->uplo == DAG_LOWER);
    if (s == UNIT_TRIANGLE && i == j)
        return 1;
    if (stored)
        return whole_get(w, i, j);
    return s == HERMITIAN ? __builtin_conj(whole_get(w, j, i)) : 0;
}

/* ||A X - I|| / (||A|| ||X|| n eps) in infinity norms. */
static double inverse_error(const test_case *c, whole a, whole x, enum shape s)
{
    double eps = dag_precision_real(c->prec) == DAG_S ? FLT_EPSILON : DBL_EPSILON;
    double norm[3] = {0, 0, 0};
    for (int64_t i = 0; i < c->n; i++) {
        double sum[3] = {0, 0, 0};
        for (int64_t j = 0; j < c->n; j++) {
            dag_dcomplex e = i == j ? -1 : 0;
            for (int64_t k = 0; k < c->n; k++)
                e += shaped(c, a, s, i, k) * shaped(c, x, s, k, j);
            sum[0] += __builtin_cabs(e);
            sum[1] += __builtin_cabs(shaped(c, a, s, i, j));
            sum[2] += __builtin_cabs(shaped(c, x, s, i, j));
        }
        for (int k = 0; k < 3; k++)
            norm[k] = sum[k] > norm[k] || isnan(sum[k]) ? sum[k] : norm[k];
    }
    return c->n == 0 ? 0 : norm[0] / (norm[1] * norm[2] * (double)c->n * eps);
}

static dag_matrix *distribute(dag_context *ctx, const test_case *c, whole w)
{
    dag_matrix *A = matrix_of(ctx, (dag_matrix_desc){.prec = c->prec, .m = c->n, .n = c->n,
                                                     .mb = c->nb, .nb = c->nb, .p = c->p, .q = c->q,
                                                     .layout = c->layout});
    fill_from(A, w);
    return A;
}

/* What has become of A is the inverse of `a`; the other triangle is as it was. */
static void judge(dag_context *ctx, const test_case *c, dag_matrix *A, whole a, enum shape s,
                  const char *what)
{
    whole x = whole_new(c->prec, c->n, c->n);
    if (good(ctx, c, "gather", dag_matrix_gather(A, x.a, c->n > 0 ? c->n : 1)) &&
        dag_rank(ctx) == 0) {
        double error = inverse_error(c, a, x, s);
        if (!(error < 30))
            fail(ctx, c, what, error);
        for (int64_t j = 0; s != WHOLE && j < c->n; j++)
            for (int64_t i = 0; i < c->n; i++)
                if (i != j && (i > j) != (c->uplo == DAG_LOWER) &&
                    whole_get(x, i, j) != whole_get(a, i, j))
                    fail(ctx, c, "the other triangle was written", (double)i);
    }
    free(x.a);
}

static void run_case(dag_context *ctx, const test_case *c)
{
    whole a = original(c);
    int64_t info = -1, *ipiv = allocate((size_t)c->n * sizeof(*ipiv));
    dag_matrix *A = distribute(ctx, c, a);
    cases++;
    if (c->uplo == DAG_GENERAL) {
        if (good(ctx, c, "getrf", dag_getrf(ctx, A, ipiv, NULL)) &&
            good(ctx, c, "getri", dag_getri(ctx, A, ipiv, &info)))
            judge(ctx, c, A, a, WHOLE, "getri: error");
    } else {
        if (good(ctx, c, "potrf", dag_potrf(ctx, c->uplo, A, NULL)) &&
            good(ctx, c, "potri", dag_potri(ctx, c->uplo, A, &info)))
            judge(ctx, c, A, a, HERMITIAN, "potri: error");
        fill_from(A, a);
        dag_diag diag = cases % 2 ? DAG_UNIT : DAG_NON_UNIT;
        for (int64_t j = 0; diag == DAG_UNIT && j < c->n; j++) /* to keep the inverse small */
            for (int64_t i = 0; i < c->n; i++)
                whole_put(a, i, j, whole_get(a, i, j) / (double)c->n);
        fill_from(A, a);
        if (good(ctx, c, "trtri", dag_trtri(ctx, c->uplo, diag, A, &info)))
            judge(ctx, c, A, a, diag == DAG_UNIT ? UNIT_TRIANGLE : TRIANGLE, "trtri: error");
    }
    if (info != 0)
        fail(ctx, c, "info", (double)info);
    dag_matrix_free(A);
    free(ipiv);
    free(a.a);
}

/* A zero on the diagonal is found and nothing changed; a NaN reaches the result. */
static void run_odd(dag_context *ctx, const test_case *c)
{
    whole a = original(c);
    int64_t info = -1, k = c->n / 2, *ipiv = allocate((size_t)c->n * sizeof(*ipiv));
    for (int64_t i = 0; i < c->n; i++)
        ipiv[i] = i + 1;
    dag_matrix *A = distribute(ctx, c, a);
    cases++;
    whole_put(a, k, k, 0);
    whole_put(a, c->n - 1, c->n - 1, 0);
    fill_from(A, a);
    dag_status status = c->uplo == DAG_GENERAL ? dag_getri(ctx, A, ipiv, &info)
                                               : dag_potri(ctx, c->uplo, A, &info);
    if (good(ctx, c, "singular", status) && info != k + 1)
        fail(ctx, c, "info of a singular matrix", (double)info);
    if (difference_from(A, a) != 0)
        fail(ctx, c, "a singular matrix was changed", 0);
    whole_put(a, k, k, NAN);
    whole_put(a, c->n - 1, c->n - 1, 1);
    fill_from(A, a);
    status = c->uplo == DAG_GENERAL ? dag_getri(ctx, A, ipiv, &info)
                                    : dag_potri(ctx, c->uplo, A, &info);
    whole x = whole_new(c->prec, c->n, c->n);
    if (good(ctx, c, "NaN", status) && good(ctx, c, "gather", dag_matrix_gather(A, x.a, c->n)) &&
        dag_rank(ctx) == 0 && (info != 0 || !isnan(__builtin_cabs(whole_get(x, k, k)))))
        fail(ctx, c, "a NaN got lost", (double)info);
    free(x.a);
    dag_matrix_free(A);
    free(ipiv);
    free(a.a);
}

static void refusals(dag_context *ctx)
{
    test_case c = {.n = 4, .nb = 2, .p = 1, .q = 1, .prec = DAG_D, .uplo = DAG_LOWER};
    whole a = original(&c);
    dag_matrix *A = distribute(ctx, &c, a);
    int64_t ipiv[4] = {1, 2, 3, 4}, info;
    cases++;
    if (dag_spotri(ctx, DAG_LOWER, A, &info) != DAG_ERR_ARG)
        fail(ctx, &c, "a matrix of another element type was taken", 0);
    if (dag_trtri(ctx, DAG_GENERAL, DAG_UNIT, A, &info) != DAG_ERR_ARG)
        fail(ctx, &c, "no triangle was taken", 0);
    if (dag_getri(ctx, A, dag_rank(ctx) == dag_size(ctx) - 1 ? NULL : ipiv, &info) != DAG_ERR_ARG)
        fail(ctx, &c, "no pivots on one rank were taken", 0);
    ipiv[1] = 1;
    if (dag_getri(ctx, A, ipiv, &info) != DAG_ERR_ARG)
        fail(ctx, &c, "a pivot above its row was taken", 0);
    dag_matrix_free(A);
    free(a.a);
}

/* A user's array, behind which nothing may be read. */
static void at_the_edge(dag_context *ctx, const test_case *c)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t bytes = (size_t)(c->n * c->n) * dag_precision_size(c->prec), room = (bytes + page - 1) / page * page;
    char *pages = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + room, page, PROT_NONE) != 0)
        abort();
    whole a = original(c);
    int64_t info = -1, *ipiv = allocate((size_t)c->n * sizeof(*ipiv));
    dag_matrix *A = matrix_of(ctx, (dag_matrix_desc){.prec = c->prec, .m = c->n, .n = c->n, .mb = c->nb,
                                                     .nb = c->nb, .p = 1, .q = 1, .layout = DAG_LAYOUT_SLAB,
                                                     .local = pages + room - bytes, .lld = c->n});
    fill_from(A, a);
    cases++;
    if (c->uplo == DAG_GENERAL) {
        if (good(ctx, c, "getrf at the edge", dag_getrf(ctx, A, ipiv, NULL)) &&
            good(ctx, c, "getri at the edge", dag_getri(ctx, A, ipiv, &info)))
            judge(ctx, c, A, a, WHOLE, "getri at the edge: error");
    } else if (good(ctx, c, "potrf at the edge", dag_potrf(ctx, c->uplo, A, NULL)) &&
               good(ctx, c, "potri at the edge", dag_potri(ctx, c->uplo, A, &info))) {
        judge(ctx, c, A, a, HERMITIAN, "potri at the edge: error");
    }
    dag_matrix_free(A);
    free(ipiv);
    free(a.a);
    munmap(pages, room + page);
}

static void run_grid(dag_context *ctx, int p, int q, int full, int64_t most)
{
    static const dag_uplo kinds[3] = {DAG_GENERAL, DAG_LOWER, DAG_UPPER};
    int at = 0;
    test_case c = {.p = p, .q = q};
    for (int s = 0; s < NORDERS; s++)
        for (int t = 0; t < NTILES; t++)
            for (int v = 0; v < 24; v++) {
                c.n = orders[s];
                c.nb = tiles[t];
                c.prec = (dag_precision)(v % 4);
                c.layout = v / 4 % 2 ? DAG_LAYOUT_SLAB : DAG_LAYOUT_TILE;
                c.uplo = kinds[v / 8];
                if ((c.nb == 1 && c.n > most) || (!full && (at++ + s + 5 * t) % 11 != 0))
                    continue;
                run_case(ctx, &c);
            }
    c = (test_case){.n = 50, .nb = 16, .p = p, .q = q};
    for (int v = 0; v < 6; v++) {
        c.prec = v % 2 ? DAG_C : DAG_D;
        c.uplo = kinds[v / 2];
        run_odd(ctx, &c);
    }
}

int main(int argc, char **argv)
{
    int full = argc > 1 && strcmp(argv[1], "full") == 0;
    int64_t most = argc > 1 && strcmp(argv[1], "few") == 0 ? 7 : 64; /* order, of tiles of one */
    dag_context *ctx;
    if (dag_init(&ctx, NULL, NULL, 0) != DAG_SUCCESS)
        return 1;
    for (int g = 0; g < NGRIDS; g++)
        if (grids[g][0] * grids[g][1] == dag_size(ctx))
            run_grid(ctx, grids[g][0], grids[g][1], full, most);
    if (cases == 0) {
        fprintf(stderr, "no grid has %d places\n", dag_size(ctx));
        failures++;
    }
    refusals(ctx);
    for (int v = 0; dag_size(ctx) == 1 && v < 36; v++)
        at_the_edge(ctx, &(test_case){.n = (int64_t[]){3, 40, 90}[v / 12], .nb = 32, .p = 1, .q = 1,
                                      .prec = (dag_precision)(v % 4), .layout = DAG_LAYOUT_SLAB,
                                      .uplo = (dag_uplo[]){DAG_GENERAL, DAG_LOWER, DAG_UPPER}[v / 4 % 3]});
    if (dag_rank(ctx) == 0)
        printf("%d cases, %d failures\n", cases, failures);
    dag_fini(ctx);
    return failures != 0;
}

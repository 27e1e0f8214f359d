/*
 * Cholesky over the product of orders, tile sizes, grids, element types, triangles and storages.
 *
 *     potrf_matrix [pairs|full|small]
 *
 * One launch on R ranks runs every case whose grid has R places: all of them (full), a subset in
 * which every pair of values of two factors occurs (pairs, the default), or that subset of the
 * small orders (small). Each case is judged by its backward error. Up to order 200 the factor is
 * also gathered and multiplied out in the plain way; tiles outside of the triangle must keep what
 * they had.
 */
#include <dag/kernels.h>
#include <dag/la.h>

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NORDERS = 9, NTILES = 4, NGRIDS = 7, NFACTORS = 6, GATHER_UP_TO = 200, SMALL = 200 };
static const int64_t orders[NORDERS] = {0, 1, 7, 100, 191, 192, 193, 1000, 2000};
static const int64_t tiles[NTILES] = {1, 64, 192, 256};
static const int grids[NGRIDS][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {2, 3}, {3, 2}, {1, 6}};

/* Factors in this order: order, tile, grid, type, triangle, storage. */
static const int values[NFACTORS] = {NORDERS, NTILES, NGRIDS, 4, 2, 2};

typedef struct test_case {
    int at[NFACTORS];
} test_case;

static int is_valid(const test_case *c, int ranks, int64_t largest)
{
    int64_t n = orders[c->at[0]], nb = tiles[c->at[1]];
    return grids[c->at[2]][0] * grids[c->at[2]][1] == ranks && (nb > 1 || n <= 100) && n <= largest;
}

/* ---- which cases ------------------------------------------------------------------------- */

static int enumerate(test_case *cases, int ranks, int64_t largest)
{
    int count = 0, product = 1;
    for (int f = 0; f < NFACTORS; f++)
        product *= values[f];
    for (int k = 0; k < product; k++) {
        test_case c;
        for (int f = NFACTORS - 1, rest = k; f >= 0; f--) {
            c.at[f] = rest % values[f];
            rest /= values[f];
        }
        if (is_valid(&c, ranks, largest))
            cases[count++] = c;
    }
    return count;
}

/* Pairs of (factor, value) that a case has and that `seen` lacks; marks them if asked. */
static int new_pairs(const test_case *c, char seen[32][32], int mark)
{
    int count = 0, id[NFACTORS], first = 0;
    for (int f = 0; f < NFACTORS; first += values[f++])
        id[f] = first + c->at[f];
    for (int f = 0; f < NFACTORS; f++)
        for (int g = f + 1; g < NFACTORS; g++) {
            count += !seen[id[f]][id[g]];
            if (mark)
                seen[id[f]][id[g]] = 1;
        }
    return count;
}

/* Greedy: always the case with most new pairs. Moves the chosen ones to the front. */
static int choose_pairs(test_case *cases, int count)
{
    char seen[32][32] = {{0}};
    int chosen = 0;
    for (;;) {
        int best = -1, most = 0;
        for (int k = chosen; k < count; k++) {
            int pairs = new_pairs(&cases[k], seen, 0);
            if (pairs > most) {
                most = pairs;
                best = k;
            }
        }
        if (best < 0)
            return chosen;
        new_pairs(&cases[best], seen, 1);
        test_case c = cases[best];
        cases[best] = cases[chosen];
        cases[chosen++] = c;
    }
}

/* ---- one case ---------------------------------------------------------------------------- */

static void get(dag_precision prec, const void *a, size_t at, double x[2])
{
    const float *f = a;
    const double *d = a;
    x[0] = dag_precision_real(prec) == DAG_S ? (prec == DAG_C ? f[2 * at] : f[at])
                                             : (prec == DAG_Z ? d[2 * at] : d[at]);
    x[1] = prec == DAG_C ? f[2 * at + 1] : prec == DAG_Z ? d[2 * at + 1] : 0;
}

static void original(dag_precision prec, int64_t n, void *a)
{
    int m = (int)n;
    if (n == 0)
        return;
    switch (prec) {
    case DAG_S: dag_tile_splghe((float)n, m, m, a, m, n, 0, 0, 3); break;
    case DAG_D: dag_tile_dplghe((double)n, m, m, a, m, n, 0, 0, 3); break;
    case DAG_C: dag_tile_cplghe((float)n, m, m, a, m, n, 0, 0, 3); break;
    case DAG_Z: dag_tile_zplghe((double)n, m, m, a, m, n, 0, 0, 3); break;
    }
}

/* max |A - L L^H| / (max |A| n eps), element by element, and the other triangle against A. */
static double plain_error(dag_precision prec, dag_uplo uplo, int64_t n, const void *f,
                          const void *a, int other_is_kept)
{
    double eps = dag_precision_real(prec) == DAG_S ? FLT_EPSILON : DBL_EPSILON;
    double worst = 0, largest = 0;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++) {
            double x[2], y[2], sum[2];
            /* entry (i, j) of the lower triangle: from column vectors of L, or of U^H */
            int64_t row = uplo == DAG_LOWER ? i : j, col = uplo == DAG_LOWER ? j : i;
            get(prec, a, (size_t)(row + col * n), sum);
            largest = fmax(largest, hypot(sum[0], sum[1]));
            for (int64_t k = 0; k <= j; k++) {
                get(prec, f, (size_t)(uplo == DAG_LOWER ? row + k * n : k + row * n), x);
                get(prec, f, (size_t)(uplo == DAG_LOWER ? col + k * n : k + col * n), y);
                /* L(row,k) conj(L(col,k)), or conj(U(k,row)) U(k,col) */
                double sign = uplo == DAG_LOWER ? 1 : -1;
                sum[0] -= x[0] * y[0] + x[1] * y[1];
                sum[1] -= sign * (x[1] * y[0] - x[0] * y[1]);
            }
            worst = fmax(worst, hypot(sum[0], sum[1]));
            get(prec, f, (size_t)(col + row * n), x);
            get(prec, a, (size_t)(col + row * n), y);
            if (other_is_kept && i != j && (x[0] != y[0] || x[1] != y[1]))
                return INFINITY;
        }
    return n == 0 ? 0 : worst / (largest * (double)n * eps);
}

static dag_status multiply_out(dag_context *ctx, dag_matrix *factor, dag_uplo uplo, double *error)
{
    int64_t n = factor->n, ld = n > 0 ? n : 1;
    size_t bytes = (size_t)(ld * ld) * dag_precision_size(factor->prec);
    void *f = NULL, *a = NULL;
    if (dag_rank(ctx) == 0) {
        f = calloc(1, bytes);
        a = calloc(1, bytes);
        if (f == NULL || a == NULL)
            abort();
    }
    dag_status status = dag_matrix_gather(factor, f, ld);
    if (status == DAG_SUCCESS && dag_rank(ctx) == 0) {
        original(factor->prec, n, a);
        *error = plain_error(factor->prec, uplo, n, f, a, factor->uplo == DAG_GENERAL);
    }
    free(f);
    free(a);
    return status;
}

static dag_status factor(dag_context *ctx, const test_case *c, double *residual, double *plain)
{
    /* In slab storage the whole matrix exists, as in LAPACK. */
    dag_layout layout = c->at[5] == 0 ? DAG_LAYOUT_TILE : DAG_LAYOUT_SLAB;
    dag_uplo uplo = c->at[4] == 0 ? DAG_LOWER : DAG_UPPER;
    const dag_matrix_desc desc = {.prec = (dag_precision)c->at[3], .m = orders[c->at[0]],
                                  .n = orders[c->at[0]], .nb = tiles[c->at[1]],
                                  .p = grids[c->at[2]][0], .q = grids[c->at[2]][1],
                                  .layout = layout,
                                  .uplo = layout == DAG_LAYOUT_TILE ? uplo : DAG_GENERAL};
    dag_matrix *f = NULL, *a = NULL;
    int64_t info = -1;
    dag_status status = dag_matrix_new(ctx, &desc, &f);
    if (status == DAG_SUCCESS)
        status = dag_matrix_new(ctx, &desc, &a);
    if (status == DAG_SUCCESS)
        status = dag_plghe(ctx, f, (double)desc.n, 3);
    if (status == DAG_SUCCESS)
        status = dag_plghe(ctx, a, (double)desc.n, 3);
    if (status == DAG_SUCCESS)
        status = dag_potrf(ctx, uplo, f, &info);
    if (status == DAG_SUCCESS)
        status = dag_potrf_residual(ctx, uplo, f, a, residual);
    if (status == DAG_SUCCESS && desc.n <= GATHER_UP_TO)
        status = multiply_out(ctx, f, uplo, plain);
    if (info != 0)
        *residual = INFINITY;
    dag_matrix_free(f);
    dag_matrix_free(a);
    return status;
}

/* 1 when the case failed. */
static int run(dag_context *ctx, const test_case *c)
{
    double residual = NAN, plain = 0;
    dag_status status = factor(ctx, c, &residual, &plain);
    int failed = status != DAG_SUCCESS || !(residual <= DAG_POTRF_BOUND) ||
                 !(plain <= DAG_POTRF_BOUND);
    if (failed)
        fprintf(stderr, "potrf_matrix: rank %d: n %" PRId64 " nb %" PRId64 " grid %dx%d prec %c %s "
                "%s: %s %s, residual %g, multiplied out %g\n",
                dag_rank(ctx), orders[c->at[0]], tiles[c->at[1]], grids[c->at[2]][0],
                grids[c->at[2]][1], dag_precision_letter((dag_precision)c->at[3]),
                c->at[4] == 0 ? "lower" : "upper", c->at[5] == 0 ? "tile" : "slab",
                dag_strerror(status), dag_message(ctx), residual, plain);
    return failed;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "pairs";
    dag_context *ctx;
    char why[256];
    test_case *cases = malloc(sizeof(*cases) * NORDERS * NTILES * NGRIDS * 16);
    dag_kernels_init(NULL);
    if (cases == NULL || dag_init(&ctx, NULL, why, sizeof(why)) != DAG_SUCCESS) {
        fprintf(stderr, "potrf_matrix: %s\n", why);
        return 1;
    }
    int count = enumerate(cases, dag_size(ctx),
                          strcmp(what, "small") == 0 ? SMALL : orders[NORDERS - 1]);
    if (strcmp(what, "full") != 0)
        count = choose_pairs(cases, count);
    int failed = count == 0; /* no grid has so many places: nothing would be tested */
    for (int k = 0; k < count; k++)
        failed += run(ctx, &cases[k]);
    if (dag_rank(ctx) == 0)
        printf("potrf_matrix: %d cases (%s) on %d ranks, %d failed\n", count, what, dag_size(ctx),
               failed);
    free(cases);
    return dag_fini(ctx) != DAG_SUCCESS || failed != 0;
}

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
#include "pairs.h"
#include "potrf_plain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NORDERS = 9, NTILES = 4, NGRIDS = 7, GATHER_UP_TO = 200, SMALL = 200 };
static const int64_t orders[NORDERS] = {0, 1, 7, 100, 191, 192, 193, 1000, 2000};
static const int64_t tiles[NTILES] = {1, 64, 192, 256};
static const int grids[NGRIDS][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {2, 3}, {3, 2}, {1, 6}};

/* Factors in this order: order, tile, grid, type, triangle, storage. */
static const factors all = {6, {NORDERS, NTILES, NGRIDS, 4, 2, 2}};

/* ---- which cases ------------------------------------------------------------------------- */

typedef struct limits {
    int ranks;
    int64_t largest;
} limits;

static bool is_valid(const test_case *c, const void *arg)
{
    const limits *l = arg;
    int64_t n = orders[c->at[0]], nb = tiles[c->at[1]];
    return grids[c->at[2]][0] * grids[c->at[2]][1] == l->ranks && (nb > 1 || n <= 100) &&
           n <= l->largest;
}

/* ---- one case ---------------------------------------------------------------------------- */

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
    test_case *cases = malloc(sizeof(*cases) * (size_t)pairs_product(&all));
    dag_kernels_init(NULL);
    if (cases == NULL || dag_init(&ctx, NULL, why, sizeof(why)) != DAG_SUCCESS) {
        fprintf(stderr, "potrf_matrix: %s\n", why);
        return 1;
    }
    const limits l = {dag_size(ctx), strcmp(what, "small") == 0 ? SMALL : orders[NORDERS - 1]};
    int count = pairs_enumerate(&all, cases, is_valid, &l);
    if (strcmp(what, "full") != 0)
        count = pairs_choose(&all, cases, count);
    int failed = count == 0; /* no grid has so many places: nothing would be tested */
    for (int k = 0; k < count; k++)
        failed += run(ctx, &cases[k]);
    if (dag_rank(ctx) == 0)
        printf("potrf_matrix: %d cases (%s) on %d ranks, %d failed\n", count, what, dag_size(ctx),
               failed);
    free(cases);
    return dag_fini(ctx) != DAG_SUCCESS || failed != 0;
}

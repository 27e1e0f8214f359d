/*
 * Products by tiles of two sizes: shapes, numbers and widths of narrow tiles, tile sizes, grids, element types,
 * transpositions.
 *
 *     split_product [pairs|full|few] [cost|static] [tight]
 *
 * The words are those of split_matrix. A product is made by the graph and by the program that inserts the same
 * tasks, and both are compared with one that rank 0 makes of the gathered matrices; where all tasks run on the same
 * processors they are the same bit by bit. With devices and static placement the tasks that each device ran are
 * counted against the rule.
 */
#include "same_tile.h"
#include "split_cases.h"

#include <dag/blas3.h>
#include <dag/inserted.h>
#include <dag/kernels.h>
#include <dag/la.h>

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { NSHAPES = 6, NTILES = 5 };
/* Rows and columns of C, and the terms of each sum. */
static const int64_t shapes[NSHAPES][3] = {{1, 1, 1},   {41, 97, 23},    {97, 1, 60},
                                           {64, 64, 99}, {150, 331, 70}, {331, 200, 613}};
static const int grids[NGRIDS][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {2, 3}, {1, 4}};
static const dag_trans ways[3] = {DAG_NO_TRANS, DAG_TRANS, DAG_CONJ_TRANS};

/* Shape, narrow tiles, their width, tile, grid, type, op(A), op(B). */
static const factors all = {8, {NSHAPES, MOST + 1, NWIDTHS, NTILES, NGRIDS, 4, 3, 3}};

static int64_t tile(const test_case *c)
{
    int64_t narrow = narrow_tiles(c);
    const int64_t sizes[NTILES] = {narrow, narrow + 1, 48, 256, 960};
    return sizes[c->at[TILE]];
}

static int64_t largest(const test_case *c)
{
    const int64_t *s = shapes[c->at[SHAPE]];
    int64_t most = s[0] > s[1] ? s[0] : s[1];
    return most > s[2] ? most : s[2];
}

static bool is_valid(const test_case *c, const void *arg)
{
    return split_fits(c, arg, grids[c->at[GRID]], tile(c), largest(c), 41);
}

/* ---- one case ---------------------------------------------------------------------------- */

/* A, B, C, and C once more. */
enum { A, B, C, INSERTED, COUNT };

static dag_status make(dag_context *ctx, const test_case *c, dag_matrix *of[COUNT])
{
    const int64_t *s = shapes[c->at[SHAPE]];
    bool ta = c->at[6] > 0, tb = c->at[7] > 0;
    const int64_t sizes[COUNT][2] = {{ta ? s[2] : s[0], ta ? s[0] : s[2]},
                                     {tb ? s[1] : s[2], tb ? s[2] : s[1]},
                                     {s[0], s[1]}, {s[0], s[1]}};
    dag_status status = DAG_SUCCESS;
    for (int i = 0; i < COUNT && status == DAG_SUCCESS; i++) {
        const dag_matrix_desc desc = {.prec = (dag_precision)c->at[PREC], .m = sizes[i][0],
                                      .n = sizes[i][1], .nb = tile(c), .p = grids[c->at[GRID]][0],
                                      .q = grids[c->at[GRID]][1],
                                      .layout = c->at[SHAPE] % 2 ? DAG_LAYOUT_SLAB : DAG_LAYOUT_TILE};
        status = dag_matrix_new(ctx, &desc, &of[i]);
        if (status == DAG_SUCCESS)
            status = dag_plrnt(ctx, of[i], (uint64_t)(i < INSERTED ? i : C) + 7);
    }
    return status;
}

/* What the rule says of the tasks that make columns d >= s of a tile of C: one for each step. */
static bool ran_at_home(const dag_context *ctx, const test_case *c, const dag_matrix *X, int64_t steps,
                        const int64_t *before)
{
    int64_t s = c->at[NARROW], b = widths[c->at[WIDTH]];
    bool right = true;
    for (int device = 0; device < dag_devices(ctx); device++) {
        int64_t want = 0, did = split_ran(ctx, device) - before[device];
        for (int64_t j = 0; j < X->nt; j++) {
            int64_t width = j + 1 < X->nt ? X->nb : X->n - j * X->nb;
            for (int64_t i = 0; i < X->mt && width > s * b && j / X->q % dag_devices(ctx) == device; i++)
                want += dag_matrix_is_local(X, i, j) ? steps : 0;
        }
        if (did != want)
            fprintf(stderr, "split_product: device %d ran %" PRId64 " tasks, not %" PRId64 "\n",
                    device, did, want);
        right = right && did == want;
    }
    return right;
}

/* alpha op(A) op(B) + beta C on rank 0, from what all gather there; NULL elsewhere. */
static void *expected(const test_case *c, dag_matrix *of[COUNT], dag_dcomplex alpha, dag_dcomplex beta)
{
    const int64_t *s = shapes[c->at[SHAPE]];
    const dag_trans ta = ways[c->at[6]], tb = ways[c->at[7]];
    int m = (int)s[0], n = (int)s[1], k = (int)s[2];
    void *x[3];
    for (int i = 0; i <= C; i++) {
        x[i] = calloc((size_t)(of[i]->m * of[i]->n), 16);
        if (x[i] == NULL || dag_matrix_gather(of[i], x[i], of[i]->m) != DAG_SUCCESS)
            abort();
    }
    int la = (int)of[A]->m, lb = (int)of[B]->m;
    switch (dag_rank(of[A]->context) > 0 ? -1 : c->at[PREC]) {
    case DAG_S:
        dag_tile_sgemm(ta, tb, m, n, k, (float)alpha, x[A], la, x[B], lb, (float)beta, x[C], m);
        break;
    case DAG_D:
        dag_tile_dgemm(ta, tb, m, n, k, (double)alpha, x[A], la, x[B], lb, (double)beta, x[C], m);
        break;
    case DAG_C:
        dag_tile_cgemm(ta, tb, m, n, k, (dag_scomplex)alpha, x[A], la, x[B], lb, (dag_scomplex)beta, x[C], m);
        break;
    case DAG_Z: dag_tile_zgemm(ta, tb, m, n, k, alpha, x[A], la, x[B], lb, beta, x[C], m); break;
    default: break;
    }
    free(x[A]);
    free(x[B]);
    return x[C];
}

/* The largest difference in units of a sum's rounding error; 0 but on rank 0. */
static double error_of(const test_case *c, dag_matrix *X, const void *want)
{
    dag_precision prec = (dag_precision)c->at[PREC];
    size_t items = (size_t)(X->m * X->n), parts = items * (dag_precision_is_complex(prec) ? 2 : 1);
    double most = 0, eps = dag_precision_real(prec) == DAG_S ? FLT_EPSILON : DBL_EPSILON;
    void *x = calloc(items, 16);
    if (x == NULL || dag_matrix_gather(X, x, X->m) != DAG_SUCCESS)
        abort();
    for (size_t i = 0; i < parts && dag_rank(X->context) == 0; i++) {
        double off = dag_precision_real(prec) == DAG_S
                         ? fabs((double)((const float *)x)[i] - (double)((const float *)want)[i])
                         : fabs(((const double *)x)[i] - ((const double *)want)[i]);
        most = off > most || isnan(off) ? off : most;
    }
    free(x);
    return most / ((double)(shapes[c->at[SHAPE]][2] + 2) * eps);
}

typedef struct verdict {
    double error[2]; /* of the graph, of the program that inserts */
    bool at_home, same;
} verdict;

static dag_status multiply(dag_context *ctx, const test_case *c, const how *h, dag_matrix *of[COUNT], verdict *v)
{
    const dag_dcomplex alpha = 0.5, beta = -1;
    const dag_trans ta = ways[c->at[6]], tb = ways[c->at[7]];
    bool bound = strcmp(h->placement, "static") == 0;
    dag_status status = DAG_SUCCESS;
    void *want = expected(c, of, alpha, beta);
    for (int i = 0; i < 2 && status == DAG_SUCCESS; i++) {
        int64_t before[16] = {0};
        for (int d = 0; d < dag_devices(ctx) && d < 16; d++)
            before[d] = split_ran(ctx, d);
        status = (i ? dag_gemm_inserted : dag_gemm)(ctx, ta, tb, alpha, of[A], of[B], beta, of[i ? INSERTED : C]);
        if (status == DAG_SUCCESS && bound && !ran_at_home(ctx, c, of[C], c->at[6] > 0 ? of[A]->mt : of[A]->nt, before))
            v->at_home = false;
        v->error[i] = status == DAG_SUCCESS ? error_of(c, of[i ? INSERTED : C], want) : NAN;
    }
    if (bound || dag_devices(ctx) == 0)
        v->same = status != DAG_SUCCESS || dag_matrix_each_local(of[C], same_tile, of[INSERTED]) == DAG_SUCCESS;
    free(want);
    return status;
}

/* 1 when the case failed. Elements are below 1. */
static int run(const test_case *c, const how *h)
{
    int64_t side = tile(c) < largest(c) ? tile(c) : largest(c);
    dag_context *ctx = split_start("split_product", c->at[NARROW], widths[c->at[WIDTH]], h->placement,
                                   h->tight ? 3 * side * side * 24 + (1 << 16) : 0);
    dag_matrix *of[COUNT] = {NULL};
    verdict v = {{NAN, NAN}, true, true};
    dag_status status = make(ctx, c, of);
    if (status == DAG_SUCCESS)
        status = multiply(ctx, c, h, of, &v);
    int failed = status != DAG_SUCCESS || !(v.error[0] <= 4) || !(v.error[1] <= 4) || !v.at_home || !v.same;
    if (failed)
        fprintf(stderr, "split_product: rank %d: shape %d split %d,%" PRId64 " nb %" PRId64
                " grid %dx%d prec %c op %d %d: %s %s, errors %g and %g%s\n", dag_rank(ctx), c->at[SHAPE], c->at[NARROW],
                widths[c->at[WIDTH]], tile(c), grids[c->at[GRID]][0], grids[c->at[GRID]][1],
                dag_precision_letter((dag_precision)c->at[PREC]), c->at[6], c->at[7],
                dag_strerror(status), dag_message(ctx), v.error[0], v.error[1], v.same ? "" : ", other bits");
    for (int i = 0; i < COUNT; i++)
        dag_matrix_free(of[i]);
    return (dag_fini(ctx) != DAG_SUCCESS) | failed;
}

/* Tiles of C that are too narrow, and ways in which C does not stay. */
static int refusals(void)
{
    static const dag_gemm_options others[] = {{.method = DAG_GEMM_SUMMA},
                                              {.method = DAG_GEMM_HSUMMA},
                                              {.method = DAG_GEMM_STATIONARY_A},
                                              {.p = 1, .q = 1, .layers = 1}};
    dag_context *ctx = split_start("split_product", 3, 11, "cost", 0);
    int failed = 0;
    for (int narrow = 0; narrow < 2; narrow++) {
        const dag_matrix_desc desc = {.prec = DAG_D, .m = 60, .n = 60, .nb = narrow ? 32 : 33};
        dag_matrix *of[3] = {NULL};
        for (int i = 0; i < 3; i++)
            failed += dag_matrix_new(ctx, &desc, &of[i]) != DAG_SUCCESS;
        if (narrow) {
            failed += dag_gemm(ctx, DAG_NO_TRANS, DAG_NO_TRANS, 1, of[0], of[1], 0, of[2]) != DAG_ERR_ARG;
            failed += strstr(dag_message(ctx), "dag_gemm: ") == NULL;
            failed += dag_gemm_inserted(ctx, DAG_NO_TRANS, DAG_NO_TRANS, 1, of[0], of[1], 0, of[2]) != DAG_ERR_ARG;
            failed += strstr(dag_message(ctx), "dag_gemm_inserted: ") == NULL;
            failed += dag_gemm_new(ctx, DAG_NO_TRANS, DAG_NO_TRANS, 1, of[0], of[1], 0, of[2]) != NULL;
        }
        for (size_t k = 0; k < sizeof others / sizeof *others && !narrow; k++) {
            failed += dag_gemm_with(ctx, DAG_NO_TRANS, DAG_NO_TRANS, 1, of[0], of[1], 0, of[2],
                                    &others[k]) != DAG_ERR_ARG;
            failed += strstr(dag_message(ctx), "where C stays") == NULL;
        }
        for (int i = 0; i < 3; i++)
            dag_matrix_free(of[i]);
    }
    if (failed)
        fprintf(stderr, "split_product: %d refusals are missing: %s\n", failed, dag_message(ctx));
    return failed + (dag_fini(ctx) != DAG_SUCCESS);
}

/* Both factors are one matrix: the program then takes whole tiles of it, and the graph sees it by two views. */
static int squares(void)
{
    dag_context *ctx = split_start("split_product", 2, 5, "cost", 0);
    const dag_matrix_desc desc = {.prec = DAG_Z, .m = 41, .n = 41, .nb = 12, .p = dag_size(ctx), .q = 1};
    int failed = 0;
    for (int way = 0; way < 9; way++) {
        dag_matrix *of[3] = {NULL};
        dag_status status = DAG_SUCCESS;
        for (int i = 0; i < 3 && status == DAG_SUCCESS; i++) {
            status = dag_matrix_new(ctx, &desc, &of[i]);
            if (status == DAG_SUCCESS)
                status = dag_plrnt(ctx, of[i], i > 0);
        }
        for (int i = 0; i < 2 && status == DAG_SUCCESS; i++)
            status = (i ? dag_gemm_inserted : dag_gemm)(ctx, ways[way % 3], ways[way / 3], 0.5, of[0], of[0], -1,
                                                        of[i + 1]);
        if (status == DAG_SUCCESS && dag_devices(ctx) == 0)
            status = dag_matrix_each_local(of[1], same_tile, of[2]);
        if (status != DAG_SUCCESS)
            fprintf(stderr, "split_product: a square, op %d %d: %s %s\n", way % 3, way / 3, dag_strerror(status),
                    dag_message(ctx));
        failed += status != DAG_SUCCESS;
        for (int i = 0; i < 3; i++)
            dag_matrix_free(of[i]);
    }
    return failed + (dag_fini(ctx) != DAG_SUCCESS);
}

static int others(void)
{
    return refusals() + squares();
}

int main(int argc, char **argv)
{
    return split_main(argc, argv, &(split_test){"split_product", &all, is_valid, run, others});
}

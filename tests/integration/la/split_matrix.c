/*
 * Cholesky by tiles of two sizes: orders, numbers and widths of narrow tiles, tile sizes, grids, element
 * types, triangles and storages.
 *
 *     split_matrix [pairs|full|few] [cost|static] [tight] [inserted]
 *
 * One launch on R ranks runs the cases whose grid has R places: all (full), a subset in which every pair of
 * values of two factors occurs (pairs, the default), or that of the small orders (few). The settings are
 * those of a context, so each case has one of its own. A case is judged by its backward error, up to order
 * 200 by multiplying out, and its factor is solved with by uniform tiles. With devices and static placement
 * the tasks that each device ran are counted against the rule; tight: a device has half as much again as
 * the largest task needs; inserted: a sequential program inserts the same tasks.
 */
#include "potrf_plain.h"
#include "same_tile.h"
#include "split_cases.h"

#include <dag/inserted.h>
#include <dag/split.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NORDERS = 6, NTILES = 4, GATHER_UP_TO = 200 };
static const int64_t orders[NORDERS] = {0, 1, 41, 97, 331, 613};
static const int grids[NGRIDS][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {2, 3}, {1, 4}};

/* Order, narrow tiles, their width, tile, grid, type, triangle, storage. */
static const factors all = {8, {NORDERS, MOST + 1, NWIDTHS, NTILES, NGRIDS, 4, 2, 2}};

static int64_t tile(const test_case *c)
{
    int64_t narrow = narrow_tiles(c);
    const int64_t sizes[NTILES] = {narrow, narrow + 1, 256, 960};
    return sizes[c->at[TILE]];
}

static bool is_valid(const test_case *c, const void *arg)
{
    return split_fits(c, arg, grids[c->at[GRID]], tile(c), orders[c->at[SHAPE]], 100);
}

/* ---- one case ---------------------------------------------------------------------------- */

static dag_context *start(const test_case *c, const how *h)
{
    int64_t B = tile(c), n = orders[c->at[SHAPE]], side = B < n ? B : n;
    /* two operands, what is written, and the workspace of the factorisation of a tile */
    return split_start("split_matrix", c->at[NARROW], widths[c->at[WIDTH]], h->placement,
                       h->tight ? 3 * side * side * 32 + (1 << 16) : 0);
}

/* Tasks that write A(m, n, d), lower: an update by each column to the left, and one that solves; or by each tile to
 * the left and each column in its own, and one that copies what is below the diagonal. Upper is its mirror: n is the
 * tile row. */
static int64_t tasks_for(const test_case *c, const dag_matrix *a, bool by_tile, int device, int devices)
{
    int64_t s = c->at[NARROW], b = widths[c->at[WIDTH]], B = a->nb, C = s + (s * b < B), count = 0;
    bool upper = c->at[6] != 0;
    for (int64_t n = 0; n < a->nt; n++) {
        int64_t width = n + 1 < a->nt ? B : a->n - n * B;
        for (int64_t m = n; m < a->mt; m++) {
            bool mine = upper ? dag_matrix_is_local(a, n, m) : dag_matrix_is_local(a, m, n);
            for (int64_t d = 0; mine && d < C && d * b * (s > 0) < width; d++)
                if (d >= s && n / (upper ? a->p : a->q) % devices == device)
                    count += by_tile ? n + d + 1 + (m > n) : n * C + d + 1;
        }
    }
    return count;
}

static bool ran_at_home(dag_context *ctx, const test_case *c, const dag_matrix *a,
                        const int64_t *before)
{
    bool right = true;
    int wanted;
    dag_split_desc desc = {0};
    if (dag_split_settings(ctx, &wanted, &desc) != DAG_SUCCESS)
        return false;
    bool by_tile = desc.update == DAG_SPLIT_BY_TILE;
    for (int d = 0; d < dag_devices(ctx); d++) {
        int64_t want = tasks_for(c, a, by_tile, d, dag_devices(ctx)), did = split_ran(ctx, d) - before[d];
        if (did != want)
            fprintf(stderr, "split_matrix: device %d ran %" PRId64 " tasks, not %" PRId64 "\n", d, did,
                    want);
        right = right && did == want;
    }
    return right;
}

/* A X = B by the factor, with tiles of one size: a change of view. */
static dag_status solve(dag_context *ctx, dag_uplo uplo, const dag_matrix_desc *like, dag_matrix *f,
                        double *error)
{
    dag_matrix_desc desc = *like;
    dag_plghe_source a = {f, (double)like->n, 3};
    const dag_element_source source = {dag_plghe_each, &a};
    dag_solve_error e = {NAN, NAN};
    dag_matrix *x = NULL, *b = NULL;
    desc.n = 3;
    desc.mb = like->nb;
    desc.uplo = DAG_GENERAL;
    dag_status status = dag_matrix_new(ctx, &desc, &x);
    if (status == DAG_SUCCESS)
        status = dag_matrix_new(ctx, &desc, &b);
    if (status == DAG_SUCCESS)
        status = dag_plrnt(ctx, x, 5);
    if (status == DAG_SUCCESS)
        status = dag_plrnt(ctx, b, 5);
    if (status == DAG_SUCCESS)
        status = dag_potrs(ctx, uplo, f, x);
    if (status == DAG_SUCCESS)
        status = dag_solve_residual(ctx, &source, b, x, &e);
    *error = e.normwise / (dag_precision_real(desc.prec) == DAG_S ? FLT_EPSILON : DBL_EPSILON);
    dag_matrix_free(x);
    dag_matrix_free(b);
    return status;
}

typedef struct verdict {
    double residual, plain, solved;
    bool at_home, same;
} verdict;

/* Is what the program made of A the graph's factor? */
static dag_status as_graph(dag_context *ctx, dag_uplo uplo, const dag_matrix_desc *desc, dag_matrix *f, bool *same)
{
    int64_t info = -1;
    dag_matrix *by = NULL;
    dag_status status = dag_matrix_new(ctx, desc, &by);
    if (status == DAG_SUCCESS)
        status = dag_plghe(ctx, by, (double)desc->n, 3);
    if (status == DAG_SUCCESS)
        status = dag_potrf(ctx, uplo, by, &info);
    *same = status != DAG_SUCCESS || dag_matrix_each_local(f, same_tile, by) == DAG_SUCCESS;
    dag_matrix_free(by);
    return status;
}

static dag_status factor(dag_context *ctx, const test_case *c, const how *h, verdict *v)
{
    dag_layout layout = c->at[7] == 0 ? DAG_LAYOUT_TILE : DAG_LAYOUT_SLAB;
    dag_uplo uplo = c->at[6] == 0 ? DAG_LOWER : DAG_UPPER;
    const dag_matrix_desc desc = {.prec = (dag_precision)c->at[PREC], .m = orders[c->at[SHAPE]],
                                  .n = orders[c->at[SHAPE]], .nb = tile(c), .p = grids[c->at[GRID]][0],
                                  .q = grids[c->at[GRID]][1], .layout = layout,
                                  .uplo = layout == DAG_LAYOUT_TILE ? uplo : DAG_GENERAL};
    int64_t info = -1, before[16] = {0};
    dag_matrix *f = NULL, *a = NULL;
    dag_status status = dag_matrix_new(ctx, &desc, &f);
    if (status == DAG_SUCCESS)
        status = dag_matrix_new(ctx, &desc, &a);
    if (status == DAG_SUCCESS)
        status = dag_plghe(ctx, f, (double)desc.n, 3);
    if (status == DAG_SUCCESS)
        status = dag_plghe(ctx, a, (double)desc.n, 3);
    for (int d = 0; d < dag_devices(ctx) && d < 16; d++)
        before[d] = split_ran(ctx, d);
    if (status == DAG_SUCCESS)
        status = (h->inserted ? dag_potrf_inserted : dag_potrf)(ctx, uplo, f, &info);
    v->at_home = strcmp(h->placement, "static") != 0 || status != DAG_SUCCESS ||
                 ran_at_home(ctx, c, f, before);
    if (status == DAG_SUCCESS && h->inserted && (dag_devices(ctx) == 0 || strcmp(h->placement, "static") == 0))
        status = as_graph(ctx, uplo, &desc, f, &v->same);
    if (status == DAG_SUCCESS)
        status = dag_potrf_residual(ctx, uplo, f, a, &v->residual);
    if (status == DAG_SUCCESS && desc.n <= GATHER_UP_TO)
        status = multiply_out(ctx, f, uplo, &v->plain);
    if (status == DAG_SUCCESS)
        status = solve(ctx, uplo, &desc, f, &v->solved);
    if (info != 0)
        v->residual = INFINITY;
    dag_matrix_free(f);
    dag_matrix_free(a);
    return status;
}

/* 1 when the case failed. */
static int run(const test_case *c, const how *h)
{
    dag_context *ctx = start(c, h);
    verdict v = {NAN, 0, 0, true, true};
    dag_status status = factor(ctx, c, h, &v);
    int failed = status != DAG_SUCCESS || !(v.residual <= DAG_POTRF_BOUND) ||
                 !(v.plain <= DAG_POTRF_BOUND) || !(v.solved <= DAG_SOLVE_BOUND) || !v.at_home || !v.same;
    if (failed)
        fprintf(stderr, "split_matrix: rank %d: n %" PRId64 " split %d,%" PRId64 " nb %" PRId64
                " grid %dx%d prec %c %s %s: %s %s, residual %g, multiplied out %g, solution %g%s\n",
                dag_rank(ctx), orders[c->at[SHAPE]], c->at[NARROW], widths[c->at[WIDTH]], tile(c),
                grids[c->at[GRID]][0], grids[c->at[GRID]][1],
                dag_precision_letter((dag_precision)c->at[PREC]), c->at[6] == 0 ? "lower" : "upper",
                c->at[7] == 0 ? "tile" : "slab", dag_strerror(status), dag_message(ctx), v.residual,
                v.plain, v.solved, v.same ? "" : ", other bits");
    return (dag_fini(ctx) != DAG_SUCCESS) | failed;
}

/* What has no meaning is refused, on all ranks, and the matrix stays as it is. */
static int refusals(void)
{
    static const char *const bad[] = {"any", "2", "2,", ",3", "2,3x", "-1,3", "2,-3", "2,0", "3,11",
                                      "99999999999999999999,1"};
    int failed = 0;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        char why[256] = "";
        dag_context *ctx = NULL;
        dag_matrix *a = NULL;
        int64_t info = -7;
        dag_config *config = dag_config_new();
        if (dag_config_set(config, "split", bad[k], why, sizeof why) != DAG_SUCCESS ||
            dag_init(&ctx, config, why, sizeof why) != DAG_SUCCESS) {
            fprintf(stderr, "split_matrix: %s\n", why);
            exit(1);
        }
        dag_config_free(config);
        const dag_matrix_desc desc = {.prec = DAG_D, .m = 60, .n = 60, .nb = 32};
        int right = dag_matrix_new(ctx, &desc, &a) == DAG_SUCCESS &&
                    dag_potrf(ctx, DAG_LOWER, a, &info) == DAG_ERR_ARG &&
                    strstr(dag_message(ctx), "dag_potrf") != NULL &&
                    dag_potrf_new(ctx, DAG_UPPER, a) == NULL &&
                    dag_potrf_inserted(ctx, DAG_LOWER, a, &info) == DAG_ERR_ARG;
        if (!right)
            fprintf(stderr, "split_matrix: split = %s was not refused: %s\n", bad[k], dag_message(ctx));
        failed += !right;
        dag_matrix_free(a);
        failed += dag_fini(ctx) != DAG_SUCCESS;
    }
    return failed;
}

int main(int argc, char **argv)
{
    return split_main(argc, argv, &(split_test){"split_matrix", &all, is_valid, run, refusals});
}

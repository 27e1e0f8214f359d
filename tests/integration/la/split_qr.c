/*
 * QR by tiles of two sizes: shapes, numbers and widths of narrow tiles, tile sizes, grids, element types, heights of
 * stacks, storages.
 *
 *     split_qr [pairs|full|few] [cost|static] [tight] [inserted]
 *
 * The words are those of split_matrix. A factorisation is judged by its backward error and the orthogonality of its Q
 * as LAPACK's tests do, up to order 200 also by multiplying out on rank 0, and Q is multiplied with by tiles of one
 * size. With devices and static placement the tasks that each device ran are counted against the rule. What a
 * sequential program inserts is also held against the graph: where all tasks run on the same processors R, V and, on
 * cores, what Q makes of vectors are the same bit by bit.
 */
#include "same_tile.h"
#include "split_cases.h"

#include <dag/auxiliary.h>
#include <dag/inserted.h>
#include <dag/kernels.h>
#include <dag/la.h>
#include <dag/qr.h>
#include <dag/split.h>

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { NSHAPES = 8, NTILES = 5, NSTACKS = 2, DENSE = 200 };
static const int64_t shapes[NSHAPES][2] = {{0, 5},   {1, 1},    {41, 41},   {97, 30},
                                           {30, 97}, {331, 97}, {150, 257}, {431, 431}};
static const int grids[NGRIDS][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {2, 3}, {6, 1}};

/* Shape, narrow tiles, their width, tile, grid, type, stacks, storage. */
static const factors all = {8, {NSHAPES, MOST + 1, NWIDTHS, NTILES, NGRIDS, 4, NSTACKS, 2}};

static int64_t tile(const test_case *c)
{
    int64_t narrow = narrow_tiles(c);
    const int64_t sizes[NTILES] = {narrow, narrow + 1, 48, 256, 960};
    return sizes[c->at[TILE]];
}

static int64_t largest(const test_case *c)
{
    const int64_t *s = shapes[c->at[SHAPE]];
    return s[0] > s[1] ? s[0] : s[1];
}

static bool is_valid(const test_case *c, const void *arg)
{
    return split_fits(c, arg, grids[c->at[GRID]], tile(c), largest(c), 100);
}

/* ---- one case ---------------------------------------------------------------------------- */

typedef struct verdict {
    double residual, orthogonality, plain, back;
    bool at_home, same;
} verdict;

/* A, factored; A once more; a block of vectors, and it once more. */
enum { F, A, B, SAME, COUNT };

static dag_status make(dag_context *ctx, const test_case *c, dag_matrix *of[COUNT])
{
    dag_status status = DAG_SUCCESS;
    for (int i = 0; i < COUNT && status == DAG_SUCCESS; i++) {
        const dag_matrix_desc desc = {.prec = (dag_precision)c->at[PREC], .m = shapes[c->at[SHAPE]][0],
                                      .n = i < B ? shapes[c->at[SHAPE]][1] : 7, .mb = tile(c),
                                      .nb = i < B ? tile(c) : 3, .p = grids[c->at[GRID]][0], .q = grids[c->at[GRID]][1],
                                      .layout = c->at[7] ? DAG_LAYOUT_SLAB : DAG_LAYOUT_TILE};
        status = dag_matrix_new(ctx, &desc, &of[i]);
        if (status == DAG_SUCCESS)
            status = dag_plrnt(ctx, of[i], i < B ? 23 : 5);
    }
    return status;
}

/* Tasks of the tree over the tops of one column: the graph has one for each node and one that puts the top back, the
 * program one for each child of a node in place of the first. Process row p is node r of the tree of panel k. */
static int64_t tree_tasks(bool inserted, int64_t rows, int64_t p, int64_t panels)
{
    int64_t count = 2 * panels;
    for (int64_t k = 0; k < panels && inserted; k++) {
        int64_t r = (p + (rows - 1) * k) % rows;
        count += (2 * r + 1 < rows) + (2 * r + 2 < rows) - 1;
    }
    return rows > 1 ? count : 0;
}

/* What the rule says of one stack on each process row: columns d >= s of a tile are updated by each column, or all at
 * once, of each panel to the left, and by the tree if there is one; in their own panel by the narrow ones. */
static int64_t tasks_for(const test_case *c, const how *h, const dag_matrix *X, bool by_tile, int device, int devices)
{
    int64_t s = c->at[NARROW], b = widths[c->at[WIDTH]], C = s + (s * b < X->nb), count = 0;
    int64_t panels = X->mt < X->nt ? X->mt : X->nt, rows = X->mt < X->p ? X->mt : X->p;
    for (int64_t n = 0; n < X->nt; n++) {
        int64_t width = n + 1 < X->nt ? X->nb : X->n - n * X->nb;
        if (width <= s * b || n / X->q % devices != device)
            continue;
        for (int64_t p = 0; p < rows; p++)
            if (dag_matrix_is_local(X, p, n))
                count += (n < panels ? n : panels) * (by_tile ? 1 : C) + (n < panels ? s : 0) +
                         tree_tasks(h->inserted, rows, p, n < panels ? n : panels);
    }
    return X->m > 0 && X->n > 0 ? count : 0;
}

static bool ran_at_home(dag_context *ctx, const test_case *c, const how *h, const dag_matrix *X,
                        const int64_t *before)
{
    bool right = true;
    int wanted;
    dag_split_desc desc = {0};
    if (dag_split_settings(ctx, &wanted, &desc) != DAG_SUCCESS)
        return false;
    for (int d = 0; d < dag_devices(ctx); d++) {
        int64_t want = tasks_for(c, h, X, desc.update == DAG_SPLIT_BY_TILE, d, dag_devices(ctx));
        int64_t did = split_ran(ctx, d) - before[d];
        if (did != want)
            fprintf(stderr, "split_qr: device %d ran %" PRId64 " tasks, not %" PRId64 "\n", d, did, want);
        right = right && did == want;
    }
    return right;
}

/* Element (i, j) of what was gathered, rows one behind the other. */
static dag_dcomplex item(dag_precision prec, const void *full, int64_t ld, int64_t i, int64_t j)
{
    int64_t at = i + j * ld;
    switch (prec) {
    case DAG_S: return ((const float *)full)[at];
    case DAG_D: return ((const double *)full)[at];
    case DAG_C: return ((const dag_scomplex *)full)[at];
    default: return ((const dag_dcomplex *)full)[at];
    }
}

/* ||A - Q R|| / (||A|| largest eps), sums made here one by one; 0 but on rank 0. Norms are sums of all elements. */
static dag_status multiply_out(dag_context *ctx, const test_case *c, dag_matrix *of[COUNT], const dag_qr *qr,
                               double *error)
{
    int64_t m = of[F]->m, n = of[F]->n, k = m < n ? m : n;
    dag_precision prec = of[F]->prec;
    dag_matrix_desc desc = {.prec = prec, .m = m, .n = k, .nb = tile(c), .p = (int)of[F]->p, .q = (int)of[F]->q};
    size_t room = (size_t)(m * (n > k ? n : k) + 1) * 16;
    void *a = calloc(1, room), *q = calloc(1, room), *r = calloc(1, room);
    dag_matrix *Q = NULL;
    dag_status status = dag_matrix_new(ctx, &desc, &Q);
    if (status == DAG_SUCCESS)
        status = dag_ungqr(ctx, of[F], qr, Q);
    if (status == DAG_SUCCESS)
        status = dag_matrix_gather(Q, q, m);
    if (status == DAG_SUCCESS)
        status = dag_matrix_gather(of[F], r, m);
    if (status == DAG_SUCCESS)
        status = dag_matrix_gather(of[A], a, m);
    double off = 0, norm = 0;
    for (int64_t j = 0; j < n && status == DAG_SUCCESS && dag_rank(ctx) == 0; j++)
        for (int64_t i = 0; i < m; i++) {
            dag_dcomplex sum = item(prec, a, m, i, j);
            norm += __builtin_cabs(sum);
            for (int64_t l = 0; l < k && l <= j; l++)
                sum -= item(prec, q, m, i, l) * item(prec, r, m, l, j);
            off += __builtin_cabs(sum);
        }
    double eps = dag_precision_real(prec) == DAG_S ? FLT_EPSILON : DBL_EPSILON;
    *error = norm > 0 ? off / (norm * (double)largest(c) * eps) : 0;
    dag_matrix_free(Q);
    free(a);
    free(q);
    free(r);
    return status;
}

/* Q (Q^H B) is B. */
static dag_status there_and_back(dag_context *ctx, dag_matrix *of[COUNT], const dag_qr *qr, double *error)
{
    double eps = dag_precision_real(of[F]->prec) == DAG_S ? FLT_EPSILON : DBL_EPSILON;
    dag_status status = dag_unmqr(ctx, DAG_LEFT, DAG_CONJ_TRANS, of[F], qr, of[B]);
    if (status == DAG_SUCCESS)
        status = dag_unmqr(ctx, DAG_LEFT, DAG_NO_TRANS, of[F], qr, of[B]);
    if (status == DAG_SUCCESS)
        status = dag_geadd(ctx, DAG_GENERAL, DAG_NO_TRANS, -1, of[SAME], 1, of[B]);
    if (status == DAG_SUCCESS)
        status = dag_lange(ctx, DAG_NORM_MAX, of[B], error);
    *error /= eps * (double)(of[F]->m + 1);
    return status;
}

/* The graph's factors, and its Q^H B. */
static dag_status as_graph(dag_context *ctx, const test_case *c, dag_matrix *of[COUNT], const dag_qr *qr, bool *same)
{
    const dag_qr_options options = {.stack = c->at[6]};
    dag_matrix *by[COUNT] = {NULL}, *vectors[2];
    dag_qr *other = NULL;
    dag_status status = make(ctx, c, by);
    if (status == DAG_SUCCESS)
        status = dag_geqrf_with(ctx, by[F], &options, &other);
    vectors[0] = by[B];
    vectors[1] = by[SAME];
    for (int i = 0; i < 2 && status == DAG_SUCCESS; i++)
        status = dag_unmqr(ctx, DAG_LEFT, DAG_CONJ_TRANS, i ? by[F] : of[F], i ? other : qr, vectors[i]);
    *same = status != DAG_SUCCESS || dag_matrix_each_local(of[F], same_tile, by[F]) == DAG_SUCCESS;
    if (status == DAG_SUCCESS && dag_devices(ctx) == 0) /* products with Q run where they are expected to end first */
        *same = *same && dag_matrix_each_local(vectors[0], same_tile, vectors[1]) == DAG_SUCCESS;
    dag_qr_free(other);
    for (int i = 0; i < COUNT; i++)
        dag_matrix_free(by[i]);
    return status;
}

static dag_status factor(dag_context *ctx, const test_case *c, const how *h, dag_matrix *of[COUNT], verdict *v)
{
    const dag_qr_options options = {.stack = c->at[6]};
    int64_t before[16] = {0};
    dag_qr *qr = NULL;
    for (int d = 0; d < dag_devices(ctx) && d < 16; d++)
        before[d] = split_ran(ctx, d);
    dag_status status = (h->inserted ? dag_geqrf_inserted : dag_geqrf_with)(ctx, of[F], &options, &qr);
    /* with no option a stack holds all of a process row, unless the matrix is tall and narrow */
    if (status == DAG_SUCCESS && strcmp(h->placement, "static") == 0 && c->at[6] == 0 &&
        shapes[c->at[SHAPE]][0] < 4 * shapes[c->at[SHAPE]][1])
        v->at_home = ran_at_home(ctx, c, h, of[F], before);
    if (status == DAG_SUCCESS && h->inserted && (strcmp(h->placement, "static") == 0 || dag_devices(ctx) == 0))
        status = as_graph(ctx, c, of, qr, &v->same);
    if (status == DAG_SUCCESS && largest(c) <= DENSE && of[F]->m > 0)
        status = multiply_out(ctx, c, of, qr, &v->plain);
    if (status == DAG_SUCCESS)
        status = there_and_back(ctx, of, qr, &v->back);
    if (status == DAG_SUCCESS)
        status = dag_geqrf_residual(ctx, of[F], qr, of[A], &v->residual, &v->orthogonality);
    dag_qr_free(qr);
    return status;
}

/* 1 when the case failed. */
static int run(const test_case *c, const how *h)
{
    const int64_t *shape = shapes[c->at[SHAPE]];
    int64_t side = tile(c) < largest(c) ? tile(c) : largest(c);
    /* a panel, columns of a stack, T, a top and workspace */
    dag_context *ctx = split_start("split_qr", c->at[NARROW], widths[c->at[WIDTH]], h->placement,
                                   h->tight ? (2 * shape[0] * side + 3 * tile(c) * side) * 24 + (1 << 16) : 0);
    dag_matrix *of[COUNT] = {NULL};
    verdict v = {NAN, NAN, 0, NAN, true, true};
    dag_status status = make(ctx, c, of);
    if (status == DAG_SUCCESS)
        status = factor(ctx, c, h, of, &v);
    int failed = status != DAG_SUCCESS || !(v.residual <= DAG_QR_BOUND) || !(v.orthogonality <= DAG_QR_BOUND) ||
                 !(v.plain <= DAG_QR_BOUND) || !(v.back <= DAG_QR_BOUND) || !v.at_home || !v.same;
    if (failed)
        fprintf(stderr, "split_qr: rank %d: %" PRId64 " x %" PRId64 " split %d,%" PRId64 " nb %" PRId64
                " grid %dx%d prec %c stacks %d %s: %s %s, residual %g, orthogonality %g, multiplied out %g, "
                "there and back %g%s\n", dag_rank(ctx), shape[0], shape[1], c->at[NARROW], widths[c->at[WIDTH]],
                tile(c), grids[c->at[GRID]][0], grids[c->at[GRID]][1],
                dag_precision_letter((dag_precision)c->at[PREC]), c->at[6], c->at[7] ? "slab" : "tile",
                dag_strerror(status), dag_message(ctx), v.residual, v.orthogonality, v.plain, v.back,
                v.same ? "" : ", other bits");
    for (int i = 0; i < COUNT; i++)
        dag_matrix_free(of[i]);
    return (dag_fini(ctx) != DAG_SUCCESS) | failed;
}

/* Tiles that are too narrow, and blocks of rows. */
static int refusals(void)
{
    dag_context *ctx = split_start("split_qr", 3, 11, "cost", 0);
    int failed = 0;
    for (int blocks = 0; blocks < 2; blocks++) {
        const dag_matrix_desc desc = {.prec = DAG_D, .m = 60, .n = 60, .nb = blocks ? 33 : 32};
        const dag_qr_options options = {.block = blocks ? 40 : 0};
        dag_matrix *a = NULL;
        dag_qr *qr = NULL;
        failed += dag_matrix_new(ctx, &desc, &a) != DAG_SUCCESS;
        failed += dag_geqrf_with(ctx, a, &options, &qr) != DAG_ERR_ARG || qr != NULL;
        failed += strstr(dag_message(ctx), blocks ? "blocks of rows" : "3 narrow tiles of width 11") == NULL;
        failed += dag_geqrf_inserted(ctx, a, &options, &qr) != DAG_ERR_ARG || qr != NULL;
        failed += strstr(dag_message(ctx), blocks ? "blocks of rows" : "3 narrow tiles of width 11") == NULL;
        failed += strstr(dag_message(ctx), "dag_geqrf_inserted: ") == NULL;
        dag_matrix_free(a);
    }
    if (failed)
        fprintf(stderr, "split_qr: %d refusals are missing: %s\n", failed, dag_message(ctx));
    return failed + (dag_fini(ctx) != DAG_SUCCESS);
}

int main(int argc, char **argv)
{
    return split_main(argc, argv, &(split_test){"split_qr", &all, is_valid, run, refusals});
}

/* The library calls of dag/la.h on any number of ranks: results, arguments, order of calls. */
#include <dag/kernels.h>
#include <dag/la.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dag_context *ctx;
static int failures;

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            failures++;                                                                            \
            fprintf(stderr, "la_api: rank %d: line %d: %s: ", dag_rank(ctx), __LINE__, #condition); \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fprintf(stderr, " (%s)\n", dag_message(ctx));                                          \
        }                                                                                          \
    } while (0)

static dag_matrix *matrix(dag_matrix_desc desc)
{
    dag_matrix *a = NULL;
    if (dag_matrix_new(ctx, &desc, &a) != DAG_SUCCESS) {
        fprintf(stderr, "la_api: %s\n", dag_message(ctx));
        abort();
    }
    return a;
}

/* ---- agreements -------------------------------------------------------------------------- */

static void test_allreduce(void)
{
    int rank = dag_rank(ctx), size = dag_size(ctx);
    double x[3] = {rank, -rank, rank == size - 1 ? NAN : 1};
    CHECK(dag_allreduce(ctx, DAG_SUM, x, 2) == DAG_SUCCESS, "sum");
    CHECK(x[0] == size * (size - 1) / 2 && x[1] == -x[0], "%g %g", x[0], x[1]);
    x[0] = x[1] = rank;
    CHECK(dag_allreduce(ctx, DAG_MAX, x, 3) == DAG_SUCCESS, "max");
    CHECK(x[0] == size - 1 && x[1] == size - 1 && isnan(x[2]), "%g %g %g", x[0], x[1], x[2]);
    x[0] = x[1] = 10 + rank;
    CHECK(dag_allreduce(ctx, DAG_MIN, x, 2) == DAG_SUCCESS, "min");
    CHECK(x[0] == 10 && x[1] == 10, "%g %g", x[0], x[1]);
    CHECK(dag_allreduce(ctx, DAG_MIN, x, 0) == DAG_SUCCESS, "nothing");

    enum { MANY = 300000 };
    double *many = malloc(MANY * sizeof(*many));
    for (int i = 0; i < MANY; i++)
        many[i] = i + rank;
    CHECK(dag_allreduce(ctx, DAG_SUM, many, MANY) == DAG_SUCCESS, "many");
    int wrong = 0;
    for (int i = 0; i < MANY; i++)
        wrong += many[i] != (double)i * size + size * (size - 1) / 2.0;
    CHECK(wrong == 0, "%d of %d", wrong, MANY);
    free(many);
}

static void test_agree(void)
{
    int rank = dag_rank(ctx), size = dag_size(ctx), where;
    CHECK(dag_agree(ctx, DAG_SUCCESS, &where) == DAG_SUCCESS, "all well");
    CHECK(where == -1, "%d", where);
    int bad = size / 2;
    dag_status mine = rank == bad ? DAG_ERR_IO : rank == size - 1 ? DAG_ERR_NOMEM : DAG_SUCCESS;
    CHECK(dag_agree(ctx, mine, &where) == DAG_ERR_IO, "the first rank that failed");
    CHECK(where == bad, "%d", where);
}

/* ---- gather and scatter ------------------------------------------------------------------ */

static void test_gather(dag_uplo uplo, dag_layout layout, int64_t m, int64_t n)
{
    int64_t ld = m + 3;
    double *full = NULL, *back = NULL;
    if (dag_rank(ctx) == 0) {
        full = malloc((size_t)(ld * n + 1) * sizeof(double));
        back = malloc((size_t)(ld * n + 1) * sizeof(double));
        for (int64_t i = 0; i < ld * n; i++) {
            full[i] = (double)i + 0.25;
            back[i] = -1;
        }
    }
    dag_matrix *a = matrix((dag_matrix_desc){.prec = DAG_D, .m = m, .n = n, .nb = 16,
                                             .layout = layout, .uplo = uplo});
    CHECK(dag_matrix_scatter(a, full, ld) == DAG_SUCCESS, "scatter");
    CHECK(dag_matrix_gather(a, back, ld) == DAG_SUCCESS, "gather");
    int wrong = 0;
    for (int64_t j = 0; dag_rank(ctx) == 0 && j < n; j++)
        for (int64_t i = 0; i < ld; i++) {
            int64_t ti = i / 16, tj = j / 16;
            int there = i < m && (uplo == DAG_GENERAL || (uplo == DAG_LOWER ? ti >= tj : ti <= tj));
            wrong += back[i + j * ld] != (there ? full[i + j * ld] : -1);
        }
    CHECK(wrong == 0, "%d elements", wrong);
    dag_status status = dag_matrix_gather(a, back, m - 1);
    CHECK(status == DAG_ERR_ARG, "a leading dimension that is too small, status %d", (int)status);
    dag_matrix_free(a);
    free(full);
    free(back);
}

/* ---- solving ----------------------------------------------------------------------------- */

typedef struct solve_case {
    dag_precision prec;
    dag_uplo uplo;
    dag_layout layout;
    int64_t n, nb, nrhs, nb_rhs;
    int p, q, bp, bq; /* grids of A and of B */
} solve_case;

static void test_posv(const solve_case *c)
{
    dag_matrix_desc desc = {.prec = c->prec, .m = c->n, .n = c->n, .nb = c->nb, .p = c->p,
                            .q = c->q, .layout = c->layout, .uplo = c->uplo};
    dag_matrix *a = matrix(desc);
    desc.uplo = DAG_GENERAL;
    desc.n = c->nrhs;
    desc.mb = c->nb;
    desc.nb = c->nb_rhs;
    desc.p = c->bp;
    desc.q = c->bq;
    dag_matrix *x = matrix(desc), *b = matrix(desc);
    int64_t info = -1;
    CHECK(dag_plghe(ctx, a, (double)c->n, 5) == DAG_SUCCESS, "plghe");
    CHECK(dag_plrnt(ctx, x, 6) == DAG_SUCCESS, "plrnt");
    CHECK(dag_plrnt(ctx, b, 6) == DAG_SUCCESS, "plrnt");
    CHECK(dag_posv(ctx, c->uplo, a, x, &info) == DAG_SUCCESS, "posv");
    CHECK(info == 0, "%" PRId64, info);
    dag_plghe_source random = {a, (double)c->n, 5};
    const dag_element_source source = {dag_plghe_each, &random};
    dag_solve_error error;
    CHECK(dag_solve_residual(ctx, &source, b, x, &error) == DAG_SUCCESS, "residual");
    double eps = dag_precision_real(c->prec) == DAG_S ? 1.2e-7 : 2.3e-16;
    CHECK(error.normwise <= DAG_SOLVE_BOUND * eps && error.componentwise <= 100 * eps,
          "prec %c uplo %d layout %d n %" PRId64 " nb %" PRId64 " nrhs %" PRId64 ": %g %g",
          dag_precision_letter(c->prec), (int)c->uplo, (int)c->layout, c->n, c->nb, c->nrhs,
          error.normwise, error.componentwise);
    dag_matrix_free(a);
    dag_matrix_free(x);
    dag_matrix_free(b);
}

static void test_solves(void)
{
    static const int64_t sizes[][4] = {/* n, nb, nrhs, nb of B */
                                       {0, 8, 3, 8},     {1, 8, 1, 1},      {65, 16, 0, 4},
                                       {100, 32, 5, 2},  {130, 64, 200, 64}, {64, 64, 17, 100},
                                       {96, 16, 33, 16}, {300, 50, 2, 1}};
    int size = dag_size(ctx), k = 0;
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
        for (int u = 0; u < 2; u++)
            for (int prec = 0; prec < 4; prec++, k++) {
                solve_case c = {(dag_precision)prec, u ? DAG_UPPER : DAG_LOWER,
                                k % 3 ? DAG_LAYOUT_TILE : DAG_LAYOUT_SLAB, sizes[s][0],
                                sizes[s][1], sizes[s][2], sizes[s][3], 0, 0, 0, 0};
                if (k % 2) { /* different grids, some with ranks left over */
                    c.p = size;
                    c.q = 1;
                    c.bp = 1;
                    c.bq = size > 2 ? size - 1 : size;
                }
                test_posv(&c);
            }
}

/* ---- residuals must notice --------------------------------------------------------------- */

static dag_status spoil(dag_matrix *a, int64_t i, int64_t j, const dag_element *e, void *arg)
{
    const int64_t *where = arg;
    (void)a;
    if (i == where[0] && j == where[1])
        ((double *)e->ptr)[where[2] + where[3] * e->ld] += 1e-6;
    return DAG_SUCCESS;
}

static void test_spoiled(void)
{
    enum { N = 90 };
    const dag_matrix_desc desc = {.prec = DAG_D, .m = N, .n = N, .nb = 32, .uplo = DAG_LOWER};
    const int64_t places[][4] = {{0, 0, 31, 31}, {2, 0, 3, 3}, {2, 2, 25, 24}, {1, 1, 5, 0}};
    for (size_t k = 0; k < sizeof(places) / sizeof(places[0]); k++) {
        dag_matrix *f = matrix(desc), *a = matrix(desc);
        int64_t info, where[4];
        double residual = 0;
        memcpy(where, places[k], sizeof(where));
        CHECK(dag_plghe(ctx, f, N, 1) == DAG_SUCCESS, "plghe");
        CHECK(dag_plghe(ctx, a, N, 1) == DAG_SUCCESS, "plghe");
        CHECK(dag_dpotrf(ctx, DAG_LOWER, f, &info) == DAG_SUCCESS && info == 0, "potrf");
        (void)dag_matrix_each_local(f, spoil, where);
        CHECK(dag_potrf_residual(ctx, DAG_LOWER, f, a, &residual) == DAG_SUCCESS, "residual");
        CHECK(residual > DAG_POTRF_BOUND, "place %zu: %g", k, residual);
        dag_matrix_free(f);
        dag_matrix_free(a);
    }
    const dag_matrix_desc columns = {.prec = DAG_D, .m = N, .n = 20, .nb = 32};
    dag_matrix *a = matrix(desc), *x = matrix(columns), *b = matrix(columns);
    int64_t info, where[4] = {1, 0, 7, 18};
    dag_plghe_source random = {a, N, 1};
    const dag_element_source source = {dag_plghe_each, &random};
    dag_solve_error error = {0, 0};
    CHECK(dag_plghe(ctx, a, N, 1) == DAG_SUCCESS, "plghe");
    CHECK(dag_row_sums(ctx, &source, b) == DAG_SUCCESS, "row sums");
    CHECK(dag_row_sums(ctx, &source, x) == DAG_SUCCESS, "row sums");
    CHECK(dag_dposv(ctx, DAG_LOWER, a, x, &info) == DAG_SUCCESS && info == 0, "posv");
    double *panel = malloc(2 * N * 20 * sizeof(*panel)), worst = 0;
    CHECK(dag_matrix_panel(ctx, x, 0, 20, panel) == DAG_SUCCESS, "panel");
    for (int i = 0; i < N * 20; i++)
        worst = fmax(worst, fabs(panel[2 * i] - 1) + fabs(panel[2 * i + 1]));
    CHECK(worst < 1e-13, "the solution is 1: %g", worst);
    CHECK(dag_matrix_panel(ctx, x, 19, 2, panel) == DAG_ERR_ARG, "not so many columns");
    free(panel);
    CHECK(dag_solve_residual(ctx, &source, b, x, &error) == DAG_SUCCESS, "residual");
    CHECK(error.normwise < 1e-14, "%g", error.normwise);
    (void)dag_matrix_each_local(x, spoil, where);
    CHECK(dag_solve_residual(ctx, &source, b, x, &error) == DAG_SUCCESS, "residual");
    CHECK(error.normwise > 1e-9 && error.componentwise > 1e-9, "%g %g", error.normwise,
          error.componentwise);
    dag_matrix_free(a);
    dag_matrix_free(x);
    dag_matrix_free(b);
}

/* ---- not positive definite --------------------------------------------------------------- */

static dag_status set_diagonal(dag_matrix *a, int64_t i, int64_t j, const dag_element *e, void *arg)
{
    int64_t bad = *(int64_t *)arg;
    for (int64_t k = 0; i == j && k < e->shape.m; k++)
        if (i * a->mb + k >= bad)
            ((double *)e->ptr)[k * (e->ld + 1)] = -1;
    return DAG_SUCCESS;
}

static void test_info(void)
{
    const int64_t places[] = {0, 1, 31, 32, 63, 64, 99};
    for (size_t k = 0; k < sizeof(places) / sizeof(places[0]); k++)
        for (int u = 0; u < 2; u++) {
            dag_uplo uplo = u ? DAG_UPPER : DAG_LOWER;
            dag_matrix *a = matrix((dag_matrix_desc){.prec = DAG_D, .m = 100, .n = 100, .nb = 32,
                                                     .uplo = uplo});
            dag_matrix *b = matrix((dag_matrix_desc){.prec = DAG_D, .m = 100, .n = 1, .nb = 32});
            int64_t info = -1, bad = places[k];
            CHECK(dag_plghe(ctx, a, 100, 2) == DAG_SUCCESS, "plghe");
            (void)dag_matrix_each_local(a, set_diagonal, &bad);
            CHECK(dag_posv(ctx, uplo, a, b, &info) == DAG_SUCCESS, "an indefinite matrix");
            CHECK(info == bad + 1, "info %" PRId64 ", not %" PRId64, info, bad + 1);
            dag_matrix_free(a);
            dag_matrix_free(b);
        }
}

/* ---- arguments, and several pools at once ------------------------------------------------- */

static void refuse(dag_status status, const char *text)
{
    CHECK(status == DAG_ERR_ARG, "%s: status %d", text, (int)status);
    CHECK(strstr(dag_message(ctx), text) != NULL, "'%s'", text);
}

static void test_arguments(void)
{
    dag_matrix *a = matrix((dag_matrix_desc){.prec = DAG_D, .m = 20, .n = 20, .nb = 8,
                                             .uplo = DAG_LOWER});
    dag_matrix *wide = matrix((dag_matrix_desc){.prec = DAG_D, .m = 20, .n = 21, .nb = 8});
    dag_matrix *flat = matrix((dag_matrix_desc){.prec = DAG_D, .m = 20, .n = 20, .mb = 8, .nb = 4});
    dag_matrix *other = matrix((dag_matrix_desc){.prec = DAG_S, .m = 20, .n = 2, .nb = 8});
    dag_matrix *high = matrix((dag_matrix_desc){.prec = DAG_D, .m = 24, .n = 2, .nb = 8});
    int64_t info = 77;
    refuse(dag_potrf(ctx, DAG_GENERAL, a, &info), "uplo is");
    refuse(dag_potrf(ctx, DAG_UPPER, a, &info), "stores the lower triangle only");
    refuse(dag_potrf(ctx, DAG_LOWER, wide, &info), "20 x 21; it must be square");
    refuse(dag_potrf(ctx, DAG_LOWER, flat, &info), "tiles of A are 8 x 4");
    refuse(dag_spotrf(ctx, DAG_LOWER, a, &info), "dag_spotrf: A holds 'd' elements");
    refuse(dag_zpotrs(ctx, DAG_LOWER, a, wide), "dag_zpotrs: A holds 'd' elements");
    refuse(dag_cposv(ctx, DAG_LOWER, a, wide, &info), "dag_cposv: A holds 'd' elements");
    refuse(dag_potrs(ctx, DAG_LOWER, a, other), "A holds 'd' elements and B 's'");
    refuse(dag_posv(ctx, DAG_LOWER, a, high, &info), "those of B 24 in tiles of 8");
    refuse(dag_potrs(ctx, DAG_LOWER, a, a), "all its tiles");
    CHECK(info == 77, "info was written: %" PRId64, info);
    CHECK(dag_dpotrf_new(ctx, DAG_UPPER, a) == NULL, "a pool of nothing");
    dag_matrix_free(a);
    dag_matrix_free(wide);
    dag_matrix_free(flat);
    dag_matrix_free(other);
    dag_matrix_free(high);
}

/* What one rank refuses, all refuse; none waits for it. */
static void test_one_refuses(void)
{
    int64_t info;
    double number;
    for (int bad = 0; bad < dag_size(ctx); bad += 2) {
        dag_matrix *a = matrix((dag_matrix_desc){.prec = DAG_D, .m = 20, .n = 20, .nb = 8});
        dag_matrix *b = matrix((dag_matrix_desc){.prec = DAG_D, .m = 20, .n = 2, .nb = 8});
        dag_matrix *wide = matrix((dag_matrix_desc){.prec = DAG_D, .m = 20, .n = 21, .nb = 8});
        int me = dag_rank(ctx) == bad;
        refuse((me ? dag_spotrf : dag_dpotrf)(ctx, DAG_LOWER, a, &info), "dag_");
        refuse(dag_potrf(ctx, DAG_LOWER, me ? wide : a, &info), me ? "square" : "rank ");
        refuse(dag_dpotrf(ctx, DAG_LOWER, me ? NULL : a, &info), me ? "A is NULL" : "rank ");
        refuse(dag_potrs(ctx, DAG_LOWER, a, me ? NULL : b), me ? "B is NULL" : "rank ");
        refuse(dag_posv(ctx, DAG_LOWER, a, b, me ? NULL : &info), me ? "info is NULL" : "rank ");
        refuse(dag_plghe(ctx, me ? wide : a, 1, 1), me ? "square" : "rank ");
        refuse(dag_plrnt(ctx, me ? NULL : b, 1), me ? "A is NULL" : "rank ");
        refuse(dag_lanhe(ctx, DAG_NORM_FRO, DAG_LOWER, me ? NULL : a, &number), me ? "A is NULL" : "rank ");
        CHECK(dag_plghe(ctx, a, 20, 1) == DAG_SUCCESS, "usable afterwards");
        dag_matrix_free(a);
        dag_matrix_free(b);
        dag_matrix_free(wide);
    }
    CHECK(dag_potrf_new(ctx, DAG_LOWER, NULL) == NULL, "a pool of nothing");
}

/* Four factorisations at once, the next pools already added behind them. */
static void test_pools(void)
{
    enum { COUNT = 4, N = 150 };
    dag_matrix *a[COUNT], *b[COUNT], *x[COUNT];
    dag_taskpool *factor[COUNT], *solve[COUNT];
    for (int k = 0; k < COUNT; k++) {
        dag_matrix_desc desc = {.prec = (dag_precision)k, .m = N, .n = N, .nb = 20 + k};
        a[k] = matrix(desc);
        desc.n = 3;
        x[k] = matrix(desc);
        b[k] = matrix(desc);
        CHECK(dag_plghe(ctx, a[k], N, k) == DAG_SUCCESS, "plghe");
        CHECK(dag_plrnt(ctx, x[k], k) == DAG_SUCCESS, "plrnt");
        CHECK(dag_plrnt(ctx, b[k], k) == DAG_SUCCESS, "plrnt");
    }
    for (int k = 0; k < COUNT; k++) {
        factor[k] = dag_potrf_new(ctx, DAG_LOWER, a[k]);
        solve[k] = dag_potrs_new(ctx, DAG_LOWER, a[k], x[k]);
        CHECK(factor[k] != NULL && solve[k] != NULL, "pools");
        CHECK(dag_add(ctx, factor[k]) == DAG_SUCCESS, "add");
        CHECK(dag_add(ctx, solve[k]) == DAG_SUCCESS, "add");
    }
    for (int k = COUNT - 1; k >= 0; k--) {
        dag_pool_stats stats;
        CHECK(dag_wait(solve[k]) == DAG_SUCCESS, "wait");
        int done = 0;
        while (!done)
            CHECK(dag_test(factor[k], &done) == DAG_SUCCESS, "test");
        CHECK(dag_taskpool_info(factor[k]) == 0, "info");
        dag_taskpool_stats(factor[k], &stats);
        CHECK(stats.renames == 0 && stats.deferred_stores == 0,
              "Cholesky is in place: %" PRId64 " renames, %" PRId64 " deferred", stats.renames,
              stats.deferred_stores);
        dag_taskpool_free(factor[k]);
        dag_taskpool_free(solve[k]);
    }
    for (int k = 0; k < COUNT; k++) {
        dag_plghe_source random = {a[k], N, k};
        const dag_element_source source = {dag_plghe_each, &random};
        dag_solve_error error;
        double eps = dag_precision_real(a[k]->prec) == DAG_S ? 1.2e-7 : 2.3e-16;
        CHECK(dag_solve_residual(ctx, &source, b[k], x[k], &error) == DAG_SUCCESS, "residual");
        CHECK(error.normwise <= DAG_SOLVE_BOUND * eps, "%d: %g", k, error.normwise);
        dag_matrix_free(a[k]);
        dag_matrix_free(b[k]);
        dag_matrix_free(x[k]);
    }
}

int main(void)
{
    char why[256];
    dag_kernels_init(NULL);
    if (dag_init(&ctx, NULL, why, sizeof(why)) != DAG_SUCCESS) {
        fprintf(stderr, "la_api: %s\n", why);
        return 1;
    }
    test_allreduce();
    test_agree();
    test_gather(DAG_GENERAL, DAG_LAYOUT_TILE, 50, 37);
    test_gather(DAG_GENERAL, DAG_LAYOUT_SLAB, 17, 64);
    test_gather(DAG_LOWER, DAG_LAYOUT_TILE, 70, 70);
    test_gather(DAG_UPPER, DAG_LAYOUT_SLAB, 70, 70);
    test_gather(DAG_GENERAL, DAG_LAYOUT_TILE, 5, 0);
    test_arguments();
    test_one_refuses();
    test_solves();
    test_spoiled();
    test_info();
    test_pools();
    return dag_fini(ctx) != DAG_SUCCESS || failures != 0;
}

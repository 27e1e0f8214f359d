/*
 * Cholesky, QR and product as programs that insert their tasks, against the graphs of the same routines: bit by
 * bit, over element types, shapes, tile sizes, grids and storages, with graphs before and behind.
 *
 *     inserted_matrix [full]
 *
 * One launch on R ranks runs the cases whose grid has R places; without `full` one in SOME of them, or in MANY
 * where there are several workers.
 */
#include "same_tile.h"

#include <dag/config.h>
#include <dag/inserted.h>
#include <dag/la.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SOME = 13, MANY = 61 /* no factors of what is chosen from */, NGRIDS = 7, SEED = 7 };
static const int grids[NGRIDS][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {2, 3}, {3, 2}, {1, 6}};

static dag_context *ctx;
static int failures, cases, each; /* one in so many */

typedef struct test_case {
    const char *what;
    int64_t m, n, k, nb;
    int p, q;
    dag_precision prec;
    dag_layout layout;
    int variant; /* of the routine */
} test_case;

static void fail(const test_case *c, const char *what)
{
    failures++;
    fprintf(stderr, "rank %d: %s %" PRId64 " x %" PRId64 " x %" PRId64 ", nb %" PRId64
            ", grid %dx%d, %c, %s, variant %d: %s (%s)\n", dag_rank(ctx), c->what, c->m, c->n, c->k,
            c->nb, c->p, c->q, dag_precision_letter(c->prec),
            c->layout == DAG_LAYOUT_SLAB ? "slab" : "tile", c->variant, what, dag_message(ctx));
}

static void check(const test_case *c, const char *what, dag_status status)
{
    if (status != DAG_SUCCESS)
        fail(c, what);
}

static dag_matrix *make(const test_case *c, int64_t m, int64_t n, dag_uplo uplo)
{
    const dag_matrix_desc desc = {.prec = c->prec, .m = m, .n = n, .mb = c->nb, .nb = c->nb, .p = c->p,
                                  .q = c->q, .layout = c->layout, .uplo = uplo};
    dag_matrix *A = NULL;
    check(c, "a matrix", dag_matrix_new(ctx, &desc, &A));
    return A;
}

static void same(const test_case *c, const char *what, dag_matrix *A, dag_matrix *B)
{
    check(c, what, dag_matrix_each_local(A, same_tile, B));
}

/* ---- the routines ---------------------------------------------------------------------------- */

/* variant: bit 0 upper, bit 1 not positive definite */
static void cholesky(const test_case *c)
{
    dag_uplo uplo = c->variant & 1 ? DAG_UPPER : DAG_LOWER;
    dag_uplo stored = c->layout == DAG_LAYOUT_TILE ? uplo : DAG_GENERAL;
    dag_matrix *A = make(c, c->n, c->n, stored), *B = make(c, c->n, c->n, stored);
    int64_t info[2] = {-1, -1};
    double residual = 1e9, bump = c->variant & 2 ? 0 : (double)c->n;
    for (int i = 0; i < 2; i++)
        check(c, "plghe", dag_plghe(ctx, i ? B : A, bump, SEED));
    check(c, "potrf", dag_potrf(ctx, uplo, A, &info[0]));
    check(c, "potrf_inserted", dag_potrf_inserted(ctx, uplo, B, &info[1]));
    if (info[0] != info[1] || ((c->variant & 2) && c->n > 1) != (info[0] > 0))
        fail(c, "another info");
    if (info[0] == 0) {
        same(c, "the factors", A, B);
        check(c, "plghe", dag_plghe(ctx, A, bump, SEED));
        check(c, "the residual", dag_potrf_residual(ctx, uplo, B, A, &residual));
        if (!(residual <= DAG_POTRF_BOUND))
            fail(c, "the residual");
    }
    dag_matrix_free(A);
    dag_matrix_free(B);
}

/* variant: stacks of as many tiles; 3 and more: and blocks of rows */
static void qr(const test_case *c)
{
    const dag_qr_options o = {.stack = c->variant, .block = c->variant < 3 ? 0 : 2 * c->nb};
    int64_t k = c->m < c->n ? c->m : c->n;
    dag_matrix *A = make(c, c->m, c->n, DAG_GENERAL), *B = make(c, c->m, c->n, DAG_GENERAL);
    dag_matrix *Q[2] = {make(c, c->m, k, DAG_GENERAL), make(c, c->m, k, DAG_GENERAL)};
    dag_qr *qr[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++)
        check(c, "plrnt", dag_plrnt(ctx, i ? B : A, SEED));
    check(c, "geqrf", dag_geqrf_with(ctx, A, &o, &qr[0]));
    check(c, "geqrf_inserted", dag_geqrf_inserted(ctx, B, &o, &qr[1]));
    same(c, "R and V", A, B);
    check(c, "Q", dag_ungqr(ctx, A, qr[0], Q[0]));
    check(c, "Q of the inserted", dag_ungqr(ctx, B, qr[1], Q[1]));
    same(c, "Q", Q[0], Q[1]);
    for (int i = 0; i < 2; i++) {
        dag_qr_free(qr[i]);
        dag_matrix_free(Q[i]);
    }
    dag_matrix_free(A);
    dag_matrix_free(B);
}

/* variant: transa + 3 transb; 9: both factors are one matrix; 10: alpha is 0 */
static void product(const test_case *c)
{
    dag_trans none = DAG_NO_TRANS;
    static const dag_trans trans[3] = {DAG_NO_TRANS, DAG_TRANS, DAG_CONJ_TRANS};
    int squared = c->variant == 9, nothing = c->variant == 10;
    dag_trans ta = c->variant < 9 ? trans[c->variant % 3] : none, tb = c->variant < 9 ? trans[c->variant / 3] : none;
    int64_t m = squared ? c->n : c->m, k = squared ? c->n : c->k;
    dag_matrix *A = ta == none ? make(c, m, k, DAG_GENERAL) : make(c, k, m, DAG_GENERAL);
    dag_matrix *B = squared ? A : tb == none ? make(c, k, c->n, DAG_GENERAL) : make(c, c->n, k, DAG_GENERAL);
    dag_matrix *C[2] = {make(c, m, c->n, DAG_GENERAL), make(c, m, c->n, DAG_GENERAL)};
    const dag_gemm_options o = {.method = DAG_GEMM_STATIONARY_C};
    check(c, "plrnt", dag_plrnt(ctx, A, SEED));
    if (!squared)
        check(c, "plrnt", dag_plrnt(ctx, B, SEED + 1));
    for (int i = 0; i < 2; i++)
        check(c, "plrnt", dag_plrnt(ctx, C[i], SEED + 2));
    double alpha = nothing ? 0 : 0.5;
    check(c, "gemm", dag_gemm_with(ctx, ta, tb, alpha, A, B, -1, C[0], &o));
    check(c, "gemm_inserted", dag_gemm_inserted(ctx, ta, tb, alpha, A, B, -1, C[1]));
    same(c, "the products", C[0], C[1]);
    if (!squared)
        dag_matrix_free(B);
    dag_matrix_free(A);
    dag_matrix_free(C[0]);
    dag_matrix_free(C[1]);
}

/* ---- which cases --------------------------------------------------------------------------------- */

static const struct family {
    const char *what;
    void (*run)(const test_case *c);
    int variants, nshapes, ntiles;
    int64_t shape[12][3], tile[4];
} families[] = {
    {"potrf", cholesky, 4, 6, 3, {{0, 0}, {1, 1}, {40, 40}, {97, 97}, {192, 192}, {193, 193}}, {16, 33, 64}},
    {"geqrf", qr, 4, 12, 3,
     {{0, 0}, {0, 5}, {5, 0}, {1, 1}, {7, 7}, {40, 40}, {97, 97}, {150, 60}, {60, 150}, {300, 9}, {257, 33}, {9, 200}},
     {7, 16, 33}},
    {"gemm", product, 11, 5, 2, {{0, 3, 4}, {5, 4, 0}, {1, 1, 1}, {50, 40, 70}, {97, 33, 64}}, {8, 33}},
};

static void run_family(const struct family *f, int *turn)
{
    int total = f->variants * f->nshapes * f->ntiles * NGRIDS * 4 * 2;
    for (int at = 0; at < total; at++) {
        int x = at;
        const int choices[] = {f->variants, 4, 2, NGRIDS, f->ntiles, f->nshapes};
        int chosen[6];
        for (int i = 0; i < 6; i++) {
            chosen[i] = x % choices[i];
            x /= choices[i];
        }
        const int64_t *shape = f->shape[chosen[5]];
        const test_case c = {f->what, shape[0], shape[1], shape[2], f->tile[chosen[4]], grids[chosen[3]][0],
                             grids[chosen[3]][1], (dag_precision)chosen[1],
                             chosen[2] ? DAG_LAYOUT_SLAB : DAG_LAYOUT_TILE, chosen[0]};
        if (c.p * c.q != dag_size(ctx) || (*turn)++ % each != 0)
            continue;
        cases++;
        f->run(&c);
    }
}

int main(int argc, char **argv)
{
    char why[256] = "";
    int turn = 0;
    dag_config *config = dag_config_new();
    dag_config_set(config, "direct", "off", NULL, 0);
    if (dag_init(&ctx, config, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "inserted_matrix: %s\n", why);
        return 1;
    }
    dag_config_free(config);
    int full = argc > 1 && strcmp(argv[1], "full") == 0, few = dag_size(ctx) * dag_workers(ctx) > 2;
    each = full ? 1 : few ? MANY : SOME;
    for (size_t f = 0; f < sizeof families / sizeof families[0]; f++)
        run_family(&families[f], &turn);
    if (dag_rank(ctx) == 0)
        printf("inserted_matrix: %d cases on %d ranks, %d failed\n", cases, dag_size(ctx), failures);
    return dag_fini(ctx) != DAG_SUCCESS || failures > 0 || cases == 0;
}

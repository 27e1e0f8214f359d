/*
 * Triangular systems over orders, tile sizes, grids, element types, triangles and storages.
 *
 *     trtrs_matrix [full]
 *
 * One launch on R ranks runs every case whose grid has R places. What must not be read is NaN.
 * Solutions are gathered and put into the equation in the plain way, on rank 0.
 */
#include "matrices.h"

#include <float.h>
#include <inttypes.h>
#include <string.h>

enum { NORDERS = 6, NTILES = 5, NGRIDS = 7, NCOUNTS = 4 };
static const int64_t orders[NORDERS] = {0, 1, 7, 64, 100, 130};
static const int64_t tiles[NTILES] = {1, 9, 16, 33, 500};
static const int64_t counts[NCOUNTS] = {1, 0, 5, 40}; /* of right-hand sides */
static const int grids[NGRIDS][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {2, 3}, {3, 2}, {6, 1}};
static const dag_trans transposed[3] = {DAG_NO_TRANS, DAG_TRANS, DAG_CONJ_TRANS};

static int failures, cases;

typedef struct test_case {
    int64_t n, nb, nrhs;
    int p, q;
    dag_precision prec;
    dag_layout layout;
    dag_uplo uplo, stored; /* stored: A's own */
    dag_trans trans;
    dag_diag diag;
} test_case;

static void fail(dag_context *ctx, const test_case *c, const char *what, double x)
{
    failures++;
    fprintf(stderr,
            "rank %d: n %" PRId64 ", nb %" PRId64 ", nrhs %" PRId64 ", grid %dx%d, %c, %s, %s%s, "
            "trans %d, %s: %s (%g)\n",
            dag_rank(ctx), c->n, c->nb, c->nrhs, c->p, c->q, dag_precision_letter(c->prec),
            c->layout == DAG_LAYOUT_SLAB ? "slab" : "tile",
            c->uplo == DAG_LOWER ? "lower" : "upper", c->stored == DAG_GENERAL ? " of all" : "",
            (int)c->trans, c->diag == DAG_UNIT ? "unit" : "nonunit", what, x);
}

static int good(dag_context *ctx, const test_case *c, const char *what, dag_status status)
{
    if (status == DAG_SUCCESS)
        return 1;
    fail(ctx, c, what, status);
    fprintf(stderr, "    %s\n", dag_message(ctx));
    return 0;
}

static dag_dcomplex random_number(dag_precision prec, uint64_t *state)
{
    double part[2];
    for (int k = 0; k < 2; k++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        part[k] = (double)(*state >> 11) * 0x1p-53 - 0.5;
    }
    return dag_precision_is_complex(prec) ? __builtin_complex(part[0], part[1]) : part[0];
}

/* Small beside its diagonal, which with DAG_UNIT, as the other triangle, is NaN. */
static whole triangle(const test_case *c)
{
    whole w = whole_new(c->prec, c->n, c->n);
    uint64_t state = 11;
    for (int64_t j = 0; j < c->n; j++)
        for (int64_t i = 0; i < c->n; i++) {
            dag_dcomplex x = random_number(c->prec, &state) / (double)c->n;
            if (i == j)
                x = c->diag == DAG_UNIT ? NAN : x + 1;
            else if ((i > j) != (c->uplo == DAG_LOWER))
                x = NAN;
            whole_put(w, i, j, x);
        }
    return w;
}

static whole sides(const test_case *c)
{
    whole w = whole_new(c->prec, c->n, c->nrhs);
    uint64_t state = 12;
    for (int64_t j = 0; j < c->nrhs; j++)
        for (int64_t i = 0; i < c->n; i++)
            whole_put(w, i, j, random_number(c->prec, &state));
    return w;
}

/* Element (i, j) of op(A). */
static dag_dcomplex op(const test_case *c, whole a, int64_t i, int64_t j)
{
    int64_t row = c->trans == DAG_NO_TRANS ? i : j, col = c->trans == DAG_NO_TRANS ? j : i;
    if (row == col && c->diag == DAG_UNIT)
        return 1;
    if (row != col && (row > col) != (c->uplo == DAG_LOWER))
        return 0;
    dag_dcomplex x = whole_get(a, row, col);
    return c->trans == DAG_CONJ_TRANS ? __builtin_conj(x) : x;
}

/* The largest |B - op(A) X| / ((|op(A)| |X| + |B|) n eps) of all elements. */
static double error_of(const test_case *c, whole a, whole b, whole x)
{
    double eps = dag_precision_real(c->prec) == DAG_S ? FLT_EPSILON : DBL_EPSILON, most = 0;
    for (int64_t k = 0; k < c->nrhs; k++)
        for (int64_t i = 0; i < c->n; i++) {
            dag_dcomplex rest = whole_get(b, i, k);
            double size = __builtin_cabs(rest);
            for (int64_t j = 0; j < c->n; j++) {
                dag_dcomplex product = op(c, a, i, j) * whole_get(x, j, k);
                rest -= product;
                size += __builtin_cabs(product);
            }
            double error = __builtin_cabs(rest) / (size * (double)c->n * eps);
            if (error > most || isnan(error))
                most = error;
        }
    return most;
}

static dag_matrix *distribute(dag_context *ctx, const test_case *c, whole w, dag_uplo uplo)
{
    dag_matrix *A = matrix_of(ctx, (dag_matrix_desc){.prec = c->prec, .m = w.m, .n = w.n,
                                                     .mb = c->nb, .nb = c->nb, .p = c->p, .q = c->q,
                                                     .layout = c->layout, .uplo = uplo});
    fill_from(A, w);
    return A;
}

/* info is the same on all ranks, and what it should be. */
static void expect_info(dag_context *ctx, const test_case *c, int64_t info, int64_t wanted)
{
    double range[2] = {(double)info, -(double)info};
    if (!good(ctx, c, "allreduce", dag_allreduce(ctx, DAG_MAX, range, 2)))
        return;
    if (range[0] != -range[1])
        fail(ctx, c, "info differs between ranks", (double)info);
    if (info != wanted)
        fail(ctx, c, "info", (double)info);
}

static void run_case(dag_context *ctx, const test_case *c)
{
    whole a = triangle(c), b = sides(c), x = whole_new(c->prec, c->n, c->nrhs);
    dag_matrix *A = distribute(ctx, c, a, c->stored), *B = distribute(ctx, c, b, DAG_GENERAL);
    int64_t info = -1;
    cases++;
    if (good(ctx, c, "trtrs", dag_trtrs(ctx, c->uplo, c->trans, c->diag, A, B, &info)) &&
        good(ctx, c, "gather", dag_matrix_gather(B, x.a, c->n > 0 ? c->n : 1)) &&
        dag_rank(ctx) == 0) {
        double error = error_of(c, a, b, x);
        if (!(error < 10))
            fail(ctx, c, "error", error);
    }
    expect_info(ctx, c, info, 0);
    if (difference_from(A, a) != 0)
        fail(ctx, c, "A was changed", 0);
    dag_matrix_free(A);
    dag_matrix_free(B);
    free(a.a);
    free(b.a);
    free(x.a);
}

/* The first of two zeros is found and nothing is solved, also where there is nothing to solve; with
 * DAG_UNIT the diagonal counts for nothing; a NaN on it is no zero. */
static void run_singular(dag_context *ctx, test_case c, int64_t at)
{
    c.diag = DAG_NON_UNIT;
    whole a = triangle(&c), b = sides(&c);
    dag_matrix *A = distribute(ctx, &c, a, c.stored), *B = distribute(ctx, &c, b, DAG_GENERAL);
    int64_t info = -1;
    cases++;
    whole_put(a, at, at, 0);
    whole_put(a, c.n - 1, c.n - 1, 0);
    fill_from(A, a);
    (void)good(ctx, &c, "singular", dag_trtrs(ctx, c.uplo, c.trans, DAG_NON_UNIT, A, B, &info));
    expect_info(ctx, &c, info, at + 1);
    if (difference_from(B, b) != 0)
        fail(ctx, &c, "B was changed", 0);
    (void)good(ctx, &c, "unit", dag_trtrs(ctx, c.uplo, c.trans, DAG_UNIT, A, B, &info));
    expect_info(ctx, &c, info, 0);
    double changed = difference_from(B, b);
    if (good(ctx, &c, "allreduce", dag_allreduce(ctx, DAG_MAX, &changed, 1)) && c.nrhs > 0 &&
        c.n > 1 && !(changed > 0))
        fail(ctx, &c, "nothing was solved with a unit diagonal", changed);
    whole_put(a, at, at, NAN);
    whole_put(a, c.n - 1, c.n - 1, at == c.n - 1 ? NAN : 1);
    fill_from(A, a);
    (void)good(ctx, &c, "NaN", dag_trtrs(ctx, c.uplo, c.trans, DAG_NON_UNIT, A, B, &info));
    expect_info(ctx, &c, info, 0);
    dag_matrix_free(A);
    dag_matrix_free(B);
    free(a.a);
    free(b.a);
}

static void refuse(dag_context *ctx, const test_case *c, const char *text, dag_status status)
{
    const char *message = dag_message(ctx);
    if (status != DAG_ERR_ARG)
        fail(ctx, c, text, status);
    else if (strstr(message, text) == NULL && strstr(message, "has refused") == NULL)
        fail(ctx, c, message, status);
}

static void refusals(dag_context *ctx)
{
    test_case c = {.n = 20, .nb = 8, .nrhs = 3, .p = 1, .q = 1, .prec = DAG_D, .uplo = DAG_LOWER,
                   .trans = DAG_NO_TRANS, .diag = DAG_NON_UNIT};
    test_case other = c;
    whole a = triangle(&c), b = sides(&c), wide = whole_new(DAG_D, 20, 21);
    dag_matrix *A = distribute(ctx, &c, a, DAG_LOWER), *B = distribute(ctx, &c, b, DAG_GENERAL);
    dag_matrix *L = distribute(ctx, &c, a, DAG_LOWER), *W = distribute(ctx, &c, wide, DAG_GENERAL);
    other.nb = 5;
    dag_matrix *cut = distribute(ctx, &other, b, DAG_GENERAL);
    dag_matrix *S = matrix_of(ctx, (dag_matrix_desc){.prec = DAG_S, .m = 20, .n = 3, .mb = 8,
                                                     .nb = 8, .p = 1, .q = 1});
    const dag_uplo low = DAG_LOWER;
    const dag_trans no = DAG_NO_TRANS;
    const dag_diag full = DAG_NON_UNIT;
    int64_t info = 7, *mine = dag_rank(ctx) == dag_size(ctx) - 1 ? NULL : &info;
    cases++;
    refuse(ctx, &c, "trans is 9", dag_trtrs(ctx, low, (dag_trans)9, full, A, B, &info));
    refuse(ctx, &c, "diag is 9", dag_trtrs(ctx, low, no, (dag_diag)9, A, B, &info));
    refuse(ctx, &c, "uplo is", dag_trtrs(ctx, DAG_GENERAL, no, full, A, B, &info));
    refuse(ctx, &c, "lower triangle only", dag_trtrs(ctx, DAG_UPPER, no, full, A, B, &info));
    refuse(ctx, &c, "A is NULL", dag_trtrs(ctx, low, no, full, NULL, B, &info));
    refuse(ctx, &c, "B is NULL", dag_trtrs(ctx, low, no, full, A, NULL, &info));
    refuse(ctx, &c, "info is NULL", dag_trtrs(ctx, low, no, full, A, B, mine));
    refuse(ctx, &c, "must be square", dag_trtrs(ctx, low, no, full, W, B, &info));
    refuse(ctx, &c, "in tiles of 5", dag_trtrs(ctx, low, no, full, A, cut, &info));
    refuse(ctx, &c, "the same matrix", dag_trtrs(ctx, low, no, full, A, A, &info));
    refuse(ctx, &c, "'d' elements and B 's'", dag_trtrs(ctx, low, no, full, A, S, &info));
    refuse(ctx, &c, "not 'z'", dag_ztrtrs(ctx, low, no, full, A, B, &info));
    refuse(ctx, &c, "all its tiles", dag_trtrs(ctx, low, no, full, A, L, &info));
    if (info != 7 || difference_from(B, b) != 0)
        fail(ctx, &c, "a call that was refused has written", (double)info);
    dag_matrix_free(A);
    dag_matrix_free(B);
    dag_matrix_free(L);
    dag_matrix_free(cut);
    dag_matrix_free(W);
    dag_matrix_free(S);
    free(a.a);
    free(b.a);
    free(wide.a);
}

static void run_grid(dag_context *ctx, int p, int q, int full)
{
    int at = 0;
    test_case c = {.p = p, .q = q};
    for (int s = 0; s < NORDERS; s++)
        for (int t = 0; t < NTILES; t++)
            for (int v = 0; v < 4 * 2 * 2 * 3 * 2; v++) {
                c.n = orders[s];
                c.nb = tiles[t];
                c.prec = (dag_precision)(v % 4);
                c.uplo = v / 4 % 2 ? DAG_LOWER : DAG_UPPER;
                c.diag = v / 8 % 2 ? DAG_UNIT : DAG_NON_UNIT;
                c.trans = transposed[v / 16 % 3];
                c.layout = v / 48 ? DAG_LAYOUT_SLAB : DAG_LAYOUT_TILE;
                c.stored = (at + s) % 2 ? c.uplo : DAG_GENERAL;
                c.nrhs = counts[(at / 3 + t) % NCOUNTS];
                if ((c.nb == 1 && c.n > 64) || (at++ % 29 != 0 && !full))
                    continue;
                run_case(ctx, &c);
            }
    for (int v = 0; v < 8; v++) {
        c = (test_case){.n = 50, .nb = v % 3 ? 16 : 64, .nrhs = counts[v % NCOUNTS], .p = p, .q = q,
                        .prec = (dag_precision)(v % 4), .uplo = v % 2 ? DAG_LOWER : DAG_UPPER,
                        .stored = DAG_GENERAL, .trans = transposed[v % 3]};
        const int64_t zeros[4] = {0, 15, 37, 49};
        run_singular(ctx, c, zeros[v / 2]);
    }
}

int main(int argc, char **argv)
{
    int full = argc > 1 && strcmp(argv[1], "full") == 0;
    dag_context *ctx;
    if (dag_init(&ctx, NULL, NULL, 0) != DAG_SUCCESS)
        return 1;
    for (int g = 0; g < NGRIDS; g++)
        if (grids[g][0] * grids[g][1] == dag_size(ctx))
            run_grid(ctx, grids[g][0], grids[g][1], full);
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

/*
 * Level 3 of BLAS over the product of routines with all their options, shapes, tiles, grids and
 * element types; storages and scalars take turns.
 *
 *     blas3_matrix [few|some|full] [routine]
 *
 * One launch on R ranks runs the cases whose grid has R places: all of them (full), or 120 of each
 * routine, chosen by a fixed random sequence so that every value of every factor occurs often
 * (some, the default), or 12 (few). Each rank makes the operands as a whole, computes the result with the
 * kernel for one tile, and compares its tiles: the difference, divided by the unit of LAPACK's
 * tests (eps times the length of the sums times the sizes of the operands), must be below 30. With
 * beta = 0 the result begins as NaN, and so do the parts of triangles that must not be read, in
 * which case nothing else of the result may change either.
 */
#include "matrices.h"

#include <dag/kernels.h>

#include <float.h>
#include <inttypes.h>
#include <string.h>

typedef enum routine { GEMM, SYMM, HEMM, SYRK, HERK, SYR2K, HER2K, TRMM, TRSM, ROUTINES } routine;
static const char *const names[ROUTINES] = {"gemm",  "symm",  "hemm", "syrk", "herk",
                                            "syr2k", "her2k", "trmm", "trsm"};

/* m, n, k: empty, one, ragged, long in each direction; tile sizes are chosen against them. */
static const int64_t shapes[][3] = {{0, 5, 7},    {5, 0, 7},    {5, 7, 0},     {1, 1, 1},
                                    {37, 23, 41}, {64, 64, 64}, {9, 90, 13},   {90, 9, 130},
                                    {7, 5, 300},  {100, 60, 3}, {150, 33, 150}, {70, 5, 20}};
static const int64_t tiles[][3] = {{1, 1, 1}, {8, 8, 8}, {10, 7, 9}, {16, 12, 5}, {500, 500, 500}};
static const int grids[][2] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {2, 3}, {3, 2}};
/* alpha and beta, imaginary parts used in c and z only */
static const double scalars[][4] = {
    {1, 0, 1, 0}, {0.7, -0.4, 0, 0}, {0, 0, 0.3, 0.6}, {-1, 0.5, 0.5, -1}, {0, 0, 0, 0}};
#define COUNT(x) ((int)(sizeof(x) / sizeof((x)[0])))

/* Factors: routine, side, uplo, transa, transb, diag, shape, tile, grid, type, storage, scalar. */
enum {
    F_ROUTINE,
    F_SIDE,
    F_UPLO,
    F_TRANSA,
    F_TRANSB,
    F_DIAG,
    F_SHAPE,
    F_TILE,
    F_GRID,
    F_PREC,
    F_LAYOUT,
    F_SCALAR,
    FACTORS
};
static const int values[FACTORS] = {
    ROUTINES, 2, 2, 3, 3, 2, COUNT(shapes), COUNT(tiles), COUNT(grids), 4, 2, COUNT(scalars)};
static const dag_trans transes[] = {DAG_NO_TRANS, DAG_TRANS, DAG_CONJ_TRANS};

typedef struct test_case {
    int at[FACTORS];
    routine what;
    dag_side side;
    dag_uplo uplo;
    dag_trans ta, tb;
    dag_diag diag;
    int64_t m, n, k, mb, nb, kb;
    dag_precision prec;
    dag_dcomplex alpha, beta;
} test_case;

static int is_rank_k(routine r)
{
    return r == SYRK || r == HERK || r == SYR2K || r == HER2K;
}

static int is_herm(routine r)
{
    return r == HEMM || r == HERK || r == HER2K;
}

/* Options that a routine does not have stay at their first value, so that no case occurs twice. */
static int is_valid(const test_case *c, int ranks)
{
    const int *at = c->at;
    int complex = dag_precision_is_complex(c->prec), grid = at[F_GRID];
    if (grids[grid][0] * grids[grid][1] != ranks)
        return 0;
    if (c->mb == 1 && c->m * c->n * c->k > 1000)
        return 0; /* too many tasks */
    int one_sided = c->what == SYMM || c->what == HEMM, tri = c->what == TRMM || c->what == TRSM;
    if ((!one_sided && !tri && at[F_SIDE]) || (c->what == GEMM && at[F_UPLO]) ||
        (!tri && at[F_DIAG]) || (c->what != GEMM && at[F_TRANSB]) || (one_sided && at[F_TRANSA]))
        return 0;
    if (is_rank_k(c->what) && complex && c->ta == (is_herm(c->what) ? DAG_TRANS : DAG_CONJ_TRANS))
        return 0;
    return 1;
}

static test_case decode(const int *at)
{
    const double *s = scalars[at[F_SCALAR]];
    test_case c = {.what = (routine)at[F_ROUTINE],
                   .side = at[F_SIDE] ? DAG_RIGHT : DAG_LEFT,
                   .uplo = at[F_UPLO] ? DAG_UPPER : DAG_LOWER,
                   .ta = transes[at[F_TRANSA]],
                   .tb = transes[at[F_TRANSB]],
                   .diag = at[F_DIAG] ? DAG_UNIT : DAG_NON_UNIT,
                   .m = shapes[at[F_SHAPE]][0],
                   .n = shapes[at[F_SHAPE]][1],
                   .k = shapes[at[F_SHAPE]][2],
                   .mb = tiles[at[F_TILE]][0],
                   .nb = tiles[at[F_TILE]][1],
                   .kb = tiles[at[F_TILE]][2],
                   .prec = (dag_precision)at[F_PREC]};
    int complex = dag_precision_is_complex(c.prec);
    memcpy(c.at, at, sizeof(c.at));
    c.alpha = __builtin_complex(s[0], complex && c.what != HERK ? s[1] : 0);
    c.beta = __builtin_complex(s[2], complex && c.what != HERK && c.what != HER2K ? s[3] : 0);
    return c;
}

/* ---- operands ---------------------------------------------------------------------------- */

static whole random_whole(dag_precision prec, int64_t m, int64_t n, uint64_t seed)
{
    whole w = whole_new(prec, m, n);
    int rows = (int)m, cols = (int)n, ld = rows > 0 ? rows : 1;
    switch (prec) {
    case DAG_S:
        dag_tile_splrnt(0, rows, cols, w.a, ld, m, 0, 0, seed);
        break;
    case DAG_D:
        dag_tile_dplrnt(0, rows, cols, w.a, ld, m, 0, 0, seed);
        break;
    case DAG_C:
        dag_tile_cplrnt(0, rows, cols, w.a, ld, m, 0, 0, seed);
        break;
    case DAG_Z:
        dag_tile_zplrnt(0, rows, cols, w.a, ld, m, 0, 0, seed);
        break;
    }
    return w;
}

/* Hides what is outside of a triangle; `unit` hides the diagonal, too. */
static void hide(whole w, dag_uplo uplo, int unit)
{
    for (int64_t j = 0; j < w.n; j++)
        for (int64_t i = 0; i < w.m; i++)
            if (i == j ? unit : (i > j) != (uplo == DAG_LOWER))
                whole_put(w, i, j, __builtin_complex((double)NAN, (double)NAN));
}

typedef struct operands {
    whole a, b, c; /* of trmm and trsm, c is what others call B, and there is no b */
} operands;

/* Small elements off the diagonal, so that the solution is well conditioned. */
static void make_triangular(whole a, dag_uplo uplo, dag_diag diag)
{
    for (int64_t j = 0; j < a.n; j++)
        for (int64_t i = 0; i < a.m; i++)
            whole_put(a, i, j, i == j ? whole_get(a, i, j) + 2 : whole_get(a, i, j) / (double)a.m);
    hide(a, uplo, diag == DAG_UNIT);
}

static operands make_operands(const test_case *c)
{
    operands o = {{0}, {0}, {0}};
    int64_t order = c->side == DAG_LEFT ? c->m : c->n;
    int turned = c->ta != DAG_NO_TRANS;
    o.c = random_whole(c->prec, c->m, is_rank_k(c->what) ? c->m : c->n, 3);
    if (c->what == GEMM) {
        o.a = random_whole(c->prec, turned ? c->k : c->m, turned ? c->m : c->k, 1);
        o.b = random_whole(c->prec, c->tb != DAG_NO_TRANS ? c->n : c->k,
                           c->tb != DAG_NO_TRANS ? c->k : c->n, 2);
    } else if (is_rank_k(c->what)) {
        o.a = random_whole(c->prec, turned ? c->k : c->m, turned ? c->m : c->k, 1);
        o.b = random_whole(c->prec, turned ? c->k : c->m, turned ? c->m : c->k, 2);
    } else {
        o.a = random_whole(c->prec, order, order, 1);
        o.b = random_whole(c->prec, c->m, c->n, 2);
    }
    if (c->what == TRMM || c->what == TRSM)
        make_triangular(o.a, c->uplo, c->diag);
    else if (c->what == SYMM || c->what == HEMM)
        hide(o.a, c->uplo, 0);
    for (int64_t i = 0; (c->what == HERK || c->what == HER2K) && i < c->m; i++)
        whole_put(o.c, i, i, __builtin_creal(whole_get(o.c, i, i)));
    if (is_rank_k(c->what))
        hide(o.c, c->uplo, 0);
    for (int64_t i = 0; c->beta == 0 && c->what != TRMM && c->what != TRSM && i < o.c.m * o.c.n;
         i++)
        put(c->prec, o.c.a, (size_t)i, __builtin_complex((double)NAN, (double)NAN));
    if (c->alpha == 0) { /* A and B are not read */
        memset(o.a.a, 0xff, (size_t)(o.a.m * o.a.n) * dag_precision_size(c->prec));
        memset(o.b.a, 0xff, (size_t)(o.b.m * o.b.n) * dag_precision_size(c->prec));
    }
    return o;
}

/* ---- the same on one tile ---------------------------------------------------------------- */

#define DAG_TEMPLATE "blas3_whole.inc.c"
#include <dag/each_precision.h>

static void compute_whole(const test_case *c, operands *o)
{
    switch (c->prec) {
    case DAG_S:
        whole_s(c, o);
        break;
    case DAG_D:
        whole_d(c, o);
        break;
    case DAG_C:
        whole_c(c, o);
        break;
    case DAG_Z:
        whole_z(c, o);
        break;
    }
}

/* ---- the same on tiles ------------------------------------------------------------------- */

static dag_status compute(dag_context *ctx, const test_case *c, dag_matrix *a, dag_matrix *b,
                          dag_matrix *r)
{
    double alpha = __builtin_creal(c->alpha), beta = __builtin_creal(c->beta);
    switch (c->what) {
    case GEMM:
        return dag_gemm(ctx, c->ta, c->tb, c->alpha, a, b, c->beta, r);
    case SYMM:
        return dag_symm(ctx, c->side, c->uplo, c->alpha, a, b, c->beta, r);
    case HEMM:
        return dag_hemm(ctx, c->side, c->uplo, c->alpha, a, b, c->beta, r);
    case SYRK:
        return dag_syrk(ctx, c->uplo, c->ta, c->alpha, a, c->beta, r);
    case HERK:
        return dag_herk(ctx, c->uplo, c->ta, alpha, a, beta, r);
    case SYR2K:
        return dag_syr2k(ctx, c->uplo, c->ta, c->alpha, a, b, c->beta, r);
    case HER2K:
        return dag_her2k(ctx, c->uplo, c->ta, c->alpha, a, b, beta, r);
    case TRMM:
        return dag_trmm(ctx, c->side, c->uplo, c->ta, c->diag, c->alpha, a, r);
    default:
        return dag_trsm(ctx, c->side, c->uplo, c->ta, c->diag, c->alpha, a, r);
    }
}

/* Tiles along the rows and columns of each operand, so that they fit one another. */
static void set_tiles(const test_case *c, dag_matrix_desc *a, dag_matrix_desc *b,
                      dag_matrix_desc *r)
{
    int turned = c->ta != DAG_NO_TRANS, tb = c->tb != DAG_NO_TRANS;
    r->mb = c->mb, r->nb = c->nb;
    if (c->what == GEMM) {
        a->mb = turned ? c->kb : c->mb, a->nb = turned ? c->mb : c->kb;
        b->mb = tb ? c->nb : c->kb, b->nb = tb ? c->kb : c->nb;
    } else if (is_rank_k(c->what)) {
        r->nb = c->mb;
        b->mb = a->mb = turned ? c->kb : c->mb, b->nb = a->nb = turned ? c->mb : c->kb;
    } else {
        a->mb = a->nb = c->side == DAG_LEFT ? c->mb : c->nb;
        b->mb = c->mb, b->nb = c->nb;
    }
}

/* Difference of the result from the whole one in LAPACK's unit. */
static double judge(const test_case *c, dag_matrix *r, whole want, dag_context *ctx)
{
    int64_t terms = c->what == GEMM || is_rank_k(c->what) ? c->k
                    : c->side == DAG_LEFT                 ? c->m
                                                          : c->n;
    double eps = dag_precision_real(c->prec) == DAG_S ? FLT_EPSILON : DBL_EPSILON;
    double worst = difference_from(r, want) / (eps * (double)(terms + 2));
    return dag_allreduce(ctx, DAG_MAX, &worst, 1) == DAG_SUCCESS ? worst : INFINITY;
}

static int run(dag_context *ctx, const test_case *c)
{
    int p = grids[c->at[F_GRID]][0], q = grids[c->at[F_GRID]][1], slab = c->at[F_LAYOUT];
    int same = c->at[F_SHAPE] % 2; /* else A lies on another grid */
    operands o = make_operands(c);
    dag_matrix_desc desc = {
        .prec = c->prec, .p = p, .q = q, .layout = slab ? DAG_LAYOUT_SLAB : DAG_LAYOUT_TILE};
    dag_matrix_desc a = desc, b = desc, r = desc;
    set_tiles(c, &a, &b, &r);
    a.m = o.a.m, a.n = o.a.n, b.m = o.b.m, b.n = o.b.n, r.m = o.c.m, r.n = o.c.n;
    if (!same)
        a.p = q, a.q = p;
    /* in tile storage, triangles are made as such */
    if (!slab && is_rank_k(c->what))
        r.uplo = c->uplo;
    else if (!slab && c->what != GEMM)
        a.uplo = c->uplo;
    dag_matrix *A = matrix_of(ctx, a), *B = matrix_of(ctx, b), *R = matrix_of(ctx, r);
    fill_from(A, o.a);
    fill_from(B, o.b);
    fill_from(R, o.c);
    dag_status status = compute(ctx, c, A, B, R);
    if (c->alpha == 0) { /* some libraries read them */
        memset(o.a.a, 0, (size_t)(o.a.m * o.a.n) * dag_precision_size(c->prec));
        memset(o.b.a, 0, (size_t)(o.b.m * o.b.n) * dag_precision_size(c->prec));
    }
    compute_whole(c, &o);
    double ratio = status == DAG_SUCCESS ? judge(c, R, o.c, ctx) : NAN;
    int failed = !(ratio < 30);
    if (failed && dag_rank(ctx) == 0)
        fprintf(stderr,
                "blas3_matrix: %s side %d uplo %d transa %d transb %d diag %d, %" PRId64
                " x %" PRId64 " x %" PRId64 " in %" PRId64 " x %" PRId64 " x %" PRId64
                ", grid %dx%d, %c, %s, "
                "scalars %d: %s %s, ratio %g\n",
                names[c->what], c->side, c->uplo, c->ta, c->tb, c->diag, c->m, c->n, c->k, c->mb,
                c->nb, c->kb, p, q, dag_precision_letter(c->prec), slab ? "slab" : "tile",
                c->at[F_SCALAR], dag_strerror(status), dag_message(ctx), ratio);
    dag_matrix_free(A);
    dag_matrix_free(B);
    dag_matrix_free(R);
    free(o.a.a);
    free(o.b.a);
    free(o.c.a);
    return failed;
}

/* ---- all of them ------------------------------------------------------------------------- */

/* A number of ranks that no grid has would leave nothing to draw from. */
static int has_grid(int ranks)
{
    for (size_t g = 0; g < sizeof(grids) / sizeof(grids[0]); g++)
        if (grids[g][0] * grids[g][1] == ranks)
            return 1;
    return 0;
}

/* Calls run() for every case (wanted = 0), or for so many; returns how many failed. */
static int run_routine(dag_context *ctx, routine what, int wanted, int *count)
{
    int failed = 0, tried = 0;
    uint64_t state = 88172645463325252u + (uint64_t)what;
    int64_t product = 1;
    for (int f = 1; f < F_LAYOUT; f++)
        product *= values[f];
    for (int64_t k = 0; wanted > 0 ? tried < wanted : k < product; k++) {
        int at[FACTORS] = {what};
        int64_t rest = k;
        for (int f = FACTORS - 1; f > 0; f--) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            at[f] = (int)((state >> 33) % (uint64_t)values[f]);
            if (wanted == 0 && f < F_LAYOUT) {
                at[f] = (int)(rest % values[f]);
                rest /= values[f];
            }
        }
        test_case c = decode(at);
        if (!is_valid(&c, dag_size(ctx)))
            continue;
        tried++;
        failed += run(ctx, &c);
    }
    *count += tried;
    return failed;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "some";
    dag_context *ctx;
    char why[256];
    int failed = 0, count = 0;
    dag_kernels_init(NULL);
    if (dag_init(&ctx, NULL, why, sizeof(why)) != DAG_SUCCESS) {
        fprintf(stderr, "blas3_matrix: %s\n", why);
        return 1;
    }
    if (!has_grid(dag_size(ctx))) {
        fprintf(stderr, "blas3_matrix: no grid of the test has %d places\n", dag_size(ctx));
        dag_fini(ctx);
        return 1;
    }
    int wanted = strcmp(what, "full") == 0 ? 0 : strcmp(what, "few") == 0 ? 12 : 120;
    for (int r = 0; r < ROUTINES; r++)
        if (argc < 3 || strcmp(argv[2], names[r]) == 0)
            failed += run_routine(ctx, (routine)r, wanted, &count);
    if (dag_rank(ctx) == 0)
        printf("blas3_matrix: %d cases (%s) on %d ranks, %d failed\n", count, what, dag_size(ctx),
               failed);
    return dag_fini(ctx) != DAG_SUCCESS || failed != 0 || count == 0;
}

/*
 * Solvers in mixed precision and iterative refinement over shapes, tile sizes, grids, element
 * types and storages.
 *
 *     refine_matrix [full]
 *
 * One launch on R ranks runs every case whose grid has R places. Errors are judged by
 * dag_solve_residual() against LAPACK's own stopping rule; the ways back to double precision are
 * each made to happen.
 */
#include "matrices.h"

#include <float.h>
#include <inttypes.h>
#include <string.h>

enum { NORDERS = 6, NTILES = 5, NGRIDS = 7 };
static const int64_t orders[NORDERS] = {0, 1, 7, 64, 100, 193};
static const int64_t tiles[NTILES] = {1, 16, 33, 64, 500};
static const int grids[NGRIDS][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {2, 3}, {3, 2}, {6, 1}};

static int failures, cases;

typedef struct test_case {
    int64_t n, nb, nrhs;
    int p, q;
    dag_precision prec;
    dag_layout layout;
    dag_uplo uplo; /* DAG_GENERAL: LU */
    const char *what;
} test_case;

static void fail(dag_context *ctx, const test_case *c, const char *what, double x)
{
    failures++;
    fprintf(stderr, "rank %d: n %" PRId64 ", nb %" PRId64 ", nrhs %" PRId64
            ", grid %dx%d, %c, %s, %s, %s: %s (%g)\n", dag_rank(ctx), c->n, c->nb, c->nrhs, c->p,
            c->q, dag_precision_letter(c->prec), c->layout == DAG_LAYOUT_SLAB ? "slab" : "tile",
            c->uplo == DAG_GENERAL ? "LU" : c->uplo == DAG_LOWER ? "lower" : "upper", c->what,
            what, x);
}

static int good(dag_context *ctx, const test_case *c, const char *what, dag_status status)
{
    if (status == DAG_SUCCESS)
        return 1;
    fail(ctx, c, what, status);
    fprintf(stderr, "    %s\n", dag_message(ctx));
    return 0;
}

/* Rank 0 gives all elements of a whole matrix. */
struct all {
    dag_context *ctx;
    whole a;
};

static dag_status each_of_all(void *arg, dag_element_fn add, void *to)
{
    const struct all *s = arg;
    for (int64_t j = 0; dag_rank(s->ctx) == 0 && j < s->a.n; j++)
        for (int64_t i = 0; i < s->a.m; i++) {
            dag_dcomplex x = whole_get(s->a, i, j);
            add(to, i, j, __builtin_creal(x), __builtin_cimag(x));
        }
    return DAG_SUCCESS;
}

/* The whole matrix: random and well conditioned, Hermitian if a triangle is wanted. */
static whole original(const test_case *c)
{
    whole w = whole_new(c->prec, c->n, c->n);
    uint64_t state = 1;
    for (int64_t j = 0; j < c->n; j++)
        for (int64_t i = 0; i < c->n; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            double re = (double)(state >> 11) * 0x1p-53 - 0.5;
            state = state * 6364136223846793005u + 1442695040888963407u;
            double im = (double)(state >> 11) * 0x1p-53 - 0.5;
            dag_dcomplex x = dag_precision_is_complex(c->prec) ? __builtin_complex(re, im) : re;
            if (i == j)
                x = c->uplo == DAG_GENERAL ? x + 2 * sqrt((double)c->n) : (double)c->n;
            if (c->uplo != DAG_GENERAL && i < j)
                continue;
            whole_put(w, i, j, x);
            if (c->uplo != DAG_GENERAL && i != j)
                whole_put(w, j, i, __builtin_conj(x));
        }
    return w;
}

typedef struct problem {
    whole a;
    dag_matrix *A, *B, *X;
    int64_t *ipiv;
} problem;

static problem make(dag_context *ctx, const test_case *c)
{
    problem p = {.a = original(c)};
    dag_matrix_desc d = {.prec = c->prec, .m = c->n, .n = c->n, .mb = c->nb, .nb = c->nb,
                         .p = c->p, .q = c->q, .layout = c->layout, .uplo = c->uplo};
    p.A = matrix_of(ctx, d);
    fill_from(p.A, p.a);
    d.n = c->nrhs;
    d.nb = 2;
    d.uplo = DAG_GENERAL;
    p.B = matrix_of(ctx, d);
    (void)good(ctx, c, "plrnt", dag_plrnt(ctx, p.B, 3));
    p.X = matrix_of(ctx, d);
    p.ipiv = allocate((size_t)c->n * sizeof(*p.ipiv));
    return p;
}

static void unmake(problem *p)
{
    dag_matrix_free(p->A);
    dag_matrix_free(p->B);
    dag_matrix_free(p->X);
    free(p->ipiv);
    free(p->a.a);
}

static dag_status solve(dag_context *ctx, const test_case *c, problem *p, int *iter, int64_t *info)
{
    *info = -1;
    *iter = -99;
    if (c->uplo != DAG_GENERAL)
        return (c->prec == DAG_D ? dag_dsposv : dag_zcposv)(ctx, c->uplo, p->A, p->B, p->X, iter,
                                                            info);
    return (c->prec == DAG_D ? dag_dsgesv : dag_zcgesv)(ctx, p->A, p->ipiv, p->B, p->X, iter, info);
}

/* The solution is as good as LAPACK's rule promises, times `slack`. */
static void judge(dag_context *ctx, const test_case *c, problem *p, double slack)
{
    struct all s = {ctx, p->a};
    dag_element_source source = {each_of_all, &s};
    dag_solve_error e;
    if (!good(ctx, c, "residual", dag_solve_residual(ctx, &source, p->B, p->X, &e)))
        return;
    if (!(e.normwise <= slack * sqrt((double)c->n + 1) * DBL_EPSILON))
        fail(ctx, c, "backward error", e.normwise / DBL_EPSILON);
}

static void run_case(dag_context *ctx, const test_case *c)
{
    problem p = make(ctx, c);
    whole b = whole_new(c->prec, c->n, c->nrhs);
    int iter;
    int64_t info;
    cases++;
    if (good(ctx, c, "gather", dag_matrix_gather(p.B, b.a, c->n > 0 ? c->n : 1)) &&
        good(ctx, c, "solve", solve(ctx, c, &p, &iter, &info))) {
        if (info != 0 || iter < 0 || iter > 5)
            fail(ctx, c, "iter or info", info != 0 ? (double)info : iter);
        judge(ctx, c, &p, 1);
        if (difference_from(p.A, p.a) != 0)
            fail(ctx, c, "the matrix was changed", 0);
        whole after = whole_new(c->prec, c->n, c->nrhs);
        if (good(ctx, c, "gather", dag_matrix_gather(p.B, after.a, c->n > 0 ? c->n : 1)) &&
            memcmp(after.a, b.a, (size_t)(c->n * c->nrhs) * dag_precision_size(c->prec)) != 0)
            fail(ctx, c, "the right-hand sides were changed", 0);
        free(after.a);
    }
    free(b.a);
    unmake(&p);
}

/* ---- back to double precision -------------------------------------------------------------- */

enum trouble { LARGE_A, LARGE_B, NEARLY_SINGULAR, SINGULAR, NAN_IN_A, NAN_IN_B, TROUBLES };

static void spoil(const test_case *c, problem *p, enum trouble t)
{
    dag_element e;
    int64_t k = c->n / 2;
    switch (t) {
    case LARGE_A:
        whole_put(p->a, k, k, 1e200);
        break;
    case LARGE_B:
    case NAN_IN_B:
        if (dag_matrix_tile(p->B, 0, 0, &e) == DAG_SUCCESS)
            put(c->prec, e.ptr, 0, t == LARGE_B ? 1e200 : NAN);
        break;
    case NAN_IN_A:
        whole_put(p->a, k, k, NAN);
        break;
    default: /* rows and columns 0 and 1 differ by less than single precision sees, or not at all */
        for (int64_t i = 0; i < c->n; i++) {
            whole_put(p->a, 0, i, i < 2);
            whole_put(p->a, i, 0, i < 2);
            whole_put(p->a, 1, i, i < 2);
            whole_put(p->a, i, 1, i < 2);
        }
        whole_put(p->a, 1, 1, t == SINGULAR ? 1 : 1 + 1e-10);
    }
    fill_from(p->A, p->a);
}

static void run_trouble(dag_context *ctx, test_case *c, enum trouble t)
{
    static const char *const names[] = {"large A", "large B", "nearly singular", "singular",
                                        "NaN in A", "NaN in B"};
    static const int expected[] = {DAG_MIXED_OVERFLOW, DAG_MIXED_OVERFLOW, DAG_MIXED_FACTOR,
                                   DAG_MIXED_FACTOR, DAG_MIXED_DIVERGED, DAG_MIXED_DIVERGED};
    c->what = names[t];
    problem p = make(ctx, c);
    int iter;
    int64_t info;
    cases++;
    spoil(c, &p, t);
    if (!good(ctx, c, "solve", solve(ctx, c, &p, &iter, &info)))
        return;
    /* Cholesky finds the NaN */
    int found = t == NAN_IN_A && c->uplo != DAG_GENERAL;
    if (iter != (found ? DAG_MIXED_FACTOR : expected[t]))
        fail(ctx, c, "iter", iter);
    if (info != (t == SINGULAR ? 2 : found ? c->n / 2 + 1 : 0))
        fail(ctx, c, "info", (double)info);
    if (t < SINGULAR)
        judge(ctx, c, &p, 4); /* that of double precision */
    if (t >= NAN_IN_A && info == 0) {
        whole x = whole_new(c->prec, c->n, c->nrhs);
        if (good(ctx, c, "gather", dag_matrix_gather(p.X, x.a, c->n)) && dag_rank(ctx) == 0 &&
            !isnan(__builtin_cabs(whole_get(x, 0, 0))))
            fail(ctx, c, "a NaN got lost", 0);
        free(x.a);
    }
    unmake(&p);
}

/* Too ill-conditioned for factors in single precision, not for those in double. */
static void run_diverging(dag_context *ctx, test_case *c)
{
    dag_maker *maker = NULL;
    const dag_maker_desc desc = {.kind = c->uplo == DAG_GENERAL ? "svd" : "spd", .m = c->n,
                                 .n = c->n, .is_complex = dag_precision_is_complex(c->prec),
                                 .cond = 1e11, .seed = 5};
    c->what = "ill-conditioned";
    problem p = make(ctx, c);
    int iter;
    int64_t info;
    cases++;
    if (!good(ctx, c, "maker", dag_maker_new(ctx, &desc, &maker)))
        return;
    for (int64_t j = 0; j < c->n; j++)
        for (int64_t i = 0; i < c->n; i++) {
            double x[2];
            dag_maker_element(maker, i, j, x);
            whole_put(p.a, i, j, __builtin_complex(x[0], x[1]));
        }
    fill_from(p.A, p.a);
    if (good(ctx, c, "solve", solve(ctx, c, &p, &iter, &info))) {
        if (info != 0 || (iter != DAG_MIXED_DIVERGED &&
                          !(c->uplo != DAG_GENERAL && iter == DAG_MIXED_FACTOR)))
            fail(ctx, c, "iter or info", iter);
        judge(ctx, c, &p, 4);
    }
    dag_maker_free(maker);
    unmake(&p);
}

/* ---- refinement in working precision -------------------------------------------------------- */

static dag_status refine(dag_context *ctx, const test_case *c, dag_trans trans, problem *p,
                         dag_matrix *F, double *berr)
{
    if (c->uplo == DAG_GENERAL)
        return dag_gerfs(ctx, trans, p->A, F, p->ipiv, p->B, p->X, NULL, berr);
    return dag_porfs(ctx, c->uplo, p->A, F, p->B, p->X, NULL, berr);
}

static dag_status factor_and_solve(dag_context *ctx, const test_case *c, dag_trans trans,
                                   problem *p, dag_matrix *F)
{
    int64_t info;
    dag_status status = dag_lacpy(ctx, DAG_GENERAL, p->B, p->X);
    if (status == DAG_SUCCESS)
        status = c->uplo == DAG_GENERAL ? dag_getrf(ctx, F, p->ipiv, &info)
                                        : dag_potrf(ctx, c->uplo, F, &info);
    if (status != DAG_SUCCESS)
        return status;
    return c->uplo == DAG_GENERAL ? dag_getrs(ctx, trans, F, p->ipiv, p->X)
                                  : dag_potrs(ctx, c->uplo, F, p->X);
}

static void turn(whole a, dag_trans trans)
{
    for (int64_t j = 0; trans != DAG_NO_TRANS && j < a.n; j++)
        for (int64_t i = 0; i <= j; i++) {
            dag_dcomplex x = whole_get(a, i, j), y = whole_get(a, j, i);
            whole_put(a, j, i, trans == DAG_TRANS ? x : __builtin_conj(x));
            whole_put(a, i, j, trans == DAG_TRANS ? y : __builtin_conj(y));
        }
}

/* berr is what dag_solve_residual() finds, within `relative` of it or both below `small`. */
static void compare(dag_context *ctx, const test_case *c, dag_trans trans, problem *p,
                    const double *berr, double relative, double small)
{
    struct all s = {ctx, whole_new(c->prec, c->n, c->n)};
    dag_element_source source = {each_of_all, &s};
    dag_solve_error e;
    double most = 0;
    memcpy(s.a.a, p->a.a, (size_t)(c->n * c->n) * dag_precision_size(c->prec));
    turn(s.a, trans);
    for (int64_t j = 0; j < c->nrhs; j++)
        most = fmax(most, isnan(berr[j]) ? INFINITY : berr[j]);
    if (good(ctx, c, "residual", dag_solve_residual(ctx, &source, p->B, p->X, &e)) &&
        !(e.componentwise < small && most < small) &&
        !(small == 0 && fabs(e.componentwise - most) <= relative * most))
        fail(ctx, c, small == 0 ? "berr is wrong" : "componentwise error", most - e.componentwise);
    free(s.a.a);
}

/* A good solution is made worse, and improved again; with factors that say nothing berr is that of
 * the solution as it is. */
static void run_refinement(dag_context *ctx, const test_case *c, dag_trans trans)
{
    problem p = make(ctx, c);
    dag_matrix_desc d = {.prec = c->prec, .m = c->n, .n = c->n, .mb = c->nb, .nb = c->nb,
                         .p = c->p, .q = c->q, .layout = c->layout, .uplo = c->uplo};
    dag_matrix *F = matrix_of(ctx, d);
    double eps = dag_precision_real(c->prec) == DAG_S ? FLT_EPSILON : DBL_EPSILON;
    double *berr = allocate((size_t)c->nrhs * sizeof(*berr));
    cases++;
    fill_from(F, p.a);
    if (good(ctx, c, "factor", factor_and_solve(ctx, c, trans, &p, F)) &&
        good(ctx, c, "worse", dag_lascl(ctx, DAG_GENERAL, 1, 1.01, p.X)) &&
        good(ctx, c, "refine", refine(ctx, c, trans, &p, F, berr)))
        compare(ctx, c, trans, &p, berr, 0, 10 * eps);
    for (int64_t i = 0; i < c->n; i++)
        p.ipiv[i] = i + 1;
    if (c->nrhs > 0 && c->n > 0 &&
        good(ctx, c, "laset", dag_laset(ctx, c->uplo, 0, 1e16, F)) &&
        good(ctx, c, "worse", dag_lascl(ctx, DAG_GENERAL, 1, 1.01, p.X)) &&
        good(ctx, c, "refine", refine(ctx, c, trans, &p, F, berr)))
        compare(ctx, c, trans, &p, berr, 1e-3, 0);
    dag_matrix_free(F);
    unmake(&p);
    free(berr);
}

static void refusals(dag_context *ctx)
{
    test_case c = {.n = 4, .nb = 2, .nrhs = 1, .p = 1, .q = 1, .prec = DAG_D, .uplo = DAG_GENERAL,
                   .what = "refusals"};
    problem p = make(ctx, &c);
    int64_t info;
    int last = dag_rank(ctx) == dag_size(ctx) - 1;
    cases++;
    if (dag_zcgesv(ctx, p.A, p.ipiv, p.B, p.X, NULL, &info) != DAG_ERR_ARG)
        fail(ctx, &c, "a matrix of another element type was taken", 0);
    if (dag_dsgesv(ctx, p.A, p.ipiv, p.B, p.B, NULL, &info) != DAG_ERR_ARG)
        fail(ctx, &c, "B as X was taken", 0);
    if (dag_dsgesv(ctx, p.A, last ? NULL : p.ipiv, p.B, p.X, NULL, &info) != DAG_ERR_ARG)
        fail(ctx, &c, "no place for the pivots on one rank was taken", 0);
    if (dag_dsposv(ctx, DAG_GENERAL, p.A, p.B, p.X, NULL, &info) != DAG_ERR_ARG)
        fail(ctx, &c, "no triangle was taken", 0);
    unmake(&p);
}

static void run_grid(dag_context *ctx, int p, int q, int full)
{
    static const dag_uplo methods[3] = {DAG_GENERAL, DAG_LOWER, DAG_UPPER};
    int at = 0;
    test_case c = {.p = p, .q = q, .what = "random"};
    for (int s = 0; s < NORDERS; s++)
        for (int t = 0; t < NTILES; t++)
            for (int v = 0; v < 12; v++) {
                c.n = orders[s];
                c.nb = tiles[t];
                c.nrhs = (v + t) % 4;
                c.prec = v % 2 ? DAG_Z : DAG_D;
                c.layout = v / 2 % 2 ? DAG_LAYOUT_SLAB : DAG_LAYOUT_TILE;
                c.uplo = methods[v / 4];
                if ((c.nb == 1 && c.n > 64) || (!full && (at++ + s + 5 * t) % 7 != 0))
                    continue;
                run_case(ctx, &c);
            }
    for (int v = 0; v < 48; v++) { /* type, method, storage; orders and tiles take turns */
        static const dag_trans ops[3] = {DAG_NO_TRANS, DAG_TRANS, DAG_CONJ_TRANS};
        c = (test_case){.n = orders[(v + p) % NORDERS], .nb = tiles[1 + (v + v / 4) % (NTILES - 1)],
                        .nrhs = v / 3 % 4, .p = p, .q = q, .prec = (dag_precision)(v % 4),
                        .layout = v / 12 % 2 ? DAG_LAYOUT_SLAB : DAG_LAYOUT_TILE,
                        .uplo = methods[v / 4 % 3], .what = "refinement"};
        if (full || (v / 4 + v + p) % 2 == 0)
            run_refinement(ctx, &c, c.uplo == DAG_GENERAL ? ops[v % 3] : DAG_NO_TRANS);
    }
    c = (test_case){.n = 50, .nb = 16, .nrhs = 2, .p = p, .q = q};
    for (int v = 0; v < 6; v++) {
        if (!full && (v + p) % 3 != 0)
            continue;
        c.prec = v % 2 ? DAG_Z : DAG_D;
        c.uplo = methods[v / 2];
        for (int t = 0; t < TROUBLES; t++)
            run_trouble(ctx, &c, (enum trouble)t);
        run_diverging(ctx, &c);
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

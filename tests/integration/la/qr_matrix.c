/*
 * QR factorisation over shapes, tile sizes, stacks, grids, element types and storages.
 *
 *     qr_matrix [few|full]
 *
 * One launch on R ranks runs every case whose grid has R places. Q is made and judged on rank 0 in
 * double precision: A - Q R and I - Q^H Q, in LAPACK's units; the same for A = L Q. Products with
 * op(Q) are compared with Q itself, solutions by the normal equations or the residual.
 */
#include <dag/kernels.h>
#include <dag/la.h>
#include <dag/qr.h>

#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NSHAPES = 12, NTILES = 5, NGRIDS = 7, NRHS = 5, SEED = 23 };
static const int64_t shapes[NSHAPES][2] = {{0, 0},  {0, 5},    {5, 0},    {1, 1},   {7, 7},    {40, 40},
                                           {97, 97}, {150, 60}, {60, 150}, {300, 9}, {257, 33}, {9, 200}};
static const int64_t tiles[NTILES] = {1, 7, 16, 33, 500};
static const int grids[NGRIDS][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {2, 3}, {3, 2}, {6, 1}};

static int failures, cases;

typedef struct test_case {
    int64_t m, n, nb, stack, block;
    int64_t mb; /* rows of a tile, if not nb */
    int p, q;
    dag_precision prec;
    dag_layout layout;
} test_case;

/* A small dense matrix in double precision. */
typedef struct dense {
    int64_t m, n;
    dag_dcomplex *a;
} dense;

static dag_dcomplex *at(dense x, int64_t i, int64_t j)
{
    return &x.a[i + j * x.m];
}

static dense dense_new(int64_t m, int64_t n)
{
    dense x = {m, n, calloc((size_t)(m * n + 1), sizeof(*x.a))};
    if (x.a == NULL)
        abort();
    return x;
}

static void fail(dag_context *ctx, const test_case *c, const char *what, double x)
{
    failures++;
    fprintf(stderr, "rank %d: %" PRId64 " x %" PRId64 ", nb %" PRId64 ", stacks of %" PRId64
            ", blocks of %" PRId64 ", grid %dx%d, %c, %s: %s (%g)\n", dag_rank(ctx), c->m, c->n,
            c->nb, c->stack, c->block, c->p, c->q, dag_precision_letter(c->prec),
            c->layout == DAG_LAYOUT_SLAB ? "slab" : "tile", what, x);
}

static int check(dag_context *ctx, const test_case *c, const char *what, dag_status status)
{
    if (status == DAG_SUCCESS)
        return 1;
    fail(ctx, c, what, status);
    fprintf(stderr, "    %s\n", dag_message(ctx));
    return 0;
}

static double eps_of(const test_case *c)
{
    return dag_precision_real(c->prec) == DAG_S ? FLT_EPSILON : DBL_EPSILON;
}

/* All of A on rank 0; elsewhere zeros. Collective. */
static dense gather(dag_context *ctx, const test_case *c, dag_matrix *A)
{
    dense x = dense_new(A->m, A->n);
    void *full = calloc((size_t)(A->m * A->n + 1), 16);
    if (check(ctx, c, "gather", dag_matrix_gather(A, full, A->m > 0 ? A->m : 1)) &&
        dag_rank(ctx) == 0)
        for (int64_t i = 0; i < A->m * A->n; i++)
            switch (c->prec) {
            case DAG_S: x.a[i] = ((float *)full)[i]; break;
            case DAG_D: x.a[i] = ((double *)full)[i]; break;
            case DAG_C: x.a[i] = ((dag_scomplex *)full)[i]; break;
            case DAG_Z: x.a[i] = ((dag_dcomplex *)full)[i]; break;
            }
    free(full);
    return x;
}

/* op(a) b */
static dense times(dense a, int adjoint, dense b)
{
    dense c = dense_new(adjoint ? a.n : a.m, b.n);
    for (int64_t j = 0; j < c.n; j++)
        for (int64_t k = 0; k < b.m; k++)
            for (int64_t i = 0; i < c.m; i++)
                *at(c, i, j) += (adjoint ? __builtin_conj(*at(a, k, i)) : *at(a, i, k)) * *at(b, k, j);
    return c;
}

/* Largest column sum of x, less y where there is one. */
static double norm(dense x, const dense *y)
{
    double largest = 0;
    for (int64_t j = 0; j < x.n; j++) {
        double sum = 0;
        for (int64_t i = 0; i < x.m; i++)
            sum += __builtin_cabs(y != NULL ? *at(x, i, j) - *at(*y, i, j) : *at(x, i, j));
        largest = sum > largest || isnan(sum) ? sum : largest;
    }
    return largest;
}

static double smallest_norm(double x)
{
    return x > 0 ? x : 1;
}

static void judge(dag_context *ctx, const test_case *c, const char *what, double error)
{
    if (!(error < 30))
        fail(ctx, c, what, error);
}

static dag_status make(dag_context *ctx, const test_case *c, int64_t m, int64_t n, int64_t nb,
                       int64_t seed, dag_matrix **A)
{
    const dag_matrix_desc desc = {.prec = c->prec, .m = m, .n = n,
                                  .mb = c->mb > 0 ? c->mb : c->nb, .nb = nb, .p = c->p,
                                  .q = c->q, .layout = c->layout, .name = "A"};
    dag_status status = dag_matrix_new(ctx, &desc, A);
    return status == DAG_SUCCESS ? dag_plrnt(ctx, *A, seed) : status;
}

static dense adjoint(dense x)
{
    dense y = dense_new(x.n, x.m);
    for (int64_t j = 0; j < y.n; j++)
        for (int64_t i = 0; i < y.m; i++)
            *at(y, i, j) = __builtin_conj(*at(x, j, i));
    return y;
}

/* Q as the library has it: of a QR or an LQ factorisation. */
typedef struct factors {
    dag_matrix *A;
    const dag_qr *qr; /* or, if NULL, */
    const dag_lq *lq;
} factors;

/* B := op(Q) B or B op(Q) against q, all columns of Q. */
static void multiply(dag_context *ctx, const test_case *c, factors f, dense q, dag_side side,
                     dag_trans trans)
{
    static const char *const names[2][2][2] = {{{"Q B", "Q^H B"}, {"B Q", "B Q^H"}},
                                               {{"LQ: Q B", "LQ: Q^H B"}, {"LQ: B Q", "LQ: B Q^H"}}};
    dag_matrix *B = NULL;
    test_case shape = *c;
    int left = side == DAG_LEFT;
    if (!left)
        shape.mb = 2; /* rows of B are cut in any way */
    if (!check(ctx, c, "make", make(ctx, &shape, left ? q.m : NRHS, left ? NRHS : q.m,
                                    left ? 2 : c->nb, 4, &B)))
        return;
    dense b = gather(ctx, c, B);
    dag_status status = f.qr != NULL ? dag_unmqr(ctx, side, trans, f.A, f.qr, B)
                                     : dag_unmlq(ctx, side, trans, f.A, f.lq, B);
    if (check(ctx, c, "product with Q", status)) {
        dense got = gather(ctx, c, B);
        if (dag_rank(ctx) == 0) {
            dense turned = adjoint(q), op = trans == DAG_NO_TRANS ? q : turned;
            dense want = left ? times(op, 0, b) : times(b, 0, op);
            judge(ctx, c, names[f.qr == NULL][!left][trans != DAG_NO_TRANS],
                  norm(got, &want) / (smallest_norm(norm(b, NULL)) * smallest_norm((double)q.m) *
                                      eps_of(c)));
            free(want.a);
            free(turned.a);
        }
        free(got.a);
    }
    free(b.a);
    dag_matrix_free(B);
}

static void factor(dag_context *ctx, const test_case *c)
{
    dag_matrix *A = NULL, *Q = NULL;
    dag_qr *qr = NULL;
    const dag_qr_options options = {.stack = c->stack, .block = c->block,
                                    .lookahead = cases % 4};
    if (!check(ctx, c, "make", make(ctx, c, c->m, c->n, c->nb, SEED, &A)))
        return;
    dense a = gather(ctx, c, A);
    if (check(ctx, c, "geqrf", dag_geqrf_with(ctx, A, &options, &qr)) &&
        check(ctx, c, "make", make(ctx, c, c->m, c->m, c->nb, 1, &Q)) &&
        check(ctx, c, "ungqr", dag_ungqr(ctx, A, qr, Q))) {
        dense q = gather(ctx, c, Q), r = gather(ctx, c, A);
        if (dag_rank(ctx) == 0) {
            dense unit = dense_new(c->m, c->m);
            for (int64_t j = 0; j < r.n; j++)
                for (int64_t i = j + 1; i < r.m; i++)
                    *at(r, i, j) = 0;
            for (int64_t j = 0; j < c->m; j++)
                *at(unit, j, j) = 1;
            dense product = times(q, 0, r), gram = times(q, 1, q);
            double larger = (double)(c->m > c->n ? c->m : c->n);
            judge(ctx, c, "A - Q R",
                  norm(product, &a) / (smallest_norm(norm(a, NULL)) * smallest_norm(larger) * eps_of(c)));
            judge(ctx, c, "I - Q^H Q", norm(gram, &unit) / (smallest_norm((double)c->m) * eps_of(c)));
            free(product.a);
            free(gram.a);
            free(unit.a);
        }
        const factors f = {A, qr, NULL};
        multiply(ctx, c, f, q, DAG_LEFT, DAG_NO_TRANS);
        multiply(ctx, c, f, q, DAG_LEFT, DAG_CONJ_TRANS);
        multiply(ctx, c, f, q, DAG_RIGHT, cases % 2 ? DAG_NO_TRANS : DAG_CONJ_TRANS);
        free(q.a);
        free(r.a);
    }
    free(a.a);
    dag_qr_free(qr);
    dag_matrix_free(Q);
    dag_matrix_free(A);
}

/* A = L Q with the n rows of Q. */
static void factor_lq(dag_context *ctx, const test_case *c)
{
    dag_matrix *A = NULL, *Q = NULL;
    dag_lq *lq = NULL;
    if (!check(ctx, c, "make", make(ctx, c, c->m, c->n, c->nb, SEED, &A)))
        return;
    dense a = gather(ctx, c, A);
    if (check(ctx, c, "gelqf", dag_gelqf(ctx, A, &lq)) &&
        check(ctx, c, "make", make(ctx, c, c->n, c->n, c->nb, 1, &Q)) &&
        check(ctx, c, "unglq", dag_unglq(ctx, A, lq, Q))) {
        dense q = gather(ctx, c, Q), l = gather(ctx, c, A), unit = dense_new(c->n, c->n);
        for (int64_t j = 0; j < l.n; j++)
            for (int64_t i = 0; i < l.m && i < j; i++)
                *at(l, i, j) = 0;
        for (int64_t j = 0; j < c->n; j++)
            *at(unit, j, j) = 1;
        if (dag_rank(ctx) == 0) {
            dense product = times(l, 0, q), gram = times(q, 1, q);
            double larger = (double)(c->m > c->n ? c->m : c->n);
            judge(ctx, c, "A - L Q",
                  norm(product, &a) / (smallest_norm(norm(a, NULL)) * smallest_norm(larger) * eps_of(c)));
            judge(ctx, c, "LQ: I - Q^H Q", norm(gram, &unit) / (smallest_norm((double)c->n) * eps_of(c)));
            free(product.a);
            free(gram.a);
        }
        const factors f = {A, NULL, lq};
        multiply(ctx, c, f, q, cases % 4 < 2 ? DAG_LEFT : DAG_RIGHT,
                 cases % 2 ? DAG_NO_TRANS : DAG_CONJ_TRANS);
        free(q.a);
        free(l.a);
        free(unit.a);
    }
    free(a.a);
    dag_lq_free(lq);
    dag_matrix_free(Q);
    dag_matrix_free(A);
}

static dense part(dense x, int64_t rows)
{
    dense y = dense_new(rows, x.n);
    for (int64_t j = 0; j < y.n; j++)
        for (int64_t i = 0; i < rows; i++)
            *at(y, i, j) = *at(x, i, j);
    return y;
}

/* Where X minimises ||b - a X||, the residual is orthogonal to a; else a X = b. */
static void judge_solution(dag_context *ctx, const test_case *c, dense a, dense x, dense b)
{
    double scale = eps_of(c) * (double)(a.m > a.n ? a.m : a.n);
    dense ax = times(a, 0, x), r = dense_new(b.m, b.n);
    for (int64_t i = 0; i < r.m * r.n; i++)
        r.a[i] = b.a[i] - ax.a[i];
    if (a.m > a.n) {
        dense g = times(a, 1, r);
        judge(ctx, c, "gels: A^H (B - A X)",
              norm(g, NULL) / (norm(a, NULL) * smallest_norm(norm(b, NULL)) * scale *
                               (1 + norm(x, NULL))));
        free(g.a);
    } else {
        judge(ctx, c, "gels: B - A X",
              norm(r, NULL) / (norm(a, NULL) * smallest_norm(norm(x, NULL)) * scale));
    }
    free(ax.a);
    free(r.a);
}

/* A solution of least norm has no part in the null space of op(A) = a, which the last columns of
 * the unitary q span. */
static void judge_norm(dag_context *ctx, const test_case *c, dense q, int64_t rank, dense x)
{
    dense rest = {q.m, q.m - rank, q.a + rank * q.m};
    dense g = times(rest, 1, x);
    judge(ctx, c, "gels: part of X in the null space",
          norm(g, NULL) / (smallest_norm(norm(x, NULL)) * eps_of(c) * (double)q.m *
                           (double)q.m)); /* its condition enters: some of q.m */
    free(g.a);
}

/* op(A) X = B, in the sense of its shape. */
static void solve(dag_context *ctx, const test_case *c, dag_trans trans)
{
    dag_matrix *A = NULL, *B = NULL, *H = NULL, *Q = NULL;
    dag_qr *qr = NULL;
    int64_t high = c->m > c->n ? c->m : c->n, low = c->m + c->n - high, info = -1;
    int64_t rows = trans == DAG_NO_TRANS ? c->m : c->n, cols = c->m + c->n - rows;
    if (!check(ctx, c, "make", make(ctx, c, c->m, c->n, c->nb, SEED, &A)) ||
        !check(ctx, c, "make", make(ctx, c, high, NRHS, 3, 6, &B)))
        return;
    dense a = gather(ctx, c, A), b = gather(ctx, c, B);
    if (check(ctx, c, "gels", dag_gels(ctx, trans, A, B, &info))) {
        dense x = gather(ctx, c, B);
        if (info != 0)
            fail(ctx, c, "gels: info", (double)info);
        if (dag_rank(ctx) == 0 && low > 0) {
            dense op = trans == DAG_NO_TRANS ? part(a, a.m) : adjoint(a);
            dense rhs = part(b, rows), solution = part(x, cols);
            judge_solution(ctx, c, op, solution, rhs);
            free(op.a);
            free(rhs.a);
            free(solution.a);
        }
        if (rows < cols && low > 0 && /* an independent Q of op(A)^H */
            check(ctx, c, "make", make(ctx, c, high, low, c->nb, SEED, &H)) &&
            check(ctx, c, "make", make(ctx, c, high, high, c->nb, 1, &Q))) {
            dag_matrix *again = NULL;
            if (c->m < c->n) {
                if (check(ctx, c, "make", make(ctx, c, c->m, c->n, c->nb, SEED, &again)))
                    (void)check(ctx, c, "geadd",
                                dag_geadd(ctx, DAG_GENERAL, DAG_CONJ_TRANS, 1, again, 0, H));
                dag_matrix_free(again);
            }
            if (check(ctx, c, "geqrf", dag_geqrf(ctx, H, &qr)) &&
                check(ctx, c, "ungqr", dag_ungqr(ctx, H, qr, Q))) {
                dense q = gather(ctx, c, Q);
                if (dag_rank(ctx) == 0)
                    judge_norm(ctx, c, q, low, x);
                free(q.a);
            }
        }
        free(x.a);
    }
    free(a.a);
    free(b.a);
    dag_qr_free(qr);
    dag_matrix_free(Q);
    dag_matrix_free(H);
    dag_matrix_free(B);
    dag_matrix_free(A);
}

static void run_case(dag_context *ctx, const test_case *c)
{
    cases++;
    factor(ctx, c);
    if (cases % 3 == 0)
        factor_lq(ctx, c);
    solve(ctx, c, DAG_NO_TRANS);
    solve(ctx, c, DAG_CONJ_TRANS);
}

/* A column of zeros: R has a zero on its diagonal, and gels says where, on all ranks. */
static void run_deficient(dag_context *ctx, const test_case *c, int64_t zero)
{
    dag_matrix *A = NULL, *B = NULL;
    int64_t info = -1;
    double *a = calloc((size_t)(c->m * c->n), sizeof(*a));
    cases++;
    if (a != NULL && check(ctx, c, "make", make(ctx, c, c->m, c->n, c->nb, 1, &A)) &&
        check(ctx, c, "make", make(ctx, c, c->m, NRHS, 3, 6, &B)) &&
        check(ctx, c, "gather", dag_matrix_gather(A, a, c->m))) {
        memset(a + zero * c->m, 0, (size_t)c->m * sizeof(*a));
        if (check(ctx, c, "scatter", dag_matrix_scatter(A, a, c->m)) &&
            check(ctx, c, "gels", dag_gels(ctx, DAG_NO_TRANS, A, B, &info)) && info != zero + 1)
            fail(ctx, c, "info of a matrix with a zero column", (double)info);
    }
    dag_matrix_free(A);
    dag_matrix_free(B);
    free(a);
}

static void refusals(dag_context *ctx)
{
    test_case c = {.m = 6, .n = 4, .nb = 2, .p = 1, .q = 1, .prec = DAG_D};
    dag_matrix *A = NULL, *B = NULL;
    dag_qr *qr = NULL;
    int64_t info;
    cases++;
    if (!check(ctx, &c, "make", make(ctx, &c, 6, 4, 2, 1, &A)) ||
        !check(ctx, &c, "make", make(ctx, &c, 5, 2, 2, 1, &B)))
        return;
    if (dag_sgeqrf(ctx, A, &qr) != DAG_ERR_ARG)
        fail(ctx, &c, "a matrix of another element type was taken", 0);
    if (dag_geqrf(ctx, A, dag_rank(ctx) == dag_size(ctx) - 1 ? NULL : &qr) != DAG_ERR_ARG)
        fail(ctx, &c, "no place for Q on one rank was taken", 0);
    if (dag_gels(ctx, DAG_NO_TRANS, A, B, &info) != DAG_ERR_ARG)
        fail(ctx, &c, "right-hand sides with too few rows were taken", 0);
    if (check(ctx, &c, "geqrf", dag_geqrf(ctx, A, &qr)) &&
        dag_unmqr(ctx, DAG_LEFT, DAG_NO_TRANS, B, qr, A) != DAG_ERR_ARG)
        fail(ctx, &c, "Q of another matrix was taken", 0);
    if (dag_unmqr(ctx, DAG_RIGHT, DAG_NO_TRANS, A, qr, B) != DAG_ERR_ARG)
        fail(ctx, &c, "a matrix of the wrong width was taken", 0);
    dag_qr_free(qr);
    if (dag_geqrf_with(ctx, A, &(dag_qr_options){.block = 1}, &qr) != DAG_ERR_ARG)
        fail(ctx, &c, "blocks lower than a tile were taken", 0);
    dag_matrix_free(A);
    dag_matrix_free(B);
}

int main(int argc, char **argv)
{
    int full = argc > 1 && strcmp(argv[1], "full") == 0, count = 0;
    int few = argc > 1 && strcmp(argv[1], "few") == 0; /* each shape once */
    dag_context *ctx;
    if (dag_init(&ctx, NULL, NULL, 0) != DAG_SUCCESS)
        return 1;
    for (int g = 0; g < NGRIDS; g++) {
        if (grids[g][0] * grids[g][1] != dag_size(ctx))
            continue;
        test_case c = {.p = grids[g][0], .q = grids[g][1]};
        for (int s = 0; s < NSHAPES; s++)
            for (int t = 0; t < NTILES; t++)
                for (int v = 0; v < 16; v++) {
                    c.m = shapes[s][0];
                    c.n = shapes[s][1];
                    c.nb = tiles[t];
                    c.prec = (dag_precision)(v % 4);
                    c.layout = v / 4 % 2 ? DAG_LAYOUT_SLAB : DAG_LAYOUT_TILE;
                    c.stack = v / 8; /* the automatic choice, or as many stacks as there may be */
                    const int64_t blocks[] = {0, c.nb, c.nb + 4, 0, INT_MAX};
                    /* products with Q of a stack that is cut run on cores */
                    c.block = dag_devices(ctx) > 0 && cases % 2 ? 0 : blocks[cases % 5];
                    if ((c.nb == 1 && c.m * c.n > 3000) || (few && t != (3 * s + 2) % NTILES) ||
                        (!full && (count++ + s + 5 * t) % 16 != 0))
                        continue;
                    run_case(ctx, &c);
                }
        c = (test_case){.m = 90, .n = 40, .nb = 16, .p = c.p, .q = c.q, .prec = DAG_D,
                        .layout = DAG_LAYOUT_SLAB};
        for (int64_t zero = 0; zero < 40; zero += 13)
            run_deficient(ctx, &c, zero);
    }
    refusals(ctx);
    if (cases == 1) {
        fprintf(stderr, "no grid has %d places\n", dag_size(ctx));
        failures++;
    }
    int rank = dag_rank(ctx);
    dag_fini(ctx);
    if (rank == 0)
        printf("%d cases, %d failures\n", cases, failures);
    return failures != 0;
}

/*
 * gesv on matrices that are hard for partial pivoting, with that and with tournaments, by HPL's
 * measure
 *
 *     ||A x - b|| / (eps (||A|| ||x|| + ||b||) n) < 16        (infinity norms)
 *
 * On most of them gesv passes as it is. Where pivots let the elements grow beyond 1/eps of what
 * they were, no partial pivoting does; these are solved with refinement (dag_gerfs), which has to
 * pass.
 */
#include "matrices.h"

#include <float.h>
#include <inttypes.h>

typedef struct hard {
    const char *kind;
    int64_t n;
    double cond;
    int refine; /* 1: growth is exponential in n, so that gesv alone is not held to the bound */
} hard;

static const hard matrices[] = {
    {"svd", 150, 1e15, 0},     {"wilkinson", 24, 0, 1}, {"gfpp", 100, 1e3, 1},
    {"foster", 60, 0, 1},      {"wright", 60, 0, 1},    {"hilbert", 100, 0, 0},
    {"lotkin", 100, 0, 0},     {"kahan", 100, 0, 0},    {"triw", 100, 0, 0},
    {"demmel", 100, 0, 0},     {"langou", 100, 0, 0},   {"orthogonal", 130, 0, 0},
    {"prolate", 100, 0, 0},    {"frank", 50, 0, 0},     {"invhess", 100, 0, 0},
    {"circulant", 100, 0, 0},  {"house", 150, 0, 0},    {"fiedler", 100, 0, 0},
};

static int failures, cases;

static const char *pivoting_name(const dag_lu_options *options)
{
    return options->pivoting == DAG_PIVOT_TOURNAMENT ? "tournament" : "partial";
}

static void run(dag_context *ctx, const hard *which, dag_precision prec, int p, int q,
                const dag_lu_options *options)
{
    hard third = *which, *h = &third;
    if (which->refine && dag_precision_real(prec) == DAG_S)
        h->n /= 3; /* growth 2^n has to stay below 1/eps of single precision */
    double eps = dag_precision_real(prec) == DAG_S ? FLT_EPSILON : DBL_EPSILON;
    dag_matrix_desc d = {.prec = prec, .m = h->n, .n = h->n, .mb = 16, .nb = 16, .p = p, .q = q};
    dag_matrix *A = matrix_of(ctx, d), *F = matrix_of(ctx, d), *B, *X;
    dag_maker *maker = NULL;
    const dag_maker_desc what = {.kind = h->kind, .m = h->n, .n = h->n, .cond = h->cond, .seed = 3,
                                 .is_complex = dag_precision_is_complex(prec)};
    int64_t info = -1, *ipiv = allocate((size_t)h->n * sizeof(*ipiv));
    double berr;
    dag_solve_error error = {NAN, NAN};
    d.n = 1;
    B = matrix_of(ctx, d);
    X = matrix_of(ctx, d);
    dag_status status = dag_maker_new(ctx, &what, &maker);
    dag_maker_source like = {maker, A};
    dag_element_source source = {dag_maker_each, &like};
    if (status == DAG_SUCCESS)
        status = dag_maker_fill(ctx, maker, A);
    if (status == DAG_SUCCESS)
        status = dag_lacpy(ctx, DAG_GENERAL, A, F);
    if (status == DAG_SUCCESS)
        status = dag_plrnt(ctx, B, 9);
    if (status == DAG_SUCCESS)
        status = dag_lacpy(ctx, DAG_GENERAL, B, X);
    if (status == DAG_SUCCESS)
        status = dag_gesv_with(ctx, F, ipiv, X, options, &info);
    if (status == DAG_SUCCESS && h->refine)
        status = dag_gerfs(ctx, DAG_NO_TRANS, A, F, ipiv, B, X, NULL, &berr);
    if (status == DAG_SUCCESS)
        status = dag_solve_residual(ctx, &source, B, X, &error);
    double hpl = error.normwise / (eps * (double)h->n);
    cases++;
    if (status != DAG_SUCCESS || info != 0 || !(hpl < 16)) {
        failures++;
        fprintf(stderr, "rank %d: %s, n %" PRId64 ", %c, grid %dx%d, %s: residual %g, info %" PRId64
                ", %s\n", dag_rank(ctx), h->kind, h->n, dag_precision_letter(prec), p, q,
                pivoting_name(options), hpl, info,
                status == DAG_SUCCESS ? "ran" : dag_message(ctx));
    }
    if (getenv("LU_HARD_PRINT") != NULL && dag_rank(ctx) == 0)
        printf("%-12s %c %-10s %8.3g\n", h->kind, dag_precision_letter(prec),
               pivoting_name(options), hpl);
    dag_maker_free(maker);
    dag_matrix_free(A);
    dag_matrix_free(F);
    dag_matrix_free(B);
    dag_matrix_free(X);
    free(ipiv);
}

int main(void)
{
    static const int grids[][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {2, 3}, {3, 2}};
    /* tournaments of one stack per process row, and of as many as there may be */
    static const dag_lu_options ways[] = {{.pivoting = DAG_PIVOT_PARTIAL},
                                          {.pivoting = DAG_PIVOT_TOURNAMENT},
                                          {.pivoting = DAG_PIVOT_TOURNAMENT, .stack = 1}};
    dag_context *ctx;
    if (dag_init(&ctx, NULL, NULL, 0) != DAG_SUCCESS)
        return 1;
    for (size_t g = 0; g < sizeof(grids) / sizeof(grids[0]); g++)
        for (size_t k = 0; k < sizeof(matrices) / sizeof(matrices[0]); k++)
            if (grids[g][0] * grids[g][1] == dag_size(ctx))
                for (size_t v = 0; v < sizeof(ways) / sizeof(ways[0]); v++) {
                    run(ctx, &matrices[k], k % 3 ? DAG_D : DAG_Z, grids[g][0], grids[g][1], &ways[v]);
                    for (int prec = 0; dag_size(ctx) == 1 && prec < DAG_PRECISION_COUNT; prec++)
                        run(ctx, &matrices[k], (dag_precision)prec, 1, 1, &ways[v]);
                }
    if (cases == 0) {
        fprintf(stderr, "no grid has %d places\n", dag_size(ctx));
        failures++;
    }
    if (dag_rank(ctx) == 0)
        printf("%d cases, %d failures\n", cases, failures);
    dag_fini(ctx);
    return failures != 0;
}

/*
 * @name@ over orders, tile sizes, grids, element types and storages.
 *
 *     @name@_matrix [full]
 *
 * What must not be read is NaN. Results are compared with plain loops over the whole matrix.
 */
#include "matrices.h"

#include <dag/@header@>

#include <string.h>

static int failures;

static void fail(dag_context *ctx, const char *room, const char *what)
{
    failures++;
    if (dag_rank(ctx) == 0)
        fprintf(stderr, "%s: %s\n", room, what);
}

/* What @name@ makes of w, by plain loops; 0 = not written. */
static int expected(whole w)
{
    (void)w;
    return 0;
}

static whole numbered(dag_precision prec, int64_t m, int64_t n)
{
    whole w = whole_new(prec, m, n);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++)
            whole_put(w, i, j, (double)(1 + (3 * i + 5 * j) % 7));
    return w;
}

static void run_case(dag_context *ctx, dag_precision prec, int64_t n, int64_t nb)
{
    whole w = numbered(prec, n, n);
    dag_matrix *A = matrix_of(ctx, (dag_matrix_desc){.prec = prec, .m = n, .n = n, .mb = nb, .nb = nb,
                                                     .p = dag_size(ctx), .q = 1});
    double changed = 0;
    fill_from(A, w);
    if (dag_@name@(ctx, A) != DAG_SUCCESS)
        fail(ctx, "dsl-examples/@family@/@name@.c", dag_message(ctx));
    changed = difference_from(A, w);
    if (dag_allreduce(ctx, DAG_MAX, &changed, 1) != DAG_SUCCESS || (n > 0 && changed == 0))
        fail(ctx, "dsl-examples/@family@/@name@.jdf", "write the tasks: A is as it was");
    if (!expected(w))
        fail(ctx, "tests/integration/la/@name@_matrix.c", "write expected()");
    else if (difference_from(A, w) > 100 * dag_la_eps(prec)) /* say how large the error may be */
        fail(ctx, "dsl-examples/@family@/@name@.jdf", "the result is wrong");
    dag_matrix_free(A);
    free(w.a);
}

static void run_refusals(dag_context *ctx)
{
    dag_matrix *A = matrix_of(ctx, (dag_matrix_desc){.prec = DAG_S, .m = 4, .n = 4, .mb = 2, .nb = 2,
                                                     .p = dag_size(ctx), .q = 1});
    if (dag_d@name@(ctx, A) != DAG_ERR_ARG)
        fail(ctx, "dsl-examples/@family@/@name@.c",
             "check the arguments: a matrix of another element type was taken");
    dag_matrix_free(A);
}

int main(int argc, char **argv)
{
    int full = argc > 1 && strcmp(argv[1], "full") == 0;
    char why[512];
    dag_context *ctx;
    if (dag_init(&ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    for (int prec = 0; prec < DAG_PRECISION_COUNT; prec++)
        for (int64_t n = 0; n <= (full ? 200 : 20); n += 20)
            run_case(ctx, (dag_precision)prec, n, 8);
    run_refusals(ctx);
    dag_fini(ctx);
    return failures != 0;
}

/*
 * A product with a long sum, whose matrices lie as those who have them left them: A in one process row, B in one
 * process column, C on a grid as square as can be.
 *
 *     bench_long_sum N K NB RUNS LAYERS    C is N x N; LAYERS of the product's grid, 0 = what the library chooses
 */
#include "spd.h"

#include <dag/la.h>

static dag_status make(dag_context *ctx, int64_t m, int64_t n, int64_t nb, int p, int q, dag_matrix **x)
{
    const dag_matrix_desc desc = {.prec = DAG_D, .m = m, .n = n, .mb = nb, .nb = nb, .p = p, .q = q};
    dag_status status = dag_matrix_new(ctx, &desc, x);
    return status == DAG_SUCCESS ? dag_plrnt(ctx, *x, 7) : status;
}

static dag_status measure(dag_context *ctx, dag_matrix *x[3], int layers, double *times, int runs)
{
    dag_gemm_options o = {0};
    dag_gemm_plan plan[64];
    dag_status status = DAG_SUCCESS;
    if (layers > 0) {
        o = (dag_gemm_options){.method = DAG_GEMM_SUMMA, .layers = layers};
        dag_matrix_grid(dag_size(ctx) / layers, &o.p, &o.q);
    }
    int plans = dag_gemm_plans(ctx, DAG_NO_TRANS, DAG_NO_TRANS, x[0], x[1], x[2], &o, plan, 64);
    for (int r = 0; r < runs && status == DAG_SUCCESS; r++) {
        status = dag_barrier(ctx);
        double start = seconds();
        if (status == DAG_SUCCESS)
            status = dag_gemm_with(ctx, DAG_NO_TRANS, DAG_NO_TRANS, -1, x[0], x[1], 1, x[2], &o);
        times[r] = seconds() - start;
    }
    if (dag_rank(ctx) == 0 && plans > 0)
        fprintf(stderr, "%s %dx%dx%d\n", dag_gemm_method_name(plan[0].method), plan[0].p, plan[0].q,
                plan[0].layers);
    return status;
}

int main(int argc, char **argv)
{
    int n = argument(argc, argv, 1, "N"), k = argument(argc, argv, 2, "K"), nb = argument(argc, argv, 3, "NB");
    int runs = argument(argc, argv, 4, "RUNS"), layers = argc > 5 ? atoi(argv[5]) : 0, p, q;
    char why[256];
    dag_context *ctx;
    dag_matrix *x[3] = {NULL, NULL, NULL};
    double *times = malloc((size_t)runs * sizeof(*times));
    if (times == NULL || dag_init(&ctx, NULL, why, sizeof(why)) != DAG_SUCCESS) {
        fprintf(stderr, "long_sum: %s\n", times ? why : "out of memory");
        return 1;
    }
    int ranks = dag_size(ctx);
    dag_matrix_grid(ranks, &p, &q);
    dag_status status = make(ctx, n, k, nb, 1, ranks, &x[0]);
    if (status == DAG_SUCCESS)
        status = make(ctx, k, n, nb, ranks, 1, &x[1]);
    if (status == DAG_SUCCESS)
        status = make(ctx, n, n, nb, p, q, &x[2]);
    if (status == DAG_SUCCESS)
        status = measure(ctx, x, layers, times, runs);
    if (status != DAG_SUCCESS)
        fprintf(stderr, "long_sum: %s\n", dag_message(ctx));
    else if (dag_rank(ctx) == 0)
        report(2.0 * n * n * k, times, runs);
    for (int i = 0; i < 3; i++)
        dag_matrix_free(x[i]);
    free(times);
    return dag_fini(ctx) != DAG_SUCCESS || status != DAG_SUCCESS;
}

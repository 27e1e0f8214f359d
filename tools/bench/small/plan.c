/*
 * What planning a product takes, on simulated ranks, square matrices on a grid as square as can be:
 *
 *     DAG_SIMULATE=64 bench_plan N NB SHAPES
 *
 * C has N, N - 1, ... rows in SHAPES shapes. Prints a JSON object with the number of plans, microseconds of the first
 * call of dag_gemm_plans(), the median of the calls, each of a shape that was not planned before, and the median
 * of finding a plan among as many as are kept, which is what a further product of a shape pays.
 */
#include "plan.h"
#include "spd.h"

#include <dag/la.h>

enum { PLANS = 64, KEPT = 64 };
static const dag_gemm_options none;

/* What the library asks its planner, the last few times. The linker puts this before it. */
static product_case asked[KEPT];
static int calls;
int __real_dagi_product_plans(const product_case *c, const dag_gemm_options *o,
                              dag_gemm_plan *plans, int room);
int __wrap_dagi_product_plans(const product_case *c, const dag_gemm_options *o,
                              dag_gemm_plan *plans, int room);
int __wrap_dagi_product_plans(const product_case *c, const dag_gemm_options *o,
                              dag_gemm_plan *plans, int room)
{
    asked[calls++ % KEPT] = *c;
    return __real_dagi_product_plans(c, o, plans, room);
}

static void fail(const char *why)
{
    fprintf(stderr, "bench_plan: %s\n", why);
    exit(1);
}

static dag_matrix *matrix(dag_context *ctx, int64_t m, int64_t n, int64_t nb)
{
    dag_matrix_desc desc = {.prec = DAG_D, .m = m, .n = n, .mb = nb, .nb = nb};
    dag_matrix *x;
    dag_matrix_grid(dag_size(ctx), &desc.p, &desc.q);
    if (dag_matrix_new(ctx, &desc, &x) != DAG_SUCCESS)
        fail(dag_message(ctx));
    return x;
}

/* Seconds of one call, for m rows. */
static double planned(dag_context *ctx, int64_t m, int64_t n, int64_t nb, int *plans)
{
    dag_gemm_plan plan[PLANS];
    dag_matrix *a = matrix(ctx, m, n, nb), *b = matrix(ctx, n, n, nb), *c = matrix(ctx, m, n, nb);
    double start = seconds();
    *plans = dag_gemm_plans(ctx, DAG_NO_TRANS, DAG_NO_TRANS, a, b, c, NULL, plan, PLANS);
    double taken = seconds() - start;
    if (*plans < 1)
        fail(dag_message(ctx));
    product_key key = dagi_plan_key(&asked[(calls - 1) % KEPT], &none);
    dagi_plan_remember(&key, &plan[0]);
    dag_matrix_free(a);
    dag_matrix_free(b);
    dag_matrix_free(c);
    return taken;
}

static double recalled(const product_case *c)
{
    dag_gemm_plan plan;
    double start = seconds();
    product_key key = dagi_plan_key(c, &none);
    bool known = dagi_plan_recall(&key, &plan);
    double taken = seconds() - start;
    if (!known || plan.p < 1)
        fail("a plan is not kept");
    return taken;
}

static double median(double *times, int count)
{
    qsort(times, (size_t)count, sizeof(*times), ascending);
    return 1e6 * times[count / 2];
}

int main(int argc, char **argv)
{
    int n = argument(argc, argv, 1, "N"), nb = argument(argc, argv, 2, "NB"),
        shapes = argument(argc, argv, 3, "SHAPES");
    int plans = 0, kept = shapes < KEPT ? shapes : KEPT;
    char why[256];
    dag_context *ctx;
    double again[KEPT], *times = malloc((size_t)shapes * sizeof(*times));
    if (times == NULL || dag_init(&ctx, NULL, why, sizeof(why)) != DAG_SUCCESS)
        fail(times ? why : "out of memory");
    if (shapes > n)
        fail("there are more shapes than rows");
    if (!dag_simulated(ctx))
        fail("this is for simulated runs; set DAG_SIMULATE");
    for (int i = 0; i < shapes; i++)
        times[i] = planned(ctx, n - i, n, nb, &plans);
    if (calls != shapes)
        fail("plans were not made once for each shape");
    for (int i = 0; i < kept; i++)
        again[i] = recalled(&asked[i]);
    double first = 1e6 * times[0];
    printf("{\"ranks\": %d, \"plans\": %d, \"first_us\": %.4g, \"made_us\": %.4g, \"kept_us\": "
           "%.4g}\n",
           dag_size(ctx), plans, first, median(times, shapes), median(again, kept));
    free(times);
    return dag_fini(ctx) != DAG_SUCCESS;
}

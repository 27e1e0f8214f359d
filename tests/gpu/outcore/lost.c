/*
 * A device that is lost while a program runs, or cannot run a kernel: the pool ends with a status, and
 * where another device is left the next program has it.
 *   outcore_lost product|factors [quiet | broken]
 * quiet: nothing is lost; broken: whatever comes next fails too. Exit status 1 when something is wrong, 77 without devices.
 */
#include "common.h"

enum { N = 60, BLOCK = 20 };

static dag_status multiply(dag_context *ctx, dag_matrix *A, dag_matrix *B, dag_matrix *C)
{
    const dag_outcore_options options = {.block = BLOCK};
    dag_devprog *program = NULL;
    dag_status status =
        dag_gemm_program(ctx, DAG_NO_TRANS, DAG_NO_TRANS, 1, A, B, 0, C, &options, &program);
    return status == DAG_SUCCESS ? run_program(ctx, program) : status;
}

/* LU factors of A, C on entry, with the pivots of host panels. */
static dag_status factor(dag_context *ctx, whole a, dag_matrix *C, int64_t *ipiv)
{
    const dag_outcore_options options = {.block = BLOCK};
    int64_t info = -1;
    dag_devprog *program = NULL;
    fill_from(C, a);
    dag_status status = dag_getrf_program(ctx, C, ipiv, &info, &options, &program);
    status = status == DAG_SUCCESS ? run_program(ctx, program) : status;
    if (status == DAG_SUCCESS && info != 0)
        failures += fprintf(stderr, "wrong: info %" PRId64 "\n", info) > 0;
    return status;
}

static int usable(const dag_context *ctx)
{
    int count = 0;
    dag_device_stats s;
    for (int d = 0; dag_device_stats_get(ctx, d, &s); d++)
        count += !s.failed;
    return count;
}

static void compare(whole a, whole b, dag_matrix *C)
{
    whole c = whole_new(DAG_D, N, N);
    if (dag_matrix_gather(C, c.a, N) != DAG_SUCCESS)
        failures++;
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = 0; i < N; i++) {
            dag_dcomplex sum = 0;
            for (int64_t k = 0; k < N; k++)
                sum += whole_get(a, i, k) * whole_get(b, k, j);
            if (!(__builtin_cabs(sum - whole_get(c, i, j)) < 1e-12)) {
                fprintf(stderr, "wrong: element (%" PRId64 ", %" PRId64 ")\n", i, j);
                failures++;
                free(c.a);
                return;
            }
        }
    free(c.a);
}

/* P A is L U. */
static void compare_factors(whole a, const int64_t *ipiv, dag_matrix *C)
{
    whole x = whole_new(DAG_D, N, N);
    int64_t row[N];
    double worst = 0;
    if (dag_matrix_gather(C, x.a, N) != DAG_SUCCESS)
        failures++;
    for (int64_t i = 0; i < N; i++)
        row[i] = i;
    for (int64_t i = 0; i < N; i++) {
        int64_t r = row[i];
        row[i] = row[ipiv[i] - 1];
        row[ipiv[i] - 1] = r;
    }
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = 0; i < N; i++) {
            dag_dcomplex rest = whole_get(a, row[i], j);
            for (int64_t k = 0; k <= i && k <= j; k++)
                rest -= (k == i ? 1 : whole_get(x, i, k)) * whole_get(x, k, j);
            worst = __builtin_cabs(rest) > worst ? __builtin_cabs(rest) : worst;
        }
    if (!(worst < 1e-12))
        failures += fprintf(stderr, "wrong: factors are off by %g\n", worst) > 0;
    free(x.a);
}

struct work {
    dag_context *ctx;
    int factors;
    whole a, b;
    dag_matrix *A, *B, *C;
    int64_t ipiv[N];
};

static dag_status run(struct work *w)
{
    return w->factors ? factor(w->ctx, w->a, w->C, w->ipiv) : multiply(w->ctx, w->A, w->B, w->C);
}

int main(int argc, char **argv)
{
    int quiet = argc > 2 && strcmp(argv[2], "quiet") == 0;
    dag_context *ctx = outcore_start(2);
    int devices = usable(ctx), broken = argc > 2 && strcmp(argv[2], "broken") == 0;
    whole a = whole_random(DAG_D, N, N), b = whole_random(DAG_D, N, N), c = whole_new(DAG_D, N, N);
    dag_matrix *A = matrix_like(ctx, a, N, N, 1, "A"), *B = matrix_like(ctx, b, N, N, 1, "B"),
               *C = matrix_like(ctx, c, N, N, 1, "C");
    struct work w = {ctx, argc > 1 && strcmp(argv[1], "factors") == 0, a, b, A, B, C, {0}};
    dag_status status = run(&w);
    printf("%d devices, then %d; status %d: %s\n", devices, usable(ctx), (int)status,
           status == DAG_SUCCESS ? "" : dag_message(ctx));
    if ((status == DAG_SUCCESS) != quiet || (!quiet && dag_message(ctx)[0] == '\0')) {
        fprintf(stderr, "wrong: the status\n");
        failures++;
    }
    if (broken) {
        failures += run(&w) == DAG_SUCCESS;
    } else if (usable(ctx) > 0) {
        if (run(&w) != DAG_SUCCESS)
            failures += fprintf(stderr, "wrong: the next program: %s\n", dag_message(ctx)) > 0;
        else if (w.factors)
            compare_factors(a, w.ipiv, C);
        else
            compare(a, b, C);
    } else if (run(&w) != DAG_ERR_UNSUPPORTED) {
        fprintf(stderr, "wrong: a program without devices\n");
        failures++;
    }
    dag_matrix_free(A);
    dag_matrix_free(B);
    dag_matrix_free(C);
    free(a.a);
    free(b.a);
    free(c.a);
    dag_fini(ctx);
    return failures != 0;
}

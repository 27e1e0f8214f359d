/* How many messages the calls of a few routines wait for, one after the other: a simulated network where a message
 * takes a second and all else next to nothing counts them. `sim_waits P Q N NB`: a line for each call, which waits.py
 * judges. */
#include <dag/la.h>
#include <dag/qr.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static dag_context *ctx;
static int grid[2];

static void must(dag_status status)
{
    if (status == DAG_SUCCESS)
        return;
    fprintf(stderr, "waits: %s\n", dag_message(ctx));
    exit(1);
}

static dag_matrix *matrix(int64_t m, int64_t n, int64_t nb)
{
    dag_matrix *a;
    const dag_matrix_desc desc = {.prec = DAG_D, .m = m, .n = n, .mb = nb, .nb = nb, .p = grid[0], .q = grid[1]};
    must(dag_matrix_new(ctx, &desc, &a));
    return a;
}

/* Of what has been done since `since`. */
static double say(const char *what, double since)
{
    must(dag_barrier(ctx));
    double now = dag_seconds(ctx);
    printf("%s %.0f\n", what, now - since);
    must(dag_barrier(ctx));
    return dag_seconds(ctx);
}

static void all(int64_t n, int64_t nb)
{
    dag_matrix *a = matrix(n, n, nb), *f = matrix(n, n, nb), *b = matrix(n, 1, nb), *x = matrix(n, 1, nb);
    int64_t info, *ipiv = malloc((size_t)n * sizeof *ipiv);
    double berr, ferr, value, at;
    dag_qr *qr;
    if (ipiv == NULL)
        exit(1);
    for (int64_t i = 0; i < n; i++)
        ipiv[i] = i + 1;
    must(dag_barrier(ctx));
    at = dag_seconds(ctx);
    at = say("barrier", at);
    must(dag_lange(ctx, DAG_NORM_ONE, a, &value));
    at = say("lange", at);
    must(dag_getrs(ctx, DAG_NO_TRANS, f, ipiv, x));
    at = say("getrs", at);
    must(dag_gemm(ctx, DAG_NO_TRANS, DAG_NO_TRANS, -1, a, x, 1, b));
    at = say("gemm_first", at);         /* ranks take the plan of rank 0 */
    must(dag_gemm(ctx, DAG_NO_TRANS, DAG_NO_TRANS, -1, a, x, 1, b));
    at = say("gemm", at);
    must(dag_gerfs(ctx, DAG_NO_TRANS, a, f, ipiv, b, x, NULL, &berr));
    at = say("gerfs", at);
    must(dag_gerfs(ctx, DAG_NO_TRANS, a, f, ipiv, b, x, &ferr, &berr));
    at = say("gerfs_ferr", at);
    must(dag_porfs(ctx, DAG_LOWER, a, f, b, x, NULL, &berr));
    at = say("porfs", at);
    must(dag_gecon(ctx, DAG_NORM_ONE, f, ipiv, 1, &value));
    at = say("gecon", at);
    must(dag_trsm(ctx, DAG_LEFT, DAG_UPPER, DAG_NO_TRANS, DAG_NON_UNIT, 1, f, x));
    at = say("trsm", at);
    must(dag_geqrf(ctx, f, &qr));
    at = say("geqrf", at);
    must(dag_unmqr(ctx, DAG_LEFT, DAG_CONJ_TRANS, f, qr, b));
    at = say("unmqr_C", at);
    must(dag_unmqr(ctx, DAG_LEFT, DAG_NO_TRANS, f, qr, b));
    at = say("unmqr_N", at);
    must(dag_gels(ctx, DAG_NO_TRANS, a, b, &info));
    (void)say("gels", at);
    dag_qr_free(qr);
    dag_matrix_free(a);
    dag_matrix_free(f);
    dag_matrix_free(b);
    dag_matrix_free(x);
    free(ipiv);
}

int main(int argc, char **argv)
{
    char why[512] = "";
    if (argc != 5) {
        fprintf(stderr, "usage: sim_waits P Q N NB\n");
        return 1;
    }
    if (dag_init(&ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "waits: %s\n", why);
        return 1;
    }
    grid[0] = atoi(argv[1]);
    grid[1] = atoi(argv[2]);
    all(atoll(argv[3]), atoll(argv[4]));
    must(dag_fini(ctx));
    return 0;
}

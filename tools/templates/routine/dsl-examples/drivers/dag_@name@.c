/* dag_@name@: say what it computes. */
#include "driver.h"

#include <dag/@header@>

#include <math.h>
#include <stdio.h>

/* The residual of A; make the original again. */
static double check(dag_context *ctx, dag_matrix *A)
{
    (void)A;
    if (dag_rank(ctx) == 0)
        fprintf(stderr, "dag_@name@: dsl-examples/drivers/dag_@name@.c: write check()\n");
    return INFINITY;
}

static dag_status run(dag_context *ctx, const options *o, report *r)
{
    dag_matrix *A = NULL;
    dag_status status = driver_rectangular(ctx, o, &A);
    if (status != DAG_SUCCESS) {
        dag_matrix_free(A);
        return status;
    }
    double n = (double)A->n, start = driver_time(ctx);
    status = driver_collective(ctx, dag_@name@(ctx, A));
    r->seconds = driver_time(ctx) - start;
    driver_shape(r, A);
    r->flops = driver_flops(A->prec, n * n, n * n); /* count them */
    r->bound = 10;
    if (status == DAG_SUCCESS && o->check)
        r->residual = check(ctx, A);
    dag_matrix_free(A);
    return status;
}

static const driver @name@ = {
    .name = "@name@",
    .purpose = "Say what is computed, and what the residual of --check is.",
    .run = run,
};

int main(int argc, char **argv)
{
    return driver_main(&@name@, argc, argv);
}

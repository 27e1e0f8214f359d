/* dag_potrf: Cholesky factorisation of a random matrix, or of one from a file. */
#include "driver.h"
#include "load.h"
#include "store.h"

#include <dag/inserted.h>

#include <math.h>

static dag_status make_matrix(dag_context *ctx, const options *o, dag_matrix **a)
{
    driver_random random;
    dag_element_source unused;
    if (o->matrix != NULL)
        return load_matrix(ctx, o, a);
    dag_status status = driver_matrix(ctx, o, o->n, o->n, o->uplo, a);
    if (status == DAG_SUCCESS)
        status = driver_random_positive(ctx, o, *a, &random, &unused);
    return status;
}

static dag_status check(dag_context *ctx, const options *o, dag_matrix *factor, double *residual)
{
    dag_matrix *a = NULL;
    dag_status status = make_matrix(ctx, o, &a);
    DRIVER_STEP(ctx, status, dag_potrf_residual(ctx, o->uplo, factor, a, residual));
    dag_matrix_free(a);
    return status;
}

static dag_status factor(dag_context *ctx, const options *o, dag_matrix *a, report *r)
{
    double n = (double)a->n, start = driver_time(ctx);
    dag_status status = driver_collective(
        ctx, (o->insert ? dag_potrf_inserted : dag_potrf)(ctx, o->uplo, a, &r->info));
    r->seconds = driver_time(ctx) - start;
    driver_shape(r, a);
    r->flops = driver_flops(a->prec, n * n * n / 6 + n * n / 2 + n / 3, n * n * n / 6 - n / 6);
    r->bound = DAG_POTRF_BOUND;
    dag_tile_choice choice;
    if (status == DAG_SUCCESS && o->nb == 0 && dag_devices(ctx) == 0) {
        status = driver_collective(ctx, dag_la_tile(ctx, a->prec, a->n, &choice));
        r->expected = status == DAG_SUCCESS ? choice.seconds : 0;
    }
    if (r->info != 0)
        r->flops = NAN; /* it ended early */
    return status;
}

/* The factor is written, if it is to be, and judged. */
static dag_status conclude(dag_context *ctx, const options *o, dag_matrix *a, store_output *out,
                           report *r)
{
    dag_matrix *whole;
    dag_status status = store_whole(ctx, o, out, o->uplo, 0, a, &whole);
    if (status == DAG_SUCCESS) {
        store_put(ctx, o, out, whole, &r->incomplete);
        if (o->check)
            status = check(ctx, o, a, &r->residual);
        int good = status != DAG_SUCCESS || !driver_check_fails(o, r);
        store_finish(ctx, out, whole, good, &r->incomplete);
    }
    store_whole_free(whole, a);
    return status;
}

static dag_status run(dag_context *ctx, const options *o, report *r)
{
    dag_matrix *a = NULL;
    store_output out = {0};
    dag_status status = make_matrix(ctx, o, &a);
    if (status == DAG_SUCCESS && o->out != NULL)
        status = store_create(ctx, o->out, o->prec, "Cholesky factor", a->m, a->n, &out);
    if (status == DAG_SUCCESS)
        status = factor(ctx, o, a, r);
    if (status == DAG_SUCCESS && r->info == 0)
        status = conclude(ctx, o, a, &out, r);
    store_abort(&out);
    dag_matrix_free(a);
    return status;
}

static const driver potrf = {
    .name = "potrf",
    .residual = "||A - L L^H|| / (||A|| n eps), Frobenius norm",
    .purpose =
        "Cholesky factorisation A = L L^H (or U^H U) of a symmetric or Hermitian\n"
        "positive definite matrix: a random one of order N, or one from a Matrix Market\n"
        "file. --out gets the factor with zeros beside it, which dag_trtrs reads.\n"
        "\n"
        "With --check the residual is ||A - L L^H|| / (||A|| n eps) in the Frobenius\n"
        "norm, eps being that of the element type; its bound is 10. The check takes as\n"
        "long as the factorisation, and memory for a second matrix.",
    .run = run,
};

int main(int argc, char **argv)
{
    return driver_main(&potrf, argc, argv);
}

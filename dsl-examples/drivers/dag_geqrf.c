/* dag_geqrf: QR factorisation of a random matrix, or of one from a file. */
#include "driver.h"
#include "store.h"

#include <dag/la.h>

#include <math.h>

static dag_status check(dag_context *ctx, const options *o, dag_matrix *a, const dag_qr *qr,
                        report *r)
{
    dag_matrix *original = NULL;
    double residual = NAN, orthogonality = NAN;
    dag_status status = driver_rectangular(ctx, o, &original);
    if (status == DAG_SUCCESS)
        status = driver_collective(
            ctx, dag_geqrf_residual(ctx, a, qr, original, &residual, &orthogonality));
    r->residual = residual > orthogonality || isnan(residual) ? residual : orthogonality;
    dag_matrix_free(original);
    return status;
}

/* Q is written, if it is to be, and the factors are judged. */
static dag_status conclude(dag_context *ctx, const options *o, dag_matrix *a, const dag_qr *qr,
                           store_output *out, report *r)
{
    dag_matrix *q = NULL;
    dag_status status = DAG_SUCCESS;
    options tiled = *o;
    tiled.nb = a->nb;
    if (out->open)
        status = driver_matrix(ctx, &tiled, a->m, a->m < a->n ? a->m : a->n, DAG_GENERAL, &q);
    if (status == DAG_SUCCESS && out->open)
        status = driver_collective(ctx, dag_ungqr(ctx, a, qr, q));
    if (status == DAG_SUCCESS) {
        store_put(ctx, o, out, q, &r->incomplete);
        if (o->check)
            status = check(ctx, &tiled, a, qr, r);
        store_finish(ctx, o, out, q, status != DAG_SUCCESS || !driver_check_fails(o, r), &r->incomplete);
    }
    dag_matrix_free(q);
    return status;
}

static dag_status run(dag_context *ctx, const options *o, report *r)
{
    dag_matrix *a = NULL;
    dag_qr *qr = NULL;
    store_output out = {0};
    dag_status status = driver_rectangular(ctx, o, &a);
    if (status == DAG_SUCCESS && o->out != NULL)
        status = store_create(ctx, o, "Q of A = Q R", a->m, a->m < a->n ? a->m : a->n, &out);
    if (status == DAG_SUCCESS) {
        double start = driver_time(ctx);
        status = driver_collective(ctx, dag_geqrf(ctx, a, &qr));
        r->seconds = driver_time(ctx) - start;
        driver_shape(r, a);
        r->flops = driver_qr_flops(a);
        r->bound = DAG_QR_BOUND;
    }
    if (status == DAG_SUCCESS)
        status = conclude(ctx, o, a, qr, &out, r);
    store_abort(&out);
    dag_qr_free(qr);
    dag_matrix_free(a);
    return status;
}

static const driver geqrf = {
    .name = "geqrf",
    .residual = "the larger of ||A - Q R|| / (||A|| max(m,n) eps) and "
                "||I - Q^H Q|| / (m eps), one-norm",
    .purpose =
        "QR factorisation, A = Q R, of a random M x N matrix (M = N unless given), or of\n"
        "one from a Matrix Market file. Slab storage is factored in place, tile storage is\n"
        "copied to slabs and back. --out gets the first min(M,N) columns of Q.\n"
        "\n"
        "With --check the residual is the larger of ||A - Q R|| / (||A|| max(M,N) eps)\n"
        "and ||I - Q^H Q|| / (M eps) in the one-norm, the units of LAPACK's tests.",
    .run = run,
};

int main(int argc, char **argv)
{
    return driver_main(&geqrf, argc, argv);
}

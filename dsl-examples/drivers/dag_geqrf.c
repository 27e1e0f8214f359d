/* dag_geqrf: QR factorisation of a random matrix. */
#include "driver.h"

#include <dag/la.h>

#include <math.h>

static dag_status check(dag_context *ctx, const options *o, dag_matrix *a, const dag_qr *qr,
                        report *r)
{
    dag_matrix *original = NULL;
    double residual = NAN, orthogonality = NAN;
    dag_status status = driver_random_rectangular(ctx, o, &original);
    if (status == DAG_SUCCESS)
        status = driver_collective(
            ctx, dag_geqrf_residual(ctx, a, qr, original, &residual, &orthogonality));
    r->residual = residual > orthogonality || isnan(residual) ? residual : orthogonality;
    dag_matrix_free(original);
    return status;
}

static dag_status run(dag_context *ctx, const options *o, report *r)
{
    dag_matrix *a = NULL;
    dag_qr *qr = NULL;
    dag_status status = driver_random_rectangular(ctx, o, &a);
    if (status == DAG_SUCCESS) {
        double start = driver_time(ctx);
        status = driver_collective(ctx, dag_geqrf(ctx, a, &qr));
        r->seconds = driver_time(ctx) - start;
        driver_shape(r, a);
        r->flops = driver_qr_flops(a);
        r->bound = DAG_QR_BOUND;
    }
    if (status == DAG_SUCCESS && o->check)
        status = check(ctx, o, a, qr, r);
    dag_qr_free(qr);
    dag_matrix_free(a);
    return status;
}

static const driver geqrf = {
    .name = "geqrf",
    .residual = "the larger of ||A - Q R|| / (||A|| max(m,n) eps) and "
                "||I - Q^H Q|| / (m eps), one-norm",
    .purpose =
        "QR factorisation, A = Q R, of a random M x N matrix (M = N unless given). Slab\n"
        "storage is factored in place, tile storage is copied to slabs and back.\n"
        "\n"
        "With --check the residual is the larger of ||A - Q R|| / (||A|| max(M,N) eps)\n"
        "and ||I - Q^H Q|| / (M eps) in the one-norm, the units of LAPACK's tests.",
    .run = run,
};

int main(int argc, char **argv)
{
    return driver_main(&geqrf, argc, argv);
}

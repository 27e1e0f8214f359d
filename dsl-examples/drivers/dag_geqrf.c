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

typedef struct files {
    store_output q, triangle;
} files;

/* Q and R are written, if they are to be, and the factors are judged. */
static dag_status conclude(dag_context *ctx, const options *o, dag_matrix *a, const dag_qr *qr,
                           files *out, report *r)
{
    dag_matrix *q = NULL, *whole = NULL, top = {0};
    dag_status status = DAG_SUCCESS;
    options tiled = *o;
    tiled.nb = a->nb;
    if (out->q.open)
        status = driver_matrix(ctx, &tiled, a->m, a->m < a->n ? a->m : a->n, DAG_GENERAL, &q);
    if (status == DAG_SUCCESS && out->q.open)
        status = driver_collective(ctx, dag_ungqr(ctx, a, qr, q));
    if (status == DAG_SUCCESS && out->triangle.open)
        status = store_trapezoid(ctx, o, DAG_UPPER, a, &whole, &top);
    if (status == DAG_SUCCESS) {
        store_put(ctx, o, &out->q, q, &r->incomplete);
        store_put(ctx, o, &out->triangle, &top, &r->incomplete);
        if (o->check)
            status = check(ctx, &tiled, a, qr, r);
        int good = status != DAG_SUCCESS || !driver_check_fails(o, r);
        store_finish(ctx, &out->q, q, good, &r->incomplete);
        store_finish(ctx, &out->triangle, &top, good, &r->incomplete);
    }
    dag_matrix_free(q);
    dag_matrix_free(whole);
    return status;
}

/* The files that are wanted: found unwritable before the work, not after. */
static dag_status create(dag_context *ctx, const options *o, const dag_matrix *a, files *out)
{
    int64_t k = a->m < a->n ? a->m : a->n;
    dag_status status = DAG_SUCCESS;
    if (o->out != NULL)
        status = store_create(ctx, o->out, o->prec, "Q of A = Q R", a->m, k, &out->q);
    if (status == DAG_SUCCESS && o->triangle != NULL)
        status = store_create(ctx, o->triangle, o->prec, "R of A = Q R", k, a->n, &out->triangle);
    return status;
}

static dag_status run(dag_context *ctx, const options *o, report *r)
{
    dag_matrix *a = NULL;
    dag_qr *qr = NULL;
    files out = {0};
    dag_status status = driver_rectangular(ctx, o, &a);
    if (status == DAG_SUCCESS)
        status = create(ctx, o, a, &out);
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
    store_abort(&out.q);
    store_abort(&out.triangle);
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
        "copied to slabs and back. --out gets the first min(M,N) columns of Q, --triangle R.\n"
        "\n"
        "With --check the residual is the larger of ||A - Q R|| / (||A|| max(M,N) eps)\n"
        "and ||I - Q^H Q|| / (M eps) in the one-norm, the units of LAPACK's tests.",
    .run = run,
};

int main(int argc, char **argv)
{
    return driver_main(&geqrf, argc, argv);
}

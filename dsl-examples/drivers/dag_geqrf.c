/* dag_geqrf: QR factorisation of a random matrix, or of one from a file. */
#include "orthogonal.h"

#include <dag/inserted.h>

#include <math.h>

static dag_status check(dag_context *ctx, const options *o, dag_matrix *a, const void *qr,
                        report *r)
{
    dag_matrix *original = NULL;
    double residual = NAN, orthogonality = NAN;
    dag_status status = driver_rectangular(ctx, o, &original);
    DRIVER_STEP(ctx, status, dag_geqrf_residual(ctx, a, qr, original, &residual, &orthogonality));
    r->residual = residual > orthogonality || isnan(residual) ? residual : orthogonality;
    dag_matrix_free(original);
    return status;
}

static dag_status factor(dag_context *ctx, const options *o, dag_matrix *a, void **rest)
{
    dag_qr *qr = NULL;
    dag_status status = o->insert ? dag_geqrf_inserted(ctx, a, NULL, &qr) : dag_geqrf(ctx, a, &qr);
    *rest = qr;
    return status;
}

static dag_status make_q(dag_context *ctx, dag_matrix *a, const void *rest, dag_matrix *q)
{
    return dag_ungqr(ctx, a, rest, q);
}

static void free_rest(void *rest)
{
    dag_qr_free(rest);
}

static const orthogonal geqrf = {
    .base = {
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
    },
    .triangle = DAG_UPPER,
    .q = "Q of A = Q R",
    .triangular = "R of A = Q R",
    .factor = factor,
    .make_q = make_q,
    .check = check,
    .free = free_rest,
};

int main(int argc, char **argv)
{
    return orthogonal_main(geqrf, argc, argv);
}

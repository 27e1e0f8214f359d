/* dag_gelqf: LQ factorisation of a random matrix, or of one from a file. */
#include "driver.h"
#include "store.h"

#include <dag/la.h>

#include <math.h>

/* *value becomes the norm of A - L Q; A was made again and is overwritten. */
static dag_status difference(dag_context *ctx, const options *o, dag_matrix *factor,
                             const dag_lq *lq, dag_matrix *A, double *value)
{
    dag_matrix *product = NULL;
    dag_status status = driver_matrix(ctx, o, A->m, A->n, DAG_GENERAL, &product); /* it is zero */
    if (status == DAG_SUCCESS)
        status = driver_collective(ctx, dag_lacpy(ctx, DAG_LOWER, factor, product));
    if (status == DAG_SUCCESS)
        status = driver_collective(
            ctx, dag_unmlq(ctx, DAG_RIGHT, DAG_NO_TRANS, factor, lq, product));
    if (status == DAG_SUCCESS)
        status = driver_collective(
            ctx, dag_geadd(ctx, DAG_GENERAL, DAG_NO_TRANS, -1, product, 1, A));
    if (status == DAG_SUCCESS)
        status = driver_collective(ctx, dag_lange(ctx, DAG_NORM_ONE, A, value));
    dag_matrix_free(product);
    return status;
}

/* *value becomes the norm of I - Q Q^H for the first rows of Q. */
static dag_status gram(dag_context *ctx, const options *o, dag_matrix *factor, const dag_lq *lq,
                       double *value)
{
    dag_matrix *Q = NULL, *G = NULL;
    int64_t rows = factor->m < factor->n ? factor->m : factor->n;
    dag_status status = driver_matrix(ctx, o, rows, factor->n, DAG_GENERAL, &Q);
    if (status == DAG_SUCCESS)
        status = driver_matrix(ctx, o, rows, rows, DAG_GENERAL, &G);
    if (status == DAG_SUCCESS)
        status = driver_collective(ctx, dag_unglq(ctx, factor, lq, Q));
    if (status == DAG_SUCCESS)
        status = driver_collective(ctx, dag_laset(ctx, DAG_GENERAL, 0, 1, G));
    if (status == DAG_SUCCESS)
        status = driver_collective(
            ctx, dag_gemm(ctx, DAG_NO_TRANS, DAG_CONJ_TRANS, -1, Q, Q, 1, G));
    if (status == DAG_SUCCESS)
        status = driver_collective(ctx, dag_lange(ctx, DAG_NORM_ONE, G, value));
    dag_matrix_free(Q);
    dag_matrix_free(G);
    return status;
}

static dag_status check(dag_context *ctx, const options *o, dag_matrix *factor, const dag_lq *lq,
                        report *r)
{
    dag_matrix *A = NULL;
    double norm = 0, off = 0, orthogonality = 0;
    double eps = dag_la_eps(o->prec);
    double larger = (double)(factor->m > factor->n ? factor->m : factor->n);
    dag_status status = driver_rectangular(ctx, o, &A);
    if (status == DAG_SUCCESS)
        status = driver_collective(ctx, dag_lange(ctx, DAG_NORM_ONE, A, &norm));
    if (status == DAG_SUCCESS)
        status = difference(ctx, o, factor, lq, A, &off);
    if (status == DAG_SUCCESS)
        status = gram(ctx, o, factor, lq, &orthogonality);
    off = off == 0 ? 0 : off / (norm * larger * eps);
    orthogonality = orthogonality == 0 ? 0 : orthogonality / ((double)factor->n * eps);
    r->residual = off > orthogonality || isnan(off) ? off : orthogonality;
    dag_matrix_free(A);
    return status;
}

typedef struct files {
    store_output q, triangle;
} files;

/* Q and L are written, if they are to be, and the factors are judged. */
static dag_status conclude(dag_context *ctx, const options *o, dag_matrix *a, const dag_lq *lq,
                           files *out, report *r)
{
    dag_matrix *q = NULL, *whole = NULL, top = {0};
    dag_status status = DAG_SUCCESS;
    if (out->q.open)
        status = driver_matrix(ctx, o, a->m < a->n ? a->m : a->n, a->n, DAG_GENERAL, &q);
    if (status == DAG_SUCCESS && out->q.open)
        status = driver_collective(ctx, dag_unglq(ctx, a, lq, q));
    if (status == DAG_SUCCESS && out->triangle.open)
        status = store_trapezoid(ctx, o, DAG_LOWER, a, &whole, &top);
    if (status == DAG_SUCCESS) {
        store_put(ctx, o, &out->q, q, &r->incomplete);
        store_put(ctx, o, &out->triangle, &top, &r->incomplete);
        if (o->check)
            status = check(ctx, o, a, lq, r);
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
        status = store_create(ctx, o->out, o->prec, "Q of A = L Q", k, a->n, &out->q);
    if (status == DAG_SUCCESS && o->triangle != NULL)
        status = store_create(ctx, o->triangle, o->prec, "L of A = L Q", a->m, k, &out->triangle);
    return status;
}

static dag_status timed(dag_context *ctx, const options *o, dag_matrix *a, files *out,
                        report *r)
{
    dag_lq *lq = NULL;
    double start = driver_time(ctx);
    dag_status status = driver_collective(ctx, dag_gelqf(ctx, a, &lq));
    r->seconds = driver_time(ctx) - start;
    driver_shape(r, a);
    r->flops = driver_qr_flops(a);
    r->bound = DAG_QR_BOUND;
    if (status == DAG_SUCCESS) {
        options tiled = *o; /* all matrices get the tiles of this one */
        tiled.nb = a->nb;
        status = conclude(ctx, &tiled, a, lq, out, r);
    }
    dag_lq_free(lq);
    return status;
}

static dag_status run(dag_context *ctx, const options *o, report *r)
{
    dag_matrix *a = NULL;
    files out = {0};
    dag_status status = driver_rectangular(ctx, o, &a);
    if (status == DAG_SUCCESS)
        status = create(ctx, o, a, &out);
    if (status == DAG_SUCCESS)
        status = timed(ctx, o, a, &out, r);
    store_abort(&out.q);
    store_abort(&out.triangle);
    dag_matrix_free(a);
    return status;
}

static const driver gelqf = {
    .name = "gelqf",
    .residual = "the larger of ||A - L Q|| / (||A|| max(m,n) eps) and "
                "||I - Q Q^H|| / (n eps), one-norm",
    .purpose =
        "LQ factorisation, A = L Q, of a random M x N matrix (M = N unless given), or of one\n"
        "from a Matrix Market file. It is the QR factorisation of A^H, which takes the memory\n"
        "of A once more. --out gets the first min(M,N) rows of Q,\n"
        "--triangle L.\n"
        "\n"
        "With --check the residual is the larger of ||A - L Q|| / (||A|| max(M,N) eps)\n"
        "and ||I - Q Q^H|| / (N eps) in the one-norm, the units of LAPACK's tests.",
    .run = run,
};

int main(int argc, char **argv)
{
    return driver_main(&gelqf, argc, argv);
}

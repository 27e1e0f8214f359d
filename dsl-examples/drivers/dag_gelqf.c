/* dag_gelqf: LQ factorisation of a random matrix, or of one from a file. */
#include "orthogonal.h"

#include <math.h>

/* *value becomes the norm of A - L Q; A was made again and is overwritten. */
static dag_status difference(dag_context *ctx, const options *o, dag_matrix *factor,
                             const dag_lq *lq, dag_matrix *A, double *value)
{
    dag_matrix *product = NULL;
    dag_status status = driver_matrix(ctx, o, A->m, A->n, DAG_GENERAL, &product); /* it is zero */
    DRIVER_STEP(ctx, status, dag_lacpy(ctx, DAG_LOWER, factor, product));
    DRIVER_STEP(ctx, status, dag_unmlq(ctx, DAG_RIGHT, DAG_NO_TRANS, factor, lq, product));
    DRIVER_STEP(ctx, status, dag_geadd(ctx, DAG_GENERAL, DAG_NO_TRANS, -1, product, 1, A));
    DRIVER_STEP(ctx, status, dag_lange(ctx, DAG_NORM_ONE, A, value));
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
    DRIVER_STEP(ctx, status, dag_unglq(ctx, factor, lq, Q));
    DRIVER_STEP(ctx, status, dag_laset(ctx, DAG_GENERAL, 0, 1, G));
    DRIVER_STEP(ctx, status, dag_gemm(ctx, DAG_NO_TRANS, DAG_CONJ_TRANS, -1, Q, Q, 1, G));
    DRIVER_STEP(ctx, status, dag_lange(ctx, DAG_NORM_ONE, G, value));
    dag_matrix_free(Q);
    dag_matrix_free(G);
    return status;
}

static dag_status check(dag_context *ctx, const options *o, dag_matrix *factor, const void *lq,
                        report *r)
{
    dag_matrix *A = NULL;
    double norm = 0, off = 0, orthogonality = 0;
    double eps = dag_la_eps(o->prec);
    double larger = (double)(factor->m > factor->n ? factor->m : factor->n);
    dag_status status = driver_rectangular(ctx, o, &A);
    DRIVER_STEP(ctx, status, dag_lange(ctx, DAG_NORM_ONE, A, &norm));
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

static dag_status factor(dag_context *ctx, const options *o, dag_matrix *a, void **rest)
{
    (void)o;
    dag_lq *lq = NULL;
    dag_status status = dag_gelqf(ctx, a, &lq);
    *rest = lq;
    return status;
}

static dag_status make_q(dag_context *ctx, dag_matrix *a, const void *rest, dag_matrix *q)
{
    return dag_unglq(ctx, a, rest, q);
}

static void free_rest(void *rest)
{
    dag_lq_free(rest);
}

static const orthogonal gelqf = {
    .base = {
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
    },
    .triangle = DAG_LOWER,
    .q = "Q of A = L Q",
    .triangular = "L of A = L Q",
    .factor = factor,
    .make_q = make_q,
    .check = check,
    .free = free_rest,
};

int main(int argc, char **argv)
{
    return orthogonal_main(gelqf, argc, argv);
}

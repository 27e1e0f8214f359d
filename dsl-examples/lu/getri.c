/* Inverse of a general matrix from its factors. */
#include "la/check.h"
#include "la/pools.h"

/* A^-1 = U^-1 L^-1 P. What P does to columns is what its inverse does to the rows of the transpose,
 * and there are exchanges of rows. W, as large as A, is zero. */
static dag_status run_getri(dag_context *ctx, dag_matrix *A, dag_matrix *W, const int64_t *ipiv)
{
    dag_status status = dag_lacpy(ctx, DAG_UPPER, A, W);
    if (status == DAG_SUCCESS)
        status = dag_trsm(ctx, DAG_RIGHT, DAG_LOWER, DAG_NO_TRANS, DAG_UNIT, 1, A, W);
    if (status == DAG_SUCCESS)
        status = dag_geadd(ctx, DAG_GENERAL, DAG_TRANS, 1, W, 0, A);
    if (status == DAG_SUCCESS)
        status = dag_lacpy(ctx, DAG_GENERAL, A, W);
    if (status == DAG_SUCCESS)
        status = dag_laswp(ctx, W, A->n, ipiv, 1);
    return status == DAG_SUCCESS ? dag_geadd(ctx, DAG_GENERAL, DAG_TRANS, 1, W, 0, A) : status;
}

static dag_status do_getri(dag_context *ctx, dagi_entry entry, dag_matrix *A, const int64_t *ipiv,
                           int64_t *info)
{
    int64_t zero = 0;
    dag_matrix *W = NULL;
    dagi_check c;
    dagi_check_start(&c, ctx, entry.name);
    dagi_check_typed(&c, "A", entry.prec, A);
    dagi_check_square(&c, "A", DAG_UPPER, A);
    dagi_check_general(&c, "A", A);
    if (c.status == DAG_SUCCESS)
        dagi_check_pivots(&c, A, A->n, ipiv);
    if (c.status == DAG_SUCCESS) {
        const dag_matrix_desc desc = {.prec = A->prec, .m = A->m, .n = A->n, .mb = A->mb,
                                      .nb = A->nb, .p = (int)A->p, .q = (int)A->q,
                                      .layout = DAG_LAYOUT_SLAB, .name = "U^-1 L^-1"};
        c.status = dag_matrix_new(ctx, &desc, &W);
    }
    if (!dagi_check_agreed(&c)) {
        dag_matrix_free(W);
        return c.status;
    }
    dag_status status = dagi_run_trtri(ctx, DAG_UPPER, DAG_NON_UNIT, A, &zero);
    if (status == DAG_SUCCESS && zero == 0)
        status = run_getri(ctx, A, W, ipiv);
    if (info != NULL)
        *info = zero;
    dag_matrix_free(W);
    return status;
}

DAGI_ENTRIES(dag_status, getri,
             (dag_context *ctx, dag_matrix *A, const int64_t *ipiv, int64_t *info),
             do_getri(ctx, entry, A, ipiv, info))

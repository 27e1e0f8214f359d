/* Triangular systems as LAPACK has them: trsm with a look at the diagonal first. */
#include "la/check.h"
#include "la/columns.h"

static dag_status do_trtrs(dag_context *ctx, dagi_entry entry, dag_uplo uplo, dag_trans trans,
                           dag_diag diag, dag_matrix *A, dag_matrix *B, int64_t *info)
{
    dagi_check c;
    dagi_check_start(&c, ctx, entry.name);
    dagi_check_trans(&c, "trans", trans);
    dagi_check_diag(&c, diag);
    dagi_check_typed(&c, "A", entry.prec, A);
    dagi_check_square(&c, "A", uplo, A);
    dagi_check_matrix(&c, "B", B);
    dagi_check_same_type(&c, "A", A, "B", B);
    dagi_check_distinct(&c, "B", B, "A", A);
    dagi_check_rhs(&c, A, B);
    dagi_check_general(&c, "B", B);
    dagi_check_present(&c, "info", info);
    if (!dagi_check_agreed(&c))
        return c.status;
    *info = 0;
    if (diag == DAG_NON_UNIT)
        c.status = dagi_first_zero(ctx, A, info);
    if (c.status != DAG_SUCCESS || *info != 0)
        return c.status;
    return dag_trsm(ctx, DAG_LEFT, uplo, trans, diag, 1, A, B);
}

DAGI_ENTRIES(dag_status, trtrs,
             (dag_context *ctx, dag_uplo uplo, dag_trans trans, dag_diag diag, dag_matrix *A,
              dag_matrix *B, int64_t *info),
             do_trtrs(ctx, entry, uplo, trans, diag, A, B, info))

/* Inverse of a triangular matrix. */
#include "la/check.h"
#include "la/columns.h"
#include "la/pools.h"

#include <dag/kernels.h>

#include "trtri.h"

dag_status dagi_run_trtri(dag_context *ctx, dag_uplo uplo, dag_diag diag, dag_matrix *A,
                          int64_t *info)
{
    DAGI_MAKERS(trtri) make[4] = DAGI_FOUR(trtri);
    *info = 0;
    (void)dag_kernels_init(NULL);
    dag_status status = diag == DAG_NON_UNIT ? dagi_first_zero(ctx, A, info) : DAG_SUCCESS;
    if (status != DAG_SUCCESS || *info != 0)
        return status;
    return dag_run(ctx, make[A->prec](ctx, A, uplo == DAG_LOWER, diag));
}

static dag_status do_trtri(dag_context *ctx, dagi_entry entry, dag_uplo uplo, dag_diag diag,
                           dag_matrix *A, int64_t *info)
{
    int64_t zero;
    dagi_check c;
    dagi_check_start(&c, ctx, entry.name);
    dagi_check_typed(&c, "A", entry.prec, A);
    dagi_check_square(&c, "A", uplo, A);
    dagi_check_diag(&c, diag);
    if (!dagi_check_agreed(&c))
        return c.status;
    return dagi_run_trtri(ctx, uplo, diag, A, info != NULL ? info : &zero);
}

DAGI_ENTRIES(dag_status, trtri,
             (dag_context *ctx, dag_uplo uplo, dag_diag diag, dag_matrix *A, int64_t *info),
             do_trtri(ctx, entry, uplo, diag, A, info))

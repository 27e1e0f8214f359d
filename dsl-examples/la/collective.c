/* Small agreements between ranks, by task graphs: no other way of communication is needed. */
#include "agreed.h"
#include "pools.h"

#include <dag/vector.h>

#include "allreduce.h"

#include <float.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

dag_status dag_allreduce(dag_context *ctx, dag_reduce_op op, double *x, int64_t count)
{
    int size = dag_size(ctx);
    size_t bytes = (size_t)count * sizeof(double);
    if (size == 1 || count == 0)
        return DAG_SUCCESS;
    dag_vector *v;
    dag_status status = dag_vector_new(ctx, size, bytes, &v);
    if (status != DAG_SUCCESS)
        return status;
    memcpy(dag_vector_at(v, dag_rank(ctx)), x, bytes);
    status = dag_run(ctx, allreduce_new(ctx, &v->super, size, (int)op));
    if (status == DAG_SUCCESS)
        memcpy(x, dag_vector_at(v, dag_rank(ctx)), bytes);
    dag_vector_free(v);
    return status;
}

dag_status dag_agree(dag_context *ctx, dag_status mine, int *where)
{
    enum { STEP = 256 }; /* more than any status */
    double first = mine == DAG_SUCCESS ? DBL_MAX : (double)dag_rank(ctx) * STEP + (double)mine;
    dag_status status = dag_allreduce(ctx, DAG_MIN, &first, 1);
    if (where != NULL)
        *where = -1;
    if (status != DAG_SUCCESS || first == DBL_MAX)
        return status;
    if (where != NULL)
        *where = (int)(first / STEP);
    return (dag_status)((int64_t)first % STEP);
}

dag_status dagi_la_agreed(dag_context *ctx, const char *routine, dag_status mine)
{
    int where;
    dag_status status = dag_agree(ctx, mine, &where);
    if (mine == DAG_SUCCESS && where >= 0)
        return dag_error(ctx, status, "%s: rank %d has refused its arguments; its message says why",
                         routine, where);
    return status;
}

dag_status dagi_la_present(dag_context *ctx, const char *routine, const char *name,
                           const void *argument)
{
    if (argument != NULL)
        return DAG_SUCCESS;
    return dag_error(ctx, DAG_ERR_ARG, "%s: %s is NULL", routine, name);
}

dag_status dagi_la_whole(dag_context *ctx, const char *routine, int prec, const dag_matrix *A)
{
    dag_status status = dagi_la_present(ctx, routine, "A", A);
    if (status != DAG_SUCCESS)
        return status;
    if (prec >= 0 && (int)A->prec != prec)
        return dag_error(ctx, DAG_ERR_ARG, "%s: A holds '%c' elements, not '%c'", routine,
                         dag_precision_letter(A->prec), dag_precision_letter((dag_precision)prec));
    if (A->uplo != DAG_GENERAL)
        return dag_error(ctx, DAG_ERR_ARG, "%s: A must have all its tiles", routine);
    return DAG_SUCCESS;
}

dag_status dagi_la_square_tiles(dag_context *ctx, const char *routine, int prec,
                                const dag_matrix *A)
{
    dag_status status = dagi_la_whole(ctx, routine, prec, A);
    if (status == DAG_SUCCESS && A->mb != A->nb)
        return dag_error(ctx, DAG_ERR_ARG, "%s: the tiles of A are %" PRId64 " x %" PRId64
                         "; they must be square", routine, A->mb, A->nb);
    return status;
}

dag_status dagi_run_info(dag_context *ctx, dag_taskpool *pool, int64_t *info)
{
    if (pool == NULL)
        return DAG_ERR_ARG;
    dag_status status = dag_add(ctx, pool);
    if (status == DAG_SUCCESS)
        status = dag_wait(pool);
    if (status == DAG_SUCCESS && info != NULL)
        *info = dag_taskpool_info(pool);
    dag_taskpool_free(pool);
    return status;
}

/* Small agreements between ranks, by task graphs: no other way of communication is needed. */
#include "la/pools.h"

#include <dag/la.h>
#include <dag/vector.h>

#include "allreduce.h"

#include <stdint.h>
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
    int note = 0;
    return dagi_agree_noted(ctx, mine, where, &note);
}

dag_status dagi_agree_noted(dag_context *ctx, dag_status mine, int *where, int *note)
{
    enum { STEP = 256 }; /* more than any status */
    int64_t good = INT64_MAX - (*note != 0), first = good;
    if (mine != DAG_SUCCESS)
        first = (int64_t)dag_rank(ctx) * STEP + (int64_t)mine;
    dag_status status = dag_least(ctx, &first);
    if (where != NULL)
        *where = -1;
    *note = first == INT64_MAX - 1;
    if (status != DAG_SUCCESS || first >= INT64_MAX - 1)
        return status;
    if (where != NULL)
        *where = (int)(first / STEP);
    return (dag_status)(first % STEP);
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

/* Small agreements between ranks, by task graphs: no other way of communication is needed. */
#include "la/check.h"
#include "la/pools.h"

#include <dag/vector.h>

#include "allreduce.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The extreme of each of a few values: the largest is the opposite of the least of the opposites. */
static dag_status extreme(dag_context *ctx, dag_reduce_op op, double *x, int count)
{
    for (int i = 0; i < count && op == DAG_MAX; i++)
        x[i] = -x[i];
    dag_status status = dag_least(ctx, x, count);
    for (int i = 0; i < count && op == DAG_MAX; i++)
        x[i] = -x[i];
    return status;
}

dag_status dagi_la_gather(dag_context *ctx, double *all, int64_t count)
{
    int64_t items = dag_size(ctx) * count, own = dag_rank(ctx) * count;
    bool few = items <= DAG_LEAST_MOST;
    dag_simulation s;
    bool played = dag_simulation_get(ctx, &s); /* which SimGrid's ranks are not */
    for (int64_t i = 0; i < items; i++)
        if (i < own || i >= own + count)
            all[i] = few ? INFINITY : 0;
    dag_status status = few ? dag_least(ctx, all, (int)items) : dag_allreduce(ctx, DAG_SUM, all, items);
    for (int64_t i = 0; played && i < items; i++) /* who is played has nothing to say */
        all[i] = i < own || i >= own + count ? 0 : all[i];
    return status;
}

/* Without a taskpool: each rank adds up what it is told of all. */
static dag_status sum_of_few(dag_context *ctx, double *x, int64_t count)
{
    double all[DAG_LEAST_MOST];
    memcpy(all + dag_rank(ctx) * count, x, (size_t)count * sizeof(*x));
    dag_status status = dagi_la_gather(ctx, all, count);
    for (int64_t i = 0; status == DAG_SUCCESS && i < count; i++) {
        x[i] = 0;
        for (int r = 0; r < dag_size(ctx); r++)
            x[i] += all[r * count + i];
    }
    return status;
}

dag_status dag_allreduce(dag_context *ctx, dag_reduce_op op, double *x, int64_t count)
{
    int size = dag_size(ctx);
    size_t bytes = (size_t)count * sizeof(double);
    if (size == 1 || count == 0)
        return DAG_SUCCESS;
    if (op != DAG_SUM && count <= DAG_LEAST_MOST)
        return extreme(ctx, op, x, (int)count);
    if (op == DAG_SUM && size * count <= DAG_LEAST_MOST)
        return sum_of_few(ctx, x, count);
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

enum { STEP = 256 }; /* more than any status */

double dagi_agree_code(dag_context *ctx, dag_status mine)
{
    return mine == DAG_SUCCESS ? DBL_MAX : (double)dag_rank(ctx) * STEP + (double)mine;
}

dag_status dagi_agree_outcome(double first, int *where)
{
    *where = first == DBL_MAX ? -1 : (int)(first / STEP);
    return first == DBL_MAX ? DAG_SUCCESS : (dag_status)((int64_t)first % STEP);
}

dag_status dag_agree(dag_context *ctx, dag_status mine, int *where)
{
    int rank = -1;
    double first = dagi_agree_code(ctx, mine);
    dag_status status = dag_least(ctx, &first, 1);
    if (status == DAG_SUCCESS)
        status = dagi_agree_outcome(first, &rank);
    if (where != NULL)
        *where = rank;
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

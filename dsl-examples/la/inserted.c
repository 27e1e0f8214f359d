/* Programs that insert their tasks, from their beginning to their end. */
#include "la/inserted.h"

#include <stdlib.h>

int64_t dagi_step_priority(const void *args)
{
    return ((const dagi_step *)args)->priority;
}

int dagi_columns_place(const dag_tile *tile)
{
    return dag_split_columns_place(dag_insert_scratch_like(tile->collection), tile->i, tile->j);
}

dagi_inserting dagi_inserting_begin(dag_context *ctx, const char *name,
                                    const dag_insert_kernel *kernels, int nkernels,
                                    dag_collection *const *collections, int ncollections)
{
    return dagi_inserting_placed(ctx, name, kernels, nkernels, collections, ncollections, NULL);
}

dagi_inserting dagi_inserting_placed(dag_context *ctx, const char *name,
                                     const dag_insert_kernel *kernels, int nkernels,
                                     dag_collection *const *collections, int ncollections,
                                     int (*place)(const dag_tile *tile))
{
    enum { MOST = 16 };
    const dag_insert_kernel *list[MOST];
    dagi_inserting p = {0};
    if (nkernels > MOST) {
        p.status = dag_error(ctx, DAG_ERR_INTERNAL, "%s: %d kernels, and room for %d", name, nkernels, MOST);
        return p;
    }
    for (int k = 0; k < nkernels; k++)
        list[k] = &kernels[k];
    const dag_insert_desc desc = {.name = name, .collections = collections,
                                  .ncollections = ncollections, .kernels = list,
                                  .nkernels = nkernels, .place = place};
    p.status = dag_insert_begin(ctx, &desc, &p.pool);
    return p;
}

void dagi_inserting_task(dagi_inserting *p, const dag_insert_kernel *kernel, const void *args,
                         size_t size, const dag_tile *tiles, int n, const char *file, int line)
{
    if (p->status == DAG_SUCCESS)
        p->status = dag_insert_at(p->pool, kernel, args, size, tiles, n, file, line);
}

void dagi_inserting_release(dagi_inserting *p, dag_collection *c, int64_t i, int64_t j)
{
    if (p->status == DAG_SUCCESS)
        p->status = dag_insert_release(p->pool, &(dag_tile){c, i, j});
}

dag_status dagi_inserting_end(dagi_inserting *p, int64_t *info)
{
    if (p->pool == NULL)
        return p->status;
    dag_status ended = dag_insert_end(p->pool), status = dag_wait(p->pool);
    if (status == DAG_SUCCESS && info != NULL)
        *info = dag_taskpool_info(p->pool);
    dag_taskpool_free(p->pool);
    if (status == DAG_SUCCESS)
        status = p->status != DAG_SUCCESS ? p->status : ended;
    return status;
}

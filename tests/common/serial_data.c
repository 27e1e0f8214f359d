/* The oracle's collections and matrices: every element exists once, for all virtual ranks. */
#include "serial_impl.h"

#include "../../runtime/layout/grid.h"

#include <stdlib.h>

/* ---- collections ------------------------------------------------------------------------- */

void dag_collection_init(dag_collection *c, const dag_context *context,
                         const dag_collection_ops *ops, int nindex, const char *name)
{
    dagi_grid_collection(c, context->rank, context->size, ops, nindex, name);
}

void serial_set_rank(dag_taskpool *pool, int rank)
{
    pool->context->rank = rank;
    for (int i = 0; i < pool->program->nslots; i++)
        dagi_grid_become(pool->slots[i], rank);
}

/* ---- matrices ---------------------------------------------------------------------------- */

/* The whole matrix is one array; a tile is a piece of it. */
static dag_status matrix_element(dag_collection *c, const int64_t *index, dag_element *element)
{
    dag_matrix *a = (dag_matrix *)c;
    element->shape = dagi_grid_matrix_shape(a, index);
    element->ld = a->lld;
    element->ptr = a->base + (size_t)(index[0] * a->mb + index[1] * a->nb * a->lld)
                                 * element->shape.elem;
    return DAG_SUCCESS;
}

static const dag_collection_ops matrix_ops = {
    .rank_of = dagi_grid_matrix_rank_of,
    .contains = dagi_grid_matrix_contains,
    .shape_of = dagi_grid_matrix_shape_of,
    .element = matrix_element,
};

dag_status dag_matrix_new(dag_context *context, const dag_matrix_desc *desc, dag_matrix **matrix)
{
    char why[160];
    const dag_matrix_desc d = dagi_grid_completed(desc, context->size);
    dag_status status = dagi_grid_check(&d, context->size, why, sizeof why);
    if (status != DAG_SUCCESS)
        return dag_error(context, status, "dag_matrix_new: %s", why);
    dag_matrix *a = calloc(1, sizeof *a);
    dagi_grid_matrix(a, &d, context->rank, context->size, &matrix_ops, d.name);
    a->context = context;
    a->layout = DAG_LAYOUT_SLAB;
    a->lld = d.lld ? d.lld : a->m > 0 ? a->m : 1;
    a->owns = d.local == NULL;
    a->base = d.local;
    if (a->owns)
        a->base = calloc((size_t)(a->lld * (a->n > 0 ? a->n : 1)), dag_precision_size(a->prec));
    *matrix = a;
    return DAG_SUCCESS;
}

void dag_matrix_free(dag_matrix *a)
{
    if (!a)
        return;
    if (a->owns)
        free(a->base);
    free(a);
}

int dag_matrix_is_local(const dag_matrix *a, int64_t i, int64_t j)
{
    return dagi_grid_matrix_has(a, i, j);
}

dag_status dag_matrix_tile(dag_matrix *a, int64_t i, int64_t j, dag_element *tile)
{
    return matrix_element(&a->super, (int64_t[]){i, j}, tile);
}

size_t dag_matrix_bytes(const dag_matrix *a)
{
    return (size_t)(a->lld * a->n) * dag_precision_size(a->prec);
}

dag_status dag_matrix_each_local(dag_matrix *a,
                                 dag_status (*fn)(dag_matrix *a, int64_t i, int64_t j,
                                                  const dag_element *tile, void *arg),
                                 void *arg)
{
    for (int64_t j = 0; j < a->nt; j++)
        for (int64_t i = 0; i < a->mt; i++) {
            dag_element tile;
            if (!dag_matrix_is_local(a, i, j))
                continue;
            dag_matrix_tile(a, i, j, &tile);
            dag_status status = fn(a, i, j, &tile, arg);
            if (status != DAG_SUCCESS)
                return status;
        }
    return DAG_SUCCESS;
}

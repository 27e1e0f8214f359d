/* dag_array: blocks with up to four indices. */
#include <dag/array.h>

#include "grid.h"
#include "layout.h"

#include <stdlib.h>

/* Where an element of this rank lies among those of this rank. */
static size_t position(const dag_array *a, const int64_t *index)
{
    const int64_t count[DAG_MAX_INDEX] = {a->n0, a->n1, a->n2, a->n3};
    const dag_collection *c = &a->super;
    int64_t at = 0;
    for (int d = 0; d < c->nindex; d++)
        at = at * dagi_grid_local(count[d], 1, c->mine[d], c->period[d]) + index[d] / c->period[d];
    return (size_t)at;
}

static dag_status array_element(dag_collection *c, const int64_t *index, dag_element *element)
{
    const dag_array *a = (const dag_array *)c;
    element->shape = a->shape;
    element->ptr = a->data + position(a, index) * dagi_grid_block_bytes(&a->shape);
    element->ld = a->shape.m > 0 ? a->shape.m : 1;
    return DAG_SUCCESS;
}

static const dag_collection_ops array_ops = {
    .rank_of = dagi_grid_array_rank_of,
    .contains = dagi_grid_array_contains,
    .shape_of = dagi_grid_array_shape_of,
    .element = array_element,
};

static const char *wrong(int nindex, const int64_t *count, const int *grid, const dag_shape *shape,
                         int size)
{
    if (nindex < 1 || nindex > DAG_MAX_INDEX)
        return "an array has 1 to 4 indices";
    if (shape->m < 0 || shape->n < 0 || shape->elem < 1)
        return "the shape of a block is not one";
    size_t bytes;
    if (__builtin_mul_overflow((size_t)shape->m, (size_t)shape->n, &bytes) ||
        __builtin_mul_overflow(bytes, shape->elem, &bytes))
        return "a block has more bytes than can be counted";
    int64_t ranks = 1, blocks = 1;
    for (int d = 0; d < nindex; d++) {
        if (count[d] < 0 || count[d] > INT32_MAX)
            return "a number of blocks is negative, or over 2^31-1";
        if (grid && (grid[d] < 1 || grid[d] > size))
            return "a dimension of the grid is below 1, or over the number of ranks";
        if (count[d] > 0 && blocks > INT64_MAX / 4 / count[d])
            return "more blocks than can be counted";
        blocks *= count[d] > 0 ? count[d] : 1;
        ranks *= grid ? grid[d] : 1;
        if (ranks > size)
            return "the grid has more places than there are ranks";
    }
    return NULL;
}

dag_status dag_array_new(dag_context *context, int nindex, const int64_t *count, const int *grid,
                         const dag_shape *shape, dag_array **array)
{
    const char *why = wrong(nindex, count, grid, shape, context->size);
    if (why)
        return dag_error(context, DAG_ERR_ARG, "dag_array_new: %s", why);
    dag_array *a = calloc(1, sizeof(*a));
    if (a == NULL)
        return dag_error(context, DAG_ERR_NOMEM, "dag_array_new: out of memory");
    int chosen[DAG_MAX_INDEX];
    dagi_grid_spread(context->size, nindex, chosen);
    dagi_grid_array(a, nindex, count, grid ? grid : chosen, shape, context->rank, context->size,
                    &array_ops);
    size_t bytes = dagi_grid_block_bytes(shape);
    if (a->local > 0 && bytes > 0) {
        a->data = calloc((size_t)a->local, bytes);
        if (a->data == NULL) {
            long long blocks = a->local;
            free(a);
            return dag_error(context, DAG_ERR_NOMEM, "dag_array_new: no memory for %lld blocks of "
                             "%zu bytes", blocks, bytes);
        }
    }
    *array = a;
    return DAG_SUCCESS;
}

void dag_array_free(dag_array *array)
{
    if (array == NULL)
        return;
    dagi_layout_leave(&array->super, 0);
    free(array->data);
    free(array);
}

void *dag_array_at(const dag_array *array, const int64_t *index)
{
    const dag_collection *c = &array->super;
    if (!dagi_grid_array_contains(c, index) || dagi_grid_array_rank_of(c, index) != c->rank)
        return NULL;
    return array->data + position(array, index) * dagi_grid_block_bytes(&array->shape);
}

/* dag_vector: elements dealt round-robin, the collection of small programs. */
#include <dag/vector.h>

#include "grid.h"
#include "layout.h"

#include <stdlib.h>

static dag_status vector_element(dag_collection *c, const int64_t *index, dag_element *element)
{
    const dag_vector *v = (const dag_vector *)c;
    element->shape = dagi_grid_vector_shape(v);
    element->ptr = v->data + (size_t)(index[0] / c->size) * v->bytes;
    element->ld = v->bytes > 0 ? (int64_t)v->bytes : 1;
    return DAG_SUCCESS;
}

static const dag_collection_ops vector_ops = {
    .rank_of = dagi_grid_vector_rank_of,
    .contains = dagi_grid_vector_contains,
    .shape_of = dagi_grid_vector_shape_of,
    .element = vector_element,
};

dag_status dag_vector_new(dag_context *context, int64_t count, size_t bytes, dag_vector **vector)
{
    if (count < 0)
        return dag_error(context, DAG_ERR_ARG,
                          "dag_vector_new: count is %lld; it must not be negative",
                          (long long)count);
    dag_vector *v = calloc(1, sizeof(*v));
    if (v == NULL)
        return dag_error(context, DAG_ERR_NOMEM, "dag_vector_new: out of memory");
    dagi_grid_vector(v, count, bytes, context->rank, context->size, &vector_ops);
    if (v->local > 0 && bytes > 0) {
        v->data = calloc((size_t)v->local, bytes);
        if (v->data == NULL) {
            free(v);
            return dag_error(context, DAG_ERR_NOMEM,
                              "dag_vector_new: no memory for %lld elements of %zu bytes",
                              (long long)count, bytes);
        }
    }
    *vector = v;
    return DAG_SUCCESS;
}

void dag_vector_free(dag_vector *vector)
{
    if (vector == NULL)
        return;
    dagi_layout_leave(&vector->super, 0);
    free(vector->data);
    free(vector);
}

void *dag_vector_at(const dag_vector *vector, int64_t i)
{
    if (i < 0 || i >= vector->count || i % vector->super.size != vector->super.rank)
        return NULL;
    return vector->data + (size_t)(i / vector->super.size) * vector->bytes;
}

/* dag_vector: elements dealt round-robin, the collection of small programs. */
#include <dag/vector.h>

#include "layout.h"

#include <stdlib.h>

static const dag_vector *vector_of(const dag_collection *c)
{
    return (const dag_vector *)c;
}

static int vector_rank_of(const dag_collection *c, const int64_t *index)
{
    return (int)(index[0] % c->size);
}

static int vector_contains(const dag_collection *c, const int64_t *index)
{
    return index[0] >= 0 && index[0] < vector_of(c)->count;
}

static void vector_shape_of(const dag_collection *c, const int64_t *index, dag_shape *shape)
{
    (void)index;
    *shape = (dag_shape){(int64_t)vector_of(c)->bytes, 1, 1};
}

static dag_status vector_element(dag_collection *c, const int64_t *index, dag_element *element)
{
    const dag_vector *v = vector_of(c);
    vector_shape_of(c, index, &element->shape);
    element->ptr = v->data + (size_t)(index[0] / c->size) * v->bytes;
    element->ld = v->bytes > 0 ? (int64_t)v->bytes : 1;
    return DAG_SUCCESS;
}

static const dag_collection_ops vector_ops = {
    .rank_of = vector_rank_of,
    .contains = vector_contains,
    .shape_of = vector_shape_of,
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
    dag_collection_init(&v->super, context, &vector_ops, 1, "vector");
    const int64_t period[1] = {v->super.size}, offset[1] = {0}, stride[1] = {1};
    dag_collection_set_cyclic(&v->super, period, offset, stride);
    v->count = count;
    v->bytes = bytes;
    v->super.fingerprint = (uint64_t)count * UINT64_C(0x9e3779b97f4a7c15) + bytes;
    v->local = (count - v->super.rank + v->super.size - 1) / v->super.size;
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
    const dagi_layout_port *port = atomic_load(&dagi_layout_port_used);
    if (port)
        port->leave(&vector->super, 0);
    free(vector->data);
    free(vector);
}

void *dag_vector_at(const dag_vector *vector, int64_t i)
{
    if (i < 0 || i >= vector->count || i % vector->super.size != vector->super.rank)
        return NULL;
    return vector->data + (size_t)(i / vector->super.size) * vector->bytes;
}

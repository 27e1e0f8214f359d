/**
 * @file array.h
 * An array of blocks with up to four indices, dealt block-cyclically over a grid of as many
 * dimensions: what products in three dimensions and stencils in space are placed on.
 *
 * Index d of an element belongs to coordinate (index mod grid_d); the last dimension of the grid
 * runs fastest over the ranks. All blocks have one shape. In a task graph a global of type
 * `dag_array *` is a collection with as many indices.
 */
#ifndef DAG_ARRAY_H
#define DAG_ARRAY_H

#include <dag/collection.h>

DAG_C_BEGIN

/** Fields are read-only; JDF expressions may name `n0` to `n3`. */
typedef struct dag_array {
    dag_collection super;
    int64_t n0, n1, n2, n3; /**< blocks in each dimension, >= 0; 1 behind the last index */
    dag_shape shape;        /**< of a block, contiguous */
    int64_t local;          /**< blocks on this rank */
    char *data;             /**< local blocks, the last index fastest; zeroed at the start */
} dag_array;

/**
 * Make an array; all ranks give the same.
 * @param nindex      number of indices, 1 to DAG_MAX_INDEX
 * @param count       blocks in each dimension; `nindex` numbers
 * @param grid        ranks in each dimension, with a product of the number of ranks at most; NULL:
 *                    all ranks, dimensions as equal as can be
 * @param shape       of every block
 * @param[out] array  owned by the caller, dag_array_free(); set only on success.
 * @return DAG_ERR_ARG, DAG_ERR_NOMEM; the reason is in dag_message().
 */
dag_status dag_array_new(dag_context *context, int nindex, const int64_t *count, const int *grid,
                         const dag_shape *shape, dag_array **array);

/** Free an array that no running pool names. NULL is allowed. */
void dag_array_free(dag_array *array);

/** The block of an index tuple when it belongs to this rank, else NULL. */
void *dag_array_at(const dag_array *array, const int64_t *index);

DAG_C_END
#endif

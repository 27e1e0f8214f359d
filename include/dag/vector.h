/**
 * @file vector.h
 * The simplest collection: `count` elements of `bytes` bytes each, dealt round-robin to the ranks.
 *
 * Element i belongs to rank i mod size. It is what small programs and the tutorial place their
 * tasks on; with bytes = 0 it holds no data and serves as an index space alone.
 */
#ifndef DAG_VECTOR_H
#define DAG_VECTOR_H

#include <dag/collection.h>

DAG_C_BEGIN

/** Fields are read-only; JDF expressions may name `count`. */
typedef struct dag_vector {
    dag_collection super;
    int64_t count; /**< elements on all ranks together, >= 0 */
    int64_t local; /**< elements on this rank */
    size_t bytes;  /**< of one element */
    char *data;    /**< local elements in index order, zeroed at the start */
} dag_vector;

/**
 * Make a vector; all ranks give the same count and bytes.
 * @param[out] vector  owned by the caller, dag_vector_free(); set only on success.
 * @return DAG_ERR_ARG for count < 0, DAG_ERR_NOMEM; the reason is in dag_message().
 */
dag_status dag_vector_new(dag_context *context, int64_t count, size_t bytes, dag_vector **vector);

/** Free a vector that no running pool names. NULL is allowed. */
void dag_vector_free(dag_vector *vector);

/** Element `i` when it belongs to this rank, else NULL. */
void *dag_vector_at(const dag_vector *vector, int64_t i);

DAG_C_END
#endif

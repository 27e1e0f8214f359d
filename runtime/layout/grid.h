/*
 * Which rank owns which element: functions of their arguments alone, for any rank. A part of dag_pure,
 * the library without state, so other runtimes behind dag/jdf.h deal elements as this one does.
 */
#ifndef DAGI_LAYOUT_GRID_H
#define DAGI_LAYOUT_GRID_H

#include <dag/array.h>
#include <dag/matrix.h>
#include <dag/vector.h>

/* The base of a collection without a closed form, as rank `rank` of `size` sees it. */
void dagi_grid_collection(dag_collection *c, int rank, int size, const dag_collection_ops *ops,
                          int nindex, const char *name);
/* The collection as another rank of its job sees it. */
void dagi_grid_become(dag_collection *c, int rank);

/* The description with the values that dag_matrix_new() takes where it leaves them open. */
dag_matrix_desc dagi_grid_completed(const dag_matrix_desc *desc, int size);
/* DAG_SUCCESS, or what is wrong with a completed description, and a sentence. */
dag_status dagi_grid_check(const dag_matrix_desc *d, int size, char *why, size_t why_size);
/* The matrix of a completed description as rank `rank` of `size` sees it: all but its storage. The
 * struct is zero before; `name` must outlive it. */
void dagi_grid_matrix(dag_matrix *a, const dag_matrix_desc *d, int rank, int size,
                      const dag_collection_ops *ops, const char *name);

/* Items of a dimension cut into blocks of nb that coordinate x of 0..p-1 owns, 0 for x < 0. */
int64_t dagi_grid_local(int64_t n, int64_t nb, int64_t x, int64_t p);

/* Tile (i,j) exists. */
static inline int dagi_grid_matrix_has(const dag_matrix *a, int64_t i, int64_t j)
{
    return i >= 0 && j >= 0 && i < a->mt && j < a->nt && (a->uplo != DAG_LOWER || i >= j) &&
           (a->uplo != DAG_UPPER || i <= j);
}

static inline dag_shape dagi_grid_matrix_shape(const dag_matrix *a, const int64_t *index)
{
    return (dag_shape){dag_matrix_tile_rows(a, index[0]), dag_matrix_tile_cols(a, index[1]),
                       dag_precision_size(a->prec)};
}

/* Three of the operations of a matrix. */
int dagi_grid_matrix_rank_of(const dag_collection *c, const int64_t *index);
int dagi_grid_matrix_contains(const dag_collection *c, const int64_t *index);
void dagi_grid_matrix_shape_of(const dag_collection *c, const int64_t *index, dag_shape *shape);

/* A vector as rank `rank` of `size` sees it, all but its memory; three of its operations. */
void dagi_grid_vector(dag_vector *v, int64_t count, size_t bytes, int rank, int size,
                      const dag_collection_ops *ops);
static inline dag_shape dagi_grid_vector_shape(const dag_vector *v)
{
    return (dag_shape){(int64_t)v->bytes, 1, 1};
}

int dagi_grid_vector_rank_of(const dag_collection *c, const int64_t *index);
int dagi_grid_vector_contains(const dag_collection *c, const int64_t *index);
void dagi_grid_vector_shape_of(const dag_collection *c, const int64_t *index, dag_shape *shape);

/* An array as rank `rank` of `size` sees it, all but its memory; three of its operations. */
void dagi_grid_array(dag_array *a, int nindex, const int64_t *count, const int *grid,
                     const dag_shape *shape, int rank, int size, const dag_collection_ops *ops);
int dagi_grid_array_rank_of(const dag_collection *c, const int64_t *index);
int dagi_grid_array_contains(const dag_collection *c, const int64_t *index);
void dagi_grid_array_shape_of(const dag_collection *c, const int64_t *index, dag_shape *shape);
/* `size` as a product of `n` numbers that are as equal as can be, the largest last. */
void dagi_grid_spread(int size, int n, int *grid);
static inline size_t dagi_grid_block_bytes(const dag_shape *shape)
{
    return (size_t)shape->m * (size_t)shape->n * shape->elem;
}

#endif

/* Whether two matrices of equal tiles are the same bit by bit. */
#ifndef SAME_TILE_H
#define SAME_TILE_H

#include <dag/matrix.h>

#include <string.h>

/* For dag_matrix_each_local(): are the tiles of `other` the same bit by bit? */
static inline dag_status same_tile(dag_matrix *A, int64_t i, int64_t j, const dag_element *e, void *other)
{
    int64_t ld;
    const char *b = dag_matrix_at((const dag_matrix *)other, i, j, &ld);
    (void)A;
    for (int64_t c = 0; c < e->shape.n; c++)
        if (memcmp((const char *)e->ptr + (size_t)(c * e->ld) * e->shape.elem,
                   b + (size_t)(c * ld) * e->shape.elem, (size_t)e->shape.m * e->shape.elem) != 0)
            return DAG_ERR_INTERNAL;
    return DAG_SUCCESS;
}

#endif

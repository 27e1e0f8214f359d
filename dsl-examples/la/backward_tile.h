/* What backward.jdf and backward_few.jdf share: how op(A) is read off the tiles of A, and what one of them
 * adds. */
#ifndef LA_BACKWARD_TILE_H
#define LA_BACKWARD_TILE_H

#include <dag/kernels.h>
#include <dag/matrix.h>

#include <string.h>

/* op(A) is A or its transpose, conjugate or not; or A is Hermitian and given by a triangle. */
typedef struct la_backward {
    int herm, lower;
    dag_trans trans;
} la_backward;

#define DAG_TEMPLATE "la/backward_tile.inc.h"
#include <dag/each_precision.h>

/* In a body: that of its elements. */
#define LA_BACKWARD_TILE DAG_PRECISION_CAT(la_backward_tile_, DAG_PRECISION)

/* Whether op(A)(m,k) is read off tile (k,m). */
static inline int la_backward_turned(const la_backward *how, int64_t m, int64_t k)
{
    return how->herm ? how->lower != (m >= k) : how->trans != DAG_NO_TRANS;
}

#endif

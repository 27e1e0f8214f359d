/* Matrices in slab layout, copies of others if need be, and views of them. */
#ifndef LA_SLABS_H
#define LA_SLABS_H

#include <dag/matrix.h>

/* *slab is A, or a copy of it in slab layout, on this rank. To be ended by dagi_la_slab_end(), also
 * after an error. */
dag_status dagi_la_slab(dag_context *ctx, dag_matrix *A, dag_matrix **slab);

/* Frees the copy; if it has `changed` and `status` is good, it goes back to A. */
dag_status dagi_la_slab_end(dag_matrix *A, dag_matrix *slab, int changed, dag_status status);

/* A^H on a grid of p x q, in slab layout. Collective; to be freed also after an error. */
dag_status dagi_la_adjoint(dag_context *ctx, const char *routine, dag_matrix *A, int p, int q,
                           dag_matrix **adjoint);

/* Describe the first m rows and n columns of A, a matrix in slab layout, as a matrix of their own.
 * As with stacks, taskpools do not know that both are the same memory. */
void dagi_la_top(const dag_matrix *A, int64_t m, int64_t n, dag_matrix *top);

#endif

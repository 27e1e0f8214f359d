/* Matrices in slab layout, copies of others if need be. */
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

#endif

/* Inside of the library of algorithms: how its collective calls refuse arguments. */
#ifndef LA_AGREED_H
#define LA_AGREED_H

#include <dag/la.h>

/*
 * What a rank found in its arguments becomes the outcome on all ranks, so that none of them starts
 * to wait for one that has left. Ranks with good arguments get a message that names the other.
 */
dag_status dagi_la_agreed(dag_context *ctx, const char *routine, dag_status mine);

/* DAG_ERR_ARG with a message if an argument called `name` is NULL. */
dag_status dagi_la_present(dag_context *ctx, const char *routine, const char *name,
                           const void *argument);

/* The same if A is NULL, holds elements of another type than `prec` (negative: any), or lacks
 * tiles; the second also if its tiles are not square. */
dag_status dagi_la_whole(dag_context *ctx, const char *routine, int prec, const dag_matrix *A);
dag_status dagi_la_square_tiles(dag_context *ctx, const char *routine, int prec,
                                const dag_matrix *A);

#endif

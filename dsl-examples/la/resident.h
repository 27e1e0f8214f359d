/* Inside of the library of algorithms: matrices that stay on devices from one pool of a routine to the
 * next. Where that is not to be had it costs time only. */
#ifndef LA_RESIDENT_H
#define LA_RESIDENT_H

#include <dag/matrix.h>

#include <stdbool.h>

/* True: it has begun, and dagi_la_let_go() must come. */
static inline bool dagi_la_keep(dag_context *ctx, dag_matrix *A, dag_residence how)
{
    return dag_resident_begin(ctx, &A->super, how) == DAG_SUCCESS;
}

/* The first thing that went wrong: before (`status`) or now. This rank's own. */
static inline dag_status dagi_la_let_go(dag_context *ctx, dag_matrix *A, bool kept,
                                        dag_status status)
{
    if (!kept)
        return status;
    dag_status ended = dag_resident_end(ctx, &A->super);
    return status == DAG_SUCCESS ? ended : status;
}

#endif

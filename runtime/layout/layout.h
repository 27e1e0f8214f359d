/*
 * Where elements of collections lie: distributions, and the memory of those that are matrices and
 * vectors. Functions of memory and ranks; nothing here runs.
 */
#ifndef DAGI_LAYOUT_H
#define DAGI_LAYOUT_H

#include "../base/base.h"

#include <dag/matrix.h>

/* Port: who keeps copies of a collection's memory elsewhere. A collection may outlive the context that
 * it was made in, so there is one for the process; NULL = nobody does. device/ fills it before the first
 * device is opened, and never changes it again. */
typedef struct dagi_layout_port {
    /* Pin memory: 1: it is, and unpin() must come before it is freed. 0: it cannot be. */
    int (*pin)(dag_context *ctx, void *at, size_t bytes);
    void (*unpin)(void *at);
    /* The collection is about to be freed. `content`: its memory lives on, and what is elsewhere is
     * brought home. */
    void (*leave)(dag_collection *c, int content);
    /* Bring the content home, for who looks at the memory; nothing is elsewhere then. */
    dag_status (*come_home)(dag_context *ctx, dag_collection *c);
} dagi_layout_port;
extern _Atomic(const dagi_layout_port *) dagi_layout_port_used;

/* A collection is about to be freed, with `content` kept at home. Returns the port; NULL = nobody listens. */
static inline const dagi_layout_port *dagi_layout_leave(dag_collection *c, int content)
{
    const dagi_layout_port *port = atomic_load(&dagi_layout_port_used);
    if (port)
        port->leave(c, content);
    return port;
}

/* Pin the local part of the matrix that a collection is, or is a view of, once: tasks on devices will use
 * it. Application thread. */
void dagi_matrix_pin(dag_collection *c);
/* Bytes of the local array, whoever owns it. */
size_t dagi_matrix_reach(const dag_matrix *a);
/* The local memory of a collection that is a matrix, else NULL and 0. */
void dagi_matrix_memory(const dag_collection *c, const char **from, size_t *bytes);
/* The precision of a collection that is a matrix, or a view of one; `otherwise` if it is neither. */
dag_precision dagi_matrix_precision(dag_collection *c, dag_precision otherwise);

#endif

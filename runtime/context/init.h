/* The common part of dag_init() and dag_init_mpi(). */
#ifndef DAGI_INIT_H
#define DAGI_INIT_H

#include <dag/dag.h>

/* mpi_comm: an MPI_Comm *, or NULL. */
dag_status dagi_init(dag_context **context, const dag_config *config, void *mpi_comm, char *why,
                     size_t why_size);

#endif

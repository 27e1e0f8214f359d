/**
 * @file mpi.h
 * Starting the runtime on a communicator of the program's own. Only where the build has MPI
 * (DAG_HAVE_MPI in dag/config.h); programs that use MPI_COMM_WORLD do not need it.
 */
#ifndef DAG_MPI_H
#define DAG_MPI_H

#include <dag/dag.h>

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * dag_init() on the ranks of `comm`, which is duplicated; collective over it. MPI must have been
 * initialised, with MPI_THREAD_SERIALIZED or more where there is to be more than one worker, and is
 * not finalised by dag_fini(). Other arguments and errors as dag_init(); in addition DAG_ERR_ARG for
 * MPI_COMM_NULL.
 */
dag_status dag_init_mpi(dag_context **context, const dag_config *config, MPI_Comm comm, char *why,
                        size_t why_size);

#ifdef __cplusplus
}
#endif
#endif

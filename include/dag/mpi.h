/**
 * @file mpi.h
 * Starting the runtime on a communicator of the program's own. Only where the build has MPI
 * (DAG_HAVE_MPI in dag/config.h); programs that use MPI_COMM_WORLD do not need it.
 */
#ifndef DAG_MPI_H
#define DAG_MPI_H

#include <dag/dag.h>

#include <mpi.h>

DAG_C_BEGIN

/**
 * dag_init() on the ranks of `comm`, which is duplicated; collective over it. MPI must have been
 * initialised, and is not finalised by dag_fini(). Other arguments and errors as dag_init(); in
 * addition DAG_ERR_ARG for MPI_COMM_NULL.
 *
 * Where the program has initialised MPI, its thread level says who may call MPI after this call or
 * dag_init():
 * - MPI_THREAD_MULTIPLE: all workers call MPI, and the program may at any time.
 * - MPI_THREAD_SERIALIZED, MPI_THREAD_FUNNELED: only the thread that calls this library calls MPI,
 *   inside of these calls; other workers run tasks only. So the program may call MPI as
 *   its level says whenever no thread of it is in this library. Messages move only while one is.
 * - MPI_THREAD_SINGLE, as MPI_Init() gives: one worker; a warning if there were to be more.
 *
 * A process may have any number of contexts at a time, on communicators that overlap or not; they share
 * its threads. Each is driven by the thread that has made it. Below MPI_THREAD_MULTIPLE their calls of MPI
 * take turns, and contexts begin and end one after the other, in the same order on all ranks; below
 * MPI_THREAD_SERIALIZED the main thread makes all of them.
 */
dag_status dag_init_mpi(dag_context **context, const dag_config *config, MPI_Comm comm, char *why,
                        size_t why_size);

DAG_C_END
#endif

/* Several contexts one after the other, under a launcher, need an MPI that stays. */
#ifndef LASTING_MPI_H
#define LASTING_MPI_H

#include <dag/config.h>

#if DAG_HAVE_MPI
#include <mpi.h>
#endif
#include <stdlib.h>

static inline void start_mpi(void)
{
#if DAG_HAVE_MPI
    if (getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE")) {
        int level;
        MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
    }
#endif
}

static inline void end_mpi(void)
{
#if DAG_HAVE_MPI
    int up;
    MPI_Initialized(&up);
    if (up)
        MPI_Finalize();
#endif
}

#endif

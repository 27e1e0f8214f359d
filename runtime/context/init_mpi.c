#include <dag/mpi.h>

#include "init.h"

#include <stdio.h>

dag_status dag_init_mpi(dag_context **context, const dag_config *config, MPI_Comm comm, char *why,
                        size_t why_size)
{
    if (comm == MPI_COMM_NULL) { /* MPI would end the program */
        if (why && why_size > 0)
            snprintf(why, why_size,
                     "dag_init_mpi: the communicator is MPI_COMM_NULL; only ranks that "
                     "belong to one can start on it");
        return DAG_ERR_ARG;
    }
    return dagi_init(context, config, &comm, why, why_size);
}

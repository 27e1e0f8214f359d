#include <dag/mpi.h>

#include "init.h"

dag_status dag_init_mpi(dag_context **context, const dag_config *config, MPI_Comm comm, char *why,
                        size_t why_size)
{
    return dagi_init(context, config, &comm, why, why_size);
}

/* MPI's row in the table of engines: when it is there to be used. */
#include "mpi.h"

#include <stdlib.h>

/* Each of these is set for its processes by a launcher (Open MPI, PMIx, PMI of MPICH and Slurm,
 * Cray, SimGrid). A process started by hand does not pay for MPI. */
static int started_by_launcher(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_ID",
                                        "PMI_FD", "MPI_LOCALRANKID", "MV2_COMM_WORLD_SIZE",
                                        "ALPS_APP_PE", "PALS_RANKID", "SMPI_GLOBAL_SIZE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return 1;
    return 0;
}

static int mpi_offered(const dagi_engine_options *options)
{
    int initialised = 0;
    MPI_Initialized(&initialised);
    return initialised || options->comm || started_by_launcher();
}

static int mpi_is_up(void)
{
    int initialised = 0, finalised = 0;
    MPI_Initialized(&initialised);
    MPI_Finalized(&finalised);
    return initialised && !finalised;
}

const dagi_engine_kind dagi_engine_mpi = {"mpi", mpi_offered, mpi_is_up, dagi_engine_mpi_new};

/* What MPI itself takes: starts and ends it. */
#include <dag/config.h>

#include <stddef.h>

#if DAG_HAVE_MPI
#include <mpi.h>
#endif

int main(void)
{
#if DAG_HAVE_MPI
    MPI_Init(NULL, NULL);
    MPI_Finalize();
#endif
    return 0;
}

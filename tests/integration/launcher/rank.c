/*
 * rank MARK: says its number of ranks and ends.
 * rank MARK exit R S: rank R ends with status S, in order.
 * rank MARK kill R: rank R kills itself, the others wait for ever.
 * MARK is not looked at; it makes the processes of one job recognisable.
 */
#include <dag/config.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if DAG_HAVE_MPI
#include <mpi.h>
static void begin(int *rank, int *size)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
}

static void end(void)
{
    MPI_Finalize();
}
#else
static void begin(int *rank, int *size)
{
    *rank = 0;
    *size = 1;
}

static void end(void)
{
}
#endif

int main(int argc, char **argv)
{
    const char *threads = getenv("DAG_THREADS");
    int rank, size, status = 0;

    begin(&rank, &size);
    if (argc > 4 && strcmp(argv[2], "exit") == 0 && rank == atoi(argv[3]))
        status = atoi(argv[4]);
    if (argc > 3 && strcmp(argv[2], "kill") == 0) {
        if (rank == atoi(argv[3]))
            raise(SIGKILL);
        for (;;)
            sleep(1000);
    }
    if (rank == 0)
        printf("ranks=%d threads=%s\n", size, threads != NULL ? threads : "unset");
    end();
    return status;
}

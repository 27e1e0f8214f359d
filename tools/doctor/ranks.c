#include "ranks.h"

#include <dag/config.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#if DAG_HAVE_MPI
#include <mpi.h>

static int is_up(void)
{
    int up = 0;
    MPI_Initialized(&up);
    return up;
}

rank_view *ranks_gather(const rank_view *mine, int *size)
{
    int rank = 0;
    *size = 1;
    if (is_up()) {
        MPI_Comm_size(MPI_COMM_WORLD, size);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    }
    rank_view *all = rank == 0 ? calloc((size_t)*size, sizeof *all) : NULL;
    if (is_up())
        MPI_Gather(mine, sizeof *mine, MPI_BYTE, all, sizeof *mine, MPI_BYTE, 0, MPI_COMM_WORLD);
    else if (all)
        *all = *mine;
    return all;
}

const char *ranks_library(char *text, size_t size)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(version, &length);
    version[strcspn(version, "\n,")] = '\0';
    snprintf(text, size, "%s, MPI %d.%d", version, MPI_VERSION, MPI_SUBVERSION);
    return text;
}

static double exchange(int rank, char *data, int bytes, int rounds)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < rounds && rank < 2; i++) {
        if (rank == 0)
            MPI_Send(data, bytes, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
        MPI_Recv(data, bytes, MPI_BYTE, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(data, bytes, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
    }
    return (MPI_Wtime() - start) / (2.0 * rounds);
}

void ranks_pingpong(int rank, int size, double *latency, double *bandwidth)
{
    enum { LARGE = 8 << 20 };
    *latency = *bandwidth = 0;
    if (size < 2 || !is_up())
        return;
    char *data = calloc(1, LARGE);
    if (!data)
        return;
    exchange(rank, data, 8, 100);
    *latency = exchange(rank, data, 8, 1000) * 1e6;
    exchange(rank, data, LARGE, 1);
    *bandwidth = LARGE / exchange(rank, data, LARGE, 10) * 1e-9;
    free(data);
}
#else
rank_view *ranks_gather(const rank_view *mine, int *size)
{
    rank_view *all = calloc(1, sizeof *all);
    *size = 1;
    if (all)
        *all = *mine;
    return all;
}

const char *ranks_library(char *text, size_t size)
{
    snprintf(text, size, "none: this build has no MPI");
    return text;
}

void ranks_pingpong(int rank, int size, double *latency, double *bandwidth)
{
    (void)rank;
    (void)size;
    *latency = *bandwidth = 0;
}
#endif

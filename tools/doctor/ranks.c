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

static double exchange(int rank, int peer, char *data, int bytes, int rounds)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < rounds && (rank == 0 || rank == peer); i++) {
        if (rank == 0)
            MPI_Send(data, bytes, MPI_BYTE, peer, 7, MPI_COMM_WORLD);
        MPI_Recv(data, bytes, MPI_BYTE, rank == 0 ? peer : 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == peer)
            MPI_Send(data, bytes, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
    }
    return (MPI_Wtime() - start) / (2.0 * rounds);
}

void ranks_pingpong(int rank, int peer, double *latency, double *bandwidth)
{
    enum { LARGE = 8 << 20 };
    int size = 1;
    *latency = *bandwidth = 0;
    if (is_up())
        MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (peer < 1 || peer >= size)
        return;
    char *data = calloc(1, LARGE);
    if (!data)
        return;
    exchange(rank, peer, data, 8, 100);
    *latency = exchange(rank, peer, data, 8, 1000) * 1e6;
    exchange(rank, peer, data, LARGE, 1);
    *bandwidth = LARGE / exchange(rank, peer, data, LARGE, 10) * 1e-9;
    free(data);
}

/* Rank 0 sends, the peer receives what has come; each its part only, the least of some runs. */
void ranks_overhead(int rank, int peer, double *send, double *receive)
{
    enum { MESSAGES = 200, RUNS = 10, BYTES = 64 };
    static char data[MESSAGES][BYTES];
    MPI_Request request[MESSAGES];
    double sending = 1, receiving = 1; /* seconds */
    for (int run = 0; run < RUNS; run++) {
        double start = MPI_Wtime();
        for (int i = 0; rank == 0 && i < MESSAGES; i++)
            MPI_Isend(data[i], BYTES, MPI_BYTE, peer, 8, MPI_COMM_WORLD, &request[i]);
        double took = (MPI_Wtime() - start) / MESSAGES;
        sending = took < sending ? took : sending;
        MPI_Barrier(MPI_COMM_WORLD);
        start = MPI_Wtime();
        for (int i = 0; rank == peer && i < MESSAGES; i++)
            MPI_Recv(data[i], BYTES, MPI_BYTE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        took = (MPI_Wtime() - start) / MESSAGES;
        receiving = took < receiving ? took : receiving;
        if (rank == 0)
            MPI_Waitall(MESSAGES, request, MPI_STATUSES_IGNORE);
    }
    MPI_Bcast(&receiving, 1, MPI_DOUBLE, peer, MPI_COMM_WORLD);
    *send = 1e6 * sending;
    *receive = 1e6 * receiving;
}

int ranks_told(int mine)
{
    if (is_up())
        MPI_Bcast(&mine, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return mine;
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

void ranks_pingpong(int rank, int peer, double *latency, double *bandwidth)
{
    (void)rank;
    (void)peer;
    *latency = *bandwidth = 0;
}

void ranks_overhead(int rank, int peer, double *send, double *receive)
{
    (void)rank;
    (void)peer;
    *send = *receive = 0;
}

int ranks_told(int mine)
{
    return mine;
}
#endif

/* The ranks of a job, as each sees itself. */
#ifndef RANKS_H
#define RANKS_H

#include "machine.h"

typedef struct rank_view {
    char host[64], summary[256];
    uint64_t allowed[MACHINE_WORDS];
    int workers, cores;
} rank_view;

/* Collective over the job, after dag_init(): what all ranks say, on rank 0 (owned by the caller,
 * count in *size); NULL on the others and without memory. */
rank_view *ranks_gather(const rank_view *mine, int *size);
/* Version of the MPI library, or why there is none. */
const char *ranks_library(char *text, size_t size);
/* Microseconds one way for 8 bytes and GB/s for 8 MiB between ranks 0 and `peer`; 0 = not measured, for
 * there is no such rank. Collective, as is the other. */
void ranks_pingpong(int rank, int peer, double *latency, double *bandwidth);
/* Microseconds that a processor spends on sending a small message, and on receiving one that is there, between
 * ranks 0 and `peer`. */
void ranks_overhead(int rank, int peer, double *send, double *receive);
/* What rank 0 says. */
int ranks_told(int mine);

#endif

/* The same with MPI alone: non-blocking calls, completed with MPI_Testsome. See common.h. */
#include "common.h"

#include <mpi.h>
#include <stdint.h>

enum { WINDOW = 64 };

static int rank, size;

static void finish_all(int n, MPI_Request *requests)
{
    int indices[2 * WINDOW], done, left = n;
    while (left > 0) {
        MPI_Testsome(n, requests, &done, indices, MPI_STATUSES_IGNORE);
        if (done != MPI_UNDEFINED)
            left -= done;
    }
}

static void hop(const bench_options *o, unsigned char *data)
{
    MPI_Request request;
    for (int i = rank; i < o->count; i += size) {
        if (i > 0) {
            MPI_Irecv(data, (int)o->bytes, MPI_BYTE, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                      &request);
            finish_all(1, &request);
        }
        data[0] = data[o->bytes - 1] = (unsigned char)i;
        if (i + 1 < o->count) {
            MPI_Isend(data, (int)o->bytes, MPI_BYTE, (rank + 1) % size, 0, MPI_COMM_WORLD,
                      &request);
            finish_all(1, &request);
        }
    }
}

static void bcast(const bench_options *o, unsigned char *data)
{
    char answer = 0;
    char *answers = calloc((size_t)size, 1);
    for (int i = 0; i < o->count; i++) {
        MPI_Bcast(data, (int)o->bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
        MPI_Gather(&answer, 1, MPI_BYTE, answers, 1, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    free(answers);
}

/* The next round begins when the sum of this one is there. */
static void reduce(const bench_options *o, unsigned char *data)
{
    int n = (int)(o->bytes / (int64_t)sizeof(double));
    double *part = (double *)(void *)data, *sum = calloc((size_t)n, sizeof *sum);
    double want = size * (size + 1) / 2;
    char go = 0;
    for (int i = 0; sum && i < o->count; i++) {
        for (int k = 0; k < n; k++)
            part[k] = rank + 1;
        MPI_Reduce(part, sum, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0 && (sum[0] != want || sum[n - 1] != want))
            MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Bcast(&go, 1, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    if (!sum)
        MPI_Abort(MPI_COMM_WORLD, 1);
    free(sum);
}

/* Windows of messages, each buffer its own as the values of tasks are. */
static void rate(const bench_options *o, unsigned char *data)
{
    MPI_Request requests[WINDOW];
    for (int i = 0; rank < 2 && i < o->count; i += WINDOW) {
        int n = o->count - i < WINDOW ? o->count - i : WINDOW;
        for (int k = 0; k < n; k++) {
            unsigned char *at = data + (size_t)k * (size_t)o->bytes;
            if (rank == 0)
                MPI_Isend(at, (int)o->bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[k]);
            else
                MPI_Irecv(at, (int)o->bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[k]);
        }
        finish_all(n, requests);
    }
    char last = 0; /* the receiver has it all */
    if (rank == 1)
        MPI_Send(&last, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    else if (rank == 0)
        MPI_Recv(&last, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void wait_for_rank_0(const bench_options *o)
{
    double start = bench_now(CLOCK_MONOTONIC);
    while (rank == 0 && bench_now(CLOCK_MONOTONIC) - start < 1e-3 * o->count)
        ;
    char done = 0;
    MPI_Bcast(&done, 1, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static double once(const bench_options *o)
{
    unsigned char *data = calloc((size_t)o->bytes, o->mode == BENCH_RATE ? WINDOW : 1);
    if (!data)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(data, 1, (size_t)o->bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = bench_now(CLOCK_MONOTONIC), spent = bench_now(CLOCK_PROCESS_CPUTIME_ID);
    switch (o->mode) {
    case BENCH_HOP: hop(o, data); break;
    case BENCH_BCAST: bcast(o, data); break;
    case BENCH_REDUCE: reduce(o, data); break;
    case BENCH_RATE: rate(o, data); break;
    case BENCH_WAIT: wait_for_rank_0(o); break;
    case BENCH_EMPTY: break;
    }
    if (o->mode != BENCH_WAIT)
        MPI_Barrier(MPI_COMM_WORLD);
    double time = bench_now(CLOCK_MONOTONIC) - start;
    spent = bench_now(CLOCK_PROCESS_CPUTIME_ID) - spent;
    free(data);
    return o->mode == BENCH_WAIT ? spent / time : time / o->count;
}

int main(int argc, char **argv)
{
    bench_options o;
    if (bench_parse(argc, argv, &o) != 0)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (o.mode != BENCH_EMPTY) {
        double value = bench_repeat(&o, once);
        if (rank == (o.mode == BENCH_WAIT ? size - 1 : 0))
            printf("{\"bench\": \"comm\", \"value\": %.9g}\n", value);
    }
    MPI_Finalize();
    return 0;
}

/*
 * The command line and the output of both programs that measure communication: ours and plain MPI.
 */
#ifndef BENCH_COMM_H
#define BENCH_COMM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * hop    a value of `bytes` goes around the ranks, `count` times to the next: seconds per hop
 * bcast  ... from rank 0 to all, who answer, `count` times in turn: seconds per round
 * reduce a value of `bytes`, doubles, of each rank is added into one on rank 0, `count` times in turn: seconds per round
 * rate   `count` values from rank 0 to rank 1: seconds per value
 * wait   rank 0 is busy for `count` ms: processor time of the last rank, as a part of the time it waits
 * empty  initialise and finalise: nothing is printed
 */
enum bench_mode { BENCH_HOP, BENCH_BCAST, BENCH_REDUCE, BENCH_RATE, BENCH_WAIT, BENCH_EMPTY };

typedef struct bench_options {
    enum bench_mode mode;
    int64_t bytes;
    int count, runs;
} bench_options;

static inline double bench_now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int bench_parse(int argc, char **argv, bench_options *o)
{
    static const char *const modes[] = {"hop", "bcast", "reduce", "rate", "wait", "empty"};
    *o = (bench_options){.bytes = 8, .count = 1000, .runs = 3};
    int known = 0;
    for (int m = 0; argc > 1 && m < 6; m++) {
        if (strcmp(argv[1], modes[m]) == 0) {
            o->mode = (enum bench_mode)m;
            known = 1;
        }
    }
    if (argc > 2)
        o->bytes = atoll(argv[2]);
    if (argc > 3)
        o->count = atoi(argv[3]);
    if (argc > 4)
        o->runs = atoi(argv[4]);
    int whole = o->mode != BENCH_REDUCE || o->bytes % (int)sizeof(double) == 0;
    if (known && argc < 6 && o->bytes > 0 && whole && o->count > 0 && o->runs > 0 && o->runs < 1000)
        return 0;
    fprintf(stderr,
            "usage: %s hop|bcast|reduce|rate|wait|empty [bytes [count [runs]]]\n"
            "reduce adds doubles: bytes is a multiple of 8\n",
            argv[0]);
    return 1;
}

static inline int bench_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Run once to warm up, then `runs` times; the median. All ranks, the same number of times. */
static inline double bench_repeat(const bench_options *o, double (*once)(const bench_options *o))
{
    double each[1000];
    once(o);
    for (int r = 0; r < o->runs; r++)
        each[r] = once(o);
    qsort(each, (size_t)o->runs, sizeof *each, bench_ascending);
    return each[o->runs / 2];
}

#endif

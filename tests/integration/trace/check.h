/* What is known of the trace of grid.jdf. */
#ifndef TRACE_CHECK_H
#define TRACE_CHECK_H

typedef struct check_known {
    int ranks, workers; /* workers of rank 0 */
    int pools, n, steps;
    long work_ns; /* least time of a body */
} check_known;

/* 1 when the trace is as it has to be; else says what is wrong. */
int check_trace(const char *path, const check_known *known);

#endif

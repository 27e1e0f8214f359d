/* What dag_doctor measures. */
#ifndef MEASURE_H
#define MEASURE_H

typedef struct measured {
    int threads;           /* of the measurement of all cores */
    double one_gflops;     /* one thread, double precision GEMM of order 512; 0 = not measured */
    double all_gflops;     /* all threads at once, each its own GEMM */
    double copy_gbs;       /* memcpy of 64 MiB, bytes copied per second */
    double blas_helpers;   /* processor time of threads of the BLAS per time of the caller */
} measured;

/* Best of a few runs each, about a second in all. `threads` as many as there are workers. */
void measure(measured *m, int threads);

#endif

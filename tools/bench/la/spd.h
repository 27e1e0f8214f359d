/* What the programs of the other systems share: the clock, the test matrix, and the result. */
#ifndef BENCH_SPD_H
#define BENCH_SPD_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Element (i, j) of a random matrix, uniform in [-0.5, 0.5). */
static inline double noise(int64_t i, int64_t j)
{
    uint64_t a = (uint64_t)i, b = (uint64_t)j;
    uint64_t x = (a * UINT64_C(0x9E3779B97F4A7C15)) ^ (b * UINT64_C(0xC2B2AE3D27D4EB4F));
    x ^= x >> 31;
    x *= UINT64_C(0xBF58476D1CE4E5B9);
    return (double)(x >> 11) * 0x1p-53 - 0.5;
}

/* Element (i, j) of a symmetric positive definite matrix of order n: n on top of noise. */
static inline double spd(int64_t i, int64_t j, int64_t n)
{
    return noise(i > j ? i : j, i > j ? j : i) + (i == j ? (double)n : 0);
}

/* What is measured, and its floating point operations for n x n matrices. */
enum routine { RUN_GEMM, RUN_POTRF, RUN_GETRF, RUN_GEQRF, RUN_COUNT };

static inline enum routine routine(int argc, char **argv, int which)
{
    static const char *const names[RUN_COUNT] = {"gemm", "potrf", "getrf", "geqrf"};
    for (int r = 0; which < argc && r < RUN_COUNT; r++)
        if (strcmp(argv[which], names[r]) == 0)
            return (enum routine)r;
    fprintf(stderr, "%s: argument %d has to be gemm, potrf, getrf or geqrf\n", argv[0], which);
    exit(2);
}

static inline double flops(enum routine r, double n)
{
    static const double factor[RUN_COUNT] = {2, 1.0 / 3, 2.0 / 3, 4.0 / 3};
    return factor[r] * n * n * n;
}

static inline double flops_of_qr(double m, double n)
{
    return 2 * n * n * (m - n / 3); /* m >= n */
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Prints the median rate of the runs after the first, which warms up. */
static inline void report(double work, double *times, int runs)
{
    int first = runs > 1;
    qsort(times + first, (size_t)(runs - first), sizeof(*times), ascending);
    printf("{\"gflops\": %.4f}\n", work / times[first + (runs - first) / 2] * 1e-9);
}

static inline int argument(int argc, char **argv, int which, const char *name)
{
    int value = which < argc ? atoi(argv[which]) : 0;
    if (value < 1) {
        fprintf(stderr, "%s: argument %d has to be %s >= 1\n", argv[0], which, name);
        exit(2);
    }
    return value;
}

#endif

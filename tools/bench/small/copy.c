/*
 * What memory gives:
 *
 *     copy THREADS MIB RUNS
 *
 * Each thread copies its part of an array of so many MiB, and reads it. Prints a JSON object with the median rates of the
 * runs in GB/s; of a copy, bytes read and bytes written count.
 */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *taken, int runs)
{
    qsort(taken, (size_t)runs, sizeof *taken, by_size);
    return taken[runs / 2];
}

static double copy_once(int threads, size_t part, char *to, const char *from)
{
    double start = omp_get_wtime();
#pragma omp parallel num_threads(threads)
    memcpy(to + part * (size_t)omp_get_thread_num(), from + part * (size_t)omp_get_thread_num(), part);
    return omp_get_wtime() - start;
}

static double read_once(int threads, size_t part, const char *from, uint64_t *sum)
{
    uint64_t all = 0;
    double start = omp_get_wtime();
#pragma omp parallel num_threads(threads) reduction(+ : all)
    {
        const uint64_t *at = (const uint64_t *)(from + part * (size_t)omp_get_thread_num());
        for (size_t i = 0; i < part / sizeof *at; i++)
            all += at[i];
    }
    *sum += all;
    return omp_get_wtime() - start;
}

int main(int argc, char **argv)
{
    int threads = argc == 4 ? atoi(argv[1]) : 0, runs = argc == 4 ? atoi(argv[3]) : 0;
    long mib = argc == 4 ? atol(argv[2]) : 0;
    if (threads < 1 || mib < 1 || runs < 1) {
        fprintf(stderr, "usage: copy THREADS MIB RUNS\n");
        return 2;
    }
    size_t part = ((size_t)mib << 20) / (size_t)threads / 64 * 64, all = part * (size_t)threads;
    char *from = aligned_alloc(64, all), *to = aligned_alloc(64, all);
    double *copies = malloc((size_t)runs * sizeof *copies), *reads = malloc((size_t)runs * sizeof *reads);
    if (from == NULL || to == NULL || copies == NULL || reads == NULL) {
        fprintf(stderr, "copy: no memory\n");
        return 1;
    }
    uint64_t sum = 0;
    memset(from, 1, all);
    memset(to, 2, all);
    for (int i = 0; i < runs; i++) {
        copies[i] = copy_once(threads, part, to, from);
        reads[i] = read_once(threads, part, from, &sum);
    }
    printf("{\"copy\": %.4g, \"read\": %.4g, \"sum\": %llu}\n", 2e-9 * (double)all / median(copies, runs),
           1e-9 * (double)all / median(reads, runs), (unsigned long long)(sum + (uint64_t)to[all - 1]));
    free(from);
    free(to);
    free(copies);
    free(reads);
    return 0;
}

#include "measure.h"

#include <dag/config.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if DAG_HAVE_BLAS
#include <cblas.h>
#endif

enum { ORDER = 512, RUNS = 5, REPEAT = 4, MOST_THREADS = 1024 };

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#if DAG_HAVE_BLAS
/* One thread's part: matrices of its own, touched by itself. */
typedef struct part {
    pthread_barrier_t *barrier;
    double rate;    /* GFlop/s, best run */
    double helpers; /* of the first thread: see measured */
    int alone;
} part;

static void *multiply(void *arg)
{
    part *p = arg;
    size_t items = (size_t)ORDER * ORDER;
    double *a = malloc(3 * items * sizeof *a);
    for (size_t i = 0; a && i < 3 * items; i++)
        a[i] = 1.0 / (double)(1 + i % 97);
    for (int run = 0; run <= RUNS; run++) { /* the first one warms up */
        pthread_barrier_wait(p->barrier);
        double start = seconds(CLOCK_MONOTONIC), mine = seconds(CLOCK_THREAD_CPUTIME_ID);
        double all = seconds(CLOCK_PROCESS_CPUTIME_ID);
        for (int i = 0; a && i < REPEAT; i++)
            cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, ORDER, ORDER, ORDER, 1.0, a,
                        ORDER, a + items, ORDER, 0.0, a + 2 * items, ORDER);
        all = seconds(CLOCK_PROCESS_CPUTIME_ID) - all;
        mine = seconds(CLOCK_THREAD_CPUTIME_ID) - mine;
        double rate = 2.0 * ORDER * ORDER * (double)ORDER * REPEAT /
                      (seconds(CLOCK_MONOTONIC) - start) * 1e-9;
        if (run > 0 && rate > p->rate)
            p->rate = rate;
        if (run > 0 && p->alone && mine > 0)
            p->helpers += (all - mine) / mine / RUNS;
    }
    free(a);
    return NULL;
}

/* Sum of the rates of so many threads at once. */
static double gemm(int threads, double *helpers)
{
    pthread_t *thread = calloc((size_t)threads, sizeof *thread);
    part *parts = calloc((size_t)threads, sizeof *parts);
    pthread_barrier_t barrier;
    double sum = 0;
    int started = 0;
    if (!thread || !parts || pthread_barrier_init(&barrier, NULL, (unsigned)threads) != 0) {
        free(thread);
        free(parts);
        return 0;
    }
    for (; started < threads; started++) {
        parts[started].barrier = &barrier;
        parts[started].alone = threads == 1;
        if (pthread_create(&thread[started], NULL, multiply, &parts[started]) != 0)
            abort(); /* those started wait for the others */
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        sum += parts[i].rate;
    }
    if (helpers)
        *helpers = parts[0].helpers;
    pthread_barrier_destroy(&barrier);
    free(thread);
    free(parts);
    return sum;
}
#endif

static double copy_rate(void)
{
    enum { BYTES = 64 << 20 };
    char *from = malloc(BYTES), *to = malloc(BYTES);
    double best = 0;
    if (from && to) {
        memset(from, 1, BYTES);
        memset(to, 2, BYTES);
        for (int run = 0; run < RUNS; run++) {
            double start = seconds(CLOCK_MONOTONIC);
            memcpy(to, from, BYTES);
            double rate = BYTES / (seconds(CLOCK_MONOTONIC) - start) * 1e-9;
            if (to[run] == 1 && rate > best)
                best = rate;
        }
    }
    free(from);
    free(to);
    return best;
}

void measure(measured *m, int threads)
{
    memset(m, 0, sizeof *m);
    m->threads = threads < MOST_THREADS ? threads : MOST_THREADS;
#if DAG_HAVE_BLAS
    m->one_gflops = gemm(1, &m->blas_helpers);
    m->all_gflops = m->threads > 1 ? gemm(m->threads, NULL) : m->one_gflops;
#endif
    m->copy_gbs = copy_rate();
}

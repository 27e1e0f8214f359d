/*
 * What it gives to know the next task: products of tiles that lie in the cache (hot), of others at each call (cold), and
 * of others whose next ones are told (known), on one core.
 *
 *     bench_ahead [-r rounds] [-s seconds] [nb ...]
 *
 * A line for each shape and tile size: GFlop/s of the three, medians of rounds in turns, and the last as a part of the
 * first. Cold and known are chains on one C, as tasks are, of tiles that follow each other in 64 MiB on huge pages.
 */
#include <dag/kernels.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { HOT, COLD, KNOWN, WAYS };
enum { SHAPES = 3, MOST_ROUNDS = 99, MOST_ORDER = 512 };
static const size_t pool_bytes = (size_t)64 << 20, page = (size_t)2 << 20;

static const struct {
    const char *name;
    dag_trans a, b;
} shapes[SHAPES] = {
    {"C - A B'", DAG_NO_TRANS, DAG_TRANS}, {"C - A B", DAG_NO_TRANS, DAG_NO_TRANS}, {"C - A' B", DAG_TRANS, DAG_NO_TRANS}};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double *memory(size_t bytes)
{
    double *p = aligned_alloc(page, (bytes + page - 1) / page * page);
    if (p == NULL) {
        fprintf(stderr, "bench_ahead: no memory for %zu bytes\n", bytes);
        exit(1);
    }
    (void)madvise(p, bytes, MADV_HUGEPAGE);
    for (size_t i = 0; i < bytes / sizeof *p; i++)
        p[i] = (double)(i * 2654435761U % 1000) * 1e-3 - 0.5;
    return p;
}

/* GFlop/s of calls that take about so long. */
static double rate(int shape, int way, int nb, double seconds, const double *pool, double *C)
{
    size_t tile = (size_t)nb * (size_t)nb, pairs = pool_bytes / sizeof(*pool) / tile / 2;
    double flops = 2.0 * (double)nb * (double)nb * (double)nb, from = 0;
    int calls = (int)(seconds * 60e9 / flops) + 2;
    for (int k = -1; k < calls; k++) { /* the first one is not timed */
        if (k == 0)
            from = now();
        size_t at = way == HOT ? 0 : (size_t)(k + 1) % pairs, next = (size_t)(k + 2) % pairs;
        const double *A = pool + 2 * at * tile, *B = A + tile, *soon = pool + 2 * next * tile;
        dag_ahead_block block[] = {{soon + tile, tile * sizeof *soon}, {soon, tile * sizeof *soon}};
        if (way == KNOWN)
            dag_kernels_next(block, 2);
        dag_tile_dgemm(shapes[shape].a, shapes[shape].b, nb, nb, nb, -1e-6, A, nb, B, nb, 1, C, nb);
    }
    return flops * calls / (now() - from) * 1e-9;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(int shape, int nb, int rounds, double seconds, const double *pool, double *C)
{
    double rates[WAYS][MOST_ROUNDS], part[MOST_ROUNDS];
    for (int r = 0; r < rounds; r++) {
        for (int way = 0; way < WAYS; way++)
            rates[way][r] = rate(shape, way, nb, seconds, pool, C);
        part[r] = rates[KNOWN][r] / rates[HOT][r];
    }
    for (int way = 0; way < WAYS; way++)
        qsort(rates[way], (size_t)rounds, sizeof(double), by_size);
    qsort(part, (size_t)rounds, sizeof(double), by_size);
    printf("%-9s %5d %7.1f %7.1f %7.1f %6.2f [%.2f, %.2f]\n", shapes[shape].name, nb, rates[HOT][rounds / 2],
           rates[COLD][rounds / 2], rates[KNOWN][rounds / 2], part[rounds / 2], part[0], part[rounds - 1]);
}

int main(int argc, char **argv)
{
    static const char *const default_nbs[] = {"144", "168", "192", "240", "264"};
    const char *how;
    int rounds = 9, given = 0;
    double seconds = 0.045;
    for (int opt; (opt = getopt(argc, argv, "r:s:")) != -1;) {
        if (opt == 'r')
            rounds = atoi(optarg);
        else if (opt == 's')
            seconds = atof(optarg);
        given += opt == '?';
    }
    if (given > 0 || rounds < 1 || rounds > MOST_ROUNDS || !(seconds > 0)) {
        fprintf(stderr, "usage: %s [-r rounds, up to %d] [-s seconds] [nb ...]\n", argv[0], MOST_ROUNDS);
        return 2;
    }
    if (!dag_kernels_init(&how))
        printf("# the BLAS library uses threads: %s\n", how);
    double *pool = memory(pool_bytes), *C = memory(sizeof(double) * MOST_ORDER * MOST_ORDER);
    int count = optind < argc ? argc - optind : (int)(sizeof default_nbs / sizeof *default_nbs);
    printf("# %-7s %5s %7s %7s %7s %6s\n", "product", "nb", "hot", "cold", "known", "of hot");
    for (int shape = 0; shape < SHAPES; shape++)
        for (int q = 0; q < count; q++) {
            const char *text = optind < argc ? argv[optind + q] : default_nbs[q];
            int nb = atoi(text);
            if (nb < 1 || nb > MOST_ORDER) {
                fprintf(stderr, "%s: tile size '%s' is not from 1 to %d\n", argv[0], text, MOST_ORDER);
                return 2;
            }
            report(shape, nb, rounds, seconds, pool, C);
        }
    free(pool);
    free(C);
    return 0;
}

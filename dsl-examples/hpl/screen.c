/* What each rank can do, before anything depends on the slowest one: --screen. */
#include "hpl.h"

#include <dag/vector.h>

#include "hpl_link.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DGEMM, MEMORY, LINK, LATENCY, FIGURES };
enum { HOPS = 21, LARGE = 1 << 20, COPIED = 32 << 20 };
/* A rank is slow that has less than this part of what half of them have. */
#define SLOW 0.85

/* Bytes that a copy reads and writes a second, the best of some. */
static double copy_rate(dag_context *ctx)
{
    char *a = malloc(COPIED), *b = malloc(COPIED);
    double best = 0;
    for (int i = 0; i < 5 && a != NULL && b != NULL; i++) {
        memset(a, i, COPIED);
        double start = dag_seconds(ctx);
        memcpy(b, a, COPIED);
        double seconds = dag_seconds(ctx) - start;
        if (b[i] == i && seconds > 0)
            best = fmax(best, 2.0 * COPIED / seconds);
    }
    free(a);
    free(b);
    return best;
}

/* Seconds of a message of that size from one rank to another, by a clock that all of them wait for. */
static dag_status message(dag_context *ctx, dag_vector *ranks, int from, int to, int64_t bytes, double *seconds)
{
    dag_shape shape = {bytes, 1, 1};
    double start = driver_time(ctx);
    dag_status status = dag_run(ctx, hpl_link_new(ctx, ranks, &shape, from, to, HOPS));
    *seconds = (driver_time(ctx) - start) / (HOPS - 1);
    return driver_collective(ctx, status);
}

/* To the next rank, one pair after the other. */
static dag_status links(dag_context *ctx, double mine[FIGURES])
{
    dag_vector *ranks = NULL;
    int size = dag_size(ctx);
    dag_status status = driver_agreed(ctx, dag_vector_new(ctx, size, sizeof(double), &ranks));
    for (int r = 0; size > 1 && r < size && status == DAG_SUCCESS; r++) {
        double small, large;
        status = message(ctx, ranks, r, (r + 1) % size, 1, &small);
        if (status == DAG_SUCCESS)
            status = message(ctx, ranks, r, (r + 1) % size, LARGE, &large);
        if (status == DAG_SUCCESS && r == dag_rank(ctx)) {
            mine[LATENCY] = small;
            mine[LINK] = LARGE / large;
        }
    }
    dag_vector_free(ranks);
    return status;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What half of the ranks have at least. */
static double middle(const double *rows, int size, int figure, double *sorted)
{
    for (int r = 0; r < size; r++)
        sorted[r] = rows[(size_t)r * (HPL_HOST + FIGURES) + HPL_HOST + (size_t)figure];
    qsort(sorted, (size_t)size, sizeof(*sorted), by_size);
    return sorted[(size - 1) / 2];
}

static void print_screen(int size, const double *rows, double *sorted)
{
    static const char *const words[] = {" dgemm", " memory", " link"};
    double half[FIGURES];
    for (int i = 0; i < FIGURES; i++)
        half[i] = middle(rows, size, i, sorted);
    for (int r = 0; r < size; r++) {
        const double *row = rows + (size_t)r * (HPL_HOST + FIGURES), *f = row + HPL_HOST;
        char host[HPL_HOST + 1];
        fprintf(stderr, "dag_hpl: rank %d on %s: dgemm %.4g Gflop/s of a worker, memory %.4g GB/s", r,
                hpl_host(row, host), 1e-9 * f[DGEMM], 1e-9 * f[MEMORY]);
        if (size > 1)
            fprintf(stderr, ", link to rank %d %.4g GB/s, %.4g us", (r + 1) % size, 1e-9 * f[LINK],
                    1e6 * f[LATENCY]);
        for (int i = DGEMM, first = 1; i <= LINK; i++)
            if (f[i] < SLOW * half[i]) {
                fprintf(stderr, "%s%s", first ? "; SLOW:" : "", words[i]);
                first = 0;
            }
        fputc('\n', stderr);
    }
}

dag_status hpl_screen(dag_context *ctx)
{
    const options doubles = {.prec = DAG_D};
    double mine[FIGURES] = {0}, *rows = NULL, *sorted = malloc((size_t)dag_size(ctx) * sizeof(*sorted));
    dag_status status = driver_agreed(ctx, sorted != NULL ? DAG_SUCCESS : DAG_ERR_NOMEM);
    if (status == DAG_SUCCESS) {
        mine[DGEMM] = driver_peak(&doubles, 192);
        mine[MEMORY] = copy_rate(ctx);
        status = links(ctx, mine);
    }
    if (status == DAG_SUCCESS)
        status = hpl_gather(ctx, mine, FIGURES, &rows);
    if (status == DAG_SUCCESS && dag_rank(ctx) == 0)
        print_screen(dag_size(ctx), rows, sorted);
    free(rows);
    free(sorted);
    return status;
}

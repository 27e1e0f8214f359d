/*
 * What it takes one rank of a grid to go through a Cholesky factorisation that is inserted, whose tasks do nothing:
 * its own are run, those of other ranks are noted, and what they make counts as arrived.
 */
#include "../../../runtime/clients/insert/insert.h"

#include <dag/config.h>
#include <dag/insert.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char usage[] =
    "usage: insert_generation [--tiles T] [--grid G] [--rank R] [--runs N] [--json]\n"
    "  --tiles T  rows of tiles of the matrix (default: 288)\n"
    "  --grid G   of G x G ranks (default: 8)\n"
    "  --rank R   which one is played (default: 0); G*G: one that has no tiles\n"
    "  --runs N   the best and the median of so many (default: 5)\n";

/* ---- tiles of one number, dealt to ranks that are not there ----------------------------------------- */

typedef struct dealt {
    dag_collection super;
    int64_t nt, grid, played; /* its rank, which is called 0 */
    double *items;
} dealt;

static const dealt *dealt_of(const dag_collection *c)
{
    return (const dealt *)(const void *)c;
}

static int rank_of(const dag_collection *c, const int64_t *index)
{
    const dealt *d = dealt_of(c);
    int64_t rank = index[0] % d->grid + index[1] % d->grid * d->grid, ranks = d->grid * d->grid + 1;
    return (int)((rank - d->played + ranks) % ranks);
}

static int contains(const dag_collection *c, const int64_t *index)
{
    const dealt *d = dealt_of(c);
    return index[0] >= 0 && index[0] < d->nt && index[1] >= 0 && index[1] < d->nt;
}

static void shape_of(const dag_collection *c, const int64_t *index, dag_shape *shape)
{
    (void)c, (void)index;
    *shape = (dag_shape){1, 1, sizeof(double)};
}

static dag_status element(dag_collection *c, const int64_t *index, dag_element *e)
{
    const dealt *d = dealt_of(c);
    *e = (dag_element){&d->items[index[0] + index[1] * d->nt], 1, {1, 1, sizeof(double)}};
    return DAG_SUCCESS;
}

/* ---- the program ---------------------------------------------------------------------------------- */

typedef struct step {
    int k;
} step;

static int64_t ran;

static int nothing(struct dag_task *task, const step *args, const dag_tile_view *t)
{
    (void)task, (void)args, (void)t;
    ran++;
    return 0;
}

DAG_KERNEL(POTRF, step, nothing, NULL, 0, DAG_TILE_RW)
DAG_KERNEL(TRSM, step, nothing, NULL, 1, DAG_TILE_READ, DAG_TILE_RW)
DAG_KERNEL(SYRK, step, nothing, NULL, 1, DAG_TILE_READ, DAG_TILE_RW)
DAG_KERNEL(GEMM, step, nothing, NULL, 2, DAG_TILE_READ, DAG_TILE_READ, DAG_TILE_RW)
static const dag_insert_kernel *const kernels[] = {&POTRF, &TRSM, &SYRK, &GEMM};

static dag_status cholesky(dag_taskpool *pool, dag_collection *A, int64_t nt)
{
    dag_status s = DAG_SUCCESS;
    for (int k = 0; k < nt && !s; k++) {
        s = DAG_INSERT(pool, POTRF, {k}, {A, k, k});
        for (int64_t i = k + 1; i < nt && !s; i++)
            s = DAG_INSERT(pool, TRSM, {k}, {A, k, k}, {A, i, k});
        for (int64_t j = k + 1; j < nt && !s; j++) {
            s = DAG_INSERT(pool, SYRK, {k}, {A, j, k}, {A, j, j});
            for (int64_t i = j + 1; i < nt && !s; i++)
                s = DAG_INSERT(pool, GEMM, {k}, {A, i, k}, {A, j, k}, {A, i, j});
        }
        for (int64_t i = k; i < nt && !s; i++)
            s = dag_insert_release(pool, &(dag_tile){A, i, k});
    }
    return s;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds from the first task to the last one's end; negative: it fails. */
static double once(dag_context *ctx, dealt *d)
{
    dag_collection *c = &d->super;
    const dag_insert_desc desc = {.name = "generation", .collections = &c, .ncollections = 1,
                                  .kernels = kernels, .nkernels = 4};
    dag_taskpool *pool;
    if (dag_insert_begin(ctx, &desc, &pool) != DAG_SUCCESS)
        return -1;
    insertion_play(pool);
    ran = 0;
    double start = seconds();
    dag_status s = cholesky(pool, c, d->nt), ended = dag_insert_end(pool), waited = dag_wait(pool);
    double time = seconds() - start;
    dag_taskpool_free(pool);
    return s || ended || waited ? -1 : time;
}

static int64_t due(const dealt *d)
{
    int64_t tasks = 0;
    for (int64_t j = 0; j < d->nt; j++) {
        for (int64_t i = j; i < d->nt; i++)
            tasks += rank_of(&d->super, (int64_t[]){i, j}) == 0 ? j + 1 : 0;
    }
    return tasks;
}

static int measure(dag_context *ctx, dealt *d, int runs, int json)
{
    double *times = malloc((size_t)runs * sizeof *times);
    double tasks = (double)d->nt * (double)(d->nt + 1) * (double)(d->nt + 2) / 6;
    for (int r = 0; times && r < runs; r++) {
        times[r] = once(ctx, d);
        if (times[r] < 0 || ran != due(d)) {
            fprintf(stderr, "insert_generation: %ld of %ld tasks: %s\n", (long)ran, (long)due(d),
                    dag_message(ctx));
            free(times);
            return 1;
        }
    }
    if (!times)
        return 1;
    qsort(times, (size_t)runs, sizeof *times, ascending);
    printf(json ? "{\"bench\": \"generation\", \"tiles\": %ld, \"grid\": %ld, \"rank\": %ld, \"tasks\": %.0f, "
                  "\"own\": %ld, \"best_s\": %.4f, \"median_s\": %.4f}\n"
                : "%ld tiles, grid %ld, rank %ld: %.0f tasks, own %ld, best %.4f s, median %.4f s\n",
           (long)d->nt, (long)d->grid, (long)d->played, tasks, (long)ran, times[0], times[runs / 2]);
    free(times);
    return 0;
}

int main(int argc, char **argv)
{
    int value[] = {288, 8, 0, 5}, json = 0;
    static const char *const names[] = {"--tiles", "--grid", "--rank", "--runs"};
    for (int a = 1; a < argc; a++) {
        int n = 0;
        while (n < 4 && strcmp(argv[a], names[n]) != 0)
            n++;
        char *end = "";
        if (n < 4 && a + 1 < argc)
            value[n] = (int)strtol(argv[++a], &end, 10);
        else if (strcmp(argv[a], "--json") == 0)
            json = 1;
        else
            end = "?";
        if (*end || value[0] < 1 || value[0] > 2000 || value[1] < 1 || value[1] > 1000 || value[2] < 0 ||
            value[2] > value[1] * value[1] || value[3] < 1 || value[3] > 1000) {
            fprintf(stderr, "%s", usage);
            return strcmp(argv[a], "--help") == 0 ? 0 : 2;
        }
    }
    static const dag_collection_ops ops = {rank_of, contains, shape_of, element};
    char why[256] = "";
    dag_context *ctx;
    dag_config *config = dag_config_new();
    if (dag_config_set(config, "threads", "1", why, sizeof why) != DAG_SUCCESS ||
        dag_init(&ctx, config, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "insert_generation: %s\n", why);
        return 1;
    }
    dag_config_free(config);
    dealt d = {.nt = value[0], .grid = value[1], .played = value[2]};
    d.items = calloc((size_t)(d.nt * d.nt), sizeof *d.items);
    dag_collection_init(&d.super, ctx, &ops, 2, "A");
    int failed = d.items && dag_size(ctx) == 1 ? measure(ctx, &d, value[3], json) : 1;
    dag_fini(ctx);
    free(d.items);
    return failed;
}

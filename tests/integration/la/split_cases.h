/* What the tests of tiles of two sizes share: sizes of tiles and grids, a context whose settings cut tiles, and the run
 * over all cases. */
#ifndef TESTS_SPLIT_CASES_H
#define TESTS_SPLIT_CASES_H

#include "lasting_mpi.h"
#include "pairs.h"

#include <dag/dag.h>
#include <dag/device.h>
#include <dag/kernels.h>
#include <dag/matrix.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Factors of a case: its shape or order, narrow tiles (0 to MOST), their width, tile, grid, type, and two of the test's
 * own. */
enum { SHAPE, NARROW, WIDTH, TILE, GRID, PREC, NWIDTHS = 4, NGRIDS = 6, MOST = 4, SMALL = 100 };
static const int64_t widths[NWIDTHS] = {1, 32, 100, 192};

static inline int64_t narrow_tiles(const test_case *c)
{
    return c->at[NARROW] * widths[c->at[WIDTH]];
}

typedef struct limits {
    int ranks;
    int64_t largest;
} limits;

/* Whether a matrix of that order is one for these limits; tiles of few elements only up to order `tiny`. */
static inline bool split_fits(const test_case *c, const limits *l, const int grid[2], int64_t tile, int64_t order,
                              int64_t tiny)
{
    int64_t narrow = narrow_tiles(c);
    bool few = tile < 16 || (c->at[NARROW] > 0 && widths[c->at[WIDTH]] == 1);
    return grid[0] * grid[1] == l->ranks && order <= l->largest && tile >= (narrow > 1 ? narrow : 1) &&
           (!few || order <= tiny);
}

/* Words of the command line. */
typedef struct how {
    const char *placement;
    bool tight, inserted;
} how;

typedef struct split_test {
    const char *name;
    const factors *all;
    bool (*is_valid)(const test_case *c, const void *limits);
    int (*run)(const test_case *c, const how *h); /* 1 when the case failed */
    int (*others)(void);                          /* what needs no case; so many failed */
} split_test;

/* `memory`: bytes of each device, 0 = all that it has. */
static inline dag_context *split_start(const char *program, int narrow, int64_t width, const char *placement,
                                int64_t memory)
{
    char split[64], bytes[32], why[256] = "";
    dag_context *ctx = NULL;
    dag_config *config = dag_config_new();
    snprintf(split, sizeof split, "%d,%" PRId64, narrow, width);
    snprintf(bytes, sizeof bytes, "cuda=%" PRId64, memory);
    if (dag_config_set(config, "split", split, why, sizeof why) != DAG_SUCCESS ||
        dag_config_set(config, "split_placement", placement, why, sizeof why) != DAG_SUCCESS ||
        dag_config_set(config, "device_memory", bytes, why, sizeof why) != DAG_SUCCESS ||
        dag_init(&ctx, config, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "%s: %s\n", program, why);
        exit(1);
    }
    dag_config_free(config);
    return ctx;
}

static inline int64_t split_ran(const dag_context *ctx, int device)
{
    dag_device_stats s;
    return dag_device_stats_get(ctx, device, &s) ? s.tasks : 0;
}

static inline int split_main(int argc, char **argv, const split_test *t)
{
    const char *what = argc > 1 ? argv[1] : "pairs";
    const how h = {argc > 2 ? argv[2] : "cost", argc > 3 && strcmp(argv[3], "tight") == 0,
                   argc > 3 && strcmp(argv[argc - 1], "inserted") == 0};
    dag_context *ctx;
    char why[256];
    test_case *cases = malloc(sizeof *cases * (size_t)pairs_product(t->all));
    start_mpi();
    dag_kernels_init(NULL);
    if (cases == NULL || dag_init(&ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "%s: %s\n", t->name, why);
        return 1;
    }
    const int rank = dag_rank(ctx);
    const limits l = {dag_size(ctx), strcmp(what, "few") == 0 ? SMALL : INT64_MAX};
    int failed = dag_fini(ctx) != DAG_SUCCESS;
    int count = pairs_enumerate(t->all, cases, t->is_valid, &l);
    if (strcmp(what, "full") != 0)
        count = pairs_choose(t->all, cases, count);
    failed += count == 0; /* no grid has so many places: nothing would be tested */
    for (int k = 0; k < count; k++)
        failed += t->run(&cases[k], &h);
    failed += t->others();
    if (rank == 0)
        printf("%s: %d cases (%s) on %d ranks, %d failed\n", t->name, count, what, l.ranks, failed);
    free(cases);
    end_mpi();
    return failed != 0;
}

#endif

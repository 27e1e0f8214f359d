/* What to run on these ranks: --plan. An input file on standard output, the reasons on standard error. */
#include "hpl.h"

#include "../drivers/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that each rank may take: the least share of a node's memory, the same on all ranks. */
static dag_status memory_of_rank(dag_context *ctx, double *bytes)
{
    double *rows, none = 0;
    int here = 0;
    size_t width = HPL_HOST + 1;
    dag_status status = hpl_gather(ctx, &none, 1, &rows);
    for (int r = 0; status == DAG_SUCCESS && r < dag_size(ctx); r++)
        here += memcmp(rows + (size_t)r * width, rows + (size_t)dag_rank(ctx) * width,
                       HPL_HOST * sizeof(*rows)) == 0;
    free(rows);
    *bytes = memory_of_node("") / (here > 0 ? here : 1);
    return status == DAG_SUCCESS ? driver_collective(ctx, dag_least(ctx, bytes, 1)) : status;
}

/* The grid and the depth that are best where it is known what messages take, and why. */
static int64_t by_network(int64_t n, int64_t nb, dag_grid_choice *g, double *seconds)
{
    const hpl_costs *costs = hpl_costs_known();
    hpl_choice choice = hpl_choose(costs, n, nb, 0, 0);
    *g = (dag_grid_choice){.p = choice.p, .q = choice.q};
    snprintf(g->why, sizeof(g->why), "the least by the model of panels, with messages of %.3g us and %.3g GB/s",
             1e6 * costs->latency, 1e-9 * costs->rate);
    *seconds = choice.seconds;
    return choice.depth;
}

static void print_plan(const dag_context *ctx, double fraction, double bytes, int64_t n,
                       const dag_tile_choice *tile, dag_grid_choice *g)
{
    bool network = hpl_costs_known() != NULL;
    double kernels = 2 * tile->seconds, seconds = kernels; /* LU has twice the operations of Cholesky */
    int64_t depth = network ? by_network(n, tile->nb, g, &seconds) : 1;
    fprintf(stderr, "dag_hpl: N %" PRId64 ": %g of the %.4g GB of each of %d ranks\n", n, fraction, 1e-9 * bytes,
            dag_size(ctx));
    fprintf(stderr, "dag_hpl: NB %" PRId64 ": by the model of tile kernels, as measured on rank 0\n", tile->nb);
    fprintf(stderr, "dag_hpl: grid %dx%d: %s\n", g->p, g->q, g->why[0] != '\0' ? g->why : "there is one rank");
    fprintf(stderr, "dag_hpl: DEPTH %" PRId64 ", BCAST 1: %s; broadcasts take the shape that is best for the network\n",
            depth, network ? "the least by the same model" : "dag_hpl --n chooses the depth by itself");
    if (seconds > 0)
        fprintf(stderr, "dag_hpl: predicted: about %.4g s, %.4g Gflop/s; kernels %.4g s, messages %s\n", seconds,
                1e-9 * hpl_operations((double)n) / seconds, kernels,
                network || dag_size(ctx) == 1 ? "counted" : "not counted: no settings link_latency and link_rate, no "
                "file of the setting network");
    printf("HPLinpack input file\nmade by dag_hpl --plan\nHPL.out\n6\n1\n%" PRId64 "\n1\n%" PRId64 "\n0\n1\n%d\n%d\n"
           "16.0\n1\n2\n1\n4\n1\n2\n1\n1\n1\n1\n1\n%" PRId64 "\n2\n64\n0\n0\n1\n8\n", n, tile->nb, g->p, g->q, depth);
}

dag_status hpl_plan(dag_context *ctx, double fraction)
{
    const double words = dag_size(ctx) > 1 ? 1.45 : 1.1; /* of a run, per element: drivers/memory.c */
    double bytes;
    dag_tile_choice tile = {.nb = 1};
    dag_grid_choice grid = {.p = 1, .q = 1};
    dag_status status = memory_of_rank(ctx, &bytes);
    int64_t n = status == DAG_SUCCESS ? (int64_t)sqrt(fraction * bytes * dag_size(ctx) / (8 * words)) : 0;
    if (status == DAG_SUCCESS)
        status = driver_collective(ctx, dag_la_slab(ctx, DAG_D, n, n, &tile));
    if (n > tile.nb)
        n -= n % tile.nb; /* no narrow block at the end */
    if (status == DAG_SUCCESS && dag_size(ctx) > 1)
        status = driver_collective(ctx, dag_la_grid(ctx, "getrf", n, n, tile.nb, &grid));
    if (status == DAG_SUCCESS && dag_size(ctx) > 1 && n > 0)
        status = hpl_costs_ask(ctx, n, tile.nb);
    if (status == DAG_SUCCESS && dag_rank(ctx) == 0)
        print_plan(ctx, fraction, bytes, n, &tile, &grid);
    return status;
}

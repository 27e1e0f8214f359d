/* What ranks can do, for the model of model.c: of messages what is known, of kernels what was measured or described. */
#include "hpl.h"

#include <dag/kernels.h>
#include <dag/node.h>

#include <math.h>

/* One for the job: ranks are alike. For the application thread alone. */
static hpl_costs known;

const hpl_costs *hpl_costs_known(void)
{
    return known.rate > 0 ? &known : NULL;
}

/* Operations of a worker in a second, of tiles of that size; 0 where ranks are not played by a description. */
static double described(dag_context *ctx, int64_t nb)
{
    dag_simulation played;
    dag_node *node = dag_simulation_get(ctx, &played) ? dag_node_new(ctx) : NULL;
    const dag_kernel_call call = {DAG_OP_GEMM, DAG_D, dag_kernel_op_name(DAG_OP_GEMM), 2 * pow((double)nb, 3),
                                  8 * (double)(nb * nb)};
    double seconds = node != NULL ? dag_node_kernel(node, 0, &call, NULL) : 0;
    dag_node_free(node);
    return seconds > 0 ? call.flops / seconds : 0;
}

/* The same by the model of tile kernels. Collective. */
static dag_status measured(dag_context *ctx, int64_t n, double *flops)
{
    dag_tile_choice tile;
    dag_status status = driver_collective(ctx, dag_la_tile(ctx, DAG_D, n, &tile));
    double order = (double)n, workers = dag_size(ctx) * dag_workers(ctx);
    if (status == DAG_SUCCESS && tile.seconds > 0)
        *flops = order * order * order / 3 / tile.seconds / workers;
    return status;
}

dag_status hpl_costs_ask(dag_context *ctx, int64_t n, int64_t nb)
{
    enum { LATENCY, RATE, WORKERS, FLOPS, COUNT };
    double own[COUNT] = {0};
    dag_network net;
    if (dag_rank(ctx) == 0 && dag_network_get(ctx, &net)) {
        own[LATENCY] = net.apart ? net.latency : net.near_latency;
        own[RATE] = net.apart ? net.rate : net.near_rate;
        own[WORKERS] = dag_workers(ctx);
        own[FLOPS] = described(ctx, nb);
    }
    dag_status status = driver_collective(ctx, dag_allreduce(ctx, DAG_SUM, own, COUNT));
    if (status != DAG_SUCCESS || own[RATE] <= 0)
        return status;
    if (own[FLOPS] <= 0)
        status = measured(ctx, n, &own[FLOPS]);
    if (status == DAG_SUCCESS && own[FLOPS] > 0)
        known = (hpl_costs){dag_size(ctx), (int)own[WORKERS], own[FLOPS] * own[WORKERS], own[LATENCY], own[RATE]};
    return status;
}

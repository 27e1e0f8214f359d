/* What has been played: numbers for programs, and a report. */
#include "sim_impl.h"

#include <inttypes.h>

double dagi_sim_seconds(const dag_context *ctx)
{
    return dagi_sim_in_seconds(dagi_sim_of(ctx)->rank[0].app);
}

double dagi_sim_message_seconds(const dag_context *ctx)
{
    const struct dagi_sim *s = dagi_sim_of(ctx);
    double set = ctx->settings.link_latency;
    return set > 0 ? set : s->nranks > s->machine.ranks ? dagi_sim_in_seconds(s->machine.between.latency) : 0;
}

void dagi_sim_way(const dag_context *ctx, size_t bytes, int ranks, dag_bcast_way *way)
{
    const struct dagi_sim *s = dagi_sim_of(ctx);
    dagi_shape_tell(ctx, &s->trees.nodes, &s->trees.link, s->trees.nodes.ranks, bytes, ranks, way);
}

int dagi_sim_network(const dag_context *ctx, dag_network *network)
{
    const struct dagi_sim *s = dagi_sim_of(ctx);
    const dagi_sim_wire *far = &s->machine.between, *near = &s->machine.within;
    int apart = s->nranks > s->machine.ranks;
    if (!dagi_link_tell(&s->trees.link, apart, network))
        *network = (dag_network){dagi_sim_in_seconds(far->latency), far->bandwidth,
                                 dagi_sim_in_seconds(near->latency), near->bandwidth, apart};
    return 1;
}

double dagi_sim_gemm_seconds(const dag_context *ctx, dag_precision prec, int64_t m, int64_t n, int64_t k)
{
    double real = dag_precision_is_complex(prec) ? 8 : 2;
    const dag_kernel_call call = {.op = DAG_OP_GEMM, .precision = prec, .name = "gemm",
                                  .flops = real * (double)m * (double)n * (double)k,
                                  .bytes = (double)m * (double)n * (double)dag_precision_size(prec)};
    double seconds = dagi_sim_in_seconds(dagi_sim_kernel_time(&dagi_sim_of(ctx)->machine, &call));
    return seconds > 0 ? seconds : 1e-12; /* 0 would say that it is not known */
}

void dagi_sim_tell(const dag_context *ctx, dag_simulation *out)
{
    const struct dagi_sim *s = dagi_sim_of(ctx);
    *out = (dag_simulation){.machine = s->machine.name,
                            .workers = s->workers,
                            .tasks = s->sums.tasks,
                            .messages = s->sums.sent,
                            .bytes = s->sums.bytes,
                            .leaving = s->sums.leaving,
                            .renames = s->sums.renames,
                            .matrices = s->sums.largest,
                            .node_memory = s->machine.memory,
                            .node_ranks = (int)s->machine.ranks,
                            .devices = s->devices.count,
                            .device_tasks = s->devices.tasks,
                            .device_bytes = s->devices.bytes,
                            .device_busy = dagi_sim_in_seconds(s->devices.busy)};
    for (int r = 0; r < s->nranks; r++) {
        out->busy += dagi_sim_in_seconds(s->rank[r].busy);
        out->talking += dagi_sim_in_seconds(s->rank[r].talk);
        out->values = s->rank[r].peak > out->values ? s->rank[r].peak : out->values;
    }
}

void dagi_sim_report(const dag_context *ctx)
{
    const struct dagi_sim *s = dagi_sim_of(ctx);
    dag_simulation t;
    dagi_sim_tell(ctx, &t);
    double all = dagi_sim_seconds(ctx) * s->nranks * s->workers;
    fprintf(stderr,
            "dag: simulated run on machine '%s': %d ranks with %d workers, %.6g s\n"
            "dag: simulated: %" PRId64 " tasks, %" PRId64 " messages, %" PRId64 " bytes, %" PRId64
            " values copied\n"
            "dag: simulated: workers computed %.1f %%, moved messages %.1f %%, did neither %.1f %% of "
            "the time\n"
            "dag: simulated: at most %.4g MB of values on a rank, beside %.4g MB of matrices\n",
            s->machine.name, s->nranks, s->workers, dagi_sim_seconds(ctx), t.tasks, t.messages, t.bytes,
            t.renames, all > 0 ? 100 * t.busy / all : 0, all > 0 ? 100 * t.talking / all : 0,
            all > 0 ? 100 * (1 - (t.busy + t.talking) / all) : 0, 1e-6 * (double)t.values,
            1e-6 * (double)t.matrices);
    double devices = dagi_sim_seconds(ctx) * (double)t.devices;
    if (t.devices > 0)
        fprintf(stderr,
                "dag: simulated: %" PRId64 " devices ran %" PRId64 " tasks and computed for %.1f %% of the "
                "time; %.4g MB went to and from them\n",
                t.devices, t.device_tasks, devices > 0 ? 100 * t.device_busy / devices : 0,
                1e-6 * (double)t.device_bytes);
}

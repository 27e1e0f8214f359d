/* What a context tells of itself. */
#include "../base/settings.h"
#include "../comm/comm.h"
#include "../sim/sim.h"

int dag_context_number(const dag_context *context)
{
    return context->number;
}

int dag_rank(const dag_context *context)
{
    return context->rank;
}

int dag_size(const dag_context *context)
{
    return context->size;
}

double dag_latency(const dag_context *context)
{
    return context->simulated ? dagi_sim_message_seconds(context) : dagi_comm_latency(context);
}

double dag_rate(const dag_context *context)
{
    return (double)context->settings.link_rate;
}

int dag_network_get(const dag_context *context, dag_network *network)
{
    if (!context || !network)
        return 0;
    return context->simulated ? dagi_sim_network(context, network) : dagi_comm_network(context, network);
}

void dag_bcast_way_get(const dag_context *context, size_t bytes, int ranks, dag_bcast_way *way)
{
    if (context->simulated)
        dagi_sim_way(context, bytes, ranks < 2 ? 2 : ranks, way);
    else
        dagi_comm_way(context, bytes, ranks < 2 ? 2 : ranks, way);
}

int dag_workers(const dag_context *context)
{
    dag_simulation s;
    return dag_simulation_get(context, &s) ? s.workers : dagi_tasks(context)->nworkers;
}

int dag_simulated(const dag_context *context)
{
    return context->modelled;
}

int dag_reproducible(const dag_context *context)
{
    return context->settings.reproducible;
}

dag_out_of_core dag_out_of_core_wanted(const dag_context *context)
{
    return (dag_out_of_core)context->settings.out_of_core;
}

int dag_direct(const dag_context *context)
{
    const dagi_settings *s = &context->settings;
    struct dagi_tasks *t = dagi_tasks(context);
    if (!s->direct || context->size > 1 || context->modelled || context->trace || t->observer ||
        t->devices || s->chaos || s->serial || s->progress || dagi_worker_self(context))
        return 0;
    /* What runs may have to be told that a collection is used twice. The count is lowered behind all that a pool did
     * with its collections, so whoever sees 0 sees that, too. */
    return atomic_load_explicit(&t->open.pools, memory_order_acquire) == 0;
}

double dag_seconds(const dag_context *context)
{
    double stretch = context->settings.stretch > 0 ? (double)context->settings.stretch : 1;
    return context->simulated ? dagi_sim_seconds(context) : 1e-9 * (double)dagi_now() / stretch;
}

double dag_modelled_seconds(const dag_context *context)
{
    return context->settings.stretch > 0 ? dagi_sim_modelled_seconds(context) : 0;
}

double dag_simulated_gemm(const dag_context *context, char type, int64_t m, int64_t n, int64_t k)
{
    dag_precision prec;
    return context->simulated && dag_precision_parse(type, &prec) ? dagi_sim_gemm_seconds(context, prec, m, n, k) : 0;
}

int dag_simulation_get(const dag_context *context, dag_simulation *simulation)
{
    if (!context || !context->simulated || !simulation)
        return 0;
    dagi_sim_tell(context, simulation);
    return 1;
}

const char *dag_summary(const dag_context *context)
{
    return context->summary;
}

int dag_setting_get(const dag_context *context, int index, dag_setting *setting)
{
    return context && setting ? dagi_settings_get(context->config, index, setting) : 0;
}

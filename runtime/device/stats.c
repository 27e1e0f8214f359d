/* What devices did, for programs. */
#include "device_impl.h"

#include <dag/dag.h>

int dag_devices(const dag_context *context)
{
    return context && context->devices ? context->devices->count : 0;
}

const char *dag_devices_reason(const dag_context *context)
{
    return context ? context->no_devices : "";
}

static int64_t get(const _Atomic int64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

int dag_device_stats_get(const dag_context *context, int index, dag_device_stats *stats)
{
    if (!stats || index < 0 || index >= dag_devices(context))
        return 0;
    const dagi_device *d = context->devices->device[index];
    const dagi_device_counts *c = &d->counts;
    *stats = (dag_device_stats){
        .name = d->info.name,
        .failed = atomic_load(&d->lost),
        .memory = (int64_t)d->piece_bytes,
        .tasks = get(&c->tasks),
        .bytes_in = get(&c->bytes_in),
        .bytes_out = get(&c->bytes_out),
        .bytes_peer = get(&c->bytes_peer),
        .hits = get(&c->hits),
        .evictions = get(&c->evictions),
        .saves = get(&c->saves),
        .renames = get(&c->renames),
        .retries = get(&c->retries),
        .busy = (double)get(&c->busy) * 1e-9,
    };
    return 1;
}

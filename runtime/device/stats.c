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

const char *dag_devices_lack(const dag_context *context)
{
    const char *lacks = context && context->devices ? context->devices->backend->lacks : NULL;
    return lacks ? lacks : "";
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

/* Why none of what ran here ran on a device. */
static void explain_unused(const dag_context *ctx, char *why, size_t size)
{
    int64_t beside = 0;
    for (int i = 0; ctx->workers && i < ctx->nworkers; i++)
        beside += ctx->workers[i] ? ctx->workers[i]->ran_beside : 0;
    if (!ctx->device_classes)
        snprintf(why, size, "no task class has a body for them (BODY [type = CUDA])");
    else if (beside == 0)
        snprintf(why, size, "this rank had no task of a class with a body for them");
    else
        snprintf(why, size, "%lld task%s that could have run there ran on cores, where the end was "
                 "expected earlier, or where 'evaluate' or too little memory kept them; with "
                 "device_always = on time does not count", (long long)beside,
                 beside > 1 ? "s" : "");
}

void dagi_devices_unused(const dag_context *ctx)
{
    char why[512];
    if (ctx->settings.gpus <= 0 || ctx->pools_added == 0 || !ctx->devices)
        return;
    for (int i = 0; i < ctx->devices->count; i++) {
        const dagi_device *d = ctx->devices->device[i];
        if (get(&d->counts.tasks) > 0 || atomic_load(&d->lost))
            return;
    }
    explain_unused(ctx, why, sizeof why);
    dagi_warn(ctx, "gpus = %d, but no task ran on a device: %s", (int)ctx->settings.gpus, why);
}

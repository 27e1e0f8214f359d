/* What devices did, for programs. */
#include "choice.h"
#include "device_impl.h"

#include <dag/dag.h>

int dag_devices(const dag_context *context)
{
    const struct dagi_devices *all = context ? dagi_tasks(context)->devices : NULL;
    return all ? all->count : context ? dagi_tasks(context)->no_devices.played : 0;
}

const char *dag_devices_reason(const dag_context *context)
{
    return context ? dagi_tasks(context)->no_devices.why : "";
}

const char *dag_devices_lack(const dag_context *context)
{
    const struct dagi_devices *all = context ? dagi_tasks(context)->devices : NULL;
    for (int k = 0; k < DAG_DEVICE_KIND_COUNT && all; k++) {
        if (all->backend[k] && all->backend[k]->lacks && *all->backend[k]->lacks)
            return all->backend[k]->lacks;
    }
    return "";
}

static int64_t get(const _Atomic int64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

int dag_device_stats_get(const dag_context *context, int index, dag_device_stats *stats)
{
    if (!stats || index < 0 || index >= dag_devices(context) || !dagi_tasks(context)->devices)
        return 0;
    const dagi_device *d = dagi_tasks(context)->devices->device[index];
    const dagi_device_counts *c = &d->counts;
    *stats = (dag_device_stats){
        .name = d->info.name,
        .failed = atomic_load(&d->lost),
        .memory = (int64_t)d->piece.bytes,
        .tasks = get(&c->tasks),
        .bytes_in = get(&c->bytes_in),
        .bytes_out = get(&c->bytes_out),
        .bytes_peer = get(&c->bytes_peer),
        .hits = get(&c->hits),
        .evictions = get(&c->evictions),
        .saves = get(&c->saves),
        .renames = get(&c->renames),
        .retries = get(&c->retries),
        .batched = get(&c->batched),
        .largest_task = get(&dagi_tasks(context)->devices->largest_task),
        .busy = (double)get(&c->busy) * 1e-9,
        .flops = atomic_load_explicit(&c->flops, memory_order_relaxed),
        .copying = (double)get(&c->copying) * 1e-9,
        .overlapped = (double)get(&c->overlapped) * 1e-9,
        .numa_node = d->near.node,
    };
    return 1;
}

int64_t dag_device_link_bytes(const dag_context *context, int from, int to)
{
    int count = dag_devices(context);
    if (from < -1 || to < -1 || from >= count || to >= count || from == to || !dagi_tasks(context)->devices)
        return -1;
    struct dagi_device *const *device = dagi_tasks(context)->devices->device;
    return to < 0 ? get(&device[from]->counts.bytes_out) : get(&device[to]->counts.from[from + 1]);
}

static dagi_choice *choice_of(const dag_context *context)
{
    const struct dagi_tasks *tasks = context ? dagi_tasks(context) : NULL;
    return !tasks ? NULL : tasks->devices ? tasks->devices->choice : tasks->no_devices.choice;
}

dag_status dag_core_share_set(dag_context *context, const char *share)
{
    char why[256], names[64];
    dagi_choice *choice = choice_of(context);
    dagi_portion portion;
    if (!share)
        return dag_error(context, DAG_ERR_ARG, "dag_core_share_set: share is NULL: give cost, auto or a number from 0 to 1");
    if (!choice)
        return dag_error(context, DAG_ERR_DEVICE, "core_share = %s: there is no device to share with%s%s", share,
                         *dag_devices_reason(context) ? ": " : "", dag_devices_reason(context));
    const char *policy = context->settings.device_policy;
    if (!dagi_portion_read(share, dagi_policy_named(*policy ? policy : "time", names, sizeof names), &portion, why,
                           sizeof why))
        return dag_error(context, DAG_ERR_SETTING, "%s", why);
    dagi_choice_share_anew(choice, &portion);
    return DAG_SUCCESS;
}

int dag_core_share_get(const dag_context *context, int index, dag_core_share *share)
{
    dagi_choice *choice = choice_of(context);
    dagi_portioned s;
    if (!choice || !share || index < 0 || !dagi_choice_portions(choice, index, &s))
        return 0;
    *share = (dag_core_share){s.program, s.name, s.tasks, s.used, s.rates};
    return 1;
}

/* Whether the device works at what is first in a lane: it does not where that waits for another one. */
static int is_running(const dagi_lane *lane, int copies)
{
    uint64_t done = atomic_load_explicit(&lane->order.passed, memory_order_relaxed);
    if (done >= lane->count)
        return 0;
    const dagi_move *move = &lane->slot[(done + 1) % DAGI_LANE_SLOTS].move;
    return (!copies || move->bytes > 0) && dagi_ticket_passed(move->behind);
}

/* Whether what is first in a queue for kernels copies by itself. */
static int moves(const dagi_device *d, int queue)
{
    const dagi_job *job = d->jobs.issued[queue].first;
    return job && job->moved.in + job->moved.out > 0;
}

void dagi_stats_round(dagi_device *d)
{
    if (d->time.seen_at && d->time.seen_copying) {
        int64_t time = (int64_t)(d->time.now - d->time.seen_at);
        dagi_count(&d->counts.copying, time);
        if (d->time.seen_computing)
            dagi_count(&d->counts.overlapped, time);
    }
    d->time.seen_at = d->time.now;
    d->time.seen_copying = is_running(&d->in, 1) || is_running(&d->out, 1);
    d->time.seen_computing = 0;
    for (int i = 0; i < d->all->lanes && (d->time.seen_copying || d->time.tasks_copy); i++) {
        int running = is_running(&d->exec[i], 0), copies = running && moves(d, i);
        d->time.seen_copying |= copies;
        d->time.seen_computing |= running && !copies;
    }
}

/* Why none of what ran here ran on a device. */
static void explain_unused(const dag_context *ctx, char *why, size_t size)
{
    int64_t beside = 0;
    for (int i = 0; dagi_tasks(ctx)->workers && i < dagi_tasks(ctx)->nworkers; i++)
        beside +=
            dagi_tasks(ctx)->workers[i] ? dagi_driver(dagi_tasks(ctx)->workers[i])->ran_beside : 0;
    if (!dagi_tasks(ctx)->device_classes)
        snprintf(why, size, "no task class has a body for them (BODY [type = %s])",
                 dagi_kinds[dagi_tasks(ctx)->devices->device[0]->backend->kind].name);
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
    if (ctx->settings.gpus <= 0 || dagi_tasks(ctx)->pools_added == 0 || !dagi_tasks(ctx)->devices)
        return;
    for (int i = 0; i < dagi_tasks(ctx)->devices->count; i++) {
        const dagi_device *d = dagi_tasks(ctx)->devices->device[i];
        if (get(&d->counts.tasks) > 0 || atomic_load(&d->lost))
            return;
    }
    explain_unused(ctx, why, sizeof why);
    dagi_warn(ctx, "gpus = %d, but no task ran on a device: %s", (int)ctx->settings.gpus, why);
}

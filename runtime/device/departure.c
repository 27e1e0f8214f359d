/*
 * Departures: copies on a device that MPI takes messages from.
 *
 * A flow that other ranks get, and whose content only a device has, departs from there where MPI
 * can read memory of devices (net/mpi/direct.c proves it at start). From the issue of its task
 * until the last message with it is complete its block is pinned, so it is not evicted; and its
 * value has a reference of the task, then of each message, so nobody writes it in place. Hence no
 * state of the copy changes: a departure is one more reader. Nothing is sent before the kernels are
 * known to be done (retire.c).
 *
 * Blocks belong to the manager, and messages end under comm's lock: whoever drops the last reference
 * puts the departure on a list that the manager takes up. It has to do so only when it looks for
 * memory, so the list is no work by itself.
 *
 * A task that waits for pinned memory waits for messages. These are received by a rank that has
 * added their pool, without any task having to run. So that this is so in the end, only flows of the
 * oldest pool that is not over everywhere depart from a device: who has not added it waits for none
 * of ours before it does. What departs takes a quarter of a device at most; the rest goes by way of
 * the host.
 */
#include "device_impl.h"

#include <stdlib.h>

struct dagi_departure {
    dagi_departure *next; /* in dagi_device.departed */
    dagi_device *device;
    dagi_block *block; /* pinned */
    void *at;          /* its address, for those who may not look into it */
    size_t bytes;
    _Atomic int holders; /* the job that made it, and messages */
};

enum { SHARE = 4 }; /* of a device: so much of it departs at most */

/* ---- the manager's side --------------------------------------------------------------------- */

static int is_oldest(const dag_taskpool *pool)
{
    dag_context *ctx = pool->ctx;
    pthread_mutex_lock(&dagi_tasks(ctx)->pools_lock);
    int oldest = dagi_tasks(ctx)->pools == pool;
    pthread_mutex_unlock(&dagi_tasks(ctx)->pools_lock);
    return oldest;
}

/* The block with the content of v, if the host does not have it. *away: it does not. */
static dagi_block *only_here(const dagi_device *d, dag_value *v, int *away)
{
    dagi_copies *c = dagi_copies_get(v);
    dagi_block *block = NULL;
    *away = 0;
    if (!c)
        return NULL;
    dagi_lock(&c->lock);
    *away = c->copy[DAGI_HOST].state == DAGI_INVALID;
    if (*away && c->copy[d->space].state != DAGI_INVALID)
        block = c->copy[d->space].memory;
    dagi_unlock(&c->lock);
    return block;
}

static dagi_departure *depart(dagi_device *d, dagi_block *block, size_t bytes)
{
    dagi_departure *departure = malloc(sizeof *departure);
    if (!departure)
        return NULL; /* through the host, then */
    *departure = (dagi_departure){.device = d, .block = block, .at = block->at, .bytes = bytes};
    atomic_store_explicit(&departure->holders, 1, memory_order_relaxed);
    dagi_memory_pin(d->memory, block);
    d->departing += bytes;
    return departure;
}

uint32_t dagi_depart(dagi_job *job, uint32_t remote)
{
    dagi_device *d = job->device;
    int direct = remote && d->all->direct && !job->late && is_oldest(job->task->pool);
    uint32_t departs = 0;
    for (; remote; remote &= remote - 1) {
        int f = __builtin_ctz(remote), away;
        dag_value *v = dag_task_flows(job->task)[f];
        size_t bytes = (size_t)v->m * (size_t)v->n * v->elem;
        dagi_block *block = only_here(d, v, &away);
        if (direct && block && bytes > d->all->direct_most &&
            d->departing + bytes <= d->piece.bytes / SHARE)
            job->flow[f].departure = depart(d, block, bytes);
        departs |= (uint32_t)(job->flow[f].departure != NULL) << f;
        job->sets.staged |= (uint32_t)(away && !job->flow[f].departure) << f;
    }
    return departs;
}

void dagi_depart_done(dagi_job *job)
{
    for (int f = 0; f < job->ndata; f++) {
        if (job->flow[f].departure)
            dagi_departure_drop(job->flow[f].departure);
        job->flow[f].departure = NULL;
    }
}

void dagi_depart_collect(dagi_device *d)
{
    if (!atomic_load_explicit(&d->brought.departed, memory_order_relaxed))
        return;
    dagi_departure *list =
        atomic_exchange_explicit(&d->brought.departed, NULL, memory_order_acquire);
    while (list) {
        dagi_departure *next = list->next;
        d->departing -= list->bytes;
        dagi_memory_unpin(d->memory, list->block);
        free(list);
        list = next;
    }
}

/* ---- for messages --------------------------------------------------------------------------- */

dagi_departure *dagi_departure_of(const dagi_job *job, int flow, uint8_t *staged)
{
    *staged = job->sets.staged >> flow & 1;
    dagi_departure *departure = job->flow[flow].departure;
    if (departure)
        atomic_fetch_add_explicit(&departure->holders, 1, memory_order_relaxed);
    return departure;
}

void *dagi_departure_at(const dagi_departure *departure)
{
    return departure->at;
}

int dagi_departure_lost(const dagi_departure *departure)
{
    return atomic_load(&departure->device->lost);
}

void dagi_departure_fail(const dagi_departure *departure, dag_taskpool *pool)
{
    const dagi_device *d = departure->device;
    dagi_pool_fail(pool, DAG_ERR_DEVICE, "%s: a result for another rank was lost with device %d "
                   "(%s), which has failed", pool->program->file, d->index, d->info.name);
}

void dagi_departure_drop(dagi_departure *departure)
{
    dagi_device *d = departure->device;
    if (atomic_fetch_sub_explicit(&departure->holders, 1, memory_order_acq_rel) > 1)
        return;
    departure->next = atomic_load_explicit(&d->brought.departed, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&d->brought.departed, &departure->next, departure,
                                                  memory_order_release, memory_order_relaxed))
        continue;
}

/* ---- the start ------------------------------------------------------------------------------ */

size_t dagi_devices_room(const dag_context *ctx)
{
    size_t room = SIZE_MAX;
    for (int i = 0; dagi_tasks(ctx)->devices && i < dagi_tasks(ctx)->devices->count; i++) {
        size_t bytes = dagi_tasks(ctx)->devices->device[i]->piece.size[0];
        room = bytes < room ? bytes : room;
    }
    return room;
}

void *dagi_devices_put(void *ctx, int device, const void *pattern, size_t bytes)
{
    const struct dagi_devices *all = dagi_tasks(ctx)->devices;
    dagi_device *d = all->device[device];
    const dagi_copy_job job = {.to = d->piece.begin[0], .from = pattern, .to_ld = (int64_t)bytes,
                               .from_ld = (int64_t)bytes, .m = (int64_t)bytes, .n = 1, .elem = 1};
    d->backend->choose(d->handle);
    dagi_result result = d->backend->copy_in(d->in.queue, &job);
    if (dagi_lane_mark(&d->in, NULL) != DAGI_OK)
        result = DAGI_LOST;
    while (result == DAGI_OK && dagi_lane_busy(&d->in))
        dagi_lane_poll(&d->in, &result);
    /* Who sends later may have any device, so here it is another one, if there is. */
    const dagi_device *other = all->device[(device + 1) % all->count];
    other->backend->choose(other->handle);
    return result == DAGI_OK ? d->piece.begin[0] : NULL;
}

int dagi_devices_handles(const dag_context *ctx)
{
    const struct dagi_devices *all = dagi_tasks(ctx)->devices;
    for (int i = 0; all && i < all->count; i++) {
        if (all->device[i]->backend->buffer)
            return 1;
    }
    return 0;
}

void dagi_devices_send_directly(dag_context *ctx, size_t inline_max)
{
    if (!dagi_tasks(ctx)->devices)
        return;
    dagi_tasks(ctx)->devices->direct = 1;
    dagi_tasks(ctx)->devices->direct_most = inline_max;
}

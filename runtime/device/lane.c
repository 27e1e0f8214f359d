/* Queues with tickets, see device_impl.h. */
#include "device_impl.h"
#include "resident.h"

#include <assert.h>
#include <stddef.h>

static dagi_lane *lane_of(dagi_ticket t)
{
    return (dagi_lane *)(void *)t.queue;
}

static uint64_t passed(const dagi_lane *lane)
{
    return atomic_load_explicit(&lane->order.passed, memory_order_relaxed);
}

dagi_result dagi_lane_open(dagi_lane *lane, dagi_device *device, int urgent)
{
    lane->device = device;
    dagi_result result = device->backend->queue_new(device->handle, urgent, &lane->queue);
    if (result == DAGI_OK)
        *(dagi_queue_head *)lane->queue = (dagi_queue_head){device->backend->kind, device->backend};
    return result;
}

void dagi_lane_close(dagi_lane *lane)
{
    if (!lane->device)
        return;
    const dagi_backend *backend = dagi_backend_of(lane->device);
    if (lane->queue)
        backend->queue_free(lane->queue);
    for (int i = 0; i < DAGI_LANE_SLOTS; i++) {
        if (lane->slot[i].event)
            backend->event_free(lane->slot[i].event);
    }
}

int dagi_lane_room(const dagi_lane *lane)
{
    uint64_t done = passed(lane);
    return done >= lane->count ? DAGI_LANE_SLOTS : DAGI_LANE_SLOTS - (int)(lane->count - done);
}

int dagi_lane_busy(const dagi_lane *lane)
{
    return passed(lane) < lane->count;
}

int dagi_ticket_settled(dagi_ticket t, const dagi_device *d)
{
    if (dagi_ticket_passed(t))
        return 1;
    const dagi_lane *lane = lane_of(t);
    if (atomic_load_explicit(&lane->recorded, memory_order_acquire) < t.count)
        return 0;
    if (lane->device->backend == d->backend)
        return 1;
    /* Its manager may be busy here, so we look ourselves. */
    void *event = lane->slot[t.count % DAGI_LANE_SLOTS].event;
    return !event || lane->device->backend->query(event) != DAGI_BUSY;
}

dagi_result dagi_lane_wait(dagi_lane *lane, dagi_ticket t)
{
    if (t.queue == &lane->order || dagi_ticket_passed(t))
        return DAGI_OK;
    dagi_lane *other = lane_of(t);
    /* Its manager is between giving the ticket and recording it, and does not wait for us. */
    while (!dagi_ticket_settled(t, lane->device))
        dagi_pause();
    if (dagi_ticket_passed(t) || other->device->backend != lane->device->backend)
        return DAGI_OK;
    lane->next.unclear |= lane->next.behind.queue && lane->next.behind.queue != t.queue;
    if (lane->next.behind.queue != t.queue || lane->next.behind.count < t.count)
        lane->next.behind = t;
    return dagi_backend_of(lane->device)
        ->wait(lane->queue, other->slot[t.count % DAGI_LANE_SLOTS].event);
}

dagi_result dagi_lane_mark(dagi_lane *lane, dag_taskpool *pool)
{
    const dagi_backend *backend = dagi_backend_of(lane->device);
    assert(dagi_lane_room(lane) > 0); /* the place of a ticket that has not passed is not ours */
    struct dagi_lane_slot *slot = &lane->slot[(lane->count + 1) % DAGI_LANE_SLOTS];
    dagi_result result = DAGI_OK;
    slot->pool = pool;
    slot->ended_at = 0;
    slot->move = lane->next;
    lane->next = (dagi_move){.bytes = 0};
    for (int i = 0; i < DAGI_TRIES && !slot->event; i++)
        result = backend->event_new(lane->device->handle, &slot->event);
    if (slot->event) {
        for (int i = 0; i < DAGI_TRIES; i++) {
            result = backend->record(slot->event, lane->queue);
            if (result == DAGI_OK || result == DAGI_LOST)
                break;
        }
    }
    lane->count++;
    atomic_store_explicit(&lane->recorded, lane->count, memory_order_release);
    /* Without an event nobody would ever know that it is done. */
    return result == DAGI_OK ? DAGI_OK : DAGI_LOST;
}

void dagi_lane_move(dagi_lane *lane, int from, int to, size_t bytes)
{
    lane->next.since = dagi_now();
    lane->next.from = from;
    lane->next.to = to;
    lane->next.bytes = bytes;
}

int dagi_lane_poll(dagi_lane *lane, dagi_result *result)
{
    uint64_t at = passed(lane), first = at;
    while (at < lane->count) {
        void *event = lane->slot[(at + 1) % DAGI_LANE_SLOTS].event;
        /* Without an event it could not be marked: the device is about to be given up. */
        dagi_result r = event ? dagi_backend_of(lane->device)->query(event) : DAGI_LOST;
        if (r == DAGI_BUSY)
            break;
        if (r != DAGI_OK) {
            *result = DAGI_LOST;
            break;
        }
        at++;
        lane->slot[at % DAGI_LANE_SLOTS].ended_at = lane->device->time.now;
    }
    if (at != first) {
        atomic_store_explicit(&lane->order.passed, at, memory_order_release);
        dagi_lane_moved(lane, first + 1, at);
    }
    return (int)(at - first);
}

/* What is not lost after all must not be at memory any more that is about to be freed. */
static void drain(dagi_lane *lane)
{
    const uint64_t patience = UINT64_C(2000000000), begin = dagi_now();
    dagi_result result = DAGI_OK;
    while (dagi_lane_busy(lane) && result == DAGI_OK && dagi_now() - begin < patience) {
        if (dagi_lane_poll(lane, &result) == 0)
            dagi_pause();
    }
}

/* The tickets of what was refused, and of inputs of a task that went elsewhere, may outlive the pool:
 * only pools that the context still knows are told. */
static void fail_pool(dag_context *ctx, const dag_taskpool *named, const char *why)
{
    pthread_mutex_lock(&dagi_tasks(ctx)->pools_lock);
    dag_taskpool *pool = dagi_tasks(ctx)->pools;
    while (pool && pool != named)
        pool = dagi_pool(pool)->next;
    if (pool)
        dagi_pool_fail(pool, DAG_ERR_DEVICE, "%s", why);
    pthread_mutex_unlock(&dagi_tasks(ctx)->pools_lock);
}

void dagi_lane_abandon(dagi_lane *lane, const char *why)
{
    drain(lane);
    for (uint64_t at = passed(lane) + 1; at <= lane->count; at++) {
        const struct dagi_lane_slot *slot = &lane->slot[at % DAGI_LANE_SLOTS];
        if (slot->pool)
            fail_pool(lane->device->all->ctx, slot->pool, why);
        if (slot->move.parked)
            dagi_residence_fail(slot->move.parked);
    }
    atomic_store_explicit(&lane->recorded, UINT64_MAX, memory_order_release);
    atomic_store_explicit(&lane->order.passed, UINT64_MAX, memory_order_release);
}

/* Content for the host: tasks on cores that need what a device has, and values that outlive their last
 * holder until a transfer has passed. */
#include "device_impl.h"
#include "resident.h"

#include <stdlib.h>

static dagi_device *device_of(dagi_ticket t)
{
    return ((dagi_lane *)(void *)t.queue)->device;
}

/* What a flow that a core wants to use waits for. NULL: nothing. */
static dagi_device *wait_for(const struct dagi_devices *all, dag_value *v, int write)
{
    dagi_copies *c = v ? dagi_copies_get(v) : NULL;
    dagi_device *d = NULL;
    if (!c)
        return NULL;
    dagi_lock(&c->lock);
    const dagi_copy *host = &c->copy[DAGI_HOST];
    if (host->state != DAGI_INVALID) {
        if (!dagi_ticket_passed(host->written))
            d = device_of(host->written);
    } else {
        int source = dagi_transfer_source(all, c, DAGI_HOST, NULL);
        if (source > 0)
            d = dagi_device_at(all, source);
    }
    for (int i = 0; i < host->nused && write && !d; i++) {
        if (!dagi_ticket_passed(host->used[i]))
            d = device_of(host->used[i]);
    }
    dagi_unlock(&c->lock);
    return d;
}

/* The device that a task on a core waits for; NULL: none. */
static dagi_device *task_waits(const struct dagi_devices *all, struct dag_task *t)
{
    dag_value **flow = dag_task_flows(t);
    uint32_t writes = dagi_pool(t->pool)->classes[t->cls->id].write_mask;
    for (int f = 0; f < t->cls->ndata; f++) {
        dagi_device *d = wait_for(all, flow[f], writes >> f & 1);
        if (d)
            return d;
    }
    return NULL;
}

static void push_fetch(dagi_device *d, struct dag_task *t)
{
    atomic_fetch_add(&d->load.work, 1);
    t->next = atomic_load_explicit(&d->brought.fetches, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&d->brought.fetches, &t->next, t,
                                                  memory_order_release, memory_order_relaxed))
        continue;
    dagi_device_alert(d);
}

int dagi_device_host_ready(struct dagi_worker *w, struct dag_task *t)
{
    dagi_device *d = task_waits(dagi_tasks(w->ctx)->devices, t);
    if (!d)
        return 1;
    push_fetch(d, t);
    return 0;
}

/* The device of another kind that has to have v saved before d gets it; NULL = none. */
static dagi_device *beyond(const dagi_device *d, dag_value *v)
{
    dagi_copies *c = v ? dagi_copies_get(v) : NULL;
    dagi_device *other = NULL;
    if (!c)
        return NULL;
    dagi_lock(&c->lock);
    const dagi_copy *host = &c->copy[DAGI_HOST];
    int source = dagi_transfer_source(d->all, c, DAGI_HOST, d);
    if (source < 0)
        source = dagi_transfer_source(d->all, c, DAGI_HOST, NULL);
    if (source > 0)
        other = dagi_device_at(d->all, source);
    else if (source == DAGI_HOST && !dagi_ticket_passed(host->written))
        other = device_of(host->written);
    dagi_unlock(&c->lock);
    return other && other->backend != d->backend ? other : NULL;
}

int dagi_device_crosses(const dagi_device *d, struct dag_task *t)
{
    dagi_device *other = NULL;
    for (int f = 0; f < t->cls->ndata && !other; f++)
        other = beyond(d, dag_task_flows(t)[f]);
    if (!other)
        return 0;
    t->arrived |= DAGI_TASK_CROSSES;
    push_fetch(other, t);
    return 1;
}

void dagi_device_host_written(struct dagi_worker *w, struct dag_task *t, uint32_t mask)
{
    dag_value **flow = dag_task_flows(t);
    for (; mask; mask &= mask - 1) {
        dag_value *v = flow[__builtin_ctz(mask)];
        if (v && dagi_copies_get(v))
            dagi_copies_written(dagi_tasks(w->ctx)->devices, v, DAGI_HOST, (dagi_ticket){NULL, 0}, 0);
    }
}

/* ---- the manager's side --------------------------------------------------------------------- */

static void fail_fetch(struct dag_task *t, const dagi_device *d, const char *why)
{
    char name[256];
    dagi_describe(name, sizeof name, t->cls, dagi_task_locals(t));
    dagi_pool_fail(t->pool, DAG_ERR_DEVICE, "%s: an input of %s was lost with device %d (%s): %s",
                   t->pool->program->file, name, d->index, d->info.name, why);
}

/* Leaving enough for tasks to be issued (room_to_issue() in manager.c), however many wait here. */
static int room_to_save(const dagi_device *d)
{
    return dagi_lane_room(&d->out) > DAGI_LANE_SLOTS / 2;
}

/* Start what is missing and lies here. */
static dagi_result fetch_flows(dagi_device *d, struct dag_task *t)
{
    dagi_result result = DAGI_OK;
    for (int f = 0; f < t->cls->ndata && result == DAGI_OK; f++) {
        dag_value *v = dag_task_flows(t)[f];
        dagi_ticket when;
        if (v && room_to_save(d))
            result = dagi_transfer_save(d, v, &when);
    }
    return result;
}

/* 1: the task has gone on. */
static int settle(struct dagi_worker *w, dagi_device *d, struct dag_task *t, dagi_result *result)
{
    dagi_result fetched = DAGI_OK;
    int poisoned = dagi_pool_is_poisoned(t->pool);
    if (!poisoned && !atomic_load(&d->lost))
        fetched = fetch_flows(d, t);
    if (fetched == DAGI_LOST)
        *result = DAGI_LOST;
    else if (fetched != DAGI_OK && ++d->refused_saves > DAGI_TRIES)
        fail_fetch(t, d, dagi_backend_of(d)->error());
    else if (fetched == DAGI_OK)
        d->refused_saves = 0;
    dagi_device *other = poisoned ? NULL : task_waits(d->all, t);
    if (other && other == d && atomic_load(&d->lost)) {
        fail_fetch(t, d, "the device has failed");
        other = NULL;
    }
    if (other == d && !dagi_pool_is_poisoned(t->pool))
        return 0;
    if (other && other != d && !dagi_pool_is_poisoned(t->pool)) {
        push_fetch(other, t);
    } else {
        int crosses = (t->arrived & DAGI_TASK_CROSSES) != 0;
        t->arrived &= ~DAGI_TASK_CROSSES;
        t->next = NULL;
        if (!crosses || !dagi_device_take(w, t))
            dagi_ready(w, t);
    }
    atomic_fetch_sub(&d->load.work, 1);
    return 1;
}

static int settle_tasks(struct dagi_worker *w, dagi_device *d, dagi_result *result)
{
    int events = 0;
    struct dag_task **link = &d->brought.waiting;
    while (*link)
        link = &(*link)->next;
    if (atomic_load_explicit(&d->brought.fetches, memory_order_relaxed))
        *link = atomic_exchange_explicit(&d->brought.fetches, NULL, memory_order_acquire);
    for (link = &d->brought.waiting; *link;) {
        struct dag_task *t = *link, *next = t->next;
        if (settle(w, d, t, result)) {
            *link = next;
            events++;
        } else {
            link = &t->next;
        }
    }
    return events;
}

static int host_is_quiet(dagi_copies *c)
{
    dagi_lock(&c->lock);
    const dagi_copy *host = &c->copy[DAGI_HOST];
    int quiet = dagi_ticket_passed(host->written);
    for (int i = 0; i < host->nused; i++)
        quiet &= dagi_ticket_passed(host->used[i]);
    dagi_unlock(&c->lock);
    return quiet;
}

void dagi_device_push_dying(dagi_device *d, dagi_copies *c)
{
    atomic_fetch_add(&d->load.work, 1);
    c->dying = atomic_load(&d->brought.dying);
    while (!atomic_compare_exchange_weak(&d->brought.dying, &c->dying, c))
        continue;
    dagi_device_alert(d);
}

/* What shall be on the host is on its way: 1. 0: not now. */
static int is_saved(dagi_device *d, dagi_copies *c, dagi_result *result)
{
    dag_value *v = &c->value->v;
    dagi_ticket when;
    struct dagi_residence *parked = dagi_residence_parked(v);
    if (!c->save)
        return 1;
    if (atomic_load(&d->lost)) {
        if (parked)
            dagi_residence_fail(parked);
        c->save = 0;
        return 1;
    }
    if (!room_to_save(d))
        return 0;
    dagi_result saved = dagi_transfer_save(d, v, &when);
    if (saved == DAGI_LOST)
        *result = DAGI_LOST;
    if (saved != DAGI_OK && (saved == DAGI_LOST || ++c->save <= DAGI_TRIES))
        return 0;
    c->save = 0;
    if (saved == DAGI_OK)
        return 1;
    if (parked)
        dagi_residence_fail(parked);
    else
        dagi_pool_fail(c->value->pool, DAG_ERR_DEVICE,
                       "%s: an element cannot be copied from device "
                       "%d (%s) to the host: %s",
                       c->value->pool->program->file, d->index, d->info.name,
                       dagi_backend_of(d)->error());
    return 1;
}

/* Values that waited for transfers to pass. */
static int bury(struct dagi_worker *w, dagi_device *d, dagi_result *result)
{
    int events = 0;
    dagi_copies **link = &d->brought.graves;
    while (*link)
        link = &(*link)->dying;
    if (atomic_load_explicit(&d->brought.dying, memory_order_relaxed))
        *link = atomic_exchange_explicit(&d->brought.dying, NULL, memory_order_acquire);
    for (link = &d->brought.graves; *link;) {
        dagi_copies *c = *link;
        if (!is_saved(d, c, result) || !host_is_quiet(c)) {
            link = &c->dying;
            continue;
        }
        dagi_value *v = c->value;
        dag_taskpool *pool = v->pool;
        struct dagi_residence *parked = dagi_residence_parked(&v->v);
        *link = c->dying;
        dagi_value_release(w, &v->v);
        if (parked)
            dagi_residence_settled(parked);
        else
            dagi_pool_drop(w, pool);
        atomic_fetch_sub(&d->load.work, 1);
        events++;
    }
    return events;
}

int dagi_host_round(struct dagi_worker *w, dagi_device *d, dagi_result *result)
{
    int events = 0;
    if (d->brought.waiting || atomic_load_explicit(&d->brought.fetches, memory_order_relaxed))
        events += settle_tasks(w, d, result);
    if (d->brought.graves || atomic_load_explicit(&d->brought.dying, memory_order_relaxed))
        events += bury(w, d, result);
    return events;
}

/* ---- the end of a value --------------------------------------------------------------------- */

int dagi_device_forget(dag_value *value)
{
    dagi_value *v = dagi_value_of(value);
    dagi_ticket busy = dagi_copies_drop(dagi_tasks(v->pool->ctx)->devices, value);
    if (!busy.queue)
        return 0;
    dagi_pool_hold(v->pool);
    atomic_store_explicit(&v->refs, 1, memory_order_relaxed);
    dagi_copies *c = dagi_copies_get(value);
    c->value = v;
    dagi_device_push_dying(((dagi_lane *)(void *)busy.queue)->device, c);
    return 1;
}

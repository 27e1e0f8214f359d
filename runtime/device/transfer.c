/*
 * Transfers between memories.
 *
 * A transfer is decided and enqueued under the lock of the value's record: a copy that is marked as
 * valid will really come. What it has to wait for must have its event by then; where another
 * manager is just recording it, we let go of the lock and try again.
 */
#include "device_impl.h"
#include "resident.h"

/* ---- waiting -------------------------------------------------------------------------------- */

/* Tickets of the lane itself need no event: it runs in order. */
static int settled(dagi_ticket t, const dagi_device *d, const dagi_lane *lane)
{
    return (lane && t.queue == &lane->order) || dagi_ticket_settled(t, d);
}

static int all_settled(const dagi_copy *copy, const dagi_device *d, const dagi_lane *lane,
                       int users_too)
{
    int ready = settled(copy->written, d, lane);
    for (int i = 0; i < copy->nused && users_too; i++)
        ready &= settled(copy->used[i], d, lane);
    return ready;
}

static dagi_result wait_all(dagi_lane *lane, const dagi_copy *copy, int users_too)
{
    dagi_result result = dagi_lane_wait(lane, copy->written);
    for (int i = 0; i < copy->nused && users_too && result == DAGI_OK; i++)
        result = dagi_lane_wait(lane, copy->used[i]);
    return result;
}

/* Lock the record when all that a transfer to `target` through `lane` waits for has its event,
 * whatever its source. */
static void lock_settled(dagi_copies *c, int target, const dagi_lane *lane)
{
    for (;;) {
        dagi_lock(&c->lock);
        int ready = all_settled(&c->copy[target], lane->device, lane, 1);
        for (int i = 0; i < c->nspaces; i++)
            ready &= all_settled(&c->copy[i], lane->device, lane, 0);
        if (ready)
            return;
        dagi_unlock(&c->lock);
        dagi_pause();
    }
}

/* Enter a user of a copy; what is in the way is waited for in the lane. */
static dagi_result use(dagi_copies *c, int space, dagi_lane *lane, dagi_ticket t)
{
    dagi_result result = DAGI_OK;
    int full = dagi_copies_use(c, space, t);
    while (full && result == DAGI_OK) {
        const dagi_copy *copy = &c->copy[space];
        int i = 0;
        while (i + 1 < copy->nused && !dagi_ticket_settled(copy->used[i], lane->device))
            i++;
        dagi_ticket first = copy->used[i];
        result = dagi_lane_wait(lane, first);
        if (result == DAGI_OK)
            full = dagi_copies_join(c, space, first, t);
    }
    return result;
}

/* ---- copies --------------------------------------------------------------------------------- */

static int64_t ld_of(const dag_value *v)
{
    return v->m > 0 ? v->m : 1;
}

/* Enqueue the copy of v's content in `source` to device memory `to`. */
static dagi_result copy_to_device(dagi_device *d, dagi_lane *lane, const dag_value *v,
                                  const dagi_copies *c, int source, void *to)
{
    const dagi_backend *backend = dagi_backend_of(d);
    size_t bytes = dagi_value_bytes(v);
    if (bytes == 0)
        return DAGI_OK;
    dagi_copy_job job = {.to = to, .to_ld = ld_of(v), .m = v->m, .n = v->n, .elem = v->elem};
    if (source == DAGI_HOST) {
        job.from = v->ptr;
        job.from_ld = v->ld;
        dagi_count(&d->counts.bytes_in, (int64_t)bytes);
        dagi_count(&d->counts.from[DAGI_HOST], (int64_t)bytes);
        return backend->copy_in(lane->queue, &job);
    }
    dagi_device *from = dagi_device_at(d->all, source);
    const dagi_block *block = c->copy[source].memory;
    if (from == d) {
        job.from = block->at;
        job.from_ld = ld_of(v);
        return backend->copy_within(lane->queue, &job);
    }
    dagi_count(&d->counts.bytes_peer, (int64_t)bytes);
    dagi_count(&d->counts.from[source], (int64_t)bytes);
    return backend->copy_peer(lane->queue, from->handle, to, block->at, bytes);
}

static int source_is_lost(const dagi_device *d, int source)
{
    return source != DAGI_HOST && atomic_load(&dagi_device_at(d->all, source)->lost);
}

int dagi_transfer_source(const struct dagi_devices *all, const dagi_copies *c, int prefer,
                         const dagi_device *to)
{
    int lost = -1;
    if (prefer < c->nspaces && c->copy[prefer].state != DAGI_INVALID)
        return prefer;
    if (c->copy[DAGI_HOST].state != DAGI_INVALID)
        return DAGI_HOST;
    for (int i = 1; i < c->nspaces; i++) {
        if (c->copy[i].state == DAGI_INVALID ||
            (to && dagi_device_at(all, i)->backend != to->backend))
            continue;
        if (!atomic_load(&dagi_device_at(all, i)->lost))
            return i;
        lost = lost < 0 ? i : lost;
    }
    return lost;
}

static dag_taskpool *pool_of(dag_value *v)
{
    return dagi_value_of(v)->pool;
}

static void fail_lost(dag_value *v, const dagi_device *from)
{
    dagi_pool_fail(pool_of(v), DAG_ERR_DEVICE,
                   "%s: a result was lost with device %d (%s), which has failed",
                   pool_of(v)->program->file, from->index, from->info.name);
}

/* Only devices of another kind have the content, which are asked for it before the task comes here
 * (dagi_device_crosses): a device that had it, too, is lost since. */
static int is_beyond(const dagi_device *d, const dagi_copies *c)
{
    return d->all->mixed && dagi_transfer_source(d->all, c, d->space, d) < 0 &&
           dagi_transfer_source(d->all, c, d->space, NULL) >= 0;
}

/* FILL, under the lock: the copy is enqueued behind what it has to wait for. */
static dagi_result fill_locked(dagi_device *d, dag_value *v, dagi_copies *c, dagi_block *block)
{
    int source = DAGI_HOST, prefer = dagi_transfer_source(d->all, c, DAGI_HOST, d);
    if (is_beyond(d, c))
        return DAGI_REFUSED;
    dagi_copy *own = &c->copy[d->space];
    dagi_copy_action action = dagi_copies_apply(c, d->space, DAGI_COPY_FILL, prefer, &source);
    own->memory = block;
    own->nused = 0;
    own->cause = 0;
    own->written = (dagi_ticket){NULL, 0};
    if (action != DAGI_COPY_MOVE)
        return DAGI_OK; /* nobody has written it yet */
    if (source_is_lost(d, source)) {
        fail_lost(v, dagi_device_at(d->all, source));
        return DAGI_OK;
    }
    own->written = dagi_lane_next(&d->in);
    dagi_result result = use(c, source, &d->in, own->written);
    if (result == DAGI_OK)
        result = wait_all(&d->in, &c->copy[source], 0);
    if (result == DAGI_OK) {
        dagi_lane_move(&d->in, source, d->space, dagi_value_bytes(v));
        result = copy_to_device(d, &d->in, v, c, source, block->at);
        own->cause = dagi_record_move(d, &d->in, c->copy[source].cause, result);
    }
    if (dagi_lane_mark(&d->in, pool_of(v)) != DAGI_OK)
        result = DAGI_LOST;
    if (result != DAGI_OK) {
        dagi_copies_apply(c, d->space, DAGI_COPY_EVICT, 0, &source);
        own->memory = NULL;
        own->written = (dagi_ticket){NULL, 0};
    }
    return result;
}

dagi_result dagi_transfer_fill(dagi_device *d, dag_value *v, dagi_block *block, int fresh)
{
    dagi_copies *c = dagi_copies_of(v, d->all->count + 1, fresh);
    if (!c)
        return DAGI_NOMEM;
    dagi_copies_return_stale(d->all, c);
    block->value = v;
    dagi_block_living(d, block, v);
    lock_settled(c, d->space, &d->in);
    dagi_result result = DAGI_OK;
    if (fresh) {
        c->copy[d->space].memory = block;
        c->copy[d->space].nused = 0;
        c->copy[d->space].cause = 0;
        c->copy[d->space].written = (dagi_ticket){NULL, 0};
    } else {
        result = fill_locked(d, v, c, block);
    }
    dagi_unlock(&c->lock);
    if (result != DAGI_OK) {
        dagi_block_living(d, block, NULL);
        block->value = NULL;
    }
    return result;
}

/* SAVE from this device, under the lock. */
static dagi_result save_locked(dagi_device *d, dag_value *v, dagi_copies *c)
{
    const dagi_backend *backend = dagi_backend_of(d);
    dagi_copy *host = &c->copy[DAGI_HOST], *own = &c->copy[d->space];
    const dagi_copy before = *host;
    int source;
    if (dagi_copies_apply(c, d->space, DAGI_COPY_SAVE, d->space, &source) != DAGI_COPY_MOVE)
        return DAGI_OK;
    dagi_ticket t = dagi_lane_next(&d->out);
    dagi_result result = use(c, d->space, &d->out, t);
    if (result == DAGI_OK)
        result = wait_all(&d->out, own, 0);
    if (result == DAGI_OK)
        result = wait_all(&d->out, &before, 1);
    const dagi_block *block = own->memory;
    dagi_copy_job job = {.to = v->ptr, .from = block->at, .to_ld = v->ld, .from_ld = ld_of(v),
                         .m = v->m, .n = v->n, .elem = v->elem};
    if (result == DAGI_OK) {
        dagi_lane_move(&d->out, d->space, DAGI_HOST, dagi_value_bytes(v));
        if (dagi_value_bytes(v) > 0)
            result = backend->copy_out(d->out.queue, &job);
        host->cause = dagi_record_move(d, &d->out, own->cause, result);
    }
    /* Nobody waits for what was refused, so the residence may end before the ticket has passed. */
    d->out.next.parked = result == DAGI_OK ? dagi_residence_parked(v) : NULL;
    if (dagi_lane_mark(&d->out, pool_of(v)) != DAGI_OK)
        result = DAGI_LOST;
    if (result != DAGI_OK) {
        dagi_copies_apply(c, DAGI_HOST, DAGI_COPY_EVICT, 0, &source);
        return result;
    }
    host->written = t;
    host->nused = 0;
    dagi_count(&d->counts.saves, 1);
    dagi_count(&d->counts.bytes_out, (int64_t)dagi_value_bytes(v));
    return DAGI_OK;
}

dagi_result dagi_transfer_save(dagi_device *d, dag_value *v, dagi_ticket *when)
{
    dagi_result result = DAGI_OK;
    dagi_copies *c = dagi_copies_get(v);
    *when = (dagi_ticket){NULL, 0};
    if (!c)
        return DAGI_OK;
    lock_settled(c, DAGI_HOST, &d->out);
    if (c->copy[DAGI_HOST].state == DAGI_INVALID && c->copy[d->space].state != DAGI_INVALID) {
        result = save_locked(d, v, c);
        dagi_block *block = c->copy[d->space].memory;
        if (result == DAGI_OK && block)
            dagi_memory_dirty(d->memory, block, 0);
    }
    *when = c->copy[DAGI_HOST].written;
    dagi_unlock(&c->lock);
    return result;
}

dagi_result dagi_transfer_clone(dagi_device *d, dagi_lane *lane, dag_value *v, dagi_block *to)
{
    dagi_copies *c = dagi_copies_of(v, d->all->count + 1, 0);
    if (!c)
        return DAGI_NOMEM;
    lock_settled(c, d->space, lane);
    int source = dagi_transfer_source(d->all, c, d->space, d);
    dagi_result result = is_beyond(d, c) ? DAGI_REFUSED : DAGI_OK;
    if (source >= 0 && source_is_lost(d, source)) {
        fail_lost(v, dagi_device_at(d->all, source));
    } else if (source >= 0) {
        result = use(c, source, lane, dagi_lane_next(lane));
        if (result == DAGI_OK)
            result = wait_all(lane, &c->copy[source], 0);
        if (result == DAGI_OK) {
            dagi_lane_move(lane, source, d->space, dagi_value_bytes(v));
            result = copy_to_device(d, lane, v, c, source, to->at);
            dagi_record_move(d, lane, c->copy[source].cause, result);
        }
    }
    dagi_unlock(&c->lock);
    return result;
}

dagi_result dagi_transfer_attach(dagi_device *d, dagi_lane *lane, dag_value *v, int update)
{
    dagi_copies *c = dagi_copies_get(v);
    lock_settled(c, d->space, lane);
    dagi_result result = wait_all(lane, &c->copy[d->space], update);
    if (result == DAGI_OK && !update)
        result = use(c, d->space, lane, dagi_lane_next(lane));
    dagi_unlock(&c->lock);
    return result;
}

int dagi_transfer_discard(dagi_device *d, dag_value *v, dagi_ticket torn)
{
    dagi_copies *c = dagi_copies_get(v);
    int source, elsewhere = 0;
    dagi_lock(&c->lock);
    dagi_copy *own = &c->copy[d->space];
    for (int i = 0; i < c->nspaces; i++)
        elsewhere |= i != d->space && c->copy[i].state != DAGI_INVALID && !source_is_lost(d, i);
    if (elsewhere || own->state == DAGI_INVALID) {
        own->written = torn;
        dagi_copies_apply(c, d->space, DAGI_COPY_EVICT, 0, &source);
    }
    int done = own->state == DAGI_INVALID;
    dagi_unlock(&c->lock);
    dagi_copies_return_stale(d->all, c);
    return done;
}

/* ---- eviction ------------------------------------------------------------------------------- */

int dagi_transfer_evict(dagi_device *d, dagi_block *block, dagi_result *result)
{
    int source, done = 0;
    dagi_copy copy;
    dagi_lock(&d->values_lock);
    dag_value *v = block->living;
    dagi_copies *c = v ? dagi_copies_get(v) : NULL;
    int mine = c && dagi_try_lock(&c->lock);
    /* The save may block, so other values are not to wait for it; this one cannot end meanwhile. */
    dagi_unlock(&d->values_lock);
    if (!mine)
        return 0; /* it dies, or somebody is at it */
    dagi_copy *own = &c->copy[d->space];
    if (own->memory == block && !c->dropped && block->pins == 0 &&
        all_settled(&c->copy[DAGI_HOST], d, NULL, 1) && all_settled(own, d, NULL, 1)) {
        *result = DAGI_OK;
        if (dagi_copies_apply(c, d->space, DAGI_COPY_EVICT, 0, &source) == DAGI_COPY_SAVE_FIRST) {
            /* What the task stores wants tickets as well. */
            *result = dagi_lane_room(&d->out) > DAG_MAX_FLOWS ? save_locked(d, v, c) : DAGI_BUSY;
            if (*result == DAGI_OK)
                dagi_copies_apply(c, d->space, DAGI_COPY_EVICT, 0, &source);
        }
        if (*result == DAGI_OK) {
            copy = *own;
            own->memory = NULL;
            own->nused = 0;
            own->written = (dagi_ticket){NULL, 0};
            done = 1;
        }
    }
    dagi_unlock(&c->lock);
    if (done) {
        dagi_ticket users[DAGI_COPY_TICKETS];
        dagi_block_living(d, block, NULL); /* the value may have ended since: nobody else looks */
        dagi_memory_release(d->memory, block, users, dagi_copy_users(&copy, users));
        dagi_count(&d->counts.evictions, 1);
    }
    return done;
}

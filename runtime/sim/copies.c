/*
 * What lies in the memories of devices. Which copies of a value are valid is kept by data/copies.h, as in a real run;
 * here is when their content is there. A transfer takes its links for as long as its bytes take on them, each
 * way by itself, behind those that were asked for before. What was used least recently is given up first.
 */
#include "sim_impl.h"

#include <math.h>
#include <stdlib.h>

/* ---- links ---------------------------------------------------------------------------------- */

/* To a device, or back, beside nothing else and without latency. */
static dagi_sim_time crossing(const struct dagi_sim *s, int back, int64_t bytes)
{
    const dagi_sim_machine *m = &s->machine;
    return llround(1e12 * (double)bytes / (back ? m->devices.back : m->devices.link.bandwidth));
}

/* Bytes go to a device, or from it, as soon as the link is free and `from` has come: when they are there. */
static dagi_sim_time cross(struct dagi_sim *s, const dagi_sim_device *d, int back, int64_t bytes,
                           dagi_sim_time from)
{
    dagi_sim_time *taken = &s->devices.link[2 * d->link + back];
    s->devices.bytes += bytes;
    *taken = dagi_sim_later(from, *taken) + crossing(s, back, bytes);
    return *taken + s->machine.devices.link.latency;
}

/* ---- memory --------------------------------------------------------------------------------- */

static void unlink_copy(dagi_sim_copy *y)
{
    dagi_sim_device *d = y->device;
    *(y->older ? &y->older->newer : &d->oldest) = y->newer;
    *(y->newer ? &y->newer->older : &d->newest) = y->older;
}

static void link_newest(dagi_sim_copy *y)
{
    dagi_sim_device *d = y->device;
    y->older = d->newest;
    y->newer = NULL;
    *(d->newest ? &d->newest->newer : &d->oldest) = y;
    d->newest = y;
}

static void free_copy(dagi_sim_copy *y)
{
    unlink_copy(y);
    y->device->bytes -= y->bytes;
    free(y);
}

/* Memory of copies that are not valid any more. */
static void free_stale(dagi_copies *c)
{
    dagi_copy gone;
    int space;
    while (dagi_copies_stale(c, &gone, &space))
        free_copy(gone.memory);
}

/* Room for so many bytes, when the returned time has come; -1 = what is left is in use. */
static dagi_sim_time make_room(struct dagi_sim *s, dagi_sim_device *d, int64_t bytes)
{
    dagi_sim_time when = s->now;
    dagi_sim_copy *y = d->oldest;
    while ((double)(d->bytes + bytes) > s->machine.devices.memory) {
        while (y && y->users > 0)
            y = y->newer;
        if (!y)
            return -1;
        dagi_sim_copy *next = y->newer;
        dagi_copies *c = dagi_sim_copies(y->value);
        int source;
        if (dagi_copies_apply(c, d->space, DAGI_COPY_EVICT, -1, &source) == DAGI_COPY_SAVE_FIRST) {
            when = dagi_sim_later(when, dagi_sim_save(s, y->value));
            (void)dagi_copies_apply(c, d->space, DAGI_COPY_EVICT, -1, &source);
        }
        free_stale(c);
        y = next;
    }
    return when;
}

/* ---- values --------------------------------------------------------------------------------- */

static dagi_sim_time there(const dagi_copies *c, int space)
{
    const dagi_sim_copy *y = c->copy[space].memory;
    return space == DAGI_HOST ? (dagi_sim_time)c->copy[DAGI_HOST].written.count : y->there;
}

static const dagi_sim_device *device_at(const dagi_copies *c, int space)
{
    return ((const dagi_sim_copy *)c->copy[space].memory)->device;
}

dagi_sim_time dagi_sim_save(struct dagi_sim *s, dag_value *v)
{
    dagi_copies *c = dagi_sim_copies(v);
    int source = DAGI_HOST;
    if (dagi_copies_apply(c, DAGI_HOST, DAGI_COPY_SAVE, -1, &source) == DAGI_COPY_MOVE)
        c->copy[DAGI_HOST].written.count =
            (uint64_t)cross(s, device_at(c, source), 1, dagi_sim_value_bytes(v),
                            dagi_sim_later(s->now, there(c, source)));
    return dagi_sim_later(s->now, there(c, DAGI_HOST));
}

static dagi_sim_copy *new_copy(struct dagi_sim *s, dagi_sim_device *d, dag_value *v, dagi_sim_time *when)
{
    int64_t bytes = dagi_sim_value_bytes(v);
    dagi_sim_time room = make_room(s, d, bytes);
    dagi_sim_copy *y = room >= 0 ? calloc(1, sizeof *y) : NULL;
    if (!y) {
        if (room >= 0)
            dagi_sim_short(s);
        return NULL;
    }
    *y = (dagi_sim_copy){.value = v, .device = d, .bytes = bytes, .there = room};
    *when = dagi_sim_later(*when, room);
    d->bytes += bytes;
    link_newest(y);
    return y;
}

dagi_sim_copy *dagi_sim_fill(struct dagi_sim *s, dagi_sim_device *d, dag_value *v, int content,
                             dagi_sim_time *when)
{
    dagi_copies *c = dagi_copies_of(v, 1 + s->devices.crew[d->rank].count, !content);
    if (!c) {
        dagi_sim_short(s);
        return NULL;
    }
    dagi_copy *own = &c->copy[d->space];
    dagi_sim_copy *y = own->memory;
    if (y) {
        unlink_copy(y);
        link_newest(y);
    } else if (!(y = new_copy(s, d, v, when))) {
        return NULL;
    }
    int source = DAGI_HOST;
    if (content && dagi_copies_apply(c, d->space, DAGI_COPY_FILL, -1, &source) == DAGI_COPY_MOVE) {
        dagi_sim_time from = dagi_sim_later(y->there, there(c, source));
        if (source != DAGI_HOST) /* from one to the other: both links are busy */
            from = cross(s, device_at(c, source), 1, y->bytes, from) - crossing(s, 0, y->bytes);
        y->there = cross(s, d, 0, y->bytes, dagi_sim_later(s->now, from));
    }
    own->memory = y;
    y->users++;
    *when = dagi_sim_later(*when, y->there);
    return y;
}

void dagi_sim_written(struct dagi_sim *s, dag_value *v, int space)
{
    dagi_copies *c = dagi_sim_copies(v);
    int source;
    if (!c)
        return;
    (void)dagi_copies_apply(c, space, DAGI_COPY_WRITE, -1, &source);
    if (space == DAGI_HOST)
        c->copy[DAGI_HOST].written.count = (uint64_t)s->now;
    free_stale(c);
}

void dagi_sim_copies_forget(struct dagi_sim *s, dag_value *v)
{
    dagi_value *own = (dagi_value *)(void *)v;
    uint32_t flags = atomic_load_explicit(&own->flags, memory_order_relaxed);
    dagi_copies *c = dagi_sim_copies(v);
    int source;
    for (int i = 1; i < c->nspaces && flags & DAGI_VALUE_STORED; i++)
        if (c->copy[i].state != DAGI_INVALID) { /* a result: it goes home */
            dagi_sim_crew *crew = &s->devices.crew[device_at(c, i)->rank];
            crew->home = dagi_sim_later(crew->home, dagi_sim_save(s, v));
            break;
        }
    (void)dagi_copies_apply(c, DAGI_HOST, DAGI_COPY_DROP, -1, &source);
    free_stale(c);
    atomic_store_explicit(&own->copies, NULL, memory_order_relaxed);
    free(c);
}

double dagi_sim_moving(const struct dagi_sim *s, struct dag_task *t, int space)
{
    dag_value **flow = dag_task_flows(t);
    double seconds = 0;
    for (int f = 0; f < t->cls->ndata; f++) {
        if (!flow[f] || t->cls->flows[f].access == DAG_WRITE)
            continue;
        const dagi_copies *c = dagi_sim_copies(flow[f]);
        int source = DAGI_HOST;
        if (c && c->copy[space].state != DAGI_INVALID)
            source = space;
        for (int i = 1; c && source == DAGI_HOST && c->copy[DAGI_HOST].state == DAGI_INVALID && i < c->nspaces;
             i++)
            source = c->copy[i].state != DAGI_INVALID ? i : source;
        seconds += dagi_choice_move(s->devices.choice, source, space,
                                    (uint64_t)dagi_sim_value_bytes(flow[f]));
    }
    return seconds;
}

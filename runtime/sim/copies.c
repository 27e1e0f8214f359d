/*
 * What lies in the memories of devices. Which copies of a value are valid is kept by data/copies.h, as in a real run,
 * and so is when their content is there: when a ticket has passed. A transfer takes its links for as long as its bytes
 * take on them, each way by itself. What was used least recently is given up first.
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

/* Bytes go to a device, or from it, as soon as the link is free: when that is over. */
static dagi_sim_time take_link(struct dagi_sim *s, const dagi_sim_device *d, int back, int64_t bytes,
                               dagi_sim_time from)
{
    dagi_sim_time *taken = &s->devices.link[2 * d->link + back];
    s->devices.bytes += bytes;
    *taken = dagi_sim_later(from, *taken) + crossing(s, back, bytes);
    return *taken;
}

dagi_sim_time dagi_sim_cross(struct dagi_sim *s, const dagi_sim_device *d, int back, const dagi_sim_op *op)
{
    int64_t bytes = op->copy->bytes;
    dagi_sim_time from = s->now;
    if (op->from) /* from one device to the other: both links are busy */
        from = take_link(s, op->from->device, 1, bytes, from) - crossing(s, 0, bytes);
    return take_link(s, d, back, bytes, dagi_sim_later(s->now, from)) + s->machine.devices.link.latency;
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
    y->device->bytes -= y->bytes;
    free(y);
}

void dagi_sim_let_go(dagi_sim_copy *y)
{
    if (--y->users == 0 && y->gone)
        free_copy(y);
}

/* Memory of copies that are not valid any more. */
static void free_stale(dagi_copies *c)
{
    dagi_copy gone;
    int space;
    while (dagi_copies_stale(c, &gone, &space)) {
        dagi_sim_copy *y = gone.memory;
        unlink_copy(y);
        y->gone = 1;
        if (y->users == 0)
            free_copy(y);
    }
}

/* Is there room for so many bytes? What is in the way goes; what only this device has goes to the host first. */
static int make_room(struct dagi_sim *s, dagi_sim_device *d, int64_t bytes)
{
    double needed = (double)(d->bytes + bytes) - s->machine.devices.memory, coming = 0;
    for (dagi_sim_copy *y = d->oldest, *next; y && needed > coming; y = next) {
        dagi_copies *c = dagi_sim_copies(y->value);
        int source;
        next = y->newer;
        if (y->users == 0 &&
            dagi_copies_apply(c, d->space, DAGI_COPY_EVICT, -1, &source) == DAGI_COPY_SAVE_FIRST)
            (void)dagi_sim_save(s, y->value);
        else if (y->users == 0)
            needed -= (double)y->bytes;
        if (y->users > 0 && !dagi_ticket_passed(c->copy[DAGI_HOST].written))
            coming += (double)y->bytes;
        free_stale(c);
    }
    return needed <= 0;
}

/* ---- values --------------------------------------------------------------------------------- */

static dagi_sim_copy *copy_at(const dagi_copies *c, int space)
{
    return space == DAGI_HOST ? NULL : c->copy[space].memory;
}

dagi_ticket dagi_sim_save(struct dagi_sim *s, dag_value *v)
{
    dagi_copies *c = dagi_sim_copies(v);
    int source = DAGI_HOST;
    if (dagi_copies_apply(c, DAGI_HOST, DAGI_COPY_SAVE, -1, &source) == DAGI_COPY_MOVE) {
        dagi_sim_copy *y = copy_at(c, source);
        c->copy[DAGI_HOST].written = dagi_sim_enter(
            s, y->device, DAGI_SIM_OUT, (dagi_sim_op){.copy = y, .behind = c->copy[source].written});
    }
    return c->copy[DAGI_HOST].written;
}

static dagi_sim_copy *new_copy(struct dagi_sim *s, dagi_sim_device *d, dag_value *v)
{
    int64_t bytes = dagi_sim_value_bytes(v);
    int room = make_room(s, d, bytes);
    dagi_sim_copy *y = room ? calloc(1, sizeof *y) : NULL;
    if (!y) {
        if (room)
            dagi_sim_short(s);
        return NULL;
    }
    *y = (dagi_sim_copy){.value = v, .device = d, .bytes = bytes};
    d->bytes += bytes;
    link_newest(y);
    return y;
}

dagi_sim_copy *dagi_sim_fill(struct dagi_sim *s, dagi_sim_device *d, dag_value *v, int content)
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
    } else if (!(y = new_copy(s, d, v))) {
        return NULL;
    } else {
        own->written = (dagi_ticket){NULL, 0};
    }
    int source = DAGI_HOST;
    if (content && dagi_copies_apply(c, d->space, DAGI_COPY_FILL, -1, &source) == DAGI_COPY_MOVE)
        own->written = dagi_sim_enter(s, d, DAGI_SIM_IN, (dagi_sim_op){.copy = y, .from = copy_at(c, source),
                                                                      .behind = c->copy[source].written});
    own->memory = y;
    return y;
}

void dagi_sim_written(dag_value *v, int space, dagi_ticket when, dagi_sim_time due)
{
    dagi_copies *c = dagi_sim_copies(v);
    int source;
    if (!c)
        return;
    (void)dagi_copies_apply(c, space, DAGI_COPY_WRITE, -1, &source);
    c->copy[space].written = when;
    c->due = (uint64_t)due;
    free_stale(c);
}

void dagi_sim_copies_forget(dag_value *v)
{
    dagi_value *own = (dagi_value *)(void *)v;
    dagi_copies *c = dagi_sim_copies(v);
    int source;
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

dagi_sim_time dagi_sim_coming(const struct dagi_sim *s, struct dag_task *t)
{
    dag_value **flow = dag_task_flows(t);
    dagi_sim_time most = 0;
    for (int f = 0; f < t->cls->ndata; f++) {
        const dagi_copies *c = flow[f] && t->cls->flows[f].access != DAG_WRITE ? dagi_sim_copies(flow[f]) : NULL;
        if (c)
            most = dagi_sim_later(most, (dagi_sim_time)dagi_copies_due(c, (uint64_t)s->now));
    }
    return most;
}

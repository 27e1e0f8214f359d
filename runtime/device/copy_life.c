/*
 * Copies where nothing is transferred: the blocks that hold them, what is written, the end of a value.
 *
 * A block names the value whose copy it holds. The value may die on any thread while the manager
 * looks at the block; so `living` is read, and the record that it leads to locked, with values_lock
 * held, under which whoever ends a value or takes its copy away clears `living` first. While the record
 * is locked the value lasts, so a copy that blocks, as one of pageable memory does, needs that lock alone.
 */
#include "device_impl.h"

#include <stdlib.h>

void dagi_block_living(dagi_device *d, dagi_block *b, dag_value *v)
{
    dagi_lock(&d->values_lock);
    b->living = v;
    dagi_unlock(&d->values_lock);
}

int dagi_copy_users(const dagi_copy *copy, dagi_ticket *users)
{
    int n = 0;
    for (int i = 0; i < copy->nused; i++) {
        if (!dagi_ticket_passed(copy->used[i]))
            users[n++] = copy->used[i];
    }
    /* What uses a copy runs behind its content's coming, so it matters where nobody does. */
    if (n < DAGI_COPY_TICKETS && !dagi_ticket_passed(copy->written))
        users[n++] = copy->written;
    return n;
}

/* The copy is off its value's record: its memory goes back to its device. */
static void copy_return(dagi_device *d, const dagi_copy *copy)
{
    dagi_ticket users[DAGI_COPY_TICKETS];
    int n = dagi_copy_users(copy, users);
    dagi_block_living(d, copy->memory, NULL);
    dagi_memory_return(d->memory, copy->memory, users, n);
}

void dagi_copies_return_stale(const struct dagi_devices *all, dagi_copies *c)
{
    for (;;) {
        dagi_copy copy;
        int space;
        dagi_lock(&c->lock);
        int found = dagi_copies_stale(c, &copy, &space);
        dagi_unlock(&c->lock);
        if (!found)
            return;
        copy_return(dagi_device_at(all, space), &copy);
    }
}

void dagi_copies_written(const struct dagi_devices *all, dag_value *v, int space,
                         dagi_ticket written, uint64_t due)
{
    int source;
    dagi_copies *c = dagi_copies_get(v);
    dagi_lock(&c->lock);
    dagi_copies_apply(c, space, DAGI_COPY_WRITE, 0, &source);
    c->copy[space].written = written;
    c->copy[space].nused = 0;
    c->copy[space].cause = 0;
    c->due = due;
    dagi_unlock(&c->lock);
    dagi_copies_return_stale(all, c);
}

int dagi_copies_overwrite(const struct dagi_devices *all, dag_value *v)
{
    int source;
    dagi_copies *c = dagi_copies_get(v);
    dagi_lock(&c->lock);
    int quiet = !dagi_copies_host_busy(c).queue;
    if (quiet) {
        dagi_copies_apply(c, DAGI_HOST, DAGI_COPY_WRITE, 0, &source);
        c->copy[DAGI_HOST].written = (dagi_ticket){NULL, 0};
        c->copy[DAGI_HOST].nused = 0;
        c->copy[DAGI_HOST].cause = 0;
        c->due = 0;
    }
    dagi_unlock(&c->lock);
    if (quiet)
        dagi_copies_return_stale(all, c);
    return quiet;
}

/* ---- the end of a value --------------------------------------------------------------------- */

dagi_ticket dagi_copies_host_busy(const dagi_copies *c)
{
    const dagi_copy *host = &c->copy[DAGI_HOST];
    if (!dagi_ticket_passed(host->written))
        return host->written;
    for (int i = 0; i < host->nused; i++) {
        if (!dagi_ticket_passed(host->used[i]))
            return host->used[i];
    }
    return (dagi_ticket){NULL, 0};
}

/* Both locks. Who saves the value may keep its record for as long as a copy takes: that is waited for
 * without the device's lock. */
static void lock_both(dagi_device *d, dagi_copies *c)
{
    dagi_lock(&d->values_lock);
    while (!dagi_try_lock(&c->lock)) {
        dagi_unlock(&d->values_lock);
        dagi_lock(&c->lock);
        dagi_unlock(&c->lock);
        dagi_lock(&d->values_lock);
    }
}

dagi_ticket dagi_copies_drop(const struct dagi_devices *all, dag_value *v)
{
    dagi_copies *c = dagi_copies_get(v);
    int source;
    /* First of all, so that no eviction begins to save it behind the look. A block that an eviction
     * has taken may lead to another value by now, so both locks are needed. */
    for (int space = 1; space < c->nspaces; space++) {
        dagi_device *d = dagi_device_at(all, space);
        lock_both(d, c);
        dagi_block *b = c->copy[space].memory;
        if (b)
            b->living = NULL;
        dagi_unlock(&c->lock);
        dagi_unlock(&d->values_lock);
    }
    dagi_lock(&c->lock);
    dagi_ticket busy = dagi_copies_host_busy(c);
    if (!busy.queue)
        dagi_copies_apply(c, DAGI_HOST, DAGI_COPY_DROP, 0, &source);
    dagi_unlock(&c->lock);
    if (busy.queue)
        return busy;
    /* From here on nobody else knows of the record. */
    dagi_copies_return_stale(all, c);
    atomic_store_explicit(&dagi_value_of(v)->copies, NULL, memory_order_relaxed);
    free(c);
    return busy;
}

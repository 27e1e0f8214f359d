/*
 * Credit between two ranks, as net/mpi/am.c keeps it, and the way of a message over the wires. A message
 * that has no credit waits, by priority; what comes later to the same rank waits behind it.
 */
#include "sim_impl.h"

#include <math.h>
#include <stdlib.h>

/* ---- pairs ---------------------------------------------------------------------------------- */

static size_t place_of(const struct dagi_sim *s, int from, int to)
{
    uint64_t x = ((uint64_t)(uint32_t)from << 32 | (uint32_t)to) * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = (size_t)(x >> 20) & (s->pairs.capacity - 1);
    while (s->pairs.table[i].from >= 0 && (s->pairs.table[i].from != from || s->pairs.table[i].to != to))
        i = (i + 1) & (s->pairs.capacity - 1);
    return i;
}

static int grow(struct dagi_sim *s)
{
    dagi_sim_pair *old = s->pairs.table;
    size_t count = s->pairs.capacity, capacity = count ? 2 * count : 1024;
    dagi_sim_pair *pairs = malloc(capacity * sizeof *pairs);
    if (!pairs)
        return 1;
    for (size_t i = 0; i < capacity; i++)
        pairs[i] = (dagi_sim_pair){.from = -1};
    s->pairs.table = pairs;
    s->pairs.capacity = capacity;
    for (size_t i = 0; i < count; i++)
        if (old[i].from >= 0)
            pairs[place_of(s, old[i].from, old[i].to)] = old[i];
    free(old);
    return 0;
}

/* A pair that is in the table, most likely where it was when its place was written down. */
static dagi_sim_pair *pair_at(const struct dagi_sim *s, uint32_t place, int from, int to)
{
    if (place < s->pairs.capacity && s->pairs.table[place].from == from && s->pairs.table[place].to == to)
        return &s->pairs.table[place];
    return &s->pairs.table[place_of(s, from, to)];
}

/* NULL = no memory. Good until the next call. */
static dagi_sim_pair *pair_of(struct dagi_sim *s, int from, int to)
{
    if (4 * s->pairs.count >= 3 * s->pairs.capacity && grow(s) != 0) {
        dagi_sim_short(s);
        return NULL;
    }
    dagi_sim_pair *p = &s->pairs.table[place_of(s, from, to)];
    if (p->from < 0) {
        *p = (dagi_sim_pair){.from = from, .to = to, .avail = s->most.window};
        s->pairs.count++;
    }
    return p;
}

/* ---- messages ------------------------------------------------------------------------------- */

/* Small flows go with the first of two messages. */
static int64_t inside(const dagi_sim_message *m)
{
    return dagi_sim_half(m->cast, m->first) == DAGI_TREE_SECOND ? 0 : m->cast->inline_bytes;
}

static int64_t bytes_of(const dagi_sim_message *m)
{
    const dagi_sim_cast *c = m->cast;
    int list = c->shape == DAG_BCAST_SCATTER ? c->count : m->count - 1;
    return (int64_t)dagi_wire_activate_bytes(c->cls->nparams, list, c->ncargo) + inside(m);
}

/* As charge_of() and bulk_charge() of net/mpi/am.c. */
static int32_t charge_of(const struct dagi_sim *s, const dagi_sim_message *m)
{
    const dagi_sim_cast *c = m->cast;
    int64_t weight = 0, most = s->most.window / 2;
    int scatter = c->shape == DAG_BCAST_SCATTER;
    for (int i = 0; i < c->ncargo; i++)
        if (c->cargo[i].how == DAGI_HOW_BULK)
            weight += dagi_bulk_weight((size_t)c->cargo[i].bytes, scatter ? c->count : c->cargo[i].segments,
                                       scatter ? 1 : dagi_sim_share(c, m->first, i).count);
    int64_t bulk = weight / 16, scale = s->most.window / (4096 * (DAGI_BULK_LEAST / 16));
    if (scale > 1)
        bulk = bulk < most / scale ? bulk * scale : most;
    bulk = bulk < most ? bulk : most;
    int64_t charge = bytes_of(m) + DAGI_AM_CHARGE + bulk;
    return (int32_t)(charge < most ? charge : most);
}

static void leave(struct dagi_sim *s, dagi_sim_message *m)
{
    const dagi_sim_cast *c = m->cast;
    int to = c->ranks[m->first];
    s->sums.sent++;
    dagi_sim_count(s, m->source, to, inside(m));
    dagi_pool_sent(c->of->pool, 1, inside(m));
    dagi_sim_time at = s->now + s->spent;
    dagi_sim_fly(s, c->of, m->source, to, 1);
    const dagi_sim_event event = {.what = m, .rank = (uint32_t)to & 0x3ffffff, .kind = DAGI_SIM_MESSAGE};
    dagi_sim_carry(s, m->source, to, (double)bytes_of(m), at, &event);
}

void dagi_sim_message_send(struct dagi_sim *s, dagi_sim_message *m)
{
    dagi_sim_pair *p = pair_of(s, m->source, m->cast->ranks[m->first]);
    m->charge = charge_of(s, m);
    if (!p)
        return;
    m->pair = (uint32_t)(p - s->pairs.table);
    if (!p->waiting && m->charge <= p->avail) {
        p->avail -= m->charge;
        leave(s, m);
        return;
    }
    dagi_sim_message **link = &p->waiting;
    while (*link && (*link)->cast->priority >= m->cast->priority)
        link = &(*link)->next;
    m->next = *link;
    *link = m;
}

void dagi_sim_message_done(struct dagi_sim *s, const dagi_sim_message *m)
{
    dagi_sim_pair *p = pair_at(s, m->pair, m->source, m->cast->ranks[m->first]);
    p->owed += m->charge;
    if (p->owed < s->most.window / 2)
        return;
    dagi_sim_time back = dagi_sim_latency(&s->wires, p->to, p->from);
    dagi_sim_post(s, s->now + s->spent + back, DAGI_SIM_CREDIT, p->from,
                  (void *)((uintptr_t)(p - s->pairs.table) << 32 | (uint32_t)p->to), (uint32_t)p->owed);
    p->owed = 0;
}

void dagi_sim_credit(struct dagi_sim *s, int from, uint64_t pair, int32_t bytes)
{
    dagi_sim_pair *p = pair_at(s, (uint32_t)(pair >> 32), from, (int)(uint32_t)pair);
    p->avail += bytes;
    s->spent = 0;
    while (p->waiting && p->waiting->charge <= p->avail) {
        dagi_sim_message *m = p->waiting;
        p->waiting = m->next;
        p->avail -= m->charge;
        leave(s, m);
    }
}

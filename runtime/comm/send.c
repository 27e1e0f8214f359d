/*
 * Messages out. A send is launched once: it is settled how each flow travels and in what shape, and
 * each child gets its message, now if there is credit (and a place among the bulk transfers), else
 * from the child's heap, by priority. Messages towards one rank are not overtaken from outside:
 * what comes later goes through the heap, too, as long as it is not empty.
 */
#include "remote.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- life of a send ---------------------------------------------------------------------- */

dagi_send *dagi_send_new(dagi_comm *c, int ncargo, int nparams, int ndest)
{
    dagi_send *s = dagi_comm_alloc(sizeof *s + (size_t)ncargo * sizeof(dagi_cargo) +
                                   dagi_wire_words(nparams, ndest));
    memset(s, 0, sizeof *s);
    s->item.kind = DAGI_ITEM_SEND;
    s->comm = c;
    s->cargo = (dagi_cargo *)(s + 1);
    s->params = (int32_t *)(s->cargo + ncargo);
    s->to.dests = s->params + nparams;
    s->to.count = (uint16_t *)(s->to.dests + ndest);
    s->ncargo = (uint8_t)ncargo;
    s->nparams = (uint8_t)nparams;
    s->to.ndest = ndest;
    return s;
}

static int is_home(const dag_value *v)
{
    return (atomic_load_explicit(&((const dagi_value *)v)->flags, memory_order_relaxed) &
            DAGI_VALUE_HOME) != 0;
}

static void update_congested(dagi_comm *c)
{
    int congested = c->out.queued > DAGI_QUEUED_BYTES || c->out.queued_bulk > DAGI_QUEUED_BULK_BYTES;
    if (congested != atomic_load_explicit(&c->congested, memory_order_relaxed))
        atomic_store_explicit(&c->congested, congested, memory_order_relaxed);
}

/* What a send takes here while it waits: itself with small values, and large ones. */
static int64_t bytes_of(const dagi_send *s, int64_t *bulk)
{
    int64_t small = (int64_t)sizeof *s + (int64_t)sizeof(dagi_waiting) + s->nparams * 4 +
                    (int64_t)s->to.ndest * 6;
    *bulk = 0;
    for (int i = 0; i < s->ncargo; i++) {
        const dagi_cargo *cargo = &s->cargo[i];
        if (!cargo->value || is_home(cargo->value))
            continue;
        dagi_view v = dagi_cargo_view(s, i);
        int64_t bytes = v.m * v.n * (int64_t)v.elem;
        if (bytes > DAGI_QUEUED_LARGE)
            *bulk += bytes;
        else
            small += bytes + (int64_t)sizeof(dagi_value);
    }
    return small;
}

int64_t dagi_send_bytes(const dagi_send *s)
{
    int64_t bulk, small = bytes_of(s, &bulk);
    return small + bulk;
}

/* A send that could not leave at once counts towards congestion until it is gone. Relays do not:
 * holding back tasks here would not hold them back. */
static void account(dagi_comm *c, dagi_send *s)
{
    if (s->queued || s->arrival)
        return;
    s->queued = bytes_of(s, &s->queued_bulk);
    c->out.queued += s->queued;
    c->out.queued_bulk += s->queued_bulk;
    update_congested(c);
}

void dagi_send_finish(dagi_comm *c, dagi_send *s)
{
    assert(s->shares > 0);
    if (--s->shares > 0)
        return;
    if (s->queued) {
        c->out.queued -= s->queued;
        c->out.queued_bulk -= s->queued_bulk;
        update_congested(c);
    }
    for (int i = 0; i < s->ncargo; i++) {
        dagi_value_release(c->w, s->cargo[i].value);
        if (s->cargo[i].departure)
            dagi_departure_drop(s->cargo[i].departure);
    }
    dag_taskpool *pool = s->pool;
    if (s->to.pair)
        free(s->to.dests);
    free(s->arrival);
    free(s);
    if (pool)
        dagi_agree_drop(c, pool);
}

/* ---- how it travels ---------------------------------------------------------------------- */

/* Small flows travel inside the message as long as there is room. Returns the bytes of the rest. */
static size_t settle_how(dagi_comm *c, dagi_send *s)
{
    int64_t room = c->inline_max;
    size_t bulk = 0;
    for (int i = 0; i < s->ncargo; i++) {
        dagi_cargo *cargo = &s->cargo[i];
        cargo->segments = 0;
        cargo->how = DAGI_HOW_ABSENT;
        if (!cargo->value)
            continue;
        dagi_view v = dagi_cargo_view(s, i);
        int64_t bytes = (int64_t)dagi_view_bytes(&v);
        int outside = cargo->departure || dagi_comm_chaos(c, 3);
        cargo->how = (uint8_t)dagi_wire_how(bytes, outside ? 0 : room);
        if (cargo->how == DAGI_HOW_INLINE) {
            room -= bytes;
            s->staged += cargo->staged ? bytes : 0;
            continue;
        }
        cargo->segments = 1;
        s->bulk = 1;
        bulk += (size_t)bytes;
    }
    return bulk;
}

/* ---- one message -------------------------------------------------------------------------- */

/* Along which tree goes the message for dests[first]? */
static enum dagi_tree_half half_of(const dagi_send *s, int32_t first)
{
    if (!s->to.pair)
        return (enum dagi_tree_half)s->to.half;
    return first < s->to.ndest ? DAGI_TREE_FIRST : DAGI_TREE_SECOND;
}

/* Small flows go with the first of two messages. */
static int is_inside(const dagi_cargo *cargo, enum dagi_tree_half half)
{
    return cargo->how == DAGI_HOW_INLINE && half != DAGI_TREE_SECOND;
}

/* Transfers that the root starts with one message, or tags that a relay needs; what they weigh. */
static int transfers_of(const dagi_send *s, enum dagi_tree_half half, int64_t *weight)
{
    int count = 0;
    *weight = 0;
    for (int i = 0; i < s->ncargo; i++) {
        if (s->cargo[i].how != DAGI_HOW_BULK)
            continue;
        int scatter = s->shape == DAG_BCAST_SCATTER, all = scatter ? s->to.ndest : s->cargo[i].segments;
        int n = scatter ? 1 : dagi_tree_share_of(half, all).count;
        dagi_view v = dagi_cargo_view(s, i);
        *weight += dagi_bulk_weight(dagi_view_bytes(&v), all, n);
        count += n;
    }
    return count;
}

static size_t inline_bytes(const dagi_send *s, enum dagi_tree_half half)
{
    size_t bytes = 0;
    for (int i = 0; i < s->ncargo; i++) {
        if (is_inside(&s->cargo[i], half)) {
            dagi_view v = dagi_cargo_view(s, i);
            bytes += dagi_wire_align(dagi_view_bytes(&v));
        }
    }
    return bytes;
}

static void write_cargo(const dagi_send *s, enum dagi_tree_half half, char *out)
{
    dagi_wire_cargo *wire = (dagi_wire_cargo *)(void *)out;
    char *payload = (char *)(wire + s->ncargo);
    for (int i = 0; i < s->ncargo; i++, wire++) {
        const dagi_cargo *cargo = &s->cargo[i];
        memset(wire, 0, sizeof *wire);
        wire->flow = cargo->flow;
        wire->region = cargo->region;
        if (cargo->how != DAGI_HOW_BULK && !is_inside(cargo, half))
            continue; /* absent */
        wire->how = cargo->how;
        wire->segments = cargo->segments;
        dagi_view v = dagi_cargo_view(s, i);
        wire->m = v.m;
        wire->n = v.n;
        wire->elem = v.elem;
        if (cargo->how == DAGI_HOW_INLINE) {
            dagi_view_pack(&v, payload);
            payload += dagi_wire_align(dagi_view_bytes(&v));
        }
    }
}

static void write_activate(const dagi_send *s, int32_t first, int32_t count, uint32_t tag,
                           char *out)
{
    int scatter = s->shape == DAG_BCAST_SCATTER;
    int32_t nlist = scatter ? s->to.ndest : count - 1;
    dagi_wire_activate *head = (dagi_wire_activate *)(void *)out;
    *head = (dagi_wire_activate){
        .kind = DAGI_WIRE_ACTIVATE,
        .shape = s->shape,
        .nparams = s->nparams,
        .ncargo = s->ncargo,
        .class_id = s->class_id,
        .nlist = (uint16_t)nlist,
        .pool = s->pool_id,
        .hash = s->hash,
        .mask = s->mask,
        .data = s->data,
        .tag = tag,
        .poison = s->poison,
        .half = (uint8_t)half_of(s, first),
        .dynamic = s->dynamic,
        .priority = s->priority,
        .index = scatter ? first : 0,
        .root = s->number.root,
        .serial = s->number.serial,
        .path = s->origin.path,
        .from = s->origin.from,
    };
    int32_t *words = (int32_t *)(head + 1), *list = words + s->nparams, from = scatter ? 0 : first + 1;
    memcpy(words, s->params, s->nparams * sizeof *words);
    memcpy(list, s->to.dests + from, (size_t)nlist * sizeof *list);
    memcpy(list + nlist, s->to.count + from, (size_t)nlist * sizeof *s->to.count);
    write_cargo(s, half_of(s, first), (char *)words + dagi_wire_words(s->nparams, nlist));
}

static dagi_pool_comm *pool_comm_of(const dagi_send *s)
{
    return dagi_pool(s->pool)->comm;
}

/* What was to leave from a device that has been lost since has nothing but its size left. Looked at
 * once, before the message says whether it is poisoned: its transfers do as that says. */
static void fail_lost(dagi_send *s)
{
    for (int i = 0; i < s->ncargo; i++) {
        dagi_cargo *cargo = &s->cargo[i];
        if (!cargo->departure || cargo->lost || !dagi_departure_lost(cargo->departure))
            continue;
        dagi_departure_fail(cargo->departure, s->pool);
        cargo->lost = s->poison = 1;
    }
}

static void on_sent(void *arg, dag_status status)
{
    dagi_send *s = arg;
    dagi_comm *c = s->comm;
    (void)status; /* errors of MPI are fatal */
    c->bulk.sent++;
    if (s->pool)
        pool_comm_of(s)->flights--;
    dagi_send_finish(c, s);
}

void dagi_send_segment(dagi_comm *c, dagi_send *s, int dest, uint32_t tag, int cargo, int count,
                       int index)
{
    dagi_view whole = dagi_cargo_view(s, cargo);
    dagi_view v = dagi_view_segment(&whole, count, index);
    if (!whole.ptr)
        v.ptr = NULL;
    s->shares++;
    c->bulk.out++;
    if (s->pool)
        pool_comm_of(s)->flights++;
    int64_t bytes = (int64_t)dagi_view_bytes(&v);
    if (s->pool)
        dagi_pool_sent(s->pool, 0, bytes);
    if (s->cargo[cargo].departure && !s->cargo[cargo].lost)
        dagi_count(&c->direct.bytes, bytes);
    else if (s->cargo[cargo].staged)
        dagi_count(&c->direct.staged, bytes);
    c->engine->ops->send(c->engine, dest, tag, &v, on_sent, s);
}

/* The producer has all segments: send those that belong to this message. */
static void send_all(dagi_comm *c, dagi_send *s, int32_t first, uint32_t tag)
{
    for (int i = 0; i < s->ncargo; i++) {
        const dagi_cargo *cargo = &s->cargo[i];
        if (cargo->how != DAGI_HOW_BULK)
            continue;
        if (s->shape == DAG_BCAST_SCATTER) {
            dagi_send_segment(c, s, s->to.dests[first], tag++, i, s->to.ndest, first);
            continue;
        }
        dagi_tree_share share = dagi_tree_share_of(half_of(s, first), cargo->segments);
        for (int k = 0; k < share.count; k++)
            dagi_send_segment(c, s, s->to.dests[first], tag++, i, cargo->segments, share.first + k);
    }
}

void dagi_send_arrived(dagi_comm *c, dagi_arrival *a, dagi_child *child)
{
    for (int k = 0; k < a->nsegments; k++) {
        const dagi_segment *g = &a->segment[k];
        if (g->here && g->index != child->skip)
            dagi_send_segment(c, a->send, a->send->to.dests[child->first], child->tag + (uint32_t)k,
                              g->cargo, a->send->cargo[g->cargo].segments, g->index);
    }
}

static void open_child(dagi_comm *c, dagi_arrival *a, int32_t first, uint32_t tag)
{
    dagi_child *child = a->child;
    while (child->first != first)
        child++;
    child->open = 1;
    child->tag = tag;
    dagi_send_arrived(c, a, child);
}

/* Is there a place among the transfers of its pool? Those of other pools do not count: they may be
 * towards a rank that will not add these pools before this one has ended. A relay has taken its
 * place among the arrivals, and must be able to pass on; the pieces of a scatter need none
 * there. */
static int has_place(const dagi_send *s, int transfers)
{
    if (!transfers || s->arrival || s->shape == DAG_BCAST_SCATTER)
        return 1;
    int64_t flights = pool_comm_of(s)->flights;
    return flights == 0 || flights + transfers <= DAGI_BULK_IN_FLIGHT;
}

/* Returns 1 when the message has left. */
static int try_message(dagi_comm *c, dagi_send *s, int32_t first, int32_t count)
{
    dagi_engine *e = c->engine;
    int dest = s->to.dests[first];
    int64_t weight = 0;
    enum dagi_tree_half half = half_of(s, first);
    int transfers = s->bulk ? transfers_of(s, half, &weight) : 0;
    if (s->pool_id > c->out.gate[dest] || !has_place(s, transfers) || dagi_comm_chaos(c, 4))
        return 0;
    uint32_t tag = transfers ? e->ops->tag_find(e, dest, transfers) : 0;
    if (tag == DAGI_NO_TAG)
        return 0;
    int32_t nlist = s->shape == DAG_BCAST_SCATTER ? s->to.ndest : count - 1;
    size_t payload = inline_bytes(s, half);
    assert((int64_t)payload <= c->inline_max + 8 * s->ncargo); /* what a message has room for */
    size_t bytes = dagi_wire_activate_bytes(s->nparams, nlist, s->ncargo) + payload;
    char *out = e->ops->am_begin(e, dest, 0, bytes, weight);
    if (!out)
        return 0;
    if (transfers)
        e->ops->tag_take(e, dest, tag, transfers);
    fail_lost(s);
    write_activate(s, first, count, tag, out);
    e->ops->am_send(e);
    if (s->pool)
        dagi_pool_sent(s->pool, 1, (int64_t)payload);
    dagi_count(&c->direct.staged, half == DAGI_TREE_SECOND ? 0 : s->staged);
    if (s->arrival && s->bulk)
        open_child(c, s->arrival, first, tag);
    else if (transfers)
        send_all(c, s, first, tag);
    dagi_send_finish(c, s);
    return 1;
}

/* ---- queues ------------------------------------------------------------------------------- */

/* Does the send belong to an open pool? Then the receiver's program may not have come to it, and chaos keeps
 * the order of the program: in another one messages may wait for each other. */
static bool of_open_pool(const dagi_send *s)
{
    return s->pool && dagi_pool(s->pool)->door;
}

void dagi_send_enqueue(dagi_comm *c, dagi_send *s, int32_t first, int32_t count)
{
    int dest = s->to.dests[first];
    if (!c->out.heap[dest]) {
        c->out.heap[dest] = dagi_comm_alloc(sizeof *c->out.heap[dest]);
        *c->out.heap[dest] = (dagi_waiting_heap){0};
    }
    if (c->out.heap[dest]->count == 0)
        c->out.blocked[c->out.nblocked++] = dest;
    dagi_waiting waiting = {
        .pool_id = s->pool_id,
        .priority = s->priority,
        .serial = c->out.next_serial++,
        .send = s,
        .first = first,
        .count = count,
    };
    if (c->ctx->settings.chaos && !of_open_pool(s))
        waiting.priority = dagi_comm_random(c, 1u << 20);
    if (dagi_waiting_heap_push(c->out.heap[dest], waiting) != 0)
        dagi_comm_short(sizeof waiting);
    account(c, s);
}

void dagi_send_message(dagi_comm *c, dagi_send *s, int32_t first, int32_t count)
{
    const dagi_waiting_heap *h = c->out.heap[s->to.dests[first]];
    s->shares++;
    if (DAGI_UNLIKELY(of_open_pool(s)) && dagi_ahead_hold(c, s, first, count))
        return;
    if ((h && h->count) || !try_message(c, s, first, count))
        dagi_send_enqueue(c, s, first, count);
}

int dagi_send_flush(dagi_comm *c)
{
    int events = 0;
    for (int32_t i = 0; i < c->out.nblocked;) {
        dagi_waiting_heap *h = c->out.heap[c->out.blocked[i]];
        while (h->count) {
            dagi_waiting top = h->entry[0];
            bool held = of_open_pool(top.send) && dagi_ahead_hold(c, top.send, top.first, top.count);
            if (!held && !try_message(c, top.send, top.first, top.count))
                break;
            (void)dagi_waiting_heap_pop(h);
            events++;
        }
        if (h->count)
            i++;
        else
            c->out.blocked[i] = c->out.blocked[--c->out.nblocked];
    }
    return events;
}

void dagi_send_free(dagi_comm *c)
{
    for (int i = 0; i < c->size; i++) {
        if (c->out.heap[i])
            dagi_waiting_heap_fini(c->out.heap[i]);
        free(c->out.heap[i]);
    }
}

/* ---- launch ------------------------------------------------------------------------------- */

void dagi_send_launch(dagi_comm *c, dagi_send *s)
{
    size_t bulk = settle_how(c, s);
    dagi_agree_hold(s->pool);
    s->number = (struct dagi_send_number){.serial = c->out.next_broadcast++, .root = c->rank};
    dagi_shape_settle(c, s, bulk);
    s->shares = 1;
    for (int32_t i = 0; i < s->to.ndest << s->to.pair; i += s->to.count[i])
        dagi_send_message(c, s, i, s->to.count[i]);
    dagi_send_finish(c, s);
}

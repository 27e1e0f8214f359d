/*
 * Messages in. A message without bulk data and without ranks to relay to is delivered as it comes.
 * Any other becomes an arrival: when there is a place among the transfers in flight, its receives
 * are posted and its children are told, in this order; so a place is only ever taken for data whose
 * source has one, and the sources of all are producers, which have the data. Segments are passed on
 * as they come in; delivery is when all are.
 */
#include "remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ------------------------------------------------------------------------------- */

static dag_value *new_value(dagi_comm *c, dag_taskpool *pool, const dagi_wire_cargo *wire)
{
    dag_shape shape = {wire->m, wire->n, (size_t)wire->elem};
    dag_value *v = dagi_value_new(c->w, pool, &shape);
    if (!v)
        dagi_pool_fail(pool, DAG_ERR_NOMEM,
                       "no memory for %lld x %lld items of %zu bytes received from another rank",
                       (long long)wire->m, (long long)wire->n, (size_t)wire->elem);
    return v;
}

/* The value of an INLINE cargo; NULL when there is no memory. Moves *payload on. */
static dag_value *unpack(dagi_comm *c, dag_taskpool *pool, const dagi_wire_cargo *wire,
                         const char **payload)
{
    dag_value *value = new_value(c, pool, wire);
    dagi_view v = {NULL, wire->m, wire->n, wire->m, (size_t)wire->elem, (dag_region)wire->region};
    size_t bytes = dagi_view_bytes(&v);
    if (value) {
        v.ptr = value->ptr;
        v.ld = value->ld;
        dagi_view_unpack(&v, *payload);
    }
    *payload += dagi_wire_align(bytes);
    return value;
}

/* ---- delivery ------------------------------------------------------------------------------ */

void dagi_recv_deliver(dagi_comm *c, dag_taskpool *pool, dagi_delivery *d)
{
    int64_t lose = c->ctx->settings.lose; /* the number of the message to drop, for tests */
    d->lost = DAGI_UNLIKELY(lose != 0) && ++c->chaos.delivered == lose;
    dagi_activate(c->w);
    struct dag_task *list = dagi_deliver(c->w, pool, d);
    if (list)
        dagi_ready(c->w, list);
}

/* The same, unless the program here has not come to who reads it. */
static void deliver_here(dagi_comm *c, int source, dag_taskpool *pool, dagi_delivery *d,
                         int64_t priority)
{
    if (DAGI_LIKELY(!dagi_pool(pool)->door) || !dagi_ahead_keep(c, pool, source, d, -priority))
        dagi_recv_deliver(c, pool, d);
}

/* Deliver at once: no data are under way, and no other rank is to get the message. */
static void deliver_now(dagi_comm *c, int source, dag_taskpool *pool, const dagi_wire_view *m)
{
    dag_value *values[DAG_MAX_FLOWS] = {NULL};
    const char *payload = m->payload;
    int poison = m->head->poison;
    dagi_observe_received(c, m->head->ncargo, m->head->root, m->head->serial);
    for (int i = 0; i < m->head->ncargo; i++) {
        if (m->cargo[i].how != DAGI_HOW_INLINE)
            continue;
        dag_value *v = unpack(c, pool, &m->cargo[i], &payload);
        values[m->cargo[i].flow] = v;
        poison |= !v;
    }
    deliver_here(c, source, pool,
                 &(dagi_delivery){.cls = dagi_pool_program(pool)->classes[m->head->class_id],
                                  .params = m->params,
                                  .mask = m->head->mask,
                                  .dynamic = m->head->dynamic,
                                  .poison = poison,
                                  .values = values,
                                  .path = m->head->path,
                                  .from = m->head->from},
                 m->head->priority);
}

/* Values of an arrival are handed over, or shared with the children. */
static void give_to_tasks(dagi_comm *c, const dagi_arrival *a)
{
    dagi_send *s = a->send;
    dag_value *values[DAG_MAX_FLOWS] = {NULL};
    dagi_observe_received(c, s->ncargo, s->number.root, s->number.serial);
    for (int i = 0; i < s->ncargo; i++) {
        dagi_cargo *cargo = &s->cargo[i];
        values[cargo->flow] = cargo->value;
        if (!a->nchildren)
            cargo->value = NULL;
        else if (cargo->value)
            dagi_value_retain(cargo->value, 1);
    }
    deliver_here(c, a->source, s->pool,
                 &(dagi_delivery){.cls = dagi_pool_program(s->pool)->classes[s->class_id],
                                  .params = s->params,
                                  .mask = s->mask,
                                  .dynamic = s->dynamic,
                                  .poison = s->poison,
                                  .values = values,
                                  .path = s->origin.path,
                                  .from = s->origin.from},
                 s->priority);
}

/* All data of an arrival are here. */
static void deliver(dagi_comm *c, dagi_arrival *a)
{
    dagi_send *s = a->send;
    /* An arrival holds its pool: one that is over here all the same was ended by force. */
    int wanted = !a->unwanted && !((const dagi_pool_comm *)dagi_pool(s->pool)->comm)->local_done;
    c->unfinished--;
    if (wanted && s->to.half) {
        if (!dagi_pair_complete(a))
            return;
        a = dagi_pair_former(c, a);
    }
    if (wanted)
        give_to_tasks(c, a);
    if (s->to.half) {
        dagi_pair_end(c, a);
        return;
    }
    if (s->shape == DAG_BCAST_SCATTER)
        dagi_scatter_leave(c, a);
    dagi_send_finish(c, s);
}

/* ---- transfers ----------------------------------------------------------------------------- */

/* Does a receive take a place? The pieces of a scatter that its ring brings come from a neighbour
 * that waits for pieces, too: were they to take places, rings could wait for each other. */
static int takes_place(const dagi_segment *g)
{
    const dagi_arrival *a = g->arrival;
    return a->send->shape != DAG_BCAST_SCATTER || g->index == a->index;
}

static void on_received(void *arg, dag_status status)
{
    dagi_segment *g = arg;
    dagi_arrival *a = g->arrival;
    dagi_send *s = a->send;
    dagi_comm *c = s->comm;
    int segments = s->cargo[g->cargo].segments;
    uint32_t number = (uint32_t)(g - a->segment);
    (void)status; /* errors of MPI are fatal */
    c->bulk.in_flight -= takes_place(g);
    c->bulk.in++;
    g->here = 1;
    for (int i = 0; i < a->nchildren; i++) {
        dagi_child *child = &a->child[i];
        if (child->open && g->index != child->skip)
            dagi_send_segment(c, s, s->to.dests[child->first], child->tag + number, g->cargo,
                              segments, g->index);
    }
    if (--a->missing == 0)
        deliver(c, a);
}

void dagi_recv_segment(dagi_comm *c, dagi_segment *g, int source, uint32_t tag)
{
    const dagi_send *s = g->arrival->send;
    dagi_view whole = dagi_cargo_view(s, g->cargo);
    dagi_view v = dagi_view_segment(&whole, s->cargo[g->cargo].segments, g->index);
    if (!whole.ptr)
        v.ptr = NULL;
    c->bulk.in_flight += takes_place(g);
    c->engine->ops->recv(c->engine, source, tag, &v, on_received, g);
}

/* ---- arrivals ------------------------------------------------------------------------------ */

/* Describe the message as a send, so that it can be passed on. */
static dagi_send *send_of(dagi_comm *c, dag_taskpool *pool, const dagi_wire_view *m)
{
    const dagi_wire_activate *head = m->head;
    dagi_send *s = dagi_send_new(c, head->ncargo, head->nparams, head->nlist);
    s->pool = pool;
    s->pool_id = head->pool;
    s->hash = head->hash;
    s->class_id = head->class_id;
    s->priority = head->priority;
    s->dynamic = head->dynamic;
    s->origin.path = head->path;
    s->origin.from = head->from;
    s->mask = head->mask;
    s->data = head->data;
    s->shape = head->shape;
    s->poison = head->poison;
    s->to.half = head->half;
    s->number.root = head->root;
    s->number.serial = head->serial;
    memcpy(s->params, m->params, head->nparams * sizeof *s->params);
    memcpy(s->to.dests, m->list, head->nlist * sizeof *s->to.dests);
    memcpy(s->to.count, m->count, head->nlist * sizeof *s->to.count);
    for (int i = 0; i < head->ncargo; i++) {
        const dagi_wire_cargo *wire = &m->cargo[i];
        s->cargo[i] = (dagi_cargo){.flow = wire->flow, .region = wire->region, .how = wire->how,
                                   .segments = wire->segments};
        s->bulk |= wire->how == DAGI_HOW_BULK;
    }
    return s;
}

/* Ranks to pass on to; child == NULL: their number only. */
static int children_of(const dagi_wire_view *m, dagi_child *child)
{
    int n = 0;
    if (m->head->shape == DAG_BCAST_SCATTER) {
        int32_t next = (m->head->index + 1) % m->head->nlist;
        if (child)
            *child = (dagi_child){.first = next, .count = 1, .skip = next};
        return 1;
    }
    for (int32_t i = 0; i < m->head->nlist; i += m->count[i], n++)
        if (child)
            child[n] = (dagi_child){.first = i, .count = m->count[i], .skip = -1};
    return n;
}

/* The segments of a flow that come with a message; of a scatter from others, too. */
static dagi_tree_share share_of(const dagi_wire_view *m, int cargo)
{
    int bulk = m->cargo[cargo].how == DAGI_HOW_BULK;
    return dagi_tree_share_of((enum dagi_tree_half)m->head->half, bulk ? m->cargo[cargo].segments : 0);
}

static dagi_arrival *arrival_of(dagi_comm *c, int source, dag_taskpool *pool,
                                const dagi_wire_view *m)
{
    int nchildren = children_of(m, NULL), ncargo = m->head->ncargo;
    size_t nsegments = 0;
    for (int i = 0; i < ncargo; i++)
        nsegments += (size_t)share_of(m, i).count;
    dagi_arrival *a = dagi_comm_alloc(sizeof *a + (size_t)ncargo * sizeof *a->shape +
                                      nsegments * sizeof *a->segment +
                                      (size_t)nchildren * sizeof *a->child);
    *a = (dagi_arrival){
        .send = send_of(c, pool, m),
        .source = source,
        .tag = m->head->tag,
        .nsegments = (int)nsegments,
        .missing = (int)nsegments,
        .nchildren = nchildren,
        .index = m->head->index,
    };
    a->shape = (dag_shape *)(a + 1);
    a->segment = (dagi_segment *)(a->shape + ncargo);
    a->child = (dagi_child *)(a->segment + nsegments);
    children_of(m, a->child);
    dagi_segment *g = a->segment;
    for (int i = 0; i < ncargo; i++) {
        const dagi_wire_cargo *wire = &m->cargo[i];
        a->shape[i] = (dag_shape){wire->m, wire->n, (size_t)wire->elem};
        dagi_tree_share share = share_of(m, i);
        for (int k = 0; k < share.count; k++)
            *g++ = (dagi_segment){.arrival = a, .cargo = (uint16_t)i, .index = (uint16_t)(share.first + k)};
    }
    a->send->arrival = a;
    a->send->shares = 1;
    return a;
}

/* No flow is kept where one has no memory: what is to come is received and forgotten, and the message goes
 * on as one of a pool that has failed. */
static void give_up_values(dagi_comm *c, dagi_send *s)
{
    s->poison = 1;
    for (int i = 0; i < s->ncargo; i++) {
        dagi_value_release(c->w, s->cargo[i].value);
        s->cargo[i].value = NULL;
        if (s->cargo[i].how == DAGI_HOW_INLINE)
            s->cargo[i].how = DAGI_HOW_ABSENT;
    }
}

static void allocate_values(dagi_comm *c, dagi_arrival *a)
{
    dagi_send *s = a->send;
    const dagi_arrival *other = s->to.half && !a->unwanted ? dagi_pair_begin(c, a) : NULL;
    int failed = s->poison;
    for (int i = 0; i < s->ncargo && !failed; i++) {
        dagi_cargo *cargo = &s->cargo[i];
        const dag_shape *shape = &a->shape[i];
        dagi_wire_cargo wire = {.m = shape->m, .n = shape->n, .elem = shape->elem};
        if (cargo->how != DAGI_HOW_BULK)
            continue;
        cargo->value = other ? other->send->cargo[i].value : new_value(c, s->pool, &wire);
        failed = !cargo->value;
        if (other && !failed)
            dagi_value_retain(cargo->value, 1);
    }
    if (failed)
        give_up_values(c, s);
}

static void start(dagi_comm *c, dagi_arrival *a)
{
    dagi_send *s = a->send;
    int scatter = s->shape == DAG_BCAST_SCATTER;
    allocate_values(c, a);
    if (scatter) {
        dagi_scatter_begin(c, a);
        return;
    }
    for (int i = 0; i < a->nsegments; i++)
        dagi_recv_segment(c, &a->segment[i], a->source, a->tag + (uint32_t)i);
    for (int i = 0; i < a->nchildren; i++)
        dagi_send_message(c, s, a->child[i].first, a->child[i].count);
    if (a->nsegments == 0)
        deliver(c, a);
}

/* Pieces of a scatter come from a neighbour that waits for its own, so they need no place. */
static int has_place(const dagi_comm *c, const dagi_arrival *a)
{
    return a->nsegments == 0 || a->send->shape == DAG_BCAST_SCATTER || c->bulk.in_flight == 0 ||
           c->bulk.in_flight + a->nsegments <= DAGI_BULK_IN_FLIGHT;
}

int dagi_recv_admit(dagi_comm *c)
{
    int events = 0;
    while (c->bulk.wait && has_place(c, c->bulk.wait)) {
        dagi_arrival *a = c->bulk.wait;
        c->bulk.wait = a->next;
        if (!c->bulk.wait)
            c->bulk.wait_end = &c->bulk.wait;
        start(c, a);
        events++;
    }
    return events;
}

static void admit(dagi_comm *c, dagi_arrival *a)
{
    c->unfinished++;
    if (has_place(c, a)) {
        start(c, a);
        return;
    }
    a->next = NULL;
    *c->bulk.wait_end = a;
    c->bulk.wait_end = &a->next;
}

/* ---- the message ---------------------------------------------------------------------------- */

/* Transfers that come with it, and what they weigh. */
static int transfers_of(const dagi_wire_view *m, int64_t *weight)
{
    int count = 0;
    *weight = 0;
    for (int i = 0; i < m->head->ncargo; i++) {
        const dagi_wire_cargo *wire = &m->cargo[i];
        if (wire->how != DAGI_HOW_BULK)
            continue;
        int scatter = m->head->shape == DAG_BCAST_SCATTER, n = scatter ? 1 : share_of(m, i).count;
        dagi_view v = {NULL, wire->m, wire->n, wire->m, (size_t)wire->elem, (dag_region)wire->region};
        *weight += dagi_bulk_weight(dagi_view_bytes(&v), scatter ? m->head->nlist : wire->segments, n);
        count += n;
    }
    return count;
}

static int is_mismatch(int source, dag_taskpool *pool, const dagi_wire_activate *head)
{
    if (head->hash == dagi_wire_hash(dagi_pool_hash(pool)))
        return 0;
    dagi_pool_fail(pool, DAG_ERR_MISMATCH,
                   "rank %d runs another program as taskpool %u, or the same with other scalar "
                   "arguments; this rank runs %s. All ranks must add the same pools in the same "
                   "order", source, head->pool, dagi_pool_program(pool)->name);
    return 1;
}

static void read_or_abort(const dagi_comm *c, int source, const void *data, size_t bytes,
                          dagi_wire_view *m)
{
    if (dagi_wire_read(data, bytes, m))
        return;
    fprintf(stderr, "dag: rank %d: malformed message of %zu bytes from rank %d\n", c->rank, bytes,
            source);
    abort();
}

void dagi_recv_unwanted(dagi_comm *c, int source, const void *data, size_t bytes)
{
    dagi_wire_view m;
    read_or_abort(c, source, data, bytes, &m);
    dagi_arrival *a = arrival_of(c, source, NULL, &m);
    a->unwanted = 1;
    c->unfinished++;
    give_up_values(c, a->send);
    if (m.head->shape == DAG_BCAST_SCATTER) {
        dagi_scatter_begin(c, a); /* others wait for what goes round */
        return;
    }
    a->nchildren = 0; /* whoever waits for it has given up, too */
    for (int i = 0; i < a->nsegments; i++)
        dagi_recv_segment(c, &a->segment[i], source, a->tag + (uint32_t)i);
    if (a->nsegments == 0)
        deliver(c, a);
}

/* What goes round is for all its ranks: an empty piece must not come to one that still wants it. */
int dagi_recv_must_wait(const dagi_pool_comm *p, const void *data)
{
    const dagi_wire_activate *head = data;
    return head->shape == DAG_BCAST_SCATTER && p && !p->agreed;
}

static void keep(dagi_comm *c, dagi_pool_comm *p, int source, const dagi_wire_view *m, size_t bytes)
{
    int64_t weight;
    int transfers = transfers_of(m, &weight);
    dagi_early_keep(c, p, source, m->head, bytes, transfers, weight);
}

static void unwanted(dagi_comm *c, dagi_pool_comm *p, int source, const dagi_wire_view *m,
                     size_t bytes)
{
    if (dagi_recv_must_wait(p, m->head))
        keep(c, p, source, m, bytes);
    else
        dagi_recv_unwanted(c, source, m->head, bytes);
}

/* All have agreed on the end of a pool that went well, and every message of a right graph is for
 * tasks without which there is no end. Both dialects take a second arrival in a flow for an
 * error while the task waits, so it is none the less one here. */
static _Noreturn void too_late(const dagi_comm *c, int source, const dagi_wire_view *m)
{
    fprintf(stderr, "dag: rank %d: a task of class number %d", c->rank, m->head->class_id);
    for (int i = 0; i < m->head->nparams; i++)
        fprintf(stderr, "%s%d", i ? ", " : " (", m->params[i]);
    fprintf(stderr, "%s of taskpool number %u has sent to this rank, by way of rank %d, after all "
            "tasks had run and the end was told: an edge that its target does not declare. The job "
            "ends now\n", m->head->nparams ? ")" : "", m->head->pool, source);
    abort();
}

void dagi_recv_activate(dagi_comm *c, int source, const void *data, size_t bytes)
{
    dagi_wire_view m;
    read_or_abort(c, source, data, bytes, &m);
    dagi_pool_comm *p = dagi_pool_comm_find(c, m.head->pool, 0);
    if (!p || !p->pool) {
        if (m.head->pool > c->pools.added && !(p && p->missing)) {
            p = dagi_pool_comm_find(c, m.head->pool, 1);
            keep(c, p, source, &m, bytes);
        } else if (p || dagi_agree_failed(c, m.head->pool)) {
            /* Its pool has failed, or we shall never have it: the sender was not at the same point,
             * or adds the pool after all have given it up. */
            unwanted(c, p, source, &m, bytes);
        } else {
            too_late(c, source, &m);
        }
        return;
    }
    dag_taskpool *pool = p->pool;
    if (p->local_done && dagi_pool_poisoned(pool)) { /* ended by force */
        unwanted(c, p, source, &m, bytes);
        return;
    }
    int64_t weight;
    int mismatch = is_mismatch(source, pool, m.head);
    if (m.head->nlist == 0 && transfers_of(&m, &weight) == 0) {
        if (!mismatch)
            deliver_now(c, source, pool, &m);
        return;
    }
    if (!dagi_pool_hold(pool)) {
        if (!dagi_pool_poisoned(pool))
            dagi_deliver_late(pool, dagi_pool_program(pool)->classes[m.head->class_id], m.params);
        unwanted(c, p, source, &m, bytes);
        return;
    }
    dagi_arrival *a = arrival_of(c, source, pool, &m);
    const char *payload = m.payload;
    dagi_agree_hold(pool);
    a->unwanted = mismatch;
    for (int i = 0; i < m.head->ncargo; i++) {
        if (m.cargo[i].how != DAGI_HOW_INLINE)
            continue;
        a->send->cargo[i].value = unpack(c, pool, &m.cargo[i], &payload);
        a->send->poison |= !a->send->cargo[i].value;
    }
    admit(c, a);
}

/*
 * What comes to a rank. A worker takes it between two tasks, or at once if it is idle. A message whose data
 * travel apart, or that others are to get from here, becomes an arrival, as in comm/recv.c: children are
 * told at once, segments go on as they come.
 */
#include "sim_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- arrivals ------------------------------------------------------------------------------- */

/* Cache lines of an arrival. */
static size_t lines_of(int nchildren, int nsegments)
{
    size_t bytes = sizeof(dagi_sim_arrival) + (size_t)nchildren * sizeof(dagi_sim_child) +
                   (size_t)nsegments;
    return (bytes + 63) / 64;
}

static dagi_sim_arrival *new_arrival(struct dagi_sim *s, dagi_sim_cast *c, int rank,
                                     const dagi_sim_message *m, int nchildren)
{
    int nsegments = 0;
    for (int i = 0; i < c->ncargo; i++)
        nsegments += dagi_sim_share(c, m->first, i).count;
    size_t lines = lines_of(nchildren, nsegments);
    dagi_sim_arrival *a = lines < DAGI_SIM_KEPT_LINES ? s->arrivals[lines] : NULL;
    if (a)
        s->arrivals[lines] = a->next;
    else if (!(a = aligned_alloc(64, 64 * lines)))
        return NULL;
    memset(a, 0, 64 * lines);
    a->cast = c;
    a->rank = rank;
    a->source = m->source;
    a->place = m->first;
    a->nsegments = a->missing = nsegments;
    a->nchildren = nchildren;
    a->child = (dagi_sim_child *)(a + 1);
    a->here = (uint8_t *)(a->child + nchildren);
    a->next = c->of->arrivals;
    a->link = &c->of->arrivals;
    if (a->next)
        a->next->link = &a->next;
    c->of->arrivals = a;
    c->refs++;
    return a;
}

void dagi_sim_arrival_free(struct dagi_sim *s, dagi_sim_arrival *a)
{
    size_t lines = lines_of(a->nchildren, a->nsegments);
    *a->link = a->next;
    if (a->next)
        a->next->link = a->link;
    if (lines >= DAGI_SIM_KEPT_LINES) {
        free(a);
        return;
    }
    a->next = s->arrivals[lines];
    s->arrivals[lines] = a;
}

static void done_with(struct dagi_sim *s, dagi_sim_arrival *a)
{
    dagi_sim_cast *c = a->cast;
    if (!a->delivered || a->promised > 0)
        return;
    dagi_sim_arrival_free(s, a);
    dagi_sim_cast_drop(s, c);
}

/* ---- delivery ------------------------------------------------------------------------------- */

/* Tasks of this rank get what has come. */
static void deliver(struct dagi_sim *s, int rank, dagi_sim_cast *c)
{
    dag_value *values[DAG_MAX_FLOWS] = {NULL};
    struct dagi_worker *w = dagi_sim_worker(s);
    if (c->pair && !dagi_sim_pair_has_both(c, rank))
        return;
    dagi_sim_become(s, rank, c->of->pool);
    for (int i = 0; i < c->ncargo; i++) {
        const dagi_sim_cargo *cargo = &c->cargo[i];
        if (cargo->how == DAGI_HOW_ABSENT)
            continue;
        dag_value *v = dagi_value_new(w, c->of->pool, &cargo->shape);
        if (!v) {
            dagi_sim_short(s);
            return;
        }
        dagi_sim_adopt(s, rank, v);
        values[cargo->flow] = v;
    }
    dagi_delivery d = {.cls = c->cls, .params = c->params, .mask = c->mask, .values = values};
    dagi_sim_ready(s, rank, c->of, dagi_deliver(w, c->of->pool, &d));
}

/* ---- segments ------------------------------------------------------------------------------- */

/* Bytes of a segment of an arrival at that place of the list. */
static int64_t segment_bytes(const dagi_sim_cast *c, int32_t place, int segment)
{
    int i = 0;
    for (; segment >= dagi_sim_share(c, place, i).count; i++)
        segment -= dagi_sim_share(c, place, i).count;
    const dagi_sim_cargo *g = &c->cargo[i];
    segment += dagi_sim_share(c, place, i).first;
    dagi_view whole = {NULL, g->shape.m, g->shape.n, g->shape.m, g->shape.elem, (dag_region)g->region};
    if (g->segments == 1)
        return g->bytes;
    dagi_view v = dagi_view_segment(&whole, g->segments, segment);
    return (int64_t)dagi_view_bytes(&v);
}

/* Number of a segment within its flow. */
static int index_of(const dagi_sim_cast *c, int segment)
{
    int i = 0;
    while (segment >= c->cargo[i].segments)
        segment -= c->cargo[i++].segments;
    return segment;
}

/* Who has sent that segment: the root or the neighbour in a ring, else whoever has sent the message. */
static int sender_of(const dagi_sim_arrival *a, int segment)
{
    const dagi_sim_cast *c = a->cast;
    if (c->shape != DAG_BCAST_SCATTER)
        return a->source;
    return index_of(c, segment) == a->place ? c->root : c->ranks[(a->place + c->count - 1) % c->count];
}

static void put_in(struct dagi_sim *s, int rank, dagi_sim_item what)
{
    dagi_sim_rank *r = &s->rank[rank];
    dagi_sim_item *item = s->items;
    if (item)
        s->items = item->next;
    else if (!(item = malloc(sizeof *item))) {
        dagi_sim_short(s);
        return;
    }
    *item = what;
    *r->inbox_end = item;
    r->inbox_end = &item->next;
}

void dagi_sim_inbox(struct dagi_sim *s, int rank, dagi_sim_message *m, dagi_sim_arrival *a,
                    int32_t segment)
{
    if (m)
        dagi_sim_fly(s, m->cast->of, m->source, rank, -1);
    else
        dagi_sim_fly(s, a->cast->of, sender_of(a, segment), rank, -1);
    put_in(s, rank, (dagi_sim_item){.message = m, .arrival = a, .segment = segment});
}

void dagi_sim_inbox_job(struct dagi_sim *s, int rank, dagi_sim_job *job)
{
    put_in(s, rank, (dagi_sim_item){.job = job});
}

/* A segment that both ends are ready for goes from rank `from` to an arrival at rank `to`, which is
 * not looked at: it is far away, and on the tree of `place`. Where the receiver's worker moves the bytes it
 * is here at once, and takes that worker's time. */
static void transfer(struct dagi_sim *s, const dagi_sim_cast *c, int32_t place, int from, int to,
                     dagi_sim_arrival *arrival, int segment)
{
    int64_t bytes = segment_bytes(c, place, segment);
    dagi_sim_time at = s->now + s->spent;
    dagi_sim_count(s, from, to, bytes);
    dagi_pool_sent(c->of->pool, 0, bytes);
    dagi_sim_fly(s, c->of, from, to, 1);
    const dagi_sim_event event = {.what = arrival, .extra = (uint32_t)segment, .kind = DAGI_SIM_PIECE,
                                  .rank = (uint32_t)to & 0x3ffffff};
    if (s->machine.copies && dagi_sim_same_node(&s->machine, from, to))
        dagi_sim_post(s, at, DAGI_SIM_PIECE, to, arrival, (uint32_t)segment);
    else /* it was announced with the message, and is now asked for */
        dagi_sim_carry(s, from, to, (double)bytes, at + dagi_sim_latency(&s->wires, to, from), &event);
}

/* The root of two trees takes turns: each has its wire for half of the time. */
static void set_out_later(struct dagi_sim *s, dagi_sim_arrival *a, int segment)
{
    double seconds = (double)segment_bytes(a->cast, a->place, segment) / s->machine.between.bandwidth;
    dagi_sim_time turn = llround(2 * segment * seconds * (double)DAGI_SIM_SECOND);
    dagi_sim_post(s, s->now + s->spent + turn, DAGI_SIM_SET_OUT, a->cast->root, a, (uint32_t)segment);
}

void dagi_sim_set_out(struct dagi_sim *s, dagi_sim_arrival *a, int segment)
{
    s->spent = 0;
    transfer(s, a->cast, a->place, a->cast->root, a->rank, a, segment);
}

/* What the root of a broadcast has for this arrival. */
static void fetch_from_root(struct dagi_sim *s, dagi_sim_arrival *a)
{
    dagi_sim_cast *c = a->cast;
    for (int k = 0; k < a->nsegments; k++)
        if (c->pair && !(s->machine.copies && dagi_sim_same_node(&s->machine, c->root, a->rank)))
            set_out_later(s, a, k);
        else if (c->shape != DAG_BCAST_SCATTER || index_of(c, k) == a->place)
            transfer(s, c, a->place, c->root, a->rank, a, k);
}

/* Pass on what is here and has not been passed on. A ring of pieces leaves out the neighbour's own. */
static void pass_on(struct dagi_sim *s, dagi_sim_arrival *a, dagi_sim_child *child, int segment)
{
    const dagi_sim_cast *c = a->cast;
    if (!child->to || !a->here[segment])
        return;
    if (c->shape == DAG_BCAST_SCATTER && index_of(c, segment) == (a->place + 1) % c->count)
        return; /* and who has all may be gone */
    transfer(s, c, a->place, a->rank, child->rank, child->to, segment);
    child->sent++;
    a->promised--;
}

/* `a`, whose message came from the relay `from`, is ready for segments. */
static void open_child(struct dagi_sim *s, dagi_sim_arrival *from, dagi_sim_arrival *a)
{
    dagi_sim_child *child = from->child;
    while (child->rank != a->rank)
        child++;
    child->to = a;
    for (int k = 0; k < from->nsegments; k++)
        pass_on(s, from, child, k);
    done_with(s, from);
}

/* A ring: the arrival passes on to its neighbour in the list, which may have come before it or not. */
static void join_ring(struct dagi_sim *s, dagi_sim_arrival *a)
{
    dagi_sim_cast *c = a->cast;
    int32_t next = (a->place + 1) % c->count, last = (a->place + c->count - 1) % c->count;
    int own = 0;
    for (int k = 0; k < a->nsegments; k++)
        own += index_of(c, k) == next;
    a->child[0].rank = c->ranks[next];
    a->promised = a->nsegments - own;
    for (dagi_sim_arrival *b = c->of->arrivals, *after; b; b = after) {
        after = b->next;
        if (b->cast != c || b == a)
            continue;
        if (b->place == next)
            a->child[0].to = b;
        if (b->place == last)
            open_child(s, b, a);
    }
}

/* ---- messages ------------------------------------------------------------------------------- */

static void begin_arrival(struct dagi_sim *s, int rank, const dagi_sim_message *m, int has_bulk)
{
    dagi_sim_cast *c = m->cast;
    int scatter = c->shape == DAG_BCAST_SCATTER, n = scatter;
    int32_t end = m->first + m->count;
    for (int32_t i = m->first + 1; i < end && !scatter; i += c->serves[i])
        n++;
    dagi_sim_arrival *a = new_arrival(s, c, rank, m, n);
    if (!a) {
        dagi_sim_short(s);
        return;
    }
    n = 0;
    for (int32_t i = m->first + 1; i < end && !scatter; i += c->serves[i]) {
        a->child[n++].rank = c->ranks[i];
        a->promised += a->nsegments;
    }
    for (int32_t i = m->first + 1; i < end && !scatter; i += c->serves[i])
        dagi_sim_tell_child(s, c, a, rank, i, c->serves[i]);
    if (m->from && has_bulk)
        open_child(s, m->from, a);
    else if (has_bulk)
        fetch_from_root(s, a);
    if (scatter)
        join_ring(s, a);
    if (a->missing > 0)
        return;
    a->delivered = 1;
    deliver(s, rank, c);
    done_with(s, a);
}

static void handle_message(struct dagi_sim *s, int rank, dagi_sim_message *m)
{
    dagi_sim_cast *c = m->cast;
    int has_bulk = 0;
    for (int i = 0; i < c->ncargo; i++)
        has_bulk |= c->cargo[i].how == DAGI_HOW_BULK;
    s->spent += s->machine.receive;
    if (!has_bulk && m->count == 1)
        deliver(s, rank, c);
    else
        begin_arrival(s, rank, m, has_bulk);
    dagi_sim_message_done(s, m);
    if (!m->from && !has_bulk)
        dagi_sim_cast_sent(s, c);
    m->next = s->messages;
    s->messages = m;
    dagi_sim_cast_drop(s, c);
}

static void handle_segment(struct dagi_sim *s, dagi_sim_arrival *a, int segment)
{
    dagi_sim_cast *c = a->cast;
    int from_root = c->shape == DAG_BCAST_SCATTER ? index_of(c, segment) == a->place
                                                  : a->source == c->root;
    int copied = s->machine.copies && dagi_sim_same_node(&s->machine, a->source, a->rank);
    s->spent += copied ? llround(1e12 * (double)segment_bytes(c, a->place, segment) / s->machine.within.bandwidth)
                       : s->machine.receive / 2;
    a->here[segment] = 1;
    a->missing--;
    for (int i = 0; i < a->nchildren; i++)
        pass_on(s, a, &a->child[i], segment);
    if (a->missing == 0) {
        a->delivered = 1;
        deliver(s, a->rank, c);
    }
    int own = 0;
    if (from_root && c->shape == DAG_BCAST_SCATTER) /* one for each flow: the last ends its send */
        for (int k = 0; k < a->nsegments; k++)
            own += index_of(c, k) == a->place && !a->here[k];
    if (from_root && (c->shape == DAG_BCAST_SCATTER ? own == 0 : a->missing == 0))
        dagi_sim_cast_sent(s, c);
    done_with(s, a);
}

void dagi_sim_handle(struct dagi_sim *s, int rank)
{
    dagi_sim_rank *r = &s->rank[rank];
    dagi_sim_item *item = r->inbox;
    r->inbox = item->next;
    if (!r->inbox)
        r->inbox_end = &r->inbox;
    if (item->job)
        dagi_sim_job_over(s, rank, item->job);
    else if (item->message)
        handle_message(s, rank, item->message);
    else
        handle_segment(s, item->arrival, item->segment);
    item->next = s->items;
    s->items = item;
}

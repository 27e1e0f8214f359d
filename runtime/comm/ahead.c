/*
 * Messages of open pools (task/door.h) for readers that the program of a rank has not come to yet.
 *
 * A message bears the position of its first reader, on whatever rank. Where the program has not come
 * there, all is received and passed on as ever, credit goes back, and only the delivery waits. When too
 * much waits, senders are told up to which position messages are wanted: what is beyond that waits
 * there, apart from the heaps, so that nothing waits behind it, and neither do tasks; but no more are
 * given while that is much. What is told moves on with the program, at once if that waits.
 *
 * Why no rank waits for ever: take the unfinished task of the lowest position, over all ranks. Its inputs
 * come from tasks before it, which have run, in messages that bear its position or an earlier one. No
 * rank whose program has not come that far is full, for it would be full of tasks before this one. So all
 * come there, whatever is told lets these messages pass, they take no credit for good, and in the heaps
 * they stand first. A rank of the lowest position has nothing that waits for others, so it gives on.
 */
#include "remote.h"

#include "../task/door.h"

#include <stdlib.h>
#include <string.h>

/* Positions that the program goes on before the senders hear of it. */
enum { STEP = 256 };

dagi_ahead *dagi_ahead_new(dagi_comm *c, dagi_pool_comm *p)
{
    dagi_ahead *a = dagi_comm_alloc(sizeof *a + (size_t)c->size * (sizeof *a->limit + 1));
    *a = (dagi_ahead){.next = c->ahead.list, .pool = p};
    a->limit = (int64_t *)(a + 1);
    a->shut = (uint8_t *)(a->limit + c->size);
    for (int r = 0; r < c->size; r++)
        a->limit[r] = INT64_MAX;
    memset(a->shut, 0, (size_t)c->size);
    c->ahead.list = a;
    return a;
}

void dagi_ahead_free(dagi_comm *c, dagi_ahead *a)
{
    dagi_ahead **link = &c->ahead.list;
    if (!a)
        return;
    assert(a->nkept == 0 && a->nheld == 0);
    while (*link != a)
        link = &(*link)->next;
    *link = a->next;
    free(a->kept);
    free(a->held);
    free(a);
}

static void *grown(void *array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return array;
    *capacity = *capacity ? 2 * *capacity : 16;
    return dagi_comm_realloc(array, *capacity * size);
}

/* ---- here: deliveries that wait -------------------------------------------------------------- */

static int64_t bytes_of(const dagi_delivery *d)
{
    int64_t bytes = (int64_t)sizeof(dagi_kept);
    for (int f = 0; f < d->cls->ndata; f++) {
        const dag_value *v = d->values[f];
        bytes += v ? v->m * v->n * (int64_t)v->elem : 0;
    }
    return bytes;
}

/* Drop a delivery of a pool that has come to a standstill. */
static void forget(dagi_comm *c, const dagi_delivery *d)
{
    for (int f = 0; f < d->cls->ndata; f++)
        dagi_value_release(c->w, d->values[f]);
}

static void tell(dagi_comm *c, const dagi_ahead *a, int dest, int64_t position)
{
    dagi_wire_gate wire = {.kind = DAGI_WIRE_GATE, .ahead = 1, .pool = a->pool->id,
                           .position = position};
    dagi_send_control(c, dest, &wire, sizeof wire, NULL, 0);
}

/* Where the program of an open pool is; what comes after its last task is known. */
static int64_t position_of(const dag_taskpool *pool)
{
    return dagi_door_condemned(pool) ? INT64_MAX : atomic_load(&dagi_pool(pool)->door->position);
}

static void shut(dagi_comm *c, dagi_ahead *a, int source)
{
    if (a->shut[source])
        return;
    a->shut[source] = 1;
    if (a->nshut++ == 0)
        a->told = position_of(a->pool->pool);
    tell(c, a, source, a->told);
}

static int later(const dagi_kept *x, const dagi_kept *y)
{
    return x->reader != y->reader ? x->reader > y->reader : x->serial > y->serial;
}

static void push(dagi_comm *c, dagi_ahead *a, dagi_kept *k)
{
    a->kept = grown(a->kept, a->nkept, &a->kept_capacity, sizeof(dagi_kept *));
    k->serial = c->out.next_serial++;
    size_t at = a->nkept++;
    for (; at > 0 && later(a->kept[(at - 1) / 2], k); at = (at - 1) / 2)
        a->kept[at] = a->kept[(at - 1) / 2];
    a->kept[at] = k;
    c->ahead.kept += k->bytes;
}

static dagi_kept *pop(dagi_comm *c, dagi_ahead *a)
{
    dagi_kept *first = a->kept[0], *last = a->kept[--a->nkept];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < a->nkept; at = child) {
        if (child + 1 < a->nkept && later(a->kept[child], a->kept[child + 1]))
            child++;
        if (!later(last, a->kept[child]))
            break;
        a->kept[at] = a->kept[child];
    }
    a->kept[at] = last;
    c->ahead.kept -= first->bytes;
    return first;
}

int dagi_ahead_keep(dagi_comm *c, dag_taskpool *pool, int source, const dagi_delivery *d,
                    int64_t reader)
{
    dagi_pool_comm *p = dagi_pool(pool)->comm;
    if (dagi_door_condemned(pool)) {
        forget(c, d);
        return 1;
    }
    if (dagi_door_knows(pool, reader) || !dagi_pool_hold(pool))
        return 0; /* shut in between: its position is there, too */
    dagi_agree_hold(pool);
    dagi_kept *k = dagi_comm_alloc(sizeof *k);
    *k = (dagi_kept){.delivery = *d, .reader = reader, .bytes = bytes_of(d)};
    memcpy(k->params, d->params, d->cls->nparams * sizeof *k->params);
    memcpy(k->values, d->values, d->cls->ndata * sizeof *k->values);
    k->delivery.params = k->params;
    k->delivery.values = k->values;
    push(c, p->ahead, k);
    if (c->ahead.kept > c->early.most)
        shut(c, p->ahead, source);
    return 1;
}

/* A delivery whose reader is known now; NULL = there is none. */
static dagi_kept *next_known(dagi_comm *c, dag_taskpool **pool)
{
    for (dagi_ahead *a = c->ahead.list; a; a = a->next) {
        if (a->nkept == 0 || a->kept[0]->reader >= position_of(a->pool->pool))
            continue;
        *pool = a->pool->pool;
        return pop(c, a);
    }
    return NULL;
}

/* Tell those who hold back what has become of the position, if it matters. */
static void move_gates(dagi_comm *c, dagi_ahead *a)
{
    const dag_taskpool *pool = a->pool->pool;
    int64_t here = atomic_load(&c->ahead.kept) + atomic_load(&c->ahead.held);
    bool room = here <= c->early.most / 2;
    bool goes_on = dagi_door_state(pool) == DAGI_DOOR_OPEN &&
                   !(atomic_load(&dagi_crew(c->ctx)->blocked) & 1);
    int64_t at = room ? INT64_MAX : position_of(pool);
    if (at == a->told || (goes_on && at - a->told < STEP))
        return;
    for (int r = 0; r < c->size; r++) {
        if (!a->shut[r])
            continue;
        tell(c, a, r, at);
        if (at == INT64_MAX) {
            a->shut[r] = 0;
            a->nshut--;
        }
    }
    a->told = at;
}

int dagi_ahead_look(dagi_comm *c)
{
    dag_taskpool *pool;
    int events = 0;
    for (dagi_kept *k; (k = next_known(c, &pool)) != NULL; events++) {
        if (dagi_door_condemned(pool))
            forget(c, &k->delivery);
        else
            dagi_recv_deliver(c, pool, &k->delivery);
        free(k);
        dagi_agree_drop(c, pool); /* the pool may be gone */
    }
    for (dagi_ahead *a = c->ahead.list; a; a = a->next) {
        if (a->nshut > 0)
            move_gates(c, a);
    }
    return events;
}

/* ---- there: messages that are not wanted yet --------------------------------------------------- */

int dagi_ahead_hold(dagi_comm *c, dagi_send *s, int32_t first, int32_t count)
{
    dagi_ahead *a = ((const dagi_pool_comm *)dagi_pool(s->pool)->comm)->ahead;
    if (-s->priority < a->limit[s->to.dests[first]])
        return 0;
    a->held = grown(a->held, a->nheld, &a->held_capacity, sizeof *a->held);
    int64_t bytes = dagi_send_bytes(s);
    a->held[a->nheld++] = (dagi_held){s, first, count, bytes};
    int64_t held = atomic_fetch_add(&c->ahead.held, bytes) + bytes;
    if (s->arrival &&
        held > c->early.most) /* a relay does not make it, so who sends it has to stop */
        shut(c, a, s->arrival->source);
    return 1;
}

/* Messages that are wanted now go the way of others. */
static void let_go(dagi_comm *c, dagi_ahead *a, int dest)
{
    size_t kept = 0;
    int64_t bytes = 0;
    for (size_t i = 0; i < a->nheld; i++) {
        const dagi_held h = a->held[i];
        if (h.send->to.dests[h.first] != dest || -h.send->priority >= a->limit[dest]) {
            a->held[kept++] = h;
            continue;
        }
        bytes += h.bytes;
        dagi_send_enqueue(c, h.send, h.first, h.count);
    }
    a->nheld = kept;
    atomic_fetch_sub(&c->ahead.held, bytes);
    if (bytes > 0)
        dagi_wake_application(c->ctx); /* it may wait to give on */
}

void dagi_ahead_gate(dagi_comm *c, int source, uint32_t pool, int64_t position)
{
    dagi_pool_comm *p = dagi_pool_comm_find(c, pool, 0);
    if (!p || !p->ahead)
        return; /* the pool has ended */
    p->ahead->limit[source] = position;
    let_go(c, p->ahead, source);
}

void dagi_ahead_end(dagi_comm *c, dagi_ahead *a)
{
    for (int r = 0; a && r < c->size; r++) {
        a->limit[r] = INT64_MAX;
        let_go(c, a, r);
    }
}

int dagi_comm_pressed(const dag_context *ctx)
{
    return atomic_load_explicit(&dagi_comm_of(ctx)->ahead.held, memory_order_relaxed) >
           DAGI_EARLY_BYTES;
}

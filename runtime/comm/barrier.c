/* Barriers: one reduction up the tree over all ranks and one broadcast down. */
#include "remote.h"

#include <stddef.h>
#include <string.h>

static int32_t lower(int32_t a, int32_t b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

static void barrier_merge(dagi_barrier_state *b, const dagi_wire_barrier *part)
{
    dagi_wire_barrier *up = &b->up;
    for (int i = 0; i < DAGI_BARRIERS; i++)
        up->first[i] = lower(up->first[i], part->first[i]);
    for (int i = 0; i < part->count; i++)
        if (i >= up->count || part->least[i] < up->least[i] || part->least[i] != part->least[i])
            up->least[i] = part->least[i];
    if (part->count > up->count)
        up->count = part->count;
}

static size_t bytes_of(const dagi_wire_barrier *wire)
{
    return offsetof(dagi_wire_barrier, least) + (size_t)wire->count * sizeof wire->least[0];
}

/* Nobody of this part of the tree is here. */
void dagi_barrier_empty(dagi_barrier_state *b)
{
    b->here = 0;
    b->ups = 0;
    b->up = (dagi_wire_barrier){.kind = DAGI_WIRE_BARRIER_UP, .pool = b->pool};
    for (int i = 0; i < DAGI_BARRIERS; i++)
        b->up.first[i] = -1;
}

/* What a rank says about a pool's comes before what it says about the pool's end: so it goes with the pool. */
static dagi_barrier_state *barrier_of(dagi_comm *c, uint32_t pool)
{
    if (pool == 0)
        return &c->barrier;
    dagi_pool_comm *p = dagi_pool_comm_find(c, pool, 1);
    if (!p->barrier) {
        p->barrier = dagi_comm_alloc(sizeof *p->barrier);
        memset(p->barrier, 0, sizeof *p->barrier);
        p->barrier->pool = pool;
        dagi_barrier_empty(p->barrier);
    }
    return p->barrier;
}

static void barrier_complete(dagi_comm *c, dagi_barrier_state *b, const dagi_wire_barrier *wire)
{
    dagi_wire_barrier down = *wire;
    down.kind = DAGI_WIRE_BARRIER_DOWN;
    dagi_tree_send_down(c, &down, bytes_of(&down));
    b->last = down;
    atomic_fetch_add(&b->done, 1);
    dagi_wake_application(c->ctx);
}

static void barrier_report_if_complete(dagi_comm *c, dagi_barrier_state *b)
{
    if (!b->here || b->ups < dagi_tree_nchildren(c))
        return;
    const dagi_wire_barrier up = b->up;
    dagi_barrier_empty(b);
    if (c->rank == 0)
        barrier_complete(c, b, &up);
    else
        dagi_tree_send_up(c, &up, bytes_of(&up));
}

void dagi_barrier_message(dagi_comm *c, const void *data)
{
    dagi_wire_barrier wire = {0};
    memcpy(&wire, data, offsetof(dagi_wire_barrier, least));
    memcpy(&wire, data, bytes_of(&wire));
    dagi_barrier_state *b = barrier_of(c, wire.pool);
    if (wire.kind == DAGI_WIRE_BARRIER_DOWN) {
        barrier_complete(c, b, &wire);
        return;
    }
    b->ups++;
    barrier_merge(b, &wire);
    barrier_report_if_complete(c, b);
}

int dagi_meeting_over(const dagi_meeting *m)
{
    return atomic_load(&m->entered) && atomic_load(&m->at->done) >= m->round;
}

/* The way into the barrier is itself something to wait for: the lock may be taken. */
int dagi_meeting_go(void *arg)
{
    dagi_meeting *m = arg;
    dagi_comm *c = dagi_comm_of(m->w->ctx);
    if (!atomic_load(&m->entered) && dagi_comm_enter(c, m->w)) {
        dagi_wire_barrier mine = {.count = m->count};
        for (int i = 0; i < DAGI_BARRIERS; i++)
            mine.first[i] = i == (int)m->which ? c->rank : -1;
        for (int i = 0; i < m->count; i++)
            mine.least[i] = m->values[i];
        m->at = barrier_of(c, m->pool ? dagi_pool_id(m->pool) : 0);
        m->round = ++m->at->begun;
        m->at->here = 1;
        atomic_store(&m->entered, 1);
        barrier_merge(m->at, &mine);
        barrier_report_if_complete(c, m->at);
        dagi_comm_leave(c);
    }
    return dagi_meeting_over(m);
}

dag_status dagi_meeting_end(const dagi_meeting *m, double *values)
{
    static const char *const name[DAGI_BARRIERS] = {"dag_barrier", "dag_least", "dag_fini",
                                                    "dag_insert_value"};
    const dagi_wire_barrier *last = &m->at->last;
    const int32_t *first = last->first;
    int low = 0, high = DAGI_BARRIERS - 1;
    while (first[low] < 0)
        low++;
    while (first[high] < 0)
        high--;
    if (low == high) {
        for (int i = 0; i < m->count; i++)
            values[i] = last->least[i];
        return DAG_SUCCESS;
    }
    dagi_set_message(m->w->ctx, "rank %d has called %s, while rank %d is in %s. All ranks must make the "
                     "same calls in the same order", first[high], name[high], first[low], name[low]);
    return DAG_ERR_MISMATCH;
}

dag_status dagi_comm_barrier(struct dagi_worker *w, enum dagi_barrier which, double *values,
                             int count)
{
    dagi_meeting m = {.w = w, .which = which, .values = values, .count = count};
    dagi_run_until(w, dagi_meeting_go, &m);
    return dagi_meeting_end(&m, values);
}

/* Barriers: one reduction up the tree over all ranks and one broadcast down. */
#include "remote.h"

#include <stdio.h>
#include <string.h>

static int32_t lower(int32_t a, int32_t b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

static void barrier_merge(dagi_comm *c, const int32_t *first)
{
    for (int i = 0; i < 2; i++)
        c->barrier_first[i] = lower(c->barrier_first[i], first[i]);
}

static void barrier_complete(dagi_comm *c, const dagi_wire_barrier *wire)
{
    dagi_wire_barrier down = *wire;
    down.kind = DAGI_WIRE_BARRIER_DOWN;
    dagi_tree_send_down(c, &down, sizeof down);
    c->barrier_last = down;
    atomic_fetch_add(&c->barriers_done, 1);
    dagi_wake_application(c->ctx);
}

static void barrier_report_if_complete(dagi_comm *c)
{
    if (!c->barrier_here || c->barrier_ups < dagi_tree_nchildren(c))
        return;
    dagi_wire_barrier up = {.kind = DAGI_WIRE_BARRIER_UP,
                            .first = {c->barrier_first[0], c->barrier_first[1]}};
    c->barrier_here = 0;
    c->barrier_ups = 0;
    c->barrier_first[0] = c->barrier_first[1] = -1;
    if (c->rank == 0)
        barrier_complete(c, &up);
    else
        dagi_tree_send_up(c, &up, sizeof up);
}

void dagi_barrier_message(dagi_comm *c, const void *data)
{
    dagi_wire_barrier wire;
    memcpy(&wire, data, sizeof wire);
    if (wire.kind == DAGI_WIRE_BARRIER_DOWN) {
        barrier_complete(c, &wire);
        return;
    }
    c->barrier_ups++;
    barrier_merge(c, wire.first);
    barrier_report_if_complete(c);
}

/* The way into the barrier is itself something to wait for: the lock may be taken. */
typedef struct barrier_wait {
    dagi_comm *c;
    struct dagi_worker *w;
    enum dagi_barrier which;
    int entered;
} barrier_wait;

static int barrier_over(void *arg)
{
    barrier_wait *b = arg;
    if (!b->entered && dagi_comm_enter(b->c, b->w)) {
        int32_t mine[2] = {-1, -1};
        mine[b->which] = b->c->rank;
        b->entered = 1;
        b->c->barrier_here = 1;
        barrier_merge(b->c, mine);
        barrier_report_if_complete(b->c);
        dagi_comm_leave(b->c);
    }
    return b->entered && atomic_load(&b->c->barriers_done) >= b->c->barriers_begun;
}

dag_status dagi_comm_barrier(struct dagi_worker *w, enum dagi_barrier which)
{
    barrier_wait b = {.c = dagi_comm_of(w->ctx), .w = w, .which = which};
    b.c->barriers_begun++;
    dagi_run_until(w, barrier_over, &b);
    const int32_t *first = b.c->barrier_last.first;
    if (first[DAGI_BARRIER] < 0 || first[DAGI_BARRIER_FINI] < 0)
        return DAG_SUCCESS;
    dagi_set_message(w->ctx, "rank %d has called dag_fini, while rank %d is in dag_barrier. All "
                     "ranks must make the same calls in the same order",
                     first[DAGI_BARRIER_FINI], first[DAGI_BARRIER]);
    return DAG_ERR_MISMATCH;
}

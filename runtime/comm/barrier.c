/* Barriers: one reduction up the tree over all ranks and one broadcast down. */
#include "remote.h"

#include <stdio.h>
#include <string.h>

static int32_t lower(int32_t a, int32_t b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

static void barrier_merge(dagi_comm *c, const int32_t *first, int64_t value)
{
    for (int i = 0; i < DAGI_BARRIERS; i++)
        c->barrier_first[i] = lower(c->barrier_first[i], first[i]);
    if (value < c->barrier_least)
        c->barrier_least = value;
}

/* Nobody of this part of the tree is here. */
void dagi_barrier_empty(dagi_comm *c)
{
    c->barrier_here = 0;
    c->barrier_ups = 0;
    for (int i = 0; i < DAGI_BARRIERS; i++)
        c->barrier_first[i] = -1;
    c->barrier_least = INT64_MAX;
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
    dagi_wire_barrier up = {.kind = DAGI_WIRE_BARRIER_UP, .least = c->barrier_least};
    memcpy(up.first, c->barrier_first, sizeof up.first);
    dagi_barrier_empty(c);
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
    barrier_merge(c, wire.first, wire.least);
    barrier_report_if_complete(c);
}

/* The way into the barrier is itself something to wait for: the lock may be taken. */
typedef struct barrier_wait {
    dagi_comm *c;
    struct dagi_worker *w;
    enum dagi_barrier which;
    int64_t value;
    int entered;
} barrier_wait;

static int barrier_over(void *arg)
{
    barrier_wait *b = arg;
    if (!b->entered && dagi_comm_enter(b->c, b->w)) {
        int32_t mine[DAGI_BARRIERS];
        for (int i = 0; i < DAGI_BARRIERS; i++)
            mine[i] = i == (int)b->which ? b->c->rank : -1;
        b->entered = 1;
        b->c->barrier_here = 1;
        barrier_merge(b->c, mine, b->value);
        barrier_report_if_complete(b->c);
        dagi_comm_leave(b->c);
    }
    return b->entered && atomic_load(&b->c->barriers_done) >= b->c->barriers_begun;
}

dag_status dagi_comm_barrier(struct dagi_worker *w, enum dagi_barrier which, int64_t *value)
{
    static const char *const name[DAGI_BARRIERS] = {"dag_barrier", "dag_least", "dag_fini"};
    barrier_wait b = {.c = dagi_comm_of(w->ctx), .w = w, .which = which, .value = *value};
    b.c->barriers_begun++;
    dagi_run_until(w, barrier_over, &b);
    const int32_t *first = b.c->barrier_last.first;
    int low = 0, high = DAGI_BARRIERS - 1;
    while (first[low] < 0)
        low++;
    while (first[high] < 0)
        high--;
    if (low == high) {
        *value = b.c->barrier_last.least;
        return DAG_SUCCESS;
    }
    dagi_set_message(w->ctx, "rank %d has called %s, while rank %d is in %s. All ranks must make the "
                     "same calls in the same order", first[high], name[high], first[low], name[low]);
    return DAG_ERR_MISMATCH;
}

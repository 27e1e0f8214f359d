/* Barriers: one reduction up the tree over all ranks and one broadcast down. */
#include "remote.h"

#include <stddef.h>
#include <string.h>

static int32_t lower(int32_t a, int32_t b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

static void barrier_merge(dagi_comm *c, const dagi_wire_barrier *part)
{
    dagi_wire_barrier *up = &c->barrier.up;
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
void dagi_barrier_empty(dagi_comm *c)
{
    c->barrier.here = 0;
    c->barrier.ups = 0;
    c->barrier.up = (dagi_wire_barrier){.kind = DAGI_WIRE_BARRIER_UP};
    for (int i = 0; i < DAGI_BARRIERS; i++)
        c->barrier.up.first[i] = -1;
}

static void barrier_complete(dagi_comm *c, const dagi_wire_barrier *wire)
{
    dagi_wire_barrier down = *wire;
    down.kind = DAGI_WIRE_BARRIER_DOWN;
    dagi_tree_send_down(c, &down, bytes_of(&down));
    c->barrier.last = down;
    atomic_fetch_add(&c->barrier.done, 1);
    dagi_wake_application(c->ctx);
}

static void barrier_report_if_complete(dagi_comm *c)
{
    if (!c->barrier.here || c->barrier.ups < dagi_tree_nchildren(c))
        return;
    const dagi_wire_barrier up = c->barrier.up;
    dagi_barrier_empty(c);
    if (c->rank == 0)
        barrier_complete(c, &up);
    else
        dagi_tree_send_up(c, &up, bytes_of(&up));
}

void dagi_barrier_message(dagi_comm *c, const void *data)
{
    dagi_wire_barrier wire = {0};
    memcpy(&wire, data, offsetof(dagi_wire_barrier, least));
    memcpy(&wire, data, bytes_of(&wire));
    if (wire.kind == DAGI_WIRE_BARRIER_DOWN) {
        barrier_complete(c, &wire);
        return;
    }
    c->barrier.ups++;
    barrier_merge(c, &wire);
    barrier_report_if_complete(c);
}

/* The way into the barrier is itself something to wait for: the lock may be taken. */
typedef struct barrier_wait {
    dagi_comm *c;
    struct dagi_worker *w;
    enum dagi_barrier which;
    const double *values;
    int count, entered;
} barrier_wait;

static int barrier_over(void *arg)
{
    barrier_wait *b = arg;
    if (!b->entered && dagi_comm_enter(b->c, b->w)) {
        dagi_wire_barrier mine = {.count = b->count};
        for (int i = 0; i < DAGI_BARRIERS; i++)
            mine.first[i] = i == (int)b->which ? b->c->rank : -1;
        for (int i = 0; i < b->count; i++)
            mine.least[i] = b->values[i];
        b->entered = 1;
        b->c->barrier.here = 1;
        barrier_merge(b->c, &mine);
        barrier_report_if_complete(b->c);
        dagi_comm_leave(b->c);
    }
    return b->entered && atomic_load(&b->c->barrier.done) >= b->c->barrier.begun;
}

dag_status dagi_comm_barrier(struct dagi_worker *w, enum dagi_barrier which, double *values,
                             int count)
{
    static const char *const name[DAGI_BARRIERS] = {"dag_barrier", "dag_least", "dag_fini"};
    barrier_wait b = {.c = dagi_comm_of(w->ctx), .w = w, .which = which, .values = values,
                      .count = count};
    b.c->barrier.begun++;
    dagi_run_until(w, barrier_over, &b);
    const int32_t *first = b.c->barrier.last.first;
    int low = 0, high = DAGI_BARRIERS - 1;
    while (first[low] < 0)
        low++;
    while (first[high] < 0)
        high--;
    if (low == high) {
        for (int i = 0; i < count; i++)
            values[i] = b.c->barrier.last.least[i];
        return DAG_SUCCESS;
    }
    dagi_set_message(w->ctx, "rank %d has called %s, while rank %d is in %s. All ranks must make the "
                     "same calls in the same order", first[high], name[high], first[low], name[low]);
    return DAG_ERR_MISMATCH;
}

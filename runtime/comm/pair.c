/*
 * Broadcasts along two trees. The producer sends the first half of the segments of each flow along one, the
 * rest along the other, so a rank gets two messages, each with what it is to pass on. They meet here: whatever
 * starts first has the memory of the values, the other one puts its segments into the same, and tasks get them
 * when both have come. Neither waits for the other before that, so each tree is as any other.
 *
 * dagi_comm.bulk.pairs lists the arrivals that have started and not met. One that is complete keeps its pool
 * until the other is, or until the end of the pool is agreed: by force, as tasks wait for it.
 */
#include "remote.h"

static int same_broadcast(const dagi_arrival *a, const dagi_arrival *b)
{
    return a->send->number.root == b->send->number.root &&
           a->send->number.serial == b->send->number.serial;
}

dagi_arrival *dagi_pair_begin(dagi_comm *c, dagi_arrival *a)
{
    dagi_arrival *b = c->bulk.pairs;
    while (b && !same_broadcast(a, b))
        b = b->next;
    a->next = c->bulk.pairs;
    c->bulk.pairs = a;
    a->other = b;
    if (b)
        b->other = a;
    return b;
}

int dagi_pair_complete(const dagi_arrival *a)
{
    return a->missing == 0 && a->other && a->other->missing == 0;
}

dagi_arrival *dagi_pair_former(dagi_comm *c, dagi_arrival *a)
{
    dagi_arrival *former = a->send->to.half == DAGI_TREE_FIRST ? a : a->other;
    dagi_send *first = former->send, *second = former->other->send;
    first->poison |= second->poison;
    for (int i = 0; i < first->ncargo; i++) {
        if (first->poison) {
            dagi_value_release(c->w, first->cargo[i].value);
            first->cargo[i].value = NULL;
        }
        if (!former->other->nchildren) { /* so that there is one reference to what tasks may write */
            dagi_value_release(c->w, second->cargo[i].value);
            second->cargo[i].value = NULL;
        }
    }
    return former;
}

static void leave(dagi_comm *c, dagi_arrival *a)
{
    dagi_arrival **link = &c->bulk.pairs;
    while (*link && *link != a)
        link = &(*link)->next;
    if (*link)
        *link = a->next;
}

void dagi_pair_end(dagi_comm *c, dagi_arrival *a)
{
    dagi_arrival *b = a->other;
    leave(c, a);
    if (b)
        b->other = NULL;
    dagi_send_finish(c, a->send);
    if (b && b->missing == 0) {
        leave(c, b);
        dagi_send_finish(c, b->send);
    }
}

void dagi_pair_forget(dagi_comm *c, uint32_t pool_id)
{
    for (dagi_arrival *a = c->bulk.pairs, *next; a; a = next) {
        next = a->next;
        if (a->send->pool_id == pool_id && a->missing == 0)
            dagi_pair_end(c, a);
    }
}

/* Tells those who watch what the network holds in store; sends messages of the trace. */
#include "remote.h"

#include <string.h>

void dagi_comm_observe(dag_context *ctx, const dagi_observer *observer, void *arg)
{
    dagi_comm *c = dagi_comm_of(ctx);
    c->engine->observer = observer;
    c->engine->observer_arg = arg;
}

/* ---- outlook ------------------------------------------------------------------------------ */

void dagi_observe_outlook(dagi_comm *c)
{
    int now = 0;
    if (c->unfinished || c->bulk.in_flight)
        now |= DAGI_COMM_INCOMING;
    if (c->out.nblocked || c->bulk.out > c->bulk.sent)
        now |= DAGI_COMM_OUTGOING;
    if (now != atomic_load_explicit(&c->outlook, memory_order_relaxed))
        atomic_store_explicit(&c->outlook, now, memory_order_relaxed);
}

int dagi_comm_outlook(const dag_context *ctx)
{
    return atomic_load_explicit(&dagi_comm_of(ctx)->outlook, memory_order_relaxed);
}

/* ---- messages ----------------------------------------------------------------------------- */

void dagi_comm_trace_reply(dag_context *ctx, int dest, const void *data, size_t bytes)
{
    dagi_engine *e = dagi_comm_of(ctx)->engine;
    memcpy(e->ops->am_begin(e, dest, 1, bytes, 0), data, bytes);
    e->ops->am_send(e);
}

int dagi_comm_trace_message(struct dagi_worker *w, int dest, const void *data, size_t bytes)
{
    dagi_comm *c = dagi_comm_of(w->ctx);
    if (!dagi_comm_enter(c, w))
        return 0;
    dagi_comm_trace_reply(w->ctx, dest, data, bytes);
    dagi_comm_leave(c);
    return 1;
}

uint32_t dagi_comm_trace_transfer(struct dagi_worker *w, int out, int peer, uint32_t tag,
                                  void *data, size_t bytes, dagi_done_fn done, void *arg)
{
    dagi_comm *c = dagi_comm_of(w->ctx);
    dagi_engine *e = c->engine;
    dagi_view view = {.ptr = data, .m = (int64_t)bytes, .n = 1, .ld = (int64_t)bytes, .elem = 1,
                      .region = DAG_REGION_FULL};
    while (!dagi_comm_enter(c, w))
        continue; /* no other thread runs: the lock is free */
    if (out) {
        tag = e->ops->tag_find(e, peer, 1); /* all pools are over, so there is one */
        e->ops->tag_take(e, peer, tag, 1);
        e->ops->send(e, peer, tag, &view, done, arg);
    } else {
        e->ops->recv(e, peer, tag, &view, done, arg);
    }
    dagi_comm_leave(c);
    return tag;
}

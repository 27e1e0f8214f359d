/* What goes over the network, as its observer: events of the track of links. */
#include "trace.h"

#include <string.h>

_Static_assert(sizeof(dag_bcast_tree) == (DAGT_BROADCAST_WORDS - 5) * sizeof(uint64_t), "a tree is two words");

static void on_message(void *arg, int out, int peer, const void *data, size_t bytes)
{
    struct dagi_trace *trace = arg;
    const uint8_t *kind = data;
    /* What we do ourselves is nobody's concern; waves go on while recording ends. */
    if (!dagi_trace_records(trace) || *kind == DAGI_AM_TRACE || *kind == DAGI_AM_UNCOUNTED)
        return;
    uint64_t *e = dagi_buffer_event(&trace->links, 3);
    if (!e)
        return;
    e[0] = dagi_trace_head(out ? DAGT_MESSAGE_OUT : DAGT_MESSAGE_IN, 3, *kind, (uint32_t)peer);
    e[1] = dagi_clock();
    e[2] = bytes;
}

static void on_transfer(void *arg, int out, int peer, uint32_t tag, size_t bytes, uint64_t begin)
{
    struct dagi_trace *trace = arg;
    if (!dagi_trace_records(trace))
        return;
    uint64_t *e = dagi_buffer_event(&trace->links, 5);
    if (!e)
        return;
    e[0] = dagi_trace_head(out ? DAGT_TRANSFER_OUT : DAGT_TRANSFER_IN, 5, 0, (uint32_t)peer);
    e[1] = begin;
    e[2] = dagi_clock();
    e[3] = bytes;
    e[4] = tag;
}

static void on_broadcast(void *arg, const dagi_broadcast *b)
{
    struct dagi_trace *trace = arg;
    uint64_t *e = dagi_trace_records(trace) ? dagi_buffer_event(&trace->links, DAGT_BROADCAST_WORDS) : NULL;
    if (!e)
        return;
    e[0] = dagi_trace_head(DAGT_BROADCAST, DAGT_BROADCAST_WORDS, b->cls, b->pool);
    e[1] = dagi_clock();
    e[2] = b->serial | (uint64_t)b->ranks << 32;
    e[3] = b->bytes;
    memcpy(&e[4], &b->seconds, sizeof e[4]);
    memcpy(&e[5], &b->tree, sizeof b->tree);
}

static void on_received(void *arg, int32_t root, uint32_t serial)
{
    struct dagi_trace *trace = arg;
    uint64_t *e = dagi_trace_records(trace) ? dagi_buffer_event(&trace->links, 3) : NULL;
    if (!e)
        return;
    e[0] = dagi_trace_head(DAGT_RECEIVED, 3, 0, (uint32_t)root);
    e[1] = dagi_clock();
    e[2] = serial;
}

static uint64_t on_clock(void)
{
    return dagi_clock();
}

static void on_trace(void *arg, int source, const void *data, size_t bytes)
{
    struct dagi_trace *trace = arg;
    trace->heard(trace->gather, source, data, bytes);
}

const dagi_observer dagi_trace_observer = {
    .message = on_message,
    .transfer = on_transfer,
    .clock = on_clock,
    .broadcast = on_broadcast,
    .received = on_received,
    .trace = on_trace,
};

/*
 * Messages that come for a pool before it has been added here. They are kept within a bound: a sender of
 * more is told by a gate which pools' messages are wanted now, and when there is room again.
 */
#include "remote.h"

#include <stdlib.h>
#include <string.h>

static int64_t early_bytes(const dagi_early *early)
{
    return (int64_t)(sizeof *early + early->bytes) + early->bulk;
}

static void send_gate(dagi_comm *c, int dest, uint32_t pool)
{
    dagi_wire_gate wire = {.kind = DAGI_WIRE_GATE, .pool = pool};
    dagi_send_control(c, dest, &wire, sizeof wire, NULL, 0);
}

/* The youngest pool whose messages are taken here whatever they need. */
static uint32_t accepted(const dagi_comm *c)
{
    return c->pools.given_up > c->pools.added ? c->pools.given_up : c->pools.added;
}

void dagi_early_open_gates(dagi_comm *c)
{
    uint32_t pool = c->early.bytes <= c->early.most / 2 ? UINT32_MAX : accepted(c);
    for (int r = 0; r < c->size && c->early.nshut; r++) {
        if (!c->early.shut[r])
            continue;
        send_gate(c, r, pool);
        if (pool == UINT32_MAX) {
            c->early.shut[r] = 0;
            c->early.nshut--;
        }
    }
}

void dagi_gate_message(dagi_comm *c, int source, const void *data)
{
    dagi_wire_gate wire;
    memcpy(&wire, data, sizeof wire);
    if (wire.ahead)
        dagi_ahead_gate(c, source, wire.pool, wire.position);
    else
        c->out.gate[source] = wire.pool;
}

void dagi_early_keep(dagi_comm *c, dagi_pool_comm *p, int source, const void *data, size_t bytes,
                     int transfers, int64_t bulk)
{
    dagi_early *early = dagi_comm_alloc(sizeof *early + bytes);
    *early = (dagi_early){.source = source, .bytes = bytes, .transfers = transfers, .bulk = bulk};
    memcpy(early->data, data, bytes);
    *p->early_end = early;
    p->early_end = &early->next;
    c->early.count++;
    c->early.transfers += transfers;
    c->early.bytes += early_bytes(early);
    if (c->early.bytes > c->early.most && !c->early.shut[source] && p->id > accepted(c)) {
        c->early.shut[source] = 1;
        c->early.nshut++;
        send_gate(c, source, accepted(c));
    }
}

dagi_early *dagi_early_take(dagi_pool_comm *p)
{
    dagi_early *early = p->early;
    p->early = NULL;
    p->early_end = &p->early;
    return early;
}

void dagi_early_uncount(dagi_comm *c, const dagi_early *early)
{
    c->early.count--;
    c->early.transfers -= early->transfers;
    c->early.bytes -= early_bytes(early);
}

void dagi_early_forget(dagi_comm *c, dagi_pool_comm *p)
{
    dagi_early *next;
    for (dagi_early *early = dagi_early_take(p); early; early = next) {
        next = early->next;
        if (dagi_recv_must_wait(p, early->data)) {
            early->next = NULL;
            *p->early_end = early;
            p->early_end = &early->next;
            continue;
        }
        dagi_early_uncount(c, early);
        dagi_recv_unwanted(c, early->source, early->data, early->bytes);
        free(early);
    }
}

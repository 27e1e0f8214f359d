/*
 * Scatter broadcasts. The producer gives each of the n destinations one n-th of every bulk flow and
 * the list of all; then each piece goes round the ring of the destinations. Rank i of the list
 * tells rank i+1 with a PIECES message which tags to expect, and passes on every piece it has or
 * gets but number i+1, which its neighbour has from the producer.
 */
#include "remote.h"

#include <stdlib.h>
#include <string.h>

/* The neighbour's word is here: post the receives of all pieces but the own one. */
static void expect_ring(dagi_comm *c, dagi_arrival *a, int source, uint32_t tag)
{
    for (int k = 0; k < a->nsegments; k++)
        if (a->segment[k].index != a->index)
            dagi_recv_segment(c, &a->segment[k], source, tag + (uint32_t)k);
}

/* A PIECES message that came before us, removed from the list; NULL = none. */
static dagi_early_pieces *take_early(dagi_comm *c, const dagi_send *s)
{
    for (dagi_early_pieces **link = &c->early_pieces; *link; link = &(*link)->next) {
        dagi_early_pieces *early = *link;
        if (early->wire.root == s->root && early->wire.serial == s->serial) {
            *link = early->next;
            return early;
        }
    }
    return NULL;
}

static void tell_neighbour(dagi_comm *c, dagi_arrival *a)
{
    dagi_send *s = a->send;
    dagi_child *child = &a->child[0];
    int dest = s->dests[child->first];
    dagi_wire_pieces wire = {
        .kind = DAGI_WIRE_PIECES,
        .root = s->root,
        .serial = s->serial,
        .tag = c->engine->ops->tag_next(c->engine, dest, a->nsegments),
    };
    memcpy(c->engine->ops->am_begin(c->engine, dest, 1, sizeof wire), &wire, sizeof wire);
    c->engine->ops->am_send(c->engine);
    child->tag = wire.tag;
    child->open = 1;
}

void dagi_scatter_begin(dagi_comm *c, dagi_arrival *a)
{
    uint32_t own = a->tag;
    for (int k = 0; k < a->nsegments; k++)
        if (a->segment[k].index == a->index)
            dagi_recv_segment(c, &a->segment[k], a->source, own++);
    tell_neighbour(c, a);
    dagi_early_pieces *early = take_early(c, a->send);
    if (early) {
        expect_ring(c, a, early->source, early->wire.tag);
        free(early);
        return;
    }
    a->next = c->scatters;
    c->scatters = a;
}

void dagi_recv_pieces(dagi_comm *c, int source, const void *data)
{
    dagi_wire_pieces wire;
    memcpy(&wire, data, sizeof wire);
    for (dagi_arrival **link = &c->scatters; *link; link = &(*link)->next) {
        dagi_arrival *a = *link;
        if (a->send->root == wire.root && a->send->serial == wire.serial) {
            *link = a->next;
            expect_ring(c, a, source, wire.tag);
            return;
        }
    }
    dagi_early_pieces *early = dagi_comm_alloc(sizeof *early);
    *early = (dagi_early_pieces){.next = c->early_pieces, .source = source, .wire = wire};
    c->early_pieces = early;
}

/*
 * Scatter broadcasts. The producer gives each of the n destinations one n-th of every bulk flow and
 * the list of all; then each piece goes round the ring of the destinations. Rank i of the list
 * tells rank i+1 with a PIECES message that it has pieces. Rank i+1 answers READY when it has the
 * producer's message, too, and has posted its receives, with their tags: it alone knows which it has
 * posted for other rings and not seen come. From then on rank i passes on to it every
 * piece it has or gets but number i+1, which its neighbour has from the producer. So no piece is
 * ever under way to a rank that does not know the broadcast, and may never do.
 *
 * dagi_comm.scatters lists the arrivals that lack pieces, and those whose neighbour is not ready;
 * these hold their send by one of `shares`.
 */
#include "remote.h"

#include <stdlib.h>
#include <string.h>

static void tell(dagi_comm *c, int dest, int kind, const dagi_send *s, uint32_t tag)
{
    dagi_wire_pieces wire = {
        .kind = (uint8_t)kind, .root = s->number.root, .serial = s->number.serial, .tag = tag};
    dagi_send_control(c, dest, &wire, sizeof wire, NULL, 0);
}

/* The neighbour's word is here: post the receives of all pieces but the own one. */
static void expect_ring(dagi_comm *c, dagi_arrival *a, int source)
{
    uint32_t tag = c->engine->ops->tag_ask(c->engine, source, a->nsegments);
    for (int k = 0; k < a->nsegments; k++)
        if (a->segment[k].index != a->index)
            dagi_recv_segment(c, &a->segment[k], source, tag + (uint32_t)k);
    tell(c, source, DAGI_WIRE_READY, a->send, tag);
}

/* A PIECES message that came before us, removed from the list; NULL = none. */
static dagi_early_pieces *take_early(dagi_comm *c, const dagi_send *s)
{
    for (dagi_early_pieces **link = &c->early.pieces; *link; link = &(*link)->next) {
        dagi_early_pieces *early = *link;
        if (early->wire.root == s->number.root && early->wire.serial == s->number.serial) {
            *link = early->next;
            return early;
        }
    }
    return NULL;
}

void dagi_scatter_begin(dagi_comm *c, dagi_arrival *a)
{
    dagi_send *s = a->send;
    dagi_child *child = &a->child[0];
    int dest = s->to.dests[child->first];
    uint32_t own = a->tag;
    for (int k = 0; k < a->nsegments; k++)
        if (a->segment[k].index == a->index)
            dagi_recv_segment(c, &a->segment[k], a->source, own++);
    a->next = c->scatters;
    c->scatters = a;
    s->shares++; /* until the neighbour is ready */
    tell(c, dest, DAGI_WIRE_PIECES, s, 0);
    dagi_early_pieces *early = take_early(c, s);
    if (early) {
        expect_ring(c, a, early->source);
        free(early);
    }
}

static dagi_arrival *find(const dagi_comm *c, const dagi_wire_pieces *wire)
{
    dagi_arrival *a = c->scatters;
    while (a && (a->send->number.root != wire->root || a->send->number.serial != wire->serial))
        a = a->next;
    return a;
}

void dagi_recv_pieces(dagi_comm *c, int source, const void *data)
{
    dagi_wire_pieces wire;
    memcpy(&wire, data, sizeof wire);
    dagi_arrival *a = find(c, &wire);
    if (a) {
        expect_ring(c, a, source);
        return;
    }
    dagi_early_pieces *early = dagi_comm_alloc(sizeof *early);
    *early = (dagi_early_pieces){.next = c->early.pieces, .source = source, .wire = wire};
    c->early.pieces = early;
}

void dagi_recv_ready(dagi_comm *c, const void *data)
{
    dagi_wire_pieces wire;
    memcpy(&wire, data, sizeof wire);
    dagi_arrival *a = find(c, &wire);
    dagi_child *child = &a->child[0];
    child->open = 1;
    child->tag = wire.tag;
    dagi_send_arrived(c, a, child);
    dagi_scatter_leave(c, a);
    dagi_send_finish(c, a->send);
}

void dagi_scatter_leave(dagi_comm *c, dagi_arrival *a)
{
    if (a->missing || !a->child[0].open)
        return;
    dagi_arrival **link = &c->scatters;
    while (*link != a)
        link = &(*link)->next;
    *link = a->next;
}

void dagi_scatter_free(dagi_comm *c)
{
    while (c->early.pieces) {
        dagi_early_pieces *early = c->early.pieces;
        c->early.pieces = early->next;
        free(early);
    }
}

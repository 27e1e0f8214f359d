/*
 * Counting waves: has everything come to rest? The interface and the conditions are in comm.h.
 *
 * Why two waves prove it. Let a wave find all ranks idle with as many messages received as sent. A
 * rank may still have been woken, after its look, by a message sent before the sender's look that
 * came from a rank not yet looked at. Then that rank became active (activity counts it) or counted
 * a message, so the sums of a second wave differ. If the sums are equal, no rank did anything
 * between its two looks, and at the moment between the waves all were at rest with nothing under
 * way. Messages of the waves themselves are not counted; CREDIT, END and BARRIER are.
 *
 * A message that waits here to be sent counts as work to do if its pool is to be ended and has been
 * added by all ranks; one towards a rank that lacks the pool may wait for ever. Nor does a bulk
 * transfer whose message the receiver keeps, because its pool has not been added there, count as
 * one under way. (Transfers are counted where they begin and where they have come; that a send is
 * complete says nothing, for MPI may have taken a short one into its own memory.) The ring of a
 * scatter stands still if one of its ranks lacks the pool; no piece of it is under way then.
 */
#include "remote.h"

#include <string.h>

typedef struct dagi_wire_wave {
    uint8_t kind, wave_kind;
    uint8_t unused[2];
    uint32_t number;
    dagi_wave wave;
} dagi_wire_wave;

static void look(dagi_comm *c, dagi_wave *w)
{
    memset(w, 0, sizeof *w);
    dagi_ahead_look(c);
    dagi_send_flush(c); /* credit that has come leaves nothing waiting that could go */
    w->look = dagi_wave_look(c->ctx);
    w->added_max = w->look.added;
    dagi_comm_counts(c->ctx, &w->sent, &w->received);
    w->flights = c->bulk.out - c->bulk.in - c->early.transfers;
    w->waiting = w->ringing = UINT32_MAX;
    for (int32_t i = 0; i < c->out.nblocked; i++) {
        uint32_t id = c->out.heap[c->out.blocked[i]]->entry[0].pool_id; /* the least of its heap */
        if (id < w->waiting)
            w->waiting = id;
    }
    int rings = 0;
    for (const dagi_arrival *a = c->scatters; a; a = a->next) {
        if (!a->missing)
            continue;
        rings++;
        if (a->send->pool_id < w->ringing)
            w->ringing = a->send->pool_id;
    }
    if (c->bulk.in_flight || c->unfinished > rings || atomic_load(&c->inbox))
        w->look.idle = 0;
}

static void combine(dagi_wave *a, const dagi_wave *b)
{
    a->look.idle = a->look.idle && b->look.idle;
    a->look.blocked = a->look.blocked && b->look.blocked;
    if (b->look.first_open < a->look.first_open)
        a->look.first_open = b->look.first_open;
    if (b->waiting < a->waiting)
        a->waiting = b->waiting;
    if (b->ringing < a->ringing)
        a->ringing = b->ringing;
    if (b->look.added < a->look.added)
        a->look.added = b->look.added;
    if (b->added_max > a->added_max)
        a->added_max = b->added_max;
    a->sent += b->sent;
    a->received += b->received;
    a->flights += b->flights;
    a->look.activity += b->look.activity;
}

static int looks_quiet(const dagi_wave *w)
{
    if (!w->look.idle || w->sent != w->received || w->flights)
        return 0;
    /* Where all have the pool its messages can leave, sooner or later. */
    if (w->waiting <= w->look.first_open && w->look.first_open <= w->look.added)
        return 0;
    if (w->ringing <= w->look.added)
        return 0;
    return w->look.added == w->added_max ? w->look.first_open != UINT32_MAX : w->look.blocked;
}

static int equal(const dagi_wave *a, const dagi_wave *b)
{
    return a->sent == b->sent && a->received == b->received &&
           a->look.activity == b->look.activity && a->look.first_open == b->look.first_open &&
           a->added_max == b->added_max;
}

static void send_down(dagi_comm *c, int wave_kind, uint32_t number, const dagi_wave *w)
{
    dagi_wire_wave wire = {.kind = DAGI_WIRE_WAVE, .wave_kind = (uint8_t)wave_kind,
                           .number = number, .wave = *w};
    dagi_tree_send_down(c, &wire, sizeof wire);
}

static void begin(dagi_comm *c, uint32_t number)
{
    static const dagi_wave nothing;
    c->wave.active = 1;
    c->wave.number = number;
    c->wave.ups = 0;
    memset(&c->wave.sum, 0, sizeof c->wave.sum);
    send_down(c, DAGI_WAVE_START, number, &nothing);
}

static void quiet(dagi_comm *c, const dagi_wave *w)
{
    send_down(c, DAGI_WAVE_QUIET, 0, w);
    if (w->look.first_open > w->look.added)
        dagi_agree_missing(c, w->added_max);
    if (w->look.first_open != UINT32_MAX)
        dagi_wave_quiet(c->w, w->look.first_open);
    dagi_comm_drain(c); /* the end of the pool, before any message that comes for it */
}

/* Rank 0: the wave is back. */
static void judge(dagi_comm *c)
{
    dagi_wave *sum = &c->wave.sum;
    int was_second = c->wave.again;
    c->wave.again = 0;
    if (!looks_quiet(sum))
        return;
    if (was_second && equal(sum, &c->wave.last)) {
        quiet(c, sum);
        return;
    }
    c->wave.last = *sum;
    c->wave.again = 1;
    begin(c, c->wave.number + 1);
}

static void answer_if_complete(dagi_comm *c)
{
    while (c->wave.active && c->wave.ups == dagi_tree_nchildren(c)) {
        dagi_wave mine;
        look(c, &mine);
        if (c->wave.ups)
            combine(&c->wave.sum, &mine);
        else
            c->wave.sum = mine;
        c->wave.active = 0;
        if (c->rank == 0) {
            judge(c); /* alone, the next wave is complete at once: hence the loop */
            continue;
        }
        dagi_wire_wave wire = {.kind = DAGI_WIRE_WAVE, .wave_kind = DAGI_WAVE_UP,
                               .number = c->wave.number, .wave = c->wave.sum};
        dagi_tree_send_up(c, &wire, sizeof wire);
    }
}

void dagi_comm_wave(struct dagi_worker *w)
{
    dagi_comm *c = dagi_comm_of(w->ctx);
    if (c->rank != 0 || !dagi_comm_enter(c, w))
        return;
    if (!c->wave.active) {
        c->wave.again = 0;
        begin(c, c->wave.number + 1);
        answer_if_complete(c);
    }
    dagi_comm_leave(c);
}

void dagi_wave_message(dagi_comm *c, const void *data)
{
    dagi_wire_wave wire;
    memcpy(&wire, data, sizeof wire);
    switch (wire.wave_kind) {
    case DAGI_WAVE_START:
        begin(c, wire.number);
        break;
    case DAGI_WAVE_UP:
        if (c->wave.ups++)
            combine(&c->wave.sum, &wire.wave);
        else
            c->wave.sum = wire.wave;
        break;
    default:
        quiet(c, &wire.wave);
        return;
    }
    answer_if_complete(c);
}

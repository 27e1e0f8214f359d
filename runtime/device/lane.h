/* Queues of a device with tickets, what moves through them, and the times that follow. */
#ifndef DAGI_LANE_H
#define DAGI_LANE_H

#include "../data/copies.h"
#include "backend.h"

struct dagi_device;

enum { DAGI_LANE_SLOTS = 128 }; /* tickets of one queue under way; a power of two */

/* ---- pace.c: times that follow from looks ------------------------------------------------------ */

/* Things that go on one after the other, or share what they run on. */
typedef struct dagi_pace {
    uint64_t last_end; /* about when the last one ended, dagi_now() */
    uint64_t doubt;    /* by so many nanoseconds it may have been before, or behind */
} dagi_pace;

/* `count` of them have ended, of which the first was begun at *begin, raised to when it had the way
 * free; seen `now`, after the look before, `away` ago, had not seen it. Nanoseconds that each took; -1 = it was
 * seen too late to tell. */
int64_t dagi_pace_end(dagi_pace *p, uint64_t *begin, uint64_t now, uint64_t away, int count);

/* Things alike that were seen to end, one look after the other, while more were always under way: what they
 * took together is sure, however late each was seen. Since 0 = there was a look with nothing under way. */
typedef struct dagi_stretch {
    const void *what, *whose;
    uint64_t size;
    uint64_t since;
    int count, launches; /* of them; those of one launch end together */
    int late; /* 1: of one of them pace knew no time */
} dagi_stretch;

/* So many more have ended, seen `now`; what NULL = they are not alike. `more`: others are under way. Nanoseconds
 * that each took, where enough have ended and pace did not know of all; else -1. */
int64_t dagi_stretch_end(dagi_stretch *s, const dagi_stretch *seen, uint64_t now, int more);

/* A transfer in a lane, of which its link is to be learned; bytes 0 = none. */
typedef struct dagi_move {
    uint64_t since; /* when it was enqueued */
    uint64_t bytes;
    int from, to;   /* spaces */
    dagi_ticket behind; /* of another lane, what it runs behind */
    int unclear;    /* 1: there is more than one */
    uint64_t id, cause; /* for traces: its number, and what it waited for */
    struct dagi_residence *parked; /* it saves a value of this one that no pool uses; NULL = none */
} dagi_move;

/* ---- lane.c: queues with tickets ------------------------------------------------------------ */

/*
 * A queue of the back end whose points can be waited for. Its manager gives a ticket to everything
 * that it enqueues, and records an event behind it in the ticket's slot; a slot is used again when
 * its ticket has passed, so whoever waits for the event of an old ticket waits too long at worst.
 */
typedef struct dagi_lane {
    dagi_queue_order order; /* first: the queue of a ticket is its lane */
    _Atomic uint64_t recorded; /* tickets that have their event */
    struct dagi_device *device;
    void *queue;
    uint64_t count; /* tickets given; this and what follows is the manager's, apart from events */
    dagi_move next;  /* of what is enqueued for the next ticket */
    dagi_pace pace;  /* of the transfers */
    struct dagi_lane_slot {
        void *event;
        dag_taskpool *pool; /* of what was enqueued: fails when the device is lost before */
        uint64_t ended_at; /* when it was seen to have passed; 0 = not yet */
        dagi_move move;
    } slot[DAGI_LANE_SLOTS];
} dagi_lane;

dagi_result dagi_lane_open(dagi_lane *lane, struct dagi_device *device, int urgent);
void dagi_lane_close(dagi_lane *lane);
/* The ticket of what is enqueued next. */
static inline dagi_ticket dagi_lane_next(dagi_lane *lane)
{
    return (dagi_ticket){&lane->order, lane->count + 1};
}
int dagi_lane_room(const dagi_lane *lane); /* tickets that may be given now */
int dagi_lane_busy(const dagi_lane *lane);
/* The move of the latest ticket, once that is given. */
static inline const dagi_move *dagi_lane_latest(const dagi_lane *lane)
{
    return &lane->slot[lane->count % DAGI_LANE_SLOTS].move;
}
/* Nonzero when a queue of d can wait for the event of a ticket, or need not. That of another kind can be
 * waited for by nobody but us, until it has passed. */
int dagi_ticket_settled(dagi_ticket t, const struct dagi_device *d);
/* Makes all that is enqueued from now on run behind the ticket, of any device. */
dagi_result dagi_lane_wait(dagi_lane *lane, dagi_ticket t);
/* End what was enqueued for the next ticket, which is given by this. Not OK: the device is lost. */
dagi_result dagi_lane_mark(dagi_lane *lane, dag_taskpool *pool);
/* Look what has passed; the number of tickets. *result: OK or LOST. */
int dagi_lane_poll(dagi_lane *lane, dagi_result *result);
/* A transfer is enqueued for the next ticket; the call may well copy at once, so this comes first. */
void dagi_lane_move(dagi_lane *lane, int from, int to, size_t bytes);
/* These tickets have passed: links learn from their transfers. */
void dagi_lane_moved(dagi_lane *lane, uint64_t first, uint64_t last);
/* The device is lost: pools of what has not passed fail with this sentence, and all passes. */
void dagi_lane_abandon(dagi_lane *lane, const char *why);

#endif

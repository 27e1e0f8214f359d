/*
 * The events of a simulation, in the order of their times, those of one time in the order in which
 * they were posted.
 *
 * Time hardly ever goes back, so this need not be a heap. Buckets hold what is to come, by the
 * highest digit (of DIGIT bits) in which its time differs from `base`, and by the value of that
 * digit: the first bucket that holds something has all that is next. A bucket of few events becomes
 * the `front`, sorted; of many, it is dealt out to lower ones. An event is moved about as often as the
 * distance to it has digits, from one end of a block to the end of another, where a heap of millions
 * waits for memory on each of its levels. And who is in front is known some events ahead, so that what
 * they need can be fetched meanwhile.
 *
 * Invariants (dagi_sim_events_check())
 * - base <= the time of each event.
 * - What is earlier than `limit` is in front, what is later in buckets; of those of that time the
 *   first may be in front, too. front[] is sorted.
 * - An event of a bucket is where its time belongs (place_of()). Those of one time are in one bucket,
 *   in the order in which they were posted, behind those of that time in front.
 */
#ifndef DAGI_SIM_EVENTS_H
#define DAGI_SIM_EVENTS_H

#include "machine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dagi_sim_kind {
    DAGI_SIM_BEGIN,   /* the application of the rank has added the pool: what = sim_pool */
    DAGI_SIM_OVER,    /* a worker has run a task: what = the task */
    DAGI_SIM_FREE,    /* a worker has done its part of messages */
    DAGI_SIM_MESSAGE, /* an ACTIVATE is here: what = the message */
    DAGI_SIM_PIECE,   /* a segment is here, or may be fetched: what = the arrival, extra = which */
    DAGI_SIM_SET_OUT, /* it is a segment's turn at the root of two trees: what = the arrival, extra = which */
    DAGI_SIM_CREDIT,  /* extra bytes of credit have come back: what as dagi_sim_credit() has it */
    DAGI_SIM_QUEUE,   /* what is first in a queue of a device is over: what = the queue */
    DAGI_SIM_FLOW,    /* a transfer on shared wires begins, or may be over: what = it, extra = its generation */
    DAGI_SIM_SHARE    /* wires are shared out anew */
};

typedef struct dagi_sim_event {
    dagi_sim_time at;
    void *what;
    uint32_t extra;
    uint32_t rank : 26, kind : 6;
} dagi_sim_event;

enum {
    DAGI_SIM_DIGIT = 4,
    DAGI_SIM_WAYS = 1 << DAGI_SIM_DIGIT,
    DAGI_SIM_LEVELS = 64 / DAGI_SIM_DIGIT,
    DAGI_SIM_FRONT = 128, /* most events in front */
    DAGI_SIM_BLOCK = 42   /* events of a block, which has a kilobyte */
};

typedef struct dagi_sim_block {
    struct dagi_sim_block *next;
    size_t count;
    dagi_sim_event event[DAGI_SIM_BLOCK];
} dagi_sim_block;

typedef struct dagi_sim_bucket {
    dagi_sim_block *first, *last;
    size_t count;
} dagi_sim_bucket;

/* All zero is empty. */
typedef struct dagi_sim_events {
    size_t count;
    dagi_sim_time base, limit;
    int first, end; /* of what is in front */
    dagi_sim_event front[DAGI_SIM_FRONT];
    dagi_sim_block *spare;
    uint32_t levels;                    /* bit: something is at this level */
    uint16_t ways[DAGI_SIM_LEVELS];     /* bit: the bucket holds something */
    dagi_sim_bucket bucket[DAGI_SIM_LEVELS][DAGI_SIM_WAYS];
} dagi_sim_events;

/* Nonzero = out of memory, and the event is lost. */
int dagi_sim_events_push(dagi_sim_events *q, dagi_sim_event e);
/* Take the first; count > 0. Nonzero = out of memory: none was taken, some may be lost. */
int dagi_sim_events_pop(dagi_sim_events *q, dagi_sim_event *out);
/* The event that is `ahead` of the next one, if that is known. */
static inline const dagi_sim_event *dagi_sim_events_ahead(const dagi_sim_events *q, int ahead)
{
    return q->end - q->first > ahead ? &q->front[q->first + ahead] : NULL;
}
bool dagi_sim_events_check(const dagi_sim_events *q);
/* Events that are left are dropped. */
void dagi_sim_events_fini(dagi_sim_events *q);

#endif

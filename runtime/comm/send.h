/* Items of the inbox, and sends: messages of completed tasks to groups of ranks. */
#ifndef DAGI_COMM_SEND_H
#define DAGI_COMM_SEND_H

#include "../data/data.h"
#include "../device/device.h"
#include "comm.h"
#include "wire.h"

/* ---- items of the inbox ----------------------------------------------------------------- */

enum dagi_item_kind { DAGI_ITEM_SEND, DAGI_ITEM_POOL, DAGI_ITEM_END };

typedef struct dagi_item {
    struct dagi_item *next;
    enum dagi_item_kind kind;
} dagi_item;

typedef struct dagi_comm dagi_comm;

/* ---- sends ------------------------------------------------------------------------------ */

/* A data flow on its way. */
typedef struct dagi_cargo {
    dag_value *value;          /* one reference held; NULL = absent */
    dagi_departure *departure; /* one reference held; NULL = it leaves from the host */
    uint16_t segments;
    uint8_t flow;
    uint8_t region;
    uint8_t how;    /* enum dagi_how, settled by dagi_send_launch() */
    uint8_t staged; /* 1: the host has it from a device, for messages */
    uint8_t lost;   /* 1: with its device, before it left: every message from then on is poisoned */
} dagi_cargo;

/* The receivers: the tree of net/shapes.h. */
struct dagi_send_to {
    int32_t *dests;
    uint16_t *count;
    int32_t ndest;
    uint8_t pair; /* at the producer: 1 = two trees, both lists of which lie one behind the other */
    uint8_t half; /* at a relay: enum dagi_tree_half */
    dag_bcast_tree asked; /* at the producer: the shape that an edge names */
};

/* By what its parts, and events of traces, tell a broadcast from others. */
struct dagi_send_number {
    uint32_t serial; /* at its root */
    int32_t root;
};

/* Its producer, for the trace; see trace/file/format.h. */
struct dagi_send_origin {
    uint64_t path, from;
};

/*
 * One completed task's message to a group of ranks that need the same flows of it: made by
 * dagi_comm_activate() at the producer and by an arrival at a relay. Owned by comm from then on;
 * freed when `shares` falls to zero, after its references and its hold on the pool are dropped.
 * In one allocation: the struct, cargo[ncargo], params[nparams], dests[ndest], count[ndest]. Two trees have
 * dests[2 * ndest], count[2 * ndest] in another.
 */
typedef struct dagi_send {
    dagi_item item;
    dagi_comm *comm;
    dag_taskpool *pool;           /* NULL: of a pool that will never be added here */
    struct dagi_arrival *arrival; /* at a relay; NULL at the producer */
    dagi_cargo *cargo;
    int32_t *params;
    struct dagi_send_to to;
    int64_t priority;
    uint64_t dynamic;
    int64_t staged;              /* bytes inside of each message that are */
    int64_t queued, queued_bulk; /* what it adds to the sums in dagi_comm */
    struct dagi_send_origin origin;
    uint32_t pool_id, hash;
    uint32_t mask, data; /* flows; those of them that are cargo */
    struct dagi_send_number number;
    int32_t shares; /* messages not sent + transfers not complete + 1 during launch */
    uint16_t class_id;
    uint8_t nparams, ncargo, shape, poison;
    uint8_t bulk; /* some cargo travels by bulk */
} dagi_send;

/* A message of a send that waits for credit. */
typedef struct dagi_waiting {
    uint32_t pool_id; /* of older pools first: these must not wait for younger ones */
    int64_t priority; /* then the largest */
    uint64_t serial;  /* first come, first served among equals */
    dagi_send *send;
    int32_t first, count; /* dests[first], with its list behind it */
} dagi_waiting;

static inline bool dagi_waiting_before(const dagi_waiting *a, const dagi_waiting *b)
{
    if (a->pool_id != b->pool_id)
        return a->pool_id < b->pool_id;
    return a->priority != b->priority ? a->priority > b->priority : a->serial < b->serial;
}

#define HEAP dagi_waiting_heap
#define HEAP_ENTRY dagi_waiting
#define HEAP_BEFORE(h, a, b) dagi_waiting_before(a, b)
#include "../base/heap_of.h"

#endif

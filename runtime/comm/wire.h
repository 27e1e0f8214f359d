/*
 * Messages as bytes. The first byte says what it is. Vocabulary: README.md.
 * An ACTIVATE is, in this order and each part 8-byte aligned:
 *   dagi_wire_activate
 *   int32 params[nparams], int32 list[nlist], uint16 count[nlist]: the tree of net/shapes.h
 *   dagi_wire_cargo[ncargo]
 *   for each cargo that is INLINE its packed bytes
 * With wire.c a part of dag_pure, the library without state: how large messages are, and what is in them.
 */
#ifndef DAGI_COMM_WIRE_H
#define DAGI_COMM_WIRE_H

#include "../net/engine.h"

enum dagi_wire_kind {
    DAGI_WIRE_ACTIVATE = 1,
    DAGI_WIRE_PIECES,
    DAGI_WIRE_READY,
    DAGI_WIRE_GATE,
    DAGI_WIRE_END_UP,
    DAGI_WIRE_END_DOWN,
    DAGI_WIRE_BARRIER_UP,
    DAGI_WIRE_BARRIER_DOWN,
    /* Waves do not count themselves; the second byte tells them apart. */
    DAGI_WIRE_WAVE = DAGI_AM_UNCOUNTED
};

enum dagi_wire_wave_kind { DAGI_WAVE_START = 1, DAGI_WAVE_UP, DAGI_WAVE_QUIET };

/* Where a rank waits for all others. */
enum dagi_barrier {
    DAGI_BARRIER,
    DAGI_BARRIER_LEAST,
    DAGI_BARRIER_FINI,
    DAGI_BARRIER_OPEN, /* of the givers of an open pool */
    DAGI_BARRIERS
};

/* How a flow travels. */
enum dagi_how { DAGI_HOW_ABSENT, DAGI_HOW_INLINE, DAGI_HOW_BULK };

typedef struct dagi_wire_activate {
    uint8_t kind;
    uint8_t shape; /* of the outermost level; for receivers: SCATTER or not */
    uint8_t nparams;
    uint8_t ncargo;
    uint16_t class_id;
    uint16_t nlist; /* ranks to relay to; SCATTER: all destinations */
    uint32_t pool;
    uint32_t hash;
    uint32_t mask, data;
    uint32_t tag; /* of the first bulk transfer; the others follow, cargo after cargo */
    uint8_t poison;
    uint8_t half; /* of two trees: enum dagi_tree_half */
    uint8_t unused[2];
    uint64_t dynamic;
    int64_t priority; /* of an open pool: the position of the first reader, negated */
    int32_t index;   /* SCATTER: place in the list */
    int32_t root;    /* who numbers the broadcast */
    uint32_t serial; /* likewise */
    uint32_t unused2;
    uint64_t path, from; /* of the producer, for the trace; 0 where there is none */
} dagi_wire_activate;

typedef struct dagi_wire_cargo {
    int64_t m, n;
    uint64_t elem;
    uint16_t segments;
    uint8_t flow, region, how;
    uint8_t unused[3];
} dagi_wire_cargo;

/* SCATTER, neighbour to neighbour: the other pieces of a broadcast come as soon as READY has come
 * back, with the tags that it says. */
typedef struct dagi_wire_pieces {
    uint8_t kind;
    uint8_t unused[3];
    int32_t root;
    uint32_t serial;
    uint32_t tag; /* READY: of segment j of cargo k: tag + k * segments + j */
} dagi_wire_pieces;

/* Messages of pools beyond `pool` are to wait at the sender; or (ahead) of this pool, those whose first
 * reader is not before `position`. */
typedef struct dagi_wire_gate {
    uint8_t kind;
    uint8_t ahead;
    uint8_t unused[2];
    uint32_t pool;
    int64_t position;
} dagi_wire_gate;

/* BARRIER_UP and BARRIER_DOWN: of these ranks, who waits where. */
typedef struct dagi_wire_barrier {
    uint8_t kind;
    uint8_t unused[3];
    uint32_t pool; /* whose givers meet; 0 = the job does */
    int32_t first[DAGI_BARRIERS]; /* lowest rank in each enum dagi_barrier; -1 = none */
    int32_t count;
    double least[DAG_LEAST_MOST]; /* of the values that ranks have brought; `count` of them travel */
} dagi_wire_barrier;

/* END_UP and END_DOWN; the text follows, and marks of the hash. */
typedef struct dagi_wire_end {
    uint8_t kind;
    uint8_t unused[3];
    uint32_t pool;
    int32_t status, origin;
    int64_t info;
    uint64_t hash;
    uint32_t text_bytes;
    uint32_t again; /* 1: some task asks for another round */
    int64_t mark_each, tasks;
    int32_t nmarks, marks_of;
} dagi_wire_end;

/* An ACTIVATE being read. Pointers lead into the message. */
typedef struct dagi_wire_view {
    const dagi_wire_activate *head;
    const int32_t *params, *list;
    const uint16_t *count;
    const dagi_wire_cargo *cargo;
    const char *payload;
} dagi_wire_view;

/* The part of a pool's hash that an ACTIVATE carries. */
static inline uint32_t dagi_wire_hash(uint64_t hash)
{
    return (uint32_t)(hash ^ (hash >> 32));
}

static inline size_t dagi_wire_align(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

/* Bytes of the parameters and the list. */
static inline size_t dagi_wire_words(int nparams, int nlist)
{
    return dagi_wire_align((size_t)nparams * 4 + (size_t)nlist * 6);
}

/* Bytes of an ACTIVATE without its inline payload. */
static inline size_t dagi_wire_activate_bytes(int nparams, int nlist, int ncargo)
{
    return sizeof(dagi_wire_activate) + dagi_wire_words(nparams, nlist) +
           (size_t)ncargo * sizeof(dagi_wire_cargo);
}

/* Most bytes of an ACTIVATE with `payload` bytes inside, the packing of each flow aligned. */
#define DAGI_WIRE_LIST_MAX 1024
static inline size_t dagi_wire_max_bytes(size_t payload)
{
    return dagi_wire_activate_bytes(DAG_MAX_LOCALS, DAGI_WIRE_LIST_MAX, DAG_MAX_FLOWS) + payload +
           8 * DAG_MAX_FLOWS;
}

/* Most bytes of flows that travel inside one ACTIVATE, by the settings of these names. */
int64_t dagi_wire_inline_max(int64_t credit_bytes, int64_t eager_bytes);
/* How a flow travels that is there, when so many bytes are left in its message. */
enum dagi_how dagi_wire_how(int64_t bytes, int64_t room);

/* Check the lengths and find the parts; 0 when the message does not hold together. */
int dagi_wire_read(const void *data, size_t bytes, dagi_wire_view *view);

#endif

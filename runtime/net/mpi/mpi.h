/*
 * Inside of MPI's engine. Files: mpi.c (start, end, progress), am.c (active messages and credit),
 * bulk.c (bulk transfers), type.c (datatypes of views), node.c (the ranks of this node and their
 * bells), direct.c (whether MPI can read memory of devices).
 *
 * Builds without MPI leave this directory out. Everything is guarded by the progress lock of the
 * floor above.
 */
#ifndef DAGI_ENGINE_MPI_H
#define DAGI_ENGINE_MPI_H

#include "../bell.h"
#include "../engine.h"

#include "../../base/lock.h"

#include <mpi.h>

/* Receives posted for active messages; fewer when messages are long. */
#define DAGI_MPI_RECEIVES 32
#define DAGI_MPI_RECEIVE_BYTES ((size_t)2 << 20)
/* Send buffers come in two sizes: for messages of a few flows at most, and for the longest. */
#define DAGI_MPI_SMALL 512

/* In front of every active message. Behind that of CREDIT_ONLY: dagi_tag_range. */
typedef struct dagi_am_head {
    uint32_t credit; /* given back to the receiver of this message */
    uint32_t flags;  /* and above them what the transfers add to the charge */
} dagi_am_head;
enum { DAGI_AM_CONTROL = 1, DAGI_AM_CREDIT_ONLY = 2, DAGI_AM_FLAG_BITS = 2 };

/* Tags of the sender's choice; half of all where MPI has less than twice as many. */
#define DAGI_TAGS 32768
#define DAGI_TAG_RANGES 32

/* Tags towards a peer, a bit each: given out, and not yet sent, or not yet told to be matched. */
typedef struct dagi_tags {
    uint32_t next; /* where to look */
    uint64_t unsent[DAGI_TAGS / 64], unmatched[DAGI_TAGS / 64];
} dagi_tags;

typedef struct dagi_tag_range {
    uint32_t first, count;
} dagi_tag_range;

/* Tags of a peer for which receives have been posted, and that is to be told. */
typedef struct dagi_matched {
    uint32_t ntags, nranges;
    dagi_tag_range range[DAGI_TAG_RANGES];
} dagi_matched;

typedef struct dagi_am_buffer {
    struct dagi_am_buffer *next; /* free list, or messages put off by chaos */
    uint32_t capacity;           /* of data, the head included */
    uint32_t bytes;
    int peer;
    int delay; /* chaos: looks at the network still to let pass */
    _Alignas(8) char data[];
} dagi_am_buffer;

/* avail: what may still be sent to the peer. owed: what it has sent, was handled and is not yet
 * given back. avail here + owed there + messages under way = window. */
typedef struct dagi_peer {
    int32_t avail, owed;
    uint32_t asked;        /* the next of the tags to ask the peer with */
    dagi_tags *tags;       /* of transfers to the peer; made when first needed */
    dagi_matched *matched; /* from it; likewise */
    uint8_t listed; /* in `returns` */
    uint8_t called; /* in `calls` */
} dagi_peer;

/* A request in flight beside requests[]: a buffer to recycle, or a transfer to report. */
typedef struct dagi_posted {
    dagi_am_buffer *buffer;
    dagi_done_fn done;
    void *arg;
    int peer;
    uint32_t tag;
    uint64_t begin; /* for the observer, if there is one: when, how much */
    int source; /* receives */
    size_t bytes;
} dagi_posted;

#define DAGI_TYPE_SETS 64
#define DAGI_TYPE_WAYS 4

typedef struct dagi_type {
    int64_t m, n, ld;
    size_t elem;
    int region; /* twice that of the view, + 1 without memory */
    uint64_t used; /* when; 0 = empty */
    MPI_Datatype type;
} dagi_type;

/* Receives of active messages: posted in a ring, complete in about that order. */
struct dagi_mpi_ring {
    int count, next;
    MPI_Request *request;
    char *data;
};

/* Buffers of active messages. */
struct dagi_mpi_buffers {
    dagi_am_buffer *small, *large;      /* free */
    dagi_am_buffer *begun;              /* between am_begin() and am_send() */
    dagi_am_buffer *late_out, *late_in; /* chaos */
};

/* Counts of messages. */
struct dagi_mpi_counts {
    int64_t sent, received;
    int64_t given, taken; /* messages of any kind: to MPI, and from it */
};

/* All that MPI_Testsome() looks at: sends of messages, bulk transfers. */
struct dagi_mpi_open {
    MPI_Request *request;
    dagi_posted *posted;
    int *indices;
    int count, capacity;
};

/* Bells that are to be rung. */
struct dagi_mpi_bells {
    /* With bells: the bell of each rank, -1 = on another node; ranks that have been sent something
     * since the last dagi_mpi_call(). NULL without. */
    int32_t *bell_of, *calls;
    int32_t ncalls;
};

/* Data types that were made. */
struct dagi_mpi_types {
    dagi_type known[DAGI_TYPE_SETS * DAGI_TYPE_WAYS];
    uint64_t clock;
    MPI_Datatype gigabyte; /* 2^30 bytes, made when first needed */
    int has_gigabyte;
};

/* A message of rank 0 to itself, where it blocks to wait. */
struct dagi_mpi_alarm {
    MPI_Request rings, sent;
    int set;
};

/* Settings that all ranks must have alike. */
enum { DAGI_MPI_AGREED = 4 };

typedef struct dagi_mpi {
    dagi_engine super; /* first */
    MPI_Comm am, bulk; /* our own */
    int64_t must_agree[DAGI_MPI_AGREED]; /* settings: see mpi_agree() */
    uint32_t ntags, tag_limit; /* of the sender's choice: below ntags; the others up to here */
    int32_t window; /* bytes of credit per pair */
    size_t am_max;  /* of a message without the head */
    uint64_t random; /* chaos; 0 = off */

    dagi_peer *peers; /* [size] */
    int32_t *returns; /* peers that are owed half a window or more */
    int32_t nreturns;

    struct dagi_mpi_ring ring;
    struct dagi_mpi_buffers buffers;
    struct dagi_mpi_counts counts;

    struct dagi_mpi_open open;

    struct dagi_mpi_bells bells;
    /* Open MPI's switch of what its calls do when they find nothing: give the processor away. We
     * know better when to. NULL: another MPI, or it is off all the time. */
    bool (*set_yield)(bool on);

    struct dagi_mpi_types types;
    struct dagi_mpi_alarm alarm; /* under SimGrid */
    char *sink;            /* where data go that nobody wants */
} dagi_mpi;

static inline dagi_mpi *dagi_mpi_of(dagi_engine *e)
{
    return (dagi_mpi *)e;
}

/* mpi.c. The caller starts the request that it gets. */
MPI_Request *dagi_mpi_request(dagi_mpi *m, const dagi_posted *posted);
static inline uint32_t dagi_mpi_random(dagi_mpi *m, uint32_t n)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return (uint32_t)(m->random >> 32) % n;
}
void *dagi_mpi_alloc(size_t bytes);

/* node.c: sets sharing, share_index, near, bells of the engine. */
void dagi_mpi_node_init(dagi_mpi *m, const dagi_engine_options *options);
void dagi_mpi_node_fini(dagi_mpi *m);
/* Something is on its way to this rank: dagi_mpi_call() wakes it if it sleeps. */
static inline void dagi_mpi_note_call(dagi_mpi *m, int peer)
{
    if (!m->bells.calls || m->bells.bell_of[peer] < 0 || m->peers[peer].called)
        return;
    m->peers[peer].called = 1;
    m->bells.calls[m->bells.ncalls++] = peer;
}
void dagi_mpi_call(dagi_mpi *m);
/* Whether MPI's functions may give the processor away, where they do so at all. Elsewhere than
 * around a look of ours they may, also if another context looked at the same time. */
static inline void dagi_mpi_yields(dagi_mpi *m, bool on)
{
    if (m->set_yield)
        m->set_yield(on);
}

/* am.c */
dag_status dagi_mpi_am_init(dagi_mpi *m, const dagi_engine_options *options);
void dagi_mpi_am_fini(dagi_mpi *m);
void *dagi_mpi_am_begin(dagi_engine *e, int dest, int control, size_t bytes, int64_t bulk);
void dagi_mpi_am_send(dagi_engine *e);
void dagi_mpi_am_recycle(dagi_mpi *m, dagi_am_buffer *b);
int dagi_mpi_am_progress(dagi_mpi *m);
/* The next receive of the ring is complete. */
void dagi_mpi_am_received(dagi_mpi *m, const MPI_Status *status);
void dagi_mpi_am_tell_matched(dagi_mpi *m, int dest);

/* bulk.c */
uint32_t dagi_mpi_tag_find(dagi_engine *e, int dest, int count);
void dagi_mpi_tag_take(dagi_engine *e, int dest, uint32_t first, int count);
uint32_t dagi_mpi_tag_ask(dagi_engine *e, int source, int count);
void dagi_mpi_tag_matched(dagi_mpi *m, int dest, const dagi_tag_range *range);
void dagi_mpi_send(dagi_engine *e, int dest, uint32_t tag, const dagi_view *v, dagi_done_fn done,
                   void *arg);
void dagi_mpi_recv(dagi_engine *e, int source, uint32_t tag, const dagi_view *v, dagi_done_fn done,
                   void *arg);

/* direct.c */
int dagi_mpi_direct(dagi_engine *e, const dagi_direct_question *q, char *why, size_t why_size,
                    int *shown);

/* type.c: what travels of a view as (type, count), to be used at once; for views without
 * memory, a type that stays in one place (m->sink). */
MPI_Datatype dagi_mpi_type(dagi_mpi *m, const dagi_view *v, int *count);
void dagi_mpi_type_fini(dagi_mpi *m);

/* mpi.c: start the engine. */
dag_status dagi_engine_mpi_new(const dagi_engine_options *options, dagi_engine **out, char *why,
                               size_t why_size);

#endif

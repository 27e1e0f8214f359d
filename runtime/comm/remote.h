/*
 * What the files of this floor offer each other; README.md says what each is for.
 *
 * One lock, dagi_comm.lock, guards everything here unless a field says otherwise; it is only ever
 * taken by try-lock. Who does not get it leaves an item in the inbox; whoever holds it looks into
 * the inbox before letting go and once more after, so no item stays behind.
 */
#ifndef DAGI_COMM_REMOTE_H
#define DAGI_COMM_REMOTE_H

#include "comm.h"
#include "../net/shapes.h"
#include "../net/view.h"
#include "send.h"
#include "wire.h"

#include "../task/door.h"
#include "../task/task.h"
#include "../data/data.h"
#include "../device/device.h"

/* Bounds of what may wait to be sent before no further task is started: bytes of messages and small
 * values, and bytes of large values (no collection's memory). */
#define DAGI_QUEUED_BYTES (INT64_C(4) << 20)
#define DAGI_QUEUED_BULK_BYTES (INT64_C(256) << 20)
#define DAGI_QUEUED_LARGE (16 << 10)
#define DAGI_INBOX_MANY 512
/* Bulk transfers under way: in, and out per pool. Receives of scatter's ring come on top. */
#define DAGI_BULK_IN_FLIGHT 64
/* Bytes that early messages and their transfers may take here before senders have to keep them. */
#define DAGI_EARLY_BYTES (INT64_C(32) << 20)
/* A scatter has this many segments at most, a part of the fewest tags that MPI may have. */
#define DAGI_RING_TAGS 4096

/* ---- arrivals --------------------------------------------------------------------------- */

/* A relay's child. */
typedef struct dagi_child {
    int32_t first, count; /* in send.dests */
    uint32_t tag;
    int32_t skip; /* SCATTER: segment that it has already; else -1 */
    uint8_t open; /* announced (SCATTER: and ready): segments may be sent */
} dagi_child;

/* A segment of a bulk cargo, by number within the message. */
typedef struct dagi_segment {
    struct dagi_arrival *arrival;
    uint16_t cargo, index;
    uint8_t here;
} dagi_segment;

/*
 * A message whose data are under way, or that is to be relayed. It lives as long as `send`, which
 * it keeps alive (one of `shares`) until all segments are in. In one allocation: the struct,
 * shape[ncargo], segment[nsegments], child[nchildren].
 */
typedef struct dagi_arrival {
    struct dagi_arrival *next; /* of those that wait for a place, or of dagi_comm.scatters or bulk.pairs */
    dagi_send *send;           /* the message; its cargo values are what is received */
    dag_shape *shape; /* of each cargo */
    dagi_segment *segment;
    dagi_child *child;
    int source;
    uint32_t tag;
    int nsegments, missing, nchildren;
    int32_t index; /* SCATTER: own place in dests */
    struct dagi_arrival *other; /* of two trees, once it has started; NULL = it has not */
    int unwanted;  /* received and passed on, not delivered */
} dagi_arrival;

/* A PIECES message that came before its ACTIVATE. */
typedef struct dagi_early_pieces {
    struct dagi_early_pieces *next;
    int source;
    dagi_wire_pieces wire;
} dagi_early_pieces;

/* ---- pools ------------------------------------------------------------------------------ */

/* A message that came before its pool was added here, or a scatter of a pool that has been given up
 * here and not yet by all. Its credit has been returned: messages of older pools need it. */
typedef struct dagi_early {
    struct dagi_early *next;
    int source;
    int transfers; /* that come with it */
    int64_t bulk;  /* what these weigh */
    size_t bytes;
    _Alignas(8) char data[];
} dagi_early;

/* A delivery for a reader that the program here has not come to. */
typedef struct dagi_kept {
    int64_t reader;  /* its position; of lower ones first */
    uint64_t serial; /* then first come, first served */
    int64_t bytes;
    dagi_delivery delivery; /* points to what follows */
    int32_t params[DAG_MAX_LOCALS];
    dag_value *values[DAG_MAX_FLOWS];
} dagi_kept;

/* A message that waits for the program of the rank that it goes to, dests[first]. */
typedef struct dagi_held {
    dagi_send *send;
    int32_t first, count;
    int64_t bytes;
} dagi_held;

/* The ranks' knowledge of each other's programs in an open pool. */
typedef struct dagi_ahead {
    struct dagi_ahead *next; /* of dagi_comm.ahead */
    struct dagi_pool_comm *pool;
    /* Here. kept: a heap; each holds the pool. */
    dagi_kept **kept;
    size_t nkept, kept_capacity;
    int64_t told;  /* the position that those in `shut` have heard of */
    uint8_t *shut; /* [size]: 1 = that rank has been told to hold back what is beyond */
    int nshut;
    /* There: what each rank wants is before limit[rank]. */
    int64_t *limit; /* [size] */
    dagi_held *held;
    size_t nheld, held_capacity;
} dagi_ahead;

/* Result of a part of the ranks, on its way through the tree. */
typedef struct dagi_verdict {
    int status, origin; /* origin: rank that `message` is from */
    int again;          /* 1: some task asks for another round */
    int64_t info;
    uint64_t hash;
    char message[3072];
    /* Upwards: marks of an open pool (task/door.h), of the rank that `hash` is of; 0 = it was none */
    int64_t mark_each, tasks;
    int nmarks, marks_of;
    uint16_t mark[DAGI_DOOR_MARKS];
} dagi_verdict;

/* Barriers: of the job, or of the givers of a pool. */
typedef struct dagi_barrier_state {
    uint32_t pool; /* 0 = of the job */
    int ups, here;
    dagi_wire_barrier up;   /* of this part of the tree */
    dagi_wire_barrier last; /* written before `done` */
    _Atomic int64_t done;
    int64_t begun;
} dagi_barrier_state;

/* What comm knows of a pool: from dagi_comm_pool_added() or the first message of it, to the agreed
 * end. */
typedef struct dagi_pool_comm {
    struct dagi_pool_comm *next; /* bucket */
    dag_taskpool *pool;          /* NULL before it is added here */
    uint32_t id;
    int ups;        /* children that have reported */
    int local_done; /* this rank has */
    int64_t flights; /* bulk transfers out */
    int64_t sends;  /* that hold the pool: a pool that is ended by force may have some left */
    /* This rank has spoken for a pool that it did not have. It is told as ended, with the agreed
     * verdict, should it be added and end here after all. */
    int missing, late;
    int agreed; /* `verdict` is that of all ranks */
    dagi_verdict verdict;
    dagi_early *early, **early_end;
    dagi_ahead *ahead; /* of an open pool that has been added here, else NULL */
    dagi_barrier_state *barrier; /* NULL = no giver has been there */
} dagi_pool_comm;

/* The end of this rank's part of a pool, on its way to the lock. */
typedef struct dagi_end_item {
    dagi_item item;
    dag_taskpool *pool;
    dagi_verdict verdict;
} dagi_end_item;

/* The addition of a pool, likewise. */
typedef struct dagi_pool_item {
    dagi_item item;
    dag_taskpool *pool;
} dagi_pool_item;

/* ---- the whole -------------------------------------------------------------------------- */

#define DAGI_POOL_BUCKETS 64

/* Messages that wait to leave. */
struct dagi_comm_out {
    dagi_waiting_heap **heap; /* [size], made when first needed */
    int32_t *blocked;         /* ranks with a heap that is not empty */
    int32_t nblocked;
    uint64_t next_serial;
    uint32_t next_broadcast; /* its number */
    int64_t queued, queued_bulk;
    uint32_t *gate; /* [size]: the youngest pool of which that rank wants messages now */
};

/* Bulk transfers. */
struct dagi_comm_bulk {
    int64_t out, in;                /* begun and received, ever */
    int64_t sent;                   /* of those out: complete here */
    dagi_arrival *wait, **wait_end; /* for a place among the transfers in flight */
    int in_flight; /* transfers that need a place; those of scatter's rings do not */
    dagi_arrival *pairs; /* along two trees, that have not met */
};

/* Pools that messages are of. */
struct dagi_comm_pools {
    dagi_pool_comm *bucket[DAGI_POOL_BUCKETS];
    uint32_t added;   /* pools 1..added have been added here */
    uint32_t *failed; /* [nfailed]: pools that ended with an error or an info, oldest first */
    size_t nfailed, failed_capacity;
    uint32_t given_up; /* pools up to this one are known to be missing here */
};

/* Messages that have come before their pool was added. */
struct dagi_comm_early {
    dagi_early_pieces *pieces;
    int count;           /* early messages kept */
    int64_t transfers;   /* that come with them */
    int64_t bytes, most; /* that they take; from when on senders are told */
    uint8_t *shut;       /* [size]: 1 = that rank has been told */
    int nshut;
};

/* Results of devices that leave from there. */
struct dagi_comm_direct {
    int possible;  /* fixed: 1 = MPI reads memory of devices */
    char why[256]; /* fixed: why it does not */
    /* Sent from there, and by way of the host; written under the lock. */
    _Atomic int64_t bytes, staged;
};

/* What tests disturb. */
struct dagi_comm_chaos {
    int64_t delivered; /* messages for tasks of this rank so far, where the setting `lose` counts */
    uint64_t random;
};

/* Open pools whose programs are ahead of this rank's. */
struct dagi_comm_ahead {
    dagi_ahead *list;
    /* Bytes of deliveries that wait, up to about early_most, and of messages that wait for other programs;
     * written under the lock. */
    _Alignas(DAGI_LINE) _Atomic int64_t kept, held;
};

struct dagi_comm {
    dag_context *ctx;    /* fixed */
    double latency;      /* fixed: dag_latency() */
    dagi_engine *engine; /* fixed; its functions only under the lock */
    int rank, size;      /* fixed */
    int64_t inline_max;  /* fixed: most payload bytes in an ACTIVATE */
    dagi_tree_guide trees; /* of broadcasts: nodes and network, as far as they are known, are fixed */
    struct dagi_comm_direct direct;

    _Alignas(DAGI_LINE) _Atomic int lock;     /* the progress lock */
    _Alignas(DAGI_LINE) _Atomic(dagi_item *) inbox; /* latest first */
    _Atomic int inbox_count;                        /* about: counted after the post */
    _Alignas(DAGI_LINE) _Atomic int congested; /* written under the lock */

    struct dagi_worker *w; /* holder of the lock */
    struct dagi_comm_chaos chaos;

    struct dagi_comm_out out;
    struct dagi_comm_bulk bulk;
    int unfinished; /* arrivals that exist */
    dagi_arrival *scatters; /* that wait for pieces, or for a neighbour to be ready */
    struct dagi_comm_early early;

    struct dagi_comm_pools pools;

    struct dagi_comm_ahead ahead;
    dagi_barrier_state barrier;

    _Atomic int outlook; /* of dagi_comm_outlook(); written under the lock */

    /* waves */
    struct {
        int active, ups, again;
        uint32_t number;
        dagi_wave sum, last;
    } wave;
};

static inline dagi_comm *dagi_comm_of(const dag_context *ctx)
{
    return dagi_tasks(ctx)->comm;
}

/* ---- between the files; all under the lock unless noted ---------------------------------- */

/* remote.c */
int dagi_comm_enter(dagi_comm *c, struct dagi_worker *w); /* try-lock: 1 = entered */
void dagi_comm_leave(dagi_comm *c);
int dagi_comm_drain(dagi_comm *c); /* the inbox; number of items */
void dagi_comm_post(dagi_comm *c, dagi_item *item); /* into the inbox; any thread, no lock */
static inline uint32_t dagi_comm_random(dagi_comm *c, uint32_t n)
{
    uint64_t x = c->chaos.random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    c->chaos.random = x;
    return (uint32_t)(x >> 32) % n;
}
static inline int dagi_comm_chaos(dagi_comm *c, uint32_t n)
{
    return c->ctx->settings.chaos && dagi_comm_random(c, n) == 0;
}
/* Memory for bookkeeping, a few hundred bytes at a time. A rank that cannot have that can neither
 * send nor receive, so it says so and aborts, and the launcher ends the job. (Memory for data is
 * another matter: its lack becomes a status of the pool.) */
_Noreturn void dagi_comm_short(size_t bytes);
void *dagi_comm_alloc(size_t bytes);
void *dagi_comm_realloc(void *old, size_t bytes);

/* send.c */
dagi_send *dagi_send_new(dagi_comm *c, int ncargo, int nparams, int ndest);
void dagi_send_launch(dagi_comm *c, dagi_send *s);
void dagi_send_finish(dagi_comm *c, dagi_send *s); /* shares--, and the end of it at zero */
/* Send its message for dests[first .. first+count-1] to the first of them, now or when it can
 * be. */
void dagi_send_message(dagi_comm *c, dagi_send *s, int32_t first, int32_t count);
/* Put it into the heap of that rank. */
void dagi_send_enqueue(dagi_comm *c, dagi_send *s, int32_t first, int32_t count);
/* About what it takes here while it waits. */
int64_t dagi_send_bytes(const dagi_send *s);
/* Send one segment to a child that is open. */
void dagi_send_segment(dagi_comm *c, dagi_send *s, int dest, uint32_t tag, int cargo, int count,
                       int index);
/* Send to a child that has just been announced what has arrived already. */
void dagi_send_arrived(dagi_comm *c, dagi_arrival *a, dagi_child *child);
int dagi_send_flush(dagi_comm *c); /* messages sent of those that waited */
void dagi_send_free(dagi_comm *c);
/* The data of a cargo, which may be memory of a device, without gaps: then nobody but MPI may look
 * at it, and it is sent whole. The place on the host of one that is lost tells its size. Where
 * there was no memory for what arrives, ptr is NULL: the engine then receives into nothing, and sends
 * something of that size. */
static inline dagi_view dagi_cargo_view(const dagi_send *s, int i)
{
    const dagi_cargo *cargo = &s->cargo[i];
    const dag_value *v = cargo->value;
    if (cargo->departure && !cargo->lost)
        return (dagi_view){dagi_departure_at(cargo->departure), v->m, v->n, v->m, v->elem,
                           (dag_region)cargo->region};
    if (v) {
        dag_value sent = dagi_value_sent(v);
        return (dagi_view){sent.ptr, sent.m, sent.n, sent.ld, sent.elem, (dag_region)cargo->region};
    }
    if (!s->arrival)
        return (dagi_view){.ld = 1, .elem = 1};
    const dag_shape *shape = &s->arrival->shape[i];
    return (dagi_view){NULL, shape->m, shape->n, shape->m, shape->elem,
                       (dag_region)cargo->region};
}

/* direct.c: at the end of a start, under the lock, collective. Not success: this rank wants it, and it
 * cannot be; `why` says so. */
dag_status dagi_direct_settle(dagi_comm *c, char *why, size_t why_size);


/* shape.c: the way of a broadcast whose bulk data are so many bytes; dests are put into its order. */
void dagi_shape_settle(dagi_comm *c, dagi_send *s, size_t bulk);
/* What settings say of the network; nothing changes where they do not. DAG_ERR_IO, DAG_ERR_SETTING with `why`:
 * of the file. */
dag_status dagi_comm_know_link(const dagi_settings *settings, dagi_tree_link *link, char *why, size_t size);
/* What dag_network_get() tells; 0 = it is not known. `apart`: the ranks are on several nodes. */
int dagi_link_tell(const dagi_tree_link *link, int apart, dag_network *network);
/* What dag_bcast_way_get() tells. */
void dagi_shape_tell(const dag_context *ctx, const dagi_nodes *nodes, const dagi_tree_link *link, int64_t near,
                     size_t bytes, int ranks, dag_bcast_way *out);

/* recv.c */
void dagi_recv_activate(dagi_comm *c, int source, const void *data, size_t bytes);
/* Tasks of this rank get what has come; what becomes ready is run by the worker that makes progress. */
void dagi_recv_deliver(dagi_comm *c, dag_taskpool *pool, dagi_delivery *d);
/* A message of a pool that is over or will never be added: receive what comes with it, and forget
 * it. A scatter goes round, empty, so all ranks must have given up its pool. */
void dagi_recv_unwanted(dagi_comm *c, int source, const void *data, size_t bytes);
/* 1: a message that is not wanted here, but may be elsewhere. */
int dagi_recv_must_wait(const dagi_pool_comm *p, const void *data);
int dagi_recv_admit(dagi_comm *c); /* arrivals that waited for a place; number admitted */
/* Post the receive of one segment. */
void dagi_recv_segment(dagi_comm *c, dagi_segment *segment, int source, uint32_t tag);

/* scatter.c */
void dagi_recv_pieces(dagi_comm *c, int source, const void *data);
void dagi_recv_ready(dagi_comm *c, const void *data);
/* Post the own piece, tell the neighbour, and wait for the other neighbour's word. */
void dagi_scatter_begin(dagi_comm *c, dagi_arrival *a);
/* Forget an arrival that has all, if its neighbour is ready, too. */
void dagi_scatter_leave(dagi_comm *c, dagi_arrival *a);
void dagi_scatter_free(dagi_comm *c);

/* pair.c: arrivals along two trees. Returns the other half, if that has started, with the values. */
dagi_arrival *dagi_pair_begin(dagi_comm *c, dagi_arrival *a);
int dagi_pair_complete(const dagi_arrival *a); /* all of both is here */
/* The one of two complete arrivals whose values tasks get, poisoned if either is. */
dagi_arrival *dagi_pair_former(dagi_comm *c, dagi_arrival *a);
/* End an arrival that is complete, and the other half if that is complete, too. */
void dagi_pair_end(dagi_comm *c, dagi_arrival *a);
/* The end of this pool is about to be agreed: nothing more comes to those that wait. */
void dagi_pair_forget(dagi_comm *c, uint32_t pool_id);

/* agree.c */
dagi_pool_comm *dagi_pool_comm_find(dagi_comm *c, uint32_t id, int make);
void dagi_agree_pool(dagi_comm *c, dag_taskpool *pool);
/* 1: this pool has ended, and not well. */
int dagi_agree_failed(const dagi_comm *c, uint32_t id);
void dagi_agree_local(dagi_comm *c, const dagi_end_item *item);
/* A send holds the pool; it has dropped it. */
void dagi_agree_hold(dag_taskpool *pool);
void dagi_agree_drop(dagi_comm *c, dag_taskpool *pool);
void dagi_agree_message(dagi_comm *c, int kind, const void *data, size_t bytes);
/* Pools up to this number that have not been added here never will be. */
void dagi_agree_missing(dagi_comm *c, uint32_t last);
void dagi_agree_free(dagi_comm *c);

/* early.c */
/* Keep a message for later. */
void dagi_early_keep(dagi_comm *c, dagi_pool_comm *p, int source, const void *data, size_t bytes,
                     int transfers, int64_t bulk);
/* All of a pool, as a list; each is to be uncounted and freed, or linked again. */
dagi_early *dagi_early_take(dagi_pool_comm *p);
void dagi_early_uncount(dagi_comm *c, const dagi_early *early);
/* Receive and forget what was kept of a pool that is not wanted, as far as that may be now. */
void dagi_early_forget(dagi_comm *c, dagi_pool_comm *p);
/* Tell senders that wait: messages of other pools may be accepted now, or there is room again. */
void dagi_early_open_gates(dagi_comm *c);
void dagi_gate_message(dagi_comm *c, int source, const void *data);

/* ahead.c */
dagi_ahead *dagi_ahead_new(dagi_comm *c, dagi_pool_comm *p);
void dagi_ahead_free(dagi_comm *c, dagi_ahead *a);
/* A delivery for a reader at this position: 1 = it is taken over, to wait. */
int dagi_ahead_keep(dagi_comm *c, dag_taskpool *pool, int source, const dagi_delivery *d,
                    int64_t reader);
/* Deliver what has become known, move gates; number of deliveries. */
int dagi_ahead_look(dagi_comm *c);
/* 1: a message for dests[first] of an open pool is not wanted yet, and waits. */
int dagi_ahead_hold(dagi_comm *c, dagi_send *s, int32_t first, int32_t count);
/* A rank has told what it wants of a pool: what is before this position. */
void dagi_ahead_gate(dagi_comm *c, int source, uint32_t pool, int64_t position);
/* All ranks have agreed on the end: whatever still waits is wanted, to be forgotten. NULL: nothing. */
void dagi_ahead_end(dagi_comm *c, dagi_ahead *a);
int dagi_comm_pressed(const dag_context *ctx); /* any thread */

/* barrier.c */
void dagi_barrier_message(dagi_comm *c, const void *data);
void dagi_barrier_empty(dagi_barrier_state *b);

/* control.c */
void dagi_send_control(dagi_comm *c, int dest, const void *head, size_t head_bytes,
                       const void *text, size_t text_bytes);
void dagi_tree_send_up(dagi_comm *c, const void *data, size_t bytes);
void dagi_tree_send_down(dagi_comm *c, const void *data, size_t bytes);

/* observe.c */
void dagi_observe_outlook(dagi_comm *c);
/* All data of a broadcast are here. */
static inline void dagi_observe_received(const dagi_comm *c, int ncargo, int32_t root, uint32_t serial)
{
    if (c->engine->observer && ncargo > 0)
        c->engine->observer->received(c->engine->observer_arg, root, serial);
}

/* wave.c */
void dagi_wave_message(dagi_comm *c, const void *data);

/* The tree over all ranks of ends, waves and barriers. Its nodes have many children, for a level costs
 * the latency of the network twice, and a child less than a microsecond. */
enum { DAGI_TREE_WAYS = 8 };
static inline int dagi_tree_parent(const dagi_comm *c)
{
    return (c->rank - 1) / DAGI_TREE_WAYS;
}
static inline int dagi_tree_member(const dagi_comm *c, int i) /* 0 <= i < dagi_tree_nchildren() */
{
    return DAGI_TREE_WAYS * c->rank + 1 + i;
}
static inline int dagi_tree_nchildren(const dagi_comm *c)
{
    int64_t behind = c->size - (DAGI_TREE_WAYS * (int64_t)c->rank + 1);
    return behind < 0 ? 0 : behind < DAGI_TREE_WAYS ? (int)behind : DAGI_TREE_WAYS;
}

#endif

/* Shared by the files of this floor. */
#ifndef DAGI_SIM_IMPL_H
#define DAGI_SIM_IMPL_H

#include "../base/heap.h"
#include "../comm/remote.h"
#include "../task/completion.h"
#include "machine.h"
#include "sim.h"

enum dagi_sim_kind {
    DAGI_SIM_BEGIN,   /* the application of the rank has added the pool: what = sim_pool */
    DAGI_SIM_OVER,    /* a worker has run a task: what = the task */
    DAGI_SIM_FREE,    /* a worker has done its part of messages */
    DAGI_SIM_MESSAGE, /* an ACTIVATE is here: what = the message */
    DAGI_SIM_PIECE,   /* a segment is here, or may be fetched: what = the arrival, extra = its number */
    DAGI_SIM_CREDIT   /* extra bytes of credit have come back to the rank: what = who gave them */
};

/* Two of them fill a line of the cache, the four children in a heap two lines. */
typedef struct dagi_sim_event {
    dagi_sim_time at;
    uint64_t order; /* of equal times the one that was made first */
    void *what;
    uint32_t extra;
    uint32_t rank : 26, kind : 6;
} dagi_sim_event;
_Static_assert(sizeof(dagi_sim_event) == 32, "an event is half a line");

#define HEAP dagi_sim_events
#define HEAP_ENTRY dagi_sim_event
#define HEAP_BEFORE(h, a, b) \
    ((void)(h), (a)->at != (b)->at ? (a)->at < (b)->at : (a)->order < (b)->order)
#include "../base/heap_of.h"

typedef struct dagi_sim_part {
    int64_t open;       /* tasks that are not over */
    dagi_sim_time over; /* when it was 0; from then on */
    dag_cursor cursor;
    int at;             /* class that starts */
    int waits;          /* earlier pools, and the application */
    struct dag_task *early; /* ready while it waits */
} dagi_sim_part;

/* A pool that has been added and has not ended. */
typedef struct dagi_sim_pool {
    struct dagi_sim_pool *next;
    dag_taskpool *pool;
    dagi_sim_part *part; /* [ranks] */
    int64_t left;        /* parts that are not over */
    struct dagi_sim_cast *casts; /* all that exist */
    struct dagi_sim_arrival *arrivals;
    struct dagi_sim_pool **followers; /* wait for it, rank by rank */
    int nfollowers;
    dagi_sim_time *class_time; /* [classes]: -1 = the body tells */
} dagi_sim_pool;

/* How a data flow travels. */
typedef struct dagi_sim_cargo {
    dag_shape shape;
    int64_t bytes; /* of its region */
    uint16_t segments;
    uint8_t flow, region, how; /* enum dagi_how */
} dagi_sim_cargo;

/* One task's data for ranks that need the same. All messages of it share this. */
typedef struct dagi_sim_cast {
    struct dagi_sim_cast *next, **link; /* in its pool's list */
    dagi_sim_pool *of;
    const dag_class *cls;
    uint32_t mask;
    uint8_t shape, ncargo;
    int32_t group, root, count; /* count: of ranks */
    int32_t refs;   /* messages and arrivals that exist, and its maker */
    int32_t sends;  /* of the root that are not complete: each holds the values */
    int64_t priority;
    int64_t inline_bytes;
    dag_value *value[DAG_MAX_FLOWS]; /* of the root's; NULL once it has sent */
    dagi_sim_cargo cargo[DAG_MAX_FLOWS];
    int32_t params[DAG_MAX_LOCALS];
    int32_t ranks[]; /* in the order of the tree */
} dagi_sim_cast;

/* An ACTIVATE under way, or waiting for credit or for a worker. */
typedef struct dagi_sim_message {
    struct dagi_sim_message *next;
    dagi_sim_cast *cast;
    struct dagi_sim_arrival *from; /* of the relay that sends it; NULL = the root does */
    int32_t first, count;          /* its part of the list: the receiver, and whom it serves */
    int32_t source;
    int32_t charge; /* of credit */
} dagi_sim_message;

/* Who gets segments from an arrival. */
typedef struct dagi_sim_child {
    struct dagi_sim_arrival *to; /* NULL: it is not ready for them yet */
    int32_t rank, sent;
} dagi_sim_child;

/* A message whose data come apart from it, or that others get from here. */
typedef struct dagi_sim_arrival {
    struct dagi_sim_arrival *next, **link; /* in its pool's list */
    dagi_sim_cast *cast;
    int32_t rank, source, place; /* place: in the list of ranks */
    int32_t missing;  /* segments */
    int32_t promised; /* to children, not sent yet */
    int32_t nsegments, nchildren;
    int delivered;
    dagi_sim_child *child;
    uint8_t *here; /* [nsegments] */
} dagi_sim_arrival;

/* Arrivals that nobody has looked at yet. */
typedef struct dagi_sim_item {
    struct dagi_sim_item *next;
    dagi_sim_message *message;
    dagi_sim_arrival *arrival; /* or this, with the number of a segment */
    int32_t segment;
} dagi_sim_item;

typedef struct dagi_sim_rank {
    dagi_ready_heap ready;
    dagi_sim_item *inbox, **inbox_end;
    int32_t idle; /* workers */
    int64_t memory, peak; /* bytes of values */
    dagi_sim_time app;  /* where the application is, once it has waited */
    dagi_sim_time busy; /* of workers in bodies */
    dagi_sim_time talk; /* and with messages */
} dagi_sim_rank;

/* Credit between two ranks; dagi_sim.pairs is a table of those that have ever met. */
typedef struct dagi_sim_pair {
    int32_t from, to;
    int32_t avail, owed;
    dagi_sim_message *waiting; /* by priority */
} dagi_sim_pair;

struct dagi_sim {
    dag_context *ctx;
    dagi_sim_machine machine;
    dagi_sim_wires wires;
    int nranks, workers;
    dagi_sim_rank *rank;
    dagi_sim_pool *pools, **pools_end;
    dagi_sim_time now;
    int at;               /* rank that is played; ctx->rank outside of that is 0 */
    dagi_sim_events events;
    uint64_t order;
    uint64_t pushed;      /* tasks that became ready */
    dagi_sim_time charge; /* what kernels of the body that runs have told */
    dagi_sim_time spent;  /* what the worker that completes a task or handles an item spends on messages */
    dagi_sim_pair *pairs;
    size_t npairs, pairs_capacity;
    int32_t window;
    int64_t inline_max;
    struct {
        void *begin; /* where all values point */
        size_t bytes;
    } scratch;
    int failed;    /* out of memory: DAG_ERR_NOMEM for all */
    dagi_sim_item *items;
    dagi_sim_message *messages; /* free ones */
    struct {
        int64_t tasks, sent, bytes, renames;
        int64_t largest; /* of the local parts of matrices */
    } sums;
};

static inline struct dagi_sim *dagi_sim_of(const dag_context *ctx)
{
    return dagi_tasks(ctx)->sim;
}

static inline struct dagi_worker *dagi_sim_worker(const struct dagi_sim *s)
{
    return dagi_tasks(s->ctx)->workers[0];
}

/* ---- sim.c ---------------------------------------------------------------------------------- */

void dagi_sim_post(struct dagi_sim *s, dagi_sim_time at, enum dagi_sim_kind kind, int rank, void *what,
                   uint32_t extra);
/* The next event happens; there is one. */
void dagi_sim_next(struct dagi_sim *s);
/* Become a rank, as far as the collections of a pool tell. */
void dagi_sim_become(struct dagi_sim *s, int rank, const dag_taskpool *pool);
dagi_sim_pool *dagi_sim_pool_of(struct dagi_sim *s, const dag_taskpool *pool);
/* Out of memory: whatever is played ends. */
void dagi_sim_short(struct dagi_sim *s);

/* ---- ranks.c: tasks and workers ------------------------------------------------------------- */

/* Tasks of a rank that are ready; linked by next. */
void dagi_sim_ready(struct dagi_sim *s, int rank, dagi_sim_pool *p, struct dag_task *list);
/* Idle workers of the rank find something to do. */
void dagi_sim_go(struct dagi_sim *s, int rank);
void dagi_sim_part_begins(struct dagi_sim *s, int rank, dagi_sim_pool *p);
void dagi_sim_task_over(struct dagi_sim *s, int rank, struct dag_task *t);
/* The value belongs to this rank's memory from now on. */
void dagi_sim_adopt(struct dagi_sim *s, int rank, dag_value *v);
extern const dagi_value_keeper dagi_sim_keeper;
extern const dagi_device_port dagi_sim_device;

/* ---- cast.c: what a task sends -------------------------------------------------------------- */

extern const dagi_remote_port dagi_sim_remote;
void dagi_sim_cast_drop(struct dagi_sim *s, dagi_sim_cast *c);
/* A message to a part of the list leaves; `from` as in the message. */
void dagi_sim_tell_child(struct dagi_sim *s, dagi_sim_cast *c, dagi_sim_arrival *from, int32_t self,
                         int32_t first, int32_t count);
/* The root has sent one thing completely. */
void dagi_sim_cast_sent(struct dagi_sim *s, dagi_sim_cast *c);

/* ---- credit.c ------------------------------------------------------------------------------- */

/* Off it goes, now or when there is credit. */
void dagi_sim_message_send(struct dagi_sim *s, dagi_sim_message *m);
/* It has been handled: credit goes back, now or later. */
void dagi_sim_message_done(struct dagi_sim *s, const dagi_sim_message *m);
void dagi_sim_credit(struct dagi_sim *s, int from, int to, int32_t bytes);

/* ---- arrive.c ------------------------------------------------------------------------------- */

void dagi_sim_inbox(struct dagi_sim *s, int rank, dagi_sim_message *m, dagi_sim_arrival *a,
                    int32_t segment);
/* Handle the first item of a rank; the worker's part of it is in s->spent. */
void dagi_sim_handle(struct dagi_sim *s, int rank);
void dagi_sim_arrival_free(dagi_sim_arrival *a);

#endif

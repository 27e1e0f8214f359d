/* Shared by the files of this floor. */
#ifndef DAGI_SIM_IMPL_H
#define DAGI_SIM_IMPL_H

#include "../base/heap.h"
#include "../comm/remote.h"
#include "../task/completion.h"
#include "events.h"
#include "machine.h"
#include "sim.h"

typedef struct dagi_sim_part {
    int64_t open;       /* tasks that are not over */
    dagi_sim_time over; /* when it was 0; from then on */
    struct dag_task *early; /* ready while it waits */
    int waits;          /* earlier pools, and the application */
    int at;             /* class that starts */
    dag_cursor cursor;
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
    uint8_t shape, ncargo; /* shape: of the outermost level, for SCATTER */
    dag_bcast_tree asked;
    int32_t root, count; /* count: of ranks */
    int32_t refs;   /* messages and arrivals that exist, and its maker */
    int32_t sends;  /* of the root that are not complete: each holds the values */
    int64_t priority;
    int64_t inline_bytes;
    int32_t params[DAG_MAX_LOCALS];
    uint16_t *serves; /* [count]: the tree of net/shapes.h, behind the ranks */
    dagi_sim_cargo cargo[DAG_MAX_FLOWS]; /* few of them, so what is read lies at the beginning */
    dag_value *value[DAG_MAX_FLOWS];     /* of the root's; NULL once it has sent */
    int32_t ranks[];
} dagi_sim_cast;

/* An ACTIVATE under way, or waiting for credit or for a worker. */
typedef struct dagi_sim_message {
    struct dagi_sim_message *next;
    dagi_sim_cast *cast;
    struct dagi_sim_arrival *from; /* of the relay that sends it; NULL = the root does */
    int32_t first, count;          /* its part of the list: the receiver, and whom it serves */
    int32_t source;
    int32_t charge; /* of credit */
    uint32_t pair;  /* that gave it: place in the table, if that has not grown since */
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
    _Alignas(64) dagi_ready_heap ready; /* what each event looks at lies in one line */
    dagi_sim_item *inbox, **inbox_end;
    int32_t idle; /* workers */
    int32_t starts; /* a pool may have tasks that have not been started */
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

enum { DAGI_SIM_KEPT_LINES = 8 };

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
    uint64_t pushed;      /* tasks that became ready */
    dagi_sim_time charge; /* what kernels of the body that runs have told */
    _Atomic dagi_sim_time passed; /* of kernels that real workers have called */
    dagi_sim_time spent;  /* what the worker that completes a task or handles an item spends on messages */
    dagi_sim_pair *pairs;
    size_t npairs, pairs_capacity;
    struct {
        int32_t window;     /* of credit between two ranks */
        int64_t inline_max; /* bytes of data within a message */
    } most;
    dagi_tree_guide trees;
    struct {
        void *begin; /* where all values point */
        size_t bytes;
    } scratch;
    int failed;    /* out of memory: DAG_ERR_NOMEM for all */
    dagi_sim_item *items;
    dagi_sim_message *messages; /* free ones */
    dagi_sim_arrival *arrivals[DAGI_SIM_KEPT_LINES]; /* likewise, by their size in cache lines */
    struct {
        int64_t tasks, sent, bytes, leaving, renames;
        int64_t largest; /* of the local parts of matrices */
        struct dagi_sim_overlap *overlap; /* NULL: nobody asks */
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

/* Bytes of data go from a rank to another. */
static inline void dagi_sim_count(struct dagi_sim *s, int from, int to, int64_t bytes)
{
    s->sums.bytes += bytes;
    s->sums.leaving += dagi_sim_same_node(&s->machine, from, to) ? 0 : bytes;
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
/* `from` gets bytes of credit back; pair: who gives it, and above 32 bits where the two are in the
 * table, if that has not grown since. */
void dagi_sim_credit(struct dagi_sim *s, int from, uint64_t pair, int32_t bytes);

/* ---- arrive.c ------------------------------------------------------------------------------- */

void dagi_sim_inbox(struct dagi_sim *s, int rank, dagi_sim_message *m, dagi_sim_arrival *a,
                    int32_t segment);
/* Handle the first item of a rank; the worker's part of it is in s->spent. */
void dagi_sim_handle(struct dagi_sim *s, int rank);
void dagi_sim_arrival_free(struct dagi_sim *s, dagi_sim_arrival *a);

/* ---- overlap.c ------------------------------------------------------------------------------ */

/* While somebody asks. A body begins (more = 1) or ends (-1) on that rank. */
void dagi_sim_body(struct dagi_sim *s, int rank, int more);
/* Something of that pool leaves rank `from` for rank `to` (more = 1), or is there (-1). */
void dagi_sim_fly(struct dagi_sim *s, const dagi_sim_pool *pool, int from, int to, int more);
void dagi_sim_overlap_tell(struct dagi_sim *s);
void dagi_sim_overlap_free(struct dagi_sim *s);

#endif

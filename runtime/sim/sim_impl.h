/* Shared by the files of this floor. */
#ifndef DAGI_SIM_IMPL_H
#define DAGI_SIM_IMPL_H

#include "../base/heap.h"
#include "../data/copies.h"
#include "../device/choice.h"
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
    uint8_t *on_device;        /* [classes]: it has a body for devices, and there are some */
} dagi_sim_pool;

/* How a data flow travels. */
typedef struct dagi_sim_cargo {
    dag_shape shape;
    int64_t bytes; /* of its region */
    uint16_t segments;
    uint8_t flow, region, how; /* enum dagi_how */
} dagi_sim_cargo;

/* Ranks that have all of one of two trees. */
typedef struct dagi_sim_pair_of_trees {
    int32_t *ranks; /* [count], in their order */
    uint8_t *one;   /* [count]: 1 = one of the halves is there */
} dagi_sim_pair_of_trees;

/* One task's data for ranks that need the same. All messages of it share this. */
typedef struct dagi_sim_cast {
    struct dagi_sim_cast *next, **link; /* in its pool's list */
    dagi_sim_pool *of;
    const dag_class *cls;
    uint32_t mask;
    uint8_t shape, ncargo; /* shape: of the outermost level, for SCATTER */
    dag_bcast_tree asked;
    int32_t root, count; /* count: of ranks */
    dagi_sim_pair_of_trees *pair; /* NULL = one tree */
    int32_t refs;   /* messages and arrivals that exist, and its maker */
    int32_t sends;  /* of the root that are not complete: each holds the values */
    int64_t priority;
    int64_t inline_bytes;
    int32_t params[DAG_MAX_LOCALS];
    int32_t *ranks;   /* [count]: the tree of net/shapes.h; of two trees twice as many, one after the other */
    uint16_t *serves; /* likewise */
    dagi_sim_cargo cargo[DAG_MAX_FLOWS]; /* few of them, so what is read lies at the beginning */
    dag_value *value[DAG_MAX_FLOWS];     /* of the root's; NULL once it has sent */
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
    struct dagi_sim_job *job; /* or what has run on a device */
} dagi_sim_item;

/* What lies in the memory of a device: dagi_copy.memory of a value. */
typedef struct dagi_sim_copy {
    struct dagi_sim_copy *older, *newer; /* by last use */
    dag_value *value;
    struct dagi_sim_device *device;
    int64_t bytes;
    int32_t users;       /* operations that are not over; > 0: it stays */
    int32_t gone;        /* 1: it is not the value's any more, and its memory free without users */
} dagi_sim_copy;

/* A copy that a job uses; what it waits for there; and until when the job's flow of that number comes to the host. */
typedef struct dagi_sim_use {
    dagi_sim_copy *copy;
    dagi_ticket behind, home;
} dagi_sim_use;

/* A task that a device has taken. */
typedef struct dagi_sim_job {
    struct dag_task *task;
    struct dagi_sim_job *next;   /* its kernels have run, and results are on their way to the host */
    int32_t device;              /* of its rank, from 0 */
    int32_t stage;               /* 0: it waits; 1: it was issued, its kernels are in a queue; 2: they have run */
    int32_t late;                /* 1: its successors hear of it at its end */
    int32_t nuses;
    dagi_sim_time alone, filled; /* as dagi_sim_device_time() says */
    dagi_sim_time estimate;      /* what it adds to the backlog */
    dagi_sim_use use[];          /* two for each flow of data, which may have replaced another value */
} dagi_sim_job;

/* Something in a queue of a device. */
typedef struct dagi_sim_op {
    struct dagi_sim_op *next;
    dagi_sim_job *job;           /* its kernels; NULL: a copy, or it is forgotten */
    dagi_sim_copy *copy, *from;  /* a copy: what comes to this device, or goes from it; where from, NULL = the host */
    dagi_ticket behind;          /* a copy: of its source */
    struct dag_task *callers;    /* tasks that wait until the host has it */
    dagi_sim_time alone, filled;
} dagi_sim_op;

/* In the order in which it was entered: tickets (data/copies.h) are points in it. */
typedef struct dagi_sim_queue {
    dagi_queue_order order; /* first: tickets lead to it */
    uint64_t entered;
    dagi_sim_op *first, *last;
    struct dagi_sim_device *device;
    int32_t busy;           /* 1: with the first one */
} dagi_sim_queue;

/* Copies to a device, and from it; then its queues for kernels, the first for urgent ones. */
enum { DAGI_SIM_LANES = 16 /* as many as the setting device_streams may ask for */ };
enum { DAGI_SIM_IN, DAGI_SIM_OUT, DAGI_SIM_KERNELS, DAGI_SIM_QUEUES = DAGI_SIM_KERNELS + DAGI_SIM_LANES };

typedef struct dagi_sim_device {
    dagi_ready_heap waiting, filled; /* jobs that are not issued; queues whose kernels may begin, first come first */
    dagi_sim_queue queue[DAGI_SIM_QUEUES];
    dagi_sim_job *finishing;         /* those whose results are on their way to the host */
    int32_t issued, running, turn;
    int32_t nahead;            /* jobs that are issued and have not run */
    dagi_sim_time ahead;       /* and the sum of their estimates */
    int32_t rank, link, space; /* whose it is; in dagi_sim.devices.link; among copies */
    int64_t bytes;             /* that copies take */
    dagi_sim_copy *oldest, *newest;
    dagi_sim_time backlog;     /* of jobs that are not over */
    dagi_sim_time busy_until;  /* with what fills it */
    dagi_sim_time since;       /* running > 0: from when on */
} dagi_sim_device;

/* The devices of a rank. */
typedef struct dagi_sim_crew {
    int32_t count;
    int32_t managed;    /* 1: a worker looks after them */
    int64_t work;       /* jobs that are not over */
    struct dag_task *fetches; /* tasks for cores that lack something on the host; the last comes first */
    dagi_sim_device *device; /* [count] */
} dagi_sim_crew;

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
    struct dagi_sim_shares *shares; /* of wires; NULL where transfers follow each other */
    int nranks, workers;
    dagi_sim_rank *rank;
    dagi_sim_pool *pools, **pools_end;
    dagi_sim_time now;
    int at;               /* rank that is played; ctx->rank outside of that is 0 */
    dagi_sim_events events;
    uint64_t pushed;      /* tasks that became ready */
    dagi_sim_time charge; /* what kernels of the body that runs have told */
    struct {
        dagi_sim_crew *crew;      /* [ranks]; NULL = there are none */
        dagi_sim_device *all;     /* of all ranks */
        dagi_sim_time *link;      /* two each: until when to devices, until when from them */
        dagi_choice *choice;
        const struct dagi_policy *policy;
        dagi_sim_time alone, filled; /* of the body that runs, on a device */
        int unable;               /* and it has a kernel that devices have not */
        int lanes;                /* queues for kernels of each */
        uint32_t *home, *away;    /* while stores are asked for: flows that are where they are stored, or not */
        int64_t tasks, bytes;     /* that ran on devices, that went to and from them */
        dagi_sim_time busy;       /* with at least one kernel, all together */
        int64_t count;            /* of all ranks */
    } devices;
    dagi_sim_time spent;  /* what the worker that completes a task or handles an item spends on messages */
    struct {
        dagi_sim_pair *table;
        size_t count, capacity;
    } pairs;
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
        _Atomic dagi_sim_time passed;     /* of kernels that real workers have called */
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
extern const dagi_device_port dagi_sim_memory;

/* t is ready, and a core is to run it. */
void dagi_sim_push(struct dagi_sim *s, int rank, struct dag_task *t);
/* The flows of t get memory. */
void dagi_sim_adopt_fresh(struct dagi_sim *s, int rank, struct dag_task *t);
/* Flows that t may write become its own. */
void dagi_sim_make_writable(struct dagi_sim *s, int rank, struct dag_task *t, uint32_t mask);
/* Add up what the kernels of t tell; the pool fails where no body of t may run. */
void dagi_sim_body(struct dag_task *t);
/* t has run: its successors hear of it, those of a task that was `released` have heard. s->spent is what that
 * takes a worker. */
void dagi_sim_complete(struct dagi_sim *s, int rank, struct dag_task *t, int released);

/* ---- devices.c: what devices of a rank do ---------------------------------------------------- */

/* DAG_ERR_NOMEM, DAG_ERR_SETTING with `why`. Nothing happens where the machine has none. */
dag_status dagi_sim_devices_init(struct dagi_sim *s, char *why, size_t size);
void dagi_sim_devices_fini(struct dagi_sim *s);
int dagi_sim_has_device_body(const struct dagi_sim *s, const dag_program *program, const dag_class *cls,
                             dag_precision prec);
/* A task that is ready: 1 = a device has taken it. */
int dagi_sim_device_takes(struct dagi_sim *s, int rank, struct dag_task *t);
/* A core runs it, for that long. */
void dagi_sim_core_runs(struct dagi_sim *s, const struct dag_task *t, dagi_sim_time time);
/* A core cannot run it yet: what the host lacks is to come, and then it is ready once more. */
void dagi_sim_fetch(struct dagi_sim *s, int rank, struct dag_task *t);
/* A worker that is idle may have become the manager; it issues what there is. Nonzero: there was something. */
int dagi_sim_manage(struct dagi_sim *s, int rank);
/* Workers that are idle and yet are none for tasks: the one that manages. */
int dagi_sim_managers(const struct dagi_sim *s, int rank);
/* There is so much for devices that nothing need be started for them. */
int dagi_sim_devices_full(const struct dagi_sim *s, int rank);
/* Its kernels have run. */
void dagi_sim_job_ran(struct dagi_sim *s, dagi_sim_device *d, dagi_sim_job *job);
/* It has run, its results are where they are to be, and a worker looks at it. */
void dagi_sim_job_over(struct dagi_sim *s, int rank, dagi_sim_job *job);
/* Jobs of a pool that is forgotten: all that wait, and one that is under way. */
void dagi_sim_devices_forget(struct dagi_sim *s, int rank, const dagi_sim_pool *p);
void dagi_sim_job_forget(struct dagi_sim *s, int rank, dagi_sim_job *job);

/* ---- issue.c -------------------------------------------------------------------------------- */

/* Its kernels and copies are entered in queues, and its successors hear of it. Nonzero: there is no room now. */
int dagi_sim_issue(struct dagi_sim *s, dagi_sim_device *d, dagi_sim_job *job);
/* What it uses may go. */
void dagi_sim_uses_end(dagi_sim_job *job);

/* ---- queues.c: the order in which they do it ------------------------------------------------- */

void dagi_sim_queues_init(dagi_sim_device *d);
void dagi_sim_queues_fini(dagi_sim_device *d);
/* Copies of the operation have a user more until it is over. Nobody waits for it if there is no memory for it. */
dagi_ticket dagi_sim_enter(struct dagi_sim *s, dagi_sim_device *d, int queue, dagi_sim_op what);
/* Enter the kernels of a job that works in place of what `written` brings. */
dagi_ticket dagi_sim_launch(struct dagi_sim *s, dagi_sim_device *d, dagi_sim_job *job, dagi_ticket written);
/* What is first in the queues of a rank begins, where nothing is in its way. */
void dagi_sim_queues_begin(struct dagi_sim *s, int rank);
/* What is first in it is over. */
void dagi_sim_queue_over(struct dagi_sim *s, dagi_sim_queue *q);
/* t is ready once more when that has passed, which it has not yet. */
void dagi_sim_call_back(dagi_ticket when, struct dag_task *t);
/* Tasks of a pool, and kernels of their jobs, leave the queues of a device. */
void dagi_sim_queues_forget(struct dagi_sim *s, dagi_sim_device *d, const dagi_sim_pool *p);

/* ---- copies.c: what lies in their memories --------------------------------------------------- */

/* A value gets room on a device and, with `content`, what it holds: once the ticket has passed that its record has for
 * it. NULL: there is no room while those that are in use stay. */
dagi_sim_copy *dagi_sim_fill(struct dagi_sim *s, dagi_sim_device *d, dag_value *v, int content);
/* The host gets its content, if it lacks it, when the ticket has passed. */
dagi_ticket dagi_sim_save(struct dagi_sim *s, dag_value *v);
/* A task writes it: in that space, 0 = on the host, it is valid and nowhere else, when the ticket has passed, which is
 * expected then. */
void dagi_sim_written(dag_value *v, int space, dagi_ticket when, dagi_sim_time due);
/* The copy has a user less. */
void dagi_sim_let_go(dagi_sim_copy *y);
/* The value ends. */
void dagi_sim_copies_forget(dag_value *v);
/* When a copy, to a device or back, is there that begins now. */
dagi_sim_time dagi_sim_cross(struct dagi_sim *s, const dagi_sim_device *d, int back, const dagi_sim_op *op);
/* Seconds to bring the inputs of a task to a space. */
double dagi_sim_moving(const struct dagi_sim *s, struct dag_task *t, int space);
/* How long it takes until devices will have made them all, as expected. */
dagi_sim_time dagi_sim_coming(const struct dagi_sim *s, struct dag_task *t);
static inline dagi_copies *dagi_sim_copies(const dag_value *v)
{
    return atomic_load_explicit(&((const dagi_value *)(const void *)v)->copies, memory_order_relaxed);
}
static inline int64_t dagi_sim_value_bytes(const dag_value *v)
{
    return v->m * v->n * (int64_t)v->elem;
}
/* The flow holds the value of an earlier one. */
static inline int dagi_sim_flow_again(struct dag_task *t, int flow)
{
    for (int f = 0; f < flow; f++)
        if (dag_task_flows(t)[f] == dag_task_flows(t)[flow])
            return 1;
    return 0;
}

/* ---- cast.c: what a task sends -------------------------------------------------------------- */

extern const dagi_remote_port dagi_sim_remote;
void dagi_sim_cast_drop(struct dagi_sim *s, dagi_sim_cast *c);
/* A message to a part of the list leaves; `from` as in the message. */
void dagi_sim_tell_child(struct dagi_sim *s, dagi_sim_cast *c, dagi_sim_arrival *from, int32_t self,
                         int32_t first, int32_t count);
/* Along which of two trees goes the message for ranks[first]? */
static inline enum dagi_tree_half dagi_sim_half(const dagi_sim_cast *c, int32_t first)
{
    return !c->pair ? DAGI_TREE_ALONE : first < c->count ? DAGI_TREE_FIRST : DAGI_TREE_SECOND;
}
/* The segments of a flow that go with it. */
static inline dagi_tree_share dagi_sim_share(const dagi_sim_cast *c, int32_t first, int cargo)
{
    return dagi_tree_share_of(dagi_sim_half(c, first), c->cargo[cargo].segments);
}
/* All of one half of a pair is at a rank. 1: that was the second. */
int dagi_sim_pair_has_both(const dagi_sim_cast *c, int32_t rank);
/* The root has sent one thing completely. */
void dagi_sim_cast_sent(struct dagi_sim *s, dagi_sim_cast *c);

/* ---- share.c: wires that transfers share ------------------------------------------------------ */

/* Nonzero = no memory. Nothing happens where the machine does not share them. */
int dagi_sim_shares_init(struct dagi_sim *s);
void dagi_sim_shares_fini(struct dagi_sim *s);
/* Bytes leave rank `from` at that time; when they are at rank `to` that event happens there. */
void dagi_sim_carry(struct dagi_sim *s, int from, int to, double bytes, dagi_sim_time at,
                    const dagi_sim_event *event);
void dagi_sim_flow_event(struct dagi_sim *s, void *flow, uint32_t generation);
void dagi_sim_share_out(struct dagi_sim *s);
/* The next thing under way on shared wires, from the one at `*at`, 0 at first: 0 = there is none left. What is
 * dropped does not arrive. */
int dagi_sim_flow_next(const struct dagi_sim *s, size_t *at, dagi_sim_event *event);
void dagi_sim_flow_drop(struct dagi_sim *s, size_t at);

/* ---- credit.c ------------------------------------------------------------------------------- */

/* The message leaves, now or when there is credit. */
void dagi_sim_message_send(struct dagi_sim *s, dagi_sim_message *m);
/* The message has been handled: its credit goes back, now or later. */
void dagi_sim_message_done(struct dagi_sim *s, const dagi_sim_message *m);
/* `from` gets bytes of credit back; pair: who gives it, and above 32 bits where the two are in the
 * table, if that has not grown since. */
void dagi_sim_credit(struct dagi_sim *s, int from, uint64_t pair, int32_t bytes);

/* ---- arrive.c ------------------------------------------------------------------------------- */

void dagi_sim_inbox(struct dagi_sim *s, int rank, dagi_sim_message *m, dagi_sim_arrival *a,
                    int32_t segment);
/* A job has run, and a worker is to look at it. */
void dagi_sim_inbox_job(struct dagi_sim *s, int rank, dagi_sim_job *job);
/* Handle the first item of a rank; the worker's part of it is in s->spent. */
void dagi_sim_handle(struct dagi_sim *s, int rank);
/* A segment leaves the root of two trees for an arrival. */
void dagi_sim_set_out(struct dagi_sim *s, dagi_sim_arrival *a, int segment);
void dagi_sim_arrival_free(struct dagi_sim *s, dagi_sim_arrival *a);

/* ---- overlap.c ------------------------------------------------------------------------------ */

/* While somebody asks. A body begins (more = 1) or ends (-1) on that rank. */
void dagi_sim_body_now(struct dagi_sim *s, int rank, int more);
/* Something of that pool leaves rank `from` for rank `to` (more = 1), or is there (-1). */
void dagi_sim_fly(struct dagi_sim *s, const dagi_sim_pool *pool, int from, int to, int more);
void dagi_sim_overlap_tell(struct dagi_sim *s);
void dagi_sim_overlap_free(struct dagi_sim *s);

#endif

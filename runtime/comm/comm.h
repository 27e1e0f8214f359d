/*
 * The interface of communication: two layers and the messages between ranks.
 *
 * Lower layer, the engine (struct dagi_engine): active messages with bounded eager credit, bulk
 * transfers of 2D views, progress. Implementations: engine_mpi.c, engine_self.c (one rank, or a
 * build without MPI). It knows nothing of tasks.
 *
 * Upper layer, remote.c (dagi_comm_*): activations, broadcast trees, data movement, end agreement
 * messages. It knows task classes only through struct dag_class.
 *
 * Who calls: any worker may call dagi_comm_activate() and dagi_comm_send_control(); they queue, and
 * whoever holds the progress lock drains. dagi_comm_progress() is called by workers between tasks
 * and when idle; it takes the lock by try-lock, so MPI is entered by one thread at a time
 * (MPI_THREAD_SERIALIZED, or SINGLE with one worker). Handlers run under the lock, on the worker
 * that makes progress, and may hand ready tasks to that worker.
 *
 * Messages (sender -> receiver: fields; reply). All integers little-endian as in memory; ranks of a
 * job are alike.
 *   ACTIVATE  producer or relay -> rank in the broadcast: pool id, class, parameters, mask of
 *             flows, [dynamic] bits, poison flag, sub-list of ranks to relay to and tree shape; for
 *             each flow in the mask: m, n, elem, region, and either the packed bytes or the tag
 *             of a bulk transfer posted with it. No reply; credit flows back as below.
 *   CREDIT    receiver -> sender: bytes of eager messages consumed. Sent when half the window is
 *             used and nothing else travels that way; piggybacked on every message otherwise.
 *   END_UP    child -> parent in the tree over ranks: pool id, status, smallest info, program hash,
 *             text of the first error.
 *   END_DOWN  parent -> child: the same, agreed.
 *   WAVE_*    the counting waves of pools that cannot be counted, and of the stall detector:
 *             sent, received, idle flags up; verdict down.
 *   BARRIER_* up and down.
 * CREDIT, END_*, WAVE_* and BARRIER_* are control: they have reserved credit and are never queued
 * behind ACTIVATE.
 */
#ifndef DAGI_COMM_H
#define DAGI_COMM_H

#include <dag/jdf.h>

#include <stdbool.h>

struct dagi_worker;

/* ---- lower layer ------------------------------------------------------------------------ */

/* A 2D column-major view with the region of it that travels. */
typedef struct dagi_view {
    void *ptr;
    int64_t m, n, ld;
    size_t elem;
    dag_region region;
} dagi_view;

/* Bytes of a view when packed: the region's items alone. */
size_t dagi_view_bytes(const dagi_view *view);
void dagi_view_pack(const dagi_view *view, void *out);
void dagi_view_unpack(const dagi_view *view, const void *in);

/* Completed exactly once, by the engine, under the progress lock. */
typedef void (*dagi_done_fn)(void *arg, dag_status status);
/* `data` is valid during the call only, 8-byte aligned. */
typedef void (*dagi_am_fn)(void *arg, int source, const void *data, size_t bytes);

/* What a rank brings to the question whether MPI can send from memory of devices. */
typedef struct dagi_direct_question {
    int wish;     /* enum dagi_gpu_mpi */
    int ndevices; /* of this rank */
    size_t room;  /* bytes that each of them has for the test at least; SIZE_MAX = there is none */
    /* Bytes of a pattern in the memory of a device: where; NULL = it cannot be done. */
    void *(*put)(void *arg, int device, const void *pattern, size_t bytes);
    void *arg;
} dagi_direct_question;

typedef struct dagi_engine dagi_engine;
/*
 * All functions but am_max() are called under the progress lock. Nothing blocks but agree() and
 * fini().
 *
 * Credit: every message that is not control is charged to the window (setting credit_bytes) of its
 * (sender, receiver) pair, by its bytes and a fixed amount for what MPI keeps per message, at most
 * half a window. The receiver gives the charge back after the message has been handled.
 */
typedef struct dagi_engine_ops {
    const char *name;
    /* Collective, and it blocks: the worst (largest) of the statuses that the ranks give, and the
     * lowest rank that gives it. Before anything is sent. */
    dag_status (*agree)(dagi_engine *e, dag_status mine, int *origin);
    void (*fini)(dagi_engine *e); /* collective; frees e */
    /* Begin an active message: where to write its `bytes` (8-byte aligned), or NULL when it would
     * exceed the credit towards dest: try again after progress. Control messages are always
     * accepted. am_send() sends the message begun; only tag_next() is called in between. */
    void *(*am_begin)(dagi_engine *e, int dest, int control, size_t bytes);
    void (*am_send)(dagi_engine *e);
    size_t (*am_max)(const dagi_engine *e); /* most bytes of one active message */
    /* Messages handed to am_send() and messages handled, control included, CREDIT too. Messages
     * whose first byte is DAGI_AM_UNCOUNTED are left out. */
    void (*am_counts)(const dagi_engine *e, int64_t *sent, int64_t *received);
    /* First of `count` consecutive tags towards dest, none of them in flight. */
    uint32_t (*tag_next)(dagi_engine *e, int dest, int count);
    /* Bulk transfers of a view that stays valid and (send) unchanged until `done`. */
    void (*send)(dagi_engine *e, int dest, uint32_t tag, const dagi_view *v, dagi_done_fn, void *);
    void (*recv)(dagi_engine *e, int src, uint32_t tag, const dagi_view *v, dagi_done_fn, void *);
    /* Handle arrivals and completions; number of events handled. */
    int (*progress)(dagi_engine *e);
    /* Wake those near ranks that sleep and have been sent something since. */
    void (*call)(dagi_engine *e);
    /* Collective, and it blocks; once, before anything is sent: may send() read memory of devices?
     * All ranks get the same answer. 0: `why` is a sentence; where a test has shown it the lowest
     * rank that has seen it gets *shown = 1. NULL: there are no other ranks. */
    int (*direct)(dagi_engine *e, const dagi_direct_question *q, char *why, size_t why_size,
                  int *shown);
    /* Sends and transfers under way, which may need progress() of this rank. */
    int (*under_way)(const dagi_engine *e);
} dagi_engine_ops;

/* What a message is charged beyond its bytes: about what MPI keeps for one that nobody has received
 * yet. */
#define DAGI_AM_CHARGE 1024

/* First byte of messages that the waves themselves travel in. */
#define DAGI_AM_UNCOUNTED 0xff
/* First byte of messages of the trace; whoever observes handles them. */
#define DAGI_AM_TRACE 0xfe

/* Who watches what goes over the network. All are called under the progress lock. */
typedef struct dagi_observer {
    /* A message is sent (out) or handled. */
    void (*message)(void *arg, int out, int peer, const void *data, size_t bytes);
    /* A bulk transfer that clock() saw begin is complete. */
    void (*transfer)(void *arg, int out, int peer, uint32_t tag, size_t bytes, uint64_t begin);
    uint64_t (*clock)(void);
    /* A message of the trace has come. */
    void (*trace)(void *arg, int source, const void *data, size_t bytes);
} dagi_observer;

struct dagi_engine {
    const dagi_engine_ops *ops;
    int rank, size;
    /* Ranks of this job on this node that run on the same set of processors, and which of them this
     * one is. */
    int sharing, share_index;
    int near; /* ranks of this job on this node */
    int device_sharing; /* of these, those that use the same devices, wherever they are bound */
    struct dagi_bells *bells; /* bell.h; NULL = there are none, no_bells says why if they lack */
    struct dagi_bell *bell;   /* of this rank */
    char no_bells[128];
    int main_only;   /* 1: MPI may be called by the thread that initialised it alone */
    int hold_credit; /* set by the upper layer: 1 = do not return credit for now */
    dagi_am_fn on_message;
    void *on_message_arg;
    const dagi_observer *observer; /* NULL = nobody */
    void *observer_arg;
    int word; /* options->word of rank 0 */
};

/* What an engine has to know; filled from the settings of the context. */
typedef struct dagi_engine_options {
    void *comm;  /* MPI_Comm * or NULL for MPI_COMM_WORLD */
    int workers; /* 1: MPI_THREAD_SINGLE suffices; more, or 0 = not known yet: SERIALIZED */
    size_t am_max; /* most bytes of an active message */
    int64_t credit_bytes;
    uint64_t chaos;
    int bells; /* 1: have some, if possible */
    int word; /* all ranks are given that of rank 0 */
} dagi_engine_options;

dag_status dagi_engine_mpi_new(const dagi_engine_options *options, dagi_engine **out, char *why,
                               size_t why_size);

/* Start MPI's engine where the build has MPI and the program was started by a launcher, or MPI is
 * initialised already, or options->comm is given; else that of one process. */
dag_status dagi_engine_new(const dagi_engine_options *options, dagi_engine **out, char *why,
                           size_t why_size);

/* ---- upper layer: called by core -------------------------------------------------------- */

/* Sets ctx->rank, size and comm. Reads ctx->settings and ctx->nworkers, which may be 0 when it is
 * to be settled by dagi_comm_sharing(); then it must be set before anything else is called. */
dag_status dagi_comm_init(dag_context *ctx, void *mpi_comm, char *why, size_t why_size);
/* The end of a start, collective over all ranks that came through dagi_comm_init(): if one of them
 * gives another status than success, all get one. Until then nobody enters the progress lock. */
dag_status dagi_comm_open(dag_context *ctx, dag_status mine, char *why, size_t why_size);
/* 1: the program has started MPI, so other ranks may be waiting for this one in
 * dagi_comm_init(). */
int dagi_engine_is_up(void);
/* Messages with results of devices: whether MPI reads these there, why not, and the bytes that it read
 * there and those that came to the host first. */
int dagi_comm_direct(const dag_context *ctx, const char **why, int64_t *direct, int64_t *staged);
/* Collective. All pools have ended and background workers are gone. */
void dagi_comm_fini(dag_context *ctx);
/* Number of ranks on this node that run on the very set of processors of this one, this one
 * included, and (index may be NULL) which of them it is. */
int dagi_comm_sharing(const dag_context *ctx, int *index);

/* Number of ranks on this node that use the same devices as this one, this one included. */
int dagi_comm_device_sharing(const dag_context *ctx);

/* 1: this worker may sleep in dagi_comm_sleep(), from which messages of other ranks of the node,
 * and dagi_comm_rouse(), wake it. */
int dagi_comm_can_sleep(const struct dagi_worker *w);
/* Look after messages once more, and if there are none and stay(w) is false, sleep until there may
 * be some, or for a while (2 ms at most; less where not all that matters rings, but longer the
 * longer nothing has come: `idle` nanoseconds). As dagi_comm_progress(). */
int dagi_comm_sleep(struct dagi_worker *w, uint64_t idle, bool (*stay)(struct dagi_worker *w));
/* Wake whoever sleeps there. Any thread. */
void dagi_comm_rouse(dag_context *ctx);
/* Why ranks of this node cannot wake each other; "" = they can, or there are none. */
const char *dagi_comm_no_bells(const dag_context *ctx);

/* Ranks that one completed task sends to, by flow mask: filled through dagi_fanout_add() while
 * core visits the successors in DAG_VISIT_RANKS mode; one per worker, reused. A rank that needs
 * flows {A} and one that needs {A, B} are different groups. */
typedef struct dagi_fanout dagi_fanout;
dagi_fanout *dagi_fanout_new(dag_context *ctx);
void dagi_fanout_free(dagi_fanout *f);
/* Ranks outside 0..size-1 are the caller's to report; they and this rank itself are left out. */
void dagi_fanout_add(dagi_fanout *f, int rank, const dag_edge *edge, int group);
int dagi_fanout_empty(const dagi_fanout *f);
/* Forget what was gathered. */
void dagi_fanout_clear(dagi_fanout *f);
/* Number of references that sending will hold on the value of data flow `flow`. */
int dagi_fanout_refs(dagi_fanout *f, int flow);

/* Send what was gathered, and clear f. `task` is the completed task; its flow values have one
 * reference added per dagi_fanout_refs(), which comm drops by dagi_value_release() as sends
 * complete. Counts the sends in pool->sends_pending (see core). Never blocks. */
void dagi_comm_activate(struct dagi_worker *w, struct dag_task *task, dagi_fanout *f,
                        uint64_t dynamic_bits);

/* Tell comm that a pool is known now: messages that came early are delivered. */
void dagi_comm_pool_added(struct dagi_worker *w, dag_taskpool *pool);

/* This rank's part of the pool has ended (tasks done, stores applied, sends complete). Comm runs
 * the tree reduction and calls dagi_pool_end() with the agreed result. */
void dagi_comm_pool_local_end(struct dagi_worker *w, dag_taskpool *pool, dag_status status,
                              int64_t info, const char *message);

/*
 * Back-pressure. 1: so much waits to be sent that workers should not start further tasks, but call
 * dagi_comm_progress() until it says 0. Two relaxed loads. No deadlock: a congested rank goes on
 * handling arrivals and returns credit for them at once, whatever dagi_ready_many() says, so the
 * queues towards it drain; a rank that is not congested runs tasks.
 */
int dagi_comm_congested(const dag_context *ctx);

/* Make progress if nobody else does; returns the number of events handled, -1 when another worker
 * is at it. `w` receives ready tasks. */
int dagi_comm_progress(struct dagi_worker *w);

/* Blocks in dagi_run_until() (core.h), so that tasks that others wait for still run here.
 * DAG_ERR_MISMATCH, with a message, on all ranks: not all wait in the same place. */
enum dagi_barrier { DAGI_BARRIER, DAGI_BARRIER_FINI };
dag_status dagi_comm_barrier(struct dagi_worker *w, enum dagi_barrier which);

/* Quiescence: messages sent and received so far, for the waves. */
void dagi_comm_counts(dag_context *ctx, int64_t *sent, int64_t *received);

/*
 * Counting waves: has everything come to rest although pools are unfinished? Rank 0 starts one when
 * core asks for it (core does so on rank 0 only, when it has been idle for a while); a request
 * while one is under way is ignored. Each rank forwards it down the tree at once and answers, when
 * its children have, with what dagi_wave_look() says of it, combined field by field. Rank 0 starts
 * a second wave right behind a first that looks quiet, and when both are quiet and their sums of
 * sent, received and activity are the same tells all ranks, which call dagi_wave_quiet(). Quiet:
 * all idle, sent == received, flights == 0, and either all ranks have added the same pools and one
 * is open, or they have not and all are blocked. The first open pool, if all ranks have added it,
 * is ended by core: as stalled, unless it is one that cannot be counted. If not all have, those
 * that lack it never will add it, nor any later one: comm speaks for them in the agreement on their
 * end (DAG_ERR_MISMATCH), and core ends the first open one where it is. A wave that is not quiet
 * ends without a word.
 */
typedef struct dagi_wave {
    int idle;            /* and: no ready or running task, nothing to start, no hold, and (comm's
                            part) nothing queued or in flight in comm */
    uint32_t first_open; /* min: lowest id of a pool whose part here is not over; UINT32_MAX none */
    uint32_t added_min, added_max; /* min, max: pools added so far */
    uint32_t waiting;    /* min, by comm: lowest id of a pool with a message that waits to be sent;
                            UINT32_MAX none */
    uint32_t ringing;    /* min, by comm: lowest id of a pool with a scatter that lacks pieces */
    int blocked;         /* and: the application thread is inside dagi_run_until() */
    int64_t sent, received;        /* sums of dagi_comm_counts(); filled by comm */
    int64_t flights;     /* sum, by comm: transfers begun, less those that have come and those of
                            messages kept for later */
    uint64_t activity;             /* sum: how often a worker ceased to be idle */
} dagi_wave;
void dagi_comm_wave(struct dagi_worker *w);
/* The two below: provided by core, called by comm under the progress lock. */
void dagi_wave_look(dag_context *ctx, dagi_wave *mine); /* all fields but comm's */
void dagi_wave_quiet(struct dagi_worker *w, uint32_t first_open);

/* ---- upper layer: for those who watch (observe.c) ----------------------------------------- */

/* To be called while no other thread may make progress. */
void dagi_comm_observe(dag_context *ctx, const dagi_observer *observer, void *arg);
/* What the network holds in store, as the last holder of the lock left it. Any thread, cheap. */
enum { DAGI_COMM_INCOMING = 1, DAGI_COMM_OUTGOING = 2 };
int dagi_comm_outlook(const dag_context *ctx);
/* Of the task whose completion is being delivered, for dagi_deliver(): what ACTIVATE says for the
 * trace. */
void dagi_comm_delivering(const dag_context *ctx, uint64_t *path, uint64_t *from);
/* Send a message of the trace; 0 = somebody else holds the lock, try again. */
int dagi_comm_trace_message(struct dagi_worker *w, int dest, const void *data, size_t bytes);
/* The same from the observer's trace(), which is called under the lock. */
void dagi_comm_trace_reply(dag_context *ctx, int dest, const void *data, size_t bytes);
/* Send (out) or receive bytes in bulk; `done` is called under the lock. Returns the tag of what is
 * sent, which the receiver has to name. No other thread of the runtime may run. */
uint32_t dagi_comm_trace_transfer(struct dagi_worker *w, int out, int peer, uint32_t tag,
                                  void *data, size_t bytes, dagi_done_fn done, void *arg);

/* ---- upper layer: called by comm, provided by core -------------------------------------- */

/* 1: so many tasks are ready here (some thousands) that peers should not send more work for now.
 * Cheap, may be stale. Comm then keeps back the credit of the messages it handles, so what a flood
 * of messages can pile up is bounded; critical messages under way are delivered all the same. */
int dagi_ready_many(const dag_context *ctx);

/* A task of another rank completed: release its successors on this rank. values[f] for f in mask
 * (data flows) are handed over with one reference each; CTL flows have none. poison: see
 * values.md. */
void dagi_deliver(struct dagi_worker *w, dag_taskpool *pool, const dag_class *cls,
                  const int32_t *params, uint32_t mask, uint64_t dynamic, int poison,
                  dag_value **values);

/* A message has come for tasks of a part that is over and went well: ends the job. */
_Noreturn void dagi_deliver_late(const dag_taskpool *pool, const dag_class *cls,
                                 const int32_t *params);

/* NULL when no such pool has been added yet on this rank. */
dag_taskpool *dagi_pool_find(dag_context *ctx, uint32_t id);
uint32_t dagi_pool_id(const dag_taskpool *pool);
uint64_t dagi_pool_hash(const dag_taskpool *pool);
const dag_program *dagi_pool_program(const dag_taskpool *pool);
int dagi_pool_poisoned(const dag_taskpool *pool);

/* One more / one less thing of this pool under way in comm: sends, relays, receives. The pool does
 * not end locally before the count is zero. A drop that takes the last one applies stores and calls
 * dagi_comm_pool_local_end() on this thread before it returns. While a receive is outstanding its
 * tasks keep the pool open, so holding is needed only for what no task of this rank waits for.
 * 0 = not held: this rank's part is over. */
int dagi_pool_hold(dag_taskpool *pool);
void dagi_pool_drop(struct dagi_worker *w, dag_taskpool *pool);
void dagi_pool_sent(dag_taskpool *pool, int64_t messages, int64_t bytes); /* statistics */

/* First error wins; poisons the pool. */
void dagi_pool_fail(dag_taskpool *pool, dag_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The agreed end. */
void dagi_pool_end(dag_taskpool *pool, dag_status status, int64_t info, const char *message);

#endif

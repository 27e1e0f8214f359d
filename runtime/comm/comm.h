/*
 * The interface of communication between ranks (dagi_comm_*): activations, broadcast trees, data
 * movement, agreement on the end of pools, on top of an engine (net/engine.h), which moves bytes. It
 * knows task classes only through struct dag_class.
 *
 * Who calls: any worker may call dagi_comm_activate(), dagi_comm_pool_added() and
 * dagi_comm_pool_local_end(); they leave an item in the inbox, which whoever holds the progress lock
 * drains. Tasks and workers come here through their ports (task/port.h, worker/port.h), floors above
 * directly. dagi_comm_progress() is called by workers between tasks and when idle; it takes the lock by
 * try-lock, so MPI is entered by one thread at a time, and by worker 0 alone where the program itself
 * has started MPI below MPI_THREAD_MULTIPLE (dag/mpi.h). Handlers run under the lock, on the worker
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
 *   END_UP    child -> parent in the tree over ranks: pool id, status, smallest info, whether a task
 *             asks for another round, program hash, text of the first error.
 *   END_DOWN  parent -> child: the same, agreed.
 *   WAVE_*    the counting waves of pools that cannot be counted, and of the stall detector:
 *             sent, received, idle flags up; verdict down.
 *   BARRIER_* up and down.
 * CREDIT, END_*, WAVE_* and BARRIER_* are control: they have reserved credit and are never queued
 * behind ACTIVATE.
 */
#ifndef DAGI_COMM_H
#define DAGI_COMM_H

#include "../net/engine.h"
#include "../worker/worker.h"
#include "wire.h"

struct dagi_job;

/* ---- start, end, tasks and pools -------------------------------------------------------- */

/* What rank 0 tells the others before anything but the level of MPI follows from their settings: its
 * `data`, of the same size everywhere, overwrite theirs, and heard() is called. */
typedef struct dagi_comm_told {
    void *data;
    size_t bytes;
    void (*heard)(dag_context *ctx, const void *data);
} dagi_comm_told;

/* Sets ctx->rank, size and comm. `told` may be NULL, on all ranks. Reads ctx->settings and dagi_tasks(ctx)->nworkers, which may be 0
 * when it follows from ctx->sharing, set here; then it must be set before anything else is called. */
dag_status dagi_comm_init(dag_context *ctx, void *mpi_comm, const dagi_comm_told *told, char *why,
                          size_t why_size);
/* The end of a start, collective over all ranks that came through dagi_comm_init(): if one of them
 * gives another status than success, all get one. Until then nobody enters the progress lock. */
dag_status dagi_comm_open(dag_context *ctx, dag_status mine, char *why, size_t why_size);
/* Collective. All pools have ended and background workers are gone. */
void dagi_comm_fini(dag_context *ctx);

/* dag_latency(): seconds, 0 where there is one rank. */
double dagi_comm_latency(const dag_context *ctx);

/* dag_bcast_way_get(), where ranks are not played in one process. */
void dagi_comm_way(const dag_context *ctx, size_t bytes, int ranks, dag_bcast_way *way);

/* dag_network_get(), likewise. */
int dagi_comm_network(const dag_context *ctx, dag_network *network);

/* 1: MPI allows no thread but the one that calls. */
int dagi_comm_one_thread(const dag_context *ctx);

/* 1: this worker may sleep in dagi_comm_sleep(), from which messages of other ranks of the node,
 * and dagi_comm_rouse(), wake it. */
int dagi_comm_can_sleep(const struct dagi_worker *w);
/* Look after messages once more; if there are none and stay(w) is false, sleep until there may
 * be some, or for a while (2 ms at most; less where not all that matters rings, but longer the
 * longer nothing has come: `idle` nanoseconds). As dagi_comm_progress(). */
int dagi_comm_sleep(struct dagi_worker *w, uint64_t idle, bool (*stay)(struct dagi_worker *w));
/* 1: sleep there means to block in the engine until a message comes; there may be one worker only. */
int dagi_comm_blocks(const dag_context *ctx);
/* Addresses from which and to which nothing is copied that is sent; NULL = there are none. */
char *dagi_comm_nowhere(const dag_context *ctx, size_t *bytes);
/* Wake whoever sleeps there. Any thread. */
void dagi_comm_rouse(dag_context *ctx);
/* Where the ranks of this node count those of them that compute; NULL where they share no memory. */
_Atomic int32_t *dagi_comm_computing(const dag_context *ctx);
/* Why ranks of this node cannot wake each other; "" = they can, or there are none. */
const char *dagi_comm_no_bells(const dag_context *ctx);

/* Ranks that one completed task sends to, by flow mask: filled through dagi_fanout_add() while
 * completion visits the successors in DAG_VISIT_RANKS mode; one per worker, reused. A rank that needs
 * flows {A} and one that needs {A, B} are different groups. */
typedef struct dagi_fanout dagi_fanout;
dagi_fanout *dagi_fanout_new(dag_context *ctx);
void dagi_fanout_free(dagi_fanout *f);
/* Ranks outside 0..size-1 are the caller's to report; they and this rank itself are left out. */
void dagi_fanout_add(dagi_fanout *f, int rank, const dag_edge *edge, const int32_t *group);
/* One of them is for a reader at this position; in pools with a door (task/door.h). */
void dagi_fanout_reader(dagi_fanout *f, int64_t position);
int dagi_fanout_empty(const dagi_fanout *f);
/* Forget what was gathered. */
void dagi_fanout_clear(dagi_fanout *f);
/* Number of references that sending will hold on the value of data flow `flow`. */
int dagi_fanout_refs(dagi_fanout *f, int flow);

/* The same, part by part, for those who send otherwise (sim/): ranks that need the same. */
typedef struct dagi_fanout_part {
    uint32_t mask;         /* flows, CTL included */
    const uint8_t *region; /* [flow] */
    dag_bcast_tree tree;   /* that is asked for */
    int count;
} dagi_fanout_part;
int dagi_fanout_parts(dagi_fanout *f);
/* Part `index` and its ranks. */
dagi_fanout_part dagi_fanout_part_at(const dagi_fanout *f, int index, int32_t *ranks);
/* From now on it gathers for another rank, from which nothing goes to itself. */
void dagi_fanout_move(dagi_fanout *f, int rank);

/* Send what was gathered, and clear f. `task` is the completed task; its flow values have one
 * reference added per dagi_fanout_refs(), which comm drops by dagi_value_release() as sends
 * complete. Each send holds the pool (dagi_pool_hold()) until then. Never blocks. */
void dagi_comm_activate(struct dagi_worker *w, struct dag_task *task, dagi_fanout *f,
                        uint64_t dynamic_bits, const struct dagi_job *job);

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

/* Blocks in dagi_run_until() (worker/worker.h), so that tasks that others wait for still run here.
 * Each value becomes the least of those that the ranks bring; at most DAG_LEAST_MOST. DAG_ERR_MISMATCH,
 * with a message, on all ranks: not all wait in the same place. */
dag_status dagi_comm_barrier(struct dagi_worker *w, enum dagi_barrier which, double *values,
                             int count);
/*
 * The same in steps, for whoever may give up waiting: go until it says 1, on the same thread, then end. Any
 * thread may ask whether it is over. Those who meet are the givers of an open pool, or the job (NULL), whose
 * meeting nobody leaves before it is over.
 */
typedef struct dagi_meeting {
    struct dagi_worker *w;
    const dag_taskpool *pool;
    enum dagi_barrier which;
    const double *values;
    int count;
    /* written by go, before `entered` */
    struct dagi_barrier_state *at;
    int64_t round;
    _Atomic int entered;
} dagi_meeting;
int dagi_meeting_go(void *meeting);
int dagi_meeting_over(const dagi_meeting *m);
dag_status dagi_meeting_end(const dagi_meeting *m, double *values);

/* Quiescence: messages sent and received so far, for the waves. */
void dagi_comm_counts(dag_context *ctx, int64_t *sent, int64_t *received);

/*
 * Counting waves: has everything come to rest although pools are unfinished? Rank 0 starts one
 * when a worker asks for it (on rank 0 only, when it has been idle for a while: worker/stall.c); a
 * request while one is under way is ignored. Each rank forwards it down the tree at once and
 * answers, when its children have, with what dagi_wave_look() says of it, combined field by field.
 * Rank 0 starts a second wave right behind a first that looks quiet, and when both are quiet and
 * their sums of sent, received and activity are the same tells all ranks, which call
 * dagi_wave_quiet(). Quiet: all idle, sent == received, flights == 0, and either all ranks have
 * added the same pools and one is open, or they have not and all are blocked. The first open pool,
 * if all ranks have added it, is ended by worker/stall.c: as stalled, unless it is one that cannot
 * be counted. If not all have, those that lack it never will add it, nor any later one: comm
 * speaks for them in the agreement on their end (DAG_ERR_MISMATCH), and worker/stall.c ends the
 * first open one where it is. A wave that is not quiet ends without a word.
 */
typedef struct dagi_wave {
    dagi_look look; /* combined: and, min, min, and, sum; idle: also nothing queued or in flight
                            in comm */
    uint32_t added_max;  /* max: pools added so far; look.added is the min */
    uint32_t waiting;    /* min: lowest id of a pool with a message that waits to be sent;
                            UINT32_MAX none */
    uint32_t ringing;    /* min: lowest id of a pool with a scatter that lacks pieces */
    int64_t sent, received; /* sums of dagi_comm_counts() */
    int64_t flights;     /* sum: transfers begun, less those that have come and those of messages
                            kept for later */
} dagi_wave;
void dagi_comm_wave(struct dagi_worker *w);

/* ---- for those who watch (observe.c) ------------------------------------------------------ */

/* To be called while no other thread may make progress. */
void dagi_comm_observe(dag_context *ctx, const dagi_observer *observer, void *arg);
/* Work that the network holds in store, as the last holder of the lock left it. Any thread, cheap. */
int dagi_comm_outlook(const dag_context *ctx);
/* Send a message of the trace; 0 = somebody else holds the lock, try again. */
int dagi_comm_trace_message(struct dagi_worker *w, int dest, const void *data, size_t bytes);
/* The same from the observer's trace(), which is called under the lock. */
void dagi_comm_trace_reply(dag_context *ctx, int dest, const void *data, size_t bytes);
/* Send (out) or receive bytes in bulk; `done` is called under the lock. Returns the tag of what is
 * sent, which the receiver has to name. No other thread of the runtime may run. */
uint32_t dagi_comm_trace_transfer(struct dagi_worker *w, int out, int peer, uint32_t tag,
                                  void *data, size_t bytes, dagi_done_fn done, void *arg);

#endif

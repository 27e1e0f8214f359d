/*
 * A trace in memory, and what can be made of it. Depends on nothing but the C library: the runtime
 * uses it for the report and the page at the end of a run, the program dag_trace for files.
 *
 * All times are nanoseconds (int64_t) on the clock of rank 0, 0 being when its recording began.
 */
#ifndef DAGT_MODEL_H
#define DAGT_MODEL_H

#include "format.h"

#include <stddef.h>
#include <stdio.h>

typedef struct dagt_class {
    char *name;
    int line, nparams;
    int copies; /* 1: its tasks are no computation, but copies; DAGT_CLASS_COPIES */
    char **params;
} dagt_class;

typedef struct dagt_program {
    char *name, *file;
    int nclasses;
    dagt_class *classes;
} dagt_program;

typedef struct dagt_pool {
    uint64_t id;
    int program; /* index in dagt_rank.programs; -1 = not in the trace */
    int64_t begin, end;
    uint64_t tasks, renames, messages, bytes;
} dagt_pool;

typedef struct dagt_task {
    int64_t begin, end, ready;
    int64_t path; /* longest chain of bodies and copies before it; dagt_settle() */
    uint64_t from;
    int64_t priority;
    uint32_t pool; /* id */
    uint16_t cls;
    uint8_t critical; /* 1: on the critical path of its pool; dagt_critical() */
    uint8_t state;    /* of dagt_settle() */
    uint32_t params;  /* place of the first in dagt_track.params */
} dagt_task;

/* What a worker did that is no task: idle (with cause), outside, handling messages, with a device. */
typedef struct dagt_span {
    int64_t begin, end;
    uint8_t kind; /* enum dagt_event */
    uint8_t cause, asleep;
    uint32_t events; /* DAGT_COMM: messages handled */
} dagt_span;

/* A transfer, or a message from its sending to its handling, as one rank saw it; or a copy between
 * the memories of a rank, on a track of its own. */
typedef struct dagt_flight {
    int64_t begin, end;
    uint64_t bytes;
    uint32_t peer;
    uint8_t out;
    uint8_t message; /* kind of message; 0 = transfer or copy */
    uint8_t state;   /* of copies: dagt_settle() */
    uint32_t tag;
    uint32_t critical; /* of copies: the pool on whose critical path it is; dagt_critical() */
    uint32_t pool;     /* and that of the task before it; 0 = none */
    uint64_t place, from; /* of copies, as in format.h */
    int64_t path;         /* of copies: as of tasks */
} dagt_flight;

/* A broadcast as its root saw it set out, or (ranks = 0) as another rank had all of it. */
enum { DAGT_TREE_WORDS = 4 }; /* a dag_bcast_tree, 32 bits each */
typedef struct dagt_cast {
    int64_t time;
    uint64_t bytes;
    double predicted; /* seconds; 0 = not known */
    uint32_t tree[DAGT_TREE_WORDS];
    uint32_t root, serial; /* who numbers it, its number */
    uint32_t ranks; /* that it goes to */
    uint32_t pool;  /* id */
    uint16_t cls;
} dagt_cast;

/* Both of two causes; dagt_settle() finds what is said of them together. */
typedef struct dagt_join {
    uint64_t from[2];
    uint64_t longer;   /* of the two the end of the longer chain */
    int64_t path, end; /* of that chain; when both had ended */
    uint32_t pool;     /* of the tasks before it; 0 = none */
    uint8_t state;
} dagt_join;

typedef struct dagt_track {
    int kind;
    uint32_t index;
    dagt_task *tasks;
    dagt_span *spans;
    dagt_flight *flights;
    dagt_join *joins;
    dagt_cast *casts; /* of the track of links */
    size_t *place; /* of a track of copies: 1 + index of the flight with that place, 0 = none */
    int32_t *params;
    size_t ntasks, nspans, nflights, njoins, ncasts, nplaces, nparams;
    size_t steals;
} dagt_track;

typedef struct dagt_rank {
    dagt_rank_head head;
    int64_t begin, end;
    int nprograms, npools, ntracks;
    dagt_program *programs;
    dagt_pool *pools;
    dagt_track *tracks; /* in the order of the file */
} dagt_rank;

typedef struct dagt_trace {
    int nranks;
    dagt_rank *ranks;
    int64_t begin, end; /* of all ranks */
    size_t ntasks;
} dagt_trace;

/* ---- read.c ------------------------------------------------------------------------------- */

/* The trace at the file's position; NULL with the reason. Messages are matched with their
 * receptions and become flights. Freed by dagt_free(). */
dagt_trace *dagt_read(FILE *in, char *why, size_t why_size);
/* A part of that: give both ends of each message both times. 0 = out of memory. */
int dagt_match_messages(dagt_trace *trace);
void dagt_free(dagt_trace *t);
const dagt_pool *dagt_pool_of(const dagt_rank *r, uint32_t id);
/* NULL when the trace does not know. */
const dagt_class *dagt_class_of(const dagt_rank *r, const dagt_task *task);
/* Write "Gemm(3, 2, 1)"; returns `text`. */
char *dagt_name(char *text, size_t size, const dagt_rank *r, const dagt_track *track,
                const dagt_task *task);

/* What a place of memory or execution is called: "rank 0 worker 1", "rank 0 device 0 stream 2", "rank 0
 * host to device 0"; rank < 0: without the rank. Returns `text`. */
char *dagt_label(char *text, size_t size, int rank, const dagt_track *track);
/* Tasks run on it. */
static inline int dagt_runs_tasks(const dagt_track *track)
{
    return track->kind == DAGT_TRACK_WORKER || track->kind == DAGT_TRACK_STREAM;
}

/* ---- cause.c ------------------------------------------------------------------------------ */

/* Something that a critical path goes through: a task or a copy. */
typedef struct dagt_step {
    int rank, track; /* where it is: numbers in dagt_trace.ranks, dagt_rank.tracks */
    dagt_task *task; /* or NULL */
    dagt_flight *copy;
} dagt_step;

/* The one that `step` waited for last in the longest chain; both NULL = it is the first. */
dagt_step dagt_before(const dagt_trace *t, const dagt_step *step);
/* Find the chains of all tasks, and move what is on devices, and when tasks were ready, behind what
 * they waited for. Called by dagt_read(). Nonzero = out of memory. */
int dagt_settle(dagt_trace *t);

/* ---- analyse.c ---------------------------------------------------------------------------- */

/* Where the time of a worker went. At each moment it is in one state, and what lies between the
 * intervals of the trace is the runtime's own work, so all but the wall time add up to it, exactly,
 * if `overlap` is 0: time that more than one interval claims, or that is outside of the recording. */
typedef struct dagt_times {
    int64_t wall, bodies, comm, outside, drive, idle[DAGT_CAUSES];
    int64_t runtime; /* making, queueing and releasing tasks */
    int64_t overlap, asleep; /* asleep: of idle */
    size_t tasks, steals;
} dagt_times;
int64_t dagt_times_sum(const dagt_times *times); /* of all states */
void dagt_worker_times(const dagt_rank *r, const dagt_track *track, dagt_times *times);
void dagt_times_add(dagt_times *sum, const dagt_times *times);

/* How long something was under way on a stream or a link of a device: overlapping intervals once. */
typedef struct dagt_busy {
    int64_t time;
    size_t count; /* tasks or copies */
    uint64_t bytes;
} dagt_busy;
void dagt_device_busy(const dagt_track *track, dagt_busy *busy);

/* What a class of tasks took; classes of one name and file on all ranks are one. */
enum { DAGT_BINS = 40 }; /* bin i: 2^i <= nanoseconds < 2^(i+1) */
typedef struct dagt_class_times {
    const char *name, *file;
    size_t count;
    int64_t total, least, most, wait; /* wait: from ready to begin */
    size_t bin[DAGT_BINS];
} dagt_class_times;
/* Sorted by total time, longest first. NULL = out of memory or none; freed by the caller. */
dagt_class_times *dagt_classes(const dagt_trace *t, size_t *n);

/* The longest chain of bodies, and of copies between memories, of a pool: no number of workers could
 * have been faster. */
typedef struct dagt_path {
    uint32_t pool;
    const char *program;
    int64_t length;
    int64_t begin, end; /* of the pool on rank 0 */
    size_t steps, copies; /* tasks on it, and copies */
    dagt_step last;     /* of it; dagt_before() leads to the others */
    uint64_t tasks; /* of all ranks */
} dagt_path;
/* One for each pool of rank 0, in order; marks the tasks and copies. NULL = out of memory or none. */
dagt_path *dagt_critical(dagt_trace *t, size_t *n);
/* All that a path goes through, first to last: path->steps + path->copies of them. NULL = out of memory;
 * freed by the caller. */
dagt_step *dagt_path_steps(const dagt_trace *t, const dagt_path *path);

/* How long rank r had transfers or messages under way, and how much of that bodies ran meanwhile, on
 * workers or devices; the same of copies to, from and between its devices. */
typedef struct dagt_overlap {
    int64_t comm, both, copy, copy_both;
} dagt_overlap;
int dagt_overlap_of(const dagt_rank *r, dagt_overlap *overlap); /* nonzero = out of memory */
/* The same of those transfers and messages for which `chosen` is nonzero; NULL = of all. */
int dagt_overlap_of_some(const dagt_rank *r, int (*chosen)(void *arg, const dagt_flight *flight), void *arg,
                         dagt_overlap *overlap);

/* What went from a rank to another, as the sender and as the receiver saw it, or within a rank from a
 * memory to another. */
typedef struct dagt_link {
    uint32_t from, to;
    int from_device, to_device; /* copies: 0 = host, 1 + number of the device; -1 = between ranks */
    uint64_t sent, received;     /* messages and transfers */
    uint64_t bytes, bytes_received;
    int64_t busy; /* copies: how long any was under way */
} dagt_link;
/* Only links that were used, sorted. NULL = out of memory or none. */
dagt_link *dagt_links(const dagt_trace *t, size_t *n);
/* "0", "0 host", "1 device 2": the ends of a link; returns `text`. */
char *dagt_link_end(char *text, size_t size, uint32_t rank, int device);

/* ---- cast.c ------------------------------------------------------------------------------- */

/* Broadcasts of a class that took one shape; classes of one name and program on all ranks are one. From when
 * the root lets one go until the tasks of the last rank have all of it. */
typedef struct dagt_broadcasts {
    const char *program, *cls;
    uint32_t tree[DAGT_TREE_WORDS];
    size_t count, whole; /* whole: of those, told of by all ranks that they go to */
    uint64_t ranks, bytes; /* sums over all of them */
    double predicted;  /* seconds, the sum; 0 = not known */
    double measured;   /* nanoseconds, the sum over those that are whole */
    int64_t most;      /* the longest of them */
} dagt_broadcasts;
/* In the order in which the first of each set out. NULL = out of memory or none; freed by the caller. */
dagt_broadcasts *dagt_broadcasts_of(const dagt_trace *t, size_t *n);

/* ---- json.c, html.c: nonzero = write error, errno says which ------------------------------- */

int dagt_write_json(dagt_trace *t, FILE *out);
int dagt_write_html(dagt_trace *t, FILE *out);

#endif

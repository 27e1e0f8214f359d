/*
 * Recording of what a rank does, for traces, the report at the end and the progress bar. README.md
 * of this directory says how the parts fit together.
 *
 * The rest of the runtime calls the functions below and nothing else, always behind a look at
 * DAGI_TRACK(w) or DAGI_TRACE(ctx), which are NULL while nothing is recorded. With -DDAG_NO_TRACE
 * they are constants, and all calls are gone: a build to compare with.
 */
#ifndef DAGI_TRACE_H
#define DAGI_TRACE_H

#include "../base/base.h"
#include "../base/clock.h"
#include "../net/engine.h"
#include "file/format.h"

#include <dag/progress.h>

#include <stdio.h>

#ifdef DAG_NO_TRACE
#define DAGI_TRACK(w) ((void)(w), (struct dagi_track *)NULL) /* or it would be unused */
#define DAGI_TRACE(ctx) ((void)(ctx), (struct dagi_trace *)NULL)
#else
#define DAGI_TRACK(w) ((w)->track)
#define DAGI_TRACE(ctx) ((ctx)->trace)
#endif

/* ---- buffers (buffer.c) ------------------------------------------------------------------- */

/* Chunks are of 64 KiB with their head, or as many times that as fill a huge page. */
enum { DAGI_CHUNK_BYTES = 64 << 10, DAGI_CHUNK_MOST = 32 };

typedef struct dagi_chunk {
    struct dagi_chunk *next;
    uint64_t used; /* words; of the last chunk of a track: written when the track is closed */
    uint64_t word[];
} dagi_chunk;

/* Words of a small one. */
enum { DAGI_CHUNK_WORDS = (DAGI_CHUNK_BYTES - sizeof(dagi_chunk)) / sizeof(uint64_t) };

/*
 * A sequence of events with one writer: the worker, or for the track of links whoever holds the
 * lock of comm. Chunks are only ever added, and what is written stays; nobody reads before the
 * writer has stopped for good (joined threads), so nothing is locked and nothing is atomic.
 * Invariant: first..last are linked in order; `at` points into last; at <= end = its end. A track
 * that got no further chunk has full = 1 and counts what it drops.
 */
typedef struct dagi_buffer {
    uint64_t *at, *end;
    dagi_chunk *first, *last;
    _Atomic int64_t *room; /* small chunks that the rank may still allocate; shared by its tracks */
    uint64_t events, dropped;
    int full;
} dagi_buffer;

/* Room for an event of that many words, which the caller fills at once; NULL = dropped. */
uint64_t *dagi_buffer_grow(dagi_buffer *b, unsigned words);
static inline uint64_t *dagi_buffer_event(dagi_buffer *b, unsigned words)
{
    if (__builtin_expect(b->end - b->at < (ptrdiff_t)words, 0))
        return dagi_buffer_grow(b, words);
    uint64_t *event = b->at;
    b->at += words;
    b->events++;
    return event;
}
void dagi_buffer_init(dagi_buffer *b, _Atomic int64_t *room);
/* No more is written. */
void dagi_buffer_close(dagi_buffer *b);
uint64_t dagi_buffer_words(const dagi_buffer *b); /* closed */
/* Copy all of it to `out` and free the chunks. */
void dagi_buffer_move(dagi_buffer *b, uint64_t *out);
void dagi_buffer_free(dagi_buffer *b);

/* ---- tracks ------------------------------------------------------------------------------- */

/*
 * Behind the struct of every task while something is recorded. Written by whoever creates the task
 * and, under the lock of its shard, by those that bring its inputs.
 *
 * Where a rank has devices, what follows a kernel is released before its length is known, so nobody can
 * tell which of two chains is the longer. On all ranks of such a run (trace->causes) a task therefore
 * keeps what brought each of its inputs, and before it begins all of them are joined in `from`; lengths
 * of chains are left to readers.
 */
typedef struct dagi_task_trace {
    uint64_t ready, from; /* as in format.h; from: of the first input until all are joined */
    uint64_t path;        /* nanoseconds of the longest chain of bodies that ends just before it */
} dagi_task_trace;

/* What brought the input of a data flow and, in the last place, control edges: a number as in format.h,
 * 0 = nothing, or DAGI_FIRST: dagi_task_trace.from, if anything has come. */
#define DAGI_FIRST UINT64_MAX

static inline dagi_task_trace *dagi_trace_of(struct dag_task *t)
{
    return (dagi_task_trace *)(void *)((char *)t + ((t->cls->task_bytes + 7u) & ~7u));
}
static inline uint64_t *dagi_trace_causes(struct dag_task *t) /* [ndata + 1] */
{
    return (uint64_t *)(void *)(dagi_trace_of(t) + 1);
}
/* Bytes of a task of this class with all of that. */
uint32_t dagi_trace_task_bytes(const struct dagi_trace *trace, const dag_class *cls);

/* What makes tasks ready now, on this worker: what they get, in the same order. */
typedef struct dagi_source_task {
    uint64_t time, id, path;
} dagi_source_task;

/* Events of a track on which tasks run. */
typedef struct dagi_log {
    dagi_buffer buffer;
    uint64_t last;  /* end of the latest task in it, ticks: the next is told relative to that */
    uint64_t pool;  /* of that task; 0 = there is none */
    uint64_t id;    /* of the latest task of the track: DAGT_TASK_ID */
} dagi_log;

/* A worker's track. All but `done` is the worker's own. */
typedef struct dagi_track {
    _Alignas(DAGI_LINE) dagi_log log;
    struct dagi_trace *trace;
    dagi_source_task origin;
    struct dagi_worker *worker;
    uint64_t since;       /* idle since, ticks; 0 = is not */
    unsigned cause;       /* then: a of DAGT_IDLE */
    uint64_t joins;       /* DAGT_JOIN so far */
    uint64_t last;        /* ticks when the latest interval ended; of no use while one is open */
    uint64_t look; /* ticks from which on the next dagi_trace_mark() asks for processor time */
    uint64_t sampled, used; /* when that was asked for last; the answer, nanoseconds */
    uint64_t left;        /* worker 0: outside of the library since; 0 = inside */
    uint64_t next_look;   /* ticks when progress is to be looked at again */
    struct dagi_ran *ran; /* NULL: times of classes are not kept; progress.c */
    _Alignas(DAGI_LINE) _Atomic uint64_t done; /* tasks that have ended here, of devices too */
} dagi_track;

/* A track of a device. Written by whoever drives the device. */
struct dagi_device_track {
    dagi_log log;
    struct dagi_trace *trace;
    enum dagt_track_kind kind;
    uint32_t index;  /* as in format.h */
    uint64_t given;  /* number of the latest task that was issued, or of the latest copy */
};
typedef struct dagi_device_track dagi_device_track;

/* ---- the whole ---------------------------------------------------------------------------- */

enum { DAGI_SCALE_BITS = 24 };
enum { DAGI_TRACE_FILE = 1, DAGI_TRACE_REPORT = 2, DAGI_TRACE_PROGRESS = 4, DAGI_TRACE_OVERLAP = 8 };

struct dagi_trace_program;
struct dagi_gather;
struct dagi_progress;

/* What the file has besides the workers' tracks; `lock` guards it. */
struct dagi_trace_lists {
    dagt_pool_head *pools;
    const dag_program **programs;
    int npools, pools_capacity, nprograms, programs_capacity;
    dagi_device_track **device_tracks; /* number k is track nworkers + k of the rank */
    int ndevice_tracks, device_tracks_capacity;
};

/* What the program asked for; phases = 0: nothing. */
typedef struct dagi_overlap_wish {
    int phases;
    dag_overlap_phase *of;
    void *arg;
    dag_overlap *sums;
} dagi_overlap_wish;
typedef struct dagi_pool_wish {
    const char *program; /* NULL: nothing */
    dag_pool_times *times;
} dagi_pool_wish;

struct dagi_trace {
    /* -- fixed after dagi_trace_new() */
    dag_context *ctx;
    int wanted;    /* DAGI_TRACE_..., agreed by all ranks */
    int nworkers;
    dagi_track **tracks; /* [nworkers] */
    double ns_per_tick; /* about; the file has it exactly */
    uint64_t scale;     /* the same times 2^DAGI_SCALE_BITS */
    uint64_t gap;       /* ticks: what is shorter is not asked whether the core was lost in it */
    uint64_t age;       /* ticks that the latest answer is good for */
    /* -- application thread */
    dagi_overlap_wish overlap; /* rank 0 */
    dagi_pool_wish pool;       /* rank 0 */
    FILE *file;    /* rank 0 */
    int regular;   /* 1: `file` is one on disk, made by us */
    int causes; /* 1: a rank has devices, or rank 0 was told so (setting trace_inputs); the same on
                      all, set before there is any pool */
    /* What ranks tell each other of it: context/trace_gather.c, which sets all three. */
    struct dagi_gather *gather;
    void (*heard)(struct dagi_gather *g, int source, const void *data, size_t bytes);
    int (*tell)(struct dagi_worker *w, const void *data,
                size_t bytes); /* rank 0, of progress; 0 = not now */
    dagt_rank_head head; /* what the program said of its work */
    uint64_t begin_ns;   /* dagi_now() at head.begin */
    /* -- the holder of comm's lock */
    dagi_buffer links;
    /* -- shared */
    /* 1: events are kept. Released after head.begin is set, acquired by those that look at it. */
    _Atomic int recording;
    _Atomic int64_t room;   /* small chunks that may still be allocated */
    _Atomic int64_t expected; /* tasks of this rank in all pools that can be counted */
    pthread_mutex_t lock;   /* innermost of all locks; guards all below */
    struct dagi_trace_lists lists;
    struct dagi_progress *progress; /* progress.c says who touches what */
};

/* ---- start and end (trace.c) -------------------------------------------------------------- */

/* What the settings of this rank ask for. */
int dagi_trace_wanted(const dagi_settings *settings);
/* Make ctx->trace for what rank 0 wants, `wanted`, with a track for each of the workers; rank 0 opens the
 * file. Before other threads run. DAG_ERR_IO with the reason: the file cannot be written. */
dag_status dagi_trace_new(dag_context *ctx, int wanted, struct dagi_worker *const *workers,
                          int nworkers, char *why, size_t why_size);
/* Events are kept from now on. Called when worker 0 waits for it, by any worker. */
void dagi_trace_begin(struct dagi_trace *trace);
/* Recording ends: what is open is closed, and how long a tick is becomes known. Other threads have
 * gone. */
void dagi_trace_close(struct dagi_trace *trace);
void dagi_trace_free(dag_context *ctx);

/* ---- what happens (record.c); only while DAGI_TRACK(w) is not NULL ------------------------- */

/* Events are kept. */
static inline int dagi_trace_records(const struct dagi_trace *trace)
{
    return atomic_load_explicit(&trace->recording, memory_order_acquire);
}
/* Something begins now; that was not at once. */
void dagi_trace_late(dagi_track *track, uint64_t now);
/* Now; to be called where a body or the handling of messages begins. */
static inline uint64_t dagi_trace_mark(dagi_track *track)
{
    uint64_t now = dagi_clock();
    if (__builtin_expect(now > track->look, 0))
        dagi_trace_late(track, now);
    return now;
}
/* The task is new: only its class is known so far. */
void dagi_trace_task_new(const struct dagi_track *track, struct dag_task *t);
void dagi_trace_arrival(struct dagi_track *track, struct dag_task *t, unsigned flow);
/* A number for both of two. */
uint64_t dagi_trace_join(struct dagi_track *track, uint64_t a, uint64_t b);
/* What brought the input of a data flow; 0 = nothing did. While trace->causes. */
uint64_t dagi_trace_input(struct dag_task *t, int flow);
/* All inputs of t are there and it is to begin. content: NULL, or for each data flow what brought its
 * content to where t runs, 0 = that was the input itself. May be called again. */
void dagi_trace_collect(struct dagi_track *track, struct dag_task *t, const uint64_t *content);
/* The body of t, begun at `begin`, has run: it is what makes tasks ready from now on. */
void dagi_trace_task(struct dagi_track *track, struct dag_task *t, uint64_t begin);
/* The same for a task that ran elsewhere; the worker of `track` has found out that it has ended. */
void dagi_trace_task_on(dagi_log *log, struct dagi_track *track, struct dag_task *t, uint64_t begin,
                        uint64_t end);
static inline uint64_t dagi_trace_head(enum dagt_event kind, unsigned words, unsigned a, uint32_t b)
{
    return (uint64_t)kind | (uint64_t)words << 8 | (uint64_t)a << 16 | (uint64_t)b << 32;
}
/* Record an event with begin, end and the words of `more`; begin is not before the start of recording. */
void dagi_trace_event(const struct dagi_trace *trace, dagi_buffer *buffer, uint64_t head,
                      uint64_t begin, uint64_t end, const uint64_t *more);
/* The worker has been busy with something since `begin`, maybe in the midst of being idle. */
void dagi_trace_busy(dagi_track *track, enum dagt_event kind, uint64_t begin, int events);
/* Tasks that are made next are made by nobody: start-up. */
void dagi_trace_startup(struct dagi_track *track);
/* Tasks that are made next are made by task `id`, which may not have ended yet. */
void dagi_trace_source(struct dagi_track *track, uint64_t id);
/* Tasks that are made next are made by a message; returns what made them before. */
dagi_source_task dagi_trace_deliver(struct dagi_track *track, uint64_t id, uint64_t path);
/* All tasks of the pools added so far have run here. */
int dagi_trace_none_left(const struct dagi_trace *trace);
/* Found nothing to do, for this reason (a of DAGT_IDLE). Called again and again while that is so. */
void dagi_trace_idle(struct dagi_track *track, unsigned cause);
/* Messages were handled since `begin`. */
void dagi_trace_comm(struct dagi_track *track, uint64_t begin, int events);
void dagi_trace_steal(struct dagi_track *track);
/* Worker 0 comes into the library and leaves it. */
void dagi_trace_enter(struct dagi_track *track);
void dagi_trace_leave(struct dagi_track *track);
/* Recording ends: whatever is open is closed. */
void dagi_trace_end(struct dagi_track *track, uint64_t now);
/* A pool has been added, has ended. */
void dagi_trace_pool(struct dagi_trace *trace, const dag_taskpool *pool, int64_t tasks);
void dagi_trace_pool_end(struct dagi_trace *trace, const dag_taskpool *pool,
                         const dag_pool_stats *stats);
extern const dagi_observer dagi_trace_observer;

/* ---- devices (device.c) ------------------------------------------------------------------- */

/*
 * For whoever drives a device: the worker that manages it, or a thread. A device has a track for each
 * stream on which tasks run, and one for each link over which copies go, in one direction. They are
 * made when the device is opened, if DAGI_TRACE(ctx) is not NULL then, and freed with the trace.
 *
 *     stream = dagi_trace_stream(trace, 0, 2);                  -- device 0, stream 2
 *     to = dagi_trace_link(trace, DAGI_TRACE_HOST, 0);          -- host to device 0
 *     ...
 *     id = dagi_trace_number(to);                               -- a copy is issued
 *     dagi_trace_copy(to, begin, end, bytes, id, cause);        -- and has ended
 *     dagi_trace_kernel(stream, DAGI_TRACK(w), task, begin, end);
 *     ... release the successors of the task ...
 *     dagi_trace_drive(DAGI_TRACK(w), since);
 *
 * A track has one writer at a time; that it passes from one to the next is ordered by what makes one
 * the driver of the device. Events of a track come in the order of their ends. Times are ticks of
 * dagi_clock(). A device that tells nanoseconds since some event of its own adds them to a moment of
 * which both are known: ticks + dagi_trace_ticks(trace, ns). The length of a tick is known to about
 * 1e-4 only, so take a new such moment every few milliseconds of what you tell.
 */
enum { DAGI_TRACE_HOST = -1 };

/* Further tracks: any thread, any time before dag_fini(). NULL = out of memory, or the rank has
 * DAGT_MAX_TRACKS; the functions below do nothing for NULL. */
dagi_device_track *dagi_trace_stream(struct dagi_trace *trace, int device, int number);
dagi_device_track *dagi_trace_link(struct dagi_trace *trace, int from, int to);
/* The number of what is issued now: tasks end, and are told, in that order; copies in any. Classes that
 * leave no events take none. 0 = nowhere. */
uint64_t dagi_trace_number(dagi_device_track *track);
/* t ran on the stream from begin to end. Whoever has found out is about to release its successors, and
 * is worker `driver`: t is what makes tasks ready from now on. */
void dagi_trace_kernel(dagi_device_track *stream, dagi_track *driver, struct dag_task *t,
                       uint64_t begin, uint64_t end);
void dagi_trace_copy(dagi_device_track *link, uint64_t begin, uint64_t end, size_t bytes,
                     uint64_t id, uint64_t cause);
/* The worker was busy with a device since `begin`: submitting, asking for what has ended. Neither
 * tasks that it ran meanwhile nor waiting for something to end belong here. */
void dagi_trace_drive(dagi_track *driver, uint64_t begin);
static inline uint64_t dagi_trace_ticks(const struct dagi_trace *trace, double ns)
{
    return (uint64_t)(int64_t)(ns / trace->ns_per_tick);
}

/* The section of this rank, as words; frees the buffers. NULL = out of memory. */
uint64_t *dagi_trace_section(struct dagi_trace *trace, size_t *words);

/* ---- progress (progress.c) ---------------------------------------------------------------- */

int dagi_progress_new(struct dagi_trace *trace); /* nonzero = out of memory; the tracks are there */
/* A body of that class has run for so many ticks on the worker of the track. */
void dagi_progress_ran(dagi_track *track, const dag_class *cls, uint64_t ticks);
void dagi_progress_free(struct dagi_trace *trace);
void dagi_progress_added(struct dagi_trace *trace, uint32_t pool,
                         int64_t tasks); /* -1: not known */
/* Tell others or the user how far we are, now that it is time to; from any worker. */
void dagi_progress_look(struct dagi_track *track, uint64_t now);
void dagi_progress_told(struct dagi_trace *trace, int rank, const void *data, size_t bytes);
/* The last pool has ended, and so does the line. */
void dagi_progress_idle(struct dagi_trace *trace, int failed);

/* ---- overlap (overlap.c), report (report.c) ------------------------------------------------- */

typedef struct dagt_trace dagt_trace;
/* Sums for the program; nonzero = out of memory. */
int dagi_overlap_tell(const dagi_overlap_wish *wish, const dagt_trace *trace);
int dagi_pool_tell(const dagi_pool_wish *wish, const dagt_trace *trace);
void dagi_report_print(dagt_trace *trace, FILE *out);

#endif

/*
 * The trace file: what a run writes and dag_trace reads. Everything is in 64-bit words, in the byte
 * order of the machine that wrote it.
 *
 *   file     = magic, version | ranks << 32, rank section of 0, ..., of ranks-1
 *   section  = DAGT_SECTION, words of what follows, struct dagt_rank_head, programs, pools, tracks
 *   program  = name, file, number of classes, classes
 *   class    = name, line | DAGT_CLASS_COPIES | parameters << 32, names of the parameters
 *   pool     = struct dagt_pool_head
 *   track    = DAGT_TRACK, kind | index << 32, events in it, words of events, events
 *   string   = length in bytes, bytes, zeros up to a whole word
 *   event    = kind | words << 8 | a << 16 | b << 32, then words - 1 words as said below
 *
 * Times of events are ticks of the rank's own clock; dagt_rank_head says how they become
 * nanoseconds since the start of rank 0. Events of a track are in the order of their ends; intervals
 * of the track of a worker do not overlap. The tracks of a rank are those of its workers, by index;
 * those of its devices; that of its links to other ranks.
 */
#ifndef DAGT_FORMAT_H
#define DAGT_FORMAT_H

#include <stdint.h>

#define DAGT_MAGIC UINT64_C(0x0a65636172746764) /* "dgtrace\n" */
#define DAGT_VERSION 3
#define DAGT_SECTION UINT64_C(0x6b6e6172) /* "rank" */
#define DAGT_TRACK UINT64_C(0x6b617274)   /* "trak" */

/* Its tasks are copies, which stand on the tracks of links as well. */
#define DAGT_CLASS_COPIES (UINT64_C(1) << 31)

/* Index of a stream: device << 16 | its number. Index of copies: from << 16 | to, 0 being the host and
 * d + 1 device d. */
enum dagt_track_kind { DAGT_TRACK_WORKER, DAGT_TRACK_LINKS, DAGT_TRACK_STREAM, DAGT_TRACK_COPIES };

enum dagt_event {
    /* a: class, b: pool; begin, end, ready, from, priority, parameters two per word. ready: when its
     * last input was there. from: what it waited for (0 = nothing): the last task of the longest chain
     * of bodies that ends just before it, or where all inputs are kept, as in runs with devices, the
     * number of a task, a copy or a DAGT_JOIN. What follows a kernel may be recorded as ready, or as
     * begun on a device, before the kernel has ended: readers move it behind (cause.c). */
    DAGT_TASK = 1,
    /* a: enum dagt_cause, + DAGT_ASLEEP; begin, end */
    DAGT_IDLE,
    DAGT_OUTSIDE, /* worker 0 was not in the library, but in the application; begin, end */
    DAGT_COMM,    /* messages were handled between tasks, b of them; begin, end */
    DAGT_STEAL,   /* a task was taken from another worker; time */
    DAGT_MESSAGE_OUT, /* a: kind of message, b: the other rank; time, bytes */
    DAGT_MESSAGE_IN,
    DAGT_TRANSFER_OUT, /* of data too large for a message. b: the other rank; begin, end, bytes,
                          tag */
    DAGT_TRANSFER_IN,
    /* A task of the same pool as the task before it on this track, which ended at `last`. a: class,
     * b: end - begin; (begin - last) | (begin - ready) << 32; from; priority and parameters two per
     * word, all of these signed. What does not fit is a DAGT_TASK. */
    DAGT_BRIEF,
    DAGT_DRIVE, /* a worker was busy with a device; begin, end */
    /* A copy of (a << 32 | b) bytes over the link of the track; begin, end, place in its number, from: what
     * it waited for, as of a task. */
    DAGT_COPY,
    DAGT_JOIN, /* both of two numbers; these */
    /* Data of a task set out to other ranks. a: class, b: pool; time, number at this rank | ranks << 32,
     * bytes, seconds that it is predicted to take (a double; 0 = not known), its tree: a dag_bcast_tree of
     * include/dag/jdf.h, two words */
    DAGT_BROADCAST,
    DAGT_RECEIVED, /* all of a broadcast is here. b: its root; time, its number there */
    DAGT_EVENTS
};
enum { DAGT_BROADCAST_WORDS = 7 };

/* Why a worker was idle. */
enum dagt_cause {
    DAGT_NO_TASK,  /* tasks of this rank run, and those that follow wait for them */
    DAGT_DATA,     /* what is to run next waits for another rank */
    DAGT_SEND,     /* so much waits to be sent that no task may start, or sends are all there is */
    DAGT_SLEEPING, /* no taskpool had anything left to do here */
    DAGT_CORE,     /* it had work and other threads had the core */
    DAGT_DEVICE,   /* devices work, and what follows waits for them */
    DAGT_CAUSES
};
#define DAGT_ASLEEP 0x100 /* the thread slept; without it, it looked for work */

/* Tasks of a run have numbers: rank << 44 | track << 34 | place in the track, from 1 on. */
#define DAGT_TASK_ID(rank, track, place)                                                           \
    ((uint64_t)(rank) << 44 | (uint64_t)(track) << 34 | (uint64_t)(place))
/* So have copies, whose place is said in them, and joins, whose place is that among the joins of their
 * track, with this bit. */
#define DAGT_IS_JOIN (UINT64_C(1) << 33)
#define DAGT_MAX_TRACKS 1024 /* of a rank, that have tasks */

typedef struct dagt_rank_head {
    uint64_t rank, workers;
    uint64_t begin, end;  /* ticks */
    double ns_per_tick;
    double start;         /* nanoseconds of `begin` since that of rank 0 */
    double clock_error;   /* nanoseconds that `start` may be wrong by */
    uint64_t dropped;     /* events for which there was no room */
    uint64_t programs, pools, tracks;
    double flops, seconds; /* of the timed part, as the program said; 0 = it did not */
    double peak;           /* floating point operations per second and worker, measured */
    uint64_t nb, p, q;     /* tiles and grid, likewise */
    uint64_t all_inputs;   /* 1: `from` of a task leads, by way of joins, to all that it waited for */
    uint64_t reserved[3];
} dagt_rank_head;

typedef struct dagt_pool_head {
    uint64_t id, program;
    uint64_t begin, end; /* ticks: added, ended everywhere */
    uint64_t tasks, renames, messages, bytes, status;
} dagt_pool_head;

#endif

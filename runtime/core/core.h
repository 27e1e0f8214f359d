/*
 * The heart of the runtime: contexts, workers, taskpools.
 *
 * Every structure says for each group of fields who may touch it. Three words are used:
 *   fixed    written before anybody else can see the structure, read by everybody afterwards
 *   owner    one worker (or the application thread) alone, no synchronisation
 *   shared   atomics, or guarded by the lock named beside it
 *
 * Locks, in the order in which they may be nested (outer first); whoever holds one may take those
 * further down only (that of watch/race.c stands before pool->lock, those of watch/watch.h before
 * nothing):
 *   comm's progress lock > ctx->pools_lock > shard locks of deps.c > pool->lock > queue locks of
 *   sched/ > ctx->park_lock > worker->sleep_lock > ctx->message_lock > trace->lock
 * No lock is held while a body or a function of generated code runs, with one exception: the shard
 * lock is held while inputs() of the class is evaluated.
 */
#ifndef DAGI_CORE_H
#define DAGI_CORE_H

#include <dag/config.h>
#include <dag/jdf.h>

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is written by different threads is kept this far apart (two lines: the prefetcher of
 * current processors fetches pairs). */
#define DAGI_LINE 128

#define DAGI_MAX_WORKERS 1024

struct dagi_worker;
struct dagi_fanout;
struct dagi_sched_ops;
struct dagi_value_cache;
struct dagi_value_depot;
struct dagi_pool_data;
struct dagi_topology;
struct dagi_task_store;
struct dagi_watch;
struct dagi_watched;
struct dagi_race;
struct dagi_track;
struct dagi_trace;
struct dagi_devices;
struct dagi_job;
struct dagi_store_plan;

/* ---- settings (settings.c) -------------------------------------------------------------- */

/* Whether MPI is to read memory of devices itself. */
enum dagi_gpu_mpi { DAGI_GPU_MPI_OFF, DAGI_GPU_MPI_AUTO, DAGI_GPU_MPI_ON, DAGI_GPU_MPI_FORCE };

/* Every setting has an entry in the table of settings.c and a field here. Units in the table. */
typedef struct dagi_settings {
    int64_t threads; /* 0 = from the cpuset */
    int bind;        /* 0 none, 1 auto */
    char sched[16];  /* name of the scheduler */
    int64_t eager_bytes;
    int64_t credit_bytes;
    int bells;         /* 1: ranks of a node wake each other */
    int bcast;         /* dag_bcast; DAG_BCAST_AUTO unless forced */
    uint64_t chaos;    /* 0 = off, else the seed */
    double stall_time; /* seconds; 0 = at once */
    int summary;       /* 1: print dag_summary() to stderr at dag_init */
    int warnings;      /* 1: warnings go to stderr */
    int report_signal; /* number of the signal, 0 = none */
    double task_timeout; /* seconds; 0 = off */
    int task_timeout_end; /* 1: the process ends when a body has exceeded it */
    int check;         /* 0 nothing, 1 races */
    int serial;        /* 1: one worker, a fixed order */
    int64_t lose;      /* number of the message to drop, for tests; 0 = none */
    char trace[1024];  /* file to write a trace to; "" = none */
    int64_t trace_bytes; /* most memory for events */
    int trace_inputs;  /* 1: traces have all inputs of tasks */
    int report;        /* 1: report to stderr at dag_fini() */
    int progress;      /* 1: bar on a terminal */
    int64_t gpus;      /* -1 all that are there, 0 none, n exactly n */
    int device_always; /* 1: no core runs what a device could */
    int64_t cuda_memory; /* bytes of a device that are used; 0 = most of what is free */
    char perf_model[1024];  /* file of kernel times (device/choice.h); "" = none */
    char tile_times[1024];  /* read by algorithms */
    char cuda_plugin[1024]; /* file of the plug-in; "" = looked for */
    int gpu_mpi;       /* enum dagi_gpu_mpi */
} dagi_settings;

/* ---- context ---------------------------------------------------------------------------- */

/*
 * `activity` counts in its low 16 bits the workers that are not idle and above them how often one
 * ceased to be idle. A worker is idle when it holds no task, has found none to pop, steal or start
 * and has flushed its counts; it becomes active again *before* it takes a task, and the one that
 * makes tasks ready while idle (a message handler) does so first. Hence: two reads of equal
 * activity with zero active workers, and in between every pool seen without ready tasks and without
 * instances to start, prove that no task ran in between.
 */
#define DAGI_ACTIVE_MASK UINT64_C(0xffff)
#define DAGI_ACTIVE_ONE (UINT64_C(0x10000) + 1)

struct dag_context {
    /* -- fixed after dag_init() */
    int rank, size;
    int nworkers;
    int single;         /* nworkers == 1: no other thread exists, locks of core are skipped */
    int oversubscribed; /* more workers than processors in reach: never spin */
    /* The ranks that share the processors are as many as these or more. Nobody wakes a background
     * worker for tasks or messages: it looks by itself whether help is needed. */
    int helpers;
    int unlocked; /* single, and nobody else looks: no locks in dependency tables */
    int recorded;       /* what rank 0 wants recorded: DAGI_TRACE_... of trace/trace.h */
    struct dagi_trace *trace; /* runtime/trace; NULL = nothing is recorded */
    dagi_settings settings;
    struct dag_config *config;  /* values with their origin, for dag_setting_get() */
    struct dagi_worker **workers;
    const struct dagi_sched_ops *sched;
    struct dagi_topology *topology;
    char summary[512];
    struct dagi_watch *watcher; /* runtime/watch: observes bodies; NULL = nobody does */
    struct dagi_race *race;   /* runtime/watch: looks for races; NULL = off */
    struct dagi_devices *devices; /* runtime/device; NULL = there is none, no_devices says why */
    char no_devices[256];
    int device_classes; /* 1: a pool had a class with a body for the devices; application thread */
    int attend; /* messages or devices have to be looked after between tasks */

    /* -- comm's: set by dagi_comm_init() (with rank and size above), freed by dagi_comm_fini();
     *    NULL without comm. What is behind it is guarded as comm says. */
    void *comm;
    /* -- runtime/data: memory of values; guarded as data.h says */
    struct dagi_value_depot *values;

    /* -- pools added and not yet ended everywhere, and the next id; pools_lock */
    pthread_mutex_t pools_lock;
    struct dag_taskpool *pools, **pools_end; /* linked by pool->next, ascending ids */
    uint32_t pools_added;       /* ids given so far: 1..pools_added */

    /* -- shared */
    _Alignas(DAGI_LINE) _Atomic uint64_t activity; /* see above */
    _Alignas(DAGI_LINE) _Atomic int starting; /* pools that may still have instances to start */
    _Atomic int searching; /* workers awake that look for a task and have none */
    _Atomic int parked;    /* workers asleep or about to be: length of park_list */
    _Atomic int open_pools; /* pools whose part here is not over */
    _Atomic int uncounted;  /* those of them that cannot be counted */
    _Atomic int stopping;   /* 1: background workers leave */
    /* Odd: the application thread is inside dagi_run_until() and has found nothing to return for.
     * Half of it: how often it was. */
    _Atomic uint64_t blocked;
    _Atomic int polling;   /* 1: an idle background worker keeps comm moving, others may sleep */
    _Atomic int app_polls; /* 1: worker 0 is idle in the library and does so */
    _Atomic int news;      /* 1: worker 0 should ask its done() */
    pthread_mutex_t park_lock;
    struct dagi_worker *park_list; /* park_lock; linked by worker->park_next */

    pthread_mutex_t message_lock;
    char message[4096]; /* message_lock; the text of dag_message() is a copy made for the caller */
    char message_out[4096]; /* application thread */

    /* Task memory shared between workers; memory.c */
    struct dagi_task_store *task_store;
};

/* ---- workers ---------------------------------------------------------------------------- */

/* Task memory comes in classes of 64 bytes; see memory.c. */
#define DAGI_TASK_GRAIN 64
#define DAGI_TASK_CLASSES 9

typedef struct dagi_magazine {
    struct dag_task *head;
    int count;
} dagi_magazine;

/* Control that tasks of one worker send to the same successors (dag_class.ctl_blind) is told once,
 * with their number. It is held back only from the end of such a task to the next one, while the
 * task that the worker runs next is one of them: as the successors wait for that one anyway,
 * nothing starts later. So a worker that looks elsewhere for work, rests, or returns holds nothing
 * back. */
struct dagi_control {
    dag_taskpool *pool;
    const dag_class *cls;
    int32_t locals[DAG_MAX_LOCALS]; /* of the first of the tasks */
};

struct dagi_worker {
    /* -- fixed */
    dag_context *ctx;
    int index;
    int cpu; /* processor it is bound to, -1: not bound */
    pthread_t thread; /* of workers 1.., when started */
    int started;

    /* -- owner: the worker's own thread; for worker 0 the application thread inside the library */
    uint64_t random;           /* dagi_random() */
    struct dagi_value_cache *values; /* runtime/data: free lists of values */
    struct dagi_fanout *fanout; /* runtime/comm, NULL when size == 1 */
    struct dagi_track *track;  /* runtime/trace, NULL when nothing is recorded */
    struct dag_task *next;     /* the task to run next, kept for its warm data */
    struct dag_task *overflow; /* ready tasks that the scheduler had no memory for */
    int active;                /* 1: counted in ctx->activity */
    dag_taskpool *count_pool;  /* tasks `completed` since `counted`, not yet taken off its `open` */
    int64_t counted;           /* value of `completed` when they were last taken off */
    int64_t renames;           /* copies made for those tasks and not yet added to the pool's */
    dagi_magazine magazine[DAGI_TASK_CLASSES];
    char *edges;               /* buffer of release.c, used as a stack */
    size_t edges_used, edges_capacity;
    struct dagi_shard *held;   /* whose lock it keeps between the arrivals of one task (deps.c);
                                  NULL = none, as always while tables have no locks */
    void *workspace;           /* dag_task_workspace() */
    size_t workspace_bytes;
    uint64_t last_progress;    /* dagi_ticks() of the last look at comm */
    int searching;             /* 1: counted in ctx->searching */
    int away;                  /* 1: the last sched->steal() has left tasks of others alone */
    int leaves;                /* 1: sched->leaves() has told it to leave even its own */
    int polls;                 /* 1: holds ctx->polling */
    uint64_t idle_since;       /* dagi_now() when the last task or message was seen; 0 = busy */
    uint64_t congested_since;  /* dagi_now() since when comm has been congested and still; 0 = not */
    uint64_t last_wave;        /* dagi_now() of the last request for a wave */
    int (*done)(void *arg);    /* worker 0 in dagi_run_until(), NULL otherwise */
    void *done_arg;
    int one_task;              /* 1: worker 0 in dag_test(), look at the clock after each task */
    int special;               /* 1: tasks are recorded, or there are devices */
    int joins;                 /* 1: control may be held back */
    int64_t held_back;         /* tasks whose control is; struct dagi_control */
    uint32_t manages;          /* bit i: it is the manager of device i */
    int64_t ran_beside;        /* tasks it ran on its core for which there was a body for devices */
    struct dagi_job *job;      /* whose body it runs for a device */
    struct dagi_job *sending;  /* whose messages it makes; NULL: of a task on a core */
    int has_device;            /* 1: one is its thread's, for an MPI that reads memory of devices */
    struct dagi_store_plan *store_plan; /* stores are listed, not done; data.h */
    uint64_t waits_since;      /* dagi_now() since when its devices have had no news; 0 = not */
    struct dagi_watched *watched; /* runtime/watch: what it is at; NULL = nobody observes */
    int64_t lost;              /* of worker 0, under comm's lock: messages counted for `lose` */

    struct dagi_control control; /* good while held_back > 0 */

    /* -- shared: what the scheduler keeps per worker; guarded as sched/ says */
    void *queue;

    /* -- shared: tasks that it has completed, ever; written by the owner alone, read by all. On a
     *    line of its own, which a thief takes away now and then (sched/thief.h). */
    _Alignas(DAGI_LINE) _Atomic int64_t completed;

    /* -- shared: sleeping; park_lock of the context, and the pair below for the sleep itself */
    _Alignas(DAGI_LINE) struct dagi_worker *park_next;
    pthread_mutex_t sleep_lock;
    pthread_cond_t sleep_cond;
    int sleeping; /* sleep_lock */
    int at_bell;  /* park_lock: it sleeps in dagi_comm_sleep(), not on sleep_cond */
};

/* ---- taskpools -------------------------------------------------------------------------- */

/* What the run time derives from a class once. Fixed, but for the hint. */
typedef struct dagi_class_info {
    const dag_class *cls;
    uint32_t write_mask;  /* data flows that the body may write */
    uint8_t memory_class; /* of its tasks */
    uint8_t on_device;    /* 1: there are devices that it has a body for */
    _Atomic uint8_t many; /* hint: an instance with several arrivals has been seen */
    _Atomic(struct dagi_choice_class *) times; /* hint: the device layer's, once they were asked for */
    /* start-up; pool->start_lock */
    dag_cursor cursor;
    int started; /* 1: nothing left to start */
} dagi_class_info;

/* A part of the dependency table; deps.c says how it is used. All guarded by `lock`. */
typedef struct dagi_shard {
    _Alignas(64) _Atomic int lock;
    uint32_t mask;              /* buckets - 1 */
    uint64_t count;             /* tasks in the buckets */
    struct dag_task **buckets;  /* chains linked by next; NULL while there are none */
} dagi_shard;

/*
 * Life of a pool on one rank; state only grows:
 *   NEW      being made, or made and not added: the application's alone
 *   QUEUED   added, waits for earlier pools that name one of its collections. Messages may create
 *            tasks; those that become ready are kept in `early`.
 *   RUNNING  its tasks run
 *   LOCAL    this rank's part is over: no task, no send, no receive left, stores applied
 *   ENDED    agreed by all ranks; nothing of the runtime refers to it any more
 */
enum dagi_pool_state {
    DAGI_POOL_NEW = 0x10,
    DAGI_POOL_QUEUED,
    DAGI_POOL_RUNNING,
    DAGI_POOL_LOCAL,
    DAGI_POOL_ENDED
};

struct dag_taskpool {
    /* -- fixed once dag_pool_ready() has returned (id: once dag_add() has) */
    dag_context *ctx;
    const dag_program *program;
    void *globals; /* behind this struct, in the same allocation */
    dag_precision prec;
    uint32_t id;
    uint64_t hash; /* of the program and its scalar globals; ranks compare it */
    dagi_class_info *classes; /* [program->nclasses] */
    dag_collection **collections; /* [program->nslots], as bound */
    struct dagi_pool_data *data; /* runtime/data: bound collections with their effective modes,
                                    fetched elements, put-off stores; guarded as data.h says */
    void *comm;                  /* runtime/comm: what it keeps per pool, set in
                                    dagi_comm_pool_added(), freed before dagi_pool_end() */
    int countable;           /* 0: the end is found by waves */
    int on_device;           /* 1: some class has a body for the devices that are there */
    int nshards;             /* of the dependency table; a power of two */
    dagi_shard *shards;
    _Atomic int crowded;     /* hint, only ever 0 -> 1: the table is too large for a cache */

    /* -- shared: guarded by `lock` */
    pthread_mutex_t lock;
    dag_status status; /* of this rank (of the constructor in NEW); the agreed one in ENDED */
    char *message;     /* of `status`, or NULL; owned */
    int64_t info;      /* smallest reported > 0; 0 = none; the agreed one in ENDED */
    struct dag_task *early; /* ready in QUEUED, linked by next */
    int waits;              /* earlier pools it still waits for */
    struct dag_taskpool **followers; /* pools that wait for this one */
    int nfollowers, followers_capacity;

    /* -- guarded by ctx->pools_lock */
    struct dag_taskpool *next;

    /* -- shared atomics */
    _Atomic int state;    /* enum dagi_pool_state; written under lock */
    _Atomic int poisoned; /* only ever 0 -> 1: bodies and stores are skipped */

    /*
     * What keeps this rank's part from being over: tasks not completed + holds of comm + 1 while
     * start-up is not finished. Whoever takes it to zero ends the part. Countable pools enter all
     * their tasks at the start; the others enter each task when it is made and keep one for the
     * waves to take.
     */
    _Alignas(DAGI_LINE) _Atomic int64_t open;
    /* Statistics, on the line that a worker takes anyway when it hands in its counts. What every
     * task reads does not lie here. */
    _Atomic int64_t tasks, renames, messages, bytes_sent, deferred_stores;

    /* -- start-up: start_lock is a try-lock; its holder alone touches the cursors */
    _Alignas(DAGI_LINE) _Atomic int start_lock;
    int start_class; /* start_lock: class whose cursor is at work */
    _Atomic int start_done;
};

/* ---- helpers for all parts -------------------------------------------------------------- */

/* Keep the sentence that dag_message() returns. */
void dagi_set_message(dag_context *ctx, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Warning to stderr, `dag: rank R: ...`, unless warnings are off. */
void dagi_warn(const dag_context *ctx, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Write "Class(1, 2)" of an instance; always ends the text. Returns the length. */
size_t dagi_describe(char *text, size_t size, const dag_class *cls, const int32_t *locals);

/* Monotonic time in nanoseconds, and a cheaper one in units of its own. */
uint64_t dagi_now(void);
static inline uint64_t dagi_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return dagi_now();
#endif
}

/* One more, of a count that one thread alone writes. On x86 the one instruction that a plain
 * increment is; compilers make three of an atomic load and store. */
static inline void dagi_count_one(_Atomic int64_t *count)
{
#if defined(__x86_64__)
    __asm__("incq %0" : "+m"(*count) : : "cc");
#else
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1,
                          memory_order_relaxed);
#endif
}

/* Random numbers of this worker: a stream that depends on (seed, rank, worker) only. */
static inline uint64_t dagi_random(struct dagi_worker *w)
{
    uint64_t x = (w->random += UINT64_C(0x9e3779b97f4a7c15));
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* True under DAG_CHAOS, once in `n` times. */
static inline bool dagi_chaos(struct dagi_worker *w, uint32_t n)
{
    return w->ctx->settings.chaos && dagi_random(w) % n == 0;
}
/* Under DAG_CHAOS: now and then wait a moment, or let somebody else run. */
void dagi_chaos_delay(struct dagi_worker *w);

/* The worker that the calling thread is; NULL for a thread that is none. */
struct dagi_worker *dagi_worker_self(dag_context *ctx);

/*
 * Compute and make progress until done(arg) is nonzero; the way to wait for anything. Worker 0 on
 * the application thread only. done() is called without a lock, at least once per round.
 */
void dagi_run_until(struct dagi_worker *w, int (*done)(void *arg), void *arg);
/* Wake worker 0 if it sleeps in dagi_run_until(): something it may wait for has happened. */
void dagi_wake_application(dag_context *ctx);

static inline bool dagi_pool_is_poisoned(const dag_taskpool *pool)
{
    return atomic_load_explicit(&pool->poisoned, memory_order_relaxed) != 0;
}

#endif

/*
 * The ground floor: what every part of the runtime may know of a context, a worker and a taskpool.
 *
 * The three structs here are heads. A floor that keeps more about one of them extends it: its own
 * struct begins with the head (or with the struct of a floor below), and a function of that floor
 * casts. task/task.h: dagi_tasks, dagi_runner, dagi_pool; worker/worker.h: dagi_crew, dagi_thread.
 * context/ allocates the outermost. Floors whose part is not touched for each task keep it behind an
 * opaque pointer of the head. So no floor sees a field of a floor above it.
 *
 * Every structure says for each group of fields who may touch it. Three words are used:
 *   fixed    written before anybody else can see the structure, read by everybody afterwards
 *   owner    one worker (or the application thread) alone, no synchronisation
 *   shared   atomics, or guarded by the lock named beside it
 *
 * Locks, in the order in which they may be nested (outer first); whoever holds one may take those
 * further down only (that of watch/race.c stands before pool->lock, those of watch/watch.h before
 * nothing):
 *   `house` of worker/seat.c > comm's progress lock > the lock of MPI (net/engine.h) > pools_lock >
 *   shard locks of task/deps.c > pool->lock > queue locks of sched/ > park_lock >
 *   a thread's bed > message_lock > trace->lock
 * No lock is held while a body or a function of generated code runs, with one exception: the shard
 * lock is held while inputs() of the class is evaluated.
 */
#ifndef DAGI_BASE_H
#define DAGI_BASE_H

#include <dag/config.h>
#include <dag/jdf.h>

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DAGI_LIKELY(x) __builtin_expect(!!(x), 1)
#define DAGI_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Fields that different threads write are kept this far apart (two lines: the prefetcher of
 * current processors fetches pairs). */
#define DAGI_LINE 128

#define DAGI_MAX_WORKERS 1024

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
    char engine[16];   /* a name, or "auto" */
    dag_bcast_tree bcast; /* DAG_BCAST_AUTO unless forced */
    double link_latency; /* seconds of a message between two ranks */
    int64_t link_rate;   /* bytes per second; 0 = not known */
    char network[1024]; /* file that says what messages take; "" = none */
    int64_t node_ranks; /* ranks of a node, for broadcasts; 0 = as it is */
    uint64_t chaos;    /* 0 = off, else the seed */
    double stall_time; /* seconds; 0 = at once */
    int summary;       /* 1: print dag_summary() to stderr at dag_init */
    int warnings;      /* 1: warnings go to stderr */
    int report_signal; /* number of the signal, 0 = none */
    double task_timeout; /* seconds; 0 = off */
    int task_timeout_end; /* 1: the process ends when a body has exceeded it */
    int check;         /* 0 nothing, 1 races */
    int serial;        /* 1: one worker, a fixed order */
    int64_t insert_window; /* most unfinished tasks of an inserting program */
    int64_t lose;      /* number of the message to drop, for tests; 0 = none */
    char trace[1024];  /* file to write a trace to; "" = none */
    int64_t trace_bytes; /* most memory for events */
    int trace_inputs;  /* 1: traces have all inputs of tasks */
    int report;        /* 1: report to stderr at dag_fini() */
    int overlap;       /* 1: events are kept for dag_overlap_at_end() */
    int progress;      /* 1: bar on a terminal */
    int direct;        /* 1: algorithms may leave tasks out where one core is best */
    int64_t gpus;      /* -1 all that are there, 0 none, n exactly n */
    int64_t device_contexts; /* contexts that share the memory of devices */
    int64_t device_streams; /* queues for kernels of each device */
    int64_t device_batch; /* tasks whose kernels are launched together, at most */
    char device_policy[16]; /* how a device is chosen */
    char device_backend[64]; /* kinds of devices, or "auto" */
    char core_share[16];   /* of what cores and devices can run, the cores' part */
    int device_always; /* 1: no core runs what a device could */
    char device_cache[1024]; /* folder of what back ends keep; "" = that of the user, "off" = none */
    struct {             /* by dag_device_kind */
        int64_t memory;    /* bytes of a device that are used; 0 = most of what is free */
        char plugin[1024]; /* file of the plug-in; "" = looked for */
    } kind[DAG_DEVICE_KIND_COUNT];
    char perf_model[1024];  /* file of kernel times (device/choice.h); "" = none */
    char tile_times[1024];  /* read by algorithms */
    char split[64];         /* how they cut tiles: dag_split_settings() */
    int split_placement;    /* dag_split_placement */
    int out_of_core;        /* dag_out_of_core */
    int split_update;       /* dag_split_update */
    int gpu_mpi;       /* enum dagi_gpu_mpi */
    int64_t simulate;  /* ranks that this process plays; 0 = none */
    char machine[1024]; /* file that describes theirs; "" = built in */
    int64_t stretch;   /* > 0: kernels of a real run compute nothing and take that many times as long as on it */
    int reproducible;  /* 1: algorithms go by nothing that was measured; no devices unless asked for */
} dagi_settings;

/* ---- heads ------------------------------------------------------------------------------ */

struct dagi_topology;
struct dagi_trace;
struct dagi_track;
struct dagi_value_cache;
struct dagi_value_depot;
struct dagi_value_keeper;
struct dagi_pool_data;

struct dag_context {
    /* -- fixed after dag_init() */
    int rank, size;
    int number; /* among the contexts of this process, from 1 on: messages name it */
    /* Ranks of this job on this node that run on the same set of processors, and which of them this
     * one is. */
    int sharing, share_index;
    int simulated;      /* 1: ranks, time and content are played, see sim/ */
    int modelled;       /* 1: kernels compute nothing, so elements have no content; also if simulated */
    int device_sharing; /* ranks of this node that use the same devices, wherever they are bound */
    /* Values of pools with nothing but matrices lie here, all of them, and nobody copies what is there: `modelled`, on ranks
     * that really run. bytes = 0: values have memory. */
    struct {
        char *at;
        size_t bytes;
    } nowhere;
    dagi_settings settings;
    struct dag_config *config; /* values with their origin, for dag_setting_get() */
    struct dagi_topology *topology;
    char summary[512];

    /* -- what data and trace keep; guarded as they say */
    struct dagi_value_depot *values;
    const struct dagi_value_keeper *keeper; /* who outlives holders of values; NULL = nobody */
    int recorded; /* what rank 0 wants recorded: DAGI_TRACE_... of trace/trace.h */
    struct dagi_trace *trace; /* NULL = nothing is recorded */

    pthread_mutex_t message_lock;
    char message[4096]; /* message_lock; the text of dag_message() is a copy made for the caller */
    char message_out[4096]; /* application thread */
};

struct dagi_worker {
    /* -- fixed */
    dag_context *ctx;
    int index;

    /* -- owner: the worker's own thread; for worker 0 the application thread inside the library */
    int sole; /* 1: no other thread holds values of its context: for ever, or while it completes a task alone */
    uint64_t random;                 /* dagi_random() */
    struct dagi_value_cache *values; /* data's: free lists of values */
    struct dagi_track *track;        /* trace's; NULL when nothing is recorded */
};

struct dag_taskpool {
    /* -- fixed once dag_pool_ready() has returned (id: once dag_add() has) */
    dag_context *ctx;
    const dag_program *program;
    void *globals; /* behind the outermost struct, in the same allocation */
    dag_precision prec;
    uint32_t id;
    uint64_t hash; /* of the program and its scalar globals; ranks compare it */
    struct dagi_pool_data *data; /* data's: bound collections with their effective modes, fetched
                                    elements, put-off stores */
    _Atomic int poisoned; /* only ever 0 -> 1: bodies and stores are skipped */
};

/* ---- checks -------------------------------------------------------------------------------- */

/* Builds with DAG_CHECKED look at whole structures where all is quiet, and end with what is wrong
 * with one: `check` is an expression that yields NULL or a text. Others do not evaluate it. */
#ifdef DAG_CHECKED
#define DAGI_CHECKED 1
#define DAGI_INSIST(check) dagi_insist(check, __FILE__, __LINE__)
#else
#define DAGI_CHECKED 0
#define DAGI_INSIST(check) ((void)0)
#endif
void dagi_insist(const char *wrong, const char *file, int line);

/* ---- helpers for all floors ------------------------------------------------------------- */

/* Contexts of this process; worker/seat.c counts them. */
extern _Atomic int dagi_context_count;
/* "rank 2", and where there are several contexts "context 1: rank 2": what a message begins with. */
typedef struct dagi_caption {
    char text[48];
} dagi_caption;
dagi_caption dagi_who(const dag_context *ctx);
/* Keep the sentence that dag_message() returns. */
void dagi_set_message(dag_context *ctx, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Warning to stderr, `dag: rank R: ...`, unless warnings are off. */
void dagi_warn(const dag_context *ctx, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Write "Class(1, 2)" of an instance; always ends the text. Returns the length. */
size_t dagi_describe(char *text, size_t size, const dag_class *cls, const int32_t *locals);

/*
 * Tasks that a program inserts have no formulas to be known by, but a number and the line that inserted them.
 * Their classes have these names of parameters, and are described so: "gemm(#12, cholesky.c:34)".
 *   0, 1  the number times DAGI_GIVEN_OUTPUTS, plus that of an output
 *   2, 3  what is good on one rank alone
 *   4     the line: from dagi_given_site(); 0 = not known
 */
enum { DAGI_GIVEN_OUTPUTS = 64, DAGI_GIVEN_PARAMS = 5 };
extern const char *const dagi_given_names[DAGI_GIVEN_PARAMS];
/* The number of a line on this rank, for good; 0 = no more of them are told apart. Any thread. */
int32_t dagi_given_site(const char *file, int line);

/* Monotonic time in nanoseconds, and a cheaper one in units of its own. */
uint64_t dagi_now(void);
static inline uint64_t dagi_ticks(void)
{
#if defined(__x86_64__) && !defined(DAG_SIMGRID) /* whose time is simulated */
    return __builtin_ia32_rdtsc();
#else
    return dagi_now();
#endif
}

/* What a worker has done, ever; written by it alone, read by all. */
typedef struct dagi_done {
    _Atomic int64_t completed; /* tasks */
    _Atomic int64_t given;     /* tasks to pools that are open */
} dagi_done;

static inline int64_t dagi_done_sum(const dagi_done *d)
{
    return atomic_load_explicit(&d->completed, memory_order_relaxed) +
           atomic_load_explicit(&d->given, memory_order_relaxed);
}

/* Add one to a count that one thread alone writes. On x86 this is one instruction, as a plain increment
 * is; compilers make three of an atomic load and store. */
static inline void dagi_count_one(_Atomic int64_t *count)
{
#if defined(__x86_64__)
    __asm__("incq %0" : "+m"(*count) : : "cc");
#else
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1,
                          memory_order_relaxed);
#endif
}

/* The same for more. */
static inline void dagi_count(_Atomic int64_t *counter, int64_t by)
{
    int64_t now = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, now + by, memory_order_relaxed);
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

static inline bool dagi_pool_is_poisoned(const dag_taskpool *pool)
{
    return atomic_load_explicit(&pool->poisoned, memory_order_relaxed) != 0;
}

/* Bring the first lines of something to the cache. */
static inline void dagi_prefetch_lines(const void *at, int lines)
{
    enum { LINE = 64 };
    for (int i = 0; i < lines; i++)
        __builtin_prefetch((const char *)at + i * LINE);
}

#endif

/**
 * @file dag.h
 * The public interface of the runtime: contexts, taskpools, settings, errors.
 *
 * Life of a program: dag_init() -> NAME_new() (generated) -> dag_add() -> dag_wait() ->
 * dag_taskpool_free() -> dag_fini(). Every rank of the job makes the same calls in the same order.
 *
 * Errors: functions return a dag_status; the sentence that says what, where and what to do about it
 * is kept per context (dag_message()). The library never prints to stdout, never calls exit and
 * installs no signal handler unasked.
 *
 * Threads: a context is driven by one application thread, the one that called dag_init(). It is
 * worker 0 while it is inside dag_wait() or dag_test(). A process may have several contexts at a time: they
 * share background threads, as many as the one with most workers needs, and while a thread waits in one
 * of the contexts that it has made the others go on, so pools may be waited for in any order.
 */
#ifndef DAG_DAG_H
#define DAG_DAG_H

#include <dag/linkage.h>

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

DAG_C_BEGIN

/** The result of a call. Groups tell how far the damage of an error reaches. */
typedef enum dag_status {
    DAG_SUCCESS = 0,
    /* the call: nothing happened, mend the call and repeat it */
    DAG_ERR_ARG = 1,         /**< an argument is out of its range or disagrees with another */
    DAG_ERR_STATE = 2,       /**< called out of order (waiting for a pool never added, ...) */
    DAG_ERR_SETTING = 3,     /**< unknown setting, or a value that does not parse */
    DAG_ERR_UNSUPPORTED = 4, /**< this build lacks what was asked for */
    /* the taskpool: it has ended on all ranks, stored elements are unspecified */
    DAG_ERR_TASK = 10,      /**< a body reported failure */
    DAG_ERR_GRAPH = 11,     /**< the graph contradicts itself at run time (edge, guard, bounds) */
    DAG_ERR_MISMATCH = 12,  /**< ranks disagree about the program or its arguments */
    DAG_ERR_STALL = 13,     /**< tasks wait for inputs that nobody will send */
    DAG_ERR_CANCELLED = 14, /**< dag_cancel() was called */
    /* the environment */
    DAG_ERR_NOMEM = 20, /**< memory could not be had */
    DAG_ERR_IO = 21,    /**< a file could not be read or written */
    DAG_ERR_COMM = 22,  /**< the communication layer failed */
    DAG_ERR_DEVICE = 23, /**< a device failed, and what it held is lost */
    DAG_ERR_INTERNAL = 30 /**< a bug in this library */
} dag_status;

/** One-line meaning of a status; never NULL, static storage. */
const char *dag_strerror(dag_status status);

/** Version of the library, "major.minor.patch"; static storage. */
const char *dag_version(void);

typedef struct dag_config dag_config;
typedef struct dag_context dag_context;
typedef struct dag_taskpool dag_taskpool;
struct dag_task;

/* ---- settings --------------------------------------------------------------------------- */

/**
 * A set of settings to hand to dag_init(). Origin order, weakest first: default, file named by
 * DAG_CONFIG (`key = value` lines), environment (`DAG_KEY`), this object.
 * A program with rights that its user lacks (set-user-ID) ignores file and environment.
 * `credit_bytes`, `eager_bytes`, `link_latency` and `link_rate` must be the same on all ranks, or dag_init()
 * refuses to start.
 * @return a new object owned by the caller (dag_config_free()), NULL when out of memory.
 */
dag_config *dag_config_new(void);
void dag_config_free(dag_config *config);

/**
 * Set `key` to the text `value`. Nothing is read from the environment here.
 * @return DAG_ERR_SETTING for an unknown key or a value that does not parse; then `why` (may be
 *         NULL) holds the reason with the nearest known key.
 */
dag_status dag_config_set(dag_config *config, const char *key, const char *value, char *why,
                          size_t why_size);

/** One setting of a context; the texts live as long as the context. */
typedef struct dag_setting {
    const char *name, *value;
    const char *origin; /**< "default", "rank 0", "file", "environment" or "API" */
    const char *meaning;
} dag_setting;
/** Setting number `index`, from 0 on. @return 1, or 0 behind the last one. */
int dag_setting_get(const dag_context *context, int index, dag_setting *setting);

/* ---- context ---------------------------------------------------------------------------- */

/**
 * Start the runtime on this rank. Collective over MPI_COMM_WORLD where the build has MPI and the
 * program runs under it: MPI is initialised if it is not (and then finalised by dag_fini()), with
 * MPI_THREAD_SINGLE when there is one worker, else with MPI_THREAD_SERIALIZED: then all workers
 * call it, one at a time, so the program must not while the context exists. With several contexts the
 * last one finalises it. See dag/mpi.h to start MPI in the program, at any level, and to give a
 * communicator.
 * @param[out] context  owned by the caller, ended by dag_fini(). Set only on success.
 * @param config        may be NULL; not kept.
 * @param why           buffer for the reason of a failure, may be NULL.
 * @return what went wrong. Ranks that have come to know of each other agree: where one cannot start,
 *         all return an error.
 */
dag_status dag_init(dag_context **context, const dag_config *config, char *why, size_t why_size);

/**
 * End the runtime; collective. Pools still running are waited for first.
 * @return DAG_ERR_MISMATCH when another rank was in dag_barrier() meanwhile; `context` is freed all
 *         the same, as soon as all ranks have come here.
 */
dag_status dag_fini(dag_context *context);

/** The number of this context among those of the process, from 1 on: where there are several, messages
 *  and reports begin with it. It is free again when the context has ended. */
int dag_context_number(const dag_context *context);
int dag_rank(const dag_context *context);    /**< this process, 0 <= rank < size */
int dag_size(const dag_context *context);    /**< number of processes */
int dag_workers(const dag_context *context); /**< workers of this process, the caller included */

/**
 * About how many seconds a message between ranks takes: the setting `link_latency`; without it what one agreement
 * at the start took the rank that waited longest, where ranks are on several machines, else 0. All see the same.
 */
double dag_latency(const dag_context *context);
/** Bytes per second between two ranks: the setting `link_rate`; 0 = not known. */
double dag_rate(const dag_context *context);

/** What a message takes: seconds beside its bytes, and bytes per second. */
typedef struct dag_network {
    double latency, rate;           /**< between nodes */
    double near_latency, near_rate; /**< within a node */
    int apart; /**< nonzero: the ranks are on several nodes */
} dag_network;
/**
 * What is known of messages: by the settings `link_latency` and `link_rate`, the file that the setting `network`
 * names, or, of a simulated run without these, its machine. Ranks may read different files.
 * @return 0 when nothing is known; then *network is as it was.
 */
int dag_network_get(const dag_context *context, dag_network *network);

/** The last error of this context, a sentence; "" when there was none. Valid until the next call. */
const char *dag_message(const dag_context *context);

/** `rank 0: 4 workers on cores 0-3, ...`; valid as long as the context. */
const char *dag_summary(const dag_context *context);

/** Write the model of this machine's cores into `text`: a key for measurements of the machine. */
void dag_cores_model(char *text, size_t size);

/** Print a sentence to stderr, behind `dag: rank R: warning:`, unless the setting `warnings` is off. */
void dag_warn(const dag_context *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/**
 * Wait until all ranks of the context have arrived; collective. Makes progress meanwhile.
 * @return DAG_ERR_MISMATCH, on all ranks here, when another rank has called dag_fini() instead.
 */
dag_status dag_barrier(dag_context *context);

/** Most values that dag_least() takes. */
#define DAG_LEAST_MOST 64

/**
 * A barrier that also finds the least of the ranks' values, one by one (a NaN wins). Each rank sends one
 * message up a tree, and one comes down. Collective.
 * @param[in,out] values  `count` of them, the same number on all ranks: of this rank, and of all;
 *                        unchanged when an error is returned.
 * @return DAG_ERR_MISMATCH, on all ranks here, when another rank has called something else.
 */
dag_status dag_least(dag_context *context, double *values, int count);

/* ---- seeing what happens ----------------------------------------------------------------- */

/** Nonzero when the runtime prints a report at the end (setting `report`): only then dag_report_work()
 *  has an effect. */
int dag_reports(const dag_context *context);

/** Facts about the work done that the runtime cannot know; a field that is 0 is not known. */
typedef struct dag_work {
    double flops;   /**< floating point operations of the part that was timed, all ranks together */
    double seconds; /**< how long that took */
    double peak;    /**< operations per second of the fastest kernel on one worker, as measured */
    int64_t nb;     /**< rows and columns of a tile */
    int64_t p, q;   /**< process grid */
} dag_work;

/**
 * Tell the report of the work done; the last call counts. On rank 0; nothing happens on others, or
 * when no report is wanted.
 */
void dag_report_work(dag_context *context, const dag_work *work);

/** Nonzero when a program must not choose anything by measured times or by the number of workers or
 *  devices, because such a choice changes the order of sums (setting `reproducible`). */
int dag_reproducible(const dag_context *context);

/** How routines of a library go about matrices that devices have no memory for. */
typedef enum dag_out_of_core {
    DAG_OUT_OF_CORE_GRAPH,   /**< by their graphs, whose data come and go as tasks want them */
    DAG_OUT_OF_CORE_PROGRAM, /**< by programs for devices, or not at all; whatever the size */
    DAG_OUT_OF_CORE_AUTO     /**< by a program where the matrices are so large that it moves less than the graph */
} dag_out_of_core;
/** The setting `out_of_core`; dag/outcore.h has the programs. */
dag_out_of_core dag_out_of_core_wanted(const dag_context *context);

/** The way of a broadcast that names no shape. */
typedef struct dag_bcast_way {
    char shape[128];   /**< in the words of the language */
    int64_t segment;   /**< bytes of a segment, where a shape sends in such; else the bytes of all */
    double seconds;    /**< until the last rank has all, by the model; 0 = it is not known what messages take */
} dag_bcast_way;
/** How `bytes` would go from rank 0 to ranks 1 .. ranks-1, which need not exist: those beyond the job are taken
 *  to be in further nodes of as many ranks as rank 0's. */
void dag_bcast_way_get(const dag_context *context, size_t bytes, int ranks, dag_bcast_way *way);

/** Nonzero when work may be done on the calling thread, without a taskpool, and nobody sees a difference
 * but the time: there is one rank without devices, tasks are neither recorded nor watched, no pool runs,
 * and the caller is no body. The setting `direct` set to off makes it 0. */
int dag_direct(const dag_context *context);

/** Threads among which dag_direct_parts() may share work; 1: it does all of it on the calling thread, since that is the
 *  only one, or there are more workers than cores, or more ranks than one, or results are to be reproducible. */
int dag_direct_threads(const dag_context *context);

enum { DAG_WORK_KINDS = 8 };
/** Does work on the calling thread, where dag_direct() allows that, and shares it with workers that have nothing to
 *  do. It is in `count` units: part(arg, first, end) does units first to end - 1, on this thread or another one,
 *  several at a time. Returns when all are done, and waits for nobody who has not begun. Units are shared where that
 *  was measured to take less time; calls of one `kind`, below DAG_WORK_KINDS, take about as long as their `work`,
 *  in multiplications or the like, says. */
void dag_direct_parts(dag_context *context, int kind, double work, int count,
                      void (*part)(void *arg, int first, int end), void *arg);

/* ---- simulated runs ---------------------------------------------------------------------- */

/** Nonzero in a run that plays all ranks of a job in one process (setting `simulate`, dag_sim), under
 *  SimGrid with the description of a machine, or with the setting `stretch`: bodies run with kernels that
 *  compute nothing, elements have no content, and dag_matrix_each_local() visits none. */
int dag_simulated(const dag_context *context);

/** Seconds since some moment, by the clock of this run, which may be a simulated or a stretched one. */
double dag_seconds(const dag_context *context);

/** Seconds that the kernels which cores of this process have called so far take on the machine of a run with
 *  the setting `stretch`, before they are stretched; 0 in others. */
double dag_modelled_seconds(const dag_context *context);

/** Seconds that a core of the machine of a simulated run takes for the product of an m x k and a k x n tile of
 *  elements 's', 'd', 'c' or 'z'; 0 in others. */
double dag_simulated_gemm(const dag_context *context, char type, int64_t m, int64_t n, int64_t k);

/** Sums of a simulated run so far, over all ranks unless a field says otherwise. */
typedef struct dag_simulation {
    const char *machine; /**< its name; lives as long as the context */
    int workers;         /**< of each rank */
    double busy;         /**< seconds that workers were in bodies */
    double talking;      /**< seconds that workers spent on messages */
    int64_t tasks, messages, bytes; /**< messages: ACTIVATE; bytes: of data, within them or apart */
    int64_t leaving;     /**< bytes of data that went from a node to another */
    int64_t renames;     /**< values copied because a writer did not hold the only reference */
    int64_t values;      /**< bytes of values at the peak of the rank that had most */
    int64_t matrices;    /**< bytes of the matrices of a pool on rank 0, of the pool that had most */
    double node_memory;  /**< bytes of a node; 0 = the machine's description does not say */
    int node_ranks;      /**< ranks of a node */
    int64_t devices;     /**< of all ranks; 0 = the machine has none */
    int64_t device_tasks, device_bytes; /**< tasks that ran on devices; what went to and from their memories */
    double device_busy;  /**< seconds in which a device had a kernel, of all together */
} dag_simulation;
/** @return 1, or 0 when ranks are not played in one process. */
int dag_simulation_get(const dag_context *context, dag_simulation *simulation);

/* ---- taskpools -------------------------------------------------------------------------- */

/**
 * Hand a taskpool to the runtime; it may start to run at once on background workers. Collective in
 * order: all ranks add the same pools in the same order. Pools that name a common collection, or
 * views of one, run one after the other per rank, others overlap. A pool over a view of a collection that is
 * resident by another one brings it home first, and waits for the pools that use it.
 */
dag_status dag_add(dag_context *context, dag_taskpool *pool);

/**
 * Run until the pool has ended on all ranks, and return its agreed status: the same on all ranks.
 */
dag_status dag_wait(dag_taskpool *pool);

/**
 * Make some progress and say whether the pool has ended.
 * @param[out] done  1 when it has; then the return value is the agreed status.
 */
dag_status dag_test(dag_taskpool *pool, int *done);

/** The agreed `info` (LAPACK's meaning; 0 = none). Valid once the pool has ended. */
int64_t dag_taskpool_info(const dag_taskpool *pool);

/**
 * How often the graph of a pool that has ended has run; 1 where its file has no `%option rounds`.
 * @param[out] again  1 when a task of the last round asked for another: the bound was reached before all
 *                    were content. May be NULL. In a simulated run always 1, for nothing decides there.
 */
int64_t dag_taskpool_rounds(const dag_taskpool *pool, int *again);

/** Ask for an early end: bodies that have not started are skipped; the pool ends with
 *  DAG_ERR_CANCELLED on all ranks. May be called on any rank, and from a body. */
dag_status dag_cancel(dag_taskpool *pool);

/** Memory from malloc() that is freed with the pool, such as a view that it names; once for each pool. */
void dag_taskpool_keep(dag_taskpool *pool, void *memory);

/**
 * While kernels are modelled (dag_simulated()) no task of the pool decides by what a value holds. So its values need
 * no memory where ranks really run, under SimGrid; without this only those of pools that name nothing but matrices have
 * none. Between the constructor and dag_add(), on all ranks; NULL is allowed.
 */
void dag_taskpool_unread(dag_taskpool *pool);

/** Free a pool that has ended or was never added; NULL is allowed. */
void dag_taskpool_free(dag_taskpool *pool);

/**
 * dag_add(), dag_wait() and dag_taskpool_free() in one: run a pool to its end on all ranks.
 * @param pool  consumed; NULL (a constructor that failed) gives DAG_ERR_ARG, dag_message() says why.
 */
static inline dag_status dag_run(dag_context *context, dag_taskpool *pool)
{
    if (pool == NULL)
        return DAG_ERR_ARG;
    dag_status status = dag_add(context, pool);
    if (status == DAG_SUCCESS)
        status = dag_wait(pool);
    dag_taskpool_free(pool);
    return status;
}

/** Counts of a pool on this rank, in a simulated run on all ranks; valid once the pool has ended. */
typedef struct dag_pool_stats {
    int64_t tasks;          /**< bodies run (or skipped after an error) on this rank */
    int64_t renames;        /**< values copied because a writer did not hold the only reference */
    int64_t messages;       /**< activations sent, relays included */
    int64_t bytes_sent;     /**< payload bytes sent */
    int64_t deferred_stores; /**< stores put off to the end of the pool */
} dag_pool_stats;
void dag_taskpool_stats(const dag_taskpool *pool, dag_pool_stats *stats);

/* ---- devices ---------------------------------------------------------------------------- */

/** Statistics of one device of this process since dag_init(). Exact while no pool runs. */
typedef struct dag_device_stats {
    const char *name;   /**< of the product; lives as long as the context */
    int failed;         /**< 1: it failed and is not used any more */
    int64_t memory;     /**< bytes for copies of data */
    int64_t tasks;      /**< bodies that it ran */
    int64_t bytes_in;   /**< copied from the host */
    int64_t bytes_out;  /**< copied to the host */
    int64_t bytes_peer; /**< copied from other devices */
    int64_t hits;       /**< data that a task found there */
    int64_t evictions;  /**< copies that were given up for room */
    int64_t saves;      /**< copies to the host: results, and what others needed */
    int64_t renames;    /**< data copied because a writer did not hold the only reference */
    int64_t retries;    /**< tasks that had to be tried again */
    int64_t batched;    /**< tasks whose kernels were launched together with those of others */
    int64_t largest_task; /**< bytes of its memory, workspace included, that the most demanding task
                               needs of all that devices could have run: with less `memory` that task
                               went to a core */
    double busy;        /**< seconds with a kernel under way */
    double flops;       /**< operations of the kernels of <dag/kernels_device.h> that it ran, and of those
                             that bodies told of (dag_device_flops()) */
    double copying;     /**< seconds with a copy from or to it under way */
    double overlapped;  /**< of these, with a kernel under way as well */
    int numa_node;      /**< the node that the device is near, as the system counts; -1 = not known */
} dag_device_stats;
/** Number of devices that this process uses. */
int dag_devices(const dag_context *context);
/** A sentence that says why there is no device; "" where there are some. Lives as long as the context. */
const char *dag_devices_reason(const dag_context *context);
/** A sentence that says what devices cannot run because a part of their back end is missing; "": nothing. */
const char *dag_devices_lack(const dag_context *context);
/** Statistics of device `index`, from 0 on. @return 1, or 0 behind the last one. */
int dag_device_stats_get(const dag_context *context, int index, dag_device_stats *stats);
/** What cores got of a class of tasks that the setting `core_share` divided between them and devices. */
typedef struct dag_core_share {
    const char *program, *name; /**< the class; they live as long as the context */
    int64_t tasks;              /**< of this rank, in a simulated run of all */
    double used;  /**< the part of their operations that cores got */
    double rates; /**< the part that follows from what the class takes on cores and on devices; < 0: that is not
                       known of both */
} dag_core_share;
/** The class of that index, from 0 on, in any order. @return 1, or 0 behind the last one. */
int dag_core_share_get(const dag_context *context, int index, dag_core_share *share);
/**
 * Divides the tasks that follow as the setting `core_share` would with that value. What classes got so far is
 * forgotten, what they take on cores and on devices is kept. No task may be under way in the context.
 * @return DAG_ERR_SETTING: the value makes no sense; DAG_ERR_DEVICE: this process has no device; DAG_ERR_ARG: NULL.
 *         dag_message() has the reason.
 */
dag_status dag_core_share_set(dag_context *context, const char *share);
/** How results of devices go to other ranks. */
typedef struct dag_device_sends {
    int direct;           /**< 1: MPI reads them where they are, in memory of devices (`gpu_mpi`) */
    const char *reason;   /**< why it does not, a sentence; lives as long as the context */
    int64_t bytes_direct; /**< that MPI has read there since dag_init() */
    int64_t bytes_staged; /**< that came from a device to the host and were sent from there */
} dag_device_sends;
/** Bytes are those of this rank. @return 0: there is no context, or no place for the answer. */
int dag_device_sends_get(const dag_context *context, dag_device_sends *sends);
/** Bytes that were copied over one link since dag_init(): between two devices of this process, or one
 *  and the host (-1); -1 where there is no such link. */
int64_t dag_device_link_bytes(const dag_context *context, int from, int to);

/* ---- inside a body ---------------------------------------------------------------------- */

/** Worker that runs this task, 0 <= worker < dag_workers(). */
int dag_task_worker(const struct dag_task *task);

/** The context this task runs in. */
dag_context *dag_task_context(const struct dag_task *task);

/**
 * Scratch memory of this worker, 64-byte aligned, valid until the body returns. One buffer per
 * worker: a second call in one body returns the same memory (grown if need be).
 * @return NULL when out of memory.
 */
void *dag_task_workspace(struct dag_task *task, size_t bytes);

/**
 * Other ranks get only rows first, ..., first + count - 1, in every column, of a flow that this body writes
 * (RW or WRITE): there it has `count` rows. On this rank it stays whole, as does what later tasks make of
 * it. An untyped flow has a row for each byte. The count may depend on data. What a device holds when it
 * leaves goes whole, so readers take the number of rows from the flow. Regions of edges (`[type = LOWER]`)
 * are then those of these rows.
 * @param flow  its name in the class. A name or rows that are not there fail the task.
 */
void dag_task_send_rows(struct dag_task *task, const char *flow, int64_t first, int64_t count);

/**
 * Report LAPACK's `info` (> 0) for the whole pool: the smallest value over all tasks and ranks is
 * what dag_taskpool_info() returns. Bodies that have not started are skipped from then on.
 */
void dag_task_info(struct dag_task *task, int64_t info);

/**
 * Ask for another round: when this one has ended on all ranks the whole graph runs again, on what it has
 * stored, if the bound `%option rounds` allows. One task that asks is enough. In a graph without that option
 * the task fails.
 */
void dag_task_again(struct dag_task *task);
/** Rounds of this pool that have ended before: 0 in the first one. */
int64_t dag_task_round(const struct dag_task *task);

/** Fail the pool with DAG_ERR_TASK and a printf-style reason; the task's identity is added. */
void dag_task_fail(struct dag_task *task, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

DAG_C_END
#endif

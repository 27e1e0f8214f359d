/*
 * What the files of the manager offer each other; docs/design/devices.md says how it works.
 *
 * Locks: dagi_device.values_lock > the lock of a value's record (copies.h), which is held while a
 * transfer of that value is enqueued, so that nobody takes a copy for valid that will not come. A
 * transfer of pageable memory may block until it is done, so values_lock is not held then.
 */
#ifndef DAGI_DEVICE_IMPL_H
#define DAGI_DEVICE_IMPL_H

#include "../base/lock.h"
#include "../data/copies.h"
#include "backend.h"
#include "choice.h"
#include "device.h"
#include "job.h"
#include "lane.h"
#include "memory.h"
#include "slip_queue.h"

enum {
    DAGI_EXEC_LANES = 16,   /* queues for kernels of one device, at most; the first is urgent */
    DAGI_WINDOW = 64,       /* tasks of one device issued and not retired */
    DAGI_AHEAD = 20000000,  /* nanoseconds of kernels issued, from which on urgent tasks are not to wait for more */
    DAGI_SLIPS_MANY = 4096, /* tasks not issued from which on no further instances are started */
    DAGI_INFO_SLOTS = 256,  /* ints of one device for what kernels report */
    DAGI_TRIES = 3,         /* of what was refused */
    DAGI_NEAR_FIRST = 30000 /* nanoseconds that a device waits for a worker that is near */
};

struct dagi_device;
struct dagi_estate;
struct dagi_job;
struct dagi_lane;

/* ---- a worker that drives devices --------------------------------------------------------- */

/* What stores of a task that is being issued would do. While it is set dag_store() writes nothing, but
 * enters the flow here: bit in `home` when the value lies in the element and a mark is all that is to be
 * done, else in `away`. `stay`: those of `home` that need not come to the host now. */
typedef struct dagi_store_plan {
    uint32_t home, away, stay;
} dagi_store_plan;

/* All of it is the worker's own. */
struct dagi_driver {
    uint32_t manages;            /* bit i: it is the manager of device i */
    int64_t ran_beside; /* tasks it ran on its core for which there was a body for devices */
    struct dagi_job *job;        /* whose body it runs for a device */
    dagi_store_plan *store_plan; /* NULL = stores are done */
    int has_device; /* 1: one is its thread's, for an MPI that reads memory of devices */
};

static inline struct dagi_driver *dagi_driver(const struct dagi_worker *w)
{
    return dagi_runner(w)->driver;
}

/* ---- record.c: what traces have; only while DAGI_TRACE(ctx) is not NULL ----------------------- */

void dagi_record_tracks(const struct dagi_devices *all);
/* Records what a round found done in one lane: so many tickets, and the jobs behind some of these. */
void dagi_record_lane(struct dagi_worker *w, struct dagi_device *d, int lane, int tickets,
                      const struct dagi_job *jobs);
void dagi_record_copy(const struct dagi_device *d, const dagi_move *move, uint64_t begin,
                      uint64_t end);
/* The move that was entered for the next ticket of a lane has come to this result. Returns the cause that it
 * is to whoever needs it, if the content came from `cause`; 0 while nothing is recorded. A move that was not
 * enqueued is no cause. */
uint64_t dagi_record_move(struct dagi_device *d, struct dagi_lane *lane, uint64_t cause,
                          dagi_result result);
void dagi_record_brought(dag_value *v, int space, uint64_t cause);
/* While something is recorded: the inputs of a job are known; its kernels have a place in their lane; its
 * successors on this rank are to be told; the others are, after the flows `awaited` have come to the host. */
void dagi_record_inputs(struct dagi_worker *w, struct dagi_job *job);
void dagi_record_issue(struct dagi_job *job);
void dagi_record_release(struct dagi_worker *w, const struct dagi_job *job);
void dagi_record_retire(struct dagi_worker *w, const struct dagi_job *job, uint32_t awaited);

/* ---- devices -------------------------------------------------------------------------------- */

typedef struct dagi_job_list {
    dagi_job *first, *last;
} dagi_job_list;

typedef struct dagi_info_slot {
    int slot;
    dagi_ticket cleared; /* queue NULL: this is not enqueued yet */
} dagi_info_slot;

/* Where a trace has the device; NULL = nowhere. */
typedef struct dagi_tracks {
    struct dagi_device_track *stream[DAGI_EXEC_LANES];
    struct dagi_device_track *from[DAGI_MAX_SPACES]; /* copies to the device, by their source */
    struct dagi_device_track *out;                   /* to the host */
    uint64_t kernel_end[DAGI_EXEC_LANES];            /* of the latest, dagi_now() */
    uint64_t input; /* who made what is copied in now, if nobody brought it to where it is */
} dagi_tracks;

/* Counters; written by the manager alone, read by anybody at rest. */
typedef struct dagi_device_counts {
    _Atomic int64_t tasks, bytes_in, bytes_out, bytes_peer, hits, evictions, saves, renames,
        retries;
    _Atomic int64_t batched; /* tasks whose kernels were launched with those of others */
    _Atomic int64_t busy; /* nanoseconds with kernels under way, as the manager saw them */
    _Atomic int64_t copying,
        overlapped;       /* with copies on links, and with kernels at the same time */
    _Atomic double flops; /* may be more than 63 bits hold after some days */
    _Atomic int64_t from[DAGI_MAX_SPACES]; /* bytes that came from each space */
} dagi_device_counts;

/* How much there is to do; shared. */
struct dagi_device_load {
    /* Jobs, tasks that wait for content, values that die later: entered by who brings them before
     * they can be seen, taken off by the manager. */
    _Atomic int64_t work;
    _Atomic int flying;       /* 1: transfers or kernels under way */
    _Atomic int64_t unissued; /* jobs that are not issued */
    _Atomic int64_t backlog;  /* nanoseconds, estimated, of jobs that are not retired */
};

/* Lists that others bring to (shared), and what the manager has taken from them (its own). */
struct dagi_device_brought {
    _Atomic(dagi_slip *) inbox;         /* linked by next, latest first */
    _Atomic(struct dag_task *) fetches; /* wait for content on the host; likewise */
    _Atomic(dagi_copies *) dying;       /* records of values that nobody holds any more */
    _Atomic(dagi_departure *) departed; /* that nobody sends from any more; no work by themselves */
    struct dag_task *waiting;           /* taken from fetches */
    dagi_copies *graves;                /* taken from dying */
};

/* Jobs by how far they are; the manager's. */
struct dagi_device_jobs {
    dagi_slip_queue queue; /* what came through the inbox and is not issued */
    dagi_job *head;        /* taken from there, not issued yet, linked by next: these come first */
    dagi_job *spare;       /* linked by next */
    dagi_job_list issued[DAGI_EXEC_LANES];
    dagi_job *finishing; /* their kernels have passed, transfers have not */
    int nissued, turn;
    int nahead;      /* jobs in `issued` */
    int64_t ahead;   /* and the sum of their estimates, nanoseconds */
    int passed; /* 1 + how often others have gone before the first of the queue; 0: nothing was ever evicted */
};

/* Numbers that kernels report, and what of them is free; the manager's. */
struct dagi_device_reports {
    int *device, *host; /* [DAGI_INFO_SLOTS] */
    int free[DAGI_INFO_SLOTS], nfree;
    dagi_info_slot cleared[DAGI_INFO_SLOTS]; /* are being set to 0 */
    int ncleared;
};

/* Moments; the manager's. */
struct dagi_device_time {
    uint64_t now;  /* when this round began */
    uint64_t away; /* nanoseconds since the last round began, where something was under way then */
    uint64_t looked_at;
    uint64_t seen_at; /* moment of what follows; 0 = nothing was under way */
    int seen_copying, seen_computing;
    int tasks_copy; /* 1: some have copied by themselves */
    uint64_t ticks; /* when this round began, dagi_clock(); 0 = nothing is recorded */
};

/* Workers that are near; fixed. */
struct dagi_device_near {
    int node;    /* of NUMA, where the device is; -1 = not known */
    int workers; /* 1: some are bound to that node, and others elsewhere */
};

enum { DAGI_PIECES = 16 }; /* of a device's memory, at most: one allocation each */

/* Memory in which all copies lie, each in one piece; fixed. */
struct dagi_device_piece {
    struct dagi_estate *estate; /* whose part it is; NULL = there is none yet */
    int part;
    void *begin[DAGI_PIECES];
    size_t size[DAGI_PIECES];
    int count;
    size_t bytes, largest; /* of all pieces, of the largest */
};

/* The office of the manager; shared. */
struct dagi_device_post {
    _Atomic int manager;     /* index of the worker + 1; 0 = nobody */
    _Atomic uint64_t vacant; /* since when a worker far away knows of work without one; 0 = not */
};

typedef struct dagi_device {
    /* -- fixed */
    struct dagi_devices *all;
    const dagi_backend *backend; /* of its kind */
    int index, space; /* space = index + 1 */
    void *handle;
    dagi_backend_info info;
    struct dagi_device_near near;
    struct dagi_device_piece piece;

    /* -- shared */
    _Atomic int lost;
    struct dagi_device_post post;
    struct dagi_device_load load;
    struct dagi_device_brought brought;
    _Atomic int values_lock; /* guards `value` of all blocks */

    /* -- the manager's */
    dagi_memory *memory;
    dagi_lane in, out, exec[DAGI_EXEC_LANES];
    struct dagi_device_jobs jobs;
    size_t departing; /* bytes that are kept for messages */
    struct dagi_device_reports reports;
    int refused_saves; /* one after the other */
    struct dagi_device_time time;
    struct {
        dagi_pace pace;
        dagi_stretch stretch;
    } kernels;
    dagi_tracks tracks;
    dagi_device_counts counts;
} dagi_device;

struct dagi_devices {
    dag_context *ctx;
    const dagi_backend *backend[DAG_DEVICE_KIND_COUNT]; /* those with devices; NULL = none */
    int mixed; /* 1: there are several */
    int count; /* of devices, over all kinds */
    int lanes; /* queues for kernels of each device; fixed */
    int batch; /* tasks of one launch, at most; fixed */
    int64_t ahead; /* DAGI_AHEAD, on the clock of this run; fixed */
    _Atomic int alive;
    int before[DAG_DEVICE_KIND_COUNT]; /* device of the thread that began, the application's own */
    _Atomic int64_t largest_task; /* bytes that one of the tasks seen so far needs */
    uint32_t no_single; /* bit of a kind: there single precision is rounded to fewer bits */
    uint32_t no_double; /* bit of a kind: there is no double precision */
    int direct;         /* 1: MPI reads memory of devices, fixed when the start is over */
    size_t direct_most; /* and data up to this many bytes travel inside of messages all the same */
    _Atomic int unpinned; /* 1: it was said that memory cannot be pinned */
    struct dagi_choice *choice;
    const struct dagi_policy *policy; /* fixed */
    dagi_portion share; /* fixed */
    struct dagi_driver *drivers; /* [nworkers] */
    int16_t worker_node[DAGI_MAX_WORKERS]; /* NUMA node of a worker that is bound; -1 = not known */
    dagi_device *device[DAGI_MAX_DEVICES];
    struct dagi_devices *next; /* pin.c's: of all contexts */
};

/* The body is one for devices of that kind, which is not the host, and there are such that keep the
 * precision. */
static inline int dagi_body_fits(const struct dagi_devices *all, const dag_body *body, int kind,
                                 dag_precision prec)
{
    return (body->device == kind || body->device == DAG_DEVICE_ANY) && all->backend[kind] &&
           !((prec == DAG_S || prec == DAG_C ? all->no_single : all->no_double) >> kind & 1);
}
static inline dagi_device *dagi_device_at(const struct dagi_devices *all, int space)
{
    return all->device[space - 1];
}
static inline const dagi_backend *dagi_backend_of(const dagi_device *d)
{
    return d->backend;
}
/* The copy of a number that a kernel reports, to or from the host. */
static inline dagi_copy_job dagi_copy_of_report(int *to, const int *from)
{
    return (dagi_copy_job){
        .to = to, .from = from, .to_ld = 1, .from_ld = 1, .m = 1, .n = 1, .elem = sizeof *to};
}
static inline dagi_copies *dagi_copies_get(dag_value *v)
{
    return atomic_load_explicit(&dagi_value_of(v)->copies, memory_order_acquire);
}
/* The block of a value's copy here, valid or on its way; NULL = none. The caller holds the value. */
static inline dagi_block *dagi_block_of(const dagi_device *d, dag_value *v)
{
    dagi_copies *c = v ? dagi_copies_get(v) : NULL;
    dagi_block *block = NULL;
    if (!c)
        return NULL;
    dagi_lock(&c->lock);
    if (c->copy[d->space].state != DAGI_INVALID)
        block = c->copy[d->space].memory;
    dagi_unlock(&c->lock);
    return block;
}
/* Pin the copy that is here, if there is a valid one. */
static inline dagi_block *dagi_resident_pin(dagi_device *d, dag_value *v)
{
    dagi_block *block = dagi_block_of(d, v);
    if (block)
        dagi_memory_pin(d->memory, block);
    return block;
}

/* ---- cores.c -------------------------------------------------------------------------------- */

/* "cores" and what they are, from a file like /proc/cpuinfo: machines of one kind share their times
 * (perf_model), others do not. */
void dagi_cores_model(const char *cpuinfo, char *text, size_t size);

/* ---- store.c -------------------------------------------------------------------------------- */

/* What back ends keep, in the folder of the setting device_cache: that of the context that asked last. */
const dagi_store *dagi_store_open(const dag_context *ctx);

/* ---- plugin.c ------------------------------------------------------------------------------- */

/* Hand a back end the programs of kernels that the application has, before its first device is opened. */
void dagi_device_texts(const dagi_backend *backend);

/* 1: the setting device_backend names this kind. */
int dagi_device_named(const dag_context *ctx, int kind);
/* The back end for that kind, which stays loaded, or NULL with the reason. `named`: the user asks for this kind,
 * so it is loaded without asking first whether there is a device. */
const dagi_backend *dagi_plugin_load(const dag_context *ctx, dag_device_kind kind, int named, char *why,
                                     size_t size);
/* A row of dag/device_kinds.h. */
typedef struct dagi_kind {
    const char *name, *prefix, *file; /* in bodies, of its settings, of its plug-in */
} dagi_kind;
extern const dagi_kind dagi_kinds[DAG_DEVICE_KIND_COUNT];

/* ---- estate.c ------------------------------------------------------------------------------- */

/* The part of the memory of device `number` that this context has; else the reason, which follows the
 * device's name. Other contexts of the process have the others. */
dagi_result dagi_estate_take(dagi_device *d, int number, char *why, size_t size);
void dagi_estate_leave(dagi_device *d);

/* ---- pin.c ---------------------------------------------------------------------------------- */

/* Before the first pin of a context. */
void dagi_pins_begin(struct dagi_devices *all);
/* The context ends: none of its pins is left. Those of memory that another context may use as well are
 * that one's from now on. */
void dagi_pins_drop(const struct dagi_devices *all);

/* ---- place.c -------------------------------------------------------------------------------- */

/* The times of a task's class; NULL = out of memory. */
struct dagi_choice_class *dagi_times_of(const struct dagi_devices *all, const struct dag_task *t);
int dagi_has_core_body(struct dag_task *t);

/* ---- slips.c ------------------------------------------------------------------------------ */

/* A task waits to be issued from now on; nonzero = out of memory, and it does not. */
int dagi_slips_enter(struct dagi_worker *w, const dagi_slip *slip);
/* Moves the content of the inbox to the queue. */
void dagi_slips_collect(struct dagi_worker *w, dagi_device *d);
/* Returns the best one, which the manager is to issue; NULL = none. */
dagi_job *dagi_slips_pop(struct dagi_worker *w, dagi_device *d);
/* The task may share a launch: its body says so. */
int dagi_is_batched(struct dag_task *t, const dag_body *body);
/* The first of the queue, if its kernels may be launched with those of `first` and nothing has to be copied for
 * it; else NULL. */
dagi_job *dagi_slips_join(struct dagi_worker *w, dagi_device *d, const dagi_job *first);
/* The job is the next to be issued. */
void dagi_job_wait(dagi_job *job);
/* Bring to the cache what the next ones will need. */
void dagi_slips_prefetch(dagi_device *d);
/* The job is issued and retired, or went elsewhere. */
void dagi_job_free(dagi_job *job);
void dagi_jobs_drop(dagi_device *d);
/* Marks blocks that waiting tasks will use next: these are kept longest. */
void dagi_slips_next_use(dagi_device *d);
/* The task will not run here: what it would have used is kept for others only. */
void dagi_slips_forget_use(dagi_device *d, struct dag_task *t);
/* The device cannot take the job: another one or a core does, or there is an error with this sentence. */
void dagi_job_elsewhere(struct dagi_worker *w, dagi_job *job, const char *why);

/* ---- issue.c -------------------------------------------------------------------------------- */

typedef enum dagi_issue_result {
    DAGI_ISSUED,
    DAGI_ISSUE_WAIT, /* nothing has happened: for memory, or after something was refused */
    DAGI_ISSUE_GONE  /* it went elsewhere, or failed */
} dagi_issue_result;
/* Issue the job, and further ones of the queue whose kernels are launched with its. Those that wait are in
 * jobs.head. *device: LOST when it is, whatever became of them. */
dagi_issue_result dagi_issue(struct dagi_worker *w, dagi_job *job, dagi_result *device);

/* ---- open.c --------------------------------------------------------------------------------- */

/* Open device `number` of the back end; NULL with the reason. */
dagi_device *dagi_device_open(struct dagi_devices *all, const dagi_backend *backend, int number,
                              char *why, size_t size);
void dagi_device_close(dagi_device *d);

/* ---- device.c ------------------------------------------------------------------------------- */

/* The calling thread's own device of each kind, and that one again. */
void dagi_devices_chosen(const struct dagi_devices *all, int chosen[DAG_DEVICE_KIND_COUNT]);
void dagi_devices_choose_again(const struct dagi_devices *all,
                               const int chosen[DAG_DEVICE_KIND_COUNT]);

/* ---- follow.c ------------------------------------------------------------------------------- */

/* The kernels are enqueued: what they write is the present version. */
void dagi_commit(struct dagi_worker *w, dagi_job *job);
/* Stores, successors, messages: what can be told now, and what has to come to the host first. */
dagi_result dagi_follow_up(struct dagi_worker *w, dagi_job *job);

/* ---- transfer.c ------------------------------------------------------------------------------ */

/* Fill the device's copy of a value from where it is valid, into job flow's block. */
dagi_result dagi_transfer_fill(dagi_device *d, dag_value *v, dagi_block *block, int fresh);
/* Have the content on the host; *when: it is there when this has passed. */
dagi_result dagi_transfer_save(dagi_device *d, dag_value *v, dagi_ticket *when);
/* The space that content is copied from: `prefer` or the host where they are valid, else a device
 * that works, else one that is lost; -1 = nobody has it. Only devices of the kind of `to` count, unless
 * that is NULL. The caller holds the record's lock. */
int dagi_transfer_source(const struct dagi_devices *all, const dagi_copies *c, int prefer,
                         const dagi_device *to);
/* Copy the content of v, wherever it is, to `to` through `lane`. The caller marks it. */
dagi_result dagi_transfer_clone(dagi_device *d, dagi_lane *lane, dag_value *v, dagi_block *to);
/* What is enqueued in the lane next reads the copy of v here, or updates it: behind whoever uses it. */
dagi_result dagi_transfer_attach(dagi_device *d, dagi_lane *lane, dag_value *v, int update);
/* What was enqueued before `torn` may have changed the copy of v here. 1: it is given up, and its content
 * comes from elsewhere again. 0: no other memory has it. */
int dagi_transfer_discard(dagi_device *d, dag_value *v, dagi_ticket torn);
/* Give up a block; 1 = done, 0 = not now. *result: LOST when it is. */
int dagi_transfer_evict(dagi_device *d, dagi_block *block, dagi_result *result);

/* ---- copy_life.c ---------------------------------------------------------------------------- */

/* The block holds the copy of v, which lives; v NULL: the block holds none. */
void dagi_block_living(dagi_device *d, dagi_block *b, dag_value *v);
/* Who reads or writes the memory of a copy; at most DAGI_COPY_TICKETS. */
int dagi_copy_users(const dagi_copy *copy, dagi_ticket *users);
/* Copies that are not valid any more give their memory back. The caller holds a reference. */
void dagi_copies_return_stale(const struct dagi_devices *all, dagi_copies *c);
/* A transfer from or to the host's copy that has not passed; queue NULL = none. The record's lock is
 * held. */
dagi_ticket dagi_copies_host_busy(const dagi_copies *c);
/* Nobody needs the copies of v, which nobody holds, any more: the record ends. If a transfer from or to
 * the host's memory is under way it does not, and this is the ticket. */
dagi_ticket dagi_copies_drop(const struct dagi_devices *all, dag_value *v);
/* A task on `space` has written v, of which the caller has the only reference; the ticket is expected to pass at `due`,
 * dagi_now(), 0 = it has. */
void dagi_copies_written(const struct dagi_devices *all, dag_value *v, int space,
                         dagi_ticket written, uint64_t due);
/* All of v, which nobody holds, is about to be written on the host: no other copy is valid any more. 0:
 * a transfer from or to its memory is under way, and nothing has changed. */
int dagi_copies_overwrite(const struct dagi_devices *all, dag_value *v);

/* ---- host.c --------------------------------------------------------------------------------- */

/* What a task is to have on d is on its way from a device of another kind, or there: 1, and the task is
 * taken up again when all of it is on the host. */
int dagi_device_crosses(const dagi_device *d, struct dag_task *t);

/* A value that nobody holds is released once more by the manager when the host's copy is quiet; its
 * pool is held meanwhile. */
void dagi_device_push_dying(dagi_device *d, dagi_copies *c);

/* Tasks that wait for content, and values that die; the number that could go on. */
int dagi_host_round(struct dagi_worker *w, dagi_device *d, dagi_result *result);

/* ---- departure.c ------------------------------------------------------------------------------ */

/* Flows of an issued job that other ranks get and MPI will take from here: their copies stay. The others
 * have to come to the host. */
uint32_t dagi_depart(dagi_job *job, uint32_t remote);
/* The job's messages are out, or will not be: the job gives up its own share. */
void dagi_depart_done(dagi_job *job);
/* Copies that nobody sends from any more may be evicted again. */
void dagi_depart_collect(dagi_device *d);

/* ---- retire.c ------------------------------------------------------------------------------- */

int dagi_retire_round(struct dagi_worker *w, dagi_device *d, dagi_result *result);
/* A place for what kernels report is set to 0 behind what is in the lane, to be used again. */
void dagi_info_clear(dagi_device *d, int slot, dagi_lane *lane);
/* Everything that was issued ends, done or not. */
void dagi_retire_all(struct dagi_worker *w, dagi_device *d);
/* ---- stats.c -------------------------------------------------------------------------------- */

/* Counts what the device did since the last round, and notes what it does behind this one. */
void dagi_stats_round(dagi_device *d);

/* ---- manager.c ------------------------------------------------------------------------------ */

/* The worker is to look after a device that has work and no manager. One that is far from it leaves it to
 * those that are near for DAGI_NEAR_FIRST; `now` is dagi_now(). */
int dagi_device_is_mine(dagi_device *d, int worker, uint64_t now);
/* Something for a device has been entered in `work`: see to it that somebody looks. */
void dagi_device_alert(dagi_device *d);

#endif

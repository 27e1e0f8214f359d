/*
 * Tasks: their life from the first input to completion, the pools they belong to, the table of those
 * that wait. This floor knows one rank and no thread: workers (worker/) call it and are given what is
 * ready; other ranks, devices and observers are behind ports (port.h).
 */
#ifndef DAGI_TASK_H
#define DAGI_TASK_H

#include "../base/base.h"
#include "../base/lock.h"
#include "../data/data.h"
#include "../layout/layout.h"
#include "../trace/trace.h"
#include "alone.h"
#include "port.h"

#include <assert.h>

struct dagi_choice_class;
struct dagi_devices;
struct dagi_door;
struct dagi_driver;
struct dagi_race;
struct dagi_shard;
struct dagi_task_store;
struct dagi_watch;
struct dagi_watched;

/* ---- context ---------------------------------------------------------------------------- */

/* A context, as far as tasks need it. */
struct dagi_tasks {
    dag_context context; /* first */
    /* -- fixed after dag_init() */
    int nworkers;
    int single;         /* nworkers == 1: no other thread exists, locks of tasks are skipped */
    int oversubscribed; /* more workers than processors in reach: never spin */
    struct dagi_worker **workers;
    const dagi_crew_port *crew;
    const dagi_remote_port *remote; /* NULL with one rank */
    const dagi_device_port *device; /* NULL = there is none, no_devices.why */
    const dagi_observer_port *observer; /* NULL = nobody */
    /* Behind the ports, each its floor's own. */
    void *comm;
    struct dagi_devices *devices;
    struct dagi_race *race;
    struct dagi_watch *watcher;
    struct dagi_sim *sim; /* NULL = this is no simulation */
    struct { char why[256]; int played; struct dagi_choice *choice; } no_devices; /* 2: of a simulated rank 0 */
    dag_taskpool *rounds; /* pools that may run another round, linked by rounds.next; application thread */
    int device_classes; /* 1: a pool had a class with a body for the devices; application thread */
    struct dagi_task_store *task_store; /* task memory shared between workers; memory.c */

    /* -- pools added and not yet ended everywhere, and the next id; pools_lock */
    pthread_mutex_t pools_lock;
    dag_taskpool *pools, **pools_end; /* linked by next, ascending ids */
    uint32_t pools_added;                 /* ids given so far: 1..pools_added */

    /* -- shared */
    struct dagi_alone alone;
    _Alignas(DAGI_LINE) _Atomic int starting; /* pools that may still have instances to start */
    /* Pools whose part here is not over, and those of them that cannot be counted. */
    struct { _Atomic int pools, uncounted; } open;
};

static inline struct dagi_tasks *dagi_tasks(const dag_context *ctx)
{
    return (struct dagi_tasks *)(uintptr_t)ctx;
}

/* No other thread looks at dependency tables. */
static inline bool dagi_unlocked(const dag_context *ctx)
{
    return dagi_tasks(ctx)->single && !dagi_tasks(ctx)->watcher;
}

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

/* In dag_class.ctl_blind, above the locals: tasks of this class are made, told and completed by the client
 * of a door (door.h). */
#define DAGI_GIVEN (UINT32_C(1) << 31)
_Static_assert(DAG_MAX_LOCALS < 31, "it is no local");

/* A worker, as far as tasks need it. All but `at_work` and `done` is the owner's. */
struct dagi_runner {
    struct dagi_worker worker; /* first */
    struct dagi_fanout *fanout;   /* comm's; NULL with one rank */
    struct dagi_driver *driver;   /* device's; NULL without devices */
    struct dagi_watched *watched; /* watch's: what it is at; NULL = nobody observes */
    void *queue;                  /* the scheduler's; guarded as sched/ says */
    dag_taskpool *count_pool; /* tasks `done.completed` since `counted`, not yet taken off its `open` */
    int64_t counted;              /* value of that when they were last taken off */
    int64_t renames;              /* copies made for those tasks and not yet added to the pool's */
    dagi_magazine magazine[DAGI_TASK_CLASSES];
    char *edges; /* buffer of complete.c, used as a stack */
    size_t edges_used, edges_capacity;
    struct dagi_shard *held; /* whose lock it keeps between the arrivals of one task (deps.c);
                                NULL = none, as always while tables have no locks */
    void *workspace;         /* dag_task_workspace() */
    size_t workspace_bytes;
    struct dag_task *overflow; /* ready tasks that the scheduler had no memory for */
    int special;             /* 1: tasks are recorded, or there are devices */
    int direct;              /* DAGI_DIRECT_... */
    uint32_t joins;          /* bits of ctl_blind of classes that complete in their own way: DAGI_GIVEN,
                                and all others if control may be held back */
    int64_t held_back;       /* tasks whose control is; struct dagi_control */
    struct dagi_control control; /* good while held_back > 0 */
    int unlocked;            /* 1: it takes no lock of a dependency table, for ever or while it completes alone */
    struct dagi_alone_quest quest;

    /* -- shared. The first changes when the worker begins to look for tasks, or finds some; the second is
     * on a line of its own, which a thief takes away now and then (sched/thief.h). */
    _Alignas(DAGI_LINE) _Atomic int at_work; /* alone.h */
    _Alignas(DAGI_LINE) dagi_done done;
};

static inline struct dagi_runner *dagi_runner(const struct dagi_worker *w)
{
    return (struct dagi_runner *)(uintptr_t)w;
}

/* The worker that the calling thread is; NULL for a thread that is none. */
extern _Thread_local struct dagi_worker *dagi_self;
static inline struct dagi_worker *dagi_worker_self(const dag_context *ctx)
{
    return dagi_self && dagi_self->ctx == ctx ? dagi_self : NULL;
}
/* From now on the calling thread is w; NULL: it is none. */
void dagi_worker_enter(struct dagi_worker *w);

/* ---- taskpools -------------------------------------------------------------------------- */

/* Facts that the runtime derives from a class once. Fixed, but for the hint. */
typedef struct dagi_class_info {
    const dag_class *cls;
    uint32_t write_mask;  /* data flows that the body may write */
    uint8_t memory_class; /* of its tasks */
    uint8_t on_device;    /* 1: there are devices that it has a body for */
    uint8_t queue;        /* of a device, that its tasks use; 0 = any. Set before the pool is added */
    _Atomic uint8_t many; /* hint: an instance with several arrivals has been seen */
    _Atomic(struct dagi_choice_class *) times; /* hint: the device layer's, once asked for */
} dagi_class_info;

/*
 * Life of a pool on one rank; state only grows, but for a pool in rounds, which is NEW again after each
 * one but the last:
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

/* Where a pool stands among others that name one of its collections. */
struct dagi_pool_order {
    int waits;                /* earlier pools it still waits for */
    dag_taskpool **followers; /* pools that wait for this one */
    int nfollowers, followers_capacity;
};

/* The counts of dag_taskpool_stats(). */
struct dagi_pool_stats {
    _Atomic int64_t tasks, renames, messages, bytes_sent, deferred_stores;
};

/* A pool that runs again and again until its tasks ask for no more, see rounds.c. Where no other thread is
 * named, the application thread alone touches it while no round runs. */
struct dagi_pool_rounds {
    int64_t bound;      /* most rounds; 0 = a pool as others; fixed once dag_pool_ready() has returned */
    int64_t done;       /* rounds that have ended; anybody reads it while one runs */
    dag_pool_stats before; /* of those that were followed by another */
    dag_taskpool *next; /* on the context's list `rounds` */
    _Atomic int goes_on; /* 1: it is on that list: added, and not in its last round's end */
    _Atomic int again;   /* 0 -> 1 by tasks that ask for another round; in ENDED, agreed by all ranks */
    _Atomic int stop;    /* 0 -> 1 by dag_cancel() */
};

/* Start-up of a pool. */
struct dagi_pool_start {
    _Atomic int lock; /* a try-lock; its holder alone touches `class` and `cursor` */
    int class;        /* whose instances are started */
    _Atomic int done;
    dag_cursor cursor; /* where in it */
};

/* A pool, as tasks know it. */
struct dagi_pool {
    dag_taskpool head; /* first */
    /* -- fixed once dag_pool_ready() has returned */
    dagi_class_info *classes; /* [program->nclasses] */
    dag_collection **collections; /* [program->nslots], as bound */
    void *comm;              /* comm's: what it keeps per pool, freed before dagi_pool_end() */
    void *kept;              /* dag_taskpool_keep(); NULL = nothing */
    struct dagi_door *door;  /* NULL = its program names all its tasks; door.h */
    int countable;           /* 0: the end is found by waves */
    int on_device;           /* 1: some class has a body for the devices that are there */
    int bare;                /* 1: its tasks use the memory of its collections past all values */
    int nshards;             /* of the dependency table; a power of two */
    struct dagi_shard *shards;
    _Atomic int crowded;     /* hint, only ever 0 -> 1: the table is too large for a cache */

    /* -- shared: guarded by `lock` */
    pthread_mutex_t lock;
    dag_status status; /* of this rank (of the constructor in NEW); the agreed one in ENDED */
    char *message;     /* of `status`, or NULL; owned */
    int64_t info;      /* smallest reported > 0; 0 = none; the agreed one in ENDED */
    struct dag_task *early; /* ready in QUEUED, linked by next */
    struct dagi_pool_order order;
    struct dagi_pool_rounds rounds; /* as it says itself */

    /* -- guarded by ctx->pools_lock */
    dag_taskpool *next;

    /* -- shared atomics */
    _Atomic int state;    /* enum dagi_pool_state; written under lock */

    /*
     * What keeps this rank's part from being over: tasks not completed + holds of comm + 1 while
     * start-up is not finished + 1 while it is open. Whoever takes it to zero ends the part. Countable
     * pools enter all their tasks at the start, and those that are given as they are; the others enter
     * each task when it is made and keep one for the waves to take.
     */
    _Alignas(DAGI_LINE) _Atomic int64_t open;
    /* Statistics, on the line that a worker takes anyway when it hands in its counts. What every
     * task reads does not lie here. */
    struct dagi_pool_stats stats;

    _Alignas(DAGI_LINE) struct dagi_pool_start start;
};

static inline struct dagi_pool *dagi_pool(const dag_taskpool *pool)
{
    return (struct dagi_pool *)(uintptr_t)pool;
}

/* ---- memory.c: task memory -------------------------------------------------------------- */

struct dagi_task_store *dagi_task_store_new(void);
void dagi_task_store_free(struct dagi_task_store *store);
/* More tasks of this class for w; nonzero = out of memory. */
int dagi_task_refill(struct dagi_worker *w, int memory_class);
/* Give half of what w has of this class to the others. */
void dagi_task_spill(struct dagi_worker *w, int memory_class);
/* Class of a task of so many bytes; -1 = too large. */
int dagi_task_class(uint32_t bytes);

/* Tasks move between workers in batches; a worker keeps up to DAGI_TASK_KEEP, more than a chunk of
 * start-up, so that one that runs what it has started gives none away. */
enum { DAGI_TASK_BATCH = 64, DAGI_TASK_KEEP = 4 * DAGI_TASK_BATCH };

static inline struct dag_task *dagi_task_alloc(struct dagi_worker *w, int memory_class)
{
    dagi_magazine *m = &dagi_runner(w)->magazine[memory_class];
    if (DAGI_UNLIKELY(!m->head) && dagi_task_refill(w, memory_class) != 0)
        return NULL;
    assert(m->head && m->count > 0);
    struct dag_task *t = m->head;
    m->head = t->next;
    m->count--;
    return t;
}

static inline void dagi_task_free(struct dagi_worker *w, struct dag_task *t, int memory_class)
{
    dagi_magazine *m = &dagi_runner(w)->magazine[memory_class];
    t->next = m->head;
    m->head = t;
    if (DAGI_UNLIKELY(++m->count >= DAGI_TASK_KEEP) && !dagi_tasks(w->ctx)->single)
        dagi_task_spill(w, memory_class);
}

/* In dag_task.arrived, above the flows: its memory inputs are bound; while it waits for content, that a
 * device is to be chosen for it once more. */
#define DAGI_TASK_BOUND (UINT64_C(1) << 63)
#define DAGI_TASK_CROSSES (UINT64_C(1) << 62)

/* ---- task.c ----------------------------------------------------------------------------- */

static inline int32_t *dagi_task_locals(struct dag_task *t)
{
    return (int32_t *)(void *)(dag_task_flows(t) + t->cls->ndata);
}

/* A task with these locals and no value; not counted, on no list. NULL: no memory, the pool has failed. */
struct dag_task *dagi_task_new(struct dagi_worker *w, dag_taskpool *pool, dagi_class_info *info,
                               const int32_t *locals);
int64_t dagi_task_priority(const dag_taskpool *pool, const dag_class *cls, const int32_t *locals); /* of one */

/* Tasks that have become ready; the caller runs them. */
typedef struct dagi_ready_list {
    struct dag_task *best; /* to run next, for its warm data; NULL = none */
    struct dag_task *rest; /* linked by next, the last named first */
} dagi_ready_list;

/* Run a ready task on w, and complete it. */
dagi_ready_list dagi_task_run(struct dagi_worker *w, struct dag_task *t);
/* Forget a task that will not run: its values are released. */
void dagi_task_drop(struct dagi_worker *w, struct dag_task *t);

/* ---- deps.c: the dependency table --------------------------------------------------------- */

int dagi_deps_init(dag_taskpool *pool); /* nonzero = out of memory */
void dagi_deps_fini(dag_taskpool *pool);
/* Where an arrival comes from, for messages. */
typedef struct dagi_source {
    const dag_class *cls;
    const int32_t *locals;
} dagi_source;
/* One arrival at an instance of edge->target; takes over the reference on `value` (NULL for CTL and
 * for what a poisoned pool lacks). Returns the task when this was its last, else NULL. The lock of
 * the shard stays with w (w->held) for the arrival that follows: behind the last of a row comes
 * dagi_deps_let_go(), and between them nothing that takes a lock. */
struct dag_task *dagi_deps_arrive(struct dagi_worker *w, dag_taskpool *pool, const dag_edge *edge,
                                  const int32_t *params, dag_value *value,
                                  const dagi_source *source);
/* The same for control of several tasks at once, of which `source` is one. */
struct dag_task *dagi_deps_arrive_all(struct dagi_worker *w, dag_taskpool *pool,
                                      const dag_edge *edge, const int32_t *params,
                                      const dagi_source *source, int64_t tasks);
/* In a crowded table (pool->crowded) these arrivals follow, in this order: what they touch is brought
 * to the cache, for all of them at once. Returns for how many, at least one: those that share a lock. */
enum { DAGI_DEPS_ROW = 16 };
int dagi_deps_expect(struct dagi_worker *w, dag_taskpool *pool, int count,
                     const dag_edge *const *edges, const int32_t *const *params);
/* Where the chain of an instance begins, on the way to the cache; only while no locks are taken. The
 * place is good until the next arrival. */
struct dag_task *const *dagi_deps_chain(const dag_taskpool *pool, const dag_class *cls,
                                        const int32_t *params);
/* Tasks in the table. Exact when no worker is active. */
int64_t dagi_deps_count(const dag_taskpool *pool);
/* The task of an instance, or NULL. No worker may be active. */
struct dag_task *dagi_deps_find(dag_taskpool *pool, const dag_class *cls, const int32_t *params);
/* Call fn for each task in the table until it returns nonzero, with the lock of its shard held. */
void dagi_deps_each(dag_taskpool *pool, int (*fn)(struct dag_task *t, void *arg), void *arg);
/* Drop all tasks; how many there were. No worker may be active in the pool. */
int64_t dagi_deps_clear(struct dagi_worker *w, dag_taskpool *pool);

/* ---- complete.c, control.c, deliver.c: the phases are in completion.h -------------------- */

/* Stores, messages, successors of a task whose body has run; frees it. */
dagi_ready_list dagi_task_complete(struct dagi_worker *w, struct dag_task *t);
/* The same for one whose body has run on a device, which may have its results still. */
dagi_ready_list dagi_task_complete_job(struct dagi_worker *w, struct dag_task *t,
                                       const struct dagi_job *job);
/* Would t, run now, add to the control that w holds back? */
bool dagi_control_joins(const struct dagi_worker *w, struct dag_task *t);
/* Tell what is held back. */
dagi_ready_list dagi_control_tell(struct dagi_worker *w);

/* The content of a message about a task that another rank has completed. */
typedef struct dagi_delivery {
    const dag_class *cls;
    const int32_t *params;
    uint32_t mask;       /* flows */
    uint64_t dynamic;    /* bits of [dynamic] guards */
    int poison;          /* see values.md */
    int lost;            /* 1: it is dropped, as a test wants it */
    dag_value **values;  /* [f] for data flows in mask, handed over with one reference each */
    uint64_t path, from; /* for the trace */
} dagi_delivery;

/* Release its successors on this rank; w is active. What is ready here is returned, linked by next. */
struct dag_task *dagi_deliver(struct dagi_worker *w, dag_taskpool *pool, const dagi_delivery *a);
/* A message has come for tasks of a part that is over and went well: ends the job. */
_Noreturn void dagi_deliver_late(const dag_taskpool *pool, const dag_class *cls,
                                 const int32_t *params);

/* ---- startup.c -------------------------------------------------------------------------- */

/* Start some instances of a pool that has any left; 0 = found none. `over`: nothing is left to start of
 * that pool, and once the list is given away comes dagi_pool_drop() for it; NULL = not now. */
typedef struct dagi_started {
    struct dag_task *list;
    dag_taskpool *over;
} dagi_started;
int dagi_startup(struct dagi_worker *w, dagi_started *started);

/* The next chunk of a pool as the rank that its collections show now, from class *at on; the list may be
 * empty only when *at is behind the last class, or the pool has failed. For sim/, which starts many ranks. */
struct dag_task *dagi_start_chunk(struct dagi_worker *w, dag_taskpool *pool, int *at,
                                  dag_cursor *cursor);

/* ---- pool.c, pool_life.c ---------------------------------------------------------------- */

/* Free a pool that is NEW or ENDED. */
void dagi_pool_destroy(dag_taskpool *pool);
/* Take `count` completed tasks off w's account. Nothing of the pool may be touched afterwards. */
void dagi_pool_count(struct dagi_worker *w, dag_taskpool *pool, int64_t count, int64_t tasks);
/* Take what w has completed off the pool's account. */
void dagi_flush(struct dagi_worker *w);
/* From now on the tasks that w completes are this pool's. */
void dagi_count_for(struct dagi_worker *w, dag_taskpool *pool);
/* End this rank's part by force: nobody works on it and nothing of it is under way. */
void dagi_pool_force(struct dagi_worker *w, dag_taskpool *pool);
/* Does it name this collection; do two pools name a common one? Views are what they are views of. */
bool dagi_pool_names(const dag_taskpool *pool, const dag_collection *c);
bool dagi_pool_shares(const dag_taskpool *pool, const dag_taskpool *other);
/* Nonzero when the pool is queued: the task was kept until it runs. */
int dagi_pool_keep_early(dag_taskpool *pool, struct dag_task *t);
/* Count the tasks of a pool that is about to be added; -1 = that cannot be done. Errors fail it. */
int64_t dagi_pool_open(dag_taskpool *pool);
/* Enter it in the context's list and behind those it has to wait for. */
void dagi_pool_enlist(dag_taskpool *pool);
/* dag_add() has told all who must know: it runs, if it waits for nobody else. */
void dagi_pool_may_start(struct dagi_worker *w, dag_taskpool *pool);
/* At the local end of a pool, when no task and no transfer of it holds a value any more: apply the
 * stores that waited for it (counted in pool->stats.deferred_stores), or forget them when it has failed.
 * Fails the pool when something still holds a fetched element, which is a bug. 0: some wait for content
 * that a device has; the pool is open until they are done, and whoever closes it comes here again. */
int dagi_apply_deferred(struct dagi_worker *w, dag_taskpool *pool);

/* ---- check.c ------------------------------------------------------------------------------ */

/* NULL, or what is wrong with a pool (text of this thread): its table, what its tasks hold, its
 * counts, lists and state. Nobody works on it; others may be added and end. For quiet points of
 * builds with DAG_CHECKED, and for tests. */
const char *dagi_pool_check(dag_taskpool *pool);
/* The same of a worker that runs no task, as far as tasks know it. */
const char *dagi_runner_check(const struct dagi_worker *w);

/* ---- rounds.c; the application thread calls ------------------------------------------------ */

/* A pool in rounds has been added, for its first round or another: it goes on. Others: nothing. */
void dagi_rounds_added(dag_taskpool *pool);
/* A pool has ended. True: it runs another round, is NEW again, and is to be added. */
bool dagi_rounds_next(dag_taskpool *pool);
/* A pool that may run another round and names one of this pool's collections; NULL = none. */
const dag_taskpool *dagi_rounds_beside(dag_context *ctx, const dag_taskpool *pool);
/* What the pool did in all its rounds. */
dag_pool_stats dagi_rounds_stats(const dag_taskpool *pool);
static inline bool dagi_rounds_go_on(const dag_taskpool *pool)
{
    return atomic_load(&dagi_pool(pool)->rounds.goes_on);
}

/* ---- pools by number ---------------------------------------------------------------------- */

/* NULL when no such pool has been added yet on this rank. */
dag_taskpool *dagi_pool_find(dag_context *ctx, uint32_t id);
uint32_t dagi_pool_id(const dag_taskpool *pool);
uint64_t dagi_pool_hash(const dag_taskpool *pool);
const dag_program *dagi_pool_program(const dag_taskpool *pool);
int dagi_pool_poisoned(const dag_taskpool *pool);

/* One more / one less thing of this pool under way in comm: sends, relays, receives. The pool does
 * not end locally before the count is zero. A drop that takes the last one applies stores and calls
 * pool_over() of the port `remote` on this thread before it returns. While a receive is outstanding
 * its tasks keep the pool open, so holding is needed only for what no task of this rank waits for.
 * 0 = not held: this rank's part is over. */
int dagi_pool_hold(dag_taskpool *pool);
void dagi_pool_drop(struct dagi_worker *w, dag_taskpool *pool);
void dagi_pool_sent(dag_taskpool *pool, int64_t messages, int64_t bytes); /* statistics */

/* First error wins; poisons the pool. */
void dagi_pool_fail(dag_taskpool *pool, dag_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What it did on this rank, in this round. */
dag_pool_stats dagi_pool_stats(const dag_taskpool *pool);

/* The agreed end. */
void dagi_pool_end(dag_taskpool *pool, dag_status status, int64_t info, const char *message);

#endif

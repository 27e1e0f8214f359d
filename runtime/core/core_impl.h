/*
 * What the files of runtime/core/ offer each other. In the order of a task's life.
 */
#ifndef DAGI_CORE_IMPL_H
#define DAGI_CORE_IMPL_H

#include "../comm/comm.h"
#include "../data/data.h"
#include "../device/device.h"
#include "../sched/sched.h"
#include "../trace/trace.h"
#include "core.h"
#include "lock.h"

#define DAGI_LIKELY(x) __builtin_expect(!!(x), 1)
#define DAGI_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Bring the first lines of something to the cache. */
static inline void dagi_prefetch_lines(const void *at, int lines)
{
    enum { LINE = 64 };
    for (int i = 0; i < lines; i++)
        __builtin_prefetch((const char *)at + i * LINE);
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
    dagi_magazine *m = &w->magazine[memory_class];
    if (DAGI_UNLIKELY(!m->head) && dagi_task_refill(w, memory_class) != 0)
        return NULL;
    struct dag_task *t = m->head;
    m->head = t->next;
    m->count--;
    return t;
}

static inline void dagi_task_free(struct dagi_worker *w, struct dag_task *t, int memory_class)
{
    dagi_magazine *m = &w->magazine[memory_class];
    t->next = m->head;
    m->head = t;
    if (DAGI_UNLIKELY(++m->count >= DAGI_TASK_KEEP) && !w->ctx->single)
        dagi_task_spill(w, memory_class);
}

/* ---- task.c ----------------------------------------------------------------------------- */

static inline int32_t *dagi_task_locals(struct dag_task *t)
{
    return (int32_t *)(void *)(dag_task_flows(t) + t->cls->ndata);
}

/* A task with these locals and no value; not counted, on no list. Fails the pool and returns NULL
 * when memory is short. */
struct dag_task *dagi_task_new(struct dagi_worker *w, dag_taskpool *pool, dagi_class_info *info,
                               const int32_t *locals);
/* The priority of an instance. */
int64_t dagi_task_priority(const dag_taskpool *pool, const dag_class *cls, const int32_t *locals);
/* Run a ready task on w, and all that follows from its completion. */
void dagi_task_run(struct dagi_worker *w, struct dag_task *t);
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
static inline void dagi_deps_let_go(struct dagi_worker *w)
{
    if (!w->held)
        return;
    dagi_unlock(&w->held->lock);
    w->held = NULL;
}
/* Tasks in the table. Exact when no worker is active. */
int64_t dagi_deps_count(const dag_taskpool *pool);
/* The task of an instance, or NULL. No worker may be active. */
struct dag_task *dagi_deps_find(dag_taskpool *pool, const dag_class *cls, const int32_t *params);
/* Call fn for each task in the table until it returns nonzero, with the lock of its shard held. */
void dagi_deps_each(dag_taskpool *pool, int (*fn)(struct dag_task *t, void *arg), void *arg);
/* Drop all tasks; how many there were. No worker may be active in the pool. */
int64_t dagi_deps_clear(struct dagi_worker *w, dag_taskpool *pool);

/* ---- release.c -------------------------------------------------------------------------- */

/* Stores, messages, successors of a task whose body has run; frees it. */
void dagi_task_complete(struct dagi_worker *w, struct dag_task *t);

/* For tasks on devices, whose completion comes in two parts. Flows that other ranks get of t. */
uint32_t dagi_task_remote(struct dagi_worker *w, struct dag_task *t);
/* It is about to be issued. In a crowded table the task that its first value goes to is looked for
 * meanwhile; the result is where that will be found, for a look in between, NULL = nowhere. */
struct dag_task *const *dagi_task_foresee(struct dagi_worker *w, struct dag_task *t);
/* It is issued: successors on this rank get its values. Those of the flows in `keep` stay with the
 * task as well, the other flows are NULL from now on. */
void dagi_task_release(struct dagi_worker *w, struct dag_task *t, uint32_t keep);
/* Its messages, which take references of their own; before it retires, where they may leave. */
void dagi_task_send(struct dagi_worker *w, struct dag_task *t);
/* It has run: control edges, messages unless they are `sent`; frees it. What was kept is on the
 * host, or was sent from where it is. */
void dagi_task_retire(struct dagi_worker *w, struct dag_task *t, int sent);
/* Would t, run now, add to the control that w holds back? */
bool dagi_control_joins(const struct dagi_worker *w, struct dag_task *t);
/* Tell what is held back; what becomes ready is in w->next and with the scheduler. */
void dagi_control_tell(struct dagi_worker *w);
/* dagi_task_complete() outside of dagi_task_run(). */
void dagi_task_complete_here(struct dagi_worker *w, struct dag_task *t);

/* ---- startup.c -------------------------------------------------------------------------- */

/* Start some instances of a pool that has any left; 0 = found none. */
int dagi_startup(struct dagi_worker *w);

/* ---- pool.c, pool_life.c ---------------------------------------------------------------- */

/* Take `count` completed tasks off w's account. Nothing of the pool may be touched afterwards. */
void dagi_pool_count(struct dagi_worker *w, dag_taskpool *pool, int64_t count, int64_t tasks);
/* End this rank's part by force: nobody works on it and nothing of it is under way. */
void dagi_pool_force(struct dagi_worker *w, dag_taskpool *pool);
/* Nonzero when the pool is queued: the task was kept until it runs. */
int dagi_pool_keep_early(dag_taskpool *pool, struct dag_task *t);

/* ---- worker.c --------------------------------------------------------------------------- */

/* Tasks are ready: give the list (linked by next) to the scheduler and wake who can run them. */
void dagi_ready(struct dagi_worker *w, struct dag_task *list);
/* Become active before making or taking a task. */
void dagi_activate(struct dagi_worker *w);
/* The application thread leaves the library: it keeps no task and is idle. */
void dagi_leave(struct dagi_worker *w);
/* Take what w has completed off the pool's account. */
void dagi_flush(struct dagi_worker *w);
/* Among helpers, worker 0 looks after messages as long as it is in the library. */
static inline bool dagi_app_attends(const dag_context *ctx)
{
    return ctx->helpers && (atomic_load(&ctx->blocked) & 1);
}
/* There seems to be something to take or to start. */
bool dagi_something(struct dagi_worker *w);
/* Run something or make progress for about that long, at least one round; never parked. */
void dagi_run_for(struct dagi_worker *w, uint64_t nanoseconds, int (*done)(void *arg), void *arg);
dag_status dagi_workers_start(dag_context *ctx);
void dagi_workers_stop(dag_context *ctx);

/* ---- sleep.c ---------------------------------------------------------------------------- */

/* There is something to start or to run: wake a sleeping worker, unless one is awake and searches,
 * or they look by themselves. */
void dagi_wake_one(dag_context *ctx);
/* Wake `who`, or any (NULL), if it is parked. The woken one is searching from now on. */
void dagi_unpark(dag_context *ctx, const struct dagi_worker *who);
/* w, which is searching and has been idle for so many nanoseconds, sleeps until it is woken, unless
 * there is a reason to stay awake. A helper comes back by itself as well, then it has been idle all
 * the time. */
void dagi_park(struct dagi_worker *w, uint64_t idle);
/* The worker that looks after messages, idle for so many nanoseconds, sleeps until one comes, or a
 * reason to run tasks. It comes back by itself now and then, then it has been idle all the time. */
void dagi_park_at_bell(struct dagi_worker *w, uint64_t idle);

/* ---- stall.c ---------------------------------------------------------------------------- */

/* Called by an idle worker of a context with one rank: have all come to rest in vain? Then the
 * first pool concerned is ended; nonzero. */
int dagi_stall_check(struct dagi_worker *w);
/* Called by an idle worker of rank 0 of several: ask for a wave when it is time. */
void dagi_stall_wave(struct dagi_worker *w);

#endif

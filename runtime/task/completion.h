/*
 * Completion of a task, in four phases, whoever it is that completes: a worker (complete.c), control
 * that several tasks told at once (control.c), a message (deliver.c), a device (device/complete.c).
 *
 *   name   all receivers: successors on this rank into a buffer, ranks into the fanout
 *   share  every value gets its final number of references
 *   tell   messages leave, successors on this rank get their inputs
 *   ready  what has all of them is returned to the caller, whose worker runs it
 *
 * The order matters, see docs/design/values.md: stores come first, and nobody is told before every
 * value is shared out, so no receiver can see a count that is still to grow. One worker on one rank, whom nobody
 * watches, does the first three at once (dagi_tell_direct()): no receiver looks before it has returned.
 *
 * The phases are inline: each path is compiled as one function.
 */
#ifndef DAGI_COMPLETION_H
#define DAGI_COMPLETION_H

#include "shard.h"
#include "task.h"

#include <assert.h>

/* The compiler knows nothing of the variable from here on. */
#define DAGI_OPAQUE(x) __asm__("" : "+r"(x))
#define DAGI_HOT static inline __attribute__((always_inline))

/* Parameters and locals are few: no instructions that copy many at once, which first ask how many there are. */
DAGI_HOT void dagi_copy_few(int32_t *to, const int32_t *from, int count)
{
    for (; count > 0; count--) {
        *to++ = *from++;
        DAGI_OPAQUE(to);
    }
}

/* A named successor on this rank in the buffer of the worker; `size` bytes on is the next. */
typedef struct dagi_named {
    const dag_edge *edge;
    int32_t size;
    int32_t params[];
} dagi_named;

/* A completion under way. The visit stands first, so that its callbacks find the rest. */
typedef struct dagi_completion {
    dag_visit visit;
    struct dagi_worker *w;
    dag_taskpool *pool;
    uint32_t ndata;              /* of the source */
    int32_t refs[DAG_MAX_FLOWS]; /* receivers of each data flow on this rank */
    size_t mark;                 /* what it has named begins there in the buffer */
    struct dagi_fanout *fanout;  /* ranks that it has named; NULL = it names none */
    const struct dagi_job
        *job; /* of a device, which has the results; NULL = they are on the host */
} dagi_completion;

/* An arrival at an instance of edge->target. */
typedef struct dagi_deps_arrival {
    struct dagi_worker *w;
    dag_taskpool *pool;
    dagi_class_info *info; /* of the target */
    const dag_edge *edge;
    const int32_t *params;
    dag_value *value;
    const dagi_source *source;
    int64_t tasks; /* that it stands for */
} dagi_deps_arrival;

/* A completion that tells each successor as soon as it is named: dagi_runner.direct. No receiver runs before its end, so
 * the counts of references may grow one by one. */
typedef struct dagi_direct {
    dag_visit visit;           /* first */
    dagi_deps_arrival arrival; /* the one at hand */
    dagi_source source;
    dag_value **values;        /* its */
    dagi_ready_list ready;     /* so far */
} dagi_direct;

/* ---- alone (alone.h) ------------------------------------------------------------------------ */

/* w, whose `direct` says that it is alone, goes on without locks; false: it is alone no more. */
static inline bool dagi_alone_enter(struct dagi_worker *w)
{
    struct dagi_runner *r = dagi_runner(w);
    assert(r->direct == DAGI_DIRECT_ALONE && atomic_load_explicit(&r->at_work, memory_order_relaxed));
    if (!dagi_owned_try_own(&dagi_tasks(w->ctx)->alone.lock, dagi_alone_number(w))) {
        r->direct = DAGI_DIRECT_NEVER;
        return false;
    }
    w->sole = r->unlocked = 1;
    return true;
}

static inline void dagi_alone_leave(struct dagi_worker *w)
{
    w->sole = dagi_runner(w)->unlocked = 0;
    dagi_owned_leave_own(&dagi_tasks(w->ctx)->alone.lock);
}

/* Another worker is inside, although w is at work and not alone: for assertions. */
static inline bool dagi_other_is_alone(const struct dagi_worker *w)
{
    const dagi_owned_lock *l = &dagi_tasks(w->ctx)->alone.lock;
    int alone = atomic_load_explicit(&l->alone, memory_order_relaxed);
    return alone != 0 && alone != dagi_alone_number(w) && atomic_load_explicit(&l->busy, memory_order_relaxed);
}

/* ---- the dependency table (deps.c) ------------------------------------------------------------ */

/* The arrivals of one task are over. */
static inline void dagi_deps_let_go(struct dagi_worker *w)
{
    struct dagi_runner *r = dagi_runner(w);
    if (!r->held)
        return;
    dagi_unlock(&r->held->lock);
    r->held = NULL;
}

/* ---- a new task (task.c) -------------------------------------------------------------------- */

/* There is no memory for a task: the pool fails. NULL. */
struct dag_task *dagi_task_none(dag_taskpool *pool, const dag_class *cls);

/* High priority classes stand above all others, whatever their priority expression says. */
DAGI_HOT int64_t dagi_priority_of(const dag_taskpool *pool, const dag_class *cls, const int32_t *locals)
{
    const int64_t step = INT64_C(1) << 62;
    int64_t priority = cls->priority ? cls->priority(pool->globals, locals) : 0;
    if (DAGI_LIKELY(!cls->high_priority))
        return priority;
    return priority > INT64_MAX - step ? INT64_MAX : priority + step;
}

/* A task without locals, and without a priority, that has no value; NULL: no memory, the pool has failed. */
DAGI_HOT struct dag_task *dagi_task_begin(struct dagi_worker *w, dag_taskpool *pool, const dagi_class_info *info)
{
    const dag_class *cls = info->cls;
    struct dag_task *t = dagi_task_alloc(w, info->memory_class);
    if (DAGI_UNLIKELY(!t))
        return dagi_task_none(pool, cls);
    t->cls = cls;
    if (DAGI_UNLIKELY(DAGI_TRACK(w)))
        dagi_trace_task_new(DAGI_TRACK(w), t);
    t->next = NULL;
    t->pool = pool;
    t->owner = NULL;
    t->arrived = 0;
    t->pending = 0;
    dag_value **flow = dag_task_flows(t);
    for (int f = cls->ndata; f > 0; f--) {
        *flow++ = NULL;
        DAGI_OPAQUE(flow); /* they are few: no instruction that stores strings */
    }
    return t;
}

/* dagi_task_new() with so many locals. */
DAGI_HOT struct dag_task *dagi_task_make(struct dagi_worker *w, dag_taskpool *pool, dagi_class_info *info,
                                         const int32_t *locals, int nlocals)
{
    struct dag_task *t = dagi_task_begin(w, pool, info);
    if (DAGI_UNLIKELY(!t))
        return NULL;
    dagi_copy_few(dagi_task_locals(t), locals, nlocals);
    t->priority = dagi_priority_of(pool, info->cls, locals);
    return t;
}

/* ---- name (complete.c) ---------------------------------------------------------------------- */

/* Callbacks of visits. */
void dagi_name_local(dag_visit *v, const dag_edge *edge, const int32_t *params);
void dagi_name_rank(dag_visit *v, const dag_edge *edge, const int32_t *params);

/* Name the successors of a task of this rank through flows in `mask`. In a poisoned pool the guards that
 * look at what the body computed cannot be asked; they count as false. */
DAGI_HOT void dagi_name(dagi_completion *c, struct dag_task *t, enum dag_visit_mode mode,
                        uint32_t mask)
{
    c->visit.mode = mode;
    c->visit.mask = mask;
    c->visit.edge = mode == DAG_VISIT_LOCAL ? dagi_name_local : dagi_name_rank;
    c->visit.at_producer = !dagi_pool_is_poisoned(c->pool);
    t->cls->successors(&c->visit, c->pool->globals, dagi_task_locals(t));
}

/* ---- share ---------------------------------------------------------------------------------- */

/* Each value of the flows in `mask` gets one reference per receiver; the one we hold is among them. */
DAGI_HOT void dagi_share(dagi_completion *c, dag_value **values, uint32_t mask)
{
    for (uint32_t f = 0; f < c->ndata; f++) {
        if (!(mask >> f & 1) || !values[f])
            continue;
        int refs = c->refs[f];
        if (c->fanout)
            refs += dagi_tasks(c->pool->ctx)->remote->refs(c->fanout, (int)f);
        if (refs == 0)
            dagi_value_release(c->w, values[f]);
        else if (refs > 1)
            dagi_value_retain(values[f], refs - 1);
    }
}

/* ---- tell ----------------------------------------------------------------------------------- */

/* One more is ready: the one of highest priority, the last of equal ones, is the best. */
DAGI_HOT void dagi_ready_enter(dagi_ready_list *ready, struct dag_task *t)
{
    if (ready->best && ready->best->priority >= t->priority) {
        t->next = ready->rest;
        ready->rest = t;
        return;
    }
    if (ready->best) {
        ready->best->next = ready->rest;
        ready->rest = ready->best;
    }
    ready->best = t;
}

/* Where dagi_deps_expect() has looked up to, from an offset of the buffer on. */
size_t dagi_tell_expect(const dagi_completion *c, size_t at);

/* Messages leave for the ranks that were named; the fanout is empty then. */
DAGI_HOT void dagi_tell_ranks(dagi_completion *c, struct dag_task *t)
{
    const dagi_remote_port *remote = dagi_tasks(c->pool->ctx)->remote;
    if (!remote->none(c->fanout))
        remote->send(c->w, t, c->fanout, c->visit.dynamic, c->job);
}

/* Successors on this rank that were named get their inputs, `tasks` at once of control; the buffer is as
 * before. Returns those that are ready. */
DAGI_HOT dagi_ready_list dagi_tell(dagi_completion *c, dag_value **values,
                                   const dagi_source *source, bool crowded, int64_t tasks)
{
    struct dagi_worker *w = c->w;
    dagi_ready_list ready = {NULL, NULL};
    size_t at = c->mark, end = dagi_runner(w)->edges_used, expected = at;
    while (at < end) {
        if (crowded && at >= expected)
            expected = dagi_tell_expect(c, at);
        const dagi_named *n = (const dagi_named *)(void *)(dagi_runner(w)->edges + at);
        const dag_edge *edge = n->edge;
        at += (size_t)n->size;
        dag_value *value = edge->source_flow < c->ndata && edge->target_flow < edge->target->ndata
                               ? values[edge->source_flow]
                               : NULL;
        struct dag_task *t =
            tasks == 1 ? dagi_deps_arrive(w, c->pool, edge, n->params, value, source)
                       : dagi_deps_arrive_all(w, c->pool, edge, n->params, source, tasks);
        if (t)
            dagi_ready_enter(&ready, t);
    }
    dagi_deps_let_go(w);
    assert(at == end && dagi_runner(w)->edges_used == end); /* arrivals name nobody */
    dagi_runner(w)->edges_used = c->mark;
    return ready;
}

/* Callbacks of visits that tell at once (deps.c): of the only worker, of one that is alone. */
void dagi_tell_named(dag_visit *v, const dag_edge *edge, const int32_t *params);
void dagi_tell_named_alone(dag_visit *v, const dag_edge *edge, const int32_t *params);

/* Name the successors of a task and tell them, all in one. */
DAGI_HOT dagi_ready_list dagi_tell_direct(struct dagi_worker *w, struct dag_task *t, bool single)
{
    dagi_direct d;
    d.visit.mode = DAG_VISIT_LOCAL;
    d.visit.mask = UINT32_MAX;
    d.visit.dynamic = 0;
    d.visit.at_producer = !dagi_pool_is_poisoned(t->pool); /* as in dagi_name() */
    d.visit.task = t;
    d.visit.edge = single ? dagi_tell_named : dagi_tell_named_alone;
    d.arrival.w = w;
    d.arrival.pool = t->pool;
    d.arrival.source = &d.source;
    d.arrival.tasks = 1;
    d.source = (dagi_source){t->cls, dagi_task_locals(t)};
    d.values = dag_task_flows(t);
    d.ready = (dagi_ready_list){NULL, NULL};
    t->cls->successors(&d.visit, t->pool->globals, d.source.locals);
    return d.ready;
}

/* ---- ready ---------------------------------------------------------------------------------- */

/* As one list; the best comes last, for queues that give the youngest first. */
struct dag_task *dagi_ready_joined(dagi_ready_list ready);

/* Those of a list that run on cores: devices take theirs. */
DAGI_HOT struct dag_task *dagi_ready_here(struct dagi_worker *w, struct dag_task *list)
{
    const dagi_device_port *device = dagi_tasks(w->ctx)->device;
    return device && list ? device->filter(w, list) : list;
}

/* ---- for all paths -------------------------------------------------------------------------- */

/* The task is over: its memory goes back, and w has completed one more. */
DAGI_HOT void dagi_completed(struct dagi_worker *w, struct dag_task *t)
{
    dagi_task_free(w, t, dagi_pool(t->pool)->classes[t->cls->id].memory_class);
    dagi_count_one(&dagi_runner(w)->done.completed);
}

/* Flows of data. */
static inline uint32_t dagi_data_mask(const dag_class *cls)
{
    return (UINT32_C(1) << cls->ndata) - 1;
}

/* A pool's collections need not remember it any more; pools_lock is held, where there are threads. */
void dagi_pool_unname(dag_taskpool *pool);

#endif

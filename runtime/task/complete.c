/* Completion of a task of this rank that has run on a core; and what all paths share. */
#include "completion.h"
#include "door.h"

#include <stdlib.h>

/* ---- name ------------------------------------------------------------------------------- */

static int grow_edges(dagi_completion *c, size_t bytes)
{
    struct dagi_worker *w = c->w;
    size_t capacity = dagi_runner(w)->edges_capacity ? 2 * dagi_runner(w)->edges_capacity : 16384;
    while (capacity < dagi_runner(w)->edges_used + bytes)
        capacity *= 2;
    char *edges = realloc(dagi_runner(w)->edges, capacity);
    if (!edges) {
        dagi_pool_fail(c->pool, DAG_ERR_NOMEM, "no memory to list the successors of a task");
        return 1;
    }
    dagi_runner(w)->edges = edges;
    dagi_runner(w)->edges_capacity = capacity;
    return 0;
}

/* 1 when the target of an edge runs on this rank, of several. A visit for LOCAL may name others as well: only
 * ranges with a closed form are cut down to the own part by the generated code. */
static bool is_local(const dagi_completion *c, const dag_class *target, const int32_t *params)
{
    int32_t locals[DAG_MAX_LOCALS];
    for (int i = 0; i < target->nparams; i++)
        locals[i] = params[i];
    /* outside of the space: reported when the producer named its ranks */
    return target->locals(c->pool->globals, locals)
           && target->rank(c->pool->globals, locals) == c->pool->ctx->rank;
}

/* Bytes of a named successor with so many parameters. */
static inline size_t named_bytes(size_t nparams)
{
    return (sizeof(dagi_named) + nparams * sizeof(int32_t) + 7) & ~(size_t)7;
}

/* There is room for it. */
static inline void name_here(dagi_completion *c, const dag_edge *edge, const int32_t *params, size_t bytes)
{
    struct dagi_runner *r = dagi_runner(c->w);
    dagi_named *n = (dagi_named *)(void *)(r->edges + r->edges_used);
    r->edges_used += bytes;
    n->edge = edge;
    n->size = (int32_t)bytes;
    dagi_copy_few(n->params, params, edge->target->nparams);
    if (edge->source_flow < c->ndata && edge->target_flow < edge->target->ndata)
        c->refs[edge->source_flow]++;
}

/* The target may be on another rank, or the buffer is full. */
static __attribute__((noinline)) void name_slowly(dagi_completion *c, const dag_edge *edge, const int32_t *params)
{
    const struct dagi_runner *r = dagi_runner(c->w);
    size_t bytes = named_bytes(edge->target->nparams);
    if (c->pool->ctx->size > 1 && !is_local(c, edge->target, params))
        return;
    if (r->edges_used + bytes <= r->edges_capacity || grow_edges(c, bytes) == 0)
        name_here(c, edge, params, bytes);
}

/* With one rank its last act is a call, or nothing, so the compiler saves no registers here. */
void dagi_name_local(dag_visit *v, const dag_edge *edge, const int32_t *params)
{
    dagi_completion *c = (dagi_completion *)(void *)v;
    const struct dagi_runner *r = dagi_runner(c->w);
    size_t bytes = named_bytes(edge->target->nparams);
    if (DAGI_UNLIKELY(c->pool->ctx->size > 1) || DAGI_UNLIKELY(r->edges_used + bytes > r->edges_capacity))
        name_slowly(c, edge, params);
    else
        name_here(c, edge, params, bytes);
}

void dagi_name_rank(dag_visit *v, const dag_edge *edge, const int32_t *params)
{
    dagi_completion *c = (dagi_completion *)(void *)v;
    const dag_class *cls = edge->target;
    int32_t locals[DAG_MAX_LOCALS];
    for (int i = 0; i < cls->nparams; i++)
        locals[i] = params[i];
    if (DAGI_UNLIKELY(!cls->locals(c->pool->globals, locals))) {
        char to[256];
        dagi_describe(to, sizeof to, cls, params);
        dag_graph_error(c->pool->globals, v->task->cls, dagi_task_locals(v->task), edge->line,
                        "it sends to %s, which does not exist: its parameters are outside of the "
                        "class's space", to);
        return;
    }
    int rank = cls->rank(c->pool->globals, locals);
    if (DAGI_UNLIKELY(rank < 0 || rank >= c->pool->ctx->size)) {
        char to[256];
        dagi_describe(to, sizeof to, cls, params);
        dag_graph_error(c->pool->globals, NULL, NULL, cls->line,
                        "%s is placed on rank %d, but ranks are 0 to %d", to, rank,
                        c->pool->ctx->size - 1);
        return;
    }
    if (rank != c->pool->ctx->rank)
        dagi_tasks(c->pool->ctx)->remote->name(c->fanout, rank, edge, v->group);
}

/* ---- tell, ready ------------------------------------------------------------------------ */

size_t dagi_tell_expect(const dagi_completion *c, size_t at)
{
    const dag_edge *edges[DAGI_DEPS_ROW];
    const int32_t *params[DAGI_DEPS_ROW];
    size_t ends[DAGI_DEPS_ROW];
    struct dagi_worker *w = c->w;
    int n = 0;
    while (n < DAGI_DEPS_ROW && at < dagi_runner(w)->edges_used) {
        const dagi_named *next = (const dagi_named *)(void *)(dagi_runner(w)->edges + at);
        edges[n] = next->edge;
        params[n] = next->params;
        at += (size_t)next->size;
        ends[n++] = at;
    }
    return n > 1 ? ends[dagi_deps_expect(w, c->pool, n, edges, params) - 1] : at;
}

struct dag_task *dagi_ready_joined(dagi_ready_list ready)
{
    struct dag_task **link = &ready.rest;
    while (*link)
        link = &(*link)->next;
    *link = ready.best;
    return ready.rest;
}

/* ---- a task that has run ---------------------------------------------------------------- */

DAGI_HOT void store(struct dag_task *t)
{
    const dag_class *cls = t->cls;
    dag_taskpool *pool = t->pool;
    if (cls->stores && !dagi_pool_is_poisoned(pool))
        cls->stores(t, pool->globals);
}

/* Outputs of the flows in `held` are told later. */
DAGI_HOT dagi_ready_list complete(struct dagi_worker *w, struct dag_task *t, uint32_t held,
                                  const struct dagi_job *job)
{
    dag_taskpool *pool = t->pool;
    const dag_class *cls = t->cls;
    dag_value **values = dag_task_flows(t);
    store(t);
    if (!cls->successors) {
        for (int f = 0; f < cls->ndata; f++)
            dagi_value_release(w, values[f]);
        dagi_completed(w, t);
        return (dagi_ready_list){NULL, NULL};
    }
    dagi_completion c;
    c.visit.dynamic = 0;
    c.visit.task = t;
    c.w = w;
    c.pool = pool;
    c.ndata = cls->ndata;
    int32_t *refs = c.refs;
    for (uint32_t f = c.ndata; f > 0; f--) {
        *refs++ = 0;
        DAGI_OPAQUE(refs); /* they are few: no instruction that stores strings */
    }
    c.mark = dagi_runner(w)->edges_used;
    c.fanout = dagi_runner(w)->fanout;
    c.job = job;
    if (c.fanout)
        dagi_name(&c, t, DAG_VISIT_RANKS, UINT32_MAX);
    dagi_name(&c, t, DAG_VISIT_LOCAL, ~held);
    dagi_share(&c, values, UINT32_MAX);
    dagi_source source = {cls, dagi_task_locals(t)};
    if (c.fanout)
        dagi_tell_ranks(&c, t);
    dagi_ready_list ready = dagi_tell(&c, values, &source, false, 1);
    if (DAGI_UNLIKELY(dagi_runner(w)->special)) {
        ready.rest = dagi_ready_here(w, ready.rest);
        ready.best = dagi_ready_here(w, ready.best);
    }
    dagi_completed(w, t);
    return ready;
}

/* Flows whose outputs on this rank are told later: see struct dagi_control. */
static uint32_t hold_control(struct dagi_worker *w, struct dag_task *t)
{
    struct dagi_control *c = &dagi_runner(w)->control;
    if (dagi_runner(w)->held_back++ == 0) {
        const int32_t *locals = dagi_task_locals(t);
        c->pool = t->pool;
        c->cls = t->cls;
        for (int i = 0; i < t->cls->nlocals; i++)
            c->locals[i] = locals[i];
    }
    return ~dagi_data_mask(t->cls);
}

static __attribute__((noinline)) dagi_ready_list complete_later(struct dagi_worker *w, struct dag_task *t)
{
    uint32_t held = hold_control(w, t);
    if (t->cls->ndata > 0 || dagi_runner(w)->fanout)
        return complete(w, t, held, NULL);
    dagi_completed(w, t); /* it had nothing but control to tell */
    return (dagi_ready_list){NULL, NULL};
}

static __attribute__((noinline)) dagi_ready_list complete_now(struct dagi_worker *w, struct dag_task *t)
{
    return complete(w, t, 0, NULL);
}

/* The same where nobody else sees tables and values (dagi_runner.direct, alone.h): a receiver is told as soon as it is
 * named, and becomes a holder then; the task is one until the end. */
DAGI_HOT dagi_ready_list complete_direct(struct dagi_worker *w, struct dag_task *t, bool single)
{
    const dag_class *cls = t->cls;
    dag_value **values = dag_task_flows(t);
    dagi_ready_list ready = {NULL, NULL};
    store(t);
    if (cls->successors)
        ready = dagi_tell_direct(w, t, single);
    for (int f = cls->ndata; f > 0; f--, values++) {
        if (*values && !dagi_value_leave(*values))
            dagi_value_release(w, *values);
    }
    dagi_completed(w, t);
    return ready;
}

static __attribute__((noinline)) dagi_ready_list complete_single(struct dagi_worker *w, struct dag_task *t)
{
    return complete_direct(w, t, true);
}

/* A worker that was alone, and mostly still is. */
static __attribute__((noinline)) dagi_ready_list complete_alone(struct dagi_worker *w, struct dag_task *t)
{
    if (!dagi_alone_enter(w))
        return complete_now(w, t);
    dagi_ready_list ready = complete_direct(w, t, false);
    dagi_alone_leave(w);
    return ready;
}

/* Has nothing to save: it is the way to one of the others. */
dagi_ready_list dagi_task_complete(struct dagi_worker *w, struct dag_task *t)
{
    uint32_t apart = t->cls->ctl_blind & dagi_runner(w)->joins;
    int direct = dagi_runner(w)->direct;
    if (DAGI_LIKELY(!apart))
        return direct == DAGI_DIRECT ? complete_single(w, t) : direct ? complete_alone(w, t) : complete_now(w, t);
    return apart & DAGI_GIVEN ? dagi_pool(t->pool)->door->client.complete(w, t) : complete_later(w, t);
}

dagi_ready_list dagi_task_complete_job(struct dagi_worker *w, struct dag_task *t,
                                       const struct dagi_job *job)
{
    return complete(w, t, 0, job);
}

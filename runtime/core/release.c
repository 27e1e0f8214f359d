/*
 * Completion of a task, here or on another rank: who gets its values.
 *
 * The order matters, see docs/design/values.md: stores; then all receivers are named, local ones
 * into a buffer and ranks into the fanout; then every value gets its final number of references;
 * only then is anybody told. So no receiver can see a count that is still to grow.
 */
#include "core_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A part of dagi_task_complete(), though others call it too. */
#define HOT static inline __attribute__((always_inline))

/* A named local successor in the buffer of the worker; `size` bytes on is the next. */
struct named {
    const dag_edge *edge;
    int32_t size;
    int32_t params[];
};

/* A visit that collects; first the visit itself, so that the callback finds the rest. */
struct gather {
    dag_visit visit;
    struct dagi_worker *w;
    dag_taskpool *pool;
    uint32_t ndata;               /* of the source */
    int32_t refs[DAG_MAX_FLOWS]; /* receivers of each data flow */
    bool failed;
};

static int grow_edges(struct gather *g, size_t bytes)
{
    struct dagi_worker *w = g->w;
    size_t capacity = w->edges_capacity ? 2 * w->edges_capacity : 16384;
    while (capacity < w->edges_used + bytes)
        capacity *= 2;
    char *edges = realloc(w->edges, capacity);
    if (!edges) {
        dagi_pool_fail(g->pool, DAG_ERR_NOMEM, "no memory to list the successors of a task");
        g->failed = true;
        return 1;
    }
    w->edges = edges;
    w->edges_capacity = capacity;
    return 0;
}

/* 1 when the target of an edge runs on this rank. A visit for LOCAL may name others as well: only
 * ranges with a closed form are cut down to the own part by the generated code. */
static bool is_local(const struct gather *g, const dag_class *target, const int32_t *params)
{
    const dag_context *ctx = g->pool->ctx;
    if (ctx->size == 1)
        return true;
    int32_t locals[DAG_MAX_LOCALS];
    for (int i = 0; i < target->nparams; i++)
        locals[i] = params[i];
    /* outside of the space: reported when the producer named its ranks */
    return target->locals(g->pool->globals, locals)
           && target->rank(g->pool->globals, locals) == ctx->rank;
}

static void name_local(dag_visit *v, const dag_edge *edge, const int32_t *params)
{
    struct gather *g = (struct gather *)(void *)v;
    struct dagi_worker *w = g->w;
    int nparams = edge->target->nparams;
    if (!is_local(g, edge->target, params))
        return;
    size_t bytes = (sizeof(struct named) + (size_t)nparams * sizeof *params + 7) & ~(size_t)7;
    if (DAGI_UNLIKELY(w->edges_used + bytes > w->edges_capacity) && grow_edges(g, bytes) != 0)
        return;
    struct named *n = (struct named *)(void *)(w->edges + w->edges_used);
    w->edges_used += bytes;
    n->edge = edge;
    n->size = (int32_t)bytes;
    for (int i = 0; i < nparams; i++)
        n->params[i] = params[i];
    if (edge->source_flow < g->ndata && edge->target_flow < edge->target->ndata)
        g->refs[edge->source_flow]++;
}

static void name_rank(dag_visit *v, const dag_edge *edge, const int32_t *params)
{
    struct gather *g = (struct gather *)(void *)v;
    const dag_class *cls = edge->target;
    int32_t locals[DAG_MAX_LOCALS];
    for (int i = 0; i < cls->nparams; i++)
        locals[i] = params[i];
    if (DAGI_UNLIKELY(!cls->locals(g->pool->globals, locals))) {
        char to[256];
        dagi_describe(to, sizeof to, cls, params);
        dag_graph_error(g->pool->globals, v->task->cls, dagi_task_locals(v->task), edge->line,
                        "it sends to %s, which does not exist: its parameters are outside of the "
                        "class's space", to);
        return;
    }
    int rank = cls->rank(g->pool->globals, locals);
    if (DAGI_UNLIKELY(rank < 0 || rank >= g->pool->ctx->size)) {
        char to[256];
        dagi_describe(to, sizeof to, cls, params);
        dag_graph_error(g->pool->globals, NULL, NULL, cls->line,
                        "%s is placed on rank %d, but ranks are 0 to %d", to, rank,
                        g->pool->ctx->size - 1);
        return;
    }
    if (rank != g->pool->ctx->rank)
        dagi_fanout_add(g->w->fanout, rank, edge, v->group);
}

/* Each value gets one reference per receiver; the one we hold is among them. */
HOT void share_values(struct gather *g, dag_value **values, dagi_fanout *fanout, uint32_t mask)
{
    for (uint32_t f = 0; f < g->ndata; f++) {
        if (!(mask >> f & 1) || !values[f])
            continue;
        int refs = g->refs[f] + (fanout ? dagi_fanout_refs(fanout, (int)f) : 0);
        if (refs == 0)
            dagi_value_release(g->w, values[f]);
        else if (refs > 1)
            dagi_value_retain(values[f], refs - 1);
    }
}

/* Where dagi_deps_expect() has looked up to, from an offset of the buffer on. */
static size_t expect(struct gather *g, size_t at)
{
    const dag_edge *edges[DAGI_DEPS_ROW];
    const int32_t *params[DAGI_DEPS_ROW];
    size_t ends[DAGI_DEPS_ROW];
    struct dagi_worker *w = g->w;
    int n = 0;
    while (n < DAGI_DEPS_ROW && at < w->edges_used) {
        const struct named *next = (const struct named *)(void *)(w->edges + at);
        edges[n] = next->edge;
        params[n] = next->params;
        at += (size_t)next->size;
        ends[n++] = at;
    }
    return n > 1 ? ends[dagi_deps_expect(w, g->pool, n, edges, params) - 1] : at;
}

/* Activate what was named at buffer offsets from `at` on. The ready ones: the best of all (the
 * first among equals) is returned, the others are on *rest, the last named first, so that a queue
 * that gives the youngest first runs them in the order in which they were named. */
HOT struct dag_task *activate_named(struct gather *g, size_t at, dag_value **values,
                                    const dagi_source *source, struct dag_task **rest,
                                    bool crowded, int64_t tasks)
{
    struct dagi_worker *w = g->w;
    struct dag_task *best = NULL;
    size_t end = w->edges_used, expected = at;
    while (at < end) {
        if (crowded && at >= expected)
            expected = expect(g, at);
        const struct named *n = (const struct named *)(void *)(w->edges + at);
        const dag_edge *edge = n->edge;
        at += (size_t)n->size;
        dag_value *value = edge->source_flow < g->ndata && edge->target_flow < edge->target->ndata
                               ? values[edge->source_flow]
                               : NULL;
        struct dag_task *t =
            tasks == 1 ? dagi_deps_arrive(w, g->pool, edge, n->params, value, source)
                       : dagi_deps_arrive_all(w, g->pool, edge, n->params, source, tasks);
        if (!t)
            continue;
        if (best && best->priority >= t->priority) {
            t->next = *rest;
            *rest = t;
            continue;
        }
        if (best) {
            best->next = *rest;
            *rest = best;
        }
        best = t;
    }
    dagi_deps_let_go(w);
    return best;
}

/* Name the successors of a task of this rank. In a poisoned pool the guards that look at what the
 * body computed cannot be asked; they count as false. */
static void visit(struct gather *g, struct dag_task *t, enum dag_visit_mode mode)
{
    g->visit.mode = mode;
    g->visit.edge = mode == DAG_VISIT_LOCAL ? name_local : name_rank;
    g->visit.at_producer = !dagi_pool_is_poisoned(g->pool);
    t->cls->successors(&g->visit, g->pool->globals, dagi_task_locals(t));
}

/* The common end. */
HOT void completed(struct dagi_worker *w, struct dag_task *t)
{
    dagi_task_free(w, t, t->pool->classes[t->cls->id].memory_class);
    dagi_count_one(&w->completed);
}

/* Flows of data. */
static uint32_t data_mask(const struct dag_task *t)
{
    return (UINT32_C(1) << t->cls->ndata) - 1;
}

/* ---- control held back: see struct dagi_control -------------------------------------------- */

bool dagi_control_joins(const struct dagi_worker *w, struct dag_task *t)
{
    const struct dagi_control *c = &w->control;
    if (t->pool != c->pool || t->cls != c->cls)
        return false;
    const int32_t *locals = dagi_task_locals(t);
    for (int i = 0; i < t->cls->nlocals; i++) {
        if (!(t->cls->ctl_blind >> i & 1) && locals[i] != c->locals[i])
            return false;
    }
    return true;
}

/* Flows whose outputs on this rank are told later. */
static uint32_t hold_control(struct dagi_worker *w, struct dag_task *t)
{
    struct dagi_control *c = &w->control;
    if (w->held_back++ == 0) {
        const int32_t *locals = dagi_task_locals(t);
        c->pool = t->pool;
        c->cls = t->cls;
        for (int i = 0; i < t->cls->nlocals; i++)
            c->locals[i] = locals[i];
    }
    return ~data_mask(t);
}

void dagi_control_tell(struct dagi_worker *w)
{
    struct dagi_control *c = &w->control;
    struct gather g = {.visit = {.mode = DAG_VISIT_LOCAL,
                                 .mask = ~((UINT32_C(1) << c->cls->ndata) - 1),
                                 .edge = name_local},
                       .w = w,
                       .pool = c->pool,
                       .ndata = c->cls->ndata};
    struct dag_task *rest = NULL;
    size_t mark = w->edges_used;
    c->cls->successors(&g.visit, c->pool->globals, c->locals);
    dagi_source source = {c->cls, c->locals};
    struct dag_task *best = activate_named(&g, mark, NULL, &source, &rest, false,
                                           w->held_back);
    w->edges_used = mark;
    w->held_back = 0;
    if (rest)
        dagi_ready(w, rest);
    if (!w->next) {
        w->next = best;
    } else if (best) {
        best->next = NULL;
        dagi_ready(w, best);
    }
}

/* Outputs of the flows in `held` are told later. */
HOT void complete(struct dagi_worker *w, struct dag_task *t, uint32_t held)
{
    dag_taskpool *pool = t->pool;
    const dag_class *cls = t->cls;
    dag_value **values = dag_task_flows(t);
    if (cls->stores && !dagi_pool_is_poisoned(pool))
        cls->stores(t, pool->globals);
    if (!cls->successors) {
        for (int f = 0; f < cls->ndata; f++)
            dagi_value_release(w, values[f]);
        completed(w, t);
        w->next = NULL;
        return;
    }
    struct dag_task *best, *rest = NULL;
    struct gather g;
    g.visit.dynamic = 0;
    g.visit.task = t;
    g.visit.group = 0;
    g.w = w;
    g.pool = pool;
    g.ndata = cls->ndata;
    g.failed = false;
    for (uint32_t f = 0; f < g.ndata; f++)
        g.refs[f] = 0;
    size_t mark = w->edges_used;
    dagi_fanout *fanout = NULL;
    if (w->ctx->size > 1) {
        fanout = w->fanout;
        g.visit.mask = UINT32_MAX;
        visit(&g, t, DAG_VISIT_RANKS);
    }
    g.visit.mask = ~held;
    visit(&g, t, DAG_VISIT_LOCAL);
    share_values(&g, values, fanout, UINT32_MAX);
    dagi_source source = {cls, dagi_task_locals(t)};
    if (fanout && !dagi_fanout_empty(fanout))
        dagi_comm_activate(w, t, fanout, g.visit.dynamic);
    best = activate_named(&g, mark, values, &source, &rest, false, 1);
    w->edges_used = mark;
    if (DAGI_UNLIKELY(w->special) && w->ctx->devices) {
        rest = dagi_device_filter(w, rest);
        best = dagi_device_filter(w, best);
    }
    completed(w, t);
    if (rest)
        dagi_ready(w, rest);
    w->next = best; /* dagi_task_run() is never entered with a task in w->next */
}

static __attribute__((noinline)) void complete_without_control(struct dagi_worker *w,
                                                               struct dag_task *t)
{
    complete(w, t, hold_control(w, t));
}

void dagi_task_complete(struct dagi_worker *w, struct dag_task *t)
{
    if (DAGI_UNLIKELY(t->cls->ctl_blind != 0) && w->joins)
        complete_without_control(w, t);
    else
        complete(w, t, 0);
}

/* ---- tasks on devices: completion in parts ------------------------------------------------ */

static void gather_init(struct gather *g, struct dagi_worker *w, struct dag_task *t)
{
    memset(g, 0, sizeof *g);
    g->visit.mask = UINT32_MAX;
    g->visit.task = t;
    g->w = w;
    g->pool = t->pool;
    g->ndata = t->cls->ndata;
}

uint32_t dagi_task_remote(struct dagi_worker *w, struct dag_task *t)
{
    struct gather g;
    uint32_t mask = 0;
    if (!t->cls->successors)
        return 0;
    gather_init(&g, w, t);
    visit(&g, t, DAG_VISIT_RANKS);
    for (int f = 0; f < t->cls->ndata; f++)
        mask |= (uint32_t)(dagi_fanout_refs(w->fanout, f) > 0) << f;
    dagi_fanout_clear(w->fanout);
    return mask;
}

/* A visit that looks at the first edge alone: rows are expected when their turn has come. */
struct foresight {
    dag_visit visit; /* first */
    const dag_taskpool *pool;
    struct dag_task *const *chain;
};

static void foresee_edge(dag_visit *v, const dag_edge *edge, const int32_t *params)
{
    struct foresight *s = (struct foresight *)(void *)v;
    if (!s->chain)
        s->chain = dagi_deps_chain(s->pool, edge->target, params);
}

struct dag_task *const *dagi_task_foresee(struct dagi_worker *w, struct dag_task *t)
{
    const dag_taskpool *pool = t->pool;
    /* Guards that read what the body computes cannot be asked yet. */
    if (!atomic_load_explicit(&pool->crowded, memory_order_relaxed) || !w->ctx->unlocked ||
        !t->cls->successors || pool->program->dynamic)
        return NULL;
    struct foresight s = {.visit = {.mode = DAG_VISIT_LOCAL, .mask = data_mask(t), .task = t,
                                    .edge = foresee_edge},
                          .pool = pool};
    t->cls->successors(&s.visit, pool->globals, dagi_task_locals(t));
    return s.chain;
}

/* Tell those on this rank that are named by flows in `mask`. */
static void tell_local(struct gather *g, struct dag_task *t, uint32_t mask, uint32_t keep)
{
    struct dagi_worker *w = g->w;
    dag_value **values = dag_task_flows(t);
    struct dag_task *rest = NULL;
    size_t mark = w->edges_used;
    g->visit.mask = mask;
    if (t->cls->successors)
        visit(g, t, DAG_VISIT_LOCAL);
    for (uint32_t f = 0; f < g->ndata; f++)
        g->refs[f] += (int32_t)(keep >> f & 1);
    share_values(g, values, NULL, mask);
    dagi_source source = {t->cls, dagi_task_locals(t)};
    bool crowded = atomic_load_explicit(&g->pool->crowded, memory_order_relaxed);
    struct dag_task *best = crowded ? activate_named(g, mark, values, &source, &rest, true, 1)
                                    : activate_named(g, mark, values, &source, &rest, false, 1);
    w->edges_used = mark;
    for (uint32_t f = 0; f < g->ndata; f++) {
        if (mask >> f & ~(keep >> f) & 1)
            values[f] = NULL;
    }
    if (best) { /* last in, first out */
        struct dag_task **link = &rest;
        while (*link)
            link = &(*link)->next;
        *link = best;
    }
    rest = dagi_device_filter(w, rest);
    if (rest)
        dagi_ready(w, rest);
}

void dagi_task_release(struct dagi_worker *w, struct dag_task *t, uint32_t keep)
{
    struct gather g;
    gather_init(&g, w, t);
    tell_local(&g, t, data_mask(t), keep);
}

/* Whose tasks are counted. */
static void count_for(struct dagi_worker *w, dag_taskpool *pool)
{
    if (pool == w->count_pool)
        return;
    dagi_flush(w);
    w->count_pool = pool;
}

void dagi_task_send(struct dagi_worker *w, struct dag_task *t)
{
    struct gather g;
    dag_value **values = dag_task_flows(t);
    if (!t->cls->successors)
        return;
    gather_init(&g, w, t);
    visit(&g, t, DAG_VISIT_RANKS);
    for (uint32_t f = 0; f < g.ndata; f++) {
        int refs = values[f] ? dagi_fanout_refs(w->fanout, (int)f) : 0;
        if (refs > 0)
            dagi_value_retain(values[f], refs);
    }
    if (!dagi_fanout_empty(w->fanout))
        dagi_comm_activate(w, t, w->fanout, g.visit.dynamic);
}

void dagi_task_retire(struct dagi_worker *w, struct dag_task *t, int sent)
{
    dag_taskpool *pool = t->pool;
    const dag_class *cls = t->cls;
    struct gather g;
    dagi_fanout *fanout = NULL;
    count_for(w, pool);
    gather_init(&g, w, t);
    if (w->ctx->size > 1 && cls->successors && !sent) {
        fanout = w->fanout;
        visit(&g, t, DAG_VISIT_RANKS);
    }
    share_values(&g, dag_task_flows(t), fanout, data_mask(t));
    if (fanout && !dagi_fanout_empty(fanout))
        dagi_comm_activate(w, t, fanout, g.visit.dynamic);
    if (cls->nflows > cls->ndata)
        tell_local(&g, t, ~data_mask(t), 0);
    dagi_task_free(w, t, pool->classes[cls->id].memory_class);
    dagi_count_one(&w->completed);
}

void dagi_task_complete_here(struct dagi_worker *w, struct dag_task *t)
{
    struct dag_task *before = w->next;
    count_for(w, t->pool);
    t->owner = w;
    dagi_task_complete(w, t);
    struct dag_task *next = w->next;
    w->next = before;
    if (next) {
        next->next = NULL;
        dagi_ready(w, next);
    }
}

/* Each task has had all inputs that it declares, so some edge leads to a task a second time; as the
 * end may have been told to the application, it cannot become a status. */
void dagi_deliver_late(const dag_taskpool *pool, const dag_class *cls, const int32_t *params)
{
    char name[256];
    dagi_describe(name, sizeof name, cls, params);
    fprintf(stderr, "dag: rank %d: %s:%d: %s, which ran on another rank, sends to a task that had "
            "all its inputs and has run: an edge that its target does not declare. The pool has "
            "ended here; the job ends now\n", pool->ctx->rank, pool->program->file, cls->line,
            name);
    abort();
}

/* Of no matter in a pool that has failed. */
static void check_late(const dag_taskpool *pool, const dag_class *cls, const int32_t *params)
{
    if (!dagi_pool_is_poisoned(pool))
        dagi_deliver_late(pool, cls, params);
}

void dagi_deliver(struct dagi_worker *w, dag_taskpool *pool, const dag_class *cls,
                  const int32_t *params, uint32_t mask, uint64_t dynamic, int poison,
                  dag_value **values)
{
    struct gather g = {.visit = {.mode = DAG_VISIT_LOCAL,
                                 .mask = mask,
                                 .dynamic = dynamic,
                                 .edge = name_local},
                       .w = w,
                       .pool = pool,
                       .ndata = cls->ndata};
    int32_t locals[DAG_MAX_LOCALS];
    dagi_source_task before = {0};
    dagi_activate(w);
    if (DAGI_TRACK(w)) {
        uint64_t path, from;
        dagi_comm_delivering(pool->ctx, &path, &from);
        before = dagi_trace_deliver(DAGI_TRACK(w), from, path);
    }
    if (poison)
        atomic_store_explicit(&pool->poisoned, 1, memory_order_relaxed);
    for (int i = 0; i < cls->nparams; i++)
        locals[i] = params[i];
    size_t mark = w->edges_used;
    if (DAGI_UNLIKELY(w->ctx->settings.lose) &&
        ++w->ctx->workers[0]->lost == w->ctx->settings.lose)
        dagi_warn(pool->ctx, "%s: a message of class %s is dropped, as the setting 'lose' says",
                  pool->program->file, cls->name);
    else if (atomic_load(&pool->state) >= DAGI_POOL_LOCAL)
        check_late(pool, cls, params);
    else if (!cls->locals(pool->globals, locals))
        dag_graph_error(pool->globals, cls, params, cls->line,
                        "another rank ran this instance, which does not exist here");
    else
        cls->successors(&g.visit, pool->globals, locals);
    share_values(&g, values, NULL, mask);
    dagi_source source = {cls, locals};
    struct dag_task *rest = NULL;
    struct dag_task *best = activate_named(&g, mark, values, &source, &rest, false, 1);
    w->edges_used = mark;
    if (DAGI_TRACK(w))
        DAGI_TRACK(w)->origin = before;
    struct dag_task **link = &rest;
    while (*link)
        link = &(*link)->next;
    *link = best; /* last in, first out */
    /* A pool that waits for its turn keeps them. */
    for (link = &rest; *link;) {
        struct dag_task *t = *link;
        struct dag_task *next = t->next;
        if (atomic_load(&pool->state) == DAGI_POOL_QUEUED && dagi_pool_keep_early(pool, t))
            *link = next;
        else
            link = &t->next;
    }
    if (w->ctx->devices && atomic_load(&pool->state) != DAGI_POOL_QUEUED)
        rest = dagi_device_filter(w, rest);
    if (rest)
        dagi_ready(w, rest);
}

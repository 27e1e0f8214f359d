/* Enumeration of tasks and their edges. */
#include "concrete.h"

#include <stdlib.h>
#include <string.h>

/* About a second. */
enum { MAX_STEPS = 100000000 };

typedef bool step_fn(concrete_env *env, void *arg);

/* ---- loops ---------------------------------------------------------------------------------- */

typedef struct range {
    int64_t lo, hi, step;
} range;

static bool eval_range(concrete_env *env, const ast_expr *lo, const ast_expr *hi,
                       const ast_expr *step, range *r)
{
    r->step = 1;
    if (!concrete_eval(env, lo, &r->lo))
        return false;
    r->hi = r->lo;
    if (!hi)
        return true;
    if (!concrete_eval(env, hi, &r->hi) || (step && !concrete_eval(env, step, &r->step)))
        return false;
    if (r->step == 0 && !env->graph->failed) {
        env->graph->failed = "a step of 0";
        env->graph->failure.at = step->node.range;
    }
    return r->step != 0;
}

static bool in_range(const range *r, int64_t x)
{
    return r->step > 0 ? x <= r->hi : x >= r->hi;
}

/* The value behind *x; false at the end of the range, of 64 bits, or of the work allowed. */
static bool advance(concrete_graph *g, const range *r, int64_t *x)
{
    if (++g->steps > MAX_STEPS && !g->failed)
        g->failed = "the graph is too large to be enumerated";
    return !g->failed && !__builtin_add_overflow(*x, r->step, x) && in_range(r, *x);
}

/* Runs `then` for each tuple of an index list. */
static bool each_index(concrete_env *env, const ast_indices *list, size_t i, step_fn *then,
                       void *arg)
{
    if (!list || i == list->n)
        return then(env, arg);
    const ast_index *item = list->items[i];
    range r;
    if (!eval_range(env, item->lo, item->hi, item->step, &r))
        return false;
    if (env->n_indices == UTIL_COUNT(env->indices)) {
        env->graph->failed = "too many local indices";
        return false;
    }
    size_t slot = env->n_indices++;
    bool ok = true;
    int64_t x = r.lo;
    bool more = in_range(&r, x);
    while (more && ok) {
        env->indices[slot].index = item;
        env->indices[slot].value = x;
        ok = each_index(env, list, i + 1, then, arg);
        more = advance(env->graph, &r, &x);
    }
    env->n_indices--;
    return ok && !env->graph->failed;
}

/* Runs `then` for each value of v, which is put into *slot. */
typedef struct value_loop {
    const ast_value *v;
    int64_t *slot;
    step_fn *then;
    void *arg;
} value_loop;

static bool value_step(concrete_env *env, void *arg)
{
    const value_loop *l = arg;
    range r;
    if (!eval_range(env, l->v->lo, l->v->hi, l->v->step, &r))
        return false;
    int64_t x = r.lo;
    for (bool more = in_range(&r, x); more; more = advance(env->graph, &r, &x)) {
        *l->slot = x;
        if (!l->then(env, l->arg))
            return false;
    }
    return !env->graph->failed;
}

static bool each_value(concrete_env *env, const ast_value *v, int64_t *slot, step_fn *then,
                       void *arg)
{
    value_loop l = {v, slot, then, arg};
    return each_index(env, v->indices, 0, value_step, &l);
}

/* ---- storage --------------------------------------------------------------------------------- */

/* There is memory behind tasks without parameters, too. */
static uint32_t add_values(concrete_graph *g, const int64_t *at, size_t n)
{
    if (g->n_values + n > g->cap_values || !g->values) {
        g->cap_values = 2 * g->cap_values + n + 1024;
        g->values = util_realloc(g->values, g->cap_values * sizeof(*g->values));
    }
    if (n)
        memcpy(g->values + g->n_values, at, n * sizeof(*at));
    g->n_values += n;
    return (uint32_t)(g->n_values - n);
}

static size_t hash_of(const concrete_graph *g, uint32_t cls, const int64_t *at)
{
    uint64_t h = cls * 0x9e3779b97f4a7c15u + 1;
    for (size_t i = 0; i < g->sema->classes[cls].n_params; i++)
        h = (h ^ (uint64_t)at[i]) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
    return (size_t)(h & (g->hash.size - 1));
}

const int64_t *concrete_at(const concrete_graph *g, uint32_t task)
{
    return g->values + g->tasks[task].first_value;
}

static uint32_t *find_slot(const concrete_graph *g, uint32_t cls, const int64_t *at)
{
    size_t bytes = g->sema->classes[cls].n_params * sizeof(*at);
    for (size_t i = hash_of(g, cls, at);; i = (i + 1) & (g->hash.size - 1)) {
        uint32_t entry = g->hash.slots[i];
        if (entry == 0 || (g->tasks[entry - 1].cls == cls &&
                           memcmp(concrete_at(g, entry - 1), at, bytes) == 0))
            return &g->hash.slots[i];
    }
}

static uint32_t find(const concrete_graph *g, uint32_t cls, const int64_t *at)
{
    uint32_t entry = g->hash.size ? *find_slot(g, cls, at) : 0;
    return entry ? entry - 1 : CONCRETE_NONE;
}

static void grow_hash(concrete_graph *g)
{
    g->hash.size = g->hash.size ? 2 * g->hash.size : 1024;
    free(g->hash.slots);
    g->hash.slots = util_alloc(g->hash.size * sizeof(*g->hash.slots));
    for (size_t i = 0; i < g->n_tasks; i++)
        *find_slot(g, g->tasks[i].cls, concrete_at(g, (uint32_t)i)) = (uint32_t)i + 1;
}

static bool too_large(concrete_graph *g)
{
    if (!g->failed) {
        g->failed = "the graph is too large to be enumerated";
        g->failure.at = (src_range){0};
    }
    return false;
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static bool add_task(concrete_env *env)
{
    concrete_graph *g = env->graph;
    const sema_class *cls = env->cls;
    int64_t at[64];
    for (size_t i = 0; i < cls->n_params && i < UTIL_COUNT(at); i++)
        at[i] = env->locals[cls->params[i]->index];
    if (g->n_tasks == g->max_tasks || cls->n_params > UTIL_COUNT(at))
        return too_large(g);
    if (2 * (g->n_tasks + 1) > g->hash.size)
        grow_hash(g);
    uint32_t *slot = find_slot(g, cls->index, at);
    if (*slot)
        return true;            /* two values of a local give one task */
    if (g->n_tasks == g->cap_tasks) {
        g->cap_tasks = 2 * g->cap_tasks + 256;
        g->tasks = util_realloc(g->tasks, g->cap_tasks * sizeof(*g->tasks));
    }
    g->tasks[g->n_tasks] = (concrete_task){
        .cls = cls->index, .first_value = add_values(g, at, cls->n_params)};
    *slot = (uint32_t)++g->n_tasks;
    g->class_count[cls->index]++;
    return true;
}

static bool next_local(concrete_env *env, void *arg)
{
    size_t i = (size_t)(uintptr_t)arg;
    if (i == env->cls->n_locals)
        return add_task(env);
    return each_value(env, env->cls->locals[i].ast->value, &env->locals[i], next_local,
                      (void *)(uintptr_t)(i + 1));
}

/* ---- edges ----------------------------------------------------------------------------------- */

typedef struct edge_walk {
    uint32_t task;
    const sema_edge *edge;
    size_t next;                /* argument to be chosen next */
    int64_t at[64];
} edge_walk;

static bool add_ref(concrete_graph *g, const edge_walk *w)
{
    size_t n = w->edge->call->n_args;
    if (g->n_refs == g->max_refs)
        return too_large(g);
    if (g->n_refs == g->cap_refs) {
        g->cap_refs = 2 * g->cap_refs + 256;
        g->refs = util_realloc(g->refs, g->cap_refs * sizeof(*g->refs));
    }
    concrete_ref *r = &g->refs[g->n_refs++];
    *r = (concrete_ref){.task = w->task, .target = CONCRETE_NONE, .edge = w->edge};
    r->first_value = add_values(g, w->at, n);
    if (w->edge->end == SEMA_END_TASK)
        r->target = find(g, w->edge->target_class->index, w->at);
    g->tasks[w->task].n_refs++;
    return true;
}

static bool next_argument(concrete_env *env, void *arg)
{
    edge_walk *w = arg;
    const ast_call *call = w->edge->call;
    size_t i = w->next;
    if (i == call->n_args || i == UTIL_COUNT(w->at))
        return add_ref(env->graph, w);
    w->next = i + 1;
    bool ok = each_value(env, call->args[i], &w->at[i], next_argument, w);
    w->next = i;
    return ok;
}

static bool behind_guard(concrete_env *env, void *arg)
{
    edge_walk *w = arg;
    bool active = !w->edge->cond;
    /* What a body will have computed is not known: either way may be. */
    bool either = w->edge->dynamic && env->graph->either;
    int first = either ? 0 : -1, last = either ? 1 : -1;
    env->graph->followed = env->graph->followed || either;
    for (env->computed = first; env->computed <= last && !active; env->computed++) {
        int64_t value = 0;
        if (!concrete_eval(env, w->edge->cond, &value))
            return false;
        active = (value != 0) != w->edge->negate;
    }
    env->computed = -1;
    if (!active)
        return true;
    return each_index(env, w->edge->call->indices, 0, next_argument, w);
}

/* Values of all locals of a task; a derived local takes its (last) value. */
static bool keep_value(concrete_env *env, void *arg);

static bool set_locals(concrete_env *env, size_t from)
{
    for (size_t i = from; i < env->cls->n_locals; i++) {
        const sema_local *local = &env->cls->locals[i];
        if (local->param >= 0)
            continue;
        if (!each_value(env, local->ast->value, &env->locals[i], keep_value, NULL))
            return false;
    }
    return true;
}

static bool keep_value(concrete_env *env, void *arg)
{
    (void)env;
    (void)arg;
    return true;
}

static void load_task(concrete_env *env, uint32_t task)
{
    concrete_graph *g = env->graph;
    const int64_t *at = concrete_at(g, task);
    env->cls = &g->sema->classes[g->tasks[task].cls];
    for (size_t i = 0; i < env->cls->n_params; i++)
        env->locals[env->cls->params[i]->index] = at[i];
}

static bool add_edges(concrete_env *env, uint32_t task)
{
    concrete_graph *g = env->graph;
    load_task(env, task);
    if (!set_locals(env, 0))
        return false;
    g->tasks[task].first_ref = (uint32_t)g->n_refs;
    for (size_t f = 0; f < env->cls->n_flows; f++) {
        const sema_flow *flow = &env->cls->flows[f];
        bool taken = false;     /* parsec: the first active input of a data flow is taken */
        for (size_t e = 0; e < flow->n_edges; e++) {
            const sema_edge *edge = &flow->edges[e];
            bool choice = edge->dir == AST_IN && flow->ast->kind != AST_CTL &&
                          g->sema->dialect == DIALECT_PARSEC;
            if (choice && taken)
                continue;
            size_t before = g->n_refs;
            edge_walk w = {.task = task, .edge = edge};
            if (!each_index(env, edge->dep->indices, 0, behind_guard, &w))
                return false;
            taken = taken || (choice && g->n_refs > before);
        }
    }
    return true;
}

/* ---- the graph ------------------------------------------------------------------------------- */

static size_t most_locals(const sema_info *sema)
{
    size_t most = 1;
    for (size_t i = 0; i < sema->n_classes; i++)
        if (sema->classes[i].n_locals > most)
            most = sema->classes[i].n_locals;
    return most;
}

void concrete_begin(concrete_graph *g)
{
    g->class_count = util_alloc((g->sema->n_classes + 1) * sizeof(*g->class_count));
    g->param_of = util_alloc((g->sema->ast->node_count + 1) * sizeof(*g->param_of));
    for (uint32_t i = 0; i < g->sema->ast->node_count; i++)
        g->param_of[i] = -2;
}

void concrete_build(concrete_graph *g)
{
    concrete_begin(g);
    concrete_env env = {.graph = g, .computed = -1,
                        .locals = util_alloc(most_locals(g->sema) * sizeof(int64_t))};
    bool ok = true;
    for (size_t c = 0; ok && c < g->sema->n_classes; c++) {
        env.cls = &g->sema->classes[c];
        ok = next_local(&env, (void *)(uintptr_t)0);
    }
    for (uint32_t t = 0; ok && t < g->n_tasks; t++)
        ok = add_edges(&env, t);
    free(env.locals);
}

/* ---- single tasks ---------------------------------------------------------------------------- */

/* A search for the tuple `at` in the space of a class, local by local. */
typedef struct search {
    const int64_t *at;
    size_t next;                /* local to be looked at next */
    bool found;
} search;

static bool search_local(concrete_env *env, void *arg);

/* The parameter has one of its values: does it have the one that is looked for? */
static bool search_value(concrete_env *env, void *arg)
{
    search *s = arg;
    const sema_local *local = &env->cls->locals[s->next - 1];
    return env->locals[local->index] != s->at[local->param] || search_local(env, s);
}

/* A range is not walked to see whether it holds a value. */
static bool search_range(concrete_env *env, search *s, const sema_local *local)
{
    const ast_value *v = local->ast->value;
    int64_t want = s->at[local->param], from_lo;
    range r;
    if (!eval_range(env, v->lo, v->hi, v->step, &r))
        return false;
    bool beyond = r.step > 0 ? want < r.lo : want > r.lo;
    if (beyond || !in_range(&r, want) || __builtin_sub_overflow(want, r.lo, &from_lo) ||
        from_lo % r.step != 0)
        return true;
    env->locals[local->index] = want;
    return search_local(env, s);
}

/* Returns false to stop: it was found, or something has no value. */
static bool search_local(concrete_env *env, void *arg)
{
    search *s = arg;
    if (s->next == env->cls->n_locals) {
        s->found = true;
        return false;
    }
    const sema_local *local = &env->cls->locals[s->next++];
    bool go_on;
    if (local->param < 0)
        go_on = each_value(env, local->ast->value, &env->locals[local->index], search_local, s);
    else if (local->ast->value->indices)
        go_on = each_value(env, local->ast->value, &env->locals[local->index], search_value, s);
    else
        go_on = search_range(env, s, local);
    s->next--;
    return go_on;
}

bool concrete_exists(concrete_graph *g, const sema_class *cls, const int64_t *at)
{
    concrete_env env = {.graph = g, .cls = cls, .computed = -1,
                        .locals = util_alloc(most_locals(g->sema) * sizeof(int64_t))};
    search s = {.at = at};
    search_local(&env, &s);
    free(env.locals);
    return s.found;
}

uint32_t concrete_add(concrete_graph *g, const sema_class *cls, const int64_t *at)
{
    concrete_env env = {.graph = g, .cls = cls, .computed = -1,
                        .locals = util_alloc(most_locals(g->sema) * sizeof(int64_t))};
    for (size_t i = 0; i < cls->n_params; i++)
        env.locals[cls->params[i]->index] = at[i];
    uint32_t task = (uint32_t)g->n_tasks;
    bool ok = add_task(&env) && g->n_tasks > task && add_edges(&env, task);
    free(env.locals);
    return ok ? task : CONCRETE_NONE;
}

bool concrete_args(concrete_graph *g, uint32_t task, const ast_call *call, int64_t *at)
{
    concrete_env env = {.graph = g, .computed = -1,
                        .locals = util_alloc(most_locals(g->sema) * sizeof(int64_t))};
    load_task(&env, task);
    bool ok = set_locals(&env, 0);
    for (size_t i = 0; ok && i < call->n_args; i++)
        ok = concrete_eval(&env, call->args[i]->lo, &at[i]);
    free(env.locals);
    return ok;
}

bool concrete_value(concrete_graph *g, uint32_t task, const ast_expr *e, int64_t *value)
{
    concrete_env env = {.graph = g, .computed = -1,
                        .locals = util_alloc(most_locals(g->sema) * sizeof(int64_t))};
    load_task(&env, task);
    bool ok = set_locals(&env, 0) && concrete_eval(&env, e, value);
    free(env.locals);
    return ok;
}

void concrete_put_task(const concrete_graph *g, uint32_t task, text *out)
{
    const sema_class *cls = &g->sema->classes[g->tasks[task].cls];
    const int64_t *at = concrete_at(g, task);
    text_printf(out, "%s(", cls->name);
    for (size_t i = 0; i < cls->n_params; i++)
        text_printf(out, "%s%s=%lld", i ? ", " : "", cls->params[i]->name, (long long)at[i]);
    text_putc(out, ')');
}

void concrete_free(concrete_graph *g)
{
    free(g->tasks);
    free(g->refs);
    free(g->values);
    free(g->hash.slots);
    free(g->class_count);
    free(g->param_of);
}

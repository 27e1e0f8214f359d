/* Commands that look at the graph of given parameter values. */
#include "checks.h"
#include "exhaust.h"
#include "fact_values.h"
#include "inline.h"

#include "tree/unparse.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TASKS = 4000000, MAX_REFS = 40000000 };

/* One graph and what is needed to build it. */
typedef struct session {
    verify_model *m;
    verify_values values;
    inline_c *code;
    concrete_graph g;
} session;

static bool session_start(session *s, const ast_file *file, const sema_info *sema, diag *d,
                          const char *values, const verify_options *options,
                          bool with_flops)
{
    bool failed = false;
    *s = (session){.m = verify_lift(file, sema, d, options, NULL)};
    s->m->values_given = true;
    if (!verify_read_values(s->m, values, &s->values))
        return false;
    s->code = inline_start(s->m, &s->values, options ? options->cc : NULL, with_flops, &failed);
    if (failed)
        return false;
    s->g = (concrete_graph){.sema = sema, .model = s->m, .params = s->values.params,
                            .code = s->code ? inline_eval : NULL, .code_arg = s->code,
                            .either = true, .max_tasks = MAX_TASKS, .max_refs = MAX_REFS};
    if (s->code) {
        s->g.facts.value = fact_values_of;
        s->g.facts.seen = fact_values_new(file, inline_call, s->code);
    }
    concrete_build(&s->g);
    if (s->g.failed) {
        if (s->g.failure.fact)
            diag_report(d, verify_check(s->m, "wrong-fact"), s->g.failure.at, "%s", s->g.failed);
        else if (!inline_died(s->code))
            diag_report(d, verify_check(s->m, "values"), s->g.failure.at,
                        "the tasks cannot be enumerated: %s", s->g.failed);
        return false;
    }
    return true;
}

static void session_end(session *s)
{
    inline_stop(s->code);
    fact_values_free(s->g.facts.seen);
    concrete_free(&s->g);
    verify_model_free(s->m);
}

bool verify_enumerate(const ast_file *file, const sema_info *sema, diag *d, const char *values,
                      const verify_options *options)
{
    session s;
    unsigned errors = diag_errors(d);
    if (session_start(&s, file, sema, d, values, options, false)) {
        exhaust x = {.m = s.m, .g = &s.g, .values = &s.values};
        exhaust_check(&x);
        if (s.g.failure.fact)   /* in a placement, which is looked at there */
            diag_report(d, verify_check(s.m, "wrong-fact"), s.g.failure.at, "%s", s.g.failed);
    }
    session_end(&s);
    return diag_errors(d) == errors;
}

/* ---- critical path --------------------------------------------------------------------------- */

typedef struct path {
    size_t tasks;
    double flops;
} path;

static double flops_of(session *s, uint32_t task)
{
    const sema_class *cls = &s->m->sema->classes[s->g.tasks[task].cls];
    int64_t value = 0;
    return cls->flops && concrete_value(&s->g, task, cls->flops, &value) ? (double)value : 0;
}

/* Longest chains that end with each task, in an order given by the inputs. False: a circle. */
static bool longest(session *s, path *best)
{
    concrete_graph *g = &s->g;
    uint32_t *pending = util_alloc((g->n_tasks + 1) * sizeof(*pending));
    uint32_t *first = util_alloc((g->n_tasks + 2) * sizeof(*first));
    uint32_t *next = util_alloc((g->n_refs + 1) * sizeof(*next));
    uint32_t *queue = util_alloc((g->n_tasks + 1) * sizeof(*queue));
    path *at = util_alloc((g->n_tasks + 1) * sizeof(*at));
    size_t head = 0, tail = 0;
    for (uint32_t i = 0; i < g->n_refs; i++) {          /* lists of readers: first[t] -> next[] */
        const concrete_ref *r = &g->refs[i];
        if (r->edge->dir != AST_IN || r->target == CONCRETE_NONE)
            continue;
        pending[r->task]++;
        next[i] = first[r->target];
        first[r->target] = i + 1;
    }
    for (uint32_t t = 0; t < g->n_tasks; t++)
        if (pending[t] == 0)
            queue[tail++] = t;
    *best = (path){0};
    while (head < tail) {
        uint32_t t = queue[head++];
        at[t].tasks++;
        at[t].flops += flops_of(s, t);
        best->tasks = at[t].tasks > best->tasks ? at[t].tasks : best->tasks;
        best->flops = at[t].flops > best->flops ? at[t].flops : best->flops;
        for (uint32_t i = first[t]; i; i = next[i - 1]) {
            uint32_t u = g->refs[i - 1].task;
            at[u].tasks = at[t].tasks > at[u].tasks ? at[t].tasks : at[u].tasks;
            at[u].flops = at[t].flops > at[u].flops ? at[t].flops : at[u].flops;
            if (--pending[u] == 0)
                queue[tail++] = u;
        }
    }
    bool all = tail == g->n_tasks;
    free(pending);
    free(first);
    free(next);
    free(queue);
    free(at);
    return all;
}

/* ---- counting -------------------------------------------------------------------------------- */

static int64_t elem_bytes(const char *elem)
{
    static const struct { const char *name; int64_t bytes; } sizes[] = {
        {"float", 4}, {"int", 4}, {"int32_t", 4}, {"float _Complex", 8}, {"double _Complex", 16},
    };
    for (size_t i = 0; elem && i < UTIL_COUNT(sizes); i++)
        if (strcmp(sizes[i].name, elem) == 0)
            return sizes[i].bytes;
    return 8;                   /* double; elem_t is counted as one */
}

/* Bytes of a value of the flow: a whole tile of the matrix it derives from; 0 if not known. */
static int64_t flow_bytes(const session *s, const sema_flow *flow)
{
    int64_t bytes = elem_bytes(flow->type.elem);
    static const char *const fields[] = {"mb", "nb"};
    if (!flow->type.of || flow->type.kind != SEMA_TYPE_TILE)
        return 0;
    for (size_t f = 0; f < UTIL_COUNT(fields); f++) {
        int64_t size = 2;
        for (size_t i = 0; i < s->m->poly.n_params; i++)
            if (s->m->poly.params[i].root == flow->type.of && s->m->poly.params[i].field &&
                strcmp(s->m->poly.params[i].field, fields[f]) == 0)
                size = s->values.params[i];
        bytes *= size;
    }
    return bytes;
}

typedef struct totals {
    size_t task_edges, loads, stores, sends;
    int64_t n_ranks;
    int64_t *bytes;             /* n_ranks x n_ranks, from x to; a value counts once per receiver */
    bool *sent;                 /* scratch: ranks that have the value of the current flow */
} totals;

static void count_edges(session *s, totals *t)
{
    exhaust x = {.m = s->m, .g = &s->g, .values = &s->values};
    const sema_flow *flow = NULL;
    uint32_t task = CONCRETE_NONE;
    int64_t from = -1;
    for (size_t i = 0; i < s->g.n_refs; i++) {
        const concrete_ref *r = &s->g.refs[i];
        if (r->edge->end == SEMA_END_MEMORY)
            ++*(r->edge->dir == AST_IN ? &t->loads : &t->stores);
        if (r->edge->end != SEMA_END_TASK || r->edge->dir == AST_IN || r->target == CONCRETE_NONE)
            continue;
        t->task_edges++;
        if (task != r->task) {
            task = r->task;
            from = exhaust_rank(&x, task);
            flow = NULL;
        }
        if (flow != r->edge->flow) {
            flow = r->edge->flow;
            memset(t->sent, 0, (size_t)t->n_ranks);
        }
        int64_t to = from < 0 ? -1 : exhaust_rank(&x, r->target);
        if (to < 0 || to == from || t->sent[to])
            continue;
        t->sent[to] = true;
        t->sends++;
        t->bytes[from * t->n_ranks + to] += flow_bytes(s, flow);
    }
}

static void put_text(session *s, const totals *t, const path *p, bool acyclic, text *out)
{
    if (s->m->sema->rounds) {
        text bound = {0};
        unparse_expr(s->m->sema->ast, s->m->sema->rounds, &bound);
        text_printf(out, "in one round, of %s at most\n\n", text_str(&bound));
        text_free(&bound);
    }
    text_printf(out, "%-24s %12s\n", "class", "tasks");
    for (size_t i = 0; i < s->m->n_classes; i++)
        text_printf(out, "%-24s %12u\n", s->m->sema->classes[i].name, s->g.class_count[i]);
    text_printf(out, "%-24s %12zu\n\n", "total", s->g.n_tasks);
    text_printf(out, "%-24s %12zu\n%-24s %12zu\n%-24s %12zu\n", "edges between tasks",
                t->task_edges, "reads from memory", t->loads, "stores to memory", t->stores);
    text_printf(out, "%-24s %12zu\n", "sends between ranks", t->sends);
    if (acyclic)
        text_printf(out, "%-24s %12zu\n%-24s %12.6g\n", "critical path, tasks", p->tasks,
                    "critical path, flops", p->flops);
    else
        text_puts(out, "no critical path: tasks wait for each other in a circle\n");
    for (int64_t a = 0; a < t->n_ranks; a++)
        for (int64_t b = 0; b < t->n_ranks; b++)
            if (t->bytes[a * t->n_ranks + b])
                text_printf(out, "bytes from rank %lld to %lld %12lld\n", (long long)a,
                            (long long)b, (long long)t->bytes[a * t->n_ranks + b]);
}

static void put_json(session *s, const totals *t, const path *p, bool acyclic, text *out)
{
    text_puts(out, "{\"tasks\": {");
    for (size_t i = 0; i < s->m->n_classes; i++)
        text_printf(out, "%s\"%s\": %u", i ? ", " : "", s->m->sema->classes[i].name,
                    s->g.class_count[i]);
    text_printf(out, "}, \"total\": %zu, \"edges\": %zu, \"reads\": %zu, \"stores\": %zu, "
                "\"sends\": %zu, \"acyclic\": %s, \"path_tasks\": %zu, \"path_flops\": %.17g, "
                "\"bytes\": [", s->g.n_tasks, t->task_edges, t->loads, t->stores, t->sends,
                acyclic ? "true" : "false", p->tasks, p->flops);
    for (int64_t a = 0; a < t->n_ranks; a++) {
        text_printf(out, "%s[", a ? ", " : "");
        for (int64_t b = 0; b < t->n_ranks; b++)
            text_printf(out, "%s%lld", b ? ", " : "", (long long)t->bytes[a * t->n_ranks + b]);
        text_puts(out, "]");
    }
    text_puts(out, "]}\n");
}

bool verify_count(const ast_file *file, const sema_info *sema, diag *d, const char *values,
                  const verify_options *options, bool json, text *out)
{
    session s;
    unsigned errors = diag_errors(d);
    if (session_start(&s, file, sema, d, values, options, true)) {
        totals t = {.n_ranks = s.values.p * s.values.q};
        t.bytes = util_alloc((size_t)(t.n_ranks * t.n_ranks) * sizeof(*t.bytes));
        t.sent = util_alloc((size_t)t.n_ranks);
        path p;
        bool acyclic = longest(&s, &p);
        count_edges(&s, &t);
        (json ? put_json : put_text)(&s, &t, &p, acyclic, out);
        free(t.bytes);
        free(t.sent);
    }
    session_end(&s);
    return diag_errors(d) == errors;
}

/* ---- drawing --------------------------------------------------------------------------------- */

bool verify_dot(const ast_file *file, const sema_info *sema, diag *d, const char *values,
                const verify_options *options, text *out)
{
    session s;
    unsigned errors = diag_errors(d);
    if (session_start(&s, file, sema, d, values, options, false)) {
        text_puts(out, "digraph tasks {\n    node [shape = box, style = filled, "
                       "fillcolor = white, colorscheme = set312];\n");
        for (uint32_t t = 0; t < s.g.n_tasks; t++) {
            text name = {0};
            concrete_put_task(&s.g, t, &name);
            text_printf(out, "    t%u [label = \"%s\", fillcolor = %u];\n", t, text_str(&name),
                        1 + s.g.tasks[t].cls % 12);
            text_free(&name);
        }
        for (size_t i = 0; i < s.g.n_refs; i++) {
            const concrete_ref *r = &s.g.refs[i];
            if (r->edge->end == SEMA_END_TASK && r->edge->dir == AST_OUT &&
                r->target != CONCRETE_NONE)
                text_printf(out, "    t%u -> t%u [label = \"%s\"%s];\n", r->task, r->target,
                            r->edge->flow->name,
                            r->edge->flow->ast->kind == AST_CTL ? ", style = dashed" : "");
        }
        text_puts(out, "}\n");
    }
    session_end(&s);
    return diag_errors(d) == errors;
}

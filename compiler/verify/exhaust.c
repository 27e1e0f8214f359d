/* The checks on the graph of given parameter values, task by task. */
#include "exhaust.h"

#include "order.h"

#include <stdlib.h>

/* ---- reporting ------------------------------------------------------------------------------- */

static src_range place_of(const sema_edge *e)
{
    return e->call->node.range;
}

/* Is this the first report of the check for the call? */
static bool fresh_call(exhaust *x, const ast_call *call, int check)
{
    uint16_t *seen = &x->seen[call->node.id];
    bool first = !(*seen & (1 << check));
    *seen |= (uint16_t)(1 << check);
    return first;
}

static bool fresh(exhaust *x, const sema_edge *e, int check)
{
    return fresh_call(x, e->call, check);
}

enum { SPACE, BOUNDS, REMOTE, MATCH, TWICE, GAP, OVERLAP, NULLS, RACE, SHAPE };

static const char *task_text(const exhaust *x, uint32_t t)
{
    text name = {0};
    concrete_put_task(x->g, t, &name);
    return text_take(&name, x->m->arena);
}

static const char *target_text(const exhaust *x, const concrete_ref *r)
{
    return verify_tuple(x->m, r->edge->call->target.text, x->g->values + r->first_value, r->edge->call->n_args);
}

static void finish(exhaust *x)
{
    verify_witness w = {.params = x->values->params, .shown = util_alloc(x->m->poly.n_params + 1)};
    for (size_t i = 0; i < x->m->poly.n_params; i++) {
        const poly_param *p = &x->m->poly.params[i];
        bool unknown = p->aside && p->field && w.params[i] == VERIFY_UNKNOWN_SIZE;
        w.shown[i] = (p->field || !p->root->init) && !unknown;
    }
    verify_report_end(x->m, x->m->facts, &w);
    free(w.shown);
}

UTIL_PRINTF(5, 6)
static bool say(exhaust *x, const char *check, src_range where, verify_weight weight,
                const char *fmt, ...)
{
    text t = {0};
    TEXT_PRINT_ARGUMENTS(&t, fmt);
    bool reported = verify_report(x->m, check, where, x->m->facts, weight, "%s", text_str(&t));
    text_free(&t);
    return reported;
}

/* ---- targets --------------------------------------------------------------------------------- */

static void check_space(exhaust *x, const concrete_ref *r)
{
    bool may_not_be = r->edge->dynamic && r->edge->dir == AST_OUT;
    if (r->edge->end != SEMA_END_TASK || r->target != CONCRETE_NONE || may_not_be ||
        !fresh(x, r->edge, SPACE))
        return;
    bool sends = r->edge->dir == AST_OUT;
    if (sends ? say(x, "out-of-space", place_of(r->edge), VERIFY_LAX,
                    "%s sends %s to %s, which does not exist", task_text(x, r->task),
                    r->edge->flow->name, target_text(x, r))
              : say(x, "out-of-space", place_of(r->edge), VERIFY_GRAVE,
                    "%s.%s waits for %s, which does not exist", task_text(x, r->task),
                    r->edge->flow->name, target_text(x, r)))
        finish(x);
}

static int64_t size_of(const exhaust *x, const sema_global *g, const char *field)
{
    int pos = lift_find_size(&x->m->poly, g, field);
    return pos >= 0 ? x->values->params[pos] : INT64_MAX;
}

/* Is A(at) outside of the matrix or vector? Nothing is known about other collections. */
static bool is_outside(const exhaust *x, const sema_global *g, const int64_t *at, size_t n)
{
    int64_t count = verify_is_vector(g, n) ? size_of(x, g, "count") : INT64_MAX;
    if (n == 1)
        return verify_is_vector(g, n) &&
               (at[0] < 0 || (count != VERIFY_UNKNOWN_SIZE && at[0] >= count));
    return n == 2 && g && g->kind != SEMA_COLLECTION && verify_rank_of(x->values, g, at, 2) >= -1 &&
           (at[0] < 0 || at[1] < 0 || at[0] >= size_of(x, g, "mt") ||
            at[1] >= size_of(x, g, "nt"));
}

static void check_placement(exhaust *x, uint32_t t)
{
    const sema_class *cls = &x->m->sema->classes[x->g->tasks[t].cls];
    const ast_call *call = cls->ast->placement;
    int64_t at[16] = {0};
    if (call->n_args > UTIL_COUNT(at) || !concrete_args(x->g, t, call, at) ||
        !is_outside(x, cls->placement, at, call->n_args) || !fresh_call(x, call, BOUNDS))
        return;
    if (say(x, "out-of-bounds", call->node.range, VERIFY_GRAVE,
            "%s is placed at %s, which is outside '%s'", task_text(x, t),
            verify_tuple(x->m, cls->placement->name, at, call->n_args), cls->placement->name))
        finish(x);
}

static void check_memory(exhaust *x, const concrete_ref *r)
{
    const sema_edge *e = r->edge;
    if (e->end != SEMA_END_MEMORY)
        return;
    const int64_t *at = x->g->values + r->first_value;
    const char *verb = e->dir == AST_IN ? "reads" : "is stored to";
    bool outside = is_outside(x, e->target, at, e->call->n_args);
    if (outside && fresh(x, e, BOUNDS) &&
        say(x, "out-of-bounds", place_of(e), VERIFY_GRAVE, "%s.%s %s %s, which is outside '%s'",
            task_text(x, r->task), e->flow->name, verb, target_text(x, r), e->target->name))
        finish(x);
    int64_t there = outside ? -1 : verify_rank_of(x->values, e->target, at, e->call->n_args);
    int64_t here = there < 0 ? -1 : exhaust_rank(x, r->task);
    if (here >= 0 && here != there && fresh(x, e, REMOTE) &&
        say(x, "remote-memory", place_of(e), VERIFY_GRAVE,
            "%s.%s %s %s, which is on rank %lld; the task runs on rank %lld", task_text(x, r->task),
            e->flow->name, verb, target_text(x, r), (long long)there, (long long)here))
        finish(x);
}

int64_t exhaust_rank(exhaust *x, uint32_t task)
{
    const sema_class *cls = &x->m->sema->classes[x->g->tasks[task].cls];
    int64_t at[16] = {0};
    if (cls->ast->placement->n_args > UTIL_COUNT(at) ||
        !concrete_args(x->g, task, cls->ast->placement, at))
        return -1;
    return verify_rank_of(x->values, cls->placement, at, cls->ast->placement->n_args);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static void report_gap(exhaust *x, uint32_t t, const sema_flow *flow)
{
    if (fresh(x, &flow->edges[0], GAP) &&
        say(x, "input-gap", flow->ast->name.range, VERIFY_GRAVE, "%s.%s has no input",
            task_text(x, t), flow->name))
        finish(x);
}

static void report_overlap(exhaust *x, uint32_t t, const sema_edge *a, const sema_edge *b)
{
    if (fresh(x, b, OVERLAP) &&
        say(x, "input-overlap", b->dep->node.range, VERIFY_GRAVE, "%s.%s has two inputs",
            task_text(x, t), b->flow->name)) {
        diag_note(x->m->d, a->dep->node.range, "the first one is here");
        finish(x);
    }
}

static void report_null(exhaust *x, uint32_t t, const sema_edge *null, const sema_edge *out)
{
    if (fresh(x, out, NULLS) &&
        say(x, "null-forward", out->dep->node.range, VERIFY_GRAVE, "%s.%s is NULL and is %s '%s'",
            task_text(x, t), out->flow->name,
            out->end == SEMA_END_MEMORY ? "stored to" : "sent to", out->call->target.text)) {
        diag_note(x->m->d, null->call->node.range, "it becomes NULL here");
        finish(x);
    }
}

static void report_shapeless(exhaust *x, uint32_t t, const sema_flow *flow)
{
    if (flow->n_edges > 0 && fresh(x, &flow->edges[0], SHAPE) &&
        say(x, "untyped-buffer", flow->ast->name.range, VERIFY_GRAVE,
            "the buffer of %s.%s has no shape: it is stored nowhere, and no [type] says what it "
            "looks like", task_text(x, t), flow->name))
        finish(x);
}

static void check_flow(exhaust *x, uint32_t t, const sema_flow *flow)
{
    const concrete_task *task = &x->g->tasks[t];
    const concrete_ref *in = NULL, *out = NULL;
    bool has_inputs = false, shaped = false, fresh_one = verify_is_fresh(flow, NULL);
    for (size_t i = 0; i < flow->n_edges; i++)
        has_inputs = has_inputs || flow->edges[i].dir == AST_IN;
    for (uint32_t i = task->first_ref; i < task->first_ref + task->n_refs; i++) {
        const concrete_ref *r = &x->g->refs[i];
        if (r->edge->flow != flow)
            continue;
        shaped = shaped || verify_gives_shape(r->edge);
        fresh_one = fresh_one || verify_is_fresh(flow, r->edge);
        if (r->edge->dir == AST_OUT)
            out = out ? out : r;
        else if (in && !(in->edge->dynamic && r->edge->dynamic)) /* those are alternatives */
            report_overlap(x, t, in->edge, r->edge);
        else
            in = r;
    }
    if (fresh_one && !shaped && verify_wants(x->m, "untyped-buffer"))
        report_shapeless(x, t, flow);
    if (!in && has_inputs && flow->ast->kind != AST_WRITE)
        report_gap(x, t, flow);
    if (in && out && in->edge->end == SEMA_END_NULL)
        report_null(x, t, in->edge, out->edge);
}

/* ---- both ends of edges ---------------------------------------------------------------------- */

typedef struct arc {
    uint32_t from, to;
    const sema_flow *from_flow, *to_flow;
    const concrete_ref *ref;
} arc;

static int compare_arcs(const void *pa, const void *pb)
{
    const arc *a = pa, *b = pb;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    if (a->from_flow != b->from_flow)
        return a->from_flow < b->from_flow ? -1 : 1;
    if (a->to_flow != b->to_flow)
        return a->to_flow < b->to_flow ? -1 : 1;
    return 0;
}

static size_t collect_arcs(const concrete_graph *g, ast_dir dir, arc *arcs)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n_refs; i++) {
        const concrete_ref *r = &g->refs[i];
        if (r->edge->end != SEMA_END_TASK || r->edge->dir != dir || r->target == CONCRETE_NONE)
            continue;
        arcs[n++] = dir == AST_OUT
                        ? (arc){r->task, r->target, r->edge->flow, r->edge->target_flow, r}
                        : (arc){r->target, r->task, r->edge->target_flow, r->edge->flow, r};
    }
    qsort(arcs, n, sizeof(*arcs), compare_arcs);
    return n;
}

static void report_twice(exhaust *x, const arc *a, const arc *b)
{
    bool out = b->ref->edge->dir == AST_OUT;
    bool data = b->to_flow->ast->kind != AST_CTL;
    if ((out || !data) && fresh(x, b->ref->edge, TWICE) &&
        (out ? say(x, "duplicate-edge", place_of(b->ref->edge), VERIFY_GRAVE,
                   "%s sends %s twice to %s.%s", task_text(x, a->from), a->from_flow->name,
                   task_text(x, a->to), a->to_flow->name)
             : say(x, "duplicate-edge", place_of(b->ref->edge), VERIFY_GRAVE,
                   "%s.%s waits twice for %s of %s", task_text(x, a->to), a->to_flow->name,
                   a->from_flow->name, task_text(x, a->from)))) {
        if (a->ref->edge != b->ref->edge)
            diag_note(x->m->d, place_of(a->ref->edge), "the first time is here");
        finish(x);
    }
}

static void report_mismatch(exhaust *x, const arc *a, bool sent)
{
    if ((sent && a->ref->edge->dynamic) || !fresh(x, a->ref->edge, MATCH))
        return;
    if (sent ? say(x, "edge-mismatch", place_of(a->ref->edge), VERIFY_GRAVE,
                   "%s sends %s to %s.%s, but that flow does not wait for it", task_text(x, a->from),
                   a->from_flow->name, task_text(x, a->to), a->to_flow->name)
             : say(x, "edge-mismatch", place_of(a->ref->edge), VERIFY_GRAVE,
                   "%s.%s waits for %s of %s, but that task does not send it", task_text(x, a->to),
                   a->to_flow->name, a->from_flow->name, task_text(x, a->from)))
        finish(x);
}

static void check_arcs(exhaust *x)
{
    arc *outs = util_alloc((x->g->n_refs + 1) * sizeof(*outs));
    arc *ins = util_alloc((x->g->n_refs + 1) * sizeof(*ins));
    size_t n_outs = collect_arcs(x->g, AST_OUT, outs), n_ins = collect_arcs(x->g, AST_IN, ins);
    for (size_t i = 1; i < n_outs; i++)
        if (compare_arcs(&outs[i - 1], &outs[i]) == 0)
            report_twice(x, &outs[i - 1], &outs[i]);
    for (size_t i = 1; i < n_ins; i++)
        if (compare_arcs(&ins[i - 1], &ins[i]) == 0)
            report_twice(x, &ins[i - 1], &ins[i]);
    for (size_t i = 0, k = 0; i < n_outs || k < n_ins;) {
        int order = i == n_outs ? 1 : k == n_ins ? -1 : compare_arcs(&outs[i], &ins[k]);
        if (order < 0)
            report_mismatch(x, &outs[i++], true);
        else if (order > 0)
            report_mismatch(x, &ins[k++], false);
        else
            i++, k++;
    }
    free(outs);
    free(ins);
}

/* ---- all ------------------------------------------------------------------------------------- */

void exhaust_check(exhaust *x)
{
    x->seen = util_alloc((x->m->file->node_count + 1) * sizeof(*x->seen));
    for (size_t i = 0; i < x->g->n_refs; i++) {
        check_space(x, &x->g->refs[i]);
        check_memory(x, &x->g->refs[i]);
    }
    for (uint32_t t = 0; t < x->g->n_tasks; t++) {
        const sema_class *cls = &x->m->sema->classes[x->g->tasks[t].cls];
        check_placement(x, t);
        for (size_t f = 0; f < cls->n_flows; f++)
            if (cls->flows[f].ast->kind != AST_CTL)
                check_flow(x, t, &cls->flows[f]);
    }
    check_arcs(x);
    /* No two of the tasks that exist if a guard turns out so need to exist together. */
    if (!x->g->followed) {
        verify_cycle_in(x->m, x->g);
        verify_races_in(x->m, x->g);
    }
    free(x->seen);
}

/* Rules of a single flow: which inputs and outputs its kind allows. */
#include "sema_ctx.h"

#include <string.h>

static void count_edges(const sema_flow *f, size_t *inputs, size_t *outputs)
{
    *inputs = *outputs = 0;
    EACH_EDGE(f, e)
        ++*(e->dir == AST_IN ? inputs : outputs);
}

/* Some task sends to the flow, which then lacks the other side of that edge: missing-side says so
 * and shows the line. */
static bool lacks_side(sema *s, const sema_flow *f)
{
    if (diag_severity_of(s->d, &check_table[CHECK_MISSING_SIDE]) == DIAG_OFF)
        return false;
    EACH_CLASS(s, c)
        EACH_FLOW(c, o)
            EACH_EDGE(o, e)
                if (e->dir == AST_OUT && e->target_flow == f)
                    return true;
    return false;
}

static void check_counts(sema *s, const sema_flow *f)
{
    size_t inputs, outputs;
    count_edges(f, &inputs, &outputs);
    src_range at = f->ast->name.range;
    if (f->kind != AST_WRITE && inputs == 0 && !lacks_side(s, f))
        sema_report(s, CHECK_MISSING_INPUT, at, "%s flow '%s' has no input%s",
                    ast_flow_kind_text(f->kind), f->name,
                    f->kind == AST_RW ? "; a flow that only produces data is WRITE" : "");
    if (outputs == 0 && (f->kind == AST_WRITE || (f->kind == AST_RW && s->strict)))
        sema_report(s, CHECK_MISSING_OUTPUT, at, "what the body writes to '%s' goes nowhere%s",
                    f->name,
                    f->kind == AST_RW ? "; add an output, or make it READ" : "; add an output");
}

static void check_write_inputs(sema *s, const sema_flow *f)
{
    if (f->kind != AST_WRITE)
        return;
    EACH_EDGE(f, e)
        if (e->dir == AST_IN && e->end != SEMA_END_NEW)
            sema_report(s, CHECK_WRITE_INPUT, e->call->node.range,
                        "WRITE flow '%s' gets a fresh buffer and takes no input but NEW; "
                        "make it RW", f->name);
}

/* Behind an input that always applies no other one can. */
static void check_reachable(sema *s, const sema_flow *f)
{
    const ast_dep *total = NULL;
    for (size_t i = 0; i < f->ast->n_deps; i++) {
        const ast_dep *d = f->ast->deps[i];
        if (d->dir != AST_IN)
            continue;
        if (total) {
            sema_report(s, CHECK_UNREACHABLE_INPUT, d->node.range,
                        "flow '%s' already has an input that always applies", f->name);
            diag_note(s->d, total->node.range, "this one");
            return;
        }
        if (!d->cond || d->no)
            total = d;
    }
}

/* Whether an output certainly fires where the input `null` is the active one. */
static bool certainly_forwards(const sema_edge *null, const sema_edge *out)
{
    if (out->dep->indices)
        return false;
    if (!null->cond || !out->cond)
        return true;
    return null->negate == out->negate && sema_same_expr(null->cond, out->cond);
}

static void check_null(sema *s, const sema_flow *f)
{
    EACH_EDGE(f, null) {
        if (null->dir != AST_IN || null->end != SEMA_END_NULL)
            continue;
        EACH_EDGE(f, out) {
            if (out->dir != AST_OUT || !certainly_forwards(null, out))
                continue;
            sema_report(s, CHECK_NULL_FORWARD, out->dep->node.range, "flow '%s' may be NULL here, "
                        "and NULL cannot be %s", f->name,
                        out->end == SEMA_END_MEMORY ? "stored" : "forwarded");
            diag_note(s->d, null->dep->node.range, "it is NULL by this input");
            return;
        }
    }
}

void sema_check_flows(sema *s)
{
    EACH_CLASS(s, c)
        EACH_FLOW(c, f) {
            if (f->kind == AST_CTL)
                continue;
            check_counts(s, f);
            check_write_inputs(s, f);
            check_reachable(s, f);
            check_null(s, f);
        }
}

/* ---- fresh buffers ------------------------------------------------------------------------- */

static bool is_stored(const sema_flow *f)
{
    EACH_EDGE(f, e)
        if (e->dir == AST_OUT && e->end == SEMA_END_MEMORY)
            return true;
    return false;
}

static void check_new(sema *s, const sema_edge *e, bool stored)
{
    if (e->type.kind == SEMA_SHAPE_GLOBAL || stored || !s->strict)
        return;
    sema_report(s, CHECK_UNTYPED_BUFFER, e->call->node.range, "nothing says what this buffer looks "
                "like: flow '%s' is not stored; write NEW [type = SHAPE]", e->flow->name);
}

static void check_flow_buffers(sema *s, const sema_flow *f)
{
    bool stored = is_stored(f), has_new = false;
    EACH_EDGE(f, e) {
        bool is_new = e->dir == AST_IN && e->end == SEMA_END_NEW;
        has_new = has_new || is_new;
        if (is_new)
            check_new(s, e, stored);
        else if (e->type.global && e->type.global->kind == SEMA_MATRIX && s->strict)
            sema_report(s, CHECK_UNKNOWN_SHAPE, e->type.expr->node.range,
                        "'%s' is a matrix; only NEW takes the shape of a tile of it",
                        e->type.global->name);
    }
    if (f->kind == AST_WRITE && !has_new && !stored && s->strict && f->n_edges > 0)
        sema_report(s, CHECK_UNTYPED_BUFFER, f->ast->name.range, "nothing says what the buffer of "
                    "'%s' looks like: it is not stored; write '<- NEW [type = SHAPE]'", f->name);
}

void sema_check_buffers(sema *s)
{
    EACH_CLASS(s, c)
        EACH_FLOW(c, f)
            if (f->kind != AST_CTL)
                check_flow_buffers(s, f);
}

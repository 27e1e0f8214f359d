/* The type of each flow's data, inferred along the edges from the collections it touches. */
#include "sema_ctx.h"

#include <stdlib.h>
#include <string.h>

static sema_type type_of_collection(const sema_global *g, src_range origin)
{
    return (sema_type){.kind = g->kind == SEMA_MATRIX ? SEMA_TYPE_TILE : SEMA_TYPE_BYTES,
                       .elem = g->elem, .of = g, .origin = origin};
}

/* What an edge says by itself about the flow it is written on. */
static sema_type type_of_edge(const sema_edge *e)
{
    if (e->end == SEMA_END_MEMORY && e->target)
        return type_of_collection(e->target, e->call->node.range);
    if (e->end == SEMA_END_NEW && e->type.kind == SEMA_SHAPE_GLOBAL) {
        if (e->type.global->kind == SEMA_MATRIX)
            return type_of_collection(e->type.global, e->type.expr->node.range);
        return (sema_type){.kind = SEMA_TYPE_NAMED, .shape = e->type.global->name,
                           .origin = e->type.expr->node.range};
    }
    return (sema_type){0};
}

/* A matrix says most, then another collection, then a named shape. */
static int rank_of(sema_type_kind k)
{
    static const int ranks[] = {
        [SEMA_TYPE_NONE] = 0, [SEMA_TYPE_NAMED] = 1, [SEMA_TYPE_BYTES] = 2, [SEMA_TYPE_TILE] = 3,
    };
    return ranks[k];
}

static bool conflict(const sema_type *a, const sema_type *b)
{
    return a->elem && b->elem && strcmp(a->elem, b->elem) != 0;
}

static void report_conflict(sema *s, src_range where, const sema_flow *f, const sema_type *a,
                            const sema_type *b)
{
    sema_report(s, CHECK_TYPE_CONFLICT, where, "flow '%s' would have elements of type '%s' and of "
                "type '%s'", f->name, a->elem, b->elem);
    if (a->of)
        diag_note(s->d, a->origin, "type '%s' comes from collection '%s' here", a->elem,
                  a->of->name);
    if (b->of)
        diag_note(s->d, b->origin, "type '%s' comes from collection '%s' here", b->elem,
                  b->of->name);
}

static void start_types(sema *s)
{
    EACH_CLASS(s, c)
        EACH_FLOW(c, f) {
            if (f->kind == AST_CTL)
                continue;
            EACH_EDGE(f, e) {
                sema_type t = type_of_edge(e);
                if (conflict(&f->type, &t))
                    report_conflict(s, e->call->node.range, f, &f->type, &t);
                else if (rank_of(t.kind) > rank_of(f->type.kind))
                    f->type = t;
            }
        }
}

/* Gives `to` the type of `from` if that says more. */
static bool pass_on(const sema_flow *from, sema_flow *to)
{
    if (to->kind == AST_CTL || from->kind == AST_CTL || conflict(&from->type, &to->type) ||
        rank_of(from->type.kind) <= rank_of(to->type.kind))
        return false;
    to->type = from->type;
    return true;
}

/* Each flow enters the queue when its type grows, at most three times. */
static void spread_types(sema *s)
{
    size_t n = 0, cap = 64;
    sema_flow **stack = util_alloc(cap * sizeof(*stack));
    EACH_CLASS(s, c)
        EACH_FLOW(c, f)
            for (sema_flow *top = f; top; top = n ? stack[--n] : NULL)
                EACH_EDGE(top, e) {
                    sema_flow *t = e->target_flow;
                    if (!t)
                        continue;
                    if (n + 2 > cap)
                        stack = util_realloc(stack, (cap *= 2) * sizeof(*stack));
                    if (pass_on(top, t))
                        stack[n++] = t;
                    else if (pass_on(t, top)) {
                        stack[n++] = top;
                        break;
                    }
                }
    free(stack);
}

static void check_edge_types(sema *s)
{
    EACH_CLASS(s, c)
        EACH_FLOW(c, f)
            EACH_EDGE(f, e)
                if (e->target_flow && e->dir == AST_OUT &&
                    conflict(&f->type, &e->target_flow->type))
                    report_conflict(s, e->call->node.range, f, &f->type, &e->target_flow->type);
}

void sema_infer_types(sema *s)
{
    start_types(s);
    spread_types(s);
    check_edge_types(s);
}

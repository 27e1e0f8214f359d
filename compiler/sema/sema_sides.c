/* Every edge between tasks is written on both sides. */
#include "sema_ctx.h"

static bool has_reverse(const sema_edge *e)
{
    EACH_EDGE(e->target_flow, o)
        if (o->dir != e->dir && o->target_flow == e->flow)
            return true;
    return false;
}

void sema_insertion(const sema_info *info, const sema_flow *flow, const char *line, uint32_t *at,
                    text *out)
{
    const ast_flow *f = flow->ast;
    size_t column = f->n_deps ? src_begin(info->ast->sources, f->deps[0]->arrow).col - 1 : 0;
    *at = f->n_deps ? f->deps[f->n_deps - 1]->node.range.end : f->name.range.end;
    text_putc(out, f->n_deps ? '\n' : ' ');
    for (; column > 0; column--)
        text_putc(out, ' ');
    text_puts(out, line);
}

/* Says where the other side belongs, and what it is if that can be derived. */
static void note_side(sema *s, const sema_edge *e, bool alone)
{
    const sema_flow *t = e->target_flow;
    text line = {0}, insertion = {0};
    if (alone && s->derive && s->derive(s->derive_arg, s->info, e, &line)) {
        src_range where = t->ast->name.range;
        diag_note(s->d, where, "add it here: %s", text_str(&line));
        sema_insertion(s->info, t, text_str(&line), &where.begin, &insertion);
        where.end = where.begin;
        diag_fixit(s->d, where, text_str(&insertion));
    } else {
        diag_note(s->d, t->ast->name.range, "it belongs here");
    }
    text_free(&line);
    text_free(&insertion);
}

/* --std=parsec: an edge whose guard is a constant that excludes it. */
static bool is_dead(const sema *s, const sema_edge *e)
{
    int64_t value;
    return !s->strict && e->cond && sema_constant(e->cond, &value) && (value != 0) == e->negate;
}

static void check_side(sema *s, const sema_edge *e, bool alone)
{
    const sema_flow *t = e->target_flow;
    bool control = (t && t->kind == AST_CTL) != (e->flow->kind == AST_CTL);
    if (!t || has_reverse(e) || is_dead(s, e) || control || (e->dir == AST_OUT && t->kind == AST_WRITE))
        return;
    const char *arrow = e->dir == AST_OUT ? "<-" : "->";
    sema_report(s, CHECK_MISSING_SIDE, e->call->node.range,
                "flow '%s' of '%s' has no '%s %s %s(...)' for this edge", t->name, t->cls->name,
                arrow, e->flow->name, e->flow->cls->name);
    note_side(s, e, alone);
}

void sema_check_missing_sides(sema *s)
{
    unsigned errors = 0;
    for (size_t i = 0; i < CHECK_COUNT; i++)
        errors += diag_errors_of(s->d, &check_table[i]);
    bool alone = errors == s->all_before && !s->ast->has_errors;
    EACH_CLASS(s, c)
        EACH_FLOW(c, f)
            EACH_EDGE(f, e)
                check_side(s, e, alone);
}

/* Every edge between tasks is written on both sides. */
#include "sema_ctx.h"

#include <string.h>

static bool has_reverse(const sema_edge *e)
{
    EACH_EDGE(e->target_flow, o)
        if (o->dir != e->dir && o->target_flow == e->flow)
            return true;
    return false;
}

void sema_insertion(const sema_info *info, const sema_flow *flow, const char *lines, uint32_t *at,
                    text *out)
{
    const ast_flow *f = flow->ast;
    const src_set *sources = info->ast->sources;
    bool below = f->n_deps > 0;         /* the first line follows the name otherwise */
    size_t column = below ? src_begin(sources, f->deps[0]->arrow).col - 1
                          : src_pos_of(sources, f->name.range.file, f->name.range.end).col;
    *at = below ? f->deps[f->n_deps - 1]->node.range.end : f->name.range.end;
    for (; *lines; below = true) {
        size_t len = strcspn(lines, "\n");
        text_printf(out, "%s%*s", below ? "\n" : " ", below ? (int)column : 0, "");
        text_add(out, lines, len);
        lines += len + (lines[len] != '\0');
    }
}

sema_names sema_names_of(const sema_flow *flow)
{
    const ast_class *c = flow->cls->ast;
    const char *name = flow->name;
    for (; c->stands_for; c = c->stands_for)
        name = c->stands_into->name.text;
    return (sema_names){c->name.text, name, c->n_params};
}

/* Says where the other side belongs, and what it is if that can be derived. */
static void note_side(sema *s, const sema_edge *e, bool alone)
{
    const sema_flow *t = e->target_flow;
    text line = {0}, insertion = {0};
    if (alone && s->derive && s->derive(s->derive_arg, s->info, e, &line)) {
        src_range where = t->ast->name.range;
        uint32_t at;
        sema_insertion(s->info, t, text_str(&line), &at, &insertion);
        for (char *end = line.data; (end = strchr(end, '\n')) != NULL;)
            *end = ' ';
        diag_note(s->d, where, "add it here: %s", text_str(&line));
        where.begin = where.end = at;
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
    sema_names here = sema_names_of(e->flow);
    sema_report(s, CHECK_MISSING_SIDE, e->call->node.range,
                "flow '%s' of '%s' has no '%s %s %s(...)' for this edge", t->name, t->cls->name,
                arrow, here.flow, here.cls);
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

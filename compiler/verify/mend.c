/* Suggestions: how two disagreeing ends of an edge could be made to agree. */
#include "checks.h"

#include <stdlib.h>
#include <string.h>

/* One change of the reference of an edge: an argument moved, two arguments swapped, or another
 * guard. */
typedef struct change {
    size_t arg, other;          /* swap when they differ */
    int shift;
    bool guard;
} change;

static void put_verbatim(text *out, const verify_model *m, const ast_expr *e)
{
    text_add(out, src_text(m->file->sources, e->node.range), src_range_len(e->node.range));
}

/* e + shift, with the blanks of e around the operator. */
static void put_shifted(text *out, const verify_model *m, const ast_expr *e, int shift)
{
    if (shift == 0) {
        put_verbatim(out, m, e);
        return;
    }
    int64_t constant = shift;
    bool blanks = memchr(src_text(m->file->sources, e->node.range), ' ',
                         src_range_len(e->node.range));
    if (e->kind == AST_INT) {
        text_printf(out, "%lld", (long long)(e->u.integer.value + shift));
        return;
    }
    if (e->kind == AST_BINARY && e->u.binary.right->kind == AST_INT && e->parens == 0 &&
        (e->u.binary.op == AST_OP_ADD || e->u.binary.op == AST_OP_SUB)) {
        int64_t old = e->u.binary.right->u.integer.value;
        constant += e->u.binary.op == AST_OP_ADD ? old : -old;
        e = e->u.binary.left;
    }
    bool bare = constant == 0 || e->kind != AST_COND || e->parens > 0;
    if (e->kind == AST_BINARY && constant != 0)
        bare = e->parens > 0 || e->u.binary.op >= AST_OP_ADD;   /* binds as tightly as + */
    text_puts(out, bare ? "" : "(");
    put_verbatim(out, m, e);
    text_puts(out, bare ? "" : ")");
    if (constant)
        text_printf(out, blanks ? " %c %lld" : "%c%lld", constant > 0 ? '+' : '-',
                    (long long)(constant > 0 ? constant : -constant));
}

static void put_argument(text *out, const verify_model *m, const ast_value *v, int shift)
{
    if (shift == 0) {
        text_add(out, src_text(m->file->sources, v->node.range), src_range_len(v->node.range));
        return;
    }
    put_shifted(out, m, v->lo, shift);
    if (!v->hi)
        return;
    text_puts(out, " .. ");
    put_shifted(out, m, v->hi, shift);
    if (v->step) {
        text_puts(out, " .. ");
        put_verbatim(out, m, v->step);
    }
}

static void put_changed(text *out, const verify_model *m, const verify_edge *e, change c)
{
    const ast_call *call = e->sema->call;
    sema_names there = sema_names_of(e->sema->target_flow);
    text_printf(out, "%s %s(", there.flow, there.cls);
    for (size_t i = 0; i < there.n_params; i++) {
        size_t from = i;
        if (!c.guard && c.arg != c.other)
            from = i == c.arg ? c.other : i == c.other ? c.arg : i;
        text_puts(out, i ? ", " : "");
        bool moved = !c.guard && c.arg == c.other && i == c.arg;
        put_argument(out, m, call->args[from], moved ? c.shift : 0);
    }
    text_putc(out, ')');
}

/* The relation of the edge, seen from its own end, with its arguments changed. */
static isl_map *changed(const verify_edge *e, change c)
{
    isl_space *space = isl_space_range(isl_map_get_space(e->rel));
    isl_multi_aff *ma = isl_multi_aff_identity(isl_space_map_from_set(space));
    isl_aff *a = isl_multi_aff_get_aff(ma, (int)c.arg);
    if (c.arg == c.other) {
        ma = isl_multi_aff_set_aff(ma, (int)c.arg, isl_aff_add_constant_si(a, c.shift));
    } else {
        isl_aff *b = isl_multi_aff_get_aff(ma, (int)c.other);
        ma = isl_multi_aff_set_aff(ma, (int)c.arg, b);
        ma = isl_multi_aff_set_aff(ma, (int)c.other, a);
    }
    return isl_map_apply_range(isl_map_copy(e->rel), isl_map_from_multi_aff(ma));
}

typedef struct side {
    verify_model *m;
    const verify_pair *pair;
    const verify_edge *edge;    /* the one to be changed */
    isl_map *rest;              /* the other edges of its side, forward */
    isl_map *target;            /* the other side, forward */
} side;

/* Would the edge, replaced by `rel` (its own orientation; taken), make both sides equal? */
static bool agrees(const side *s, isl_map *rel)
{
    const verify_edge *e = s->edge;
    rel = isl_map_intersect_range(
        rel, isl_set_copy(verify_class_of(s->m, e->sema->target_class)->space));
    if (e->sema->dir == AST_IN)
        rel = isl_map_reverse(rel);
    rel = isl_map_union(rel, isl_map_copy(s->rest));
    rel = isl_map_intersect_params(rel, isl_set_copy(s->m->facts));
    bool yes = isl_map_is_equal(rel, s->target) == isl_bool_true;
    isl_map_free(rel);
    return yes;
}

static bool note_change(const side *s, change c)
{
    if (!agrees(s, changed(s->edge, c)))
        return false;
    text t = {0};
    put_changed(&t, s->m, s->edge, c);
    diag_note(s->m->d, s->edge->sema->call->node.range, "'%s' here would agree with the other end",
              text_str(&t));
    diag_note_fixit(s->m->d, s->edge->sema->call->node.range, text_str(&t));
    text_free(&t);
    return true;
}

/* The same reference under another guard. */
static bool note_guard(const side *s)
{
    const verify_edge *e = s->edge;
    isl_map *rel = e->sema->dep->no || e->sema->dep->indices ? NULL : verify_unguarded(s->m, e);
    if (!rel)
        return false;
    isl_map *need = isl_map_subtract(isl_map_copy(s->target), isl_map_copy(s->rest));
    isl_set *when = e->sema->dir == AST_OUT ? isl_map_domain(need) : isl_map_range(need);
    bool ok = agrees(s, isl_map_intersect_domain(rel, isl_set_copy(when)));
    isl_set *known = isl_set_intersect_params(isl_set_copy(e->cls->space),
                                              isl_set_copy(s->m->facts));
    isl_set *guard = isl_set_gist(when, known);
    text t = {0};
    if (ok && isl_set_plain_is_universe(guard) != isl_bool_true) {
        text_putc(&t, '(');
        ok = verify_put_condition(&t, guard, e->cls);
        text_puts(&t, ") ? ");
    }
    isl_set_free(guard);
    put_changed(&t, s->m, e, (change){.guard = true});
    if (ok) {
        src_range where = e->sema->dep->arrow, end = e->sema->call->node.range;
        text line = {0};
        text_printf(&line, " %s", text_str(&t));
        diag_note(s->m->d, e->sema->dep->node.range, "'%s' here would agree with the other end",
                  text_str(&t));
        diag_note_fixit(s->m->d, (src_range){where.file, where.end, end.end}, text_str(&line));
        text_free(&line);
    }
    text_free(&t);
    return ok;
}

static bool try_changes(const side *s)
{
    static const int shifts[] = {1, -1, 2, -2};
    size_t n = sema_names_of(s->edge->sema->target_flow).n_params;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < UTIL_COUNT(shifts); k++)
            if (note_change(s, (change){.arg = i, .other = i, .shift = shifts[k]}))
                return true;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            if (note_change(s, (change){.arg = i, .other = j}))
                return true;
    return note_guard(s);
}

static void suggest_side(verify_model *m, const verify_pair *pair, bool out)
{
    verify_edge **edges = out ? pair->outs : pair->ins;
    size_t n = out ? pair->n_outs : pair->n_ins;
    isl_map *target = verify_union(m, pair->from, pair->to, out ? pair->ins : pair->outs,
                                   out ? pair->n_ins : pair->n_outs, false);
    target = isl_map_intersect_params(target, isl_set_copy(m->facts));
    for (size_t i = 0; i < n; i++) {
        verify_edge **others = util_alloc((n + 1) * sizeof(verify_edge *));
        size_t k = 0;
        for (size_t j = 0; j < n; j++)
            if (j != i)
                others[k++] = edges[j];
        side s = {.m = m, .pair = pair, .edge = edges[i], .target = target};
        s.rest = verify_union(m, pair->from, pair->to, others, k, false);
        bool written = !edges[i]->cls->sema->ast->stands_for && !edges[i]->sema->dep->derived;
        bool found = edges[i]->exact && written && try_changes(&s);
        isl_map_free(s.rest);
        free(others);
        if (found)
            break;
    }
    isl_map_free(target);
}

void verify_suggest(verify_model *m, const verify_pair *pair)
{
    suggest_side(m, pair, true);
    suggest_side(m, pair, false);
}

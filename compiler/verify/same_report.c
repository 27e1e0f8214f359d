/* --same: the smallest difference, in words, and the first doubt. */
#include "same.h"
#include "values.h"

#include <stdlib.h>
#include <string.h>

void same_doubt(same *s, src_range where, src_range other, const char *why)
{
    if (s->why)
        return;
    s->doubt = where;
    s->other = other;
    s->why = why ? why : "isl gave up";
}

/* ---- the smallest --------------------------------------------------------------------------- */

static size_t joint_param(const same *s, const char *common)
{
    int pos = lift_find_param(&s->joint.poly, common);
    return pos < 0 ? s->joint.poly.n_params : (size_t)pos;
}

/* Do the assumptions hold that isl does not know all of? What is not shown may have any value: a
 * few are tried. */
static bool allowed(const same *s, const same_file *f, const verify_witness *w, int64_t free_value)
{
    const poly *p = &f->m->poly;
    int64_t *params = util_alloc((p->n_params + 1) * sizeof(*params));
    bool ok = true;
    for (size_t i = 0; i < p->n_params; i++) {
        size_t at = joint_param(s, same_param(s, f, p->params[i].name));
        params[i] = w->shown[at] ? w->params[at] : free_value;
    }
    for (size_t i = 0; ok && i < f->sema->ast->n_assumes; i++)
        ok = f->m->assume_exact[i] || verify_assumed(f->m, i, params);
    free(params);
    return ok;
}

static bool possible(const same *s, const verify_witness *w)
{
    enum { TRIES = 7 };
    for (int64_t v = 0; v < TRIES; v++)
        if (allowed(s, &s->file[0], w, v) && allowed(s, &s->file[1], w, v))
            return true;
    return false;
}

/* rest (taken) without the values of the parameters that w shows. */
static isl_map *other_values(const same *s, isl_map *rest, const verify_witness *w)
{
    isl_set *these = isl_set_universe(isl_space_copy(s->joint.poly.param_space));
    for (size_t i = 0; i < s->joint.poly.n_params; i++)
        if (w->shown[i])
            these = verify_fix(these, isl_dim_param, i, w->params[i]);
    return isl_map_subtract(rest, isl_map_intersect_params(isl_map_copy(rest), these));
}

static bool holds(const verify_witness *w, const same_link *l, size_t n_from)
{
    isl_set *set = verify_image(w, isl_map_copy(l->rel), w->at, n_from);
    for (size_t i = n_from; i < w->n_at; i++)
        set = verify_fix(set, isl_dim_set, i - n_from, w->at[i]);
    bool some = isl_set_is_empty(set) == isl_bool_false;
    isl_set_free(set);
    return some;
}

static uint64_t size_of(const same *s, const verify_witness *w)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < s->joint.poly.n_params; i++)
        sum += w->shown[i] ? (uint64_t)(w->params[i] < 0 ? -w->params[i] : w->params[i]) : 0;
    return sum;
}

void same_note(same *s, same_view view, int in, const same_link *const *links, size_t n,
               unsigned region, isl_map *rest)
{
    enum { TRIES = 20 };
    same_finding f = {.view = view, .in = in, .from = links[0]->from, .to = links[0]->to,
                      .region = region};
    isl_size n_from = isl_map_dim(rest, isl_dim_in);
    bool found = false;
    rest = isl_map_align_params(rest, isl_space_copy(s->joint.poly.param_space));
    for (int tries = 0; tries < TRIES && !found; tries++) {
        if (!verify_smallest_pair(&s->joint, isl_map_copy(rest), &f.w))
            break;
        found = possible(s, &f.w);
        rest = found ? rest : other_values(s, rest, &f.w);
    }
    isl_map_free(rest);
    if (!found) {
        same_doubt(s, links[0]->where, (src_range){0}, verify_failed(&s->joint) ? NULL :
                   "the files seem to differ here, but not for parameters that an assumption of "
                   "theirs allows, which is not affine");
        return;
    }
    f.n_from = n_from < 0 ? 0 : (size_t)n_from;
    f.link = links[0];
    for (size_t i = n; i-- > 0;)
        f.link = holds(&f.w, links[i], f.n_from) ? links[i] : f.link;
    f.size = size_of(s, &f.w);
    if (!s->least || f.size < s->least->size)
        s->least = arena_copy(s->arena, &f, 1, sizeof(f));
}

/* ---- words ---------------------------------------------------------------------------------- */

/* The common tuple of a class: the parameters that both files have. */
static void put_task(const same *s, const char *cls, const int64_t *at, text *out)
{
    const same_file *f = &s->file[0];
    const verify_class *c = same_find_class(s, f, cls);
    f = c ? f : &s->file[1];
    c = c ? c : same_find_class(s, f, cls);
    isl_map *common = f->common[c->sema->index];
    isl_size n = isl_map_dim(common, isl_dim_out);
    text_printf(out, "%s(", cls);
    for (isl_size i = 0; i < n; i++) {
        const char *name = isl_map_get_dim_name(common, isl_dim_out, (unsigned)i);
        text_printf(out, "%s%s=%lld", i ? ", " : "", name, (long long)at[i]);
    }
    text_putc(out, ')');
}

/* "C of GEMM(m=2, n=1, k=0)", "A(2, 1)" */
static void put_node(const same *s, const same_node *n, const int64_t *at, text *out)
{
    switch (n->kind) {
    case SAME_FLOW:
        text_printf(out, "%s of ", n->name);
        put_task(s, n->cls, at, out);
        break;
    case SAME_ORDER:
        put_task(s, n->cls, at, out);
        break;
    case SAME_MEMORY:
        verify_put_tuple(out, n->name, at, n->arity);
        break;
    case SAME_NEW:
        text_puts(out, "NEW");
        break;
    }
}

static void put_region(unsigned region, text *out)
{
    static const char *const parts[] = {"the part below the diagonal of ", "the diagonal of ",
                                        "the part above the diagonal of "};
    for (size_t i = 0; i < UTIL_COUNT(parts); i++)
        if (region == 1u << i)
            text_puts(out, parts[i]);
}

/* What the link says, for the coordinates, as the side says it that the view is of. */
static void put_link(const same *s, const same_finding *f, const same_node *from,
                     const same_node *to, const int64_t *at, size_t n_from, text *out)
{
    bool sent = f->view == SAME_SENDERS, of_task = from->kind == SAME_FLOW;
    const int64_t *at_to = at + n_from;
    if (from->kind == SAME_NEW && to->kind == SAME_ORDER) {
        text_puts(out, "the task ");
        put_node(s, to, at_to, out);
        text_puts(out, " is");
    } else if (to->kind == SAME_MEMORY || (sent && from->kind != SAME_MEMORY)) {
        put_region(f->region, out);
        put_node(s, from, at, out);
        text_puts(out, to->kind == SAME_MEMORY ? " is stored to " : of_task ? " is sent to "
                                                                            : " tells ");
        put_node(s, to, at_to, out);
    } else {
        put_node(s, to, at_to, out);
        text_puts(out, of_task                       ? " comes from "
                       : from->kind == SAME_ORDER    ? " waits for "
                       : from->kind == SAME_NEW      ? " starts as "
                                                     : " is read from ");
        put_node(s, from, at, out);
    }
}

/* A link of the other file at the same task: where a flow comes from there, or is stored. */
typedef struct instead {
    const same_link *link;
    int64_t *at;
    size_t n_from;
} instead;

static bool meets(same *s, const same_finding *f, const same_link *l, instead *other)
{
    bool store = f->to.kind == SAME_MEMORY;
    const same_node *node = store ? &l->from : &l->to;
    if (!same_nodes_equal(node, store ? &f->from : &f->to) ||
        (l->to.kind == SAME_MEMORY) != store || !(l->region & f->region))
        return false;
    isl_map *rel = isl_map_align_params(isl_map_copy(l->rel),
                                        isl_space_copy(s->joint.poly.param_space));
    size_t first = store ? 0 : (size_t)isl_map_dim(rel, isl_dim_in);
    isl_set *set = isl_set_flatten(isl_map_wrap(isl_map_copy(rel)));
    size_t n = (size_t)isl_set_dim(set, isl_dim_set);
    size_t of_task = store ? f->n_from : f->w.n_at - f->n_from;
    for (size_t i = 0; i < of_task; i++)
        set = verify_fix(set, isl_dim_set, first + i, f->w.at[(store ? 0 : f->n_from) + i]);
    for (size_t i = 0; i < s->joint.poly.n_params; i++)
        if (f->w.shown[i])
            set = verify_fix(set, isl_dim_param, i, f->w.params[i]);
    *other = (instead){l, arena_alloc(s->arena, (n + 1) * sizeof(int64_t)),
                       (size_t)isl_map_dim(rel, isl_dim_in)};
    isl_map_free(rel);
    return verify_first_point(&s->joint, set, other->at, n);
}

static instead find_instead(same *s, const same_finding *f)
{
    const same_links *list = &s->file[!f->in].views[SAME_RECEIVERS];
    instead other = {0};
    verify_begin(&s->joint);
    bool order = f->to.kind == SAME_ORDER;
    for (size_t i = 0; i < list->n && !order && f->view == SAME_RECEIVERS; i++)
        if (!list->items[i].text && meets(s, f, &list->items[i], &other))
            return other;
    return (instead){0};
}

/* Where the other file would have it. */
static void note_place(same *s, const same_finding *f)
{
    const same_file *o = &s->file[!f->in];
    const same_node *n = f->to.kind == SAME_MEMORY || f->view == SAME_SENDERS ? &f->from : &f->to;
    n = n->kind == SAME_MEMORY || n->kind == SAME_NEW ? &f->to : n;
    const verify_class *c = n->cls ? same_find_class(s, o, n->cls) : NULL;
    if (!c) {
        src_range where = o->sema->n_classes ? o->sema->classes[0].ast->head : (src_range){0};
        diag_note(s->d, where, "the classes of %s begin here", o->label);
        return;
    }
    for (size_t i = 0; n->kind == SAME_FLOW && i < c->sema->n_flows; i++)
        if (same_name(s, o, c->sema->name, c->sema->flows[i].name) == n->name) {
            diag_note(s->d, c->sema->flows[i].ast->name.range, "the flow in %s", o->label);
            return;
        }
    diag_note(s->d, c->sema->ast->head, "the class in %s", o->label);
}

void same_report(same *s)
{
    const same_finding *f = s->least;
    if (!f)
        return;
    text msg = {0}, note = {0};
    const char *other = s->file[!f->in].label;
    put_link(s, f, &f->from, &f->to, f->w.at, f->n_from, &msg);
    diag_report(s->d, diag_find(s->d, "different"), f->link->where, "%s in %s, and not in %s",
                text_str(&msg), s->file[f->in].label, other);
    instead there = find_instead(s, f);
    if (there.link) {
        put_link(s, f, &there.link->from, &there.link->to, there.at, there.n_from, &note);
        diag_note(s->d, there.link->where, "%s in %s", text_str(&note), other);
    } else {
        note_place(s, f);
    }
    verify_report_end(&s->joint, NULL, &f->w);
    s->different = true;
    text_free(&msg);
    text_free(&note);
}

/* --same: the edges of a file as links over common names, relays composed away. */
#include "checks.h"
#include "same.h"
#include "tree/unparse.h"

#include <stdlib.h>
#include <string.h>

/* ---- relays --------------------------------------------------------------------------------- */

/* Is the text of a body nothing but blanks and comments? */
static bool is_blank(const char *str, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (strchr(" \t\r\n\f", str[i]))
            continue;
        const char *end = NULL;
        if (str[i] == '/' && i + 1 < len && str[i + 1] == '/')
            end = memchr(str + i, '\n', len - i);
        else if (str[i] == '/' && i + 1 < len && str[i + 1] == '*')
            for (size_t k = i + 2; k + 1 < len && !end; k++)
                end = str[k] == '*' && str[k + 1] == '/' ? str + k + 1 : NULL;
        else
            return false;
        i = end ? (size_t)(end - str) : len;
    }
    return true;
}

static bool has_body(const sema_info *sema, const sema_class *c)
{
    for (size_t i = 0; i < c->n_bodies; i++) {
        src_range r = c->bodies[i].ast->text;
        if (!is_blank(src_text(sema->ast->sources, r), src_range_len(r)))
            return true;
    }
    return false;
}

/* The one data flow of a class without a body that takes a value from somewhere and hands it on, or
 * NULL. */
static const sema_flow *handed_on(const sema_info *sema, const sema_class *c)
{
    const sema_flow *only = NULL;
    bool taken = false, given = false;
    for (size_t i = 0; i < c->n_flows; i++) {
        const sema_flow *flow = &c->flows[i];
        if (flow->ast->kind == AST_CTL)
            continue;
        if (only || flow->ast->kind == AST_WRITE)
            return NULL;
        only = flow;
    }
    for (size_t i = 0; only && i < only->n_edges; i++) {
        const sema_edge *e = &only->edges[i];
        taken = taken || (e->dir == AST_IN && e->end != SEMA_END_NULL);
        given = given || e->dir == AST_OUT;
    }
    return taken && given && !has_body(sema, c) ? only : NULL;
}

/* Can a value come from class `from` to class `to` by way of relays alone? */
static bool reaches(const same_file *f, size_t from, size_t to, bool *seen)
{
    const sema_class *c = &f->sema->classes[from];
    if (seen[from])
        return false;
    seen[from] = true;
    for (size_t i = 0; i < c->n_flows; i++)
        for (size_t k = 0; c->flows[i].ast->kind != AST_CTL && k < c->flows[i].n_edges; k++) {
            const sema_edge *e = &c->flows[i].edges[k];
            if (e->dir != AST_OUT || e->end != SEMA_END_TASK)
                continue;
            size_t next = e->target_class->index;
            if (next == to || (f->relay[next] && reaches(f, next, to, seen)))
                return true;
        }
    return false;
}

void same_find_relays(const same *s, same_file *f)
{
    size_t n = f->sema->n_classes;
    bool *circle = arena_alloc(s->arena, n + 1);
    f->relay = arena_alloc(s->arena, n + 1);
    for (size_t i = 0; i < n && !s->options->control; i++)
        f->relay[i] = handed_on(f->sema, &f->sema->classes[i]) != NULL;
    for (size_t i = 0; i < n; i++) {    /* a circle of them has no end: they are tasks then */
        bool *seen = util_alloc(n + 1);
        circle[i] = f->relay[i] && reaches(f, i, i, seen);
        free(seen);
    }
    for (size_t i = 0; i < n; i++)
        f->relay[i] = f->relay[i] && !circle[i];
}

/* ---- one edge ------------------------------------------------------------------------------- */

bool same_nodes_equal(const same_node *a, const same_node *b)
{
    return a->kind == b->kind && a->cls == b->cls && a->name == b->name && a->arity == b->arity;
}

isl_map *same_common_params(const same *s, const same_file *f, isl_map *map)
{
    for (size_t i = 0; i < f->m->poly.n_params; i++) {
        const char *name = same_param(s, f, f->m->poly.params[i].name);
        map = isl_map_set_dim_id(map, isl_dim_param, (unsigned)i, isl_id_alloc(s->isl, name, NULL));
    }
    return s->facts ? isl_map_intersect_params(map, isl_set_copy(s->facts)) : map;
}

/* What the file gives the names that it defines itself, and the locals of a class. */
static void put_definitions(const same_file *f, const sema_class *c, text *out)
{
    for (size_t i = 0; i < f->sema->n_globals; i++) {
        const sema_global *g = f->sema->globals[i];
        if (!g->init || g->kind != SEMA_INT)
            continue;
        text_printf(out, "; %s = ", g->name);
        unparse_expr(f->sema->ast, g->init, out);
    }
    for (size_t i = 0; i < c->n_locals; i++) {
        text_printf(out, "; %s = ", c->locals[i].name);
        unparse_value(f->sema->ast, c->locals[i].ast->value, out);
    }
}

static const char *in_common(const same *s, const same_file *f, const char *cls, text *own)
{
    text t = {0};
    same_put_text(s, f, cls, text_str(own), &t);
    text_free(own);
    return text_take(&t, s->arena);
}

const char *same_space_text(const same *s, const same_file *f, const verify_class *c)
{
    text own = {0};
    text_puts(&own, c->sema->name);
    put_definitions(f, c->sema, &own);
    return in_common(s, f, c->sema->name, &own);
}

static const char *edge_text(const same *s, const same_file *f, const verify_edge *e)
{
    text own = {0};
    text_printf(&own, "%s %s ", e->sema->flow->name, e->sema->negate ? "else" : "");
    unparse_dep(f->sema->ast, e->sema->dep, &own);
    put_definitions(f, e->cls->sema, &own);
    return in_common(s, f, e->cls->sema->name, &own);
}

static same_node flow_node(const same *s, const same_file *f, const sema_flow *flow)
{
    const char *cls = flow->cls->name;
    same_node n = {SAME_FLOW, same_name(s, f, NULL, cls), same_name(s, f, cls, flow->name), 0};
    if (flow->ast->kind == AST_CTL)
        n = (same_node){SAME_ORDER, n.cls, NULL, 0};
    return n;
}

static same_node target_node(const same *s, const same_file *f, const sema_edge *e)
{
    if (e->end == SEMA_END_TASK)
        return flow_node(s, f, e->target_flow);
    if (e->end == SEMA_END_MEMORY)
        return (same_node){SAME_MEMORY, NULL, same_name(s, f, NULL, e->target->name),
                           e->call->n_args};
    return (same_node){SAME_NEW, NULL, NULL, 0};
}

static same_link *add_link(same_links *list)
{
    if (list->n == list->cap) {
        list->cap = 2 * list->cap + 16;
        list->items = util_realloc(list->items, list->cap * sizeof(*list->items));
    }
    same_link *l = &list->items[list->n++];
    *l = (same_link){.region = DAG_REGION_FULL};
    return l;
}

/* cls[params] -> target, both in common names. */
static isl_map *common_relation(const same *s, const same_file *f, const verify_edge *e)
{
    isl_map *rel = isl_map_copy(e->rel);
    isl_map *here = f->common[e->cls->sema->index], *there = NULL;
    if (e->sema->end == SEMA_END_TASK) {
        size_t target = e->sema->target_class->index;
        if (f->sema->dialect == DIALECT_PARSEC) /* else none leads outside, or that is told, too */
            rel = isl_map_intersect_range(rel, isl_set_copy(f->m->classes[target].space));
        there = f->common[target];
    }
    rel = here ? isl_map_apply_domain(rel, isl_map_copy(here)) : rel;
    rel = there ? isl_map_apply_range(rel, isl_map_copy(there)) : rel;
    if (e->sema->end == SEMA_END_MEMORY) {
        const char *name = same_name(s, f, NULL, e->sema->target->name);
        rel = isl_map_set_tuple_id(rel, isl_dim_out, isl_id_alloc(s->isl, name, NULL));
    }
    return same_common_params(s, f, rel);
}

/* Some region is written by a name: it is part of what the collection is called here. */
static void name_region(const same *s, const same_file *f, const sema_edge *e, same_link *l)
{
    const sema_shape *shape = e->type_data.kind != SEMA_SHAPE_NONE ? &e->type_data : &e->type;
    l->region = (unsigned)verify_region(e, true);
    if (verify_region(e, true) == verify_region(e, false))
        return;
    text own = {0};
    text_printf(&own, "%s [type = ", e->target->name);
    unparse_expr(f->sema->ast, shape->expr, &own);
    text_putc(&own, ']');
    const char *name = in_common(s, f, NULL, &own);
    l->to.name = names_intern(s->names, name, strlen(name));
}

static void link_edge(const same *s, same_file *f, const verify_edge *e, same_links *list)
{
    const sema_edge *se = e->sema;
    bool exact = e->exact && (se->end != SEMA_END_TASK ||
                              f->m->classes[se->target_class->index].exact);
    isl_map *rel = common_relation(s, f, e);
    if (isl_map_is_empty(rel) == isl_bool_true) {
        isl_map_free(rel);
        return;
    }
    same_link *l = add_link(list);
    same_node here = flow_node(s, f, se->flow), there = target_node(s, f, se);
    l->from = se->dir == AST_OUT ? here : there;
    l->to = se->dir == AST_OUT ? there : here;
    l->rel = se->dir == AST_OUT ? rel : isl_map_reverse(rel);
    l->where = se->call->node.range;
    if (!exact) {
        const verify_class *c = e->why ? e->cls : &f->m->classes[se->target_class->index];
        l->text = edge_text(s, f, e);
        l->opaque_at = e->why ? e->opaque_at : c->opaque_at;
        l->why = e->why ? e->why : c->why;
    }
    if (se->dir == AST_OUT && se->end == SEMA_END_MEMORY)
        name_region(s, f, se, l);
}

/* A WRITE flow without inputs: new in every task. */
static void link_fresh(const same *s, same_file *f, const verify_class *c, const sema_flow *flow,
                       same_links *list)
{
    for (size_t i = 0; i < flow->n_edges; i++)
        if (flow->edges[i].dir == AST_IN)
            return;
    isl_set *space = isl_set_copy(c->space);
    isl_map *common = f->common[c->sema->index];
    space = common ? isl_set_apply(space, isl_map_copy(common)) : space;
    isl_map *rel = isl_map_reverse(isl_map_from_domain(space));
    rel = isl_map_set_tuple_id(rel, isl_dim_in, isl_id_alloc(s->isl, "NEW", NULL));
    same_link *l = add_link(list);
    l->from = (same_node){SAME_NEW, NULL, NULL, 0};
    l->to = flow_node(s, f, flow);
    l->rel = same_common_params(s, f, rel);
    l->where = flow->ast->name.range;
    l->text = c->exact ? NULL : same_space_text(s, f, c);
    l->opaque_at = c->opaque_at;
    l->why = c->why;
}

/* ---- relays are composed away --------------------------------------------------------------- */

static bool is_of(const same_node *n, const char *cls)
{
    return (n->kind == SAME_FLOW || n->kind == SAME_ORDER) && n->cls == cls;
}

static void compose(const same *s, same_links *list, const same_link *in, const same_link *out)
{
    isl_map *rel = isl_map_apply_range(isl_map_copy(in->rel), isl_map_copy(out->rel));
    rel = isl_map_coalesce(rel);
    if (isl_map_is_empty(rel) == isl_bool_true) {
        isl_map_free(rel);
        return;
    }
    const same_link *open = in->text ? in : out;
    same_link l = {.from = in->from, .to = out->to, .rel = rel, .region = out->region,
                   .where = out->to.kind == SAME_MEMORY ? in->where : out->where,
                   .opaque_at = open->opaque_at, .why = open->why};
    if (open->text)
        l.text = arena_printf(s->arena, "%s, then %s", in->text ? in->text : "",
                              out->text ? out->text : "");
    *add_link(list) = l;
}

static void skip_relay(const same *s, same_links *list, const char *relay)
{
    same_links old = *list;
    *list = (same_links){0};
    for (size_t i = 0; i < old.n; i++) {
        const same_link *l = &old.items[i];
        if (!is_of(&l->from, relay) && !is_of(&l->to, relay)) {
            *add_link(list) = *l;
            continue;
        }
        for (size_t k = 0; is_of(&l->to, relay) && l->to.kind == SAME_FLOW && k < old.n; k++)
            if (is_of(&old.items[k].from, relay) && old.items[k].from.kind == SAME_FLOW)
                compose(s, list, l, &old.items[k]);
    }
    for (size_t i = 0; i < old.n; i++)
        if (is_of(&old.items[i].from, relay) || is_of(&old.items[i].to, relay))
            isl_map_free(old.items[i].rel);
    free(old.items);
}

/* ---- all of a file -------------------------------------------------------------------------- */

/* Does this side of an edge say something in the view? Memory has no other side. */
static bool counts(const same *s, const sema_edge *e, same_view view)
{
    if (e->end == SEMA_END_NULL || (e->flow->ast->kind == AST_CTL && !s->options->control))
        return false;
    return e->end != SEMA_END_TASK || e->dir == (view == SAME_RECEIVERS ? AST_IN : AST_OUT);
}

void same_make_links(same *s, same_file *f)
{
    for (same_view v = 0; v < SAME_VIEWS; v++) {
        same_links *list = &f->views[v];
        for (size_t i = 0; i < f->m->n_edges; i++) {
            verify_renew(f->m);
            if (counts(s, f->m->edges[i].sema, v))
                link_edge(s, f, &f->m->edges[i], list);
        }
        for (size_t i = 0; i < f->m->n_classes; i++)
            for (size_t k = 0; k < f->sema->classes[i].n_flows; k++)
                if (f->sema->classes[i].flows[k].ast->kind == AST_WRITE)
                    link_fresh(s, f, &f->m->classes[i], &f->sema->classes[i].flows[k], list);
        for (size_t i = 0; i < f->sema->n_classes; i++) {
            verify_renew(f->m);
            if (f->relay[i])
                skip_relay(s, list, same_name(s, f, NULL, f->sema->classes[i].name));
        }
    }
}

void same_free_links(same_file *f)
{
    for (same_view v = 0; v < SAME_VIEWS; v++) {
        for (size_t i = 0; i < f->views[v].n; i++)
            isl_map_free(f->views[v].items[i].rel);
        free(f->views[v].items);
    }
}

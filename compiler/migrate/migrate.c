/* Classes: names, properties, kinds, shapes. */
#include "migrate.h"

#include "move.h"

#include <stdlib.h>
#include <string.h>

/* ---- expressions ----------------------------------------------------------------------------- */

static void move_name(mover *m, const ast_expr *e)
{
    sema_ref r = sema_ref_of(m->info, e);
    const sema_global *g = r.kind == SEMA_REF_GLOBAL ? r.u.global : NULL;
    if (!g || !g->symbol)
        return;
    if (g->init) {                          /* a constant of the prologue */
        long long v = (long long)g->init->u.integer.value;
        move_replace(m, e->node.range, v < 0 ? "(%lld)" : "%lld", v);
    } else {
        move_mark(m, "%s comes from a header; a global can be proven about", e->u.name);
        move_replace(m, e->node.range, "%%{ return %s; %%}", e->u.name);
    }
}

/* d.super.mb and d->super.mb are d->mb. */
static void move_member(mover *m, const ast_expr *e)
{
    const ast_expr *object = e->u.member.object;
    while (object->kind == AST_MEMBER)
        object = object->u.member.object;
    sema_ref r = sema_ref_of(m->info, object);
    if (r.kind != SEMA_REF_GLOBAL || !move_is_matrix(r.u.global))
        return;
    const char *field = e->u.member.field.text;
    if (!move_matrix_member(field))
        move_mark(m, "%s->%s: a dag_matrix has m n mb nb mt nt p q", r.u.global->name, field);
    else if (object != e->u.member.object || !e->u.member.arrow)
        move_replace(m, e->node.range, "%s->%s", r.u.global->name, field);
}

static void in_expr(const ast_expr *e, void *arg)
{
    mover *m = arg;
    if (e->kind == AST_NAME)
        move_name(m, e);
    else if (e->kind == AST_MEMBER)
        move_member(m, e);
    else if (e->kind == AST_INLINE_C)
        move_code(m, e->u.code.text);
    else
        ast_each_child(e, in_expr, m);
}

/* ---- properties ------------------------------------------------------------------------------ */

/* Takes properties out; all of them: the brackets, too. */
static void cut_props(mover *m, const ast_props *props, const bool *cut)
{
    size_t left = 0;
    for (size_t i = 0; i < props->n; i++)
        left += !cut[i];
    if (left == 0) {
        move_replace(m, props->node.range, "%s", "");
        return;
    }
    for (size_t i = 0; i < props->n; i++)
        if (cut[i])
            move_replace(m, props->items[i]->node.range, "%s", "");
}

static bool is_built_in(const char *name)
{
    static const char *const shapes[] = {"FULL", "LOWER", "UPPER", "LOWER_STRICT", "UPPER_STRICT"};
    return UTIL_AMONG(name, strlen(name), shapes);
}

/* Adds a name to a list; false when it was there. */
static bool add_new(move_names *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i], name) == 0)
            return false;
    list->items = util_realloc(list->items, (list->n + 1) * sizeof(*list->items));
    list->items[list->n++] = name;
    return true;
}

/* The region that the name of a datatype suggests; NULL: the whole. */
static const char *region_of(const char *name)
{
    bool strict = strstr(name, "STRICT") || strstr(name, "strict");
    if (strstr(name, "LOWER") || strstr(name, "lower"))
        return strict ? "LOWER_STRICT" : "LOWER";
    if (strstr(name, "UPPER") || strstr(name, "upper"))
        return strict ? "UPPER_STRICT" : "UPPER";
    return NULL;
}

/* A shape on an edge; true when it has to go. */
static bool move_shape(mover *m, const ast_prop *p, bool is_new)
{
    const ast_expr *v = p->value;
    if (v && v->kind == AST_STRING)         /* it says nothing there */
        return true;
    if (!v || v->kind != AST_NAME) {
        move_mark(m, "%s was computed by C: FULL, LOWER, UPPER, LOWER_STRICT or UPPER_STRICT; now "
                  "FULL", p->name.text);
        return true;
    }
    const sema_global *g = sema_find_global(m->info, v->u.name);
    if (is_built_in(v->u.name) || (g && (g->kind == SEMA_SHAPE || move_is_matrix(g))))
        return false;
    if (is_new && strcmp(p->name.text, "type") == 0) {
        add_new(&m->slots, v->u.name);
        return false;
    }
    const char *region = region_of(v->u.name);
    if (strcmp(v->u.name, "DEFAULT") != 0) {
        bool first = add_new(&m->datatypes, v->u.name);
        move_mark(m, "datatype %s, taken for %s%s", v->u.name, region ? region : "FULL", first ?
                  "; there are FULL, LOWER, UPPER, LOWER_STRICT and UPPER_STRICT" : "");
    }
    if (region)
        move_replace(m, v->node.range, "%s", region);
    return !region;
}

static bool is_shape(const ast_prop *p)
{
    return strcmp(p->name.text, "type") == 0 || strcmp(p->name.text, "type_data") == 0 ||
           strcmp(p->name.text, "type_remote") == 0;
}

static void mark_body_prop(mover *m, const ast_prop *p)
{
    static const char *const known[] = {"CPU", "CUDA", "OPENCL", "DEVICE"};
    if (strcmp(p->name.text, "evaluate") == 0)
        move_mark(m, "evaluate: not 0 means that this body may run the task");
    if (strcmp(p->name.text, "type") != 0 || !p->value || p->value->kind != AST_NAME)
        return;
    if (!UTIL_AMONG(p->value->u.name, strlen(p->value->u.name), known))
        move_mark(m, "no code is made of a body of type %s", p->value->u.name);
}

static void in_props(mover *m, const ast_props *props, sema_place place, bool is_new)
{
    if (!props)
        return;
    bool *cut = util_alloc(props->n + 1);
    for (size_t i = 0; i < props->n; i++) {
        const ast_prop *p = props->items[i];
        cut[i] = !sema_strict_knows(p, place);
        if (cut[i])
            move_mark(m, "property '%.*s' was left out",
                      (int)src_range_len(p->node.range), src_text(m->ast->sources, p->node.range));
        else if (place == PLACE_DEP && is_shape(p))
            cut[i] = move_shape(m, p, is_new);
        else if (p->value)
            in_expr(p->value, m);
        if (place == PLACE_BODY && !cut[i])
            mark_body_prop(m, p);
    }
    cut_props(m, props, cut);
    free(cut);
}

/* ---- flows ----------------------------------------------------------------------------------- */

static bool is_new(const ast_call *c)
{
    return c && c->kind == AST_CALL_NEW;
}

static void in_dep(mover *m, const ast_dep *d)
{
    ast_each_in_indices(d->indices, in_expr, m);
    if (d->cond)
        in_expr(d->cond, m);
    ast_each_in_call(d->yes, in_expr, m);
    in_props(m, d->yes->props, PLACE_DEP, is_new(d->yes));
    if (d->no)
        ast_each_in_call(d->no, in_expr, m);
    in_props(m, d->props, PLACE_DEP, is_new(d->yes) || is_new(d->no));
}

/* Does what this flow carries reach memory of the collection? `seen`: by class and flow. */
static bool reaches_store(const mover *m, const sema_flow *f, const sema_global *to, bool *seen)
{
    size_t at = f->index;
    for (size_t i = 0; i < f->cls->index; i++)
        at += m->info->classes[i].n_flows;
    if (seen[at])
        return false;
    seen[at] = true;
    for (size_t i = 0; i < f->n_edges; i++) {
        const sema_edge *e = &f->edges[i];
        if (e->dir == AST_OUT && e->end == SEMA_END_MEMORY && e->target == to)
            return true;
        if (e->dir == AST_OUT && e->end == SEMA_END_TASK && e->target_flow &&
            reaches_store(m, e->target_flow, to, seen))
            return true;
    }
    return false;
}

/* Values that are changed in memory there and would be lost here; buffers of no size. */
static void mark_flow(mover *m, const sema_flow *f)
{
    size_t n = 1;
    bool fresh = f->ast->kind == AST_WRITE;
    for (size_t i = 0; i < m->info->n_classes; i++)
        n += m->info->classes[i].n_flows;
    for (size_t i = 0; i < f->n_edges; i++) {
        const sema_edge *e = &f->edges[i];
        if (e->end == SEMA_END_NEW)
            fresh = e->type.kind == SEMA_SHAPE_NONE;
        if (f->ast->kind != AST_RW || e->dir != AST_IN || e->end != SEMA_END_MEMORY)
            continue;
        bool *seen = util_alloc(n);
        if (!reaches_store(m, f, e->target, seen))
            move_mark(m, "%s changes %s in memory there; here it has to be stored (-> %s), or %s is "
                      "READ", f->cls->name, e->target->name, e->target->name, f->name);
        free(seen);
    }
    if (fresh && f->ast->kind != AST_CTL && f->type.kind == SEMA_TYPE_NONE)
        move_mark(m, "the shape of %s: <- NEW [type = S], S a dag_shape * or a matrix", f->name);
}

static void move_flow(mover *m, const sema_flow *f)
{
    m->at = f->ast->name.range;
    mark_flow(m, f);
    if (!f->ast->kind_word.text)
        move_replace(m, src_point(m->ast->file, f->ast->name.range.begin), "RW ");
    for (size_t i = 0; i < f->ast->n_deps; i++) {
        m->at = f->ast->deps[i]->node.range;
        in_dep(m, f->ast->deps[i]);
    }
}

/* ---- classes --------------------------------------------------------------------------------- */

/* Tiles at the edge are smaller here, and columns lie X_ld elements apart. */
static void mark_tiles(mover *m, const sema_class *cls, src_range body)
{
    text list = {0};
    for (size_t i = 0; i < cls->n_flows; i++) {
        const sema_type *t = &cls->flows[i].type;
        if (cls->flows[i].ast->kind != AST_CTL && t->of && move_is_matrix(t->of))
            text_printf(&list, "%s%s_ld", list.len ? " " : "", cls->flows[i].name);
    }
    if (list.len && move_counts_tiles(m, body))
        move_mark(m, "leading dimensions are %s here, a tile X has X_m rows and X_n columns",
                  text_str(&list));
    text_free(&list);
}

static void move_bodies(mover *m, const sema_class *cls)
{
    const ast_class *c = cls->ast;
    for (size_t i = 0; i < c->n_bodies; i++) {
        m->at = c->bodies[i]->keyword;
        mark_tiles(m, cls, c->bodies[i]->text);
        in_props(m, c->bodies[i]->props, PLACE_BODY, false);
        move_code(m, c->bodies[i]->text);
    }
}

static void move_class(mover *m, const sema_class *cls)
{
    const ast_class *c = cls->ast;
    m->at = c->head;
    in_props(m, c->props, PLACE_CLASS, false);
    for (size_t i = 0; i < c->n_locals; i++) {
        m->at = c->locals[i]->node.range;
        ast_each_in_value(c->locals[i]->value, in_expr, m);
        in_props(m, c->locals[i]->props, PLACE_LOCAL, false);
    }
    if (c->simcost) {
        m->at = c->head;
        move_mark(m, "SIMCOST was left out");
        move_line_out(m, c->simcost_range);
    }
    m->at = c->placement->node.range;
    ast_each_in_call(c->placement, in_expr, m);
    for (size_t i = 0; i < cls->n_flows; i++)
        move_flow(m, &cls->flows[i]);
    if (c->priority) {
        m->at = c->priority->node.range;
        in_expr(c->priority, m);
    }
    move_bodies(m, cls);
}

static void move_options(mover *m)
{
    for (size_t i = 0; i < m->ast->n_options; i++) {
        m->at = m->ast->options[i]->node.range;
        move_mark(m, "%%option %s was left out", m->ast->options[i]->prop->name.text);
        move_line_out(m, m->at);
    }
}

void migrate_text(const sema_info *info, text *out)
{
    mover m = {.info = info, .ast = info->ast};
    const ast_code *codes[] = {m.ast->prologue, m.ast->epilogue};
    for (size_t i = 0; i < UTIL_COUNT(codes); i++)
        if (codes[i])
            move_code(&m, codes[i]->text);
    move_options(&m);
    m.classes = true;
    for (size_t i = 0; i < info->n_classes; i++)
        move_class(&m, &info->classes[i]);
    m.classes = false;
    move_globals(&m);
    move_apply(&m, out);
}

void migrate_doubts(const sema_info *info, const dag_memory_mode *memory, text *out)
{
    mover m = {.info = info, .ast = info->ast};
    for (size_t i = 0; i < info->n_globals; i++) {
        const sema_global *g = info->globals[i];
        bool fetched = false, stored = false;
        for (size_t c = 0; c < info->n_classes; c++)
            for (size_t f = 0; f < info->classes[c].n_flows; f++)
                for (size_t e = 0; e < info->classes[c].flows[f].n_edges; e++) {
                    const sema_edge *x = &info->classes[c].flows[f].edges[e];
                    bool here = x->end == SEMA_END_MEMORY && x->target == g;
                    fetched = fetched || (here && x->dir == AST_IN);
                    stored = stored || (here && x->dir == AST_OUT);
                }
        m.at = g->ast ? g->ast->node.range : (src_range){0};
        if (g->ast && fetched && stored && (!memory || memory[g->index] == DAG_MEM_DEFERRED))
            move_mark(&m, "what is fetched from %s is what was there when the graph began; PaRSEC's "
                      "tasks see what is there then", g->name);
    }
    move_apply(&m, out);
}

/* Globals: types of ours, declared collections, arguments that are what they say. */
#include "move.h"

#include <string.h>

bool move_matrix_member(const char *name)
{
    static const char *const list[] = {"m", "n", "mb", "nb", "mt", "nt", "p", "q"};
    return UTIL_AMONG(name, strlen(name), list);
}

static bool is_ours(const char *type)
{
    return strncmp(type, "dag_", 4) == 0;
}

bool move_is_matrix(const sema_global *g)
{
    if (g->kind == SEMA_MATRIX)
        return true;
    bool theirs = strstr(g->c_type, "parsec") || strstr(g->c_type, "dplasma");
    return (g->kind == SEMA_COLLECTION && !is_ours(g->c_type) && g->arity == 2) ||
           (g->arity < 0 && theirs && (strstr(g->c_type, "matrix") || strstr(g->c_type, "tiled")));
}

/* The type here, as it is written; NULL: it stays as it is. */
static const char *type_of(const sema_global *g)
{
    if (move_is_matrix(g))
        return g->kind == SEMA_MATRIX ? NULL : "dag_matrix *";
    if (g->kind == SEMA_COLLECTION && !is_ours(g->c_type))
        return g->arity == 1 ? "dag_vector *" : "dag_array *";
    if (g->kind == SEMA_OPAQUE && (strstr(g->c_type, "parsec") || strstr(g->c_type, "dplasma")))
        return "void *";
    return NULL;
}

static void mark_type(mover *m, const sema_global *g, const char *type)
{
    if (type && strcmp(type, "void *") == 0)
        move_mark(m, "what %s is, which was a %s", g->name, g->c_type);
    else if (type && g->ast)
        move_mark(m, "how %s is dealt out: a %s is made by the application, block-cyclic or on one "
                  "process", g->name, strcmp(type, "dag_array *") == 0 ? "dag_array" :
                  strcmp(type, "dag_vector *") == 0 ? "dag_vector" : "dag_matrix");
    else if (type)
        move_mark(m, "%s was not declared: its type, how it is dealt out, and its place among the "
                  "arguments", g->name);
    if (move_is_matrix(g) && (!g->ast || !ast_find_prop(g->ast->props, "elem")))
        move_mark(m, "the elements of %s: double, float, dag_scomplex or dag_dcomplex; or %%precision",
                  g->name);
}

/* The property as it is, but for those that are written anew. */
static void copy_props(mover *m, const sema_global *g, text *t)
{
    const ast_props *props = g->ast->props;
    for (size_t i = 0; props && i < props->n; i++) {
        const ast_prop *p = props->items[i];
        const char *name = p->name.text;
        if (strcmp(name, "type") == 0 || strcmp(name, "hidden") == 0 || strcmp(name, "default") == 0)
            continue;
        bool c_text = p->value && p->value->kind == AST_STRING && !p->value->u.string.parsed;
        if (!sema_strict_knows(p, PLACE_GLOBAL) || (c_text && strcmp(name, "size") == 0)) {
            move_mark(m, "property '%.*s' was left out", (int)src_range_len(p->node.range),
                      src_text(m->ast->sources, p->node.range));
            continue;
        }
        text_putc(t, ' ');
        text_add(t, src_text(m->ast->sources, p->node.range), src_range_len(p->node.range));
    }
}

/* Its value, if it is no argument. */
static void put_value(mover *m, const sema_global *g, text *t)
{
    const ast_prop *given = ast_find_prop(g->ast->props, "default");
    const ast_expr *value = g->ast->value ? g->ast->value : given ? given->value : NULL;
    if (g->init_c || (value && ast_has_inline_c(value))) {
        move_mark(m, "%s is an argument now; it was computed by C: %s", g->name,
                  g->init_c ? g->init_c : "see the original");
        return;
    }
    if (!value) {
        if (g->hidden || ast_find_prop(g->ast->props, "hidden"))
            move_mark(m, "%s is an argument now; it was set after the graph had been made", g->name);
        return;
    }
    if (!ast_find_prop(g->ast->props, "hidden"))
        move_mark(m, "%s is no argument now; PaRSEC took one and overwrote it", g->name);
    text_puts(t, " hidden = on default = ");
    text_add(t, src_text(m->ast->sources, value->node.range), src_range_len(value->node.range));
}

static void move_global(mover *m, const sema_global *g)
{
    text t = {0};
    const char *type = type_of(g);
    const ast_prop *old = ast_find_prop(g->ast->props, "type");
    m->at = g->ast->node.range;
    mark_type(m, g, type);
    text_printf(&t, "%s [type = ", g->name);
    if (type)
        text_printf(&t, "\"%s\"", type);
    else if (old && old->value)
        text_add(&t, src_text(m->ast->sources, old->value->node.range),
                 src_range_len(old->value->node.range));
    else
        text_puts(&t, "int");
    if (move_is_matrix(g) && !ast_find_prop(g->ast->props, "elem"))
        text_puts(&t, " elem = double");
    put_value(m, g, &t);
    copy_props(m, g, &t);
    text_putc(&t, ']');
    move_replace(m, g->ast->node.range, "%s", text_str(&t));
    text_free(&t);
}

/* Where declarations begin: behind the prologue. */
static src_range first_item(const mover *m)
{
    for (size_t i = 0; i < m->ast->n_items; i++) {
        const ast_item *item = &m->ast->items[i];
        if (item->kind == AST_ITEM_GLOBAL)
            return item->u.global->node.range;
        if (item->kind == AST_ITEM_CLASS)
            return item->u.cls->node.range;
        if (item->kind == AST_ITEM_OPTION)
            return item->u.option->node.range;
    }
    return (src_range){m->ast->file, 0, 0};
}

void move_globals(mover *m)
{
    src_range top = first_item(m);
    for (size_t i = 0; i < m->info->n_globals; i++) {
        const sema_global *g = m->info->globals[i];
        if (g->ast) {
            move_global(m, g);
            continue;
        }
        m->at = top;
        mark_type(m, g, type_of(g));
        move_replace(m, src_point(top.file, top.begin), "%s [type = \"%s\"%s]\n", g->name,
                     type_of(g), move_is_matrix(g) ? " elem = double" : "");
    }
    m->at = top;
    for (size_t i = 0; i < m->slots.n; i++) {
        move_mark(m, "the shape %s, which the application describes: rows, columns, bytes of an "
                  "element", m->slots.items[i]);
        move_replace(m, src_point(top.file, top.begin), "%s [type = \"dag_shape *\"]\n", m->slots.items[i]);
    }
}

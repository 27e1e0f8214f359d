#include "build.h"

#include <stdlib.h>
#include <string.h>

/* ---- lists ------------------------------------------------------------------------------- */

ast_list *ast_list_new(void)
{
    return util_alloc(sizeof(ast_list));
}

ast_list *ast_list_add(ast_list *l, void *item)
{
    if (!l)
        l = ast_list_new();
    if (!item)
        return l;
    UTIL_ROOM(l->items, l->n, l->cap);
    l->items[l->n++] = item;
    return l;
}

void ast_list_free(ast_list *l)
{
    if (!l)
        return;
    free(l->items);
    free(l);
}

/* Into the arena; frees l. */
static void **take(ast_file *file, ast_list *l, size_t *n)
{
    *n = l ? l->n : 0;
    void **items = l ? arena_copy(file->arena, l->items, l->n, sizeof(*l->items)) : NULL;
    ast_list_free(l);
    return items;
}

/* A list of ast_ident * becomes an array of ast_ident. */
static ast_ident *take_idents(ast_file *file, ast_list *l, size_t *n)
{
    ast_ident **from = (ast_ident **)take(file, l, n);
    ast_ident *to = arena_alloc(file->arena, (*n + 1) * sizeof(*to));
    for (size_t i = 0; i < *n; i++)
        to[i] = *from[i];
    return to;
}

/* ---- files and names --------------------------------------------------------------------- */

static ast_node node_at(ast_file *file, src_range r)
{
    return (ast_node){file->node_count++, r};
}

ast_file *ast_file_new(const src_set *sources, uint32_t file)
{
    ast_file *ast = util_alloc(sizeof(*ast));
    ast->sources = sources;
    ast->file = file;
    ast->arena = arena_new();
    ast->names = names_new();
    ast->node = node_at(ast, (src_range){file, 0, (uint32_t)src_len(sources, file)});
    return ast;
}

ast_file *ast_share(const ast_file *file)
{
    ast_file *ast = util_alloc(sizeof(*ast));
    *ast = *file;
    ast->items = NULL;
    ast->classes = NULL;
    ast->n_items = ast->n_classes = 0;
    return ast;
}

const char *ast_name(ast_file *file, const char *bytes, size_t len)
{
    return names_intern(file->names, bytes, len);
}

ast_ident ast_ident_at(const char *name, src_range r)
{
    return (ast_ident){name, r};
}

ast_ident *ast_new_ident(ast_file *file, src_range r, const char *name)
{
    ast_ident *i = arena_alloc(file->arena, sizeof(*i));
    *i = ast_ident_at(name, r);
    return i;
}

/* ---- expressions ------------------------------------------------------------------------- */

static ast_expr *new_expr(ast_file *file, ast_expr_kind kind, src_range r)
{
    ast_expr *e = arena_alloc(file->arena, sizeof(*e));
    e->node = node_at(file, r);
    e->kind = kind;
    return e;
}

/* Gives e the depth of its deepest operand plus one; too deep a tree is cut here. */
static ast_expr *set_depth(ast_file *file, ast_expr *e, const ast_expr *a, const ast_expr *b,
                           const ast_expr *c)
{
    uint16_t depth = a->depth;
    if (b && b->depth > depth)
        depth = b->depth;
    if (c && c->depth > depth)
        depth = c->depth;
    e->depth = (uint16_t)(depth + 1);
    if (e->depth <= AST_MAX_DEPTH)
        return e;
    if (src_range_is_none(file->too_deep))
        file->too_deep = e->node.range;
    file->has_errors = true;
    e->kind = AST_BAD;
    e->depth = 0;
    return e;
}

ast_expr *ast_new_bad(ast_file *file, src_range r)
{
    return new_expr(file, AST_BAD, r);
}

ast_expr *ast_new_int(ast_file *file, src_range r, int64_t value)
{
    ast_expr *e = new_expr(file, AST_INT, r);
    e->u.integer.value = value;
    return e;
}

ast_expr *ast_new_bool(ast_file *file, src_range r, bool value)
{
    ast_expr *e = new_expr(file, AST_BOOL, r);
    e->u.boolean = value;
    return e;
}

ast_expr *ast_new_string(ast_file *file, src_range r, const char *bytes, size_t len)
{
    ast_expr *e = new_expr(file, AST_STRING, r);
    e->u.string.text = bytes;
    e->u.string.len = len;
    return e;
}

ast_expr *ast_new_name(ast_file *file, src_range r, const char *name)
{
    ast_expr *e = new_expr(file, AST_NAME, r);
    e->u.name = name;
    return e;
}

ast_expr *ast_new_member(ast_file *file, src_range r, ast_expr *object, ast_ident field,
                         bool arrow)
{
    ast_expr *e = new_expr(file, AST_MEMBER, r);
    e->u.member.object = object;
    e->u.member.field = field;
    e->u.member.arrow = arrow;
    return set_depth(file, e, object, NULL, NULL);
}

ast_expr *ast_new_unary(ast_file *file, src_range r, ast_op op, ast_expr *operand)
{
    ast_expr *e = new_expr(file, AST_UNARY, r);
    e->u.unary.op = op;
    e->u.unary.operand = operand;
    return set_depth(file, e, operand, NULL, NULL);
}

ast_expr *ast_new_binary(ast_file *file, src_range r, ast_op op, src_range op_range, ast_expr *left,
                         ast_expr *right)
{
    ast_expr *e = new_expr(file, AST_BINARY, r);
    e->u.binary.op = op;
    e->u.binary.op_range = op_range;
    e->u.binary.left = left;
    e->u.binary.right = right;
    return set_depth(file, e, left, right, NULL);
}

ast_expr *ast_new_cond(ast_file *file, src_range r, ast_expr *test, ast_expr *yes, ast_expr *no)
{
    ast_expr *e = new_expr(file, AST_COND, r);
    e->u.cond.test = test;
    e->u.cond.yes = yes;
    e->u.cond.no = no;
    return set_depth(file, e, test, yes, no);
}

ast_expr *ast_new_inline_c(ast_file *file, src_range r, src_range c_text)
{
    ast_expr *e = new_expr(file, AST_INLINE_C, r);
    e->u.code.text = c_text;
    return e;
}

ast_expr *ast_new_call_value(ast_file *file, src_range r, ast_ident name, ast_list *args)
{
    ast_expr *e = new_expr(file, AST_CALL_VALUE, r);
    e->u.call.name = name;
    e->u.call.args = (ast_expr **)take(file, args, &e->u.call.n_args);
    for (size_t i = 0; i < e->u.call.n_args; i++)
        if (e->u.call.args[i]->depth >= e->depth)
            e->depth = (uint16_t)(e->u.call.args[i]->depth + 1);
    return e;
}

ast_expr *ast_parenthesise(ast_file *file, src_range r, ast_expr *e)
{
    e->node.range = r;
    if (e->parens < UINT16_MAX)
        e->parens++;
    return set_depth(file, e, e, NULL, NULL);
}

/* ---- index lists, values, properties ----------------------------------------------------- */

ast_index *ast_new_index(ast_file *file, src_range r, ast_ident name, ast_expr *lo, ast_expr *hi,
                         ast_expr *step)
{
    ast_index *i = arena_alloc(file->arena, sizeof(*i));
    *i = (ast_index){node_at(file, r), name, lo, hi, step};
    return i;
}

ast_indices *ast_new_indices(ast_file *file, src_range r, ast_list *items)
{
    ast_indices *l = arena_alloc(file->arena, sizeof(*l));
    l->node = node_at(file, r);
    l->items = (ast_index **)take(file, items, &l->n);
    return l;
}

ast_value *ast_new_value(ast_file *file, src_range r, ast_indices *indices, ast_expr *lo,
                         ast_expr *hi, ast_expr *step)
{
    ast_value *v = arena_alloc(file->arena, sizeof(*v));
    *v = (ast_value){node_at(file, r), indices, lo, hi, step};
    return v;
}

ast_prop *ast_new_prop(ast_file *file, src_range r, ast_ident owner, ast_ident name,
                       ast_expr *value)
{
    ast_prop *x = arena_alloc(file->arena, sizeof(*x));
    *x = (ast_prop){node_at(file, r), owner, name, value};
    return x;
}

ast_props *ast_new_props(ast_file *file, src_range r, ast_list *items)
{
    ast_props *x = arena_alloc(file->arena, sizeof(*x));
    x->node = node_at(file, r);
    x->items = (ast_prop **)take(file, items, &x->n);
    return x;
}

/* ---- classes ----------------------------------------------------------------------------- */

ast_call *ast_new_call(ast_file *file, src_range r, ast_call_kind kind, ast_ident flow,
                       ast_ident target, ast_list *args, src_range args_range)
{
    ast_call *c = arena_alloc(file->arena, sizeof(*c));
    c->node = node_at(file, r);
    c->kind = kind;
    c->flow = flow;
    c->target = target;
    c->args = (ast_value **)take(file, args, &c->n_args);
    c->args_range = args_range;
    return c;
}

ast_call *ast_index_call(ast_call *c, src_range r, ast_indices *indices)
{
    c->node.range = r;
    c->indices = indices;
    return c;
}

ast_dep *ast_new_dep(ast_file *file, src_range r, ast_expr *cond, ast_call *yes, ast_call *no)
{
    ast_dep *d = arena_alloc(file->arena, sizeof(*d));
    d->node = node_at(file, r);
    d->cond = cond;
    d->yes = yes;
    d->no = no;
    return d;
}

ast_dep *ast_finish_dep(ast_dep *d, src_range r, ast_dir dir, src_range arrow, ast_indices *indices,
                        ast_props *props)
{
    d->node.range = r;
    d->dir = dir;
    d->arrow = arrow;
    d->indices = indices;
    d->props = props;
    return d;
}

static ast_flow_kind kind_of_word(const char *word)
{
    if (strcmp(word, "READ") == 0 || strcmp(word, "RO") == 0)
        return AST_READ;
    if (strcmp(word, "WRITE") == 0 || strcmp(word, "WO") == 0)
        return AST_WRITE;
    return strcmp(word, "CTL") == 0 ? AST_CTL : AST_RW;
}

ast_flow *ast_new_flow(ast_file *file, src_range r, ast_ident kind_word, ast_ident name,
                       ast_list *deps)
{
    ast_flow *f = arena_alloc(file->arena, sizeof(*f));
    f->node = node_at(file, r);
    f->kind = kind_word.text ? kind_of_word(kind_word.text) : AST_RW;
    f->kind_word = kind_word;
    f->name = name;
    f->deps = (ast_dep **)take(file, deps, &f->n_deps);
    return f;
}

ast_local *ast_new_local(ast_file *file, src_range r, ast_ident name, ast_value *value,
                         ast_props *props)
{
    ast_local *l = arena_alloc(file->arena, sizeof(*l));
    l->node = node_at(file, r);
    l->name = name;
    l->value = value ? value : ast_new_value(file, r, NULL, ast_new_bad(file, r), NULL, NULL);
    l->props = props;
    return l;
}

ast_body *ast_new_body(ast_file *file, src_range r, src_range keyword, ast_props *props,
                       src_range c_text)
{
    ast_body *b = arena_alloc(file->arena, sizeof(*b));
    *b = (ast_body){node_at(file, r), keyword, props, c_text};
    return b;
}

ast_class *ast_new_class(ast_file *file, src_range head, ast_ident name, ast_list *params)
{
    ast_class *c = arena_alloc(file->arena, sizeof(*c));
    c->node = node_at(file, head);
    c->name = name;
    c->head = head;
    c->params = take_idents(file, params, &c->n_params);
    return c;
}

void ast_finish_class(ast_file *file, ast_class *c, src_range r, ast_list *locals,
                      ast_call *placement, ast_list *flows, ast_list *bodies)
{
    c->node.range = r;
    c->placement = placement;
    c->locals = (ast_local **)take(file, locals, &c->n_locals);
    c->flows = (ast_flow **)take(file, flows, &c->n_flows);
    c->bodies = (ast_body **)take(file, bodies, &c->n_bodies);
}

/* ---- file level -------------------------------------------------------------------------- */

static void *grow_array(arena *a, void *old, size_t n, size_t size)
{
    if (n & (n - 1))
        return old;                 /* capacity is the next power of two */
    char *bigger = arena_alloc(a, (n ? 2 * n : 1) * size);
    if (n)
        memcpy(bigger, old, n * size);
    return bigger;
}

#define PUSH(file, list, count, item)                                                           \
    ((list) = grow_array((file)->arena, (list), (count), sizeof(*(list))),                      \
     (list)[(count)++] = (item))

static void add_item(ast_file *file, ast_item item)
{
    PUSH(file, file->items, file->n_items, item);
}

ast_global *ast_add_global(ast_file *file, src_range r, ast_ident name, ast_expr *value,
                           ast_props *props)
{
    ast_global *g = arena_alloc(file->arena, sizeof(*g));
    *g = (ast_global){node_at(file, r), name, value, props};
    PUSH(file, file->globals, file->n_globals, g);
    add_item(file, (ast_item){AST_ITEM_GLOBAL, {.global = g}});
    return g;
}

void ast_add_option(ast_file *file, src_range r, ast_prop *prop)
{
    ast_option *o = arena_alloc(file->arena, sizeof(*o));
    *o = (ast_option){node_at(file, r), prop};
    PUSH(file, file->options, file->n_options, o);
    add_item(file, (ast_item){AST_ITEM_OPTION, {.option = o}});
}

void ast_add_precision(ast_file *file, src_range r, ast_list *items)
{
    ast_precision *x = arena_alloc(file->arena, sizeof(*x));
    x->node = node_at(file, r);
    x->items = take_idents(file, items, &x->n);
    if (!file->precision)
        file->precision = x;
    add_item(file, (ast_item){AST_ITEM_PRECISION, {.precision = x}});
}

static ast_assume *new_assume(ast_file *file, src_range r, ast_expr *e)
{
    ast_assume *a = arena_alloc(file->arena, sizeof(*a));
    *a = (ast_assume){node_at(file, r), e};
    PUSH(file, file->assumes, file->n_assumes, a);
    return a;
}

void ast_add_assume(ast_file *file, src_range r, ast_expr *e)
{
    add_item(file, (ast_item){AST_ITEM_ASSUME, {.assume = new_assume(file, r, e)}});
}

void ast_assume_too(ast_file *file, ast_expr *e)
{
    new_assume(file, e->node.range, e);
}

static ast_fact *new_fact(ast_file *file, src_range r, ast_ident name, ast_list *params)
{
    ast_fact *f = arena_alloc(file->arena, sizeof(*f));
    f->node = node_at(file, r);
    f->name = name;
    f->params = take_idents(file, params, &f->n_params);
    PUSH(file, file->facts.items, file->facts.n, f);
    add_item(file, (ast_item){AST_ITEM_FACT, {.fact = f}});
    return f;
}

void ast_add_fact(ast_file *file, src_range r, ast_ident name, ast_list *params, ast_expr *e,
                  ast_expr *hi)
{
    ast_fact *f = new_fact(file, r, name, params);
    f->kind = hi ? AST_FACT_RANGE : AST_FACT_VALUE;
    f->expr = e;
    f->hi = hi;
}

void ast_add_property(ast_file *file, src_range r, ast_ident name, ast_list *params, ast_ident word,
                      ast_ident other)
{
    ast_fact *f = new_fact(file, r, name, params);
    f->kind = ast_fact_called(word.text, other.text != NULL);
    f->word = word;
    f->other = other;
}

void ast_add_class(ast_file *file, ast_class *c)
{
    PUSH(file, file->classes, file->n_classes, c);
    add_item(file, (ast_item){AST_ITEM_CLASS, {.cls = c}});
}

ast_class *ast_take_class(ast_file *file)
{
    file->n_items--;
    return file->classes[--file->n_classes];
}

void ast_add_import(ast_file *file, src_range r, ast_ident prefix, ast_expr *path,
                    ast_props *props)
{
    ast_import *x = arena_alloc(file->arena, sizeof(*x));
    *x = (ast_import){node_at(file, r), prefix, path, props};
    PUSH(file, file->imports.items, file->imports.n, x);
    add_item(file, (ast_item){AST_ITEM_IMPORT, {.import = x}});
}

void ast_note_inlined(ast_file *file, uint32_t source)
{
    PUSH(file, file->imports.inlined, file->imports.n_inlined, source);
}

ast_code *ast_add_code(ast_file *file, src_range r, src_range c_text)
{
    ast_code *c = arena_alloc(file->arena, sizeof(*c));
    *c = (ast_code){node_at(file, r), c_text};
    add_item(file, (ast_item){AST_ITEM_CODE, {.code = c}});
    return c;
}

#include "parse_ctx.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- lists ------------------------------------------------------------------------------- */

parse_list *list_new(void)
{
    return util_alloc(sizeof(parse_list));
}

parse_list *list_add(parse_list *l, void *item)
{
    if (!l)
        l = list_new();
    if (!item)
        return l;
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 4;
        l->items = util_realloc(l->items, l->cap * sizeof(*l->items));
    }
    l->items[l->n++] = item;
    return l;
}

void list_free(parse_list *l)
{
    if (!l)
        return;
    free(l->items);
    free(l);
}

void **list_take(parse_ctx *p, parse_list *l, size_t *n)
{
    *n = l ? l->n : 0;
    void **items = l ? arena_copy(p->arena, l->items, l->n, sizeof(*l->items)) : NULL;
    list_free(l);
    return items;
}

/* A list of ast_ident * becomes an array of ast_ident. */
static ast_ident *take_idents(parse_ctx *p, parse_list *l, size_t *n)
{
    ast_ident **from = (ast_ident **)list_take(p, l, n);
    ast_ident *to = arena_alloc(p->arena, (*n + 1) * sizeof(*to));
    for (size_t i = 0; i < *n; i++)
        to[i] = *from[i];
    return to;
}

/* ---- names and literals ------------------------------------------------------------------ */

ast_ident ident_at(const char *name, src_range r)
{
    return (ast_ident){name, r};
}

ast_ident *ident_new(parse_ctx *p, const char *name, src_range r)
{
    ast_ident *i = arena_alloc(p->arena, sizeof(*i));
    *i = ident_at(name, r);
    return i;
}

const char *parse_name(parse_ctx *p, const char *bytes, size_t len)
{
    return names_intern(p->names, bytes, len);
}

static ast_node node_at(parse_ctx *p, src_range r)
{
    return (ast_node){p->ast->node_count++, r};
}

ast_expr *expr_new(parse_ctx *p, ast_expr_kind kind, src_range r)
{
    ast_expr *e = arena_alloc(p->arena, sizeof(*e));
    e->node = node_at(p, r);
    e->kind = kind;
    return e;
}

ast_expr *parse_integer(parse_ctx *p, src_range r, const char *bytes, size_t len)
{
    bool hex = len > 2 && (bytes[1] == 'x' || bytes[1] == 'X');
    uint64_t base = hex ? 16 : 10, value = 0;
    bool overflow = false;
    for (size_t i = hex ? 2 : 0; i < len; i++) {
        unsigned char c = (unsigned char)bytes[i];
        uint64_t digit = c <= '9' ? c - (uint64_t)'0' : (c | 0x20u) - (uint64_t)'a' + 10;
        if (value > ((uint64_t)INT64_MAX - digit) / base)
            overflow = true;
        else
            value = value * base + digit;
    }
    if (overflow)
        parse_report(p, CHECK_INTEGER_OVERFLOW, r,
                     "this integer does not fit in 64 bits (largest: 9223372036854775807)");
    else if (value > INT32_MAX && p->dialect == DIALECT_PARSEC)
        parse_report(p, CHECK_WIDE_INTEGER, r, "PaRSEC reads this integer as %d: it has 32 bits "
                     "there", (int)(uint32_t)value);
    ast_expr *e = expr_new(p, AST_INT, r);
    e->u.integer.value = overflow ? 1 : (int64_t)value;
    return e;
}

/* Value of the escape behind a backslash at *s, which is advanced behind it. */
static char unescape(const char **s, const char *end)
{
    static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
    char c = *(*s)++;
    const char *simple = c ? strchr(from, c) : NULL;
    if (simple)
        return to[simple - from];
    if (c < '0' || c > '7')
        return c;
    int value = c - '0';
    for (int i = 0; i < 2 && *s < end && **s >= '0' && **s <= '7'; i++)
        value = value * 8 + *(*s)++ - '0';
    return (char)value;
}

ast_expr *parse_string(parse_ctx *p, src_range r, const char *bytes, size_t len)
{
    bool closed = len > 1 && bytes[len - 1] == '"';
    const char *s = bytes + 1, *end = bytes + len - (closed ? 1 : 0);
    ast_expr *e = expr_new(p, AST_STRING, r);
    char *out = arena_alloc(p->arena, len + 1);
    size_t n = 0;
    while (s < end) {
        char c = *s++;
        if (c == '\\' && s < end) {
            if (*s == '\n') {
                s++;                /* a continued line */
                continue;
            }
            c = unescape(&s, end);
        }
        out[n++] = c;
    }
    e->u.string.text = out;
    e->u.string.len = n;
    return e;
}

ast_expr *expr_bool(parse_ctx *p, src_range r, bool value)
{
    ast_expr *e = expr_new(p, AST_BOOL, r);
    e->u.boolean = value;
    return e;
}

/* ---- expressions ------------------------------------------------------------------------- */

/* Gives e the depth of its deepest operand plus one; too deep a tree is cut here. */
static ast_expr *set_depth(parse_ctx *p, ast_expr *e, const ast_expr *a, const ast_expr *b,
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
    if (!p->told_depth)
        parse_report(p, CHECK_TOO_DEEP, e->node.range,
                     "this expression is nested more than %d levels deep", AST_MAX_DEPTH);
    p->told_depth = p->ast->has_errors = true;
    e->kind = AST_BAD;
    e->depth = 0;
    return e;
}

ast_expr *expr_name(parse_ctx *p, src_range r, const char *name)
{
    ast_expr *e = expr_new(p, AST_NAME, r);
    e->u.name = name;
    return e;
}

ast_expr *expr_member(parse_ctx *p, src_range r, ast_expr *object, ast_ident field, bool arrow)
{
    ast_expr *e = expr_new(p, AST_MEMBER, r);
    e->u.member.object = object;
    e->u.member.field = field;
    e->u.member.arrow = arrow;
    return set_depth(p, e, object, NULL, NULL);
}

ast_expr *expr_unary(parse_ctx *p, src_range r, ast_op op, ast_expr *operand)
{
    ast_expr *e = expr_new(p, AST_UNARY, r);
    e->u.unary.op = op;
    e->u.unary.operand = operand;
    return set_depth(p, e, operand, NULL, NULL);
}

ast_expr *expr_binary(parse_ctx *p, src_range r, ast_op op, src_range op_range, ast_expr *left,
                      ast_expr *right)
{
    ast_expr *e = expr_new(p, AST_BINARY, r);
    e->u.binary.op = op;
    e->u.binary.op_range = op_range;
    e->u.binary.left = left;
    e->u.binary.right = right;
    return set_depth(p, e, left, right, NULL);
}

ast_expr *expr_cond(parse_ctx *p, src_range r, ast_expr *test, ast_expr *yes, ast_expr *no)
{
    ast_expr *e = expr_new(p, AST_COND, r);
    e->u.cond.test = test;
    e->u.cond.yes = yes;
    e->u.cond.no = no;
    return set_depth(p, e, test, yes, no);
}

ast_expr *expr_code(parse_ctx *p, src_range r)
{
    ast_expr *e = expr_new(p, AST_INLINE_C, r);
    const char *bytes = src_text(p->sources, r);
    const char *open = memchr(bytes, '{', src_range_len(r));
    e->u.code.text = r;
    if (open && !p->fixed.file) {
        e->u.code.text.begin = r.begin + (uint32_t)(open - bytes) + 1;
        e->u.code.text.end = r.end - 2;
    }
    return e;
}

ast_expr *expr_call(parse_ctx *p, src_range r, ast_ident name, parse_list *args)
{
    ast_expr *e = expr_new(p, AST_CALL_VALUE, r);
    e->u.call.name = name;
    e->u.call.args = (ast_expr **)list_take(p, args, &e->u.call.n_args);
    for (size_t i = 0; i < e->u.call.n_args; i++)
        if (e->u.call.args[i]->depth >= e->depth)
            e->depth = (uint16_t)(e->u.call.args[i]->depth + 1);
    return e;
}

ast_expr *expr_parens(parse_ctx *p, src_range r, ast_expr *e)
{
    e->node.range = r;
    if (e->parens < UINT16_MAX)
        e->parens++;
    return set_depth(p, e, e, NULL, NULL);
}

ast_expr *expr_arrow(parse_ctx *p, src_range r, src_range op_range, ast_expr *left,
                     ast_expr *right)
{
    parse_report(p, CHECK_ARROW_COMPARISON, op_range, p->dialect == DIALECT_PARSEC ?
                 "'<-' in an expression is read as '< -' here; PaRSEC reads it as '->'" :
                 "'<-' in an expression is the comparison '< -'; write a blank between");
    if (!p->quiet)
        diag_fixit(p->d, op_range, "< -");
    src_range less = op_range, minus = op_range;
    if (!p->fixed.file)
        less.end = minus.begin = op_range.begin + 1;

    ast_expr **at = &right;
    while ((*at)->parens == 0 && ((*at)->kind == AST_BINARY || (*at)->kind == AST_COND)) {
        (*at)->node.range.begin = minus.begin;
        (*at)->depth++;
        at = (*at)->kind == AST_BINARY ? &(*at)->u.binary.left : &(*at)->u.cond.test;
    }
    *at = expr_unary(p, src_join(minus, (*at)->node.range), AST_OP_NEG, *at);
    return expr_binary(p, r, AST_OP_LT, less, left, right);
}

/* ---- index lists, values, properties ----------------------------------------------------- */

ast_index *index_new(parse_ctx *p, src_range r, ast_ident name, ast_expr *lo, ast_expr *hi,
                     ast_expr *step)
{
    ast_index *i = arena_alloc(p->arena, sizeof(*i));
    *i = (ast_index){node_at(p, r), name, lo, hi, step};
    return i;
}

ast_indices *indices_new(parse_ctx *p, src_range r, parse_list *items)
{
    ast_indices *l = arena_alloc(p->arena, sizeof(*l));
    l->node = node_at(p, r);
    l->items = (ast_index **)list_take(p, items, &l->n);
    return l;
}

ast_value *value_new(parse_ctx *p, src_range r, ast_expr *lo, ast_expr *hi, ast_expr *step)
{
    ast_value *v = arena_alloc(p->arena, sizeof(*v));
    *v = (ast_value){node_at(p, r), NULL, lo, hi, step};
    return v;
}

ast_value *value_indexed(parse_ctx *p, src_range r, ast_indices *indices, ast_expr *e)
{
    ast_value *v = value_new(p, r, e, NULL, NULL);
    v->indices = indices;
    return v;
}

ast_prop *prop_new(parse_ctx *p, src_range r, ast_ident owner, ast_ident name, ast_expr *value)
{
    ast_prop *x = arena_alloc(p->arena, sizeof(*x));
    *x = (ast_prop){node_at(p, r), owner, name, value};
    if (value && value->kind == AST_STRING && !owner.text &&
        (strcmp(name.text, "default") == 0 || strcmp(name.text, "size") == 0))
        list_add(&p->strings, value);
    return x;
}

ast_props *props_new(parse_ctx *p, src_range r, parse_list *items)
{
    ast_props *x = arena_alloc(p->arena, sizeof(*x));
    x->node = node_at(p, r);
    x->items = (ast_prop **)list_take(p, items, &x->n);
    return x;
}

/* ---- classes ----------------------------------------------------------------------------- */

ast_call *call_new(parse_ctx *p, src_range r, ast_call_kind kind, ast_ident flow,
                   ast_ident target, parse_list *args, src_range args_range)
{
    ast_call *c = arena_alloc(p->arena, sizeof(*c));
    c->node = node_at(p, r);
    c->kind = kind;
    c->flow = flow;
    c->target = target;
    c->args = (ast_value **)list_take(p, args, &c->n_args);
    c->args_range = args_range;
    return c;
}

ast_call *call_indexed(ast_call *c, src_range r, ast_indices *indices)
{
    c->node.range = r;
    c->indices = indices;
    return c;
}

ast_dep *dep_new(parse_ctx *p, src_range r, ast_expr *cond, ast_call *yes, ast_call *no)
{
    ast_dep *d = arena_alloc(p->arena, sizeof(*d));
    d->node = node_at(p, r);
    d->cond = cond;
    d->yes = yes;
    d->no = no;
    return d;
}

ast_dep *dep_finish(ast_dep *d, src_range r, ast_dir dir, src_range arrow, ast_indices *indices,
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

ast_flow *flow_new(parse_ctx *p, src_range r, ast_ident kind_word, ast_ident name,
                   parse_list *deps)
{
    ast_flow *f = arena_alloc(p->arena, sizeof(*f));
    f->node = node_at(p, r);
    f->kind = kind_word.text ? kind_of_word(kind_word.text) : AST_RW;
    f->kind_word = kind_word;
    f->name = name;
    f->deps = (ast_dep **)list_take(p, deps, &f->n_deps);
    return f;
}

ast_flow *flow_without_kind(parse_ctx *p, src_range r, ast_ident name, parse_list *deps)
{
    parse_report(p, CHECK_MISSING_KIND, name.range,
                 "flow '%s' has no kind; write RW, READ, WRITE or CTL before it%s", name.text,
                 p->dialect == DIALECT_PARSEC ? " (taken as RW)" : "");
    return flow_new(p, r, (ast_ident){0}, name, deps);
}

ast_flow *flow_bad_kind(parse_ctx *p, src_range r, ast_ident kind_word, ast_ident name,
                        parse_list *deps)
{
    util_guess g = {.word = kind_word.text};
    util_guess_add(&g, "RW");
    util_guess_add(&g, "READ");
    util_guess_add(&g, "WRITE");
    util_guess_add(&g, "CTL");
    if (g.best) {
        parse_report(p, CHECK_UNKNOWN_KIND, kind_word.range,
                     "unknown flow kind '%s'; did you mean '%s'?", kind_word.text, g.best);
        diag_fixit(p->d, kind_word.range, g.best);
        kind_word.text = parse_name(p, g.best, strlen(g.best));
    } else {
        parse_report(p, CHECK_UNKNOWN_KIND, kind_word.range,
                     "unknown flow kind '%s'; write RW, READ, WRITE or CTL", kind_word.text);
    }
    return flow_new(p, r, kind_word, name, deps);
}

ast_local *local_new(parse_ctx *p, src_range r, ast_ident name, ast_value *value,
                     ast_props *props)
{
    ast_local *l = arena_alloc(p->arena, sizeof(*l));
    l->node = node_at(p, r);
    l->name = name;
    l->value = value ? value : value_new(p, r, expr_new(p, AST_BAD, r), NULL, NULL);
    l->props = props;
    return l;
}

ast_body *body_new(parse_ctx *p, src_range r, src_range keyword, ast_props *props, src_range inside)
{
    ast_body *b = arena_alloc(p->arena, sizeof(*b));
    *b = (ast_body){node_at(p, r), keyword, props, inside};
    return b;
}

ast_class *class_head(parse_ctx *p, src_range r, ast_ident name, parse_list *params)
{
    ast_class *c = arena_alloc(p->arena, sizeof(*c));
    c->node = node_at(p, r);
    c->name = name;
    c->head = r;
    c->params = take_idents(p, params, &c->n_params);
    return c;
}

void class_finish(parse_ctx *p, ast_class *c, src_range r, parse_list *locals,
                  ast_call *placement, parse_list *flows, parse_list *bodies)
{
    c->node.range = r;
    c->placement = placement;
    c->locals = (ast_local **)list_take(p, locals, &c->n_locals);
    c->flows = (ast_flow **)list_take(p, flows, &c->n_flows);
    c->bodies = (ast_body **)list_take(p, bodies, &c->n_bodies);
}

void missing_colon(parse_ctx *p, const ast_call *placement)
{
    src_range at = placement->node.range;
    parse_report(p, CHECK_MISSING_COLON, at, "the placement of a task class begins with ':'");
    at.end = at.begin;
    diag_fixit(p->d, at, ": ");
}

void keyword_as_name(parse_ctx *p, src_range r)
{
    parse_report(p, CHECK_SYNTAX, r, "'%.*s' is a keyword and cannot be the name of a parameter or "
                 "local", (int)src_range_len(r), src_text(p->sources, r));
    p->ast->has_errors = true;
}

/* ---- file level -------------------------------------------------------------------------- */

static ast_item *add_item(parse_ctx *p, ast_item_kind kind)
{
    ast_item *i = arena_alloc(p->arena, sizeof(*i));
    i->kind = kind;
    list_add(&p->items, i);
    return i;
}

ast_global *global_new(parse_ctx *p, src_range r, ast_ident name, ast_expr *value,
                       ast_props *props)
{
    if (strcasecmp(name.text, "body") == 0 && strcmp(name.text, "BODY") != 0)
        parse_report(p, CHECK_SYNTAX, name.range, "a global cannot be called '%s': alone on a line "
                     "it begins a body", name.text);
    ast_global *g = arena_alloc(p->arena, sizeof(*g));
    *g = (ast_global){node_at(p, r), name, value, props};
    if (value && value->kind == AST_STRING)
        list_add(&p->strings, value);
    return g;
}

void add_global(parse_ctx *p, ast_global *g)
{
    add_item(p, AST_ITEM_GLOBAL)->u.global = g;
}

void add_option(parse_ctx *p, src_range r, ast_prop *prop)
{
    ast_option *o = arena_alloc(p->arena, sizeof(*o));
    *o = (ast_option){node_at(p, r), prop};
    add_item(p, AST_ITEM_OPTION)->u.option = o;
}

void add_precision(parse_ctx *p, src_range r, parse_list *items)
{
    ast_precision *x = arena_alloc(p->arena, sizeof(*x));
    x->node = node_at(p, r);
    x->items = take_idents(p, items, &x->n);
    add_item(p, AST_ITEM_PRECISION)->u.precision = x;
}

void add_assume(parse_ctx *p, src_range r, ast_expr *e)
{
    ast_assume *a = arena_alloc(p->arena, sizeof(*a));
    *a = (ast_assume){node_at(p, r), e};
    add_item(p, AST_ITEM_ASSUME)->u.assume = a;
}

void add_class(parse_ctx *p, ast_class *c)
{
    add_item(p, AST_ITEM_CLASS)->u.cls = c;
}

void add_code(parse_ctx *p, src_range r, src_range code)
{
    ast_code *c = arena_alloc(p->arena, sizeof(*c));
    const char *bytes = src_text(p->sources, code);
    size_t brace = (size_t)((const char *)memchr(bytes, '{', src_range_len(code)) - bytes) + 1;
    c->node = node_at(p, r);
    c->text = (src_range){code.file, code.begin + (uint32_t)brace, code.end - 2};
    add_item(p, AST_ITEM_CODE)->u.code = c;
}

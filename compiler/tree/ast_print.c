/* --emit=ast: the tree as an indented listing, one node per line. */
#include "ast.h"

typedef struct dumper {
    const ast_file *file;
    text *out;
    int depth;
    bool ranges;
} dumper;

static void line(dumper *d, const ast_node *n, const char *fmt, ...) UTIL_PRINTF(3, 4);

static void put_range(dumper *d, src_range r)
{
    if (!d->ranges || src_range_is_none(r))
        return;
    src_pos b = src_begin(d->file->sources, r), e = src_last(d->file->sources, r);
    text_printf(d->out, " <%u:%u-%u:%u>", b.line, b.col, e.line, e.col);
}

static void line(dumper *d, const ast_node *n, const char *fmt, ...)
{
    text_printf(d->out, "%*s", 2 * d->depth, "");
    TEXT_PRINT_ARGUMENTS(d->out, fmt);
    if (n)
        put_range(d, n->range);
    text_putc(d->out, '\n');
}

/* Source text on one line: control characters escaped. */
static void put_quoted(text *out, const char *bytes, size_t len)
{
    text_putc(out, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c == '\n')
            text_puts(out, "\\n");
        else if (c == '"' || c == '\\')
            text_printf(out, "\\%c", c);
        else if (c < 0x20)
            text_printf(out, "\\x%02x", c);
        else
            text_putc(out, (char)c);
    }
    text_putc(out, '"');
}

static void quoted_line(dumper *d, const ast_node *n, const char *what, const char *bytes,
                        size_t len)
{
    text t = {0};
    put_quoted(&t, bytes, len);
    line(d, n, "%s %s", what, text_str(&t));
    text_free(&t);
}

static void dump_expr(dumper *d, const char *role, const ast_expr *e);

static void dump_child(const ast_expr *e, void *arg)
{
    dump_expr(arg, NULL, e);
}

static void expr_line(dumper *d, const char *label, const ast_expr *e)
{
    const ast_node *n = &e->node;
    switch (e->kind) {
    case AST_INT:
        line(d, n, "%sint %lld", label, (long long)e->u.integer.value);
        break;
    case AST_BOOL:
        line(d, n, "%s%s", label, e->u.boolean ? "on" : "off");
        break;
    case AST_STRING: {
        text t = {0};
        text_printf(&t, "%sstring", label);
        quoted_line(d, n, text_str(&t), e->u.string.text, e->u.string.len);
        text_free(&t);
        break;
    }
    case AST_NAME:
        line(d, n, "%sname %s", label, e->u.name);
        break;
    case AST_MEMBER:
        line(d, n, "%smember %s%s", label, e->u.member.arrow ? "->" : ".",
             e->u.member.field.text);
        break;
    case AST_UNARY:
        line(d, n, "%sunary %s", label, ast_op_text(e->u.unary.op));
        break;
    case AST_BINARY:
        line(d, n, "%sbinary %s", label, ast_op_text(e->u.binary.op));
        break;
    case AST_COND:
        line(d, n, "%scond", label);
        break;
    case AST_INLINE_C: {
        text t = {0};
        text_printf(&t, "%sinline-c", label);
        quoted_line(d, n, text_str(&t), src_text(d->file->sources, e->u.code.text),
                    src_range_len(e->u.code.text));
        text_free(&t);
        break;
    }
    case AST_CALL_VALUE:
        line(d, n, "%scall %s", label, e->u.call.name.text);
        break;
    case AST_BAD:
        line(d, n, "%sbad", label);
        break;
    }
}

static void dump_expr(dumper *d, const char *role, const ast_expr *e)
{
    if (!e)
        return;
    char label[64];
    snprintf(label, sizeof(label), "%s%s%.*s", role ? role : "", role ? " " : "",
             e->parens < 20 ? e->parens : 20, "((((((((((((((((((((");
    expr_line(d, label, e);
    d->depth++;
    ast_each_child(e, dump_child, d);
    d->depth--;
}

static void dump_indices(dumper *d, const ast_indices *l)
{
    if (!l)
        return;
    line(d, &l->node, "indices");
    d->depth++;
    for (size_t i = 0; i < l->n; i++) {
        line(d, &l->items[i]->node, "index %s", l->items[i]->name.text);
        d->depth++;
        dump_expr(d, l->items[i]->hi ? "from" : NULL, l->items[i]->lo);
        dump_expr(d, "to", l->items[i]->hi);
        dump_expr(d, "step", l->items[i]->step);
        d->depth--;
    }
    d->depth--;
}

static void dump_value(dumper *d, const ast_value *v)
{
    dump_indices(d, v->indices);
    dump_expr(d, v->hi ? "from" : NULL, v->lo);
    dump_expr(d, "to", v->hi);
    dump_expr(d, "step", v->step);
}

static void dump_props(dumper *d, const ast_props *props)
{
    for (size_t i = 0; props && i < props->n; i++) {
        const ast_prop *x = props->items[i];
        line(d, &x->node, "property %s%s%s", x->owner.text ? x->owner.text : "",
             x->owner.text ? "." : "", x->name.text);
        d->depth++;
        dump_expr(d, NULL, x->value);
        d->depth--;
    }
}

static void dump_call(dumper *d, const char *role, const ast_call *c)
{
    if (!c)
        return;
    switch (c->kind) {
    case AST_CALL_TASK:
        line(d, &c->node, "%stask %s %s", role, c->flow.text, c->target.text);
        break;
    case AST_CALL_MEMORY:
        line(d, &c->node, "%smemory %s", role, c->target.text);
        break;
    case AST_CALL_NEW:
    case AST_CALL_NULL:
        line(d, &c->node, "%s%s", role, c->target.text);
        break;
    }
    d->depth++;
    dump_indices(d, c->indices);
    for (size_t i = 0; i < c->n_args; i++) {
        line(d, &c->args[i]->node, "argument");
        d->depth++;
        dump_value(d, c->args[i]);
        d->depth--;
    }
    dump_props(d, c->props);
    d->depth--;
}

static void dump_flow(dumper *d, const ast_flow *f)
{
    line(d, &f->node, "flow %s %s", ast_flow_kind_text(f->kind), f->name.text);
    d->depth++;
    for (size_t i = 0; i < f->n_deps; i++) {
        const ast_dep *x = f->deps[i];
        line(d, &x->node, x->dir == AST_IN ? "input" : "output");
        d->depth++;
        dump_indices(d, x->indices);
        dump_expr(d, "if", x->cond);
        dump_call(d, "", x->yes);
        dump_call(d, "else ", x->no);
        dump_props(d, x->props);
        d->depth--;
    }
    d->depth--;
}

static void dump_body(dumper *d, const ast_body *b)
{
    line(d, &b->node, "body");
    d->depth++;
    dump_props(d, b->props);
    quoted_line(d, NULL, "text", src_text(d->file->sources, b->text), src_range_len(b->text));
    d->depth--;
}

static void dump_class(dumper *d, const ast_class *c)
{
    line(d, &c->node, "class %s", c->name.text);
    d->depth++;
    for (size_t i = 0; i < c->n_params; i++)
        line(d, NULL, "parameter %s", c->params[i].text);
    dump_props(d, c->props);
    for (size_t i = 0; i < c->n_locals; i++) {
        line(d, &c->locals[i]->node, "local %s", c->locals[i]->name.text);
        d->depth++;
        dump_value(d, c->locals[i]->value);
        dump_props(d, c->locals[i]->props);
        d->depth--;
    }
    dump_expr(d, "simcost", c->simcost);
    dump_call(d, "placement ", c->placement);
    for (size_t i = 0; i < c->n_flows; i++)
        dump_flow(d, c->flows[i]);
    dump_expr(d, "priority", c->priority);
    for (size_t i = 0; i < c->n_bodies; i++)
        dump_body(d, c->bodies[i]);
    d->depth--;
}

static void dump_global(dumper *d, const ast_global *g)
{
    line(d, &g->node, "global %s", g->name.text);
    d->depth++;
    dump_expr(d, "value", g->value);
    dump_props(d, g->props);
    d->depth--;
}

static void dump_item(dumper *d, const ast_item *item)
{
    switch (item->kind) {
    case AST_ITEM_GLOBAL:
        dump_global(d, item->u.global);
        return;
    case AST_ITEM_OPTION: {
        const ast_prop *x = item->u.option->prop;
        line(d, &x->node, "option %s", x->name.text);
        d->depth++;
        dump_expr(d, NULL, x->value);
        d->depth--;
        return;
    }
    case AST_ITEM_PRECISION:
        line(d, &item->u.precision->node, "precision");
        d->depth++;
        for (size_t i = 0; i < item->u.precision->n; i++)
            line(d, NULL, "%s", item->u.precision->items[i].text);
        d->depth--;
        return;
    case AST_ITEM_ASSUME:
        line(d, &item->u.assume->node, "assume");
        d->depth++;
        dump_expr(d, NULL, item->u.assume->expr);
        d->depth--;
        return;
    case AST_ITEM_CLASS:
        dump_class(d, item->u.cls);
        return;
    case AST_ITEM_IMPORT:
        line(d, &item->u.import->node, "import %s", item->u.import->prefix.text);
        d->depth++;
        dump_expr(d, "path", item->u.import->path);
        dump_props(d, item->u.import->props);
        d->depth--;
        return;
    case AST_ITEM_FACT:
        line(d, &item->u.fact->node, "fact %s", item->u.fact->name.text);
        d->depth++;
        for (size_t i = 0; i < item->u.fact->n_params; i++)
            line(d, NULL, "%s", item->u.fact->params[i].text);
        if (item->u.fact->word.text)
            line(d, NULL, "%s %s", item->u.fact->word.text,
                 item->u.fact->other.text ? item->u.fact->other.text : "");
        dump_expr(d, NULL, item->u.fact->expr);
        dump_expr(d, NULL, item->u.fact->hi);
        d->depth--;
        return;
    case AST_ITEM_CODE:
        quoted_line(d, &item->u.code->node, "code",
                    src_text(d->file->sources, item->u.code->text),
                    src_range_len(item->u.code->text));
        return;
    }
}

void ast_dump(const ast_file *file, text *out, bool with_ranges)
{
    dumper d = {.file = file, .out = out, .ranges = with_ranges};
    for (size_t i = 0; i < file->n_items; i++)
        dump_item(&d, &file->items[i]);
}

#include "unparse.h"

#include <string.h>

/* ---- expressions ------------------------------------------------------------------------- */

static void put_escaped(text *out, const ast_expr *e)
{
    text_putc(out, '"');
    for (size_t i = 0; i < e->u.string.len; i++) {
        unsigned char c = (unsigned char)e->u.string.text[i];
        if (c == '"' || c == '\\')
            text_printf(out, "\\%c", c);
        else if (c == '\n')
            text_puts(out, "\\n");
        else if (c == '\t')
            text_puts(out, "\\t");
        else if (c < 0x20)
            text_printf(out, "\\%03o", c);
        else
            text_putc(out, (char)c);
    }
    text_putc(out, '"');
}

static void put_binary(const ast_file *file, const ast_expr *e, text *out)
{
    /* multiplication binds visibly: no blanks around * / % */
    ast_op op = e->u.binary.op;
    bool tight = op == AST_OP_MUL || op == AST_OP_DIV || op == AST_OP_MOD;
    unparse_expr(file, e->u.binary.left, out);
    text_printf(out, tight ? "%s" : " %s ", ast_op_text(op));
    unparse_expr(file, e->u.binary.right, out);
}

static void put_call_value(const ast_file *file, const ast_expr *e, text *out)
{
    text_printf(out, "%s(", e->u.call.name.text);
    for (size_t i = 0; i < e->u.call.n_args; i++) {
        text_puts(out, i ? ", " : "");
        unparse_expr(file, e->u.call.args[i], out);
    }
    text_putc(out, ')');
}

static void put_unary(const ast_file *file, const ast_expr *e, text *out)
{
    text_puts(out, ast_op_text(e->u.unary.op));
    unparse_expr(file, e->u.unary.operand, out);
}

/* The digits as written, so that hexadecimal stays hexadecimal. */
static void put_integer(const ast_file *file, const ast_expr *e, text *out)
{
    src_range r = e->node.range;
    const char *bytes = src_text(file->sources, r);
    if (e->parens == 0 && src_range_len(r) > 2 && bytes[0] == '0' &&
        (bytes[1] == 'x' || bytes[1] == 'X'))
        text_add(out, bytes, src_range_len(r));
    else
        text_printf(out, "%lld", (long long)e->u.integer.value);
}

static void put_unparenthesised(const ast_file *file, const ast_expr *e, text *out)
{
    switch (e->kind) {
    case AST_INT:
        put_integer(file, e, out);
        break;
    case AST_BOOL:
        text_puts(out, e->u.boolean ? "on" : "off");
        break;
    case AST_STRING:
        put_escaped(out, e);
        break;
    case AST_NAME:
        text_puts(out, e->u.name);
        break;
    case AST_MEMBER:
        unparse_expr(file, e->u.member.object, out);
        text_printf(out, "%s%s", e->u.member.arrow ? "->" : ".", e->u.member.field.text);
        break;
    case AST_UNARY:
        put_unary(file, e, out);
        break;
    case AST_BINARY:
        put_binary(file, e, out);
        break;
    case AST_COND:
        unparse_expr(file, e->u.cond.test, out);
        text_puts(out, " ? ");
        unparse_expr(file, e->u.cond.yes, out);
        text_puts(out, " : ");
        unparse_expr(file, e->u.cond.no, out);
        break;
    case AST_INLINE_C:
        text_puts(out, "%{");
        text_add(out, src_text(file->sources, e->u.code.text), src_range_len(e->u.code.text));
        text_puts(out, "%}");
        break;
    case AST_CALL_VALUE:
        put_call_value(file, e, out);
        break;
    case AST_BAD:
        text_puts(out, "<error>");
        break;
    }
}

void unparse_expr(const ast_file *file, const ast_expr *e, text *out)
{
    for (uint16_t i = 0; i < e->parens; i++)
        text_putc(out, '(');
    put_unparenthesised(file, e, out);
    for (uint16_t i = 0; i < e->parens; i++)
        text_putc(out, ')');
}

static void put_range(const ast_file *file, const ast_expr *lo, const ast_expr *hi,
                      const ast_expr *step, text *out)
{
    unparse_expr(file, lo, out);
    if (hi) {
        text_puts(out, " .. ");
        unparse_expr(file, hi, out);
    }
    if (step) {
        text_puts(out, " .. ");
        unparse_expr(file, step, out);
    }
}

static void put_indices(const ast_file *file, const ast_indices *l, text *out)
{
    text_putc(out, '[');
    for (size_t i = 0; i < l->n; i++) {
        text_printf(out, "%s%s = ", i ? ", " : "", l->items[i]->name.text);
        put_range(file, l->items[i]->lo, l->items[i]->hi, l->items[i]->step, out);
    }
    text_puts(out, "] ");
}

void unparse_value(const ast_file *file, const ast_value *v, text *out)
{
    if (v->indices)
        put_indices(file, v->indices, out);
    put_range(file, v->lo, v->hi, v->step, out);
}

void unparse_call(const ast_file *file, const ast_call *c, text *out)
{
    if (c->indices)
        put_indices(file, c->indices, out);
    if (c->kind == AST_CALL_TASK)
        text_printf(out, "%s ", c->flow.text);
    text_puts(out, c->target.text);
    if (c->kind == AST_CALL_NEW || c->kind == AST_CALL_NULL)
        return;
    text_putc(out, '(');
    for (size_t i = 0; i < c->n_args; i++) {
        text_puts(out, i ? ", " : "");
        unparse_value(file, c->args[i], out);
    }
    text_putc(out, ')');
}

void unparse_props(const ast_file *file, const ast_props *props, text *out)
{
    text_putc(out, '[');
    for (size_t i = 0; i < props->n; i++) {
        const ast_prop *x = props->items[i];
        text_puts(out, i ? " " : "");
        if (x->owner.text)
            text_printf(out, "%s.", x->owner.text);
        text_puts(out, x->name.text);
        if (x->value) {
            text_puts(out, " = ");
            unparse_expr(file, x->value, out);
        }
    }
    text_putc(out, ']');
}

void unparse_dep(const ast_file *file, const ast_dep *d, text *out)
{
    text_puts(out, d->dir == AST_IN ? "<- " : "-> ");
    if (d->indices)
        put_indices(file, d->indices, out);
    if (d->cond) {
        unparse_expr(file, d->cond, out);
        text_puts(out, " ? ");
    }
    unparse_call(file, d->yes, out);
    if (d->yes->props) {
        text_putc(out, ' ');
        unparse_props(file, d->yes->props, out);
    }
    if (d->no) {
        text_puts(out, " : ");
        unparse_call(file, d->no, out);
    }
    if (d->props) {
        text_putc(out, ' ');
        unparse_props(file, d->props, out);
    }
}

/* Expressions in C. */
#include "emit_impl.h"

void emit_var(emitter *e, plan_var *var)
{
    var->mark = e->stamp;
    text_puts(&e->body, var->c_name);
}

static void emit_int(emitter *e, int64_t value, emit_prec around)
{
    bool large = value > (1 << 24) || value < -(1 << 24);
    if (value == INT64_MIN)
        text_puts(&e->body, "INT64_MIN");
    else if (value < 0 && around == EMIT_PREC_ATOM)
        text_printf(&e->body, large ? "(-INT64_C(%lld))" : "(-%lld)", -(long long)value);
    else if (large)
        text_printf(&e->body, "%sINT64_C(%lld)", value < 0 ? "-" : "",
                    value < 0 ? -(long long)value : (long long)value);
    else
        text_printf(&e->body, "%lld", (long long)value);
}

static emit_prec prec_of(const plan_expr *x)
{
    if (x->kind == PLAN_COND)
        return EMIT_PREC_COND;
    if (x->kind == PLAN_UNARY)
        return EMIT_PREC_UNARY;
    if (x->kind != PLAN_BINARY)
        return EMIT_PREC_ATOM;
    switch (x->u.op.op) {
    case AST_OP_OR: return EMIT_PREC_OR;
    case AST_OP_AND: return EMIT_PREC_AND;
    case AST_OP_XOR: return EMIT_PREC_XOR;
    case AST_OP_EQ: case AST_OP_NE: case AST_OP_LT: case AST_OP_LE: case AST_OP_GT:
    case AST_OP_GE: return EMIT_PREC_COMPARE;
    case AST_OP_ADD: case AST_OP_SUB: return EMIT_PREC_SUM;
    case AST_OP_MUL: return EMIT_PREC_PRODUCT;
    case AST_OP_DIV: case AST_OP_MOD:
        return x->u.op.b->kind == PLAN_INT && x->u.op.b->u.integer > 0 ? EMIT_PREC_PRODUCT
                                                                       : EMIT_PREC_ATOM;
    default: return EMIT_PREC_ATOM;
    }
}

static bool is_truth(const plan_expr *x)
{
    emit_prec prec = prec_of(x);
    return prec == EMIT_PREC_OR || prec == EMIT_PREC_AND || prec == EMIT_PREC_COMPARE
           || (prec == EMIT_PREC_UNARY && x->u.op.op == AST_OP_NOT);
}

/* A factor: truth values are int in C and would be multiplied as such. */
static void emit_factor(emitter *e, const plan_expr *x, emit_prec around)
{
    if (is_truth(x))
        text_puts(&e->body, "(int64_t)");
    emit_expr(e, x, is_truth(x) ? EMIT_PREC_ATOM : around);
}

static void emit_call(emitter *e, const char *fn, const plan_expr *x)
{
    bool globals = x->u.op.op == AST_OP_DIV || x->u.op.op == AST_OP_MOD;
    text_printf(&e->body, "%s(%s", fn, globals ? "g, " : "");
    e->uses_globals |= globals;
    emit_expr(e, x->u.op.a, EMIT_PREC_COND);
    text_puts(&e->body, ", ");
    emit_expr(e, x->u.op.b, EMIT_PREC_COND);
    text_putc(&e->body, ')');
}

static void emit_binary(emitter *e, const plan_expr *x)
{
    const plan_expr *a = x->u.op.a, *b = x->u.op.b;
    emit_prec prec = prec_of(x), left = prec, right = prec;
    switch (x->u.op.op) {
    case AST_OP_SHL: emit_call(e, "dag_shl", x); return;
    case AST_OP_SHR: emit_call(e, "dag_shr", x); return;
    case AST_OP_DIV: case AST_OP_MOD:
        if (prec == EMIT_PREC_ATOM) {
            emit_call(e, x->u.op.op == AST_OP_DIV ? "dag_div" : "dag_mod", x);
            return;
        }
        right = EMIT_PREC_UNARY;
        break;
    case AST_OP_OR: case AST_OP_AND:
        left = prec_of(a) == prec ? prec : EMIT_PREC_COMPARE;
        right = EMIT_PREC_COMPARE;
        break;
    case AST_OP_XOR: left = right = EMIT_PREC_UNARY; break;
    case AST_OP_ADD: case AST_OP_SUB: right = EMIT_PREC_PRODUCT; break;
    case AST_OP_MUL: right = EMIT_PREC_UNARY; break;
    default: left = right = EMIT_PREC_SUM; break;
    }
    if (prec == EMIT_PREC_PRODUCT)
        emit_factor(e, a, left);
    else
        emit_expr(e, a, left);
    text_printf(&e->body, " %s ", ast_op_text(x->u.op.op));
    if (prec == EMIT_PREC_PRODUCT)
        emit_factor(e, b, right);
    else
        emit_expr(e, b, right);
}

static void emit_code_call(emitter *e, const plan_expr *x)
{
    const plan_code *code = x->u.call.code;
    e->uses_globals = true;
    text_printf(&e->body, "%s(g", code->fn);
    if (code->with_task)
        text_printf(&e->body, ", %s", e->task ? e->task : "NULL");
    for (size_t i = 0; i < code->n_vars; i++) {
        text_puts(&e->body, ", (int)");
        emit_expr(e, x->u.call.args[i], EMIT_PREC_ATOM);
    }
    text_putc(&e->body, ')');
}

static void emit_operator(emitter *e, const plan_expr *x)
{
    switch (x->kind) {
    case PLAN_UNARY:
        text_puts(&e->body, x->u.op.op == AST_OP_NOT ? "!" : "-");
        emit_expr(e, x->u.op.a, EMIT_PREC_ATOM);
        break;
    case PLAN_BINARY: emit_binary(e, x); break;
    default:
        emit_expr(e, x->u.cond.test, EMIT_PREC_OR);
        text_puts(&e->body, " ? ");
        emit_expr(e, x->u.cond.yes, EMIT_PREC_OR);
        text_puts(&e->body, " : ");
        emit_expr(e, x->u.cond.no, EMIT_PREC_OR);
        break;
    }
}

void emit_expr(emitter *e, const plan_expr *x, emit_prec around)
{
    switch (x->kind) {
    case PLAN_INT: emit_int(e, x->u.integer, around); return;
    case PLAN_VAR: emit_var(e, x->u.var); return;
    case PLAN_GLOBAL:
        e->uses_globals = true;
        text_printf(&e->body, "g->%s", x->u.global->name);
        return;
    case PLAN_MEMBER:
        e->uses_globals = true;
        text_printf(&e->body, "g->%s", x->u.member->field);
        return;
    case PLAN_CODE: emit_code_call(e, x); return;
    default: break;
    }
    bool parens = prec_of(x) < around;
    if (parens)
        text_putc(&e->body, '(');
    emit_operator(e, x);
    if (parens)
        text_putc(&e->body, ')');
}

void emit_bound(emitter *e, const plan_expr *x, bool check, int line, emit_prec around)
{
    if (!check) {
        emit_expr(e, x, around);
        return;
    }
    e->uses_globals = true;
    text_printf(&e->body, "dag_bound(g, &%s_%s_class, %d, ", e->name, e->cls->name, line);
    emit_expr(e, x, EMIT_PREC_COND);
    text_putc(&e->body, ')');
}

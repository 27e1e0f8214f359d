/* The other side of an edge, derived: from '-> A T(k+1)' in S(k) follows '<- A S(k-1)' in T(k). */
#include "sema_ctx.h"

#include "tree/unparse.h"

#include <string.h>

/* What each parameter of the edge's own class is in terms of the target's parameters: text, or
 * NULL where the arguments do not tell. */
typedef struct inverse {
    sema *s;
    const sema_edge *e;
    const char **of_param;
    bool failed;
} inverse;

static const char *target_param(const inverse *v, size_t i)
{
    return v->e->target_class->ast->params[i].text;
}

static const char *substitute(inverse *v, const ast_expr *e);

/* The parameter named by e, or -1. */
static int param_named(const inverse *v, const ast_expr *e)
{
    if (e->kind != AST_NAME)
        return -1;
    const sema_class *c = v->e->flow->cls;
    for (size_t i = 0; i < c->n_params; i++)
        if (c->ast->params[i].text == e->u.name)
            return (int)i;
    return -1;
}

static bool names_param(const inverse *v, const ast_expr *e);

typedef struct param_search {
    const inverse *v;
    bool found;
} param_search;

static void search_param(const ast_expr *child, void *arg)
{
    param_search *p = arg;
    if (names_param(p->v, child))
        p->found = true;
}

/* True when e depends on the class's locals in any way. */
static bool names_param(const inverse *v, const ast_expr *e)
{
    if (e->kind == AST_INLINE_C)
        return true;
    if (e->kind == AST_NAME && ast_find_local(v->e->flow->cls->ast, e->u.name))
        return true;
    param_search p = {v, false};
    ast_each_child(e, search_param, &p);
    return p.found;
}

static const char *plain_text(inverse *v, const ast_expr *e)
{
    text t = {0};
    bool brackets = e->parens == 0 && (e->kind == AST_BINARY || e->kind == AST_COND);
    text_puts(&t, brackets ? "(" : "");
    unparse_expr(v->s->ast, e, &t);
    text_puts(&t, brackets ? ")" : "");
    const char *copy = arena_strndup(v->s->arena, text_str(&t), t.len);
    text_free(&t);
    return copy;
}

/* Solves argument = q for one parameter, where the argument is p, p + c, c + p or p - c. */
static void invert_arg(inverse *v, const ast_expr *arg, const char *q)
{
    int p = param_named(v, arg);
    if (p >= 0) {
        if (!v->of_param[p])
            v->of_param[p] = q;
        return;
    }
    if (arg->kind != AST_BINARY ||
        (arg->u.binary.op != AST_OP_ADD && arg->u.binary.op != AST_OP_SUB))
        return;
    bool add = arg->u.binary.op == AST_OP_ADD;
    const ast_expr *other = arg->u.binary.right;
    p = param_named(v, arg->u.binary.left);
    if (p < 0 && add) {
        p = param_named(v, arg->u.binary.right);
        other = arg->u.binary.left;
    }
    if (p < 0 || v->of_param[p] || names_param(v, other))
        return;
    v->of_param[p] = arena_printf(v->s->arena, "%s %c %s", q, add ? '-' : '+',
                                  plain_text(v, other));
}

static const char *wrapped(inverse *v, const char *str)
{
    return strpbrk(str, " ?") ? arena_printf(v->s->arena, "(%s)", str) : str;
}

/* e with the parameters replaced; NULL and failed when it cannot be said. */
static const char *substitute(inverse *v, const ast_expr *e)
{
    int p = param_named(v, e);
    const char *a, *b, *c;
    if (p >= 0) {
        v->failed = v->failed || !v->of_param[p];
        return v->of_param[p] ? v->of_param[p] : "";
    }
    if (!names_param(v, e)) {
        text t = {0};
        unparse_expr(v->s->ast, e, &t);
        const char *copy = arena_strndup(v->s->arena, text_str(&t), t.len);
        text_free(&t);
        return copy;
    }
    switch (e->kind) {
    case AST_UNARY:
        a = substitute(v, e->u.unary.operand);
        return arena_printf(v->s->arena, "%s%s", ast_op_text(e->u.unary.op), wrapped(v, a));
    case AST_BINARY:
        a = substitute(v, e->u.binary.left);
        b = substitute(v, e->u.binary.right);
        return arena_printf(v->s->arena, "%s %s %s", wrapped(v, a), ast_op_text(e->u.binary.op),
                            wrapped(v, b));
    case AST_COND:
        a = substitute(v, e->u.cond.test);
        b = substitute(v, e->u.cond.yes);
        c = substitute(v, e->u.cond.no);
        return arena_printf(v->s->arena, "%s ? %s : %s", wrapped(v, a), wrapped(v, b),
                            wrapped(v, c));
    default:
        v->failed = true;                   /* a derived local or inline C */
        return "";
    }
}

/* An argument for a parameter that the edge does not determine: an output (or a CTL input) may
 * name its whole range. */
static const char *whole_range(inverse *v, size_t p)
{
    const sema_local *l = v->e->flow->cls->params[p];
    bool many = v->e->dir == AST_IN || v->e->flow->kind == AST_CTL;
    if (!l || l->ast->value->indices || (l->ast->value->hi && !many)) {
        v->failed = true;
        return "";
    }
    const ast_value *x = l->ast->value;
    const char *lo = substitute(v, x->lo);
    if (!x->hi)
        return lo;
    const char *hi = substitute(v, x->hi);
    if (!x->step)
        return arena_printf(v->s->arena, "%s .. %s", lo, hi);
    return arena_printf(v->s->arena, "%s .. %s .. %s", lo, hi, substitute(v, x->step));
}

const char *sema_reverse_edge(sema *s, const sema_edge *e)
{
    const sema_class *c = e->flow->cls;
    inverse v = {.s = s, .e = e};
    if (e->dep->indices || e->call->indices || e->call->n_args != e->target_class->ast->n_params)
        return NULL;
    v.of_param = arena_alloc(s->arena, (c->n_params + 1) * sizeof(*v.of_param));
    for (size_t i = 0; i < e->call->n_args; i++)
        if (!e->call->args[i]->hi && !e->call->args[i]->indices)
            invert_arg(&v, e->call->args[i]->lo, target_param(&v, i));
    const char **args = arena_alloc(s->arena, (c->n_params + 1) * sizeof(*args));
    for (size_t i = 0; i < c->n_params; i++)
        args[i] = v.of_param[i] ? v.of_param[i] : whole_range(&v, i);
    const char *guard = e->cond ? substitute(&v, e->cond) : NULL;
    if (v.failed)
        return NULL;
    text t = {0};
    text_puts(&t, e->dir == AST_OUT ? "<- " : "-> ");
    if (guard)
        text_printf(&t, "%s(%s) ? ", e->negate ? "!" : "", guard);
    text_printf(&t, "%s %s(", e->flow->name, c->name);
    for (size_t i = 0; i < c->n_params; i++)
        text_printf(&t, "%s%s", i ? ", " : "", args[i]);
    text_putc(&t, ')');
    const char *line = arena_strndup(s->arena, text_str(&t), t.len);
    text_free(&t);
    return line;
}

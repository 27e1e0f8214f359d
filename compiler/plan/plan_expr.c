/* Expressions of the plan: construction with folding, and questions about them. */
#include "plan_impl.h"

static plan_expr *make(builder *b, plan_expr_kind kind)
{
    plan_expr *e = arena_alloc(b->a, sizeof *e);
    e->kind = kind;
    return e;
}

const plan_expr *px_int(builder *b, int64_t value)
{
    plan_expr *e = make(b, PLAN_INT);
    e->u.integer = value;
    return e;
}

const plan_expr *px_var(builder *b, plan_var *var)
{
    plan_expr *e = make(b, PLAN_VAR);
    e->u.var = var;
    return e;
}

bool px_is_int(const plan_expr *e, int64_t value)
{
    return e->kind == PLAN_INT && e->u.integer == value;
}

const plan_expr *px_unary(builder *b, ast_op op, const plan_expr *x)
{
    if (x->kind == PLAN_INT && op == AST_OP_NOT)
        return px_int(b, !x->u.integer);
    if (x->kind == PLAN_INT && x->u.integer != INT64_MIN)
        return px_int(b, -x->u.integer);
    plan_expr *e = make(b, PLAN_UNARY);
    e->u.op.op = op;
    e->u.op.a = x;
    return e;
}

/* False when the operation has no value that the generated code would compute as well. */
static bool fold(ast_op op, int64_t x, int64_t y, int64_t *r)
{
    switch (op) {
    case AST_OP_OR: *r = x || y; return true;
    case AST_OP_AND: *r = x && y; return true;
    case AST_OP_XOR: *r = x ^ y; return true;
    case AST_OP_EQ: *r = x == y; return true;
    case AST_OP_NE: *r = x != y; return true;
    case AST_OP_LT: *r = x < y; return true;
    case AST_OP_LE: *r = x <= y; return true;
    case AST_OP_GT: *r = x > y; return true;
    case AST_OP_GE: *r = x >= y; return true;
    case AST_OP_ADD: return !__builtin_add_overflow(x, y, r);
    case AST_OP_SUB: return !__builtin_sub_overflow(x, y, r);
    case AST_OP_MUL: return !__builtin_mul_overflow(x, y, r);
    case AST_OP_DIV: *r = y > 0 ? x / y : 0; return y > 0;
    case AST_OP_MOD: *r = y > 0 ? x % y : 0; return y > 0;
    default: return false;
    }
}

/* x op constant, where x is itself y + c: one constant is enough. NULL: nothing to gain. */
static const plan_expr *fold_sum(builder *b, ast_op op, const plan_expr *x, int64_t c)
{
    if (x->kind != PLAN_BINARY || x->u.op.b->kind != PLAN_INT
        || (x->u.op.op != AST_OP_ADD && x->u.op.op != AST_OP_SUB))
        return NULL;
    int64_t inner = x->u.op.b->u.integer, sum;
    if (inner == INT64_MIN || c == INT64_MIN)
        return NULL;
    inner = x->u.op.op == AST_OP_ADD ? inner : -inner;
    c = op == AST_OP_ADD ? c : -c;
    if (__builtin_add_overflow(inner, c, &sum) || sum == INT64_MIN)
        return NULL;
    return sum < 0 ? px_binary(b, AST_OP_SUB, x->u.op.a, px_int(b, -sum))
                   : px_binary(b, AST_OP_ADD, x->u.op.a, px_int(b, sum));
}

/* Identities that shorten what guards and bounds look like; NULL: none applies. */
static const plan_expr *simplify(builder *b, ast_op op, const plan_expr *x, const plan_expr *y)
{
    bool sum = op == AST_OP_ADD || op == AST_OP_SUB;
    if (sum && px_is_int(y, 0))
        return x;
    if (sum && y->kind == PLAN_INT)
        return fold_sum(b, op, x, y->u.integer);
    if (op == AST_OP_ADD && x->kind == PLAN_INT)
        return px_binary(b, op, y, x);
    if (op == AST_OP_MUL && (px_is_int(y, 0) || px_is_int(x, 0)))
        return px_int(b, 0);
    if (op == AST_OP_MUL && (px_is_int(y, 1) || px_is_int(x, 1)))
        return px_is_int(y, 1) ? x : y;
    if (op == AST_OP_AND && (px_is_int(x, 0) || px_is_int(y, 0)))
        return px_int(b, 0);
    if (op == AST_OP_OR && ((x->kind == PLAN_INT && x->u.integer)
                            || (y->kind == PLAN_INT && y->u.integer)))
        return px_int(b, 1);
    if ((op == AST_OP_AND || op == AST_OP_OR) && y->kind == PLAN_INT && px_is_truth(x))
        return x;
    if ((op == AST_OP_AND || op == AST_OP_OR) && x->kind == PLAN_INT && px_is_truth(y))
        return y;
    return NULL;
}

const plan_expr *px_binary(builder *b, ast_op op, const plan_expr *x, const plan_expr *y)
{
    int64_t value;
    if (x->kind == PLAN_INT && y->kind == PLAN_INT
        && fold(op, x->u.integer, y->u.integer, &value))
        return px_int(b, value);
    const plan_expr *simple = simplify(b, op, x, y);
    if (simple)
        return simple;
    plan_expr *e = make(b, PLAN_BINARY);
    e->u.op.op = op;
    e->u.op.a = x;
    e->u.op.b = y;
    return e;
}

const plan_expr *px_cond(builder *b, const plan_expr *test, const plan_expr *yes,
                         const plan_expr *no)
{
    if (test->kind == PLAN_INT)
        return test->u.integer ? yes : no;
    plan_expr *e = make(b, PLAN_COND);
    e->u.cond.test = test;
    e->u.cond.yes = yes;
    e->u.cond.no = no;
    return e;
}

const plan_expr *px_min(builder *b, const plan_expr *x, const plan_expr *y)
{
    return px_same(x, y) ? x : px_cond(b, px_binary(b, AST_OP_LT, x, y), x, y);
}

const plan_expr *px_max(builder *b, const plan_expr *x, const plan_expr *y)
{
    return px_same(x, y) ? x : px_cond(b, px_binary(b, AST_OP_GT, x, y), x, y);
}

bool px_is_truth(const plan_expr *e)
{
    if (e->kind == PLAN_UNARY)
        return e->u.op.op == AST_OP_NOT;
    if (e->kind == PLAN_INT)
        return e->u.integer == 0 || e->u.integer == 1;
    return e->kind == PLAN_BINARY
           && (e->u.op.op <= AST_OP_AND || (e->u.op.op >= AST_OP_EQ && e->u.op.op <= AST_OP_GE));
}

const plan_expr *px_not(builder *b, const plan_expr *x)
{
    if (x->kind == PLAN_UNARY && x->u.op.op == AST_OP_NOT && px_is_truth(x->u.op.a))
        return x->u.op.a;
    if (x->kind != PLAN_BINARY)
        return px_unary(b, AST_OP_NOT, x);
    const plan_expr *l = x->u.op.a, *r = x->u.op.b;
    switch (x->u.op.op) {
    case AST_OP_EQ: return px_binary(b, AST_OP_NE, l, r);
    case AST_OP_NE: return px_binary(b, AST_OP_EQ, l, r);
    case AST_OP_LT: return px_binary(b, AST_OP_GE, l, r);
    case AST_OP_LE: return px_binary(b, AST_OP_GT, l, r);
    case AST_OP_GT: return px_binary(b, AST_OP_LE, l, r);
    case AST_OP_GE: return px_binary(b, AST_OP_LT, l, r);
    case AST_OP_OR: return px_binary(b, AST_OP_AND, px_not(b, l), px_not(b, r));
    default: return px_unary(b, AST_OP_NOT, x);
    }
}

const plan_expr *px_and(builder *b, const plan_expr *x, const plan_expr *y)
{
    return !x ? y : !y ? x : px_binary(b, AST_OP_AND, x, y);
}

/* ---- questions --------------------------------------------------------------------------- */

bool px_same(const plan_expr *x, const plan_expr *y)
{
    if (x == y)
        return true;
    if (!x || !y || x->kind != y->kind)
        return false;
    switch (x->kind) {
    case PLAN_INT: return x->u.integer == y->u.integer;
    case PLAN_VAR: return x->u.var == y->u.var;
    case PLAN_GLOBAL: return x->u.global == y->u.global;
    case PLAN_MEMBER: return x->u.member == y->u.member;
    case PLAN_UNARY: case PLAN_BINARY:
        return x->u.op.op == y->u.op.op && px_same(x->u.op.a, y->u.op.a)
               && px_same(x->u.op.b, y->u.op.b);
    case PLAN_COND:
        return px_same(x->u.cond.test, y->u.cond.test) && px_same(x->u.cond.yes, y->u.cond.yes)
               && px_same(x->u.cond.no, y->u.cond.no);
    case PLAN_CODE: return false;
    }
    return false;
}

typedef bool (*var_fn)(const plan_var *var, const void *arg);

/* True when fn is true for some variable of e. */
static bool any_var(const plan_expr *e, var_fn fn, const void *arg)
{
    if (!e)
        return false;
    switch (e->kind) {
    case PLAN_VAR: return fn(e->u.var, arg);
    case PLAN_UNARY: case PLAN_BINARY:
        return any_var(e->u.op.a, fn, arg) || any_var(e->u.op.b, fn, arg);
    case PLAN_COND:
        return any_var(e->u.cond.test, fn, arg) || any_var(e->u.cond.yes, fn, arg)
               || any_var(e->u.cond.no, fn, arg);
    case PLAN_CODE:
        for (size_t i = 0; i < e->u.call.code->n_vars; i++)
            if (any_var(e->u.call.args[i], fn, arg))
                return true;
        return false;
    default: return false;
    }
}

static bool is_var(const plan_var *var, const void *arg)
{
    return var == arg;
}

bool px_uses(const plan_expr *e, const plan_var *var)
{
    return any_var(e, is_var, var);
}

typedef struct var_list {
    plan_var *const *vars;
    size_t n;
} var_list;

static bool not_listed(const plan_var *var, const void *arg)
{
    const var_list *list = arg;
    for (size_t i = 0; i < list->n; i++)
        if (list->vars[i] == var)
            return false;
    return true;
}

bool px_uses_other(const plan_expr *e, plan_var *const *vars, size_t n)
{
    var_list list = {vars, n};
    return any_var(e, not_listed, &list);
}

static bool always(const plan_var *var, const void *arg)
{
    (void)var;
    (void)arg;
    return true;
}

bool px_global_only(const plan_expr *e)
{
    return !any_var(e, always, NULL);
}

bool px_linear(const plan_expr *e, plan_var **var, int64_t *shift)
{
    *var = NULL;
    *shift = 0;
    if (e->kind == PLAN_INT) {
        *shift = e->u.integer;
        return true;
    }
    if (e->kind == PLAN_VAR) {
        *var = e->u.var;
        return true;
    }
    if (e->kind != PLAN_BINARY || e->u.op.a->kind != PLAN_VAR || e->u.op.b->kind != PLAN_INT
        || (e->u.op.op != AST_OP_ADD && e->u.op.op != AST_OP_SUB)
        || e->u.op.b->u.integer == INT64_MIN)
        return false;
    *var = e->u.op.a->u.var;
    *shift = e->u.op.op == AST_OP_ADD ? e->u.op.b->u.integer : -e->u.op.b->u.integer;
    return true;
}

bool px_slope(builder *b, const plan_expr *e, const plan_var *var, const plan_expr **slope,
              const plan_expr **base)
{
    const plan_expr *x, *y;
    *slope = px_int(b, 0);
    *base = e;
    if (!px_uses(e, var))
        return true;
    if (e->kind == PLAN_VAR) {
        *slope = px_int(b, 1);
        *base = px_int(b, 0);
        return true;
    }
    if (e->kind == PLAN_UNARY && e->u.op.op == AST_OP_NEG
        && px_slope(b, e->u.op.a, var, slope, base)) {
        *slope = px_unary(b, AST_OP_NEG, *slope);
        *base = px_unary(b, AST_OP_NEG, *base);
        return true;
    }
    if (e->kind != PLAN_BINARY || !px_slope(b, e->u.op.a, var, slope, base)
        || !px_slope(b, e->u.op.b, var, &x, &y))
        return false;
    ast_op op = e->u.op.op;
    if (op == AST_OP_ADD || op == AST_OP_SUB) {
        *slope = px_is_int(*slope, 0) && op == AST_OP_SUB ? px_unary(b, AST_OP_NEG, x)
                                                          : px_binary(b, op, *slope, x);
        *base = px_binary(b, op, *base, y);
        return true;
    }
    /* One factor is free of the variable, and of all others. */
    const plan_expr *factor = px_is_int(x, 0) ? y : *base;
    if (op != AST_OP_MUL || (!px_is_int(x, 0) && !px_is_int(*slope, 0)) || !px_global_only(factor))
        return false;
    *base = px_binary(b, AST_OP_MUL, factor == y ? *base : y, factor);
    *slope = px_binary(b, AST_OP_MUL, factor == y ? *slope : x, factor);
    return true;
}

bool px_affine(builder *b, const plan_expr *e, const plan_var *var, plan_affine *affine)
{
    enum { STEEP = 1024 };      /* keeps the arithmetic of dag_count_pair() far from overflow */
    bool sum = e->kind == PLAN_BINARY && (e->u.op.op == AST_OP_ADD || e->u.op.op == AST_OP_SUB);
    plan_affine l, r;
    if (!px_uses(e, var)) {
        *affine = (plan_affine){.base = e};
    } else if (e->kind == PLAN_VAR) {
        *affine = (plan_affine){.base = px_int(b, 0), .slope = 1};
    } else if (sum && px_affine(b, e->u.op.a, var, &l) && px_affine(b, e->u.op.b, var, &r)) {
        affine->base = px_binary(b, e->u.op.op, l.base, r.base);
        affine->slope = e->u.op.op == AST_OP_ADD ? l.slope + r.slope : l.slope - r.slope;
    } else {
        return false;
    }
    return affine->slope >= -STEEP && affine->slope <= STEEP;
}

bool px_min_value(const plan_expr *e, int64_t *min)
{
    plan_var *var;
    int64_t shift;
    if (!px_linear(e, &var, &shift))
        return false;
    if (var && !var->has_min)
        return false;
    return !__builtin_add_overflow(shift, var ? var->min : 0, min);
}

/* e = base + shift; base NULL: a constant. */
static void px_split(const plan_expr *e, const plan_expr **base, int64_t *shift)
{
    *base = e;
    *shift = 0;
    if (e->kind == PLAN_INT) {
        *base = NULL;
        *shift = e->u.integer;
    } else if (e->kind == PLAN_BINARY && e->u.op.b->kind == PLAN_INT
               && e->u.op.b->u.integer != INT64_MIN
               && (e->u.op.op == AST_OP_ADD || e->u.op.op == AST_OP_SUB)) {
        *base = e->u.op.a;
        *shift = e->u.op.op == AST_OP_ADD ? e->u.op.b->u.integer : -e->u.op.b->u.integer;
    }
}

/* Does a check of the constructor bound e from this side? */
static bool required(const builder *b, const plan_expr *e, bool upper)
{
    const plan_expr *base, *checked;
    int64_t shift, checked_shift;
    px_split(e, &base, &shift);
    for (size_t i = 0; i < b->p->n_requires; i++) {
        if (!b->p->requires[i].fits)
            continue;
        px_split(b->p->requires[i].expr, &checked, &checked_shift);
        if (px_same(base, checked) && shift > -INT32_MAX && shift < INT32_MAX
            && (upper ? shift <= checked_shift : shift >= checked_shift))
            return true;
    }
    return false;
}

bool px_fits(const builder *b, const plan_expr *e, bool upper)
{
    plan_var *var;
    int64_t shift;
    if (required(b, e, upper))
        return true;
    if (e->kind == PLAN_COND)
        return px_fits(b, e->u.cond.yes, upper) && px_fits(b, e->u.cond.no, upper);
    if (!px_linear(e, &var, &shift))
        return false;
    if (!var)
        return shift > INT32_MIN && shift < INT32_MAX;
    if (!var->narrow || shift > INT32_MAX || shift < -INT32_MAX)
        return false;
    return upper ? shift <= 0
                 : shift >= 0 || (var->has_min && var->min + shift > INT32_MIN);
}

const plan_expr *px_replace(builder *b, const plan_expr *e, const px_map *map, size_t n)
{
    if (!e)
        return NULL;
    switch (e->kind) {
    case PLAN_VAR:
        for (size_t i = 0; i < n; i++)
            if (map[i].var == e->u.var)
                return map[i].expr;
        return e;
    case PLAN_UNARY:
        return px_unary(b, e->u.op.op, px_replace(b, e->u.op.a, map, n));
    case PLAN_BINARY:
        return px_binary(b, e->u.op.op, px_replace(b, e->u.op.a, map, n),
                         px_replace(b, e->u.op.b, map, n));
    case PLAN_COND:
        return px_cond(b, px_replace(b, e->u.cond.test, map, n),
                       px_replace(b, e->u.cond.yes, map, n),
                       px_replace(b, e->u.cond.no, map, n));
    case PLAN_CODE: {
        plan_expr *copy = make(b, PLAN_CODE);
        plan_code *code = e->u.call.code;
        const plan_expr **args = arena_alloc(b->a, (code->n_vars + 1) * sizeof(*args));
        for (size_t i = 0; i < code->n_vars; i++)
            args[i] = px_replace(b, e->u.call.args[i], map, n);
        copy->u.call.code = code;
        copy->u.call.args = args;
        return copy;
    }
    default: return e;
    }
}

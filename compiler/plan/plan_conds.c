/* Conditions within expressions: what is left of an expression where one of them is decided. */
#include "plan_impl.h"

/* How two values may lie: bits of a set. */
enum { BELOW = 1, EQUAL = 2, ABOVE = 4, ANYHOW = 7 };

static unsigned relation(ast_op op)
{
    switch (op) {
    case AST_OP_EQ: return EQUAL;
    case AST_OP_NE: return BELOW | ABOVE;
    case AST_OP_LT: return BELOW;
    case AST_OP_LE: return BELOW | EQUAL;
    case AST_OP_GT: return ABOVE;
    case AST_OP_GE: return ABOVE | EQUAL;
    default: return 0;
    }
}

static unsigned turned(unsigned set)
{
    return (set & EQUAL) | (set & BELOW ? ABOVE : 0) | (set & ABOVE ? BELOW : 0);
}

static bool is_comparison(const plan_expr *e)
{
    return e->kind == PLAN_BINARY && relation(e->u.op.op);
}

/* The truth of e where cond holds, or does not: 0 or 1, or -1 when that is not evident. */
static int truth_given(const plan_expr *e, const plan_expr *cond, bool holds)
{
    if (px_is_truth(e) && px_same(e, cond))
        return holds;
    if (!is_comparison(e) || !is_comparison(cond))
        return -1;
    const plan_expr *l = cond->u.op.a, *r = cond->u.op.b, *x = e->u.op.a, *y = e->u.op.b;
    unsigned known = relation(cond->u.op.op), asked = relation(e->u.op.op);
    known = holds ? known : ANYHOW & ~known;
    if (px_same(l, x) && r->kind == PLAN_INT && y->kind == PLAN_INT && known == EQUAL) {
        known = r->u.integer < y->u.integer ? BELOW : r->u.integer > y->u.integer ? ABOVE : EQUAL;
    } else if (px_same(l, y) && px_same(r, x)) {
        known = turned(known);
    } else if (!px_same(l, x) || !px_same(r, y)) {
        return -1;
    }
    return (known & ~asked) == 0 ? 1 : (known & asked) == 0 ? 0 : -1;
}

/* The same of an e that counts as a truth value only. */
static const plan_expr *test_given(builder *b, const plan_expr *e, const plan_expr *cond,
                                   bool holds)
{
    return px_same(e, cond) ? px_int(b, holds) : px_given(b, e, cond, holds);
}

static bool is_logical(const plan_expr *e)
{
    return (e->kind == PLAN_UNARY && e->u.op.op == AST_OP_NOT)
           || (e->kind == PLAN_BINARY && (e->u.op.op == AST_OP_AND || e->u.op.op == AST_OP_OR));
}

const plan_expr *px_given(builder *b, const plan_expr *e, const plan_expr *cond, bool holds)
{
    int truth = truth_given(e, cond, holds);
    if (truth >= 0)
        return px_int(b, truth);
    const plan_expr *(*part)(builder *, const plan_expr *, const plan_expr *, bool) =
        is_logical(e) ? test_given : px_given;
    switch (e->kind) {
    case PLAN_UNARY: return px_unary(b, e->u.op.op, part(b, e->u.op.a, cond, holds));
    case PLAN_BINARY:
        return px_binary(b, e->u.op.op, part(b, e->u.op.a, cond, holds),
                         part(b, e->u.op.b, cond, holds));
    case PLAN_COND:
        return px_cond(b, test_given(b, e->u.cond.test, cond, holds),
                       px_given(b, e->u.cond.yes, cond, holds),
                       px_given(b, e->u.cond.no, cond, holds));
    default: return e;
    }
}

/* The first comparison in a condition. */
static const plan_expr *first_in(const plan_expr *cond)
{
    const plan_expr *inner = px_choice(cond);
    if (inner)
        return inner;
    if (!is_logical(cond) && !is_comparison(cond))
        return cond;
    const plan_expr *l = cond->u.op.a, *r = cond->kind == PLAN_BINARY ? cond->u.op.b : l;
    if (is_logical(cond))
        return first_in(l->kind == PLAN_INT ? r : l);
    if (px_is_truth(l) && l->kind != PLAN_INT)
        return first_in(l);
    return px_is_truth(r) && r->kind != PLAN_INT ? first_in(r) : cond;
}

const plan_expr *px_choice(const plan_expr *e)
{
    const plan_expr *found;
    switch (e->kind) {
    case PLAN_UNARY: return px_choice(e->u.op.a);
    case PLAN_BINARY:
        found = px_choice(e->u.op.a);
        return found ? found : px_choice(e->u.op.b);
    case PLAN_COND: return first_in(e->u.cond.test);
    default: return NULL;
    }
}

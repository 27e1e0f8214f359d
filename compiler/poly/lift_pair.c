/* Two indices in one: i*N + j with 0 <= j < N is no affine function, but the pair [i, j] is, and both
 * say the same: for a given N no other pair gives this number. */
#include "poly.h"

/* ---- which N -------------------------------------------------------------------------------- */

/* The parameter that e names, unless it has a value already; -1: none. */
static int named_param(const poly *m, const ast_expr *e)
{
    text spelling = {0};
    const sema_global *root = NULL;
    int pos = lift_spelling(m->sema, e, &spelling, &root) && !(e->kind == AST_NAME && root->init)
                  ? lift_find_param(m, text_str(&spelling))
                  : -1;
    text_free(&spelling);
    const poly_param *p = pos >= 0 ? &m->params[pos] : NULL;
    return p && m->grid[0] && (p->rows || p->cols) ? -1 : pos;
}

/* What a name or inline C stands for, where this is one expression; else NULL. */
static const ast_expr *behind(const poly *m, const ast_expr *e)
{
    if (e->kind == AST_INLINE_C)
        return e->u.code.parsed;
    sema_ref ref = e->kind == AST_NAME ? sema_ref_of(m->sema, e) : (sema_ref){.kind = SEMA_REF_NONE};
    if (ref.kind != SEMA_REF_LOCAL || ref.u.local->param >= 0)
        return NULL;
    const ast_value *v = ref.u.local->ast->value;
    return v->hi || v->indices ? NULL : v->lo;
}

static bool is_product(const ast_expr *e)
{
    return e->kind == AST_BINARY && e->u.binary.op == AST_OP_MUL;
}

/* The number of factors that are no numbers; *pos: the last that is a parameter. */
static size_t count_factors(const poly *m, const ast_expr *e, int *pos)
{
    if (is_product(e))
        return count_factors(m, e->u.binary.left, pos) + count_factors(m, e->u.binary.right, pos);
    int named = named_param(m, e);
    *pos = named >= 0 ? named : *pos;
    return e->kind != AST_INT;
}

int lift_stride(const poly *m, const ast_expr *e)
{
    const ast_expr *other = behind(m, e);
    if (other)
        return lift_stride(m, other);
    if (e->kind == AST_UNARY)
        return lift_stride(m, e->u.unary.operand);
    if (e->kind != AST_BINARY)
        return -1;
    int pos = -1;
    if (is_product(e))
        return count_factors(m, e, &pos) > 1 ? pos : -1;
    if (e->u.binary.op == AST_OP_ADD || e->u.binary.op == AST_OP_SUB) {
        pos = lift_stride(m, e->u.binary.left);
        return pos >= 0 ? pos : lift_stride(m, e->u.binary.right);
    }
    return -1;
}

/* ---- the pair ------------------------------------------------------------------------------- */

/* Adds sign * value (taken) to *sum. False: there is no value. */
static bool add_value(isl_pw_aff **sum, isl_pw_aff *value, int sign)
{
    if (!value)
        return false;
    *sum = isl_pw_aff_add(*sum, sign < 0 ? isl_pw_aff_neg(value) : value);
    return true;
}

/* Is the parameter one of the factors of e? */
static bool has_factor(const poly *m, const ast_expr *e, int stride)
{
    if (is_product(e))
        return has_factor(m, e->u.binary.left, stride) || has_factor(m, e->u.binary.right, stride);
    return named_param(m, e) == stride;
}

/* e without this factor, which it has. */
static isl_pw_aff *other_factors(lift_scope *s, const ast_expr *e, int stride)
{
    if (!is_product(e))
        return lift_number(s, 1);
    const ast_expr *a = e->u.binary.left, *b = e->u.binary.right;
    bool last = has_factor(s->poly, b, stride);
    isl_pw_aff *x = last ? lift_value(s, a) : other_factors(s, a, stride);
    isl_pw_aff *y = last ? other_factors(s, b, stride) : lift_value(s, b);
    bool linear = isl_pw_aff_is_cst(x) == isl_bool_true || isl_pw_aff_is_cst(y) == isl_bool_true;
    if (x && y && linear)
        return isl_pw_aff_mul(x, y);
    isl_pw_aff_free(x);
    isl_pw_aff_free(y);
    return NULL;
}

/* Adds sign * e to q*N + r, whatever r is then. */
static bool add_terms(lift_scope *s, const ast_expr *e, int stride, int sign, isl_pw_aff **q,
                      isl_pw_aff **r)
{
    const ast_expr *other = behind(s->poly, e);
    if (other)
        return add_terms(s, other, stride, sign, q, r);
    if (e->kind == AST_UNARY && e->u.unary.op == AST_OP_NEG)
        return add_terms(s, e->u.unary.operand, stride, -sign, q, r);
    if (has_factor(s->poly, e, stride))
        return add_value(q, other_factors(s, e, stride), sign);
    ast_op op = e->kind == AST_BINARY ? e->u.binary.op : AST_OP_NOT;
    if (op == AST_OP_ADD || op == AST_OP_SUB)
        return add_terms(s, e->u.binary.left, stride, sign, q, r) &&
               add_terms(s, e->u.binary.right, stride, op == AST_OP_SUB ? -sign : sign, q, r);
    return add_value(r, lift_value(s, e), sign);
}

/* low*N <= r < high*N, on all points that matter? */
static bool lies_between(const lift_scope *s, isl_pw_aff *r, int stride, long low, long high)
{
    isl_pw_aff *n = lift_dimension(s, isl_dim_param, stride);
    isl_pw_aff *from = isl_pw_aff_scale_val(isl_pw_aff_copy(n),
                                            isl_val_int_from_si(s->poly->isl, low));
    isl_pw_aff *to = isl_pw_aff_scale_val(n, isl_val_int_from_si(s->poly->isl, high));
    isl_set *good = isl_set_intersect(isl_pw_aff_ge_set(isl_pw_aff_copy(r), from),
                                      isl_pw_aff_lt_set(isl_pw_aff_copy(r), to));
    bool all = isl_set_is_subset(s->within, good) == isl_bool_true;
    isl_set_free(good);
    return all;
}

/* sum + (by where r < 0) - (by where r >= N). Takes sum and by. */
static isl_pw_aff *carry(const lift_scope *s, isl_pw_aff *sum, isl_pw_aff *r, int stride,
                         isl_pw_aff *by)
{
    isl_set *under = isl_pw_aff_lt_set(isl_pw_aff_copy(r), lift_number(s, 0));
    isl_set *over = isl_pw_aff_ge_set(isl_pw_aff_copy(r),
                                      lift_dimension(s, isl_dim_param, stride));
    isl_pw_aff *more = isl_pw_aff_mul(isl_set_indicator_function(under), isl_pw_aff_copy(by));
    isl_pw_aff *less = isl_pw_aff_mul(isl_set_indicator_function(over), by);
    return isl_pw_aff_sub(isl_pw_aff_add(sum, more), less);
}

bool lift_pair(lift_scope *s, const ast_expr *e, int stride, isl_pw_aff **q, isl_pw_aff **r)
{
    *q = lift_number(s, 0);
    *r = lift_number(s, 0);
    bool ok = s->within && add_terms(s, e, stride, 1, q, r);
    if (ok && !lies_between(s, *r, stride, 0, 1)) {
        ok = lies_between(s, *r, stride, -1, 2);
        if (ok) {
            isl_pw_aff *all = *r, *n = lift_dimension(s, isl_dim_param, stride);
            *q = carry(s, *q, all, stride, lift_number(s, -1));
            *r = carry(s, isl_pw_aff_copy(all), all, stride, n);
            isl_pw_aff_free(all);
        }
    }
    if (!ok) {
        *q = isl_pw_aff_free(*q);
        *r = isl_pw_aff_free(*r);
    }
    return ok;
}

bool lift_argument_pair(lift_layout *l, const ast_value *v, int stride)
{
    lift_scope *s = &l->scope;
    isl_pw_aff *q, *r;
    lift_indices(l, v->indices);
    if (v->hi || !lift_pair(s, v->lo, stride, &q, &r))
        return false;
    int first = (int)l->n_params;
    isl_pw_aff *low = lift_dimension(s, isl_dim_set, first + 1);
    isl_set *row = isl_pw_aff_ge_set(isl_pw_aff_copy(low), lift_number(s, 0));
    lift_require(l, isl_pw_aff_eq_set(lift_dimension(s, isl_dim_set, first), q));
    lift_require(l, isl_pw_aff_eq_set(isl_pw_aff_copy(low), r));
    row = isl_set_intersect(row,
                            isl_pw_aff_lt_set(low, lift_dimension(s, isl_dim_param, stride)));
    lift_require(l, row);
    return true;
}

/* Expressions as piecewise affine functions and conditions as sets.
 *
 * C semantics throughout: comparisons and logic give 0 or 1, any non-zero value is true, / and %
 * truncate. Arithmetic is taken as exact; the 64 bits of the language are assumed to suffice.
 */
#include "poly.h"

#include <isl/ilp.h>
#include <string.h>

static isl_pw_aff *refuse(lift_scope *s, const ast_expr *e, const char *why)
{
    s->opaque_at = e->node.range;
    s->why = why;
    return NULL;
}

bool lift_constant(isl_pw_aff *pa, int64_t *value)
{
    if (isl_pw_aff_is_cst(pa) != isl_bool_true || isl_pw_aff_isa_aff(pa) != isl_bool_true)
        return false;
    isl_aff *aff = isl_pw_aff_as_aff(isl_pw_aff_copy(pa));
    isl_val *v = isl_aff_get_constant_val(aff);
    isl_aff_free(aff);
    bool fits = v && isl_val_is_int(v) && isl_val_get_num_si(v) > -(1L << 40) &&
                isl_val_get_num_si(v) < (1L << 40);
    if (fits)
        *value = isl_val_get_num_si(v);
    isl_val_free(v);
    return fits;
}

/* Takes v. */
static isl_pw_aff *constant_val(const lift_scope *s, isl_val *v)
{
    isl_local_space *ls = isl_local_space_from_space(isl_space_copy(s->space));
    return isl_pw_aff_from_aff(isl_aff_val_on_domain(ls, v));
}

isl_pw_aff *lift_number(const lift_scope *s, int64_t value)
{
    return constant_val(s, isl_val_int_from_si(s->poly->isl, value));
}

isl_pw_aff *lift_dimension(const lift_scope *s, enum isl_dim_type type, int pos)
{
    isl_local_space *ls = isl_local_space_from_space(isl_space_copy(s->space));
    return isl_pw_aff_from_aff(isl_aff_var_on_domain(ls, type, (unsigned)pos));
}

bool lift_spelling(const sema_info *sema, const ast_expr *e, text *out, const sema_global **root)
{
    if (e->kind == AST_NAME) {
        sema_ref ref = sema_ref_of(sema, e);
        if (ref.kind != SEMA_REF_GLOBAL)
            return false;
        *root = ref.u.global;
        text_puts(out, ref.u.global->name);
        return true;
    }
    if (e->kind != AST_MEMBER || !lift_spelling(sema, e->u.member.object, out, root))
        return false;
    text_puts(out, e->u.member.arrow ? "->" : ".");
    text_puts(out, e->u.member.field.text);
    return true;
}

int lift_find_param(const poly *m, const char *name)
{
    for (size_t i = 0; i < m->n_params; i++)
        if (strcmp(m->params[i].name, name) == 0)
            return (int)i;
    return -1;
}

int lift_find_size(const poly *m, const sema_global *g, const char *field)
{
    for (size_t i = 0; i < m->n_params; i++)
        if (m->params[i].root == g && m->params[i].field && strcmp(m->params[i].field, field) == 0)
            return (int)i;
    return -1;
}

static isl_pw_aff *lift_global(lift_scope *s, const ast_expr *e)
{
    const poly *m = s->poly;
    text spelling = {0};
    const sema_global *root = NULL;
    isl_pw_aff *pa = NULL;
    if (!lift_spelling(m->sema, e, &spelling, &root)) {
        text_free(&spelling);
        return refuse(s, e, "this name is not an integer");
    }
    if (e->kind == AST_NAME && root->kind == SEMA_INT && root->init) {
        /* A default is the value: nothing else sets the global. */
        pa = lift_value(s, root->init);
    }
    if (!pa) {
        int pos = lift_find_param(m, text_str(&spelling));
        const poly_param *p = pos >= 0 ? &m->params[pos] : NULL;
        if (!p)
            pa = refuse(s, e, "this name is not an integer");
        else if (m->grid[0] && (p->rows || p->cols))
            pa = lift_number(s, m->grid[p->cols]);
        else
            pa = lift_dimension(s, isl_dim_param, pos);
    }
    text_free(&spelling);
    return pa;
}

static isl_pw_aff *lift_name(lift_scope *s, const ast_expr *e)
{
    for (size_t i = 0; s->fact && i < s->fact->n_params; i++)
        if (strcmp(s->fact->params[i].text, e->u.name) == 0)
            return isl_pw_aff_copy(s->bound[i]);
    sema_ref ref = sema_ref_of(s->poly->sema, e);
    const void *key = ref.kind == SEMA_REF_LOCAL   ? (const void *)ref.u.local
                      : ref.kind == SEMA_REF_INDEX ? (const void *)ref.u.index
                                                   : NULL;
    if (ref.kind == SEMA_REF_GLOBAL)
        return lift_global(s, e);
    for (size_t i = s->n_vars; key && i-- > 0;) {
        if (s->vars[i].key != key)
            continue;
        if (s->vars[i].opaque)
            return refuse(s, e, "the value of this name is not affine");
        return lift_dimension(s, isl_dim_set, s->vars[i].dim);
    }
    if (s->defined && ref.kind == SEMA_REF_LOCAL) {
        const ast_value *v = ref.u.local->ast->value;
        if (ref.u.local->param < 0 && !v->hi && !v->indices)
            return lift_value(s, v->lo);
    }
    return refuse(s, e, "this name has no value here");
}

static isl_pw_aff *from_condition(lift_scope *s, const ast_expr *e)
{
    bool exact = true;
    isl_set *set = lift_cond(s, e, false, &exact);
    if (!exact) {
        isl_set_free(set);
        return NULL;            /* the refusal is recorded */
    }
    return isl_set_indicator_function(set);
}

static isl_pw_aff *lift_product(lift_scope *s, const ast_expr *e, isl_pw_aff *a, isl_pw_aff *b)
{
    if (isl_pw_aff_is_cst(a) != isl_bool_true && isl_pw_aff_is_cst(b) != isl_bool_true) {
        if (s->poly->terms)
            return s->poly->terms->operation(s, e, a, b);
        isl_pw_aff_free(a);
        isl_pw_aff_free(b);
        return refuse(s, e, "a product of two variables");
    }
    return isl_pw_aff_mul(a, b);
}

/* Is a (kept) at least 0 wherever its value will be asked for? False when that is not known. */
static bool never_negative(const lift_scope *s, isl_pw_aff *a)
{
    if (!s->within)
        return false;
    isl_set *good = isl_pw_aff_nonneg_set(isl_pw_aff_copy(a));
    bool never = isl_set_is_subset(s->within, good) == isl_bool_true;
    isl_set_free(good);
    return never;
}

/* a / b and a % b with C's truncation towards zero. */
static isl_pw_aff *lift_quotient(lift_scope *s, const ast_expr *e, isl_pw_aff *a, isl_pw_aff *b)
{
    int64_t by = 0;
    bool known = lift_constant(b, &by) && by != 0;
    if (!known && s->poly->terms)
        return s->poly->terms->operation(s, e, a, b);
    isl_pw_aff_free(b);
    if (!known) {
        isl_pw_aff_free(a);
        return refuse(s, e, e->u.binary.op == AST_OP_DIV ? "a division by a variable"
                                                         : "a remainder by a variable");
    }
    isl_val *abs_by = isl_val_int_from_si(s->poly->isl, by < 0 ? -by : by);
    bool floor = never_negative(s, a);          /* one piece then */
    if (e->u.binary.op == AST_OP_MOD)           /* the sign is that of a */
        return floor ? isl_pw_aff_mod_val(a, abs_by)
                     : isl_pw_aff_tdiv_r(a, constant_val(s, abs_by));
    isl_pw_aff *q = floor ? isl_pw_aff_floor(isl_pw_aff_scale_down_val(a, abs_by))
                          : isl_pw_aff_tdiv_q(a, constant_val(s, abs_by));
    return by < 0 ? isl_pw_aff_neg(q) : q;
}

/* Least and greatest value of b (kept) where it will be asked for, if they are few apart. */
static bool bounded(const lift_scope *s, isl_pw_aff *b, long *low, long *high)
{
    enum { FEW = 31 };
    if (!s->within)
        return false;
    isl_pw_aff *here = isl_pw_aff_intersect_domain(isl_pw_aff_copy(b), isl_set_copy(s->within));
    isl_set *values = isl_map_range(isl_map_from_pw_aff(here));
    values = isl_set_project_out(values, isl_dim_param, 0, (unsigned)s->poly->n_params);
    isl_val *min = isl_set_dim_min_val(isl_set_copy(values), 0);
    isl_val *max = isl_set_dim_max_val(values, 0);
    bool ok = min && max && isl_val_is_int(min) && isl_val_is_int(max) &&
              isl_val_cmp_si(min, 0) >= 0 && isl_val_cmp_si(max, FEW) <= 0;
    if (ok) {
        *low = isl_val_get_num_si(min);
        *high = isl_val_get_num_si(max);
    }
    isl_val_free(min);
    isl_val_free(max);
    return ok;
}

/* a << by or a >> by. Takes a. */
static isl_pw_aff *shift_by(const lift_scope *s, ast_op op, isl_pw_aff *a, long by)
{
    isl_val *v = isl_val_int_from_si(s->poly->isl, 1L << by);
    return op == AST_OP_SHL ? isl_pw_aff_scale_val(a, v)
                            : isl_pw_aff_floor(isl_pw_aff_scale_down_val(a, v));
}

/* A shift by a value that takes few: one piece for each. Takes a and b. */
static isl_pw_aff *shift_by_cases(const lift_scope *s, ast_op op, isl_pw_aff *a, isl_pw_aff *b,
                                  long low, long high)
{
    isl_pw_aff *all = shift_by(s, op, isl_pw_aff_copy(a), high);
    for (long by = high - 1; by >= low; by--) {
        isl_set *when = isl_pw_aff_le_set(isl_pw_aff_copy(b), lift_number(s, by));
        all = isl_pw_aff_cond(isl_set_indicator_function(when),
                              shift_by(s, op, isl_pw_aff_copy(a), by), all);
    }
    isl_pw_aff_free(a);
    isl_pw_aff_free(b);
    return all;
}

/* a ^ c for a constant with few bits: each bit is turned round. Takes a and b. */
static isl_pw_aff *lift_xor(lift_scope *s, const ast_expr *e, isl_pw_aff *a, isl_pw_aff *b)
{
    enum { BITS = 16, MOST = 3 };
    int64_t with = 0;
    if (!lift_constant(b, &with)) {     /* 1 ^ k */
        isl_pw_aff *swap = a;
        a = b;
        b = swap;
    }
    bool known = lift_constant(b, &with) && with >= 0 && with < 1L << BITS &&
                 __builtin_popcountll((unsigned long long)with) <= MOST;
    isl_pw_aff_free(b);
    if (!known) {
        isl_pw_aff_free(a);
        return refuse(s, e, "a bitwise exclusive or");
    }
    for (long bit = 0; bit < BITS; bit++) {
        if (!(with >> bit & 1))
            continue;
        /* a + 2^bit - 2^(bit+1) * (floor(a / 2^bit) % 2) */
        isl_val *two = isl_val_int_from_si(s->poly->isl, 2);
        isl_pw_aff *set = isl_pw_aff_mod_val(shift_by(s, AST_OP_SHR, isl_pw_aff_copy(a), bit), two);
        set = isl_pw_aff_scale_val(set, isl_val_int_from_si(s->poly->isl, 2L << bit));
        a = isl_pw_aff_sub(isl_pw_aff_add(a, lift_number(s, 1L << bit)), set);
    }
    return a;
}

static isl_pw_aff *lift_shift(lift_scope *s, const ast_expr *e, isl_pw_aff *a, isl_pw_aff *b)
{
    int64_t by = 0;
    long low, high;
    bool known = lift_constant(b, &by) && by >= 0 && by < 32;
    if (!known && bounded(s, b, &low, &high))
        return shift_by_cases(s, e->u.binary.op, a, b, low, high);
    isl_pw_aff_free(b);
    if (!known) {
        isl_pw_aff_free(a);
        return refuse(s, e, "a shift by a variable");
    }
    return shift_by(s, e->u.binary.op, a, (long)by);
}

static isl_pw_aff *lift_binary(lift_scope *s, const ast_expr *e)
{
    isl_pw_aff *a = lift_value(s, e->u.binary.left);
    isl_pw_aff *b = a ? lift_value(s, e->u.binary.right) : NULL;
    if (!a || !b) {
        isl_pw_aff_free(a);
        return NULL;
    }
    switch (e->u.binary.op) {
    case AST_OP_ADD:
        return isl_pw_aff_add(a, b);
    case AST_OP_SUB:
        return isl_pw_aff_sub(a, b);
    case AST_OP_MUL:
        return lift_product(s, e, a, b);
    case AST_OP_DIV:
    case AST_OP_MOD:
        return lift_quotient(s, e, a, b);
    case AST_OP_SHL:
    case AST_OP_SHR:
        return lift_shift(s, e, a, b);
    default:
        return lift_xor(s, e, a, b);
    }
}

static isl_pw_aff *lift_conditional(lift_scope *s, const ast_expr *e)
{
    bool exact = true;
    isl_set *test = lift_cond(s, e->u.cond.test, false, &exact);
    isl_pw_aff *yes = exact ? lift_value(s, e->u.cond.yes) : NULL;
    isl_pw_aff *no = yes ? lift_value(s, e->u.cond.no) : NULL;
    if (!no) {
        isl_set_free(test);
        isl_pw_aff_free(yes);
        return NULL;
    }
    return isl_pw_aff_cond(isl_set_indicator_function(test), yes, no);
}

/* min, max, ceildiv. */
static isl_pw_aff *lift_function(lift_scope *s, const ast_expr *e)
{
    ast_function f = ast_function_of(e);
    int64_t by = 0;
    if (f == AST_FUNCTION_NONE && s->poly->terms)
        return s->poly->terms->call(s, e);
    if (f == AST_FUNCTION_NONE || e->u.call.n_args < 2)
        return refuse(s, e, "not an integer expression");
    isl_pw_aff *all = lift_value(s, e->u.call.args[0]);
    for (size_t i = 1; all && i < e->u.call.n_args; i++) {
        isl_pw_aff *next = lift_value(s, e->u.call.args[i]);
        if (next && f == AST_CEILDIV && s->poly->terms && !lift_constant(next, &by))
            return s->poly->terms->ceiling(s, e, all, next);
        if (!next || (f == AST_CEILDIV && !(lift_constant(next, &by) && by > 0))) {
            isl_pw_aff_free(all);
            isl_pw_aff_free(next);
            return next ? refuse(s, e, "a division by a variable") : NULL;
        }
        if (f == AST_CEILDIV)
            all = isl_pw_aff_ceil(isl_pw_aff_scale_down_val(
                all, isl_val_int_from_si(s->poly->isl, (long)by)));
        isl_pw_aff *before = all;
        all = f == AST_MIN ? isl_pw_aff_min(before, next) : f == AST_MAX ? isl_pw_aff_max(before, next)
                                                                       : (isl_pw_aff_free(next), all);
    }
    return all;
}

/* Inline C: what it says is known where the language can say it, too. */
static isl_pw_aff *lift_code(lift_scope *s, const ast_expr *e)
{
    isl_pw_aff *value = e->u.code.parsed ? lift_value(s, e->u.code.parsed) : NULL;
    return value ? value : refuse(s, e, "inline C");
}

static bool is_logical(ast_op op)
{
    switch (op) {
    case AST_OP_NOT: case AST_OP_OR: case AST_OP_AND: case AST_OP_EQ: case AST_OP_NE:
    case AST_OP_LT: case AST_OP_LE: case AST_OP_GT: case AST_OP_GE:
        return true;
    default:
        return false;
    }
}

isl_pw_aff *lift_value(lift_scope *s, const ast_expr *e)
{
    switch (e->kind) {
    case AST_INT:
        return lift_number(s, e->u.integer.value);
    case AST_BOOL:
        return lift_number(s, e->u.boolean);
    case AST_NAME:
        return lift_name(s, e);
    case AST_MEMBER:
        return lift_global(s, e);
    case AST_UNARY:
        if (is_logical(e->u.unary.op))
            return from_condition(s, e);
        return isl_pw_aff_neg(lift_value(s, e->u.unary.operand));
    case AST_BINARY:
        return is_logical(e->u.binary.op) ? from_condition(s, e) : lift_binary(s, e);
    case AST_COND:
        return lift_conditional(s, e);
    case AST_STRING:
        return e->u.string.parsed ? lift_value(s, e->u.string.parsed)
                                  : refuse(s, e, "C text");
    case AST_INLINE_C:
        return lift_code(s, e);
    case AST_CALL_VALUE:
        return lift_function(s, e);
    case AST_BAD:
        break;
    }
    return refuse(s, e, "not an integer expression");
}

/* What comparisons are: the points where they hold, and those that hold elsewhere. */
static const struct {
    isl_set *(*holds)(isl_pw_aff *a, isl_pw_aff *b);
    ast_op opposite;
} comparison[] = {
    [AST_OP_EQ] = {isl_pw_aff_eq_set, AST_OP_NE}, [AST_OP_NE] = {isl_pw_aff_ne_set, AST_OP_EQ},
    [AST_OP_LT] = {isl_pw_aff_lt_set, AST_OP_GE}, [AST_OP_LE] = {isl_pw_aff_le_set, AST_OP_GT},
    [AST_OP_GT] = {isl_pw_aff_gt_set, AST_OP_LE}, [AST_OP_GE] = {isl_pw_aff_ge_set, AST_OP_LT},
};

static isl_set *unknown(lift_scope *s, bool *exact)
{
    *exact = false;
    return isl_set_universe(isl_space_copy(s->space));
}

static isl_set *lift_logic(lift_scope *s, const ast_expr *e, bool negate, bool *exact)
{
    isl_set *a = lift_cond(s, e->u.binary.left, negate, exact);
    isl_set *b = lift_cond(s, e->u.binary.right, negate, exact);
    bool both = (e->u.binary.op == AST_OP_AND) != negate;
    return both ? isl_set_intersect(a, b) : isl_set_union(a, b);
}

static isl_set *lift_comparison(lift_scope *s, const ast_expr *e, bool negate, bool *exact)
{
    isl_pw_aff *a = lift_value(s, e->u.binary.left);
    isl_pw_aff *b = a ? lift_value(s, e->u.binary.right) : NULL;
    if (!b) {
        isl_pw_aff_free(a);
        return unknown(s, exact);
    }
    return comparison[negate ? comparison[e->u.binary.op].opposite : e->u.binary.op].holds(a, b);
}

isl_set *lift_cond(lift_scope *s, const ast_expr *e, bool negate, bool *exact)
{
    if (e->kind == AST_UNARY && e->u.unary.op == AST_OP_NOT)
        return lift_cond(s, e->u.unary.operand, !negate, exact);
    if (e->kind == AST_BINARY && (e->u.binary.op == AST_OP_AND || e->u.binary.op == AST_OP_OR))
        return lift_logic(s, e, negate, exact);
    if (e->kind == AST_BINARY && is_logical(e->u.binary.op))
        return lift_comparison(s, e, negate, exact);
    isl_pw_aff *value = lift_value(s, e);
    if (!value)
        return unknown(s, exact);
    return negate ? isl_pw_aff_zero_set(value) : isl_pw_aff_non_zero_set(value);
}

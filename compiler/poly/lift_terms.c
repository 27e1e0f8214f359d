/* Products, quotients and remainders by a global: numbers that no affine function says, but of which
 * enough is known to prove with. A parameter of isl stands for each. */
#include "lift_terms.h"

#include <stdlib.h>

/* The scope of functions of the parameters of the class alone. */
static lift_scope own_scope(const lift_scope *s)
{
    unsigned n = s->cls ? (unsigned)s->cls->n_params : 0;
    isl_space *space = isl_space_set_from_params(isl_space_copy(s->poly->param_space));
    lift_scope own = {.poly = s->poly, .cls = s->cls, .defined = true,
                      .space = isl_space_add_dims(space, isl_dim_set, n)};
    for (size_t i = 0; s->cls && i < s->cls->n_locals && own.n_vars < LIFT_MAX_VARS; i++)
        if (s->cls->locals[i].param >= 0)
            own.vars[own.n_vars++] = (lift_var){.key = &s->cls->locals[i],
                                                .dim = s->cls->locals[i].param};
    isl_size dims = s->within ? isl_set_dim(s->within, isl_dim_set) : 0;
    own.within = isl_set_copy(s->within);
    if (dims > (isl_size)n)
        own.within = isl_set_project_out(own.within, isl_dim_set, n, (unsigned)dims - n);
    return own;
}

static void end_scope(lift_scope *own)
{
    isl_set_free(own->within);
    isl_space_free(own->space);
}

isl_pw_aff *lift_of_parameters(const lift_scope *s, const ast_expr *e)
{
    lift_scope own = own_scope(s);
    isl_pw_aff *value = lift_value(&own, e);
    end_scope(&own);
    return value;
}

/* Is the global known to be at least 1? */
static bool is_positive(const poly *m, int param)
{
    isl_set *low = isl_set_upper_bound_si(isl_set_copy(m->terms->facts), isl_dim_param,
                                          (unsigned)param, 0);
    bool positive = isl_set_is_empty(low) == isl_bool_true;
    isl_set_free(low);
    return positive;
}

/* The global P that is known to be at least 1 and of which the value (kept) is times*P + more; -1: none. */
static int linear_divisor(const lift_scope *s, isl_pw_aff *value, long *times, int64_t *more)
{
    const poly *m = s->poly;
    int found = -1;
    for (size_t i = 0; found < 0 && i < m->n_params; i++) {
        *times = lift_coefficient(value, isl_dim_param, (int)i);
        found = *times ? (int)i : -1;
    }
    if (found < 0)
        return -1;
    isl_pw_aff *rest = lift_add_multiple(isl_pw_aff_copy(value), -*times,
                                         lift_dimension(s, isl_dim_param, found));
    bool constant = lift_constant(rest, more) && *more <= LIFT_LARGEST && *more >= -LIFT_LARGEST;
    isl_pw_aff_free(rest);
    return constant && is_positive(m, found) ? found : -1;
}

/* The global that the value (kept) is and that is known to be at least 1; -1: none. */
static int divisor(const lift_scope *s, isl_pw_aff *value)
{
    long times = 0;
    int64_t more = 0;
    int found = linear_divisor(s, value, &times, &more);
    return times == 1 && more == 0 ? found : -1;
}

/* Where two globals are multiplied, others are multiples of rows and columns of the grid. */
static bool is_grid(const poly *m, int param)
{
    return m->params[param].rows || m->params[param].cols;
}

/* The quotient as a term, and with it its product by the divisor. Takes its values. */
static int find_quotient(const poly *m, poly_term t)
{
    isl_local_space *ls = isl_local_space_from_space(isl_pw_aff_get_domain_space(t.of[0]));
    int place = lift_find_term(m, t);
    if (place < 0) {
        isl_local_space_free(ls);
        return -1;
    }
    isl_pw_aff *value = isl_pw_aff_from_aff(isl_aff_var_on_domain(ls, isl_dim_param, (unsigned)place));
    poly_term product = {.kind = POLY_PRODUCT, .cls = t.cls, .of = {value}, .by = t.by};
    return lift_find_term(m, product) < 0 ? -1 : place;
}

static isl_pw_aff *refuse_term(lift_scope *s, const ast_expr *e, poly_term_kind kind)
{
    static const char *const why[] = {[POLY_REMAINDER] = "a remainder by a variable",
                                      [POLY_QUOTIENT] = "a division by a variable",
                                      [POLY_PRODUCT] = "a product of two variables"};
    s->opaque_at = e->node.range;
    s->why = why[kind];
    return NULL;
}

/* The term, or the refusal of e. Takes of, which may be NULL, and the values that e was read from. */
static isl_pw_aff *make_term(lift_scope *s, const ast_expr *e, poly_term_kind kind, isl_pw_aff *of, int by,
                             isl_pw_aff *a, isl_pw_aff *b)
{
    poly_term t = {.kind = kind, .cls = s->cls, .of = {of}, .by = by};
    int place = !of                     ? -1
                : kind == POLY_QUOTIENT ? find_quotient(s->poly, t)
                                        : lift_find_term(s->poly, t);
    isl_pw_aff_free(a);
    isl_pw_aff_free(b);
    return place >= 0 ? lift_dimension(s, isl_dim_param, place) : refuse_term(s, e, kind);
}

/* ---- products ------------------------------------------------------------------------------- */

/* The coefficient in `of` of the variable that this product is a multiple of; 0: none. */
static long part_of(const lift_scope *own, const poly_term *t, isl_pw_aff *of)
{
    const poly_terms *all = own->poly->terms;
    isl_size dims = isl_pw_aff_dim(of, isl_dim_in);
    for (size_t i = 0; i < (size_t)(dims < 0 ? 0 : dims) + all->n; i++) {
        bool term = i >= (size_t)dims;
        if (term && all->items[i - (size_t)dims].kind != POLY_QUOTIENT)
            continue;
        enum isl_dim_type type = term ? isl_dim_param : isl_dim_set;
        int pos = term ? all->items[i - (size_t)dims].place : (int)i;
        isl_pw_aff *x = lift_dimension(own, type, pos);
        bool same = isl_pw_aff_plain_is_equal(x, t->of[0]) == isl_bool_true;
        isl_pw_aff_free(x);
        if (same)
            return lift_coefficient(of, term ? isl_dim_param : isl_dim_in, pos);
    }
    return 0;
}

/* Whole multiples of P in P*of: the constant part. */
static long take_constant(isl_pw_aff **of)
{
    if (isl_pw_aff_isa_aff(*of) != isl_bool_true)
        return 0;
    isl_aff *aff = isl_pw_aff_as_aff(isl_pw_aff_copy(*of));
    isl_val *v = isl_aff_get_constant_val(aff);
    bool fits = isl_val_is_int(v) == isl_bool_true && isl_val_cmp_si(v, LIFT_LARGEST) <= 0 &&
                isl_val_cmp_si(v, -LIFT_LARGEST) >= 0;
    long c = fits ? isl_val_get_num_si(v) : 0;
    isl_val_free(v);
    isl_pw_aff_free(*of);
    *of = isl_pw_aff_from_aff(isl_aff_add_constant_si(aff, (int)-c));
    return c;
}

/* Is there P*-of already, or is -of what is natural? */
static bool is_negative(const lift_scope *own, isl_pw_aff *of, int by)
{
    const poly_terms *all = own->poly->terms;
    isl_pw_aff *minus = isl_pw_aff_neg(isl_pw_aff_copy(of));
    bool there = false;
    for (size_t i = 0; i < all->n && !there; i++) {
        const poly_term *t = &all->items[i];
        there = t->kind == POLY_PRODUCT && t->by == by && t->cls == own->cls &&
                isl_pw_aff_plain_is_equal(t->of[0], minus) == isl_bool_true;
    }
    isl_set *natural = own->within ? isl_pw_aff_nonneg_set(minus) : (isl_pw_aff_free(minus), NULL);
    bool negative = there || (natural && isl_set_is_subset(own->within, natural) == isl_bool_true);
    isl_set_free(natural);
    return negative;
}

/* P*of, as a sum of multiples of products that are there and of one more. Takes `of`, a function of the
 * parameters of the class. NULL: there are too many. */
static isl_pw_aff *lift_multiple(lift_scope *s, isl_pw_aff *of, int by)
{
    const poly *m = s->poly;
    lift_scope own = own_scope(s);
    isl_pw_aff *sum = lift_number(s, 0);
    for (size_t i = 0; i < m->terms->n; i++) {
        const poly_term *t = &m->terms->items[i];
        bool here = t->kind == POLY_PRODUCT && t->by == by && t->cls == s->cls && s->cls;
        long c = here ? part_of(&own, t, of) : 0;
        if (c) {
            sum = lift_add_multiple(sum, c, lift_dimension(s, isl_dim_param, t->place));
            of = lift_add_multiple(of, -c, isl_pw_aff_copy(t->of[0]));
        }
    }
    sum = lift_add_multiple(sum, take_constant(&of), lift_dimension(s, isl_dim_param, by));
    bool negative = is_negative(&own, of, by);
    end_scope(&own);
    int64_t zero = 1;
    if (lift_constant(of, &zero) && zero == 0) {
        isl_pw_aff_free(of);
        return sum;
    }
    poly_term t = {.kind = POLY_PRODUCT, .cls = s->cls, .of = {negative ? isl_pw_aff_neg(of) : of}, .by = by};
    int place = lift_find_term(m, t);
    if (place >= 0)
        return lift_add_multiple(sum, negative ? -1 : 1, lift_dimension(s, isl_dim_param, place));
    return isl_pw_aff_free(sum);
}

/* A product of a and b (taken), one of which is times*P + more. */
static isl_pw_aff *lift_product_term(lift_scope *s, const ast_expr *e, isl_pw_aff *a, isl_pw_aff *b)
{
    const ast_expr *left = e->u.binary.left;
    long times = 0, others = 0;
    int64_t more = 0, others_more = 0;
    int by = linear_divisor(s, b, &times, &more);
    int other = linear_divisor(s, a, &others, &others_more);
    if (by < 0 || (other >= 0 && is_grid(s->poly, other))) {
        isl_pw_aff *swap = a;
        a = b;
        b = swap;
        by = other;
        times = others;
        more = others_more;
        left = e->u.binary.right;
    }
    isl_pw_aff_free(b);
    isl_pw_aff *of = by < 0 ? NULL : lift_of_parameters(s, left);
    isl_pw_aff *product = of ? lift_multiple(s, of, by) : NULL;
    if (!product) {
        isl_pw_aff_free(a);
        return refuse_term(s, e, POLY_PRODUCT);
    }
    product = isl_pw_aff_scale_val(product, isl_val_int_from_si(s->poly->isl, times));
    return lift_add_multiple(product, (long)more, a);
}

/* ---- quotients and remainders ---------------------------------------------------------------- */

/* The remainder as one of few affine functions; NULL: it is not. */
static isl_pw_aff *lift_remainder(lift_scope *s, const ast_expr *left, int by)
{
    lift_scope own = own_scope(s);
    isl_pw_aff *of = own.within ? lift_value(&own, left) : NULL;
    isl_pw_aff *value = of ? lift_modulo(&own, of, by) : NULL;
    isl_pw_aff_free(of);
    end_scope(&own);
    isl_size dims = isl_space_dim(s->space, isl_dim_set);
    isl_size n = value ? isl_pw_aff_dim(value, isl_dim_in) : dims;
    return dims > n ? isl_pw_aff_insert_dims(value, isl_dim_in, (unsigned)n, (unsigned)(dims - n)) : value;
}

static isl_pw_aff *lift_term(lift_scope *s, const ast_expr *e, isl_pw_aff *a, isl_pw_aff *b)
{
    ast_op op = e->u.binary.op;
    const ast_expr *left = e->u.binary.left;
    if (op == AST_OP_MUL)
        return lift_product_term(s, e, a, b);
    int by = divisor(s, b);
    isl_pw_aff *value = op == AST_OP_MOD && by >= 0 ? lift_remainder(s, left, by) : NULL;
    if (value) {
        isl_pw_aff_free(a);
        isl_pw_aff_free(b);
        return value;
    }
    poly_term_kind kind = op == AST_OP_DIV ? POLY_QUOTIENT : POLY_REMAINDER;
    return make_term(s, e, kind, by < 0 ? NULL : lift_of_parameters(s, left), by, a, b);
}

/* (a + b - 1) / b, where that is not negative. */
static isl_pw_aff *lift_ceiling_term(lift_scope *s, const ast_expr *e, isl_pw_aff *a, isl_pw_aff *b)
{
    int by = divisor(s, b);
    isl_pw_aff *of = by < 0 ? NULL : lift_of_parameters(s, e->u.call.args[0]);
    if (of) {
        isl_local_space *ls = isl_local_space_from_space(isl_pw_aff_get_domain_space(of));
        isl_aff *more = isl_aff_var_on_domain(ls, isl_dim_param, (unsigned)by);
        of = isl_pw_aff_add(of, isl_pw_aff_from_aff(isl_aff_add_constant_si(more, -1)));
    }
    return make_term(s, e, POLY_QUOTIENT, of, by, a, b);
}

/* An end of the range that a fact gives, for these arguments. */
static isl_pw_aff *end_of_range(const lift_scope *s, const ast_fact *f, const ast_expr *end,
                                isl_pw_aff *const *args)
{
    lift_scope own = {.poly = s->poly, .cls = s->cls, .fact = f, .bound = args};
    own.space = isl_pw_aff_get_domain_space(args[0]);
    isl_pw_aff *value = lift_value(&own, end);
    isl_space_free(own.space);
    return value;
}

static isl_pw_aff *lift_call_term(lift_scope *s, const ast_expr *e)
{
    const ast_file *file = s->poly->sema->ast;
    const char *function = e->u.call.name.text;
    const ast_fact *any = ast_find_fact(file, function, AST_FACT_UNKNOWN);
    const ast_fact *range = ast_find_fact(file, function, AST_FACT_RANGE);
    poly_term t = {.kind = POLY_CALL, .cls = s->cls, .by = -1, .function = function};
    bool ok = any && any->n_params == e->u.call.n_args && any->n_params <= AST_FACT_PARAMS;
    for (size_t i = 0; ok && i < e->u.call.n_args; i++)
        ok = (t.of[i] = lift_of_parameters(s, e->u.call.args[i])) != NULL;
    if (ok && range) {
        t.of[POLY_LOW] = end_of_range(s, range, range->expr, t.of);
        t.of[POLY_HIGH] = end_of_range(s, range, range->hi, t.of);
    }
    int place = -1;
    if (ok)
        place = lift_find_term(s->poly, t);
    else
        lift_free_values(&t);
    if (place >= 0)
        return lift_dimension(s, isl_dim_param, place);
    s->opaque_at = e->node.range;
    s->why = "a function of which too little is known";
    return NULL;
}

void poly_begin_terms(poly *m)
{
    m->terms = util_alloc(sizeof(*m->terms));
    *m->terms = (poly_terms){.operation = lift_term, .ceiling = lift_ceiling_term, .call = lift_call_term};
    lift_add_places(m);
}

/* Remainders by a global P, of sums whose parts are known: multiples of P go, a part that may be large
 * is taken modulo P, and what is then left lies in a few intervals of length P, so that it is affine in each.
 * (k + P*i + 3) % P becomes k % P + 3, or that less P, where 3 <= P is known. */
#include "lift_terms.h"

#include <stdlib.h>

enum { FIRST_PERIOD = -2, LAST_PERIOD = 3 };

/* ---- coefficients --------------------------------------------------------------------------- */

typedef struct search {
    enum isl_dim_type type;
    int pos;
    isl_val *v;                 /* of the pieces so far; NULL: there was none */
    bool differs;
} search;

static isl_stat note_coefficient(isl_set *where, isl_aff *value, void *arg)
{
    search *s = arg;
    isl_val *v = isl_aff_get_coefficient_val(value, s->type, s->pos);
    s->differs = s->differs || (s->v && isl_val_eq(s->v, v) != isl_bool_true);
    isl_val_free(s->v);
    s->v = v;
    isl_set_free(where);
    isl_aff_free(value);
    return isl_stat_ok;
}

long lift_coefficient(isl_pw_aff *pa, enum isl_dim_type type, int pos)
{
    search s = {.type = type, .pos = pos};
    bool ok = isl_pw_aff_foreach_piece(pa, note_coefficient, &s) == isl_stat_ok && !s.differs && s.v &&
              isl_val_is_int(s.v) == isl_bool_true && isl_val_cmp_si(s.v, LIFT_LARGEST) <= 0 &&
              isl_val_cmp_si(s.v, -LIFT_LARGEST) >= 0;
    long c = ok ? isl_val_get_num_si(s.v) : 0;
    isl_val_free(s.v);
    return c;
}

isl_pw_aff *lift_add_multiple(isl_pw_aff *pa, long c, isl_pw_aff *x)
{
    return isl_pw_aff_add(pa, isl_pw_aff_scale_val(x, isl_val_int_from_si(isl_pw_aff_get_ctx(x), c)));
}

/* ---- remainders ----------------------------------------------------------------------------- */

typedef struct remainder {
    const lift_scope *s;        /* of functions of the parameters of a class */
    int by;
    isl_pw_aff *left;           /* the number, or another that differs by multiples */
    isl_set *where;             /* values matter here only */
} remainder;

static bool is_never(isl_set *where, isl_set *not)
{
    bool never = isl_set_is_disjoint(where, not) == isl_bool_true;
    isl_set_free(not);
    return never;
}

/* x (taken) is in 0 .. P-1 where that matters. */
static bool is_small(const remainder *r, isl_pw_aff *x)
{
    isl_set *below = isl_pw_aff_lt_set(isl_pw_aff_copy(x), lift_number(r->s, 0));
    isl_set *above = isl_pw_aff_ge_set(x, lift_dimension(r->s, isl_dim_param, r->by));
    return is_never(r->where, isl_set_union(below, above));
}

static bool is_natural(const remainder *r, isl_pw_aff *x)
{
    return is_never(r->where, isl_pw_aff_lt_set(isl_pw_aff_copy(x), lift_number(r->s, 0)));
}

/* Remainders by P are below it. */
static void restrict_remainders(remainder *r)
{
    const poly_terms *all = r->s->poly->terms;
    for (size_t i = 0; i < all->n; i++) {
        const poly_term *t = &all->items[i];
        if (t->kind != POLY_REMAINDER || t->by != r->by || (t->cls && t->cls != r->s->cls))
            continue;
        isl_pw_aff *x = lift_dimension(r->s, isl_dim_param, t->place);
        isl_set *end = isl_pw_aff_lt_set(isl_pw_aff_copy(x), lift_dimension(r->s, isl_dim_param, r->by));
        r->where = isl_set_intersect(r->where, isl_set_intersect(isl_pw_aff_nonneg_set(x), end));
    }
}

/* P*x >= P + x - 1 for x >= 1, and P*x >= x for x >= 0; NULL: x may be negative. */
static isl_pw_aff *least_product(const remainder *r, const poly_term *t)
{
    isl_pw_aff *less = isl_pw_aff_sub(isl_pw_aff_copy(t->of[0]), lift_number(r->s, 1));
    if (is_natural(r, less))
        return isl_pw_aff_add(less, lift_dimension(r->s, isl_dim_param, r->by));
    isl_pw_aff_free(less);
    return is_natural(r, t->of[0]) ? isl_pw_aff_copy(t->of[0]) : NULL;
}

/* Takes multiples of P away. False: the number may be negative, and its remainder, too. */
static bool drop_multiples(remainder *r)
{
    const poly_terms *all = r->s->poly->terms;
    isl_pw_aff *low = isl_pw_aff_copy(r->left);
    for (size_t i = 0; i < all->n; i++) {
        const poly_term *t = &all->items[i];
        bool here = t->kind == POLY_PRODUCT && t->by == r->by && (!t->cls || t->cls == r->s->cls);
        long c = here ? lift_coefficient(r->left, isl_dim_param, t->place) : 0;
        if (c == 0)
            continue;
        r->left = lift_add_multiple(r->left, -c, lift_dimension(r->s, isl_dim_param, t->place));
        isl_pw_aff *least = c > 0 && t->cls == r->s->cls ? least_product(r, t) : NULL;
        if (!least)
            continue;
        low = lift_add_multiple(low, -c, lift_dimension(r->s, isl_dim_param, t->place));
        low = lift_add_multiple(low, c, least);
    }
    bool natural = is_natural(r, low);
    isl_pw_aff_free(low);
    return natural;
}

static long greatest_divisor(long a, long b)
{
    while (b) {
        long rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

/* A parameter of the class, or behind these a global. */
typedef struct variable {
    enum isl_dim_type type;
    int pos;
} variable;

static variable variable_at(const remainder *r, size_t i)
{
    size_t own = r->s->cls ? r->s->cls->n_params : 0;
    return i < own ? (variable){isl_dim_set, (int)i} : (variable){isl_dim_param, (int)(i - own)};
}

static size_t count_variables(const remainder *r)
{
    return (r->s->cls ? r->s->cls->n_params : 0) + r->s->poly->n_params;
}

/* The coefficient of a variable that may be large; 0: it has no part in the number, or is small. */
static long large_coefficient(const remainder *r, variable v)
{
    enum isl_dim_type type = v.type == isl_dim_set ? isl_dim_in : v.type;
    long c = lift_coefficient(r->left, type, v.pos);
    if (c == 0 || (v.type == isl_dim_param && v.pos == r->by))
        return 0;
    return is_small(r, lift_dimension(r->s, v.type, v.pos)) ? 0 : c;
}

/* x (taken) less what makes it a number that there is a remainder of already, or, if `least`, the least one that
 * is natural. */
static isl_pw_aff *near(const remainder *r, isl_pw_aff *x, bool least)
{
    enum { FAR = 3 };
    const poly_terms *all = r->s->poly->terms;
    int64_t off = 0;
    for (size_t i = 0; i < all->n; i++) {
        const poly_term *t = &all->items[i];
        if (t->kind != POLY_REMAINDER || t->by != r->by || t->cls != r->s->cls || !t->cls)
            continue;
        isl_pw_aff *apart = isl_pw_aff_sub(isl_pw_aff_copy(x), isl_pw_aff_copy(t->of[0]));
        bool found = lift_constant(apart, &off) && off <= FAR && off >= -FAR;
        isl_pw_aff_free(apart);
        if (found) {
            isl_pw_aff_free(x);
            return isl_pw_aff_copy(t->of[0]);
        }
    }
    for (int i = 0; i < FAR; i++) {
        isl_pw_aff *less = isl_pw_aff_sub(isl_pw_aff_copy(x), lift_number(r->s, 1));
        least = least && is_natural(r, less);
        isl_pw_aff_free(least ? x : less);
        x = least ? less : x;
    }
    return x;
}

/* Puts times * (x % P) into the place of times * x (taken), if x or -x is natural. */
static bool replace(remainder *r, long times, isl_pw_aff *x, bool sum)
{
    if (!is_natural(r, x)) {
        x = isl_pw_aff_neg(x);
        times = -times;
    }
    x = is_natural(r, x) ? near(r, x, sum) : x;
    int place = -1;
    if (is_natural(r, x))
        place = lift_find_term(r->s->poly, (poly_term){.kind = POLY_REMAINDER, .cls = r->s->cls,
                                                       .of = {isl_pw_aff_copy(x)}, .by = r->by});
    if (place < 0) {
        isl_pw_aff_free(x);
        return false;
    }
    r->left = lift_add_multiple(r->left, -times, x);
    r->left = lift_add_multiple(r->left, times, lift_dimension(r->s, isl_dim_param, place));
    return true;
}

/* All that may be large as one number, divided by what its coefficients have in common. */
static bool reduce_sum(remainder *r)
{
    isl_pw_aff *sum = lift_number(r->s, 0);
    long times = 0;
    int parts = 0;
    for (size_t i = 0; i < count_variables(r); i++) {
        variable v = variable_at(r, i);
        long c = large_coefficient(r, v);
        times = greatest_divisor(c, times);
        parts += c != 0;
        if (c)
            sum = lift_add_multiple(sum, c, lift_dimension(r->s, v.type, v.pos));
    }
    if (times)
        return replace(r, times, isl_pw_aff_scale_down_val(sum, isl_val_int_from_si(r->s->poly->isl, times)),
                       parts > 1);
    isl_pw_aff_free(sum);
    return true;
}

static bool reduce_each(remainder *r)
{
    bool ok = true;
    for (size_t i = 0; ok && i < count_variables(r); i++) {
        variable v = variable_at(r, i);
        long c = large_coefficient(r, v);
        ok = c == 0 || replace(r, c, lift_dimension(r->s, v.type, v.pos), false);
    }
    return ok;
}

static isl_set *from_period(const remainder *r, long period)
{
    isl_pw_aff *off = lift_add_multiple(isl_pw_aff_copy(r->left), -period,
                                        lift_dimension(r->s, isl_dim_param, r->by));
    return isl_pw_aff_nonneg_set(off);
}

/* left - j*P in the j-th period; NULL: there are others. */
static isl_pw_aff *in_periods(const remainder *r)
{
    long first = FIRST_PERIOD, last = LAST_PERIOD;
    isl_set *in = isl_set_intersect(from_period(r, first), isl_set_complement(from_period(r, last + 1)));
    bool all = isl_set_is_subset(r->where, in) == isl_bool_true;
    isl_set_free(in);
    if (!all)
        return NULL;
    while (first < last && is_never(r->where, isl_set_complement(from_period(r, first + 1))))
        first++;
    while (last > first && is_never(r->where, from_period(r, last)))
        last--;
    isl_pw_aff *value = NULL;
    for (long j = first; j <= last; j++) {
        isl_pw_aff *here = lift_add_multiple(isl_pw_aff_copy(r->left), -j,
                                             lift_dimension(r->s, isl_dim_param, r->by));
        value = j == first ? here
                           : isl_pw_aff_cond(isl_set_indicator_function(from_period(r, j)), here, value);
    }
    return value;
}

isl_pw_aff *lift_modulo(const lift_scope *s, isl_pw_aff *of, int by)
{
    remainder r = {.s = s, .by = by, .left = isl_pw_aff_copy(of)};
    r.where = isl_set_intersect(isl_set_copy(s->within), isl_pw_aff_domain(isl_pw_aff_copy(of)));
    restrict_remainders(&r);
    bool ok = drop_multiples(&r) && (reduce_sum(&r) || reduce_each(&r));
    restrict_remainders(&r);
    isl_pw_aff *value = ok ? in_periods(&r) : NULL;
    isl_pw_aff_free(r.left);
    isl_set_free(r.where);
    return value;
}

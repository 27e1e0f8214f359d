/* Sets and relations as ranges, bounds and guards. */
#include "lines.h"

#include <isl/ilp.h>
#include <stdlib.h>

/* ---- bounds ---------------------------------------------------------------------------------- */

/* Has it integer values everywhere, and a text that says these? */
static bool is_integral(isl_aff *aff)
{
    isl_val *by = isl_aff_get_denominator_val(aff);
    bool whole = isl_val_is_one(by) == isl_bool_true && isl_aff_dim(aff, isl_dim_div) == 0;
    isl_val_free(by);
    return whole;
}

/* pa as a total function if it is one affine function where it is defined. Takes pa. */
static isl_pw_aff *plain_bound(isl_pw_aff *pa, bool *plain)
{
    isl_pw_aff *one = verify_single(pa);
    isl_aff *aff = one ? isl_pw_aff_as_aff(isl_pw_aff_copy(one)) : NULL;
    bool whole = aff && is_integral(aff);
    isl_aff_free(aff);
    if (whole) {
        isl_pw_aff_free(pa);
        return one;
    }
    isl_pw_aff_free(one);
    *plain = false;
    return pa;
}

isl_aff *verify_limit(isl_constraint *c, int pos, bool *upper)
{
    static const enum isl_dim_type types[] = {isl_dim_param, isl_dim_in};
    isl_val *factor = isl_constraint_get_coefficient_val(c, isl_dim_out, pos);
    *upper = isl_val_is_negone(factor) == isl_bool_true;
    bool unit = *upper || isl_val_is_one(factor) == isl_bool_true;
    isl_val_free(factor);
    bool more = false;
    for (int i = 0; i < isl_constraint_dim(c, isl_dim_out); i++)
        more = more || (i != pos && isl_constraint_involves_dims(c, isl_dim_out, (unsigned)i, 1));
    for (int i = 0; i < isl_constraint_dim(c, isl_dim_div); i++)
        more = more || isl_constraint_involves_dims(c, isl_dim_div, (unsigned)i, 1);
    if (!unit || more)
        return NULL;
    isl_space *space = isl_space_domain(isl_constraint_get_space(c));
    isl_aff *aff = isl_aff_zero_on_domain(isl_local_space_from_space(space));
    for (size_t t = 0; t < UTIL_COUNT(types); t++)
        for (int i = 0; i < isl_constraint_dim(c, types[t]); i++)
            aff = isl_aff_set_coefficient_val(aff, types[t], i,
                                              isl_constraint_get_coefficient_val(c, types[t], i));
    aff = isl_aff_set_constant_val(aff, isl_constraint_get_constant_val(c));
    return *upper ? aff : isl_aff_neg(aff);
}

/* What constraints say of one dimension. */
typedef struct limits {
    isl_aff *lo, *hi;
    bool more; /* than one of either kind */
} limits;

static isl_stat note_limit(isl_constraint *c, void *arg)
{
    limits *l = arg;
    bool upper = false;
    if (isl_constraint_involves_dims(c, isl_dim_out, 0, 1) != isl_bool_false) {
        bool range = isl_constraint_is_equality(c) == isl_bool_false;
        isl_aff *aff = range ? verify_limit(c, 0, &upper) : NULL;
        isl_aff **at = upper ? &l->hi : &l->lo;
        l->more = l->more || !aff || *at;
        isl_aff_free(*at);
        *at = aff;
    }
    isl_constraint_free(c);
    return isl_stat_ok;
}

static isl_stat note_limits(isl_basic_map *part, void *arg)
{
    limits *l = arg;
    l->more = isl_basic_map_dim(part, isl_dim_div) != 0;
    isl_stat done = isl_basic_map_foreach_constraint(part, note_limit, l);
    isl_basic_map_free(part);
    return done;
}

/* The bounds of a relation (kept) to one dimension that has just a lower and an upper one. False: it has
 * others. */
static bool plain_range(isl_map *map, verify_bounds *b)
{
    limits l = {0};
    bool one = isl_map_n_basic_map(map) == 1 &&
               isl_map_foreach_basic_map(map, note_limits, &l) == isl_stat_ok;
    if (!one || l.more || !l.lo || !l.hi) {
        isl_aff_free(l.lo);
        isl_aff_free(l.hi);
        return false;
    }
    isl_set *domain = isl_map_domain(isl_map_copy(map));
    b->step = 1;
    b->lo = isl_pw_aff_intersect_domain(isl_pw_aff_from_aff(l.lo), isl_set_copy(domain));
    b->hi = isl_pw_aff_intersect_domain(isl_pw_aff_from_aff(l.hi), domain);
    return true;
}

/* The bounds of any relation (taken) to one dimension. */
static void find_range(isl_map *map, verify_bounds *b)
{
    isl_stride_info *stride = isl_map_get_range_stride_info(map, 0);
    isl_val *step = isl_stride_info_get_stride(stride);
    isl_stride_info_free(stride);
    b->step = isl_val_is_pos(step) == isl_bool_true ? isl_val_get_num_si(step) : 1;
    isl_val_free(step);
    isl_pw_multi_aff *lo = isl_map_lexmin_pw_multi_aff(isl_map_copy(map));
    isl_pw_multi_aff *hi = isl_map_lexmax_pw_multi_aff(map);
    b->lo = isl_pw_multi_aff_get_pw_aff(lo, 0);
    b->hi = isl_pw_multi_aff_get_pw_aff(hi, 0);
    isl_pw_multi_aff_free(lo);
    isl_pw_multi_aff_free(hi);
}

verify_bounds verify_bounds_of(isl_map *map)
{
    verify_bounds b = {.plain = true};
    if (plain_range(map, &b))
        isl_map_free(map);
    else
        find_range(map, &b);
    b.single = isl_pw_aff_is_equal(b.lo, b.hi) == isl_bool_true;
    b.lo = plain_bound(b.lo, &b.plain);
    b.hi = plain_bound(b.hi, &b.plain);
    return b;
}

/* A dimension, and the function of the domain that all parts of a relation have there. */
typedef struct equation {
    int pos;
    isl_aff *value; /* NULL: none so far */
    bool same;
} equation;

/* What an equation of one part says dimension `pos` is; NULL: none does. */
static isl_aff *equal_to(isl_basic_map *part, int pos)
{
    isl_constraint *c = NULL;
    bool upper;
    if (isl_basic_map_has_defining_equality(part, isl_dim_out, pos, &c) != isl_bool_true)
        return NULL;
    isl_aff *value = verify_limit(c, pos, &upper);
    isl_constraint_free(c);
    return value;
}

static isl_stat compare_equation(isl_basic_map *part, void *arg)
{
    equation *e = arg;
    isl_aff *value = e->same ? equal_to(part, e->pos) : NULL;
    isl_basic_map_free(part);
    e->same = value && (!e->value || isl_aff_plain_is_equal(e->value, value) == isl_bool_true);
    if (e->value)
        isl_aff_free(value);
    else
        e->value = value;
    return isl_stat_ok;
}

/* Dimension `pos` of map where equations alone say what it is; NULL: it takes more to see. */
static isl_pw_aff *plain_value(isl_map *map, size_t pos)
{
    equation e = {.pos = (int)pos, .same = true};
    isl_map_foreach_basic_map(map, compare_equation, &e);
    if (e.same && e.value)
        return isl_pw_aff_intersect_domain(isl_pw_aff_from_aff(e.value),
                                           isl_map_domain(isl_map_copy(map)));
    isl_aff_free(e.value);
    return NULL;
}

verify_bounds verify_bounds_at(isl_map *map, size_t pos)
{
    isl_pw_aff *value = plain_value(map, pos);
    if (value) {
        verify_bounds b = {.step = 1, .plain = true, .single = true};
        b.lo = plain_bound(value, &b.plain);
        b.hi = isl_pw_aff_copy(b.lo);
        return b;
    }
    isl_map *one = isl_map_copy(map);
    isl_size n = isl_map_dim(one, isl_dim_out);
    one = isl_map_project_out(one, isl_dim_out, (unsigned)pos + 1, (unsigned)n - (unsigned)pos - 1);
    return verify_bounds_of(isl_map_project_out(one, isl_dim_out, 0, (unsigned)pos));
}

void verify_bounds_free(verify_bounds *b)
{
    isl_pw_aff_free(b->lo);
    isl_pw_aff_free(b->hi);
}

/* [y] -> [x], x from y on in steps. */
static isl_map *steps_from(isl_ctx *ctx, long step)
{
    if (step == 1)
        return isl_map_lex_le(isl_space_set_alloc(ctx, 0, 1));
    text t = {0};
    text_printf(&t, "{ [y] -> [x] : exists e : x = y + %ld e and e >= 0 }", step);
    isl_map *up = isl_map_read_from_str(ctx, text_str(&t));
    text_free(&t);
    return up;
}

isl_map *verify_interval(const verify_bounds *b)
{
    isl_map *from = isl_map_from_pw_aff(isl_pw_aff_copy(b->lo));
    if (isl_pw_aff_plain_is_equal(b->lo, b->hi) == isl_bool_true)
        return from;
    isl_ctx *ctx = isl_pw_aff_get_ctx(b->lo);
    isl_map *down = isl_map_lex_ge(isl_space_set_alloc(ctx, 0, 1));
    isl_map *to = isl_map_apply_range(isl_map_from_pw_aff(isl_pw_aff_copy(b->hi)), down);
    return isl_map_intersect(isl_map_apply_range(from, steps_from(ctx, b->step)), to);
}

isl_map *verify_product(const verify_bounds *b, size_t n, isl_map *like)
{
    isl_map *all = NULL;
    for (size_t i = 0; i < n; i++) {
        isl_map *one = verify_interval(&b[i]);
        all = all ? isl_map_flat_range_product(all, one) : one;
    }
    if (!all)
        return isl_map_universe(isl_map_get_space(like));
    if (isl_map_has_tuple_id(like, isl_dim_out) == isl_bool_true)
        all = isl_map_set_tuple_id(all, isl_dim_out, isl_map_get_tuple_id(like, isl_dim_out));
    return all;
}

/* ---- guards ---------------------------------------------------------------------------------- */

/* Constraints that have to hold together; some are left out. */
typedef struct conjunction {
    isl_constraint_list *list;
    isl_space *space;
    bool *left_out;
    size_t n;
} conjunction;

static size_t terms_of(const conjunction *all, size_t i)
{
    static const enum isl_dim_type types[] = {isl_dim_set, isl_dim_param, isl_dim_div};
    isl_constraint *c = isl_constraint_list_get_constraint(all->list, (int)i);
    size_t n = 0;
    for (size_t t = 0; t < UTIL_COUNT(types); t++)
        for (isl_size k = 0; k < isl_constraint_dim(c, types[t]); k++)
            n += isl_constraint_involves_dims(c, types[t], (unsigned)k, 1) == isl_bool_true;
    isl_constraint_free(c);
    return n;
}

static isl_set *set_of(const conjunction *all)
{
    isl_basic_set *set = isl_basic_set_universe(isl_space_copy(all->space));
    for (size_t i = 0; i < all->n; i++)
        if (!all->left_out[i])
            set = isl_basic_set_add_constraint(
                set, isl_constraint_list_get_constraint(all->list, (int)i));
    return isl_set_from_basic_set(set);
}

/* Is all of `set` that is known to exist in `may`? Takes set. */
static bool is_allowed(isl_set *set, isl_set *may, isl_set *known)
{
    set = isl_set_intersect(set, isl_set_copy(known));
    bool allowed = isl_set_is_subset(set, may) == isl_bool_true;
    isl_set_free(set);
    return allowed;
}

/* Leaves out what the others and `known` make superfluous: isl does not see through disjunctions. */
static void leave_out(conjunction *all, isl_set *may, isl_set *known)
{
    size_t longest = 0;
    for (size_t i = 0; i < all->n; i++)
        longest = terms_of(all, i) > longest ? terms_of(all, i) : longest;
    for (size_t length = longest + 1; length-- > 0;)
        for (size_t i = 0; i < all->n; i++)
            if (terms_of(all, i) == length) {
                all->left_out[i] = true;
                all->left_out[i] = is_allowed(set_of(all), may, known);
            }
}

isl_set *verify_weakest_guard(isl_set *set, isl_set *may, isl_set *known)
{
    if (isl_set_is_subset(known, may) == isl_bool_true)
        return isl_set_universe(isl_set_get_space(set));
    isl_set *guard = isl_set_coalesce(isl_set_gist(isl_set_copy(set), isl_set_copy(known)));
    isl_basic_set *hull = isl_set_simple_hull(isl_set_copy(guard));
    if (is_allowed(isl_set_from_basic_set(isl_basic_set_copy(hull)), may, known)) {
        conjunction all = {.list = isl_basic_set_get_constraint_list(hull),
                           .space = isl_set_get_space(guard)};
        isl_size n = isl_constraint_list_n_constraint(all.list);
        all.n = n < 0 ? 0 : (size_t)n;
        all.left_out = util_alloc(all.n + 1);
        leave_out(&all, may, known);
        isl_set_free(guard);
        guard = set_of(&all);
        free(all.left_out);
        isl_constraint_list_free(all.list);
        isl_space_free(all.space);
    }
    isl_basic_set_free(hull);
    return guard;
}

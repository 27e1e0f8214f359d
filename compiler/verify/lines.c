/* Sets and relations as ranges, bounds and guards. */
#include "lines.h"

#include <isl/constraint.h>
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

verify_bounds verify_bounds_of(isl_map *map)
{
    verify_bounds b = {.plain = true};
    isl_stride_info *stride = isl_map_get_range_stride_info(map, 0);
    isl_val *step = isl_stride_info_get_stride(stride);
    isl_stride_info_free(stride);
    b.step = isl_val_is_pos(step) == isl_bool_true ? isl_val_get_num_si(step) : 1;
    isl_val_free(step);
    isl_pw_multi_aff *lo = isl_map_lexmin_pw_multi_aff(isl_map_copy(map));
    isl_pw_multi_aff *hi = isl_map_lexmax_pw_multi_aff(map);
    b.lo = isl_pw_multi_aff_get_pw_aff(lo, 0);
    b.hi = isl_pw_multi_aff_get_pw_aff(hi, 0);
    isl_pw_multi_aff_free(lo);
    isl_pw_multi_aff_free(hi);
    b.single = isl_pw_aff_is_equal(b.lo, b.hi) == isl_bool_true;
    b.lo = plain_bound(b.lo, &b.plain);
    b.hi = plain_bound(b.hi, &b.plain);
    return b;
}

verify_bounds verify_bounds_at(isl_map *map, size_t pos)
{
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

isl_map *verify_interval(const verify_bounds *b)
{
    isl_ctx *ctx = isl_pw_aff_get_ctx(b->lo);
    text t = {0};
    text_printf(&t, "{ [y] -> [x] : exists e : x = y + %ld e and e >= 0 }", b->step);
    isl_map *up = isl_map_read_from_str(ctx, text_str(&t));
    isl_map *down = isl_map_read_from_str(ctx, "{ [y] -> [x] : x <= y }");
    text_free(&t);
    isl_map *from = isl_map_apply_range(isl_map_from_pw_aff(isl_pw_aff_copy(b->lo)), up);
    isl_map *to = isl_map_apply_range(isl_map_from_pw_aff(isl_pw_aff_copy(b->hi)), down);
    return isl_map_intersect(from, to);
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

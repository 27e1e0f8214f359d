/* Sets and relations as ranges, bounds and guards. */
#include "seq_bounds.h"

enum { MAX_DIMS = 32 };

isl_set *seq_name_dims(isl_set *set, const char *const *words, size_t n, size_t first)
{
    for (size_t i = 0; i < n; i++)
        set = isl_set_set_dim_name(set, isl_dim_set, (unsigned)(first + i), words[i]);
    return set;
}

isl_map *seq_name_in(isl_map *map, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        map = isl_map_set_dim_name(map, isl_dim_in, (unsigned)i, words[i]);
    return map;
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* Dimension `pos` of set (kept) as a relation from those before it. */
static isl_map *upto(isl_set *set, size_t pos, const char *const *words)
{
    isl_size n = isl_set_dim(set, isl_dim_set);
    isl_set *front = isl_set_project_out(isl_set_copy(set), isl_dim_set, (unsigned)pos + 1,
                                         (unsigned)n - (unsigned)pos - 1);
    isl_map *map = isl_map_from_range(front);
    map = isl_map_move_dims(map, isl_dim_in, 0, isl_dim_out, 0, (unsigned)pos);
    return seq_name_in(isl_map_reset_tuple_id(map, isl_dim_in), words, pos);
}

/* What one constraint says of the range of a relation to one dimension, as a function of all else;
 * NULL: it says something else. */
static isl_pw_aff *bound_in(isl_constraint *c, bool upper)
{
    bool is_upper;
    isl_aff *aff =
        isl_constraint_is_equality(c) == isl_bool_true ? NULL : verify_limit(c, 0, &is_upper);
    if (aff && is_upper == upper)
        return isl_pw_aff_from_aff(aff);
    isl_aff_free(aff);
    return NULL;
}

/* The least of the upper bounds, or the greatest of the lower ones, of a relation that is one set
 * of constraints without divisions. NULL: it is something else. */
static isl_pw_aff *total_bound(isl_map *map, bool upper)
{
    isl_basic_map *one = isl_map_simple_hull(isl_map_copy(map));
    if (isl_map_n_basic_map(map) != 1 || isl_basic_map_dim(one, isl_dim_div) != 0) {
        isl_basic_map_free(one);
        return NULL;
    }
    isl_constraint_list *list = isl_basic_map_get_constraint_list(one);
    isl_basic_map_free(one);
    isl_pw_aff *all = NULL;
    for (int i = 0; i < isl_constraint_list_n_constraint(list); i++) {
        isl_constraint *c = isl_constraint_list_get_constraint(list, i);
        isl_pw_aff *pa = bound_in(c, upper);
        isl_constraint_free(c);
        if (pa)
            all = !all ? pa : upper ? isl_pw_aff_min(all, pa) : isl_pw_aff_max(all, pa);
    }
    isl_constraint_list_free(list);
    return all;
}

/* Bounds that are no affine functions, as functions that are defined everywhere, if there are such.
 * What they leave may be more than what was there. */
static void make_total(verify_bounds *b, isl_set *set, size_t pos, const char *const *words)
{
    isl_map *map = upto(set, pos, words);
    isl_pw_aff *lo = total_bound(map, false), *hi = total_bound(map, true);
    isl_map_free(map);
    if (!lo || !hi || b->step != 1) {
        isl_pw_aff_free(lo);
        isl_pw_aff_free(hi);
        return;
    }
    verify_bounds_free(b);
    b->lo = lo;
    b->hi = hi;
    b->total = true;
}

bool seq_put_bounds(text *out, const verify_bounds *b)
{
    bool ok = seq_put_value(out, b->lo);
    if (ok && !b->single) {
        text_puts(out, " .. ");
        ok = seq_put_value(out, b->hi);
        if (b->step != 1)
            text_printf(out, " .. %ld", b->step);
    }
    return ok;
}

/* The bounds of dimension `pos` of set (kept) as a function of those before it. */
verify_bounds seq_nested_bounds(isl_set *set, size_t pos, const char *const *words)
{
    return verify_bounds_of(upto(set, pos, words));
}

/* The points of a set of n dimensions that the bounds of the dimension `pos` leave. Takes
 * within. */
isl_set *seq_bound_by(isl_set *within, const verify_bounds *b, size_t pos, size_t n)
{
    isl_set *some = isl_set_flatten(isl_map_wrap(verify_interval(b)));
    some = isl_set_reset_tuple_id(some);
    some = isl_set_add_dims(some, isl_dim_set, (unsigned)(n - pos - 1));
    return isl_set_intersect(within, some);
}

/* ---- guards ---------------------------------------------------------------------------------- */

bool seq_put_guard(text *out, isl_set *set, isl_set *may, isl_set *known)
{
    isl_set *guard = verify_weakest_guard(set, may, known);
    bool ok = isl_set_plain_is_universe(guard) == isl_bool_true || seq_put_condition(out, guard);
    isl_set_free(guard);
    return ok;
}

/* ---- parameters of classes ------------------------------------------------------------------- */

/* Is the interval of dimension `pos` all that the set has there, wherever the dimensions before
 * it have values that it has? */
static bool is_exact(isl_set *set, const verify_bounds *b, size_t pos, isl_set *facts)
{
    isl_size n = isl_set_dim(set, isl_dim_set);
    isl_set *front = isl_set_project_out(isl_set_copy(set), isl_dim_set, (unsigned)pos + 1,
                                         (unsigned)n - (unsigned)pos - 1);
    isl_map *some = verify_interval(b);
    if (pos > 0)
        some = isl_map_intersect_domain(
            some, isl_set_project_out(isl_set_copy(front), isl_dim_set, (unsigned)pos, 1));
    isl_set *all = isl_set_reset_tuple_id(isl_set_flatten(isl_map_wrap(some)));
    all = isl_set_intersect_params(all, isl_set_copy(facts));
    front = isl_set_intersect_params(isl_set_reset_tuple_id(front), isl_set_copy(facts));
    bool exact = isl_set_is_equal(all, front) == isl_bool_true && (pos > 0 || b->plain || b->total);
    isl_set_free(all);
    isl_set_free(front);
    return exact;
}

/* The last parameter of a class that exists only where `set` does, which its bounds do not say:
 * i = lo .. (condition) ? hi : lo - 1, or, where the condition is about it, too,
 * i = [ii = lo .. hi, when = 1 .. (condition) ? 1 : 0] ii + when - 1. */
static bool put_conditional(text *out, isl_set *set, isl_set *box, const char *const *words,
                            size_t n, const verify_bounds *b, isl_set *facts, arena *a)
{
    const char *inner[MAX_DIMS];
    for (size_t i = 0; i < n; i++)
        inner[i] = i + 1 < n ? words[i] : arena_printf(a, "%s%s", words[i], words[i]);
    isl_set *named = seq_name_dims(isl_set_copy(set), inner, n, 0);
    isl_set *within = seq_name_dims(isl_set_copy(box), inner, n, 0);
    text guard = {0}, lo = {0}, hi = {0}, step = {0}, below = {0};
    isl_val *one = isl_val_one(isl_set_get_ctx(set));
    isl_pw_aff *less = isl_pw_aff_add_constant_val(isl_pw_aff_copy(b->lo), isl_val_neg(one));
    isl_set *known = isl_set_intersect_params(within, isl_set_copy(facts));
    bool ok = seq_put_guard(&guard, named, named, known) && seq_put_value(&lo, b->lo) &&
              seq_put_value(&hi, b->hi) && seq_put_value(&below, less);
    isl_pw_aff_free(less);
    if (b->step != 1)
        text_printf(&step, " .. %ld", b->step);
    const char *cond = text_str(&guard);
    if (!guard.len) /* where it does not exist its bounds are no range */
        text_printf(out, "  %s = %s .. %s%s\n", words[n - 1], text_str(&lo), text_str(&hi),
                    text_str(&step));
    else if (seq_says(cond, inner[n - 1]))
        text_printf(out, "  %s = [%s = %s .. %s%s, when = 1 .. (%s) ? 1 : 0] %s + when - 1\n",
                    words[n - 1], inner[n - 1], text_str(&lo), text_str(&hi), text_str(&step), cond,
                    inner[n - 1]);
    else
        text_printf(out, "  %s = %s .. (%s) ? %s : %s%s\n", words[n - 1], text_str(&lo), cond,
                    text_str(&hi), text_str(&below), text_str(&step));
    text_free(&guard);
    text_free(&lo);
    text_free(&hi);
    text_free(&step);
    text_free(&below);
    isl_set_free(named);
    isl_set_free(known);
    return ok;
}

bool seq_put_ranges(text *out, isl_set *set, const char *const *words, size_t n, isl_set *facts,
                    arena *a)
{
    bool ok = n > 0 && n <= MAX_DIMS, exact = true;
    set = seq_name_dims(isl_set_reset_tuple_id(isl_set_copy(set)), words, n, 0);
    isl_set *box = isl_set_universe(isl_set_get_space(set));
    for (size_t i = 0; ok && i < n; i++) {
        verify_bounds b = seq_nested_bounds(set, i, words);
        if (!b.plain)
            make_total(&b, set, i, words);
        exact = exact && is_exact(set, &b, i, facts);
        if (b.plain)
            box = seq_bound_by(box, &b, i, n);
        b.single = false; /* a parameter is a range */
        if (exact || i + 1 < n) {
            text_printf(out, "  %s = ", words[i]);
            ok = seq_put_bounds(out, &b);
            text_putc(out, '\n');
        } else {
            ok = put_conditional(out, set, box, words, n, &b, facts, a);
        }
        verify_bounds_free(&b);
    }
    isl_set_free(box);
    isl_set_free(set);
    return ok;
}

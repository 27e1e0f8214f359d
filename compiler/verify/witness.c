/* The smallest point of a set of contradictions. */
#include "report.h"

#include <isl/point.h>
#include <stdlib.h>

isl_set *verify_fix(isl_set *set, enum isl_dim_type type, size_t pos, int64_t value)
{
    isl_val *v = isl_val_int_from_si(isl_set_get_ctx(set), value);
    return isl_set_fix_val(set, type, (unsigned)pos, v);
}

/* Coordinates too large for 63 bits are shown as the largest that fit. */
static int64_t clamp(isl_val *v)
{
    static const long most = INT64_MAX / 2;
    int64_t value = isl_val_cmp_si(v, most) > 0    ? most
                    : isl_val_cmp_si(v, -most) < 0 ? -most
                                                   : isl_val_get_num_si(v);
    isl_val_free(v);
    return value;
}

static bool read_point(isl_set *set, int64_t *at, size_t n)
{
    isl_point *p = isl_set_sample_point(set);
    bool found = p && isl_point_is_void(p) == isl_bool_false;
    for (size_t i = 0; found && i < n; i++) {
        isl_val *v = isl_point_get_coordinate_val(p, isl_dim_set, (int)i);
        found = v != NULL;
        at[i] = v ? clamp(v) : 0;
    }
    isl_point_free(p);
    return found;
}

bool verify_first_point(verify_model *m, isl_set *set, int64_t *at, size_t n)
{
    (void)m;
    isl_size params = isl_set_dim(set, isl_dim_param);
    if (params > 0)
        set = isl_set_project_out(set, isl_dim_param, 0, (unsigned)params);
    if (isl_set_is_empty(set) != isl_bool_false) {
        isl_set_free(set);
        return false;
    }
    if (isl_set_is_bounded(set) == isl_bool_true)
        set = isl_set_lexmin(set);
    return read_point(set, at, n);
}

/* Appends to set the constraint dim[a] >= sign * dim[x]. */
static isl_set *above(isl_set *set, unsigned a, unsigned x, int sign)
{
    isl_space *space = isl_set_get_space(set);
    isl_local_space *ls = isl_local_space_from_space(space);
    isl_aff *left = isl_aff_var_on_domain(isl_local_space_copy(ls), isl_dim_set, a);
    isl_aff *right = isl_aff_var_on_domain(ls, isl_dim_set, x);
    if (sign < 0)
        right = isl_aff_neg(right);
    return isl_set_intersect(set, isl_set_from_basic_set(isl_aff_ge_basic_set(left, right)));
}

/* dim[0] = sum of dim[1 .. k]. */
static isl_set *sum_of(isl_set *set, unsigned k)
{
    isl_local_space *ls = isl_local_space_from_space(isl_set_get_space(set));
    isl_aff *sum = isl_aff_zero_on_domain(isl_local_space_copy(ls));
    for (unsigned i = 1; i <= k; i++)
        sum = isl_aff_set_coefficient_si(sum, isl_dim_in, (int)i, 1);
    isl_aff *first = isl_aff_var_on_domain(ls, isl_dim_set, 0);
    return isl_set_intersect(set, isl_set_from_basic_set(isl_aff_eq_basic_set(first, sum)));
}

/* The point of `set` (no parameters, k dimensions) with the least sum of absolute values, then
 * lexicographically least absolute values, then positive values first. Takes set. */
static bool least_absolute(isl_set *set, unsigned k, int64_t *at)
{
    isl_set *lifted = isl_set_insert_dims(isl_set_copy(set), isl_dim_set, 0, k + 1);
    for (unsigned i = 0; i < k; i++) {
        lifted = above(lifted, 1 + i, 1 + k + i, 1);
        lifted = above(lifted, 1 + i, 1 + k + i, -1);
    }
    lifted = sum_of(lifted, k);
    lifted = isl_set_project_out(lifted, isl_dim_set, k + 1, k);
    lifted = isl_set_lexmin(lifted);
    int64_t *found = util_alloc((k + 1) * sizeof(*found));
    bool ok = read_point(lifted, found, k + 1);
    for (unsigned i = 0; ok && i < k; i++) {
        isl_set *fixed = verify_fix(isl_set_copy(set), isl_dim_set, i, found[1 + i]);
        at[i] = found[1 + i];
        if (isl_set_is_empty(fixed) == isl_bool_true) {
            isl_set_free(fixed);
            at[i] = -found[1 + i];
            fixed = verify_fix(isl_set_copy(set), isl_dim_set, i, at[i]);
        }
        isl_set_free(set);
        set = fixed;
    }
    free(found);
    isl_set_free(set);
    return ok;
}

/* Chooses the parameters; those the set does not depend on stay 0 and are not shown. */
static bool least_params(verify_model *m, isl_set *params, verify_witness *w)
{
    isl_set *set = isl_set_from_params(params);
    unsigned k = 0;
    size_t *order = util_alloc(m->poly.n_params * sizeof(*order) + 1);
    for (size_t i = 0, pos = 0; i < m->poly.n_params; i++) {
        if (isl_set_involves_dims(set, isl_dim_param, (unsigned)pos, 1) == isl_bool_true) {
            set = isl_set_move_dims(set, isl_dim_set, k, isl_dim_param, (unsigned)pos, 1);
            order[k++] = i;
        } else {
            set = isl_set_project_out(set, isl_dim_param, (unsigned)pos, 1);
        }
    }
    int64_t *at = util_alloc(k * sizeof(*at) + 1);
    bool ok = isl_set_is_empty(set) == isl_bool_false;
    if (ok && k > 0)
        ok = least_absolute(isl_set_reset_tuple_id(isl_set_copy(set)), k, at);
    for (unsigned i = 0; ok && i < k; i++) {
        w->params[order[i]] = at[i];
        w->shown[order[i]] = true;
    }
    isl_set_free(set);
    free(at);
    free(order);
    return ok;
}

/* set with its parameters fixed to the witness's. Takes set. */
static isl_set *at_params(const verify_witness *w, isl_set *set)
{
    isl_size n = isl_set_dim(set, isl_dim_param);
    for (isl_size i = 0; i < n; i++)
        if (w->shown[i])
            set = verify_fix(set, isl_dim_param, i, w->params[i]);
    return set;
}

bool verify_smallest(verify_model *m, isl_set *set, verify_witness *w)
{
    isl_size n = isl_set_dim(set, isl_dim_set);
    *w = (verify_witness){
        .params = arena_alloc(m->arena, (m->poly.n_params + 1) * sizeof(int64_t)),
        .shown = arena_alloc(m->arena, (m->poly.n_params + 1) * sizeof(bool)),
        .at = arena_alloc(m->arena, ((n < 0 ? 0 : (size_t)n) + 1) * sizeof(int64_t)),
        .n_at = n < 0 ? 0 : (size_t)n,
    };
    if (isl_set_is_empty(set) != isl_bool_false) {
        isl_set_free(set);
        return false;
    }
    /* From here on there is a contradiction, and it is reported even if clamped parameters keep the
     * point from being found. */
    if (least_params(m, isl_set_params(isl_set_copy(set)), w))
        verify_first_point(m, at_params(w, set), w->at, w->n_at);
    else
        isl_set_free(set);
    return !verify_failed(m);
}

bool verify_smallest_pair(verify_model *m, isl_map *map, verify_witness *w)
{
    return verify_smallest(m, isl_set_flatten(isl_map_wrap(map)), w);
}

isl_set *verify_image(const verify_witness *w, isl_map *map, const int64_t *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        map = isl_map_fix_val(map, isl_dim_in, (unsigned)i,
                              isl_val_int_from_si(isl_map_get_ctx(map), at[i]));
    return at_params(w, isl_map_range(map));
}

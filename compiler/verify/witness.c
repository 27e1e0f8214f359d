/* The smallest point of a set of contradictions. */
#include "report.h"
#include "values.h"

#include <isl/point.h>
#include <stdlib.h>
#include <string.h>

isl_set *verify_fix(isl_set *set, enum isl_dim_type type, size_t pos, int64_t value)
{
    isl_val *v = isl_val_int_from_si(isl_set_get_ctx(set), value);
    return isl_set_fix_val(set, type, (unsigned)pos, v);
}

/* Coordinates too large for 64 bits are shown as the largest that fit. */
static int64_t clamp(isl_val *v)
{
    static const long most = INT64_MAX;
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
        /* All absolute values first: a sign that suits some point may suit none of these. */
        isl_set *negative = verify_fix(isl_set_copy(set), isl_dim_set, i, -found[1 + i]);
        set = isl_set_union(verify_fix(set, isl_dim_set, i, found[1 + i]), negative);
    }
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

/* What fits into the C type of a parameter. */
static void type_limits(const poly_param *p, int64_t *low, int64_t *high)
{
    const char *type = p->root->c_type ? p->root->c_type : "int";
    bool is_int = p->field || strcmp(type, "int") == 0 || strcmp(type, "int32_t") == 0;
    bool is_unsigned = !p->field && (strstr(type, "unsigned") || strncmp(type, "uint", 4) == 0 ||
                                     strcmp(type, "size_t") == 0);
    *high = is_int ? INT32_MAX : INT64_MAX / 2;
    *low = is_unsigned ? 0 : is_int ? INT32_MIN : -(INT64_MAX / 2);
}

/* set (taken) where dimension `dim` fits into the type of p. */
static isl_set *within_type(isl_set *set, unsigned dim, const poly_param *p)
{
    int64_t low, high;
    type_limits(p, &low, &high);
    isl_ctx *ctx = isl_set_get_ctx(set);
    set = isl_set_lower_bound_val(set, isl_dim_set, dim, isl_val_int_from_si(ctx, low));
    return isl_set_upper_bound_val(set, isl_dim_set, dim, isl_val_int_from_si(ctx, high));
}

typedef struct mentions {
    const verify_model *m;
    bool *used; /* of each parameter */
} mentions;

/* Marks the parameters that an expression mentions; all, where one cannot say. */
static void mark(const ast_expr *e, void *arg)
{
    const mentions *in = arg;
    const poly *p = &in->m->poly;
    const sema_global *root = NULL;
    text name = {0};
    if (e->kind != AST_NAME && e->kind != AST_MEMBER) {
        if (e->kind == AST_INLINE_C)
            memset(in->used, true, p->n_params * sizeof(*in->used));
        ast_each_child(e, mark, arg);
        return;
    }
    int pos = lift_spelling(p->sema, e, &name, &root) ? lift_find_param(p, text_str(&name)) : -1;
    if (root && e->kind == AST_NAME && root->init)
        mark(root->init, arg);
    else if (pos >= 0)
        in->used[pos] = true;
    text_free(&name);
}

/* Does the witness contradict an assumption that isl does not know? What is not shown may have any
 * value: a few are tried. *one becomes an assumption, or a part of one joined to others by &&, that does
 * not hold, and the parameters that such parts mention are marked. */
static bool contradicts(const verify_model *m, const verify_witness *w, bool *used,
                        const ast_expr **one)
{
    enum { TRIES = 7 };
    int64_t *params = util_alloc((m->poly.n_params + 1) * sizeof(*params));
    mentions in = {m, used};
    bool possible = false;
    memset(used, false, m->poly.n_params * sizeof(*used));
    for (int64_t free_value = 0; free_value < TRIES && !possible; free_value++) {
        for (size_t i = 0; i < m->poly.n_params; i++) {
            const poly_param *p = &m->poly.params[i];
            bool fixed = m->poly.grid[0] && (p->rows || p->cols);
            params[i] = w->shown[i] ? w->params[i] : fixed ? m->poly.grid[p->cols] : free_value;
        }
        const ast_expr *wrong = NULL;
        for (size_t i = 0; !wrong && i < m->file->n_assumes; i++)
            if (!m->assume_exact[i])
                wrong = verify_contradicted(m, m->file->assumes[i]->expr, params);
        possible = !wrong;
        if (wrong)
            mark(*one = wrong, &in);
    }
    free(params);
    return !possible;
}

/* The parameters that `params` (taken) involves become dimensions of a set, in their order; the
 * others are left out. order[] has room for all. */
static isl_set *involved(const verify_model *m, isl_set *params, size_t *order, unsigned *k)
{
    isl_set *set = isl_set_from_params(params);
    *k = 0;
    for (size_t i = 0, pos = 0; i < m->poly.n_params; i++) {
        if (isl_set_involves_dims(set, isl_dim_param, (unsigned)pos, 1) == isl_bool_true) {
            set = isl_set_move_dims(set, isl_dim_set, *k, isl_dim_param, (unsigned)pos, 1);
            order[(*k)++] = i;
        } else {
            set = isl_set_project_out(set, isl_dim_param, (unsigned)pos, 1);
        }
    }
    for (unsigned i = 0; i < *k; i++)
        set = within_type(set, i, &m->poly.params[order[i]]);
    return isl_set_reset_tuple_id(set);
}

/* set (taken) without all points that have the values at[] of the parameters that are used: what
 * contradicts an assumption does so whatever the others are. */
static isl_set *without(isl_set *set, const int64_t *at, const size_t *order, unsigned k,
                        const bool *used)
{
    isl_set *same = isl_set_copy(set);
    for (unsigned i = 0; i < k; i++)
        if (used[order[i]])
            same = verify_fix(same, isl_dim_set, i, at[i]);
    return isl_set_subtract(set, same);
}

/* The points of the set (kept) with the values at[] of all used parameters but one, which has at least
 * the next value with which the assumption holds; NULL if there is no such point. */
static isl_set *repaired(const verify_model *m, isl_set *set, const verify_witness *w,
                         const int64_t *at, const size_t *order, unsigned k, const bool *used,
                         const ast_expr *assumption)
{
    enum { MOST = 256 };
    int64_t *params = util_alloc((m->poly.n_params + 1) * sizeof(*params));
    isl_set *best = NULL;
    memcpy(params, w->params, m->poly.n_params * sizeof(*params));
    for (unsigned x = 0; x < k && !best; x++) {
        if (!used[order[x]] || !m->poly.params[order[x]].field)
            continue; /* sizes follow from numbers, as a rule */
        int64_t value = at[x];
        while (value < MOST &&
               (params[order[x]] = value, verify_contradicted(m, assumption, params)))
            value++;
        if (value < MOST) {
            best = isl_set_copy(set);
            for (unsigned i = 0; i < k; i++)
                if (used[order[i]])
                    best = i == x ? isl_set_lower_bound_si(best, isl_dim_set, i, (int)value)
                                  : verify_fix(best, isl_dim_set, i, at[i]);
        }
        if (best && isl_set_is_empty(best) != isl_bool_false)
            best = isl_set_free(best);
        params[order[x]] = at[x];
    }
    free(params);
    return best;
}

/* Chooses the parameters; those the set does not depend on stay 0 and are not shown. False: there
 * are none of their types for which all assumptions hold, or isl gave up. */
static bool least_params(verify_model *m, isl_set *params, verify_witness *w)
{
    enum { TRIES = 100 };
    unsigned k;
    size_t *order = util_alloc(m->poly.n_params * sizeof(*order) + 1);
    isl_set *set = involved(m, params, order, &k);
    int64_t *at = util_alloc(k * sizeof(*at) + 1);
    bool ok = false, *used = util_alloc(m->poly.n_params + 1);
    const ast_expr *one = NULL;
    verify_renew(m); /* that there is a contradiction has been decided: this is to show it */
    for (int tries = 0; tries < TRIES && !ok; tries++) {
        if (isl_set_is_empty(set) != isl_bool_false ||
            (k > 0 && !least_absolute(isl_set_copy(set), k, at)))
            break;
        for (unsigned i = 0; i < k; i++) {
            w->params[order[i]] = at[i];
            w->shown[order[i]] = true;
        }
        ok = !contradicts(m, w, used, &one);
        isl_set *mended = ok ? NULL : repaired(m, set, w, at, order, k, used, one);
        if (mended) {
            isl_set_free(set);
            set = mended;
        } else if (!ok) {
            set = without(set, at, order, k, used);
        }
    }
    isl_set_free(set);
    free(used);
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
    set = verify_possible_set(m, set);
    if (m->terms.on || isl_set_is_empty(set) != isl_bool_false) {
        m->terms.found = m->terms.found || isl_set_is_empty(set) != isl_bool_true;
        isl_set_free(set);
        return false;
    }
    bool found = least_params(m, isl_set_params(isl_set_copy(set)), w);
    if (found)
        found = verify_first_point(m, at_params(w, set), w->at, w->n_at);
    else
        isl_set_free(set);
    return found && !verify_failed(m);
}

bool verify_smallest_pair(verify_model *m, isl_map *map, verify_witness *w)
{
    return verify_smallest(m, isl_set_flatten(isl_map_wrap(verify_possible(m, map))), w);
}

void verify_join_pair(const verify_model *m, const sema_global *g, verify_witness *w)
{
    int stride = m->pairs.stride[verify_root_of(g)->index];
    if (stride < 0 || w->n_at < 2)
        return;
    int64_t *last = &w->at[w->n_at - 1];
    last[-1] = last[-1] * w->params[stride] + last[0];
    w->n_at--;
}

bool verify_smallest_element(verify_model *m, isl_map *map, const ast_call *call,
                             const sema_global *g, verify_witness *w)
{
    bool found = verify_smallest_pair(m, map, w);
    if (found && verify_stride(m, call, g) >= 0)
        verify_join_pair(m, g, w);
    return found;
}

isl_set *verify_image(const verify_witness *w, isl_map *map, const int64_t *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        map = isl_map_fix_val(map, isl_dim_in, (unsigned)i,
                              isl_val_int_from_si(isl_map_get_ctx(map), at[i]));
    return at_params(w, isl_map_range(map));
}

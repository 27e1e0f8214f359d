/* Where expressions are read: a dimension for each variable, and the constraints that index lists,
 * ranges and values put on it. */
#include "poly.h"

/* ---- the variables of a scope --------------------------------------------------------------- */

size_t lift_count_indices(const ast_indices *list)
{
    return list ? list->n : 0;
}

size_t lift_count_value_indices(ast_value **values, size_t n)
{
    size_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += lift_count_indices(values[i]->indices);
    return total;
}

void lift_opaque(lift_layout *l)
{
    if (l->exact) {
        l->opaque_at = l->scope.opaque_at;
        l->why = l->scope.why;
    }
    l->exact = false;
}

void lift_require(lift_layout *l, isl_set *set)
{
    l->scope.within = isl_set_intersect(l->scope.within, set);
}

static isl_pw_aff *variable(lift_layout *l, int dim)
{
    return lift_dimension(&l->scope, isl_dim_set, dim);
}

static void bind_variable(lift_layout *l, const void *key, int dim, bool is_opaque)
{
    if (l->scope.n_vars == LIFT_MAX_VARS)
        return;                 /* its uses are refused as names without a value */
    l->scope.vars[l->scope.n_vars++] =
        (lift_var){.key = key, .dim = dim, .opaque = is_opaque};
}

/* dim >= lo (or <=), and in step from it; an end that is opaque leaves dim free there. */
static void require_range(lift_layout *l, int dim, const ast_expr *lo_expr, const ast_expr *hi_expr,
                          const ast_expr *step_expr)
{
    int64_t step = 1;
    if (step_expr) {
        isl_pw_aff *pa = lift_value(&l->scope, step_expr);
        if (!pa || !lift_constant(pa, &step) || step == 0) {
            if (pa) {
                l->scope.opaque_at = step_expr->node.range;
                l->scope.why = "a step whose sign and value are not known";
            }
            lift_opaque(l);
            isl_pw_aff_free(pa);
            return;
        }
        isl_pw_aff_free(pa);
    }
    isl_pw_aff *lo = lift_value(&l->scope, lo_expr);
    if (!lo)
        lift_opaque(l);
    else
        lift_require(l, step > 0 ? isl_pw_aff_ge_set(variable(l, dim), isl_pw_aff_copy(lo))
                            : isl_pw_aff_le_set(variable(l, dim), isl_pw_aff_copy(lo)));
    isl_pw_aff *hi = lift_value(&l->scope, hi_expr);
    if (!hi)
        lift_opaque(l);
    else
        lift_require(l, step > 0 ? isl_pw_aff_le_set(variable(l, dim), hi)
                            : isl_pw_aff_ge_set(variable(l, dim), hi));
    if (lo && step != 1 && step != -1) {
        isl_val *by = isl_val_int_from_si(l->scope.poly->isl, step < 0 ? -step : step);
        isl_pw_aff *off = isl_pw_aff_sub(variable(l, dim), isl_pw_aff_copy(lo));
        lift_require(l, isl_pw_aff_zero_set(isl_pw_aff_mod_val(off, by)));
    }
    isl_pw_aff_free(lo);
}

/* dim == e; false when e is opaque (the dimension stays free). */
static bool require_value(lift_layout *l, int dim, const ast_expr *e)
{
    isl_pw_aff *value = lift_value(&l->scope, e);
    if (!value)
        return false;
    lift_require(l, isl_pw_aff_eq_set(variable(l, dim), value));
    return true;
}

void lift_indices(lift_layout *l, const ast_indices *list)
{
    for (size_t i = 0; list && i < list->n; i++) {
        const ast_index *item = list->items[i];
        int dim = l->next++;
        bool known = true;
        if (item->hi)
            require_range(l, dim, item->lo, item->hi, item->step);
        else
            known = require_value(l, dim, item->lo);
        bind_variable(l, item, dim, !known);
    }
}

/* dim takes every value of v. False when v is one opaque value. */
static bool require_ast_value(lift_layout *l, int dim, const ast_value *v)
{
    lift_indices(l, v->indices);
    if (!v->hi)
        return require_value(l, dim, v->lo);
    require_range(l, dim, v->lo, v->hi, v->step);
    return true;
}

/* Locals that are no parameters and are used (NULL: all), each a dimension of its own. */
void lift_derived(lift_layout *l, const sema_class *cls, const bool *used)
{
    for (size_t i = 0; i < cls->n_locals; i++) {
        const sema_local *local = &cls->locals[i];
        if (local->param >= 0) {
            bind_variable(l, local, local->param, false);
        } else if (!used || used[i]) {
            int dim = l->next++;
            bind_variable(l, local, dim, !require_ast_value(l, dim, local->ast->value));
        }
    }
}

size_t lift_count_derived(const sema_class *cls, const bool *used)
{
    size_t n = 0;
    for (size_t i = 0; i < cls->n_locals; i++)
        if (cls->locals[i].param < 0 && (!used || used[i]))
            n += 1 + lift_count_indices(cls->locals[i].ast->value->indices);
    return n;
}

lift_layout lift_layout_new(const poly *m, const sema_class *cls, size_t n_args, size_t n_hidden)
{
    isl_space *space = isl_space_set_from_params(isl_space_copy(m->param_space));
    space = isl_space_add_dims(space, isl_dim_set,
                               (unsigned)(cls->n_params + n_args + n_hidden));
    return (lift_layout){
        .scope = {.poly = m, .cls = cls, .space = space},
        .n_params = cls->n_params,
        .n_args = n_args,
        .next = (int)(cls->n_params + n_args),
        .exact = true,
        .guard_exact = true,
    };
}

/* ---- classes and calls ---------------------------------------------------------------------- */

void lift_project(lift_layout *l)
{
    unsigned keep = (unsigned)(l->n_params + l->n_args);
    isl_size dims = isl_set_dim(l->scope.within, isl_dim_set);
    if (dims > (isl_size)keep)
        l->scope.within = isl_set_project_out(l->scope.within, isl_dim_set, keep,
                                              (unsigned)dims - keep);
}

/* Parameters, and those of the other locals that shape the set of tasks. */
void lift_locals(lift_layout *l, const sema_class *cls, const bool *used)
{
    for (size_t i = 0; i < cls->n_locals; i++) {
        const sema_local *local = &cls->locals[i];
        bool param = local->param >= 0;
        if (!param && !used[i])
            continue;
        int dim = param ? local->param : l->next++;
        bool known = require_ast_value(l, dim, local->ast->value);
        if (!known && param) {
            lift_opaque(l);
            known = true;       /* free, which is an over-approximation of the space */
        }
        bind_variable(l, local, dim, !known);
    }
}

void lift_arguments(lift_layout *l, const ast_call *call)
{
    lift_indices(l, call->indices);
    for (size_t i = 0; i < call->n_args; i++)
        if (!require_ast_value(l, (int)(l->n_params + i), call->args[i]))
            lift_opaque(l);
}

/* isl objects as expressions of the language: what is linear as verify/ writes it, all else by
 * way of isl's own printer of loops, for which the dimensions become parameters. */
#include "seq_impl.h"

#include "verify/report.h"

#include <isl/ast.h>
#include <isl/ast_build.h>

/* ---- expressions of isl ---------------------------------------------------------------------- */

/* How tightly an expression binds. */
enum {
    LEVEL_COND,
    LEVEL_OR,
    LEVEL_AND,
    LEVEL_EQUAL,
    LEVEL_LESS,
    LEVEL_SUM,
    LEVEL_PRODUCT,
    LEVEL_ATOM
};

typedef struct operation {
    enum isl_ast_expr_op_type type;
    const char *text;
    int level;
} operation;

static const operation operations[] = {
    {isl_ast_expr_op_and, " && ", LEVEL_AND},       {isl_ast_expr_op_and_then, " && ", LEVEL_AND},
    {isl_ast_expr_op_or, " || ", LEVEL_OR},         {isl_ast_expr_op_or_else, " || ", LEVEL_OR},
    {isl_ast_expr_op_add, " + ", LEVEL_SUM},        {isl_ast_expr_op_sub, " - ", LEVEL_SUM},
    {isl_ast_expr_op_mul, " * ", LEVEL_PRODUCT},    {isl_ast_expr_op_div, " / ", LEVEL_PRODUCT},
    {isl_ast_expr_op_pdiv_q, " / ", LEVEL_PRODUCT}, {isl_ast_expr_op_pdiv_r, " % ", LEVEL_PRODUCT},
    {isl_ast_expr_op_zdiv_r, " % ", LEVEL_PRODUCT}, {isl_ast_expr_op_eq, " == ", LEVEL_EQUAL},
    {isl_ast_expr_op_le, " <= ", LEVEL_LESS},       {isl_ast_expr_op_lt, " < ", LEVEL_LESS},
    {isl_ast_expr_op_ge, " >= ", LEVEL_LESS},       {isl_ast_expr_op_gt, " > ", LEVEL_LESS},
};

static bool put_expr(text *out, isl_ast_expr *e, int level);

static bool put_arg(text *out, isl_ast_expr *e, int i, int level)
{
    isl_ast_expr *arg = isl_ast_expr_op_get_arg(e, i);
    bool ok = put_expr(out, arg, level);
    isl_ast_expr_free(arg);
    return ok;
}

static bool put_function(text *out, isl_ast_expr *e, const char *name)
{
    isl_size n = isl_ast_expr_op_get_n_arg(e);
    bool ok = n > 0;
    text_printf(out, "%s(", name);
    for (int i = 0; ok && i < n; i++) {
        text_puts(out, i ? ", " : "");
        ok = put_arg(out, e, i, LEVEL_COND);
    }
    text_putc(out, ')');
    return ok;
}

/* floor(a / b) where / truncates: (a - ((a % b + b) % b)) / b */
static bool put_floor(text *out, isl_ast_expr *e)
{
    text a = {0}, b = {0};
    bool ok = put_arg(&a, e, 0, LEVEL_ATOM) && put_arg(&b, e, 1, LEVEL_ATOM);
    const char *x = text_str(&a), *y = text_str(&b);
    text_printf(out, "((%s - ((%s %% %s + %s) %% %s)) / %s)", x, x, y, y, y, y);
    text_free(&a);
    text_free(&b);
    return ok;
}

static bool put_operation(text *out, isl_ast_expr *e, const operation *op, int level)
{
    bool ok = true;
    isl_size n = isl_ast_expr_op_get_n_arg(e);
    text_puts(out, level > op->level ? "(" : "");
    for (int i = 0; ok && i < n; i++) {
        text_puts(out, i ? op->text : "");
        ok = put_arg(out, e, i,
                     op->level + (i > 0 || op->level == LEVEL_EQUAL || op->level == LEVEL_LESS));
    }
    text_puts(out, level > op->level ? ")" : "");
    return ok && n > 0;
}

static bool put_op(text *out, isl_ast_expr *e, int level)
{
    enum isl_ast_expr_op_type type = isl_ast_expr_op_get_type(e);
    for (size_t i = 0; i < UTIL_COUNT(operations); i++)
        if (operations[i].type == type)
            return put_operation(out, e, &operations[i], level);
    switch (type) {
    case isl_ast_expr_op_min:
        return put_function(out, e, "min");
    case isl_ast_expr_op_max:
        return put_function(out, e, "max");
    case isl_ast_expr_op_fdiv_q:
        return put_floor(out, e);
    case isl_ast_expr_op_minus:
        text_puts(out, "(-");
        bool ok = put_arg(out, e, 0, LEVEL_ATOM);
        text_putc(out, ')');
        return ok;
    case isl_ast_expr_op_cond:
    case isl_ast_expr_op_select:
        text_putc(out, '(');
        ok = put_arg(out, e, 0, LEVEL_ATOM);
        text_puts(out, " ? ");
        ok = ok && put_arg(out, e, 1, LEVEL_OR);
        text_puts(out, " : ");
        ok = ok && put_arg(out, e, 2, LEVEL_OR);
        text_putc(out, ')');
        return ok;
    default:
        return false;
    }
}

static bool put_expr(text *out, isl_ast_expr *e, int level)
{
    switch (isl_ast_expr_get_type(e)) {
    case isl_ast_expr_op:
        return put_op(out, e, level);
    case isl_ast_expr_id: {
        isl_id *id = isl_ast_expr_id_get_id(e);
        text_puts(out, isl_id_get_name(id));
        isl_id_free(id);
        return true;
    }
    case isl_ast_expr_int: {
        isl_val *v = isl_ast_expr_int_get_val(e);
        text_printf(out, isl_val_is_neg(v) ? "(%ld)" : "%ld", isl_val_get_num_si(v));
        isl_val_free(v);
        return true;
    }
    default:
        return false;
    }
}

/* ---- dimensions become parameters ------------------------------------------------------------ */

/* Takes set. */
static isl_set *as_params(isl_set *set)
{
    isl_size n = isl_set_dim(set, isl_dim_set), at = isl_set_dim(set, isl_dim_param);
    set = isl_set_reset_tuple_id(set);
    set = isl_set_move_dims(set, isl_dim_param, (unsigned)at, isl_dim_set, 0, (unsigned)n);
    return isl_set_params(set);
}

/* Takes e. */
static bool put_and_free(text *out, isl_ast_expr *e, int level)
{
    bool ok = e && put_expr(out, e, level);
    isl_ast_expr_free(e);
    return ok;
}

bool seq_put_value(text *out, isl_pw_aff *pa)
{
    if (verify_put_linear(out, pa, NULL))
        return true;
    isl_map *map = isl_map_from_pw_aff(isl_pw_aff_copy(pa));
    isl_size n = isl_map_dim(map, isl_dim_in), at = isl_map_dim(map, isl_dim_param);
    isl_set *domain = isl_map_domain(isl_map_copy(map));
    map = isl_map_reset_tuple_id(map, isl_dim_in);
    map = isl_map_move_dims(map, isl_dim_param, (unsigned)at, isl_dim_in, 0, (unsigned)n);
    isl_pw_multi_aff *pma = isl_pw_multi_aff_from_set(isl_map_range(map));
    isl_pw_aff *value = isl_pw_multi_aff_get_pw_aff(pma, 0);
    isl_pw_multi_aff_free(pma);
    isl_ast_build *build = isl_ast_build_from_context(as_params(domain));
    isl_ast_expr *e = isl_ast_build_expr_from_pw_aff(build, value);
    isl_ast_build_free(build);
    return put_and_free(out, e, LEVEL_COND);
}

bool seq_put_condition(text *out, isl_set *set)
{
    if (verify_put_condition(out, set, NULL))
        return true;
    isl_set *params = as_params(isl_set_copy(set));
    isl_set *all = isl_set_universe(isl_set_get_space(params));
    isl_ast_build *build = isl_ast_build_from_context(all);
    isl_ast_expr *e = isl_ast_build_expr_from_set(build, params);
    isl_ast_build_free(build);
    return put_and_free(out, e, LEVEL_COND);
}

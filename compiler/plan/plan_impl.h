/* Shared by the files of the plan only. */
#ifndef DAGCC_PLAN_IMPL_H
#define DAGCC_PLAN_IMPL_H

#include "plan.h"

#include "sema/sema.h"

typedef struct builder {
    plan *p;
    const sema_info *info;
    const verify_facts *facts;
    diag *d;
    arena *a;
    plan_var **index_vars;      /* by node id: ast_index */
    plan_code **codes;          /* by node id: AST_INLINE_C */
    unsigned errors;
} builder;

/* ---- plan_check.c: what cannot be lowered ------------------------------------------------- */

typedef enum plan_check_id {
    PLAN_CHECK_REFUSED, PLAN_CHECK_HEADER, PLAN_CHECK_DYNAMIC, PLAN_CHECK_ENUMERATE,
    PLAN_CHECK_COUNT
} plan_check_id;

extern const diag_check plan_check_table[PLAN_CHECK_COUNT];

void plan_error(builder *b, plan_check_id check, src_range where, const char *fmt, ...)
    UTIL_PRINTF(4, 5);
/* Everything sema listed as checked but not generated. */
void plan_refuse(builder *b);

/* ---- plan_globals.c ---------------------------------------------------------------------- */

void plan_globals(builder *b);          /* everything but initial values */
void plan_inits(builder *b);            /* initial values, %assume */

/* ---- plan_expr.c: building and examining expressions -------------------------------------- */

const plan_expr *px_int(builder *b, int64_t value);
const plan_expr *px_var(builder *b, plan_var *var);
const plan_expr *px_unary(builder *b, ast_op op, const plan_expr *x);
const plan_expr *px_binary(builder *b, ast_op op, const plan_expr *x, const plan_expr *y);
const plan_expr *px_cond(builder *b, const plan_expr *test, const plan_expr *yes,
                         const plan_expr *no);
const plan_expr *px_min(builder *b, const plan_expr *x, const plan_expr *y);
const plan_expr *px_max(builder *b, const plan_expr *x, const plan_expr *y);
/* The truth of x, negated without a '!' where a comparison can be turned round. */
const plan_expr *px_not(builder *b, const plan_expr *x);
/* NULL stands for true. */
const plan_expr *px_and(builder *b, const plan_expr *x, const plan_expr *y);
bool px_is_int(const plan_expr *e, int64_t value);
/* True when e is 0 or 1 whatever its variables are. */
bool px_is_truth(const plan_expr *e);
bool px_same(const plan_expr *x, const plan_expr *y);
bool px_uses(const plan_expr *e, const plan_var *var);
/* True when a variable of e is not one of the n given. */
bool px_uses_other(const plan_expr *e, plan_var *const *vars, size_t n);
/* e = var + shift (unit coefficient); with *var NULL: e = shift. */
bool px_linear(const plan_expr *e, plan_var **var, int64_t *shift);
/* e = slope * var + base, the slope of globals only. */
bool px_slope(builder *b, const plan_expr *e, const plan_var *var, const plan_expr **slope,
              const plan_expr **base);
/* e as an affine function of var with a literal slope, whatever else is in it. */
bool px_affine(builder *b, const plan_expr *e, const plan_var *var, plan_affine *affine);
/* A lower bound that holds for all values of the variables in 32 bits, if one is evident. */
bool px_min_value(const plan_expr *e, int64_t *min);
/* Replaces variables by expressions. */
typedef struct px_map {
    const plan_var *var;
    const plan_expr *expr;
} px_map;
const plan_expr *px_replace(builder *b, const plan_expr *e, const px_map *map, size_t n);
/* True when no value of e is too large (upper) or too small for a parameter, because the variables
 * are narrow, or because the constructor checks that very expression. */
bool px_fits(const builder *b, const plan_expr *e, bool upper);
bool px_global_only(const plan_expr *e);

/* ---- plan_conds.c: conditions within expressions ------------------------------------------- */

/* e where `cond` is known to hold, or not to hold. */
const plan_expr *px_given(builder *b, const plan_expr *e, const plan_expr *cond, bool holds);
/* The first comparison on which a condition within e depends; NULL: there is none. */
const plan_expr *px_choice(const plan_expr *e);

/* ---- plan_lower.c: from trees to expressions ---------------------------------------------- */

plan_global *plan_global_of(builder *b, const sema_global *g);
plan_class *plan_class_of(builder *b, const sema_class *cls);
const plan_flow *plan_flow_of(const plan_class *cls, const sema_flow *flow);
const plan_expr *plan_lower(builder *b, plan_class *cls, const ast_expr *e);
/* A guard: cond, or its negation; NULL when there is none. */
const plan_expr *plan_lower_guard(builder *b, plan_class *cls, const sema_edge *edge);
plan_var *plan_local_var(plan_class *cls, const sema_local *local);
plan_var *plan_index_var(builder *b, plan_class *cls, const ast_index *index);
/* A variable of a generated loop, named after `base` but like nothing in the class or nest. */
plan_var *plan_new_var(builder *b, const plan_class *cls, const plan_nest *nest,
                       const char *base);
/* `name`, with a '_' where generated functions have a variable of their own with that name. */
const char *plan_clear_name(builder *b, const char *name);
bool plan_code_reads_flows(const plan_expr *e);
int plan_line(const builder *b, src_range range);

/* ---- plan_user.c: C of the user -------------------------------------------------------------- */

plan_user plan_user_of(builder *b, const plan_class *cls, src_range c_text, const sema_text *said);
/* What the text says of a flow. */
plan_use plan_use_of(const builder *b, const plan_flow *flow, const sema_text *said);

/* ---- plan_nest.c ------------------------------------------------------------------------- */

plan_level *nest_add(builder *b, plan_nest *nest, plan_level_kind kind, int line);
void nest_test(builder *b, plan_nest *nest, const plan_expr *cond, int line);
void nest_let(builder *b, plan_nest *nest, plan_var *var, const plan_expr *expr, int line);
plan_level *nest_loop(builder *b, plan_nest *nest, plan_var *var, const plan_expr *lo,
                      const plan_expr *hi, const plan_expr *step, int line);
/* Adds what an argument needs (loops of its ranges and lists) and returns its value. */
const plan_expr *nest_value(builder *b, plan_class *cls, plan_nest *nest, const ast_value *value,
                            const char *base);
/* Indices, guard and indices of the call, in this order; the guard as far out as it can be. */
void nest_edge(builder *b, plan_class *cls, plan_nest *nest, const sema_edge *edge,
               const plan_expr *guard);
/* The arguments of a call of `target` as its parameters; narrow[i]: may leave 32 bits. */
void nest_args(builder *b, plan_class *cls, plan_nest *nest, const ast_call *call,
               const plan_class *target, const plan_expr ***args, bool **narrow);
/* e with derived locals replaced by what they are, so that an index of the placement is seen to be
 * a parameter plus a constant, and a condition to be about one parameter. */
const plan_expr *nest_resolved(builder *b, const plan_nest *nest, const plan_expr *e);
/* Restricts a nest to where cond holds: loops are narrowed, the rest is tested. False: nowhere. */
bool nest_where(builder *b, plan_nest *nest, const plan_expr *cond, int line);
plan_nest nest_copy(builder *b, const plan_nest *nest);
/* Removes LETs whose variable nothing behind them uses, nor one of the n expressions inside of the
 * nest, and that are no parameter of the class. */
void nest_prune(plan_nest *nest, const plan_class *cls, const plan_expr *const *leaf, size_t n);

/* ---- plan_space.c, plan_owned.c, plan_inputs.c, plan_outputs.c --------------------- */

void plan_space(builder *b, plan_class *cls);           /* member, space, cases */
void plan_owned(builder *b, plan_class *cls);           /* cases */
void plan_inputs(builder *b, plan_class *cls);          /* waits, binds */
void plan_start(builder *b, plan_class *cls);           /* start; needs plan_inputs */
void plan_outputs(builder *b, plan_class *cls);         /* edges, stores, bits */
dag_region plan_region_of(builder *b, const sema_shape *shape);

#endif

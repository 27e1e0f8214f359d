/* The space of a class: membership, its loops, and which instances start. */
#include "plan_impl.h"

static int local_line(builder *b, const sema_local *local)
{
    return plan_line(b, local->ast->node.range);
}

/* ---- membership -------------------------------------------------------------------------- */

/* lo <= x <= hi, x - lo a multiple of the step. */
static void member_range(builder *b, plan_class *cls, const sema_local *local)
{
    const ast_value *value = local->ast->value;
    plan_level *level = nest_add(b, &cls->member, PLAN_LOOP, local_line(b, local));
    level->var = plan_local_var(cls, local);
    level->lo = plan_lower(b, cls, value->lo);
    level->hi = plan_lower(b, cls, value->hi);
    level->step = value->step ? plan_lower(b, cls, value->step) : NULL;
    if (level->step && px_is_int(level->step, 1))
        level->step = NULL;
}

/* x is one of the values that a list of indices gives. */
static void member_list(builder *b, plan_class *cls, const sema_local *local)
{
    plan_nest *inner = arena_alloc(b->a, sizeof *inner);
    const plan_expr *expr = nest_value(b, cls, inner, local->ast->value, local->name);
    plan_level *level = nest_add(b, &cls->member, PLAN_FOUND, local_line(b, local));
    level->var = plan_local_var(cls, local);
    level->expr = expr;
    level->inner = inner;
}

static void member(builder *b, plan_class *cls, const sema_local *local)
{
    plan_var *var = plan_local_var(cls, local);
    const ast_value *value = local->ast->value;
    if (value->indices)
        member_list(b, cls, local);
    else if (value->hi)
        member_range(b, cls, local);
    else if (local->param >= 0) {
        plan_level *level = nest_add(b, &cls->member, PLAN_TEST, local_line(b, local));
        level->expr = px_binary(b, AST_OP_EQ, px_var(b, var), plan_lower(b, cls, value->lo));
    } else {
        plan_level *level = nest_add(b, &cls->member, PLAN_LET, local_line(b, local));
        level->var = var;
        level->expr = plan_lower(b, cls, value->lo);
    }
}

/* ---- the loops --------------------------------------------------------------------------- */

/* A bound that depends on globals only is checked once, in the constructor. */
static void require_fits(builder *b, const plan_class *cls, const plan_var *var,
                         const plan_expr *bound)
{
    plan *p = b->p;
    p->requires = util_realloc(p->requires, (p->n_requires + 1) * sizeof *p->requires);
    p->requires[p->n_requires++] = (plan_require){
        .expr = bound, .fits = true,
        .text = arena_printf(b->a, "the range of %s of %s does not fit in 32 bits", var->name,
                             cls->name),
    };
}

static bool check_bound(builder *b, const plan_class *cls, const plan_var *var,
                        const plan_expr *bound, bool upper)
{
    if (px_fits(b, bound, upper))
        return false;
    if (!px_global_only(bound))
        return true;
    require_fits(b, cls, var, bound);
    return false;
}

static void walk_local(builder *b, plan_class *cls, const sema_local *local)
{
    plan_var *var = plan_local_var(cls, local);
    const ast_value *value = local->ast->value;
    int line = local_line(b, local);
    if (!value->indices && value->hi) {
        const plan_expr *lo = plan_lower(b, cls, value->lo), *hi = plan_lower(b, cls, value->hi);
        const plan_expr *step = value->step ? plan_lower(b, cls, value->step) : NULL;
        plan_level *level = nest_loop(b, &cls->space, var, lo, hi, step, line);
        bool down = step && step->kind == PLAN_INT && step->u.integer < 0;
        bool either = step && step->kind != PLAN_INT;
        level->check_lo = check_bound(b, cls, var, lo, down || either);
        level->check_hi = check_bound(b, cls, var, hi, !down || either);
        return;
    }
    const plan_expr *expr = nest_value(b, cls, &cls->space, value, local->name);
    nest_let(b, &cls->space, var, expr, line);
    if (local->param >= 0)
        cls->space.levels[cls->space.n - 1].check_hi =
            check_bound(b, cls, var, expr, true) || check_bound(b, cls, var, expr, false);
}

void plan_space(builder *b, plan_class *cls)
{
    for (size_t i = 0; i < cls->sema->n_locals; i++) {
        const sema_local *local = &cls->sema->locals[i];
        const ast_value *value = local->ast->value;
        if (local->param < 0 && (value->hi || value->indices)) {
            plan_error(b, PLAN_CHECK_REFUSED, value->node.range,
                       "'%s' is not a parameter of '%s' and has to have one value", local->name,
                       cls->name);
            continue;
        }
        walk_local(b, cls, local);
        member(b, cls, local);
    }
    plan_owned(b, cls);
    nest_prune(&cls->space, cls, NULL, 0);
}

/* ---- start-up ---------------------------------------------------------------------------- */

static void start_where(builder *b, plan_class *cls, const plan_expr *cond)
{
    cls->start.some = false;
    for (size_t i = 0; i < cls->cases.n; i++) {
        plan_case *part = &cls->cases.items[i];
        part->starts = part->starts && nest_where(b, &part->start, cond, cls->line);
        cls->start.some |= part->starts;
    }
}

/* When a gather counts nothing: NULL when that takes walking it. */
static const plan_expr *gather_idle(builder *b, const plan_nest *nest)
{
    const plan_expr *none = px_int(b, 0);
    for (size_t i = 0; i < nest->n; i++) {
        const plan_level *level = &nest->levels[i];
        if (level->kind == PLAN_TEST)
            none = px_binary(b, AST_OP_OR, none, px_not(b, level->expr));
        else if (level->kind == PLAN_LOOP && i + 1 == nest->n
                 && (!level->step || level->step->kind == PLAN_INT))
            none = px_binary(b, AST_OP_OR, none,
                             px_binary(b, level->step && level->step->u.integer < 0 ? AST_OP_GT
                                                                                    : AST_OP_LT,
                                       level->hi, level->lo));
        else
            return NULL;
    }
    return none;
}

void plan_start(builder *b, plan_class *cls)
{
    cls->start.some = true;
    for (size_t f = 0; f < cls->n_flows && cls->start.some; f++) {
        const plan_flow *flow = &cls->flows[f];
        start_where(b, cls, px_not(b, flow->waits));
        if (f < cls->n_data && !flow->proven && !flow->or_null)
            cls->start.asks_inputs = true;
        for (size_t i = 0; i < flow->n_gathers && cls->start.some; i++) {
            const plan_expr *idle = gather_idle(b, &flow->gathers[i].nest);
            if (idle)
                start_where(b, cls, idle);
            else
                cls->start.asks_inputs = true;
        }
    }
    for (size_t i = 0; i < cls->cases.n; i++)
        nest_prune(&cls->cases.items[i].start, cls, NULL, 0);
}

/* The space of a class: membership, and the walk over a rank's own part of it. */
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

/* ---- the walk ---------------------------------------------------------------------------- */

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
        plan_level *level = nest_loop(b, &cls->count.nest, var, lo, hi, step, line);
        bool down = step && step->kind == PLAN_INT && step->u.integer < 0;
        bool either = step && step->kind != PLAN_INT;
        level->check_lo = check_bound(b, cls, var, lo, down || either);
        level->check_hi = check_bound(b, cls, var, hi, !down || either);
        return;
    }
    const plan_expr *expr = nest_value(b, cls, &cls->count.nest, value, local->name);
    nest_let(b, &cls->count.nest, var, expr, line);
    if (local->param >= 0)
        cls->count.nest.levels[cls->count.nest.n - 1].check_hi =
            check_bound(b, cls, var, expr, true) || check_bound(b, cls, var, expr, false);
}

/* e with derived locals replaced by what they are, so that an index of the placement is seen to be
 * a parameter plus a constant, and a condition to be about one parameter. */
static const plan_expr *resolved(builder *b, const plan_nest *nest, const plan_expr *e)
{
    for (size_t i = nest->n; i-- > 0;) {
        const plan_level *level = &nest->levels[i];
        if (level->kind == PLAN_LET)
            e = px_replace(b, e, &(px_map){level->var, level->expr}, 1);
    }
    return e;
}

static plan_level *loop_of(plan_nest *nest, const plan_var *var)
{
    for (size_t i = 0; var && i < nest->n; i++)
        if (nest->levels[i].kind == PLAN_LOOP && nest->levels[i].var == var)
            return &nest->levels[i];
    return NULL;
}

/* Restricts loops to what this rank owns. Returns the number of indices of the placement that
 * this decides; an index that uses no loop variable but decided ones counts as walked, because
 * nothing more is looked at on its account. */
static size_t solve(builder *b, plan_class *cls)
{
    size_t solved = 0;
    for (size_t d = 0; d < cls->place.n; d++) {
        plan_var *var;
        int64_t shift;
        const plan_expr *index = resolved(b, &cls->count.nest, cls->place.index[d]);
        plan_level *loop = NULL;
        if (px_linear(index, &var, &shift))
            loop = loop_of(&cls->count.nest, var);
        if (!loop || loop->step)
            continue;
        if (loop->walk == PLAN_WALK_OWNED && !loop->also) {
            loop->also = (int)d;
            loop->also_shift = shift;
            solved++;
        }
        if (loop->walk != PLAN_WALK_ALL)
            continue;
        loop->walk = PLAN_WALK_OWNED;
        loop->place = cls->place.of;
        loop->dim = (int)d;
        loop->shift = shift;
        solved++;
    }
    for (size_t d = 0; d < cls->place.n; d++) {
        const plan_expr *index = resolved(b, &cls->count.nest, cls->place.index[d]);
        for (size_t i = 0; i < cls->count.nest.n; i++) {
            const plan_level *level = &cls->count.nest.levels[i];
            if (level->kind == PLAN_LOOP && level->walk == PLAN_WALK_ALL
                && px_uses(index, level->var))
                cls->start.enumerates = true;
        }
    }
    return solved;
}

/* How many of the last levels are loops over parameters that do not depend on each other. */
static size_t closed_tail(const plan_nest *nest)
{
    size_t from = nest->n;
    while (from > 0) {
        const plan_level *level = &nest->levels[from - 1];
        bool rises = !level->step || (level->step->kind == PLAN_INT && level->step->u.integer > 0);
        if (level->kind != PLAN_LOOP || level->var->local < 0 || !rises)
            break;
        bool used = false;
        for (size_t i = from; i < nest->n; i++) {
            const plan_level *inner = &nest->levels[i];
            used |= px_uses(inner->lo, level->var) || px_uses(inner->hi, level->var)
                    || px_uses(inner->expr, level->var);
        }
        if (used)
            break;
        from--;
    }
    return nest->n - from;
}

/* The last two levels as one sum, where the inner bounds are affine in the outer variable. */
static bool closed_pair(builder *b, plan_class *cls)
{
    const plan_nest *nest = &cls->count.nest;
    if (nest->n < 2)
        return false;
    const plan_level *outer = &nest->levels[nest->n - 2], *inner = outer + 1;
    bool rises = !outer->step || (outer->step->kind == PLAN_INT && outer->step->u.integer > 0);
    return outer->kind == PLAN_LOOP && outer->var->local >= 0 && rises && !inner->step &&
           px_affine(b, inner->lo, outer->var, &cls->count.lo) &&
           px_affine(b, inner->hi, outer->var, &cls->count.hi);
}

static void report_enumeration(builder *b, const plan_class *cls)
{
    diag_report(b->d, &plan_check_table[PLAN_CHECK_ENUMERATE],
                cls->sema->ast->placement->node.range,
                "every rank walks the whole space of '%s' to find its own tasks", cls->name);
    diag_note(b->d, (src_range){0}, "an index of the placement that is a parameter of unit step "
              "plus a constant lets a rank visit its own part only");
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
    bool all = solve(b, cls) == cls->place.n;
    for (size_t i = 0; i < cls->count.nest.n; i++)
        *nest_add(b, &cls->start.nest, PLAN_LET, 0) = cls->count.nest.levels[i];
    nest_prune(&cls->count.nest, cls);
    cls->count.tail = all ? closed_tail(&cls->count.nest) : 0;
    cls->count.pair = cls->count.tail == 1 && closed_pair(b, cls);
    cls->count.tail += cls->count.pair;
    if (cls->start.enumerates)
        report_enumeration(b, cls);
}

/* ---- start-up ---------------------------------------------------------------------------- */

/* The space test of a value that replaced a loop. */
static const plan_expr *in_range(builder *b, const plan_level *loop, const plan_expr *x)
{
    int64_t step = loop->step ? loop->step->u.integer : 1;
    const plan_expr *lo = step > 0 ? loop->lo : loop->hi, *hi = step > 0 ? loop->hi : loop->lo;
    const plan_expr *test = px_and(b, px_binary(b, AST_OP_LE, lo, x),
                                   px_binary(b, AST_OP_LE, x, hi));
    if (step == 1 || step == -1)
        return test;
    const plan_expr *off = px_binary(b, AST_OP_MOD, px_binary(b, AST_OP_SUB, x, loop->lo),
                                     px_int(b, step > 0 ? step : -step));
    return px_and(b, test, px_binary(b, AST_OP_EQ, off, px_int(b, 0)));
}

/* cond as `var op e` with op one of == < <= > >=, whichever side var stands on. */
static bool about_var(const plan_expr *cond, const plan_var *var, ast_op *op,
                      const plan_expr **e)
{
    if (cond->kind != PLAN_BINARY || cond->u.op.op < AST_OP_EQ || cond->u.op.op > AST_OP_GE
        || cond->u.op.op == AST_OP_NE)
        return false;
    static const ast_op turned[] = {[AST_OP_EQ] = AST_OP_EQ, [AST_OP_LT] = AST_OP_GT,
                                    [AST_OP_LE] = AST_OP_GE, [AST_OP_GT] = AST_OP_LT,
                                    [AST_OP_GE] = AST_OP_LE};
    const plan_expr *l = cond->u.op.a, *r = cond->u.op.b;
    bool left = l->kind == PLAN_VAR && l->u.var == var && !px_uses(r, var);
    bool right = r->kind == PLAN_VAR && r->u.var == var && !px_uses(l, var);
    *op = left ? cond->u.op.op : turned[cond->u.op.op];
    *e = left ? r : l;
    return left || right;
}

/* True when e uses only what the levels outside `level` define. */
static bool defined_outside(const plan_nest *nest, size_t level, const plan_expr *e)
{
    for (size_t i = level; i < nest->n; i++)
        if (nest->levels[i].var && px_uses(e, nest->levels[i].var))
            return false;
    return true;
}

/* Uses a condition to narrow a loop. False: it has to be tested. */
static bool narrow(builder *b, plan_nest *nest, const plan_expr *cond)
{
    for (size_t i = 0; i < nest->n; i++) {
        plan_level *loop = &nest->levels[i];
        ast_op op;
        const plan_expr *e;
        if (loop->kind != PLAN_LOOP || !about_var(cond, loop->var, &op, &e)
            || !defined_outside(nest, i, e) || (loop->step && loop->step->kind != PLAN_INT)
            || (loop->step && px_is_int(loop->step, 0)))
            continue;
        if (op == AST_OP_EQ) {
            const plan_expr *test = in_range(b, loop, px_var(b, loop->var));
            test = px_replace(b, test, &(px_map){loop->var, e}, 1);
            *loop = (plan_level){.kind = PLAN_LET, .var = loop->var, .expr = e,
                                 .line = loop->line};
            nest_test(b, nest, test, loop->line);
            return true;
        }
        if (loop->step)
            continue;
        if (op == AST_OP_LE || op == AST_OP_LT)
            loop->hi = px_min(b, loop->hi, op == AST_OP_LE ? e : px_binary(b, AST_OP_SUB, e,
                                                                          px_int(b, 1)));
        else
            loop->lo = px_max(b, loop->lo, op == AST_OP_GE ? e : px_binary(b, AST_OP_ADD, e,
                                                                          px_int(b, 1)));
        return true;
    }
    return false;
}

static void start_where(builder *b, plan_class *cls, const plan_expr *cond)
{
    cond = resolved(b, &cls->start.nest, cond);
    if (cond->kind == PLAN_BINARY && cond->u.op.op == AST_OP_AND) {
        start_where(b, cls, cond->u.op.a);
        start_where(b, cls, cond->u.op.b);
    } else if (px_is_int(cond, 0)) {
        cls->start.some = false;
    } else if (!narrow(b, &cls->start.nest, cond)) {
        nest_test(b, &cls->start.nest, cond, cls->line);
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
    nest_prune(&cls->start.nest, cls);
}

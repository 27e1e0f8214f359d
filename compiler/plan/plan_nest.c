/* Nests of loops and tests. */
#include "plan_impl.h"

#include <string.h>

plan_level *nest_add(builder *b, plan_nest *nest, plan_level_kind kind, int line)
{
    if (nest->n == nest->cap) {
        size_t cap = nest->cap ? 2 * nest->cap : 4;
        plan_level *levels = arena_alloc(b->a, cap * sizeof *levels);
        if (nest->n)
            memcpy(levels, nest->levels, nest->n * sizeof *levels);
        nest->levels = levels;
        nest->cap = cap;
    }
    plan_level *level = &nest->levels[nest->n++];
    memset(level, 0, sizeof *level);
    level->kind = kind;
    level->line = line;
    return level;
}

plan_nest nest_copy(builder *b, const plan_nest *nest)
{
    plan_nest copy = {0};
    for (size_t i = 0; i < nest->n; i++)
        *nest_add(b, &copy, PLAN_LET, 0) = nest->levels[i];
    return copy;
}

static bool level_uses(const plan_level *level, const plan_var *var)
{
    return px_uses(level->lo, var) || px_uses(level->hi, var) || px_uses(level->step, var)
           || px_uses(level->expr, var) || (level->inner && plan_nest_uses(level->inner, 0, var));
}

bool plan_nest_uses(const plan_nest *nest, size_t from, const plan_var *var)
{
    for (size_t i = from; i < nest->n; i++)
        if (level_uses(&nest->levels[i], var) || nest->levels[i].var == var)
            return true;
    return false;
}

/* Where a test may stand: the number of outer levels that define what it uses. */
static size_t nest_place_of(const plan_nest *nest, const plan_expr *cond)
{
    size_t place = nest->n;
    while (place > 0) {
        const plan_level *outer = &nest->levels[place - 1];
        if (outer->var && px_uses(cond, outer->var))
            break;
        place--;
    }
    /* Behind the tests that are there already: they may guard a division. */
    while (place < nest->n && nest->levels[place].kind == PLAN_TEST)
        place++;
    return place;
}

void nest_test(builder *b, plan_nest *nest, const plan_expr *cond, int line)
{
    if (!cond || (cond->kind == PLAN_INT && cond->u.integer))
        return;
    size_t place = nest_place_of(nest, cond);
    nest_add(b, nest, PLAN_TEST, line);
    memmove(&nest->levels[place + 1], &nest->levels[place],
            (nest->n - 1 - place) * sizeof *nest->levels);
    nest->levels[place] = (plan_level){.kind = PLAN_TEST, .expr = cond, .line = line};
}

void nest_let(builder *b, plan_nest *nest, plan_var *var, const plan_expr *expr, int line)
{
    plan_level *level = nest_add(b, nest, PLAN_LET, line);
    level->var = var;
    level->expr = expr;
    var->has_min = px_min_value(expr, &var->min);
}

plan_level *nest_loop(builder *b, plan_nest *nest, plan_var *var, const plan_expr *lo,
                      const plan_expr *hi, const plan_expr *step, int line)
{
    plan_level *level = nest_add(b, nest, PLAN_LOOP, line);
    level->var = var;
    level->lo = lo;
    level->hi = hi;
    level->step = step && px_is_int(step, 1) ? NULL : step;
    if (!level->step || (step->kind == PLAN_INT && step->u.integer > 0))
        var->has_min = px_min_value(lo, &var->min);
    bool up = !level->step || (step->kind == PLAN_INT && step->u.integer > 0);
    bool down = level->step && step->kind == PLAN_INT && step->u.integer < 0;
    if (var->local < 0)
        var->narrow = (down || px_fits(b, lo, false)) && (up || px_fits(b, lo, true))
                      && (up || px_fits(b, hi, false)) && (down || px_fits(b, hi, true));
    return level;
}

static const plan_expr *lower_opt(builder *b, plan_class *cls, const ast_expr *e)
{
    return e ? plan_lower(b, cls, e) : NULL;
}

static void nest_indices(builder *b, plan_class *cls, plan_nest *nest, const ast_indices *indices)
{
    for (size_t i = 0; indices && i < indices->n; i++) {
        const ast_index *index = indices->items[i];
        int line = plan_line(b, index->node.range);
        plan_var *var = plan_index_var(b, cls, index);
        const plan_expr *lo = plan_lower(b, cls, index->lo);
        if (index->hi)
            nest_loop(b, nest, var, lo, plan_lower(b, cls, index->hi),
                      lower_opt(b, cls, index->step), line);
        else
            nest_let(b, nest, var, lo, line);
    }
}

const plan_expr *nest_value(builder *b, plan_class *cls, plan_nest *nest, const ast_value *value,
                            const char *base)
{
    nest_indices(b, cls, nest, value->indices);
    const plan_expr *lo = plan_lower(b, cls, value->lo);
    if (!value->hi)
        return lo;
    plan_var *var = plan_new_var(b, cls, nest, base);
    nest_loop(b, nest, var, lo, plan_lower(b, cls, value->hi), lower_opt(b, cls, value->step),
              plan_line(b, value->node.range));
    return px_var(b, var);
}

void nest_edge(builder *b, plan_class *cls, plan_nest *nest, const sema_edge *edge,
               const plan_expr *guard)
{
    nest_indices(b, cls, nest, edge->dep->indices);
    if (edge->call->indices != edge->dep->indices)
        nest_indices(b, cls, nest, edge->call->indices);
    nest_test(b, nest, guard, plan_line(b, edge->dep->node.range));
}

void nest_args(builder *b, plan_class *cls, plan_nest *nest, const ast_call *call,
               const plan_class *target, const plan_expr ***args, bool **narrow)
{
    size_t n = target->n_params;
    *args = arena_alloc(b->a, (n + 1) * sizeof **args);
    *narrow = arena_alloc(b->a, n + 1);
    for (size_t i = 0; i < n; i++) {
        const plan_expr *arg = nest_value(b, cls, nest, call->args[i], target->locals[i].name);
        plan_var *var;
        int64_t shift;
        (*args)[i] = arg;
        (*narrow)[i] = !px_linear(arg, &var, &shift)
                       || (var ? !var->narrow || shift < -1 || shift > 1
                               : shift <= INT32_MIN || shift >= INT32_MAX);
    }
}

static bool any_uses(const plan_expr *const *leaf, size_t n, const plan_var *var)
{
    for (size_t i = 0; i < n; i++)
        if (px_uses(leaf[i], var))
            return true;
    return false;
}

void nest_prune(plan_nest *nest, const plan_class *cls, const plan_expr *const *leaf, size_t n)
{
    for (size_t i = nest->n; i-- > 0;) {
        const plan_level *level = &nest->levels[i];
        bool param = level->var && level->var->local >= 0
                     && (size_t)level->var->local < cls->n_params;
        if (level->kind == PLAN_LET && !param && !plan_nest_uses(nest, i + 1, level->var)
            && !any_uses(leaf, n, level->var)) {
            memmove(&nest->levels[i], &nest->levels[i + 1],
                    (nest->n - 1 - i) * sizeof *nest->levels);
            nest->n--;
        }
    }
}

/* ---- conditions --------------------------------------------------------------------------- */

const plan_expr *nest_resolved(builder *b, const plan_nest *nest, const plan_expr *e)
{
    for (size_t i = nest->n; i-- > 0;) {
        const plan_level *level = &nest->levels[i];
        if (level->kind == PLAN_LET)
            e = px_replace(b, e, &(px_map){level->var, level->expr}, 1);
    }
    return e;
}

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

bool nest_where(builder *b, plan_nest *nest, const plan_expr *cond, int line)
{
    cond = nest_resolved(b, nest, cond);
    if (cond->kind == PLAN_BINARY && cond->u.op.op == AST_OP_AND)
        return nest_where(b, nest, cond->u.op.a, line) && nest_where(b, nest, cond->u.op.b, line);
    if (px_is_int(cond, 0))
        return false;
    if (!narrow(b, nest, cond))
        nest_test(b, nest, cond, line);
    return true;
}

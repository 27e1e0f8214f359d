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

void nest_prune(plan_nest *nest, const plan_class *cls)
{
    for (size_t i = nest->n; i-- > 0;) {
        const plan_level *level = &nest->levels[i];
        bool param = level->var && level->var->local >= 0
                     && (size_t)level->var->local < cls->n_params;
        if (level->kind == PLAN_LET && !param && !plan_nest_uses(nest, i + 1, level->var)) {
            memmove(&nest->levels[i], &nest->levels[i + 1],
                    (nest->n - 1 - i) * sizeof *nest->levels);
            nest->n--;
        }
    }
}

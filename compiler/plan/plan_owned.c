/* Which part of a class's space a rank walks: cases of the placement, loops that visit what is
 * owned, and what is counted without being walked. The code tests each instance it comes to, so
 * that a loop may visit too many; it must not leave out one. */
#include "plan_impl.h"

enum { CASES_MAX = 8 };         /* more are one case that is walked as a whole */

/* ---- loops ------------------------------------------------------------------------------- */

static bool rises(const plan_level *loop)
{
    return !loop->step || (loop->step->kind == PLAN_INT && loop->step->u.integer > 0);
}

/* The innermost loop below number `end` on which e depends; its number, or -1. */
static int last_loop(const plan_nest *nest, size_t end, const plan_expr *e)
{
    for (size_t i = end; i-- > 0;)
        if (nest->levels[i].var && px_uses(e, nest->levels[i].var))
            return nest->levels[i].kind == PLAN_LOOP ? (int)i : -1;
    return -1;
}

static void add_filter(builder *b, plan_level *loop, plan_filter filter)
{
    plan_filter *filters = arena_alloc(b->a, (loop->n_filters + 1) * sizeof *filters);
    for (size_t i = 0; i < loop->n_filters; i++)
        filters[i] = loop->filters[i];
    filters[loop->n_filters++] = filter;
    loop->filters = filters;
}

/* Restricts the loops on which an index depends: the innermost to what is owned, one around it to
 * where that can leave anything. False: the innermost cannot be restricted. *exact: all that is
 * visited is owned in this dimension. */
static bool filter_loops(builder *b, plan_nest *nest, int dim, const plan_expr *index, bool *exact)
{
    const plan_expr *wrap = NULL, *inner = NULL;
    if (index->kind == PLAN_BINARY && index->u.op.op == AST_OP_MOD
        && px_global_only(index->u.op.b)) {
        wrap = index->u.op.b;
        index = index->u.op.a;
    }
    *exact = !wrap;
    for (size_t end = nest->n;; inner = inner ? inner : px_int(b, 0)) {
        int at = last_loop(nest, end, index);
        plan_filter filter = {.dim = dim, .wrap = wrap, .among = inner};
        plan_level *loop = at < 0 ? NULL : &nest->levels[at];
        if (!loop || !px_slope(b, index, loop->var, &filter.factor, &filter.base))
            return inner;
        if (rises(loop))
            add_filter(b, loop, filter);
        else if (!inner)
            return false;
        bool unit = px_is_int(filter.factor, 1) || px_is_int(filter.factor, -1);
        if (inner || unit)      /* whatever the loops around it do */
            return true;
        inner = filter.factor;
        index = filter.base;
        end = (size_t)at;
    }
}

static bool is_shift(const plan_filter *filter)
{
    return px_is_int(filter->factor, 1) && filter->base->kind == PLAN_INT && !filter->among
           && !filter->wrap;
}

/* How a loop with filters is walked. The usual ones have functions of their own. */
static void choose_walk(plan_class *cls, plan_level *loop)
{
    if (loop->n_filters == 0)
        return;
    loop->place = cls->place.of;
    loop->walk = PLAN_WALK_WHERE;
    const plan_filter *first = &loop->filters[0], *second = first + 1;
    if (loop->step || loop->n_filters > 2 || !is_shift(first)
        || (loop->n_filters == 2 && !is_shift(second)))
        return;
    loop->walk = PLAN_WALK_OWNED;
    loop->dim = first->dim;
    loop->shift = first->base->u.integer;
    if (loop->n_filters == 2) {
        loop->also = second->dim;
        loop->also_shift = second->base->u.integer;
    }
}

/* Restricts the loops of a case to what this rank owns. True: nothing else is visited. */
static bool solve(builder *b, plan_class *cls, plan_nest *nest)
{
    size_t solved = 0;
    for (size_t d = 0; d < cls->place.n; d++) {
        bool exact;
        const plan_expr *index = nest_resolved(b, nest, cls->place.index[d]);
        solved += filter_loops(b, nest, (int)d, index, &exact) && exact;
    }
    for (size_t i = 0; i < nest->n; i++)
        choose_walk(cls, &nest->levels[i]);
    for (size_t d = 0; d < cls->place.n; d++) {
        const plan_expr *index = nest_resolved(b, nest, cls->place.index[d]);
        int at = last_loop(nest, nest->n, index);
        cls->start.enumerates |= at >= 0 && nest->levels[at].walk == PLAN_WALK_ALL;
    }
    return solved == cls->place.n;
}

/* ---- counting ---------------------------------------------------------------------------- */

static bool loop_uses(const plan_level *loop, const plan_var *var)
{
    for (size_t i = 0; i < loop->n_filters; i++)
        if (px_uses(loop->filters[i].base, var))
            return true;
    return px_uses(loop->lo, var) || px_uses(loop->hi, var) || px_uses(loop->step, var) ||
           px_uses(loop->expr, var);
}

/* Does a level behind number `at` depend on that loop over a parameter? One with other steps than
 * upwards is not counted at once either. */
static bool is_bound(const plan_nest *nest, size_t at)
{
    const plan_level *level = &nest->levels[at];
    bool bound = level->kind != PLAN_LOOP || level->var->local < 0 || !rises(level);
    for (size_t i = at + 1; i < nest->n; i++)
        bound |= loop_uses(&nest->levels[i], level->var);
    return bound;
}

/* How many of the last levels are loops over parameters that do not depend on each other. */
static size_t closed_tail(const plan_nest *nest)
{
    size_t from = nest->n;
    while (from > 0 && !is_bound(nest, from - 1))
        from--;
    return nest->n - from;
}

/* Puts the loops on which nothing depends behind all others. Returns their number. */
static size_t free_last(builder *b, plan_nest *nest)
{
    plan_nest sorted = {0};
    size_t last = 0;
    for (int free = 0; free < 2; free++)
        for (size_t i = 0; i < nest->n; i++)
            if (is_bound(nest, i) != free) {
                *nest_add(b, &sorted, PLAN_LET, 0) = nest->levels[i];
                last += free;
            }
    *nest = sorted;
    return last;
}

/* The last two levels as one sum, where the inner bounds are affine in the outer variable. */
static bool closed_pair(builder *b, plan_case *part)
{
    const plan_nest *nest = &part->count;
    if (nest->n < 2)
        return false;
    const plan_level *outer = &nest->levels[nest->n - 2], *inner = outer + 1;
    for (size_t i = 0; i < inner->n_filters; i++)
        if (px_uses(inner->filters[i].base, outer->var))
            return false;
    return outer->kind == PLAN_LOOP && outer->var->local >= 0 && rises(outer) && !inner->step &&
           px_affine(b, inner->lo, outer->var, &part->lo) &&
           px_affine(b, inner->hi, outer->var, &part->hi);
}

/* ---- cases ------------------------------------------------------------------------------- */

/* Conditions on the way to a case, the last one first. */
typedef struct given {
    const struct given *before;
    const plan_expr *cond;
    bool holds;
    size_t depth;
} given;

/* The indices of the placement where these conditions are decided. */
static const plan_expr *index_given(builder *b, const plan_expr *index, const given *at)
{
    if (!at)
        return index;
    return px_given(b, index_given(b, index, at->before), at->cond, at->holds);
}

static bool where_given(builder *b, plan_nest *nest, const given *at, int line)
{
    return !at || (where_given(b, nest, at->before, line)
                   && nest_where(b, nest, at->holds ? at->cond : px_not(b, at->cond), line));
}

static void add_case(builder *b, plan_class *cls, const given *at)
{
    plan_case part = {.count = nest_copy(b, &cls->space), .starts = true};
    if (!where_given(b, &part.count, at, cls->line))
        return;
    const plan_expr **whole = cls->place.index;
    cls->place.index = arena_alloc(b->a, (cls->place.n + 1) * sizeof(*whole));
    for (size_t d = 0; d < cls->place.n; d++)
        cls->place.index[d] = index_given(b, nest_resolved(b, &cls->space, whole[d]), at);
    bool all = solve(b, cls, &part.count);
    cls->place.index = whole;
    part.start = nest_copy(b, &part.count);
    nest_prune(&part.count, cls, NULL, 0);
    part.tail = all ? closed_tail(&part.count) : 0;
    part.pair = part.tail == 1 && closed_pair(b, &part);
    part.tail = part.pair ? 2 : all ? free_last(b, &part.count) : 0;
    cls->cases.items[cls->cases.n++] = part;
}

/* The condition that decides next in this case; NULL: all are decided. */
static const plan_expr *next_choice(builder *b, const plan_class *cls, const given *at)
{
    const plan_expr *cond = NULL;
    for (size_t d = 0; d < cls->place.n && !cond; d++)
        cond = px_choice(index_given(b, nest_resolved(b, &cls->space, cls->place.index[d]), at));
    return cond;
}

/* The number of cases below this one; where they are more than `most`, any number above it. */
static size_t count_cases(builder *b, const plan_class *cls, const given *at, size_t most)
{
    const plan_expr *cond = next_choice(b, cls, at);
    size_t depth = at ? at->depth + 1 : 1;
    if (!cond || depth >= most) /* so many conditions make more cases */
        return cond ? most + 1 : 1;
    size_t n = count_cases(b, cls, &(given){at, cond, true, depth}, most);
    return n > most ? n : n + count_cases(b, cls, &(given){at, cond, false, depth}, most);
}

static void add_cases(builder *b, plan_class *cls, const given *at)
{
    const plan_expr *cond = next_choice(b, cls, at);
    if (!cond) {
        add_case(b, cls, at);
        return;
    }
    add_cases(b, cls, &(given){at, cond, true, 0});
    add_cases(b, cls, &(given){at, cond, false, 0});
}

static void report_enumeration(builder *b, const plan_class *cls)
{
    diag_report(b->d, &plan_check_table[PLAN_CHECK_ENUMERATE],
                cls->sema->ast->placement->node.range,
                "every rank walks the whole space of '%s' to find its own tasks", cls->name);
    diag_note(b->d, (src_range){0}, "a rank visits its own part only where each index of the "
              "placement is a sum of parameters, with factors known at the start, by cases where "
              "it has conditions");
}

void plan_owned(builder *b, plan_class *cls)
{
    size_t n = cls->n_params < DAG_MAX_LOCALS /* the cursor keeps the case, too */
                   ? count_cases(b, cls, NULL, CASES_MAX) : CASES_MAX + 1;
    cls->cases.items = arena_alloc(b->a, CASES_MAX * sizeof *cls->cases.items);
    if (n <= CASES_MAX)
        add_cases(b, cls, NULL);
    if (n > CASES_MAX || cls->cases.n == 0)
        add_case(b, cls, NULL);
    if (cls->start.enumerates)
        report_enumeration(b, cls);
}

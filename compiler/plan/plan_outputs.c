/* What an instance hands on: successors, stores, [dynamic] guards. */
#include "plan_impl.h"

/* ---- regions ----------------------------------------------------------------------------- */

/* 0: none was written. */
dag_region plan_region_of(builder *b, const sema_shape *shape)
{
    switch (shape->kind) {
    case SEMA_SHAPE_NONE: return DAG_REGION_NONE;
    case SEMA_SHAPE_FULL: return DAG_REGION_FULL;
    case SEMA_SHAPE_LOWER: return DAG_REGION_LOWER;
    case SEMA_SHAPE_UPPER: return DAG_REGION_UPPER;
    case SEMA_SHAPE_LOWER_STRICT: return DAG_REGION_LOWER_STRICT;
    case SEMA_SHAPE_UPPER_STRICT: return DAG_REGION_UPPER_STRICT;
    default:
        plan_error(b, PLAN_CHECK_REFUSED, shape->expr ? shape->expr->node.range : (src_range){0},
                   "an edge carries one of the regions FULL, LOWER, UPPER, LOWER_STRICT and "
                   "UPPER_STRICT; a shape belongs on NEW");
        return DAG_REGION_FULL;
    }
}

static dag_region stored_region(builder *b, const sema_edge *edge)
{
    dag_region region = plan_region_of(b, &edge->type_data);
    if (!region)
        region = plan_region_of(b, &edge->type);
    return region ? region : DAG_REGION_FULL;
}

static dag_region sent_region(builder *b, const sema_edge *edge)
{
    dag_region region = plan_region_of(b, &edge->type_remote);
    return region ? region : plan_region_of(b, &edge->type);
}

/* The part of the datum that the target needs: the union of what the two sides say. */
static dag_region edge_region(builder *b, const sema_edge *edge)
{
    dag_region sent = sent_region(b, edge);
    unsigned wanted = 0;
    for (size_t i = 0; i < edge->target_flow->n_edges; i++) {
        const sema_edge *input = &edge->target_flow->edges[i];
        if (input->dir != AST_IN || input->end != SEMA_END_TASK
            || input->target_flow != edge->flow)
            continue;
        dag_region region = sent_region(b, input);
        if (!region && !sent)
            return DAG_REGION_FULL;
        wanted |= region;
    }
    return sent || wanted ? (dag_region)(sent | wanted) : DAG_REGION_FULL;
}

/* ---- successors -------------------------------------------------------------------------- */

/* The target's placement in terms of its parameters only; NULL when that cannot be had. */
static const plan_expr *place_of_params(builder *b, const plan_class *target, size_t d)
{
    const plan_expr *index = target->place.index[d];
    for (size_t i = target->member.n; i-- > 0;) {
        const plan_level *level = &target->member.levels[i];
        if (level->kind == PLAN_LET)
            index = px_replace(b, index, &(px_map){level->var, level->expr}, 1);
    }
    return index;
}

static bool only_in(const plan_edge *edge, size_t at, size_t arg)
{
    const plan_var *var = edge->nest.levels[at].var;
    for (size_t i = 0; i < edge->nest.n; i++) {
        const plan_level *level = &edge->nest.levels[i];
        if (px_uses(level->lo, var) || px_uses(level->hi, var) || px_uses(level->step, var)
            || px_uses(level->expr, var))
            return false;
    }
    for (size_t i = 0; i < edge->target->n_params; i++)
        if (i != arg && px_uses(edge->args[i], var))
            return false;
    return !edge->space_test;
}

/* Can the level be restricted through index d of the target's placement? */
static bool solve_level(builder *b, plan_edge *edge, size_t at, size_t d)
{
    plan_level *level = &edge->nest.levels[at];
    const plan_class *target = edge->target;
    plan_var *param, *var;
    int64_t shift, arg_shift;
    const plan_expr *index = place_of_params(b, target, d);
    if (!px_linear(index, &param, &shift) || !param || param->local < 0
        || (size_t)param->local >= target->n_params)
        return false;
    size_t arg = (size_t)param->local;
    if (!px_linear(edge->args[arg], &var, &arg_shift) || var != level->var
        || __builtin_add_overflow(shift, arg_shift, &shift))
        return false;
    bool alone = only_in(edge, at, arg);
    for (size_t other = 0; other < target->place.n; other++)
        if (other != d && px_uses(place_of_params(b, target, other), param))
            alone = false;
    level->walk = alone ? PLAN_WALK_VISIT : PLAN_WALK_VISIT_OWNED;
    level->place = target->place.of;
    level->dim = (int)d;
    level->shift = shift;
    return true;
}

static void solve_edge(builder *b, plan_edge *edge)
{
    for (size_t i = 0; i < edge->nest.n; i++) {
        const plan_level *level = &edge->nest.levels[i];
        if (level->kind != PLAN_LOOP || level->step)
            continue;
        for (size_t d = 0; d < edge->target->place.n; d++)
            if (solve_level(b, edge, i, d))
                break;
    }
}

/* The number of the bit for this guard; the two halves of a ternary share one. */
static int bit_of(builder *b, plan_class *cls, const sema_edge *edge)
{
    for (size_t i = 0; i < cls->out.n_edges; i++)
        if (cls->out.edges[i].sema->dep == edge->dep)
            return cls->out.edges[i].bit;
    const plan_expr *cond = edge->cond ? plan_lower(b, cls, edge->cond) : px_int(b, 1);
    if (cls->out.n_bits == 64)
        plan_error(b, PLAN_CHECK_DYNAMIC, edge->dep->node.range,
                   "a class can have at most 64 [dynamic] guards");
    plan_var *locals[DAG_MAX_LOCALS];
    for (size_t i = 0; i < cls->n_locals; i++)
        locals[i] = &cls->locals[i];
    if (px_uses_other(cond, locals, cls->n_locals))
        plan_error(b, PLAN_CHECK_DYNAMIC, edge->cond->node.range,
                   "a [dynamic] guard is sent as one bit and cannot depend on the indices of its "
                   "list");
    cls->out.bits[cls->out.n_bits].cond = cond;
    return (int)cls->out.n_bits++;
}

static void add_edge(builder *b, plan_class *cls, plan_flow *flow, const sema_edge *from)
{
    plan_edge *edge = &cls->out.edges[cls->out.n_edges];
    *edge = (plan_edge){
        .sema = from,
        .bcast = from->bcast,
        .source = flow,
        .target = plan_class_of(b, from->target_class),
        .bit = -1,
        .index = (int)cls->out.n_edges,
        .line = plan_line(b, from->dep->node.range),
    };
    edge->target_flow = plan_flow_of(edge->target, from->target_flow);
    edge->region = from->target_flow->kind == AST_CTL ? DAG_REGION_FULL : edge_region(b, from);
    edge->space_test = b->p->aliased;
    if (from->dynamic) {
        edge->bit = bit_of(b, cls, from);
        edge->bit_negated = from->negate;
        nest_edge(b, cls, &edge->nest, from, NULL);
    } else {
        const plan_expr *guard = plan_lower_guard(b, cls, from);
        if (guard && plan_code_reads_flows(guard))
            plan_error(b, PLAN_CHECK_DYNAMIC, from->cond->node.range,
                       "a guard that reads what a body computed needs the property [dynamic]");
        nest_edge(b, cls, &edge->nest, from, guard);
    }
    cls->out.n_edges++;
    for (int i = 0; i < DAG_BCAST_LEVELS - 1; i++)
        if (from->bcast_group[i])
            edge->group[i] = plan_lower(b, cls, from->bcast_group[i]);
    nest_args(b, cls, &edge->nest, from->call, edge->target, &edge->args, &edge->narrow);
    nest_prune(&edge->nest, cls, edge->args, edge->target->n_params);
    solve_edge(b, edge);
}

/* ---- stores ------------------------------------------------------------------------------ */

static void add_store(builder *b, plan_class *cls, plan_flow *flow, const sema_edge *edge)
{
    plan_store *store = &cls->out.stores[cls->out.n_stores++];
    plan_global *place = plan_global_of(b, edge->target);
    place->stored = true;
    *store = (plan_store){.flow = flow, .place = place, .n_index = edge->call->n_args,
                          .region = stored_region(b, edge),
                          .line = plan_line(b, edge->dep->node.range)};
    if (edge->dynamic)
        plan_error(b, PLAN_CHECK_DYNAMIC, edge->dep->node.range,
                   "a store cannot be [dynamic]");
    nest_edge(b, cls, &store->nest, edge, plan_lower_guard(b, cls, edge));
    store->index = arena_alloc(b->a, (store->n_index + 1) * sizeof(*store->index));
    for (size_t i = 0; i < store->n_index; i++)
        store->index[i] = nest_value(b, cls, &store->nest, edge->call->args[i], "i");
    nest_prune(&store->nest, cls, store->index, store->n_index);
}

/* ---- control that many instances send to the same tasks ---------------------------------- */

static bool edge_uses(const plan_edge *edge, const plan_var *var)
{
    for (size_t i = 0; i < edge->target->n_params; i++)
        if (px_uses(edge->args[i], var))
            return true;
    return plan_nest_uses(&edge->nest, 0, var);
}

/* Instances that differ in these locals alone send control to the same tasks. */
static uint32_t blind_locals(const plan_class *cls)
{
    uint32_t blind = 0, params = (UINT32_C(1) << cls->n_params) - 1;
    bool any = false;
    for (size_t i = 0; i < cls->n_locals; i++)
        blind |= UINT32_C(1) << i;
    for (size_t k = 0; k < cls->out.n_edges; k++) {
        const plan_edge *edge = &cls->out.edges[k];
        if (edge->source->sema->kind != AST_CTL)
            continue;
        if (edge->bit >= 0) /* its guard reads what the body has computed */
            return 0;
        any = true;
        for (size_t i = 0; i < cls->n_locals; i++)
            if (edge_uses(edge, &cls->locals[i]))
                blind &= ~(UINT32_C(1) << i);
    }
    return any && (blind & params) ? blind : 0;
}

void plan_outputs(builder *b, plan_class *cls)
{
    size_t n = 0;
    for (size_t f = 0; f < cls->n_flows; f++)
        n += cls->flows[f].sema->n_edges;
    cls->out.edges = arena_alloc(b->a, (n + 1) * sizeof *cls->out.edges);
    cls->out.stores = arena_alloc(b->a, (n + 1) * sizeof *cls->out.stores);
    cls->out.bits = arena_alloc(b->a, (n + 1) * sizeof *cls->out.bits);
    for (size_t f = 0; f < cls->n_flows; f++) {
        plan_flow *flow = &cls->flows[f];
        for (size_t i = 0; i < flow->sema->n_edges; i++) {
            const sema_edge *edge = &flow->sema->edges[i];
            if (edge->dir != AST_OUT)
                continue;
            if (edge->end == SEMA_END_TASK)
                add_edge(b, cls, flow, edge);
            else if (edge->end == SEMA_END_MEMORY)
                add_store(b, cls, flow, edge);
        }
    }
    cls->out.ctl_blind = blind_locals(cls);
}

/* What an instance waits for, and what it fetches. */
#include "plan_impl.h"

#include <string.h>

/* ---- guards ------------------------------------------------------------------------------ */

/* When input i of a data flow is active. --std=parsec: the first true one wins. */
static const plan_expr *active_cond(builder *b, plan_class *cls, const sema_flow *flow, size_t i)
{
    const plan_expr *cond = plan_lower_guard(b, cls, &flow->edges[i]);
    if (!cond)
        cond = px_int(b, 1);
    if (!b->p->aliased)
        return cond;
    for (size_t k = i; k-- > 0;) {
        const sema_edge *before = &flow->edges[k];
        if (before->dir != AST_IN || before->dep == flow->edges[i].dep)
            continue;       /* the other half of a ternary excludes itself */
        const plan_expr *other = plan_lower_guard(b, cls, before);
        bool pair = k > 0 && flow->edges[k - 1].dep == before->dep;
        if (pair || !other)
            return px_int(b, 0);        /* a ternary or an unguarded input ends the chain */
        cond = px_binary(b, AST_OP_AND, px_not(b, other), cond);
    }
    return cond;
}

/* 0 or 1 for a guard. */
static const plan_expr *truth(builder *b, const plan_expr *cond)
{
    return px_is_truth(cond) ? cond : px_binary(b, AST_OP_NE, cond, px_int(b, 0));
}

/* ---- arrivals ---------------------------------------------------------------------------- */

/* One input, or a ternary and nothing else: exactly one is active without any proof. */
static bool trivially_one(const sema_flow *flow)
{
    const sema_edge *first = NULL, *second = NULL;
    for (size_t i = 0; i < flow->n_edges; i++) {
        if (flow->edges[i].dir != AST_IN)
            continue;
        if (second)
            return false;
        if (first)
            second = &flow->edges[i];
        else
            first = &flow->edges[i];
    }
    if (!first)
        return true;
    return second ? first->dep == second->dep : !first->cond;
}

static void check_dynamic_input(builder *b, const sema_edge *edge, const plan_expr *cond)
{
    if (edge->dynamic && plan_code_reads_flows(cond))
        plan_error(b, PLAN_CHECK_DYNAMIC, edge->cond->node.range,
                   "the guard of a [dynamic] input is evaluated where the data is not: it says for "
                   "which instances the edge exists and cannot read a flow");
}

static void data_arrivals(builder *b, plan_class *cls, plan_flow *flow)
{
    const plan_expr *waits = px_int(b, 0), *active = px_int(b, 0), *late = px_int(b, 0);
    for (size_t i = 0; i < flow->sema->n_edges; i++) {
        const sema_edge *edge = &flow->sema->edges[i];
        if (edge->dir != AST_IN)
            continue;
        if (edge->has_range)
            plan_error(b, PLAN_CHECK_REFUSED, edge->call->node.range,
                       "a data flow receives from one task, not from a range");
        const plan_expr *cond = truth(b, active_cond(b, cls, flow->sema, i));
        check_dynamic_input(b, edge, cond);
        if (edge->end == SEMA_END_TASK)
            waits = px_binary(b, AST_OP_OR, waits, cond);
        if (edge->dynamic)
            late = px_binary(b, AST_OP_OR, late, cond);
        else
            active = px_binary(b, AST_OP_ADD, active, cond);
    }
    const bool *facts = b->facts ? b->facts->flow_input_proven : NULL;
    flow->or_null = b->p->aliased;
    flow->active = px_binary(b, AST_OP_ADD, active, late);
    flow->waits = waits;
    flow->proven = trivially_one(flow->sema) || px_is_int(flow->active, 1)
                   || (facts && facts[flow->sema->ast->node.id]);
    if (flow->proven && !b->p->aliased) {
        /* a shorter form of the same: nothing fetched means something received */
        const plan_expr *fetched = px_int(b, 0);
        size_t n_tasks = 0;
        for (size_t i = 0; i < flow->sema->n_edges; i++) {
            const sema_edge *edge = &flow->sema->edges[i];
            if (edge->dir != AST_IN)
                continue;
            n_tasks += edge->end == SEMA_END_TASK;
            if (edge->end != SEMA_END_TASK)
                fetched = px_binary(b, AST_OP_OR, fetched,
                                    truth(b, active_cond(b, cls, flow->sema, i)));
        }
        if (n_tasks)
            flow->waits = px_not(b, fetched);
    }
}

static void gather(builder *b, plan_class *cls, plan_flow *flow, const sema_edge *edge,
                   const plan_expr *cond)
{
    plan_arrival *arrival = &flow->gathers[flow->n_gathers++];
    arrival->sema = edge;
    nest_edge(b, cls, &arrival->nest, edge, cond);
    for (size_t i = 0; i < edge->call->n_args; i++)
        nest_value(b, cls, &arrival->nest, edge->call->args[i],
                   edge->target_class->params[i]->name);
    nest_prune(&arrival->nest, cls, NULL, 0);
}

static void ctl_arrivals(builder *b, plan_class *cls, plan_flow *flow)
{
    const plan_expr *sum = px_int(b, 0), *late = px_int(b, 0);
    flow->gathers = arena_alloc(b->a, (flow->sema->n_edges + 1) * sizeof *flow->gathers);
    flow->proven = true;
    for (size_t i = 0; i < flow->sema->n_edges; i++) {
        const sema_edge *edge = &flow->sema->edges[i];
        if (edge->dir != AST_IN)
            continue;
        const plan_expr *cond = plan_lower_guard(b, cls, edge);
        check_dynamic_input(b, edge, cond);
        if (edge->has_range && edge->dynamic)
            plan_error(b, PLAN_CHECK_DYNAMIC, edge->call->node.range,
                       "a [dynamic] input comes from one task, not from a range");
        else if (edge->has_range)
            gather(b, cls, flow, edge, cond);
        else if (edge->dynamic)
            late = px_binary(b, AST_OP_OR, late, cond ? truth(b, cond) : px_int(b, 1));
        else
            sum = px_binary(b, AST_OP_ADD, sum, cond ? truth(b, cond) : px_int(b, 1));
    }
    flow->waits = flow->active = px_binary(b, AST_OP_ADD, sum, late);
}

/* ---- whom the arrivals come from --------------------------------------------------------- */

static void flow_sources(builder *b, plan_class *cls, plan_flow *flow)
{
    flow->sources = arena_alloc(b->a, (flow->sema->n_edges + 1) * sizeof *flow->sources);
    for (size_t i = 0; i < flow->sema->n_edges; i++) {
        const sema_edge *edge = &flow->sema->edges[i];
        if (edge->dir != AST_IN || edge->end != SEMA_END_TASK)
            continue;
        plan_source *source = &flow->sources[flow->n_sources++];
        cls->in.receives = true;
        plan_class *from = plan_class_of(b, edge->target_class);
        *source = (plan_source){
            .cls = from, .flow = plan_flow_of(from, edge->target_flow), .dynamic = edge->dynamic,
            .line = plan_line(b, edge->dep->node.range),
        };
        nest_edge(b, cls, &source->nest, edge,
                  flow->index < (int)cls->n_data ? active_cond(b, cls, flow->sema, i)
                                                 : plan_lower_guard(b, cls, edge));
        nest_args(b, cls, &source->nest, edge->call, from, &source->args, &source->narrow);
    }
}

/* ---- fetching ---------------------------------------------------------------------------- */

static plan_bind *add_bind(builder *b, plan_class *cls, const plan_flow *flow,
                           plan_bind_kind kind, int line)
{
    plan_bind *old = cls->in.binds;
    cls->in.binds = arena_alloc(b->a, (cls->in.n_binds + 1) * sizeof *cls->in.binds);
    if (old)
        memcpy(cls->in.binds, old, cls->in.n_binds * sizeof *old);
    plan_bind *bind = &cls->in.binds[cls->in.n_binds++];
    bind->kind = kind;
    bind->flow = flow;
    bind->line = line;
    return bind;
}

static void bind_index(builder *b, plan_class *cls, plan_bind *bind, const ast_call *call)
{
    bind->index = arena_alloc(b->a, (call->n_args + 1) * sizeof(*bind->index));
    bind->n_index = call->n_args;
    for (size_t i = 0; i < call->n_args; i++)
        bind->index[i] = nest_value(b, cls, &bind->nest, call->args[i], "i");
}

static void bind_memory(builder *b, plan_class *cls, plan_flow *flow, const sema_edge *edge,
                        const plan_expr *cond)
{
    plan_global *place = plan_global_of(b, edge->target);
    plan_bind *bind = add_bind(b, cls, flow, PLAN_BIND_MEMORY,
                               plan_line(b, edge->dep->node.range));
    place->fetched = true;
    bind->place = place;
    plan_region_of(b, &edge->type);         /* the whole element is there: only to refuse others */
    plan_region_of(b, &edge->type_data);
    nest_test(b, &bind->nest, cond, bind->line);
    bind_index(b, cls, bind, edge->call);
    if (edge->has_range)
        plan_error(b, PLAN_CHECK_REFUSED, edge->call->node.range,
                   "a range cannot be read from memory into one flow");
}

/* NEW of the shape that [type = S] names. */
static bool bind_shape(builder *b, plan_class *cls, plan_flow *flow, const sema_shape *type,
                       const plan_expr *cond, int line)
{
    const sema_global *shape = type->global;
    if (type->kind == SEMA_SHAPE_NAME || type->kind == SEMA_SHAPE_C) {
        plan_error(b, PLAN_CHECK_REFUSED, type->expr->node.range,
                   "NEW takes its shape from a global of type dag_shape * or from a matrix");
        return true;
    }
    if (!shape && flow->sema->type.kind == SEMA_TYPE_NAMED && flow->sema->type.shape)
        shape = sema_find_global(b->info, flow->sema->type.shape);
    if (!shape)
        return false;
    plan_bind *bind = add_bind(b, cls, flow,
                               shape->kind == SEMA_MATRIX ? PLAN_BIND_NEW_TILE : PLAN_BIND_NEW,
                               line);
    bind->shape = plan_global_of(b, shape);
    nest_test(b, &bind->nest, cond, line);
    return true;
}

/* A value that is made in an element is there for all who get it: no other store may change it.
 * Where memory is live it may. */
static bool stored_alone(const builder *b, const sema_edge *edge)
{
    return b->p->aliased
           || (b->facts && b->facts->stored_alone && b->facts->stored_alone[edge->dep->node.id]);
}

/* A fresh buffer with no [type]: like the element that the flow is stored to. */
static void bind_like(builder *b, plan_class *cls, plan_flow *flow, const plan_expr *cond,
                      int line)
{
    size_t stores = 0;
    bool always = false;
    for (size_t i = 0; i < flow->sema->n_edges; i++) {
        const sema_edge *edge = &flow->sema->edges[i];
        stores += edge->dir == AST_OUT && edge->end == SEMA_END_MEMORY;
    }
    if (stores == 0)
        plan_error(b, PLAN_CHECK_REFUSED, flow->sema->ast->node.range,
                   "nothing says how large the fresh buffer of '%s' is: write [type = ...] on NEW",
                   flow->name);
    bool first = true;
    for (size_t i = 0; i < flow->sema->n_edges && !always; i++) {
        const sema_edge *edge = &flow->sema->edges[i];
        if (edge->dir != AST_OUT || edge->end != SEMA_END_MEMORY || edge->has_range
            || edge->dynamic)
            continue;
        const plan_expr *guard = plan_lower_guard(b, cls, edge);
        plan_bind *bind = add_bind(b, cls, flow, PLAN_BIND_NEW_LIKE, line);
        const sema_shape *part = edge->type_data.kind != SEMA_SHAPE_NONE ? &edge->type_data
                                                                         : &edge->type;
        dag_region region = plan_region_of(b, part);
        bind->place = plan_global_of(b, edge->target);
        bind->in_memory = stores == 1 && (!region || region == DAG_REGION_FULL)
                          && stored_alone(b, edge);
        bind->chained = !first;
        nest_test(b, &bind->nest, px_and(b, cond, guard), line);
        bind_index(b, cls, bind, edge->call);
        always = !guard;
        first = false;
    }
    if (always)
        return;
    plan_bind *bind = add_bind(b, cls, flow, PLAN_BIND_NO_SHAPE, line);
    bind->chained = !first;
    nest_test(b, &bind->nest, cond, line);
}

static void bind_new(builder *b, plan_class *cls, plan_flow *flow, const sema_edge *edge,
                     const plan_expr *cond, int line)
{
    static const sema_shape no_shape;
    const sema_shape *type = edge ? &edge->type : &no_shape;
    if (!bind_shape(b, cls, flow, type, cond, line))
        bind_like(b, cls, flow, cond, line);
}

static void data_binds(builder *b, plan_class *cls, plan_flow *flow)
{
    size_t inputs = 0;
    for (size_t i = 0; i < flow->sema->n_edges; i++) {
        const sema_edge *edge = &flow->sema->edges[i];
        if (edge->dir != AST_IN)
            continue;
        inputs++;
        const plan_expr *cond = active_cond(b, cls, flow->sema, i);
        int line = plan_line(b, edge->dep->node.range);
        if (edge->end == SEMA_END_MEMORY) {
            bind_memory(b, cls, flow, edge, cond);
        } else if (edge->end == SEMA_END_NEW) {
            bind_new(b, cls, flow, edge, cond, line);
        } else if (edge->end == SEMA_END_NULL) {
            plan_bind *bind = add_bind(b, cls, flow, PLAN_BIND_NULL, line);
            nest_test(b, &bind->nest, cond, line);
            flow->nullable = true;
        }
    }
    int line = plan_line(b, flow->sema->ast->node.range);
    if (inputs == 0 && flow->sema->kind == AST_WRITE)
        bind_new(b, cls, flow, NULL, NULL, line);
    else if (flow->or_null && !px_is_int(flow->active, 1) && !flow->proven) {
        plan_bind *bind = add_bind(b, cls, flow, PLAN_BIND_NULL, line);
        nest_test(b, &bind->nest, px_binary(b, AST_OP_EQ, flow->active, px_int(b, 0)), line);
    }
    flow->nullable |= b->p->aliased && !flow->proven;
}

void plan_inputs(builder *b, plan_class *cls)
{
    cls->in.arrivals = px_int(b, 0);
    for (size_t i = 0; i < cls->n_flows; i++) {
        plan_flow *flow = &cls->flows[i];
        if (i >= cls->n_data) {
            ctl_arrivals(b, cls, flow);
        } else {
            data_arrivals(b, cls, flow);
            data_binds(b, cls, flow);
        }
        flow_sources(b, cls, flow);
        cls->in.arrivals = px_binary(b, AST_OP_ADD, cls->in.arrivals, flow->waits);
        if (!px_is_int(flow->waits, 0) || flow->n_gathers || (!flow->proven && !flow->or_null))
            cls->in.waits = true;
    }
}

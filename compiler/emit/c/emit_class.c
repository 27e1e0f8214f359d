/* The functions of a class that look at one instance. */
#include "emit_impl.h"

#define FN "static %s %s_%s_%s("
#define OF_INSTANCE FN "const void *globals, const int32_t *l)"
#define OF_TASK FN "struct dag_task *task, const void *globals)"

/* ---- membership -------------------------------------------------------------------------- */

/* lo <= x && x <= hi, or the general test. */
static void emit_in_range(emitter *e, const plan_level *level)
{
    bool unit = !level->step || (level->step->kind == PLAN_INT && level->step->u.integer == -1);
    bool down = level->step && level->step->kind == PLAN_INT && level->step->u.integer < 0;
    if (unit) {
        emit_expr(e, down ? level->hi : level->lo, EMIT_PREC_SUM);
        text_puts(&e->body, " <= ");
        emit_var(e, level->var);
        text_puts(&e->body, " && ");
        emit_var(e, level->var);
        text_puts(&e->body, " <= ");
        emit_expr(e, down ? level->lo : level->hi, EMIT_PREC_SUM);
        return;
    }
    text_puts(&e->body, "dag_range_has(");
    emit_expr(e, level->lo, EMIT_PREC_COND);
    text_puts(&e->body, ", ");
    emit_expr(e, level->hi, EMIT_PREC_COND);
    text_puts(&e->body, ", ");
    emit_expr(e, level->step, EMIT_PREC_COND);
    text_puts(&e->body, ", ");
    emit_var(e, level->var);
    text_putc(&e->body, ')');
}

static void leaf_found(emitter *e, const void *arg)
{
    const plan_level *level = arg;
    emit_open(e, "%s_found |= ", level->var->c_name);
    emit_var(e, level->var);
    text_puts(&e->body, " == ");
    emit_expr(e, level->expr, EMIT_PREC_SUM);
    text_puts(&e->body, ";\n");
}

static void emit_found(emitter *e, const plan_level *level)
{
    emit_line(e, "int %s_found = 0;", level->var->c_name);
    emit_nest(e, level->inner, level->inner->n, false, leaf_found, level);
    emit_line(e, "if (!%s_found)", level->var->c_name);
    emit_line(e, "    return 0;");
}

static void emit_derived(emitter *e, const plan_level *level)
{
    plan_var *var = level->var;
    size_t behind = (size_t)(level - e->cls->member.levels) + 1;
    bool named = plan_nest_uses(&e->cls->member, behind, var);
    if (named) {
        emit_open(e, "const int64_t %s = ", var->c_name);
        emit_expr(e, level->expr, EMIT_PREC_COND);
        text_puts(&e->body, ";\n");
    }
    emit_begin(e);
    e->uses_globals = e->uses_locals = true;
    emit_add(e, "l[%d] = dag_derived(g, &%s_%s_class, l, %d, %d, ", var->local, e->name,
             e->cls->name, level->line, var->local);
    if (named)
        text_puts(&e->body, var->c_name);
    else
        emit_expr(e, level->expr, EMIT_PREC_COND);
    text_puts(&e->body, ");\n");
}

/* Conditions are collected into one expression until something has to be computed. */
static void emit_member(emitter *e, const plan_class *cls)
{
    emit_fn_begin(e, cls);
    e->locals = "l";
    const plan_nest *nest = &cls->member;
    size_t at = 0;
    while (at < nest->n) {
        size_t end = at;
        while (end < nest->n && (nest->levels[end].kind == PLAN_LOOP
                                 || nest->levels[end].kind == PLAN_TEST))
            end++;
        if (end > at) {
            emit_open(e, end == nest->n ? "return " : "if (!(");
            for (size_t i = at; i < end; i++) {
                text_puts(&e->body, i > at ? " && " : "");
                if (nest->levels[i].kind == PLAN_LOOP)
                    emit_in_range(e, &nest->levels[i]);
                else
                    emit_expr(e, nest->levels[i].expr, EMIT_PREC_COMPARE);
            }
            text_puts(&e->body, end == nest->n ? ";\n" : "))\n");
            if (end < nest->n)
                emit_line(e, "    return 0;");
        } else if (nest->levels[at].kind == PLAN_LET) {
            emit_derived(e, &nest->levels[end++]);
        } else {
            emit_found(e, &nest->levels[end++]);
        }
        at = end;
    }
    const plan_level *last = nest->n ? &nest->levels[nest->n - 1] : NULL;
    if (!last || last->kind == PLAN_LET || last->kind == PLAN_FOUND)
        emit_line(e, "return 1;");
    emit_fn_end(e, EMIT_FROM_ARRAY, cls->n_params, FN "const void *globals, %sint32_t *l)", "int",
                e->name, cls->name, "locals",
                cls->n_locals ? "" : "DAG_UNUSED ");
}

/* ---- rank, priority ---------------------------------------------------------------------- */

static void emit_rank(emitter *e, const plan_class *cls)
{
    emit_fn_begin(e, cls);
    emit_open(e, "return dag_rank_of(");
    emit_collection(e, cls->place.of);
    text_puts(&e->body, ", (int64_t[])");
    emit_index(e, cls->place.index, cls->place.n);
    text_puts(&e->body, ");\n");
    emit_fn_end(e, EMIT_FROM_ARRAY, cls->n_locals, OF_INSTANCE, "int", e->name, cls->name,
                "rank");
}

static void emit_value(emitter *e, const plan_class *cls, const plan_expr *x, const char *type,
                       const char *what)
{
    emit_fn_begin(e, cls);
    emit_open(e, "return ");
    emit_expr(e, x, EMIT_PREC_COND);
    text_puts(&e->body, ";\n");
    emit_fn_end(e, EMIT_FROM_ARRAY, cls->n_locals, OF_INSTANCE, type, e->name, cls->name, what);
}

/* ---- inputs ------------------------------------------------------------------------------ */

static void leaf_count(emitter *e, const void *arg)
{
    (void)arg;
    emit_line(e, "total++;");
}

static void leaf_count_range(emitter *e, const void *arg)
{
    const plan_level *level = arg;
    emit_open(e, "total += dag_range_count(");
    emit_expr(e, level->lo, EMIT_PREC_COND);
    text_puts(&e->body, ", ");
    emit_expr(e, level->hi, EMIT_PREC_COND);
    text_puts(&e->body, ", ");
    emit_step(e, level);
    text_puts(&e->body, ");\n");
}

static void emit_gather(emitter *e, const plan_nest *nest)
{
    const plan_level *last = nest->n ? &nest->levels[nest->n - 1] : NULL;
    if (last && last->kind == PLAN_LOOP)
        emit_nest(e, nest, nest->n - 1, false, leaf_count_range, last);
    else
        emit_nest(e, nest, nest->n, false, leaf_count, NULL);
}

/* A data flow of which exactly one input has to be active, which nobody proved. */
static void emit_input_check(emitter *e, const plan_flow *flow)
{
    e->uses_globals = e->uses_locals = true;
    emit_open(e, "if (");
    emit_expr(e, flow->active, EMIT_PREC_SUM);
    text_puts(&e->body, " != 1)\n");
    emit_open(e, "    return dag_inputs_error(g, &%s_%s_class, l, %d, ", e->name, e->cls->name,
             flow->index);
    emit_expr(e, flow->active, EMIT_PREC_COND);
    text_puts(&e->body, ");\n");
}

static void emit_inputs(emitter *e, const plan_class *cls)
{
    emit_fn_begin(e, cls);
    e->locals = "l";
    bool gathers = false;
    for (size_t f = 0; f < cls->n_flows; f++) {
        const plan_flow *flow = &cls->flows[f];
        if (f < cls->n_data && !flow->proven && !flow->or_null)
            emit_input_check(e, flow);
        gathers |= flow->n_gathers > 0;
    }
    emit_open(e, gathers ? "int64_t total = " : "return ");
    emit_expr(e, cls->in.arrivals, EMIT_PREC_COND);
    text_puts(&e->body, ";\n");
    for (size_t f = 0; f < cls->n_flows; f++)
        for (size_t i = 0; i < cls->flows[f].n_gathers; i++)
            emit_gather(e, &cls->flows[f].gathers[i].nest);
    if (gathers)
        emit_line(e, "return total;");
    emit_fn_end(e, EMIT_FROM_ARRAY, cls->n_locals, OF_INSTANCE, "int64_t", e->name, cls->name,
                "inputs");
}

/* ---- bind, stores ------------------------------------------------------------------------ */

static void emit_slot(emitter *e, int flow, const plan_global *place,
                      const plan_expr *const *index, size_t n)
{
    emit_add(e, "(task, %d, %d /* %s */, (int64_t[])", flow, place->slot, place->name);
    emit_index(e, index, n);
}

static void leaf_bind(emitter *e, const void *arg)
{
    const plan_bind *bind = arg;
    int flow = bind->flow->index;
    emit_begin(e);
    switch (bind->kind) {
    case PLAN_BIND_MEMORY:
        text_puts(&e->body, "dag_bind_memory");
        emit_slot(e, flow, bind->place, bind->index, bind->n_index);
        text_puts(&e->body, ");\n");
        break;
    case PLAN_BIND_NEW_LIKE:
        text_puts(&e->body, "dag_bind_new_like");
        emit_slot(e, flow, bind->place, bind->index, bind->n_index);
        emit_add(e, ", %d);\n", bind->in_memory);
        break;
    case PLAN_BIND_NEW:
        e->uses_globals = true;
        emit_add(e, "dag_bind_new(task, %d, g->%s);\n", flow, bind->shape->name);
        break;
    case PLAN_BIND_NEW_TILE:
        e->uses_globals = true;
        emit_add(e, "dag_bind_new(task, %d, &(dag_shape){g->%s->mb, g->%s->nb, "
                 "dag_precision_size(g->%s->prec)});\n", flow, bind->shape->name,
                 bind->shape->name, bind->shape->name);
        break;
    case PLAN_BIND_NULL: emit_add(e, "dag_bind_null(task, %d);\n", flow); break;
    case PLAN_BIND_NO_SHAPE:
        e->uses_globals = true;
        emit_add(e, "dag_graph_error(g, task->cls, dag_task_locals(task), %d,\n", bind->line);
        emit_line(e, "                \"flow %s is stored nowhere and has no [type] to say its "
                  "shape\");", bind->flow->name);
        break;
    }
}

static void emit_bind(emitter *e, const plan_class *cls)
{
    emit_fn_begin(e, cls);
    for (size_t i = 0; i < cls->in.n_binds; i++) {
        const plan_bind *bind = &cls->in.binds[i];
        e->lead = bind->chained ? "else " : "";
        emit_nest(e, &bind->nest, bind->nest.n, bind->kind == PLAN_BIND_NO_SHAPE, leaf_bind,
                  bind);
    }
    emit_fn_end(e, EMIT_FROM_TASK, cls->n_locals, OF_TASK, "void", e->name, cls->name, "bind");
}

static void leaf_store(emitter *e, const void *arg)
{
    static const char *const regions[8] = {
        [DAG_REGION_LOWER_STRICT] = "LOWER_STRICT", [DAG_REGION_LOWER] = "LOWER",
        [DAG_REGION_UPPER_STRICT] = "UPPER_STRICT", [DAG_REGION_UPPER] = "UPPER",
        [DAG_REGION_FULL] = "FULL",
    };
    const plan_store *store = arg;
    emit_open(e, "dag_store");
    emit_slot(e, store->flow->index, store->place, store->index, store->n_index);
    emit_add(e, ", DAG_REGION_%s);\n", regions[store->region]);
}

static void emit_stores(emitter *e, const plan_class *cls)
{
    emit_fn_begin(e, cls);
    for (size_t i = 0; i < cls->out.n_stores; i++)
        emit_nest(e, &cls->out.stores[i].nest, cls->out.stores[i].nest.n, false, leaf_store,
                  &cls->out.stores[i]);
    emit_fn_end(e, EMIT_FROM_TASK, cls->n_locals, OF_TASK, "void", e->name, cls->name, "stores");
}

void emit_class_functions(emitter *e, const plan_class *cls)
{
    emit_member(e, cls);
    emit_rank(e, cls);
    if (cls->priority)
        emit_value(e, cls, cls->priority, "int64_t", "priority");
    if (cls->in.waits)
        emit_inputs(e, cls);
    if (cls->in.n_binds)
        emit_bind(e, cls);
    if (cls->out.n_stores)
        emit_stores(e, cls);
    if (cls->out.n_edges)
        emit_successors(e, cls);
    if (cls->in.receives)
        emit_sources(e, cls);
    emit_count(e, cls);
    emit_each(e, cls);
    if (cls->start.some)
        emit_start(e, cls);
    for (size_t i = 0; i < cls->n_bodies; i++) {
        char what[32];
        snprintf(what, sizeof what, "evaluate%d", cls->bodies[i].number);
        if (cls->bodies[i].evaluate)
            emit_value(e, cls, cls->bodies[i].evaluate, "int", what);
        snprintf(what, sizeof what, "device%d", cls->bodies[i].number);
        if (cls->bodies[i].device_index)
            emit_value(e, cls, cls->bodies[i].device_index, "int64_t", what);
        snprintf(what, sizeof what, "batch%d", cls->bodies[i].number);
        if (cls->bodies[i].batch)
            emit_value(e, cls, cls->bodies[i].batch, "int", what);
    }
}

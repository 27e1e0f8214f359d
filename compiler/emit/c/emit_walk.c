/* The functions of a class that walk: over its space, and over successors. */
#include "emit_impl.h"

#define FN "static %s %s_%s_%s("

/* (int32_t[n]){the parameters that the loops define, 0 for the rest}; levels behind the number `levels`
 * of the nest are no loops. */
static void emit_instance(emitter *e, const plan_class *cls, const plan_nest *nest, size_t levels)
{
    size_t n = cls->n_locals ? cls->n_locals : 1;
    emit_add(e, "(int32_t[%zu]){", n);
    for (size_t i = 0; i < cls->n_params; i++) {
        bool counted = false;
        for (size_t k = levels; nest && k < nest->n; k++)
            counted |= nest->levels[k].var == &cls->locals[i];
        text_puts(&e->body, i ? ", " : "");
        if (counted)
            text_putc(&e->body, '0');
        else
            emit_var(e, &cls->locals[i]);
    }
    emit_add(e, "%s}", cls->n_params ? "" : "0");
}

/* The collection that says where tasks run, as an argument. */
static void emit_place(emitter *e, const plan_class *cls)
{
    emit_collection(e, cls->place.of);
    text_puts(&e->body, ", ");
}

/* ---- count ------------------------------------------------------------------------------- */

typedef struct counted {
    const plan_class *cls;
    const plan_case *part;
} counted;

static void leaf_count_instance(emitter *e, const void *arg)
{
    const plan_class *cls = ((const counted *)arg)->cls;
    emit_open(e, "total += dag_is_local(g, &%s_%s_class, ", e->name, cls->name);
    emit_place(e, cls);
    emit_instance(e, cls, NULL, 0);
    text_puts(&e->body, ");\n");
}

/* Nothing is walked at all: the leaf is the result. */
static bool counted_at_once(const plan_class *cls)
{
    const plan_case *only = cls->cases.items;
    return cls->cases.n == 1 && only->tail > 0 && only->count.n == only->tail;
}

static void leaf_count_tail(emitter *e, const void *arg)
{
    const counted *x = arg;
    const plan_class *cls = x->cls;
    const plan_nest *nest = &x->part->count;
    size_t n = x->part->tail;
    const plan_level *tail = &nest->levels[nest->n - n];
    emit_open(e, "%s dag_count_local(g, &%s_%s_class, ",
             counted_at_once(cls) ? "return" : "total +=", e->name, cls->name);
    emit_place(e, cls);
    emit_instance(e, cls, nest, nest->n - n);
    emit_add(e, ", %zu, (int[]){", n);
    for (size_t i = 0; i < n; i++)
        emit_add(e, "%s%d", i ? ", " : "", tail[i].var->local);
    text_puts(&e->body, "},\n");
    for (size_t i = 0; i < n; i++) {
        emit_open(e, i ? "                  " : "    (dag_range[]){");
        emit_range(e, &tail[i]);
        text_puts(&e->body, i + 1 < n ? ",\n" : "});\n");
    }
}

static void emit_affine(emitter *e, const plan_affine *affine)
{
    text_puts(&e->body, "(dag_affine){");
    emit_expr(e, affine->base, EMIT_PREC_COND);
    emit_add(e, ", %lld}", (long long)affine->slope);
}

static void leaf_count_pair(emitter *e, const void *arg)
{
    const counted *x = arg;
    const plan_class *cls = x->cls;
    const plan_nest *nest = &x->part->count;
    const plan_level *outer = &nest->levels[nest->n - 2], *inner = outer + 1;
    emit_open(e, "%s dag_count_pair(g, &%s_%s_class, ",
             counted_at_once(cls) ? "return" : "total +=", e->name, cls->name);
    emit_place(e, cls);
    emit_instance(e, cls, nest, nest->n - 2);
    emit_add(e, ", (int[]){%d, %d},\n", outer->var->local, inner->var->local);
    e->indent++;
    emit_begin(e);
    emit_range(e, outer);
    text_puts(&e->body, ", ");
    emit_affine(e, &x->part->lo);
    text_puts(&e->body, ", ");
    emit_affine(e, &x->part->hi);
    text_puts(&e->body, ",\n");
    emit_begin(e);
    emit_everywhere(e, inner);
    emit_add(e, ", %d);\n", inner->check_lo || inner->check_hi ? inner->line : 0);
    e->indent--;
}

static void count_case(emitter *e, const plan_class *cls, const plan_case *part)
{
    counted x = {cls, part};
    emit_nest(e, &part->count, part->count.n - part->tail, false,
              part->pair   ? leaf_count_pair
              : part->tail ? leaf_count_tail
                           : leaf_count_instance,
              &x);
}

void emit_count(emitter *e, const plan_class *cls)
{
    emit_fn_begin(e, cls);
    if (!cls->countable) {
        emit_line(e, "return -1; /* a [dynamic] guard decides which instances there are */");
    } else {
        if (!counted_at_once(cls))
            emit_line(e, "int64_t total = 0;");
        for (size_t i = 0; i < cls->cases.n; i++)
            count_case(e, cls, &cls->cases.items[i]);
        if (!counted_at_once(cls))
            emit_line(e, "return total;");
    }
    emit_fn_end(e, EMIT_FROM_NONE, 0, FN "const void *globals)", "int64_t", e->name, cls->name,
                "count");
}

/* ---- start ------------------------------------------------------------------------------- */

static void leaf_start(emitter *e, const void *arg)
{
    const plan_class *cls = arg;
    emit_open(e, "if (dag_start_local(cursor, g, &%s_%s_class, ", e->name, cls->name);
    emit_place(e, cls);
    emit_instance(e, cls, NULL, 0);
    emit_add(e, ", %d))\n", cls->start.asks_inputs);
    emit_open(e, "    return dag_pause(cursor, %d, (int64_t[]){", e->n_loops);
    for (int i = 0; i < e->n_loops; i++)
        if (e->loop_vars[i])
            emit_add(e, "%s%s", i ? ", " : "", e->loop_vars[i]->c_name);
        else
            emit_add(e, "%d", e->number);
    text_puts(&e->body, e->n_loops ? "});\n" : "0});\n");
}

/* Where there are several cases, the number of the case stands first in what the cursor keeps. */
void emit_start(emitter *e, const plan_class *cls)
{
    emit_fn_begin(e, cls);
    e->resumes = true;
    if (cls->cases.n > 1)
        emit_line(e, "const int64_t dag_case = dag_resume(cursor, 0, 0);");
    for (size_t i = 0; i < cls->cases.n; i++) {
        const plan_case *part = &cls->cases.items[i];
        if (!part->starts)
            continue;
        e->n_loops = 0;
        if (cls->cases.n > 1) {
            e->number = (int)i;
            e->loop_vars[e->n_loops++] = NULL;
            emit_line(e, "if (dag_case <= %zu) {", i);
            e->indent++;
        }
        emit_nest(e, &part->start, part->start.n, true, leaf_start, cls);
        if (cls->cases.n > 1) {
            e->indent--;
            emit_line(e, "}");
        }
    }
    emit_line(e, "return 0;");
    emit_fn_end(e, EMIT_FROM_NONE, 0, FN "dag_cursor *cursor, const void *globals)", "int",
                e->name, cls->name, "start");
}

/* ---- each -------------------------------------------------------------------------------- */

static void leaf_each(emitter *e, const void *arg)
{
    const plan_class *cls = arg;
    emit_open(e, "if (dag_each_instance(v, g, &%s_%s_class, ", e->name, cls->name);
    emit_instance(e, cls, NULL, 0);
    text_puts(&e->body, ")) return;\n");
    e->uses_globals = true;
}

void emit_each(emitter *e, const plan_class *cls)
{
    emit_fn_begin(e, cls);
    e->whole = true;
    emit_nest(e, &cls->space, cls->space.n, false, leaf_each, cls);
    emit_fn_end(e, EMIT_FROM_NONE, 0, FN "dag_each *v, const void *globals)", "void", e->name,
                cls->name, "each");
}

/* ---- successors -------------------------------------------------------------------------- */

static void emit_args(emitter *e, size_t n, const plan_expr *const *args, const bool *narrow)
{
    for (size_t i = 0; i < n; i++) {
        text_puts(&e->body, i ? ", " : "");
        if (narrow[i]) {
            text_puts(&e->body, "dag_narrow(");
            emit_expr(e, args[i], EMIT_PREC_COND);
            text_putc(&e->body, ')');
        } else {
            emit_expr(e, args[i], EMIT_PREC_COND);
        }
    }
    text_puts(&e->body, n ? "" : "0");
}

static void leaf_edge(emitter *e, const void *arg)
{
    const plan_edge *edge = arg;
    const plan_class *target = edge->target;
    for (int i = 0; i + 1 < DAG_BCAST_LEVELS && edge->bcast >> 4 * (i + 1); i++) {
        emit_open(e, "v->group[%d] = ", i);
        if (edge->group[i]) {
            text_puts(&e->body, "(int32_t)");
            emit_expr(e, edge->group[i], EMIT_PREC_ATOM);
        } else {
            text_puts(&e->body, "DAG_BCAST_NODE");
        }
        text_puts(&e->body, ";\n");
    }
    if (edge->space_test) {
        e->uses_globals = true;
        emit_open(e, "int32_t p[%zu] = {", target->n_locals ? target->n_locals : 1);
        emit_args(e, target->n_params, edge->args, edge->narrow);
        text_puts(&e->body, "};\n");
        emit_line(e, "if (%s_%s_class.locals(g, p))", e->name, target->name);
        emit_line(e, "    dag_visit_edge(v, &%s_%s_edges[%d], p);", e->name, e->cls->name,
                  edge->index);
        return;
    }
    emit_open(e, "dag_visit_edge(v, &%s_%s_edges[%d], (int32_t[]){", e->name, e->cls->name,
             edge->index);
    emit_args(e, target->n_params, edge->args, edge->narrow);
    text_puts(&e->body, "});\n");
}

static void emit_edge(emitter *e, const plan_edge *edge)
{
    bool block = edge->space_test || edge->bcast >> 4, braces = block || edge->nest.n > 0;
    if (edge->bit >= 0) {
        emit_open(e, "if (");
        emit_add(e, edge->bit_negated ? "!(v->dynamic >> %d & 1)" : "v->dynamic >> %d & 1",
                 edge->bit);
        text_puts(&e->body, braces ? ") {\n" : ")\n");
        e->indent++;
    }
    emit_nest(e, &edge->nest, edge->nest.n, block, leaf_edge, edge);
    if (edge->bit >= 0) {
        e->indent--;
        if (braces)
            emit_line(e, "}");
    }
}

static void emit_bits(emitter *e, const plan_class *cls)
{
    if (cls->out.n_bits == 0)
        return;
    emit_line(e, "if (v->at_producer) {");
    e->indent++;
    e->task = "v->task";
    for (size_t i = 0; i < cls->out.n_bits; i++) {
        emit_open(e, "v->dynamic |= (uint64_t)(");
        emit_expr(e, cls->out.bits[i].cond, EMIT_PREC_SUM);
        emit_add(e, " != 0) << %zu;\n", i);
    }
    e->task = NULL;
    e->indent--;
    emit_line(e, "}");
}

void emit_successors(emitter *e, const plan_class *cls)
{
    emit_fn_begin(e, cls);
    e->locals = "l";
    emit_bits(e, cls);
    for (size_t f = 0; f < cls->n_flows; f++) {
        size_t n = 0;
        for (size_t i = 0; i < cls->out.n_edges; i++)
            n += cls->out.edges[i].source == &cls->flows[f];
        if (n == 0)
            continue;
        emit_line(e, "if (v->mask & 1u << %zu) { /* %s */", f, cls->flows[f].name);
        e->indent++;
        for (size_t i = 0; i < cls->out.n_edges; i++)
            if (cls->out.edges[i].source == &cls->flows[f])
                emit_edge(e, &cls->out.edges[i]);
        e->indent--;
        emit_line(e, "}");
    }
    emit_fn_end(e, EMIT_FROM_ARRAY, cls->n_locals,
                FN "dag_visit *v, const void *globals, const int32_t *l)", "void", e->name,
                cls->name, "successors");
}

/* ---- sources ----------------------------------------------------------------------------- */

typedef struct source_of {
    const plan_flow *flow;
    const plan_source *source;
} source_of;

static void leaf_source(emitter *e, const void *arg)
{
    const source_of *x = arg;
    const plan_source *source = x->source;
    emit_open(e, "dag_source_edge(v, %d /* %s */, &%s_%s_class, %d, %d, %d, (int32_t[]){",
             x->flow->index, x->flow->name, e->name, source->cls->name, source->flow->index,
             source->line, source->dynamic);
    emit_args(e, source->cls->n_params, source->args, source->narrow);
    text_puts(&e->body, "});\n");
}

void emit_sources(emitter *e, const plan_class *cls)
{
    emit_fn_begin(e, cls);
    e->locals = "l";
    for (size_t f = 0; f < cls->n_flows; f++) {
        const plan_flow *flow = &cls->flows[f];
        for (size_t i = 0; i < flow->n_sources; i++) {
            source_of x = {flow, &flow->sources[i]};
            emit_nest(e, &x.source->nest, x.source->nest.n, false, leaf_source, &x);
        }
    }
    emit_fn_end(e, EMIT_FROM_ARRAY, cls->n_locals,
                FN "dag_sources *v, const void *globals, const int32_t *l)", "void", e->name,
                cls->name, "sources");
}

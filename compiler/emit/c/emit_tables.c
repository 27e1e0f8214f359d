/* Constant tables, the program, and its constructors. */
#include "emit_impl.h"

#include <string.h>

/* ---- classes ----------------------------------------------------------------------------- */

static const char *access_of(const plan_flow *flow)
{
    static const char *const access[] = {
        [DAG_READ] = "DAG_READ", [DAG_WRITE] = "DAG_WRITE", [DAG_RW] = "DAG_RW",
        [DAG_CTL] = "DAG_CTL",
    };
    return access[flow->access];
}

static void emit_edge_table(emitter *e, const plan_class *cls)
{
    static const char *const bcast[] = {
        [DAG_BCAST_AUTO] = "AUTO", [DAG_BCAST_BINOMIAL] = "BINOMIAL",
        [DAG_BCAST_CHAIN] = "CHAIN", [DAG_BCAST_RING] = "RING",
        [DAG_BCAST_SCATTER] = "SCATTER", [DAG_BCAST_FLAT] = "FLAT",
        [DAG_BCAST_TREES] = "TREES",
    };
    if (cls->out.n_edges == 0)
        return;
    emit_out(e, "static const dag_edge %s_%s_edges[] = {\n", e->name, cls->name);
    for (size_t i = 0; i < cls->out.n_edges; i++) {
        const plan_edge *x = &cls->out.edges[i];
        emit_out(e, "    {&%s_%s_class, %d, %d, %d, DAG_BCAST_%s", e->name, x->target->name,
                 x->source->index, x->target_flow->index, (int)x->region, bcast[x->bcast & 15]);
        for (int level = 1; x->bcast >> 4 * level; level++)
            emit_out(e, " | DAG_BCAST_WITHIN(%d, DAG_BCAST_%s)", level, bcast[x->bcast >> 4 * level & 15]);
        emit_out(e, ", %d, %d}, /* %s -> %s %s */\n", x->bit + 1, x->line, x->source->name,
                 x->target_flow->name, x->target->name);
    }
    emit_out(e, "};\n");
}

/* A member of dag_body with one function per precision. */
static void emit_body_fns(emitter *e, const plan_class *cls, const plan_body *body,
                          const char *member, const char *what)
{
    const char *lead = strcmp(what, "body") == 0 ? "{" : ", ";
    if (emit_has_precisions(e))
        emit_out(e, "%s%s = {%s_BODIES(%s_%s_%s%d_)}", lead, member, e->name, e->name, cls->name,
                 what, body->number);
    else
        emit_out(e, "%s%s = {%s_%s_%s%d}", lead, member, e->name, cls->name, what, body->number);
}

static void emit_small_tables(emitter *e, const plan_class *cls)
{
    const char *name = e->name;
    if (cls->n_locals) {
        emit_out(e, "static const char *const %s_%s_local_names[] = {", name, cls->name);
        for (size_t i = 0; i < cls->n_locals; i++)
            emit_out(e, "%s\"%s\"", i ? ", " : "", cls->locals[i].name);
        emit_out(e, "};\n");
    }
    if (cls->n_flows) {
        emit_out(e, "static const dag_flow %s_%s_flows[] = {", name, cls->name);
        for (size_t i = 0; i < cls->n_flows; i++)
            emit_out(e, "%s{\"%s\", %s, %d}", i ? ", " : "", cls->flows[i].name,
                     access_of(&cls->flows[i]), cls->flows[i].line);
        emit_out(e, "};\n");
    }
    emit_out(e, "static const dag_body %s_%s_bodies[] = {", name, cls->name);
    for (size_t i = 0; i < cls->n_bodies; i++) {
        const plan_body *body = &cls->bodies[i];
        emit_out(e, i ? ",\n    " : "");
        emit_body_fns(e, cls, body, ".fn", "body");
        if (body->evaluate)
            emit_out(e, ", .evaluate = %s_%s_evaluate%d", name, cls->name, body->number);
        else if (body->evaluate_fn)
            emit_out(e, ", .evaluate = %s", body->evaluate_fn);
        if (body->device != DAG_DEVICE_CPU)
            emit_out(e, ", .device = DAG_DEVICE_%s", plan_device_name(body->device));
        if (body->device_index)
            emit_out(e, ", .device_index = %s_%s_device%d", name, cls->name, body->number);
        if (body->batch)
            emit_out(e, ", .batch = %s_%s_batch%d", name, cls->name, body->number);
        if (body->workspace)
            emit_body_fns(e, cls, body, ".workspace", "workspace");
        emit_out(e, "}");
    }
    emit_out(e, "};\n");
}

static void emit_field(emitter *e, const plan_class *cls, const char *what, bool present)
{
    if (present)
        emit_item(e, ".%s = %s_%s_%s,", what, e->name, cls->name, what);
}

static void emit_class(emitter *e, const plan_class *cls)
{
    const char *name = e->name;
    emit_out(e, "static const dag_class %s_%s_class = {\n   ", name, cls->name);
    emit_item(e, ".name = \"%s\", .id = %d, .line = %d,", cls->name, cls->index, cls->line);
    emit_item(e, ".task_bytes = sizeof(%s_%s_task),", name, cls->name);
    emit_item(e, ".nparams = %zu,", cls->n_params);
    emit_item(e, ".nlocals = %zu,", cls->n_locals);
    emit_item(e, ".ndata = %zu,", cls->n_data);
    emit_item(e, ".nflows = %zu,", cls->n_flows);
    emit_item(e, ".nbodies = %zu,", cls->n_bodies);
    if (cls->high_priority)
        emit_item(e, ".high_priority = 1,");
    if (cls->unrecorded)
        emit_item(e, ".unrecorded = 1,");
    if (cls->out.ctl_blind)
        emit_item(e, ".ctl_blind = 0x%x,", (unsigned)cls->out.ctl_blind);
    emit_field(e, cls, "local_names", cls->n_locals > 0);
    emit_field(e, cls, "flows", cls->n_flows > 0);
    emit_field(e, cls, "bodies", true);
    emit_field(e, cls, "locals", true);
    emit_field(e, cls, "rank", true);
    emit_field(e, cls, "priority", cls->priority != NULL);
    emit_field(e, cls, "inputs", cls->in.waits);
    emit_field(e, cls, "bind", cls->in.n_binds > 0);
    emit_field(e, cls, "stores", cls->out.n_stores > 0);
    emit_field(e, cls, "successors", cls->out.n_edges > 0);
    emit_field(e, cls, "count", true);
    emit_field(e, cls, "start", cls->start.some);
    emit_field(e, cls, "sources", cls->in.receives);
    emit_field(e, cls, "each", true);
    emit_out(e, "\n};\n");
}

void emit_class_tables(emitter *e, const plan_class *cls)
{
    emit_out(e, "\n");
    emit_small_tables(e, cls);
    emit_class(e, cls);
}

void emit_edge_tables(emitter *e)
{
    emit_out(e, "\n");
    for (size_t i = 0; i < e->p->n_classes; i++)
        emit_edge_table(e, &e->p->classes[i]);
}

/* ---- program ----------------------------------------------------------------------------- */

void emit_program(emitter *e)
{
    static const char *const modes[] = {
        [DAG_MEM_DEFERRED] = "DAG_MEM_DEFERRED", [DAG_MEM_READ] = "DAG_MEM_READ",
        [DAG_MEM_WRITE] = "DAG_MEM_WRITE", [DAG_MEM_INPLACE] = "DAG_MEM_INPLACE",
    };
    const plan *p = e->p;
    if (p->n_classes) {
        emit_out(e, "\nstatic const dag_class *const %s_classes[] = {\n   ", e->name);
        for (size_t i = 0; i < p->n_classes; i++)
            emit_item(e, "&%s_%s_class,", e->name, p->classes[i].name);
        emit_out(e, "\n};\n");
    }
    if (p->n_slots) {
        emit_out(e, "static const dag_slot %s_slots[] = {", e->name);
        for (size_t i = 0; i < p->n_slots; i++)
            emit_out(e, "%s{\"%s\", %s}", i ? ", " : "", p->slots[i]->name,
                     modes[p->slots[i]->memory]);
        emit_out(e, "};\n");
    }
    text file = {0};
    text_put_quoted(&file, p->file);
    emit_out(e, "static const dag_program %s_program = {\n   ", e->name);
    emit_item(e, ".abi = DAG_JDF_ABI, .name = \"%s\", .file = %s,", e->name, text_str(&file));
    text_free(&file);
    emit_item(e, ".hash = UINT64_C(0x%016llx),", (unsigned long long)e->o->hash);
    emit_item(e, ".globals_bytes = sizeof(%s_globals),", e->name);
    if (p->n_classes)
        emit_item(e, ".nclasses = %zu, .classes = %s_classes,", p->n_classes, e->name);
    if (p->n_slots)
        emit_item(e, ".nslots = %zu, .slots = %s_slots,", p->n_slots, e->name);
    if (p->dynamic)
        emit_item(e, ".dynamic = 1,");
    if (p->aliased)
        emit_item(e, ".aliased = 1,");
    emit_out(e, "\n};\n");
}

/* ---- constructors ------------------------------------------------------------------------ */

static void emit_members(emitter *e, const plan_global *g)
{
    for (size_t i = 0; i < g->n_members; i++) {
        const plan_member *m = g->members[i];
        if (m->access[0] == '-')
            emit_line(e, "g->%s = g->%s ? (int64_t)g->%s%s : 0;", m->field, g->name, g->name,
                      m->access);
        else
            emit_line(e, "g->%s = (int64_t)g->%s%s;", m->field, g->name, m->access);
    }
}

/* The dag_precision of a C type, or -1. */
static const char *precision_of(const emitter *e, const char *elem)
{
    static const char *const types[][2] = {
        {"float", "DAG_S"}, {"double", "DAG_D"}, {"dag_scomplex", "DAG_C"},
        {"float _Complex", "DAG_C"}, {"float complex", "DAG_C"}, {"dag_dcomplex", "DAG_Z"},
        {"double _Complex", "DAG_Z"}, {"double complex", "DAG_Z"}, {"elem_t", "(int)prec"},
    };
    if (elem == NULL)
        return emit_has_precisions(e) ? "(int)prec" : "-1";
    for (size_t i = 0; i < UTIL_COUNT(types); i++)
        if (strcmp(types[i][0], elem) == 0)
            return types[i][1];
    return "-1";
}

static void emit_global_value(emitter *e, const plan_global *g)
{
    if (g->init) {
        emit_open(e, "g->%s = ", g->name);
        emit_expr(e, g->init, EMIT_PREC_COND);
        text_puts(&e->body, ";\n");
    } else if (!g->hidden) {
        emit_line(e, "g->%s = %s;", g->name, g->arg);
    }
    if (g->matrix) {
        emit_line(e, "dag_pool_matrix(pool, %d, g->%s, %s);", g->slot, g->name,
                  precision_of(e, g->elem));
    } else if (g->slot >= 0) {
        emit_open(e, "dag_pool_collection(pool, %d, ", g->slot);
        emit_collection(e, g);
        text_puts(&e->body, ");\n");
    } else if (g->storage == PLAN_STORE_INT) {
        emit_line(e, "dag_pool_scalar(pool, g->%s);", g->name);
    } else if (g->number) {
        emit_line(e, "dag_pool_bytes(pool, &g->%s, sizeof g->%s);", g->name, g->name);
    }
    emit_members(e, g);
}

static void emit_requires(emitter *e)
{
    for (size_t i = 0; i < e->p->n_requires; i++) {
        const plan_require *r = &e->p->requires[i];
        text quoted = {0};
        text_put_quoted(&quoted, r->text);
        emit_open(e, "dag_pool_require(pool, ");
        text_puts(&e->body, r->fits ? "dag_fits(" : "");
        if (r->fits) {
            emit_expr(e, r->expr, EMIT_PREC_COND);
            text_puts(&e->body, "),\n");
        } else {
            text_puts(&e->body, "(");
            emit_expr(e, r->expr, EMIT_PREC_COND);
            text_puts(&e->body, ") != 0,\n");
        }
        emit_line(e, "                 %s);", text_str(&quoted));
        text_free(&quoted);
    }
}

static void emit_rounds(emitter *e)
{
    if (!e->p->rounds)
        return;
    emit_open(e, "dag_pool_rounds(pool, ");
    emit_expr(e, e->p->rounds, EMIT_PREC_COND);
    text_puts(&e->body, ");\n");
}

/* Parameters of the common constructor: values of type elem_t come as a union. */
static void emit_make_head(emitter *e)
{
    emit_out(e, "\nstatic dag_taskpool *%s_make(dag_context *context, dag_precision prec", e->name);
    for (size_t i = 0; i < e->p->n_globals; i++) {
        const plan_global *g = &e->p->globals[i];
        if (g->hidden)
            continue;
        const char *type = g->c_type;
        if (g->storage == PLAN_STORE_ELEM)
            type = "dag_any_elem";
        else if (g->storage == PLAN_STORE_REAL)
            type = "dag_any_real";
        else if (g->generic)
            type = g->generic;
        emit_out(e, ", %s%s%s", type, type[strlen(type) - 1] == '*' ? "" : " ", g->arg);
    }
    emit_out(e, ")\n{\n");
}

static void emit_make(emitter *e)
{
    emit_fn_begin(e, NULL);
    emit_line(e, "dag_taskpool *pool = dag_pool_new(context, &%s_program, prec);", e->name);
    emit_line(e, "if (pool == NULL)");
    emit_line(e, "    return NULL;");
    emit_line(e, "%s_globals *g = dag_pool_globals(pool);", e->name);
    for (size_t i = 0; i < e->p->n_globals; i++)
        emit_global_value(e, &e->p->globals[i]);
    emit_requires(e);
    emit_rounds(e);
    if (!e->uses_globals && e->p->n_globals == 0)
        emit_line(e, "(void)g;");
    emit_line(e, "return dag_pool_ready(pool);");
    emit_make_head(e);
    text_add(e->out, text_str(&e->body), e->body.len);
    emit_out(e, "}\n");
}

static void emit_constructor(emitter *e, char prec)
{
    static const char letters[] = "sdcz";
    text head = {0};
    emit_prototype(e->p, prec, &head);
    emit_out(e, "%s\n{\n    return %s_make(context, DAG_%c", text_str(&head), e->name,
             prec ? "SDCZ"[strchr(letters, prec) - letters] : 'S');
    text_free(&head);
    for (size_t i = 0; i < e->p->n_globals; i++) {
        const plan_global *g = &e->p->globals[i];
        if (g->hidden)
            continue;
        if (g->storage == PLAN_STORE_ELEM)
            emit_out(e, ", (dag_any_elem){.%c = %s}", prec, g->arg);
        else if (g->storage == PLAN_STORE_REAL)
            emit_out(e, ", (dag_any_real){.%c = %s}", prec, g->arg);
        else
            emit_out(e, ", %s", g->arg);
    }
    emit_out(e, ");\n}\n");
}

void emit_constructors(emitter *e)
{
    emit_make(e);
    emit_out(e, "\n");
    if (!emit_has_precisions(e))
        emit_constructor(e, '\0');
    for (const char *prec = e->p->precisions; *prec; prec++)
        emit_constructor(e, *prec);
}

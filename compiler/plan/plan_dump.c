/* The plan as text. */
#include "plan_impl.h"

static void dump_expr(const plan_expr *x, text *out);

/* An expression behind a word. */
static void dump_after(const char *lead, const plan_expr *x, text *out)
{
    text_puts(out, lead);
    dump_expr(x, out);
}

static void dump_list(const plan_expr *const *list, size_t n, text *out)
{
    text_putc(out, '(');
    for (size_t i = 0; i < n; i++)
        dump_after(i ? ", " : "", list[i], out);
    text_putc(out, ')');
}

/* Every operation in parentheses: the dump shows the structure. */
static void dump_expr(const plan_expr *x, text *out)
{
    switch (x->kind) {
    case PLAN_INT: text_printf(out, "%lld", (long long)x->u.integer); break;
    case PLAN_VAR: text_puts(out, x->u.var->c_name); break;
    case PLAN_GLOBAL: text_puts(out, x->u.global->name); break;
    case PLAN_MEMBER: text_puts(out, x->u.member->text); break;
    case PLAN_UNARY:
        dump_after(x->u.op.op == AST_OP_NOT ? "(! " : "(- ", x->u.op.a, out);
        text_putc(out, ')');
        break;
    case PLAN_BINARY:
        text_putc(out, '(');
        dump_expr(x->u.op.a, out);
        text_printf(out, " %s ", ast_op_text(x->u.op.op));
        dump_expr(x->u.op.b, out);
        text_putc(out, ')');
        break;
    case PLAN_COND:
        text_putc(out, '(');
        dump_expr(x->u.cond.test, out);
        dump_after(" ? ", x->u.cond.yes, out);
        dump_after(" : ", x->u.cond.no, out);
        text_putc(out, ')');
        break;
    case PLAN_CODE:
        text_puts(out, x->u.call.code->fn);
        dump_list(x->u.call.args, x->u.call.code->n_vars, out);
        break;
    }
}

static void dump_filter(const plan_level *level, const plan_filter *filter, text *out)
{
    text_printf(out, " where %s[%d] is ", level->place->name, filter->dim);
    dump_expr(filter->factor, out);
    text_printf(out, " %s + ", level->var->c_name);
    dump_expr(filter->base, out);
    if (filter->among)
        dump_after(" among ", filter->among, out);
    if (filter->wrap)
        dump_after(" wrap ", filter->wrap, out);
}

static void dump_level(const plan_level *level, text *out)
{
    static const char *const walks[] = {"", " owned", "", " visit", " visit-owned"};
    switch (level->kind) {
    case PLAN_TEST:
        dump_after(" if ", level->expr, out);
        return;
    case PLAN_LET:
        text_printf(out, " let %s = ", level->var->c_name);
        dump_expr(level->expr, out);
        return;
    case PLAN_FOUND:
        text_printf(out, " found %s in ", level->var->c_name);
        dump_expr(level->expr, out);
        return;
    case PLAN_LOOP: break;
    }
    text_printf(out, " for %s = ", level->var->c_name);
    dump_expr(level->lo, out);
    dump_after(" .. ", level->hi, out);
    if (level->step)
        dump_after(" .. ", level->step, out);
    for (size_t i = 0; level->walk == PLAN_WALK_WHERE && i < level->n_filters; i++)
        dump_filter(level, &level->filters[i], out);
    if (level->walk != PLAN_WALK_ALL && level->walk != PLAN_WALK_WHERE)
        text_printf(out, "%s %s[%d%+lld]", walks[level->walk], level->place->name, level->dim,
                    (long long)level->shift);
    if (level->also)
        text_printf(out, " and [%d%+lld]", level->also, (long long)level->also_shift);
    text_puts(out, level->check_lo || level->check_hi ? " checked" : "");
}

static void dump_nest(const char *what, const plan_nest *nest, text *out)
{
    text_printf(out, "  %s:", what);
    for (size_t i = 0; i < nest->n; i++)
        dump_level(&nest->levels[i], out);
    text_putc(out, '\n');
}

static void dump_flow(const plan_flow *flow, text *out)
{
    text_printf(out, "  flow %d %s %s%s%s%s: waits ", flow->index,
                ast_flow_kind_text(flow->sema->kind), flow->name, flow->elem ? " of " : "",
                flow->elem ? flow->elem : "", flow->proven ? " proven" : "");
    dump_expr(flow->waits, out);
    if (!flow->proven)
        dump_after(" active ", flow->active, out);
    text_putc(out, '\n');
    for (size_t i = 0; i < flow->n_gathers; i++)
        dump_nest("  gather", &flow->gathers[i].nest, out);
}

static void dump_inputs(const plan_class *cls, text *out)
{
    static const char *const kinds[] = {"memory", "new", "new-tile", "new-like", "null",
                                        "no-shape"};
    for (size_t i = 0; i < cls->in.n_binds; i++) {
        const plan_bind *bind = &cls->in.binds[i];
        text_printf(out, "  bind %s %s%s", bind->flow->name, kinds[bind->kind],
                    bind->in_memory ? " in-memory" : "");
        if (bind->place) {
            text_printf(out, " %s", bind->place->name);
            dump_list(bind->index, bind->n_index, out);
        }
        if (bind->shape)
            text_printf(out, " %s", bind->shape->name);
        dump_nest(bind->chained ? "else" : "", &bind->nest, out);
    }
}

static void dump_outputs(const plan_class *cls, text *out)
{
    for (size_t i = 0; i < cls->out.n_bits; i++) {
        text_printf(out, "  bit %zu ", i);
        dump_expr(cls->out.bits[i].cond, out);
        text_putc(out, '\n');
    }
    for (size_t i = 0; i < cls->out.n_edges; i++) {
        const plan_edge *edge = &cls->out.edges[i];
        text_printf(out, "  edge %s -> %s %s", edge->source->name, edge->target_flow->name,
                    edge->target->name);
        dump_list(edge->args, edge->target->n_params, out);
        text_printf(out, " region %d%s", (int)edge->region,
                    edge->space_test ? " if-in-space" : "");
        if (edge->bit >= 0)
            text_printf(out, " bit %s%d", edge->bit_negated ? "!" : "", edge->bit);
        dump_nest("", &edge->nest, out);
    }
    if (cls->out.ctl_blind) {
        text_puts(out, "  control alike for all");
        for (size_t i = 0; i < cls->n_locals; i++)
            if (cls->out.ctl_blind >> i & 1)
                text_printf(out, " %s", cls->locals[i].name);
        text_putc(out, '\n');
    }
    for (size_t i = 0; i < cls->out.n_stores; i++) {
        const plan_store *store = &cls->out.stores[i];
        text_printf(out, "  store %s -> %s", store->flow->name, store->place->name);
        dump_list(store->index, store->n_index, out);
        text_printf(out, " region %d", (int)store->region);
        dump_nest("", &store->nest, out);
    }
}

static void dump_bodies(const plan_class *cls, text *out)
{
    for (size_t i = 0; i < cls->n_bodies; i++) {
        const plan_body *body = &cls->bodies[i];
        if (body->device == DAG_DEVICE_CPU)
            continue;
        text_printf(out, "  body %d %s%s", body->number,
                    plan_device_name(body->device), body->workspace ? " workspace" : "");
        if (body->device_index)
            dump_after(" device ", body->device_index, out);
        if (body->batch)
            dump_after(" batch ", body->batch, out);
        text_putc(out, '\n');
    }
}

static void dump_class(const plan_class *cls, text *out)
{
    text_printf(out, "class %s(", cls->name);
    for (size_t i = 0; i < cls->n_locals; i++)
        text_printf(out, "%s%s", i == 0 ? "" : i == cls->n_params ? "; " : ", ",
                    cls->locals[i].name);
    text_printf(out, ") : %s", cls->place.of->name);
    dump_list(cls->place.index, cls->place.n, out);
    text_printf(out, "%s%s\n", cls->start.enumerates ? " enumerates" : "",
                cls->countable ? "" : " dynamic");
    dump_nest("member", &cls->member, out);
    for (size_t i = 0; i < cls->cases.n; i++) {
        text_printf(out, "  count, last %zu closed", cls->cases.items[i].tail);
        dump_nest("", &cls->cases.items[i].count, out);
    }
    dump_bodies(cls, out);
    for (size_t i = 0; i < cls->cases.n; i++)
        if (cls->cases.items[i].starts)
            dump_nest(cls->start.asks_inputs ? "start asks" : "start",
                      &cls->cases.items[i].start, out);
    if (cls->priority) {
        dump_after("  priority ", cls->priority, out);
        text_putc(out, '\n');
    }
    for (size_t i = 0; i < cls->n_flows; i++)
        dump_flow(&cls->flows[i], out);
    dump_inputs(cls, out);
    dump_outputs(cls, out);
}

void plan_dump(const plan *p, text *out)
{
    static const char *const modes[] = {"deferred", "read", "write", "in-place"};
    text_printf(out, "plan %s%s%s%s%s\n", p->name, p->precisions[0] ? " precisions " : "",
                p->precisions, p->dynamic ? " dynamic" : "", p->aliased ? " aliased" : "");
    for (size_t i = 0; i < p->n_globals; i++) {
        const plan_global *g = &p->globals[i];
        text_printf(out, "global %s%s : %s%s", g->sema->hidden ? "hidden " : "", g->name, g->c_type,
                    g->slot >= 0 ? " memory " : "");
        text_puts(out, g->slot >= 0 ? modes[g->memory] : "");
        for (size_t k = 0; k < g->n_members; k++)
            text_printf(out, " %s", g->members[k]->text);
        if (g->init)
            dump_after(" = ", g->init, out);
        text_putc(out, '\n');
    }
    for (size_t i = 0; i < p->n_requires; i++) {
        dump_after(p->requires[i].fits ? "fits " : "require ", p->requires[i].expr, out);
        text_putc(out, '\n');
    }
    if (p->rounds) {
        dump_after("rounds ", p->rounds, out);
        text_putc(out, '\n');
    }
    for (size_t i = 0; i < p->n_classes; i++)
        dump_class(&p->classes[i], out);
}

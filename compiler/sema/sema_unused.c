/* Bodies and what they mention; what nothing mentions. */
#include "sema_ctx.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* ---- bodies -------------------------------------------------------------------------------- */

static sema_device device_of(const ast_body *b)
{
    const ast_prop *p = ast_find_prop(b->props, "type");
    if (!p || !p->value || p->value->kind != AST_NAME)
        return SEMA_DEV_CPU;
    int device = 0;
    while (device < SEMA_DEV_OTHER && strcasecmp(sema_device_names[device], p->value->u.name) != 0)
        device++;
    return (sema_device)device;
}

/* A word that begins with parsec or PARSEC. */
static bool names_parsec(const sema *s, src_range r)
{
    const char *c = src_text(s->ast->sources, r), *end = c + src_range_len(r);
    for (; end - c >= 6; c++)
        if (strncasecmp(c, "parsec", 6) == 0 && !isalnum((unsigned char)c[-1]) && c[-1] != '_')
            return true;
    return false;
}

static const ast_expr *body_value(const ast_body *b, const char *name)
{
    const ast_prop *p = ast_find_prop(b->props, name);
    return p ? p->value : NULL;
}

static void build_body(sema *s, sema_class *c, const ast_body *b)
{
    sema_scope sc = scope_of_class(s, c);
    sc.flows = true;
    sema_body *x = &c->bodies[c->n_bodies++];
    *x = (sema_body){.ast = b, .device = device_of(b)};
    x->evaluate = body_value(b, "evaluate");
    x->device_index = body_value(b, "device");
    x->workspace = body_value(b, "workspace");
    x->weight = body_value(b, "weight");
    const ast_prop *batch = ast_find_prop(b->props, "batch");
    int64_t v = 1;
    x->batch = batch && (!batch->value || !sema_constant(batch->value, &v) || v) ? batch : NULL;
    sema_check_props(s, &sc, b->props, PLACE_BODY);
    if (batch && x->device == SEMA_DEV_CPU && s->strict)
        sema_report(s, CHECK_MISPLACED_PROPERTY, batch->node.range,
                    "property 'batch' belongs to a body for a device; kernels on cores are not launched");
    if (x->workspace && x->device == SEMA_DEV_CPU)
        sema_report(s, CHECK_MISPLACED_PROPERTY, ast_find_prop(b->props, "workspace")->node.range,
                    "property 'workspace' belongs to a body for a device; a body for cores takes "
                    "memory by dag_task_workspace()");
    x->text = sema_scan_c(s, &sc, b->text);
    if (!s->strict && names_parsec(s, b->text))
        sema_refuse(s, b->keyword, "a body that names PaRSEC's C interface");
}

static void check_cpu_bodies(sema *s, const sema_class *c)
{
    const sema_body *open = NULL;           /* a CPU body that is always usable */
    size_t n_cpu = 0;
    for (size_t i = 0; i < c->n_bodies; i++) {
        if (c->bodies[i].device != SEMA_DEV_CPU)
            continue;
        n_cpu++;
        if (open && !s->ast->has_errors) {
            sema_report(s, CHECK_SEVERAL_CPU_BODIES, c->bodies[i].ast->keyword,
                        "this body of '%s' is never used: one before it always applies; give that "
                        "one an 'evaluate'", c->name);
            diag_note(s->d, open->ast->keyword, "this one");
        }
        if (!c->bodies[i].evaluate)
            open = &c->bodies[i];
    }
    if (n_cpu == 0 && c->n_bodies > 0)
        sema_report(s, CHECK_MISSING_CPU_BODY, c->ast->name.range,
                    "task class '%s' has no body for the CPU", c->name);
}

void sema_check_bodies(sema *s)
{
    EACH_CLASS(s, c) {
        c->bodies = arena_alloc(s->arena, (c->ast->n_bodies + 1) * sizeof(*c->bodies));
        for (size_t i = 0; i < c->ast->n_bodies; i++)
            build_body(s, c, c->ast->bodies[i]);
        check_cpu_bodies(s, c);
    }
    const ast_code *codes[] = {s->ast->prologue, s->ast->epilogue};
    for (size_t i = 0; i < UTIL_COUNT(codes); i++)
        if (!s->strict && codes[i] && names_parsec(s, codes[i]->text))
            sema_refuse(s, codes[i]->node.range, "free C that names PaRSEC's C interface");
}

/* ---- unused things -------------------------------------------------------------------------- */

static void check_unused_globals(sema *s)
{
    sema_scope sc = {.n_globals = s->info->n_globals};
    if (s->ast->epilogue)
        sema_scan_c(s, &sc, s->ast->epilogue->text);
    for (size_t i = 0; i < s->info->n_globals; i++) {
        const sema_global *g = s->info->globals[i];
        if (g->ast && !g->used)
            sema_report(s, CHECK_UNUSED_GLOBAL, g->ast->name.range, "global '%s' is never used",
                        g->name);
    }
}

static void check_unused_indices(sema *s, const ast_indices *list)
{
    for (size_t i = 0; list && i < list->n; i++)
        if (!s->index_used[list->items[i]->node.id])
            sema_report(s, CHECK_UNUSED_INDEX, list->items[i]->name.range,
                        "local index '%s' is never used", list->items[i]->name.text);
}

static void check_unused_in_call(sema *s, const ast_call *call)
{
    if (!call)
        return;
    check_unused_indices(s, call->indices);
    for (size_t i = 0; i < call->n_args; i++)
        check_unused_indices(s, call->args[i]->indices);
}

static bool body_reads(const sema_class *c, const sema_flow *f)
{
    for (size_t i = 0; i < c->n_bodies; i++)
        for (const sema_ref *r = c->bodies[i].text.refs; r && r->kind != SEMA_REF_NONE; r++)
            if (r->kind == SEMA_REF_FLOW && r->u.flow == f)
                return true;
    return false;
}

/* What a search for a flow in inline C looks for. */
typedef struct flow_search {
    const sema_info *info;
    const sema_flow *flow;
    bool found;
} flow_search;

static void search_flow(const ast_expr *e, void *arg)
{
    flow_search *f = arg;
    if (!e)
        return;
    for (const sema_ref *r = sema_captures_of(f->info, e); r && r->kind != SEMA_REF_NONE; r++)
        f->found = f->found || (r->kind == SEMA_REF_FLOW && r->u.flow == f->flow);
    ast_each_child(e, search_flow, f);
}

/* [dynamic] guards read what the body left in a flow. */
static bool guards_read(const sema *s, const sema_class *c, const sema_flow *flow)
{
    flow_search search = {s->info, flow, false};
    EACH_FLOW(c, f)
        EACH_EDGE(f, e)
            search_flow(e->cond, &search);
    return search.found;
}

static bool has_output(const sema_flow *f)
{
    EACH_EDGE(f, e)
        if (e->dir == AST_OUT)
            return true;
    return false;
}

static void check_unused_flow(sema *s, const sema_class *c, const sema_flow *f)
{
    for (size_t i = 0; i < f->ast->n_deps; i++) {
        check_unused_indices(s, f->ast->deps[i]->indices);
        check_unused_in_call(s, f->ast->deps[i]->yes);
        check_unused_in_call(s, f->ast->deps[i]->no);
    }
    if (f->kind == AST_CTL || has_output(f) || body_reads(c, f) ||
        guards_read(s, c, f))
        return;
    if (f->kind == AST_READ)
        sema_report(s, CHECK_UNUSED_FLOW, f->ast->name.range,
                    "no body of '%s' reads flow '%s', and it goes nowhere", c->name, f->name);
}

/* A body that hands its task on may ask elsewhere. */
static bool asks_again(const sema *s)
{
    if (sema_mentions(s->info, &s->info->macros, "dag_task_again"))
        return true;
    EACH_CLASS(s, c)
        for (size_t i = 0; i < c->n_bodies; i++)
            if (sema_mentions(s->info, &c->bodies[i].text, "dag_task_again") ||
                sema_mentions(s->info, &c->bodies[i].text, "dag_task"))
                return true;
    return false;
}

static void check_rounds(sema *s)
{
    if (s->info->rounds && !asks_again(s))
        sema_report(s, CHECK_UNASKED_ROUNDS, s->info->rounds->node.range,
                    "no body calls dag_task_again(dag_task): the graph runs once");
}

void sema_check_unused(sema *s)
{
    check_unused_globals(s);
    check_rounds(s);
    EACH_CLASS(s, c) {
        for (size_t i = 0; i < c->n_locals; i++) {
            const sema_local *l = &c->locals[i];
            check_unused_indices(s, l->ast->value->indices);
            if (l->param < 0 && !l->used && !c->ast->stands_for)
                sema_report(s, CHECK_UNUSED_DEFINITION, l->ast->name.range,
                            "'%s' is never used", l->name);
        }
        EACH_FLOW(c, f)
            check_unused_flow(s, c, f);
    }
}

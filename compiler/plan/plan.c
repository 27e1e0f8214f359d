/* Putting a plan together. */
#include "plan_impl.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- classes ----------------------------------------------------------------------------- */

static void class_locals(builder *b, plan_class *cls)
{
    const sema_class *sema = cls->sema;
    if (sema->n_locals > DAG_MAX_LOCALS)
        plan_error(b, PLAN_CHECK_REFUSED, sema->ast->head,
                   "class '%s' has %zu parameters and derived values, at most %d are possible",
                   cls->name, sema->n_locals, DAG_MAX_LOCALS);
    cls->n_params = sema->n_params;
    size_t n = sema->n_locals > sema->n_params ? sema->n_locals : sema->n_params;
    cls->locals = arena_alloc(b->a, (n + 1) * sizeof *cls->locals);
    for (size_t i = 0; i < sema->n_locals; i++) {
        plan_var *var = plan_local_var(cls, &sema->locals[i]);
        plan_class none = {.n_locals = 0};
        *var = *plan_new_var(b, &none, NULL, sema->locals[i].name);
        var->local = (int)(var - cls->locals);
        var->narrow = sema->locals[i].param >= 0;
    }
    cls->n_locals = sema->n_locals;
}

static void class_flows(builder *b, plan_class *cls)
{
    static const dag_access access[] = {
        [AST_RW] = DAG_RW, [AST_READ] = DAG_READ, [AST_WRITE] = DAG_WRITE, [AST_CTL] = DAG_CTL,
    };
    const sema_class *sema = cls->sema;
    if (sema->n_flows > DAG_MAX_FLOWS)
        plan_error(b, PLAN_CHECK_REFUSED, sema->ast->head,
                   "class '%s' has %zu flows, at most %d are possible", cls->name,
                   sema->n_flows, DAG_MAX_FLOWS);
    cls->n_flows = sema->n_flows;
    cls->flows = arena_alloc(b->a, (cls->n_flows + 1) * sizeof *cls->flows);
    size_t at = 0;
    for (int ctl = 0; ctl <= 1; ctl++) {
        for (size_t i = 0; i < sema->n_flows; i++) {
            if ((sema->flows[i].kind == AST_CTL) != ctl)
                continue;
            plan_flow *flow = &cls->flows[at];
            flow->sema = &sema->flows[i];
            flow->name = flow->sema->name;
            flow->cls = cls;
            flow->index = (int)at++;
            flow->elem = flow->sema->type.elem;
            flow->access = access[flow->sema->kind];
            flow->line = plan_line(b, flow->sema->ast->node.range);
        }
        if (!ctl)
            cls->n_data = at;
    }
}

/* Bodies for devices of the other dialect are written for its own interface. */
static bool has_code(const builder *b, const sema_body *body)
{
    return body->device == SEMA_DEV_CPU || (body->device < SEMA_DEV_NO_CODE && !b->p->aliased);
}

static plan_user *workspace(builder *b, const plan_class *cls, const ast_expr *code)
{
    plan_user *user = arena_alloc(b->a, sizeof *user);
    *user = plan_user_of(b, cls, code->u.code.text, sema_text_of(b->info, code));
    return user;
}

#define NAME_OF(NAME, number, name, file, kernels) [number] = #NAME,
const char *plan_device_name(int device)
{
    static const char *const kinds[] = {DAG_DEVICE_KINDS(NAME_OF)};
    return device == DAG_DEVICE_ANY ? "ANY" : kinds[device];
}
#undef NAME_OF

/* What declares the kernels that bodies for devices call. */
#define KERNELS_OF(NAME, number, name, file, kernels) [number] = kernels,
static void kernel_headers(builder *b)
{
    static const char any[] = "dag/kernels_device.h";
    static const char *const headers[] = {any, DAG_DEVICE_KINDS_BESIDE_HOST(KERNELS_OF)};
    bool wanted[UTIL_COUNT(headers)] = {false};
    for (size_t i = 0; i < b->p->n_classes; i++)
        for (size_t k = 0; k < b->p->classes[i].n_bodies; k++) {
            int device = b->p->classes[i].bodies[k].device;
            if (device != DAG_HOST)
                wanted[device == DAG_DEVICE_ANY || strcmp(headers[device], any) == 0 ? 0 : device] = true;
        }
    for (size_t i = 0; i < UTIL_COUNT(headers); i++)
        if (wanted[i] && headers[i][0])
            b->p->kernels[b->p->n_kernels++] = headers[i];
}
#undef KERNELS_OF

#define NAME_LISTED(NAME, number, name, file, kernels) #NAME ", "

static void class_bodies(builder *b, plan_class *cls)
{
    const sema_class *sema = cls->sema;
    cls->bodies = arena_alloc(b->a, (sema->n_bodies + 1) * sizeof *cls->bodies);
    for (size_t i = 0; i < sema->n_bodies; i++) {
        const sema_body *from = &sema->bodies[i];
        if (!has_code(b, from))
            continue;
        plan_body *body = &cls->bodies[cls->n_bodies];
        body->user = plan_user_of(b, cls, from->ast->text, &from->text);
        body->number = (int)cls->n_bodies++;
        if (from->evaluate && from->evaluate->kind == AST_NAME)
            body->evaluate_fn = from->evaluate->u.name;
        else if (from->evaluate)
            body->evaluate = plan_lower(b, cls, from->evaluate);
        if (from->device == SEMA_DEV_CPU)
            continue;
        body->device = from->device == SEMA_DEV_ANY ? DAG_DEVICE_ANY : (int)from->device;
        if (from->device_index)
            body->device_index = plan_lower(b, cls, from->device_index);
        if (from->batch)
            body->batch = from->batch->value ? plan_lower(b, cls, from->batch->value) : px_int(b, 1);
        if (from->workspace)
            body->workspace = workspace(b, cls, from->workspace);
    }
    cls->n_left_out = sema->n_bodies - cls->n_bodies;
    if (cls->n_bodies == 0)
        plan_error(b, PLAN_CHECK_REFUSED, sema->ast->head,
                   "class '%s' has no body that can be run: there is code for "
                   DAG_DEVICE_KINDS(NAME_LISTED) "DEVICE", cls->name);
}

static void class_head(builder *b, plan_class *cls)
{
    const sema_class *sema = cls->sema;
    const ast_call *place = sema->ast->placement;
    cls->place.of = plan_global_of(b, sema->placement);
    cls->place.n = place->n_args;
    cls->place.index = arena_alloc(b->a, (place->n_args + 1) * sizeof(*cls->place.index));
    for (size_t i = 0; i < place->n_args; i++)
        cls->place.index[i] = plan_lower(b, cls, place->args[i]->lo);
    if (sema->ast->priority)
        cls->priority = plan_lower(b, cls, sema->ast->priority);
    if (cls->priority && px_is_int(cls->priority, 0))
        cls->priority = NULL;
    if (sema->flops)
        cls->work.flops = plan_lower(b, cls, sema->flops);
    if (sema->bytes)
        cls->work.bytes = plan_lower(b, cls, sema->bytes);
    class_bodies(b, cls);
}

static void classes(builder *b)
{
    plan *p = b->p;
    p->n_classes = b->info->n_classes;
    p->classes = arena_alloc(b->a, (p->n_classes + 1) * sizeof *p->classes);
    for (size_t i = 0; i < p->n_classes; i++) {
        plan_class *cls = &p->classes[i];
        cls->sema = &b->info->classes[i];
        cls->name = cls->sema->name;
        cls->index = (int)i;
        cls->line = plan_line(b, cls->sema->ast->head);
        cls->high_priority = cls->sema->high_priority;
        cls->unrecorded = !cls->sema->profile;
        class_locals(b, cls);
        class_flows(b, cls);
    }
    for (size_t i = 0; i < p->n_classes; i++)
        class_head(b, &p->classes[i]);
    for (size_t i = 0; i < p->n_classes; i++)
        plan_space(b, &p->classes[i]);
    for (size_t i = 0; i < p->n_classes; i++) {
        plan_inputs(b, &p->classes[i]);
        plan_start(b, &p->classes[i]);
        plan_outputs(b, &p->classes[i]);
    }
}

/* ---- properties of the whole ------------------------------------------------------------- */

/* Can some instance exist only if a [dynamic] guard says so? */
static bool depends_on_dynamic(builder *b, const plan_class *cls)
{
    for (size_t f = 0; f < cls->sema->n_flows; f++) {
        const sema_flow *flow = &cls->sema->flows[f];
        for (size_t i = 0; i < flow->n_edges; i++) {
            const sema_edge *edge = &flow->edges[i];
            if (edge->dir == AST_IN && edge->end == SEMA_END_TASK &&
                (edge->dynamic || !plan_class_of(b, edge->target_class)->countable))
                return true;
        }
    }
    return false;
}

static void countable(builder *b)
{
    plan *p = b->p;
    for (size_t i = 0; i < p->n_classes; i++)
        p->classes[i].countable = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < p->n_classes; i++)
            if (p->classes[i].countable && depends_on_dynamic(b, &p->classes[i])) {
                p->classes[i].countable = false;
                p->dynamic = changed = true;
            }
    }
}

static void memory(builder *b)
{
    for (size_t i = 0; i < b->p->n_slots; i++) {
        plan_global *g = b->p->slots[i];
        if (b->p->aliased)
            g->memory = DAG_MEM_INPLACE;
        else if (!g->stored)
            g->memory = DAG_MEM_READ;
        else if (!g->fetched)
            g->memory = DAG_MEM_WRITE;
        else if (b->facts && b->facts->memory)
            g->memory = b->facts->memory[g->sema->index];
    }
}

plan *plan_build(const sema_info *info, const verify_facts *facts, const char *name, diag *d)
{
    arena *a = arena_new();
    plan *p = arena_alloc(a, sizeof *p);
    /* The other dialect lets a file contradict itself (outputs outside of the space, missing
     * inputs): nothing that was proven of the graph may be relied on. */
    bool lax = info->dialect == DIALECT_PARSEC;
    builder b = {.p = p, .info = info, .facts = lax ? NULL : facts, .d = d, .a = a};
    p->arena = a;
    p->ast = info->ast;
    p->sources = info->ast->sources;
    p->file = src_name(p->sources, info->ast->file);
    p->base = strrchr(p->file, '/') ? strrchr(p->file, '/') + 1 : p->file;
    if (info->ast->prologue)
        p->prologue = info->ast->prologue->text;
    if (info->ast->epilogue)
        p->epilogue = info->ast->epilogue->text;
    p->name = arena_strndup(a, name, strlen(name));
    p->precisions = info->precisions ? info->precisions : "";
    p->aliased = lax;
    b.index_vars = arena_alloc(a, (info->ast->node_count + 1) * sizeof(*b.index_vars));
    b.codes = arena_alloc(a, (info->ast->node_count + 1) * sizeof(*b.codes));
    plan_refuse(&b);
    plan_globals(&b);
    plan_inits(&b);
    classes(&b);
    kernel_headers(&b);
    countable(&b);
    memory(&b);
    if (b.errors) {
        plan_free(p);
        return NULL;
    }
    return p;
}

void plan_free(plan *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n_globals; i++)
        free(p->globals[i].members);
    free(p->codes);
    free(p->requires);
    free(p->slots);
    arena_free(p->arena);
}

char *plan_name_of(const char *stem)
{
    const char *base = strrchr(stem, '/');
    base = base ? base + 1 : stem;
    size_t len = strlen(base);
    char *name = util_alloc(len + 2), *out = name;
    if (len == 0 || isdigit((unsigned char)base[0]))
        *out++ = '_';
    for (size_t i = 0; i < len; i++)
        *out++ = isalnum((unsigned char)base[i]) ? base[i] : '_';
    return name;
}

/* From the syntax tree and the meaning of its names to expressions of the plan. */
#include "plan_impl.h"

#include <string.h>

int plan_line(const builder *b, src_range range)
{
    return src_range_is_none(range) ? 0 : (int)src_begin(b->p->sources, range).line;
}

/* ---- what stands for what ---------------------------------------------------------------- */

plan_global *plan_global_of(builder *b, const sema_global *g)
{
    return &b->p->globals[g->index];
}

plan_class *plan_class_of(builder *b, const sema_class *cls)
{
    return &b->p->classes[cls->index];
}

const plan_flow *plan_flow_of(const plan_class *cls, const sema_flow *flow)
{
    for (size_t i = 0; i < cls->n_flows; i++)
        if (cls->flows[i].sema == flow)
            return &cls->flows[i];
    return NULL;
}

/* ---- names in generated functions -------------------------------------------------------- */

/* What the emitters call their own things; variables of the source get a '_' to keep clear. */
static const char *const own_names[] = {
    "g", "l", "v", "t", "p", "c", "globals", "cursor", "task", "total", "context", "pool", "prec",
};

const char *plan_clear_name(builder *b, const char *name)
{
    return UTIL_AMONG(name, strlen(name), own_names) ? arena_printf(b->a, "%s_", name) : name;
}

static bool taken(const plan_class *cls, const plan_nest *nest, const char *name)
{
    for (size_t i = 0; i < cls->n_locals; i++)
        if (strcmp(cls->locals[i].c_name, name) == 0)
            return true;
    for (size_t i = 0; nest && i < nest->n; i++)
        if (nest->levels[i].var && strcmp(nest->levels[i].var->c_name, name) == 0)
            return true;
    return false;
}

plan_var *plan_new_var(builder *b, const plan_class *cls, const plan_nest *nest,
                       const char *base)
{
    plan_var *var = arena_alloc(b->a, sizeof *var);
    var->name = base;
    var->c_name = plan_clear_name(b, base);
    for (int i = 2; taken(cls, nest, var->c_name); i++)
        var->c_name = arena_printf(b->a, "%s_%d", base, i);
    var->local = -1;
    return var;
}

plan_var *plan_local_var(plan_class *cls, const sema_local *local)
{
    if (local->param >= 0)
        return &cls->locals[local->param];
    size_t at = cls->n_params;
    for (const sema_local *l = cls->sema->locals; l != local; l++)
        at += l->param < 0;
    return &cls->locals[at];
}

plan_var *plan_index_var(builder *b, plan_class *cls, const ast_index *index)
{
    plan_var **slot = &b->index_vars[index->node.id];
    if (!*slot)
        *slot = plan_new_var(b, cls, NULL, index->name.text);
    return *slot;
}

/* ---- members and inline C ---------------------------------------------------------------- */

/* The C text behind the global's name; false when the innermost object is no global. */
static bool member_access(builder *b, const ast_expr *e, plan_global **global, text *access)
{
    if (e->kind == AST_NAME) {
        sema_ref ref = sema_ref_of(b->info, e);
        *global = ref.kind == SEMA_REF_GLOBAL ? plan_global_of(b, ref.u.global) : NULL;
        return *global != NULL;
    }
    if (e->kind != AST_MEMBER || !member_access(b, e->u.member.object, global, access))
        return false;
    text_puts(access, e->u.member.arrow ? "->" : ".");
    text_puts(access, e->u.member.field.text);
    return true;
}

static bool field_taken(const builder *b, const char *field)
{
    for (size_t i = 0; i < b->p->n_globals; i++) {
        const plan_global *g = &b->p->globals[i];
        if (strcmp(g->name, field) == 0)
            return true;
        for (size_t k = 0; k < g->n_members; k++)
            if (strcmp(g->members[k]->field, field) == 0)
                return true;
    }
    return false;
}

static plan_member *member_of(builder *b, plan_global *g, const char *access)
{
    for (size_t i = 0; i < g->n_members; i++)
        if (strcmp(g->members[i]->access, access) == 0)
            return g->members[i];
    plan_member *m = arena_alloc(b->a, sizeof *m);
    m->global = g;
    m->access = arena_strndup(b->a, access, strlen(access));
    m->text = arena_printf(b->a, "%s%s", g->name, access);
    char *field = arena_printf(b->a, "%s", m->text), *out = field;
    for (const char *in = m->text; *in; in++)
        if (*in != '>')
            *out++ = *in == '-' || *in == '.' ? '_' : *in;
    *out = '\0';
    while (field_taken(b, field))
        field = arena_printf(b->a, "%s_", field);
    m->field = field;
    g->members = util_realloc(g->members, (g->n_members + 1) * sizeof(*g->members));
    g->members[g->n_members++] = m;
    return m;
}

static const plan_expr *lower_member(builder *b, const ast_expr *e)
{
    plan_global *global = NULL;
    text access = {0};
    plan_expr *x = NULL;
    if (member_access(b, e, &global, &access)) {
        x = arena_alloc(b->a, sizeof *x);
        x->kind = PLAN_MEMBER;
        x->u.member = member_of(b, global, text_str(&access));
    } else {
        plan_error(b, PLAN_CHECK_REFUSED, e->node.range, "only members of globals can be read");
    }
    text_free(&access);
    return x ? x : px_int(b, 0);
}

static plan_code *code_of(builder *b, plan_class *cls, const ast_expr *e)
{
    plan_code *code = b->codes[e->node.id];
    if (code)
        return code;
    const sema_text *said = sema_text_of(b->info, e);
    const sema_ref *refs = said ? said->refs : NULL;
    size_t n = said ? said->n_refs : 0;
    code = arena_alloc(b->a, sizeof *code);
    code->text = e->u.code.text;
    code->cls = cls;
    code->result = "int64_t";
    code->vars = arena_alloc(b->a, (n + 1) * sizeof(*code->vars));
    code->globals = arena_alloc(b->a, (n + 1) * sizeof(*code->globals));
    code->flows = arena_alloc(b->a, (n + 1) * sizeof(*code->flows));
    for (size_t i = 0; i < n; i++) {
        if (refs[i].kind == SEMA_REF_GLOBAL)
            code->globals[code->n_globals++] = plan_global_of(b, refs[i].u.global);
        else if (refs[i].kind == SEMA_REF_LOCAL)
            code->vars[code->n_vars++] = plan_local_var(cls, refs[i].u.local);
        else if (refs[i].kind == SEMA_REF_INDEX)
            code->vars[code->n_vars++] = plan_index_var(b, cls, refs[i].u.index);
        else
            code->flows[code->n_flows++] =
                plan_use_of(b, plan_flow_of(cls, refs[i].u.flow), said);
    }
    code->with_task = code->n_flows > 0;
    b->codes[e->node.id] = code;
    plan *p = b->p;
    p->codes = util_realloc(p->codes, (p->n_codes + 1) * sizeof(*p->codes));
    p->codes[p->n_codes++] = code;
    code->fn = arena_printf(b->a, "%s_c%zu", p->name, p->n_codes);
    return code;
}

static const plan_expr *lower_code(builder *b, plan_class *cls, const ast_expr *e)
{
    plan_expr *x = arena_alloc(b->a, sizeof *x);
    plan_code *code = code_of(b, cls, e);
    const plan_expr **args = arena_alloc(b->a, (code->n_vars + 1) * sizeof(*args));
    for (size_t i = 0; i < code->n_vars; i++)
        args[i] = px_var(b, code->vars[i]);
    x->kind = PLAN_CODE;
    x->u.call.code = code;
    x->u.call.args = args;
    return x;
}

bool plan_code_reads_flows(const plan_expr *e)
{
    if (!e)
        return false;
    switch (e->kind) {
    case PLAN_UNARY: case PLAN_BINARY:
        return plan_code_reads_flows(e->u.op.a) || plan_code_reads_flows(e->u.op.b);
    case PLAN_COND:
        return plan_code_reads_flows(e->u.cond.test) || plan_code_reads_flows(e->u.cond.yes)
               || plan_code_reads_flows(e->u.cond.no);
    case PLAN_CODE: return e->u.call.code->n_flows > 0;
    default: return false;
    }
}

/* ---- expressions ------------------------------------------------------------------------- */

static const plan_expr *lower_name(builder *b, plan_class *cls, const ast_expr *e)
{
    sema_ref ref = sema_ref_of(b->info, e);
    plan_expr *x;
    switch (ref.kind) {
    case SEMA_REF_LOCAL: return px_var(b, plan_local_var(cls, ref.u.local));
    case SEMA_REF_INDEX: return px_var(b, plan_index_var(b, cls, ref.u.index));
    case SEMA_REF_GLOBAL:
        if (ref.u.global->kind != SEMA_INT)
            plan_error(b, PLAN_CHECK_REFUSED, e->node.range, "'%s' is not an integer", e->u.name);
        if (ref.u.global->symbol && ref.u.global->init)
            return px_int(b, ref.u.global->init->u.integer.value);
        x = arena_alloc(b->a, sizeof *x);
        x->kind = PLAN_GLOBAL;
        x->u.global = plan_global_of(b, ref.u.global);
        return x;
    default:
        plan_error(b, PLAN_CHECK_REFUSED, e->node.range, "'%s' has no value here", e->u.name);
        return px_int(b, 0);
    }
}

/* min, max, ceildiv as conditional values: their arguments are pure. */
static const plan_expr *lower_function(builder *b, plan_class *cls, const ast_expr *e)
{
    ast_function f = ast_function_of(e);
    const plan_expr *all = plan_lower(b, cls, e->u.call.args[0]);
    for (size_t i = 1; i < e->u.call.n_args; i++) {
        const plan_expr *next = plan_lower(b, cls, e->u.call.args[i]), *one = px_int(b, 1);
        if (f == AST_CEILDIV)   /* as ast_ceildiv */
            all = px_cond(b, px_binary(b, AST_OP_GT, all, px_int(b, 0)),
                          px_binary(b, AST_OP_ADD, px_binary(b, AST_OP_DIV,
                                                             px_binary(b, AST_OP_SUB, all, one),
                                                             next), one),
                          px_binary(b, AST_OP_DIV, all, next));
        else
            all = px_cond(b, px_binary(b, f == AST_MIN ? AST_OP_LT : AST_OP_GT, next, all), next,
                          all);
    }
    return all;
}

const plan_expr *plan_lower(builder *b, plan_class *cls, const ast_expr *e)
{
    switch (e->kind) {
    case AST_INT: return px_int(b, e->u.integer.value);
    case AST_BOOL: return px_int(b, e->u.boolean);
    case AST_NAME: return lower_name(b, cls, e);
    case AST_MEMBER: return lower_member(b, e);
    case AST_INLINE_C: return lower_code(b, cls, e);
    case AST_UNARY: return px_unary(b, e->u.unary.op, plan_lower(b, cls, e->u.unary.operand));
    case AST_BINARY:
        return px_binary(b, e->u.binary.op, plan_lower(b, cls, e->u.binary.left),
                         plan_lower(b, cls, e->u.binary.right));
    case AST_CALL_VALUE:
        if (ast_function_of(e))
            return lower_function(b, cls, e);
        break;
    case AST_COND:
        return px_cond(b, plan_lower(b, cls, e->u.cond.test), plan_lower(b, cls, e->u.cond.yes),
                       plan_lower(b, cls, e->u.cond.no));
    case AST_STRING:
        if (e->u.string.parsed)
            return plan_lower(b, cls, e->u.string.parsed);
        break;
    default: break;
    }
    plan_error(b, PLAN_CHECK_REFUSED, e->node.range, "this expression has no integer value");
    return px_int(b, 0);
}

const plan_expr *plan_lower_guard(builder *b, plan_class *cls, const sema_edge *edge)
{
    if (!edge->cond)
        return NULL;
    const plan_expr *cond = plan_lower(b, cls, edge->cond);
    return edge->negate ? px_not(b, cond) : cond;
}

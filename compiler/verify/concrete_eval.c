/* Evaluation of expressions for given values. */
#include "concrete.h"

#include <string.h>

static bool fail(concrete_env *env, const ast_expr *e, const char *why)
{
    if (!env->graph->failed) {
        env->graph->failed = why;
        env->graph->failure.at = e->node.range;
    }
    return false;
}

static bool eval_param(concrete_env *env, const ast_expr *e, int64_t *value)
{
    concrete_graph *g = env->graph;
    int *cached = &g->param_of[e->node.id];
    if (*cached == -2) {
        text spelling = {0};
        const sema_global *root = NULL;
        *cached = lift_spelling(g->sema, e, &spelling, &root)
                      ? lift_find_param(&g->model->poly, text_str(&spelling))
                      : -1;
        text_free(&spelling);
    }
    if (*cached < 0)
        return fail(env, e, "this name has no value");
    *value = g->params[*cached];
    return true;
}

static bool eval_name(concrete_env *env, const ast_expr *e, int64_t *value)
{
    for (size_t i = 0; i < env->n_names; i++)
        if (strcmp(env->names[i].name, e->u.name) == 0) {
            *value = env->names[i].value;
            return true;
        }
    if (!env->graph->sema)
        return fail(env, e, "this name has no value");
    sema_ref ref = sema_ref_of(env->graph->sema, e);
    switch (ref.kind) {
    case SEMA_REF_LOCAL:
        *value = env->locals[ref.u.local->index];
        return true;
    case SEMA_REF_INDEX:
        for (size_t i = env->n_indices; i-- > 0;) {
            if (env->indices[i].index == ref.u.index) {
                *value = env->indices[i].value;
                return true;
            }
        }
        return fail(env, e, "this index has no value here");
    case SEMA_REF_GLOBAL:
        if (ref.u.global->init)
            return concrete_eval(env, ref.u.global->init, value);
        return eval_param(env, e, value);
    case SEMA_REF_NONE:
    case SEMA_REF_FLOW:
        break;
    }
    return fail(env, e, "this name has no value");
}

static bool eval_unary(concrete_env *env, const ast_expr *e, int64_t *value)
{
    if (!concrete_eval(env, e->u.unary.operand, value))
        return false;
    if (e->u.unary.op == AST_OP_NOT)
        *value = !*value;
    else if (__builtin_sub_overflow((int64_t)0, *value, value))
        return fail(env, e, "the value does not fit in 64 bits");
    return true;
}

static bool eval_logic(concrete_env *env, const ast_expr *e, int64_t *value)
{
    bool is_and = e->u.binary.op == AST_OP_AND;
    if (!concrete_eval(env, e->u.binary.left, value))
        return false;
    if ((*value != 0) == is_and && !concrete_eval(env, e->u.binary.right, value))
        return false;
    *value = *value != 0;
    return true;
}

static bool eval_arithmetic(concrete_env *env, const ast_expr *e, int64_t a, int64_t b,
                            int64_t *value)
{
    bool overflow = false;
    switch (e->u.binary.op) {
    case AST_OP_ADD:
        overflow = __builtin_add_overflow(a, b, value);
        break;
    case AST_OP_SUB:
        overflow = __builtin_sub_overflow(a, b, value);
        break;
    case AST_OP_MUL:
        overflow = __builtin_mul_overflow(a, b, value);
        break;
    case AST_OP_DIV:
    case AST_OP_MOD:
        if (b == 0)
            return fail(env, e, "a division by zero");
        if (b == -1)
            overflow = e->u.binary.op == AST_OP_DIV && __builtin_sub_overflow((int64_t)0, a, value);
        else
            *value = e->u.binary.op == AST_OP_DIV ? a / b : a % b;
        if (b == -1 && e->u.binary.op == AST_OP_MOD)
            *value = 0;
        break;
    case AST_OP_SHL:
    case AST_OP_SHR:
        if (b < 0 || b > 62)
            return fail(env, e, "a shift by more than 62 bits or less than 0");
        if (e->u.binary.op == AST_OP_SHL)
            overflow = __builtin_mul_overflow(a, (int64_t)1 << b, value);
        else
            *value = a >> b;
        break;
    default:
        *value = a ^ b;
        break;
    }
    return overflow ? fail(env, e, "the value does not fit in 64 bits") : true;
}

static bool eval_binary(concrete_env *env, const ast_expr *e, int64_t *value)
{
    ast_op op = e->u.binary.op;
    int64_t a = 0, b = 0;
    if (op == AST_OP_AND || op == AST_OP_OR)
        return eval_logic(env, e, value);
    if (!concrete_eval(env, e->u.binary.left, &a) || !concrete_eval(env, e->u.binary.right, &b))
        return false;
    switch (op) {
    case AST_OP_EQ:
        *value = a == b;
        return true;
    case AST_OP_NE:
        *value = a != b;
        return true;
    case AST_OP_LT:
        *value = a < b;
        return true;
    case AST_OP_LE:
        *value = a <= b;
        return true;
    case AST_OP_GT:
        *value = a > b;
        return true;
    case AST_OP_GE:
        *value = a >= b;
        return true;
    default:
        return eval_arithmetic(env, e, a, b, value);
    }
}

/* A call of a function that facts are about. */
static bool eval_stated(concrete_env *env, const ast_expr *e, int64_t *value)
{
    concrete_graph *g = env->graph;
    const ast_fact *f = ast_find_fact(g->model->file, e->u.call.name.text, AST_FACT_UNKNOWN);
    int64_t args[AST_FACT_PARAMS];
    const char *wrong = NULL;
    if (!f || f->n_params != e->u.call.n_args || f->n_params > AST_FACT_PARAMS)
        return fail(env, e, "this is not an integer expression");
    for (size_t i = 0; i < f->n_params; i++)
        if (!concrete_eval(env, e->u.call.args[i], &args[i]))
            return false;
    if (!g->facts.value(g->facts.seen, f->name.text, args, f->n_params, g->model->arena, value, &wrong))
        return fail(env, e, "this function has no value");
    if (!wrong)
        return true;
    if (!g->failed)
        g->failure.fact = true;
    return fail(env, e, wrong);
}

static bool eval_function(concrete_env *env, const ast_expr *e, int64_t *value)
{
    ast_function f = ast_function_of(e);
    if (f == AST_FUNCTION_NONE && env->graph->facts.value)
        return eval_stated(env, e, value);
    if (f == AST_FUNCTION_NONE || e->u.call.n_args < 2)
        return fail(env, e, "this is not an integer expression");
    if (!concrete_eval(env, e->u.call.args[0], value))
        return false;
    for (size_t i = 1; i < e->u.call.n_args; i++) {
        int64_t next = 0;
        if (!concrete_eval(env, e->u.call.args[i], &next))
            return false;
        if (f == AST_CEILDIV && next <= 0)
            return fail(env, e, "a divisor of ceildiv that is not positive");
        *value = f == AST_CEILDIV                             ? ast_ceildiv(*value, next)
                 : (f == AST_MIN ? next < *value : next > *value) ? next
                                                                  : *value;
    }
    return true;
}

bool concrete_reads_flows(const sema_info *sema, const ast_expr *e)
{
    const sema_ref *refs = sema_captures_of(sema, e);
    while (refs && refs->kind != SEMA_REF_NONE && refs->kind != SEMA_REF_FLOW)
        refs++;
    return refs && refs->kind == SEMA_REF_FLOW;
}

/* Inline C that was proven as a %fact says: is that what C gives? */
static bool agrees(concrete_env *env, const ast_expr *e, int64_t value)
{
    int64_t said = 0;
    concrete_graph *g = env->graph;
    if (!e->u.code.by_fact || !e->u.code.parsed)
        return true;
    if (!concrete_eval(env, e->u.code.parsed, &said))
        return false;
    if (said == value)
        return true;
    if (!g->failed)
        g->failure.fact = true;
    return fail(env, e, arena_printf(g->model->arena, "this is %lld, but was proven as %lld by a "
                                     "fact about a function", (long long)value,
                                     (long long)said));
}

bool concrete_eval(concrete_env *env, const ast_expr *e, int64_t *value)
{
    switch (e->kind) {
    case AST_INT:
        *value = e->u.integer.value;
        return true;
    case AST_BOOL:
        *value = e->u.boolean;
        return true;
    case AST_NAME:
        return eval_name(env, e, value);
    case AST_MEMBER:
        return eval_param(env, e, value);
    case AST_UNARY:
        return eval_unary(env, e, value);
    case AST_BINARY:
        return eval_binary(env, e, value);
    case AST_COND:
        if (!concrete_eval(env, e->u.cond.test, value))
            return false;
        return concrete_eval(env, *value ? e->u.cond.yes : e->u.cond.no, value);
    case AST_STRING:
        if (e->u.string.parsed)
            return concrete_eval(env, e->u.string.parsed, value);
        break;
    case AST_INLINE_C:
        if (env->computed >= 0 && concrete_reads_flows(env->graph->sema, e)) {
            *value = env->computed;
            return true;
        }
        if (env->graph->code && env->graph->code(env->graph->code_arg, e, env, value))
            return agrees(env, e, *value);
        if (e->u.code.parsed && !env->graph->code)
            return concrete_eval(env, e->u.code.parsed, value);
        return fail(env, e, "inline C");
    case AST_CALL_VALUE:
        return eval_function(env, e, value);
    case AST_BAD:
        break;
    }
    return fail(env, e, "this is not an integer expression");
}

bool concrete_eval_named(const ast_expr *e, const concrete_named *known, size_t n, int64_t *value)
{
    concrete_graph none = {0};
    concrete_env env = {.graph = &none, .names = known, .n_names = n, .computed = -1};
    return concrete_eval(&env, e, value);
}

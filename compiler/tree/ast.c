#include "ast.h"

#include <stdlib.h>
#include <string.h>

void ast_free(ast_file *file)
{
    if (!file)
        return;
    arena_free(file->arena);
    names_free(file->names);
    free(file);
}

void ast_free_shared(ast_file *file)
{
    free(file);
}

const char *ast_op_text(ast_op op)
{
    static const char *const texts[] = {
        [AST_OP_NEG] = "-", [AST_OP_NOT] = "!", [AST_OP_OR] = "||", [AST_OP_AND] = "&&",
        [AST_OP_XOR] = "^", [AST_OP_EQ] = "==", [AST_OP_NE] = "!=", [AST_OP_LT] = "<",
        [AST_OP_LE] = "<=", [AST_OP_GT] = ">", [AST_OP_GE] = ">=", [AST_OP_SHL] = "<<",
        [AST_OP_SHR] = ">>", [AST_OP_ADD] = "+", [AST_OP_SUB] = "-", [AST_OP_MUL] = "*",
        [AST_OP_DIV] = "/", [AST_OP_MOD] = "%",
    };
    return texts[op];
}

const char *ast_flow_kind_text(ast_flow_kind kind)
{
    static const char *const texts[] = {
        [AST_RW] = "RW", [AST_READ] = "READ", [AST_WRITE] = "WRITE", [AST_CTL] = "CTL",
    };
    return texts[kind];
}

const ast_prop *ast_find_prop(const ast_props *props, const char *name)
{
    for (size_t i = 0; props && i < props->n; i++)
        if (!props->items[i]->owner.text && strcmp(props->items[i]->name.text, name) == 0)
            return props->items[i];
    return NULL;
}

/* The one of this name, or NULL. */
#define FIND(list, count, wanted)                                                                  \
    for (size_t i = 0; i < (count); i++)                                                           \
        if (strcmp((list)[i]->name.text, wanted) == 0)                                             \
            return (list)[i];                                                                      \
    return NULL

const ast_local *ast_find_local(const ast_class *cls, const char *name)
{
    FIND(cls->locals, cls->n_locals, name);
}

const ast_global *ast_find_global(const ast_file *file, const char *name)
{
    FIND(file->globals, file->n_globals, name);
}

const ast_class *ast_find_class(const ast_file *file, const char *name)
{
    FIND(file->classes, file->n_classes, name);
}

const ast_flow *ast_find_flow(const ast_class *cls, const char *name)
{
    FIND(cls->flows, cls->n_flows, name);
}

void ast_each_child(const ast_expr *e, ast_expr_fn *fn, void *arg)
{
    switch (e->kind) {
    case AST_MEMBER:
        fn(e->u.member.object, arg);
        break;
    case AST_UNARY:
        fn(e->u.unary.operand, arg);
        break;
    case AST_BINARY:
        fn(e->u.binary.left, arg);
        fn(e->u.binary.right, arg);
        break;
    case AST_COND:
        fn(e->u.cond.test, arg);
        fn(e->u.cond.yes, arg);
        fn(e->u.cond.no, arg);
        break;
    case AST_CALL_VALUE:
        for (size_t i = 0; i < e->u.call.n_args; i++)
            fn(e->u.call.args[i], arg);
        break;
    case AST_STRING:
        if (e->u.string.parsed)
            fn(e->u.string.parsed, arg);
        break;
    case AST_INT:
    case AST_BOOL:
    case AST_NAME:
    case AST_INLINE_C:
    case AST_BAD:
        break;
    }
}

static void each_of_range(const ast_expr *lo, const ast_expr *hi, const ast_expr *step,
                          ast_expr_fn *fn, void *arg)
{
    fn(lo, arg);
    if (hi)
        fn(hi, arg);
    if (step)
        fn(step, arg);
}

void ast_each_in_indices(const ast_indices *list, ast_expr_fn *fn, void *arg)
{
    for (size_t i = 0; list && i < list->n; i++)
        each_of_range(list->items[i]->lo, list->items[i]->hi, list->items[i]->step, fn, arg);
}

void ast_each_in_value(const ast_value *v, ast_expr_fn *fn, void *arg)
{
    ast_each_in_indices(v->indices, fn, arg);
    each_of_range(v->lo, v->hi, v->step, fn, arg);
}

void ast_each_in_call(const ast_call *call, ast_expr_fn *fn, void *arg)
{
    ast_each_in_indices(call ? call->indices : NULL, fn, arg);
    for (size_t i = 0; call && i < call->n_args; i++)
        ast_each_in_value(call->args[i], fn, arg);
}

static void find_inline_c(const ast_expr *e, void *arg)
{
    bool *found = arg;
    if (e->kind == AST_INLINE_C)
        *found = true;
    if (!*found)
        ast_each_child(e, find_inline_c, found);
}

bool ast_has_inline_c(const ast_expr *e)
{
    bool found = false;
    if (e)
        find_inline_c(e, &found);
    return found;
}

ast_function ast_function_of(const ast_expr *e)
{
    static const char *const words[] = {[AST_MIN] = "min", [AST_MAX] = "max",
                                        [AST_CEILDIV] = "ceildiv"};
    for (size_t i = AST_MIN; e->kind == AST_CALL_VALUE && i < UTIL_COUNT(words); i++)
        if (strcmp(e->u.call.name.text, words[i]) == 0)
            return (ast_function)i;
    return AST_FUNCTION_NONE;
}

ast_fact_kind ast_fact_called(const char *word, bool other)
{
    static const struct { const char *word; ast_fact_kind kind; bool other; } words[] = {
        {"pure", AST_FACT_PURE, false}, {"monotone", AST_FACT_MONOTONE, false},
        {"inverse", AST_FACT_INVERSE, true},
    };
    for (size_t i = 0; i < UTIL_COUNT(words); i++)
        if (strcmp(words[i].word, word) == 0 && words[i].other == other)
            return words[i].kind;
    return AST_FACT_UNKNOWN;
}

const ast_fact *ast_find_fact(const ast_file *file, const char *function, ast_fact_kind kind)
{
    for (size_t i = 0; i < file->facts.n; i++) {
        const ast_fact *f = file->facts.items[i];
        bool fits = kind == AST_FACT_UNKNOWN ? f->kind != AST_FACT_UNKNOWN : f->kind == kind;
        if (fits && strcmp(f->name.text, function) == 0)
            return f;
    }
    return NULL;
}

int64_t ast_ceildiv(int64_t a, int64_t b)
{
    return a > 0 ? (a - 1) / b + 1 : a / b;
}

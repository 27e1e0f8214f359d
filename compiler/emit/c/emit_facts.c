/* Functions that facts are about, held against them where inline C calls them (setting check = race).
 * Each has a stand-in, which inline C calls by the name of the function. */
#include "emit_impl.h"

#include <string.h>

/* Is the word in this piece of C? */
static bool mentions(const emitter *e, src_range where, const char *word)
{
    const char *c = src_text(e->p->sources, where), *end = c + src_range_len(where);
    size_t n = strlen(word);
    for (const char *at = c; at + n <= end; at++)
        if (memcmp(at, word, n) == 0 && (at == c || !util_is_word(at[-1])) && (at + n == end || !util_is_word(at[n])))
            return true;
    return false;
}

/* The i-th fact is the first about a function that inline C mentions. */
static bool has_stand_in(const emitter *e, size_t i)
{
    const ast_facts *all = &e->p->ast->facts;
    const ast_fact *f = all->items[i];
    if (f->n_params > DAG_FACT_ARGS)
        return false;
    for (size_t k = 0; k < i; k++)
        if (strcmp(all->items[k]->name.text, f->name.text) == 0)
            return false;
    for (size_t k = 0; k < e->p->n_codes; k++)
        if (mentions(e, e->p->codes[k]->text, f->name.text))
            return true;
    return false;
}

static void emit_value(emitter *e, const ast_expr *x);

static void emit_call_of(emitter *e, const char *name, const ast_expr *a, const ast_expr *b)
{
    emit_out(e, "%s(dag_globals, ", name);
    emit_value(e, a);
    emit_out(e, ", ");
    emit_value(e, b);
    emit_out(e, ")");
}

static void emit_two(emitter *e, const ast_expr *x)
{
    const ast_expr *a = x->u.binary.left, *b = x->u.binary.right;
    ast_op op = x->u.binary.op;
    if (op == AST_OP_DIV || op == AST_OP_MOD) {
        emit_call_of(e, op == AST_OP_DIV ? "dag_div" : "dag_mod", a, b);
        return;
    }
    bool shift = op == AST_OP_SHL || op == AST_OP_SHR;
    emit_out(e, shift ? op == AST_OP_SHL ? "dag_shl(" : "dag_shr(" : "(");
    emit_value(e, a);
    emit_out(e, shift ? ", " : " %s ", ast_op_text(op));
    emit_value(e, b);
    emit_out(e, ")");
}

/* An expression of the parameters of a fact, in 64 bits. */
static void emit_value(emitter *e, const ast_expr *x)
{
    switch (x->kind) {
    case AST_INT:
        emit_out(e, "INT64_C(%lld)", (long long)x->u.integer.value);
        return;
    case AST_NAME:
        emit_out(e, "%s", x->u.name);
        return;
    case AST_UNARY:
        emit_out(e, "(%s", x->u.unary.op == AST_OP_NOT ? "!" : "-");
        emit_value(e, x->u.unary.operand);
        emit_out(e, ")");
        return;
    case AST_BINARY:
        emit_two(e, x);
        return;
    case AST_COND:
        emit_out(e, "(");
        emit_value(e, x->u.cond.test);
        emit_out(e, " ? ");
        emit_value(e, x->u.cond.yes);
        emit_out(e, " : ");
        emit_value(e, x->u.cond.no);
        emit_out(e, ")");
        return;
    default:
        break;
    }
    static const char *const words[] = {[AST_MIN] = "dag_least_of", [AST_MAX] = "dag_most_of",
                                        [AST_CEILDIV] = "dag_ceildiv"};
    size_t n = x->u.call.n_args - 1;    /* min, max, ceildiv: nothing else may stand in a fact */
    for (size_t i = 0; i < n; i++)
        emit_out(e, "%s(dag_globals, ", words[ast_function_of(x)]);
    emit_value(e, x->u.call.args[0]);
    for (size_t i = 1; i <= n; i++) {
        emit_out(e, ", ");
        emit_value(e, x->u.call.args[i]);
        emit_out(e, ")");
    }
}

/* ---- what is compared ------------------------------------------------------------------------ */

/* f(%lld, %lld), or the values for that. */
static void emit_arguments(emitter *e, const ast_fact *f, const char *each, bool named)
{
    for (size_t i = 0; i < f->n_params; i++)
        emit_out(e, "%s%s%s", i ? ", " : "", each, named ? f->params[i].text : "");
}

static void emit_wrong(emitter *e, const ast_fact *f, const char *says, const char *values)
{
    emit_out(e, "        dag_graph_error(dag_globals, NULL, NULL, %u, \"%s(",
             src_begin(e->p->sources, f->node.range).line, f->name.text);
    emit_arguments(e, f, "%lld", false);
    emit_out(e, ") is %%lld, and a fact says %s\", ", says);
    emit_arguments(e, f, "(long long)", true);
    emit_out(e, "%s(long long)dag_v%s);\n", f->n_params ? ", " : "", values);
}

static void emit_check(emitter *e, const ast_fact *f)
{
    bool value = f->kind == AST_FACT_VALUE;
    if (!value && f->kind != AST_FACT_RANGE)
        return;
    emit_out(e, "    long long dag_%s = (long long)", value ? "said" : "low");
    emit_value(e, f->expr);
    if (!value) {
        emit_out(e, ", dag_high = (long long)");
        emit_value(e, f->hi);
    }
    emit_out(e, value ? ";\n    if (dag_v != dag_said)\n"
                      : ";\n    if (dag_v < dag_low || dag_v > dag_high)\n");
    emit_wrong(e, f, value ? "%lld" : "%lld .. %lld", value ? ", dag_said" : ", dag_low, dag_high");
}

/* f(g(x)) is x, where g is this function. */
static void emit_inverses(emitter *e, const ast_fact *g)
{
    const ast_facts *all = &e->p->ast->facts;
    for (size_t i = 0; i < all->n; i++) {
        const ast_fact *f = all->items[i];
        if (f->kind != AST_FACT_INVERSE || strcmp(f->other.text, g->name.text) != 0)
            continue;
        text says = {0};
        text_printf(&says, "that %s of it is the argument", f->name.text);
        emit_out(e, "    if (%s(dag_v) != %s)\n", f->name.text, g->params[0].text);
        emit_wrong(e, g, text_str(&says), "");
        text_free(&says);
    }
}

/* What one fact says, whatever it calls the parameters. */
static void emit_fact(emitter *e, const ast_fact *f, const ast_fact *first)
{
    if (f->kind != AST_FACT_VALUE && f->kind != AST_FACT_RANGE)
        return;
    emit_out(e, "    {\n");
    for (size_t k = 0; k < first->n_params; k++)
        if (strcmp(first->params[k].text, f->params[k].text) != 0)
            emit_out(e, "    DAG_UNUSED const int64_t %s = dag_args[%zu];\n", f->params[k].text, k);
    emit_check(e, f);
    emit_out(e, "    }\n");
}

static void emit_stand_in(emitter *e, const ast_fact *first)
{
    const ast_facts *all = &e->p->ast->facts;
    const char *f = first->name.text;
    emit_out(e, "\nstatic __typeof__(%s(", f);
    emit_arguments(e, first, "0", false);
    emit_out(e, ")) %s_fact_%s(const void *dag_globals%s", e->name, f, first->n_params ? ", " : "");
    emit_arguments(e, first, "const int64_t ", true);
    emit_out(e, ")\n{\n    __typeof__(%s(", f);
    emit_arguments(e, first, "", true);
    emit_out(e, ")) dag_v = %s(", f);
    emit_arguments(e, first, "", true);
    emit_out(e, ");\n    if (!dag_facts_checked(dag_globals))\n        return dag_v;\n");
    if (first->n_params > 0) {
        emit_out(e, "    static dag_fact_seen dag_seen;\n    const int64_t dag_args[] = {");
        emit_arguments(e, first, "", true);
        emit_out(e, "};\n    dag_fact_value(dag_globals, &dag_seen, %u, \"%s\", %d, %zu, dag_args, "
                 "dag_v);\n", src_begin(e->p->sources, first->node.range).line, f,
                 ast_find_fact(e->p->ast, f, AST_FACT_MONOTONE) != NULL, first->n_params);
    }
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->items[i]->name.text, f) == 0)
            emit_fact(e, all->items[i], first);
    emit_inverses(e, first);
    emit_out(e, "    return dag_v;\n}\n");
}

void emit_stand_ins(emitter *e)
{
    for (size_t i = 0; i < e->p->ast->facts.n; i++)
        if (has_stand_in(e, i))
            emit_stand_in(e, e->p->ast->facts.items[i]);
}

void emit_stand_in_names(emitter *e, bool begin)
{
    for (size_t i = 0; i < e->p->ast->facts.n; i++) {
        const char *f = e->p->ast->facts.items[i]->name.text;
        bool none = e->p->ast->facts.items[i]->n_params == 0;
        if (!has_stand_in(e, i))
            continue;
        if (begin)
            emit_out(e, "\n#pragma push_macro(\"%s\")\n#undef %s\n"
                     "#define %s(%s) %s_fact_%s(dag_globals%s)\n", f, f, f, none ? "" : "...", e->name,
                     f, none ? "" : ", __VA_ARGS__");
        else
            emit_out(e, "\n#undef %s\n#pragma pop_macro(\"%s\")\n", f, f);
    }
}

/* Resolves the names of every expression, each in its scope, and checks reserved names. */
#include "sema_ctx.h"

#include <string.h>

/* ---- expressions of the file ----------------------------------------------------------------- */

static void resolve_global(sema *s, const sema_global *g)
{
    /* a default may use what is declared before it */
    sema_scope sc = {.n_globals = g->index};
    bool integer = g->kind == SEMA_INT;
    if (g->init)
        sema_check_expr(s, &sc, g->init, integer && g->init->kind != AST_STRING);
    sc.n_globals = s->info->n_globals;
    sema_check_expr(s, &sc, g->size, true);
    if (g->ast)
        sema_check_props(s, &sc, g->ast->props, PLACE_GLOBAL);
}

static void resolve_args(sema *s, const sema_scope *sc, const ast_call *call)
{
    for (size_t i = 0; i < call->n_args; i++)
        sema_check_value(s, sc, call->args[i]);
}

static void resolve_call(sema *s, const sema_scope *sc, const ast_call *call)
{
    if (!call)
        return;
    size_t mark = sema_push_indices(s, sc, call->indices);
    resolve_args(s, sc, call);
    sema_pop_indices(s, mark);
}

static void resolve_dep(sema *s, const sema_scope *sc, const ast_dep *d)
{
    size_t mark = sema_push_indices(s, sc, d->indices);
    sema_scope with_flows = *sc;            /* for the inline C of a [dynamic] guard */
    with_flows.flows = true;
    sema_check_expr(s, &with_flows, d->cond, true);
    resolve_call(s, sc, d->yes);
    resolve_call(s, sc, d->no);
    sema_check_props(s, &with_flows, d->yes ? d->yes->props : NULL, PLACE_DEP);
    sema_check_props(s, &with_flows, d->props, PLACE_DEP);
    sema_pop_indices(s, mark);
}

static void check_local_shadow(sema *s, const sema_local *l)
{
    const sema_global *g = map_get(&s->globals, l->name);
    if (!g || !g->ast)
        return;
    sema_report(s, CHECK_SHADOW, l->ast->name.range, "'%s' hides the global of that name",
                l->name);
    diag_note(s->d, g->ast->name.range, "the global is declared here");
}

static void resolve_class(sema *s, sema_class *c)
{
    const ast_class *ast = c->ast;
    sema_scope sc = scope_of_class(s, c);
    for (size_t i = 0; i < c->n_locals; i++) {
        sc.n_locals = i;
        sema_check_value(s, &sc, c->locals[i].ast->value);
        sema_check_props(s, &sc, c->locals[i].ast->props, PLACE_LOCAL);
        check_local_shadow(s, &c->locals[i]);
    }
    sc.n_locals = c->n_locals;
    sema_check_props(s, &sc, ast->props, PLACE_CLASS);
    sema_check_expr(s, &sc, ast->simcost, true);
    if (ast->placement)
        resolve_call(s, &sc, ast->placement);
    for (size_t i = 0; i < ast->n_flows; i++)
        for (size_t j = 0; j < ast->flows[i]->n_deps; j++)
            resolve_dep(s, &sc, ast->flows[i]->deps[j]);
    sc.priority = true;
    sema_check_expr(s, &sc, ast->priority, true);
}

static const ast_expr *value_of(const ast_props *props, const char *name)
{
    const ast_prop *p = ast_find_prop(props, name);
    return p ? p->value : NULL;
}

static bool is_off(const ast_expr *e)
{
    int64_t v;
    return sema_constant(e, &v) && v == 0;
}

/* What the properties of a class say, for later stages. */
static void class_properties(sema *s, sema_class *c)
{
    const ast_class *ast = c->ast;
    c->flops = value_of(ast->props, "flops");
    c->bytes = value_of(ast->props, "bytes");
    c->time_estimate = value_of(ast->props, "time_estimate");
    c->profile = !is_off(value_of(ast->props, "profile"));
    c->high_priority = ast_find_prop(ast->props, "high_priority") &&
                       !is_off(value_of(ast->props, "high_priority"));
    if (!ast->simcost)
        return;
    if (s->strict)
        sema_report(s, CHECK_PARSEC_ONLY, ast->simcost_range,
                    "SIMCOST belongs to --std=parsec; write [flops = expr] at the class");
    else
        sema_refuse(s, ast->simcost_range, "SIMCOST");
}

/* What a fact says is put in place of calls: it is about its parameters, whatever else a name means
 * there. */
typedef struct fact_look {
    sema *s;
    const ast_fact *fact;
} fact_look;

static void look_into_fact(const ast_expr *e, void *arg)
{
    const fact_look *l = arg;
    bool known = e->kind != AST_MEMBER && e->kind != AST_INLINE_C && e->kind != AST_STRING;
    if (e->kind == AST_NAME) {
        known = false;
        for (size_t i = 0; i < l->fact->n_params; i++)
            known = known || l->fact->params[i].text == e->u.name;
    }
    if (known)
        ast_each_child(e, look_into_fact, arg);
    else
        sema_report(l->s, CHECK_BAD_FACT, e->node.range, "a fact is an expression of its parameters "
                    "alone; what else it needs has to be one");
}

/* May both be said of one function? What it gives says all. */
static bool go_together(const ast_fact *a, const ast_fact *b)
{
    return a->kind != b->kind && a->kind != AST_FACT_VALUE && b->kind != AST_FACT_VALUE &&
           a->n_params == b->n_params;
}

/* Facts that say how a function is without saying what it gives. */
static void check_property(sema *s, const ast_fact *f)
{
    bool inverse = f->kind == AST_FACT_INVERSE;
    const ast_fact *other = inverse ? ast_find_fact(s->ast, f->other.text, AST_FACT_UNKNOWN) : NULL;
    if (f->kind == AST_FACT_UNKNOWN)
        sema_report(s, CHECK_BAD_FACT, f->word.range, "a function is 'pure', 'monotone', or 'inverse(g)' "
                    "of another one; or write '= EXPR' or '= LO .. HI'");
    else if (f->kind != AST_FACT_VALUE && (f->n_params == 0 || f->n_params > AST_FACT_PARAMS))
        sema_report(s, CHECK_BAD_FACT, f->name.range, "this fact is about functions of 1 to %d values",
                    (int)AST_FACT_PARAMS);
    else if (inverse && f->n_params != 1)
        sema_report(s, CHECK_BAD_FACT, f->name.range, "functions of one value have an inverse");
    else if (inverse && (!other || other->n_params != 1 || other->kind == AST_FACT_VALUE))
        sema_report(s, CHECK_BAD_FACT, f->other.range, "nothing is said of '%s'; write "
                    "'%%fact %s(i) pure', too", f->other.text, f->other.text);
}

static void check_fact(sema *s, size_t number)
{
    const ast_fact *f = s->ast->facts.items[number];
    for (size_t i = 0; i < f->n_params; i++)
        for (size_t k = 0; k < i; k++)
            if (f->params[i].text == f->params[k].text)
                sema_report(s, CHECK_BAD_FACT, f->params[i].range, "parameter '%s' is given twice",
                            f->params[i].text);
    for (size_t i = 0; i < number; i++)
        if (s->ast->facts.items[i]->name.text == f->name.text &&
            s->ast->facts.items[i]->node.range.file == f->node.range.file &&
            !go_together(s->ast->facts.items[i], f)) {
            sema_report(s, CHECK_BAD_FACT, f->node.range, "there is another fact about '%s'",
                        f->name.text);
            diag_note(s->d, s->ast->facts.items[i]->node.range, "this one");
            break;
        }
    fact_look l = {s, f};
    if (f->expr)
        look_into_fact(f->expr, &l);
    if (f->hi)
        look_into_fact(f->hi, &l);
    check_property(s, f);
    if (!s->strict)
        sema_report(s, CHECK_EXTENSION, f->node.range,
                    "%%fact belongs to --std=dag; PaRSEC's compiler does not know it");
}

void sema_resolve(sema *s)
{
    for (size_t i = 0; i < s->ast->facts.n; i++)
        check_fact(s, i);
    s->needed = util_alloc(s->info->n_globals + 1);
    for (size_t i = 0; i < s->info->n_globals; i++)
        resolve_global(s, s->info->globals[i]);
    sema_scope file = {.n_globals = s->info->n_globals};
    for (size_t i = 0; i < s->ast->n_assumes; i++) {
        sema_check_expr(s, &file, s->ast->assumes[i]->expr, true);
        if (!s->strict && s->ast->assumes[i]->node.range.file == s->ast->file)
            sema_report(s, CHECK_EXTENSION, s->ast->assumes[i]->node.range,
                        "%%assume belongs to --std=dag; PaRSEC's compiler does not know it");
    }
    if (s->info->rounds)
        sema_check_expr(s, &file, s->info->rounds, true);
    EACH_CLASS(s, c) {
        resolve_class(s, c);
        class_properties(s, c);
    }
}

/* ---- globals ------------------------------------------------------------------------------- */

void sema_check_global_uses(sema *s)
{
    for (size_t i = 0; i < s->info->n_globals; i++) {
        const sema_global *g = s->info->globals[i];
        if (!g->ast || g->hidden || !(g->init || g->init_c))
            continue;
        if (!s->strict && g->used && !s->needed[g->index])
            continue;                       /* it only steers priorities: harmless */
        sema_report(s, CHECK_OVERWRITTEN_ARGUMENT, g->ast->name.range,
                    "global '%s' is an argument of the constructor%s; add 'hidden = on' or remove "
                    "the default", g->name, s->strict ? ", so that its default has no effect" :
                    " and overwritten by its default");
    }
}

/* ---- reserved names -------------------------------------------------------------------------- */

static bool is_c_keyword(const char *name)
{
    static const char *const words[] = {
        "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else",
        "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register",
        "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch",
        "typedef", "union", "unsigned", "void", "volatile", "while", "class", "this", "template",
        "new", "delete", "namespace", "operator", "private", "public", "try", "catch", "throw",
    };
    return UTIL_AMONG(name, strlen(name), words);
}

static bool ends_with(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);
    return n > m && strcmp(name + n - m, suffix) == 0;
}

static void check_name(sema *s, const ast_ident *name, const char *what)
{
    static const char *const words[] = {"elem_t", "real_t", "CONJ", "FN"};
    static const char *const suffixes[] = {"_ld", "_m", "_n", "_size"};
    static const char *const prefixes[] = {"dag_", "dagi_", "DAG_", "__"};
    const char *why = is_c_keyword(name->text) ? "is a keyword of C or C++" : NULL;
    for (size_t i = 0; s->strict && i < UTIL_COUNT(words); i++)
        if (strcmp(words[i], name->text) == 0)
            why = "is reserved for %precision";
    for (size_t i = 0; s->strict && !why && i < UTIL_COUNT(suffixes); i++)
        if (ends_with(name->text, suffixes[i]))
            why = arena_printf(s->arena, "is reserved: names in %s belong to flows (C gives "
                               "C_ld, C_m, C_n, C_size)", suffixes[i]);
    for (size_t i = 0; s->strict && !why && i < UTIL_COUNT(prefixes); i++)
        if (strncmp(name->text, prefixes[i], strlen(prefixes[i])) == 0)
            why = arena_printf(s->arena, "is reserved: names with %s belong to the runtime",
                               prefixes[i]);
    if (why)
        sema_report(s, CHECK_RESERVED_NAME, name->range, "the name '%s' of this %s %s",
                    name->text, what, why);
}

static void check_class_names(sema *s, const sema_class *c)
{
    check_name(s, &c->ast->name, "task class");
    for (size_t i = 0; i < c->n_locals; i++)
        check_name(s, &c->locals[i].ast->name, "definition");
    EACH_FLOW(c, f) {
        check_name(s, &f->ast->name, "flow");
        const sema_global *g = map_get(&s->globals, f->name);
        if (g && g->ast) {
            sema_report(s, CHECK_FLOW_SHADOWS_GLOBAL, f->ast->name.range,
                        "flow '%s' has the name of a global", f->name);
            diag_note(s->d, g->ast->name.range, "the global is declared here");
        }
        for (size_t i = 0; i < c->n_locals; i++)
            if (c->locals[i].name == f->name) {
                sema_report(s, CHECK_FLOW_SHADOWS_LOCAL, f->ast->name.range,
                            "flow '%s' has the name of a local", f->name);
                diag_note(s->d, c->locals[i].ast->name.range, "the local is defined here");
            }
    }
}

void sema_check_reserved(sema *s)
{
    for (size_t i = 0; i < s->info->n_globals; i++)
        if (s->info->globals[i]->ast)
            check_name(s, &s->info->globals[i]->ast->name, "global");
    EACH_CLASS(s, c)
        check_class_names(s, c);
}

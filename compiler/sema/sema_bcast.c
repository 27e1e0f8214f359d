/* Shapes of broadcasts: what [bcast = ...] may say, and what it says. */
#include "sema_ctx.h"

#include <string.h>

static const char *const words[] = {
    [DAG_BCAST_BINOMIAL] = "binomial", [DAG_BCAST_CHAIN] = "chain", [DAG_BCAST_RING] = "ring",
    [DAG_BCAST_SCATTER] = "scatter", [DAG_BCAST_FLAT] = "flat", [DAG_BCAST_TREES] = "trees",
};

static const char *word_of(const ast_expr *v)
{
    if (!v || (v->kind != AST_NAME && v->kind != AST_CALL_VALUE))
        return "";
    return v->kind == AST_NAME ? v->u.name : v->u.call.name.text;
}

/* 0: it is none. */
static dag_bcast shape_of(const ast_expr *v)
{
    for (size_t i = 1; v->kind == AST_NAME && i < UTIL_COUNT(words); i++)
        if (strcmp(words[i], v->u.name) == 0)
            return (dag_bcast)i;
    return DAG_BCAST_AUTO;
}

/* hier(g), or hier(g, outer, inner). */
static bool is_hier(const ast_expr *v)
{
    return v && v->kind == AST_CALL_VALUE && strcmp(v->u.call.name.text, "hier") == 0 &&
           (v->u.call.n_args == 1 || v->u.call.n_args == 3);
}

static bool is_node(const ast_expr *v)
{
    return v->kind == AST_NAME && strcmp(v->u.name, "node") == 0;
}

static void refuse(sema *s, const ast_prop *p, const ast_expr *v)
{
    util_guess g = {.word = word_of(v)};
    for (size_t i = 1; i < UTIL_COUNT(words); i++)
        util_guess_add(&g, words[i]);
    util_guess_add(&g, "hier");
    bool exact = g.best && strcmp(g.best, g.word) == 0;
    sema_report(s, CHECK_PROPERTY_VALUE, v ? v->node.range : p->node.range,
                "bcast takes binomial, chain, ring, scatter, flat, trees or hier(group, outer, inner)%s",
                exact ? "" : sema_did_you_mean(s, &g));
}

/* A level of a hier(). */
static void check_level(sema *s, const ast_prop *p, const ast_expr *v)
{
    if (shape_of(v) == DAG_BCAST_SCATTER)
        sema_report(s, CHECK_PROPERTY_VALUE, v->node.range,
                    "a scatter goes over all ranks of a broadcast: it is no part of a hier()");
    else if (!shape_of(v))
        refuse(s, p, v);
}

/* One hier(); returns what stands within its groups, NULL where there is no more to look at. */
static const ast_expr *check_hier(sema *s, const sema_scope *sc, const ast_prop *p, const ast_expr *v)
{
    ast_expr **args = v->u.call.args;
    if (args[0]->kind == AST_CALL_VALUE && !ast_function_of(args[0]))
        refuse(s, p, v);
    else if (!is_node(args[0]))
        sema_check_expr(s, sc, args[0], true);
    if (v->u.call.n_args == 1)
        return NULL;
    if (is_hier(args[1])) {
        sema_report(s, CHECK_PROPERTY_VALUE, args[1]->node.range,
                    "groups of groups are written from the outside in: "
                    "hier(large, outer, hier(small, middle, inner))");
        return NULL;
    }
    check_level(s, p, args[1]);
    return args[2];
}

void sema_check_bcast(sema *s, const sema_scope *sc, const ast_prop *p)
{
    const ast_expr *v = p->value;
    if (!is_hier(v)) {
        if (!v || !shape_of(v))
            refuse(s, p, v);
        return;
    }
    for (int level = 1; is_hier(v); level++) {
        if (level == DAG_BCAST_LEVELS) {
            sema_report(s, CHECK_PROPERTY_VALUE, v->node.range, "hier() is written within hier() %d "
                        "times at most", DAG_BCAST_LEVELS - 2);
            return;
        }
        v = check_hier(s, sc, p, v);
    }
    if (v)
        check_level(s, p, v);
}

void sema_read_bcast(sema_edge *e)
{
    const ast_prop *p = ast_find_prop(e->dep->props, "bcast");
    const ast_expr *v = p ? p->value : NULL;
    unsigned shapes = 0;
    int level = 0;
    for (; is_hier(v) && level + 1 < DAG_BCAST_LEVELS; level++) {
        ast_expr **args = v->u.call.args;
        bool brief = v->u.call.n_args == 1;
        e->bcast_group[level] = is_node(args[0]) ? NULL : args[0];
        shapes |= DAG_BCAST_WITHIN(level, brief ? (unsigned)DAG_BCAST_BINOMIAL : shape_of(args[1]));
        if (brief)
            shapes |= DAG_BCAST_WITHIN(level + 1, (unsigned)DAG_BCAST_BINOMIAL);
        v = brief ? NULL : args[2];
    }
    if (v)
        shapes |= DAG_BCAST_WITHIN(level, (unsigned)shape_of(v));
    e->bcast = (uint16_t)shapes;
}

/* The parameters of a file: every global and member that an expression of the graph mentions, and
 * the sizes of matrices that memory references are held against; and what is known about them. */
#include "poly.h"

#include <isl/options.h>
#include <stdlib.h>
#include <string.h>

/* ---- collecting ---------------------------------------------------------------------------- */

static bool one_of(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(*list, word) == 0)
            return true;
    return false;
}

static bool is_matrix(const sema_global *g)
{
    return g->kind == SEMA_MATRIX || (g->c_type && strstr(g->c_type, "matrix"));
}

static bool is_vector(const sema_global *g)
{
    return g->c_type && strcmp(g->c_type, "dag_vector *") == 0;
}

/* D->super.size, or D->size of a collection itself: the number of ranks. */
static bool counts_ranks(const sema_global *g, const char *name, const char *field)
{
    size_t n = strlen(name), root = strlen(g->name);
    if (!field || strcmp(field, "size") != 0 || !g->c_type)
        return false;
    if (strcmp(g->c_type, "dag_collection *") == 0)
        return n == root + strlen("->size");
    bool inside = is_vector(g) || strcmp(g->c_type, "dag_matrix *") == 0;
    return inside && n == root + strlen("->super.size");
}

static void add_param(poly *m, const char *name, const sema_global *root,
                      const char *field)
{
    static const char *const counts[] = {"mt", "nt", "lmt", "lnt", NULL};
    int known = lift_find_param(m, name);
    if (known >= 0) {
        m->params[known].aside = m->params[known].aside && m->aside;
        m->params[known].said = m->params[known].said || m->in_class;
        return;
    }
    m->params = util_realloc(m->params, (m->n_params + 1) * sizeof(*m->params));
    bool scalar = !field && !root->init, sized = field && is_matrix(root);
    m->params[m->n_params++] = (poly_param){
        .name = arena_strndup(m->arena, name, strlen(name)),
        .aside = m->aside,
        .said = m->in_class,
        .root = root,
        .field = field,
        .count = sized && one_of(field, counts),
        .scalar = scalar,
        .ranks = counts_ranks(root, name, field),
        .rows = sized ? strcmp(field, "p") == 0 : scalar && strcmp(name, "P") == 0,
        .cols = sized ? strcmp(field, "q") == 0 : scalar && strcmp(name, "Q") == 0,
    };
}

static void collect(const ast_expr *e, void *arg);

/* Integers that inline C names: in the second walk, aside of the others. */
static void collect_code(poly *m, const ast_expr *e)
{
    const sema_ref *refs = sema_captures_of(m->sema, e);
    for (; m->aside && refs && refs->kind != SEMA_REF_NONE; refs++) {
        const sema_global *g = refs->kind == SEMA_REF_GLOBAL ? refs->u.global : NULL;
        if (g && g->kind == SEMA_INT && !g->init)
            add_param(m, g->name, g, NULL);
        else if (g && g->kind == SEMA_INT)
            collect(g->init, m);
    }
}

static void collect(const ast_expr *e, void *arg)
{
    poly *m = arg;
    if (!e)
        return;
    if (e->kind == AST_STRING) {
        collect(e->u.string.parsed, m);
        return;
    }
    if (e->kind == AST_INLINE_C) {
        if (!m->aside)
            collect(e->u.code.parsed, m);
        collect_code(m, e);
        return;
    }
    text spelling = {0};
    const sema_global *root = NULL;
    if (lift_spelling(m->sema, e, &spelling, &root)) {
        if (e->kind == AST_MEMBER)
            add_param(m, text_str(&spelling), root, e->u.member.field.text);
        else if (root->kind == SEMA_INT) {
            add_param(m, text_str(&spelling), root, NULL);
            collect(root->init, m);
        }
    } else {
        ast_each_child(e, collect, m);
    }
    text_free(&spelling);
}

static void collect_call(poly *m, const ast_call *c, const sema_global *collection)
{
    ast_each_in_call(c, collect, m);
    if (m->aside && collection && c->n_args == 1 && is_vector(collection)) {
        text spelling = {0};
        text_printf(&spelling, "%s->count", collection->name);
        add_param(m, text_str(&spelling), collection, "count");
        text_free(&spelling);
    }
    /* Sizes that the file does not mention: under --std=parsec nothing is known about them and
     * nothing was promised. */
    if (m->aside || m->sema->dialect == DIALECT_PARSEC || !collection || c->n_args != 2 ||
        !is_matrix(collection))
        return;
    static const char *const fields[] = {"mt", "nt"};
    bool pointer = collection->c_type && strchr(collection->c_type, '*');
    m->in_class = false;
    for (size_t i = 0; i < UTIL_COUNT(fields); i++) {
        text spelling = {0};
        text_printf(&spelling, "%s%s%s", collection->name, pointer ? "->" : ".", fields[i]);
        add_param(m, text_str(&spelling), collection, fields[i]);
        text_free(&spelling);
    }
    m->in_class = true;
}

static void collect_class(poly *m, const sema_class *cls)
{
    for (size_t i = 0; i < cls->ast->n_locals; i++)
        ast_each_in_value(cls->ast->locals[i]->value, collect, m);
    collect_call(m, cls->ast->placement, m->aside ? cls->placement : NULL);
    for (size_t f = 0; f < cls->n_flows; f++) {
        for (size_t e = 0; e < cls->flows[f].n_edges; e++) {
            const sema_edge *edge = &cls->flows[f].edges[e];
            ast_each_in_indices(edge->dep->indices, collect, m);
            collect(edge->cond, m);
            collect_call(m, edge->call, edge->target);
        }
    }
}

void poly_begin(poly *m, const sema_info *sema, arena *a, unsigned long max_operations,
                const int64_t *grid)
{
    poly_begin_in(isl_ctx_alloc(), m, sema, a, max_operations, grid);
    m->borrowed = false;
}

void poly_begin_in(isl_ctx *isl, poly *m, const sema_info *sema, arena *a,
                   unsigned long max_operations, const int64_t *grid)
{
    const ast_file *file = sema->ast;
    *m = (poly){.sema = sema, .arena = a, .isl = isl, .borrowed = true};
    if (grid)
        memcpy(m->grid, grid, sizeof(m->grid));
    isl_options_set_on_error(m->isl, ISL_ON_ERROR_CONTINUE);
    isl_ctx_set_max_operations(m->isl, max_operations);
    for (int walk = 0; walk < 2; walk++) {
        m->aside = walk == 1;
        m->in_class = false;
        for (size_t i = 0; i < file->n_assumes; i++)
            collect(file->assumes[i]->expr, m);
        m->in_class = !m->aside;
        for (size_t i = 0; i < sema->n_classes; i++)
            collect_class(m, &sema->classes[i]);
    }
    m->param_space = isl_space_params_alloc(m->isl, (unsigned)m->n_params);
    for (size_t i = 0; i < m->n_params; i++) {
        isl_id *id = isl_id_alloc(m->isl, m->params[i].name, &m->params[i]);
        m->param_space = isl_space_set_dim_id(m->param_space, isl_dim_param, (unsigned)i, id);
    }
}

void poly_end(poly *m)
{
    isl_space_free(m->param_space);
    isl_set_free(m->said);
    poly_end_terms(m);
    if (!m->borrowed)
        isl_ctx_free(m->isl);
    free(m->params);
}

/* ---- facts --------------------------------------------------------------------------------- */

/* A scope without variables, for conditions on the parameters alone, and what they add up to. */
typedef struct known {
    lift_scope scope;
    isl_set *facts;
} known;

static isl_pw_aff *param_aff(known *k, size_t pos)
{
    return lift_dimension(&k->scope, isl_dim_param, (int)pos);
}

static void know(known *k, isl_set *set)
{
    k->facts = isl_set_intersect(k->facts, isl_set_params(set));
}

static void at_least(known *k, size_t pos, long low)
{
    know(k, isl_pw_aff_ge_set(param_aff(k, pos), lift_number(&k->scope, low)));
}

/* 0 <= tiles <= rows, and both are zero or none. */
static void tiles_of(known *k, size_t tiles, size_t rows)
{
    know(k, isl_pw_aff_le_set(param_aff(k, tiles), param_aff(k, rows)));
    isl_set *none = isl_pw_aff_le_set(param_aff(k, rows), lift_number(&k->scope, 0));
    isl_set *some = isl_pw_aff_ge_set(param_aff(k, tiles), lift_number(&k->scope, 1));
    know(k, isl_set_union(none, some));
}

static void pair_facts(known *k, size_t i, size_t j)
{
    const poly_param *a = &k->scope.poly->params[i], *b = &k->scope.poly->params[j];
    static const char *const pairs[][2] = {
        {"mt", "m"}, {"nt", "n"}, {"lmt", "lm"}, {"lnt", "ln"}};
    if (a->root != b->root || !a->field || !b->field || i == j)
        return;
    if (i < j && strcmp(a->field, b->field) == 0)   /* A->mt and A->super.mt */
        know(k, isl_pw_aff_eq_set(param_aff(k, i), param_aff(k, j)));
    for (size_t x = 0; x < UTIL_COUNT(pairs); x++)
        if (strcmp(a->field, pairs[x][0]) == 0 && strcmp(b->field, pairs[x][1]) == 0)
            tiles_of(k, i, j);
}

static void matrix_facts(known *k)
{
    static const char *const not_negative[] = {"m",  "n",  "mt",  "nt",  "lm",
                                               "ln", "lmt", "lnt", NULL};
    static const char *const positive[] = {"mb", "nb", "p", "q", NULL};
    const poly *m = k->scope.poly;
    for (size_t i = 0; i < m->n_params; i++) {
        const poly_param *p = &m->params[i];
        if (p->field && is_vector(p->root) && strcmp(p->field, "count") == 0 && !p->aside)
            at_least(k, i, 0);
        if (p->ranks || (m->terms && (p->rows || p->cols)))
            at_least(k, i, 1);
        if (!p->field || !is_matrix(p->root))
            continue;
        if (one_of(p->field, not_negative))
            at_least(k, i, 0);
        else if (one_of(p->field, positive))
            at_least(k, i, 1);
        for (size_t j = 0; j < m->n_params; j++)
            pair_facts(k, i, j);
    }
}

/* Terms are made of what is positive by what is known when they are met. */
static void known_so_far(poly *m, const known *k)
{
    if (!m->terms)
        return;
    isl_set_free(m->terms->facts);
    m->terms->facts = isl_set_copy(k->facts);
}

/* What facts (taken) say of those parameters that an expression of a class mentions, for all values that the
 * others may have: often one case where facts have several. */
static isl_set *of_classes(const poly *m, isl_set *facts)
{
    if (isl_set_n_basic_set(facts) < 2)
        return facts;
    for (size_t i = 0; i < m->n_params; i++)
        if (!m->params[i].said)
            facts = isl_set_eliminate(facts, isl_dim_param, (unsigned)i, 1);
    return isl_set_coalesce(facts);
}

isl_set *lift_facts(poly *m, bool *assume_exact)
{
    const ast_file *file = m->sema->ast;
    known k = {
        .scope = {.poly = m,
                  .space = isl_space_set_from_params(isl_space_copy(m->param_space))},
        .facts = isl_set_universe(isl_space_copy(m->param_space)),
    };
    matrix_facts(&k);
    for (size_t i = 0; i < file->n_assumes; i++) {
        assume_exact[i] = true;     /* an over-approximated fact says less: safe */
        known_so_far(m, &k);
        know(&k, lift_cond(&k.scope, file->assumes[i]->expr, false, &assume_exact[i]));
    }
    known_so_far(m, &k);
    isl_space_free(k.scope.space);
    k.facts = isl_set_coalesce(k.facts);
    m->said = m->terms ? isl_set_copy(k.facts) : of_classes(m, isl_set_copy(k.facts));
    return k.facts;
}

/* The parameters of a file: every global and member that an expression of the graph mentions, and
 * the sizes of matrices that memory references are held against; and what is known about them. */
#include "model.h"

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

int lift_find_param(const verify_model *m, const char *name)
{
    for (size_t i = 0; i < m->n_params; i++)
        if (strcmp(m->params[i].name, name) == 0)
            return (int)i;
    return -1;
}

static void add_param(verify_model *m, const char *name, const sema_global *root,
                      const char *field)
{
    static const char *const counts[] = {"mt", "nt", "lmt", "lnt", NULL};
    if (lift_find_param(m, name) >= 0)
        return;
    m->params = util_realloc(m->params, (m->n_params + 1) * sizeof(*m->params));
    m->params[m->n_params++] = (verify_param){
        .name = arena_strndup(m->arena, name, strlen(name)),
        .root = root,
        .field = field,
        .count = field && is_matrix(root) && one_of(field, counts),
        .scalar = !field && !root->init,
        .rows = field ? is_matrix(root) && strcmp(field, "p") == 0 : strcmp(name, "P") == 0,
        .cols = field ? is_matrix(root) && strcmp(field, "q") == 0 : strcmp(name, "Q") == 0,
    };
}

static void collect(const ast_expr *e, void *arg)
{
    verify_model *m = arg;
    if (!e)
        return;
    if (e->kind == AST_STRING) {
        collect(e->u.string.parsed, m);
        return;
    }
    text spelling = {0};
    const sema_global *root = NULL;
    if (lift_spelling(m, e, &spelling, &root)) {
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

static void collect_indices(verify_model *m, const ast_indices *list)
{
    for (size_t i = 0; list && i < list->n; i++) {
        collect(list->items[i]->lo, m);
        collect(list->items[i]->hi, m);
        collect(list->items[i]->step, m);
    }
}

static void collect_value(verify_model *m, const ast_value *v)
{
    collect_indices(m, v->indices);
    collect(v->lo, m);
    collect(v->hi, m);
    collect(v->step, m);
}

static void collect_call(verify_model *m, const ast_call *c, const sema_global *collection)
{
    if (!c)
        return;
    collect_indices(m, c->indices);
    for (size_t i = 0; i < c->n_args; i++)
        collect_value(m, c->args[i]);
    /* Sizes that the file does not mention: under --std=parsec nothing is known about them and
     * nothing was promised. */
    if (m->sema->dialect == DIALECT_PARSEC || !collection || c->n_args != 2 ||
        !is_matrix(collection))
        return;
    static const char *const fields[] = {"mt", "nt"};
    bool pointer = collection->c_type && strchr(collection->c_type, '*');
    for (size_t i = 0; i < UTIL_COUNT(fields); i++) {
        text spelling = {0};
        text_printf(&spelling, "%s%s%s", collection->name, pointer ? "->" : ".", fields[i]);
        add_param(m, text_str(&spelling), collection, fields[i]);
        text_free(&spelling);
    }
}

static void collect_class(verify_model *m, const sema_class *cls)
{
    for (size_t i = 0; i < cls->ast->n_locals; i++)
        collect_value(m, cls->ast->locals[i]->value);
    collect_call(m, cls->ast->placement, NULL);
    for (size_t f = 0; f < cls->n_flows; f++) {
        for (size_t e = 0; e < cls->flows[f].n_edges; e++) {
            const sema_edge *edge = &cls->flows[f].edges[e];
            collect_indices(m, edge->dep->indices);
            collect(edge->cond, m);
            collect_call(m, edge->call, edge->target);
        }
    }
}

void lift_parameters(verify_model *m)
{
    for (size_t i = 0; i < m->file->n_assumes; i++)
        collect(m->file->assumes[i]->expr, m);
    for (size_t i = 0; i < m->n_classes; i++)
        collect_class(m, m->classes[i].sema);
    m->param_space = isl_space_params_alloc(m->isl, (unsigned)m->n_params);
    for (size_t i = 0; i < m->n_params; i++) {
        isl_id *id = isl_id_alloc(m->isl, m->params[i].name, &m->params[i]);
        m->param_space = isl_space_set_dim_id(m->param_space, isl_dim_param, (unsigned)i, id);
    }
}

/* ---- facts --------------------------------------------------------------------------------- */

/* A scope without variables: conditions on the parameters alone. */
static lift_scope param_scope(verify_model *m)
{
    return (lift_scope){
        .model = m,
        .space = isl_space_set_from_params(isl_space_copy(m->param_space)),
    };
}

static isl_pw_aff *param_aff(lift_scope *s, size_t pos)
{
    isl_local_space *ls = isl_local_space_from_space(isl_space_copy(s->space));
    return isl_pw_aff_from_aff(isl_aff_var_on_domain(ls, isl_dim_param, (unsigned)pos));
}

static isl_pw_aff *number(lift_scope *s, long value)
{
    isl_local_space *ls = isl_local_space_from_space(isl_space_copy(s->space));
    return isl_pw_aff_from_aff(
        isl_aff_val_on_domain(ls, isl_val_int_from_si(s->model->isl, value)));
}

static void know(lift_scope *s, isl_set *set)
{
    s->model->facts = isl_set_intersect(s->model->facts, isl_set_params(set));
}

static void at_least(lift_scope *s, size_t pos, long low)
{
    know(s, isl_pw_aff_ge_set(param_aff(s, pos), number(s, low)));
}

/* 0 <= tiles <= rows, and both are zero or none. */
static void tiles_of(lift_scope *s, size_t tiles, size_t rows)
{
    know(s, isl_pw_aff_le_set(param_aff(s, tiles), param_aff(s, rows)));
    isl_set *none = isl_pw_aff_le_set(param_aff(s, rows), number(s, 0));
    isl_set *some = isl_pw_aff_ge_set(param_aff(s, tiles), number(s, 1));
    know(s, isl_set_union(none, some));
}

static void pair_facts(lift_scope *s, size_t i, size_t j)
{
    const verify_param *a = &s->model->params[i], *b = &s->model->params[j];
    static const char *const pairs[][2] = {
        {"mt", "m"}, {"nt", "n"}, {"lmt", "lm"}, {"lnt", "ln"}};
    if (a->root != b->root || !a->field || !b->field || i == j)
        return;
    if (i < j && strcmp(a->field, b->field) == 0)   /* A->mt and A->super.mt */
        know(s, isl_pw_aff_eq_set(param_aff(s, i), param_aff(s, j)));
    for (size_t k = 0; k < UTIL_COUNT(pairs); k++)
        if (strcmp(a->field, pairs[k][0]) == 0 && strcmp(b->field, pairs[k][1]) == 0)
            tiles_of(s, i, j);
}

static void matrix_facts(lift_scope *s)
{
    static const char *const not_negative[] = {"m",  "n",  "mt",  "nt",  "lm",
                                               "ln", "lmt", "lnt", NULL};
    static const char *const positive[] = {"mb", "nb", "p", "q", NULL};
    const verify_model *m = s->model;
    for (size_t i = 0; i < m->n_params; i++) {
        const verify_param *p = &m->params[i];
        if (!p->field || !is_matrix(p->root))
            continue;
        if (one_of(p->field, not_negative))
            at_least(s, i, 0);
        else if (one_of(p->field, positive))
            at_least(s, i, 1);
        for (size_t j = 0; j < m->n_params; j++)
            pair_facts(s, i, j);
    }
}

void lift_facts(verify_model *m)
{
    lift_scope s = param_scope(m);
    m->facts = isl_set_universe(isl_space_copy(m->param_space));
    m->assume_exact = arena_alloc(m->arena, m->file->n_assumes * sizeof(bool) + 1);
    matrix_facts(&s);
    for (size_t i = 0; i < m->file->n_assumes; i++) {
        bool *exact = &m->assume_exact[i];      /* an over-approximated fact says less: safe */
        *exact = true;
        know(&s, lift_cond(&s, m->file->assumes[i]->expr, false, exact));
    }
    m->facts = isl_set_coalesce(m->facts);
    isl_space_free(s.space);
}

/* dagcc --same: are two files one graph? */
#include "same.h"

#include <stdlib.h>
#include <string.h>

/* ---- begin and end -------------------------------------------------------------------------- */

static void lift_both(same *s, const sema_info *const *info)
{
    verify_options o = {.max_operations = s->options->max_operations};
    for (int i = 0; i < 2; i++) {
        same_file *f = &s->file[i];
        f->number = i;
        f->sema = info[i];
        f->label = src_name(info[i]->ast->sources, info[i]->ast->file);
        f->m = verify_lift_in(s->isl, info[i]->ast, info[i], s->d, &o, NULL);
        f->common = arena_alloc(s->arena, (info[i]->n_classes + 1) * sizeof(*f->common));
        if (f->m->gave_up)
            same_doubt(s, info[i]->n_classes ? info[i]->classes[0].ast->head : (src_range){0},
                       (src_range){0}, NULL);
    }
}

/* What both files say of the parameters; the parameters of both, for witnesses. */
static void join_params(same *s)
{
    isl_set *all = isl_set_universe(isl_space_params_alloc(s->isl, 0));
    size_t n = 0;
    poly_param *params = arena_alloc(s->arena, (s->file[0].m->poly.n_params +
                                                s->file[1].m->poly.n_params + 1) * sizeof(*params));
    for (int i = 0; i < 2; i++) {
        const same_file *f = &s->file[i];
        isl_map *facts = isl_map_from_range(isl_set_from_params(isl_set_copy(f->m->facts)));
        facts = same_common_params(s, f, facts);
        all = isl_set_intersect(all, isl_map_params(facts));
    }
    isl_space *space = isl_set_get_space(all);
    isl_size total = isl_space_dim(space, isl_dim_param);
    for (isl_size k = 0; k < total; k++) {
        const char *name = isl_space_get_dim_name(space, isl_dim_param, (unsigned)k);
        for (int i = 0; i < 2 && n == (size_t)k; i++) {
            const poly *p = &s->file[i].m->poly;
            for (size_t x = 0; x < p->n_params && n == (size_t)k; x++)
                if (strcmp(same_param(s, &s->file[i], p->params[x].name), name) == 0)
                    params[n++] = p->params[x];
        }
        params[k].name = name;
    }
    s->facts = isl_set_coalesce(all);
    const verify_model *m = s->file[0].m;
    s->joint = (verify_model){.sema = m->sema, .d = s->d, .arena = s->arena,
                              .operations = m->operations};
    s->joint.file = arena_alloc(s->arena, sizeof(ast_file));    /* its assumptions are in facts */
    s->joint.poly = (poly){.sema = m->sema, .arena = s->arena, .isl = s->isl, .params = params,
                           .n_params = n, .param_space = space, .borrowed = true};
}

static void free_all(same *s)
{
    for (int i = 0; i < 2; i++) {
        same_file *f = &s->file[i];
        same_free_links(f);
        for (size_t k = 0; k < f->sema->n_classes; k++)
            isl_map_free(f->common[k]);
        verify_model_free(f->m);
    }
    isl_space_free(s->joint.poly.param_space);
    isl_set_free(s->facts);
    isl_ctx_free(s->isl);
    names_free(s->names);
    arena_free(s->arena);
}

/* ---- classes -------------------------------------------------------------------------------- */

/* Both files' class of one name; NULL where a file has none that counts. */
typedef struct twins {
    const char *name;
    const verify_class *of[2];
} twins;

static isl_set *common_space(const same *s, const same_file *f, const verify_class *c, isl_map *to)
{
    isl_set *space = isl_set_copy(c->space);
    space = to ? isl_set_apply(space, isl_map_copy(to)) : space;
    return isl_map_range(same_common_params(s, f, isl_map_from_range(space)));
}

/* Has the parameter one value in all tasks of the class, for given globals? */
static bool one_valued(const same *s, const same_file *f, const verify_class *c, size_t pos)
{
    isl_set *space = common_space(s, f, c, NULL);
    unsigned n = (unsigned)c->sema->n_params, at = (unsigned)pos;
    space = isl_set_project_out(space, isl_dim_set, at + 1, n - at - 1);
    space = isl_set_project_out(space, isl_dim_set, 0, at);
    isl_map *values = isl_map_from_range(isl_set_reset_tuple_id(space));
    bool one = isl_map_is_single_valued(values) == isl_bool_true;
    isl_map_free(values);
    return one;
}

/* The number of the parameter of this common name, or n_params. */
static size_t find_parameter(const same *s, const same_file *f, const verify_class *c,
                             const char *common)
{
    size_t i = 0;
    while (i < c->sema->n_params &&
           same_name(s, f, c->sema->name, c->sema->params[i]->name) != common)
        i++;
    return i;
}

/* c[parameters] -> name[those of the list], called so. */
static isl_map *to_common(const same *s, const same_file *f, const verify_class *c,
                          const char *const *list, size_t n)
{
    isl_space *space = isl_set_get_space(c->space);
    isl_local_space *ls = isl_local_space_from_space(isl_space_copy(space));
    isl_map *map = isl_map_from_domain(isl_set_universe(space));
    map = isl_map_add_dims(map, isl_dim_out, (unsigned)n);
    isl_multi_aff *values = isl_multi_aff_zero(isl_map_get_space(map));
    isl_map_free(map);
    for (size_t i = 0; i < n; i++) {
        unsigned pos = (unsigned)find_parameter(s, f, c, list[i]);
        values = isl_multi_aff_set_aff(values, (int)i,
                                       isl_aff_var_on_domain(isl_local_space_copy(ls), isl_dim_set,
                                                             pos));
    }
    isl_local_space_free(ls);
    map = isl_map_from_multi_aff(values);
    for (size_t i = 0; i < n; i++)
        map = isl_map_set_dim_name(map, isl_dim_out, (unsigned)i, list[i]);
    const char *name = same_name(s, f, NULL, c->sema->name);
    return isl_map_set_tuple_id(map, isl_dim_out, isl_id_alloc(s->isl, name, NULL));
}

/* A parameter that the other file does not have is one of several values: that is a difference. */
static void check_left_out(same *s, const twins *t, int in, size_t pos)
{
    const same_file *f = &s->file[in];
    const verify_class *c = t->of[in], *o = t->of[!in];
    if (one_valued(s, f, c, pos) || s->different)
        return;
    diag_report(s->d, diag_find(s->d, "different"), c->sema->params[pos]->ast->name.range,
                "the parameter '%s' of '%s' in %s has several values, and the class has no such "
                "parameter in %s", c->sema->params[pos]->name, c->sema->name, f->label,
                s->file[!in].label);
    diag_note(s->d, o->sema->ast->head, "the class in %s; --rename says which names are "
              "meant to be the same", s->file[!in].label);
    s->different = true;
}

/* The common tuple of a class that is in both files, or in one. */
static void choose_parameters(same *s, const twins *t)
{
    int base = t->of[0] ? 0 : 1;
    const verify_class *c = t->of[base];
    const char **list = arena_alloc(s->arena, (c->sema->n_params + 1) * sizeof(*list));
    size_t n = 0;
    for (size_t i = 0; i < c->sema->n_params; i++) {
        const char *name = same_name(s, &s->file[base], c->sema->name, c->sema->params[i]->name);
        bool both = !t->of[!base] || find_parameter(s, &s->file[!base], t->of[!base], name) <
                                         t->of[!base]->sema->n_params;
        if (both)
            list[n++] = name;
        else
            check_left_out(s, t, base, i);
    }
    for (size_t i = 0; t->of[0] && t->of[1] && i < t->of[1]->sema->n_params; i++) {
        const verify_class *d = t->of[1];
        const char *name = same_name(s, &s->file[1], d->sema->name, d->sema->params[i]->name);
        if (find_parameter(s, &s->file[0], c, name) == c->sema->n_params)
            check_left_out(s, t, 1, i);
    }
    for (int i = 0; i < 2; i++)
        if (t->of[i])
            s->file[i].common[t->of[i]->sema->index] = to_common(s, &s->file[i], t->of[i], list, n);
}

static same_link task_link(same *s, const twins *t, int i)
{
    const verify_class *c = t->of[i];
    const same_file *f = &s->file[i];
    isl_set *space = common_space(s, f, c, f->common[c->sema->index]);
    return (same_link){.from = {SAME_NEW, NULL, NULL, 0},
                       .to = {SAME_ORDER, t->name, NULL, 0},
                       .rel = isl_map_from_range(space),
                       .where = c->sema->ast->head,
                       .region = ~0u,
                       .text = c->exact ? NULL : same_space_text(s, f, c),
                       .opaque_at = c->opaque_at,
                       .why = c->why};
}

static void compare_tasks(same *s, const twins *t)
{
    same_link link[2] = {0};
    const same_link *list[2] = {&link[0], &link[1]};
    for (int i = 0; i < 2; i++)
        if (t->of[i])
            link[i] = task_link(s, t, i);
    /* Witnesses keep the link that they are of. */
    for (int i = 0; i < 2; i++)
        list[i] = arena_copy(s->arena, &link[i], 1, sizeof(link[i]));
    same_compare(s, SAME_RECEIVERS, &list[0], t->of[0] != NULL, &list[1], t->of[1] != NULL, ~0u);
    for (int i = 0; i < 2; i++)
        isl_map_free(link[i].rel);
}

/* All classes that count, by common name: those of the first file, then others. */
static size_t list_classes(same *s, twins *all)
{
    size_t n = 0;
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < s->file[i].sema->n_classes; k++) {
            const verify_class *c = &s->file[i].m->classes[k];
            const char *name = same_name(s, &s->file[i], NULL, c->sema->name);
            const verify_class *o = same_find_class(s, &s->file[!i], name);
            bool twin = o && !s->file[!i].relay[o->sema->index];
            if (s->file[i].relay[k] || (i == 1 && twin))
                continue;
            all[n] = (twins){.name = name};
            all[n].of[i] = c;
            all[n++].of[!i] = twin ? o : NULL;
        }
    return n;
}

static void compare_classes(same *s)
{
    size_t most = s->file[0].sema->n_classes + s->file[1].sema->n_classes;
    twins *all = arena_alloc(s->arena, (most + 1) * sizeof(*all));
    size_t n = list_classes(s, all);
    for (size_t i = 0; i < n; i++)
        choose_parameters(s, &all[i]);
    for (size_t i = 0; i < n && !s->different; i++)
        compare_tasks(s, &all[i]);
    same_report(s);
}

/* ---- edges ---------------------------------------------------------------------------------- */

typedef struct gathered {
    const same_link **items;
    size_t n;
    unsigned partial;           /* regions of those that do not store all */
} gathered;

static gathered gather(same *s, int in, same_view view, const same_link *like, unsigned region)
{
    const same_links *list = &s->file[in].views[view];
    gathered g = {.items = arena_alloc(s->arena, (list->n + 1) * sizeof(*g.items))};
    for (size_t i = 0; i < list->n; i++) {
        const same_link *l = &list->items[i];
        if (!same_nodes_equal(&l->from, &like->from) || !same_nodes_equal(&l->to, &like->to) ||
            !(l->region & region))
            continue;
        g.items[g.n++] = l;
        g.partial |= l->region != 7u;
    }
    return g;
}

static void compare_like(same *s, same_view view, const same_link *like)
{
    gathered a = gather(s, 0, view, like, 7u), b = gather(s, 1, view, like, 7u);
    if (!a.partial && !b.partial) {
        same_compare(s, view, a.items, a.n, b.items, b.n, 7u);
        return;
    }
    for (unsigned bit = 1; bit < 8; bit *= 2) {
        a = gather(s, 0, view, like, bit);
        b = gather(s, 1, view, like, bit);
        if (a.n + b.n)
            same_compare(s, view, a.items, a.n, b.items, b.n, bit);
    }
}

/* Was a link between these nodes there before? */
static bool known(const same *s, same_view view, int in, size_t number)
{
    const same_link *l = &s->file[in].views[view].items[number];
    for (int k = 0; k <= in; k++)
        for (size_t i = 0; i < (k == in ? number : s->file[k].views[view].n); i++) {
            const same_link *o = &s->file[k].views[view].items[i];
            if (same_nodes_equal(&o->from, &l->from) && same_nodes_equal(&o->to, &l->to))
                return true;
        }
    return false;
}

static void compare_links(same *s)
{
    for (int i = 0; i < 2; i++)
        same_make_links(s, &s->file[i]);
    for (same_view v = 0; v < SAME_VIEWS && !s->different; v++) {
        for (int i = 0; i < 2; i++)
            for (size_t k = 0; k < s->file[i].views[v].n; k++)
                if (!known(s, v, i, k))
                    compare_like(s, v, &s->file[i].views[v].items[k]);
        same_report(s);
    }
}

/* ---- all ------------------------------------------------------------------------------------ */

static verify_sameness compare(same *s)
{
    if (!same_read_renames(s))
        return VERIFY_WRONG_NAMES;
    join_params(s);
    if (isl_set_is_empty(s->facts) == isl_bool_true) {
        same_doubt(s, (src_range){0}, (src_range){0},
                   "no values satisfy the assumptions of both files at once");
    } else if (!s->why) {
        for (int i = 0; i < 2; i++)
            same_find_relays(s, &s->file[i]);
        compare_classes(s);
        if (!s->different)
            compare_links(s);
    }
    bool undecided = !s->different && s->why;
    if (undecided)
        diag_report(s->d, diag_find(s->d, "not-compared"), s->doubt,
                    "whether %s and %s are the same graph cannot be decided: %s", s->file[0].label,
                    s->file[1].label, s->why);
    if (undecided && !src_range_is_none(s->other))
        diag_note(s->d, s->other, "the other file says it here");
    return s->different ? VERIFY_DIFFERENT : s->why ? VERIFY_NOT_COMPARED : VERIFY_SAME;
}

verify_sameness verify_same(const sema_info *first, const sema_info *second, diag *d,
                            const verify_same_options *options)
{
    same s = {.isl = isl_ctx_alloc(), .arena = arena_new(), .names = names_new(), .d = d,
              .options = options};
    const sema_info *const both[] = {first, second};
    lift_both(&s, both);
    verify_sameness result = compare(&s);
    free_all(&s);
    return result;
}

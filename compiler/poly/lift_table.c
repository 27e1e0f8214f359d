/* The terms of a file and the parameters of isl that stand for them: of each class a few, in the order in which they
 * were found, and a few of globals alone. */
#include "lift_terms.h"

#include <stdlib.h>

static int place_of(const poly *m, int i)
{
    return (int)m->n_params + i;
}

/* The parameter for one more term. */
static void add_place(poly *m, const char *name)
{
    isl_size n = isl_space_dim(m->param_space, isl_dim_param);
    m->param_space = isl_space_add_dims(m->param_space, isl_dim_param, 1);
    isl_id *id = isl_id_alloc(m->isl, name, NULL);
    m->param_space = isl_space_set_dim_id(m->param_space, isl_dim_param, n < 0 ? 0 : (unsigned)n, id);
}

void lift_free_values(poly_term *t)
{
    for (int i = 0; i < POLY_VALUES; i++)
        t->of[i] = isl_pw_aff_free(t->of[i]);
}

void lift_add_places(poly *m)
{
    for (int i = 0; i < 2 * POLY_OWN_TERMS + POLY_SHARED_TERMS; i++)
        add_place(m, arena_printf(m->arena, "$%d", i));
    m->terms->facts = isl_set_universe(isl_space_copy(m->param_space));
}

void poly_end_terms(poly *m)
{
    for (size_t i = 0; m->terms && i < m->terms->n; i++)
        lift_free_values(&m->terms->items[i]);
    if (m->terms) {
        isl_set_free(m->terms->facts);
        free(m->terms->items);
    }
    free(m->terms);
    m->terms = NULL;
}

/* ---- the second task ------------------------------------------------------------------------ */

/* The place of the i-th parameter when the terms of two tasks change places. */
static unsigned turned(const poly *m, unsigned i)
{
    unsigned first = (unsigned)m->n_params, own = POLY_OWN_TERMS;
    return i < first || i >= first + 2 * own ? i : i < first + own ? i + own : i - own;
}

/* The id that the i-th parameter has then. */
static isl_id *turned_id(const poly *m, unsigned i)
{
    return isl_space_get_dim_id(m->param_space, isl_dim_param, turned(m, i));
}

isl_set *poly_turn_set(const poly *m, isl_set *set)
{
    if (!m->terms)
        return set;
    set = isl_set_align_params(set, isl_space_copy(m->param_space));
    for (unsigned i = (unsigned)m->n_params; i < m->n_params + 2 * POLY_OWN_TERMS; i++)
        set = isl_set_set_dim_id(set, isl_dim_param, i, turned_id(m, i));
    return isl_set_align_params(set, isl_space_copy(m->param_space));
}

isl_map *poly_turn_map(const poly *m, isl_map *map)
{
    if (!m->terms)
        return map;
    map = isl_map_align_params(map, isl_space_copy(m->param_space));
    for (unsigned i = (unsigned)m->n_params; i < m->n_params + 2 * POLY_OWN_TERMS; i++)
        map = isl_map_set_dim_id(map, isl_dim_param, i, turned_id(m, i));
    return isl_map_align_params(map, isl_space_copy(m->param_space));
}

isl_pw_aff *poly_turn_value(const poly *m, isl_pw_aff *pa)
{
    pa = isl_pw_aff_align_params(pa, isl_space_copy(m->param_space));
    for (unsigned i = (unsigned)m->n_params; i < m->n_params + 2 * POLY_OWN_TERMS; i++)
        pa = isl_pw_aff_set_dim_id(pa, isl_dim_param, i, turned_id(m, i));
    return isl_pw_aff_align_params(pa, isl_space_copy(m->param_space));
}

/* ---- which there are ------------------------------------------------------------------------- */

/* Does the term depend on globals alone? */
static bool is_shared(const poly *m, const poly_term *t)
{
    bool shared = true;
    for (int i = 0; i < POLY_VALUES; i++) {
        isl_size n = t->of[i] ? isl_pw_aff_dim(t->of[i], isl_dim_in) : 0;
        shared = shared &&
                 (!t->of[i] ||
                  (isl_pw_aff_involves_dims(t->of[i], isl_dim_in, 0, n < 0 ? 0 : (unsigned)n) ==
                       isl_bool_false &&
                   isl_pw_aff_involves_dims(t->of[i], isl_dim_param, (unsigned)m->n_params,
                                            2 * POLY_OWN_TERMS) == isl_bool_false));
    }
    return shared;
}

/* The same functions of no class. */
static void share(poly_term *t)
{
    t->cls = NULL;
    for (int i = 0; i < POLY_VALUES; i++) {
        isl_size n = t->of[i] ? isl_pw_aff_dim(t->of[i], isl_dim_in) : 0;
        if (t->of[i])
            t->of[i] = isl_pw_aff_drop_dims(t->of[i], isl_dim_in, 0, n < 0 ? 0 : (unsigned)n);
    }
}

static bool is_same(const poly_term *a, const poly_term *b)
{
    bool same = a->kind == b->kind && a->by == b->by && a->cls == b->cls && a->function == b->function;
    for (int i = 0; same && i < POLY_VALUES; i++)
        same = a->of[i] && b->of[i] ? isl_pw_aff_plain_is_equal(a->of[i], b->of[i]) == isl_bool_true
                                    : !a->of[i] && !b->of[i];
    return same;
}

int lift_find_term(const poly *m, poly_term t)
{
    poly_terms *all = m->terms;
    int n = 0;
    if (is_shared(m, &t))
        share(&t);
    for (size_t i = 0; i < all->n; i++) {
        n += all->items[i].cls == t.cls;
        if (is_same(&all->items[i], &t)) {
            lift_free_values(&t);
            return all->items[i].place;
        }
    }
    if (!t.of[0] || n == (t.cls ? POLY_OWN_TERMS : POLY_SHARED_TERMS)) {
        lift_free_values(&t);
        return -1;
    }
    all->items = util_realloc(all->items, (all->n + 1) * sizeof(*all->items));
    t.place = place_of(m, t.cls ? n : 2 * POLY_OWN_TERMS + n);
    all->items[all->n++] = t;
    return t.place;
}

/* Graphs with products, quotients and remainders by a global, for all its values.
 *
 * Such a number is a parameter of isl: a term (poly.h). Sets of tasks, and relations between tasks, then
 * hold for any numbers that the terms may be, and what is known of the terms of the one or two tasks takes
 * away what cannot be: an axiom for each term, and one for each two. Where a check finds nothing it is
 * proven; what it finds may be due to axioms that nobody wrote, so it is no finding, but the graph is
 * looked at in another way (verify.c). Paths of edges lead through many tasks, whose terms differ: on
 * them an edge is taken for any values, or where it holds for all of them.
 */
#include "model.h"

#include <stdlib.h>
#include <string.h>

/* ---- the terms of two tasks ------------------------------------------------------------------ */

/* A term where two tasks are looked at, as functions of the parameters of both. */
typedef struct view {
    const poly_term *term;
    isl_pw_aff *of[POLY_VALUES], *by, *value;
    int place;
} view;

typedef struct scene {
    verify_model *m;
    const verify_class *first, *second; /* NULL: no task */
    unsigned n_first, n_second;
    isl_id *ids[2];
    view *views;
    size_t n;
} scene;

/* The class whose tasks one side of a relation is made of; NULL: none. */
static const verify_class *class_at(const verify_model *m, isl_id *id)
{
    const verify_class *c = id ? isl_id_get_user(id) : NULL;
    for (size_t i = 0; i < m->n_classes; i++)
        if (c == &m->classes[i] && c->id == id)
            return c;
    return NULL;
}

static isl_pw_aff *param_of(const scene *s, int place)
{
    isl_space *space = isl_space_set_from_params(isl_space_copy(s->m->poly.param_space));
    space = isl_space_add_dims(space, isl_dim_set, s->n_first + s->n_second);
    isl_local_space *ls = isl_local_space_from_space(space);
    return isl_pw_aff_from_aff(isl_aff_var_on_domain(ls, isl_dim_param, (unsigned)place));
}

static isl_pw_aff *number_of(const scene *s, long value)
{
    isl_space *space = isl_space_set_from_params(isl_space_copy(s->m->poly.param_space));
    space = isl_space_add_dims(space, isl_dim_set, s->n_first + s->n_second);
    isl_val *v = isl_val_int_from_si(s->m->poly.isl, value);
    return isl_pw_aff_from_aff(isl_aff_val_on_domain(isl_local_space_from_space(space), v));
}

/* pa (taken), of the parameters of one task, as a function of those of both, and of what else tasks are
 * named by. */
static isl_pw_aff *spread(const scene *s, bool second, isl_pw_aff *pa)
{
    if (second)
        pa = isl_pw_aff_insert_dims(poly_turn_value(&s->m->poly, pa), isl_dim_in, 0, s->n_first);
    unsigned own = (unsigned)isl_pw_aff_dim(pa, isl_dim_in);
    return isl_pw_aff_insert_dims(pa, isl_dim_in, own, s->n_first + s->n_second - own);
}

static void add_view(scene *s, const poly_term *t, bool second)
{
    view *v = &s->views[s->n++];
    v->place = t->place + (second ? POLY_OWN_TERMS : 0);
    v->term = t;
    v->value = param_of(s, v->place);
    v->by = t->kind == POLY_CALL ? NULL : param_of(s, t->by);
    for (int i = 0; i < POLY_VALUES; i++)
        v->of[i] = t->of[i] ? spread(s, second, isl_pw_aff_copy(t->of[i])) : NULL;
}

static scene look(verify_model *m, isl_map *map)
{
    scene s = {.m = m, .n_first = (unsigned)isl_map_dim(map, isl_dim_in),
               .n_second = (unsigned)isl_map_dim(map, isl_dim_out)};
    if (isl_map_has_tuple_id(map, isl_dim_in) == isl_bool_true)
        s.ids[0] = isl_map_get_tuple_id(map, isl_dim_in);
    if (isl_map_has_tuple_id(map, isl_dim_out) == isl_bool_true)
        s.ids[1] = isl_map_get_tuple_id(map, isl_dim_out);
    s.first = class_at(m, s.ids[0]);
    s.second = class_at(m, s.ids[1]);
    const poly_terms *all = m->poly.terms;
    s.views = util_alloc((2 * all->n + 1) * sizeof(*s.views));
    for (size_t i = 0; i < all->n; i++) {
        const poly_term *t = &all->items[i];
        if (!t->cls || (s.first && t->cls == s.first->sema))
            add_view(&s, t, false);
        if (t->cls && s.second && t->cls == s.second->sema)
            add_view(&s, t, true);
    }
    return s;
}

static void look_away(scene *s)
{
    for (size_t i = 0; i < s->n; i++) {
        for (int k = 0; k < POLY_VALUES; k++)
            isl_pw_aff_free(s->views[i].of[k]);
        isl_pw_aff_free(s->views[i].by);
        isl_pw_aff_free(s->views[i].value);
    }
    isl_id_free(s->ids[0]);
    isl_id_free(s->ids[1]);
    free(s->views);
}

/* map (taken) where the condition (taken) on the parameters of both tasks holds. */
static isl_map *where(const scene *s, isl_map *map, isl_set *condition)
{
    isl_map *c = isl_map_from_domain(condition);
    c = isl_map_move_dims(c, isl_dim_out, 0, isl_dim_in, s->n_first, s->n_second);
    if (s->ids[0])
        c = isl_map_set_tuple_id(c, isl_dim_in, isl_id_copy(s->ids[0]));
    if (s->ids[1])
        c = isl_map_set_tuple_id(c, isl_dim_out, isl_id_copy(s->ids[1]));
    return isl_map_coalesce(isl_map_intersect(map, c));
}

/* ---- axioms of one term ---------------------------------------------------------------------- */

static isl_pw_aff *copy(isl_pw_aff *pa)
{
    return isl_pw_aff_copy(pa);
}

/* low <= x < end; x is kept, the others are taken. */
static isl_set *between(isl_pw_aff *low, isl_pw_aff *x, isl_pw_aff *end)
{
    return isl_set_intersect(isl_pw_aff_le_set(low, copy(x)), isl_pw_aff_lt_set(copy(x), end));
}

/* |t| < by, |t| <= |of|, and t has the sign of `of`. */
static isl_set *about_remainder(const scene *s, const view *v)
{
    isl_set *up = between(number_of(s, 0), v->value, copy(v->by));
    up = isl_set_intersect(up, isl_pw_aff_le_set(copy(v->value), copy(v->of[0])));
    isl_pw_aff *least = isl_pw_aff_neg(copy(v->by));
    isl_set *down = isl_set_intersect(isl_pw_aff_lt_set(least, copy(v->value)),
                                      isl_pw_aff_le_set(copy(v->value), number_of(s, 0)));
    down = isl_set_intersect(down, isl_pw_aff_ge_set(copy(v->value), copy(v->of[0])));
    down = isl_set_intersect(down, isl_pw_aff_lt_set(copy(v->of[0]), number_of(s, 0)));
    return isl_set_union(up, down);
}

/* The product of a quotient by its divisor. */
static const view *product_of(const scene *s, const view *quotient)
{
    for (size_t i = 0; i < s->n; i++) {
        const view *w = &s->views[i];
        if (w->term->kind == POLY_PRODUCT && w->term->by == quotient->term->by &&
            isl_pw_aff_plain_is_equal(w->of[0], quotient->value) == isl_bool_true)
            return w;
    }
    return NULL;
}

/* w = by * t: w <= of < w + by, 0 <= t <= w. */
static isl_set *about_quotient(const scene *s, const view *v)
{
    const view *w = product_of(s, v);
    isl_set *negative = isl_pw_aff_lt_set(copy(v->of[0]), number_of(s, 0));
    if (!w)
        return isl_set_universe(isl_set_get_space(negative));
    isl_set *up = between(copy(w->value), v->of[0], isl_pw_aff_add(copy(w->value), copy(v->by)));
    up = isl_set_intersect(up, between(number_of(s, 0), v->value,
                                       isl_pw_aff_add(copy(w->value), number_of(s, 1))));
    return isl_set_union(up, negative);
}

static isl_set *about_call(const view *v)
{
    isl_set *range = isl_pw_aff_eq_set(copy(v->value), copy(v->value));
    if (v->of[POLY_LOW])
        range = isl_set_intersect(range, isl_pw_aff_ge_set(copy(v->value), copy(v->of[POLY_LOW])));
    if (v->of[POLY_HIGH])
        range = isl_set_intersect(range, isl_pw_aff_le_set(copy(v->value), copy(v->of[POLY_HIGH])));
    return range;
}

/* Nothing to be split into cases. */
static isl_set *first_axiom(const scene *s, const view *v)
{
    switch (v->term->kind) {
    case POLY_REMAINDER:
        return about_remainder(s, v);
    case POLY_QUOTIENT:
        return about_quotient(s, v);
    case POLY_CALL:
        return about_call(v);
    case POLY_PRODUCT:
        break;
    }
    return NULL;
}

/* What is small, and the sign of a product. */
static isl_set *more_axiom(const scene *s, const view *v)
{
    if (v->term->kind == POLY_CALL)
        return NULL;
    isl_pw_aff *zero = number_of(s, 0);
    isl_set *small = between(copy(zero), v->of[0], copy(v->by));
    isl_set *other = isl_set_complement(isl_set_copy(small)), *says;
    if (v->term->kind == POLY_REMAINDER) {
        says = isl_pw_aff_eq_set(copy(v->value), copy(v->of[0]));
    } else if (v->term->kind == POLY_QUOTIENT) {
        says = isl_pw_aff_eq_set(copy(v->value), copy(zero));
    } else {
        isl_set_free(small);
        isl_set_free(other);
        small = isl_pw_aff_eq_set(copy(v->of[0]), copy(zero));
        says = isl_pw_aff_eq_set(copy(v->value), copy(zero));
        /* P*x >= P + x - 1 for x >= 1 */
        isl_pw_aff *one = number_of(s, 1);
        isl_pw_aff *least = isl_pw_aff_sub(isl_pw_aff_add(copy(v->by), copy(v->of[0])), copy(one));
        isl_pw_aff *most = isl_pw_aff_sub(isl_pw_aff_add(copy(v->of[0]), one), copy(v->by));
        isl_set *up = isl_set_intersect(isl_pw_aff_gt_set(copy(v->of[0]), copy(zero)),
                                        isl_pw_aff_ge_set(copy(v->value), least));
        isl_set *down = isl_set_intersect(isl_pw_aff_lt_set(copy(v->of[0]), copy(zero)),
                                          isl_pw_aff_le_set(copy(v->value), most));
        other = isl_set_union(up, down);
    }
    isl_pw_aff_free(zero);
    return isl_set_union(isl_set_intersect(small, says), other);
}

/* ---- axioms of two terms --------------------------------------------------------------------- */

/* a.of + by_more < b.of says that b's product is at least by_more + 1 divisors above a's. */
static isl_set *product_above(const scene *s, const view *a, const view *b, long far)
{
    isl_pw_aff *end = isl_pw_aff_add(copy(a->of[0]), number_of(s, far));
    isl_pw_aff *step = isl_pw_aff_scale_val(copy(a->by), isl_val_int_from_si(s->m->poly.isl, far));
    isl_pw_aff *low = isl_pw_aff_add(copy(a->value), step);
    bool exact = far == 1;
    isl_set *when = exact ? isl_pw_aff_eq_set(copy(b->of[0]), end) : isl_pw_aff_ge_set(copy(b->of[0]), end);
    isl_set *says = exact ? isl_pw_aff_eq_set(copy(b->value), low)
                          : isl_pw_aff_ge_set(copy(b->value), low);
    return isl_set_intersect(when, says);
}

/* The arguments from the `from`-th on are the same. */
static isl_set *same_from(const view *a, const view *b, int from)
{
    isl_set *same = isl_pw_aff_eq_set(copy(a->value), copy(a->value));
    for (int i = from; i < AST_FACT_PARAMS && a->of[i] && b->of[i]; i++)
        same = isl_set_intersect(same, isl_pw_aff_eq_set(copy(a->of[i]), copy(b->of[i])));
    return same;
}

/* x and y (kept) are the same, and so are v and w, or they are not. */
static isl_set *same_or_not(isl_pw_aff *x, isl_pw_aff *y, isl_pw_aff *v, isl_pw_aff *w)
{
    isl_set *same = isl_set_intersect(isl_pw_aff_eq_set(copy(x), copy(y)),
                                      isl_pw_aff_eq_set(copy(v), copy(w)));
    return isl_set_union(same, isl_pw_aff_ne_set(copy(x), copy(y)));
}

static bool is_stated(const scene *s, const view *v, ast_fact_kind kind)
{
    return ast_find_fact(s->m->file, v->term->function, kind) != NULL;
}

/* Is a stated to be the inverse of b: a(b(x)) == x? */
static bool is_inverse(const scene *s, const view *a, const view *b)
{
    const ast_fact *f = ast_find_fact(s->m->file, a->term->function, AST_FACT_INVERSE);
    return f && strcmp(f->other.text, b->term->function) == 0;
}

/* Has the function an inverse? Then no two numbers have one value. */
static bool is_injective(const scene *s, const view *v)
{
    bool found = false;
    for (size_t i = 0; i < s->m->file->facts.n; i++) {
        const ast_fact *f = s->m->file->facts.items[i];
        found = found || (f->kind == AST_FACT_INVERSE && strcmp(f->other.text, v->term->function) == 0);
    }
    return found;
}

static isl_set *calls_axiom(const scene *s, const view *a, const view *b)
{
    if (is_inverse(s, a, b))
        return same_or_not(a->of[0], b->value, a->value, b->of[0]);
    if (is_inverse(s, b, a))
        return same_or_not(b->of[0], a->value, b->value, a->of[0]);
    if (strcmp(a->term->function, b->term->function) != 0)
        return NULL;
    isl_set *all = same_from(a, b, 0), *others = same_from(a, b, 1);
    isl_set *apart = isl_set_complement(isl_set_copy(others));
    all = isl_set_intersect(all, isl_pw_aff_eq_set(copy(a->value), copy(b->value)));
    isl_set *less = isl_pw_aff_lt_set(copy(a->of[0]), copy(b->of[0]));
    isl_set *more = isl_pw_aff_gt_set(copy(a->of[0]), copy(b->of[0]));
    if (is_stated(s, a, AST_FACT_MONOTONE)) {
        less = isl_set_intersect(less, isl_pw_aff_le_set(copy(a->value), copy(b->value)));
        more = isl_set_intersect(more, isl_pw_aff_ge_set(copy(a->value), copy(b->value)));
    }
    isl_set *rest = isl_set_intersect(others, isl_set_union(less, more));
    if (is_injective(s, a))
        rest = isl_set_intersect(rest, isl_pw_aff_ne_set(copy(a->value), copy(b->value)));
    return isl_set_union(all, isl_set_union(rest, apart));
}

/* x = P * (x / P) + x % P. NULL: these are of two numbers. */
static isl_set *division_axiom(const scene *s, const view *quotient, const view *remainder)
{
    const view *w = product_of(s, quotient);
    if (!w || isl_pw_aff_plain_is_equal(quotient->of[0], remainder->of[0]) != isl_bool_true)
        return NULL;
    return isl_pw_aff_eq_set(copy(remainder->of[0]), isl_pw_aff_add(copy(w->value), copy(remainder->value)));
}

/* The same number has the same value; greater ones have no smaller quotients, and products that are whole
 * divisors apart. */
static isl_set *pair_axiom(const scene *s, const view *a, const view *b)
{
    if (a->term->by == b->term->by && a->term->kind == POLY_REMAINDER && b->term->kind == POLY_QUOTIENT)
        return division_axiom(s, b, a);
    if (a->term->by == b->term->by && b->term->kind == POLY_REMAINDER && a->term->kind == POLY_QUOTIENT)
        return division_axiom(s, a, b);
    if (a->term->kind != b->term->kind || a->term->by != b->term->by)
        return NULL;
    if (a->term->kind == POLY_CALL)
        return calls_axiom(s, a, b);
    isl_set *same = isl_set_intersect(isl_pw_aff_eq_set(copy(a->of[0]), copy(b->of[0])),
                                      isl_pw_aff_eq_set(copy(a->value), copy(b->value)));
    if (a->term->kind == POLY_PRODUCT) {
        for (long far = 1; far <= 2; far++) {
            same = isl_set_union(same, product_above(s, a, b, far));
            same = isl_set_union(same, product_above(s, b, a, far));
        }
        return same;
    }
    isl_set *less = isl_pw_aff_lt_set(copy(a->of[0]), copy(b->of[0]));
    isl_set *more = isl_pw_aff_gt_set(copy(a->of[0]), copy(b->of[0]));
    if (a->term->kind == POLY_QUOTIENT) {
        less = isl_set_intersect(less, isl_pw_aff_le_set(copy(a->value), copy(b->value)));
        more = isl_set_intersect(more, isl_pw_aff_ge_set(copy(a->value), copy(b->value)));
    }
    return isl_set_union(same, isl_set_union(less, more));
}

/* ---- what is possible ------------------------------------------------------------------------ */

static bool involves(isl_map *map, int place)
{
    return isl_map_involves_dims(map, isl_dim_param, (unsigned)place, 1) != isl_bool_false;
}

/* Is the view a function of the term at this place? */
static bool depends(const view *v, int place)
{
    bool yes = false;
    for (int i = 0; i < POLY_VALUES; i++)
        yes = yes || (v->of[i] && isl_pw_aff_involves_dims(v->of[i], isl_dim_param, (unsigned)place, 1) !=
                                      isl_bool_false);
    return yes;
}

/* The views that have a part in the relation: those that it mentions, and what is known of these. */
static bool *taking_part(const scene *s, isl_map *map)
{
    bool *part = util_alloc(s->n + 1);
    for (size_t i = 0; i < s->n; i++)
        part[i] = involves(map, s->views[i].place);
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < s->n; i++)
            for (size_t k = 0; k < s->n; k++)
                if (part[i] && !part[k] && (depends(&s->views[i], s->views[k].place) ||
                                            (s->views[i].term->kind == POLY_QUOTIENT &&
                                             product_of(s, &s->views[i]) == &s->views[k])))
                    part[k] = more = true;
    }
    return part;
}

static bool is_nothing(isl_map *map)
{
    return isl_map_is_empty(map) == isl_bool_true;
}

static isl_map *by_first_axioms(const scene *s, isl_map *map, const bool *part)
{
    for (size_t i = 0; i < s->n; i++) {
        isl_set *axiom = part[i] ? first_axiom(s, &s->views[i]) : NULL;
        map = axiom ? where(s, map, axiom) : map;
    }
    return map;
}

isl_map *verify_possible(verify_model *m, isl_map *map)
{
    if (!m->terms.on || !map || isl_map_has_tuple_id(map, isl_dim_in) != isl_bool_true)
        return map;
    map = isl_map_align_params(map, isl_space_copy(m->poly.param_space));
    scene s = look(m, map);
    bool *part = taking_part(&s, map);
    map = by_first_axioms(&s, map, part);
    for (size_t i = 0; i < s.n && !is_nothing(map); i++)
        for (size_t k = i + 1; part[i] && k < s.n && !is_nothing(map); k++) {
            isl_set *axiom = part[k] ? pair_axiom(&s, &s.views[i], &s.views[k]) : NULL;
            map = axiom ? where(&s, map, axiom) : map;
        }
    for (size_t i = 0; i < s.n && !is_nothing(map); i++) {
        isl_set *axiom = part[i] ? more_axiom(&s, &s.views[i]) : NULL;
        map = axiom ? where(&s, map, axiom) : map;
    }
    free(part);
    look_away(&s);
    return map;
}

isl_set *verify_possible_set(verify_model *m, isl_set *set)
{
    if (!m->terms.on || !set || isl_set_has_tuple_id(set) != isl_bool_true)
        return set;
    return isl_map_domain(verify_possible(m, isl_map_from_domain(set)));
}

/* a instead of b, which is the same in the relation (taken). */
static isl_map *write_as(const scene *s, isl_map *map, const view *a, const view *b)
{
    map = where(s, map, isl_pw_aff_eq_set(copy(a->value), copy(b->value)));
    return isl_map_eliminate(map, isl_dim_param, (unsigned)b->place, 1);
}

/* b is of the second task, a of the first. */
static isl_map *share_view(const scene *s, isl_map *map, const view *a, const view *b)
{
    bool alike = a->term->kind == b->term->kind && a->term->by == b->term->by && a->place != b->place &&
                 a->term->kind != POLY_CALL && a->place < (int)s->m->poly.n_params + POLY_OWN_TERMS &&
                 b->place >= (int)s->m->poly.n_params + POLY_OWN_TERMS && b->term->cls;
    const view *p = alike && a->term->kind == POLY_QUOTIENT ? product_of(s, a) : NULL;
    const view *q = p ? product_of(s, b) : NULL;
    if (!alike || !(involves(map, b->place) || (q && involves(map, q->place))))
        return map;
    isl_map *apart = where(s, isl_map_copy(map), isl_pw_aff_ne_set(copy(a->of[0]), copy(b->of[0])));
    bool same = is_nothing(apart);
    isl_map_free(apart);
    if (same && q)
        map = write_as(s, map, p, q);
    return same ? write_as(s, map, a, b) : map;
}

isl_map *verify_share_terms(verify_model *m, isl_map *map)
{
    if (!map || !verify_has_terms(m, map))
        return map;
    map = isl_map_align_params(map, isl_space_copy(m->poly.param_space));
    scene s = look(m, map);
    for (size_t i = 0; i < s.n; i++)
        for (size_t k = 0; k < s.n; k++)
            map = share_view(&s, map, &s.views[i], &s.views[k]);
    look_away(&s);
    return map;
}

bool verify_has_terms(const verify_model *m, isl_map *map)
{
    return m->terms.on && isl_map_involves_dims(map, isl_dim_param, (unsigned)m->poly.n_params,
                                                2 * POLY_OWN_TERMS) != isl_bool_false;
}

isl_map *verify_any_terms(verify_model *m, isl_map *map)
{
    if (!map || !verify_has_terms(m, map))
        return map;
    map = isl_map_align_params(map, isl_space_copy(m->poly.param_space));
    scene s = look(m, map);
    bool *part = taking_part(&s, map);
    map = by_first_axioms(&s, map, part);
    free(part);
    look_away(&s);
    return isl_map_eliminate(map, isl_dim_param, (unsigned)m->poly.n_params, 2 * POLY_OWN_TERMS);
}

isl_map *verify_all_terms(verify_model *m, isl_map *map)
{
    if (!map || !verify_has_terms(m, map))
        return map;
    isl_map *any = verify_any_terms(m, isl_map_copy(map));
    isl_map *not = isl_map_subtract(isl_map_copy(any), map);
    return isl_map_coalesce(isl_map_subtract(any, verify_any_terms(m, not)));
}

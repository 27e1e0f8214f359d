/* Two stores to one element, or to one region of it, that no path of edges orders. */
#include "concrete.h"
#include "order.h"

#include <stdlib.h>

static bool regions_meet(const sema_edge *a, const sema_edge *b)
{
    return (verify_region(a, true) & verify_region(b, true)) != 0;
}

/* ---- enumeration ----------------------------------------------------------------------------- */

typedef struct race {
    const sema_edge *a, *b;
    bool found;
    text first, second, element;
    isl_set *params;
    verify_witness w;
} race;

/* Is there a path from one task to another? */
static bool reaches(const concrete_graph *g, uint32_t from, uint32_t to)
{
    /* Walk back from `to` along its inputs. */
    bool *seen = util_alloc(g->n_tasks + 1);
    uint32_t *stack = util_alloc((g->n_tasks + 1) * sizeof(*stack));
    size_t n = 0;
    stack[n++] = to;
    seen[to] = true;
    while (n > 0 && !seen[from]) {
        const concrete_task *t = &g->tasks[stack[--n]];
        for (uint32_t i = t->first_ref; i < t->first_ref + t->n_refs; i++) {
            uint32_t p = g->refs[i].target;
            if (g->refs[i].edge->dir == AST_IN && p != CONCRETE_NONE && !seen[p]) {
                seen[p] = true;
                stack[n++] = p;
            }
        }
    }
    bool yes = seen[from];
    free(seen);
    free(stack);
    return yes;
}

static bool same_element(const concrete_graph *g, const concrete_ref *x, const concrete_ref *y)
{
    for (size_t i = 0; i < x->edge->call->n_args; i++)
        if (g->values[x->first_value + i] != g->values[y->first_value + i])
            return false;
    return true;
}

/* The references of one edge. Returns their number; the caller frees *refs. */
static size_t refs_of(const concrete_graph *g, const sema_edge *e, const concrete_ref ***refs)
{
    size_t n = 0;
    *refs = util_alloc((g->n_refs + 1) * sizeof(**refs));
    for (size_t i = 0; i < g->n_refs; i++)
        if (g->refs[i].edge == e)
            (*refs)[n++] = &g->refs[i];
    return n;
}

static bool is_race(const concrete_graph *g, const concrete_ref *x, const concrete_ref *y)
{
    return x != y && same_element(g, x, y) &&
           (x->task == y->task || !(reaches(g, x->task, y->task) || reaches(g, y->task, x->task)));
}

static bool find_race(verify_model *m, const concrete_graph *g, void *arg)
{
    race *r = arg;
    const concrete_ref **a, **b;
    size_t n_a = refs_of(g, r->a, &a), n_b = refs_of(g, r->b, &b);
    for (size_t i = 0; i < n_a && !r->found; i++) {
        for (size_t k = r->a == r->b ? i + 1 : 0; k < n_b && !r->found; k++) {
            if (!is_race(g, a[i], b[k]))
                continue;
            r->found = true;
            concrete_put_task(g, a[i]->task, &r->first);
            concrete_put_task(g, b[k]->task, &r->second);
            verify_put_tuple(&r->element, r->a->target->name, g->values + a[i]->first_value,
                             r->a->call->n_args);
            r->w = verify_witness_of(m, g);
        }
    }
    free(a);
    free(b);
    return r->found;
}

static void report_race(verify_model *m, const race *r)
{
    const char *flow = r->b->flow->name;
    if (!verify_report(m, "write-race", r->b->call->node.range, m->facts, VERIFY_GRAVE,
                       "%s.%s and %s.%s are both stored to %s, in no order", text_str(&r->first),
                       r->a->flow->name, text_str(&r->second), flow, text_str(&r->element)))
        return;
    if (r->a != r->b)
        diag_note(m->d, r->a->call->node.range, "the other store is here");
    verify_report_end(m, m->facts, &r->w);
}

static void race_free(race *r)
{
    text_free(&r->first);
    text_free(&r->second);
    text_free(&r->element);
}

static bool is_store(const verify_edge *e)
{
    return e->sema->end == SEMA_END_MEMORY && e->sema->dir == AST_OUT;
}

static bool may_meet(const verify_edge *a, const verify_edge *b)
{
    return is_store(a) && is_store(b) && a->sema->target == b->sema->target &&
           regions_meet(a->sema, b->sema);
}

void verify_races_in(verify_model *m, const concrete_graph *g)
{
    for (size_t i = 0; i < m->n_edges; i++) {
        for (size_t k = i; k < m->n_edges; k++) {
            race r = {.a = m->edges[i].sema, .b = m->edges[k].sema};
            if (may_meet(&m->edges[i], &m->edges[k]) && find_race(m, g, &r))
                report_race(m, &r);
            race_free(&r);
        }
    }
}

/* ---- what is not decided --------------------------------------------------------------------- */

/* Two stores of which it is not known whether they are ordered. */
typedef struct doubt {
    const verify_edge *a, *b;
} doubt;

typedef struct doubts {
    doubt *items;
    size_t n, cap;
} doubts;

static void add_doubt(doubts *d, const verify_edge *a, const verify_edge *b)
{
    if (d->n == d->cap) {
        d->cap = 2 * d->cap + 16;
        d->items = util_realloc(d->items, d->cap * sizeof(*d->items));
    }
    d->items[d->n++] = (doubt){a, b};
}

/* What a look at small graphs is after: a race between two stores of any of the doubts. */
typedef struct hunt {
    const doubt *doubts;
    size_t n;
    race race;
} hunt;

static bool find_any(verify_model *m, const concrete_graph *g, void *arg)
{
    hunt *h = arg;
    for (size_t i = 0; i < h->n && !h->race.found; i++) {
        h->race.a = h->doubts[i].a->sema;
        h->race.b = h->doubts[i].b->sema;
        find_race(m, g, &h->race);
    }
    return h->race.found;
}

static void enumerate(verify_model *m, const doubt *list, size_t n)
{
    if (m->terms.on) {
        m->terms.found = true;
        return;
    }
    hunt h = {.doubts = list, .n = n};
    bool complete = verify_each_small(m, find_any, &h);
    const sema_edge *a = list[0].a->sema, *b = list[0].b->sema;
    text more = {0};
    if (n > 1)
        text_printf(&more, ", nor %zu more pairs of stores", n - 1);
    if (h.race.found)
        report_race(m, &h.race);
    else
        diag_report(m->d, verify_check(m, "race-undecided"), b->call->node.range,
                    "could not show that this store and that of '%s' to the same element of '%s' "
                    "are ordered%s%s", a->flow->cls->name, a->target->name, text_str(&more),
                    complete ? "; sizes up to 6 show no race" : "");
    if (!h.race.found && n > 1)
        diag_note(m->d, (src_range){0}, "'--max-operations=%lu' goes on", 16 * m->operations.most);
    text_free(&more);
    race_free(&h.race);
}

/* Few are said one by one. */
static void report_doubts(verify_model *m, const doubts *d)
{
    enum { FEW = 8 };
    if (d->n > FEW)
        enumerate(m, d->items, d->n);
    for (size_t i = 0; i < d->n && d->n <= FEW; i++)
        enumerate(m, &d->items[i], 1);
}

/* ---- the check ------------------------------------------------------------------------------- */

/* Pairs of instances (of the classes of a and b) that store to one element; without the identity
 * for an edge and itself. */
static isl_map *conflicts(verify_model *m, const verify_edge *a, const verify_edge *b)
{
    isl_map *back = isl_map_reverse(poly_turn_map(&m->poly, isl_map_copy(b->rel)));
    isl_map *both = verify_possible(m, isl_map_apply_range(isl_map_copy(a->rel), back));
    both = verify_any_terms(m, both);
    if (a == b)
        both = isl_map_subtract(both, isl_map_identity(isl_map_get_space(both)));
    return isl_map_intersect_params(both, isl_set_copy(m->facts));
}

/* One task that stores two values to one element: a contradiction without any order. */
static bool check_same_task(verify_model *m, const verify_edge *a, const verify_edge *b)
{
    if (a == b || a->cls != b->cls)
        return false;
    isl_map *both = isl_map_intersect(isl_map_copy(a->rel), isl_map_copy(b->rel));
    both = isl_map_intersect_params(both, isl_set_copy(m->facts));
    verify_witness w;
    verify_claim claim = {CLAIM_TWICE, .edge = a->sema, .second = b->sema};
    bool bad = isl_map_is_empty(both) == isl_bool_false && a->exact && b->exact &&
               verify_smallest_element(m, isl_map_copy(both), a->sema->call, a->sema->target,
                                       &w) &&
               verify_confirmed(m, &w, verify_at(&claim, &w, a->cls->sema->n_params));
    if (bad) {
        isl_set *params = isl_map_params(isl_map_copy(both));
        size_t n = a->cls->sema->n_params;
        if (verify_report(m, "write-race", b->sema->call->node.range, params, VERIFY_GRAVE,
                          "%s stores to %s twice", verify_instance(m, a->cls, w.at),
                          verify_tuple(m, a->sema->target->name, w.at + n, a->sema->call->n_args))) {
            diag_note(m->d, a->sema->call->node.range, "the other store is here");
            verify_report_end(m, params, &w);
        }
        isl_set_free(params);
    }
    isl_map_free(both);
    return bad;
}

/* Are all pairs of instances of a and b that store to one element ordered, or in this order if
 * `forward`? */
static bool settled(verify_model *m, const verify_pairs *pairs, const verify_edge *a,
                    const verify_edge *b, bool forward)
{
    isl_map *both = conflicts(m, a, b);
    if (isl_map_is_empty(both) != isl_bool_true)
        return verify_ordered(m, pairs, both, !forward);
    isl_map_free(both);
    return true;
}

static void check_two(verify_model *m, const verify_pairs *pairs, const verify_edge *a,
                      const verify_edge *b, doubts *d)
{
    verify_begin(m);
    if (!check_same_task(m, a, b) && !settled(m, pairs, a, b, false))
        add_doubt(d, a, b);
}

/* ---- many stores ----------------------------------------------------------------------------- */

/* A store behind another that names at least its elements: whatever came before the other comes
 * before it. So, in an order of the classes, each needs a look at those since such a one only. */
static bool covers(verify_model *m, const verify_edge *a, const verify_edge *b)
{
    if (verify_region(b->sema, true) & ~verify_region(a->sema, false) || verify_has_terms(m, a->rel) ||
        verify_has_terms(m, b->rel))
        return false;
    isl_set *of_a = isl_map_range(isl_map_copy(a->rel)), *of_b = isl_map_range(isl_map_copy(b->rel));
    of_b = isl_set_intersect_params(of_b, isl_set_copy(m->facts));
    bool yes = a->exact && isl_set_is_subset(of_b, of_a) == isl_bool_true;
    isl_set_free(of_a);
    isl_set_free(of_b);
    return yes;
}

/* Classes in an order in which edges lead forward, as far as there is one: its place by class. */
static size_t *class_places(const verify_model *m, const verify_pairs *pairs)
{
    size_t n = m->n_classes, done = 0;
    size_t *waits = util_alloc((n + 1) * sizeof(*waits));
    size_t *place = util_alloc((n + 1) * sizeof(*place));
    size_t *queue = util_alloc((n + 1) * sizeof(*queue));
    size_t *first = util_alloc((n + 1) * sizeof(*first));
    size_t *next = util_alloc((pairs->n + 1) * sizeof(*next));
    for (size_t i = 0; i < pairs->n; i++) {
        size_t from = pairs->items[i].from->cls->index, to = pairs->items[i].to->cls->index;
        if (from == to)
            continue;
        waits[to]++;
        next[i] = first[from];
        first[from] = i + 1;
    }
    for (size_t c = 0; c < n; c++)
        if (waits[c] == 0)
            queue[done++] = c;
    for (size_t head = 0; head < done; head++)
        for (size_t i = first[queue[head]]; i; i = next[i - 1]) {
            size_t to = pairs->items[i - 1].to->cls->index;
            if (--waits[to] == 0)
                queue[done++] = to;
        }
    for (size_t c = 0; c < n; c++)
        if (waits[c] > 0)
            queue[done++] = c;
    for (size_t i = 0; i < n; i++)
        place[queue[i]] = i;
    free(waits);
    free(queue);
    free(first);
    free(next);
    return place;
}

/* The stores in this order. behind[i]: all stores in front of the i-th that meet it come before
 * it. */
typedef struct line {
    const verify_edge **stores;
    bool *behind;
    size_t n;
} line;

static void check_next(verify_model *m, const verify_pairs *pairs, const line *l, size_t k,
                       doubts *d)
{
    enum { TRIES = 4 };
    const verify_edge *c = l->stores[k];
    size_t from = 0;
    for (size_t t = 1; t <= TRIES && t <= k && from == 0; t++) {
        const verify_edge *b = l->stores[k - t];
        verify_begin(m);
        if (l->behind[k - t] && covers(m, b, c) && settled(m, pairs, b, c, true))
            from = k - t + 1;
    }
    l->behind[k] = true;
    for (size_t i = from; i <= k; i++) {
        const verify_edge *a = l->stores[i];
        verify_begin(m);
        if (!may_meet(a, c) || check_same_task(m, a, c))
            continue;
        bool forward = i < k && settled(m, pairs, a, c, true);
        l->behind[k] = l->behind[k] && (forward || i == k);
        if (!forward && !settled(m, pairs, a, c, false))
            add_doubt(d, a, c);
    }
}

static void check_collection(verify_model *m, const verify_pairs *pairs, line *l,
                             const size_t *place, doubts *d)
{
    enum { FEW = 8 };
    for (size_t i = 0; i < l->n && l->n <= FEW; i++)
        for (size_t k = i; k < l->n; k++)
            if (may_meet(l->stores[i], l->stores[k]))
                check_two(m, pairs, l->stores[i], l->stores[k], d);
    if (l->n <= FEW)
        return;
    for (size_t i = 1; i < l->n; i++)   /* stable; as a rule they stand in this order already */
        for (size_t k = i; k > 0 && place[l->stores[k - 1]->cls->sema->index] >
                                        place[l->stores[k]->cls->sema->index]; k--) {
            const verify_edge *swap = l->stores[k];
            l->stores[k] = l->stores[k - 1];
            l->stores[k - 1] = swap;
        }
    for (size_t k = 0; k < l->n; k++)
        check_next(m, pairs, l, k, d);
}

void verify_check_races(verify_model *m, const verify_pairs *pairs)
{
    if (!verify_wants(m, "write-race") && !verify_wants(m, "race-undecided"))
        return;
    line l = {.stores = util_alloc((m->n_edges + 1) * sizeof(*l.stores)),
              .behind = util_alloc(m->n_edges + 1)};
    size_t *place = class_places(m, pairs);
    doubts d = {0};
    for (size_t g = 0; g < m->sema->n_globals; g++) {
        l.n = 0;
        for (size_t i = 0; i < m->n_edges; i++)
            if (is_store(&m->edges[i]) && m->edges[i].sema->target == m->sema->globals[g])
                l.stores[l.n++] = &m->edges[i];
        check_collection(m, pairs, &l, place, &d);
    }
    report_doubts(m, &d);
    free(d.items);
    free(place);
    free(l.stores);
    free(l.behind);
}

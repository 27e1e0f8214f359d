/* Two stores to one element, or to one region of it, that no path of edges orders. */
#include "concrete.h"
#include "order.h"

#include <isl/union_set.h>

#include <stdlib.h>

static bool regions_meet(const sema_edge *a, const sema_edge *b)
{
    return (verify_region(a, true) & verify_region(b, true)) != 0;
}

/* ---- proofs ---------------------------------------------------------------------------------- */

/* Pairs of instances (of the classes of a and b) that store to one element; without the identity
 * for an edge and itself. */
static isl_map *conflicts(verify_model *m, const verify_edge *a, const verify_edge *b)
{
    isl_map *both = isl_map_apply_range(isl_map_copy(a->rel),
                                        isl_map_reverse(isl_map_copy(b->rel)));
    if (a == b)
        both = isl_map_subtract(both, isl_map_identity(isl_map_get_space(both)));
    return isl_map_intersect_params(both, isl_set_copy(m->facts));
}

/* Every edge of the graph between tasks, by what tasks wait for. */
static isl_union_map *all_edges(verify_model *m, const verify_pairs *pairs)
{
    isl_union_map *all = isl_union_map_empty(isl_space_copy(m->poly.param_space));
    for (size_t i = 0; i < pairs->n; i++) {
        const verify_pair *p = &pairs->items[i];
        isl_map *rel = verify_union(m, p->from, p->to, p->ins, p->n_ins, true);
        all = isl_union_map_union(all, isl_union_map_from_map(rel));
    }
    return isl_union_map_intersect_params(all, isl_set_copy(m->facts));
}

/* An exact closure of `edges` (kept), or NULL. */
static isl_union_map *exact_closure(verify_model *m, isl_union_map *edges)
{
    isl_bool exact = isl_bool_false;
    isl_union_map *closure = isl_union_map_transitive_closure(isl_union_map_copy(edges), &exact);
    if (closure && exact == isl_bool_true)
        return closure;
    isl_union_map_free(closure);
    verify_begin(m);
    return NULL;
}

/* Edges that stay within one class. */
static isl_union_map *own_edges(verify_model *m, const verify_pairs *pairs, const sema_class *cls)
{
    isl_union_map *all = isl_union_map_empty(isl_space_copy(m->poly.param_space));
    for (size_t i = 0; i < pairs->n; i++) {
        const verify_pair *p = &pairs->items[i];
        if (p->from->cls == cls && p->to->cls == cls)
            all = isl_union_map_union(all, isl_union_map_from_map(verify_union(
                                               m, p->from, p->to, p->ins, p->n_ins, true)));
    }
    return isl_union_map_intersect_params(all, isl_set_copy(m->facts));
}

/* Any number of steps within one class, at least one, where their closure is exact. Takes the steps
 * that are covered so out of *between. */
static isl_union_map *own_chains(verify_model *m, const verify_pairs *pairs,
                                 isl_union_map **between)
{
    isl_union_map *all = isl_union_map_empty(isl_space_copy(m->poly.param_space));
    for (size_t i = 0; i < m->n_classes; i++) {
        isl_union_map *own = own_edges(m, pairs, m->classes[i].sema);
        isl_union_map *closure = exact_closure(m, own);
        if (closure) {
            *between = isl_union_map_subtract(*between, own);
            all = isl_union_map_union(all, closure);
        } else {
            isl_union_map_free(own);
        }
    }
    return isl_union_map_coalesce(all);
}

/* chains, or no step. */
static isl_union_map *or_none(verify_model *m, isl_union_map *chains)
{
    for (size_t i = 0; i < m->n_classes; i++) {
        isl_union_set *space = isl_union_set_from_set(isl_set_copy(m->classes[i].space));
        chains = isl_union_map_union(chains, isl_union_set_identity(space));
    }
    return isl_union_map_coalesce(chains);
}

/* rest minus the pairs that `order` (kept) puts behind each other, forward or in either
 * direction. */
static isl_union_map *discharge(isl_union_map *rest, isl_union_map *order, bool either)
{
    rest = isl_union_map_subtract(rest, isl_union_map_copy(order));
    if (either)
        rest = isl_union_map_subtract(rest, isl_union_map_reverse(isl_union_map_copy(order)));
    return rest;
}

/* What is known of the order, from cheap to dear: the edges; chains within classes, with none and
 * up to STEPS edges between them; the closure. Made once for each model, when a question gets that
 * far: facts only become narrower, and what is ordered for more sizes is ordered for fewer. */
enum { EDGES, CHAINS, STEPS = 4, CLOSURE = CHAINS + STEPS + 1, STAGES };

struct verify_order {
    isl_union_map *stage[STAGES];   /* NULL: not made, or not within the bound on operations */
    isl_union_map *between;         /* edges that no chain of one class covers */
    int made;
};

static isl_union_map *make_stage(verify_model *m, const verify_pairs *pairs, verify_order *o,
                                 int stage)
{
    isl_union_map *edges = o->stage[EDGES], *chains = o->stage[CHAINS];
    if (stage == EDGES)
        return all_edges(m, pairs);
    if (stage == CHAINS) {
        o->between = isl_union_map_copy(edges);
        return own_chains(m, pairs, &o->between);
    }
    if (stage == CLOSURE)
        return edges ? exact_closure(m, edges) : NULL;
    isl_union_map *any = or_none(m, isl_union_map_copy(chains));
    isl_union_map *path = isl_union_map_copy(stage == CHAINS + 1 ? any : o->stage[stage - 1]);
    path = isl_union_map_apply_range(path, isl_union_map_copy(o->between));
    path = isl_union_map_apply_range(path, any);
    return isl_union_map_coalesce(path);
}

static void order_free(verify_order *o)
{
    for (int i = 0; i < STAGES; i++)
        isl_union_map_free(o->stage[i]);
    isl_union_map_free(o->between);
    free(o);
}

static isl_union_map *order_stage(verify_model *m, const verify_pairs *pairs, int stage)
{
    if (!m->order) {
        m->order = util_alloc(sizeof(*m->order));
        m->order_free = order_free;
    }
    verify_order *o = m->order;
    if (o->made <= stage) {
        verify_begin(m);
        isl_union_map *made = make_stage(m, pairs, o, stage);
        if (verify_failed(m))
            made = isl_union_map_free(made);
        verify_begin(m);
        o->stage[stage] = made;
        o->made = stage + 1;
    }
    return o->stage[stage];
}

bool verify_ordered(verify_model *m, const verify_pairs *pairs, isl_map *both, bool either)
{
    isl_union_map *rest = isl_union_map_from_map(both);
    bool done = false;
    for (int i = 0; i < STAGES && !done && !verify_failed(m); i++) {
        isl_union_map *order = order_stage(m, pairs, i);
        if (!order)
            continue;
        rest = discharge(rest, order, either);
        done = isl_union_map_is_empty(rest) == isl_bool_true;
    }
    isl_union_map_free(rest);
    if (verify_failed(m)) {
        verify_begin(m);
        return false;
    }
    return done;
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

static void enumerate(verify_model *m, const verify_edge *a, const verify_edge *b)
{
    race r = {.a = a->sema, .b = b->sema};
    bool complete = verify_each_small(m, find_race, &r);
    if (r.found)
        report_race(m, &r);
    else
        diag_report(m->d, verify_check(m, "race-undecided"), b->sema->call->node.range,
                    "could not show that this store and that of '%s' to the same element of '%s' "
                    "are ordered%s", a->sema->flow->cls->name, a->sema->target->name,
                    complete ? "; sizes up to 6 show no race" : "");
    race_free(&r);
}

/* ---- the check ------------------------------------------------------------------------------- */

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
               verify_smallest_pair(m, isl_map_copy(both), &w) &&
               verify_confirmed(m, &w, verify_at(&claim, &w, a->cls->sema->n_params));
    if (bad) {
        isl_set *params = isl_map_params(isl_map_copy(both));
        text task = {0}, element = {0};
        size_t n = a->cls->sema->n_params;
        verify_put_instance(&task, a->cls, w.at);
        verify_put_tuple(&element, a->sema->target->name, w.at + n, a->sema->call->n_args);
        if (verify_report(m, "write-race", b->sema->call->node.range, params, VERIFY_GRAVE,
                          "%s stores to %s twice", text_str(&task), text_str(&element))) {
            diag_note(m->d, a->sema->call->node.range, "the other store is here");
            verify_report_end(m, params, &w);
        }
        text_free(&task);
        text_free(&element);
        isl_set_free(params);
    }
    isl_map_free(both);
    return bad;
}

static void check_two(verify_model *m, const verify_pairs *pairs, const verify_edge *a,
                      const verify_edge *b)
{
    verify_begin(m);
    if (check_same_task(m, a, b))
        return;
    isl_map *both = conflicts(m, a, b);
    if (isl_map_is_empty(both) == isl_bool_true) {
        isl_map_free(both);
        return;
    }
    if (!verify_ordered(m, pairs, both, true))
        enumerate(m, a, b);
}

void verify_check_races(verify_model *m, const verify_pairs *pairs)
{
    if (!verify_wants(m, "write-race") && !verify_wants(m, "race-undecided"))
        return;
    for (size_t i = 0; i < m->n_edges; i++) {
        const verify_edge *a = &m->edges[i];
        for (size_t k = i; k < m->n_edges; k++)
            if (may_meet(a, &m->edges[k]))
                check_two(m, pairs, a, &m->edges[k]);
    }
}

/* Which tasks come behind which: what the edges say, made once for all questions. */
#include "order.h"

#include <isl/union_set.h>

#include <stdlib.h>

/* Every edge of the graph between tasks, by what tasks wait for; with `cls` those that stay within it. */
static isl_union_map *edges_of(verify_model *m, const verify_pairs *pairs, const sema_class *cls)
{
    isl_union_map *all = isl_union_map_empty(isl_space_copy(m->poly.param_space));
    for (size_t i = 0; i < pairs->n; i++) {
        const verify_pair *p = &pairs->items[i];
        if (cls && (p->from->cls != cls || p->to->cls != cls))
            continue;
        if (!cls)
            verify_renew(m);
        isl_map *rel = verify_union(m, p->from, p->to, p->ins, p->n_ins, true);
        all = isl_union_map_union(all, isl_union_map_from_map(verify_all_terms(m, rel)));
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

/* Any number of steps within one class, at least one, where their closure is exact. Takes the steps
 * that are covered so out of *between. */
static isl_union_map *own_chains(verify_model *m, const verify_pairs *pairs,
                                 isl_union_map **between)
{
    isl_union_map *all = isl_union_map_empty(isl_space_copy(m->poly.param_space));
    for (size_t i = 0; i < m->n_classes; i++) {
        verify_renew(m);
        isl_union_map *own = edges_of(m, pairs, m->classes[i].sema);
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
static isl_map *discharge(isl_map *rest, isl_union_map *order, bool either)
{
    isl_map *ahead = isl_union_map_extract_map(order, isl_map_get_space(rest));
    isl_space *back = isl_space_reverse(isl_map_get_space(rest));
    rest = isl_map_subtract(rest, ahead);
    return either ? isl_map_subtract(rest, isl_map_reverse(isl_union_map_extract_map(order, back)))
                  : (isl_space_free(back), rest);
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
        return edges_of(m, pairs, NULL);
    if (stage == CHAINS) {
        o->between = isl_union_map_copy(edges);
        return own_chains(m, pairs, &o->between);
    }
    if (stage == CLOSURE)
        return edges ? exact_closure(m, edges) : NULL;
    /* Where all classes are tied to one, every step would square their number. */
    isl_union_map *last = stage == CHAINS + 1 ? edges : o->stage[stage - 1];
    enum { MAPS_PER_CLASS = 8 };
    if (!last || isl_union_map_n_map(last) > (isl_size)(MAPS_PER_CLASS * (m->n_classes + 8)))
        return NULL;
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
    if (!m->order.all) {
        m->order.all = util_alloc(sizeof(*m->order.all));
        m->order.free = order_free;
    }
    verify_order *o = m->order.all;
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
    isl_map *rest = both;
    bool done = false;
    for (int i = 0; i < STAGES && !done && !verify_failed(m); i++) {
        isl_union_map *order = order_stage(m, pairs, i);
        if (!order)
            continue;
        rest = discharge(rest, order, either);
        done = isl_map_is_empty(rest) == isl_bool_true;
    }
    isl_map_free(rest);
    if (verify_failed(m)) {
        verify_begin(m);
        return false;
    }
    return done;
}

/* What the runtime may do in the memory of each collection (docs/design/values.md).
 *
 * INPLACE needs that each element is fetched once at most, that what is fetched is stored, and that
 * a store to an element comes behind its fetch. The last is shown by a home map: a function from
 * the instances of each flow on the way to a store to elements, which all stores, fetches and task
 * edges agree with. Walking back from a store of an element that is fetched somewhere then stays on
 * that element until it ends, and it can end only at the fetch.
 */
#include "checks.h"

#include <stdlib.h>

typedef struct proof {
    verify_model *m;
    const verify_pairs *pairs;
    const bool *input_proven;   /* by node id of the flow */
    const sema_global *g;
    isl_space *element;         /* space of g[index] */
    isl_set *fetched;           /* elements, over-approximated */
    isl_map **home;             /* by flow number; NULL: not known */
    bool *chain;                /* by flow number: on the way to a store of g */
    size_t n_flows;
    size_t *first;              /* number of the first flow of each class */
    text why;                   /* what failed */
    src_range where;
} proof;

static size_t number_of(const proof *p, const sema_flow *f)
{
    return p->first[f->cls->index] + f->index;
}

UTIL_PRINTF(3, 4)
static bool fails(proof *p, src_range where, const char *fmt, ...)
{
    TEXT_PRINT_ARGUMENTS(&p->why, fmt);
    p->where = where;
    return false;
}

static bool touches(const verify_edge *e, const sema_global *g, ast_dir dir)
{
    return e->sema->end == SEMA_END_MEMORY && e->sema->target == g && e->sema->dir == dir;
}

/* Elements of g touched in `part` by edges of one direction. */
static isl_set *elements(proof *p, ast_dir dir, int part)
{
    isl_set *all = isl_set_empty(isl_space_copy(p->element));
    for (size_t i = 0; i < p->m->n_edges; i++) {
        const verify_edge *e = &p->m->edges[i];
        if (!touches(e, p->g, dir) || (dir == AST_OUT && !e->exact) ||
            !(verify_region(e->sema, dir == AST_IN) & part))
            continue;
        all = isl_set_union(all, isl_map_range(isl_map_copy(e->rel)));
    }
    return isl_set_intersect_params(isl_set_coalesce(all), isl_set_copy(p->m->facts));
}

/* ---- 1: fetched once ------------------------------------------------------------------------ */

static void put_first(proof *p, isl_set *set, text *out)
{
    verify_witness w;
    bool found = verify_smallest(p->m, set, &w);
    if (found && w.n_at == 2 && p->g->kind != SEMA_MATRIX)
        verify_join_pair(p->m, p->g, &w);
    if (found)
        verify_put_tuple(out, p->g->name, w.at, w.n_at);
    else
        text_puts(out, p->g->name);
}

/* Both ask without the facts first, which are seldom needed and may be many cases. */
static bool is_injective(const proof *p, isl_map *rel)
{
    if (isl_map_is_injective(rel) == isl_bool_true)
        return true;
    isl_map *known = isl_map_intersect_params(isl_map_copy(rel), isl_set_copy(p->m->facts));
    bool once = isl_map_is_injective(known) == isl_bool_true;
    isl_map_free(known);
    return once;
}

/* Takes set. */
static bool is_empty(const proof *p, isl_set *set)
{
    bool none = isl_set_is_empty(set) == isl_bool_true;
    if (!none) {
        set = isl_set_intersect_params(set, isl_set_copy(p->m->facts));
        none = isl_set_is_empty(set) == isl_bool_true;
    }
    isl_set_free(set);
    return none;
}

static bool fetched_once(proof *p)
{
    for (size_t i = 0; i < p->m->n_edges; i++) {
        const verify_edge *a = &p->m->edges[i];
        if (!touches(a, p->g, AST_IN))
            continue;
        if (!is_injective(p, a->rel))
            return fails(p, a->sema->call->node.range, "several tasks read one element of '%s'",
                         p->g->name);
        for (size_t j = i + 1; j < p->m->n_edges; j++) {
            const verify_edge *b = &p->m->edges[j];
            if (!touches(b, p->g, AST_IN))
                continue;
            isl_set *both = isl_set_intersect(isl_map_range(isl_map_copy(a->rel)),
                                              isl_map_range(isl_map_copy(b->rel)));
            if (is_empty(p, isl_set_copy(both))) {
                isl_set_free(both);
                continue;
            }
            both = isl_set_intersect_params(both, isl_set_copy(p->m->facts));
            text element = {0};
            put_first(p, both, &element);
            fails(p, b->sema->call->node.range, "two flows read %s", text_str(&element));
            text_free(&element);
            return false;
        }
    }
    return true;
}

/* ---- 2: stored if fetched ------------------------------------------------------------------- */

static bool stored_if_fetched(proof *p)
{
    static const dag_region parts[] = {DAG_REGION_LOWER_STRICT, DAG_REGION_DIAGONAL,
                                       DAG_REGION_UPPER_STRICT};
    for (size_t i = 0; i < UTIL_COUNT(parts); i++) {
        isl_set *rest = isl_set_subtract(elements(p, AST_IN, parts[i]),
                                         elements(p, AST_OUT, parts[i]));
        if (isl_set_is_empty(rest) == isl_bool_true) {
            isl_set_free(rest);
            continue;
        }
        bool whole = true;
        for (size_t k = 0; k < p->m->n_edges; k++)
            if (touches(&p->m->edges[k], p->g, AST_OUT))
                whole = whole && verify_region(p->m->edges[k].sema, false) == DAG_REGION_FULL;
        text element = {0};
        put_first(p, rest, &element);
        fails(p, (src_range){0}, "%s is read and %s is never stored", text_str(&element),
              whole ? "it" : "a part of it");
        text_free(&element);
        return false;
    }
    return true;
}

/* ---- 3: fetched before stored --------------------------------------------------------------- */

static void mark_chain(proof *p)
{
    for (size_t i = 0; i < p->m->n_edges; i++)
        if (touches(&p->m->edges[i], p->g, AST_OUT))
            p->chain[number_of(p, p->m->edges[i].sema->flow)] = true;
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < p->pairs->n; i++) {
            const verify_pair *pair = &p->pairs->items[i];
            bool *from = &p->chain[number_of(p, pair->from)];
            if (pair->n_ins && p->chain[number_of(p, pair->to)] && !*from)
                *from = more = true;
        }
    }
}

static bool is_function_on(isl_map *map, isl_set *space)
{
    isl_set *domain = isl_map_domain(isl_map_copy(map));
    bool all = isl_map_is_single_valued(map) == isl_bool_true &&
               isl_set_is_subset(space, domain) == isl_bool_true;
    isl_set_free(domain);
    return all;
}

/* A map that is read off the flow's own stores and fetches: their index on the whole class. */
static isl_map *own_home(proof *p, const sema_flow *flow)
{
    const verify_class *c = verify_class_of(p->m, flow->cls);
    for (size_t i = 0; i < flow->n_edges; i++) {
        const verify_edge *e = verify_edge_of(p->m, &flow->edges[i]);
        if (!touches(e, p->g, AST_OUT) && !touches(e, p->g, AST_IN))
            continue;
        isl_map *map = verify_unguarded(p->m, e);
        if (map && is_function_on(map, c->space))
            return map;
        isl_map_free(map);
    }
    return NULL;
}

/* From an instance of a flow back along its own chain: {x -> x and everything before it}. It need
 * not be exact, since the edges are held against the home map afterwards. */
static isl_map *own_chain(proof *p, const sema_flow *flow)
{
    isl_map *step = verify_empty_relation(p->m, flow, flow);
    for (size_t i = 0; i < p->pairs->n; i++) {
        const verify_pair *pair = &p->pairs->items[i];
        if (pair->from == flow && pair->to == flow)
            step = isl_map_union(step, verify_union(p->m, flow, flow, pair->ins, pair->n_ins,
                                                    true));
    }
    isl_bool exact = isl_bool_false;
    isl_map *back = isl_map_transitive_closure(isl_map_reverse(step), &exact);
    isl_set *space = isl_set_copy(verify_class_of(p->m, flow->cls)->space);
    return isl_map_union(back, isl_set_identity(space));
}

/* The home of `flow` seen through its neighbours that have one. */
static isl_map *derived_home(proof *p, const sema_flow *flow)
{
    const verify_class *c = verify_class_of(p->m, flow->cls);
    isl_space *space = isl_space_map_from_domain_and_range(isl_set_get_space(c->space),
                                                           isl_space_copy(p->element));
    isl_map *home = isl_map_empty(space);
    for (size_t i = 0; i < p->pairs->n; i++) {
        const verify_pair *pair = &p->pairs->items[i];
        bool in = pair->to == flow, out = pair->from == flow;
        isl_map *other = in    ? p->home[number_of(p, pair->from)]
                               : out ? p->home[number_of(p, pair->to)]
                                     : NULL;
        if (!other || in == out)
            continue;
        isl_map *rel = verify_union(p->m, pair->from, pair->to, in ? pair->ins : pair->outs,
                                    in ? pair->n_ins : pair->n_outs, true);
        if (in)
            rel = isl_map_reverse(rel);
        rel = isl_map_apply_range(rel, isl_map_copy(other));
        rel = isl_map_subtract_domain(rel, isl_map_domain(isl_map_copy(home)));
        home = isl_map_union(home, rel);
    }
    if (isl_map_is_empty(home) == isl_bool_false && !is_function_on(home, c->space))
        home = isl_map_apply_range(own_chain(p, flow), home);
    if (is_function_on(home, c->space))
        return isl_map_coalesce(home);
    isl_map_free(home);
    return NULL;
}

static bool find_homes(proof *p)
{
    for (bool own = true, more = true; more; own = false) {
        more = own;
        for (size_t c = 0; c < p->m->n_classes; c++) {
            const sema_class *cls = p->m->classes[c].sema;
            for (size_t f = 0; f < cls->n_flows; f++) {
                isl_map **home = &p->home[p->first[c] + f];
                if (*home || !p->chain[p->first[c] + f])
                    continue;
                *home = own ? own_home(p, &cls->flows[f]) : derived_home(p, &cls->flows[f]);
                more = more || *home;
            }
        }
    }
    for (size_t c = 0; c < p->m->n_classes; c++) {
        const sema_class *cls = p->m->classes[c].sema;
        for (size_t f = 0; f < cls->n_flows; f++)
            if (p->chain[p->first[c] + f] && !p->home[p->first[c] + f])
                return fails(p, cls->flows[f].ast->name.range,
                             "it does not show which element flow '%s' of '%s' belongs to",
                             cls->flows[f].name, cls->name);
    }
    return true;
}

/* Instances of the flow whose element is fetched by some task. */
static isl_set *relevant(proof *p, const sema_flow *flow)
{
    isl_map *home = isl_map_copy(p->home[number_of(p, flow)]);
    isl_set *set = isl_map_domain(isl_map_intersect_range(home, isl_set_copy(p->fetched)));
    return isl_set_intersect_params(set, isl_set_copy(p->m->facts));
}

static bool within_home(proof *p, const sema_flow *flow, isl_map *rel)
{
    isl_map *home = p->home[number_of(p, flow)];
    bool yes = isl_map_is_subset(rel, home) == isl_bool_true;
    if (!yes) {
        rel = isl_map_intersect_params(rel, isl_set_copy(p->m->facts));
        yes = isl_map_is_subset(rel, home) == isl_bool_true;
    }
    isl_map_free(rel);
    return yes;
}

/* Does one edge of a chain flow respect the home maps? */
static bool edge_respects(proof *p, const verify_edge *e, isl_set *where)
{
    const sema_flow *flow = e->sema->flow;
    if (touches(e, p->g, AST_IN) || touches(e, p->g, AST_OUT))
        return within_home(p, flow, isl_map_copy(e->rel));
    if (e->sema->dir == AST_OUT)
        return true;            /* followed from its other end */
    if (e->sema->end == SEMA_END_TASK) {
        isl_map *from = p->home[number_of(p, e->sema->target_flow)];
        isl_map *rel = isl_map_intersect_domain(isl_map_copy(e->rel), isl_set_copy(where));
        rel = isl_map_apply_range(rel, isl_map_copy(from));
        return within_home(p, flow, rel);
    }
    isl_set *both = isl_set_intersect(isl_set_copy(e->when), isl_set_copy(where));
    bool never = isl_set_is_empty(both) == isl_bool_true;
    isl_set_free(both);
    return never;
}

static bool flow_respects(proof *p, const sema_flow *flow)
{
    isl_set *where = relevant(p, flow);
    bool ok = true;
    for (size_t i = 0; ok && i < flow->n_edges; i++) {
        const verify_edge *e = verify_edge_of(p->m, &flow->edges[i]);
        ok = edge_respects(p, e, where);
        if (!ok)
            fails(p, e->sema->dep->node.range,
                  "a store to '%s' may happen before the element was read", p->g->name);
    }
    if (ok && !p->input_proven[flow->ast->node.id]) {
        ok = isl_set_is_empty(where) == isl_bool_true;
        if (!ok)
            fails(p, flow->ast->name.range, "flow '%s' does not begin with the element",
                  flow->name);
    }
    isl_set_free(where);
    return ok;
}

static bool fetched_before_stored(proof *p)
{
    mark_chain(p);
    if (!find_homes(p))
        return false;
    for (size_t c = 0; c < p->m->n_classes; c++) {
        const sema_class *cls = p->m->classes[c].sema;
        for (size_t f = 0; f < cls->n_flows; f++)
            if (p->chain[p->first[c] + f] && !flow_respects(p, &cls->flows[f]))
                return false;
    }
    return true;
}

/* ---- stored by one task --------------------------------------------------------------------- */

bool verify_stored_alone(verify_model *m, const verify_edge *store)
{
    verify_begin(m);
    isl_map *rel = isl_map_intersect_params(isl_map_copy(store->rel), isl_set_copy(m->facts));
    bool alone = isl_map_is_injective(rel) == isl_bool_true;
    isl_set *mine = isl_map_range(rel);
    for (size_t i = 0; alone && i < m->n_edges; i++) {
        const verify_edge *other = &m->edges[i];
        if (other == store || !touches(other, store->sema->target, AST_OUT))
            continue;
        isl_set *others = isl_map_range(isl_map_copy(other->rel));
        alone = isl_set_is_disjoint(mine, others) == isl_bool_true;
        isl_set_free(others);
    }
    isl_set_free(mine);
    return alone && !verify_failed(m);
}

/* ---- the decision --------------------------------------------------------------------------- */

static void proof_free(proof *p)
{
    for (size_t i = 0; i < p->n_flows; i++)
        isl_map_free(p->home[i]);
    isl_set_free(p->fetched);
    isl_space_free(p->element);
    free(p->home);
    free(p->chain);
    free(p->first);
    text_free(&p->why);
}

static bool prove_inplace(proof *p)
{
    verify_model *m = p->m;
    p->first = util_alloc((m->n_classes + 1) * sizeof(*p->first));
    for (size_t c = 0; c < m->n_classes; c++)
        p->first[c + 1] = p->first[c] + m->classes[c].sema->n_flows;
    p->n_flows = p->first[m->n_classes];
    p->home = util_alloc((p->n_flows + 1) * sizeof(*p->home));
    p->chain = util_alloc(p->n_flows + 1);
    for (size_t i = 0; !p->element && i < m->n_edges; i++)
        if (touches(&m->edges[i], p->g, AST_IN))
            p->element = isl_space_range(isl_map_get_space(m->edges[i].rel));
    p->fetched = elements(p, AST_IN, DAG_REGION_FULL);
    return fetched_once(p) && stored_if_fetched(p) && fetched_before_stored(p);
}

verify_home verify_memory_of(verify_model *m, const verify_pairs *pairs, const sema_global *g,
                             const bool *input_proven)
{
    bool fetched = false, stored = false;
    for (size_t i = 0; i < m->n_edges; i++) {
        fetched = fetched || touches(&m->edges[i], g, AST_IN);
        stored = stored || touches(&m->edges[i], g, AST_OUT);
    }
    if (!stored)
        return (verify_home){.mode = DAG_MEM_READ, .used = fetched};
    if (!fetched)
        return (verify_home){.mode = DAG_MEM_WRITE, .used = true};
    proof p = {.m = m, .pairs = pairs, .g = g, .input_proven = input_proven};
    verify_begin(m);
    verify_home home = {.used = true};
    if (prove_inplace(&p) && !verify_failed(m)) {
        home.mode = DAG_MEM_INPLACE;
    } else {
        home.why = arena_strndup(m->arena, text_str(&p.why), p.why.len);
        home.where = p.where;
        if (verify_failed(m))
            home.why = "the proof exceeds the bound on operations";
    }
    proof_free(&p);
    return home;
}

/* Task edges by the two flows that they join, and their relations. */
#include "checks.h"

/* No more edges than this lead from one flow to another. */
static size_t most_between(const sema_flow *from, const sema_flow *to)
{
    size_t n = 0;
    for (size_t i = 0; i < from->n_edges; i++)
        n += from->edges[i].target_flow == to;
    for (size_t i = 0; i < to->n_edges; i++)
        n += to->edges[i].target_flow == from;
    return n;
}

static verify_pair *find_pair(verify_model *m, verify_pairs *all, const sema_flow *from,
                              const sema_flow *to)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->items[i].from == from && all->items[i].to == to)
            return &all->items[i];
    /* One pair for each edge at most: allocated once. */
    verify_pair *p = &all->items[all->n++];
    *p = (verify_pair){.from = from, .to = to};
    p->outs = arena_alloc(m->arena, most_between(from, to) * sizeof(*p->outs));
    p->ins = arena_alloc(m->arena, most_between(from, to) * sizeof(*p->ins));
    return p;
}

verify_pairs verify_make_pairs(verify_model *m)
{
    verify_pairs all = {.items = arena_alloc(m->arena, (m->n_edges + 1) * sizeof(verify_pair))};
    for (size_t i = 0; i < m->n_edges; i++) {
        verify_edge *e = &m->edges[i];
        if (e->sema->end != SEMA_END_TASK)
            continue;
        if (e->sema->dir == AST_OUT) {
            verify_pair *p = find_pair(m, &all, e->sema->flow, e->sema->target_flow);
            p->outs[p->n_outs++] = e;
        } else {
            verify_pair *p = find_pair(m, &all, e->sema->target_flow, e->sema->flow);
            p->ins[p->n_ins++] = e;
        }
    }
    return all;
}

bool verify_settled_pair(const verify_model *m, const verify_pair *pair)
{
    bool settled = true;
    for (size_t i = 0; settled && i < pair->n_outs; i++)
        settled = verify_settled(m, pair->outs[i]);
    for (size_t i = 0; settled && i < pair->n_ins; i++)
        settled = verify_settled(m, pair->ins[i]);
    return settled;
}

isl_map *verify_forward(const verify_model *m, const verify_edge *e)
{
    isl_map *rel = isl_map_copy(e->rel);
    const verify_class *target = verify_class_of(m, e->sema->target_class);
    if (e->sema->dir == AST_OUT)
        return isl_map_intersect_range(rel, poly_turn_set(&m->poly, isl_set_copy(target->space)));
    rel = isl_map_intersect_range(poly_turn_map(&m->poly, rel), isl_set_copy(target->space));
    return isl_map_reverse(rel);
}

isl_map *verify_empty_relation(verify_model *m, const sema_flow *from, const sema_flow *to)
{
    isl_space *in = isl_set_get_space(verify_class_of(m, from->cls)->space);
    isl_space *out = isl_set_get_space(verify_class_of(m, to->cls)->space);
    return isl_map_empty(isl_space_map_from_domain_and_range(in, out));
}

isl_map *verify_union(verify_model *m, const sema_flow *from, const sema_flow *to,
                      verify_edge *const *edges, size_t n, bool exact_only)
{
    isl_map *all = verify_empty_relation(m, from, to);
    for (size_t i = 0; i < n; i++) {
        const verify_class *target = verify_class_of(m, edges[i]->sema->target_class);
        if (exact_only && !(edges[i]->exact && target->exact))
            continue;
        all = isl_map_union(all, verify_forward(m, edges[i]));
    }
    return isl_map_coalesce(all);
}

/* A lifted file, once it is there: its end, what isl may spend on it, where things are in it. */
#include "model.h"

#include <stdlib.h>

void verify_model_free(verify_model *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n_edges; i++) {
        isl_map_free(m->edges[i].rel);
        isl_set_free(m->edges[i].when);
        isl_map_free(m->edges[i].multi);
    }
    for (size_t i = 0; i < m->n_classes; i++) {
        isl_set_free(m->classes[i].space);
        isl_map_free(m->classes[i].placement);
        isl_id_free(m->classes[i].id);
    }
    if (m->order.all)
        m->order.free(m->order.all);
    isl_set_free(m->facts);
    isl_set_free(m->given);
    poly_end(&m->poly);
    free(m->classes);
    free(m->edges);
    arena_free(m->arena);
    free(m);
}

void verify_begin(verify_model *m)
{
    enum { FEWEST = 2000 };
    if (isl_ctx_last_error(m->poly.isl) == isl_error_quota && m->operations.next / 2 >= FEWEST) {
        m->operations.next /= 2;     /* many hard questions must not add up to a hang */
        isl_ctx_set_max_operations(m->poly.isl, m->operations.next);
    }
    isl_ctx_reset_error(m->poly.isl);
    isl_ctx_reset_operations(m->poly.isl);
}

void verify_renew(const verify_model *m)
{
    if (!verify_failed(m))
        isl_ctx_reset_operations(m->poly.isl);
}

void verify_begin_kind(verify_model *m)
{
    verify_begin(m);
    m->operations.next = m->operations.most;
    isl_ctx_set_max_operations(m->poly.isl, m->operations.next);
}

void verify_spend(verify_model *m, unsigned long max_operations)
{
    if (m->operations.next > max_operations)
        m->operations.next = max_operations;
    if (m->operations.most > max_operations)
        m->operations.most = max_operations;
    isl_ctx_set_max_operations(m->poly.isl, m->operations.next);
}

bool verify_failed(const verify_model *m)
{
    return isl_ctx_last_error(m->poly.isl) != isl_error_none;
}

bool verify_settled(const verify_model *m, const verify_edge *edge)
{
    if (!m->checked.all_grids)
        return false;
    const verify_edge *e = verify_edge_of(m->checked.all_grids, edge->sema);
    const sema_class *target = e->sema->target_class;
    return e->exact && e->cls->exact && (!target || m->checked.all_grids->classes[target->index].exact);
}

bool verify_settled_flow(const verify_model *m, const sema_flow *flow)
{
    bool settled = m->checked.all_grids && m->checked.all_grids->classes[flow->cls->index].exact;
    for (size_t i = 0; settled && i < flow->n_edges; i++)
        settled = verify_edge_of(m->checked.all_grids, &flow->edges[i])->guard_exact;
    return settled;
}

bool verify_settled_placement(const verify_model *m, const verify_class *c)
{
    return m->checked.all_grids && m->checked.all_grids->classes[c->sema->index].placement;
}

const sema_global *verify_root_of(const sema_global *g)
{
    for (int i = 0; g && g->aligned && i < 64; i++)
        g = g->aligned;
    return g;
}

verify_edge *verify_edge_of(const verify_model *m, const sema_edge *e)
{
    const verify_class *c = &m->classes[e->flow->cls->index];
    return c->edges[c->first[e->flow->index] + e->index];
}

verify_class *verify_class_of(const verify_model *m, const sema_class *c)
{
    return &m->classes[c->index];
}

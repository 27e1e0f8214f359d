/* A fresh buffer has a shape in every instance: that of an element it is stored to, or a [type]. */
#include "checks.h"

/* Reports what of the instances `fresh` (taken) stores the flow nowhere. */
static void check_stored(verify_model *m, const verify_class *c, const sema_flow *flow,
                         isl_set *fresh)
{
    verify_witness w;
    fresh = isl_set_intersect_params(fresh, isl_set_copy(m->facts));
    for (size_t i = 0; i < flow->n_edges; i++)
        if (verify_gives_shape(&flow->edges[i]))
            fresh = isl_set_subtract(fresh, isl_set_copy(verify_edge_of(m,
                                                                        &flow->edges[i])->when));
    isl_set *params = isl_set_params(isl_set_copy(fresh));
    verify_claim claim = {CLAIM_NO_SHAPE, .flow = flow};
    if (isl_set_is_empty(fresh) == isl_bool_false && verify_smallest(m, isl_set_copy(fresh), &w) &&
        verify_confirmed(m, &w, verify_at(&claim, &w, w.n_at))) {
        if (verify_report(m, "untyped-buffer", flow->ast->name.range, params, VERIFY_GRAVE,
                          "the buffer of %s.%s has no shape: it is stored nowhere, and no [type] "
                          "says what it looks like", verify_instance(m, c, w.at), flow->name))
            verify_report_end(m, params, &w);
    }
    isl_set_free(params);
    isl_set_free(fresh);
}

static void check_flow(verify_model *m, const verify_class *c, const sema_flow *flow)
{
    bool stored = false;        /* if nowhere at all, the plan says so */
    for (size_t i = 0; i < flow->n_edges; i++)
        stored = stored || verify_gives_shape(&flow->edges[i]);
    if (!stored)
        return;
    if (c->exact && verify_is_fresh(flow, NULL))
        check_stored(m, c, flow, isl_set_copy(c->space));
    for (size_t i = 0; i < flow->n_edges; i++) {
        const verify_edge *e = verify_edge_of(m, &flow->edges[i]);
        if (e->guard_exact && verify_is_fresh(flow, e->sema))
            check_stored(m, c, flow, isl_set_copy(e->when));
    }
}

void verify_check_buffers(verify_model *m)
{
    if (!verify_wants(m, "untyped-buffer"))
        return;
    for (size_t i = 0; i < m->n_classes; i++) {
        const verify_class *c = &m->classes[i];
        for (size_t f = 0; f < c->sema->n_flows; f++) {
            const sema_flow *flow = &c->sema->flows[f];
            if (flow->ast->kind == AST_CTL || verify_settled_flow(m, flow))
                continue;
            verify_begin(m);
            check_flow(m, c, flow);
            if (verify_failed(m))
                verify_undecided(m, flow->ast->name.range, "what this buffer looks like");
        }
    }
}

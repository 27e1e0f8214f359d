/* Every data flow of every instance has exactly one active input, and NULL goes nowhere. */
#include "checks.h"

static bool is_input(const verify_edge *e)
{
    return e->sema->dir == AST_IN;
}

static isl_set *under_facts(verify_model *m, isl_set *set)
{
    return isl_set_intersect_params(set, isl_set_copy(m->facts));
}

/* Returns true when the set is proven empty; reports a gap otherwise if it is definite. */
static bool check_gap(verify_model *m, const verify_class *c, const sema_flow *flow)
{
    isl_set *rest = under_facts(m, isl_set_copy(c->space));
    bool exact = c->exact;
    for (size_t i = 0; i < flow->n_edges; i++) {
        const verify_edge *e = verify_edge_of(m, &flow->edges[i]);
        if (!is_input(e))
            continue;
        rest = isl_set_subtract(rest, isl_set_copy(e->when));
        exact = exact && e->guard_exact;
    }
    isl_bool empty = isl_set_is_empty(rest);
    verify_witness w;
    isl_set *params = isl_set_params(isl_set_copy(rest));
    if (empty == isl_bool_false && c->exact && verify_wants(m, "input-gap") &&
        verify_smallest(m, isl_set_copy(rest), &w) &&
        verify_confirmed(m, &w, &(verify_claim){CLAIM_NO_INPUT, .flow = flow, .here = w.at})) {
        if (verify_report(m, "input-gap", flow->ast->name.range, params, VERIFY_GRAVE,
                          "%s.%s has no input", verify_instance(m, c, w.at), flow->name)) {
            text guard = {0};
            isl_set *gist = isl_set_gist(isl_set_copy(rest), under_facts(m, isl_set_copy(c->space)));
            if (verify_put_condition(&guard, gist, c))
                diag_note(m->d, (src_range){0}, "no input of '%s' is active where %s",
                          flow->name, text_str(&guard));
            isl_set_free(gist);
            text_free(&guard);
            verify_report_end(m, params, &w);
        }
    }
    isl_set_free(params);
    isl_set_free(rest);
    return empty == isl_bool_true && exact;
}

static void report_overlap(verify_model *m, const verify_edge *a, const verify_edge *b,
                           isl_set *both)
{
    verify_witness w;
    isl_set *params = isl_set_params(isl_set_copy(both));
    verify_claim claim = {CLAIM_BOTH, .edge = a->sema, .second = b->sema};
    if (verify_smallest(m, both, &w) && verify_confirmed(m, &w, verify_at(&claim, &w, w.n_at))) {
        if (verify_report(m, "input-overlap", b->sema->dep->node.range, params, VERIFY_GRAVE,
                          "%s.%s has two inputs", verify_instance(m, a->cls, w.at), a->sema->flow->name)) {
            diag_note(m->d, a->sema->dep->node.range, "the first one is here");
            verify_report_end(m, params, &w);
        }
    }
    isl_set_free(params);
}

static bool check_overlap(verify_model *m, const sema_flow *flow)
{
    bool proven = true;
    for (size_t i = 0; i < flow->n_edges; i++) {
        const verify_edge *a = verify_edge_of(m, &flow->edges[i]);
        for (size_t j = i + 1; is_input(a) && j < flow->n_edges; j++) {
            const verify_edge *b = verify_edge_of(m, &flow->edges[j]);
            if (!is_input(b) || (a->sema->dep == b->sema->dep && a->sema->cond))
                continue;       /* the two branches of one ternary exclude each other */
            isl_set *both = isl_set_intersect(isl_set_copy(a->when), isl_set_copy(b->when));
            both = under_facts(m, both);
            bool empty = isl_set_is_empty(both) == isl_bool_true;
            proven = proven && empty;
            if (!empty && a->guard_exact && b->guard_exact && verify_wants(m, "input-overlap"))
                report_overlap(m, a, b, isl_set_copy(both));
            isl_set_free(both);
        }
    }
    return proven;
}

static size_t count_inputs(const verify_model *m, const sema_flow *flow)
{
    size_t n = 0;
    for (size_t i = 0; i < flow->n_edges; i++)
        n += is_input(verify_edge_of(m, &flow->edges[i]));
    return n;
}

/* An instance whose flow is NULL and which hands it on. */
static void check_null(verify_model *m, const verify_edge *null, const verify_edge *out)
{
    if (null->sema->end != SEMA_END_NULL || out->sema->dir != AST_OUT || !null->guard_exact ||
        !out->guard_exact)
        return;
    isl_set *both = isl_set_intersect(isl_set_copy(null->when), isl_set_copy(out->when));
    both = under_facts(m, both);
    verify_witness w;
    isl_set *params = isl_set_params(isl_set_copy(both));
    verify_claim claim = {CLAIM_BOTH, .edge = null->sema, .second = out->sema};
    if (isl_set_is_empty(both) == isl_bool_false && verify_smallest(m, isl_set_copy(both), &w) &&
        verify_confirmed(m, &w, verify_at(&claim, &w, w.n_at))) {
        bool store = out->sema->end == SEMA_END_MEMORY;
        if (verify_report(m, "null-forward", out->sema->dep->node.range, params, VERIFY_GRAVE,
                          "%s.%s is NULL and is %s '%s'", verify_instance(m, null->cls, w.at),
                          null->sema->flow->name, store ? "stored to" : "sent to", out->sema->call->target.text)) {
            diag_note(m->d, null->sema->call->node.range, "it becomes NULL here");
            verify_report_end(m, params, &w);
        }
    }
    isl_set_free(params);
    isl_set_free(both);
}

static void check_nulls(verify_model *m, const sema_flow *flow)
{
    for (size_t i = 0; i < flow->n_edges; i++)
        for (size_t j = 0; j < flow->n_edges; j++)
            check_null(m, verify_edge_of(m, &flow->edges[i]), verify_edge_of(m, &flow->edges[j]));
}

void verify_check_inputs(verify_model *m, bool *proven)
{
    for (size_t i = 0; i < m->n_classes && !m->terms.found; i++) {
        const verify_class *c = &m->classes[i];
        for (size_t f = 0; f < c->sema->n_flows; f++) {
            const sema_flow *flow = &c->sema->flows[f];
            bool fresh = flow->ast->kind == AST_WRITE && count_inputs(m, flow) == 0;
            if (flow->ast->kind == AST_CTL || fresh || verify_settled_flow(m, flow))
                continue;
            verify_begin(m);
            bool one = flow->ast->kind != AST_WRITE ? check_gap(m, c, flow) : true;
            bool apart = check_overlap(m, flow);
            check_nulls(m, flow);
            if (verify_failed(m))
                verify_undecided(m, flow->ast->name.range, "the inputs of this flow");
            else
                proven[flow->ast->node.id] = one && apart;
        }
    }
}

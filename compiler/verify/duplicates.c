/* The same target named twice: sets ignore multiplicity, the counters of the runtime do not. */
#include "checks.h"

static void report_twice(verify_model *m, const verify_edge *a, const verify_edge *b, isl_map *both)
{
    verify_witness w;
    isl_set *params = isl_map_params(isl_map_copy(both));
    verify_claim claim = {CLAIM_TWICE, .edge = a->sema, .second = b->sema};
    if (verify_smallest_pair(m, both, &w) &&
        verify_confirmed(m, &w, verify_at(&claim, &w, a->cls->sema->n_params))) {
        text msg = {0};
        size_t n = a->cls->sema->n_params;
        bool out = a->sema->dir == AST_OUT;
        verify_put_instance(&msg, a->cls, w.at);
        text_printf(&msg, out ? " sends %s twice to " : ".%s waits twice for ",
                    a->sema->flow->name);
        if (!out)
            text_printf(&msg, "%s of ", a->sema->target_flow->name);
        verify_put_instance(&msg, verify_class_of(m, a->sema->target_class), w.at + n);
        if (out)
            text_printf(&msg, ".%s", a->sema->target_flow->name);
        if (verify_report(m, "duplicate-edge", b->sema->call->node.range, params, VERIFY_GRAVE,
                          "%s", text_str(&msg))) {
            if (a != b)
                diag_note(m->d, a->sema->call->node.range, "the first time is here");
            else
                diag_note(m->d, b->sema->dep->node.range,
                          "different values of the index variables name the same task");
            verify_report_end(m, params, &w);
        }
        text_free(&msg);
    }
    isl_set_free(params);
}

static bool same_ends(const verify_edge *a, const verify_edge *b)
{
    return a->sema->target_flow == b->sema->target_flow && a->sema->dir == b->sema->dir;
}

static void check_two(verify_model *m, const verify_edge *a, const verify_edge *b)
{
    isl_map *both = isl_map_intersect(isl_map_copy(a->rel), isl_map_copy(b->rel));
    both = isl_map_intersect_params(both, isl_set_copy(m->facts));
    const verify_class *target = verify_class_of(m, a->sema->target_class);
    both = isl_map_intersect_range(both, poly_turn_set(&m->poly, isl_set_copy(target->space)));
    if (a->exact && b->exact && isl_map_is_empty(both) == isl_bool_false)
        report_twice(m, a, b, isl_map_copy(both));
    isl_map_free(both);
}

/* Two index tuples with one target: pairs of tuples with equal image that are not equal. */
static void check_one(verify_model *m, const verify_edge *e)
{
    if (!e->multi)
        return;
    isl_map *multi = isl_map_intersect_params(isl_map_copy(e->multi), isl_set_copy(m->facts));
    if (isl_map_is_injective(multi) == isl_bool_false) {
        isl_map *same = isl_map_apply_range(isl_map_copy(multi),
                                            isl_map_reverse(isl_map_copy(multi)));
        isl_space *space = isl_map_get_space(same);
        same = isl_map_subtract(same, isl_map_identity(space));
        isl_set *image = isl_set_apply(isl_map_domain(same), multi);
        isl_map *pair = isl_map_from_domain(image);
        unsigned n = (unsigned)e->cls->sema->n_params;
        isl_size dims = isl_map_dim(pair, isl_dim_in);
        pair = isl_map_move_dims(pair, isl_dim_out, 0, isl_dim_in, n,
                                 dims < 0 ? 0 : (unsigned)dims - n);
        report_twice(m, e, e, pair);
        return;
    }
    isl_map_free(multi);
}

void verify_check_duplicates(verify_model *m, const verify_pairs *pairs)
{
    for (size_t i = 0; i < pairs->n && !m->terms.found; i++) {
        const verify_pair *p = &pairs->items[i];
        bool data = p->to->ast->kind != AST_CTL;
        if (verify_settled_pair(m, p))
            continue;
        verify_begin(m);
        for (size_t a = 0; a < p->n_outs; a++) {
            check_one(m, p->outs[a]);
            for (size_t b = a + 1; b < p->n_outs; b++)
                if (same_ends(p->outs[a], p->outs[b]))
                    check_two(m, p->outs[a], p->outs[b]);
        }
        /* Two active inputs of a data flow are reported as an overlap already. */
        for (size_t a = 0; !data && a < p->n_ins; a++) {
            check_one(m, p->ins[a]);
            for (size_t b = a + 1; b < p->n_ins; b++)
                check_two(m, p->ins[a], p->ins[b]);
        }
        if (verify_failed(m))
            verify_undecided(m, (p->n_outs ? p->outs[0] : p->ins[0])->sema->dep->node.range,
                             "whether this edge names a task twice");
    }
}

/* Memory references must name elements of the rank on which the task runs.
 *
 * Decided from the maps: the reference's and the placement's element have the same index, in the
 * same collection or in one that is declared aligned with it. For matrices, which are dealt block
 * cyclically, another index is another rank on some grid; for other collections nothing is known.
 */
#include "checks.h"

#include <string.h>

/* Is the grid known to have one row (field p) or one column (q)? */
static bool one_wide(const verify_model *m, const sema_global *g, const char *field)
{
    for (size_t i = 0; i < m->poly.n_params; i++) {
        const poly_param *p = &m->poly.params[i];
        if (!p->field || verify_root_of(p->root) != verify_root_of(g) || strcmp(p->field, field) != 0)
            continue;
        isl_set *other = isl_set_lower_bound_si(isl_set_copy(m->facts), isl_dim_param, (unsigned)i,
                                                2);
        bool one = isl_set_is_empty(other) == isl_bool_true;
        isl_set_free(other);
        return one;
    }
    return false;
}

/* Instances on which the reference's index differs from the placement's where that matters. */
static isl_map *elsewhere(verify_model *m, const verify_edge *e)
{
    static const char *const fields[] = {"p", "q"};
    isl_map *ref = isl_map_intersect_params(isl_map_copy(e->rel), isl_set_copy(m->facts));
    isl_map *here = isl_map_set_tuple_id(isl_map_copy(e->cls->placement), isl_dim_out,
                                         isl_map_get_tuple_id(ref, isl_dim_out));
    for (size_t d = 0; d < UTIL_COUNT(fields) && e->sema->call->n_args == 2; d++) {
        if (!one_wide(m, e->sema->target, fields[d]))
            continue;
        isl_map *any = isl_map_universe(isl_map_get_space(here));
        any = isl_map_intersect_domain(any, isl_map_domain(isl_map_copy(here)));
        isl_map *eliminated = isl_map_eliminate(here, isl_dim_out, (unsigned)d, 1);
        here = isl_map_intersect(eliminated, any);
    }
    return isl_map_subtract(ref, here);
}

static void report_remote(verify_model *m, const verify_edge *e, isl_map *away)
{
    const sema_global *g = e->sema->target;
    verify_witness w;
    isl_set *params = isl_map_params(isl_map_copy(away));
    verify_claim claim = {CLAIM_BOTH, .edge = e->sema};
    if (verify_smallest_element(m, away, e->sema->call, g, &w) &&
        verify_confirmed(m, &w, verify_at(&claim, &w, e->cls->sema->n_params))) {
        const char *element = verify_tuple(m, g->name, w.at + e->cls->sema->n_params, e->sema->call->n_args);
        bool certain = g->kind == SEMA_MATRIX && e->exact;
        if (verify_report(m, "remote-memory", e->sema->call->node.range, params,
                          certain ? VERIFY_GRAVE : VERIFY_DOUBT,
                          "%s.%s %s %s, which %s on another rank", verify_instance(m, e->cls, w.at),
                          e->sema->flow->name,
                          e->sema->dir == AST_IN ? "reads" : "is stored to", element,
                          certain ? "is" : "may be")) {
            diag_note(m->d, e->cls->sema->ast->placement->node.range,
                      "the tasks of '%s' are placed here", e->cls->sema->name);
            verify_report_end(m, params, &w);
        }
    }
    isl_set_free(params);
}

/* Adds aligned = place to the properties of g, if it has some. */
static void fix_alignment(verify_model *m, const sema_global *g, const sema_global *place)
{
    if (!g->ast || !g->ast->props || src_range_len(g->ast->props->node.range) == 0)
        return;
    src_range props = g->ast->props->node.range;
    text t = {0};
    text_printf(&t, " aligned = %s", place->name);
    diag_note_fixit(m->d, src_point(props.file, props.end - 1), text_str(&t));
    text_free(&t);
}

static void check_reference(verify_model *m, const verify_edge *e)
{
    const sema_global *g = e->sema->target, *place = e->cls->sema->placement;
    if (verify_root_of(g) != verify_root_of(place)) {
        if (verify_report(m, "remote-memory", e->sema->call->node.range, m->facts, VERIFY_DOUBT,
                          "nothing is known about where '%s' lies when the task runs where '%s' "
                          "does", g->name, place->name)) {
            diag_note(m->d, (src_range){0}, "if both are dealt out in the same way, declare it: "
                      "%s [... aligned = %s]", g->name, place->name);
            fix_alignment(m, g, place);
        }
        return;
    }
    if (!e->cls->placement || e->sema->call->n_args != e->cls->sema->ast->placement->n_args)
        return;
    isl_map *away = elsewhere(m, e);
    if (isl_map_is_empty(away) == isl_bool_false)
        report_remote(m, e, isl_map_copy(away));
    isl_map_free(away);
}

void verify_check_remote(verify_model *m)
{
    if (!verify_wants(m, "remote-memory"))
        return;
    for (size_t i = 0; i < m->n_edges; i++) {
        const verify_edge *e = &m->edges[i];
        bool exact = e->exact && e->cls->placement;
        if (e->sema->end != SEMA_END_MEMORY || (m->checked.places && !exact) ||
            (verify_settled(m, e) && verify_settled_placement(m, e->cls)))
            continue;           /* looked at with numbers for the grid, or without */
        verify_begin(m);
        check_reference(m, e);
        if (verify_failed(m))
            verify_undecided(m, e->sema->dep->node.range, "where this element lies");
    }
}

/* Every task named exists, and every element named, by an edge or to say where tasks run, lies in
 * its collection. */
#include "checks.h"

#include <string.h>

static void report_out_of_space(verify_model *m, const verify_edge *e, isl_map *outside)
{
    verify_witness w;
    isl_set *params = isl_map_params(isl_map_copy(outside));
    bool sends = e->sema->dir == AST_OUT;
    src_range where = e->sema->call->node.range;
    verify_claim claim = {CLAIM_NO_TASK, .edge = e->sema};
    if (verify_smallest_pair(m, outside, &w) &&
        verify_confirmed(m, &w, verify_at(&claim, &w, e->cls->sema->n_params))) {
        const verify_class *target = verify_class_of(m, e->sema->target_class);
        const char *from = verify_instance(m, e->cls, w.at);
        const char *to = verify_instance(m, target, w.at + e->cls->sema->n_params);
        bool reported =
            sends ? verify_report(m, "out-of-space", where, params, VERIFY_LAX,
                                  "%s sends %s to %s, which does not exist", from,
                                  e->sema->flow->name, to)
                  : verify_report(m, "out-of-space", where, params, VERIFY_GRAVE,
                                  "%s.%s waits for %s, which does not exist", from,
                                  e->sema->flow->name, to);
        if (reported) {
            diag_note(m->d, target->sema->ast->head, "the tasks of '%s' are defined here",
                      target->sema->name);
            verify_report_end(m, params, &w);
        }
    }
    isl_set_free(params);
}

static void check_space(verify_model *m, const verify_edge *e)
{
    if (e->mismatched)
        return;                 /* said with more detail already */
    const verify_class *target = verify_class_of(m, e->sema->target_class);
    isl_set *space = poly_turn_set(&m->poly, isl_set_copy(target->space));
    isl_map *inside = isl_map_intersect_range(isl_map_copy(e->rel), space);
    isl_map *rel = isl_map_copy(e->rel);
    isl_bool all = isl_map_is_subset(rel, inside);
    if (all == isl_bool_false)
        rel = isl_map_intersect_params(rel, isl_set_copy(m->facts));
    if (e->exact && all == isl_bool_false && isl_map_is_subset(rel, inside) == isl_bool_false)
        report_out_of_space(m, e, isl_map_coalesce(isl_map_subtract(isl_map_copy(rel),
                                                                    isl_map_copy(inside))));
    isl_map_free(rel);
    isl_map_free(inside);
}

/* 0 <= dim < parameter, in a set space. */
static isl_set *within(isl_set *set, unsigned dim, int param)
{
    isl_local_space *ls = isl_local_space_from_space(isl_set_get_space(set));
    isl_aff *x = isl_aff_var_on_domain(isl_local_space_copy(ls), isl_dim_set, dim);
    isl_aff *end = isl_aff_var_on_domain(ls, isl_dim_param, (unsigned)param);
    set = isl_set_intersect(set, isl_set_from_basic_set(isl_aff_lt_basic_set(x, end)));
    return isl_set_lower_bound_si(set, isl_dim_set, dim, 0);
}

static void report_out_of_bounds(verify_model *m, const verify_edge *e, isl_map *outside)
{
    verify_witness w;
    isl_set *params = isl_map_params(isl_map_copy(outside));
    verify_claim claim = {CLAIM_OUTSIDE, .edge = e->sema};
    if (verify_smallest_element(m, outside, e->sema->call, e->sema->target, &w) &&
        verify_confirmed(m, &w, verify_at(&claim, &w, e->cls->sema->n_params))) {
        const char *element = verify_tuple(m, e->sema->target->name, w.at + e->cls->sema->n_params,
                                           e->sema->call->n_args);
        m->may_assume = true;
        if (verify_report(m, "out-of-bounds", e->sema->call->node.range, params, VERIFY_GRAVE,
                          "%s.%s %s %s, which is outside '%s'", verify_instance(m, e->cls, w.at),
                          e->sema->flow->name, e->sema->dir == AST_IN ? "reads" : "is stored to",
                          element, e->sema->target->name))
            verify_report_end(m, params, &w);
        m->may_assume = false;
    }
    isl_set_free(params);
}

bool verify_is_vector(const sema_global *g, size_t n_args)
{
    return n_args == 1 && g && g->c_type && strcmp(g->c_type, "dag_vector *") == 0;
}

/* The parameter that is this size of g; -1: no expression mentions it. */
static int known_size(const verify_model *m, const sema_global *g, const char *field)
{
    int pos = lift_find_size(&m->poly, g, field);
    return pos >= 0 && !m->poly.params[pos].aside ? pos : -1;
}

/* The part of rel (kept) that has a negative index where the size is not known, and has one whatever the
 * parameters are: that a parameter may be negative is no reason to refuse a program. NULL: nothing. */
static isl_map *negative_of(const verify_model *m, const sema_global *g, isl_map *rel)
{
    static const char *const sizes[][2] = {{"count", NULL}, {"mt", "nt"}};
    unsigned n = (unsigned)isl_map_dim(rel, isl_dim_out);
    isl_space *range = isl_space_range(isl_map_get_space(rel));
    isl_set *negative = isl_set_empty(isl_space_copy(range));
    for (unsigned d = 0; d < n && n <= UTIL_COUNT(sizes); d++)
        if (known_size(m, g, sizes[n - 1][d]) < 0)
            negative = isl_set_union(negative, isl_set_upper_bound_si(
                                                   isl_set_universe(isl_space_copy(range)),
                                                   isl_dim_set, d, -1));
    isl_space_free(range);
    isl_map *out = isl_map_intersect_range(isl_map_copy(rel), negative);
    isl_set *always = isl_map_params(isl_map_copy(rel)), *then = isl_map_params(isl_map_copy(out));
    if (isl_map_is_empty(out) != isl_bool_false || isl_set_is_subset(always, then) != isl_bool_true)
        out = isl_map_free(out);
    isl_set_free(always);
    isl_set_free(then);
    return out;
}

/* What lies in g, of pairs of indices in one. */
static isl_set *inside_rows(verify_model *m, const sema_global *g, isl_map *rel)
{
    bool exact = false;
    isl_set *inside = verify_in_rows(m, g, &exact);
    if (isl_map_has_tuple_id(rel, isl_dim_out) == isl_bool_true)
        inside = isl_set_set_tuple_id(inside, isl_map_get_tuple_id(rel, isl_dim_out));
    return inside;
}

/* The part of rel (taken: instances -> index of matrix or vector g) that leaves g; NULL when nothing
 * does. */
static isl_map *outside_of(verify_model *m, const sema_global *g, const ast_call *call, isl_map *rel)
{
    static const char *const sizes[][2] = {{"count", NULL}, {"mt", "nt"}};
    unsigned n = (unsigned)isl_map_dim(rel, isl_dim_out);
    bool rows = verify_stride(m, call, g) >= 0 && verify_has_count(m, g);
    isl_set *inside = rows ? inside_rows(m, g, rel)
                           : isl_set_universe(isl_space_range(isl_map_get_space(rel)));
    for (unsigned d = 0; !rows && d < n && n <= UTIL_COUNT(sizes); d++) {
        int size = known_size(m, g, sizes[n - 1][d]);
        inside = size >= 0 ? within(inside, d, size) : inside;
    }
    rel = isl_map_intersect_params(rel, isl_set_copy(m->facts));
    isl_map *any = verify_any_terms(m, isl_map_copy(rel));
    isl_map *negative = rows ? NULL : negative_of(m, g, any);
    isl_map_free(any);
    if (negative) {
        isl_map_free(rel);
        isl_set_free(inside);
        return isl_map_coalesce(negative);
    }
    isl_map *good = isl_map_intersect_range(isl_map_copy(rel), inside);
    if (isl_map_is_subset(rel, good) == isl_bool_false)
        return isl_map_coalesce(isl_map_subtract(rel, good));
    isl_map_free(rel);
    isl_map_free(good);
    return NULL;
}

static void check_bounds(verify_model *m, const verify_edge *e)
{
    size_t n = e->sema->call->n_args;
    if (!(n == 2 || verify_is_vector(e->sema->target, n)) || !e->exact)
        return;
    isl_map *outside = outside_of(m, e->sema->target, e->sema->call, isl_map_copy(e->rel));
    if (outside)
        report_out_of_bounds(m, e, outside);
}

/* ---- placements ----------------------------------------------------------------------------- */

static void report_misplaced(verify_model *m, const verify_class *c, isl_map *outside)
{
    verify_witness w;
    const sema_global *g = c->sema->placement;
    const ast_call *call = c->sema->ast->placement;
    isl_set *params = isl_map_params(isl_map_copy(outside));
    verify_claim claim = {CLAIM_MISPLACED, .cls = c->sema};
    if (verify_smallest_element(m, outside, call, g, &w) &&
        verify_confirmed(m, &w, verify_at(&claim, &w, c->sema->n_params))) {
        const char *element = verify_tuple(m, g->name, w.at + c->sema->n_params, call->n_args);
        m->may_assume = true;
        if (verify_report(m, "out-of-bounds", call->node.range, params, VERIFY_GRAVE,
                          "%s is placed at %s, which is outside '%s'", verify_instance(m, c, w.at),
                          element, g->name))
            verify_report_end(m, params, &w);
        m->may_assume = false;
    }
    isl_set_free(params);
}

/* The tasks of a class run where an element lies; there has to be one. Those that combine run
 * where the tasks do that they combine. */
static void check_placement(verify_model *m, const verify_class *c)
{
    const sema_global *g = c->sema->placement;
    size_t n = c->sema->ast->placement->n_args;
    bool sized = (n == 2 && g && g->kind != SEMA_COLLECTION) || verify_is_vector(g, n);
    if (!sized || c->sema->ast->stands_for || !c->exact || !c->placement ||
        verify_settled_placement(m, c))
        return;
    verify_begin(m);
    isl_map *outside = outside_of(m, g, c->sema->ast->placement, isl_map_copy(c->placement));
    if (outside)
        report_misplaced(m, c, outside);
    if (verify_failed(m))
        verify_undecided(m, c->sema->ast->placement->node.range, "where these tasks run");
}

static void check_each(verify_model *m, sema_end end,
                       void (*check)(verify_model *m, const verify_edge *e))
{
    for (size_t i = 0; i < m->n_edges && !m->terms.found; i++) {
        const verify_edge *e = &m->edges[i];
        if (e->sema->end != end || verify_settled(m, e))
            continue;
        verify_begin(m);
        check(m, e);
        if (verify_failed(m))
            verify_undecided(m, e->sema->dep->node.range, "where this edge leads");
    }
}

void verify_check_targets(verify_model *m)
{
    check_each(m, SEMA_END_TASK, check_space);
    check_each(m, SEMA_END_MEMORY, check_bounds);
    for (size_t i = 0; i < m->n_classes && !m->terms.found; i++)
        check_placement(m, &m->classes[i]);
}

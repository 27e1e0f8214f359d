/* Task classes as sets and edges as relations. */
#include "model.h"

#include <stdlib.h>

/* ---- classes -------------------------------------------------------------------------------- */

/* The tasks of a class that is lifted, with room for arguments and indices, and the locals that are
 * used. */
static lift_layout layout_begin(verify_model *m, const verify_class *c, size_t n_args,
                                size_t n_indices, const bool *used)
{
    size_t n_hidden = lift_count_derived(c->sema, used) + n_indices;
    lift_layout l = lift_layout_new(&m->poly, c->sema, n_args, n_hidden);
    isl_size dims = isl_space_dim(l.scope.space, isl_dim_set);
    isl_set *tasks = isl_set_reset_tuple_id(isl_set_copy(c->space));
    l.scope.within = isl_set_add_dims(tasks, isl_dim_set,
                                      dims < 0 ? 0 : (unsigned)dims - (unsigned)c->sema->n_params);
    l.exact = l.guard_exact = c->exact;
    l.opaque_at = c->opaque_at;
    l.why = c->why;
    lift_derived(&l, c->sema, used);
    return l;
}

static void lift_class(verify_model *m, verify_class *c)
{
    bool *used = lift_shaping_locals(m->sema, c->sema);
    size_t hidden = lift_count_derived(c->sema, used);
    for (size_t i = 0; i < c->sema->n_params; i++)
        hidden += lift_count_indices(c->sema->params[i]->ast->value->indices);
    lift_layout l = lift_layout_new(&m->poly, c->sema, 0, hidden);
    l.scope.within = isl_set_universe(isl_space_copy(l.scope.space));
    l.scope.within = isl_set_intersect_params(l.scope.within, isl_set_copy(m->poly.said));
    lift_locals(&l, c->sema, used);
    free(used);
    lift_project(&l);
    c->id = isl_id_alloc(m->poly.isl, c->sema->name, c);
    c->space = isl_set_coalesce(isl_set_set_tuple_id(l.scope.within, isl_id_copy(c->id)));
    c->exact = l.exact;
    c->opaque_at = l.opaque_at;
    c->why = l.why;
    isl_space_free(l.scope.space);
}

/* ---- edges ---------------------------------------------------------------------------------- */

/* set over [params, rest] -> relation cls[params] -> [rest]. */
static isl_map *split(isl_set *set, const verify_class *c)
{
    isl_size dims = isl_set_dim(set, isl_dim_set);
    unsigned np = (unsigned)c->sema->n_params;
    isl_map *map = isl_map_from_domain(set);
    map = isl_map_move_dims(map, isl_dim_out, 0, isl_dim_in, np,
                            dims < 0 ? 0 : (unsigned)dims - np);
    return isl_map_set_tuple_id(map, isl_dim_in, isl_id_copy(c->id));
}

static isl_id *target_id(verify_model *m, const sema_edge *e)
{
    switch (e->end) {
    case SEMA_END_TASK:
        return isl_id_copy(m->classes[e->target_class->index].id);
    case SEMA_END_MEMORY:
        return isl_id_alloc(m->poly.isl, e->target->name,
                            (void *)(uintptr_t)(e->target->index + 1));
    case SEMA_END_NEW:
        return isl_id_alloc(m->poly.isl, "NEW", NULL);
    case SEMA_END_NULL:
        break;
    }
    return isl_id_alloc(m->poly.isl, "NULL", NULL);
}

/* [params, arguments, index tuple] -> [params, arguments], to see whether two index tuples name
 * the same target. The derived locals, in front of dimension `first`, are no part of the tuple: one
 * that is not understood would be free. */
static isl_map *multiplicity(const lift_layout *l, int first)
{
    isl_size dims = isl_set_dim(l->scope.within, isl_dim_set);
    unsigned keep = (unsigned)(l->n_params + l->n_args);
    if (dims < 0)
        return NULL;
    isl_space *space = isl_set_get_space(l->scope.within);
    isl_multi_aff *all = isl_multi_aff_identity(isl_space_map_from_set(space));
    isl_multi_aff *kept = isl_multi_aff_drop_dims(all, isl_dim_out, keep, (unsigned)dims - keep);
    isl_map *map = isl_map_intersect_domain(isl_map_from_multi_aff(kept),
                                            isl_set_copy(l->scope.within));
    return isl_map_project_out(map, isl_dim_in, keep, (unsigned)first - keep);
}

/* The guard of the edge, as far as it is understood. */
static void add_guard(lift_layout *l, const sema_edge *e)
{
    if (e->cond) {
        bool exact = true;
        lift_require(l, lift_cond(&l->scope, e->cond, e->negate, &exact));
        if (!exact)
            lift_opaque(l);
    }
    if (e->dynamic && l->exact) {
        l->scope.opaque_at = e->cond ? e->cond->node.range : e->dep->node.range;
        l->scope.why = "a [dynamic] guard";
        lift_opaque(l);
    }
    l->guard_exact = l->exact;
}

static isl_map *finish_edge(verify_model *m, lift_layout *l, const verify_edge *edge)
{
    lift_project(l);
    isl_map *rel = split(l->scope.within, edge->cls);
    isl_space_free(l->scope.space);
    return isl_map_coalesce(isl_map_set_tuple_id(rel, isl_dim_out, target_id(m, edge->sema)));
}

/* The collection of which a memory reference names an element; NULL: it is none. */
static const sema_global *element_of(const sema_edge *e)
{
    return e->end == SEMA_END_MEMORY ? e->target : NULL;
}

/* How many dimensions the target of a call has. */
static size_t count_target(const verify_model *m, const ast_call *call, const sema_global *g)
{
    return g && verify_stride(m, call, g) >= 0 ? 2 : call->n_args;
}

/* The arguments of a call; those that name an element of g, which may be NULL, may be a pair. What is one
 * function and no pair ends that for the collection. */
static void lift_element(verify_model *m, lift_layout *l, const ast_call *call, const sema_global *g)
{
    int stride = g ? verify_stride(m, call, g) : -1;
    if (stride < 0) {
        lift_arguments(l, call);
        return;
    }
    const ast_value *v = call->args[0];
    lift_indices(l, call->indices);
    if (lift_argument_pair(l, v, stride))
        return;
    isl_pw_aff *lo = lift_value(&l->scope, v->lo);
    lift_opaque(l);
    m->pairs.none[verify_root_of(g)->index] |= lo || v->hi;
    isl_pw_aff_free(lo);
}

static size_t count_edge_indices(const sema_edge *e)
{
    return lift_count_indices(e->dep->indices) + lift_count_indices(e->call->indices) +
           lift_count_value_indices(e->call->args, e->call->n_args);
}

/* Where the arguments of an edge are read; without its guard. */
static lift_layout edge_layout(verify_model *m, const verify_edge *edge, const ast_expr *cond)
{
    const sema_edge *e = edge->sema;
    bool *used = lift_used_locals(m->sema, edge->cls->sema, e->dep->indices, cond, e->call);
    size_t n_args = count_target(m, e->call, element_of(e));
    lift_layout l = layout_begin(m, edge->cls, n_args, count_edge_indices(e), used);
    free(used);
    return l;
}

static void lift_edge(verify_model *m, verify_edge *edge)
{
    const sema_edge *e = edge->sema;
    lift_layout l = edge_layout(m, edge, e->cond);
    int first_index = l.next;
    lift_indices(&l, e->dep->indices);
    add_guard(&l, e);
    lift_element(m, &l, e->call, element_of(e));
    if (count_edge_indices(e) && l.exact)
        edge->multi = multiplicity(&l, first_index);
    edge->exact = l.exact;
    edge->guard_exact = l.guard_exact;
    edge->opaque_at = l.opaque_at;
    edge->why = l.why;
    edge->rel = finish_edge(m, &l, edge);
    edge->when = isl_set_coalesce(isl_map_domain(isl_map_copy(edge->rel)));
}

isl_map *verify_unguarded(verify_model *m, const verify_edge *edge)
{
    const sema_edge *e = edge->sema;
    lift_layout l = edge_layout(m, edge, NULL);
    lift_indices(&l, e->dep->indices);
    lift_element(m, &l, e->call, element_of(e));
    bool exact = l.exact;
    isl_map *rel = finish_edge(m, &l, edge);
    if (exact)
        return rel;
    isl_map_free(rel);
    return NULL;
}

static void lift_placement(verify_model *m, verify_class *c)
{
    const ast_call *call = c->sema->ast->placement;
    bool *used = lift_used_locals(m->sema, c->sema, NULL, NULL, call);
    size_t n_indices = lift_count_value_indices(call->args, call->n_args);
    const sema_global *g = c->sema->placement;
    lift_layout l = layout_begin(m, c, count_target(m, call, g), n_indices, used);
    free(used);
    lift_element(m, &l, call, g);
    lift_project(&l);
    isl_map *map = split(l.scope.within, c);
    isl_space_free(l.scope.space);
    if (l.exact)
        c->placement = isl_map_coalesce(map);
    else
        isl_map_free(map);
    c->unplaced_at = l.opaque_at;
    c->unplaced = l.why;
}

static isl_stat note_constant(isl_set *where, isl_aff *value, void *arg)
{
    bool *constant = arg;
    *constant = *constant && isl_aff_is_cst(value) == isl_bool_true;
    isl_set_free(where);
    isl_aff_free(value);
    return isl_stat_ok;
}

/* Does a value take a few constants, as flags do? */
static bool is_flag(isl_pw_aff *value)
{
    bool constant = true;
    return isl_pw_aff_foreach_piece(value, note_constant, &constant) == isl_stat_ok && constant;
}

/* Is `v` a local whose value an affine function of the parameters cannot say, and no flag? */
static bool adds_coordinate(lift_layout *l, const sema_local *local, const lift_var *v)
{
    const ast_value *value = local->ast->value;
    if (local->param >= 0 || v->opaque || value->indices || value->hi)
        return false;
    isl_pw_aff *pa = lift_value(&l->scope, value->lo);
    bool one = isl_pw_aff_isa_aff(pa) == isl_bool_true;
    isl_aff *aff = one ? isl_pw_aff_as_aff(isl_pw_aff_copy(pa)) : NULL;
    bool adds = pa && !(one && isl_aff_dim(aff, isl_dim_div) == 0) && !is_flag(pa);
    isl_aff_free(aff);
    isl_pw_aff_free(pa);
    return adds;
}

/* cls[params] -> [one hidden dimension], for tasks: what it says of others has no meaning. */
static isl_map *value_of(const lift_layout *l, const verify_class *c, int dim)
{
    unsigned first = (unsigned)l->n_params, behind = (unsigned)(l->next - dim - 1);
    isl_set *set = isl_set_copy(l->scope.within);
    set = isl_set_project_out(set, isl_dim_set, (unsigned)dim + 1, behind);
    set = isl_set_project_out(set, isl_dim_set, first, (unsigned)dim - first);
    return isl_map_gist_domain(split(set, c), isl_set_copy(c->space));
}

/* The same where values are functions of terms. */
static isl_map *term_value_of(const lift_layout *l, const verify_class *c, const sema_local *local)
{
    isl_pw_aff *value = lift_of_parameters(&l->scope, local->ast->value->lo);
    value = isl_pw_aff_gist(value, isl_set_reset_tuple_id(isl_set_copy(c->space)));
    return value ? isl_map_set_tuple_id(isl_map_from_pw_aff(value), isl_dim_in, isl_id_copy(c->id)) : NULL;
}

isl_map *verify_coordinates(verify_model *m, const verify_class *c)
{
    lift_layout l = layout_begin(m, c, 0, 0, NULL);
    isl_map *all = isl_map_identity(isl_space_map_from_set(isl_set_get_space(c->space)));
    for (size_t i = 0; i < l.scope.n_vars; i++) {
        const lift_var *v = &l.scope.vars[i];
        for (size_t k = 0; k < c->sema->n_locals; k++)
            if (v->key == &c->sema->locals[k] && adds_coordinate(&l, v->key, v)) {
                isl_map *value = m->terms.on ? term_value_of(&l, c, v->key) : value_of(&l, c, v->dim);
                all = isl_map_flat_range_product(all, value);
            }
    }
    isl_set_free(l.scope.within);
    isl_space_free(l.scope.space);
    return isl_map_set_tuple_id(all, isl_dim_out, isl_id_copy(c->id));
}

/* --std=parsec: of several inputs the first whose guard holds is taken. */
static void first_input_wins(verify_model *m)
{
    for (size_t i = 0; i < m->n_edges; i++) {
        verify_edge *later = &m->edges[i];
        const sema_flow *flow = later->sema->flow;
        if (later->sema->dir != AST_IN || flow->ast->kind == AST_CTL)
            continue;
        verify_renew(m);
        for (size_t k = 0; k < later->sema->index; k++) {
            const verify_edge *e = verify_edge_of(m, &flow->edges[k]);
            if (e->sema->dir != AST_IN)
                continue;
            if (e->guard_exact) {
                later->rel = isl_map_subtract_domain(later->rel, isl_set_copy(e->when));
            } else if (e->sema->dep != later->sema->dep) {
                later->exact = later->guard_exact = false;
                later->opaque_at = later->why ? later->opaque_at : e->opaque_at;
                later->why = later->why ? later->why : e->why;
            }
        }
        isl_set_free(later->when);
        later->when = isl_set_coalesce(isl_map_domain(isl_map_copy(later->rel)));
    }
}

/* ---- the model ------------------------------------------------------------------------------ */

static void make_tables(verify_model *m)
{
    m->classes = util_alloc(m->n_classes * sizeof(*m->classes) + 1);
    for (size_t i = 0; i < m->n_classes; i++) {
        const sema_class *cls = &m->sema->classes[i];
        m->classes[i].sema = cls;
        for (size_t f = 0; f < cls->n_flows; f++)
            m->n_edges += cls->flows[f].n_edges;
    }
    m->edges = util_alloc(m->n_edges * sizeof(*m->edges) + 1);
    verify_edge *next = m->edges;
    for (size_t i = 0; i < m->n_classes; i++) {
        verify_class *c = &m->classes[i];
        c->first = arena_alloc(m->arena, (c->sema->n_flows + 1) * sizeof(*c->first));
        size_t n = 0;
        for (size_t f = 0; f < c->sema->n_flows; f++) {
            c->first[f] = n;
            for (size_t e = 0; e < c->sema->flows[f].n_edges; e++, n++)
                *next++ = (verify_edge){.sema = &c->sema->flows[f].edges[e], .cls = c};
        }
        c->first[c->sema->n_flows] = n;
        c->edges = arena_alloc(m->arena, (n + 1) * sizeof(*c->edges));
        for (size_t e = 0; e < n; e++)
            c->edges[e] = next - n + e;
    }
}

/* Placements and edges of collections whose elements are pairs no more, once more. */
static void lift_again(verify_model *m, const bool *dropped)
{
    for (size_t i = 0; i < m->n_classes; i++) {
        verify_class *c = &m->classes[i];
        const sema_global *root = verify_root_of(c->sema->placement);
        if (!root || !dropped[root->index])
            continue;
        c->placement = isl_map_free(c->placement);
        lift_placement(m, c);
    }
    for (size_t i = 0; i < m->n_edges; i++) {
        verify_edge *e = &m->edges[i];
        const sema_global *root = verify_root_of(element_of(e->sema));
        if (!root || !dropped[root->index])
            continue;
        isl_map_free(e->rel);
        isl_set_free(e->when);
        isl_map_free(e->multi);
        e->multi = NULL;
        lift_edge(m, e);
    }
}

static void lift_everything(verify_model *m, bool pairs)
{
    m->pairs.stride = arena_alloc(m->arena, (m->sema->n_globals + 1) * sizeof(*m->pairs.stride));
    m->pairs.none = arena_alloc(m->arena, m->sema->n_globals + 1);
    for (size_t i = 0; i < m->sema->n_globals; i++)
        m->pairs.stride[i] = -1;
    if (pairs)
        verify_find_strides(m);
    for (size_t i = 0; i < m->n_classes; i++) {
        verify_renew(m);
        lift_class(m, &m->classes[i]);
        lift_placement(m, &m->classes[i]);
    }
    for (size_t i = 0; i < m->n_edges; i++) {
        verify_renew(m);
        lift_edge(m, &m->edges[i]);
    }
    if (pairs && verify_keep_strides(m, m->pairs.none))
        lift_again(m, m->pairs.none);
}

/* A model with what the file says of its parameters; nothing is lifted yet. */
static verify_model *model_begin(isl_ctx *isl, const ast_file *file, const sema_info *sema, diag *d,
                                 const verify_options *options, const int64_t *grid, bool terms)
{
    verify_model *m = util_alloc(sizeof(*m));
    m->sema = sema;
    m->file = file;
    m->d = d;
    m->options = options;
    m->arena = arena_new();
    m->n_classes = sema->n_classes;
    m->operations.next = options && options->max_operations ? options->max_operations
                                                           : VERIFY_MAX_OPERATIONS;
    m->operations.most = m->operations.next;
    m->doubts = arena_alloc(m->arena, sizeof(*m->doubts));
    make_tables(m);
    if (isl)
        poly_begin_in(isl, &m->poly, sema, m->arena, m->operations.next, grid);
    else
        poly_begin(&m->poly, sema, m->arena, m->operations.next, grid);
    if (terms)
        poly_begin_terms(&m->poly);
    m->terms.on = terms;
    verify_begin(m);
    m->assume_exact = arena_alloc(m->arena, file->n_assumes * sizeof(bool) + 1);
    m->facts = lift_facts(&m->poly, m->assume_exact);
    m->given = isl_set_copy(m->facts);
    return m;
}

static verify_model *lift_file(verify_model *m, bool pairs)
{
    lift_everything(m, pairs);
    if (m->sema->dialect == DIALECT_PARSEC)
        first_input_wins(m);
    m->gave_up = verify_failed(m);
    return m;
}

verify_model *verify_lift(const ast_file *file, const sema_info *sema, diag *d,
                          const verify_options *options, const int64_t *grid)
{
    return verify_lift_in(NULL, file, sema, d, options, grid);
}

verify_model *verify_lift_in(isl_ctx *isl, const ast_file *file, const sema_info *sema, diag *d,
                             const verify_options *options, const int64_t *grid)
{
    /* Files that are compared have their indices as they are written. */
    return lift_file(model_begin(isl, file, sema, d, options, grid, false), !isl);
}

verify_model *verify_lift_terms(const verify_model *base)
{
    return lift_file(model_begin(NULL, base->file, base->sema, base->d, base->options, NULL, true), true);
}

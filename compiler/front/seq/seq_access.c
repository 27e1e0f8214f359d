/* Each flow of a call is an access to elements at a time that the nest gives it; so are all
 * elements before and behind the nest. isl says which access wrote what another one reads. */
#include "seq_flow.h"

#include "poly/poly.h"

#include <isl/flow.h>
#include <isl/union_map.h>
#include <isl/union_set.h>
#include <stdlib.h>
#include <string.h>

static verify_class *class_of(const verify_model *m, const seq_call *c)
{
    for (size_t i = 0; i < m->n_classes; i++)
        if (strcmp(m->classes[i].sema->name, c->name) == 0)
            return &m->classes[i];
    return NULL;
}

/* The relation of a tile parameter to elements, as the first text of the graph has it. */
static const verify_edge *edge_of(const verify_class *vc, const char *flow)
{
    for (size_t i = 0; i < vc->sema->n_flows; i++)
        if (strcmp(vc->sema->flows[i].name, flow) == 0)
            return vc->edges[vc->first[i]];
    return NULL;
}

/* ---- the accesses ---------------------------------------------------------------------------- */

/* The tasks, for all parameters that may be: what is known of them may be a disjunction, and then
 * every relation would be one. Parameters of conditions (one value each) are left out of
 * `space`. */
static isl_set *plain_space(const flows *w, const verify_class *vc)
{
    bool *used = lift_shaping_locals(w->m->sema, vc->sema);
    lift_layout l = lift_layout_new(&w->m->poly, vc->sema, 0, lift_count_derived(vc->sema, used));
    l.scope.within = isl_set_universe(isl_space_copy(l.scope.space));
    l.scope.within = isl_set_intersect_params(l.scope.within, isl_set_copy(w->facts));
    lift_locals(&l, vc->sema, used);
    free(used);
    lift_project(&l);
    isl_space_free(l.scope.space);
    return isl_set_coalesce(l.scope.within);
}

/* Parameter i of the first text of the graph stands for a condition, not for a loop. */
static bool is_condition(const seq_call *c, size_t i)
{
    for (size_t k = 0; k < c->n_items; k++)
        if (c->items[k]->kind != SEQ_DEF && i-- == 0)
            return c->items[k]->kind == SEQ_IF;
    return false;
}

static isl_map *without_conditions(const seq_call *c, isl_map *map, size_t n_params)
{
    map = isl_map_reset_tuple_id(map, isl_dim_in);
    for (size_t i = n_params; i-- > 0;)
        if (is_condition(c, i))
            map = isl_map_project_out(map, isl_dim_in, (unsigned)i, 1);
    return isl_map_coalesce(map);
}

/* The tile parameter as a relation loops -> elements, on the space of its class. */
static isl_map *relation_of(const flows *w, const seq_call *c, const verify_class *vc, size_t param)
{
    const verify_edge *edge = edge_of(vc, c->kernel->params[param].name);
    isl_map *rel = verify_unguarded(w->m, edge);
    return without_conditions(c, isl_map_reset_tuple_id(rel, isl_dim_out), vc->sema->n_params);
}

/* Its name is that of the first of the arrays that are dealt out alike. */
static const char *dealt_as(const seq_file *f, const char *array)
{
    for (size_t i = 0; i < f->n_globals; i++) {
        const seq_global *g = seq_find_global(f, array);
        if (g && g->aligned)
            array = g->aligned;
    }
    return array;
}

seq_end *seq_new_end(const flows *w, const char *cls, const char *flow, size_t n_dims)
{
    arena *a = w->f->arena;
    seq_end *end = arena_alloc(a, sizeof(*end));
    *end = (seq_end){.cls = cls, .flow = flow, .relay = -1, .n_dims = n_dims};
    end->dims = arena_alloc(a, (n_dims + 1) * sizeof(char *));
    w->g->ends = seq_grow(w->f, w->g->ends, w->g->n_ends, sizeof(seq_end *));
    return w->g->ends[w->g->n_ends++] = end;
}

static isl_map *on_elements(isl_map *map, isl_id *id, const access *a)
{
    map = isl_map_set_tuple_id(map, isl_dim_in, isl_id_copy(id));
    return isl_map_set_tuple_name(map, isl_dim_out, a->array);
}

static void add_access(flows *w, size_t call, size_t param, const verify_class *vc)
{
    const seq_call *c = w->f->calls[call];
    const seq_param *p = &c->kernel->params[param];
    access a = {.call = call, .array = c->args[param].array};
    a.end = seq_new_end(w, c->name, p->name, c->n_loops);
    a.end->call = call;
    a.end->param = param;
    a.touches = p->region;
    a.needs = p->access == SEQ_IN ? p->region : DAG_REGION_FULL;
    for (size_t i = 0, k = 0; i < c->n_items; i++)
        if (c->items[i]->kind == SEQ_LOOP)
            a.end->dims[k++] = c->items[i]->name;
    isl_map *rel = relation_of(w, c, vc, param);
    a.end->space = isl_set_coalesce(isl_map_domain(isl_map_copy(rel)));
    a.id = isl_id_alloc(w->m->poly.isl, "flow", a.end);
    rel = on_elements(rel, a.id, &a);
    bool carried = w->all->flows[call][param].carried;
    if (p->access != SEQ_OUT || carried)
        a.reads = isl_map_copy(rel);
    if (p->access != SEQ_IN)
        a.writes = isl_map_copy(rel);
    isl_map_free(rel);
    if (strcmp(dealt_as(w->f, a.array), dealt_as(w->f, c->args[c->kernel->at].array)) == 0)
        a.place = relation_of(w, c, vc, (size_t)c->kernel->at);
    w->list = seq_grow(w->f, w->list, w->n, sizeof(access));
    w->list[w->n++] = a;
}

/* All elements of an array that the nest reads or writes, as one access before or behind it. */
static void add_memory(flows *w, const char *array, bool before, size_t n_flows, unsigned part)
{
    isl_set *all = NULL;
    for (size_t i = 0; i < n_flows; i++) {
        isl_map *map = before ? w->list[i].reads : w->list[i].writes;
        if (strcmp(w->list[i].array, array) != 0 || !map ||
            (!before && !(w->list[i].touches & part)))
            continue;
        isl_set *range = isl_map_range(isl_map_copy(map));
        all = all ? isl_set_union(all, range) : range;
    }
    if (!all)
        return;
    access a = {.array = array, .before = before, .touches = part, .needs = part};
    const char *when = before ? "before" : arena_printf(w->f->arena, "behind%u", part);
    a.id = isl_id_alloc(w->m->poly.isl, when, (void *)(uintptr_t)array);
    isl_map *same = isl_set_identity(isl_set_coalesce(all));
    same = isl_map_set_tuple_id(same, isl_dim_in, isl_id_copy(a.id));
    *(before ? &a.writes : &a.reads) = same;
    w->list = seq_grow(w->f, w->list, w->n, sizeof(access));
    w->list[w->n++] = a;
}

void seq_make_accesses(flows *w)
{
    const seq_file *f = w->f;
    for (size_t c = 0; c < f->n_calls; c++) {
        verify_class *vc = class_of(w->m, f->calls[c]);
        isl_set *known = vc->space;
        vc->space = isl_set_set_tuple_id(plain_space(w, vc), isl_id_copy(vc->id));
        for (size_t i = 0; i < f->calls[c]->kernel->n_params; i++)
            if (f->calls[c]->kernel->params[i].tile)
                add_access(w, c, i, vc);
        isl_set_free(vc->space);
        vc->space = known;
    }
    size_t n = w->n;
    for (size_t i = 0; i < f->n_globals; i++) {
        if (!f->globals[i].matrix)
            continue;
        const char *array = f->globals[i].name;
        unsigned step = seq_in_parts(w, array, n) ? DAG_REGION_LOWER_STRICT : DAG_REGION_FULL;
        add_memory(w, array, true, n, DAG_REGION_FULL);
        if (f->globals[i].like) /* nobody has it behind the nest */
            continue;
        for (unsigned part = step; part <= DAG_REGION_FULL; part <<= 1)
            add_memory(w, array, false, n, part);
    }
}

/* ---- time ------------------------------------------------------------------------------------ */

/* access[i, j] -> [phase, position, i, position, -j, position, 0, 0]; Counters that go down grow
 * backwards. */
static isl_map *time_of(const flows *w, const access *a, size_t depth)
{
    isl_map *map = a->reads ? a->reads : a->writes;
    isl_size n = isl_map_dim(map, isl_dim_in);
    const seq_call *c = a->end ? w->f->calls[a->call] : NULL;
    text t = {0};
    text_puts(&t, "{ [");
    for (int i = 0; i < n; i++)
        text_printf(&t, i ? ", i%d" : "i%d", i);
    text_printf(&t, "] -> [%d", c ? 1 : a->before ? 0 : 2);
    size_t loop = 0, dims = 1;
    for (size_t i = 0; c && i < c->n_items; i++) {
        if (c->items[i]->kind != SEQ_LOOP)
            continue;
        text_printf(&t, ", %ld, %si%zu", c->position[loop], c->items[i]->step < 0 ? "-" : "", loop);
        loop++;
        dims += 2;
    }
    if (c) {
        text_printf(&t, ", %ld", c->position[loop]);
        dims++;
    }
    for (; dims < 2 * depth + 2; dims++)
        text_puts(&t, ", 0");
    text_puts(&t, "] }");
    isl_map *time = isl_map_read_from_str(w->m->poly.isl, text_str(&t));
    text_free(&t);
    return isl_map_set_tuple_id(time, isl_dim_in, isl_id_copy(a->id));
}

/* For those that need a region. */
static isl_union_map *solution(const flows *w, unsigned needs)
{
    isl_space *space = isl_space_copy(w->m->poly.param_space);
    isl_union_map *reads = isl_union_map_empty(isl_space_copy(space));
    isl_union_map *writes = isl_union_map_empty(isl_space_copy(space));
    isl_union_map *times = isl_union_map_empty(space);
    size_t depth = 0;
    for (size_t i = 0; i < w->f->n_calls; i++)
        depth = w->f->calls[i]->n_loops > depth ? w->f->calls[i]->n_loops : depth;
    for (size_t i = 0; i < w->n; i++) {
        const access *a = &w->list[i];
        bool sink = a->reads && a->needs == needs, source = a->writes && (a->touches & needs);
        if (sink)
            reads = isl_union_map_add_map(reads, isl_map_copy(a->reads));
        if (source)
            writes = isl_union_map_add_map(writes, isl_map_copy(a->writes));
        if (sink || source)
            times = isl_union_map_add_map(times, time_of(w, a, depth));
    }
    isl_union_access_info *info = isl_union_access_info_from_sink(reads);
    info = isl_union_access_info_set_must_source(info, writes);
    info = isl_union_access_info_set_schedule_map(info, times);
    isl_union_flow *flow = isl_union_access_info_compute_flow(info);
    isl_union_map *found = isl_union_flow_get_must_dependence(flow);
    isl_union_flow_free(flow);
    return found;
}

static const access *access_of(const flows *w, isl_id *id)
{
    const access *found = NULL;
    for (size_t i = 0; i < w->n; i++)
        if (w->list[i].id == id)
            found = &w->list[i];
    isl_id_free(id);
    return found;
}

static isl_stat add_dep(isl_map *map, void *arg)
{
    deps *d = arg;
    dep one = {.from = access_of(d->w, isl_map_get_tuple_id(map, isl_dim_in)),
               .to = access_of(d->w, isl_map_get_tuple_id(map, isl_dim_out))};
    map = isl_map_reset_tuple_id(isl_map_reset_tuple_id(map, isl_dim_in), isl_dim_out);
    one.rel = isl_map_coalesce(map);
    one.region = one.to->needs;
    isl_map *possible =
        isl_map_intersect_params(isl_map_copy(one.rel), isl_set_copy(d->w->m->facts));
    bool none = isl_map_is_empty(possible) == isl_bool_true;
    isl_map_free(possible);
    if (none || (!one.from->end && !one.to->end)) {
        isl_map_free(one.rel);
        return isl_stat_ok;
    }
    d->items = util_realloc(d->items, (d->n + 1) * sizeof(*d->items));
    d->items[d->n++] = one;
    return isl_stat_ok;
}

/* Takes rel. */
void seq_add_edge(const flows *w, const seq_end *from, const seq_end *to, isl_map *rel,
                  unsigned region)
{
    rel = isl_map_coalesce(rel);
    if (isl_map_is_empty(rel) == isl_bool_true) {
        isl_map_free(rel);
        return;
    }
    w->g->edges = seq_grow(w->f, w->g->edges, w->g->n_edges, sizeof(seq_edge));
    w->g->edges[w->g->n_edges++] = (seq_edge){from, to, rel, region};
}

void seq_flows_end(flows *w)
{
    for (size_t i = 0; i < w->n; i++) {
        isl_id_free(w->list[i].id);
        isl_map_free(w->list[i].reads);
        isl_map_free(w->list[i].writes);
        isl_map_free(w->list[i].place);
    }
    isl_set_free(w->facts);
}

void seq_solve(const flows *w, deps *d)
{
    *d = (deps){.w = w};
    for (unsigned needs = 1; needs <= DAG_REGION_FULL; needs++) {
        bool any = false;
        for (size_t i = 0; i < w->n; i++)
            any = any || (w->list[i].reads && w->list[i].needs == needs);
        if (!any)
            continue;
        isl_union_map *all = solution(w, needs);
        isl_union_map_foreach_map(all, add_dep, d);
        isl_union_map_free(all);
    }
}

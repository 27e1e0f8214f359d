/* What was each tile written by that is read? isl answers for all values of the parameters at once:
 * every flow of a call is an access to elements, at a time that the nest gives it. Before the nest
 * every element is written, and behind it read, by tasks that stand for memory; of these, what may
 * happen in place is put into the flows (the first reader of an element on its rank fetches it, the
 * last writer stores it), and what is left become classes of their own, the relays. */
#include "seq_impl.h"

#include "verify/report.h"

#include <isl/flow.h>
#include <isl/union_map.h>
#include <isl/union_set.h>
#include <stdlib.h>
#include <string.h>

/* An access of the dataflow problem: a flow, or all elements of an array before or behind the nest. */
typedef struct access {
    seq_end *end;               /* NULL: memory */
    size_t call;
    const char *array;
    bool before;                /* of memory */
    isl_id *id;
    isl_map *reads, *writes;    /* id[...] -> array[...]; NULL: it does not */
    isl_map *place;             /* [params] -> [element] where its tasks run; NULL: in another array */
} access;

typedef struct flows {
    const seq_file *f;
    verify_model *m;
    seq_graph *g;
    seq_edges_text *all;
    access *list;
    size_t n;
    isl_set *facts;             /* one basic set that holds what is known of the parameters */
} flows;

static const verify_class *class_of(const verify_model *m, const seq_call *c)
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

/* ---- the accesses ----------------------------------------------------------------------------- */

/* The tasks without what is known of the parameters anyway: that may be a disjunction. */
static isl_set *plain_space(const flows *w, const verify_class *vc)
{
    isl_set *facts = isl_set_copy(w->m->facts);
    isl_set *space = isl_set_gist_params(isl_set_copy(vc->space), isl_set_copy(facts));
    isl_set *back = isl_set_intersect_params(isl_set_copy(space), facts);
    if (isl_set_is_equal(back, vc->space) != isl_bool_true) {
        isl_set_free(space);
        space = isl_set_copy(vc->space);
    }
    isl_set_free(back);
    space = isl_set_intersect_params(space, isl_set_copy(w->facts));
    return isl_set_coalesce(isl_set_reset_tuple_id(space));
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

static seq_end *new_end(flows *w, const char *cls, const char *flow, size_t n_dims)
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
    const verify_edge *edge = edge_of(vc, p->name);
    access a = {.call = call, .array = c->args[param].array};
    a.end = new_end(w, c->name, p->name, vc->sema->n_params);
    a.end->call = call;
    a.end->param = param;
    for (size_t i = 0; i < vc->sema->n_params; i++)
        a.end->dims[i] = vc->sema->params[i]->name;
    a.end->space = plain_space(w, vc);
    a.id = isl_id_alloc(w->m->poly.isl, "flow", a.end);
    isl_map *rel = isl_map_reset_tuple_id(isl_map_copy(edge->rel), isl_dim_in);
    rel = isl_map_gist_params(rel, isl_set_copy(w->m->facts));
    rel = isl_map_intersect_domain(rel, isl_set_copy(a.end->space));
    rel = on_elements(isl_map_coalesce(rel), a.id, &a);
    bool carried = w->all->flows[call][param].carried;
    if (p->access != SEQ_OUT || carried)
        a.reads = isl_map_copy(rel);
    if (p->access != SEQ_IN)
        a.writes = isl_map_copy(rel);
    isl_map_free(rel);
    if (strcmp(dealt_as(w->f, a.array), dealt_as(w->f, c->args[c->kernel->at].array)) == 0)
        a.place = isl_map_reset_tuple_id(isl_map_copy(vc->placement), isl_dim_in);
    w->list = seq_grow(w->f, w->list, w->n, sizeof(access));
    w->list[w->n++] = a;
}

/* All elements of an array that the nest reads or writes, as one access before or behind it. */
static void add_memory(flows *w, const char *array, bool before, size_t n_flows)
{
    isl_set *all = NULL;
    for (size_t i = 0; i < n_flows; i++) {
        isl_map *map = before ? w->list[i].reads : w->list[i].writes;
        if (strcmp(w->list[i].array, array) != 0 || !map)
            continue;
        isl_set *range = isl_map_range(isl_map_copy(map));
        all = all ? isl_set_union(all, range) : range;
    }
    if (!all)
        return;
    access a = {.array = array, .before = before};
    a.id = isl_id_alloc(w->m->poly.isl, before ? "before" : "behind", (void *)(uintptr_t)array);
    isl_map *same = isl_set_identity(isl_set_coalesce(all));
    same = isl_map_set_tuple_id(same, isl_dim_in, isl_id_copy(a.id));
    *(before ? &a.writes : &a.reads) = same;
    w->list = seq_grow(w->f, w->list, w->n, sizeof(access));
    w->list[w->n++] = a;
}

static void make_accesses(flows *w)
{
    const seq_file *f = w->f;
    for (size_t c = 0; c < f->n_calls; c++)
        for (size_t i = 0; i < f->calls[c]->kernel->n_params; i++)
            if (f->calls[c]->kernel->params[i].tile)
                add_access(w, c, i, class_of(w->m, f->calls[c]));
    size_t n = w->n;
    for (size_t i = 0; i < f->n_globals; i++) {
        if (!f->globals[i].matrix)
            continue;
        add_memory(w, f->globals[i].name, true, n);
        add_memory(w, f->globals[i].name, false, n);
    }
}

/* ---- time ------------------------------------------------------------------------------------- */

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

static isl_union_map *solve(const flows *w)
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
        if (a->reads)
            reads = isl_union_map_add_map(reads, isl_map_copy(a->reads));
        if (a->writes)
            writes = isl_union_map_add_map(writes, isl_map_copy(a->writes));
        times = isl_union_map_add_map(times, time_of(w, a, depth));
    }
    isl_union_access_info *info = isl_union_access_info_from_sink(reads);
    info = isl_union_access_info_set_must_source(info, writes);
    info = isl_union_access_info_set_schedule_map(info, times);
    isl_union_flow *flow = isl_union_access_info_compute_flow(info);
    isl_union_map *deps = isl_union_flow_get_must_dependence(flow);
    isl_union_flow_free(flow);
    return deps;
}

/* ---- edges ------------------------------------------------------------------------------------ */

typedef struct dep {
    const access *from, *to;
    isl_map *rel;               /* [..] -> [..] */
} dep;

typedef struct deps {
    const flows *w;
    dep *items;
    size_t n;
} deps;

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
    isl_map *possible = isl_map_intersect_params(isl_map_copy(one.rel),
                                                 isl_set_copy(d->w->m->facts));
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
static void add_edge(flows *w, const seq_end *from, const seq_end *to, isl_map *rel)
{
    rel = isl_map_coalesce(rel);
    if (isl_map_is_empty(rel) == isl_bool_true) {
        isl_map_free(rel);
        return;
    }
    w->g->edges = seq_grow(w->f, w->g->edges, w->g->n_edges, sizeof(seq_edge));
    w->g->edges[w->g->n_edges++] = (seq_edge){from, to, rel};
}

/* Of elements -> tasks, those that run where their element is. Keeps rel. */
static isl_map *at_home(const access *a, isl_map *rel)
{
    if (!a->place)
        return isl_map_empty(isl_map_get_space(rel));
    return isl_map_intersect(isl_map_copy(rel), isl_map_reverse(isl_map_copy(a->place)));
}

/* elements -> the tasks at the other end: readers of what memory had before, or last writers. */
static isl_map *elements_of(const dep *d, bool before)
{
    return before ? isl_map_copy(d->rel) : isl_map_reverse(isl_map_copy(d->rel));
}

static bool concerns(const dep *d, const char *array, bool before)
{
    const access *memory = before ? d->from : d->to;
    return !memory->end && memory->array == array;
}

static isl_set *join(isl_set *all, isl_set *more)
{
    return all ? isl_set_union(all, more) : more;
}

static isl_set *written_elements(const flows *w, const char *array)
{
    isl_set *all = NULL;
    for (size_t i = 0; i < w->n; i++)
        if (w->list[i].end && w->list[i].writes && strcmp(w->list[i].array, array) == 0)
            all = join(all, isl_map_range(isl_map_copy(w->list[i].writes)));
    return all ? isl_set_reset_tuple_id(all) : NULL;
}

/* Elements that several tasks read first while one changes them. */
static isl_set *shared_elements(const flows *w, const deps *d, const char *array)
{
    isl_set *twice = NULL, *seen = NULL, *written = written_elements(w, array);
    for (size_t i = 0; i < d->n && written; i++) {
        if (!concerns(&d->items[i], array, true))
            continue;
        isl_map *rel = isl_map_copy(d->items[i].rel);
        isl_set *domain = isl_map_domain(isl_map_copy(rel));
        isl_map *others = isl_map_subtract(isl_map_copy(rel), isl_map_lexmin(rel));
        twice = join(twice, isl_map_domain(others));
        if (seen)
            twice = isl_set_union(twice, isl_set_intersect(isl_set_copy(domain),
                                                           isl_set_copy(seen)));
        seen = join(seen, domain);
    }
    isl_set_free(seen);
    if (!twice) {
        isl_set_free(written);
        return NULL;
    }
    return isl_set_intersect(twice, written);
}

/* What has to pass through a relay; NULL: nothing. A flow of which some elements have to takes all of
 * its elements from there: its guards are simpler then. */
static isl_set *relayed_elements(const flows *w, const deps *d, const char *array, bool before)
{
    isl_set *all = before ? shared_elements(w, d, array) : NULL;
    for (size_t i = 0; i < d->n; i++) {
        if (!concerns(&d->items[i], array, before))
            continue;
        isl_map *rel = elements_of(&d->items[i], before);
        isl_map *home = at_home(before ? d->items[i].to : d->items[i].from, rel);
        all = join(all, isl_map_domain(isl_map_subtract(rel, home)));
    }
    bool grew = before && all;
    for (size_t round = 0; grew && round < d->n; round++) {
        grew = false;
        for (size_t i = 0; i < d->n; i++) {
            if (!concerns(&d->items[i], array, before))
                continue;
            isl_set *own = isl_map_domain(elements_of(&d->items[i], before));
            bool new = isl_set_is_disjoint(own, all) == isl_bool_false &&
                       isl_set_is_subset(own, all) == isl_bool_false;
            all = new ? isl_set_union(all, isl_set_copy(own)) : all;
            grew = grew || new;
            isl_set_free(own);
        }
    }
    return all ? isl_set_coalesce(all) : NULL;
}

/* ---- relays ----------------------------------------------------------------------------------- */

/* The dimensions of a set of elements that the ones before do not determine; all - that many are
 * functions of them. Keeps set. */
static void free_dims(isl_set *set, bool *keep, isl_size n)
{
    bool any = false;
    for (int i = 0; i < n; i++) {
        isl_set *front = isl_set_project_out(isl_set_copy(set), isl_dim_set, (unsigned)i + 1,
                                             (unsigned)(n - i - 1));
        isl_map *last = isl_map_move_dims(isl_map_from_range(front), isl_dim_in, 0, isl_dim_out, 0,
                                          (unsigned)i);
        keep[i] = isl_map_is_single_valued(last) != isl_bool_true;
        any = any || keep[i];
        isl_map_free(last);
    }
    keep[0] = keep[0] || !any;
}

static const char *free_name(const seq_file *f, const char *base)
{
    const char *name = base;
    for (size_t n = 2;; n++) {
        bool taken = seq_find_global(f, name) != NULL;
        for (size_t i = 0; i < f->n_calls; i++)
            taken = taken || strcmp(f->calls[i]->name, name) == 0;
        if (!taken)
            return name;
        name = arena_printf(f->arena, "%s_%zu", base, n);
    }
}

/* The class for one set of elements; elements -> its parameters. Keeps set. */
static seq_end *add_relay(flows *w, const char *array, bool gives, src_range where, isl_set *set,
                          isl_map **params)
{
    static const char *const letters[] = {"i", "j"};
    seq_edges_text *all = w->all;
    bool keep[2] = {true, true};
    isl_size n = isl_set_dim(set, isl_dim_set);
    free_dims(set, keep, n);
    size_t same = 1;
    for (size_t i = 0; i < all->n_relays; i++)
        same += all->relays[i].gives == gives && strcmp(all->relays[i].array, array) == 0;
    const char *base = arena_printf(w->f->arena, gives ? "GIVE_%s" : "HOME_%s", array);
    if (same > 1)
        base = arena_printf(w->f->arena, "%s_%zu", base, same);
    seq_end *end = new_end(w, free_name(w->f, base), "X", (size_t)(keep[0] + keep[1]));
    end->relay = (int)all->n_relays;
    for (int i = 0, k = 0; i < 2; i++)
        if (keep[i])
            end->dims[k++] = free_name(w->f, letters[i]);
    isl_map *map = isl_set_identity(isl_set_copy(set));
    for (int i = 1; i >= 0; i--)
        if (!keep[i])
            map = isl_map_project_out(map, isl_dim_out, (unsigned)i, 1);
    end->space = isl_set_coalesce(isl_map_range(isl_map_copy(map)));
    *params = map;
    all->relays = seq_grow(w->f, all->relays, all->n_relays, sizeof(seq_relay));
    all->relays[all->n_relays++] = (seq_relay){
        .gives = gives, .name = end->cls, .array = array, .where = where,
        .element_of = isl_map_reverse(isl_map_copy(map)), .end = end};
    return end;
}

/* The edges of one relay: its elements, and the tasks at the other end. Takes set. */
static void relay_part(flows *w, const deps *d, const char *array, bool before, isl_set *set)
{
    src_range where = {0};
    for (size_t i = 0; i < d->n && src_range_is_none(where); i++)
        if (concerns(&d->items[i], array, before)) {
            const seq_end *end = (before ? d->items[i].to : d->items[i].from)->end;
            where = w->f->calls[end->call]->args[end->param].where;
        }
    isl_map *params;
    const seq_end *relay = add_relay(w, array, before, where, set, &params);
    for (size_t i = 0; i < d->n; i++) {
        if (!concerns(&d->items[i], array, before))
            continue;
        isl_map *rel = isl_map_intersect_domain(elements_of(&d->items[i], before),
                                                isl_set_copy(set));
        rel = isl_map_apply_domain(rel, isl_map_copy(params));
        if (before)
            add_edge(w, relay, d->items[i].to->end, rel);
        else
            add_edge(w, d->items[i].from->end, relay, isl_map_reverse(rel));
    }
    isl_map_free(params);
    isl_set_free(set);
}

/* Relays for all of the set: one for each convex piece, if they are few. */
static void relay_all(flows *w, const deps *d, const char *array, bool before, isl_set *set)
{
    enum { FEW = 3 };
    isl_set *apart = isl_set_make_disjoint(isl_set_copy(set));
    if (isl_set_n_basic_set(apart) > FEW) {
        isl_set_free(apart);
        relay_part(w, d, array, before, isl_set_copy(set));
        return;
    }
    isl_basic_set_list *list = isl_set_get_basic_set_list(apart);
    for (int i = 0; i < isl_basic_set_list_n_basic_set(list); i++)
        relay_part(w, d, array, before,
                   isl_set_from_basic_set(isl_basic_set_list_get_basic_set(list, i)));
    isl_basic_set_list_free(list);
    isl_set_free(apart);
}

/* What an array had before the nest, or what it has behind it. */
static void put_memory(flows *w, const deps *d, const char *array, bool before)
{
    isl_set *relayed = relayed_elements(w, d, array, before);
    for (size_t i = 0; i < d->n; i++) {
        if (!concerns(&d->items[i], array, before))
            continue;
        const seq_end *end = (before ? d->items[i].to : d->items[i].from)->end;
        isl_map *rel = elements_of(&d->items[i], before);
        if (relayed)
            rel = isl_map_subtract_domain(rel, isl_set_copy(relayed));
        isl_map *here = isl_set_identity(isl_map_range(rel));
        add_edge(w, before ? NULL : end, before ? end : NULL, here);
    }
    if (relayed && isl_set_is_empty(relayed) == isl_bool_false)
        relay_all(w, d, array, before, relayed);
    isl_set_free(relayed);
}

/* An `out` that not all of its tasks store has no shape of its own: it goes on with the tile that was
 * there. True when there is a new one of these: then the flow has to be computed again. */
static bool carry(flows *w)
{
    bool again = false;
    for (size_t i = 0; i < w->n; i++) {
        const access *a = &w->list[i];
        if (!a->end || w->f->calls[a->call]->kernel->params[a->end->param].access != SEQ_OUT)
            continue;
        isl_set *stored = isl_set_empty(isl_set_get_space(a->end->space));
        for (size_t k = 0; k < w->g->n_edges; k++)
            if (w->g->edges[k].from == a->end && !w->g->edges[k].to)
                stored = isl_set_union(stored, isl_map_domain(isl_map_copy(w->g->edges[k].rel)));
        bool *carried = &w->all->flows[a->call][a->end->param].carried;
        if (!*carried && isl_set_is_subset(a->end->space, stored) != isl_bool_true)
            again = *carried = true;
        isl_set_free(stored);
    }
    return again;
}

static void flows_end(flows *w)
{
    for (size_t i = 0; i < w->n; i++) {
        isl_id_free(w->list[i].id);
        isl_map_free(w->list[i].reads);
        isl_map_free(w->list[i].writes);
        isl_map_free(w->list[i].place);
    }
    isl_set_free(w->facts);
}

void seq_graph_free(seq_graph *g, seq_edges_text *all)
{
    for (size_t i = 0; i < g->n_edges; i++)
        isl_map_free(g->edges[i].rel);
    for (size_t i = 0; i < g->n_ends; i++)
        isl_set_free(g->ends[i]->space);
    for (size_t i = 0; i < all->n_relays; i++)
        isl_map_free(all->relays[i].element_of);
    all->n_relays = 0;
    *g = (seq_graph){0};
}

static bool compute(const seq_file *f, verify_model *m, seq_graph *g, seq_edges_text *all)
{
    flows w = {.f = f, .m = m, .g = g, .all = all};
    w.facts = isl_set_from_basic_set(isl_set_simple_hull(isl_set_copy(m->facts)));
    make_accesses(&w);
    isl_union_map *solved = solve(&w);
    deps d = {.w = &w};
    isl_union_map_foreach_map(solved, add_dep, &d);
    isl_union_map_free(solved);
    for (size_t i = 0; i < d.n; i++)
        if (d.items[i].from->end && d.items[i].to->end)
            add_edge(&w, d.items[i].from->end, d.items[i].to->end,
                     isl_map_copy(d.items[i].rel));
    for (size_t i = 0; i < f->n_globals; i++)
        if (f->globals[i].matrix) {
            put_memory(&w, &d, f->globals[i].name, true);
            put_memory(&w, &d, f->globals[i].name, false);
        }
    bool again = carry(&w);
    for (size_t i = 0; i < d.n; i++)
        isl_map_free(d.items[i].rel);
    free(d.items);
    flows_end(&w);
    return again;
}

bool seq_flow(const seq_file *f, verify_model *m, seq_graph *g, seq_edges_text *all)
{
    verify_begin(m);
    while (compute(f, m, g, all) && !verify_failed(m))
        seq_graph_free(g, all);
    return !verify_failed(m) ||
           seq_error(f, "seq-undecided", f->graph,
                     "deriving the edges of this nest takes too long: --max-operations allows more");
}

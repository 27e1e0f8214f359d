/* Tasks that wait for each other in a circle.
 *
 * Proven absent when the classes that depend on each other have a schedule that is affine in the
 * parameters and derived locals of a task, or when their (over-approximated) transitive closure
 * does not meet the identity. A failed schedule is no circle yet: what is left is enumerated for
 * small sizes.
 */
#include "concrete.h"
#include "order.h"

#include <isl/schedule.h>
#include <isl/union_set.h>
#include <stdlib.h>

/* ---- components of the class graph ----------------------------------------------------------- */

/* reach[a * n + b]: class b can come behind class a. */
static bool *class_reach(const verify_model *m, const verify_pairs *pairs)
{
    size_t n = m->n_classes;
    bool *reach = util_alloc(n * n + 1);
    for (size_t i = 0; i < pairs->n; i++)
        reach[pairs->items[i].from->cls->index * n + pairs->items[i].to->cls->index] = true;
    for (size_t k = 0; k < n; k++)
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; reach[a * n + k] && b < n; b++)
                reach[a * n + b] = reach[a * n + b] || reach[k * n + b];
    return reach;
}

static bool in_component(const verify_model *m, const bool *reach, size_t cls, const verify_pair *p)
{
    size_t n = m->n_classes, a = p->from->cls->index, b = p->to->cls->index;
    return reach[cls * n + a] && reach[a * n + cls] && reach[cls * n + b] && reach[b * n + cls];
}

/* Task edges among the classes of the component of `cls`. What tasks wait for decides. */
static isl_union_map *component_edges(verify_model *m, const verify_pairs *pairs,
                                      const bool *reach, size_t cls)
{
    isl_union_map *all = isl_union_map_empty(isl_space_copy(m->poly.param_space));
    for (size_t i = 0; i < pairs->n; i++) {
        const verify_pair *p = &pairs->items[i];
        if (!in_component(m, reach, cls, p))
            continue;
        isl_map *rel = verify_union(m, p->from, p->to, p->ins, p->n_ins, false);
        rel = verify_any_terms(m, rel);
        all = isl_union_map_union(all, isl_union_map_from_map(rel));
    }
    return isl_union_map_intersect_params(all, isl_set_copy(m->facts));
}

/* One convex relation around `rel` (taken), for all parameters at once. */
static isl_map *around(const verify_model *m, isl_map *rel)
{
    rel = isl_map_eliminate(rel, isl_dim_param, 0, (unsigned)m->poly.n_params);
    return isl_map_from_basic_map(isl_map_simple_hull(rel));
}

/* rel (taken) where the facts hold, or at least there: terms make the cases of facts many. */
static isl_map *with_facts(const verify_model *m, isl_map *rel)
{
    if (!m->terms.on)
        return isl_map_intersect_params(rel, isl_set_copy(m->facts));
    isl_set *all = isl_set_from_basic_set(isl_set_simple_hull(isl_set_copy(m->facts)));
    rel = isl_map_coalesce(isl_map_gist_params(rel, isl_set_copy(m->facts)));
    return isl_map_intersect_params(rel, all);
}

/* The same between tasks that are named by all their coordinates (verify_coordinates). `more`: edge
 * by edge, at least those there are, in a form in which a schedule is soon found. */
static isl_union_map *wide_edges(verify_model *m, const verify_pairs *pairs, const bool *reach,
                                 size_t cls, bool more)
{
    isl_map **wide = util_alloc((m->n_classes + 1) * sizeof(*wide));
    for (size_t i = 0; i < m->n_classes; i++)
        wide[i] = reach[cls * m->n_classes + i] ? verify_coordinates(m, &m->classes[i]) : NULL;
    isl_union_map *all = isl_union_map_empty(isl_space_copy(m->poly.param_space));
    for (size_t i = 0; i < pairs->n; i++) {
        const verify_pair *p = &pairs->items[i];
        for (size_t k = 0; k < p->n_ins && in_component(m, reach, cls, p); k++) {
            verify_renew(m);
            isl_map *rel = with_facts(m, verify_forward(m, p->ins[k]));
            isl_map *to = poly_turn_map(&m->poly, isl_map_copy(wide[p->to->cls->index]));
            rel = isl_map_apply_domain(rel, isl_map_copy(wide[p->from->cls->index]));
            rel = isl_map_coalesce(verify_share_terms(m, isl_map_apply_range(rel, to)));
            rel = verify_any_terms(m, rel);
            rel = isl_map_detect_equalities(rel);
            rel = more ? around(m, rel) : isl_map_coalesce(rel);
            all = isl_union_map_union(all, isl_union_map_from_map(rel));
        }
    }
    for (size_t i = 0; i < m->n_classes; i++)
        isl_map_free(wide[i]);
    free(wide);
    verify_renew(m);
    return all;
}

/* ---- proofs ---------------------------------------------------------------------------------- */

static isl_stat all_forward(isl_map *map, void *arg)
{
    bool *ok = arg;
    isl_space *time = isl_space_range(isl_map_get_space(map));
    isl_map *before = isl_map_lex_lt(time);
    before = isl_map_align_params(before, isl_map_get_space(map));
    *ok = *ok && isl_map_is_subset(map, before) == isl_bool_true;
    isl_map_free(before);
    isl_map_free(map);
    return isl_stat_ok;
}

/* Does some affine schedule put the start of every edge before its end? Takes edges. */
static bool has_schedule(verify_model *m, isl_union_map *edges)
{
    isl_union_set *domain = isl_union_set_union(isl_union_map_domain(isl_union_map_copy(edges)),
                                                isl_union_map_range(isl_union_map_copy(edges)));
    isl_schedule_constraints *sc = isl_schedule_constraints_on_domain(domain);
    sc = isl_schedule_constraints_set_validity(sc, isl_union_map_copy(edges));
    isl_schedule *schedule = isl_schedule_constraints_compute_schedule(sc);
    bool ok = schedule != NULL;
    if (ok) {
        isl_union_map *map = isl_schedule_get_map(schedule);
        isl_union_map *times = isl_union_map_apply_domain(edges, isl_union_map_copy(map));
        times = isl_union_map_apply_range(times, map);
        ok = isl_union_map_foreach_map(times, all_forward, &ok) == isl_stat_ok && ok;
        isl_union_map_free(times);
    } else {
        isl_union_map_free(edges);
    }
    isl_schedule_free(schedule);
    if (!ok)
        verify_begin(m);        /* a failed schedule leaves an error behind */
    return ok;
}

/* Takes edges. */
static bool closure_is_irreflexive(verify_model *m, isl_union_map *edges)
{
    isl_bool exact = isl_bool_false;
    isl_union_map *closure = isl_union_map_transitive_closure(edges, &exact);
    isl_union_map *same = isl_union_set_identity(isl_union_map_domain(
        isl_union_map_copy(closure)));
    bool ok = isl_union_map_is_disjoint(closure, same) == isl_bool_true;
    isl_union_map_free(closure);
    isl_union_map_free(same);
    if (!ok)
        verify_begin(m);
    return ok;
}

/* ---- enumeration ----------------------------------------------------------------------------- */

typedef struct circle {
    bool found;
    text path;                  /* "A(k=0) -> B(k=0) -> A(k=0)" */
    const sema_edge *edge;      /* an edge of it */
    isl_set *params;
    verify_witness w;
} circle;

/* Successor lists of a graph, by what tasks wait for. */
typedef struct successors {
    uint32_t *first, *to;       /* to[first[t] .. first[t + 1]) */
} successors;

static bool waits(const concrete_ref *r)
{
    return r->edge->dir == AST_IN && r->target != CONCRETE_NONE;
}

static successors make_successors(const concrete_graph *g)
{
    successors s = {util_alloc((g->n_tasks + 2) * sizeof(uint32_t)),
                    util_alloc((g->n_refs + 1) * sizeof(uint32_t))};
    for (size_t i = 0; i < g->n_refs; i++)
        if (waits(&g->refs[i]))
            s.first[g->refs[i].target + 2]++;
    for (size_t t = 2; t <= g->n_tasks + 1; t++)
        s.first[t] += s.first[t - 1];
    for (size_t i = 0; i < g->n_refs; i++)
        if (waits(&g->refs[i]))
            s.to[s.first[g->refs[i].target + 1]++] = g->refs[i].task;
    return s;
}

/* Tasks that a topological order cannot reach (they wait for a circle, or are in one): pending[t]
 * is not 0. Returns their number. */
static size_t unreachable(const concrete_graph *g, const successors *s, uint32_t *pending)
{
    uint32_t *queue = util_alloc((g->n_tasks + 1) * sizeof(*queue));
    size_t head = 0, tail = 0;
    for (size_t i = 0; i < g->n_refs; i++)
        pending[g->refs[i].task] += waits(&g->refs[i]);
    for (uint32_t t = 0; t < g->n_tasks; t++)
        if (pending[t] == 0)
            queue[tail++] = t;
    while (head < tail) {
        uint32_t t = queue[head++];
        for (uint32_t i = s->first[t]; i < s->first[t + 1]; i++)
            if (--pending[s->to[i]] == 0)
                queue[tail++] = s->to[i];
    }
    free(queue);
    return g->n_tasks - tail;
}

/* Shortest way from start back to start; before[t] is the task before t on it. */
static size_t circle_through(const concrete_graph *g, const successors *s, uint32_t start,
                             uint32_t *before)
{
    uint32_t *queue = util_alloc((g->n_tasks + 1) * sizeof(*queue));
    uint32_t *depth = util_alloc((g->n_tasks + 1) * sizeof(*depth));
    size_t head = 0, tail = 0, length = 0;
    queue[tail++] = start;
    while (head < tail && length == 0) {
        uint32_t t = queue[head++];
        for (uint32_t i = s->first[t]; i < s->first[t + 1] && length == 0; i++) {
            uint32_t u = s->to[i];
            if (u == start) {
                before[start] = t;
                length = depth[t] + 1;
            } else if (depth[u] == 0) {
                depth[u] = depth[t] + 1;
                before[u] = t;
                queue[tail++] = u;
            }
        }
    }
    free(queue);
    free(depth);
    return length;
}

static const sema_edge *edge_between(const concrete_graph *g, uint32_t from, uint32_t to)
{
    const concrete_task *t = &g->tasks[to];
    for (uint32_t i = t->first_ref; i < t->first_ref + t->n_refs; i++)
        if (waits(&g->refs[i]) && g->refs[i].target == from)
            return g->refs[i].edge;
    return NULL;
}

static void describe(const concrete_graph *g, uint32_t start, const uint32_t *before, size_t length,
                     circle *c)
{
    uint32_t *path = util_alloc((length + 1) * sizeof(*path));
    path[length] = start;
    for (size_t i = length; i-- > 0;)
        path[i] = before[path[i + 1]];
    for (size_t i = 0; i <= length; i++) {
        text_puts(&c->path, i ? " -> " : "");
        if (length > 8 && i == 4) {
            text_printf(&c->path, "... (%zu tasks) ... -> ", length - 7);
            i = length - 3;
        }
        concrete_put_task(g, path[i], &c->path);
    }
    c->edge = edge_between(g, path[length - 1], path[length]);
    free(path);
}

static bool find_circle(verify_model *m, const concrete_graph *g, void *arg)
{
    circle *c = arg;
    successors s = make_successors(g);
    uint32_t *pending = util_alloc((g->n_tasks + 1) * sizeof(*pending));
    uint32_t *before = util_alloc((g->n_tasks + 1) * sizeof(*before));
    uint32_t best = CONCRETE_NONE;
    size_t shortest = SIZE_MAX;
    if (unreachable(g, &s, pending) > 0) {
        for (uint32_t t = 0; t < g->n_tasks && shortest > 1; t++) {
            size_t length = pending[t] ? circle_through(g, &s, t, before) : 0;
            if (length && length < shortest)
                shortest = length, best = t;
        }
    }
    if (best != CONCRETE_NONE) {
        circle_through(g, &s, best, before);
        describe(g, best, before, shortest, c);
        c->found = true;
        c->params = isl_set_universe(isl_space_copy(m->poly.param_space));
        c->w = verify_witness_of(m, g);
        for (size_t i = 0; i < m->poly.n_params; i++)
            c->params = verify_fix(c->params, isl_dim_param, i, g->params[i]);
    }
    free(pending);
    free(before);
    free(s.first);
    free(s.to);
    return c->found;
}

static void report_circle(verify_model *m, circle *c)
{
    /* Every larger size contains the circle, as a rule: no excuse under --std=parsec. */
    if (c->found && verify_report(m, "cycle", c->edge->dep->node.range, m->facts, VERIFY_GRAVE,
                                  "tasks wait for each other: %s", text_str(&c->path)))
        verify_report_end(m, c->params, &c->w);
    isl_set_free(c->params);
    text_free(&c->path);
}

void verify_cycle_in(verify_model *m, const concrete_graph *g)
{
    circle c = {0};
    find_circle(m, g, &c);
    report_circle(m, &c);
}

static void enumerate(verify_model *m, size_t cls)
{
    if (m->terms.on) {
        m->terms.found = true;
        return;
    }
    circle c = {0};
    bool complete = verify_each_small(m, find_circle, &c);
    if (!c.found) {
        diag_report(m->d, verify_check(m, "cycle-undecided"), m->classes[cls].sema->ast->head,
                    "could not show that the tasks around '%s' do not wait for each other%s",
                    m->classes[cls].sema->name,
                    complete ? "; sizes up to 6 have no circle" : "");
    }
    report_circle(m, &c);
}

/* Cheap ways first. */
static bool is_acyclic(verify_model *m, const verify_pairs *pairs, const bool *reach, size_t cls)
{
    enum { MANY = 12 };
    size_t n = 0;
    bool *members = util_alloc(m->n_classes + 1);
    for (size_t b = 0; b < m->n_classes; b++) {
        members[b] = reach[cls * m->n_classes + b] && reach[b * m->n_classes + cls];
        n += members[b];
    }
    bool climbs = n >= MANY && verify_climbs(m, pairs, members);
    free(members);
    verify_begin(m);
    if (climbs)
        return true;
    if (has_schedule(m, wide_edges(m, pairs, reach, cls, true)) ||
        has_schedule(m, wide_edges(m, pairs, reach, cls, false)))
        return true;
    return closure_is_irreflexive(m, component_edges(m, pairs, reach, cls));
}

void verify_check_cycles(verify_model *m, const verify_pairs *pairs)
{
    size_t n = m->n_classes;
    bool *reach = class_reach(m, pairs);
    bool *seen = util_alloc(n + 1);
    bool enumerated = false;
    for (size_t c = 0; c < n && !enumerated; c++) {
        if (seen[c] || !reach[c * n + c])
            continue;
        for (size_t b = 0; b < n; b++)
            seen[b] = seen[b] || (reach[c * n + b] && reach[b * n + c]);
        verify_begin(m);
        if (!is_acyclic(m, pairs, reach, c)) {
            enumerate(m, c);    /* looks at all components at once */
            enumerated = true;
        }
    }
    free(seen);
    free(reach);
}

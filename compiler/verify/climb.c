/* A cheap proof that no tasks wait for each other in a circle, for graphs of many classes.
 *
 * Each class of a component is given one of its parameters, or its negative, such that this number
 * never falls along an edge. Edges along which it grows are on no circle and are left out; what
 * remains falls into smaller components, for which the same is done. The work is a few questions to
 * isl for each edge, where a schedule of all classes at once takes more than linear time.
 */
#include "order.h"

#include <stdlib.h>
#include <string.h>

typedef struct step {
    size_t from, to;            /* classes */
    isl_map *rel;
    bool out;                   /* on no circle */
} step;

typedef struct climb {
    verify_model *m;
    step *steps;
    size_t n;
    size_t *component;          /* by class, of the steps that are left */
    int *height;                /* by class: parameter + 1, negative: its negative; 0: not chosen */
} climb;

/* ---- components ------------------------------------------------------------------------------ */

/* Tarjan's algorithm without recursion. */
typedef struct walk {
    size_t *first, *next;       /* lists of steps by class, +1 */
    size_t *seen, *low, *stack, *path, *at;
    size_t n_stack, n_path, count, n_components;
    bool *on_stack;
} walk;

static void enter(walk *w, size_t c)
{
    w->seen[c] = w->low[c] = ++w->count;
    w->at[c] = w->first[c];
    w->stack[w->n_stack++] = c;
    w->path[w->n_path++] = c;
    w->on_stack[c] = true;
}

static void leave(climb *l, walk *w)
{
    size_t c = w->path[--w->n_path];
    if (w->n_path > 0 && w->low[c] < w->low[w->path[w->n_path - 1]])
        w->low[w->path[w->n_path - 1]] = w->low[c];
    if (w->low[c] != w->seen[c])
        return;
    for (size_t top = SIZE_MAX; top != c;) {
        top = w->stack[--w->n_stack];
        w->on_stack[top] = false;
        l->component[top] = w->n_components;
    }
    w->n_components++;
}

static void follow(climb *l, walk *w, size_t root)
{
    enter(w, root);
    while (w->n_path > 0) {
        size_t c = w->path[w->n_path - 1], s = w->at[c];
        if (s == 0) {
            leave(l, w);
            continue;
        }
        w->at[c] = w->next[s - 1];
        size_t to = l->steps[s - 1].to;
        if (w->seen[to] == 0)
            enter(w, to);
        else if (w->on_stack[to] && w->seen[to] < w->low[c])
            w->low[c] = w->seen[to];
    }
}

/* Numbers the components of the steps that are left, and drops those between them. Returns how many
 * are left then. */
static size_t split(climb *l)
{
    size_t n = l->m->n_classes + 1, left = 0, *all = util_alloc((6 * n + l->n) * sizeof(*all));
    walk w = {.first = all, .seen = all + n, .low = all + 2 * n, .stack = all + 3 * n,
              .path = all + 4 * n, .at = all + 5 * n, .next = all + 6 * n,
              .on_stack = util_alloc(n)};
    for (size_t i = 0; i < l->n; i++) {
        if (l->steps[i].out)
            continue;
        w.next[i] = w.first[l->steps[i].from];
        w.first[l->steps[i].from] = i + 1;
    }
    for (size_t c = 0; c < l->m->n_classes; c++)
        if (w.seen[c] == 0)
            follow(l, &w, c);
    for (size_t i = 0; i < l->n; i++) {
        step *s = &l->steps[i];
        s->out = s->out || l->component[s->from] != l->component[s->to];
        left += !s->out;
    }
    free(w.on_stack);
    free(all);
    return left;
}

/* ---- heights --------------------------------------------------------------------------------- */

static isl_pw_aff *height_of(isl_local_space *ls, enum isl_dim_type type, int height)
{
    unsigned pos = (unsigned)(abs(height) - 1);
    isl_pw_aff *pa = isl_pw_aff_from_aff(isl_aff_var_on_domain(ls, type, pos));
    return height < 0 ? isl_pw_aff_neg(pa) : pa;
}

/* Along the step, is the height behind it at least (more than, if strict) the one before? */
static bool climbs(const climb *l, const step *s, int before, int behind, bool strict)
{
    verify_renew(l->m);
    isl_set *both = isl_set_flatten(isl_map_wrap(isl_map_copy(s->rel)));
    isl_size first = isl_map_dim(s->rel, isl_dim_in);
    isl_local_space *ls = isl_local_space_from_space(isl_set_get_space(both));
    isl_pw_aff *a = height_of(isl_local_space_copy(ls), isl_dim_set, before);
    isl_pw_aff *b = height_of(ls, isl_dim_set,
                              behind < 0 ? behind - (int)first : behind + (int)first);
    isl_set *bad = strict ? isl_pw_aff_ge_set(a, b) : isl_pw_aff_gt_set(a, b);
    bool yes = isl_set_is_disjoint(both, bad) == isl_bool_true;
    isl_set_free(both);
    isl_set_free(bad);
    return yes;
}

/* Chooses a height for the class at the other end of s: one that does not fall. */
static bool choose(climb *l, const step *s)
{
    bool ahead = l->height[s->to] == 0;
    size_t c = ahead ? s->to : s->from, other = ahead ? s->from : s->to;
    int n = (int)l->m->classes[c].sema->n_params, like = l->height[other];
    for (int i = 0; i < 2 * n; i++) {
        /* The parameter of the same place first. */
        int p = (abs(like) - 1 + i / 2) % n + 1, h = (i % 2 == 0) == (like > 0) ? p : -p;
        if (climbs(l, s, ahead ? like : h, ahead ? h : like, false)) {
            l->height[c] = h;
            return true;
        }
    }
    return false;
}

/* Heights for all classes of the component, from that of one class on. */
static bool spread(climb *l, size_t component)
{
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < l->n; i++) {
            const step *s = &l->steps[i];
            if (s->out || l->component[s->from] != component ||
                !l->height[s->from] == !l->height[s->to])
                continue;
            if (!choose(l, s))
                return false;
            more = true;
        }
    }
    for (size_t i = 0; i < l->n; i++) {
        const step *s = &l->steps[i];
        if (!s->out && l->component[s->from] == component &&
            !climbs(l, s, l->height[s->from], l->height[s->to], false))
            return false;
    }
    return true;
}

/* Drops the steps of the component that climb; false when none does. */
static bool drop_climbing(climb *l, size_t component)
{
    bool some = false;
    for (size_t i = 0; i < l->n; i++) {
        step *s = &l->steps[i];
        if (s->out || l->component[s->from] != component ||
            !climbs(l, s, l->height[s->from], l->height[s->to], true))
            continue;
        s->out = some = true;
    }
    return some;
}

static bool climb_component(climb *l, size_t root)
{
    int n = (int)l->m->classes[root].sema->n_params;
    size_t component = l->component[root];
    for (int i = 0; i < 2 * n; i++) {
        for (size_t c = 0; c < l->m->n_classes; c++)
            if (l->component[c] == component)
                l->height[c] = 0;
        l->height[root] = i % 2 ? -(i / 2 + 1) : i / 2 + 1;
        if (spread(l, component) && drop_climbing(l, component))
            return true;
    }
    return false;
}

/* One class of each component that has steps. */
static bool climb_all(climb *l)
{
    bool *done = util_alloc(l->m->n_classes + 1), ok = true;
    for (size_t i = 0; i < l->n && ok; i++) {
        size_t c = l->steps[i].from;
        if (l->steps[i].out || done[l->component[c]])
            continue;
        done[l->component[c]] = true;
        ok = climb_component(l, c);
    }
    free(done);
    return ok;
}

bool verify_climbs(verify_model *m, const verify_pairs *pairs, const bool *classes)
{
    climb l = {.m = m, .component = util_alloc((m->n_classes + 1) * sizeof(size_t)),
               .height = util_alloc((m->n_classes + 1) * sizeof(int)),
               .steps = util_alloc((m->n_edges + 1) * sizeof(step))};
    for (size_t i = 0; i < pairs->n; i++) {
        const verify_pair *p = &pairs->items[i];
        size_t from = p->from->cls->index, to = p->to->cls->index;
        for (size_t k = 0; k < p->n_ins && classes[from] && classes[to]; k++) {
            verify_renew(m);
            isl_map *rel = verify_any_terms(m, verify_forward(m, p->ins[k]));
            rel = isl_map_intersect_params(rel, isl_set_copy(m->facts));
            l.steps[l.n++] = (step){.from = from, .to = to, .rel = rel};
        }
    }
    bool ok = true;
    while (ok && split(&l) > 0)
        ok = climb_all(&l);
    for (size_t i = 0; i < l.n; i++)
        isl_map_free(l.steps[i].rel);
    free(l.steps);
    free(l.component);
    free(l.height);
    return ok && !verify_failed(m);
}

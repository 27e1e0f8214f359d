/* What was each tile written by that is read? isl answers for all values of the parameters at once:
 * every flow of a call is an access to elements, at a time that the nest gives it. Before the nest
 * every element is written, and behind it read, by tasks that stand for memory; of these, what may
 * happen in place is put into the flows (the first reader of an element on its rank fetches it, the
 * last writer stores it), and what is left become classes of their own, the relays. */
#include "seq_flow.h"

#include <isl/constraint.h>
#include <stdlib.h>

/* An `out` that not all of its tasks store has no shape of its own: it goes on with the tile that
 * was there. True when there is a new one of these: then the flow has to be computed again. */
static bool carry(flows *w)
{
    bool again = false;
    for (size_t i = 0; i < w->n; i++) {
        const access *a = &w->list[i];
        if (!a->end || w->f->calls[a->call]->kernel->params[a->end->param].access != SEQ_OUT ||
            seq_like(w->f, a->array))
            continue;
        isl_set *stored = isl_set_empty(isl_set_get_space(a->end->space));
        for (size_t k = 0; k < w->g->n_edges; k++)
            if (w->g->edges[k].from == a->end && !w->g->edges[k].to &&
                w->g->edges[k].region == DAG_REGION_FULL)
                stored = isl_set_union(stored, isl_map_domain(isl_map_copy(w->g->edges[k].rel)));
        bool *carried = &w->all->flows[a->call][a->end->param].carried;
        isl_set *tasks =
            isl_set_intersect_params(isl_set_copy(a->end->space), isl_set_copy(w->m->facts));
        if (!*carried && isl_set_is_subset(tasks, stored) != isl_bool_true)
            again = *carried = true;
        isl_set_free(tasks);
        isl_set_free(stored);
    }
    return again;
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

static isl_stat keep_constraint(isl_constraint *c, void *arg)
{
    isl_set **kept = arg;
    int terms = 0;
    for (int i = 0; i < isl_constraint_dim(c, isl_dim_param); i++)
        terms += isl_constraint_involves_dims(c, isl_dim_param, (unsigned)i, 1) == isl_bool_true;
    if (isl_constraint_is_equality(c) == isl_bool_true && terms > 2)
        isl_constraint_free(c);
    else
        *kept = isl_set_add_constraint(*kept, c);
    return isl_stat_ok;
}

/* One basic set that holds the facts. A disjunction has equations that hold in each of its parts and say
 * nothing to a reader (the sum of two sizes): these are left out. */
static isl_set *plain_facts(isl_set *facts)
{
    isl_basic_set *hull = isl_set_simple_hull(isl_set_copy(facts));
    isl_set *kept = isl_set_universe(isl_set_get_space(facts));
    isl_basic_set_foreach_constraint(hull, keep_constraint, &kept);
    isl_basic_set_free(hull);
    return kept;
}

/* What an array has behind the nest, region by region. */
static void put_stores(flows *w, const deps *d, const char *array)
{
    for (unsigned region = 1; region <= DAG_REGION_FULL; region++) {
        deps part = {.w = w};
        for (size_t i = 0; i < d->n; i++) {
            if (d->items[i].to->end || d->items[i].region != region ||
                d->items[i].to->array != array)
                continue;
            part.items = util_realloc(part.items, (part.n + 1) * sizeof(*part.items));
            part.items[part.n++] = d->items[i];
        }
        if (part.n)
            seq_put_memory(w, &part, array, false);
        free(part.items);
    }
}

/* True when it has to be done again; *ok is false after an error. */
static bool compute(const seq_file *f, verify_model *m, seq_graph *g, seq_edges_text *all, bool *ok)
{
    flows w = {.f = f, .m = m, .g = g, .all = all};
    w.facts = plain_facts(m->facts);
    seq_make_accesses(&w);
    deps d;
    seq_solve(&w, &d);
    *ok = seq_check_written(&w, &d) && seq_join_stores(&w, &d);
    for (size_t i = 0; i < d.n; i++)
        if (d.items[i].from->end && d.items[i].to->end)
            seq_add_edge(&w, d.items[i].from->end, d.items[i].to->end, isl_map_copy(d.items[i].rel),
                         seq_passed(f, d.items[i].to->end));
    for (size_t i = 0; i < f->n_globals; i++)
        if (f->globals[i].matrix && !f->globals[i].like) {
            seq_put_memory(&w, &d, f->globals[i].name, true);
            put_stores(&w, &d, f->globals[i].name);
        }
    bool again = carry(&w);
    *ok = *ok && (again || src_range_is_none(f->ahead.said) || seq_look_ahead(&w));
    if (*ok && !again)
        seq_wait_for_readers(&w);
    for (size_t i = 0; i < d.n; i++)
        isl_map_free(d.items[i].rel);
    free(d.items);
    seq_flows_end(&w);
    return again;
}

bool seq_flow(const seq_file *f, verify_model *m, seq_graph *g, seq_edges_text *all)
{
    bool ok = true;
    verify_begin(m);
    while (compute(f, m, g, all, &ok) && ok && !verify_failed(m))
        seq_graph_free(g, all);
    if (!ok)
        return false;
    return !verify_failed(m) ||
           seq_error(
               f, "seq-undecided", f->graph,
               "deriving the edges of this nest takes too long: --max-operations allows more");
}

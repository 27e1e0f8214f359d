/* Tiles of which kernels read or change a region only. What changes a tile carries all of it, so
 * that it takes the last write of any region; each region is stored by whoever wrote it last. */
#include "seq_flow.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS = 3 }; /* what regions consist of: the bits of dag_region */

const char *seq_region_name(unsigned region)
{
    static const char *const words[DAG_REGION_FULL + 1] = {
        [DAG_REGION_LOWER_STRICT] = "LOWER_STRICT",
        [DAG_REGION_LOWER] = "LOWER",
        [DAG_REGION_UPPER_STRICT] = "UPPER_STRICT",
        [DAG_REGION_UPPER] = "UPPER",
        [DAG_REGION_FULL] = "FULL"};
    return words[region];
}

unsigned seq_touched(const flows *w, const char *array, isl_set *elements)
{
    unsigned all = 0;
    isl_set *known = isl_set_intersect_params(isl_set_copy(elements), isl_set_copy(w->m->facts));
    known = isl_set_reset_tuple_id(known);
    for (size_t i = 0; i < w->n; i++) {
        const access *a = &w->list[i];
        if (!a->end || strcmp(a->array, array) != 0 || !(a->touches & ~all))
            continue;
        isl_set *own = isl_map_range(isl_map_copy(a->reads ? a->reads : a->writes));
        own = isl_set_reset_tuple_id(own);
        if (isl_set_is_disjoint(own, known) == isl_bool_false)
            all |= a->touches;
        isl_set_free(own);
    }
    isl_set_free(known);
    return seq_region_name(all) ? all : DAG_REGION_FULL;
}

bool seq_in_parts(const flows *w, const char *array, size_t n_flows)
{
    for (size_t i = 0; i < n_flows; i++)
        if (w->list[i].writes && strcmp(w->list[i].array, array) == 0 &&
            w->list[i].touches != DAG_REGION_FULL)
            return true;
    return false;
}

unsigned seq_passed(const seq_file *f, const seq_end *to)
{
    const seq_param *p = &f->calls[to->call]->kernel->params[to->param];
    return p->access == SEQ_IN ? p->region : DAG_REGION_FULL;
}

static bool is_part(const dep *d)
{
    return !d->to->end && d->region != DAG_REGION_FULL;
}

static void add(deps *d, const access *from, const access *to, isl_map *rel, unsigned region)
{
    d->items = util_realloc(d->items, (d->n + 1) * sizeof(*d->items));
    d->items[d->n++] = (dep){from, to, rel, region};
}

/* The tasks that store just `region` of what a flow stores part by part (kept; NULL: nothing). */
static isl_map *just(isl_map *const *parts, unsigned region)
{
    isl_map *all = NULL;
    for (int k = 0; k < PARTS; k++)
        if ((region >> k & 1) && !parts[k])
            return isl_map_free(all);
        else if (region >> k & 1)
            all = all ? isl_map_intersect(all, isl_map_copy(parts[k])) : isl_map_copy(parts[k]);
    for (int k = 0; k < PARTS; k++)
        if (!(region >> k & 1) && parts[k])
            all = isl_map_subtract(all, isl_map_copy(parts[k]));
    return isl_map_coalesce(all);
}

/* The stores of one flow. */
static bool join(const flows *w, deps *d, const access *from, isl_map *const *parts,
                 const access *to)
{
    for (unsigned region = 1; region <= DAG_REGION_FULL; region++) {
        isl_map *rel = just(parts, region);
        isl_map *known =
            rel ? isl_map_intersect_params(isl_map_copy(rel), isl_set_copy(w->m->facts)) : NULL;
        bool none = !rel || isl_map_is_empty(known) == isl_bool_true;
        isl_map_free(known);
        if (none) {
            isl_map_free(rel);
        } else if (seq_region_name(region)) {
            add(d, from, to, rel, region);
        } else if (region == DAG_REGION_DIAGONAL) {
            isl_map_free(rel);
            return seq_error(
                w->f, "seq-unsupported", w->f->calls[from->call]->args[from->end->param].where,
                "behind this task all of the tile but its diagonal is changed, and the "
                "diagonal alone has no name: a task there may change LOWER or UPPER");
        } else { /* what is on both sides of the diagonal */
            add(d, from, to, isl_map_copy(rel), DAG_REGION_LOWER_STRICT);
            add(d, from, to, rel, DAG_REGION_UPPER_STRICT);
        }
    }
    return true;
}

bool seq_join_stores(const flows *w, deps *d)
{
    deps old = *d;
    bool ok = true;
    *d = (deps){.w = w};
    for (size_t i = 0; i < old.n; i++)
        if (!is_part(&old.items[i]))
            add(d, old.items[i].from, old.items[i].to, old.items[i].rel, old.items[i].region);
    for (size_t i = 0; i < w->n; i++) {
        isl_map *parts[PARTS] = {NULL};
        const access *to = NULL;
        for (size_t k = 0; k < old.n; k++) {
            if (!is_part(&old.items[k]) || old.items[k].from != &w->list[i])
                continue;
            to = old.items[k].to;
            for (int p = 0; p < PARTS; p++)
                if (old.items[k].region == 1u << p)
                    parts[p] = old.items[k].rel;
        }
        ok = (!to || join(w, d, &w->list[i], parts, to)) && ok;
        for (int p = 0; p < PARTS; p++)
            isl_map_free(parts[p]);
    }
    free(old.items);
    return ok;
}

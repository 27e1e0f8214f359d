/* Where values come from memory, and where they go back to it. What may happen in place is put into
 * the flows: the only reader of an element on its rank fetches it, the last writer there stores
 * it. All else passes a class of its own, a relay. */
#include "seq_flow.h"

#include <string.h>

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
            twice =
                isl_set_union(twice, isl_set_intersect(isl_set_copy(domain), isl_set_copy(seen)));
        seen = join(seen, domain);
    }
    isl_set_free(seen);
    if (!twice) {
        isl_set_free(written);
        return NULL;
    }
    return isl_set_intersect(twice, written);
}

/* What has to pass through a relay; NULL: nothing. A flow of which some elements have to takes
 * all of its elements from there: its guards are simpler then. */
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
            bool new = isl_set_is_disjoint(own, all) ==
                       isl_bool_false &&isl_set_is_subset(own, all) == isl_bool_false;
            all = new ? isl_set_union(all, isl_set_copy(own)) : all;
            grew = grew || new;
            isl_set_free(own);
        }
    }
    isl_set *known =
        all ? isl_set_intersect_params(isl_set_copy(all), isl_set_copy(w->m->facts)) : NULL;
    bool none = !all || isl_set_is_empty(known) == isl_bool_true;
    isl_set_free(known);
    if (none)
        all = isl_set_free(all);
    return isl_set_coalesce(all);
}

/* ---- relays ---------------------------------------------------------------------------------- */

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
    seq_end *end =
        seq_new_end(w, free_name(w->f, base), free_name(w->f, "X"), (size_t)(keep[0] + keep[1]));
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
    all->relays[all->n_relays++] = (seq_relay){.gives = gives,
                                               .name = end->cls,
                                               .array = array,
                                               .where = where,
                                               .element_of = isl_map_reverse(isl_map_copy(map)),
                                               .end = end};
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
    unsigned region = before ? seq_touched(w, array, set) : d->items[0].region;
    w->all->relays[relay->relay].region = region;
    for (size_t i = 0; i < d->n; i++) {
        if (!concerns(&d->items[i], array, before))
            continue;
        isl_map *rel =
            isl_map_intersect_domain(elements_of(&d->items[i], before), isl_set_copy(set));
        rel = isl_map_apply_domain(rel, isl_map_copy(params));
        const seq_end *end = (before ? d->items[i].to : d->items[i].from)->end;
        if (before)
            seq_add_edge(w, relay, end, rel, seq_passed(w->f, end));
        else
            seq_add_edge(w, end, relay, isl_map_reverse(rel), region);
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

/* What an array had before the nest, or what it has behind it: then, one region of its tiles. */
void seq_put_memory(flows *w, const deps *d, const char *array, bool before)
{
    isl_set *relayed = relayed_elements(w, d, array, before);
    for (size_t i = 0; i < d->n; i++) {
        if (!concerns(&d->items[i], array, before))
            continue;
        const seq_end *end = (before ? d->items[i].to : d->items[i].from)->end;
        isl_map *rel = elements_of(&d->items[i], before);
        if (relayed)
            rel = isl_map_subtract_domain(rel, isl_set_copy(relayed));
        isl_set *elements = isl_map_domain(isl_map_copy(rel));
        unsigned region = before ? seq_touched(w, array, elements) : d->items[i].region;
        isl_set_free(elements);
        isl_map *here = isl_set_identity(isl_map_range(rel));
        seq_add_edge(w, before ? NULL : end, before ? end : NULL, here, region);
    }
    if (relayed)
        relay_all(w, d, array, before, relayed);
    isl_set_free(relayed);
}

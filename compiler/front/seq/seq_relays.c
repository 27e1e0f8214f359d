/* Where values come from memory, and where they go back to it. What may happen in place is put into
 * the flows: the only reader of an element on its rank fetches it, the last writer there stores
 * it. All else passes a class of its own, a relay. */
#include "seq_flow.h"

#include <string.h>

/* The part of rel (kept: elements -> tasks) whose tasks run where their element is. */
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

/* elements -> those of their two subscripts that the others do not determine, with names for these.
 * Keeps set. */
static isl_map *by_subscripts(const flows *w, isl_set *set, const char *words[2])
{
    static const char *const letters[] = {"i", "j"};
    bool keep[2] = {true, true};
    free_dims(set, keep, isl_set_dim(set, isl_dim_set));
    for (int i = 0, k = 0; i < 2; i++)
        if (keep[i])
            words[k++] = free_name(w->f, letters[i]);
    isl_map *map = isl_set_identity(isl_set_copy(set));
    for (int i = 1; i >= 0; i--)
        if (!keep[i])
            map = isl_map_project_out(map, isl_dim_out, (unsigned)i, 1);
    return map;
}

/* The class for a set of elements, which `params` (elements -> parameters; kept) gives. */
static seq_end *add_relay(flows *w, const char *array, bool gives, src_range where, isl_map *params,
                          const char *const words[2])
{
    seq_edges_text *all = w->all;
    size_t same = 1, n = (size_t)isl_map_dim(params, isl_dim_out);
    for (size_t i = 0; i < all->n_relays; i++)
        same += all->relays[i].gives == gives && strcmp(all->relays[i].array, array) == 0;
    const char *base = arena_printf(w->f->arena, gives ? "GIVE_%s" : "HOME_%s", array);
    if (same > 1)
        base = arena_printf(w->f->arena, "%s_%zu", base, same);
    seq_end *end = seq_new_end(w, free_name(w->f, base), free_name(w->f, "X"), n);
    end->relay = (int)all->n_relays;
    memcpy(end->dims, words, n * sizeof(char *));
    end->space = isl_set_coalesce(isl_map_range(isl_map_copy(params)));
    all->relays = seq_grow(w->f, all->relays, all->n_relays, sizeof(seq_relay));
    all->relays[all->n_relays++] = (seq_relay){.gives = gives,
                                               .name = end->cls,
                                               .array = array,
                                               .where = where,
                                               .element_of = isl_map_reverse(isl_map_copy(params)),
                                               .end = end};
    return end;
}

/* The edges of one relay: its elements -> its parameters, and the tasks at the other end. Takes
 * params. */
static void relay_part(flows *w, const deps *d, const char *array, bool before, isl_map *params,
                       const char *const words[2])
{
    isl_set *set = isl_map_domain(isl_map_copy(params));
    src_range where = {0};
    for (size_t i = 0; i < d->n && src_range_is_none(where); i++)
        if (concerns(&d->items[i], array, before)) {
            const seq_end *end = (before ? d->items[i].to : d->items[i].from)->end;
            where = w->f->calls[end->call]->args[end->param].where;
        }
    const seq_end *relay = add_relay(w, array, before, where, params, words);
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

/* One relay, whose parameters are subscripts. Takes set. */
static void relay_set(flows *w, const deps *d, const char *array, bool before, isl_set *set)
{
    const char *words[2];
    isl_map *params = by_subscripts(w, set, words);
    isl_set_free(set);
    relay_part(w, d, array, before, params, words);
}

/* Elements -> the counters i and k of the tasks that read them, if these are a bijection. Takes
 * rel. */
static isl_map *by_counters(const flows *w, isl_map *rel, int i, int k)
{
    for (int at = isl_map_dim(rel, isl_dim_out) - 1; at >= 0; at--)
        if (at != i && at != k)
            rel = isl_map_project_out(rel, isl_dim_out, (unsigned)at, 1);
    isl_map *known = isl_map_intersect_params(isl_map_copy(rel), isl_set_copy(w->m->facts));
    bool both = isl_map_is_bijective(known) == isl_bool_true;
    isl_map_free(known);
    return both ? rel : isl_map_free(rel);
}

/* Are the subscripts of a flow said by the counters i and k and by no other one? */
static bool says_itself(const flows *w, const seq_end *end, int i, int k)
{
    const seq_call *c = w->f->calls[end->call];
    text defs = {0};
    seq_put_definitions(w->f, end, &defs);
    bool alone = true;
    for (int at = 0; at < (int)end->n_dims; at++)
        alone = alone &&
                (at == i || at == k ||
                 (!seq_says(c->args[end->param].subscripts, end->dims[at]) &&
                  !seq_says(text_str(&defs), end->dims[at])));
    text_free(&defs);
    return alone;
}

/* Where subscripts depend on flags, the counters of a task that reads the elements make simpler
 * parameters: the elements among `set` (kept) -> two of them or one; NULL: there are none. */
static isl_map *by_reader(const flows *w, const dep *d, isl_set *set, const char *words[2])
{
    const seq_end *end = d->to->end;
    for (int i = 0; i < (int)end->n_dims; i++)
        for (int k = (int)end->n_dims - 1; k >= i; k--) {
            if (!says_itself(w, end, i, k))
                continue;
            isl_map *rel = isl_map_intersect_domain(isl_map_copy(d->rel), isl_set_copy(set));
            isl_map *map = by_counters(w, rel, i, k);
            isl_pw_multi_aff *at =
                map ? isl_pw_multi_aff_from_map(isl_map_reverse(isl_map_copy(map))) : NULL;
            bool pieces = at && isl_pw_multi_aff_n_piece(at) > 1;
            isl_pw_multi_aff_free(at);
            words[0] = end->dims[i];
            words[1] = end->dims[k];
            if (pieces)
                return isl_map_coalesce(map);
            isl_map_free(map);
        }
    return NULL;
}

/* Is the domain of one (kept) more than that of the other (kept)? */
static bool has_more(isl_map *one, isl_map *other)
{
    isl_set *a = isl_map_domain(isl_map_copy(one)), *b = isl_map_domain(isl_map_copy(other));
    bool more = isl_set_is_strict_subset(b, a) == isl_bool_true;
    isl_set_free(a);
    isl_set_free(b);
    return more;
}

/* Relays whose parameters are counters, those with the most elements first; what is left of set
 * (taken). */
static isl_set *relay_by_counters(flows *w, const deps *d, const char *array, isl_set *set)
{
    isl_map *best;
    do {
        const char *words[2], *best_words[2] = {NULL};
        const seq_end *like = NULL;
        best = NULL;
        for (size_t i = 0; i < d->n; i++) {
            isl_map *params =
                concerns(&d->items[i], array, true) ? by_reader(w, &d->items[i], set, words) : NULL;
            if (!params || (best && !has_more(params, best))) {
                isl_map_free(params);
                continue;
            }
            isl_map_free(best);
            best = params;
            memcpy(best_words, words, sizeof(words));
            like = d->items[i].to->end;
        }
        if (best) {
            set = isl_set_subtract(set, isl_map_domain(isl_map_copy(best)));
            relay_part(w, d, array, true, best, best_words);
            w->all->relays[w->all->n_relays - 1].like = like;
        }
    } while (best);
    isl_set *known = isl_set_intersect_params(isl_set_copy(set), isl_set_copy(w->m->facts));
    bool none = isl_set_is_empty(known) == isl_bool_true;
    isl_set_free(known);
    return none ? isl_set_free(set) : isl_set_coalesce(set);
}

/* Relays for all of the set: one for each convex piece, if they are few. */
static void relay_all(flows *w, const deps *d, const char *array, bool before, isl_set *set)
{
    enum { FEW = 3 };
    isl_set *apart = isl_set_make_disjoint(isl_set_copy(set));
    if (isl_set_n_basic_set(apart) > FEW) {
        isl_set_free(apart);
        relay_set(w, d, array, before, isl_set_copy(set));
        return;
    }
    isl_basic_set_list *list = isl_set_get_basic_set_list(apart);
    for (int i = 0; i < isl_basic_set_list_n_basic_set(list); i++)
        relay_set(w, d, array, before,
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
    if (relayed && before)
        relayed = relay_by_counters(w, d, array, relayed);
    if (relayed)
        relay_all(w, d, array, before, relayed);
    isl_set_free(relayed);
}

/* --same: are links of two files one relation? */
#include "same.h"

#include <stdlib.h>
#include <string.h>

/* One file's share of a question. What is certain is in `least`; `most` has what may be, too. */
typedef struct half {
    const same_link *const *links;
    size_t n;
    isl_map *least, *most;
    const same_link *open;      /* one that is not exact; without a counterpart, if there is such */
    bool alone;                 /* it has no counterpart */
} half;

/* Has h a link that is not used yet and says the same in words? It is used then. */
static bool take_equal(const half *h, bool *used, const same_link *l)
{
    for (size_t i = 0; i < h->n; i++)
        if (!used[i] && h->links[i]->text && strcmp(h->links[i]->text, l->text) == 0) {
            used[i] = true;
            return true;
        }
    return false;
}

static void pair_texts(half *h, const half *other)
{
    bool *used = util_alloc(other->n + 1);
    for (size_t i = 0; i < h->n; i++) {
        const same_link *l = h->links[i];
        if (!l->text)
            continue;
        bool alone = !take_equal(other, used, l);
        if (!h->open || (alone && !h->alone)) {
            h->open = l;
            h->alone = alone;
        }
    }
    free(used);
}

/* The next exact link at or behind i; h->n: there is none. */
static size_t next_exact(const half *h, size_t i)
{
    while (i < h->n && h->links[i]->text)
        i++;
    return i;
}

/* Are the exact links the same, one by one? That costs less than to add them up, and holds for most of two
 * versions of one file. */
static bool exact_alike(const half *a, const half *b)
{
    size_t i = next_exact(a, 0), k = next_exact(b, 0);
    while (i < a->n && k < b->n &&
           isl_map_plain_is_equal(a->links[i]->rel, b->links[k]->rel) == isl_bool_true) {
        i = next_exact(a, i + 1);
        k = next_exact(b, k + 1);
    }
    return i == a->n && k == b->n;
}

static void add_up(half *h, const same_link *some)
{
    h->least = isl_map_empty(isl_map_get_space(some->rel));
    h->most = isl_map_copy(h->least);
    for (size_t i = 0; i < h->n; i++) {
        if (!h->links[i]->text)
            h->least = isl_map_union(h->least, isl_map_copy(h->links[i]->rel));
        else
            h->most = isl_map_union(h->most, isl_map_copy(h->links[i]->rel));
    }
    h->least = isl_map_coalesce(h->least);
    h->most = isl_map_union(h->most, isl_map_copy(h->least));
}

/* What file `in` certainly has and the other one certainly has not. */
static isl_bool note_rest(same *s, same_view view, int in, const half *here, const half *there,
                          unsigned region)
{
    isl_map *rest = isl_map_subtract(isl_map_copy(here->least), isl_map_copy(there->most));
    isl_bool none = isl_map_is_empty(rest);
    if (none == isl_bool_false)
        same_note(s, view, in, here->links, here->n, region, rest);
    else
        isl_map_free(rest);
    return none;
}

/* Nothing is certain to differ: is it certain to be the same? alike: what is exact is. */
static void settle(same *s, const half *a, const half *b, const same_link *some, bool alike)
{
    const half *here = b->alone && !a->alone ? b : a->open ? a : b, *there = here == a ? b : a;
    const same_link *open = here->open, *against = there->open;
    src_range other = against ? against->opaque_at : (src_range){0};
    if (!against && there->n)
        other = there->links[0]->where;
    if (open && (here->alone || !(alike || isl_map_is_equal(a->least, b->least) == isl_bool_true)))
        same_doubt(s, open->opaque_at, other, open->why);
    else if (verify_failed(&s->joint))
        same_doubt(s, some->where, other, NULL);
}

/* What is exact is not the same, link by link: is it as a whole? */
static void compare_sums(same *s, same_view view, half *first, half *second, const same_link *some,
                         unsigned region)
{
    add_up(first, some);
    add_up(second, some);
    if (isl_map_plain_is_equal(first->least, second->least) != isl_bool_true ||
        first->open || second->open) {
        isl_bool one = note_rest(s, view, 0, first, second, region);
        isl_bool two = note_rest(s, view, 1, second, first, region);
        if (one == isl_bool_error || two == isl_bool_error)
            same_doubt(s, some->where, (src_range){0}, NULL);
        else if (one && two)
            settle(s, first, second, some, false);
    }
    isl_map_free(first->least);
    isl_map_free(first->most);
    isl_map_free(second->least);
    isl_map_free(second->most);
}

void same_compare(same *s, same_view view, const same_link *const *a, size_t n_a,
                  const same_link *const *b, size_t n_b, unsigned region)
{
    half first = {.links = a, .n = n_a}, second = {.links = b, .n = n_b};
    const same_link *some = n_a ? a[0] : b[0];
    verify_begin(&s->joint);
    pair_texts(&first, &second);
    pair_texts(&second, &first);
    if (exact_alike(&first, &second))
        settle(s, &first, &second, some, true);
    else
        compare_sums(s, view, &first, &second, some, region);
}

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

/* Nothing is certain to differ: is it certain to be the same? */
static void settle(same *s, const half *a, const half *b, const same_link *some)
{
    const half *here = b->alone && !a->alone ? b : a->open ? a : b, *there = here == a ? b : a;
    const same_link *open = here->open, *against = there->open;
    src_range other = against ? against->opaque_at : (src_range){0};
    if (!against && there->n)
        other = there->links[0]->where;
    if (open && (here->alone || isl_map_is_equal(a->least, b->least) != isl_bool_true))
        same_doubt(s, open->opaque_at, other, open->why);
    else if (verify_failed(&s->joint))
        same_doubt(s, some->where, other, NULL);
}

void same_compare(same *s, same_view view, const same_link *const *a, size_t n_a,
                  const same_link *const *b, size_t n_b, unsigned region)
{
    half first = {.links = a, .n = n_a}, second = {.links = b, .n = n_b};
    const same_link *some = n_a ? a[0] : b[0];
    verify_begin(&s->joint);
    pair_texts(&first, &second);
    pair_texts(&second, &first);
    add_up(&first, some);
    add_up(&second, some);
    if (isl_map_plain_is_equal(first.least, second.least) != isl_bool_true ||
        first.open || second.open) {
        isl_bool one = note_rest(s, view, 0, &first, &second, region);
        isl_bool two = note_rest(s, view, 1, &second, &first, region);
        if (one == isl_bool_error || two == isl_bool_error)
            same_doubt(s, some->where, (src_range){0}, NULL);
        else if (one && two)
            settle(s, &first, &second, some);
    }
    isl_map_free(first.least);
    isl_map_free(first.most);
    isl_map_free(second.least);
    isl_map_free(second.most);
}

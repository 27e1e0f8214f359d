/*
 * Which blocks to evict so that a request fits.
 *
 * Requests are looked at from the largest to the smallest. Those that fit as it is take their place
 * for the time of the search; for each of the others a run of neighbouring blocks is found that are
 * free or may be evicted, in this order:
 *   1. one block without a known use, and the free space beside it
 *   2. several such blocks
 *   3. what is retiring anyway, and the free space beside it: no victims, the manager waits
 *   4. one block that will be used, the one with the lowest priority
 *   5. any run
 * Where this ends without a place for one, though together there would be room, everything is
 * evicted. Since each call that names victims leaves fewer of them, and a piece without pins and
 * users is one free block, a request that does not exceed the piece fits in the end; of several
 * pieces, one whose blocks fit into the empty pieces.
 */
#include "memory_impl.h"

#include <stdlib.h>

typedef struct search {
    dagi_memory *m;
    dagi_block **victims;
    int count, most;
} search;

/* What a run costs: the smaller, the better. Ordered by its fields, from the first to the last. */
typedef struct cost {
    int64_t next_use; /* highest */
    int dirty, blocks;
    uint64_t last_use; /* latest */
} cost;

static int costs_less(const cost *a, const cost *b)
{
    if (a->next_use != b->next_use)
        return a->next_use < b->next_use;
    if (a->dirty != b->dirty)
        return a->dirty < b->dirty;
    if (a->blocks != b->blocks)
        return a->blocks < b->blocks;
    return a->last_use < b->last_use;
}

static void add_victim(cost *c, const dagi_block *b)
{
    c->next_use = b->next_use > c->next_use ? b->next_use : c->next_use;
    c->dirty += b->dirty != 0;
    c->blocks++;
    c->last_use = b->last_use > c->last_use ? b->last_use : c->last_use;
}

/* Not part of a run that another request has. */
static int unclaimed(const search *s, const dagi_block *b)
{
    return b->mark != s->m->round;
}

static int free_bytes(const search *s, const dagi_block *b, size_t *bytes)
{
    if (b == NULL || b->state != DAGI_BLOCK_FREE || !unclaimed(s, b))
        return 0;
    *bytes += b->bytes;
    return 1;
}

/* The run from `first` on for a request of `bytes`: claimed, its evictable blocks are victims. */
static void claim(search *s, dagi_block *first, size_t bytes)
{
    size_t sum = 0;
    for (dagi_block *b = first; sum < bytes; b = b->above) {
        sum += b->bytes;
        b->mark = s->m->round;
        if (dagi_block_evictable(b) && s->count < s->most) {
            b->victim = 1;
            s->victims[s->count++] = b;
        }
    }
}

/* ---- one block ------------------------------------------------------------------------------ */

/* Whether b and the free blocks beside it make `bytes`; *first where the run begins. */
static int large_enough(const search *s, dagi_block *b, size_t bytes, dagi_block **first)
{
    size_t sum = b->bytes;
    if (!unclaimed(s, b))
        return 0;
    *first = free_bytes(s, b->below, &sum) ? b->below : b;
    free_bytes(s, b->above, &sum);
    return sum >= bytes;
}

static int one_idle(search *s, size_t bytes)
{
    enum { LOOKS = 64 };
    dagi_block *first;
    for (int dirty = 0; dirty < 2; dirty++) {
        dagi_block *b = s->m->idle[dirty].first;
        for (int looks = LOOKS; b != NULL && looks > 0; b = b->use_next, looks--) {
            if (large_enough(s, b, bytes, &first)) {
                claim(s, first, bytes);
                return 1;
            }
        }
    }
    return 0;
}

static int one_wanted(search *s, size_t bytes)
{
    dagi_block *first, *best_first = NULL;
    cost best = {0};
    for (dagi_block *b = s->m->wanted.first; b != NULL; b = b->use_next) {
        cost c = {.next_use = INT64_MIN};
        add_victim(&c, b);
        if ((best_first == NULL || costs_less(&c, &best)) && large_enough(s, b, bytes, &first)) {
            best = c;
            best_first = first;
        }
    }
    if (best_first != NULL)
        claim(s, best_first, bytes);
    return best_first != NULL;
}

/* ---- runs ----------------------------------------------------------------------------------- */

/* What a run may contain besides free blocks. */
enum { RUN_IDLE = 1, RUN_RETIRING = 2, RUN_WANTED = 4 };

static int usable(const search *s, const dagi_block *b, int kinds)
{
    if (!unclaimed(s, b))
        return 0;
    if (b->state == DAGI_BLOCK_FREE)
        return 1;
    if (b->state == DAGI_BLOCK_RETIRING)
        return (kinds & RUN_RETIRING) != 0;
    return dagi_block_evictable(b) &&
           (kinds & (b->next_use == INT64_MIN ? RUN_IDLE : RUN_WANTED)) != 0;
}

/* Walk up from `first` until there are `bytes`. 1: there are, at cost *c, less than `limit` (NULL =
 * any). 0: not from here, or too dear; *barrier is the block that cannot be used, NULL = the end or
 * too dear. */
static int walk(const search *s, dagi_block *first, size_t bytes, int kinds, const cost *limit,
                cost *c, dagi_block **barrier)
{
    size_t sum = 0;
    dagi_block *b = first;
    *c = (cost){.next_use = INT64_MIN};
    *barrier = NULL;
    while (sum < bytes) {
        if (b == NULL || !usable(s, b, kinds)) {
            *barrier = b;
            return 0;
        }
        if (b->state == DAGI_BLOCK_HELD)
            add_victim(c, b);
        if (limit != NULL && !costs_less(c, limit))
            return 0;
        sum += b->bytes;
        b = b->above;
    }
    return 1;
}

static int best_run(search *s, size_t bytes, int kinds)
{
    dagi_block *best_first = NULL, *barrier;
    cost best, c;
    for (dagi_block *b = s->m->lowest; b != NULL; b = b->above) {
        if (walk(s, b, bytes, kinds, best_first != NULL ? &best : NULL, &c, &barrier)) {
            best = c;
            best_first = b;
        } else if (barrier != NULL) {
            b = barrier; /* nor from any block up to there */
        }
    }
    if (best_first != NULL)
        claim(s, best_first, bytes);
    return best_first != NULL;
}

static int make_room(search *s, size_t bytes)
{
    const dagi_memory *m = s->m;
    int idle = m->idle[0].first != NULL || m->idle[1].first != NULL;
    int retiring = m->retiring.first != NULL;
    return (idle && (one_idle(s, bytes) || best_run(s, bytes, RUN_IDLE))) ||
           (retiring && best_run(s, bytes, RUN_RETIRING)) ||
           (m->wanted.first != NULL && one_wanted(s, bytes)) ||
           best_run(s, bytes, RUN_IDLE | RUN_RETIRING | RUN_WANTED);
}

/* ---- everything ----------------------------------------------------------------------------- */

/* The bytes of the largest runs of blocks that are or can be made free, at most `most` of them. */
static int largest_runs(const dagi_memory *m, size_t *runs, int most)
{
    int count = 0;
    size_t sum = 0;
    for (const dagi_block *b = m->lowest;; b = b->above) {
        if (b != NULL && (b->state != DAGI_BLOCK_HELD || dagi_block_evictable(b))) {
            sum += b->bytes;
            continue;
        }
        int at = count < most ? count++ : sum > runs[most - 1] ? most - 1 : -1;
        for (; at > 0 && runs[at - 1] < sum; at--)
            runs[at] = runs[at - 1];
        if (at >= 0)
            runs[at] = sum;
        sum = 0;
        if (b == NULL)
            return count;
    }
}

static int fits_empty(const dagi_memory *m, const size_t *bytes, const int *order, int count)
{
    size_t runs[DAGI_MOST_REQUESTS];
    int nruns = largest_runs(m, runs, DAGI_MOST_REQUESTS);
    for (int i = 0; i < count; i++) {
        size_t rounded = dagi_memory_rounded(bytes[order[i]]);
        int at = 0;
        while (at < nruns && runs[at] < rounded)
            at++;
        if (at == nruns)
            return 0;
        runs[at] -= rounded;
    }
    return 1;
}

static int by_next_use(const void *x, const void *y)
{
    const dagi_block *a = *(dagi_block *const *)x, *b = *(dagi_block *const *)y;
    cost ca = {a->next_use, a->dirty, 1, a->last_use}, cb = {b->next_use, b->dirty, 1, b->last_use};
    return costs_less(&cb, &ca) - costs_less(&ca, &cb);
}

static void append(search *s, const dagi_block_list *l)
{
    for (dagi_block *b = l->first; b != NULL && s->count < s->most; b = b->use_next) {
        b->victim = 1;
        s->victims[s->count++] = b;
    }
}

static void take_all(search *s)
{
    s->count = 0;
    append(s, &s->m->idle[0]);
    append(s, &s->m->idle[1]);
    int known = s->count;
    append(s, &s->m->wanted);
    if (s->count > known + 1)
        qsort(s->victims + known, (size_t)(s->count - known), sizeof(dagi_block *), by_next_use);
}

int dagi_memory_victims(dagi_memory *m, const size_t *bytes, int count, dagi_block **victims,
                        int most)
{
    search s = {m, victims, 0, most};
    dagi_block *fitted[DAGI_MOST_REQUESTS];
    int order[DAGI_MOST_REQUESTS], nfitted = 0, found = 1;
    size_t larger[DAGI_MOST_REQUESTS];
    int nlarger = 0;
    dagi_memory_order(bytes, count, order);
    dagi_memory_collect(m);
    m->round++;
    for (int i = 0; i < count; i++) {
        size_t rounded = dagi_memory_rounded(bytes[order[i]]);
        dagi_block *b = dagi_memory_find(m, rounded);
        if (b != NULL)
            fitted[nfitted++] = dagi_memory_carve(m, b, rounded);
        else
            larger[nlarger++] = rounded;
    }
    for (int i = 0; i < nlarger && found && s.count < most; i++)
        found = make_room(&s, larger[i]);
    while (nfitted > 0)
        dagi_memory_put(m, fitted[--nfitted]);
    if (!found) {
        s.count = 0;
        if (fits_empty(m, bytes, order, count))
            take_all(&s);
    }
    return s.count;
}

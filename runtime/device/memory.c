/* Memory of one device: the partition into blocks, and what is free of it. See memory.h. */
#include "memory_impl.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists ---------------------------------------------------------------------------------- */

static void list_append(dagi_block_list *l, dagi_block *b)
{
    b->use_next = NULL;
    b->use_prev = l->last;
    *(l->last != NULL ? &l->last->use_next : &l->first) = b;
    l->last = b;
}

static void list_remove(dagi_block_list *l, dagi_block *b)
{
    *(b->use_prev != NULL ? &b->use_prev->use_next : &l->first) = b->use_next;
    *(b->use_next != NULL ? &b->use_next->use_prev : &l->last) = b->use_prev;
    b->use_next = b->use_prev = NULL;
}

/* The list that a block belongs on when it may be evicted. */
static dagi_block_list *evict_list(dagi_memory *m, const dagi_block *b)
{
    return b->next_use != INT64_MIN ? &m->wanted : &m->idle[b->dirty != 0];
}

static void bin_put(dagi_memory *m, dagi_block *b)
{
    int bin = dagi_memory_bin(b->bytes);
    b->state = DAGI_BLOCK_FREE;
    b->free_prev = NULL;
    b->free_next = m->bin[bin];
    if (b->free_next != NULL)
        b->free_next->free_prev = b;
    m->bin[bin] = b;
    m->filled[bin / 64] |= (uint64_t)1 << bin % 64;
}

static void bin_take(dagi_memory *m, dagi_block *b)
{
    int bin = dagi_memory_bin(b->bytes);
    if (b->free_next != NULL)
        b->free_next->free_prev = b->free_prev;
    *(b->free_prev != NULL ? &b->free_prev->free_next : &m->bin[bin]) = b->free_next;
    if (m->bin[bin] == NULL)
        m->filled[bin / 64] &= ~((uint64_t)1 << bin % 64);
}

/* ---- descriptions --------------------------------------------------------------------------- */

static dagi_block *describe(dagi_memory *m)
{
    dagi_block *b = m->spare;
    if (b != NULL)
        m->spare = b->above;
    else if ((b = malloc(sizeof(*b))) == NULL)
        return NULL;
    memset(b, 0, sizeof(*b));
    b->next_use = INT64_MIN;
    return b;
}

/* The block above becomes part of b. Neither is in a bin. */
static void merge_above(dagi_memory *m, dagi_block *b)
{
    dagi_block *gone = b->above;
    b->bytes += gone->bytes;
    b->above = gone->above;
    if (b->above != NULL)
        b->above->below = b;
    gone->above = m->spare;
    m->spare = gone;
}

/* ---- free blocks ---------------------------------------------------------------------------- */

/* The smallest of the first `looks` blocks of a bin that is large enough. */
static dagi_block *smallest(dagi_block *b, size_t bytes, int looks)
{
    dagi_block *best = NULL;
    for (; b != NULL && looks > 0; b = b->free_next, looks--) {
        if (b->bytes >= bytes && (best == NULL || b->bytes < best->bytes))
            best = b;
    }
    return best;
}

static int next_filled(const dagi_memory *m, int bin)
{
    for (int word = bin / 64; word < DAGI_BINS / 64; word++) {
        uint64_t bits = m->filled[word];
        if (word == bin / 64)
            bits &= ~(uint64_t)0 << bin % 64;
        if (bits != 0)
            return word * 64 + __builtin_ctzll(bits);
    }
    return -1;
}

dagi_block *dagi_memory_find(dagi_memory *m, size_t bytes)
{
    enum { LOOKS = 16 };
    int own = dagi_memory_bin(bytes);
    dagi_block *b = smallest(m->bin[own], bytes, LOOKS);
    for (int bin = own; b == NULL && bin + 1 < DAGI_BINS;) {
        bin = next_filled(m, bin + 1);
        if (bin < 0)
            break;
        b = smallest(m->bin[bin], bytes, LOOKS);
    }
    return b != NULL ? b : smallest(m->bin[own], bytes, INT32_MAX);
}

dagi_block *dagi_memory_carve(dagi_memory *m, dagi_block *b, size_t bytes)
{
    bin_take(m, b);
    dagi_block *rest = b->bytes > bytes ? describe(m) : NULL;
    if (rest != NULL) { /* without a description for the rest the block is larger than asked for */
        rest->at = (char *)b->at + bytes;
        rest->bytes = b->bytes - bytes;
        rest->above = b->above;
        rest->below = b;
        if (rest->above != NULL)
            rest->above->below = rest;
        b->above = rest;
        b->bytes = bytes;
        bin_put(m, rest);
    } else if (b->bytes > bytes) {
        m->undescribed = 1;
    }
    b->state = DAGI_BLOCK_HELD;
    b->pins = 1;
    b->value = NULL;
    b->dirty = b->victim = b->nused = 0;
    b->next_use = INT64_MIN;
    m->held_bytes += b->bytes;
    return b;
}

void dagi_memory_put(dagi_memory *m, dagi_block *b)
{
    if (b->state == DAGI_BLOCK_HELD)
        m->held_bytes -= b->bytes;
    if (b->above != NULL && b->above->state == DAGI_BLOCK_FREE) {
        bin_take(m, b->above);
        merge_above(m, b);
    }
    if (b->below != NULL && b->below->state == DAGI_BLOCK_FREE) {
        b = b->below;
        bin_take(m, b);
        merge_above(m, b);
    }
    bin_put(m, b);
}

/* ---- life ----------------------------------------------------------------------------------- */

dagi_memory *dagi_memory_new(void *at, size_t bytes)
{
    dagi_memory *m = calloc(1, sizeof(*m));
    if (m == NULL)
        return NULL;
    if (dagi_memory_add(m, at, bytes) == 0)
        return m;
    free(m);
    return NULL;
}

int dagi_memory_add(dagi_memory *m, void *at, size_t bytes)
{
    size_t rounded = bytes / DAGI_BLOCK_GRAIN * DAGI_BLOCK_GRAIN;
    if (rounded == 0)
        return 0;
    dagi_block *b = describe(m), *wall = m->lowest != NULL ? describe(m) : NULL;
    if (b == NULL || (m->lowest != NULL && wall == NULL)) {
        free(b);
        free(wall);
        return 1;
    }
    b->at = at;
    b->bytes = rounded;
    m->bytes += rounded;
    if (wall != NULL) {
        wall->state = DAGI_BLOCK_HELD;
        wall->pins = 1;
        wall->above = m->lowest;
        wall->above->below = wall;
        wall->below = b;
        b->above = wall;
    }
    m->lowest = b;
    bin_put(m, b);
    return 0;
}

static void free_list(dagi_block *b)
{
    while (b != NULL) {
        dagi_block *next = b->above;
        free(b);
        b = next;
    }
}

void dagi_memory_free(dagi_memory *m)
{
    if (m == NULL)
        return;
    free_list(m->lowest);
    free_list(m->spare);
    free(m);
}

/* ---- retirement ----------------------------------------------------------------------------- */

static int retired(const dagi_block *b)
{
    if (b->pins > 0)
        return 0;
    for (int i = 0; i < b->nused; i++) {
        if (!dagi_ticket_passed(b->used[i]))
            return 0;
    }
    return 1;
}

/* Free what is retired among the `looks` blocks that were released first. */
static void sweep(dagi_memory *m, int looks)
{
    dagi_block *next;
    for (dagi_block *b = m->retiring.first; b != NULL && looks > 0; b = next, looks--) {
        next = b->use_next;
        if (!retired(b))
            continue;
        list_remove(&m->retiring, b);
        m->retiring_bytes -= b->bytes;
        dagi_memory_put(m, b);
    }
}

/* b->used is set. */
static void retire(dagi_memory *m, dagi_block *b)
{
    assert(b->state == DAGI_BLOCK_HELD);
    if (dagi_block_evictable(b))
        list_remove(evict_list(m, b), b);
    if (b->value == NULL)
        b->pins = 0;
    m->evictions += b->victim && b->pins == 0;
    b->value = NULL;
    m->held_bytes -= b->bytes;
    m->retiring_bytes += b->bytes;
    b->state = DAGI_BLOCK_RETIRING;
    list_append(&m->retiring, b);
}

static void keep_users(dagi_block *b, const dagi_ticket *used, int nused)
{
    assert(nused >= 0 && nused <= DAGI_COPY_TICKETS);
    b->nused = nused;
    if (nused > 0)
        memcpy(b->used, used, (size_t)nused * sizeof(used[0]));
}

void dagi_memory_release(dagi_memory *m, dagi_block *b, const dagi_ticket *used, int nused)
{
    keep_users(b, used, nused);
    retire(m, b);
    if (retired(b)) {
        list_remove(&m->retiring, b);
        m->retiring_bytes -= b->bytes;
        dagi_memory_put(m, b);
    }
}

void dagi_memory_return(dagi_memory *m, dagi_block *b, const dagi_ticket *used, int nused)
{
    keep_users(b, used, nused); /* nobody looks at it while the block is HELD */
    dagi_block *next = atomic_load_explicit(&m->returned, memory_order_relaxed);
    do {
        b->return_next = next;
    } while (!atomic_compare_exchange_weak_explicit(&m->returned, &next, b, memory_order_release,
                                                    memory_order_relaxed));
}

static void take_up(dagi_memory *m)
{
    if (atomic_load_explicit(&m->returned, memory_order_relaxed) == NULL)
        return;
    dagi_block *b = atomic_exchange_explicit(&m->returned, NULL, memory_order_acquire);
    while (b != NULL) {
        dagi_block *next = b->return_next;
        b->victim = 0;
        retire(m, b);
        m->nreturned++;
        b = next;
    }
}

void dagi_memory_collect(dagi_memory *m)
{
    take_up(m);
    sweep(m, INT32_MAX);
}

/* ---- reservation ---------------------------------------------------------------------------- */

void dagi_memory_order(const size_t *bytes, int count, int *order)
{
    assert(count <= DAGI_MOST_REQUESTS);
    for (int i = 0; i < count; i++) {
        int j = i;
        for (; j > 0 && bytes[order[j - 1]] < bytes[i]; j--)
            order[j] = order[j - 1];
        order[j] = i;
    }
}

static int carve_all(dagi_memory *m, const size_t *bytes, const int *order, int count,
                     dagi_block **blocks)
{
    for (int i = 0; i < count; i++) {
        size_t rounded = dagi_memory_rounded(bytes[order[i]]);
        dagi_block *b = dagi_memory_find(m, rounded);
        if (b == NULL) {
            while (i-- > 0)
                dagi_memory_put(m, blocks[order[i]]);
            return 0;
        }
        blocks[order[i]] = dagi_memory_carve(m, b, rounded);
    }
    return 1;
}

int dagi_memory_reserve(dagi_memory *m, const size_t *bytes, int count, dagi_block **blocks)
{
    enum { LOOKS = 4 }; /* what is oldest has passed most likely */
    int order[DAGI_MOST_REQUESTS];
    size_t left = m->bytes;
    for (int i = 0; i < count; i++) {
        if (bytes[i] > left || dagi_memory_rounded(bytes[i]) > left)
            return 2;
        left -= dagi_memory_rounded(bytes[i]);
    }
    dagi_memory_order(bytes, count, order);
    m->undescribed = 0;
    take_up(m);
    sweep(m, LOOKS);
    if (!carve_all(m, bytes, order, count, blocks)) {
        sweep(m, INT32_MAX);
        if (!carve_all(m, bytes, order, count, blocks))
            return m->undescribed ? 3 : 1;
    }
    size_t taken = m->held_bytes + m->retiring_bytes;
    if (taken > m->high_water)
        m->high_water = taken;
    return 0;
}

/* ---- use ------------------------------------------------------------------------------------ */

void dagi_memory_pin(dagi_memory *m, dagi_block *b)
{
    assert(b->state != DAGI_BLOCK_FREE);
    if (dagi_block_evictable(b))
        list_remove(evict_list(m, b), b);
    b->victim = 0;
    b->pins++;
}

void dagi_memory_unpin(dagi_memory *m, dagi_block *b)
{
    assert(b->state != DAGI_BLOCK_FREE && b->pins > 0);
    b->pins--;
    if (dagi_block_evictable(b)) {
        b->last_use = ++m->clock;
        list_append(evict_list(m, b), b);
    }
}

/* next_use and dirty say on which list a block is; those without a known use are in the order of
 * their last one, so a block whose use is not wanted any more goes where it belongs by that. */
static void reclassify(dagi_memory *m, dagi_block *b, int64_t next_use, int dirty)
{
    if (!dagi_block_evictable(b)) {
        b->next_use = next_use;
        b->dirty = dirty;
        return;
    }
    dagi_block_list *from = evict_list(m, b);
    b->next_use = next_use;
    b->dirty = dirty;
    dagi_block_list *to = evict_list(m, b);
    if (from == to)
        return;
    list_remove(from, b);
    dagi_block *before = to->last;
    while (to != &m->wanted && before != NULL && before->last_use > b->last_use)
        before = before->use_prev;
    b->use_prev = before;
    b->use_next = before != NULL ? before->use_next : to->first;
    *(b->use_prev != NULL ? &b->use_prev->use_next : &to->first) = b;
    *(b->use_next != NULL ? &b->use_next->use_prev : &to->last) = b;
}

void dagi_memory_next_use(dagi_memory *m, dagi_block *b, int64_t priority)
{
    reclassify(m, b, priority, b->dirty);
}

void dagi_memory_dirty(dagi_memory *m, dagi_block *b, int dirty)
{
    reclassify(m, b, b->next_use, dirty != 0);
}

void dagi_memory_stats_get(const dagi_memory *m, dagi_memory_stats *stats)
{
    *stats = (dagi_memory_stats){.bytes = m->bytes, .held = m->held_bytes,
                                 .retiring = m->retiring_bytes, .high_water = m->high_water,
                                 .evictions = m->evictions, .returned = m->nreturned};
    for (int bin = next_filled(m, 0); bin >= 0;) {
        for (const dagi_block *b = m->bin[bin]; b != NULL; b = b->free_next)
            stats->largest_free = b->bytes > stats->largest_free ? b->bytes : stats->largest_free;
        bin = bin + 1 < DAGI_BINS ? next_filled(m, bin + 1) : -1;
    }
}

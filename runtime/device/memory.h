/*
 * Memory of one device: one piece of it or several, taken once, cut into blocks; a cache of values.
 *
 * Everything here belongs to the manager of the device and is not locked, but for
 * dagi_memory_return(), which any thread may call.
 *
 * Invariants: blocks partition each piece; two neighbours are never both free; a block is FREE,
 * RETIRING (nobody wants it, but what is under way still reads or writes it), or HELD by one copy
 * of one value or as workspace; every HELD block with pins == 0 and a value, and no other, is on
 * one of the lists of what may be evicted. A RETIRING block becomes FREE when all its users have
 * passed and its pins are gone; its description is then not valid any more.
 *
 * Between dagi_memory_return() and the manager's next call here a block is still HELD, and named by
 * dagi_memory_victims() perhaps, while its value is gone: whoever returns it takes its memory off
 * the record first (dagi_copies_stale()), and the manager looks, under the record's lock, whether
 * the block is still that of the copy before it does anything about a victim. So a record (not the
 * value) must live until the managers of its blocks have taken them up.
 */
#ifndef DAGI_MEMORY_H
#define DAGI_MEMORY_H

#include "../data/copies.h"

#include <stddef.h>
#include <stdint.h>

enum { DAGI_BLOCK_GRAIN = 256 };

typedef struct dagi_block dagi_block;
typedef struct dagi_memory dagi_memory;

struct dagi_block {
    void *at; /* device address */
    size_t bytes; /* rounded */
    dag_value *value; /* whose copy lies here, set while it is pinned; NULL = workspace */
    dag_value *living; /* the manager's: the same, until the value dies; see copy_life.c */
    int pins; /* tasks reserved or issued and not retired, transfers under way */
    int dirty; /* must be saved before it can be evicted; dagi_memory_dirty() */
    /* Next use: the highest priority among the tasks that are queued for this device and use it;
     * INT64_MIN = none known. Among equals the least recently used goes first, clean ones before
     * those that must be saved. */
    int64_t next_use;
    /* -- memory.c's own behind this */
    dagi_block *above, *below;         /* neighbours in the piece */
    dagi_block *free_next, *free_prev; /* its bin */
    dagi_block *use_next, *use_prev;   /* what may be evicted, or is retiring */
    dagi_block *return_next;           /* returned, not taken up */
    uint64_t last_use, mark;
    int state, victim;
    int nused;
    dagi_ticket used[DAGI_COPY_TICKETS];
};

dagi_memory *dagi_memory_new(void *at, size_t bytes); /* NULL = out of (host) memory */
/* Another piece, before the first reservation: no block lies across two. Nonzero = out of (host) memory. */
int dagi_memory_add(dagi_memory *m, void *at, size_t bytes);
void dagi_memory_free(dagi_memory *m);

/* Bytes that a request takes in the piece. */
static inline size_t dagi_memory_rounded(size_t bytes)
{
    return bytes == 0 ? DAGI_BLOCK_GRAIN
                      : (bytes + DAGI_BLOCK_GRAIN - 1) / DAGI_BLOCK_GRAIN * DAGI_BLOCK_GRAIN;
}

/*
 * All or nothing: blocks for `count` (64 at most) requests of bytes[i], each HELD with one pin. 0
 * on success. 1: does not fit now; nothing has changed but that RETIRING blocks whose users have
 * passed became free. 2: it could not fit if everything were evicted. 3: as 1, and the host lacks the
 * memory to cut blocks, which does not come back by waiting.
 */
int dagi_memory_reserve(dagi_memory *m, const size_t *bytes, int count, dagi_block **blocks);
/*
 * Candidates for eviction that together make room for a request that did not fit, best first; how
 * many. The manager evicts them (saving what must be) and reserves again. 0: what is pinned or
 * retiring has to go first; there is some, or dagi_memory_reserve() had said 0 or 2. `most` is a
 * limit of the caller: when it is reached the rest is named next time. Prefers few and clean
 * blocks, and such that free neighbouring space for the largest request; where blocks without a
 * known use do not suffice it rather waits for what retires than to evict what will be used.
 */
int dagi_memory_victims(dagi_memory *m, const size_t *bytes, int count, dagi_block **victims,
                        int most);
void dagi_memory_pin(dagi_memory *m, dagi_block *b);
void dagi_memory_unpin(dagi_memory *m, dagi_block *b); /* at 0 it may be evicted: most recent */
void dagi_memory_next_use(dagi_memory *m, dagi_block *b, int64_t priority);
void dagi_memory_dirty(dagi_memory *m, dagi_block *b, int dirty);
/*
 * The content is not needed any more; the block is free when `used` has passed and those who have
 * pinned it have unpinned it (workspace is released with the pin that came with it, and not
 * unpinned). By the manager, and from any thread (dagi_memory_return(): put on a list that the
 * manager takes up).
 */
void dagi_memory_release(dagi_memory *m, dagi_block *b, const dagi_ticket *used, int nused);
void dagi_memory_return(dagi_memory *m, dagi_block *b, const dagi_ticket *used, int nused);
/* Take up what was returned, and free what is retired. The others do it where they need room. */
void dagi_memory_collect(dagi_memory *m);

typedef struct dagi_memory_stats {
    size_t bytes, held, retiring, largest_free, high_water;
    int64_t evictions, returned; /* victims that were released; blocks from other threads */
} dagi_memory_stats;
void dagi_memory_stats_get(const dagi_memory *m, dagi_memory_stats *stats);
/* For tests: NULL or what is wrong. */
const char *dagi_memory_check(const dagi_memory *m);

#endif

/* Shared by the files behind memory.h. */
#ifndef DAGI_MEMORY_IMPL_H
#define DAGI_MEMORY_IMPL_H

#include "memory.h"

#include <stdatomic.h>

/* A wall has no bytes, stands between two pieces, and is held for good. */
enum { DAGI_BLOCK_FREE, DAGI_BLOCK_RETIRING, DAGI_BLOCK_HELD };
/* Bins of free blocks: one per size up to 8 grains, then four per doubling. */
enum { DAGI_SMALL_BINS = 8, DAGI_BINS = 192 };

/* A list through use_next and use_prev; the oldest entry first. */
typedef struct dagi_block_list {
    dagi_block *first, *last;
} dagi_block_list;

struct dagi_memory {
    size_t bytes; /* of all pieces */
    dagi_block *lowest; /* the partition, piece by piece, by address, through `above` */
    dagi_block *bin[DAGI_BINS];
    uint64_t filled[DAGI_BINS / 64]; /* bit b: bin b is not empty */
    /* What may be evicted: blocks without a known next use, clean ones and those that must be
     * saved, by last use; and the others in no order. */
    dagi_block_list idle[2], wanted;
    dagi_block_list retiring; /* in the order in which they were released */
    dagi_block *spare;        /* descriptions without a block, through `above` */
    uint64_t clock;           /* counts uses */
    uint64_t round;           /* of dagi_memory_victims(), for dagi_block.mark */
    size_t held_bytes, retiring_bytes, high_water;
    int64_t evictions;
    int64_t nreturned;
    /* What other threads have returned, latest first, through return_next: release of the push
     * pairs with acquire of the one who takes all. */
    _Atomic(dagi_block *) returned;
    int undescribed; /* 1: a block was not cut, since the host has no memory for a description */
};

static inline int dagi_block_evictable(const dagi_block *b)
{
    return b->state == DAGI_BLOCK_HELD && b->pins == 0 && b->value != NULL;
}

static inline int dagi_block_wall(const dagi_block *b)
{
    return b->bytes == 0;
}

static inline int dagi_memory_bin(size_t bytes)
{
    size_t grains = bytes / DAGI_BLOCK_GRAIN;
    if (grains < DAGI_SMALL_BINS)
        return (int)grains;
    int log = 63 - __builtin_clzll(grains); /* >= 3 */
    int bin = DAGI_SMALL_BINS + (log - 3) * 4 + (int)((grains >> (log - 2)) & 3);
    return bin < DAGI_BINS ? bin : DAGI_BINS - 1;
}

/* The best free block of at least that many bytes (rounded); NULL = none. */
dagi_block *dagi_memory_find(dagi_memory *m, size_t bytes);
/* Take `bytes` (rounded) of a free block: HELD, one pin. */
dagi_block *dagi_memory_carve(dagi_memory *m, dagi_block *b, size_t bytes);
/* Back to the free ones, merged with free neighbours. */
void dagi_memory_put(dagi_memory *m, dagi_block *b);
/* Indices of the requests, largest first; at most DAGI_MOST_REQUESTS. */
enum { DAGI_MOST_REQUESTS = 64 };
void dagi_memory_order(const size_t *bytes, int count, int *order);

#endif

/* Tiles by their indices: blocks of them, which are found by hashing. */
#include "insert.h"

#include <stdlib.h>
#include <string.h>

block tiles_nowhere = {.collection = (const dag_collection *)(const void *)&tiles_nowhere, .behind = &tiles_nowhere};

/* A block is a square of tiles, or a row of them where there is one index. */
static int log_of_rows(const insertion *s, int slot)
{
    return dagi_pool(s->pool)->collections[slot]->nindex == 1 ? BLOCK_LOG : BLOCK_LOG / 2;
}

static size_t hash(int slot, int64_t i, int64_t j)
{
    uint64_t h = ((uint64_t)slot + 1) * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ (uint64_t)i) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ (h >> 29) ^ (uint64_t)j) * UINT64_C(0x94d049bb133111eb);
    return (size_t)(h ^ (h >> 31));
}

static void enter(insertion *s, block *b)
{
    size_t at = hash(b->slot, b->from[0], b->from[1]) & (s->blocks.nbuckets - 1);
    while (s->blocks.bucket[at])
        at = (at + 1) & (s->blocks.nbuckets - 1);
    s->blocks.bucket[at] = b;
}

/* Room for one more, half of it stays empty; nonzero = no memory. */
static int grow(insertion *s)
{
    if (2 * (s->blocks.n + 1) <= s->blocks.nbuckets)
        return 0;
    size_t n = s->blocks.nbuckets ? 2 * s->blocks.nbuckets : 64;
    block **bucket = calloc(n, sizeof(block *));
    if (!bucket)
        return 1;
    free(s->blocks.bucket);
    s->blocks.bucket = bucket;
    s->blocks.nbuckets = n;
    for (block *b = s->blocks.first; b; b = b->next)
        enter(s, b);
    return 0;
}

static block *make(insertion *s, int slot, int64_t i, int64_t j)
{
    block *b = grow(s) == 0 ? aligned_alloc(_Alignof(block), sizeof *b) : NULL;
    if (!b)
        return NULL;
    memset(b, 0, sizeof *b);
    b->behind = &tiles_nowhere;
    b->collection = dagi_pool(s->pool)->collections[slot];
    b->slot = slot;
    b->rows = log_of_rows(s, slot);
    b->from[0] = i;
    b->from[1] = j;
    b->last[0] = (UINT64_C(1) << b->rows) - 1;
    b->last[1] = BLOCK / (b->last[0] + 1) - 1;
    *s->blocks.end = b;
    s->blocks.end = &b->next;
    s->blocks.n++;
    enter(s, b);
    return b;
}

static bool is_at(const block *b, int slot, int64_t i, int64_t j)
{
    return b->slot == slot && b->from[0] == i && b->from[1] == j;
}

static block *find(insertion *s, int slot, int64_t i, int64_t j)
{
    if (s->blocks.nbuckets == 0)
        return make(s, slot, i, j);
    size_t at = hash(slot, i, j) & (s->blocks.nbuckets - 1);
    for (; s->blocks.bucket[at]; at = (at + 1) & (s->blocks.nbuckets - 1)) {
        if (is_at(s->blocks.bucket[at], slot, i, j))
            return s->blocks.bucket[at];
    }
    return make(s, slot, i, j);
}

tile *tile_find(insertion *s, int slot, int64_t i, int64_t j, int at)
{
    int rows = log_of_rows(s, slot), columns = BLOCK_LOG - rows;
    block *before = s->recent[at], *b = find(s, slot, i >> rows << rows, j >> columns << columns);
    if (!b)
        return NULL;
    if (before != &tiles_nowhere)
        before->behind = b;
    s->recent[at] = b;
    return tile_in(b, i, j);
}

void tiles_clear(insertion *s)
{
    for (block *b = s->blocks.first, *next; b; b = next) {
        next = b->next;
        free(b->reductions);
        divisions_clear(b);
        free(b);
    }
    free(s->blocks.bucket);
}

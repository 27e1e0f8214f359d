/* Where a task waits in the dependency table (deps.c). */
#ifndef DAGI_SHARD_H
#define DAGI_SHARD_H

#include "task.h"

/* A part of the dependency table; deps.c says how it is used. All guarded by `lock`. */
typedef struct dagi_shard {
    _Alignas(64) _Atomic int lock;
    uint32_t mask;              /* buckets - 1 */
    uint8_t shift;              /* 64 - log2 of the buckets: a hash shifted by it is the number of one */
    uint64_t count;             /* tasks in the buckets */
    struct dag_task **buckets;  /* chains linked by next; NULL while there are none */
} dagi_shard;

static inline uint64_t dagi_shard_hash(const dag_class *cls, const int32_t *params)
{
    uint64_t h = (uint64_t)(unsigned)cls->id;
    for (int i = 0; i < cls->nparams; i++)
        h = (h + (uint32_t)params[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return h;
}

/* The bucket of a hash, from its high bits: neighbours in the space, whose hashes are multiples of the golden
 * ratio apart, lie as far from each other as can be. Hashes mixed further would collide as chance has it. */
static inline struct dag_task **dagi_shard_bucket(const dagi_shard *s, uint64_t h)
{
    return &s->buckets[h >> s->shift];
}

static inline int dagi_shard_matches(struct dag_task *t, const dag_class *cls, const int32_t *params)
{
    if (t->cls != cls)
        return 0;
    const int32_t *locals = dagi_task_locals(t);
    for (int i = 0; i < cls->nparams; i++) {
        if (locals[i] != params[i])
            return 0;
    }
    return 1;
}

/* Neighbours in the space share a shard: a worker that stays in a corner of the graph finds the
 * lock and the buckets in its cache, where spreading them evenly would have each other worker take
 * them away. Blocks are small, so that graphs of few tasks use many shards, too. */
static inline dagi_shard *dagi_shard_of(const dag_taskpool *pool, const dag_class *cls,
                                        const int32_t *params)
{
    enum { DAGI_SHARD_BLOCK = 3 }; /* bits */
    if (dagi_pool(pool)->nshards == 1)
        return dagi_pool(pool)->shards;
    uint64_t h = (uint64_t)(unsigned)cls->id;
    for (int i = 0; i < cls->nparams; i++)
        h = (h + (uint32_t)(params[i] >> DAGI_SHARD_BLOCK)) * UINT64_C(0x9e3779b97f4a7c15);
    return &dagi_pool(pool)->shards[h >> 48 & (uint64_t)(dagi_pool(pool)->nshards - 1)];
}

#endif

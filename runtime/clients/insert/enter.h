/* A task is inserted: everything is in order, and noted. One of this rank gets a record, one of another leaves a note
 * in its tiles. */
#ifndef DAGI_INSERT_ENTER_H
#define DAGI_INSERT_ENTER_H

#include "insert.h"

#define ENTER_INLINE static inline __attribute__((always_inline))

/* A task writes the tile: `v` is its version if that is of this rank. */
ENTER_INLINE void tile_replace(tile *t, int64_t id, int rank, version *v)
{
    t->now = v;
    t->id = id;
    t->rank = rank;
    t->known = t->named = t->written = 1;
}

/* The tile begins with what its owner has, a version that the first task to read it gives its id. */
ENTER_INLINE void tile_touch(tile *t, int64_t id)
{
    if (t->named)
        return;
    t->named = 1;
    t->id = id + FIRST_TOUCH;
}

#pragma GCC visibility push(hidden)
/* A task that runs on this rank. */
dag_status insertion_here(insertion *s, const task_kind *k, const void *args, size_t size, tile *const *tiles,
                          int64_t id);
/* One that may be of any. */
dag_status insertion_enter(insertion *s, const task_kind *k, int rank, const void *args, size_t size,
                           tile *const *tiles);
#pragma GCC visibility pop

/* A task of another rank, with n tiles: what it reads may be made here; what it writes is not, from now on. Inline where
 * n and `plain`, as in PLAIN_1, are constants. */
ENTER_INLINE dag_status enter_there(insertion *s, const task_kind *k, int n, bool plain, tile *const *tiles, int rank,
                                    int64_t id)
{
    const int here = s->rank;
    for (int a = 0; a < n; a++) {
        tile *t = tiles[a];
        bool writes = plain ? a == n - 1 : k->writes >> a & 1, reads = (plain && !writes) || k->reads >> a & 1;
        if (reads && !writes)
            tile_touch(t, id + a);
        if (DAGI_UNLIKELY(t->rank == here) && reads) {
            tile_touch(t, id + a);
            if (insertion_send(s, t, rank, id / OUTPUTS) != 0)
                return DAG_ERR_NOMEM;
        }
        if (!writes)
            continue;
        if (DAGI_UNLIKELY(t->now != NULL))
            version_let_go(s, t->now);
        tile_replace(t, id + a, rank, NULL);
    }
    return DAG_SUCCESS;
}

ENTER_INLINE dag_status enter_task(insertion *s, const task_kind *k, int n, bool plain, int rank, const void *args,
                                   size_t size, tile *const *tiles)
{
    int64_t position = s->position++, id = position * OUTPUTS;
    dagi_open_reach_among(s->pool, s->door, s->apart, position + 1);
    return rank == s->rank ? insertion_here(s, k, args, size, tiles, id)
                           : enter_there(s, k, n, plain, tiles, rank, id);
}

#endif

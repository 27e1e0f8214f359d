/* dag_insert() and its like: what a call names is found and checked, and goes into the hash that ranks compare. */
#include "enter.h"

#include <inttypes.h>

/* ---- checks ---------------------------------------------------------------------------------- */

dag_status insertion_wrong(const insertion *s, const char *format, const char *name, int64_t x)
{
    return dag_error(s->pool->ctx, DAG_ERR_ARG, format, name, x);
}

/* What a kernel is with so many tiles; NULL: *status says why. */
static __attribute__((noinline)) const task_kind *find_kind(insertion *s, const dag_insert_kernel *kernel, int n,
                                                            dag_status *status)
{
    const inserted_program *of = s->of;
    int k = 0;
    while (k < of->nkernels && of->kernels[k] != kernel)
        k++;
    if (!kernel || k == of->nkernels) {
        *status = dag_error(s->pool->ctx, DAG_ERR_ARG, "dag_insert: the kernel is none of the pool's");
        return NULL;
    }
    const task_kind *first = &of->kinds[of->first[k]];
    if (n < first->n || n >= first->n + of->first[k + 1] - of->first[k]) {
        *status = insertion_wrong(s, "dag_insert: %s: it is given %" PRId64 " tiles, and has others", kernel->name, n);
        return NULL;
    }
    return s->last = first + (n - first->n);
}

static inline const task_kind *kind_of(insertion *s, const dag_insert_kernel *kernel, int n, dag_status *status)
{
    const task_kind *k = s->last;
    return DAGI_LIKELY(k->named == kernel && k->n == n) ? k : find_kind(s, kernel, n, status);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    uint64_t x = (hash ^ value) * UINT64_C(0xff51afd7ed558ccd);
    return x ^ (x >> 32);
}

static int slot_of(const insertion *s, const dag_collection *c)
{
    int slot = s->of->program.nslots - 1;
    while (slot >= 0 && dagi_pool(s->pool)->collections[slot] != c)
        slot--;
    return slot;
}

/* A tile that is there, and is named for the first time, or has not been written and has no memory. */
static void make_known(const insertion *s, tile *t, int slot, const dag_tile *named)
{
    const dag_collection *c = named->collection;
    t->slot = (uint16_t)slot;
    t->index[0] = named->i;
    t->index[1] = named->j;
    t->hash = mix((uint64_t)slot + 1, (uint64_t)named->i * UINT64_C(0x9e3779b97f4a7c15)) ^
              (uint64_t)named->j * UINT64_C(0xbf58476d1ce4e5b9);
    t->owner = t->rank = dag_rank_of(c, t->index);
    t->place = -1;
    if (s->place) {
        int place = s->place(named), devices = dag_devices(s->pool->ctx);
        t->place = (int8_t)(place <= 0 ? place < 0 ? -1 : 0 : devices ? 1 + (place - 1) % devices : -1);
    }
    t->fresh = is_scratch(c);
    t->known = !t->fresh;
    t->named = t->fresh; /* nothing of it is in memory */
}

/* The tile, where the last one for this argument lies near; NULL: it does not. */
static inline tile *tile_near(block *b, const dag_tile *named)
{
    return b->collection == named->collection ? tile_in(b, named->i, named->j) : NULL;
}

/* A tile that is named for the first time, or far from the last one. */
static __attribute__((noinline)) tile *find_anywhere(insertion *s, const char *who,
                                                     const dag_tile *named, int a, int access,
                                                     dag_status *status)
{
    const int64_t index[2] = {named->i, named->j};
    tile *t = tile_near(s->recent[a], named);
    int slot = t ? s->recent[a]->slot : slot_of(s, named->collection);
    if (!t && slot >= 0)
        t = tile_find(s, slot, named->i, named->j, a);
    if (slot < 0)
        *status = insertion_wrong(s, "dag_insert: %s: tile %" PRId64 " is of no collection of the pool",
                                  who, a);
    else if (!t)
        *status = dag_error(s->pool->ctx, DAG_ERR_NOMEM, "dag_insert: out of memory");
    else if (t->released)
        *status = insertion_wrong(s, "dag_insert: %s: tile %" PRId64 " was released", who, a);
    else if (!t->known && !named->collection->ops->contains(named->collection, index))
        *status = insertion_wrong(s, "dag_insert: %s: tile %" PRId64 " is outside of its collection", who, a);
    if (*status != DAG_SUCCESS || t->known)
        return *status == DAG_SUCCESS ? t : NULL;
    if (t->divided) {
        s->unusual = 1;
        return t;
    }
    if (t->reducing && access != DAG_TILE_REDUCE)
        *status = reduction_end(s, s->recent[a]->reductions[t - s->recent[a]->tile]);
    else if (!t->known && !t->reducing)
        make_known(s, t, slot, named);
    if (!t->known && !t->reducing && access != DAG_TILE_WRITE && access != 0)
        *status = insertion_wrong(s, "dag_insert: %s: tile %" PRId64 " has no memory, and nobody has written it",
                                  who, a);
    return *status == DAG_SUCCESS ? t : NULL;
}

/* One that is near the tile last named for this argument, or where tiles have followed it before. */
tile *insertion_tile(insertion *s, const char *who, const dag_tile *named, int a, int access, dag_status *status)
{
    block *b = s->recent[a];
    tile *t = tile_near(b, named);
    *status = DAG_SUCCESS;
    if (t && t->known)
        return t;
    tile *behind = tile_near(b->behind, named);
    if (t || !behind || !behind->known)
        return find_anywhere(s, who, named, a, access, status);
    s->recent[a] = b->behind;
    return behind;
}

static __attribute__((noinline)) tile *find_further(insertion *s, const task_kind *k, const dag_tile *named, int a,
                                                    dag_status *status)
{
    return insertion_tile(s, k->kernel->name, &named[a], a, k->access[a], status);
}

void insertion_note(insertion *s, uint64_t call, const tile *t)
{
    s->hash = mix(s->hash, call + t->hash);
}

static __attribute__((noinline)) dag_status named_twice(const insertion *s, const task_kind *k, int a)
{
    return insertion_wrong(s, "dag_insert: %s: tile %" PRId64 " is named twice and not just read", k->kernel->name, a);
}

/* The n that the task names, and into *hash what they are. */
ENTER_INLINE dag_status find_tiles(insertion *s, const task_kind *k, int n, bool plain, const dag_tile *named,
                                   program_line from, tile **tiles, uint64_t *hash)
{
    dag_status status;
    for (int a = 0; a < n; a++) {
        tile *t = tile_near(s->recent[a], &named[a]);
        if (DAGI_UNLIKELY(!t || !t->known)) {
            s->site = from;
            t = find_further(s, k, named, a, &status);
            if (!t)
                return status;
        }
        for (int b = 0; b < (plain && a < n - 1 ? 0 : a); b++) {
            if (DAGI_UNLIKELY(tiles[b] == t) && (plain || (k->writes >> a | k->writes >> b) & 1))
                return named_twice(s, k, a);
        }
        tiles[a] = t;
        *hash += t->hash * (uint64_t)(2 * a + 1);
    }
    return DAG_SUCCESS;
}

/* ---- calls --------------------------------------------------------------------------------- */

/* Why the pool has no insertion for the caller. */
static __attribute__((noinline)) dag_status refuse(const dag_taskpool *pool, const char *call)
{
    if (!pool)
        return DAG_ERR_ARG;
    const struct dagi_door *door = dagi_pool(pool)->door;
    if (!door || !door->client.own)
        return dag_error(pool->ctx, DAG_ERR_STATE, "%s: the pool is not one for insertion", call);
    return dagi_open_check(pool);
}

/* The insertion of an open pool, for its giver; NULL: *status says why. */
ENTER_INLINE insertion *opened(const dag_taskpool *pool, const char *call, dag_status *status)
{
    const struct dagi_door *door = pool ? dagi_pool(pool)->door : NULL;
    insertion *s = door ? door->client.own : NULL;
    bool may = s && dagi_open_may(pool, door);
    if (DAGI_UNLIKELY(!may)) {
        *status = refuse(pool, call);
        return NULL;
    }
    return s;
}

insertion *insertion_open(const dag_taskpool *pool, const char *call, dag_status *status)
{
    *status = DAG_SUCCESS;
    return opened(pool, call, status);
}

/* The rank that it runs on; negative: it cannot run, and *status says why. */
static __attribute__((noinline)) int rank_said(const insertion *s, const task_kind *k, int rank, tile *const *tiles,
                                               dag_status *status)
{
    const char *name = k->kernel->name;
    if (k->main >= 0 && rank == DAG_INSERT_WHERE && tiles[k->main]->place != DAG_HOST)
        return tiles[k->main]->owner;
    if (k->main >= 0 && rank == DAG_INSERT_WHERE)
        *status = insertion_wrong(s, "dag_insert: %s: it has no body for cores, where tile %" PRId64 " places it",
                                  name, k->main);
    else if (k->main >= 0)
        *status = insertion_wrong(s, "dag_insert: %s: it runs where its tile %" PRId64 " lives; a call may say a "
                                  "rank where `main` is DAG_INSERT_WHERE", name, k->main);
    else if (rank < 0 || rank >= s->pool->ctx->size)
        *status = insertion_wrong(s, "dag_insert: %s: it has no main tile, so dag_insert_on() has to say on which "
                                  "rank it runs, not %" PRId64, name, rank);
    else
        return rank;
    return -1;
}

/* It is counted, has regions, or contributes. */
static __attribute__((noinline)) dag_status enter_unusual(insertion *s, const task_kind *kind, int rank,
                                                          const void *args, size_t size, tile **tiles)
{
    if (s->kinds)
        insertion_count_kinds(s, kind, rank, tiles);
    dag_status status = regions_resolve(s, kind, rank, tiles);
    if (status != DAG_SUCCESS)
        return status;
    return kind->kernel->reduce ? reduction_insert(s, kind, rank, args, size, tiles)
                                : insertion_enter(s, kind, rank, args, size, tiles);
}

/* A call of n tiles, the rest of what it says being known to be good. */
ENTER_INLINE dag_status call_of(insertion *s, const task_kind *kind, int n, bool plain, int rank, const void *args,
                                size_t size, const dag_tile *named, program_line from)
{
    tile *tiles[DAG_INSERT_MOST];
    uint64_t hash = (uint64_t)kind->cls;
    dag_status status = find_tiles(s, kind, n, plain, named, from, tiles, &hash);
    if (DAGI_UNLIKELY(status != DAG_SUCCESS))
        return status;
    if (plain) {
        rank = tiles[n - 1]->owner;
    } else if (n > 0 && rank == DAG_INSERT_WHERE && kind->placed) {
        rank = tiles[kind->main]->owner;
    } else if (kind->main >= 0 || rank < 0 || rank >= s->pool->ctx->size) {
        rank = rank_said(s, kind, rank, tiles, &status);
        if (rank < 0)
            return status;
    }
    if (DAGI_UNLIKELY(s->position >= s->marks.next))
        insertion_mark(s);
    s->hash = mix(s->hash, hash ^ (uint64_t)rank << 40);
    if (DAGI_UNLIKELY(kind->unusual | s->unusual | (rank == s->rank)))
        s->site = from;
    if (DAGI_UNLIKELY(kind->unusual | s->unusual))
        return enter_unusual(s, kind, rank, args, size, tiles);
    return enter_task(s, kind, n, plain, rank, args, size, tiles);
}

static __attribute__((noinline)) dag_status call_of_many(insertion *s, const task_kind *kind, int rank,
                                                         const void *args, size_t size, const dag_tile *named,
                                                         program_line from)
{
    return call_of(s, kind, kind->n, false, rank, args, size, named, from);
}

ENTER_INLINE dag_status call(dag_taskpool *pool, int rank, const dag_insert_kernel *kernel, const void *args,
                             size_t size, const dag_tile *named, int n, program_line from)
{
    dag_status status = DAG_SUCCESS;
    insertion *s = opened(pool, "dag_insert", &status);
    if (!s)
        return status;
    const task_kind *kind = kind_of(s, kernel, n, &status);
    if (!kind)
        return status;
    if (DAGI_UNLIKELY(size > DAG_INSERT_ARGS))
        return insertion_wrong(s, "dag_insert: %s: more than %" PRId64 " bytes of arguments", kernel->name,
                               DAG_INSERT_ARGS);
    int form = kind->form;
    switch (rank == DAG_INSERT_WHERE || form == NO_TILES ? form : MANY_TILES) {
    case NO_TILES: return call_of(s, kind, 0, false, rank, args, size, named, from);
    case PLAIN_1: return call_of(s, kind, 1, true, rank, args, size, named, from);
    case PLAIN_2: return call_of(s, kind, 2, true, rank, args, size, named, from);
    case PLAIN_3: return call_of(s, kind, 3, true, rank, args, size, named, from);
    case PLAIN_4: return call_of(s, kind, 4, true, rank, args, size, named, from);
    case TWO_TILES: return call_of(s, kind, 2, false, rank, args, size, named, from);
    default: return call_of_many(s, kind, rank, args, size, named, from);
    }
}

dag_status dag_insert(dag_taskpool *pool, const dag_insert_kernel *kernel, const void *args, size_t size,
                      const dag_tile *named, int n)
{
    return dag_insert_at(pool, kernel, args, size, named, n, NULL, 0);
}

dag_status dag_insert_at(dag_taskpool *pool, const dag_insert_kernel *kernel, const void *args,
                         size_t size, const dag_tile *named, int n, const char *file, int line)
{
    return call(pool, DAG_INSERT_WHERE, kernel, args, size, named, n, (program_line){file, line});
}

dag_status dag_insert_on(dag_taskpool *pool, int rank, const dag_insert_kernel *kernel, const void *args,
                         size_t size, const dag_tile *named, int n, const char *file, int line)
{
    return call(pool, rank, kernel, args, size, named, n, (program_line){file, line});
}

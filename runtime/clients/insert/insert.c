/* dag_insert_begin(), dag_insert(), dag_insert_end(): a sequential program becomes versions and tasks. */
#include "insert.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 4096 };

/* ---- one task ------------------------------------------------------------------------------- */

static void give(insertion *s, int cls, uint64_t id, const void *pointer, dag_value *const *values,
                 uint32_t mask)
{
    int32_t params[4];
    put_64(params, id);
    put_64(params + 2, (uint64_t)(uintptr_t)pointer);
    dagi_open_give(s->pool, &s->of->classes[cls], params, values, mask);
}

/* A version is needed on this rank: see to it that it comes. */
static void fetch(insertion *s, tile *t)
{
    version *v = t->now;
    if (v->awaited)
        return;
    if (v->rank != s->rank) {
        v->awaited = 1;
        version_await(s, v);
        give(s, ARRIVE, (uint64_t)v->id, (const void *)(uintptr_t)s->rank, NULL, 0);
        return;
    }
    if (v->id % OUTPUTS < FIRST_TOUCH)
        return; /* a task makes it */
    record *r = record_new(s, NULL, NULL, 0);
    if (!r)
        return;
    v->awaited = 1;
    r->tiles[0] = t;
    r->out[0] = v;
    t->first = v;
    dagi_lock(&s->lock);
    v->refs += 2; /* the task's, and the tile's */
    dagi_unlock(&s->lock);
    give(s, LOAD, (uint64_t)v->id, r, NULL, 0);
}

static reader *reader_new(insertion *s, int cls, int flow, const int32_t *params)
{
    reader *r = malloc(sizeof *r);
    if (!r) {
        dagi_pool_fail(s->pool, DAG_ERR_NOMEM, "no memory to insert a task");
        return NULL;
    }
    *r = (reader){.cls = cls, .flow = flow};
    memcpy(r->params, params, sizeof r->params);
    return r;
}

/* What the task reads on this rank; *mask: what is here already. */
static void read_here(insertion *s, tile *t, int cls, int flow, const int32_t *params, int last,
                      dag_value **values, uint32_t *mask)
{
    reader *r = reader_new(s, cls, flow, params);
    if (!r)
        return;
    fetch(s, t);
    *mask |= (uint32_t)version_read(s, t->now, r, last, &values[flow]) << flow;
}

/* Another rank reads what is made here. */
static void read_there(insertion *s, tile *t, int rank, int64_t position)
{
    dag_value *value;
    if (t->now->rank != s->rank)
        return;
    fetch(s, t);
    remote *r = version_read_there(s, t->now, rank, position, &value);
    if (r)
        give(s, SEND, (uint64_t)t->now->id, r, &value, 1);
}

static void replace(insertion *s, tile *t, version *v)
{
    version *before = t->now;
    t->now = v;
    t->written = 1;
    if (!before)
        return;
    version_supersede(s, before);
    version_drop(s, before);
}

/* The tile begins with what its owner has. */
static int touch(insertion *s, tile *t, int64_t id)
{
    if (!t->now)
        t->now = version_new(s, id + FIRST_TOUCH, t->owner);
    return t->now != NULL;
}

static dag_status insert_here(insertion *s, int cls, const dag_kernel *k, const void *args,
                              size_t size, tile *const *tiles, int64_t id)
{
    dag_value *values[DAG_INSERT_TILES] = {NULL};
    version *out[DAG_INSERT_TILES] = {NULL};
    int32_t params[4];
    uint32_t mask = 0;
    record *r = record_new(s, k, args, size);
    if (!r)
        return DAG_ERR_NOMEM;
    put_64(params, (uint64_t)id);
    put_64(params + 2, (uint64_t)(uintptr_t)r);
    r->inputs = 1;
    for (int a = 0; a < k->ntiles; a++) {
        r->tiles[a] = tiles[a];
        r->inputs += k->access[a] != DAG_TILE_WRITE;
        if (k->access[a] != DAG_TILE_READ && !(out[a] = version_new(s, id + a, s->rank)))
            return DAG_ERR_NOMEM;
        r->out[a] = out[a];
        if (out[a])
            out[a]->refs++; /* the tile's and the producer's */
    }
    for (int a = 0; a < k->ntiles; a++) {
        if (k->access[a] != DAG_TILE_WRITE)
            read_here(s, tiles[a], cls, a, params, k->access[a] == DAG_TILE_RW, values, &mask);
    }
    give(s, cls, (uint64_t)id, r, values, mask);
    for (int a = 0; a < k->ntiles; a++) {
        if (out[a])
            replace(s, tiles[a], out[a]);
    }
    return DAG_SUCCESS;
}

static dag_status insert_there(insertion *s, const dag_kernel *k, tile *const *tiles, int rank,
                               int64_t id)
{
    for (int a = 0; a < k->ntiles; a++) {
        if (k->access[a] != DAG_TILE_WRITE)
            read_there(s, tiles[a], rank, id / OUTPUTS);
    }
    for (int a = 0; a < k->ntiles; a++) {
        if (k->access[a] == DAG_TILE_READ)
            continue;
        version *v = version_new(s, id + a, rank);
        if (!v)
            return DAG_ERR_NOMEM;
        replace(s, tiles[a], v);
    }
    return DAG_SUCCESS;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static dag_status wrong(const insertion *s, const char *format, const char *name, int64_t x)
{
    return dag_error(s->pool->ctx, DAG_ERR_ARG, format, name, x);
}

static int class_of(const insertion *s, const dag_kernel *kernel)
{
    for (int k = 0; k < s->of->nkernels; k++) {
        if (s->of->kernels[k] == kernel)
            return KERNELS + k;
    }
    return -1;
}

static int slot_of(const insertion *s, const dag_collection *c)
{
    int slot = s->of->program.nslots - 1;
    while (slot >= 0 && dagi_pool(s->pool)->collections[slot] != c)
        slot--;
    return slot;
}

static dag_status find_tiles(insertion *s, const dag_kernel *k, const dag_tile *named, tile **tiles)
{
    for (int a = 0; a < k->ntiles; a++) {
        const dag_tile *t = &named[a];
        const int64_t index[2] = {t->i, t->j};
        int slot = slot_of(s, t->collection);
        if (slot < 0)
            return wrong(s, "dag_insert: %s: tile %" PRId64 " is of no collection of the pool",
                         k->name, a);
        if (!t->collection->ops->contains(t->collection, index))
            return wrong(s, "dag_insert: %s: tile %" PRId64 " is outside of its collection", k->name,
                         a);
        tiles[a] = tile_find(s, slot, t->i, t->j);
        if (!tiles[a])
            return DAG_ERR_NOMEM;
        for (int b = 0; b < a; b++) {
            if (tiles[b] == tiles[a])
                return wrong(s, "dag_insert: %s: tile %" PRId64 " is named twice", k->name, a);
        }
    }
    return DAG_SUCCESS;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    uint64_t x = (hash ^ value) * UINT64_C(0xff51afd7ed558ccd);
    return x ^ (x >> 32);
}

/* ---- calls --------------------------------------------------------------------------------- */

static insertion *open_insertion(const dag_taskpool *pool)
{
    const struct dagi_door *door = pool ? dagi_pool(pool)->door : NULL;
    return door ? door->client : NULL;
}

/* The state that calls of the giver need. */
static dag_status check_state(const dag_taskpool *pool, const char *call)
{
    if (!pool)
        return DAG_ERR_ARG;
    const char *what = NULL;
    if (dagi_worker_self(pool->ctx))
        what = "called from a body";
    else if (!open_insertion(pool) || !dagi_pool_is_open(pool))
        what = "the pool is not open for insertion";
    return what ? dag_error(pool->ctx, DAG_ERR_STATE, "%s: %s", call, what) : DAG_SUCCESS;
}

dag_status dag_insert(dag_taskpool *pool, const dag_kernel *kernel, const void *args, size_t size,
                      const dag_tile *named, int n)
{
    tile *tiles[DAG_INSERT_TILES];
    dag_status status = check_state(pool, "dag_insert");
    if (status != DAG_SUCCESS)
        return status;
    insertion *s = open_insertion(pool);
    int cls = kernel ? class_of(s, kernel) : -1;
    if (cls < 0)
        return dag_error(pool->ctx, DAG_ERR_ARG, "dag_insert: the kernel is none of the pool's");
    if (n != kernel->ntiles)
        return wrong(s, "dag_insert: %s: it is given %" PRId64 " tiles, and has others", kernel->name,
                     n);
    status = find_tiles(s, kernel, named, tiles);
    if (status != DAG_SUCCESS)
        return status;
    int64_t position = s->position++, id = position * OUTPUTS;
    s->hash = mix(s->hash, (uint64_t)cls);
    for (int a = 0; a < n; a++) {
        s->hash = mix(mix(mix(s->hash, (uint64_t)tiles[a]->slot), (uint64_t)named[a].i),
                      (uint64_t)named[a].j);
        if (kernel->access[a] != DAG_TILE_WRITE && !touch(s, tiles[a], id + a))
            return DAG_ERR_NOMEM;
    }
    dagi_open_reach(pool, position + 1);
    int rank = tiles[kernel->main]->owner;
    return rank == s->rank ? insert_here(s, cls, kernel, args, size, tiles, id)
                           : insert_there(s, kernel, tiles, rank, id);
}

/* What was written goes to its owner, in the order in which tiles were first named. */
static void bring_home(insertion *s, tile *t)
{
    int64_t position = s->position++;
    dag_value *value[1] = {NULL};
    uint32_t mask = 0;
    int32_t params[4];
    dagi_open_reach(s->pool, position + 1);
    if (t->owner != s->rank) {
        read_there(s, t, t->owner, position);
        return;
    }
    put_64(params, (uint64_t)(position * OUTPUTS));
    put_64(params + 2, (uint64_t)(uintptr_t)t);
    t->inputs = 2;
    reader *after = t->first ? reader_new(s, HOME, 1, params) : NULL;
    if (after) { /* memory is not written before it was fetched */
        t->inputs = 3;
        if (version_follow(s, t->first, after))
            t->inputs = 2;
    }
    read_here(s, t, HOME, 0, params, 1, value, &mask);
    give(s, HOME, (uint64_t)(position * OUTPUTS), t, value, mask);
}

dag_status dag_insert_end(dag_taskpool *pool)
{
    dag_status status = check_state(pool, "dag_insert_end");
    if (status != DAG_SUCCESS)
        return status;
    insertion *s = open_insertion(pool);
    for (size_t i = 0; i < s->ntiles; i++) {
        tile *t = s->tiles[i];
        if (t->now && t->written)
            bring_home(s, t);
        if (t->now) {
            version_supersede(s, t->now);
            version_drop(s, t->now);
            t->now = NULL;
        }
        version_drop(s, t->first);
        t->first = NULL;
    }
    return dagi_open_shut(pool, s->hash | 1);
}

/* ---- begin ---------------------------------------------------------------------------------- */

static dag_status check_desc(dag_context *ctx, const dag_insert_desc *d)
{
    for (int k = 0; k < d->nkernels; k++) {
        const dag_kernel *kernel = d->kernels[k];
        bool fits = kernel && kernel->name && kernel->body && kernel->ntiles >= 1 &&
                    kernel->ntiles <= DAG_INSERT_TILES && kernel->main >= 0 &&
                    kernel->main < kernel->ntiles && (kernel->access[kernel->main] & DAG_TILE_WRITE);
        for (int a = 0; fits && a < kernel->ntiles; a++)
            fits = kernel->access[a] >= DAG_TILE_READ && kernel->access[a] <= DAG_TILE_RW;
        if (!fits)
            return dag_error(ctx, DAG_ERR_ARG, "dag_insert_begin: kernel %d needs a name, a body, 1 to "
                             "%d tiles with their access, and writes its main one", k,
                             DAG_INSERT_TILES);
    }
    for (int c = 0; c < d->ncollections; c++) {
        if (!d->collections[c] || d->collections[c]->nindex > 2)
            return dag_error(ctx, DAG_ERR_ARG, "dag_insert_begin: collection %d is NULL or has more "
                             "than two indices", c);
    }
    return DAG_SUCCESS;
}

static void insertion_free(void *client)
{
    insertion *s = client;
    insertion_clear(s);
    free(s);
}

static dag_status make_pool(dag_context *ctx, insertion *s, const dag_insert_desc *desc)
{
    s->of = inserted_program_for(desc);
    if (!s->of)
        return dag_error(ctx, DAG_ERR_NOMEM, "dag_insert_begin: out of memory");
    dag_taskpool *pool = dag_pool_new(ctx, &s->of->program, DAG_S);
    if (!pool)
        return DAG_ERR_NOMEM;
    *(insertion **)dag_pool_globals(pool) = s;
    for (int c = 0; c < desc->ncollections; c++)
        dag_pool_collection(pool, c, desc->collections[c]);
    s->pool = dag_pool_ready(pool);
    return s->pool ? DAG_SUCCESS : DAG_ERR_ARG;
}

dag_status dag_insert_begin(dag_context *ctx, const dag_insert_desc *desc, dag_taskpool **pool)
{
    if (!ctx || !desc || !pool || !desc->name || desc->window < 0 || desc->nkernels < 1)
        return DAG_ERR_ARG;
    dag_status status = check_desc(ctx, desc);
    insertion *s = status == DAG_SUCCESS ? calloc(1, sizeof *s) : NULL;
    if (!s)
        return status != DAG_SUCCESS ? status : DAG_ERR_NOMEM;
    s->rank = ctx->rank;
    status = make_pool(ctx, s, desc);
    if (status == DAG_SUCCESS) {
        status = dagi_open_add(ctx, s->pool, desc->window ? desc->window : WINDOW);
        if (status != DAG_SUCCESS)
            dag_taskpool_free(s->pool);
    }
    if (status != DAG_SUCCESS) {
        insertion_free(s);
        return status;
    }
    dagi_pool(s->pool)->door->client = s;
    dagi_pool(s->pool)->door->free_client = insertion_free;
    *pool = s->pool;
    return DAG_SUCCESS;
}

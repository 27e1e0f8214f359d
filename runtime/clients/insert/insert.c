/* A program becomes versions and tasks: what a task that is inserted enters, and leaves. */
#include "insert.h"

#include <stdlib.h>
#include <string.h>

/* ---- what a task is made of: NULL = no memory, the pool has failed ---------------------------------- */

static void *no_memory(const insertion *s)
{
    dagi_pool_fail(s->pool, DAG_ERR_NOMEM, "no memory to insert a task");
    return NULL;
}

static version *version_new(insertion *s, int64_t id, int rank)
{
    version *v = stock_take(s, sizeof *v);
    if (!v)
        return no_memory(s);
    *v = (version){.id = id, .rank = rank, .refs = 1, .region = DAG_REGION_FULL};
    return v;
}

inline record *insertion_record(insertion *s, int64_t id, int nargs, const void *args, size_t size)
{
    _Static_assert(sizeof(record) + DAG_INSERT_TILES * sizeof(argument) + DAG_INSERT_ARGS <=
                       (size_t)GRAIN * GRAINS,
                   "the stock has all records");
    size_t bytes = sizeof(record) + (size_t)nargs * sizeof(argument) + size;
    record *r = stock_take(s, bytes);
    if (!r)
        return no_memory(s);
    *r = (record){.id = id, .nargs = nargs, .bytes = (uint32_t)bytes, .args = &r->arg[nargs]};
    for (int a = 0; a < nargs; a++)
        r->arg[a] = (argument){.record = r, .flow = (uint8_t)a};
    if (size > 0)
        memcpy(&r->arg[nargs], args, size);
    return r;
}

/* ---- one task ------------------------------------------------------------------------------- */

static void give(insertion *s, int cls, int64_t id, const void *at, dag_value *const *values,
                 uint32_t mask)
{
    int32_t params[DAGI_GIVEN_PARAMS];
    put_params(params, id, at, 0);
    dagi_open_give_checked(s->pool, &s->of->classes[cls], params, values, mask);
}

/* Room, and a task for the record: none where the pool has failed for good. */
inline void insertion_task(insertion *s, int cls, record *r)
{
    int32_t params[DAGI_GIVEN_PARAMS];
    dagi_open_admit(s->pool);
    put_params(params, r->id, r, r->kind ? s->site : 0);
    r->task = dagi_door_make(dagi_tasks(s->pool->ctx)->workers[0], s->pool, &s->of->classes[cls], params);
}

/* What the record reads has been entered: its task misses so many inputs. Under the lock; true: none. */
inline bool insertion_ready(insertion *s, record *r, int missing)
{
    if (r->task && missing > 0)
        dagi_door_keep(s->door, r->task, missing);
    return missing == 0;
}

/* It is entered with the version that it reads, or takes the value; 1: that is still to come. A record
 * without a task is entered nowhere: what it would have made never comes, either. */
inline int insertion_read(record *r, version *v, int a, bool last)
{
    r->inputs++;
    if (!r->task || !version_read(v, &r->arg[a], last, &dag_task_flows(r->task)[a]))
        return 1;
    r->task->arrived |= UINT64_C(1) << a;
    return 0;
}

version *insertion_present(insertion *s, tile *t)
{
    if (!t->now)
        t->now = version_new(s, t->id, t->rank);
    return t->now;
}

/* The tile begins with what its owner has, a version that the first task to read it gives its id. */
inline void insertion_touch(tile *t, int64_t id)
{
    if (t->named)
        return;
    t->named = 1;
    t->id = id + FIRST_TOUCH;
}

/* What is in memory is read once the version `v` is here. */
static void set_first(insertion *s, tile *t, version *v)
{
    hold(s);
    v->refs++;
    let_go(s);
    t->first = v;
}

/* The present version is needed on this rank, and nobody has seen to it that it comes. Nonzero = no memory. */
static __attribute__((noinline)) int bring(insertion *s, tile *t)
{
    version *v = insertion_present(s, t);
    if (!v || (v->rank == s->rank && !is_from_memory(v->id)))
        return !v; /* a task makes it */
    v->awaited = 1;
    if (v->rank != s->rank && !s->played) {
        version_await(s, v);
        give(s, ARRIVE, v->id, (const void *)(uintptr_t)s->rank, NULL, 0);
        return 0;
    }
    record *r = insertion_record(s, v->id, 1, NULL, 0);
    if (!r)
        return 1;
    r->arg[0].tile = t;
    r->arg[0].out = v;
    v->refs++; /* Load's; nobody else has it yet */
    set_first(s, t, v);
    insertion_task(s, LOAD, r);
    dagi_open_put(s->pool, r->task);
    return 0;
}

/* See to it that the present version comes. Nonzero = no memory. */
inline int insertion_fetch(insertion *s, tile *t)
{
    return DAGI_LIKELY(t->now && t->now->awaited) ? 0 : bring(s, t);
}

/* Another rank reads what is made here. Nonzero = no memory. */
inline int insertion_send(insertion *s, tile *t, int rank, int64_t position)
{
    dag_value *value;
    if (t->rank != s->rank)
        return 0;
    if (insertion_fetch(s, t) != 0)
        return 1;
    reader_rank *r = version_read_there(s, t->now, rank, position, &value);
    if (r)
        give(s, SEND, t->now->id, r, &value, 1);
    return 0;
}

/* A task writes the tile: `v` is its version if that is of this rank. */
static void replace(tile *t, int64_t id, int rank, version *v)
{
    t->now = v;
    t->id = id;
    t->rank = rank;
    t->known = t->named = t->written = 1;
}

/* The tiles of a task that runs here; what it reads is on its way. Nonzero = no memory. */
static int prepare(insertion *s, record *r, tile *const *tiles)
{
    const task_kind *k = r->kind;
    for (int a = 0; a < k->n; a++) {
        argument *arg = &r->arg[a];
        arg->tile = tiles[a];
        /* What is in memory is changed there, or written, before anybody reads it. */
        arg->home = (k->access[a] & DAG_TILE_WRITE) && is_in_memory(s, tiles[a]);
        if (k->access[a] & DAG_TILE_READ) {
            insertion_touch(tiles[a], r->id + a);
            if (!arg->home && insertion_fetch(s, tiles[a]) != 0)
                return 1;
        }
        if (!(k->access[a] & DAG_TILE_WRITE))
            continue;
        arg->out = version_new(s, r->id + a, s->rank);
        if (!arg->out)
            return 1;
        arg->out->awaited = 1; /* the task makes it */
        arg->out->region = k->region[a];
        arg->out->refs++;      /* the tile's and the producer's */
        if (arg->home)
            set_first(s, tiles[a], arg->out);
    }
    return 0;
}

/* It is entered with the versions that it reads, and leaves its own. Returns how many kept values these
 * replace: `old`, to be released. */
static int link_in(insertion *s, record *r, dag_value **old, bool *ready)
{
    int nold = 0, missing = 0;
    hold(s);
    for (int a = 0; a < r->nargs; a++) {
        const argument *arg = &r->arg[a];
        if ((r->kind->access[a] & DAG_TILE_READ) && !arg->home)
            missing += insertion_read(r, arg->tile->now, a, arg->out && !arg->tile->now->shared);
    }
    for (int a = 0; a < r->nargs; a++) {
        tile *t = r->arg[a].tile;
        if (!r->arg[a].out)
            continue;
        if (t->now && t->now->shared) {
            t->now->shared--;
            version_drop(s, t->now);
        } else if (t->now) {
            old[nold] = version_supersede(t->now);
            nold += old[nold] != NULL;
            version_drop(s, t->now);
        }
        replace(t, r->id + a, s->rank, r->arg[a].out);
    }
    *ready = insertion_ready(s, r, missing);
    let_go(s);
    return nold;
}

dag_status insertion_here(insertion *s, const task_kind *k, const void *args, size_t size, tile *const *tiles,
                          int64_t id)
{
    struct dagi_worker *w = dagi_tasks(s->pool->ctx)->workers[0];
    dag_value *old[DAG_INSERT_MOST];
    bool ready;
    record *r = insertion_record(s, id, k->n, args, size);
    if (!r)
        return DAG_ERR_NOMEM;
    r->kind = k;
    if (s->alone) { /* tasks run now, not between what follows, where versions are looked up and then entered */
        s->settles = 1;
        dagi_open_admit(s->pool);
        s->settles = 0;
    }
    r->priority = k->kernel->priority ? k->kernel->priority(r->args) : 0;
    if (prepare(s, r, tiles) != 0)
        return DAG_ERR_NOMEM;
    insertion_task(s, k->cls, r);
    struct dag_task *t = r->task;
    for (int n = link_in(s, r, old, &ready); n > 0; n--)
        dagi_value_release(w, old[n - 1]);
    if (ready && t)
        dagi_open_put(s->pool, t);
    return DAG_SUCCESS;
}

/* What it reads may be made here; what it writes is not, from now on. */
dag_status insertion_there(insertion *s, const task_kind *k, tile *const *tiles, int rank, int64_t id)
{
    for (int a = 0; a < k->n; a++) {
        tile *t = tiles[a];
        if (k->access[a] & DAG_TILE_READ) {
            insertion_touch(t, id + a);
            if (DAGI_UNLIKELY(t->rank == s->rank) && insertion_send(s, t, rank, id / OUTPUTS) != 0)
                return DAG_ERR_NOMEM;
        }
        if (k->access[a] & DAG_TILE_WRITE) {
            if (t->now)
                version_let_go(s, t->now);
            replace(t, id + a, rank, NULL);
        }
    }
    return DAG_SUCCESS;
}

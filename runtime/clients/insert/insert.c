/* A program becomes versions and tasks: what a task that is inserted enters, and leaves. */
#include "enter.h"

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

/* Mostly a number or two. */
static inline void copy_args(void *to, const void *args, size_t size)
{
    char *at = to;
    const char *from = args;
    if (size > 2 * sizeof(int64_t)) {
        memcpy(to, args, size);
    } else if (size >= sizeof(int64_t)) {
        memcpy(at, from, sizeof(int64_t));
        memcpy(at + size - sizeof(int64_t), from + size - sizeof(int64_t), sizeof(int64_t));
    } else if (size == sizeof(int32_t)) {
        memcpy(at, from, sizeof(int32_t));
    } else {
        for (size_t i = 0; i < size; i++)
            at[i] = from[i];
    }
}

/* Its arguments are still to be set. */
static inline record *record_new(insertion *s, int64_t id, int nargs, const void *args, size_t size)
{
    _Static_assert(sizeof(record) + DAG_INSERT_TILES * sizeof(argument) + DAG_INSERT_ARGS <=
                       (size_t)GRAIN * GRAINS,
                   "the stock has all records");
    size_t bytes = sizeof(record) + (size_t)nargs * sizeof(argument) + size;
    record *r = stock_take(s, bytes);
    if (!r)
        return no_memory(s);
    *r = (record){.id = id, .nargs = nargs, .bytes = (uint32_t)bytes, .args = &r->arg[nargs]};
    copy_args(&r->arg[nargs], args, size);
    return r;
}

record *insertion_record(insertion *s, int64_t id, int nargs, const void *args, size_t size)
{
    record *r = record_new(s, id, nargs, args, size);
    for (int a = 0; r && a < nargs; a++)
        r->arg[a] = (argument){.record = r, .flow = (uint8_t)a};
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

/* The number of the line that inserts. */
static inline int32_t insertion_site(insertion *s)
{
    const char *file = s->site.file;
    int line = s->site.line, at = (unsigned)line % SITES;
    if (DAGI_UNLIKELY(s->sites[at].file != file || s->sites[at].line != line)) {
        s->sites[at].file = file;
        s->sites[at].line = line;
        s->sites[at].number = file ? dagi_given_site(file, line) : 0;
    }
    return s->sites[at].number;
}

/* A task for the record: none where the pool has failed for good. */
static inline void make_task(insertion *s, struct dagi_worker *w, int cls, record *r, int32_t line)
{
    int32_t params[DAGI_GIVEN_PARAMS];
    put_params(params, r->id, r, line);
    r->task = dagi_door_make(w, s->pool, &s->of->classes[cls], params);
}

/* Room, and that. */
void insertion_task(insertion *s, int cls, record *r)
{
    dagi_open_admit(s->pool);
    make_task(s, dagi_tasks(s->pool->ctx)->workers[0], cls, r, 0);
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

void insertion_touch(tile *t, int64_t id)
{
    tile_touch(t, id);
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

/* What the task makes of a tile: nobody knows it yet. It is the tile's and the producer's. NULL = no memory. */
static inline version *made_by(insertion *s, const record *r, int a, bool home)
{
    version *v = stock_take(s, sizeof *v);
    if (!v)
        return no_memory(s);
    *v = (version){.id = r->id + a, .rank = s->rank, .refs = home ? 3 : 2, .awaited = 1,
                   .region = r->kind->region[a]};
    return v;
}

/* The tiles of a task that runs here; what it reads is on its way. Nonzero = no memory. */
static inline int prepare(insertion *s, record *r, tile *const *tiles)
{
    const task_kind *k = r->kind;
    for (int a = 0; a < r->nargs; a++) {
        tile *t = tiles[a];
        version *out = NULL;
        /* What is in memory is changed there, or written, before anybody reads it. */
        bool home = (k->access[a] & DAG_TILE_WRITE) && is_in_memory(s, t);
        if (k->access[a] & DAG_TILE_READ) {
            tile_touch(t, r->id + a);
            if (!home && insertion_fetch(s, t) != 0)
                return 1;
        }
        if (k->access[a] & DAG_TILE_WRITE) {
            out = made_by(s, r, a, home);
            if (!out)
                return 1;
            if (home)
                t->first = out; /* once it is here what is in memory has been read */
        }
        r->binds |= out && (home || !(k->access[a] & DAG_TILE_READ));
        r->arg[a] = (argument){.record = r, .tile = t, .out = out, .flow = (uint8_t)a, .home = home};
    }
    return 0;
}

/* It is entered with the versions that it reads, and leaves its own. Returns how many kept values these
 * replace: `old`, to be released. A tile that it writes is not another of its tiles. */
static inline int link_in(insertion *s, record *r, dag_value **old, bool *ready)
{
    int nold = 0, missing = 0;
    *ready = true;
    if (r->nargs == 0)
        return 0;
    hold(s);
    for (int a = 0; a < r->nargs; a++) {
        const argument *arg = &r->arg[a];
        tile *t = arg->tile;
        version *now = t->now;
        if ((r->kind->access[a] & DAG_TILE_READ) && !arg->home)
            missing += insertion_read(r, now, a, arg->out && !now->shared);
        if (!arg->out)
            continue;
        if (now && now->shared) {
            now->shared--;
            version_drop(s, now);
        } else if (now) {
            old[nold] = version_supersede(now);
            nold += old[nold] != NULL;
            version_drop(s, now);
        }
        tile_replace(t, r->id + a, s->rank, arg->out);
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
    int64_t given = -1; /* tasks for which there was room */
    if (s->alone) { /* tasks run now, not between what follows, where versions are looked up and then entered */
        s->settles = 1;
        dagi_open_admit(s->pool);
        s->settles = 0;
        given = s->door->given;
    }
    record *r = record_new(s, id, k->n, args, size);
    if (!r)
        return DAG_ERR_NOMEM;
    r->kind = k;
    if (k->kernel->priority)
        r->priority = k->kernel->priority(r->args);
    if (prepare(s, r, tiles) != 0)
        return DAG_ERR_NOMEM;
    if (DAGI_UNLIKELY(s->door->given != given))
        dagi_open_admit(s->pool);
    make_task(s, w, k->cls, r, insertion_site(s));
    struct dag_task *t = r->task;
    for (int n = link_in(s, r, old, &ready); n > 0; n--)
        dagi_value_release(w, old[n - 1]);
    if (ready && t)
        dagi_open_put(s->pool, t);
    return DAG_SUCCESS;
}

dag_status insertion_enter(insertion *s, const task_kind *k, int rank, const void *args, size_t size,
                           tile *const *tiles)
{
    return enter_task(s, k, k->n, false, rank, args, size, tiles);
}

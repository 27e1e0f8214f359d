/* Elements of collections that stay on devices between taskpools, see resident.h. */
#include "resident.h"

#include "../data/table.h"
#include "device_impl.h"

#include <dag/matrix.h>

#include <assert.h>
#include <stdlib.h>

enum { SHARDS = 16 };

/*
 * The value of an element. `parked`: nobody holds it, no transfer from or to the host's memory was
 * under way then, and no pool uses it; only an eviction may touch it. It goes from parked to held
 * and back under the lock of its shard; v.pool is written under the record's lock as well, since
 * evictions read it. While it is not parked and its references are 0 whoever let go of the last
 * one is about to park it.
 */
typedef struct dagi_resident {
    dagi_value value; /* first; `waiting` of one that is not TRACKED: stores, first one first */
    struct dagi_resident *next; /* bucket */
    struct dagi_residence *home;
    int parked;
} dagi_resident;

struct shard {
    pthread_mutex_t lock; /* guards the rest */
    dagi_resident **bucket;
    size_t nbuckets, count; /* nbuckets: 0 or a power of two */
};

/* Made and freed by the application thread, while no pool names the collection. */
struct dagi_residence {
    dag_collection *collection;
    struct dagi_devices *all;
    struct dagi_residence *next; /* of all->residences */
    const char *from; /* its memory; NULL = not known */
    size_t bytes;
    int depth;         /* of begin without end */
    uint64_t deferred; /* bit d: that at depth d defers */
    int64_t bearable;  /* so many of `settling` need not be waited for now */
    _Atomic int failed;
    _Atomic int64_t settling; /* values that managers have, for no pool */
    struct shard shard[SHARDS];
};

/* ---- elements ------------------------------------------------------------------------------- */

static uint64_t hash_of(const void *ptr)
{
    uint64_t h = (uint64_t)(uintptr_t)ptr * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

static struct shard *shard_of(struct dagi_residence *home, const void *ptr)
{
    return &home->shard[hash_of(ptr) % SHARDS];
}

static dagi_resident **bucket_of(const struct shard *s, const void *ptr)
{
    return &s->bucket[hash_of(ptr) / SHARDS & (s->nbuckets - 1)];
}

static dagi_resident *find(const struct shard *s, const void *ptr)
{
    dagi_resident *r = s->nbuckets > 0 ? *bucket_of(s, ptr) : NULL;
    while (r && r->value.v.ptr != ptr)
        r = r->next;
    return r;
}

static int grow(struct shard *s)
{
    if (s->count < s->nbuckets)
        return 0;
    struct shard bigger = {.nbuckets = s->nbuckets > 0 ? 2 * s->nbuckets : 16};
    bigger.bucket = calloc(bigger.nbuckets, sizeof *bigger.bucket);
    if (!bigger.bucket)
        return s->nbuckets == 0;
    for (size_t i = 0; i < s->nbuckets; i++) {
        for (dagi_resident *r = s->bucket[i], *next; r; r = next) {
            dagi_resident **b = bucket_of(&bigger, r->value.v.ptr);
            next = r->next;
            r->next = *b;
            *b = r;
        }
    }
    free(s->bucket);
    s->bucket = bigger.bucket;
    s->nbuckets = bigger.nbuckets;
    return 0;
}

/* A parked value over the element, in the table; NULL = out of memory. */
static dagi_resident *enter(struct dagi_residence *home, struct shard *s, const dag_element *e)
{
    if (grow(s) != 0)
        return NULL;
    dagi_resident *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->value.v = (dag_value){e->ptr, e->ld, e->shape.m, e->shape.n, e->shape.elem};
    r->home = home;
    r->parked = 1;
    dagi_resident **b = bucket_of(s, e->ptr);
    r->next = *b;
    *b = r;
    s->count++;
    return r;
}

static dagi_copies *copies_of(dagi_resident *r)
{
    return dagi_copies_get(&r->value.v);
}

static void set_pool(dagi_resident *r, dag_taskpool *pool)
{
    dagi_copies *c = copies_of(r);
    if (c)
        dagi_lock(&c->lock);
    r->value.pool = pool;
    if (c)
        dagi_unlock(&c->lock);
}

/* Somebody holds it from now on. */
static void revive(dagi_resident *r, dag_taskpool *pool, uint32_t flags)
{
    assert(r->parked);
    atomic_store_explicit(&r->value.flags, flags | DAGI_VALUE_HOME | DAGI_VALUE_RESIDENT,
                          memory_order_relaxed);
    set_pool(r, pool);
    r->parked = 0;
    atomic_store_explicit(&r->value.refs, 1, memory_order_relaxed);
}

static void park(dagi_resident *r)
{
    set_pool(r, NULL);
    r->parked = 1;
}

/* Where the host's content of a value stands. */
typedef struct standing {
    dagi_device *busy;   /* with a transfer from or to the host; NULL = none */
    dagi_device *source; /* the host has not got it, this device has; NULL = the host has */
} standing;

static standing look(dagi_resident *r)
{
    const struct dagi_devices *all = r->home->all;
    dagi_copies *c = copies_of(r);
    standing s = {NULL, NULL};
    if (!c)
        return s;
    dagi_lock(&c->lock);
    dagi_ticket busy = dagi_copies_host_busy(c);
    int source = dagi_transfer_source(all, c, DAGI_HOST);
    dagi_unlock(&c->lock);
    if (busy.queue)
        s.busy = ((dagi_lane *)(void *)busy.queue)->device;
    if (source > 0)
        s.source = dagi_device_at(all, source);
    return s;
}

/* A manager releases it once more when it is quiet, and its content on the host if it shall be
 * saved. The shard is locked. */
static void give(dagi_resident *r, dagi_device *d, int save)
{
    dagi_copies *c = copies_of(r);
    if (r->value.pool)
        dagi_pool_hold(r->value.pool);
    else
        atomic_fetch_add(&r->home->settling, 1);
    atomic_store_explicit(&r->value.refs, 1, memory_order_relaxed);
    c->value = &r->value;
    c->save = (uint8_t)save;
    dagi_device_push_dying(d, c);
}

/* Whether the value is of this element, or can be. If not the pool fails: others hold the value, or its
 * copies are of what lay there. */
static int fits(dagi_resident *r, const dag_element *e, dag_taskpool *pool,
                const dag_collection *c)
{
    dag_value *v = &r->value.v;
    if (v->ld == e->ld && v->m == e->shape.m && v->n == e->shape.n && v->elem == e->shape.elem)
        return 1;
    if (r->parked && !copies_of(r)) {
        *v = (dag_value){e->ptr, e->ld, e->shape.m, e->shape.n, e->shape.elem};
        return 1;
    }
    dagi_pool_fail(pool, DAG_ERR_STATE, "%s: two elements of \"%s\" of different shapes have one "
                   "address, while it is resident on devices: if the shape has changed call "
                   "dag_resident_drop() first", pool->program->file, c->name);
    return 0;
}

static int is_lost(const dagi_device *d)
{
    return atomic_load(&d->lost);
}

/* ---- what tasks do -------------------------------------------------------------------------- */

dag_value *dagi_resident_bind(struct dagi_worker *w, dag_taskpool *pool, dag_collection *c,
                              const dag_element *e, uint32_t flags)
{
    struct dagi_residence *home = c->residence;
    struct shard *s = shard_of(home, e->ptr);
    dag_value *v = NULL;
    (void)w;
    if (atomic_load_explicit(&home->failed, memory_order_relaxed)) {
        dagi_pool_fail(pool, DAG_ERR_DEVICE, "%s: what \"%s\" had on a device was lost: end its "
                       "residence, and make its content again", pool->program->file, c->name);
        return NULL;
    }
    pthread_mutex_lock(&s->lock);
    dagi_resident *r = find(s, e->ptr);
    if (!r)
        r = enter(home, s, e);
    if (r && !fits(r, e, pool, c)) {
        r = NULL;
    } else if (r && pool->program->aliased && copies_of(r)) {
        dagi_pool_fail(pool, DAG_ERR_STATE, "%s uses the memory of \"%s\" directly, while its "
                       "elements are on devices: call dag_resident_drop() first",
                       pool->program->file, c->name);
    } else if (r && !r->parked) {
        atomic_fetch_add_explicit(&r->value.refs, 1, memory_order_relaxed);
        v = &r->value.v;
    } else if (r) {
        revive(r, pool, flags);
        if (!(flags & DAGI_VALUE_TRACKED) || dagi_table_enter(pool->data, &r->value) == 0) {
            v = &r->value.v;
        } else {
            atomic_store_explicit(&r->value.refs, 0, memory_order_relaxed);
            park(r);
        }
    }
    pthread_mutex_unlock(&s->lock);
    return v;
}

/* The stores that waited for a value that nobody holds, applied; the list, for the caller to free. */
static dagi_pending_store *apply_waiting(dagi_resident *r, int tracked)
{
    dagi_value *v = &r->value;
    if (copies_of(r))
        dagi_copies_written(r->home->all, &v->v, DAGI_HOST, (dagi_ticket){NULL, 0});
    if (tracked)
        return dagi_table_leave(v->pool->data, v);
    dagi_pending_store *list = v->waiting;
    v->waiting = NULL;
    for (const dagi_pending_store *p = list; p; p = p->next)
        dagi_pending_apply(p);
    return list;
}

/* Park it, or give it to a manager; the shard is locked. */
static dagi_pending_store *settle(dagi_resident *r)
{
    dagi_value *v = &r->value;
    dagi_pending_store *done = NULL;
    standing at = look(r);
    if (at.busy) {
        give(r, at.busy, 0);
        return NULL;
    }
    int tracked =
        (atomic_load_explicit(&v->flags, memory_order_relaxed) & DAGI_VALUE_TRACKED) != 0;
    if (!(tracked ? dagi_table_leave_idle(v->pool->data, v) : v->waiting == NULL)) {
        /* A store may cover a part only: the rest has to be there. */
        if (at.source && is_lost(at.source))
            dagi_pool_fail(v->pool, DAG_ERR_DEVICE, "%s: an element of \"%s\" was lost with "
                           "device %d (%s)", v->pool->program->file, r->home->collection->name,
                           at.source->index, at.source->info.name);
        if (at.source && !dagi_pool_is_poisoned(v->pool)) {
            give(r, at.source, 1);
            return NULL;
        }
        done = apply_waiting(r, tracked);
    }
    park(r);
    return done;
}

void dagi_resident_rest(struct dagi_worker *w, dag_value *value)
{
    dagi_resident *r = (dagi_resident *)(void *)value;
    struct shard *s = shard_of(r->home, value->ptr);
    dagi_pending_store *done = NULL;
    pthread_mutex_lock(&s->lock);
    /* Somebody may have bound it in between, and let go of it. */
    if (!r->parked && atomic_load_explicit(&r->value.refs, memory_order_acquire) == 0)
        done = settle(r);
    pthread_mutex_unlock(&s->lock);
    while (done) {
        dagi_pending_store *p = done;
        done = p->next;
        dagi_value_release(w, p->value);
        dagi_pending_free(p);
    }
}

/* Keep a store until the element's content is on the host; the shard is locked. */
static int store_later(dag_taskpool *pool, dagi_resident *r, standing at, const dag_element *e,
                       dag_value *value, dag_region region)
{
    dagi_pending_store *p = dagi_pending_new(value, e, region), **end = &r->value.waiting;
    if (!p)
        return 1;
    while (*end)
        end = &(*end)->next;
    *end = p;
    if (r->parked) {
        revive(r, pool, 0);
        give(r, at.busy ? at.busy : at.source, !at.busy);
    }
    return 0;
}

int dagi_resident_store(dag_taskpool *pool, dag_collection *c, const dag_element *e,
                        dag_value *value, dag_region region)
{
    struct dagi_residence *home = c->residence;
    struct shard *s = shard_of(home, e->ptr);
    int failed = 0;
    pthread_mutex_lock(&s->lock);
    dagi_resident *r = find(s, e->ptr);
    standing at = r ? look(r) : (standing){NULL, NULL};
    if (r && !fits(r, e, pool, c)) {
        failed = 0; /* it has been told */
    } else if (at.source && !at.busy && is_lost(at.source)) {
        dagi_residence_fail(home);
        dagi_pool_fail(pool, DAG_ERR_DEVICE, "%s: an element of \"%s\" was lost with device %d "
                       "(%s)", pool->program->file, c->name, at.source->index,
                       at.source->info.name);
    } else if (r && (!r->parked || at.busy || at.source)) {
        failed = store_later(pool, r, at, e, value, region);
    } else {
        if (r && copies_of(r))
            dagi_copies_written(home->all, &r->value.v, DAGI_HOST, (dagi_ticket){NULL, 0});
        dagi_store_now(e, value, region);
    }
    pthread_mutex_unlock(&s->lock);
    return failed;
}

int dagi_residence_is_of(const struct dagi_residence *home, const dag_collection *c)
{
    return home->collection == c;
}

int dagi_resident_stays(const dag_collection *c)
{
    return dagi_is_resident(c) && c->residence->deferred != 0;
}

/* ---- for the manager ------------------------------------------------------------------------ */

void dagi_residence_fail(struct dagi_residence *home)
{
    atomic_store(&home->failed, 1);
}

struct dagi_residence *dagi_residence_parked(const dag_value *v)
{
    const dagi_resident *r = (const dagi_resident *)(const void *)v;
    uint32_t flags = atomic_load_explicit(&r->value.flags, memory_order_relaxed);
    return (flags & DAGI_VALUE_RESIDENT) && !r->value.pool ? r->home : NULL;
}

void dagi_residence_settled(struct dagi_residence *home)
{
    dag_context *ctx = home->all->ctx;
    atomic_fetch_sub(&home->settling, 1); /* the last access: it may be freed now */
    dagi_wake_application(ctx);
}

/* ---- at home -------------------------------------------------------------------------------- */

static int is_named(dag_context *ctx, const dag_collection *c)
{
    pthread_mutex_lock(&ctx->pools_lock);
    int named = c->last_pool != NULL;
    pthread_mutex_unlock(&ctx->pools_lock);
    return named;
}

static int no_pool(void *arg)
{
    const struct dagi_residence *home = arg;
    return !is_named(home->all->ctx, home->collection);
}

static int has_settled(void *arg)
{
    const struct dagi_residence *home = arg;
    return atomic_load(&home->settling) <= home->bearable;
}

static void wait_settled(struct dagi_residence *home, int64_t bearable)
{
    home->bearable = bearable;
    if (!has_settled(home))
        dagi_run_until(home->all->ctx->workers[0], has_settled, home);
}

/* Give values to managers, MOST at a time: those with a transfer under way, and with `content` those
 * that the host has not got. 1: there may be more. *given: set if there was one. */
static int begin_settling(struct dagi_residence *home, struct shard *s, int content, int *given)
{
    enum { MOST = 128 };
    int more = 0;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->nbuckets && !more; i++) {
        for (dagi_resident *r = s->bucket[i]; r && !more; r = r->next) {
            standing at = look(r);
            dagi_device *d = at.busy ? at.busy : content ? at.source : NULL;
            if (!r->parked || !d)
                continue;
            if (!at.busy && is_lost(d)) {
                dagi_residence_fail(home);
                continue;
            }
            revive(r, NULL, 0);
            give(r, d, content && !at.busy);
            *given = 1;
            more = atomic_load(&home->settling) >= MOST;
        }
    }
    pthread_mutex_unlock(&s->lock);
    return more;
}

/* All that is parked is quiet, and with `content` on the host. */
static void bring_home(struct dagi_residence *home, int content)
{
    enum { FEW = 64 };
    int given;
    dagi_run_until(home->all->ctx->workers[0], no_pool, home);
    /* Looked at again: the device that was asked may have evicted its copy, leaving it to another. */
    do {
        given = 0;
        for (int i = 0; i < SHARDS; i++) {
            while (begin_settling(home, &home->shard[i], content, &given))
                wait_settled(home, FEW);
        }
        wait_settled(home, 0);
    } while (given && !atomic_load(&home->failed));
}

static dag_status verdict(struct dagi_residence *home)
{
    if (!atomic_load(&home->failed))
        return DAG_SUCCESS;
    return dag_error(home->all->ctx, DAG_ERR_DEVICE, "what \"%s\" had on a device was lost, and its "
                     "content is not known any more", home->collection->name);
}

/* Give up the copies of all values that are quiet, and the values; the number of those that are
 * not. What they hold is on the host, or is not wanted. */
static int64_t empty(struct dagi_residence *home, struct shard *s)
{
    int64_t left = 0;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->nbuckets; i++) {
        dagi_resident **link = &s->bucket[i];
        while (*link) {
            dagi_resident *r = *link;
            if (!r->parked || (copies_of(r) && dagi_copies_drop(home->all, &r->value.v).queue)) {
                link = &r->next;
                left++;
                continue;
            }
            *link = r->next;
            s->count--;
            free(r);
        }
    }
    pthread_mutex_unlock(&s->lock);
    return left;
}

/* Everything is on the host, with `content`, and nothing on devices. */
static dag_status drop(struct dagi_residence *home, int content)
{
    bring_home(home, content);
    dag_status status = verdict(home);
    int64_t left;
    do {
        left = 0;
        for (int i = 0; i < SHARDS; i++)
            left += empty(home, &home->shard[i]);
        if (left > 0) /* an eviction was faster */
            bring_home(home, 0);
    } while (left > 0);
    atomic_store(&home->failed, 0);
    return status;
}

static void dissolve(struct dagi_residence *home)
{
    struct dagi_residence **link = &home->all->residences;
    while (*link != home)
        link = &(*link)->next;
    *link = home->next;
    home->collection->residence = NULL;
    for (int i = 0; i < SHARDS; i++) {
        pthread_mutex_destroy(&home->shard[i].lock);
        free(home->shard[i].bucket);
    }
    free(home);
}

/* ---- the interface -------------------------------------------------------------------------- */

enum { DEEPEST = 63 };

static dag_status check(dag_context *ctx, const char *call, const dag_collection *c)
{
    if (!ctx || !c)
        return dag_error(ctx, DAG_ERR_ARG, "%s: context and collection must not be NULL", call);
    if (dagi_worker_self(ctx))
        return dag_error(ctx, DAG_ERR_STATE, "%s: called from a body", call);
    return DAG_SUCCESS;
}

static struct dagi_residence *found(dag_context *ctx, dag_collection *c)
{
    struct dagi_residence *home = calloc(1, sizeof *home);
    if (!home)
        return NULL;
    home->collection = c;
    home->all = ctx->devices;
    dagi_matrix_memory(c, &home->from, &home->bytes);
    for (int i = 0; i < SHARDS; i++)
        pthread_mutex_init(&home->shard[i].lock, NULL);
    home->next = home->all->residences;
    home->all->residences = home;
    c->residence = home;
    return home;
}

dag_status dag_resident_begin(dag_context *ctx, dag_collection *c, dag_residence how)
{
    dag_status status = check(ctx, "dag_resident_begin", c);
    if (status != DAG_SUCCESS || !ctx->devices)
        return status;
    if (how != DAG_RESIDENT_SAVED && how != DAG_RESIDENT_DEFERRED)
        return dag_error(ctx, DAG_ERR_ARG, "dag_resident_begin: unknown way %d", (int)how);
    if (is_named(ctx, c))
        return dag_error(ctx, DAG_ERR_STATE, "dag_resident_begin: a taskpool that names \"%s\" has "
                         "not ended", c->name);
    struct dagi_residence *home = dagi_is_resident(c) ? c->residence : found(ctx, c);
    if (!home)
        return dag_error(ctx, DAG_ERR_NOMEM, "dag_resident_begin: out of memory");
    if (home->depth == DEEPEST)
        return dag_error(ctx, DAG_ERR_STATE, "dag_resident_begin: more than %d times for \"%s\"",
                         DEEPEST, c->name);
    home->deferred |= (uint64_t)(how == DAG_RESIDENT_DEFERRED) << home->depth++;
    return DAG_SUCCESS;
}

dag_status dag_resident_home(dag_context *ctx, dag_collection *c)
{
    dag_status status = check(ctx, "dag_resident_home", c);
    if (status != DAG_SUCCESS || !dagi_is_resident(c))
        return status;
    bring_home(c->residence, 1);
    return verdict(c->residence);
}

dag_status dag_resident_drop(dag_context *ctx, dag_collection *c)
{
    dag_status status = check(ctx, "dag_resident_drop", c);
    return status == DAG_SUCCESS && dagi_is_resident(c) ? drop(c->residence, 1) : status;
}

dag_status dag_resident_end(dag_context *ctx, dag_collection *c)
{
    dag_status status = check(ctx, "dag_resident_end", c);
    if (status != DAG_SUCCESS || !ctx->devices)
        return status;
    if (!dagi_is_resident(c))
        return dag_error(ctx, DAG_ERR_STATE, "dag_resident_end: \"%s\" is not resident", c->name);
    struct dagi_residence *home = c->residence;
    dagi_run_until(ctx->workers[0], no_pool, home); /* tasks look at `deferred` */
    int stayed = home->deferred != 0;
    home->deferred &= ~(UINT64_C(1) << --home->depth);
    if (home->depth == 0) {
        status = drop(home, 1);
        dissolve(home);
    } else if (stayed && !home->deferred) {
        bring_home(home, 1);
        status = verdict(home);
    }
    return status;
}

static int is_in(const dag_taskpool *pool, const dag_collection *c)
{
    int slot = 0;
    while (slot < pool->program->nslots && pool->collections[slot] != c)
        slot++;
    return slot < pool->program->nslots;
}

const char *dagi_resident_conflict(const dag_taskpool *pool, const dag_matrix *matrix)
{
    dag_context *ctx = pool->ctx;
    const char *from = matrix->base;
    size_t bytes = dagi_matrix_reach(matrix);
    for (struct dagi_residence *home = ctx->devices->residences; home; home = home->next) {
        size_t count = 0;
        if (home->collection == &matrix->super || !home->from || !from ||
            from >= home->from + home->bytes || home->from >= from + bytes)
            continue;
        for (int i = 0; i < SHARDS; i++) {
            pthread_mutex_lock(&home->shard[i].lock);
            count += home->shard[i].count;
            pthread_mutex_unlock(&home->shard[i].lock);
        }
        if (count > 0 || is_named(ctx, home->collection) || is_in(pool, home->collection))
            return home->collection->name;
    }
    return NULL;
}

void dagi_residence_leave(dag_collection *c, int content)
{
    if (!dagi_is_resident(c))
        return;
    struct dagi_residence *home = c->residence;
    if (drop(home, content) != DAG_SUCCESS)
        dagi_warn(home->all->ctx, "%s", dag_message(home->all->ctx));
    dissolve(home);
}

void dagi_residences_close(dag_context *ctx)
{
    while (ctx->devices && ctx->devices->residences)
        dagi_residence_leave(ctx->devices->residences->collection, 1);
}

/* Elements of collections that stay on devices between taskpools, see resident.h. */
#include "resident_impl.h"

#include "../data/table.h"

#include <assert.h>
#include <stdlib.h>

/* ---- elements ------------------------------------------------------------------------------- */

static struct dagi_resident_shard *shard_of(struct dagi_residence *residence, const void *ptr)
{
    return &residence->shard[dagi_hash_of(ptr) % DAGI_RESIDENT_SHARDS];
}

static dagi_resident **bucket_of(const struct dagi_resident_shard *s, const void *ptr)
{
    return &s->bucket[dagi_hash_of(ptr) / DAGI_RESIDENT_SHARDS & (s->nbuckets - 1)];
}

static dagi_resident *find(const struct dagi_resident_shard *s, const void *ptr)
{
    dagi_resident *r = s->nbuckets > 0 ? *bucket_of(s, ptr) : NULL;
    while (r && r->value.v.ptr != ptr)
        r = r->next;
    return r;
}

static int grow(struct dagi_resident_shard *s)
{
    if (s->count < s->nbuckets)
        return 0;
    struct dagi_resident_shard bigger = {.nbuckets = s->nbuckets > 0 ? 2 * s->nbuckets : 16};
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
static dagi_resident *enter(struct dagi_residence *residence, struct dagi_resident_shard *s,
                            const dag_element *e)
{
    if (grow(s) != 0)
        return NULL;
    dagi_resident *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->value.v = (dag_value){e->ptr, e->ld, e->shape.m, e->shape.n, e->shape.elem};
    r->residence = residence;
    r->parked = 1;
    dagi_resident **b = bucket_of(s, e->ptr);
    r->next = *b;
    *b = r;
    s->count++;
    return r;
}

static void set_pool(dagi_resident *r, dag_taskpool *pool)
{
    dagi_copies *c = dagi_resident_copies(r);
    if (c)
        dagi_lock(&c->lock);
    r->value.pool = pool;
    if (c)
        dagi_unlock(&c->lock);
}

void dagi_resident_revive(dagi_resident *r, dag_taskpool *pool, uint32_t flags)
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

dagi_standing dagi_resident_look(dagi_resident *r)
{
    const struct dagi_devices *all = r->residence->all;
    dagi_copies *c = dagi_resident_copies(r);
    dagi_standing s = {NULL, NULL};
    if (!c)
        return s;
    dagi_lock(&c->lock);
    dagi_ticket busy = dagi_copies_host_busy(c);
    int source = dagi_transfer_source(all, c, DAGI_HOST, NULL);
    dagi_unlock(&c->lock);
    if (busy.queue)
        s.busy = ((dagi_lane *)(void *)busy.queue)->device;
    if (source > 0)
        s.source = dagi_device_at(all, source);
    return s;
}

void dagi_resident_give(dagi_resident *r, dagi_device *d, int save)
{
    dagi_copies *c = dagi_resident_copies(r);
    if (r->value.pool)
        dagi_pool_hold(r->value.pool);
    else
        atomic_fetch_add(&r->residence->settling, 1);
    atomic_store_explicit(&r->value.refs, 1, memory_order_relaxed);
    c->value = &r->value;
    c->save = (uint8_t)save;
    dagi_device_push_dying(d, c);
}

/* Whether the value is of this element, or can be. If not the pool fails: others hold the value, or its
 * copies are of what lay there. */
static int fits(dagi_resident *r, const dag_element *e, dag_taskpool *pool)
{
    dag_value *v = &r->value.v;
    if (v->ld == e->ld && v->m == e->shape.m && v->n == e->shape.n && v->elem == e->shape.elem)
        return 1;
    if (r->parked && !dagi_resident_copies(r)) {
        *v = (dag_value){e->ptr, e->ld, e->shape.m, e->shape.n, e->shape.elem};
        return 1;
    }
    dagi_pool_fail(pool, DAG_ERR_STATE,
                   "%s: two elements of \"%s\" of different shapes have one "
                   "address, while it is resident on devices: if the shape has changed call "
                   "dag_resident_drop() first",
                   pool->program->file, r->residence->name);
    return 0;
}

/* ---- what tasks do -------------------------------------------------------------------------- */

dag_value *dagi_resident_bind(dag_taskpool *pool, struct dagi_residence *residence,
                              const dag_element *e, uint32_t flags)
{
    struct dagi_resident_shard *s = shard_of(residence, e->ptr);
    dag_value *v = NULL;
    if (atomic_load_explicit(&residence->failed, memory_order_relaxed)) {
        dagi_pool_fail(pool, DAG_ERR_DEVICE,
                       "%s: what \"%s\" had on a device was lost: end its "
                       "residence, and make its content again",
                       pool->program->file, residence->name);
        return NULL;
    }
    pthread_mutex_lock(&s->lock);
    dagi_resident *r = find(s, e->ptr);
    if (!r)
        r = enter(residence, s, e);
    if (r && !fits(r, e, pool)) {
        r = NULL;
    } else if (r && pool->program->aliased && dagi_resident_copies(r)) {
        dagi_pool_fail(pool, DAG_ERR_STATE,
                       "%s uses the memory of \"%s\" directly, while its "
                       "elements are on devices: call dag_resident_drop() first",
                       pool->program->file, residence->name);
    } else if (r && !r->parked) {
        atomic_fetch_add_explicit(&r->value.refs, 1, memory_order_relaxed);
        v = &r->value.v;
    } else if (r) {
        dagi_resident_revive(r, pool, flags);
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

/* The stores that waited for a value that nobody holds, applied, where the host has its only valid copy;
 * the list, for the caller to free. */
static dagi_put_off *apply_waiting(dagi_resident *r, int tracked)
{
    dagi_value *v = &r->value;
    if (tracked)
        return dagi_table_leave(v->pool->data, v);
    dagi_put_off *list = v->waiting;
    v->waiting = NULL;
    for (const dagi_put_off *p = list; p; p = p->next)
        dagi_put_off_apply(p);
    return list;
}

/* What a device has of it is brought to the host, since a store that waits leaves a part as it is. 0: none
 * does, or the pool has failed. */
static int bring_rest(dagi_resident *r, dagi_device *source, int tracked)
{
    dagi_value *v = &r->value;
    if (tracked ? dagi_table_covered(v->pool->data, v) : dagi_put_off_covers(v->waiting, &v->v))
        return 0;
    if (dagi_device_is_lost(source))
        dagi_pool_fail(
            v->pool, DAG_ERR_DEVICE, "%s: an element of \"%s\" was lost with device %d (%s)",
            v->pool->program->file, r->residence->name, source->index, source->info.name);
    if (dagi_pool_is_poisoned(v->pool))
        return 0;
    dagi_resident_give(r, source, 1);
    return 1;
}

/* Park it, or give it to a manager; the shard is locked. */
static dagi_put_off *settle(dagi_resident *r)
{
    dagi_value *v = &r->value;
    dagi_put_off *done = NULL;
    int tracked =
        (atomic_load_explicit(&v->flags, memory_order_relaxed) & DAGI_VALUE_TRACKED) != 0;
    for (;;) {
        dagi_standing at = dagi_resident_look(r);
        if (at.busy) {
            dagi_resident_give(r, at.busy, 0);
            return NULL;
        }
        if (tracked ? dagi_table_leave_idle(v->pool->data, v) : v->waiting == NULL)
            break;
        if (at.source && bring_rest(r, at.source, tracked))
            return NULL;
        if (!dagi_resident_copies(r) || dagi_copies_overwrite(r->residence->all, &v->v)) {
            done = apply_waiting(r, tracked);
            break;
        } /* else an eviction has just begun */
    }
    park(r);
    return done;
}

void dagi_resident_rest(struct dagi_worker *w, dag_value *value)
{
    dagi_resident *r = (dagi_resident *)(void *)value;
    struct dagi_resident_shard *s = shard_of(r->residence, value->ptr);
    dagi_put_off *done = NULL;
    pthread_mutex_lock(&s->lock);
    /* Somebody may have bound it in between, and let go of it. */
    if (!r->parked && atomic_load_explicit(&r->value.refs, memory_order_acquire) == 0)
        done = settle(r);
    pthread_mutex_unlock(&s->lock);
    while (done) {
        dagi_put_off *p = done;
        done = p->next;
        dagi_value_release(w, p->value);
        dagi_put_off_free(p);
    }
}

/* Keep a store until the element's content is on the host; the shard is locked. */
static int store_later(dag_taskpool *pool, dagi_resident *r, dagi_standing at, const dag_element *e,
                       dag_value *value, dag_region region)
{
    dagi_put_off *p = dagi_put_off_new(value, e, region), **end = &r->value.waiting;
    if (!p)
        return 1;
    while (*end)
        end = &(*end)->next;
    *end = p;
    if (r->parked) {
        dagi_resident_revive(r, pool, 0);
        dagi_resident_give(r, at.busy ? at.busy : at.source, !at.busy);
    }
    return 0;
}

/* Whether a store may be done now: nobody uses the element, and what it leaves alone is on the host, which
 * has the only valid copy then. *at: where the content stands. The shard is locked. */
static int may_store(dagi_resident *r, dag_region region, dagi_standing *at)
{
    for (;;) {
        *at = dagi_resident_look(r);
        if (!r->parked || at->busy || (at->source && region != DAG_REGION_FULL))
            return 0;
        if (!dagi_resident_copies(r) || dagi_copies_overwrite(r->residence->all, &r->value.v))
            return 1; /* else an eviction has just begun */
    }
}

int dagi_resident_store(dag_taskpool *pool, struct dagi_residence *residence, const dag_element *e,
                        dag_value *value, dag_region region)
{
    struct dagi_resident_shard *s = shard_of(residence, e->ptr);
    int failed = 0;
    pthread_mutex_lock(&s->lock);
    dagi_resident *r = find(s, e->ptr);
    dagi_standing at = {NULL, NULL};
    if (r && !fits(r, e, pool)) {
        failed = 0; /* it has been told */
    } else if (!r || may_store(r, region, &at)) {
        dagi_store_now(e, value, region);
    } else if (at.source && !at.busy && dagi_device_is_lost(at.source)) {
        dagi_residence_fail(residence);
        dagi_pool_fail(pool, DAG_ERR_DEVICE,
                       "%s: an element of \"%s\" was lost with device %d "
                       "(%s)",
                       pool->program->file, residence->name, at.source->index,
                       at.source->info.name);
    } else {
        failed = store_later(pool, r, at, e, value, region);
    }
    pthread_mutex_unlock(&s->lock);
    return failed;
}

int dagi_resident_stays(const struct dagi_residence *residence)
{
    return residence && residence->deferred != 0;
}

/* ---- for the manager ------------------------------------------------------------------------ */

void dagi_residence_fail(struct dagi_residence *residence)
{
    atomic_store(&residence->failed, 1);
}

struct dagi_residence *dagi_residence_parked(const dag_value *v)
{
    const dagi_resident *r = (const dagi_resident *)(const void *)v;
    uint32_t flags = atomic_load_explicit(&r->value.flags, memory_order_relaxed);
    return (flags & DAGI_VALUE_RESIDENT) && !r->value.pool ? r->residence : NULL;
}

void dagi_residence_settled(struct dagi_residence *residence)
{
    dag_context *ctx = residence->all->ctx;
    atomic_fetch_sub(&residence->settling, 1); /* the last access: it may be freed now */
    dagi_wake_application(ctx);
}

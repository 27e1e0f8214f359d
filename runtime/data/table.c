/* Per-pool knowledge of collections: slots, the table of fetched elements, waiting stores. */
#include "table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

dagi_pool_data *dagi_pool_data_new(const dag_program *program, int shards)
{
    enum { MOST_SHARDS = 64 };
    size_t count = (size_t)(shards < MOST_SHARDS ? shards : MOST_SHARDS);
    dagi_pool_data *data = calloc(1, sizeof(*data) + count * sizeof(data->shard[0]));
    if (data == NULL)
        return NULL;
    data->program = program;
    data->nshards = count;
    data->slot = calloc(program->nslots > 0 ? (size_t)program->nslots : 1, sizeof(*data->slot));
    if (data->slot == NULL) {
        free(data);
        return NULL;
    }
    for (int i = 0; i < program->nslots; i++)
        data->slot[i].mode = program->slots[i].mode;
    for (uint64_t i = 0; i < data->nshards; i++)
        pthread_mutex_init(&data->shard[i].lock, NULL);
    return data;
}

void dagi_pool_data_free(dagi_pool_data *data)
{
    if (data == NULL)
        return;
    assert(atomic_load(&data->deferred) == NULL); /* applied or forgotten */
    for (uint64_t i = 0; i < data->nshards; i++) {
        pthread_mutex_destroy(&data->shard[i].lock);
        free(data->shard[i].bucket);
    }
    free(data->slot);
    free(data);
}

void dagi_data_bind_slot(dagi_pool_data *data, int slot, dag_collection *collection)
{
    struct dagi_data_slot *mine = &data->slot[slot];
    mine->collection = collection;
    for (int i = 0; i < data->program->nslots; i++) {
        struct dagi_data_slot *other = &data->slot[i];
        if (i == slot || other->collection != collection)
            continue;
        if (mine->mode == DAG_MEM_READ && other->mode == DAG_MEM_READ)
            continue;
        /* dagcc took them for distinct when it proved the modes. */
        mine->mode = DAG_MEM_DEFERRED;
        other->mode = DAG_MEM_DEFERRED;
    }
}

dag_collection *dagi_data_slot(const dagi_pool_data *data, int slot)
{
    return data->slot[slot].collection;
}

void dagi_data_name_matrix(dagi_pool_data *data, int slot, const dag_matrix *matrix)
{
    data->slot[slot].matrix = matrix;
    data->unread = 1;
    for (int i = 0; i < data->program->nslots; i++)
        data->unread &= data->slot[i].matrix != NULL;
}

void dagi_data_unread(dagi_pool_data *data)
{
    data->unread = 1;
}

const dag_matrix *dagi_data_matrix(const dagi_pool_data *data, int slot)
{
    return data->slot[slot].matrix;
}

void dagi_data_name_residence(dagi_pool_data *data, int slot, struct dagi_residence *residence)
{
    data->slot[slot].residence = residence;
}

/* ---- the table -------------------------------------------------------------------------- */

static struct dagi_data_shard *shard_of(dagi_pool_data *data, uint64_t hash)
{
    return &data->shard[hash & (data->nshards - 1)];
}

/* By bits that do not choose the shard. */
static dagi_value **bucket_of(struct dagi_data_shard *s, uint64_t hash)
{
    return &s->bucket[hash >> 6 & (s->nbuckets - 1)];
}

/* Under the lock. Failing to grow is an error only when there is nothing yet. */
static int shard_grow(struct dagi_data_shard *s)
{
    if (s->count < s->nbuckets)
        return 0;
    struct dagi_data_shard bigger = {.nbuckets = s->nbuckets > 0 ? 2 * s->nbuckets : 16};
    bigger.bucket = calloc(bigger.nbuckets, sizeof(dagi_value *));
    if (bigger.bucket == NULL)
        return s->nbuckets == 0;
    for (size_t i = 0; i < s->nbuckets; i++)
        for (dagi_value *v = s->bucket[i], *next; v != NULL; v = next) {
            dagi_value **b = bucket_of(&bigger, dagi_hash_of(v->v.ptr));
            next = v->next;
            v->next = *b;
            *b = v;
        }
    free(s->bucket);
    s->bucket = bigger.bucket;
    s->nbuckets = bigger.nbuckets;
    return 0;
}

/* Under the lock; nonzero = out of memory. */
static int enter(struct dagi_data_shard *s, uint64_t hash, dagi_value *v)
{
    if (shard_grow(s) != 0)
        return 1;
    dagi_value **b = bucket_of(s, hash);
    v->next = *b;
    *b = v;
    s->count++;
    return 0;
}

int dagi_table_enter(dagi_pool_data *data, dagi_value *v)
{
    uint64_t hash = dagi_hash_of(v->v.ptr);
    struct dagi_data_shard *s = shard_of(data, hash);
    pthread_mutex_lock(&s->lock);
    int failed = enter(s, hash, v);
    pthread_mutex_unlock(&s->lock);
    return failed;
}

dagi_put_off *dagi_put_off_reversed(dagi_put_off *s)
{
    dagi_put_off *list = NULL;
    while (s != NULL) {
        dagi_put_off *next = s->next;
        s->next = list;
        list = s;
        s = next;
    }
    return list;
}

dagi_put_off *dagi_table_leave(dagi_pool_data *data, dagi_value *v)
{
    uint64_t hash = dagi_hash_of(v->v.ptr);
    struct dagi_data_shard *s = shard_of(data, hash);
    pthread_mutex_lock(&s->lock);
    assert(s->count > s->kept && atomic_load(&v->refs) == 0);
    for (dagi_value **at = bucket_of(s, hash); *at != NULL; at = &(*at)->next)
        if (*at == v) {
            *at = v->next;
            s->count--;
            break;
        }
    dagi_put_off *done = dagi_put_off_reversed(v->waiting);
    v->waiting = NULL;
    /* Under the lock: a later store to the element must not overtake these. */
    for (const dagi_put_off *p = done; p != NULL; p = p->next)
        dagi_put_off_apply(p);
    pthread_mutex_unlock(&s->lock);
    return done;
}

int dagi_table_leave_idle(dagi_pool_data *data, dagi_value *v)
{
    uint64_t hash = dagi_hash_of(v->v.ptr);
    struct dagi_data_shard *s = shard_of(data, hash);
    pthread_mutex_lock(&s->lock);
    int idle = v->waiting == NULL;
    dagi_value **at = bucket_of(s, hash);
    while (idle && *at != v)
        at = &(*at)->next;
    if (idle) {
        *at = v->next;
        s->count--;
    }
    pthread_mutex_unlock(&s->lock);
    return idle;
}

int dagi_table_covered(dagi_pool_data *data, const dagi_value *v)
{
    struct dagi_data_shard *s = shard_of(data, dagi_hash_of(v->v.ptr));
    pthread_mutex_lock(&s->lock);
    int covered = dagi_put_off_covers(v->waiting, &v->v);
    pthread_mutex_unlock(&s->lock);
    return covered;
}

static int is_kept(const dagi_value *v)
{
    return (atomic_load_explicit(&v->flags, memory_order_relaxed) & DAGI_VALUE_KEPT) != 0;
}

/* The TRACKED value at an address; under the lock. */
static dagi_value *find(struct dagi_data_shard *s, uint64_t hash, const void *ptr)
{
    dagi_value *v = s->nbuckets > 0 ? *bucket_of(s, hash) : NULL;
    while (v != NULL && (v->v.ptr != ptr || is_kept(v)))
        v = v->next;
    return v;
}

int dagi_table_waits(dagi_pool_data *data, const dag_element *e)
{
    uint64_t hash = dagi_hash_of(e->ptr);
    struct dagi_data_shard *s = shard_of(data, hash);
    pthread_mutex_lock(&s->lock);
    const dagi_value *v = find(s, hash, e->ptr);
    int waits = v != NULL && v->waiting != NULL;
    pthread_mutex_unlock(&s->lock);
    return waits;
}

int dagi_table_wait(dagi_pool_data *data, const dag_element *e, dagi_put_off *store)
{
    uint64_t hash = dagi_hash_of(e->ptr);
    struct dagi_data_shard *s = shard_of(data, hash);
    pthread_mutex_lock(&s->lock);
    dagi_value *v = find(s, hash, e->ptr);
    if (v != NULL && store != NULL) {
        store->next = v->waiting;
        v->waiting = store;
    }
    pthread_mutex_unlock(&s->lock);
    return v != NULL;
}

/* Checks one shard, whose lock is held. */
static const char *check_shard(const dag_taskpool *pool, struct dagi_data_shard *s)
{
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < s->nbuckets; i++) {
        for (const dagi_value *v = s->bucket[i]; v != NULL; v = v->next) {
            if (++count > s->count)
                return "data: a shard has more elements than it counts";
            if (bucket_of(s, dagi_hash_of(v->v.ptr)) != &s->bucket[i])
                return "data: an element is where nobody looks for it";
            if (v->pool != pool)
                return "data: a fetched element is another pool's";
            if (atomic_load(&v->refs) < 1)
                return "data: nobody holds an element that is in the table";
            if (is_kept(v) && v->waiting != NULL)
                return "data: a store waits for an element that nothing changes";
            kept += (size_t)is_kept(v);
        }
    }
    return count == s->count && kept == s->kept ? NULL
                                                : "data: a shard has fewer elements than it counts";
}

const char *dagi_data_check(const dag_taskpool *pool, int over)
{
    dagi_pool_data *data = pool->data;
    const char *wrong = NULL;
    if (over && atomic_load(&data->deferred) != NULL)
        return "data: stores wait behind the end of a pool";
    for (uint64_t i = 0; i < data->nshards && wrong == NULL; i++) {
        struct dagi_data_shard *s = &data->shard[i];
        pthread_mutex_lock(&s->lock);
        wrong = over && s->kept > 0 ? "data: elements are kept behind the end of a pool"
                                    : check_shard(pool, s);
        pthread_mutex_unlock(&s->lock);
    }
    return wrong;
}

size_t dagi_table_count(dagi_pool_data *data)
{
    size_t count = 0;
    for (uint64_t i = 0; i < data->nshards; i++) {
        struct dagi_data_shard *s = &data->shard[i];
        pthread_mutex_lock(&s->lock);
        count += s->count;
        pthread_mutex_unlock(&s->lock);
    }
    return count;
}

/* ---- values that are kept ----------------------------------------------------------------- */

/* The KEPT value of an element, with one more reference; under the lock. */
static dagi_value *find_kept(struct dagi_data_shard *s, uint64_t hash, const dag_element *e)
{
    dagi_value *v = s->nbuckets > 0 ? *bucket_of(s, hash) : NULL;
    while (v != NULL && (v->v.ptr != e->ptr || v->v.ld != e->ld || v->v.m != e->shape.m ||
                         v->v.n != e->shape.n || v->v.elem != e->shape.elem || !is_kept(v)))
        v = v->next;
    if (v != NULL)
        dagi_value_retain(&v->v, 1); /* the table's own reference is there as long as the lock is */
    return v;
}

dag_value *dagi_table_keep(struct dagi_worker *w, dag_taskpool *pool, const dag_element *e,
                           int slot)
{
    dagi_pool_data *data = pool->data;
    uint64_t hash = dagi_hash_of(e->ptr);
    struct dagi_data_shard *s = shard_of(data, hash);
    pthread_mutex_lock(&s->lock);
    dagi_value *v = find_kept(s, hash, e);
    pthread_mutex_unlock(&s->lock);
    if (v != NULL)
        return &v->v;
    dag_value *own = dagi_value_home(w, pool, e, DAGI_VALUE_KEPT);
    if (own == NULL)
        return NULL;
    dagi_value *mine = (dagi_value *)own;
    mine->slot = slot;
    atomic_store_explicit(&data->keeps, 1, memory_order_relaxed);
    pthread_mutex_lock(&s->lock);
    v = find_kept(s, hash, e); /* somebody else may have been faster */
    if (v == NULL && enter(s, hash, mine) == 0) { /* without memory for it: a value like others */
        s->kept++;
        dagi_value_retain(own, 1);
    }
    pthread_mutex_unlock(&s->lock);
    if (v == NULL)
        return own;
    dagi_value_release(w, own);
    return &v->v;
}

/* Take the KEPT values out of a shard; linked by next. */
static dagi_value *take_kept(struct dagi_data_shard *s)
{
    dagi_value *list = NULL;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->nbuckets && s->kept > 0; i++) {
        dagi_value **at = &s->bucket[i];
        while (*at != NULL) {
            dagi_value *v = *at;
            if (!is_kept(v)) {
                at = &v->next;
                continue;
            }
            *at = v->next;
            v->next = list;
            list = v;
            s->kept--;
            s->count--;
        }
    }
    pthread_mutex_unlock(&s->lock);
    return list;
}

int dagi_data_keeps(const dag_taskpool *pool)
{
    return atomic_load_explicit(&pool->data->keeps, memory_order_relaxed);
}

void dagi_data_let_go(struct dagi_worker *w, dag_taskpool *pool)
{
    dagi_pool_data *data = pool->data;
    atomic_store_explicit(&data->keeps, 0, memory_order_relaxed);
    for (uint64_t i = 0; i < data->nshards; i++) {
        for (dagi_value *v = take_kept(&data->shard[i]), *next; v != NULL; v = next) {
            next = v->next;
            dagi_value_release(w, &v->v);
        }
    }
}

/* ---- stores that wait ------------------------------------------------------------------- */

dagi_put_off *dagi_put_off_new(dag_value *value, const dag_element *e, dag_region region)
{
    dagi_put_off *s = malloc(sizeof(*s));
    if (s == NULL)
        return NULL;
    dagi_value_retain(value, 1);
    *s = (dagi_put_off){.value = value, .element = *e, .region = region};
    return s;
}

void dagi_store_now(const dag_element *e, const dag_value *value, dag_region region)
{
    dag_value home = {e->ptr, e->ld, e->shape.m, e->shape.n, e->shape.elem};
    if (value->m == home.m && value->n == home.n && value->elem == home.elem)
        dagi_value_copy(&home, value, region);
    else /* untyped bytes on one side: store_fits() has seen that both are contiguous */
        memmove(home.ptr, value->ptr, (size_t)value->m * (size_t)value->n * value->elem);
}

void dagi_put_off_apply(const dagi_put_off *s)
{
    dagi_store_now(&s->element, s->value, s->region);
}

int dagi_put_off_covers(const dagi_put_off *s, const dag_value *v)
{
    while (s != NULL && (s->region != DAG_REGION_FULL || s->element.ld != v->ld ||
                         s->element.shape.m != v->m || s->element.shape.n != v->n ||
                         s->element.shape.elem != v->elem))
        s = s->next;
    return s != NULL;
}

void dagi_put_off_free(dagi_put_off *s)
{
    free(s);
}

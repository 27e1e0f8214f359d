/* Collections that are resident: begin and end, and their content at home when the program asks.
 * All of it is the application thread's. */
#include "../task/door.h"
#include "resident_impl.h"

#include <dag/matrix.h>

#include <stdio.h>
#include <stdlib.h>

/* ---- which ---------------------------------------------------------------------------------- */

/* The residences of all contexts, since a matrix that is freed does not know whether its context is still
 * there. lock guards the list and `numbers`; a residence itself belongs to its application thread. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct dagi_residence *residences;
static uint64_t numbers; /* given so far */

struct dagi_residence *dagi_residence_of(const dag_collection *c)
{
    if (c->residence == 0)
        return NULL;
    pthread_mutex_lock(&lock);
    struct dagi_residence *residence = residences;
    while (residence && (residence->collection != c || residence->number != c->residence))
        residence = residence->next;
    pthread_mutex_unlock(&lock);
    return residence;
}

/* The residence of a collection that a pool of this context names; NULL = it has none here. */
static struct dagi_residence *residence_in(const dag_context *ctx, const dag_collection *c)
{
    struct dagi_residence *residence = dagi_residence_of(c);
    return residence && residence->all == dagi_tasks(ctx)->devices ? residence : NULL;
}

/* The one behind `residence` in the list that is of this context; NULL = none. */
static struct dagi_residence *next_of(const dag_context *ctx,
                                      const struct dagi_residence *residence)
{
    pthread_mutex_lock(&lock);
    struct dagi_residence *next = residence ? residence->next : residences;
    while (next && next->all != dagi_tasks(ctx)->devices)
        next = next->next;
    pthread_mutex_unlock(&lock);
    return next;
}

static void enter(struct dagi_residence *residence)
{
    pthread_mutex_lock(&lock);
    residence->number = ++numbers;
    residence->next = residences;
    residences = residence;
    pthread_mutex_unlock(&lock);
}

static void dissolve(struct dagi_residence *residence)
{
    pthread_mutex_lock(&lock);
    struct dagi_residence **link = &residences;
    while (*link != residence)
        link = &(*link)->next;
    *link = residence->next;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < DAGI_RESIDENT_SHARDS; i++) {
        pthread_mutex_destroy(&residence->shard[i].lock);
        free(residence->shard[i].bucket);
    }
    free(residence);
}

/* ---- at home -------------------------------------------------------------------------------- */

/* Itself, not a view of it or the like. */
static int is_in(const dag_taskpool *pool, const dag_collection *c)
{
    int slot = 0;
    while (slot < pool->program->nslots && dagi_pool(pool)->collections[slot] != c)
        slot++;
    return slot < pool->program->nslots;
}

static int shows(const dag_taskpool *pool, const dag_collection *whole)
{
    int slot = 0;
    while (slot < pool->program->nslots &&
           dag_collection_whole(dagi_pool(pool)->collections[slot]) != whole)
        slot++;
    return slot < pool->program->nslots;
}

/* A pool that is not over on this rank names this collection, which is no view, or a view of it. It is not
 * looked into. */
static int is_named(dag_context *ctx, const dag_collection *whole)
{
    int named = 0;
    pthread_mutex_lock(&dagi_tasks(ctx)->pools_lock);
    for (dag_taskpool *pool = dagi_tasks(ctx)->pools; pool && !named; pool = dagi_pool(pool)->next)
        named = atomic_load(&dagi_pool(pool)->state) < DAGI_POOL_LOCAL && shows(pool, whole);
    pthread_mutex_unlock(&dagi_tasks(ctx)->pools_lock);
    return named;
}

static int no_pool(void *arg)
{
    const struct dagi_residence *residence = arg;
    return !is_named(residence->all->ctx, residence->whole);
}

static int has_settled(void *arg)
{
    const struct dagi_residence *residence = arg;
    return atomic_load(&residence->settling) <= residence->bearable;
}

static void wait_settled(struct dagi_residence *residence, int64_t bearable)
{
    residence->bearable = bearable;
    if (!has_settled(residence))
        dagi_run_until(dagi_tasks(residence->all->ctx)->workers[0], has_settled, residence);
}

/* Give values to managers, MOST at a time: those with a transfer under way, and with `content` those
 * that the host has not got. 1: there may be more. *given: set if there was one. */
static int begin_settling(struct dagi_residence *residence, struct dagi_resident_shard *s,
                          int content, int *given)
{
    enum { MOST = 128 };
    int more = 0;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->nbuckets && !more; i++) {
        for (dagi_resident *r = s->bucket[i]; r && !more; r = r->next) {
            dagi_standing at = dagi_resident_look(r);
            dagi_device *d = at.busy ? at.busy : content ? at.source : NULL;
            if (!r->parked || !d)
                continue;
            if (!at.busy && dagi_device_is_lost(d)) {
                dagi_residence_fail(residence);
                continue;
            }
            dagi_resident_revive(r, NULL, 0);
            dagi_resident_give(r, d, content && !at.busy);
            *given = 1;
            more = atomic_load(&residence->settling) >= MOST;
        }
    }
    pthread_mutex_unlock(&s->lock);
    return more;
}

/* All that is parked is quiet, and with `content` on the host. */
static void bring_home(struct dagi_residence *residence, int content)
{
    enum { FEW = 64 };
    int given;
    dagi_run_until(dagi_tasks(residence->all->ctx)->workers[0], no_pool, residence);
    /* Looked at again: the device that was asked may have evicted its copy, leaving it to another. */
    do {
        given = 0;
        for (int i = 0; i < DAGI_RESIDENT_SHARDS; i++) {
            while (begin_settling(residence, &residence->shard[i], content, &given))
                wait_settled(residence, FEW);
        }
        wait_settled(residence, 0);
    } while (given && !atomic_load(&residence->failed));
}

static dag_status verdict(struct dagi_residence *residence)
{
    if (!atomic_load(&residence->failed))
        return DAG_SUCCESS;
    return dag_error(residence->all->ctx, DAG_ERR_DEVICE,
                     "what \"%s\" had on a device was lost, and its "
                     "content is not known any more",
                     residence->name);
}

/* Give up the copies of all values that are quiet, and the values; the number of those that are
 * not. What they hold is on the host, or is not wanted. */
static int64_t empty(struct dagi_residence *residence, struct dagi_resident_shard *s)
{
    int64_t left = 0;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->nbuckets; i++) {
        dagi_resident **link = &s->bucket[i];
        while (*link) {
            dagi_resident *r = *link;
            if (!r->parked ||
                (dagi_resident_copies(r) && dagi_copies_drop(residence->all, &r->value.v).queue)) {
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
static dag_status drop(struct dagi_residence *residence, int content)
{
    bring_home(residence, content);
    dag_status status = verdict(residence);
    int64_t left;
    do {
        left = 0;
        for (int i = 0; i < DAGI_RESIDENT_SHARDS; i++)
            left += empty(residence, &residence->shard[i]);
        if (left > 0) /* an eviction was faster */
            bring_home(residence, 0);
    } while (left > 0);
    atomic_store(&residence->failed, 0);
    return status;
}

/* ---- the interface -------------------------------------------------------------------------- */

enum { DEEPEST = 63 };

static dag_status check(dag_context *ctx, const char *call, const dag_collection *c)
{
    if (!ctx || !c)
        return dag_error(ctx, DAG_ERR_ARG, "%s: context and collection must not be NULL", call);
    if (dagi_worker_self(ctx))
        return dag_error(ctx, DAG_ERR_STATE, "%s: called from a body", call);
    if (dagi_door_names(ctx, c))
        return dag_error(ctx, DAG_ERR_STATE, "%s: an open taskpool names \"%s\"", call, c->name);
    return DAG_SUCCESS;
}

static struct dagi_residence *found(dag_context *ctx, dag_collection *c)
{
    struct dagi_residence *residence = calloc(1, sizeof *residence);
    if (!residence)
        return NULL;
    residence->collection = c;
    residence->whole = dag_collection_whole(c);
    residence->all = dagi_tasks(ctx)->devices;
    snprintf(residence->name, sizeof residence->name, "%s", c->name);
    dagi_matrix_memory(c, &residence->from, &residence->bytes);
    for (int i = 0; i < DAGI_RESIDENT_SHARDS; i++)
        pthread_mutex_init(&residence->shard[i].lock, NULL);
    enter(residence);
    c->residence = residence->number;
    return residence;
}

dag_status dag_resident_begin(dag_context *ctx, dag_collection *c, dag_residence how)
{
    dag_status status = check(ctx, "dag_resident_begin", c);
    if (status != DAG_SUCCESS || !dagi_tasks(ctx)->devices)
        return status;
    if (how != DAG_RESIDENT_SAVED && how != DAG_RESIDENT_DEFERRED)
        return dag_error(ctx, DAG_ERR_ARG, "dag_resident_begin: unknown way %d", (int)how);
    if (is_named(ctx, dag_collection_whole(c)))
        return dag_error(ctx, DAG_ERR_STATE, "dag_resident_begin: a taskpool that names \"%s\" has "
                         "not ended", c->name);
    struct dagi_residence *residence = residence_in(ctx, c);
    if (!residence)
        residence = found(ctx, c);
    if (!residence)
        return dag_error(ctx, DAG_ERR_NOMEM, "dag_resident_begin: out of memory");
    if (residence->depth == DEEPEST)
        return dag_error(ctx, DAG_ERR_STATE, "dag_resident_begin: more than %d times for \"%s\"",
                         DEEPEST, c->name);
    residence->deferred |= (uint64_t)(how == DAG_RESIDENT_DEFERRED) << residence->depth++;
    return DAG_SUCCESS;
}

dag_status dag_resident_home(dag_context *ctx, dag_collection *c)
{
    dag_status status = check(ctx, "dag_resident_home", c);
    struct dagi_residence *residence = status == DAG_SUCCESS ? residence_in(ctx, c) : NULL;
    if (!residence)
        return status;
    bring_home(residence, 1);
    return verdict(residence);
}

dag_status dag_resident_drop(dag_context *ctx, dag_collection *c)
{
    dag_status status = check(ctx, "dag_resident_drop", c);
    struct dagi_residence *residence = status == DAG_SUCCESS ? residence_in(ctx, c) : NULL;
    return residence ? drop(residence, 1) : status;
}

dag_status dag_resident_end(dag_context *ctx, dag_collection *c)
{
    dag_status status = check(ctx, "dag_resident_end", c);
    if (status != DAG_SUCCESS || !dagi_tasks(ctx)->devices)
        return status;
    struct dagi_residence *residence = residence_in(ctx, c);
    if (!residence)
        return dag_error(ctx, DAG_ERR_STATE, "dag_resident_end: \"%s\" is not resident", c->name);
    dagi_run_until(dagi_tasks(ctx)->workers[0], no_pool, residence); /* tasks look at `deferred` */
    int stayed = residence->deferred != 0;
    residence->deferred &= ~(UINT64_C(1) << --residence->depth);
    if (residence->depth == 0) {
        status = drop(residence, 1);
        dissolve(residence);
        c->residence = 0;
    } else if (stayed && !residence->deferred) {
        bring_home(residence, 1);
        status = verdict(residence);
    }
    return status;
}

/* The collection under which memory of one that a taskpool names is resident already, or is used by
 * the same taskpool or one that has not ended: its name; NULL = none. Application thread. */
static const char *conflict_of(const dag_taskpool *pool, int slot)
{
    dag_context *ctx = pool->ctx;
    const dag_collection *c = dagi_pool(pool)->collections[slot];
    const dag_matrix *matrix = dagi_data_matrix(pool->data, slot);
    const char *from = matrix ? matrix->base : NULL;
    size_t bytes = matrix ? dagi_matrix_reach(matrix) : 0;
    const struct dagi_residence *own = dagi_residence_of(c);
    for (struct dagi_residence *residence = next_of(ctx, NULL); residence;
         residence = next_of(ctx, residence)) {
        size_t count = 0;
        int related = residence->whole == dag_collection_whole(c); /* it came home, unless the pool has both */
        if (related && residence != own && is_in(pool, residence->collection))
            return residence->name;
        if (related || !residence->from || !from ||
            from >= residence->from + residence->bytes || residence->from >= from + bytes)
            continue;
        for (int i = 0; i < DAGI_RESIDENT_SHARDS; i++) {
            pthread_mutex_lock(&residence->shard[i].lock);
            count += residence->shard[i].count;
            pthread_mutex_unlock(&residence->shard[i].lock);
        }
        if (count > 0 || is_named(ctx, residence->whole) || is_in(pool, residence->collection))
            return residence->name;
    }
    return NULL;
}

/* A collection that a taskpool names shows memory that is resident as another one, of which it is a view,
 * or that is a view of it, or both are views of a third: that comes home, and no copies are left. Likewise
 * its own where tasks use it past all values. Waits for the pools that use it. */
static dag_status bring_views_home(const dag_taskpool *pool, const dag_collection *c)
{
    dag_context *ctx = pool->ctx;
    dag_status status = DAG_SUCCESS;
    for (struct dagi_residence *residence = next_of(ctx, NULL);
         residence && status == DAG_SUCCESS; residence = next_of(ctx, residence)) {
        if (residence->whole != dag_collection_whole(c))
            continue;
        if (dagi_pool(pool)->bare || !is_in(pool, residence->collection))
            status = drop(residence, 1);
    }
    return status;
}

static void leave(struct dagi_residence *residence, int content)
{
    if (drop(residence, content) != DAG_SUCCESS)
        dagi_warn(residence->all->ctx, "%s", dag_message(residence->all->ctx));
    dissolve(residence);
}

void dagi_residence_leave(dag_collection *c, int content)
{
    struct dagi_residence *residence = dagi_residence_of(c);
    if (residence)
        leave(residence, content);
}

void dagi_residences_close(dag_context *ctx)
{
    struct dagi_residence *residence;
    while (dagi_tasks(ctx)->devices && (residence = next_of(ctx, NULL)) != NULL)
        leave(residence, 1);
}

void dagi_residences_name(dag_taskpool *pool)
{
    for (int s = 0; s < pool->program->nslots; s++) {
        dag_status home = bring_views_home(pool, dagi_pool(pool)->collections[s]);
        if (home != DAG_SUCCESS)
            dagi_pool_fail(pool, home, "%s", dag_message(pool->ctx));
        dagi_data_name_residence(pool->data, s,
                                 residence_in(pool->ctx, dagi_pool(pool)->collections[s]));
        const char *name = conflict_of(pool, s);
        if (name)
            dagi_pool_fail(pool, DAG_ERR_STATE,
                           "%s: the memory of %s is that of \"%s\", whose "
                           "elements are resident on devices: call dag_resident_drop() for that "
                           "first",
                           pool->program->name, pool->program->slots[s].name, name);
    }
}

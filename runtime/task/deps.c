/*
 * The dependency table of a pool: the tasks that have got some of their inputs and wait for others.
 * docs/design/dependencies.md says why it is a sharded hash table.
 *
 * Key: class and parameters. A task is in the table from its first arrival until its last; an
 * instance that waits for one arrival only never enters it.
 *
 * Synchronisation: everything of a shard, and of the tasks in it the fields next, pending, arrived
 * and the flows, is guarded by the lock of the shard. The last arrival takes the task out, from
 * then on it belongs to the worker that brought it. Unlock and lock make what the producers wrote
 * into values visible to whoever runs the task. With one worker, and nobody who watches it,
 * there is one shard and no lock is taken; a worker that alone runs tasks takes none either (alone.h).
 *
 * The arrivals that one task brings come one after the other, and neighbours share a shard. So the
 * lock stays with the worker (`held`) until it needs that of another shard, or the last has been
 * brought: one lock at a time, and between two arrivals only the runtime's own code runs.
 */
#include "completion.h"
#include "door.h"

#include <stdlib.h>
#include <string.h>

enum { START_BUCKETS = 64, CROWDED = 8192 /* tasks that a core's own cache does not hold */ };

int dagi_deps_init(dag_taskpool *pool)
{
    int shards = 1;
    if (!dagi_tasks(pool->ctx)->single) {
        while (shards < 8 * dagi_tasks(pool->ctx)->nworkers && shards < 512)
            shards *= 2;
    }
    dagi_pool(pool)->shards =
        aligned_alloc(_Alignof(dagi_shard), (size_t)shards * sizeof *dagi_pool(pool)->shards);
    if (!dagi_pool(pool)->shards)
        return 1;
    memset(dagi_pool(pool)->shards, 0, (size_t)shards * sizeof *dagi_pool(pool)->shards);
    dagi_pool(pool)->nshards = shards;
    return 0;
}

void dagi_deps_fini(dag_taskpool *pool)
{
    for (int s = 0; s < dagi_pool(pool)->nshards; s++)
        free(dagi_pool(pool)->shards[s].buckets);
    free(dagi_pool(pool)->shards);
    dagi_pool(pool)->shards = NULL;
    dagi_pool(pool)->nshards = 0;
}

static int grow(dagi_shard *s)
{
    uint64_t old = s->buckets ? (uint64_t)s->mask + 1 : 0;
    uint64_t size = old ? 2 * old : START_BUCKETS;
    if (size > UINT64_C(1) << 31)
        return s->buckets == NULL; /* longer chains, no harm */
    struct dag_task **buckets = calloc(size, sizeof *buckets);
    if (!buckets)
        return s->buckets == NULL;
    int shift = __builtin_clzll((unsigned long long)size) + 1;
    for (uint64_t b = 0; b < old; b++) {
        for (struct dag_task *t = s->buckets[b], *next; t; t = next) {
            next = t->next;
            struct dag_task **at = &buckets[dagi_shard_hash(t->cls, dagi_task_locals(t)) >> shift];
            t->next = *at;
            *at = t;
        }
    }
    free(s->buckets);
    s->buckets = buckets;
    s->mask = (uint32_t)(size - 1);
    s->shift = (uint8_t)shift;
    return 0;
}

/* The link that points to the task, or NULL. */
static inline struct dag_task **find(dagi_shard *s, uint64_t h, const dag_class *cls, const int32_t *params)
{
    if (s->count == 0)
        return NULL;
    for (struct dag_task **link = dagi_shard_bucket(s, h); *link; link = &(*link)->next) {
        if (dagi_shard_matches(*link, cls, params))
            return link;
    }
    return NULL;
}

/* Twice the buckets, or the first; nonzero: no memory for those. */
static int make_room(dag_taskpool *pool, dagi_shard *s)
{
    if (grow(s) != 0)
        return 1;
    if (s->count >= CROWDED / (uint64_t)dagi_pool(pool)->nshards)
        atomic_store_explicit(&dagi_pool(pool)->crowded, 1, memory_order_relaxed);
    return 0;
}

/* ---- arrivals --------------------------------------------------------------------------- */

/* A part of each kind of arrival: where there is one task, that is known at compile time. */
#define HOT static inline __attribute__((always_inline))

/* The graph delivers what the target does not expect; the value is dropped. */
static struct dag_task *refuse(const dagi_deps_arrival *a, const char *problem)
{
    char from[256], to[256];
    dagi_describe(from, sizeof from, a->source->cls, a->source->locals);
    dagi_describe(to, sizeof to, a->edge->target, a->params);
    dag_graph_error(a->pool->globals, NULL, NULL, a->edge->line,
                    "%s sends flow %s to flow %s of %s, %s", from,
                    a->source->cls->flows[a->edge->source_flow].name,
                    a->edge->target->flows[a->edge->target_flow].name, to, problem);
    dagi_value_release(a->w, a->value);
    return NULL;
}

/* Enter the arrival in the task; nonzero when the flow has a value already. */
HOT int enter(const dagi_deps_arrival *a, struct dag_task *t)
{
    unsigned f = a->edge->target_flow;
    if (f < a->edge->target->ndata) {
        if (DAGI_UNLIKELY(t->arrived >> f & 1))
            return 1;
        t->arrived |= UINT64_C(1) << f;
        dag_task_flows(t)[f] = a->value;
    }
    assert(t->pending >= a->tasks && t->pool == a->pool && t->cls == a->edge->target);
    t->pending -= a->tasks;
    return 0;
}

/* The task that was about to be made cannot be; `problem` NULL: that is reported. */
static __attribute__((noinline)) struct dag_task *unmake(const dagi_deps_arrival *a, struct dag_task *t,
                                                        const char *problem)
{
    dagi_task_free(a->w, t, a->info->memory_class);
    if (problem)
        return refuse(a, problem);
    dagi_value_release(a->w, a->value);
    return NULL;
}

/* First arrival as far as we know: makes the task that waits for all of them. NULL when that is
 * impossible, which is reported. Its locals are computed where they stay. */
static struct dag_task *make(const dagi_deps_arrival *a)
{
    const dag_class *cls = a->edge->target;
    struct dag_task *t = dagi_task_begin(a->w, a->pool, a->info);
    if (DAGI_UNLIKELY(!t)) {
        dagi_value_release(a->w, a->value);
        return NULL;
    }
    int32_t *locals = dagi_task_locals(t);
    dagi_copy_few(locals, a->params, cls->nparams);
    if (DAGI_UNLIKELY(!cls->locals(a->pool->globals, locals)))
        return unmake(a, t, "which does not exist: its parameters are outside of the class's space");
    int64_t n = cls->inputs ? cls->inputs(a->pool->globals, locals) : 0;
    if (DAGI_UNLIKELY(n < a->tasks)) /* where it is less than 0 inputs() has reported */
        return unmake(a, t, n == 0 ? "which waits for no input" : n > 0 ? "which waits for fewer" : NULL);
    /* A task of another rank waits there. */
    assert(a->pool->ctx->size == 1 ||
           cls->rank(a->pool->globals, locals) == a->pool->ctx->rank);
    t->priority = dagi_priority_of(a->pool, cls, locals);
    t->pending = n;
    return t;
}

/* An instance that nobody has sent anything to yet is entered in the table, which has room. */
HOT struct dag_task *insert_first(const dagi_deps_arrival *a, dagi_shard *s, uint64_t h, struct dag_task *t)
{
    struct dag_task **at = dagi_shard_bucket(s, h);
    enter(a, t);
    assert(t->pending > 0);
    t->next = *at;
    *at = t;
    s->count++;
    if (!atomic_load_explicit(&a->info->many, memory_order_relaxed))
        atomic_store_explicit(&a->info->many, 1, memory_order_relaxed);
    if (!dagi_pool(a->pool)->countable)
        atomic_fetch_add_explicit(&dagi_pool(a->pool)->open, 1, memory_order_relaxed);
    return NULL;
}

/* The same where the table has no room. */
static __attribute__((noinline, cold)) struct dag_task *insert_growing(const dagi_deps_arrival *a, dagi_shard *s,
                                                                       uint64_t h, struct dag_task *t)
{
    if (make_room(a->pool, s) == 0)
        return insert_first(a, s, h, t);
    enter(a, t);
    dagi_pool_fail(a->pool, DAG_ERR_NOMEM, "no memory for the dependency table");
    dagi_task_drop(a->w, t);
    return NULL;
}

/* Takes the task to which *link points out of the table when all has arrived; NULL: it waits on. */
HOT struct dag_task *leave_when_ready(dagi_shard *s, struct dag_task **link)
{
    struct dag_task *t = *link;
    if (t->pending > 0)
        return NULL;
    *link = t->next;
    s->count--;
    t->next = NULL;
    return t;
}

/* Apart, and last, so that arrivals keep nothing for it while nothing is recorded. */
static __attribute__((noinline, cold)) struct dag_task *arrive_recorded(const dagi_deps_arrival *a, dagi_shard *s,
                                                                        struct dag_task **link)
{
    dagi_trace_arrival(DAGI_TRACK(a->w), *link, a->edge->target_flow);
    return leave_when_ready(s, link);
}

HOT struct dag_task *arrive_at(const dagi_deps_arrival *a, dagi_shard *s, struct dag_task **link)
{
    struct dag_task *t = *link;
    if (a->tasks > 1 && t->pending < a->tasks)
        return refuse(a, "which waits for fewer");
    if (DAGI_UNLIKELY(enter(a, t) != 0))
        return refuse(a, "which has got that flow already");
    if (DAGI_UNLIKELY(DAGI_TRACK(a->w)))
        return arrive_recorded(a, s, link);
    return leave_when_ready(s, link);
}

/* With the shard locked. */
HOT struct dag_task *arrive_locked(const dagi_deps_arrival *a, dagi_shard *s, uint64_t h,
                                      struct dag_task *fresh)
{
    struct dag_task **link = find(s, h, a->edge->target, a->params);
    if (link) {
        if (fresh) /* somebody else was first */
            dagi_task_free(a->w, fresh, a->info->memory_class);
        return arrive_at(a, s, link);
    }
    if (!fresh)
        fresh = make(a);
    if (!fresh)
        return NULL;
    if (fresh->pending > a->tasks) {
        if (DAGI_UNLIKELY(!s->buckets || s->count > s->mask / 2))
            return insert_growing(a, s, h, fresh);
        return insert_first(a, s, h, fresh);
    }
    enter(a, fresh);
    if (!dagi_pool(a->pool)->countable)
        atomic_fetch_add_explicit(&dagi_pool(a->pool)->open, 1, memory_order_relaxed);
    return fresh;
}

/* Hold the lock of this shard and of no other. */
static inline void take_hold(struct dagi_worker *w, dagi_shard *s)
{
    if (dagi_runner(w)->held == s)
        return;
    dagi_deps_let_go(w);
    dagi_chaos_delay(w);
    assert(!dagi_other_is_alone(w));
    dagi_lock(&s->lock);
    dagi_runner(w)->held = s;
}

/* Where it looks: with the lock of a shard, unless it takes none; without; or in the only shard that there is. */
enum way { BY_LOCKS, ALONE, SINGLE };

HOT struct dag_task *arrive(const dagi_deps_arrival *a, enum way way)
{
    struct dagi_worker *w = a->w;
    dag_taskpool *pool = a->pool;
    struct dag_task *fresh = NULL;
    /* Classes all of whose instances wait for one arrival never look at the table. They may be made
     * under the lock of an earlier arrival, as others are. */
    if (!atomic_load_explicit(&a->info->many, memory_order_relaxed)) {
        fresh = make(a);
        if (!fresh)
            return NULL;
        if (fresh->pending == a->tasks) {
            enter(a, fresh);
            if (!dagi_pool(pool)->countable)
                atomic_fetch_add_explicit(&dagi_pool(pool)->open, 1, memory_order_relaxed);
            return fresh;
        }
    }
    uint64_t h = dagi_shard_hash(a->edge->target, a->params);
    dagi_shard *s = way == SINGLE ? dagi_pool(pool)->shards : dagi_shard_of(pool, a->edge->target, a->params);
    if (way == BY_LOCKS && !dagi_runner(w)->unlocked)
        take_hold(w, s);
    return arrive_locked(a, s, h, fresh);
}

struct dag_task *dagi_deps_arrive(struct dagi_worker *w, dag_taskpool *pool, const dag_edge *edge,
                                  const int32_t *params, dag_value *value, const dagi_source *source)
{
    dagi_deps_arrival a = {
        w, pool, &dagi_pool(pool)->classes[edge->target->id], edge, params, value, source, 1};
    return arrive(&a, BY_LOCKS);
}

struct dag_task *dagi_deps_arrive_all(struct dagi_worker *w, dag_taskpool *pool,
                                      const dag_edge *edge, const int32_t *params,
                                      const dagi_source *source, int64_t tasks)
{
    dagi_deps_arrival a = {
        w, pool, &dagi_pool(pool)->classes[edge->target->id], edge, params, NULL, source, tasks};
    return arrive(&a, BY_LOCKS);
}

/* A receiver that is refused gives the reference up again; the source still has its own. */
HOT void tell_named(dag_visit *v, const dag_edge *edge, const int32_t *params, enum way way)
{
    dagi_direct *d = (dagi_direct *)(void *)v;
    dag_value *value = NULL;
    if (edge->source_flow < d->source.cls->ndata && edge->target_flow < edge->target->ndata)
        value = d->values[edge->source_flow];
    if (value)
        dagi_value_join(value);
    d->arrival.info = &dagi_pool(d->arrival.pool)->classes[edge->target->id];
    d->arrival.edge = edge;
    d->arrival.params = params;
    d->arrival.value = value;
    struct dag_task *t = arrive(&d->arrival, way);
    if (t)
        dagi_ready_enter(&d->ready, t);
}

void dagi_tell_named(dag_visit *v, const dag_edge *edge, const int32_t *params)
{
    tell_named(v, edge, params, SINGLE);
}

void dagi_tell_named_alone(dag_visit *v, const dag_edge *edge, const int32_t *params)
{
    tell_named(v, edge, params, ALONE);
}

/* Three passes, each of which waits for what the one before it has sent for: where the chains begin,
 * the first tasks on them (the second line as well, it has the parameters), then the arrivals. */
int dagi_deps_expect(struct dagi_worker *w, dag_taskpool *pool, int count,
                     const dag_edge *const *edges, const int32_t *const *params)
{
    struct dag_task **chain[DAGI_DEPS_ROW];
    dagi_shard *s = dagi_shard_of(pool, edges[0]->target, params[0]);
    if (!dagi_runner(w)->unlocked)
        take_hold(w, s);
    if (!s->buckets)
        return 1;
    int n = 0;
    for (; n < count && n < DAGI_DEPS_ROW; n++) {
        if (n > 0 && dagi_shard_of(pool, edges[n]->target, params[n]) != s)
            break;
        chain[n] = dagi_shard_bucket(s, dagi_shard_hash(edges[n]->target, params[n]));
        __builtin_prefetch(chain[n]);
    }
    for (int i = 0; i < n; i++) {
        if (*chain[i])
            dagi_prefetch_lines(*chain[i], 2);
    }
    return n;
}

struct dag_task *const *dagi_deps_chain(const dag_taskpool *pool, const dag_class *cls, const int32_t *params)
{
    const dagi_shard *s = dagi_pool(pool)->shards;
    if (!s->buckets)
        return NULL;
    struct dag_task *const *chain = dagi_shard_bucket(s, dagi_shard_hash(cls, params));
    __builtin_prefetch(chain);
    return chain;
}

/* ---- the table as a whole --------------------------------------------------------------- */

int64_t dagi_deps_count(const dag_taskpool *pool)
{
    int64_t count = dagi_door_count(pool);
    for (int i = 0; i < dagi_pool(pool)->nshards; i++) {
        dagi_shard *s = &dagi_pool(pool)->shards[i];
        dagi_lock(&s->lock);
        count += (int64_t)s->count;
        dagi_unlock(&s->lock);
    }
    return count;
}

void dagi_deps_each(dag_taskpool *pool, int (*fn)(struct dag_task *t, void *arg), void *arg)
{
    int stop = dagi_door_each(pool, fn, arg);
    for (int i = 0; i < dagi_pool(pool)->nshards && !stop; i++) {
        dagi_shard *s = &dagi_pool(pool)->shards[i];
        dagi_lock(&s->lock);
        for (uint64_t b = 0; s->buckets && b <= s->mask && !stop; b++) {
            for (struct dag_task *t = s->buckets[b], *next; t && !stop; t = next) {
                next = t->next;
                stop = fn(t, arg);
            }
        }
        dagi_unlock(&s->lock);
    }
}

struct dag_task *dagi_deps_find(dag_taskpool *pool, const dag_class *cls, const int32_t *params)
{
    uint64_t h = dagi_shard_hash(cls, params);
    struct dag_task **link = find(dagi_shard_of(pool, cls, params), h, cls, params);
    return link ? *link : NULL;
}

static int drop(struct dag_task *t, void *arg)
{
    dagi_task_drop(arg, t);
    return 0;
}

int64_t dagi_deps_clear(struct dagi_worker *w, dag_taskpool *pool)
{
    int64_t count = dagi_deps_count(pool);
    if (count == 0)
        return 0;
    /* What the tasks hold may have transfers under way, so the pool is kept meanwhile. */
    assert(atomic_load(&dagi_pool(pool)->open) > 0);
    dagi_door_clear(w, pool);
    dagi_deps_each(pool, drop, w);
    for (int i = 0; i < dagi_pool(pool)->nshards; i++) {
        free(dagi_pool(pool)->shards[i].buckets);
        dagi_pool(pool)->shards[i].buckets = NULL;
        dagi_pool(pool)->shards[i].count = 0;
        dagi_pool(pool)->shards[i].mask = 0;
    }
    return count;
}

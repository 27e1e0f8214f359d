#include "race.h"

#include "../base/room.h"
#include "../task/task.h"
#include "../task/instances.h"

#include <stdlib.h>
#include <string.h>

enum { BUDGET = 100000 }; /* instances to look at for one question about order */
enum { KEPT = 64 };       /* reads kept of one piece of memory between two writes */

enum kind { READS, WRITES, STORES };
static const char *const verbs[] = {"reads", "writes", "stores"};

struct access {
    dagi_instance task;
    uint32_t pool;
    int flow, region;
    enum kind kind;
    const dag_collection *collection; /* NULL: not known */
};

/* Memory with the accesses since the last ones that everything was in order with. */
struct piece {
    char *ptr;
    int64_t m, n, ld;
    size_t elem;
    struct access *access;
    size_t count, capacity;
};

/* Pool a came before pool b if it had ended when b was added. */
struct pool_life {
    uint32_t id;
    uint64_t born, died; /* died: 0 = lives */
    const dag_collection *const *collections;
    int ncollections;
};

/* What a worker is at: sums of the READ flows of the task it runs. */
struct running {
    uint64_t sum[DAG_MAX_FLOWS];
    dagi_instance task;
    uint32_t pool;
    bool busy;
};

/* lock guards everything but running[i].sum, which is worker i's. */
struct dagi_race {
    pthread_mutex_t lock;
    struct piece *pieces;
    size_t npieces, capacity;
    struct pool_life *pools;
    size_t npools, pools_capacity;
    uint64_t clock;
    int nworkers;
    struct running *running;
};

dagi_race *dagi_race_new(const dag_context *ctx)
{
    dagi_race *race = calloc(1, sizeof *race);
    struct running *running = calloc((size_t)dagi_tasks(ctx)->nworkers, sizeof *running);
    if (!race || !running) {
        free(race);
        free(running);
        return NULL;
    }
    race->running = running;
    race->nworkers = dagi_tasks(ctx)->nworkers;
    pthread_mutex_init(&race->lock, NULL);
    return race;
}

static void forget(dagi_race *race)
{
    for (size_t i = 0; i < race->npieces; i++)
        free(race->pieces[i].access);
    for (size_t i = 0; i < race->npools; i++)
        free((void *)(uintptr_t)race->pools[i].collections);
    race->npieces = race->npools = 0;
}

void dagi_race_free(dagi_race *race)
{
    if (!race)
        return;
    forget(race);
    free(race->pieces);
    free(race->pools);
    free(race->running);
    pthread_mutex_destroy(&race->lock);
    free(race);
}

/* ---- pools ------------------------------------------------------------------------------ */

void dagi_race_pool_added(dag_taskpool *pool)
{
    dagi_race *race = dagi_tasks(pool->ctx)->race;
    int n = pool->program->nslots;
    const dag_collection **collections = calloc((size_t)n + 1, sizeof *collections);
    pthread_mutex_lock(&race->lock);
    bool alive = false;
    for (size_t i = 0; i < race->npools; i++)
        alive |= race->pools[i].died == 0;
    if (!alive) /* all that was is in order with all that comes */
        forget(race);
    if (collections && DAGI_ROOM(race->pools, race->npools, race->pools_capacity, 16)) {
        for (int s = 0; s < n; s++)
            collections[s] = dagi_pool(pool)->collections[s];
        race->pools[race->npools++] = (struct pool_life){
            .id = pool->id, .born = ++race->clock, .collections = collections, .ncollections = n};
        collections = NULL;
    }
    pthread_mutex_unlock(&race->lock);
    free(collections);
}

static struct pool_life *life_of(dagi_race *race, uint32_t id)
{
    for (size_t i = 0; i < race->npools; i++) {
        if (race->pools[i].id == id)
            return &race->pools[i];
    }
    return NULL;
}

void dagi_race_pool_ended(const dag_taskpool *pool)
{
    dagi_race *race = dagi_tasks(pool->ctx)->race;
    pthread_mutex_lock(&race->lock);
    struct pool_life *life = life_of(race, pool->id);
    if (life)
        life->died = ++race->clock;
    pthread_mutex_unlock(&race->lock);
}

static bool pools_ordered(dagi_race *race, uint32_t a, uint32_t b)
{
    const struct pool_life *x = life_of(race, a), *y = life_of(race, b);
    if (!x || !y || (x->died && x->died < y->born) || (y->died && y->died < x->born))
        return true;
    for (int i = 0; i < x->ncollections; i++) {
        for (int k = 0; k < y->ncollections; k++) {
            if (x->collections[i] == y->collections[k])
                return true; /* such pools run one after the other */
        }
    }
    return false;
}

/* ---- memory ----------------------------------------------------------------------------- */

/* Do two views have a byte in common? */
static bool overlap(const struct piece *a, const struct piece *b)
{
    size_t step_a = (size_t)a->ld * a->elem, step_b = (size_t)b->ld * b->elem;
    size_t bytes_a = (size_t)a->m * a->elem, bytes_b = (size_t)b->m * b->elem;
    const char *end_a = a->ptr + (size_t)(a->n - 1) * step_a + bytes_a;
    const char *end_b = b->ptr + (size_t)(b->n - 1) * step_b + bytes_b;
    if (end_a <= b->ptr || end_b <= a->ptr)
        return false;
    for (int64_t j = 0; j < a->n; j++) {
        const char *first = a->ptr + (size_t)j * step_a;
        /* the columns of b that can reach this one */
        ptrdiff_t k = first > b->ptr && step_b ? (first - b->ptr) / (ptrdiff_t)step_b : 0;
        for (; k < b->n && b->ptr + (size_t)k * step_b < first + bytes_a; k++) {
            if (b->ptr + (size_t)k * step_b + bytes_b > first)
                return true;
        }
    }
    return false;
}

/* The piece of exactly this memory, made if need be; NULL = out of memory. */
static struct piece *piece_of(dagi_race *race, const struct piece *view)
{
    for (size_t i = 0; i < race->npieces; i++) {
        struct piece *p = &race->pieces[i];
        if (p->ptr == view->ptr && p->m == view->m && p->n == view->n && p->ld == view->ld &&
            p->elem == view->elem)
            return p;
    }
    if (!DAGI_ROOM(race->pieces, race->npieces, race->capacity, 16))
        return NULL;
    race->pieces[race->npieces] = *view;
    return &race->pieces[race->npieces++];
}

/* ---- conflicts -------------------------------------------------------------------------- */

static bool same_task(const struct access *a, const struct access *b)
{
    return a->pool == b->pool && a->task.cls == b->task.cls &&
           memcmp(a->task.local, b->task.local, a->task.cls->nparams * sizeof(int32_t)) == 0;
}

/* May the two be unordered? Within one collection values keep readers and writers apart, unless
 * memory is live; two stores are the graph's own affair. */
static bool concerns(const struct access *a, const struct access *b, bool aliased)
{
    if (same_task(a, b) || (a->kind == READS && b->kind == READS))
        return false;
    if (a->kind == STORES && b->kind == STORES && (a->region & b->region) == 0 &&
        a->collection == b->collection)
        return false;
    return aliased || a->collection != b->collection || (a->kind == STORES && b->kind == STORES);
}

static bool ordered(dagi_race *race, const dag_taskpool *pool, const struct access *old,
                    const struct access *now)
{
    if (old->pool != now->pool)
        return pools_ordered(race, old->pool, now->pool);
    return dagi_graph_before(pool, &old->task, &now->task, BUDGET) != 0 ||
           dagi_graph_before(pool, &now->task, &old->task, BUDGET) != 0;
}

static void describe(char *text, size_t size, const struct access *a)
{
    char name[256];
    dagi_describe(name, sizeof name, a->task.cls, a->task.local);
    snprintf(text, size, "%s (line %d) %s flow %s (line %d)", name, a->task.cls->line,
             verbs[a->kind], a->task.cls->flows[a->flow].name,
             a->task.cls->flows[a->flow].line);
}

static void tell(dag_taskpool *pool, const struct access *old, const struct access *now)
{
    char first[512], second[512];
    describe(first, sizeof first, old);
    describe(second, sizeof second, now);
    dagi_pool_fail(pool, DAG_ERR_GRAPH, "%s: race: %s and %s in the same memory of %s%s%s, and "
                   "nothing puts them in order", pool->program->file, first, second,
                   old->collection->name ? old->collection->name : "a collection",
                   old->collection != now->collection ? " and " : "",
                   old->collection == now->collection ? ""
                   : now->collection->name ? now->collection->name : "another collection");
}

/* Enter an access. Under the lock. */
static void enter(dagi_race *race, dag_taskpool *pool, const struct piece *view,
                  const struct access *now)
{
    bool aliased = pool->program->aliased;
    for (size_t i = 0; i < race->npieces; i++) {
        const struct piece *p = &race->pieces[i];
        if (!overlap(p, view))
            continue;
        for (size_t k = 0; k < p->count; k++) {
            if (concerns(&p->access[k], now, aliased) &&
                !ordered(race, pool, &p->access[k], now)) {
                tell(pool, &p->access[k], now);
                return;
            }
        }
    }
    struct piece *p = piece_of(race, view);
    if (!p)
        return;
    /* What a write comes after need not be kept: whoever is in order with it is with them, as far as
     * they were in order with it. Only the same collection's was looked at, so only that goes. */
    if (aliased && now->kind != READS && !now->region)
        p->count = 0;
    if (p->count == KEPT)
        memmove(p->access, p->access + 1, --p->count * sizeof *p->access);
    if (DAGI_ROOM(p->access, p->count, p->capacity, 16))
        p->access[p->count++] = *now;
}

/* ---- what tasks do ---------------------------------------------------------------------- */

static uint64_t sum_of(const dag_value *v)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (int64_t j = 0; j < v->n; j++) {
        const unsigned char *at =
            (const unsigned char *)v->ptr + (size_t)j * (size_t)v->ld * v->elem;
        size_t bytes = (size_t)v->m * v->elem;
        for (; bytes >= 8; bytes -= 8, at += 8) {
            uint64_t word;
            memcpy(&word, at, 8);
            sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
            sum ^= sum >> 29;
        }
        for (; bytes > 0; bytes--, at++)
            sum = (sum ^ *at) * UINT64_C(0x100000001b3);
    }
    return sum;
}

static struct access access_of(struct dag_task *t, int flow, enum kind kind, int region,
                               const dag_collection *collection)
{
    struct access a = {.task.cls = t->cls, .pool = t->pool->id, .flow = flow, .region = region,
                       .kind = kind, .collection = collection};
    memcpy(a.task.local, dagi_task_locals(t), t->cls->nlocals * sizeof *a.task.local);
    return a;
}

/* The collection whose memory a value lies in; NULL = none. */
static const dag_collection *collection_of(const struct dag_task *t, const dag_value *v)
{
    const dagi_value *value = (const dagi_value *)(const void *)v;
    if (!(atomic_load_explicit(&value->flags, memory_order_relaxed) & DAGI_VALUE_HOME) ||
        value->pool != t->pool)
        return NULL;
    return dagi_data_slot(t->pool->data, value->slot);
}

/* The value of a flow that only reads, whose bytes have to stay. All tiles whose content is of no account lie at the
 * same addresses, of all ranks of a simulation; NULL for these, too. */
static const dag_value *only_read(struct dag_task *t, int flow)
{
    const dag_value *v = dag_task_flows(t)[flow];
    if (!v || t->cls->flows[flow].access != DAG_READ)
        return NULL;
    const dagi_value *value = (const dagi_value *)(const void *)v;
    return atomic_load_explicit(&value->flags, memory_order_relaxed) & DAGI_VALUE_NOWHERE ? NULL : v;
}

void dagi_race_begin(struct dagi_worker *w, struct dag_task *t)
{
    dagi_race *race = dagi_tasks(w->ctx)->race;
    struct running *r = &race->running[w->index];
    pthread_mutex_lock(&race->lock);
    for (int f = 0; f < t->cls->ndata; f++) {
        const dag_value *v = dag_task_flows(t)[f];
        const dag_collection *collection = v && v->m > 0 && v->n > 0 ? collection_of(t, v) : NULL;
        if (!collection)
            continue;
        struct piece view = {.ptr = v->ptr, .m = v->m, .n = v->n, .ld = v->ld, .elem = v->elem};
        struct access a =
            access_of(t, f, t->cls->flows[f].access & DAG_WRITE ? WRITES : READS, 0, collection);
        enter(race, t->pool, &view, &a);
    }
    r->task.cls = t->cls;
    memcpy(r->task.local, dagi_task_locals(t), t->cls->nlocals * sizeof *r->task.local);
    r->pool = t->pool->id;
    r->busy = true;
    pthread_mutex_unlock(&race->lock);
    for (int f = 0; f < t->cls->ndata; f++) {
        const dag_value *v = only_read(t, f);
        if (v)
            r->sum[f] = sum_of(v);
    }
}

/* ", while B(2) ran" for the tasks of other workers. Under the lock. */
static void put_others(const dagi_race *race, int index, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < race->nworkers && used < size; i++) {
        char name[256];
        if (i == index || !race->running[i].busy)
            continue;
        dagi_describe(name, sizeof name, race->running[i].task.cls, race->running[i].task.local);
        int n = snprintf(text + used, size - used, "%s %s", used ? "," : "; at its end ran", name);
        used += n > 0 ? (size_t)n : 0;
    }
}

void dagi_race_end(struct dagi_worker *w, struct dag_task *t)
{
    dagi_race *race = dagi_tasks(w->ctx)->race;
    struct running *r = &race->running[w->index];
    char others[600], name[256];
    pthread_mutex_lock(&race->lock);
    r->busy = false;
    put_others(race, w->index, others, sizeof others);
    pthread_mutex_unlock(&race->lock);
    for (int f = 0; f < t->cls->ndata; f++) {
        const dag_value *v = only_read(t, f);
        if (!v || sum_of(v) == r->sum[f])
            continue;
        /* In live memory a writer of the same task may own the bytes. */
        bool own = false;
        for (int k = 0; k < t->cls->ndata; k++) {
            const dag_value *o = dag_task_flows(t)[k];
            own |= k != f && o && o->ptr == v->ptr && (t->cls->flows[k].access & DAG_WRITE);
        }
        if (own)
            continue;
        dagi_describe(name, sizeof name, t->cls, dagi_task_locals(t));
        dagi_pool_fail(t->pool, DAG_ERR_GRAPH, "%s:%d: race: flow %s of %s is READ, but its bytes "
                       "changed while the body ran: the body writes it, or another task writes the "
                       "same memory%s", t->pool->program->file, t->cls->flows[f].line,
                       t->cls->flows[f].name, name, others);
    }
}

void dagi_race_store(struct dag_task *t, int flow, const dag_collection *collection,
                     const dag_element *e, int region)
{
    dagi_race *race = dagi_tasks(t->pool->ctx)->race;
    struct piece view = {.ptr = e->ptr, .m = e->shape.m, .n = e->shape.n, .ld = e->ld,
                         .elem = e->shape.elem};
    struct access a = access_of(t, flow, STORES, region, collection);
    pthread_mutex_lock(&race->lock);
    enter(race, t->pool, &view, &a);
    pthread_mutex_unlock(&race->lock);
}

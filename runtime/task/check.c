/* A whole pool, and a worker as far as tasks know it, held against what task.h says of them. */
#include "../base/room.h"
#include "../data/copies.h"
#include "door.h"
#include "shard.h"

#include <stdio.h>
#include <stdlib.h>

/* Tasks of a pool, and how many references they hold. */
struct holders {
    dag_taskpool *pool;
    const char *wrong;
    dagi_value **value; /* one entry for each flow of a task that has one; NULL = no memory */
    size_t count, capacity;
};

static void enter_value(struct holders *h, dag_value *v)
{
    if (DAGI_ROOM(h->value, h->count, h->capacity, 256)) /* what is not entered is not looked at */
        h->value[h->count++] = (dagi_value *)(void *)v;
}

/* What all tasks that do not run have in common. */
static const char *check_task(struct holders *h, struct dag_task *t)
{
    const dag_program *program = h->pool->program;
    uint64_t flows = (UINT64_C(1) << t->cls->ndata) - 1;
    if (t->pool != h->pool)
        return "a task is another pool's";
    if (t->cls->id < 0 || t->cls->id >= program->nclasses ||
        dagi_pool(h->pool)->classes[t->cls->id].cls != t->cls)
        return "a task is of no class of its pool";
    if (t->arrived & ~flows)
        return "a task has got inputs that it does not declare";
    for (int f = 0; f < t->cls->ndata; f++) {
        dag_value *v = dag_task_flows(t)[f];
        if (v && !(t->arrived >> f & 1))
            return "a task has a value that did not arrive";
        if (v)
            enter_value(h, v);
    }
    return NULL;
}

static int check_waiting(struct dag_task *t, void *arg)
{
    struct holders *h = arg;
    h->wrong = check_task(h, t);
    if (!h->wrong && t->pending <= 0)
        h->wrong = "a task that waits for nothing is in the table";
    if (!h->wrong && t->cls->inputs &&
        t->pending + __builtin_popcountll(t->arrived) >
            t->cls->inputs(h->pool->globals, dagi_task_locals(t)))
        h->wrong = "a task waits for more inputs than it declares";
    return h->wrong != NULL;
}

static int by_address(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t) * (dagi_value *const *)a, y = (uintptr_t) * (dagi_value *const *)b;
    return x < y ? -1 : x > y;
}

/* Each value has a reference for each task that holds it; its copies are as copies.h says. */
static const char *check_values(struct holders *h)
{
    if (h->count == 0)
        return NULL;
    qsort(h->value, h->count, sizeof *h->value, by_address);
    for (size_t i = 0, same = 1; i < h->count; i += same, same = 1) {
        dagi_value *v = h->value[i];
        while (i + same < h->count && h->value[i + same] == v)
            same++;
        if (atomic_load(&v->refs) < (int64_t)same)
            return "a value has fewer references than tasks that hold it";
        dagi_copies *c = atomic_load(&v->copies);
        if (!c || !(atomic_load(&v->flags) & (DAGI_VALUE_COPIED | DAGI_VALUE_RESIDENT)))
            continue;
        dagi_lock(&c->lock);
        const char *wrong = dagi_copies_check(c);
        dagi_unlock(&c->lock);
        if (wrong)
            return wrong;
    }
    return NULL;
}

/* Checks one shard, whose lock is held. */
static const char *check_shard(const dag_taskpool *pool, const dagi_shard *s, uint64_t *tasks)
{
    uint64_t count = 0;
    for (uint64_t b = 0; s->buckets && b <= s->mask; b++) {
        for (struct dag_task *t = s->buckets[b]; t; t = t->next) {
            const int32_t *params = dagi_task_locals(t);
            if (++count > s->count)
                return "a shard has more tasks than it counts";
            if (dagi_shard_bucket(s, dagi_shard_hash(t->cls, params)) != &s->buckets[b] ||
                dagi_shard_of(pool, t->cls, params) != s)
                return "a task waits where nobody looks for it";
            for (struct dag_task *u = t->next; u; u = u->next) {
                if (dagi_shard_matches(u, t->cls, params))
                    return "a task is twice in the table";
            }
        }
    }
    *tasks += count;
    return count == s->count ? NULL : "a shard has fewer tasks than it counts";
}

/* NULL, or what is wrong with the dependency table; the number of tasks in it. */
static const char *check_table(const dag_taskpool *pool, uint64_t *tasks)
{
    const char *wrong = NULL;
    *tasks = 0;
    for (int i = 0; i < dagi_pool(pool)->nshards && !wrong; i++) {
        dagi_shard *s = &dagi_pool(pool)->shards[i];
        dagi_lock(&s->lock);
        wrong = check_shard(pool, s, tasks);
        dagi_unlock(&s->lock);
    }
    return wrong;
}

/* The pools that wait for this one; its lock is held. */
static const char *check_followers(const dag_taskpool *pool)
{
    const struct dagi_pool *p = dagi_pool(pool);
    if (p->order.nfollowers > p->order.followers_capacity)
        return "more followers than places";
    for (int i = 0; i < p->order.nfollowers; i++) {
        const dag_taskpool *f = p->order.followers[i];
        if (f->id <= pool->id || atomic_load(&dagi_pool(f)->state) != DAGI_POOL_QUEUED)
            return "a pool that does not wait follows";
        for (int k = 0; k < i; k++) {
            if (p->order.followers[k] == f)
                return "a pool follows twice";
        }
    }
    return NULL;
}

/* What keeps the part open, with so many tasks that wait. A graph that sends too much runs more
 * tasks than were counted: what is counted beforehand tells how much is left at least. */
static const char *check_open(const dag_taskpool *pool, int64_t waiting)
{
    const struct dagi_pool *p = dagi_pool(pool);
    int64_t open = atomic_load(&p->open), total = 0;
    int state = atomic_load(&p->state);
    if (state == DAGI_POOL_NEW)
        return NULL;
    if (waiting > 0 && (open <= 0 || (!p->countable && open < waiting)))
        return "more tasks wait than are counted";
    for (int c = 0; p->countable && c < pool->program->nclasses; c++)
        total += pool->program->classes[c]->count(pool->globals);
    if (p->countable && open > 0 && open < total - atomic_load(&p->stats.tasks))
        return "fewer tasks are left than are counted and not completed";
    return NULL;
}

/* State, lists and counts, with `tasks` in the table; both locks are held. */
static const char *check_state(struct holders *h, uint64_t tasks)
{
    const struct dagi_pool *p = dagi_pool(h->pool);
    int state = atomic_load(&p->state);
    int64_t open = atomic_load(&p->open), early = 0;
    const dag_taskpool *listed = dagi_tasks(h->pool->ctx)->pools;
    while (listed && listed != h->pool)
        listed = dagi_pool(listed)->next;
    if (state < DAGI_POOL_NEW || state > DAGI_POOL_ENDED)
        return "no such state";
    if (!listed != (state == DAGI_POOL_NEW || state == DAGI_POOL_ENDED))
        return "a pool is listed from its addition to its end";
    for (struct dag_task *t = p->early; t; t = t->next, early++) {
        const char *wrong = check_task(h, t);
        if (wrong || t->pending != 0)
            return wrong ? wrong : "a task that waits is kept as ready";
    }
    if (early > 0 && state != DAGI_POOL_QUEUED)
        return "tasks are kept for later in a pool that does not wait";
    if (p->order.waits != 0 && state != DAGI_POOL_QUEUED)
        return "a pool that waits for others is not queued";
    if (p->order.nfollowers > 0 && (state < DAGI_POOL_QUEUED || state >= DAGI_POOL_LOCAL))
        return "pools wait for one that does not run";
    if (state != DAGI_POOL_NEW && dagi_pool_is_open(h->pool) && open <= 0)
        return "a part is over though the pool is open";
    if (state >= DAGI_POOL_LOCAL && (tasks > 0 || open > 0))
        return "something is left of a part that is over";
    const char *wrong = check_open(h->pool, (int64_t)tasks + early);
    return wrong ? wrong : check_followers(h->pool);
}

const char *dagi_pool_check(dag_taskpool *pool)
{
    struct dagi_pool *p = dagi_pool(pool);
    struct holders h = {.pool = pool};
    uint64_t tasks = 0;
    h.wrong = check_table(pool, &tasks);
    if (!h.wrong)
        dagi_deps_each(pool, check_waiting, &h);
    pthread_mutex_lock(&dagi_tasks(pool->ctx)->pools_lock);
    pthread_mutex_lock(&p->lock);
    if (!h.wrong)
        h.wrong = check_state(&h, tasks + (uint64_t)dagi_door_count(pool));
    pthread_mutex_unlock(&p->lock);
    pthread_mutex_unlock(&dagi_tasks(pool->ctx)->pools_lock);
    if (!h.wrong)
        h.wrong = check_values(&h);
    if (!h.wrong)
        h.wrong = dagi_data_check(pool, atomic_load(&p->open) <= 0);
    free(h.value);
    return h.wrong;
}

const char *dagi_runner_check(const struct dagi_worker *w)
{
    const struct dagi_runner *r = dagi_runner(w);
    if (r->held)
        return "it holds the lock of a shard";
    if (atomic_load(&r->at_work) || (w->sole && r->direct == DAGI_DIRECT_ALONE))
        return "it is still at work";
    if (r->edges_used)
        return "it has named successors and told none";
    if (r->held_back)
        return "it holds control back";
    if (r->overflow)
        return "it keeps tasks that its queue had no room for";
    if (r->count_pool || r->renames || r->counted != atomic_load(&r->done.completed))
        return "it has not handed in its counts";
    for (int c = 0; c < DAGI_TASK_CLASSES; c++) {
        int count = 0;
        for (const struct dag_task *t = r->magazine[c].head; t && count <= r->magazine[c].count;
             t = t->next)
            count++;
        if (count != r->magazine[c].count)
            return "a magazine does not have as many tasks as it counts";
    }
    return NULL;
}

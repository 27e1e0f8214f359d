/*
 * Serial runs (setting serial): one worker per rank, and one order of tasks that depends on the graph
 * alone. The order of a pool: again and again, of all instances whose predecessors have run, on
 * whatever rank, the one of highest priority; among equals the first by class, as written, then by
 * parameters, ascending. Pools follow each other in the order in which they were added.
 *
 * On one rank this is the order of the ready tasks. On several ranks what is ready depends on when
 * messages come, so each rank plays the whole graph symbolically (struct play), and runs its own
 * tasks in the order in which they come up there; while the next one is not ready it waits. The
 * order is one of the whole graph and legal, so the first task that has not run anywhere can always
 * run. It takes the time of walking the whole graph on every rank: a tool to find mistakes with.
 *
 * Tasks that a sequential program inserts run in its order: on each rank those that live there. The number of
 * each says its place, and on one rank the first that has not run can always run; on several it waits
 * for what earlier ones on other ranks make.
 *
 * Another program that cannot be walked (made by hand, without `each`) runs in the order of its ready tasks.
 * There is one worker and no lock.
 */
#include "sched.h"

#include "../base/room.h"
#include "../task/door.h"
#include "../task/task.h"
#include "../task/instances.h"

#include <stdlib.h>
#include <string.h>

struct ready {
    uint32_t number; /* of the instance in play.seen */
    int64_t priority;
};

typedef struct play_heap play_heap;
static bool ready_before(const play_heap *h, const struct ready *a, const struct ready *b);
#define HEAP play_heap
#define HEAP_ENTRY struct ready
#define HEAP_BEFORE(h, a, b) ready_before(h, a, b)
#include "../base/heap_of.h"

/* One pool, played. */
struct play {
    struct play *next;
    const dag_taskpool *pool;
    uint32_t pool_id;
    dagi_instances seen;
    int64_t *missing; /* arrivals that each instance of `seen` waits for */
    uint32_t missing_capacity;
    play_heap heap;
    bool broken; /* out of memory */
    bool has_own;
    dagi_instance own; /* the next one to run here */
};

/* dagi_runner(worker)->queue. tasks: all ready ones, in no order. */
struct serial {
    struct dag_task **tasks;
    size_t count, capacity;
    struct play *plays;
    const dag_taskpool *waiting_of; /* choose(): the pool that it asked last, and */
    int64_t waiting;                /* the place of the first of its tasks that was inserted and waits */
    bool stuck;     /* the last pop found none that may run, and nothing was pushed since */
    int open_pools; /* of the context, then */
};

/* ---- order ------------------------------------------------------------------------------ */

/* Class and parameters. */
static int compare(const dag_class *a, const int32_t *x, const dag_class *b, const int32_t *y)
{
    if (a != b)
        return a->id < b->id ? -1 : 1;
    for (int i = 0; i < a->nparams; i++) {
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    }
    return 0;
}

/* The place of a task that a program has inserted: what brings it a tile has the place of what made that. */
static int64_t place_of(struct dag_task *t)
{
    const int32_t *number = dagi_task_locals(t);
    return (int64_t)((uint64_t)(uint32_t)number[1] << 32 | (uint32_t)number[0]) / DAGI_GIVEN_OUTPUTS;
}

static bool task_before(struct dag_task *a, struct dag_task *b)
{
    if (a->pool != b->pool)
        return a->pool->id < b->pool->id;
    if (dagi_is_given(a) && place_of(a) != place_of(b))
        return place_of(a) < place_of(b);
    if (a->priority != b->priority)
        return a->priority > b->priority;
    return compare(a->cls, dagi_task_locals(a), b->cls, dagi_task_locals(b)) < 0;
}

static bool ready_before(const play_heap *h, const struct ready *a, const struct ready *b)
{
    const struct play *p =
        (const struct play *)(const void *)((const char *)h - offsetof(struct play, heap));
    const dagi_instance *x = &p->seen.item[a->number], *y = &p->seen.item[b->number];
    if (a->priority != b->priority)
        return a->priority > b->priority;
    return compare(x->cls, x->local, y->cls, y->local) < 0;
}

/* ---- playing a graph --------------------------------------------------------------------- */

static void push(struct play *p, uint32_t number)
{
    const dagi_instance *i = &p->seen.item[number];
    struct ready r = {number, dagi_task_priority(p->pool, i->cls, i->local)};
    if (play_heap_push(&p->heap, r) != 0)
        p->broken = true;
}

static int64_t inputs_of(const struct play *p, const dag_class *cls, const int32_t *locals)
{
    return cls->inputs ? cls->inputs(p->pool->globals, locals) : 0;
}

/* The number of an instance, with what it misses; UINT32_MAX = out of memory. */
static uint32_t enter(struct play *p, const dag_class *cls, const int32_t *locals)
{
    uint32_t before = p->seen.count, number = dagi_instances_enter(&p->seen, cls, locals);
    if (number != UINT32_MAX && p->seen.capacity > p->missing_capacity) {
        int64_t *missing = realloc(p->missing, p->seen.capacity * sizeof *missing);
        if (missing) {
            p->missing = missing;
            p->missing_capacity = p->seen.capacity;
        } else {
            number = UINT32_MAX;
        }
    }
    if (number == UINT32_MAX)
        p->broken = true;
    else if (p->seen.count > before)
        p->missing[number] = inputs_of(p, cls, locals);
    return number;
}

struct start_walk {
    dag_each each; /* first */
    struct play *play;
};

static int start_instance(dag_each *v, const dag_class *cls, const int32_t *locals)
{
    struct play *p = ((struct start_walk *)(void *)v)->play;
    if (inputs_of(p, cls, locals) == 0) {
        uint32_t number = enter(p, cls, locals);
        if (number != UINT32_MAX)
            push(p, number);
    }
    return p->broken;
}

struct arrive_visit {
    dag_visit visit; /* first */
    struct play *play;
};

static void arrive(dag_visit *v, const dag_edge *edge, const int32_t *params)
{
    struct play *p = ((struct arrive_visit *)(void *)v)->play;
    int32_t locals[DAG_MAX_LOCALS];
    memcpy(locals, params, edge->target->nparams * sizeof *locals);
    if (!edge->target->locals(p->pool->globals, locals))
        return; /* a real run reports it */
    uint32_t number = enter(p, edge->target, locals);
    if (number != UINT32_MAX && --p->missing[number] == 0)
        push(p, number);
}

/* Go on until an instance of this rank comes up. */
static void advance(struct play *p)
{
    p->has_own = false;
    while (p->heap.count > 0 && !p->broken && !p->has_own) {
        const dagi_instance i = p->seen.item[play_heap_pop(&p->heap).number];
        struct arrive_visit a = {.visit = {.mode = DAG_VISIT_ALL, .mask = UINT32_MAX,
                                           .edge = arrive}, .play = p};
        if (i.cls->successors)
            i.cls->successors(&a.visit, p->pool->globals, i.local);
        if (i.cls->rank(p->pool->globals, i.local) == p->pool->ctx->rank) {
            p->own = i;
            p->has_own = true;
        }
    }
    if (p->broken)
        dagi_warn(p->pool->ctx, "serial: no memory to play the graph of %s: its tasks run in the "
                  "order in which they become ready", p->pool->program->file);
}

static struct play *play_new(const dag_taskpool *pool)
{
    struct play *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    struct start_walk walk = {.each.instance = start_instance, .play = p};
    p->pool = pool;
    p->pool_id = pool->id;
    for (int c = 0; c < pool->program->nclasses && !p->broken; c++) {
        const dag_class *cls = pool->program->classes[c];
        if (!cls->each)
            p->broken = true; /* cannot be walked */
        else
            cls->each(&walk.each, pool->globals);
    }
    if (!p->broken)
        advance(p);
    return p;
}

static void play_free(struct play *p)
{
    dagi_instances_free(&p->seen);
    free(p->missing);
    play_heap_fini(&p->heap);
    free(p);
}

/* ---- the scheduler ---------------------------------------------------------------------- */

/* Forget the plays of pools that are over. */
static void clean(dag_context *ctx, struct serial *s)
{
    for (struct play **link = &s->plays; *link;) {
        struct play *p = *link;
        const dag_taskpool *pool = dagi_pool_find(ctx, p->pool_id);
        if (pool && atomic_load(&dagi_pool(pool)->state) < DAGI_POOL_LOCAL) {
            link = &p->next;
            continue;
        }
        *link = p->next;
        play_free(p);
    }
}

static struct play *play_of(struct serial *s, const dag_taskpool *pool)
{
    struct play *p = s->plays;
    while (p && p->pool_id != pool->id)
        p = p->next;
    if (p || !(p = play_new(pool)))
        return p;
    p->next = s->plays;
    s->plays = p;
    return p;
}

static bool is_own(const struct play *p, struct dag_task *t)
{
    return t->pool == p->pool &&
           compare(t->cls, dagi_task_locals(t), p->own.cls, p->own.local) == 0;
}

/* First pool that runs here and has tasks left to run. Its play, or NULL: any ready task may run. */
static struct play *current(dag_context *ctx, struct serial *s)
{
    struct play *found = NULL;
    clean(ctx, s);
    pthread_mutex_lock(&dagi_tasks(ctx)->pools_lock);
    for (dag_taskpool *pool = dagi_tasks(ctx)->pools; pool && !found;
         pool = dagi_pool(pool)->next) {
        if (atomic_load(&dagi_pool(pool)->state) != DAGI_POOL_RUNNING ||
            dagi_pool_is_poisoned(pool))
            continue;
        struct play *p = play_of(s, pool);
        if (p && !p->broken && p->has_own)
            found = p;
    }
    pthread_mutex_unlock(&dagi_tasks(ctx)->pools_lock);
    return found;
}

static int look_at_place(struct dag_task *t, void *arg)
{
    int64_t *first = arg;
    *first = place_of(t) < *first ? place_of(t) : *first;
    return 0;
}

/* Does an earlier task of its program wait? */
static bool is_early(struct serial *s, struct dag_task *t)
{
    if (!dagi_is_given(t) || dagi_pool_is_poisoned(t->pool))
        return false;
    if (s->waiting_of != t->pool) {
        s->waiting_of = t->pool;
        s->waiting = INT64_MAX;
        dagi_door_each(t->pool, look_at_place, &s->waiting);
    }
    return s->waiting < place_of(t);
}

/* The position of the task to run, or s->count. */
static size_t choose(struct dagi_worker *w, struct play **played)
{
    struct serial *s = dagi_runner(w)->queue;
    struct play *p = *played = s->count > 0 && w->ctx->size > 1 ? current(w->ctx, s) : NULL;
    size_t best = s->count;
    s->waiting_of = NULL;
    for (size_t i = 0; i < s->count; i++) {
        struct dag_task *t = s->tasks[i];
        if (p && is_own(p, t))
            return i;
        if (is_early(s, t))
            continue;
        /* Beside a pool that is played, those that cannot be, and those that have failed. */
        bool free_one = !p || t->pool->id < p->pool_id || dagi_pool_is_poisoned(t->pool);
        if (free_one && (best == s->count || task_before(t, s->tasks[best])))
            best = i;
    }
    if (p && best < s->count)
        *played = NULL;
    return best;
}

static dag_status serial_init(dag_context *ctx)
{
    dagi_runner(dagi_tasks(ctx)->workers[0])->queue = calloc(1, sizeof(struct serial));
    return dagi_runner(dagi_tasks(ctx)->workers[0])->queue ? DAG_SUCCESS : DAG_ERR_NOMEM;
}

static void serial_fini(dag_context *ctx)
{
    struct serial *s = dagi_runner(dagi_tasks(ctx)->workers[0])->queue;
    while (s && s->plays) {
        struct play *p = s->plays;
        s->plays = p->next;
        play_free(p);
    }
    if (s)
        free(s->tasks);
    free(s);
    dagi_runner(dagi_tasks(ctx)->workers[0])->queue = NULL;
}

static int serial_push(struct dagi_worker *w, struct dag_task **list)
{
    struct serial *s = dagi_runner(w)->queue;
    s->stuck = false;
    while (*list) {
        if (!DAGI_ROOM(s->tasks, s->count, s->capacity, 256))
            return 1;
        s->tasks[s->count++] = *list;
        *list = (*list)->next;
    }
    return 0;
}

static struct dag_task *serial_pop(struct dagi_worker *w)
{
    struct serial *s = dagi_runner(w)->queue;
    struct play *played;
    dagi_started started;
    while (dagi_startup(w, &started)) { /* all that wait for nothing take part in the choice */
        if (serial_push(w, &started.list) != 0)
            dagi_overflow(w, started.list);
        if (started.over)
            dagi_pool_drop(w, started.over);
    }
    size_t at = choose(w, &played);
    s->stuck = at == s->count;
    s->open_pools = atomic_load(&dagi_tasks(w->ctx)->open.pools);
    if (s->stuck)
        return NULL;
    struct dag_task *t = s->tasks[at];
    s->tasks[at] = s->tasks[--s->count];
    if (played)
        advance(played);
    t->next = NULL;
    return t;
}

static struct dag_task *serial_steal(struct dagi_worker *w, int *away)
{
    (void)w, (void)away;
    return NULL;
}

static int serial_above(struct dagi_worker *w, int64_t priority)
{
    (void)w;
    (void)priority;
    return 1; /* no task jumps the queue */
}

/* Called with locks held, so nothing is played here. What may run after a pop found nothing: what
 * was pushed since, tasks of the next pool when one has ended, those of a pool that has failed. (A
 * pool that begins to run is looked at for its start-up.) */
static int serial_some(struct dagi_worker *w)
{
    const struct serial *s = dagi_runner(w)->queue;
    if (s->count == 0)
        return 0;
    if (!s->stuck || s->open_pools != atomic_load(&dagi_tasks(w->ctx)->open.pools))
        return 1;
    for (size_t i = 0; i < s->count; i++) {
        if (dagi_pool_is_poisoned(s->tasks[i]->pool))
            return 1;
    }
    return 0;
}

static int64_t serial_ready(const dag_context *ctx)
{
    const struct serial *s = dagi_runner(dagi_tasks(ctx)->workers[0])->queue;
    return (int64_t)s->count;
}

static int64_t serial_own(const struct dagi_worker *w)
{
    return serial_ready(w->ctx);
}

const dagi_sched_ops dagi_sched_serial = {
    .name = "serial",
    .init = serial_init,
    .fini = serial_fini,
    .push = serial_push,
    .pop = serial_pop,
    .steal = serial_steal,
    .above = serial_above,
    .some = serial_some,
    .ready = serial_ready,
    .own = serial_own,
};

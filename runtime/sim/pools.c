/* Pools: what the application adds and waits for, and their end on all ranks. */
#include "../watch/cause.h"
#include "../watch/waiting.h"
#include "sim_impl.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- they begin ------------------------------------------------------------------------------ */

static void free_pool(dagi_sim_pool *p)
{
    free(p->part);
    free(p->followers);
    free(p->class_time);
    free(p->on_device);
    free(p);
}

/* Tasks of each rank. */
static void count_tasks(struct dagi_sim *s, dagi_sim_pool *p)
{
    dag_taskpool *pool = p->pool;
    for (int r = 0; r < s->nranks && !dagi_pool_is_poisoned(pool); r++) {
        dagi_sim_become(s, r, pool);
        for (int c = 0; c < pool->program->nclasses; c++) {
            int64_t count = pool->program->classes[c]->count(pool->globals);
            if (count < 0)
                dagi_pool_fail(pool, DAG_ERR_UNSUPPORTED, "%s: a graph with [dynamic] guards cannot "
                               "be simulated: they look at data, which there are none",
                               pool->program->file);
            p->part[r].open += count > 0 ? count : 0;
        }
        p->left += p->part[r].open > 0;
        p->part[r].over = s->rank[r].app;
    }
    dagi_sim_become(s, 0, pool);
}

/* Its parts wait for those of earlier pools that name a collection of it. Nonzero = no memory. */
static int follow(struct dagi_sim *s, dagi_sim_pool *p)
{
    for (dagi_sim_pool *q = s->pools; q; q = q->next) {
        if (!dagi_pool_shares(q->pool, p->pool))
            continue;
        dagi_sim_pool **grown = realloc(q->followers, ((size_t)q->nfollowers + 1) * sizeof *grown);
        if (!grown)
            return 1;
        q->followers = grown;
        q->followers[q->nfollowers++] = p;
        for (int r = 0; r < s->nranks; r++)
            p->part[r].waits += q->part[r].open > 0;
    }
    return 0;
}

static dagi_sim_pool *new_pool(struct dagi_sim *s, dag_taskpool *pool)
{
    static max_align_t anywhere; /* that there is a residence counts, nobody looks into it */
    struct dagi_residence *here = (struct dagi_residence *)(void *)&anywhere;
    int nclasses = pool->program->nclasses;
    dagi_sim_pool *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->pool = pool;
    p->part = calloc((size_t)s->nranks, sizeof *p->part);
    p->class_time = calloc((size_t)nclasses + 1, sizeof *p->class_time);
    p->on_device = calloc((size_t)nclasses + 1, sizeof *p->on_device);
    if (!p->part || !p->class_time || !p->on_device || follow(s, p) != 0) {
        free_pool(p);
        return NULL;
    }
    for (int c = 0; c < nclasses; c++) {
        const dag_class *cls = pool->program->classes[c];
        p->class_time[c] = dagi_sim_class_time(&s->machine, pool->program->name, cls->name);
        p->on_device[c] = (uint8_t)dagi_sim_has_device_body(s, pool->program, cls, pool->prec);
    }
    int64_t bytes = 0;
    for (int i = 0; i < pool->program->nslots; i++) {
        const dag_matrix *a = dagi_data_matrix(pool->data, i);
        dagi_data_name_residence(pool->data, i, here); /* all inputs come from dagi_sim_memory.bind() */
        bytes += a ? (int64_t)dagi_matrix_reach(a) : 0;
    }
    s->sums.largest = bytes > s->sums.largest ? bytes : s->sums.largest;
    return p;
}

void dagi_sim_add(dag_taskpool *pool)
{
    struct dagi_sim *s = dagi_sim_of(pool->ctx);
    pool->id = ++dagi_tasks(pool->ctx)->pools_added;
    atomic_store(&dagi_pool(pool)->state, DAGI_POOL_RUNNING);
    dagi_sim_pool *p = new_pool(s, pool);
    if (!p) {
        dagi_sim_short(s);
        return;
    }
    count_tasks(s, p);
    dagi_pool(pool)->comm = p;
    *s->pools_end = p;
    s->pools_end = &p->next;
    for (int r = 0; r < s->nranks; r++) {
        if (p->part[r].open == 0)
            continue;
        p->part[r].waits++; /* the application's own call */
        dagi_sim_post(s, s->rank[r].app, DAGI_SIM_BEGIN, r, p, 0);
    }
}

/* ---- they end -------------------------------------------------------------------------------- */

static dagi_sim_time step_of(const struct dagi_sim *s, int a, int b)
{
    return dagi_sim_latency(&s->wires, a, b) + s->machine.send + s->machine.receive;
}

/* Up the tree over all ranks and down again, as ends and barriers go: `when` is where each rank begins,
 * and becomes when it knows. */
static void agree(const struct dagi_sim *s, dagi_sim_time *when, size_t stride)
{
#define WHEN(r) (*(dagi_sim_time *)(void *)((char *)when + (size_t)(r) * stride))
    for (int r = s->nranks - 1; r > 0; r--) {
        int parent = (r - 1) / DAGI_TREE_WAYS;
        dagi_sim_time up = WHEN(r) + step_of(s, r, parent);
        if (up > WHEN(parent))
            WHEN(parent) = up;
    }
    for (int r = 1; r < s->nranks; r++) {
        int parent = (r - 1) / DAGI_TREE_WAYS;
        WHEN(r) = WHEN(parent) + step_of(s, parent, r);
    }
#undef WHEN
}

static int is_of(const dagi_sim_event *e, const dagi_sim_pool *p)
{
    switch ((enum dagi_sim_kind)e->kind) {
    case DAGI_SIM_BEGIN: return e->what == p;
    case DAGI_SIM_OVER: return ((struct dag_task *)e->what)->pool == p->pool;
    case DAGI_SIM_MESSAGE: return ((dagi_sim_message *)e->what)->cast->of == p;
    case DAGI_SIM_SET_OUT:
    case DAGI_SIM_PIECE: return ((dagi_sim_arrival *)e->what)->cast->of == p;
    default: return 0;
    }
}

static void forget_events(struct dagi_sim *s, const dagi_sim_pool *p)
{
    dagi_sim_events old = s->events;
    s->events = (dagi_sim_events){0};
    while (old.count > 0) {
        dagi_sim_event e;
        if (dagi_sim_events_pop(&old, &e) != 0) {
            dagi_sim_short(s);
            continue;
        }
        if (!is_of(&e, p)) {
            dagi_sim_post(s, e.at, (enum dagi_sim_kind)e.kind, (int)e.rank, e.what, e.extra);
            continue;
        }
        if (e.kind == DAGI_SIM_OVER) {
            dagi_task_drop(dagi_sim_worker(s), e.what);
            s->rank[e.rank].idle++;
        } else if (e.kind == DAGI_SIM_MESSAGE) {
            free(e.what);
        }
    }
    dagi_sim_events_fini(&old);
    dagi_sim_event e;
    for (size_t at = 0; dagi_sim_flow_next(s, &at, &e);) {
        if (!is_of(&e, p)) {
            at++;
            continue;
        }
        if (e.kind == DAGI_SIM_MESSAGE)
            free(e.what);
        dagi_sim_flow_drop(s, at);
    }
}

static int item_is_of(const dagi_sim_item *item, const dagi_sim_pool *p)
{
    if (item->job)
        return item->job->task->pool == p->pool;
    return (item->message ? item->message->cast->of : item->arrival->cast->of) == p;
}

static void forget_of_rank(struct dagi_sim *s, dagi_sim_rank *r, const dagi_sim_pool *p)
{
    dagi_ready_heap old = r->ready;
    r->ready = (dagi_ready_heap){0};
    for (size_t i = 0; i < old.count; i++) {
        struct dag_task *t = old.entry[i].what;
        if (t->pool == p->pool)
            dagi_task_drop(dagi_sim_worker(s), t);
        else if (dagi_ready_heap_push(&r->ready, old.entry[i]) != 0)
            dagi_sim_short(s);
    }
    dagi_ready_heap_fini(&old);
    dagi_sim_item **link = &r->inbox;
    while (*link) {
        dagi_sim_item *item = *link;
        if (!item_is_of(item, p)) {
            link = &item->next;
            continue;
        }
        *link = item->next;
        if (item->job)
            dagi_sim_job_forget(s, (int)(r - s->rank), item->job);
        free(item->message);
        free(item);
    }
    r->inbox_end = link;
}

/* Messages that wait for credit. */
static void forget_waiting(struct dagi_sim *s, const dagi_sim_pool *p)
{
    for (size_t i = 0; i < s->pairs.capacity; i++)
        for (dagi_sim_message **link = &s->pairs.table[i].waiting; *link;) {
            dagi_sim_message *m = *link;
            if (m->cast->of != p) {
                link = &m->next;
                continue;
            }
            *link = m->next;
            free(m);
        }
}

/* Nothing of a pool that has failed, or stalled, is left. */
static void forget(struct dagi_sim *s, dagi_sim_pool *p)
{
    struct dagi_worker *w = dagi_sim_worker(s);
    forget_events(s, p);
    for (int r = 0; r < s->nranks; r++) {
        forget_of_rank(s, &s->rank[r], p);
        dagi_sim_devices_forget(s, r, p);
        for (struct dag_task *t = p->part[r].early, *next; t; t = next) {
            next = t->next;
            dagi_task_drop(w, t);
        }
        p->part[r].over = p->part[r].open > 0 ? s->now : p->part[r].over;
    }
    forget_waiting(s, p);
    while (p->arrivals)
        dagi_sim_arrival_free(s, p->arrivals);
    while (p->casts) {
        p->casts->refs = 1;
        dagi_sim_cast_drop(s, p->casts);
    }
    dagi_deps_clear(w, p->pool);
}

/* The end of a pool on all ranks. */
static void conclude(struct dagi_sim *s, dagi_sim_pool *p)
{
    dag_taskpool *pool = p->pool;
    dagi_sim_pool **link = &s->pools;
    dagi_pool(pool)->comm = NULL;
    while (*link != p)
        link = &(*link)->next;
    *link = p->next;
    if (!*link)
        s->pools_end = link;
    if (p->left > 0)
        forget(s, p);
    agree(s, &p->part[0].over, sizeof *p->part);
    for (int r = 0; r < s->nranks; r++)
        if (p->part[r].over > s->rank[r].app)
            s->rank[r].app = p->part[r].over;
    dagi_sim_become(s, 0, pool);
    struct dagi_runner *runner = dagi_runner(dagi_sim_worker(s));
    runner->counted = atomic_load_explicit(&runner->done.completed, memory_order_relaxed);
    dag_status status = dagi_pool(pool)->status;
    int64_t info = dagi_pool(pool)->info;
    char *message = dagi_pool(pool)->message;
    dagi_pool(pool)->message = NULL;
    dagi_pool_unname(pool);
    atomic_store(&dagi_pool(pool)->state, DAGI_POOL_LOCAL);
    dagi_pool_end(pool, status, info, message ? message : "");
    free(message);
    free_pool(p);
}

/* Nothing will happen any more, and tasks have not run: the graph is wrong, and its other side says where. */
static void stall(struct dagi_sim *s, dagi_sim_pool *p)
{
    char *why = NULL;
    size_t size = 0;
    int64_t tasks = 0;
    for (int r = 0; r < s->nranks; r++)
        tasks += p->part[r].open;
    dagi_sim_become(s, 0, p->pool);
    FILE *out = open_memstream(&why, &size);
    if (out) {
        dagi_cause_write(p->pool, out);
        dagi_waiting_write(p->pool, dagi_deps_count(p->pool), out);
        fclose(out);
    }
    dagi_pool_fail(p->pool, DAG_ERR_STALL, "%s: %" PRId64 " tasks have not run on %d simulated ranks, and "
                   "nothing more will happen%s", p->pool->program->file, tasks, s->nranks,
                   why ? why : "");
    free(why);
}

void dagi_sim_wait(dag_taskpool *pool)
{
    struct dagi_sim *s = dagi_sim_of(pool->ctx);
    dagi_sim_pool *p = dagi_sim_pool_of(s, pool);
    while (p && p->left > 0 && !s->failed && !dagi_pool_is_poisoned(pool) && s->events.count > 0)
        dagi_sim_next(s);
    if (s->failed)
        dagi_pool_fail(pool, DAG_ERR_NOMEM, "no memory to simulate %s on %d ranks",
                       pool->program->name, s->nranks);
    else if (p && p->left > 0 && !dagi_pool_is_poisoned(pool))
        stall(s, p);
    if (p) {
        conclude(s, p);
    } else if (atomic_load(&dagi_pool(pool)->state) == DAGI_POOL_RUNNING) { /* it was never entered */
        atomic_store(&dagi_pool(pool)->state, DAGI_POOL_LOCAL);
        dagi_pool_end(pool, DAG_ERR_NOMEM, 0, dag_message(pool->ctx));
    }
    dagi_sim_become(s, 0, NULL);
}

void dagi_sim_barrier(dag_context *ctx)
{
    struct dagi_sim *s = dagi_sim_of(ctx);
    agree(s, &s->rank[0].app, sizeof *s->rank);
}

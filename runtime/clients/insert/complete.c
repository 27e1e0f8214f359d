/*
 * Completion of what was inserted, by the phases of task/completion.h: ranks are named and told as ever;
 * readers on this rank are not looked up, for the lists of versions have their tasks.
 */
#include "insert.h"

#include "../../task/completion.h"

#include <inttypes.h>
#include <stdio.h>

/* What is under way. */
typedef struct ending {
    insertion *s;
    struct dagi_worker *w;
    dagi_ready_list ready;
} ending;

/* The value of a version goes to its readers on this rank, and our reference with it. Returns it if there
 * are none. Under the lock. */
static inline dag_value *tell(ending *e, const version *v, dag_value *value)
{
    int readers = 0;
    if (!v->readers)
        return value;
    for (const argument *a = v->readers; a; a = a->next)
        readers += !a->control;
    if (readers > 1)
        dagi_value_retain(value, readers - 1);
    for (const argument *a = v->readers; a; a = a->next) {
        struct dag_task *t = a->record->task;
        if (dagi_door_arrive(e->w, e->s->door, t, a->flow, a->control ? NULL : value))
            dagi_ready_enter(&e->ready, t);
    }
    return readers == 0 ? value : NULL;
}

/* Ranks that read what t has made are told, with references of their own; what it has is still its. */
static __attribute__((noinline)) void tell_ranks(struct dagi_worker *w, struct dag_task *t)
{
    const dagi_remote_port *remote = dagi_tasks(w->ctx)->remote;
    dagi_completion c = {.visit = {.task = t}, .w = w, .pool = t->pool, .ndata = t->cls->ndata,
                         .mark = dagi_runner(w)->edges_used, .fanout = dagi_runner(w)->fanout};
    dagi_name(&c, t, DAG_VISIT_RANKS, UINT32_MAX);
    for (int f = 0; f < t->cls->ndata; f++) {
        int refs = remote->refs(c.fanout, f);
        if (refs > 0)
            dagi_value_retain(dag_task_flows(t)[f], refs);
    }
    dagi_tell_ranks(&c, t);
}

/* A worker that is alone has written a tile in memory, where it did not look before: see bind_kernel(). */
static inline bool is_made_alone(const insertion *s, const record *r, int a)
{
    return s->alone && r->arg[a].home && r->kind->access[a] == DAG_TILE_WRITE;
}

/* Nobody who is known reads that: then memory is all that it takes, and whoever names the tile again begins there. */
static bool settle(const ending *e, tile *t, version *v, dag_value *value)
{
    if (!e->s->settles || v->readers || t->now != v || v->refs != 2 + (t->first == v) || !value)
        return false;
    t->id |= FIRST_TOUCH;
    t->now = NULL;
    if (t->first)
        version_drop(e->s, t->first); /* that it has been read is known */
    t->first = NULL;
    v->superseded = 1;
    version_drop(e->s, v);
    version_drop(e->s, v);
    return true;
}

/* It may be held while the tile is written again, so stores have to look for it. */
static void keep_made(const ending *e, dag_value *value)
{
    if (value && dagi_value_track(e->s->pool, value) != 0)
        dagi_pool_fail(e->s->pool, DAG_ERR_NOMEM, "no memory to insert a task");
}

/* A kernel, Load or Home has run: what it has made is told, what it has read is let go of. */
static void end_record(ending *e, struct dag_task *t, record *r)
{
    dag_value **flows = dag_task_flows(t);
    for (int a = 0; a < t->cls->ndata; a++) {
        if (r->arg[a].out)
            continue;
        dagi_value_release(e->w, flows[a]);
        flows[a] = NULL;
    }
    hold(e->s);
    for (int a = 0; a < t->cls->ndata; a++) {
        version *v = r->arg[a].out;
        if (!v)
            continue;
        if (r->kind && is_made_alone(e->s, r, a)) {
            if (settle(e, r->arg[a].tile, v, flows[a]))
                continue;
            keep_made(e, flows[a]);
        }
        version_close(v, flows[a]);
        flows[a] = tell(e, v, flows[a]);
        version_drop(e->s, v);
    }
    stock_give_back(e->s, r, r->bytes);
    let_go(e->s);
}

dagi_ready_list insertion_release(struct dagi_worker *w, struct dag_task *t, uint32_t keep)
{
    const record *r = record_of(t);
    dag_value **flows = dag_task_flows(t);
    ending e = {.s = dagi_pool(t->pool)->door->client.own, .w = w};
    hold(e.s);
    for (int a = 0; a < t->cls->ndata; a++) {
        version *v = r->arg[a].out;
        if (!v)
            continue;
        bool kept = keep >> a & 1;
        version_close(v, flows[a]);
        if (kept && v->readers)
            dagi_value_retain(flows[a], 1);
        dag_value *left = tell(&e, v, flows[a]);
        flows[a] = kept ? flows[a] : left;
    }
    let_go(e.s);
    for (int a = 0; a < t->cls->ndata; a++) {
        if (keep >> a & 1)
            continue;
        dagi_value_release(w, flows[a]);
        flows[a] = NULL;
    }
    return e.ready;
}

void insertion_retire(struct dag_task *t)
{
    insertion *s = dagi_pool(t->pool)->door->client.own;
    record *r = record_of(t);
    hold(s);
    for (int a = 0; a < t->cls->ndata; a++) {
        if (r->arg[a].out)
            version_drop(s, r->arg[a].out);
    }
    stock_give_back(s, r, r->bytes);
    let_go(s);
}

/* A version has come: all of its readers have been waiting for that. */
static void end_arrive(ending *e, struct dag_task *t, int64_t id)
{
    version *v = version_arrived(e->s, id);
    dag_value **flows = dag_task_flows(t);
    hold(e->s);
    version_close(v, flows[0]);
    flows[0] = tell(e, v, flows[0]);
    let_go(e->s);
    version_unawait(e->s, v);
}

static void end_send(insertion *s, const reader_rank *r)
{
    hold(s);
    version_drop(s, r->version);
    let_go(s);
}

dagi_ready_list insertion_complete(struct dagi_worker *w, struct dag_task *t)
{
    dag_taskpool *pool = t->pool;
    const dag_class *cls = t->cls;
    const int32_t *params = dagi_task_locals(t);
    void *at = (void *)(uintptr_t)get_64(params + 2);
    ending e = {.s = dagi_pool(pool)->door->client.own, .w = w};
    if (cls->stores && !dagi_pool_is_poisoned(pool))
        cls->stores(t, pool->globals);
    if (dagi_runner(w)->fanout && cls->successors)
        tell_ranks(w, t);
    insertion_look *look =
        cls->id == LOOK ? *(insertion_look *const *)((const record *)at)->args : NULL;
    if (cls->id == ARRIVE)
        end_arrive(&e, t, (int64_t)get_64(params));
    else if (cls->id == SEND)
        end_send(e.s, at);
    else
        end_record(&e, t, at);
    for (int f = 0; f < cls->ndata; f++)
        if (dag_task_flows(t)[f])
            dagi_value_release(w, dag_task_flows(t)[f]); /* what nobody reads here */
    if (look) {
        atomic_store(&look->seen, 1); /* it may be gone from here on */
        dagi_tasks(w->ctx)->crew->news(w->ctx);
    }
    if (DAGI_UNLIKELY(dagi_runner(w)->special)) {
        e.ready.rest = dagi_ready_here(w, e.ready.rest);
        e.ready.best = dagi_ready_here(w, e.ready.best);
    }
    dagi_completed(w, t);
    return e.ready;
}

void insertion_name_missing(struct dag_task *t, char *text, size_t size)
{
    const insertion *s = dagi_pool(t->pool)->door->client.own;
    long cls = t->cls - s->of->classes;
    if (cls == ARRIVE || cls == SEND) /* which have no record */
        return;
    const record *r = record_of(t);
    size_t used = 0;
    for (int a = 0; a < r->nargs && used < size; a++) {
        const tile *named = r->arg[a].tile;
        if (!named || t->arrived >> r->arg[a].flow & 1 || (r->kind && !(r->kind->access[a] & DAG_TILE_READ)) || r->arg[a].home)
            continue;
        const dag_collection *c = dagi_pool(t->pool)->collections[named->slot];
        char column[32] = "";
        if (c->nindex > 1)
            snprintf(column, sizeof column, ", %" PRId64, named->index[1]);
        int n = snprintf(text + used, size - used, "%s%s(%" PRId64 "%s)", used ? ", " : "", c->name,
                         named->index[0], column);
        used += n > 0 ? (size_t)n : 0;
    }
}

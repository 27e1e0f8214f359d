/*
 * Completion of a task on a device, out of the phases of task/completion.h: when it is issued its
 * successors on this rank get its values, when it has run the rest is told.
 */
#include "complete.h"
#include "device_impl.h"

#include "../task/completion.h"
#include "../task/door.h"

#include <string.h>

static void begin(dagi_completion *c, struct dagi_worker *w, struct dag_task *t,
                  const dagi_job *job)
{
    memset(c, 0, sizeof *c);
    c->visit.task = t;
    c->w = w;
    c->pool = t->pool;
    c->ndata = t->cls->ndata;
    c->mark = dagi_runner(w)->edges_used;
    c->job = job;
}

uint32_t dagi_task_remote(struct dagi_worker *w, struct dag_task *t)
{
    const dagi_remote_port *remote = dagi_tasks(w->ctx)->remote;
    dagi_completion c;
    uint32_t mask = 0;
    if (!t->cls->successors)
        return 0;
    begin(&c, w, t, NULL);
    c.fanout = dagi_runner(w)->fanout;
    dagi_name(&c, t, DAG_VISIT_RANKS, UINT32_MAX);
    for (int f = 0; f < t->cls->ndata; f++)
        mask |= (uint32_t)(remote->refs(c.fanout, f) > 0) << f;
    remote->forget(c.fanout);
    return mask;
}

/* A visit that looks at the first edge alone: rows are expected when their turn has come. */
struct foresight {
    dag_visit visit; /* first */
    const dag_taskpool *pool;
    struct dag_task *const *chain;
};

static void foresee_edge(dag_visit *v, const dag_edge *edge, const int32_t *params)
{
    struct foresight *s = (struct foresight *)(void *)v;
    if (!s->chain)
        s->chain = dagi_deps_chain(s->pool, edge->target, params);
}

struct dag_task *const *dagi_task_foresee(struct dagi_worker *w, struct dag_task *t)
{
    const dag_taskpool *pool = t->pool;
    /* Guards that read what the body computes cannot be asked yet. */
    if (!atomic_load_explicit(&dagi_pool(pool)->crowded, memory_order_relaxed) ||
        !dagi_unlocked(w->ctx) || !t->cls->successors || pool->program->dynamic ||
        dagi_is_given(t))
        return NULL;
    struct foresight s = {.visit = {.mode = DAG_VISIT_LOCAL,
                                    .mask = dagi_data_mask(t->cls),
                                    .task = t,
                                    .edge = foresee_edge},
                          .pool = pool};
    t->cls->successors(&s.visit, pool->globals, dagi_task_locals(t));
    return s.chain;
}

/* Tell those on this rank that are named by flows in `mask`: what is ready. */
static struct dag_task *tell_local(dagi_completion *c, struct dag_task *t, uint32_t mask, uint32_t keep)
{
    dag_value **values = dag_task_flows(t);
    if (t->cls->successors)
        dagi_name(c, t, DAG_VISIT_LOCAL, mask);
    for (uint32_t f = 0; f < c->ndata; f++)
        c->refs[f] += (int32_t)(keep >> f & 1);
    dagi_share(c, values, mask);
    dagi_source source = {t->cls, dagi_task_locals(t)};
    bool crowded = atomic_load_explicit(&dagi_pool(c->pool)->crowded, memory_order_relaxed);
    dagi_ready_list ready = crowded ? dagi_tell(c, values, &source, true, 1)
                                    : dagi_tell(c, values, &source, false, 1);
    for (uint32_t f = 0; f < c->ndata; f++) {
        if (mask >> f & ~(keep >> f) & 1)
            values[f] = NULL;
    }
    return dagi_ready_joined(ready);
}

/* What is ready on cores is w's. */
static void hand_on(struct dagi_worker *w, struct dag_task *list)
{
    list = dagi_ready_here(w, list);
    if (list)
        dagi_ready(w, list);
}

struct dag_task *dagi_task_released(struct dagi_worker *w, struct dag_task *t, uint32_t keep)
{
    dagi_completion c;
    if (dagi_is_given(t))
        return dagi_ready_joined(dagi_pool(t->pool)->door->client.release(w, t, keep));
    begin(&c, w, t, NULL);
    return tell_local(&c, t, dagi_data_mask(t->cls), keep);
}

void dagi_task_release(struct dagi_worker *w, struct dag_task *t, uint32_t keep)
{
    hand_on(w, dagi_task_released(w, t, keep));
}

void dagi_task_send(struct dagi_worker *w, const dagi_job *job)
{
    struct dag_task *t = job->task;
    const dagi_remote_port *remote = dagi_tasks(w->ctx)->remote;
    dagi_completion c;
    dag_value **values = dag_task_flows(t);
    if (!t->cls->successors)
        return;
    begin(&c, w, t, job);
    c.fanout = dagi_runner(w)->fanout;
    dagi_name(&c, t, DAG_VISIT_RANKS, UINT32_MAX);
    for (uint32_t f = 0; f < c.ndata; f++) {
        int refs = values[f] ? remote->refs(c.fanout, (int)f) : 0;
        if (refs > 0)
            dagi_value_retain(values[f], refs);
    }
    dagi_tell_ranks(&c, t);
}

struct dag_task *dagi_task_retired(struct dagi_worker *w, struct dag_task *t, const struct dagi_job *job)
{
    const dag_class *cls = t->cls;
    struct dag_task *list = NULL;
    dagi_completion c;
    begin(&c, w, t, job);
    if (!(job && job->sent) && cls->successors)
        c.fanout = dagi_runner(w)->fanout;
    if (c.fanout)
        dagi_name(&c, t, DAG_VISIT_RANKS, UINT32_MAX);
    dagi_share(&c, dag_task_flows(t), dagi_data_mask(cls));
    if (c.fanout)
        dagi_tell_ranks(&c, t);
    c.fanout = NULL;
    if (dagi_is_given(t))
        dagi_pool(t->pool)->door->client.retire(t);
    else if (cls->nflows > cls->ndata)
        list = tell_local(&c, t, ~dagi_data_mask(cls), 0);
    dagi_completed(w, t);
    return list;
}

void dagi_task_retire(struct dagi_worker *w, const dagi_job *job)
{
    dagi_count_for(w, job->task->pool);
    hand_on(w, dagi_task_retired(w, job->task, job));
}

void dagi_task_complete_here(struct dagi_worker *w, struct dag_task *t, const dagi_job *job)
{
    dagi_count_for(w, t->pool);
    t->owner = w;
    struct dag_task *list = dagi_ready_joined(dagi_is_given(t) ? dagi_pool(t->pool)->door->client.complete(w, t)
                                                          : dagi_task_complete_job(w, t, job));
    if (list)
        dagi_ready(w, list);
}

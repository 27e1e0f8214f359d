/*
 * What follows from a task whose kernels are enqueued: new versions of what it writes, its stores, and
 * its successors. What cannot be told before the end is told by retire.c.
 */
#include "../data/table.h"
#include "../trace/trace.h"
#include "complete.h"
#include "device_impl.h"
#include "resident.h"

void dagi_commit(struct dagi_worker *w, dagi_job *job)
{
    dagi_device *d = job->device;
    dag_value **flow = dag_task_flows(job->task);
    uint64_t due = job->issued_at + (uint64_t)(d->jobs.ahead + job->estimate);
    for (int f = 0; f < job->ndata; f++) {
        dagi_job_flow *j = &job->flow[f];
        if (j->use == DAGI_FLOW_UPDATE || j->use == DAGI_FLOW_REPLACE) {
            dagi_copies_written(d->all, flow[f], d->space, job->done, due);
            if (job->id)
                dagi_record_brought(flow[f], d->space, job->id);
            dagi_memory_dirty(d->memory, j->block, 1);
        }
        if (j->old) {
            dagi_value_release(w, j->old);
            j->old = NULL;
            dagi_count(&d->counts.renames, 1);
            atomic_fetch_add_explicit(&dagi_pool(job->task->pool)->stats.renames, 1,
                                      memory_order_relaxed);
        }
        if (j->block) {
            dagi_memory_next_use(d->memory, j->block, INT64_MIN);
            dagi_memory_unpin(d->memory, j->block);
            j->block = NULL;
        }
    }
    if (job->workspace)
        dagi_memory_release(d->memory, job->workspace, &job->done, 1);
    job->workspace = NULL;
}

static uint32_t nonnull(dagi_job *job)
{
    uint32_t mask = 0;
    for (int f = 0; f < job->ndata; f++)
        mask |= (uint32_t)(dag_task_flows(job->task)[f] != NULL) << f;
    return mask;
}

int dagi_device_plans(struct dag_task *task, int flow, int slot, const dag_element *e)
{
    dagi_store_plan *plan = dagi_driver(task->owner)->store_plan;
    if (!plan)
        return 0;
    dagi_pool_data *data = task->pool->data;
    const dag_value *v = dag_task_flows(task)[flow];
    int home = v->ptr == e->ptr && v->ld == e->ld;
    if (home && data->slot[slot].mode == DAG_MEM_INPLACE && !data->program->aliased)
        home = !dagi_table_waits(data, e);
    if (home && dagi_resident_stays(data->slot[slot].residence))
        plan->stay |= UINT32_C(1) << flow;
    *(home ? &plan->home : &plan->away) |= UINT32_C(1) << flow;
    return 1;
}

dagi_result dagi_follow_up(struct dagi_worker *w, dagi_job *job)
{
    struct dag_task *t = job->task;
    dag_taskpool *pool = t->pool;
    dagi_store_plan stores = {0, 0, 0};
    dagi_result result = DAGI_OK;
    if (t->cls->stores && !dagi_pool_is_poisoned(pool)) {
        dagi_driver(w)->store_plan = &stores;
        t->cls->stores(t, pool->globals);
        dagi_driver(w)->store_plan = NULL;
    }
    job->late = pool->program->dynamic || stores.away;
    job->sets.save = (stores.home & ~stores.stay) | stores.away;
    if (pool->program->dynamic)
        job->sets.save = UINT32_MAX;
    if (w->ctx->size > 1) {
        uint32_t remote = dagi_task_remote(w, t) & nonnull(job);
        job->sets.departs = dagi_depart(job, remote);
        job->sets.awaited = remote & ~job->sets.departs;
    }
    job->sets.save = (job->sets.save | job->sets.awaited) & nonnull(job);
    if (!job->late && stores.home && !dagi_pool_is_poisoned(pool))
        t->cls->stores(t, pool->globals); /* only marks */
    for (int f = 0; f < job->ndata && result != DAGI_LOST; f++) {
        if (!(job->sets.save >> f & 1))
            continue;
        result = dagi_transfer_save(job->device, dag_task_flows(t)[f], &job->flow[f].saved);
        if (result == DAGI_OK)
            continue;
        job->sets.unsaved |= UINT32_C(1) << f;
        /* Evicted, it would be another device that has to save it, and nobody would ask that one. */
        job->flow[f].block = dagi_resident_pin(job->device, dag_task_flows(t)[f]);
    }
    if (DAGI_TRACK(w))
        dagi_record_release(w, job);
    if (!job->late)
        dagi_task_release(w, t, job->sets.save | job->sets.departs);
    return result == DAGI_LOST ? DAGI_LOST : DAGI_OK;
}

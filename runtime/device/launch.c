/* The body of a task on a device: its lane, what stands in its way there, and the kernels that it enqueues. */
#include "complete.h"
#include "device_impl.h"

#include "../trace/trace.h"

#include <stdlib.h>
#include <string.h>

/* That of its class, or behind what a flow waits for anyway, or in turn. */
static dagi_lane *choose_lane(dagi_job *job)
{
    dagi_device *d = job->device;
    dag_value **flow = dag_task_flows(job->task);
    int own = dagi_pool(job->task->pool)->classes[job->task->cls->id].queue;
    if (own) /* the urgent queue is nobody's own; those of few share */
        return &d->exec[(own - 1) % (d->all->lanes - 1) + 1];
    if (job->task->cls->high_priority)
        return &d->exec[0];
    for (int f = job->ndata - 1; f >= 0; f--) {
        dagi_copies *c = job->flow[f].use == DAGI_FLOW_UPDATE ? dagi_copies_get(flow[f]) : NULL;
        if (!c)
            continue;
        dagi_lock(&c->lock);
        dagi_ticket written = c->copy[d->space].written;
        dagi_unlock(&c->lock);
        for (int i = 1, lanes = d->all->lanes; i < lanes; i++) {
            if (written.queue == &d->exec[i].order && !dagi_ticket_passed(written))
                return &d->exec[i];
        }
    }
    d->jobs.turn = d->jobs.turn + 1 < d->all->lanes ? d->jobs.turn + 1 : 1;
    return &d->exec[d->jobs.turn];
}

/* Content of values that are replaced; with tickets of their own, so before the users of this one. */
static dagi_result clone_flows(struct dagi_worker *w, dagi_job *job)
{
    dagi_device *d = job->device;
    dagi_result result = DAGI_OK;
    for (int f = 0; f < job->ndata && result == DAGI_OK; f++) {
        const dagi_job_flow *j = &job->flow[f];
        if (j->use != DAGI_FLOW_REPLACE || !j->content)
            continue;
        if (DAGI_TRACK(w))
            d->tracks.input = dagi_trace_input(job->task, f);
        result = dagi_transfer_clone(d, job->lane, j->old, j->block);
        if (dagi_lane_mark(job->lane, job->task->pool) != DAGI_OK)
            result = DAGI_LOST;
        if (result == DAGI_OK && DAGI_TRACK(w))
            dagi_record_brought(dag_task_flows(job->task)[f], d->space,
                                dagi_lane_latest(job->lane)->id);
    }
    return result;
}

static dagi_result attach_flows(dagi_job *job)
{
    dagi_device *d = job->device;
    dag_value **flow = dag_task_flows(job->task);
    dagi_result result = DAGI_OK;
    for (int f = 0; f < job->ndata && result == DAGI_OK; f++) {
        const dagi_job_flow *j = &job->flow[f];
        if (j->use == DAGI_FLOW_READ || j->use == DAGI_FLOW_UPDATE)
            result = dagi_transfer_attach(d, job->lane, flow[f], j->use == DAGI_FLOW_UPDATE);
    }
    return result;
}

static void set_views(dagi_job *job)
{
    dag_value **flow = dag_task_flows(job->task);
    for (int f = 0; f < job->ndata; f++) {
        const dag_value *v = flow[f];
        const dagi_block *block = job->flow[f].block;
        for (int g = 0; g < f && job->flow[f].use == DAGI_FLOW_SAME && !block; g++) {
            if (flow[g] == v && job->flow[g].use == DAGI_FLOW_READ)
                block = job->flow[g].block;
        }
        job->views[f] = (dag_value){0};
        if (v && block)
            job->views[f] = (dag_value){block->at, v->m > 0 ? v->m : 1, v->m, v->n, v->elem};
    }
}

/* What kernels report is fetched behind them. */
static dagi_result fetch_info(dagi_job *job)
{
    dagi_device *d = job->device;
    dagi_result result = DAGI_OK;
    for (int i = 0; i < job->ninfo && result == DAGI_OK; i++) {
        int slot = job->info[i].slot;
        dagi_copy_job copy = dagi_copy_of_report(&d->reports.host[slot], &d->reports.device[slot]);
        result = DAGI_REFUSED;
        for (int k = 0; k < DAGI_TRIES && result != DAGI_OK && result != DAGI_LOST; k++)
            result = dagi_backend_of(d)->copy_out(job->lane->queue, &copy);
    }
    return result;
}

/* Programs without kernels lack it. */
extern double dag_kernels_launched_flops(void) __attribute__((weak));

static dagi_result run_body(struct dagi_worker *w, dagi_job *job)
{
    struct dag_task *t = job->task;
    const dagi_backend *backend = dagi_backend_of(job->device);
    dagi_driver(w)->job = job;
    job->moved.in = job->moved.out = 0;
    int done = job->body->fn[t->pool->prec](t, t->pool->globals);
    dagi_driver(w)->job = NULL;
    if (dag_kernels_launched_flops)
        job->flops += dag_kernels_launched_flops();
    dagi_result result = backend->launched(job->lane->queue);
    if (result == DAGI_UNSURE)
        result = done == DAG_BODY_DONE ? DAGI_TORN : DAGI_REFUSED;
    if (result == DAGI_OK && done != DAG_BODY_DONE)
        result = DAGI_REFUSED;
    if (result != DAGI_OK)
        return result;
    result = fetch_info(job);
    return result == DAGI_OK || result == DAGI_LOST ? result : DAGI_TORN;
}

dagi_result dagi_launch(struct dagi_worker *w, dagi_job *job)
{
    job->lane = choose_lane(job);
    dagi_result result = clone_flows(w, job);
    job->done = dagi_lane_next(job->lane);
    if (result == DAGI_OK)
        result = attach_flows(job);
    if (result == DAGI_OK) {
        if (DAGI_TRACK(w))
            dagi_record_inputs(w, job);
        set_views(job);
        result = run_body(w, job);
    }
    /* Whatever became of it: its ticket has been told to others. */
    if (dagi_lane_mark(job->lane, job->task->pool) != DAGI_OK)
        result = DAGI_LOST;
    return result;
}

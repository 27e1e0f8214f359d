/* The bodies of tasks on a device: their lane, what stands in their way there, and the kernels that they enqueue. */
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

/* Programs without kernels lack these. */
extern double dag_kernels_launched_flops(void) __attribute__((weak));
extern int dag_kernels_gather_begin(dag_device_queue *queue, int tasks) __attribute__((weak));
extern void dag_kernels_gather_task(void) __attribute__((weak));
extern int dag_kernels_gather_end(int launch) __attribute__((weak));

/* Nonzero: it says that it is done. */
static int run_body(struct dagi_worker *w, dagi_job *job)
{
    struct dag_task *t = job->task;
    set_views(job);
    dagi_driver(w)->job = job;
    job->moved.in = job->moved.out = 0;
    int done = job->body->fn[t->pool->prec](t, t->pool->globals) == DAG_BODY_DONE;
    dagi_driver(w)->job = NULL;
    if (dag_kernels_launched_flops)
        job->flops += dag_kernels_launched_flops();
    return done;
}

/* Bodies of several jobs run one after the other, and their kernels are launched when all have run. If one
 * refuses nothing is, unless some kernel went before. */
static dagi_result run_bodies(struct dagi_worker *w, dagi_job *const *jobs, int count)
{
    dag_device_queue *queue = jobs[0]->lane->queue;
    int gathers = count > 1 && dag_kernels_gather_begin && dag_kernels_gather_begin(queue, count);
    int done = 1, enqueued = 0; /* enqueued: something of those before the last that ran */
    for (int i = 0; i < count && done; i++) {
        enqueued = i > 0;
        if (gathers && i > 0)
            dag_kernels_gather_task();
        done = run_body(w, jobs[i]);
    }
    if (gathers)
        enqueued = dag_kernels_gather_end(done);
    dagi_result result = dagi_backend_of(jobs[0]->device)->launched(queue);
    if (result == DAGI_UNSURE)
        return done || enqueued ? DAGI_TORN : DAGI_REFUSED;
    if (result == DAGI_OK && !done)
        return enqueued ? DAGI_TORN : DAGI_REFUSED;
    for (int i = 0; i < count && result == DAGI_OK; i++) {
        result = fetch_info(jobs[i]);
        if (result != DAGI_OK && result != DAGI_LOST)
            result = DAGI_TORN;
    }
    return result;
}

dagi_result dagi_launch(struct dagi_worker *w, dagi_job *const *jobs, int count)
{
    dagi_lane *lane = choose_lane(jobs[0]);
    dagi_result result = DAGI_OK;
    for (int i = 0; i < count && result == DAGI_OK; i++) {
        jobs[i]->lane = lane;
        result = clone_flows(w, jobs[i]);
    }
    for (int i = 0; i < count && result == DAGI_OK; i++)
        result = attach_flows(jobs[i]);
    for (int i = 0; i < count; i++) {
        jobs[i]->lane = lane;
        jobs[i]->done = dagi_lane_next(lane);
        if (result == DAGI_OK && DAGI_TRACK(w))
            dagi_record_inputs(w, jobs[i]);
    }
    if (result == DAGI_OK)
        result = run_bodies(w, jobs, count);
    /* Whatever became of it: its ticket has been told to others. */
    if (dagi_lane_mark(lane, jobs[0]->task->pool) != DAGI_OK)
        result = DAGI_LOST;
    return result;
}

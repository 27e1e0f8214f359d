/*
 * Issue of one task, or of several whose kernels are launched together: flows are reserved, filled, bodies enqueue
 * kernels. Until these are enqueued nothing has happened that is not undone; what follows is told by follow.c.
 */
#include "../trace/trace.h"
#include "complete.h"
#include "device_impl.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is needed ------------------------------------------------------------------------- */

static void plan_flow(dagi_job *job, int f)
{
    struct dag_task *t = job->task;
    dag_value **flow = dag_task_flows(t);
    dagi_job_flow *j = &job->flow[f];
    memset(j, 0, sizeof *j);
    if (!flow[f])
        return;
    dag_access access = t->cls->flows[f].access;
    int home = (atomic_load_explicit(&dagi_value_of(flow[f])->flags, memory_order_relaxed) &
                DAGI_VALUE_HOME) != 0;
    /* Bound as NEW, by this task. */
    j->fresh = (access & DAG_WRITE) && !home && !(t->arrived >> f & 1);
    /* The part of an element that the body leaves alone has to come back as it was. */
    j->content = access == DAG_WRITE ? home : !j->fresh;
    if (access & DAG_WRITE) {
        j->use = dagi_value_in_place(flow[f]) ? DAGI_FLOW_UPDATE : DAGI_FLOW_REPLACE;
        if (j->use == DAGI_FLOW_UPDATE)
            dagi_value_anew(flow[f]);
        return;
    }
    j->use = DAGI_FLOW_READ;
    for (int g = 0; g < f; g++) {
        if (flow[g] == flow[f] && job->flow[g].use == DAGI_FLOW_READ)
            j->use = DAGI_FLOW_SAME;
    }
}

/* ---- memory --------------------------------------------------------------------------------- */

static void unpin_all(dagi_job *job)
{
    for (int f = 0; f < job->ndata; f++) {
        if (job->flow[f].block)
            dagi_memory_unpin(job->device->memory, job->flow[f].block);
        job->flow[f].block = NULL;
    }
}

/* Evict what the request needs; the number of blocks. */
static int make_room(dagi_device *d, const size_t *bytes, int count, dagi_result *result)
{
    enum { MOST = 64 };
    dagi_block *victims[MOST];
    int done = 0;
    dagi_slips_next_use(d);
    int n = dagi_memory_victims(d->memory, bytes, count, victims, MOST);
    if (n > 0 && !d->jobs.passed)
        d->jobs.passed = 1;
    for (int i = 0; i < n && *result == DAGI_OK; i++)
        done += dagi_transfer_evict(d, victims[i], result);
    return done;
}

/* Something will give memory back without any eviction; messages that are sent from here, too. */
static int under_way(const dagi_device *d)
{
    int busy = dagi_lane_busy(&d->in) || dagi_lane_busy(&d->out) || d->departing > 0;
    for (int i = 0, lanes = d->all->lanes; i < lanes; i++)
        busy |= dagi_lane_busy(&d->exec[i]);
    return busy;
}

/* All requests of the job: the flows that have no block, and the workspace. */
static int list_requests(const dagi_job *job, size_t *bytes, int *which)
{
    int n = 0;
    dag_value **flow = dag_task_flows(job->task);
    for (int f = 0; f < job->ndata; f++) {
        uint8_t use = job->flow[f].use;
        if (use == DAGI_FLOW_NONE || use == DAGI_FLOW_SAME || job->flow[f].block)
            continue;
        which[n] = f;
        bytes[n++] = dagi_value_bytes(flow[f]);
    }
    if (job->workspace_bytes) {
        which[n] = -1;
        bytes[n++] = job->workspace_bytes;
    }
    return n;
}

static int reserve_now(dagi_job *job, size_t *bytes, int *n)
{
    int which[DAG_MAX_FLOWS + 1];
    dagi_block *blocks[DAG_MAX_FLOWS + 1];
    *n = list_requests(job, bytes, which);
    int rc = *n ? dagi_memory_reserve(job->device->memory, bytes, *n, blocks) : 0;
    for (int i = 0; i < *n && rc == 0; i++) {
        if (which[i] < 0)
            job->workspace = blocks[i];
        else
            job->flow[which[i]].block = blocks[i];
    }
    return rc;
}

/* Reserve all flows and the workspace, or nothing. *result: why not, if waiting is no help. Nothing leaves for
 * one that joins others. */
static dagi_issue_result reserve(dagi_job *job, int joins, dagi_result *result, const char **why)
{
    dagi_device *d = job->device;
    dag_value **flow = dag_task_flows(job->task);
    size_t bytes[DAG_MAX_FLOWS + 1];
    int n, hits = 0;
    for (int f = 0; f < job->ndata; f++) {
        if (job->flow[f].use == DAGI_FLOW_READ || job->flow[f].use == DAGI_FLOW_UPDATE) {
            job->flow[f].block = dagi_resident_pin(d, flow[f]);
            hits += job->flow[f].block != NULL;
        }
    }
    int rc = reserve_now(job, bytes, &n);
    if ((rc == 1 || rc == 3) && !joins && make_room(d, bytes, n, result) > 0)
        rc = reserve_now(job, bytes, &n);
    if (rc == 0) {
        dagi_count(&d->counts.hits, hits);
        return DAGI_ISSUED;
    }
    unpin_all(job);
    /* While nothing is under way nothing will retire. So everything leaves, what this task would find
     * here included, and its flows find room side by side. */
    if (*result == DAGI_OK && !joins && !under_way(d)) {
        int gone = 0, more;
        while ((more = make_room(d, d->piece.size, d->piece.count, result)) > 0 && *result == DAGI_OK)
            gone += more;
        dagi_memory_stats m;
        dagi_memory_stats_get(d->memory, &m);
        int empty = m.held == 0 && m.retiring == 0;
        if (gone == 0 && *result == DAGI_OK && (rc == 3 || (d->piece.count > 1 && empty))) {
            *why = rc == 3 ? "the host has no memory left to describe blocks of the device's"
                           : "what it needs does not fit into the pieces that the device's memory comes in";
            *result = DAGI_NOMEM;
        }
    }
    return DAGI_ISSUE_WAIT;
}

/* ---- content -------------------------------------------------------------------------------- */

/* Others than this task and the table of its pool are going to use the value, or may be. */
static int has_others(dag_value *value)
{
    dagi_value *v = dagi_value_of(value);
    uint32_t flags = atomic_load_explicit(&v->flags, memory_order_relaxed);
    return (flags & DAGI_VALUE_RESIDENT) || atomic_load_explicit(&v->refs, memory_order_relaxed) >
                                                (flags & DAGI_VALUE_KEPT ? 2 : 1);
}

/* What a flow replaces, and others use, comes here once for all of them and is cloned here, if there is
 * room: else it would come for the clone, and then for the others. */
static dagi_result bring_old(dagi_job *job, int f)
{
    dagi_device *d = job->device;
    dag_value **flow = dag_task_flows(job->task);
    size_t bytes = dagi_value_bytes(flow[f]);
    dagi_block *block = dagi_resident_pin(d, flow[f]);
    if (block) {
        dagi_memory_unpin(d->memory, block);
        return DAGI_OK;
    }
    for (int g = 0; g < job->ndata; g++) {
        if (flow[g] == flow[f] && job->flow[g].use == DAGI_FLOW_READ)
            return DAGI_OK; /* that one brings it */
    }
    if (!job->flow[f].content || !has_others(flow[f]) ||
        dagi_memory_reserve(d->memory, &bytes, 1, &block) != 0)
        return DAGI_OK;
    job->filled |= DAGI_FILLED_WRITTEN;
    dagi_result result = dagi_transfer_fill(d, flow[f], block, 0);
    dagi_memory_unpin(d->memory, block);
    if (result != DAGI_OK)
        dagi_memory_release(d->memory, block, NULL, 0);
    return result;
}

static dagi_result fill_flow(struct dagi_worker *w, dagi_job *job, int f)
{
    dagi_device *d = job->device;
    dag_value **flow = &dag_task_flows(job->task)[f];
    dagi_job_flow *j = &job->flow[f];
    if (DAGI_TRACK(w))
        d->tracks.input = dagi_trace_input(job->task, f);
    if (j->use == DAGI_FLOW_REPLACE) {
        dagi_result result = bring_old(job, f);
        if (result != DAGI_OK)
            return result;
        const dag_shape shape = {(*flow)->m, (*flow)->n, (*flow)->elem};
        dag_value *own = dagi_value_new(w, job->task->pool, &shape);
        if (!own)
            return DAGI_NOMEM;
        j->old = *flow;
        *flow = own;
        return dagi_transfer_fill(d, own, j->block, 1);
    }
    if (j->block->value == *flow)
        return DAGI_OK; /* it was here */
    if (j->content)
        job->filled |= j->use == DAGI_FLOW_READ ? DAGI_FILLED_READ : DAGI_FILLED_WRITTEN;
    return dagi_transfer_fill(d, *flow, j->block, !j->content);
}

static dagi_result fill(struct dagi_worker *w, dagi_job *job)
{
    dagi_result result = DAGI_OK;
    for (int f = 0; f < job->ndata && result == DAGI_OK; f++) {
        if (job->flow[f].block)
            result = fill_flow(w, job, f);
    }
    return result;
}

/* A value that was to take the place of another one; the copy to it may be under way. */
static void drop_own(struct dagi_worker *w, const dagi_job *job, dag_value *own)
{
    dagi_copies *c = dagi_copies_get(own);
    if (c && job->done.queue) {
        dagi_lock(&c->lock);
        c->copy[job->device->space].written = job->done;
        dagi_unlock(&c->lock);
    }
    dagi_value_release(w, own);
}

/* Nothing was launched: the flows are as before. Copies that were filled stay. */
static void undo(struct dagi_worker *w, dagi_job *job)
{
    dagi_device *d = job->device;
    dag_value **flow = dag_task_flows(job->task);
    for (int f = 0; f < job->ndata; f++) {
        dagi_job_flow *j = &job->flow[f];
        if (j->block && !j->block->value) {
            j->block->living = NULL;
            dagi_memory_unpin(d->memory, j->block);
            dagi_memory_release(d->memory, j->block, NULL, 0);
        } else if (j->block) {
            dagi_memory_unpin(d->memory, j->block);
        }
        j->block = NULL;
        if (j->old) {
            drop_own(w, job, flow[f]);
            flow[f] = j->old;
            j->old = NULL;
        }
    }
    if (job->workspace)
        dagi_memory_release(d->memory, job->workspace, &job->done, job->done.queue != NULL);
    job->workspace = NULL;
    for (int i = 0; i < job->ninfo; i++)
        dagi_info_clear(d, job->info[i].slot, job->lane); /* half a body may have written it */
    job->ninfo = 0;
}

/* ---- the end of the issue ------------------------------------------------------------------- */

static void enlist(dagi_job *job)
{
    dagi_device *d = job->device;
    dagi_job_list *list = &d->jobs.issued[job->lane - d->exec];
    job->next = NULL;
    *(list->first ? &list->last->next : &list->first) = job;
    list->last = job;
    d->jobs.nissued++;
    d->jobs.nahead++;
    d->jobs.ahead += job->estimate;
    atomic_fetch_sub_explicit(&d->load.unissued, 1, memory_order_relaxed);
}

/* The pool has failed: the task does nothing, as on a core. */
static void skip(struct dagi_worker *w, dagi_job *job)
{
    dagi_device *d = job->device;
    struct dag_task *t = job->task;
    atomic_fetch_sub_explicit(&d->load.unissued, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&d->load.backlog, job->estimate, memory_order_relaxed);
    dagi_slips_forget_use(d, t);
    dagi_job_free(job);
    dagi_task_complete_here(w, t, NULL);
    atomic_fetch_sub(&d->load.work, 1);
}

static void fail_torn(dagi_job *job)
{
    char name[256];
    struct dag_task *t = job->task;
    dagi_describe(name, sizeof name, t->cls, dagi_task_locals(t));
    dagi_pool_fail(t->pool, DAG_ERR_DEVICE,
                   "%s: %s began on device %d (%s) and could not be completed: %s",
                   t->pool->program->file, name, job->device->index, job->device->info.name,
                   dagi_backend_of(job->device)->error());
}

/* What was refused is tried again, then done elsewhere. */
static dagi_issue_result refused(struct dagi_worker *w, dagi_job *job, const char *why)
{
    dagi_device *d = job->device;
    char text[512];
    snprintf(text, sizeof text, "%s", why && *why ? why : "its body refused");
    undo(w, job);
    dagi_count(&d->counts.retries, 1);
    if (++job->attempts < DAGI_TRIES)
        return DAGI_ISSUE_WAIT;
    dagi_job_elsewhere(w, job, text);
    return DAGI_ISSUE_GONE;
}

/* Some of its kernels are enqueued, and others are not. Nothing may run on what they leave behind: where
 * other memories have what was there before the task is as new, else its pool fails. */
static dagi_issue_result torn(struct dagi_worker *w, dagi_job *job)
{
    int restored = 1;
    for (int f = 0; f < job->ndata; f++) {
        if (job->flow[f].use == DAGI_FLOW_UPDATE)
            restored &= dagi_transfer_discard(job->device, dag_task_flows(job->task)[f], job->done);
    }
    if (!restored)
        fail_torn(job);
    return refused(w, job, dagi_backend_of(job->device)->error());
}

/* What becomes of a job whose kernels are not enqueued. */
static dagi_issue_result unlaunched(struct dagi_worker *w, dagi_job *job, dagi_result result, dagi_result *device)
{
    if (result == DAGI_LOST) {
        undo(w, job);
        *device = DAGI_LOST;
        return DAGI_ISSUE_WAIT;
    }
    return result == DAGI_TORN ? torn(w, job) : refused(w, job, dagi_backend_of(job->device)->error());
}

/* All that a job needs is on the device or on its way: ISSUED. `joins`: it is to be launched with another one. */
static dagi_issue_result prepare(struct dagi_worker *w, dagi_job *job, int joins, dagi_result *device)
{
    dagi_device *d = job->device;
    struct dag_task *t = job->task;
    dagi_result result = DAGI_OK;
    if (dagi_pool_is_poisoned(t->pool)) {
        skip(w, job);
        return DAGI_ISSUE_GONE;
    }
    struct dag_task *const *successor = dagi_task_foresee(w, t);
    t->owner = w;
    job->filled = 0;
    job->flops = 0;
    job->done = (dagi_ticket){NULL, 0};
    for (int f = 0; f < job->ndata; f++)
        plan_flow(job, f);
    if (d->reports.nfree < DAGI_JOB_INFOS) {
        if (d->jobs.nissued > 0 || d->reports.ncleared > 0)
            return DAGI_ISSUE_WAIT;
        /* Those that could not be cleared do not come back: waiting for them would never end. */
        return refused(w, job, "too many places for what kernels report could not be cleared");
    }
    const char *why = NULL;
    if (reserve(job, joins, &result, &why) != DAGI_ISSUED) {
        /* What stands in its way cannot be saved: waiting for room might never end. */
        if (result == DAGI_REFUSED || result == DAGI_NOMEM)
            return refused(w, job, why ? why : dagi_backend_of(d)->error());
        *device = result;
        return DAGI_ISSUE_WAIT;
    }
    if (successor && *successor)
        dagi_prefetch_lines(*successor, 2);
    result = fill(w, job);
    return result == DAGI_OK ? DAGI_ISSUED : unlaunched(w, job, result, device);
}

/* Programs without kernels lack it. */
extern int dag_kernels_gathers(dag_device_kind kind, dag_precision precision) __attribute__((weak));

/* Others may join this job. One that was refused goes alone, so that no other one goes where it goes, and so does
 * one for which something that it writes is brought: that is its own matter. */
static int may_gather(const dagi_job *job)
{
    enum { SMALL = 2 << 20 }; /* bytes of a task; larger ones fill a device, and a launch is little beside them */
    if (job->attempts > 0 || job->filled & DAGI_FILLED_WRITTEN || job->bytes > SMALL ||
        !dagi_is_batched(job->task, job->body) || !dag_kernels_gathers ||
        !dag_kernels_gathers(dagi_backend_of(job->device)->kind, job->task->pool->prec))
        return 0;
    for (int f = 0; f < job->ndata; f++)
        if (job->flow[f].use == DAGI_FLOW_REPLACE && job->flow[f].content)
            return 0;
    return 1;
}

/* Tickets that so many jobs like this one may take for what goes to the host and comes from there. */
static int has_tickets(const dagi_job *job, int count)
{
    const dagi_device *d = job->device;
    return dagi_lane_room(&d->in) >= count * job->ndata && dagi_lane_room(&d->out) >= count * job->ndata;
}

/* Further jobs whose kernels are launched with those of jobs[0]; how many there are now. They wait for what is on
 * its way for that one, which most often they read as well. */
static int gather(struct dagi_worker *w, dagi_job **jobs, dagi_result *device)
{
    dagi_job *first = jobs[0];
    dagi_device *d = first->device;
    int count = 1, most = d->all->batch;
    if (!may_gather(first))
        return 1;
    while (count < most && d->jobs.nissued + count < DAGI_WINDOW && *device == DAGI_OK &&
           d->reports.nfree >= (count + 1) * DAGI_JOB_INFOS && has_tickets(first, count + 1)) {
        dagi_job *job = dagi_slips_join(w, d, first);
        dagi_issue_result r = job ? prepare(w, job, 1, device) : DAGI_ISSUE_WAIT;
        if (r == DAGI_ISSUED)
            jobs[count++] = job;
        else if (job && r == DAGI_ISSUE_WAIT)
            dagi_job_wait(job);
        if (r != DAGI_ISSUED)
            break;
    }
    return count;
}

static dagi_result issued(struct dagi_worker *w, dagi_job *const *jobs, int count)
{
    dagi_result result = DAGI_OK;
    uint64_t now = dagi_now();
    for (int i = 0; i < count; i++) {
        jobs[i]->issued_at = now;
        jobs[i]->filled |= jobs[0]->filled; /* it waited, too */
        if (DAGI_TRACK(w))
            dagi_record_issue(jobs[i]);
        dagi_commit(w, jobs[i]);
        enlist(jobs[i]);
    }
    if (count > 1)
        dagi_count(&jobs[0]->device->counts.batched, count);
    for (int i = 0; i < count; i++)
        result = dagi_follow_up(w, jobs[i]) == DAGI_LOST ? DAGI_LOST : result;
    return result;
}

dagi_issue_result dagi_issue(struct dagi_worker *w, dagi_job *job, dagi_result *device)
{
    dagi_job *jobs[DAGI_WINDOW];
    jobs[0] = job;
    dagi_issue_result r = prepare(w, job, 0, device);
    if (r == DAGI_ISSUE_WAIT)
        dagi_job_wait(job);
    if (r != DAGI_ISSUED)
        return r;
    int count = job->body->batch ? gather(w, jobs, device) : 1;
    dagi_result result = *device == DAGI_OK ? dagi_launch(w, jobs, count) : DAGI_LOST;
    if (result == DAGI_OK) {
        *device = issued(w, jobs, count);
        return DAGI_ISSUED;
    }
    for (int i = count - 1; i >= 0; i--) {
        r = unlaunched(w, jobs[i], result, device);
        if (r == DAGI_ISSUE_WAIT)
            dagi_job_wait(jobs[i]);
    }
    return r;
}

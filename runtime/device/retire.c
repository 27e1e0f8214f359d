/* The end of tasks on a device. */
#include "../trace/trace.h"
#include "choice.h"
#include "complete.h"
#include "device_impl.h"

/* ---- what kernels report -------------------------------------------------------------------- */

/* The slot is 0 again when it is used next. Tasks that end together may want more tickets for that
 * than the lane has: then in another round. */
void dagi_info_clear(dagi_device *d, int slot, dagi_lane *lane)
{
    if (dagi_lane_room(lane) <= 0) {
        d->reports.cleared[d->reports.ncleared++] = (dagi_info_slot){slot, {NULL, 0}};
        return;
    }
    d->reports.host[slot] = 0;
    dagi_copy_job copy = dagi_copy_of_report(&d->reports.device[slot], &d->reports.host[slot]);
    dagi_result result = DAGI_REFUSED;
    for (int i = 0; i < DAGI_TRIES && result != DAGI_OK; i++)
        result = dagi_backend_of(d)->copy_in(lane->queue, &copy);
    /* Marked, so that a user in another queue comes behind it. A slot that could not be cleared is
     * not used any more. */
    if (dagi_lane_mark(lane, NULL) == DAGI_OK && result == DAGI_OK)
        d->reports.cleared[d->reports.ncleared++] =
            (dagi_info_slot){slot, {&lane->order, lane->count}};
}

static void report_info(dagi_job *job)
{
    dagi_device *d = job->device;
    for (int i = 0; i < job->ninfo; i++) {
        int slot = job->info[i].slot, value = d->reports.host[slot];
        if (atomic_load(&d->lost))
            continue;
        if (value > 0)
            dag_task_info(job->task, job->info[i].offset + value);
        else if (value < 0)
            dag_task_fail(job->task, "a kernel on device %d (%s) found argument %d wrong", d->index,
                          d->info.name, -value);
        if (value == 0)
            d->reports.free[d->reports.nfree++] = slot;
        else
            dagi_info_clear(d, slot, job->lane);
    }
    job->ninfo = 0;
}

static void collect_infos(dagi_device *d)
{
    /* From the end, behind which those lie that are entered meanwhile. */
    for (int i = d->reports.ncleared - 1; i >= 0; i--) {
        const dagi_info_slot info = d->reports.cleared[i];
        if (!dagi_ticket_passed(info.cleared))
            continue;
        d->reports.cleared[i] = d->reports.cleared[--d->reports.ncleared];
        if (info.cleared.queue)
            d->reports.free[d->reports.nfree++] = info.slot;
        else if (!atomic_load(&d->lost))
            dagi_info_clear(d, info.slot, &d->exec[0]);
    }
}

/* ---- times ---------------------------------------------------------------------------------- */

/* Kernels in several queues share the device: the time between one end and the next is what a task
 * costs when there are enough of them, and its own when it is alone. Those that were found done by
 * one look share what has gone by since the last one. */
static void learn(const dagi_device *d, const dagi_job *job, int64_t nanoseconds)
{
    dagi_choice_class *cls = dagi_times_of(d->all, job->task);
    /* A task that waited for its inputs tells little, but better than nothing. */
    if (!job->filled || dagi_choice_kernel(d->all->choice, cls, d->space, job->bytes) < 0)
        d->all->policy->learn(d->all->choice, cls, d->space, job->bytes,
                              (double)nanoseconds * 1e-9);
}

static int has_kernels(const dagi_job *job)
{
    return job->moved.in + job->moved.out == 0;
}

/* Kernels are under way; to be asked before this round issues any, so these have been since the last one. */
static int has_more(const dagi_device *d)
{
    int more = 0;
    for (int i = 0; i < d->all->lanes && !more; i++)
        more = d->jobs.issued[i].first && has_kernels(d->jobs.issued[i].first);
    return more;
}

/* A worker that runs tasks of its own looks seldom, and knows few single times. Of a device that is busy meanwhile
 * it knows the rate. What was copied in for tells of the link, but where the device itself copies. */
static void learn_stretch(dagi_device *d, const dagi_job *jobs, int count, int late)
{
    dagi_stretch seen = {.count = count, .late = late};
    const struct dag_task *last = NULL;
    dagi_ticket done = {NULL, 0};
    int alike = 1;
    for (const dagi_job *job = jobs; job; job = job->next) {
        if (!has_kernels(job))
            continue;
        alike &= !last || (job->task->cls == last->cls && job->task->pool == last->pool && job->bytes == seen.size);
        alike &= !job->filled || d->info.copies_itself;
        seen.launches += job->done.queue != done.queue || job->done.count != done.count;
        done = job->done;
        last = job->task;
        seen.size = job->bytes;
    }
    seen.what = alike ? last->cls : NULL;
    seen.whose = last->pool;
    int64_t each = dagi_stretch_end(&d->kernels.stretch, &seen, d->time.now, has_more(d));
    if (each > 0)
        d->all->policy->learn(d->all->choice, dagi_times_of(d->all, last), d->space, seen.size, (double)each * 1e-9);
}

/* Kernels of these jobs were found done in this round. */
static void kernels_ended(dagi_device *d, const dagi_job *jobs)
{
    int count = 0;
    uint64_t begin = UINT64_MAX;
    for (const dagi_job *job = jobs; job; job = job->next) {
        if (!has_kernels(job))
            continue;
        begin = job->issued_at < begin ? job->issued_at : begin;
        count++;
    }
    if (count == 0)
        return;
    uint64_t seen = dagi_now(), looked = d->time.now - d->time.away;
    int64_t each = dagi_pace_end(&d->kernels.pace, &begin, seen, seen - looked, count);
    uint64_t end = d->kernels.pace.last_end;
    dagi_count(&d->counts.busy, end > begin ? (int64_t)(end - begin) : 0);
    for (const dagi_job *job = jobs; job && each > 0; job = job->next)
        if (has_kernels(job))
            learn(d, job, each);
    learn_stretch(d, jobs, count, each < 0);
}

/* ---- the end -------------------------------------------------------------------------------- */

/* Its kernels are done: what messages take from the device, and from the host, is there. */
static void send(struct dagi_worker *w, dagi_job *job)
{
    job->task->owner = w;
    report_info(job);
    if (DAGI_TRACK(w))
        dagi_record_retire(w, job, job->sets.awaited); /* a store may wait for more */
    dagi_task_send(w, job);
    job->sent = 1;
    dagi_depart_done(job);
}

static void retired(struct dagi_worker *w, dagi_job *job)
{
    dagi_device *d = job->device;
    struct dag_task *t = job->task;
    t->owner = w;
    report_info(job);
    if (DAGI_TRACK(w))
        dagi_record_retire(w, job, job->sets.save);
    if (job->late)
        dagi_task_complete_here(w, t, job);
    else
        dagi_task_retire(w, job);
    atomic_fetch_sub_explicit(&d->load.backlog, job->estimate, memory_order_relaxed);
    dagi_count(&d->counts.tasks, 1);
    atomic_store_explicit(&d->counts.flops,
                          atomic_load_explicit(&d->counts.flops, memory_order_relaxed) + job->flops,
                          memory_order_relaxed);
    d->jobs.nissued--;
    dagi_job_free(job);
    atomic_fetch_sub(&d->load.work, 1); /* last: the device may be at rest then */
}

/* They are saved, or will not be: their copies may be evicted again. */
static void give_up_unsaved(dagi_job *job, uint32_t mask)
{
    job->sets.unsaved &= ~mask;
    for (int f = 0; f < job->ndata; f++) {
        if (!(mask >> f & 1) || !job->flow[f].block)
            continue;
        dagi_memory_unpin(job->device->memory, job->flow[f].block);
        job->flow[f].block = NULL;
    }
}

/* Saves that were refused, once more; when they cannot be had the values are as good as lost. */
static dagi_result save_again(dagi_job *job)
{
    dagi_device *d = job->device;
    dagi_result result = DAGI_OK;
    if (dagi_lane_room(&d->out) < job->ndata)
        return DAGI_OK; /* in another round */
    for (int f = 0; f < job->ndata && result == DAGI_OK; f++) {
        if (!(job->sets.unsaved >> f & 1))
            continue;
        result = dagi_transfer_save(d, dag_task_flows(job->task)[f], &job->flow[f].saved);
        if (result == DAGI_OK)
            give_up_unsaved(job, UINT32_C(1) << f);
    }
    if (result == DAGI_OK || result == DAGI_LOST || ++job->attempts < 2 * DAGI_TRIES)
        return result;
    dagi_pool_fail(job->task->pool, DAG_ERR_DEVICE,
                   "%s: a result cannot be copied from device %d (%s) to the host: %s",
                   job->task->pool->program->file, d->index, d->info.name,
                   dagi_backend_of(d)->error());
    give_up_unsaved(job, job->sets.unsaved);
    return DAGI_OK;
}

/* Flows in `mask` are on the host. */
static int is_saved(const dagi_job *job, uint32_t mask)
{
    if (job->sets.unsaved & mask)
        return 0;
    for (int f = 0; f < job->ndata; f++) {
        if ((mask >> f & 1) && !dagi_ticket_passed(job->flow[f].saved))
            return 0;
    }
    return 1;
}

/* Those whose transfers have passed too. */
static int finish(struct dagi_worker *w, dagi_device *d, dagi_result *result)
{
    int events = 0;
    dagi_job **link = &d->jobs.finishing;
    while (*link) {
        dagi_job *job = *link;
        if (job->sets.unsaved && save_again(job) == DAGI_LOST)
            *result = DAGI_LOST;
        /* Nothing is sent any more from a device that has just been found lost. */
        int unsent = job->sets.departs && !job->sent;
        if (unsent && *result != DAGI_LOST && is_saved(job, job->sets.awaited)) {
            send(w, job);
            unsent = 0;
            events++;
        }
        if (!unsent && is_saved(job, job->sets.save)) {
            *link = job->next;
            retired(w, job);
            events++;
        } else {
            link = &job->next;
        }
    }
    return events;
}

/* The kernels of the first job in a lane have ended. */
static dagi_job *take_first(dagi_device *d, dagi_job_list *list)
{
    dagi_job *job = list->first;
    list->first = job->next;
    d->jobs.nahead--;
    d->jobs.ahead -= job->estimate;
    return job;
}

int dagi_retire_round(struct dagi_worker *w, dagi_device *d, dagi_result *result)
{
    int events = dagi_lane_poll(&d->in, result) + dagi_lane_poll(&d->out, result);
    dagi_job **end = &d->jobs.finishing;
    while (*end)
        end = &(*end)->next;
    dagi_job **ended = end;
    for (int i = 0, lanes = d->all->lanes; i < lanes; i++) {
        dagi_job_list *list = &d->jobs.issued[i];
        dagi_job **mine = end;
        int passed = dagi_lane_poll(&d->exec[i], result);
        events += passed;
        while (list->first && dagi_ticket_passed(list->first->done)) {
            dagi_job *job = take_first(d, list);
            job->next = NULL;
            *end = job;
            end = &job->next;
        }
        if (d->time.ticks && passed > 0)
            dagi_record_lane(w, d, i, passed, *mine);
    }
    kernels_ended(d, *ended);
    if (d->reports.ncleared)
        collect_infos(d);
    return events + finish(w, d, result);
}

void dagi_retire_all(struct dagi_worker *w, dagi_device *d)
{
    dagi_result ignored = DAGI_OK;
    for (int i = 0; i < d->all->lanes; i++) {
        while (d->jobs.issued[i].first) {
            dagi_job *job = take_first(d, &d->jobs.issued[i]);
            job->next = d->jobs.finishing;
            d->jobs.finishing = job;
        }
    }
    for (dagi_job *job = d->jobs.finishing; job; job = job->next) {
        if (job->sets.unsaved || (job->sets.departs && !job->sent))
            dagi_pool_fail(job->task->pool, DAG_ERR_DEVICE, "%s: a result was lost with device %d "
                           "(%s), which has failed", job->task->pool->program->file, d->index,
                           d->info.name);
        give_up_unsaved(job, job->sets.unsaved);
    }
    finish(w, d, &ignored);
}

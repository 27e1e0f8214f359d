/* The queue of the tasks that a device has to issue. */
#include "device_impl.h"

#include <stdlib.h>
#include <string.h>

/* ---- jobs ----------------------------------------------------------------------------------- */

/* From the spare ones of the device, which are in the cache. */
static dagi_job *job_new(const dagi_slip *slip)
{
    enum { FLOWS = 4 };
    dagi_device *d = slip->device;
    dagi_job *job = d->jobs.spare;
    int ndata = (int)slip->task->cls->ndata, room = ndata > FLOWS ? ndata : FLOWS;
    if (job)
        d->jobs.spare = job->next;
    if (job && job->room >= ndata) {
        room = job->room;
    } else {
        free(job);
        job = malloc(sizeof *job + (size_t)room * (sizeof(dagi_job_flow) + sizeof(dag_value)));
        if (!job)
            return NULL;
    }
    memset(job, 0, sizeof *job + (size_t)ndata * sizeof(dagi_job_flow));
    job->task = slip->task;
    job->body = slip->body;
    job->device = d;
    job->ndata = ndata;
    job->room = room;
    job->workspace_bytes = slip->workspace_bytes;
    job->bytes = slip->bytes;
    job->estimate = slip->estimate;
    job->views = (dag_value *)(void *)(job->flow + room);
    return job;
}

void dagi_job_free(dagi_job *job)
{
    job->next = job->device->jobs.spare;
    job->device->jobs.spare = job;
}

void dagi_jobs_drop(dagi_device *d)
{
    while (d->jobs.spare) {
        dagi_job *next = d->jobs.spare->next;
        free(d->jobs.spare);
        d->jobs.spare = next;
    }
}

/* Slips come and go with tasks, and from their memory: made on any worker, freed by the manager. */
enum { SLIP_CLASS = (sizeof(dagi_slip) - 1) / DAGI_TASK_GRAIN };
_Static_assert(sizeof(dagi_slip) >= sizeof(struct dag_task), "a slip is too small for task memory");

static void slip_free(struct dagi_worker *w, dagi_slip *slip)
{
    dagi_task_free(w, (struct dag_task *)(void *)slip, SLIP_CLASS);
}

int dagi_slips_enter(struct dagi_worker *w, const dagi_slip *from)
{
    dagi_device *d = from->device;
    dagi_slip *slip = (dagi_slip *)(void *)dagi_task_alloc(w, SLIP_CLASS);
    if (!slip)
        return 1;
    *slip = *from;
    atomic_fetch_add_explicit(&d->load.backlog, slip->estimate, memory_order_relaxed);
    atomic_fetch_add_explicit(&d->load.unissued, 1, memory_order_relaxed);
    atomic_fetch_add(&d->load.work, 1);
    slip->next = atomic_load_explicit(&d->brought.inbox, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&d->brought.inbox, &slip->next, slip,
                                                  memory_order_release, memory_order_relaxed))
        continue;
    dagi_device_alert(d);
    return 0;
}

/* The headers of what a task uses. */
static void prefetch_values(struct dag_task *t)
{
    dag_value **flow = dag_task_flows(t);
    for (int f = 0; f < t->cls->ndata; f++)
        dagi_prefetch_lines(flow[f], 1);
}

/* And what tells where its copies are, of which the host's and that of a space are looked at. */
static void prefetch_records(struct dag_task *t, int space)
{
    dag_value **flow = dag_task_flows(t);
    for (int f = 0; f < t->cls->ndata; f++) {
        const dagi_copies *c = flow[f] ? dagi_copies_get(flow[f]) : NULL;
        if (!c)
            continue;
        dagi_prefetch_lines(c, 2);
        dagi_prefetch_lines(&c->copy[space], 2);
    }
}

struct dag_task *dagi_device_filter(struct dagi_worker *w, struct dag_task *list)
{
    struct dag_task *rest = NULL, **end = &rest;
    while (list) {
        struct dag_task *t = list;
        list = t->next;
        if (list && list->next)
            prefetch_values(list->next);
        if (list)
            prefetch_records(list, 1);
        t->next = NULL;
        if (dagi_device_take(w, t))
            continue;
        *end = t;
        end = &t->next;
    }
    return rest;
}

int dagi_devices_full(const dag_context *ctx)
{
    for (int i = 0; i < dagi_tasks(ctx)->devices->count; i++) {
        if (atomic_load_explicit(&dagi_tasks(ctx)->devices->device[i]->load.unissued,
                                 memory_order_relaxed) > DAGI_SLIPS_MANY)
            return 1;
    }
    return 0;
}

/* A task that is neither on a slip nor a job any more, and that the device has not taken. */
static void elsewhere(struct dagi_worker *w, dagi_device *d, struct dag_task *t, int64_t estimate,
                      const char *why)
{
    atomic_fetch_sub_explicit(&d->load.backlog, estimate, memory_order_relaxed);
    atomic_fetch_sub_explicit(&d->load.unissued, 1, memory_order_relaxed);
    dagi_slips_forget_use(d, t);
    int again = atomic_load(&d->lost) && atomic_load(&d->all->alive) > 0;
    if (!(again && dagi_device_take(w, t))) {
        if (!dagi_has_core_body(t)) {
            char name[256];
            dagi_describe(name, sizeof name, t->cls, dagi_task_locals(t));
            dagi_pool_fail(t->pool, DAG_ERR_DEVICE,
                           "%s: %s cannot run on device %d (%s), and its class has no body for "
                           "cores: %s",
                           t->pool->program->file, name, d->index, d->info.name, why);
        }
        t->next = NULL;
        dagi_ready(w, t);
    }
    atomic_fetch_sub(&d->load.work, 1);
}

void dagi_job_elsewhere(struct dagi_worker *w, dagi_job *job, const char *why)
{
    dagi_device *d = job->device;
    struct dag_task *t = job->task;
    int64_t estimate = job->estimate;
    dagi_job_free(job);
    elsewhere(w, d, t, estimate, why);
}

static void slip_elsewhere(struct dagi_worker *w, dagi_slip *slip, const char *why)
{
    dagi_device *d = slip->device;
    struct dag_task *t = slip->task;
    int64_t estimate = slip->estimate;
    slip_free(w, slip);
    elsewhere(w, d, t, estimate, why);
}

/* ---- the queue ------------------------------------------------------------------------------ */

/* Bytes that a task reads and that are not here. */
static size_t missing(const dagi_device *d, const dagi_slip *slip)
{
    struct dag_task *t = slip->task;
    dag_value **flow = dag_task_flows(t);
    size_t bytes = 0;
    for (int f = 0; f < t->cls->ndata; f++) {
        if (flow[f] && t->cls->flows[f].access != DAG_WRITE && !dagi_block_of(d, flow[f]))
            bytes += (size_t)flow[f]->m * (size_t)flow[f]->n * flow[f]->elem;
    }
    return bytes;
}

/* Among the next ones of the first one's priority that with the fewest bytes missing, which is DAGuE's rule: it
 * uses what is here before it has to leave. While nothing has had to leave it saves nothing, and costs. Others pass
 * the first one MOST_PASS times. */
static int choose_next(dagi_device *d)
{
    enum { MOST_PASS = 256 };
    const dagi_ready_entry *next = d->jobs.queue.next;
    int n = d->jobs.queue.nnext, best = 0;
    if (__builtin_expect(!d->jobs.passed, 1) || n < 2 || next[1].priority != next[0].priority)
        return 0;
    size_t least = d->jobs.passed < MOST_PASS ? missing(d, next[0].what) : 0;
    for (int i = 1; i < n && least > 0 && next[i].priority == next[0].priority; i++) {
        size_t bytes = missing(d, next[i].what);
        if (bytes < least) {
            least = bytes;
            best = i;
        }
    }
    d->jobs.passed = best ? d->jobs.passed + 1 : 1;
    return best;
}

dagi_job *dagi_slips_pop(struct dagi_worker *w, dagi_device *d)
{
    dagi_slip *slip;
    while ((slip = dagi_slip_queue_take(&d->jobs.queue, choose_next(d))) != NULL) {
        dagi_job *job = job_new(slip);
        if (job) {
            slip_free(w, slip);
            return job;
        }
        slip_elsewhere(w, slip, "out of memory");
    }
    return NULL;
}

void dagi_job_wait(dagi_job *job)
{
    job->next = job->device->jobs.head;
    job->device->jobs.head = job;
}

/* Nothing has to be copied for the task: what it reads is here, and what it writes nobody else holds. */
static int is_at_hand(const dagi_device *d, struct dag_task *t)
{
    dag_value **flow = dag_task_flows(t);
    for (int f = 0; f < t->cls->ndata; f++) {
        dag_access access = t->cls->flows[f].access;
        int new = access == DAG_WRITE && flow[f] &&
                  !(atomic_load_explicit(&dagi_value_of(flow[f])->flags, memory_order_relaxed) & DAGI_VALUE_HOME);
        if (flow[f] && ((access & DAG_WRITE && !dagi_value_in_place(flow[f])) ||
                        (!new && !dagi_block_of(d, flow[f]))))
            return 0;
    }
    return 1;
}

int dagi_is_batched(struct dag_task *t, const dag_body *body)
{
    return body->batch && body->batch(t->pool->globals, dagi_task_locals(t));
}

dagi_job *dagi_slips_join(struct dagi_worker *w, dagi_device *d, const dagi_job *first)
{
    dagi_slip *slip = d->jobs.queue.nnext > 0 ? d->jobs.queue.next[0].what : NULL;
    if (!slip || slip->body != first->body || slip->task->pool != first->task->pool ||
        !dagi_is_batched(slip->task, slip->body) || !is_at_hand(d, slip->task))
        return NULL;
    dagi_job *job = job_new(slip);
    if (job)
        slip_free(w, dagi_slip_queue_take(&d->jobs.queue, 0));
    return job;
}

static void prefetch_blocks(dagi_device *d, struct dag_task *t)
{
    dag_value **flow = dag_task_flows(t);
    for (int f = 0; f < t->cls->ndata; f++) {
        const dagi_block *block = dagi_block_of(d, flow[f]);
        if (block)
            dagi_prefetch_lines(block, 3);
    }
}

static void will_use(dagi_device *d, struct dag_task *t)
{
    dag_value **flow = dag_task_flows(t);
    for (int f = 0; f < t->cls->ndata; f++) {
        dagi_block *block = dagi_block_of(d, flow[f]);
        if (block && block->next_use < t->priority)
            dagi_memory_next_use(d->memory, block, t->priority);
    }
}

/* Others that use it are asked again before anything is evicted. */
void dagi_slips_forget_use(dagi_device *d, struct dag_task *t)
{
    dag_value **flow = dag_task_flows(t);
    for (int f = 0; f < t->cls->ndata; f++) {
        dagi_block *block = dagi_block_of(d, flow[f]);
        if (block)
            dagi_memory_next_use(d->memory, block, INT64_MIN);
    }
}

/* Each is one step further than the one behind it, so that nothing is looked into before it has been
 * sent for: the slip, the task, its values, their records, their blocks. */
void dagi_slips_prefetch(dagi_device *d)
{
    enum { BLOCK, RECORD, VALUE, TASK, SLIP };
    _Static_assert((int)SLIP < (int)DAGI_SLIP_NEXT, "a step for each");
    const dagi_ready_entry *next = d->jobs.queue.next;
    int n = d->jobs.queue.nnext;
    if (n > SLIP)
        dagi_prefetch_lines(next[SLIP].what, 1);
    if (n > TASK)
        dagi_prefetch_lines(((const dagi_slip *)next[TASK].what)->task, 2);
    if (n > VALUE)
        prefetch_values(((const dagi_slip *)next[VALUE].what)->task);
    if (n > RECORD)
        prefetch_records(((const dagi_slip *)next[RECORD].what)->task, d->space);
    if (n > BLOCK)
        prefetch_blocks(d, ((const dagi_slip *)next[BLOCK].what)->task);
}

void dagi_slips_next_use(dagi_device *d)
{
    enum { LOOK = 128 };
    dagi_slip *slips[LOOK];
    int n = dagi_slip_queue_best(&d->jobs.queue, slips, LOOK);
    for (int i = 0; i < n; i++)
        will_use(d, slips[i]->task);
}

void dagi_slips_collect(struct dagi_worker *w, dagi_device *d)
{
    if (!atomic_load_explicit(&d->brought.inbox, memory_order_relaxed))
        return;
    dagi_slip *slip = atomic_exchange_explicit(&d->brought.inbox, NULL, memory_order_acquire);
    dagi_slip *list = NULL;
    while (slip) { /* first come, first */
        dagi_slip *next = slip->next;
        slip->next = list;
        list = slip;
        slip = next;
    }
    while (list) {
        slip = list;
        list = slip->next;
        if (dagi_slip_queue_push(&d->jobs.queue, slip->task->priority, slip) != 0) {
            dagi_pool_fail(slip->task->pool, DAG_ERR_NOMEM,
                           "no memory to queue tasks for device %d", d->index);
            slip_elsewhere(w, slip, "out of memory");
        }
    }
}

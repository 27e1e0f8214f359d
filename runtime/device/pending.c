/* Where a ready task runs, and the queue of those that a device has to issue. */
#include "choice.h"
#include "device_impl.h"

#include <stdlib.h>
#include <string.h>

/* ---- jobs ----------------------------------------------------------------------------------- */

/* From the spare ones of the device, which are in the cache. */
static dagi_job *job_new(const dagi_slip *slip)
{
    enum { FLOWS = 4 };
    dagi_device *d = slip->device;
    dagi_job *job = d->spare;
    int ndata = (int)slip->task->cls->ndata, room = ndata > FLOWS ? ndata : FLOWS;
    if (job)
        d->spare = job->next;
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
    job->next = job->device->spare;
    job->device->spare = job;
}

void dagi_jobs_drop(dagi_device *d)
{
    while (d->spare) {
        dagi_job *next = d->spare->next;
        free(d->spare);
        d->spare = next;
    }
}

/* Slips come and go with tasks, and from their memory: made on any worker, freed by the manager. */
enum { SLIP_CLASS = (sizeof(dagi_slip) - 1) / DAGI_TASK_GRAIN };
_Static_assert(sizeof(dagi_slip) >= sizeof(struct dag_task), "a slip is too small for task memory");

static void slip_free(struct dagi_worker *w, dagi_slip *slip)
{
    dagi_task_free(w, (struct dag_task *)(void *)slip, SLIP_CLASS);
}

/* ---- choice --------------------------------------------------------------------------------- */

static const int32_t *locals_of(struct dag_task *t)
{
    return dagi_task_locals(t);
}

/* Bytes of the values of a task, those that occur twice once, and how many bytes a memory of a device
 * needs for them. */
static size_t footprint(struct dag_task *t, size_t *rounded)
{
    dag_value **flow = dag_task_flows(t);
    size_t bytes = 0;
    *rounded = 0;
    for (int f = 0; f < t->cls->ndata; f++) {
        int twice = flow[f] == NULL;
        for (int g = 0; g < f && !twice; g++)
            twice = flow[g] == flow[f] && !((t->cls->flows[f].access | t->cls->flows[g].access) &
                                            DAG_WRITE);
        if (twice)
            continue;
        size_t one = (size_t)flow[f]->m * (size_t)flow[f]->n * flow[f]->elem;
        bytes += one;
        *rounded += dagi_memory_rounded(one);
    }
    return bytes;
}

/* Seconds to bring the inputs of a task to a place. */
static double moving(const struct dagi_devices *all, struct dag_task *t, int place)
{
    dag_value **flow = dag_task_flows(t);
    double seconds = 0;
    for (int f = 0; f < t->cls->ndata; f++) {
        if (!flow[f] || t->cls->flows[f].access == DAG_WRITE)
            continue;
        dagi_copies *c = dagi_copies_get(flow[f]);
        uint64_t bytes = (uint64_t)flow[f]->m * (uint64_t)flow[f]->n * flow[f]->elem;
        int source = DAGI_HOST;
        if (c) {
            dagi_lock(&c->lock);
            source = dagi_transfer_source(all, c, place);
            source = source < 0 ? DAGI_HOST : source;
            dagi_unlock(&c->lock);
        }
        seconds += dagi_choice_move(all->choice, source, place, bytes);
    }
    return seconds;
}

static const dag_body *body_for(struct dag_task *t, dag_device_kind kind)
{
    const dag_class *cls = t->cls;
    for (int b = 0; b < cls->nbodies; b++) {
        const dag_body *body = &cls->bodies[b];
        if (body->device == (uint8_t)kind && body->fn[t->pool->prec] &&
            (!body->evaluate || body->evaluate(t->pool->globals, locals_of(t))))
            return body;
    }
    return NULL;
}

static size_t workspace_of(struct dag_task *t, const dag_body *body)
{
    size_t (*bytes)(struct dag_task *, const void *) = body->workspace[t->pool->prec];
    return bytes ? bytes(t, t->pool->globals) : 0;
}

/* Backlog of the cores: what is ready, at the pace of this class. */
static double core_backlog(const struct dagi_devices *all, double kernel)
{
    const dag_context *ctx = all->ctx;
    double ready = (double)dagi_crew(ctx)->sched->ready(ctx);
    return ready * kernel / dagi_tasks(ctx)->nworkers;
}

struct options {
    dagi_candidate at[DAGI_MAX_SPACES];
    double kernel[DAGI_MAX_SPACES];
    int n;
};

static void add_device(struct options *o, const dagi_device *d, struct dag_task *t)
{
    double backlog = (double)atomic_load_explicit(&d->backlog, memory_order_relaxed) * 1e-9;
    o->at[o->n++] = (dagi_candidate){.place = d->space, .backlog = backlog,
                                     .move = moving(d->all, t, d->space)};
}

/* The task does not fit any device. */
static void too_large(struct dag_task *t, const dagi_device *d, size_t bytes)
{
    char name[256];
    dagi_describe(name, sizeof name, t->cls, locals_of(t));
    dagi_pool_fail(t->pool, DAG_ERR_NOMEM,
                   "%s: %s of class %s needs %zu bytes on device %d (%s), whose pool has %zu, and "
                   "the class has no body for cores: use smaller tiles or a larger cuda_memory",
                   t->pool->program->file, name, t->cls->name, bytes, d->index, d->info.name,
                   d->piece_bytes);
}

/* Of a class with a body for devices: the devices that could run t. The one that the body wants (the
 * result, -1 = any) stands alone, unless it cannot. */
static int list_devices(struct options *o, const struct dagi_devices *all, struct dag_task *t,
                        const dag_body *body, size_t bytes)
{
    int wanted = -1;
    if (body->device_index) {
        int64_t index = body->device_index(t->pool->globals, locals_of(t));
        wanted = index < 0 ? -1 : (int)(index % all->count);
    }
    for (int pass = 0; pass < 2 && o->n == 0; pass++) {
        for (int i = 0; i < all->count; i++) {
            const dagi_device *d = all->device[i];
            if (!atomic_load(&d->lost) && bytes <= d->piece_bytes &&
                (wanted < 0 || pass || wanted == i))
                add_device(o, d, t);
        }
        if (wanted < 0)
            break;
    }
    return wanted;
}

static int64_t nanoseconds(double seconds)
{
    return seconds < 1e9 ? (int64_t)(seconds * 1e9) : INT64_C(1000000000000000000);
}

static void keep_largest(struct dagi_devices *all, int64_t bytes)
{
    int64_t known = atomic_load_explicit(&all->largest_task, memory_order_relaxed);
    while (bytes > known &&
           !atomic_compare_exchange_weak_explicit(&all->largest_task, &known, bytes,
                                                  memory_order_relaxed, memory_order_relaxed))
        continue;
}

struct dagi_choice_class *dagi_times_of(const struct dagi_devices *all, const struct dag_task *t)
{
    dagi_class_info *info = &dagi_pool(t->pool)->classes[t->cls->id];
    /* Acquire pairs with the release below: whoever made them may be another thread. */
    dagi_choice_class *times = atomic_load_explicit(&info->times, memory_order_acquire);
    if (times)
        return times;
    times = dagi_choice_class_of(all->choice, t->pool->program->name, t->pool->prec, t->cls->name);
    atomic_store_explicit(&info->times, times, memory_order_release);
    return times;
}

/* The device for a task whose inputs are bound, or NULL: a core. */
static dagi_device *choose(struct dagi_devices *all, struct dag_task *t, const dag_body *body,
                           size_t *workspace, int64_t *estimate, size_t *size)
{
    struct options o = {.n = 0};
    const dag_body *core = body_for(t, DAG_DEVICE_CPU);
    size_t rounded;
    *size = footprint(t, &rounded);
    *workspace = workspace_of(t, body);
    if (*workspace)
        rounded += dagi_memory_rounded(*workspace);
    keep_largest(all, (int64_t)rounded);
    dagi_choice_class *cls = dagi_times_of(all, t);
    int wanted = list_devices(&o, all, t, body, rounded);
    if (o.n == 0) {
        if (!core && atomic_load(&all->alive) > 0)
            too_large(t, all->device[0], rounded);
        return NULL;
    }
    int ndevices = o.n;
    if (core && wanted < 0 && !all->ctx->settings.device_always) {
        double kernel = dagi_choice_expect(all->choice, cls, DAGI_HOST, *size);
        o.at[o.n++] = (dagi_candidate){.place = DAGI_HOST, .backlog = core_backlog(all, kernel),
                                       .move = moving(all, t, DAGI_HOST)};
    }
    int best = dagi_choice_best(all->choice, cls, *size, o.at, o.n);
    if (best >= ndevices)
        return NULL;
    *estimate = nanoseconds(o.at[best].kernel);
    return dagi_device_at(all, o.at[best].place);
}

int dagi_pending_enter(struct dagi_worker *w, const dagi_slip *from)
{
    dagi_device *d = from->device;
    dagi_slip *slip = (dagi_slip *)(void *)dagi_task_alloc(w, SLIP_CLASS);
    if (!slip)
        return 1;
    *slip = *from;
    atomic_fetch_add_explicit(&d->backlog, slip->estimate, memory_order_relaxed);
    atomic_fetch_add_explicit(&d->pending, 1, memory_order_relaxed);
    atomic_fetch_add(&d->work, 1);
    slip->next = atomic_load_explicit(&d->inbox, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&d->inbox, &slip->next, slip,
                                                  memory_order_release, memory_order_relaxed))
        continue;
    dagi_device_alert(d);
    return 0;
}

int dagi_device_take(struct dagi_worker *w, struct dag_task *t)
{
    struct dagi_devices *all = dagi_tasks(w->ctx)->devices;
    dag_taskpool *pool = t->pool;
    if (!dagi_pool(pool)->classes[t->cls->id].on_device || dagi_pool_is_poisoned(pool))
        return 0;
    const dag_body *body = body_for(t, all->device[0]->backend->kind);
    if (!body)
        return 0;
    void *owner = t->owner;
    t->owner = w;
    if (t->cls->bind && !(t->arrived & DAGI_TASK_BOUND))
        t->cls->bind(t, pool->globals);
    t->owner = owner;
    t->arrived |= DAGI_TASK_BOUND;
    if (dagi_pool_is_poisoned(pool))
        return 0;
    dagi_slip slip = {.task = t, .body = body};
    slip.device = choose(all, t, body, &slip.workspace_bytes, &slip.estimate, &slip.bytes);
    if (!slip.device)
        return 0;
    if (dagi_pending_enter(w, &slip) != 0) {
        dagi_pool_fail(pool, DAG_ERR_NOMEM, "no memory for a task of class %s", t->cls->name);
        return 0;
    }
    return 1;
}

/* What a core took for a task that a device could have run. */
void dagi_device_core_ran(struct dagi_worker *w, struct dag_task *t, uint64_t nanoseconds)
{
    struct dagi_devices *all = dagi_tasks(w->ctx)->devices;
    size_t rounded;
    if (!dagi_pool(t->pool)->classes[t->cls->id].on_device)
        return;
    dagi_driver(w)->ran_beside++;
    dagi_choice_learn(all->choice, dagi_times_of(all, t), DAGI_HOST, footprint(t, &rounded),
                      (double)nanoseconds * 1e-9);
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
        if (atomic_load_explicit(&dagi_tasks(ctx)->devices->device[i]->pending,
                                 memory_order_relaxed) > DAGI_PENDING_MANY)
            return 1;
    }
    return 0;
}

/* A task that is neither on a slip nor a job any more, and that the device has not taken. */
static void elsewhere(struct dagi_worker *w, dagi_device *d, struct dag_task *t, int64_t estimate,
                      const char *why)
{
    atomic_fetch_sub_explicit(&d->backlog, estimate, memory_order_relaxed);
    atomic_fetch_sub_explicit(&d->pending, 1, memory_order_relaxed);
    dagi_pending_forget_use(d, t);
    int again = atomic_load(&d->lost) && atomic_load(&d->all->alive) > 0;
    if (!(again && dagi_device_take(w, t))) {
        if (!body_for(t, DAG_DEVICE_CPU)) {
            char name[256];
            dagi_describe(name, sizeof name, t->cls, locals_of(t));
            dagi_pool_fail(t->pool, DAG_ERR_DEVICE,
                           "%s: %s cannot run on device %d (%s), and its class has no body for "
                           "cores: %s", t->pool->program->file, name, d->index, d->info.name, why);
        }
        t->next = NULL;
        dagi_ready(w, t);
    }
    atomic_fetch_sub(&d->work, 1);
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

dagi_job *dagi_pending_pop(struct dagi_worker *w, dagi_device *d)
{
    dagi_slip *slip;
    while ((slip = dagi_pending_queue_pop(&d->queue)) != NULL) {
        dagi_job *job = job_new(slip);
        if (job) {
            slip_free(w, slip);
            return job;
        }
        slip_elsewhere(w, slip, "out of memory");
    }
    return NULL;
}

static void prefetch_blocks(dagi_device *d, struct dag_task *t)
{
    dag_value **flow = dag_task_flows(t);
    for (int f = 0; f < t->cls->ndata; f++) {
        const dagi_block *block = dagi_resident_block(d, flow[f]);
        if (block)
            dagi_prefetch_lines(block, 3);
    }
}

static void will_use(dagi_device *d, struct dag_task *t)
{
    dag_value **flow = dag_task_flows(t);
    for (int f = 0; f < t->cls->ndata; f++) {
        dagi_block *block = dagi_resident_block(d, flow[f]);
        if (block && block->next_use < t->priority)
            dagi_memory_next_use(d->memory, block, t->priority);
    }
}

/* Others that use it are asked again before anything is evicted. */
void dagi_pending_forget_use(dagi_device *d, struct dag_task *t)
{
    dag_value **flow = dag_task_flows(t);
    for (int f = 0; f < t->cls->ndata; f++) {
        dagi_block *block = dagi_resident_block(d, flow[f]);
        if (block)
            dagi_memory_next_use(d->memory, block, INT64_MIN);
    }
}

/* Each is one step further than the one behind it, so that nothing is looked into before it has been
 * sent for: the slip, the task, its values, their records, their blocks. */
void dagi_pending_prefetch(dagi_device *d)
{
    enum { BLOCK, RECORD, VALUE, TASK, SLIP };
    _Static_assert((int)SLIP < (int)DAGI_PENDING_NEXT, "a step for each");
    const dagi_ready_entry *next = d->queue.next;
    int n = d->queue.nnext;
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

void dagi_pending_next_use(dagi_device *d)
{
    enum { LOOK = 128 };
    dagi_slip *slips[LOOK];
    int n = dagi_pending_queue_best(&d->queue, slips, LOOK);
    for (int i = 0; i < n; i++)
        will_use(d, slips[i]->task);
}

void dagi_pending_collect(struct dagi_worker *w, dagi_device *d)
{
    if (!atomic_load_explicit(&d->inbox, memory_order_relaxed))
        return;
    dagi_slip *slip = atomic_exchange_explicit(&d->inbox, NULL, memory_order_acquire);
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
        if (dagi_pending_queue_push(&d->queue, slip->task->priority, slip) != 0) {
            dagi_pool_fail(slip->task->pool, DAG_ERR_NOMEM,
                           "no memory to queue tasks for device %d", d->index);
            slip_elsewhere(w, slip, "out of memory");
        }
    }
}

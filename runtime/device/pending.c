/* Where a ready task runs, and the queue of those that a device has to issue. */
#include "choice.h"
#include "device_impl.h"

#include <stdlib.h>
#include <string.h>

/* ---- jobs ----------------------------------------------------------------------------------- */

dagi_job *dagi_job_new(dagi_device *d, struct dag_task *t, const dag_body *body)
{
    size_t ndata = t->cls->ndata;
    dagi_job *job = malloc(sizeof *job + ndata * (sizeof(dagi_job_flow) + sizeof(dag_value)));
    if (!job)
        return NULL;
    memset(job, 0, sizeof *job + ndata * sizeof(dagi_job_flow));
    job->task = t;
    job->body = body;
    job->device = d;
    job->ndata = (int)ndata;
    job->views = (dag_value *)(void *)(job->flow + ndata);
    return job;
}

void dagi_job_free(dagi_job *job)
{
    free(job);
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
    double ready = (double)ctx->sched->ready(ctx);
    return ready * kernel / ctx->nworkers;
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
    dagi_choice_class *cls =
        dagi_choice_class_of(all->choice, t->pool->program->name, t->pool->prec, t->cls->name);
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

static void push(dagi_device *d, dagi_job *job)
{
    atomic_fetch_add_explicit(&d->backlog, job->estimate, memory_order_relaxed);
    atomic_fetch_add_explicit(&d->pending, 1, memory_order_relaxed);
    atomic_fetch_add(&d->work, 1);
    job->next = atomic_load_explicit(&d->inbox, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&d->inbox, &job->next, job,
                                                  memory_order_release, memory_order_relaxed))
        continue;
    dagi_device_alert(d);
}

int dagi_device_take(struct dagi_worker *w, struct dag_task *t)
{
    struct dagi_devices *all = w->ctx->devices;
    dag_taskpool *pool = t->pool;
    if (!pool->classes[t->cls->id].on_device || dagi_pool_is_poisoned(pool))
        return 0;
    const dag_body *body = body_for(t, all->backend->kind);
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
    size_t workspace, size;
    int64_t estimate = 0;
    dagi_device *d = choose(all, t, body, &workspace, &estimate, &size);
    if (!d)
        return 0;
    dagi_job *job = dagi_job_new(d, t, body);
    if (!job) {
        dagi_pool_fail(pool, DAG_ERR_NOMEM, "no memory for a task of class %s", t->cls->name);
        return 0;
    }
    job->workspace_bytes = workspace;
    job->estimate = estimate;
    job->bytes = size;
    push(d, job);
    return 1;
}

/* What a core took for a task that a device could have run. */
void dagi_device_core_ran(struct dagi_worker *w, struct dag_task *t, uint64_t nanoseconds)
{
    struct dagi_devices *all = w->ctx->devices;
    size_t rounded;
    if (!t->pool->classes[t->cls->id].on_device)
        return;
    dagi_choice_class *cls =
        dagi_choice_class_of(all->choice, t->pool->program->name, t->pool->prec, t->cls->name);
    dagi_choice_learn(all->choice, cls, DAGI_HOST, footprint(t, &rounded),
                      (double)nanoseconds * 1e-9);
}

struct dag_task *dagi_device_filter(struct dagi_worker *w, struct dag_task *list)
{
    struct dag_task *rest = NULL, **end = &rest;
    while (list) {
        struct dag_task *t = list;
        list = t->next;
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
    for (int i = 0; i < ctx->devices->count; i++) {
        if (atomic_load_explicit(&ctx->devices->device[i]->pending, memory_order_relaxed) >
            DAGI_PENDING_MANY)
            return 1;
    }
    return 0;
}

void dagi_job_elsewhere(struct dagi_worker *w, dagi_job *job, const char *why)
{
    struct dag_task *t = job->task;
    dagi_device *d = job->device;
    atomic_fetch_sub_explicit(&d->backlog, job->estimate, memory_order_relaxed);
    atomic_fetch_sub_explicit(&d->pending, 1, memory_order_relaxed);
    dagi_pending_forget_use(d, job);
    dagi_job_free(job);
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

/* ---- the queue ------------------------------------------------------------------------------ */

static int before(const dagi_job *a, const dagi_job *b)
{
    if (a->task->priority != b->task->priority)
        return a->task->priority > b->task->priority;
    return a->order < b->order;
}

static int heap_push(dagi_device *d, dagi_job *job)
{
    if (d->nheap == d->heap_capacity) {
        int capacity = d->heap_capacity ? 2 * d->heap_capacity : 256;
        dagi_job **heap = realloc(d->heap, (size_t)capacity * sizeof(dagi_job *));
        if (!heap)
            return 1;
        d->heap = heap;
        d->heap_capacity = capacity;
    }
    int at = d->nheap++;
    while (at > 0 && before(job, d->heap[(at - 1) / 2])) {
        d->heap[at] = d->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    d->heap[at] = job;
    return 0;
}

dagi_job *dagi_pending_pop(dagi_device *d)
{
    if (d->nheap == 0)
        return NULL;
    dagi_job *best = d->heap[0], *last = d->heap[--d->nheap];
    int at = 0;
    for (int child = 1; child < d->nheap; child = 2 * at + 1) {
        if (child + 1 < d->nheap && before(d->heap[child + 1], d->heap[child]))
            child++;
        if (!before(d->heap[child], last))
            break;
        d->heap[at] = d->heap[child];
        at = child;
    }
    d->heap[at] = last;
    return best;
}

/* The block of a value's copy here, valid or on its way; NULL = none. The job holds the value. */
static dagi_block *resident(dagi_device *d, dag_value *v)
{
    dagi_copies *c = v ? dagi_copies_get(v) : NULL;
    dagi_block *block = NULL;
    if (!c)
        return NULL;
    dagi_lock(&c->lock);
    if (c->copy[d->space].state != DAGI_INVALID)
        block = c->copy[d->space].memory;
    dagi_unlock(&c->lock);
    return block;
}

static void will_use(dagi_device *d, const dagi_job *job)
{
    dag_value **flow = dag_task_flows(job->task);
    for (int f = 0; f < job->ndata; f++) {
        dagi_block *block = resident(d, flow[f]);
        if (block && block->next_use < job->task->priority)
            dagi_memory_next_use(d->memory, block, job->task->priority);
    }
}

/* Others that use it are asked again before anything is evicted. */
void dagi_pending_forget_use(dagi_device *d, const dagi_job *job)
{
    dag_value **flow = dag_task_flows(job->task);
    for (int f = 0; f < job->ndata; f++) {
        dagi_block *block = resident(d, flow[f]);
        if (block)
            dagi_memory_next_use(d->memory, block, INT64_MIN);
    }
}

void dagi_pending_next_use(dagi_device *d)
{
    enum { LOOK = 128 }; /* the best of them, by and large */
    for (int i = 0; i < d->nheap && i < LOOK; i++)
        will_use(d, d->heap[i]);
}

void dagi_pending_collect(struct dagi_worker *w, dagi_device *d)
{
    if (!atomic_load_explicit(&d->inbox, memory_order_relaxed))
        return;
    dagi_job *job = atomic_exchange_explicit(&d->inbox, NULL, memory_order_acquire), *list = NULL;
    while (job) { /* first come, first */
        dagi_job *next = job->next;
        job->next = list;
        list = job;
        job = next;
    }
    while (list) {
        job = list;
        list = job->next;
        job->order = d->arrivals++;
        if (heap_push(d, job) != 0) {
            dagi_pool_fail(job->task->pool, DAG_ERR_NOMEM, "no memory to queue tasks for device %d",
                           d->index);
            dagi_job_elsewhere(w, job, "out of memory");
        }
    }
}

/* Where a ready task runs. */
#include "choice.h"
#include "device_impl.h"

#include <math.h>
#include <string.h>

/* Bytes of the values of a task, those that occur twice once; how many bytes a memory of a device needs
 * for them, and for the largest. */
struct footprint {
    size_t bytes, rounded, largest;
};

static struct footprint footprint(struct dag_task *t)
{
    dag_value **flow = dag_task_flows(t);
    struct footprint all = {0, 0, 0};
    for (int f = 0; f < t->cls->ndata; f++) {
        int twice = flow[f] == NULL;
        for (int g = 0; g < f && !twice; g++)
            twice = flow[g] == flow[f] &&
                    !((t->cls->flows[f].access | t->cls->flows[g].access) & DAG_WRITE);
        if (twice)
            continue;
        size_t one = (size_t)flow[f]->m * (size_t)flow[f]->n * flow[f]->elem;
        size_t rounded = dagi_memory_rounded(one);
        all.bytes += one;
        all.rounded += rounded;
        all.largest = rounded > all.largest ? rounded : all.largest;
    }
    return all;
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
            source = dagi_transfer_source(all, c, place, NULL);
            source = source < 0 ? DAGI_HOST : source;
            dagi_unlock(&c->lock);
        }
        seconds += dagi_choice_move(all->choice, source, place, bytes);
    }
    return seconds;
}

/* Seconds until devices will have made all its inputs, as expected: it is ready when they have been told to. */
static double coming(struct dag_task *t)
{
    dag_value **flow = dag_task_flows(t);
    uint64_t now = 0, most = 0;
    for (int f = 0; f < t->cls->ndata; f++) {
        dagi_copies *c = flow[f] && t->cls->flows[f].access != DAG_WRITE ? dagi_copies_get(flow[f]) : NULL;
        if (!c)
            continue;
        dagi_lock(&c->lock);
        if (c->due && !now)
            now = dagi_now();
        uint64_t due = c->due ? dagi_copies_due(c, now) : 0;
        dagi_unlock(&c->lock);
        most = due > most ? due : most;
    }
    return (double)most * 1e-9;
}

static int can_run(struct dag_task *t, const dag_body *body)
{
    return body->fn[t->pool->prec] &&
           (!body->evaluate || body->evaluate(t->pool->globals, dagi_task_locals(t)));
}

int dagi_has_core_body(struct dag_task *t)
{
    for (int b = 0; b < t->cls->nbodies; b++) {
        if (t->cls->bodies[b].device == DAG_HOST && can_run(t, &t->cls->bodies[b]))
            return 1;
    }
    return 0;
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

/* What a task could run with, by kind of device, and where. */
struct options {
    struct {
        const dag_body *body;             /* the first that it can run with; NULL = none */
        size_t workspace, bytes, largest; /* what it needs, of which the others are parts */
    } kind[DAG_DEVICE_KIND_COUNT];
    dagi_candidate at[DAGI_MAX_SPACES];
    int n;
    double inputs; /* seconds until they are made */
};

/* The number of kinds of devices with a body. */
static int find_bodies(struct options *o, const struct dagi_devices *all, struct dag_task *t)
{
    int found = 0;
    memset(o->kind, 0, sizeof o->kind);
    for (int b = 0; b < t->cls->nbodies; b++) {
        const dag_body *body = &t->cls->bodies[b];
        int any = body->device == DAG_DEVICE_ANY;
        int kind = any ? DAG_HOST + 1 : body->device, end = any ? DAG_DEVICE_KIND_COUNT : kind + 1;
        for (; kind < end; kind++) {
            int fits = kind == DAG_HOST || dagi_body_fits(all, body, kind, t->pool->prec);
            if (fits && !o->kind[kind].body && can_run(t, body)) {
                o->kind[kind].body = body;
                found += kind != DAG_HOST;
            }
        }
    }
    return found;
}

static void add_device(struct options *o, const dagi_device *d, struct dag_task *t)
{
    double backlog = (double)atomic_load_explicit(&d->load.backlog, memory_order_relaxed) * 1e-9;
    o->at[o->n++] = (dagi_candidate){
        .place = d->space, .backlog = fmax(backlog, o->inputs), .move = moving(d->all, t, d->space)};
}

/* A class without a body for cores has no place: the task does not fit any device that works. */
static void too_large(const struct options *o, const struct dagi_devices *all, struct dag_task *t)
{
    char name[256];
    const dagi_device *d = NULL;
    for (int i = all->count - 1; i >= 0; i--) {
        if (o->kind[all->device[i]->backend->kind].body && !atomic_load(&all->device[i]->lost))
            d = all->device[i];
    }
    if (!d)
        return;
    int kind = d->backend->kind, split = o->kind[kind].bytes <= d->piece.bytes;
    dagi_describe(name, sizeof name, t->cls, dagi_task_locals(t));
    dagi_pool_fail(t->pool, DAG_ERR_NOMEM,
                   "%s: %s of class %s needs %zu bytes%s on device %d (%s), whose pool has %zu, and "
                   "the class has no body for cores: use smaller tiles or a larger device_memory = %s=BYTES",
                   t->pool->program->file, name, t->cls->name, split ? o->kind[kind].largest : o->kind[kind].bytes,
                   split ? " in one piece" : "", d->index, d->info.name,
                   split ? d->piece.largest : d->piece.bytes, dagi_kinds[kind].prefix);
}

/* Bit i: a body wants device i, counted over all kinds. */
static uint32_t wanted_devices(const struct options *o, const struct dagi_devices *all,
                               struct dag_task *t)
{
    uint32_t wanted = 0;
    for (int k = DAG_HOST + 1; k < DAG_DEVICE_KIND_COUNT; k++) {
        const dag_body *body = o->kind[k].body;
        int64_t index = body && body->device_index
                            ? body->device_index(t->pool->globals, dagi_task_locals(t))
                            : -1;
        if (index >= 0)
            wanted |= UINT32_C(1) << (index % all->count);
    }
    return wanted;
}

/* The devices that could run t. Those that its bodies want (the result, 0 = any) stand alone, unless
 * none of them can. */
static uint32_t list_devices(struct options *o, const struct dagi_devices *all, struct dag_task *t)
{
    uint32_t wanted = wanted_devices(o, all, t);
    for (int pass = wanted == 0; pass < 2 && o->n == 0; pass++) {
        for (int i = 0; i < all->count; i++) {
            const dagi_device *d = all->device[i];
            int kind = d->backend->kind;
            if (o->kind[kind].body && !atomic_load(&d->lost) &&
                o->kind[kind].bytes <= d->piece.bytes && o->kind[kind].largest <= d->piece.largest && (pass || wanted >> i & 1))
                add_device(o, d, t);
        }
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

/* What each kind needs for a task on any device. */
static void find_needs(struct options *o, struct dagi_devices *all, struct dag_task *t,
                       struct footprint values)
{
    for (int k = DAG_HOST + 1; k < DAG_DEVICE_KIND_COUNT; k++) {
        if (!o->kind[k].body)
            continue;
        o->kind[k].workspace = workspace_of(t, o->kind[k].body);
        size_t workspace = o->kind[k].workspace ? dagi_memory_rounded(o->kind[k].workspace) : 0;
        o->kind[k].bytes = values.rounded + workspace;
        o->kind[k].largest = workspace > values.largest ? workspace : values.largest;
        keep_largest(all, (int64_t)o->kind[k].bytes);
    }
}

/* A device for a task whose inputs are bound goes to its slip; none: it is for a core. */
static void choose(struct options *o, struct dagi_devices *all, dagi_slip *slip)
{
    struct dag_task *t = slip->task;
    int core = o->kind[DAG_HOST].body != NULL;
    struct footprint values = footprint(t);
    o->n = 0;
    o->inputs = coming(t);
    slip->bytes = values.bytes;
    find_needs(o, all, t, values);
    dagi_choice_class *cls = dagi_times_of(all, t);
    uint32_t wanted = list_devices(o, all, t);
    int ndevices = o->n;
    if (ndevices == 0) {
        if (!core)
            too_large(o, all, t);
        return;
    }
    if (core && !wanted && !all->ctx->settings.device_always) {
        double kernel = dagi_choice_expect(all->choice, cls, DAGI_HOST, slip->bytes);
        o->at[o->n++] = (dagi_candidate){.place = DAGI_HOST,
                                         .backlog = fmax(core_backlog(all, kernel), o->inputs),
                                         .move = moving(all, t, DAGI_HOST)};
    }
    int best = dagi_choice_take(all->choice, all->policy, cls, slip->bytes, o->at, o->n);
    if (best >= ndevices)
        return;
    slip->device = dagi_device_at(all, o->at[best].place);
    slip->estimate = nanoseconds(o->at[best].kernel);
    slip->body = o->kind[slip->device->backend->kind].body;
    slip->workspace_bytes = o->kind[slip->device->backend->kind].workspace;
}

int dagi_device_take(struct dagi_worker *w, struct dag_task *t)
{
    struct dagi_devices *all = dagi_tasks(w->ctx)->devices;
    dag_taskpool *pool = t->pool;
    if (!dagi_pool(pool)->classes[t->cls->id].on_device || dagi_pool_is_poisoned(pool))
        return 0;
    struct options o;
    if (!find_bodies(&o, all, t))
        return 0;
    void *owner = t->owner;
    t->owner = w;
    if (t->cls->bind && !(t->arrived & DAGI_TASK_BOUND))
        t->cls->bind(t, pool->globals);
    t->owner = owner;
    t->arrived |= DAGI_TASK_BOUND;
    if (dagi_pool_is_poisoned(pool))
        return 0;
    dagi_slip slip = {.task = t};
    choose(&o, all, &slip);
    if (!slip.device)
        return 0;
    if (all->mixed && dagi_device_crosses(slip.device, t))
        return 1;
    if (dagi_slips_enter(w, &slip) != 0) {
        dagi_pool_fail(pool, DAG_ERR_NOMEM, "no memory for a task of class %s", t->cls->name);
        return 0;
    }
    return 1;
}

/* What a core took for a task; times are kept of those that a device could have run. */
void dagi_device_core_ran(struct dagi_worker *w, struct dag_task *t, uint64_t nanoseconds)
{
    struct dagi_devices *all = dagi_tasks(w->ctx)->devices;
    int beside = dagi_pool(t->pool)->classes[t->cls->id].on_device;
    dagi_choice_class *cls = beside ? dagi_times_of(all, t) : NULL;
    dagi_choice_core_ran(all->choice, t->pool->program->name, t->pool->prec, cls, (double)nanoseconds * 1e-9);
    if (!beside)
        return;
    dagi_driver(w)->ran_beside++;
    all->policy->learn(all->choice, cls, DAGI_HOST, footprint(t).bytes, (double)nanoseconds * 1e-9);
}

/* One task: made, run, dropped; and what its body may ask of it. */
#include "completion.h"

#include <stdlib.h>
#include <string.h>

int64_t dagi_task_priority(const dag_taskpool *pool, const dag_class *cls, const int32_t *locals)
{
    return dagi_priority_of(pool, cls, locals);
}

struct dag_task *dagi_task_new(struct dagi_worker *w, dag_taskpool *pool, dagi_class_info *info,
                               const int32_t *locals)
{
    return dagi_task_make(w, pool, info, locals, info->cls->nlocals);
}

struct dag_task *dagi_task_none(dag_taskpool *pool, const dag_class *cls)
{
    dagi_pool_fail(pool, DAG_ERR_NOMEM, "no memory for a task of class %s", cls->name);
    return NULL;
}

void dagi_task_drop(struct dagi_worker *w, struct dag_task *t)
{
    dag_value **flow = dag_task_flows(t);
    for (int f = 0; f < t->cls->ndata; f++)
        dagi_value_release(w, flow[f]);
    dagi_task_free(w, t, dagi_pool(t->pool)->classes[t->cls->id].memory_class);
}

/* Give each flow that the body may write a value of its own. Copies count for w. */
DAGI_HOT void make_writable(struct dagi_worker *w, struct dag_task *t, uint32_t mask)
{
    dag_value **flow = dag_task_flows(t);
    for (; mask; mask &= mask - 1) {
        int f = __builtin_ctz(mask);
        if (!flow[f])
            continue;
        if (DAGI_LIKELY(dagi_value_plainly_in_place(flow[f]))) /* the common case, decided here */
            continue;
        int renamed = 0;
        dag_value *own = dagi_value_writable(w, flow[f], &renamed);
        if (!own) {
            dagi_pool_fail(t->pool, DAG_ERR_NOMEM, "no memory to copy flow %s of class %s",
                           t->cls->flows[f].name, t->cls->name);
            return;
        }
        flow[f] = own;
        dagi_runner(w)->renames += renamed;
    }
}

DAGI_HOT void run_body(struct dagi_worker *w, struct dag_task *t)
{
    dag_taskpool *pool = t->pool;
    const dag_class *cls = t->cls;
    const dag_body *body = cls->bodies;
    for (int left = cls->nbodies; left > 0; left--, body++) {
        if (DAGI_UNLIKELY(body->device != DAG_DEVICE_CPU))
            continue;
        if (body->evaluate && !body->evaluate(pool->globals, dagi_task_locals(t)))
            continue;
        const dagi_observer_port *observer = dagi_tasks(w->ctx)->observer;
        if (DAGI_UNLIKELY(observer != NULL))
            observer->begin(w, t);
        if (DAGI_UNLIKELY(body->fn[pool->prec](t, pool->globals) != DAG_BODY_DONE))
            dag_task_fail(t, "its body returned an error");
        if (DAGI_UNLIKELY(observer != NULL))
            observer->end(w, t);
        return;
    }
    if (cls->nbodies > 0)
        dag_graph_error(pool->globals, cls, dagi_task_locals(t), cls->line,
                        "none of its bodies for cores may run it: there is none, or the "
                        "'evaluate' of each says no");
}

DAGI_HOT void execute(struct dagi_worker *w, struct dag_task *t)
{
    dag_taskpool *pool = t->pool;
    const dagi_class_info *info = &dagi_pool(pool)->classes[t->cls->id];
    if (DAGI_UNLIKELY(dagi_pool_is_poisoned(pool)))
        return;
    if (t->cls->bind)
        t->cls->bind(t, pool->globals);
    if (info->write_mask)
        make_writable(w, t, info->write_mask);
    if (DAGI_LIKELY(!dagi_pool_is_poisoned(pool)))
        run_body(w, t);
}

/* The same where there are devices. 0: the task waits for one of them and is not ours any more. */
static int execute_beside_devices(struct dagi_worker *w, struct dag_task *t)
{
    dag_taskpool *pool = t->pool;
    const dagi_device_port *device = dagi_tasks(w->ctx)->device;
    uint32_t writes = dagi_pool(pool)->classes[t->cls->id].write_mask;
    if (dagi_pool_is_poisoned(pool))
        return 1;
    if (t->cls->bind && !(t->arrived & DAGI_TASK_BOUND))
        t->cls->bind(t, pool->globals);
    t->arrived |= DAGI_TASK_BOUND;
    if (dagi_pool_is_poisoned(pool))
        return 1;
    if (!device->host_ready(w, t))
        return 0;
    if (DAGI_TRACK(w))
        device->causes(w, t); /* while it has the values that it waited for */
    struct dagi_runner *r = dagi_runner(w);
    int64_t before = r->renames;
    make_writable(w, t, writes);
    if (r->renames != before) { /* not for w to hand in: another worker may yet complete t */
        atomic_fetch_add_explicit(&dagi_pool(pool)->stats.renames, r->renames - before,
                                  memory_order_relaxed);
        r->renames = before;
    }
    /* Again, now that nobody else holds what is written: a reader may have begun to copy it to a
     * device and let go of it behind the first look. */
    if (writes && !device->host_ready(w, t))
        return 0;
    device->host_written(w, t, writes);
    if (dagi_pool_is_poisoned(pool))
        return 1;
    uint64_t begin = dagi_now();
    run_body(w, t);
    device->core_ran(w, t, dagi_now() - begin);
    return 1;
}

/* Apart from dagi_task_run(), so that it has nothing to save for this while nothing is recorded. */
static __attribute__((noinline)) dagi_ready_list run_special(struct dagi_worker *w,
                                                             struct dag_task *t)
{
    uint64_t begin = DAGI_TRACK(w) ? dagi_trace_mark(DAGI_TRACK(w)) : 0;
    bool beside = dagi_tasks(w->ctx)->device != NULL;
    if (!beside && DAGI_TRACK(w) && DAGI_TRACE(w->ctx)->causes)
        dagi_trace_collect(DAGI_TRACK(w), t, NULL);
    if (!beside)
        execute(w, t);
    else if (!execute_beside_devices(w, t))
        return (dagi_ready_list){NULL, NULL};
    if (DAGI_TRACK(w))
        dagi_trace_task(DAGI_TRACK(w), t, begin);
    return dagi_task_complete(w, t);
}

dagi_ready_list dagi_task_run(struct dagi_worker *w, struct dag_task *t)
{
    if (DAGI_UNLIKELY(t->pool != dagi_runner(w)->count_pool))
        dagi_count_for(w, t->pool);
    assert(t->pending == 0 && !dagi_runner(w)->held);
    t->owner = w;
    if (DAGI_UNLIKELY(dagi_runner(w)->special))
        return run_special(w, t);
    execute(w, t);
    return dagi_task_complete(w, t);
}

/* ---- inside a body ---------------------------------------------------------------------- */

int dag_task_worker(const struct dag_task *task)
{
    return ((const struct dagi_worker *)task->owner)->index;
}

dag_context *dag_task_context(const struct dag_task *task)
{
    return task->pool->ctx;
}

void *dag_task_workspace(struct dag_task *task, size_t bytes)
{
    struct dagi_runner *w = task->owner;
    if (bytes > SIZE_MAX - 4096)
        return NULL;
    if (bytes > w->workspace_bytes || !w->workspace) {
        size_t rounded = (bytes + 4095) & ~(size_t)4095;
        if (rounded == 0)
            rounded = 4096;
        free(w->workspace);
        w->workspace = aligned_alloc(64, rounded);
        w->workspace_bytes = w->workspace ? rounded : 0;
    }
    return w->workspace;
}

void dag_task_send_rows(struct dag_task *task, const char *flow, int64_t first, int64_t count)
{
    for (int f = 0; f < task->cls->ndata; f++) {
        const dag_flow *own = &task->cls->flows[f];
        dag_value *value = dag_task_flows(task)[f];
        if (strcmp(own->name, flow) != 0 || !(own->access & DAG_WRITE) || !value)
            continue;
        if (first >= 0 && count >= 0 && count <= value->m && first <= value->m - count)
            dagi_value_send_rows(value, first, count);
        else
            dag_task_fail(task, "flow %s has %lld rows: no %lld from %lld on can be sent", flow,
                          (long long)value->m, (long long)count, (long long)first);
        return;
    }
    dag_task_fail(task, "no flow %s that it writes, of which to send some rows", flow);
}

void dag_task_info(struct dag_task *task, int64_t info)
{
    dag_taskpool *pool = task->pool;
    if (info <= 0)
        return;
    pthread_mutex_lock(&dagi_pool(pool)->lock);
    if (dagi_pool(pool)->info == 0 || info < dagi_pool(pool)->info)
        dagi_pool(pool)->info = info;
    atomic_store_explicit(&pool->poisoned, 1, memory_order_relaxed);
    pthread_mutex_unlock(&dagi_pool(pool)->lock);
}

void dag_task_fail(struct dag_task *task, const char *format, ...)
{
    char name[256], text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    dagi_describe(name, sizeof name, task->cls, dagi_task_locals(task));
    dagi_pool_fail(task->pool, DAG_ERR_TASK, "%s: task %s of class at line %d: %s",
                   task->pool->program->file, name, task->cls->line, text);
}

/* ---- who runs it ------------------------------------------------------------------------ */

_Thread_local struct dagi_worker *dagi_self;

void dagi_worker_enter(struct dagi_worker *w)
{
    dagi_self = w;
}

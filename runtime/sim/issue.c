/* The issue of a task to a device: its operands, its place in a queue, what follows from it. */
#include "../device/device.h"
#include "sim_impl.h"

/* Is its content needed where the task runs? Of an element also the part that the body leaves alone is. */
static int needs_content(struct dag_task *t, int f)
{
    const dagi_value *v = (const dagi_value *)(const void *)dag_task_flows(t)[f];
    int home = (atomic_load_explicit(&v->flags, memory_order_relaxed) & DAGI_VALUE_HOME) != 0;
    dag_access access = t->cls->flows[f].access;
    if (access == DAG_WRITE)
        return home;
    return !(access & DAG_WRITE) || home || (t->arrived >> f & 1);
}

static dagi_copies *record(struct dag_task *t, int f)
{
    return dagi_sim_copies(dag_task_flows(t)[f]);
}

static int use(struct dagi_sim *s, dagi_sim_device *d, dagi_sim_job *job, int f, int content)
{
    dagi_sim_copy *y = dagi_sim_fill(s, d, dag_task_flows(job->task)[f], content);
    if (!y)
        return 1;
    y->users++;
    job->use[job->nuses].copy = y;
    job->use[job->nuses++].behind = record(job->task, f)->copy[d->space].written;
    return 0;
}

void dagi_sim_uses_end(dagi_sim_job *job)
{
    while (job->nuses > 0)
        dagi_sim_let_go(job->use[--job->nuses].copy);
}

/* Its operands are on their way. Nonzero: no room now. */
static int bring(struct dagi_sim *s, dagi_sim_device *d, dagi_sim_job *job)
{
    struct dag_task *t = job->task;
    uint32_t writes = dagi_pool(t->pool)->classes[t->cls->id].write_mask, copied = 0;
    for (int f = 0; f < t->cls->ndata; f++) {
        dag_value *v = dag_task_flows(t)[f];
        if (!v || !(writes >> f & 1) || dagi_value_in_place(v))
            continue;
        if (needs_content(t, f) && use(s, d, job, f, 1) != 0)
            return 1;
        dagi_sim_make_writable(s, d->rank, t, UINT32_C(1) << f);
        copied |= UINT32_C(1) << f; /* the device copies it */
    }
    for (int f = 0; f < t->cls->ndata; f++)
        if (dag_task_flows(t)[f] && !dagi_sim_flow_again(t, f) &&
            use(s, d, job, f, !(copied >> f & 1) && needs_content(t, f)) != 0)
            return 1;
    return 0;
}

/* What it writes is so when its kernels have run; the last flow says where that is waited for anyway. Nonzero: no
 * memory, which has been said. */
static int launch(struct dagi_sim *s, dagi_sim_device *d, dagi_sim_job *job)
{
    struct dag_task *t = job->task;
    uint32_t writes = dagi_pool(t->pool)->classes[t->cls->id].write_mask;
    dagi_ticket written = {NULL, 0};
    for (uint32_t m = writes; m; m &= m - 1)
        if (dag_task_flows(t)[__builtin_ctz(m)])
            written = record(t, __builtin_ctz(m))->copy[d->space].written;
    dagi_ticket done = dagi_sim_launch(s, d, job, written);
    if (!done.queue)
        return 1;
    for (uint32_t m = writes; m; m &= m - 1)
        if (dag_task_flows(t)[__builtin_ctz(m)])
            dagi_sim_written(dag_task_flows(t)[__builtin_ctz(m)], d->space, done, s->now + d->ahead);
    return 0;
}

/* As dagi_follow_up() has it: results go to the host where stores or other ranks want them; successors on this rank
 * hear of it, unless they have to wait for the end. */
static void follow_up(struct dagi_sim *s, dagi_sim_device *d, dagi_sim_job *job)
{
    struct dag_task *t = job->task;
    dag_taskpool *pool = t->pool;
    uint32_t home = 0, away = 0, save;
    if (t->cls->stores && !dagi_pool_is_poisoned(pool)) {
        s->devices.home = &home;
        s->devices.away = &away;
        t->cls->stores(t, pool->globals);
        s->devices.home = s->devices.away = NULL;
    }
    job->late = pool->program->dynamic || away;
    save = pool->program->dynamic ? UINT32_MAX : home | away;
    if (s->nranks > 1)
        save |= dagi_task_remote(dagi_sim_worker(s), t);
    for (int f = 0; f < t->cls->ndata; f++)
        if ((save >> f & 1) && dag_task_flows(t)[f] && dagi_sim_copies(dag_task_flows(t)[f]))
            job->use[f].home = dagi_sim_save(s, dag_task_flows(t)[f]);
    if (job->late)
        return;
    if (home)
        t->cls->stores(t, pool->globals); /* only marks */
    dagi_sim_ready(s, d->rank, dagi_sim_pool_of(s, pool), dagi_task_released(dagi_sim_worker(s), t, save));
}

int dagi_sim_issue(struct dagi_sim *s, dagi_sim_device *d, dagi_sim_job *job)
{
    dagi_sim_become(s, d->rank, job->task->pool);
    job->task->owner = dagi_sim_worker(s);
    if (bring(s, d, job) != 0) {
        dagi_sim_uses_end(job);
        return 1;
    }
    job->stage = 1;
    d->issued++;
    d->nahead++;
    d->ahead += job->estimate;
    if (launch(s, d, job) != 0) {
        dagi_sim_job_forget(s, d->rank, job);
        return 0; /* it does not wait any more */
    }
    follow_up(s, d, job);
    return 0;
}

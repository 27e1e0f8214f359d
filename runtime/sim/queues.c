/*
 * Queues of devices, as the runtime has them (device/lane.h): one for copies to each, one for copies from it, and some
 * for kernels, each of which does one thing after the other. What is behind something in another queue waits at the head
 * of its own, and all behind it wait, too. Kernels of several queues run beside each other, first come first.
 */
#include "sim_impl.h"

#include <stdlib.h>

void dagi_sim_queues_init(dagi_sim_device *d)
{
    for (int i = 0; i < DAGI_SIM_QUEUES; i++)
        d->queue[i].device = d;
}

static void let_go(const dagi_sim_op *op)
{
    if (op->copy)
        dagi_sim_let_go(op->copy);
    if (op->from)
        dagi_sim_let_go(op->from);
}

void dagi_sim_queues_fini(dagi_sim_device *d)
{
    for (int i = 0; i < DAGI_SIM_QUEUES; i++)
        for (dagi_sim_op *op = d->queue[i].first, *next; op; op = next) {
            next = op->next;
            let_go(op);
            free(op);
        }
}

dagi_ticket dagi_sim_enter(struct dagi_sim *s, dagi_sim_device *d, int queue, dagi_sim_op what)
{
    dagi_sim_queue *q = &d->queue[queue];
    dagi_sim_op *op = malloc(sizeof *op);
    if (!op) {
        dagi_sim_short(s);
        return (dagi_ticket){NULL, 0};
    }
    *op = what;
    *(q->first ? &q->last->next : &q->first) = op;
    q->last = op;
    if (op->copy)
        op->copy->users++;
    if (op->from)
        op->from->users++;
    return (dagi_ticket){&q->order, ++q->entered};
}

/* That of its class, or behind what it waits for anyway, or in turn. */
static int choose_lane(const struct dagi_sim *s, dagi_sim_device *d, const dagi_sim_job *job, dagi_ticket written)
{
    if (job->task->cls->high_priority)
        return DAGI_SIM_KERNELS;
    for (int i = 1; i < s->devices.lanes; i++)
        if (written.queue == &d->queue[DAGI_SIM_KERNELS + i].order && !dagi_ticket_passed(written))
            return DAGI_SIM_KERNELS + i;
    d->turn = d->turn + 1 < s->devices.lanes ? d->turn + 1 : 1;
    return DAGI_SIM_KERNELS + d->turn;
}

dagi_ticket dagi_sim_launch(struct dagi_sim *s, dagi_sim_device *d, dagi_sim_job *job, dagi_ticket written)
{
    return dagi_sim_enter(s, d, choose_lane(s, d, job, written),
                          (dagi_sim_op){.job = job, .alone = job->alone, .filled = job->filled});
}

/* ---- the head of a queue -------------------------------------------------------------------- */

static int may_begin(const dagi_sim_op *op)
{
    int may = dagi_ticket_passed(op->behind);
    for (int i = 0; op->job && i < op->job->nuses; i++)
        may &= dagi_ticket_passed(op->job->use[i].behind);
    return may;
}

static void begin(struct dagi_sim *s, dagi_sim_queue *q)
{
    dagi_sim_device *d = q->device;
    int which = (int)(q - d->queue);
    if (q->busy || !q->first || !may_begin(q->first))
        return;
    q->busy = 1;
    if (which < DAGI_SIM_KERNELS) {
        dagi_sim_post(s, dagi_sim_cross(s, d, which == DAGI_SIM_OUT, q->first), DAGI_SIM_QUEUE, d->rank, q, 0);
        return;
    }
    dagi_ready_entry e = {0, s->pushed++, q};
    if (dagi_ready_heap_push(&d->filled, e) != 0)
        dagi_sim_short(s);
}

static void run_filled(struct dagi_sim *s, dagi_sim_device *d)
{
    while (d->filled.count > 0 && d->running < s->machine.devices.streams) {
        dagi_sim_queue *q = dagi_ready_heap_pop(&d->filled).what;
        d->busy_until = dagi_sim_later(d->busy_until, s->now) + q->first->filled;
        d->since = d->running++ == 0 ? s->now : d->since;
        dagi_sim_body_now(s, d->rank, 1);
        dagi_sim_post(s, dagi_sim_later(s->now + q->first->alone, d->busy_until), DAGI_SIM_QUEUE, d->rank, q, 0);
    }
}

void dagi_sim_queues_begin(struct dagi_sim *s, int rank)
{
    dagi_sim_crew *crew = &s->devices.crew[rank];
    for (int i = 0; i < crew->count; i++) {
        dagi_sim_device *d = &crew->device[i];
        for (int k = 0; k < DAGI_SIM_KERNELS + s->devices.lanes; k++)
            begin(s, &d->queue[k]);
        run_filled(s, d);
    }
}

void dagi_sim_queue_over(struct dagi_sim *s, dagi_sim_queue *q)
{
    dagi_sim_device *d = q->device;
    dagi_sim_op *op = q->first;
    q->first = op->next;
    q->busy = 0;
    atomic_fetch_add_explicit(&q->order.passed, 1, memory_order_relaxed);
    let_go(op);
    for (struct dag_task *t = op->callers, *next; t; t = next) {
        next = t->next;
        dagi_sim_push(s, d->rank, t);
    }
    if (q - d->queue >= DAGI_SIM_KERNELS) {
        dagi_sim_body_now(s, d->rank, -1);
        if (--d->running == 0)
            s->devices.busy += s->now - d->since;
    }
    if (q - d->queue != DAGI_SIM_IN)
        dagi_sim_job_ran(s, d, op->job);
    dagi_sim_crew *crew = &s->devices.crew[d->rank];
    for (int i = 0; q - d->queue == DAGI_SIM_OUT && i < crew->count; i++) /* whose results were copied from here */
        if (&crew->device[i] != d)
            dagi_sim_job_ran(s, &crew->device[i], NULL);
    free(op);
}

/* ---- who waits for it ----------------------------------------------------------------------- */

void dagi_sim_call_back(dagi_ticket when, struct dag_task *t)
{
    const dagi_sim_queue *q = (const dagi_sim_queue *)(const void *)when.queue;
    dagi_sim_op *op = q->first;
    for (uint64_t at = atomic_load_explicit(&q->order.passed, memory_order_relaxed) + 1; at < when.count; at++)
        op = op->next;
    t->next = op->callers;
    op->callers = t;
}

void dagi_sim_queues_forget(struct dagi_sim *s, dagi_sim_device *d, const dagi_sim_pool *p)
{
    for (int i = 0; i < DAGI_SIM_QUEUES; i++)
        for (dagi_sim_op *op = d->queue[i].first; op; op = op->next) {
            if (op->job && op->job->task->pool == p->pool) {
                dagi_sim_job_forget(s, d->rank, op->job);
                op->job = NULL;
                op->alone = op->filled = 0; /* what has begun takes its time all the same: its event is made */
            }
            for (struct dag_task **link = &op->callers; *link;) {
                struct dag_task *t = *link;
                if (t->pool != p->pool) {
                    link = &t->next;
                    continue;
                }
                *link = t->next;
                dagi_task_drop(dagi_sim_worker(s), t);
            }
        }
}

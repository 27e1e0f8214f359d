/* What the workers of a rank do: tasks, start-up, messages; the values that tasks have. */
#include "../device/device.h"
#include "sim_impl.h"

#include <math.h>
#include <stdlib.h>

/* ---- values --------------------------------------------------------------------------------- */

void dagi_sim_adopt(struct dagi_sim *s, int rank, dag_value *v)
{
    dagi_sim_rank *r = &s->rank[rank];
    v->ptr = s->scratch.begin;
    dagi_value_of(v)->slot = rank;
    atomic_fetch_or_explicit(&dagi_value_of(v)->flags, DAGI_VALUE_COPIED, memory_order_relaxed);
    r->memory += dagi_sim_value_bytes(v);
    r->peak = r->memory > r->peak ? r->memory : r->peak;
}

/* A value that was adopted, or has been on devices, has no holder any more. */
static int forget_value(dag_value *v)
{
    struct dagi_sim *s = dagi_sim_of(dagi_value_of(v)->pool->ctx);
    uint32_t flags = atomic_load_explicit(&dagi_value_of(v)->flags, memory_order_relaxed);
    if (dagi_sim_copies(v))
        dagi_sim_copies_forget(v);
    if (!(flags & DAGI_VALUE_HOME))
        s->rank[dagi_value_of(v)->slot].memory -= dagi_sim_value_bytes(v);
    return 0;
}

static void rest(struct dagi_worker *w, dag_value *v)
{
    (void)w;
    (void)v; /* none is resident */
}

const dagi_value_keeper dagi_sim_keeper = {.rest = rest, .forget = forget_value};

/* ---- the port of devices, through which memory is asked for ---------------------------------- */

static uint8_t have(const dag_context *ctx, const dag_program *program, const dag_class *cls,
                    dag_precision prec)
{
    (void)ctx;
    (void)program;
    (void)cls;
    (void)prec;
    return 0;
}

static struct dag_task *filter(struct dagi_worker *w, struct dag_task *list)
{
    (void)w;
    return list;
}

/* An element of a collection. The address that a collection gives is one of rank 0's, and not used. */
static dag_value *bind(dag_taskpool *pool, struct dagi_residence *residence, const dag_element *e,
                       uint32_t flags)
{
    struct dagi_sim *s = dagi_sim_of(pool->ctx);
    dag_value *v = dagi_value_new(dagi_sim_worker(s), pool, &e->shape);
    (void)residence;
    if (v) {
        v->ptr = s->scratch.begin;
        atomic_store_explicit(&dagi_value_of(v)->flags, DAGI_VALUE_HOME | (flags & DAGI_VALUE_INPLACE),
                              memory_order_relaxed);
    }
    return v;
}

/* A store: nothing where the value is the element, else a copy. */
static int plans(struct dag_task *task, int flow, int slot, const dag_element *e)
{
    struct dagi_sim *s = dagi_sim_of(task->pool->ctx);
    dag_value *v = dag_task_flows(task)[flow];
    uint32_t flags = atomic_load_explicit(&dagi_value_of(v)->flags, memory_order_relaxed);
    (void)slot;
    (void)e;
    if (s->devices.home) /* it is asked for what it stores, and where */
        *(flags & DAGI_VALUE_HOME ? s->devices.home : s->devices.away) |= UINT32_C(1) << flow;
    else if (flags & DAGI_VALUE_HOME)
        atomic_fetch_or_explicit(&dagi_value_of(v)->flags, DAGI_VALUE_STORED, memory_order_relaxed);
    else
        s->spent += llround(1e12 * (double)dagi_sim_value_bytes(v) / s->machine.copy);
    return 1;
}

const dagi_device_port dagi_sim_memory = {.have = have, .filter = filter, .bind = bind, .plans = plans};

/* ---- tasks ---------------------------------------------------------------------------------- */

void dagi_sim_push(struct dagi_sim *s, int rank, struct dag_task *t)
{
    /* The youngest of equal priority comes first, as the queues of workers give them. */
    dagi_ready_entry e = {t->priority, UINT64_MAX - s->pushed++, t};
    if (dagi_ready_heap_push(&s->rank[rank].ready, e) != 0) {
        dagi_task_drop(dagi_sim_worker(s), t);
        dagi_sim_short(s);
    }
}

void dagi_sim_ready(struct dagi_sim *s, int rank, dagi_sim_pool *p, struct dag_task *list)
{
    for (struct dag_task *t = list, *next; t; t = next) {
        next = t->next;
        if (p->part[rank].waits > 0) {
            t->next = p->part[rank].early;
            p->part[rank].early = t;
            continue;
        }
        if (!p->on_device[t->cls->id] || !dagi_sim_device_takes(s, rank, t))
            dagi_sim_push(s, rank, t);
    }
}

/* As dagi_value_writable() has it. */
void dagi_sim_make_writable(struct dagi_sim *s, int rank, struct dag_task *t, uint32_t mask)
{
    struct dagi_worker *w = dagi_sim_worker(s);
    for (; mask; mask &= mask - 1) {
        dag_value **flow = &dag_task_flows(t)[__builtin_ctz(mask)], *v = *flow;
        if (!v)
            continue;
        uint32_t flags = atomic_load_explicit(&dagi_value_of(v)->flags, memory_order_relaxed);
        if (atomic_load_explicit(&dagi_value_of(v)->refs, memory_order_relaxed) == 1 &&
            (!(flags & DAGI_VALUE_HOME) ||
             (flags & (DAGI_VALUE_INPLACE | DAGI_VALUE_STORED)) == DAGI_VALUE_INPLACE)) {
            dagi_value_anew(v);
            continue;
        }
        dag_shape shape = {v->m, v->n, v->elem};
        dag_value *own = dagi_value_new(w, t->pool, &shape);
        if (!own) {
            dagi_sim_short(s);
            return;
        }
        dagi_sim_adopt(s, rank, own);
        dagi_value_release(w, v);
        *flow = own;
        s->sums.renames++;
        s->charge += llround(1e12 * (double)dagi_sim_value_bytes(own) / s->machine.copy);
    }
}

/* What is fresh has no memory yet. */
void dagi_sim_adopt_fresh(struct dagi_sim *s, int rank, struct dag_task *t)
{
    for (int f = 0; f < t->cls->ndata; f++) {
        dag_value *v = dag_task_flows(t)[f];
        if (v && v->ptr != s->scratch.begin)
            dagi_sim_adopt(s, rank, v);
        if (v && (size_t)dagi_sim_value_bytes(v) > s->scratch.bytes)
            dagi_pool_fail(t->pool, DAG_ERR_NOMEM, "flow %s of class %s is larger than what a "
                           "simulation has addresses for", t->cls->flows[f].name, t->cls->name);
    }
}

/* What is known of the time of the task without its body; -1 = nothing. */
static dagi_sim_time known_time(struct dagi_sim *s, const dagi_sim_pool *p, struct dag_task *t)
{
    dagi_sim_time known = p->class_time[t->cls->id];
    uint64_t bytes = 0;
    if (known >= 0 || !s->machine.learned)
        return known;
    for (int f = 0; f < t->cls->ndata; f++)
        bytes += dag_task_flows(t)[f] ? (uint64_t)dagi_sim_value_bytes(dag_task_flows(t)[f]) : 0;
    return dagi_sim_learned_time(&s->machine, t->pool->program->name, t->pool->prec, t->cls->name, bytes);
}

void dagi_sim_body(struct dag_task *t)
{
    dag_taskpool *pool = t->pool;
    for (int i = 0; i < t->cls->nbodies; i++) {
        const dag_body *b = &t->cls->bodies[i];
        if (b->device != DAG_DEVICE_CPU ||
            (b->evaluate && !b->evaluate(pool->globals, dagi_task_locals(t))))
            continue;
        if (b->fn[pool->prec](t, pool->globals) != DAG_BODY_DONE)
            dag_task_fail(t, "its body returned an error");
        return;
    }
    if (t->cls->nbodies > 0)
        dag_graph_error(pool->globals, t->cls, dagi_task_locals(t), t->cls->line,
                        "none of its bodies for cores may run it");
}

/* Has the host what a task for a core is to use? */
static int at_home(struct dag_task *t)
{
    int is = 1;
    for (int f = 0; f < t->cls->ndata; f++) {
        const dag_value *v = dag_task_flows(t)[f];
        const dagi_copies *c = v ? dagi_sim_copies(v) : NULL;
        is &= !c || (c->copy[DAGI_HOST].state != DAGI_INVALID && dagi_ticket_passed(c->copy[DAGI_HOST].written));
    }
    return is;
}

static void start_task(struct dagi_sim *s, int rank, struct dag_task *t)
{
    dag_taskpool *pool = t->pool;
    dagi_sim_pool *p = dagi_sim_pool_of(s, pool);
    dagi_sim_become(s, rank, pool);
    t->owner = dagi_sim_worker(s);
    s->charge = 0;
    uint32_t writes = dagi_pool(pool)->classes[t->cls->id].write_mask;
    if (t->cls->bind && !(t->arrived & DAGI_TASK_BOUND))
        t->cls->bind(t, pool->globals);
    if (s->devices.crew) {
        t->arrived |= DAGI_TASK_BOUND;
        if (!at_home(t)) {
            dagi_sim_fetch(s, rank, t);
            return;
        }
    }
    dagi_sim_adopt_fresh(s, rank, t);
    dagi_sim_make_writable(s, rank, t, writes);
    dagi_sim_time copying = s->charge;
    for (uint32_t m = s->devices.crew ? writes : 0; m; m &= m - 1)
        if (dag_task_flows(t)[__builtin_ctz(m)])
            dagi_sim_written(dag_task_flows(t)[__builtin_ctz(m)], DAGI_HOST, (dagi_ticket){NULL, 0}, 0);
    dagi_sim_time known = known_time(s, p, t);
    if (known >= 0)
        s->charge += known;
    else if (!dagi_pool_is_poisoned(pool))
        dagi_sim_body(t);
    if (!dagi_pool_is_poisoned(pool))
        dagi_sim_core_runs(s, t, s->charge - copying);
    s->rank[rank].busy += s->charge;
    s->rank[rank].idle--;
    dagi_sim_body_now(s, rank, 1);
    dagi_sim_post(s, s->now + s->charge + s->machine.task, DAGI_SIM_OVER, rank, t, 0);
}

/* A worker has spent some time on messages. */
static void spend(struct dagi_sim *s, int rank)
{
    dagi_sim_time spent = s->spent;
    s->spent = 0;
    s->rank[rank].talk += spent;
    if (spent > 0)
        dagi_sim_post(s, s->now + spent, DAGI_SIM_FREE, rank, NULL, 0);
    else
        s->rank[rank].idle++;
}

static void part_over(struct dagi_sim *s, int rank, dagi_sim_pool *p)
{
    p->part[rank].over = s->now + s->spent;
    p->left--;
    for (int i = 0; i < p->nfollowers; i++) {
        dagi_sim_pool *f = p->followers[i];
        if (f->part[rank].open > 0)
            dagi_sim_post(s, p->part[rank].over, DAGI_SIM_BEGIN, rank, f, 0);
    }
}

void dagi_sim_complete(struct dagi_sim *s, int rank, struct dag_task *t, int released)
{
    struct dagi_worker *w = dagi_sim_worker(s);
    dagi_sim_pool *p = dagi_sim_pool_of(s, t->pool);
    dagi_sim_become(s, rank, t->pool);
    s->sums.tasks++;
    atomic_fetch_add_explicit(&dagi_pool(t->pool)->stats.tasks, 1, memory_order_relaxed);
    dagi_sim_ready(s, rank, p, released ? dagi_task_retired(w, t, NULL) : dagi_ready_joined(dagi_task_complete(w, t)));
    if (--p->part[rank].open == 0)
        part_over(s, rank, p);
}

void dagi_sim_task_over(struct dagi_sim *s, int rank, struct dag_task *t)
{
    s->spent = 0;
    dagi_sim_body_now(s, rank, -1);
    dagi_sim_complete(s, rank, t, 0);
    spend(s, rank);
    dagi_sim_go(s, rank);
}

/* ---- workers -------------------------------------------------------------------------------- */

/* More tasks of a pool that has some to start; 0 = none has. */
static int start_up(struct dagi_sim *s, int rank)
{
    for (dagi_sim_pool *p = s->pools; p; p = p->next) {
        dagi_sim_part *part = &p->part[rank];
        if (part->waits > 0 || part->open == 0 || part->at == p->pool->program->nclasses)
            continue;
        dagi_sim_become(s, rank, p->pool);
        struct dag_task *list =
            dagi_start_chunk(dagi_sim_worker(s), p->pool, &part->at, &part->cursor);
        dagi_sim_ready(s, rank, p, list);
        if (list)
            return 1;
    }
    return 0;
}

static void run_on_cores(struct dagi_sim *s, int rank)
{
    dagi_sim_rank *r = &s->rank[rank];
    while (r->idle > 0 && !s->failed) {
        if (r->inbox) { /* between tasks, all that has come */
            r->idle--;
            s->spent = 0;
            dagi_sim_handle(s, rank);
            spend(s, rank);
        } else if (r->ready.count > 0 && r->idle > dagi_sim_managers(s, rank)) {
            start_task(s, rank, dagi_ready_heap_pop(&r->ready).what);
        } else if (!r->starts || dagi_sim_devices_full(s, rank)) {
            break;
        } else {
            r->starts = start_up(s, rank);
        }
    }
}

/* Devices are looked after between any two tasks. */
void dagi_sim_go(struct dagi_sim *s, int rank)
{
    if (!s->devices.crew) {
        run_on_cores(s, rank);
        return;
    }
    (void)dagi_sim_manage(s, rank);
    do
        run_on_cores(s, rank);
    while (dagi_sim_manage(s, rank));
    dagi_sim_queues_begin(s, rank);
}

void dagi_sim_part_begins(struct dagi_sim *s, int rank, dagi_sim_pool *p)
{
    dagi_sim_part *part = &p->part[rank];
    if (--part->waits > 0)
        return;
    s->rank[rank].starts = 1;
    struct dag_task *early = part->early;
    part->early = NULL;
    dagi_sim_ready(s, rank, p, early);
    dagi_sim_go(s, rank);
}

/*
 * Devices of the ranks. A task with a body for devices is placed when it becomes ready, by the policy that real runs
 * have (device/choice.h), from what the description says that its kernels take on a core and on a device. A
 * device runs several kernels at once, which share what it can do; the links bring their operands meanwhile
 * (copies.c). One worker of a rank whose devices have work manages them, and runs no task unless it is the only
 * one.
 */
#include "../base/settings.h"
#include "sim_impl.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Jobs that a device has issued at most, and time of kernels from which on it waits, as DAGI_WINDOW and DAGI_AHEAD of
 * device/. */
enum { WINDOW = 64 };
static const dagi_sim_time ahead = DAGI_SIM_SECOND / 50;

/* ---- start and end -------------------------------------------------------------------------- */

static int links_per_node(const dagi_sim_machine *m)
{
    return (int)(m->devices.links > 0 && m->devices.links < m->devices.count ? m->devices.links : m->devices.count);
}

/* What is known of links, as if it had been measured. */
static int learn_links(struct dagi_sim *s, int most)
{
    dagi_choice_place place[DAGI_MAX_SPACES] = {{"cores"}};
    const dagi_sim_wire *l = &s->machine.devices.link;
    const uint64_t few = 1, many = UINT64_C(1) << 30;
    double latency = (double)l->latency / (double)DAGI_SIM_SECOND;
    for (int i = 1; i <= most; i++)
        place[i] = (dagi_choice_place){"device"};
    s->devices.choice = dagi_choice_new(place, 1 + most);
    for (int from = 0; s->devices.choice && from <= most; from++)
        for (int to = 0; to <= most; to++) {
            double rate = to == DAGI_HOST ? s->machine.devices.back : l->bandwidth;
            dagi_choice_learn_move(s->devices.choice, from, to, few, latency);
            dagi_choice_learn_move(s->devices.choice, from, to, many, latency + (double)many / rate);
        }
    return s->devices.choice == NULL;
}

static void make_crew(struct dagi_sim *s, int rank, dagi_sim_device **next)
{
    const dagi_sim_machine *m = &s->machine;
    dagi_sim_crew *crew = &s->devices.crew[rank];
    int64_t node = rank / m->ranks, links = links_per_node(m);
    crew->count = dagi_sim_devices_of(m, rank);
    crew->device = *next;
    for (int i = 0; i < crew->count; i++) {
        crew->device[i] = (dagi_sim_device){
            .rank = rank,
            .link = (int32_t)(node * links + (rank % m->ranks + i * m->ranks) % links),
            .space = 1 + i};
        dagi_sim_queues_init(&crew->device[i]);
    }
    *next += crew->count;
}

dag_status dagi_sim_devices_init(struct dagi_sim *s, char *why, size_t size)
{
    const dagi_sim_machine *m = &s->machine;
    int most = dagi_sim_devices_of(m, 0);
    int64_t asked = s->ctx->settings.gpus;
    if (asked > most)
        return dagi_refuse(why, size, "gpus: %lld devices for a rank, and one of machine '%s' has %d",
                           (long long)asked, m->name, most);
    if (asked >= 0) /* the first of each rank: so many of a node */
        s->machine.devices.count = asked * m->ranks < m->devices.count ? asked * m->ranks : m->devices.count;
    most = dagi_sim_devices_of(m, 0);
    dagi_tasks(s->ctx)->no_devices.played = most;
    if (most == 0)
        return DAG_SUCCESS;
    for (int r = 0; r < s->nranks; r++)
        s->devices.count += dagi_sim_devices_of(m, r);
    size_t nodes = ((size_t)s->nranks + (size_t)m->ranks - 1) / (size_t)m->ranks;
    s->devices.lanes = (int)s->ctx->settings.device_streams;
    assert(s->devices.lanes <= DAGI_SIM_LANES);
    s->devices.policy = dagi_policy_named(s->ctx->settings.device_policy, why, size);
    if (!s->devices.policy)
        return dagi_refuse(why, size, "device_policy: there is no '%s'", s->ctx->settings.device_policy);
    dagi_portion share;
    if (!dagi_portion_read(s->ctx->settings.core_share, s->devices.policy, &share, why, size))
        return DAG_ERR_SETTING;
    s->devices.crew = calloc((size_t)s->nranks, sizeof *s->devices.crew);
    s->devices.all = calloc((size_t)s->devices.count, sizeof *s->devices.all);
    s->devices.link = calloc(2 * nodes * (size_t)links_per_node(m), sizeof *s->devices.link);
    if (!s->devices.crew || !s->devices.all || !s->devices.link || learn_links(s, most) != 0) {
        snprintf(why, size, "no memory to simulate the devices of %d ranks", s->nranks);
        return DAG_ERR_NOMEM;
    }
    dagi_choice_portion(s->devices.choice, &share, s->workers > 1 ? s->workers - 1 : 1); /* one manages */
    dagi_tasks(s->ctx)->no_devices.choice = s->devices.choice;
    dagi_sim_device *next = s->devices.all;
    for (int r = 0; r < s->nranks; r++)
        make_crew(s, r, &next);
    return DAG_SUCCESS;
}

void dagi_sim_devices_fini(struct dagi_sim *s)
{
    for (int64_t i = 0; s->devices.all && i < s->devices.count; i++) {
        dagi_ready_heap_fini(&s->devices.all[i].waiting);
        dagi_ready_heap_fini(&s->devices.all[i].filled);
        dagi_sim_queues_fini(&s->devices.all[i]);
    }
    free(s->devices.crew);
    free(s->devices.all);
    free(s->devices.link);
    dagi_choice_free(s->devices.choice);
}

/* ---- where a task runs ---------------------------------------------------------------------- */

int dagi_sim_has_device_body(const struct dagi_sim *s, const dag_program *program, const dag_class *cls,
                             dag_precision prec)
{
    int has = 0;
    for (int b = 0; b < cls->nbodies && s->devices.crew && !program->aliased; b++)
        has |= cls->bodies[b].device != DAG_DEVICE_CPU && cls->bodies[b].fn[prec];
    return has;
}

/* The body for devices that t can run with; NULL = none. */
static const dag_body *device_body(struct dag_task *t)
{
    for (int b = 0; b < t->cls->nbodies; b++) {
        const dag_body *body = &t->cls->bodies[b];
        if (body->device != DAG_DEVICE_CPU && body->fn[t->pool->prec] &&
            (!body->evaluate || body->evaluate(t->pool->globals, dagi_task_locals(t))))
            return body;
    }
    return NULL;
}

static uint64_t footprint(struct dag_task *t)
{
    uint64_t bytes = 0;
    for (int f = 0; f < t->cls->ndata; f++)
        if (dag_task_flows(t)[f] && !dagi_sim_flow_again(t, f))
            bytes += (uint64_t)dagi_sim_value_bytes(dag_task_flows(t)[f]);
    return bytes;
}

/* How long kernels take is known, as behind a run that has tried all places. */
static void learn(struct dagi_sim *s, dagi_choice_class *cls, int place, uint64_t bytes, dagi_sim_time time)
{
    int times = dagi_choice_known(s->devices.choice, cls, place, bytes) > 0 ? 1 : DAGI_CHOICE_TRIES;
    while (times-- > 0)
        s->devices.policy->learn(s->devices.choice, cls, place, bytes, dagi_sim_in_seconds(time));
}

/* Which device the body wants; negative: any, or a core. */
static int64_t wanted(struct dag_task *t, const dag_body *body)
{
    return body->device_index ? body->device_index(t->pool->globals, dagi_task_locals(t)) : -1;
}

/* The devices that may have it: the one that is wanted, or all. */
static int candidates(struct dagi_sim *s, const dagi_sim_crew *crew, struct dag_task *t, int64_t index,
                      dagi_sim_time inputs, dagi_candidate *at)
{
    int n = 0;
    for (int i = 0; i < crew->count; i++)
        if (index < 0 || index % crew->count == i)
            at[n++] = (dagi_candidate){.place = 1 + i,
                                       .backlog = dagi_sim_in_seconds(dagi_sim_later(crew->device[i].backlog, inputs)),
                                       .move = dagi_sim_moving(s, t, 1 + i)};
    return n;
}

static int choose(struct dagi_sim *s, int rank, struct dag_task *t, const dag_body *body,
                  dagi_sim_time on_core, dagi_sim_time on_device)
{
    const dagi_sim_crew *crew = &s->devices.crew[rank];
    dagi_candidate at[DAGI_MAX_SPACES];
    uint64_t bytes = footprint(t);
    dagi_choice_class *cls =
        dagi_choice_class_of(s->devices.choice, t->pool->program->name, t->pool->prec, t->cls->name);
    int64_t index = wanted(t, body);
    dagi_sim_time inputs = dagi_sim_coming(s, t);
    int n = candidates(s, crew, t, index, inputs, at), devices = n;
    learn(s, cls, DAGI_HOST, bytes, on_core);
    learn(s, cls, 1, bytes, on_device);
    if (!s->ctx->settings.device_always && index < 0) {
        double ready = (double)s->rank[rank].ready.count * dagi_sim_in_seconds(on_core) / s->workers;
        at[n++] = (dagi_candidate){.place = DAGI_HOST, .backlog = fmax(ready, dagi_sim_in_seconds(inputs)),
                                   .move = dagi_sim_moving(s, t, DAGI_HOST)};
    }
    int best = dagi_choice_take(s->devices.choice, s->devices.policy, cls, bytes, at, n);
    return best < devices ? at[best].place - 1 : -1;
}

/* Run its body for cores: what its kernels take there, and on a device. Nonzero: devices lack one of them. */
static int ask_body(struct dagi_sim *s, int rank, struct dag_task *t, dagi_sim_time *on_core)
{
    dagi_sim_adopt_fresh(s, rank, t);
    s->charge = s->devices.alone = s->devices.filled = 0;
    s->devices.unable = 0;
    dagi_sim_body(t);
    *on_core = s->charge;
    return s->devices.unable || *on_core == 0;
}

static void enter(struct dagi_sim *s, dagi_sim_device *d, dagi_sim_job *job)
{
    dagi_ready_entry e = {job->task->priority, s->pushed++, job};
    if (dagi_ready_heap_push(&d->waiting, e) != 0) {
        dagi_sim_job_forget(s, d->rank, job);
        dagi_sim_short(s);
    }
}

/* Kernels that a device runs beside each other, none of which is urgent. */
static int64_t at_once(const struct dagi_sim *s)
{
    int64_t streams = s->machine.devices.streams, lanes = s->devices.lanes - 1;
    return streams < lanes ? streams : lanes;
}

int dagi_sim_device_takes(struct dagi_sim *s, int rank, struct dag_task *t)
{
    dagi_sim_crew *crew = &s->devices.crew[rank];
    dag_taskpool *pool = t->pool;
    dagi_sim_time on_core;
    if (crew->count == 0 || dagi_pool_is_poisoned(pool))
        return 0;
    dagi_sim_become(s, rank, pool);
    t->owner = dagi_sim_worker(s);
    const dag_body *body = device_body(t);
    if (!body || dagi_sim_pool_of(s, pool)->class_time[t->cls->id] >= 0)
        return 0;
    if (t->cls->bind && !(t->arrived & DAGI_TASK_BOUND))
        t->cls->bind(t, pool->globals);
    t->arrived |= DAGI_TASK_BOUND;
    if (ask_body(s, rank, t, &on_core) != 0 || (double)footprint(t) > s->machine.devices.memory)
        return 0;
    dagi_sim_time each = dagi_sim_later(s->devices.alone / at_once(s), s->devices.filled);
    int32_t device = choose(s, rank, t, body, on_core, each);
    if (device < 0)
        return 0;
    dagi_sim_job *job = calloc(1, sizeof *job + 2 * (size_t)t->cls->ndata * sizeof *job->use);
    if (!job) {
        dagi_sim_short(s);
        return 0;
    }
    *job = (dagi_sim_job){.task = t, .device = device, .alone = s->devices.alone, .filled = s->devices.filled,
                          .estimate = each};
    crew->work++;
    crew->device[device].backlog += each;
    enter(s, &crew->device[device], job);
    return 1;
}

void dagi_sim_core_runs(struct dagi_sim *s, const struct dag_task *t, dagi_sim_time time)
{
    const dag_taskpool *pool = t->pool;
    if (!s->devices.choice)
        return;
    const char *program = pool->program->name;
    int beside = dagi_sim_pool_of(s, t->pool)->on_device[t->cls->id];
    dagi_choice_class *cls =
        beside ? dagi_choice_class_of(s->devices.choice, program, pool->prec, t->cls->name) : NULL;
    dagi_choice_core_ran(s->devices.choice, program, pool->prec, cls, dagi_sim_in_seconds(time));
}

/* ---- the manager ---------------------------------------------------------------------------- */

int dagi_sim_managers(const struct dagi_sim *s, int rank)
{
    return s->devices.crew && s->workers > 1 && s->devices.crew[rank].work > 0;
}

int dagi_sim_devices_full(const struct dagi_sim *s, int rank)
{
    const dagi_sim_crew *crew = s->devices.crew ? &s->devices.crew[rank] : NULL;
    int full = crew && crew->count > 0;
    for (int i = 0; full && i < crew->count; i++)
        full = crew->device[i].waiting.count >= WINDOW;
    return full;
}

void dagi_sim_fetch(struct dagi_sim *s, int rank, struct dag_task *t)
{
    t->next = s->devices.crew[rank].fetches;
    s->devices.crew[rank].fetches = t;
}

static void fetch(struct dagi_sim *s, int rank, struct dag_task *t)
{
    dagi_ticket last = {NULL, 0};
    for (int f = 0; f < t->cls->ndata; f++) {
        dag_value *v = dag_task_flows(t)[f];
        dagi_ticket when = v && dagi_sim_copies(v) ? dagi_sim_save(s, v) : (dagi_ticket){NULL, 0};
        last = dagi_ticket_passed(when) ? last : when;
    }
    if (dagi_ticket_passed(last))
        dagi_sim_push(s, rank, t);
    else
        dagi_sim_call_back(last, t);
}

static int fetch_all(struct dagi_sim *s, int rank)
{
    struct dag_task *t = s->devices.crew[rank].fetches, *next;
    int some = t != NULL;
    for (s->devices.crew[rank].fetches = NULL; t; t = next) {
        next = t->next;
        fetch(s, rank, t);
    }
    return some;
}

/* As is_far_ahead() of device/ has it. */
static int may_issue(const struct dagi_sim *s, const dagi_sim_device *d)
{
    int fewest = s->devices.lanes > 3 ? s->devices.lanes - 1 : 2;
    return d->issued < WINDOW && (s->workers == 1 || d->nahead < fewest || d->ahead < ahead);
}

int dagi_sim_manage(struct dagi_sim *s, int rank)
{
    dagi_sim_crew *crew = &s->devices.crew[rank];
    int stays = s->workers > 1 && crew->managed, some = fetch_all(s, rank);
    crew->managed = crew->work > 0 && (stays || s->rank[rank].idle > 0);
    for (int i = 0; i < crew->count && crew->managed && !s->failed; i++) {
        dagi_sim_device *d = &crew->device[i];
        while (d->waiting.count > 0 && may_issue(s, d)) {
            dagi_ready_entry first = dagi_ready_heap_pop(&d->waiting);
            if (dagi_sim_issue(s, d, first.what) != 0) {
                if (dagi_ready_heap_push(&d->waiting, first) != 0)
                    dagi_sim_short(s);
                break;
            }
            some = 1;
        }
    }
    return some;
}

/* ---- the end -------------------------------------------------------------------------------- */

static int is_home(const dagi_sim_job *job)
{
    int is = 1;
    for (int f = 0; f < job->task->cls->ndata; f++)
        is &= dagi_ticket_passed(job->use[f].home);
    return is;
}

static void over(struct dagi_sim *s, int rank, dagi_sim_job *job)
{
    if (s->workers == 1) { /* it looks between two tasks */
        dagi_sim_inbox_job(s, rank, job);
        return;
    }
    s->spent = 0;
    dagi_sim_job_over(s, rank, job);
    s->rank[rank].talk += s->spent;
    s->spent = 0;
}

void dagi_sim_job_ran(struct dagi_sim *s, dagi_sim_device *d, dagi_sim_job *job)
{
    if (job) {
        dagi_sim_uses_end(job);
        job->stage = 2;
        d->nahead--;
        d->ahead -= job->estimate;
        job->next = d->finishing;
        d->finishing = job;
    }
    for (dagi_sim_job **link = &d->finishing; (job = *link) != NULL;) {
        if (!is_home(job)) {
            link = &job->next;
            continue;
        }
        *link = job->next;
        over(s, d->rank, job);
    }
}

void dagi_sim_job_over(struct dagi_sim *s, int rank, dagi_sim_job *job)
{
    dagi_sim_crew *crew = &s->devices.crew[rank];
    dagi_sim_device *d = &crew->device[job->device];
    struct dag_task *t = job->task;
    int released = !job->late;
    d->issued--;
    d->backlog -= job->estimate;
    crew->work--;
    s->devices.tasks++;
    free(job);
    dagi_sim_complete(s, rank, t, released);
}

/* ---- what is forgotten ---------------------------------------------------------------------- */

void dagi_sim_job_forget(struct dagi_sim *s, int rank, dagi_sim_job *job)
{
    dagi_sim_crew *crew = &s->devices.crew[rank];
    dagi_sim_device *d = &crew->device[job->device];
    d->issued -= job->stage > 0;
    d->nahead -= job->stage == 1;
    d->ahead -= job->stage == 1 ? job->estimate : 0;
    dagi_sim_uses_end(job);
    d->backlog -= job->estimate;
    crew->work--;
    dagi_task_drop(dagi_sim_worker(s), job->task);
    free(job);
}

static void forget_in(struct dagi_sim *s, int rank, dagi_ready_heap *heap, const dagi_sim_pool *p)
{
    dagi_ready_heap old = *heap;
    *heap = (dagi_ready_heap){0};
    for (size_t i = 0; i < old.count; i++) {
        dagi_sim_job *job = old.entry[i].what;
        if (job->task->pool == p->pool)
            dagi_sim_job_forget(s, rank, job);
        else if (dagi_ready_heap_push(heap, old.entry[i]) != 0)
            dagi_sim_short(s);
    }
    dagi_ready_heap_fini(&old);
}

void dagi_sim_devices_forget(struct dagi_sim *s, int rank, const dagi_sim_pool *p)
{
    dagi_sim_crew *crew = s->devices.crew ? &s->devices.crew[rank] : NULL;
    for (struct dag_task **link = crew ? &crew->fetches : NULL; link && *link;) {
        struct dag_task *t = *link;
        if (t->pool != p->pool) {
            link = &t->next;
            continue;
        }
        *link = t->next;
        dagi_task_drop(dagi_sim_worker(s), t);
    }
    for (int i = 0; crew && i < crew->count; i++) {
        forget_in(s, rank, &crew->device[i].waiting, p);
        dagi_sim_queues_forget(s, &crew->device[i], p);
        for (dagi_sim_job **link = &crew->device[i].finishing; *link;) {
            dagi_sim_job *job = *link;
            if (job->task->pool != p->pool) {
                link = &job->next;
                continue;
            }
            *link = job->next;
            dagi_sim_job_forget(s, rank, job);
        }
    }
}

/*
 * The manager of a device: the worker that looks after it as long as it has work.
 *
 * Who brings work counts it in `work`, then looks whether there is a manager; a manager that leaves
 * gives up its place, then looks at `work`. All four are sequentially consistent, so one of the two
 * sees the other, and nothing is left behind.
 */
#include "../trace/trace.h"
#include "choice.h"
#include "device_impl.h"

#include <stdlib.h>

static int has_work(const dagi_device *d)
{
    return atomic_load(&d->load.work) > 0 || atomic_load(&d->load.flying);
}

void dagi_device_alert(dagi_device *d)
{
    if (atomic_load(&d->post.manager) == 0)
        dagi_wake_one(d->all->ctx);
}

int dagi_devices_busy(const dag_context *ctx)
{
    const struct dagi_devices *all = dagi_tasks(ctx)->devices;
    for (int i = 0; all && i < all->count; i++) {
        if (has_work(all->device[i]))
            return 1;
    }
    return 0;
}

int dagi_device_manages(const struct dagi_worker *w)
{
    return dagi_driver(w)->manages != 0;
}

int dagi_device_wants(struct dagi_worker *w)
{
    const struct dagi_devices *all = dagi_tasks(w->ctx)->devices;
    if (dagi_driver(w)->manages)
        return 1;
    for (int i = 0; i < all->count; i++) {
        const dagi_device *d = all->device[i];
        if (atomic_load_explicit(&d->post.manager, memory_order_relaxed) == 0 && has_work(d))
            return 1;
    }
    return 0;
}

/* ---- loss ----------------------------------------------------------------------------------- */

static void give_away(struct dagi_worker *w, dagi_device *d)
{
    dagi_slips_collect(w, d);
    for (dagi_job *job; (job = d->jobs.head) != NULL;) {
        d->jobs.head = job->next;
        dagi_job_elsewhere(w, job, "the device has failed");
    }
    for (dagi_job *job; (job = dagi_slips_pop(w, d)) != NULL;)
        dagi_job_elsewhere(w, job, "the device has failed");
}

/* The device cannot be used any more. What was under way is lost; the rest goes on elsewhere. */
static void lose(struct dagi_worker *w, dagi_device *d)
{
    char why[768];
    if (atomic_load(&d->lost))
        return;
    snprintf(why, sizeof why, "device %d (%s) has failed: %s", d->index, d->info.name,
             dagi_backend_of(d)->error());
    atomic_fetch_sub(&d->all->alive, 1);
    atomic_store(&d->lost, 1);
    dagi_warn(d->all->ctx, "%s; tasks go to %s from now on", why,
              atomic_load(&d->all->alive) > 0 ? "the other devices and to cores" : "cores");
    for (int i = 0; i < d->all->lanes; i++)
        dagi_lane_abandon(&d->exec[i], why);
    dagi_lane_abandon(&d->out, why);
    dagi_lane_abandon(&d->in, why);
    dagi_retire_all(w, d);
    give_away(w, d);
}

/* ---- a round -------------------------------------------------------------------------------- */

/* What is issued keeps its order, so a task of higher priority that becomes ready next would wait for all of it: the
 * next panel's column for a whole update. One for each queue but the urgent one, and some time, has to be there, and two
 * at least: what one needs is copied while another runs. A manager that runs tasks of its own may be away for longer
 * than that. */
static int is_far_ahead(const dagi_device *d)
{
    int fewest = d->all->lanes > 3 ? d->all->lanes - 1 : 2;
    return dagi_tasks(d->all->ctx)->nworkers > 1 && d->jobs.nahead >= fewest && d->jobs.ahead >= d->all->ahead;
}

static int room_to_issue(const dagi_device *d)
{
    enum { TICKETS = 2 * DAG_MAX_FLOWS + 8 };
    _Static_assert((int)TICKETS <= DAGI_LANE_SLOTS / 2, "cores' share is the other half");
    if (d->jobs.nissued >= DAGI_WINDOW || is_far_ahead(d) || dagi_lane_room(&d->in) < TICKETS ||
        dagi_lane_room(&d->out) < TICKETS)
        return 0;
    for (int i = 0, lanes = d->all->lanes; i < lanes; i++) {
        if (dagi_lane_room(&d->exec[i]) < TICKETS)
            return 0;
    }
    return 1;
}

static int issue_round(struct dagi_worker *w, dagi_device *d, dagi_result *result)
{
    enum { MOST = 16 };
    int events = 0;
    while (events < MOST && room_to_issue(d)) {
        dagi_slips_collect(w, d);
        if (!d->jobs.head)
            d->jobs.head = dagi_slips_pop(w, d);
        if (!d->jobs.head)
            break;
        dagi_slips_prefetch(d);
        dagi_job *job = d->jobs.head;
        d->jobs.head = job->next;
        dagi_issue_result r = dagi_issue(w, job, result);
        if (r == DAGI_ISSUE_WAIT || *result == DAGI_LOST)
            break;
        events++;
    }
    return events;
}

static int is_flying(const dagi_device *d)
{
    int busy = d->jobs.nissued > 0 || d->jobs.finishing || dagi_lane_busy(&d->in) ||
               dagi_lane_busy(&d->out);
    for (int i = 0, lanes = d->all->lanes; i < lanes; i++)
        busy |= dagi_lane_busy(&d->exec[i]);
    return busy;
}

/* Both clocks tell one moment: who loses the processor between them reads them again, else all that this
 * round records would be late by as much. */
static void read_clocks(struct dagi_worker *w, dagi_device *d)
{
    enum { CLOSE = 10000, TRIES = 10 }; /* nanoseconds */
    d->time.now = dagi_now();
    d->time.ticks = DAGI_TRACK(w) ? dagi_trace_mark(DAGI_TRACK(w)) : 0;
    for (int i = 0; d->time.ticks && i < TRIES; i++) {
        uint64_t after = dagi_now();
        if (after - d->time.now < CLOSE)
            break;
        d->time.now = after;
        d->time.ticks = dagi_trace_mark(DAGI_TRACK(w));
    }
}

static int round_of(struct dagi_worker *w, dagi_device *d)
{
    dagi_result result = DAGI_OK;
    dagi_activate(w);
    read_clocks(w, d);
    d->time.away = d->time.looked_at ? d->time.now - d->time.looked_at : 0;
    if (!atomic_load_explicit(&d->load.flying, memory_order_relaxed))
        atomic_store(&d->load.flying, 1);
    dagi_depart_collect(d);
    int events = dagi_retire_round(w, d, &result);
    events += dagi_host_round(w, d, &result);
    if (atomic_load_explicit(&d->lost, memory_order_relaxed)) {
        if (has_work(d))
            give_away(w, d);
    } else if (result != DAGI_LOST) {
        events += issue_round(w, d, &result);
    }
    if (result == DAGI_LOST) {
        lose(w, d);
        events++;
    }
    if (events == 0 && atomic_load_explicit(&dagi_runner(w)->done.completed, memory_order_relaxed) >
                           dagi_runner(w)->counted)
        dagi_flush(w); /* somebody may wait for the end */
    dagi_stats_round(d);
    /* What ended behind this round's look, while it issued or had lost the processor, is found by the next one only. */
    d->time.looked_at = d->time.now;
    if (!is_flying(d)) {
        atomic_store(&d->load.flying, 0);
        d->time.looked_at = 0;
    }
    if (d->time.ticks && events > 0)
        dagi_trace_drive(DAGI_TRACK(w), d->time.ticks);
    return events;
}

/* A short queue: start more while there are instances. */
static void start_more(struct dagi_worker *w, const dagi_device *d)
{
    if (atomic_load_explicit(&d->load.unissued, memory_order_relaxed) < DAGI_WINDOW &&
        atomic_load(&dagi_tasks(w->ctx)->starting) > 0)
        dagi_start_some(w);
}

/* The device that this thread had before it was a worker that uses devices, and of how many contexts it is one
 * now. */
static _Thread_local struct {
    int device, users;
} own[DAG_DEVICE_KIND_COUNT];

static void leave_own(const struct dagi_devices *all)
{
    for (int k = 0; k < DAG_DEVICE_KIND_COUNT; k++) {
        if (all->backend[k] && own[k].users++ == 0)
            own[k].device = all->backend[k]->chosen();
    }
}

static void return_to_own(const struct dagi_devices *all)
{
    for (int k = 0; k < DAG_DEVICE_KIND_COUNT; k++) {
        if (all->backend[k] && --own[k].users == 0)
            all->backend[k]->choose_again(own[k].device);
    }
}

static void resign(struct dagi_worker *w, dagi_device *d)
{
    dagi_driver(w)->manages &= ~(UINT32_C(1) << d->index);
    if (!dagi_driver(w)->manages && !dagi_driver(w)->has_device)
        return_to_own(d->all);
    atomic_store(&d->post.manager, 0);
    if (has_work(d))
        dagi_device_alert(d);
}

int dagi_device_is_mine(dagi_device *d, int worker, uint64_t now)
{
    if (!d->near.workers || d->all->worker_node[worker] == d->near.node)
        return 1;
    uint64_t since = atomic_load_explicit(&d->post.vacant, memory_order_relaxed);
    if (since == 0)
        atomic_store_explicit(&d->post.vacant, now, memory_order_relaxed);
    return since != 0 && now - since > DAGI_NEAR_FIRST;
}

int dagi_device_progress(struct dagi_worker *w)
{
    struct dagi_devices *all = dagi_tasks(w->ctx)->devices;
    int events = 0;
    for (int i = 0; i < all->count; i++) {
        dagi_device *d = all->device[i];
        uint32_t bit = UINT32_C(1) << i;
        if (!(dagi_driver(w)->manages & bit)) {
            int nobody = 0;
            if (!has_work(d) || atomic_load(&d->post.manager) != 0 ||
                (d->near.workers && !dagi_device_is_mine(d, w->index, dagi_now())) ||
                !atomic_compare_exchange_strong(&d->post.manager, &nobody, w->index + 1))
                continue;
            if (!dagi_driver(w)->manages && !dagi_driver(w)->has_device)
                leave_own(all);
            dagi_driver(w)->manages |= bit;
            atomic_store_explicit(&d->post.vacant, 0, memory_order_relaxed);
        }
        events += round_of(w, d);
        if (!has_work(d))
            resign(w, d);
        else
            start_more(w, d);
    }
    return events;
}

void dagi_device_leave(struct dagi_worker *w)
{
    const struct dagi_devices *all = dagi_tasks(w->ctx)->devices;
    for (int i = 0; i < all->count && dagi_driver(w)->manages; i++) {
        if (dagi_driver(w)->manages >> i & 1)
            resign(w, all->device[i]);
    }
    if (dagi_driver(w)->has_device)
        return_to_own(all);
    dagi_driver(w)->has_device = 0;
}

void dagi_device_choose(struct dagi_worker *w)
{
    const struct dagi_devices *all = dagi_tasks(w->ctx)->devices;
    if (!all || dagi_driver(w)->has_device) /* others may have devices where there are none here */
        return;
    if (!dagi_driver(w)->manages)
        leave_own(all);
    uint32_t chosen = 0; /* kinds */
    for (int i = 0; i < all->count; i++) {
        const dagi_device *d = all->device[i];
        if (!atomic_load(&d->lost) && !(chosen >> d->backend->kind & 1)) {
            d->backend->choose(d->handle);
            chosen |= UINT32_C(1) << d->backend->kind;
        }
    }
    dagi_driver(w)->has_device = 1;
}

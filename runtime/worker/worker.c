/*
 * Workers: the loop that finds tasks and runs them. What a worker does that finds none is in idle.c.
 */
#include "worker.h"

#include <sched.h>

/* dagi_ticks() between looks at communication from a worker that is busy with short tasks. */
enum { PROGRESS_TICKS = 4000 };
/* Nanoseconds of standstill after which a congested rank with several pools runs some tasks. */
enum { VALVE_AFTER = 1000000 };
/* Ready tasks from which on peers should not send more work. */
enum { MANY_READY = 4096 };

/* ---- tasks ------------------------------------------------------------------------------ */

void dagi_ready(struct dagi_worker *w, struct dag_task *list)
{
    if (DAGI_UNLIKELY(dagi_crew(w->ctx)->sched->push(w, &list) != 0))
        dagi_overflow(w, list);
    dagi_wake_one(w->ctx);
}

int dagi_ready_many(const dag_context *ctx)
{
    return dagi_crew(ctx)->sched->ready(ctx) > MANY_READY;
}

/* What a completion has made ready: the best is next. */
static inline void take_ready(struct dagi_worker *w, dagi_ready_list ready)
{
    struct dagi_thread *t = dagi_thread(w);
    if (ready.rest)
        dagi_ready(w, ready.rest);
    if (!ready.best)
        return;
    if (!t->next) {
        t->next = ready.best;
        return;
    }
    ready.best->next = NULL;
    dagi_ready(w, ready.best);
}

/* The task that is kept goes where others find it. */
static void put_next_down(struct dagi_worker *w)
{
    struct dag_task *t = dagi_thread(w)->next;
    if (!t)
        return;
    dagi_thread(w)->next = NULL;
    t->next = NULL;
    dagi_ready(w, t);
}

/* The next task of its own. */
static inline struct dag_task *find_own(struct dagi_worker *w)
{
    const dagi_sched_ops *sched = dagi_crew(w->ctx)->sched;
    struct dag_task *t = dagi_thread(w)->next;
    if (t) {
        dagi_thread(w)->next = NULL;
        if (DAGI_LIKELY(!sched->above(w, t->priority)))
            return t;
        t->next = NULL;
        if (sched->push(w, &t) != 0)
            return t;
    }
    if (DAGI_UNLIKELY(dagi_runner(w)->overflow)) {
        t = dagi_runner(w)->overflow;
        dagi_runner(w)->overflow = t->next;
        return t;
    }
    return sched->pop(w);
}

/* The next one is t, or there is none: control is told unless t joins, and what that makes ready
 * comes first, as after any task. */
static struct dag_task *tell_before(struct dagi_worker *w, struct dag_task *t)
{
    if (t && dagi_control_joins(w, t))
        return t;
    take_ready(w, dagi_control_tell(w));
    if (t && dagi_thread(w)->next) {
        t->next = NULL;
        dagi_ready(w, t);
        t = NULL;
    }
    return t ? t : find_own(w);
}

bool dagi_start_some(struct dagi_worker *w)
{
    dagi_started started;
    if (!dagi_startup(w, &started))
        return false;
    if (started.list)
        dagi_ready(w, started.list);
    if (started.over)
        dagi_pool_drop(w, started.over);
    return true;
}

/* *away: there may be tasks, which are better left to others for a moment. */
static inline struct dag_task *find(struct dagi_worker *w, int *away)
{
    const dagi_sched_ops *sched = dagi_crew(w->ctx)->sched;
    struct dag_task *t = find_own(w);
    if (DAGI_UNLIKELY(dagi_runner(w)->held_back > 0))
        t = tell_before(w, t);
    if (!t && dagi_start_some(w))
        t = sched->pop(w);
    if (!t && !dagi_tasks(w->ctx)->single) {
        t = sched->steal(w, away);
        if (t && DAGI_TRACK(w))
            dagi_trace_steal(DAGI_TRACK(w));
    }
    return t;
}

/* Time to look after messages? */
static inline bool progress_is_due(const struct dagi_worker *w)
{
    return w->ctx->size > 1 && dagi_ticks() - dagi_thread(w)->last_progress > PROGRESS_TICKS;
}

/* Time to look after messages, devices, or other contexts? */
static inline bool attention_is_due(struct dagi_worker *w)
{
    int attend = atomic_load_explicit(&dagi_crew(w->ctx)->attend, memory_order_relaxed);
    if (!attend)
        return false;
    return ((attend & DAGI_ATTEND_MESSAGES) &&
            dagi_ticks() - dagi_thread(w)->last_progress > PROGRESS_TICKS) ||
           ((attend & DAGI_ATTEND_DEVICES) && dagi_crew(w->ctx)->manager->wants(w)) ||
           ((attend & DAGI_ATTEND_OTHERS) && dagi_turn_is_over(w));
}

/* Time to ask the scheduler whether to go on? */
static inline bool turn_is_over(const struct dagi_worker *w)
{
    int64_t completed = atomic_load_explicit(&dagi_runner(w)->done.completed, memory_order_relaxed);
    return completed % DAGI_SCHED_TURN == 0 && !dagi_tasks(w->ctx)->single;
}

/* Leave tasks of its own to others? They must be where others find them. */
static bool leaves(struct dagi_worker *w)
{
    struct dagi_thread *t = dagi_thread(w);
    const dagi_sched_ops *sched = dagi_crew(w->ctx)->sched;
    t->leaves = !t->runner.overflow && sched->leaves && sched->leaves(w, t->next);
    if (t->leaves)
        put_next_down(w);
    return t->leaves;
}

/* Messages between tasks. False when so much waits to be sent that no task should run. */
static bool look_after_messages(struct dagi_worker *w)
{
    dag_context *ctx = w->ctx;
    int events = dagi_make_progress(w);
    dagi_thread(w)->last_progress = dagi_ticks();
    if (!dagi_crew(ctx)->messages->congested(ctx)) {
        dagi_thread(w)->congested_since = 0;
        return true;
    }
    if (events > 0 || atomic_load(&dagi_tasks(ctx)->open.pools) < 2) {
        dagi_thread(w)->congested_since = 0;
    } else if (dagi_thread(w)->congested_since == 0) {
        dagi_thread(w)->congested_since = dagi_now();
    } else if (dagi_now() - dagi_thread(w)->congested_since > VALVE_AFTER) {
        /* It may be a pool that its receivers will not add before an older one has ended, which
         * has tasks here. */
        dagi_thread(w)->congested_since = 0;
        return true;
    }
    dagi_note_idle(w, true, false);
    sched_yield();
    return false;
}

/* Be the manager of devices that have work and none. False when there is time for tasks: nothing to
 * manage, or nobody else to run them. */
static bool manage(struct dagi_worker *w)
{
    dag_context *ctx = w->ctx;
    const dagi_manager_port *manager = dagi_crew(ctx)->manager;
    if (!manager->wants(w))
        return false;
    int events = manager->progress(w);
    if (events > 0)
        dagi_thread(w)->waits_since = 0;
    if (events > 0 && dagi_thread(w)->idle_since)
        dagi_thread(w)->idle_since = dagi_now();
    if (!manager->manages(w) || dagi_tasks(ctx)->single)
        return false;
    put_next_down(w); /* it runs no task until its devices have nothing left */
    if (dagi_thread(w)->idle_since)
        dagi_end_search(w);
    if (ctx->size > 1 && (events == 0 || progress_is_due(w))) {
        if (dagi_make_progress(w) > 0)
            events++;
        dagi_thread(w)->last_progress = dagi_ticks();
    }
    if (events > 0)
        return true;
    dagi_note_idle(w, false, false);
    uint64_t now = dagi_now();
    if (!dagi_thread(w)->waits_since)
        dagi_thread(w)->waits_since = now;
    if (!dagi_thread(w)->shared) {
        dagi_wait_a_moment(w, now - dagi_thread(w)->waits_since);
        return true;
    }
    dagi_flush(w);
    dagi_deactivate(w);
    dagi_thread(w)->rested = 1;
    return true;
}

void dagi_work(struct dagi_worker *w)
{
    dag_context *ctx = w->ctx;
    if (dagi_crew(ctx)->manager && manage(w))
        return;
    if ((progress_is_due(w) || (ctx->size > 1 && dagi_crew(ctx)->messages->congested(ctx))) &&
        !look_after_messages(w))
        return;
    if (!dagi_worker_is_active(w)) {
        if (!dagi_thread(w)->next && !dagi_something(w)) {
            dagi_rest(w);
            return;
        }
        dagi_activate(w);
    }
    if (DAGI_UNLIKELY(dagi_thread(w)->leaves) && leaves(w)) {
        dagi_stay_away(w, false);
        return;
    }
    int away = 0;
    struct dag_task *t = find(w, &away);
    if (!t) {
        if (away)
            dagi_stay_away(w, true);
        else
            dagi_rest(w);
        return;
    }
    if (dagi_thread(w)->idle_since)
        dagi_end_search(w);
    dagi_work_begin(w);
    while (t) {
        take_ready(w, dagi_task_run(w, t));
        if (w->index == 0 && ((dagi_thread(w)->pauses && dagi_ticks() >= dagi_thread(w)->pauses) ||
                              atomic_load_explicit(&dagi_crew(ctx)->news, memory_order_relaxed)))
            break;
        if (attention_is_due(w))
            break;
        if (turn_is_over(w)) {
            dagi_alone_seek(w);
            if (leaves(w))
                break;
        }
        t = find(w, &away);
    }
    if (dagi_runner(w)->held_back > 0)
        take_ready(w, dagi_control_tell(w));
    dagi_work_end(w);
}

void dagi_leave(struct dagi_worker *w)
{
    dagi_flush(w);
    put_next_down(w);
    if (dagi_crew(w->ctx)->manager)
        dagi_crew(w->ctx)->manager->leave(w);
    dagi_end_search(w);
    dagi_deactivate(w);
}

static void enter(struct dagi_worker *w, int (*done)(void *arg), void *arg)
{
    dagi_worker_enter(w);
    dagi_make_way(w);
    dagi_thread(w)->done = done;
    dagi_thread(w)->done_arg = arg;
    for (struct dagi_worker *o = dagi_mates(w); o; o = dagi_next_mate(o)) {
        if (DAGI_TRACK(o))
            dagi_trace_enter(DAGI_TRACK(o));
    }
}

static void leave(struct dagi_worker *w)
{
    for (struct dagi_worker *o = dagi_mates(w); o; o = dagi_next_mate(o)) {
        dagi_leave(o);
        if (DAGI_TRACK(o))
            dagi_trace_leave(DAGI_TRACK(o));
    }
    dagi_thread(w)->done = NULL;
    dagi_worker_enter(NULL);
}

/* The other contexts of this thread go on as well: ranks may wait for their parts first. */
static inline void work_here(struct dagi_worker *w)
{
    if (DAGI_UNLIKELY(dagi_thread(w)->shared))
        dagi_seat_round(w);
    else
        dagi_work(w);
}

void dagi_run_until(struct dagi_worker *w, int (*done)(void *arg), void *arg)
{
    dag_context *ctx = w->ctx;
    enter(w, done, arg);
    for (int blocked = 0;; blocked = 1) {
        if (atomic_load(&dagi_crew(ctx)->news)) /* others read that line all the time */
            atomic_store(&dagi_crew(ctx)->news, 0);
        if (done(arg)) {
            if (blocked)
                atomic_fetch_add(&dagi_crew(ctx)->blocked, 1);
            break;
        }
        if (!blocked)
            atomic_fetch_add(&dagi_crew(ctx)->blocked, 1);
        work_here(w);
    }
    leave(w);
}

static void set_pauses(struct dagi_worker *w, uint64_t from)
{
    for (struct dagi_worker *o = dagi_mates(w); o; o = dagi_next_mate(o))
        dagi_thread(o)->pauses = from;
}

/* Nonzero: all is done. */
static int work_once(struct dagi_worker *w, int (*done)(void *arg), void *arg)
{
    atomic_store(&dagi_crew(w->ctx)->news, 0);
    if (done(arg))
        return 1;
    work_here(w);
    return 0;
}

void dagi_run_for(struct dagi_worker *w, uint64_t nanoseconds, int (*done)(void *arg), void *arg)
{
    uint64_t start = dagi_now();
    enter(w, done, arg);
    set_pauses(w, 1);
    while (!work_once(w, done, arg) && dagi_now() - start < nanoseconds)
        continue;
    set_pauses(w, 0);
    leave(w);
}

void dagi_run_ticks(struct dagi_worker *w, uint64_t ticks, int (*done)(void *arg), void *arg)
{
    uint64_t end = dagi_ticks() + ticks;
    enter(w, done, arg);
    set_pauses(w, end);
    while (!work_once(w, done, arg) && dagi_ticks() < end)
        continue;
    set_pauses(w, 0);
    leave(w);
}

/* ---- what tasks ask of workers (task/port.h) --------------------------------------------- */

static void started(struct dagi_worker *w, struct dag_task *list)
{
    if (list)
        dagi_ready(w, list);
    else
        dagi_wake_one(w->ctx);
}

const dagi_crew_port dagi_crew_tasks = {
    .active = dagi_activate,
    .started = started,
    .news = dagi_wake_application,
};

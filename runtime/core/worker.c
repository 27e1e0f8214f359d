/*
 * Workers: the loop that finds tasks, runs them, and rests when there are none: it searches for a
 * while, then it sleeps (sleep.c).
 *
 * With several ranks one idle worker per rank keeps communication moving: worker 0 whenever it is
 * idle in the library, else one background worker. When nothing has come for a while it parks as
 * well, at the bell of the rank (comm/bell.h), where messages from other ranks of the node wake it
 * too. Where there are no bells it sleeps for moments and looks.
 */
#include "core_impl.h"
#include "lock.h"
#include "slack.h"
#include "topology.h"

#include <stdlib.h>
#include <time.h>

/* Nanoseconds of searching after which a worker counts as idle, parks, yields, sleeps. On an
 * oversubscribed machine a waiting worker is in the way of those that compute: it yields at
 * once, and soon sleeps, where others need not wait until its turn comes round to wake it. */
enum { IDLE_AFTER = 5000, PARK_AFTER = 30000, YIELD_AFTER = 100000, SLEEP_AFTER = 1000000 };
enum { CROWDED_PARK_AFTER = 2000, CROWDED_SLEEP_AFTER = 20000 };
enum { SHORTEST_SLEEP = 5000, LONGEST_SLEEP = 50000, SLEEP_WITHOUT_POOLS = 1000000 };
/* dagi_ticks() between looks at communication from a worker that is busy with short tasks. */
enum { PROGRESS_TICKS = 4000 };
/* Nanoseconds of standstill after which a congested rank with several pools runs some tasks. */
enum { VALVE_AFTER = 1000000 };
/* Ready tasks from which on peers should not send more work. */
enum { MANY_READY = 4096 };

static _Thread_local struct dagi_worker *self;

struct dagi_worker *dagi_worker_self(dag_context *ctx)
{
    return self && self->ctx == ctx ? self : NULL;
}

/* ---- activity --------------------------------------------------------------------------- */

void dagi_activate(struct dagi_worker *w)
{
    if (w->active)
        return;
    w->active = 1;
    atomic_fetch_add(&w->ctx->activity, DAGI_ACTIVE_ONE);
}

static void deactivate(struct dagi_worker *w)
{
    if (!w->active)
        return;
    w->active = 0;
    atomic_fetch_sub(&w->ctx->activity, 1);
}

void dagi_flush(struct dagi_worker *w)
{
    int64_t completed = atomic_load_explicit(&w->completed, memory_order_relaxed);
    int64_t count = completed - w->counted;
    dag_taskpool *pool = w->count_pool;
    w->counted = completed;
    w->count_pool = NULL;
    if (w->renames > 0) { /* of tasks in count, which keep the pool */
        atomic_fetch_add_explicit(&pool->renames, w->renames, memory_order_relaxed);
        w->renames = 0;
    }
    if (count > 0)
        dagi_pool_count(w, pool, count, count);
}

/* ---- searching -------------------------------------------------------------------------- */

bool dagi_something(struct dagi_worker *w)
{
    return w->overflow || w->ctx->sched->some(w) || atomic_load(&w->ctx->starting) > 0 ||
           (w->ctx->devices && dagi_device_wants(w));
}

static void begin_search(struct dagi_worker *w)
{
    w->idle_since = dagi_now();
    if (!w->ctx->single && !w->searching) {
        w->searching = 1;
        atomic_fetch_add(&w->ctx->searching, 1);
    }
}

static void stop_polling(struct dagi_worker *w)
{
    if (!w->polls)
        return;
    w->polls = 0;
    atomic_store(w->index == 0 ? &w->ctx->app_polls : &w->ctx->polling, 0);
}

/* w is busy again, or leaves. The last searcher passes the search on if there is a reason. */
static void end_search(struct dagi_worker *w)
{
    dag_context *ctx = w->ctx;
    w->idle_since = 0;
    stop_polling(w);
    if (!w->searching)
        return;
    w->searching = 0;
    if (atomic_fetch_sub(&ctx->searching, 1) == 1 && atomic_load(&ctx->parked) > 0 &&
        (ctx->size > 1 || dagi_something(w)))
        dagi_wake_one(ctx);
}

/* Be the one who keeps communication moving, if there is none. */
static bool polls(struct dagi_worker *w)
{
    dag_context *ctx = w->ctx;
    if (ctx->size == 1)
        return false;
    bool others = w->index != 0 && (atomic_load(&ctx->app_polls) || dagi_app_attends(ctx));
    if (w->polls) {
        if (!others)
            return true;
        stop_polling(w); /* worker 0 does it */
        return false;
    }
    int expected = 0;
    if (w->index == 0)
        atomic_store(&ctx->app_polls, 1);
    else if (others || !atomic_compare_exchange_strong(&ctx->polling, &expected, 1))
        return false;
    w->polls = 1;
    return true;
}

static void doze(uint64_t nanoseconds)
{
    struct timespec t = {0, (long)nanoseconds};
    int slack = dagi_slack_off();
    nanosleep(&t, NULL);
    dagi_slack_restore(slack);
}

/* Wait for a moment, the longer the longer nothing has happened. */
static void wait_a_moment(struct dagi_worker *w, uint64_t idle)
{
    const dag_context *ctx = w->ctx;
    if (!ctx->oversubscribed && idle < YIELD_AFTER) {
        dagi_pause();
    } else if (idle < (ctx->oversubscribed ? CROWDED_SLEEP_AFTER : SLEEP_AFTER)) {
        sched_yield();
    } else if (!w->done && idle > SLEEP_AFTER && atomic_load(&ctx->open_pools) == 0) {
        doze(SLEEP_WITHOUT_POOLS);
    } else {
        uint64_t sleep = idle / 8;
        if (sleep < SHORTEST_SLEEP)
            sleep = SHORTEST_SLEEP;
        doze(sleep < LONGEST_SLEEP ? sleep : LONGEST_SLEEP);
    }
}

/* For how long a worker looks for something to do before it parks; `looks`: after messages, too. */
static uint64_t patience(const dag_context *ctx, bool looks)
{
    if (looks)
        return ctx->oversubscribed ? CROWDED_SLEEP_AFTER : SLEEP_AFTER;
    return ctx->single ? UINT64_MAX : ctx->oversubscribed ? CROWDED_PARK_AFTER : PARK_AFTER;
}

/* Look after messages; number of events, as dagi_comm_progress(). */
static int make_progress(struct dagi_worker *w)
{
    uint64_t begin = DAGI_TRACK(w) ? dagi_trace_mark(DAGI_TRACK(w)) : 0;
    int events = dagi_comm_progress(w);
    if (DAGI_TRACK(w) && events > 0)
        dagi_trace_comm(DAGI_TRACK(w), begin, events);
    return events;
}

/* Found nothing to run. */
static void rest(struct dagi_worker *w)
{
    dag_context *ctx = w->ctx;
    dagi_flush(w);
    if (ctx->size > 1 && make_progress(w) > 0) {
        if (w->idle_since)
            w->idle_since = dagi_now();
        return;
    }
    bool look = w->idle_since == 0;
    if (look)
        begin_search(w);
    if (DAGI_TRACK(w))
        dagi_trace_idle(DAGI_TRACK(w), 0, 0);
    uint64_t idle = ctx->single && !ctx->attend ? 0 : dagi_now() - w->idle_since;
    if (w->active && (ctx->single || ctx->oversubscribed || idle >= IDLE_AFTER)) {
        deactivate(w);
        look = true;
    }
    if ((atomic_load(&ctx->activity) & DAGI_ACTIVE_MASK) == 0) {
        if (ctx->size > 1)
            dagi_stall_wave(w);
        else if (look && dagi_stall_check(w))
            return;
    }
    bool looks = ctx->single ? ctx->size > 1 : polls(w);
    if (w->active || w->one_task || idle < patience(ctx, looks) || /* dag_test() is soon back */
        (looks && (!dagi_comm_can_sleep(w) || dagi_something(w))))
        wait_a_moment(w, idle);
    else if (looks)
        dagi_park_at_bell(w, idle);
    else
        dagi_park(w, idle);
}

/* Has left tasks alone, for others get more done without it (sched/thief.h). It is awake and looks
 * again within microseconds, so it is active. One that leaves tasks of others alone still looks at
 * all of them: it counts as searching, and whoever makes tasks ready need not wake anybody else.
 * One that leaves its own looks at one worker only, and is no help to anybody. */
static void stay_away(struct dagi_worker *w, bool searches)
{
    enum { PAUSES = 8 };
    dagi_flush(w);
    if (searches)
        begin_search(w);
    else if (w->idle_since)
        end_search(w);
    if (DAGI_TRACK(w))
        dagi_trace_idle(DAGI_TRACK(w), 0, 0);
    if (w->ctx->size > 1 && make_progress(w) > 0)
        return;
    for (int i = 0; i < PAUSES; i++)
        dagi_pause();
}

/* ---- tasks ------------------------------------------------------------------------------ */

/* What the scheduler has no memory for is kept in a list. */
static void keep_overflow(struct dagi_worker *w, struct dag_task *list)
{
    while (list) {
        struct dag_task *next = list->next;
        list->next = w->overflow;
        w->overflow = list;
        list = next;
    }
}

void dagi_ready(struct dagi_worker *w, struct dag_task *list)
{
    if (DAGI_UNLIKELY(w->ctx->sched->push(w, &list) != 0))
        keep_overflow(w, list);
    dagi_wake_one(w->ctx);
}

int dagi_ready_many(const dag_context *ctx)
{
    return ctx->sched->ready(ctx) > MANY_READY;
}

/* The next task of its own. */
static inline struct dag_task *find_own(struct dagi_worker *w)
{
    const dagi_sched_ops *sched = w->ctx->sched;
    struct dag_task *t = w->next;
    if (t) {
        w->next = NULL;
        if (DAGI_LIKELY(!sched->above(w, t->priority)))
            return t;
        t->next = NULL;
        if (sched->push(w, &t) != 0)
            return t;
    }
    if (DAGI_UNLIKELY(w->overflow)) {
        t = w->overflow;
        w->overflow = t->next;
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
    dagi_control_tell(w);
    if (t && w->next) {
        t->next = NULL;
        dagi_ready(w, t);
        t = NULL;
    }
    return t ? t : find_own(w);
}

static inline struct dag_task *find(struct dagi_worker *w)
{
    const dagi_sched_ops *sched = w->ctx->sched;
    struct dag_task *t = find_own(w);
    if (DAGI_UNLIKELY(w->held_back > 0))
        t = tell_before(w, t);
    if (!t && dagi_startup(w))
        t = sched->pop(w);
    if (!t && !w->ctx->single) {
        t = sched->steal(w);
        if (t && DAGI_TRACK(w))
            dagi_trace_steal(DAGI_TRACK(w));
    }
    return t;
}

/* Time to look after messages? */
static inline bool progress_is_due(const struct dagi_worker *w)
{
    return w->ctx->size > 1 && dagi_ticks() - w->last_progress > PROGRESS_TICKS;
}

/* Time to look after messages or devices? */
static inline bool attention_is_due(struct dagi_worker *w)
{
    return w->ctx->attend &&
           (progress_is_due(w) || (w->ctx->devices && dagi_device_wants(w)));
}

/* Time to ask the scheduler whether to go on? */
static inline bool turn_is_over(const struct dagi_worker *w)
{
    int64_t completed = atomic_load_explicit(&w->completed, memory_order_relaxed);
    return completed % DAGI_SCHED_TURN == 0 && !w->ctx->single;
}

/* Leave tasks of its own to others? They must be where others find them. */
static bool leaves(struct dagi_worker *w)
{
    w->leaves = !w->overflow && w->ctx->sched->leaves && w->ctx->sched->leaves(w);
    if (w->leaves && w->next) {
        struct dag_task *t = w->next;
        w->next = NULL;
        t->next = NULL;
        dagi_ready(w, t);
    }
    return w->leaves;
}

/* Messages between tasks. False when so much waits to be sent that no task should run. */
static bool look_after_messages(struct dagi_worker *w)
{
    dag_context *ctx = w->ctx;
    int events = make_progress(w);
    w->last_progress = dagi_ticks();
    if (!dagi_comm_congested(ctx)) {
        w->congested_since = 0;
        return true;
    }
    if (events > 0 || atomic_load(&ctx->open_pools) < 2) {
        w->congested_since = 0;
    } else if (w->congested_since == 0) {
        w->congested_since = dagi_now();
    } else if (dagi_now() - w->congested_since > VALVE_AFTER) {
        /* It may be a pool that its receivers will not add before an older one has ended, which
         * has tasks here. */
        w->congested_since = 0;
        return true;
    }
    if (DAGI_TRACK(w))
        dagi_trace_idle(DAGI_TRACK(w), 1, 0);
    sched_yield();
    return false;
}

/* Be the manager of devices that have work and none. False when there is time for tasks: nothing to
 * manage, or nobody else to run them. */
static bool manage(struct dagi_worker *w)
{
    dag_context *ctx = w->ctx;
    if (!dagi_device_wants(w))
        return false;
    int events = dagi_device_progress(w);
    if (events > 0)
        w->waits_since = 0;
    if (events > 0 && w->idle_since)
        w->idle_since = dagi_now();
    if (!w->manages || ctx->single)
        return false;
    if (w->idle_since)
        end_search(w);
    if (ctx->size > 1 && (events == 0 || progress_is_due(w))) {
        if (make_progress(w) > 0)
            events++;
        w->last_progress = dagi_ticks();
    }
    if (events > 0)
        return true;
    if (DAGI_TRACK(w))
        dagi_trace_idle(DAGI_TRACK(w), 0, 0);
    uint64_t now = dagi_now();
    if (!w->waits_since)
        w->waits_since = now;
    wait_a_moment(w, now - w->waits_since);
    return true;
}

/* Run tasks for a while, or rest a little. */
static void work(struct dagi_worker *w)
{
    dag_context *ctx = w->ctx;
    if (ctx->devices && manage(w))
        return;
    if ((progress_is_due(w) || (ctx->size > 1 && dagi_comm_congested(ctx))) &&
        !look_after_messages(w))
        return;
    if (!w->active) {
        if (!w->next && !dagi_something(w)) {
            rest(w);
            return;
        }
        dagi_activate(w);
    }
    if (DAGI_UNLIKELY(w->leaves) && leaves(w)) {
        stay_away(w, false);
        return;
    }
    struct dag_task *t = find(w);
    if (!t) {
        if (w->away)
            stay_away(w, true);
        else
            rest(w);
        return;
    }
    if (w->idle_since)
        end_search(w);
    while (t) {
        dagi_task_run(w, t);
        if (w->index == 0 &&
            (w->one_task || atomic_load_explicit(&ctx->news, memory_order_relaxed)))
            break;
        if (attention_is_due(w))
            break;
        if (turn_is_over(w) && leaves(w))
            break;
        t = find(w);
    }
    if (w->held_back > 0)
        dagi_control_tell(w);
}

void dagi_leave(struct dagi_worker *w)
{
    dagi_flush(w);
    if (w->next) {
        struct dag_task *t = w->next;
        w->next = NULL;
        t->next = NULL;
        dagi_ready(w, t);
    }
    if (w->ctx->devices)
        dagi_device_leave(w);
    end_search(w);
    deactivate(w);
}

static void enter(struct dagi_worker *w, int (*done)(void *arg), void *arg)
{
    self = w;
    w->done = done;
    w->done_arg = arg;
    if (DAGI_TRACK(w))
        dagi_trace_enter(DAGI_TRACK(w));
}

static void leave(struct dagi_worker *w)
{
    dagi_leave(w);
    if (DAGI_TRACK(w))
        dagi_trace_leave(DAGI_TRACK(w));
    w->done = NULL;
    self = NULL;
}

void dagi_run_until(struct dagi_worker *w, int (*done)(void *arg), void *arg)
{
    dag_context *ctx = w->ctx;
    enter(w, done, arg);
    for (int blocked = 0;; blocked = 1) {
        if (atomic_load(&ctx->news)) /* others read that line all the time */
            atomic_store(&ctx->news, 0);
        if (done(arg)) {
            if (blocked)
                atomic_fetch_add(&ctx->blocked, 1);
            break;
        }
        if (!blocked)
            atomic_fetch_add(&ctx->blocked, 1);
        work(w);
    }
    leave(w);
}

void dagi_run_for(struct dagi_worker *w, uint64_t nanoseconds, int (*done)(void *arg), void *arg)
{
    uint64_t start = dagi_now();
    enter(w, done, arg);
    w->one_task = 1;
    do {
        atomic_store(&w->ctx->news, 0);
        if (done(arg))
            break;
        work(w);
    } while (dagi_now() - start < nanoseconds);
    w->one_task = 0;
    leave(w);
}

/* ---- background workers ----------------------------------------------------------------- */

static void *background(void *arg)
{
    struct dagi_worker *w = arg;
    self = w;
    if (w->cpu >= 0)
        dagi_topology_bind(w->ctx->topology, w->index);
    while (!atomic_load(&w->ctx->stopping))
        work(w);
    dagi_leave(w);
    if (DAGI_TRACK(w))
        dagi_trace_idle(DAGI_TRACK(w), 0, 0); /* to the end */
    return NULL;
}

dag_status dagi_workers_start(dag_context *ctx)
{
    for (int i = 1; i < ctx->nworkers; i++) {
        struct dagi_worker *w = ctx->workers[i];
        if (pthread_create(&w->thread, NULL, background, w) != 0)
            return DAG_ERR_NOMEM;
        w->started = 1;
    }
    return DAG_SUCCESS;
}

void dagi_workers_stop(dag_context *ctx)
{
    atomic_store(&ctx->stopping, 1);
    for (int i = 1; i < ctx->nworkers; i++) {
        if (!ctx->workers[i] || !ctx->workers[i]->started)
            continue; /* the start failed half way */
        dagi_unpark(ctx, ctx->workers[i]);
        pthread_join(ctx->workers[i]->thread, NULL);
        ctx->workers[i]->started = 0;
    }
}

/*
 * What a worker does that finds nothing to run: it searches for a while, then it sleeps (sleep.c).
 *
 * With several ranks one idle worker per rank keeps communication moving: worker 0 whenever it is
 * idle in the library, else one background worker. When nothing has come for a while it parks as
 * well, at the bell of the rank (net/bell.h), where messages from other ranks of the node wake it
 * too. Where there are no bells it sleeps for moments and looks.
 */
#include "../base/slack.h"
#include "worker.h"

#include <assert.h>
#include <sched.h>

/* Nanoseconds of searching after which a worker counts as idle, parks, yields, sleeps. On an
 * oversubscribed machine a waiting worker yields at once, and it sleeps when it has been in the way of a rank
 * that computes for a while: others need not wait then until its turn comes round to wake it. As long as
 * nobody computes, what it waits for is under way, and comes sooner than it could be woken. */
enum { IDLE_AFTER = 5000, PARK_AFTER = 30000, YIELD_AFTER = 100000, SLEEP_AFTER = 1000000 };
enum { CROWDED_PARK_AFTER = 2000, CROWDED_SLEEP_AFTER = 50000 };
enum { SHORTEST_SLEEP = 5000, LONGEST_SLEEP = 50000, SLEEP_WITHOUT_POOLS = 1000000 };
bool dagi_something(struct dagi_worker *w)
{
    const struct dagi_crew *crew = dagi_crew(w->ctx);
    return dagi_runner(w)->overflow || crew->sched->some(w) ||
           atomic_load(&crew->tasks.starting) > 0 || (crew->manager && crew->manager->wants(w));
}

/* ---- searching -------------------------------------------------------------------------- */

static bool searches(const struct dagi_worker *w)
{
    return dagi_worker_is[dagi_worker_at(w)] & DAGI_IS_SEARCHING;
}

static bool polls_now(const struct dagi_worker *w)
{
    return dagi_worker_is[dagi_worker_at(w)] & DAGI_IS_POLLING;
}

static void begin_search(struct dagi_worker *w)
{
    dagi_thread(w)->idle_since = dagi_now();
    if (searches(w))
        return;
    if (dagi_worker_is_active(w))
        dagi_worker_become(w, DAGI_RUNS, DAGI_SEARCHES);
    else
        dagi_worker_become(w, DAGI_OUT, DAGI_SEARCHES_IDLE);
}

static void stop_polling(struct dagi_worker *w)
{
    if (dagi_worker_is_active(w))
        dagi_worker_become(w, DAGI_POLLS, DAGI_SEARCHES);
    else
        dagi_worker_become(w, DAGI_POLLS_IDLE, DAGI_SEARCHES_IDLE);
}

/* The last searcher passes the search on if there is a reason. */
void dagi_end_search(struct dagi_worker *w)
{
    struct dagi_crew *crew = dagi_crew(w->ctx);
    dagi_thread(w)->idle_since = 0;
    if (!searches(w))
        return;
    dagi_worker_become(w, dagi_worker_at(w), dagi_worker_is_active(w) ? DAGI_RUNS : DAGI_OUT);
    if (!crew->tasks.single && atomic_load(&crew->searching) == 0 &&
        atomic_load(&crew->parked) > 0 && (w->ctx->size > 1 || dagi_something(w)))
        dagi_wake_one(w->ctx);
}

/* Be the one who keeps communication moving, if there is none. */
static bool polls(struct dagi_worker *w)
{
    struct dagi_crew *crew = dagi_crew(w->ctx);
    if (w->ctx->size == 1)
        return false;
    bool others = w->index != 0 && (atomic_load(&crew->app_polls) || dagi_app_attends(w->ctx));
    if (polls_now(w)) {
        if (!others)
            return true;
        stop_polling(w); /* worker 0 does it */
        return false;
    }
    int expected = 0;
    if (w->index == 0)
        atomic_store(&crew->app_polls, 1);
    else if (others || !atomic_compare_exchange_strong(&crew->polling, &expected, 1))
        return false;
    if (dagi_worker_is_active(w))
        dagi_worker_become(w, DAGI_SEARCHES, DAGI_POLLS);
    else
        dagi_worker_become(w, DAGI_SEARCHES_IDLE, DAGI_POLLS_IDLE);
    return true;
}

/* ---- waiting ---------------------------------------------------------------------------- */

static void doze(uint64_t nanoseconds)
{
    int slack = dagi_slack_off();
    dagi_clock_pass(nanoseconds);
    dagi_slack_restore(slack);
}

void dagi_wait_a_moment(struct dagi_worker *w, uint64_t idle)
{
    const dag_context *ctx = w->ctx;
    if (dagi_crew(ctx)->blocks) {
        doze(SHORTEST_SLEEP); /* time that nobody lets pass stands still */
    } else if (!dagi_tasks(ctx)->oversubscribed && idle < YIELD_AFTER) {
        dagi_pause();
    } else if (idle < (dagi_tasks(ctx)->oversubscribed ? CROWDED_SLEEP_AFTER : SLEEP_AFTER)) {
        sched_yield();
    } else if (!dagi_thread(w)->done && idle > SLEEP_AFTER &&
               atomic_load(&dagi_tasks(ctx)->open.pools) == 0) {
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
    if (dagi_crew(ctx)->blocks)
        return 0;
    if (looks)
        return dagi_tasks(ctx)->oversubscribed ? CROWDED_SLEEP_AFTER : SLEEP_AFTER;
    if (atomic_load_explicit(&dagi_crew(ctx)->offer.expected, memory_order_relaxed))
        return SLEEP_AFTER;
    return dagi_tasks(ctx)->single           ? UINT64_MAX
           : dagi_tasks(ctx)->oversubscribed ? CROWDED_PARK_AFTER
                                             : PARK_AFTER;
}

/* ---- why a worker is idle, for the trace ------------------------------------------------ */

static unsigned cause_of(const struct dagi_worker *w)
{
    const struct dagi_crew *crew = dagi_crew(w->ctx);
    if (atomic_load_explicit(&crew->tasks.open.pools, memory_order_relaxed) == 0)
        return DAGT_SLEEPING;
    if (crew->manager && crew->manager->busy(w->ctx))
        return DAGT_DEVICE;
    if (w->ctx->size == 1)
        return DAGT_NO_TASK;
    int outlook = crew->messages->outlook(w->ctx);
    uint64_t active =
        atomic_load_explicit(&crew->activity, memory_order_relaxed) & DAGI_ACTIVE_MASK;
    if (outlook & DAGI_COMM_INCOMING)
        return DAGT_DATA;
    if (active > (dagi_worker_is_active(w) ? 1u : 0u))
        return DAGT_NO_TASK;
    /* Nothing here can make a task ready any more: it is up to others, if any task is left. */
    return (outlook & DAGI_COMM_OUTGOING) && dagi_trace_none_left(DAGI_TRACE(w->ctx)) ? DAGT_SEND
                                                                                       : DAGT_DATA;
}

void dagi_note_idle(struct dagi_worker *w, bool congested, bool asleep)
{
    if (DAGI_TRACK(w))
        dagi_trace_idle(DAGI_TRACK(w), (congested ? DAGT_SEND : cause_of(w)) |
                                           (asleep ? DAGT_ASLEEP : 0u));
}

/* ---- at rest ---------------------------------------------------------------------------- */

int dagi_make_progress(struct dagi_worker *w)
{
    uint64_t begin = DAGI_TRACK(w) ? dagi_trace_mark(DAGI_TRACK(w)) : 0;
    int events = dagi_crew(w->ctx)->messages->progress(w);
    if (DAGI_TRACK(w) && events > 0)
        dagi_trace_comm(DAGI_TRACK(w), begin, events);
    return events;
}

/* Nobody is active: have all come to rest in vain? 1: a pool was ended for it. */
static int look_for_stall(struct dagi_worker *w, bool look)
{
    if ((atomic_load(&dagi_crew(w->ctx)->activity) & DAGI_ACTIVE_MASK) != 0)
        return 0;
    if (w->ctx->size == 1)
        return look && dagi_stall_check(w);
    dagi_stall_wave(w);
    return 0;
}

/* Not at all as long as none of the ranks computes, but nobody looks for ever. */
uint64_t dagi_in_the_way(struct dagi_worker *w, uint64_t now)
{
    struct dagi_thread *t = dagi_thread(w);
    uint64_t idle = now - t->idle_since, since = now - t->alone_since;
    if (idle >= SLEEP_AFTER)
        return idle;
    if (atomic_load_explicit(dagi_crew(w->ctx)->computing, memory_order_relaxed) == 0) {
        t->alone_since = now;
        return 0;
    }
    return since < idle ? since : idle;
}

/* A background worker that has found no task takes part in what the application's thread does, or awaits that. One
 * whose thread has other contexts is no searcher in these meanwhile. */
static bool helps(struct dagi_worker *w)
{
    const struct dagi_thread *t = dagi_thread(w);
    if (w->index == 0 || w->ctx->size > 1)
        return false;
    bool expected = atomic_load_explicit(&dagi_crew(w->ctx)->offer.expected, memory_order_relaxed);
    if (expected && t->idle_since && !t->shared)
        return dagi_offer_watch(w);
    if (!dagi_offered(w))
        return false;
    if (t->shared)
        dagi_activate(w);
    return dagi_offer_join(w);
}

void dagi_rest(struct dagi_worker *w)
{
    dag_context *ctx = w->ctx;
    struct dagi_thread *t = dagi_thread(w);
    const struct dagi_crew *crew = dagi_crew(ctx);
    bool single = crew->tasks.single, crowded = crew->tasks.oversubscribed;
    dagi_flush(w);
    if (!single && helps(w) && t->idle_since)
        t->idle_since = dagi_now();
    if (ctx->size > 1 && dagi_make_progress(w) > 0) {
        if (t->idle_since)
            t->idle_since = dagi_now();
        return;
    }
    bool look = t->idle_since == 0;
    if (look)
        begin_search(w);
    dagi_note_idle(w, false, false);
    uint64_t idle = single && !crew->attend ? 0 : dagi_now() - t->idle_since;
    if (dagi_worker_is_active(w) && (single || crowded || t->shared || idle >= IDLE_AFTER)) {
        dagi_deactivate(w);
        look = true;
    }
    if (look_for_stall(w, look))
        return;
    bool looks = single ? ctx->size > 1 : polls(w);
    if (looks && crew->computing)
        idle = dagi_in_the_way(w, t->idle_since + idle);
    t->rested = 1;
    if (t->shared) /* what follows is for the whole thread: dagi_rest_all() */
        return;
    if (dagi_worker_is_active(w) || t->pauses || /* who called it is soon back */
        idle < patience(ctx, looks) ||
        (looks && (!crew->messages->can_sleep(w) || dagi_something(w))))
        dagi_wait_a_moment(w, idle);
    else if (looks)
        dagi_park_at_bell(w, idle);
    else
        dagi_park(w, idle);
}

void dagi_rest_all(struct dagi_worker *w, uint64_t idle)
{
    struct dagi_worker *open = w;
    bool parks = true;
    for (struct dagi_worker *o = dagi_mates(w); o; o = dagi_next_mate(o)) {
        parks = parks && searches(o) && !polls_now(o) && !dagi_thread(o)->pauses &&
                idle >= patience(o->ctx, false) && !dagi_something(o);
        if (atomic_load(&dagi_tasks(o->ctx)->open.pools) > 0)
            open = o;
    }
    if (parks)
        dagi_park(w, idle);
    else
        dagi_wait_a_moment(open, idle);
}

/* It is awake and looks again within microseconds, so it is active. One that leaves tasks of others
 * alone still looks at all of them: it counts as searching, and whoever makes tasks ready need not wake
 * anybody else. One that leaves its own looks at one worker only, and is no help to anybody. */
void dagi_stay_away(struct dagi_worker *w, bool searches)
{
    enum { PAUSES = 8 };
    dagi_flush(w);
    if (searches)
        begin_search(w);
    else if (dagi_thread(w)->idle_since)
        dagi_end_search(w);
    dagi_note_idle(w, false, false);
    if (w->ctx->size > 1 && dagi_make_progress(w) > 0)
        return;
    for (int i = 0; i < PAUSES; i++)
        dagi_pause();
}

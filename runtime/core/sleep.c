/*
 * Sleeping and waking of workers.
 *
 * Whoever makes tasks ready must see to it that somebody runs them, without a system call for each.
 * A worker without a task first *searches* for a while (it is awake and counted in ctx->searching),
 * then *parks* (sleeps, listed in ctx->park_list). Whoever pushes tasks wakes a parked worker only
 * if nobody is searching; a searcher that finds work and was the last one wakes the next. No task
 * is left behind, because in the order of the sequentially consistent accesses either the pusher's
 * look at `searching` comes after the parker has left it, and then the pusher finds it in the list;
 * or before, and then the parker's second look at the queues, after leaving `searching`, finds the
 * task.
 *
 * Where the ranks fill the processors by themselves (ctx->helpers), a background worker that is
 * woken takes its processor from another rank, and the one who wakes it could as well run the task.
 * So nobody does: a helper sleeps for a time, looks whether there are tasks that nobody has come
 * to, or messages, and sleeps again. Worker 0 sleeps at the bell, which has an end as well. So what
 * becomes ready is found at the latest at the end of the longest sleep, whoever made it ready.
 */
#include "core_impl.h"
#include "lock.h"

#include <errno.h>
#include <time.h>

/* Nanoseconds that a helper sleeps before it looks again, the longer the longer it has been idle. A
 * look costs some microseconds of the processor. */
enum { SHORTEST_NAP = 500000, LONGEST_NAP = 2000000 };

static void unlink_parked(dag_context *ctx, struct dagi_worker **link)
{
    *link = (*link)->park_next;
    atomic_fetch_sub(&ctx->parked, 1);
}

void dagi_unpark(dag_context *ctx, const struct dagi_worker *who)
{
    pthread_mutex_lock(&ctx->park_lock);
    struct dagi_worker **link = &ctx->park_list;
    while (*link && who && *link != who)
        link = &(*link)->park_next;
    struct dagi_worker *w = *link;
    int at_bell = w && w->at_bell;
    if (w) {
        unlink_parked(ctx, link);
        atomic_fetch_add(&ctx->searching, 1);
    }
    pthread_mutex_unlock(&ctx->park_lock);
    if (!w)
        return;
    pthread_mutex_lock(&w->sleep_lock);
    w->sleeping = 0;
    pthread_cond_signal(&w->sleep_cond);
    pthread_mutex_unlock(&w->sleep_lock);
    if (at_bell)
        dagi_comm_rouse(ctx);
}

void dagi_wake_one(dag_context *ctx)
{
    if (ctx->single || ctx->helpers)
        return;
    dagi_full_fence(); /* pairs with the one in enlist() */
    if (atomic_load(&ctx->searching) == 0 && atomic_load(&ctx->parked) > 0)
        dagi_unpark(ctx, NULL);
}

void dagi_wake_application(dag_context *ctx)
{
    atomic_store(&ctx->news, 1);
    if (!ctx->single)
        dagi_unpark(ctx, ctx->workers[0]);
}

/* Somebody has to look after messages, and nobody does. */
static bool lacks_polling(const dag_context *ctx)
{
    return ctx->size > 1 && !ctx->single && !atomic_load(&ctx->polling) &&
           !atomic_load(&ctx->app_polls) && !dagi_app_attends(ctx);
}

/* A reason not to sleep. */
static bool must_stay(struct dagi_worker *w)
{
    dag_context *ctx = w->ctx;
    return dagi_something(w) || atomic_load(&ctx->stopping) || (w->done && w->done(w->done_arg)) ||
           lacks_polling(ctx);
}

/* Take w off the list again; false when somebody is about to wake it. */
static bool unlist(struct dagi_worker *w)
{
    dag_context *ctx = w->ctx;
    pthread_mutex_lock(&ctx->park_lock);
    struct dagi_worker **link = &ctx->park_list;
    while (*link && *link != w)
        link = &(*link)->park_next;
    bool found = *link != NULL;
    if (found) {
        unlink_parked(ctx, link);
        atomic_fetch_add(&ctx->searching, 1);
    }
    pthread_mutex_unlock(&ctx->park_lock);
    return found;
}

static void enlist(struct dagi_worker *w, int at_bell)
{
    dag_context *ctx = w->ctx;
    w->sleeping = 1; /* nobody looks before we are on the list */
    pthread_mutex_lock(&ctx->park_lock);
    w->at_bell = at_bell;
    w->park_next = ctx->park_list;
    ctx->park_list = w;
    atomic_fetch_add(&ctx->parked, 1);
    pthread_mutex_unlock(&ctx->park_lock);
    atomic_fetch_sub(&ctx->searching, 1);
    dagi_full_fence(); /* pairs with the one in dagi_wake_one() */
}

static void wait_until_woken(struct dagi_worker *w)
{
    pthread_mutex_lock(&w->sleep_lock);
    while (w->sleeping)
        pthread_cond_wait(&w->sleep_cond, &w->sleep_lock);
    pthread_mutex_unlock(&w->sleep_lock);
}

/* The same, but no longer than a nap; false when nobody has woken w, which then is off the list. */
static bool nap(struct dagi_worker *w, uint64_t idle)
{
    enum { SECOND = 1000000000 };
    uint64_t length = idle < SHORTEST_NAP ? SHORTEST_NAP : idle < LONGEST_NAP ? idle : LONGEST_NAP;
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    uint64_t ns = (uint64_t)end.tv_nsec + length;
    end.tv_sec += (time_t)(ns / SECOND);
    end.tv_nsec = (long)(ns % SECOND);
    pthread_mutex_lock(&w->sleep_lock);
    for (int status = 0; w->sleeping && status != ETIMEDOUT;)
        status = pthread_cond_timedwait(&w->sleep_cond, &w->sleep_lock, &end);
    bool woken = !w->sleeping;
    pthread_mutex_unlock(&w->sleep_lock);
    if (woken || unlist(w))
        return woken;
    wait_until_woken(w);
    return true;
}

void dagi_park(struct dagi_worker *w, uint64_t idle)
{
    bool news = true;
    enlist(w, 0);
    if (!must_stay(w) || !unlist(w)) {
        if (DAGI_TRACK(w))
            dagi_trace_idle(DAGI_TRACK(w), 0, 1);
        if (w->ctx->helpers)
            news = nap(w, idle);
        else
            wait_until_woken(w);
    }
    w->sleeping = 0;
    if (news)
        w->idle_since = dagi_now(); /* searching, as counted by who took us off the list */
}

/* The same at the bell. Who woke us before we listened has rung for nothing, and we count as
 * searching since: nobody else would be woken while we sleep. */
static bool must_stay_at_bell(struct dagi_worker *w)
{
    if (!w->ctx->single) {
        pthread_mutex_lock(&w->sleep_lock);
        bool woken = !w->sleeping;
        pthread_mutex_unlock(&w->sleep_lock);
        if (woken)
            return true;
    }
    return must_stay(w);
}

void dagi_park_at_bell(struct dagi_worker *w, uint64_t idle)
{
    bool alone = w->ctx->single;
    uint64_t begin = DAGI_TRACK(w) ? dagi_trace_mark(DAGI_TRACK(w)) : 0;
    if (!alone)
        enlist(w, 1);
    int events = dagi_comm_sleep(w, idle, must_stay_at_bell);
    if (!alone && !unlist(w))
        wait_until_woken(w);
    w->sleeping = 0;
    if (events <= 0)
        return;
    if (DAGI_TRACK(w))
        dagi_trace_comm(DAGI_TRACK(w), begin, events);
    w->idle_since = dagi_now();
}

/*
 * Sleeping and waking of workers.
 *
 * Whoever makes tasks ready must see to it that somebody runs them, without a system call for each.
 * A worker without a task first *searches* for a while (it is awake and counted in `searching` of the
 * crew), then *parks* (sleeps, listed in `park_list`). Whoever pushes tasks wakes a parked worker only
 * if nobody is searching; a searcher that finds work and was the last one wakes the next. No task
 * is left behind, because in the order of the sequentially consistent accesses either the pusher's
 * look at `searching` comes after the parker has left it, and then the pusher finds it in the list;
 * or before, and then the parker's second look at the queues, after leaving `searching`, finds the
 * task.
 *
 * Where the ranks fill the processors by themselves (`helpers`), a background worker that is
 * woken takes its processor from another rank, and the one who wakes it could as well run the task.
 * So nobody does: a helper sleeps for a time, looks whether there are tasks that nobody has come
 * to, or messages, and sleeps again. Worker 0 sleeps at the bell, which has an end as well. So what
 * becomes ready is found at the latest at the end of the longest sleep, whoever made it ready.
 */
#include "worker.h"


#include <assert.h>
#include <errno.h>
#include <time.h>

/* Nanoseconds that a helper sleeps before it looks again, the longer the longer it has been idle. A
 * look costs some microseconds of the processor. */
enum { SHORTEST_NAP = 500000, LONGEST_NAP = 2000000 };

/* The list's worker at *link becomes a searcher again; park_lock is held. */
static void take_off(struct dagi_worker **link)
{
    struct dagi_worker *w = *link;
    dagi_worker_state at = dagi_worker_at(w);
    *link = dagi_thread(w)->park_next;
    dagi_worker_become(w, at, at == DAGI_PARKED    ? DAGI_SEARCHES_IDLE
                              : at == DAGI_AT_BELL ? DAGI_POLLS_IDLE
                                                   : DAGI_POLLS);
}

void dagi_unpark(dag_context *ctx, const struct dagi_worker *who)
{
    struct dagi_crew *crew = dagi_crew(ctx);
    pthread_mutex_lock(&crew->park_lock);
    struct dagi_worker **link = &crew->park_list;
    while (*link && who && *link != who)
        link = &dagi_thread(*link)->park_next;
    struct dagi_worker *w = *link;
    bool at_bell = w && dagi_worker_at(w) != DAGI_PARKED;
    if (w)
        take_off(link);
    pthread_mutex_unlock(&crew->park_lock);
    if (!w)
        return;
    struct dagi_thread *t = dagi_thread(w);
    pthread_mutex_lock(&t->sleep_lock);
    t->sleeping = 0;
    pthread_cond_signal(&t->sleep_cond);
    pthread_mutex_unlock(&t->sleep_lock);
    if (at_bell)
        crew->messages->rouse(ctx);
}

void dagi_wake_one(dag_context *ctx)
{
    if (dagi_tasks(ctx)->single || dagi_crew(ctx)->helpers)
        return;
    dagi_full_fence(); /* pairs with the one in enlist() */
    if (atomic_load(&dagi_crew(ctx)->searching) == 0 && atomic_load(&dagi_crew(ctx)->parked) > 0)
        dagi_unpark(ctx, NULL);
}

void dagi_wake_application(dag_context *ctx)
{
    atomic_store(&dagi_crew(ctx)->news, 1);
    if (!dagi_tasks(ctx)->single)
        dagi_unpark(ctx, dagi_tasks(ctx)->workers[0]);
}

/* Somebody has to look after messages, and nobody does. */
static bool lacks_polling(const dag_context *ctx)
{
    return ctx->size > 1 && !dagi_tasks(ctx)->single && !atomic_load(&dagi_crew(ctx)->polling) &&
           !atomic_load(&dagi_crew(ctx)->app_polls) && !dagi_app_attends(ctx);
}

/* A reason not to sleep. */
static bool must_stay(struct dagi_worker *w)
{
    const struct dagi_thread *t = dagi_thread(w);
    return dagi_something(w) || atomic_load(&dagi_crew(w->ctx)->stopping) ||
           (t->done && t->done(t->done_arg)) || lacks_polling(w->ctx);
}

/* Take w off the list again; false when somebody is about to wake it. */
static bool unlist(struct dagi_worker *w)
{
    struct dagi_crew *crew = dagi_crew(w->ctx);
    pthread_mutex_lock(&crew->park_lock);
    struct dagi_worker **link = &crew->park_list;
    while (*link && *link != w)
        link = &dagi_thread(*link)->park_next;
    bool found = *link != NULL;
    if (found)
        take_off(link);
    pthread_mutex_unlock(&crew->park_lock);
    return found;
}

static void enlist(struct dagi_worker *w, dagi_worker_state from, dagi_worker_state to)
{
    struct dagi_crew *crew = dagi_crew(w->ctx);
    dagi_thread(w)->sleeping = 1; /* nobody looks before we are on the list */
    pthread_mutex_lock(&crew->park_lock);
    dagi_thread(w)->park_next = crew->park_list;
    crew->park_list = w;
    dagi_worker_become(w, from, to);
    pthread_mutex_unlock(&crew->park_lock);
    dagi_full_fence(); /* pairs with the one in dagi_wake_one() */
}

static void wait_until_woken(struct dagi_worker *w)
{
    pthread_mutex_lock(&dagi_thread(w)->sleep_lock);
    while (dagi_thread(w)->sleeping)
        pthread_cond_wait(&dagi_thread(w)->sleep_cond, &dagi_thread(w)->sleep_lock);
    pthread_mutex_unlock(&dagi_thread(w)->sleep_lock);
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
    pthread_mutex_lock(&dagi_thread(w)->sleep_lock);
    for (int status = 0; dagi_thread(w)->sleeping && status != ETIMEDOUT;)
        status =
            pthread_cond_timedwait(&dagi_thread(w)->sleep_cond, &dagi_thread(w)->sleep_lock, &end);
    bool woken = !dagi_thread(w)->sleeping;
    pthread_mutex_unlock(&dagi_thread(w)->sleep_lock);
    if (woken || unlist(w))
        return woken;
    wait_until_woken(w);
    return true;
}

void dagi_park(struct dagi_worker *w, uint64_t idle)
{
    bool news = true;
    assert(!dagi_thread(w)->one_task && !dagi_thread(w)->next);
    enlist(w, DAGI_SEARCHES_IDLE, DAGI_PARKED);
    if (!must_stay(w) || !unlist(w)) {
        dagi_note_idle(w, false, true);
        if (dagi_crew(w->ctx)->helpers)
            news = nap(w, idle);
        else
            wait_until_woken(w);
    }
    dagi_thread(w)->sleeping = 0;
    if (news)
        dagi_thread(w)->idle_since =
            dagi_now(); /* searching, as counted by who took us off the list */
}

/* The same at the bell. Who woke us before we listened has rung for nothing, and we count as
 * searching since: nobody else would be woken while we sleep. */
static bool must_stay_at_bell(struct dagi_worker *w)
{
    if (!dagi_tasks(w->ctx)->single) {
        pthread_mutex_lock(&dagi_thread(w)->sleep_lock);
        bool woken = !dagi_thread(w)->sleeping;
        pthread_mutex_unlock(&dagi_thread(w)->sleep_lock);
        if (woken)
            return true;
    }
    return must_stay(w);
}

void dagi_park_at_bell(struct dagi_worker *w, uint64_t idle)
{
    bool alone = dagi_tasks(w->ctx)->single;
    assert(!dagi_thread(w)->one_task && !dagi_thread(w)->next);
    uint64_t begin = DAGI_TRACK(w) ? dagi_trace_mark(DAGI_TRACK(w)) : 0;
    if (!alone)
        enlist(w, DAGI_POLLS_IDLE, DAGI_AT_BELL);
    int events = dagi_crew(w->ctx)->messages->sleep(w, idle, must_stay_at_bell);
    if (!alone && !unlist(w))
        wait_until_woken(w);
    dagi_thread(w)->sleeping = 0;
    if (events <= 0)
        return;
    if (DAGI_TRACK(w))
        dagi_trace_comm(DAGI_TRACK(w), begin, events);
    dagi_thread(w)->idle_since = dagi_now();
}

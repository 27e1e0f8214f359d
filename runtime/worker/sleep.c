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
    pthread_mutex_lock(&t->bed->lock);
    t->sleeping = 0;
    pthread_cond_signal(&t->bed->cond);
    pthread_mutex_unlock(&t->bed->lock);
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
    return dagi_something(w) || dagi_is_called(w) ||
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

/* Off the list, by itself or by who woke it: true. */
static bool get_up(struct dagi_worker *w)
{
    struct dagi_thread *t = dagi_thread(w);
    bool woken = !unlist(w);
    if (woken) {
        pthread_mutex_lock(&t->bed->lock);
        while (t->sleeping)
            pthread_cond_wait(&t->bed->cond, &t->bed->lock);
        pthread_mutex_unlock(&t->bed->lock);
    }
    t->sleeping = 0;
    return woken;
}

static struct timespec moment_in(uint64_t nanoseconds)
{
    enum { SECOND = 1000000000 };
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    uint64_t ns = (uint64_t)end.tv_nsec + nanoseconds;
    end.tv_sec += (time_t)(ns / SECOND);
    end.tv_nsec = (long)(ns % SECOND);
    return end;
}

/* Nobody has woken any worker of this thread; its lock is held. */
static bool all_sleep(struct dagi_worker *w)
{
    for (const struct dagi_worker *o = dagi_mates(w); o; o = dagi_next_mate(o)) {
        if (!dagi_thread(o)->sleeping)
            return false;
    }
    return !dagi_is_called(w);
}

/* Until then; `longest`: no longer than that, 0 = as long as it takes. */
static void sleep_until_woken(struct dagi_worker *w, uint64_t longest)
{
    dagi_bed *bed = dagi_thread(w)->bed;
    struct timespec end = moment_in(longest);
    pthread_mutex_lock(&bed->lock);
    for (int status = 0; all_sleep(w) && status != ETIMEDOUT;)
        status = longest ? pthread_cond_timedwait(&bed->cond, &bed->lock, &end)
                         : pthread_cond_wait(&bed->cond, &bed->lock);
    pthread_mutex_unlock(&bed->lock);
}

static uint64_t nap_of(uint64_t idle)
{
    return idle < SHORTEST_NAP ? SHORTEST_NAP : idle < LONGEST_NAP ? idle : LONGEST_NAP;
}

void dagi_park(struct dagi_worker *w, uint64_t idle)
{
    bool stays = false, helps = false;
    for (struct dagi_worker *o = dagi_mates(w); o; o = dagi_next_mate(o)) {
        assert(!dagi_thread(o)->pauses && !dagi_thread(o)->next);
        atomic_store_explicit(&dagi_crew(o->ctx)->offer.expected, 0, memory_order_relaxed);
        enlist(o, DAGI_SEARCHES_IDLE, DAGI_PARKED);
    }
    for (struct dagi_worker *o = dagi_mates(w); o; o = dagi_next_mate(o)) {
        stays = stays || must_stay(o);
        helps = helps || dagi_crew(o->ctx)->helpers;
    }
    if (!stays) {
        for (struct dagi_worker *o = dagi_mates(w); o; o = dagi_next_mate(o))
            dagi_note_idle(o, false, true);
        sleep_until_woken(w, helps ? nap_of(idle) : 0);
        dagi_make_way(w);
    }
    for (struct dagi_worker *o = dagi_mates(w); o; o = dagi_next_mate(o)) {
        if (get_up(o) || stays)
            dagi_thread(o)->idle_since =
                dagi_now(); /* searching, as counted by who took it off the list */
    }
}

/* The same at the bell. Who woke us before we listened has rung for nothing, and we count as
 * searching since: nobody else would be woken while we sleep. */
static bool must_stay_at_bell(struct dagi_worker *w)
{
    if (!dagi_tasks(w->ctx)->single) {
        pthread_mutex_lock(&dagi_thread(w)->bed->lock);
        bool woken = !dagi_thread(w)->sleeping;
        pthread_mutex_unlock(&dagi_thread(w)->bed->lock);
        if (woken)
            return true;
    }
    return must_stay(w);
}

void dagi_park_at_bell(struct dagi_worker *w, uint64_t idle)
{
    bool alone = dagi_tasks(w->ctx)->single;
    assert(!dagi_thread(w)->pauses && !dagi_thread(w)->next);
    uint64_t begin = DAGI_TRACK(w) ? dagi_trace_mark(DAGI_TRACK(w)) : 0;
    if (!alone)
        enlist(w, DAGI_POLLS_IDLE, DAGI_AT_BELL);
    int events = dagi_crew(w->ctx)->messages->sleep(w, idle, must_stay_at_bell);
    dagi_make_way(w);
    if (!alone)
        get_up(w);
    dagi_thread(w)->sleeping = 0;
    if (events <= 0)
        return;
    if (DAGI_TRACK(w))
        dagi_trace_comm(DAGI_TRACK(w), begin, events);
    dagi_thread(w)->idle_since = dagi_now();
}

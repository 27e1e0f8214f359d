/* The states of a worker, what is counted in each, and the one function that changes both. */
#include "worker.h"

#include <assert.h>
#include <stdio.h>

const uint8_t dagi_worker_is[DAGI_WORKER_STATES] = {
    [DAGI_OUT] = 0,
    [DAGI_RUNS] = DAGI_IS_ACTIVE,
    [DAGI_SEARCHES] = DAGI_IS_ACTIVE | DAGI_IS_SEARCHING,
    [DAGI_SEARCHES_IDLE] = DAGI_IS_SEARCHING,
    [DAGI_POLLS] = DAGI_IS_ACTIVE | DAGI_IS_SEARCHING | DAGI_IS_POLLING,
    [DAGI_POLLS_IDLE] = DAGI_IS_SEARCHING | DAGI_IS_POLLING,
    [DAGI_PARKED] = DAGI_IS_LISTED,
    [DAGI_AT_BELL] = DAGI_IS_POLLING | DAGI_IS_LISTED,
    [DAGI_AT_BELL_ACTIVE] = DAGI_IS_ACTIVE | DAGI_IS_POLLING | DAGI_IS_LISTED,
};

static _Atomic int *polling_flag(const struct dagi_worker *w)
{
    struct dagi_crew *crew = dagi_crew(w->ctx);
    return w->index == 0 ? &crew->app_polls : &crew->polling;
}

static void enter(struct dagi_worker *w, dagi_worker_state from, dagi_worker_state to)
{
    int was = atomic_exchange_explicit(&dagi_thread(w)->state, (int)to, memory_order_relaxed);
    assert(was == (int)from);
    (void)was, (void)from;
}

/* A rank computes from when the first of its workers becomes active (`one` = 1) until the last one ceases to be
 * (-1); `others`: activity without this one. */
static void count_computing(const struct dagi_crew *crew, uint64_t others, int one)
{
    if (crew->computing && (others & DAGI_ACTIVE_MASK) == 0)
        atomic_fetch_add_explicit(crew->computing, one, memory_order_relaxed);
}

/* What is counted grows before it shrinks: whoever looks for a searcher or for one to wake, while a
 * worker goes from the one to the other, finds it as one of them. */
void dagi_worker_become(struct dagi_worker *w, dagi_worker_state from, dagi_worker_state to)
{
    struct dagi_crew *crew = dagi_crew(w->ctx);
    uint8_t more = dagi_worker_is[to] & ~dagi_worker_is[from];
    uint8_t less = dagi_worker_is[from] & ~dagi_worker_is[to];
    bool counted = !crew->tasks.single;
    enter(w, from, to);
    if (more & DAGI_IS_ACTIVE)
        count_computing(crew, atomic_fetch_add(&crew->activity, DAGI_ACTIVE_ONE), 1);
    if (more & DAGI_IS_LISTED)
        atomic_fetch_add(&crew->parked, 1);
    if (more & DAGI_IS_SEARCHING && counted)
        atomic_fetch_add(&crew->searching, 1);
    assert(!(more & DAGI_IS_POLLING) || atomic_load(polling_flag(w)) == 1); /* taken by polls() */
    if (less & DAGI_IS_POLLING)
        atomic_store(polling_flag(w), 0);
    if (less & DAGI_IS_SEARCHING && counted)
        atomic_fetch_sub(&crew->searching, 1);
    if (less & DAGI_IS_LISTED)
        atomic_fetch_sub(&crew->parked, 1);
    if (less & DAGI_IS_ACTIVE)
        count_computing(crew, atomic_fetch_sub(&crew->activity, 1) - 1, -1);
}

static dagi_worker_state active(dagi_worker_state state)
{
    switch (state) {
    case DAGI_OUT: return DAGI_RUNS;
    case DAGI_SEARCHES_IDLE: return DAGI_SEARCHES;
    case DAGI_POLLS_IDLE: return DAGI_POLLS;
    case DAGI_AT_BELL: return DAGI_AT_BELL_ACTIVE;
    default: break;
    }
    assert(dagi_worker_is[state] & DAGI_IS_ACTIVE); /* nobody makes tasks while it is parked */
    return state;
}

/* Whoever has something to do in one context is no searcher, nor a manager, in the others of its
 * thread. */
static void leave_others(struct dagi_worker *w)
{
    for (struct dagi_worker *o = dagi_mates(w); o; o = dagi_next_mate(o)) {
        if (o == w)
            continue;
        if (dagi_crew(o->ctx)->manager)
            dagi_crew(o->ctx)->manager->leave(o);
        dagi_end_search(o);
    }
}

void dagi_activate(struct dagi_worker *w)
{
    struct dagi_crew *crew = dagi_crew(w->ctx);
    dagi_worker_state at = dagi_worker_at(w);
    if (dagi_worker_is[at] & DAGI_IS_ACTIVE)
        return;
    if (dagi_thread(w)->shared)
        leave_others(w);
    bool listed = dagi_worker_is[at] & DAGI_IS_LISTED;
    if (listed) { /* others may take it off at any moment */
        pthread_mutex_lock(&crew->park_lock);
        at = dagi_worker_at(w);
    }
    dagi_worker_become(w, at, active(at));
    if (listed)
        pthread_mutex_unlock(&crew->park_lock);
}

bool dagi_activate_alone(struct dagi_worker *w, uint64_t activity)
{
    if (!atomic_compare_exchange_strong(&dagi_crew(w->ctx)->activity, &activity,
                                        activity + DAGI_ACTIVE_ONE))
        return false;
    count_computing(dagi_crew(w->ctx), 0, 1);
    enter(w, dagi_worker_at(w), active(dagi_worker_at(w)));
    return true;
}

void dagi_deactivate(struct dagi_worker *w)
{
    switch (dagi_worker_at(w)) {
    case DAGI_RUNS: dagi_worker_become(w, DAGI_RUNS, DAGI_OUT); break;
    case DAGI_SEARCHES: dagi_worker_become(w, DAGI_SEARCHES, DAGI_SEARCHES_IDLE); break;
    case DAGI_POLLS: dagi_worker_become(w, DAGI_POLLS, DAGI_POLLS_IDLE); break;
    default: assert(!dagi_worker_is_active(w)); break;
    }
}

const char *dagi_crew_check(const dag_context *ctx)
{
    static _Thread_local char text[128];
    const struct dagi_crew *crew = dagi_crew(ctx);
    int count[4] = {0}; /* by bit of dagi_worker_is */
    for (int i = 0; i < crew->tasks.nworkers; i++) {
        const struct dagi_worker *w = crew->tasks.workers[i];
        for (int bit = 0; bit < 4; bit++)
            count[bit] += dagi_worker_is[dagi_worker_at(w)] >> bit & 1;
    }
    for (int i = 0; i < crew->tasks.nworkers; i++) {
        const struct dagi_worker *w = crew->tasks.workers[i];
        const char *wrong = dagi_worker_is_active(w) ? NULL : dagi_runner_check(w);
        if (wrong || (!dagi_worker_is_active(w) && dagi_thread(w)->next)) {
            snprintf(text, sizeof text, "worker %d: %s", i, wrong ? wrong : "keeps a task at rest");
            return text;
        }
    }
    int active = (int)(atomic_load(&crew->activity) & DAGI_ACTIVE_MASK);
    int searching = crew->tasks.single ? count[1] : atomic_load(&crew->searching);
    int polling = atomic_load(&crew->polling) + atomic_load(&crew->app_polls);
    int parked = atomic_load(&crew->parked), listed = 0;
    for (const struct dagi_worker *w = crew->park_list; w; w = dagi_thread(w)->park_next)
        listed++;
    if (active == count[0] && searching == count[1] && polling == count[2] && parked == count[3] &&
        parked == listed)
        return NULL;
    snprintf(text, sizeof text, "active %d counted %d, searching %d counted %d, polling %d counted "
             "%d, parked %d counted %d listed %d", count[0], active, count[1], searching, count[2],
             polling, count[3], parked, listed);
    return text;
}

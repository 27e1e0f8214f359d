/*
 * One worker of several that alone runs tasks completes them as the only worker of a context does: no lock of the
 * dependency table is taken, and counts of references are loaded and stored. Where stealing does not pay
 * (sched/thief.h) that is most of the time, and locks are a third of what a short task costs.
 *
 * Invariants
 *   1. A worker that completes tasks, or makes some wait, is *at work* (dagi_runner.at_work).
 *   2. `alone` of the context's lock (base/owned_lock.h) is the number of a worker, 1 and its index, only if each other
 *      worker that is at work is about to end that, and has not yet touched a task.
 *   3. Inside of that lock are the worker that is alone, while it completes a task, or one that ends that state.
 *
 * Why 2 holds: who begins to be alone writes `alone` and then reads `at_work` of all others; who begins to work writes
 * `at_work` and then reads `alone`; between the two there is a full fence on both sides, so one of them sees the other.
 * Two that begin to be alone at a time are both at work, and both give up. What others did before they ceased to work
 * is visible by the release of `at_work`; what the one did alone by that of `busy`, or of `alone` where it ends that
 * itself. tests/model looks at all interleavings.
 *
 * There is one rank, no device, no trace and nobody who watches: then nobody but a worker at work touches tables and
 * values. What the giver of an open pool does concerns tasks of that pool, which complete in their own way (door.h).
 */
#ifndef DAGI_ALONE_H
#define DAGI_ALONE_H

#include "../base/owned_lock.h"

/* Of a context. */
struct dagi_alone {
    int possible; /* fixed after dag_init() */
    _Alignas(DAGI_LINE) dagi_owned_lock lock;
};

/* Of a worker, its own: how often it was asked (dagi_alone_seek()) since it is alone, up to a bound; how often in a
 * row nobody else was at work; and how many times in a row it was alone for a moment only. */
struct dagi_alone_quest {
    int lasted, quiet, vain;
};

/* How a worker completes tasks (dagi_runner.direct): with locks; without, as long as it is alone; without, since
 * there is no other worker, rank, device or watcher and nothing is recorded. */
enum { DAGI_DIRECT_NEVER, DAGI_DIRECT_ALONE, DAGI_DIRECT };

/* The number of a worker in `alone`. */
static inline int dagi_alone_number(const struct dagi_worker *w)
{
    return w->index + 1;
}

/* w is at work from here on; nobody else is alone. */
void dagi_work_begin(struct dagi_worker *w);
/* It touches no task until it begins again. */
void dagi_work_end(struct dagi_worker *w);
/* Asked after every few tasks of w, which is at work: is it time to be alone? */
void dagi_alone_seek(struct dagi_worker *w);

#endif

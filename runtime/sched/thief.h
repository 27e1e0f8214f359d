/*
 * Whether stealing pays. Tasks that take less time than cache lines take from core to core may get
 * done more slowly by two workers than by one. How long lines take is not known beforehand, and on
 * a virtual machine it changes, so a thief finds out: it compares how many tasks its victim and it
 * complete together with how many the victim completes alone, and stays away for a while where
 * together is not better. A task that is given to an open pool counts as one that is completed: who
 * gives tasks gets on, and may be hindered in it.
 *
 * The decision is a function of what the thief sees: the time, what it has done and what its victim
 * has. It goes round these phases:
 *   free      it steals; from `until` on the next theft, or turn of its own tasks, begins a trial
 *   together  it steals, and the tasks of both are counted: first half of the trial
 *   alone     it only looks at the victim's count now and then: second half
 *   away      the same, until `until`: then there is a new trial
 * The longer the outcome has been the same, the longer it is until the next trial.
 *
 * Where the victim itself says that its tasks are short there is no trial: the thief goes away.
 *
 * What others may rely on, whatever has been found out: of a victim with tasks that completes none
 * it steals within 3 * DAGI_THIEF_LOOK (24 if the victim says so), and again and again until it completes
 * one; and a phase away is over after 20 ms, a phase alone after 1.2 ms.
 */
#ifndef DAGI_THIEF_H
#define DAGI_THIEF_H

#include "../base/base.h"

#include <stdbool.h>
#include <stdint.h>

/* Nanoseconds from look to look at a victim that is left alone: each takes a line from it. */
enum { DAGI_THIEF_LOOK = 3000 };

/* All of it belongs to the thief. All 0: it is free, and the first theft or turn begins a trial. */
typedef struct dagi_thief {
    enum { DAGI_THIEF_FREE, DAGI_THIEF_TOGETHER, DAGI_THIEF_ALONE, DAGI_THIEF_AWAY } phase;
    int victim;             /* whom the trial, or its outcome, is about; not in phase free */
    uint64_t until;         /* of phases free and away */
    uint64_t look;          /* when to look next; 0 in the phases in which it steals */
    uint64_t trial;         /* when the last one began */
    uint64_t begin;         /* of the window in which tasks are counted */
    int64_t own, victims;   /* counts then */
    bool settled;           /* phase together: it is the second window, the one that matters */
    double together;        /* tasks per nanosecond there */
    uint64_t alone_since;   /* when the phase alone began */
    uint64_t window;        /* length of the window in it */
    double alone;           /* tasks per nanosecond in the one before; 0: this is the first */
    uint64_t last_time;     /* of the last look, and the victim's count then */
    int64_t last_victims;
    bool patient;           /* phase away: the victim says that its tasks are short */
    int slow_looks;         /* phase away: looks in a row at tasks that are not short */
    bool away_last;         /* outcome of the last trial */
    int unclear;            /* trials since then that had none */
    uint64_t times;         /* how many times as long as the trial was what it led to; 0: none */
} dagi_thief;

/* Not yet time to look at anybody's queue. */
static inline bool dagi_thief_waits(const dagi_thief *t, uint64_t now)
{
    return now < t->look;
}

/* The thief steals from anybody, and nothing is measured. */
static inline bool dagi_thief_free(const dagi_thief *t, uint64_t now)
{
    return t->phase == DAGI_THIEF_FREE && now < t->until;
}

/* In a phase in which it looks at the count of this victim, and not at its queue. */
static inline bool dagi_thief_looks(const dagi_thief *t, int victim)
{
    return t->look != 0 && victim == t->victim;
}

/* Now that it would: may it steal from this victim, or go on with what it has? What both have done is
 * read only when it matters. */
bool dagi_thief_steals(dagi_thief *t, int victim, uint64_t now, const dagi_done *own,
                       const dagi_done *victims);
/* Away, without a trial: the victim says that its tasks are too short for others. */
void dagi_thief_leave(dagi_thief *t, int victim, uint64_t now, const dagi_done *victims);

#endif

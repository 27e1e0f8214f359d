#include "thief.h"

#include <assert.h>

/* Nanoseconds: what the change of phase has upset settles; then tasks are counted for a while. The
 * window alone is doubled while the victim still gets faster: it may have to fetch what the thief
 * had. */
enum { SETTLE = 2 * DAGI_THIEF_LOOK, WINDOW = 3 * DAGI_THIEF_LOOK };
enum { SHORT_ALONE = 8 * WINDOW, LONGEST_ALONE = 32 * WINDOW };
/* A thief whose looks are late again and again gives up: the phase alone ends in any case. */
enum { MOST_ALONE = 4 * LONGEST_ALONE };
static const double FASTER = 1.05;
/* A worker was not running if a look took so long; in such a window the thief stole nothing. */
enum { LATE_LOOK = 3 * DAGI_THIEF_LOOK, LONG_WINDOW = 1000000 };
/* Time without a completed task after which the victim is taken to be at a long one. Interrupts
 * take 3 to 5 us on a virtual machine. */
enum { STANDSTILL = 2 * DAGI_THIEF_LOOK };
/* So many times as long where the victim says that its tasks are short: it is not hindered by looks then, and what
 * keeps it that long is a task. */
enum { PATIENT = 8 };
/* Average time of a task from which on it is stolen without further ado; of two workers that may
 * hinder each other from which on it is not tried what one would take. */
enum { LONG_TASK = 1000, LONG_HINDERED_TASK = 8000 };
/* The phase behind a trial is so many times as long as the trial, so that trials cost little. */
enum { FIRST_AWAY = 8, MOST_AWAY = 512, FIRST_FREE = 32, MOST_FREE = 512, LONGEST_PAUSE = 20000000 };
/* Trials in a row without an outcome: the victim has long tasks among short ones. */
enum { UNCLEAR = 4 };
/* Together is better when it is by this factor. */
static const double BETTER = 1.05;

static void take_counts(dagi_thief *t, uint64_t now, int64_t own, int64_t victims)
{
    t->begin = now;
    t->own = own;
    t->victims = victims;
}

static bool look_again(dagi_thief *t, uint64_t now, int64_t victims)
{
    t->look = now + (t->patient ? PATIENT : 1) * DAGI_THIEF_LOOK;
    t->last_time = now;
    t->last_victims = victims;
    return false;
}

static bool begin_together(dagi_thief *t, uint64_t now, int64_t own, int64_t victims)
{
    t->patient = false;
    t->phase = DAGI_THIEF_TOGETHER;
    t->trial = now;
    t->look = 0;
    t->settled = false;
    take_counts(t, now, own, victims);
    return true;
}

static bool begin_alone(dagi_thief *t, uint64_t now, int64_t own, int64_t victims)
{
    t->phase = DAGI_THIEF_ALONE;
    t->alone = 0;
    t->alone_since = now;
    t->window = SETTLE;
    take_counts(t, now, own, victims);
    return look_again(t, now, victims);
}

static bool begin_free(dagi_thief *t, uint64_t until)
{
    t->patient = false;
    t->phase = DAGI_THIEF_FREE;
    t->look = 0;
    t->until = until;
    return true;
}

/* The end of the phase that the trial leads to. */
static uint64_t pause_until(dagi_thief *t, uint64_t now, bool away)
{
    uint64_t first = away ? FIRST_AWAY : FIRST_FREE, most = away ? MOST_AWAY : MOST_FREE;
    t->times = t->times > 0 && t->away_last == away ? 2 * t->times : first;
    if (t->times > most)
        t->times = most;
    t->away_last = away;
    uint64_t pause = t->times * (now - t->trial);
    return now + (pause < LONGEST_PAUSE ? pause : LONGEST_PAUSE);
}

static bool pays(dagi_thief *t, uint64_t now)
{
    t->unclear = 0;
    return begin_free(t, pause_until(t, now, false));
}

static bool does_not_pay(dagi_thief *t, uint64_t now, int64_t victims)
{
    t->phase = DAGI_THIEF_AWAY;
    t->unclear = 0;
    t->until = pause_until(t, now, true);
    t->slow_looks = 0;
    return look_again(t, now, victims);
}

static bool window_together(dagi_thief *t, uint64_t now, int64_t own, int64_t victims)
{
    uint64_t elapsed = now - t->begin;
    if (elapsed < (t->settled ? (uint64_t)WINDOW : (uint64_t)SETTLE))
        return true;
    if (!t->settled || elapsed > LONG_WINDOW) {
        t->settled = true;
        take_counts(t, now, own, victims);
        return true;
    }
    if (victims == t->victims) /* nobody whom it hinders */
        return pays(t, now);
    int64_t tasks = own - t->own + victims - t->victims;
    if (tasks * LONG_HINDERED_TASK < (int64_t)(2 * elapsed))
        return pays(t, now);
    t->together = (double)tasks / (double)elapsed;
    return begin_alone(t, now, own, victims);
}

static bool window_alone(dagi_thief *t, uint64_t now, int64_t own, int64_t victims)
{
    uint64_t elapsed = now - t->begin;
    bool late = now - t->last_time > LATE_LOOK; /* then once more */
    if (!late && elapsed < t->window)
        return look_again(t, now, victims);
    if (!late) {
        double alone = (double)(victims - t->victims) / (double)elapsed;
        bool settled = t->alone > 0, faster = alone > FASTER * t->alone;
        if (settled && alone * LONG_TASK > 1 && BETTER * alone > t->together)
            return does_not_pay(t, now, victims);
        if (settled && ((!faster && t->window >= SHORT_ALONE) || t->window >= LONGEST_ALONE))
            return pays(t, now);
        t->window = settled ? 2 * t->window : WINDOW;
        t->alone = alone;
    }
    take_counts(t, now, own, victims);
    return look_again(t, now, victims);
}

static bool look_alone(dagi_thief *t, uint64_t now, int64_t own, int64_t victims)
{
    if (now - t->alone_since > MOST_ALONE)
        return pays(t, now);
    if (victims != t->last_victims || (t->alone == 0 && now - t->begin < SETTLE))
        return window_alone(t, now, own, victims);
    if (t->alone * LONG_TASK <= 1)
        return pays(t, now);
    if (now - t->last_time >= STANDSTILL)
        return ++t->unclear < UNCLEAR ? begin_free(t, now) : pays(t, now); /* a long one, or another program */
    t->look = t->last_time + STANDSTILL; /* an interrupt is likelier than a long task among them */
    return false;
}

static bool look_away(dagi_thief *t, uint64_t now, int64_t own, int64_t victims)
{
    if (victims == t->last_victims) {
        uint64_t standstill = (t->patient ? PATIENT : 1) * STANDSTILL;
        if (now - t->last_time >= standstill)
            return true; /* it is at a long task; the phase goes on behind it */
        t->look = t->last_time + standstill;
        return false;
    }
    bool slow = (victims - t->last_victims) * LONG_TASK < (int64_t)(now - t->last_time);
    t->slow_looks = slow ? t->slow_looks + 1 : 0;
    if (t->slow_looks > 1)
        return begin_free(t, now);
    if (now < t->until)
        return look_again(t, now, victims);
    return begin_together(t, now, own, victims);
}

static bool decide(dagi_thief *t, int victim, uint64_t now, const dagi_done *done, const dagi_done *its)
{
    if (dagi_thief_free(t, now))
        return true;
    if (t->phase != DAGI_THIEF_FREE && victim != t->victim) {
        if (t->phase == DAGI_THIEF_TOGETHER)
            begin_free(t, now);
        return true;
    }
    int64_t own = dagi_done_sum(done), victims = dagi_done_sum(its);
    switch (t->phase) {
    case DAGI_THIEF_FREE:
        t->victim = victim;
        return begin_together(t, now, own, victims);
    case DAGI_THIEF_TOGETHER: return window_together(t, now, own, victims);
    case DAGI_THIEF_ALONE: return look_alone(t, now, own, victims);
    default: return look_away(t, now, own, victims);
    }
}

/* What others rely on: a phase in which nothing is stolen ends, however late its looks are. */
bool dagi_thief_steals(dagi_thief *t, int victim, uint64_t now, const dagi_done *own,
                       const dagi_done *victims)
{
    bool steals = decide(t, victim, now, own, victims);
    assert(steals || t->look != 0);
    assert(steals || t->phase != DAGI_THIEF_ALONE || now - t->alone_since <= MOST_ALONE);
    return steals;
}

void dagi_thief_leave(dagi_thief *t, int victim, uint64_t now, const dagi_done *victims)
{
    if (t->phase == DAGI_THIEF_AWAY)
        return;
    t->victim = victim;
    t->phase = DAGI_THIEF_AWAY;
    t->until = now + LONGEST_PAUSE;
    t->slow_looks = 0;
    t->patient = true;
    look_again(t, now, dagi_done_sum(victims));
}

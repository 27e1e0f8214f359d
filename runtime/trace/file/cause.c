/*
 * What waited for what. The file has for each task what it waited for: one other task where the runtime
 * knew the longest chain, else numbers of tasks, copies and joins of two such. Here the lengths of all
 * chains are found, and what the runtime could not know yet is put right: that something on a device,
 * and a task that waits for it, begins when the last of its causes has ended.
 */
#include "model.h"

#include "../../base/room.h"

#include <stdbool.h>
#include <stdlib.h>

enum { UNKNOWN, BEING_FOUND, KNOWN };

static dagt_track *track_of(const dagt_trace *t, uint64_t id, int *rank, int *number)
{
    uint64_t r = id >> 44, k = id >> 34 & (DAGT_MAX_TRACKS - 1);
    if (id == 0 || r >= (uint64_t)t->nranks || k >= (uint64_t)t->ranks[r].ntracks)
        return NULL;
    *rank = (int)r;
    *number = (int)k;
    return &t->ranks[r].tracks[k];
}

static uint64_t place_of(uint64_t id)
{
    return id & (DAGT_IS_JOIN - 1);
}

/* What has this number; both NULL = nothing has (0, or it was dropped, or it is a join). */
static dagt_step find(const dagt_trace *t, uint64_t id)
{
    dagt_step step = {.rank = -1};
    uint64_t place = place_of(id);
    const dagt_track *track = track_of(t, id, &step.rank, &step.track);
    if (!track || (id & DAGT_IS_JOIN))
        return step;
    if (track->kind == DAGT_TRACK_COPIES) {
        size_t at = place < track->nplaces ? track->place[place] : 0;
        step.copy = at ? &track->flights[at - 1] : NULL;
    } else if (place >= 1 && place <= track->ntasks) {
        step.task = &track->tasks[place - 1];
    }
    return step;
}

static dagt_join *find_join(const dagt_trace *t, uint64_t id)
{
    int rank, number;
    const dagt_track *track = id & DAGT_IS_JOIN ? track_of(t, id, &rank, &number) : NULL;
    uint64_t place = place_of(id);
    return track && place >= 1 && place <= track->njoins ? &track->joins[place - 1] : NULL;
}

dagt_step dagt_before(const dagt_trace *t, const dagt_step *step)
{
    uint64_t id = step->task ? step->task->from : step->copy->from;
    /* Each join was made of what there was already; a damaged file may have circles. */
    for (int steps = 0; (id & DAGT_IS_JOIN) && steps < 1 << 20; steps++) {
        const dagt_join *join = find_join(t, id);
        id = join ? join->longer : 0;
    }
    return find(t, id);
}

/* ---- chains ------------------------------------------------------------------------------- */

/* What is known of a number once it is settled: the length of the longest chain that ends with it, and
 * when that and all before it had ended. */
typedef struct chain {
    int64_t length, end;
    uint32_t pool; /* 0 = nothing is known */
} chain;

/* A chain and what comes behind it. A damaged file may say more than there is time. */
static int64_t longer(int64_t path, int64_t begin, int64_t end)
{
    int64_t length;
    if (__builtin_sub_overflow(end, begin, &length) ||
        __builtin_add_overflow(path, length, &length))
        return INT64_MAX;
    return length;
}

static chain chain_of(const dagt_trace *t, uint64_t id)
{
    const dagt_join *join = find_join(t, id);
    if (join)
        return join->state == KNOWN ? (chain){join->path, join->end, join->pool} : (chain){0};
    const dagt_step step = find(t, id);
    const dagt_task *task = step.task;
    const dagt_flight *copy = step.copy;
    if (task && task->state == KNOWN)
        return (chain){longer(task->path, task->begin, task->end), task->end, task->pool};
    if (copy && copy->state == KNOWN)
        return (chain){longer(copy->path, copy->begin, copy->end), copy->end, copy->pool};
    return (chain){0};
}

/* Its state, and what it waits for; NULL = there is no such thing. */
static uint8_t *state_of(const dagt_trace *t, uint64_t id, uint64_t from[2])
{
    dagt_join *join = find_join(t, id);
    const dagt_step step = find(t, id);
    from[1] = join ? join->from[1] : 0;
    if (join) {
        from[0] = join->from[0];
        return &join->state;
    }
    if (step.task) {
        from[0] = step.task->from;
        return &step.task->state;
    }
    if (step.copy) {
        from[0] = step.copy->from;
        return &step.copy->state;
    }
    return NULL;
}

static void settle_join(const dagt_trace *t, dagt_join *join)
{
    const chain a = chain_of(t, join->from[0]), b = chain_of(t, join->from[1]);
    /* What is left of an older pool is no cause in this one. */
    int second = a.pool != b.pool       ? b.pool > a.pool
                 : a.length != b.length ? b.length > a.length
                                        : b.end >= a.end;
    const chain *of = second ? &b : &a;
    join->longer = join->from[second];
    join->path = of->length;
    join->pool = of->pool;
    join->end = a.end > b.end ? a.end : b.end;
}

/* What is on a device lies behind its cause. Its end is when somebody looked, or a share of what went by
 * until then, and may have been seen before the end of the cause was. */
static void put_behind(int64_t cause, int64_t *begin, int64_t *end)
{
    if (*end < cause)
        *end = cause;
    if (*begin < cause)
        *begin = cause;
}

static void settle_task(const dagt_trace *t, const dagt_track *track, dagt_task *task)
{
    const chain before = chain_of(t, task->from);
    if (before.pool && before.pool != task->pool) {
        task->from = 0;
        return;
    }
    task->path = before.length;
    if (before.length > 0 && track->kind == DAGT_TRACK_STREAM)
        put_behind(before.end, &task->begin, &task->end);
    if (!before.pool) /* a copy of what no task has made, if anything */
        return;
    int64_t ready = before.end < task->begin ? before.end : task->begin;
    if (task->ready < ready)
        task->ready = ready;
}

static void settle_copy(const dagt_trace *t, dagt_flight *copy)
{
    const chain before = chain_of(t, copy->from);
    copy->path = before.length;
    copy->pool = before.pool;
    if (before.length > 0)
        put_behind(before.end, &copy->begin, &copy->end);
}

static void settle(const dagt_trace *t, uint64_t id)
{
    dagt_join *join = find_join(t, id);
    const dagt_step step = find(t, id);
    if (join)
        settle_join(t, join);
    else if (step.task)
        settle_task(t, &t->ranks[step.rank].tracks[step.track], step.task);
    else
        settle_copy(t, step.copy);
}

/* ---- all of them -------------------------------------------------------------------------- */

/* Numbers whose causes are being settled; the last one first. */
typedef struct stack {
    uint64_t *id;
    size_t used, capacity;
} stack;

static bool push(stack *s, uint64_t id)
{
    if (!DAGI_ROOM(s->id, s->used, s->capacity, 4096))
        return false;
    s->id[s->used++] = id;
    return true;
}

/* Settle one thing, after all that it waits for. In a circle, which only a damaged file has, what is
 * being settled already counts as unknown. */
static bool settle_from(const dagt_trace *t, stack *s, uint64_t id)
{
    uint64_t from[2], further[2];
    if (!push(s, id))
        return false;
    while (s->used) {
        uint64_t top = s->id[s->used - 1];
        size_t used = s->used;
        uint8_t *state = state_of(t, top, from);
        if (!state || *state == KNOWN) {
            s->used--;
            continue;
        }
        for (int i = 0; i < 2 && *state == UNKNOWN; i++) {
            const uint8_t *other = state_of(t, from[i], further);
            if (other && *other == UNKNOWN && from[i] != top && !push(s, from[i]))
                return false;
        }
        int first = *state == UNKNOWN;
        *state = BEING_FOUND;
        if (first && s->used > used)
            continue;
        settle(t, top);
        *state = KNOWN;
        s->used--;
    }
    return true;
}

static bool settle_track(const dagt_trace *t, int rank, int number, stack *s)
{
    const dagt_track *track = &t->ranks[rank].tracks[number];
    bool ok = true;
    for (size_t i = 0; i < track->ntasks && ok; i++)
        ok = settle_from(t, s, DAGT_TASK_ID(rank, number, i + 1));
    for (size_t i = 0; i < track->nplaces && ok; i++)
        ok = track->place[i] == 0 || settle_from(t, s, DAGT_TASK_ID(rank, number, i));
    return ok;
}

int dagt_settle(dagt_trace *t)
{
    stack s = {0};
    bool ok = true;
    for (int r = 0; r < t->nranks && ok; r++) {
        for (int k = 0; k < t->ranks[r].ntracks && ok; k++)
            ok = settle_track(t, r, k, &s);
    }
    free(s.id);
    return !ok;
}

/*
 * Events as they happen. Each function is called by the thread whose track it writes. An idle
 * worker has an open interval (`since`), which ends with the next thing that it does.
 */
#include "trace.h"

#include "../base/room.h"

#include <stdlib.h>
#include <string.h>

void dagi_trace_event(const struct dagi_trace *trace, dagi_buffer *buffer, uint64_t head,
                      uint64_t begin, uint64_t end, const uint64_t *more)
{
    unsigned words = head >> 8 & 0xff;
    if (!dagi_trace_records(trace))
        return;
    if (begin < trace->head.begin)
        begin = trace->head.begin;
    uint64_t *e = end > begin ? dagi_buffer_event(buffer, words) : NULL;
    if (!e)
        return;
    e[0] = head;
    e[1] = begin;
    e[2] = end;
    for (unsigned i = 3; i < words; i++)
        e[i] = more[i - 3];
}

/* The worker was in a state from `begin` to `end`, unless begin is 0. */
static void put_state(dagi_track *track, enum dagt_event kind, unsigned a, uint32_t b,
                      uint64_t begin, uint64_t end)
{
    if (begin)
        dagi_trace_event(track->trace, &track->log.buffer, dagi_trace_head(kind, 3, a, b), begin,
                         end, NULL);
}

/* ---- cores that others take ----------------------------------------------------------------- */

/*
 * A thread that has less processor time than has gone by was ready to run and waited for a core, or
 * slept; and it sleeps only while it is idle. Asking for the processor time takes a system call, so it is
 * done when more time than usual lies between two intervals, when an interval that is no body took that
 * long, and so often that the answer before is not much older. While it is idle the thread is asked
 * when it looks for messages or has found a task, if it was not just before, as it may have slept.
 */
enum { LEAST_LOSS = 5000 }; /* nanoseconds; less is not told apart from the work */

static void sample(dagi_track *track, uint64_t now)
{
    track->sampled = now;
    track->used = dagi_thread_time();
}

/* Ticks without a core since that was asked last, which is done here; no more than `most`. */
static uint64_t lost(dagi_track *track, uint64_t now, uint64_t most)
{
    uint64_t before = track->used;
    double spent = (double)(now - track->sampled) * track->trace->ns_per_tick;
    sample(track, now);
    double without = spent - (double)(track->used - before);
    if (without < LEAST_LOSS)
        return 0;
    uint64_t ticks = (uint64_t)(without / track->trace->ns_per_tick);
    return ticks < most ? ticks : most;
}

/* An interval has ended, and nothing is open. */
static inline void set_last(dagi_track *track, uint64_t end)
{
    track->last = end;
    track->look = end + track->trace->gap;
}

/* If the thread lost the core since the latest interval, that was not the runtime's work. Nobody knows
 * in which part of the gap; it is put first. */
void dagi_trace_late(dagi_track *track, uint64_t now)
{
    if (track->since || track->left) {
        sample(track, now);
        track->look = now + track->trace->age;
        return;
    }
    uint64_t without = lost(track, now, now - track->last);
    put_state(track, DAGT_IDLE, DAGT_CORE, 0, track->last, track->last + without);
    track->last += without;
    track->look = now + track->trace->gap;
}

/* A state that is open from `now` on. */
static void open_state(dagi_track *track, uint64_t *since, uint64_t now)
{
    if (now > track->look)
        dagi_trace_late(track, now);
    *since = now;
    track->look = now + track->trace->age;
}

/* What is idle now is so until `now` only. */
static void close_idle(dagi_track *track, uint64_t now)
{
    put_state(track, DAGT_IDLE, track->cause, 0, track->since, now);
    track->since = 0;
    set_last(track, now);
}

/* ---- tasks -------------------------------------------------------------------------------- */

void dagi_trace_task_new(const dagi_track *track, struct dag_task *t)
{
    dagi_task_trace *mine = dagi_trace_of(t);
    mine->ready = track->origin.time;
    mine->from = track->origin.id;
    mine->path = track->origin.path;
    if (__builtin_expect(track->trace->causes, 0)) {
        uint64_t *by = dagi_trace_causes(t);
        for (unsigned f = 0; f <= t->cls->ndata; f++)
            by[f] = DAGI_FIRST;
    }
}

/* Where a rank has devices. */
static void keep_cause(dagi_track *track, struct dag_task *t, unsigned flow)
{
    dagi_task_trace *mine = dagi_trace_of(t);
    uint64_t *by = dagi_trace_causes(t), id = track->origin.id;
    if (track->origin.time > mine->ready)
        mine->ready = track->origin.time;
    if (flow < t->cls->ndata)
        by[flow] = id;
    else if (by[t->cls->ndata] == DAGI_FIRST)
        by[t->cls->ndata] = id;
    else
        by[t->cls->ndata] = dagi_trace_join(track, by[t->cls->ndata], id);
}

void dagi_trace_arrival(dagi_track *track, struct dag_task *t, unsigned flow)
{
    dagi_task_trace *mine = dagi_trace_of(t);
    const dagi_source_task source = track->origin;
    if (__builtin_expect(track->trace->causes, 0)) {
        keep_cause(track, t, flow);
        return;
    }
    /* Which input is the later and which the longer chain nobody can predict: no branches. */
    uint64_t from = mine->from, path = mine->path, ready = mine->ready;
    int longer = source.path > path;
    mine->ready = source.time > ready ? source.time : ready;
    mine->from = longer ? source.id : from;
    mine->path = longer ? source.path : path;
}

uint64_t dagi_trace_join(dagi_track *track, uint64_t a, uint64_t b)
{
    if (a == 0 || a == b)
        return b;
    uint64_t *e = b && dagi_trace_records(track->trace) ? dagi_buffer_event(&track->log.buffer, 3) : NULL;
    if (!e)
        return a;
    e[0] = dagi_trace_head(DAGT_JOIN, 3, 0, 0);
    e[1] = a;
    e[2] = b;
    return DAGT_TASK_ID(track->trace->head.rank, track->worker->index, ++track->joins) |
           DAGT_IS_JOIN;
}

uint64_t dagi_trace_input(struct dag_task *t, int flow)
{
    uint64_t by = dagi_trace_causes(t)[flow];
    if (!(t->arrived >> flow & 1))
        return 0;
    return by == DAGI_FIRST ? dagi_trace_of(t)->from : by;
}

void dagi_trace_collect(dagi_track *track, struct dag_task *t, const uint64_t *content)
{
    dagi_task_trace *mine = dagi_trace_of(t);
    uint64_t *by = dagi_trace_causes(t), from = 0;
    unsigned n = t->cls->ndata;
    int first = 0; /* whether the first input was one of data */
    for (unsigned f = 0; f < n; f++) {
        first |= (t->arrived >> f & 1) && by[f] == DAGI_FIRST;
        from = dagi_trace_join(track, from, content && content[f] ? content[f]
                                                                  : dagi_trace_input(t, (int)f));
    }
    if (by[n] != DAGI_FIRST)
        from = dagi_trace_join(track, from, by[n]);
    if (!first)
        from = dagi_trace_join(track, from, mine->from);
    mine->from = from;
    for (unsigned f = 0; f <= n; f++)
        by[f] = 0;
}

/* As a DAGT_TASK, which holds anything. */
static __attribute__((noinline)) uint64_t *write_long(dagi_log *log, struct dag_task *t,
                                                      uint64_t begin, uint64_t end)
{
    const dagi_task_trace *mine = dagi_trace_of(t);
    unsigned words = 6 + (t->cls->nparams + 1u) / 2;
    uint64_t *e = dagi_buffer_event(&log->buffer, words);
    if (!e)
        return NULL;
    e[0] = dagi_trace_head(DAGT_TASK, words, (unsigned)t->cls->id, t->pool->id);
    e[1] = begin;
    e[2] = end;
    e[3] = mine->ready;
    e[4] = mine->from;
    e[5] = (uint64_t)t->priority;
    log->pool = t->pool->id;
    if (t->cls->nparams % 2)
        e[words - 1] = 0;
    return e + 6;
}

/*
 * Every page of events costs more than all that is done for the events in it, since it is touched for
 * the first time: hence the DAGT_BRIEF of four or five words.
 */
static inline void write_task(dagi_log *log, struct dag_task *t, uint64_t begin, uint64_t end)
{
    const dagi_task_trace *mine = dagi_trace_of(t);
    uint64_t length = end - begin, gap = begin - log->last, wait = begin - mine->ready;
    unsigned n = t->cls->nparams;
    int32_t *to;
    if (__builtin_expect(((length | gap | wait) >> 32) == 0 && t->pool->id == log->pool &&
                         t->priority == (int32_t)t->priority, 1)) {
        unsigned words = 3 + (n + 2) / 2;
        uint64_t *e = dagi_buffer_event(&log->buffer, words);
        if (!e)
            return;
        e[0] = dagi_trace_head(DAGT_BRIEF, words, (unsigned)t->cls->id, (uint32_t)length);
        e[1] = gap | wait << 32;
        e[2] = mine->from;
        e[words - 1] = 0;
        to = (int32_t *)(void *)(e + 3);
        *to++ = (int32_t)t->priority;
    } else {
        to = (int32_t *)(void *)write_long(log, t, begin, end);
        if (!to)
            return;
    }
    const int32_t *from = (const int32_t *)(const void *)(dag_task_flows(t) + t->cls->ndata);
    log->last = end;
    for (unsigned i = 0; i < n; i++)
        to[i] = from[i];
}

static inline void add_task(dagi_log *log, dagi_track *track, struct dag_task *t,
                            uint64_t begin, uint64_t end)
{
    const struct dagi_trace *trace = track->trace;
    const dagi_task_trace *mine = dagi_trace_of(t);
    uint64_t length = end - begin, low = (UINT64_C(1) << DAGI_SCALE_BITS) - 1;
    track->origin.time = end;
    if (__builtin_expect(t->cls->unrecorded, 0)) { /* critical paths pass through it */
        track->origin.id = mine->from;
        track->origin.path = mine->path;
    } else {
        if (dagi_trace_records(trace))
            write_task(log, t, begin, end);
        track->origin.id = ++log->id;
        track->origin.path = mine->path + (length >> DAGI_SCALE_BITS) * trace->scale +
                             ((length & low) * trace->scale >> DAGI_SCALE_BITS);
    }
    uint64_t done = atomic_load_explicit(&track->done, memory_order_relaxed);
    atomic_store_explicit(&track->done, done + 1, memory_order_relaxed);
}

void dagi_trace_task(dagi_track *track, struct dag_task *t, uint64_t begin)
{
    uint64_t end = dagi_clock();
    if (track->since)
        close_idle(track, begin);
    add_task(&track->log, track, t, begin, end);
    set_last(track, end);
    if (track->ran)
        dagi_progress_ran(track, t->cls, end - begin);
    if (__builtin_expect(end - track->sampled > track->trace->age, 0))
        sample(track, end);
    if (end > track->next_look && track->trace->progress)
        dagi_progress_look(track, end);
}

void dagi_trace_task_on(dagi_log *log, dagi_track *track, struct dag_task *t, uint64_t begin,
                        uint64_t end)
{
    add_task(log, track, t, begin, end);
}

void dagi_trace_startup(dagi_track *track)
{
    track->origin = (dagi_source_task){.time = dagi_clock()};
}

void dagi_trace_source(dagi_track *track, uint64_t id)
{
    track->origin = (dagi_source_task){.time = dagi_clock(), .id = id};
}

dagi_source_task dagi_trace_deliver(dagi_track *track, uint64_t id, uint64_t path)
{
    dagi_source_task before = track->origin;
    track->origin = (dagi_source_task){dagi_clock(), id, path};
    return before;
}

/* ---- idle --------------------------------------------------------------------------------- */

int dagi_trace_none_left(const struct dagi_trace *trace)
{
    int64_t left = atomic_load_explicit(&trace->expected, memory_order_relaxed);
    for (int i = 0; i < trace->nworkers && left > 0; i++)
        left -= (int64_t)atomic_load_explicit(&trace->tracks[i]->done, memory_order_relaxed);
    return left <= 0;
}

void dagi_trace_idle(dagi_track *track, unsigned cause)
{
    if (track->since && cause == track->cause && !track->trace->progress)
        return;
    uint64_t now = dagi_clock();
    if (!track->since || cause != track->cause) {
        if (track->since)
            close_idle(track, now);
        open_state(track, &track->since, now);
        track->cause = cause;
    }
    if (now > track->next_look && track->trace->progress)
        dagi_progress_look(track, now);
}

void dagi_trace_busy(dagi_track *track, enum dagt_event kind, uint64_t begin, int events)
{
    uint64_t now = dagi_clock(), without = 0;
    int idle = track->since != 0, outside = track->left != 0;
    if (idle)
        close_idle(track, begin);
    if (outside) /* as where messages are handled between tasks that are inserted */
        put_state(track, DAGT_OUTSIDE, 0, 0, track->left, begin);
    if (now - begin > track->trace->gap && kind != DAGT_DRIVE) /* drivers of devices may block */
        without = lost(track, now, now - begin);
    else if (now - track->sampled > track->trace->age)
        sample(track, now);
    put_state(track, kind, 0, (uint32_t)events, begin, now - without);
    if (without)
        put_state(track, DAGT_IDLE, DAGT_CORE, 0, now - without, now);
    set_last(track, now);
    if (idle)
        open_state(track, &track->since, now);
    if (outside)
        open_state(track, &track->left, now);
}

void dagi_trace_comm(dagi_track *track, uint64_t begin, int events)
{
    dagi_trace_busy(track, DAGT_COMM, begin, events);
}

void dagi_trace_steal(dagi_track *track)
{
    if (!dagi_trace_records(track->trace))
        return;
    uint64_t *e = dagi_buffer_event(&track->log.buffer, 2);
    if (e) {
        e[0] = dagi_trace_head(DAGT_STEAL, 2, 0, 0);
        e[1] = dagi_clock();
    }
}

void dagi_trace_enter(dagi_track *track)
{
    uint64_t now = dagi_clock();
    put_state(track, DAGT_OUTSIDE, 0, 0, track->left, now);
    track->left = 0;
    set_last(track, now);
    sample(track, now);
}

void dagi_trace_leave(dagi_track *track)
{
    uint64_t now = dagi_clock();
    if (track->since)
        close_idle(track, now);
    open_state(track, &track->left, now);
}

void dagi_trace_end(dagi_track *track, uint64_t now)
{
    if (track->since)
        close_idle(track, now);
    put_state(track, DAGT_OUTSIDE, 0, 0, track->left, now);
}

/* ---- pools -------------------------------------------------------------------------------- */

/* Number of a program in the table, -1 = out of memory. */
static int64_t number_of(struct dagi_trace *trace, const dag_program *program)
{
    for (int i = 0; i < trace->lists.nprograms; i++) {
        if (trace->lists.programs[i] == program)
            return i;
    }
    if (!DAGI_ROOM(trace->lists.programs, trace->lists.nprograms, trace->lists.programs_capacity, 16))
        return -1;
    trace->lists.programs[trace->lists.nprograms] = program;
    return trace->lists.nprograms++;
}

void dagi_trace_pool(struct dagi_trace *trace, const dag_taskpool *pool, int64_t tasks)
{
    if (trace->progress)
        dagi_progress_added(trace, pool->id, tasks);
    if (tasks > 0)
        atomic_fetch_add_explicit(&trace->expected, tasks, memory_order_relaxed);
    if (!dagi_trace_records(trace))
        return;
    pthread_mutex_lock(&trace->lock);
    int64_t program = number_of(trace, pool->program);
    if (program >= 0 && DAGI_ROOM(trace->lists.pools, trace->lists.npools, trace->lists.pools_capacity, 16))
        trace->lists.pools[trace->lists.npools++] =
            (dagt_pool_head){.id = pool->id, .program = (uint64_t)program, .begin = dagi_clock()};
    pthread_mutex_unlock(&trace->lock);
}

void dagi_trace_pool_end(struct dagi_trace *trace, const dag_taskpool *pool,
                         const dag_pool_stats *stats)
{
    if (!dagi_trace_records(trace))
        return;
    pthread_mutex_lock(&trace->lock);
    for (int i = trace->lists.npools - 1; i >= 0; i--) {
        dagt_pool_head *head = &trace->lists.pools[i];
        if (head->id != pool->id)
            continue;
        head->end = dagi_clock();
        head->tasks = (uint64_t)stats->tasks;
        head->renames = (uint64_t)stats->renames;
        head->messages = (uint64_t)stats->messages;
        head->bytes = (uint64_t)stats->bytes_sent;
        break;
    }
    pthread_mutex_unlock(&trace->lock);
}

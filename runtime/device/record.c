/* What a device did, for traces: kernels on the queues, copies over the links. */
#include "../trace/trace.h"
#include "device_impl.h"

static void make(struct dagi_trace *trace, dagi_device *d)
{
    dagi_tracks *tracks = &d->tracks;
    for (int i = 0; i < d->all->lanes; i++)
        tracks->stream[i] = dagi_trace_stream(trace, d->index, i);
    tracks->out = dagi_trace_link(trace, d->index, DAGI_TRACE_HOST);
    tracks->from[DAGI_HOST] = dagi_trace_link(trace, DAGI_TRACE_HOST, d->index);
    for (int i = 0; i < d->all->count; i++)
        tracks->from[i + 1] = dagi_trace_link(trace, i, d->index);
}

void dagi_record_tracks(const struct dagi_devices *all)
{
    for (int i = 0; i < all->count; i++)
        make(DAGI_TRACE(all->ctx), all->device[i]);
}

/* Ticks of a moment before this round. */
static uint64_t ticks_of(const dagi_device *d, uint64_t ns)
{
    return ns < d->time.now ? d->time.ticks - dagi_trace_ticks(DAGI_TRACE(d->all->ctx),
                                                               (double)(d->time.now - ns))
                            : d->time.ticks;
}

static struct dagi_device_track *link_of(const dagi_device *d, const dagi_move *move)
{
    return move->to == DAGI_HOST ? d->tracks.out : d->tracks.from[move->from];
}

void dagi_record_copy(const dagi_device *d, const dagi_move *move, uint64_t begin, uint64_t end)
{
    dagi_trace_copy(link_of(d, move), ticks_of(d, begin), ticks_of(d, end), move->bytes, move->id,
                    move->cause);
}

/* What a task has copied by itself, behind what it has waited for. */
static void record_moved(const dagi_device *d, const dagi_job *job, uint64_t begin, uint64_t end)
{
    const dagi_move in = {.from = DAGI_HOST, .to = d->space}, out = {.from = d->space, .to = DAGI_HOST};
    const struct {
        const dagi_move *way;
        int64_t bytes;
    } both[] = {{&in, job->moved.in}, {&out, job->moved.out}};
    for (int i = 0; i < 2; i++) {
        struct dagi_device_track *link = link_of(d, both[i].way);
        if (both[i].bytes > 0)
            dagi_trace_copy(link, ticks_of(d, begin), ticks_of(d, end), (size_t)both[i].bytes,
                            dagi_trace_number(link), dagi_trace_of(job->task)->from);
    }
}

/* ---- lanes of kernels ----------------------------------------------------------------------- */

/* A kernel, or a copy in between. */
typedef struct part {
    const dagi_job *job; /* or NULL */
    const dagi_move *move;
} part;

/* The next part of those behind tickets up to `last`, from *ticket on: jobs, in the order of theirs, several with
 * one where they were launched together, or a copy. 0: there is none. */
static int next_part(const dagi_lane *lane, uint64_t *ticket, uint64_t last, const dagi_job **jobs, part *p)
{
    for (; *ticket <= last; ++*ticket) {
        *p = (part){.move = &lane->slot[*ticket % DAGI_LANE_SLOTS].move};
        if (*jobs && (*jobs)->done.count == *ticket) {
            p->job = *jobs;
            *jobs = (*jobs)->next;
            return 1;
        }
        if (p->move->bytes > 0) {
            ++*ticket;
            return 1;
        }
    }
    return 0;
}

void dagi_record_lane(struct dagi_worker *w, dagi_device *d, int n, int tickets, const dagi_job *jobs)
{
    const dagi_lane *lane = &d->exec[n];
    uint64_t last = atomic_load_explicit(&lane->order.passed, memory_order_relaxed);
    uint64_t first = last - (uint64_t)tickets + 1, begin = 0;
    const dagi_job *at = jobs;
    int count = 0, i = 0;
    part p;
    for (uint64_t t = first; next_part(lane, &t, last, &at, &p);)
        begin = count++ ? begin : p.job ? p.job->issued_at : p.move->since;
    if (begin < d->tracks.kernel_end[n])
        begin = d->tracks.kernel_end[n];
    double share = count && begin < d->time.now ? (double)(d->time.now - begin) / count : 0;
    for (uint64_t t = first; next_part(lane, &t, last, &jobs, &p);) {
        uint64_t from = begin + (uint64_t)(share * i), to = begin + (uint64_t)(share * (i + 1));
        i++;
        if (p.job) {
            dagi_trace_kernel(d->tracks.stream[n], DAGI_TRACK(w), p.job->task, ticks_of(d, from),
                              ticks_of(d, to));
            record_moved(d, p.job, from, to);
        } else {
            dagi_record_copy(d, p.move, from, to);
        }
    }
    if (count)
        d->tracks.kernel_end[n] = d->time.now;
}

/* ---- causes --------------------------------------------------------------------------------- */

uint64_t dagi_record_move(dagi_device *d, dagi_lane *lane, uint64_t cause, dagi_result result)
{
    dagi_move *move = &lane->next;
    if (result != DAGI_OK)
        move->bytes = 0;
    if (!DAGI_TRACE(d->all->ctx) || result != DAGI_OK)
        return 0;
    move->cause = cause ? cause : d->tracks.input;
    move->id = move->bytes ? dagi_trace_number(link_of(d, move)) : 0;
    return move->id ? move->id : move->cause;
}

/* What brought the content of v to a space where it is needed, 0 = who made it; it was this. */
static uint64_t brought_by(dag_value *v, int space)
{
    dagi_copies *c = v ? dagi_copies_get(v) : NULL;
    if (!c)
        return 0;
    dagi_lock(&c->lock);
    uint64_t cause = c->copy[space].cause;
    dagi_unlock(&c->lock);
    return cause;
}

void dagi_record_brought(dag_value *v, int space, uint64_t cause)
{
    dagi_copies *c = dagi_copies_get(v);
    dagi_lock(&c->lock);
    c->copy[space].cause = cause;
    dagi_unlock(&c->lock);
}

static void collect(struct dagi_worker *w, struct dag_task *t, int space)
{
    uint64_t content[DAG_MAX_FLOWS];
    for (int f = 0; f < t->cls->ndata; f++)
        content[f] = brought_by(dag_task_flows(t)[f], space);
    dagi_trace_collect(DAGI_TRACK(w), t, content);
}

void dagi_device_causes(struct dagi_worker *w, struct dag_task *t)
{
    collect(w, t, DAGI_HOST);
}

void dagi_record_inputs(struct dagi_worker *w, dagi_job *job)
{
    collect(w, job->task, job->device->space);
}

void dagi_record_issue(dagi_job *job)
{
    const dagi_device *d = job->device;
    job->id = job->task->cls->unrecorded ? dagi_trace_of(job->task)->from
                                         : dagi_trace_number(d->tracks.stream[job->lane - d->exec]);
}

void dagi_record_release(struct dagi_worker *w, const dagi_job *job)
{
    dagi_trace_source(DAGI_TRACK(w), job->id);
}

void dagi_record_retire(struct dagi_worker *w, const dagi_job *job, uint32_t awaited)
{
    uint64_t id = job->id;
    for (int f = 0; f < job->ndata; f++) {
        if (awaited >> f & 1)
            id = dagi_trace_join(DAGI_TRACK(w), id, brought_by(dag_task_flows(job->task)[f], DAGI_HOST));
    }
    dagi_trace_source(DAGI_TRACK(w), id);
}

/* What a device did, for traces: kernels on the queues, copies over the links. */
#include "../trace/trace.h"
#include "device_impl.h"

static void make(struct dagi_trace *trace, dagi_device *d)
{
    dagi_tracks *tracks = &d->tracks;
    for (int i = 0; i < DAGI_EXEC_LANES; i++)
        tracks->stream[i] = dagi_trace_stream(trace, d->index, i);
    tracks->out = dagi_trace_link(trace, d->index, DAGI_TRACE_HOST);
    tracks->from[DAGI_HOST] = dagi_trace_link(trace, DAGI_TRACE_HOST, d->index);
    for (int i = 0; i < d->all->count; i++) {
        if (i != d->index)
            tracks->from[i + 1] = dagi_trace_link(trace, i, d->index);
    }
}

void dagi_record_tracks(const struct dagi_devices *all)
{
    for (int i = 0; i < all->count; i++)
        make(DAGI_TRACE(all->ctx), all->device[i]);
}

/* Ticks of a moment before this round. */
static uint64_t ticks_of(const dagi_device *d, uint64_t ns)
{
    return ns < d->now ? d->ticks - dagi_trace_ticks(DAGI_TRACE(d->all->ctx), (double)(d->now - ns))
                       : d->ticks;
}

void dagi_record_kernels(struct dagi_worker *w, dagi_device *d, int lane, const dagi_job *jobs,
                         int count)
{
    uint64_t begin = d->tracks.kernel_end[lane];
    if (begin < jobs->issued_at)
        begin = jobs->issued_at;
    double share = begin < d->now ? (double)(d->now - begin) / count : 0;
    const dagi_job *job = jobs;
    for (int i = 0; i < count; i++, job = job->next) {
        uint64_t from = begin + (uint64_t)(share * i), to = begin + (uint64_t)(share * (i + 1));
        dagi_trace_kernel(d->tracks.stream[lane], DAGI_TRACK(w), job->task, ticks_of(d, from),
                          ticks_of(d, to));
    }
    d->tracks.kernel_end[lane] = d->now;
}

void dagi_record_copy(const dagi_device *d, const dagi_move *move, uint64_t begin, uint64_t end)
{
    dagi_trace_copy(move->to == DAGI_HOST ? d->tracks.out : d->tracks.from[move->from],
                    ticks_of(d, begin), ticks_of(d, end), move->bytes);
}

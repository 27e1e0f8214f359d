/* Tracks of devices: tasks on streams, copies over links. */
#include "trace.h"

#include "../base/room.h"

#include <stdlib.h>

static dagi_device_track *new_track(struct dagi_trace *trace, enum dagt_track_kind kind,
                                    uint32_t index)
{
    dagi_device_track *track = calloc(1, sizeof *track);
    int number = -1;
    if (!track)
        return NULL;
    track->kind = kind;
    track->index = index;
    dagi_buffer_init(&track->log.buffer, &trace->room);
    pthread_mutex_lock(&trace->lock);
    if (trace->nworkers + trace->lists.ndevice_tracks < DAGT_MAX_TRACKS &&
        DAGI_ROOM(trace->lists.device_tracks, trace->lists.ndevice_tracks,
                  trace->lists.device_tracks_capacity, 16)) {
        number = trace->lists.ndevice_tracks++;
        trace->lists.device_tracks[number] = track;
        track->log.id = DAGT_TASK_ID(trace->head.rank, trace->nworkers + number, 0);
        track->given = track->log.id;
    }
    pthread_mutex_unlock(&trace->lock);
    if (number < 0) {
        free(track);
        return NULL;
    }
    track->trace = trace;
    return track;
}

dagi_device_track *dagi_trace_stream(struct dagi_trace *trace, int device, int number)
{
    return new_track(trace, DAGT_TRACK_STREAM, (uint32_t)device << 16 | (uint32_t)number);
}

dagi_device_track *dagi_trace_link(struct dagi_trace *trace, int from, int to)
{
    return new_track(trace, DAGT_TRACK_COPIES, (uint32_t)(from + 1) << 16 | (uint32_t)(to + 1));
}

void dagi_trace_kernel(dagi_device_track *stream, dagi_track *driver, struct dag_task *t,
                       uint64_t begin, uint64_t end)
{
    if (stream)
        dagi_trace_task_on(&stream->log, driver, t, begin, end);
}

uint64_t dagi_trace_number(dagi_device_track *track)
{
    return track ? ++track->given : 0;
}

void dagi_trace_copy(dagi_device_track *link, uint64_t begin, uint64_t end, size_t bytes,
                     uint64_t id, uint64_t cause)
{
    const uint64_t more[] = {id & (DAGT_IS_JOIN - 1), cause};
    if (link)
        dagi_trace_event(link->trace, &link->log.buffer, dagi_trace_head(DAGT_COPY, 5,
                         (unsigned)(bytes >> 32), (uint32_t)bytes), begin, end, more);
}

void dagi_trace_drive(dagi_track *driver, uint64_t begin)
{
    dagi_trace_busy(driver, DAGT_DRIVE, begin, 0);
}

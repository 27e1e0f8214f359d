/* Start and end of recording: settings, tracks, the file, the section of this rank. */
#include "trace.h"

#include "file/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

int dagi_trace_wanted(const dagi_settings *settings)
{
#ifdef DAG_NO_TRACE
    (void)settings;
    return 0;
#else
    return (settings->trace[0] ? DAGI_TRACE_FILE : 0) | (settings->report ? DAGI_TRACE_REPORT : 0) |
           (settings->progress ? DAGI_TRACE_PROGRESS : 0) |
           (settings->overlap ? DAGI_TRACE_OVERLAP : 0);
#endif
}

uint32_t dagi_trace_task_bytes(const struct dagi_trace *trace, const dag_class *cls)
{
    return ((cls->task_bytes + 7u) & ~7u) + (uint32_t)sizeof(dagi_task_trace) +
           (trace->causes ? (cls->ndata + 1u) * (uint32_t)sizeof(uint64_t) : 0);
}

static dagi_track *new_track(struct dagi_trace *trace, struct dagi_worker *w)
{
    dagi_track *track = aligned_alloc(DAGI_LINE, (sizeof *track + DAGI_LINE - 1) / DAGI_LINE *
                                                     DAGI_LINE);
    if (!track)
        return NULL;
    memset((void *)track, 0, sizeof *track);
    track->trace = trace;
    track->worker = w;
    track->log.id = DAGT_TASK_ID(trace->head.rank, w->index, 0);
    dagi_buffer_init(&track->log.buffer, &trace->room);
    return track;
}

static void free_tracks(struct dagi_trace *trace)
{
    for (int i = 0; trace->tracks && i < trace->nworkers; i++) {
        dagi_track *track = trace->tracks[i];
        if (!track)
            continue;
        track->worker->track = NULL;
        dagi_buffer_free(&track->log.buffer);
        free(track->ran);
        free(track);
    }
    free(trace->tracks);
}

void dagi_trace_free(dag_context *ctx)
{
    struct dagi_trace *trace = ctx->trace;
    if (!trace)
        return;
    free_tracks(trace);
    for (int i = 0; i < trace->lists.ndevice_tracks; i++) {
        dagi_buffer_free(&trace->lists.device_tracks[i]->log.buffer);
        free(trace->lists.device_tracks[i]);
    }
    free(trace->lists.device_tracks);
    dagi_buffer_free(&trace->links);
    dagi_progress_free(trace);
    if (trace->file)
        fclose(trace->file);
    free(trace->lists.pools);
    free((void *)trace->lists.programs);
    pthread_mutex_destroy(&trace->lock);
    free(trace);
    ctx->trace = NULL;
}

/* ---- start -------------------------------------------------------------------------------- */

/* Rank 0 opens the file before the work, so that a wrong name costs nothing but this. */
static dag_status open_file(struct dagi_trace *trace, char *why, size_t why_size)
{
    const char *path = trace->ctx->settings.trace;
    struct stat info;
    if (trace->ctx->rank != 0 || !(trace->wanted & DAGI_TRACE_FILE))
        return DAG_SUCCESS;
    trace->file = fopen(path, "w+");
    if (!trace->file && errno != EISDIR) /* a pipe or a terminal cannot be read as well */
        trace->file = fopen(path, "w");
    if (!trace->file) {
        snprintf(why, why_size, "cannot write the trace '%s': %s; give the setting 'trace' a file "
                 "that can be written", path, strerror(errno));
        if (trace->ctx->size > 1) /* the launcher may end this rank before it is told */
            dagi_warn(trace->ctx, "%s", why);
        return DAG_ERR_IO;
    }
    trace->regular = fstat(fileno(trace->file), &info) == 0 && S_ISREG(info.st_mode);
    return DAG_SUCCESS;
}

/* About how long a tick is; the exact figure is known in the end. Where the clock is not the processor's counter a
 * tick is a nanosecond. Nothing is waited for then: simulated time would not pass in a loop that only looks. */
static void calibrate(struct dagi_trace *trace)
{
    enum { NANOSECONDS = 1000000 };
    uint64_t ticks[2] = {0}, ns[2] = {0};
    dagi_clock_init();
    dagi_clock_pair(&ticks[0], &ns[0]);
    while (dagi_clock_is_tsc && dagi_now() - ns[0] < NANOSECONDS)
        continue;
    dagi_clock_pair(&ticks[1], &ns[1]);
    trace->ns_per_tick =
        dagi_clock_is_tsc ? (double)(ns[1] - ns[0]) / (double)(ticks[1] - ticks[0]) : 1;
    trace->scale = (uint64_t)(trace->ns_per_tick * (1 << DAGI_SCALE_BITS));
}

static dag_status make_tracks(struct dagi_trace *trace, struct dagi_worker *const *workers)
{
    enum { GAP = 50000, AGE = 100000 }; /* nanoseconds */
    trace->gap = dagi_trace_ticks(trace, GAP);
    trace->age = dagi_trace_ticks(trace, AGE);
    trace->tracks = calloc((size_t)trace->nworkers, sizeof *trace->tracks);
    if (!trace->tracks)
        return DAG_ERR_NOMEM;
    for (int i = 0; i < trace->nworkers; i++) {
        dagi_track *track = new_track(trace, workers[i]);
        if (!track)
            return DAG_ERR_NOMEM;
        track->since = i ? dagi_clock() : 0;
        track->cause = DAGT_SLEEPING;
        workers[i]->track = trace->tracks[i] = track;
    }
    return DAG_SUCCESS;
}

dag_status dagi_trace_new(dag_context *ctx, int wanted, struct dagi_worker *const *workers,
                          int nworkers, char *why, size_t why_size)
{
    struct dagi_trace *trace = calloc(1, sizeof *trace);
    if (!trace)
        return DAG_ERR_NOMEM;
    ctx->trace = trace;
    trace->ctx = ctx;
    trace->wanted = wanted;
    trace->nworkers = nworkers;
    trace->head.rank = (uint64_t)ctx->rank;
    trace->head.workers = (uint64_t)nworkers;
    pthread_mutex_init(&trace->lock, NULL);
    atomic_store(&trace->room, ctx->settings.trace_bytes / DAGI_CHUNK_BYTES + 1);
    dagi_buffer_init(&trace->links, &trace->room);
    calibrate(trace);
    if (make_tracks(trace, workers) != DAG_SUCCESS ||
        ((trace->wanted & DAGI_TRACE_PROGRESS) && dagi_progress_new(trace) != 0))
        return DAG_ERR_NOMEM;
    return open_file(trace, why, why_size);
}

/* What others had under way is cut off at the start (record.c). */
void dagi_trace_begin(struct dagi_trace *trace)
{
    dagi_clock_pair(&trace->head.begin, &trace->begin_ns);
    if (trace->wanted & (DAGI_TRACE_FILE | DAGI_TRACE_REPORT | DAGI_TRACE_OVERLAP))
        atomic_store_explicit(&trace->recording, 1, memory_order_release);
}

/* ---- the section of this rank --------------------------------------------------------------- */

/* Words are counted first (out = NULL), then written. */
typedef struct writer {
    uint64_t *out;
    size_t used;
} writer;

static void put(writer *w, uint64_t word)
{
    if (w->out)
        w->out[w->used] = word;
    w->used++;
}

static void put_struct(writer *w, const void *data, size_t bytes)
{
    if (w->out)
        memcpy(w->out + w->used, data, bytes);
    w->used += bytes / 8;
}

static void put_string(writer *w, const char *text)
{
    size_t length = text ? strlen(text) : 0, words = (length + 7) / 8;
    put(w, length);
    if (w->out && words) {
        w->out[w->used + words - 1] = 0;
        memcpy(w->out + w->used, text, length);
    }
    w->used += words;
}

static void put_program(writer *w, const dag_program *program)
{
    put_string(w, program->name);
    put_string(w, program->file);
    put(w, (uint64_t)program->nclasses);
    for (int c = 0; c < program->nclasses; c++) {
        const dag_class *cls = program->classes[c];
        put_string(w, cls->name);
        put(w, (uint64_t)cls->line | (cls->copies ? DAGT_CLASS_COPIES : 0) | (uint64_t)cls->nparams << 32);
        for (int i = 0; i < cls->nparams; i++)
            put_string(w, cls->local_names ? cls->local_names[i] : "");
    }
}

static void put_track(writer *w, enum dagt_track_kind kind, uint32_t index, dagi_buffer *b)
{
    uint64_t words = dagi_buffer_words(b);
    put(w, DAGT_TRACK);
    put(w, (uint64_t)kind | (uint64_t)index << 32);
    put(w, b->events);
    put(w, words);
    if (w->out)
        dagi_buffer_move(b, w->out + w->used);
    w->used += words;
}

static void put_section(writer *w, struct dagi_trace *trace)
{
    put_struct(w, &trace->head, sizeof trace->head);
    for (int i = 0; i < trace->lists.nprograms; i++)
        put_program(w, trace->lists.programs[i]);
    put_struct(w, trace->lists.pools, (size_t)trace->lists.npools * sizeof *trace->lists.pools);
    for (int i = 0; i < trace->nworkers; i++)
        put_track(w, DAGT_TRACK_WORKER, (uint32_t)i, &trace->tracks[i]->log.buffer);
    for (int i = 0; i < trace->lists.ndevice_tracks; i++)
        put_track(w, trace->lists.device_tracks[i]->kind, trace->lists.device_tracks[i]->index,
                  &trace->lists.device_tracks[i]->log.buffer);
    put_track(w, DAGT_TRACK_LINKS, 0, &trace->links);
}

uint64_t *dagi_trace_section(struct dagi_trace *trace, size_t *words)
{
    writer count = {NULL, 2}, write = {NULL, 0};
    put_section(&count, trace);
    write.out = malloc(count.used * sizeof(uint64_t));
    if (!write.out)
        return NULL;
    put(&write, DAGT_SECTION);
    put(&write, count.used - 2);
    put_section(&write, trace);
    *words = write.used;
    return write.out;
}

/* ---- end ------------------------------------------------------------------------------------ */

static void close_buffer(struct dagi_trace *trace, dagi_buffer *b)
{
    dagi_buffer_close(b);
    trace->head.dropped += b->dropped;
}

void dagi_trace_close(struct dagi_trace *trace)
{
    uint64_t ns = 0;
    dagi_clock_pair(&trace->head.end, &ns);
    trace->head.ns_per_tick =
        (double)(ns - trace->begin_ns) / (double)(trace->head.end - trace->head.begin);
    for (int i = 0; i < trace->nworkers; i++) {
        dagi_track *track = trace->tracks[i];
        dagi_trace_end(track, trace->head.end);
        close_buffer(trace, &track->log.buffer);
    }
    for (int i = 0; i < trace->lists.ndevice_tracks; i++)
        close_buffer(trace, &trace->lists.device_tracks[i]->log.buffer);
    close_buffer(trace, &trace->links);
    trace->head.all_inputs = (uint64_t)trace->causes;
    trace->head.tracks = (uint64_t)(trace->nworkers + trace->lists.ndevice_tracks + 1);
    trace->head.pools = (uint64_t)trace->lists.npools;
    trace->head.programs = (uint64_t)trace->lists.nprograms;
    atomic_store(&trace->recording, 0);
}

/* ---- what the program says of its work ------------------------------------------------------ */

int dag_reports(const dag_context *context)
{
    return context && context->trace && (context->trace->wanted & DAGI_TRACE_REPORT);
}

void dag_report_work(dag_context *context, const dag_work *work)
{
    if (!context || !context->trace || !work)
        return;
    dagt_rank_head *head = &context->trace->head;
    head->flops = work->flops;
    head->seconds = work->seconds;
    head->peak = work->peak;
    head->nb = (uint64_t)work->nb;
    head->p = (uint64_t)work->p;
    head->q = (uint64_t)work->q;
}

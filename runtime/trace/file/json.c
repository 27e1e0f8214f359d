/*
 * A trace in the JSON of Chrome's trace viewer, which Perfetto (ui.perfetto.dev) reads as well.
 * Processes are ranks; their threads are workers, streams and links of devices, then one per link to
 * another rank and direction, on which transfers that overlap are asynchronous events.
 */
#include "model.h"

#include <stdlib.h>

enum { FIRST_LINK = 2 * DAGT_MAX_TRACKS }; /* threads before are numbered as the tracks are */

static const char *const causes[DAGT_CAUSES] = {"no ready task", "waiting for data", "waiting for send",
                                     "sleeping", "waiting for a core", "waiting for a device"};

static void put_name(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        if ((unsigned char)*text >= 0x20)
            fputc(*text, out);
    }
}

/* What each event begins with. Time is in microseconds. */
static void begin(FILE *out, const char *phase, int rank, int thread, int64_t time)
{
    fprintf(out, ",\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f", phase, rank, thread,
            (double)time * 1e-3);
}

static void span(FILE *out, int rank, int thread, int64_t from, int64_t to, const char *name,
                 const char *category)
{
    begin(out, "X", rank, thread, from);
    fprintf(out, ",\"dur\":%.3f,\"name\":\"%s\",\"cat\":\"%s\"}", (double)(to - from) * 1e-3, name,
            category);
}

static void put_task(FILE *out, const dagt_rank *rank, int r, int thread, const dagt_track *t,
                     const dagt_task *task)
{
    char name[512];
    const dagt_class *cls = dagt_class_of(rank, task);
    begin(out, "X", r, thread, task->begin);
    fprintf(out, ",\"dur\":%.3f,\"cat\":\"task", (double)(task->end - task->begin) * 1e-3);
    if (cls && cls->copies)
        fputs(",copies", out);
    if (task->critical)
        fputs(",critical", out);
    fputs("\",\"name\":\"", out);
    put_name(out, cls ? cls->name : "?");
    fputs("\",\"args\":{\"task\":\"", out);
    put_name(out, dagt_name(name, sizeof name, rank, t, task));
    fprintf(out, "\",\"priority\":%lld,\"pool\":%u,\"ready_for_us\":%.3f}}",
            (long long)task->priority, task->pool,
            task->begin > task->ready ? (double)(task->begin - task->ready) * 1e-3 : 0.0);
}

static void put_flight(FILE *out, int r, const dagt_flight *f, uint64_t id)
{
    const char *kind = f->message ? "message" : "transfer";
    int thread = FIRST_LINK + (int)f->peer * 2 + (f->out ? 0 : 1);
    begin(out, "b", r, thread, f->begin);
    fprintf(out, ",\"id\":%llu,\"cat\":\"%s\",\"name\":\"%s\",\"args\":{\"bytes\":%llu}}",
            (unsigned long long)id, f->out ? "send" : "receive", kind,
            (unsigned long long)f->bytes);
    begin(out, "e", r, thread, f->end);
    fprintf(out, ",\"id\":%llu,\"cat\":\"%s\",\"name\":\"%s\"}", (unsigned long long)id,
            f->out ? "send" : "receive", kind);
}

static void put_copy(FILE *out, int r, int thread, const dagt_flight *f)
{
    begin(out, "X", r, thread, f->begin);
    fprintf(out, ",\"dur\":%.3f,\"name\":\"copy\",\"cat\":\"copy%s\",\"args\":{\"bytes\":%llu}}",
            (double)(f->end - f->begin) * 1e-3, f->critical ? ",critical" : "",
            (unsigned long long)f->bytes);
}

/* Arrows from each step of a critical path to the next. An end of an arrow belongs to the slice around
 * its time, so the first lies a little before the end of its own. */
static void put_arrows(FILE *out, const dagt_trace *t, const dagt_path *path, uint64_t *arrows)
{
    dagt_step *steps = dagt_path_steps(t, path);
    for (size_t i = 1; steps && i < path->steps + path->copies; i++) {
        const dagt_step *a = &steps[i - 1], *b = &steps[i];
        int64_t from = a->task ? a->task->begin : a->copy->begin;
        int64_t end = a->task ? a->task->end : a->copy->end;
        ++*arrows;
        begin(out, "s", a->rank, a->track, end > from ? end - 1 : from);
        fprintf(out, ",\"id\":%llu,\"cat\":\"critical\",\"name\":\"critical path\"}",
                (unsigned long long)*arrows);
        begin(out, "f", b->rank, b->track, b->task ? b->task->begin : b->copy->begin);
        fprintf(out, ",\"bp\":\"e\",\"id\":%llu,\"cat\":\"critical\",\"name\":\"critical path\"}",
                (unsigned long long)*arrows);
    }
    free(steps);
}

static void name_thread(FILE *out, int rank, int thread, const char *name)
{
    fprintf(out, ",\n{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"thread_name\",\"args\":{"
            "\"name\":\"%s\"}}", rank, thread, name);
}

static void name_links(FILE *out, int rank, int nranks, const dagt_track *t)
{
    char *used = calloc((size_t)nranks * 2, 1);
    for (size_t i = 0; used && i < t->nflights; i++)
        if (t->flights[i].peer < (uint32_t)nranks)
            used[2 * t->flights[i].peer + (t->flights[i].out ? 0 : 1)] = 1;
    for (int i = 0; used && i < 2 * nranks; i++) {
        char name[40];
        snprintf(name, sizeof name, "%s rank %d", i % 2 ? "from" : "to", i / 2);
        if (used[i])
            name_thread(out, rank, FIRST_LINK + i, name);
    }
    free(used);
}

static void put_track(FILE *out, const dagt_trace *trace, int r, int number, uint64_t *flights)
{
    const dagt_rank *rank = &trace->ranks[r];
    const dagt_track *t = &rank->tracks[number];
    char label[64];
    if (t->kind == DAGT_TRACK_LINKS) {
        name_links(out, r, trace->nranks, t);
    } else { /* the rank stands above its threads */
        name_thread(out, r, number, dagt_label(label, sizeof label, -1, t));
    }
    for (size_t i = 0; i < t->ntasks; i++)
        put_task(out, rank, r, number, t, &t->tasks[i]);
    for (size_t i = 0; i < t->nspans; i++) {
        const dagt_span *s = &t->spans[i];
        if (s->kind == DAGT_IDLE)
            span(out, r, number, s->begin, s->end, causes[s->cause], "idle");
        else
            span(out, r, number, s->begin, s->end,
                 s->kind == DAGT_COMM    ? "messages"
                 : s->kind == DAGT_DRIVE ? "driving a device"
                                         : "application", "runtime");
    }
    for (size_t i = 0; i < t->nflights; i++) {
        if (t->kind == DAGT_TRACK_COPIES)
            put_copy(out, r, number, &t->flights[i]);
        else
            put_flight(out, r, &t->flights[i], ++*flights);
    }
}

int dagt_write_json(dagt_trace *trace, FILE *out)
{
    size_t n;
    uint64_t flights = 0, arrows = 0;
    dagt_path *paths = dagt_critical(trace, &n); /* marks the tasks */
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
          "{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"rank 0\"}}", out);
    for (int r = 0; r < trace->nranks; r++) {
        const dagt_rank *rank = &trace->ranks[r];
        if (r > 0)
            fprintf(out, ",\n{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\",\"args\":{"
                    "\"name\":\"rank %d\"}}", r, r);
        for (int k = 0; k < rank->ntracks; k++)
            put_track(out, trace, r, k, &flights);
    }
    for (size_t i = 0; paths && i < n; i++)
        put_arrows(out, trace, &paths[i], &arrows);
    free(paths);
    fputs("\n]}\n", out);
    return fflush(out) != 0 || ferror(out);
}

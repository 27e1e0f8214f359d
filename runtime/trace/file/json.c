/*
 * A trace in the JSON of Chrome's trace viewer, which Perfetto (ui.perfetto.dev) reads as well.
 * Processes are ranks; their threads are workers, then one per link and direction, on which
 * transfers that overlap are asynchronous events.
 */
#include "model.h"

#include <stdlib.h>

static const char *const causes[] = {"no ready task", "waiting for data", "waiting for send",
                                     "sleeping"};

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

static void put_task(FILE *out, const dagt_rank *rank, int r, const dagt_track *t,
                     const dagt_task *task)
{
    char name[512];
    const dagt_class *cls = dagt_class_of(rank, task);
    begin(out, "X", r, t->index, task->begin);
    fprintf(out, ",\"dur\":%.3f,\"cat\":\"task", (double)(task->end - task->begin) * 1e-3);
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
    int thread = 2000 + (int)f->peer * 2 + (f->out ? 0 : 1);
    begin(out, "b", r, thread, f->begin);
    fprintf(out, ",\"id\":%llu,\"cat\":\"%s\",\"name\":\"%s\",\"args\":{\"bytes\":%llu}}",
            (unsigned long long)id, f->out ? "send" : "receive", kind,
            (unsigned long long)f->bytes);
    begin(out, "e", r, thread, f->end);
    fprintf(out, ",\"id\":%llu,\"cat\":\"%s\",\"name\":\"%s\"}", (unsigned long long)id,
            f->out ? "send" : "receive", kind);
}

static void name_thread(FILE *out, int rank, int thread, const char *what, int number)
{
    fprintf(out, ",\n{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"thread_name\",\"args\":{"
            "\"name\":\"%s %d\"}}", rank, thread, what, number);
}

static void name_links(FILE *out, int rank, int nranks, const dagt_track *t)
{
    char *used = calloc((size_t)nranks * 2, 1);
    for (size_t i = 0; used && i < t->nflights; i++)
        if (t->flights[i].peer < (uint32_t)nranks)
            used[2 * t->flights[i].peer + (t->flights[i].out ? 0 : 1)] = 1;
    for (int i = 0; used && i < 2 * nranks; i++) {
        if (used[i])
            name_thread(out, rank, 2000 + i, i % 2 ? "from rank" : "to rank", i / 2);
    }
    free(used);
}

static void put_track(FILE *out, const dagt_trace *trace, int r, const dagt_track *t,
                      uint64_t *flights)
{
    const dagt_rank *rank = &trace->ranks[r];
    if (t->kind == DAGT_TRACK_WORKER)
        name_thread(out, r, t->index, "worker", t->index);
    else
        name_links(out, r, trace->nranks, t);
    for (size_t i = 0; i < t->ntasks; i++)
        put_task(out, rank, r, t, &t->tasks[i]);
    for (size_t i = 0; i < t->nspans; i++) {
        const dagt_span *s = &t->spans[i];
        if (s->kind == DAGT_IDLE)
            span(out, r, t->index, s->begin, s->end, causes[s->cause], "idle");
        else
            span(out, r, t->index, s->begin, s->end,
                 s->kind == DAGT_COMM ? "messages" : "application", "runtime");
    }
    for (size_t i = 0; i < t->nflights; i++)
        put_flight(out, r, &t->flights[i], ++*flights);
}

int dagt_write_json(dagt_trace *trace, FILE *out)
{
    size_t n;
    uint64_t flights = 0;
    free(dagt_critical(trace, &n)); /* marks the tasks */
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
          "{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"rank 0\"}}", out);
    for (int r = 0; r < trace->nranks; r++) {
        const dagt_rank *rank = &trace->ranks[r];
        if (r > 0)
            fprintf(out, ",\n{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\",\"args\":{"
                    "\"name\":\"rank %d\"}}", r, r);
        for (int k = 0; k < rank->ntracks; k++)
            put_track(out, trace, r, &rank->tracks[k], &flights);
    }
    fputs("\n]}\n", out);
    return fflush(out) != 0 || ferror(out);
}

/*
 * The bar on the terminal of rank 0: tasks done of all ranks.
 *
 * Each rank looks at most ten times a second, when one of its workers has run a task or is idle;
 * others than rank 0 then tell it their counts, if these have changed. A *batch* are the pools from
 * one moment without open pools to the next; its number is that of its first pool, so that ranks
 * that are not yet or no longer at the same batch are told apart.
 */
#include <dag/progress.h>

#include "trace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PERIOD = 100000000 }; /* nanoseconds between looks */
enum { BAR = 30 };

/* Ticks in bodies on a worker, by class. The worker adds, anybody reads. A class gets the first free place
 * and keeps it; what finds none is `lost`. */
enum { CLASSES = 64 };
struct dagi_ran {
    struct {
        const dag_class *_Atomic cls; /* relaxed: it is set once, and classes live for ever */
        _Atomic uint64_t ticks;
    } of[CLASSES];
    _Atomic int lost;
};

/* Tasks of a rank, as it tells rank 0. */
typedef struct counts {
    uint64_t batch;
    int64_t done, total; /* total < 0: cannot be counted */
} counts;

struct dagi_progress {
    _Atomic uint64_t next; /* ticks when it is time to look again */
    uint64_t period;       /* ticks */
    pthread_mutex_t lock;  /* guards all below; innermost but for trace->lock */
    counts mine;           /* done: as of the latest look */
    uint64_t base;         /* tasks that the tracks had counted when the batch began */
    int64_t told_done;     /* ranks > 0: what rank 0 knows */
    uint64_t told_batch;
    counts *ranks;         /* rank 0: [size], what others have told */
    FILE *terminal;        /* rank 0; NULL = none */
    uint64_t begin;        /* dagi_now() when the batch began */
    int active;            /* a batch is under way */
    int shown;             /* a bar stands on the terminal, its line is not ended */
};

/* stderr, if it is a terminal. Under a launcher it is a pipe even if there is one; then the
 * terminal of the job. */
static FILE *open_terminal(const dag_context *ctx)
{
    if (ctx->rank != 0)
        return NULL;
    int fd = isatty(STDERR_FILENO) ? dup(STDERR_FILENO) : -1;
    if (fd >= 0)
        return fdopen(fd, "w");
    return ctx->size > 1 ? fopen("/dev/tty", "w") : NULL;
}

int dagi_progress_new(struct dagi_trace *trace)
{
    const dag_context *ctx = trace->ctx;
    struct dagi_progress *p = calloc(1, sizeof *p);
    if (!p)
        return 1;
    p->ranks = calloc((size_t)ctx->size, sizeof *p->ranks);
    for (int i = 0; p->ranks && i < trace->nworkers; i++)
        if (!(trace->tracks[i]->ran = calloc(1, sizeof *trace->tracks[i]->ran))) {
            free(p->ranks);
            p->ranks = NULL;
        }
    if (!p->ranks) {
        free(p);
        return 1;
    }
    pthread_mutex_init(&p->lock, NULL);
    p->terminal = open_terminal(ctx);
    trace->progress = p;
    return 0;
}

void dagi_progress_free(struct dagi_trace *trace)
{
    struct dagi_progress *p = trace->progress;
    if (!p)
        return;
    if (p->terminal)
        fclose(p->terminal);
    pthread_mutex_destroy(&p->lock);
    free(p->ranks);
    free(p);
    trace->progress = NULL;
}

static uint64_t tasks_done(const struct dagi_trace *trace)
{
    uint64_t done = 0;
    for (int i = 0; i < trace->nworkers; i++)
        done += atomic_load_explicit(&trace->tracks[i]->done, memory_order_relaxed);
    return done;
}

/* ---- the bar ------------------------------------------------------------------------------ */

/* Sum over the ranks; total < 0 when it is not known (yet). */
static counts sum_up(const struct dagi_trace *trace)
{
    const struct dagi_progress *p = trace->progress;
    counts sum = p->mine;
    for (int r = 1; r < trace->ctx->size; r++) {
        const counts *c = &p->ranks[r];
        if (c->batch != sum.batch || c->total < 0 || sum.total < 0)
            sum.total = -1;
        else
            sum.total += c->total;
        if (c->batch == sum.batch)
            sum.done += c->done;
    }
    return sum;
}

static void draw(const struct dagi_trace *trace, const counts *c, const char *end)
{
    struct dagi_progress *p = trace->progress;
    double seconds = (double)(dagi_now() - p->begin) * 1e-9;
    double rate = seconds > 0 ? (double)c->done / seconds : 0;
    char bar[BAR + 1], text[200];
    if (c->total > 0) {
        int filled = (int)((double)BAR * (double)c->done / (double)c->total);
        for (int i = 0; i < BAR; i++)
            bar[i] = i < filled ? '#' : '.';
        bar[BAR] = '\0';
        double left = rate > 0 ? (double)(c->total - c->done) / rate : 0;
        snprintf(text, sizeof text, "[%s] %3d%% %lld/%lld tasks, %.4g/s, %s %d:%02d", bar,
                 (int)(100.0 * (double)c->done / (double)c->total), (long long)c->done,
                 (long long)c->total, rate, *end ? "took" : "ETA",
                 (int)((*end ? seconds : left) / 60), (int)(*end ? seconds : left) % 60);
    } else {
        snprintf(text, sizeof text, "%lld tasks, %.4g/s, %d:%02d", (long long)c->done, rate,
                 (int)(seconds / 60), (int)seconds % 60);
    }
    fprintf(p->terminal, "\r%s\033[K%s", text, end);
    fflush(p->terminal);
    p->shown = *end == '\0';
}

static void look(const struct dagi_trace *trace)
{
    struct dagi_progress *p = trace->progress;
    p->mine.done = (int64_t)(tasks_done(trace) - p->base);
    if (p->terminal) {
        counts sum = sum_up(trace);
        draw(trace, &sum, "");
    }
}

void dagi_progress_look(dagi_track *track, uint64_t now)
{
    struct dagi_trace *trace = track->trace;
    struct dagi_progress *p = trace->progress;
    uint64_t next = atomic_load_explicit(&p->next, memory_order_relaxed);
    track->next_look = next;
    if (now < next || pthread_mutex_trylock(&p->lock) != 0)
        return;
    if (!p->period)
        p->period = (uint64_t)(PERIOD / trace->ns_per_tick);
    track->next_look = now + p->period;
    atomic_store_explicit(&p->next, now + p->period, memory_order_relaxed);
    int rank = trace->ctx->rank;
    if (p->active)
        look(trace);
    counts tell = p->mine;
    int news = rank > 0 && p->active &&
               (p->told_done != tell.done || p->told_batch != tell.batch);
    pthread_mutex_unlock(&p->lock);
    /* Without the lock: who sends may be given messages to handle. */
    if (!news || !trace->tell(track->worker, &tell, sizeof tell))
        return;
    pthread_mutex_lock(&p->lock);
    p->told_done = tell.done;
    p->told_batch = tell.batch;
    pthread_mutex_unlock(&p->lock);
}

void dagi_progress_told(struct dagi_trace *trace, int rank, const void *data, size_t bytes)
{
    struct dagi_progress *p = trace->progress;
    counts told;
    if (!p || bytes < sizeof told || rank >= trace->ctx->size)
        return;
    memcpy(&told, data, sizeof told);
    pthread_mutex_lock(&p->lock);
    if (told.batch > p->ranks[rank].batch ||
        (told.batch == p->ranks[rank].batch && told.done >= p->ranks[rank].done))
        p->ranks[rank] = told;
    pthread_mutex_unlock(&p->lock);
}

/* ---- what a program may ask for -------------------------------------------------------------- */

int dag_progress_get(const dag_context *context, dag_progress *progress)
{
    struct dagi_progress *p = context && DAGI_TRACE(context) ? DAGI_TRACE(context)->progress : NULL;
    if (!p || !progress)
        return 0;
    pthread_mutex_lock(&p->lock);
    counts sum = sum_up(DAGI_TRACE(context));
    *progress = (dag_progress){p->active ? (int64_t)sum.batch : 0, sum.done, sum.total};
    pthread_mutex_unlock(&p->lock);
    return 1;
}

void dagi_progress_ran(dagi_track *track, const dag_class *cls, uint64_t ticks)
{
    struct dagi_ran *ran = track->ran;
    for (int i = 0; i < CLASSES; i++) {
        const dag_class *there = atomic_load_explicit(&ran->of[i].cls, memory_order_relaxed);
        if (there == NULL)
            atomic_store_explicit(&ran->of[i].cls, cls, memory_order_relaxed);
        if (there == NULL || there == cls) {
            uint64_t sum = atomic_load_explicit(&ran->of[i].ticks, memory_order_relaxed);
            atomic_store_explicit(&ran->of[i].ticks, sum + ticks, memory_order_relaxed);
            return;
        }
    }
    atomic_store_explicit(&ran->lost, 1, memory_order_relaxed);
}

double dag_class_seconds(const dag_context *context, const char *name)
{
    const struct dagi_trace *trace = context ? DAGI_TRACE(context) : NULL;
    double ticks = 0;
    for (int w = 0; trace && w < trace->nworkers; w++) {
        struct dagi_ran *ran = trace->tracks[w]->ran;
        if (!ran || atomic_load_explicit(&ran->lost, memory_order_relaxed))
            return -1;
        for (int i = 0; i < CLASSES; i++) {
            const dag_class *cls = atomic_load_explicit(&ran->of[i].cls, memory_order_relaxed);
            if (cls && strcmp(cls->name, name) == 0)
                ticks += (double)atomic_load_explicit(&ran->of[i].ticks, memory_order_relaxed);
        }
    }
    return trace ? ticks * trace->ns_per_tick * 1e-9 : -1;
}

/* ---- batches ------------------------------------------------------------------------------ */

void dagi_progress_added(struct dagi_trace *trace, uint32_t pool, int64_t tasks)
{
    struct dagi_progress *p = trace->progress;
    pthread_mutex_lock(&p->lock);
    if (!p->active) {
        p->active = 1;
        p->base = tasks_done(trace);
        p->mine = (counts){.batch = pool};
        p->begin = dagi_now();
    }
    if (tasks < 0 || p->mine.total < 0)
        p->mine.total = -1;
    else
        p->mine.total += tasks;
    pthread_mutex_unlock(&p->lock);
}

void dagi_progress_idle(struct dagi_trace *trace, int failed)
{
    struct dagi_progress *p = trace->progress;
    pthread_mutex_lock(&p->lock);
    p->active = 0;
    if (p->shown) {
        p->mine.done = (int64_t)(tasks_done(trace) - p->base);
        counts sum = sum_up(trace);
        if (!failed && sum.total >= 0)
            sum.done = sum.total; /* as all have agreed */
        draw(trace, &sum, "\n");
    }
    pthread_mutex_unlock(&p->lock);
}

/*
 * What ranks tell each other of a trace: their clocks, at the start and at the end, and in the end
 * all that they have recorded.
 *
 * All of it is led by rank 0 and goes through the runtime's own communication: worker 0 waits in
 * dagi_run_until() until a message has come. At the end no other thread runs any more. So a job
 * needs no file system that its ranks share, and rank 0 never holds
 * more than a piece of another's section.
 *
 *   PING    0 -> r   what time is it there?                       PONG
 *   BEGIN   0 -> r   clocks are known: record from now on         BEGUN: have you devices?
 *   STATUS  0 -> r   all record, any has devices; at the end: all is written, or it failed
 *   ASK     0 -> r   the next piece of your section               PIECE and a bulk transfer
 *   TOLD    r -> 0   progress: tasks done and in all (progress.c)
 */
#include "../comm/comm.h"
#include "../task/task.h"
#include "../worker/worker.h"
#include "trace.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 12 };
enum { PIECE_WORDS = 1 << 20 };

enum what { PING = 1, PONG, BEGIN, BEGUN, STATUS, ASK, PIECE, TOLD };

typedef struct message {
    uint8_t kind; /* DAGI_AM_TRACE */
    uint8_t what;
    uint16_t unused;
    uint32_t last; /* PIECE: 1 = no more */
    uint64_t a, b;
} message;

/*
 * Worker 0 waits for one message at a time, so `got` has one writer, the holder of the lock of comm,
 * until `news` is set, and one reader after that.
 */
struct dagi_gather {
    struct dagi_trace *trace;
    struct dagi_worker *w;
    dagi_clock_point *first, *last; /* rank 0: [size]; at the start, at the end */
    int compared;            /* how often clocks have been */
    _Atomic int news;        /* 1: the message waited for has come; it is in `got` */
    message got;
    _Atomic int transferred; /* 1: the transfer waited for is complete */
};

/* ---- messages ----------------------------------------------------------------------------- */

/* A message of trace or progress, under the lock of comm. */
static void hear(struct dagi_gather *g, int source, const void *data, size_t bytes)
{
    const message *m = data;
    if (bytes < sizeof *m)
        return;
    if (m->what == PING) { /* at once: each moment makes the answer worth less */
        message pong = {.kind = DAGI_AM_TRACE, .what = PONG, .a = m->a, .b = dagi_clock()};
        dagi_comm_trace_reply(g->trace->ctx, source, &pong, sizeof pong);
    } else if (m->what == BEGIN) { /* before the next message, which is to be in the trace */
        message begun = {.kind = DAGI_AM_TRACE, .what = BEGUN,
                         .a = dagi_tasks(g->trace->ctx)->devices != NULL};
        dagi_trace_begin(g->trace);
        dagi_comm_trace_reply(g->trace->ctx, source, &begun, sizeof begun);
    } else if (m->what == TOLD) {
        dagi_progress_told(g->trace, source, m + 1, bytes - sizeof *m);
    } else {
        g->got = *m;
        atomic_store(&g->news, 1);
    }
}

/* Any worker: 0 when it could not be sent now. */
static int tell(struct dagi_worker *w, const void *data, size_t bytes)
{
    _Alignas(8) char text[sizeof(message) + 64];
    message *m = (message *)(void *)text;
    *m = (message){.kind = DAGI_AM_TRACE, .what = TOLD};
    memcpy(m + 1, data, bytes);
    return dagi_comm_trace_message(w, 0, text, sizeof *m + bytes);
}

struct dagi_gather *dagi_gather_new(struct dagi_trace *trace)
{
    dag_context *ctx = trace->ctx;
    struct dagi_gather *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->trace = trace;
    g->w = dagi_tasks(ctx)->workers[0];
    trace->gather = g;
    trace->heard = hear;
    trace->tell = tell;
    if (ctx->rank == 0 && ctx->size > 1) {
        g->first = calloc((size_t)ctx->size, sizeof *g->first);
        g->last = calloc((size_t)ctx->size, sizeof *g->last);
        if (!g->first || !g->last) {
            dagi_gather_free(g);
            return NULL;
        }
    }
    return g;
}

void dagi_gather_free(struct dagi_gather *g)
{
    if (!g)
        return;
    g->trace->gather = NULL;
    free(g->first);
    free(g->last);
    free(g);
}

static void send(struct dagi_gather *g, int dest, message m)
{
    m.kind = DAGI_AM_TRACE;
    while (!dagi_comm_trace_message(g->w, dest, &m, sizeof m))
        sched_yield(); /* another worker makes progress */
}

static int has_news(void *arg)
{
    const struct dagi_gather *g = arg;
    return atomic_load(&g->news);
}

static int has_transferred(void *arg)
{
    const struct dagi_gather *g = arg;
    return atomic_load(&g->transferred);
}

static const message *wait_for_news(struct dagi_gather *g)
{
    dagi_run_until(g->w, has_news, g);
    atomic_store(&g->news, 0);
    return &g->got;
}

static void on_transferred(void *arg, dag_status status)
{
    struct dagi_gather *g = arg;
    (void)status; /* errors of MPI are fatal */
    atomic_store(&g->transferred, 1);
}

static void tell_all(struct dagi_gather *g, dag_status status)
{
    for (int r = 1; r < g->trace->ctx->size; r++)
        send(g, r, (message){.what = STATUS, .a = (uint64_t)status,
                             .b = (uint64_t)g->trace->causes});
}

/* ---- clocks ------------------------------------------------------------------------------- */

static dagi_clock_point ask_clock(struct dagi_gather *g, int rank)
{
    dagi_clock_sample sample[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        sample[i].before = dagi_clock();
        send(g, rank, (message){.what = PING, .a = (uint64_t)i});
        sample[i].there = wait_for_news(g)->b;
        sample[i].after = dagi_clock(); /* later than it came, which makes the sample worse, not
                                           wrong */
    }
    return dagi_clock_best(sample, SAMPLES);
}

void dagi_gather_clocks(struct dagi_gather *g)
{
    const dag_context *ctx = g->trace->ctx;
    dagi_clock_point *points = g->compared++ ? g->last : g->first;
    for (int r = 1; r < ctx->size; r++)
        points[r] = ask_clock(g, r);
}

/* Nobody goes on before all record, so no message is in the trace of one of its ranks only. */
void dagi_gather_begin(struct dagi_gather *g)
{
    const dag_context *ctx = g->trace->ctx;
    if (ctx->rank > 0) { /* BEGIN comes before */
        g->trace->causes = wait_for_news(g)->b != 0;
        return;
    }
    dagi_gather_clocks(g);
    dagi_trace_begin(g->trace);
    g->trace->causes = dagi_tasks(ctx)->devices != NULL || ctx->settings.trace_inputs;
    for (int r = 1; r < ctx->size; r++) {
        send(g, r, (message){.what = BEGIN});
        g->trace->causes |= wait_for_news(g)->a != 0;
    }
    tell_all(g, DAG_SUCCESS);
}

/* Where the clock of a rank lies on ours. */
static void place_clock(const struct dagi_gather *g, dagt_rank_head *head, int rank)
{
    const dagt_rank_head *mine = &g->trace->head;
    const dagi_clock_point *first = &g->first[rank], *last = &g->last[rank];
    double rate = dagi_clock_rate(first, last);
    double error = first->error;
    if (rate > 0 && last->error > error)
        error = last->error;
    if (rate == 0)
        rate = head->ns_per_tick / mine->ns_per_tick;
    double here = first->here + ((double)head->begin - first->there) * rate;
    head->start = (here - (double)mine->begin) * mine->ns_per_tick;
    head->ns_per_tick = rate * mine->ns_per_tick;
    head->clock_error = error * mine->ns_per_tick;
}

/* ---- sections ----------------------------------------------------------------------------- */

static dag_status write_words(FILE *out, const uint64_t *word, size_t words)
{
    return fwrite(word, sizeof *word, words, out) == words ? DAG_SUCCESS : DAG_ERR_IO;
}

/* The section of another rank, piece by piece. */
static dag_status fetch(struct dagi_gather *g, int rank, FILE *out, uint64_t *piece)
{
    int last = 0;
    dag_status status = DAG_SUCCESS;
    for (int first = 1; !last && status == DAG_SUCCESS; first = 0) {
        send(g, rank, (message){.what = ASK});
        message m = *wait_for_news(g);
        size_t words = (size_t)m.a;
        last = (int)m.last;
        if (words == 0)
            return DAG_ERR_NOMEM;
        atomic_store(&g->transferred, 0);
        dagi_comm_trace_transfer(g->w, 0, rank, (uint32_t)m.b, piece, words * sizeof *piece,
                                 on_transferred, g);
        dagi_run_until(g->w, has_transferred, g);
        if (first)
            place_clock(g, (dagt_rank_head *)(void *)(piece + 2), rank);
        status = write_words(out, piece, words);
    }
    return status;
}

dag_status dagi_gather_lead(struct dagi_gather *g, FILE *out)
{
    const dag_context *ctx = g->trace->ctx;
    size_t words = 0;
    uint64_t *mine = dagi_trace_section(g->trace, &words);
    uint64_t *piece = ctx->size > 1 ? malloc(PIECE_WORDS * sizeof *piece) : NULL;
    dag_status status = mine && (ctx->size == 1 || piece) ? DAG_SUCCESS : DAG_ERR_NOMEM;
    const uint64_t head[2] = {DAGT_MAGIC, DAGT_VERSION | (uint64_t)ctx->size << 32};
    if (status == DAG_SUCCESS)
        status = write_words(out, head, 2);
    if (status == DAG_SUCCESS)
        status = write_words(out, mine, words);
    for (int r = 1; r < ctx->size && status == DAG_SUCCESS; r++)
        status = fetch(g, r, out, piece);
    if (status == DAG_SUCCESS && fflush(out) != 0)
        status = DAG_ERR_IO;
    int error = errno;
    free(piece);
    free(mine);
    errno = error;
    return status;
}

/* Give a piece whenever asked, until told that it is over. */
dag_status dagi_gather_follow(struct dagi_gather *g)
{
    size_t at = 0, words = 0;
    uint64_t *mine = dagi_trace_section(g->trace, &words);
    for (;;) {
        message m = *wait_for_news(g);
        if (m.what == STATUS) {
            free(mine);
            return (dag_status)m.a;
        }
        size_t n = !mine ? 0 : words - at < PIECE_WORDS ? words - at : PIECE_WORDS;
        uint32_t tag = 0;
        atomic_store(&g->transferred, n == 0);
        if (n)
            tag = dagi_comm_trace_transfer(g->w, 1, 0, 0, mine + at, n * sizeof *mine,
                                           on_transferred, g);
        at += n;
        send(g, 0, (message){.what = PIECE, .a = n, .b = tag, .last = at == words});
        dagi_run_until(g->w, has_transferred, g);
    }
}

void dagi_gather_conclude(struct dagi_gather *g, dag_status status)
{
    if (g->trace->ctx->rank == 0)
        tell_all(g, status);
}

/* Reading of traces; format.h says what a file looks like. Nothing in a file is believed. */
#include "model.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARAMS = 255 };

/* A section while it is parsed. Once `bad` is set nothing more is read. */
typedef struct reader {
    const uint64_t *at, *end;
    const dagt_rank_head *head;
    bool bad, no_memory;
} reader;

/* NULL instead of `t`, which is freed, and a sentence into `why`. */
#define REFUSE(t, why, size, ...) (snprintf(why, size, __VA_ARGS__), dagt_free(t), NULL)

/* ---- words -------------------------------------------------------------------------------- */

static uint64_t take(reader *r)
{
    if (r->bad || r->at == r->end) {
        r->bad = true;
        return 0;
    }
    return *r->at++;
}

static const uint64_t *take_words(reader *r, uint64_t n)
{
    if (r->bad || (uint64_t)(r->end - r->at) < n) {
        r->bad = true;
        return NULL;
    }
    const uint64_t *words = r->at;
    r->at += n;
    return words;
}

/* n items of some size, zeroed; each takes at least a word of the file. */
static void *make(reader *r, uint64_t n, size_t size)
{
    if (r->bad || n > (uint64_t)(r->end - r->at)) {
        r->bad = true;
        return NULL;
    }
    void *p = calloc((size_t)n + 1, size);
    if (!p)
        r->bad = r->no_memory = true;
    return p;
}

static char *take_string(reader *r)
{
    uint64_t length = take(r);
    const uint64_t *words = length > 1u << 20 ? NULL : take_words(r, (length + 7) / 8);
    char *text = words || length == 0 ? calloc((size_t)length + 1, 1) : NULL;
    if (!text) {
        r->bad = true;
        return NULL;
    }
    if (length)
        memcpy(text, words, (size_t)length);
    return text;
}

/* Nanoseconds since rank 0 began. No run takes 50 days: what is beyond is damage, and is left out so
 * that nobody need fear to add times up. */
static int64_t time_of(const reader *r, uint64_t ticks)
{
    const double longest = 4.3e15;
    double ns = r->head->start + (double)(int64_t)(ticks - r->head->begin) * r->head->ns_per_tick;
    return ns > -longest && ns < longest ? (int64_t)ns : 0;
}

/* ---- programs and pools ------------------------------------------------------------------- */

static void read_class(reader *r, dagt_class *c)
{
    c->name = take_string(r);
    uint64_t word = take(r);
    c->line = (int)(word & 0x7fffffff);
    c->copies = (word & DAGT_CLASS_COPIES) != 0;
    uint64_t n = word >> 32;
    if (n > MOST_PARAMS)
        r->bad = true;
    c->params = make(r, n, sizeof *c->params);
    for (; !r->bad && (uint64_t)c->nparams < n; c->nparams++)
        c->params[c->nparams] = take_string(r);
}

static void read_programs(reader *r, dagt_rank *rank)
{
    uint64_t n = rank->head.programs;
    rank->programs = make(r, n, sizeof *rank->programs);
    for (; !r->bad && (uint64_t)rank->nprograms < n; rank->nprograms++) {
        dagt_program *p = &rank->programs[rank->nprograms];
        p->name = take_string(r);
        p->file = take_string(r);
        uint64_t classes = take(r);
        p->classes = make(r, classes, sizeof *p->classes);
        for (; !r->bad && (uint64_t)p->nclasses < classes; p->nclasses++)
            read_class(r, &p->classes[p->nclasses]);
    }
}

static void read_pools(reader *r, dagt_rank *rank)
{
    uint64_t n = rank->head.pools;
    rank->pools = make(r, n, sizeof *rank->pools);
    for (; !r->bad && (uint64_t)rank->npools < n; rank->npools++) {
        dagt_pool_head head;
        const uint64_t *words = take_words(r, sizeof head / 8);
        if (!words)
            return;
        memcpy(&head, words, sizeof head);
        rank->pools[rank->npools] = (dagt_pool){
            .id = head.id,
            .program = head.program < (uint64_t)rank->nprograms ? (int)head.program : -1,
            .begin = time_of(r, head.begin),
            .end = head.end ? time_of(r, head.end) : rank->end,
            .tasks = head.tasks,
            .renames = head.renames,
            .messages = head.messages,
            .bytes = head.bytes,
        };
    }
}

/* ---- tracks ------------------------------------------------------------------------------- */

/* What becomes of the kinds of events, and the words that each has at least. */
enum { NOTHING, TASK, SPAN, FLIGHT, JOIN, CAST };
static const uint8_t sort[DAGT_EVENTS] = {
    [DAGT_TASK] = TASK,           [DAGT_BRIEF] = TASK,        [DAGT_IDLE] = SPAN,
    [DAGT_OUTSIDE] = SPAN,        [DAGT_COMM] = SPAN,         [DAGT_DRIVE] = SPAN,
    [DAGT_MESSAGE_OUT] = FLIGHT,  [DAGT_MESSAGE_IN] = FLIGHT, [DAGT_TRANSFER_OUT] = FLIGHT,
    [DAGT_TRANSFER_IN] = FLIGHT,  [DAGT_COPY] = FLIGHT,       [DAGT_JOIN] = JOIN,
    [DAGT_BROADCAST] = CAST,      [DAGT_RECEIVED] = CAST};
static const uint8_t least[DAGT_EVENTS] = {
    [DAGT_TASK] = 6,        [DAGT_BRIEF] = 4,      [DAGT_IDLE] = 3,         [DAGT_OUTSIDE] = 3,
    [DAGT_COMM] = 3,        [DAGT_DRIVE] = 3,      [DAGT_STEAL] = 2,        [DAGT_MESSAGE_OUT] = 3,
    [DAGT_MESSAGE_IN] = 3,  [DAGT_TRANSFER_OUT] = 5, [DAGT_TRANSFER_IN] = 5, [DAGT_COPY] = 5,
    [DAGT_JOIN] = 3,        [DAGT_BROADCAST] = DAGT_BROADCAST_WORDS, [DAGT_RECEIVED] = 3};

static void count_events(const uint64_t *at, const uint64_t *end, dagt_track *t)
{
    while (at < end) {
        unsigned kind = *at & 0xff, words = *at >> 8 & 0xff;
        if (words == 0 || (ptrdiff_t)words > end - at)
            return;
        if (kind < DAGT_EVENTS && words >= least[kind]) {
            t->ntasks += sort[kind] == TASK;
            t->nspans += sort[kind] == SPAN;
            t->nflights += sort[kind] == FLIGHT;
            t->njoins += sort[kind] == JOIN;
            t->ncasts += sort[kind] == CAST;
            t->nparams += sort[kind] == TASK ? 2 * words : 0;
        }
        at += words;
    }
}

/* What DAGT_BRIEF tells relative to. */
typedef struct previous {
    uint64_t last;
    uint32_t pool;
} previous;

static void read_task(const reader *r, const uint64_t *e, unsigned words, dagt_track *t,
                      previous *before)
{
    dagt_task *task = &t->tasks[t->ntasks++];
    const int32_t *half = (const int32_t *)(const void *)(e + 3); /* of DAGT_BRIEF, priority first */
    int brief = (*e & 0xff) == DAGT_BRIEF;
    uint64_t begin = brief ? before->last + (uint32_t)e[1] : e[1];
    uint64_t end = brief ? begin + (e[0] >> 32) : e[2];
    unsigned params = brief ? 2 * (words - 3) - 1 : 2 * (words - 6);
    *task = (dagt_task){
        .begin = time_of(r, begin),
        .end = time_of(r, end),
        .ready = time_of(r, brief ? begin - (e[1] >> 32) : e[3]),
        .from = brief ? e[2] : e[4],
        .priority = brief ? *half : (int64_t)e[5],
        .pool = brief ? before->pool : (uint32_t)(e[0] >> 32),
        .cls = (uint16_t)(e[0] >> 16),
        .params = (uint32_t)t->nparams,
    };
    memcpy(t->params + t->nparams, brief ? half + 1 : (const int32_t *)(const void *)(e + 6),
           params * sizeof *half);
    t->nparams += params;
    *before = (previous){end, task->pool};
}

static void read_flight(const reader *r, const uint64_t *e, unsigned kind, dagt_track *t)
{
    int message = kind == DAGT_MESSAGE_OUT || kind == DAGT_MESSAGE_IN, copy = kind == DAGT_COPY;
    int64_t begin = time_of(r, e[1]);
    t->flights[t->nflights++] = (dagt_flight){
        .begin = begin,
        .end = message ? begin : time_of(r, e[2]),
        .bytes = message ? e[2] : copy ? (e[0] >> 16 & 0xffff) << 32 | e[0] >> 32 : e[3],
        .peer = copy ? 0 : (uint32_t)(e[0] >> 32),
        .out = copy || kind == DAGT_MESSAGE_OUT || kind == DAGT_TRANSFER_OUT,
        .message = message ? (uint8_t)(e[0] >> 16) : 0,
        .tag = message || copy ? 0 : (uint32_t)e[4],
        .place = copy ? e[3] : 0,
        .from = copy ? e[4] : 0,
    };
}

/* What goes to nobody is none. */
static void read_cast(const reader *r, const uint64_t *e, unsigned kind, dagt_track *t)
{
    dagt_cast c = {.time = time_of(r, e[1]), .serial = (uint32_t)e[2], .root = (uint32_t)(e[0] >> 32)};
    if (kind == DAGT_BROADCAST) {
        c.root = (uint32_t)r->head->rank;
        c.ranks = (uint32_t)(e[2] >> 32);
        c.bytes = e[3];
        memcpy(&c.predicted, &e[4], sizeof c.predicted);
        memcpy(c.tree, &e[5], sizeof c.tree);
        c.pool = (uint32_t)(e[0] >> 32);
        c.cls = (uint16_t)(e[0] >> 16);
    }
    if (kind == DAGT_RECEIVED || c.ranks > 0)
        t->casts[t->ncasts++] = c;
}

static void read_event(const reader *r, const uint64_t *e, unsigned kind, unsigned words,
                       dagt_track *t, previous *before)
{
    if (kind == 0 || kind >= DAGT_EVENTS || words < least[kind])
        return;
    if (sort[kind] == TASK) {
        read_task(r, e, words, t, before);
    } else if (kind == DAGT_STEAL) {
        t->steals++;
    } else if (sort[kind] == FLIGHT) {
        read_flight(r, e, kind, t);
    } else if (sort[kind] == CAST) {
        read_cast(r, e, kind, t);
    } else if (sort[kind] == JOIN) {
        t->joins[t->njoins++] = (dagt_join){.from = {e[1], e[2]}};
    } else {
        unsigned a = e[0] >> 16 & 0xffff;
        t->spans[t->nspans++] = (dagt_span){
            .begin = time_of(r, e[1]),
            .end = time_of(r, e[2]),
            .kind = (uint8_t)kind,
            .cause = (uint8_t)((a & 0xff) < DAGT_CAUSES ? a & 0xff : DAGT_NO_TASK),
            .asleep = (a & DAGT_ASLEEP) != 0,
            .events = (uint32_t)(e[0] >> 32),
        };
    }
}

/* Copies are found by their places. Some of these may be missing, of copies that never ended; in a
 * damaged file a place may be anything. */
static bool list_places(dagt_track *t)
{
    if (t->kind != DAGT_TRACK_COPIES)
        return true;
    for (size_t i = 0; i < t->nflights; i++) {
        uint64_t place = t->flights[i].place;
        if (place >= t->nplaces && place < 2 * (uint64_t)t->nflights + 4096)
            t->nplaces = (size_t)place + 1;
    }
    t->place = calloc(t->nplaces + 1, sizeof *t->place);
    for (size_t i = 0; t->place && i < t->nflights; i++)
        if (t->flights[i].place < t->nplaces)
            t->place[t->flights[i].place] = i + 1;
    return t->place != NULL;
}

static void read_track(reader *r, dagt_track *t)
{
    if (take(r) != DAGT_TRACK)
        r->bad = true;
    uint64_t what = take(r);
    take(r); /* events */
    uint64_t words = take(r);
    const uint64_t *at = take_words(r, words);
    if (!at)
        return;
    const uint64_t *end = at + words;
    t->kind = (int)(what & 0xff);
    t->index = (uint32_t)(what >> 32);
    count_events(at, end, t);
    t->tasks = calloc(t->ntasks + 1, sizeof *t->tasks);
    t->spans = calloc(t->nspans + 1, sizeof *t->spans);
    t->flights = calloc(t->nflights + 1, sizeof *t->flights);
    t->joins = calloc(t->njoins + 1, sizeof *t->joins);
    t->casts = calloc(t->ncasts + 1, sizeof *t->casts);
    t->params = calloc(t->nparams + MOST_PARAMS, sizeof *t->params); /* whatever a class claims */
    t->ntasks = t->nspans = t->nflights = t->njoins = t->ncasts = t->nparams = 0;
    if (!t->tasks || !t->spans || !t->flights || !t->joins || !t->casts || !t->params) {
        r->bad = r->no_memory = true;
        return;
    }
    previous before = {0, 0};
    for (unsigned n; at < end; at += n) {
        n = *at >> 8 & 0xff;
        if (n == 0 || (ptrdiff_t)n > end - at) {
            r->bad = true;
            return;
        }
        read_event(r, at, *at & 0xff, n, t, &before);
    }
    if (!list_places(t))
        r->bad = r->no_memory = true;
}

static void read_section(reader *r, dagt_rank *rank)
{
    const uint64_t *head = take_words(r, sizeof rank->head / 8);
    if (!head)
        return;
    memcpy(&rank->head, head, sizeof rank->head);
    r->head = &rank->head;
    rank->begin = time_of(r, rank->head.begin);
    rank->end = time_of(r, rank->head.end);
    read_programs(r, rank);
    read_pools(r, rank);
    uint64_t n = rank->head.tracks;
    rank->tracks = make(r, n, sizeof *rank->tracks);
    for (; !r->bad && (uint64_t)rank->ntracks < n; rank->ntracks++)
        read_track(r, &rank->tracks[rank->ntracks]);
    if (r->bad && rank->tracks && (uint64_t)rank->ntracks < n)
        rank->ntracks++; /* a part of it may have been allocated */
}

/* ---- the whole ---------------------------------------------------------------------------- */

static dagt_trace *finish(dagt_trace *t, char *why, size_t size)
{
    t->begin = t->ranks[0].begin;
    t->end = t->ranks[0].end;
    for (int r = 0; r < t->nranks; r++) {
        const dagt_rank *rank = &t->ranks[r];
        if (rank->begin < t->begin)
            t->begin = rank->begin;
        if (rank->end > t->end)
            t->end = rank->end;
        for (int k = 0; k < rank->ntracks; k++)
            t->ntasks += rank->tracks[k].ntasks;
    }
    if (!dagt_match_messages(t) || dagt_settle(t) != 0)
        return REFUSE(t, why, size, "out of memory");
    return t;
}

/* Up to `count` words. What a damaged file claims to hold takes no memory before it has come. */
static uint64_t *read_words(FILE *in, size_t count, size_t *got)
{
    size_t room = count < 1 << 17 ? count + 1 : 1 << 17;
    uint64_t *words = malloc(room * sizeof *words);
    *got = 0;
    while (words && *got < count) {
        if (*got == room) {
            room = room < count / 2 ? 2 * room : count;
            uint64_t *more = realloc(words, room * sizeof *words);
            if (!more)
                free(words);
            words = more;
            continue;
        }
        size_t want = room < count ? room - *got : count - *got;
        size_t came = fread(words + *got, sizeof *words, want, in);
        *got += came;
        if (came < want)
            break;
    }
    return words;
}

dagt_trace *dagt_read(FILE *in, char *why, size_t size)
{
    uint64_t head[2];
    dagt_trace *t = NULL;
    size_t got = fread(head, 1, sizeof head, in);
    if (got == 0 && !ferror(in))
        return REFUSE(t, why, size, "it is empty: the run that was to write it has not ended, or "
                      "failed");
    if (got == sizeof head && head[0] == __builtin_bswap64(DAGT_MAGIC))
        return REFUSE(t, why, size, "it was written on a machine of another byte order");
    if (got < sizeof head || head[0] != DAGT_MAGIC)
        return REFUSE(t, why, size, "it is not a trace");
    uint32_t version = (uint32_t)head[1], nranks = (uint32_t)(head[1] >> 32);
    if (version != DAGT_VERSION)
        return REFUSE(t, why, size, "it has version %u of the format, this program reads version "
                      "%d", version, DAGT_VERSION);
    if (nranks < 1 || nranks > 1u << 20)
        return REFUSE(t, why, size, "it is damaged: it claims to have %u ranks", nranks);
    t = calloc(1, sizeof *t);
    if (t)
        t->ranks = calloc(nranks, sizeof *t->ranks);
    if (!t || !t->ranks)
        return REFUSE(t, why, size, "out of memory");
    t->nranks = (int)nranks;
    for (uint32_t r = 0; r < nranks; r++) {
        if (fread(head, sizeof *head, 2, in) != 2)
            return REFUSE(t, why, size, "it ends early: rank %u of %u is missing", r, nranks);
        if (head[0] != DAGT_SECTION || head[1] > UINT64_C(1) << 40)
            return REFUSE(t, why, size, "it is damaged where rank %u should begin", r);
        uint64_t *words = read_words(in, (size_t)head[1], &got);
        if (!words)
            return REFUSE(t, why, size, "out of memory");
        reader section = {.at = words, .end = words + got};
        if (got == head[1])
            read_section(&section, &t->ranks[r]);
        free(words);
        if (got < head[1])
            return REFUSE(t, why, size, "it ends early, in the part of rank %u of %u", r, nranks);
        if (section.bad)
            return REFUSE(t, why, size, section.no_memory ? "out of memory"
                                                          : "it is damaged in the part of rank %u",
                          r);
    }
    return finish(t, why, size);
}

void dagt_free(dagt_trace *t)
{
    for (int r = 0; t && t->ranks && r < t->nranks; r++) {
        dagt_rank *rank = &t->ranks[r];
        for (int p = 0; rank->programs && p < (int)rank->head.programs; p++) {
            dagt_program *program = &rank->programs[p];
            for (int c = 0; program->classes && c <= program->nclasses; c++) {
                dagt_class *cls = &program->classes[c];
                for (int i = 0; cls->params && i <= cls->nparams; i++)
                    free(cls->params[i]);
                free(cls->params);
                free(cls->name);
            }
            free(program->classes);
            free(program->name);
            free(program->file);
        }
        for (int k = 0; rank->tracks && k < rank->ntracks; k++) {
            free(rank->tracks[k].tasks);
            free(rank->tracks[k].spans);
            free(rank->tracks[k].flights);
            free(rank->tracks[k].joins);
            free(rank->tracks[k].casts);
            free(rank->tracks[k].place);
            free(rank->tracks[k].params);
        }
        free(rank->programs);
        free(rank->pools);
        free(rank->tracks);
    }
    if (t)
        free(t->ranks);
    free(t);
}

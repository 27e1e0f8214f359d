/* What a trace says: where time went, what bounds it, what went over the network. */
#include "model.h"

#include "../../base/room.h"

#include <stdlib.h>
#include <string.h>

/* ---- workers ------------------------------------------------------------------------------ */

/* An interval of a worker, behind those before it, which end at *at: what lies between is the runtime's. */
static void take(dagt_times *times, int64_t *state, int64_t *at, int64_t begin, int64_t end)
{
    if (begin < *at)
        times->overlap += *at - begin;
    else
        times->runtime += begin - *at;
    *state += end - begin;
    *at = end;
}

static int64_t *state_of(dagt_times *times, const dagt_span *s)
{
    switch (s->kind) {
    case DAGT_COMM:
        return &times->comm;
    case DAGT_OUTSIDE:
        return &times->outside;
    case DAGT_DRIVE:
        return &times->drive;
    default:
        return &times->idle[s->cause];
    }
}

void dagt_worker_times(const dagt_rank *r, const dagt_track *track, dagt_times *times)
{
    *times = (dagt_times){.wall = r->end - r->begin, .tasks = track->ntasks,
                          .steals = track->steals};
    int64_t at = r->begin;
    for (size_t i = 0, s = 0; i < track->ntasks || s < track->nspans;) {
        const dagt_task *task = i < track->ntasks ? &track->tasks[i] : NULL;
        const dagt_span *span = s < track->nspans ? &track->spans[s] : NULL;
        if (task && (!span || task->begin < span->begin)) {
            take(times, &times->bodies, &at, task->begin, task->end);
            i++;
        } else {
            take(times, state_of(times, span), &at, span->begin, span->end);
            if (span->asleep)
                times->asleep += span->end - span->begin;
            s++;
        }
    }
    if (at > r->end)
        times->overlap += at - r->end;
    else
        times->runtime += r->end - at;
}

int64_t dagt_times_sum(const dagt_times *times)
{
    int64_t sum = times->bodies + times->runtime + times->comm + times->outside + times->drive;
    for (int c = 0; c < DAGT_CAUSES; c++)
        sum += times->idle[c];
    return sum;
}

void dagt_times_add(dagt_times *sum, const dagt_times *w)
{
    sum->wall += w->wall;
    sum->bodies += w->bodies;
    sum->comm += w->comm;
    sum->outside += w->outside;
    sum->drive += w->drive;
    sum->runtime += w->runtime;
    sum->overlap += w->overlap;
    sum->asleep += w->asleep;
    sum->tasks += w->tasks;
    sum->steals += w->steals;
    for (int c = 0; c < DAGT_CAUSES; c++)
        sum->idle[c] += w->idle[c];
}

/* ---- devices ------------------------------------------------------------------------------ */

/* Events of a track come in the order of their ends: from the last to the first, what is not covered
 * yet lies before the earliest begin so far. */
static void cover(int64_t begin, int64_t end, int64_t *earliest, int64_t *time)
{
    if (end > *earliest)
        end = *earliest;
    if (begin < end) {
        *time += end - begin;
        *earliest = begin;
    }
}

void dagt_device_busy(const dagt_track *track, dagt_busy *busy)
{
    int64_t earliest = INT64_MAX;
    *busy = (dagt_busy){.count = track->ntasks + track->nflights};
    for (size_t i = track->ntasks; i-- > 0;)
        cover(track->tasks[i].begin, track->tasks[i].end, &earliest, &busy->time);
    earliest = INT64_MAX;
    for (size_t i = track->nflights; i-- > 0;) {
        cover(track->flights[i].begin, track->flights[i].end, &earliest, &busy->time);
        busy->bytes += track->flights[i].bytes;
    }
}

/* ---- classes ------------------------------------------------------------------------------ */

static dagt_class_times *entry(dagt_class_times **list, size_t *n, const char *name,
                               const char *file)
{
    for (size_t i = 0; i < *n; i++) {
        if (strcmp((*list)[i].name, name) == 0 && strcmp((*list)[i].file, file) == 0)
            return &(*list)[i];
    }
    dagt_class_times *grown = realloc(*list, (*n + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    *list = grown;
    grown[*n] = (dagt_class_times){.name = name, .file = file, .least = INT64_MAX};
    return &grown[(*n)++];
}

static void add_task(dagt_class_times *c, const dagt_task *task)
{
    int64_t length = task->end - task->begin, wait = task->begin - task->ready;
    int bin = length > 0 ? 63 - __builtin_clzll((unsigned long long)length) : 0;
    c->count++;
    c->total += length;
    c->wait += wait > 0 ? wait : 0;
    if (length < c->least)
        c->least = length;
    if (length > c->most)
        c->most = length;
    c->bin[bin < DAGT_BINS ? bin : DAGT_BINS - 1]++;
}

static int longest_first(const void *a, const void *b)
{
    const dagt_class_times *x = a, *y = b;
    return (x->total < y->total) - (x->total > y->total);
}

dagt_class_times *dagt_classes(const dagt_trace *t, size_t *n)
{
    dagt_class_times *list = NULL;
    *n = 0;
    for (int r = 0; r < t->nranks; r++) {
        const dagt_rank *rank = &t->ranks[r];
        for (int k = 0; k < rank->ntracks; k++) {
            const dagt_track *track = &rank->tracks[k];
            const dagt_task *last = NULL;
            size_t at = 0; /* of its class in the list: mostly the same as before */
            for (size_t i = 0; i < track->ntasks; i++) {
                const dagt_task *task = &track->tasks[i];
                if (!last || last->pool != task->pool || last->cls != task->cls) {
                    const dagt_pool *pool = dagt_pool_of(rank, task->pool);
                    const dagt_class *cls = dagt_class_of(rank, task);
                    const char *file = cls ? rank->programs[pool->program].file : "?";
                    dagt_class_times *c = entry(&list, n, cls ? cls->name : "?", file);
                    if (!c)
                        return list;
                    at = (size_t)(c - list);
                }
                add_task(&list[at], task);
                last = task;
            }
        }
    }
    if (list)
        qsort(list, *n, sizeof *list, longest_first);
    return list;
}

/* ---- critical paths ----------------------------------------------------------------------- */

static dagt_step none(void)
{
    return (dagt_step){.rank = -1};
}

static void mark(const dagt_trace *t, dagt_path *path)
{
    dagt_step step = path->last;
    /* A damaged file could have a circle; each is marked once. */
    while ((step.task && !step.task->critical) || (step.copy && !step.copy->critical)) {
        if (step.task) {
            step.task->critical = 1;
            path->steps++;
        } else {
            step.copy->critical = path->pool;
            path->copies++;
        }
        step = dagt_before(t, &step);
    }
}

/* The last task of the longest chain of each pool. */
static void find_last(dagt_trace *t, int r, int k, dagt_path *paths)
{
    const dagt_rank *first = &t->ranks[0];
    dagt_track *track = &t->ranks[r].tracks[k];
    for (size_t i = 0; i < track->nflights; i++)
        track->flights[i].critical = 0;
    for (size_t i = 0; i < track->ntasks; i++) {
        dagt_task *task = &track->tasks[i];
        const dagt_pool *p = dagt_pool_of(first, task->pool);
        task->critical = 0;
        if (!p)
            continue;
        dagt_path *path = &paths[p - first->pools];
        int64_t length;
        if (__builtin_sub_overflow(task->end, task->begin, &length) ||
            __builtin_add_overflow(task->path, length, &length))
            length = INT64_MAX; /* a damaged file may say more than there is time */
        path->tasks++;
        if (path->last.task && length <= path->length)
            continue;
        path->last = (dagt_step){.rank = r, .track = k, .task = task};
        path->length = length;
    }
}

dagt_path *dagt_critical(dagt_trace *t, size_t *n)
{
    const dagt_rank *first = &t->ranks[0];
    *n = (size_t)first->npools;
    dagt_path *paths = calloc(*n + 1, sizeof *paths);
    if (!paths)
        return NULL;
    for (size_t i = 0; i < *n; i++) {
        const dagt_pool *p = &first->pools[i];
        paths[i] = (dagt_path){.pool = (uint32_t)p->id,
                               .program = p->program >= 0 ? first->programs[p->program].name : "?",
                               .begin = p->begin,
                               .end = p->end,
                               .last = none()};
    }
    for (int r = 0; r < t->nranks; r++) {
        for (int k = 0; k < t->ranks[r].ntracks; k++)
            find_last(t, r, k, paths);
    }
    for (size_t i = 0; i < *n; i++)
        mark(t, &paths[i]);
    return paths;
}

dagt_step *dagt_path_steps(const dagt_trace *t, const dagt_path *path)
{
    size_t n = path->steps + path->copies;
    dagt_step *steps = malloc((n + 1) * sizeof *steps), step = path->last;
    while (steps && n > 0) {
        steps[--n] = step;
        step = dagt_before(t, &step);
    }
    return steps;
}

/* ---- overlap ------------------------------------------------------------------------------ */

typedef struct edge {
    int64_t time;
    int comm, copy, body; /* +1 begins, -1 ends */
} edge;

static int by_time(const void *a, const void *b)
{
    const edge *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

int dagt_overlap_of_some(const dagt_rank *r, int (*chosen)(void *arg, const dagt_flight *flight), void *arg,
                         dagt_overlap *overlap)
{
    size_t n = 0, used = 0;
    *overlap = (dagt_overlap){0};
    for (int k = 0; k < r->ntracks; k++)
        n += 2 * (r->tracks[k].ntasks + r->tracks[k].nflights);
    edge *edges = malloc((n + 1) * sizeof *edges);
    if (!edges)
        return 1;
    for (int k = 0; k < r->ntracks; k++) {
        const dagt_track *t = &r->tracks[k];
        for (size_t i = 0; i < t->ntasks; i++) {
            const dagt_class *cls = dagt_class_of(r, &t->tasks[i]);
            int body = !cls || !cls->copies;
            edges[used++] = (edge){t->tasks[i].begin, 0, 0, body};
            edges[used++] = (edge){t->tasks[i].end, 0, 0, -body};
        }
        int copies = t->kind == DAGT_TRACK_COPIES;
        for (size_t i = 0; i < t->nflights; i++) {
            int comm = !copies && (!chosen || chosen(arg, &t->flights[i]));
            edges[used++] = (edge){t->flights[i].begin, comm, copies, 0};
            edges[used++] = (edge){t->flights[i].end, -comm, -copies, 0};
        }
    }
    qsort(edges, used, sizeof *edges, by_time);
    int comm = 0, copy = 0, body = 0;
    for (size_t i = 0; i + 1 < used; i++) {
        comm += edges[i].comm;
        copy += edges[i].copy;
        body += edges[i].body;
        int64_t length = edges[i + 1].time - edges[i].time;
        if (comm > 0)
            overlap->comm += length;
        if (comm > 0 && body > 0)
            overlap->both += length;
        if (copy > 0)
            overlap->copy += length;
        if (copy > 0 && body > 0)
            overlap->copy_both += length;
    }
    free(edges);
    return 0;
}

int dagt_overlap_of(const dagt_rank *r, dagt_overlap *overlap)
{
    return dagt_overlap_of_some(r, NULL, NULL, overlap);
}

/* ---- links -------------------------------------------------------------------------------- */

static dagt_link *link_of(dagt_link **list, size_t *n, size_t *capacity, const dagt_link *ends)
{
    for (size_t i = *n; i-- > 0;) { /* those of the same rank are at the end */
        const dagt_link *l = &(*list)[i];
        if (l->from == ends->from && l->to == ends->to && l->from_device == ends->from_device &&
            l->to_device == ends->to_device)
            return &(*list)[i];
    }
    if (!DAGI_ROOM(*list, *n, *capacity, 64))
        return NULL;
    (*list)[*n] = *ends;
    return &(*list)[(*n)++];
}

static int by_ends(const void *a, const void *b)
{
    const dagt_link *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->from_device != y->from_device)
        return x->from_device < y->from_device ? -1 : 1;
    return (x->to_device > y->to_device) - (x->to_device < y->to_device);
}

/* All copies of a track; 0 = out of memory. */
static int add_copies(dagt_link **list, size_t *n, size_t *capacity, uint32_t rank,
                      const dagt_track *track)
{
    dagt_link ends = {.from = rank,
                      .to = rank,
                      .from_device = (int)(track->index >> 16),
                      .to_device = (int)(track->index & 0xffff)};
    dagt_link *l = track->nflights ? link_of(list, n, capacity, &ends) : NULL;
    dagt_busy busy;
    if (!l)
        return track->nflights == 0;
    dagt_device_busy(track, &busy);
    l->sent = l->received += busy.count;
    l->bytes = l->bytes_received += busy.bytes;
    l->busy += busy.time;
    return 1;
}

dagt_link *dagt_links(const dagt_trace *t, size_t *n)
{
    dagt_link *list = NULL;
    size_t capacity = 0;
    *n = 0;
    for (int r = 0; r < t->nranks; r++) {
        for (int k = 0; k < t->ranks[r].ntracks; k++) {
            const dagt_track *track = &t->ranks[r].tracks[k];
            if (track->kind == DAGT_TRACK_COPIES && !add_copies(&list, n, &capacity, (uint32_t)r, track))
                return list;
            for (size_t i = 0; track->kind == DAGT_TRACK_LINKS && i < track->nflights; i++) {
                const dagt_flight *f = &track->flights[i];
                dagt_link ends = {.from = f->out ? (uint32_t)r : f->peer,
                                  .to = f->out ? f->peer : (uint32_t)r,
                                  .from_device = -1,
                                  .to_device = -1};
                dagt_link *l = link_of(&list, n, &capacity, &ends);
                if (!l)
                    return list;
                *(f->out ? &l->sent : &l->received) += 1;
                *(f->out ? &l->bytes : &l->bytes_received) += f->bytes;
            }
        }
    }
    if (list)
        qsort(list, *n, sizeof *list, by_ends);
    return list;
}

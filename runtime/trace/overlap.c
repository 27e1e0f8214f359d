/* How much of the communication was hidden, and where the time of a pool went, for a program that asks:
 * dag_overlap_at_end(), dag_pool_times_at_end(). */
#include "trace.h"

#include "file/model.h"

#include <math.h>
#include <string.h>

/* ---- by phase ------------------------------------------------------------------------------ */

/* What is looked at: one rank and one phase, or with `which` = wish->phases all of them. */
typedef struct choice {
    const dagi_overlap_wish *wish;
    const dagt_rank *rank;
    int which;
} choice;

/* The program of the pool under way on that rank: the first one to end after something has begun. */
static const char *program_at(const dagt_rank *r, int64_t time)
{
    const dagt_pool *first = NULL;
    for (int i = 0; i < r->npools; i++) {
        const dagt_pool *p = &r->pools[i];
        if (p->end >= time && p->program >= 0 && (!first || p->end < first->end))
            first = p;
    }
    return first ? r->programs[first->program].name : NULL;
}

static int chosen(void *arg, const dagt_flight *flight)
{
    const choice *c = arg;
    const char *program = program_at(c->rank, flight->begin);
    int phase = program ? c->wish->of(c->wish->arg, program, (int)c->rank->head.rank, (int)flight->peer) : -1;
    return phase >= 0 && phase < c->wish->phases && (c->which == c->wish->phases || c->which == phase);
}

int dagi_overlap_tell(const dagi_overlap_wish *wish, const dagt_trace *trace)
{
    for (int phase = 0; wish->phases > 0 && phase <= wish->phases; phase++) {
        dag_overlap sum = {0};
        for (int r = 0; r < trace->nranks; r++) {
            choice c = {wish, &trace->ranks[r], phase};
            dagt_overlap o;
            if (dagt_overlap_of_some(&trace->ranks[r], chosen, &c, &o) != 0)
                return 1;
            sum.all += (double)o.comm * 1e-9;
            sum.exposed += (double)(o.comm - o.both) * 1e-9;
        }
        wish->sums[phase] = sum;
    }
    return 0;
}

/* ---- of a pool ----------------------------------------------------------------------------- */

/* Nanoseconds. */
typedef struct interval {
    int64_t begin, end;
} interval;

typedef struct sums {
    int64_t busiest, outside, comm, both;
} sums;

static const dagt_pool *last_pool(const dagt_rank *r, const char *program)
{
    int i = r->npools - 1;
    while (i >= 0 && (r->pools[i].program < 0 || strcmp(r->programs[r->pools[i].program].name, program) != 0))
        i--;
    return i < 0 ? NULL : &r->pools[i];
}

/* From the first rank that begins it to the last that sees its end. */
static interval whole_of(const dagt_trace *t, uint32_t id)
{
    interval all = {INT64_MAX, INT64_MIN};
    for (int r = 0; r < t->nranks; r++) {
        const dagt_pool *p = dagt_pool_of(&t->ranks[r], id);
        if (p && p->begin < all.begin)
            all.begin = p->begin;
        if (p && p->end > all.end)
            all.end = p->end;
    }
    return all;
}

static int64_t bodies_of(const dagt_track *track, uint32_t id)
{
    int64_t sum = 0;
    for (size_t i = 0; i < track->ntasks; i++)
        if (track->tasks[i].pool == id)
            sum += track->tasks[i].end - track->tasks[i].begin;
    return sum;
}

/* The application thread runs no tasks and handles no messages. */
static int64_t outside_during(const dagt_track *track, const dagt_pool *p)
{
    int64_t sum = 0;
    for (size_t i = 0; i < track->nspans; i++) {
        const dagt_span *s = &track->spans[i];
        int64_t begin = s->begin > p->begin ? s->begin : p->begin, end = s->end < p->end ? s->end : p->end;
        if (s->kind == DAGT_OUTSIDE && end > begin)
            sum += end - begin;
    }
    return sum;
}

static int within(void *arg, const dagt_flight *flight)
{
    const interval *all = arg;
    return flight->begin >= all->begin && flight->end <= all->end;
}

/* Nonzero = out of memory. */
static int add_rank(sums *s, const dagt_rank *r, uint32_t id, interval all)
{
    const dagt_pool *p = dagt_pool_of(r, id);
    dagt_overlap o;
    for (int k = 0; p && k < r->ntracks; k++) {
        const dagt_track *track = &r->tracks[k];
        int64_t busy = dagt_runs_tasks(track) ? bodies_of(track, id) : 0;
        int64_t outside = track->kind == DAGT_TRACK_WORKER && track->index == 0 ? outside_during(track, p) : 0;
        s->busiest = busy > s->busiest ? busy : s->busiest;
        s->outside = outside > s->outside ? outside : s->outside;
    }
    if (dagt_overlap_of_some(r, within, &all, &o) != 0)
        return 1;
    s->comm += o.comm;
    s->both += o.both;
    return 0;
}

int dagi_pool_tell(const dagi_pool_wish *wish, const dagt_trace *trace)
{
    const dagt_pool *last = wish->program ? last_pool(&trace->ranks[0], wish->program) : NULL;
    sums s = {0};
    if (!last)
        return 0;
    uint32_t id = (uint32_t)last->id;
    interval all = whole_of(trace, id);
    for (int r = 0; r < trace->nranks; r++)
        if (add_rank(&s, &trace->ranks[r], id, all) != 0)
            return 1;
    *wish->times = (dag_pool_times){.total = (double)(all.end - all.begin) * 1e-9,
                                    .computation = (double)s.busiest * 1e-9,
                                    .communication = (double)s.comm * 1e-9 / trace->nranks,
                                    .hidden = s.comm > 0 ? (double)s.both / (double)s.comm : NAN,
                                    .generation = (double)s.outside * 1e-9};
    return 0;
}

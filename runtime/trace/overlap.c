/* How much of the communication was hidden, for a program that asks: dag_overlap_at_end(). */
#include "trace.h"

#include "file/model.h"

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

/*
 * How much of the communication was hidden: dag_overlap_at_end() in a simulated run. What is sent is under way from
 * when it leaves, or is asked for, until it is there; a message that waits for credit has not left. Each rank adds up
 * the time since it was looked at last whenever something begins or ends there.
 */
#include "sim_impl.h"

#include <stdlib.h>

typedef struct phase {
    int32_t flying;
    dagi_sim_time all, exposed;
} phase;

typedef struct place {
    dagi_sim_time seen;
    int32_t bodies;
} place;

struct dagi_sim_overlap {
    int phases;
    dag_overlap_phase *of;
    void *arg;
    dag_overlap *sums;
    place *rank;  /* [ranks] */
    phase *phase; /* [ranks][phases + 1]: the last for all of them */
};

void dagi_sim_overlap_wish(dag_context *ctx, int phases, dag_overlap_phase *of, void *arg, dag_overlap *sums)
{
    struct dagi_sim *s = dagi_sim_of(ctx);
    struct dagi_sim_overlap *o = calloc(1, sizeof *o);
    dagi_sim_overlap_free(s);
    if (!o)
        return;
    *o = (struct dagi_sim_overlap){phases, of, arg, sums, calloc((size_t)s->nranks, sizeof *o->rank),
                                   calloc((size_t)s->nranks * (size_t)(phases + 1), sizeof *o->phase)};
    s->sums.overlap = o;
    if (!o->rank || !o->phase)
        dagi_sim_overlap_free(s);
}

void dagi_sim_overlap_free(struct dagi_sim *s)
{
    if (!s->sums.overlap)
        return;
    free(s->sums.overlap->rank);
    free(s->sums.overlap->phase);
    free(s->sums.overlap);
    s->sums.overlap = NULL;
}

/* Its phases, with the time until now. */
static phase *account(struct dagi_sim *s, int rank)
{
    struct dagi_sim_overlap *o = s->sums.overlap;
    place *at = &o->rank[rank];
    phase *p = &o->phase[(size_t)rank * (size_t)(o->phases + 1)];
    for (int i = 0; i <= o->phases; i++) {
        dagi_sim_time passed = p[i].flying > 0 ? s->now - at->seen : 0;
        p[i].all += passed;
        p[i].exposed += at->bodies > 0 ? 0 : passed;
    }
    at->seen = s->now;
    return p;
}

void dagi_sim_body_now(struct dagi_sim *s, int rank, int more)
{
    if (!s->sums.overlap)
        return;
    (void)account(s, rank);
    s->sums.overlap->rank[rank].bodies += more;
}

void dagi_sim_fly(struct dagi_sim *s, const dagi_sim_pool *pool, int from, int to, int more)
{
    const struct dagi_sim_overlap *o = s->sums.overlap;
    const int ends[2] = {from, to};
    for (int i = 0; i < 2 && o; i++) {
        int which = o->of(o->arg, pool->pool->program->name, ends[i], ends[1 - i]);
        phase *p = account(s, ends[i]);
        if (which < 0 || which >= o->phases)
            continue;
        p[which].flying += more;
        p[o->phases].flying += more;
    }
}

void dagi_sim_overlap_tell(struct dagi_sim *s)
{
    const struct dagi_sim_overlap *o = s->sums.overlap;
    for (int i = 0; o && i <= o->phases; i++) {
        dag_overlap sum = {0};
        for (int r = 0; r < s->nranks; r++) {
            const phase *p = &account(s, r)[i];
            sum.all += (double)p->all / (double)DAGI_SIM_SECOND;
            sum.exposed += (double)p->exposed / (double)DAGI_SIM_SECOND;
        }
        o->sums[i] = sum;
    }
}

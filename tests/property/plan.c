/* What each run does, drawn from a seed. */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct dice {
    uint64_t state;
} dice;

static dice dice_new(uint64_t seed, uint64_t a, uint64_t b, uint64_t c)
{
    return (dice){prop_mix(prop_mix(prop_mix(prop_mix(0xd1ce, seed), a), b), c)};
}

static uint64_t throw(dice *d)
{
    d->state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = d->state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* lo .. hi */
static int pick(dice *d, int lo, int hi)
{
    return lo + (int)(throw(d) % (uint64_t)(hi - lo + 1));
}

/* Config numbers: bit 0 = two workers, bit 1 = least credit; the rest is drawn. */
void prop_plan_config(uint64_t seed, int ranks, int number, prop_config *config)
{
    static const char *const eager[] = {"0", "4096", "100", "100000"};
    static const char *const bcast[] = {"auto", "auto", "auto", "binomial", "chain", "ring",
                                        "scatter", "hier(2, ring, chain)", "trees"};
    dice d = dice_new(seed, (uint64_t)ranks, 0xc0f, (uint64_t)number);
    config->threads = number & 1 ? 2 : 1;
    config->low_credit = number >> 1 & 1;
    snprintf(config->eager, sizeof config->eager, "%s", eager[pick(&d, 0, 3)]);
    snprintf(config->bcast, sizeof config->bcast, "%s", bcast[pick(&d, 0, 8)]);
    snprintf(config->sched, sizeof config->sched, "%s", pick(&d, 0, 3) ? "local" : "global");
    int chaos = pick(&d, 0, 4) ? pick(&d, 1, 1000000) : 0;
    snprintf(config->chaos, sizeof config->chaos, "%d", chaos);
    config->known_link = pick(&d, 0, 1);
}

static void draw_sizes(dice *d, int small, prop_pool *p)
{
    int most = small ? 3 : pick(d, 0, 3) ? 6 : 9;
    p->N = pick(d, 1, most);
    p->M = pick(d, 0, most < 7 ? most : 7);
    p->T = pick(d, 1, most < 5 ? most : 5);
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static void draw_grid(dice *d, int ranks, prop_spec *s)
{
    s->p = pick(d, 1, ranks);
    s->q = pick(d, 1, ranks / s->p);
    if (pick(d, 0, 3)) /* mostly all of them */
        s->q = ranks / s->p;
}

static void draw_data(dice *d, int ranks, prop_spec *s)
{
    static const int bytes[] = {1, 8, 24, 1000, 5000};
    s->seed = throw(d);
    s->bytes = (size_t)bytes[pick(d, 0, 4)];
    s->mb = pick(d, 1, 8);
    s->nb = pick(d, 0, 1) ? s->mb : pick(d, 1, 8);
    s->layout[0] = pick(d, 0, 1) ? DAG_LAYOUT_TILE : DAG_LAYOUT_SLAB;
    s->layout[1] = pick(d, 0, 1) ? DAG_LAYOUT_TILE : DAG_LAYOUT_SLAB;
    draw_grid(d, ranks, s);
    if (pick(d, 0, 5) == 0) { /* larger than what is eager */
        s->bytes = 70000;
        s->mb = 40;
        s->nb = 50;
    }
}

static dag_precision prec_of(char letter)
{
    dag_precision p = DAG_D;
    dag_precision_parse(letter, &p);
    return p;
}

/* Several pools: on their own collections, or sharing them if the graphs agree on the elements. */
static void draw_pools(dice *d, int ranks, long number, prop_run *run)
{
    const prop_file *first = &prop_files[number % prop_nfiles];
    run->npools = pick(d, 0, 4) < 3 ? 1 : pick(d, 2, PROP_MAX_POOLS);
    for (int p = 0; p < run->npools; p++) {
        prop_pool *pool = &run->pools[p];
        pool->file = p == 0 ? first : &prop_files[pick(d, 0, prop_nfiles - 1)];
        char letter = pool->file->precs[(size_t)pick(d, 0, 1) % strlen(pool->file->precs)];
        pool->data = run->ndata;
        for (int x = 0; x < run->ndata; x++)
            if (pick(d, 0, 2) && strchr(pool->file->precs, dag_precision_letter(run->data[x].prec)))
                pool->data = x;
        if (pool->data == run->ndata) {
            draw_data(d, ranks, &run->data[run->ndata]);
            run->data[run->ndata++].prec = prec_of(letter);
        }
    }
}

void prop_plan_run(uint64_t seed, int ranks, int config, long number, int late, prop_run *run)
{
    memset(run, 0, sizeof *run);
    dice d = dice_new(seed, (uint64_t)ranks, (uint64_t)config, (uint64_t)number);
    run->seed = throw(&d);
    draw_pools(&d, ranks, number, run);
    int ragged[PROP_MAX_POOLS] = {1, 1, 1}, alias[PROP_MAX_POOLS] = {1, 1, 1};
    for (int p = 0; p < run->npools; p++) {
        prop_pool *pool = &run->pools[p];
        prop_spec *s = &run->data[pool->data];
        draw_sizes(&d, s->bytes > 10000, pool);
        s->K = larger(s->K, 1 + larger(pool->N, larger(pool->M, pool->T)));
        ragged[pool->data] &= pool->file->ragged;
        alias[pool->data] &= pool->file->alias;
    }
    for (int x = 0; x < run->ndata; x++) {
        prop_spec *s = &run->data[x];
        s->short_m = ragged[x] && pick(&d, 0, 1) ? pick(&d, 0, s->mb - 1) : 0;
        s->short_n = ragged[x] && pick(&d, 0, 1) ? pick(&d, 0, s->nb - 1) : 0;
        s->alias = alias[x] && pick(&d, 0, 2) == 0;
    }
    run->late = late;
    run->late_us = (unsigned)pick(&d, 1, 12) * 1000;
    run->order = pick(&d, 0, 3);
    run->jitter = pick(&d, 0, 3) ? 0 : (unsigned)pick(&d, 1, 300);
}

void prop_describe(const prop_run *run, const prop_config *c, char *out, size_t size)
{
    static const char *const orders[] = {"in order", "backwards", "mixed", "by dag_test"};
    size_t n = 0;
#define ADD(...) n += n < size ? (size_t)snprintf(out + n, size - n, __VA_ARGS__) : 0
    for (int p = 0; p < run->npools; p++) {
        const prop_pool *pool = &run->pools[p];
        ADD("%s(N=%d M=%d T=%d) on data %d; ", pool->file->name, pool->N, pool->M, pool->T,
            pool->data);
    }
    for (int x = 0; x < run->ndata; x++) {
        const prop_spec *s = &run->data[x];
        ADD("data %d: K=%d %zu bytes, tiles %dx%d%s %c, grid %dx%d%s; ", x, s->K, s->bytes, s->mb,
            s->nb, s->short_m || s->short_n ? " ragged" : "", dag_precision_letter(s->prec), s->p,
            s->q, s->alias ? ", V=W A=B" : "");
    }
    ADD("late rank %d, waits %s, threads %d, credit_bytes %s, eager_bytes %s, bcast %s%s, sched %s, "
        "chaos %s", run->late, orders[run->order], c->threads, c->low_credit ? "4096" : "default",
        c->eager, c->bcast, c->known_link ? " by times" : "", c->sched, c->chaos);
#undef ADD
}

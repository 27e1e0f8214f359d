/*
 * Samples. A long loop is the same steps again and again, so two lengths tell what a step takes, and what
 * begins and ends is in both. What computes and what waits grow differently and are taken apart. In a product of
 * K steps both are lines. In a factorisation of order n what computes is a sum of squares and cubes of n; what waits
 * is a part of each start and end, which is constant, and beside it what a step that is not hidden costs, which grows as
 * the tiles of the matrix do. docs/performance/simulated.md has what comes of it beside whole runs.
 */
#include "sample.h"

#include "memory.h"
#include "predict.h"

#include <dag/split.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Powers of the length, of which a quantity is a sum. */
typedef struct growth {
    int low, high;
} growth;

static const growth line = {0, 1}, area = {1, 2}, work = {2, 3}, ends = {0, 2};

/* What the last run was made of; none: it was played whole. */
static struct {
    const char *what; /* "n", "k" */
    int64_t length[2];
    double seconds[2];
    dag_simulation played[2];
    int extrapolated;
} last;

/* Whether the loop is over the inner dimension, as in a product; its method has been given. */
static bool is_inner(const options *o)
{
    return o->product.method != DAG_GEMM_AUTO;
}

int64_t sample_most(const options *o)
{
    return o->sample[1] > 0 && !is_inner(o) ? o->sample[1] : o->n;
}

int64_t sample_least(const options *o)
{
    return o->sample[1] > 0 && !is_inner(o) ? o->sample[0] : o->n;
}

/* The curve through both samples, at the length of the whole. */
static double at_whole(growth g, const double x[2], const double value[2])
{
    double low[2], high[2];
    for (int i = 0; i < 2; i++) {
        low[i] = pow(x[i], g.low);
        high[i] = pow(x[i], g.high);
    }
    double det = low[0] * high[1] - low[1] * high[0];
    return (value[0] * (high[1] - low[1]) + value[1] * (low[0] - high[0])) / det;
}

/* Seconds that a worker computes on average, or where there are devices, one of those. */
static double computing(const dag_context *ctx, const dag_simulation *s)
{
    return s->devices > 0 ? s->device_busy / (double)s->devices : s->busy / (double)s->workers / dag_size(ctx);
}

/* Work and matrices of the whole. What else it would come to is not known: tasks of LU are as many as columns, pairs and
 * triples of tiles, by shares that two samples do not tell, and values on a rank as many as messages run ahead. */
static dag_simulation whole_of(int inner, const double x[2], const dag_simulation played[2])
{
    const dag_simulation *a = &played[0], *b = &played[1];
    growth g = inner ? line : work;
    return (dag_simulation){.machine = b->machine,
                            .workers = b->workers,
                            .devices = b->devices,
                            .node_memory = b->node_memory,
                            .node_ranks = b->node_ranks,
                            .busy = at_whole(g, x, (const double[]){a->busy, b->busy}),
                            .device_busy = at_whole(g, x, (const double[]){a->device_busy, b->device_busy}),
                            .matrices = llround(at_whole(inner ? line : area, x,
                                                         (const double[]){(double)a->matrices, (double)b->matrices})),
                            .tasks = PREDICT_UNKNOWN};
}

/* A whole that no node holds is refused, as one that is played would be. */
static dag_status check_memory(dag_context *ctx, const dag_simulation *whole)
{
    int ranks = dag_size(ctx) < whole->node_ranks ? dag_size(ctx) : whole->node_ranks;
    double bytes = (double)whole->matrices * ranks;
    if (whole->node_memory == 0 || bytes <= whole->node_memory)
        return DAG_SUCCESS;
    return driver_collective(ctx, dag_error(ctx, DAG_ERR_NOMEM,
                                            "the matrices of the whole need %.0f bytes on a node of machine '%s', which has "
                                            "%.0f: use more nodes or a smaller matrix",
                                            bytes, whole->machine, whole->node_memory));
}

/* *r is of the longer sample, and becomes that of the whole. */
static dag_status extrapolate(dag_context *ctx, const options *o, const report of[2], const dag_simulation played[2],
                              report *r)
{
    int inner = is_inner(o);
    int64_t length = inner && (o->given & OPT_BIT(OPT_K)) ? o->k : o->n;
    const double x[2] = {(double)o->sample[0] / (double)length, (double)o->sample[1] / (double)length};
    const double computed[2] = {computing(ctx, &played[0]), computing(ctx, &played[1])};
    const double waited[2] = {of[0].seconds - computed[0], of[1].seconds - computed[1]};
    const dag_simulation whole = whole_of(inner, x, played);
    /* A longer run waits no less. */
    r->seconds = computing(ctx, &whole) + fmax(waited[1], at_whole(inner ? line : ends, x, waited));
    r->flops = at_whole(inner ? line : work, x, (const double[]){of[0].flops, of[1].flops});
    if (!inner)
        r->m = r->n = length;
    predict_take(&whole);
    last.extrapolated = 1;
    last.what = inner ? "k" : "n";
    for (int i = 0; i < 2; i++) {
        last.length[i] = o->sample[i];
        last.seconds[i] = of[i].seconds;
        last.played[i] = played[i];
    }
    return check_memory(ctx, &whole);
}

static dag_status run(const driver *d, dag_context *ctx, const options *o, report *r)
{
    memory_expect(o->routine != NULL ? o->routine : d->name, o, dag_size(ctx));
    return d->run(ctx, o, r);
}

/* Tiles of the samples are those of the whole. */
static dag_status tile_of_whole(const driver *d, dag_context *ctx, const options *o, int64_t *nb)
{
    int64_t rows = driver_rows(o), longest = rows > o->n ? rows : o->n;
    bool product = (d->row->options & OPT_BIT(OPT_K)) != 0;
    dag_split_desc unused;
    int split = 0;
    dag_status status = driver_collective(ctx, dag_split_settings(ctx, &split, &unused));
    if (status == DAG_SUCCESS && split)
        status = driver_collective(ctx, dag_error(ctx, DAG_ERR_ARG, "tiles of two sizes are cut for one order: leave "
                                                  "the setting split out, or --sample"));
    if (status != DAG_SUCCESS)
        return status;
    return product ? driver_tile(ctx, o, longest, longest, nb) : driver_first_tile(ctx, o, rows, o->n, nb);
}

dag_status sample_run(const driver *d, dag_context *ctx, const options *o, report *r)
{
    options part = *o;
    report of[2] = {*r, *r};
    dag_simulation played[2];
    last.extrapolated = 0;
    if (o->sample[1] == 0)
        return run(d, ctx, o, r);
    dag_status status = tile_of_whole(d, ctx, o, &part.nb);
    for (int i = 0; i < 2 && status == DAG_SUCCESS; i++) {
        part.given |= is_inner(o) ? OPT_BIT(OPT_K) : 0;
        *(is_inner(o) ? &part.k : &part.n) = o->sample[i];
        status = run(d, ctx, &part, &of[i]);
        predict_played(&played[i]);
    }
    if (status != DAG_SUCCESS)
        return status;
    *r = of[1];
    return extrapolate(ctx, o, of, played, r);
}

void sample_json(void)
{
    if (!last.extrapolated)
        return;
    printf(", \"extrapolated\": true, \"samples\": [");
    for (int i = 0; i < 2; i++)
        printf("%s{\"%s\": %" PRId64 ", \"time_s\": %.6g, \"tasks\": %" PRId64 ", \"messages\": %" PRId64
               ", \"bytes\": %" PRId64 ", \"rank_bytes\": %" PRId64 "}", i > 0 ? ", " : "", last.what, last.length[i],
               last.seconds[i], last.played[i].tasks, last.played[i].messages, last.played[i].bytes,
               last.played[i].matrices + last.played[i].values);
    printf("]");
}

void sample_text(const report *r)
{
    if (last.extrapolated)
        printf("simulated %s: extrapolated from %s = %" PRId64 ", %.4g s, and %" PRId64 ", %.4g s\n", r->routine,
               last.what, last.length[0], last.seconds[0], last.length[1], last.seconds[1]);
}

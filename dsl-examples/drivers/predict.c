/* Predictions: which tile size and grid, and what a simulated run has come to. */
#include "predict.h"

#include "memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* ---- what was timed ------------------------------------------------------------------------ */

/* What a simulated run had come to when driver_time() was called the last two times. */
static dag_simulation timed[2];
/* What the cores of a run with the setting `stretch` had been given to do, likewise. */
static double given[2];

double driver_time(dag_context *ctx)
{
    (void)dag_barrier(ctx);
    timed[0] = timed[1];
    (void)dag_simulation_get(ctx, &timed[1]);
    given[0] = given[1];
    given[1] = dag_modelled_seconds(ctx);
    return dag_seconds(ctx);
}

/* Percent of the time in which a worker was in no body. */
static double idle_percent(const dag_context *ctx, const report *r)
{
    double all = r->seconds * dag_size(ctx) * timed[1].workers;
    return all > 0 ? 100 * (1 - (timed[1].busy - timed[0].busy) / all) : 0;
}

/* The same for devices that had no kernel. */
static double device_idle_percent(const report *r)
{
    double all = r->seconds * (double)timed[1].devices;
    return all > 0 ? 100 * (1 - (timed[1].device_busy - timed[0].device_busy) / all) : 0;
}

static double rank_bytes(void)
{
    return (double)(timed[1].matrices + timed[1].values);
}

int predict_simulated(const dag_context *ctx)
{
#ifdef DAG_SIMGRID
    (void)ctx;
    return 1;
#else
    return dag_simulated(ctx);
#endif
}

void predict_json(const dag_context *ctx, const report *r)
{
    const dag_simulation *from = &timed[0], *to = &timed[1];
    if (to->machine == NULL) { /* under SimGrid, or stretched: nobody counts for all ranks */
        printf(", \"simulated\": true");
        if (given[1] > 0)
            printf(", \"core_seconds\": %.12f", given[1] - given[0]);
        return;
    }
    printf(", \"simulated\": true, \"machine\": \"%s\", \"tasks\": %" PRId64 ", \"messages\": %" PRId64
           ", \"bytes\": %" PRId64 ", \"leaving\": %" PRId64 ", \"rank_bytes\": %.0f, \"non_computation_percent\": %.6g",
           to->machine, to->tasks - from->tasks, to->messages - from->messages, to->bytes - from->bytes,
           to->leaving - from->leaving, rank_bytes(), idle_percent(ctx, r));
    if (to->devices > 0)
        printf(", \"device_count\": %" PRId64 ", \"device_tasks\": %" PRId64 ", \"device_bytes\": %" PRId64
               ", \"device_idle_percent\": %.6g",
               to->devices, to->device_tasks - from->device_tasks, to->device_bytes - from->device_bytes,
               device_idle_percent(r));
}

void predict_text(const dag_context *ctx, const report *r)
{
    if (timed[1].machine == NULL)
        return;
    printf("simulated %s: machine '%s', workers compute nothing for %.1f %% of the time, %.4g MB per "
           "rank\n", r->routine, timed[1].machine, idle_percent(ctx, r), 1e-6 * rank_bytes());
    if (timed[1].devices > 0)
        printf("simulated %s: %" PRId64 " devices compute nothing for %.1f %% of the time\n", r->routine,
               timed[1].devices, device_idle_percent(r));
}

bool predict_allows(const dag_context *ctx, const options *o, const char *program)
{
    if (!dag_simulated(ctx) || !(o->check || o->matrix || o->rhs || o->out))
        return true;
    fprintf(stderr, "%s: a simulated run computes nothing: leave --check and files out\n", program);
    return false;
}

/* ---- the choice ---------------------------------------------------------------------------- */

/* One simulated run of a choice; its seconds, negative after an error, which has been said. */
static double try_once(const driver *d, const options *asked)
{
    dag_context *ctx;
    report r = {.routine = d->name};
    options with_grid = *asked, *o = &with_grid;
    dag_grid_choice choice;
    if (driver_start(o, &ctx) != DAG_SUCCESS)
        return -1;
    memory_expect(o->routine != NULL ? o->routine : d->name, o, dag_size(ctx));
    dag_status status = driver_grid(ctx, d, o, &choice);
    if (status == DAG_SUCCESS)
        status = d->run(ctx, o, &r);
    if (status == DAG_SUCCESS && !o->json)
        printf("simulated: nb %4" PRId64 ", grid %4dx%-4d %10.4g s, %6.1f %% without computation\n", r.nb,
               r.p, r.q, r.seconds, idle_percent(ctx, &r));
    (void)dag_fini(ctx);
    return status == DAG_SUCCESS ? r.seconds : -1;
}

/* The better of *best and another choice; 0 = an error. */
static int consider(const driver *d, const options *another, options *best, double *seconds)
{
    double s = try_once(d, another);
    if (s >= 0 && s < *seconds) {
        *seconds = s;
        *best = *another;
    }
    return s >= 0;
}

/* A prediction is to take seconds. */
static int worth_trying(int64_t n, int64_t nb)
{
    const double most = 150; /* tiles of a side */
    return nb < 64 || (double)n / (double)nb <= most;
}

int predict_choose(const driver *d, options *o, const char *program)
{
    static const int64_t sizes[] = {64, 96, 128, 160, 192, 256, 320, 384, 512, 768, 1024, 2048, 4096};
    enum { SIZES = sizeof(sizes) / sizeof(sizes[0]), SQUARER = 3 };
    options best = *o, quiet = *o;
    int ranks = (int)o->predict, tried = 0;
    double seconds = HUGE_VAL;
    quiet.report = quiet.progress = 0;
    if ((int64_t)o->p * o->q > ranks) {
        fprintf(stderr, "%s: --grid %dx%d has more processes than --predict %d has ranks\n", program, o->p,
                o->q, ranks);
        return DRIVER_USAGE;
    }
    for (int i = 0; i < SIZES && o->nb == 0; i++) {
        options another = quiet;
        another.nb = sizes[i];
        if (i > 0 && (!worth_trying(o->n, sizes[i]) || (tried > 0 && sizes[i] * 4 > o->n)))
            continue;
        if (i == 0 && !worth_trying(o->n, 2 * sizes[i]))
            continue;
        tried++;
        if (!consider(d, &another, &best, &seconds))
            return DRIVER_FAILED;
    }
    if (o->p == 0 && o->q == 0) {
        options with_size = best;
        with_size.report = with_size.progress = 0;
        int found = 0;
        for (int p = (int)sqrt((double)ranks); p >= 1 && found < SQUARER; p--) {
            options another = with_size;
            if (ranks % p != 0)
                continue;
            found++;
            another.p = p;
            another.q = ranks / p;
            if (!consider(d, &another, &best, &seconds))
                return DRIVER_FAILED;
            another.p = ranks / p;
            another.q = p;
            if (another.p != another.q && !consider(d, &another, &best, &seconds))
                return DRIVER_FAILED;
        }
    }
    o->nb = best.nb;
    o->p = best.p;
    o->q = best.q;
    return -1;
}

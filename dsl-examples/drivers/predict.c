/* Predictions: what a simulated run has come to. */
#include "predict.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

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

void predict_played(dag_simulation *s)
{
    *s = timed[1];
    s->busy -= timed[0].busy;
    s->talking -= timed[0].talking;
    s->tasks -= timed[0].tasks;
    s->messages -= timed[0].messages;
    s->bytes -= timed[0].bytes;
    s->leaving -= timed[0].leaving;
    s->renames -= timed[0].renames;
    s->device_tasks -= timed[0].device_tasks;
    s->device_bytes -= timed[0].device_bytes;
    s->device_busy -= timed[0].device_busy;
}

void predict_take(const dag_simulation *s)
{
    timed[0] = (dag_simulation){.machine = s->machine};
    timed[1] = *s;
}

double predict_idle_percent(const dag_context *ctx, const report *r)
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
    int known = to->tasks != PREDICT_UNKNOWN;
    printf(", \"simulated\": true, \"machine\": \"%s\"", to->machine);
    if (known)
        printf(", \"tasks\": %" PRId64 ", \"messages\": %" PRId64 ", \"bytes\": %" PRId64 ", \"leaving\": %" PRId64,
               to->tasks - from->tasks, to->messages - from->messages, to->bytes - from->bytes,
               to->leaving - from->leaving);
    printf(", \"%s\": %.0f, \"non_computation_percent\": %.6g", known ? "rank_bytes" : "matrix_bytes", rank_bytes(),
           predict_idle_percent(ctx, r));
    if (to->devices > 0 && known)
        printf(", \"device_tasks\": %" PRId64 ", \"device_bytes\": %" PRId64,
               to->device_tasks - from->device_tasks, to->device_bytes - from->device_bytes);
    if (to->devices > 0)
        printf(", \"device_count\": %" PRId64 ", \"device_idle_percent\": %.6g", to->devices, device_idle_percent(r));
}

void predict_text(const dag_context *ctx, const report *r)
{
    if (timed[1].machine == NULL)
        return;
    const char *of = timed[1].tasks != PREDICT_UNKNOWN ? "" : " of matrices";
    printf("simulated %s: machine '%s', workers compute nothing for %.1f %% of the time, %.4g MB%s per "
           "rank\n", r->routine, timed[1].machine, predict_idle_percent(ctx, r), 1e-6 * rank_bytes(), of);
    if (timed[1].devices > 0)
        printf("simulated %s: %" PRId64 " devices compute nothing for %.1f %% of the time\n", r->routine,
               timed[1].devices, device_idle_percent(r));
}

bool predict_allows(const dag_context *ctx, const options *o, const char *program)
{
    dag_simulation unused;
    if (o->sample[1] > 0 && !dag_simulation_get(ctx, &unused)) {
        if (dag_rank(ctx) == 0)
            fprintf(stderr, "%s: --sample is for simulated runs: give --predict, or start it by dag_sim\n", program);
        return false;
    }
    if (!dag_simulated(ctx) || !(o->check || o->matrix || o->rhs || o->out))
        return true;
    fprintf(stderr, "%s: a simulated run computes nothing: leave --check and files out\n", program);
    return false;
}

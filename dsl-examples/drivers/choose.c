/* --predict: which tile size and grid. */
#include "choose.h"

#include "predict.h"
#include "sample.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* One simulated run of a choice; its seconds, negative after an error, which has been said. */
static double try_once(const driver *d, const options *asked)
{
    dag_context *ctx;
    report r = {.routine = d->name};
    options with_grid = *asked, *o = &with_grid;
    dag_grid_choice choice;
    if (driver_start(o, &ctx) != DAG_SUCCESS)
        return -1;
    dag_status status = driver_grid(ctx, d, o, &choice);
    if (status == DAG_SUCCESS)
        status = sample_run(d, ctx, o, &r);
    if (status == DAG_SUCCESS && !o->json)
        printf("simulated%s: nb %4" PRId64 ", grid %4dx%-4d %10.4g s, %6.1f %% without computation\n",
               o->sample[1] > 0 ? ", extrapolated" : "", r.nb, r.p, r.q, r.seconds, predict_idle_percent(ctx, &r));
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

int choose_best(const driver *d, options *o, const char *program)
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
        if (i > 0 && (!worth_trying(sample_most(o), sizes[i]) || (tried > 0 && sizes[i] * 4 > sample_least(o))))
            continue;
        if (i == 0 && !worth_trying(sample_most(o), 2 * sizes[i]))
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

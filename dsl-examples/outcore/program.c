/* Out-of-core programs: which matrices and devices they can have, their registers, their run. */
#include "outcore.h"
#include "la/pools.h"

#include <dag/kernels.h>

#include <inttypes.h>
#include <stdlib.h>

/* What a device needs beside registers: the order of its queues, and the ends of allocations. */
enum { BESIDE = 8192 };

/* ---- what a program can have --------------------------------------------------------------- */

static void unsupported(dagi_check *c, const char *why, const char *more)
{
    c->status = dag_error(c->ctx, DAG_ERR_UNSUPPORTED, "%s: there is no program for devices: %s%s",
                          c->routine, why, more);
}

static int on_one_rank(const dag_matrix *a)
{
    return a->p * a->q == 1;
}

static int usable_devices(const dag_context *ctx)
{
    int count = 0;
    if (dag_devices(ctx) == 0)
        return 0;
    dag_device_stats stats;
    for (int d = 0; dag_device_stats_get(ctx, d, &stats); d++)
        count += !stats.failed;
    return count;
}

static void check_options(dagi_check *c, const dag_outcore_options *o)
{
    double all = 0;
    if (c->status != DAG_SUCCESS || o == NULL)
        return;
    if (o->block < 0 || (o->registers != 0 && (o->registers < DAGI_OUTCORE_FEWEST ||
                                               o->registers > DAGI_OUTCORE_FEWEST + 1)))
        dagi_check_fail(c,
                        "blocks of %" PRId64
                        " rows, %d registers; 5 or 6 registers can be asked for, or 0, and a "
                        "block has rows, or 0",
                        o->block, o->registers);
    for (int d = 0; c->status == DAG_SUCCESS && o->speed && d < dag_devices(c->ctx); d++) {
        if (!(o->speed[d] >= 0 && o->speed[d] < 1e300))
            dagi_check_fail(c, "the speed of device %d is %g; it is a number, at least 0", d + 1,
                            o->speed[d]);
        else
            all += o->speed[d];
    }
    if (c->status == DAG_SUCCESS && o->speed && dag_devices(c->ctx) > 0 && !(all > 0))
        dagi_check_fail(c, "all devices have the speed 0");
}

void dagi_outcore_check(dagi_check *c, dag_matrix *const *matrices, int count,
                        const dag_outcore_options *options)
{
    check_options(c, options);
    for (int i = 0; i < count && c->status == DAG_SUCCESS; i++) {
        const dag_matrix *a = matrices[i];
        if (!on_one_rank(a))
            unsupported(c, a->super.name, " lies on several ranks");
        else if (a->uplo != DAG_GENERAL && a->layout != DAG_LAYOUT_SLAB)
            unsupported(c, a->super.name,
                        " is a triangle of tiles; it has to be an array (slab layout)");
        for (int j = 0; j < i && c->status == DAG_SUCCESS; j++)
            if (a != matrices[j] &&
                dag_collection_whole(&a->super) == dag_collection_whole(&matrices[j]->super))
                unsupported(c, a->super.name,
                            " is a part of a matrix of which another part is used");
    }
    /* with the setting `stretch` it is, too, but there programs run */
    if (c->status == DAG_SUCCESS && dag_simulated(c->ctx) && usable_devices(c->ctx) == 0)
        unsupported(c, "the run is simulated", "");
    if (c->status == DAG_SUCCESS && matrices[0]->prow >= 0 && usable_devices(c->ctx) == 0)
        unsupported(c, dag_devices(c->ctx) ? "all devices have failed" : "there is no device: ",
                    dag_devices(c->ctx) ? "" : dag_devices_reason(c->ctx));
}

/* Do the matrices take more than `times` what all devices together have? */
static int too_large(const dag_context *ctx, dag_matrix *const *matrices, int count, double times)
{
    double needs = 0, room = 0;
    dag_device_stats stats;
    for (int i = 0; i < count; i++)
        needs += (double)matrices[i]->m * (double)matrices[i]->n *
                 (double)dag_precision_size(matrices[i]->prec);
    for (int d = 0; dag_device_stats_get(ctx, d, &stats); d++)
        room += stats.failed ? 0 : (double)stats.memory;
    return needs > times * room;
}

bool dagi_outcore_wanted(dagi_check *c, dag_matrix *const *matrices, int count, double times)
{
    if (c->status != DAG_SUCCESS) /* there may be no context */
        return false;
    dag_out_of_core setting = dag_out_of_core_wanted(c->ctx);
    if (setting == DAG_OUT_OF_CORE_GRAPH)
        return false;
    if (setting == DAG_OUT_OF_CORE_PROGRAM) {
        dagi_outcore_check(c, matrices, count, NULL);
        return c->status == DAG_SUCCESS;
    }
    if (dag_size(c->ctx) > 1 || usable_devices(c->ctx) == 0 ||
        !too_large(c->ctx, matrices, count, times))
        return false;
    dagi_check can;
    dagi_check_start(&can, c->ctx, c->routine);
    dagi_outcore_check(&can, matrices, count, NULL);
    return can.status == DAG_SUCCESS;
}

/* ---- devices ------------------------------------------------------------------------------- */

/* Operations in a second, as far as they are known; 0 = not yet. */
static double measured(const dag_device_stats *stats)
{
    return stats->busy > 0 ? stats->flops / stats->busy : 0;
}

static void take_devices(dagi_outcore *o)
{
    const double *given = o->options->speed;
    int all_measured = given == NULL && !dag_reproducible(o->ctx);
    dag_device_stats stats;
    for (int d = 0; o->ndevices < DAGI_OUTCORE_DEVICES && dag_device_stats_get(o->ctx, d, &stats);
         d++) {
        double speed = given ? given[d] : measured(&stats);
        if (stats.failed || (given && speed <= 0))
            continue;
        all_measured = all_measured && speed > 0;
        o->devices[o->ndevices++] = (dagi_outcore_device){
            .number = d + 1,
            .speed = speed,
            .items = (stats.memory - BESIDE) / (int64_t)dag_precision_size(o->prec)};
    }
    for (int d = 0; d < o->ndevices && !given && !all_measured; d++)
        o->devices[d].speed = 1;
}

/* ---- its life ------------------------------------------------------------------------------ */

dag_status dagi_outcore_begin(dagi_outcore *o, dag_context *ctx, const char *name,
                              dag_matrix *const *matrices, int count,
                              const dag_outcore_options *options, int *number)
{
    static const dag_outcore_options none;
    enum { ROOM = 8 };
    dag_matrix *own[ROOM];
    int nown = 0;
    for (int i = 0; i < count; i++) {
        int at = 0;
        while (at < nown && own[at] != matrices[i])
            at++;
        own[at] = matrices[i];
        nown += at == nown;
        number[i] = at;
    }
    *o = (dagi_outcore){.ctx = ctx,
                        .options = options ? options : &none,
                        .prec = matrices[0]->prec,
                        .here = matrices[0]->prow >= 0};
    o->devices = calloc((size_t)dag_devices(ctx) + 1, sizeof *o->devices);
    if (o->devices == NULL)
        return dag_error(ctx, DAG_ERR_NOMEM, "%s: out of memory", name);
    const dag_devprog_desc desc = {
        name, o->prec, own, nown, dagi_outcore_kernels(o->prec), DAGI_OUTCORE_KERNELS};
    dag_status status = dag_devprog_new(ctx, &desc, &o->program);
    if (status != DAG_SUCCESS)
        free(o->devices);
    else if (o->here)
        take_devices(o);
    return status;
}

dag_status dagi_outcore_end(dagi_outcore *o, dag_status status, dag_devprog **program)
{
    free(o->devices);
    if (status == DAG_SUCCESS)
        status = dag_devprog_check(o->program);
    if (status == DAG_SUCCESS)
        *program = o->program;
    else
        dag_devprog_free(o->program);
    return status;
}

dag_status dagi_outcore_run(dag_context *ctx, dag_devprog *program, dag_status status,
                            int64_t *info)
{
    status = dagi_la_agreed(ctx, "a program out of core", status);
    if (status == DAG_SUCCESS)
        status = dagi_run_info(ctx, dag_devprog_taskpool(program), info);
    dag_devprog_free(program);
    return status;
}

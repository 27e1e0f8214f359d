/*
 * Commands of programs, and programs that are only played: what their commands take on a usual machine (costs.c), by
 * the order of queues, registers and what was stored. So of blocks that cost about the same those are found that
 * keep nobody waiting.
 */
#include "outcore.h"

#include <math.h>
#include <stdlib.h>

enum { LD, EXEC, ST, QUEUES };
/* Of a device; and blocks that are remembered: a program that stores more of them is too long. */
enum { REGISTERS = 8, STORED = 1024 };

typedef struct clock {
    double queue[QUEUES], held[REGISTERS]; /* until when */
    int registers;
} clock;

struct dagi_outcore_play {
    clock *clocks; /* of the devices */
    struct stored {
        dag_devprog_part part;
        double end;
    } stored[STORED];
    int count;
    double end; /* INFINITY: it is too long */
};

static clock *clock_of(const dagi_outcore *o, const dagi_outcore_device *d)
{
    return &o->play->clocks[d - o->devices];
}

static int overlap(const dag_devprog_part *a, const dag_devprog_part *b)
{
    return a->of == b->of && a->i < b->i + b->m && b->i < a->i + a->m && a->j < b->j + b->n &&
           b->j < a->j + a->n;
}

/* What is still to come of a program that is too long does not matter. */
static int too_long(const dagi_outcore *o)
{
    return o->play->end == INFINITY;
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

static double play(const dagi_outcore *o, clock *c, int queue, double start, double takes)
{
    c->queue[queue] = later(start, c->queue[queue]) + takes;
    o->play->end = later(o->play->end, c->queue[queue]);
    return c->queue[queue];
}

static double takes(int kernel, const dag_devprog_part *t, int count)
{
    const dag_devprog_part second = count > 1 ? t[1] : t[0];
    const double items = (double)t[0].m * (double)t[0].n, m = (double)second.m,
                 n = (double)second.n;
    double each;
    switch (kernel) {
    case DAGI_OUTCORE_GEMM:
    case DAGI_OUTCORE_SET:
        each = sqrt(items * m * n * (double)t[2].m * (double)t[2].n);
        return dagi_products_cost(2 * each, each);
    case DAGI_OUTCORE_HERK:
        return dagi_products_cost(items * n, items * n / 2);
    case DAGI_OUTCORE_TRSM:
    case DAGI_OUTCORE_SOLVE:
        return dagi_products_cost((double)t[0].m * m * n, (double)t[0].m * m * n / 2);
    case DAGI_OUTCORE_POTRF:
        return dagi_potrf_cost((double)t[0].m);
    default:
        return dagi_within_cost(2 * items);
    }
}

int dagi_outcore_register(dagi_outcore *o, dagi_outcore_device *d, int64_t items)
{
    return o->play ? clock_of(o, d)->registers++
                   : dag_devprog_register(o->program, d->number, items);
}

void dagi_outcore_ld(dagi_outcore *o, dagi_outcore_device *d, int to, dag_devprog_part part)
{
    if (!o->play) {
        (void)dag_devprog_ld(o->program, to, part);
        return;
    }
    if (too_long(o))
        return;
    clock *c = clock_of(o, d);
    double start = c->held[to];
    for (int i = 0; i < o->play->count; i++)
        if (overlap(&part, &o->play->stored[i].part))
            start = later(start, o->play->stored[i].end);
    c->held[to] = play(o, c, LD, start, DAGI_A_COPY + (double)part.m * (double)part.n);
}

void dagi_outcore_st(dagi_outcore *o, dagi_outcore_device *d, int from, dag_devprog_part part)
{
    if (!o->play) {
        (void)dag_devprog_st(o->program, from, part);
        return;
    }
    if (too_long(o))
        return;
    clock *c = clock_of(o, d);
    c->held[from] = play(o, c, ST, c->held[from], DAGI_A_COPY + (double)part.m * (double)part.n);
    if (o->play->count < STORED)
        o->play->stored[o->play->count++] = (struct stored){part, c->held[from]};
    else
        o->play->end = INFINITY;
}

void dagi_outcore_exec(dagi_outcore *o, dagi_outcore_device *d, int kernel, const void *how,
                       size_t size, const dag_devprog_part *args)
{
    if (!o->play) {
        (void)dag_devprog_exec(o->program, d->number, kernel, how, size, args);
        return;
    }
    if (too_long(o))
        return;
    clock *c = clock_of(o, d);
    const int count = dagi_outcore_kernels(o->prec)[kernel]->nargs;
    double start = 0;
    for (int i = 0; i < count; i++)
        start = later(start, c->held[args[i].of]);
    const double end = play(o, c, EXEC, start, takes(kernel, args, count));
    for (int i = 0; i < count; i++)
        c->held[args[i].of] = end;
}

dagi_block_shape dagi_outcore_fastest(const dagi_outcore *o, const dagi_outcore_device *d,
                                      const dagi_shapes *list, dagi_outcore_fill *fill,
                                      const void *arg)
{
    const size_t count = (size_t)o->ndevices;
    dagi_block_shape best = list->shape[0];
    double least = INFINITY;
    struct dagi_outcore_play *played = malloc(sizeof *played);
    clock *clocks = malloc(count * sizeof *clocks);
    dagi_outcore_device *devices = malloc(count * sizeof *devices);
    for (int i = 0; i < list->count && played && clocks && devices; i++) {
        dagi_outcore copy = *o;
        for (size_t j = 0; j < count; j++) {
            devices[j] = o->devices[j];
            clocks[j] = (clock){.registers = 0};
        }
        played->clocks = clocks;
        played->count = 0;
        played->end = 0;
        copy.devices = devices;
        copy.play = played;
        fill(&copy, &devices[d - o->devices], &list->shape[i], arg);
        if (played->end == INFINITY)
            continue;
        if (played->end < least) {
            least = played->end;
            best = list->shape[i];
        }
    }
    free(devices);
    free(clocks);
    free(played);
    return best;
}

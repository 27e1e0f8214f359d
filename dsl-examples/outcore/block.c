/* The program of a block of a result, and its kernels. */
#include "outcore.h"

#include <dag/kernels.h>
#include <dag/kernels_device.h>

/* What kernels on squares go by; `at`: the first of its rows and columns. */
typedef struct square {
    dag_uplo uplo;
    int n;
    int64_t at;
} square;

#define DAG_TEMPLATE "outcore/kernels.inc.c"
#include <dag/each_precision.h>

#define POINTERS(k)                                                                                \
    {                                                                                              \
        &k[DAGI_OUTCORE_PAD], &k[DAGI_OUTCORE_GEMM], &k[DAGI_OUTCORE_SET], &k[DAGI_OUTCORE_SCALE], \
            &k[DAGI_OUTCORE_ZERO], &k[DAGI_OUTCORE_TRSM], &k[DAGI_OUTCORE_HERK],                   \
            &k[DAGI_OUTCORE_POTRF], &k[DAGI_OUTCORE_PANEL], &k[DAGI_OUTCORE_PANEL_NOPIV],          \
            &k[DAGI_OUTCORE_SWAP]                                                                  \
    }

const dag_devprog_kernel *const *dagi_outcore_kernels(dag_precision prec)
{
    static const dag_devprog_kernel *const kernels[][DAGI_OUTCORE_KERNELS] = {
        [DAG_S] = POINTERS(kernels_s),
        [DAG_D] = POINTERS(kernels_d),
        [DAG_C] = POINTERS(kernels_c),
        [DAG_Z] = POINTERS(kernels_z)};
    return kernels[prec];
}

static dag_devprog_part in_register(int number, dag_devprog_part like)
{
    return (dag_devprog_part){.of = number, .m = like.m, .n = like.n};
}

static int result_of(const dagi_outcore_device *d)
{
    return d->c[d->turn];
}

static void pad(dagi_outcore *o, const dagi_outcore_device *d, int from, int to,
                dag_devprog_part part)
{
    const dag_devprog_part both[] = {in_register(from, part), in_register(to, part)};
    (void)dag_devprog_exec(o->program, d->number, DAGI_OUTCORE_PAD, NULL, 0, both);
}

void dagi_outcore_open(dagi_outcore *o, dagi_outcore_device *d, dag_devprog_part part, int loads)
{
    d->turn = (d->turn + 1) % d->results;
    if (loads)
        (void)dag_devprog_ld(o->program, result_of(d), part);
}

void dagi_outcore_add(dagi_outcore *o, dagi_outcore_device *d, const dagi_outcore_product *how,
                      dag_devprog_part c, dag_devprog_part a, dag_devprog_part b)
{
    const dag_devprog_part args[] = {in_register(d->pa, a), in_register(d->pb, b),
                                     in_register(result_of(d), c)};
    (void)dag_devprog_ld(o->program, d->a, a);
    (void)dag_devprog_ld(o->program, d->b, b);
    pad(o, d, d->a, d->pa, a);
    pad(o, d, d->b, d->pb, b);
    (void)dag_devprog_exec(o->program, d->number,
                           how->beta == 0 ? DAGI_OUTCORE_SET : DAGI_OUTCORE_GEMM, how, sizeof *how,
                           args);
}

void dagi_outcore_solve_with(dagi_outcore *o, dagi_outcore_device *d, const dagi_outcore_solve *how,
                             dag_devprog_part c, dag_devprog_part a)
{
    /* of a product that it follows, the factor from A had these registers */
    const int left = how->side == DAG_LEFT, from = left ? d->a : d->b, to = left ? d->pa : d->pb;
    const dag_devprog_part args[] = {in_register(to, a), in_register(result_of(d), c)};
    (void)dag_devprog_ld(o->program, from, a);
    pad(o, d, from, to, a);
    (void)dag_devprog_exec(o->program, d->number, DAGI_OUTCORE_TRSM, how, sizeof *how, args);
}

void dagi_outcore_scale(dagi_outcore *o, dagi_outcore_device *d, dag_dcomplex beta,
                        dag_devprog_part c)
{
    const dag_devprog_part arg = in_register(result_of(d), c);
    (void)dag_devprog_exec(o->program, d->number,
                           beta == 0 ? DAGI_OUTCORE_ZERO : DAGI_OUTCORE_SCALE, &beta, sizeof beta,
                           &arg);
}

void dagi_outcore_add_square(dagi_outcore *o, dagi_outcore_device *d, dag_uplo uplo,
                             dag_devprog_part c, dag_devprog_part a)
{
    const dag_devprog_part args[] = {in_register(d->pa, a), in_register(result_of(d), c)};
    const square how = {uplo, (int)c.n, c.i};
    (void)dag_devprog_ld(o->program, d->a, a);
    pad(o, d, d->a, d->pa, a);
    (void)dag_devprog_exec(o->program, d->number, DAGI_OUTCORE_HERK, &how, sizeof how, args);
}

void dagi_outcore_factor(dagi_outcore *o, dagi_outcore_device *d, dag_uplo uplo, dag_devprog_part c)
{
    const dag_devprog_part args[] = {in_register(result_of(d), c),
                                     {.of = d->work, .m = d->work_items, .n = 1}};
    const square how = {uplo, (int)c.n, c.i};
    (void)dag_devprog_exec(o->program, d->number, DAGI_OUTCORE_POTRF, &how, sizeof how, args);
}

size_t dagi_outcore_factor_bytes(dag_precision prec, dag_uplo uplo, int n)
{
    static size_t (*const bytes[])(dag_uplo, int) = {
        [DAG_S] = dag_tile_sdev_potrf_workspace, [DAG_D] = dag_tile_ddev_potrf_workspace,
        [DAG_C] = dag_tile_cdev_potrf_workspace, [DAG_Z] = dag_tile_zdev_potrf_workspace};
    return bytes[prec](uplo, n);
}

void dagi_outcore_close(dagi_outcore *o, dagi_outcore_device *d, dag_devprog_part part)
{
    (void)dag_devprog_st(o->program, result_of(d), part);
}

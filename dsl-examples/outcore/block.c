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

/*
 * Triangles are inverted in squares of this order on their diagonal; what is beside these is multiplied. A solution
 * by an inverse has a residual of |T| |T^-1| |T| |x|, so what is lost is the condition of such a square alone, not
 * that of a block, which has thousands of rows.
 */
enum { INVERTED = 64 };

/* Where a triangle is halved, at a multiple of that. */
static int half_of(int n)
{
    return ((n - 1) / INVERTED + 1) / 2 * INVERTED;
}

/* Its first half is solved for first. */
static int begins(const dagi_outcore_solve *s)
{
    const int lower = (s->uplo == DAG_LOWER) == (s->trans == DAG_NO_TRANS);
    return lower == (s->side == DAG_LEFT);
}

/* Names of the template for one element type, and the heads of its bodies. */
#define OWN(name) DAG_PRECISION_CAT(name##_, DAG_PRECISION)
#define BODY(name) static int OWN(name)(struct dag_task *task, const void *scalars, const dag_tile_view *t)
#define DAG_TEMPLATE "outcore/kernels.inc.c"
#include <dag/each_precision.h>

#define POINTERS(k)                                                                                \
    {                                                                                              \
        &k[DAGI_OUTCORE_PAD], &k[DAGI_OUTCORE_GEMM], &k[DAGI_OUTCORE_SET], &k[DAGI_OUTCORE_SCALE], \
            &k[DAGI_OUTCORE_ZERO], &k[DAGI_OUTCORE_TRSM], &k[DAGI_OUTCORE_TRTRI],                  \
            &k[DAGI_OUTCORE_SOLVE], &k[DAGI_OUTCORE_HERK], &k[DAGI_OUTCORE_POTRF],                 \
            &k[DAGI_OUTCORE_PANEL], &k[DAGI_OUTCORE_PANEL_NOPIV], &k[DAGI_OUTCORE_SWAP]            \
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

static void pad(dagi_outcore *o, dagi_outcore_device *d, int from, int to, dag_devprog_part part)
{
    const dag_devprog_part both[] = {in_register(from, part), in_register(to, part)};
    dagi_outcore_exec(o, d, DAGI_OUTCORE_PAD, NULL, 0, both);
}

void dagi_outcore_open(dagi_outcore *o, dagi_outcore_device *d, dag_devprog_part part, int loads)
{
    d->turn = (d->turn + 1) % d->results;
    if (loads)
        dagi_outcore_ld(o, d, result_of(d), part);
}

void dagi_outcore_add(dagi_outcore *o, dagi_outcore_device *d, const dagi_outcore_product *how,
                      dag_devprog_part c, dag_devprog_part a, dag_devprog_part b)
{
    const dag_devprog_part args[] = {in_register(d->pa, a), in_register(d->pb, b),
                                     in_register(result_of(d), c)};
    dagi_outcore_ld(o, d, d->a, a);
    dagi_outcore_ld(o, d, d->b, b);
    pad(o, d, d->a, d->pa, a);
    pad(o, d, d->b, d->pb, b);
    dagi_outcore_exec(o, d, how->beta == 0 ? DAGI_OUTCORE_SET : DAGI_OUTCORE_GEMM, how, sizeof *how,
                      args);
}

void dagi_outcore_solve_with(dagi_outcore *o, dagi_outcore_device *d, const dagi_outcore_solve *how,
                             dag_devprog_part c, dag_devprog_part a)
{
    /* of a product that it follows, the factor from A had these registers */
    const int left = how->side == DAG_LEFT, from = left ? d->a : d->b, to = left ? d->pa : d->pb;
    const dag_devprog_part args[] = {in_register(to, a), in_register(result_of(d), c)};
    dagi_outcore_ld(o, d, from, a);
    pad(o, d, from, to, a);
    dagi_outcore_exec(o, d, DAGI_OUTCORE_TRSM, how, sizeof *how, args);
}

void dagi_outcore_invert(dagi_outcore *o, dagi_outcore_device *d, const dagi_outcore_solve *how,
                         dag_devprog_part a)
{
    const int from = how->side == DAG_LEFT ? d->a : d->b;
    const dag_devprog_part args[] = {in_register(from, a), in_register(d->inverse, a)};
    dagi_outcore_ld(o, d, from, a);
    dagi_outcore_exec(o, d, DAGI_OUTCORE_TRTRI, how, sizeof *how, args);
}

void dagi_outcore_solve_by_inverse(dagi_outcore *o, dagi_outcore_device *d,
                                   const dagi_outcore_solve *how, dag_devprog_part c,
                                   dag_devprog_part a)
{
    const dag_devprog_part args[] = {in_register(d->inverse, a), in_register(result_of(d), c)};
    dagi_outcore_exec(o, d, DAGI_OUTCORE_SOLVE, how, sizeof *how, args);
}

void dagi_outcore_scale(dagi_outcore *o, dagi_outcore_device *d, dag_dcomplex beta,
                        dag_devprog_part c)
{
    const dag_devprog_part arg = in_register(result_of(d), c);
    dagi_outcore_exec(o, d, beta == 0 ? DAGI_OUTCORE_ZERO : DAGI_OUTCORE_SCALE, &beta, sizeof beta,
                      &arg);
}

void dagi_outcore_add_square(dagi_outcore *o, dagi_outcore_device *d, dag_uplo uplo,
                             dag_devprog_part c, dag_devprog_part a)
{
    const dag_devprog_part args[] = {in_register(d->pa, a), in_register(result_of(d), c)};
    const square how = {uplo, (int)c.n, c.i};
    dagi_outcore_ld(o, d, d->a, a);
    pad(o, d, d->a, d->pa, a);
    dagi_outcore_exec(o, d, DAGI_OUTCORE_HERK, &how, sizeof how, args);
}

void dagi_outcore_factor(dagi_outcore *o, dagi_outcore_device *d, dag_uplo uplo, dag_devprog_part c)
{
    const dag_devprog_part args[] = {in_register(result_of(d), c),
                                     {.of = d->work, .m = d->work_items, .n = 1}};
    const square how = {uplo, (int)c.n, c.i};
    dagi_outcore_exec(o, d, DAGI_OUTCORE_POTRF, &how, sizeof how, args);
}

size_t dagi_outcore_factor_bytes(dag_precision prec, dag_uplo uplo, int n)
{
    static size_t (*const bytes[])(dag_uplo, int) = {[DAG_S] = dag_tile_sdev_potrf_workspace,
                                                     [DAG_D] = dag_tile_ddev_potrf_workspace,
                                                     [DAG_C] = dag_tile_cdev_potrf_workspace,
                                                     [DAG_Z] = dag_tile_zdev_potrf_workspace};
    return bytes[prec](uplo, n);
}

void dagi_outcore_close(dagi_outcore *o, dagi_outcore_device *d, dag_devprog_part part)
{
    dagi_outcore_st(o, d, result_of(d), part);
}

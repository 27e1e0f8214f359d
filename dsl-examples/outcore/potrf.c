/*
 * Cholesky factors, out of core: each block of the factor is made when those are there that it
 * needs, so it is stored once. Upper factors are the adjoints of lower ones, and so are their
 * blocks.
 */
#include "potrf.h"

struct factor {
    dagi_outcore *o;
    dag_uplo uplo;
    dagi_blocks cut;
};

/* Block (i, j) of the lower factor, or its adjoint. */
static dag_devprog_part block(const struct factor *f, int64_t i, int64_t j)
{
    int64_t at = dagi_block_at(&f->cut, i), left = dagi_block_at(&f->cut, j);
    int64_t m = dagi_block_at(&f->cut, i + 1) - at, n = dagi_block_at(&f->cut, j + 1) - left;
    return f->uplo == DAG_LOWER ? (dag_devprog_part){0, at, left, m, n}
                                : (dag_devprog_part){0, left, at, n, m};
}

static void add_diagonal(const struct factor *f, dagi_outcore_device *d, int64_t j)
{
    dag_devprog_part c = block(f, j, j);
    dagi_outcore_open(f->o, d, c, 1);
    for (int64_t k = 0; k < j; k++)
        dagi_outcore_add_square(f->o, d, f->uplo, c, block(f, j, k));
    dagi_outcore_factor(f->o, d, f->uplo, c);
    dagi_outcore_close(f->o, d, c);
}

static void add_below(const struct factor *f, dagi_outcore_device *d, int64_t i, int64_t j)
{
    const int lower = f->uplo == DAG_LOWER;
    const dagi_outcore_product minus = {lower ? DAG_NO_TRANS : DAG_CONJ_TRANS,
                                        lower ? DAG_CONJ_TRANS : DAG_NO_TRANS, -1, 1};
    const dagi_outcore_solve last = {lower ? DAG_RIGHT : DAG_LEFT, f->uplo, DAG_CONJ_TRANS,
                                     DAG_NON_UNIT, 1};
    dag_devprog_part c = block(f, i, j);
    dagi_outcore_open(f->o, d, c, 1);
    for (int64_t k = 0; k < j; k++) {
        dag_devprog_part own = block(f, i, k), other = block(f, j, k);
        dagi_outcore_add(f->o, d, &minus, c, lower ? own : other, lower ? other : own);
    }
    dagi_outcore_solve_with(f->o, d, &last, c, block(f, j, j));
    dagi_outcore_close(f->o, d, c);
}

/* The device that has done least for its speed takes the next block row. */
static int next_device(const dagi_outcore *o, double *done, double work)
{
    int best = 0;
    for (int d = 1; d < o->ndevices; d++)
        if (done[d] / o->devices[d].speed < done[best] / o->devices[best].speed)
            best = d;
    done[best] += work;
    return best;
}

/* Column by column, so that blocks next to each other do not wait for each other. */
static dag_status add_all(struct factor *f, int64_t n)
{
    int64_t side = n;
    for (int d = 0; d < f->o->ndevices; d++) {
        int64_t own = dagi_outcore_factor_side(f->o, &f->o->devices[d], f->uplo, n);
        side = own < side ? own : side;
    }
    for (int d = 0; d < f->o->ndevices && side > 0; d++)
        side = dagi_outcore_registers(f->o, &f->o->devices[d], n, n, n, side);
    if (side == 0)
        return DAG_ERR_NOMEM;
    f->cut = dagi_blocks_of(n, side);
    for (int d = 0; d < f->o->ndevices; d++)
        dagi_outcore_factor_work(f->o, &f->o->devices[d], f->uplo, &f->cut);
    for (int64_t j = 0; j < f->cut.count; j++) {
        double done[DAGI_OUTCORE_DEVICES] = {0};
        for (int64_t i = j; i < f->cut.count; i++) {
            dagi_outcore_device *d = &f->o->devices[next_device(f->o, done, 1)];
            if (i == j)
                add_diagonal(f, d, j);
            else
                add_below(f, d, i, j);
        }
    }
    return DAG_SUCCESS;
}

dag_status dagi_outcore_potrf_program(dag_context *ctx, dag_uplo uplo, dag_matrix *A,
                                      const dag_outcore_options *options, dag_devprog **program)
{
    int number;
    dagi_outcore o;
    dag_status status = dagi_outcore_begin(&o, ctx, "potrf", &A, 1, options, &number);
    if (status != DAG_SUCCESS)
        return status;
    struct factor f = {&o, uplo, {0}};
    if (o.here && A->n > 0)
        status = add_all(&f, A->n);
    return dagi_outcore_end(&o, status, program);
}

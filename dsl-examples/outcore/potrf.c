/*
 * Cholesky factors, out of core: each block of the factor is made when those are there that it
 * needs, so it is stored once. Upper factors are the adjoints of lower ones, and so are their
 * blocks.
 */
#include "potrf.h"

struct factor {
    dagi_outcore *o;
    dag_uplo uplo;
    int64_t n;
    dagi_blocks cut;
    int64_t k; /* sums that are added at a time */
};

/* Rows of block i, and columns [left, right), of the lower factor, or its adjoint. */
static dag_devprog_part part(const struct factor *f, int64_t i, int64_t left, int64_t right)
{
    int64_t at = dagi_block_at(&f->cut, i), m = dagi_block_at(&f->cut, i + 1) - at,
            n = right - left;
    return f->uplo == DAG_LOWER ? (dag_devprog_part){0, at, left, m, n}
                                : (dag_devprog_part){0, left, at, n, m};
}

static dag_devprog_part block(const struct factor *f, int64_t i, int64_t j)
{
    return part(f, i, dagi_block_at(&f->cut, j), dagi_block_at(&f->cut, j + 1));
}

/* What comes before a block column, in steps. */
static dagi_blocks steps_before(const struct factor *f, int64_t j)
{
    return dagi_blocks_of(dagi_block_at(&f->cut, j), f->k);
}

static dag_devprog_part step(const struct factor *f, const dagi_blocks *steps, int64_t i, int64_t k)
{
    return part(f, i, dagi_block_at(steps, k), dagi_block_at(steps, k + 1));
}

static void add_diagonal(const struct factor *f, dagi_outcore_device *d, int64_t j)
{
    dag_devprog_part c = block(f, j, j);
    const dagi_blocks steps = steps_before(f, j);
    dagi_outcore_open(f->o, d, c, 1);
    for (int64_t k = 0; k < steps.count; k++)
        dagi_outcore_add_square(f->o, d, f->uplo, c, step(f, &steps, j, k));
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
    const dagi_blocks steps = steps_before(f, j);
    dagi_outcore_open(f->o, d, c, 1);
    for (int64_t k = 0; k < steps.count; k++) {
        dag_devprog_part own = step(f, &steps, i, k), other = step(f, &steps, j, k);
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
static void add_all(dagi_outcore *o, dagi_outcore_device *unused, const dagi_block_shape *shape,
                    const void *arg)
{
    struct factor f = *(const struct factor *)arg;
    (void)unused;
    f.o = o;
    f.cut = dagi_blocks_of(f.n, shape->m);
    f.k = shape->k;
    for (int d = 0; d < o->ndevices; d++) {
        dagi_outcore_take_triangle(o, &o->devices[d], f.uplo == DAG_LOWER ? DAG_RIGHT : DAG_LEFT,
                                   shape);
        dagi_outcore_take_work(o, &o->devices[d], f.uplo, &f.cut);
    }
    for (int64_t j = 0; j < f.cut.count; j++) {
        double done[DAGI_OUTCORE_DEVICES] = {0};
        for (int64_t i = j; i < f.cut.count; i++) {
            dagi_outcore_device *d = &o->devices[next_device(o, done, 1)];
            if (i == j)
                add_diagonal(&f, d, j);
            else
                add_below(&f, d, i, j);
        }
    }
}

dag_status dagi_outcore_potrf_program(dag_context *ctx, dag_uplo uplo, dag_matrix *A,
                                      const dag_outcore_options *options, dag_devprog **program)
{
    int number;
    dagi_outcore o;
    dag_status status = dagi_outcore_begin(&o, ctx, "potrf", &A, 1, options, &number);
    if (status != DAG_SUCCESS)
        return status;
    const struct factor f = {.o = &o, .uplo = uplo, .n = A->n};
    if (o.here && A->n > 0) {
        const dagi_block_shape shape = dagi_outcore_factor_shape(&o, uplo, A->n, add_all, &f);
        if (shape.m > 0)
            add_all(&o, o.devices, &shape, &f);
        else
            status = DAG_ERR_NOMEM;
    }
    return dagi_outcore_end(&o, status, program);
}

/*
 * Triangular solves, out of core. Block i along the triangle is solved for when all products with
 * those before it have been subtracted; "before" is upwards where op(A) is upper on the left, or
 * lower on the right.
 */
#include "trsm.h"

typedef struct range {
    int64_t at, length;
} range;

struct solve {
    dagi_outcore *o;
    const dagi_outcore_trsm *t;
    int a, b;        /* numbers of matrices */
    int backward;    /* the last block is the first */
    range part;      /* of B, across, that a device has */
    dagi_blocks tri; /* of the triangle */
    dagi_block_shape shape;
};

static range block(const dagi_blocks *b, int64_t i)
{
    int64_t at = dagi_block_at(b, i);
    return (range){at, dagi_block_at(b, i + 1) - at};
}

/* The i-th that is solved for: cut in that order. */
static range in_turn(const struct solve *s, int64_t i)
{
    range own = block(&s->tri, i);
    if (s->backward)
        own.at = s->tri.length - own.at - own.length;
    return own;
}

/* These rows and columns of op(A). */
static dag_devprog_part of_a(const struct solve *s, range rows, range cols)
{
    return s->t->how.trans == DAG_NO_TRANS
               ? (dag_devprog_part){s->a, rows.at, cols.at, rows.length, cols.length}
               : (dag_devprog_part){s->a, cols.at, rows.at, cols.length, rows.length};
}

/* This part of B: along the triangle, and across. */
static dag_devprog_part of_b(const struct solve *s, range along, range across)
{
    return s->t->how.side == DAG_LEFT
               ? (dag_devprog_part){s->b, along.at, across.at, along.length, across.length}
               : (dag_devprog_part){s->b, across.at, along.at, across.length, along.length};
}

/* What is solved for before a block. */
static range before(const struct solve *s, range own)
{
    return s->backward ? (range){own.at + own.length, s->tri.length - own.at - own.length}
                       : (range){0, own.at};
}

/* The i-th step of it. */
static range step_of(const struct solve *s, const dagi_blocks *steps, range all, int64_t i)
{
    range step = block(steps, i);
    step.at = s->backward ? all.at + all.length - step.at - step.length : all.at + step.at;
    return step;
}

static void solve_block(const struct solve *s, dagi_outcore_device *d, int64_t i, range across)
{
    const dagi_outcore_solve *how = &s->t->how;
    const int left = how->side == DAG_LEFT;
    range own = in_turn(s, i), all = before(s, own);
    dag_devprog_part x = of_b(s, own, across), triangle = of_a(s, own, own);
    dagi_outcore_solve last = *how;
    dagi_outcore_open(s->o, d, x, how->alpha != 0);
    if (how->alpha == 0) {
        dagi_outcore_scale(s->o, d, 0, x);
        dagi_outcore_close(s->o, d, x);
        return;
    }
    const dagi_blocks steps = dagi_blocks_of(all.length, s->shape.k);
    for (int64_t k = 0; k < steps.count; k++) {
        range step = step_of(s, &steps, all, k);
        const dagi_outcore_product minus = {left ? how->trans : DAG_NO_TRANS,
                                            left ? DAG_NO_TRANS : how->trans, -1, last.alpha};
        if (left)
            dagi_outcore_add(s->o, d, &minus, x, of_a(s, own, step), of_b(s, step, across));
        else
            dagi_outcore_add(s->o, d, &minus, x, of_b(s, step, across), of_a(s, step, own));
        last.alpha = 1;
    }
    if (!s->shape.inverted) {
        dagi_outcore_solve_with(s->o, d, &last, x, triangle);
    } else {
        if (across.at == s->part.at)
            dagi_outcore_invert(s->o, d, how, triangle);
        dagi_outcore_solve_by_inverse(s->o, d, &last, x, triangle);
    }
    dagi_outcore_close(s->o, d, x);
}

/* One block of the triangle after the other; blocks across do not wait for each other. */
static void solve_part(dagi_outcore *o, dagi_outcore_device *d, const dagi_block_shape *shape,
                       const void *arg)
{
    struct solve s = *(const struct solve *)arg;
    const dagi_blocks across = dagi_blocks_of(s.part.length, shape->n);
    s.o = o;
    s.shape = *shape;
    s.tri = dagi_blocks_of(s.t->A->m, shape->m);
    dagi_outcore_take_triangle(o, d, s.t->how.side, shape);
    for (int64_t i = 0; i < s.tri.count; i++) {
        for (int64_t l = 0; l < across.count; l++) {
            range part = block(&across, l);
            part.at += s.part.at;
            solve_block(&s, d, i, part);
        }
    }
}

/* Columns of B are divided over the devices, or its rows where A is on the right. */
static dag_status divide(struct solve *s)
{
    const dag_matrix *B = s->t->B;
    int64_t part[DAGI_OUTCORE_DEVICES + 1];
    dagi_outcore_parts(s->o, s->t->how.side == DAG_LEFT ? B->n : B->m, part);
    for (int i = 0; i < s->o->ndevices; i++) {
        dagi_outcore_device *d = &s->o->devices[i];
        s->part = (range){part[i], part[i + 1] - part[i]};
        if (s->part.length == 0)
            continue;
        const dagi_block_shape shape =
            dagi_outcore_solve_shape(s->o, d, s->t->A->m, s->part.length, solve_part, s);
        if (shape.m == 0)
            return DAG_ERR_NOMEM;
        solve_part(s->o, d, &shape, s);
    }
    return DAG_SUCCESS;
}

dag_status dagi_outcore_trsm_program(dag_context *ctx, const dagi_outcore_trsm *t,
                                     const dag_outcore_options *options, dag_devprog **program)
{
    dag_matrix *const matrices[] = {t->B, t->A};
    int number[2];
    dagi_outcore o;
    dag_status status = dagi_outcore_begin(&o, ctx, "trsm", matrices, 2, options, number);
    if (status != DAG_SUCCESS)
        return status;
    int lower = (t->how.uplo == DAG_LOWER) == (t->how.trans == DAG_NO_TRANS);
    struct solve s = {.o = &o,
                      .t = t,
                      .a = number[1],
                      .b = number[0],
                      .backward = lower == (t->how.side == DAG_RIGHT)};
    if (o.here && t->B->m > 0 && t->B->n > 0)
        status = divide(&s);
    return dagi_outcore_end(&o, status, program);
}

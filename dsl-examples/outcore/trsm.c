/*
 * Triangular solves, out of core. Block i along the triangle is solved for when all products with
 * those before it have been subtracted; "before" is upwards where op(A) is upper on the left, or
 * lower on the right.
 */
#include "trsm.h"

struct solve {
    dagi_outcore *o;
    const dagi_outcore_trsm *t;
    int a, b;        /* numbers of matrices */
    int backward;    /* the last block is the first */
    dagi_blocks tri; /* of the triangle */
};

typedef struct range {
    int64_t at, length;
} range;

static range block(const dagi_blocks *b, int64_t i)
{
    int64_t at = dagi_block_at(b, i);
    return (range){at, dagi_block_at(b, i + 1) - at};
}

/* The i-th that is solved for. */
static range in_turn(const struct solve *s, int64_t i)
{
    return block(&s->tri, s->backward ? s->tri.count - 1 - i : i);
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

static void solve_block(const struct solve *s, dagi_outcore_device *d, int64_t i, range across)
{
    const dagi_outcore_solve *how = &s->t->how;
    const int left = how->side == DAG_LEFT;
    range own = in_turn(s, i);
    dag_devprog_part x = of_b(s, own, across);
    dagi_outcore_solve last = *how;
    dagi_outcore_open(s->o, d, x, how->alpha != 0);
    if (how->alpha == 0) {
        dagi_outcore_scale(s->o, d, 0, x);
        dagi_outcore_close(s->o, d, x);
        return;
    }
    for (int64_t k = 0; k < i; k++) {
        range before = in_turn(s, k);
        const dagi_outcore_product minus = {left ? how->trans : DAG_NO_TRANS,
                                            left ? DAG_NO_TRANS : how->trans, -1, last.alpha};
        if (left)
            dagi_outcore_add(s->o, d, &minus, x, of_a(s, own, before), of_b(s, before, across));
        else
            dagi_outcore_add(s->o, d, &minus, x, of_b(s, before, across), of_a(s, before, own));
        last.alpha = 1;
    }
    dagi_outcore_solve_with(s->o, d, &last, x, of_a(s, own, own));
    dagi_outcore_close(s->o, d, x);
}

/* One block of the triangle after the other; blocks across do not wait for each other. */
static dag_status solve_part(struct solve *s, dagi_outcore_device *d, int64_t first, int64_t length)
{
    int64_t order = s->t->A->m, left = s->t->how.side == DAG_LEFT;
    int64_t side =
        dagi_outcore_registers(s->o, d, left ? order : length,
                                          left ? length : order, order, INT64_MAX);
    if (side == 0)
        return DAG_ERR_NOMEM;
    const dagi_blocks across = dagi_blocks_of(length, side);
    s->tri = dagi_blocks_of(order, side);
    for (int64_t i = 0; i < s->tri.count; i++) {
        for (int64_t l = 0; l < across.count; l++) {
            range part = block(&across, l);
            part.at += first;
            solve_block(s, d, i, part);
        }
    }
    return DAG_SUCCESS;
}

/* Columns of B are divided over the devices, or its rows where A is on the right. */
static dag_status divide(struct solve *s)
{
    const dag_matrix *B = s->t->B;
    dag_status status = DAG_SUCCESS;
    int64_t part[DAGI_OUTCORE_DEVICES + 1];
    dagi_outcore_parts(s->o, s->t->how.side == DAG_LEFT ? B->n : B->m, part);
    for (int d = 0; d < s->o->ndevices && status == DAG_SUCCESS; d++)
        if (part[d + 1] > part[d])
            status = solve_part(s, &s->o->devices[d], part[d], part[d + 1] - part[d]);
    return status;
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
    struct solve s = {&o, t, number[1], number[0], lower == (t->how.side == DAG_RIGHT), {0}};
    if (o.here && t->B->m > 0 && t->B->n > 0)
        status = divide(&s);
    return dagi_outcore_end(&o, status, program);
}

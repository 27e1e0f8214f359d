/*
 * Norms. lange.jdf leaves what each local tile contributes in a slot of its own; here the slots
 * are added up in the order of the tiles, so that the result depends on the layout only, and then
 * over the ranks.
 */
#include "la/check.h"
#include "la/numbers.h"

#include "lange.h"

#include <math.h>
#include <stdlib.h>

/* What the norm is taken of. */
struct norm {
    dag_norm kind;
    dag_uplo uplo;
    dag_diag diag;    /* of a trapezoid */
    int mirror, herm; /* as in lange.jdf */
    dag_matrix *A;
    int64_t stride; /* numbers in a slot */
    double *slots;  /* one for each local tile, column by column */
    double *sums;   /* one, inf: of all columns or rows */
    double scale[2], squares[2];
};

/* scale^2 squares += s^2 q; an infinity stays one, and so does NaN. */
static void add_squares(double *scale, double *squares, double s, double q)
{
    if (s == 0 && !isnan(q))
        return;
    if (isnan(s) || isnan(q) || isnan(*squares)) {
        *squares = NAN;
    } else if (isinf(s) || isinf(*scale)) {
        *scale = INFINITY;
        *squares = 1;
    } else if (s > *scale) {
        *squares = q + *squares * (*scale / s) * (*scale / s);
        *scale = s;
    } else {
        *squares += q * (s / *scale) * (s / *scale);
    }
}

static void add_slot(struct norm *o, int64_t i, int64_t j, const double *slot)
{
    const dag_matrix *a = o->A;
    int columns = o->kind == DAG_NORM_ONE || o->mirror, rows = o->kind == DAG_NORM_INF || o->mirror;
    switch (o->kind) {
    case DAG_NORM_MAX:
        o->scale[0] = dagi_larger(o->scale[0], slot[0]);
        break;
    case DAG_NORM_FRO:
        for (int w = 0; w < 2; w++)
            add_squares(&o->scale[w], &o->squares[w], slot[2 * w], slot[2 * w + 1]);
        break;
    default:
        for (int64_t c = 0; columns && c < dag_matrix_tile_cols(a, j); c++)
            o->sums[j * a->nb + c] += slot[c];
        for (int64_t r = 0; rows && r < dag_matrix_tile_rows(a, i); r++)
            o->sums[i * a->mb + r] += slot[a->nb + r];
    }
}

/* Adds up the slots of this rank. */
static void add_slots(struct norm *o)
{
    const dag_matrix *a = o->A;
    if (a->prow < 0)
        return; /* not in the grid */
    int64_t rows = (a->mt - a->prow + a->p - 1) / a->p;
    for (int64_t j = a->pcol; j < a->nt; j += a->q)
        for (int64_t i = a->prow; i < a->mt; i += a->p)
            if (o->uplo == DAG_GENERAL || i == j || (i > j) == (o->uplo == DAG_LOWER))
                add_slot(o, i, j, o->slots + o->stride * (i / a->p + j / a->q * rows));
}

/* Length of `sums`. */
static int64_t lines(const struct norm *o)
{
    if (o->kind != DAG_NORM_ONE && o->kind != DAG_NORM_INF)
        return 0;
    return o->kind == DAG_NORM_ONE ? o->A->n : o->A->m; /* the same where `mirror` */
}

/* The norm from the sums of all ranks. */
static dag_status combine(dag_context *ctx, struct norm *o, double *value)
{
    dag_status status;
    *value = 0;
    if (o->kind == DAG_NORM_ONE || o->kind == DAG_NORM_INF) {
        status = dag_allreduce(ctx, DAG_SUM, o->sums, lines(o));
        for (int64_t k = 0; k < lines(o); k++)
            *value = dagi_larger(*value, o->sums[k]);
        return status;
    }
    if (o->kind == DAG_NORM_FRO) { /* from here on one pair */
        double scale = o->scale[0], squares = o->squares[0];
        add_squares(&scale, &squares, o->scale[1], 2 * o->squares[1]);
        o->scale[0] = scale;
        o->squares[0] = squares;
    }
    *value = o->scale[0];
    status = dag_allreduce(ctx, DAG_MAX, value, 1);
    if (status != DAG_SUCCESS || o->kind == DAG_NORM_MAX)
        return status;
    double part = *value == 0 || isinf(*value) ? 1 : o->scale[0] / *value;
    double sum = isnan(o->squares[0]) ? NAN : o->scale[0] == 0 ? 0 : o->squares[0] * part * part;
    status = dag_allreduce(ctx, DAG_SUM, &sum, 1);
    *value = isnan(sum) ? NAN : *value * sqrt(sum);
    return status;
}

static dag_status run(dag_context *ctx, struct norm *o, double *value)
{
    DAGI_MAKERS(lange) make[4] = DAGI_FOUR(lange);
    dag_matrix *a = o->A;
    size_t tiles =
        a->prow < 0 ? 0 : (size_t)((a->mt + a->p) / a->p) * (size_t)((a->nt + a->q) / a->q);
    o->stride = o->kind == DAG_NORM_MAX ? 1 : o->kind == DAG_NORM_FRO ? 4 : a->mb + a->nb;
    o->slots = calloc(tiles * (size_t)o->stride + 1, sizeof(double));
    o->sums = calloc((size_t)lines(o) + 1, sizeof(double));
    int failed = o->slots == NULL || o->sums == NULL;
    if (failed)
        (void)dag_error(ctx, DAG_ERR_NOMEM, "no memory for the sums of a norm");
    dag_status status = dag_agree(ctx, failed ? DAG_ERR_NOMEM : DAG_SUCCESS, NULL);
    if (status == DAG_SUCCESS)
        status =
            dag_run(ctx, make[a->prec](ctx, a, o->kind, o->uplo == DAG_LOWER, o->uplo == DAG_UPPER,
                                       o->mirror, o->herm, o->diag == DAG_UNIT, o->slots, o->stride));
    if (status == DAG_SUCCESS) {
        add_slots(o);
        status = combine(ctx, o, value);
    }
    free(o->slots);
    free(o->sums);
    return status;
}

enum shape { GENERAL, SQUARE, TRAPEZOID };

static dag_status norm(dag_context *ctx, const char *routine, struct norm o, enum shape shape,
                       double *value)
{
    dagi_check c;
    dagi_check_start(&c, ctx, routine);
    dagi_check_matrix(&c, "A", o.A);
    dagi_check_present(&c, "value", value);
    dagi_check_norm(&c, o.kind, DAG_NORM_MAX, DAG_NORM_FRO);
    if (shape == TRAPEZOID)
        dagi_check_diag(&c, o.diag);
    if (shape == SQUARE)
        dagi_check_square(&c, "A", o.uplo, o.A);
    else
        dagi_check_triangle(&c, "A", o.uplo, shape == GENERAL, o.A);
    return dagi_check_agreed(&c) ? run(ctx, &o, value) : c.status;
}

dag_status dag_lange(dag_context *ctx, dag_norm kind, dag_matrix *A, double *value)
{
    return norm(ctx, "dag_lange", (struct norm){.kind = kind, .uplo = DAG_GENERAL, .A = A}, GENERAL,
                value);
}

dag_status dag_lansy(dag_context *ctx, dag_norm kind, dag_uplo uplo, dag_matrix *A, double *value)
{
    return norm(ctx, "dag_lansy", (struct norm){.kind = kind, .uplo = uplo, .mirror = 1, .A = A},
                SQUARE, value);
}

dag_status dag_lanhe(dag_context *ctx, dag_norm kind, dag_uplo uplo, dag_matrix *A, double *value)
{
    return norm(ctx, "dag_lanhe",
                (struct norm){.kind = kind, .uplo = uplo, .mirror = 1, .herm = 1, .A = A}, SQUARE,
                value);
}

dag_status dag_lantr(dag_context *ctx, dag_norm kind, dag_uplo uplo, dag_diag diag, dag_matrix *A,
                     double *value)
{
    return norm(ctx, "dag_lantr",
                (struct norm){.kind = kind, .uplo = uplo, .diag = diag, .A = A},
                TRAPEZOID, value);
}

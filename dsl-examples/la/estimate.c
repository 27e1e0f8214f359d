/* Hager's and Higham's estimate of the one-norm of an operator. */
#include "estimate.h"
#include "check.h"
#include "columns.h"

#include <dag/la.h>
#include <dag/view.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { STEPS = 5 }; /* LAPACK's ITMAX */

/* Of each column, in one block of memory. */
typedef struct columns {
    int64_t count;
    double *norm; /* the result */
    double *sum;  /* of absolute values */
    double *most; /* the largest absolute value ... */
    double *last; /* ..., behind them that in row `where`, */
    double *next; /* ... and the first row that has it */
    double *where;
} columns;

/* ---- over the local elements ------------------------------------------------------------- */

static dag_status set_start(dag_matrix *X, int64_t ti, int64_t tj, const dag_element *e, void *arg)
{
    const double x[2] = {1 / (double)X->m, 0};
    (void)ti, (void)tj, (void)arg;
    for (int64_t j = 0; j < e->shape.n; j++)
        for (int64_t i = 0; i < e->shape.m; i++)
            dagi_set_element(X->prec, e->ptr, i + j * e->ld, x);
    return DAG_SUCCESS;
}

static dag_status set_unit(dag_matrix *X, int64_t ti, int64_t tj, const dag_element *e, void *arg)
{
    const columns *c = arg;
    for (int64_t j = 0; j < e->shape.n; j++)
        for (int64_t i = 0; i < e->shape.m; i++) {
            const double x[2] = {(double)(ti * X->mb + i) == c->where[tj * X->nb + j], 0};
            dagi_set_element(X->prec, e->ptr, i + j * e->ld, x);
        }
    return DAG_SUCCESS;
}

/* 1, -(1 + 1/(n-1)), 1 + 2/(n-1), ..., +-2: finds what the steps have missed by cancellation. */
static dag_status set_alternating(dag_matrix *X, int64_t ti, int64_t tj, const dag_element *e,
                                  void *arg)
{
    (void)tj, (void)arg;
    for (int64_t j = 0; j < e->shape.n; j++)
        for (int64_t i = 0; i < e->shape.m; i++) {
            int64_t row = ti * X->mb + i;
            double size = 1 + (double)row / (double)(X->m - 1);
            const double x[2] = {row % 2 == 0 ? size : -size, 0};
            dagi_set_element(X->prec, e->ptr, i + j * e->ld, x);
        }
    return DAG_SUCCESS;
}

static dag_status take_signs(dag_matrix *X, int64_t ti, int64_t tj, const dag_element *e, void *arg)
{
    (void)ti, (void)tj, (void)arg;
    for (int64_t j = 0; j < e->shape.n; j++)
        for (int64_t i = 0; i < e->shape.m; i++) {
            double x[2];
            dagi_element(X->prec, e->ptr, i + j * e->ld, x);
            double size = hypot(x[0], x[1]);
            x[0] = size > 0 ? x[0] / size : 1;
            x[1] = size > 0 ? x[1] / size : 0;
            dagi_set_element(X->prec, e->ptr, i + j * e->ld, x);
        }
    return DAG_SUCCESS;
}

static dag_status look(dag_matrix *X, int64_t ti, int64_t tj, const dag_element *e, void *arg)
{
    columns *c = arg;
    for (int64_t j = 0; j < e->shape.n; j++)
        for (int64_t i = 0; i < e->shape.m; i++) {
            int64_t column = tj * X->nb + j;
            double x[2];
            dagi_element(X->prec, e->ptr, i + j * e->ld, x);
            double size = hypot(x[0], x[1]), row = (double)(ti * X->mb + i);
            c->sum[column] += size;
            c->most[column] = fmax(c->most[column], size);
            if (row == c->where[column])
                c->last[column] = size;
        }
    return DAG_SUCCESS;
}

static dag_status find(dag_matrix *X, int64_t ti, int64_t tj, const dag_element *e, void *arg)
{
    const columns *c = arg;
    for (int64_t j = 0; j < e->shape.n; j++)
        for (int64_t i = 0; i < e->shape.m; i++) {
            int64_t column = tj * X->nb + j;
            double x[2];
            dagi_element(X->prec, e->ptr, i + j * e->ld, x);
            if (hypot(x[0], x[1]) == c->most[column])
                c->next[column] = fmin(c->next[column], (double)(ti * X->mb + i));
        }
    return DAG_SUCCESS;
}

/* ---- the steps --------------------------------------------------------------------------- */

/* sum[], and with `rows` also most[], last[] and next[]. */
static dag_status measure(dag_context *ctx, dag_matrix *X, columns *c, bool rows)
{
    for (int64_t j = 0; j < c->count; j++) {
        c->sum[j] = 0;
        c->most[j] = c->last[j] = -1;
        c->next[j] = (double)X->m;
    }
    (void)dag_matrix_each_local(X, look, c);
    dag_status status = dag_allreduce(ctx, DAG_SUM, c->sum, c->count);
    if (status != DAG_SUCCESS || !rows)
        return status;
    status = dag_allreduce(ctx, DAG_MAX, c->most, 2 * c->count);
    if (status != DAG_SUCCESS)
        return status;
    (void)dag_matrix_each_local(X, find, c);
    return dag_allreduce(ctx, DAG_MIN, c->next, c->count);
}

/* norm[] is at least the sums of M X. A NaN stays. */
static void keep_larger(columns *c, double scale)
{
    for (int64_t j = 0; j < c->count; j++)
        if (scale * c->sum[j] > c->norm[j] || isnan(c->sum[j]))
            c->norm[j] = scale * c->sum[j];
}

/* X := M^H sign(X), and where its columns are largest. */
static dag_status back(dag_context *ctx, dagi_la_operator apply, void *arg, dag_matrix *X,
                       columns *c)
{
    (void)dag_matrix_each_local(X, take_signs, NULL);
    dag_status status = apply(arg, 1, X);
    return status == DAG_SUCCESS ? measure(ctx, X, c, true) : status;
}

/* The next column of M for each column of X; false when all have been seen. */
static bool go_on(columns *c)
{
    bool any = false;
    for (int64_t j = 0; j < c->count; j++) {
        any |= c->last[j] != c->most[j];
        c->where[j] = c->next[j];
    }
    return any;
}

static dag_status steps(dag_context *ctx, dagi_la_operator apply, void *arg, dag_matrix *X,
                        columns *c)
{
    (void)dag_matrix_each_local(X, set_start, NULL);
    dag_status status = apply(arg, 0, X);
    if (status == DAG_SUCCESS)
        status = measure(ctx, X, c, false);
    if (status != DAG_SUCCESS)
        return status;
    keep_larger(c, 1);
    if (X->m == 1)
        return DAG_SUCCESS;
    status = back(ctx, apply, arg, X, c);
    for (int i = 1; status == DAG_SUCCESS && i < STEPS && go_on(c); i++) {
        (void)dag_matrix_each_local(X, set_unit, c);
        status = apply(arg, 0, X);
        if (status == DAG_SUCCESS)
            status = measure(ctx, X, c, false);
        if (status == DAG_SUCCESS)
            keep_larger(c, 1);
        if (status == DAG_SUCCESS)
            status = back(ctx, apply, arg, X, c);
    }
    (void)dag_matrix_each_local(X, set_alternating, NULL);
    if (status == DAG_SUCCESS)
        status = apply(arg, 0, X);
    if (status == DAG_SUCCESS)
        status = measure(ctx, X, c, false);
    if (status == DAG_SUCCESS)
        keep_larger(c, 2 / (3 * (double)X->m));
    return status;
}

/* ---- of a single operator ------------------------------------------------------------------ */

/* Signs of real elements, of this rank's part of a vector in slab layout. */
typedef struct signs {
    char *negative; /* of each local element; NULL where elements are complex */
    int64_t at;
    bool changed;
} signs;

static dag_status keep_signs(dag_matrix *X, int64_t ti, int64_t tj, const dag_element *e, void *arg)
{
    signs *s = arg;
    (void)ti, (void)tj;
    for (int64_t i = 0; i < e->shape.m; i++) {
        double x[2];
        dagi_element(X->prec, e->ptr, i, x);
        char negative = x[0] < 0;
        s->changed |= negative != s->negative[s->at];
        s->negative[s->at++] = negative;
    }
    return DAG_SUCCESS;
}

/* Whether an element of X has another sign than the last time, anywhere; true where that means nothing. */
static dag_status signs_changed(dag_context *ctx, dag_matrix *X, signs *s, bool *changed)
{
    *changed = true;
    if (dag_precision_is_complex(X->prec))
        return DAG_SUCCESS;
    s->at = 0;
    s->changed = false;
    (void)dag_matrix_each_local(X, keep_signs, s);
    double any = s->changed;
    dag_status status = dag_allreduce(ctx, DAG_MAX, &any, 1);
    *changed = any != 0;
    return status;
}

/* The first column as set_start(), the second as set_alternating(). */
static dag_status set_both(dag_matrix *X, int64_t ti, int64_t tj, const dag_element *e, void *arg)
{
    dag_element column = *e;
    column.shape.n = 1;
    (void)set_start(X, ti, tj, &column, arg);
    column.ptr = (char *)e->ptr + (size_t)e->ld * e->shape.elem;
    return X->m > 1 ? set_alternating(X, ti, tj, &column, arg) : DAG_SUCCESS;
}

/* norm of what M makes of both vectors that do not depend on it: one pass over the factors. */
static dag_status begin(dag_context *ctx, dagi_la_operator apply, void *arg, dag_matrix *X,
                        double *norm)
{
    double room[10];
    columns both = {2, room, room + 2, room + 4, room + 6, room + 8, NULL};
    double nowhere[2] = {-1, -1};
    both.where = nowhere;
    (void)dag_matrix_each_local(X, set_both, NULL);
    dag_status status = apply(arg, 0, X);
    if (status == DAG_SUCCESS)
        status = measure(ctx, X, &both, false);
    double second = X->m > 1 ? 2 * both.sum[1] / (3 * (double)X->m) : 0;
    *norm = both.sum[0] >= second || isnan(both.sum[0]) ? both.sum[0] : second;
    return status;
}

/* The steps of LAPACK's lacn2, which ends where a step has not gained or would be the last one again. */
static dag_status go(dag_context *ctx, dagi_la_operator apply, void *arg, dag_matrix *X, signs *s,
                     columns *c)
{
    bool changed;
    dag_status status = signs_changed(ctx, X, s, &changed);
    if (status == DAG_SUCCESS)
        status = back(ctx, apply, arg, X, c);
    for (int i = 1; status == DAG_SUCCESS && i < STEPS && go_on(c); i++) {
        double last = c->norm[0];
        (void)dag_matrix_each_local(X, set_unit, c);
        status = apply(arg, 0, X);
        if (status == DAG_SUCCESS)
            status = measure(ctx, X, c, false);
        if (status != DAG_SUCCESS)
            break;
        keep_larger(c, 1);
        if (c->sum[0] <= last)
            break;
        status = signs_changed(ctx, X, s, &changed);
        if (status != DAG_SUCCESS || !changed)
            break;
        status = back(ctx, apply, arg, X, c);
    }
    return status;
}

dag_status dagi_la_estimate_one(dag_context *ctx, dagi_la_operator apply, void *arg, dag_matrix *X,
                                double *norm)
{
    signs s = {.negative = calloc((size_t)X->m + 1, 1)};
    double room[5] = {0};
    columns c = {.count = 1, .norm = norm, .sum = room, .most = room + 1, .last = room + 2,
                 .next = room + 3, .where = room + 4};
    dag_status status = s.negative != NULL ? DAG_SUCCESS
                                           : dag_error(ctx, DAG_ERR_NOMEM, "no memory for signs");
    status = dagi_la_agreed(ctx, "estimate of a norm", status);
    *norm = 0;
    c.where[0] = -1;
    if (status == DAG_SUCCESS)
        status = begin(ctx, apply, arg, X, norm);
    if (status == DAG_SUCCESS && X->m > 1) {
        dag_matrix first;
        dag_view_top(X, X->m, 1, &first);
        status = go(ctx, apply, arg, &first, &s, &c);
    }
    free(s.negative);
    return status;
}

/* ---- of several ---------------------------------------------------------------------------- */

dag_status dagi_la_estimate(dag_context *ctx, dagi_la_operator apply, void *arg, dag_matrix *X,
                            double *norm)
{
    size_t k = (size_t)X->n;
    double *room = malloc((5 * k + 1) * sizeof(*room));
    dag_status status = room != NULL ? DAG_SUCCESS
                                     : dag_error(ctx, DAG_ERR_NOMEM, "no memory for estimates");
    status = dagi_la_agreed(ctx, "estimate of a norm", status);
    if (status == DAG_SUCCESS) {
        columns c = {.count = X->n, .norm = norm, .sum = room, .most = room + k,
                     .last = room + 2 * k, .next = room + 3 * k, .where = room + 4 * k};
        for (int64_t j = 0; j < c.count; j++) {
            c.norm[j] = 0;
            c.where[j] = -1;
        }
        if (X->m > 0 && X->n > 0)
            status = steps(ctx, apply, arg, X, &c);
    }
    free(room);
    return status;
}

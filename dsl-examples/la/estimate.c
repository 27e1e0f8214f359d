/* Hager's and Higham's estimate of the one-norm of an operator. */
#include "estimate.h"
#include "check.h"
#include "columns.h"

#include <dag/view.h>

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 5 /* LAPACK's ITMAX */, PROBES = DAGI_LA_PROBES };

/* What is known of each column, in one block of memory. */
typedef struct columns {
    int64_t count;
    double *norm; /* the result */
    double *sum;  /* of absolute values */
    double *most; /* the largest absolute value ... */
    double *last; /* ..., behind them that in row `where`, */
    double *next; /* ... and the first row that has it */
    double *where;
} columns;

/* The absolute value of an element. */
static double element_size(dag_precision prec, const void *tile, int64_t at)
{
    double x[2];
    dagi_element(prec, tile, at, x);
    return dag_precision_is_complex(prec) ? hypot(x[0], x[1]) : fabs(x[0]);
}

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
            double size = dag_precision_is_complex(X->prec) ? hypot(x[0], x[1]) : fabs(x[0]);
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
            double size = element_size(X->prec, e->ptr, i + j * e->ld);
            double row = (double)(ti * X->mb + i);
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
            if (element_size(X->prec, e->ptr, i + j * e->ld) == c->most[column])
                c->next[column] = fmin(c->next[column], (double)(ti * X->mb + i));
        }
    return DAG_SUCCESS;
}

/* ---- the steps --------------------------------------------------------------------------- */

enum { SUM, MOST, LAST, NEXT, ITEMS }; /* of a column, as ranks tell them each other */

/* What one rank has found enters what others have. */
static void combine(columns *c, int64_t j, const double *item)
{
    c->sum[j] += item[SUM];
    c->last[j] = fmax(c->last[j], item[LAST]);
    if (item[MOST] > c->most[j] || (item[MOST] == c->most[j] && item[NEXT] < c->next[j]))
        c->next[j] = item[NEXT];
    c->most[j] = fmax(c->most[j], item[MOST]);
}

static void forget(columns *c, const dag_matrix *X)
{
    for (int64_t j = 0; j < c->count; j++) {
        c->sum[j] = 0;
        c->most[j] = c->last[j] = -1;
        c->next[j] = (double)X->m;
    }
}

/* All that measure() finds, of few columns on few ranks, in one exchange. */
static dag_status measure_few(dag_context *ctx, dag_matrix *X, columns *c)
{
    double all[DAG_LEAST_MOST];
    int64_t count = ITEMS * c->count;
    (void)dag_matrix_each_local(X, find, c);
    for (int64_t j = 0; j < c->count; j++) {
        double *own = &all[dag_rank(ctx) * count + ITEMS * j];
        own[SUM] = c->sum[j];
        own[MOST] = c->most[j];
        own[LAST] = c->last[j];
        own[NEXT] = c->next[j];
    }
    dag_status status = dagi_la_gather(ctx, all, count);
    forget(c, X);
    for (int64_t i = 0; status == DAG_SUCCESS && i < dag_size(ctx) * c->count; i++)
        combine(c, i % c->count, &all[ITEMS * i]);
    return status;
}

/* sum[], and with `rows` also most[], last[] and next[]. */
static dag_status measure(dag_context *ctx, dag_matrix *X, columns *c, bool rows)
{
    forget(c, X);
    (void)dag_matrix_each_local(X, look, c);
    if (rows && dag_size(ctx) * ITEMS * c->count <= DAG_LEAST_MOST)
        return measure_few(ctx, X, c);
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

/* ---- a sketch ------------------------------------------------------------------------------ */

/* What X = M^H S says of the columns of M, which its rows belong to, where S has random signs: no element
 * of a row is above the one-norm of that column, and their size is that of the column's two-norm. */
typedef struct sketch {
    double row[PROBES], size[PROBES]; /* rows with the largest elements, falling; row -1: there is none */
    double bound; /* about what the one-norms of all columns are below: see bound_of() */
} sketch;

/* A column of M is its largest element, which the absolute values of the row have in common, and the rest,
 * of which the two-norm shows in how much they differ; its one-norm is larger by sqrt(m) at most. */
static double bound_of(double mean, double most, double least, int64_t m)
{
    return mean + sqrt((double)m) * (most - least) / 2;
}

/* Signs that depend on the row alone: splitmix64. */
static dag_status set_signs(dag_matrix *X, int64_t ti, int64_t tj, const dag_element *e, void *arg)
{
    (void)tj, (void)arg;
    for (int64_t i = 0; i < e->shape.m; i++) {
        uint64_t bits = (uint64_t)(ti * X->mb + i + 1) * 0x9e3779b97f4a7c15u;
        bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
        bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
        bits ^= bits >> 31;
        for (int64_t j = 0; j < e->shape.n; j++) {
            const double x[2] = {bits >> j & 1 ? 1 : -1, 0};
            dagi_set_element(X->prec, e->ptr, i + j * e->ld, x);
        }
    }
    return DAG_SUCCESS;
}

/* A size that is no number is larger than all; of equal ones the first row's. */
static void enter(sketch *k, double row, double size)
{
    int at = PROBES;
    while (at > 0 && (k->row[at - 1] < 0 || size > k->size[at - 1] || isnan(size) ||
                      (size == k->size[at - 1] && row < k->row[at - 1])))
        at--;
    if (at == PROBES)
        return;
    for (int i = PROBES - 1; i > at; i--) {
        k->row[i] = k->row[i - 1];
        k->size[i] = k->size[i - 1];
    }
    k->row[at] = row;
    k->size[at] = size;
}

static dag_status draw(dag_matrix *X, int64_t ti, int64_t tj, const dag_element *e, void *arg)
{
    sketch *k = arg;
    (void)tj;
    for (int64_t i = 0; i < e->shape.m; i++) {
        double most = 0, least = INFINITY, sum = 0;
        for (int64_t j = 0; j < e->shape.n; j++) {
            double size = element_size(X->prec, e->ptr, i + j * e->ld);
            sum += size;
            most = fmax(most, size);
            least = fmin(least, size);
        }
        enter(k, (double)(ti * X->mb + i), isnan(sum) ? sum : most);
        k->bound = fmax(k->bound, bound_of(sum / (double)e->shape.n, most, least, X->m));
    }
    return DAG_SUCCESS;
}

static const sketch EMPTY = {.row = {-1, -1, -1, -1}};
static_assert(PROBES == 4, "EMPTY has as many rows");

/* *k is drawn from the rows of all ranks. `all`: of each rank. */
static dag_status draw_all(dag_context *ctx, dag_matrix *X, sketch *all, sketch *k)
{
    all[dag_rank(ctx)] = EMPTY;
    (void)dag_matrix_each_local(X, draw, &all[dag_rank(ctx)]);
    dag_status status = dagi_la_gather(ctx, (double *)all, sizeof(sketch) / sizeof(double));
    *k = EMPTY;
    for (int r = 0; status == DAG_SUCCESS && r < dag_size(ctx); r++) {
        for (int i = 0; i < PROBES && all[r].row[i] >= 0; i++)
            enter(k, all[r].row[i], all[r].size[i]);
        k->bound = fmax(k->bound, all[r].bound);
    }
    return status;
}

/* The first column becomes that of which `arg` is the number. */
static dag_status take_column(dag_matrix *X, int64_t ti, int64_t tj, const dag_element *e, void *arg)
{
    const int *column = arg;
    (void)ti, (void)tj;
    size_t size = (size_t)e->shape.m * e->shape.elem;
    if (*column > 0)
        memcpy(e->ptr, (char *)e->ptr + (size_t)(*column * e->ld) * e->shape.elem, size);
    (void)X;
    return DAG_SUCCESS;
}

/* *norm is that of the largest of those PROBES columns of M which may be the largest after a sketch. It is
 * the first one of X then, and *where its number. *sure: none can be larger by much, but by bad luck with
 * the signs. */
static dag_status begin(dag_context *ctx, dagi_la_operator apply, void *arg, dag_matrix *X,
                        sketch *all, double *norm, double *where, bool *sure)
{
    double room[4 * PROBES];
    sketch k;
    (void)dag_matrix_each_local(X, set_signs, NULL);
    dag_status status = apply(arg, 1, X);
    if (status == DAG_SUCCESS)
        status = draw_all(ctx, X, all, &k);
    if (status != DAG_SUCCESS)
        return status;
    *norm = INFINITY;
    *sure = true;
    if (!isfinite(k.size[0]))
        return DAG_SUCCESS;
    columns c = {.count = PROBES, .sum = room, .most = room + PROBES, .last = room + 2 * PROBES,
                 .next = room + 3 * PROBES, .where = k.row};
    (void)dag_matrix_each_local(X, set_unit, &c);
    status = apply(arg, 0, X);
    if (status == DAG_SUCCESS)
        status = measure(ctx, X, &c, false);
    if (status != DAG_SUCCESS)
        return status;
    int best = 0;
    for (int j = 1; j < PROBES; j++)
        if (c.sum[j] > c.sum[best] || isnan(c.sum[j]))
            best = j;
    *norm = c.sum[best];
    *where = k.row[best];
    *sure = X->m <= PROBES || !isfinite(*norm) || *norm >= k.bound / 4;
    (void)dag_matrix_each_local(X, take_column, &best);
    return DAG_SUCCESS;
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

dag_status dagi_la_estimate_one(dag_context *ctx, dag_status mine, dagi_la_operator apply, void *arg,
                                dag_matrix *X, double *norm)
{
    signs s = {.negative = mine == DAG_SUCCESS ? calloc((size_t)X->m + 1, 1) : NULL};
    sketch *all = calloc((size_t)dag_size(ctx), sizeof(*all));
    double room[5] = {0};
    bool sure;
    columns c = {.count = 1, .norm = norm, .sum = room, .most = room + 1, .last = room + 2,
                 .next = room + 3, .where = room + 4};
    if (mine == DAG_SUCCESS && (s.negative == NULL || all == NULL))
        mine = dag_error(ctx, DAG_ERR_NOMEM, "no memory for an estimate");
    dag_status status = dagi_la_agreed(ctx, "estimate of a norm", mine);
    *norm = 0;
    if (status == DAG_SUCCESS)
        status = begin(ctx, apply, arg, X, all, norm, c.where, &sure);
    if (status == DAG_SUCCESS && !sure) {
        dag_matrix first;
        dag_view_top(X, X->m, 1, &first);
        status = go(ctx, apply, arg, &first, &s, &c);
    }
    free(all);
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

/* What is known of the columns of a matrix: loops over the tiles of this rank. For right-hand
 * sides, whose columns are few. */
#include "columns.h"

#include <dag/la.h>

#include <math.h>

void dagi_element(dag_precision prec, const void *tile, int64_t at, double part[2])
{
    const float *f = tile;
    const double *d = tile;
    part[1] = 0;
    switch (prec) {
    case DAG_S: part[0] = (double)f[at]; break;
    case DAG_D: part[0] = d[at]; break;
    case DAG_C: part[0] = (double)f[2 * at]; part[1] = (double)f[2 * at + 1]; break;
    case DAG_Z: part[0] = d[2 * at]; part[1] = d[2 * at + 1]; break;
    }
}

void dagi_set_element(dag_precision prec, void *tile, int64_t at, const double part[2])
{
    float *f = tile;
    double *d = tile;
    switch (prec) {
    case DAG_S: f[at] = (float)part[0]; break;
    case DAG_D: d[at] = part[0]; break;
    case DAG_C: f[2 * at] = (float)part[0]; f[2 * at + 1] = (float)part[1]; break;
    case DAG_Z: d[2 * at] = part[0]; d[2 * at + 1] = part[1]; break;
    }
}

static dag_status maxima(dag_matrix *A, int64_t ti, int64_t tj, const dag_element *e, void *most)
{
    double *to = (double *)most + tj * A->nb;
    (void)ti;
    for (int64_t j = 0; j < e->shape.n; j++)
        for (int64_t i = 0; i < e->shape.m; i++) {
            double x[2], size;
            dagi_element(A->prec, e->ptr, i + j * e->ld, x);
            size = fabs(x[0]) + fabs(x[1]);
            if (size > to[j] || isnan(size))
                to[j] = size;
        }
    return DAG_SUCCESS;
}

void dagi_column_maxima(dag_matrix *A, double *most)
{
    (void)dag_matrix_each_local(A, maxima, most);
}

/* The largest element here in rows from, ..., to - 1 of each column, and the sum of squares of its
 * quotients with all of them. */
typedef struct squares {
    int64_t from, to;
    double *most, *sum;
} squares;

static dag_status add_squares(dag_matrix *A, int64_t ti, int64_t tj, const dag_element *e, void *arg)
{
    const squares *s = arg;
    for (int64_t j = 0; j < e->shape.n; j++)
        for (int64_t i = 0; i < e->shape.m; i++) {
            int64_t row = ti * A->mb + i;
            double x[2], *most = &s->most[tj * A->nb + j], *sum = &s->sum[tj * A->nb + j];
            dagi_element(A->prec, e->ptr, i + j * e->ld, x);
            double size = hypot(x[0], x[1]);
            if (row < s->from || row >= s->to || size == 0)
                continue;
            if (size > *most) {
                *sum = 1 + *sum * (*most / size) * (*most / size);
                *most = size;
            } else {
                *sum += (size / *most) * (size / *most); /* a NaN stays one */
            }
        }
    return DAG_SUCCESS;
}

dag_status dagi_column_norms(dag_context *ctx, dag_matrix *A, int64_t from, int64_t to, double *norm,
                             double *room)
{
    double *most = room, *mine = room + A->n; /* of all ranks, of this one */
    squares s = {from, to, mine, norm};
    for (int64_t j = 0; j < A->n; j++)
        norm[j] = mine[j] = 0;
    (void)dag_matrix_each_local(A, add_squares, &s);
    for (int64_t j = 0; j < A->n; j++)
        most[j] = mine[j];
    dag_status status = dag_allreduce(ctx, DAG_MAX, most, A->n);
    for (int64_t j = 0; j < A->n; j++)
        if (most[j] > 0)
            norm[j] *= (mine[j] / most[j]) * (mine[j] / most[j]);
    if (status == DAG_SUCCESS)
        status = dag_allreduce(ctx, DAG_SUM, norm, A->n);
    for (int64_t j = 0; j < A->n; j++)
        norm[j] = most[j] * sqrt(norm[j]);
    return status;
}

static dag_status find_zero(dag_matrix *A, int64_t ti, int64_t tj, const dag_element *e,
                            void *first)
{
    double *number = first;
    for (int64_t i = 0; ti == tj && i < e->shape.n; i++) {
        double x[2], at = (double)(ti * A->nb + i + 1);
        dagi_element(A->prec, e->ptr, i + i * e->ld, x);
        if (x[0] == 0 && x[1] == 0 && at < *number)
            *number = at;
    }
    return DAG_SUCCESS;
}

dag_status dagi_first_zero(dag_context *ctx, dag_matrix *A, int64_t *number)
{
    double none = (double)A->n + 1, first = none;
    (void)dag_matrix_each_local(A, find_zero, &first);
    dag_status status = dag_allreduce(ctx, DAG_MIN, &first, 1);
    *number = first == none ? 0 : (int64_t)first;
    return status;
}

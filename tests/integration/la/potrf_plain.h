/* A Cholesky factor judged in the plain way: gathered, and multiplied out element by element. */
#ifndef POTRF_PLAIN_H
#define POTRF_PLAIN_H

#include <dag/kernels.h>
#include <dag/la.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>

static inline void get(dag_precision prec, const void *a, size_t at, double x[2])
{
    const float *f = a;
    const double *d = a;
    x[0] = dag_precision_real(prec) == DAG_S ? (prec == DAG_C ? f[2 * at] : f[at])
                                             : (prec == DAG_Z ? d[2 * at] : d[at]);
    x[1] = prec == DAG_C ? f[2 * at + 1] : prec == DAG_Z ? d[2 * at + 1] : 0;
}

static inline void original(dag_precision prec, int64_t n, void *a)
{
    int m = (int)n;
    if (n == 0)
        return;
    switch (prec) {
    case DAG_S: dag_tile_splghe((float)n, m, m, a, m, n, 0, 0, 3); break;
    case DAG_D: dag_tile_dplghe((double)n, m, m, a, m, n, 0, 0, 3); break;
    case DAG_C: dag_tile_cplghe((float)n, m, m, a, m, n, 0, 0, 3); break;
    case DAG_Z: dag_tile_zplghe((double)n, m, m, a, m, n, 0, 0, 3); break;
    }
}

/* max |A - L L^H| / (max |A| n eps), element by element, and the other triangle against A. */
static inline double plain_error(dag_precision prec, dag_uplo uplo, int64_t n, const void *f,
                          const void *a, int other_is_kept)
{
    double eps = dag_precision_real(prec) == DAG_S ? FLT_EPSILON : DBL_EPSILON;
    double worst = 0, largest = 0;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++) {
            double x[2], y[2], sum[2];
            /* entry (i, j) of the lower triangle: from column vectors of L, or of U^H */
            int64_t row = uplo == DAG_LOWER ? i : j, col = uplo == DAG_LOWER ? j : i;
            get(prec, a, (size_t)(row + col * n), sum);
            largest = fmax(largest, hypot(sum[0], sum[1]));
            for (int64_t k = 0; k <= j; k++) {
                get(prec, f, (size_t)(uplo == DAG_LOWER ? row + k * n : k + row * n), x);
                get(prec, f, (size_t)(uplo == DAG_LOWER ? col + k * n : k + col * n), y);
                /* L(row,k) conj(L(col,k)), or conj(U(k,row)) U(k,col) */
                double sign = uplo == DAG_LOWER ? 1 : -1;
                sum[0] -= x[0] * y[0] + x[1] * y[1];
                sum[1] -= sign * (x[1] * y[0] - x[0] * y[1]);
            }
            worst = fmax(worst, hypot(sum[0], sum[1]));
            get(prec, f, (size_t)(col + row * n), x);
            get(prec, a, (size_t)(col + row * n), y);
            if (other_is_kept && i != j && (x[0] != y[0] || x[1] != y[1]))
                return INFINITY;
        }
    return n == 0 ? 0 : worst / (largest * (double)n * eps);
}

static inline dag_status multiply_out(dag_context *ctx, dag_matrix *factor, dag_uplo uplo, double *error)
{
    int64_t n = factor->n, ld = n > 0 ? n : 1;
    size_t bytes = (size_t)(ld * ld) * dag_precision_size(factor->prec);
    void *f = NULL, *a = NULL;
    if (dag_rank(ctx) == 0) {
        f = calloc(1, bytes);
        a = calloc(1, bytes);
        if (f == NULL || a == NULL)
            abort();
    }
    dag_status status = dag_matrix_gather(factor, f, ld);
    if (status == DAG_SUCCESS && dag_rank(ctx) == 0) {
        original(factor->prec, n, a);
        *error = plain_error(factor->prec, uplo, n, f, a, factor->uplo == DAG_GENERAL);
    }
    free(f);
    free(a);
    return status;
}

#endif

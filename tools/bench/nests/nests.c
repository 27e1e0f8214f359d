/*
 * One factorisation, again and again: by the graph of HEADER, which MAKE(ARGS) makes, or, where NEST
 * is defined, by that nest as tasks of OpenMP, which RUN(A) calls. Where IN_TURN is defined, the
 * inverse of a positive definite matrix by the three graphs that the library has for it.
 *
 *     bench_nests_... N NB THREADS RUNS
 *
 * The matrix is symmetric with a large diagonal, so that Cholesky and LU without pivoting have nothing
 * to complain of. Prints a JSON object with the median rate in GFlop/s, with DAG_SIMULATE that of the machine
 * that is played; WORK is the number of operations in units of N^3.
 */
#ifdef NEST
#include <dag/dag.h>
#include <dag/sequential.h>
#include NEST
#include <omp.h>
#elif defined(IN_TURN)
#include "lauum.h"
#include "potrf_L.h"
#include "trtri.h"
#include <dag/kernels.h>
#include <dag/matrix.h>
#else
#include HEADER
#include <dag/matrix.h>
#endif

#include <stdio.h>
#include <stdlib.h>

enum { MAX_RUNS = 100 };

static dag_status fill_tile(dag_matrix *a, int64_t i, int64_t j, const dag_element *tile, void *arg)
{
    (void)tile, (void)arg;
    int64_t ld, rows = dag_matrix_tile_rows(a, i), cols = dag_matrix_tile_cols(a, j);
    double *x = dag_matrix_at(a, i, j, &ld);
    for (int64_t c = 0; c < cols; c++)
        for (int64_t r = 0; r < rows; r++) {
            int64_t row = i * a->mb + r, col = j * a->nb + c, sum = row + col;
            x[r + c * ld] = row == col ? 2.0 * (double)a->n : (double)(sum * sum % 101) / 101.0;
        }
    return DAG_SUCCESS;
}

#ifndef NEST
static dag_status run_graphs(dag_context *ctx, dag_matrix *A)
{
#ifdef IN_TURN
    dag_status status = dag_run(ctx, potrf_L_d_new(ctx, A));
    status = status ? status : dag_run(ctx, trtri_d_new(ctx, A, 1, DAG_NON_UNIT));
    return status ? status : dag_run(ctx, lauum_d_new(ctx, A, 1));
#else
    return dag_run(ctx, MAKE(ARGS));
#endif
}
#endif

/* Seconds of one factorisation. */
static double factor(dag_context *ctx, dag_matrix *A, int threads)
{
    if (dag_matrix_each_local(A, fill_tile, NULL))
        exit(1);
#ifdef NEST
    omp_set_num_threads(threads);
    double begin = dag_seconds(ctx);
#pragma omp parallel
#pragma omp single
    RUN(A);
    double end = dag_seconds(ctx);
    if (dag_seq_info != 0)
        exit(1);
#else
    (void)threads;
    double begin = dag_seconds(ctx);
    dag_status status = run_graphs(ctx, A);
    double end = dag_seconds(ctx);
    if (status != DAG_SUCCESS) {
        fprintf(stderr, "%s\n", dag_message(ctx));
        exit(1);
    }
#endif
    return end - begin;
}

static int by_size(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

int main(int argc, char **argv)
{
    char why[512] = "no memory";
    dag_context *ctx;
    dag_config *config = dag_config_new();
    int n = argc == 5 ? atoi(argv[1]) : 0, nb = argc == 5 ? atoi(argv[2]) : 0;
    int runs = argc == 5 ? atoi(argv[4]) : 0;
    if (n < 1 || nb < 1 || runs < 1 || runs > MAX_RUNS) {
        fprintf(stderr, "usage: %s N NB THREADS RUNS\n", argv[0]);
        return 2;
    }
#ifdef NEST
    const char *workers = "1"; /* the threads are those of OpenMP */
#else
    const char *workers = argv[3];
#endif
    if (config == NULL || dag_config_set(config, "threads", workers, why, sizeof(why)) ||
        dag_init(&ctx, config, why, sizeof(why))) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    dag_config_free(config);
    dag_matrix *A;
    dag_matrix_desc desc = {.prec = DAG_D, .m = n, .n = n, .mb = nb, .nb = nb};
    if (dag_matrix_new(ctx, &desc, &A)) {
        fprintf(stderr, "%s\n", dag_message(ctx));
        return 1;
    }
    double seconds[MAX_RUNS];
    factor(ctx, A, atoi(argv[3])); /* memory is touched, threads are there */
    for (int i = 0; i < runs; i++)
        seconds[i] = factor(ctx, A, atoi(argv[3]));
    qsort(seconds, (size_t)runs, sizeof(double), by_size);
    if (dag_rank(ctx) == 0)
        printf("{\"gflops\": %.6g}\n", WORK * n * (double)n * n / seconds[runs / 2] * 1e-9);
    dag_matrix_free(A);
    dag_fini(ctx);
    return 0;
}

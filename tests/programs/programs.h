/* What the programs share: who owns what, and how a difference is told. */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include <dag/matrix.h>
#include <dag/vector.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Runs one program and compares what it has made: how much of it is wrong on this rank. */
typedef int program(dag_context *ctx);
#define PROGRAMS(X)                                                                                \
    X(transpose) X(paths) X(stencil3d) X(fft) X(throttle) X(bitonic) X(jacobi) X(lu) X(collect)    \
    X(align) X(nbody) X(csr) X(product3d)                                                       \
    X(cholesky) X(qr)
#define PROGRAMS_DECLARE(name) program check_##name;
PROGRAMS(PROGRAMS_DECLARE)

/* A number in 0 .. 1 that depends on i alone. */
static inline double noise(int64_t i)
{
    uint64_t x = ((uint64_t)i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    return (double)((x ^ (x >> 31)) >> 11) / (double)(UINT64_C(1) << 53);
}

/* The pool is run and freed; 1 when that failed. */
static inline int failed(dag_context *ctx, dag_taskpool *pool)
{
    if (dag_run(ctx, pool) == DAG_SUCCESS)
        return 0;
    fprintf(stderr, "rank %d: %s\n", dag_rank(ctx), dag_message(ctx));
    return 1;
}

/* 1, with a line, when they differ by more than `most`. */
static inline int differs(const char *what, int64_t i, double have, double want, double most)
{
    if (fabs(have - want) <= most)
        return 0;
    fprintf(stderr, "%s %lld: %.17g, expected %.17g\n", what, (long long)i, have, want);
    return 1;
}

/* A vector whose elements are `bytes` of numbers from noise(), element by element. */
static inline dag_vector *vector_of(dag_context *ctx, int64_t count, size_t bytes)
{
    dag_vector *v = NULL;
    if (dag_vector_new(ctx, count, bytes, &v) != DAG_SUCCESS)
        return NULL;
    int64_t n = (int64_t)(bytes / sizeof(double));
    for (int64_t i = 0; i < count; i++) {
        double *x = dag_vector_at(v, i);
        for (int64_t k = 0; x && k < n; k++)
            x[k] = noise(i * n + k);
    }
    return v;
}

/* How many numbers of this rank's elements differ by more than `most` from those at `want`. */
static inline int compare_vector(const dag_vector *v, const char *what, const double *want,
                                 double most)
{
    int wrong = 0;
    int64_t n = (int64_t)(v->bytes / sizeof(double));
    for (int64_t i = 0; i < v->count; i++) {
        const double *x = dag_vector_at(v, i);
        for (int64_t k = 0; x && k < n; k++)
            wrong += differs(what, i * n + k, x[k], want[i * n + k], most);
    }
    return wrong;
}

/* Element (r, c), of this program or of the serial one. */
typedef double entry(int64_t r, int64_t c);

/* A matrix on a grid of all ranks that is as square as can be; NULL = none. */
static inline dag_matrix *matrix_of(dag_context *ctx, int64_t m, int64_t n, int64_t mb, int64_t nb)
{
    dag_matrix *a = NULL;
    dag_matrix_desc desc = {.prec = DAG_D, .m = m, .n = n, .mb = mb, .nb = nb};
    return dag_matrix_new(ctx, &desc, &a) == DAG_SUCCESS ? a : NULL;
}

typedef struct tile_job {
    entry *of;
    const char *what; /* NULL: elements are set, else compared */
    double most;
    int wrong;
} tile_job;

static inline dag_status tile_work(dag_matrix *a, int64_t i, int64_t j, const dag_element *tile,
                                   void *arg)
{
    tile_job *job = arg;
    double *x = tile->ptr;
    for (int64_t c = 0; c < tile->shape.n; c++)
        for (int64_t r = 0; r < tile->shape.m; r++) {
            double want = job->of(i * a->mb + r, j * a->nb + c);
            if (!job->what)
                x[r + c * tile->ld] = want;
            else
                job->wrong += differs(job->what, i * a->mb + r, x[r + c * tile->ld], want,
                                      job->most);
        }
    return DAG_SUCCESS;
}

static inline void set(dag_matrix *a, entry *of)
{
    tile_job job = {.of = of};
    dag_matrix_each_local(a, tile_work, &job);
}

static inline int compare(dag_matrix *a, const char *what, entry *of, double most)
{
    tile_job job = {.of = of, .what = what, .most = most};
    dag_matrix_each_local(a, tile_work, &job);
    return job.wrong;
}

#endif

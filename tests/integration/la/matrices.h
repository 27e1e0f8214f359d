/* Matrices of the tests of the library of algorithms: made, compared, and computed with as a
 * whole. */
#ifndef TESTS_LA_MATRICES_H
#define TESTS_LA_MATRICES_H

#include <dag/la.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Element `at` of an array of any type. */
static inline dag_dcomplex get(dag_precision prec, const void *a, size_t at)
{
    const float *f = a;
    const double *d = a;
    switch (prec) {
    case DAG_S:
        return f[at];
    case DAG_D:
        return d[at];
    case DAG_C:
        return __builtin_complex((double)f[2 * at], (double)f[2 * at + 1]);
    default:
        return __builtin_complex(d[2 * at], d[2 * at + 1]);
    }
}

static inline void put(dag_precision prec, void *a, size_t at, dag_dcomplex x)
{
    float *f = a;
    double *d = a, re = __builtin_creal(x), im = __builtin_cimag(x);
    switch (prec) {
    case DAG_S:
        f[at] = (float)re;
        break;
    case DAG_D:
        d[at] = re;
        break;
    case DAG_C:
        f[2 * at] = (float)re;
        f[2 * at + 1] = (float)im;
        break;
    case DAG_Z:
        d[2 * at] = re;
        d[2 * at + 1] = im;
        break;
    }
}

static inline void *allocate(size_t bytes)
{
    void *p = calloc(1, bytes + 16);
    if (p == NULL)
        abort();
    return p;
}

/* A whole matrix in one piece, the same on all ranks. */
typedef struct whole {
    dag_precision prec;
    int64_t m, n;
    void *a;
} whole;

static inline whole whole_new(dag_precision prec, int64_t m, int64_t n)
{
    whole w = {prec, m, n, allocate((size_t)(m * n) * dag_precision_size(prec))};
    return w;
}

/* A number below `values`, by Knuth's linear congruence. */
static inline uint64_t draw_from(uint64_t *state, uint64_t values)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) % values;
}

static inline whole drawn_whole(uint64_t *state, dag_precision prec, int64_t m, int64_t n)
{
    whole w = whole_new(prec, m, n);
    for (int64_t i = 0; i < m * n; i++) {
        double re = (double)draw_from(state, 2001) / 1000 - 1, im = (double)draw_from(state, 2001) / 1000 - 1;
        put(prec, w.a, (size_t)i, __builtin_complex(re, im));
    }
    return w;
}

static inline dag_dcomplex whole_get(whole w, int64_t i, int64_t j)
{
    return get(w.prec, w.a, (size_t)(i + j * w.m));
}

static inline void whole_put(whole w, int64_t i, int64_t j, dag_dcomplex x)
{
    put(w.prec, w.a, (size_t)(i + j * w.m), x);
}

/* Copies the local tiles of `a` from (to) the whole. */
static inline dag_status tile_from_whole(dag_matrix *a, int64_t ti, int64_t tj,
                                         const dag_element *e, void *arg)
{
    const whole *w = arg;
    for (int64_t j = 0; j < e->shape.n; j++)
        for (int64_t i = 0; i < e->shape.m; i++)
            put(a->prec, e->ptr, (size_t)(i + j * e->ld),
                whole_get(*w, ti * a->mb + i, tj * a->nb + j));
    return DAG_SUCCESS;
}

static inline void fill_from(dag_matrix *a, whole w)
{
    (void)dag_matrix_each_local(a, tile_from_whole, &w);
}

/* Largest difference of a local tile from the whole; NaN in only one of them is infinity. */
struct difference {
    whole w;
    double most;
};

static inline dag_status tile_difference(dag_matrix *a, int64_t ti, int64_t tj,
                                         const dag_element *e, void *arg)
{
    struct difference *d = arg;
    for (int64_t j = 0; j < e->shape.n; j++)
        for (int64_t i = 0; i < e->shape.m; i++) {
            dag_dcomplex x = get(a->prec, e->ptr, (size_t)(i + j * e->ld));
            dag_dcomplex y = whole_get(d->w, ti * a->mb + i, tj * a->nb + j);
            double off = __builtin_cabs(x - y);
            if (isnan(off))
                off = isnan(__builtin_cabs(x)) && isnan(__builtin_cabs(y)) ? 0 : INFINITY;
            d->most = fmax(d->most, off);
        }
    return DAG_SUCCESS;
}

static inline double difference_from(dag_matrix *a, whole w)
{
    struct difference d = {w, 0};
    (void)dag_matrix_each_local(a, tile_difference, &d);
    return d.most;
}

static inline dag_matrix *matrix_of(dag_context *ctx, dag_matrix_desc desc)
{
    dag_matrix *a = NULL;
    if (dag_matrix_new(ctx, &desc, &a) != DAG_SUCCESS) {
        fprintf(stderr, "%s\n", dag_message(ctx));
        abort();
    }
    return a;
}

#endif

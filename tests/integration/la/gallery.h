/* Matrices that are hard to solve with: of the gallery, and some made singular here. */
#ifndef TESTS_LA_GALLERY_H
#define TESTS_LA_GALLERY_H

#include "matrices.h"

enum { NB = 20 };

static inline void must(dag_context *ctx, dag_status status)
{
    if (status == DAG_SUCCESS)
        return;
    fprintf(stderr, "%s\n", dag_message(ctx));
    abort();
}

static inline dag_matrix *distribute(dag_context *ctx, whole w, int p, int q)
{
    dag_matrix *A = matrix_of(ctx, (dag_matrix_desc){.prec = w.prec, .m = w.m, .n = w.n, .mb = NB,
                                                     .nb = NB, .p = p, .q = q});
    fill_from(A, w);
    return A;
}

static inline whole of_kind(dag_context *ctx, dag_precision prec, const char *kind, int64_t m, int64_t n,
                     double cond)
{
    whole w = whole_new(prec, m, n);
    dag_maker *maker = NULL;
    const dag_maker_desc desc = {.kind = kind, .m = m, .n = n, .cond = cond, .seed = 5,
                                 .is_complex = dag_precision_is_complex(prec)};
    must(ctx, dag_maker_new(ctx, &desc, &maker));
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            double x[2];
            dag_maker_element(maker, i, j, x);
            whole_put(w, i, j, __builtin_complex(x[0], x[1]));
        }
    dag_maker_free(maker);
    return w;
}

/* The product of two random matrices. */
static inline whole of_rank(dag_context *ctx, dag_precision prec, int64_t m, int64_t n, int64_t rank)
{
    whole w = whole_new(prec, m, n), a = of_kind(ctx, prec, "random", m, rank, 0),
          b = of_kind(ctx, prec, "random", rank, n, 0);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            dag_dcomplex sum = 0;
            for (int64_t k = 0; k < rank; k++)
                sum += whole_get(a, i, k) * whole_get(b, k, j);
            whole_put(w, i, j, sum);
        }
    free(a.a);
    free(b.a);
    return w;
}

/* A random matrix, of which one column (row) is another one too. */
static inline whole of_equal(dag_context *ctx, dag_precision prec, int64_t n, int rows)
{
    whole w = of_kind(ctx, prec, "random", n, n, 0);
    for (int64_t i = 0; i < n; i++)
        if (rows)
            whole_put(w, n - 2, i, whole_get(w, 3, i));
        else
            whole_put(w, i, n - 2, whole_get(w, i, 3));
    return w;
}

#endif

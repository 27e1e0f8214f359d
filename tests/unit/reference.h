/*
 * Dense matrices in double precision complex and the plainest possible operations on them: what
 * the kernels of all four precisions are compared with. Memory is freed by ref_free_all.
 */
#ifndef TEST_REFERENCE_H
#define TEST_REFERENCE_H

#include <dag/types.h>

#include <stdlib.h>

typedef struct ref_matrix {
    int m, n;
    dag_dcomplex *v; /* element (i, j) at i + j m */
} ref_matrix;

/* What was allocated since the last ref_free_all; a test uses far fewer than the limit. */
static void *ref_blocks[256];
static int ref_block_count;

static inline void *ref_alloc(size_t bytes)
{
    void *p = calloc(bytes > 0 ? bytes : 1, 1);
    if (p == NULL || ref_block_count == 256)
        abort();
    ref_blocks[ref_block_count++] = p;
    return p;
}

static inline void ref_free_all(void)
{
    while (ref_block_count > 0)
        free(ref_blocks[--ref_block_count]);
}

static inline dag_dcomplex ref_complex(double re, double im)
{
    return __builtin_complex(re, im);
}

static inline ref_matrix ref_new(int m, int n)
{
    ref_matrix a = {m, n, ref_alloc(sizeof(dag_dcomplex) * (size_t)m * (size_t)n)};
    return a;
}

static inline dag_dcomplex *ref_at(ref_matrix a, int i, int j)
{
    return &a.v[(size_t)i + (size_t)j * (size_t)a.m];
}

/* op(A) */
static inline ref_matrix ref_op(ref_matrix a, dag_trans trans)
{
    if (trans == DAG_NO_TRANS)
        return a;
    ref_matrix b = ref_new(a.n, a.m);
    for (int j = 0; j < a.n; j++)
        for (int i = 0; i < a.m; i++)
            *ref_at(b, j, i) = trans == DAG_CONJ_TRANS ? __builtin_conj(*ref_at(a, i, j))
                                                       : *ref_at(a, i, j);
    return b;
}

/* The absolute values of A. */
static inline ref_matrix ref_abs(ref_matrix a)
{
    ref_matrix b = ref_new(a.m, a.n);
    for (size_t k = 0; k < (size_t)a.m * (size_t)a.n; k++)
        b.v[k] = __builtin_cabs(a.v[k]);
    return b;
}

/* alpha A B */
static inline ref_matrix ref_mul(dag_dcomplex alpha, ref_matrix a, ref_matrix b)
{
    ref_matrix c = ref_new(a.m, b.n);
    double ar = __builtin_creal(alpha), ai = __builtin_cimag(alpha);
    for (int j = 0; j < b.n; j++)
        for (int k = 0; k < a.n; k++) {
            double br = __builtin_creal(*ref_at(b, k, j)), bi = __builtin_cimag(*ref_at(b, k, j));
            double fr = ar * br - ai * bi, fi = ar * bi + ai * br;
            for (int i = 0; i < a.m; i++) {
                double xr = __builtin_creal(*ref_at(a, i, k));
                double xi = __builtin_cimag(*ref_at(a, i, k));
                *ref_at(c, i, j) += ref_complex(xr * fr - xi * fi, xr * fi + xi * fr);
            }
        }
    return c;
}

/* C + beta D; D is not looked at if beta is 0. */
static inline ref_matrix ref_add(ref_matrix c, dag_dcomplex beta, ref_matrix d)
{
    ref_matrix e = ref_new(c.m, c.n);
    for (size_t k = 0; k < (size_t)c.m * (size_t)c.n; k++)
        e.v[k] = beta == 0 ? c.v[k] : c.v[k] + beta * d.v[k];
    return e;
}

/* The triangle of A, with zeros elsewhere and ones on the diagonal if it is unit. */
static inline ref_matrix ref_triangle(ref_matrix a, dag_uplo uplo, dag_diag diag)
{
    ref_matrix t = ref_new(a.m, a.n);
    for (int j = 0; j < a.n; j++)
        for (int i = 0; i < a.m; i++)
            if (i == j)
                *ref_at(t, i, j) = diag == DAG_UNIT ? 1 : *ref_at(a, i, j);
            else if ((i > j) == (uplo == DAG_LOWER))
                *ref_at(t, i, j) = *ref_at(a, i, j);
    return t;
}

/* The whole Hermitian matrix whose triangle is stored in A. */
static inline ref_matrix ref_hermitian(ref_matrix a, dag_uplo uplo)
{
    ref_matrix h = ref_new(a.m, a.n);
    for (int j = 0; j < a.n; j++)
        for (int i = 0; i < a.m; i++)
            if (i == j)
                *ref_at(h, i, j) = __builtin_creal(*ref_at(a, i, j));
            else if ((i > j) == (uplo == DAG_LOWER))
                *ref_at(h, i, j) = *ref_at(a, i, j);
            else
                *ref_at(h, i, j) = __builtin_conj(*ref_at(a, j, i));
    return h;
}

/* The symmetric matrix of which a triangle is given. */
static inline ref_matrix ref_symmetric(ref_matrix a, dag_uplo uplo)
{
    ref_matrix h = ref_new(a.m, a.n);
    for (int j = 0; j < a.n; j++)
        for (int i = 0; i < a.m; i++)
            *ref_at(h, i, j) = (i >= j) == (uplo == DAG_LOWER) || i == j ? *ref_at(a, i, j)
                                                                         : *ref_at(a, j, i);
    return h;
}

/* Whether element (i, j) belongs to a region, by its definition. */
static inline bool ref_in_region(dag_region region, int i, int j)
{
    dag_region piece = i > j ? DAG_REGION_LOWER_STRICT
                     : i < j ? DAG_REGION_UPPER_STRICT : DAG_REGION_DIAGONAL;
    return (region & piece) != 0;
}

#endif

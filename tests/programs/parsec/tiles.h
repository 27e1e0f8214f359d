/* Kernels of the two factorisations that were written for PaRSEC: loops, columns stored one by one. */
#ifndef TILES_H
#define TILES_H

#include <math.h>

static inline void tile_potrf(int n, double *t, int ldt, int *info)
{
    for (int k = 0; k < n; k++) {
        if (t[k + k * ldt] <= 0) {
            *info = k + 1;
            return;
        }
        t[k + k * ldt] = sqrt(t[k + k * ldt]);
        for (int i = k + 1; i < n; i++)
            t[i + k * ldt] /= t[k + k * ldt];
        for (int j = k + 1; j < n; j++)
            for (int i = j; i < n; i++)
                t[i + j * ldt] -= t[i + k * ldt] * t[j + k * ldt];
    }
}

/* c := c t^-T, t lower */
static inline void tile_trsm(int m, int n, const double *t, int ldt, double *c, int ldc)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            for (int p = 0; p < j; p++)
                c[i + j * ldc] -= c[i + p * ldc] * t[j + p * ldt];
            c[i + j * ldc] /= t[j + j * ldt];
        }
}

/* c := c - a b^T */
static inline void tile_gemm(int m, int n, int k, const double *a, int lda, const double *b, int ldb,
                             double *c, int ldc)
{
    for (int j = 0; j < n; j++)
        for (int p = 0; p < k; p++)
            for (int i = 0; i < m; i++)
                c[i + j * ldc] -= a[i + p * lda] * b[j + p * ldb];
}

/* c := c - a a^T, its lower triangle */
static inline void tile_herk(int n, int k, const double *a, int lda, double *c, int ldc)
{
    for (int j = 0; j < n; j++)
        for (int p = 0; p < k; p++)
            for (int i = j; i < n; i++)
                c[i + j * ldc] -= a[i + p * lda] * a[j + p * lda];
}

/* The reflector I - tau (1 v)^T (1 v) that takes (*top v) to a multiple of the first unit vector. */
static inline double tile_reflector(int m, double *top, double *v)
{
    double norm = *top * *top;
    for (int i = 0; i < m; i++)
        norm += v[i] * v[i];
    if (m == 0 || norm == 0)
        return 0;
    double beta = *top > 0 ? -sqrt(norm) : sqrt(norm), tau = (beta - *top) / beta;
    for (int i = 0; i < m; i++)
        v[i] /= *top - beta;
    *top = beta;
    return tau;
}

static inline void tile_reflect(int m, double tau, const double *v, double *top, double *c)
{
    double w = *top;
    for (int i = 0; i < m; i++)
        w += v[i] * c[i];
    *top -= tau * w;
    for (int i = 0; i < m; i++)
        c[i] -= tau * w * v[i];
}

/* a = Q R; the reflectors below R, what they are multiplied with in t */
static inline void tile_geqrt(int m, int n, double *a, int lda, double *t)
{
    for (int k = 0; k < n && k < m; k++) {
        double *v = a + k + 1 + k * lda;
        t[k] = tile_reflector(m - k - 1, v - 1, v);
        for (int j = k + 1; j < n; j++)
            tile_reflect(m - k - 1, t[k], v, a + k + j * lda, a + k + 1 + j * lda);
    }
}

static inline void tile_unmqr(int m, int n, int k, const double *a, int lda, const double *t, double *c,
                              int ldc)
{
    for (int p = 0; p < k; p++)
        for (int j = 0; j < n; j++)
            tile_reflect(m - p - 1, t[p], a + p + 1 + p * lda, c + p + j * ldc, c + p + 1 + j * ldc);
}

/* The same for n rows of a triangle above m others. */
static inline void tile_tsqrt(int m, int n, double *r, int ldr, double *a, int lda, double *t)
{
    for (int k = 0; k < n; k++) {
        t[k] = tile_reflector(m, r + k + k * ldr, a + k * lda);
        for (int j = k + 1; j < n; j++)
            tile_reflect(m, t[k], a + k * lda, r + k + j * ldr, a + j * lda);
    }
}

static inline void tile_tsmqr(int m, int n, int k, double *c1, int ldc1, double *c2, int ldc2,
                              const double *v, int ldv, const double *t)
{
    for (int p = 0; p < k; p++)
        for (int j = 0; j < n; j++)
            tile_reflect(m, t[p], v + p * ldv, c1 + p + j * ldc1, c2 + j * ldc2);
}

#endif

/*
 * HPL's matrix, tile by tile, is that of one generator that goes step by step, to the bit, on any grid; and
 * the pivots of [A b] are those of LAPACK's algorithm.
 */
#include "hpl/hpl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;

/* [A b] by single steps. */
static double *by_steps(int64_t n)
{
    double *a = malloc((size_t)(n * (n + 1)) * sizeof(*a));
    uint64_t x = 100;
    if (a == NULL)
        abort();
    for (int64_t k = 0; k < n * (n + 1); k++) {
        x = x * UINT64_C(6364136223846793005) + 1;
        a[k] = 0.5 - (double)x / 18446744073709551616.0;
    }
    return a;
}

struct expected {
    double *a;
    int64_t first;
};

static dag_status compare(dag_matrix *a, int64_t ti, int64_t tj, const dag_element *e, void *arg)
{
    const struct expected *w = arg;
    for (int64_t j = 0; j < e->shape.n; j++)
        for (int64_t i = 0; i < e->shape.m; i++) {
            int64_t row = ti * a->mb + i, column = w->first + tj * a->nb + j;
            failures += ((const double *)e->ptr)[i + j * e->ld] != w->a[row + column * a->m];
        }
    return DAG_SUCCESS;
}

/* Unblocked, from left to right. */
static void factor(int64_t n, double *a, int64_t *ipiv)
{
    for (int64_t k = 0; k < n; k++) {
        int64_t p = k;
        for (int64_t i = k + 1; i < n; i++)
            if (fabs(a[i + k * n]) > fabs(a[p + k * n]))
                p = i;
        ipiv[k] = p + 1;
        for (int64_t j = 0; j <= n; j++) {
            double swapped = a[k + j * n];
            a[k + j * n] = a[p + j * n];
            a[p + j * n] = swapped;
        }
        for (int64_t i = k + 1; i < n; i++)
            a[i + k * n] /= a[k + k * n];
        for (int64_t j = k + 1; j <= n; j++)
            for (int64_t i = k + 1; i < n; i++)
                a[i + j * n] -= a[i + k * n] * a[k + j * n];
    }
}

static void try(dag_context *ctx, int64_t n, int64_t nb)
{
    dag_matrix_desc desc = {.prec = DAG_D, .m = n, .n = n + 1, .mb = nb, .nb = nb, .layout = DAG_LAYOUT_SLAB};
    dag_matrix *a, *b;
    int64_t *found = calloc((size_t)n, sizeof(*found)), *wanted = calloc((size_t)n, sizeof(*wanted)), info;
    struct expected w = {by_steps(n), 0};
    if (found == NULL || wanted == NULL || dag_matrix_new(ctx, &desc, &a) != DAG_SUCCESS)
        abort();
    desc.n = 1;
    if (dag_matrix_new(ctx, &desc, &b) != DAG_SUCCESS || hpl_fill(ctx, a, 0) != DAG_SUCCESS ||
        hpl_fill(ctx, b, n) != DAG_SUCCESS)
        abort();
    (void)dag_matrix_each_local(a, compare, &w);
    w.first = n;
    (void)dag_matrix_each_local(b, compare, &w);
    if (dag_getrf(ctx, a, found, &info) != DAG_SUCCESS || info != 0)
        failures++;
    factor(n, w.a, wanted);
    for (int64_t i = 0; i < n; i++)
        failures += found[i] != wanted[i];
    dag_matrix_free(a);
    dag_matrix_free(b);
    free(found);
    free(wanted);
    free(w.a);
}

int main(void)
{
    static const int64_t orders[] = {1, 7, 64, 100, 193}, sizes[] = {1, 7, 64, 128};
    char why[256];
    dag_context *ctx;
    if (dag_init(&ctx, NULL, why, sizeof(why)) != DAG_SUCCESS) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
        for (size_t j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++)
            try(ctx, orders[i], sizes[j]);
    if (failures > 0)
        fprintf(stderr, "rank %d: %d elements or pivots differ\n", dag_rank(ctx), failures);
    return dag_fini(ctx) != DAG_SUCCESS || failures > 0;
}

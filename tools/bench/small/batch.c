/*
 * Batches of small matrices. Built as it is, by our routines; with -DLOOP and OpenMP, by a loop over the BLAS
 * library's:
 *
 *     bench_batch ROUTINE PREC N COUNT THREADS RUNS
 *
 * ROUTINE is potrf, getrf, geqrf, gemm, trsm, gesv or posv, PREC d or z. Prints a JSON object with the
 * median rate of the runs in GFlop/s.
 */
#include <cblas.h>
#include <lapacke.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef LOOP
#include <omp.h>
#else
#include <dag/la.h>
#endif

static const char *const names[] = {"potrf", "getrf", "geqrf", "gemm", "trsm", "gesv", "posv"};
static const double work[] = {1.0 / 6, 1.0 / 3, 2.0 / 3, 1, 0.5, 1.0 / 3, 1.0 / 6}; /* of n^3 */
enum { POTRF, GETRF, GEQRF, GEMM, TRSM, GESV, POSV, ROUTINES };

typedef struct batch {
    int what, two, n, columns; /* two: elements are complex */
    int64_t count;
    size_t item; /* doubles of an element */
    double *a, *b, *c, *tau;
    int *narrow;
    int64_t *wide, *info;
} batch;

static double noise(int64_t i)
{
    uint64_t h = (uint64_t)(i + 1) * 0x9e3779b97f4a7c15U;
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9U;
    return (double)(h >> 11) / 9007199254740992.0 - 0.5;
}

/* Symmetric or Hermitian, with a diagonal that dominates. */
static void fill(const batch *x)
{
    int64_t n = x->n, elements = (int64_t)x->item;
    for (int64_t m = 0; m < x->count; m++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < n; i++) {
                double *e = x->a + ((m * n + j) * n + i) * elements;
                int64_t low = i < j ? i : j, high = i < j ? j : i;
                e[0] = noise((m * n + low) * n + high) + (i == j ? (double)n : 0);
                if (x->two)
                    e[1] = i == j ? 0 : (i < j ? 1 : -1) * noise((m * n + low) * n + high + 7);
            }
    for (int64_t i = 0; i < x->count * n * x->columns * elements; i++)
        x->b[i] = noise(i);
}

#ifdef LOOP
static void one(const batch *x, int64_t i)
{
    int n = x->n, k = x->columns;
    size_t a = (size_t)i * (size_t)n * (size_t)n * x->item, b = (size_t)i * (size_t)(n * k) * x->item;
    double *A = x->a + a, *B = x->b + b, *C = x->c + b, *tau = x->tau + (size_t)i * (size_t)n * x->item;
    int *pivot = x->narrow + i * n;
    if (!x->two) {
        double room[64 * 256];
        switch (x->what) {
        case POTRF: LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, A, n); return;
        case GETRF: LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, A, n, pivot); return;
        case GEQRF: LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, n, n, A, n, tau, room, 64 * 256); return;
        case GEMM:
            cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, A, n, B, n, 0, C, n);
            return;
        case TRSM:
            cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, n, n, 1, A, n, B, n);
            return;
        case GESV: LAPACKE_dgesv_work(LAPACK_COL_MAJOR, n, 1, A, n, pivot, B, n); return;
        default: LAPACKE_dposv_work(LAPACK_COL_MAJOR, 'L', n, 1, A, n, B, n); return;
        }
    }
    const lapack_complex_double one = 1, zero = 0;
    lapack_complex_double room[64 * 256], *z = (void *)A, *y = (void *)B;
    switch (x->what) {
    case POTRF: LAPACKE_zpotrf_work(LAPACK_COL_MAJOR, 'L', n, z, n); return;
    case GETRF: LAPACKE_zgetrf_work(LAPACK_COL_MAJOR, n, n, z, n, pivot); return;
    case GEQRF: LAPACKE_zgeqrf_work(LAPACK_COL_MAJOR, n, n, z, n, (void *)tau, room, 64 * 256); return;
    case GEMM:
        cblas_zgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, &one, z, n, y, n, &zero, C, n);
        return;
    case TRSM:
        cblas_ztrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, n, n, &one, z, n, y, n);
        return;
    case GESV: LAPACKE_zgesv_work(LAPACK_COL_MAJOR, n, 1, z, n, pivot, y, n); return;
    default: LAPACKE_zposv_work(LAPACK_COL_MAJOR, 'L', n, 1, z, n, y, n); return;
    }
}

static int run(const batch *x)
{
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t i = 0; i < x->count; i++)
        one(x, i);
    return 0;
}

static void start(const char *threads)
{
    omp_set_num_threads(atoi(threads));
}

static void end(void)
{
}
#else
static dag_context *ctx;

static int run(const batch *x)
{
    dag_precision prec = x->two ? DAG_Z : DAG_D;
    dag_batch A = {.prec = prec, .count = x->count, .all = {x->n, x->n, 0}, .first = x->a};
    dag_batch B = {.prec = prec, .count = x->count, .all = {x->n, x->columns, 0}, .first = x->b}, C = B;
    C.first = x->c;
    switch (x->what) {
    case POTRF: return dag_potrf_batch(ctx, DAG_LOWER, &A, x->info);
    case GETRF: return dag_getrf_batch(ctx, &A, x->wide, x->n, x->info);
    case GEQRF: return dag_geqrf_batch(ctx, &A, x->tau, x->n);
    case GEMM: return dag_gemm_batch(ctx, DAG_NO_TRANS, DAG_NO_TRANS, 1, &A, &B, 0, &C);
    case TRSM:
        return dag_trsm_batch(ctx, DAG_LEFT, DAG_LOWER, DAG_NO_TRANS, DAG_NON_UNIT, 1, &A, &B);
    case GESV: return dag_gesv_batch(ctx, &A, x->wide, x->n, &B, x->info);
    default: return dag_posv_batch(ctx, DAG_LOWER, &A, &B, x->info);
    }
}

static void start(const char *threads)
{
    char why[512];
    dag_config *config = dag_config_new();
    if (dag_config_set(config, "threads", threads, why, sizeof(why)) != DAG_SUCCESS ||
        dag_init(&ctx, config, why, sizeof(why)) != DAG_SUCCESS) {
        fprintf(stderr, "bench_batch: %s\n", why);
        exit(1);
    }
    dag_config_free(config);
}

static void end(void)
{
    dag_fini(ctx);
}
#endif

static void *array(size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
    if (p == NULL) {
        fprintf(stderr, "bench_batch: no memory\n");
        exit(1);
    }
    memset(p, 0, bytes);
    return p;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    batch x = {.what = -1};
    for (int i = 0; i < ROUTINES && argc == 7; i++)
        if (strcmp(argv[1], names[i]) == 0)
            x.what = i;
    int runs = argc == 7 ? atoi(argv[6]) : 0;
    x.n = argc == 7 ? atoi(argv[3]) : 0;
    x.count = argc == 7 ? atoll(argv[4]) : 0;
    bool known = argc == 7 && (strcmp(argv[2], "d") == 0 || strcmp(argv[2], "z") == 0);
    if (x.what < 0 || !known || runs < 1 || x.n < 1 || x.n > 256 || x.count < 1) {
        fprintf(stderr, "usage: bench_batch ROUTINE d|z N COUNT THREADS RUNS\n");
        return 2;
    }
    x.two = argv[2][0] == 'z';
    x.item = x.two ? 2 : 1;
    x.columns = x.what == GEMM || x.what == TRSM ? x.n : 1;
    size_t n = (size_t)x.n, count = (size_t)x.count, a = count * n * n * x.item * sizeof(double);
    size_t b = count * n * (size_t)x.columns * x.item * sizeof(double);
    x.a = array(a);
    x.b = array(b);
    x.c = array(b);
    x.tau = array(count * n * x.item * sizeof(double));
    x.narrow = array(count * n * sizeof(int));
    x.wide = array(count * n * sizeof(int64_t));
    x.info = array(count * sizeof(int64_t));
    fill(&x);
    double *a0 = array(a), *b0 = array(b), *taken = array((size_t)runs * sizeof(double));
    memcpy(a0, x.a, a);
    memcpy(b0, x.b, b);
    start(argv[5]);
    for (int r = -1; r < runs; r++) { /* the first one warms up */
        memcpy(x.a, a0, a);
        memcpy(x.b, b0, b);
        double from = seconds();
        if (run(&x) != 0)
            return 1;
        if (r >= 0)
            taken[r] = seconds() - from;
    }
    end();
    qsort(taken, (size_t)runs, sizeof(*taken), by_size);
    double each = (double)n * (double)n * ((double)n * work[x.what] + (x.what >= GESV ? 1 : 0));
    printf("{\"gflops\": %.4g}\n",
           2e-9 * each * (double)count * (x.two ? 4 : 1) / taken[runs / 2]);
    return 0;
}

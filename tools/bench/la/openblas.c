/* The BLAS library itself, with OPENBLAS_NUM_THREADS threads: openblas ROUTINE N RUNS */
#include "spd.h"

#include <cblas.h>
#include <lapacke.h>
#include <sys/mman.h>

static double *matrix(size_t n, int positive)
{
    size_t page = (size_t)2 << 20, bytes = (n * n * sizeof(double) + page - 1) / page * page;
    double *a = aligned_alloc(page, bytes);
    if (a == NULL) {
        fprintf(stderr, "openblas: no memory\n");
        exit(1);
    }
    (void)madvise(a, bytes, MADV_HUGEPAGE);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            a[i + j * n] = positive ? spd((int64_t)i, (int64_t)j, (int64_t)n)
                                    : noise((int64_t)i, (int64_t)j);
    return a;
}

/* What is overwritten lies in `a`; t has a place for each column. */
static int run(enum routine r, int n, double *a, const double *b, double *c, double *t, int *pivot)
{
    double size;
    int info;
    switch (r) {
    case RUN_GEMM:
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, n, n, n, -1, a, n, b, n, 1, c, n);
        return 0;
    case RUN_POTRF: return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, a, n);
    case RUN_GETRF: return LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, a, n, pivot);
    default: break;
    }
    info = LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, n, n, a, n, t, &size, -1);
    double *work = malloc((size_t)size * sizeof(*work));
    if (info == 0 && work != NULL)
        info = LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, n, n, a, n, t, work, (int)size);
    free(work);
    return info;
}

int main(int argc, char **argv)
{
    enum routine what = routine(argc, argv, 1);
    int n = argument(argc, argv, 2, "N"), runs = argument(argc, argv, 3, "RUNS");
    double *a = matrix((size_t)n, what == RUN_POTRF), *b = matrix((size_t)n, what == RUN_POTRF);
    double *c = what == RUN_GEMM ? matrix((size_t)n, 0) : NULL;
    double *t = malloc((size_t)n * sizeof(*t)), *times = malloc((size_t)runs * sizeof(*times));
    int *pivot = malloc((size_t)n * sizeof(*pivot));
    for (int r = 0; r < runs; r++) {
        if (what != RUN_GEMM)
            memcpy(a, b, (size_t)n * (size_t)n * sizeof(double));
        double start = seconds();
        int info = run(what, n, a, b, c, t, pivot);
        times[r] = seconds() - start;
        if (info != 0) {
            fprintf(stderr, "openblas: info %d\n", info);
            return 1;
        }
    }
    report(flops(what, n), times, runs);
    return 0;
}

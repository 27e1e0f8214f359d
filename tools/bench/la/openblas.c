/* The BLAS library itself, with OPENBLAS_NUM_THREADS threads: openblas gemm|potrf N RUNS */
#include "spd.h"

#include <cblas.h>
#include <lapacke.h>
#include <string.h>
#include <sys/mman.h>

static double *matrix(size_t n)
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
            a[i + j * n] = spd((int64_t)i, (int64_t)j, (int64_t)n);
    return a;
}

int main(int argc, char **argv)
{
    int n = argument(argc, argv, 2, "N"), runs = argument(argc, argv, 3, "RUNS");
    int gemm = strcmp(argv[1], "gemm") == 0;
    double *a = matrix((size_t)n), *b = matrix((size_t)n), *c = gemm ? matrix((size_t)n) : NULL;
    double *times = malloc((size_t)runs * sizeof(*times));
    for (int r = 0; r < runs; r++) {
        if (!gemm)
            memcpy(a, b, (size_t)n * (size_t)n * sizeof(double));
        double start = seconds();
        int info = 0;
        if (gemm)
            cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, n, n, n, -1, a, n, b, n, 1, c, n);
        else
            info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, a, n);
        times[r] = seconds() - start;
        if (info != 0) {
            fprintf(stderr, "openblas: info %d\n", info);
            return 1;
        }
    }
    report((gemm ? 2.0 : 1.0 / 3) * n * n * n, times, runs);
    return 0;
}

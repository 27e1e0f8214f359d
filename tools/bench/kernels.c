/*
 * Speed of the CPU tile kernels beside the library routines of the same operation, on one core.
 *
 *     bench_kernels [-p sdcz] [-s seconds] [nb ...]
 *
 * One line per precision, operation and tile size: GFlop/s of our kernel, of the library, and
 * their ratio. A complex multiplication and addition count as 6 and 2 operations. Each figure is
 * the best of several rounds; a round lasts long enough for the clock.
 */
#include <dag/kernels.h>

#include <cblas.h>
#include <lapacke.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The operations as they occur in the Cholesky factorisation and the solves after it. */
typedef enum bench_op {
    GEMM_NC, GEMM_CN, HERK_L, HERK_U, TRSM_RLC, TRSM_LUC, TRSM_LLN, TRSM_LUN, POTRF_L, POTRF_U,
    OP_COUNT
} bench_op;

static const char *const op_names[OP_COUNT] = {
    "gemm NC", "gemm CN", "herk L", "herk U", "trsm RLC", "trsm LUC", "trsm LLN", "trsm LUN",
    "potrf L", "potrf U",
};

/* Multiplications and additions, each, as a multiple of nb^3. */
static const double op_flops[OP_COUNT] = {
    1, 1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 1.0 / 6, 1.0 / 6,
};

static double seconds_per_round = 0.02;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *tile_alloc(int nb, size_t size)
{
    size_t bytes = ((size_t)nb * (size_t)nb * size + 63) / 64 * 64;
    void *p = aligned_alloc(64, bytes);
    if (p == NULL) {
        fprintf(stderr, "bench_kernels: no memory for a tile of order %d\n", nb);
        exit(1);
    }
    return p;
}

#define CAT2(a, b) a##b
#define CAT(a, b) CAT2(a, b)
#define LOCAL(name) CAT(name##_, DAG_PRECISION)
#define CBLAS(op) CAT(CAT(cblas_, DAG_PRECISION), op)
#define LAPACK(op) CAT(CAT(LAPACKE_, DAG_PRECISION), op)

#define DAG_PRECISION s
#include <dag/precision.h>
#include "kernels.inc.c"
#include <dag/precision_undef.h>

#define DAG_PRECISION d
#include <dag/precision.h>
#include "kernels.inc.c"
#include <dag/precision_undef.h>

#define DAG_PRECISION c
#include <dag/precision.h>
#include "kernels.inc.c"
#include <dag/precision_undef.h>

#define DAG_PRECISION z
#include <dag/precision.h>
#include "kernels.inc.c"
#include <dag/precision_undef.h>

int main(int argc, char **argv)
{
    static const int default_nbs[] = {32, 64, 96, 128, 192, 256, 320};
    const char *precisions = "sdcz";
    for (int opt; (opt = getopt(argc, argv, "p:s:")) != -1;) {
        if (opt == 'p') {
            precisions = optarg;
        } else if (opt == 's') {
            seconds_per_round = atof(optarg);
        } else {
            fprintf(stderr, "usage: %s [-p sdcz] [-s seconds] [nb ...]\n", argv[0]);
            return 2;
        }
    }
    const char *how;
    bool one_thread = dag_kernels_init(&how);
    printf("# BLAS threads: %s%s\n", one_thread ? "" : "NOT SET: ", how);
    printf("# %-10s %5s %9s %9s %6s\n", "kernel", "nb", "GF ours", "GF lib", "ratio");
    for (const char *p = precisions; *p != '\0'; p++) {
        for (int op = 0; op < OP_COUNT; op++) {
            int count = optind < argc ? argc - optind : (int)(sizeof default_nbs / sizeof(int));
            for (int q = 0; q < count; q++) {
                int nb = optind < argc ? atoi(argv[optind + q]) : default_nbs[q];
                if (nb < 1) {
                    fprintf(stderr, "%s: tile size '%s' is not positive\n", argv[0],
                            argv[optind + q]);
                    return 2;
                }
                switch (*p) {
                case 's': report_s((bench_op)op, nb); break;
                case 'd': report_d((bench_op)op, nb); break;
                case 'c': report_c((bench_op)op, nb); break;
                case 'z': report_z((bench_op)op, nb); break;
                default:
                    fprintf(stderr, "%s: no precision '%c'\n", argv[0], *p);
                    return 2;
                }
            }
        }
    }
    return 0;
}

/*
 * Speed of the CPU tile kernels beside the library routines of the same operation, on one core.
 *
 *     bench_kernels [-c] [-p sdcz] [-s seconds] [-m rows] [-k regex] [nb ...]
 *
 * One line per precision, operation and tile size: GFlop/s of our kernel, of the library, and
 * their ratio. A complex multiplication and addition count as 6 and 2 operations. Each figure is
 * the best of several rounds; a round lasts long enough for the clock. Those marked "tall" work on
 * panels of `rows` rows (2000) and nb columns. -k keeps the operations whose name matches.
 * -c takes the time of the processor, for a machine that is not idle; small calls suffer from it.
 */
#include <dag/kernels.h>

#include <cblas.h>
#include <lapacke.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* The operations as they occur in the Cholesky factorisation and the solves after it, and on the
 * panels of LU and QR. */
typedef enum bench_op {
    GEMM_NC, GEMM_CN, HERK_L, HERK_U, TRSM_RLC, TRSM_LUC, TRSM_LLN, TRSM_LUN, POTRF_L, POTRF_U,
    TALL_NN, TALL_CN, GETRF, GEQRT, GEMQRT, OP_COUNT
} bench_op;

static const char *const op_names[OP_COUNT] = {
    "gemm NC", "gemm CN", "herk L", "herk U", "trsm RLC", "trsm LUC", "trsm LLN", "trsm LUN",
    "potrf L", "potrf U", "tall NN", "tall CN", "tall getrf", "tall geqrt", "tall gemqrt",
};

/* Multiplications and additions, each: so many times rows nb^2, and so many times nb^3. What T costs
 * beyond LAPACK's count of a QR factorisation is not counted. */
static const double op_flops[OP_COUNT][2] = {
    {0, 1}, {0, 1}, {0, 0.5}, {0, 0.5}, {0, 0.5}, {0, 0.5}, {0, 0.5}, {0, 0.5},
    {0, 1.0 / 6}, {0, 1.0 / 6},
    {1, 0}, {1, 0}, {0.5, -1.0 / 6}, {1, -1.0 / 3}, {2, -1},
};

static double seconds_per_round = 0.02;
static int panel_rows = 2000;
static const char *wanted = ".";

static int tall(bench_op op)
{
    return op >= TALL_NN;
}

static clockid_t timer = CLOCK_MONOTONIC;

static double now(void)
{
    struct timespec t;
    clock_gettime(timer, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* On huge pages where it is large, as the slabs of a matrix are. */
static void *tile_alloc(int rows, int nb, size_t size)
{
    const size_t huge = (size_t)2 << 20;
    size_t bytes = (size_t)rows * (size_t)nb * size, unit = bytes < huge ? 64 : huge;
    bytes = (bytes + unit - 1) / unit * unit;
    void *p = aligned_alloc(unit, bytes);
    if (p == NULL) {
        fprintf(stderr, "bench_kernels: no memory for a tile of %d x %d\n", rows, nb);
        exit(1);
    }
    if (unit == huge)
        (void)madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

#define CAT2(a, b) a##b
#define CAT(a, b) CAT2(a, b)
#define LOCAL(name) CAT(name##_, DAG_PRECISION)
#define CBLAS(op) CAT(CAT(cblas_, DAG_PRECISION), op)
#define LAPACK(op) CAT(CAT(LAPACKE_, DAG_PRECISION), op)

#define DAG_TEMPLATE "kernels.inc.c"
#include <dag/each_precision.h>

static int positive(const char *program, const char *what, const char *text)
{
    int value = atoi(text);
    if (value < 1) {
        fprintf(stderr, "%s: %s '%s' is not positive\n", program, what, text);
        exit(2);
    }
    return value;
}

static void arguments(int argc, char **argv, const char **precisions)
{
    for (int opt; (opt = getopt(argc, argv, "cp:s:m:k:")) != -1;) {
        switch (opt) {
        case 'c': timer = CLOCK_THREAD_CPUTIME_ID; break;
        case 'p': *precisions = optarg; break;
        case 's': seconds_per_round = atof(optarg); break;
        case 'm': panel_rows = positive(argv[0], "number of rows", optarg); break;
        case 'k': wanted = optarg; break;
        default:
            fprintf(stderr, "usage: %s [-c] [-p sdcz] [-s seconds] [-m rows] [-k regex] "
                    "[nb ...]\n", argv[0]);
            exit(2);
        }
    }
    if ((*precisions)[strspn(*precisions, "sdcz")] != '\0') {
        fprintf(stderr, "%s: precisions '%s': only s, d, c and z exist\n", argv[0], *precisions);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    static const int default_nbs[] = {32, 64, 96, 128, 192, 256, 320};
    static void (*const report[])(bench_op, int) = {report_s, report_d, report_c, report_z};
    const char *precisions = "sdcz", *how;
    regex_t pattern;
    arguments(argc, argv, &precisions);
    if (regcomp(&pattern, wanted, REG_EXTENDED | REG_NOSUB) != 0) {
        fprintf(stderr, "%s: '%s' is no regular expression\n", argv[0], wanted);
        return 2;
    }
    bool one_thread = dag_kernels_init(&how);
    printf("# BLAS threads: %s%s\n", one_thread ? "" : "NOT SET: ", how);
    printf("# %-10s %5s %9s %9s %6s\n", "kernel", "nb", "GF ours", "GF lib", "ratio");
    for (const char *p = precisions; *p != '\0'; p++) {
        for (int op = 0; op < OP_COUNT; op++) {
            int count = optind < argc ? argc - optind : (int)(sizeof default_nbs / sizeof(int));
            for (int q = 0; regexec(&pattern, op_names[op], 0, NULL, 0) == 0 && q < count; q++) {
                int nb = optind < argc ? positive(argv[0], "tile size", argv[optind + q])
                                       : default_nbs[q];
                report[strchr("sdcz", *p) - "sdcz"]((bench_op)op, nb);
            }
        }
    }
    regfree(&pattern);
    return 0;
}

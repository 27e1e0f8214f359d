/*
 * Programs out of core, one after the other: what they take, and how much of that the devices compute and
 * copy. For the fake CUDA with a described machine, whose kernels compute nothing (docs/performance/gpu.md);
 * where they do, too, but then the matrices of factors have to be good ones, which these are not.
 */
#include <dag/la.h>
#include <dag/outcore.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 9 };

static void usage(void)
{
    fputs("usage: bench_outcore gemm|trsm|potrf|getrf|getrf_nopiv N BLOCK REGISTERS [RUNS|list]\n"
          "BLOCK: rows and columns of a block, 0 = what fits; REGISTERS: 5 or 6. Prints seconds of "
          "the clock of\n"
          "the run, the median, and bytes of all devices in and out; with `list` the program, "
          "which does not run.\n",
          stderr);
    exit(3);
}

static void stop(dag_context *ctx, const char *what)
{
    fprintf(stderr, "bench_outcore: %s: %s\n", what, ctx ? dag_message(ctx) : "");
    exit(1);
}

static dag_matrix *matrix(dag_context *ctx, int64_t n, const char *name)
{
    const dag_matrix_desc desc = {.prec = DAG_D, .m = n, .n = n, .mb = 128, .nb = 128, .p = 1, .q = 1,
                                  .layout = DAG_LAYOUT_SLAB, .name = name};
    dag_matrix *a = NULL;
    if (dag_matrix_new(ctx, &desc, &a) != DAG_SUCCESS)
        stop(ctx, "a matrix");
    return a;
}

typedef struct work {
    dag_context *ctx;
    const char *routine;
    dag_matrix *A, *B, *C;
    int64_t *ipiv, info;
    dag_outcore_options options;
} work;

static dag_devprog *program(work *w)
{
    dag_devprog *p = NULL;
    dag_status status = DAG_ERR_ARG;
    if (strcmp(w->routine, "gemm") == 0)
        status = dag_gemm_program(w->ctx, DAG_NO_TRANS, DAG_NO_TRANS, 1, w->A, w->B, 1, w->C, &w->options, &p);
    else if (strcmp(w->routine, "trsm") == 0)
        status = dag_trsm_program(w->ctx, DAG_LEFT, DAG_LOWER, DAG_NO_TRANS, DAG_UNIT, 1, w->A, w->B, &w->options,
                                  &p);
    else if (strcmp(w->routine, "potrf") == 0)
        status = dag_potrf_program(w->ctx, DAG_LOWER, w->A, &w->options, &p);
    else if (strcmp(w->routine, "getrf") == 0)
        status = dag_getrf_program(w->ctx, w->A, w->ipiv, &w->info, &w->options, &p);
    else if (strcmp(w->routine, "getrf_nopiv") == 0)
        status = dag_getrf_nopiv_program(w->ctx, w->A, &w->options, &p);
    else
        usage();
    if (status != DAG_SUCCESS)
        stop(w->ctx, w->routine);
    return p;
}

static dag_device_stats all_devices(const dag_context *ctx)
{
    dag_device_stats sum = {0}, s;
    for (int d = 0; dag_device_stats_get(ctx, d, &s); d++) {
        sum.bytes_in += s.bytes_in;
        sum.bytes_out += s.bytes_out;
        sum.busy += s.busy;
        sum.copying += s.copying;
        sum.overlapped += s.overlapped;
    }
    return sum;
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void list(work *w)
{
    dag_devprog *p = program(w);
    if (dag_devprog_list(p, stdout) != DAG_SUCCESS)
        stop(w->ctx, "the listing");
    dag_devprog_free(p);
}

static void run(work *w, int64_t n, int runs)
{
    double seconds[RUNS];
    dag_device_stats before = {0};
    for (int i = 0; i < runs; i++) {
        dag_devprog *p = program(w);
        before = all_devices(w->ctx);
        double start = dag_seconds(w->ctx);
        if (dag_run(w->ctx, dag_devprog_taskpool(p)) != DAG_SUCCESS)
            stop(w->ctx, "the run");
        seconds[i] = dag_seconds(w->ctx) - start;
        dag_devprog_free(p);
    }
    dag_device_stats after = all_devices(w->ctx);
    qsort(seconds, (size_t)runs, sizeof *seconds, by_size);
    printf("%s n %" PRId64 " block %" PRId64 " registers %d: %.6f s; bytes in %" PRId64
           ", out %" PRId64 "\n",
           w->routine, n, w->options.block, w->options.registers, seconds[runs / 2],
           after.bytes_in - before.bytes_in, after.bytes_out - before.bytes_out);
}

int main(int argc, char **argv)
{
    char why[512] = "";
    if (argc < 5)
        usage();
    int64_t n = strtoll(argv[2], NULL, 10), block = strtoll(argv[3], NULL, 10);
    int listing = argc > 5 && strcmp(argv[5], "list") == 0,
        runs = argc > 5 && !listing ? atoi(argv[5]) : 3;
    if (n < 1 || block < 0 || runs < 1 || runs > RUNS)
        usage();
    work w = {.routine = argv[1], .options = {.block = block, .registers = atoi(argv[4])}};
    if (dag_init(&w.ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "bench_outcore: %s\n", why);
        return 1;
    }
    w.A = matrix(w.ctx, n, "A");
    w.B = matrix(w.ctx, n, "B");
    w.C = matrix(w.ctx, n, "C");
    w.ipiv = calloc((size_t)n, sizeof *w.ipiv);
    if (listing)
        list(&w);
    else
        run(&w, n, runs);
    dag_matrix_free(w.A);
    dag_matrix_free(w.B);
    dag_matrix_free(w.C);
    free(w.ipiv);
    return dag_fini(w.ctx) != DAG_SUCCESS;
}

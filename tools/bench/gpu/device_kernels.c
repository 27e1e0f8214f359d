/*
 * Kernels on a device beside those on a core and beside the BLAS library, of the same tile, one after the other:
 * rates of products, rank-k updates, solves and factorisations by size, and ratios of the device's to the others'.
 * The plug-in is loaded alone, without a runtime, so what is measured are its kernels and what it takes to enqueue
 * them.
 *
 * usage: bench_device_kernels PLUG-IN [PRECISION] [ROUNDS]
 */
#include "backend.h"

#include <dag/kernels.h>
#include <dag/kernels_device.h>

#include <cblas.h>
#include <dlfcn.h>
#include <lapacke.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_ROUNDS = 31, MOST = 1024, MATRICES = 3 };
enum what { GEMM, HERK, TRSM, POTRF, KINDS };
static const char *const names[KINDS] = {"gemm", "herk", "trsm", "potrf"};
enum who { CORE, LIBRARY, DEVICE, CONTESTANTS };

static const dagi_backend *backend;
static void *device, *queue, *event;
static void *host[MATRICES], *at[MATRICES], *info;

static void stop(const char *why)
{
    fprintf(stderr, "bench_device_kernels: %s\n", why);
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void finish(void)
{
    dagi_result result = DAGI_BUSY;
    if (backend->launched(queue) != DAGI_OK || backend->record(event, queue) != DAGI_OK)
        stop(backend->error());
    while (result == DAGI_BUSY)
        result = backend->query(event);
    if (result != DAGI_OK)
        stop(backend->error());
}

static void open_device(const char *path)
{
    dagi_backend_info about;
    char why[512] = "";
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    dagi_backend_getter get =
        library ? (dagi_backend_getter)dlsym(library, DAGI_BACKEND_SYMBOL) : NULL;
    if (!get)
        stop(dlerror());
    backend = get();
    if (backend->abi != DAGI_BACKEND_ABI || backend->count(1, why, sizeof why) < 1)
        stop(*why ? why : "the plug-in is of another version");
    for (int i = 0; i < backend->nkernels; i++)
        dag_kernel_register(&backend->kernels[i]);
    if (backend->open(0, &device, &about) != DAGI_OK ||
        backend->queue_new(device, 0, &queue) != DAGI_OK ||
        backend->event_new(device, &event) != DAGI_OK)
        stop(backend->error());
    *(dagi_queue_head *)queue = (dagi_queue_head){backend->kind, backend};
    printf("%s\n", about.name);
}

/* Copies a matrix in, so that each round begins with the same numbers. */
static void send(int matrix, size_t bytes)
{
    const dagi_copy_job job = {.to = at[matrix], .from = host[matrix], .to_ld = (int64_t)bytes,
                               .from_ld = (int64_t)bytes, .m = (int64_t)bytes, .n = 1, .elem = 1};
    if (backend->copy_in(queue, &job) != DAGI_OK)
        stop(backend->error());
}

/* CBLAS takes real scalars by value and complex ones by address. */
#define SCALAR_0(a) (a)
#define SCALAR_1(a) (&(a))
#define SCALAR(a) DAG_PRECISION_CAT(SCALAR_, DAG_COMPLEX)(a)
#define OF_PRECISION(before, op) DAG_PRECISION_CAT(DAG_PRECISION_CAT(before, DAG_PRECISION), op)
#define RANK_K_0 syrk
#define RANK_K_1 herk
#define RANK_K DAG_PRECISION_CAT(RANK_K_, DAG_COMPLEX)

#define DAG_TEMPLATE "../tools/bench/gpu/device_kernels.inc.c"
#include <dag/each_precision.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Operations of a real kernel; complex ones take four times as many. */
static double work(enum what what, double n)
{
    return what == GEMM ? 2 * n * n * n : what == POTRF ? n * n * n / 3 : n * n * n;
}

static void measure(dag_precision precision, enum what what, int n, int rounds)
{
    typedef void run(enum what what, int n, enum who who);
    static run *const runs[] = {dag_tile_srun, dag_tile_drun, dag_tile_crun, dag_tile_zrun};
    double seconds[CONTESTANTS][MOST_ROUNDS], rate[CONTESTANTS];
    static void (*const fills[])(int n) = {dag_tile_sfill, dag_tile_dfill, dag_tile_cfill, dag_tile_zfill};
    size_t bytes = (size_t)n * (size_t)n * dag_precision_size(precision);
    for (int r = -1; r < rounds; r++) { /* the first one compiles, and is not counted */
        for (int who = 0; who < CONTESTANTS; who++) {
            fills[precision](n);
            for (int m = 0; m < MATRICES; m++)
                send(m, bytes);
            finish();
            double begin = now();
            runs[precision](what, n, (enum who)who);
            if (who == DEVICE)
                finish();
            if (r >= 0)
                seconds[who][r] = now() - begin;
        }
    }
    double flops = work(what, n) * (dag_precision_is_complex(precision) ? 4 : 1) * 1e-9;
    for (int i = 0; i < CONTESTANTS; i++) {
        qsort(seconds[i], (size_t)rounds, sizeof **seconds, by_value);
        rate[i] = flops / seconds[i][rounds / 2];
    }
    printf("%c %-5s n = %4d: core %7.2f, library %7.2f, device %7.2f Gflop/s [%.2f, %.2f], to the core %.2f, to the "
           "library %.2f\n", dag_precision_letter(precision), names[what], n, rate[CORE], rate[LIBRARY], rate[DEVICE],
           flops / seconds[DEVICE][rounds - 1], flops / seconds[DEVICE][0], rate[DEVICE] / rate[CORE],
           rate[DEVICE] / rate[LIBRARY]);
}

int main(int argc, char **argv)
{
    const char *letters = argc > 2 ? argv[2] : "d";
    int rounds = argc > 3 ? atoi(argv[3]) : 9;
    if (argc < 2 || rounds < 1 || rounds > MOST_ROUNDS || strspn(letters, "sdcz") != strlen(letters))
        stop("usage: bench_device_kernels PLUG-IN [PRECISIONS] [ROUNDS, up to 31]");
    const char *how;
    if (!dag_kernels_init(&how))
        stop("the BLAS library would run on several threads");
    open_device(argv[1]);
    size_t bytes = (size_t)MOST * MOST * sizeof(dag_dcomplex);
    for (int i = 0; i < MATRICES; i++) {
        host[i] = calloc(1, bytes);
        if (!host[i] || backend->alloc(device, bytes, &at[i]) != DAGI_OK)
            stop("no memory");
    }
    if (backend->alloc(device, sizeof(int), &info) != DAGI_OK)
        stop(backend->error());
    for (const char *l = letters; *l; l++) {
        for (int what = 0; what < KINDS; what++) {
            for (int n = 128; n <= MOST; n *= 2) {
                dag_precision precision = (dag_precision)(strchr("sdcz", *l) - "sdcz");
                measure(precision, (enum what)what, n, rounds);
            }
        }
    }
    return 0;
}

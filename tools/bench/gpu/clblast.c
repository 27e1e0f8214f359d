/*
 * Kernels of CLBlast on an OpenCL device, beside bench_device_kernels, which has ours: in double precision, one
 * call after the other, each ended before the next begins; the first one, which compiles, is told apart.
 *
 *     bench_clblast [ROUNDS]
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <clblast_c.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_ROUNDS = 99 };

static cl_command_queue queue;
static cl_mem buffer[3];

static void must(int error, const char *what)
{
    if (error != 0) {
        fprintf(stderr, "bench_clblast: %s: error %d\n", what, error);
        exit(1);
    }
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The triangle for solves: a diagonal that dominates. */
static void fill(size_t n)
{
    double *a = malloc(n * n * sizeof *a);
    must(a == NULL, "memory");
    for (size_t i = 0; i < n * n; i++)
        a[i] = i % (n + 1) == 0 ? (double)n : (double)(i * 7919 % 1000) / 1000 - 0.5;
    for (int b = 0; b < 3; b++)
        must(
            clEnqueueWriteBuffer(queue, buffer[b], CL_TRUE, 0, n * n * sizeof *a, a, 0, NULL, NULL),
            "copy");
    free(a);
}

static double call(char routine, size_t n)
{
    double begin = now();
    cl_event event = NULL;
    int error =
        routine == 'g' ? (int)CLBlastDgemm(CLBlastLayoutColMajor, CLBlastTransposeNo,
                                           CLBlastTransposeYes, n, n, n, -1, buffer[0], 0, n,
                                           buffer[1], 0, n, 1, buffer[2], 0, n, &queue, &event)
        : routine == 'h'
            ? (int)CLBlastDsyrk(CLBlastLayoutColMajor, CLBlastTriangleLower, CLBlastTransposeNo, n,
                                n, -1, buffer[0], 0, n, 1, buffer[2], 0, n, &queue, &event)
            : (int)CLBlastDtrsm(CLBlastLayoutColMajor, CLBlastSideRight, CLBlastTriangleLower,
                                CLBlastTransposeYes, CLBlastDiagonalNonUnit, n, n, 1, buffer[0], 0,
                                n, buffer[1], 0, n, &queue, &event);
    must(error, "a call of CLBlast");
    clFinish(queue);
    if (event)
        clReleaseEvent(event);
    return now() - begin;
}

static int compare(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static void measure(char routine, const char *name, size_t n, int rounds)
{
    double seconds[MOST_ROUNDS],
        flops = (routine == 'g' ? 2.0 : 1.0) * (double)n * (double)n * (double)n;
    fill(n);
    double first = call(routine, n);
    for (int r = 0; r < rounds; r++)
        seconds[r] = call(routine, n);
    qsort(seconds, (size_t)rounds, sizeof *seconds, compare);
    printf("%-5s %5zu  %6.1f [%.1f, %.1f] Gflop/s, first call %.2f s\n", name, n,
           1e-9 * flops / seconds[rounds / 2], 1e-9 * flops / seconds[rounds - 1],
           1e-9 * flops / seconds[0], first);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const size_t orders[] = {128, 256, 512, 1024};
    int rounds = argc > 1 ? atoi(argv[1]) : 5;
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    rounds = rounds < 1 ? 1 : rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds;
    must(clGetPlatformIDs(1, &platform, NULL), "platforms");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "devices");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    must(error, "context");
    queue = clCreateCommandQueue(context, device, 0, &error);
    must(error, "queue");
    for (int b = 0; b < 3; b++) {
        buffer[b] =
            clCreateBuffer(context, CL_MEM_READ_WRITE, 1024 * 1024 * sizeof(double), NULL, &error);
        must(error, "buffer");
    }
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        measure('g', "gemm", orders[i], rounds);
        measure('h', "syrk", orders[i], rounds);
        measure('t', "trsm", orders[i], rounds);
    }
    return 0;
}

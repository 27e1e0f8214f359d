/*
 * Kernels on devices: calls through the registry, where the plug-in of the queue's kind has entered
 * them. Always built; programs link nothing of CUDA or OpenCL.
 */
#include <dag/kernels.h>
#include <dag/kernels_device.h>

#include "cuda/own.h"
#include "gather.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIND_NAME(NAME, number, name, file, kernels) [number] = #NAME,
static const char *const kind_names[DAG_DEVICE_KIND_COUNT] = {DAG_DEVICE_KINDS(KIND_NAME)};

/* Only bodies for devices come here, and they run only where the plug-in was loaded, whose table is
 * that of this very version. So nothing sensible is left to do where a kernel is missing. */
static dag_kernel_fn kernel_there(dag_kernel_op op, dag_precision precision, dag_device_kind kind)
{
    const dag_kernel *kernel = dag_kernel_find(op, precision, kind);
    if (kernel == NULL) {
        fprintf(stderr, "dag: there is no kernel for %s devices for %s in precision %c; call it from "
                "a body for devices only\n", kind_names[kind], dag_kernel_op_name(op),
                dag_precision_letter(precision));
        abort();
    }
    return kernel->fn;
}

/* To be launched: behind what this task has kept. */
static dag_kernel_fn kernel_of(dag_kernel_op op, dag_precision precision, dag_device_kind kind)
{
    if (atomic_load_explicit(&dagi_gathering, memory_order_relaxed) > 0)
        dag_kernels_gather_pass(0);
    return kernel_there(op, precision, kind);
}

/* Kinds whose plug-in is loaded: each has products. */
static bool loaded(dag_device_kind kind, dag_precision precision)
{
    return kind != DAG_HOST && dag_kernel_find(DAG_OP_GEMM, precision, kind) != NULL;
}

int dag_kernels_gathers(dag_device_kind kind, dag_precision precision)
{
    return dag_kernel_find(DAG_OP_GEMM_BATCH, precision, kind) || dag_kernel_find(DAG_OP_TRSM_BATCH, precision, kind);
}

/* A kind may do without kernels for several products at once. */
static bool has_batches(dag_device_queue *queue, dag_kernel_op op, dag_precision precision)
{
    return dag_kernel_find(op, precision, dag_device_queue_kind(queue)) != NULL;
}

/* What this thread has launched since dag_kernels_launched_flops(). */
static _Thread_local double launched_flops;

double dag_kernels_launched_flops(void)
{
    double flops = launched_flops;
    launched_flops = 0;
    return flops;
}

void dagi_launched_before(double flops)
{
    launched_flops = flops;
}

/* Multiplications and additions of a kernel, as they are counted for LAPACK. */
static void count_flops(double muls, double adds, int pairs)
{
    launched_flops += pairs ? 6 * muls + 2 * adds : muls + adds;
}
#define COUNT(...) count_flops(__VA_ARGS__, DAG_COMPLEX)

/* The order of a triangular or symmetric factor, and the other dimension of what it is applied to. */
static double order_of(dag_side side, int m, int n)
{
    return side == DAG_LEFT ? m : n;
}

static double others_of(dag_side side, int m, int n)
{
    return side == DAG_LEFT ? n : m;
}

int dag_device_moves_rows(const void *globals, const int32_t *locals)
{
    (void)globals;
    (void)locals;
    int there = 0;
    for (int kind = 0; kind < DAG_DEVICE_KIND_COUNT; kind++) {
        if (!loaded(kind, DAG_D))
            continue;
        if (!dag_kernel_find(DAG_OP_LASWP, DAG_D, kind))
            return 0;
        there = 1;
    }
    return there || dag_kernels_modelled(); /* devices that are played have what their description has */
}

/* Pivots from the host, and three indices for each of them. */
size_t dag_device_exchanges_bytes(int64_t count)
{
    return (size_t)count * (sizeof(int64_t) + DAGI_CUDA_MOVES * sizeof(int));
}

size_t dag_device_laswp_bytes(int64_t count)
{
    return dag_device_exchanges_bytes(count < DAGI_CUDA_SWAP_MOST ? count : DAGI_CUDA_SWAP_MOST);
}

/* The kernel that stands behind FN(name) for this queue. */
#define KERNEL(op, name, queue)                                                                    \
    ((__typeof__(&FN(name)))kernel_of(op, DAG_PREC, dag_device_queue_kind(queue)))

/* Products of nothing launch nothing. */
static bool keeps(dag_device_queue *queue, int m, int n)
{
    return atomic_load_explicit(&dagi_gathering, memory_order_relaxed) > 0 && dagi_gathers(queue) && m > 0 && n > 0;
}

#define DAG_TEMPLATE "device/launch.inc.c"
#include <dag/each_precision.h>

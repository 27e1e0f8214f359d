/*
 * Kernels on CUDA devices: calls through the registry, where the plug-in has entered them. Always
 * built; programs link nothing of CUDA.
 */
#include <dag/kernels.h>
#include <dag/kernels_cuda.h>

#include "own.h"

#include <stdio.h>
#include <stdlib.h>

/* Only bodies for devices come here, and they run only where the plug-in was loaded, whose table is
 * that of this very version. So nothing sensible is left to do where a kernel is missing. */
static dag_kernel_fn kernel_of(dag_kernel_op op, dag_precision precision)
{
    const dag_kernel *kernel = dag_kernel_find(op, precision, DAG_DEVICE_CUDA);
    if (kernel == NULL) {
        fprintf(stderr, "dag: there is no kernel for CUDA devices for %s in precision %c; call it from "
                "a body of type CUDA only\n", dag_kernel_op_name(op), dag_precision_letter(precision));
        abort();
    }
    return kernel->fn;
}

/* What this thread has launched since dag_kernels_launched_flops(). */
static _Thread_local double launched_flops;

double dag_kernels_launched_flops(void)
{
    double flops = launched_flops;
    launched_flops = 0;
    return flops;
}

/* Multiplications and additions of a kernel, as they are counted for LAPACK. */
static void count(double muls, double adds, int pairs)
{
    launched_flops += pairs ? 6 * muls + 2 * adds : muls + adds;
}
#define COUNT(...) count(__VA_ARGS__, DAG_COMPLEX)

/* Of a triangular or symmetric factor, and of what it is applied to: the other dimension. */
static double order_of(dag_side side, int m, int n)
{
    return side == DAG_LEFT ? m : n;
}

static double others_of(dag_side side, int m, int n)
{
    return side == DAG_LEFT ? n : m;
}

int dag_cuda_moves_rows(const void *globals, const int32_t *locals)
{
    (void)globals;
    (void)locals;
    return dag_kernel_find(DAG_OP_LASWP, DAG_D, DAG_DEVICE_CUDA) != NULL;
}

/* Pivots from the host, and three indices for each of them. */
size_t dag_cuda_exchanges_bytes(int64_t count)
{
    return (size_t)count * (sizeof(int64_t) + DAGI_CUDA_MOVES * sizeof(int));
}

size_t dag_cuda_laswp_bytes(int64_t count)
{
    return dag_cuda_exchanges_bytes(count < DAGI_CUDA_SWAP_MOST ? count : DAGI_CUDA_SWAP_MOST);
}

/* The kernel that stands behind FN(name). */
#define KERNEL(op, name) ((__typeof__(&FN(name)))kernel_of(op, DAG_PREC))

#define DAG_TEMPLATE "cuda/launch.inc.c"
#include "each_precision.h"

/* The table of kernels by operation, precision and kind of device. */
#include <dag/kernels.h>

#include <pthread.h>

/*
 * Written during start-up only (dag_kernel_register), read by all threads afterwards; entries
 * with fn == NULL are free. The CPU entries are there from the start.
 */
#define CPU_KERNEL(code, op, letter, prec) \
    [code][prec][DAG_DEVICE_CPU] = {code, prec, DAG_DEVICE_CPU, \
                                    (dag_kernel_fn)dag_tile_##letter##op, \
                                    "dag_tile_" #letter #op}

#define CPU_KERNELS(code, op) \
    CPU_KERNEL(code, op, s, DAG_S), CPU_KERNEL(code, op, d, DAG_D), \
    CPU_KERNEL(code, op, c, DAG_C), CPU_KERNEL(code, op, z, DAG_Z)

static dag_kernel table[DAG_OP_COUNT][DAG_PRECISION_COUNT][DAG_DEVICE_KIND_COUNT] = {
    CPU_KERNELS(DAG_OP_POTRF, potrf),
    CPU_KERNELS(DAG_OP_TRSM, trsm),
    CPU_KERNELS(DAG_OP_TRMM, trmm),
    CPU_KERNELS(DAG_OP_HERK, herk),
    CPU_KERNELS(DAG_OP_SYRK, syrk),
    CPU_KERNELS(DAG_OP_GEMM, gemm),
    CPU_KERNELS(DAG_OP_HEMM, hemm),
    CPU_KERNELS(DAG_OP_LACPY, lacpy),
    CPU_KERNELS(DAG_OP_LASET, laset),
    CPU_KERNELS(DAG_OP_GEADD, geadd),
    CPU_KERNELS(DAG_OP_LANGE_MAX, lange_max),
    CPU_KERNELS(DAG_OP_LANGE_ONE, lange_one),
    CPU_KERNELS(DAG_OP_LANGE_INF, lange_inf),
    CPU_KERNELS(DAG_OP_LANGE_FRO, lange_fro),
    CPU_KERNELS(DAG_OP_ABSGEMM, absgemm),
    CPU_KERNELS(DAG_OP_PLRNT, plrnt),
    CPU_KERNELS(DAG_OP_PLGHE, plghe),
    CPU_KERNELS(DAG_OP_GETRF, getrf),
    CPU_KERNELS(DAG_OP_GETRF_NOPIV, getrf_nopiv),
    CPU_KERNELS(DAG_OP_GETRF_COLUMN, getrf_column),
    CPU_KERNELS(DAG_OP_GETRF_SEARCH, getrf_search),
    CPU_KERNELS(DAG_OP_GETRF_CHOOSE, getrf_choose),
    CPU_KERNELS(DAG_OP_GETRF_BELOW, getrf_below),
    CPU_KERNELS(DAG_OP_LASWP, laswp),
    CPU_KERNELS(DAG_OP_SYMM, symm),
    CPU_KERNELS(DAG_OP_SYR2K, syr2k),
    CPU_KERNELS(DAG_OP_HER2K, her2k),
    CPU_KERNELS(DAG_OP_GEQRT, geqrt),
    CPU_KERNELS(DAG_OP_GEMQRT, gemqrt),
    CPU_KERNELS(DAG_OP_TPQRT, tpqrt),
    CPU_KERNELS(DAG_OP_TPMQRT, tpmqrt),
    CPU_KERNELS(DAG_OP_GEQRT_STACK, geqrt_stack),
    CPU_KERNELS(DAG_OP_GEMQRT_STACK, gemqrt_stack),
};

/* The place of an entry, or NULL if the key is out of range. */
static dag_kernel *place(dag_kernel_op op, dag_precision precision, dag_device_kind device)
{
    if ((unsigned)op >= DAG_OP_COUNT || (unsigned)precision >= DAG_PRECISION_COUNT ||
        (unsigned)device >= DAG_DEVICE_KIND_COUNT)
        return NULL;
    return &table[op][precision][device];
}

const dag_kernel *dag_kernel_find(dag_kernel_op op, dag_precision precision,
                                  dag_device_kind device)
{
    const dag_kernel *kernel = place(op, precision, device);
    return kernel != NULL && kernel->fn != NULL ? kernel : NULL;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of who enters */

bool dag_kernel_register(const dag_kernel *entry)
{
    dag_kernel *kernel = place(entry->op, entry->precision, entry->device);
    if (kernel == NULL || entry->fn == NULL || entry->name == NULL)
        return false;
    pthread_mutex_lock(&lock);
    if (kernel->fn == NULL)
        *kernel = *entry;
    bool same = kernel->fn == entry->fn; /* a context that starts beside others finds it here */
    pthread_mutex_unlock(&lock);
    return same;
}

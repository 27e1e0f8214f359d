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
#define CPU_ROW(NAME, name) CPU_KERNELS(DAG_OP_##NAME, name),
    DAG_CORE_OPS(CPU_ROW)
#undef CPU_ROW
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

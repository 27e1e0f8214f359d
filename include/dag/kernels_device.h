/**
 * @file kernels_device.h
 * Kernels on devices of any kind, for bodies of `type = DEVICE`, or of one kind, for s, d, c and z.
 *
 * `FN(dev_gemm)` is FN(gemm) on a device: it takes the queue (`dag_queue` of the body) and then the
 * arguments of the kernel for cores that kernels.h documents; pointers to matrices and workspace are
 * addresses of the device, scalars are values. It enqueues the work and returns; what goes wrong is
 * kept by the queue, and the runtime asks it. What differs from the kernel for cores, or has no
 * counterpart there, is said below.
 *
 * A program that calls these links no part of CUDA or OpenCL: they find the kernels in the table that the
 * plug-in of the queue's kind has entered them into, and are called by bodies for devices only, which run
 * where there is one.
 */
#ifndef DAG_KERNELS_DEVICE_H
#define DAG_KERNELS_DEVICE_H

#include <dag/device.h>
#include <dag/types.h>

DAG_C_BEGIN

/**
 * Exchanges of rows first, ..., first+count-1 of a matrix with rows pivot[first], ... of it, none of
 * which lies above the row that it is exchanged with.
 *
 * Where rows are dealt out to several stacks in blocks of nb, block b to stack b % parts, the exchanged
 * rows are of one block, and what is said of them is seen from stack `part`.
 */
typedef struct dag_device_exchanges {
    const int64_t *pivot; /**< indexed by rows of the matrix; on the device */
    int64_t first;
    int count;
    int nb, parts, part;  /**< 0, 0, 0: one stack has all rows */
    bool backward;        /**< the last exchange first */
    bool pivot_on_host;   /**< pivot[] is on the host instead, and read by the call */
} dag_device_exchanges;

/** Bytes of workspace on the device for dev_pick_rows and dev_put_rows. */
size_t dag_device_exchanges_bytes(int64_t count);

/** The same for dev_laswp, which exchanges some hundred rows at a time: no more than for these. */
size_t dag_device_laswp_bytes(int64_t count);

/** Nonzero where dev_laswp, dev_pick_rows and dev_put_rows are there for every kind of devices that is
 *  loaded: for CUDA they are compiled by nvcc, in a library of their own that may be missing. To be named
 *  as `evaluate` by bodies that use them; the arguments say nothing. */
int dag_device_moves_rows(const void *globals, const int32_t *locals);

#define DAG_TEMPLATE <dag/kernels_device_decl.h>
#include <dag/each_precision.h>

/** Floating point operations of the kernels that this thread has launched since the last call, as they
 *  are counted for LAPACK; the runtime asks behind each body. */
double dag_kernels_launched_flops(void);

/**
 * @name Kernels of several tasks in one launch
 * For the runtime, where bodies have the property `batch`. Between begin and end dev_gemm and dev_trsm of this
 * thread are kept instead of launched. Tasks are told apart by dag_kernels_gather_task(), before each but the
 * first; they are independent of each other, the calls of one come in its order. So calls number i of all tasks
 * that have one form (kernel, precision, shape, factors) become one launch, those of number i + 1 the next.
 * Before anything else is enqueued (`pass`, which the other kernels do by themselves) what the task has in front
 * of it is launched.
 */
/**@{*/
/** Nonzero: this kind of device has kernels for several products or solves at once in this precision. */
int dag_kernels_gathers(dag_device_kind kind, dag_precision precision);
/** Nonzero: begun, for up to `tasks` tasks, 64 at most, all in this queue; 0: there is no memory for it. */
int dag_kernels_gather_begin(dag_device_queue *queue, int tasks);
void dag_kernels_gather_task(void);
/** The task enqueues something by itself; with `rest` it may do so from now on, and nothing more of it is kept.
 *  Nothing outside of begin and end. */
void dag_kernels_gather_pass(int rest);
/** Launch what is kept, or with launch = 0, since the last task refused, forget it. Nonzero: something of the tasks
 *  before the last one was enqueued already. */
int dag_kernels_gather_end(int launch);
/**@}*/

DAG_C_END

#endif /* DAG_KERNELS_DEVICE_H */

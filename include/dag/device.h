/**
 * @file device.h
 * What bodies for devices (`BODY [type = CUDA]`) may use. Such a body enqueues kernels and returns;
 * it does not wait for them. The flows' pointers are addresses of the device, their leading
 * dimensions those of the copies there. It runs on one of the runtime's threads and must not keep
 * anything that it was given. docs/language.md shows one; how tasks get to devices is in
 * docs/design/devices.md.
 */
#ifndef DAG_DEVICE_H
#define DAG_DEVICE_H

#include <dag/types.h>

DAG_C_BEGIN

struct dag_task;
struct dag_value;

/** An ordered queue of a device: `dag_queue` in a body. */
typedef struct dag_device_queue dag_device_queue;

/** The queue that this task's kernels go to. */
dag_device_queue *dag_device_queue_of(const struct dag_task *task);

/** The kind of the device that a queue belongs to: what a queue begins with, whichever plug-in made it. */
static inline dag_device_kind dag_device_queue_kind(const dag_device_queue *queue)
{
    return *(const dag_device_kind *)(const void *)queue;
}

/** The kind of the device that this task runs on, for bodies of `type = DEVICE`, which run on any. */
dag_device_kind dag_device_kind_of(const struct dag_task *task);

/** The queue as the device's own library knows it, for kernels that are not in <dag/kernels.h>: a
 *  cudaStream_t on DAG_DEVICE_CUDA, a cl_command_queue on DAG_DEVICE_OPENCL. */
void *dag_device_stream(dag_device_queue *queue);

/**
 * The data flows as the device sees them, in the order of their declaration: rows and columns as on
 * the host, `ptr` and `ld` of the copy on the device; ptr is NULL for a flow that is NULL.
 */
const struct dag_value *dag_device_views(const struct dag_task *task);

/** The workspace on the device, of as many bytes as the property `workspace` of the body says; NULL
 *  when it says 0. */
void *dag_device_workspace(const struct dag_task *task);

/**
 * An int on the device, 0 before the first kernel of the body. When it is not 0 after the last one,
 * offset + its value is reported as dag_task_info() does; negative values fail the pool.
 */
int *dag_device_info(const struct dag_task *task, int64_t offset);

/** Kernels of the body's own take so many floating point operations, for dag_device_stats; those of
 *  <dag/kernels_device.h> are counted without being told. */
void dag_device_flops(const struct dag_task *task, double flops);

DAG_C_END

#endif

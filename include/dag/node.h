/**
 * @file node.h
 * A node of the machine that the setting `machine` describes, for programs that choose sizes by what kernels take
 * there: in simulated runs, with the setting `stretch`, and in others, of which it then says what their node is
 * like. docs/design/simulation.md has the form of descriptions.
 */
#ifndef DAG_NODE_H
#define DAG_NODE_H

#include <dag/dag.h>
#include <dag/kernels.h>

DAG_C_BEGIN

/** What a rank has there. Fields are read-only. */
typedef struct dag_node {
    char name[64];
    int workers, devices; /**< of a rank; a run may have others (dag_workers(), dag_devices()) */
    int streams;          /**< kernels that a device runs at once */
    int links;            /**< which devices share, device i having number i % links */
    double memory;        /**< bytes of a device */
    double latency;       /**< seconds, of a transfer to a device or from it */
    double in, out;       /**< bytes per second */
    double task;          /**< seconds of a worker for a task, besides its body */
} dag_node;

/**
 * Read the description.
 * @return to be given to dag_node_free(); NULL with dag_message() where there is none, or it cannot be read.
 */
dag_node *dag_node_new(dag_context *context);
void dag_node_free(dag_node *node); /**< NULL is allowed */

/**
 * Seconds of a kernel on a core, or on a device where nothing else runs.
 * @param[out] filled  seconds at the highest rate of a device, less than which kernels do not take each where
 *                     several run at once; the same as the result on cores. May be NULL.
 * @return negative where devices do not have it.
 */
double dag_node_kernel(dag_node *node, int on_device, const dag_kernel_call *call, double *filled);

/** What a rank expects tasks to take. It does not see their shapes: it remembers the times of tasks of one kind and about as
 *  many bytes. */
typedef struct dag_node_times dag_node_times;

/** For kinds 0 ... kinds - 1; NULL: out of memory. To be given to dag_node_times_free(). */
dag_node_times *dag_node_times_new(int kinds);
void dag_node_times_free(dag_node_times *times); /**< NULL is allowed */

/**
 * Seconds that a task of that kind with so many bytes is expected to take on cores, or on devices, where this one takes
 * `seconds`: as behind runs that have tried all places.
 */
double dag_node_expect(dag_node_times *times, int kind, int on_device, double bytes, double seconds);

DAG_C_END
#endif

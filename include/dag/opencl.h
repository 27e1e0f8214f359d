/**
 * @file opencl.h
 * What bodies of `type = OPENCL` may use beside <dag/device.h> and <dag/kernels_device.h>: kernels of the
 * application's own, by the calls of OpenCL itself. dag_device_stream() gives the cl_command_queue to
 * enqueue them into; it runs them in order. The C that dagcc makes of such a body includes this file.
 * docs/devices.md shows a body.
 *
 * Handles of OpenCL are pointers to structs, declared here so that this file includes nothing of it.
 */
#ifndef DAG_OPENCL_H
#define DAG_OPENCL_H

#include <dag/dag.h>
#include <dag/kernels_device.h>

DAG_C_BEGIN

struct _cl_mem;
struct _cl_kernel;

/**
 * Names the text of an OpenCL program, which is compiled for each OpenCL device when that is opened. Call
 * it before the first dag_init(), from one thread; a program that does not compile keeps the device from
 * being used, and the reason is what the compiler said. But a device without double precision, where a
 * program with doubles does not, is used without the program: name the kernels in single precision apart.
 * @param name  of the program, for dag_opencl_kernel(); as the text it is not copied, and has to stay.
 * @param text  OpenCL C 1.2.
 * @return DAG_SUCCESS; DAG_ERR_ARG: an argument is NULL, or a program has this name;
 *         DAG_ERR_STATE: a dag_init() has passed the programs on, and none is taken any more;
 *         DAG_ERR_NOMEM: there are 32.
 */
dag_status dag_opencl_program(const char *name, const char *text);

/**
 * A kernel of such a program: of this queue, so its arguments are nobody else's. It belongs to the queue;
 * do not release it.
 * @param queue    of an OpenCL device: `dag_queue` in a body.
 * @param program  the name that dag_opencl_program() was given.
 * @param kernel   the function's name, of less than 64 characters.
 * @return a cl_kernel; NULL: there is no such program or kernel, or not on this device. The body then
 *         returns DAG_BODY_ERROR, and the task goes to a core if its class has a body for that.
 */
struct _cl_kernel *dag_opencl_kernel(dag_device_queue *queue, const char *program, const char *kernel);

/**
 * Where an address lies: pointers of flows and workspace on an OpenCL device are addresses that nobody can
 * follow, and a kernel is given the buffer behind one, and an offset.
 * @param queue        of an OpenCL device.
 * @param at           a flow's pointer, or what dag_device_workspace() or dag_device_info() gave, or further on.
 * @param[out] buffer  a cl_mem of the runtime's; other elements lie in it, too.
 * @param[out] offset  of the address in the buffer, in bytes.
 * @return 1; 0: the address is on no OpenCL device, and nothing was set.
 */
int dag_device_buffer(dag_device_queue *queue, const void *at, struct _cl_mem **buffer, size_t *offset);

/**
 * OpenCL device number `index` of all that the drivers of this machine show, used or not, platform by platform;
 * loads their libraries, which takes memory and tenths of a second.
 * @param[out] text  platform, name, and why it is not used, or that it can be; up to `size` bytes.
 * @return 1, or 0 behind the last one.
 */
int dag_opencl_seen(const dag_context *context, int index, char *text, size_t size);

DAG_C_END

#endif /* DAG_OPENCL_H */

/**
 * @file device_kinds.h
 * The kinds of devices: one row for each, read by the runtime and by dagcc, so it holds macros alone.
 * A kind is this row, a folder runtime/device/NAME with its back end, kernels, and its tests.
 */
#ifndef DAG_DEVICE_KINDS_H
#define DAG_DEVICE_KINDS_H

/**
 * X(NAME, number, name, file, kernels):
 * - NAME: `BODY [type = NAME]`, and DAG_DEVICE_NAME;
 * - number: from 0 on, it indexes tables. The first kind is the host;
 * - name: in settings as device_memory=NAME=BYTES, device_plugin=NAME=FILE;
 * - file: the plug-in with its back end; "" = none comes with the library, device_plugin names one;
 * - kernels: the header with what such bodies may call, which the C that dagcc makes of them includes;
 *   "" = there is none, or (host) the bodies' author chooses. Bodies for any kind (`type = DEVICE`) have
 *   dag/kernels_device.h.
 */
#define DAG_DEVICE_KINDS(X) \
    X(CPU, 0, cpu, "", "")  \
    DAG_DEVICE_KINDS_BESIDE_HOST(X)

#define DAG_DEVICE_KINDS_BESIDE_HOST(X)                           \
    X(CUDA, 1, cuda, "libdag_cuda.so", "dag/kernels_device.h")  \
    X(OPENCL, 2, opencl, "libdag_opencl.so", "dag/opencl.h")

#endif

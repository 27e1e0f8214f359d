/**
 * @file device_kinds.h
 * The kinds of devices: one row for each, read by the runtime and by dagcc, so it holds macros alone.
 * A kind is this row, a folder runtime/device/NAME with its back end, and its tests.
 */
#ifndef DAG_DEVICE_KINDS_H
#define DAG_DEVICE_KINDS_H

/**
 * X(NAME, number, name, file): `BODY [type = NAME]`, DAG_DEVICE_NAME; settings name_memory and name_plugin;
 * the plug-in with its back end, "" = none comes with the library, and name_plugin says where there is
 * one. The numbers count from 0 and index tables. The first kind is the host.
 */
#define DAG_DEVICE_KINDS(X) \
    X(CPU, 0, cpu, "")      \
    DAG_DEVICE_KINDS_BESIDE_HOST(X)

#define DAG_DEVICE_KINDS_BESIDE_HOST(X) \
    X(CUDA, 1, cuda, "libdag_cuda.so")  \
    X(OPENCL, 2, opencl, "")

#endif

/**
 * @file kernels_cuda.h
 * Kernels on CUDA devices, for bodies of `type = CUDA`, for s, d, c and z.
 *
 * `FN(cuda_gemm)` is FN(gemm) on a device: it takes the queue (`dag_queue` of the body) and then the
 * arguments of the kernel for cores that kernels.h documents; pointers to matrices and workspace are
 * addresses of the device, scalars are values. It enqueues the work and returns; what goes wrong is
 * kept by the queue, and the runtime asks it. What differs from the kernel for cores, or has no
 * counterpart there, is said below.
 *
 * A program that calls these links no part of CUDA: they find the kernels in the table that the plug-in
 * has entered them into, and are called by bodies for devices only, which run where there is one.
 */
#ifndef DAG_KERNELS_CUDA_H
#define DAG_KERNELS_CUDA_H

#include <dag/device.h>
#include <dag/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DAG_PRECISION s
#include <dag/precision.h>
#include <dag/kernels_cuda_decl.h>
#include <dag/precision_undef.h>

#define DAG_PRECISION d
#include <dag/precision.h>
#include <dag/kernels_cuda_decl.h>
#include <dag/precision_undef.h>

#define DAG_PRECISION c
#include <dag/precision.h>
#include <dag/kernels_cuda_decl.h>
#include <dag/precision_undef.h>

#define DAG_PRECISION z
#include <dag/precision.h>
#include <dag/kernels_cuda_decl.h>
#include <dag/precision_undef.h>

#ifdef __cplusplus
}
#endif

#endif /* DAG_KERNELS_CUDA_H */

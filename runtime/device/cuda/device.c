/* Devices and memory. */
#include "cuda.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Devices that were opened, as bits. Pinning is for all devices, but a thread that asks for it without
 * having chosen one would start the first, which may not be ours. */
static _Atomic uint64_t opened;
enum { MOST_DEVICES = DAGI_CUDA_DEVICES };

/* cuBLAS obeys this variable against what the program asks for: products in single precision would have
 * 11 bits instead of 24, and say nothing. */
int dagi_cuda_rounds_single(char *why, size_t size)
{
    const char *value = getenv("NVIDIA_TF32_OVERRIDE");
    if (!value || !*value || strcmp(value, "0") == 0)
        return 0;
    snprintf(why, size, "NVIDIA_TF32_OVERRIDE=%s in the environment has devices round single precision "
             "to 11 bits, so tasks in single precision run on cores; unset it", value);
    return 1;
}

int dagi_cuda_count(int processors, char *why, size_t size)
{
    (void)processors;
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0)
        return count;
    (void)cudaGetLastError();
    if (error == cudaSuccess || error == cudaErrorNoDevice)
        snprintf(why, size, "this machine has no CUDA device");
    else if (error == cudaErrorInsufficientDriver)
        snprintf(why, size, "the driver of the CUDA devices is missing, or too old for CUDA %d: "
                 "update it, or take a library of an older CUDA", DAGI_CUDA_MAJOR);
    else
        snprintf(why, size, "the CUDA devices cannot be used: %s (%s)", cudaGetErrorString(error),
                 cudaGetErrorName(error));
    return 0;
}

/* cuBLAS is given its workspace, since its own would be allocated in between and stop the device. The
 * size is what the library itself takes; little devices are left their memory. */
static size_t blas_workspace(const struct cudaDeviceProp *prop)
{
    size_t wanted = (size_t)(prop->major >= 9 ? 32 : 4) << 20, least = (size_t)64 << 10;
    size_t most = prop->totalGlobalMem / 64 / least * least;
    return most < least ? least : wanted < most ? wanted : most;
}

static dagi_result describe(dagi_cuda_device *d, dagi_backend_info *info)
{
    struct cudaDeviceProp prop;
    dagi_result result = CUDA(cudaGetDeviceProperties, &prop, d->index);
    if (result == DAGI_OK)
        result = CUDA(cudaMemGetInfo, &info->memory_free, &info->memory);
    if (result == DAGI_OK)
        result = CUDA(cudaDeviceGetStreamPriorityRange, &d->normal, &d->urgent);
    if (result != DAGI_OK)
        return result;
    snprintf(info->name, sizeof info->name, "%.255s", prop.name);
    if (CUDA(cudaDeviceGetPCIBusId, info->bus, (int)sizeof info->bus, d->index) != DAGI_OK)
        info->bus[0] = '\0';
    d->blas_workspace = blas_workspace(&prop);
    return DAGI_OK;
}

dagi_result dagi_cuda_open(int index, void **device, dagi_backend_info *info)
{
    memset(info, 0, sizeof *info);
    dagi_cuda_device *d = calloc(1, sizeof *d);
    if (!d)
        return DAGI_NOMEM;
    d->index = index;
    dagi_result result = CUDA(cudaSetDevice, index);
    if (result == DAGI_OK)
        result = describe(d, info);
    if (result != DAGI_OK) {
        free(d);
        return result;
    }
    if (index < MOST_DEVICES)
        atomic_fetch_or(&opened, UINT64_C(1) << index);
    *device = d;
    return DAGI_OK;
}

/* The context of the device stays: other libraries in the process may use it. */
void dagi_cuda_close(void *device)
{
    dagi_cuda_device *d = device;
    dagi_cuda_events_drop(d);
    free(d);
}

dagi_result dagi_cuda_alloc(void *device, size_t bytes, void **at)
{
    const dagi_cuda_device *d = device;
    dagi_result result = CUDA(cudaSetDevice, d->index);
    return result == DAGI_OK ? CUDA(cudaMalloc, at, bytes) : result;
}

void dagi_cuda_free(void *device, void *at)
{
    const dagi_cuda_device *d = device;
    if (CUDA(cudaSetDevice, d->index) == DAGI_OK)
        (void)CUDA(cudaFree, at);
}

/* Call it with one of ours as the current device; when that one is lost, with the next. */
static dagi_result with_any(dagi_result (*call)(void *at, size_t bytes), void *at, size_t bytes)
{
    dagi_result result = DAGI_LOST;
    int before = dagi_cuda_chosen();
    for (int i = 0; i < MOST_DEVICES && result == DAGI_LOST; i++) {
        if (!dagi_cuda_is_open(i))
            continue;
        result = CUDA(cudaSetDevice, i);
        if (result == DAGI_OK)
            result = call(at, bytes);
    }
    dagi_cuda_choose_again(before);
    return result;
}

int dagi_cuda_is_open(int index)
{
    return (int)(atomic_load(&opened) >> index & 1);
}

static dagi_result pin(void *at, size_t bytes)
{
    return CUDA(cudaHostRegister, at, bytes, cudaHostRegisterPortable);
}

static dagi_result unpin(void *at, size_t bytes)
{
    (void)bytes;
    return CUDA(cudaHostUnregister, at);
}

dagi_result dagi_cuda_pin(void *at, size_t bytes)
{
    return with_any(pin, at, bytes);
}

void dagi_cuda_unpin(void *at)
{
    (void)with_any(unpin, at, 0);
}

void dagi_cuda_choose(void *device)
{
    const dagi_cuda_device *d = device;
    (void)CUDA(cudaSetDevice, d->index);
}

int dagi_cuda_chosen(void)
{
    int device = -1;
    return cudaGetDevice(&device) == cudaSuccess ? device : -1;
}

/* What failed before is still to be told. */
void dagi_cuda_choose_again(int number)
{
    if (number >= 0 && number != dagi_cuda_chosen() && cudaSetDevice(number) != cudaSuccess)
        (void)cudaGetLastError();
}

dagi_result dagi_cuda_peer(void *device, void *other)
{
    const dagi_cuda_device *d = device, *o = other;
    int can = 0;
    dagi_result result = CUDA(cudaDeviceCanAccessPeer, &can, d->index, o->index);
    if (result != DAGI_OK)
        return result;
    if (!can)
        return dagi_cuda_result(cudaErrorPeerAccessUnsupported, "cudaDeviceCanAccessPeer");
    result = CUDA(cudaSetDevice, d->index);
    if (result != DAGI_OK)
        return result;
    cudaError_t error = cudaDeviceEnablePeerAccess(o->index, 0);
    if (error == cudaErrorPeerAccessAlreadyEnabled) {
        (void)cudaGetLastError();
        return DAGI_OK;
    }
    return dagi_cuda_result(error, "cudaDeviceEnablePeerAccess");
}

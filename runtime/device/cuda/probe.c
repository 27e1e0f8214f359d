/* Whether there is a CUDA device: a part of the runtime, not of the plug-in. */
#include "../backend.h"
#include "api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

dagi_probe dagi_cuda_probe;

/* The plug-in brings cuBLAS and cuSOLVER with it, hundreds of MiB even where there is no device. The
 * small library below them knows, so it is asked first. */
int dagi_cuda_probe(char *why, size_t size)
{
    void *runtime = dlopen("libcudart.so.13", RTLD_NOW | RTLD_LOCAL);
    void *symbol = runtime ? dlsym(runtime, "cudaGetDeviceCount") : NULL;
    cudaError_t (*get)(int *) = NULL;
    int count = 0;
    if (!symbol)
        return 1; /* loading the plug-in will tell what is missing */
    memcpy(&get, &symbol, sizeof get);
    cudaError_t error = get(&count);
    if (error == cudaSuccess ? count > 0
                             : error != cudaErrorNoDevice && error != cudaErrorInsufficientDriver)
        return 1;
    snprintf(why, size, "%s", error == cudaErrorInsufficientDriver
                                  ? "the driver of the CUDA devices is missing, or too old for CUDA 13"
                                  : "this machine has no CUDA device");
    return 0;
}

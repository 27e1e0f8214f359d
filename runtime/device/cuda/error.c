/* What errors of CUDA mean: short memory, a refusal, or a device that is lost. */
#include "cuda.h"

#include <stdio.h>

static _Thread_local char last[256];

const char *dagi_cuda_error(void)
{
    return last;
}

/* Errors after which every call for the device fails, until the process ends; one that is not here and lasts
 * is found out below. */
static int lasts(cudaError_t error)
{
    switch (error) {
    case cudaErrorCudartUnloading:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorContextIsDestroyed:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
        return 1;
    default:
        return 0;
    }
}

dagi_result dagi_cuda_result(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return DAGI_OK;
    if (error == cudaErrorNotReady) {
        (void)cudaGetLastError();
        return DAGI_BUSY;
    }
    snprintf(last, sizeof last, "%s: %s (%s)", call, cudaGetErrorString(error),
             cudaGetErrorName(error));
    if (lasts(error))
        return DAGI_LOST;
    /* Taking it back shows whether there is a lasting one behind it, also one unknown here. */
    (void)cudaGetLastError();
    if (cudaPeekAtLastError() != cudaSuccess)
        return DAGI_LOST;
    return error == cudaErrorMemoryAllocation ? DAGI_NOMEM : DAGI_REFUSED;
}

/* A library's own error. It says "execution failed" for a launch that was refused as well as for a
 * broken device. The runtime library knows which when it is asked again; the device is the calling
 * thread's own here. */
static dagi_result library_result(int short_memory, const char *call, const char *text)
{
    snprintf(last, sizeof last, "%s: %s", call, text);
    cudaError_t error = cudaGetLastError();
    if (cudaPeekAtLastError() != cudaSuccess)
        return DAGI_LOST;
    return short_memory || error == cudaErrorMemoryAllocation ? DAGI_NOMEM : DAGI_REFUSED;
}

dagi_result dagi_cuda_own_result(void)
{
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
        return DAGI_OK;
    snprintf(last, sizeof last, "a kernel of the body's own: %s (%s)", cudaGetErrorString(error),
             cudaGetErrorName(error));
    return cudaPeekAtLastError() == cudaSuccess ? DAGI_UNSURE : DAGI_LOST;
}

dagi_result dagi_cuda_blas_result(cublasStatus_t status, const char *call)
{
    if (status == CUBLAS_STATUS_SUCCESS)
        return DAGI_OK;
    return library_result(status == CUBLAS_STATUS_ALLOC_FAILED, call,
                          cublasGetStatusString(status));
}

dagi_result dagi_cuda_solver_result(cusolverStatus_t status, const char *call)
{
    if (status == CUSOLVER_STATUS_SUCCESS)
        return DAGI_OK;
    char text[64];
    snprintf(text, sizeof text, "cuSOLVER status %d", (int)status);
    return library_result(status == CUSOLVER_STATUS_ALLOC_FAILED, call, text);
}

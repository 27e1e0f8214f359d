/* libcublas.so.13: handles; the routines are in cublas.inc.c, once per precision. */
#include "job.h"

#include <cblas.h>
#include <dag/types.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0xb1a5u
#define VERSION 130000

struct cublasContext {
    unsigned magic; /* 0: destroyed; the struct stays, so that a late use is seen */
    int device;
    cudaStream_t stream;
    cublasPointerMode_t mode;
    void *workspace; /* of the caller, or NULL: our own */
    size_t workspace_size;
    struct cublasContext *next_dead;
};

static _Atomic(cublasHandle_t) dead;

static bool bad_handle(const char *call, cublasHandle_t handle)
{
    cudaError_t error;
    if (fake_enter(call, -1, &error))
        return true;
    if (handle && handle->magic == MAGIC)
        return false;
    fake_misuse(call, "%p is no handle, or was destroyed", (void *)handle);
    return true;
}

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle)
{
    cudaError_t error;
    if (fake_enter("cublasCreate", fake_current_device(), &error))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!handle) {
        fake_misuse("cublasCreate", "nowhere to put the handle");
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    cublasHandle_t h = calloc(1, sizeof *h);
    if (!h)
        return CUBLAS_STATUS_ALLOC_FAILED;
    h->magic = MAGIC;
    h->device = fake_current_device();
    *handle = h;
    job_start();
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
    if (bad_handle("cublasDestroy", handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    handle->magic = 0;
    handle->next_dead = atomic_load(&dead);
    while (!atomic_compare_exchange_weak(&dead, &handle->next_dead, handle))
        ;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t streamId)
{
    if (bad_handle("cublasSetStream", handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    int device = fake_stream_device("cublasSetStream", streamId);
    if (device != handle->device) {
        if (device >= 0)
            fake_misuse("cublasSetStream", "the stream is of device %d, the handle of device %d",
                        device, handle->device);
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    handle->stream = streamId;
    handle->workspace = NULL; /* "unconditionally resets the workspace" */
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace,
                                     size_t workspaceSizeInBytes)
{
    const char *call = "cublasSetWorkspace";
    if (bad_handle(call, handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    fake_range range = {workspace, workspaceSizeInBytes, 1, workspaceSizeInBytes, true, 0, ""};
    int device;
    if ((uintptr_t)workspace % 256 || !workspaceSizeInBytes ||
        fake_where(&range, &device) != FAKE_DEVICE || device != handle->device) {
        fake_misuse(call, "%p, %zu bytes, is not memory of device %d on a multiple of 256",
                    workspace, workspaceSizeInBytes, handle->device);
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    handle->workspace = workspace;
    handle->workspace_size = workspaceSizeInBytes;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode)
{
    if (bad_handle("cublasSetPointerMode", handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (mode != CUBLAS_POINTER_MODE_HOST && mode != CUBLAS_POINTER_MODE_DEVICE)
        fake_unknown("cublasSetPointerMode", "mode %d", (int)mode);
    handle->mode = mode;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode)
{
    if (bad_handle(__func__, handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (mode != CUBLAS_DEFAULT_MATH && mode != CUBLAS_PEDANTIC_MATH &&
        mode != CUBLAS_TF32_TENSOR_OP_MATH)
        fake_unknown(__func__, "mode %d", (int)mode);
    return CUBLAS_STATUS_SUCCESS; /* all compute as they are */
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version)
{
    if (bad_handle("cublasGetVersion", handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    *version = VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

const char *cublasGetStatusString(cublasStatus_t status)
{
    switch (status) {
    case CUBLAS_STATUS_SUCCESS:
        return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED:
        return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED:
        return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE:
        return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_ARCH_MISMATCH:
        return "CUBLAS_STATUS_ARCH_MISMATCH";
    case CUBLAS_STATUS_MAPPING_ERROR:
        return "CUBLAS_STATUS_MAPPING_ERROR";
    case CUBLAS_STATUS_EXECUTION_FAILED:
        return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_INTERNAL_ERROR:
        return "CUBLAS_STATUS_INTERNAL_ERROR";
    case CUBLAS_STATUS_NOT_SUPPORTED:
        return "CUBLAS_STATUS_NOT_SUPPORTED";
    case CUBLAS_STATUS_LICENSE_ERROR:
        return "CUBLAS_STATUS_LICENSE_ERROR";
    }
    return "unknown status";
}

/* ---- arguments of the routines ---- */

static int get_side(job *j, cublasSideMode_t side)
{
    if (side != CUBLAS_SIDE_LEFT && side != CUBLAS_SIDE_RIGHT)
        job_bad(j, "side = %d", (int)side);
    return side == CUBLAS_SIDE_LEFT ? CblasLeft : CblasRight;
}

static int get_uplo(job *j, cublasFillMode_t uplo)
{
    if (uplo != CUBLAS_FILL_MODE_LOWER && uplo != CUBLAS_FILL_MODE_UPPER)
        job_bad(j, "uplo = %d", (int)uplo);
    return uplo == CUBLAS_FILL_MODE_LOWER ? CblasLower : CblasUpper;
}

static int get_diag(job *j, cublasDiagType_t diag)
{
    if (diag != CUBLAS_DIAG_NON_UNIT && diag != CUBLAS_DIAG_UNIT)
        job_bad(j, "diag = %d", (int)diag);
    return diag == CUBLAS_DIAG_UNIT ? CblasUnit : CblasNonUnit;
}

static int get_trans(job *j, cublasOperation_t trans)
{
    if (trans != CUBLAS_OP_N && trans != CUBLAS_OP_T && trans != CUBLAS_OP_C)
        job_bad(j, "trans = %d", (int)trans);
    return trans == CUBLAS_OP_N ? CblasNoTrans : trans == CUBLAS_OP_T ? CblasTrans : CblasConjTrans;
}

static int get_batch(job *j, int count)
{
    if (count < 0 || 3 * count > FAKE_MAX_UNFOLDED)
        job_bad(j, "batchCount = %d, of which the fake takes %d", count, FAKE_MAX_UNFOLDED / 3);
    return count;
}

static char triangle(int uplo)
{
    return uplo == CblasLower ? 'L' : 'U';
}

/* A factor is read now in host mode, and by the kernel in device mode. */
static void get_scalar(job *j, cublasHandle_t handle, const char *what, fake_scalar *scalar,
                       const void *at, size_t size)
{
    if (j->bad)
        return;
    fake_range range = {at, size, 1, size, false, 0, what};
    int device;
    if (!at) {
        job_bad(j, "%s is a null pointer", what);
    } else if (handle->mode == CUBLAS_POINTER_MODE_DEVICE) {
        scalar->on_device = at;
        job_array(j, what, at, size, false);
    } else if (fake_where(&range, &device), device >= 0) {
        job_bad(j, "%s is on a device, the pointer mode is that of the host", what);
    } else {
        memcpy(scalar->value, at, size);
    }
}

static const void *scalar_at(const fake_scalar *scalar)
{
    return scalar->on_device ? fake_shadow(scalar->on_device) : scalar->value;
}

/* False: the call ends with NOT_INITIALIZED. */
static bool begin(job *j, const char *call, cublasHandle_t handle)
{
    j->call = call;
    j->nranges = 0;
    j->bad = false;
    memset(&j->args, 0, sizeof j->args);
    if (bad_handle(call, handle))
        return false;
    j->stream = handle->stream;
    return true;
}

static cublasStatus_t launch(job *j, cublasHandle_t handle, bool empty, void (*run)(const void *))
{
    if (j->bad)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (empty)
        return CUBLAS_STATUS_SUCCESS;
    if (handle->workspace)
        job_array(j, "workspace", handle->workspace, handle->workspace_size, true);
    return job_launch(j, run) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                             : CUBLAS_STATUS_EXECUTION_FAILED;
}

#define LOCAL(name) DAG_PRECISION_CAT(name##_, DAG_PRECISION)
#define CBLAS(op) DAG_PRECISION_CAT(DAG_PRECISION_CAT(cblas_, DAG_PRECISION), op)
#define SCALAR_0(a) (a)
#define SCALAR_1(a) (&(a))
#define SCALAR(a) DAG_PRECISION_CAT(SCALAR_, DAG_COMPLEX)(a) /* complex ones by address */
#define ALPHA(a) (*(const elem_t *)scalar_at(&(a)->alpha))
#define BETA(a) (*(const elem_t *)scalar_at(&(a)->beta))
#define REAL_ALPHA(a) (*(const real_t *)scalar_at(&(a)->alpha))
#define REAL_BETA(a) (*(const real_t *)scalar_at(&(a)->beta))

#define DAG_TEMPLATE "cublas.inc.c"
#include <dag/each_precision.h>

/* libcusolver.so.12: handles; the routines are in cusolver.inc.c, once per precision. */
#include "job.h"

#include <dag/types.h>
#include <lapacke.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0x501fu
#define BLOCK 32 /* columns of workspace that the factorisations ask for */

struct cusolverDnContext {
    unsigned magic; /* 0: destroyed; the struct stays, so that a late use is seen */
    int device;
    cudaStream_t stream;
    struct cusolverDnContext *next_dead;
};

static _Atomic(cusolverDnHandle_t) dead;

static bool bad_handle(const char *call, cusolverDnHandle_t handle)
{
    cudaError_t error;
    if (fake_enter(call, -1, &error))
        return true;
    if (handle && handle->magic == MAGIC)
        return false;
    fake_misuse(call, "%p is no handle, or was destroyed", (void *)handle);
    return true;
}

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle)
{
    cudaError_t error;
    if (fake_enter(__func__, fake_current_device(), &error))
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    if (!handle) {
        fake_misuse(__func__, "nowhere to put the handle");
        return CUSOLVER_STATUS_INVALID_VALUE;
    }
    cusolverDnHandle_t h = calloc(1, sizeof *h);
    if (!h)
        return CUSOLVER_STATUS_ALLOC_FAILED;
    h->magic = MAGIC;
    h->device = fake_current_device();
    *handle = h;
    job_start();
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle)
{
    if (bad_handle(__func__, handle))
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    handle->magic = 0;
    handle->next_dead = atomic_load(&dead);
    while (!atomic_compare_exchange_weak(&dead, &handle->next_dead, handle))
        ;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t streamId)
{
    if (bad_handle(__func__, handle))
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    int device = fake_stream_device(__func__, streamId);
    if (device != handle->device) {
        if (device >= 0)
            fake_misuse(__func__, "the stream is of device %d, the handle of device %d", device,
                        handle->device);
        return CUSOLVER_STATUS_INVALID_VALUE;
    }
    handle->stream = streamId;
    return CUSOLVER_STATUS_SUCCESS;
}

/* ---- arguments of the routines ---- */

static bool begin(job *j, const char *call, cusolverDnHandle_t handle)
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

static char get_uplo(job *j, cublasFillMode_t uplo)
{
    if (uplo != CUBLAS_FILL_MODE_LOWER && uplo != CUBLAS_FILL_MODE_UPPER)
        job_bad(j, "uplo = %d", (int)uplo);
    return uplo == CUBLAS_FILL_MODE_LOWER ? 'L' : 'U';
}

static void get_sizes(job *j, int m, int n, const void *A, int lda, size_t elem, char triangle)
{
    j->args.m = job_size(j, "m", m);
    j->args.n = job_size(j, "n", n);
    j->args.C = (void *)(uintptr_t)A;
    j->args.ldc = lda;
    job_matrix(j, "A", A, m, n, lda, elem, true, triangle);
}

static int workspace_items(int m, int n)
{
    return BLOCK * ((m > n ? m : n) + 1);
}

static void get_workspace(job *j, const void *workspace, int given, int wanted, size_t elem)
{
    if (given < wanted)
        job_bad(j, "Lwork is %d, must be %d", given, wanted);
    job_array(j, "Workspace", workspace, (size_t)wanted * elem, true);
}

static void get_info(job *j, int *info)
{
    j->args.info = info;
    job_array(j, "devInfo", info, sizeof *info, true);
}

static cusolverStatus_t launch(job *j, void (*run)(const void *args))
{
    if (j->bad)
        return CUSOLVER_STATUS_INVALID_VALUE;
    return job_launch(j, run) == cudaSuccess ? CUSOLVER_STATUS_SUCCESS
                                             : CUSOLVER_STATUS_EXECUTION_FAILED;
}

#define LOCAL(name) DAG_PRECISION_CAT(name##_, DAG_PRECISION)
#define LAPACKE(op) DAG_PRECISION_CAT(DAG_PRECISION_CAT(LAPACKE_, DAG_PRECISION), op)

#define DAG_TEMPLATE "cusolver.inc.c"
#include <dag/each_precision.h>

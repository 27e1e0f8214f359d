/*
 * Inside of the CUDA back end. A device and what hangs on it belong to the manager of the device, as
 * backend.h says; what other threads may touch is told below.
 */
#ifndef DAGI_CUDA_H
#define DAGI_CUDA_H

#include "../backend.h"
#include "api.h"

#include <dag/device.h>

enum { DAGI_CUDA_DEVICES = 64 }; /* numbers are below it */

typedef struct dagi_cuda_event dagi_cuda_event;

typedef struct dagi_cuda_device {
    int index;             /* CUDA's number; constant */
    size_t blas_workspace; /* bytes for each queue's cuBLAS; constant */
    int urgent, normal;    /* priorities of streams; constant */
    dagi_cuda_event *idle; /* events to be used again */
} dagi_cuda_device;

struct dagi_cuda_event {
    cudaEvent_t event; /* any thread may ask it */
    dagi_cuda_device *device;
    dagi_cuda_event *next; /* among the idle ones */
};

/* What a body knows as dag_device_queue. Handles are made with the first kernel: queues that only copy
 * need none. */
struct dag_device_queue {
    dagi_queue_head head;
    dagi_cuda_device *device;
    cudaStream_t stream;
    cublasHandle_t blas;
    cusolverDnHandle_t solver;
    void *workspace; /* of blas, and rows of ones behind it */
    int has_ones;    /* they have been sent */
    /* Since launched() was asked last. A refused kernel behind one that was enqueued has left the
     * task's data in an unknown state. */
    dagi_result worst;
    int enqueued;
    int shown; /* 1: the body has the stream, and may have enqueued what is not counted here */
};

/* ---- error.c ---- */

/* What a result of the runtime library means; keeps it with the name of the call for
 * dagi_cuda_error(). Takes errors back that do not last. */
dagi_result dagi_cuda_result(cudaError_t error, const char *call);
dagi_result dagi_cuda_blas_result(cublasStatus_t status, const char *call);
dagi_result dagi_cuda_solver_result(cusolverStatus_t status, const char *call);
/* What became of the launches of a body's own, of which the thread's last error alone tells. */
dagi_result dagi_cuda_own_result(void);
const char *dagi_cuda_error(void);

/* Runs a call of the runtime library. */
#define CUDA(call, ...) dagi_cuda_result(call(__VA_ARGS__), #call)

/* ---- device.c ---- */

int dagi_cuda_rounds_single(char *why, size_t size);
int dagi_cuda_count(int processors, char *why, size_t size);
dagi_result dagi_cuda_open(int index, void **device, dagi_backend_info *info);
void dagi_cuda_close(void *device);
dagi_result dagi_cuda_alloc(void *device, size_t bytes, void **at);
void dagi_cuda_free(void *device, void *at);
dagi_result dagi_cuda_pin(void *at, size_t bytes);
void dagi_cuda_unpin(void *at);
void dagi_cuda_choose(void *device);
dagi_result dagi_cuda_peer(void *device, void *other);
int dagi_cuda_chosen(void);
void dagi_cuda_choose_again(int number);
int dagi_cuda_is_open(int index); /* or has been */

/* ---- queue.c ---- */

dagi_result dagi_cuda_queue_new(void *device, int urgent, void **queue);
void dagi_cuda_queue_free(void *queue);
void *dagi_cuda_stream(void *queue);
dagi_result dagi_cuda_copy_in(void *queue, const dagi_copy_job *job);
dagi_result dagi_cuda_copy_out(void *queue, const dagi_copy_job *job);
dagi_result dagi_cuda_copy_within(void *queue, const dagi_copy_job *job);
dagi_result dagi_cuda_copy_peer(void *queue, void *from_device, void *to, const void *from,
                                size_t bytes);
/* What became of a kernel. */
void dagi_cuda_note(dag_device_queue *q, dagi_result result);
/* The same of a call of a library, which may have begun before it was refused. */
void dagi_cuda_note_call(dag_device_queue *q, dagi_result result);
/* May a kernel be enqueued? Behind one that was refused none is. */
int dagi_cuda_ready(dag_device_queue *q);
dagi_result dagi_cuda_launched(void *queue);
dagi_result dagi_cuda_event_new(void *device, void **event);
void dagi_cuda_event_free(void *event);
dagi_result dagi_cuda_record(void *event, void *queue);
dagi_result dagi_cuda_wait(void *queue, void *event);
dagi_result dagi_cuda_query(void *event);
void dagi_cuda_events_drop(dagi_cuda_device *device); /* all idle ones */

/* ---- kernels.c ---- */

#define ENTRIES(code, name) DAGI_KERNELS(code, name, CUDA, cuda)

#define DAGI_CUDA_KERNELS (15 * DAG_PRECISION_COUNT)
extern const dag_kernel dagi_cuda_kernels[DAGI_CUDA_KERNELS];

/* ---- rows.c ---- */

#define DAGI_CUDA_ROW_KERNELS (5 * DAG_PRECISION_COUNT)
extern const dag_kernel dagi_cuda_row_kernels[DAGI_CUDA_ROW_KERNELS];
/* Finds the library that these need. 0: there is none, `why` is a sentence. */
int dagi_cuda_rows_load(char *why, size_t size);
/* Items of 8 bytes, up to DAGI_CUDA_STORE_MOST, read by the call, go to memory of the device. */
void dagi_cuda_store(dag_device_queue *q, int64_t *to, const int64_t *from, int count);
/* Behind a factorisation of n x n elements: *info, a device's 0, becomes i+1 where diagonal element i is
 * not positive. cuSOLVER documents no answer to a NaN. Nothing without that library. */
void dagi_cuda_positive(dag_device_queue *q, int n, const void *A, int lda, size_t item, size_t part,
                        int *info);

#endif

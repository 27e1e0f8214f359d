/* Queues are streams: copies, events, and what became of the kernels. */
#include "cuda.h"

#include <stdlib.h>

dagi_result dagi_cuda_queue_new(void *device, int urgent, void **queue)
{
    dagi_cuda_device *d = device;
    dag_device_queue *q = calloc(1, sizeof *q);
    if (!q)
        return DAGI_NOMEM;
    q->device = d;
    dagi_result result = CUDA(cudaSetDevice, d->index);
    if (result == DAGI_OK) /* non-blocking: not ordered with the stream 0 of anybody */
        result = CUDA(cudaStreamCreateWithPriority, &q->stream, cudaStreamNonBlocking,
                      urgent ? d->urgent : d->normal);
    if (result != DAGI_OK) {
        free(q);
        return result;
    }
    *queue = q;
    return DAGI_OK;
}

void dagi_cuda_queue_free(void *queue)
{
    dag_device_queue *q = queue;
    if (CUDA(cudaSetDevice, q->device->index) == DAGI_OK)
        (void)CUDA(cudaStreamSynchronize, q->stream); /* returns at once from a lost device */
    if (q->solver)
        (void)dagi_cuda_solver_result(cusolverDnDestroy(q->solver), "cusolverDnDestroy");
    if (q->blas)
        (void)dagi_cuda_blas_result(cublasDestroy(q->blas), "cublasDestroy");
    if (q->workspace)
        (void)CUDA(cudaFree, q->workspace);
    (void)CUDA(cudaStreamDestroy, q->stream);
    free(q);
}

void *dagi_cuda_stream(void *queue)
{
    dag_device_queue *q = queue;
    (void)CUDA(cudaSetDevice, q->device->index); /* who launches kernels of his own needs it */
    if (!q->shown)
        (void)cudaGetLastError(); /* of somebody else */
    q->shown = 1;
    return q->stream;
}

/* ---- copies ------------------------------------------------------------------------------ */

static dagi_result copy(dag_device_queue *q, const dagi_copy_job *job, enum cudaMemcpyKind kind)
{
    size_t column = (size_t)job->m * job->elem, columns = (size_t)job->n;
    if (column == 0 || columns == 0)
        return DAGI_OK;
    if (columns == 1 || (job->to_ld == job->m && job->from_ld == job->m))
        return CUDA(cudaMemcpyAsync, job->to, job->from, column * columns, kind, q->stream);
    return CUDA(cudaMemcpy2DAsync, job->to, (size_t)job->to_ld * job->elem, job->from,
                (size_t)job->from_ld * job->elem, column, columns, kind, q->stream);
}

dagi_result dagi_cuda_copy_in(void *queue, const dagi_copy_job *job)
{
    return copy(queue, job, cudaMemcpyHostToDevice);
}

dagi_result dagi_cuda_copy_out(void *queue, const dagi_copy_job *job)
{
    return copy(queue, job, cudaMemcpyDeviceToHost);
}

dagi_result dagi_cuda_copy_within(void *queue, const dagi_copy_job *job)
{
    return copy(queue, job, cudaMemcpyDeviceToDevice);
}

/* A call that has to do with another device failed. That one may be lost, and ours not. */
static dagi_result of_ours(const dagi_cuda_device *d, dagi_result result)
{
    size_t unused, total;
    if (result == DAGI_LOST && CUDA(cudaSetDevice, d->index) == DAGI_OK &&
        CUDA(cudaMemGetInfo, &unused, &total) == DAGI_OK)
        return DAGI_REFUSED;
    return result;
}

dagi_result dagi_cuda_copy_peer(void *queue, void *from_device, void *to, const void *from,
                                size_t bytes)
{
    const dag_device_queue *q = queue;
    const dagi_cuda_device *d = from_device;
    if (bytes == 0)
        return DAGI_OK;
    return of_ours(q->device, CUDA(cudaMemcpyPeerAsync, to, q->device->index, from, d->index, bytes,
                                   q->stream));
}

void dagi_cuda_note(dag_device_queue *q, dagi_result result)
{
    if (result == DAGI_OK)
        q->enqueued++;
    else if (result > q->worst)
        q->worst = result;
}

void dagi_cuda_note_call(dag_device_queue *q, dagi_result result)
{
    dagi_cuda_note(q, result == DAGI_OK || result == DAGI_LOST ? result : DAGI_TORN);
}

static void look_at_own(dag_device_queue *q)
{
    dagi_result result = q->shown ? dagi_cuda_own_result() : DAGI_OK;
    if (result != DAGI_OK)
        dagi_cuda_note(q, result);
}

int dagi_cuda_ready(dag_device_queue *q)
{
    look_at_own(q);
    if (q->worst != DAGI_OK)
        return 0;
    dagi_result result = CUDA(cudaSetDevice, q->device->index);
    if (result != DAGI_OK)
        dagi_cuda_note(q, result);
    return result == DAGI_OK;
}

dagi_result dagi_cuda_launched(void *queue)
{
    dag_device_queue *q = queue;
    look_at_own(q);
    dagi_result worst = q->worst;
    int others = q->shown && worst != DAGI_UNSURE;
    if (worst != DAGI_OK && worst != DAGI_LOST && (q->enqueued > 0 || others))
        worst = DAGI_TORN;
    q->worst = DAGI_OK;
    q->enqueued = q->shown = 0;
    return worst;
}

/* ---- events ------------------------------------------------------------------------------ */

dagi_result dagi_cuda_event_new(void *device, void **event)
{
    dagi_cuda_device *d = device;
    if (d->idle) {
        *event = d->idle;
        d->idle = d->idle->next;
        return DAGI_OK;
    }
    dagi_cuda_event *e = calloc(1, sizeof *e);
    if (!e)
        return DAGI_NOMEM;
    e->device = d;
    dagi_result result = CUDA(cudaSetDevice, d->index);
    if (result == DAGI_OK)
        result = CUDA(cudaEventCreateWithFlags, &e->event, cudaEventDisableTiming);
    if (result != DAGI_OK) {
        free(e);
        return result;
    }
    *event = e;
    return DAGI_OK;
}

void dagi_cuda_event_free(void *event)
{
    dagi_cuda_event *e = event;
    e->next = e->device->idle;
    e->device->idle = e;
}

void dagi_cuda_events_drop(dagi_cuda_device *device)
{
    while (device->idle) {
        dagi_cuda_event *e = device->idle;
        device->idle = e->next;
        (void)CUDA(cudaEventDestroy, e->event);
        free(e);
    }
}

dagi_result dagi_cuda_record(void *event, void *queue)
{
    return CUDA(cudaEventRecord, ((dagi_cuda_event *)event)->event,
                ((dag_device_queue *)queue)->stream);
}

dagi_result dagi_cuda_wait(void *queue, void *event)
{
    const dag_device_queue *q = queue;
    return of_ours(q->device, CUDA(cudaStreamWaitEvent, q->stream,
                                   ((dagi_cuda_event *)event)->event, cudaEventWaitDefault));
}

dagi_result dagi_cuda_query(void *event)
{
    return CUDA(cudaEventQuery, ((dagi_cuda_event *)event)->event);
}

/* Queues are command queues in order: copies, events, and what became of the kernels. */
#include "opencl.h"

#include <stdlib.h>

/* OpenCL 1.2 has no urgent queues. */
dagi_result dagi_opencl_queue_new(void *device, int urgent, void **queue)
{
    (void)urgent;
    dagi_opencl_device *d = device;
    cl_int error = CL_SUCCESS;
    dag_device_queue *q = calloc(1, sizeof *q);
    if (!q)
        return DAGI_NOMEM;
    q->device = d;
    q->queue = clCreateCommandQueue(d->context, d->id, 0, &error);
    if (error != CL_SUCCESS) {
        free(q);
        return dagi_opencl_result(error, "clCreateCommandQueue");
    }
    *queue = q;
    return DAGI_OK;
}

void dagi_opencl_queue_free(void *queue)
{
    dag_device_queue *q = queue;
    (void)clFinish(q->queue);
    for (int p = 0; p < DAG_PRECISION_COUNT; p++) {
        for (int k = 0; k < OPENCL_KERNELS; k++) {
            if (q->kernels[p][k])
                clReleaseKernel(q->kernels[p][k]);
        }
    }
    dagi_opencl_own_drop(q);
    for (int i = 0; i < 2; i++) {
        if (q->scratch[i].buffer)
            clReleaseMemObject(q->scratch[i].buffer);
    }
    clReleaseCommandQueue(q->queue);
    free(q);
}

void *dagi_opencl_stream(void *queue)
{
    dag_device_queue *q = queue;
    q->shown = 1;
    return q->queue;
}

int dagi_opencl_buffer(void *queue, const void *at, void **buffer, size_t *offset)
{
    (void)queue;
    cl_mem found = NULL;
    int there = dagi_opencl_find(at, &found, offset);
    *buffer = found;
    return there;
}

/* ---- copies ------------------------------------------------------------------------------ */

/* A rectangle in bytes on one side. A pitch is no less than a column, also of one column alone. */
typedef struct side {
    size_t origin[3], pitch;
} side;

static side side_of(size_t offset, int64_t ld, const dagi_copy_job *job)
{
    size_t column = (size_t)job->m * job->elem, pitch = (size_t)ld * job->elem;
    side s = {.pitch = pitch < column ? column : pitch};
    s.origin[1] = offset / s.pitch;
    s.origin[0] = offset % s.pitch;
    return s;
}

typedef struct rectangle {
    size_t region[3];
    side device, host;
    cl_mem buffer;
} rectangle;

static int rectangle_of(const dagi_copy_job *job, const void *device, int64_t device_ld, int64_t host_ld,
                        rectangle *r)
{
    size_t offset;
    if (!dagi_opencl_find(device, &r->buffer, &offset)) {
        dagi_opencl_say("a copy from or to an address that is not on an OpenCL device");
        return 0;
    }
    r->region[0] = (size_t)job->m * job->elem;
    r->region[1] = (size_t)job->n;
    r->region[2] = 1;
    r->device = side_of(offset, device_ld, job);
    r->host = side_of(0, host_ld, job);
    return 1;
}

dagi_result dagi_opencl_copy_in(void *queue, const dagi_copy_job *job)
{
    const dag_device_queue *q = queue;
    rectangle r;
    if (job->m == 0 || job->n == 0)
        return DAGI_OK;
    if (!rectangle_of(job, job->to, job->to_ld, job->from_ld, &r))
        return DAGI_REFUSED;
    return dagi_opencl_result(
        clEnqueueWriteBufferRect(q->queue, r.buffer, CL_FALSE, r.device.origin, r.host.origin, r.region,
                                 r.device.pitch, 0, r.host.pitch, 0, job->from, 0, NULL, NULL),
        "clEnqueueWriteBufferRect");
}

dagi_result dagi_opencl_copy_out(void *queue, const dagi_copy_job *job)
{
    const dag_device_queue *q = queue;
    rectangle r;
    if (job->m == 0 || job->n == 0)
        return DAGI_OK;
    if (!rectangle_of(job, job->from, job->from_ld, job->to_ld, &r))
        return DAGI_REFUSED;
    return dagi_opencl_result(
        clEnqueueReadBufferRect(q->queue, r.buffer, CL_FALSE, r.device.origin, r.host.origin, r.region,
                                r.device.pitch, 0, r.host.pitch, 0, job->to, 0, NULL, NULL),
        "clEnqueueReadBufferRect");
}

dagi_result dagi_opencl_copy_within(void *queue, const dagi_copy_job *job)
{
    const dag_device_queue *q = queue;
    rectangle to, from;
    if (job->m == 0 || job->n == 0)
        return DAGI_OK;
    if (!rectangle_of(job, job->to, job->to_ld, job->to_ld, &to) ||
        !rectangle_of(job, job->from, job->from_ld, job->from_ld, &from))
        return DAGI_REFUSED;
    return dagi_opencl_result(
        clEnqueueCopyBufferRect(q->queue, from.buffer, to.buffer, from.device.origin, to.device.origin,
                                to.region, from.device.pitch, 0, to.device.pitch, 0, 0, NULL, NULL),
        "clEnqueueCopyBufferRect");
}

dagi_result dagi_opencl_copy_peer(void *queue, void *from_device, void *to, const void *from,
                                  size_t bytes)
{
    (void)from_device;
    const dag_device_queue *q = queue;
    cl_mem source, target;
    size_t at, into;
    if (bytes == 0)
        return DAGI_OK;
    if (!dagi_opencl_find(from, &source, &at) || !dagi_opencl_find(to, &target, &into)) {
        dagi_opencl_say("a copy between addresses that are not on OpenCL devices");
        return DAGI_REFUSED;
    }
    return dagi_opencl_result(clEnqueueCopyBuffer(q->queue, source, target, at, into, bytes, 0, NULL, NULL),
                              "clEnqueueCopyBuffer");
}

/* ---- kernels ----------------------------------------------------------------------------- */

void dagi_opencl_note(dag_device_queue *q, dagi_result result)
{
    if (result == DAGI_OK)
        q->enqueued++;
    else if (result > q->worst)
        q->worst = result;
}

dagi_result dagi_opencl_launched(void *queue)
{
    dag_device_queue *q = queue;
    dagi_result worst = q->worst;
    if (worst != DAGI_OK && worst != DAGI_LOST)
        worst = q->enqueued > 0 || q->shown ? DAGI_TORN : DAGI_REFUSED;
    q->worst = DAGI_OK;
    q->enqueued = q->shown = 0;
    return worst;
}

/* ---- events ------------------------------------------------------------------------------ */

dagi_result dagi_opencl_event_new(void *device, void **event)
{
    dagi_opencl_device *d = device;
    dagi_opencl_event *e = d->idle;
    if (e) {
        d->idle = e->next;
    } else {
        e = calloc(1, sizeof *e);
        if (!e)
            return DAGI_NOMEM;
        e->device = d;
        pthread_mutex_init(&e->lock, NULL);
    }
    *event = e;
    return DAGI_OK;
}

void dagi_opencl_event_free(void *event)
{
    dagi_opencl_event *e = event;
    e->next = e->device->idle;
    e->device->idle = e;
}

void dagi_opencl_events_drop(dagi_opencl_device *device)
{
    while (device->idle) {
        dagi_opencl_event *e = device->idle;
        device->idle = e->next;
        if (e->event)
            clReleaseEvent(e->event);
        pthread_mutex_destroy(&e->lock);
        free(e);
    }
}

/* Nobody waits in a call, so what is enqueued is handed over here. */
dagi_result dagi_opencl_record(void *event, void *queue)
{
    dagi_opencl_event *e = event;
    const dag_device_queue *q = queue;
    cl_event marker = NULL;
    dagi_result result = dagi_opencl_result(clEnqueueMarkerWithWaitList(q->queue, 0, NULL, &marker),
                                            "clEnqueueMarkerWithWaitList");
    if (result != DAGI_OK)
        return result;
    pthread_mutex_lock(&e->lock);
    cl_event before = e->event;
    e->event = marker;
    pthread_mutex_unlock(&e->lock);
    if (before)
        clReleaseEvent(before);
    return dagi_opencl_result(clFlush(q->queue), "clFlush");
}

/* The event as it is now, held. */
static cl_event hold(dagi_opencl_event *e)
{
    pthread_mutex_lock(&e->lock);
    cl_event event = e->event;
    if (event)
        clRetainEvent(event);
    pthread_mutex_unlock(&e->lock);
    return event;
}

dagi_result dagi_opencl_wait(void *queue, void *event)
{
    const dag_device_queue *q = queue;
    cl_event held = hold(event);
    if (!held)
        return DAGI_OK;
    cl_int error = clEnqueueBarrierWithWaitList(q->queue, 1, &held, NULL);
    clReleaseEvent(held);
    return dagi_opencl_result(error, "clEnqueueBarrierWithWaitList");
}

dagi_result dagi_opencl_query(void *event)
{
    cl_event held = hold(event);
    cl_int status = CL_COMPLETE;
    if (!held)
        return DAGI_OK;
    cl_int error = clGetEventInfo(held, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    if (error == CL_SUCCESS && status == CL_COMPLETE) /* only what waits sees what was written */
        error = clWaitForEvents(1, &held);
    clReleaseEvent(held);
    if (error != CL_SUCCESS)
        return dagi_opencl_result(error, "an event") == DAGI_OK ? DAGI_OK : DAGI_LOST;
    if (status < 0) {
        (void)dagi_opencl_result(status, "a command on the device");
        return DAGI_LOST;
    }
    return status == CL_COMPLETE ? DAGI_OK : DAGI_BUSY;
}

/* The calls that enqueue: counted, delayed, and what they use is held against what else is under way. */
#include "calls.h"

#define DRIVER(call) layer_driver->cl##call

/* Rows of a copy on one side. */
static layer_range rectangle(cl_mem buffer, size_t begin, const size_t *origin,
                             const size_t *region, size_t pitch, int writes)
{
    size_t p = pitch ? pitch : region[0];
    return (layer_range){buffer, begin + origin[0] + origin[1] * p, p, region[0], region[1],
                         writes};
}

static layer_range stretch(cl_mem buffer, size_t begin, size_t bytes, int writes)
{
    return (layer_range){buffer, begin, bytes, bytes, 1, writes};
}

static cl_context context_of(cl_command_queue queue)
{
    cl_context context = NULL;
    DRIVER(GetCommandQueueInfo)(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    return context;
}

/* Holds up a queue for a moment. */
static void delay(cl_command_queue queue)
{
    cl_event later = layer_later(context_of(queue));
    if (!later)
        return;
    DRIVER(EnqueueBarrierWithWaitList)(queue, 1, &later, NULL);
    DRIVER(ReleaseEvent)(later);
}

/* With the lock: the queue, and CL_SUCCESS, or what the call returns instead of being done. */
static layer_object *enter(cl_command_queue queue, cl_uint n, const cl_event *events,
                           const char *call, cl_int *result)
{
    layer_object *q = layer_find(LAYER_QUEUE, queue, call);
    *result = q ? layer_count(call, q->device, CL_INVALID_OPERATION) : CL_INVALID_COMMAND_QUEUE;
    if (q && !*result && layer_lost(q->device))
        *result = CL_DEVICE_NOT_AVAILABLE;
    for (cl_uint i = 0; i < n && q && !*result; i++) {
        layer_object *e = layer_find(LAYER_EVENT, events[i], call);
        if (e)
            layer_join(q->clock, e->clock);
        else
            *result = CL_INVALID_EVENT_WAIT_LIST;
    }
    return q;
}

/* The event behind a command. */
static void made(const layer_object *q, const cl_event *event)
{
    if (!event || !*event)
        return;
    layer_object *e = layer_look(LAYER_EVENT, *event);
    if (!e)
        e = layer_new(LAYER_EVENT, *event);
    *e->clock = *q->clock;
    e->device = q->device;
    e->lost = layer_lost(q->device);
}

static void copied(layer_object *q, const layer_range *ranges, const char *call,
                   layer_direction direction, size_t bytes)
{
    layer_use(q, ranges, 2, call);
    layer_count_copy(q->device, direction, bytes);
}

static cl_int CL_API_CALL write_rect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                     const size_t *at, const size_t *host_at, const size_t *region,
                                     size_t pitch, size_t slice, size_t host_pitch,
                                     size_t host_slice, const void *host, cl_uint n,
                                     const cl_event *events, cl_event *event)
{
    cl_int result;
    pthread_mutex_lock(&layer_lock);
    layer_object *q = enter(queue, n, events, "EnqueueWriteBufferRect", &result);
    if (!result) {
        layer_range r[2] = {
            rectangle(NULL, (size_t)(uintptr_t)host, host_at, region, host_pitch, 0),
            rectangle(buffer, 0, at, region, pitch, 1)};
        delay(queue);
        result =
            DRIVER(EnqueueWriteBufferRect)(queue, buffer, blocking, at, host_at, region, pitch,
                                           slice, host_pitch, host_slice, host, n, events, event);
        copied(q, r, "EnqueueWriteBufferRect", LAYER_H2D, region[0] * region[1]);
        made(q, event);
    }
    pthread_mutex_unlock(&layer_lock);
    return result;
}

static cl_int CL_API_CALL read_rect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                    const size_t *at, const size_t *host_at, const size_t *region,
                                    size_t pitch, size_t slice, size_t host_pitch,
                                    size_t host_slice, void *host, cl_uint n,
                                    const cl_event *events, cl_event *event)
{
    cl_int result;
    pthread_mutex_lock(&layer_lock);
    layer_object *q = enter(queue, n, events, "EnqueueReadBufferRect", &result);
    if (!result) {
        layer_range r[2] = {
            rectangle(NULL, (size_t)(uintptr_t)host, host_at, region, host_pitch, 1),
            rectangle(buffer, 0, at, region, pitch, 0)};
        delay(queue);
        result =
            DRIVER(EnqueueReadBufferRect)(queue, buffer, blocking, at, host_at, region, pitch,
                                          slice, host_pitch, host_slice, host, n, events, event);
        copied(q, r, "EnqueueReadBufferRect", LAYER_D2H, region[0] * region[1]);
        made(q, event);
    }
    pthread_mutex_unlock(&layer_lock);
    return result;
}

static cl_int CL_API_CALL copy_rect(cl_command_queue queue, cl_mem from, cl_mem to,
                                    const size_t *from_at, const size_t *to_at,
                                    const size_t *region, size_t from_pitch, size_t from_slice,
                                    size_t to_pitch, size_t to_slice, cl_uint n,
                                    const cl_event *events, cl_event *event)
{
    cl_int result;
    pthread_mutex_lock(&layer_lock);
    layer_object *q = enter(queue, n, events, "EnqueueCopyBufferRect", &result);
    if (!result) {
        layer_range r[2] = {rectangle(from, 0, from_at, region, from_pitch, 0),
                            rectangle(to, 0, to_at, region, to_pitch, 1)};
        delay(queue);
        result = DRIVER(EnqueueCopyBufferRect)(queue, from, to, from_at, to_at, region, from_pitch,
                                               from_slice, to_pitch, to_slice, n, events, event);
        copied(q, r, "EnqueueCopyBufferRect", LAYER_D2D, region[0] * region[1]);
        made(q, event);
    }
    pthread_mutex_unlock(&layer_lock);
    return result;
}

static cl_int CL_API_CALL copy_buffer(cl_command_queue queue, cl_mem from, cl_mem to,
                                      size_t from_at, size_t to_at, size_t bytes, cl_uint n,
                                      const cl_event *events, cl_event *event)
{
    cl_int result;
    pthread_mutex_lock(&layer_lock);
    layer_object *q = enter(queue, n, events, "EnqueueCopyBuffer", &result);
    if (!result) {
        layer_range r[2] = {stretch(from, from_at, bytes, 0), stretch(to, to_at, bytes, 1)};
        delay(queue);
        result =
            DRIVER(EnqueueCopyBuffer)(queue, from, to, from_at, to_at, bytes, n, events, event);
        copied(q, r, "EnqueueCopyBuffer", from == to ? LAYER_D2D : LAYER_P2P, bytes);
        made(q, event);
    }
    pthread_mutex_unlock(&layer_lock);
    return result;
}

/* Buffers that are arguments have to be there still. */
static int arguments_there(const layer_object *k)
{
    int there = 1;
    for (int i = 0; i < LAYER_ARGUMENTS; i++) {
        if (k->arguments[i].buffer && !layer_find(LAYER_BUFFER, k->arguments[i].buffer, k->name))
            there = 0;
    }
    return there;
}

static cl_int CL_API_CALL run_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                     const size_t *offset, const size_t *global,
                                     const size_t *local, cl_uint n, const cl_event *events,
                                     cl_event *event)
{
    layer_range ranges[4];
    cl_int result;
    pthread_mutex_lock(&layer_lock);
    layer_object *q = enter(queue, n, events, "EnqueueNDRangeKernel", &result);
    layer_object *k = layer_find(LAYER_KERNEL, kernel, "EnqueueNDRangeKernel");
    if (!result && (!k || !arguments_there(k)))
        result = k ? CL_INVALID_KERNEL_ARGS : CL_INVALID_KERNEL;
    if (!result) {
        int uses = layer_kernel_ranges(k, global, ranges, 4);
        layer_count_kernel(q->device, k->name);
        delay(queue);
        if (!layer_loses(q->device)) /* else it breaks the device while it runs */
            result = DRIVER(EnqueueNDRangeKernel)(queue, kernel, dimensions, offset, global, local,
                                                  n, events, event);
        else if (event)
            result = DRIVER(EnqueueMarkerWithWaitList)(queue, n, events, event);
        layer_use(q, ranges, uses > 0 ? uses : 0, k->name);
        made(q, event);
    }
    pthread_mutex_unlock(&layer_lock);
    return result;
}

static cl_int CL_API_CALL marker(cl_command_queue queue, cl_uint n, const cl_event *events,
                                 cl_event *event)
{
    cl_int result;
    pthread_mutex_lock(&layer_lock);
    layer_object *q = enter(queue, n, events, "EnqueueMarkerWithWaitList", &result);
    /* A device that breaks takes what is recorded behind the kernel that broke it with it. */
    if (q && result == CL_DEVICE_NOT_AVAILABLE)
        result = CL_SUCCESS;
    if (!result) {
        result = DRIVER(EnqueueMarkerWithWaitList)(queue, n, events, event);
        layer_use(q, NULL, 0, "EnqueueMarkerWithWaitList");
        made(q, event);
    }
    pthread_mutex_unlock(&layer_lock);
    return result;
}

static cl_int CL_API_CALL barrier(cl_command_queue queue, cl_uint n, const cl_event *events,
                                  cl_event *event)
{
    cl_int result;
    pthread_mutex_lock(&layer_lock);
    layer_object *q = enter(queue, n, events, "EnqueueBarrierWithWaitList", &result);
    if (!result) {
        result = DRIVER(EnqueueBarrierWithWaitList)(queue, n, events, event);
        made(q, event);
    }
    pthread_mutex_unlock(&layer_lock);
    return result;
}

static cl_int CL_API_CALL flush(cl_command_queue queue)
{
    pthread_mutex_lock(&layer_lock);
    (void)layer_count("Flush", -1, CL_SUCCESS);
    int there = layer_find(LAYER_QUEUE, queue, "Flush") != NULL;
    pthread_mutex_unlock(&layer_lock);
    return there ? DRIVER(Flush)(queue) : CL_INVALID_COMMAND_QUEUE;
}

static cl_int CL_API_CALL finish(cl_command_queue queue)
{
    cl_int error = DRIVER(Finish)(queue);
    pthread_mutex_lock(&layer_lock);
    (void)layer_count("Finish", -1, CL_SUCCESS);
    const layer_object *q = layer_find(LAYER_QUEUE, queue, "Finish");
    if (q)
        layer_queue_done(q);
    pthread_mutex_unlock(&layer_lock);
    return error;
}

void layer_enqueue_fill(void)
{
    layer_calls.clEnqueueWriteBufferRect = write_rect;
    layer_calls.clEnqueueReadBufferRect = read_rect;
    layer_calls.clEnqueueCopyBufferRect = copy_rect;
    layer_calls.clEnqueueCopyBuffer = copy_buffer;
    layer_calls.clEnqueueNDRangeKernel = run_kernel;
    layer_calls.clEnqueueMarkerWithWaitList = marker;
    layer_calls.clEnqueueBarrierWithWaitList = barrier;
    layer_calls.clFlush = flush;
    layer_calls.clFinish = finish;
}

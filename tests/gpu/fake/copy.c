/* Copies and fills. */
#include "stream.h"

#include <string.h>

#define MAX_PITCH ((size_t)0x7fffffff) /* of 2D copies, as real devices have it */

/* The arguments of a copy; with `staged`, the source's columns follow without gaps. */
typedef struct copy_args {
    void *to;
    const void *from;
    size_t to_pitch, from_pitch, width, height;
    bool staged;
    _Alignas(16) unsigned char data[];
} copy_args;

typedef struct set_args {
    void *to;
    size_t pitch, width, height;
    int value;
} set_args;

/* What a call is about, once it was checked. */
typedef struct copy_job {
    const char *call;
    cudaStream_t stream;
    fake_range to, from;
    fake_direction direction;
    int device; /* that it is counted for */
    bool pageable;
} copy_job;

static void run_copy(const void *args)
{
    const copy_args *a = args;
    char *to = fake_shadow(a->to);
    const char *from = a->staged ? (const char *)a->data : fake_shadow(a->from);
    size_t pitch = a->staged ? a->width : a->from_pitch;
    for (size_t column = 0; column < a->height; column++)
        memcpy(to + column * a->to_pitch, from + column * pitch, a->width);
}

static void run_set(const void *args)
{
    const set_args *a = args;
    char *to = fake_shadow(a->to);
    for (size_t column = 0; column < a->height; column++)
        memset(to + column * a->pitch, a->value, a->width);
}

/* ---- checks ---- */

static bool is_host(fake_place place)
{
    return place == FAKE_PINNED || place == FAKE_PAGEABLE;
}

static bool place_of(const char *call, const fake_range *range, fake_place *place, int *device)
{
    *place = fake_where(range, device);
    if (*place != FAKE_NOWHERE)
        return true;
    fake_misuse(call, "%s at %p, %zu bytes, is not inside of one allocation of a device, or is "
                "pinned in part only", range->what, range->at, fake_extent(range));
    return false;
}

/* Finds out the direction and compares it with what the caller says. */
static bool find_direction(copy_job *job, enum cudaMemcpyKind kind, bool peer)
{
    fake_place to, from;
    int to_device, from_device;
    if (!place_of(job->call, &job->to, &to, &to_device) ||
        !place_of(job->call, &job->from, &from, &from_device))
        return false;
    if (is_host(to) && is_host(from))
        fake_unknown(job->call, "a copy from host memory to host memory");
    job->pageable = to == FAKE_PAGEABLE || from == FAKE_PAGEABLE;
    job->device = is_host(to) ? from_device : to_device;
    job->direction = is_host(from)              ? FAKE_H2D
                     : is_host(to)              ? FAKE_D2H
                     : to_device == from_device ? FAKE_D2D
                                                : FAKE_P2P;
    enum cudaMemcpyKind is = is_host(from) ? cudaMemcpyHostToDevice
                             : is_host(to) ? cudaMemcpyDeviceToHost
                                           : cudaMemcpyDeviceToDevice;
    if (kind != is && kind != cudaMemcpyDefault) {
        fake_misuse(job->call, "the direction is %d, but %p -> %p is %d", (int)kind, job->from.at,
                    job->to.at, (int)is);
        return false;
    }
    int on = job->stream->device;
    if (job->device != on && !(job->direction == FAKE_P2P && (peer || from_device == on))) {
        fake_misuse(job->call, "the memory is of device %d, the stream of device %d", job->device,
                    on);
        return false;
    }
    if (fake_overlap(&job->to, &job->from)) {
        fake_misuse(job->call, "source %p and destination %p overlap", job->from.at, job->to.at);
        return false;
    }
    return true;
}

/* What all calls check first. True: the call ends with *error. */
static bool refuse(const char *call, cudaStream_t stream, cudaError_t *error)
{
    if (fake_enter(call, -1, error))
        return true;
    if (fake_bad_stream(call, stream)) {
        *error = fake_error(cudaErrorInvalidResourceHandle);
        return true;
    }
    if (fake_enter(call, stream->device, error))
        return true;
    if (fake_fails(&fake_settings.fail_copy, stream->device)) {
        *error = fake_error(cudaErrorUnknown);
        return true;
    }
    return false;
}

static bool bad_pitch(const char *call, const fake_range *range)
{
    if (range->pitch >= range->width && range->pitch <= MAX_PITCH)
        return false;
    fake_misuse(call, "%s: rows of %zu bytes, %zu apart", range->what, range->width, range->pitch);
    return true;
}

/* ---- enqueueing ---- */

static double duration(fake_direction direction, size_t bytes)
{
    double rate = direction == FAKE_H2D   ? fake_settings.h2d
                  : direction == FAKE_D2H ? fake_settings.d2h
                  : direction == FAKE_P2P ? fake_settings.p2p
                                          : 0;
    return rate > 0 ? fake_settings.latency + (double)bytes / rate : 0;
}

/* Everything that was enqueued before is done then. */
static void wait_for_stream(cudaStream_t stream)
{
    fake_op *op = fake_op_new(FAKE_RECORD, __func__, NULL, 0);
    fake_mark *mark = op->mark = fake_mark_new(stream->device);
    fake_mark_hold(mark);
    fake_submit(stream, op);
    fake_mark_wait(mark);
    fake_mark_release(mark);
}

/* Copies of pageable memory "might be synchronous", and "the driver may synchronize with the stream
 * and stage": nobody can rely on either, so a late device does neither, now and then. */
static bool is_lazy(void)
{
    static _Atomic uint64_t calls;
    uint64_t state = fake_settings.seed + atomic_fetch_add(&calls, 1);
    return fake_settings.late && fake_random(&state) % 2 == 0;
}

static fake_op *new_copy(const copy_job *job, bool staged)
{
    copy_args args = {.to = (void *)(uintptr_t)job->to.at,
                      .from = job->from.at,
                      .to_pitch = job->to.pitch,
                      .from_pitch = job->from.pitch,
                      .width = job->to.width,
                      .height = job->to.height,
                      .staged = staged};
    size_t bytes = args.width * args.height;
    fake_op *op = fake_op_new(FAKE_COPY, job->call, NULL, sizeof args + (staged ? bytes : 0));
    memcpy(op->args, &args, sizeof args);
    op->run = run_copy;
    op->seconds = duration(job->direction, bytes);
    op->engine = job->direction == FAKE_H2D   ? 2 * job->device
                 : job->direction == FAKE_D2H ? 2 * job->device + 1
                                              : -1;
    op->ranges[op->nranges++] = job->to;
    if (!staged)
        op->ranges[op->nranges++] = job->from;
    return op;
}

static cudaError_t enqueue(const copy_job *job)
{
    fake_count_copy(job->device, job->direction, job->to.width * job->to.height, job->pageable);
    bool eager = job->pageable && !is_lazy();
    if (eager && job->direction == FAKE_H2D) {
        wait_for_stream(job->stream);
        fake_op *op = new_copy(job, true);
        copy_args *args = (void *)op->args;
        copy_args gather = *args;
        gather.staged = false;
        gather.to = args->data;
        gather.to_pitch = args->width;
        run_copy(&gather);
        fake_submit(job->stream, op);
        return cudaSuccess;
    }
    fake_submit(job->stream, new_copy(job, false));
    if (eager)
        wait_for_stream(job->stream);
    return fake_error(eager ? fake_sticky(job->stream->device) : cudaSuccess);
}

/* ---- calls ---- */

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    cudaError_t error;
    if (refuse(__func__, stream, &error))
        return error;
    if (!count)
        return cudaSuccess;
    copy_job job = {.call = __func__, .stream = stream,
                    .to = {dst, count, 1, count, true, 0, "dst"},
                    .from = {src, count, 1, count, false, 0, "src"}};
    if (!find_direction(&job, kind, false))
        return fake_error(cudaErrorInvalidValue);
    return enqueue(&job);
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    cudaError_t error;
    if (refuse(__func__, stream, &error))
        return error;
    copy_job job = {.call = __func__, .stream = stream,
                    .to = {dst, width, height, dpitch, true, 0, "dst"},
                    .from = {src, width, height, spitch, false, 0, "src"}};
    if (bad_pitch(__func__, &job.to) || bad_pitch(__func__, &job.from))
        return fake_error(cudaErrorInvalidPitchValue);
    if (!width || !height)
        return cudaSuccess;
    if (!find_direction(&job, kind, false))
        return fake_error(cudaErrorInvalidValue);
    return enqueue(&job);
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice,
                                size_t count, cudaStream_t stream)
{
    cudaError_t error;
    if (refuse(__func__, stream, &error))
        return error;
    if (!count)
        return cudaSuccess;
    copy_job job = {.call = __func__, .stream = stream,
                    .to = {dst, count, 1, count, true, 0, "dst"},
                    .from = {src, count, 1, count, false, 0, "src"}};
    if (!find_direction(&job, cudaMemcpyDeviceToDevice, true))
        return fake_error(cudaErrorInvalidValue);
    int to, from;
    fake_where(&job.to, &to);
    fake_where(&job.from, &from);
    if (to != dstDevice || from != srcDevice) {
        fake_misuse(__func__, "from device %d to %d, but the memory is of %d and %d", srcDevice,
                    dstDevice, from, to);
        return fake_error(cudaErrorInvalidDevice);
    }
    if (fake_enter(__func__, from, &error) || fake_enter(__func__, to, &error))
        return error;
    return enqueue(&job);
}

static cudaError_t set(const char *call, const fake_range *to, int value, cudaStream_t stream)
{
    fake_place place;
    int device;
    if (!place_of(call, to, &place, &device))
        return fake_error(cudaErrorInvalidValue);
    if (is_host(place))
        fake_unknown(call, "host memory at %p", to->at);
    if (device != stream->device) {
        fake_misuse(call, "the memory is of device %d, the stream of device %d", device,
                    stream->device);
        return fake_error(cudaErrorInvalidValue);
    }
    set_args args = {(void *)(uintptr_t)to->at, to->pitch, to->width, to->height, value};
    fake_op *op = fake_op_new(FAKE_COPY, call, &args, sizeof args);
    op->run = run_set;
    op->ranges[op->nranges++] = *to;
    fake_count_copy(device, FAKE_SET, to->width * to->height, false);
    fake_submit(stream, op);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *devPtr, int value, size_t count, cudaStream_t stream)
{
    cudaError_t error;
    if (refuse(__func__, stream, &error))
        return error;
    fake_range to = {devPtr, count, 1, count, true, 0, "devPtr"};
    return count ? set(__func__, &to, value, stream) : cudaSuccess;
}

cudaError_t cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
    cudaError_t error;
    if (refuse(__func__, stream, &error))
        return error;
    fake_range to = {devPtr, width, height, pitch, true, 0, "devPtr"};
    if (bad_pitch(__func__, &to))
        return fake_error(cudaErrorInvalidPitchValue);
    return width && height ? set(__func__, &to, value, stream) : cudaSuccess;
}

/* Streams: queues in order, each with a thread that runs what is enqueued; launches of kernels. */
#include "stream.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LEAST_PRIORITY 0
#define GREATEST_PRIORITY (-5)

/* Streams that may have something to do, the youngest first, and their threads. A walk needs no
 * lock: who leaves the list still leads to all that are older. Taken before the lock of a stream. */
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t thread_ended = PTHREAD_COND_INITIALIZER;
static cudaStream_t streams, dead;
static unsigned nstreams, nthreads;

static atomic_bool stopping; /* the process ends: what is enqueued completes without running */
static pthread_mutex_t engines[2 * FAKE_MAX_DEVICES]; /* of copies, if these take time */

double fake_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void fake_sleep(double seconds)
{
    struct timespec t = {.tv_sec = (time_t)seconds};
    t.tv_nsec = (long)(1e9 * (seconds - (double)t.tv_sec));
    if (seconds > 0)
        nanosleep(&t, NULL);
}

uint64_t fake_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

fake_op *fake_op_new(fake_kind kind, const char *call, const void *args, size_t size)
{
    fake_op *op = aligned_alloc(16, (sizeof *op + size + 15) / 16 * 16);
    if (!op)
        abort();
    *op = (fake_op){.kind = kind, .call = call, .engine = -1};
    op->ranges = op->own_ranges;
    if (args)
        memcpy(op->args, args, size);
    return op;
}

/* ---- running an operation ---- */

/* Most wait little or not at all, a few a long time. */
static double lateness(cudaStream_t stream)
{
    if (!fake_settings.late)
        return 0;
    uint64_t r = fake_random(&stream->random);
    double most = r % 32 == 0 ? 3e-3 : r % 2 == 0 ? 2e-4 : 0;
    return most * (double)(r >> 11) * 0x1p-53;
}

/* A kernel that dies leaves nonsense. */
static void spoil(const fake_op *op)
{
    for (int i = 0; i < op->nranges; i++) {
        const fake_range *range = &op->ranges[i];
        for (size_t column = 0; range->written && column < range->height; column++)
            memset((char *)fake_shadow(range->at) + column * range->pitch, 0xff, range->width);
    }
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

static void take_modelled_time(cudaStream_t stream, const fake_op *op)
{
    stream->ready = fake_model_end(stream->device, op, later(stream->ready, op->enqueued));
    if (op->kind == FAKE_KERNEL)
        fake_count_seconds(stream->device, op->seconds / fake_settings.stretch);
    fake_sleep(lateness(stream));
    fake_sleep_until(stream->ready);
}

static void take_time(cudaStream_t stream, const fake_op *op)
{
    if (fake_settings.machine) {
        take_modelled_time(stream, op);
        return;
    }
    double seconds = op->seconds + lateness(stream);
    if (op->seconds > 0 && op->engine >= 0) {
        pthread_mutex_lock(&engines[op->engine]);
        fake_sleep(seconds);
        pthread_mutex_unlock(&engines[op->engine]);
    } else {
        fake_sleep(seconds);
    }
}

/* What is told by memory of the device joins the ranges, which others look at. */
static void unfold(cudaStream_t stream, fake_op *op)
{
    size_t most = (size_t)op->nranges + FAKE_MAX_UNFOLDED;
    fake_range *all = calloc(most, sizeof *all);
    if (!all)
        abort();
    memcpy(all, op->ranges, (size_t)op->nranges * sizeof *all);
    int count = op->nranges + op->unfold(op->unfold_args, all + op->nranges);
    pthread_mutex_lock(&stream->lock);
    op->ranges = all;
    op->nranges = count;
    pthread_mutex_unlock(&stream->lock);
}

static void run_work(cudaStream_t stream, fake_op *op)
{
    if (fake_sticky(stream->device) != cudaSuccess)
        return;
    if (op->unfold && !fake_settings.zero_time && fake_model_computes(op))
        unfold(stream, op);
    if (op->fails) {
        spoil(op);
        fake_break_device(stream->device, (cudaError_t)fake_settings.async_error);
        return;
    }
    if (op->kind == FAKE_KERNEL && fake_settings.zero_time)
        return;
    if (!fake_ranges_take(op, stream->device)) {
        fake_break_device(stream->device, cudaErrorIllegalAddress);
        return;
    }
    take_time(stream, op); /* and only then: sources are read as late as may be */
    if (fake_begin_access(stream->device)) {
        if (fake_model_computes(op))
            op->run(op->args);
        fake_end_access(stream->device);
    }
    fake_ranges_give(op);
}

static void execute(cudaStream_t stream, fake_op *op)
{
    bool stop = atomic_load(&stopping);
    if (!stop)
        fake_sleep(lateness(stream));
    switch (op->kind) {
    case FAKE_WAIT:
        fake_mark_wait(op->mark);
        stream->ready = later(stream->ready, fake_mark_time(op->mark));
        break;
    case FAKE_HOST:
        if (!stop && fake_sticky(stream->device) == cudaSuccess) {
            fake_in_host_function(true);
            op->function(op->user);
            fake_in_host_function(false);
        }
        break;
    case FAKE_KERNEL:
    case FAKE_COPY:
        if (!stop)
            run_work(stream, op);
        break;
    case FAKE_RECORD:
        break;
    }
    if (op->mark && op->kind != FAKE_WAIT)
        fake_mark_complete(op->mark, fake_settings.machine ? later(stream->ready, op->enqueued)
                                                           : fake_now());
}

/* The first operation, which becomes the running one; under the lock. */
static fake_op *begin(cudaStream_t stream)
{
    fake_op *op = stream->head;
    stream->head = op->next;
    if (!stream->head)
        stream->tail = &stream->head;
    stream->running = op;
    return op;
}

/* Under the lock, which is let go while the operation runs. */
static void run_first(cudaStream_t stream)
{
    fake_op *op = begin(stream);
    pthread_mutex_unlock(&stream->lock);
    execute(stream, op);
    pthread_mutex_lock(&stream->lock);
    stream->running = NULL;
    if (op->mark)
        fake_mark_release(op->mark);
    if (op->ranges != op->own_ranges)
        free(op->ranges);
    free(op);
    if (!stream->head)
        pthread_cond_broadcast(&stream->idle);
}

/* A destroyed stream with nothing left leaves the list, or what walks it would be slower with every
 * context of a process. Under the list's lock. */
static void leave_list(cudaStream_t stream)
{
    cudaStream_t before = NULL;
    for (cudaStream_t s = streams; s != stream; s = s->next)
        before = s;
    if (before)
        before->next = stream->next;
    else
        streams = stream->next;
    stream->next_dead = dead;
    dead = stream;
}

static void *serve(void *arg)
{
    cudaStream_t stream = arg;
    pthread_mutex_lock(&stream->lock);
    for (;;) {
        if (stream->head && !stream->running)
            run_first(stream);
        else if (!stream->head && (stream->closed || atomic_load(&stopping)))
            break;
        else
            pthread_cond_wait(&stream->work, &stream->lock);
    }
    pthread_mutex_unlock(&stream->lock);
    pthread_mutex_lock(&list_lock);
    leave_list(stream);
    nthreads--;
    pthread_cond_signal(&thread_ended);
    pthread_mutex_unlock(&list_lock);
    return NULL;
}

static void start_thread(cudaStream_t stream)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_mutex_lock(&list_lock);
    nthreads++;
    pthread_mutex_unlock(&list_lock);
    if (pthread_attr_init(&attributes) ||
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) ||
        pthread_create(&thread, &attributes, serve, stream))
        fake_unknown(__func__, "a machine that cannot create another thread");
    pthread_attr_destroy(&attributes);
}

/* To measure overhead, what takes no time is done by the caller, if nothing is in front of it. */
static bool at_once(cudaStream_t stream, const fake_op *op)
{
    return fake_settings.zero_time && !fake_settings.late && !stream->running &&
           stream->head == op && op->kind != FAKE_HOST &&
           (op->kind != FAKE_WAIT || fake_mark_done(op->mark));
}

bool fake_stream_at_once(cudaStream_t stream)
{
    if (!fake_settings.zero_time || fake_settings.late)
        return false;
    pthread_mutex_lock(&stream->lock);
    bool idle = !stream->head && !stream->running;
    pthread_mutex_unlock(&stream->lock);
    return idle;
}

void fake_submit(cudaStream_t stream, fake_op *op)
{
    op->enqueued = fake_settings.machine ? fake_now() : 0;
    pthread_mutex_lock(&stream->lock);
    op->next = NULL;
    *stream->tail = op;
    stream->tail = &op->next;
    if (at_once(stream, op)) {
        run_first(stream);
        if (stream->head)
            pthread_cond_signal(&stream->work);
        pthread_mutex_unlock(&stream->lock);
        return;
    }
    bool start = !stream->started;
    stream->started = true;
    pthread_cond_signal(&stream->work);
    pthread_mutex_unlock(&stream->lock);
    if (start)
        start_thread(stream);
}

/* ---- all streams ---- */

void fake_stream_wait_idle(cudaStream_t stream)
{
    pthread_mutex_lock(&stream->lock);
    while (stream->head || stream->running)
        pthread_cond_wait(&stream->idle, &stream->lock);
    pthread_mutex_unlock(&stream->lock);
}

static cudaStream_t all_streams(void)
{
    pthread_mutex_lock(&list_lock);
    cudaStream_t first = streams;
    pthread_mutex_unlock(&list_lock);
    return first;
}

void fake_streams_wait_idle(int device)
{
    for (cudaStream_t s = all_streams(); s; s = s->next)
        if (s->device == device)
            fake_stream_wait_idle(s);
}

static bool op_uses(const fake_op *op, const fake_range *range, bool writes)
{
    for (int i = 0; op && i < op->nranges; i++)
        if ((op->ranges[i].written || !writes) && fake_extent(&op->ranges[i]) &&
            fake_overlap(&op->ranges[i], range))
            return true;
    return false;
}

const char *fake_streams_use(const fake_range *range, bool writes)
{
    const char *call = NULL;
    for (cudaStream_t s = all_streams(); s && !call; s = s->next) {
        if (fake_sticky(s->device) != cudaSuccess)
            continue; /* nothing of it will run any more */
        pthread_mutex_lock(&s->lock);
        if (op_uses(s->running, range, writes))
            call = s->running->call;
        for (const fake_op *op = s->head; op && !call; op = op->next)
            if (op_uses(op, range, writes))
                call = op->call;
        pthread_mutex_unlock(&s->lock);
    }
    return call;
}

void fake_streams_stop(void)
{
    atomic_store(&stopping, true);
    for (cudaStream_t s = all_streams(); s; s = s->next) {
        pthread_mutex_lock(&s->lock);
        pthread_cond_signal(&s->work);
        pthread_mutex_unlock(&s->lock);
    }
    pthread_mutex_lock(&list_lock);
    while (nthreads)
        pthread_cond_wait(&thread_ended, &list_lock);
    pthread_mutex_unlock(&list_lock);
}

/* ---- calls ---- */

bool fake_bad_stream(const char *call, cudaStream_t stream)
{
    if ((uintptr_t)stream <= 2)
        fake_unknown(call, "the default stream (%p)", (void *)stream);
    if (stream->magic == FAKE_STREAM_MAGIC)
        return false;
    fake_misuse(call, "%p is no stream, or was destroyed", (void *)stream);
    return true;
}

int fake_stream_device(const char *call, cudaStream_t stream)
{
    return fake_bad_stream(call, stream) ? -1 : stream->device;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    cudaError_t error;
    if (fake_enter(__func__, fake_current_device(), &error))
        return error;
    if (leastPriority)
        *leastPriority = LEAST_PRIORITY;
    if (greatestPriority)
        *greatestPriority = GREATEST_PRIORITY;
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *pStream, unsigned int flags, int priority)
{
    cudaError_t error;
    int device = fake_current_device();
    if (fake_enter(__func__, device, &error))
        return error;
    if (flags != cudaStreamNonBlocking)
        fake_unknown(__func__, "flags %#x: streams must be cudaStreamNonBlocking", flags);
    (void)priority; /* any number is taken, and clamped */
    if (!pStream) {
        fake_misuse(__func__, "nowhere to put the stream");
        return fake_error(cudaErrorInvalidValue);
    }
    cudaStream_t stream = calloc(1, sizeof *stream);
    if (!stream)
        abort();
    stream->magic = FAKE_STREAM_MAGIC;
    stream->device = device;
    pthread_mutex_init(&stream->lock, NULL);
    pthread_cond_init(&stream->work, NULL);
    pthread_cond_init(&stream->idle, NULL);
    stream->tail = &stream->head;
    pthread_mutex_lock(&list_lock);
    stream->random = fake_settings.seed * 1000003 + nstreams++;
    stream->next = streams;
    streams = stream;
    pthread_mutex_unlock(&list_lock);
    *pStream = stream;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    cudaError_t error;
    if (fake_enter(__func__, -1, &error))
        return error;
    if (fake_bad_stream(__func__, stream))
        return fake_error(cudaErrorInvalidResourceHandle);
    stream->magic = 0;
    pthread_mutex_lock(&stream->lock);
    stream->closed = true;
    bool unused = !stream->started;
    pthread_cond_signal(&stream->work);
    pthread_mutex_unlock(&stream->lock);
    if (unused) {
        pthread_mutex_lock(&list_lock);
        leave_list(stream);
        pthread_mutex_unlock(&list_lock);
    }
    return fake_error(fake_sticky(stream->device));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    cudaError_t error;
    if (fake_enter(__func__, -1, &error))
        return error;
    if (fake_bad_stream(__func__, stream))
        return fake_error(cudaErrorInvalidResourceHandle);
    fake_stream_wait_idle(stream);
    return fake_error(fake_sticky(stream->device));
}

cudaError_t cudaDeviceSynchronize(void)
{
    int device = fake_current_device();
    cudaError_t error;
    if (fake_enter(__func__, device, &error))
        return error;
    fake_streams_wait_idle(device);
    return fake_error(fake_sticky(device));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData)
{
    cudaError_t error;
    if (fake_enter(__func__, -1, &error))
        return error;
    if (fake_bad_stream(__func__, stream))
        return fake_error(cudaErrorInvalidResourceHandle);
    if (!fn) {
        fake_misuse(__func__, "no function");
        return fake_error(cudaErrorInvalidValue);
    }
    if (fake_enter(__func__, stream->device, &error))
        return error;
    fake_op *op = fake_op_new(FAKE_HOST, __func__, NULL, 0);
    op->function = fn;
    op->user = userData;
    fake_submit(stream, op);
    return cudaSuccess;
}

/* `unfold` is given what is `at` bytes behind the copy of the arguments. */
typedef struct later_ranges {
    fake_unfold *unfold;
    size_t at;
} later_ranges;

static cudaError_t launch(cudaStream_t stream, const char *call, fake_times times,
                          void (*run)(const void *args), const void *args, size_t size,
                          const fake_range *ranges, int nranges, later_ranges more)
{
    cudaError_t error;
    if (fake_enter(call, -1, &error))
        return error;
    if (fake_bad_stream(call, stream))
        return fake_error(cudaErrorInvalidResourceHandle);
    if (fake_enter(call, stream->device, &error))
        return error;
    if (stream->device != fake_current_device()) {
        fake_misuse(call, "the stream is of device %d, the current device is %d", stream->device,
                    fake_current_device());
        return fake_error(cudaErrorInvalidResourceHandle);
    }
    const char *only = fake_settings.fail_kernel;
    bool may_fail = !only || strncmp(call, only, strlen(only)) == 0;
    if (may_fail && fake_fails(&fake_settings.fail_launch, stream->device))
        return fake_error(cudaErrorLaunchFailure);
    fake_count_kernel(stream->device, call);
    bool fails = may_fail && fake_fails(&fake_settings.fail_async, stream->device);
    if (!fails && fake_stream_at_once(stream))
        return cudaSuccess; /* and done */
    fake_op *op = fake_op_new(FAKE_KERNEL, call, args, size);
    op->run = run;
    op->seconds = fake_settings.machine ? times.alone * fake_settings.stretch : fake_settings.kernel_delay;
    op->filled = times.filled * fake_settings.stretch;
    op->fails = fails;
    op->unfold = more.unfold;
    op->unfold_args = op->args + more.at;
    op->nranges = nranges;
    for (int i = 0; i < nranges; i++)
        op->ranges[i] = ranges[i];
    fake_submit(stream, op);
    return cudaSuccess;
}

cudaError_t fake_launch(cudaStream_t stream, const char *call, void (*run)(const void *args),
                        const void *args, size_t size, const fake_range *ranges, int nranges)
{
    return launch(stream, call, fake_model_kernel(NULL, ranges, nranges), run, args, size, ranges, nranges,
                  (later_ranges){NULL, 0});
}

/* ---- calls of several kernels ---- */

typedef struct parts_args {
    void (*run)(const void *args); /* of the last one */
    fake_unfold *unfold;           /* of args */
    int nranges;
    fake_range ranges[FAKE_MAX_RANGES];
    _Alignas(16) unsigned char args[512];
} parts_args;

/* Turns all bits of what is written; of a triangle without the diagonal, which may be another one's. */
static void turn(const fake_range *range)
{
    unsigned char *at = fake_shadow(range->at);
    size_t item = range->width / range->height;
    for (size_t column = 0; column < range->height; column++, at += range->pitch) {
        size_t first = range->triangle == 'L' ? (column + 1) * item : 0;
        size_t end = range->triangle == 'U' ? column * item : range->width;
        for (size_t i = first; i < end; i++)
            at[i] ^= 0xff;
    }
}

static void turn_all(const fake_range *ranges, int count)
{
    for (int i = 0; i < count; i++)
        if (ranges[i].written)
            turn(&ranges[i]);
}

static void run_part_first(const void *args)
{
    const parts_args *a = args;
    fake_range more[FAKE_MAX_UNFOLDED];
    turn_all(a->ranges, a->nranges);
    if (a->unfold)
        turn_all(more, a->unfold(a->args, more));
}

static void run_part_between(const void *args)
{
    (void)args;
}

static void run_part_last(const void *args)
{
    run_part_first(args);
    ((const parts_args *)args)->run(((const parts_args *)args)->args);
}

cudaError_t fake_launch_call(cudaStream_t stream, const char *call, const fake_work *work,
                             void (*run)(const void *args), const void *args, size_t size,
                             const fake_range *ranges, int nranges)
{
    parts_args a = {.run = run, .nranges = nranges, .unfold = work->unfold};
    cudaError_t error = cudaSuccess;
    fake_times times = fake_model_kernel(work, ranges, nranges), none = {0, 0};
    if (fake_settings.parts < 2)
        return launch(stream, call, times, run, args, size, ranges, nranges, (later_ranges){work->unfold, 0});
    if (size > sizeof a.args)
        abort();
    memcpy(a.ranges, ranges, (size_t)nranges * sizeof *ranges);
    memcpy(a.args, args, size);
    for (long part = 0; part < fake_settings.parts && error == cudaSuccess; part++)
        error = launch(stream, call, part == fake_settings.parts - 1 ? times : none,
                       part == 0                         ? run_part_first
                       : part == fake_settings.parts - 1 ? run_part_last
                                                         : run_part_between,
                       &a, sizeof a, ranges, nranges,
                       (later_ranges){work->unfold, offsetof(parts_args, args)});
    return error;
}

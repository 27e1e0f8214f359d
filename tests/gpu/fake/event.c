/* Events, and the marks that they put into streams. */
#include "stream.h"

#include <stdlib.h>

struct fake_mark {
    _Atomic int references;
    _Atomic int waiting; /* threads that have decided to sleep until it is done */
    atomic_bool done;    /* once; then `waiting` is looked at, as a sleeper looks at done last */
    int device;
    double time; /* of completion; before done */
};

/* Where threads sleep for marks, by the address of the mark. */
enum { BEDS = 64 };
static struct bed {
    pthread_mutex_t lock;
    pthread_cond_t completed;
} beds[BEDS] = {[0 ... BEDS - 1] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER}};

struct CUevent_st {
    unsigned magic; /* 0: destroyed; the struct stays, in a list of the dead */
    int device;
    unsigned flags;
    pthread_mutex_t lock;
    fake_mark *mark; /* of the last record, under the lock; NULL: never recorded */
    struct CUevent_st *next;
};

static _Atomic(cudaEvent_t) dead;

fake_mark *fake_mark_new(int device)
{
    fake_mark *mark = malloc(sizeof *mark);
    if (!mark)
        abort();
    *mark = (fake_mark){.references = 1, .device = device};
    return mark;
}

fake_mark *fake_mark_hold(fake_mark *mark)
{
    atomic_fetch_add(&mark->references, 1);
    return mark;
}

void fake_mark_release(fake_mark *mark)
{
    if (atomic_fetch_sub(&mark->references, 1) == 1)
        free(mark);
}

static struct bed *bed_of(const fake_mark *mark)
{
    return &beds[(uintptr_t)mark / sizeof *mark % BEDS];
}

void fake_mark_complete(fake_mark *mark, double moment)
{
    mark->time = moment;
    atomic_store(&mark->done, true);
    if (atomic_load(&mark->waiting) == 0)
        return;
    struct bed *bed = bed_of(mark);
    pthread_mutex_lock(&bed->lock);
    pthread_cond_broadcast(&bed->completed);
    pthread_mutex_unlock(&bed->lock);
}

bool fake_mark_done(const fake_mark *mark)
{
    return atomic_load(&mark->done);
}

double fake_mark_time(const fake_mark *mark)
{
    return mark->time;
}

void fake_mark_wait(fake_mark *mark)
{
    struct bed *bed = bed_of(mark);
    if (fake_mark_done(mark))
        return;
    atomic_fetch_add(&mark->waiting, 1);
    pthread_mutex_lock(&bed->lock);
    while (!fake_mark_done(mark))
        pthread_cond_wait(&bed->completed, &bed->lock);
    pthread_mutex_unlock(&bed->lock);
    atomic_fetch_sub(&mark->waiting, 1);
}

/* The mark of an event, held for the caller; NULL if it was never recorded. */
static fake_mark *mark_of(cudaEvent_t event)
{
    pthread_mutex_lock(&event->lock);
    fake_mark *mark = event->mark ? fake_mark_hold(event->mark) : NULL;
    pthread_mutex_unlock(&event->lock);
    return mark;
}

static void set_mark(cudaEvent_t event, fake_mark *mark)
{
    pthread_mutex_lock(&event->lock);
    fake_mark *old = event->mark;
    event->mark = mark;
    pthread_mutex_unlock(&event->lock);
    if (old)
        fake_mark_release(old);
}

static bool bad_event(const char *call, cudaEvent_t event)
{
    if (event && event->magic == FAKE_EVENT_MAGIC)
        return false;
    fake_misuse(call, "%p is no event, or was destroyed", (void *)event);
    return true;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    int device = fake_current_device();
    cudaError_t error;
    if (fake_enter(__func__, device, &error))
        return error;
    if (flags & ~(unsigned)(cudaEventBlockingSync | cudaEventDisableTiming))
        fake_unknown(__func__, "flags %#x", flags);
    if (!event) {
        fake_misuse(__func__, "nowhere to put the event");
        return fake_error(cudaErrorInvalidValue);
    }
    cudaEvent_t e = calloc(1, sizeof *e);
    if (!e)
        abort();
    *e = (struct CUevent_st){.magic = FAKE_EVENT_MAGIC, .device = device, .flags = flags};
    pthread_mutex_init(&e->lock, NULL);
    *event = e;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    cudaError_t error;
    if (fake_enter(__func__, -1, &error))
        return error;
    if (bad_event(__func__, event))
        return fake_error(cudaErrorInvalidResourceHandle);
    event->magic = 0;
    set_mark(event, NULL);
    event->next = atomic_load(&dead);
    while (!atomic_compare_exchange_weak(&dead, &event->next, event))
        ;
    return fake_error(fake_sticky(event->device));
}

/* Nothing was in the stream. A mark of ours alone that is done stays so. */
static void record_now(cudaEvent_t event)
{
    pthread_mutex_lock(&event->lock);
    fake_mark *mark = event->mark;
    bool same = mark && atomic_load(&mark->references) == 1 && fake_mark_done(mark);
    if (same && !(event->flags & cudaEventDisableTiming))
        mark->time = fake_now();
    pthread_mutex_unlock(&event->lock);
    if (same)
        return;
    mark = fake_mark_new(event->device);
    fake_mark_complete(mark, fake_now());
    set_mark(event, mark);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    cudaError_t error;
    if (fake_enter(__func__, -1, &error))
        return error;
    if (bad_event(__func__, event) || fake_bad_stream(__func__, stream))
        return fake_error(cudaErrorInvalidResourceHandle);
    if (event->device != stream->device) {
        fake_misuse(__func__, "the event is of device %d, the stream of %d", event->device,
                    stream->device);
        return fake_error(cudaErrorInvalidResourceHandle);
    }
    if (fake_enter(__func__, event->device, &error))
        return error;
    if (fake_stream_at_once(stream)) {
        record_now(event);
        return cudaSuccess;
    }
    fake_op *op = fake_op_new(FAKE_RECORD, __func__, NULL, 0);
    op->mark = fake_mark_new(event->device);
    set_mark(event, fake_mark_hold(op->mark));
    fake_submit(stream, op);
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    cudaError_t error;
    if (fake_enter(__func__, -1, &error))
        return error;
    if (bad_event(__func__, event))
        return fake_error(cudaErrorInvalidResourceHandle);
    if (fake_enter(__func__, event->device, &error))
        return error;
    fake_mark *mark = mark_of(event);
    if (!mark)
        return cudaSuccess;
    bool done = fake_mark_done(mark);
    fake_mark_release(mark);
    /* Not before `done` was read: what an error cut short is done as well. */
    error = fake_sticky(event->device);
    return fake_error(error != cudaSuccess ? error : done ? cudaSuccess : cudaErrorNotReady);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    cudaError_t error;
    if (fake_enter(__func__, -1, &error))
        return error;
    if (bad_event(__func__, event))
        return fake_error(cudaErrorInvalidResourceHandle);
    fake_mark *mark = mark_of(event);
    if (mark) {
        fake_mark_wait(mark);
        fake_mark_release(mark);
    }
    return fake_error(fake_sticky(event->device));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
    cudaError_t error;
    if (fake_enter(__func__, -1, &error))
        return error;
    if (flags != cudaEventWaitDefault)
        fake_unknown(__func__, "flags %#x", flags);
    if (bad_event(__func__, event) || fake_bad_stream(__func__, stream))
        return fake_error(cudaErrorInvalidResourceHandle);
    if (fake_enter(__func__, stream->device, &error))
        return error;
    fake_mark *mark = mark_of(event);
    if (!mark)
        return cudaSuccess;
    if (fake_mark_done(mark)) { /* what comes later comes later */
        fake_mark_release(mark);
        return cudaSuccess;
    }
    fake_op *op = fake_op_new(FAKE_WAIT, __func__, NULL, 0);
    op->mark = mark;
    fake_submit(stream, op);
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    cudaError_t error;
    if (fake_enter(__func__, -1, &error))
        return error;
    if (!ms || bad_event(__func__, start) || bad_event(__func__, end))
        return fake_error(cudaErrorInvalidResourceHandle);
    fake_mark *from = mark_of(start), *to = mark_of(end);
    if (!from || !to || start->device != end->device ||
        ((start->flags | end->flags) & cudaEventDisableTiming)) {
        fake_misuse(__func__, "an event was not recorded, is without timing, or they are of two "
                              "devices");
        error = cudaErrorInvalidResourceHandle;
    } else if (!fake_mark_done(from) || !fake_mark_done(to)) {
        error = cudaErrorNotReady;
    } else {
        *ms = (float)(1e3 * (to->time - from->time));
        error = fake_sticky(start->device);
    }
    if (from)
        fake_mark_release(from);
    if (to)
        fake_mark_release(to);
    return fake_error(error);
}

#include "loop_backend.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARGS = 192, MOST_QUEUES = 256 };

typedef struct loop_device {
    dag_device_kind kind;
    int lost;
} loop_device;

typedef struct loop_event {
    struct dag_device_queue *queue; /* NULL: never recorded */
    uint64_t count;
} loop_event;

typedef struct loop_op {
    struct loop_op *next;
    enum { OP_COPY, OP_KERNEL, OP_WAIT } kind;
    dagi_copy_job copy;
    void (*fn)(void *args);
    _Alignas(16) char args[MOST_ARGS];
    loop_event behind;
} loop_op;

struct dag_device_queue {
    dagi_queue_head head;
    loop_device *device;
    loop_op *first, *last;
    uint64_t enqueued, done;
    int launches, refused; /* since launched() */
};

/* All below is guarded by `lock`; kernels run under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static loop_options options;
static uint64_t dice;
static int64_t calls[LOOP_CALLS];
static dag_device_queue *queues[MOST_QUEUES];
static int nqueues;
static _Thread_local char message[128];

static uint64_t draw(void)
{
    uint64_t x = (dice += UINT64_C(0x9e3779b97f4a7c15));
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static dagi_result say(dagi_result result, const char *what)
{
    snprintf(message, sizeof message, "loop: %s failed", what);
    return result;
}

/* The call, counted; what it comes to. */
static dagi_result attempt(loop_device *d, loop_call call)
{
    static const char *const names[] = {"alloc", "copy in", "copy out", "copy within",
                                        "copy peer", "launch"};
    if (d->lost)
        return say(DAGI_LOST, names[call]);
    int64_t n = ++calls[call];
    if (options.fail_at == 0 || call != options.call || n < options.fail_at ||
        n >= options.fail_at + options.times)
        return DAGI_OK;
    if (options.lose) {
        d->lost = 1;
        return say(DAGI_LOST, names[call]);
    }
    return say(options.result, names[call]);
}

/* ---- running -------------------------------------------------------------------------------- */

static void copy(const dagi_copy_job *job)
{
    for (int64_t j = 0; j < job->n; j++)
        memcpy((char *)job->to + (size_t)j * (size_t)job->to_ld * job->elem,
               (const char *)job->from + (size_t)j * (size_t)job->from_ld * job->elem,
               (size_t)job->m * job->elem);
}

static int runnable(const dag_device_queue *q)
{
    const loop_op *op = q->first;
    if (!op || q->device->lost)
        return 0;
    return op->kind != OP_WAIT || op->behind.queue->done >= op->behind.count ||
           op->behind.queue->device->lost;
}

static void step(dag_device_queue *q)
{
    loop_op *op = q->first;
    if (op->kind == OP_COPY)
        copy(&op->copy);
    else if (op->kind == OP_KERNEL)
        op->fn(op->args);
    q->first = op->next;
    q->done++;
    free(op);
}

static void drain(dag_device_queue *q);

static void run_all(void)
{
    for (int again = 1; again;) {
        again = 0;
        for (int i = 0; i < nqueues; i++) {
            while (runnable(queues[i])) {
                step(queues[i]);
                again = 1;
            }
        }
    }
}

static void drain(dag_device_queue *q)
{
    if (!q->device->lost)
        run_all();
}

static void run_some(void)
{
    for (uint64_t n = draw() % 6; n > 0 && nqueues > 0; n--) {
        dag_device_queue *q = queues[draw() % (uint64_t)nqueues];
        if (runnable(q))
            step(q);
    }
}

static loop_op *push(dag_device_queue *q)
{
    loop_op *op = calloc(1, sizeof *op);
    if (!op)
        abort();
    *(q->first ? &q->last->next : &q->first) = op;
    q->last = op;
    q->enqueued++;
    return op;
}

static void pushed(void)
{
    if (options.seed == 0)
        run_all();
}

/* Kinds know nothing of each other. */
static void same_kind(const dag_device_queue *q, const loop_device *other)
{
    if (q->device->kind == other->kind)
        return;
    fprintf(stderr, "loop: a queue of kind %d was given what is of kind %d\n", (int)q->device->kind,
            (int)other->kind);
    abort();
}

dag_device_queue *loop_queue(dag_device_queue *q, dag_device_kind kind)
{
    const loop_device device = {.kind = kind};
    same_kind(q, &device);
    return q;
}

void loop_launch(dag_device_queue *q, void (*fn)(void *args), const void *args, size_t bytes)
{
    pthread_mutex_lock(&lock);
    if (attempt(q->device, LOOP_LAUNCH) != DAGI_OK) {
        q->refused = 1;
    } else {
        loop_op *op = push(q);
        op->kind = OP_KERNEL;
        op->fn = fn;
        if (bytes > MOST_ARGS)
            abort();
        memcpy(op->args, args, bytes);
        q->launches++;
        pushed();
    }
    pthread_mutex_unlock(&lock);
}

/* ---- the table ------------------------------------------------------------------------------ */

static int be_count(int processors, char *why, size_t size)
{
    (void)processors;
    if (options.devices == 0)
        snprintf(why, size, "the loop has no devices");
    return options.devices;
}

static int be_count_others(int processors, char *why, size_t size)
{
    (void)processors;
    (void)why;
    (void)size;
    return options.others;
}

static dagi_result open_kind(dag_device_kind kind, int index, void **device,
                             dagi_backend_info *info)
{
    loop_device *d = calloc(1, sizeof *d);
    if (!d)
        return DAGI_NOMEM;
    d->kind = kind;
    snprintf(info->name, sizeof info->name, "%s %d", kind == LOOP_KIND ? "loop" : "other", index);
    info->bus[0] = '\0';
    info->memory = info->memory_free = options.memory;
    *device = d;
    return DAGI_OK;
}

static dagi_result be_open(int index, void **device, dagi_backend_info *info)
{
    return open_kind(LOOP_KIND, index, device, info);
}

static dagi_result be_open_other(int index, void **device, dagi_backend_info *info)
{
    return open_kind(LOOP_OTHER_KIND, index, device, info);
}

static const char *be_error(void)
{
    return message;
}

static dagi_result be_alloc(void *device, size_t bytes, void **at)
{
    pthread_mutex_lock(&lock);
    dagi_result result = attempt(device, LOOP_ALLOC);
    pthread_mutex_unlock(&lock);
    if (result == DAGI_OK && posix_memalign(at, 256, bytes ? bytes : 256) != 0)
        result = DAGI_NOMEM;
    if (result == DAGI_OK)
        memset(*at, 0x5a, bytes);
    return result;
}

static void be_free(void *device, void *at)
{
    (void)device;
    free(at);
}

static dagi_result be_pin(void *at, size_t bytes)
{
    (void)at;
    (void)bytes;
    return DAGI_OK;
}

static void be_unpin(void *at)
{
    (void)at;
}

static void be_choose(void *device)
{
    (void)device;
}

static int be_chosen(void)
{
    return 0;
}

static void be_choose_again(int number)
{
    (void)number;
}

static dagi_result be_peer(void *device, void *other)
{
    return ((loop_device *)device)->kind == ((loop_device *)other)->kind ? DAGI_OK : DAGI_REFUSED;
}

static dagi_result be_queue_new(void *device, int urgent, void **queue)
{
    (void)urgent;
    dag_device_queue *q = calloc(1, sizeof *q);
    if (!q)
        return DAGI_NOMEM;
    q->device = device;
    pthread_mutex_lock(&lock);
    if (nqueues == MOST_QUEUES)
        abort();
    queues[nqueues++] = q;
    pthread_mutex_unlock(&lock);
    *queue = q;
    return DAGI_OK;
}

static void be_queue_free(void *queue)
{
    dag_device_queue *q = queue;
    pthread_mutex_lock(&lock);
    drain(q);
    while (q->first) {
        loop_op *next = q->first->next;
        free(q->first);
        q->first = next;
    }
    for (int i = 0; i < nqueues; i++) {
        if (queues[i] == q)
            queues[i] = queues[--nqueues];
    }
    pthread_mutex_unlock(&lock);
    free(q);
}

/* A body asks for it by its queue alone, and gets that of its own kind. */
static void *be_stream(void *queue)
{
    const loop_device loop = {.kind = LOOP_KIND};
    same_kind(queue, &loop);
    return queue;
}

static void *be_stream_other(void *queue)
{
    const loop_device other = {.kind = LOOP_OTHER_KIND};
    same_kind(queue, &other);
    return queue;
}

static dagi_result be_copy(void *queue, const dagi_copy_job *job, loop_call call)
{
    dag_device_queue *q = queue;
    pthread_mutex_lock(&lock);
    dagi_result result = attempt(q->device, call);
    if (result == DAGI_OK) {
        loop_op *op = push(q);
        op->kind = OP_COPY;
        op->copy = *job;
        pushed();
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static dagi_result be_copy_in(void *queue, const dagi_copy_job *job)
{
    return be_copy(queue, job, LOOP_COPY_IN);
}

static dagi_result be_copy_out(void *queue, const dagi_copy_job *job)
{
    return be_copy(queue, job, LOOP_COPY_OUT);
}

static dagi_result be_copy_within(void *queue, const dagi_copy_job *job)
{
    return be_copy(queue, job, LOOP_COPY_WITHIN);
}

static dagi_result be_copy_peer(void *queue, void *from_device, void *to, const void *from,
                                size_t bytes)
{
    same_kind(queue, from_device);
    dagi_copy_job job = {.to = to, .from = from, .to_ld = (int64_t)bytes,
                         .from_ld = (int64_t)bytes, .m = (int64_t)bytes, .n = 1, .elem = 1};
    return be_copy(queue, &job, LOOP_COPY_PEER);
}

static dagi_result be_launched(void *queue)
{
    dag_device_queue *q = queue;
    pthread_mutex_lock(&lock);
    dagi_result result = !q->refused ? DAGI_OK : q->launches ? DAGI_TORN : DAGI_REFUSED;
    if (q->device->lost)
        result = DAGI_LOST;
    q->refused = q->launches = 0;
    pthread_mutex_unlock(&lock);
    return result;
}

static dagi_result be_event_new(void *device, void **event)
{
    (void)device;
    *event = calloc(1, sizeof(loop_event));
    return *event ? DAGI_OK : DAGI_NOMEM;
}

static dagi_result be_record(void *event, void *queue)
{
    dag_device_queue *q = queue;
    pthread_mutex_lock(&lock);
    *(loop_event *)event = (loop_event){q, q->enqueued};
    dagi_result result = q->device->lost ? say(DAGI_LOST, "record") : DAGI_OK;
    pthread_mutex_unlock(&lock);
    return result;
}

static dagi_result be_wait(void *queue, void *event)
{
    dag_device_queue *q = queue;
    loop_event *e = event;
    pthread_mutex_lock(&lock);
    if (e->queue)
        same_kind(q, e->queue->device);
    dagi_result result = q->device->lost ? say(DAGI_LOST, "wait") : DAGI_OK;
    if (result == DAGI_OK && e->queue && e->queue->done < e->count) {
        loop_op *op = push(q);
        op->kind = OP_WAIT;
        op->behind = *e;
        pushed();
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static dagi_result be_query(void *event)
{
    const loop_event *e = event;
    pthread_mutex_lock(&lock);
    if (options.seed)
        run_some();
    dagi_result result = DAGI_OK;
    if (e->queue && e->queue->device->lost)
        result = say(DAGI_LOST, "query");
    else if (e->queue && e->queue->done < e->count)
        result = DAGI_BUSY;
    pthread_mutex_unlock(&lock);
    return result;
}

const dagi_backend *loop_other(void)
{
    static dagi_backend backend;
    backend = *loop_backend(&options);
    backend.name = "other";
    backend.kind = LOOP_OTHER_KIND;
    backend.count = be_count_others;
    backend.open = be_open_other;
    backend.stream = be_stream_other;
    return &backend;
}

const dagi_backend *loop_backend(const loop_options *o)
{
    static const dagi_backend backend = {
        .abi = DAGI_BACKEND_ABI, .name = "loop", .kind = LOOP_KIND,
        .count = be_count, .open = be_open, .close = free, .error = be_error,
        .alloc = be_alloc, .free = be_free, .pin = be_pin, .unpin = be_unpin,
        .choose = be_choose, .chosen = be_chosen, .choose_again = be_choose_again, .peer = be_peer,
        .queue_new = be_queue_new, .queue_free = be_queue_free, .stream = be_stream,
        .copy_in = be_copy_in, .copy_out = be_copy_out, .copy_within = be_copy_within,
        .copy_peer = be_copy_peer, .launched = be_launched, .event_new = be_event_new,
        .event_free = free, .record = be_record, .wait = be_wait, .query = be_query};
    options = *o;
    dice = o->seed;
    memset(calls, 0, sizeof calls);
    return &backend;
}

/*
 * A back end without a device: memory of malloc(), queues that are lists, kernels that are functions.
 * What is enqueued runs when somebody asks for an event, a few steps at a time in an order drawn
 * from a seed, as late as the order of the queues allows: so whatever relies on more than events
 * finds wrong data.
 */
#ifndef LOOP_BACKEND_H
#define LOOP_BACKEND_H

#include "../../../runtime/device/backend.h"
#include "../../../runtime/device/device.h"

typedef enum loop_call {
    LOOP_ALLOC,
    LOOP_COPY_IN,
    LOOP_COPY_OUT,
    LOOP_COPY_WITHIN,
    LOOP_COPY_PEER,
    LOOP_LAUNCH,
    LOOP_CALLS
} loop_call;

/* The numbers of the kinds that it stands in for. */
#define LOOP_KIND DAG_DEVICE_CUDA
#define LOOP_OTHER_KIND DAG_DEVICE_OPENCL

typedef struct loop_options {
    int devices, others; /* of LOOP_KIND, and of LOOP_OTHER_KIND where loop_other() is used, too */
    size_t memory;    /* bytes that each device says it has free */
    uint64_t seed;    /* 0: everything runs at once when it is enqueued */
    /* The call number `fail_at` (from 1) of kind `call` and the `times` - 1 after it give `result`. */
    loop_call call;
    int fail_at, times;
    dagi_result result;
    int lose;         /* 1: such a call loses its device instead */
} loop_options;

/* The back end with these options, for dagi_devices_use(). One at a time. */
const dagi_backend *loop_backend(const loop_options *options);
/* With the same options, for devices of another kind beside them. */
const dagi_backend *loop_other(void);
/* The queue again, of a device of that kind, or the program ends. */
dag_device_queue *loop_queue(dag_device_queue *queue, dag_device_kind kind);
/* Enqueue fn(args), args copied. */
void loop_launch(dag_device_queue *queue, void (*fn)(void *args), const void *args, size_t bytes);

#endif

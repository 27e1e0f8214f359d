/*
 * A layer between programs and the drivers of OpenCL, for tests (README.md). One lock guards all that the
 * layer keeps; nothing that waits is called with it, unless the program asks for a copy that blocks.
 */
#ifndef OPENCL_LAYER_H
#define OPENCL_LAYER_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_layer.h>

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

enum { LAYER_DEVICES = 16, LAYER_QUEUES = 128, LAYER_ARGUMENTS = 16, LAYER_EXIT = 97 };

extern const cl_icd_dispatch *layer_driver;
extern pthread_mutex_t layer_lock;

/* ---- config.c ---- */

typedef struct layer_config {
    size_t memory, largest; /* bytes; 0: as the driver says */
    uint64_t seed;          /* of delays */
    int late;
    char fail[64]; /* calls whose names begin so; "" = none */
    long fail_n;
    int fail_onward;
    cl_int error; /* 0: by the call */
    int single;   /* 1: devices have no double precision */
    long lose;    /* the n-th kernel; 0: none */
    long fail_device;
    int here; /* 1: this rank's calls may fail */
    const char *report;
    int rank, ranks;
} layer_config;

extern layer_config layer_settings;
void layer_config_read(void);

/* ---- objects.c: with the lock ---- */

typedef enum layer_kind {
    LAYER_CONTEXT,
    LAYER_QUEUE,
    LAYER_BUFFER,
    LAYER_PROGRAM,
    LAYER_KERNEL,
    LAYER_EVENT,
    LAYER_KINDS
} layer_kind;

/* By queue: how many of its commands come before. */
typedef struct layer_clock {
    uint64_t done[LAYER_QUEUES];
} layer_clock;

/* Bytes that a command uses: so many rows of `width` bytes, `pitch` apart. */
typedef struct layer_range {
    cl_mem buffer; /* NULL: memory of the host, and `begin` is an address */
    size_t begin, pitch, width, rows;
    int writes;
} layer_range;

typedef struct layer_access {
    struct layer_access *next;
    layer_range range;
    int queue;
    uint64_t number;
    const char *call;
} layer_access;

typedef struct layer_argument {
    cl_mem buffer; /* NULL: none */
    int64_t value;
} layer_argument;

typedef struct layer_object {
    struct layer_object *next;
    void *handle;
    layer_kind kind;
    int holds;
    int device;         /* queue, event */
    int number;         /* queue: in clocks */
    int lost;           /* event: its device was lost before it */
    int doubles;        /* program: its text has the word */
    size_t bytes;       /* buffer; program, kernel: of an item */
    char name[64];      /* kernel */
    layer_clock *clock; /* queue, event: what comes before what is enqueued next, before its end */
    layer_access *access;      /* buffer: that may be under way */
    layer_argument *arguments; /* kernel */
} layer_object;

layer_object *layer_new(layer_kind kind, void *handle);
/* NULL, and a mistake of the program: there is no such object (any more). */
layer_object *layer_find(layer_kind kind, const void *handle, const char *call);
/* The same without complaint. */
layer_object *layer_look(layer_kind kind, const void *handle);
/* Nonzero = it was the last reference, and the object is forgotten. */
int layer_release(layer_kind kind, void *handle, const char *call);
int layer_live(layer_kind kind);
/* Bytes of buffers that are there, and the most there were. */
size_t layer_memory(size_t *most);
int layer_device(cl_device_id id);

/* ---- order.c: with the lock ---- */

extern layer_clock layer_host; /* what the host knows to be done */
void layer_join(layer_clock *to, const layer_clock *from);
int layer_overlap(const layer_range *a, const layer_range *b);
/* A command of a queue uses this; complains where another that is not ordered does. */
void layer_use(layer_object *queue, const layer_range *ranges, int n, const char *call);
/* All that is in a queue is done. */
void layer_queue_done(const layer_object *queue);

/* ---- kernels.c: with the lock ---- */

/* What a kernel of kernels/opencl uses; -1 = it is none of these. */
int layer_kernel_ranges(const layer_object *kernel, const size_t *global, layer_range *ranges,
                        int most);

/* ---- late.c ---- */

/* An event to wait for, which happens by itself a little later; NULL: none this time. */
cl_event layer_later(cl_context context);
void layer_late_end(void);

/* ---- calls.c ---- */

extern cl_icd_dispatch layer_calls;

/* ---- report.c ---- */

typedef enum layer_direction {
    LAYER_H2D,
    LAYER_D2H,
    LAYER_D2D,
    LAYER_P2P,
    LAYER_DIRECTIONS
} layer_direction;

__attribute__((format(printf, 2, 3))) void layer_misuse(const char *call, const char *format, ...);
/* A call is counted. Nonzero = it fails, with this error; with the lock. */
cl_int layer_count(const char *call, int device, cl_int error);
void layer_count_copy(int device, layer_direction direction, size_t bytes);
void layer_count_kernel(int device, const char *name);
/* Nonzero: the device is lost, from this kernel on; with the lock. */
int layer_loses(int device);
int layer_lost(int device);
/* Mistakes since it was asked last; for programs that have many runs. */
int layer_take_misuse(void);
/* Bytes of buffers, and objects, that are there. */
size_t layer_bytes_left(void);

#endif

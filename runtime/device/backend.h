/*
 * What a back end offers: memory, queues and kernels of devices of one kind (dag/device_kinds.h). Each
 * is a plug-in that is loaded when there is such a device, so that one binary runs everywhere. Back ends
 * know nothing of each other: what goes from one kind to another goes through the host.
 *
 * Threads: a device has one manager at a time (manager.c). All functions that take a device, a
 * queue or an event are called by the manager of that device, apart from pin, unpin, choose*, and
 * `query` and `wait` of events of other devices, which any thread may call. Nothing here blocks but open,
 * close, alloc, free, pin, unpin and queue_free.
 */
#ifndef DAGI_BACKEND_H
#define DAGI_BACKEND_H

#include <dag/kernels.h>
#include <dag/types.h>

#include <stddef.h>
#include <stdint.h>

#define DAGI_BACKEND_ABI 9

typedef enum dagi_result {
    DAGI_OK = 0,
    DAGI_BUSY,    /* query: not yet */
    DAGI_NOMEM,   /* memory is short; nothing was done */
    DAGI_REFUSED, /* this call failed before it did anything; the device goes on */
    DAGI_UNSURE,  /* launched(): a kernel of the body's own was refused; it knows how much it enqueued */
    DAGI_TORN,    /* launched(): a kernel was refused after others of this body were, or may have been,
                     enqueued: a call of a library is many kernels */
    DAGI_LOST     /* the device cannot be used any more; what was under way there is lost */
} dagi_result;

typedef struct dagi_backend_info {
    char name[256];      /* of the product */
    char bus[32];        /* PCI address as hwloc wants it, "0000:01:00.0"; "" = unknown */
    size_t memory;       /* bytes that the device has */
    size_t memory_free;  /* and has free now */
    size_t largest;      /* most bytes of one alloc(); 0: as many as are free */
    int single;          /* 1: no double precision: tasks in d and z do not run there */
    int copies_itself;   /* 1: copies take the time of kernels, as on a processor */
} dagi_backend_info;

/* A copy of m x n items of `elem` bytes between column-major arrays; leading dimensions in items. */
typedef struct dagi_copy_job {
    void *to;
    const void *from;
    int64_t to_ld, from_ld;
    int64_t m, n;
    size_t elem;
} dagi_copy_job;

/* A program of kernels that the application has: dag_opencl_program(). */
typedef struct dagi_text {
    const char *name, *text;
} dagi_text;

/* What a back end keeps from run to run, as compiled programs, each by a text of its own. Any thread. */
typedef struct dagi_store {
    /* What was kept last for that key, to be freed. NULL: nothing, or it is not what was kept. */
    void *(*find)(const char *key, size_t *bytes);
    void (*keep)(const char *key, const void *content, size_t bytes);
} dagi_store;

typedef struct dagi_backend {
    int abi; /* DAGI_BACKEND_ABI */
    const char *name; /* "cuda" */
    dag_device_kind kind;
    const dag_kernel *kernels; /* to be entered in the registry of kernels */
    int nkernels;
    const char *lacks; /* why some are missing, a sentence; NULL or "" = none is */

    /* 1: the environment has these devices round single precision to fewer bits, and `why` is a sentence:
     * tasks in precisions s and c do not run there. NULL: they never do. */
    int (*rounds_single)(char *why, size_t size);
    /* The application's programs of kernels for this kind, before a device is opened; they stay where they
     * are. NULL: this kind's bodies bring their kernels with them. */
    void (*texts)(const dagi_text *texts, int n);
    /* Where to keep things, before a device is opened. NULL: this kind keeps nothing. */
    void (*store)(const dagi_store *store);
    /* Devices that can be used; with `processors`, those as well that are the cores in other clothes. 0:
     * `why` is a sentence. */
    int (*count)(int processors, char *why, size_t size);
    /* Device number i of all that its drivers show, usable or not: name and what keeps it from being used, or
     * that nothing does, as count() would have it. 0: there is no such. NULL: the kind cannot tell. */
    int (*seen)(int i, int processors, char *text, size_t size);
    dagi_result (*open)(int index, void **device, dagi_backend_info *info);
    void (*close)(void *device);
    /* Name and message of the last call of this thread that failed. */
    const char *(*error)(void);

    dagi_result (*alloc)(void *device, size_t bytes, void **at); /* 256-byte aligned */
    void (*free)(void *device, void *at);
    /* Make host memory fast to copy from and to, for all devices. */
    dagi_result (*pin)(void *at, size_t bytes);
    void (*unpin)(void *at);
    /* The calling thread's device is this one from now on, for other libraries that it calls. */
    void (*choose)(void *device);
    /* The number by which other libraries know the thread's current device, and make that one current again:
     * an application has its own when it calls us, and finds it afterwards. */
    int (*chosen)(void);
    void (*choose_again)(int number);
    /* Let `device` copy from `other` directly. REFUSED: such copies go through the host. */
    dagi_result (*peer)(void *device, void *other);

    /* Queues run what is enqueued in order. Urgent ones go first where the device can. A queue begins
     * with a pointer of the runtime's, dagi_queue_head. */
    dagi_result (*queue_new)(void *device, int urgent, void **queue);
    void (*queue_free)(void *queue); /* waits for what is in it, unless the device is lost */
    /* cudaStream_t and the like, for bodies that launch kernels of their own. */
    void *(*stream)(void *queue);
    /* What stands behind an address of the device, where the kind's own library does not know addresses: 0 =
     * nothing. NULL: addresses are real ones. */
    int (*buffer)(void *queue, const void *at, void **buffer, size_t *offset);
    /* A kernel of one of `texts`, of this queue. NULL: there is none; error() says why. */
    void *(*own_kernel)(void *queue, const char *program, const char *kernel);
    dagi_result (*copy_in)(void *queue, const dagi_copy_job *job);     /* host -> device */
    dagi_result (*copy_out)(void *queue, const dagi_copy_job *job);    /* device -> host */
    dagi_result (*copy_within)(void *queue, const dagi_copy_job *job); /* on this device */
    dagi_result (*copy_peer)(void *queue, void *from_device, void *to, const void *from,
                             size_t bytes); /* the queue is of the receiving device */
    /* What became of the kernels launched through this queue since the last call: OK all, REFUSED none
     * (the first one failed before it was enqueued), TORN some, or nobody knows, UNSURE, LOST. Kernels
     * return nothing: a body need not look after errors, nor after those of its own launches. */
    dagi_result (*launched)(void *queue);

    dagi_result (*event_new)(void *device, void **event);
    void (*event_free)(void *event);
    dagi_result (*record)(void *event, void *queue);
    dagi_result (*wait)(void *queue, void *event); /* of any device of this back end */
    dagi_result (*query)(void *event); /* OK: all that was before it is done; BUSY; LOST */
} dagi_backend;

/* The rows of a back end's table for a kernel in all precisions. */
#define DAGI_KERNEL(code, name, KIND, kind, letter, prec)                                          \
    {DAG_OP_##code, prec, DAG_DEVICE_##KIND, (dag_kernel_fn)dag_tile_##letter##dev_##name,         \
     "dag_tile_" #letter #kind "_" #name}
#define DAGI_KERNELS(code, name, KIND, kind)                                                       \
    DAGI_KERNEL(code, name, KIND, kind, s, DAG_S), DAGI_KERNEL(code, name, KIND, kind, d, DAG_D),  \
        DAGI_KERNEL(code, name, KIND, kind, c, DAG_C),                                             \
        DAGI_KERNEL(code, name, KIND, kind, z, DAG_Z)

/* The head of a queue, set by whoever has asked for the queue. */
typedef struct dagi_queue_head {
    dag_device_kind kind; /* first: dag_device_queue_kind() */
    const dagi_backend *backend;
} dagi_queue_head;

/* The one symbol of a plug-in; its name is DAGI_BACKEND_SYMBOL. */
#define DAGI_BACKEND_SYMBOL "dagi_backend_get"
typedef const dagi_backend *(*dagi_backend_getter)(void);

/* probe.c in the folder of a kind, a part of the runtime: asked before a plug-in is loaded that is large.
 * 0 = there is no such device, and `why` is a sentence. The build finds it: dagi_NAME_probe. */
typedef int dagi_probe(char *why, size_t size);

#endif

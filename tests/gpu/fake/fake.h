/*
 * Inside of the fake CUDA libraries. README.md says what they do; this header, what their parts and
 * the host versions of kernels need of each other.
 *
 * Memory of a device has two addresses. The program sees one that nobody can access (PROT_NONE);
 * the fake reads and writes the same pages at fake_shadow() of it.
 *
 * Locks, in the order in which they may be taken: a stream's, then that of memory.c, then a mark's.
 * No operation runs with a lock held.
 */
#ifndef FAKE_CUDA_FAKE_H
#define FAKE_CUDA_FAKE_H

#include "api.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define FAKE_MAX_DEVICES 16
#define FAKE_MAX_RANGES 8
#define FAKE_MAX_UNFOLDED 192

/* Calls of the other fake libraries and of the tests; no part of CUDA. */
#define FAKE_EXPORT __attribute__((visibility("default")))
#define FAKE_PRINTF(text, first) __attribute__((format(printf, text, first)))

/* ---- config.c ---- */

/* The n-th call fails, or all from the n-th on; 0: none does. */
typedef struct fake_fault {
    long n;
    bool onward;
    _Atomic long calls;
} fake_fault;

typedef struct fake_config {
    long devices;
    size_t memory;                           /* bytes per device */
    double h2d, d2h, p2p;                    /* bytes per second; 0: no delay */
    double kernel_delay;                     /* seconds */
    bool zero_time, late, no_peer, poison;
    const char *machine;                     /* description of one, or NULL */
    double stretch, latency;                 /* its clock; seconds of a copy beside its bytes */
    bool compute;                            /* false: modelled kernels do nothing else */
    long parts;                              /* kernels of one call of a library */
    uint64_t seed;                           /* of late */
    fake_fault fail_malloc, fail_copy, fail_launch, fail_async;
    long async_error;                        /* what fail_async leaves behind */
    long fail_device, fail_rank;             /* -1: any */
    const char *fail_kernel;                 /* how its name begins, or NULL: any */
    const char *report;                      /* file, or NULL */
    int rank, ranks;                         /* as the launcher says */
} fake_config;

void fake_config_read(fake_config *config); /* ends the process at a key that it does not know */

/* ---- state.c ---- */

extern fake_config fake_settings;

/* First in every call: starts the fake. True if the call must not be made now; the error is then in
 * *error. `device` is the one whose sticky error counts, -1 for calls that have none. */
FAKE_EXPORT bool fake_enter(const char *call, int device, cudaError_t *error);
FAKE_EXPORT int fake_current_device(void);
/* Notes the error for cudaGetLastError and returns it. */
FAKE_EXPORT cudaError_t fake_error(cudaError_t error);
/* Does this call fail? Counts it. */
FAKE_EXPORT bool fake_fails(fake_fault *fault, int device);
cudaError_t fake_sticky(int device);
void fake_break_device(int device, cudaError_t error); /* from now on: sticky */
/* An operation of the device goes to memory; false: it must not, the device is broken. */
bool fake_begin_access(int device);
void fake_end_access(int device);
/* Marks this thread as one that runs a function of cudaLaunchHostFunc, which may call nothing. */
void fake_in_host_function(bool in);

/* A mistake of the program: says so on stderr, and makes the process end with status 97. */
FAKE_EXPORT void fake_misuse(const char *call, const char *format, ...) FAKE_PRINTF(2, 3);
/* An argument that the fake does not know: says so and aborts. */
FAKE_EXPORT _Noreturn void fake_unknown(const char *call, const char *format, ...)
    FAKE_PRINTF(2, 3);
/* For tests of the fake: the mistakes so far, which are forgotten. */
FAKE_EXPORT int fake_take_misuse(void);

/* ---- report.c ---- */

typedef enum fake_direction {
    FAKE_H2D,
    FAKE_D2H,
    FAKE_P2P, /* counted where it arrives */
    FAKE_D2D, /* within a device */
    FAKE_SET,
    FAKE_DIRECTIONS
} fake_direction;

void fake_count_copy(int device, fake_direction direction, size_t bytes, bool pageable);
void fake_count_kernel(int device, const char *call);
/* Whether a call that the settings count was let fail. */
void fake_count_failure(bool fails);
void fake_count_memory(int device, size_t used);
void fake_count_seconds(int device, double seconds); /* of modelled kernels */
void fake_report_write(int misuse);
/* For tests of the fake: bytes of one direction so far. */
FAKE_EXPORT uint64_t fake_bytes(int device, fake_direction direction);

/* ---- memory.c ---- */

/* What an operation touches: `height` columns of `width` bytes, `pitch` apart. */
typedef struct fake_range {
    const void *at; /* as the program sees it */
    size_t width, height, pitch;
    bool written;
    char triangle;    /* 'L' or 'U': that part of it only; 0: all */
    const char *what; /* name of the argument */
} fake_range;

typedef enum fake_place {
    FAKE_DEVICE,
    FAKE_PINNED,
    FAKE_PAGEABLE,
    FAKE_NOWHERE /* outside of the allocations of a device, or pinned in part */
} fake_place;

void fake_memory_start(void);
FAKE_EXPORT void *fake_shadow(const void *at); /* host memory: the same address */
FAKE_EXPORT fake_place fake_where(const fake_range *range, int *device);
size_t fake_extent(const fake_range *range);
/* Another library, a GPU-aware MPI, reads memory of a device until fake_read_end(). It is a mistake
 * if something that is enqueued or runs writes it, or it is freed meanwhile; `call` is named for it.
 * If it is not there the process ends. NULL: `at` is no memory of a device. */
typedef struct fake_op fake_reading;
FAKE_EXPORT fake_reading *fake_read_begin(const char *call, const void *at, size_t bytes);
FAKE_EXPORT void fake_read_end(fake_reading *reading);
bool fake_overlap(const fake_range *a, const fake_range *b);

/* ---- operations: stream.c, event.c ---- */

/* The completion of what was in a stream when an event was recorded. Held by the event, by the
 * operation that will complete it and by those that wait for it; the last one frees it. */
typedef struct fake_mark fake_mark;

fake_mark *fake_mark_new(int device);
fake_mark *fake_mark_hold(fake_mark *mark);
void fake_mark_release(fake_mark *mark);
void fake_mark_complete(fake_mark *mark, double moment);
double fake_mark_time(const fake_mark *mark); /* when it is done */
bool fake_mark_done(const fake_mark *mark);
void fake_mark_wait(fake_mark *mark);

/* Ranges of a kernel that stand in memory of the device, and so are known when it runs. Enters up to
 * FAKE_MAX_UNFOLDED, and says how many. */
typedef int fake_unfold(const void *args, fake_range *ranges);

typedef enum fake_kind { FAKE_KERNEL, FAKE_COPY, FAKE_RECORD, FAKE_WAIT, FAKE_HOST } fake_kind;

typedef struct fake_op fake_op;
struct fake_op {
    fake_op *next;
    fake_kind kind;
    const char *call;
    void (*run)(const void *args); /* kernels, copies */
    fake_mark *mark;               /* record, wait; copies that the caller waits for */
    cudaHostFn_t function;         /* host */
    void *user;
    double seconds; /* that it takes at least */
    double filled;  /* kernels of a modelled device: where others fill what it leaves free */
    double enqueued; /* when */
    int engine;     /* copies: device * 2 + direction, one copy at a time each; -1: none */
    bool fails;     /* asynchronously */
    int nranges;
    fake_range *ranges; /* own_ranges, or more of them once it is known what they are: then it frees them */
    fake_range own_ranges[FAKE_MAX_RANGES];
    fake_unfold *unfold;       /* NULL: they are known */
    const void *unfold_args;
    fake_op *active_next; /* while it runs; memory.c */
    _Alignas(16) unsigned char args[];
};

/* A new operation with room for a copy of `args`. */
fake_op *fake_op_new(fake_kind kind, const char *call, const void *args, size_t size);
/* Enqueues; the stream frees it. */
void fake_submit(cudaStream_t stream, fake_op *op);
/* The device of a stream; -1 and a message if it is none, abort if it is the default stream. */
FAKE_EXPORT int fake_stream_device(const char *call, cudaStream_t stream);
void fake_stream_wait_idle(cudaStream_t stream);
void fake_streams_wait_idle(int device);
void fake_streams_stop(void);
/* The call of an operation that is enqueued or runs and touches the range (with `writes`: writes it),
 * or NULL. */
const char *fake_streams_use(const fake_range *range, bool writes);

/* An operation takes its ranges while it runs. False: it may not touch one of them, which was said;
 * it is then not to run, and has taken nothing. */
bool fake_ranges_take(fake_op *op, int device);
void fake_ranges_give(fake_op *op);

/*
 * A kernel: `run` is called on a copy of `args`, in the stream's order, and finds the memory of the
 * device through fake_shadow(). It touches nothing but the ranges. The current device must be the
 * stream's.
 */
FAKE_EXPORT cudaError_t fake_launch(cudaStream_t stream, const char *call,
                                    void (*run)(const void *args), const void *args, size_t size,
                                    const fake_range *ranges, int nranges);

/* What a call of a library does, as far as its time depends on it: dagi_modelled() of kernels/model.h. */
typedef struct fake_work {
    const char *op;
    char precision;
    int m, n, k;
    int batch;           /* so many of them in one launch; 0: one */
    fake_unfold *unfold; /* NULL: all ranges are given; of the arguments that `run` gets */
} fake_work;

/* The same for a call of a library, which is FAKE_CUDA_PARTS kernels. Those before the last one leave what
 * the call writes unusable, and the last one makes it whole and takes its modelled time; each may be
 * refused. */
FAKE_EXPORT cudaError_t fake_launch_call(cudaStream_t stream, const char *call, const fake_work *work,
                                         void (*run)(const void *args), const void *args,
                                         size_t size, const fake_range *ranges, int nranges);

double fake_now(void); /* seconds */
void fake_sleep(double seconds);

/* ---- modelled.c ---- */

enum { FAKE_MODEL_REPORT = 4096 }; /* bytes: copies up to that are made even if nothing is computed */

/* Read the description that the settings name, if they do; ends the process if it is wrong. */
void fake_model_start(fake_config *config);
/* Seconds of a kernel alone, and where others fill what it leaves free. */
typedef struct fake_times {
    double alone, filled;
} fake_times;

/* Those of a kernel on a device of it, not stretched; 0 without one. Without `work` it moves what it
 * writes. */
fake_times fake_model_kernel(const fake_work *work, const fake_range *ranges, int nranges);
/* When an operation ends that is ready at a moment, and may have to wait until others have ended. What comes
 * behind it begins there, however late the thread wakes up that plays it. */
double fake_model_end(int device, const fake_op *op, double ready);
bool fake_model_computes(const fake_op *op);
void fake_sleep_until(double moment);

#endif

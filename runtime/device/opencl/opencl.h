/*
 * Inside of the OpenCL back end. A device and what hangs on it belong to the manager of the device, as
 * backend.h says; what other threads may touch is told below. Calls of OpenCL 1.2 only.
 *
 * Addresses: the runtime calculates with addresses of a device, which OpenCL 1.2 has not. So each
 * allocation has a range of the process's own addresses that nobody can touch, and an address of it stands
 * for a place in the allocation's buffer (address.c).
 */
#ifndef DAGI_OPENCL_H
#define DAGI_OPENCL_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include "../backend.h"

#include <dag/device.h>
#include <dag/kernels_device.h>

#include <CL/cl.h>
#include <pthread.h>

enum { DAGI_OPENCL_DEVICES = 64, DAGI_OPENCL_TEXTS = 32 };

/* Kernels of kernels/opencl, by number and by name. */
#define DAGI_OPENCL_KERNELS(X)                                                                     \
    X(PACK, pack) X(GEMM, gemm) X(PACK_TRIANGLE, pack_triangle) X(SOLVE, solve)                    \
    X(FACTOR, factor) X(GEADD, geadd) X(IDENTITY, identity) X(STORE, store)                        \
    X(SWAP_ROWS, swap_rows) X(FOLLOW, follow) X(PICK_ROWS, pick_rows) X(PUT_ROWS, put_rows)
#define DAGI_OPENCL_NUMBER(NAME, name) OPENCL_##NAME,
enum { DAGI_OPENCL_KERNELS(DAGI_OPENCL_NUMBER) OPENCL_KERNELS };
#undef DAGI_OPENCL_NUMBER

/* Shape of a product: rows and columns of the block in registers, columns of a work item, depth of a packing.
 * Behind it: the largest order of a factor of one work item, and of a triangle that is packed for a solve; pivots that
 * travel as an argument. */
typedef struct dagi_opencl_shape {
    int vector, vectors, columns, strip;
} dagi_opencl_shape;
enum { OPENCL_SLAB = 64, OPENCL_SMALL = 64, OPENCL_AT_ONCE = 256, OPENCL_PIVOTS = 64, OPENCL_MOST_EXCHANGES = 512 };

typedef struct dagi_opencl_event dagi_opencl_event;

typedef struct dagi_opencl_device {
    int index; /* in the list of this back end; constant, as all up to `idle` */
    cl_platform_id platform;
    cl_device_id id;
    cl_context context;   /* of the platform: shared by its devices */
    int one_by_one;       /* 1: a processor; a work item is a group of its own */
    int single;           /* 1: no double precision */
    cl_program program[DAG_PRECISION_COUNT];
    dagi_opencl_shape shape[DAG_PRECISION_COUNT];
    cl_program own[DAGI_OPENCL_TEXTS]; /* of dag_opencl_program() */
    dagi_opencl_event *idle;           /* events to be used again */
} dagi_opencl_device;

/* Recorded by the manager of its device, asked and waited for by others too. */
struct dagi_opencl_event {
    pthread_mutex_t lock; /* of `event` */
    cl_event event;       /* NULL: never recorded */
    dagi_opencl_device *device;
    dagi_opencl_event *next; /* among the idle ones */
};

/* Memory of a queue's own for packed operands: two places. */
typedef struct dagi_opencl_scratch {
    cl_mem buffer;
    size_t bytes;
} dagi_opencl_scratch;

/* What a body knows as dag_device_queue. Kernels belong to a queue, since their arguments are a part of
 * them; each is made when it is first called. */
struct dag_device_queue {
    dagi_queue_head head;
    dagi_opencl_device *device;
    cl_command_queue queue;
    cl_kernel kernels[DAG_PRECISION_COUNT][OPENCL_KERNELS];
    struct dagi_opencl_own *own; /* kernels of bodies' own, a list */
    dagi_opencl_scratch scratch[2];
    dagi_result worst; /* since launched() was asked last */
    int enqueued;
    int shown; /* 1: the body has the queue, and may have enqueued what is not counted here */
};

/* ---- error.c ---- */

/* What an error code means; keeps it with the name of the call for dagi_opencl_error(). */
dagi_result dagi_opencl_result(cl_int error, const char *call);
const char *dagi_opencl_error(void);
void dagi_opencl_say(const char *text);

/* ---- address.c ---- */

/* A range of addresses for a buffer, which it owns from now on. NULL: there is none. */
void *dagi_opencl_range_new(cl_mem buffer, size_t bytes);
/* The buffer of a range that is given up. NULL: there is no such range. */
cl_mem dagi_opencl_range_end(void *at);
/* Where an address lies. 0: nowhere. Any thread. */
int dagi_opencl_find(const void *at, cl_mem *buffer, size_t *offset);

/* ---- device.c ---- */

int dagi_opencl_count(int processors, char *why, size_t size);
int dagi_opencl_seen(int i, int processors, char *text, size_t size);
dagi_result dagi_opencl_open(int index, void **device, dagi_backend_info *info);
void dagi_opencl_close(void *device);
dagi_result dagi_opencl_alloc(void *device, size_t bytes, void **at);
void dagi_opencl_free(void *device, void *at);
dagi_result dagi_opencl_peer(void *device, void *other);

/* ---- program.c ---- */

void dagi_opencl_texts(const dagi_text *texts, int n);
/* Compiles all kernels for a device. */
dagi_result dagi_opencl_compile(dagi_opencl_device *device);
void dagi_opencl_programs_drop(dagi_opencl_device *device);
/* A kernel of a program of dag_opencl_program(), of this queue. NULL: there is none. */
void *dagi_opencl_own_kernel(void *queue, const char *program, const char *kernel);
void dagi_opencl_own_drop(dag_device_queue *queue);

/* ---- binary.c ---- */

void dagi_opencl_store(const dagi_store *store);
/* What a program is kept by, to be freed. NULL: no memory; then nothing is found or kept. */
char *dagi_opencl_key(const dagi_opencl_device *d, const char *options, const char *text);
/* A program that is kept, ready for kernels. NULL: there is none, or the driver does not take it. */
cl_program dagi_opencl_program_kept(const dagi_opencl_device *d, const char *key, const char *options);
void dagi_opencl_program_keep(const dagi_opencl_device *d, const char *key, cl_program program);

/* ---- queue.c ---- */

dagi_result dagi_opencl_queue_new(void *device, int urgent, void **queue);
void dagi_opencl_queue_free(void *queue);
void *dagi_opencl_stream(void *queue);
int dagi_opencl_buffer(void *queue, const void *at, void **buffer, size_t *offset);
dagi_result dagi_opencl_copy_in(void *queue, const dagi_copy_job *job);
dagi_result dagi_opencl_copy_out(void *queue, const dagi_copy_job *job);
dagi_result dagi_opencl_copy_within(void *queue, const dagi_copy_job *job);
dagi_result dagi_opencl_copy_peer(void *queue, void *from_device, void *to, const void *from,
                                  size_t bytes);
/* What became of a kernel. */
void dagi_opencl_note(dag_device_queue *q, dagi_result result);
dagi_result dagi_opencl_launched(void *queue);
dagi_result dagi_opencl_event_new(void *device, void **event);
void dagi_opencl_event_free(void *event);
dagi_result dagi_opencl_record(void *event, void *queue);
dagi_result dagi_opencl_wait(void *queue, void *event);
dagi_result dagi_opencl_query(void *event);
void dagi_opencl_events_drop(dagi_opencl_device *device); /* all idle ones */

/* ---- launch.c ---- */

/* A kernel whose arguments are given one after the other, in the order of its parameters. After the first
 * refusal the others do nothing, and the queue has it noted. */
typedef struct dagi_opencl_call {
    dag_device_queue *queue;
    dag_precision precision;
    cl_kernel kernel;
    const char *name;
    cl_uint next;
    dagi_result result;
} dagi_opencl_call;

dagi_opencl_call dagi_opencl_begin(dag_device_queue *q, dag_precision precision, int kernel);
void dagi_opencl_int(dagi_opencl_call *c, int value);
/* Two parameters, the parts of a scalar. */
void dagi_opencl_scalar(dagi_opencl_call *c, dag_dcomplex value);
void dagi_opencl_bytes(dagi_opencl_call *c, const void *value, size_t bytes);
void dagi_opencl_mem(dagi_opencl_call *c, cl_mem buffer);
/* Two parameters: the buffer, and the offset in items of so many bytes. */
void dagi_opencl_place(dagi_opencl_call *c, const void *at, size_t item);
void dagi_opencl_run(dagi_opencl_call *c, size_t wide, size_t high);
/* Buffer number 0 or 1 of the queue with room for so many bytes; NULL: refused, and noted. */
cl_mem dagi_opencl_room(dag_device_queue *q, int number, size_t bytes);

/* ---- tile.c: kernels whatever the precision ---- */

typedef struct dagi_opencl_operand {
    const void *at;
    int ld;
    int turned, conj; /* X(i, l) is item (l, i); is conjugated */
    int form, upper, unit; /* of tile.cl */
    int zeros;             /* BELOW, ABOVE of tile.cl, 0: nowhere */
} dagi_opencl_operand;

enum { OPENCL_FULL, OPENCL_SYMMETRIC, OPENCL_HERMITIAN, OPENCL_TRIANGLE };
enum { OPENCL_BELOW = 1, OPENCL_ABOVE };
enum { OPENCL_LOWER = 1, OPENCL_UPPER = 2, OPENCL_REAL_DIAGONAL = 4 };

/* C := alpha X Y^T + beta C, of X, m x k, and Y, n x k, in a region of C. */
typedef struct dagi_opencl_product {
    int m, n, k;
    dagi_opencl_operand x, y;
    dag_dcomplex alpha, beta;
    void *c;
    int ldc, region;
} dagi_opencl_product;

void dagi_opencl_multiply(dag_device_queue *q, dag_precision precision, const dagi_opencl_product *p);

typedef struct dagi_opencl_triangle {
    const void *at;
    int ld, upper, turned, conj, unit;
} dagi_opencl_triangle;

/* B := op(A)^-1 B or B op(A)^-1, of m rows and n columns. */
void dagi_opencl_solve(dag_device_queue *q, dag_precision precision, dag_side side,
                       dagi_opencl_triangle a, int m, int n, void *b, int ldb);
/* Cholesky factor; *info as LAPACK's, `before` rows further. */
void dagi_opencl_factor(dag_device_queue *q, dag_precision precision, int upper, int n, void *a, int lda,
                        int *info, int before);
void dagi_opencl_add(dag_device_queue *q, dag_precision precision, dag_trans trans, int m, int n,
                     dag_dcomplex alpha, const void *a, int lda, dag_dcomplex beta, void *b, int ldb);

/* B := the identity, n x n. */
void dagi_opencl_identity(dag_device_queue *q, dag_precision precision, int n, void *b, int ldb);

/* ---- rows.c ---- */

/* Exchanges within C, m rows and n columns. */
void dagi_opencl_swap(dag_device_queue *q, dag_precision precision, const dag_device_exchanges *e, int n,
                      void *c, int ldc, void *work);
void dagi_opencl_pick(dag_device_queue *q, dag_precision precision, const dag_device_exchanges *e, int n,
                      const void *c, int ldc, void *w, void *work);
void dagi_opencl_put(dag_device_queue *q, dag_precision precision, const dag_device_exchanges *e, int n,
                     const void *w, void *c, int ldc, void *work);

/* ---- kernels.c ---- */

#define DAGI_OPENCL_TABLE (18 * DAG_PRECISION_COUNT)
extern const dag_kernel dagi_opencl_kernels[DAGI_OPENCL_TABLE];

#endif

/**
 * @file kernels.h
 * Tile kernels: dense operations on one tile, sequential, for s, d, c and z.
 *
 * A kernel is named `dag_tile_<p><op>`: dag_tile_dgemm, dag_tile_zherk. What each does is
 * documented once, for all precisions, in kernels_decl.h. Common to all of them:
 *
 * - A tile is column-major: element (i, j) of A is `A[i + j * lda]`, with `lda >= max(1, rows)`.
 *   Dimensions and leading dimensions are `int`; a tile has fewer than 2^31 rows and columns,
 *   while byte and element offsets inside it are computed in size_t.
 * - Any dimension may be 0; then nothing is read or written beyond what the operation implies.
 * - Arguments are not checked in release builds: kernels are called by generated code with
 *   shapes that were checked when the matrix was made. Debug builds assert.
 * - Tiles of one call must not overlap unless said otherwise.
 * - Kernels are reentrant: any number of threads may call them, each on its own tiles.
 */
#ifndef DAG_KERNELS_H
#define DAG_KERNELS_H

#include <dag/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Makes the BLAS library single-threaded, because the runtime runs one kernel per worker.
 * To be called before workers start; calling it again is harmless, also from several threads.
 *
 * @param[out] how  if not NULL, receives a static, never freed text: which library was set and
 *                  how, or what the user has to do when the result is false.
 * @return true if every BLAS library found in the process confirmed one thread; false if a
 *         library could not be set, or none with a known interface was found (the reference
 *         BLAS has none and needs none). The caller decides whether to warn.
 */
bool dag_kernels_init(const char **how);

/**
 * Has the BLAS library take what memory it wants for calls from so many threads. dag_init() calls it: some
 * libraries wait for ever for memory that a limit on the address space keeps from them.
 * @param[out] why  a sentence when there is too little.
 * @return false if there is too little.
 */
bool dag_kernels_reserve(int threads, char *why, size_t size);

/**
 * Say what makes the kernels slow on this machine and how to change it, for instance a BLAS
 * library that does not know the processor and runs kernels made for an old one.
 * @return a static text, or NULL if nothing is known to be wrong. Never changes anything.
 */
const char *dag_kernels_advice(void);

/**
 * The value of OPENBLAS_CORETYPE that makes OpenBLAS use this processor, when it runs kernels made
 * for an old one. OpenBLAS reads it when it is loaded, so that a program has to be started with it.
 * @return a static text, or NULL if there is nothing to gain.
 */
const char *dag_kernels_better_core(void);

/**
 * Name what the speed of the kernels depends on besides the processor: their instruction set, the
 * BLAS library, its version and the set of kernels that it chose, as far as it tells.
 * @return a static text.
 */
const char *dag_kernels_variant(void);

/** Operations known to the registry. */
typedef enum dag_kernel_op {
    DAG_OP_POTRF,
    DAG_OP_TRSM,
    DAG_OP_TRMM,
    DAG_OP_HERK,
    DAG_OP_SYRK,
    DAG_OP_GEMM,
    DAG_OP_HEMM,
    DAG_OP_LACPY,
    DAG_OP_LASET,
    DAG_OP_GEADD,
    DAG_OP_LANGE_MAX,
    DAG_OP_LANGE_ONE,
    DAG_OP_LANGE_INF,
    DAG_OP_LANGE_FRO,
    DAG_OP_ABSGEMM,
    DAG_OP_PLRNT,
    DAG_OP_PLGHE,
    DAG_OP_GETRF,
    DAG_OP_GETRF_NOPIV,
    DAG_OP_GETRF_COLUMN,
    DAG_OP_GETRF_SEARCH,
    DAG_OP_GETRF_CHOOSE,
    DAG_OP_GETRF_BELOW,
    DAG_OP_LASWP,
    DAG_OP_SYMM,
    DAG_OP_SYR2K,
    DAG_OP_HER2K,
    DAG_OP_GEQRT,
    DAG_OP_GEMQRT,
    DAG_OP_TPQRT,
    DAG_OP_TPMQRT,
    DAG_OP_GEQRT_STACK,
    DAG_OP_GEMQRT_STACK,
    DAG_OP_POTRF_WORKSPACE, /**< of devices only: kernels_device.h */
    DAG_OP_PICK_ROWS,       /**< likewise */
    DAG_OP_PUT_ROWS,        /**< likewise */
    DAG_OP_TRTRI,           /**< likewise */
    DAG_OP_COUNT
} dag_kernel_op;

/** A kernel of any signature; cast it back to the type of its operation before calling it. */
typedef void (*dag_kernel_fn)(void);

/** One entry of the registry. */
typedef struct dag_kernel {
    dag_kernel_op op;
    dag_precision precision;
    dag_device_kind device;
    dag_kernel_fn fn;
    const char *name; /**< symbol name, for example "dag_tile_dgemm"; lives as long as `fn` */
} dag_kernel;

/**
 * The kernel for an operation, precision and kind of device.
 * @return an entry owned by the registry, or NULL if there is none. Safe from any thread once
 *         start-up is over; an entry found earlier stays valid.
 */
const dag_kernel *dag_kernel_find(dag_kernel_op op, dag_precision precision,
                                  dag_device_kind device);

/**
 * Adds a kernel, for instance from a device plug-in that was just loaded. `entry` is copied; the
 * name is not. To be called during start-up only: it must not run beside dag_kernel_find.
 * @return false, changing nothing, if a field is out of range, `fn` or `name` is NULL, or the
 *         place is taken by another function.
 */
bool dag_kernel_register(const dag_kernel *entry);

/** Name of an operation in lower case, "gemm"; NULL if out of range. */
const char *dag_kernel_op_name(dag_kernel_op op);

/** A call of a kernel for cores, as far as its time depends on it. */
typedef struct dag_kernel_call {
    dag_kernel_op op;
    dag_precision precision;
    const char *name; /**< dag_kernel_op_name(op) */
    double flops;     /**< operations on real numbers; 0 where elements are only moved or compared */
    double bytes;     /**< of the elements that are written or looked at */
} dag_kernel_call;

/** The function that kernels call instead of computing. */
typedef void dag_kernel_model(void *arg, const dag_kernel_call *call);

/**
 * From now on kernels for cores compute nothing: they tell `model` and return, with info 0, pivots from
 * a fixed sequence and norms of 1, and touch no element. NULL: they compute again. To be called
 * while no kernel runs; simulated runs (dag_simulated()) do so.
 */
void dag_kernels_model(dag_kernel_model *model, void *arg);

/** Nonzero while kernels tell a model: for bodies that move elements by themselves. */
int dag_kernels_modelled(void);

/** Tell the model of work that a body does without a kernel: `bytes` are moved, as by `op`. */
void dag_kernels_tell(dag_kernel_op op, dag_precision precision, double bytes);

/** The pivot of row i among rows i to end-1 that modelled factorisations choose, from a fixed sequence. */
int64_t dag_kernels_pivot(int64_t i, int64_t end);

/** Columns of a panel within a block of geqrt_stack, the inner block of LAPACK's geqrt. */
enum { DAG_QR_INNER = 32 };

/** Elements of workspace that geqrt_stack takes for n columns in blocks of `block` rows. */
static inline size_t dag_qr_stack_work(int n, int block)
{
    return block > 0 ? ((size_t)n + (size_t)block + 2 * DAG_QR_INNER + 64) * (size_t)n : 0;
}

#define DAG_TEMPLATE <dag/kernels_decl.h>
#include <dag/each_precision.h>

#ifdef __cplusplus
}
#endif

#endif /* DAG_KERNELS_H */

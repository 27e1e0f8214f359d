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

DAG_C_BEGIN

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
 * Calls kernels on small matrices, the first time, so that later first calls find pages, bound functions and the BLAS
 * library's memory, on the calling thread. It takes about a millisecond, after dag_kernels_init(), which it calls; where kernels
 * are modelled it does nothing. dag_init() calls it, when it has seen to the limit of the stack; a thread of the program that
 * calls that needs 256 KiB of its own.
 */
void dag_kernels_warm(void);

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
 * Name what the speed of the kernels depends on besides the processor: their instruction set, a number that changes with
 * their sources, the BLAS library, its version and the set of kernels that it chose, as far as it tells.
 * @return a static text.
 */
const char *dag_kernels_variant(void);

/** Operations of kernels for cores, X(NAME, name): DAG_OP_NAME, and dag_kernel_op_name() of it. */
#define DAG_CORE_OPS(X)                                                                            \
    X(POTRF, potrf) X(TRSM, trsm) X(TRMM, trmm) X(HERK, herk) X(SYRK, syrk) X(GEMM, gemm)          \
    X(HEMM, hemm) X(LACPY, lacpy) X(LASET, laset) X(GEADD, geadd) X(LANGE_MAX, lange_max)          \
    X(LANGE_ONE, lange_one) X(LANGE_INF, lange_inf) X(LANGE_FRO, lange_fro)                        \
    X(ABSGEMM, absgemm) X(PLRNT, plrnt) X(PLGHE, plghe) X(GETRF, getrf)                            \
    X(GETRF_NOPIV, getrf_nopiv) X(GETRF_COLUMN, getrf_column) X(GETRF_SEARCH, getrf_search)        \
    X(GETRF_CHOOSE, getrf_choose) X(GETRF_BELOW, getrf_below) X(LASWP, laswp) X(SYMM, symm)        \
    X(SYR2K, syr2k) X(HER2K, her2k) X(GEQRT, geqrt) X(GEMQRT, gemqrt) X(TPQRT, tpqrt)              \
    X(TPMQRT, tpmqrt) X(GEQRT_STACK, geqrt_stack) X(GEMQRT_STACK, gemqrt_stack)                    \
    X(TRTRI, trtri) X(LAUUM, lauum)
/** Those of devices alone: kernels_device.h. */
#define DAG_DEVICE_OPS(X)                                                                          \
    X(POTRF_WORKSPACE, potrf_workspace) X(PICK_ROWS, pick_rows) X(PUT_ROWS, put_rows)              \
    X(GEMM_BATCH, gemm_batch) X(TRSM_BATCH, trsm_batch)

/** Operations known to the registry. */
typedef enum dag_kernel_op {
#define DAG_OP_ROW(NAME, name) DAG_OP_##NAME,
    DAG_CORE_OPS(DAG_OP_ROW) DAG_DEVICE_OPS(DAG_OP_ROW)
#undef DAG_OP_ROW
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

/** Memory that a kernel to come reads: `bytes` from `at` on. It is fetched, and never read. */
typedef struct dag_ahead_block {
    const void *at;
    size_t bytes;
} dag_ahead_block;

/** The most blocks that are fetched ahead of one task. */
enum { DAG_AHEAD_BLOCKS = 4 };

/**
 * Tells a kernel what the next task of the calling thread will read, in `block`, what matters most first.
 * @return the number of blocks; -1: it has been told for the task that runs.
 */
typedef int dag_ahead_ask(dag_ahead_block block[DAG_AHEAD_BLOCKS]);

/**
 * From now on large products on cores ask what comes next, and fetch it into the second-level cache while they
 * multiply, as far as it fits there with what they read themselves. NULL: nothing is fetched. The runtime does so;
 * at any time, from any thread.
 */
void dag_kernels_ahead(dag_ahead_ask *ask);

/** Multiplications, m n k, from which on a product is large, and asks: some 10 us. */
enum { DAG_AHEAD_LEAST = 1 << 19 };

/** The next large product of the calling thread is told this instead; for who calls kernels outside of tasks. */
void dag_kernels_next(const dag_ahead_block *block, int count);

/** Elements of workspace that geqrt_stack takes for n columns in blocks of `block` rows. */
static inline size_t dag_qr_stack_work(int n, int block)
{
    return block > 0 ? ((size_t)n + (size_t)block + 2 * DAG_QR_INNER + 64) * (size_t)n : 0;
}

#define DAG_TEMPLATE <dag/kernels_decl.h>
#include <dag/each_precision.h>

DAG_C_END

#endif /* DAG_KERNELS_H */

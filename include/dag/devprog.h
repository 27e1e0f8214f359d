/**
 * @file devprog.h
 * Programs for devices: registers, and commands that run on them.
 *
 * A device is a machine whose registers are pieces of its memory. Rectangles of matrices on the
 * host are loaded into registers (LD) and stored from them (ST), kernels run on registers (EXEC).
 * A program is a list of commands; who waits for whom follows from the registers, and from the
 * rectangles, that they touch, across devices too. The host is a device as well, DAG_HOST: it has
 * no registers, and an EXEC there works in place on rectangles.
 *
 *     static const dag_devprog_kernel gemm = {"gemm", 3, {DAG_TILE_READ, DAG_TILE_READ, DAG_TILE_RW},
 *                                             .device = gemm_on_device};
 *     dag_devprog_new(ctx, &desc, &p);                      // on all ranks, with the same description
 *     int c = dag_devprog_register(p, 1, 100 * 100), a = ..., b = ...;
 *     dag_devprog_ld(p, c, (dag_devprog_part){C, .m = 100, .n = 100});
 *     ...
 *     dag_devprog_exec(p, 1, GEMM, &scalars, sizeof scalars,
 *                      (dag_devprog_part[]){{a, ...}, {b, ...}, {c, ...}});
 *     dag_devprog_st(p, c, (dag_devprog_part){C, .m = 100, .n = 100});
 *     dag_taskpool *pool = dag_devprog_taskpool(p);         // checked; then dag_add(), dag_wait()
 *
 * A device has three queues. Its EXEC run one after the other in the order of the program; its
 * LD, and its ST, start in that order and may overlap. A rank's commands touch what that rank has
 * of the matrices; the commands may differ from rank to rank, and there may be none.
 * docs/design/devprog.md says how it works.
 */
#ifndef DAG_DEVPROG_H
#define DAG_DEVPROG_H

#include <dag/insert.h>
#include <dag/matrix.h>

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

DAG_C_BEGIN

#define DAG_DEVPROG_ARGS 8       /**< most arguments of a kernel */
#define DAG_DEVPROG_SCALARS 2048 /**< most bytes of its scalars */

/** A program; commands are appended to it, then it makes taskpools. */
typedef struct dag_devprog dag_devprog;

/**
 * Rows i, ..., i+m-1 and columns j, ..., j+n-1 of matrix number `of` of the program; or of
 * register `of` the first m * n items, a column-major array without gaps between its columns (i
 * and j are 0).
 */
typedef struct dag_devprog_part {
    int of;
    int64_t i, j, m, n;
} dag_devprog_part;

/**
 * A kernel. On a device it gets registers, on the host rectangles. It returns 0; on a device
 * anything else means that it refused before it enqueued anything.
 */
typedef struct dag_devprog_kernel {
    const char *name;
    int nargs;
    dag_tile_access access[DAG_DEVPROG_ARGS]; /**< WRITE: what was there is not read */
    /** Enqueues work on dag_device_queue_of(task), as a body of `type = DEVICE` does: kernels of
     *  <dag/kernels_device.h>, or its own on dag_device_stream(). NULL: not for devices. */
    int (*device)(struct dag_task *task, const void *scalars, const dag_tile_view *args);
    /** NULL: not for the host. */
    int (*host)(struct dag_task *task, const void *scalars, const dag_tile_view *args);
    /** Bytes of dag_device_workspace(); NULL: none. */
    size_t (*workspace)(const void *scalars);
} dag_devprog_kernel;

/** What a program is made of; the same on all ranks. The arrays are copied, what they point to is
 * not. */
typedef struct dag_devprog_desc {
    const char *name;
    dag_precision prec;
    dag_matrix *const *matrices; /**< of that precision; their memory does not overlap */
    int nmatrices;
    const dag_devprog_kernel *const *kernels;
    int nkernels;
} dag_devprog_desc;

/** The queues of a device. DAG_HOST has EXEC alone. */
typedef enum dag_devprog_queue {
    DAG_DEVPROG_LD,
    DAG_DEVPROG_ST,
    DAG_DEVPROG_EXEC
} dag_devprog_queue;

/**
 * An empty program.
 * @param[out] program  owned by the caller, dag_devprog_free(); set on success alone.
 * @return DAG_ERR_ARG with dag_message(): the description contradicts itself.
 */
dag_status dag_devprog_new(dag_context *context, const dag_devprog_desc *desc, dag_devprog **program);
/** Free a program whose taskpools are freed. NULL is allowed. */
void dag_devprog_free(dag_devprog *program);

/**
 * A register of `items` items on a device: 1 + the index of dag_device_stats_get(). Its memory
 * comes out of what the device has for copies of data when it is first written, and goes back
 * behind its last use.
 * @return its number, from 0 on.
 */
int dag_devprog_register(dag_devprog *program, int device, int64_t items);

/**
 * Append a command. What is wrong with it is found by dag_devprog_check().
 * @return its number, from 0 on.
 * @{
 */
/** The first items of a register become a copy of a rectangle. */
int64_t dag_devprog_ld(dag_devprog *program, int reg, dag_devprog_part from);
/** A rectangle becomes a copy of the first items of a register. */
int64_t dag_devprog_st(dag_devprog *program, int reg, dag_devprog_part to);
/** Kernel number `kernel` of the program, with a copy of `size` bytes of scalars, on as many
 * parts as it has arguments: of registers of the device, or on DAG_HOST of matrices. */
int64_t dag_devprog_exec(dag_devprog *program, int device, int kernel, const void *scalars, size_t size,
                         const dag_devprog_part *args);
/** Nothing; but it is over when all commands before it in its queue are. */
int64_t dag_devprog_mark(dag_devprog *program, int device, dag_devprog_queue queue);
/** Nothing; but it waits for the end of `count` commands before it, and what comes behind it in
 * its queue starts behind it. */
int64_t dag_devprog_bar(dag_devprog *program, int device, dag_devprog_queue queue, const int64_t *on,
                        int count);
/** @} */

/**
 * See whether the program can run in its context. Refused is, with the number of the command:
 * what does not exist; a register that is read before it was written, or too small for a part; a
 * rectangle that is not within its matrix, or not all on this rank, or (DAG_HOST) has several
 * leading dimensions; arguments of a kernel that overlap where one of them is written. And
 * registers that need more memory than their device has for data.
 * @return DAG_ERR_ARG, DAG_ERR_NOMEM with dag_message(); DAG_ERR_UNSUPPORTED in a simulated run.
 */
dag_status dag_devprog_check(dag_devprog *program);

/**
 * A taskpool that runs the program, which gets no more commands. All ranks make and add it, as
 * any other; it comes behind and before others that name its matrices. A check that fails on one
 * rank is the pool's end on all. The program outlives the pool; it may make several.
 * @return NULL with dag_message(): out of memory.
 */
dag_taskpool *dag_devprog_taskpool(dag_devprog *program);

/** Write the commands, one a line, each with those that it waits for and why: "3 EXEC d1 gemm
 * r1[4x4] r2[4x4] r0[4x4] after 0:r0 1:r1 2:r2". dag_devprog_check() has to accept the program;
 * else its message is written. */
dag_status dag_devprog_list(dag_devprog *program, FILE *to);

DAG_C_END

#endif

/*
 * Inside of the library of algorithms: programs for devices, out of core. A result is made block
 * by block; the program of a block is the paper's:
 *
 *     LD C -> rc
 *     for each product: LD A -> ra, LD B -> rb, EXEC pad ra -> rpa, EXEC pad rb -> rpb,
 *                       EXEC gemm rpa, rpb, rc
 *     perhaps a solve with a triangle: LD A -> ra, EXEC pad ra -> rpa, EXEC trsm rpa, rc
 *     ST rc -> C
 *
 * What depends on what is found from registers and rectangles, so routines append blocks in the
 * order of the serial algorithm, each to any device.
 */
#ifndef OUTCORE_OUTCORE_H
#define OUTCORE_OUTCORE_H

#include "la/check.h"

#include <dag/outcore.h>

/* ---- how a length is cut: blocks.c --------------------------------------------------------- */

/* All blocks are as long as allowed but the last two, which are of equal size, to a row. */
typedef struct dagi_blocks {
    int64_t length, most, count;
} dagi_blocks;

dagi_blocks dagi_blocks_of(int64_t length, int64_t most);
/* Where block i begins; that behind the last one begins at the end. */
int64_t dagi_block_at(const dagi_blocks *b, int64_t i);

/* Most rows and columns of blocks, such that `items` hold `results` blocks of an m x n matrix,
 * two of an m x k and two of a k x n one; 0 = not even of one row. */
int64_t dagi_block_side(int64_t items, int results, int64_t m, int64_t n, int64_t k);

/* Rows and columns of the blocks of a product's result, and how many of its sums are added at a time. */
typedef struct dagi_block_shape {
    int64_t m, n, k;
} dagi_block_shape;

/* Those that cost least, by what is copied, in how many copies, and how often a block of the result is gone through
 * within the device. Where one more block along a side becomes the better choice both cost the same, so what a product
 * takes grows smoothly with its sizes. dagi_block_side() is at least 1, and so is k. */
dagi_block_shape dagi_block_shape_of(int64_t items, int results, int64_t m, int64_t n, int64_t k);

/* ---- programs: program.c ------------------------------------------------------------------- */

enum { DAGI_OUTCORE_DEVICES = 64 }; /* that take part, at most */

/* A device that takes part, and its registers: none, before dagi_outcore_registers(). */
typedef struct dagi_outcore_device {
    int number; /* as dag/devprog.h counts */
    double speed;
    int64_t items; /* that it has room for */
    int c[2], a, b, pa, pb;
    int work; /* of factors */
    int64_t work_items;
    int results, turn; /* registers c[], and which of them is next */
} dagi_outcore_device;

typedef struct dagi_outcore {
    dag_context *ctx;
    dag_devprog *program;
    const dag_outcore_options *options;
    dag_precision prec;
    int here; /* the matrices lie on this rank; else the program stays empty */
    int ndevices;
    dagi_outcore_device *devices;
} dagi_outcore;

/* Complains where programs cannot have these matrices. */
void dagi_outcore_check(dagi_check *c, dag_matrix *const *matrices, int count,
                        const dag_outcore_options *options);

/* Does the setting `out_of_core` want a program for these matrices, good ones? Where it leaves the
 * choice: if they take more than `times` the devices' memory, from where on a program moves less
 * than the graph. It is an error where it demands one and there cannot be one. */
bool dagi_outcore_wanted(dagi_check *c, dag_matrix *const *matrices, int count, double times);

/* Begin a program on matrices that were checked; number[i] becomes the program's for matrices[i].
 * Ends what it began when it fails. */
dag_status dagi_outcore_begin(dagi_outcore *o, dag_context *ctx, const char *name,
                              dag_matrix *const *matrices, int count,
                              const dag_outcore_options *options, int *number);
/* The program is checked and handed over; or freed, also where `status` is not DAG_SUCCESS. */
dag_status dagi_outcore_end(dagi_outcore *o, dag_status status, dag_devprog **program);

/* part[d], ..., part[d+1] of a length become that of devices[d], by their speeds. */
void dagi_outcore_parts(const dagi_outcore *o, int64_t length,
                        int64_t part[DAGI_OUTCORE_DEVICES + 1]);

/* dag_run() of a program, which is freed; a status that is not DAG_SUCCESS goes by. */
dag_status dagi_outcore_run(dag_context *ctx, dag_devprog *program, dag_status status,
                            int64_t *info);

/* Registers of a device for blocks of at most m x n, products over at most k, all of them at most
 * `most` long. The side of blocks that it can have; 0 with a complaint: none. */
int64_t dagi_outcore_registers(dagi_outcore *o, dagi_outcore_device *d, int64_t m, int64_t n,
                               int64_t k, int64_t most);
/* Likewise for a product, whose blocks need not be square; m = 0: none. */
dagi_block_shape dagi_outcore_product_registers(dagi_outcore *o, dagi_outcore_device *d, int64_t m,
                                                int64_t n, int64_t k);
/* The side for squares, without registers and complaint. */
int64_t dagi_outcore_side(const dagi_outcore *o, const dagi_outcore_device *d, int64_t m, int64_t n,
                          int64_t k);
/* The side for blocks of a factor of order n, whose kernel needs memory too: that is put aside. */
int64_t dagi_outcore_factor_side(dagi_outcore *o, dagi_outcore_device *d, dag_uplo uplo, int64_t n);
/* The register for that, of blocks that are cut so. */
void dagi_outcore_factor_work(dagi_outcore *o, dagi_outcore_device *d, dag_uplo uplo,
                              const dagi_blocks *cut);

/* ---- the program of a block: block.c ------------------------------------------------------- */

/* How op(A) op(B) is added: rc := alpha op(A) op(B) + beta rc. */
typedef struct dagi_outcore_product {
    dag_trans transa, transb;
    dag_dcomplex alpha, beta; /* beta 0: rc is not read */
} dagi_outcore_product;

typedef struct dagi_outcore_solve {
    dag_side side;
    dag_uplo uplo;
    dag_trans trans;
    dag_diag diag;
    dag_dcomplex alpha;
} dagi_outcore_solve;

/* What kernels on the host go by: pivots first, ..., last-1 of LAPACK, from 1, and its info. */
typedef struct dagi_outcore_pivots {
    int64_t *ipiv, *info;
    int64_t first, last;
} dagi_outcore_pivots;

/* The kernels, in the order of their numbers. */
enum {
    DAGI_OUTCORE_PAD,
    DAGI_OUTCORE_GEMM,
    DAGI_OUTCORE_SET,
    DAGI_OUTCORE_SCALE,
    DAGI_OUTCORE_ZERO,
    DAGI_OUTCORE_TRSM,
    DAGI_OUTCORE_HERK,
    DAGI_OUTCORE_POTRF,
    DAGI_OUTCORE_PANEL, /* on the host, as those below */
    DAGI_OUTCORE_PANEL_NOPIV,
    DAGI_OUTCORE_SWAP,
    DAGI_OUTCORE_KERNELS
};
const dag_devprog_kernel *const *dagi_outcore_kernels(dag_precision prec);

/* The next register for results has `part`: it is loaded, unless it begins with a product that
 * reads nothing. */
void dagi_outcore_open(dagi_outcore *o, dagi_outcore_device *d, dag_devprog_part part, int load);
/* A and B as they are stored. */
void dagi_outcore_add(dagi_outcore *o, dagi_outcore_device *d, const dagi_outcore_product *how,
                      dag_devprog_part c, dag_devprog_part a, dag_devprog_part b);
/* The solution for the triangle A, which is on the side where products had op(A). */
void dagi_outcore_solve_with(dagi_outcore *o, dagi_outcore_device *d, const dagi_outcore_solve *how,
                             dag_devprog_part c, dag_devprog_part a);
/* rc := beta rc; of 0 it is not read. */
void dagi_outcore_scale(dagi_outcore *o, dagi_outcore_device *d, dag_dcomplex beta,
                        dag_devprog_part c);
/* Takes A A^H from a triangle of rc, A^H A where it is the upper one. */
void dagi_outcore_add_square(dagi_outcore *o, dagi_outcore_device *d, dag_uplo uplo,
                             dag_devprog_part c, dag_devprog_part a);
/* Its Cholesky factor. */
void dagi_outcore_factor(dagi_outcore *o, dagi_outcore_device *d, dag_uplo uplo,
                         dag_devprog_part c);
size_t dagi_outcore_factor_bytes(dag_precision prec, dag_uplo uplo, int n); /* that it needs */
/* It is stored. */
void dagi_outcore_close(dagi_outcore *o, dagi_outcore_device *d, dag_devprog_part part);

#endif

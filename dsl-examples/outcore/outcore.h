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
#include "la/numbers.h"

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

enum { DAGI_LONGEST = 1 << 24 }; /* side of a block: products of three are far from overflow */

/* ---- which blocks may cost least: costs.c -------------------------------------------------- */

/* Rows and columns of the blocks of a result, how many of its sums are added at a time, and registers for results.
 * Of a solve rows are along the triangle, columns across, and triangles on the diagonal may be loaded once, and
 * inverted. */
typedef struct dagi_block_shape {
    int64_t m, n, k;
    int inverted, results;
} dagi_block_shape;

/* The best so far, in the order of their costs. */
enum { DAGI_SHAPES = 16 };
typedef struct dagi_shapes {
    int count;
    double cost[DAGI_SHAPES];
    dagi_block_shape shape[DAGI_SHAPES];
} dagi_shapes;
void dagi_shapes_add(dagi_shapes *list, dagi_block_shape s, double cost);

/* What a copy takes besides its items: 10 us at 13 GB/s. */
enum { DAGI_A_COPY = 16384 };
/* Of products, by kernels with `each` multiplications. */
double dagi_products_cost(double operations, double each);
double dagi_potrf_cost(double n);
double dagi_within_cost(double items); /* read or written */

/* Of a product; dagi_block_side() is at least 1, and so is k. */
void dagi_product_shapes(dagi_shapes *list, int64_t items, int results, int64_t m, int64_t n,
                         int64_t k);
/* Of a solve with a triangle of that order; likewise. */
void dagi_solve_shapes(dagi_shapes *list, int64_t items, int results, int64_t order,
                       int64_t others);
/* Items of all registers where blocks have that shape, m rows along a triangle, and the triangle of a block takes the
 * register of its factor. */
int64_t dagi_triangle_items(const dagi_block_shape *s);
/* Most sums that are added at a time with so many items, of a triangle of that order; 0: there is no room. */
int64_t dagi_triangle_steps(int64_t items, const dagi_block_shape *s, int64_t order);
/* What a Cholesky factor of order n takes by blocks of that side, by k sums at a time. */
double dagi_factor_cost(int64_t n, int64_t side, int64_t k, int devices);

/* ---- programs: program.c ------------------------------------------------------------------- */

enum { DAGI_OUTCORE_DEVICES = 64 }; /* that take part, at most */
enum { DAGI_OUTCORE_FEWEST = 5 };   /* registers, or one more; beside inverses and workspaces */

/* A device that takes part, and its registers: none, before they are taken. */
typedef struct dagi_outcore_device {
    int number; /* as dag/devprog.h counts */
    double speed;
    int64_t items; /* that it has room for */
    int c[2], a, b, pa, pb;
    int inverse; /* of triangles: its register, 0 = none */
    int work;    /* of factors */
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
    struct dagi_outcore_play *play; /* not NULL: commands are only played */
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

/* ---- registers and blocks: registers.c ------------------------------------------------------ */

/* Takes the registers for blocks of that shape, and appends the commands of a device's part of a routine; of a factor
 * those of all devices. */
typedef void dagi_outcore_fill(dagi_outcore *o, dagi_outcore_device *d, const dagi_block_shape *s,
                               const void *arg);

/* Those of a product, with at most k sums. As the options say; else those with which what `fill` appends takes least.
 * m = 0 with a complaint: there is no room. */
dagi_block_shape dagi_outcore_product_shape(const dagi_outcore *o, const dagi_outcore_device *d,
                                            int64_t m, int64_t n, int64_t k,
                                            dagi_outcore_fill *fill, const void *arg);
void dagi_outcore_take_product(dagi_outcore *o, dagi_outcore_device *d, const dagi_block_shape *s);
/* Likewise of a solve with a triangle of that order, on that side. */
dagi_block_shape dagi_outcore_solve_shape(const dagi_outcore *o, const dagi_outcore_device *d,
                                          int64_t order, int64_t others, dagi_outcore_fill *fill,
                                          const void *arg);
void dagi_outcore_take_triangle(dagi_outcore *o, dagi_outcore_device *d, dag_side on,
                                const dagi_block_shape *s);
/* Likewise of a Cholesky factor, alike for all devices; and the workspace of its kernel, where it is cut so. */
dagi_block_shape dagi_outcore_factor_shape(const dagi_outcore *o, dag_uplo uplo, int64_t n,
                                           dagi_outcore_fill *fill, const void *arg);
void dagi_outcore_take_work(dagi_outcore *o, dagi_outcore_device *d, dag_uplo uplo,
                            const dagi_blocks *cut);
/* Squares for block columns of n of all columns, which are updated one after the other. */
dagi_block_shape dagi_outcore_panel_shape(const dagi_outcore *o, const dagi_outcore_device *d,
                                          int64_t m, int64_t n, int64_t k, int64_t columns);

/* ---- commands: played.c --------------------------------------------------------------------- */

int dagi_outcore_register(dagi_outcore *o, dagi_outcore_device *d, int64_t items);
void dagi_outcore_ld(dagi_outcore *o, dagi_outcore_device *d, int to, dag_devprog_part part);
void dagi_outcore_st(dagi_outcore *o, dagi_outcore_device *d, int from, dag_devprog_part part);
void dagi_outcore_exec(dagi_outcore *o, dagi_outcore_device *d, int kernel, const void *how,
                       size_t size, const dag_devprog_part *args);
/* The shape with which what `fill` appends takes least time; of long programs the first. */
dagi_block_shape dagi_outcore_fastest(const dagi_outcore *o, const dagi_outcore_device *d,
                                      const dagi_shapes *list, dagi_outcore_fill *fill,
                                      const void *arg);

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
    DAGI_OUTCORE_TRTRI,
    DAGI_OUTCORE_SOLVE,
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
/* The inverse of the triangle A, for solves that follow, and the solution by it. */
void dagi_outcore_invert(dagi_outcore *o, dagi_outcore_device *d, const dagi_outcore_solve *how,
                         dag_devprog_part a);
void dagi_outcore_solve_by_inverse(dagi_outcore *o, dagi_outcore_device *d,
                                   const dagi_outcore_solve *how, dag_devprog_part c,
                                   dag_devprog_part a);
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

/**
 * @file scalapack.h
 * Parts of arrays that a program has laid out for ScaLAPACK, as matrices for every routine of the
 * library. Part of dag/la.h, whose rules hold here; docs/scalapack.md shows a program.
 *
 * A part is what ScaLAPACK calls sub(A): m rows and n columns from row ia and column ja (counted
 * from 1) of a matrix that desc describes, wherever its first block lies (RSRC, CSRC), with any
 * blocks, offsets inside of blocks, and grids in row- or column-major order. dag_part_open() makes
 * a matrix of it:
 *
 * - in place, where the part is cut and dealt as matrices of the library are: ranks of the grid in
 *   row-major order, and rows, as well as columns, that lie on one row (column) of the grid, or
 *   within one block and one tile on the first, or in blocks of the size of the tiles, from the
 *   beginning of one on the first. No element moves;
 * - else as a copy on the same grid, which takes the memory of the part once more. The elements
 *   travel when the part is opened and when it is closed. dag_part says so, and why.
 *
 * From opening to closing the part of the array belongs to the library: the program neither reads
 * nor writes it. Parts that are in place may overlap; of two that overlap, one being a copy and one
 * written, the second is refused.
 */
#ifndef DAG_SCALAPACK_H
#define DAG_SCALAPACK_H

#include <dag/matrix.h>

DAG_C_BEGIN

/** Which rank is at row i and column j of a grid of P rows and Q columns: as order of
 *  Cblacs_gridinit(). */
typedef enum dag_grid_order {
    DAG_GRID_ROW_MAJOR = 'R',   /**< i Q + j */
    DAG_GRID_COLUMN_MAJOR = 'C' /**< j P + i */
} dag_grid_order;

/** What a context of BLACS is to ScaLAPACK. Ranks of ctx behind the last of the grid take part in
 *  every call, with arrays that are NULL. */
typedef struct dag_blacs_grid {
    dag_context *ctx;
    int nprow, npcol; /**< as in Cblacs_gridinit(); their product is at most the ranks of ctx */
    dag_grid_order order;
    int64_t nb; /**< tiles of all parts are nb x nb; 0 = as the blocks of each. Where several parts
                     are arguments of one call, or blocks are not square, nb makes them fit */
} dag_blacs_grid;

/** What is done with a part; the values are bits. */
typedef enum dag_part_access {
    DAG_PART_READ = 1,  /**< a copy is not copied back */
    DAG_PART_WRITE = 2, /**< all elements will be written; what was there is not copied */
    DAG_PART_RW = 3
} dag_part_access;

/** A part that is open. Fields are read-only. */
typedef struct dag_part {
    dag_matrix *matrix; /**< m x n, DAG_GENERAL, in slab layout; for the routines of the library. It
                             ends with dag_part_close(), never by dag_matrix_free() */
    int copied;         /**< 0: in place; 1: a copy. The same on all ranks */
    size_t bytes;       /**< memory that the copy takes on this rank */
    char why[160];      /**< why it is a copy; "" in place */
} dag_part;

/**
 * Open a part. Collective: all ranks give the same but for `local` and desc[1], desc[8].
 * @param m, n   rows and columns of the part, >= 0.
 * @param local  the local array of the whole matrix, on this rank; may be NULL where it has no
 *               element of the part.
 * @param ia, ja row and column of the whole matrix, from 1, with which the part begins.
 * @param desc   descriptor of the whole matrix, as descinit() makes it: DTYPE_ (1), CTXT_ (not
 *               looked at), M_, N_, MB_, NB_, RSRC_, CSRC_, LLD_ (of ranks in the grid). It is
 *               copied.
 * @param[out] part  owned by the caller, dag_part_close(). Set on success only.
 * @return DAG_ERR_ARG with dag_message() that names the argument; DAG_ERR_MISMATCH where ranks
 *         disagree; DAG_ERR_NOMEM when there is none for a copy.
 */
dag_status dag_part_open(const dag_blacs_grid *grid, dag_precision prec, dag_part_access access,
                         int64_t m, int64_t n, void *local, int64_t ia, int64_t ja,
                         const int desc[9], dag_part **part);

/**
 * Close a part: a copy that may have been written goes back, and the array is the program's again.
 * Collective; taskpools that name the matrix must have ended. Frees the part also when it fails;
 * NULL is allowed.
 */
dag_status dag_part_close(dag_part *part);

DAG_C_END
#endif

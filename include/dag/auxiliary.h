/**
 * @file auxiliary.h
 * Copies, sums, norms and redistribution of distributed matrices, named after LAPACK's auxiliary
 * routines. Part of dag/la.h, whose rules hold here; all functions run to the end.
 *
 * Where a uplo is asked for, DAG_GENERAL means the whole matrix; DAG_LOWER and DAG_UPPER its
 * triangle (or trapezoid), and then tiles must be square and the rest is neither read nor written.
 */
#ifndef DAG_AUXILIARY_H
#define DAG_AUXILIARY_H

#include <dag/matrix.h>

DAG_C_BEGIN

/** Set A: elements off the diagonal to `off`, those on it to `diag`. */
dag_status dag_laset(dag_context *ctx, dag_uplo uplo, dag_dcomplex off, dag_dcomplex diag,
                     dag_matrix *A);

/**
 * A := (to / from) A. from must not be 0 or NaN. The quotient is taken once, in double precision,
 * without LAPACK's precautions against its overflow. to = 0 sets A to 0 without reading it.
 */
dag_status dag_lascl(dag_context *ctx, dag_uplo uplo, double from, double to, dag_matrix *A);

/**
 * Copy A, or a triangle of it, to B of the same size and type. With DAG_GENERAL the tiles may be
 * cut in any way; with a triangle both must have the same tiles. Grids and storages may differ.
 */
dag_status dag_lacpy(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *B);

/**
 * B := alpha op(A) + beta B, all of it or a triangle of B. The tiles of op(A) must be those of B;
 * grids and storages may differ. As in BLAS, alpha = 0 does not read A and beta = 0 does not read
 * B.
 */
dag_status dag_geadd(dag_context *ctx, dag_uplo uplo, dag_trans trans, dag_dcomplex alpha,
                     dag_matrix *A, dag_dcomplex beta, dag_matrix *B);

/**
 * Copy A to B of the same size and type, whatever tiles, grid and storage each has. With one of
 * them on a 1 x 1 grid in slab layout over an array of rank 0, this is the way from and to LAPACK.
 *
 * Elements in tiles that only one of them has (matrices with uplo) are left out. No pool that names
 * A or B may be under way.
 */
dag_status dag_redistribute(dag_context *ctx, dag_matrix *A, dag_matrix *B);

/**
 * Look for an element of A, or of a triangle of it, that is infinite or not a number. The routines of
 * the library do not: they compute with such elements as their descriptions say.
 * @param[out] row, col  its place, counted from 0, the first one column by column; -1 both when all
 *                       elements are finite. The same on all ranks.
 */
dag_status dag_find_nonfinite(dag_context *ctx, dag_uplo uplo, dag_matrix *A, int64_t *row,
                              int64_t *col);

/**
 * Norm of a general m x n matrix: largest absolute value of an element, of a column sum, of a row
 * sum, or Frobenius. A NaN in the matrix makes the norm NaN; a matrix without elements has norm 0.
 * Sums within a tile are in the real type of the matrix, those over tiles in double precision; the
 * order depends on the layout only.
 * @param[out] value  the same on all ranks.
 */
dag_status dag_lange(dag_context *ctx, dag_norm norm, dag_matrix *A, double *value);

/** Norm of a symmetric matrix given by its triangle uplo. */
dag_status dag_lansy(dag_context *ctx, dag_norm norm, dag_uplo uplo, dag_matrix *A, double *value);

/** Norm of a Hermitian matrix given by its triangle uplo; the imaginary parts of the diagonal are
 *  taken as 0. */
dag_status dag_lanhe(dag_context *ctx, dag_norm norm, dag_uplo uplo, dag_matrix *A, double *value);

/** Norm of a triangular or trapezoidal m x n matrix; with DAG_UNIT its diagonal is 1 and not
 *  read. */
dag_status dag_lantr(dag_context *ctx, dag_norm norm, dag_uplo uplo, dag_diag diag, dag_matrix *A,
                     double *value);

DAG_C_END
#endif

/* Matrices from Matrix Market files: every rank reads the file and keeps what it owns. */
#ifndef DRIVERS_LOAD_H
#define DRIVERS_LOAD_H

#include "driver.h"

#include <dag/mtx.h>

/*
 * The triangle options.uplo of the symmetric or Hermitian matrix in options.matrix. The file may be
 * symmetric, Hermitian, or general if its numbers are symmetric up to rounding; everything else is
 * refused. Errors have been printed and are the same on all ranks.
 */
dag_status load_matrix(dag_context *ctx, const options *o, dag_matrix **matrix);

/* All of the square matrix in options.matrix, whatever symmetry the file has. */
dag_status load_general(dag_context *ctx, const options *o, dag_matrix **matrix);

/* The same for a matrix of any shape. */
dag_status load_rectangular(dag_context *ctx, const options *o, dag_matrix **matrix);

/* The right-hand sides in options.rhs; `rows` of them are needed, in tiles like the matrix. */
dag_status load_rhs(dag_context *ctx, const options *o, int64_t rows, dag_matrix **rhs);

/* The pivots of LU in options.pivots, one for each of `rows` rows, as numbers of type options.prec. */
dag_status load_pivots(dag_context *ctx, const options *o, int64_t rows, dag_matrix **column);

/* The file again, as a source for dag_solve_residual(): this rank gives its share of the entries,
 * and their mirror images where the file leaves them out. */
typedef struct load_source {
    dag_context *ctx;
    const char *path;
} load_source;
dag_status load_each(void *source, dag_element_fn add, void *to);

/* What a result of dag/mtx.h is here; dag_message() is `text`. */
dag_status load_status(dag_context *ctx, dag_mtx_result result, const char *text);

#endif

/* Results on their way into files. */
#ifndef DRIVERS_STORE_H
#define DRIVERS_STORE_H

#include "driver.h"

#include <dag/mtx.h>

/* A file of a result. */
typedef struct store_output {
    const char *path;
    dag_mtx_writer *writer; /* on rank 0; NULL elsewhere, and once the file has been ended */
    int open;               /* the same on all ranks: begun, and not yet ended */
    int direct;             /* what is put there cannot be taken back */
} store_output;

/* Starts the file for `what`, of elements of this type and this size. */
dag_status store_create(dag_context *ctx, const char *path, dag_precision prec, const char *what,
                        int64_t rows, int64_t cols, store_output *out);

/* A factor or an inverse for store_put() and store_finish(), if a file is open: *whole is A, or a
 * matrix of its own with the triangle `uplo` of A and zeros beside, or with its mirror image if
 * `hermitian`. To be freed by store_whole_free(). */
dag_status store_whole(dag_context *ctx, const options *o, const store_output *out, dag_uplo uplo,
                       int hermitian, dag_matrix *A, dag_matrix **whole);
void store_whole_free(dag_matrix *whole, const dag_matrix *A);

/* R (DAG_UPPER) or L (DAG_LOWER) of a matrix that QR or LQ has factored: *top, of min(m, n) rows (columns),
 * with zeros beside. It lies in *whole, which is to be freed. */
dag_status store_trapezoid(dag_context *ctx, const options *o, dag_uplo uplo, dag_matrix *A,
                           dag_matrix **whole, dag_matrix *top);

/*
 * Writes X through rank 0, some columns at a time: on disk before anything else can go wrong, such as
 * reading the input again for the check. It gets its name when there is no check to be passed; else
 * store_finish() gives it, which writes only then to what cannot be taken back. A file that cannot be
 * written must not cost the user the result of a long computation: *incomplete becomes 1. Both do
 * nothing when there is no file.
 */
void store_put(dag_context *ctx, const options *o, store_output *out, dag_matrix *X, int *incomplete);
void store_finish(dag_context *ctx, store_output *out, dag_matrix *X, int good, int *incomplete);
/* Gives up, on any rank. */
void store_abort(store_output *out);

#endif

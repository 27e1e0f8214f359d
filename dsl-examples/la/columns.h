/* Inside of the library of algorithms: what is known of the columns of a matrix, and its
 * elements one by one. */
#ifndef LA_COLUMNS_H
#define LA_COLUMNS_H

#include <dag/matrix.h>

/* most[j] becomes the largest |re| + |im| in the local part of column j, if larger than it is; a
 * NaN is larger than all numbers. A->n items. */
void dagi_column_maxima(dag_matrix *A, double *most);

/* norm[j] becomes the two-norm of rows from, ..., to - 1 of column j; room has 2 A->n items. Collective;
 * the same on all ranks. */
dag_status dagi_column_norms(dag_context *ctx, dag_matrix *A, int64_t from, int64_t to, double *norm,
                             double *room);

/* Element `at` of a tile: its real and imaginary part. */
void dagi_element(dag_precision prec, const void *tile, int64_t at, double part[2]);
void dagi_set_element(dag_precision prec, void *tile, int64_t at, const double part[2]);

/* The number of the first zero on the diagonal of A, counted from 1, or 0; the same on all ranks. The
 * tiles are square. Collective. */
dag_status dagi_first_zero(dag_context *ctx, dag_matrix *A, int64_t *number);

#endif

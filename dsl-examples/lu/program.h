/* LU factors by programs for devices. */
#ifndef LU_PROGRAM_H
#define LU_PROGRAM_H

#include "la/check.h"

#include <dag/lu.h>

/* Does the setting `out_of_core` want a program for A, which was checked? Options may be NULL. */
int dagi_lu_wants_program(dagi_check *c, dag_matrix *A, int pivoting, const dag_lu_options *options);

/* dag_getrf(), or dag_getrf_nopiv(), which has no ipiv, of arguments that were checked and agreed on.
 * `info` may be NULL. */
dag_status dagi_lu_program(dag_context *ctx, dag_matrix *A, int pivoting, int64_t *ipiv,
                           int64_t *info);

#endif

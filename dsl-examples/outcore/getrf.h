/* LU factors, out of core. */
#ifndef OUTCORE_GETRF_H
#define OUTCORE_GETRF_H

#include "outcore.h"

typedef struct dagi_outcore_getrf {
    dag_matrix *A;
    int pivoting; /* 0: none; the info of pools is LAPACK's, and those below are not set */
    /* on the rank of A, when a pool has ended: LAPACK's, from 1 */
    int64_t *ipiv, *info;
} dagi_outcore_getrf;

/* What dagi_outcore_check() does not see: panels are factored in place, as one array. */
void dagi_outcore_getrf_check(dagi_check *c, const dag_matrix *A);

/* The arguments have been checked, by dagi_outcore_check() as well. */
dag_status dagi_outcore_getrf_program(dag_context *ctx, const dagi_outcore_getrf *g,
                                      const dag_outcore_options *options, dag_devprog **program);

#endif

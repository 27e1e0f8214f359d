/* Triangular solves, out of core. */
#ifndef OUTCORE_TRSM_H
#define OUTCORE_TRSM_H

#include "outcore.h"

typedef struct dagi_outcore_trsm {
    dagi_outcore_solve how;
    dag_matrix *A, *B;
} dagi_outcore_trsm;

/* The arguments have been checked, by dagi_outcore_check() as well. */
dag_status dagi_outcore_trsm_program(dag_context *ctx, const dagi_outcore_trsm *t,
                                     const dag_outcore_options *options, dag_devprog **program);

#endif

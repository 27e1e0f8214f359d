/* The product, out of core. */
#ifndef OUTCORE_GEMM_H
#define OUTCORE_GEMM_H

#include "outcore.h"

typedef struct dagi_outcore_gemm {
    dag_trans transa, transb;
    dag_dcomplex alpha, beta;
    dag_matrix *A, *B, *C;
} dagi_outcore_gemm;

/* The arguments have been checked, by dagi_outcore_check() as well. */
dag_status dagi_outcore_gemm_program(dag_context *ctx, const dagi_outcore_gemm *g,
                                     const dag_outcore_options *options, dag_devprog **program);

#endif

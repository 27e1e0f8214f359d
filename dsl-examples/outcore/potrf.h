/* Cholesky factors, out of core. */
#ifndef OUTCORE_POTRF_H
#define OUTCORE_POTRF_H

#include "outcore.h"

/* The arguments have been checked, by dagi_outcore_check() as well. The info of its pools is LAPACK's. */
dag_status dagi_outcore_potrf_program(dag_context *ctx, dag_uplo uplo, dag_matrix *A,
                                      const dag_outcore_options *options, dag_devprog **program);

#endif

/* Inside of the library of algorithms: pools that several routines need. Arguments are good. */
#ifndef LA_POOLS_H
#define LA_POOLS_H

#include <dag/matrix.h>

/* A := alpha A, all of it or a triangle; herm: and the diagonal becomes real. */
dag_taskpool *dagi_scale_pool(dag_context *ctx, dag_uplo uplo, int herm, dag_dcomplex alpha,
                              dag_matrix *A);

/* dag_gemm() by tiles of one size: the setting `split` is about the tiles of a caller of the library, not
 * about those of a residual. */
dag_status dagi_la_gemm(dag_context *ctx, dag_trans transa, dag_trans transb, dag_dcomplex alpha,
                        dag_matrix *A, dag_matrix *B, dag_dcomplex beta, dag_matrix *C);

/* dag_trtri(); `info` is not NULL. */
dag_status dagi_run_trtri(dag_context *ctx, dag_uplo uplo, dag_diag diag, dag_matrix *A,
                          int64_t *info);

/* dag_run(), and the info of the pool on all ranks (which may be NULL). */
dag_status dagi_run_info(dag_context *ctx, dag_taskpool *pool, int64_t *info);

#endif

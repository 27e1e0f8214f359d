/**
 * @file inserted.h
 * Routines of the library written as sequential programs that insert their tasks (dag/insert.h): what `--insert`
 * of the drivers runs. They give the same results, bit by bit, as the graphs of the routines of the same names
 * do, whose conventions hold (dag/la.h): all are collective. Tasks run where those of the graphs do, on devices, too;
 * results are the same where the same processors run them. The settings `split`, `split_placement` and `split_update`
 * are heeded.
 */
#ifndef DAG_INSERTED_H
#define DAG_INSERTED_H

#include <dag/blas3.h>
#include <dag/qr.h>

DAG_C_BEGIN

/** dag_potrf(). */
dag_status dag_potrf_inserted(dag_context *ctx, dag_uplo uplo, dag_matrix *A, int64_t *info);

/** dag_geqrf_with(). `options->lookahead` means nothing here: what runs ahead, the window bounds. */
dag_status dag_geqrf_inserted(dag_context *ctx, dag_matrix *A, const dag_qr_options *options,
                              dag_qr **qr);

/** dag_gemm() by the graph in which C stays where it is. */
dag_status dag_gemm_inserted(dag_context *ctx, dag_trans transa, dag_trans transb,
                             dag_dcomplex alpha, dag_matrix *A, dag_matrix *B, dag_dcomplex beta,
                             dag_matrix *C);

DAG_C_END
#endif

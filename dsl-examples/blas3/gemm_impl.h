/* A product that was asked for. */
#ifndef BLAS3_GEMM_IMPL_H
#define BLAS3_GEMM_IMPL_H

#include "la/cut.h"
#include "op.h"

#include <dag/array.h>
#include <dag/blas3.h>
#include <dag/split.h>

#include <stdbool.h>

struct gemm {
    dag_context *ctx;
    dag_trans transa, transb;
    dag_dcomplex alpha, beta;
    dag_matrix *A, *B, *C;
    int whole; /* 1: tiles have one size, whatever the setting `split` says */
};

/* ---- gemm_pools.c ----------------------------------------------------------------------- */

/* What the setting `split` may cut. */
dagi_cut_of dagi_gemm_cut_of(const struct gemm *g);

/* Does the setting `split` want C by tiles of two sizes? They have one where C is only scaled. */
bool dagi_gemm_cut(const struct gemm *g, dag_split_desc *desc);

/* C is scaled, and nothing is read of A and B. */
bool dagi_gemm_only_scales(const struct gemm *g);

/* A stays, and each tile of C has so many partial sums; or C stays. NULL with a message. */
dag_taskpool *dagi_gemm_in_a(const struct gemm *g, int64_t parts);
dag_taskpool *dagi_gemm_in_c(const struct gemm *g);

/* The pool of a plan, and what is to be freed behind it. */
struct dagi_hsumma;
dag_taskpool *dagi_gemm_planned(const struct gemm *g, const dag_gemm_plan *plan, dag_array **where,
                                struct dagi_hsumma **groups);

/* ---- others ------------------------------------------------------------------------------- */

/* inserted.c: arguments are good on all ranks, and there are kt >= 1 steps. */
dag_status dagi_gemm_inserted(const struct gemm *g, int64_t kt);

/* hsumma.c: the pool of a plan on groups, NULL with a message, and what is to be freed behind it, which
 * may be NULL. */
dag_taskpool *dagi_hsumma_pool(const struct gemm *g, const dag_gemm_plan *plan,
                               struct dagi_hsumma **rest);
void dagi_hsumma_free(struct dagi_hsumma *rest);

#endif

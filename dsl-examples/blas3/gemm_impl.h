/* A product that was asked for. */
#ifndef BLAS3_GEMM_IMPL_H
#define BLAS3_GEMM_IMPL_H

#include "op.h"

#include <dag/blas3.h>

struct gemm {
    dag_context *ctx;
    dag_trans transa, transb;
    dag_dcomplex alpha, beta;
    dag_matrix *A, *B, *C;
    int whole; /* 1: tiles have one size, whatever the setting `split` says */
};

/* inserted.c: arguments are good on all ranks, and there are kt >= 1 steps. */
dag_status dagi_gemm_inserted(const struct gemm *g, int64_t kt);

/* hsumma.c: the pool of a plan on groups, NULL with a message, and what is to be freed behind it, which
 * may be NULL. */
struct dagi_hsumma;
dag_taskpool *dagi_hsumma_pool(const struct gemm *g, const dag_gemm_plan *plan,
                               struct dagi_hsumma **rest);
void dagi_hsumma_free(struct dagi_hsumma *rest);

#endif

/* The pools of a product: which graph runs, on which collections. */
#include "gemm_impl.h"

#include "gemm_A.h"
#include "gemm_C.h"
#include "gemm_S.h"
#include "split_gemm.h"

#include <stdlib.h>

dagi_cut_of dagi_gemm_cut_of(const struct gemm *g)
{
    struct op a = op_of(g->transa, g->A);
    return (dagi_cut_of){DAGI_CUT_GEMM, g->C->prec, g->C->m, g->C->n, a.n, g->C->mb, g->C->nb, a.nb};
}

bool dagi_gemm_cut(const struct gemm *g, dag_split_desc *desc)
{
    if (g->whole || !dag_split_wanted(g->ctx))
        return false;
    const dagi_cut_of of = dagi_gemm_cut_of(g);
    return dagi_cut(g->ctx, &of, 0, desc);
}

bool dagi_gemm_only_scales(const struct gemm *g)
{
    return op_of(g->transa, g->A).nt == 0 || g->C->m == 0 || g->C->n == 0 || g->alpha == 0;
}

dag_taskpool *dagi_gemm_in_a(const struct gemm *g, int64_t parts)
{
    DAGI_MAKERS(gemm_A) make[4] = DAGI_FOUR(gemm_A);
    return make[g->C->prec](g->ctx, g->A, g->B, g->C, op_of(g->transa, g->A).nt, parts,
                            g->transa != DAG_NO_TRANS, g->transb != DAG_NO_TRANS, g->transa,
                            g->transb, g->alpha, g->beta);
}

/* C and op(B) by columns of tiles. */
static dag_taskpool *pool_cut(const struct gemm *g, dag_split_desc *desc)
{
    DAGI_MAKERS(split_gemm) make[4] = DAGI_FOUR(split_gemm);
    struct { dag_split b, c; } *cut = malloc(sizeof *cut);
    dag_taskpool *pool = NULL;
    if (cut == NULL) {
        (void)dag_error(g->ctx, DAG_ERR_NOMEM, "dag_gemm: out of memory");
        return NULL;
    }
    dag_status status = dag_split_view(g->C, desc, &cut->c);
    desc->by_rows = g->transb != DAG_NO_TRANS;
    if (status == DAG_SUCCESS && dag_split_view(g->B, desc, &cut->b) == DAG_SUCCESS)
        pool = make[g->C->prec](g->ctx, g->A, &cut->b, &cut->c, op_of(g->transa, g->A).nt,
                                g->transa != DAG_NO_TRANS, g->transb != DAG_NO_TRANS, g->transa,
                                g->transb, g->alpha, g->beta);
    if (pool != NULL)
        dag_taskpool_keep(pool, cut);
    else
        free(cut);
    return pool;
}

dag_taskpool *dagi_gemm_in_c(const struct gemm *g)
{
    dag_split_desc cut;
    if (dagi_gemm_cut(g, &cut))
        return pool_cut(g, &cut);
    DAGI_MAKERS(gemm_C) make[4] = DAGI_FOUR(gemm_C);
    return make[g->C->prec](g->ctx, g->A, g->B, g->C, op_of(g->transa, g->A).nt,
                            g->transa != DAG_NO_TRANS, g->transb != DAG_NO_TRANS, g->transa,
                            g->transb, g->alpha, g->beta);
}

dag_taskpool *dagi_gemm_planned(const struct gemm *g, const dag_gemm_plan *plan, dag_array **where,
                             struct dagi_hsumma **groups)
{
    DAGI_MAKERS(gemm_S) make[4] = DAGI_FOUR(gemm_S);
    int64_t kt = op_of(g->transa, g->A).nt;
    *where = NULL;
    (void)dag_kernels_init(NULL);
    if (dagi_gemm_only_scales(g))
        return dagi_scale_pool(g->ctx, DAG_GENERAL, 0, g->beta, g->C);
    if (plan->method == DAG_GEMM_STATIONARY_C)
        return dagi_gemm_in_c(g);
    if (plan->method == DAG_GEMM_STATIONARY_A)
        return dagi_gemm_in_a(g, plan->sums);
    if (plan->method == DAG_GEMM_HSUMMA)
        return dagi_hsumma_pool(g, plan, groups);
    const int64_t count[] = {g->C->mt, g->C->nt, kt};
    const int grid[] = {plan->p, plan->q, plan->layers};
    const dag_shape none = {0, 0, 1};
    if (dag_array_new(g->ctx, 3, count, grid, &none, where) != DAG_SUCCESS)
        return NULL;
    int64_t layers = plan->layers < kt ? plan->layers : kt;
    int64_t most = kt / layers + 1, steps = plan->steps < most ? plan->steps : most;
    int64_t ahead = dag_size(g->ctx) == 1 ? kt : steps * layers; /* a rank alone gets no tiles */
    return make[g->C->prec](g->ctx, g->A, g->B, g->C, *where, plan->p, plan->q, layers, kt, ahead,
                            g->transa != DAG_NO_TRANS, g->transb != DAG_NO_TRANS, g->transa,
                            g->transb, g->alpha, g->beta);
}

/* Matrices in slab layout, copies of others if need be. */
#include "check.h"
#include "slabs.h"

#include <string.h>

static dag_status copy_tile(dag_matrix *to, int64_t i, int64_t j, const dag_element *e, void *arg)
{
    const dag_matrix *from = arg;
    int64_t ld;
    const char *source = dag_matrix_at(from, i, j, &ld);
    (void)to;
    for (int64_t c = 0; c < e->shape.n; c++)
        memcpy((char *)e->ptr + (size_t)(c * e->ld) * e->shape.elem,
               source + (size_t)(c * ld) * e->shape.elem, (size_t)e->shape.m * e->shape.elem);
    return DAG_SUCCESS;
}

dag_status dagi_la_slab(dag_context *ctx, dag_matrix *A, dag_matrix **slab)
{
    *slab = A;
    /* What follows works on its memory, which is that of views. */
    dag_status home = dag_resident_drop(ctx, &A->super);
    if (home != DAG_SUCCESS)
        return home;
    if (A->layout == DAG_LAYOUT_SLAB)
        return DAG_SUCCESS;
    *slab = NULL;
    const dag_matrix_desc desc = {.prec = A->prec, .m = A->m, .n = A->n, .mb = A->mb, .nb = A->nb,
                                  .p = (int)A->p, .q = (int)A->q, .layout = DAG_LAYOUT_SLAB,
                                  .name = "slabs of a matrix in tiles"};
    dag_status status = dag_matrix_new(ctx, &desc, slab);
    if (status == DAG_SUCCESS)
        status = dag_matrix_each_local(*slab, copy_tile, A);
    return status;
}

dag_status dagi_la_slab_end(dag_matrix *A, dag_matrix *slab, int changed, dag_status status)
{
    if (slab == A)
        return status;
    if (status == DAG_SUCCESS && changed)
        status = dag_matrix_each_local(A, copy_tile, slab);
    dag_matrix_free(slab);
    return status;
}

dag_status dagi_la_adjoint(dag_context *ctx, const char *routine, dag_matrix *A, int p, int q,
                           dag_matrix **adjoint)
{
    const dag_matrix_desc desc = {.prec = A->prec, .m = A->n, .n = A->m, .mb = A->nb, .nb = A->mb,
                                  .p = p, .q = q, .layout = DAG_LAYOUT_SLAB, .name = "A^H"};
    *adjoint = NULL;
    dag_status status = dagi_la_agreed(ctx, routine, dag_matrix_new(ctx, &desc, adjoint));
    if (status == DAG_SUCCESS)
        status = dag_geadd(ctx, DAG_GENERAL, DAG_CONJ_TRANS, 1, A, 0, *adjoint);
    return status;
}

/* Matrices in slab layout, copies of others if need be, and views of them. */
#include "check.h"
#include "slabs.h"

#include <dag/la.h>

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

/* Local rows or columns of a process among `count` of them in blocks. */
static int64_t local(int64_t count, int64_t block, int64_t of, int64_t me)
{
    int64_t blocks = count / block, rest = count % block;
    if (me < 0)
        return 0;
    int64_t mine = me < blocks ? (blocks - me + of - 1) / of * block : 0;
    return blocks % of == me ? mine + rest : mine;
}

void dagi_la_top(const dag_matrix *A, int64_t m, int64_t n, dag_matrix *top)
{
    *top = *A;
    top->super.last_pool = NULL;
    top->m = m;
    top->n = n;
    top->mt = (m + A->mb - 1) / A->mb;
    top->nt = (n + A->nb - 1) / A->nb;
    top->m_loc = local(m, A->mb, A->p, A->prow);
    top->n_loc = local(n, A->nb, A->q, A->pcol);
    top->owns = 0;
    top->whole = A->whole != NULL ? A->whole : A;
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

/* How good a QR factorisation is. */
#include "la/check.h"
#include "la/pools.h"
#include "la/slabs.h"

#include <dag/la.h>
#include <dag/qr.h>
#include <dag/view.h>

static dag_status make(dag_context *ctx, const dag_matrix *like, int64_t m, int64_t n,
                       dag_layout layout, const char *name, dag_matrix **A)
{
    const dag_matrix_desc desc = {.prec = like->prec, .m = m, .n = n, .mb = like->mb,
                                  .nb = like->nb, .p = (int)like->p, .q = (int)like->q,
                                  .layout = layout, .name = name};
    *A = NULL;
    return dagi_la_agreed(ctx, "dag_geqrf_residual", dag_matrix_new(ctx, &desc, A));
}

/* A := A - Q R, where F holds R. */
static dag_status subtract(dag_context *ctx, dag_matrix *F, dag_matrix *Q, dag_matrix *A)
{
    dag_matrix *slab = NULL, *R = NULL, top;
    dag_status status = make(ctx, F, Q->n, F->n, DAG_LAYOUT_SLAB, "R", &R);
    if (status == DAG_SUCCESS)
        status = dagi_la_agreed(ctx, "dag_geqrf_residual", dagi_la_slab(ctx, F, &slab));
    if (status == DAG_SUCCESS) {
        dag_view_top(slab, Q->n, F->n, &top);
        status = dag_lacpy(ctx, DAG_UPPER, &top, R); /* new matrices are zero */
    }
    if (status == DAG_SUCCESS)
        status = dagi_la_gemm(ctx, DAG_NO_TRANS, DAG_NO_TRANS, -1, Q, R, 1, A);
    dag_matrix_free(R);
    return slab != NULL ? dagi_la_slab_end(F, slab, 0, status) : status;
}

/* ||I - Q^H Q|| */
static dag_status gram(dag_context *ctx, dag_matrix *Q, double *norm)
{
    dag_matrix *G = NULL;
    dag_status status = make(ctx, Q, Q->n, Q->n, DAG_LAYOUT_TILE, "Q^H Q", &G);
    if (status == DAG_SUCCESS)
        status = dag_laset(ctx, DAG_GENERAL, 0, 1, G);
    if (status == DAG_SUCCESS)
        status = dagi_la_gemm(ctx, DAG_CONJ_TRANS, DAG_NO_TRANS, -1, Q, Q, 1, G);
    if (status == DAG_SUCCESS)
        status = dag_lange(ctx, DAG_NORM_ONE, G, norm);
    dag_matrix_free(G);
    return status;
}

dag_status dag_geqrf_residual(dag_context *ctx, dag_matrix *F, const dag_qr *qr, dag_matrix *A,
                              double *residual, double *orthogonality)
{
    dag_matrix *Q = NULL;
    double norm = 0, difference = 0, off = 0;
    dagi_check c;
    dagi_check_start(&c, ctx, "dag_geqrf_residual");
    dagi_check_matrix(&c, "F", F);
    dagi_check_matrix(&c, "A", A);
    dagi_check_present(&c, "qr", qr);
    dagi_check_present(&c, "residual", residual);
    dagi_check_present(&c, "orthogonality", orthogonality);
    dagi_check_same_type(&c, "F", F, "A", A);
    dagi_check_distinct(&c, "A", A, "F", F);
    if (!dagi_check_agreed(&c))
        return c.status;
    *residual = *orthogonality = 0;
    if (F->m == 0 || F->n == 0)
        return c.status;
    double eps = dag_la_eps(F->prec);
    int64_t rank = F->m < F->n ? F->m : F->n, larger = F->m + F->n - rank;
    dag_status status = make(ctx, F, F->m, rank, DAG_LAYOUT_SLAB, "Q", &Q);
    if (status == DAG_SUCCESS)
        status = dag_ungqr(ctx, F, qr, Q);
    if (status == DAG_SUCCESS)
        status = dag_lange(ctx, DAG_NORM_ONE, A, &norm);
    if (status == DAG_SUCCESS)
        status = subtract(ctx, F, Q, A);
    if (status == DAG_SUCCESS)
        status = dag_lange(ctx, DAG_NORM_ONE, A, &difference);
    if (status == DAG_SUCCESS)
        status = gram(ctx, Q, &off);
    *residual = difference == 0 ? 0 : difference / (norm * (double)larger * eps);
    *orthogonality = off / ((double)F->m * eps);
    dag_matrix_free(Q);
    return status;
}

/* Setting, scaling, copying and adding matrices: checks the arguments, picks the graph. */
#include "la/check.h"
#include "la/pools.h"

#include "geadd.h"
#include "laset.h"
#include "scale.h"

dag_taskpool *dagi_scale_pool(dag_context *ctx, dag_uplo uplo, int herm, dag_dcomplex alpha,
                              dag_matrix *A)
{
    DAGI_MAKERS(scale) make[4] = DAGI_FOUR(scale);
    return make[A->prec](ctx, A, uplo == DAG_LOWER, uplo == DAG_UPPER, herm, alpha);
}

dag_status dag_laset(dag_context *ctx, dag_uplo uplo, dag_dcomplex off, dag_dcomplex diag,
                     dag_matrix *A)
{
    DAGI_MAKERS(laset) make[4] = DAGI_FOUR(laset);
    dagi_check c;
    dagi_check_start(&c, ctx, "dag_laset");
    dagi_check_matrix(&c, "A", A);
    dagi_check_triangle(&c, "A", uplo, true, A);
    dagi_check_scalar(&c, "off", off, A);
    dagi_check_scalar(&c, "diag", diag, A);
    if (!dagi_check_agreed(&c))
        return c.status;
    return dag_run(ctx, make[A->prec](ctx, A, uplo == DAG_LOWER, uplo == DAG_UPPER, off, diag));
}

dag_status dag_lascl(dag_context *ctx, dag_uplo uplo, double from, double to, dag_matrix *A)
{
    dagi_check c;
    dagi_check_start(&c, ctx, "dag_lascl");
    dagi_check_matrix(&c, "A", A);
    dagi_check_triangle(&c, "A", uplo, true, A);
    dagi_check_number(&c, "from", from);
    dagi_check_number(&c, "to", to);
    if (from == 0)
        dagi_check_fail(&c, "from is 0; it must be another number");
    if (!dagi_check_agreed(&c))
        return c.status;
    return dag_run(ctx, dagi_scale_pool(ctx, uplo, 0, to / from, A));
}

static void check_add(dagi_check *c, dag_uplo uplo, dag_trans trans, const dag_matrix *A,
                      const dag_matrix *B)
{
    dagi_check_matrix(c, "A", A);
    dagi_check_matrix(c, "B", B);
    dagi_check_trans(c, "trans", trans);
    dagi_check_same_type(c, "A", A, "B", B);
    dagi_check_triangle(c, "B", uplo, true, B);
    dagi_check_distinct(c, "B", B, "A", A);
    if (c->status != DAG_SUCCESS)
        return;
    if (trans == DAG_NO_TRANS) {
        dagi_check_triangle(c, "A", uplo, true, A);
        dagi_check_rhs(c, A, B);
        dagi_check_cut(c, "the columns of A", A->n, A->nb, "those of B", B->n, B->nb);
    } else {
        dag_uplo turned = uplo == DAG_LOWER ? DAG_UPPER : uplo == DAG_UPPER ? DAG_LOWER : uplo;
        dagi_check_triangle(c, "A", turned, true, A);
        dagi_check_cut(c, "the rows of A", A->m, A->mb, "the columns of B", B->n, B->nb);
        dagi_check_cut(c, "the columns of A", A->n, A->nb, "the rows of B", B->m, B->mb);
    }
}

static dag_taskpool *add_pool(dag_context *ctx, dag_uplo uplo, dag_trans trans, dag_dcomplex alpha,
                              dag_matrix *A, dag_dcomplex beta, dag_matrix *B)
{
    DAGI_MAKERS(geadd) make[4] = DAGI_FOUR(geadd);
    if (alpha == 0)
        return dagi_scale_pool(ctx, uplo, 0, beta, B);
    return make[B->prec](ctx, A, B, trans != DAG_NO_TRANS, trans, uplo == DAG_LOWER,
                         uplo == DAG_UPPER, alpha, beta);
}

dag_status dag_geadd(dag_context *ctx, dag_uplo uplo, dag_trans trans, dag_dcomplex alpha,
                     dag_matrix *A, dag_dcomplex beta, dag_matrix *B)
{
    dagi_check c;
    dagi_check_start(&c, ctx, "dag_geadd");
    check_add(&c, uplo, trans, A, B);
    dagi_check_scalar(&c, "alpha", alpha, B);
    dagi_check_scalar(&c, "beta", beta, B);
    if (!dagi_check_agreed(&c))
        return c.status;
    return dag_run(ctx, add_pool(ctx, uplo, trans, alpha, A, beta, B));
}

dag_status dag_lacpy(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *B)
{
    if (uplo == DAG_GENERAL && A != NULL && B != NULL && (A->mb != B->mb || A->nb != B->nb) &&
        A->uplo == DAG_GENERAL && B->uplo == DAG_GENERAL)
        return dag_redistribute(ctx, A, B); /* all ranks see the same tiles */
    dagi_check c;
    dagi_check_start(&c, ctx, "dag_lacpy");
    check_add(&c, uplo, DAG_NO_TRANS, A, B);
    if (!dagi_check_agreed(&c))
        return c.status;
    return dag_run(ctx, add_pool(ctx, uplo, DAG_NO_TRANS, 1, A, 0, B));
}

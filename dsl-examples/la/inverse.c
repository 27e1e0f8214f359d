/* Inverses: checks the arguments, picks the graphs. */
#include "agreed.h"
#include "check.h"
#include "columns.h"
#include "resident.h"

#include <dag/kernels.h>

#include "lauum.h"
#include "trtri.h"

#include <inttypes.h>

enum { ANY = -1 };

static void check_prec(dagi_check *c, int prec, const dag_matrix *A)
{
    dagi_check_present(c, "A", A);
    if (c->status == DAG_SUCCESS && prec != ANY && (int)A->prec != prec)
        dagi_check_fail(c, "A holds '%c' elements, not '%c'", dag_precision_letter(A->prec),
                        dag_precision_letter((dag_precision)prec));
}

/* ---- zeros on the diagonal ----------------------------------------------------------------- */

static dag_status find_zero(dag_matrix *A, int64_t ti, int64_t tj, const dag_element *e,
                            void *first)
{
    double *number = first;
    for (int64_t i = 0; ti == tj && i < e->shape.n; i++) {
        double x[2], at = (double)(ti * A->nb + i + 1);
        dagi_element(A->prec, e->ptr, i + i * e->ld, x);
        if (x[0] == 0 && x[1] == 0 && at < *number)
            *number = at;
    }
    return DAG_SUCCESS;
}

/* Number of the first zero on the diagonal, 0 if there is none. */
static dag_status first_zero(dag_context *ctx, dag_matrix *A, int64_t *number)
{
    double none = (double)A->n + 1, first = none;
    (void)dag_matrix_each_local(A, find_zero, &first);
    dag_status status = dag_allreduce(ctx, DAG_MIN, &first, 1);
    *number = first == none ? 0 : (int64_t)first;
    return status;
}

/* ---- triangles ----------------------------------------------------------------------------- */

/* Arguments are good. */
static dag_status run_trtri(dag_context *ctx, dag_uplo uplo, dag_diag diag, dag_matrix *A,
                            int64_t *info)
{
    static dag_taskpool *(*const make[4])(dag_context *, dag_matrix *, int, dag_diag) = {
        trtri_s_new, trtri_d_new, trtri_c_new, trtri_z_new};
    *info = 0;
    (void)dag_kernels_init(NULL);
    dag_status status = diag == DAG_NON_UNIT ? first_zero(ctx, A, info) : DAG_SUCCESS;
    if (status != DAG_SUCCESS || *info != 0)
        return status;
    return dag_run(ctx, make[A->prec](ctx, A, uplo == DAG_LOWER, diag));
}

static dag_status run_lauum(dag_context *ctx, dag_uplo uplo, dag_matrix *A)
{
    static dag_taskpool *(*const make[4])(dag_context *, dag_matrix *, int) = {
        lauum_s_new, lauum_d_new, lauum_c_new, lauum_z_new};
    (void)dag_kernels_init(NULL);
    return dag_run(ctx, make[A->prec](ctx, A, uplo == DAG_LOWER));
}

static dagi_check check_triangle(dag_context *ctx, const char *routine, int prec, dag_uplo uplo,
                                 const dag_matrix *A)
{
    dagi_check c = dagi_check_start(ctx, routine);
    check_prec(&c, prec, A);
    dagi_check_square(&c, "A", uplo, A);
    return c;
}

static dag_status do_trtri(dag_context *ctx, int prec, dag_uplo uplo, dag_diag diag, dag_matrix *A,
                           int64_t *info)
{
    int64_t zero;
    dagi_check c = check_triangle(ctx, "dag_trtri", prec, uplo, A);
    dagi_check_diag(&c, diag);
    if (!dagi_check_agreed(&c))
        return c.status;
    return run_trtri(ctx, uplo, diag, A, info != NULL ? info : &zero);
}

static dag_status do_lauum(dag_context *ctx, int prec, dag_uplo uplo, dag_matrix *A)
{
    dagi_check c = check_triangle(ctx, "dag_lauum", prec, uplo, A);
    return dagi_check_agreed(&c) ? run_lauum(ctx, uplo, A) : c.status;
}

static dag_status do_potri(dag_context *ctx, int prec, dag_uplo uplo, dag_matrix *A, int64_t *info)
{
    int64_t zero = 0;
    dagi_check c = check_triangle(ctx, "dag_potri", prec, uplo, A);
    if (!dagi_check_agreed(&c))
        return c.status;
    bool kept = dagi_la_keep(ctx, A, DAG_RESIDENT_DEFERRED); /* nobody wants to see the triangle */
    dag_status status = run_trtri(ctx, uplo, DAG_NON_UNIT, A, &zero);
    if (status == DAG_SUCCESS && zero == 0)
        status = run_lauum(ctx, uplo, A);
    status = dagi_la_agreed(ctx, "dag_potri", dagi_la_let_go(ctx, A, kept, status));
    if (info != NULL)
        *info = zero;
    return status;
}

/* ---- general matrices ---------------------------------------------------------------------- */

static void check_pivots(dagi_check *c, const dag_matrix *A, const int64_t *ipiv)
{
    if (c->status == DAG_SUCCESS && A->n > 0)
        dagi_check_present(c, "ipiv", ipiv);
    for (int64_t i = 0; c->status == DAG_SUCCESS && i < A->n; i++)
        if (ipiv[i] < i + 1 || ipiv[i] > A->n)
            dagi_check_fail(c, "ipiv[%" PRId64 "] is %" PRId64 "; it must be between %" PRId64
                            " and %" PRId64, i, ipiv[i], i + 1, A->n);
}

/* A^-1 = U^-1 L^-1 P. What P does to columns is what its inverse does to the rows of the transpose,
 * and there are exchanges of rows. W, as large as A, is zero. */
static dag_status run_getri(dag_context *ctx, dag_matrix *A, dag_matrix *W, const int64_t *ipiv)
{
    dag_status status = dag_lacpy(ctx, DAG_UPPER, A, W);
    if (status == DAG_SUCCESS)
        status = dag_trsm(ctx, DAG_RIGHT, DAG_LOWER, DAG_NO_TRANS, DAG_UNIT, 1, A, W);
    if (status == DAG_SUCCESS)
        status = dag_geadd(ctx, DAG_GENERAL, DAG_TRANS, 1, W, 0, A);
    if (status == DAG_SUCCESS)
        status = dag_lacpy(ctx, DAG_GENERAL, A, W);
    if (status == DAG_SUCCESS)
        status = dag_laswp(ctx, W, A->n, ipiv, 1);
    return status == DAG_SUCCESS ? dag_geadd(ctx, DAG_GENERAL, DAG_TRANS, 1, W, 0, A) : status;
}

static dag_status do_getri(dag_context *ctx, int prec, dag_matrix *A, const int64_t *ipiv,
                           int64_t *info)
{
    int64_t zero = 0;
    dag_matrix *W = NULL;
    dagi_check c = dagi_check_start(ctx, "dag_getri");
    check_prec(&c, prec, A);
    dagi_check_square(&c, "A", DAG_UPPER, A);
    dagi_check_general(&c, "A", A);
    check_pivots(&c, A, ipiv);
    if (c.status == DAG_SUCCESS) {
        const dag_matrix_desc desc = {.prec = A->prec, .m = A->m, .n = A->n, .mb = A->mb,
                                      .nb = A->nb, .p = (int)A->p, .q = (int)A->q,
                                      .layout = DAG_LAYOUT_SLAB, .name = "U^-1 L^-1"};
        c.status = dag_matrix_new(ctx, &desc, &W);
    }
    if (!dagi_check_agreed(&c)) {
        dag_matrix_free(W);
        return c.status;
    }
    dag_status status = run_trtri(ctx, DAG_UPPER, DAG_NON_UNIT, A, &zero);
    if (status == DAG_SUCCESS && zero == 0)
        status = run_getri(ctx, A, W, ipiv);
    if (info != NULL)
        *info = zero;
    dag_matrix_free(W);
    return status;
}

/* ---- entry points -------------------------------------------------------------------------- */

#define ENTRIES(p, PREC)                                                                           \
    dag_status dag_##p##trtri(dag_context *ctx, dag_uplo uplo, dag_diag diag, dag_matrix *A,       \
                              int64_t *info)                                                       \
    {                                                                                              \
        return do_trtri(ctx, PREC, uplo, diag, A, info);                                           \
    }                                                                                              \
    dag_status dag_##p##lauum(dag_context *ctx, dag_uplo uplo, dag_matrix *A)                      \
    {                                                                                              \
        return do_lauum(ctx, PREC, uplo, A);                                                       \
    }                                                                                              \
    dag_status dag_##p##potri(dag_context *ctx, dag_uplo uplo, dag_matrix *A, int64_t *info)       \
    {                                                                                              \
        return do_potri(ctx, PREC, uplo, A, info);                                                 \
    }                                                                                              \
    dag_status dag_##p##getri(dag_context *ctx, dag_matrix *A, const int64_t *ipiv, int64_t *info) \
    {                                                                                              \
        return do_getri(ctx, PREC, A, ipiv, info);                                                 \
    }
ENTRIES(, ANY)
ENTRIES(s, DAG_S)
ENTRIES(d, DAG_D)
ENTRIES(c, DAG_C)
ENTRIES(z, DAG_Z)

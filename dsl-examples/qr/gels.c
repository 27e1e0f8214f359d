/* Least squares and minimum norm by QR factorisation. */
#include "la/agreed.h"
#include "la/slabs.h"

#include <dag/la.h>
#include <dag/qr.h>

#include <inttypes.h>
#include <string.h>

enum { ANY = -1 };

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static dag_status check(dag_context *ctx, int prec, dag_trans *trans, const dag_matrix *A,
                        const dag_matrix *B, const int64_t *info)
{
    dag_status status = dagi_la_present(ctx, "dag_gels", "A", A);
    if (status == DAG_SUCCESS)
        status = dagi_la_present(ctx, "dag_gels", "B", B);
    if (status == DAG_SUCCESS)
        status = dagi_la_present(ctx, "dag_gels", "info", info);
    if (status != DAG_SUCCESS)
        return status;
    if (*trans == DAG_TRANS && !dag_precision_is_complex(A->prec))
        *trans = DAG_CONJ_TRANS;
    if (*trans != DAG_NO_TRANS && *trans != DAG_CONJ_TRANS)
        return dag_error(ctx, DAG_ERR_ARG, "dag_gels: trans is %d; it must be DAG_NO_TRANS, "
                         "DAG_CONJ_TRANS or, for real matrices, DAG_TRANS", (int)*trans);
    if ((prec != ANY && (int)A->prec != prec) || B->prec != A->prec)
        return dag_error(ctx, DAG_ERR_ARG, "dag_gels: A holds '%c' elements, B '%c'; both must hold "
                         "'%c'", dag_precision_letter(A->prec), dag_precision_letter(B->prec),
                         dag_precision_letter(prec != ANY ? (dag_precision)prec : A->prec));
    if (A->uplo != DAG_GENERAL || B->uplo != DAG_GENERAL)
        return dag_error(ctx, DAG_ERR_ARG, "dag_gels: A and B must have all their tiles");
    if (A->mb != A->nb)
        return dag_error(ctx, DAG_ERR_ARG, "dag_gels: the tiles of A are %" PRId64 " x %" PRId64
                         "; they must be square", A->mb, A->nb);
    if (B->m != max(A->m, A->n) || B->mb != A->mb || B->p != A->p)
        return dag_error(ctx, DAG_ERR_ARG, "dag_gels: B has %" PRId64 " rows in tiles of %" PRId64
                         " on %" PRId64 " process rows; needed are %" PRId64 ", %" PRId64 " and %"
                         PRId64, B->m, B->mb, B->p, max(A->m, A->n), A->mb, A->p);
    return DAG_SUCCESS;
}

/* *high is A, or A^H where A is wide, in slab layout. */
static dag_status stand_up(dag_context *ctx, dag_matrix *A, dag_matrix **high)
{
    *high = NULL;
    if (A->m >= A->n)
        return dagi_la_agreed(ctx, "dag_gels", dagi_la_slab(ctx, A, high));
    return dagi_la_adjoint(ctx, "dag_gels", A, (int)A->p, (int)A->q, high);
}

static int is_zero(dag_precision prec, const void *x)
{
    switch (prec) {
    case DAG_S: return *(const float *)x == 0;
    case DAG_D: return *(const double *)x == 0;
    case DAG_C: return *(const dag_scomplex *)x == 0;
    case DAG_Z: return *(const dag_dcomplex *)x == 0;
    }
    return 0;
}

/* The number of the first diagonal element that is exactly zero. */
static dag_status zero_of(dag_matrix *R, int64_t i, int64_t j, const dag_element *e, void *arg)
{
    int64_t *first = arg, rows = min(e->shape.m, e->shape.n);
    for (int64_t r = 0; i == j && r < rows; r++)
        if (is_zero(R->prec, (const char *)e->ptr + (size_t)(r + r * e->ld) * e->shape.elem))
            *first = min(*first, i * R->mb + r + 1);
    return DAG_SUCCESS;
}

static dag_status clear_below(dag_matrix *B, int64_t i, int64_t j, const dag_element *e, void *arg)
{
    const int64_t *rows = arg;
    int64_t keep = max(min(*rows - i * B->mb, e->shape.m), 0);
    (void)j;
    for (int64_t c = 0; c < e->shape.n; c++)
        memset((char *)e->ptr + (size_t)(keep + c * e->ld) * e->shape.elem, 0,
               (size_t)(e->shape.m - keep) * e->shape.elem);
    return DAG_SUCCESS;
}

/* A = high or high^H, factored; b in slab layout. */
static dag_status solve(dag_context *ctx, int minimise, dag_matrix *high, const dag_qr *qr,
                        dag_matrix *b, int64_t *info)
{
    int64_t k = high->n;
    dag_matrix R, top;
    dagi_la_top(high, k, k, &R);
    dagi_la_top(b, k, b->n, &top);
    int64_t found = INT64_C(1) << 52; /* no matrix is that large, and doubles hold it */
    dag_status status = dag_matrix_each_local(&R, zero_of, &found);
    double first = (double)found;
    if (status == DAG_SUCCESS)
        status = dag_allreduce(ctx, DAG_MIN, &first, 1);
    if (status != DAG_SUCCESS)
        return status;
    *info = first < (double)(INT64_C(1) << 52) ? (int64_t)first : 0;
    if (*info != 0)
        return DAG_SUCCESS;
    if (minimise) {
        status = dag_unmqr(ctx, DAG_LEFT, DAG_CONJ_TRANS, high, qr, b);
        return status != DAG_SUCCESS ? status
                                     : dag_trsm(ctx, DAG_LEFT, DAG_UPPER, DAG_NO_TRANS,
                                                DAG_NON_UNIT, 1, &R, &top);
    }
    status = dag_trsm(ctx, DAG_LEFT, DAG_UPPER, DAG_CONJ_TRANS, DAG_NON_UNIT, 1, &R, &top);
    if (status == DAG_SUCCESS)
        status = dag_matrix_each_local(b, clear_below, &k);
    return status == DAG_SUCCESS ? dag_unmqr(ctx, DAG_LEFT, DAG_NO_TRANS, high, qr, b)
                                 : status;
}

static dag_status do_gels(dag_context *ctx, int prec, dag_trans trans, dag_matrix *A, dag_matrix *B,
                          int64_t *info)
{
    dag_matrix *high = NULL, *b = B;
    dag_qr *qr = NULL;
    dag_status status = check(ctx, prec, &trans, A, B, info);
    status = dagi_la_agreed(ctx, "dag_gels", status);
    if (status != DAG_SUCCESS)
        return status;
    *info = 0;
    if (A->m == 0 || A->n == 0 || B->n == 0)
        return B->m > 0 && B->n > 0 ? dag_laset(ctx, DAG_GENERAL, 0, 0, B) : DAG_SUCCESS;
    status = stand_up(ctx, A, &high);
    if (status == DAG_SUCCESS)
        status = dag_geqrf(ctx, high, &qr);
    if (status == DAG_SUCCESS)
        status = dagi_la_agreed(ctx, "dag_gels", dagi_la_slab(ctx, B, &b));
    if (status == DAG_SUCCESS)
        status = solve(ctx, (A->m >= A->n) == (trans == DAG_NO_TRANS), high, qr, b, info);
    dag_qr_free(qr);
    status = dagi_la_slab_end(B, b, 1, status);
    if (A->m >= A->n)
        return dagi_la_slab_end(A, high, 1, status);
    dag_matrix_free(high);
    return status;
}

dag_status dag_gels(dag_context *ctx, dag_trans trans, dag_matrix *A, dag_matrix *B, int64_t *info)
{
    return do_gels(ctx, ANY, trans, A, B, info);
}

#define DEFINE(p, prec)                                                                            \
    dag_status dag_##p##gels(dag_context *ctx, dag_trans trans, dag_matrix *A, dag_matrix *B,      \
                             int64_t *info)                                                        \
    {                                                                                              \
        return do_gels(ctx, prec, trans, A, B, info);                                              \
    }
DEFINE(s, DAG_S)
DEFINE(d, DAG_D)
DEFINE(c, DAG_C)
DEFINE(z, DAG_Z)

/* Least squares and minimum norm by QR factorisation. */
#include "la/check.h"
#include "la/columns.h"
#include "la/slabs.h"

#include <dag/la.h>
#include <dag/qr.h>
#include <dag/view.h>

#include <inttypes.h>
#include <string.h>

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static dagi_check check(dag_context *ctx, dagi_entry entry, dag_trans *trans, const dag_matrix *A,
                        const dag_matrix *B, const int64_t *info)
{
    dagi_check c = dagi_check_start(ctx, entry.name);
    dagi_check_whole(&c, "A", entry.prec, A);
    dagi_check_matrix(&c, "B", B);
    dagi_check_same_type(&c, "A", A, "B", B);
    dagi_check_general(&c, "B", B);
    dagi_check_present(&c, "info", info);
    dagi_check_adjoint(&c, A, trans);
    dagi_check_square_tiles(&c, "A", A);
    dagi_check_distinct(&c, "B", B, "A", A);
    if (c.status == DAG_SUCCESS && (B->m != max(A->m, A->n) || B->mb != A->mb || B->p != A->p))
        dagi_check_fail(&c, "B has %" PRId64 " rows in tiles of %" PRId64 " on %" PRId64
                        " process rows; needed are %" PRId64 ", %" PRId64 " and %" PRId64, B->m,
                        B->mb, B->p, max(A->m, A->n), A->mb, A->p);
    return c;
}

/* *high is A, or A^H where A is wide, in slab layout. */
static dag_status stand_up(dag_context *ctx, const char *routine, dag_matrix *A, dag_matrix **high)
{
    *high = NULL;
    if (A->m >= A->n)
        return dagi_la_agreed(ctx, routine, dagi_la_slab(ctx, A, high));
    return dagi_la_adjoint(ctx, routine, A, (int)A->p, (int)A->q, high);
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
    dag_view_top(high, k, k, &R);
    dag_view_top(b, k, b->n, &top);
    dag_status status = dagi_first_zero(ctx, &R, info);
    if (status != DAG_SUCCESS || *info != 0)
        return status;
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

static dag_status do_gels(dag_context *ctx, dagi_entry entry, dag_trans trans, dag_matrix *A,
                          dag_matrix *B, int64_t *info)
{
    dag_matrix *high = NULL, *b = B;
    dag_qr *qr = NULL;
    dagi_check c = check(ctx, entry, &trans, A, B, info);
    if (!dagi_check_agreed(&c))
        return c.status;
    *info = 0;
    if (A->m == 0 || A->n == 0 || B->n == 0)
        return B->m > 0 && B->n > 0 ? dag_laset(ctx, DAG_GENERAL, 0, 0, B) : DAG_SUCCESS;
    dag_status status = stand_up(ctx, entry.name, A, &high);
    if (status == DAG_SUCCESS)
        status = dag_geqrf(ctx, high, &qr);
    if (status == DAG_SUCCESS)
        status = dagi_la_agreed(ctx, entry.name, dagi_la_slab(ctx, B, &b));
    if (status == DAG_SUCCESS)
        status = solve(ctx, (A->m >= A->n) == (trans == DAG_NO_TRANS), high, qr, b, info);
    dag_qr_free(qr);
    status = dagi_la_slab_end(B, b, 1, status);
    if (A->m >= A->n)
        return dagi_la_slab_end(A, high, 1, status);
    dag_matrix_free(high);
    return status;
}

DAGI_ENTRIES(dag_status, gels,
             (dag_context *ctx, dag_trans trans, dag_matrix *A, dag_matrix *B, int64_t *info),
             do_gels(ctx, entry, trans, A, B, info))

/* Least squares and minimum norm by QR factorisation. */
#include "la/check.h"
#include "la/columns.h"
#include "la/estimate.h"
#include "la/numbers.h"
#include "la/slabs.h"

#include <dag/la.h>
#include <dag/qr.h>
#include <dag/view.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check(dagi_check *c, dag_context *ctx, dagi_entry entry, dag_trans *trans, const dag_matrix *A,
                        const dag_matrix *B, const int64_t *info)
{
    dagi_check_start(c, ctx, entry.name);
    dagi_check_whole(c, "A", entry.prec, A);
    dagi_check_matrix(c, "B", B);
    dagi_check_same_type(c, "A", A, "B", B);
    dagi_check_general(c, "B", B);
    dagi_check_present(c, "info", info);
    dagi_check_adjoint(c, A, trans);
    dagi_check_square_tiles(c, "A", A);
    dagi_check_distinct(c, "B", B, "A", A);
    if (c->status == DAG_SUCCESS && (B->m != dagi_most(A->m, A->n) || B->mb != A->mb || B->p != A->p))
        dagi_check_fail(c, "B has %" PRId64 " rows in tiles of %" PRId64 " on %" PRId64
                        " process rows; needed are %" PRId64 ", %" PRId64 " and %" PRId64, B->m,
                        B->mb, B->p, dagi_most(A->m, A->n), A->mb, A->p);
}

/* *high is A, or A^H where A is wide, and *b is B, in slab layout. `mine`: what has happened on this rank. */
static dag_status stand_up(dag_context *ctx, const char *routine, dag_matrix *A, dag_matrix *B,
                           dag_status mine, dag_matrix **high, dag_matrix **b)
{
    if (mine == DAG_SUCCESS)
        mine = dagi_la_slab(ctx, B, b);
    if (mine == DAG_SUCCESS && A->m >= A->n)
        mine = dagi_la_slab(ctx, A, high);
    mine = dagi_la_agreed(ctx, routine, mine);
    return mine == DAG_SUCCESS && A->m < A->n
               ? dagi_la_adjoint(ctx, routine, A, (int)A->p, (int)A->q, high)
               : mine;
}

static dag_status clear_below(dag_matrix *B, int64_t i, int64_t j, const dag_element *e, void *arg)
{
    const int64_t *rows = arg;
    int64_t keep = dagi_most(dagi_least(*rows - i * B->mb, e->shape.m), 0);
    (void)j;
    for (int64_t c = 0; c < e->shape.n; c++)
        memset((char *)e->ptr + (size_t)(keep + c * e->ld) * e->shape.elem, 0,
               (size_t)(e->shape.m - keep) * e->shape.elem);
    return DAG_SUCCESS;
}

/* As in LAPACK the solution with a matrix of zeros is zero, and nothing is wrong. */
static dag_status solve_zeros(dag_context *ctx, dag_matrix *high, dag_matrix *b, int64_t *info)
{
    double largest;
    dag_status status = dag_lange(ctx, DAG_NORM_MAX, high, &largest);
    if (status != DAG_SUCCESS || largest != 0)
        return status;
    *info = 0;
    return dag_laset(ctx, DAG_GENERAL, 0, 0, b);
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
    if (status == DAG_SUCCESS && *info == 1)
        return solve_zeros(ctx, high, b, info);
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

/* What is asked of A and the solution besides it. */
typedef struct worth {
    double *rcond;       /* NULL: nothing */
    double seconds;      /* that all of this took */
    int bounds;          /* 1: of errors as well */
    double *ferr;        /* of each right-hand side, with bounds; may be NULL */
    double *rhs, *rest;  /* with bounds: two-norms of the columns of B, and of their residuals */
    double *room;        /* that these take */
} worth;

/* Two-norms of what B holds from row `from` on; X has been found when they are those of residuals. */
static dag_status weigh(dag_context *ctx, worth *w, dag_matrix *b, int64_t from, double *norm)
{
    if (!w->bounds)
        return DAG_SUCCESS;
    double start = dag_seconds(ctx);
    dag_status status = dagi_column_norms(ctx, b, from, b->m, norm, w->room + 2 * b->n);
    w->seconds += dag_seconds(ctx) - start;
    return status;
}

static dag_status make_room(dag_context *ctx, const char *routine, worth *w, int64_t count)
{
    if (!w->bounds)
        return DAG_SUCCESS;
    w->room = calloc(4 * (size_t)count + 1, sizeof(double));
    if (w->room == NULL)
        return dag_error(ctx, DAG_ERR_NOMEM, "%s: no memory for bounds", routine);
    w->rhs = w->room;
    w->rest = w->room + count;
    return DAG_SUCCESS;
}

/*
 * ||x - true x|| / ||x|| in two-norms, by rcond. Least squares: E. Anderson et al., LAPACK Users' Guide,
 * 3rd ed., 4.5.1: b = A x + r, and theta is the angle between b and A x. Least norm: J. W. Demmel and N. J.
 * Higham, SIAM J. Matrix Anal. Appl. 14(1), 1993. Both leave a factor open that grows slowly with m and n:
 * after the rule of thumb for rounding errors (Higham, Accuracy and Stability, 2nd ed., 2.8) eps here has
 * one of 2 sqrt(max(m, n)).
 */
static double forward_error(double eps, double rcond, int minimise, int64_t surplus, double rhs,
                            double rest)
{
    double condition = 1 / rcond, sine = rhs > 0 ? fmin(rest / rhs, 1) : 0;
    if (isnan(rcond) || isnan(rhs) || isnan(rest))
        return NAN;
    if (rcond == 0)
        return INFINITY;
    if (!minimise)
        return eps * (double)dagi_least(3, surplus + 2) * condition;
    double cosine = fmax(sqrt((1 - sine) * (1 + sine)), eps);
    return eps * (2 * condition / cosine + sine / cosine * condition * condition);
}

/* high is A or its adjoint, whatever is not wider than high. */
static void bound(const dag_matrix *high, int minimise, int64_t info, const dag_matrix *b,
                  const worth *w)
{
    double eps = sqrt((double)high->m) * dag_la_eps(high->prec);
    for (int64_t j = 0; w->ferr != NULL && j < b->n; j++)
        w->ferr[j] = info != 0 ? INFINITY
                               : forward_error(eps, *w->rcond, minimise, high->m - high->n, w->rhs[j],
                                               w->rest[j]);
}

static dag_status judge(dag_context *ctx, const char *routine, const dag_matrix *high, int64_t info,
                        worth *w)
{
    dag_matrix R;
    *w->rcond = 0;
    if (info != 0)
        return DAG_SUCCESS;
    dag_view_top(high, high->n, high->n, &R);
    (void)dag_barrier(ctx);
    double start = dag_seconds(ctx);
    dag_status status = dagi_la_triangle_rcond(ctx, routine, &R, w->rcond);
    (void)dag_barrier(ctx);
    w->seconds += dag_seconds(ctx) - start;
    return status;
}

static dag_status run(dag_context *ctx, const char *routine, dag_trans trans, dag_matrix *A,
                      dag_matrix *B, worth *w, int64_t *info)
{
    dag_matrix *high = NULL, *b = B;
    dag_qr *qr = NULL;
    int minimise = (A->m >= A->n) == (trans == DAG_NO_TRANS);
    *info = 0;
    if (w->rcond != NULL)
        *w->rcond = A->m == 0 || A->n == 0 ? 1 : NAN;
    for (int64_t j = 0; w->ferr != NULL && j < B->n; j++)
        w->ferr[j] = 0;
    if (A->m == 0 || A->n == 0 || B->n == 0)
        return B->m > 0 && B->n > 0 ? dag_laset(ctx, DAG_GENERAL, 0, 0, B) : DAG_SUCCESS;
    dag_status status = make_room(ctx, routine, w, B->n);
    status = stand_up(ctx, routine, A, B, status, &high, &b);
    if (status == DAG_SUCCESS)
        status = dag_geqrf(ctx, high, &qr);
    if (status == DAG_SUCCESS && minimise)
        status = weigh(ctx, w, b, 0, w->rhs);
    if (status == DAG_SUCCESS)
        status = solve(ctx, minimise, high, qr, b, info);
    if (status == DAG_SUCCESS && minimise && *info == 0)
        status = weigh(ctx, w, b, high->n, w->rest);
    if (status == DAG_SUCCESS && w->rcond != NULL)
        status = judge(ctx, routine, high, *info, w);
    if (status == DAG_SUCCESS && w->bounds)
        bound(high, minimise, *info, b, w);
    free(w->room);
    dag_qr_free(qr);
    status = dagi_la_slab_end(B, b, 1, status);
    if (A->m >= A->n)
        return dagi_la_slab_end(A, high, 1, status);
    dag_matrix_free(high);
    return status;
}

static dag_status do_gels(dag_context *ctx, dagi_entry entry, dag_trans trans, dag_matrix *A,
                          dag_matrix *B, int64_t *info)
{
    worth none = {0};
    dagi_check c;
    check(&c, ctx, entry, &trans, A, B, info);
    return dagi_check_agreed(&c) ? run(ctx, entry.name, trans, A, B, &none, info) : c.status;
}

static dag_status judged(dag_context *ctx, dagi_entry entry, dag_trans trans, dag_matrix *A,
                         dag_matrix *B, worth w, double *seconds, int64_t *info)
{
    dagi_check c;
    check(&c, ctx, entry, &trans, A, B, info);
    dagi_check_present(&c, "rcond", w.rcond);
    if (!dagi_check_agreed(&c))
        return c.status;
    dag_status status = run(ctx, entry.name, trans, A, B, &w, info);
    if (seconds != NULL)
        *seconds = w.seconds;
    return status;
}

DAGI_ENTRIES(dag_status, gels_rcond,
             (dag_context *ctx, dag_trans trans, dag_matrix *A, dag_matrix *B, double *rcond,
              double *seconds, int64_t *info),
             judged(ctx, entry, trans, A, B, (worth){.rcond = rcond}, seconds, info))
DAGI_ENTRIES(dag_status, gels_bounds,
             (dag_context *ctx, dag_trans trans, dag_matrix *A, dag_matrix *B, double *ferr,
              double *rcond, double *seconds, int64_t *info),
             judged(ctx, entry, trans, A, B, (worth){.rcond = rcond, .bounds = 1, .ferr = ferr},
                    seconds, info))
DAGI_ENTRIES(dag_status, gels,
             (dag_context *ctx, dag_trans trans, dag_matrix *A, dag_matrix *B, int64_t *info),
             do_gels(ctx, entry, trans, A, B, info))

/*
 * Solution in mixed precision: factorisation in single precision, refinement in double precision,
 * and double precision throughout where that does not lead to the end.
 *
 * Langou, Langou, Luszczek, Kurzak, Buttari and Dongarra, 2006; the rules are those of LAPACK's
 * dsgesv and dsposv, with one exception: a residual that is not a number ends the refinement,
 * while LAPACK's comparison takes it for small.
 */
#include "check.h"
#include "columns.h"
#include "pools.h"
#include "resident.h"

#include <dag/kernels.h>

#include "convert.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { STEPS = 30 }; /* LAPACK's ITERMAX; its BWDMAX is 1 */

typedef struct mixed {
    dag_context *ctx;
    const char *routine;
    int prec;       /* the type that is wanted, or DAGI_ANY */
    dag_uplo uplo;  /* DAG_GENERAL: LU; else Cholesky */
    dag_matrix *A, *B, *X;
    int64_t *ipiv;
    dag_matrix *S;  /* A in single precision, then its factors */
    dag_matrix *Y;  /* right-hand sides and solutions in single precision */
    dag_matrix *R;  /* residuals */
    double *size;   /* of each column of X, then of each of R */
    double bound;   /* of their quotient */
} mixed;

/* ---- arguments and memory ---------------------------------------------------------------- */

static void check(dagi_check *c, const mixed *s, const int64_t *info)
{
    dagi_check_start(c, s->ctx, s->routine);
    dagi_check_matrix(c, "A", s->A);
    dagi_check_matrix(c, "B", s->B);
    dagi_check_matrix(c, "X", s->X);
    dagi_check_present(c, "info", info);
    if (c->status == DAG_SUCCESS && s->A->m > 0 && s->uplo == DAG_GENERAL)
        dagi_check_present(c, "ipiv", s->ipiv);
    if (c->status != DAG_SUCCESS)
        return;
    if (s->prec == DAGI_ANY ? dag_precision_real(s->A->prec) != DAG_D : (int)s->A->prec != s->prec)
        dagi_check_fail(c, "A holds '%c' elements", dag_precision_letter(s->A->prec));
    if (s->uplo == DAG_GENERAL) {
        dagi_check_order(c, "A", s->A);
        dagi_check_general(c, "A", s->A);
        dagi_check_cut(c, "the rows of A", s->A->m, s->A->mb, "its columns", s->A->n, s->A->nb);
    } else {
        dagi_check_square(c, "A", s->uplo, s->A);
    }
    dagi_check_solution(c, s->A, s->B, s->X);
    dagi_check_distinct(c, "B", s->B, "A", s->A);
}

static dag_status like(mixed *s, const dag_matrix *A, dag_precision prec, dag_uplo uplo,
                       dag_layout layout, const char *name, dag_matrix **made)
{
    const dag_matrix_desc desc = {.prec = prec, .m = A->m, .n = A->n, .mb = A->mb, .nb = A->nb,
                                  .p = (int)A->p, .q = (int)A->q, .layout = layout, .uplo = uplo,
                                  .name = name};
    return dag_matrix_new(s->ctx, &desc, made);
}

static dag_status allocate(mixed *s)
{
    dag_precision single = s->A->prec == DAG_Z ? DAG_C : DAG_S;
    /* slabs are factored and solved with in place by LU, tiles by Cholesky */
    dag_layout layout = s->uplo == DAG_GENERAL ? DAG_LAYOUT_SLAB : DAG_LAYOUT_TILE;
    dag_status status = like(s, s->A, single, s->uplo, layout, "A in single precision", &s->S);
    if (status == DAG_SUCCESS)
        status = like(s, s->B, single, DAG_GENERAL, layout, "B in single precision", &s->Y);
    if (status == DAG_SUCCESS)
        status = like(s, s->B, s->B->prec, DAG_GENERAL, s->B->layout, "residuals", &s->R);
    s->size = malloc(2 * (size_t)s->B->n * sizeof(*s->size) + 1);
    if (status == DAG_SUCCESS && s->size == NULL)
        status = dag_error(s->ctx, DAG_ERR_NOMEM, "%s: no memory for norms", s->routine);
    return dagi_la_agreed(s->ctx, s->routine, status);
}

/* ---- steps -------------------------------------------------------------------------------- */

/* T := F in the other precision. *info = 1 when a number does not fit; may be NULL. */
static dag_status convert(mixed *s, dag_uplo uplo, dag_matrix *F, dag_matrix *T, int64_t *info)
{
    int narrow = dag_precision_real(F->prec) == DAG_D;
    int parts = dag_precision_is_complex(F->prec) ? 2 : 1;
    return dagi_run_info(s->ctx, convert_new(s->ctx, &F->super, &T->super, F->mt, F->nt,
                                             uplo == DAG_LOWER, uplo == DAG_UPPER, narrow, parts),
                         info);
}

static dag_status infinity_norm(mixed *s, dag_matrix *A, double *norm)
{
    return s->uplo == DAG_GENERAL ? dag_lange(s->ctx, DAG_NORM_INF, A, norm)
                                  : dag_lanhe(s->ctx, DAG_NORM_INF, s->uplo, A, norm);
}

/* The norm of A in single precision does as well, and half as much is read for it; it may overflow,
 * though. */
static dag_status set_bound(mixed *s)
{
    double norm;
    dag_status status = infinity_norm(s, s->S, &norm);
    if (status == DAG_SUCCESS && !isfinite(norm))
        status = infinity_norm(s, s->A, &norm);
    s->bound = norm * (DBL_EPSILON / 2) * sqrt((double)s->A->n);
    return status;
}

static dag_status factor(mixed *s, dag_matrix *A, int64_t *info)
{
    return s->uplo == DAG_GENERAL ? dag_getrf(s->ctx, A, s->ipiv, info)
                                  : dag_potrf(s->ctx, s->uplo, A, info);
}

static dag_status solve(mixed *s, dag_matrix *A, dag_matrix *X)
{
    return s->uplo == DAG_GENERAL ? dag_getrs(s->ctx, DAG_NO_TRANS, A, s->ipiv, X)
                                  : dag_potrs(s->ctx, s->uplo, A, X);
}

/* R := B - A X; *small: 1 if it is small enough in all columns, 0 if not, -1 if it never will. */
static dag_status residual(mixed *s, int *small)
{
    int64_t nrhs = s->B->n;
    dag_status status = dag_lacpy(s->ctx, DAG_GENERAL, s->B, s->R);
    if (status == DAG_SUCCESS)
        status = s->uplo == DAG_GENERAL
                     ? dagi_la_gemm(s->ctx, DAG_NO_TRANS, DAG_NO_TRANS, -1, s->A, s->X, 1, s->R)
                     : dag_hemm(s->ctx, DAG_LEFT, s->uplo, -1, s->A, s->X, 1, s->R);
    for (int64_t j = 0; j < 2 * nrhs; j++)
        s->size[j] = 0;
    dagi_column_maxima(s->X, s->size);
    dagi_column_maxima(s->R, s->size + nrhs);
    if (status == DAG_SUCCESS)
        status = dag_allreduce(s->ctx, DAG_MAX, s->size, 2 * nrhs);
    *small = 1;
    for (int64_t j = 0; j < nrhs && *small >= 0; j++) {
        double x = s->size[j], r = s->size[nrhs + j];
        if (!isfinite(x) || isnan(r))
            *small = -1;
        else if (!(r <= x * s->bound))
            *small = 0;
    }
    return status;
}

/* X += what the factors in single precision say of R. *fits = 0 when R does not fit them. */
static dag_status correct(mixed *s, int *fits)
{
    int64_t over = 0;
    dag_status status = convert(s, DAG_GENERAL, s->R, s->Y, &over);
    *fits = over == 0;
    if (status != DAG_SUCCESS || !*fits)
        return status;
    status = solve(s, s->S, s->Y);
    if (status == DAG_SUCCESS)
        status = convert(s, DAG_GENERAL, s->Y, s->R, NULL);
    if (status == DAG_SUCCESS)
        status = dag_geadd(s->ctx, DAG_GENERAL, DAG_NO_TRANS, 1, s->R, 1, s->X);
    return status;
}

/* The factors in single precision and a first X; *iter < 0 when they are not to be had. */
static dag_status start(mixed *s, int *iter)
{
    int64_t over = 0, info = 0;
    dag_status status = convert(s, DAG_GENERAL, s->B, s->Y, &over);
    if (status == DAG_SUCCESS && over == 0)
        status = convert(s, s->uplo, s->A, s->S, &over);
    if (status == DAG_SUCCESS && over == 0)
        status = set_bound(s);
    if (status == DAG_SUCCESS && over == 0)
        status = factor(s, s->S, &info);
    *iter = over != 0 ? DAG_MIXED_OVERFLOW : info != 0 ? DAG_MIXED_FACTOR : 0;
    if (status != DAG_SUCCESS || *iter < 0)
        return status;
    status = solve(s, s->S, s->Y);
    return status == DAG_SUCCESS ? convert(s, DAG_GENERAL, s->Y, s->X, NULL) : status;
}

static dag_status refine(mixed *s, int *iter)
{
    int small = 0, fits = 1;
    dag_status status = start(s, iter);
    if (status != DAG_SUCCESS || *iter < 0)
        return status;
    status = residual(s, &small);
    for (*iter = 0; status == DAG_SUCCESS && small == 0 && fits && *iter < STEPS; ++*iter) {
        status = correct(s, &fits);
        if (status == DAG_SUCCESS && fits)
            status = residual(s, &small);
    }
    if (small != 1)
        *iter = fits ? DAG_MIXED_DIVERGED : DAG_MIXED_OVERFLOW;
    return status;
}

/* Double precision throughout. */
static dag_status fall_back(mixed *s, int64_t *info)
{
    dag_status status = factor(s, s->A, info);
    if (status != DAG_SUCCESS || *info != 0)
        return status;
    status = dag_lacpy(s->ctx, DAG_GENERAL, s->B, s->X);
    return status == DAG_SUCCESS ? solve(s, s->A, s->X) : status;
}

static dag_status run(mixed s, int *iter, int64_t *info)
{
    int steps = 0;
    dagi_check c;
    check(&c, &s, info);
    if (!dagi_check_agreed(&c))
        return c.status;
    *info = 0;
    (void)dag_kernels_init(NULL);
    dag_status status = s.A->n > 0 ? allocate(&s) : DAG_SUCCESS;
    if (status == DAG_SUCCESS && s.A->n > 0) {
        bool kept = dagi_la_keep(s.ctx, s.A, DAG_RESIDENT_SAVED);
        /* Until they are freed: nobody wants to see them. */
        (void)dagi_la_keep(s.ctx, s.S, DAG_RESIDENT_DEFERRED);
        (void)dagi_la_keep(s.ctx, s.Y, DAG_RESIDENT_DEFERRED);
        status = dagi_la_let_go(s.ctx, s.A, kept, refine(&s, &steps));
    }
    dag_matrix_free(s.S);
    dag_matrix_free(s.Y);
    dag_matrix_free(s.R);
    free(s.size);
    if (status == DAG_SUCCESS && steps < 0)
        status = fall_back(&s, info);
    if (iter != NULL)
        *iter = steps;
    return status;
}

/* ---- entry points ------------------------------------------------------------------------- */

#define GESV(name, PREC)                                                                           \
    dag_status name(dag_context *ctx, dag_matrix *A, int64_t *ipiv, dag_matrix *B, dag_matrix *X,  \
                    int *iter, int64_t *info)                                                      \
    {                                                                                              \
        return run((mixed){.ctx = ctx, .routine = #name, .prec = PREC, .uplo = DAG_GENERAL,        \
                           .A = A, .B = B, .X = X, .ipiv = ipiv}, iter, info);                     \
    }
GESV(dag_dsgesv, DAG_D)
GESV(dag_zcgesv, DAG_Z)
GESV(dag_gesv_mixed, DAGI_ANY)

/* DAG_GENERAL as a triangle is refused here, since it has another meaning above. */
static dag_status posv(mixed s, int *iter, int64_t *info)
{
    dagi_check c;
    dagi_check_start(&c, s.ctx, s.routine);
    dagi_check_uplo(&c, s.uplo);
    return dagi_check_agreed(&c) ? run(s, iter, info) : c.status;
}

#define POSV(name, PREC)                                                                           \
    dag_status name(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *B, dag_matrix *X,  \
                    int *iter, int64_t *info)                                                      \
    {                                                                                              \
        return posv((mixed){.ctx = ctx, .routine = #name, .prec = PREC, .uplo = uplo, .A = A,      \
                            .B = B, .X = X}, iter, info);                                          \
    }
POSV(dag_dsposv, DAG_D)
POSV(dag_zcposv, DAG_Z)
POSV(dag_posv_mixed, DAGI_ANY)

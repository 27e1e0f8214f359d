/* Condition of a matrix from its factors, after LAPACK's gecon, pocon and trcon. */
#include "check.h"
#include "estimate.h"

#include <math.h>

typedef struct condition {
    dag_context *ctx;
    dagi_entry entry;
    dag_norm norm;
    dag_uplo uplo; /* DAG_GENERAL: LU; else Cholesky */
    dag_matrix *F;
    const int64_t *ipiv;
    double anorm;
    double *rcond;
} condition;

static void check(dagi_check *c, const condition *s)
{
    dagi_check_start(c, s->ctx, s->entry.name);
    dagi_check_typed(c, "F", s->entry.prec, s->F);
    dagi_check_present(c, "rcond", s->rcond);
    dagi_check_norm(c, s->norm, DAG_NORM_ONE, DAG_NORM_INF);
    dagi_check_number(c, "anorm", s->anorm);
    if (s->anorm < 0)
        dagi_check_fail(c, "anorm is %g; no norm is negative", s->anorm);
    if (c->status != DAG_SUCCESS)
        return;
    if (s->uplo == DAG_GENERAL) {
        dagi_check_general(c, "F", s->F);
        if (s->F->n > 0)
            dagi_check_present(c, "ipiv", s->ipiv);
    }
    dagi_check_square(c, "F", s->uplo == DAG_GENERAL ? DAG_UPPER : s->uplo, s->F);
}

/* M is the inverse, or its adjoint: the infinity norm of a matrix is the one-norm of that. */
static dag_status solve(void *arg, int adjoint, dag_matrix *X)
{
    const condition *s = arg;
    int turned = (adjoint != 0) != (s->norm == DAG_NORM_INF);
    if (s->uplo != DAG_GENERAL)
        return dag_potrs(s->ctx, s->uplo, s->F, X);
    return dag_getrs(s->ctx, turned ? DAG_CONJ_TRANS : DAG_NO_TRANS, s->F, s->ipiv, X);
}

static dag_status solve_triangle(void *arg, int adjoint, dag_matrix *X)
{
    const condition *s = arg;
    return dag_trsm(s->ctx, DAG_LEFT, DAG_UPPER, adjoint ? DAG_CONJ_TRANS : DAG_NO_TRANS,
                    DAG_NON_UNIT, 1, s->F, X);
}

static dag_status estimate(condition *s, dagi_la_operator inverse_of)
{
    dag_matrix *X = NULL;
    double inverse = 0;
    *s->rcond = s->F->n == 0;
    if (s->F->n == 0 || s->anorm == 0)
        return DAG_SUCCESS;
    const dag_matrix_desc desc = {.prec = s->F->prec, .m = s->F->n, .n = DAGI_LA_PROBES,
                                  .mb = s->F->mb, .nb = DAGI_LA_PROBES, .p = (int)s->F->p,
                                  .q = (int)s->F->q, .layout = DAG_LAYOUT_SLAB,
                                  .name = "vectors of an estimate"};
    dag_status status = dag_matrix_new(s->ctx, &desc, &X);
    status = dagi_la_estimate_one(s->ctx, status, inverse_of, s, X, &inverse);
    if (status == DAG_SUCCESS && isfinite(inverse) && inverse > 0)
        *s->rcond = 1 / inverse / s->anorm;
    dag_matrix_free(X);
    return status;
}

static dag_status run(condition s)
{
    dagi_check c;
    check(&c, &s);
    return dagi_check_agreed(&c) ? estimate(&s, solve) : c.status;
}

dag_status dagi_la_triangle_rcond(dag_context *ctx, const char *routine, dag_matrix *R,
                                  double *rcond)
{
    condition s = {.ctx = ctx, .entry = {.name = routine}, .F = R, .rcond = rcond};
    dag_status status =
        dag_lantr(ctx, DAG_NORM_ONE, DAG_UPPER, DAG_NON_UNIT, R, &s.anorm);
    *rcond = NAN;
    return status == DAG_SUCCESS && isfinite(s.anorm) ? estimate(&s, solve_triangle) : status;
}

static dag_status gecon(dag_context *ctx, dagi_entry entry, dag_norm norm, dag_matrix *F,
                        const int64_t *ipiv, double anorm, double *rcond)
{
    return run((condition){.ctx = ctx, .entry = entry, .norm = norm,
                           .uplo = DAG_GENERAL, .F = F, .ipiv = ipiv, .anorm = anorm,
                           .rcond = rcond});
}

static dag_status pocon(dag_context *ctx, dagi_entry entry, dag_uplo uplo, dag_matrix *F,
                        double anorm, double *rcond)
{
    dagi_check c;
    dagi_check_start(&c, ctx, entry.name);
    dagi_check_uplo(&c, uplo); /* DAG_GENERAL has another meaning in run() */
    if (!dagi_check_agreed(&c))
        return c.status;
    return run((condition){.ctx = ctx, .entry = entry, .norm = DAG_NORM_ONE,
                           .uplo = uplo, .F = F, .anorm = anorm, .rcond = rcond});
}

DAGI_ENTRIES(dag_status, gecon,
             (dag_context *ctx, dag_norm norm, dag_matrix *F, const int64_t *ipiv, double anorm,
              double *rcond),
             gecon(ctx, entry, norm, F, ipiv, anorm, rcond))
DAGI_ENTRIES(dag_status, pocon,
             (dag_context *ctx, dag_uplo uplo, dag_matrix *F, double anorm, double *rcond),
             pocon(ctx, entry, uplo, F, anorm, rcond))

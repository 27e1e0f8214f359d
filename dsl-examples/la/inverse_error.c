/* What an inverse is worth: a bound of its error by its residual. */
#include "check.h"
#include "estimate.h"
#include "pools.h"

typedef struct inverse {
    dag_context *ctx;
    dagi_entry entry;
    dag_uplo uplo;     /* DAG_GENERAL, or the triangle that is given of Hermitian matrices */
    dag_matrix *A, *X; /* X is to be the inverse of A */
    dag_matrix *Y;     /* workspace */
    double *error;
} inverse;

static void check(dagi_check *c, const inverse *s)
{
    dagi_check_start(c, s->ctx, s->entry.name);
    dagi_check_typed(c, "A", s->entry.prec, s->A);
    dagi_check_matrix(c, "X", s->X);
    dagi_check_present(c, "error", s->error);
    if (c->status != DAG_SUCCESS)
        return;
    if (s->uplo == DAG_GENERAL) {
        dagi_check_general(c, "A", s->A);
        dagi_check_general(c, "X", s->X);
    }
    dag_uplo triangle = s->uplo == DAG_GENERAL ? DAG_UPPER : s->uplo;
    dagi_check_square(c, "A", triangle, s->A);
    dagi_check_square(c, "X", triangle, s->X);
    dagi_check_same_type(c, "A", s->A, "X", s->X);
    dagi_check_cut(c, "the rows of A", s->A->m, s->A->mb, "those of X", s->X->m, s->X->mb);
}

static dag_status norm(const inverse *s, dag_matrix *M, double *value)
{
    return s->uplo == DAG_GENERAL ? dag_lange(s->ctx, DAG_NORM_ONE, M, value)
                                  : dag_lanhe(s->ctx, DAG_NORM_ONE, s->uplo, M, value);
}

/* to := M from + beta to, or M^H from + beta to. */
static dag_status multiply(const inverse *s, int adjoint, dag_matrix *M, dag_matrix *from,
                           dag_dcomplex beta, dag_matrix *to)
{
    if (s->uplo != DAG_GENERAL)
        return dag_hemm(s->ctx, DAG_LEFT, s->uplo, 1, M, from, beta, to);
    return dagi_la_gemm(s->ctx, adjoint ? DAG_CONJ_TRANS : DAG_NO_TRANS, DAG_NO_TRANS, 1, M, from, beta,
                    to);
}

/* V := (A X - 1) V, or its adjoint. */
static dag_status residual(void *arg, int adjoint, dag_matrix *V)
{
    const inverse *s = arg;
    dag_status status = multiply(s, adjoint, adjoint ? s->A : s->X, V, 0, s->Y);
    return status == DAG_SUCCESS ? multiply(s, adjoint, adjoint ? s->X : s->A, s->Y, -1, V)
                                 : status;
}

/*
 * A^-1 - X = A^-1 (1 - A X), so the error of X beside ||A^-1|| is ||1 - A X|| at most (N. J. Higham,
 * Accuracy and Stability of Numerical Algorithms, 2nd ed., 14.1), of which 2 (n + 1) eps ||A|| ||X|| may
 * have been lost by rounding.
 */
static dag_status bound(inverse *s, dag_matrix *V)
{
    double of_a, of_x, of_rest;
    dag_status status = norm(s, s->A, &of_a);
    if (status == DAG_SUCCESS)
        status = norm(s, s->X, &of_x);
    if (status == DAG_SUCCESS)
        status = dagi_la_estimate(s->ctx, residual, s, V, &of_rest);
    if (status == DAG_SUCCESS)
        *s->error = of_rest + (double)(s->A->n + 1) * dag_la_eps(s->A->prec) * of_a * of_x;
    return status;
}

static dag_status run(inverse s)
{
    dagi_check c;
    check(&c, &s);
    if (!dagi_check_agreed(&c))
        return c.status;
    *s.error = 0;
    if (s.A->n == 0)
        return DAG_SUCCESS;
    dag_matrix *V = NULL;
    const dag_matrix_desc desc = {.prec = s.A->prec,
                                  .m = s.A->n,
                                  .n = 1,
                                  .mb = s.A->mb,
                                  .nb = 1,
                                  .p = (int)s.A->p,
                                  .q = (int)s.A->q,
                                  .name = "a vector of an estimate"};
    dag_status status = dag_matrix_new(s.ctx, &desc, &V);
    if (status == DAG_SUCCESS)
        status = dag_matrix_new(s.ctx, &desc, &s.Y);
    status = dagi_la_agreed(s.ctx, s.entry.name, status);
    if (status == DAG_SUCCESS)
        status = bound(&s, V);
    dag_matrix_free(V);
    dag_matrix_free(s.Y);
    return status;
}

static dag_status potri_bounds(dag_context *ctx, dagi_entry entry, dag_uplo uplo, dag_matrix *A,
                               dag_matrix *X, double *error)
{
    dagi_check c;
    dagi_check_start(&c, ctx, entry.name);
    dagi_check_uplo(&c, uplo); /* DAG_GENERAL has another meaning in run() */
    if (!dagi_check_agreed(&c))
        return c.status;
    return run((inverse){.ctx = ctx, .entry = entry, .uplo = uplo, .A = A, .X = X, .error = error});
}

DAGI_ENTRIES(dag_status, getri_bounds,
             (dag_context * ctx, dag_matrix *A, dag_matrix *X, double *error),
             run((inverse){
                 .ctx = ctx, .entry = entry, .uplo = DAG_GENERAL, .A = A, .X = X, .error = error}))
DAGI_ENTRIES(dag_status, potri_bounds,
             (dag_context * ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *X, double *error),
             potri_bounds(ctx, entry, uplo, A, X, error))

/*
 * dag_others: routines that have no driver of their own, run and checked as the drivers do.
 *
 * The residual is that of the equation that the result stands for, R, over the norms of its factors,
 * the order and eps: A X - I of inverses, A - L Q and I - Q Q^H of LQ, B - op(A) X of solves. One-norms.
 */
#include "driver.h"

#include <dag/lu.h>
#include <dag/qr.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct problem {
    dag_context *ctx;
    const options *o;
    int64_t m, n;
    report *r;
    dag_matrix *a; /* what was given */
    dag_matrix *f; /* what became of it */
    dag_matrix *x, *y, *z;
    int64_t *ipiv;
    dag_lq *lq;
} problem;

static dag_status new_matrix(const problem *p, int64_t m, int64_t n, dag_matrix **matrix)
{
    return driver_matrix(p->ctx, p->o, m, n, DAG_GENERAL, matrix);
}

/* How large R is against `size`, the norms of its factors. The largest of several counts. */
static dag_status judge(const problem *p, dag_matrix *R, double size)
{
    double eps = dag_precision_real(p->o->prec) == DAG_S ? (double)FLT_EPSILON : DBL_EPSILON;
    double order = (double)(p->m > p->n ? p->m : p->n), norm = NAN;
    dag_status status = dag_lange(p->ctx, DAG_NORM_ONE, R, &norm);
    double residual = norm == 0 ? 0 : norm / (size * order * eps);
    if (!(p->r->residual >= residual)) /* also where there was none */
        p->r->residual = residual;
    return status;
}

static dag_status norms(const problem *p, dag_matrix *A, dag_matrix *B, double *product)
{
    double a = NAN, b = NAN;
    dag_status status = dag_lange(p->ctx, DAG_NORM_ONE, A, &a);
    if (status == DAG_SUCCESS)
        status = dag_lange(p->ctx, DAG_NORM_ONE, B, &b);
    *product = a * b;
    return status;
}

static dag_status identity(const problem *p, dag_matrix *matrix)
{
    return dag_laset(p->ctx, DAG_GENERAL, 0, 1, matrix);
}

/* ---- LU ---------------------------------------------------------------------------------- */

/* op(A) X = B by the factors of A. */
static dag_status solved(problem *p, dag_trans trans, int64_t *info)
{
    double size = 0, of_b = 0;
    dag_status status = new_matrix(p, p->n, p->o->nrhs, &p->x);
    if (status == DAG_SUCCESS)
        status = new_matrix(p, p->n, p->o->nrhs, &p->y);
    if (status == DAG_SUCCESS)
        status = dag_plrnt(p->ctx, p->x, p->o->seed + 1);
    if (status == DAG_SUCCESS)
        status = dag_plrnt(p->ctx, p->y, p->o->seed + 1);
    if (status == DAG_SUCCESS)
        status = p->ipiv != NULL ? dag_getrf(p->ctx, p->f, p->ipiv, info)
                                 : dag_getrf_nopiv(p->ctx, p->f, info);
    if (status == DAG_SUCCESS)
        status = dag_getrs(p->ctx, trans, p->f, p->ipiv, p->x);
    if (status == DAG_SUCCESS)
        status = norms(p, p->a, p->x, &size);
    if (status == DAG_SUCCESS)
        status = dag_lange(p->ctx, DAG_NORM_ONE, p->y, &of_b);
    if (status == DAG_SUCCESS)
        status = dag_gemm(p->ctx, trans, DAG_NO_TRANS, -1, p->a, p->x, 1, p->y);
    return status == DAG_SUCCESS ? judge(p, p->y, size + of_b) : status;
}

static dag_status getrf_nopiv(problem *p)
{
    free(p->ipiv);
    p->ipiv = NULL;
    return solved(p, DAG_NO_TRANS, &p->r->info);
}

static dag_status getrs_t(problem *p)
{
    return solved(p, DAG_CONJ_TRANS, &p->r->info);
}

/* ---- inverses ---------------------------------------------------------------------------- */

static dag_status getri(problem *p)
{
    double size = 0;
    dag_status status = dag_getrf(p->ctx, p->f, p->ipiv, &p->r->info);
    if (status == DAG_SUCCESS && p->r->info == 0)
        status = dag_getri(p->ctx, p->f, p->ipiv, &p->r->info);
    if (status == DAG_SUCCESS)
        status = norms(p, p->a, p->f, &size);
    if (status == DAG_SUCCESS)
        status = identity(p, p->z);
    if (status == DAG_SUCCESS)
        status = dag_gemm(p->ctx, DAG_NO_TRANS, DAG_NO_TRANS, 1, p->a, p->f, -1, p->z);
    return status == DAG_SUCCESS ? judge(p, p->z, size) : status;
}

static dag_status potri(problem *p)
{
    double of_a = 0, of_x = 0;
    dag_uplo uplo = p->o->uplo;
    dag_status status = dag_potrf(p->ctx, uplo, p->f, &p->r->info);
    if (status == DAG_SUCCESS && p->r->info == 0)
        status = dag_potri(p->ctx, uplo, p->f, &p->r->info);
    if (status == DAG_SUCCESS)
        status = dag_lange(p->ctx, DAG_NORM_ONE, p->a, &of_a);
    if (status == DAG_SUCCESS)
        status = dag_lanhe(p->ctx, DAG_NORM_ONE, uplo, p->f, &of_x);
    if (status == DAG_SUCCESS)
        status = identity(p, p->z);
    if (status == DAG_SUCCESS)
        status = dag_hemm(p->ctx, DAG_LEFT, uplo, 1, p->f, p->a, -1, p->z);
    return status == DAG_SUCCESS ? judge(p, p->z, of_a * of_x) : status;
}

/* The order divides A, so that also an inverse with ones on the diagonal stays small. */
static dag_status trtri(problem *p)
{
    double of_a = 0, of_x = 0;
    dag_uplo uplo = p->o->uplo;
    dag_diag diag = p->o->diag;
    dag_status status = dag_lascl(p->ctx, DAG_GENERAL, p->n > 0 ? (double)p->n : 1, 1, p->f);
    if (status == DAG_SUCCESS) /* the triangle alone */
        status = dag_laset(p->ctx, DAG_GENERAL, 0, 1, p->a);
    if (status == DAG_SUCCESS)
        status = dag_lacpy(p->ctx, uplo, p->f, p->a);
    if (status == DAG_SUCCESS)
        status = dag_trtri(p->ctx, uplo, diag, p->f, &p->r->info);
    if (status == DAG_SUCCESS)
        status = dag_lantr(p->ctx, DAG_NORM_ONE, uplo, diag, p->a, &of_a);
    if (status == DAG_SUCCESS)
        status = dag_lantr(p->ctx, DAG_NORM_ONE, uplo, diag, p->f, &of_x);
    if (status == DAG_SUCCESS)
        status = identity(p, p->z);
    if (status == DAG_SUCCESS)
        status = dag_trmm(p->ctx, DAG_LEFT, uplo, DAG_NO_TRANS, diag, 1, p->a, p->z);
    if (status == DAG_SUCCESS)
        status = dag_trmm(p->ctx, DAG_RIGHT, uplo, DAG_NO_TRANS, diag, 1, p->f, p->z);
    if (status == DAG_SUCCESS)
        status = identity(p, p->a);
    if (status == DAG_SUCCESS)
        status = dag_geadd(p->ctx, DAG_GENERAL, DAG_NO_TRANS, -1, p->a, 1, p->z);
    return status == DAG_SUCCESS ? judge(p, p->z, of_a * of_x) : status;
}

/* ---- LQ ---------------------------------------------------------------------------------- */

/* A = L Q with all n rows of Q: L is m x n. */
static dag_status gelqf(problem *p)
{
    double size = 0;
    dag_status status = dag_gelqf(p->ctx, p->f, &p->lq);
    if (status == DAG_SUCCESS)
        status = new_matrix(p, p->n, p->n, &p->x);
    if (status == DAG_SUCCESS)
        status = new_matrix(p, p->m, p->n, &p->y);
    if (status == DAG_SUCCESS)
        status = dag_unglq(p->ctx, p->f, p->lq, p->x);
    if (status == DAG_SUCCESS)
        status = dag_laset(p->ctx, DAG_GENERAL, 0, 0, p->y);
    if (status == DAG_SUCCESS)
        status = dag_lacpy(p->ctx, DAG_LOWER, p->f, p->y);
    if (status == DAG_SUCCESS)
        status = dag_lange(p->ctx, DAG_NORM_ONE, p->a, &size);
    if (status == DAG_SUCCESS)
        status = dag_gemm(p->ctx, DAG_NO_TRANS, DAG_NO_TRANS, -1, p->y, p->x, 1, p->a);
    if (status == DAG_SUCCESS)
        status = judge(p, p->a, size);
    if (status == DAG_SUCCESS)
        status = identity(p, p->z);
    if (status == DAG_SUCCESS)
        status = dag_gemm(p->ctx, DAG_NO_TRANS, DAG_CONJ_TRANS, 1, p->x, p->x, -1, p->z);
    return status == DAG_SUCCESS ? judge(p, p->z, 1) : status;
}

/* ---- the driver -------------------------------------------------------------------------- */

static const struct {
    const char *name;
    dag_status (*run)(problem *p);
    int hermitian, wide; /* wide: m x n */
} routines[] = {
    {"getrf_nopiv", getrf_nopiv, 1, 0}, {"getrs_t", getrs_t, 0, 0}, {"getri", getri, 0, 0},
    {"potri", potri, 1, 0},             {"trtri", trtri, 1, 0},     {"gelqf", gelqf, 0, 1},
};

static dag_status given(problem *p, int hermitian, dag_matrix **matrix)
{
    dag_status status = new_matrix(p, p->m, p->n, matrix);
    if (status != DAG_SUCCESS)
        return status;
    return hermitian ? dag_plghe(p->ctx, *matrix, (double)p->n, p->o->seed)
                     : dag_plrnt(p->ctx, *matrix, p->o->seed);
}

static dag_status run_one(problem *p, int which)
{
    dag_status status = given(p, routines[which].hermitian, &p->a);
    if (status == DAG_SUCCESS)
        status = given(p, routines[which].hermitian, &p->f);
    if (status == DAG_SUCCESS)
        status = new_matrix(p, p->n, p->n, &p->z);
    p->ipiv = malloc((size_t)p->n * sizeof(*p->ipiv) + 1);
    if (status == DAG_SUCCESS)
        status = routines[which].run(p);
    if (status == DAG_SUCCESS) {
        p->r->m = p->m;
        p->r->n = p->n;
        p->r->nb = p->a->nb;
        p->r->p = (int)p->a->p;
        p->r->q = (int)p->a->q;
        p->r->flops = NAN;
        p->r->bound = 30;
    }
    return driver_collective(p->ctx, status);
}

static dag_status run(dag_context *ctx, const options *o, report *r)
{
    const int count = (int)(sizeof(routines) / sizeof(routines[0]));
    int which = 0;
    while (which < count && (o->routine == NULL || strcmp(routines[which].name, o->routine) != 0))
        which++;
    if (which == count)
        return driver_collective(ctx, dag_error(ctx, DAG_ERR_ARG, "dag_others has no such routine"));
    problem p = {.ctx = ctx, .o = o, .m = o->n, .n = o->n, .r = r};
    if (routines[which].wide && (o->given & OPT_BIT(OPT_M)))
        p.m = o->m;
    dag_status status = run_one(&p, which);
    dag_lq_free(p.lq);
    free(p.ipiv);
    dag_matrix_free(p.a);
    dag_matrix_free(p.f);
    dag_matrix_free(p.x);
    dag_matrix_free(p.y);
    dag_matrix_free(p.z);
    return status;
}

static const driver others = {
    .scope = {.program = "dag_others",
              .purpose = "Routines without a driver: getrf_nopiv, getrs_t, getri, potri, trtri, gelqf.",
              .used = OPT_COMMON | OPT_BIT(OPT_M) | OPT_BIT(OPT_UPLO) | OPT_BIT(OPT_DIAG) |
                      OPT_BIT(OPT_NRHS) | OPT_BIT(OPT_ROUTINE)},
    .routine = "others",
    .singular = 1,
    .run = run,
};

int main(int argc, char **argv)
{
    return driver_main(&others, argc, argv);
}

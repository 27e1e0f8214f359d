/*
 * dag_others: routines that have no driver of their own, run and checked as the drivers do.
 *
 * The residual is that of the equation that the result stands for over the norms of its factors, the
 * order and eps, in one-norms: A X - I of the inverse of a triangle, B - A^H X of a solve.
 */
#include "driver.h"

#include <dag/lu.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct problem {
    dag_context *ctx;
    const options *o;
    int64_t n;
    report *r;
    dag_matrix *a; /* what was given */
    dag_matrix *f; /* what became of it */
    dag_matrix *x, *y;
    int64_t *ipiv;
} problem;

static dag_status new_matrix(const problem *p, int64_t columns, dag_matrix **matrix)
{
    return driver_matrix(p->ctx, p->o, p->n, columns, DAG_GENERAL, matrix);
}

/* How large R is against `size`, the norms of its factors. */
static dag_status judge(const problem *p, dag_matrix *R, double size)
{
    double eps = dag_la_eps(p->o->prec);
    double norm = NAN;
    dag_status status = dag_lange(p->ctx, DAG_NORM_ONE, R, &norm);
    p->r->residual = norm == 0 ? 0 : norm / (size * (double)p->n * eps);
    return status;
}

/* A^H X = B by the factors of A. */
static dag_status getrs_t(problem *p)
{
    double of_a = 0, of_b = 0, of_x = 0;
    dag_status status = new_matrix(p, p->o->nrhs, &p->x);
    if (status == DAG_SUCCESS)
        status = new_matrix(p, p->o->nrhs, &p->y);
    if (status == DAG_SUCCESS)
        status = dag_plrnt(p->ctx, p->x, p->o->seed + 1);
    if (status == DAG_SUCCESS)
        status = dag_plrnt(p->ctx, p->y, p->o->seed + 1);
    if (status == DAG_SUCCESS)
        status = dag_getrf(p->ctx, p->f, p->ipiv, &p->r->info);
    if (status == DAG_SUCCESS)
        status = dag_getrs(p->ctx, DAG_CONJ_TRANS, p->f, p->ipiv, p->x);
    if (status == DAG_SUCCESS) /* the one-norm of A^H */
        status = dag_lange(p->ctx, DAG_NORM_INF, p->a, &of_a);
    if (status == DAG_SUCCESS)
        status = dag_lange(p->ctx, DAG_NORM_ONE, p->x, &of_x);
    if (status == DAG_SUCCESS)
        status = dag_lange(p->ctx, DAG_NORM_ONE, p->y, &of_b);
    if (status == DAG_SUCCESS)
        status = dag_gemm(p->ctx, DAG_CONJ_TRANS, DAG_NO_TRANS, -1, p->a, p->x, 1, p->y);
    return status == DAG_SUCCESS ? judge(p, p->y, of_a * of_x + of_b) : status;
}

/* The order divides A, so that also an inverse with ones on the diagonal stays small. */
static dag_status trtri(problem *p)
{
    double of_a = 0, of_x = 0;
    dag_uplo uplo = p->o->uplo;
    dag_diag diag = p->o->diag;
    dag_status status = new_matrix(p, p->n, &p->x);
    if (status == DAG_SUCCESS)
        status = dag_lascl(p->ctx, DAG_GENERAL, p->n > 0 ? (double)p->n : 1, 1, p->f);
    if (status == DAG_SUCCESS)
        status = dag_lacpy(p->ctx, DAG_GENERAL, p->f, p->a);
    if (status == DAG_SUCCESS)
        status = dag_trtri(p->ctx, uplo, diag, p->f, &p->r->info);
    if (status == DAG_SUCCESS)
        status = dag_lantr(p->ctx, DAG_NORM_ONE, uplo, diag, p->a, &of_a);
    if (status == DAG_SUCCESS)
        status = dag_lantr(p->ctx, DAG_NORM_ONE, uplo, diag, p->f, &of_x);
    if (status == DAG_SUCCESS) /* x := A I X - I */
        status = dag_laset(p->ctx, DAG_GENERAL, 0, 1, p->x);
    if (status == DAG_SUCCESS)
        status = dag_trmm(p->ctx, DAG_LEFT, uplo, DAG_NO_TRANS, diag, 1, p->a, p->x);
    if (status == DAG_SUCCESS)
        status = dag_trmm(p->ctx, DAG_RIGHT, uplo, DAG_NO_TRANS, diag, 1, p->f, p->x);
    if (status == DAG_SUCCESS)
        status = dag_laset(p->ctx, DAG_GENERAL, 0, 1, p->a);
    if (status == DAG_SUCCESS)
        status = dag_geadd(p->ctx, DAG_GENERAL, DAG_NO_TRANS, -1, p->a, 1, p->x);
    return status == DAG_SUCCESS ? judge(p, p->x, of_a * of_x) : status;
}

static dag_status given(problem *p, dag_matrix **matrix)
{
    int solves = strcmp(p->o->routine, "getrs_t") == 0;
    dag_status status = new_matrix(p, p->n, matrix);
    if (status != DAG_SUCCESS)
        return status;
    return solves ? dag_plrnt(p->ctx, *matrix, p->o->seed)
                  : dag_plghe(p->ctx, *matrix, (double)p->n, p->o->seed);
}

static dag_status run_one(problem *p)
{
    dag_status status = given(p, &p->a);
    if (status == DAG_SUCCESS)
        status = given(p, &p->f);
    p->ipiv = malloc((size_t)p->n * sizeof(*p->ipiv) + 1);
    if (status == DAG_SUCCESS)
        status = strcmp(p->o->routine, "getrs_t") == 0 ? getrs_t(p) : trtri(p);
    if (status == DAG_SUCCESS) {
        driver_shape(p->r, p->a);
        p->r->flops = NAN;
        p->r->bound = 30;
    }
    return driver_collective(p->ctx, status);
}

static dag_status run(dag_context *ctx, const options *o, report *r)
{
    if (o->routine == NULL ||
        (strcmp(o->routine, "getrs_t") != 0 && strcmp(o->routine, "trtri") != 0))
        return driver_collective(ctx, dag_error(ctx, DAG_ERR_ARG, "dag_others has no such routine"));
    problem p = {.ctx = ctx, .o = o, .n = o->n, .r = r};
    dag_status status = run_one(&p);
    free(p.ipiv);
    dag_matrix_free(p.a);
    dag_matrix_free(p.f);
    dag_matrix_free(p.x);
    dag_matrix_free(p.y);
    return status;
}

static const driver_row row = {
    .name = "others",
    .info = INFO_SINGULAR,
    .options = OPT_BIT(OPT_UPLO) | OPT_BIT(OPT_DIAG) | OPT_BIT(OPT_NRHS) | OPT_BIT(OPT_ROUTINE),
};

static const driver others = {
    .name = "others",
    .row = &row,
    .purpose = "Routines without a driver: getrs_t, trtri.",
    .run = run,
};

int main(int argc, char **argv)
{
    return driver_main(&others, argc, argv);
}

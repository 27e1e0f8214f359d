/* Reciprocal condition numbers and bounds of errors: how drivers come to them, and say them. */
#include "condition.h"
#include "results.h"

#include <math.h>
#include <stdio.h>

bool condition_wanted(const dag_context *ctx, const options *o)
{
    return o->rcond && !dag_simulated(ctx);
}

/* ---- rcond --------------------------------------------------------------------------------- */

static dag_status norm(dag_context *ctx, dag_uplo uplo, dag_matrix *A, double *value)
{
    return uplo == DAG_GENERAL ? dag_lange(ctx, DAG_NORM_ONE, A, value)
                               : dag_lanhe(ctx, DAG_NORM_ONE, uplo, A, value);
}

dag_status condition_begin(dag_context *ctx, const options *o, dag_uplo uplo, dag_matrix *A,
                           report *r)
{
    if (!condition_wanted(ctx, o))
        return DAG_SUCCESS;
    double start = driver_time(ctx);
    dag_status status = driver_collective(ctx, norm(ctx, uplo, A, &r->anorm));
    r->rcond_seconds = driver_time(ctx) - start;
    return status;
}

dag_status condition_of_factors(dag_context *ctx, const options *o, dag_uplo uplo, dag_matrix *F,
                                const int64_t *ipiv, report *r)
{
    if (!condition_wanted(ctx, o) || r->info != 0 || !isfinite(r->anorm))
        return DAG_SUCCESS;
    double start = driver_time(ctx);
    dag_status status = driver_collective(
        ctx, uplo == DAG_GENERAL ? dag_gecon(ctx, DAG_NORM_ONE, F, ipiv, r->anorm, &r->rcond)
                                 : dag_pocon(ctx, uplo, F, r->anorm, &r->rcond));
    r->rcond_seconds += driver_time(ctx) - start;
    return status;
}

dag_status condition_of_inverse(dag_context *ctx, const options *o, dag_uplo uplo, dag_matrix *X,
                                report *r)
{
    double of_x = 0;
    if (!condition_wanted(ctx, o) || r->info != 0 || !isfinite(r->anorm))
        return DAG_SUCCESS;
    double start = driver_time(ctx);
    dag_status status = driver_collective(ctx, norm(ctx, uplo, X, &of_x));
    r->rcond = X->n == 0 ? 1 : isfinite(of_x) && of_x > 0 ? 1 / of_x / r->anorm : 0;
    r->rcond_seconds += driver_time(ctx) - start;
    return status;
}

double condition_largest(const double *ferr, int64_t count)
{
    double most = 0;
    for (int64_t j = 0; j < count && !isnan(most); j++)
        if (!(ferr[j] <= most))
            most = ferr[j];
    return most;
}

/* ---- what it means ------------------------------------------------------------------------- */

/* LAPACK's: half the distance from 1 to the next number. */
static double eps(const options *o)
{
    return dag_la_eps(o->prec) / 2;
}

bool condition_singular(const options *o, const report *r)
{
    return r->rcond < eps(o); /* not where it is NaN */
}

bool condition_hopeless(const options *o, const report *r)
{
    return condition_singular(o, r) && !(r->ferr < 0.1);
}

void condition_json(const options *o, const report *r)
{
    if (!o->rcond)
        return;
    results_number("rcond", r->rcond);
    results_number("rcond_s", r->rcond_seconds);
    if (isnan(r->ferr))
        return;
    results_number("ferr", r->ferr);
    if (!isnan(r->ferr_seconds)) /* else it is part of the other */
        results_number("ferr_s", r->ferr_seconds);
}

void condition_text(const report *r)
{
    if (!isnan(r->rcond))
        printf("%s: rcond %.3g, found in %.3g s\n", r->routine, r->rcond, r->rcond_seconds);
    if (!isnan(r->ferr) && isnan(r->ferr_seconds))
        printf("%s: forward error at most %.3g\n", r->routine, r->ferr);
    else if (!isnan(r->ferr))
        printf("%s: forward error at most %.3g, found in %.3g s\n", r->routine, r->ferr,
               r->ferr_seconds);
}

void condition_warn(const char *program, const options *o, const report *r)
{
    if (condition_hopeless(o, r))
        fprintf(stderr, "%s: %s: the matrix is singular to working precision (rcond %.2g is below "
                "eps, %.2g): no digit of the result is sure\n", program,
                o->check ? "check failed" : "warning", r->rcond, eps(o));
    else if (condition_singular(o, r))
        fprintf(stderr, "%s: warning: the matrix is singular to working precision (rcond %.2g is "
                "below eps, %.2g), but by its bound the error of the solution is at most %.2g\n",
                program, r->rcond, eps(o), r->ferr);
    else if (r->rcond < 20 * eps(o))
        fprintf(stderr, "%s: warning: the matrix is nearly singular (rcond %.2g, eps %.2g): "
                "hardly a digit of the result is sure\n", program, r->rcond, eps(o));
}

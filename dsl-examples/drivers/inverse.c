/* Inverses of matrices, random or from files, timed and checked. */
#include "inverse.h"
#include "condition.h"

#include "load.h"
#include "store.h"

#include <math.h>
#include <stdlib.h>

static dag_status make_matrix(dag_context *ctx, const options *o, int positive, dag_matrix **a)
{
    driver_random random;
    dag_element_source unused;
    if (o->matrix != NULL)
        return positive ? load_matrix(ctx, o, a) : load_general(ctx, o, a);
    dag_status status = driver_matrix(ctx, o, o->n, o->n, positive ? o->uplo : DAG_GENERAL, a);
    if (status != DAG_SUCCESS)
        return status;
    return (positive ? driver_random_positive : driver_random_general)(ctx, o, *a, &random,
                                                                       &unused);
}

static dag_status invert(dag_context *ctx, const options *o, int positive, dag_matrix *a,
                         int64_t *ipiv, int64_t *info)
{
    dag_status status = positive ? dag_potrf(ctx, o->uplo, a, info) : dag_getrf(ctx, a, ipiv, info);
    if (status != DAG_SUCCESS || *info != 0)
        return status;
    return positive ? dag_potri(ctx, o->uplo, a, info) : dag_getri(ctx, a, ipiv, info);
}

/* rest := A (X rest) - rest. */
static dag_status multiply(dag_context *ctx, const options *o, int positive, dag_matrix *a,
                           dag_matrix *x, dag_matrix *rest)
{
    dag_matrix *product = NULL;
    dag_status status = driver_matrix(ctx, o, rest->m, rest->n, DAG_GENERAL, &product);
    if (status != DAG_SUCCESS)
        return status;
    if (positive)
        status = dag_hemm(ctx, DAG_LEFT, o->uplo, 1, x, rest, 0, product);
    else
        status = dag_gemm(ctx, DAG_NO_TRANS, DAG_NO_TRANS, 1, x, rest, 0, product);
    if (status == DAG_SUCCESS && positive)
        status = dag_hemm(ctx, DAG_LEFT, o->uplo, 1, a, product, -1, rest);
    else if (status == DAG_SUCCESS)
        status = dag_gemm(ctx, DAG_NO_TRANS, DAG_NO_TRANS, 1, a, product, -1, rest);
    dag_matrix_free(product);
    return driver_collective(ctx, status);
}

static dag_status norm(dag_context *ctx, const options *o, int positive, dag_matrix *a,
                       double *value)
{
    return positive ? dag_lanhe(ctx, DAG_NORM_ONE, o->uplo, a, value)
                    : dag_lange(ctx, DAG_NORM_ONE, a, value);
}

static dag_status bound(dag_context *ctx, const options *o, int positive, dag_matrix *a,
                        dag_matrix *x, report *r)
{
    if (!condition_wanted(ctx, o))
        return DAG_SUCCESS;
    double start = driver_time(ctx);
    dag_status status =
        driver_collective(ctx, positive ? dag_potri_bounds(ctx, o->uplo, a, x, &r->ferr)
                                        : dag_getri_bounds(ctx, a, x, &r->ferr));
    r->ferr_seconds = driver_time(ctx) - start;
    return status;
}

/* A random vector goes through X and A, so that there is no other matrix besides. */
static dag_status check(dag_context *ctx, const options *o, int positive, dag_matrix *x, report *r)
{
    dag_matrix *a = NULL, *rest = NULL;
    double of_a = 0, of_x = 0, of_vector = 0, of_rest = 0, eps = dag_la_eps(x->prec);
    dag_status status = make_matrix(ctx, o, positive, &a);
    if (status == DAG_SUCCESS)
        status = driver_matrix(ctx, o, x->m, 1, DAG_GENERAL, &rest);
    DRIVER_STEP(ctx, status, dag_plrnt(ctx, rest, o->seed + 1));
    DRIVER_STEP(ctx, status, dag_lange(ctx, DAG_NORM_ONE, rest, &of_vector));
    if (status == DAG_SUCCESS)
        status = multiply(ctx, o, positive, a, x, rest);
    DRIVER_STEP(ctx, status, norm(ctx, o, positive, a, &of_a));
    DRIVER_STEP(ctx, status, norm(ctx, o, positive, x, &of_x));
    DRIVER_STEP(ctx, status, dag_lange(ctx, DAG_NORM_ONE, rest, &of_rest));
    r->residual = of_rest == 0 ? 0 : of_rest / (of_a * of_x * of_vector * (double)x->n * eps);
    if (status == DAG_SUCCESS)
        status = bound(ctx, o, positive, a, x, r);
    dag_matrix_free(a);
    dag_matrix_free(rest);
    return status;
}

static dag_status timed(dag_context *ctx, const options *o, int positive, dag_matrix *a, report *r)
{
    int64_t *ipiv = malloc((size_t)a->m * sizeof(*ipiv) + 1);
    double n = (double)a->n, start = driver_time(ctx), half = positive ? n * n * n / 2 : n * n * n;
    /* a NULL is refused on all ranks */
    dag_status status = driver_collective(ctx, invert(ctx, o, positive, a, ipiv, &r->info));
    r->seconds = driver_time(ctx) - start;
    driver_shape(r, a);
    r->flops = driver_flops(o->prec, half, half); /* to leading order */
    r->bound = 30;
    free(ipiv);
    return status;
}

/* The inverse is written, if it is to be, and judged. */
static dag_status conclude(dag_context *ctx, const options *o, int positive, dag_matrix *a,
                           store_output *out, report *r)
{
    dag_matrix *whole;
    dag_status status = store_whole(ctx, o, out, positive ? o->uplo : DAG_GENERAL, 1, a, &whole);
    if (status == DAG_SUCCESS) {
        store_put(ctx, o, out, whole, &r->incomplete);
        if (o->check)
            status = check(ctx, o, positive, a, r);
        int good = status != DAG_SUCCESS || !driver_check_fails(o, r);
        store_finish(ctx, out, whole, good, &r->incomplete);
    }
    store_whole_free(whole, a);
    return status;
}

dag_status inverse_run(dag_context *ctx, const options *o, int positive, report *r)
{
    dag_matrix *a = NULL;
    store_output out = {0};
    dag_status status = make_matrix(ctx, o, positive, &a);
    dag_uplo uplo = positive ? o->uplo : DAG_GENERAL;
    if (status == DAG_SUCCESS && o->out != NULL)
        status = store_create(ctx, o->out, o->prec, "inverse", a->m, a->n, &out);
    if (status == DAG_SUCCESS)
        status = condition_begin(ctx, o, uplo, a, r);
    if (status == DAG_SUCCESS)
        status = timed(ctx, o, positive, a, r);
    if (status == DAG_SUCCESS)
        status = condition_of_inverse(ctx, o, uplo, a, r);
    if (r->info != 0)
        r->flops = NAN; /* it ended early */
    if (status == DAG_SUCCESS && r->info == 0)
        status = conclude(ctx, o, positive, a, &out, r);
    store_abort(&out);
    dag_matrix_free(a);
    return status;
}

/* A = Q R and A = L Q: of a matrix that is random or from a file, timed, judged and written. */
#include "orthogonal.h"
#include "store.h"

typedef struct files {
    store_output q, triangle;
} files;

static orthogonal method; /* of this program */

/* Q and the triangle are written, if they are to be, and the factors are judged. */
static dag_status conclude(dag_context *ctx, const options *o, dag_matrix *a, const void *rest,
                           files *out, report *r)
{
    dag_matrix *q = NULL, *whole = NULL, top = {0};
    dag_status status = DAG_SUCCESS;
    int64_t k = a->m < a->n ? a->m : a->n;
    int upper = method.triangle == DAG_UPPER;
    if (out->q.open)
        status = driver_matrix(ctx, o, upper ? a->m : k, upper ? k : a->n, DAG_GENERAL, &q);
    if (status == DAG_SUCCESS && out->q.open)
        status = driver_collective(ctx, method.make_q(ctx, a, rest, q));
    if (status == DAG_SUCCESS && out->triangle.open)
        status = store_trapezoid(ctx, o, method.triangle, a, &whole, &top);
    if (status == DAG_SUCCESS) {
        store_put(ctx, o, &out->q, q, &r->incomplete);
        store_put(ctx, o, &out->triangle, &top, &r->incomplete);
        if (o->check)
            status = method.check(ctx, o, a, rest, r);
        int good = status != DAG_SUCCESS || !driver_check_fails(o, r);
        store_finish(ctx, &out->q, q, good, &r->incomplete);
        store_finish(ctx, &out->triangle, &top, good, &r->incomplete);
    }
    dag_matrix_free(q);
    dag_matrix_free(whole);
    return status;
}

/* The files that are wanted: found unwritable before the work, not after. */
static dag_status create(dag_context *ctx, const options *o, const dag_matrix *a, files *out)
{
    int64_t k = a->m < a->n ? a->m : a->n;
    int upper = method.triangle == DAG_UPPER;
    dag_status status = DAG_SUCCESS;
    if (o->out != NULL)
        status = store_create(ctx, o->out, o->prec, method.q, upper ? a->m : k, upper ? k : a->n,
                              &out->q);
    if (status == DAG_SUCCESS && o->triangle != NULL)
        status = store_create(ctx, o->triangle, o->prec, method.triangular, upper ? k : a->m,
                              upper ? a->n : k, &out->triangle);
    return status;
}

static dag_status timed(dag_context *ctx, const options *o, dag_matrix *a, files *out, report *r)
{
    void *rest = NULL;
    double start = driver_time(ctx);
    dag_status status = driver_collective(ctx, method.factor(ctx, o, a, &rest));
    r->seconds = driver_time(ctx) - start;
    driver_shape(r, a);
    r->flops = driver_qr_flops(a);
    r->bound = DAG_QR_BOUND;
    if (status == DAG_SUCCESS) {
        options tiled = *o; /* all matrices get the tiles of this one */
        tiled.nb = a->nb;
        status = conclude(ctx, &tiled, a, rest, out, r);
    }
    method.free(rest);
    return status;
}

static dag_status run(dag_context *ctx, const options *o, report *r)
{
    dag_matrix *a = NULL;
    files out = {0};
    dag_status status = driver_rectangular(ctx, o, &a);
    if (status == DAG_SUCCESS)
        status = create(ctx, o, a, &out);
    if (status == DAG_SUCCESS)
        status = timed(ctx, o, a, &out, r);
    store_abort(&out.q);
    store_abort(&out.triangle);
    dag_matrix_free(a);
    return status;
}

int orthogonal_main(orthogonal m, int argc, char **argv)
{
    method = m;
    method.base.run = run;
    return driver_main(&method.base, argc, argv);
}

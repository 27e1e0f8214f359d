/* dag_getrf: LU factorisation of a random matrix, or of one from a file. */
#include "driver.h"
#include "load.h"
#include "store.h"

#include <stdlib.h>

struct problem {
    dag_matrix *a;
    int64_t *ipiv;
    dag_element_source source;
    driver_random random;
    load_source file;
    store_output out;
    store_output pivots;
    dag_matrix *column; /* the pivots, on their way there */
};

/* The files that are wanted: found unwritable before the work, not after. */
static dag_status create(dag_context *ctx, const options *o, struct problem *p)
{
    options real = *o;
    real.prec = DAG_D;
    dag_status status = DAG_SUCCESS;
    if (o->out != NULL)
        status = store_create(ctx, o->out, o->prec, "L without its diagonal of ones, and U", p->a->m, p->a->n,
                              &p->out);
    if (status == DAG_SUCCESS && o->pivots != NULL)
        status = store_create(ctx, o->pivots, DAG_D, "pivots of LU: row i was exchanged with row p(i)",
                              p->a->m, 1, &p->pivots);
    if (status == DAG_SUCCESS && o->pivots != NULL)
        status = driver_matrix(ctx, &real, p->a->m, 1, DAG_GENERAL, &p->column);
    return status;
}

static dag_status put_pivots(dag_matrix *column, int64_t ti, int64_t tj, const dag_element *e, void *ipiv)
{
    (void)tj;
    for (int64_t i = 0; i < e->shape.m; i++)
        ((double *)e->ptr)[i] = (double)((const int64_t *)ipiv)[ti * column->mb + i];
    return DAG_SUCCESS;
}

static dag_status make_matrix(dag_context *ctx, const options *o, struct problem *p)
{
    if (o->matrix != NULL) {
        p->file = (load_source){ctx, o->matrix};
        p->source = (dag_element_source){load_each, &p->file};
        return load_general(ctx, o, &p->a);
    }
    dag_status status = driver_matrix(ctx, o, o->n, o->n, DAG_GENERAL, &p->a);
    if (status == DAG_SUCCESS)
        status = driver_random_general(ctx, o, p->a, &p->random, &p->source);
    return status;
}

/* The factors are good if they solve a system well. */
static dag_status check(dag_context *ctx, const options *o, struct problem *p, report *r)
{
    dag_matrix *b = NULL, *x = NULL;
    const int64_t *pivots = o->pivoting != DRIVER_PIVOT_NONE ? p->ipiv : NULL;
    dag_solve_error error;
    dag_status status = driver_matrix(ctx, o, p->a->n, 1, DAG_GENERAL, &b);
    if (status == DAG_SUCCESS)
        status = driver_matrix(ctx, o, p->a->n, 1, DAG_GENERAL, &x);
    DRIVER_STEP(ctx, status, dag_plrnt(ctx, b, o->seed + 1));
    DRIVER_STEP(ctx, status, dag_plrnt(ctx, x, o->seed + 1));
    DRIVER_STEP(ctx, status, dag_getrs(ctx, DAG_NO_TRANS, p->a, pivots, x));
    DRIVER_STEP(ctx, status, dag_solve_residual(ctx, &p->source, b, x, &error));
    if (status == DAG_SUCCESS)
        r->residual = error.normwise;
    dag_matrix_free(b);
    dag_matrix_free(x);
    return status;
}

static dag_status factor(dag_context *ctx, const options *o, struct problem *p, report *r)
{
    const dag_lu_options how = {.pivoting = o->pivoting == DRIVER_PIVOT_TOURNAMENT
                                                ? DAG_PIVOT_TOURNAMENT : DAG_PIVOT_PARTIAL};
    int pivots = o->pivoting != DRIVER_PIVOT_NONE;
    double n = (double)p->a->n, start = driver_time(ctx);
    dag_status status =
        driver_collective(ctx, pivots ? dag_getrf_with(ctx, p->a, p->ipiv, &how, &r->info)
                                      : dag_getrf_nopiv(ctx, p->a, &r->info));
    r->seconds = driver_time(ctx) - start;
    driver_shape(r, p->a);
    r->flops = driver_flops(o->prec, n * n * n / 3 - n / 3, n * n * n / 3 - n * n / 2 + n / 6);
    r->bound = DAG_SOLVE_BOUND * dag_la_eps(o->prec);
    if (status != DAG_SUCCESS || r->info != 0)
        return status;
    if (p->pivots.open)
        (void)dag_matrix_each_local(p->column, put_pivots, p->ipiv);
    store_put(ctx, o, &p->out, p->a, &r->incomplete);
    store_put(ctx, o, &p->pivots, p->column, &r->incomplete);
    if (o->check)
        status = check(ctx, o, p, r);
    int good = status != DAG_SUCCESS || !driver_check_fails(o, r);
    store_finish(ctx, &p->out, p->a, good, &r->incomplete);
    store_finish(ctx, &p->pivots, p->column, good, &r->incomplete);
    return status;
}

static dag_status run(dag_context *ctx, const options *o, report *r)
{
    struct problem p = {0};
    dag_status status = make_matrix(ctx, o, &p);
    if (status == DAG_SUCCESS)
        status = create(ctx, o, &p);
    if (status == DAG_SUCCESS) {
        p.ipiv = malloc((size_t)p.a->m * sizeof(*p.ipiv) + 1);
        status = factor(ctx, o, &p, r); /* refuses NULL on all ranks */
    }
    store_abort(&p.out);
    store_abort(&p.pivots);
    dag_matrix_free(p.a);
    dag_matrix_free(p.column);
    free(p.ipiv);
    return status;
}

static const driver getrf = {
    .name = "getrf",
    .residual = "||b - A x|| / (||A|| ||x|| + ||b||), infinity norms, of a random b",
    .purpose =
        "LU factorisation with pivoting, P A = L U, of a random matrix of order N, or of\n"
        "a square one from a Matrix Market file. Slab storage is factored in place, tile\n"
        "storage is copied to slabs and back. Pivots are the largest elements of their\n"
        "columns (partial), or the winners of a tournament between stacks of rows, which\n"
        "takes fewer messages and more arithmetic; or there are none, which suits matrices\n"
        "with a large diagonal: such is then the random one. --out gets U and below it L without\n"
        "its diagonal of ones, --pivots the number of the row, counted from 1, that each row was\n"
        "exchanged with: dag_trtrs reads both and solves with them.\n"
        "\n"
        "With --check a system with a random right-hand side is solved by the factors;\n"
        "the residual is its normwise backward error, as that of dag_gesv.",
    .run = run,
};

int main(int argc, char **argv)
{
    return driver_main(&getrf, argc, argv);
}

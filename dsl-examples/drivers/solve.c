/* Solution of A X = B, random or from files: what the methods have in common. */
#include "solve.h"
#include "condition.h"
#include "store.h"

#include <math.h>
#include <stdlib.h>

/* The driver that this program is; drivers get no argument of their own. */
static const solver *method;

/* What one run works on. */
struct problem {
    dag_matrix *a, *b; /* overwritten with the factor and the solution */
    dag_matrix *rhs;   /* B as it was */
    dag_matrix *kept;  /* A as it was, with --refine */
    int64_t *ipiv;     /* for the method */
    double *berr;      /* of each right-hand side, with --refine; and as many bounds */
    dag_element_source source;
    driver_random random;
    load_source file;
    store_output out; /* with --out */
};

static dag_status random_matrix(dag_context *ctx, const options *o, struct problem *p)
{
    int positive = method->triangle || method->view != NULL;
    dag_status status = driver_matrix(ctx, o, o->n, o->n, positive ? o->uplo : DAG_GENERAL, &p->a);
    if (status != DAG_SUCCESS)
        return status;
    return positive ? driver_random_positive(ctx, o, p->a, &p->random, &p->source)
                    : driver_random_general(ctx, o, p->a, &p->random, &p->source);
}

static dag_status make_matrix(dag_context *ctx, const options *o, struct problem *p)
{
    if (o->matrix == NULL)
        return random_matrix(ctx, o, p);
    p->file = (load_source){ctx, o->matrix};
    p->source = (dag_element_source){load_each, &p->file};
    return method->triangle ? load_matrix(ctx, o, &p->a) : load_general(ctx, o, &p->a);
}

static dag_status make_rhs(dag_context *ctx, const options *o, struct problem *p)
{
    if (o->rhs != NULL)
        return load_rhs(ctx, o, p->a->n, &p->rhs);
    dag_status status = driver_matrix(ctx, o, p->a->n, o->nrhs, DAG_GENERAL, &p->rhs);
    if (status == DAG_SUCCESS && o->matrix != NULL)
        status = driver_collective(ctx, dag_row_sums(ctx, &p->source, p->rhs));
    else if (status == DAG_SUCCESS)
        status = driver_collective(ctx, dag_plrnt(ctx, p->rhs, o->seed + 1));
    return status;
}

/* Room for what the methods need besides the matrices. */
static dag_status make_room(dag_context *ctx, const options *o, struct problem *p)
{
    p->ipiv = malloc((size_t)p->a->m * sizeof(*p->ipiv) + 1);
    p->berr = malloc(2 * (size_t)p->b->n * sizeof(*p->berr) + 1);
    dag_status status = DAG_SUCCESS;
    if (p->ipiv == NULL || p->berr == NULL)
        status = dag_error(ctx, DAG_ERR_NOMEM, "no memory for pivots");
    status = driver_agreed(ctx, status);
    if (status == DAG_SUCCESS && o->refine)
        status = driver_matrix(ctx, o, p->a->m, p->a->n, p->a->uplo, &p->kept);
    if (status == DAG_SUCCESS && o->refine)
        status = driver_copy(p->kept, p->a);
    return status;
}

static dag_status call_method(dag_context *ctx, const options *o, struct problem *p, report *r)
{
    if (o->mixed)
        return method->mixed(ctx, o, p->a, p->ipiv, p->rhs, p->b, &r->iter, &r->info);
    dag_status status = method->solve(ctx, o, p->a, p->ipiv, p->b, &r->info);
    if (status == DAG_SUCCESS && o->refine && r->info == 0)
        status = method->refine(ctx, o, p->kept, p->a, p->ipiv, p->rhs, p->b, NULL, p->berr);
    return status;
}

static dag_status solve(dag_context *ctx, const options *o, struct problem *p, report *r)
{
    double n = (double)p->a->n, nrhs = (double)p->b->n, start = driver_time(ctx);
    dag_status status = driver_collective(ctx, call_method(ctx, o, p, r));
    r->seconds = driver_time(ctx) - start;
    r->mixed = o->mixed;
    driver_shape(r, p->a);
    double muls, adds;
    method->count(n, nrhs, &muls, &adds);
    r->flops = driver_flops(o->prec, muls, adds);
    if (r->info != 0)
        r->flops = NAN; /* it ended early */
    r->bound = DAG_SOLVE_BOUND * dag_la_eps(o->prec);
    return status;
}

/* ---- what the solution is worth ------------------------------------------------------------ */

/* r->ferr from A as it was, which is made again where it was not kept. */
static dag_status bound(dag_context *ctx, const options *o, struct problem *p, report *r)
{
    struct problem again = {0};
    double *ferr = p->berr + p->b->n, start = driver_time(ctx);
    dag_status status = p->kept == NULL ? make_matrix(ctx, o, &again) : DAG_SUCCESS;
    DRIVER_STEP(ctx, status, method->refine(ctx, o, p->kept != NULL ? p->kept : again.a, p->a,
                p->ipiv, p->rhs, p->b, ferr, p->berr));
    dag_matrix_free(again.a);
    if (status == DAG_SUCCESS)
        r->ferr = condition_largest(ferr, p->b->n);
    r->ferr_seconds = driver_time(ctx) - start;
    return status;
}

/* Condition and bounds; nothing of it where there are no factors in the precision of A. */
static dag_status appraise(dag_context *ctx, const options *o, struct problem *p, report *r)
{
    if (method->refine == NULL || !condition_wanted(ctx, o) || (o->mixed && r->iter >= 0))
        return DAG_SUCCESS;
    dag_uplo uplo = method->triangle ? o->uplo : DAG_GENERAL;
    dag_status status = condition_of_factors(ctx, o, uplo, p->a, p->ipiv, r);
    if (status == DAG_SUCCESS && r->info == 0 &&
        (o->refine || (o->check && condition_singular(o, r))))
        status = bound(ctx, o, p, r);
    return status;
}

static dag_status judge(dag_context *ctx, struct problem *p, report *r)
{
    dag_solve_error error;
    dag_status status =
        driver_collective(ctx, dag_solve_residual(ctx, &p->source, p->rhs, p->b, &error));
    if (status != DAG_SUCCESS)
        return status;
    r->normwise = error.normwise;
    r->componentwise = error.componentwise;
    r->residual = error.normwise;
    return DAG_SUCCESS;
}

static dag_status solve_run(dag_context *ctx, const options *o, report *r)
{
    struct problem p = {0};
    dag_status status = make_matrix(ctx, o, &p);
    if (status == DAG_SUCCESS && method->view != NULL)
        status = method->view(ctx, o, p.a, &p.source);
    if (status == DAG_SUCCESS)
        status = make_rhs(ctx, o, &p);
    if (status == DAG_SUCCESS && method->prepare != NULL)
        status = method->prepare(ctx, o, p.rhs);
    if (status == DAG_SUCCESS)
        status = driver_matrix(ctx, o, p.rhs->m, p.rhs->n, DAG_GENERAL, &p.b);
    if (status == DAG_SUCCESS)
        status = driver_copy(p.b, p.rhs);
    if (status == DAG_SUCCESS)
        status = make_room(ctx, o, &p);
    if (status == DAG_SUCCESS && o->out != NULL) /* found unwritable before the work, not after */
        status = store_create(ctx, o->out, o->prec, "solution of A X = B", p.b->m, p.b->n, &p.out);
    if (status == DAG_SUCCESS && method->refine != NULL)
        status = condition_begin(ctx, o, method->triangle ? o->uplo : DAG_GENERAL, p.a, r);
    if (status == DAG_SUCCESS)
        status = solve(ctx, o, &p, r);
    if (status == DAG_SUCCESS && r->info == 0) {
        store_put(ctx, o, &p.out, p.b, &r->incomplete);
        status = appraise(ctx, o, &p, r);
        if (status == DAG_SUCCESS)
            status = judge(ctx, &p, r);
        /* one that could not be judged is not lost */
        int good = status != DAG_SUCCESS || !driver_check_fails(o, r);
        store_finish(ctx, &p.out, p.b, good, &r->incomplete);
    }
    store_abort(&p.out);
    dag_matrix_free(p.a);
    dag_matrix_free(p.b);
    dag_matrix_free(p.rhs);
    dag_matrix_free(p.kept);
    free(p.ipiv);
    free(p.berr);
    return status;
}

int solve_main(const solver *s, int argc, char **argv)
{
    driver d = s->base;
    d.run = solve_run;
    method = s;
    return driver_main(&d, argc, argv);
}

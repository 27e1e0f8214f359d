/* dag_gels: least squares and minimum norm, random or from files. */
#include "condition.h"
#include "load.h"
#include "store.h"

#include <math.h>
#include <stdlib.h>

struct problem {
    options o; /* with the tiles of A for all matrices */
    dag_matrix *a, *b, *rhs, *x;
    double *ferr; /* of each right-hand side */
    store_output out;
};

static dag_status make_rhs(dag_context *ctx, struct problem *p)
{
    const options *o = &p->o;
    int64_t m = p->a->m, n = p->a->n;
    dag_status status = o->rhs != NULL
                            ? load_rhs(ctx, o, m, &p->rhs)
                            : driver_matrix(ctx, o, m, o->nrhs, DAG_GENERAL, &p->rhs);
    if (status == DAG_SUCCESS && o->rhs == NULL)
        status = driver_collective(ctx, dag_plrnt(ctx, p->rhs, o->seed + 1));
    if (status == DAG_SUCCESS)
        status = driver_matrix(ctx, o, m > n ? m : n, p->rhs->n, DAG_GENERAL, &p->b);
    if (status == DAG_SUCCESS)
        status = driver_matrix(ctx, o, n, p->rhs->n, DAG_GENERAL, &p->x);
    if (status == DAG_SUCCESS)
        status = driver_copy(p->b, p->rhs);
    return status;
}

static dag_status norm(dag_context *ctx, dag_matrix *A, double *value)
{
    return driver_collective(ctx, dag_lange(ctx, DAG_NORM_ONE, A, value));
}

/* X against A, made again: the residual itself, or for m > n how far it is from being orthogonal to
 * the columns of A. */
static dag_status judge(dag_context *ctx, struct problem *p, report *r)
{
    dag_matrix *a = NULL, *g = NULL;
    double of_a = 0, of_b = 0, of_x = 0, of_r = 0;
    double larger = (double)(r->m > r->n ? r->m : r->n);
    double eps = dag_la_eps(p->o.prec);
    dag_status status = driver_rectangular(ctx, &p->o, &a);
    if (status == DAG_SUCCESS)
        status = norm(ctx, a, &of_a);
    if (status == DAG_SUCCESS)
        status = norm(ctx, p->rhs, &of_b);
    if (status == DAG_SUCCESS)
        status = norm(ctx, p->x, &of_x);
    DRIVER_STEP(ctx, status, dag_gemm(ctx, DAG_NO_TRANS, DAG_NO_TRANS, -1, a, p->x, 1, p->rhs));
    if (status == DAG_SUCCESS && r->m > r->n) {
        status = driver_matrix(ctx, &p->o, r->n, p->x->n, DAG_GENERAL, &g);
        DRIVER_STEP(ctx, status, dag_gemm(ctx, DAG_CONJ_TRANS, DAG_NO_TRANS, 1, a, p->rhs, 0, g));
        of_b = of_a * (of_b + of_a * of_x);
    } else {
        of_b += of_a * of_x;
    }
    if (status == DAG_SUCCESS)
        status = norm(ctx, g != NULL ? g : p->rhs, &of_r);
    r->judged = 1;
    r->residual = of_r == 0 ? 0 : of_r / (of_b * larger * eps);
    dag_matrix_free(a);
    dag_matrix_free(g);
    return status;
}

static dag_status solve(dag_context *ctx, struct problem *p, report *r)
{
    double start = driver_time(ctx);
    dag_status status = driver_collective(
        ctx, condition_wanted(ctx, &p->o)
                 ? dag_gels_bounds(ctx, DAG_NO_TRANS, p->a, p->b, p->ferr, &r->rcond,
                                   &r->rcond_seconds, &r->info)
                 : dag_gels(ctx, DAG_NO_TRANS, p->a, p->b, &r->info));
    r->seconds = driver_time(ctx) - start - r->rcond_seconds;
    double m = (double)p->a->m, n = (double)p->a->n, k = m < n ? m : n, l = m + n - k;
    double half = k * k * l - k * k * k / 3 + (2 * k * l - k * k / 2) * (double)p->b->n;
    driver_shape(r, p->a);
    r->flops = r->info == 0 ? driver_flops(p->o.prec, half, half) : NAN;
    r->bound = DAG_QR_BOUND;
    if (status == DAG_SUCCESS && condition_wanted(ctx, &p->o) && r->info == 0) {
        r->ferr = condition_largest(p->ferr, p->b->n);
        r->ferr_seconds = NAN;
    }
    if (status == DAG_SUCCESS)
        status = driver_copy(p->x, p->b);
    return status;
}

static dag_status make_room(dag_context *ctx, struct problem *p)
{
    p->ferr = malloc((size_t)p->b->n * sizeof(*p->ferr) + 1);
    return driver_agreed(ctx, p->ferr != NULL ? DAG_SUCCESS
                                              : dag_error(ctx, DAG_ERR_NOMEM, "no memory for bounds"));
}

static dag_status run(dag_context *ctx, const options *o, report *r)
{
    struct problem p = {.o = *o};
    dag_status status = driver_rectangular(ctx, o, &p.a);
    if (status == DAG_SUCCESS) {
        p.o.nb = p.a->nb;
        status = make_rhs(ctx, &p);
    }
    if (status == DAG_SUCCESS)
        status = make_room(ctx, &p);
    if (status == DAG_SUCCESS && o->out != NULL)
        status = store_create(ctx, o->out, o->prec, "solution of A X = B", p.x->m, p.x->n, &p.out);
    if (status == DAG_SUCCESS)
        status = solve(ctx, &p, r);
    if (status == DAG_SUCCESS && r->info == 0) {
        store_put(ctx, o, &p.out, p.x, &r->incomplete);
        status = judge(ctx, &p, r);
        int good = status != DAG_SUCCESS || !driver_check_fails(o, r);
        store_finish(ctx, &p.out, p.x, good, &r->incomplete);
    }
    store_abort(&p.out);
    dag_matrix_free(p.a);
    dag_matrix_free(p.b);
    dag_matrix_free(p.rhs);
    dag_matrix_free(p.x);
    free(p.ferr);
    return status;
}

static const driver gels = {
    .name = "gels",
    .residual = "||B - A X|| / ((||A|| ||X|| + ||B||) max(m,n) eps), one-norms; "
                "where m > n that of A^H (B - A X)",
    .purpose =
        "Solves A X = B by QR factorisation in the sense of least squares (M >= N), or\n"
        "with the least norm of X (M < N). A is a random M x N matrix of full rank (M = N\n"
        "unless given), or one from a Matrix Market file; B comes from --rhs or is random.\n"
        "`info` is the number of the first zero on the diagonal of R: A has no full rank; of\n"
        "a matrix of zeros the solution is 0. `rcond` is that of R, and where it is below eps\n"
        "the rank is not full but by rounding. `ferr` is the bound of the LAPACK Users' Guide\n"
        "for ||X - true X|| / ||X||, the largest of all columns; it comes with rcond.\n"
        "\n"
        "The residual is ||B - A X|| / ((||A|| ||X|| + ||B||) max(M,N) eps) in one-norms,\n"
        "for M > N that of A^H (B - A X), with another ||A|| below.",
    .run = run,
};

int main(int argc, char **argv)
{
    return driver_main(&gels, argc, argv);
}

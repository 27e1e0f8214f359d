/*
 * One test: [A b] is made, factored and substituted back in, and judged against the same [A b] made again.
 * As in HPL, b is one more column of the matrix, so that the factorisation is the forward substitution too.
 */
#include "hpl.h"

#include "../drivers/memory.h"

#include <dag/view.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>

struct problem {
    dag_matrix *a; /* [A b], n x (n+1) */
    dag_matrix *x, *b; /* n x 1 */
    dag_matrix left;   /* the first n columns of a */
    int64_t *ipiv;
    double *column; /* of y, pairs of numbers */
};

static dag_status new_matrix(dag_context *ctx, const hpl_case *c, int64_t n, dag_matrix **matrix)
{
    const dag_matrix_desc desc = {.prec = DAG_D, .m = c->n, .n = n, .mb = c->nb, .nb = c->nb,
                                  .p = c->p, .q = c->q, .layout = DAG_LAYOUT_SLAB};
    dag_status status = driver_agreed(ctx, dag_matrix_new(ctx, &desc, matrix));
    return status == DAG_SUCCESS ? memory_check(ctx, *matrix) : status;
}

static dag_status make(dag_context *ctx, const hpl_case *c, struct problem *p)
{
    const options slabs = {.layout = DAG_LAYOUT_SLAB};
    memory_expect("gesv", &slabs, c->p * c->q);
    dag_status status = new_matrix(ctx, c, c->n + 1, &p->a);
    if (status == DAG_SUCCESS)
        status = new_matrix(ctx, c, 1, &p->x);
    if (status == DAG_SUCCESS)
        status = new_matrix(ctx, c, 1, &p->b);
    if (status != DAG_SUCCESS)
        return status;
    p->ipiv = malloc((size_t)c->n * sizeof(*p->ipiv) + 1);
    p->column = malloc((size_t)c->n * 2 * sizeof(*p->column) + 1);
    if (p->ipiv == NULL || p->column == NULL)
        status = dag_error(ctx, DAG_ERR_NOMEM, "no memory for pivots");
    dag_view_top(p->a, c->n, c->n, &p->left);
    return driver_agreed(ctx, status);
}

static void release(struct problem *p)
{
    dag_matrix_free(p->a);
    dag_matrix_free(p->x);
    dag_matrix_free(p->b);
    free(p->ipiv);
    free(p->column);
}

/* ---- the timed part ------------------------------------------------------------------------------ */

static dag_status put_column(dag_matrix *x, int64_t i, int64_t j, const dag_element *e, void *arg)
{
    const double *column = (const double *)arg + 2 * i * x->mb;
    (void)j;
    for (int64_t k = 0; k < e->shape.m; k++)
        ((double *)e->ptr)[k] = column[2 * k];
    return DAG_SUCCESS;
}

/* A wrong bit, where it is: the lowest one of the exponent. */
static void flip_bit(dag_matrix *a, int64_t at)
{
    int64_t tile = at / a->nb, inside = at % a->nb, ld;
    if (!dag_matrix_is_local(a, tile, tile))
        return;
    union { double x; uint64_t bits; } *u = dag_matrix_at(a, tile, tile, &ld);
    u[inside + inside * ld].bits ^= UINT64_C(1) << 52;
}

/* Left open it is the best for these messages, where it is known what they take; else (-1) dag_getrf_with() chooses. */
static int64_t depth_of(const hpl_case *c)
{
    if (c->depth != HPL_AUTO || hpl_costs_known() == NULL)
        return c->depth != HPL_AUTO ? c->depth : -1;
    hpl_costs costs = *hpl_costs_known();
    costs.ranks = c->p * c->q;
    return hpl_choose(&costs, c->n, c->nb, c->p, c->q).depth;
}

static dag_status factor(dag_context *ctx, const hpl_case *c, struct problem *p)
{
    /* [A b] needs no L that could be solved with, so factored columns stay as they are: by the rules, too. */
    const dag_lu_options how = {.lookahead = (int)depth_of(c) + 1, .unexchanged = 1};
    int64_t info = 0; /* a pivot of zero shows in the residual, as it does in HPL */
    return driver_collective(ctx, dag_getrf_with(ctx, p->a, p->ipiv, &how, &info));
}

/* x from U x = y; y is the last column of the factored matrix. */
static dag_status substitute(dag_context *ctx, const hpl_case *c, struct problem *p)
{
    dag_status status = driver_collective(ctx, dag_matrix_panel(ctx, p->a, c->n, 1, p->column));
    if (status != DAG_SUCCESS)
        return status;
    (void)dag_matrix_each_local(p->x, put_column, p->column);
    return driver_collective(ctx, dag_dtrsm(ctx, DAG_LEFT, DAG_UPPER, DAG_NO_TRANS, DAG_NON_UNIT, 1,
                                            &p->left, p->x));
}

static dag_status timed(dag_context *ctx, const hpl_case *c, const hpl_manner *how, struct problem *p,
                        hpl_result *r)
{
    hpl_parts before;
    hpl_parts_so_far(ctx, &before);
    hpl_watch_begin(ctx, &how->watch, c);
    double start = driver_time(ctx);
    r->start = time(NULL);
    dag_status status = factor(ctx, c, p);
    double between = driver_time(ctx);
    hpl_watch_end();
    if (how->flip > 0 && how->flip <= c->n)
        flip_bit(p->a, how->flip - 1);
    if (status == DAG_SUCCESS)
        status = substitute(ctx, c, p);
    double end = driver_time(ctx);
    r->end = time(NULL);
    r->back = end - between;
    r->seconds = end - start;
    if (r->seconds > 0)
        r->gflops = 1e-9 * hpl_operations((double)c->n) / r->seconds;
    return status == DAG_SUCCESS ? hpl_parts_since(ctx, c, &before, how->hosts, &r->most) : status;
}

/* ---- what it is worth ---------------------------------------------------------------------------- */

static dag_status norms(dag_context *ctx, struct problem *p, hpl_result *r)
{
    const struct { dag_norm which; dag_matrix *of; double *to; } wanted[] = {
        {DAG_NORM_INF, &p->left, &r->a_inf}, {DAG_NORM_ONE, &p->left, &r->a_one},
        {DAG_NORM_INF, p->x, &r->x_inf},     {DAG_NORM_ONE, p->x, &r->x_one},
        {DAG_NORM_INF, p->b, &r->b_inf},
    };
    dag_status status = DAG_SUCCESS;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]) && status == DAG_SUCCESS; i++)
        status = dag_lange(ctx, wanted[i].which, wanted[i].of, wanted[i].to);
    return driver_collective(ctx, status);
}

static dag_status judge(dag_context *ctx, const hpl_input *in, const hpl_case *c, struct problem *p,
                        hpl_result *r)
{
    double start = driver_time(ctx);
    dag_status status = driver_collective(ctx, hpl_fill(ctx, p->a, 0));
    if (status == DAG_SUCCESS)
        status = driver_collective(ctx, hpl_fill(ctx, p->b, c->n));
    if (status == DAG_SUCCESS)
        status = norms(ctx, p, r);
    if (status == DAG_SUCCESS)
        status = driver_collective(ctx, dag_dgemm(ctx, DAG_NO_TRANS, DAG_NO_TRANS, -1, &p->left, p->x, 1,
                                                  p->b));
    if (status == DAG_SUCCESS)
        status = driver_collective(ctx, dag_lange(ctx, DAG_NORM_INF, p->b, &r->residual));
    r->scaled = r->residual / (DBL_EPSILON / 2 * (r->a_inf * r->x_inf + r->b_inf) * (double)c->n);
    r->verdict = r->scaled < in->threshold ? HPL_PASSED : HPL_FAILED; /* FAILED where it is NaN */
    r->check = driver_time(ctx) - start;
    return status;
}

dag_status hpl_solve(dag_context *ctx, const hpl_input *in, const hpl_case *c, const hpl_manner *how,
                     hpl_result *r)
{
    struct problem p = {0};
    *r = (hpl_result){.verdict = in->threshold < 0 ? HPL_UNCHECKED : HPL_PASSED};
    r->start = r->end = time(NULL);
    if (c->n == 0)
        return DAG_SUCCESS; /* as in HPL nothing is done */
    dag_status status = make(ctx, c, &p);
    if (status == DAG_ERR_NOMEM)
        r->verdict = HPL_SKIPPED; /* the reason has been said; others may be smaller */
    if (status == DAG_SUCCESS) {
        double start = driver_time(ctx);
        status = driver_collective(ctx, hpl_fill(ctx, p.a, 0));
        r->fill = driver_time(ctx) - start;
        if (status == DAG_SUCCESS)
            status = timed(ctx, c, how, &p, r);
        if (status == DAG_SUCCESS && in->threshold >= 0)
            status = judge(ctx, in, c, &p, r);
    }
    release(&p);
    return r->verdict == HPL_SKIPPED ? DAG_SUCCESS : status;
}

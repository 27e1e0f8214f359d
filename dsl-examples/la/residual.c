/*
 * How good a factorisation or a solution is.
 *
 * Solutions are judged in double precision whatever the element type. A few columns of X and B at a
 * time are collected on every rank; each rank runs over its part of the elements of A; the sums
 * over the ranks give A X, |A| |X| and the row sums of |A|. No rank needs more of A than its part.
 */
#include "check.h"
#include "columns.h"
#include "numbers.h"

#include <dag/kernels.h>

#include "residual_L.h"
#include "residual_U.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 16 }; /* right-hand sides at a time */

double dag_la_eps(dag_precision prec)
{
    return dag_precision_real(prec) == DAG_S ? FLT_EPSILON : DBL_EPSILON;
}

/* ---- factorisations ---------------------------------------------------------------------- */

dag_status dag_potrf_residual(dag_context *ctx, dag_uplo uplo, dag_matrix *F, dag_matrix *A,
                              double *residual)
{
    DAGI_MAKERS(residual_L) make[2][4] = {DAGI_FOUR(residual_L), DAGI_FOUR(residual_U)};
    double before, after;
    dagi_check c;
    dagi_check_start(&c, ctx, "dag_potrf_residual");
    dagi_check_matrix(&c, "F", F);
    dagi_check_matrix(&c, "A", A);
    dagi_check_present(&c, "residual", residual);
    dagi_check_same_type(&c, "F", F, "A", A);
    dagi_check_distinct(&c, "A", A, "F", F);
    dagi_check_square(&c, "F", uplo, F);
    dagi_check_square(&c, "A", uplo, A);
    if (c.status == DAG_SUCCESS && (F->m != A->m || F->n != A->n || F->mb != A->mb))
        dagi_check_fail(&c, "the matrices have different sizes or tiles");
    if (!dagi_check_agreed(&c))
        return c.status;
    dag_status status = dag_lanhe(ctx, DAG_NORM_FRO, uplo, A, &before);
    if (status == DAG_SUCCESS)
        status = dag_run(ctx, make[uplo == DAG_UPPER][F->prec](ctx, F, A));
    if (status == DAG_SUCCESS)
        status = dag_lanhe(ctx, DAG_NORM_FRO, uplo, A, &after);
    if (status == DAG_SUCCESS)
        *residual = after == 0 ? 0 : after / (before * (double)F->m * dag_la_eps(F->prec));
    return status;
}

/* ---- columns of a matrix on every rank --------------------------------------------------- */

struct panel {
    int64_t first, count;
    double *to;
};

static dag_status panel_tile(dag_matrix *a, int64_t ti, int64_t tj, const dag_element *e, void *arg)
{
    const struct panel *p = arg;
    for (int64_t j = 0; j < e->shape.n; j++) {
        int64_t col = tj * a->nb + j - p->first;
        if (col < 0 || col >= p->count)
            continue;
        double *to = p->to + 2 * (size_t)(ti * a->mb + col * a->m);
        for (int64_t i = 0; i < e->shape.m; i++)
            dagi_element(a->prec, e->ptr, i + j * e->ld, to + 2 * i);
    }
    return DAG_SUCCESS;
}

dag_status dag_matrix_panel(dag_context *ctx, dag_matrix *A, int64_t first, int64_t count,
                            double *panel)
{
    struct panel p = {first, count, panel};
    dagi_check c;
    dagi_check_start(&c, ctx, "dag_matrix_panel");
    dagi_check_matrix(&c, "A", A);
    if (c.status == DAG_SUCCESS && (first < 0 || count < 0 || count > A->n - first))
        dagi_check_fail(&c, "the columns are not in the matrix");
    if (!dagi_check_agreed(&c))
        return c.status;
    memset(panel, 0, 2 * (size_t)(A->m * count) * sizeof(double));
    (void)dag_matrix_each_local(A, panel_tile, &p);
    /* Each item has one owner and is zero elsewhere, so the sum is exact. */
    return dag_allreduce(ctx, DAG_SUM, panel, 2 * A->m * count);
}

/* ---- solutions --------------------------------------------------------------------------- */

/* One block of memory; what has to be summed over the ranks lies at the front, in one piece. */
struct solve {
    int64_t n, count;
    double *ax;    /* 2 n count: A X */
    double *abs;   /* n count: |A| |X| */
    double *rows;  /* n: row sums of |A| */
    double *x, *b; /* 2 n count each */
};

static void solve_add(void *to, int64_t i, int64_t j, double re, double im)
{
    const struct solve *s = to;
    double magnitude = im == 0 ? fabs(re) : hypot(re, im);
    s->rows[i] += magnitude;
    for (int64_t c = 0; c < s->count; c++) {
        const double *x = s->x + 2 * (j + c * s->n);
        double *ax = s->ax + 2 * (i + c * s->n);
        ax[0] += re * x[0] - im * x[1];
        ax[1] += re * x[1] + im * x[0];
        s->abs[i + c * s->n] += magnitude * (x[1] == 0 ? fabs(x[0]) : hypot(x[0], x[1]));
    }
}

/* Largest backward errors of the columns in s. */
static void judge(const struct solve *s, double norm_a, dag_solve_error *error)
{
    for (int64_t c = 0; c < s->count; c++) {
        double norm_r = 0, norm_x = 0, norm_b = 0, component = 0;
        for (int64_t i = 0; i < s->n; i++) {
            size_t at = (size_t)(i + c * s->n);
            double b = hypot(s->b[2 * at], s->b[2 * at + 1]);
            double r = hypot(s->b[2 * at] - s->ax[2 * at], s->b[2 * at + 1] - s->ax[2 * at + 1]);
            double scale = s->abs[at] + b;
            norm_r = dagi_larger(norm_r, r);
            norm_b = dagi_larger(norm_b, b);
            norm_x = dagi_larger(norm_x, hypot(s->x[2 * at], s->x[2 * at + 1]));
            if (r != 0)
                component = dagi_larger(component, r / scale);
        }
        if (norm_r != 0)
            error->normwise = dagi_larger(error->normwise, norm_r / (norm_a * norm_x + norm_b));
        error->componentwise = dagi_larger(error->componentwise, component);
    }
}

static dag_status solve_chunk(dag_context *ctx, const dag_element_source *A, dag_matrix *B,
                              dag_matrix *X, int64_t first, struct solve *s, dag_solve_error *error)
{
    int64_t summed = s->n * (3 * s->count + 1);
    dag_status status = dag_matrix_panel(ctx, X, first, s->count, s->x);
    if (status == DAG_SUCCESS)
        status = dag_matrix_panel(ctx, B, first, s->count, s->b);
    if (status != DAG_SUCCESS)
        return status;
    memset(s->ax, 0, (size_t)summed * sizeof(double));
    status = dag_agree(ctx, A->each(A->arg, solve_add, s), NULL);
    if (status == DAG_SUCCESS)
        status = dag_allreduce(ctx, DAG_SUM, s->ax, summed);
    if (status != DAG_SUCCESS)
        return status;
    double norm_a = 0;
    for (int64_t i = 0; i < s->n; i++)
        norm_a = dagi_larger(norm_a, s->rows[i]);
    judge(s, norm_a, error);
    return DAG_SUCCESS;
}

dag_status dag_solve_residual(dag_context *ctx, const dag_element_source *A, dag_matrix *B,
                              dag_matrix *X, dag_solve_error *error)
{
    *error = (dag_solve_error){0, 0};
    dagi_check c;
    dagi_check_start(&c, ctx, "dag_solve_residual");
    dagi_check_matrix(&c, "B", B);
    dagi_check_matrix(&c, "X", X);
    if (c.status == DAG_SUCCESS && (B->m != X->m || B->n != X->n))
        dagi_check_fail(&c, "B and X have different sizes");
    if (!dagi_check_agreed(&c))
        return c.status;
    size_t n = (size_t)B->m, chunk = (size_t)(B->n < CHUNK ? B->n : CHUNK);
    double *memory = malloc((n * (7 * chunk + 1) + 1) * sizeof(double));
    dag_status status = dag_agree(ctx, memory == NULL ? DAG_ERR_NOMEM : DAG_SUCCESS, NULL);
    if (status == DAG_ERR_NOMEM)
        dag_error(ctx, status, "dag_solve_residual: no memory for %zu columns", 7 * chunk + 1);
    for (int64_t j = 0; status == DAG_SUCCESS && j < B->n; j += CHUNK) {
        struct solve s = {.n = B->m, .count = B->n - j < CHUNK ? B->n - j : CHUNK, .ax = memory};
        s.abs = s.ax + 2 * s.n * s.count;
        s.rows = s.abs + s.n * s.count;
        s.x = s.rows + s.n;
        s.b = s.x + 2 * s.n * s.count;
        status = solve_chunk(ctx, A, B, X, j, &s, error);
    }
    free(memory);
    return status;
}

/* ---- right-hand sides -------------------------------------------------------------------- */

static void row_add(void *to, int64_t i, int64_t j, double re, double im)
{
    double *sums = to;
    (void)j;
    sums[2 * i] += re;
    sums[2 * i + 1] += im;
}

static dag_status row_tile(dag_matrix *b, int64_t ti, int64_t tj, const dag_element *e, void *arg)
{
    const double *sums = arg;
    (void)tj;
    for (int64_t j = 0; j < e->shape.n; j++)
        for (int64_t i = 0; i < e->shape.m; i++)
            dagi_set_element(b->prec, e->ptr, i + j * e->ld, sums + 2 * (ti * b->mb + i));
    return DAG_SUCCESS;
}

dag_status dag_row_sums(dag_context *ctx, const dag_element_source *A, dag_matrix *B)
{
    dagi_check c;
    dagi_check_start(&c, ctx, "dag_row_sums");
    dagi_check_matrix(&c, "B", B);
    if (!dagi_check_agreed(&c))
        return c.status;
    double *sums = calloc(2 * (size_t)B->m + 1, sizeof(*sums));
    dag_status status = dag_agree(ctx, sums == NULL ? DAG_ERR_NOMEM : DAG_SUCCESS, NULL);
    if (status == DAG_SUCCESS)
        status = dag_agree(ctx, A->each(A->arg, row_add, sums), NULL);
    if (status == DAG_SUCCESS)
        status = dag_allreduce(ctx, DAG_SUM, sums, 2 * B->m);
    if (status == DAG_SUCCESS)
        status = dag_matrix_each_local(B, row_tile, sums);
    free(sums);
    return status;
}

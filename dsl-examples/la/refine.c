/* Iterative refinement in working precision, with the rules of LAPACK's gerfs and porfs. */
#include "check.h"
#include "columns.h"
#include "estimate.h"
#include "la/backward_tile.h"
#include "la/few.h"
#include "resident.h"

#include "backward.h"
#include "backward_few.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 5 }; /* LAPACK's ITMAX */

typedef struct refinement {
    dag_context *ctx;
    dagi_entry entry;
    dag_uplo uplo;  /* DAG_GENERAL: LU; else Cholesky */
    dag_trans trans;
    dag_matrix *A, *F, *B, *X; /* F: the factors of A */
    const int64_t *ipiv;
    dag_matrix *R, *W; /* as backward.jdf makes them */
    dagi_few few;      /* whether backward_few.jdf does */
    bool far;
    double *error;     /* of each column: backward error, */
    double *forward;   /* and a bound for that of the solution; may be NULL */
    int steps;         /* that may be taken */
    double *last;      /* that before the last step; -1 for a column that is done */
} refinement;

static void check(dagi_check *c, const refinement *s)
{
    dagi_check_start(c, s->ctx, s->entry.name);
    dagi_check_typed(c, "A", s->entry.prec, s->A);
    dagi_check_matrix(c, "F", s->F);
    dagi_check_matrix(c, "B", s->B);
    dagi_check_matrix(c, "X", s->X);
    dagi_check_trans(c, "trans", s->trans);
    if (c->status != DAG_SUCCESS)
        return;
    if (s->uplo == DAG_GENERAL) {
        dagi_check_general(c, "A", s->A);
        dagi_check_general(c, "F", s->F);
        if (s->A->n > 0)
            dagi_check_present(c, "ipiv", s->ipiv);
    }
    dag_uplo triangle = s->uplo == DAG_GENERAL ? DAG_UPPER : s->uplo;
    dagi_check_square(c, "A", triangle, s->A);
    dagi_check_square(c, "F", triangle, s->F);
    dagi_check_same_type(c, "A", s->A, "F", s->F);
    dagi_check_cut(c, "the rows of A", s->A->m, s->A->mb, "those of F", s->F->m,
                   s->F->mb);
    dagi_check_solution(c, s->A, s->B, s->X);
    dagi_check_distinct(c, "F", s->F, "A", s->A);
    dagi_check_distinct(c, "X", s->X, "F", s->F);
    if (s->B->n > 0)
        dagi_check_present(c, "berr", s->error);
    const int forward = s->forward != NULL;
    dagi_check_same(c, "whether ferr is NULL", &forward, sizeof forward);
}

/* Before ranks agree on the arguments: failure is noted. */
static void allocate(dagi_check *c, refinement *s)
{
    dagi_few_prepare(c, &s->few, s->A, s->B, 0);
    if (c->status != DAG_SUCCESS)
        return;
    const dag_matrix *B = s->B;
    dag_matrix_desc desc = {.prec = B->prec, .m = B->m, .n = B->n, .mb = B->mb, .nb = B->nb,
                            .p = (int)B->p, .q = (int)B->q, .layout = B->layout,
                            .name = "residuals"};
    c->status = dag_matrix_new(s->ctx, &desc, &s->R);
    desc.name = "sizes of residuals";
    if (c->status == DAG_SUCCESS)
        c->status = dag_matrix_new(s->ctx, &desc, &s->W);
    s->last = malloc((size_t)B->n * sizeof(*s->last) + 1);
    if (c->status == DAG_SUCCESS && s->last == NULL)
        c->status = dag_error(s->ctx, DAG_ERR_NOMEM, "%s: no memory for errors", s->entry.name);
}

/* What an element of |r| and one of W, `size`, grow by, as in LAPACK: a little where their quotient
 * would be that of two numbers near underflow, else nothing. */
static double guard(const dag_matrix *R, double size)
{
    double least = dag_precision_real(R->prec) == DAG_S ? (double)FLT_MIN : DBL_MIN;
    double safe = (double)(R->m + 1) * least;
    return size > safe / (dag_la_eps(R->prec) / 2) ? 0 : safe;
}

/* Largest quotients of the elements of R and W in each column. */
static dag_status quotients(dag_matrix *R, int64_t ti, int64_t tj, const dag_element *e, void *arg)
{
    const refinement *s = arg;
    int64_t ld;
    const void *sizes = dag_matrix_at(s->W, ti, tj, &ld);
    for (int64_t j = 0; j < e->shape.n; j++)
        for (int64_t i = 0; i < e->shape.m; i++) {
            double r[2], w[2], *most = &s->error[tj * R->nb + j];
            dagi_element(R->prec, e->ptr, i + j * e->ld, r);
            dagi_element(R->prec, sizes, i + j * ld, w);
            double small = guard(R, w[0]);
            double quotient = (hypot(r[0], r[1]) + small) / (w[0] + small);
            if (quotient > *most || isnan(quotient))
                *most = quotient;
        }
    return DAG_SUCCESS;
}

static dag_status residual(refinement *s)
{
    DAGI_MAKERS(backward) make[4] = DAGI_FOUR(backward);
    int herm = s->uplo != DAG_GENERAL, turned = s->trans != DAG_NO_TRANS;
    return dag_run(s->ctx, make[s->A->prec](s->ctx, s->A, s->B, s->X, s->R, s->W, herm,
                                            s->uplo == DAG_LOWER, turned, s->trans));
}

/* The same where messages are slow. */
static dag_status residual_far(refinement *s)
{
    DAGI_MAKERS(backward_few) make[4] = DAGI_FOUR(backward_few);
    const la_few *few = &s->few.how;
    const la_backward how = {s->uplo != DAG_GENERAL, s->uplo == DAG_LOWER, s->trans};
    size_t item = dag_precision_size(s->A->prec);
    dag_shape x = {few->n, s->B->n, item}, both = {2 * few->n, s->B->n, item};
    dag_shape group = {2 * few->group * few->nb, s->B->n, item};
    return dag_run(s->ctx, make[s->A->prec](s->ctx, s->A, s->B, s->X, s->R, s->W, s->few.ranks, few, &how,
                                            (int)(s->A->p * s->A->q), la_few_groups(few), &x, &group,
                                            &both));
}

/* R, W and the backward errors of X. */
static dag_status judge(refinement *s)
{
    dag_status status = s->far ? residual_far(s) : residual(s);
    for (int64_t j = 0; j < s->B->n; j++)
        s->error[j] = 0;
    if (status != DAG_SUCCESS)
        return status;
    (void)dag_matrix_each_local(s->R, quotients, s);
    return dag_allreduce(s->ctx, DAG_MAX, s->error, s->B->n);
}

/* Residuals of columns that are done become 0, so that a step leaves these columns alone. */
static dag_status silence(dag_matrix *R, int64_t ti, int64_t tj, const dag_element *e, void *arg)
{
    const refinement *s = arg;
    size_t item = dag_precision_size(R->prec);
    (void)ti;
    for (int64_t j = 0; j < e->shape.n; j++)
        if (s->last[tj * R->nb + j] < 0)
            memset((char *)e->ptr + (size_t)(j * e->ld) * item, 0, (size_t)e->shape.m * item);
    return DAG_SUCCESS;
}

/* Whether a column is left that gains by another step: its error is above eps and has been halved
 * by the last one. */
static bool go_on(refinement *s)
{
    double eps = dag_la_eps(s->A->prec) / 2;
    bool any = false;
    for (int64_t j = 0; j < s->B->n; j++) {
        bool gains = s->last[j] >= 0 && s->error[j] > eps && 2 * s->error[j] <= s->last[j];
        s->last[j] = gains ? s->error[j] : -1;
        any |= gains;
    }
    return any;
}

static dag_status step(refinement *s)
{
    (void)dag_matrix_each_local(s->R, silence, s);
    dag_status status = s->uplo == DAG_GENERAL
                            ? dag_getrs(s->ctx, s->trans, s->F, s->ipiv, s->R)
                            : dag_potrs(s->ctx, s->uplo, s->F, s->R);
    if (status == DAG_SUCCESS)
        status = dag_geadd(s->ctx, DAG_GENERAL, DAG_NO_TRANS, 1, s->R, 1, s->X);
    return status == DAG_SUCCESS ? judge(s) : status;
}

/* ---- forward errors ------------------------------------------------------------------------ */

/* W := |r| + (n + 1) eps W, what the residuals may be in exact arithmetic. R and W are those of
 * the solution as it is. */
static dag_status widen(dag_matrix *R, int64_t ti, int64_t tj, const dag_element *e, void *arg)
{
    const refinement *s = arg;
    double eps = dag_la_eps(R->prec) / 2;
    int64_t ld;
    void *sizes = dag_matrix_at(s->W, ti, tj, &ld);
    for (int64_t j = 0; j < e->shape.n; j++)
        for (int64_t i = 0; i < e->shape.m; i++) {
            double r[2], w[2];
            dagi_element(R->prec, e->ptr, i + j * e->ld, r);
            dagi_element(R->prec, sizes, i + j * ld, w);
            w[0] = hypot(r[0], r[1]) + (double)(R->m + 1) * eps * w[0] + guard(R, w[0]);
            w[1] = 0;
            dagi_set_element(R->prec, sizes, i + j * ld, w);
        }
    return DAG_SUCCESS;
}

static dag_status times_sizes(dag_matrix *X, int64_t ti, int64_t tj, const dag_element *e,
                              void *arg)
{
    const refinement *s = arg;
    int64_t ld;
    const void *sizes = dag_matrix_at(s->W, ti, tj, &ld);
    for (int64_t j = 0; j < e->shape.n; j++)
        for (int64_t i = 0; i < e->shape.m; i++) {
            double x[2], w[2];
            dagi_element(X->prec, e->ptr, i + j * e->ld, x);
            dagi_element(X->prec, sizes, i + j * ld, w);
            x[0] *= w[0];
            x[1] *= w[0];
            dagi_set_element(X->prec, e->ptr, i + j * e->ld, x);
        }
    return DAG_SUCCESS;
}

/* M = (op(A)^-1 diag(W))^H, whose one-norm is the infinity norm of what is wanted. As in LAPACK
 * the adjoint stands for the transpose where elements are complex, which changes no size. */
static dag_status spread(void *arg, int adjoint, dag_matrix *X)
{
    refinement *s = arg;
    bool plain = (s->trans == DAG_NO_TRANS) == (adjoint != 0);
    if (adjoint)
        (void)dag_matrix_each_local(X, times_sizes, s);
    dag_status status = s->uplo != DAG_GENERAL
                            ? dag_potrs(s->ctx, s->uplo, s->F, X)
                            : dag_getrs(s->ctx, plain ? DAG_NO_TRANS : DAG_CONJ_TRANS, s->F,
                                        s->ipiv, X);
    if (status == DAG_SUCCESS && !adjoint)
        (void)dag_matrix_each_local(X, times_sizes, s);
    return status;
}

static dag_status bound(refinement *s)
{
    int64_t k = s->B->n;
    double *largest = s->last; /* needed no more */
    for (int64_t j = 0; j < k; j++)
        largest[j] = 0;
    dagi_column_maxima(s->X, largest);
    dag_status status = dag_allreduce(s->ctx, DAG_MAX, largest, k);
    (void)dag_matrix_each_local(s->R, widen, s);
    if (status == DAG_SUCCESS)
        status = dagi_la_estimate(s->ctx, spread, s, s->R, s->forward);
    for (int64_t j = 0; j < k && status == DAG_SUCCESS; j++)
        if (largest[j] != 0)
            s->forward[j] /= largest[j];
    return status;
}

static dag_status refine(refinement *s)
{
    for (int64_t j = 0; j < s->B->n; j++) {
        s->error[j] = 0;
        s->last[j] = 3;
        if (s->forward != NULL)
            s->forward[j] = 0;
    }
    if (s->A->n == 0 || s->B->n == 0)
        return DAG_SUCCESS;
    bool kept = dagi_la_keep(s->ctx, s->F, DAG_RESIDENT_SAVED);
    dag_status status = judge(s);
    for (int i = 0; status == DAG_SUCCESS && i < s->steps && go_on(s); i++)
        status = step(s);
    if (status == DAG_SUCCESS && s->forward != NULL)
        status = bound(s);
    return dagi_la_let_go(s->ctx, s->F, kept, status);
}

static dag_status run(refinement s)
{
    dagi_check c;
    check(&c, &s);
    allocate(&c, &s);
    if (dagi_check_agreed(&c)) {
        (void)dag_kernels_init(NULL);
        s.far = dagi_few_agreed(&s.few, &c);
        c.status = refine(&s);
    }
    dagi_few_free(&s.few);
    dag_matrix_free(s.R);
    dag_matrix_free(s.W);
    free(s.last);
    return c.status;
}

static dag_status gerfs(dag_context *ctx, dagi_entry entry, int steps, dag_trans trans,
                        dag_matrix *A, dag_matrix *F, const int64_t *ipiv, dag_matrix *B,
                        dag_matrix *X, double *ferr, double *berr)
{
    return run((refinement){.ctx = ctx, .entry = entry, .uplo = DAG_GENERAL, .steps = steps,
                            .trans = trans, .A = A, .F = F, .ipiv = ipiv, .B = B, .X = X,
                            .forward = ferr, .error = berr});
}

static dag_status porfs(dag_context *ctx, dagi_entry entry, int steps, dag_uplo uplo, dag_matrix *A,
                        dag_matrix *F, dag_matrix *B, dag_matrix *X, double *ferr, double *berr)
{
    dagi_check c;
    dagi_check_start(&c, ctx, entry.name);
    dagi_check_uplo(&c, uplo); /* DAG_GENERAL has another meaning in run() */
    if (!dagi_check_agreed(&c))
        return c.status;
    return run((refinement){.ctx = ctx, .entry = entry, .uplo = uplo, .steps = steps,
                            .trans = DAG_NO_TRANS, .A = A, .F = F, .B = B, .X = X,
                            .forward = ferr, .error = berr});
}

#define GERFS(name, steps)                                                                         \
    DAGI_ENTRIES(dag_status, name,                                                                 \
                 (dag_context *ctx, dag_trans trans, dag_matrix *A, dag_matrix *F,                 \
                  const int64_t *ipiv, dag_matrix *B, dag_matrix *X, double *ferr, double *berr),  \
                 gerfs(ctx, entry, steps, trans, A, F, ipiv, B, X, ferr, berr))
#define PORFS(name, steps)                                                                         \
    DAGI_ENTRIES(dag_status, name,                                                                 \
                 (dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *F, dag_matrix *B,    \
                  dag_matrix *X, double *ferr, double *berr),                                      \
                 porfs(ctx, entry, steps, uplo, A, F, B, X, ferr, berr))
GERFS(gerfs, STEPS)
PORFS(porfs, STEPS)
GERFS(gerfs_bounds, 0)
PORFS(porfs_bounds, 0)

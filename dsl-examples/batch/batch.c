/* Routines on batches: checks the arguments, divides the work, runs it. */
#include "batch/batch.h"
#include "la/check.h"
#include "la/precisions.h"

#include <dag/kernels.h>
#include <dag/la.h>
#include <dag/vector.h>

#include "batch_all.h"

#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>

/* ---- checks ------------------------------------------------------------------------------- */

static void check_sizes(dagi_check *c, const char *name, const dag_batch *b, int64_t i)
{
    dag_batch_shape s = b->each != NULL ? b->each[i] : b->all;
    if (s.m < 0 || s.n < 0 || s.m > INT_MAX || s.n > INT_MAX || s.ld > INT_MAX)
        dagi_check_fail(c, "matrix %" PRId64 " of %s is %" PRId64 " x %" PRId64 " with leading dimension %"
                        PRId64 "; they must be between 0 and %d", i, name, s.m, s.n, s.ld, INT_MAX);
    else if (s.ld < 0 || (s.ld > 0 && s.ld < s.m))
        dagi_check_fail(c, "matrix %" PRId64 " of %s has %" PRId64 " rows, but leading dimension %" PRId64,
                        i, name, s.m, s.ld);
    else if (s.m > 0 && s.n > 0 && batch_matrix(b, i).at == NULL)
        dagi_check_fail(c, "matrix %" PRId64 " of %s is NULL", i, name);
}

static void check_batch(dagi_check *c, const char *name, int prec, const dag_batch *b)
{
    dagi_check_present(c, name, b);
    if (c->status != DAG_SUCCESS)
        return;
    if (b->prec != DAG_S && b->prec != DAG_D && b->prec != DAG_C && b->prec != DAG_Z)
        dagi_check_fail(c, "%s has elements of an unknown type %d", name, (int)b->prec);
    else if (prec != DAGI_ANY && (int)b->prec != prec)
        dagi_check_fail(c, "%s holds '%c' elements, not '%c'", name, dag_precision_letter(b->prec),
                        dag_precision_letter((dag_precision)prec));
    else if (b->count < 0)
        dagi_check_fail(c, "%s has %" PRId64 " matrices", name, b->count);
    else if (b->at == NULL && b->each != NULL && b->count > 0)
        dagi_check_fail(c, "%s has matrices of several sizes, but `at` is NULL", name);
    else if (b->stride < 0)
        dagi_check_fail(c, "%s has stride %" PRId64, name, b->stride);
    int64_t distinct = b->each != NULL || b->at != NULL ? b->count : b->count > 0;
    for (int64_t i = 0; i < distinct && c->status == DAG_SUCCESS; i++)
        check_sizes(c, name, b, i);
    if (c->status != DAG_SUCCESS || b->at != NULL || b->stride == 0 || b->count < 2)
        return;
    dagi_array a = batch_matrix(b, 0);
    if (a.m > 0 && a.n > 0 && b->stride < (int64_t)a.ld * (a.n - 1) + a.m)
        dagi_check_fail(c, "%s has stride %" PRId64 "; its matrices take %" PRId64, name, b->stride,
                        (int64_t)a.ld * (a.n - 1) + a.m);
}

static void check_beside(dagi_check *c, const char *name, const dag_batch *b, const dag_batch *A)
{
    check_batch(c, name, DAGI_ANY, b);
    if (c->status == DAG_SUCCESS && b->prec != A->prec)
        dagi_check_fail(c, "A holds '%c' elements and %s '%c'", dag_precision_letter(A->prec), name,
                        dag_precision_letter(b->prec));
    if (c->status == DAG_SUCCESS && b->count != A->count)
        dagi_check_fail(c, "A has %" PRId64 " matrices and %s %" PRId64, A->count, name, b->count);
}

/* Matrix i of the arguments fits: of what a call wants of sizes, `rule` is one. */
static void check_equal(dagi_check *c, int64_t i, const char *what, int64_t is, const char *rule,
                        int64_t wanted)
{
    if (c->status == DAG_SUCCESS && is != wanted)
        dagi_check_fail(c, "matrix %" PRId64 ": %s are %" PRId64 ", %s %" PRId64 "; they must be the same", i,
                        what, is, rule, wanted);
}

static void check_fit(dagi_check *c, const batch_call *call, int64_t i)
{
    dagi_array a[BATCH_MATRICES] = {{0}};
    for (int x = 0; x < BATCH_MATRICES && call->A[x] != NULL; x++)
        a[x] = batch_matrix(call->A[x], i);
    int rank = a[0].m < a[0].n ? a[0].m : a[0].n;
    if (call->what == BATCH_GEMM) {
        bool ta = call->transa != DAG_NO_TRANS, tb = call->transb != DAG_NO_TRANS;
        check_equal(c, i, "the rows of op(A)", ta ? a[0].n : a[0].m, "those of C", a[2].m);
        check_equal(c, i, "the columns of op(B)", tb ? a[1].m : a[1].n, "those of C", a[2].n);
        check_equal(c, i, "the columns of op(A)", ta ? a[0].m : a[0].n, "the rows of op(B)",
                    tb ? a[1].n : a[1].m);
        return;
    }
    if (call->what != BATCH_GETRF && call->what != BATCH_GEQRF)
        check_equal(c, i, "the rows of A", a[0].m, "its columns", a[0].n);
    if (call->what == BATCH_TRSM && call->side == DAG_RIGHT)
        check_equal(c, i, "the columns of B", a[1].n, "the rows of A", a[0].m);
    else if (call->A[1] != NULL)
        check_equal(c, i, "the rows of B", a[1].m, "those of A", a[0].m);
    if (c->status == DAG_SUCCESS && (call->ipiv != NULL || call->tau != NULL) && call->stride < rank)
        dagi_check_fail(c, "stride is %" PRId64 "; matrix %" PRId64 " needs %d", call->stride, i, rank);
}

/* ---- running ------------------------------------------------------------------------------ */

static dag_status run_tasks(dag_context *ctx, batch_call *call, int64_t most)
{
    dag_vector *places = NULL;
    int ranks = dag_size(ctx);
    if (most > INT_MAX / ranks)
        return dag_error(ctx, DAG_ERR_ARG, "a batch of %" PRId64 " tasks is too large", most);
    dag_status status = dag_vector_new(ctx, most * ranks, 0, &places);
    if (status == DAG_SUCCESS)
        status = dag_run(ctx, batch_all_new(ctx, places, call, (int)most * ranks, ranks));
    dag_vector_free(places);
    return status;
}

/* Arguments have been checked here; ranks agree on them, and it is done. */
static dag_status run(dagi_check *c, batch_call *call)
{
    if (c->status == DAG_SUCCESS && dag_simulated(c->ctx))
        c->status = dag_error(c->ctx, DAG_ERR_UNSUPPORTED, "%s: batches are not simulated", c->routine);
    if (c->status == DAG_SUCCESS && batch_plan(call, dag_workers(c->ctx)) != DAG_SUCCESS)
        c->status = dag_error(c->ctx, DAG_ERR_NOMEM, "%s: no memory to divide the batch", c->routine);
    if (dagi_check_agreed(c)) {
        double most = (double)call->tasks;
        (void)dag_kernels_init(NULL);
        if (call->tasks <= 1 && dag_direct(c->ctx))
            batch_run(call, 0);
        else if ((c->status = dag_allreduce(c->ctx, DAG_MAX, &most, 1)) == DAG_SUCCESS && most > 0)
            c->status = run_tasks(c->ctx, call, (int64_t)most);
    }
    if (c->status == DAG_SUCCESS && atomic_load(&call->failed))
        c->status = dag_error(c->ctx, DAG_ERR_NOMEM, "%s: no memory for the workspace of a task", c->routine);
    batch_free(call);
    return c->status;
}

/* The arguments that batches are, and what is written per matrix. */
static dag_status do_batch(dagi_check *c, dagi_entry entry, batch_call *call)
{
    static const char *const names[BATCH_MATRICES] = {"A", "B", "C"};
    int matrices = call->what == BATCH_GEMM ? 3 : call->what >= BATCH_TRSM ? 2 : 1;
    check_batch(c, names[0], entry.prec, call->A[0]);
    for (int x = 1; x < matrices; x++)
        check_beside(c, names[x], call->A[x], call->A[0]);
    if (c->status == DAG_SUCCESS) {
        call->prec = call->A[0]->prec;
        call->count = call->A[0]->count;
    }
    for (int64_t i = 0; i < call->count && c->status == DAG_SUCCESS; i++)
        check_fit(c, call, i);
    if (call->count > 0 && call->what != BATCH_GEQRF && call->what != BATCH_GEMM && call->what != BATCH_TRSM)
        dagi_check_present(c, "info", call->info);
    if (call->count > 0 && (call->what == BATCH_GETRF || call->what == BATCH_GESV))
        dagi_check_present(c, "ipiv", call->ipiv);
    if (call->count > 0 && call->what == BATCH_GEQRF)
        dagi_check_present(c, "tau", call->tau);
    return run(c, call);
}

/* ---- entries ------------------------------------------------------------------------------ */

static dag_status cholesky(dag_context *ctx, dagi_entry entry, batch_routine what, dag_uplo uplo,
                           const dag_batch *A, const dag_batch *B, int64_t *info)
{
    dagi_check c;
    dagi_check_start(&c, ctx, entry.name);
    batch_call call = {.what = what, .A = {A, B}, .uplo = uplo, .info = info};
    dagi_check_uplo(&c, uplo);
    return do_batch(&c, entry, &call);
}

static dag_status lu(dag_context *ctx, dagi_entry entry, batch_routine what, const dag_batch *A,
                     int64_t *ipiv, int64_t stride, const dag_batch *B, int64_t *info)
{
    dagi_check c;
    dagi_check_start(&c, ctx, entry.name);
    batch_call call = {.what = what, .A = {A, B}, .ipiv = ipiv, .stride = stride, .info = info};
    return do_batch(&c, entry, &call);
}

static dag_status qr(dag_context *ctx, dagi_entry entry, const dag_batch *A, void *tau, int64_t stride)
{
    dagi_check c;
    dagi_check_start(&c, ctx, entry.name);
    batch_call call = {.what = BATCH_GEQRF, .A = {A}, .tau = tau, .stride = stride};
    return do_batch(&c, entry, &call);
}

static void check_scalar(dagi_check *c, const char *name, dag_dcomplex value, const dag_batch *A)
{
    dagi_check_same(c, name, &value, sizeof(value));
    if (c->status == DAG_SUCCESS && A != NULL && !dag_precision_is_complex(A->prec) &&
        __builtin_cimag(value) != 0)
        dagi_check_fail(c, "%s has an imaginary part, but the matrices are real", name);
}

static dag_status product(dag_context *ctx, dagi_entry entry, batch_call call)
{
    dagi_check c;
    dagi_check_start(&c, ctx, entry.name);
    dagi_check_trans(&c, "transa", call.transa);
    dagi_check_trans(&c, "transb", call.transb);
    check_scalar(&c, "alpha", call.alpha, call.A[0]);
    check_scalar(&c, "beta", call.beta, call.A[0]);
    return do_batch(&c, entry, &call);
}

static dag_status triangular(dag_context *ctx, dagi_entry entry, batch_call call)
{
    dagi_check c;
    dagi_check_start(&c, ctx, entry.name);
    dagi_check_side(&c, call.side);
    dagi_check_uplo(&c, call.uplo);
    dagi_check_trans(&c, "trans", call.transa);
    dagi_check_diag(&c, call.diag);
    check_scalar(&c, "alpha", call.alpha, call.A[0]);
    return do_batch(&c, entry, &call);
}

DAGI_ENTRIES(dag_status, potrf_batch,
             (dag_context *ctx, dag_uplo uplo, const dag_batch *A, int64_t *info),
             cholesky(ctx, entry, BATCH_POTRF, uplo, A, NULL, info))
DAGI_ENTRIES(dag_status, posv_batch,
             (dag_context *ctx, dag_uplo uplo, const dag_batch *A, const dag_batch *B, int64_t *info),
             cholesky(ctx, entry, BATCH_POSV, uplo, A, B, info))
DAGI_ENTRIES(dag_status, getrf_batch,
             (dag_context *ctx, const dag_batch *A, int64_t *ipiv, int64_t stride, int64_t *info),
             lu(ctx, entry, BATCH_GETRF, A, ipiv, stride, NULL, info))
DAGI_ENTRIES(dag_status, gesv_batch,
             (dag_context *ctx, const dag_batch *A, int64_t *ipiv, int64_t stride, const dag_batch *B,
              int64_t *info),
             lu(ctx, entry, BATCH_GESV, A, ipiv, stride, B, info))
DAGI_ENTRIES(dag_status, geqrf_batch,
             (dag_context *ctx, const dag_batch *A, void *tau, int64_t stride),
             qr(ctx, entry, A, tau, stride))

#define GEMM(p, PREC, elem, real, name)                                                            \
    dag_status dag_##p##name(dag_context *ctx, dag_trans transa, dag_trans transb, elem alpha,     \
                             const dag_batch *A, const dag_batch *B, elem beta,                    \
                             const dag_batch *C)                                                   \
    {                                                                                              \
        return product(ctx, (dagi_entry){"dag_" #p #name, PREC},                                   \
                       (batch_call){.what = BATCH_GEMM, .A = {A, B, C}, .transa = transa,          \
                                    .transb = transb, .alpha = alpha, .beta = beta});              \
    }
#define TRSM(p, PREC, elem, real, name)                                                            \
    dag_status dag_##p##name(dag_context *ctx, dag_side side, dag_uplo uplo, dag_trans trans,      \
                             dag_diag diag, elem alpha, const dag_batch *A, const dag_batch *B)    \
    {                                                                                              \
        return triangular(ctx, (dagi_entry){"dag_" #p #name, PREC},                                \
                          (batch_call){.what = BATCH_TRSM, .A = {A, B}, .side = side,              \
                                       .uplo = uplo, .transa = trans, .diag = diag,                \
                                       .alpha = alpha});                                           \
    }
DAGI_ALL_TYPES(GEMM, gemm_batch)
DAGI_ALL_TYPES(TRSM, trsm_batch)

/* Entry points named after LAPACK: check the arguments, pick the graph. */
#include "la/agreed.h"
#include "la/pools.h"
#include "la/resident.h"

#include <dag/kernels.h>

#include "potrf_L.h"
#include "potrf_U.h"
#include "potrs_L.h"
#include "potrs_U.h"

#include <inttypes.h>

static dag_status check_triangle(dag_context *ctx, const char *routine, dag_uplo uplo,
                                 const dag_matrix *A)
{
    dag_status status = dagi_la_present(ctx, routine, "A", A);
    if (status != DAG_SUCCESS)
        return status;
    if (uplo != DAG_LOWER && uplo != DAG_UPPER)
        return dag_error(ctx, DAG_ERR_ARG, "%s: uplo is %d; it must be DAG_LOWER or DAG_UPPER",
                         routine, (int)uplo);
    if (A->m != A->n)
        return dag_error(ctx, DAG_ERR_ARG, "%s: A is %" PRId64 " x %" PRId64
                         "; it must be square", routine, A->m, A->n);
    if (A->mb != A->nb)
        return dag_error(ctx, DAG_ERR_ARG, "%s: the tiles of A are %" PRId64 " x %" PRId64
                         "; they must be square", routine, A->mb, A->nb);
    if (A->uplo != DAG_GENERAL && A->uplo != uplo)
        return dag_error(ctx, DAG_ERR_ARG, "%s: uplo is %s, but A stores the %s triangle only",
                         routine, uplo == DAG_LOWER ? "lower" : "upper",
                         A->uplo == DAG_LOWER ? "lower" : "upper");
    return DAG_SUCCESS;
}

static dag_status check_solve(dag_context *ctx, const char *routine, dag_uplo uplo,
                              const dag_matrix *A, const dag_matrix *B)
{
    dag_status status = check_triangle(ctx, routine, uplo, A);
    if (status == DAG_SUCCESS)
        status = dagi_la_present(ctx, routine, "B", B);
    if (status != DAG_SUCCESS)
        return status;
    if (B->prec != A->prec)
        return dag_error(ctx, DAG_ERR_ARG, "%s: A holds '%c' elements and B '%c'", routine,
                         dag_precision_letter(A->prec), dag_precision_letter(B->prec));
    if (B->m != A->m || B->mb != A->mb)
        return dag_error(ctx, DAG_ERR_ARG, "%s: A has %" PRId64 " rows in tiles of %" PRId64
                         ", B has %" PRId64 " in tiles of %" PRId64 "; they must be the same",
                         routine, A->m, A->mb, B->m, B->mb);
    if (B->uplo != DAG_GENERAL)
        return dag_error(ctx, DAG_ERR_ARG, "%s: B must have all its tiles", routine);
    return DAG_SUCCESS;
}

/* `prec` of the following is the element type that a typed routine wants, or ANY. */
enum { ANY = -1 };

static dag_status check_precision(dag_context *ctx, const char *routine, int prec,
                                  const dag_matrix *A)
{
    if (prec == ANY || A == NULL || (int)A->prec == prec) /* NULL is found later */
        return DAG_SUCCESS;
    return dag_error(ctx, DAG_ERR_ARG, "dag_%c%s: A holds '%c' elements",
                     dag_precision_letter((dag_precision)prec), routine,
                     dag_precision_letter(A->prec));
}

/* ---- pools ------------------------------------------------------------------------------- */

/* Arguments have been checked. */
static dag_taskpool *potrf_pool(dag_context *ctx, dag_uplo uplo, dag_matrix *A)
{
    static dag_taskpool *(*const make[2][4])(dag_context *, dag_matrix *) = {
        {potrf_L_s_new, potrf_L_d_new, potrf_L_c_new, potrf_L_z_new},
        {potrf_U_s_new, potrf_U_d_new, potrf_U_c_new, potrf_U_z_new}};
    (void)dag_kernels_init(NULL); /* the caller asks for the result if it matters to it */
    return make[uplo == DAG_UPPER][A->prec](ctx, A);
}

static dag_taskpool *potrs_pool(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *B)
{
    static dag_taskpool *(*const make[2][4])(dag_context *, dag_matrix *, dag_matrix *) = {
        {potrs_L_s_new, potrs_L_d_new, potrs_L_c_new, potrs_L_z_new},
        {potrs_U_s_new, potrs_U_d_new, potrs_U_c_new, potrs_U_z_new}};
    (void)dag_kernels_init(NULL);
    return make[uplo == DAG_UPPER][A->prec](ctx, A, B);
}

dag_taskpool *dag_potrf_new(dag_context *ctx, dag_uplo uplo, dag_matrix *A)
{
    dag_status status = check_triangle(ctx, "dag_potrf", uplo, A);
    return status == DAG_SUCCESS ? potrf_pool(ctx, uplo, A) : NULL;
}

dag_taskpool *dag_potrs_new(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *B)
{
    dag_status status = check_solve(ctx, "dag_potrs", uplo, A, B);
    return status == DAG_SUCCESS ? potrs_pool(ctx, uplo, A, B) : NULL;
}

/* ---- runs to the end --------------------------------------------------------------------- */

static dag_status do_potrf(dag_context *ctx, int prec, dag_uplo uplo, dag_matrix *A, int64_t *info)
{
    dag_status status = check_precision(ctx, "potrf", prec, A);
    if (status == DAG_SUCCESS)
        status = check_triangle(ctx, "dag_potrf", uplo, A);
    status = dagi_la_agreed(ctx, "dag_potrf", status);
    return status == DAG_SUCCESS ? dagi_run_info(ctx, potrf_pool(ctx, uplo, A), info) : status;
}

static dag_status do_potrs(dag_context *ctx, int prec, dag_uplo uplo, dag_matrix *A, dag_matrix *B)
{
    dag_status status = check_precision(ctx, "potrs", prec, A);
    if (status == DAG_SUCCESS)
        status = check_solve(ctx, "dag_potrs", uplo, A, B);
    status = dagi_la_agreed(ctx, "dag_potrs", status);
    return status == DAG_SUCCESS ? dag_run(ctx, potrs_pool(ctx, uplo, A, B)) : status;
}

static dag_status do_posv(dag_context *ctx, int prec, dag_uplo uplo, dag_matrix *A, dag_matrix *B,
                          int64_t *info)
{
    dag_status status = check_precision(ctx, "posv", prec, A);
    if (status == DAG_SUCCESS)
        status = check_solve(ctx, "dag_posv", uplo, A, B);
    if (status == DAG_SUCCESS)
        status = dagi_la_present(ctx, "dag_posv", "info", info);
    status = dagi_la_agreed(ctx, "dag_posv", status);
    if (status != DAG_SUCCESS)
        return status;
    bool kept = dagi_la_keep(ctx, A, DAG_RESIDENT_SAVED);
    status = dagi_run_info(ctx, potrf_pool(ctx, uplo, A), info);
    if (status == DAG_SUCCESS && *info == 0)
        status = dag_run(ctx, potrs_pool(ctx, uplo, A, B));
    return dagi_la_let_go(ctx, A, kept, status);
}

dag_status dag_potrf(dag_context *ctx, dag_uplo uplo, dag_matrix *A, int64_t *info)
{
    return do_potrf(ctx, ANY, uplo, A, info);
}

dag_status dag_potrs(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *B)
{
    return do_potrs(ctx, ANY, uplo, A, B);
}

dag_status dag_posv(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *B, int64_t *info)
{
    return do_posv(ctx, ANY, uplo, A, B, info);
}

#define TYPED(p, PREC)                                                                             \
    dag_status dag_##p##potrf(dag_context *ctx, dag_uplo uplo, dag_matrix *A, int64_t *info)       \
    {                                                                                              \
        return do_potrf(ctx, PREC, uplo, A, info);                                                 \
    }                                                                                              \
    dag_taskpool *dag_##p##potrf_new(dag_context *ctx, dag_uplo uplo, dag_matrix *A)               \
    {                                                                                              \
        dag_status status = check_precision(ctx, "potrf", PREC, A);                                \
        return status != DAG_SUCCESS ? NULL : dag_potrf_new(ctx, uplo, A);                         \
    }                                                                                              \
    dag_status dag_##p##potrs(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *B)       \
    {                                                                                              \
        return do_potrs(ctx, PREC, uplo, A, B);                                                    \
    }                                                                                              \
    dag_taskpool *dag_##p##potrs_new(dag_context *ctx, dag_uplo uplo, dag_matrix *A,               \
                                     dag_matrix *B)                                                \
    {                                                                                              \
        dag_status status = check_precision(ctx, "potrs", PREC, A);                                \
        return status != DAG_SUCCESS ? NULL : dag_potrs_new(ctx, uplo, A, B);                      \
    }                                                                                              \
    dag_status dag_##p##posv(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *B,        \
                             int64_t *info)                                                        \
    {                                                                                              \
        return do_posv(ctx, PREC, uplo, A, B, info);                                               \
    }
TYPED(s, DAG_S)
TYPED(d, DAG_D)
TYPED(c, DAG_C)
TYPED(z, DAG_Z)

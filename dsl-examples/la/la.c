/* Entry points named after LAPACK: check the arguments, pick the graph. */
#include <dag/kernels.h>
#include <dag/la.h>

#include "potrf_L.h"
#include "potrf_U.h"
#include "potrs_L.h"
#include "potrs_U.h"

#include <inttypes.h>

static dag_status check_triangle(dag_context *ctx, const char *routine, dag_uplo uplo,
                                 const dag_matrix *A)
{
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

static dag_status check_precision(dag_context *ctx, const char *routine, dag_precision prec,
                                  const dag_matrix *A)
{
    if (A->prec == prec)
        return DAG_SUCCESS;
    return dag_error(ctx, DAG_ERR_ARG, "dag_%c%s: A holds '%c' elements",
                     dag_precision_letter(prec), routine, dag_precision_letter(A->prec));
}

dag_taskpool *dag_potrf_new(dag_context *ctx, dag_uplo uplo, dag_matrix *A)
{
    static dag_taskpool *(*const make[2][4])(dag_context *, dag_matrix *) = {
        {potrf_L_s_new, potrf_L_d_new, potrf_L_c_new, potrf_L_z_new},
        {potrf_U_s_new, potrf_U_d_new, potrf_U_c_new, potrf_U_z_new}};
    if (check_triangle(ctx, "dag_potrf", uplo, A) != DAG_SUCCESS)
        return NULL;
    (void)dag_kernels_init(NULL); /* the caller asks for the result if it matters to it */
    return make[uplo == DAG_UPPER][A->prec](ctx, A);
}

dag_status dag_potrf(dag_context *ctx, dag_uplo uplo, dag_matrix *A, int64_t *info)
{
    dag_taskpool *pool = dag_potrf_new(ctx, uplo, A);
    if (pool == NULL)
        return DAG_ERR_ARG;
    dag_status status = dag_add(ctx, pool);
    if (status == DAG_SUCCESS)
        status = dag_wait(pool);
    if (status == DAG_SUCCESS && info != NULL)
        *info = dag_taskpool_info(pool);
    dag_taskpool_free(pool);
    return status;
}

dag_taskpool *dag_potrs_new(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *B)
{
    static dag_taskpool *(*const make[2][4])(dag_context *, dag_matrix *, dag_matrix *) = {
        {potrs_L_s_new, potrs_L_d_new, potrs_L_c_new, potrs_L_z_new},
        {potrs_U_s_new, potrs_U_d_new, potrs_U_c_new, potrs_U_z_new}};
    if (check_solve(ctx, "dag_potrs", uplo, A, B) != DAG_SUCCESS)
        return NULL;
    (void)dag_kernels_init(NULL);
    return make[uplo == DAG_UPPER][A->prec](ctx, A, B);
}

dag_status dag_potrs(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *B)
{
    return dag_run(ctx, dag_potrs_new(ctx, uplo, A, B));
}

dag_status dag_posv(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *B, int64_t *info)
{
    dag_status status = check_solve(ctx, "dag_posv", uplo, A, B);
    if (status == DAG_SUCCESS)
        status = dag_potrf(ctx, uplo, A, info);
    if (status == DAG_SUCCESS && *info == 0)
        status = dag_potrs(ctx, uplo, A, B);
    return status;
}

#define TYPED(p, PREC)                                                                             \
    dag_status dag_##p##potrf(dag_context *ctx, dag_uplo uplo, dag_matrix *A, int64_t *info)       \
    {                                                                                              \
        dag_status status = check_precision(ctx, "potrf", PREC, A);                                \
        return status != DAG_SUCCESS ? status : dag_potrf(ctx, uplo, A, info);                     \
    }                                                                                              \
    dag_taskpool *dag_##p##potrf_new(dag_context *ctx, dag_uplo uplo, dag_matrix *A)               \
    {                                                                                              \
        dag_status status = check_precision(ctx, "potrf", PREC, A);                                \
        return status != DAG_SUCCESS ? NULL : dag_potrf_new(ctx, uplo, A);                         \
    }                                                                                              \
    dag_status dag_##p##potrs(dag_context *ctx, dag_uplo uplo, dag_matrix *A, dag_matrix *B)       \
    {                                                                                              \
        dag_status status = check_precision(ctx, "potrs", PREC, A);                                \
        return status != DAG_SUCCESS ? status : dag_potrs(ctx, uplo, A, B);                        \
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
        dag_status status = check_precision(ctx, "posv", PREC, A);                                 \
        return status != DAG_SUCCESS ? status : dag_posv(ctx, uplo, A, B, info);                   \
    }
TYPED(s, DAG_S)
TYPED(d, DAG_D)
TYPED(c, DAG_C)
TYPED(z, DAG_Z)

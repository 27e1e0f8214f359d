/* dag_gesv: solution of A X = B with a general matrix, random or from files. */
#include "solve.h"

static dag_status gesv(dag_context *ctx, const options *o, dag_matrix *A, int64_t *ipiv,
                       dag_matrix *B, int64_t *info)
{
    const dag_lu_options how = {.pivoting = o->pivoting == DRIVER_PIVOT_TOURNAMENT
                                                ? DAG_PIVOT_TOURNAMENT : DAG_PIVOT_PARTIAL};
    if (o->pivoting != DRIVER_PIVOT_NONE)
        return dag_gesv_with(ctx, A, ipiv, B, &how, info);
    dag_status status = dag_getrf_nopiv(ctx, A, info);
    for (int64_t i = 0; i < A->m; i++) /* for the refinement */
        ipiv[i] = i + 1;
    return status == DAG_SUCCESS && *info == 0 ? dag_getrs(ctx, DAG_NO_TRANS, A, NULL, B) : status;
}

static dag_status mixed(dag_context *ctx, const options *o, dag_matrix *A, int64_t *ipiv,
                        dag_matrix *B, dag_matrix *X, int *iter, int64_t *info)
{
    (void)o;
    return dag_gesv_mixed(ctx, A, ipiv, B, X, iter, info);
}

static dag_status refine(dag_context *ctx, const options *o, dag_matrix *A, dag_matrix *F,
                         const int64_t *ipiv, dag_matrix *B, dag_matrix *X, double *ferr, double *berr)
{
    (void)o;
    return ferr == NULL ? dag_gerfs(ctx, DAG_NO_TRANS, A, F, ipiv, B, X, NULL, berr)
                        : dag_gerfs_bounds(ctx, DAG_NO_TRANS, A, F, ipiv, B, X, ferr, berr);
}

static void count(double n, double nrhs, double *muls, double *adds)
{
    *muls = n * n * n / 3 - n / 3 + n * n * nrhs;
    *adds = n * n * n / 3 - n * n / 2 + n / 6 + n * (n - 1) * nrhs;
}

static const solver method = {
    .base = {.name = "gesv",
             .residual = SOLVE_RESIDUAL,
             .purpose =
                 "Solves A X = B by LU factorisation with pivoting, as dag_getrf. A is a random\n"
                 "matrix of order N (without pivoting one whose diagonal is large), or one from a\n"
                 "Matrix Market file, which every rank reads, keeping its part. B comes from --rhs; "
                 "without it, B is random for\n"
                 "a random A, and the row sums of A for one from a file, so that all\n"
                 "elements of the solution are 1. `info` is the number of the first pivot\n"
                 "that is exactly zero: the matrix is singular, and there is no solution.\n"
                 "\n"
                 SOLVE_ERRORS("A")
                 "\n"
                 "Slab storage is factored in place, tile storage is copied.\n"
                 "\n"
                 SOLVE_MIXED("the factors were singular"),
             .solves = 1},
    .solve = gesv,
    .mixed = mixed,
    .refine = refine,
    .count = count,
};

int main(int argc, char **argv)
{
    return solve_main(&method, argc, argv);
}

/* dag_posv: solution of A X = B with a positive definite matrix, random or from files. */
#include "solve.h"

static dag_status posv(dag_context *ctx, const options *o, dag_matrix *A, int64_t *ipiv,
                       dag_matrix *B, int64_t *info)
{
    (void)ipiv;
    return dag_posv(ctx, o->uplo, A, B, info);
}

static dag_status mixed(dag_context *ctx, const options *o, dag_matrix *A, int64_t *ipiv,
                        dag_matrix *B, dag_matrix *X, int *iter, int64_t *info)
{
    (void)ipiv;
    return dag_posv_mixed(ctx, o->uplo, A, B, X, iter, info);
}

static dag_status refine(dag_context *ctx, const options *o, dag_matrix *A, dag_matrix *F,
                         const int64_t *ipiv, dag_matrix *B, dag_matrix *X, double *ferr, double *berr)
{
    (void)ipiv;
    return ferr == NULL ? dag_porfs(ctx, o->uplo, A, F, B, X, NULL, berr)
                        : dag_porfs_bounds(ctx, o->uplo, A, F, B, X, ferr, berr);
}

static void count(double n, double nrhs, double *muls, double *adds)
{
    *muls = n * n * n / 6 + n * n / 2 + n / 3 + n * (n + 1) * nrhs;
    *adds = n * n * n / 6 - n / 6 + n * (n - 1) * nrhs;
}

static const solver method = {
    .base = {.name = "posv",
             .residual = SOLVE_RESIDUAL,
             .purpose =
                 "Solves A X = B by Cholesky factorisation. A is symmetric or Hermitian positive\n"
                 "definite: a random matrix of order N, or one from a Matrix Market file, which\n"
                 "every rank reads, keeping its part. B comes from --rhs; without it, B is\n"
                 "random for a random A, and the row sums of A for one from a file, so that all\n"
                 "elements of the solution are 1.\n"
                 "\n"
                 SOLVE_ERRORS("A")
                 "\n\n"
                 SOLVE_MIXED("the matrix was not positive definite in single precision"),
             .solves = 1},
    .triangle = 1,
    .solve = posv,
    .mixed = mixed,
    .refine = refine,
    .count = count,
};

int main(int argc, char **argv)
{
    return solve_main(&method, argc, argv);
}

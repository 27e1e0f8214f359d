/*
 * dag_init_mpi(): halves of MPI_COMM_WORLD, each with ranks of its own from the last to the first, factor
 * matrices of different order at the same time. MPI stays the program's.
 */
#include <dag/la.h>
#include <dag/mpi.h>

#include <stdio.h>

static int failures;

static void expect(int right, const char *what, int world)
{
    if (right)
        return;
    fprintf(stderr, "rank %d of all: %s\n", world, what);
    failures++;
}

static void refused(int world)
{
    char why[256] = "";
    dag_context *ctx = NULL;
    expect(dag_init_mpi(&ctx, NULL, MPI_COMM_NULL, why, sizeof why) == DAG_ERR_ARG && *why,
           "MPI_COMM_NULL was taken", world);
}

static void factor(dag_context *ctx, int64_t n, int world)
{
    const dag_matrix_desc desc = {.prec = DAG_D, .m = n, .n = n, .mb = 8, .nb = 8,
                                  .uplo = DAG_LOWER};
    dag_matrix *a = NULL, *original = NULL;
    int64_t info = -1;
    double residual = 1e300;
    expect(dag_matrix_new(ctx, &desc, &a) == DAG_SUCCESS &&
               dag_matrix_new(ctx, &desc, &original) == DAG_SUCCESS &&
               dag_plghe(ctx, a, (double)n, 3) == DAG_SUCCESS &&
               dag_plghe(ctx, original, (double)n, 3) == DAG_SUCCESS &&
               dag_potrf(ctx, DAG_LOWER, a, &info) == DAG_SUCCESS && info == 0 &&
               dag_potrf_residual(ctx, DAG_LOWER, a, original, &residual) == DAG_SUCCESS &&
               residual < 30, dag_message(ctx), world);
    dag_matrix_free(original);
    dag_matrix_free(a);
}

int main(int argc, char **argv)
{
    int level, world, size, part, over = 1;
    char why[256] = "";
    MPI_Comm half;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    refused(world);
    part = world % 2;
    MPI_Comm_split(MPI_COMM_WORLD, part, size - world, &half);
    for (int i = 0; i < 2; i++) {
        dag_context *ctx = NULL;
        int rank;
        MPI_Comm_rank(half, &rank);
        if (dag_init_mpi(&ctx, NULL, half, why, sizeof why) != DAG_SUCCESS) {
            fprintf(stderr, "rank %d of all: %s\n", world, why);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        expect(dag_rank(ctx) == rank && dag_size(ctx) == (size + 1 - part) / 2,
               "ranks are not those of the communicator", world);
        factor(ctx, 50 + 30 * part + i, world);
        expect(dag_fini(ctx) == DAG_SUCCESS, "dag_fini()", world);
    }
    MPI_Comm_free(&half);
    expect(MPI_Finalized(&over) == MPI_SUCCESS && !over, "MPI has been ended", world);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return failures != 0;
}

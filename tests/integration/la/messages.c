/*
 * What ranks send each other for an agreement, a few sums, a solve with one right-hand side and a condition
 * number, counted where MPI is called; and that the solve is exact where all its sums are.
 *
 * With the settings link_latency and link_rate of a slow network the solve goes by groups of tiles, and its
 * messages are bounded by their number.
 */
#include <dag/la.h>
#include <dag/lu.h>

#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 384, NB = 16, GROUP = 2, DOWN = 7, UP = 5 };

static atomic_long sends;
static int failures;

/* In the place of MPI's. */
int MPI_Isend(const void *data, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    atomic_fetch_add(&sends, 1);
    return PMPI_Isend(data, count, type, dest, tag, comm, request);
}

static void expect(int good, const char *what, double x)
{
    failures += !good;
    if (!good)
        fprintf(stderr, "%s: %g\n", what, x);
}

/* Of all ranks, since the last call. */
static double count(dag_context *ctx)
{
    static long before;
    double all = (double)(atomic_load(&sends) - before);
    expect(dag_allreduce(ctx, DAG_SUM, &all, 1) == DAG_SUCCESS, "sum", 0);
    expect(dag_barrier(ctx) == DAG_SUCCESS, "barrier", 0);
    before = atomic_load(&sends);
    return all;
}

static double x_of(int64_t i)
{
    return (double)(i * 37 % 11 - 5);
}

/* y = U x, with ones on the diagonal and UP columns behind it */
static double y_of(int64_t i)
{
    return x_of(i) + (i + UP < N ? x_of(i + UP) : 0);
}

/* Both factors in one matrix, and B = L U x; no sum is ever rounded. */
static dag_status fill(dag_matrix *A, int64_t i, int64_t j, const dag_element *e, void *arg)
{
    int right = *(const int *)arg;
    for (int64_t c = 0; c < e->shape.n; c++)
        for (int64_t r = 0; r < e->shape.m; r++) {
            int64_t row = i * A->mb + r, col = j * A->nb + c;
            double b = y_of(row) + (row >= DOWN ? y_of(row - DOWN) : 0);
            ((double *)e->ptr)[c * e->ld + r] =
                right ? b : row == col || row == col + DOWN || col == row + UP;
        }
    return DAG_SUCCESS;
}

static dag_status compare(dag_matrix *B, int64_t i, int64_t j, const dag_element *e, void *arg)
{
    (void)j;
    (void)arg;
    for (int64_t r = 0; r < e->shape.m; r++)
        expect(((double *)e->ptr)[r] == x_of(i * B->mb + r), "a wrong element of X in row",
               (double)(i * B->mb + r));
    return DAG_SUCCESS;
}

static dag_matrix *matrix(dag_context *ctx, int64_t n, int p, int q)
{
    const dag_matrix_desc desc = {.prec = DAG_D, .m = N, .n = n, .mb = NB, .nb = NB, .p = p, .q = q};
    dag_matrix *A = NULL;
    int right = n == 1;
    if (dag_matrix_new(ctx, &desc, &A) != DAG_SUCCESS ||
        dag_matrix_each_local(A, fill, &right) != DAG_SUCCESS)
        exit(1);
    return A;
}

int main(void)
{
    char why[256];
    dag_context *ctx;
    if (dag_init(&ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    int size = dag_size(ctx), groups = N / NB / GROUP;
    (void)count(ctx);
    expect(dag_barrier(ctx) == DAG_SUCCESS, "barrier", 0);
    double empty = count(ctx); /* what counting takes, with a barrier of 2 (size - 1) messages */
    expect(dag_barrier(ctx) == DAG_SUCCESS && dag_agree(ctx, DAG_SUCCESS, NULL) == DAG_SUCCESS, "agree", 0);
    double agreement = count(ctx) - empty;
    expect(agreement == 2 * (size - 1), "messages of an agreement", agreement);
    double sums[4] = {dag_rank(ctx), 1, 2, 3};
    expect(dag_barrier(ctx) == DAG_SUCCESS && dag_allreduce(ctx, DAG_SUM, sums, 4) == DAG_SUCCESS, "sums", 0);
    double added = count(ctx) - empty;
    expect(sums[0] == size * (size - 1) / 2 && sums[3] == 3 * size, "a wrong sum", sums[0]);
    expect(added == 2 * (size - 1), "messages of a few sums", added);
    dag_matrix *A = matrix(ctx, N, 2, size / 2), *B = matrix(ctx, 1, 2, size / 2);
    int64_t ipiv[N];
    for (int64_t i = 0; i < N; i++)
        ipiv[i] = i + 1;
    (void)count(ctx);
    dag_status status = dag_getrs(ctx, DAG_NO_TRANS, A, ipiv, B);
    double solve = count(ctx);
    expect(status == DAG_SUCCESS, dag_message(ctx), status);
    expect(dag_matrix_each_local(B, compare, NULL) == DAG_SUCCESS, "compare", 0);
    /* per group: of each other rank its tiles, in two messages, and a sum per sweep; to each other rank the
     * solution of each sweep; and per tile row one to rank 0 and one back */
    double most = groups * 6 * (size - 1) + 2 * N / NB + 2 * groups + 8 * (size - 1);
    expect(solve <= most, "messages of a solve", solve);
    double rcond = 0;
    (void)count(ctx);
    status = dag_gecon(ctx, DAG_NORM_ONE, A, ipiv, 1, &rcond);
    double condition = count(ctx);
    expect(status == DAG_SUCCESS && rcond > 0, dag_message(ctx), rcond);
    /* two passes over the factors; what stands between them costs agreements, not taskpools */
    expect(condition <= 2 * solve + 10 * agreement, "messages of a condition number", condition);
    if (dag_rank(ctx) == 0)
        printf("agreement %g, sums %g, solve %g messages, at most %g; condition %g\n", agreement, added,
               solve, most, condition);
    dag_matrix_free(A);
    dag_matrix_free(B);
    expect(dag_fini(ctx) == DAG_SUCCESS, "fini", 0);
    return failures != 0;
}

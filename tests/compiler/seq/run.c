/* A nest as a task graph against itself, run serially: the tiles are the same, bit for bit. With INSERTED it is the
 * program that inserts its tasks instead, in inserted.c, and HEADER is inserted.h.
 *
 * NEST is the file, MAKE makes the pool, RUN is the nest, ARGS are their arguments, SERIAL_ARGS those
 * of the nest where it takes others. The pool
 * works on matrices that are dealt to all ranks, the nest on matrices that lie on rank 0. Tasks
 * of OpenMP in it run on three threads where this is compiled for that. ORDER
 * and TILE_ROWS are the rows of a matrix and of a tile; CHECK is what the first matrix is
 * afterwards. */
#include HEADER
#include <dag/kernels.h>
#include <dag/sequential.h>

#include NEST

#include <math.h>
#include <stdbool.h>
#include <string.h>

#ifndef ORDER
#define ORDER 83
#endif
#ifndef TILE_ROWS
#define TILE_ROWS 12
#endif
#ifndef SERIAL_ARGS
#define SERIAL_ARGS ARGS
#endif
#ifndef CHECK
#define CHECK ANYTHING
#endif

enum { TILE = 12, MATRICES = 3 };
enum { ANYTHING, INVERSE, TRIANGLE };

static double *whole(dag_matrix *m, int rank)
{
    double *full = rank == 0 ? calloc(ORDER * ORDER, sizeof(double)) : NULL;
    if (dag_matrix_gather(m, full, ORDER))
        abort();
    return full;
}

/* Diagonally dominant and symmetric: what is factored has factors. */
static void fill(dag_matrix *m, double *full, int shift)
{
    for (int j = 0; full && j < ORDER; j++)
        for (int i = 0; i < ORDER; i++) {
            int a = i > j ? i : j, b = i + j - a;
            full[i + j * ORDER] =
                ((a * 31 + b * 17 + shift) % 101) / 101.0 + (i == j ? 2 * ORDER : 0);
        }
    if (dag_matrix_scatter(m, full, ORDER))
        abort();
}

static dag_matrix *matrix(dag_context *ctx, int p, int q)
{
    dag_matrix *m;
    dag_matrix_desc desc = {
        .prec = DAG_D, .m = ORDER, .n = ORDER, .mb = TILE_ROWS, .nb = TILE, .p = p, .q = q};
    if (dag_matrix_new(ctx, &desc, &m))
        abort();
    return m;
}

static dag_status run_graph(dag_context *ctx, dag_matrix *const *m)
{
    dag_matrix *A = m[0], *B = m[1], *C = m[2];
    (void)A, (void)B, (void)C;
#ifdef INSERTED
    return run_inserted(ctx, m);
#else
    return dag_run(ctx, MAKE(ctx, ARGS));
#endif
}

static void run_nest(dag_matrix *const *m)
{
    dag_matrix *A = m[0], *B = m[1], *C = m[2];
    (void)A, (void)B, (void)C;
#pragma omp parallel num_threads(3)
#pragma omp single
    RUN(SERIAL_ARGS);
}

/* Element (i, j) of what should be no more than rounding errors: A X - I where the lower triangle
 * of X is given, A^T A - R^T R where R is. */
static double left_over(int check, const double *a, const double *x, int i, int j)
{
    double sum = check == INVERSE && i == j ? -1 : 0;
    for (int k = 0; k < ORDER; k++)
        if (check == INVERSE)
            sum += a[i + k * ORDER] * x[k > j ? k + j * ORDER : j + k * ORDER];
        else
            sum += (a[k + i * ORDER] * a[k + j * ORDER] -
                    (k <= i && k <= j ? x[k + i * ORDER] * x[k + j * ORDER] : 0)) / (ORDER * ORDER);
    return sum;
}

static bool is_right(int check, const double *a, const double *x)
{
    for (int j = 0; j < ORDER && check != ANYTHING; j++)
        for (int i = 0; i < ORDER; i++)
            if (!(fabs(left_over(check, a, x, i, j)) < 1e-12))
                return false;
    return true;
}

int main(void)
{
    dag_context *ctx;
    if (dag_init(&ctx, NULL, NULL, 0))
        return 1;
    int rank = dag_rank(ctx), differences = 0;
    dag_matrix *dealt[MATRICES], *here[MATRICES];
    double *full = rank == 0 ? calloc(ORDER * ORDER, sizeof(double)) : NULL;
    for (int i = 0; i < MATRICES; i++) {
        dealt[i] = matrix(ctx, 0, 0);
        here[i] = matrix(ctx, 1, 1);
        fill(dealt[i], full, i);
        fill(here[i], full, i);
    }
    dag_status status = run_graph(ctx, dealt);
    if (rank == 0)
        run_nest(here);
    for (int i = 0; i < MATRICES; i++) {
        double *one = whole(dealt[i], rank), *other = whole(here[i], rank);
        for (int k = 0; rank == 0 && k < ORDER * ORDER; k++)
            differences += memcmp(&one[k], &other[k], sizeof(double)) != 0;
        double *before = full;
        int changed = 0;
        fill(here[i], full, i);
        for (int k = 0; rank == 0 && k < ORDER * ORDER; k++)
            changed += other[k] != before[k];
        if (rank == 0 && i == CHANGES && (changed == 0 || !is_right(CHECK, full, other)))
            differences++;
        free(one);
        free(other);
        dag_matrix_free(dealt[i]);
        dag_matrix_free(here[i]);
    }
    if (rank == 0 && differences)
        printf("%d elements differ, or nothing was changed, or the result is wrong\n", differences);
    free(full);
    dag_fini(ctx);
    return status != DAG_SUCCESS || differences || (rank == 0 && dag_seq_info != 0);
}

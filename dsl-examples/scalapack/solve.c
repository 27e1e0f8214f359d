/*
 * solve.c - a program that is laid out for ScaLAPACK and calls this library.
 *
 * A and B are dealt in blocks to a grid of processes in column-major order, as Cblacs_gridinit(..,
 * "C", ..) makes it, from a process that is not the first. The system is a part of them that begins
 * inside of a block. What pdgesv() would be called for is between the two comments in solve(); all
 * the rest stays as it is in such a program.
 *
 * The system is A(i,j) = 1/(1 + |i-j|) + n [i=j], with B such that all of X is 1.
 */
#include <dag/la.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { M = 340, N = 300, NRHS = 3, BLOCK = 32, IA = 21, JA = 7, IB = 11, JB = 2 };

/* What the program knows of its grid, as from Cblacs_gridinfo(). */
typedef struct processes {
    int nprow, npcol, myrow, mycol;
} processes;

/* One of its arrays. */
typedef struct array {
    int desc[9];
    int64_t rows, cols; /* of the local part */
    double *local;
} array;

/* Rows or columns that process `mine` of p has, as numroc_(). */
static int64_t count_local(int64_t n, int64_t block, int64_t mine, int64_t source, int64_t p)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += (i / block + source) % p == mine;
    return count;
}

/* The global index of local index l, as indxl2g_(). */
static int64_t global_of(int64_t l, int64_t block, int64_t mine, int64_t source, int64_t p)
{
    return (l / block * p + (mine + p - source) % p) * block + l % block;
}

static array new_array(const processes *g, int m, int n)
{
    array a = {.desc = {1, 0, m, n, BLOCK, BLOCK, g->nprow - 1, g->npcol - 1, 1}};
    a.rows = count_local(m, BLOCK, g->myrow, a.desc[6], g->nprow);
    a.cols = count_local(n, BLOCK, g->mycol, a.desc[7], g->npcol);
    a.desc[8] = a.rows > 1 ? (int)a.rows : 1;
    a.local = calloc((size_t)(a.desc[8] * a.cols + 1), sizeof(double));
    if (a.local == NULL)
        abort();
    return a;
}

static double element(int64_t i, int64_t j)
{
    return 1 / (1.0 + (double)llabs(i - j)) + (i == j ? N : 0);
}

static double right_hand_side(int64_t i, int64_t j)
{
    double sum = 0;
    (void)j;
    for (int64_t k = 0; k < N; k++)
        sum += element(i, k);
    return sum;
}

/* Local elements of the part that begins at (ia, ja) become value(i, j), indices being the part's;
 * without one they are compared with 1. */
static void each(const processes *g, const array *a, int ia, int ja, int64_t m, int64_t n,
                 double (*value)(int64_t i, int64_t j), double *worst)
{
    for (int64_t c = 0; c < a->cols; c++)
        for (int64_t r = 0; r < a->rows; r++) {
            int64_t i = global_of(r, BLOCK, g->myrow, a->desc[6], g->nprow) - (ia - 1);
            int64_t j = global_of(c, BLOCK, g->mycol, a->desc[7], g->npcol) - (ja - 1);
            double *x = a->local + r + c * a->desc[8];
            if (i < 0 || j < 0 || i >= m || j >= n)
                continue;
            if (value != NULL)
                *x = value(i, j);
            else if (!(fabs(*x - 1) <= *worst))
                *worst = fabs(*x - 1);
        }
}

static dag_status solve(dag_context *ctx, const processes *g, array *a, array *b, int64_t *info)
{
    static int64_t ipiv[N];
    /* pdgesv(n, nrhs, a, ia, ja, desca, ipiv, b, ib, jb, descb, info) */
    const dag_blacs_grid grid = {ctx, g->nprow, g->npcol, DAG_GRID_COLUMN_MAJOR, BLOCK};
    dag_part *A = NULL, *B = NULL;
    dag_status status =
        dag_part_open(&grid, DAG_D, DAG_PART_RW, N, N, a->local, IA, JA, a->desc, &A);
    if (status == DAG_SUCCESS)
        status = dag_part_open(&grid, DAG_D, DAG_PART_RW, N, NRHS, b->local, IB, JB, b->desc, &B);
    if (status == DAG_SUCCESS)
        status = dag_gesv(ctx, A->matrix, ipiv, B->matrix, info);
    if (dag_rank(ctx) == 0 && status == DAG_SUCCESS)
        printf("A: %s%s\n", A->copied ? "a copy, since " : "in place", A->why);
    dag_status closed_b = dag_part_close(B), closed_a = dag_part_close(A);
    /* end of what pdgesv() was */
    return status != DAG_SUCCESS ? status : closed_b != DAG_SUCCESS ? closed_b : closed_a;
}

int main(void)
{
    dag_context *ctx;
    char why[256];
    if (dag_init(&ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "scalapack_solve: %s\n", why);
        return 1;
    }
    int rank = dag_rank(ctx), size = dag_size(ctx);
    processes g = {.nprow = size % 2 == 0 ? 2 : 1};
    g.npcol = size / g.nprow;
    g.myrow = rank % g.nprow;
    g.mycol = rank / g.nprow;
    array a = new_array(&g, M, M), b = new_array(&g, M, NRHS + JB);
    each(&g, &a, IA, JA, N, N, element, NULL);
    each(&g, &b, IB, JB, N, NRHS, right_hand_side, NULL);
    int64_t info = -1;
    double worst = 0;
    dag_status status = solve(ctx, &g, &a, &b, &info);
    if (status != DAG_SUCCESS)
        fprintf(stderr, "scalapack_solve: rank %d: %s\n", rank, dag_message(ctx));
    else
        each(&g, &b, IB, JB, N, NRHS, NULL, &worst);
    if (status == DAG_SUCCESS)
        status = dag_allreduce(ctx, DAG_MAX, &worst, 1);
    if (rank == 0 && status == DAG_SUCCESS)
        printf("%d ranks: info %d, error %.1e\n", size, (int)info, worst);
    free(a.local);
    free(b.local);
    dag_fini(ctx);
    return status != DAG_SUCCESS || info != 0 || !(worst < 1e-12);
}

// sums.seq.c - loops that become a graph of tasks.
//
// This is a sequential program: C that calls functions on tiles of a matrix, in loops. Compiled by
// a C compiler it is just that, and is debugged like that:
//
//     cc sums.seq.c $(pkg-config --cflags --libs dag) -lm -o sums && ./sums
//
// dagcc derives from it which call needs what of which other one, proves that, and makes a graph
// whose tasks run on all ranks, as soon as they can:
//
//     dagcc sums.seq.c -o sums && tools/mpirun -np 2 ./sums
//     dagcc --emit=jdf sums.seq.c                            // the graph, to be read

#include <dag/sequential.h>
#include <stdbool.h>
#include <stdio.h>

#define A(i, j) DAG_AT(A, i, j)

// A kernel: what it does to its tiles, and C that does it. T has T_m rows, T_n columns and the
// leading dimension T_ld. This one writes the sums of 10 i, 10 i + 1, ..., tile by tile.
#pragma dag task out(T)
static void FILL(DAG_TILE(T), int i)
{
    double sum = 0;
    for (int k = 0; k < T_m; k++)
        T[k] = sum += i * 10 + k;
}

// What comes before is added, so that sums go on from tile to tile. `in` is read, `inout` is read
// and written.
#pragma dag task in(Before) inout(T)
static void SUM(DAG_TILE_IN(Before), DAG_TILE(T))
{
    for (int k = 0; k < T_m; k++)
        T[k] += Before[Before_m - 1];
}

// The nest: loops over tiles. FILL(1) and FILL(2) may run at once on two ranks, SUM(1) waits for
// SUM(0). Nobody said so: it follows from the order in which the loops touch the tiles.
#pragma dag graph assume(A->mt >= 1 && A->nt == 1)
static void sums(dag_matrix *A)
{
    for (int i = 0; i < A->mt; i++)
        FILL(A(i, 0), i);
    for (int i = 1; i < A->mt; i++)
        SUM(A(i - 1, 0), A(i, 0));
}

// From here on it is plain C. DAG_JDF_H is there if dagcc made a graph of the nest: then
// sums_d_new() makes one for a matrix of doubles, else sums() is the function above.
static dag_status run(dag_context *ctx, dag_matrix *A)
{
#ifdef DAG_JDF_H
    return dag_run(ctx, sums_d_new(ctx, A));
#else
    (void)ctx;
    sums(A);
    return DAG_SUCCESS;
#endif
}

int main(void)
{
    dag_context *ctx;
    dag_matrix *A;
    char why[256];
    if (dag_init(&ctx, NULL, why, sizeof why) != DAG_SUCCESS) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    dag_matrix_desc desc = {.prec = DAG_D, .m = 40, .n = 1, .mb = 10, .nb = 1};
    dag_status status = dag_matrix_new(ctx, &desc, &A);
    bool root = dag_rank(ctx) == 0;
    double all[40] = {0};
    if (status == DAG_SUCCESS) {
        status = run(ctx, A);
        if (status == DAG_SUCCESS)
            status = dag_matrix_gather(A, root ? all : NULL, 40);
        dag_matrix_free(A);
    }
    if (status != DAG_SUCCESS)
        fprintf(stderr, "%s: %s\n", dag_strerror(status), dag_message(ctx));
    else if (root)
        printf("The sum of 0 .. 39 is %g\n", all[39]);
    dag_fini(ctx);
    return status != DAG_SUCCESS || (root && all[39] != 780);
}

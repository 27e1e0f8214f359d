#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)

#pragma dag task inout(C)
static void UPDATE(DAG_TILE(C))
{
    C[0] += 1;
}

#pragma dag graph
static void nest(dag_matrix *A)
{
    DAG_TILES(A, A);
    for (int k = 0; k < A->mt; k++)
        UPDATE(A(k, 0));
}

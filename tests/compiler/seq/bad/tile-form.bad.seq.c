// options: --tile 'addr(M, i, j)'
#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)

#pragma dag task in(T) inout(C)
static void UPDATE(DAG_TILE_IN(T), DAG_TILE(C), int scale)
{
    C[0] += scale * T[0];
}

#pragma dag graph
static void nest(dag_matrix *A)
{
    for (int k = 1; k < A->mt; k++)
        UPDATE(A(k - 1, 0), A(k, 0), 1);
}

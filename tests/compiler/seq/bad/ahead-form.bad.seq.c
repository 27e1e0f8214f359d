#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)

#pragma dag task in(T) inout(C)
static void UPDATE(DAG_TILE_IN(T), DAG_TILE(C))
{
    C[0] += T[0];
}

#pragma dag graph lookahead(k) assume(A->nt >= 1)
static void nest(dag_matrix *A)
{
    for (int k = 1; k < A->mt; k++)
        UPDATE(A(0, 0), A(k, 0));
}

#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)

#pragma dag task in(T) inout(C) waits(T)
static void NEXT(DAG_TILE_IN(T), DAG_TILE(C))
{
    C[0] = T[0];
}

#pragma dag graph assume(A->nt >= 1)
static void nest(dag_matrix *A)
{
    for (int k = 1; k < A->mt; k++)
        NEXT(A(k - 1, 0), A(k, 0));
}

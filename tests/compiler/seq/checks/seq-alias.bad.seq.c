#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)

#pragma dag task in(T) inout(C)
static void UPDATE(DAG_TILE_IN(T), DAG_TILE(C))
{
    C[0] += T[0];
}

#pragma dag graph assume(A->nt >= 3)
static void nest(dag_matrix *A)
{
    for (int k = 0; k < A->mt; k++)
        for (int n = 0; n < A->nt; n++)
            UPDATE(A(k, 2), A(k, n));
}

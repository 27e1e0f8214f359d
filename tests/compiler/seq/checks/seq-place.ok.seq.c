#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)

#pragma dag task inout(T, C) at(C)
static void BOTH(DAG_TILE(T), DAG_TILE(C))
{
    C[0] += T[0];
    T[0] = 0;
}

#pragma dag graph assume(A->nt >= 1)
static void nest(dag_matrix *A)
{
    for (int k = 1; k < A->mt; k++)
        BOTH(A(k - 1, 0), A(k, 0));
}

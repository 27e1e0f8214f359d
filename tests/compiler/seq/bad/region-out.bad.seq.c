#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)

#pragma dag task out(T: LOWER)
static void FILL(DAG_TILE(T))
{
    T[0] = 1;
}

#pragma dag graph assume(A->nt >= 1)
static void nest(dag_matrix *A)
{
    for (int k = 0; k < A->mt; k++)
        FILL(A(k, 0));
}

#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)

#pragma dag task inout(T: LOWER)
static void LOWER_PART(DAG_TILE(T))
{
    T[0] += 1;
}

#pragma dag task inout(T: LOWER)
static void BELOW(DAG_TILE(T))
{
    T[1] += 1;
}

#pragma dag graph assume(A->nt >= 1)
static void nest(dag_matrix *A)
{
    for (int k = 0; k < A->mt; k++) {
        LOWER_PART(A(k, 0));
        BELOW(A(k, 0));
    }
}

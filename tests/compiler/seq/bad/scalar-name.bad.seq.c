#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)

#pragma dag task inout(C)
static void SET(DAG_TILE(C), int k)
{
    C[0] = k;
}

#pragma dag graph
static void nest(dag_matrix *A)
{
    for (int k = 0; k < A->mt; k++)
        for (int n = 0; n < A->nt; n++)
            SET(A(k, n), n + 1);
}

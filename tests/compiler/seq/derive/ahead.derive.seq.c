#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)
#define B(i, j) DAG_AT(B, i, j)

#pragma dag task in(T) inout(C)
static void UPDATE(DAG_TILE_IN(T), DAG_TILE(C))
{
    C[0] += T[0];
}

#pragma dag graph lookahead(k, 3) assume(A->mt >= 1 && B->mt == A->mt && B->nt == A->mt)
static void nest(dag_matrix *A, dag_matrix *B)
{
    for (int k = A->nt - 1; k >= 0; k -= 1)
        for (int i = 0; i < A->mt; i++)
            UPDATE(A(i, k), B(0, i));
}

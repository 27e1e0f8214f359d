/* Tasks run at tiles that they read: what they read first elsewhere sets out, what they write comes home. */
#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)
#define X(i, j) DAG_AT(X, i, j)

#pragma dag task in(L) inout(S) at(L)
static void TAKE(DAG_TILE_IN(L), DAG_TILE(S))
{
    S[0] += L[0];
}

#pragma dag graph assume(X->nt == 1 && X->mt == A->mt)
static void sums(dag_matrix *A, dag_matrix *X)
{
    for (int i = 0; i < A->mt; i++)
        for (int k = 0; k < A->nt; k++)
            TAKE(A(i, k), X(i, 0));
}

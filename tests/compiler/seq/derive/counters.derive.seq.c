#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)
#define B(i, j) DAG_AT(B, i, j)

#pragma dag task in(T) inout(X)
static void SOLVE(DAG_TILE_IN(T), DAG_TILE(X))
{
}

#pragma dag task in(L, R) inout(X)
static void UPDATE(DAG_TILE_IN(L), DAG_TILE_IN(R), DAG_TILE(X))
{
}

#pragma dag graph lookahead(s, 2) assume(0 <= down && down <= 1) \
    assume(A->mt == A->nt && A->mt == B->mt && B->nt >= 1)
static void nest(dag_matrix *A, dag_matrix *B, int down)
{
    for (int s = 0; s < A->mt; s++) {
        int k = down == 1 ? s : A->mt - 1 - s;
        for (int j = 0; j < B->nt; j++)
            SOLVE(A(k, k), B(k, j));
        for (int t = s + 1; t < A->mt; t++) {
            int i = down == 1 ? t : A->mt - 1 - t;
            for (int j = 0; j < B->nt; j++)
                UPDATE(A(i, k), B(k, j), B(i, j));
        }
    }
}

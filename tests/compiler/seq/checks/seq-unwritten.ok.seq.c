#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)
#define W(i, j) DAG_AT(W, i, j)

#pragma dag task in(T) out(C)
static void COPY(DAG_TILE_IN(T), DAG_TILE(C))
{
    C[0] = T[0];
}

#pragma dag task in(T) inout(C)
static void UPDATE(DAG_TILE_IN(T), DAG_TILE(C))
{
    C[0] += T[0];
}

#pragma dag graph assume(A->nt >= 1)
static void nest(dag_matrix *A)
{
    DAG_TILES(W, A);
    for (int k = 0; k < A->mt; k++) {
        if (k % 3 != 1)
            COPY(A(k, 0), W(k, 0));
        if (k % 3 != 1)
            UPDATE(W(k, 0), A(k, 0));
    }
}

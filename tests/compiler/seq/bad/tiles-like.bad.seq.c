#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)
#define W(i, j) DAG_AT(W, i, j)

#pragma dag task in(T) out(C)
static void COPY(DAG_TILE_IN(T), DAG_TILE(C))
{
    C[0] = T[0];
}

#pragma dag graph
static void nest(dag_matrix *A, int n)
{
    DAG_TILES(W, n);
    for (int k = 0; k < n; k++)
        COPY(A(k, 0), W(k, 0));
}

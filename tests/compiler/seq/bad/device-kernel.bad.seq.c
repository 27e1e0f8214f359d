#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)

#pragma dag task in(T) inout(C)
static void UPDATE(DAG_TILE_IN(T), DAG_TILE(C))
{
    C[0] += T[0];
}

#ifdef DAG_JDF_H
#pragma dag task device(CUDA) implements(CHANGE)
static void dev_UPDATE(DAG_TILE_IN(T), DAG_TILE(C))
{
    launch(dag_queue, T, C);
}
#endif

#pragma dag graph assume(A->nt >= 1)
static void nest(dag_matrix *A)
{
    for (int k = 1; k < A->mt; k++)
        UPDATE(A(k - 1, 0), A(k, 0));
}

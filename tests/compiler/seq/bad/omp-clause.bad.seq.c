#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)

static void UPDATE(DAG_TILE_IN(T), DAG_TILE(C))
{
#pragma omp task depend(in: T[0]) depend(inout: C[0]) shared(C)
    C[0] += T[0];
}

#pragma dag graph assume(A->nt >= 1)
static void nest(dag_matrix *A)
{
    for (int k = 1; k < A->mt; k++)
        UPDATE(A(k - 1, 0), A(k, 0));
}

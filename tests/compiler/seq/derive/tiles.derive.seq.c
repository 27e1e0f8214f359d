#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)
#define B(i, j) DAG_AT(B, i, j)
#define W(i, j) DAG_AT(W, i, j)

#pragma dag task in(T) out(C)
static void COPY(DAG_TILE_IN(T), DAG_TILE(C))
{
    C[0] = T[0];
}

#pragma dag task in(T: LOWER) inout(C: UPPER) waits(C)
static void UPDATE(DAG_TILE_IN(T), DAG_TILE(C))
{
    C[0] += T[0];
}

#pragma dag graph aligned(B, A) assume(A->mt == A->nt && B->mt == A->mt && B->nt == A->nt)
static void nest(dag_matrix *A, dag_matrix *B)
{
    int last = A->mt - 1;
    DAG_TILES(W, A);
    for (int k = 0; k < A->nt; k++) {
        for (int m = 0; m <= last; m++)
            COPY(A(m, k), W(last - m, 0));
        for (int m = 1; m < A->mt; m++)
            UPDATE(W(m - 1, 0), W(m, 0));
        for (int m = 0; m < A->mt; m++)
            COPY(W(last - m, 0), B(m, k));
    }
}

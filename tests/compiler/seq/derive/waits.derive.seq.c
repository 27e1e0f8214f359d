#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)

#pragma dag task in(T) inout(C)
static void USE(DAG_TILE_IN(T), DAG_TILE(C))
{
    C[0] += T[0];
}

/* It overwrites what USE and LOOK read; LOOK reads behind it, too, what stays as it is. */
#pragma dag task inout(C: LOWER) waits(C)
static void SCALE(DAG_TILE(C))
{
    C[1] *= 2;
}

#pragma dag task in(T: UPPER_STRICT) inout(C)
static void LOOK(DAG_TILE_IN(T), DAG_TILE(C))
{
    C[0] += T[T_ld];
}

#pragma dag graph assume(A->mt >= 2 && A->nt >= 2)
static void nest(dag_matrix *A)
{
    for (int k = 0; k < A->mt - 1; k++) {
        for (int j = 1; j < A->nt; j++)
            USE(A(k, 0), A(k + 1, j));
        SCALE(A(k, 0));
        for (int j = 1; j < A->nt; j++)
            LOOK(A(k, 0), A(k + 1, j));
    }
}

/* A := A * A. The product needs all of A as it was, so it is made in tiles of its own, W. */
#include <dag/kernels.h>
#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)
#define W(i, j) DAG_AT(W, i, j)

#pragma dag task in(L, R) out(C)
static void FIRST(DAG_TILE_IN(L), DAG_TILE_IN(R), DAG_TILE(C))
{
    FN(gemm)(DAG_NO_TRANS, DAG_NO_TRANS, L_m, R_n, L_n, 1, L, L_ld, R, R_ld, 0, C, C_ld);
}

#pragma dag task in(L, R) inout(C)
static void ADD(DAG_TILE_IN(L), DAG_TILE_IN(R), DAG_TILE(C))
{
    FN(gemm)(DAG_NO_TRANS, DAG_NO_TRANS, L_m, R_n, L_n, 1, L, L_ld, R, R_ld, 1, C, C_ld);
}

#pragma dag task in(C) out(T)
static void STORE(DAG_TILE_IN(C), DAG_TILE(T))
{
    for (int j = 0; j < T_n; j++)
        for (int i = 0; i < T_m; i++)
            T[i + (size_t)j * T_ld] = C[i + (size_t)j * C_ld];
}

#pragma dag graph precision(s d c z) assume(A->mt == A->nt)
static void square(dag_matrix *A)
{
    DAG_TILES(W, A);
    for (int m = 0; m < A->mt; m++)
        for (int n = 0; n < A->nt; n++) {
            FIRST(A(m, 0), A(0, n), W(m, n));
            for (int k = 1; k < A->nt; k++)
                ADD(A(m, k), A(k, n), W(m, n));
        }
    for (int m = 0; m < A->mt; m++)
        for (int n = 0; n < A->nt; n++)
            STORE(W(m, n), A(m, n));
}

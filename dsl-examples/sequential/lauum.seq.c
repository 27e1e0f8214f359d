/* L^H L of a lower triangular matrix, or U U^H of an upper one, in place and by tiles. The text is
 * that of L; an upper triangle is its conjugate transpose: tile (m, n) of this text is then tile
 * (n, m). */
#include <dag/kernels.h>
#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)

#pragma dag task inout(T)
static void SQUARE(DAG_TILE(T), int lower)
{
    FN(lauum)(lower == 1 ? DAG_LOWER : DAG_UPPER, T_n, T, T_ld);
}

#pragma dag task in(T) inout(X)
static void TRMM(DAG_TILE_IN(T), DAG_TILE(X), int lower)
{
    FN(trmm)(lower == 1 ? DAG_LEFT : DAG_RIGHT, lower == 1 ? DAG_LOWER : DAG_UPPER, DAG_CONJ_TRANS,
             DAG_NON_UNIT, X_m, X_n, 1, T, T_ld, X, X_ld);
}

#pragma dag task in(L) inout(C)
static void HERK(DAG_TILE_IN(L), DAG_TILE(C), int lower)
{
    if (lower == 1)
        FN(herk)(DAG_LOWER, DAG_CONJ_TRANS, C_n, L_m, 1, L, L_ld, 1, C, C_ld);
    else
        FN(herk)(DAG_UPPER, DAG_NO_TRANS, C_n, L_n, 1, L, L_ld, 1, C, C_ld);
}

#pragma dag task in(L, R) inout(X)
static void GEMM(DAG_TILE_IN(L), DAG_TILE_IN(R), DAG_TILE(X), int lower)
{
    if (lower == 1)
        FN(gemm)(DAG_CONJ_TRANS, DAG_NO_TRANS, X_m, X_n, L_m, 1, L, L_ld, R, R_ld, 1, X, X_ld);
    else
        FN(gemm)(DAG_NO_TRANS, DAG_CONJ_TRANS, X_m, X_n, R_n, 1, R, R_ld, L, L_ld, 1, X, X_ld);
}

#pragma dag graph precision(s d c z) assume(A->mt == A->nt) assume(0 <= lower && lower <= 1)
static void lauum(dag_matrix *A, int lower)
{
    for (int k = 0; k < A->mt; k++) {
        for (int n = 0; n < k; n++) {
            HERK(A(lower == 1 ? k : n, lower == 1 ? n : k), A(n, n), lower);
            for (int m = n + 1; m < k; m++)
                GEMM(A(lower == 1 ? k : m, lower == 1 ? m : k),
                     A(lower == 1 ? k : n, lower == 1 ? n : k),
                     A(lower == 1 ? m : n, lower == 1 ? n : m), lower);
        }
        for (int n = 0; n < k; n++)
            TRMM(A(k, k), A(lower == 1 ? k : n, lower == 1 ? n : k), lower);
        SQUARE(A(k, k), lower);
    }
}

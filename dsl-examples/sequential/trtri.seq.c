/* Inverse of a triangular matrix by tiles, in place. The text is that of a lower triangle; an
 * upper one is its transpose: tile (m, n) of this text is then tile (n, m) of A. */
#include <dag/kernels.h>
#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)

#pragma dag task inout(T)
static void INVERT(DAG_TILE(T), int lower, dag_diag diag)
{
    FN(trtri)(lower == 1 ? DAG_LOWER : DAG_UPPER, diag, T_n, T, T_ld);
}

#pragma dag task in(T) inout(X) priority(2 * (A->mt - n))
static void COLUMN(DAG_TILE_IN(T), DAG_TILE(X), int lower, dag_diag diag)
{
    FN(trsm)(lower == 1 ? DAG_RIGHT : DAG_LEFT, lower == 1 ? DAG_LOWER : DAG_UPPER, DAG_NO_TRANS,
             diag, X_m, X_n, -1, T, T_ld, X, X_ld);
}

#pragma dag task in(L, R) inout(X) priority(2 * (A->mt - n))
static void GEMM(DAG_TILE_IN(L), DAG_TILE_IN(R), DAG_TILE(X), int lower)
{
    if (lower == 1)
        FN(gemm)(DAG_NO_TRANS, DAG_NO_TRANS, X_m, X_n, L_n, 1, L, L_ld, R, R_ld, 1, X, X_ld);
    else
        FN(gemm)(DAG_NO_TRANS, DAG_NO_TRANS, X_m, X_n, R_n, 1, R, R_ld, L, L_ld, 1, X, X_ld);
}

#pragma dag task in(T) inout(X) priority(2 * (A->mt - n))
static void ROW(DAG_TILE_IN(T), DAG_TILE(X), int lower, dag_diag diag)
{
    FN(trsm)(lower == 1 ? DAG_LEFT : DAG_RIGHT, lower == 1 ? DAG_LOWER : DAG_UPPER, DAG_NO_TRANS,
             diag, X_m, X_n, 1, T, T_ld, X, X_ld);
}

#pragma dag graph precision(s d c z) assume(A->mt == A->nt) assume(0 <= lower && lower <= 1)
static void trtri(dag_matrix *A, int lower, dag_diag diag)
{
    for (int n = 0; n < A->mt; n++) {
        for (int m = n + 1; m < A->mt; m++)
            COLUMN(A(n, n), A(lower == 1 ? m : n, lower == 1 ? n : m), lower, diag);
        for (int m = n + 1; m < A->mt; m++)
            for (int k = 0; k < n; k++)
                GEMM(A(lower == 1 ? m : n, lower == 1 ? n : m),
                     A(lower == 1 ? n : k, lower == 1 ? k : n),
                     A(lower == 1 ? m : k, lower == 1 ? k : m), lower);
        for (int k = 0; k < n; k++)
            ROW(A(n, n), A(lower == 1 ? n : k, lower == 1 ? k : n), lower, diag);
        INVERT(A(n, n), lower, diag);
    }
}

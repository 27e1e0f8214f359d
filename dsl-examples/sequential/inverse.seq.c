/* Inverse of a Hermitian positive definite matrix, lower triangle, as one nest: A = L L^H, then the
 * inverse of L, then L^-H L^-1. What the second and the third part need of a tile they take as soon
 * as it is there, and what overwrites a tile waits for those that read it: nothing is copied. */
#include <dag/kernels.h>
#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)

#pragma dag task inout(T)
static void POTRF(DAG_TILE(T), int first)
{
    int info = FN(potrf)(DAG_LOWER, T_m, T, T_ld);
    if (info != 0)
        DAG_INFO(first + info);
}

#pragma dag task in(T) inout(X) waits(X)
static void TRSM(DAG_TILE_IN(T), DAG_TILE(X), dag_side side, dag_trans trans, int sign)
{
    FN(trsm)(side, DAG_LOWER, trans, DAG_NON_UNIT, X_m, X_n, sign, T, T_ld, X, X_ld);
}

#pragma dag task in(L) inout(X)
static void HERK(DAG_TILE_IN(L), DAG_TILE(X), dag_trans trans, int sign)
{
    FN(herk)(DAG_LOWER, trans, X_n, trans == DAG_NO_TRANS ? L_n : L_m, sign, L, L_ld, 1, X, X_ld);
}

#pragma dag task in(L, R) inout(X) waits(X)
static void GEMM(DAG_TILE_IN(L), DAG_TILE_IN(R), DAG_TILE(X), dag_trans left, dag_trans right,
                 int sign)
{
    FN(gemm)(left, right, X_m, X_n, left == DAG_NO_TRANS ? L_n : L_m, sign, L, L_ld, R, R_ld, 1, X,
             X_ld);
}

#pragma dag task inout(T) waits(T)
static void INVERT(DAG_TILE(T))
{
    FN(trtri)(DAG_LOWER, DAG_NON_UNIT, T_n, T, T_ld);
}

#pragma dag task inout(T) waits(T)
static void SQUARE(DAG_TILE(T))
{
    FN(lauum)(DAG_LOWER, T_n, T, T_ld);
}

#pragma dag task in(T) inout(X) waits(X)
static void TRMM(DAG_TILE_IN(T), DAG_TILE(X))
{
    FN(trmm)(DAG_LEFT, DAG_LOWER, DAG_CONJ_TRANS, DAG_NON_UNIT, X_m, X_n, 1, T, T_ld, X, X_ld);
}

#pragma dag graph precision(s d c z) assume(A->mt == A->nt)
static void inverse(dag_matrix *A)
{
    for (int k = 0; k < A->mt; k++) {
        POTRF(A(k, k), k * A->nb);
        for (int m = k + 1; m < A->mt; m++)
            TRSM(A(k, k), A(m, k), DAG_RIGHT, DAG_CONJ_TRANS, 1);
        for (int m = k + 1; m < A->mt; m++) {
            for (int n = k + 1; n < m; n++)
                GEMM(A(m, k), A(n, k), A(m, n), DAG_NO_TRANS, DAG_CONJ_TRANS, -1);
            HERK(A(m, k), A(m, m), DAG_NO_TRANS, -1);
        }
    }
    for (int k = 0; k < A->mt; k++) {
        for (int m = k + 1; m < A->mt; m++)
            TRSM(A(k, k), A(m, k), DAG_RIGHT, DAG_NO_TRANS, -1);
        for (int m = k + 1; m < A->mt; m++)
            for (int n = 0; n < k; n++)
                GEMM(A(m, k), A(k, n), A(m, n), DAG_NO_TRANS, DAG_NO_TRANS, 1);
        for (int n = 0; n < k; n++)
            TRSM(A(k, k), A(k, n), DAG_LEFT, DAG_NO_TRANS, 1);
        INVERT(A(k, k));
    }
    for (int k = 0; k < A->mt; k++) {
        for (int n = 0; n < k; n++) {
            HERK(A(k, n), A(n, n), DAG_CONJ_TRANS, 1);
            for (int m = n + 1; m < k; m++)
                GEMM(A(k, m), A(k, n), A(m, n), DAG_CONJ_TRANS, DAG_NO_TRANS, 1);
        }
        for (int n = 0; n < k; n++)
            TRMM(A(k, k), A(k, n));
        SQUARE(A(k, k));
    }
}

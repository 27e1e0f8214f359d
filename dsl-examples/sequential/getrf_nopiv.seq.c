/* LU factorisation without pivoting by tiles, right-looking. KT is the lesser number of tiles. */
#include <dag/kernels.h>
#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)

#pragma dag task inout(T) priority(3 * (KT - k))
static void GETRF(DAG_TILE(T), int first)
{
    int info = FN(getrf_nopiv)(T_m, T_n, T, T_ld);
    if (info != 0)
        DAG_INFO(first + info);
}

#pragma dag task in(T) inout(C) priority(3 * (KT - k) - 1 - (n - k))
static void ROW(DAG_TILE_IN(T), DAG_TILE(C))
{
    FN(trsm)(DAG_LEFT, DAG_LOWER, DAG_NO_TRANS, DAG_UNIT, C_m, C_n, 1, T, T_ld, C, C_ld);
}

#pragma dag task in(T) inout(C) priority(3 * (KT - k) - 1 - (m - k))
static void COLUMN(DAG_TILE_IN(T), DAG_TILE(C))
{
    FN(trsm)(DAG_RIGHT, DAG_UPPER, DAG_NO_TRANS, DAG_NON_UNIT, C_m, C_n, 1, T, T_ld, C, C_ld);
}

#pragma dag task in(L, U) inout(C) priority(3 * (KT - k) - 2 - (m > n ? m - k : n - k))
static void GEMM(DAG_TILE_IN(L), DAG_TILE_IN(U), DAG_TILE(C))
{
    FN(gemm)(DAG_NO_TRANS, DAG_NO_TRANS, C_m, C_n, L_n, -1, L, L_ld, U, U_ld, 1, C, C_ld);
}

#pragma dag graph precision(s d c z) assume(A->mb == A->nb) \
    assume(KT <= A->mt) assume(KT <= A->nt) assume(KT == A->mt || KT == A->nt)
static void getrf_nopiv(dag_matrix *A, int KT)
{
    for (int k = 0; k < KT; k++) {
        GETRF(A(k, k), k * A->nb);
        for (int n = k + 1; n < A->nt; n++)
            ROW(A(k, k), A(k, n));
        for (int m = k + 1; m < A->mt; m++)
            COLUMN(A(k, k), A(m, k));
        for (int m = k + 1; m < A->mt; m++)
            for (int n = k + 1; n < A->nt; n++)
                GEMM(A(m, k), A(k, n), A(m, n));
    }
}

/* Cholesky factorisation A = L L^H by tiles, lower triangle, right-looking. */
#include <dag/kernels.h>
#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)

#pragma dag task inout(T: LOWER) priority((3 * A->mt - 3 * k + 1) * A->mt)
static void POTRF(DAG_TILE(T), int first)
{
    int info = FN(potrf)(DAG_LOWER, T_m, T, T_ld);
    if (info != 0)
        DAG_INFO(first + info);
}

#pragma dag task in(T: LOWER) inout(C) priority((3 * A->mt - 3 * k) * A->mt - m)
static void TRSM(DAG_TILE_IN(T), DAG_TILE(C))
{
    FN(trsm)(DAG_RIGHT, DAG_LOWER, DAG_CONJ_TRANS, DAG_NON_UNIT, C_m, C_n, 1, T, T_ld, C, C_ld);
}

#pragma dag task in(L) inout(C: LOWER) priority((3 * A->mt - 2 * m - k) * A->mt - m)
static void HERK(DAG_TILE_IN(L), DAG_TILE(C))
{
    FN(herk)(DAG_LOWER, DAG_NO_TRANS, C_n, L_n, -1, L, L_ld, 1, C, C_ld);
}

#pragma dag task in(L, R) inout(C) priority((3 * A->mt - 2 * n - k) * A->mt - m)
static void GEMM(DAG_TILE_IN(L), DAG_TILE_IN(R), DAG_TILE(C))
{
    FN(gemm)(DAG_NO_TRANS, DAG_CONJ_TRANS, C_m, C_n, L_n, -1, L, L_ld, R, R_ld, 1, C, C_ld);
}

#pragma dag graph precision(s d c z) assume(A->m == A->n) assume(A->mb == A->nb) \
    assume(A->mt == A->nt)
static void potrf_L(dag_matrix *A)
{
    for (int k = 0; k < A->mt; k++) {
        POTRF(A(k, k), k * A->nb);
        for (int m = k + 1; m < A->mt; m++)
            TRSM(A(k, k), A(m, k));
        for (int m = k + 1; m < A->mt; m++) {
            for (int n = k + 1; n < m; n++)
                GEMM(A(m, k), A(n, k), A(m, n));
            HERK(A(m, k), A(m, m));
        }
    }
}

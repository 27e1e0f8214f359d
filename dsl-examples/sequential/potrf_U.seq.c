/* Cholesky factorisation A = U^H U by tiles, upper triangle, right-looking. */
#include <dag/kernels.h>
#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)

#pragma dag task inout(T: UPPER) priority(3 * (A->mt - k) - 2)
static void POTRF(DAG_TILE(T), int first)
{
    int info = FN(potrf)(DAG_UPPER, T_m, T, T_ld);
    if (info != 0)
        DAG_INFO(first + info);
}

#pragma dag task in(T: UPPER) inout(C) priority(3 * A->mt - 2 * n - k - 1)
static void TRSM(DAG_TILE_IN(T), DAG_TILE(C))
{
    FN(trsm)(DAG_LEFT, DAG_UPPER, DAG_CONJ_TRANS, DAG_NON_UNIT, C_m, C_n, 1, T, T_ld, C, C_ld);
}

#pragma dag task in(R) inout(C: UPPER) priority(3 * A->mt - 2 * n - k - 2)
static void HERK(DAG_TILE_IN(R), DAG_TILE(C))
{
    FN(herk)(DAG_UPPER, DAG_CONJ_TRANS, C_n, R_m, -1, R, R_ld, 1, C, C_ld);
}

#pragma dag task in(L, R) inout(C) priority(3 * A->mt - 2 * n - k - 2)
static void GEMM(DAG_TILE_IN(L), DAG_TILE_IN(R), DAG_TILE(C))
{
    FN(gemm)(DAG_CONJ_TRANS, DAG_NO_TRANS, C_m, C_n, L_m, -1, L, L_ld, R, R_ld, 1, C, C_ld);
}

#pragma dag graph precision(s d c z) assume(A->m == A->n) assume(A->mb == A->nb) \
    assume(A->mt == A->nt)
static void potrf_U(dag_matrix *A)
{
    for (int k = 0; k < A->mt; k++) {
        POTRF(A(k, k), k * A->nb);
        for (int n = k + 1; n < A->mt; n++)
            TRSM(A(k, k), A(k, n));
        for (int n = k + 1; n < A->mt; n++) {
            HERK(A(k, n), A(n, n));
            for (int m = k + 1; m < n; m++)
                GEMM(A(k, m), A(k, n), A(m, n));
        }
    }
}

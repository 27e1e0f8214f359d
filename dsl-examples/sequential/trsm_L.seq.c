/* Solves op(A) X = alpha B with a triangular A, in place of B: forwards if op(A) is lower
 * triangular (down = 1), else backwards; tile (i, k) of op(A) is tile (k, i) of A if ta = 1. */
#include <dag/kernels.h>
#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)
#define B(i, j) DAG_AT(B, i, j)

#pragma dag task in(T) inout(X) priority(2 * ((A->mt - s + 1) * B->nt - j) + 1)
static void SOLVE(DAG_TILE_IN(T), DAG_TILE(X), int s, int down, int ta, dag_trans trans,
                  dag_diag diag, dag_dcomplex alpha)
{
    FN(trsm)(DAG_LEFT, (down == 1) == (ta == 0) ? DAG_LOWER : DAG_UPPER, trans, diag, X_m, X_n,
             s == 0 ? DAG_SCALAR(alpha) : 1, T, T_ld, X, X_ld);
}

#pragma dag task in(L, R) inout(X) priority(2 * ((A->mt - s) * B->nt - j) + ((t == s+1) ? 1 : 0))
static void UPD(DAG_TILE_IN(L), DAG_TILE_IN(R), DAG_TILE(X), int s, dag_trans trans,
                dag_dcomplex alpha)
{
    FN(gemm)(trans, DAG_NO_TRANS, X_m, X_n, R_m, -1, L, L_ld, R, R_ld,
             s == 0 ? DAG_SCALAR(alpha) : 1, X, X_ld);
}

#pragma dag graph precision(s d c z) lookahead(s, 4) assume(A->mt == A->nt && A->mt == B->mt) \
    assume(0 <= down && down <= 1 && 0 <= ta && ta <= 1)
static void trsm_L(dag_matrix *A, dag_matrix *B, int down, int ta, dag_trans trans, dag_diag diag,
                   dag_dcomplex alpha)
{
    for (int s = 0; s < A->mt; s++) {
        int k = down == 1 ? s : A->mt - 1 - s;
        for (int j = 0; j < B->nt; j++)
            SOLVE(A(k, k), B(k, j), s, down, ta, trans, diag, alpha);
        for (int t = s + 1; t < A->mt; t++) {
            int i = down == 1 ? t : A->mt - 1 - t;
            for (int j = 0; j < B->nt; j++)
                UPD(A(ta == 1 ? k : i, ta == 1 ? i : k), B(k, j), B(i, j), s, trans, alpha);
        }
    }
}

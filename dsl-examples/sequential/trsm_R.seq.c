/* Solves X op(A) = alpha B with a triangular A, in place of B: from the first column to the last if
 * op(A) is upper triangular (right = 1), else backwards; tile (k, j) of op(A) is tile (j, k) of A
 * if ta = 1. */
#include <dag/kernels.h>
#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)
#define B(i, j) DAG_AT(B, i, j)

#pragma dag task in(T) inout(X) priority(2 * (A->mt - s))
static void SOLVE(DAG_TILE_IN(T), DAG_TILE(X), int s, int right, int ta, dag_trans trans,
                  dag_diag diag, dag_dcomplex alpha)
{
    FN(trsm)(DAG_RIGHT, (right == 1) == (ta == 0) ? DAG_UPPER : DAG_LOWER, trans, diag, X_m, X_n,
             s == 0 ? DAG_SCALAR(alpha) : 1, T, T_ld, X, X_ld);
}

#pragma dag task in(L, R) inout(X) priority(2 * A->mt - s - t)
static void UPD(DAG_TILE_IN(L), DAG_TILE_IN(R), DAG_TILE(X), int s, dag_trans trans,
                dag_dcomplex alpha)
{
    FN(gemm)(DAG_NO_TRANS, trans, X_m, X_n, L_n, -1, L, L_ld, R, R_ld,
             s == 0 ? DAG_SCALAR(alpha) : 1, X, X_ld);
}

#pragma dag graph precision(s d c z) lookahead(s, 4) assume(A->mt == A->nt && A->mt == B->nt) \
    assume(0 <= right && right <= 1 && 0 <= ta && ta <= 1)
static void trsm_R(dag_matrix *A, dag_matrix *B, int right, int ta, dag_trans trans, dag_diag diag,
                   dag_dcomplex alpha)
{
    for (int s = 0; s < A->mt; s++) {
        int k = right == 1 ? s : A->mt - 1 - s;
        for (int i = 0; i < B->mt; i++)
            SOLVE(A(k, k), B(i, k), s, right, ta, trans, diag, alpha);
        for (int t = s + 1; t < A->mt; t++) {
            int j = right == 1 ? t : A->mt - 1 - t;
            for (int i = 0; i < B->mt; i++)
                UPD(B(i, k), A(ta == 1 ? j : k, ta == 1 ? k : j), B(i, j), s, trans, alpha);
        }
    }
}

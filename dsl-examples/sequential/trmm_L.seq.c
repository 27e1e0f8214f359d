/* B := alpha op(A) B with a triangular A, in place. Old row s goes to the rows t < s, which are
 * under way, and then becomes one of them; rows are counted from the last one if op(A) is lower
 * triangular (up = 1). Tile (i, k) of op(A) is tile (k, i) of A if ta = 1. */
#include <dag/kernels.h>
#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)
#define B(i, j) DAG_AT(B, i, j)

#pragma dag task in(T) inout(X) waits(X) priority(A->mt - s)
static void START(DAG_TILE_IN(T), DAG_TILE(X), int up, int ta, dag_trans trans, dag_diag diag,
                  dag_dcomplex alpha)
{
    FN(trmm)(DAG_LEFT, (up == 1) == (ta == 0) ? DAG_LOWER : DAG_UPPER, trans, diag, X_m, X_n,
             DAG_SCALAR(alpha), T, T_ld, X, X_ld);
}

#pragma dag task in(L, R) inout(X) priority(A->mt - s)
static void UPD(DAG_TILE_IN(L), DAG_TILE_IN(R), DAG_TILE(X), dag_trans trans, dag_dcomplex alpha)
{
    FN(gemm)(trans, DAG_NO_TRANS, X_m, X_n, R_m, DAG_SCALAR(alpha), L, L_ld, R, R_ld, 1, X, X_ld);
}

#pragma dag graph precision(s d c z) lookahead(s, 4) assume(A->mt == A->nt && A->mt == B->mt) \
    assume(0 <= up && up <= 1 && 0 <= ta && ta <= 1)
static void trmm_L(dag_matrix *A, dag_matrix *B, int up, int ta, dag_trans trans, dag_diag diag,
                   dag_dcomplex alpha)
{
    for (int s = 0; s < A->mt; s++) {
        int k = up == 1 ? A->mt - 1 - s : s;
        for (int t = 0; t < s; t++) {
            int i = up == 1 ? A->mt - 1 - t : t;
            for (int j = 0; j < B->nt; j++)
                UPD(A(ta == 1 ? k : i, ta == 1 ? i : k), B(k, j), B(i, j), trans, alpha);
        }
        for (int j = 0; j < B->nt; j++)
            START(A(k, k), B(k, j), up, ta, trans, diag, alpha);
    }
}

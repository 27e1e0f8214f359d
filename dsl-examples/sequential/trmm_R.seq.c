/* B := alpha B op(A) with a triangular A, in place. Old column s goes to the columns t < s, which
 * are under way, and then becomes one of them; columns are counted from the first one if op(A) is
 * lower triangular (first = 1). Tile (k, j) of op(A) is tile (j, k) of A if ta = 1. */
#include <dag/kernels.h>
#include <dag/sequential.h>

#define A(i, j) DAG_AT(A, i, j)
#define B(i, j) DAG_AT(B, i, j)

#pragma dag task in(T) inout(X) waits(X) priority(A->mt - s)
static void START(DAG_TILE_IN(T), DAG_TILE(X), int first, int ta, dag_trans trans, dag_diag diag,
                  dag_dcomplex alpha)
{
    FN(trmm)(DAG_RIGHT, (first == 1) == (ta == 0) ? DAG_LOWER : DAG_UPPER, trans, diag, X_m, X_n,
             DAG_SCALAR(alpha), T, T_ld, X, X_ld);
}

#pragma dag task in(L, R) inout(X) priority(A->mt - s)
static void UPD(DAG_TILE_IN(L), DAG_TILE_IN(R), DAG_TILE(X), dag_trans trans, dag_dcomplex alpha)
{
    FN(gemm)(DAG_NO_TRANS, trans, X_m, X_n, L_n, DAG_SCALAR(alpha), L, L_ld, R, R_ld, 1, X, X_ld);
}

#pragma dag graph precision(s d c z) lookahead(s, 4) assume(A->mt == A->nt && A->mt == B->nt) \
    assume(0 <= first && first <= 1 && 0 <= ta && ta <= 1)
static void trmm_R(dag_matrix *A, dag_matrix *B, int first, int ta, dag_trans trans, dag_diag diag,
                   dag_dcomplex alpha)
{
    for (int s = 0; s < A->mt; s++) {
        int k = first == 1 ? s : A->mt - 1 - s;
        for (int t = 0; t < s; t++) {
            int j = first == 1 ? t : A->mt - 1 - t;
            for (int i = 0; i < B->mt; i++)
                UPD(B(i, k), A(ta == 1 ? j : k, ta == 1 ? k : j), B(i, j), trans, alpha);
        }
        for (int i = 0; i < B->mt; i++)
            START(A(k, k), B(i, k), first, ta, trans, diag, alpha);
    }
}
